//! Who asks (decision E1), and the body, within its bounds of size and time.

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use zx1_market::PartyId;
use zx1_market::request::{self, Authenticated};
use zx1_server::body;

use super::App;
use crate::error::Result;

/// Reads the body of a request, up to the configured size and within the configured time.
pub(crate) async fn read_body(app: &App, request: Body) -> Result<Bytes> {
    Ok(body::read(request, app.limits.body_bytes, app.limits.body_time()).await?)
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Check the request's signature. Fails with 401.
pub(crate) fn signed(app: &App, parts: &Parts, body: &[u8]) -> Result<Authenticated> {
    let path = parts.uri.path_and_query().map_or_else(|| parts.uri.path(), |path| path.as_str());
    let request = request::Request {
        method: parts.method.as_str(),
        path,
        body,
        auth: header(&parts.headers, "x-fix-auth"),
        pubkey: header(&parts.headers, "x-fix-pubkey"),
        signature: header(&parts.headers, "x-fix-signature"),
        timestamp: header(&parts.headers, "x-fix-timestamp"),
    };
    let terms = app.engine.terms();
    let who = request::authenticate(&request, &terms.server, app.engine.now(), terms.compat)?;
    app.rates.party(&who.party)?;
    Ok(who)
}

/// Who reads, if the request is signed. A signature that does not hold is refused.
pub(crate) fn reader(app: &App, parts: &Parts) -> Result<Option<PartyId>> {
    if !parts.headers.contains_key("x-fix-signature") {
        return Ok(None);
    }
    Ok(Some(signed(app, parts, b"")?.party))
}
