//! pay_lease (protocol.md, 10.3; decisions B5 and P1).

use crate::state::{Leased, kind, quote};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{Config, LeaseAccount};
use zx1_interface::events::LeasePaid;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::keys::Scopes;
use zx1_runtime::{Now, Stored, agent, bump, create, emit, ensure, existing, key, same, time, usdc};

/// Accounts of pay_lease.
#[event_cpi]
#[derive(Accounts)]
pub struct PayLease {
    /// The agent's holder or a pay key of it; pays the fee and, the first time, the rent.
    #[account(mut)]
    pub authority: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for its holder.
    pub agent_token: UncheckedAccount,
    /// The authority's key account, unless it is the holder; checked by type, agent and key.
    pub key: Option<UncheckedAccount>,
    /// The lease; created when absent. Checked by address or type.
    #[account(mut)]
    pub lease: UncheckedAccount,
    /// The authority's USDC account.
    #[account(mut)]
    pub authority_usdc: UncheckedAccount,
    /// A USDC account of the treasury's wallet.
    #[account(mut)]
    pub treasury_usdc: UncheckedAccount,
    /// The legacy token program; checked by address.
    pub token_program: UncheckedAccount,
    /// The system program, called to create the lease; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl PayLease {
    fn validate(&self, config: &Config, agent: &[u8; 32], now: &Now) -> Result<()> {
        // agent_mint, agent_index: the named agent, registered with SATI.
        ensure!(same(agent, key(&self.agent_mint)), Error::WrongAgent);
        agent::registered(config, &self.agent_mint, &self.agent_index)?;
        // agent_token, key, authority: the NFT's holder, or a key that acts for it.
        let holder = agent::holder(agent, &self.agent_token)?;
        let authority = key(&self.authority);
        if !same(authority, &holder) {
            let account = self.key.as_deref().ok_or(Error::NotAgentOwner)?;
            agent::acting_key(account, agent, authority, &holder, Scopes::PAY, now.epoch)?;
        }
        // treasury_usdc, token_program: the configured ones. authority_usdc is checked where it pays.
        usdc::treasury(config, &self.treasury_usdc)?;
        usdc::token_program(&self.token_program)
    }

    pub(crate) fn handle(&mut self, agent_id: &Address, epochs: u32) -> Result<()> {
        let config = agent::config(&self.config)?;
        let now = time::now()?;
        let agent = agent_id.as_array();
        self.validate(config, agent, &now)?;

        let first = self.lease.is_data_empty();
        let mut lease = if first { self.open(agent, &now)? } else { existing(&self.lease)? };
        ensure!(same(&lease.agent_id, agent), Error::WrongAgent);
        let payment = quote(&lease, !first, epochs, &now)?;
        lease.pay(&payment, &now)?;
        let event = LeasePaid {
            agent_id: *agent,
            epoch: payment.paid_through.0,
            amount: payment.amount.0,
            payer: *key(&self.authority),
            kind: kind(&payment),
            sequence: bump(&mut lease.event_sequence)?,
            account_created_slot: lease.created_slot,
        };
        usdc::pay(config, &self.authority_usdc, &self.treasury_usdc, &self.authority, payment.amount.0)?;
        emit(&self.program, &self.event_authority, &pda::LEASE_EVENTS, &event)
    }

    fn open(&self, agent: &[u8; 32], now: &Now) -> Result<Stored<LeaseAccount>> {
        let fill = |account: &mut LeaseAccount, bump| {
            account.created_slot = now.slot.0;
            account.bump = bump;
            account.agent_id = *agent;
        };
        create(&self.authority, &self.lease, &[seeds::LEASE, agent], 0, Error::AccountExists, fill)
    }
}
