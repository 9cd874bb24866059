//! What is asked of the cluster: slot and time, facts about authors, this agent's own standing.

use crate::clock::NodeClock;
use crate::defaults::{
    CHAIN_EVERY, CHAIN_STALE, CHAIN_WITHIN, LOOKUPS_EVERY, MAX_RECIPIENTS, MIN_STAKE_EVERY,
    MIN_STAKE_EVERY_LOCAL, RECIPIENT_LIFE, STANDING_AWAY_EVERY, STANDING_EVERY,
};
use crate::error::{Error, Result};
use crate::judge::{Judge, reckoned};
use libp2p::PeerId;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::{Client, PresentStake, Standing, Wanted};
use zx1_home::Clock as _;
use zx1_mesh::facts::{Chain, Facts, Stake};
use zx1_mesh::gate::Mode;
use zx1_mesh::lru::Lru;
use zx1_mesh::senders::Batch;
use zx1_mesh::wire::peer_of_key;
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::keys::{AgentKey, Scopes};
use zx1_protocol::lease::Lease;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};
use zx1_protocol::validate::TIMESTAMP_TOLERANCE_MICROS;

/// The cluster, as the node sees it.
#[derive(Debug)]
pub struct Cluster {
    client: Client,
    /// Whether its time can be moved, so that the node's clock follows it.
    is_local: bool,
    clock: Arc<NodeClock>,
    judge: Arc<Judge>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    slot: Slot,
    min_stake: MicroUsdc,
    answered: Instant,
    is_away: bool,
    /// By how many seconds this node's clock was ahead of the cluster's at the last answer.
    clock_ahead: i64,
    /// What this agent lacks, in a sentence.
    missing: Option<String>,
    /// The own key, as the chain has it.
    own_key: Option<AgentKey>,
    recipients: Lru<AgentId, (Vec<PeerId>, u64)>,
    /// All keys of agents whose envelopes were shown.
    signers: Lru<AgentId, (Vec<AgentKey>, u64)>,
}

/// What is known of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Seen {
    pub slot: Slot,
    pub age_seconds: u64,
    pub is_away: bool,
    pub clock_ahead_seconds: i64,
    pub missing: Option<String>,
}

impl Cluster {
    /// Asks for slot, time and minimum stake for the first time.
    ///
    /// # Errors
    /// The cluster's.
    pub async fn start(
        client: Client,
        is_local: bool,
        clock: Arc<NodeClock>,
        judge: Arc<Judge>,
    ) -> Result<Self> {
        let (_, min_stake) = client.slot_and_min_stake().await?;
        let time = client.time().await?;
        if is_local {
            clock.follow(time.unix);
        }
        let slot = Slot(time.slot);
        judge.set_chain(Chain { slot, min_stake });
        let state = State {
            slot,
            min_stake,
            answered: Instant::now(),
            is_away: false,
            clock_ahead: 0,
            missing: None,
            own_key: None,
            recipients: Lru::new(MAX_RECIPIENTS),
            signers: Lru::new(MAX_RECIPIENTS),
        };
        let this = Self { client, is_local, clock, judge, state: Mutex::new(state) };
        this.compare_clocks(time.unix);
        Ok(this)
    }

    /// What is known now.
    pub fn seen(&self) -> Seen {
        let state = self.state();
        Seen {
            slot: self.judge.chain().map_or(state.slot, |chain| chain.slot),
            age_seconds: state.answered.elapsed().as_secs(),
            is_away: state.is_away,
            clock_ahead_seconds: state.clock_ahead,
            missing: state.missing.clone(),
        }
    }

    /// The slot for a message of this agent.
    pub fn slot(&self) -> Slot {
        self.seen().slot
    }

    /// Why other nodes would drop what this agent sends.
    ///
    /// # Errors
    /// 7698.
    pub fn check_standing(&self) -> Result<()> {
        match self.state().missing.clone() {
            Some(missing) if self.judge.mode() == Mode::Enforced => Err(Error::NoStanding(missing)),
            _ => Ok(()),
        }
    }

    /// The node's own key as the chain has it, or with every scope where there are no gates.
    pub fn own_key(&self, key: &WalletKey) -> Option<AgentKey> {
        match self.judge.mode() {
            Mode::Dev => crate::judge::of_any_scope(key),
            Mode::Enforced => self.state().own_key,
        }
    }

    /// The client of this cluster.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it is a local one, whose agents are on this machine.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// The lease of an agent that may send now, as the chain has it; `None` when its messages are dropped.
    pub fn live_lease(&self, standing: Option<Standing>) -> Option<Lease> {
        let facts = facts_of(standing?);
        facts.check_standing(self.state().min_stake, self.epoch()).ok()?;
        facts.lease
    }

