//! What to read: conditions, an order and a place in it. Columns are constants, values are bound.

use solana_address::Address;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::units::MicroUsdc;

/// A value to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A 64-bit number.
    Int(i64),
    /// A UTF-8 text.
    Text(String),
    /// A byte string.
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Address> for Value {
    fn from(value: Address) -> Self {
        value.to_bytes().into()
    }
}

impl From<AgentId> for Value {
    fn from(value: AgentId) -> Self {
        value.0.into()
    }
}

impl From<ConversationId> for Value {
    fn from(value: ConversationId) -> Self {
        value.0.into()
    }
}

impl From<MicroUsdc> for Value {
    fn from(value: MicroUsdc) -> Self {
        super::signed(value.0).into()
    }
}

impl<const N: usize> From<[u8; N]> for Value {
    fn from(value: [u8; N]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

/// What a row must fulfil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// `column operator value`.
    Is(&'static str, &'static str, Value),
    /// The column is one of these; none of them fits no row.
    In(&'static str, Vec<Value>),
    /// One of two comparisons holds.
    Either([(&'static str, &'static str, Value); 2]),
    /// The column holds this text somewhere, in lower case.
    Holds(&'static str, String),
    /// A constant condition.
    Sure(&'static str),
}

/// What to read of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Find {
    /// All must hold.
    pub conditions: Vec<Condition>,
    /// Order by these, all in one direction.
    pub order: Vec<&'static str>,
    /// Whether that direction is down.
    pub descending: bool,
    /// Only what comes after the row with these values of `order`.
    pub after: Vec<Value>,
    /// Maximum number of rows.
    pub limit: Option<i64>,
}

impl Find {
    /// All rows, unordered.
    pub fn all() -> Self {
        Self::default()
    }

    /// Rows whose column has this value.
    pub fn by(column: &'static str, value: impl Into<Value>) -> Self {
        Self::all().and(column, "=", value)
    }

    /// Rows whose column has one of these values.
    pub fn any<V: Into<Value>>(column: &'static str, values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self { conditions: vec![Condition::In(column, values)], ..Self::default() }
    }

    /// One more condition. `operator` is one of `=`, `<>`, `<`, `<=`, `>`, `>=`.
    #[must_use]
    pub fn and(mut self, column: &'static str, operator: &'static str, value: impl Into<Value>) -> Self {
        self.conditions.push(Condition::Is(column, operator, value.into()));
        self
    }

    /// One of these two conditions.
    #[must_use]
    pub fn either<A: Into<Value>, B: Into<Value>>(
        mut self,
        one: (&'static str, &'static str, A),
        other: (&'static str, &'static str, B),
    ) -> Self {
        let either = [(one.0, one.1, one.2.into()), (other.0, other.1, other.2.into())];
        self.conditions.push(Condition::Either(either));
        self
    }

    /// One more condition that is a constant of the caller.
    #[must_use]
    pub fn sure(mut self, condition: &'static str) -> Self {
        self.conditions.push(Condition::Sure(condition));
        self
    }

    /// The column must hold this text, whatever the case.
    #[must_use]
    pub fn holds(mut self, column: &'static str, text: &str) -> Self {
        self.conditions.push(Condition::Holds(column, text.to_lowercase()));
        self
    }

    /// In this order, upward.
    #[must_use]
    pub fn order(mut self, columns: &[&'static str]) -> Self {
        self.order = columns.to_vec();
        self.descending = false;
        self
    }

    /// In this order, downward.
    #[must_use]
    pub fn newest(mut self, columns: &[&'static str]) -> Self {
        self.order = columns.to_vec();
        self.descending = true;
        self
    }

    /// Maximum number of rows.
    #[must_use]
    pub fn limit(mut self, limit: i64) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// A text for LIKE that finds `text` literally.
pub(super) fn pattern(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push('%');
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('%');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_a_pattern_are_searched_literally() {
        assert_eq!(pattern("50%_\\"), "%50\\%\\_\\\\%");
    }
}
