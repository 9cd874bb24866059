//! Answers that are still true. Between two changes of the index the same question has the same answer, so a
//! page that many look at is computed once.

use super::answer::is_known;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Answers that are kept, their bytes in all, and the largest of them.
const MOST: usize = 4_096;
const MOST_BYTES: usize = 64 << 20;
const LARGEST: usize = 512 << 10;

#[derive(Debug, Clone)]
struct Kept {
    tag: HeaderValue,
    body: Bytes,
}

#[derive(Debug, Default)]
struct Pages {
    /// The change of the index that they belong to.
    stamp: u64,
    bytes: usize,
    by_question: HashMap<String, Kept>,
    /// The questions once more, to choose one of them.
    questions: Vec<String>,
    /// Drives the choice.
    turn: u64,
}

impl Pages {
    /// Makes room. Whom it strikes is left to chance: whoever asks for more pages in turn than there is room for
    /// would find none of them if the oldest had to go, or all of them.
    fn make_room(&mut self, for_bytes: usize) {
        while self.questions.len() >= MOST || self.bytes.saturating_add(for_bytes) > MOST_BYTES {
            // SplitMix64's step and the upper bits of its product.
            self.turn = self.turn.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.turn ^ (self.turn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33;
            let Some(at) = usize::try_from(mixed).ok().and_then(|it| it.checked_rem(self.questions.len()))
            else {
                return;
            };
            let question = self.questions.swap_remove(at);
            if let Some(kept) = self.by_question.remove(&question) {
                self.bytes = self.bytes.saturating_sub(kept.body.len());
            }
        }
    }

    fn insert(&mut self, question: &str, kept: Kept) {
        self.make_room(kept.body.len());
        self.bytes = self.bytes.saturating_add(kept.body.len());
        match self.by_question.insert(question.to_owned(), kept) {
            // Two asked at once.
            Some(before) => self.bytes = self.bytes.saturating_sub(before.body.len()),
            None => self.questions.push(question.to_owned()),
        }
    }
}

/// Answers that are kept until the index changes.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Pages>);

/// Whether the answer follows from the index alone.
pub(super) fn is_cacheable(method: &Method, uri: &Uri) -> bool {
    let path = uri.path();
    method == Method::GET
        && path.starts_with("/v1/")
        && !matches!(path, "/v1/stream" | "/v1/ws" | "/v1/status" | "/v1/mesh")
        && !path.ends_with("/data")
}

fn question(uri: &Uri) -> &str {
    uri.path_and_query().map_or("", |it| it.as_str())
}

impl Cache {
    /// The answer to this question, if one was given since the last change.
    pub(super) fn get(&self, stamp: u64, uri: &Uri, request: &HeaderMap) -> Option<Response> {
        let kept = {
            let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = (pages.stamp == stamp).then(|| pages.by_question.get(question(uri)))?;
            kept?.clone()
        };
        Some(answer(kept, request))
    }

    /// Keeps an answer that was computed at `stamp` or later, and passes it on.
    pub(super) async fn keep(&self, stamp: u64, uri: &Uri, response: Response) -> Response {
        let tag = response.headers().get(header::ETAG).cloned();
        let (Some(tag), StatusCode::OK) = (tag, response.status()) else { return response };
        let (parts, body) = response.into_parts();
        // What this crate answers with a tag is in memory already.
        let Ok(body) = to_bytes(body, usize::MAX).await else {
            return StatusCode::BAD_GATEWAY.into_response();
        };
        if body.len() <= LARGEST {
            let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if stamp > pages.stamp {
                *pages = Pages { stamp, turn: pages.turn, ..Pages::default() };
            }
            if stamp == pages.stamp {
                pages.insert(question(uri), Kept { tag, body: body.clone() });
            }
        }
        Response::from_parts(parts, Body::from(body))
    }
}

fn answer(kept: Kept, request: &HeaderMap) -> Response {
    let mut response = if is_known(request, kept.tag.as_bytes()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        zx1_server::answer::text(StatusCode::OK, "application/json", kept.body)
    };
    response.headers_mut().insert(header::ETAG, kept.tag);
    response
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tagged(body: &str) -> Response {
        super::super::answer::tagged(&HeaderMap::new(), body.to_owned())
    }

    async fn text(response: Response) -> String {
        String::from_utf8(to_bytes(response.into_body(), 1_000).await.unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn an_answer_is_kept_until_the_index_changes() {
        let (cache, none) = (Cache::default(), HeaderMap::new());
        let (one, other): (Uri, Uri) = ("/v1/agents?a=1".parse().unwrap(), "/v1/agents?a=2".parse().unwrap());
        assert!(cache.get(1, &one, &none).is_none());
        assert_eq!(text(cache.keep(1, &one, tagged("first")).await).await, "first");
        assert_eq!(text(cache.get(1, &one, &none).unwrap()).await, "first");
        assert!(cache.get(1, &other, &none).is_none());
        assert!(cache.get(2, &one, &none).is_none());
        // One that was asked for before the change and came after it is passed on and not kept.
        cache.keep(2, &other, tagged("second")).await;
        assert_eq!(text(cache.keep(1, &one, tagged("late")).await).await, "late");
        assert!(cache.get(2, &one, &none).is_none());
        let tag = tagged("second").headers()[header::ETAG].clone();
        let known = HeaderMap::from_iter([(header::IF_NONE_MATCH, tag)]);
        assert_eq!(cache.get(2, &other, &known).unwrap().status(), StatusCode::NOT_MODIFIED);
    }

    #[tokio::test]
    async fn more_pages_than_there_is_room_for_keep_a_part() {
        let (cache, none) = (Cache::default(), HeaderMap::new());
        let long = "x".repeat(LARGEST);
        let most = MOST_BYTES / LARGEST;
        let asked: Vec<Uri> = (0..2 * most).map(|it| format!("/v1/agents?a={it}").parse().unwrap()).collect();
        for uri in &asked {
            cache.keep(1, uri, tagged(&long)).await;
            cache.keep(1, uri, tagged(&long)).await;
            let (bytes, count) = {
                let pages = cache.0.lock().unwrap();
                assert_eq!(pages.questions.len(), pages.by_question.len());
                (pages.bytes, pages.questions.len())
            };
            assert_eq!(bytes, count * LARGEST);
            assert!(bytes <= MOST_BYTES);
            assert!(cache.get(1, uri, &none).is_some());
        }
        let first = asked[..most].iter().filter(|uri| cache.get(1, uri, &none).is_some()).count();
        assert!((1..most).contains(&first), "{first} of the first {most} are left");
        cache.keep(1, &asked[0], tagged(&"x".repeat(LARGEST + 1))).await;
        for number in 0..2 * MOST {
            cache.keep(2, &format!("/v1/agents?b={number}").parse().unwrap(), tagged("short")).await;
        }
        assert_eq!(cache.0.lock().unwrap().questions.len(), MOST);
    }

    #[test]
    fn only_what_follows_from_the_index_is_kept() {
        let is = |method: Method, path: &str| is_cacheable(&method, &path.parse().unwrap());
        assert!(is(Method::GET, "/v1/agents?limit=3"));
        for path in ["/v1/stream", "/v1/ws", "/v1/status", "/v1/agents/x/batches/1/data", "/healthz", "/"] {
            assert!(!is(Method::GET, path), "{path}");
        }
        assert!(!is(Method::PUT, "/v1/agents"));
    }
}
