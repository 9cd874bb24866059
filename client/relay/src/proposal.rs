//! Proposals: their states as a table, stakes in escrow, and when ratings move.
//!
//! The first COMPLETE sets COMPLETED and moves nothing. The other party's COMPLETE within seven days confirms it,
//! and both gain; its DISPUTE in that time sets DISPUTED; silence returns the stakes. A dispute is decided by a
//! ruling, or its stakes go back after 30 days (decision J).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::defaults::{CONFIRM_MS, RATING_FLOOR, RULING_MS, Settings};
use crate::elo::{self, Change, Rating};
use crate::id::AgentId;
use crate::json::whole;
use crate::signing::Terms;
use crate::{RelayError, Result};

/// A party's 32 bytes of key, under which its rating is kept.
pub type Key = [u8; 32];

/// Where a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum State {
    /// Waits for its recipient.
    Pending,
    /// Both have agreed.
    Accepted,
    /// One party at least says that the work is done.
    Completed,
    /// One party says that it is not.
    Disputed,
    /// The recipient declined.
    Rejected,
    /// Nobody acted in time.
    Expired,
}

impl State {
    /// All states, in the table's order.
    pub const ALL: [State; 6] =
        [State::Pending, State::Accepted, State::Completed, State::Disputed, State::Rejected, State::Expired];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Accepted => "accepted",
            State::Completed => "completed",
            State::Disputed => "disputed",
            State::Rejected => "rejected",
            State::Expired => "expired",
        }
    }
}

/// What happens to a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Act {
    Accept,
    Reject,
    Complete,
    Dispute,
    Expire,
}

impl Act {
    /// All acts, in the table's order.
    pub const ALL: [Act; 5] = [Act::Accept, Act::Reject, Act::Complete, Act::Dispute, Act::Expire];
}

/// Every way from one state to another. COMPLETED to DISPUTED is open for seven days, to the other party.
pub const TABLE: &[(State, Act, State)] = &[
    (State::Pending, Act::Accept, State::Accepted),
    (State::Pending, Act::Reject, State::Rejected),
    (State::Pending, Act::Expire, State::Expired),
    (State::Accepted, Act::Complete, State::Completed),
    (State::Accepted, Act::Dispute, State::Disputed),
    (State::Accepted, Act::Expire, State::Expired),
    (State::Completed, Act::Complete, State::Completed),
    (State::Completed, Act::Dispute, State::Disputed),
];

/// The state that this act leads to.
pub fn next(from: State, act: Act) -> Option<State> {
    TABLE.iter().find(|row| (row.0, row.1) == (from, act)).map(|row| row.2)
}

/// A party of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// The key that identified it.
    pub key: Key,
    /// The id on the wire.
    pub id: AgentId,
}

/// The outcome for the stakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Settlement {
    /// To whom they belong.
    Returned,
    /// The loser's to the winner.
    Transferred,
}

impl Settlement {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Settlement::Returned => "returned",
            Settlement::Transferred => "transferred",
        }
    }
}

/// One proposal. It is whole in itself, so that a store keeps it as one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Unique, chosen by the relay.
    pub id: String,
    /// The party that proposed.
    pub from: Party,
    /// Who may accept.
    pub to: Party,
    /// What was signed.
    pub terms: Terms,
    /// Where it stands.
    pub state: State,
    /// When it came.
    pub created_at: u64,
    /// When it ends unless it was completed or disputed.
    pub expires_at: Option<u64>,
    /// When it changed last.
    pub updated_at: u64,
    /// The stake that the recipient added.
    pub acceptor_stake: u32,
    /// Who completed first.
    pub completed_by: Option<Key>,
    /// Set once, with the stakes' release.
    pub settlement: Option<Settlement>,
}

impl Proposal {
    /// The proposer's stake.
    pub fn proposer_stake(&self) -> u32 {
        self.terms.elo_stake.and_then(whole).and_then(|stake| u32::try_from(stake).ok()).unwrap_or(0)
    }

    fn is_party(&self, key: &Key) -> bool {
        self.from.key == *key || self.to.key == *key
    }

    fn open(&self) -> bool {
        matches!(self.state, State::Pending | State::Accepted)
    }

    /// When [`Book::tick`] has something to do.
    pub fn deadline(&self) -> Option<u64> {
        match self.state {
            State::Pending | State::Accepted => self.expires_at,
            State::Completed if self.settlement.is_none() => Some(self.updated_at.saturating_add(CONFIRM_MS)),
            State::Disputed if self.settlement.is_none() => Some(self.updated_at.saturating_add(RULING_MS)),
            _ => None,
        }
    }
}

