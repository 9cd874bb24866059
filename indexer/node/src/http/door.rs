//! What every request passes: the token, the counters, and an answer for pages that are not there.

use crate::error::Error;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Instant;
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::OpenApiRouter;
use zx1_server::figures::Figures;
use zx1_server::openapi::refusing;
use zx1_server::problem::numbered;

/// Paths that need no token.
pub(crate) const OPEN: [&str; 3] = ["/healthz", "/openapi.json", "/asyncapi.json"];

/// What every route may refuse with, and that it takes the token.
pub(crate) fn refused<S: Clone + Send + Sync + 'static>(all: OpenApiRouter<S>) -> OpenApiRouter<S> {
    let mut all = refusing(all, &[400, 401, 404, 405, 408, 409, 413, 415, 429, 500, 502, 503]);
    let api = all.get_openapi_mut();
    for (path, item) in &mut api.paths.paths {
        let operations = [&mut item.get, &mut item.post, &mut item.delete];
        for operation in operations.into_iter().flatten() {
            let token = SecurityRequirement::new("token", [""; 0]);
            operation.security = (!OPEN.contains(&path.as_str())).then(|| vec![token]);
        }
    }
    all
}

/// What a local API is guarded with.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    /// The token that requests on loopback carry.
    pub(crate) token: Arc<str>,
    /// Where requests are counted.
    pub(crate) figures: Figures,
}

impl Door {
    /// These routes behind the door; with `needs_token` each request needs the token.
    pub(crate) fn guard<S: Clone + Send + Sync + 'static>(
        self,
        routes: Router<S>,
        needs_token: bool,
    ) -> Router<S> {
        let router = routes
            .fallback(async || Error::NoPage)
            .method_not_allowed_fallback(async || Error::Method)
            .layer(from_fn_with_state(self.clone(), count));
        if needs_token { router.layer(from_fn_with_state(self, token)) } else { router }
    }
}

/// Who has the token is a program of the same owner. Health and the documents are for whoever watches the process.
async fn token(State(door): State<Door>, request: Request<Body>, next: Next) -> Response {
    let open = OPEN.contains(&request.uri().path());
    let header = request.headers().get(header::AUTHORIZATION).and_then(|header| header.to_str().ok());
    let given = header.and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default();
    if open || is_same(given.as_bytes(), door.token.as_bytes()) {
        next.run(request).await
    } else {
        Error::Token.into_response()
    }
}

/// Compares in a time that tells nothing of where they differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

async fn count(State(door): State<Door>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let waits = matches!(request.uri().path(), "/v1/ws" | "/v1/signer/next");
    let response = numbered(next.run(request).await, &Error::NoPage);
    door.figures.request(response.status().as_u16());
    if !waits {
        door.figures.seconds.observe(began.elapsed().as_secs_f64());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_same() {
        assert!(is_same(b"abc", b"abc"));
        for other in [&b""[..], b"ab", b"abcd", b"abd", b"Abc"] {
            assert!(!is_same(other, b"abc"));
        }
    }
}
