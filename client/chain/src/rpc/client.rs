//! Asking a node: time-outs, retries of reads with growing pauses, and errors that say what is wrong.

use super::cluster::{Cluster, Identity};
use super::error::{ChainError, Result};
use backon::{ExponentialBuilder, Retryable};
use serde::de::DeserializeOwned;
use serde_json::Value;
use solana_commitment_config::CommitmentConfig;
use solana_rpc_client::nonblocking::rpc_client::RpcClient;
use solana_rpc_client_api::client_error::{Error as NodeError, ErrorKind};
use solana_rpc_client_api::custom_error::JSON_RPC_SERVER_ERROR_NODE_UNHEALTHY;
use solana_rpc_client_api::request::{RpcError, RpcRequest};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use zx1_coded::Coded;
use zx1_interface::accounts::Config;

/// JSON-RPC's number for a method that is not served.
const METHOD_NOT_FOUND: i64 = -32601;

/// Options of a client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// How sure an answer must be. `confirmed` is what nothing but a third of the stake could take back.
    pub commitment: CommitmentConfig,
    /// Timeout for one request.
    pub timeout: Duration,
    /// How often a read is asked in all. Sending is never repeated here: the sender does that with the same
    /// bytes.
    pub attempts: usize,
    /// The first pause between two attempts; every later one is twice as long.
    pub pause: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            commitment: CommitmentConfig::confirmed(),
            timeout: Duration::from_secs(20),
            attempts: 4,
            pause: Duration::from_millis(200),
        }
    }
}

