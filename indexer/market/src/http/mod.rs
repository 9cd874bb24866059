//! The HTTP interface (fix.md, "API"; wire.md, "Market HTTP"; decisions E1, E4, E8, E13, E14).

mod actions;
mod answer;
mod auth;
mod limits;
mod long;
pub mod openapi;
mod reads;
mod stream;
#[cfg(feature = "testing")]
mod test_clock;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use zx1_market::wire::ACTIONS;

pub use self::limits::Limits;
use zx1_server::browser;
pub use zx1_server::limits::Rate;
use zx1_server::limits::{Asked, Client, Seats};
use zx1_server::problem::numbered;

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
    pub(crate) unsent: Arc<long::Unsent>,
    /// Whether /metrics has an address of its own.
    pub(crate) metrics_elsewhere: bool,
    /// Streams end when it is cancelled.
    pub(crate) stopping: CancellationToken,
    #[cfg(feature = "testing")]
    pub(crate) test_clock: Option<DrivenClock>,
}

impl App {
    pub(crate) fn new(engine: Engine, limits: Limits, stopping: CancellationToken) -> App {
        let unsent = long::Unsent::new(&limits, engine.metrics().clone());
        App {
            engine,
            unsent,
            rates: Arc::new(limits::Rates::new(&limits)),
            seats: Seats::new(limits.streams, limits.streams_per_address),
            limits,
            metrics_elsewhere: false,
            stopping,
            #[cfg(feature = "testing")]
            test_clock: None,
        }
    }

    /// Serves all routes.
    pub(crate) fn router(self) -> Router {
        let router = Router::from(routes());
        #[cfg(feature = "testing")]
        let router = match self.test_clock {
            Some(_) => router.route("/test/clock", get(test_clock::show).post(test_clock::set)),
            None => router,
        };
        router
            .fallback(|| async { Error::NoPage.into_response() })
            .method_not_allowed_fallback(|| async { Error::Method.into_response() })
            .layer(axum::middleware::from_fn_with_state(self.clone(), gate))
            .layer(browser::compressed())
            // A request is signed for this server and by no cookie, so a page of another origin can send only what its
            // reader's key signs.
            .layer(browser::any_origin([Method::GET, Method::HEAD, Method::POST, Method::DELETE], &SIGNED))
            .with_state(self)
    }
}

/// Headers of a signed request, and of one that has worked for its post.
const SIGNED: [HeaderName; 5] = [
    HeaderName::from_static("x-fix-auth"),
    HeaderName::from_static("x-fix-pubkey"),
    HeaderName::from_static("x-fix-signature"),
    HeaderName::from_static("x-fix-timestamp"),
    HeaderName::from_static("x-fix-work"),
];

/// Only /metrics, for an address of its own.
pub(crate) fn metrics_router(engine: Engine) -> Router {
    let figures = async move |headers: HeaderMap| engine.figures(&headers);
    Router::new().route("/metrics", get(figures))
}

/// The routes with their description.
fn routes() -> OpenApiRouter<App> {
    let open = OpenApiRouter::new()
        .routes(routes!(stream::stream))
        .routes(routes!(reads::server_pubkey))
        .routes(routes!(reads::platform_info))
        .routes(routes!(reads::stats))
        .routes(routes!(reads::reputation))
        .routes(routes!(reads::healthz))
        .routes(routes!(reads::readyz))
        .routes(routes!(reads::metrics))
        .routes(routes!(openapi::served));
    let readers = OpenApiRouter::new()
        .routes(routes!(reads::list))
        .routes(routes!(reads::contract))
        .routes(routes!(reads::chain_head))
        .routes(routes!(reads::verify_chain))
        .routes(routes!(reads::dispute_status))
        .routes(routes!(reads::ruling))
        .routes(routes!(reads::review_status))
        .routes(routes!(reads::escrow));
    let judges = OpenApiRouter::new().routes(routes!(reads::judge_tasks));
    let described = |action| openapi::described(action, actions::handler(action));
    let actions = ACTIONS.iter().fold(OpenApiRouter::new(), |all, action| all.routes(described(*action)));
    OpenApiRouter::with_openapi(openapi::base())
        .merge(openapi::open(open))
        .merge(openapi::readers(readers))
        .merge(openapi::judges(judges))
        .merge(openapi::actions(actions))
}

/// Every request passes here: the rate of its address, its time, its count.
async fn gate(State(app): State<App>, mut request: Request<Body>, next: Next) -> Response {
    let began = std::time::Instant::now();
    let stream = request.uri().path() == "/contracts/stream";
    let client = Client::of(request.extensions(), request.headers(), &app.limits.proxies);
    if let Some(client) = client {
        request.extensions_mut().insert(client);
    }
    let asked = client.map(|client| app.rates.request(client));
    let response = match asked.map_or(Ok(()), Asked::allowed) {
        Ok(()) => numbered(next.run(request).await, &Error::NoPage),
        Err(often) => Error::from(often).into_response(),
    };
    let mut response = if app.engine.terms().compat { answer::as_older(response) } else { response };
    if let Some(asked) = asked {
        asked.tell("address", response.headers_mut());
    }
    let figures = &app.engine.metrics().http;
    figures.request(response.status().as_u16());
    if !stream {
        figures.seconds.observe(began.elapsed().as_secs_f64());
    }
    response
}
