//! What is well with a wallet and an agent, and what is not. Findings are typed; a front end words them and names
//! the command that helps.

use crate::defaults::{CLOCK_SKEW_SECONDS, LEASE_WARN_DAYS, LOW_LAMPORTS};
use crate::error::Result;
use crate::facts::{
    Accounts, KeyCounts, LeaseReport, OpenAsk, OpenChallenge, StakeReport, open_asks, open_challenges,
};
use crate::keys::{self, TenureReport};
use crate::operator::Agent;
use solana_address::Address;
use std::path::Path;
use zx1_chain::rpc::registry::{AgentRecord, IdentityRegistry as _, Sati};
use zx1_chain::rpc::{ChainError, Client};
use zx1_home::{Clock as _, SystemClock};
use zx1_interface::ids;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::MicroUsdc;

/// What a finding is about, in the order in which it is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Topic {
    Programs,
    Clock,
    Sol,
    Usdc,
    Agent,
    Keys,
    Stake,
    Lease,
    Batch,
    Challenges,
    Asks,
    Outbox,
}

impl Topic {
    /// What is examined on the cluster.
    pub const ON_CHAIN: [Self; 11] = [
        Self::Programs,
        Self::Clock,
        Self::Sol,
        Self::Usdc,
        Self::Agent,
        Self::Keys,
        Self::Stake,
        Self::Lease,
        Self::Batch,
        Self::Challenges,
        Self::Asks,
    ];
    const OF_AGENT: [Self; 6] =
        [Self::Keys, Self::Stake, Self::Lease, Self::Batch, Self::Challenges, Self::Asks];

    /// The name, as reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Programs => "programs",
            Self::Clock => "clock",
            Self::Sol => "SOL",
            Self::Usdc => "USDC",
            Self::Agent => "agent",
            Self::Keys => "keys",
            Self::Stake => "stake",
            Self::Lease => "lease",
            Self::Batch => "batch",
            Self::Challenges => "challenges",
            Self::Asks => "asks",
            Self::Outbox => "outbox",
        }
    }
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing to do.
    Ok,
    /// Works, but not for long, or not as wanted.
    Warning,
    /// Something does not work.
    Failure,
    /// It was not examined, because something else is missing.
    Skipped,
}

/// Why something was not examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The cluster does not answer.
    Cluster,
    /// The programs or their configuration are not on the cluster.
    Protocol,
    /// There is no key.
    Key,
    /// There is no agent.
    Agent,
}

/// The owner of an agent's NFT, as seen from a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The wallet owns the agent.
    Ours,
    /// The wallet is a key of the agent that has not ended, with these scopes.
    Key(String),
    /// Another wallet owns the agent, and this one is not a key of it.
    Other(Address),
    /// The NFT was burned, so that the agent has no owner.
    Burned,
    /// There is no wallet to compare with.
    Unknown(Address),
}

/// What was found about one topic.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Finding {
    Skipped(Topic, Missing),
    /// Names of programs that are not on the cluster.
    ProgramsMissing(Vec<&'static str>),
    NotConfigured(ChainError),
    Programs {
        usdc_mint: Address,
    },
    /// This machine's clock beside the chain's. On a local cluster the chain's time is moved on purpose.
    Clock {
        seconds: u64,
        ahead: bool,
        local: bool,
    },
    /// What pays for fees and rent.
    Sol {
        wallet: Address,
        lamports: u64,
        local: bool,
    },
    /// What pays for stake, lease and challenges; `None` without a token account.
    Usdc {
        wallet: Address,
        mint: Address,
        micro_usdc: Option<MicroUsdc>,
        local: bool,
    },
    /// No agent is named; perhaps the wallet owns one all the same: its name and mint.
    NoAgent {
        owned: Option<(String, AgentId)>,
    },
    NotRegistered(Agent),
    Agent {
        agent: Agent,
        member_number: u64,
        ownership: Ownership,
    },
    /// Whose turn it is, and how many keys act.
    Keys {
        tenure: Option<TenureReport>,
        counts: KeyCounts,
    },
    /// The stake of the present era, and the smallest with which a batch lands.
    Stake {
        stake: Option<StakeReport>,
        minimum_micro_usdc: MicroUsdc,
    },
    /// A stake of an earlier era.
    EarlierStake(StakeReport),
    Lease(LeaseReport),
    /// The agent's chain of batches is not open.
    NoHead,
    /// How many batches there are and the epoch of the last one, or the one before the chain was opened; the epoch
    /// for which one is due.
    Batch {
        number: u64,
        last: u64,
        due: u64,
    },
    NoChallenges,
    Challenge(OpenChallenge),
    NoAsks,
    Ask(OpenAsk),
    /// Titles of what was sent and not seen to land.
    Outbox(Vec<String>),
}

