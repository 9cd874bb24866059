//! A contract as its market announces it on the mesh (wire.md, "Announced contracts").

use std::fmt;
use std::str::FromStr;

use crate::contract::Contract;
use crate::{Case, ContractId, Millis, Raw, Reason, Refusal, Result, State};

/// The schema that an ADVERTISE of a contract names.
pub const SCHEMA: &str = "zx1/fix/contract/v1";
/// In what its price is counted.
pub const UNIT: &str = "raw";
/// The capability that each of them names.
pub const CAP: &str = "fix";
/// Longest address of a market in a reference, in bytes: with the id it fits into an ADVERTISE.
pub const MAX_MARKET: usize = 239;

/// Longest word for the kind of a failure that is announced, in bytes.
const MAX_KIND: usize = 32;

/// Where a contract is: `https://market.example.org#0123456789abcdef`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Address of the market, without a slash at its end. A stranger's text until somebody compares it.
    pub market: String,
    /// The contract there.
    pub contract: ContractId,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.market, self.contract)
    }
}

impl FromStr for Reference {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Reference> {
        let wrong = || Refusal::of(Reason::ContractIdHex);
        let (market, contract) = text.rsplit_once('#').ok_or_else(wrong)?;
        let host = market.strip_prefix("https://").or_else(|| market.strip_prefix("http://"));
        let is_plain = |host: &str| !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
        if market.len() > MAX_MARKET || !host.is_some_and(is_plain) || market.contains('#') {
            return Err(wrong());
        }
        Ok(Reference { market: market.trim_end_matches('/').to_owned(), contract: contract.parse()? })
    }
}

/// What is announced of an open contract: nothing that its principal wrote but the word for the kind of failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// Words that a search asks for.
    pub caps: Vec<String>,
    /// Bounty of the contract; zero for a free one.
    pub price: Raw,
    /// Where it is.
    pub contract: Reference,
    /// Seconds for which it can be taken.
    pub ttl: u32,
}

impl Announcement {
    /// Of a contract at the market with this address; `None` for one that is not open, that ends within the second,
    /// or that its principal keeps private (decision E14).
    pub fn of(case: &Case, market: &str, now: Millis) -> Option<Announcement> {
        let contract = case.contract();
        if case.state() != State::Open || contract.private {
            return None;
        }
        let left = case.next_deadline().map_or(0, |at| at.minus(now).0 / 1_000);
        let ttl = u32::try_from(left).unwrap_or(u32::MAX);
        (ttl > 0).then(|| Announcement {
            caps: caps(contract),
            price: contract.bounty,
            contract: Reference { market: market.to_owned(), contract: case.id() },
            ttl,
        })
    }

    /// The same contract as no longer offered: it takes the earlier announcement away.
    #[must_use]
    pub fn withdrawn(self) -> Announcement {
        Announcement { ttl: 0, ..self }
    }
}

fn caps(contract: &Contract) -> Vec<String> {
    let granted = &contract.capabilities;
    let words = [
        (true, CAP),
        (true, if contract.is_free() { "free" } else { "paid" }),
        (contract.is_autonomous(), "autonomous"),
        (granted.network.is_some(), "network"),
        (granted.docker, "docker"),
        (granted.sudo, "sudo"),
    ];
    let kind = contract.task.kind.as_str();
    // Digits and signs could be somebody's secret.
    let is_word = kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let kind = (!kind.is_empty() && kind.len() <= MAX_KIND && is_word).then_some(kind);
    let words = words.into_iter().filter_map(|(holds, word)| holds.then_some(word));
    words.chain(kind).map(str::to_owned).collect()
}

/// What an ADVERTISE says of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Where it is.
    pub contract: Reference,
    /// The bounty, as it is said.
    pub price: Raw,
}

impl Offer {
    /// Reads the fields of an ADVERTISE; `None` for one that offers no contract of a market. Proves nothing.
    pub fn read(schema: &str, unit: &str, price: &str, contract: Option<&str>) -> Option<Offer> {
        if (schema, unit) != (SCHEMA, UNIT) {
            return None;
        }
        Some(Offer { contract: contract?.parse().ok()?, price: Raw(price.parse().ok()?) })
    }
}
