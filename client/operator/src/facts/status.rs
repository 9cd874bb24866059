//! Everything about one party at once: its wallet, its agent, what it sent.

use super::{Accounts, LeaseReport, OpenAsk, OpenChallenge, StakeReport, open_asks, open_challenges};
use crate::error::Result;
use crate::keys::{self, Standing, TenureReport};
use crate::operator::{Agent, Operator};
use crate::send::outbox;
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Client;
use zx1_chain::rpc::registry::{AgentRecord, IdentityRegistry as _, Sati};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// What the chain knows of an agent.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct AgentStatus {
    pub mint: String,
    pub local_name: Option<String>,
    pub registered: bool,
    /// The name that it has in the registry.
    pub name: Option<String>,
    pub member_number: Option<u64>,
    pub owner: Option<String>,
    pub soulbound: Option<bool>,
    /// None before the first key or stake.
    pub tenure: Option<TenureReport>,
    pub keys: KeyCounts,
    /// The stake of the present era.
    pub stake: Option<StakeReport>,
    /// Stakes of earlier eras.
    pub earlier_stakes: Vec<StakeReport>,
    pub lease: LeaseReport,
    /// None before the chain of batches is open.
    pub batches: Option<BatchStatus>,
    /// Those that are not settled.
    pub challenges: Vec<OpenChallenge>,
    /// Leaves that wait to be shown.
    pub asks: Vec<OpenAsk>,
}

/// How many keys of an agent act now, by scope; and others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names are those of the scopes")]
pub struct KeyCounts {
    pub pay: usize,
    pub batch: usize,
    pub deal: usize,
    pub peer: usize,
    /// Keys whose notice has not passed.
    pub notice: usize,
    /// Keys of a former holder.
    pub former: usize,
}

impl KeyCounts {
    /// Counts an agent's keys.
    pub fn of(keys: &keys::Keys) -> Self {
        let mut counts = Self::default();
        for key in &keys.keys {
            let more = |count: &mut usize| *count = count.saturating_add(1);
            match key.standing {
                Standing::Live => {
                    for (name, count) in [
                        ("pay", &mut counts.pay),
                        ("batch", &mut counts.batch),
                        ("deal", &mut counts.deal),
                        ("peer", &mut counts.peer),
                    ] {
                        if key.scopes.split(',').any(|scope| scope == name) {
                            more(count);
                        }
                    }
                }
                Standing::Notice => more(&mut counts.notice),
                Standing::Former => more(&mut counts.former),
                Standing::Ended => {}
            }
        }
        counts
    }
}

/// What the cluster, the wallet and the outbox hold for one party.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Status {
    pub cluster: String,
    pub genesis: String,
    pub slot: u64,
    pub unix: i64,
    pub epoch: u64,
    /// The smallest stake with which a batch lands.
    pub minimum_stake_micro_usdc: MicroUsdc,
    pub wallet: Option<String>,
    pub lamports: Option<u64>,
    pub usdc_micro_usdc: Option<MicroUsdc>,
    pub agent: Option<AgentStatus>,
    /// Transactions that were sent and whose outcome is unknown.
    pub unfinished: Vec<String>,
}

impl Operator {
    /// Reads everything about a wallet and an agent.
    ///
    /// # Errors
    /// The cluster's, and 7080 to 7082 for the outbox.
    pub async fn status(&self, wallet: Option<Address>, agent: Option<&Agent>) -> Result<Status> {
        let (client, identity) = (self.client(), &self.chain.identity);
        let (time, config) = tokio::try_join!(client.time(), client.config())?;
        let (lamports, usdc) = match wallet {
            Some(wallet) => {
                let mint = Address::new_from_array(config.usdc_mint);
                let (sol, usdc) =
                    tokio::try_join!(client.lamports(wallet), client.usdc_balance(wallet, mint))?;
                (Some(sol), Some(usdc))
            }
            None => (None, None),
        };
        let agent = match agent {
            Some(agent) => Some(self.agent_status(agent).await?),
            None => None,
        };
        let records = outbox(&self.home)?.records()?;
        Ok(Status {
            cluster: identity.to_string(),
            genesis: identity.genesis.clone(),
            slot: time.slot,
            unix: time.unix,
            epoch: time.epoch,
            minimum_stake_micro_usdc: MicroUsdc(config.min_stake),
            wallet: wallet.map(|wallet| wallet.to_string()),
            lamports,
            usdc_micro_usdc: usdc,
            agent,
            unfinished: records.into_iter().map(|record| record.title).collect(),
        })
    }
}

/// An agent's batches so far.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct BatchStatus {
    pub count: u64,
    pub last_epoch: u64,
    pub last_slot: u64,
}

impl Operator {
    /// Asks the registry and the programs for everything about an agent.
    ///
    /// # Errors
    /// The cluster's.
    pub async fn agent_status(&self, agent: &Agent) -> Result<AgentStatus> {
        let client = self.client();
        let registry = Sati::connect(client).await?;
        let record = registry.look_up(agent.mint).await?;
        AgentStatus::read(client, agent, record.as_ref()).await
    }
}

impl AgentStatus {
    /// Of an agent whose record in the registry is this one.
    pub(crate) async fn read(client: &Client, agent: &Agent, record: Option<&AgentRecord>) -> Result<Self> {
        let mint = agent.mint;
        let holder = record.and_then(|record| record.owner);
        let accounts = Accounts::read(client, mint, holder).await?;
        let slot = accounts.time.slot;
        Ok(Self {
            local_name: agent.name.clone(),
            registered: record.is_some(),
            name: record.map(|record| record.metadata.name.clone()),
            member_number: record.map(|record| record.member_number),
            soulbound: record.map(|record| record.soulbound),
            keys: KeyCounts::of(&keys::read(client, mint).await?),
            challenges: open_challenges(client, mint, slot).await?,
            asks: open_asks(client, mint, slot).await?,
            ..Self::of(&accounts, mint)
        })
    }

    /// What the accounts alone say.
    pub(crate) fn of(accounts: &Accounts, mint: AgentId) -> Self {
        let present = accounts.tenure.as_ref().map(|tenure| tenure.era);
        let (now, earlier): (Vec<_>, Vec<_>) =
            accounts.stake_reports(mint).into_iter().partition(|stake| Some(stake.era) == present);
        Self {
            mint: mint.to_string(),
            local_name: None,
            registered: true,
            name: None,
            member_number: None,
            owner: accounts.holder.map(|owner| owner.to_string()),
            soulbound: None,
            tenure: accounts.tenure_report(),
            keys: KeyCounts::default(),
            stake: now.into_iter().next(),
            earlier_stakes: earlier,
            lease: accounts.lease_report(mint),
            batches: accounts.head.as_ref().map(|head| BatchStatus {
                count: head.count,
                last_epoch: head.last_epoch,
                last_slot: head.last_slot,
            }),
            challenges: Vec::new(),
            asks: Vec::new(),
        }
    }
}
