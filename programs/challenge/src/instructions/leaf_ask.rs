//! ask_leaf (decision P4).

use crate::stake_lock::{Era, Pool};
use crate::state::{Asked, expect_askable, expect_era};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{AskAccount, BatchAccount, StakeLockAccount};
use zx1_interface::events::LeafAsked;
use zx1_interface::instruction::deposit;
use zx1_interface::{Error, pda, seeds};
use zx1_runtime::{Now, Stored, agent, create, emit, ensure, key, time};

/// Accounts of ask_leaf.
#[event_cpi]
#[derive(Accounts)]
pub struct AskLeaf {
    /// Who asks; pays price and rent, and gets the rent back.
    #[account(mut)]
    pub asker: Signer,
    /// The batch; checked by type.
    pub batch: Stored<BatchAccount>,
    /// Where the ask goes; checked by address.
    #[account(mut)]
    pub ask: UncheckedAccount,
    /// The asker's USDC account.
    #[account(mut)]
    pub asker_usdc: UncheckedAccount,
    /// The stake of the batch's era; checked by type, agent and era.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The total of the agent's shard; checked by StakeLock.
    #[account(mut)]
    pub shard: UncheckedAccount,
    /// The shard's vault; checked by StakeLock.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// This program's signer towards StakeLock; checked by address.
    pub challenge_authority: UncheckedAccount,
    /// StakeLock; checked by address.
    pub stake_lock_program: UncheckedAccount,
    /// The legacy token program; checked by StakeLock.
    pub token_program: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl AskLeaf {
    fn validate(&self, tree: u8, index: u32, now: &Now) -> Result<()> {
        expect_askable(&self.batch, tree, index, now)?;
        // stake: of the batch's era, with something to fine.
        expect_era(&self.stake, &self.batch.agent_id, self.batch.era)?;
        ensure!(self.stake.stake_usdc != 0, Error::EraEmpty);
        Ok(())
    }

    pub(crate) fn handle(&mut self, tree: u8, index: u32) -> Result<()> {
        let now = time::now()?;
        self.validate(tree, index, &now)?;
        let config = agent::config(&self.config)?;
        let price = config.ask_price;
        let (batch, asker, rank) = (&self.batch, key(&self.asker), self.stake.next_ask);
        let ask = create(
            &self.asker,
            &self.ask,
            &[seeds::ASK, batch.key(), &[tree], &index.to_le_bytes()],
            0,
            Error::AskExists,
            |account: &mut AskAccount, bump| {
                account.created_slot = now.slot.0;
                account.event_sequence = 1;
                account.epoch_number = batch.epoch_number;
                account.price_usdc = price;
                account.rank = rank;
                account.era = batch.era;
                account.index = index;
                account.tree = tree;
                account.bump = bump;
                account.agent_id = batch.agent_id;
                account.batch = *batch.key();
                account.asker = *asker;
            },
        )?;
        ask.invariant()?;
        let era = Era {
            program: &self.stake_lock_program,
            authority: &self.challenge_authority,
            stake: &self.stake,
        };
        let pool = Pool { shard: &self.shard, vault: &self.vault, token_program: &self.token_program };
        era.take_deposit(&pool, config, &self.asker, &self.asker_usdc, price, deposit::ASK)?;
        let event = LeafAsked {
            agent_id: ask.agent_id,
            epoch_number: ask.epoch_number,
            era: ask.era,
            rank,
            ask: *ask.key(),
            asker: ask.asker,
            tree,
            index,
            sequence: 0,
            account_created_slot: now.slot.0,
        };
        emit(&self.program, &self.event_authority, &pda::CHALLENGE_EVENTS, &event)
    }
}
