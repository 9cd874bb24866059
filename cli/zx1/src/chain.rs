//! The cluster of this run: which one it is, and what a command needs to talk to it.

use crate::context::{Agent, Context};
use crate::errors::{Error, Failure, Result, sentence};
use crate::settings::{self, Commitment};
use solana_commitment_config::CommitmentConfig;
use zx1_chain::rpc::{ChainError, Client, ClientOptions, Cluster, Identity};

/// A cluster that has answered.
#[derive(Clone)]
pub struct Chain {
    /// Reads accounts, sends transactions.
    pub client: Client,
    /// Which cluster it is, by its genesis.
    pub identity: Identity,
}

impl Context {
    /// A client of the cluster; nothing is asked yet.
    pub fn client(&self) -> Result<Client> {
        let settings = self.settings()?;
        let commitment = match settings.commitment.value {
            Commitment::Processed => CommitmentConfig::processed(),
            Commitment::Confirmed => CommitmentConfig::confirmed(),
            Commitment::Finalized => CommitmentConfig::finalized(),
        };
        let cluster = Cluster::parse(&settings.url.value)?;
        Ok(Client::new(cluster, ClientOptions { commitment, ..ClientOptions::default() }))
    }

    /// Asks the cluster who it is.
    ///
    /// # Errors
    /// 7000 and following when it does not answer or is another than its name says.
    pub async fn connect(&self) -> Result<Chain> {
        let client = self.client()?;
        let identity = client.identity().await?;
        Ok(Chain { client, identity })
    }

    /// Refuses to spend on the main network when only the Solana command line's configuration names it:
    /// zx1's own default is never the main network.
    pub fn check_spending(&self, chain: &Chain) -> Result<()> {
        let url = &self.settings()?.url;
        if chain.identity.is_real_money() && url.source.is_file(settings::SOLANA) {
            return Err(Error::MainnetUnasked { url: url.value.clone() }.into());
        }
        Ok(())
    }

    /// Refuses an agent that the configuration knows from another cluster.
    pub fn check_agent(&self, chain: &Chain, agent: &Agent) -> Result<()> {
        let known = agent.entry.as_ref().and_then(|entry| entry.genesis.as_ref());
        match known {
            Some(genesis) if *genesis != chain.identity.genesis => {
                Err(Error::AgentElsewhere { agent: agent.shown(), url: self.settings()?.url.value.clone() }
                    .into())
            }
            _ => Ok(()),
        }
    }
}

impl From<ChainError> for Failure {
    fn from(error: ChainError) -> Self {
        let failure = Self::of(&error, crate::next::after_chain(&error));
        match error {
            // The program's own name and sentence, without the decoration.
            ChainError::Refused(refusal) => {
                Self { message: sentence(&refusal.message), ..failure }.named(&refusal.name)
            }
            _ => failure,
        }
    }
}
