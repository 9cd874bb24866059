//! One contract's whole life: entries and time in, effects and deadlines out.
//!
//! A [`Case`] reads no clock and touches nothing. Whoever holds it hands in entries and the time, persists
//! what comes back (entries, a snapshot, the next deadline) in one transaction, and then performs the
//! effects. The market's server, `fix verify` and `fix serve --import` run through the same code
//! ([`replay`]).

mod absence;
mod act;
mod agent;
mod ask;
mod court;
mod effect;
mod phase;
mod principal;
mod replay;
mod seat;
mod server;
mod settle;
mod step;
mod timers;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use self::ask::{DepositWanted, JudgeTask};
pub use self::effect::{AccountPayout, Chained, Effect, Leg, News, Notice, Settle, Step};
use self::phase::Phase;
pub use self::phase::{CourtStep, Proceedings, Timer};
pub use self::replay::{Report, Role, Signer, Transcript, rebuild, replay};
pub use self::seat::SeatWanted;
use crate::chain::{Data, DepositData, Entry, EntryType, Head, Side, SignatureForm, follows};
use crate::defaults as d;
use crate::machine::{Event, State};
use crate::terms::Windows;
use crate::{Address, Contract, ContractId, Millis, PartyId, Reason, Refusal, Result, Terms};

/// A side of the contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Party {
    id: PartyId,
    /// Where its money goes; none in free mode.
    payout: Option<Address>,
    deposit: Option<DepositData>,
}

/// What one agent has done; forgotten when the contract is reopened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Work {
    /// Fixes and timed-out attempts.
    attempts: u32,
    /// Whether a fix was chained, so that the principal may have read it.
    fix_seen: bool,
    /// The entry of the last one.
    #[serde(default)]
    fix_at: Option<u64>,
    /// Whether the principal found a fix not to work.
    failed: bool,
    grace_until: Option<Millis>,
    /// How often a halt was taken back.
    resumes: u32,
}

/// One contract. Clone it to try something; every method that changes it does so wholly or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    id: ContractId,
    contract: Contract,
    terms: Terms,
    head: Head,
    state: State,
    phase: Phase,
    /// The server's windows, with those that the contract sets (decision E22).
    windows: Windows,
    principal: Party,
    agent: Option<Party>,
    work: Work,
    /// Agents so far, without the present one: the round of the agent's escrow account (decision F1).
    round: u32,
    /// Who had the contract and may not have it again.
    former: BTreeSet<PartyId>,
    /// Whether an agent left late, so that the posting fee is due (decision E4).
    fee_due: bool,
    lapses: u32,
    /// Rounds of investigation, over all agents (decision E3).
    rounds: u32,
    last_investigation: Option<Millis>,
    /// Commands whose output was not answered yet.
    pending: Vec<String>,
    feedback: BTreeSet<Side>,
    settlements: Vec<Settle>,
    /// Whether a named judge's machine found the fix to work, in the present court (decision E20).
    passed: bool,
    /// Bytes of talk so far.
    talked: u64,
    /// The last entry's own time.
    last_at: Millis,
    /// All absences that were counted (decision E21).
    absent: Millis,
    created_at: Millis,
    updated_at: Millis,
    /// How far a window may be missed: 0 on a server; more when a transcript without arrival times is
    /// replayed.
    skew: Millis,
}

impl Case {
    /// Open a case with its `post` entry, as an unpaid contract. Checks the entry, the contract and its
    /// bounds. See [`Case::start`] for what a server does.
    pub fn open(post: &Entry, terms: &Terms, now: Millis) -> Result<Case> {
        Case::open_with(post, terms, now, Millis(0))
    }

    fn open_with(post: &Entry, terms: &Terms, now: Millis, skew: Millis) -> Result<Case> {
        if post.kind() != EntryType::Post {
            return Err(Reason::PostFirst.into());
        }
        let head = follows(Head::GENESIS, post)?;
        post.verify(form(terms))?;
        let (Data::Post { contract, principal, payout, market }, common) = post.read()? else {
            return Err(Reason::PostFirst.into());
        };
        let author = match common.on_behalf_of {
            Some(party) if terms.compat && post.author() == terms.server => party,
            Some(_) => return Err(Reason::OnBehalf.into()),
            None => post.author(),
        };
        if author != principal {
            return Err(Reason::NotPrincipal.into());
        }
        if common.from.is_some_and(|side| side != Side::Principal) {
            return Err(Reason::EntryFrom.into());
        }
        fresh(post, now, terms, Millis(0), skew)?;
        let contract = Contract::read(&contract)?;
        contract.check(terms)?;
        match market {
            None => return Err(Refusal::with(Reason::FieldMissing, "post.market")),
            Some(market) if market != terms.market() => {
                return Err(Refusal::with(Reason::PostMarket, terms.market()));
            }
            Some(_) => {}
        }
        if payout.is_none() && !contract.is_free() {
            return Err(Reason::PayoutNeeded.into());
        }
        let windows = contract.windows(terms);
        Ok(Case {
            id: ContractId::of(&post.hash()),
            contract,
            terms: terms.clone(),
            head,
            state: State::Unfunded,
            phase: Phase::Unfunded { until: now.plus(windows.unfunded), extended: false },
            windows,
            principal: Party { id: principal, payout, deposit: None },
            agent: None,
            work: Work::default(),
            round: 0,
            former: BTreeSet::new(),
            fee_due: false,
            lapses: 0,
            rounds: 0,
            last_investigation: None,
            pending: Vec::new(),
            feedback: BTreeSet::new(),
            settlements: Vec::new(),
            passed: false,
            talked: 0,
            last_at: post.at(),
            absent: Millis(0),
            created_at: now,
            updated_at: now,
            skew,
        })
    }

