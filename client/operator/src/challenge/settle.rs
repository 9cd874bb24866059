//! Settling challenges in the order of ranks, closing them, and settling an era: anyone may, and the chain decides
//! who is paid.

use super::rank::{Next, Ranks};
use super::{OPEN, SUCCEEDED, clock, is_ripe, outcome_name};
use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{Draft, Intent, Stored};
use zx1_interface::accounts::{ChallengeAccount, StakeLockAccount};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{MicroUsdc, Slot};

/// A settled challenge.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Resolved {
    #[serde(flatten)]
    pub sent: Sent,
    pub challenge: String,
    pub agent: AgentId,
    pub epoch: u64,
    pub era: u32,
    /// Whether the challenger was paid.
    pub succeeded: bool,
    pub outcome: &'static str,
    /// What the agent lost by it; 0 where a lower rank had slashed the era.
    pub slashed_micro_usdc: MicroUsdc,
    /// What the challenger got beside its own stake; none where an earlier run settled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward_micro_usdc: Option<MicroUsdc>,
    /// Lower ranks that were settled or passed before.
    pub lower: usize,
}

/// A closed challenge.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Closed {
    #[serde(flatten)]
    pub sent: Sent,
    pub challenge: String,
    /// The rent of who opened it; none where an earlier run closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rent_lamports: Option<u64>,
}

/// A settled era.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Settled {
    #[serde(flatten)]
    pub sent: Sent,
    pub agent: AgentId,
    pub era: u32,
    /// What was left of the finders' part, and is the treasury's now.
    pub to_treasury_micro_usdc: MicroUsdc,
    /// Ranks that were settled or passed before.
    pub lower: usize,
}

impl Operator {
    /// Settles a challenge that nothing answered. Lower ranks come first: those that are ripe are settled, and
    /// the order is moved past those that are settled or lapsed, each in its own transaction.
    ///
    /// # Errors
    /// 7543 when there is none, 7546 while its window is open, 7548 while a lower rank is open.
    pub async fn resolve_challenge(&self, address: Address, key: &Wallet) -> Result<Attempt<Resolved>> {
        let challenge = self.challenge_at(address).await?;
        let agent = AgentId(challenge.agent_id);
        let before = self.client().stake(agent, challenge.era).await?;
        if let Some(sent) = self.earlier(&intents::resolve(&address)).await? {
            return Ok(Attempt::Done(resolved(sent, &challenge, None, 0)));
        }
        // Also when somebody else has settled it meanwhile.
        self.finish_steps(&intents::resolve(&address)).await?;
        if challenge.outcome != OPEN {
            let why = format!("{address} is settled: {}", outcome_name(challenge.outcome));
            let sent = self.nothing_to_do(why)?;
            return Ok(Attempt::Done(resolved(sent, &challenge, None, 0)));
        }
        self.check_ripe(&challenge).await?;
        let lower = done!(self.go_before(&challenge, key, Some(&intents::resolve(&address))).await?);
        let before = match lower {
            0 => before,
            _ => self.client().stake(agent, challenge.era).await?,
        };
        let draft = self.resolve_draft(address, key).await?;
        let sent = done!(self.send(&draft, key).await?);
        let config = self.client().config().await?;
        let paid = before.as_deref().map(|stake| reward(&Amounts::of(&config), stake));
        let settled = self.challenge_at(address).await?;
        Ok(Attempt::Done(resolved(sent, &settled, paid, lower)))
    }

    /// The same, for what runs by itself.
    pub(crate) async fn resolve_unasked(&self, address: Address, key: &Wallet) -> Result<Sent> {
        let challenge = self.challenge_at(address).await?;
        self.check_ripe(&challenge).await?;
        // Nothing is previewed here.
        self.go_before(&challenge, key, None).await?;
        let draft = self.resolve_draft(address, key).await?;
        self.send_unasked(&draft, key).await
    }

    async fn check_ripe(&self, challenge: &Stored<ChallengeAccount>) -> Result<()> {
        let now = self.now().await?.slot;
        if challenge.outcome != OPEN || is_ripe(challenge, now) {
            return Ok(());
        }
        let slot = clock(challenge).deadline().0;
        let left = slot.saturating_sub(now.0).saturating_add(1);
        Err(Refusal::WindowOpen { address: challenge.address.to_string(), slot, left }.into())
    }

