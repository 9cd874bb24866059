//! Who sits before the judges: a bounded number of cases at once, shared between keys, in turns between those who call
//! the courts (decision E5). Who waits loses nothing: its judge's time stands still.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use zx1_market::case::SeatWanted;
use zx1_market::chain::AbsenceCause;
use zx1_market::{Case, ContractId, PartyId, State};

use super::Engine;
use crate::error::Result;
use crate::store::ListFilter;

/// The fact that the database keeps what judges have to do.
const TASKS: &str = "judge_tasks";
const KEPT: &str = "kept";

/// How many cases sit before the judges at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeatLimits {
    /// In all: what the judges can do at the same time.
    pub seats: usize,
    /// Of one key, as principal or agent. It may have further ones while another seat stays free.
    pub per_key: usize,
}

#[derive(Debug)]
struct Place {
    wanted: SeatWanted,
    /// A key's first case is in the present turn, each further one in the turn after the one before it.
    turn: u64,
    seated: bool,
}

/// All cases whose turn before a judge has come.
#[derive(Debug, Default)]
struct Book {
    places: BTreeMap<ContractId, Place>,
    /// The latest turn that somebody was seated in.
    turn: u64,
}

impl Book {
    /// Who sits down next, without those of `but`; `None` while nobody may.
    fn next(&self, limits: SeatLimits, but: &HashSet<ContractId>) -> Option<ContractId> {
        let seated: Vec<&Place> = self.places.values().filter(|place| place.seated).collect();
        let free = limits.seats.saturating_sub(seated.len());
        if free == 0 {
            return None;
        }
        let has =
            |party: &PartyId| seated.iter().filter(|place| place.wanted.parties.contains(party)).count();
        let mut waiting: Vec<_> =
            self.places.iter().filter(|(id, place)| !place.seated && !but.contains(id)).collect();
        waiting.sort_by_key(|(id, place)| (place.turn, place.wanted.since, **id));
        let within = |place: &Place| place.wanted.parties.iter().all(|party| has(party) < limits.per_key);
        let first = waiting.iter().find(|(_, place)| within(place));
        // The last seat is kept for a key that has none.
        let first = first.or_else(|| waiting.first().filter(|_| free > 1));
        first.map(|(id, _)| **id)
    }

    fn put(&mut self, id: ContractId, wanted: SeatWanted) {
        let same = self.places.values().filter(|place| place.wanted.filer == wanted.filer);
        let turn = same.map(|place| place.turn.saturating_add(1)).max().unwrap_or_default().max(self.turn);
        self.places.insert(id, Place { wanted, turn, seated: false });
    }

    fn sit(&mut self, id: &ContractId) {
        if let Some(place) = self.places.get_mut(id) {
            place.seated = true;
            self.turn = self.turn.max(place.turn);
        }
    }

    /// As a stored case says it.
    fn set(&mut self, id: ContractId, wanted: Option<SeatWanted>) {
        let Some(wanted) = wanted else {
            self.places.remove(&id);
            return;
        };
        if self.places.get(&id).is_none_or(|place| place.wanted.court != wanted.court) {
            self.put(id, wanted);
        }
        if wanted.waits {
            if let Some(place) = self.places.get_mut(&id) {
                place.seated = false;
            }
        } else {
            self.sit(&id);
        }
    }

    /// Whether this case has a seat, or gets one now.
    fn enter(&mut self, id: ContractId, wanted: SeatWanted, limits: SeatLimits) -> bool {
        if self.places.get(&id).is_none_or(|place| place.wanted.court != wanted.court) {
            self.put(id, wanted);
            if self.next(limits, &HashSet::new()) == Some(id) {
                self.sit(&id);
            }
        }
        if wanted.reexecuted {
            self.sit(&id);
        }
        self.places.get(&id).is_some_and(|place| place.seated)
    }
}

/// The seats of one server.
#[derive(Debug)]
pub(super) struct Seats {
    limits: SeatLimits,
    book: Mutex<Book>,
}

