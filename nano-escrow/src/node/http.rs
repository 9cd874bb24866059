//! A node over HTTP.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use zx1_coded::Coded as _;
use zx1_net::header::AUTHORIZATION;
use zx1_net::{Endpoint, FetchError, Fetcher, Limit, Options, Retry};

use super::{Call, NodeApi, NodeError};

/// Maximum size of an answer in bytes. Nodes answer in kilobytes; a long history takes megabytes.
const MAX_ANSWER: usize = 64 << 20;

/// Timeouts, retries and authorization for requests to a node.
#[derive(Clone)]
pub struct HttpOptions {
    /// Timeout of one attempt.
    pub timeout: Duration,
    /// Maximum number of repetitions after a call without an answer. A `process` call is never repeated.
    pub retries: usize,
    /// The wait before the first repetition; it doubles each time and is randomized.
    pub first_wait: Duration,
    /// The longest wait between two repetitions.
    pub longest_wait: Duration,
    /// Value of the `Authorization` header, for services that require one. It is never printed.
    pub authorization: Option<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            timeout: Duration::from_secs(10),
            retries: 4,
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(5),
            authorization: None,
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("first_wait", &self.first_wait)
            .field("longest_wait", &self.longest_wait)
            .field("authorization", &self.authorization.as_ref().map(|_| "hidden"))
            .finish()
    }
}

/// A Nano node's RPC. Clones share the connections.
#[derive(Debug, Clone)]
pub struct HttpNode {
    fetcher: Fetcher,
    options: HttpOptions,
}

impl HttpNode {
    /// The node at `url`, such as `http://127.0.0.1:7076`. Connects to nothing yet; call
    /// [`check_network`](super::NodeCalls::check_network) first.
    pub fn new(url: &str, options: HttpOptions) -> Result<HttpNode, NodeError> {
        let wrong = |reason: String| NodeError::Url { url: url.to_owned(), reason };
        let endpoint = Endpoint::parse_with_secrets(url).map_err(|error| wrong(error.to_string()))?;
        let client =
            Options { connect_timeout: options.timeout, timeout: options.timeout, ..Options::default() };
        let fetcher = Fetcher::new(endpoint, client).map_err(|error| wrong(error.to_string()))?;
        Ok(HttpNode { fetcher, options })
    }

    /// The node's URL without secrets that may be in it.
    pub fn url(&self) -> String {
        self.fetcher.endpoint().to_string()
    }

    async fn once(&self, call: &Call) -> Result<Value, NodeError> {
        let action = call.action;
        let mut request = self.fetcher.post_to_endpoint().json(&call.to_json());
        if let Some(authorization) = &self.options.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let answer = self.fetcher.fetch(request, Limit::Whole(MAX_ANSWER)).await;
        let answer = answer.map_err(|error| match error {
            FetchError::TimedOut { after } => NodeError::Timeout { action, within: after },
            error @ FetchError::TooLarge { .. } => {
                NodeError::Unreadable { action, reason: error.to_string() }
            }
            error => NodeError::Unreachable { action, reason: error.to_string() },
        })?;
        let (status, body) = (answer.status, answer.body);
        match serde_json::from_slice::<Value>(&body) {
            // One dialect refuses with status 200, the other with 4xx or 5xx; both have the sentence in the
            // body.
            Ok(answer) if status.is_success() || answer.get("error").is_some() => Ok(answer),
            Err(e) if status.is_success() => Err(NodeError::Unreadable { action, reason: e.to_string() }),
            _ => Err(NodeError::Http {
                action,
                status: status.as_u16(),
                text: String::from_utf8_lossy(&body).chars().take(200).collect(),
            }),
        }
    }
}

impl NodeApi for HttpNode {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        Box::pin(async move {
            if !call.repeatable {
                return self.once(&call).await;
            }
            let retry = Retry {
                attempts: u32::try_from(self.options.retries).unwrap_or(u32::MAX).saturating_add(1),
                pause: self.options.first_wait,
                longest_pause: self.options.longest_wait,
                within: None,
            };
            let again = |error: &NodeError| error.transient().then_some(Duration::ZERO);
            retry.run(|| self.once(&call), again).await
        })
    }
}
