//! The cluster of this run: which one it is, and what a command needs to talk to it.

use crate::context::{Agent, Context};
use crate::errors::{Error, Failure, Result, sentence};
use crate::input;
use crate::output::Page;
use crate::screen::Screen;
use crate::settings;
use crate::summary::View;
use crate::tx;
use serde::Serialize;
use solana_address::Address;
use std::sync::Arc;
use zx1_chain::rpc::{ChainError, Client, ClientOptions, Cluster};
use zx1_cli_common::keys::public;
use zx1_operator::{Attempt, Mode, Operator, Options, Sent};

pub use zx1_operator::Chain;

impl Context {
    /// A client of the cluster; nothing is asked yet.
    pub fn client(&self) -> Result<Client> {
        let settings = self.settings()?;
        let commitment = settings.commitment.value;
        let cluster = Cluster::parse(&settings.url.value)?;
        Ok(Client::new(cluster, ClientOptions { commitment, ..ClientOptions::default() }))
    }

    /// Asks the cluster who it is.
    ///
    /// # Errors
    /// 7000 and following when it does not answer or is not the cluster that its name promises.
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

impl Context {
    /// The operator of this run, for reading.
    pub async fn operator(&self) -> Result<Operator> {
        self.operator_on(self.connect().await?)
    }

    /// The operator of this run, for reading about an agent.
    pub async fn operator_of(&self, agent: &Agent) -> Result<Operator> {
        let operator = self.operator().await?;
        self.check_agent(&operator.chain, agent)?;
        Ok(operator)
    }

    /// The same for signing batches: with the second node, where one is set.
    pub async fn with_second(&self, operator: Operator) -> Result<Operator> {
        let Some(url) = &self.settings()?.second_url.value else { return Ok(operator) };
        let commitment = self.settings()?.commitment.value;
        let options = ClientOptions { commitment, ..ClientOptions::default() };
        Ok(operator.with_second(Client::new(Cluster::parse(url)?, options)).await?)
    }

    /// The operator of this run, for transactions of an agent.
    pub async fn spender_of(&self, agent: &Agent) -> Result<Operator> {
        let operator = self.operator_of(agent).await?;
        self.check_spending(&operator.chain)?;
        Ok(operator)
    }

    /// The operator of this run, for transactions.
    pub async fn spender(&self) -> Result<Operator> {
        let operator = self.operator().await?;
        self.check_spending(&operator.chain)?;
        Ok(operator)
    }

    /// The same on a cluster that has answered before.
    pub fn operator_on(&self, chain: Chain) -> Result<Operator> {
        let flags = self.flags();
        let mode = match (flags.dry_run, flags.print_tx || flags.sign_only) {
            (true, _) => Mode::Simulate,
            (_, true) => {
                let blockhash = flags.blockhash.as_deref().map(|text| input::address(text, "The blockhash"));
                Mode::Sign { blockhash: blockhash.transpose()?.map(|hash| hash.to_bytes()) }
            }
            _ => Mode::Send,
        };
        let options = Options { unit_price: self.settings()?.compute_unit_price.value, mode };
        self.name_cluster(tx::cluster_line(self, &chain)?);
        let screen = Screen::new(self.format()?, flags.yes, self.view()?, self.declined(), self.budget());
        Ok(Operator::new(chain, self.home()?, options, Arc::new(screen)))
    }

    /// How this run shows transactions.
    pub(crate) fn view(&self) -> Result<View> {
        let names = self.config()?.agents.into_iter().map(|(name, entry)| (entry.mint, name)).collect();
        let keypair = &self.settings()?.keypair.value;
        // One that cannot be read is refused where it is needed.
        let known = zx1_home::keys::read(keypair).ok().map(|key| Address::from(public(&key.seed)));
        let wallet = known.or_else(|| keypair.to_str()?.parse().ok());
        let (cluster, addresses) = (self.cluster_line(), self.flags().verbose > 0);
        Ok(View { cluster, wallet, names, addresses })
    }

    /// Prints a result, then removes its transaction from the outbox: in this order, so that a result that was not
    /// shown is shown by the next run. A preview is printed instead.
    pub async fn finish<T: Serialize>(
        &self,
        attempt: Attempt<T>,
        sent: fn(&T) -> &Sent,
        draw: fn(&T, &mut Page),
    ) -> Result<()> {
        let Some(done) = tx::done(self, attempt)? else { return Ok(()) };
        self.show(&done, draw)?;
        Ok(sent(&done).acknowledge().await?)
    }
}

impl From<ChainError> for Failure {
    fn from(error: ChainError) -> Self {
        (&error).into()
    }
}

impl From<&ChainError> for Failure {
    fn from(error: &ChainError) -> Self {
        let failure = Self::of(error, crate::next::after_chain(error));
        match error {
            // The program's own name and sentence, without the decoration.
            ChainError::Refused(refusal) => {
                Self { message: sentence(&refusal.message), ..failure }.named(&refusal.name)
            }
            _ => failure,
        }
    }
}
