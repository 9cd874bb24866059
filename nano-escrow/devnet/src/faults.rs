//! Faults on order: what a network and a node can do to a client, so that tests can see it survive them.
//!
//! A rule says which requests or blocks it strikes, how many it lets pass first, how often it strikes, and
//! what happens. Rules strike in the order in which they were added, and all that match do. See
//! [`Faults`](super::Faults) for setting them by library, and `nano-devnet --help` for the control endpoint.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Entry;
use nano_escrow::{Address, BlockHash, PrivateKey, PublicKey, SignedBlock};

/// What a rule strikes. What is left out matches everything; what is given must all match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct On {
    /// The action of a request, such as `process`. Ignored by the rules that strike confirmations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The account of the request or block; of a send also its receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Address>,
    /// The hash in the request, or of the block in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<BlockHash>,
    /// The word `subtype` of a `process`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
}

impl On {
    /// Every request of an action.
    pub fn action(action: &str) -> On {
        On { action: Some(action.to_owned()), ..On::default() }
    }

    /// And only of this account.
    #[must_use]
    pub fn of(mut self, account: Address) -> On {
        self.account = Some(account);
        self
    }

    /// And only with this hash.
    #[must_use]
    pub fn hash(mut self, hash: BlockHash) -> On {
        self.hash = Some(hash);
        self
    }
}

/// A private key in a rule. Prints nothing of itself; a listing of rules shows `(hidden)`.
#[derive(Clone)]
pub struct RivalKey(pub PrivateKey);

impl fmt::Debug for RivalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

impl Serialize for RivalKey {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str("(hidden)")
    }
}

impl<'de> Deserialize<'de> for RivalKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        PrivateKey::from_hex(&text).map(RivalKey).map_err(serde::de::Error::custom)
    }
}

/// What happens. Times are in milliseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Effect {
    /// The connection closes before the request is looked at. Nothing is done.
    Drop,
    /// The request waits, then is done as usual.
    Delay {
        /// Delay in milliseconds.
        ms: u64,
    },
    /// The request is done; the connection closes without an answer, after a while.
    LoseAnswer {
        /// How long the client is kept waiting; longer than its time-out makes it a time-out.
        ms: u64,
    },
    /// The request is done; the answer comes late.
    DelayAnswer {
        /// Delay in milliseconds.
        ms: u64,
    },
    /// The request is done; the connection closes in the middle of the answer.
    CutAnswer,
    /// The request is done twice; the answer to the second goes out.
    DoTwice,
    /// The request is done; the answer of the last request of this action goes out once more.
    RepeatAnswer,
    /// The request is not done; this error is answered.
    Error {
        /// The text in `error`.
        text: String,
    },
    /// The request is done; this error is answered. With "Invalid block balance for given subtype", the
    /// answer to a repeated send.
    DoneButError {
        /// The text in `error`.
        text: String,
    },
    /// The request is not done; a proxy's page is answered.
    Status {
        /// The HTTP status, 200 to 599.
        code: u16,
        /// Body of the answer.
        body: String,
    },
    /// Before a `process` is done, a rival of its block comes from the network: it has the same previous
    /// block.
    RivalBefore {
        /// The account's key, with which the rival is made: a change of the representative, or for an open
        /// block the same receive with another representative.
        key: RivalKey,
    },
    /// After a `process` is done, a rival wins: the block and all that depends on it goes. Nothing happens
    /// when it is final already.
    RivalAfter {
        /// The account's key.
        key: RivalKey,
    },
    /// The same with a block that the test made.
    RivalBlock {
        /// The rival, signed and with work.
        block: Box<SignedBlock>,
        /// Whether it comes before the request is done, or wins afterwards.
        before: bool,
    },
    /// The network appends the next epoch block to the account before the request is done.
    EpochBlock {
        /// Left out: the account of the request.
        #[serde(default)]
        account: Option<Address>,
    },
    /// `account_info` and `accounts_frontiers` answer as if the last blocks were not there.
    OldFrontier {
        /// Number of blocks.
        blocks: u64,
    },
    /// `account_info` and `accounts_frontiers` name another frontier, that may be no block at all.
    FalseFrontier {
        /// Hash that is shown as the frontier.
        hash: BlockHash,
    },
    /// `version` names another network.
    OtherNetwork {
        /// Name of the network.
        network: String,
        /// Its genesis hash.
        genesis: BlockHash,
    },
    /// `telemetry` answers with peers that have confirmed more than this node.
    Behind {
        /// Number of blocks.
        blocks: u64,
        /// Number of peers.
        peers: usize,
    },
    /// `work_generate` answers work that is not good enough.
    BadWork,
    /// A block is confirmed, but no listener is notified.
    HideConfirmation,
    /// Listeners are notified twice.
    RepeatConfirmation,
    /// A block does not become final as long as the rule is there. Counts are ignored.
    HoldConfirmation,
}

impl Effect {
    fn strikes_confirmation(&self) -> bool {
        matches!(self, Effect::HideConfirmation | Effect::RepeatConfirmation | Effect::HoldConfirmation)
    }
}

/// A fault on order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// What it strikes.
    #[serde(default)]
    pub on: On,
    /// Effect on the matching call.
    pub effect: Effect,
    /// How many matching requests pass first.
    #[serde(default)]
    pub skip: u64,
    /// How often it strikes; left out, until it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
}

impl FaultRule {
    /// A rule that strikes until it is removed.
    pub fn new(on: On, effect: Effect) -> FaultRule {
        FaultRule { on, effect, skip: 0, times: None }
    }