/// A client of one cluster. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    rpc: RpcClient,
    cluster: Cluster,
    options: ClientOptions,
    identity: OnceCell<Identity>,
    config: OnceCell<Config>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("cluster", &self.inner.cluster).finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client without asking the cluster anything.
    pub fn new(cluster: Cluster, options: ClientOptions) -> Self {
        let rpc = RpcClient::new_with_timeout_and_commitment(
            cluster.url().to_owned(),
            options.timeout,
            options.commitment,
        );
        Self {
            inner: Arc::new(Inner {
                rpc,
                cluster,
                options,
                identity: OnceCell::new(),
                config: OnceCell::new(),
            }),
        }
    }

    /// The cluster that the client asks.
    pub fn cluster(&self) -> &Cluster {
        &self.inner.cluster
    }

    /// The commitment of the client's answers.
    pub fn commitment(&self) -> CommitmentConfig {
        self.inner.options.commitment
    }

    /// Which cluster that is, by its genesis; asked once.
    ///
    /// # Errors
    ///
    /// [`ChainError::WrongCluster`] when it is not the one that the moniker or URL promises.
    pub async fn identity(&self) -> Result<Identity> {
        let identity = self.inner.identity.get_or_try_init(|| async {
            let genesis: String = self.ask(RpcRequest::GetGenesisHash, Value::Null).await?;
            self.inner.cluster.check(&genesis)
        });
        identity.await.cloned()
    }

    /// The protocol's configuration, asked once: it is written once and never changes.
    ///
    /// # Errors
    ///
    /// As [`Self::config`], which asks anew.
    pub(crate) async fn known_config(&self) -> Result<Config> {
        let config = || async { self.config().await.map(|stored| stored.value) };
        self.inner.config.get_or_try_init(config).await.copied()
    }

    /// Asks a read, again after a pause where that can help. For methods that have no function of their own
    /// here; `params` are the JSON-RPC's.
    ///
    /// # Errors
    ///
    /// When the node does not answer, refuses, or answers something that is not a `T`.
    pub async fn ask<T: DeserializeOwned>(&self, request: RpcRequest, params: Value) -> Result<T> {
        let options = &self.inner.options;
        let pauses = ExponentialBuilder::default()
            .with_min_delay(options.pause)
            .with_max_times(options.attempts.saturating_sub(1))
            .with_jitter();
        (|| self.inner.rpc.send(request, params.clone()))
            .retry(pauses)
            .when(|error| self.may_help(request, error))
            .notify(|error, pause| tracing::debug!(%error, ?pause, "asking again"))
            .await
            .map_err(|error| self.explain(request, &error))
    }

    /// Whether the same read may succeed after a pause. A port of this machine on which nobody listens is a node that
    /// was not started: who waits for one asks again for itself.
    fn may_help(&self, request: RpcRequest, error: &NodeError) -> bool {
        self.explain(request, error).transient() && !(self.inner.cluster.is_local() && is_refused(error))
    }

    /// Sends the request once.
    pub(crate) async fn ask_once<T: DeserializeOwned>(
        &self,
        request: RpcRequest,
        params: Value,
    ) -> Result<T> {
        match self.inner.rpc.send(request, params).await {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.explain(request, &error)),
        }
    }

    /// An answer that came but cannot be used.
    pub(crate) fn malformed(&self, request: RpcRequest, detail: impl fmt::Display) -> ChainError {
        ChainError::Malformed {
            url: self.inner.cluster.url().to_owned(),
            method: request.as_str().to_owned(),
            detail: detail.to_string(),
        }
    }

    fn explain(&self, request: RpcRequest, error: &NodeError) -> ChainError {
        let url = self.inner.cluster.url().to_owned();
        let method = request.as_str().to_owned();
        match error.kind() {
            ErrorKind::Reqwest(error) => {
                let wrong = |detail: String| ChainError::WrongNode {
                    url: url.clone(),
                    method: method.clone(),
                    detail,
                };
                match error.status().map(|status| status.as_u16()) {
                    Some(429) => ChainError::RateLimited { url },
                    Some(status @ (500..=599 | 408)) => ChainError::Unreachable {
                        url,
                        detail: format!("it answers with HTTP status {status}"),
                    },
                    Some(status) => wrong(format!("it answers with HTTP status {status}")),
                    None if error.is_timeout() => {
                        let seconds = self.inner.options.timeout.as_secs_f32();
                        ChainError::Unreachable { url, detail: format!("nothing came within {seconds} s") }
                    }
                    None if error.is_decode() && is_no_json(error) => {
                        wrong("its answer is not JSON".to_owned())
                    }
                    None => ChainError::Unreachable { url, detail: root_cause(error) },
                }
            }
            ErrorKind::Middleware(error) => ChainError::Unreachable { url, detail: error.to_string() },
            ErrorKind::Io(error) => ChainError::Unreachable { url, detail: error.to_string() },
            ErrorKind::SerdeJson(error) => ChainError::Malformed { url, method, detail: error.to_string() },
            ErrorKind::RpcError(RpcError::RpcResponseError { code, message, .. }) => match *code {
                METHOD_NOT_FOUND => ChainError::WrongNode { url, method, detail: message.clone() },
                JSON_RPC_SERVER_ERROR_NODE_UNHEALTHY => ChainError::NodeBehind { url },
                429 | -32429 => ChainError::RateLimited { url },
                number => ChainError::NodeRefused {
                    url,
                    method,
                    number,
                    message: message.trim_end_matches('.').to_owned(),
                },
            },
            ErrorKind::RpcError(error) => ChainError::WrongNode { url, method, detail: error.to_string() },
            other => ChainError::Malformed { url, method, detail: other.to_string() },
        }
    }
}

/// Whether a whole answer came that is not JSON, and not one that broke off.
fn is_no_json(error: &dyn std::error::Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(error) = inner.downcast_ref::<serde_json::Error>() {
            return !error.is_eof();
        }
        cause = inner.source();
    }
    false
}

/// Whether nobody listened.
fn is_refused(error: &NodeError) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The innermost reason, which is the one that says something ("Connection refused").
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_node_of_this_machine_that_does_not_run_is_told_without_a_pause() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let options = ClientOptions { pause: Duration::from_secs(3_600), ..ClientOptions::default() };
        let client = Client::new(Cluster::parse(&url).unwrap(), options);
        let asked = client.ask::<u64>(RpcRequest::GetSlot, Value::Null);
        let refused =
            tokio::time::timeout(Duration::from_secs(60), asked).await.expect("no pause").unwrap_err();
        assert!(
            matches!(&refused, ChainError::Unreachable { detail, .. } if detail == "connection refused"),
            "{refused}"
        );
    }
}