    /// Settles or passes every rank below a challenge's; returns how many. `intent` is what a person asked for and
    /// sees each step of; without one it runs by itself, as was allowed beforehand.
    async fn go_before(
        &self,
        challenge: &Stored<ChallengeAccount>,
        key: &Wallet,
        intent: Option<&Intent>,
    ) -> Result<Attempt<usize>> {
        let (agent, era) = (AgentId(challenge.agent_id), challenge.era);
        let waits = challenge.address.to_string();
        self.settle_below(agent, era, challenge.rank, &waits, key, intent).await
    }

    /// Settles or passes an era's ranks below this one. `waits` is what has to wait where that is not possible.
    async fn settle_below(
        &self,
        agent: AgentId,
        era: u32,
        rank: u32,
        waits: &str,
        key: &Wallet,
        intent: Option<&Intent>,
    ) -> Result<Attempt<usize>> {
        if let Some(intent) = intent {
            self.finish_steps(intent).await?;
        }
        let Some(stake) = self.client().stake(agent, era).await? else { return Ok(Attempt::Done(0)) };
        if stake.settled_rank >= rank {
            return Ok(Attempt::Done(0));
        }
        let (ranks, now) = (self.ranks(agent, era).await?, self.now().await?.slot);
        // Nothing is sent before it is known that the way is free.
        for below in stake.settled_rank..rank {
            if let Next::Wait(lower, slot) = ranks.next(below, now)? {
                let left = slot.0.saturating_sub(now.0).saturating_add(1);
                let (address, lower, slot) = (waits.to_owned(), lower.to_string(), slot.0);
                return Err(Refusal::LowerRank { address, lower, slot, left }.into());
            }
        }
        let mut done = 0_usize;
        for below in stake.settled_rank..rank {
            done!(self.settle_rank(&ranks, below, now, key, intent).await?);
            done = done.saturating_add(1);
        }
        Ok(Attempt::Done(done))
    }

    async fn settle_rank(
        &self,
        ranks: &Ranks,
        rank: u32,
        now: Slot,
        key: &Wallet,
        intent: Option<&Intent>,
    ) -> Result<Attempt<()>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        let mut draft = match ranks.next(rank, now)? {
            Next::Resolve(address) => actions.resolve(address, key.address()).await?,
            Next::Pass(address) => actions.pass_rank(address, key.address()).await?,
            Next::Wait(..) => return Ok(Attempt::Done(())),
        };
        match intent {
            Some(intent) => {
                draft.intent = intent.step(draft.intent.as_str());
                self.step(&draft, key).await
            }
            None => {
                self.send_unasked(&draft, key).await?.acknowledge().await?;
                Ok(Attempt::Done(()))
            }
        }
    }

    /// Moves the order past whatever is settled or lapsed up to and including this rank.
    pub(super) async fn pass_through(
        &self,
        agent: AgentId,
        era: u32,
        rank: u32,
        waits: &str,
        key: &Wallet,
        intent: &Intent,
    ) -> Result<Attempt<usize>> {
        self.settle_below(agent, era, rank.saturating_add(1), waits, key, Some(intent)).await
    }

    /// Closes a settled challenge; its rent goes to who opened it. The era's order is moved past it first.
    ///
    /// # Errors
    /// 7543 when there is none, 7550 when it is not settled, 7548 while a lower rank is open.
    pub async fn close_challenge(&self, address: Address, key: &Wallet) -> Result<Attempt<Closed>> {
        let challenge = address.to_string();
        // Of an interrupted run that closed it there is nothing left to see.
        if let Some(sent) = self.earlier(&intents::close_challenge(&address)).await? {
            return Ok(Attempt::Done(Closed { sent, challenge, rent_lamports: None }));
        }
        let account = self.challenge_at(address).await?;
        if account.outcome == OPEN {
            return Err(Refusal::NotSettled { address: challenge }.into());
        }
        if account.passed == 0 {
            let (agent, era) = (AgentId(account.agent_id), account.era);
            let intent = intents::close_challenge(&address);
            done!(self.pass_through(agent, era, account.rank, &challenge, key, &intent).await?);
        }
        let draft = self.close_draft(address, key).await?;
        let sent = done!(self.send(&draft, key).await?);
        Ok(Attempt::Done(Closed { sent, challenge, rent_lamports: Some(account.lamports) }))
    }

    /// Pays what is left of an era's finders' part to the treasury, once nobody can claim it.
    ///
    /// # Errors
    /// 7513 without such an era, 7552 while a challenge is open, 7548 while a rank holds.
    pub async fn settle_era(&self, agent: &Agent, era: u32, key: &Wallet) -> Result<Attempt<Settled>> {
        let mint = agent.mint;
        let done = |sent, left, lower| Settled {
            sent,
            agent: mint,
            era,
            to_treasury_micro_usdc: MicroUsdc(left),
            lower,
        };
        if let Some(sent) = self.earlier(&intents::settle_era(&mint, era)).await? {
            return Ok(Attempt::Done(done(sent, 0, 0)));
        }
        let unknown = || Refusal::NoSuchEra { agent: agent.shown(), era };
        let stake = self.client().stake(mint, era).await?.ok_or_else(unknown)?;
        let waits = format!("Era {era}");
        let intent = intents::settle_era(&mint, era);
        let lower = self.settle_below(mint, era, stake.next_rank, &waits, key, Some(&intent)).await?;
        let lower = done!(lower);
        let stake = self.client().stake(mint, era).await?.ok_or_else(unknown)?;
        if stake.open_challenges > 0 {
            let (agent, open) = (agent.shown(), stake.open_challenges);
            return Err(Refusal::EraOpen { agent, era, open }.into());
        }
        if stake.pot_usdc == 0 {
            let sent = self.nothing_to_do(format!("nothing is left of era {era} to be settled"))?;
            return Ok(Attempt::Done(done(sent, 0, lower)));
        }
        let sati = Sati::connect(self.client()).await?;
        let draft = self.actions(&sati).await?.settle_era(mint, era, key.address()).await?;
        let sent = done!(self.send(&draft, key).await?);
        Ok(Attempt::Done(done(sent, stake.pot_usdc, lower)))
    }

    pub(crate) async fn resolve_draft(&self, challenge: Address, payer: &Wallet) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        Ok(self.actions(&sati).await?.resolve(challenge, payer.address()).await?)
    }

    pub(crate) async fn close_draft(&self, challenge: Address, payer: &Wallet) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        Ok(self.actions(&sati).await?.close_challenge(challenge, payer.address()).await?)
    }
}

