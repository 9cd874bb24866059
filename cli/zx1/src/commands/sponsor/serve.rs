//! `zx1 sponsor serve`.

use super::ledger::{Caps, Charge, Ledger, Spent};
use crate::amount;
use crate::chain::Chain;
use crate::context::Context;
use crate::errors::{Error, Failure, Result};
use crate::input;
use crate::keys::Key;
use crate::output::{Page, Report};
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{ChainError, FeePolicy, Prepared, Step, is_race};
use zx1_interface::constants::MAX_FEEDBACK_BYTES;
use zx1_operator::feedback::{Answer, ROUTE, Request};
use zx1_operator::{Coded as _, Refusal};
use zx1_protocol::hash::{Keccak as _, Sha3};

/// JSON escapes a byte in six.
const MAX_BODY: usize = 6 * MAX_FEEDBACK_BYTES + 256;
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How often somebody else's entry may take the number between our reading the log and the simulation.
const MOST_RACES: u32 = 10;
/// Expired transactions that one request looks up.
const MOST_SETTLED: usize = 16;
/// Requests that are worked on at once.
const AT_ONCE: usize = 32;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8895")]
    listen: SocketAddr,
    /// Texts for each sender and day
    #[arg(long, value_name = "N", default_value_t = 5)]
    per_sender: u32,
    /// Most SOL a day, fees and rent together
    #[arg(long, value_name = "SOL", default_value = "0.1")]
    per_day: String,
}

#[derive(Serialize)]
struct Serving {
    listening: String,
    sponsor: String,
    per_sender: u32,
    per_day_lamports: u64,
}

impl Report for Serving {
    fn draw(&self, page: &mut Page) {
        page.line(format!("Sponsoring feedback at http://{} until Ctrl+C.", self.listening))
            .field("paid by", &self.sponsor)
            .field(
                "for each sender",
                format!("{} a day", crate::words::count(self.per_sender, "text", "texts")),
            )
            .field("in all", format!("{} a day", amount::sol(self.per_day_lamports)));
    }
}

struct Sponsor {
    chain: Chain,
    key: Key,
    ledger: Mutex<Ledger>,
    free: tokio::sync::Semaphore,
}

/// An error as an HTTP answer.
struct Refused(StatusCode, Failure);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self(status, failure) = self;
        let body = json!({ "code": failure.code, "error": failure.message, "next": failure.next });
        (status, Json(body)).into_response()
    }
}

impl From<ChainError> for Refused {
    fn from(error: ChainError) -> Self {
        let away = error.transient();
        let status = if away { StatusCode::BAD_GATEWAY } else { StatusCode::UNPROCESSABLE_ENTITY };
        Self(status, error.into())
    }
}

/// Converts an error of the sponsor's own record.
impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self(StatusCode::UNPROCESSABLE_ENTITY, failure)
    }
}

impl From<Spent> for Refused {
    fn from(spent: Spent) -> Self {
        match spent {
            Spent::Cap(error) => Self(StatusCode::TOO_MANY_REQUESTS, error.into()),
            Spent::Record(failure) => failure.into(),
        }
    }
}

/// An error in the sender's request.
fn bad(error: impl Into<Failure>) -> Refused {
    Refused(StatusCode::BAD_REQUEST, error.into())
}

/// What a transaction costs the payer at most: its fee and everything that it moves from the payer.
fn cost(prepared: &Prepared) -> u64 {
    let summary = prepared.summary();
    let payer = summary.payer.to_string();
    let rent =
        summary.moves.iter().filter(|moved| moved.from.to_string() == payer).map(|moved| moved.lamports());
    rent.fold(summary.fee, u64::saturating_add)
}

impl Sponsor {
    /// Gives back what was charged for transactions that did not land in their time. A request proves nothing,
    /// so anybody could use up the day's money and a sender's share by asking.
    async fn settle(&self, sender: &str, newest: u64) -> Result<()> {
        let expired = self.ledger.lock().await.expired(sender, newest, MOST_SETTLED);
        let mut fates = Vec::new();
        for text in expired {
            let Ok(signature) = text.parse() else { continue };
            // A node that cannot say leaves the charge as it is.
            if let Ok(found) = self.chain.client.find_transaction(&signature).await {
                fates.push((text, found.is_some()));
            }
        }
        self.ledger.lock().await.settle(&fates)
    }