impl Finding {
    /// The clocks of this machine and of the chain, in Unix seconds.
    pub fn clock(here: i64, chain: i64, local: bool) -> Self {
        Self::Clock { seconds: here.abs_diff(chain), ahead: here > chain, local }
    }

    /// The number of batches and the last one's epoch, in this epoch; `None` before the chain is open.
    pub fn batch(last: Option<(u64, u64)>, epoch: u64) -> Self {
        match last {
            None => Self::NoHead,
            Some((number, last)) => Self::Batch { number, last, due: epoch.saturating_sub(1) },
        }
    }

    /// What the finding is about.
    pub fn topic(&self) -> Topic {
        match self {
            Self::Skipped(topic, _) => *topic,
            Self::ProgramsMissing(_) | Self::NotConfigured(_) | Self::Programs { .. } => Topic::Programs,
            Self::Clock { .. } => Topic::Clock,
            Self::Sol { .. } => Topic::Sol,
            Self::Usdc { .. } => Topic::Usdc,
            Self::NoAgent { .. } | Self::NotRegistered(_) | Self::Agent { .. } => Topic::Agent,
            Self::Keys { .. } => Topic::Keys,
            Self::Stake { .. } | Self::EarlierStake(_) => Topic::Stake,
            Self::Lease(_) => Topic::Lease,
            Self::NoHead | Self::Batch { .. } => Topic::Batch,
            Self::NoChallenges | Self::Challenge(_) => Topic::Challenges,
            Self::NoAsks | Self::Ask(_) => Topic::Asks,
            Self::Outbox(_) => Topic::Outbox,
        }
    }

    /// How serious it is.
    pub fn severity(&self) -> Severity {
        use Severity::{Failure, Ok, Skipped, Warning};
        let warn_if = |bad: bool| if bad { Warning } else { Ok };
        match self {
            Self::Skipped(..) => Skipped,
            Self::ProgramsMissing(_) | Self::NotConfigured(_) | Self::NotRegistered(_) => Failure,
            Self::Programs { .. } | Self::NoChallenges | Self::NoAsks => Ok,
            Self::Clock { local, .. } => warn_if(self.is_skewed() && !local),
            Self::Sol { lamports: 0, .. } => Failure,
            Self::Sol { lamports, .. } => warn_if(*lamports < LOW_LAMPORTS),
            Self::Usdc { micro_usdc, .. } => warn_if(micro_usdc.is_none_or(|held| held == MicroUsdc(0))),
            Self::NoAgent { owned } => owned.as_ref().map_or(Failure, |_| Warning),
            Self::Agent { ownership, .. } => match ownership {
                Ownership::Ours | Ownership::Key(_) | Ownership::Unknown(_) => Ok,
                Ownership::Other(_) => Warning,
                Ownership::Burned => Failure,
            },
            Self::Keys { tenure: None, .. } => Failure,
            Self::Keys { tenure: Some(tenure), counts } => match counts.batch.min(counts.deal) {
                _ if !tenure.is_holders => Failure,
                0 => Warning,
                _ => Ok,
            },
            Self::Stake { stake: None, .. } => Failure,
            Self::EarlierStake(stake) => warn_if(stake.claimable),
            Self::Stake { stake: Some(stake), .. } if stake.claimable || stake.unlock_queued => Warning,
            Self::Stake { stake: Some(stake), .. } => {
                if stake.is_enough {
                    Ok
                } else {
                    Failure
                }
            }
            Self::Lease(lease) => match lease.state {
                "none" | "deactivated" => Failure,
                "grace" => Warning,
                _ => warn_if(lease.ends_soon()),
            },
            Self::NoHead => Warning,
            Self::Batch { last, due, .. } => warn_if(last < due),
            Self::Challenge(_) => Failure,
            Self::Ask(ask) => {
                if ask.slots_left == 0 {
                    Failure
                } else {
                    Warning
                }
            }
            Self::Outbox(titles) => warn_if(!titles.is_empty()),
        }
    }

