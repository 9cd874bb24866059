//! Refusals on the wire: `application/problem+json` (RFC 9457), one shape for every server.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use zx1_coded::Coded;

use crate::answer::{self, Advice};

/// The media type of a refusal.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// An error that clients see.
pub trait Refused: Coded {
    /// The HTTP status.
    fn status(&self) -> u16;

    /// What a client should do; becomes a header.
    fn advice(&self) -> Advice {
        Advice::Read
    }

    /// Whether clients may read its sentence. What is wrong inside is for the operator's log.
    fn is_public(&self) -> bool {
        self.status() < 500
    }

    /// Further members of the answer.
    fn members(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// Why a request is refused (RFC 9457)
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "type": "urn:zx1:error:9400",
    "title": "No contract",
    "status": 404,
    "code": 9400,
    "name": "NoContract",
    "detail": "There is no contract 0123456789abcdef.",
    "next": "Check the id.",
}))]
pub struct Problem {
    /// identifies the kind of problem: `urn:zx1:error:` and the code
    pub r#type: String,
    /// the kind in words
    pub title: String,
    /// the HTTP status
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// stable number of the error; docs/errors.md lists all
    pub code: u32,
    /// name behind the number
    pub name: String,
    /// what is wrong, in sentences
    pub detail: String,
    /// what to do about it
    pub next: String,
    #[serde(flatten)]
    #[schema(ignore)]
    members: Map<String, Value>,
}

impl Problem {
    /// The problem that clients read of an error.
    pub fn of(error: &impl Refused) -> Problem {
        let status = error.status();
        let sentence = if error.is_public() {
            error.to_string()
        } else {
            "The server failed; try again, and tell its operator.".to_owned()
        };
        let (detail, next) = parted(&sentence);
        Problem {
            r#type: format!("urn:zx1:error:{}", error.code()),
            title: title(error.name()),
            status,
            code: error.code(),
            name: error.name().to_owned(),
            detail,
            next: next.unwrap_or_else(|| usual(status).to_owned()),
            members: error.members(),
        }
    }
}

/// The answer of an error.
pub fn refused(error: &impl Refused) -> Response {
    if !error.is_public() {
        tracing::error!(code = error.code(), %error, "a request failed");
    }
    let problem = Problem::of(error);
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = serde_json::to_string(&problem);
    let mut response =
        body.map_or_else(|_| status.into_response(), |body| answer::text(status, PROBLEM_JSON, body));
    let headers = response.headers_mut();
    match error.advice() {
        Advice::Read => {}
        Advice::Wait(seconds) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        Advice::Reconnect => {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
    response
}

/// What is wrong, and what to do: a sentence of this house says the second behind its last semicolon.
fn parted(sentence: &str) -> (String, Option<String>) {
    let is_whole = |text: &str| text.matches('`').count().is_multiple_of(2) && !text.trim().is_empty();
    match sentence.rsplit_once("; ") {
        Some((wrong, next)) if is_whole(wrong) && is_whole(next) => (full(wrong), Some(full(next))),
        _ => (full(sentence), None),
    }
}

/// A text with a capital and a full stop.
fn full(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let stop = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    first.chain(letters.as_str().chars()).chain(stop.chars()).collect()
}

/// `NoSuchPage` as `No such page`.
fn title(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
            words.extend(letter.to_lowercase());
        } else {
            words.push(letter);
        }
    }
    words
}

/// The next step where the sentence names none.
fn usual(status: u16) -> &'static str {
    match status {
        401 => "Sign the request and send it again.",
        403 => "Use a key that may do this.",
        404 => "Check the address; /openapi.json lists all.",
        409 => "Read the present state and decide again.",
        429 => "Wait, then send it again.",
        400..500 => "Correct the request; /openapi.json describes it.",
        _ => "Try again later.",
    }
}

/// A refusal by a library on the way to a handler, as of a path that is not UTF-8, has no number: this error takes its
/// place.
pub fn numbered(response: Response, error: &impl Refused) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_plain = kind.is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if response.status().is_client_error() && is_plain { refused(error) } else { response }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_parted_at_its_last_semicolon() {
        for (sentence, wrong, next) in [
            ("There is no contract x; check the id.", "There is no contract x.", Some("Check the id.")),
            (
                "the database failed (a; b); look at its log",
                "The database failed (a; b).",
                Some("Look at its log."),
            ),
            ("The field `a; b` is not known here", "The field `a; b` is not known here.", None),
            ("The log holds this text already.", "The log holds this text already.", None),
            ("; ", ";.", None),
            ("", ".", None),
        ] {
            assert_eq!(parted(sentence), (wrong.to_owned(), next.map(str::to_owned)), "{sentence}");
        }
    }

    #[test]
    fn a_name_becomes_words() {
        assert_eq!(title("NoSuchPage"), "No such page");
        assert_eq!(title("Busy"), "Busy");
    }
}
