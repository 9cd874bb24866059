//! How much the relay carries: a process of its own, and in this one members that only count what they get. Figures are
//! of the server alone (its CPU time and memory); delays are from the sender's clock to the member's, on one machine.
//! One line of JSON for each figure. `ZX1_BENCH_MEMBERS` (of the large channel) changes the size.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::cast_precision_loss)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

struct Relay {
    child: Child,
    address: String,
    _data: tempfile::TempDir,
}

impl Relay {
    fn start() -> Relay {
        let data = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_zx1-relay"))
            .args(["--host", "127.0.0.1", "--port", "0", "--rate-limit-ms", "0", "--data"])
            .arg(data.path())
            .env("ZX1_RELAY_CONFIG", config(data.path()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Relay { child, address: ready["listening"][0].as_str().unwrap().to_owned(), _data: data }
    }

    /// Seconds of the processor.
    fn cpu(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<u64> =
            stat.rsplit(')').next().unwrap().split_whitespace().filter_map(|it| it.parse().ok()).collect();
        // After the state: utime and stime are the 14th and 15th field of all.
        (fields[10] + fields[11]) as f64 / 100.0
    }

    fn kib(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All clients come from one address.
fn config(folder: &std::path::Path) -> std::path::PathBuf {
    let path = folder.join("relay.toml");
    std::fs::write(&path, "[limits]\naddress = { burst = 1, per_second = 0 }\n").unwrap();
    path
}

fn now_us() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap()
}

/// The bare minimum of a websocket client: what it costs is the generator's.
struct Socket {
    reader: Reader,
    write: OwnedWriteHalf,
}

struct Reader {
    read: OwnedReadHalf,
    buffer: Vec<u8>,
}

impl Socket {
    async fn open(address: &str) -> Socket {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let request = format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: zx1-relay-1\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        let (read, write) = stream.into_split();
        Socket { reader: Reader { read, buffer: Vec::new() }, write }
    }

    async fn send(&mut self, frame: &Value) {
        send(&mut self.write, frame).await;
    }

    async fn until(&mut self, kind: &str) {
        let prefix = format!("{{\"type\":\"{kind}\"");
        let mut seen = false;
        while !seen {
            assert!(self.reader.frames(|frame| seen |= frame.starts_with(prefix.as_bytes())).await, "closed");
        }
    }

    /// Identified, and in this channel.
    async fn member(address: &str, name: &str) -> Socket {
        let mut socket = Socket::open(address).await;
        socket.send(&json!({ "type": "IDENTIFY", "name": name })).await;
        socket.until("WELCOME").await;
        socket
    }
}

impl Reader {
    /// Takes every whole frame that is there; reads when there is none.
    async fn frames(&mut self, mut each: impl FnMut(&[u8])) -> bool {
        loop {
            let mut at = 0;
            let mut any = false;
            while let Some((start, end)) = frame(&self.buffer, at) {
                each(&self.buffer[start..end]);
                at = end;
                any = true;
            }
            self.buffer.drain(..at);
            if any {
                return true;
            }
            self.buffer.reserve(16 << 10);
            match self.read.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return false,
                Ok(_) => {}
            }
        }
    }
}

async fn send(write: &mut OwnedWriteHalf, frame: &Value) {
    let text = frame.to_string();
    // Masked by zeros.
    let mut bytes = vec![0x81];
    match text.len() {
        length @ ..=125 => bytes.push(0x80 | u8::try_from(length).unwrap()),
        length => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(text.as_bytes());
    let _ = write.write_all(&bytes).await;
}

/// Start and end of the payload of a whole frame at this place.
fn frame(buffer: &[u8], at: usize) -> Option<(usize, usize)> {
    let head = buffer.get(at..at + 2)?;
    let (length, start) = match head[1] {
        126 => (usize::from(u16::from_be_bytes(buffer.get(at + 2..at + 4)?.try_into().unwrap())), at + 4),
        127 => {
            let length = u64::from_be_bytes(buffer.get(at + 2..at + 10)?.try_into().unwrap());
            (usize::try_from(length).unwrap(), at + 10)
        }
        length => (usize::from(length), at + 2),
    };
    (buffer.len() >= start + length).then_some((start, start + length))
}

fn percentile(sorted: &[u64], share: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let at = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default() as f64 / 1e3
}

/// Fills one channel; the first ones of its members, `deaf` in number, never read.
async fn channel(relay: &Relay, members: usize, deaf: usize) -> (Vec<Socket>, Vec<Socket>) {
    let mut readers = Vec::new();
    let mut stuck = Vec::new();
    for number in 0..members {
        let mut socket = Socket::member(&relay.address, &format!("m{number}")).await;
        socket.send(&json!({ "type": "JOIN", "channel": "#general" })).await;
        socket.until("JOINED").await;
        if number < deaf { stuck.push(socket) } else { readers.push(socket) }
    }
    (readers, stuck)
}

/// Messages of 200 bytes for some seconds; every member is read by a task that counts.
async fn fan_out(members: usize, per_second: usize, bytes: usize, seconds: u64, deaf: usize) -> Value {
    let relay = Relay::start();
    let (readers, stuck) = channel(&relay, members, deaf).await;
    let before_kib = relay.kib("VmRSS");
    let (heard, delays) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::<u64>::new())));
    let mut tasks = Vec::new();
    let mut writers = Vec::new();
    // Six a second at most are allowed to one agent.
    let speakers = per_second.div_ceil(5).max(1);
    let count = readers.len();
    // Those that do not speak stay open as long as the others.
    let mut silent = Vec::new();
    for (number, Socket { mut reader, write }) in readers.into_iter().enumerate() {
        let (heard, delays) = (heard.clone(), delays.clone());
        if number < speakers {
            writers.push(write)
        } else {
            silent.push(write)
        }
        tasks.push(tokio::spawn(async move {
            let mut own = Vec::new();
            loop {
                let mut got = 0_u64;
                let open = reader
                    .frames(|frame| {
                        if frame.starts_with(b"{\"type\":\"MSG\"") {
                            got += 1;
                            if let Some(sent) = sent_at(frame) {
                                own.push(now_us().saturating_sub(sent));
                            }
                        }
                    })
                    .await;
                heard.fetch_add(got, Ordering::Relaxed);
                if own.len() >= 64 || !open {
                    delays.lock().unwrap().append(&mut own);
                }
                if !open {
                    return;
                }
            }
        }));
    }
    assert_eq!(writers.len(), speakers, "as many members as speakers");
    let welcomes = heard.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let welcomes = heard.load(Ordering::Relaxed).max(welcomes);
    delays.lock().unwrap().clear();
    let cpu = relay.cpu();
    let began = Instant::now();
    let total = per_second as u64 * seconds;
    let pad = "x".repeat(bytes);
    let mut closed_after = None;
    for number in 0..total {
        let due = Duration::from_secs_f64(number as f64 / per_second as f64);
        tokio::time::sleep_until((began + due).into()).await;
        let at = usize::try_from(number).unwrap() % writers.len();
        let content = format!("{:016}{pad}", now_us());
        send(&mut writers[at], &json!({ "type": "MSG", "to": "#general", "content": content })).await;
        if deaf > 0 && closed_after.is_none() && number.is_multiple_of(per_second as u64 / 4) {
            let text = reqwest::get(format!("http://{}/metrics", relay.address)).await.unwrap().text().await;
            let text = text.unwrap();
            let closed = text.lines().find_map(|line| line.strip_prefix("zx1_relay_closed_slow_total "));
            if closed.and_then(|it| it.parse::<usize>().ok()) >= Some(deaf) {
                closed_after = Some(began.elapsed().as_secs_f64());
            }
        }
    }
    let expected = total * count as u64;
    let deadline = Instant::now() + Duration::from_secs(10);
    while heard.load(Ordering::Relaxed) - welcomes < expected && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = began.elapsed().as_secs_f64();
    let delivered = heard.load(Ordering::Relaxed) - welcomes;
    let cpu = relay.cpu() - cpu;
    let peak_kib = relay.kib("VmHWM");
    for task in tasks {
        task.abort();
    }
    drop((stuck, silent));
    let mut delays = std::mem::take(&mut *delays.lock().unwrap());
    delays.sort_unstable();
    json!({
        "members": members, "per_second": per_second, "bytes": bytes, "seconds": took, "stuck": deaf,
        "delivered": delivered, "expected": expected, "cpu_s": cpu,
        "per_cpu_s": delivered as f64 / cpu.max(0.01),
        "p50_ms": percentile(&delays, 0.5), "p99_ms": percentile(&delays, 0.99),
        "peak_mb": peak_kib / 1024, "grown_mb": peak_kib.saturating_sub(before_kib) / 1024,
        "closed_after_s": closed_after,
    })
}

