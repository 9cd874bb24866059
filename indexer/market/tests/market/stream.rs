//! The public stream over real HTTP.

use std::time::Duration;

use crate::support;
use crate::support::{Market, PATIENCE};
use serde_json::Value;
use zx1_market::chain::Data;

async fn free() -> Market {
    Market::with(|config| config.nano.ledger = "none".into()).await
}

/// A stream as a client reads it.
struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Stream {
    async fn open(m: &Market, query: &str, last: Option<&str>) -> Stream {
        let mut request = m.client.http.get(format!("{}/contracts/stream{query}", m.client.url));
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { response, text: String::new() }
    }

    /// The next block of lines, or `None` at the end.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return Some(block);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("in time");
            match chunk {
                Ok(Some(chunk)) => self.text.push_str(std::str::from_utf8(&chunk).unwrap()),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next event: its id and its data.
    async fn event(&mut self) -> (i64, Value) {
        loop {
            let block = self.block().await.expect("an event");
            if block.starts_with(':') {
                continue;
            }
            let mut lines = block.lines();
            let id = lines.next().unwrap().strip_prefix("id: ").unwrap().parse().unwrap();
            let data = lines.next().unwrap().strip_prefix("data: ").unwrap();
            assert_eq!(lines.next(), None, "no `event:` line, one line of data");
            return (id, serde_json::from_str(data).unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_come_as_older_clients_expect_them_and_resume_where_they_stopped() {
    let mut m = free().await;
    let mut all = Stream::open(&m, "", None).await;
    let mut rich = Stream::open(&m, "?min_bounty=0.1", None).await;
    let id = m.open(&m.contract("")).await;
    let (first, event) = all.event().await;
    assert_eq!(event["event"], "contract_posted");
    assert_eq!((&event["contract_id"], &event["command"]), (&id.to_string().into(), &"gcc foo.c".into()));
    m.accept(id, &m.agent).await;
    let (second, event) = all.event().await;
    assert_eq!(
        (&event["event"], &event["agent"]),
        (&"contract_accepted".into(), &m.agent.id().to_string().into())
    );
    m.fix(id).await.ok();
    m.verify(id, false).await.says("retry");
    let (_, event) = all.event().await;
    assert_eq!((&event["event"], &event["status"]), (&"contract_resolved".into(), &"retry".into()));
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    let (last, event) = all.event().await;
    assert_eq!((&event["event"], &event["status"]), (&"contract_resolved".into(), &"fulfilled".into()));
    assert!(first < second && second < last);
    m.restart().await;
    // The server's stop has closed the streams, and nothing has passed the filter.
    while let Some(block) = rich.block().await {
        assert!(block.starts_with(':'), "{block}");
    }
    let mut resumed = Stream::open(&m, "", Some(&first.to_string())).await;
    assert_eq!(resumed.event().await.0, second);
    let mut only = Stream::open(&m, "?status=fulfilled&last_event_id=0", None).await;
    assert_eq!(only.event().await.0, last);
    for bad in ["?min_bounty=x", "?status=nonsense", "?last_event_id=x"] {
        assert_eq!(m.client.get(&format!("/contracts/stream{bad}"), None).await.status, 400, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_stream_is_kept_alive() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.keepalive_ms = 20;
    })
    .await;
    let mut stream = Stream::open(&m, "", None).await;
    for _ in 0..3 {
        assert_eq!(stream.block().await.unwrap(), ": keepalive");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_is_too_slow_is_dropped_and_told_why_and_misses_nothing() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.stream_ring = 4;
    })
    .await;
    // Nobody polls this stream's ring while forty events pass: the socket's own buffers are filled first.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut slow = socket.connect(m.server().address()).await.unwrap();
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    slow.write_all(b"GET /contracts/stream HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut one = [0; 1];
    slow.read_exact(&mut one).await.unwrap();
    let mut out = String::from("H");
    // Long commands fill buffers sooner: those of the server's side take 128 KiB (twice that in the system's
    // count).
    let posted = 250;
    for n in 0..posted {
        let command = format!("gcc {n} {}", "x y ".repeat(1_000));
        let contract = zx1_market::Contract::builder(command, "error").build(&m.client.terms).unwrap();
        m.open(&contract).await;
    }
    let mut bytes = Vec::new();
    tokio::time::timeout(PATIENCE, async {
        let mut buffer = [0; 65_536];
        loop {
            let n = slow.read(&mut buffer).await.unwrap();
            bytes.extend_from_slice(&buffer[..n]);
            if n == 0 || String::from_utf8_lossy(&bytes).contains(": dropped") {
                break;
            }
        }
    })
    .await
    .expect("the stream says why it ends");
    out.push_str(&String::from_utf8_lossy(&bytes));
    let metrics = m.server().engine().metrics().text();
    assert!(metrics.contains("streams_dropped_total 1"), "{metrics}");
    let last = out.split("reconnect with Last-Event-ID: ").nth(1).unwrap();
    let last: i64 = last.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    let mut resumed = Stream::open(&m, "", Some(&last.to_string())).await;
    for id in last + 1..=posted {
        assert_eq!(resumed.event().await.0, id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_takes_nothing_is_cut_and_its_seat_is_free() {
    use tokio::io::AsyncWriteExt;
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.write_ms = 200;
    })
    .await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut dead = socket.connect(m.server().address()).await.unwrap();
    dead.write_all(b"GET /contracts/stream HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let says = async |line: &str| {
        let text = m.server().engine().metrics().text();
        text.lines().any(|l| l == line).then_some(())
    };
    support::eventually("the stream is open", || says("fix_market_streams 1")).await;
    for n in 0..250 {
        let command = format!("gcc {n} {}", "x y ".repeat(1_000));
        let contract = zx1_market::Contract::builder(command, "error").build(&m.client.terms).unwrap();
        m.open(&contract).await;
    }
    support::eventually("it is cut", || says("fix_market_connections_cut_total 1")).await;
    support::eventually("its seat is free", || says("fix_market_streams 0")).await;
    drop(dead);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_closes_streams_and_finishes_what_was_begun() {
    let mut m = free().await;
    let id = m.open(&m.contract("")).await;
    let mut stream = Stream::open(&m, "", None).await;
    let began = std::time::Instant::now();
    let (client, agent) = (m.client.clone(), m.agent.clone());
    let accept = tokio::spawn(async move {
        client.act(id, "accept", Data::Accept { agent: agent.id() }, &agent).await.status
    });
    let status = accept.await.unwrap();
    m.restart().await;
    assert!(began.elapsed() < Duration::from_secs(30));
    let mut end = String::new();
    while let Some(block) = stream.block().await {
        end = block;
    }
    assert!(end.starts_with(": the server is stopping; reconnect"), "{end}");
    assert_eq!((status, m.client.view(id, &m.agent).await["status"].as_str()), (200, Some("in_progress")));
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_bounded() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.streams_per_address = 2;
    })
    .await;
    let first = Stream::open(&m, "", None).await;
    let _second = Stream::open(&m, "", None).await;
    m.client.get("/contracts/stream", None).await.refused(503, 9405);
    drop(first);
    support::eventually("a seat is free", || async {
        let request = m.client.http.get(format!("{}/contracts/stream", m.client.url));
        (request.send().await.unwrap().status() == 200).then_some(())
    })
    .await;
}

async fn many(subscribers: usize) {
    let m = free().await;
    let mut streams = Vec::with_capacity(subscribers);
    for _ in 0..subscribers {
        streams.push(Stream::open(&m, "", None).await);
    }
    let id = m.open(&m.contract("")).await;
    m.accept(id, &m.agent).await;
    for stream in &mut streams {
        assert_eq!(stream.event().await.1["event"], "contract_posted");
        assert_eq!(stream.event().await.1["event"], "contract_accepted");
    }
    let metrics = m.server().engine().metrics().text();
    assert!(metrics.contains(&format!("fix_market_streams {subscribers}\n")), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_subscribers_hear_every_event() {
    many(1_000).await;
}

/// Subscribers of a server in a process of its own; 10 000 with ZX1_SOAK=1, since that needs 10 000 files on
/// each side.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_subscribers_of_another_process_hear_every_event() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let soak = std::env::var_os("ZX1_SOAK").is_some_and(|it| it == "1");
    let subscribers = if soak { 10_000 } else { 500 };
    if !soak {
        eprintln!("500 subscribers; 10 000 with ZX1_SOAK=1");
    }
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let needed = subscribers as u64 + 256;
    assert!(maximum.is_none_or(|files| files >= needed), "raise `ulimit -Hn`: {needed} files are needed");
    let folder = support::live::folder(|config| config.nano.ledger = "none".into());
    let process = support::process::Process::start(folder.path(), support::START, &[]);
    let url = process.url();
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let mut streams = Vec::with_capacity(subscribers);
    for _ in 0..subscribers {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        stream.write_all(b"GET /contracts/stream HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        // The head comes when the subscription stands.
        let mut first = [0; 15];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        streams.push(stream);
    }
    let clock = zx1_market_server::clock::DrivenClock::new(support::START);
    let client = support::live::client(url, clock).await;
    let contract = zx1_market::Contract::builder("make", "error").build(&client.terms).unwrap();
    let entry = client.post_entry(&contract, &support::key(1), None);
    let body = support::body_with(&entry, &[]);
    client.send("POST", "/contracts", body, Some(&support::key(1))).await.says("open");
    for stream in &mut streams {
        let mut text = Vec::new();
        while !String::from_utf8_lossy(&text).contains("contract_posted") {
            let mut buffer = [0; 1_024];
            let read =
                tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await.expect("in time").unwrap();
            assert!(read > 0, "the stream ended");
            text.extend_from_slice(&buffer[..read]);
        }
    }
}
