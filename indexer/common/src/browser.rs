//! What browsers need: answers that pages of other origins may read, and compressed text.

use axum::http::{Extensions, HeaderMap, HeaderName, Method, StatusCode, Version, header};
use std::time::Duration;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate as _, SizeAbove};
use tower_http::cors::{Any, CorsLayer, Vary};

/// Headers of requests that pages of any origin may send, beside those of the server itself.
const SENT: [HeaderName; 4] =
    [header::ACCEPT, header::CONTENT_TYPE, header::IF_NONE_MATCH, HeaderName::from_static("last-event-id")];
/// Headers of answers that such pages may read.
const READ: [HeaderName; 5] = [
    header::DATE,
    header::ETAG,
    header::RETRY_AFTER,
    HeaderName::from_static("ratelimit"),
    HeaderName::from_static("ratelimit-policy"),
];
/// How long a browser may keep the answer to a preflight.
const KEPT: Duration = Duration::from_secs(86_400);

/// Lets pages of every origin ask with these methods and headers. Nothing here is remembered of a browser, no cookie and
/// no address that is let in: whoever asks proves itself in the request, or needs no proof.
pub fn any_origin<const M: usize>(methods: [Method; M], headers: &[HeaderName]) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(methods)
        .allow_headers(SENT.iter().chain(headers).cloned().collect::<Vec<_>>())
        .expose_headers(READ)
        .max_age(KEPT)
        .vary(Vary::list([]))
}

type IsText = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Answers shorter than this number of bytes are sent as they are.
const SHORT: u64 = 1_024;

/// Text in gzip or brotli, for whoever takes it. Event streams, bundles and pictures are left as they are.
pub fn compressed() -> CompressionLayer<And<SizeAbove, IsText>> {
    CompressionLayer::new().compress_when(SizeAbove::new(SHORT).and(is_text as IsText))
}

fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    let of = ["application/json", "application/openmetrics-text", "application/wasm", "image/svg+xml"];
    kind != "text/event-stream"
        && (kind.starts_with("text/") || kind.ends_with("+json") || of.contains(&kind))
}
