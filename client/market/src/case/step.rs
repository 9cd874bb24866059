//! What a server calls: an entry or an event in, everything that follows at once out.

use super::phase::{Phase, Reservation};
use super::{Case, Chained, DepositWanted, Effect, Step, form, fresh};
use crate::chain::{Common, Data, DepositData, Entry, EntryType, Head, Side, follows};
use crate::defaults::MAX_LAPSED_RESERVATIONS;
use crate::{Millis, PartyId, PartyKey, Reason, Refusal, Result, Terms};

/// An entry as it is chained: with `--compat` the server's time stands in place of an unsigned one.
fn as_taken(entry: Entry, terms: &Terms, now: Millis) -> Entry {
    if terms.compat { entry.timed_by_server(now) } else { entry }
}

impl Case {
    /// Take a posted contract. In free mode it is OPEN at once; else UNFUNDED until its deposit is confirmed
    /// (decision E8). The step begins with the `post` entry.
    pub fn start(post: Entry, terms: &Terms, now: Millis, key: &PartyKey) -> Result<(Case, Step)> {
        let post = as_taken(post, terms, now);
        let mut case = Case::open(&post, terms, now)?;
        let mut step = Step::default();
        step.entries.push(Chained { entry: post, received_at: now });
        if case.is_free() {
            let opened = Data::Opened { terms: Box::new(terms.clone()), deposit: None };
            case.append(&opened, now, key, &mut step)?;
        }
        Ok((case, step))
    }

    /// Take a party's entry, with what the server must chain at once because of it. A conflict carries the
    /// present head. Paid bonds go to [`Case::reserve`]. Call [`Case::run`] first, and persist what it
    /// brought.
    pub fn handle(&mut self, entry: Entry, now: Millis, key: &PartyKey) -> Result<Step> {
        if entry.kind().is_server_only() {
            return Err(Refusal::with(Reason::NotServer, entry.kind()));
        }
        if entry.kind() == EntryType::Bond && !self.is_free() {
            return Err(Reason::BondUnpaid.into());
        }
        let entry = as_taken(entry, &self.terms, now);
        self.attempt(|case, step| {
            step.effects = case.advance(now);
            // Nothing is chained while a bond waits: it hangs on the present head.
            case.reserved()?;
            case.chain(&entry, now, &mut step.effects)?;
            step.entries.push(Chained { entry, received_at: now });
            case.settle_down(now, key, step)
        })
    }

    /// Do everything whose time has come: what is chained by the clock. Nothing when nothing is due.
    pub fn run(&mut self, now: Millis, key: &PartyKey) -> Result<Step> {
        self.attempt(|case, step| {
            step.effects = case.advance(now);
            case.settle_down(now, key, step)
        })
    }

    /// Chain an entry of the server that no clock decides: a re-execution's result, a ruling, a dispute's
    /// metadata.
    pub fn chain_by_server(&mut self, data: Data, now: Millis, key: &PartyKey) -> Result<Step> {
        self.attempt(|case, step| {
            step.effects = case.advance(now);
            case.append(&data, now, key, step)?;
            case.settle_down(now, key, step)
        })
    }

    /// With --compat: sign the post of a party that sent none (decision E13). The result goes to [`Case::start`].
    pub fn sign_post_for(party: PartyId, data: &Data, now: Millis, key: &PartyKey) -> Entry {
        let common = Common { on_behalf_of: Some(party), ..Common::default() };
        let json = data.to_json(&common);
        Entry::sign_json(EntryType::Post, json, Head::GENESIS, now, key).resigned_for_older(key)
    }

    /// With --compat: sign an entry for a party that sent none (decision E13). The result goes to
    /// [`Case::handle`] or [`Case::reserve`].
    pub fn sign_for(&self, party: PartyId, data: &Data, now: Millis, key: &PartyKey) -> Result<Entry> {
        if !self.terms.compat {
            return Err(Reason::EntryNeeded.into());
        }
        let from = if data.kind().is_talk() { self.side_of(&party) } else { None };
        let common = Common { from, on_behalf_of: Some(party), ..Common::default() };
        let json = data.to_json(&common);
        let entry = Entry::sign_json(data.kind(), json, self.head, self.next_at(now), key);
        Ok(entry.resigned_for_older(key))
    }

    /// Reserve the contract for a bond until its deposit is confirmed (decision E8). The bond is checked
    /// wholly, and chained later as it is.
    pub fn reserve(&mut self, bond: Entry, now: Millis) -> Result<(DepositWanted, Vec<Effect>)> {
        let mut next = self.clone();
        let effects = next.advance(now);
        let wanted = next.reserve_now(as_taken(bond, &self.terms, now), now)?;
        *self = next;
        Ok((wanted, effects))
    }

