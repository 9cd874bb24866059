//! Requests to one endpoint.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use tokio::time::timeout;

use crate::{Endpoint, deepest_cause, is_public, public_addresses};

/// Most bytes of a refusal that are read. Enough to say why.
const MAX_REFUSAL: usize = 64 << 10;

/// Which proxies are used. None ever is for [this machine](Endpoint::is_this_machine).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proxies {
    /// Those of the environment: `HTTPS_PROXY`, `NO_PROXY` and the others.
    #[default]
    Environment,
    /// Never use a proxy.
    Never,
}

/// To which machines a [`Fetcher`] connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Targets {
    /// To any address, also of this machine and its networks.
    #[default]
    Any,
    /// To the public internet only ([`is_public`]), and never by a proxy, which would resolve names itself: for
    /// addresses that a stranger names.
    Public,
}

/// Time limits and habits of a [`Fetcher`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Time to connect.
    pub connect_timeout: Duration,
    /// Time for the next bytes of an answer. `None`: only `timeout` counts.
    pub read_timeout: Option<Duration>,
    /// Time for a whole exchange; of a [stream](Fetcher::open), until its headers have arrived.
    pub timeout: Duration,
    /// Which proxies are used.
    pub proxies: Proxies,
    /// To which machines it connects.
    pub targets: Targets,
    /// The `User-Agent`; empty: none is sent.
    pub user_agent: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            connect_timeout: Duration::from_secs(10),
            read_timeout: None,
            timeout: Duration::from_secs(30),
            proxies: Proxies::Environment,
            targets: Targets::Any,
            user_agent: "",
        }
    }
}

/// How much of a success is read. Of any other status at most 64 KiB are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A longer body is [`FetchError::TooLarge`].
    Whole(usize),
    /// The rest of a longer body is not read.
    Prefix(usize),
}

/// Why there is no answer. The messages do not name the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The client could not be set up, or the request could not be built.
    #[error("the HTTP client cannot be used: {why}")]
    Client {
        /// Innermost cause of the failure.
        why: String,
    },
    /// No connection. Nothing was sent.
    #[error("{why}")]
    Unreachable {
        /// The innermost cause.
        why: String,
    },
    /// The connection broke after the request, or a part of it, was sent: the server may have acted on it.
    #[error("{why}")]
    Broken {
        /// The innermost cause.
        why: String,
    },
    /// The request was sent, and the answer did not arrive in time.
    #[error("there was no complete answer within {after:?}")]
    TimedOut {
        /// Timeout that was hit.
        after: Duration,
    },
    /// The address is not one of the public internet.
    #[error("it is not an address of the public internet")]
    NotPublic,
    /// The body is longer than the caller's limit.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Resolves names to public addresses only. The connection goes to what was looked at.
struct PublicNames;

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = public_addresses(name.as_str(), 0).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// What a server answered. The status may be any, also a redirect, which is not followed.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status of the answer.
    pub status: StatusCode,
    /// Headers of the answer.
    pub headers: HeaderMap,
    /// The body, within the [`Limit`].
    pub body: Vec<u8>,
}

/// An HTTP client for one endpoint. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Fetcher {
    client: Client,
    endpoint: Endpoint,
    options: Options,
}

impl Fetcher {
    /// A client; nothing is connected yet.
    ///
    /// # Errors
    /// [`FetchError::Client`]; [`FetchError::NotPublic`] for an IP address that [`Targets::Public`] leaves out.
    pub fn new(endpoint: Endpoint, options: Options) -> Result<Fetcher, FetchError> {
        let mut client = Client::builder()
            // Whoever redirects would choose who sees the request.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(options.connect_timeout)
            .referer(false);
        if !options.user_agent.is_empty() {
            client = client.user_agent(options.user_agent);
        }
        if let Some(limit) = options.read_timeout {
            client = client.read_timeout(limit);
        }
        if endpoint.is_this_machine() || options.proxies == Proxies::Never {
            client = client.no_proxy();
        }
        if options.targets == Targets::Public {
            // Addresses are not resolved, so that nobody else would look at them.
            if endpoint.ip().is_some_and(|address| !is_public(address)) {
                return Err(FetchError::NotPublic);
            }
            client = client.no_proxy().dns_resolver(Arc::new(PublicNames));
        }
        let client = client.build().map_err(|error| FetchError::Client { why: deepest_cause(&error) })?;
        Ok(Fetcher { client, endpoint, options })
    }

