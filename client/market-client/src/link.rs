//! One HTTP exchange with a market server: signed, bounded, never redirected.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use zx1_coded::Coded;
use zx1_home::SystemClock;
use zx1_market::chain::Head;
use zx1_market::{Json, Millis, PartyId, PartyKey, request};
use zx1_net::header::{ACCEPT, CONTENT_TYPE};
use zx1_net::{
    Answer, Endpoint, FetchError, Fetcher, Incoming, Limit, Method, Problem, Proxies, Retry, retry_after,
};

use super::Options;
use super::error::{ClientError, Refused, Result};
use zx1_scrub::neutral::one_line;

/// What time it is for signatures.
#[derive(Clone)]
pub enum Clock {
    /// This machine's, or one that a test moves.
    Here(Arc<dyn zx1_home::Clock>),
    /// The test clock of the server itself (`fix serve --test-clock`): asked before every signature.
    #[cfg(feature = "testing")]
    Server,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::Here(Arc::new(SystemClock))
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Clock::Here(_) => "Here",
            #[cfg(feature = "testing")]
            Clock::Server => "Server",
        })
    }
}

/// A server's address and how it is talked to.
pub(super) struct Link {
    fetcher: Fetcher,
    /// The address without its last slash.
    base: String,
    /// Whom requests are signed for, once it has said who it is.
    server: OnceLock<PartyId>,
    pub(super) options: Options,
}

impl Link {
    pub(super) fn new(base: &str, options: Options) -> Result<Link> {
        let bad = |why: String| ClientError::Address { url: one_line(base, 200), why };
        let endpoint = Endpoint::parse(base).map_err(|error| bad(error.to_string()))?;
        let client = zx1_net::Options {
            connect_timeout: options.connect_timeout,
            timeout: options.timeout,
            proxies: if options.proxies { Proxies::Environment } else { Proxies::Never },
            user_agent: concat!("zx1-agent/", env!("CARGO_PKG_VERSION")),
            ..zx1_net::Options::default()
        };
        let base = endpoint.to_string();
        let fetcher = Fetcher::new(endpoint, client).map_err(|error| bad(error.to_string()))?;
        Ok(Link { fetcher, base, server: OnceLock::new(), options })
    }

    /// The address without its last slash.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The server whose key every signature names from now on.
    pub(super) fn signs_for(&self, server: PartyId) {
        let _ = self.server.set(server);
    }

    /// The path as the server sees it: behind the base's own path.
    fn signed_path(&self, path: &str) -> String {
        format!("{}{path}", self.fetcher.endpoint().path())
    }

    /// The time for signatures.
    pub(super) async fn now(&self) -> Result<Millis> {
        match &self.options.clock {
            Clock::Here(clock) => Ok(Millis(clock.unix_ms())),
            #[cfg(feature = "testing")]
            Clock::Server => {
                let call = "GET /test/clock";
                let bytes = self.exchange(Method::GET, "/test/clock", None, None, None).await?;
                let json = read_json(call, &bytes)?;
                let now = json.get("now_ms").and_then(Json::as_u64);
                now.map(Millis).ok_or_else(|| unreadable(call, "there is no now_ms in it"))
            }
        }
    }

    /// A GET, asked again a few times when the server or the network fails.
    pub(super) async fn get(&self, path: &str, key: Option<&PartyKey>) -> Result<Vec<u8>> {
        let retry = Retry {
            attempts: self.options.attempts,
            pause: self.options.pause,
            longest_pause: Duration::MAX,
            within: None,
        };
        let again = |error: &ClientError| {
            let asked = match error {
                ClientError::Refused(refused) => refused.retry_after.unwrap_or_default(),
                _ => Duration::ZERO,
            };
            (error.transient() && asked <= self.options.timeout).then_some(asked)
        };
        retry.run(|| self.once(Method::GET, path, None, key), again).await
    }

    /// One signed request, sent once.
    pub(super) async fn once(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
        key: Option<&PartyKey>,
    ) -> Result<Vec<u8>> {
        self.once_with(method, path, body, key, None).await
    }

