//! What every server answers to wrong requests, to browsers, and to who asks too often. Bytes as they are on the wire:
//! no client in between decodes or retries anything.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::io::Read as _;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::problem::PROBLEM_JSON;

/// An answer as it came over the wire.
#[derive(Debug)]
pub struct Raw {
    /// The number of its status line.
    pub status: u16,
    /// Its headers, with the names in lower case.
    pub headers: HeaderMap,
    /// The body as it was sent.
    pub body: Vec<u8>,
}

impl Raw {
    /// A header's text, empty without one.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A request's method, path and headers; its body.
pub type Request<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [u8]);

/// Sends one request, as HTTP/1.0 so that nothing comes in chunks, and reads the answer to its end.
///
/// # Panics
///
/// When there is no HTTP answer.
pub async fn ask(url: &str, (method, path, headers, body): Request<'_>) -> Raw {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap();
    let mut head = format!("{method} {path} HTTP/1.0\r\nhost: here\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !headers.iter().any(|(name, _)| *name == "content-length") {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    let request = [head.as_bytes(), b"\r\n", body].concat();
    stream.write_all(&request).await.unwrap();
    let mut answer = Vec::new();
    // A server that refuses a body may close before it has read it.
    let _ = stream.read_to_end(&mut answer).await;
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").expect("an HTTP answer");
    let head = std::str::from_utf8(&answer[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
    }
    Raw { status, headers, body: answer[end + 4..].to_vec() }
}

/// Each of these requests is refused with this status and number, as problem details that say what to do. Returns what
/// they say.
///
/// # Panics
///
/// When one is not.
pub async fn refuses(url: &str, table: &[(Request<'_>, u16, u32)]) -> Vec<Value> {
    let mut told = Vec::new();
    for (request, status, code) in table {
        let (method, path, ..) = request;
        let answer = ask(url, *request).await;
        let text = String::from_utf8_lossy(&answer.body);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (*status, PROBLEM_JSON),
            "{method} {path}: {text}"
        );
        let problem: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(
            (&problem["code"], &problem["status"]),
            (&(*code).into(), &(*status).into()),
            "{method} {path}: {text}"
        );
        assert_eq!(problem["type"], format!("urn:zx1:error:{code}"));
        for name in ["title", "name", "detail", "next"] {
            assert!(problem[name].as_str().is_some_and(|text| !text.is_empty()), "{method} {path}: {text}");
        }
        assert_eq!(
            *status == 405,
            answer.headers.contains_key("allow"),
            "{method} {path}: {:?}",
            answer.headers
        );
        told.push(problem);
    }
    told
}

/// A long text comes compressed to whoever takes that, and is the same; a short one comes as it is.
///
/// # Panics
///
/// When it does not.
pub async fn compresses(url: &str, long: &str, short: &str) {
    let plain = ask(url, ("GET", long, &[], b"")).await;
    assert_eq!((plain.status, plain.header("content-encoding")), (200, ""));
    assert!(plain.body.len() > 1_024, "{long} has {} bytes", plain.body.len());
    assert!(plain.header("vary").contains("accept-encoding"), "{:?}", plain.headers);
    let zipped = ask(url, ("GET", long, &[("accept-encoding", "gzip")], b"")).await;
    assert_eq!(zipped.header("content-encoding"), "gzip");
    assert!(zipped.body.len() < plain.body.len());
    let mut read = Vec::new();
    flate2::read::GzDecoder::new(&*zipped.body).read_to_end(&mut read).unwrap();
    assert_eq!(String::from_utf8_lossy(&read), String::from_utf8_lossy(&plain.body));
    let brotli = ask(url, ("GET", long, &[("accept-encoding", "gzip;q=0.5, br")], b"")).await;
    assert_eq!(brotli.header("content-encoding"), "br");
    let few = ask(url, ("GET", short, &[("accept-encoding", "gzip, br")], b"")).await;
    assert_eq!((few.status, few.header("content-encoding")), (200, ""), "{short}");
}

/// A page of another origin may ask so.
///
/// # Panics
///
/// When a browser would not let it.
pub async fn lets_every_origin(url: &str, path: &str, methods: &[&str], headers: &str) {
    for method in methods {
        let asked = [
            ("origin", "https://elsewhere.example"),
            ("access-control-request-method", method),
            ("access-control-request-headers", headers),
        ];
        let answer = ask(url, ("OPTIONS", path, &asked, b"")).await;
        let lists = |name: &str, wanted: &str| {
            let told = answer.header(name).to_lowercase();
            wanted.split(',').all(|it| told.split(',').any(|told| told.trim() == it.trim().to_lowercase()))
        };
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, "*"));
        assert!(lists("access-control-allow-methods", method), "{:?}", answer.headers);
        assert!(lists("access-control-allow-headers", headers), "{:?}", answer.headers);
        assert!(!answer.headers.contains_key("access-control-allow-credentials"));
    }
    let answer = ask(url, ("GET", path, &[("origin", "https://elsewhere.example")], b"")).await;
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert!(answer.header("access-control-expose-headers").contains("ratelimit"), "{:?}", answer.headers);
}

/// With a burst of this many requests, and one a second in the long run, each answer says what is left.
///
/// # Panics
///
/// When it is not.
pub async fn tells_its_rate(url: &str, path: &str, burst: usize, code: u32) {
    for _ in 0..200 {
        let answer = ask(url, ("GET", path, &[("origin", "https://elsewhere.example")], b"")).await;
        assert_eq!(answer.header("ratelimit-policy"), format!("\"address\";q={burst};w={burst}"));
        if answer.status != 429 {
            assert!(answer.header("ratelimit").starts_with("\"address\";r="), "{:?}", answer.headers);
            continue;
        }
        let problem: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(problem["code"], code);
        assert_eq!((answer.header("retry-after"), answer.header("ratelimit")), ("1", "\"address\";r=0;t=1"));
        return;
    }
    panic!("200 requests and no limit");
}

/// Holds a server against its document: schemathesis, with one seed, for less than a minute. `known` are path parameters
/// of things that exist. With `sign` (`{server, seed, now}`: keys in hex, Unix seconds), three of four requests that take
/// a signature have the market's. Whether a signed entry is taken, no document can say.
///
/// # Panics
///
/// When it finds something, or is not installed (scripts/setup does it).
pub async fn holds_against_its_document(url: &str, known: Value, sign: Option<Value>) {
    let program = super::tool("schemathesis/bin/schemathesis");
    let folder = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(program);
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/openapi");
    command.args(["--config-file", &format!("{rules}/schemathesis.toml"), "run"]);
    command.arg(format!("{url}/openapi.json"));
    command.args(["--seed", "1", "--max-time", "40", "--phases", "examples,coverage,fuzzing"]);
    command.args(["--continue-on-failure", "--generation-database", "none"]);
    command.args(["--suppress-health-check", "all", "--warnings", "off", "--no-color"]);
    command.env("PYTHONPATH", rules);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("SCHEMATHESIS_HOOKS", "hooks");
    command.env("OPENAPI_KNOWN", known.to_string()).env("NO_PROXY", "*").current_dir(folder.path());
    if let Some(sign) = sign {
        command.env("OPENAPI_SIGN", sign.to_string());
    }
    let output = command.kill_on_drop(true).output();
    let output = tokio::time::timeout(Duration::from_secs(300), output).await.expect("it ends").unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("No issues found") || said.contains(" passed"), "{said}");
}
