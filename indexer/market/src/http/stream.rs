//! GET /contracts/stream: server-sent events (fix.md, "Events"; wire.md, "Market HTTP").

use axum::extract::{Request, State};
use axum::response::Response;
use utoipa::IntoParams;
use zx1_market::Raw;
use zx1_server::limits::Client;
use zx1_server::reader::{Desk, Reader, resumes};

use super::App;
use super::reads::{RETRY, number, parameter, query, state, streamed_states};
use crate::error::{Error, Result};
use crate::events::Wanted;

/// Parameters of the stream.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
struct StreamQuery {
    /// XNO; drops events without a bounty
    min_bounty: Option<String>,
    /// only events with this status
    #[param(schema_with = streamed_states)]
    status: Option<String>,
    /// resume after this id
    last_event_id: Option<String>,
}

/// Server-sent events of new, taken and ended contracts
///
/// From here on no event is missed; with `Last-Event-ID` none since that one.
#[utoipa::path(
    get,
    path = "/contracts/stream",
    params(
        StreamQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "resume after this id; wins over the query")
    ),
    responses((status = 200, body = String, content_type = "text/event-stream"))
)]
pub(super) async fn stream(State(app): State<App>, request: Request) -> Result<Response> {
    let query = query(request.uri().query());
    let min_bounty = match parameter(&query, "min_bounty") {
        Some(text) => Raw::from_xno(text).map_err(|_| Error::query("min_bounty", "an amount in XNO"))?,
        None => Raw::ZERO,
    };
    let status = match parameter(&query, "status") {
        Some(RETRY) => Some(RETRY.to_owned()),
        Some(word) => Some(state(word, &[RETRY])?.to_string()),
        None => None,
    };
    let since = resumes(request.headers(), parameter(&query, "last_event_id"));
    let since = number(since, "last_event_id", "the id of an event")?;
    if app.stopping.is_cancelled() {
        return Err(Error::Stopping);
    }
    let seat = app.seats.seat(request.extensions().get::<Client>().copied())?;
    let desk = Desk {
        hub: app.engine.events().clone(),
        figures: app.engine.metrics().http.clone(),
        keepalive: app.limits.keepalive(),
        stopping: app.stopping,
    };
    Ok(Reader::new(desk, Wanted { min_bounty, status }, since, seat).into_sse("the server"))
}
