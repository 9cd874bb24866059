//! Reading the registry's members by their numbers, a hundred of them in two calls: who they are, and where their
//! registration files lie.

use super::super::client::Client;
use super::super::error::Result;
use super::{Metadata, indexed_mint, member, metadata, registry_config};
use crate::sati;
use solana_address::Address;
use zx1_protocol::ids::AgentId;

/// A member of the registry, as far as its mint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The mint, which is the agent's id.
    pub agent: AgentId,
    /// Its number in the registry, from 1.
    pub number: u64,
    /// Address of the registration file, as its owner wrote it: a stranger's text, perhaps empty.
    pub uri: String,
}

impl Client {
    /// How many agents the registry has; the newest one's number.
    ///
    /// # Errors
    ///
    /// Those of the node; when there is no registry on this cluster.
    pub async fn members_count(&self) -> Result<u64> {
        Ok(registry_config(self).await?.total_agents)
    }

    /// The members with these numbers. Whoever is burned, unknown, or not of the registry's form is left out.
    ///
    /// # Errors
    ///
    /// Those of the node and of the configuration.
    pub async fn members(&self, numbers: &[u64]) -> Result<Vec<Member>> {
        let config = self.known_config().await?;
        let indexes: Vec<Address> =
            numbers.iter().map(|number| sati::agent_index_address(*number).0).collect();
        let found = self.accounts(&indexes).await?;
        let named: Vec<(u64, AgentId)> = numbers
            .iter()
            .zip(&found)
            .filter_map(|(number, index)| Some((*number, indexed_mint(index.as_ref()?)?)))
            .collect();
        let mints: Vec<Address> = named.iter().map(|(_, mint)| (*mint).into()).collect();
        let mints = self.accounts(&mints).await?;
        let members = named.into_iter().zip(mints).filter_map(|((number, agent), mint)| {
            let mint = mint?;
            member(&config, &mint).filter(|read| read.supply != 0 && read.member_number == number)?;
            let (metadata, _) = metadata::read(&mint.data)?;
            Some(Member { agent, number, uri: metadata.uri })
        });
        Ok(members.collect())
    }

    /// What an agent's mint says of it, in one call; None when it is not one of the registry.
    ///
    /// # Errors
    ///
    /// Those of the node and of the configuration.
    pub async fn agent_metadata(&self, agent: AgentId) -> Result<Option<Metadata>> {
        let config = self.known_config().await?;
        let Some(mint) = self.account(agent.into()).await? else { return Ok(None) };
        let is_member = member(&config, &mint).is_some();
        Ok(metadata::read(&mint.data).filter(|_| is_member).map(|(metadata, _)| metadata))
    }
}
