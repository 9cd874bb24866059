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
const MOST_BYTES: usize = 32 << 20;
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
}

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Pages>);

/// Whether the answer follows from the index alone.
pub(super) fn is_cacheable(method: &Method, uri: &Uri) -> bool {
    let path = uri.path();
    method == Method::GET
        && path.starts_with("/v1/")
        && !matches!(path, "/v1/stream" | "/v1/ws" | "/v1/status")
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
            let full = pages.by_question.len() >= MOST || pages.bytes.saturating_add(body.len()) > MOST_BYTES;
            if stamp > pages.stamp || full {
                *pages = Pages { stamp: pages.stamp.max(stamp), ..Pages::default() };
            }
            if stamp == pages.stamp {
                pages.bytes = pages.bytes.saturating_add(body.len());
                pages.by_question.insert(question(uri).to_owned(), Kept { tag, body: body.clone() });
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