/// Ratings that moved, proposer first.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// The two changes.
    pub changes: [(Party, Change); 2],
    /// The outcome for the stakes.
    pub settlement: Settlement,
}

/// All proposals and ratings of a relay. The caller keeps what an answer changed before it publishes it.
#[derive(Debug, Clone)]
pub struct Book {
    settings: Settings,
    proposals: HashMap<String, Proposal>,
    ratings: HashMap<Key, Rating>,
    held: HashMap<Key, u32>,
    pairs: HashMap<(Key, Key), (u64, u32)>,
}

impl Book {
    /// An empty one.
    pub fn new(settings: Settings) -> Book {
        Book {
            settings,
            proposals: HashMap::new(),
            ratings: HashMap::new(),
            held: HashMap::new(),
            pairs: HashMap::new(),
        }
    }

    /// The proposal with this id.
    pub fn get(&self, id: &str) -> Option<&Proposal> {
        self.proposals.get(id)
    }

    /// The rating of a key; the first one for a stranger.
    pub fn rating(&self, key: &Key) -> Rating {
        self.ratings.get(key).copied().unwrap_or_default()
    }

    /// Points of this key that lie in escrow.
    pub fn held(&self, key: &Key) -> u32 {
        self.held.get(key).copied().unwrap_or(0)
    }

    /// Puts back a rating, of a store or of the older server's file.
    pub fn restore_rating(&mut self, key: Key, rating: Rating) {
        self.ratings.insert(key, Rating { rating: rating.rating.max(RATING_FLOOR), ..rating });
    }

    /// When this pair completed last with effect, and how often; keys in any order.
    pub fn pair(&self, a: &Key, b: &Key) -> Option<(u64, u32)> {
        self.pairs.get(&ordered(*a, *b)).copied()
    }

    /// Puts back what [`Book::pair`] gave.
    pub fn restore_pair(&mut self, a: Key, b: Key, last: u64, count: u32) {
        self.pairs.insert(ordered(a, b), (last, count));
    }

    /// How many proposals are in each state, and how many agents are their parties.
    pub fn census(&self) -> (Vec<(State, usize)>, usize) {
        let states = State::ALL
            .map(|state| (state, self.proposals.values().filter(|proposal| proposal.state == state).count()));
        let parties: HashSet<Key> =
            self.proposals.values().flat_map(|proposal| [proposal.from.key, proposal.to.key]).collect();
        (states.into(), parties.len())
    }

    /// Forgets what ended before this time.
    pub fn sweep(&mut self, before: u64) {
        self.proposals.retain(|_, it| it.deadline().is_some() || it.open() || it.updated_at >= before);
    }

    /// Puts back a proposal of a store, its escrow included.
    pub fn restore(&mut self, proposal: Proposal) {
        if proposal.settlement.is_none()
            && matches!(proposal.state, State::Accepted | State::Completed | State::Disputed)
        {
            self.hold(proposal.from.key, proposal.proposer_stake());
            self.hold(proposal.to.key, proposal.acceptor_stake);
        }
        self.proposals.insert(proposal.id.clone(), proposal);
    }

    /// Files a new proposal whose signature was verified.
    ///
    /// # Errors
    ///
    /// Proposals to oneself, too many open ones, a stake above what the rating carries.
    pub fn propose(
        &mut self,
        id: String,
        from: Party,
        to: Party,
        terms: Terms,
        now: u64,
    ) -> Result<&Proposal> {
        if from.key == to.key {
            return Err(RelayError::SelfProposal);
        }
        let open = self.proposals.values().filter(|other| other.from.key == from.key && other.open()).count();
        if open >= self.settings.open_proposals {
            return Err(RelayError::TooManyProposals { most: self.settings.open_proposals });
        }
        let expires_at = terms.expires.filter(|seconds| *seconds > 0.0).map(|seconds| {
            // Bounded by a year when it was read.
            let ms = whole((seconds * 1_000.0).round()).unwrap_or(u64::MAX);
            now.saturating_add(ms)
        });
        let proposal = Proposal {
            id: id.clone(),
            from,
            to,
            terms,
            state: State::Pending,
            created_at: now,
            expires_at,
            updated_at: now,
            acceptor_stake: 0,
            completed_by: None,
            settlement: None,
        };
        self.carries(&proposal.from.key, proposal.proposer_stake())?;
        Ok(self.proposals.entry(id).insert_entry(proposal).into_mut())
    }

