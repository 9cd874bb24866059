//! What is served: the next transaction of a text, health, metrics.

use crate::config::Limits;
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::sponsor::Sponsor;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use zx1_operator::feedback::{MAX_REQUEST, ROUTE};
use zx1_server::answer::{self, A_MOMENT, Advice};
use zx1_server::body;
use zx1_server::limits::{Buckets, Client};

/// What every handler sees.
#[derive(Clone)]
pub struct App {
    sponsor: Arc<Sponsor>,
    limits: Arc<Limits>,
    rates: Arc<Buckets<Client>>,
    permits: Arc<Semaphore>,
    metrics: Metrics,
}

impl App {
    /// The interface of this sponsor.
    pub fn new(sponsor: Sponsor, limits: Limits, metrics: Metrics) -> Self {
        Self {
            sponsor: Arc::new(sponsor),
            rates: Arc::new(Buckets::new(limits.address)),
            permits: Arc::new(Semaphore::new(limits.concurrency.min(Semaphore::MAX_PERMITS))),
            limits: Arc::new(limits),
            metrics,
        }
    }

    /// Serves all routes.
    pub fn router(self) -> Router {
        Router::new()
            .route(ROUTE, post(feedback))
            .route("/healthz", get(health))
            .route("/metrics", get(metrics))
            .fallback(async || Error::NoPage)
            .method_not_allowed_fallback(async || Error::NoPage)
            .layer(axum::middleware::from_fn_with_state(self.clone(), gate))
            .with_state(self)
    }
}

/// Every request passes here: the rate of its address, its time, its count.
async fn gate(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let client = Client::of(request.extensions(), request.headers(), &app.limits.proxies);
    let response = match client.map_or(Ok(()), |client| app.rates.take(client)) {
        Ok(()) => next.run(request).await,
        Err(often) => Error::from(often).into_response(),
    };
    app.metrics.http.request(response.status().as_u16());
    app.metrics.http.seconds.observe(began.elapsed().as_secs_f64());
    response
}

async fn feedback(State(app): State<App>, body: Body) -> Result<Response> {
    let body = body::read(body, MAX_REQUEST, app.limits.body_time()).await?;
    let request = serde_json::from_slice(&body).map_err(|error| Error::BadRequest(error.to_string()))?;
    let _permit = app.permits.try_acquire().map_err(|_| Error::Busy)?;
    let signed = tokio::time::timeout(app.limits.answer_time(), app.sponsor.next(&request)).await;
    Ok(json(&signed.map_err(|_| Error::Late)??))
}

async fn metrics(State(app): State<App>, headers: HeaderMap) -> Response {
    app.metrics.served(&headers)
}

async fn health(State(app): State<App>) -> Result<Response> {
    let lamports = app.sponsor.lamports().await?;
    Ok(json(&json!({ "sponsor": app.sponsor.address().to_string(), "lamports": lamports })))
}

fn json(value: &impl Serialize) -> Response {
    let failed = |_| StatusCode::INTERNAL_SERVER_ERROR.into_response();
    answer::json(StatusCode::OK, value).unwrap_or_else(failed)
}

/// An error on the wire. Senders show `error`.
#[derive(Serialize)]
struct Refusal {
    code: u32,
    error: String,
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let error = match &self {
            // The address of the node and what is wrong inside are the operator's.
            Self::Busy | Self::Late => self.to_string(),
            error if error.status() >= 500 => {
                tracing::error!(code = error.code(), %error, "a request failed");
                "The sponsor failed; try again, and tell its operator.".to_owned()
            }
            error => error.to_string(),
        };
        let advice = match self {
            Self::TooMany(seconds) => Advice::Wait(seconds),
            Self::Busy | Self::Late => A_MOMENT,
            Self::LargeBody(_) | Self::SlowBody => Advice::Reconnect,
            _ => Advice::Read,
        };
        answer::refusal(self.status(), &Refusal { code: self.code(), error }, advice)
    }
}
