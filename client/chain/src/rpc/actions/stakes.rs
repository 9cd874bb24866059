//! Stake and lease.

use super::Actions;
use crate::instructions::lease::{LeasePayment, pay_lease, tick_lease};
use crate::instructions::stake_lock;
use crate::rpc::draft::{Draft, Intent};
use crate::rpc::error::{ChainError, Result};
use crate::rpc::moves::Money;
use solana_address::Address;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

impl Actions<'_> {
    /// Locks USDC of `owner` as an agent's stake, or tops it up.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAnAgent`], [`ChainError::NotAuthorized`].
    pub async fn lock_stake(&self, mint: AgentId, owner: Address, amount: MicroUsdc) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        self.expect_owner(agent.owner, mint, owner)?;
        let from = self.paying(owner).await?;
        let lock = stake_lock::lock_stake(&agent.addresses()?, owner, self.usdc_mint(), from, amount);
        let intent = Intent::new("lock-stake", &[&mint, &owner, &amount.0]);
        let title = format!("Lock {} of stake for the agent {mint}", Money::Usdc(amount));
        Ok(self.draft(intent, title, owner, vec![lock]))
    }

    /// Queues the unlock of a stake.
    pub async fn queue_unlock(&self, mint: AgentId, owner: Address) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        // The last owner of a burned agent may queue too (decision B6).
        if !agent_is_burned(agent.owner) {
            self.expect_owner(agent.owner, mint, owner)?;
        }
        let queue = stake_lock::queue_unlock(&agent.addresses_even_if_burned(), owner);
        let intent = Intent::new("queue-unlock", &[&mint, &owner]);
        Ok(self.draft(intent, format!("Queue the unlock of the stake of {mint}"), owner, vec![queue]))
    }

    /// Cancels a queued unlock.
    pub async fn cancel_unlock(&self, mint: AgentId, owner: Address) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        self.expect_owner(agent.owner, mint, owner)?;
        let cancel = stake_lock::cancel_unlock(&agent.addresses()?, owner);
        let intent = Intent::new("cancel-unlock", &[&mint, &owner]);
        Ok(self.draft(intent, format!("Cancel the unlock of the stake of {mint}"), owner, vec![cancel]))
    }

    /// Claims a stake whose unlock delay is over.
    pub async fn claim_stake(&self, mint: AgentId, owner: Address) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        if !agent_is_burned(agent.owner) {
            self.expect_owner(agent.owner, mint, owner)?;
        }
        let (into, create) = self.usdc_or_create(owner, owner).await?;
        let claim = stake_lock::claim_stake(&agent.addresses_even_if_burned(), owner, into);
        let intent = Intent::new("claim-stake", &[&mint, &owner]);
        let list = create.into_iter().chain([claim]).collect();
        Ok(self.draft(intent, format!("Claim the stake of {mint}"), owner, list))
    }

    /// Pays an agent's lease, as its owner or its live delegate.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAuthorized`].
    pub async fn pay_lease(&self, mint: AgentId, authority: Address, epochs: u32) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        let delegation = self.delegation(&agent, authority).await?;
        let (treasury_usdc, create) = self.treasury(authority).await?;
        let authority_usdc = self.paying(authority).await?;
        let payment = LeasePayment { authority, delegation, authority_usdc, treasury_usdc, epochs };
        let pay = pay_lease(&agent.addresses()?, &payment);
        let intent = Intent::new("pay-lease", &[&mint, &authority, &epochs]);
        let list = create.into_iter().chain([pay]).collect();
        Ok(self.draft(
            intent,
            format!("Pay the lease of {mint} for {epochs} epoch{}", if epochs == 1 { "" } else { "s" }),
            authority,
            list,
        ))
    }

    /// Moves a lease to the state that the clock says. Anyone may.
    pub async fn tick_lease(&self, mint: AgentId, payer: Address) -> Result<Draft> {
        let epoch = self.client.time().await?.epoch;
        let intent = Intent::new("tick-lease", &[&mint, &epoch]);
        Ok(self.draft(intent, format!("Tick the lease of {mint}"), payer, vec![tick_lease(mint)]))
    }

    pub(super) fn expect_owner(&self, found: Option<Address>, mint: AgentId, wallet: Address) -> Result<()> {
        match found {
            None => Err(ChainError::AgentBurned { mint }),
            Some(owner) if owner == wallet => Ok(()),
            Some(_) => Err(ChainError::NotAuthorized { mint, wallet }),
        }
    }
}

fn agent_is_burned(owner: Option<Address>) -> bool {
    owner.is_none()
}
