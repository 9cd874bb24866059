//! One POST of JSON with bounds: time, size, attempts; no redirect, no key in a text.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use zx1_net::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use zx1_net::{Endpoint, EndpointError, FetchError, Fetcher, Limit, Proxies, Retry, StatusCode, retry_after};
use zx1_scrub::neutral::one_line;

use super::{ApiKey, ConfigError, ModelError, Price};
use crate::defaults;

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
    /// The proxies that requests to the model go through.
    pub proxies: Proxies,
    /// Whether a key may travel over plain http to another machine.
    pub allow_plain_key: bool,
}

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        HttpOptions {
            timeout: defaults::MODEL_TIMEOUT,
            retry: defaults::RETRY,
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
    fetcher: Fetcher,
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
        let endpoint = endpoint(base, path)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &key {
            if !endpoint.is_https() && !endpoint.is_this_machine() && !options.allow_plain_key {
                return Err(ConfigError::PlainKey { host: endpoint.host().to_owned() });
            }
            headers.insert(auth.0, key.header(auth.1)?);
        }
        let client = zx1_net::Options {
            connect_timeout: defaults::CONNECT_TIMEOUT,
            timeout: options.timeout,
            proxies: options.proxies,
            user_agent: concat!("zx1-agent/", env!("CARGO_PKG_VERSION")),
            ..zx1_net::Options::default()
        };
        let fetcher = Fetcher::new(endpoint, client)
            .map_err(|error| ConfigError::Client { why: one_line(&error.to_string(), 300) })?;
        Ok(Transport { fetcher, headers, key, options })
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
        let after = self.options.timeout;
        let deadline = Instant::now() + after;
        let call = async || match timeout_at(deadline, self.once(bytes.clone(), &read)).await {
            Ok(outcome) => outcome.map_err(|error| self.clean(error)),
            Err(_) => Err(ModelError::TimedOut { after }),
        };
        let again = |error: &ModelError| match error {
            ModelError::RateLimited { retry_after } => Some(retry_after.unwrap_or_default()),
            ModelError::Unavailable { .. } | ModelError::Unreachable { .. } => Some(Duration::ZERO),
            _ => None,
        };
        Retry { within: Some(after), ..self.options.retry }.run(call, again).await
    }

    async fn once<T>(&self, body: String, read: &impl Fn(&Value) -> Read<T>) -> Read<T> {
        let request = self.fetcher.post_to_endpoint().headers(self.headers.clone()).body(body);
        let answer = self.fetcher.fetch(request, Limit::Whole(self.options.max_body)).await;
        let answer = answer.map_err(failed)?;
        let (status, wait) = (answer.status, retry_after(&answer.headers));
        if status.is_redirection() {
            return Err(ModelError::Redirected { status: status.as_u16() });
        }
        if status != StatusCode::OK {
            return Err(error_of(status.as_u16(), wait, &answer.body));
        }
        if !is_json(&answer.media_type()) {
            return Err(ModelError::Malformed { why: "the content type is not JSON".into() });
        }
        let value: Value = serde_json::from_slice(&answer.body)
            .map_err(|_| ModelError::Malformed { why: "the body is not JSON".into() })?;
        // OpenRouter answers 200 and says in the body what went wrong later.
        if let Some(error) = value.get("error").filter(|e| !e.is_null()) {
            let status = error.get("code").and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
            return Err(error_of(status.filter(|s| *s >= 400).unwrap_or(502), wait, &answer.body));
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

/// Where requests go: a path below the base.
fn endpoint(base: &str, path: &str) -> Result<Endpoint, ConfigError> {
    let bad = |error: EndpointError| ConfigError::Url { why: error.to_string() };
    let base = Endpoint::parse(base).map_err(bad)?;
    Endpoint::parse(base.at(path).as_str()).map_err(bad)
}

fn is_json(media_type: &str) -> bool {
    media_type == "application/json"
        || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}

fn failed(error: FetchError) -> ModelError {
    match error {
        FetchError::TimedOut { after } => ModelError::TimedOut { after },
        FetchError::TooLarge { limit } => ModelError::BodyTooLarge { limit },
        // Nothing was sent.
        FetchError::Unreachable { why } | FetchError::Client { why } => ModelError::Unreachable { why },
        error => ModelError::Broken { why: error.to_string() },
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_that_would_leak_is_refused() {
        for bad in ["ftp://x/v1", "http://u:p@x/v1", "https://x/v1?key=1", "https://x/v1#a", "x", ""] {
            assert_eq!(endpoint(bad, "/c").unwrap_err().code(), 9330, "{bad}");
        }
        assert_eq!(endpoint("https://x/v1/", "/c").unwrap().url().as_str(), "https://x/v1/c");
        assert_eq!(endpoint("https://x", "/c").unwrap().url().as_str(), "https://x/c");
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