    fn reserve_now(&mut self, bond: Entry, now: Millis) -> Result<DepositWanted> {
        if bond.kind() != EntryType::Bond || self.is_free() {
            return Err(Refusal::with(Reason::EntryKind, bond.kind()));
        }
        follows(self.head, &bond)?;
        bond.verify(form(&self.terms))?;
        fresh(&bond, now, &self.terms, Millis(0), self.skew)?;
        let (Data::Bond { agent, payout }, common) = bond.read()? else {
            return Err(Refusal::with(Reason::EntryKind, bond.kind()));
        };
        let actor = self.actor(&bond, common.on_behalf_of)?;
        if common.from.is_some_and(|side| side != Side::Agent) {
            return Err(Reason::EntryFrom.into());
        }
        self.not_ended(EntryType::Bond)?;
        self.check_bond(&actor, &agent, payout)?;
        let Phase::Open { until, reservation } = &mut self.phase else { return Err(self.wrong_state()) };
        if now >= *until {
            return Err(self.wrong_state());
        }
        let left = until.minus(now);
        let until = now.plus(self.windows.reservation);
        *reservation = Some(Box::new(Reservation { entry: bond, agent, until, extended: false, left }));
        self.updated_at = now;
        self.deposit_wanted().ok_or_else(|| self.wrong_state())
    }

    /// The ledger shows a deposit that is not confirmed yet: the window is extended, once (decision E8).
    pub fn deposit_seen(&mut self, side: Side, now: Millis) -> Result<Vec<Effect>> {
        let mut next = self.clone();
        let mut effects = next.advance(now);
        let unexpected = || Refusal::with(Reason::DepositUnexpected, side);
        let windows = next.windows;
        let (until, extended, window) = match (side, &mut next.phase) {
            (Side::Principal, Phase::Unfunded { until, extended }) => (until, extended, windows.unfunded),
            (Side::Agent, Phase::Open { reservation: Some(r), .. }) => {
                (&mut r.until, &mut r.extended, windows.reservation)
            }
            _ => return Err(unexpected()),
        };
        if side == Side::Principal && self.is_free() {
            return Err(unexpected());
        }
        if !*extended {
            *until = until.plus(window);
            *extended = true;
        }
        effects.push(Effect::StartWork { side, round: if side == Side::Agent { next.round } else { 0 } });
        *self = next;
        Ok(effects)
    }

    /// A side's deposit is confirmed, in full: the contract opens, or the reserved bond is chained. 9104 when
    /// none is expected (any more): the money goes back.
    pub fn deposit_confirmed(
        &mut self,
        side: Side,
        deposit: DepositData,
        now: Millis,
        key: &PartyKey,
    ) -> Result<Step> {
        let unexpected = || Refusal::with(Reason::DepositUnexpected, side);
        self.attempt(|case, step| {
            step.effects = case.advance(now);
            match side {
                Side::Principal => {
                    if !case.awaits_principal() {
                        return Err(unexpected());
                    }
                    let opened = Data::Opened { terms: Box::new(case.terms.clone()), deposit: Some(deposit) };
                    case.append(&opened, now, key, step)?;
                }
                Side::Agent => {
                    let Phase::Open { reservation, .. } = &mut case.phase else { return Err(unexpected()) };
                    let bond = reservation.take().ok_or_else(unexpected)?.entry;
                    case.chain(&bond, now, &mut step.effects)?;
                    step.entries.push(Chained { entry: bond, received_at: now });
                    let bonded = Data::Bonded { round: case.round, deposit };
                    case.append(&bonded, now, key, step)?;
                }
            }
            case.settle_down(now, key, step)
        })
    }

    /// Sign and chain an entry of the server.
    pub(super) fn append(&mut self, data: &Data, now: Millis, key: &PartyKey, step: &mut Step) -> Result<()> {
        let entry = Entry::sign(data, self.head, self.next_at(now), key);
        let entry = if self.terms.compat { entry.resigned_for_older(key) } else { entry };
        self.chain(&entry, now, &mut step.effects)?;
        step.entries.push(Chained { entry, received_at: now });
        Ok(())
    }

    /// Chain what the clock or the last entry demands, until nothing is due. It ends: every such entry brings
    /// the contract nearer to its end or sets a later deadline, except windows of no length, whose number is
    /// bounded.
    pub(super) fn settle_down(&mut self, now: Millis, key: &PartyKey, step: &mut Step) -> Result<()> {
        while let Some(data) = self.tick(now) {
            self.append(&data, now, key, step)?;
        }
        Ok(())
    }

    /// The time of the server's next entry: its clock's, and never before the last entry's.
    pub(super) fn next_at(&self, now: Millis) -> Millis {
        now.max(self.last_at.plus(Millis(1)))
    }

    pub(super) fn attempt(&mut self, act: impl FnOnce(&mut Case, &mut Step) -> Result<()>) -> Result<Step> {
        let mut next = self.clone();
        let mut step = Step::default();
        act(&mut next, &mut step)?;
        *self = next;
        Ok(step)
    }

    /// A reservation has ended unpaid: its agent may not hold the contract up again.
    pub(super) fn lapse(&mut self, now: Millis) -> Option<Effect> {
        let Phase::Open { until, reservation } = &mut self.phase else { return None };
        let r = reservation.take_if(|r| now >= r.until)?;
        self.former.insert(r.agent);
        self.lapses = self.lapses.saturating_add(1);
        // The open window stood still meanwhile, unless this has happened too often.
        if self.lapses <= MAX_LAPSED_RESERVATIONS {
            *until = r.until.plus(r.left);
        }
        Some(Effect::Lapsed { party: r.agent, round: self.round })
    }
}