    /// Whether this machine's clock is farther from the chain's than receivers of messages accept.
    pub fn is_skewed(&self) -> bool {
        matches!(self, Self::Clock { seconds, .. } if *seconds > CLOCK_SKEW_SECONDS)
    }
}

impl LeaseReport {
    /// Whether a live lease ends in the next days.
    pub fn ends_soon(&self) -> bool {
        self.days_left < LEASE_WARN_DAYS
    }
}

/// What was sent and not seen to land.
///
/// # Errors
/// The disk's.
pub fn outbox(home: &Path) -> Result<Finding> {
    let records = crate::outbox(home)?.records()?;
    Ok(Finding::Outbox(records.into_iter().map(|record| record.title).collect()))
}

/// The agent that is examined.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// The agent that was named.
    Agent(&'a Agent),
    /// The first one that the wallet owns.
    Owned,
    /// None: the front end knows why.
    Nothing,
}

/// Findings about everything on the cluster, topic after topic. `wallet` is what pays.
///
/// # Errors
/// The cluster's, when it does not answer.
pub async fn examine(client: &Client, wallet: Option<Address>, subject: Subject<'_>) -> Result<Vec<Finding>> {
    let mut found = vec![programs(client).await?];
    let mint = match found.first() {
        Some(Finding::Programs { usdc_mint }) => Some(*usdc_mint),
        _ => None,
    };
    let local = client.cluster().is_local();
    let here = i64::try_from(SystemClock.unix_secs()).unwrap_or(i64::MAX);
    found.push(Finding::clock(here, client.time().await?.unix, local));
    match wallet {
        None => found.extend([Topic::Sol, Topic::Usdc].map(|topic| Finding::Skipped(topic, Missing::Key))),
        Some(wallet) => {
            found.push(Finding::Sol { wallet, lamports: client.lamports(wallet).await?, local });
            found.push(match mint {
                None => Finding::Skipped(Topic::Usdc, Missing::Protocol),
                Some(mint) => usdc(client, wallet, mint, local).await?,
            });
        }
    }
    if mint.is_none() {
        found.push(Finding::Skipped(Topic::Agent, Missing::Protocol));
        found.extend(Topic::OF_AGENT.map(|topic| Finding::Skipped(topic, Missing::Protocol)));
        return Ok(found);
    }
    let registry = Sati::connect(client).await?;
    let record = match subject {
        Subject::Agent(agent) => known_agent(client, &registry, agent, wallet, &mut found).await?,
        Subject::Owned => owned_agent(&registry, wallet, &mut found).await?,
        Subject::Nothing => {
            found.push(Finding::Skipped(Topic::Agent, Missing::Agent));
            None
        }
    };
    match record {
        Some(record) => accounts(client, record.mint, record.owner, &mut found).await?,
        None => found.extend(Topic::OF_AGENT.map(|topic| Finding::Skipped(topic, Missing::Agent))),
    }
    Ok(found)
}