    /// Accepts, and takes both stakes into escrow.
    ///
    /// # Errors
    ///
    /// Not pending, not the recipient, expired, or a stake that a rating does not carry: nothing changes then.
    pub fn accept(&mut self, id: &str, by: &Key, stake: u32, now: u64) -> Result<&Proposal> {
        let proposal = self.answerable(id, by, now)?;
        let (from, to, proposed) = (proposal.from.key, proposal.to.key, proposal.proposer_stake());
        self.carries(&from, proposed)?;
        self.carries(&to, stake)?;
        self.hold(from, proposed);
        self.hold(to, stake);
        let proposal = self.set(id, State::Accepted, now)?;
        proposal.acceptor_stake = stake;
        Ok(proposal)
    }

    /// Rejects.
    ///
    /// # Errors
    ///
    /// Not pending, not the recipient, expired.
    pub fn reject(&mut self, id: &str, by: &Key, now: u64) -> Result<&Proposal> {
        self.answerable(id, by, now)?;
        Ok(self.set(id, State::Rejected, now)?)
    }

    /// Completes, or confirms the other party's completion, which moves the ratings.
    ///
    /// # Errors
    ///
    /// Not a party, not accepted, expired, too young, a second word of one party, later than seven days.
    pub fn complete(&mut self, id: &str, by: &Key, now: u64) -> Result<Option<Moved>> {
        let min = self.settings.min_proposal_ms;
        let proposal = self.of_party(id, by, Act::Complete, now)?;
        if proposal.state == State::Completed {
            return Ok(Some(self.confirm(id, now)?));
        }
        let young = proposal.created_at.saturating_add(min);
        if now < young {
            return Err(RelayError::TooYoung { wait_ms: young - now });
        }
        self.set(id, State::Completed, now)?.completed_by = Some(*by);
        Ok(None)
    }

    /// Disputes. Nothing moves before a ruling, unless the older rule is on.
    ///
    /// # Errors
    ///
    /// As [`Book::complete`].
    pub fn dispute(&mut self, id: &str, by: &Key, now: u64) -> Result<Option<Moved>> {
        self.of_party(id, by, Act::Dispute, now)?;
        self.set(id, State::Disputed, now)?;
        if self.settings.dispute_moves { self.rule(id, Some(by), now).map(Some) } else { Ok(None) }
    }

    /// Rules on what is disputed, or completed and not confirmed: for one party, or for none.
    ///
    /// # Errors
    ///
    /// Other states, settled ones, winners other than the parties.
    pub fn rule(&mut self, id: &str, winner: Option<&Key>, now: u64) -> Result<Moved> {
        let proposal = self.proposals.get(id).ok_or(RelayError::NoProposal)?.clone();
        if proposal.settlement.is_some() || !matches!(proposal.state, State::Disputed | State::Completed) {
            return Err(RelayError::NotAccepted);
        }
        let Some(winner) = winner else { return self.settle(id, [0, 0], Settlement::Returned, now) };
        if !proposal.is_party(winner) {
            return Err(RelayError::NotParty);
        }
        let for_proposer = proposal.from.key == *winner;
        let (from, to) = (self.rating(&proposal.from.key), self.rating(&proposal.to.key));
        let (won, lost, loser, stake) = if for_proposer {
            (elo::win(from, to), elo::loss(to, from), to, proposal.acceptor_stake)
        } else {
            (elo::win(to, from), elo::loss(from, to), from, proposal.proposer_stake())
        };
        // What the loser no longer has above the floor nobody gets.
        let stake = i64::from(stake.min(loser.rating.saturating_sub(RATING_FLOOR)));
        let (won, lost) = (i64::from(won) + stake, -(i64::from(lost) + stake));
        let by = if for_proposer { [won, lost] } else { [lost, won] };
        self.settle(id, by, Settlement::Transferred, now)
    }

    /// Expires and releases what is due, and gives the ids of what changed.
    pub fn tick(&mut self, now: u64) -> Vec<String> {
        let due = self.proposals.values().filter(|proposal| proposal.deadline().is_some_and(|at| at <= now));
        let mut due: Vec<String> = due.map(|proposal| proposal.id.clone()).collect();
        due.sort();
        for id in &due {
            let Some(proposal) = self.proposals.get_mut(id) else { continue };
            let held = proposal.state != State::Pending;
            if proposal.open() {
                proposal.state = State::Expired;
                proposal.updated_at = now;
            }
            if held {
                self.release(id, Settlement::Returned);
            }
        }
        due
    }

