//! Batch data on a server (decision C7): `PUT` and `GET {base}/v1/agents/{mint}/batches/{epoch}/data`.
//!
//! Nobody logs in: the server compares the bytes with the chain's commitment. `PUT` answers 201 (has it
//! now), 200 (had the same), 404 (no such batch on chain) or 422 (differs from the chain); `GET` answers 200 with
//! the bundle, or 404. Refusals are problem details ([`zx1_net::Problem`]).

use crate::batches::{check_bundle, check_form};
use crate::disk::off_the_runtime;
use crate::error::{LogError, Result};
use crate::store::{BatchStore, Put};
use std::path::Path;
use std::time::Duration;
use zx1_net::header::CONTENT_TYPE;
use zx1_net::{
    Answer, Endpoint, FetchError, Fetcher, Limit, Method, Options, Problem, RequestBuilder, Retry, StatusCode,
};
use zx1_protocol::bundle::MAX_BUNDLE_BYTES;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

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
    fetcher: Fetcher,
    retry: Retry,
}

/// What is read of the answer to an upload, whose status says all.
const RECEIPT: Limit = Limit::Prefix(0);
const BUNDLE: Limit = Limit::Whole(MAX_BUNDLE_BYTES);

impl Http {
    /// The server at this address, which may have a path.
    pub fn new(base: &str, options: HttpOptions) -> Result<Self> {
        let bad = || LogError::BadLocation(base.to_owned());
        let endpoint = Endpoint::parse(base).map_err(|_| bad())?;
        let client = Options {
            connect_timeout: options.connect_timeout,
            read_timeout: Some(options.read_timeout),
            timeout: options.total_timeout,
            user_agent: concat!("zx1-log/", env!("CARGO_PKG_VERSION")),
            ..Options::default()
        };
        let retry = Retry {
            attempts: options.attempts,
            pause: options.pause,
            longest_pause: Duration::MAX,
            within: None,
        };
        let fetcher = Fetcher::new(endpoint, client).map_err(|_| bad())?;
        Ok(Self { fetcher, retry })
    }

    fn request(&self, method: Method, agent: &AgentId, epoch: Epoch) -> RequestBuilder {
        let path = format!("/v1/agents/{}/batches/{}/data", agent, epoch.0);
        self.fetcher.request(method, &path)
    }

    /// Asks until there is an answer that asking again would not change. Both requests may be repeated: a
    /// GET changes nothing, and the same bundle twice is the same as once.
    async fn ask(&self, request: RequestBuilder, limit: Limit) -> Result<Answer> {
        let again = |error: &LogError| may_pass(error).then_some(Duration::ZERO);
        self.retry.run(|| self.ask_once(&request, limit), again).await
    }

    async fn ask_once(&self, request: &RequestBuilder, limit: Limit) -> Result<Answer> {
        let url = || self.fetcher.endpoint().to_string();
        // A body of bytes is shared between the copies; only a stream could not be copied.
        let copy = request.try_clone().ok_or_else(|| LogError::TooSlow { url: url() })?;
        let answer = self.fetcher.fetch(copy, limit).await.map_err(|error| match error {
            FetchError::TimedOut { .. } => LogError::TooSlow { url: url() },
            FetchError::TooLarge { limit } => LogError::TooLarge { limit: limit as u64 },
            error => LogError::Unreachable { url: url(), why: error.to_string() },
        })?;
        match (answer.status, limit) {
            (StatusCode::OK, _) | (StatusCode::CREATED, RECEIPT) => Ok(answer),
            _ => Err(self.refusal(&answer)),
        }
    }

    /// What a refusal means.
    fn refusal(&self, answer: &Answer) -> LogError {
        let problem = Problem::read(&answer.body);
        let sentence = problem.sentence_or("it gave no reason.");
        match answer.status {
            StatusCode::UNPROCESSABLE_ENTITY => {
                LogError::Mismatch { code: problem.code.unwrap_or_default().into(), sentence }
            }
            // A page that is not this protocol's is a wrong address, not an answer about the chain.
            StatusCode::NOT_FOUND if problem.is_told || answer.body.is_empty() => {
                LogError::NotOnChain { sentence }
            }
            status => LogError::Refused {
                url: self.fetcher.endpoint().to_string(),
                status: status.as_u16(),
                sentence,
            },
        }
    }
}

/// Whether the same request may succeed a moment later.
fn may_pass(error: &LogError) -> bool {
    match error {
        LogError::Unreachable { .. } | LogError::TooSlow { .. } => true,
        LogError::Refused { status, .. } => matches!(status, 429 | 502 | 503 | 504),
        _ => false,
    }
}

impl BatchStore for Http {
    async fn put(&self, agent: &AgentId, epoch: Epoch, bundle: &[u8]) -> Result<Put> {
        let body = own(bundle.to_vec(), *agent, epoch).await?;
        let request = self.request(Method::PUT, agent, epoch);
        let request = request.header(CONTENT_TYPE, "application/cbor").body(body);
        let answer = self.ask(request, RECEIPT).await?;
        Ok(if answer.status == StatusCode::CREATED { Put::Created } else { Put::Same })
    }

    async fn get(&self, agent: &AgentId, epoch: Epoch) -> Result<Option<Vec<u8>>> {
        let request = self.request(Method::GET, agent, epoch);
        match self.ask(request, BUNDLE).await {
            Ok(answer) => formed(answer.body).await.map(Some),
            Err(LogError::NotOnChain { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn describe(&self) -> String {
        format!("the server {}", self.fetcher.endpoint())
    }
}

/// What messages call the bytes.
const DATA: &str = "the batch's data";

/// One's own bundle, if it holds together. Hashing a million leaves takes a second, so not on the runtime.
async fn own(bundle: Vec<u8>, agent: AgentId, epoch: Epoch) -> Result<Vec<u8>> {
    let check = move || check_bundle(&bundle, &agent, epoch).map(|_| ()).map(|()| bundle);
    off_the_runtime(check, Path::new(DATA)).await
}

/// Somebody's bundle, if it has the form of one. Every record of it is parsed.
async fn formed(bundle: Vec<u8>) -> Result<Vec<u8>> {
    off_the_runtime(move || check_form(&bundle).map(|()| bundle), Path::new(DATA)).await
}
