//! One POST of JSON with bounds: time, size, attempts; no redirect, no key in a text.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use super::{ApiKey, ConfigError, ModelError, Price};
use crate::defaults;
use zx1_scrub::neutral::one_line;

/// When to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all; at least one is made.
    pub attempts: u32,
    /// First pause; it doubles. Half of it is random.
    pub base: Duration,
    /// Longest pause, unless the server asks for more.
    pub cap: Duration,
}

impl Retry {
    /// One attempt. What the members of a pool use: the pool has other models to ask.
    pub const NEVER: Retry = Retry { attempts: 1, base: Duration::ZERO, cap: Duration::ZERO };
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { attempts: defaults::MODEL_ATTEMPTS, base: defaults::RETRY_BASE, cap: defaults::RETRY_CAP }
    }
}

/// Which proxies are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proxies {
    /// Those of the environment (`HTTPS_PROXY`, `NO_PROXY` and the others), but none to this machine itself.
    #[default]
    Environment,
    /// None.
    Never,
}

/// How a model's server is talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// Time for one answer, all attempts and pauses together.
    pub timeout: Duration,
    /// When to ask again: on 408, 429, every 5xx and when no connection can be made. A connection that
    /// breaks later is not tried again: the answer may have been paid for.
    pub retry: Retry,
    /// Longest body in bytes.
    pub max_body: usize,
    /// Proxies.
    pub proxies: Proxies,
    /// Whether a key may travel over plain http to another machine.
    pub allow_plain_key: bool,
}

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        HttpOptions {
            timeout: defaults::MODEL_TIMEOUT,
            retry: Retry::default(),
            max_body: defaults::MAX_BODY,
            proxies: Proxies::Environment,
            allow_plain_key: false,
        }
    }
}

/// What a server said of its own answer: read by the back end out of a whole body.
pub(super) type Read<T> = Result<T, ModelError>;

/// A server's address and how to post to it.
#[derive(Debug)]
pub(super) struct Transport {
    client: Client,
    url: Url,
    headers: HeaderMap,
    key: Option<ApiKey>,
    options: HttpOptions,
}

impl Transport {
    /// For one endpoint: the base URL and the path behind it. `auth` is the header that carries the key.
    pub(super) fn new(
        base: &str,
        path: &str,
        auth: (HeaderName, &str),
        key: Option<ApiKey>,
        options: HttpOptions,
    ) -> Result<Transport, ConfigError> {
        let url = endpoint(base, path)?;
        let local = is_this_machine(&url);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &key {
            if url.scheme() != "https" && !local && !options.allow_plain_key {
                return Err(ConfigError::PlainKey { host: url.host_str().unwrap_or_default().to_owned() });
            }
            headers.insert(auth.0, key.header(auth.1)?);
        }
        let mut client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(defaults::CONNECT_TIMEOUT)
            .referer(false)
            .user_agent(concat!("zx1-agent/", env!("CARGO_PKG_VERSION")));
        if local || options.proxies == Proxies::Never {
            client = client.no_proxy();
        }
        let client =
            client.build().map_err(|e| ConfigError::Client { why: one_line(&e.to_string(), 300) })?;
        Ok(Transport { client, url, headers, key, options })
    }

