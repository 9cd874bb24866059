//! show_leaf (decision P4).

use crate::stake_lock::{Moves, settlement};
use crate::state::{Asked, expect_batch, into_stake};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{AskAccount, BatchAccount, EvidenceDraft, StakeLockAccount};
use zx1_interface::events::LeafShown;
use zx1_interface::instruction::mark;
use zx1_interface::{Error, pda};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::hash::Hash;
use zx1_runtime::{Stored, bump, emit, ensure, key, same, time};

/// Accounts of show_leaf. Anyone may show.
#[event_cpi]
#[derive(Accounts)]
pub struct ShowLeaf {
    /// Who shows the leaf, and gets a part of the price.
    pub shower: Signer,
    /// The ask; checked by type.
    #[account(mut)]
    pub ask: Stored<AskAccount>,
    /// The batch; checked against the ask.
    pub batch: Stored<BatchAccount>,
    /// A complete draft of the shower's that holds the leaf; None for a leaf in the instruction.
    pub draft: Option<Stored<EvidenceDraft>>,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The stake of the batch's era; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The total of the agent's shard; checked by StakeLock.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by StakeLock.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// A USDC account of who shows.
    #[account(mut, unsafe(dup))]
    pub first_usdc: UncheckedAccount,
    /// A USDC account of the treasury's wallet; may be the first one.
    #[account(mut, unsafe(dup))]
    pub second_usdc: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// StakeLock's event authority; checked by StakeLock.
    pub stake_lock_events: UncheckedAccount,
    /// The legacy token program; checked by StakeLock.
    pub token_program: UncheckedAccount,
}

impl ShowLeaf {
    pub(crate) fn handle(&mut self, proof: &[Hash], inline: &[u8]) -> Result<()> {
        expect_batch(&self.ask.batch, &self.batch)?;
        let settlement = settlement!(self);
        let shower = key(&self.shower);
        let config = settlement.expect(&self.config, &self.ask.agent_id, self.ask.era, shower)?;
        let leaf = leaf(inline, self.draft.as_ref(), shower)?;
        let leaf_hash = self.ask.show(&self.batch, leaf, proof, &time::now()?)?;

        let price = self.ask.price_usdc;
        let shown = Amounts::of(config).shown(price);
        let (to_stake, to_treasury) = into_stake(&self.stake, shown.stake, shown.treasury)?;
        settlement.settle(&Moves {
            from_deposits: price,
            to_stake,
            first: shown.shower,
            second: to_treasury,
            marks: mark::ASK,
            ..Moves::default()
        })?;
        let event = LeafShown {
            ask: *self.ask.key(),
            shower: *shower,
            leaf_hash,
            sequence: bump(&mut self.ask.event_sequence)?,
            account_created_slot: self.ask.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}

/// The leaf, which is either in the instruction or in a draft.
fn leaf<'a>(
    inline: &'a [u8],
    draft: Option<&'a Stored<EvidenceDraft>>,
    shower: &[u8; 32],
) -> Result<&'a [u8]> {
    ensure!(inline.is_empty() == draft.is_some(), Error::EvidenceMissing);
    let Some(draft) = draft else { return Ok(inline) };
    ensure!(same(&draft.owner, shower), Error::NotDraftOwner);
    ensure!(draft.written == draft.len, Error::DraftIncomplete);
    Ok(draft.tail())
}
