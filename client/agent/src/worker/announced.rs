//! Contracts that the agent's node heard announced: which of them are looked at. Pure: time is an argument.
//!
//! An announcement is a stranger's word. It says where to look and nothing else: what a contract is and pays, the market
//! says. What nobody can be kept from saying is bounded: one look at a contract in 30 s, one look a second in all, and
//! none for whoever was wrong three times. The market's own list is read as ever, so what is left out is found there.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::time::Duration;

use zx1_market::wire::advert::Offer;
use zx1_market::{ContractId, Raw};

/// Contracts whose last look is remembered.
const MAX_LOOKED: usize = 1_024;
/// Announcers that are remembered, and markets that were named.
const MAX_NAMES: usize = 256;
/// A contract is looked at again after this time: it may have been opened again.
const AGAIN: Duration = Duration::from_secs(30);
/// Looks at once, and the time in which one of them comes back.
const BURST: u32 = 20;
const REFILL: Duration = Duration::from_secs(1);
/// Whoever was wrong so often is not followed any more.
const MAX_WRONG: u32 = 3;

/// A contract as it was announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    /// The agent that announces it, as text.
    pub by: String,
    /// What it says.
    pub offer: Offer,
}

/// What to do about an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    /// Look at the contract.
    Look,
    /// It is of a market that the owner has not named, and this was not said before.
    Stranger,
    /// Leave it without a word.
    Ignore,
}

/// A map of bounded size that forgets what came first.
#[derive(Debug)]
struct Recent<K, V> {
    most: usize,
    values: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    fn new(most: usize) -> Recent<K, V> {
        Recent { most, values: HashMap::new(), order: VecDeque::new() }
    }

    fn put(&mut self, key: &K, value: V) {
        if self.values.insert(key.clone(), value).is_none() {
            self.order.push_back(key.clone());
            if self.order.len() > self.most
                && let Some(old) = self.order.pop_front()
            {
                self.values.remove(&old);
            }
        }
    }
}

/// What was heard so far.
#[derive(Debug)]
pub(super) struct Heard {
    /// Address of the market that the owner named.
    market: String,
    /// When each contract was looked at last.
    looked: Recent<ContractId, Duration>,
    /// What is said of the contracts that are being looked at.
    pending: Recent<ContractId, Announced>,
    strangers: HashSet<String>,
    wrong: Recent<String, u32>,
    looks: u32,
    refilled: Duration,
}

impl Heard {
    /// Nothing yet, of this market.
    pub(super) fn new(market: &str) -> Heard {
        Heard {
            market: market.trim_end_matches('/').to_owned(),
            looked: Recent::new(MAX_LOOKED),
            pending: Recent::new(MAX_NAMES),
            strangers: HashSet::new(),
            wrong: Recent::new(MAX_NAMES),
            looks: BURST,
            refilled: Duration::ZERO,
        }
    }

    /// A contract was announced at this moment. `min` and `max`: what its bounty may be.
    pub(super) fn hear(&mut self, announced: &Announced, min: Raw, max: Raw, now: Duration) -> Hearing {
        let Announced { by, offer } = announced;
        let reference = &offer.contract;
        if reference.market != self.market {
            let is_new = self.strangers.len() < MAX_NAMES && self.strangers.insert(reference.market.clone());
            return if is_new { Hearing::Stranger } else { Hearing::Ignore };
        }
        let is_liar = self.wrong.values.get(by).is_some_and(|wrong| *wrong >= MAX_WRONG);
        let is_known = |at: &Duration| now.saturating_sub(*at) < AGAIN;
        let was_looked_at = self.looked.values.get(&reference.contract).is_some_and(is_known);
        let is_wanted = offer.price <= max && (offer.price.is_zero() || offer.price >= min);
        if is_liar || was_looked_at || !is_wanted || !self.may_look(now) {
            return Hearing::Ignore;
        }
        self.looked.put(&reference.contract, now);
        self.pending.put(&reference.contract, announced.clone());
        Hearing::Look
    }

    fn may_look(&mut self, now: Duration) -> bool {
        let back = now.saturating_sub(self.refilled).as_secs() / REFILL.as_secs().max(1);
        if back > 0 {
            self.looks = self.looks.saturating_add(u32::try_from(back).unwrap_or(u32::MAX)).min(BURST);
            self.refilled = now;
        }
        let may = self.looks > 0;
        self.looks = self.looks.saturating_sub(1);
        may
    }

    /// A contract was found otherwise: an announcement of it says nothing new.
    pub(super) fn found(&mut self, contract: ContractId, now: Duration) {
        self.looked.put(&contract, now);
    }

