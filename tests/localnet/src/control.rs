//! The control endpoint: a small HTTP server on loopback that tells where everything is, moves the clock and
//! makes money; and its client.
//!
//! A web page must not be able to move the clock of whoever looks at it: a request with an `Origin`, or with
//! a `Host` that is not this machine's own name, is refused, and bodies must be JSON.

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::sync::Notify;
use zx1_fixtures::control::{Balance, Env, Fund, Jump, Refusal, Status};

use crate::{Localnet, LocalnetError, folder};

/// Largest request body, bytes.
const BODY_LIMIT: usize = 64 * 1024;

#[derive(Clone)]
struct Shared {
    net: Arc<Localnet>,
    stop: Arc<Notify>,
}

/// Serves until `stop` is notified, by `POST /stop` or by the caller.
pub async fn serve(
    listener: std::net::TcpListener,
    net: Arc<Localnet>,
    stop: Arc<Notify>,
) -> Result<(), LocalnetError> {
    let cluster = |why: std::io::Error| LocalnetError::Cluster(why.to_string());
    listener.set_nonblocking(true).map_err(cluster)?;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(cluster)?;
    let ended = stop.clone();
    let router = Router::new()
        .route("/env", get(env))
        .route("/status", get(status))
        .route("/time", post(time))
        .route("/fund", post(fund))
        .route("/stop", post(end))
        .fallback(async || refusal(StatusCode::NOT_FOUND, &LocalnetError::BadRequest("no such path".into())))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_LIMIT))
        .layer(middleware::from_fn(only_local_programs))
        .with_state(Shared { net, stop });
    axum::serve(listener, router)
        .with_graceful_shutdown(async move { ended.notified().await })
        .await
        .map_err(cluster)
}

async fn only_local_programs(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if request.headers().contains_key(header::ORIGIN) || !matches!(name, "127.0.0.1" | "localhost") {
        let why = "web pages and other machines are not served here".to_owned();
        return refusal(StatusCode::FORBIDDEN, &LocalnetError::BadRequest(why));
    }
    next.run(request).await
}

async fn env(State(shared): State<Shared>) -> Json<Env> {
    Json(shared.net.env().clone())
}

async fn status(State(shared): State<Shared>) -> Response {
    answer(shared.blocking(|net| Ok(net.status())).await)
}

async fn time(State(shared): State<Shared>, body: axum::body::Bytes) -> Response {
    let jump = match read::<Jump>(&body) {
        Ok(jump) => jump,
        Err(error) => return answer::<Status>(Err(error)),
    };
    answer(shared.blocking(move |net| net.jump(jump)).await)
}

async fn fund(State(shared): State<Shared>, body: axum::body::Bytes) -> Response {
    let fund = match read::<Fund>(&body).and_then(|fund| amounts(&fund)) {
        Ok(fund) => fund,
        Err(error) => return answer::<Balance>(Err(error)),
    };
    let (address, lamports, usdc) = fund;
    answer(shared.blocking(move |net| net.fund(&address, lamports, usdc)).await)
}

async fn end(State(shared): State<Shared>) -> Json<serde_json::Value> {
    // The server has one listener for this and keeps the permit if it is not waiting yet.
    shared.stop.notify_one();
    Json(serde_json::json!({}))
}