    /// A rule that strikes once.
    pub fn once(on: On, effect: Effect) -> FaultRule {
        FaultRule { on, effect, skip: 0, times: Some(1) }
    }

    /// Let so many pass first.
    #[must_use]
    pub fn after(mut self, skip: u64) -> FaultRule {
        self.skip = skip;
        self
    }

    /// Strike so often.
    #[must_use]
    pub fn times(mut self, times: u64) -> FaultRule {
        self.times = Some(times);
        self
    }
}

/// The name of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FaultId(pub u64);

/// A rule and how often it struck.
#[derive(Debug, Clone, Serialize)]
pub struct FaultState {
    /// Name of the rule.
    pub id: FaultId,
    /// Rule that was ordered.
    pub rule: FaultRule,
    /// How many requests or blocks matched so far.
    pub seen: u64,
    /// How often it struck so far.
    pub struck: u64,
}

impl FaultState {
    fn spent(&self) -> bool {
        self.rule.times.is_some_and(|times| self.struck >= times)
    }
}

/// What of a request rules look at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) action: String,
    pub(crate) accounts: Vec<PublicKey>,
    pub(crate) hashes: Vec<BlockHash>,
    pub(crate) subtype: Option<String>,
}

impl On {
    fn matches(&self, seen: &Seen) -> bool {
        self.action.as_ref().is_none_or(|a| *a == seen.action)
            && self.account.is_none_or(|a| seen.accounts.contains(&a.public_key()))
            && self.hash.is_none_or(|h| seen.hashes.contains(&h))
            && self.subtype.as_ref().is_none_or(|s| Some(s) == seen.subtype.as_ref())
    }

    fn matches_block(&self, entry: &Entry) -> bool {
        self.account
            .is_none_or(|a| entry.account == a.public_key() || entry.destination() == Some(a.public_key()))
            && self.hash.is_none_or(|h| entry.block.hash() == h)
            && self.subtype.as_ref().is_none_or(|s| s == entry.kind.name())
    }
}

#[derive(Debug, Default)]
struct Rules {
    next: u64,
    rules: Vec<FaultState>,
    /// The last answer of each action.
    last: HashMap<String, Value>,
}

/// All rules of a ledger.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    inner: Mutex<Rules>,
    holds: AtomicUsize,
    repeats: AtomicUsize,
}

impl Faults {
    fn lock(&self) -> MutexGuard<'_, Rules> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, rules: &Rules) {
        let number = |f: fn(&Effect) -> bool| rules.rules.iter().filter(|r| f(&r.rule.effect)).count();
        self.holds.store(number(|e| matches!(e, Effect::HoldConfirmation)), Ordering::Relaxed);
        self.repeats.store(number(|e| matches!(e, Effect::RepeatAnswer)), Ordering::Relaxed);
    }

    pub(crate) fn add(&self, rule: FaultRule) -> FaultId {
        let mut rules = self.lock();
        rules.next += 1;
        let id = FaultId(rules.next);
        rules.rules.push(FaultState { id, rule, seen: 0, struck: 0 });
        self.count(&rules);
        id
    }

    pub(crate) fn remove(&self, id: FaultId) -> Option<FaultState> {
        let mut rules = self.lock();
        let at = rules.rules.iter().position(|r| r.id == id)?;
        let state = rules.rules.remove(at);
        self.count(&rules);
        Some(state)
    }

    pub(crate) fn clear(&self) {
        let mut rules = self.lock();
        rules.rules.clear();
        self.count(&rules);
    }

    pub(crate) fn list(&self) -> Vec<FaultState> {
        self.lock().rules.clone()
    }

    /// What strikes a request.
    pub(crate) fn strike(&self, seen: &Seen) -> Vec<Effect> {
        let mut rules = self.lock();
        let mut effects = Vec::new();
        for state in &mut rules.rules {
            if state.rule.effect.strikes_confirmation() || !state.rule.on.matches(seen) {
                continue;
            }
            state.seen += 1;
            if state.seen > state.rule.skip && !state.spent() {
                state.struck += 1;
                effects.push(state.rule.effect.clone());
            }
        }
        effects
    }

    /// How often listeners hear of a block that became final.
    pub(crate) fn tellings(&self, entry: &Entry) -> usize {
        let mut rules = self.lock();
        let mut times = 1;
        for state in &mut rules.rules {
            let (hide, repeat) = (
                matches!(state.rule.effect, Effect::HideConfirmation),
                matches!(state.rule.effect, Effect::RepeatConfirmation),
            );
            if !(hide || repeat) || !state.rule.on.matches_block(entry) {
                continue;
            }
            state.seen += 1;
            if state.seen > state.rule.skip && !state.spent() {
                state.struck += 1;
                times = if hide { 0 } else { times * 2 };
            }
        }
        times
    }

    /// Whether any rule holds confirmations back: a quick look before a slow one.
    pub(crate) fn any_hold(&self) -> bool {
        self.holds.load(Ordering::Relaxed) > 0
    }

    /// Whether a rule keeps this block from becoming final.
    pub(crate) fn holds(&self, entry: &Entry) -> bool {
        self.lock()
            .rules
            .iter()
            .any(|r| matches!(r.rule.effect, Effect::HoldConfirmation) && r.rule.on.matches_block(entry))
    }

    /// Remember an answer, if any rule may want it.
    pub(crate) fn remember(&self, action: &str, answer: &Value) {
        if self.repeats.load(Ordering::Relaxed) > 0 {
            self.lock().last.insert(action.to_owned(), answer.clone());
        }
    }

    pub(crate) fn last_answer(&self, action: &str) -> Option<Value> {
        self.lock().last.get(action).cloned()
    }
}
