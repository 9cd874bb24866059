//! A network that fails on order: an HTTP proxy in front of the RPC, which loses, delays and garbles what it
//! is asked to, by JSON-RPC method and count.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use crate::runtime;

/// What goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection breaks and the cluster never hears of the request.
    DropBefore,
    /// The cluster does what was asked, and the connection breaks before the answer: a transaction has
    /// landed and the sender does not know.
    DropAfter,
    /// The request waits, then goes on as usual.
    Delay(Duration),
    /// The cluster does what was asked; its answer waits.
    DelayAfter(Duration),
    /// 429, and the cluster never hears of the request.
    TooManyRequests,
    /// This HTTP status, and the cluster never hears of the request.
    Status(u16),
    /// The cluster does what was asked; the answer is 200 with something that is no JSON.
    Garbage,
    /// The cluster does what was asked; the connection breaks in the middle of the answer.
    HalfAnswer,
    /// The cluster never hears of the request; the answer is JSON-RPC's error -32005, a node that is behind.
    NodeBehind,
    /// The cluster never hears of the request, and the caller waits until somebody ends it.
    Hang,
    /// The cluster does what was asked, and the caller waits until somebody ends it.
    HangAfter,
    /// The request waits for [`FaultProxy::release`], then goes on as usual.
    Hold,
}

struct Order {
    method: String,
    left: usize,
    fault: Fault,
}

#[derive(Default)]
struct State {
    orders: VecDeque<Order>,
    calls: BTreeMap<String, usize>,
    /// The methods in the order in which they came.
    log: Vec<String>,
    at: Option<(usize, Fault)>,
    down_from: Option<usize>,
    struck: bool,
    down: bool,
    released: bool,
}

struct Shared {
    state: Mutex<State>,
    target: String,
    changed: Notify,
}

/// An RPC URL whose answers can be spoiled. Without orders it changes nothing.
pub struct FaultProxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    server: tokio::task::JoinHandle<()>,
}

impl FaultProxy {
    /// Starts a proxy in front of this RPC URL.
    #[track_caller]
    pub fn start(target: &str) -> Self {
        let listener = runtime::wait(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { state: Mutex::default(), target: target.to_owned(), changed: Notify::new() });
        let server = runtime::spawn({
            let shared = shared.clone();
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let shared = shared.clone();
                    tokio::spawn(async move {
                        // A broken connection is the caller's to notice.
                        let _ = serve(stream, &shared).await;
                    });
                }
            }
        });
        Self { shared, address, server }
    }

    /// Its URL, to be used instead of the RPC's.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Spoils the next `times` requests of a method; `*` is any. Orders are carried out first in, first out,
    /// each for the methods that it names.
    pub fn fail(&self, method: &str, times: usize, fault: Fault) {
        self.shared.state.lock().unwrap().orders.push_back(Order {
            method: method.to_owned(),
            left: times,
            fault,
        });
    }

    /// Spoils the request with this number, counted from 0 over all methods and since the start.
    pub fn fail_at(&self, number: usize, fault: Fault) {
        self.shared.state.lock().unwrap().at = Some((number, fault));
    }

    /// The network goes away with the request of this number, counted as in [`FaultProxy::fail_at`].
    pub fn down_from(&self, number: usize) {
        self.shared.state.lock().unwrap().down_from = Some(number);
    }

    /// Whether the request of [`FaultProxy::fail_at`] or [`FaultProxy::down_from`] has come.
    pub fn has_struck(&self) -> bool {
        self.shared.state.lock().unwrap().struck
    }

    /// The methods of all requests so far, in order.
    pub fn log(&self) -> Vec<String> {
        self.shared.state.lock().unwrap().log.clone()
    }

    /// How many requests of a method came so far, spoiled ones too; `*` counts all.
    pub fn calls(&self, method: &str) -> usize {
        let state = self.shared.state.lock().unwrap();
        match method {
            "*" => state.calls.values().sum(),
            _ => state.calls.get(method).copied().unwrap_or(0),
        }
    }

    /// How many faults were ordered and have not struck yet.
    pub fn pending(&self) -> usize {
        self.shared.state.lock().unwrap().orders.iter().map(|order| order.left).sum()
    }

    /// Lets go what [`Fault::Hold`] holds, now and from now on.
    pub fn release(&self) {
        self.shared.state.lock().unwrap().released = true;
        self.shared.changed.notify_waiters();
    }

    /// Forgets all orders.
    pub fn clear(&self) {
        self.shared.state.lock().unwrap().orders.clear();
    }

    /// From now on every connection breaks at once.
    pub fn down(&self) {
        self.shared.state.lock().unwrap().down = true;
    }

    /// The network is back.
    pub fn up(&self) {
        self.shared.state.lock().unwrap().down = false;
    }

    /// Waits, at most a minute, until a method has been called so many times.
    #[track_caller]
    pub fn wait_for_calls(&self, method: &str, count: usize) {
        let (shared, asked) = (self.shared.clone(), method.to_owned());
        let came = runtime::wait(async move {
            let enough = shared.until(|state| state.calls.get(&asked).copied().unwrap_or(0) >= count);
            tokio::time::timeout(crate::process::PATIENCE, enough).await.is_ok()
        });
        assert!(came, "{method} was called {} times and not {count}", self.calls(method));
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    /// Waits until the state is as wanted.
    async fn until(&self, wanted: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Listening before looking: a change in between is not missed.
            changed.as_mut().enable();
            if wanted(&self.state.lock().unwrap()) {
                return;
            }
            changed.await;
        }
    }

    /// Counts a request, and says what is to go wrong with it. None with `Err` is a network that is down.
    fn arrived(&self, method: &str) -> Result<Option<Fault>, ()> {
        let mut state = self.state.lock().unwrap();
        *state.calls.entry(method.to_owned()).or_default() += 1;
        let number = state.log.len();
        state.log.push(method.to_owned());
        self.changed.notify_waiters();
        if state.down_from.is_some_and(|from| number >= from) {
            state.struck = true;
            return Err(());
        }
        if state.down {
            return Err(());
        }
        if let Some((at, fault)) = state.at
            && at == number
        {
            // What the cluster is to do first has not struck yet.
            state.struck = fault != Fault::HangAfter;
            return Ok(Some(fault));
        }
        let wanted = |order: &Order| order.method == "*" || order.method == method;
        let Some(place) = state.orders.iter().position(wanted) else { return Ok(None) };
        let order = &mut state.orders[place];
        order.left -= 1;
        let fault = order.fault;
        if order.left == 0 {
            state.orders.remove(place);
        }
        Ok(Some(fault))
    }
}

