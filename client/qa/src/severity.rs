//! How bad a finding is.

/// How bad a finding is, by its word. Reporters choose it, so it is one factor of a rank and no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The triage's own summary; it is never ranked above anything.
    Meta,
    /// A finding without a word, or with one that nobody knows.
    Unknown,
    /// An annoyance to whoever meets it.
    Low,
    /// Something is wrong and can be worked around.
    Medium,
    /// Something does not work.
    High,
    /// Money or keys are in danger.
    Critical,
}

impl Severity {
    /// All, with their words and weights.
    pub const TABLE: [(Self, &'static str, u32); 6] = [
        (Self::Critical, "critical", 16),
        (Self::High, "high", 8),
        (Self::Medium, "medium", 4),
        (Self::Low, "low", 2),
        (Self::Unknown, "unknown", 1),
        (Self::Meta, "meta", 0),
    ];

    /// The severity that a word names; another word is unknown.
    pub fn of(word: &str) -> Self {
        Self::TABLE.iter().find(|row| row.1 == word).map_or(Self::Unknown, |row| row.0)
    }

    /// Its factor in a rank.
    pub fn weight(self) -> u32 {
        Self::TABLE.iter().find(|row| row.0 == self).map_or(1, |row| row.2)
    }

    /// Its word in a finding.
    pub fn word(self) -> &'static str {
        Self::TABLE.iter().find(|row| row.0 == self).map_or("unknown", |row| row.1)
    }
}