    /// The same, with the work that the server asks for.
    pub(super) async fn once_with(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
        key: Option<&PartyKey>,
        work: Option<&str>,
    ) -> Result<Vec<u8>> {
        let headers = match key.zip(self.server.get()) {
            None => None,
            Some((key, server)) => {
                let now = self.now().await?;
                let body = body.unwrap_or_default();
                Some(request::sign(server, method.as_str(), &self.signed_path(path), body, now, key))
            }
        };
        self.exchange(method, path, body, headers, work).await
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&[u8]>,
        headers: Option<request::SignedHeaders>,
        work: Option<&str>,
    ) -> Result<Vec<u8>> {
        let call = call_of(&method, path);
        let mut request = self.fetcher.request(method, path);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_vec());
        }
        if let Some(headers) = headers {
            request = request
                .header("X-Fix-Auth", headers.auth)
                .header("X-Fix-Pubkey", headers.pubkey)
                .header("X-Fix-Signature", headers.signature)
                .header("X-Fix-Timestamp", headers.timestamp);
        }
        if let Some(work) = work {
            request = request.header("X-Fix-Work", work);
        }
        let answer = self.fetcher.fetch(request, Limit::Whole(self.options.max_body)).await;
        let answer = answer.map_err(|error| self.failed(&call, error))?;
        if answer.status.is_success() { Ok(answer.body) } else { Err(refused(call, &answer)) }
    }

    /// Open a stream. Its reader sets its own limits.
    pub(super) async fn stream(&self, path: &str, last: Option<&str>) -> Result<Incoming> {
        let call = call_of(&Method::GET, path);
        let mut request = self.fetcher.get(path).header(ACCEPT, "text/event-stream");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let incoming = self.fetcher.open(request).await.map_err(|error| self.failed(&call, error))?;
        if !incoming.status().is_success() {
            return Err(refused(call, &self.fetcher.refusal(incoming).await));
        }
        if incoming.media_type() != "text/event-stream" {
            return Err(unreadable(&call, "it is not an event stream"));
        }
        Ok(incoming)
    }

    fn failed(&self, call: &str, error: FetchError) -> ClientError {
        match error {
            FetchError::TimedOut { after } => ClientError::TimedOut { call: call.to_owned(), after },
            FetchError::TooLarge { limit } => ClientError::TooLong { call: call.to_owned(), max: limit },
            error => ClientError::Unreachable {
                url: self.base().to_owned(),
                why: one_line(&error.to_string(), 200),
            },
        }
    }
}

fn call_of(method: &Method, path: &str) -> String {
    format!("{method} {}", path.split('?').next().unwrap_or(path))
}

/// What a refusal says, and where the chain stands when that is what was wrong.
fn refused(call: String, answer: &Answer) -> ClientError {
    let problem = Problem::read(&answer.body);
    let member = |name: &str| problem.members.get(name);
    let mut hash = [0; 32];
    let at = member("chain_head").and_then(|it| it.as_str()).zip(member("seq").and_then(|it| it.as_u64()));
    let head = at.filter(|(text, _)| hex::decode_to_slice(text, &mut hash).is_ok());
    let head = head.map(|(_, seq)| Head { seq, hash });
    ClientError::Refused(Box::new(Refused {
        status: answer.status.as_u16(),
        code: problem.code,
        detail: problem.sentence_or("It gave no reason."),
        call,
        head,
        retry_after: retry_after(&answer.headers),
    }))
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
    use zx1_net::StatusCode;
    use zx1_net::header::HeaderMap;

    fn of(status: u16, body: &str) -> Refused {
        let answer = Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: body.as_bytes().to_vec(),
        };
        match refused("POST /x".into(), &answer) {
            ClientError::Refused(refused) => *refused,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn every_form_of_refusal_is_read() {
        let text = of(409, r#"{"code":9111,"name":"WrongState","detail":"Not now.","next":"Wait."}"#);
        assert_eq!((text.detail.as_str(), text.code, text.head), ("Not now. Wait.", Some(9111), None));
        let (hash, head) = ("ab".repeat(32), Some(Head { seq: 7, hash: [0xab; 32] }));
        let conflict = format!(r#"{{"detail":"It moved on.","code":9050,"chain_head":"{hash}","seq":7}}"#);
        assert_eq!(of(409, &conflict).head, head);
        // As a server answers its older clients.
        let conflict = format!(r#"{{"detail":{{"error":"chain_conflict","chain_head":"{hash}","seq":7}}}}"#);
        assert_eq!(of(409, &conflict).head, head);
        let list = of(422, r#"{"detail":[{"loc":["body"],"msg":"field required","type":"x"}]}"#);
        assert_eq!(list.detail, "field required");
        assert_eq!(of(502, "<html>\u{1b}[31mBad gateway").status, 502);
        assert_eq!(of(500, "").detail, "It gave no reason.");
    }

    #[test]
    fn an_address_that_cannot_be_one_is_refused() {
        for bad in ["", "fix", "ftp://x", "http://", "http://u:p@x", "http://x/?q=1", "http://x/#a"] {
            let error = Link::new(bad, Options::default()).err().map(|e| e.code());
            assert_eq!(error, Some(9368), "{bad}");
        }
        let link = Link::new("http://x/market/", Options::default()).unwrap();
        assert_eq!(link.base(), "http://x/market");
        assert_eq!(link.signed_path("/contracts?a=1"), "/market/contracts?a=1");
    }
}