    /// Chain one entry: of a party or of the server. The whole rules are behind this. On refusal nothing has
    /// changed.
    ///
    /// This is the lowest level. It does not add what the server must chain at once, and it takes a `bond`
    /// without a reservation, as a replay must; a server calls [`Case::handle`].
    pub fn apply(&mut self, entry: &Entry, now: Millis) -> Result<Vec<Effect>> {
        let mut next = self.clone();
        // What passed in an absence has not passed for anybody.
        let seen = match entry.kind() {
            EntryType::Resumed => match entry.read()?.0 {
                Data::Resumed(absence) => absence.from,
                _ => now,
            },
            _ => now,
        };
        let mut effects = next.advance(seen);
        next.chain(entry, now, &mut effects)?;
        *self = next;
        Ok(effects)
    }

    /// Check an entry's link, signature, age, author and shape, then act on it.
    fn chain(&mut self, entry: &Entry, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        let head = follows(self.head, entry)?;
        entry.verify(form(&self.terms))?;
        // A bond waits for its deposit before it is chained (decision E8).
        let wait = match entry.kind() {
            EntryType::Bond => self.windows.reservation.plus(self.windows.reservation).plus(d::MAX_ABSENCE),
            _ => Millis(0),
        };
        // The server's time never goes back, not even behind a party's clock that is ahead.
        let ahead = if entry.kind().is_server_only() { self.last_at.plus(Millis(1)) } else { Millis(0) };
        fresh(entry, now.max(ahead.min(entry.at())), &self.terms, wait, self.skew)?;
        let kind = entry.kind();
        let (data, common) = entry.read()?;
        if kind.is_server_only() {
            if entry.author() != self.terms.server {
                return Err(Refusal::with(Reason::NotServer, kind));
            }
            self.not_ended(kind)?;
            self.by_server(data, entry, now, effects)?;
        } else {
            let actor = self.actor(entry, common.on_behalf_of)?;
            let said = if kind.is_talk() { entry.canonical().len() as u64 } else { 0 };
            self.room(kind, said)?;
            self.talked = self.talked.saturating_add(said);
            self.not_ended(kind)?;
            self.by_party(data, actor, common.from, now, effects)?;
        }
        self.head = head;
        self.last_at = entry.at();
        self.updated_at = now;
        Ok(())
    }

    /// Who acts: the author, or the party for which the server signed (decision E13).
    fn actor(&self, entry: &Entry, on_behalf_of: Option<PartyId>) -> Result<PartyId> {
        match on_behalf_of {
            None => Ok(entry.author()),
            Some(party) if self.terms.compat && entry.author() == self.terms.server => Ok(party),
            Some(_) => Err(Reason::OnBehalf.into()),
        }
    }

    /// Talk ends before the chain is full, so that a contract can always be brought to its end.
    fn room(&self, kind: EntryType, said: u64) -> Result<()> {
        if self.talked.saturating_add(said) > d::MAX_TALK_BYTES {
            return Err(Refusal::with(Reason::TalkFull, self.talked));
        }
        let talk = kind.is_talk() || kind == EntryType::Accounts;
        let max = if talk { d::MAX_TALK_ENTRIES } else { d::MAX_ENTRIES };
        if self.head.seq >= max { Err(Refusal::with(Reason::ChainFull, self.head.seq)) } else { Ok(()) }
    }

    fn not_ended(&self, kind: EntryType) -> Result<()> {
        if self.state.is_terminal() && kind != EntryType::Feedback {
            return Err(Refusal::with(Reason::Ended, self.state));
        }
        Ok(())
    }

    /// Move along the table, or refuse.
    fn go(&mut self, event: Event) -> Result<()> {
        self.state = self.state.after(event).ok_or_else(|| self.wrong_state())?;
        Ok(())
    }

    fn wrong_state(&self) -> Refusal {
        Refusal::with(Reason::WrongState, self.state)
    }

    fn is_free(&self) -> bool {
        self.contract.is_free()
    }

    /// Whether a window that ends at `until` has passed for the one who should have acted in it.
    fn is_late(&self, now: Millis, until: Millis) -> bool {
        now >= until.plus(self.skew)
    }

    /// Whether a window that ends at `until` has passed for the server, which acts on its passing.
    fn is_due(&self, now: Millis, until: Millis) -> bool {
        now.plus(self.skew) >= until
    }

    fn due(&self, now: Millis, until: Millis) -> Result<()> {
        if self.is_due(now, until) { Ok(()) } else { Err(Refusal::with(Reason::NotDue, until)) }
    }
}

fn form(terms: &Terms) -> SignatureForm {
    if terms.compat { SignatureForm::Compat } else { SignatureForm::Full }
}

/// An entry is signed when it is sent: at most 60 s before (300 s with --compat), 5 s ahead for clocks that
/// differ.
fn fresh(entry: &Entry, now: Millis, terms: &Terms, wait: Millis, skew: Millis) -> Result<()> {
    let age = if terms.compat { d::MAX_AGE_COMPAT } else { d::MAX_AGE };
    let at = entry.at();
    if now > at.plus(age).plus(wait).plus(skew) || at > now.plus(d::MAX_AHEAD).plus(skew) {
        let difference = if now > at { now.minus(at) } else { at.minus(now) };
        return Err(Refusal::with(Reason::EntryAge, difference));
    }
    Ok(())
}
