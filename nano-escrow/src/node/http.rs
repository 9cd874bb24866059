//! A node over HTTP.

use std::fmt;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{Call, NodeApi, NodeError};

/// Nodes answer in kilobytes; a long history in megabytes. More is no node.
const MAX_ANSWER: usize = 64 << 20;

/// How to talk to a node.
#[derive(Clone)]
pub struct HttpOptions {
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How often a repeatable call is repeated after no answer; `process` never is.
    pub retries: usize,
    /// The wait before the first repetition; doubles each time, with chance.
    pub first_wait: Duration,
    /// The longest wait.
    pub longest_wait: Duration,
    /// Sent as the `Authorization` header, for services that want one. Never printed.
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
    url: reqwest::Url,
    client: reqwest::Client,
    options: HttpOptions,
}

impl HttpNode {
    /// The node at `url`, such as `http://127.0.0.1:7076`. Connects to nothing yet; call
    /// [`check_network`](super::NodeCalls::check_network) first.
    pub fn new(url: &str, options: HttpOptions) -> Result<HttpNode, NodeError> {
        let wrong = |reason: String| NodeError::Url { url: url.to_owned(), reason };
        let parsed = reqwest::Url::parse(url).map_err(|e| wrong(e.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong("it begins with neither http:// nor https://".into()));
        }
        let client = reqwest::Client::builder()
            .timeout(options.timeout)
            // A node does not redirect; whoever does would see the blocks first.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|e| wrong(chain(&e)))?;
        Ok(HttpNode { url: parsed, client, options })
    }

    /// Where the node is, without a password that may be in it.
    pub fn url(&self) -> String {
        let mut url = self.url.clone();
        if url.password().is_some() {
            let _ = url.set_password(Some("hidden"));
        }
        url.to_string()
    }

    async fn once(&self, call: &Call) -> Result<Value, NodeError> {
        let action = call.action;
        let lost = |e: reqwest::Error| {
            if e.is_timeout() {
                NodeError::Timeout { action, within: self.options.timeout }
            } else {
                NodeError::Unreachable { action, reason: chain(&e.without_url()) }
            }
        };
        let mut request = self.client.post(self.url.clone()).json(&call.to_json());
        if let Some(authorization) = &self.options.authorization {
            request = request.header(reqwest::header::AUTHORIZATION, authorization);
        }
        let mut response = request.send().await.map_err(lost)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(NodeError::Unreadable {
                    action,
                    reason: format!("it is longer than {MAX_ANSWER} bytes"),
                });
            }
            body.extend_from_slice(&chunk);
        }
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

/// An error with its causes; reqwest's own text ends before it becomes interesting.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl NodeApi for HttpNode {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        Box::pin(async move {
            if !call.repeatable {
                return self.once(&call).await;
            }
            let waits = ExponentialBuilder::default()
                .with_min_delay(self.options.first_wait)
                .with_max_delay(self.options.longest_wait)
                .with_max_times(self.options.retries)
                .with_jitter();
            (|| self.once(&call))
                .retry(waits)
                .when(NodeError::is_transient)
                .notify(|error, wait| tracing::debug!(%error, ?wait, "asking the node again"))
                .await
        })
    }
}