impl Shared {
    async fn blocking<T: Send + 'static>(
        self,
        work: impl FnOnce(&Localnet) -> Result<T, LocalnetError> + Send + 'static,
    ) -> Result<T, LocalnetError> {
        tokio::task::spawn_blocking(move || work(&self.net))
            .await
            .unwrap_or_else(|why| Err(LocalnetError::Cluster(why.to_string())))
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, LocalnetError> {
    serde_json::from_slice(body).map_err(|why| LocalnetError::BadRequest(why.to_string()))
}

fn answer<T: Serialize>(result: Result<T, LocalnetError>) -> Response {
    match result {
        Ok(value) => Json(value).into_response(),
        Err(error) => {
            let status = match error {
                LocalnetError::Cluster(_) | LocalnetError::StateIo { .. } => {
                    StatusCode::INTERNAL_SERVER_ERROR
                }
                LocalnetError::Transaction { .. } => StatusCode::UNPROCESSABLE_ENTITY,
                _ => StatusCode::BAD_REQUEST,
            };
            refusal(status, &error)
        }
    }
}

fn refusal(status: StatusCode, error: &LocalnetError) -> Response {
    let (code, name) = (error.code(), error.name().to_owned());
    let body = Refusal { code, name, error: error.to_string(), next: error.next().to_owned() };
    (status, Json(body)).into_response()
}

/// Address, lamports and micro-USDC of a request, whichever way it names them.
fn amounts(fund: &Fund) -> Result<(solana_address::Address, u64, u64), LocalnetError> {
    let address = fund.address.parse().map_err(|_| LocalnetError::BadAddress(fund.address.clone()))?;
    let whole = |number: &Option<Box<RawValue>>, exact: u64, decimals, names: &str| match number {
        None => Ok(exact),
        Some(_) if exact != 0 => Err(LocalnetError::BadRequest(format!("name only one of {names}"))),
        Some(number) => parse_amount(number.get(), decimals),
    };
    let lamports = whole(&fund.sol, fund.lamports, 9, "sol and lamports")?;
    let usdc = whole(&fund.usdc, fund.usdc_micro, 6, "usdc and usdc_micro")?;
    Ok((address, lamports, usdc))
}

/// A decimal number as its smallest units, exactly: `1.5` with 9 decimals is 1 500 000 000.
pub fn parse_amount(text: &str, decimals: u32) -> Result<u64, LocalnetError> {
    let bad = || LocalnetError::BadAmount(text.to_owned());
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || (text.contains('.') && part.is_empty()) {
        return Err(bad());
    }
    let width = usize::try_from(decimals).map_err(|_| bad())?;
    // Zeros behind the last place change nothing; other digits there would be lost.
    let part = part.trim_end_matches('0');
    if part.len() > width {
        return Err(bad());
    }
    format!("{whole}{part:0<width$}").parse().map_err(|_| bad())
}

/// A client of the control endpoint of another process.
#[derive(Clone, Debug)]
pub struct Client {
    url: String,
    http: reqwest::Client,
}

impl Client {
    /// A client of the endpoint at this URL.
    pub fn new(url: impl Into<String>) -> Self {
        let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).no_proxy().build();
        Self { url: url.into().trim_end_matches('/').to_owned(), http: http.unwrap_or_default() }
    }

    /// Where everything is.
    pub async fn env(&self) -> Result<Env, LocalnetError> {
        self.call(self.http.get(self.at("env"))).await
    }

    /// Where the chain stands.
    pub async fn status(&self) -> Result<Status, LocalnetError> {
        self.call(self.http.get(self.at("status"))).await
    }

    /// Moves the clock and the slot ahead.
    pub async fn jump(&self, jump: Jump) -> Result<Status, LocalnetError> {
        self.call(self.http.post(self.at("time")).json(&jump)).await
    }

    /// Adds lamports and micro-USDC to an address.
    pub async fn fund(
        &self,
        address: &str,
        lamports: u64,
        usdc_micro: u64,
    ) -> Result<Balance, LocalnetError> {
        let fund = Fund { address: address.to_owned(), lamports, usdc_micro, ..Fund::default() };
        self.call(self.http.post(self.at("fund")).json(&fund)).await
    }

    /// Ends the cluster, and waits until it is saved and its state folder is free for another one.
    pub async fn stop(&self) -> Result<(), LocalnetError> {
        let state = self.env().await?.state;
        self.call::<serde_json::Value>(self.http.post(self.at("stop"))).await?;
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        while !folder::is_free(&state) {
            if tokio::time::Instant::now() > deadline {
                return Err(LocalnetError::Cluster("it was asked to stop and still runs".into()));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.url)
    }

    async fn call<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T, LocalnetError> {
        let odd = |why: String| LocalnetError::OddAnswer(self.url.clone(), why);
        let answer = request.send().await.map_err(|why| {
            if why.is_connect() || why.is_timeout() {
                LocalnetError::NotRunning(self.url.clone())
            } else {
                odd(why.to_string())
            }
        })?;
        let good = answer.status().is_success();
        let body = answer.bytes().await.map_err(|why| odd(why.to_string()))?;
        if good {
            return serde_json::from_slice(&body).map_err(|why| odd(why.to_string()));
        }
        Err(LocalnetError::Refused(serde_json::from_slice(&body).map_err(|why| odd(why.to_string()))?))
    }
}

#[cfg(test)]
mod tests {
    use super::parse_amount;

    #[test]
    fn amounts_are_exact_ok() {
        for (text, decimals, units) in [
            ("0", 6, 0),
            ("1", 6, 1_000_000),
            ("1.5", 9, 1_500_000_000),
            ("0.000001", 6, 1),
            ("0.1000000000", 6, 100_000),
            ("18446744073709.551615", 6, u64::MAX),
        ] {
            assert_eq!(parse_amount(text, decimals).ok(), Some(units), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_fails() {
        for text in
            ["", "-1", "+1", "1e3", "1.", ".5", "0.0000001", "1,5", "18446744073709.551616", "one", "1.5.5"]
        {
            assert_eq!(parse_amount(text, 6).map_err(|error| error.code()), Err(9813), "{text}");
        }
    }
}