    /// Another header for every request.
    pub(super) fn with_header(mut self, name: &'static str, value: &'static str) -> Transport {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    pub(super) fn worst_case(&self, price: Price, request: &super::Request) -> super::Spend {
        price.worst_case(request, self.options.timeout)
    }

    /// Post until an answer could be read, an error says that asking again is of no use, or time is over.
    pub(super) async fn post<T>(&self, body: &Value, read: impl Fn(&Value) -> Read<T>) -> Read<T> {
        let bytes = body.to_string();
        let deadline = Instant::now() + self.options.timeout;
        let mut pause = self.options.retry.base;
        let mut attempt = 1;
        loop {
            let outcome = timeout_at(deadline, self.once(bytes.clone(), &read)).await;
            let error = match outcome {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => self.clean(error),
                Err(_) => return Err(ModelError::TimedOut { after: self.options.timeout }),
            };
            let Some(wait) = self.pause_before_next(&error, attempt, pause) else { return Err(error) };
            if Instant::now() + wait >= deadline {
                return Err(error);
            }
            tracing::debug!(code = error.code(), attempt, ?wait, "asking the model again");
            sleep(wait).await;
            attempt += 1;
            pause = pause.saturating_mul(2).min(self.options.retry.cap);
        }
    }

    /// How long to wait before asking again. `None`: do not.
    fn pause_before_next(&self, error: &ModelError, attempt: u32, pause: Duration) -> Option<Duration> {
        if attempt >= self.options.retry.attempts {
            return None;
        }
        match error {
            ModelError::RateLimited { retry_after } => {
                Some(retry_after.unwrap_or_default().max(jitter(pause)))
            }
            ModelError::Unavailable { .. } | ModelError::Unreachable { .. } => Some(jitter(pause)),
            _ => None,
        }
    }

    async fn once<T>(&self, body: String, read: &impl Fn(&Value) -> Read<T>) -> Read<T> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        let mut response = request.send().await.map_err(send_error)?;
        let status = response.status();
        if status.is_redirection() {
            return Err(ModelError::Redirected { status: status.as_u16() });
        }
        if status != StatusCode::OK {
            let wait = retry_after(response.headers());
            // Half a body is enough to say why.
            let (bytes, _) = read_body(&mut response, 64 << 10).await.unwrap_or_default();
            return Err(error_of(status.as_u16(), wait, &bytes));
        }
        if !is_json(response.headers()) {
            return Err(ModelError::Malformed { why: "the content type is not JSON".into() });
        }
        let limit = self.options.max_body;
        if response.content_length().is_some_and(|n| n > limit as u64) {
            return Err(ModelError::BodyTooLarge { limit });
        }
        let wait = retry_after(response.headers());
        let (bytes, whole) = read_body(&mut response, limit).await?;
        if !whole {
            return Err(ModelError::BodyTooLarge { limit });
        }
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|_| ModelError::Malformed { why: "the body is not JSON".into() })?;
        // OpenRouter answers 200 and says in the body what went wrong later.
        if let Some(error) = value.get("error").filter(|e| !e.is_null()) {
            let status = error.get("code").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
            return Err(error_of(status.filter(|s| *s >= 400).unwrap_or(502), wait, &bytes));
        }
        read(&value)
    }

    /// The error without the key in what the server said.
    fn clean(&self, mut error: ModelError) -> ModelError {
        let Some(key) = &self.key else { return error };
        match &mut error {
            ModelError::Refused { why }
            | ModelError::Malformed { why }
            | ModelError::TooLong { why }
            | ModelError::Unreachable { why }
            | ModelError::Broken { why }
            | ModelError::Unavailable { why, .. }
            | ModelError::Denied { why, .. }
            | ModelError::Rejected { why, .. } => *why = one_line(&key.remove_from(why), 300),
            _ => {}
        }
        error
    }
}