/// Whether all programs and the configuration are there.
async fn programs(client: &Client) -> Result<Finding> {
    let programs = [
        ("StakeLock", ids::STAKE_LOCK),
        ("Lease", ids::LEASE),
        ("BehaviorLog", ids::BEHAVIOR_LOG),
        ("Challenge", ids::CHALLENGE),
        ("FeedbackLog", ids::FEEDBACK_LOG),
        ("SATI", ids::SATI),
    ];
    let accounts = client.accounts(&programs.map(|(_, id)| Address::new_from_array(id))).await?;
    let is_there = |account: &Option<zx1_chain::rpc::RawAccount>| {
        account.as_ref().is_some_and(|account| account.executable)
    };
    let missing = programs.iter().zip(&accounts).filter(|(_, account)| !is_there(account));
    let missing: Vec<&str> = missing.map(|((name, _), _)| *name).collect();
    if !missing.is_empty() {
        return Ok(Finding::ProgramsMissing(missing));
    }
    match client.config().await {
        Ok(config) => Ok(Finding::Programs { usdc_mint: Address::new_from_array(config.usdc_mint) }),
        Err(error @ ChainError::NotConfigured { .. }) => Ok(Finding::NotConfigured(error)),
        Err(error) => Err(error.into()),
    }
}

async fn usdc(client: &Client, wallet: Address, mint: Address, local: bool) -> Result<Finding> {
    let accounts = client.usdc_accounts(wallet, mint).await?;
    let total = MicroUsdc(accounts.iter().fold(0u64, |sum, account| sum.saturating_add(account.amount.0)));
    Ok(Finding::Usdc { wallet, mint, micro_usdc: (!accounts.is_empty()).then_some(total), local })
}

async fn owned_agent(
    registry: &Sati,
    wallet: Option<Address>,
    found: &mut Vec<Finding>,
) -> Result<Option<AgentRecord>> {
    let owned = match wallet {
        Some(wallet) => registry.agents_of_wallet(wallet).await?,
        None => Vec::new(),
    };
    let first = owned.into_iter().next();
    let owned = first.as_ref().map(|record| (record.metadata.name.clone(), record.mint));
    found.push(Finding::NoAgent { owned });
    Ok(first)
}

async fn known_agent(
    client: &Client,
    registry: &Sati,
    agent: &Agent,
    wallet: Option<Address>,
    found: &mut Vec<Finding>,
) -> Result<Option<AgentRecord>> {
    let Some(record) = registry.look_up(agent.mint).await? else {
        found.push(Finding::NotRegistered(agent.clone()));
        return Ok(None);
    };
    let ownership = match (record.owner, wallet) {
        (None, _) => Ownership::Burned,
        (Some(owner), None) => Ownership::Unknown(owner),
        (Some(owner), Some(wallet)) if owner == wallet => Ownership::Ours,
        (Some(owner), Some(wallet)) => {
            let key = client.key(agent.mint, wallet).await?.filter(|key| key.ended_slot == 0);
            key.map_or(Ownership::Other(owner), |key| Ownership::Key(Scopes(key.scopes).names()))
        }
    };
    let member_number = record.member_number;
    found.push(Finding::Agent { agent: agent.clone(), member_number, ownership });
    Ok(Some(record))
}

async fn accounts(
    client: &Client,
    mint: AgentId,
    holder: Option<Address>,
    found: &mut Vec<Finding>,
) -> Result<()> {
    let accounts = Accounts::read(client, mint, holder).await?;
    let counts = KeyCounts::of(&keys::read(client, mint).await?);
    found.push(Finding::Keys { tenure: accounts.tenure_report(), counts });
    let stake = accounts.stake_report(mint);
    let present = stake.as_ref().map(|stake| stake.era);
    found.push(Finding::Stake { stake, minimum_micro_usdc: MicroUsdc(accounts.amounts.min_stake) });
    let earlier = accounts.stake_reports(mint).into_iter().filter(|stake| Some(stake.era) != present);
    found.extend(earlier.map(Finding::EarlierStake));
    found.push(Finding::Lease(accounts.lease_report(mint)));
    let last = accounts.head.as_ref().map(|head| (head.count, head.last_epoch));
    found.push(Finding::batch(last, accounts.time.epoch));
    let challenges = open_challenges(client, mint, accounts.time.slot).await?;
    if challenges.is_empty() {
        found.push(Finding::NoChallenges);
    }
    found.extend(challenges.into_iter().map(Finding::Challenge));
    let asks = open_asks(client, mint, accounts.time.slot).await?;
    if asks.is_empty() {
        found.push(Finding::NoAsks);
    }
    found.extend(asks.into_iter().map(Finding::Ask));
    Ok(())
}