fn sent_at(frame: &[u8]) -> Option<u64> {
    const FIELD: &[u8] = b"\"content\":\"";
    let at = frame.windows(FIELD.len()).position(|it| it == FIELD)? + FIELD.len();
    std::str::from_utf8(frame.get(at..at + 16)?).ok()?.parse().ok()
}

/// How long it takes until so many agents are in one channel, connected and identified before.
async fn joins(members: usize) -> Value {
    let relay = Relay::start();
    let mut sockets = Vec::new();
    for number in 0..members {
        sockets.push(Socket::member(&relay.address, &format!("m{number}")).await);
    }
    let (cpu, began) = (relay.cpu(), Instant::now());
    let tasks: Vec<_> = sockets
        .into_iter()
        .map(|mut socket| {
            tokio::spawn(async move {
                socket.send(&json!({ "type": "JOIN", "channel": "#general" })).await;
                socket.until("JOINED").await;
                // It keeps reading what the others cause.
                let reading = tokio::spawn(async move { while socket.reader.frames(|_| {}).await {} });
                reading.abort_handle()
            })
        })
        .collect();
    let mut readers = Vec::new();
    for task in tasks {
        readers.push(task.await.unwrap());
    }
    let took = began.elapsed().as_secs_f64();
    let cpu = relay.cpu() - cpu;
    readers.iter().for_each(tokio::task::AbortHandle::abort);
    json!({ "members": members, "seconds": took, "cpu_s": cpu, "peak_mb": relay.kib("VmHWM") / 1024 })
}