    /// The present epoch.
    pub fn epoch(&self) -> Epoch {
        Epoch::from_unix_micros(self.clock.unix_micros())
    }

    /// Whether there are no gates, so that the chain is not asked who somebody is.
    pub fn is_dev(&self) -> bool {
        self.judge.mode() == Mode::Dev
    }

    /// The peers of an agent: its live keys of scope peer.
    ///
    /// # Errors
    /// The cluster's; 7699 when the agent has no such key.
    pub async fn peers_of(&self, agent: AgentId) -> Result<Vec<PeerId>> {
        let now = self.clock.unix_micros();
        if let Some((peers, _)) =
            self.state().recipients.get(&agent).filter(|(_, at)| now.saturating_sub(*at) < RECIPIENT_LIFE)
        {
            return Ok(peers.clone());
        }
        let wanted = Wanted { agent, keys: Vec::new(), all_keys: true };
        let found = self.client.standings(&[wanted]).await?.into_iter().next();
        let standing = found.and_then(|(_, standing)| standing);
        let standing = standing.ok_or_else(|| Error::Unreachable(format!("{agent} is not registered")))?;
        let keys = standing.keys.iter().filter(|key| key.scopes.has(Scopes::PEER));
        let peers: Vec<PeerId> =
            keys.filter_map(|key| peer_of_key(&WalletKey::from(key.key.to_bytes()))).collect();
        if peers.is_empty() {
            return Err(Error::Unreachable(format!("{agent} has no key of scope peer")));
        }
        self.state().recipients.insert(agent, (peers.clone(), now));
        Ok(peers)
    }

    /// The keys of an agent, also those that have ended: what they signed in their epochs still counts.
    ///
    /// # Errors
    /// The cluster's; 7695 when it does not answer in time.
    pub async fn keys_of(&self, agent: AgentId) -> Result<Vec<AgentKey>> {
        let now = self.clock.unix_micros();
        if let Some((keys, _)) =
            self.state().signers.get(&agent).filter(|(_, at)| now.saturating_sub(*at) < RECIPIENT_LIFE)
        {
            return Ok(keys.clone());
        }
        let asked = timeout(CHAIN_WITHIN, self.client.agent_keys(agent)).await;
        let keys = asked.map_err(|_| Error::Busy)??;
        self.state().signers.insert(agent, (keys.clone(), now));
        Ok(keys)
    }

    /// Accounts of this agent changed: what is known of it is asked for anew.
    pub fn changed(&self, agent: &AgentId) {
        self.judge.changed(agent);
        let mut state = self.state();
        state.recipients.remove(agent);
        state.signers.remove(agent);
    }

