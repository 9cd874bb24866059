//! Offers of one auction, ranked.

use super::NotaryError;
use crate::defaults::MAX_OFFERS;
use crate::text;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use zx1_protocol::ids::AgentId;
use zx1_protocol::mesh_payload::Offer;

/// A notary's offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bid {
    /// Agent id of the notary that offers.
    pub notary: AgentId,
    /// What it asks for.
    #[serde(with = "text::decimal")]
    pub fee: i128,
    /// In what the fee is counted.
    pub unit: String,
    /// Seconds to the VERDICT.
    pub seconds: u32,
    /// The notary's score when it offered, in thousandths (`notary_accuracy`).
    pub score: i64,
    /// The offer's envelope, which shows the other party what was offered.
    #[serde(with = "text::bytes")]
    pub envelope: Vec<u8>,
}

impl Bid {
    /// The offer of a NOTARIZE_BID's terms.
    pub fn of(notary: AgentId, terms: &[u8], score: i64, envelope: &[u8]) -> Result<Self, NotaryError> {
        let Offer { fee, unit, seconds } = Offer::decode(terms)?;
        Ok(Self { notary, fee, unit: unit.to_owned(), seconds, score, envelope: envelope.to_vec() })
    }
}

/// The offers of one auction, the best first: by score, then those in the unit that was asked for, then by fee.
/// Fees in different units are not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offers {
    unit: String,
    ranked: Vec<Bid>,
}

impl Offers {
    /// None yet. `unit` is the one in which the caller wants to pay.
    pub fn new(unit: &str) -> Self {
        Self { unit: unit.to_owned(), ranked: Vec::new() }
    }

    /// The offers, the best first.
    pub fn ranked(&self) -> &[Bid] {
        &self.ranked
    }

    /// Takes an offer. A notary has one: its last replaces those before. Of too many the worst leaves.
    pub fn take(&mut self, bid: Bid) {
        self.remove(bid.notary);
        self.ranked.push(bid);
        let unit = &self.unit;
        self.ranked.sort_by(|a, b| {
            let rank = |it: &Bid| (Reverse(it.score), it.unit != *unit);
            let by_fee = || (&a.unit, a.fee, a.notary).cmp(&(&b.unit, b.fee, b.notary));
            rank(a).cmp(&rank(b)).then_with(by_fee)
        });
        self.ranked.truncate(MAX_OFFERS);
    }

    /// Takes one notary's offer out.
    pub fn remove(&mut self, notary: AgentId) -> Option<Bid> {
        let at = self.ranked.iter().position(|bid| bid.notary == notary)?;
        Some(self.ranked.remove(at))
    }

    /// Takes the best offer out.
    pub fn best(&mut self) -> Option<Bid> {
        let best = self.ranked.first()?.notary;
        self.remove(best)
    }
}
