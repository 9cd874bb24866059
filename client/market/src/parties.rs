//! The two parties of a contract.

/// A party's side of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Side {
    /// Whose command failed.
    Principal,
    /// Who fixes it.
    Agent,
}

impl Side {
    /// The other side.
    pub const fn other(self) -> Side {
        match self {
            Side::Principal => Side::Agent,
            Side::Agent => Side::Principal,
        }
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Side::Principal => "principal",
            Side::Agent => "agent",
        }
    }

    /// From the word on the wire.
    pub fn from_word(word: &str) -> Option<Side> {
        match word {
            "principal" => Some(Side::Principal),
            "agent" => Some(Side::Agent),
            _ => None,
        }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