    /// Keeps slot and time, until cancelled.
    pub async fn follow(self: Arc<Self>, cancel: CancellationToken) {
        let mut ticks = interval(CHAIN_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let every = if self.is_local { MIN_STAKE_EVERY_LOCAL } else { MIN_STAKE_EVERY };
        let mut configured = Instant::now();
        while cancel.run_until_cancelled(ticks.tick()).await.is_some() {
            if configured.elapsed() >= every {
                configured = Instant::now();
                // Without an answer the last one serves.
                if let Ok(Ok(config)) = timeout(CHAIN_WITHIN, self.client.config()).await {
                    self.state().min_stake = MicroUsdc(config.min_stake);
                }
            }
            match timeout(CHAIN_WITHIN, self.client.time()).await {
                Ok(Ok(time)) => {
                    if self.is_local {
                        self.clock.follow(time.unix);
                    }
                    self.compare_clocks(time.unix);
                    let slot = Slot(time.slot);
                    let min_stake = {
                        let mut state = self.state();
                        (state.slot, state.answered, state.is_away) = (slot, Instant::now(), false);
                        state.min_stake
                    };
                    self.judge.set_chain(Chain { slot, min_stake });
                }
                Ok(Err(_)) | Err(_) => self.reckon(),
            }
        }
    }

    /// Notices a clock that is so far from the cluster's that nobody hears this node, and it hears nobody.
    fn compare_clocks(&self, chain_seconds: i64) {
        let ahead = self.clock.ahead_of(chain_seconds);
        let was = std::mem::replace(&mut self.state().clock_ahead, ahead);
        match (is_off(was), is_off(ahead)) {
            (false, true) => tracing::warn!(
                "this machine's clock differs from the cluster's by {ahead} s; messages that are more than {} s off are \
                 ignored, here and by others",
                TIMESTAMP_TOLERANCE_MICROS / 1_000_000
            ),
            (true, false) => tracing::info!("this machine's clock agrees with the cluster's"),
            _ => {}
        }
    }

    /// Goes on from the last answer, because messages are judged by slots.
    fn reckon(&self) {
        let chain = {
            let mut state = self.state();
            let since = state.answered.elapsed();
            if since < CHAIN_STALE {
                return;
            }
            if !state.is_away {
                tracing::warn!("the cluster does not answer; facts that are known serve for ten minutes");
            }
            state.is_away = true;
            let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
            Chain { slot: reckoned(state.slot, micros), min_stake: state.min_stake }
        };
        self.judge.set_chain(chain);
    }

    /// Asks what the gate wants to know of authors, until cancelled.
    pub async fn look_up(self: Arc<Self>, cancel: CancellationToken) {
        let mut ticks = interval(LOOKUPS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while cancel.run_until_cancelled(ticks.tick()).await.is_some() {
            for batch in self.judge.due() {
                let this = Arc::clone(&self);
                tokio::spawn(async move { this.read(batch).await });
            }
        }
    }

    async fn read(&self, Batch { id, lookups }: Batch) {
        let wanted: Vec<Wanted> = lookups
            .into_iter()
            .map(|(agent, lookup)| Wanted { agent, keys: lookup.keys, all_keys: lookup.all_keys })
            .collect();
        match timeout(CHAIN_WITHIN, self.client.standings(&wanted)).await {
            Ok(Ok(found)) => {
                let found = found.into_iter().map(|(agent, standing)| (agent, standing.map(facts_of)));
                self.judge.answer(id, found.collect());
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "senders could not be looked up");
                self.judge.failed(id);
            }
            Err(_) => self.judge.failed(id),
        }
    }

    /// Reads this agent's own standing, until cancelled.
    pub async fn watch_own(self: Arc<Self>, agent: AgentId, key: WalletKey, cancel: CancellationToken) {
        loop {
            let pause = if self.state().missing.is_some() { STANDING_AWAY_EVERY } else { STANDING_EVERY };
            if cancel.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            self.read_own(agent, key).await;
        }
    }

    /// Reads this agent's own standing once.
    pub async fn read_own(&self, agent: AgentId, key: WalletKey) {
        let wanted = [Wanted { agent, keys: vec![key], all_keys: false }];
        let Ok(Ok(found)) = timeout(CHAIN_WITHIN, self.client.standings(&wanted)).await else { return };
        let standing = found.into_iter().next().and_then(|(_, standing)| standing);
        let own_key = standing.as_ref().and_then(|it| it.keys.first().copied());
        let epoch = self.epoch();
        let mut state = self.state();
        let missing = missing(standing, state.min_stake, epoch, &key);
        if missing != state.missing && self.judge.mode() == Mode::Enforced {
            match &missing {
                Some(missing) => tracing::warn!("other nodes do not take this agent's messages: {missing}"),
                None => tracing::info!("stake, lease and key are as they have to be"),
            }
        }
        (state.missing, state.own_key) = (missing, own_key);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a clock is off by more than messages may be.
fn is_off(seconds: i64) -> bool {
    seconds.unsigned_abs() > TIMESTAMP_TOLERANCE_MICROS / 1_000_000
}

/// What an agent lacks for others to take its messages, as a sentence.
fn missing(
    standing: Option<Standing>,
    min_stake: MicroUsdc,
    epoch: Epoch,
    key: &WalletKey,
) -> Option<String> {
    let Some(standing) = standing else {
        return Some("The agent is not registered on this cluster.".to_owned());
    };
    let facts = facts_of(standing);
    if let Err(reason) = facts.check_standing(min_stake, epoch) {
        return Some(reason.to_string().replace("The sender", "The agent"));
    }
    match facts.key(key) {
        None => Some(format!("{key} is not a live key of the agent.")),
        Some(own) if !own.counts_in(epoch) => {
            Some(format!("{key} counts only from epoch {} on; it is epoch {}.", own.from.0, epoch.0))
        }
        Some(own) if !own.scopes.has(Scopes::PEER) => Some(format!("{key} does not have the scope peer.")),
        Some(_) => None,
    }
}

fn facts_of(standing: Standing) -> Facts {
    let Standing { keys, has_all_keys, stake, lease } = standing;
    let stake = stake.map(|PresentStake { amount, is_queued }| Stake { amount, is_queued });
    Facts { keys, other_keys: Vec::new(), has_all_keys, stake, lease }
}