impl Seats {
    pub(super) fn new(limits: SeatLimits) -> Seats {
        Seats { limits, book: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a case is committed: it sits or waits from now on.
    pub(super) fn enter(&self, case: &mut Case) {
        if let Some(wanted) = case.seat_wanted()
            && !self.book().enter(case.id(), wanted, self.limits)
        {
            case.wait_for_seat();
        }
    }

    /// As a case stands in the store. Answers whether somebody may sit down now.
    pub(super) fn set(&self, case: &Case) -> bool {
        let (id, wanted) = (case.id(), case.seat_wanted());
        let mut book = self.book();
        if wanted.is_none() && !book.places.contains_key(&id) {
            return false;
        }
        book.set(id, wanted);
        book.next(self.limits, &HashSet::new()).is_some()
    }

    /// How a case stands in the store is not known: it is looked up before it sits down again. Answers whether it has a
    /// place at all.
    pub(super) fn doubt(&self, id: &ContractId) -> bool {
        let mut book = self.book();
        let place = book.places.get_mut(id);
        place.map(|place| place.seated = false).is_some()
    }

    fn next(&self, but: &HashSet<ContractId>) -> Option<ContractId> {
        self.book().next(self.limits, but)
    }

    fn sit(&self, id: &ContractId) {
        self.book().sit(id);
    }
}

impl Engine {
    /// Reads who sits and who waits. Call it before anything else runs.
    pub(super) async fn open_court(&self) -> Result<()> {
        let mut found = Vec::new();
        // An older version kept no list of what judges have to do.
        let is_kept = self.inner.store.meta(TASKS, "").await? == KEPT;
        for state in [State::Disputed, State::Halted] {
            let state = Some(state.as_str().to_owned());
            let filter = ListFilter { state, limit: i64::MAX, ..ListFilter::default() };
            for listed in self.inner.store.list(filter).await? {
                match self.read(listed.id.parse()?).await {
                    Ok(case) => {
                        if !is_kept {
                            let tasks = super::persist::tasks(&case)?;
                            self.inner.store.set_tasks(&listed.id, tasks).await?;
                        }
                        found.extend(case.seat_wanted().map(|wanted| (wanted.since, case)));
                    }
                    Err(error) => {
                        let (code, contract) = (error.code(), &listed.id);
                        tracing::error!(code, %error, contract, "a case before a court cannot be read");
                    }
                }
            }
        }
        found.sort_by_key(|(since, _)| *since);
        for (_, case) in found {
            self.inner.seats.set(&case);
        }
        if is_kept { Ok(()) } else { Ok(self.inner.store.set_meta(TASKS, KEPT).await?) }
    }

    /// Seats those who wait, whenever a seat is free.
    pub(super) async fn court_task(self, cancel: CancellationToken) {
        loop {
            let trouble = self.seat_waiting().await;
            let again = async {
                if trouble {
                    tokio::time::sleep(self.inner.habits.pause).await;
                } else {
                    std::future::pending().await
                }
            };
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.inner.court.notified() => {}
                () = again => {}
            }
        }
    }

    /// Answers whether it must be tried again in a while.
    async fn seat_waiting(&self) -> bool {
        let (mut passed, mut trouble) = (HashSet::new(), false);
        while let Some(id) = self.inner.seats.next(&passed) {
            // It waits for its operator.
            if self.moves(&id).is_err() {
                passed.insert(id);
                continue;
            }
            let seated = self.seat(id).await.unwrap_or_else(|error| {
                tracing::error!(code = error.code(), %error, contract = %id, "a case was not seated");
                false
            });
            if !seated {
                passed.insert(id);
                trouble = true;
            }
        }
        trouble
    }

    /// Answers `false` when the case still waits.
    async fn seat(&self, id: ContractId) -> Result<bool> {
        let _lock = self.lock(id).await;
        let (version, case) = self.load(id).await?;
        let now = self.now().max(case.updated_at());
        let mut next = case.clone();
        let step = next.seat(now, &self.inner.key)?;
        if next == case {
            // It has moved on meanwhile, or its end is due.
            self.inner.seats.set(&case);
            return Ok(!case.waits_for_seat());
        }
        self.inner.seats.sit(&id);
        self.inner.metrics.absence(AbsenceCause::Court);
        self.persist(Some((version, &case)), &mut next, step, None).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use zx1_market::money::Court;
    use zx1_market::{Millis, PartyKey};

    use super::*;

    const LIMITS: SeatLimits = SeatLimits { seats: 4, per_key: 1 };

    fn key(n: u8) -> PartyId {
        PartyKey::from_seed(&[n; 32]).id()
    }

    fn id(n: u8) -> ContractId {
        format!("{n:016x}").parse().unwrap()
    }

    fn case(principal: u8, agent: u8, since: u64) -> SeatWanted {
        SeatWanted {
            court: Court::District,
            filer: key(principal),
            parties: [key(principal), key(agent)],
            since: Millis(since),
            reexecuted: false,
            waits: false,
        }
    }

    /// Everybody who may sit down does.
    fn fill(book: &mut Book, limits: SeatLimits) -> Vec<ContractId> {
        let mut seated = Vec::new();
        while let Some(id) = book.next(limits, &HashSet::new()) {
            book.sit(&id);
            seated.push(id);
        }
        seated
    }

    #[test]
    fn one_key_leaves_a_seat_to_others() {
        let mut book = Book::default();
        let sat = (0..27).filter(|n| book.enter(id(*n), case(1, 2, u64::from(*n)), LIMITS)).count();
        assert_eq!(sat, 3);
        assert!(book.enter(id(100), case(3, 4, 99), LIMITS), "the victim sits down at once");
        // A second one is the next, long before the others.
        assert!(!book.enter(id(101), case(5, 6, 100), LIMITS));
        book.set(id(0), None);
        assert_eq!(fill(&mut book, LIMITS), [id(101)]);
        // Neither side of the crowd gets a further seat while others hold none.
        assert!(
            !book.enter(id(102), case(1, 7, 101), LIMITS) && !book.enter(id(103), case(8, 2, 102), LIMITS)
        );
        book.set(id(1), None);
        assert_eq!(fill(&mut book, LIMITS), []);
        assert!(book.enter(id(104), case(9, 10, 103), LIMITS));
    }

    #[test]
    fn those_who_call_the_courts_take_turns() {
        let limits = SeatLimits { seats: 1, per_key: 9 };
        let mut book = Book::default();
        assert!(book.enter(id(0), case(1, 20, 0), limits));
        for n in 1..10 {
            assert!(!book.enter(id(n), case(1, 20 + n, u64::from(n)), limits));
        }
        assert!(
            !book.enter(id(100), case(2, 40, 100), limits) && !book.enter(id(101), case(3, 41, 101), limits)
        );
        let mut order = Vec::new();
        let mut sits = id(0);
        for _ in 0..4 {
            book.set(sits, None);
            sits = fill(&mut book, limits)[0];
            order.push(sits);
        }
        assert_eq!(order, [id(100), id(101), id(1), id(2)]);
        // Who comes later comes in the present turn, and does not pass over everybody for ever with fresh keys.
        for n in 0..3 {
            assert!(!book.enter(id(102 + n), case(4 + n, 42 + n, 102 + u64::from(n)), limits));
        }
        let mut order = Vec::new();
        for _ in 0..4 {
            book.set(sits, None);
            sits = fill(&mut book, limits)[0];
            order.push(sits);
        }
        assert_eq!(order, [id(102), id(103), id(104), id(3)]);
    }

    #[test]
    fn a_case_keeps_its_seat_until_it_leaves_its_court() {
        let limits = SeatLimits { seats: 1, per_key: 1 };
        let mut book = Book::default();
        assert!(book.enter(id(0), case(1, 2, 0), limits) && book.enter(id(0), case(1, 2, 5), limits));
        let waits = SeatWanted { waits: true, ..case(3, 4, 1) };
        assert!(!book.enter(id(1), waits, limits));
        // A judge that was faster than the seat sits all the same.
        assert!(book.enter(id(1), SeatWanted { reexecuted: true, ..waits }, limits));
        book.set(id(0), None);
        assert_eq!(fill(&mut book, limits), []);
        book.set(id(1), None);
        // The next court is another place in the queue.
        assert!(book.enter(id(2), case(5, 6, 2), limits));
        assert!(!book.enter(id(3), case(7, 8, 3), limits));
        assert!(!book.enter(id(2), SeatWanted { court: Court::Appeals, ..case(5, 6, 4) }, limits));
        assert_eq!(fill(&mut book, limits), [id(3)]);
    }
}
