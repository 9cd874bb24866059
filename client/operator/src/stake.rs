//! The stake that answers for an agent, by eras (protocol.md, 10.5; decisions B6 and P1).

use crate::done;
use crate::error::{Refusal, Result};
use crate::facts::{Accounts, StakeReport};
use crate::keys::TenureReport;
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// A change of a stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Lock this amount in the tenure's era, or add it; in the next era where the present one is over or
    /// challenged. Tenure and vault are made where there are none.
    Lock(MicroUsdc),
    /// Queue the unlock of an era's stake.
    Unlock(Option<u32>),
    /// Cancel the queued unlock of an era's stake.
    Cancel(Option<u32>),
    /// Transfer an era's stake to who locked it, after the delay.
    Claim(Option<u32>),
}

/// An agent's stakes.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Stakes {
    pub agent: AgentId,
    /// None before the first key or stake.
    pub tenure: Option<TenureReport>,
    /// The smallest stake with which a batch lands.
    pub minimum_micro_usdc: MicroUsdc,
    /// By era, the oldest first.
    pub eras: Vec<StakeReport>,
}

impl Stakes {
    fn of(accounts: &Accounts, agent: AgentId) -> Self {
        Self {
            agent,
            tenure: accounts.tenure_report(),
            minimum_micro_usdc: MicroUsdc(accounts.amounts.min_stake),
            eras: accounts.stake_reports(agent),
        }
    }
}

/// Stakes after a change.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Changed {
    #[serde(flatten)]
    pub sent: Sent,
    #[serde(flatten)]
    pub stakes: Stakes,
}

impl Operator {
    /// Changes one of the agent's stakes. Without an era the only one that the wallet locked is meant, else the
    /// present one.
    ///
    /// # Errors
    /// 7500 without a stake, 7513 without one of that era, 7514 when the wallet locked several and none of them
    /// is the present one.
    pub async fn change_stake(
        &self,
        agent: &Agent,
        owner: &Wallet,
        change: Change,
    ) -> Result<Attempt<Changed>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        let (mint, wallet) = (agent.mint, owner.address());
        let before = self.accounts(&sati, agent).await?;
        let draft = match change {
            Change::Lock(amount) => actions.lock_stake(mint, wallet, amount).await?,
            Change::Unlock(era) => {
                actions.queue_unlock(mint, wallet, chosen(&before, agent, owner, era)?).await?
            }
            Change::Cancel(era) => {
                actions.cancel_unlock(mint, wallet, chosen(&before, agent, owner, era)?).await?
            }
            Change::Claim(era) => {
                // Of an interrupted run that claimed it there is nothing left to see.
                let any = intents::claim_stake_of_any_era(&mint);
                let named = era.map(|era| intents::claim_stake(&mint, era).as_str().to_owned());
                for claim in self.unfinished(&named.unwrap_or(any))? {
                    if let Some(sent) = self.earlier(&claim).await? {
                        return Ok(Attempt::Done(Changed { sent, stakes: Stakes::of(&before, mint) }));
                    }
                }
                actions.claim_stake(mint, wallet, chosen(&before, agent, owner, era)?).await?
            }
        };
        let sent = done!(self.send(&draft, owner).await?);
        let stakes = Stakes::of(&self.accounts(&sati, agent).await?, mint);
        Ok(Attempt::Done(Changed { sent, stakes }))
    }

    /// The agent's stakes.
    ///
    /// # Errors
    /// 7500 when it has none.
    pub async fn stakes(&self, agent: &Agent) -> Result<Stakes> {
        let sati = Sati::connect(self.client()).await?;
        let stakes = Stakes::of(&self.accounts(&sati, agent).await?, agent.mint);
        if stakes.eras.is_empty() {
            return Err(Refusal::NoStake { agent: agent.shown() }.into());
        }
        Ok(stakes)
    }

    pub(crate) async fn accounts(&self, sati: &Sati, agent: &Agent) -> Result<Accounts> {
        let holder = sati.look_up(agent.mint).await?.and_then(|record| record.owner);
        Accounts::read(self.client(), agent.mint, holder).await
    }
}

/// The era that is meant.
fn chosen(accounts: &Accounts, agent: &Agent, owner: &Wallet, era: Option<u32>) -> Result<u32> {
    let shown = || agent.shown();
    if let Some(era) = era {
        let known = accounts.stakes.iter().any(|stake| stake.era == era);
        return if known { Ok(era) } else { Err(Refusal::NoSuchEra { agent: shown(), era }.into()) };
    }
    let own = accounts.stakes.iter().filter(|stake| stake.owner == owner.address().to_bytes());
    let own: Vec<u32> = own.map(|stake| stake.era).collect();
    let present = accounts.present_stake().map(|stake| stake.era);
    match own.as_slice() {
        [one] => Ok(*one),
        // Somebody else's, which the chain refuses with its own words; or none at all.
        [] => present.ok_or_else(|| Refusal::NoStake { agent: shown() }.into()),
        several => match present.filter(|present| several.contains(present)) {
            Some(present) => Ok(present),
            None => {
                let eras: Vec<String> = several.iter().map(u32::to_string).collect();
                Err(Refusal::EraNotNamed { agent: shown(), eras: eras.join(", ") }.into())
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::{OWNER, accounts, stake};
    use solana_address::Address;
    use zx1_interface::accounts::StakeLockAccount;

    #[test]
    fn the_era_that_is_meant_is_the_wallets_own_or_the_present_one() {
        let agent = Agent { name: None, mint: AgentId([9; 32]) };
        let owner = Wallet::elsewhere(Address::new_from_array(OWNER));
        let buyer = Wallet::elsewhere(Address::new_from_array([2; 32]));
        let of = |stakes: &[StakeLockAccount], wallet: &Wallet, era| {
            let accounts = accounts(1, None, stakes.to_vec());
            chosen(&accounts, &agent, wallet, era).map_err(|error| error.code())
        };
        let (sold, bought) = (stake(0, 5), StakeLockAccount { owner: [2; 32], ..stake(1, 0) });
        assert_eq!(of(&[sold, bought], &owner, None), Ok(0));
        assert_eq!(of(&[sold, bought], &buyer, None), Ok(1));
        assert_eq!(of(&[sold, bought], &buyer, Some(0)), Ok(0), "the chain says whose it is");
        assert_eq!(of(&[sold, bought], &owner, Some(2)), Err(7513));
        // Of several own ones the present one, and without it the wallet has to say.
        assert_eq!(of(&[sold, stake(1, 0)], &owner, None), Ok(1));
        assert_eq!(of(&[sold, stake(1, 6), StakeLockAccount { era: 2, ..bought }], &owner, None), Err(7514));
        assert_eq!(of(&[], &owner, None), Err(7500));
    }
}