/// One connection: requests until either side closes it.
async fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(body) = read_request(&mut stream, &mut buffer).await? {
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        // Of a batch, the first.
        let first = request.get(0).unwrap_or(&request);
        let method = first["method"].as_str().unwrap_or("?").to_owned();
        let Ok(fault) = shared.arrived(&method) else { return Ok(()) };
        match fault {
            Some(Fault::DropBefore) => return Ok(()),
            Some(Fault::TooManyRequests) => {
                write_answer(&mut stream, 429, b"Too many requests").await?;
                continue;
            }
            Some(Fault::Status(status)) => {
                write_answer(&mut stream, status, b"{}").await?;
                continue;
            }
            Some(Fault::NodeBehind) => {
                let answer = serde_json::json!({"jsonrpc": "2.0", "id": first["id"], "error": {
                    "code": -32005, "message": "Node is behind by 150 slots", "data": {"numSlotsBehind": 150}}});
                write_answer(&mut stream, 200, answer.to_string().as_bytes()).await?;
                continue;
            }
            Some(Fault::Delay(time)) => tokio::time::sleep(time).await,
            Some(Fault::Hold) => shared.until(|state| state.released).await,
            Some(Fault::Hang) => return until_closed(&mut stream).await,
            _ => {}
        }
        let forwarded = runtime::http()
            .post(&shared.target)
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await;
        // A cluster that is gone looks like one to the caller too.
        let Ok(answer) = forwarded else { return Ok(()) };
        let status = answer.status().as_u16();
        let Ok(answer) = answer.bytes().await else { return Ok(()) };
        match fault {
            Some(Fault::DropAfter) => return Ok(()),
            Some(Fault::HangAfter) => {
                shared.state.lock().unwrap().struck = true;
                return until_closed(&mut stream).await;
            }
            Some(Fault::Garbage) => write_answer(&mut stream, 200, b"<html>502 Bad Gateway</html>").await?,
            Some(Fault::HalfAnswer) => {
                stream.write_all(head(200, answer.len()).as_bytes()).await?;
                stream.write_all(&answer[..answer.len() / 2]).await?;
                return stream.flush().await;
            }
            Some(Fault::DelayAfter(time)) => {
                tokio::time::sleep(time).await;
                write_answer(&mut stream, status, &answer).await?;
            }
            _ => write_answer(&mut stream, status, &answer).await?,
        }
    }
    Ok(())
}

/// Says nothing for as long as the caller stays.
async fn until_closed(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut rest = Vec::new();
    while stream.read_buf(&mut rest).await? > 0 {}
    Ok(())
}

fn head(status: u16, length: usize) -> String {
    format!("HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n")
}

async fn write_answer(stream: &mut TcpStream, status: u16, body: &[u8]) -> std::io::Result<()> {
    stream.write_all(head(status, body.len()).as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await
}

/// The body of the next request; None at the end of the connection. What follows it stays in `buffer`.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let length = content_length(&buffer[..end]);
            let start = end + 4;
            while buffer.len() < start + length {
                if stream.read_buf(buffer).await? == 0 {
                    return Ok(None);
                }
            }
            let rest = buffer.split_off(start + length);
            let body = buffer.split_off(start);
            *buffer = rest;
            return Ok(Some(body));
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head);
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}