    /// What the market says of a contract that was looked at: its bounty; `None`: there is none. Who announced it
    /// otherwise was wrong. That it is taken already is nobody's fault.
    pub(super) fn shown(&mut self, contract: ContractId, bounty: Option<Raw>) {
        let Some(Announced { by, offer }) = self.pending.values.remove(&contract) else { return };
        self.pending.order.retain(|known| *known != contract);
        if bounty != Some(offer.price) {
            let wrong = self.wrong.values.get(&by).copied().unwrap_or_default();
            self.wrong.put(&by, wrong.saturating_add(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_market::wire::advert::Reference;

    const MARKET: &str = "https://fix.example.org";
    const MIN: Raw = Raw(10);
    const MAX: Raw = Raw(100);

    fn id(n: u64) -> ContractId {
        format!("{n:016x}").parse().unwrap()
    }

    fn said(by: &str, market: &str, n: u64, price: u128) -> Announced {
        let contract = Reference { market: market.to_owned(), contract: id(n) };
        Announced { by: by.to_owned(), offer: Offer { contract, price: Raw(price) } }
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_contract_of_the_owners_market_is_looked_at_once_and_again_after_a_while() {
        let mut heard = Heard::new(MARKET);
        let mut hear = |by: &str, seconds| heard.hear(&said(by, MARKET, 1, 50), MIN, MAX, at(seconds));
        assert_eq!(hear("a", 0), Hearing::Look);
        assert_eq!([hear("a", 1), hear("b", 29)], [Hearing::Ignore; 2]);
        assert_eq!(hear("a", 30), Hearing::Look);
        heard.found(id(2), at(40));
        assert_eq!(heard.hear(&said("a", MARKET, 2, 50), MIN, MAX, at(41)), Hearing::Ignore);
    }

    #[test]
    fn a_market_that_the_owner_has_not_named_is_said_once_and_never_followed() {
        let mut heard = Heard::new(MARKET);
        let other = said("a", "https://fix.example.org.evil.example", 1, 50);
        assert_eq!(heard.hear(&other, MIN, MAX, at(0)), Hearing::Stranger);
        assert_eq!(heard.hear(&other, MIN, MAX, at(99)), Hearing::Ignore);
        for n in 0..2 * MAX_NAMES {
            heard.hear(&said("a", &format!("https://{n}.example"), 1, 50), MIN, MAX, at(0));
        }
        assert_eq!(heard.strangers.len(), MAX_NAMES);
    }

    #[test]
    fn whoever_announces_what_is_not_so_three_times_is_not_followed() {
        let mut heard = Heard::new(MARKET);
        for n in 0..3 {
            assert_eq!(heard.hear(&said("liar", MARKET, n, 50), MIN, MAX, at(n)), Hearing::Look);
            heard.shown(id(n), if n == 0 { None } else { Some(Raw(49)) });
        }
        assert_eq!(heard.hear(&said("liar", MARKET, 9, 50), MIN, MAX, at(9)), Hearing::Ignore);
        assert_eq!(heard.hear(&said("honest", MARKET, 9, 50), MIN, MAX, at(9)), Hearing::Look);
        heard.shown(id(9), Some(Raw(50)));
        assert_eq!(heard.hear(&said("honest", MARKET, 10, 50), MIN, MAX, at(10)), Hearing::Look);
    }

    #[test]
    fn a_flood_costs_one_look_a_second_and_bounded_memory() {
        let mut heard = Heard::new(MARKET);
        let mut looks = 0;
        for n in 0..10_000u64 {
            // Each by somebody else, as if every announcer were new.
            let one = said(&n.to_string(), MARKET, n, 50);
            looks += u32::from(heard.hear(&one, MIN, MAX, at(n / 1_000)) == Hearing::Look);
            heard.shown(id(n), None);
        }
        assert_eq!(looks, BURST + 9);
        assert!(heard.looked.values.len() <= MAX_LOOKED && heard.wrong.values.len() <= MAX_NAMES);
    }

    #[test]
    fn what_pays_too_little_or_too_much_costs_no_look() {
        let mut heard = Heard::new(MARKET);
        let mut hear = |n, price| heard.hear(&said("a", MARKET, n, price), MIN, MAX, at(0));
        assert_eq!([hear(1, 9), hear(2, 101)], [Hearing::Ignore; 2]);
        assert_eq!([hear(3, 10), hear(4, 100), hear(5, 0)], [Hearing::Look; 3]);
    }
}
