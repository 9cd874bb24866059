//! Why a server refuses: `application/problem+json` (RFC 9457), and the shapes before it.

use serde_json::{Map, Value};

use crate::text::one_line;

/// The media type of a refusal.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Longest detail and next step that are kept, in characters.
const LONGEST: usize = 500;

/// What a refusal says. It is a stranger's text: cut, and without control characters.
///
/// Beside problem details these are read: `{"detail": text}`, a `detail` that is an object (its fields become members)
/// or a list of `msg`, `{"error": text}`, and any other text, as a proxy sends it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Problem {
    /// The server's number of the error.
    pub code: Option<u32>,
    /// The name behind the number.
    pub name: Option<String>,
    /// What is wrong; empty when the server gives no reason.
    pub detail: String,
    /// What to do about it.
    pub next: Option<String>,
    /// Whether the body was a JSON object with a reason in it.
    pub is_told: bool,
    /// All other members.
    pub members: Map<String, Value>,
}

impl Problem {
    /// Reads the body of a refusal.
    pub fn read(body: &[u8]) -> Problem {
        let Ok(Value::Object(mut members)) = serde_json::from_slice(body) else {
            let text = String::from_utf8_lossy(body.get(..LONGEST).unwrap_or(body));
            return Problem { detail: one_line(&text, LONGEST), ..Problem::default() };
        };
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(|text| one_line(text, LONGEST));
        let mut problem = Problem {
            code: members.get("code").and_then(Value::as_u64).and_then(|code| u32::try_from(code).ok()),
            name: text(members.get("name")),
            next: text(members.get("next")).filter(|next| !next.is_empty()),
            ..Problem::default()
        };
        let detail = match members.remove("detail") {
            Some(Value::Object(inner)) => {
                let word = text(inner.get("error"));
                members.extend(inner);
                word
            }
            Some(Value::Array(items)) => {
                let said = items.iter().filter_map(|item| item.get("msg").and_then(Value::as_str));
                Some(one_line(&said.collect::<Vec<_>>().join(" "), LONGEST))
            }
            detail => text(detail.as_ref()),
        };
        let detail = detail.or_else(|| text(members.get("error"))).filter(|detail| !detail.is_empty());
        problem.is_told = detail.is_some();
        problem.detail = detail.unwrap_or_default();
        problem.members = members;
        problem
    }

    /// Detail and next step in one text, or this one when the server gives no reason.
    pub fn sentence_or(&self, none: &str) -> String {
        match (&self.detail, &self.next) {
            (detail, None) if detail.is_empty() => none.to_owned(),
            (detail, None) => detail.clone(),
            (detail, Some(next)) => format!("{detail} {next}").trim().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_details_are_read() {
        let told = Problem::read(
            br#"{"type":"urn:zx1:error:9050","title":"Chain conflict","status":409,"code":9050,"name":"ChainConflict",
                "detail":"The chain has moved on to seq 7.","next":"Fetch the chain head.","seq":7}"#,
        );
        assert_eq!((told.code, told.name.as_deref()), (Some(9050), Some("ChainConflict")));
        assert_eq!(told.sentence_or("-"), "The chain has moved on to seq 7. Fetch the chain head.");
        assert_eq!((told.is_told, &told.members["seq"]), (true, &Value::from(7)));
    }

    #[test]
    fn the_shapes_before_it_are_read() {
        let of = |body: &str| Problem::read(body.as_bytes());
        let text = of(r#"{"detail":"Not now.","code":9111}"#);
        assert_eq!((text.sentence_or("-").as_str(), text.code), ("Not now.", Some(9111)));
        let conflict = of(r#"{"detail":{"error":"chain_conflict","chain_head":"ab","seq":7}}"#);
        assert_eq!((conflict.detail.as_str(), &conflict.members["seq"]), ("chain_conflict", &Value::from(7)));
        assert_eq!(of(r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#).detail, "field required");
        assert_eq!(of(r#"{"code":9123,"error":"The root differs."}"#).detail, "The root differs.");
    }

    #[test]
    fn what_says_nothing_is_no_reason() {
        for body in ["", "{}", r#"{"detail":7}"#, r#"{"detail":"","code":-1}"#] {
            let told = Problem::read(body.as_bytes());
            assert_eq!((told.sentence_or("none").as_str(), told.code, told.is_told), ("none", None, false));
        }
        let page = Problem::read(b"<html>\x1b[31mBad gateway");
        assert_eq!((page.detail.as_str(), page.is_told), ("<html> [31mBad gateway", false));
    }

    #[test]
    fn a_long_or_hostile_text_is_cut_and_cleaned() {
        let body = format!(r#"{{"detail":"a\u001b[2J{}","next":"b\u202ec"}}"#, "x".repeat(5_000));
        let told = Problem::read(body.as_bytes());
        assert_eq!(told.detail.chars().count(), LONGEST);
        assert!(!told.sentence_or("").contains(['\u{1b}', '\u{202e}']), "{told:?}");
    }
}
