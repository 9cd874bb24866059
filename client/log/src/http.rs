//! Batch data on a server (decision C7): `PUT` and `GET {base}/v1/agents/{mint}/batches/{epoch}/data`.
//!
//! Nobody logs in: the server compares the bytes with the chain's commitment. `PUT` answers 201 (has it
//! now), 200 (had the same), 404 (no such batch on chain) or 422 with `{"code": N, "error": "sentence"}`
//! (differs from the chain); `GET` answers 200 with the bundle, or 404.

use crate::batches::{check_bundle, check_form};
use crate::error::{LogError, Result};
use crate::layout::base58;
use crate::store::{BatchStore, Put, off_the_runtime};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use zx1_protocol::bundle::MAX_BUNDLE_BYTES;
use zx1_protocol::units::Epoch;

/// Most bytes of an error's body that are read, and characters of it that are shown.
const MAX_ERROR_BYTES: usize = 4096;
const MAX_SENTENCE: usize = 300;

/// How long to wait and how often to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// For a connection.
    pub connect_timeout: Duration,
    /// For the next bytes of an answer.
    pub read_timeout: Duration,
    /// For a whole request, sending included. A bundle has up to 131 MB.
    pub total_timeout: Duration,
    /// Requests in all, the first included.
    pub attempts: u32,
    /// Before the second request; twice as long before each further one.
    pub pause: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(300),
            attempts: 3,
            pause: Duration::from_millis(500),
        }
    }
}

/// A server that serves batch data.
#[derive(Clone, Debug)]
pub struct Http {
    client: Client,
    base: Url,
    options: HttpOptions,
}

/// What a request is for.
#[derive(Clone, Copy)]
enum Want {
    Receipt,
    Bundle,
}

/// What the server says with a refusal.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    code: u64,
    error: String,
}

