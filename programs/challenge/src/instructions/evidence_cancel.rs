//! cancel_evidence (decisions B8 and P4).

use crate::state::{Drafted, rank, stake_of};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft};
use zx1_interface::events::EvidenceDraftCanceled;
use zx1_interface::{Error, ids, pda};
use zx1_runtime::{Stored, bump, close, emit, ensure, expect_address, key, same};

/// Accounts of cancel_evidence.
#[event_cpi]
#[derive(Accounts)]
pub struct CancelEvidence {
    /// Who began the draft; gets the rent, and the deposit unless it is burnt.
    #[account(mut)]
    pub owner: Signer,
    /// The draft; checked by type, owner and nonce.
    #[account(mut)]
    pub draft: Stored<EvidenceDraft>,
    /// The stake of the rank's era, or its empty address: shows that a slash emptied the era, or that the era is
    /// gone.
    pub stake: Option<UncheckedAccount>,
    /// The challenge of the draft's claim, where a lower rank has it; checked by type, batch and claim.
    pub challenge: Option<Stored<ChallengeAccount>>,
    /// The incinerator, where a lapsed deposit ends; checked by address.
    #[account(mut)]
    pub incinerator: UncheckedAccount,
}

/// What the accounts show about an unused rank.
#[derive(Clone, Copy, Default)]
struct Shown {
    /// Something that its owner could not help was in the rank's way.
    spared: bool,
    /// The era is gone, and with it its order.
    era_gone: bool,
}

impl CancelEvidence {
    fn validate(&self, nonce: u64) -> Result<()> {
        ensure!(same(&self.draft.owner, key(&self.owner)), Error::NotDraftOwner);
        ensure!(self.draft.nonce == nonce, Error::WrongAddress);
        expect_address(&self.incinerator, &ids::INCINERATOR)
    }

    /// Looks at stake and challenge, as far as they are given.
    fn shown(&self) -> Result<Shown> {
        let draft = &self.draft;
        let mut shown = Shown::default();
        if draft.state == rank::NONE {
            return Ok(shown);
        }
        if let Some(stake) = self.stake.as_deref() {
            let stake = stake_of(stake, &draft.agent, draft.era)?;
            shown.era_gone = stake.is_none();
            shown.spared = stake.is_some_and(|stake| draft.was_emptied(stake));
        }
        if let Some(challenge) = &self.challenge {
            let claimed = same(&challenge.batch, &draft.batch) && same(&challenge.claim, &draft.claim);
            ensure!(claimed, Error::WrongAddress);
            shown.spared |= draft.was_forestalled(challenge);
        }
        Ok(shown)
    }

    pub(crate) fn handle(&mut self, nonce: u64) -> Result<()> {
        self.validate(nonce)?;
        let shown = self.shown()?;
        let view = self.draft.view();
        let deposit = self.draft.deposit;
        if self.draft.is_in_order() && !shown.era_gone {
            // The account stays until the order has moved past it; by then what spares it may be closed.
            ensure!(shown.spared && deposit != 0, Error::RankNotPassed);
            self.draft.deposit = 0;
            self.draft.used = 1;
            self.draft.invariant()?;
            return move_lamports(&view, &self.owner, deposit);
        }
        let burnt = if self.draft.used == 1 || shown.spared { 0 } else { deposit };
        let event = EvidenceDraftCanceled {
            draft: *self.draft.key(),
            owner: self.draft.owner,
            burnt,
            sequence: bump(&mut self.draft.event_sequence)?,
            account_created_slot: self.draft.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)?;
        move_lamports(&view, &self.incinerator, burnt)?;
        close(&view, &self.owner)
    }
}

/// Moves lamports out of an account of this program.
fn move_lamports(from: &AccountView, to: &AccountView, lamports: u64) -> Result<()> {
    let (mut from, mut to) = (*from, *to);
    let left = from.lamports().checked_sub(lamports).ok_or(Error::InvariantBroken)?;
    let sum = to.lamports().checked_add(lamports).ok_or(Error::ArithmeticOverflow)?;
    from.set_lamports(left);
    to.set_lamports(sum);
    Ok(())
}