    fn confirm(&mut self, id: &str, now: u64) -> Result<Moved> {
        let proposal = self.proposals.get(id).ok_or(RelayError::NoProposal)?;
        let (a, b) = (proposal.from.key, proposal.to.key);
        let pair = ordered(a, b);
        let (last, count) = self.pairs.get(&pair).copied().unwrap_or_default();
        if count > 0 && now < last.saturating_add(self.settings.pair_ms) {
            // One completion of a pair an hour moves ratings; this one only ends.
            return self.settle(id, [0, 0], Settlement::Returned, now);
        }
        let count = count.saturating_add(1);
        let n = if self.settings.diminishing { count } else { 1 };
        let (from, to) = (self.rating(&a), self.rating(&b));
        let by = [elo::gain(from, to, n), elo::gain(to, from, n)].map(i64::from);
        self.pairs.insert(pair, (now, count));
        self.settle(id, by, Settlement::Returned, now)
    }

    fn settle(&mut self, id: &str, by: [i64; 2], settlement: Settlement, now: u64) -> Result<Moved> {
        let proposal = self.proposals.get_mut(id).ok_or(RelayError::NoProposal)?;
        proposal.updated_at = now;
        let (from, to) = (proposal.from.clone(), proposal.to.clone());
        self.release(id, settlement);
        let mut moved = |party: Party, by: i64| {
            let rating = self.ratings.entry(party.key).or_default();
            let change = if by == 0 {
                Change { old: rating.rating, new: rating.rating, transactions: rating.transactions }
            } else {
                rating.moved(by)
            };
            (party, change)
        };
        Ok(Moved { changes: [moved(from, by[0]), moved(to, by[1])], settlement })
    }

    fn release(&mut self, id: &str, settlement: Settlement) {
        let Some(proposal) = self.proposals.get_mut(id).filter(|proposal| proposal.settlement.is_none())
        else {
            return;
        };
        proposal.settlement = Some(settlement);
        let stakes =
            [(proposal.from.key, proposal.proposer_stake()), (proposal.to.key, proposal.acceptor_stake)];
        for (key, stake) in stakes {
            if let Some(held) = self.held.get_mut(&key) {
                *held = held.saturating_sub(stake);
                if *held == 0 {
                    self.held.remove(&key);
                }
            }
        }
    }

    fn hold(&mut self, key: Key, stake: u32) {
        if stake > 0 {
            let held = self.held.entry(key).or_default();
            *held = held.saturating_add(stake);
        }
    }

    fn carries(&self, key: &Key, stake: u32) -> Result<()> {
        let rating = self.rating(key).rating;
        let free = rating.saturating_sub(RATING_FLOOR).saturating_sub(self.held(key));
        if stake > free { Err(RelayError::StakeTooHigh { rating, stake }) } else { Ok(()) }
    }

    fn set(&mut self, id: &str, state: State, now: u64) -> Result<&mut Proposal> {
        let proposal = self.proposals.get_mut(id).ok_or(RelayError::NoProposal)?;
        proposal.state = state;
        proposal.updated_at = now;
        Ok(proposal)
    }

    /// A pending proposal, for its recipient.
    fn answerable(&self, id: &str, by: &Key, now: u64) -> Result<&Proposal> {
        let proposal = self.proposals.get(id).ok_or(RelayError::NoProposal)?;
        if proposal.to.key != *by {
            return Err(RelayError::NotRecipient);
        }
        if proposal.state == State::Expired || (proposal.open() && expired(proposal, now)) {
            return Err(RelayError::ProposalExpired);
        }
        next(proposal.state, Act::Accept).map(|_| proposal).ok_or(RelayError::NotPending)
    }

    /// A proposal that this party may complete or dispute now.
    fn of_party(&self, id: &str, by: &Key, act: Act, now: u64) -> Result<&Proposal> {
        let proposal = self.proposals.get(id).ok_or(RelayError::NoProposal)?;
        if !proposal.is_party(by) {
            return Err(RelayError::NotParty);
        }
        if proposal.state == State::Expired || (proposal.open() && expired(proposal, now)) {
            return Err(RelayError::ProposalExpired);
        }
        next(proposal.state, act).ok_or(RelayError::NotAccepted)?;
        let second = proposal.state == State::Completed;
        if second
            && (proposal.settlement.is_some() || proposal.completed_by == Some(*by) || expired(proposal, now))
        {
            return Err(RelayError::NotAccepted);
        }
        Ok(proposal)
    }
}

/// A pair has one entry, whoever proposed.
fn ordered(a: Key, b: Key) -> (Key, Key) {
    if a < b { (a, b) } else { (b, a) }
}

fn expired(proposal: &Proposal, now: u64) -> bool {
    proposal.deadline().is_some_and(|at| at <= now)
}
