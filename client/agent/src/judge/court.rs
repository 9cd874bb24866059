//! The three courts with their models and fees, from configuration.

use nano_escrow::Raw;
use serde::{Deserialize, Serialize};
use zx1_coded::Coded;

pub use zx1_market::money::Court;

/// Why a court cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum CourtError {
    /// A fee is not an amount.
    #[code(9361)]
    #[error(
        "The fee of the {court} court is not an amount: {why}. Write XNO as a decimal text, such as \"0.02\"."
    )]
    Fee {
        /// Court that is configured wrongly.
        court: Court,
        /// What is wrong.
        why: String,
    },
    /// A higher court is cheaper than the one below.
    #[code(9362)]
    #[error(
        "The fee of the {court} court is lower than that of the court below. Raise it, so that appeals cost."
    )]
    Order {
        /// Court that is configured wrongly.
        court: Court,
    },
    /// The fees' sum is too large.
    #[code(9363)]
    #[error("The sum of the courts' fees is too large. Lower the fees.")]
    Sum,
    /// A model's name is empty.
    #[code(9364)]
    #[error("The {court} court has no model. Name one.")]
    Model {
        /// Court that is configured wrongly.
        court: Court,
    },
}

/// A court in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CourtRecord {
    /// What people are shown, such as `Claude Sonnet`.
    pub title: String,
    /// The model's name at its server.
    pub model: String,
    /// XNO as a decimal text.
    pub fee: String,
}

/// The courts in a configuration file. Missing values are those of fix.md, "Courts".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CourtsRecord {
    /// The first court.
    pub district: CourtRecord,
    /// The second court.
    pub appeals: CourtRecord,
    /// The last court.
    pub supreme: CourtRecord,
}

impl Default for CourtsRecord {
    /// The courts of fix.md, "Courts", with the names that the models have at OpenRouter. Names there change.
    fn default() -> CourtsRecord {
        let court = |title: &str, model: &str, fee: &str| CourtRecord {
            title: title.into(),
            model: model.into(),
            fee: fee.into(),
        };
        CourtsRecord {
            district: court("GLM-4 Plus", "z-ai/glm-4-plus", "0.02"),
            appeals: court("Claude Sonnet", "anthropic/claude-sonnet-4.5", "0.05"),
            supreme: court("Claude Opus", "anthropic/claude-opus-4.5", "0.10"),
        }
    }
}

/// A court, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourtConfig {
    /// Court that it configures.
    pub court: Court,
    /// What people are shown.
    pub title: String,
    /// The model's name at its server.
    pub model: String,
    /// What the loser pays.
    pub fee: Raw,
}

/// The three courts, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Courts {
    courts: [CourtConfig; 3],
    judge_fee: Raw,
}

impl Courts {
    /// Configuration of one court.
    pub fn get(&self, court: Court) -> &CourtConfig {
        let [district, appeals, supreme] = &self.courts;
        match court {
            Court::District => district,
            Court::Appeals => appeals,
            Court::Supreme => supreme,
        }
    }

    /// From the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = &CourtConfig> {
        self.courts.iter()
    }

    /// The judge fee that both sides deposit: the sum of all courts' fees (fix.md, "Judge fee").
    pub fn judge_fee(&self) -> Raw {
        self.judge_fee
    }
}

impl TryFrom<CourtsRecord> for Courts {
    type Error = CourtError;

    fn try_from(record: CourtsRecord) -> Result<Courts, CourtError> {
        let check = |court: Court, record: CourtRecord| {
            let fee = Raw::from_xno(&record.fee).map_err(|why| CourtError::Fee {
                court,
                why: why.to_string().trim_end_matches('.').to_owned(),
            })?;
            if record.model.trim().is_empty() {
                return Err(CourtError::Model { court });
            }
            Ok(CourtConfig { court, title: record.title, model: record.model, fee })
        };
        let courts = [
            check(Court::District, record.district)?,
            check(Court::Appeals, record.appeals)?,
            check(Court::Supreme, record.supreme)?,
        ];
        let mut below = Raw::ZERO;
        for court in &courts {
            if court.fee < below {
                return Err(CourtError::Order { court: court.court });
            }
            below = court.fee;
        }
        let judge_fee = Raw::checked_sum(courts.iter().map(|c| c.fee)).ok_or(CourtError::Sum)?;
        Ok(Courts { courts, judge_fee })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_courts_are_the_specs_table() {
        let courts = Courts::try_from(CourtsRecord::default()).unwrap();
        let fees: Vec<String> = courts.iter().map(|c| c.fee.xno()).collect();
        assert_eq!(fees, ["0.02", "0.05", "0.1"]);
        assert_eq!(courts.judge_fee(), Raw::from_xno("0.17").unwrap());
        assert_eq!(courts.get(Court::Supreme).title, "Claude Opus");
    }

    #[test]
    fn a_bad_configuration_fails() {
        let change = |f: fn(&mut CourtsRecord)| {
            let mut record = CourtsRecord::default();
            f(&mut record);
            Courts::try_from(record).unwrap_err().code()
        };
        for bad in ["", "-1", "0.1e3", "1,5", " 1", ".5", "NaN"] {
            let mut record = CourtsRecord::default();
            record.appeals.fee = bad.into();
            assert_eq!(Courts::try_from(record).unwrap_err().code(), 9361, "{bad:?}");
        }
        assert_eq!(change(|r| r.appeals.fee = "0.01".into()), 9362);
        assert_eq!(change(|r| r.supreme.fee = "340282366.9".into()), 9363);
        assert_eq!(change(|r| r.district.model = " ".into()), 9364);
    }
}
