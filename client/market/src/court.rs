//! The three courts, and what a judge decides.

use serde::{Deserialize, Serialize};

use crate::Raw;
use crate::fees::Fees;
use crate::parties::Side;

/// A court (fix.md, "Courts").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Court {
    /// The first court, which hears a dispute.
    District,
    /// The second court, which hears an appeal against a district ruling.
    Appeals,
    /// The last court. Its rulings are final.
    Supreme,
}

impl Court {
    /// All courts, lowest first.
    pub const ALL: [Court; 3] = [Court::District, Court::Appeals, Court::Supreme];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Court::District => "district",
            Court::Appeals => "appeals",
            Court::Supreme => "supreme",
        }
    }

    /// From the word on the wire.
    pub fn from_word(word: &str) -> Option<Court> {
        Court::ALL.into_iter().find(|court| court.as_str() == word)
    }

    /// The court's place in the order of appeals: 0, 1 or 2.
    pub const fn level(self) -> u32 {
        self as u32
    }

    /// The court that hears an appeal against this one's ruling; `None` above the supreme court.
    pub const fn next(self) -> Option<Court> {
        match self {
            Court::District => Some(Court::Appeals),
            Court::Appeals => Some(Court::Supreme),
            Court::Supreme => None,
        }
    }

    /// The fee that the loser pays, in raw.
    pub const fn fee(self, fees: &Fees) -> Raw {
        let [district, appeals, supreme] = fees.courts;
        match self {
            Court::District => district,
            Court::Appeals => appeals,
            Court::Supreme => supreme,
        }
    }
}

impl std::fmt::Display for Court {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a judge decides (fix.md, "Rulings").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// The agent did the work.
    Fulfilled,
    /// The agent did not do the work.
    Canceled,
    /// No agent could have done the work.
    Impossible,
    /// The agent acted in bad faith.
    EvilAgent,
    /// The principal acted in bad faith.
    EvilPrincipal,
    /// Both parties acted in bad faith.
    EvilBoth,
}

impl Outcome {
    /// All outcomes, in the order of their declaration.
    pub const ALL: [Outcome; 6] = [
        Outcome::Fulfilled,
        Outcome::Canceled,
        Outcome::Impossible,
        Outcome::EvilAgent,
        Outcome::EvilPrincipal,
        Outcome::EvilBoth,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Fulfilled => "fulfilled",
            Outcome::Canceled => "canceled",
            Outcome::Impossible => "impossible",
            Outcome::EvilAgent => "evil_agent",
            Outcome::EvilPrincipal => "evil_principal",
            Outcome::EvilBoth => "evil_both",
        }
    }

    /// From the word on the wire.
    pub fn from_word(word: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }

    /// Whether `side` lost, so that it may appeal. After `impossible` and `evil_both` either may (decision
    /// E5).
    pub const fn is_lost_by(self, side: Side) -> bool {
        match self {
            Outcome::Fulfilled | Outcome::EvilPrincipal => matches!(side, Side::Principal),
            Outcome::Canceled | Outcome::EvilAgent => matches!(side, Side::Agent),
            Outcome::Impossible | Outcome::EvilBoth => true,
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
