//! What is served: the next transaction of a text, health, metrics.

use crate::config::Limits;
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::sponsor::Sponsor;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use zx1_operator::feedback::{MAX_REQUEST, ROUTE};
use zx1_server::answer;
use zx1_server::limits::{Asked, Buckets, Client};
use zx1_server::problem::{numbered, refused};
use zx1_server::{body, browser};

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
            .method_not_allowed_fallback(async || Error::Method)
            // No page of another origin: each request costs the sponsor, whoever's browser sends it.
            .layer(axum::middleware::from_fn_with_state(self.clone(), gate))
            .layer(browser::compressed())
            .with_state(self)
    }
}

/// Every request passes here: the rate of its address, its time, its count.
async fn gate(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    let began = Instant::now();
    let client = Client::of(request.extensions(), request.headers(), &app.limits.proxies);
    let asked = client.map(|client| app.rates.ask(client));
    let mut response = match asked.map_or(Ok(()), Asked::allowed) {
        Ok(()) => numbered(next.run(request).await, &Error::NoPage),
        Err(often) => Error::from(often).into_response(),
    };
    if let Some(asked) = asked {
        asked.tell("address", response.headers_mut());
    }
    app.metrics.http.request(response.status().as_u16());
    app.metrics.http.seconds.observe(began.elapsed().as_secs_f64());
    response
}

const JSON: &str = "application/json";

async fn feedback(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    // Of no type at all a page of another origin could send one without asking (a preflight).
    if !headers.contains_key(header::CONTENT_TYPE) {
        return Err(Error::MediaType(JSON));
    }
    body::is_of(&headers, JSON)?;
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

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        refused(&self)
    }
}
