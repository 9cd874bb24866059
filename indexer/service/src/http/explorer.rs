//! The explorer: static files that `build.rs` embeds. Every path that is not a route of the API is looked up
//! here.

use crate::error::Error;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use zx1_server::answer::text;

/// A file of the explorer.
struct File {
    path: &'static str,
    bytes: &'static [u8],
    /// A tag that changes with the bytes.
    tag: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/explorer.rs"));

/// Nothing but the indexer's own files and answers.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; \
    connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// A file, or 9640.
pub(super) async fn page(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let Some(file) = FILES.iter().find(|file| file.path == path) else {
        return Error::NoPage.into_response();
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Error::Method.into_response();
    }
    let known = request.headers().get(header::IF_NONE_MATCH).is_some_and(|value| value == file.tag);
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        text(StatusCode::OK, kind(file.path), file.bytes)
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, HeaderValue::from_static(file.tag));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
