//! claim_stake (protocol.md, 10.5; decision B6).

use super::unlock_queue::beneficiary;
use crate::state::{Stake, expect_agent, expect_vault, lease_facts};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{HeadAccount, StakeLockAccount};
use zx1_interface::events::StakeClaimed;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::units::Slot;
use zx1_runtime::usdc::{self, Vault};
use zx1_runtime::{Stored, agent, bump, close, emit, ensure, key, load_optional, time};

/// Accounts of claim_stake.
#[event_cpi]
#[derive(Accounts)]
pub struct ClaimStake {
    /// Holds the agent's NFT, or is the last recorded owner of a burned one; gets stake and rent.
    #[account(mut)]
    pub owner: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the owner; any account when the NFT was burned.
    pub agent_token: UncheckedAccount,
    /// The stake; checked by type and agent.
    #[account(mut)]
    pub stake: Stored<StakeLockAccount>,
    /// The stake's vault; checked by address.
    #[account(mut)]
    pub vault: UncheckedAccount,
    /// The owner's USDC account.
    #[account(mut)]
    pub owner_usdc: UncheckedAccount,
    /// The lease, or its empty address.
    pub lease: UncheckedAccount,
    /// The agent's head of batches, or its empty address.
    pub head: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
}

impl ClaimStake {
    pub(crate) fn handle(&mut self, agent_mint: &Address) -> Result<()> {
        let config = agent::config(&self.config)?;
        let agent = *agent_mint.as_array();
        // agent_mint, stake, vault: the named agent's.
        ensure!(agent_mint == self.agent_mint.address(), Error::WrongAgent);
        expect_agent(&self.stake, agent_mint)?;
        expect_vault(&self.stake, &self.vault)?;
        // agent_index, agent_token, owner: the signer is whom the stake belongs to now.
        let owner = beneficiary(config, &self.stake, &self.agent_mint, &self.agent_index, &self.agent_token)?;
        ensure!(owner == *key(&self.owner), Error::NotAgentOwner);
        // owner_usdc, token_program: the owner's money and the program that moves it.
        usdc::account_of(config, &self.owner_usdc, &owner)?;
        usdc::token_program(&self.token_program)?;
        // lease, head: real, or proven absent.
        let now = time::now()?;
        let lease = lease_facts(&agent, &self.lease, &now)?;
        let head = load_optional::<HeadAccount>(&self.head, &[seeds::HEAD, &agent])?;
        if let Some(head) = &head {
            ensure!(head.agent_id == agent, Error::WrongAgent);
        }
        self.stake.check_claim(&lease, head.map(|head| Slot(head.last_slot)), &now)?;

        let event = StakeClaimed {
            agent_mint: agent,
            owner,
            lamports: self.stake.stake_usdc,
            sequence: bump(&mut self.stake.event_sequence)?,
            account_created_slot: self.stake.created_slot,
        };
        let seeds: &[&[u8]] = &[seeds::STAKE, &agent, &[self.stake.bump]];
        let stake = self.stake.view();
        let vault = Vault { account: &self.vault, authority: &stake, seeds };
        // Gifts of strangers go along: a vault that is not empty could not be closed.
        vault.send(&self.owner_usdc, vault.balance()?)?;
        vault.close(&self.owner)?;
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)?;
        close(&stake, &self.owner)
    }
}
