//! What a wallet holds: money at hand, agents, and money that comes back.

use crate::challenge;
use crate::error::Result;
use crate::facts::{AgentStatus, StakeReport, slots_left};
use crate::operator::{Agent, Operator};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::ChallengeFilter;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati};
use zx1_interface::constants::GRACE_PERIOD_EPOCHS;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// A stake that the wallet locked.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Staked {
    /// The name that the registry has.
    pub name: Option<String>,
    #[serde(flatten)]
    pub stake: StakeReport,
    /// The first epoch in which its unlock can be queued, if nobody pays the lease again; `None` when it can be now.
    pub unlock_from_epoch: Option<u64>,
}

/// The stake of a challenge that the wallet made and that is not settled.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Challenging {
    pub challenge: String,
    pub agent: AgentId,
    pub stake_micro_usdc: MicroUsdc,
    /// Slots in which it can still be answered; then the stake comes back.
    pub slots_left: u64,
}

/// What a wallet has, and what comes back to it.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Holdings {
    pub wallet: String,
    pub lamports: u64,
    pub usdc_micro_usdc: MicroUsdc,
    pub staked_micro_usdc: MicroUsdc,
    pub stakes: Vec<Staked>,
    pub challenges: Vec<Challenging>,
    pub epoch: u64,
}

impl Operator {
    /// The agents that a wallet owns, by number, under the registry's names.
    pub async fn agents_of(&self, wallet: Address) -> Result<Vec<AgentStatus>> {
        let registry = Sati::connect(self.client()).await?;
        let mut found = Vec::new();
        for record in registry.agents_of_wallet(wallet).await? {
            let agent = Agent { name: None, mint: record.mint };
            found.push(AgentStatus::read(self.client(), &agent, Some(&record)).await?);
        }
        Ok(found)
    }

    /// What a wallet holds. Of stakes those of the agents that it owns, and of `others`.
    pub async fn holdings(&self, wallet: Address, others: &[Agent]) -> Result<Holdings> {
        let client = self.client();
        let config = client.config().await?;
        let mint = Address::new_from_array(config.usdc_mint);
        let (time, lamports, usdc, challenges) = tokio::try_join!(
            client.time(),
            client.lamports(wallet),
            client.usdc_balance(wallet, mint),
            client.challenges(ChallengeFilter::Challenger(wallet))
        )?;
        let mut agents = self.agents_of(wallet).await?;
        for other in others {
            if !agents.iter().any(|known| known.mint == other.mint.to_string()) {
                agents.push(self.agent_status(other).await?);
            }
        }
        let owner = wallet.to_string();
        let stakes: Vec<Staked> = agents.into_iter().flat_map(stakes_of).collect();
        let stakes: Vec<Staked> = stakes.into_iter().filter(|it| it.stake.owner == owner).collect();
        let staked = stakes.iter().map(|it| it.stake.stake_micro_usdc.0).fold(0, u64::saturating_add);
        let open = challenges.iter().filter(|it| it.outcome == challenge::OPEN);
        let challenges = open.map(|it| Challenging {
            challenge: it.address.to_string(),
            agent: AgentId(it.agent_id),
            stake_micro_usdc: MicroUsdc(it.stake_usdc),
            slots_left: slots_left(challenge::clock(it).deadline().0, time.slot),
        });
        Ok(Holdings {
            wallet: owner,
            lamports,
            usdc_micro_usdc: usdc,
            staked_micro_usdc: MicroUsdc(staked),
            stakes,
            challenges: challenges.collect(),
            epoch: time.epoch,
        })
    }
}

/// The stakes of all eras of an agent.
fn stakes_of(agent: AgentStatus) -> Vec<Staked> {
    // A deactivated lease lets the unlock be queued: the grace period after the last paid epoch is over.
    let paid = agent.lease.paid_through_epoch.filter(|_| agent.lease.state != "deactivated");
    let unlock = paid.map(|paid| paid.saturating_add(GRACE_PERIOD_EPOCHS).saturating_add(1));
    let all = agent.earlier_stakes.into_iter().chain(agent.stake);
    let held = all.filter(|stake| stake.stake_micro_usdc > MicroUsdc(0));
    held.map(|stake| Staked { name: agent.name.clone(), stake, unlock_from_epoch: unlock }).collect()
}
