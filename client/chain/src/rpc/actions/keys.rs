//! Tenures and keys (decision P1).

use super::Actions;
use crate::instructions::stake_lock;
use crate::pda;
use crate::rpc::draft::Draft;
use crate::rpc::error::{ChainError, Result};
use crate::rpc::intents;
use solana_address::Address;
use zx1_interface::accounts::{KeyAccount, TenureAccount};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;

impl Actions<'_> {
    /// Makes an agent's first tenure, its holder's.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAnAgent`], [`ChainError::AgentBurned`], [`ChainError::NotAuthorized`].
    pub async fn open_tenure(&self, mint: AgentId, owner: Address) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        self.expect_owner(agent.owner, mint, owner)?;
        let open = stake_lock::open_tenure(&agent.addresses()?, owner);
        let intent = intents::open_tenure(&mint);
        Ok(self.draft(intent, format!("Open the first tenure of the agent {mint}"), owner, vec![open]))
    }

    /// Begins the holder's tenure: every live key and the era of the former tenure end.
    ///
    /// # Errors
    ///
    /// As [`Self::open_tenure`], and [`ChainError::AccountMissing`] before the first tenure.
    pub async fn take_over(&self, mint: AgentId, owner: Address) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        self.expect_owner(agent.owner, mint, owner)?;
        let tenure = self.client.need::<TenureAccount>(pda::tenure(&mint)).await?;
        let live: Vec<Address> = self
            .client
            .keys(mint)
            .await?
            .iter()
            .filter(|key| key.ended_slot == 0)
            .map(|key| Address::new_from_array(key.key))
            .collect();
        let take = stake_lock::take_over(&agent.addresses()?, owner, tenure.era, &live);
        let intent = intents::take_over(&mint, tenure.number);
        Ok(self.draft(intent, format!("Take over the agent {mint}"), owner, vec![take]))
    }

    /// Lists a key, which signs as well; opens the first tenure where there is none. The wallet may list
    /// itself.
    ///
    /// # Errors
    ///
    /// As [`Self::open_tenure`], and [`ChainError::Invalid`] for scopes that are none.
    pub async fn add_key(
        &self,
        mint: AgentId,
        owner: Address,
        key: Address,
        scopes: Scopes,
    ) -> Result<Draft> {
        scopes.check().map_err(|error| ChainError::Invalid(error.to_string()))?;
        let agent = self.agent(mint).await?;
        self.expect_owner(agent.owner, mint, owner)?;
        let addresses = agent.addresses()?;
        let tenure = self.client.tenure(mint).await?;
        let open = tenure.is_none().then(|| stake_lock::open_tenure(&addresses, owner));
        let era = tenure.map_or(0, |tenure| tenure.era);
        let add = stake_lock::add_key(&addresses, owner, key, scopes, era);
        let title = format!("List the key {key} ({}) of the agent {mint}", scopes.names());
        let list = open.into_iter().chain([add]).collect();
        Ok(self.draft(intents::add_key(&mint, &key), title, owner, list))
    }

    /// Ends a key, by the holder whose tenure it is or by the key itself.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAnAgent`].
    pub async fn end_key(&self, mint: AgentId, authority: Address, key: Address) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        // A key ends itself whoever holds the agent.
        let end = stake_lock::end_key(&agent.addresses_even_if_burned(), authority, key);
        let title = format!("End the key {key} of the agent {mint}");
        Ok(self.draft(intents::end_key(&mint, &key), title, authority, vec![end]))
    }

    /// Closes an ended key; its rent goes to whoever paid it. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn close_key(&self, mint: AgentId, key: Address, payer: Address) -> Result<Draft> {
        let found = self.client.need::<KeyAccount>(pda::key(&mint, &key)).await?;
        let close = stake_lock::close_key(mint, key, Address::new_from_array(found.payer));
        let title = format!("Close the key {key} of the agent {mint}");
        Ok(self.draft(intents::close_key(&mint, &key), title, payer, vec![close]))
    }
}
