//! GET and POST /test/clock: only with `--test-clock`, only on a loopback address. POST takes `{"now_ms": n}`
//! or `{"advance_ms": n}`; both answer `{"now_ms": n}`. The clock never goes back.

use axum::extract::{Request, State};
use axum::response::Response;
use zx1_market::{Json, Millis};

use super::App;
use super::answer::json;
use super::auth::read_body;
use crate::clock::Clock;
use crate::error::{Error, Result};

fn answer(now: Millis) -> Result<Response> {
    json(&Json::object([("now_ms", Json::from(now.0))]))
}

pub(super) async fn show(State(app): State<App>) -> Result<Response> {
    answer(app.test_clock.as_ref().ok_or(Error::NoPage)?.now())
}

pub(super) async fn set(State(app): State<App>, request: Request) -> Result<Response> {
    let body = read_body(&app, request.into_body()).await?;
    let clock = app.test_clock.as_ref().ok_or(Error::NoPage)?;
    let body = Json::parse(&body)?;
    let number = |name| body.get(name).and_then(Json::as_u64).map(Millis);
    match (number("now_ms"), number("advance_ms")) {
        (Some(now), None) => answer(clock.set(now)),
        (None, Some(span)) => answer(clock.advance(span)),
        _ => {
            let message = "Send now_ms or advance_ms, in milliseconds.".to_owned();
            Err(Error::Shape { kind: "missing", message })
        }
    }
}
