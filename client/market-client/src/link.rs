//! One HTTP exchange with a market server: signed, bounded, never redirected.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Method, Response, Url};
use tokio::time::{sleep, timeout};
use zx1_market::chain::Head;
use zx1_market::wire::{ErrorBody, ErrorDetail};
use zx1_market::{Json, Millis, PartyKey, request};

use super::Options;
use super::error::{ClientError, Refused, Result};
use zx1_scrub::neutral::one_line;

/// What time it is for signatures.
#[derive(Clone, Default)]
pub enum Clock {
    /// The machine's.
    #[default]
    System,
    /// A function of the caller, for tests.
    Function(Arc<dyn Fn() -> Millis + Send + Sync>),
    /// The test clock of the server itself (`fix serve --test-clock`): asked before every signature.
    #[cfg(feature = "testing")]
    Server,
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Clock::System => "System",
            Clock::Function(_) => "Function",
            #[cfg(feature = "testing")]
            Clock::Server => "Server",
        })
    }
}

/// Unix milliseconds by the machine's clock.
fn system_now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A server's address and how it is talked to.
pub(super) struct Link {
    client: Client,
    url: Url,
    pub(super) options: Options,
}

impl Link {
    pub(super) fn new(base: &str, options: Options) -> Result<Link> {
        let bad = |why: &str| ClientError::Address { url: one_line(base, 200), why: why.to_owned() };
        let url = Url::parse(base.trim()).map_err(|e| bad(&e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad("it does not begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it has a user or a password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it has a query or a fragment"));
        }
        let mut client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(options.connect_timeout)
            .referer(false)
            .user_agent(concat!("zx1-agent/", env!("CARGO_PKG_VERSION")));
        if !options.proxies || is_this_machine(&url) {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|e| bad(&e.to_string()))?;
        Ok(Link { client, url, options })
    }

    /// The address without its last slash.
    pub(super) fn base(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base())
    }

    /// The path as the server sees it: behind the base's own path.
    fn signed_path(&self, path: &str) -> String {
        format!("{}{path}", self.url.path().trim_end_matches('/'))
    }

    /// The time for signatures.
    pub(super) async fn now(&self) -> Result<Millis> {
        match &self.options.clock {
            Clock::System => Ok(system_now()),
            Clock::Function(now) => Ok(now()),
            #[cfg(feature = "testing")]
            Clock::Server => {
                let call = "GET /test/clock";
                let bytes = self.exchange(Method::GET, "/test/clock", None, None).await?;
                let json = read_json(call, &bytes)?;
                let now = json.get("now_ms").and_then(Json::as_u64);
                now.map(Millis).ok_or_else(|| unreadable(call, "there is no now_ms in it"))
            }
        }
    }

    /// A GET, asked again a few times when the server or the network fails.
    pub(super) async fn get(&self, path: &str, key: Option<&PartyKey>) -> Result<Vec<u8>> {
        let mut pause = self.options.pause;
        let mut attempt = 1;
        loop {
            let error = match self.once(Method::GET, path, None, key).await {
                Ok(bytes) => return Ok(bytes),
                Err(error) => error,
            };
            let asked = match &error {
                ClientError::Refused(refused) => refused.retry_after.unwrap_or_default(),
                _ => Duration::ZERO,
            };
            if attempt >= self.options.attempts || !error.is_transient() || asked > self.options.timeout {
                return Err(error);
            }
            tracing::debug!(code = error.code(), attempt, path, "asking the market again");
            sleep(asked.max(pause)).await;
            pause = pause.saturating_mul(2);
            attempt += 1;
        }
    }

    /// One signed request, sent once.
    pub(super) async fn once(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
        key: Option<&PartyKey>,
    ) -> Result<Vec<u8>> {
        let headers = match key {
            None => None,
            Some(key) => {
                let now = self.now().await?;
                let body = body.unwrap_or_default();
                Some(request::sign(method.as_str(), &self.signed_path(path), body, now, key))
            }
        };
        self.exchange(method, path, body, headers).await
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
        headers: Option<request::SignedHeaders>,
    ) -> Result<Vec<u8>> {
        let call = format!("{method} {}", path.split('?').next().unwrap_or(path));
        let mut request = self.client.request(method, self.at(path));
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_vec());
        }
        if let Some(headers) = headers {
            request = request
                .header("X-Fix-Pubkey", headers.pubkey)
                .header("X-Fix-Signature", headers.signature)
                .header("X-Fix-Timestamp", headers.timestamp);
        }
        let max = self.options.max_body;
        let work = async {
            let mut response = request.send().await.map_err(|e| self.broken(&e))?;
            let status = response.status();
            let retry_after = retry_after(response.headers());
            let bytes = body_of(&mut response, max).await.map_err(|e| self.broken(&e))?;
            if !status.is_success() {
                let bytes = bytes.unwrap_or_default();
                return Err(refused(call.clone(), status.as_u16(), retry_after, &bytes));
            }
            bytes.ok_or_else(|| ClientError::TooLong { call: call.clone(), max })
        };
        match timeout(self.options.timeout, work).await {
            Ok(done) => done,
            Err(_) => Err(ClientError::TimedOut { call, after: self.options.timeout }),
        }
    }

    /// Open a stream. Its reader sets its own limits.
    pub(super) async fn stream(&self, path: &str, last: Option<&str>) -> Result<Response> {
        let call = format!("GET {}", path.split('?').next().unwrap_or(path));
        let mut request = self.client.get(self.at(path)).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let opened = timeout(self.options.timeout, request.send()).await;
        let mut response = match opened {
            Ok(response) => response.map_err(|e| self.broken(&e))?,
            Err(_) => return Err(ClientError::TimedOut { call, after: self.options.timeout }),
        };
        let status = response.status();
        if !status.is_success() {
            let wait = retry_after(response.headers());
            let bytes = timeout(self.options.timeout, body_of(&mut response, 64 << 10)).await;
            let bytes = bytes.ok().and_then(|read| read.ok()).flatten().unwrap_or_default();
            return Err(refused(call, status.as_u16(), wait, &bytes));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            return Err(unreadable(&call, "it is no event stream"));
        }
        Ok(response)
    }

    fn broken(&self, error: &reqwest::Error) -> ClientError {
        let mut reason: &dyn std::error::Error = error;
        while let Some(inner) = reason.source() {
            reason = inner;
        }
        ClientError::Unreachable { url: self.base().to_owned(), why: one_line(&reason.to_string(), 200) }
    }
}