/// Memory of a connection that has identified and is silent.
async fn idle(members: usize) -> Value {
    let relay = Relay::start();
    let before = relay.kib("VmRSS");
    let mut sockets = Vec::new();
    for number in 0..members {
        sockets.push(Socket::member(&relay.address, &format!("m{number}")).await);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let after = relay.kib("VmRSS");
    let cpu = relay.cpu();
    tokio::time::sleep(Duration::from_secs(10)).await;
    json!({
        "members": members,
        "kib_each": (after.saturating_sub(before)) as f64 / members as f64,
        "cpu_share": (relay.cpu() - cpu) / 10.0,
    })
}

#[tokio::main]
async fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let large = std::env::var("ZX1_BENCH_MEMBERS").ok().and_then(|it| it.parse().ok()).unwrap_or(9_000);
    let tell = |figure: &str, mut value: Value| {
        value["figure"] = json!(figure);
        println!("{value}");
    };
    tell("fan_out", fan_out(100, 100, 200, 10, 0).await);
    tell("fan_out", fan_out(1_000, 100, 200, 10, 0).await);
    tell("fan_out", fan_out(1_000, 500, 200, 10, 0).await);
    tell("fan_out", fan_out(1_000, 1_000, 200, 10, 0).await);
    tell("fan_out", fan_out(60, 200, 3_900, 10, 0).await);
    tell("fan_out", fan_out(60, 200, 3_900, 10, 20).await);
    tell("fan_out", fan_out(large / 2, 20, 200, 10, 0).await);
    tell("joins", joins(1_000).await);
    tell("joins", joins(large).await);
    tell("idle", idle(large).await);
}