    /// Where requests go.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A GET of a path below the endpoint's own.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// A request for a path below the endpoint's own; see [`Endpoint::at`].
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.endpoint.at(path))
    }

    /// A GET of the endpoint itself, with its query.
    pub fn get_endpoint(&self) -> RequestBuilder {
        self.client.get(self.endpoint.url().clone())
    }

    /// A POST to the endpoint itself, with its query.
    pub fn post_to_endpoint(&self) -> RequestBuilder {
        self.client.post(self.endpoint.url().clone())
    }

    /// Sends a request once and reads the answer.
    ///
    /// # Errors
    /// [`FetchError`]. A status of any kind is an answer.
    pub async fn fetch(&self, request: RequestBuilder, limit: Limit) -> Result<Answer, FetchError> {
        let exchange = async {
            let mut incoming = self.send(request).await?;
            let status = incoming.status();
            let body = match status.is_success() {
                true => incoming.body(limit).await?,
                // Half a refusal is better than none.
                false => incoming.body(Limit::Prefix(MAX_REFUSAL)).await.unwrap_or_default(),
            };
            Ok(incoming.into_answer(body))
        };
        self.within(exchange).await
    }

    /// Sends a request once and leaves the body to the caller, as for an event stream. Its length and its
    /// time are the caller's to limit.
    ///
    /// # Errors
    /// [`FetchError`]. A status of any kind is an answer.
    pub async fn open(&self, request: RequestBuilder) -> Result<Incoming, FetchError> {
        self.within(self.send(request)).await
    }

    /// Reads why a request that was [opened](Fetcher::open) was refused: at most 64 KiB.
    pub async fn refusal(&self, mut incoming: Incoming) -> Answer {
        let body = timeout(self.options.timeout, incoming.body(Limit::Prefix(MAX_REFUSAL))).await;
        incoming.into_answer(body.ok().and_then(Result::ok).unwrap_or_default())
    }

    async fn send(&self, request: RequestBuilder) -> Result<Incoming, FetchError> {
        let read_timeout = self.options.read_timeout.unwrap_or(self.options.timeout);
        let response = request.send().await.map_err(|error| failure(error, read_timeout))?;
        Ok(Incoming { response, read_timeout })
    }

    async fn within<T>(&self, work: impl Future<Output = Result<T, FetchError>>) -> Result<T, FetchError> {
        let after = self.options.timeout;
        timeout(after, work).await.unwrap_or(Err(FetchError::TimedOut { after }))
    }
}

/// An answer whose body has not been read.
#[derive(Debug)]
pub struct Incoming {
    response: Response,
    read_timeout: Duration,
}

impl Incoming {
    fn into_answer(mut self, body: Vec<u8>) -> Answer {
        let headers = std::mem::take(self.response.headers_mut());
        Answer { status: self.status(), headers, body }
    }

    /// HTTP status of the answer.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Headers of the answer.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The media type without its parameters, in lower case; empty when the server names none.
    pub fn media_type(&self) -> String {
        media_type(self.headers())
    }

    /// The next bytes as they arrive; `None` at the end.
    ///
    /// # Errors
    /// [`FetchError::Broken`], [`FetchError::TimedOut`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, FetchError> {
        self.response.chunk().await.map_err(|error| failure(error, self.read_timeout))
    }

    /// The body. What the server says of its length is believed only when it is too long.
    ///
    /// # Errors
    /// [`FetchError::TooLarge`], [`FetchError::Broken`], [`FetchError::TimedOut`].
    pub async fn body(&mut self, limit: Limit) -> Result<Vec<u8>, FetchError> {
        let (most, whole) = match limit {
            Limit::Whole(most) => (most, true),
            Limit::Prefix(most) => (most, false),
        };
        let too_large = FetchError::TooLarge { limit: most };
        let announced = self.response.content_length().and_then(|length| usize::try_from(length).ok());
        if whole && announced.is_some_and(|length| length > most) {
            return Err(too_large);
        }
        let mut body = Vec::new();
        loop {
            let chunk = match self.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(body),
                Err(_) if !whole => return Ok(body),
                Err(error) => return Err(error),
            };
            let room = most.saturating_sub(body.len());
            match chunk.get(..room) {
                Some(part) if chunk.len() > room => {
                    if whole {
                        return Err(too_large);
                    }
                    body.extend_from_slice(part);
                    return Ok(body);
                }
                _ => body.extend_from_slice(&chunk),
            }
        }
    }
}

impl Answer {
    /// The media type without its parameters, in lower case; empty when the server names none.
    pub fn media_type(&self) -> String {
        media_type(&self.headers)
    }
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn failure(error: reqwest::Error, read_timeout: Duration) -> FetchError {
    let error = error.without_url();
    let why = || deepest_cause(&error);
    if error.is_builder() {
        FetchError::Client { why: why() }
    } else if error.is_connect() {
        FetchError::Unreachable { why: why() }
    } else if error.is_timeout() {
        FetchError::TimedOut { after: read_timeout }
    } else {
        FetchError::Broken { why: why() }
    }
}
