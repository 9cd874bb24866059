//! Notaries and ratings.

use super::App;
use super::routes::{Deal, json_of, ok, read};
use crate::error::{Error, Result};
use crate::notary::Rating;
use crate::notary::rows::Serving;
use crate::words;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use zx1_operator::node::wire::{AskNotary, ChooseNotary, Desk, Draft, Judge, Rate, Search, Serve};

/// Look for the notary of a task
///
/// Offers are collected for 30 s; then one is chosen within five minutes.
#[utoipa::path(post, path = "/v1/notary/ask", request_body = AskNotary, responses((status = 200, body = Search)))]
pub(super) async fn ask(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    let AskNotary { conversation, unit } = read(&headers, body).await?;
    ok(&app.inner.notary.ask(words::conversation(&conversation)?, &unit).await?)
}

/// Searches for notaries, by conversation
#[utoipa::path(get, path = "/v1/notary/searches", responses((status = 200, body = Vec<Search>)))]
pub(super) async fn searches(State(app): State<App>) -> Result<Response> {
    ok(&app.inner.notary.searches())
}

/// One search for a notary, with its offers
#[utoipa::path(get, path = "/v1/notary/searches/{conversation}", params(Deal), responses((status = 200, body = Search)))]
pub(super) async fn search(State(app): State<App>, Path(id): Path<String>) -> Result<Response> {
    ok(&app.inner.notary.search(words::conversation(&id)?)?)
}

/// Choose a notary among the offers
///
/// It is assigned, the other party is shown the choice, and the notary the conversation.
#[utoipa::path(post, path = "/v1/notary/choose", request_body = ChooseNotary, responses((status = 200, body = Search)))]
pub(super) async fn choose(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    let ChooseNotary { conversation, notary } = read(&headers, body).await?;
    ok(&app.inner.notary.choose(words::conversation(&conversation)?, words::agent(&notary)?).await?)
}

/// The terms under which this agent offers to be a notary
#[utoipa::path(get, path = "/v1/notary/serve", responses((status = 200, body = Option<Serve>)))]
pub(super) async fn terms(State(app): State<App>) -> Result<Response> {
    ok(&app.inner.notary.serving())
}

/// Offer to be a notary from now on, also after a restart
#[utoipa::path(post, path = "/v1/notary/serve", request_body = Serve, responses((status = 200, body = Option<Serve>)))]
pub(super) async fn serve(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    let terms: Serve = read(&headers, body).await?;
    let serving = Serving::try_from(terms).map_err(Error::BadRequest)?;
    ok(&app.inner.notary.serve(Some(serving)).await?)
}

/// Make no further offers to be a notary
///
/// Offers that were made stand.
#[utoipa::path(delete, path = "/v1/notary/serve", responses((status = 200, body = Option<Serve>)))]
pub(super) async fn stop(State(app): State<App>) -> Result<Response> {
    ok(&app.inner.notary.serve(None).await?)
}

/// Tasks of this agent as a notary, by conversation
#[utoipa::path(get, path = "/v1/notary/desks", responses((status = 200, body = Vec<Desk>)))]
pub(super) async fn desks(State(app): State<App>) -> Result<Response> {
    ok(&app.inner.notary.desks().await)
}

/// One task as a notary, with the payloads that were shown
#[utoipa::path(get, path = "/v1/notary/desks/{conversation}", params(Deal), responses((status = 200, body = Desk)))]
pub(super) async fn desk(State(app): State<App>, Path(id): Path<String>) -> Result<Response> {
    ok(&app.inner.notary.desk(words::conversation(&id)?).await?)
}

/// Give the VERDICT of a task, to both parties
#[utoipa::path(post, path = "/v1/notary/judge", request_body = Judge, responses((status = 200, body = Desk)))]
pub(super) async fn judge(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    let Judge { conversation, outcome, deliver, reason } = read(&headers, body).await?;
    let deliver = deliver.map(|deliver| words::hash(&deliver, "deliver")).transpose()?;
    ok(&app.inner.notary.judge(words::conversation(&conversation)?, outcome, deliver, &reason).await?)
}

/// Give a rating that is owed
///
/// It is on disk when the answer comes, and goes out when there are peers. The same one again is the same message.
#[utoipa::path(post, path = "/v1/rate", request_body = Rate, responses((status = 202, body = Draft)))]
pub(super) async fn rate(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    let Rate { conversation, target, score, outcome, role } = read(&headers, body).await?;
    let rating = Rating { target: words::agent(&target)?, score, outcome, role };
    let draft = app.inner.notary.rate(words::conversation(&conversation)?, rating).await?;
    json_of(StatusCode::ACCEPTED, &draft)
}