/// The URL of an endpoint. Refuses what would be printed or sent by mistake: a user, a query, a fragment.
fn endpoint(base: &str, path: &str) -> Result<Url, ConfigError> {
    let bad = |why: &str| ConfigError::Url { why: why.to_owned() };
    let url = Url::parse(base.trim()).map_err(|e| bad(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("its scheme is neither http nor https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it has a user or a password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("it has a query or a fragment"));
    }
    let mut url = url;
    let whole = format!("{}{path}", url.path().trim_end_matches('/'));
    url.set_path(&whole);
    Ok(url)
}

/// Whether the host is this machine itself.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// The body up to a bound, and whether that was all.
async fn read_body(response: &mut Response, limit: usize) -> Result<(Vec<u8>, bool), ModelError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| ModelError::Broken { why: deepest(e) })? {
        let room = limit - bytes.len();
        if chunk.len() > room {
            bytes.extend(chunk.iter().take(room));
            return Ok((bytes, false));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok((bytes, true))
}

fn send_error(error: reqwest::Error) -> ModelError {
    // A failed connection has sent nothing. Anything later may have arrived.
    if error.is_connect() || error.is_builder() {
        ModelError::Unreachable { why: deepest(error) }
    } else {
        ModelError::Broken { why: deepest(error) }
    }
}

/// The innermost reason. reqwest's own sentences name the URL, which says nothing new.
fn deepest(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut reason: &dyn std::error::Error = &error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    one_line(&reason.to_string(), 200)
}

/// What a status and a body mean. `status` is the HTTP status, or the number in a body that came with 200.
fn error_of(status: u16, retry_after: Option<Duration>, body: &[u8]) -> ModelError {
    let value: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let error = value.get("error").unwrap_or(&Value::Null);
    let text = |v: &Value| v.as_str().map(str::to_owned);
    let why = text(&error["message"])
        .or_else(|| text(error))
        .or_else(|| text(&value["message"]))
        .or_else(|| text(&value["detail"]))
        .unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    let kind = text(&error["code"]).or_else(|| text(&error["type"])).unwrap_or_default();
    let said = format!("{kind} {why}").to_ascii_lowercase();
    let why = if why.trim().is_empty() { "no reason was given".to_owned() } else { one_line(&why, 300) };
    let says = |words: &[&str]| words.iter().any(|w| said.contains(w));
    match status {
        429 => ModelError::RateLimited { retry_after },
        413 => ModelError::TooLong { why },
        400 | 422
            if says(&[
                "context_length",
                "context length",
                "maximum context",
                "context size",
                "context window",
                "prompt is too long",
                "too many tokens",
            ]) =>
        {
            ModelError::TooLong { why }
        }
        400 | 403 | 422
            if says(&["content_filter", "content_policy", "content policy", "moderation", "flagged"]) =>
        {
            ModelError::Refused { why }
        }
        401..=403 => ModelError::Denied { status, why },
        408 | 500..=599 => ModelError::Unavailable { status, why },
        400..=499 => ModelError::Rejected { status, why },
        _ => ModelError::Malformed { why: format!("the status {status}") },
    }
}

/// How long the server asks us to wait: seconds or a date, or OpenAI's milliseconds.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|t| t.parse::<u64>().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    let seconds = date.as_second().saturating_sub(jiff::Timestamp::now().as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// Half the pause, and a random part of the other half, so that many agents do not come back at once.
fn jitter(pause: Duration) -> Duration {
    let half = pause / 2;
    let random = getrandom::u32().unwrap_or(u32::MAX);
    half + half.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_that_would_leak_is_refused() {
        for bad in ["ftp://x/v1", "http://u:p@x/v1", "https://x/v1?key=1", "https://x/v1#a", "x", ""] {
            assert_eq!(endpoint(bad, "/c").unwrap_err().code(), 9330, "{bad}");
        }
        assert_eq!(endpoint("https://x/v1/", "/c").unwrap().as_str(), "https://x/v1/c");
        assert_eq!(endpoint("https://x", "/c").unwrap().as_str(), "https://x/c");
    }

    #[test]
    fn a_key_never_travels_in_the_clear_to_another_machine() {
        let auth = || (HeaderName::from_static("authorization"), "Bearer ");
        let make = |base: &str, options: HttpOptions| {
            Transport::new(base, "/c", auth(), Some(ApiKey::new("k").unwrap()), options).map(|_| ())
        };
        assert_eq!(make("http://example.org/v1", HttpOptions::default()).unwrap_err().code(), 9331);
        assert_eq!(make("http://127.0.0.1.example.org", HttpOptions::default()).unwrap_err().code(), 9331);
        for good in ["https://example.org/v1", "http://127.0.0.1:1/v1", "http://[::1]:1", "http://localhost"]
        {
            make(good, HttpOptions::default()).unwrap();
        }
        make("http://example.org", HttpOptions { allow_plain_key: true, ..HttpOptions::default() }).unwrap();
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        let with = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).unwrap());
            retry_after(&headers)
        };
        assert_eq!(with("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(with("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(with("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let soon = with("retry-after", "Fri, 31 Dec 2100 23:59:59 GMT").unwrap();
        assert!(soon > Duration::from_secs(365 * 86_400));
        for bad in ["", "soon", "-5", "99999999999999999999999"] {
            assert_eq!(with("retry-after", bad), None, "{bad}");
        }
    }

    #[test]
    fn every_status_has_its_error() {
        let code = |status, body: &str| error_of(status, None, body.as_bytes()).code();
        assert_eq!(code(429, ""), 9310);
        assert_eq!(code(500, "x"), 9319);
        assert_eq!(code(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#), 9319);
        assert_eq!(code(408, ""), 9319);
        assert_eq!(code(401, r#"{"error":{"message":"no"}}"#), 9320);
        assert_eq!(code(402, ""), 9320);
        assert_eq!(code(403, r#"{"error":{"message":"Your input was flagged"}}"#), 9312);
        assert_eq!(code(403, "no"), 9320);
        assert_eq!(code(400, r#"{"error":{"code":"context_length_exceeded","message":"m"}}"#), 9315);
        assert_eq!(code(400, r#"{"error":{"message":"prompt is too long: 210000 tokens"}}"#), 9315);
        assert_eq!(code(413, ""), 9315);
        assert_eq!(code(404, ""), 9321);
        assert_eq!(code(204, ""), 9314);
    }
}