/// What a challenge that succeeds on this stake slashes and brings.
fn reward(amounts: &Amounts, stake: &StakeLockAccount) -> (u64, u64) {
    let pot = stake.pot_usdc.saturating_add(amounts.slash(stake.stake_usdc).pot);
    (stake.stake_usdc, amounts.share(pot))
}

fn resolved(
    sent: Sent,
    challenge: &Stored<ChallengeAccount>,
    paid: Option<(u64, u64)>,
    lower: usize,
) -> Resolved {
    let succeeded = challenge.outcome == SUCCEEDED;
    let paid = paid.filter(|_| succeeded);
    Resolved {
        sent,
        challenge: challenge.address.to_string(),
        agent: AgentId(challenge.agent_id),
        epoch: challenge.epoch_number,
        era: challenge.era,
        succeeded,
        outcome: outcome_name(challenge.outcome),
        slashed_micro_usdc: MicroUsdc(paid.map_or(0, |(slashed, _)| slashed)),
        reward_micro_usdc: paid.map(|(_, reward)| MicroUsdc(reward)),
        lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_slash_fills_the_finders_part_and_each_takes_half_of_what_is_left() {
        let amounts = Amounts::DEFAULT;
        let mut stake = StakeLockAccount {
            stake_usdc: 30_000_000,
            pot_usdc: 0,
            deposits_usdc: 0,
            locked_since_slot: 1,
            unlock_available_slot: 0,
            queued_slot: 0,
            ended_slot: 0,
            slashed_slot: 0,
            created_slot: 1,
            event_sequence: 1,
            era: 0,
            open_challenges: 2,
            next_rank: 2,
            settled_rank: 0,
            open_asks: 0,
            next_ask: 0,
            settled_ask: 0,
            in_unlock_queue: 0,
            version: 2,
            bump: 255,
            reserved: 0,
            agent_mint: [9; 32],
            owner: [1; 32],
        };
        assert_eq!(reward(&amounts, &stake), (30_000_000, 6_000_000));
        (stake.stake_usdc, stake.pot_usdc) = (0, 6_000_000);
        assert_eq!(reward(&amounts, &stake), (0, 3_000_000));
    }
}
