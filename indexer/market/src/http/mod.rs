//! The HTTP interface (spec, "API endpoints"; `notes/fix-wire.md`; decisions E1, E4, E8, E13, E14).

mod actions;
mod answer;
mod auth;
mod limits;
pub mod openapi;
mod reads;
mod stream;
#[cfg(feature = "testing")]
mod test_clock;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio_util::sync::CancellationToken;

pub use self::limits::Limits;
pub use zx1_server::limits::Rate;
use zx1_server::limits::{Client, Seats};

#[cfg(feature = "testing")]
use crate::clock::DrivenClock;
use crate::engine::Engine;
use crate::error::Error;

/// What every handler sees.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) limits: Limits,
    pub(crate) rates: Arc<limits::Rates>,
    pub(crate) seats: Arc<Seats>,
    /// Streams end when it is cancelled.
    pub(crate) stopping: CancellationToken,
    #[cfg(feature = "testing")]
    pub(crate) test_clock: Option<DrivenClock>,
}

impl App {
    pub(crate) fn new(engine: Engine, limits: Limits, stopping: CancellationToken) -> App {
        App {
            engine,
            rates: Arc::new(limits::Rates::new(&limits)),
            seats: Seats::new(limits.streams, limits.streams_per_address),
            limits,
            stopping,
            #[cfg(feature = "testing")]
            test_clock: None,
        }
    }

    /// All routes.
    pub(crate) fn router(self) -> Router {
        let router = Router::new()
            .route("/contracts", get(reads::list).post(actions::post_contract))
            .route("/contracts/stream", get(stream::stream))
            .route("/contracts/{id}", get(reads::contract).delete(actions::cancel))
            .route("/contracts/{id}/chain_head", get(reads::chain_head))
            .route("/contracts/{id}/verify_chain", get(reads::verify_chain))
            .route("/contracts/{id}/dispute_status", get(reads::dispute_status))
            .route("/contracts/{id}/ruling", get(reads::ruling).post(actions::ruling))
            .route("/contracts/{id}/review_status", get(reads::review_status))
            .route("/contracts/{id}/escrow", get(reads::escrow))
            .route("/contracts/{id}/{action}", post(actions::action))
            .route("/judge/tasks", get(reads::judge_tasks))
            .route("/server_pubkey", get(reads::server_pubkey))
            .route("/platform_info", get(reads::platform_info))
            .route("/stats", get(reads::stats))
            .route("/reputation/{pubkey}", get(reads::reputation))
            .route("/healthz", get(reads::healthz))
            .route("/readyz", get(reads::readyz))
            .route("/metrics", get(reads::metrics))
            .route("/openapi.json", get(openapi::served));
        #[cfg(feature = "testing")]
        let router = match self.test_clock {
            Some(_) => router.route("/test/clock", get(test_clock::show).post(test_clock::set)),
            None => router,
        };
        router
            .fallback(|| async { Error::NoPage.into_response() })
            .method_not_allowed_fallback(|| async { answer::method_not_allowed() })
            .layer(axum::middleware::from_fn_with_state(self.clone(), gate))
            .with_state(self)
    }
}

/// Every request passes here: the rate of its address, its time, its count.
async fn gate(State(app): State<App>, mut request: Request<Body>, next: Next) -> Response {
    let began = std::time::Instant::now();
    let stream = request.uri().path() == "/contracts/stream";
    let client = Client::of(request.extensions(), request.headers(), &app.limits.proxies);
    if let Some(client) = client {
        request.extensions_mut().insert(client);
    }
    let response = match client.map_or(Ok(()), |client| app.rates.request(client)) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let figures = &app.engine.metrics().http;
    figures.request(response.status().as_u16());
    if !stream {
        figures.seconds.observe(began.elapsed().as_secs_f64());
    }
    response
}