    /// The next transaction that appends this text, signed.
    async fn next(&self, request: &Request) -> Result<Answer, Refused> {
        let sender = input::address(&request.sender, "The sender").map_err(bad)?;
        let found = request.text.len();
        if found == 0 || found > MAX_FEEDBACK_BYTES {
            return Err(bad(Refusal::FeedbackLength { found, limit: MAX_FEEDBACK_BYTES }));
        }
        if sender == self.key.address() {
            let message = "The sponsor does not sponsor itself.".to_owned();
            return Err(bad(Error::Usage { message }));
        }
        let client = &self.chain.client;
        let sati = Sati::connect(client).await?;
        let actions = Actions::new(client, &sati).await?;
        let flow = actions.feedback(sender, self.key.address(), &request.text)?;
        let mut races = 0_u32;
        let (prepared, last) = loop {
            let Step::Send { draft, last } = flow.next(client).await? else {
                let message = "The text stands already.".to_owned();
                return Err(bad(Error::Usage { message }));
            };
            let prepared = client.prepare(&draft, FeePolicy::Fixed(0), None).await?;
            match prepared.check() {
                Ok(()) => break (prepared, last),
                Err(ChainError::Refused(refusal))
                    if races < MOST_RACES && is_race(flow.as_ref(), &refusal) =>
                {
                    races = races.saturating_add(1);
                    // A node behind a balancer may be a block behind the one that simulated.
                    tokio::time::sleep(Duration::from_millis(50 << races.min(5))).await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        let mut partial = prepared.unsigned()?;
        partial.sign(&[self.key.keypair()])?;
        let last_height = partial.last_valid_block_height;
        self.settle(&request.sender, last_height).await?;
        let charge = Charge {
            signature: partial.signature().map(|signature| signature.to_string()).unwrap_or_default(),
            last_height,
            sender: request.sender.clone(),
            text_hash: hex::encode(Sha3::hashv(&[request.text.as_bytes()])),
            lamports: cost(&prepared),
        };
        let epoch = client.time().await?.epoch;
        // Before the signature leaves the house.
        self.ledger.lock().await.charge(epoch, charge)?;
        let text = partial.to_json();
        let transaction = serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text));
        Ok(Answer { transaction, last })
    }
}

async fn feedback(
    State(sponsor): State<Arc<Sponsor>>,
    request: Result<Json<Request>, JsonRejection>,
) -> Result<Json<Answer>, Refused> {
    let usage = |message: String| Failure::from(Error::Usage { message });
    let Json(request) = request.map_err(|rejection| {
        let status = rejection.status();
        Refused(status, usage(crate::errors::sentence(&rejection.body_text())))
    })?;
    let Ok(_free) = sponsor.free.try_acquire() else {
        let busy = usage("The sponsor is busy; ask again in a second.".to_owned());
        return Err(Refused(StatusCode::SERVICE_UNAVAILABLE, busy));
    };
    match tokio::time::timeout(TIMEOUT, sponsor.next(&request)).await {
        Ok(answer) => Ok(Json(answer?)),
        Err(_) => {
            let late = usage("The cluster did not answer in time; ask again.".to_owned());
            Err(Refused(StatusCode::GATEWAY_TIMEOUT, late))
        }
    }
}

async fn health(State(sponsor): State<Arc<Sponsor>>) -> Result<Json<serde_json::Value>, Refused> {
    let wallet = sponsor.key.address();
    let lamports = sponsor.chain.client.lamports(wallet).await?;
    Ok(Json(json!({ "sponsor": wallet.to_string(), "lamports": lamports })))
}

fn router(sponsor: Arc<Sponsor>) -> Router {
    Router::new()
        .route(ROUTE, post(feedback))
        .route("/healthz", get(health))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(sponsor)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let key = context.key()?;
    let per_day = amount::parse_sol(&args.per_day)?;
    let caps = Caps { per_sender: args.per_sender, per_day };
    let ledger = Ledger::open(&context.home()?.join("sponsor.json"), caps)?;
    context.wait(async {
        let chain = context.connect().await?;
        context.check_spending(&chain)?;
        let bound = TcpListener::bind(args.listen).await;
        let cannot = |error: std::io::Error| Error::CannotListen {
            address: args.listen.to_string(),
            why: crate::errors::reason(&error),
        };
        let listener = bound.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        context.print(&Serving {
            listening: address.to_string(),
            sponsor: key.address().to_string(),
            per_sender: args.per_sender,
            per_day_lamports: per_day,
        })?;
        let free = tokio::sync::Semaphore::new(AT_ONCE);
        let sponsor = Arc::new(Sponsor { chain, key, ledger: Mutex::new(ledger), free });
        axum::serve(listener, router(sponsor)).await.map_err(cannot)?;
        Ok(())
    })
}