/// The body, or nothing when it is longer than the bound.
async fn body_of(response: &mut Response, max: usize) -> reqwest::Result<Option<Vec<u8>>> {
    if response.content_length().is_some_and(|n| n > max as u64) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > max - bytes.len() {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(bytes))
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

/// What a refusal says. Every form of `notes/fix-wire.md` is read, and anything else is shown as it is.
fn refused(call: String, status: u16, retry_after: Option<Duration>, bytes: &[u8]) -> ClientError {
    let body = serde_json::from_slice::<ErrorBody>(bytes).ok();
    let code = body.as_ref().and_then(|body| body.code);
    let (detail, head) = match body.map(|body| body.detail) {
        Some(ErrorDetail::Text(text)) => (text, None),
        Some(ErrorDetail::Conflict { chain_head, seq, .. }) => {
            let mut hash = [0; 32];
            let head = hex::decode_to_slice(&chain_head, &mut hash).ok().map(|()| Head { seq, hash });
            ("The chain has moved on.".to_owned(), head)
        }
        // A list of fields (422), a page of a proxy, or nothing.
        None => match Json::parse(bytes).ok().as_ref().and_then(|json| json.get("detail")?.as_array()) {
            Some(items) => {
                let said = |item: &Json| item.get("msg").and_then(Json::as_str).map(str::to_owned);
                (items.iter().filter_map(said).collect::<Vec<_>>().join(" "), None)
            }
            None => (String::from_utf8_lossy(bytes.get(..300).unwrap_or(bytes)).into_owned(), None),
        },
    };
    let detail = one_line(&detail, 500);
    let detail = if detail.trim().is_empty() { "It gave no reason.".to_owned() } else { detail };
    ClientError::Refused(Box::new(Refused { status, code, detail, call, head, retry_after }))
}

/// Whether the host is this machine itself.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

pub(super) fn unreadable(call: &str, why: &str) -> ClientError {
    ClientError::Unreadable { call: call.to_owned(), why: one_line(why, 200) }
}

pub(super) fn read_json(call: &str, bytes: &[u8]) -> Result<Json> {
    Json::parse(bytes).map_err(|refusal| unreadable(call, &refusal.to_string()))
}

pub(super) fn read<T: serde::de::DeserializeOwned>(call: &str, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(call, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, body: &str) -> Refused {
        match refused("POST /x".into(), status, None, body.as_bytes()) {
            ClientError::Refused(refused) => *refused,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn every_form_of_refusal_is_read() {
        let text = of(409, r#"{"detail":"Not now.","code":9111}"#);
        assert_eq!((text.detail.as_str(), text.code, text.head), ("Not now.", Some(9111), None));
        let hash = "ab".repeat(32);
        let conflict =
            of(409, &format!(r#"{{"detail":{{"error":"chain_conflict","chain_head":"{hash}","seq":7}}}}"#));
        assert_eq!(conflict.head, Some(Head { seq: 7, hash: [0xab; 32] }));
        let list = of(422, r#"{"detail":[{"loc":["body"],"msg":"field required","type":"x"}]}"#);
        assert_eq!(list.detail, "field required");
        assert_eq!(of(502, "<html>\u{1b}[31mBad gateway").status, 502);
        assert!(!of(502, "<html>\u{1b}[31mBad gateway").detail.contains('\u{1b}'));
        assert_eq!(of(500, "").detail, "It gave no reason.");
    }

    #[test]
    fn an_address_that_cannot_be_one_is_refused() {
        for bad in ["", "fix", "ftp://x", "http://", "http://u:p@x", "http://x/?q=1", "http://x/#a"] {
            let error = Link::new(bad, Options::default()).err().map(|e| e.code());
            assert_eq!(error, Some(9368), "{bad}");
        }
        let link = Link::new("http://x/market/", Options::default()).unwrap();
        assert_eq!(link.at("/contracts"), "http://x/market/contracts");
        assert_eq!(link.signed_path("/contracts?a=1"), "/market/contracts?a=1");
    }
}
