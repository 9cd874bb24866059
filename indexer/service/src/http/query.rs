//! Parameters of a query: every name must be known, so that a typing error widens no filter.

use crate::error::{Error, Result};
use axum::http::Uri;
use std::str::FromStr;
use zx1_server::query;

/// The query parameters of a request.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
}

/// The most items of a page, and how many when nothing is said.
const LIMIT: (i64, i64) = (200, 50);
/// The longest value that is looked at.
const MAX_VALUE: usize = 512;

impl Query {
    /// Reads the query. `known` are this page's names.
    ///
    /// # Errors
    ///
    /// 9631
    pub(super) fn read(uri: &Uri, known: &[&str]) -> Result<Self> {
        let mut pairs = Vec::new();
        for (name, value) in query::pairs(uri.query()) {
            let [name, value] = [name, value].map(|text| crate::store::storable(&text));
            if !known.contains(&name.as_str()) {
                return Err(Error::UnknownParameter(name.chars().take(40).collect()));
            }
            pairs.push((name, value.chars().take(MAX_VALUE).collect()));
        }
        Ok(Self { pairs })
    }

    /// The text of a parameter; when it is repeated, the first one. An empty text filters nothing.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.value(name).filter(|value| !value.is_empty())
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// An unsigned number; returns 9630 for anything else.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<u64>> {
        let bad = |_| Error::parameter(name, "it must be a whole number from 0");
        self.value(name).map(|text| text.parse().map_err(bad)).transpose()
    }

    /// A truth value: `true`, `1`, `false` or `0`; returns 9630 for anything else.
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>> {
        match self.value(name) {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(_) => Err(Error::parameter(name, "it must be true or false")),
        }
    }

    /// One of `words`; returns 9630 for anything else.
    pub(super) fn word<'w>(&self, name: &'static str, words: &[&'w str]) -> Result<Option<&'w str>> {
        let Some(text) = self.value(name) else { return Ok(None) };
        let found = words.iter().copied().find(|word| *word == text);
        let bad = || Error::parameter(name, format!("it must be one of {}", words.join(", ")));
        found.map(Some).ok_or_else(bad)
    }

    /// An agent or another address; returns 9630 for anything else.
    pub(super) fn key<T: FromStr>(&self, name: &'static str) -> Result<Option<T>> {
        let bad = |_| Error::parameter(name, "it must be an address in base58");
        self.value(name).map(|text| text.parse().map_err(bad)).transpose()
    }

    /// Number of items on a page, from 1 to 200; returns 9630 for anything else.
    pub(super) fn limit(&self) -> Result<i64> {
        let (most, usual) = LIMIT;
        match self.number("limit")? {
            None => Ok(usual),
            Some(number) => match i64::try_from(number) {
                Ok(number) if (1..=most).contains(&number) => Ok(number),
                _ => Err(Error::parameter("limit", "it must be from 1 to 200")),
            },
        }
    }

    /// Everything but cursor and limit, for the cursor's check.
    pub(super) fn filter(&self) -> String {
        let mut pairs: Vec<String> = self
            .pairs
            .iter()
            .filter(|(name, _)| name != "cursor" && name != "limit")
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.sort();
        pairs.join("&")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use zx1_protocol::ids::AgentId;

    fn read(text: &str) -> Result<Query> {
        Query::read(&Uri::builder().path_and_query(format!("/x?{text}")).build().unwrap(), &["a", "limit"])
    }

    #[test]
    fn an_unknown_name_fails() {
        assert_eq!(read("a=1&b=2").unwrap_err().code(), 9631);
        assert_eq!(read("a=1&a=2&&").unwrap().get("a"), Some("1"));
    }

    #[test]
    fn limits_outside_their_range_fail() {
        for bad in ["limit=", "limit=0", "limit=201", "limit=-1", "limit=x", "limit=99999999999999999999"] {
            assert_eq!(read(bad).unwrap().limit().unwrap_err().code(), 9630, "{bad}");
        }
        assert_eq!(read("limit=200").unwrap().limit().unwrap(), 200);
        assert_eq!(read("").unwrap().limit().unwrap(), 50);
    }

    proptest! {
        #[test]
        fn no_query_panics(text in "[ -~]{0,80}") {
            if let Ok(uri) = Uri::builder().path_and_query(format!("/x?{text}")).build()
                && let Ok(query) = Query::read(&uri, &["a", "limit"])
            {
                let _ = (query.limit(), query.key::<AgentId>("a"), query.flag("a"), query.number("a"));
                let _ = query.filter();
            }
        }
    }
}
