//! Stakes and the lease.

use super::Actions;
use crate::instructions::lease::{LeasePayment, pay_lease, tick_lease};
use crate::instructions::stake_lock;
use crate::pda;
use crate::rpc::draft::{Draft, Intent};
use crate::rpc::error::{ChainError, Result};
use crate::rpc::intents;
use crate::rpc::moves::Money;
use solana_address::Address;
use zx1_interface::Error;
use zx1_interface::accounts::TenureAccount;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

impl Actions<'_> {
    /// Makes the pooled vault of an agent's shard. Anyone may, once.
    pub async fn open_vault(&self, mint: AgentId, payer: Address) -> Result<Draft> {
        let shard = pda::shard_of(&mint);
        let open = stake_lock::open_vault(payer, self.usdc_mint(), shard);
        Ok(self.draft(
            intents::open_vault(shard),
            format!("Open the vault of shard {shard}"),
            payer,
            vec![open],
        ))
    }

    /// Locks USDC of `owner` as an agent's stake, or tops it up: in the tenure's era, or in the next one while
    /// that has ended or is challenged. Opens the vault and the first tenure where they are missing.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAnAgent`], [`ChainError::NotAuthorized`].
    pub async fn lock_stake(&self, mint: AgentId, owner: Address, amount: MicroUsdc) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        self.expect_owner(agent.owner, mint, owner)?;
        let from = self.paying(owner).await?;
        let addresses = agent.addresses()?;
        let mut list = Vec::new();
        if self.client.shard(mint).await?.is_none() {
            list.push(stake_lock::open_vault(owner, self.usdc_mint(), pda::shard_of(&mint)));
        }
        let (era, previous) = match self.client.tenure(mint).await? {
            Some(tenure) => self.lockable_era(mint, &tenure).await?,
            None => {
                list.push(stake_lock::open_tenure(&addresses, owner));
                (0, None)
            }
        };
        list.push(stake_lock::lock_stake(&addresses, owner, from, era, previous, amount));
        let intent = Intent::new("lock-stake", &[&mint, &owner, &amount.0]);
        let title = format!("Lock {} of stake for the agent {mint}", Money::Usdc(amount));
        Ok(self.draft(intent, title, owner, list))
    }

    /// The era in which a stake can be locked, and the one before it where that is the tenure's.
    async fn lockable_era(&self, mint: AgentId, tenure: &TenureAccount) -> Result<(u32, Option<u32>)> {
        let present = self.client.stake(mint, tenure.era).await?;
        if !present.is_some_and(|stake| stake.ended_slot != 0 || stake.open_challenges != 0) {
            return Ok((tenure.era, None));
        }
        let overflow = || ChainError::Invalid(Error::ArithmeticOverflow.message().to_owned());
        Ok((tenure.era.checked_add(1).ok_or_else(overflow)?, Some(tenure.era)))
    }

    /// Queues the unlock of an era's stake.
    pub async fn queue_unlock(&self, mint: AgentId, owner: Address, era: u32) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        // Who locked the stake may queue whoever holds the agent now.
        let queue = stake_lock::queue_unlock(&agent.addresses_even_if_burned(), owner, era);
        let intent = Intent::new("queue-unlock", &[&mint, &owner, &era]);
        let title = format!("Queue the unlock of the stake of {mint} in era {era}");
        Ok(self.draft(intent, title, owner, vec![queue]))
    }

    /// Cancels a queued unlock.
    pub async fn cancel_unlock(&self, mint: AgentId, owner: Address, era: u32) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        self.expect_owner(agent.owner, mint, owner)?;
        let cancel = stake_lock::cancel_unlock(&agent.addresses()?, owner, era);
        let intent = Intent::new("cancel-unlock", &[&mint, &owner, &era]);
        let title = format!("Cancel the unlock of the stake of {mint} in era {era}");
        Ok(self.draft(intent, title, owner, vec![cancel]))
    }

    /// Claims an era's stake, by who locked it.
    pub async fn claim_stake(&self, mint: AgentId, owner: Address, era: u32) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        let (into, create) = self.receiving(owner, owner).await?;
        let claim = stake_lock::claim_stake(&agent.addresses_even_if_burned(), owner, into, era);
        let list = create.into_iter().chain([claim]).collect();
        let title = format!("Claim the stake of {mint} of era {era}");
        Ok(self.draft(intents::claim_stake(&mint, era), title, owner, list))
    }

    /// Pays an agent's lease, as its holder or by a pay key, which pays from its own account.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAuthorized`].
    pub async fn pay_lease(&self, mint: AgentId, authority: Address, epochs: u32) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        let key = self.key_of(&agent, authority).await?;
        let (treasury_usdc, create) = self.treasury(authority).await?;
        let authority_usdc = self.paying(authority).await?;
        let payment = LeasePayment { authority, key, authority_usdc, treasury_usdc, epochs };
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