impl Http {
    /// The server at this address, which may have a path.
    pub fn new(base: &str, options: HttpOptions) -> Result<Self> {
        let bad = || LogError::BadLocation(base.to_owned());
        let base = Url::parse(base.trim_end_matches('/')).map_err(|_| bad())?;
        let plain = base.query().is_none() && base.fragment().is_none() && base.has_host();
        if !plain || !matches!(base.scheme(), "http" | "https") {
            return Err(bad());
        }
        let client = Client::builder()
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.read_timeout)
            .timeout(options.total_timeout)
            // A bundle goes to the server that the user named, and to no other.
            .redirect(Policy::none())
            .user_agent(concat!("zx1-log/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failure(&base, &error))?;
        Ok(Self { client, base, options })
    }

    fn url(&self, agent: &[u8; 32], epoch: Epoch) -> Result<Url> {
        let mut url = self.base.clone();
        let epoch = epoch.0.to_string();
        let agent = base58(agent);
        url.path_segments_mut()
            .map_err(|()| LogError::BadLocation(self.base.to_string()))?
            .pop_if_empty()
            .extend(["v1", "agents", &agent, "batches", &epoch, "data"]);
        Ok(url)
    }

    /// Asks until there is an answer that asking again would not change. Both requests may be repeated: a
    /// GET changes nothing, and the same bundle twice is the same as once.
    async fn ask(&self, request: RequestBuilder, want: Want) -> Result<(StatusCode, Vec<u8>)> {
        let (mut pause, mut left) = (self.options.pause, self.options.attempts.max(1));
        loop {
            left = left.saturating_sub(1);
            // A body of bytes is shared between the copies; only a stream could not be copied.
            let copy = request.try_clone().ok_or_else(|| LogError::TooSlow { url: self.base.to_string() })?;
            match self.ask_once(copy, want).await {
                Err(error) if left > 0 && may_pass(&error) => {
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(2);
                }
                answer => return answer,
            }
        }
    }

    async fn ask_once(&self, request: RequestBuilder, want: Want) -> Result<(StatusCode, Vec<u8>)> {
        let response = request.send().await.map_err(|error| failure(&self.base, &error))?;
        match (response.status(), want) {
            (StatusCode::OK, Want::Bundle) => Ok((StatusCode::OK, self.body(response).await?)),
            (status @ (StatusCode::OK | StatusCode::CREATED), Want::Receipt) => Ok((status, Vec::new())),
            _ => Err(self.refusal(response).await),
        }
    }

    /// The body of a success, as long as it is no longer than a bundle can be.
    async fn body(&self, mut response: Response) -> Result<Vec<u8>> {
        let too_large = || LogError::TooLarge { limit: MAX_BUNDLE_BYTES as u64 };
        if response.content_length().is_some_and(|len| len > MAX_BUNDLE_BYTES as u64) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| failure(&self.base, &error))? {
            if part.len() > MAX_BUNDLE_BYTES.saturating_sub(body.len()) {
                return Err(too_large());
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    /// What a refusal means. Its body is the server's, so it is cut and cleaned before it is shown.
    async fn refusal(&self, mut response: Response) -> LogError {
        let status = response.status();
        let mut body = Vec::new();
        while body.len() < MAX_ERROR_BYTES {
            let Ok(Some(part)) = response.chunk().await else { break };
            body.extend_from_slice(&part);
        }
        body.truncate(MAX_ERROR_BYTES);
        let said: Option<Refusal> = serde_json::from_slice(&body).ok();
        let sentence = match &said {
            Some(said) if !said.error.is_empty() => clean(&said.error),
            _ => clean(&String::from_utf8_lossy(&body)),
        };
        let sentence = if sentence.is_empty() { "it gave no reason.".to_owned() } else { sentence };
        match status {
            StatusCode::UNPROCESSABLE_ENTITY => {
                LogError::Mismatch { code: said.map_or(0, |said| said.code), sentence }
            }
            // A page that is not this protocol's is a wrong address, not an answer about the chain.
            StatusCode::NOT_FOUND if said.is_some() || body.is_empty() => LogError::NotOnChain { sentence },
            _ => LogError::Refused { url: self.base.to_string(), status: status.as_u16(), sentence },
        }
    }
}

fn failure(base: &Url, error: &reqwest::Error) -> LogError {
    let url = base.to_string();
    if error.is_timeout() {
        return LogError::TooSlow { url };
    }
    // The innermost cause says most; the outer ones repeat the address.
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    LogError::Unreachable { url, why: clean(&cause.to_string()) }
}

/// Whether the same request may succeed a moment later.
fn may_pass(error: &LogError) -> bool {
    match error {
        LogError::Unreachable { .. } | LogError::TooSlow { .. } => true,
        LogError::Refused { status, .. } => matches!(status, 429 | 502 | 503 | 504),
        _ => false,
    }
}

/// One line without control characters, not too long: a server must not write to the user's terminal.
fn clean(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.trim().chars().take(MAX_SENTENCE).collect()
}

impl BatchStore for Http {
    async fn put(&self, agent: &[u8; 32], epoch: Epoch, bundle: &[u8]) -> Result<Put> {
        let url = self.url(agent, epoch)?;
        let body = own(bundle.to_vec(), *agent, epoch).await?;
        let request = self.client.put(url).header(CONTENT_TYPE, "application/cbor").body(body);
        let (status, _) = self.ask(request, Want::Receipt).await?;
        Ok(if status == StatusCode::CREATED { Put::Created } else { Put::Same })
    }

    async fn get(&self, agent: &[u8; 32], epoch: Epoch) -> Result<Option<Vec<u8>>> {
        let request = self.client.get(self.url(agent, epoch)?);
        match self.ask(request, Want::Bundle).await {
            Ok((_, body)) => formed(body).await.map(Some),
            Err(LogError::NotOnChain { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn describe(&self) -> String {
        format!("the server {}", self.base)
    }
}

/// What messages call the bytes.
const DATA: &str = "the batch's data";

/// One's own bundle, if it holds together. Hashing a million leaves takes a second, so not on the runtime.
async fn own(bundle: Vec<u8>, agent: [u8; 32], epoch: Epoch) -> Result<Vec<u8>> {
    let check = move || check_bundle(&bundle, &agent, epoch).map(|_| ()).map(|()| bundle);
    off_the_runtime(check, Path::new(DATA)).await
}

/// Somebody's bundle, if it has the form of one. Every record of it is parsed.
async fn formed(bundle: Vec<u8>) -> Result<Vec<u8>> {
    off_the_runtime(move || check_form(&bundle).map(|()| bundle), Path::new(DATA)).await
}
