//! Finding contracts: server-sent events with resumption, and polling when there are none (spec, "SSE
//! events").

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use zx1_market::wire::SseEvent;
use zx1_market::{ContractId, Raw, State};

use super::error::Result;
use super::{ListFilter, Market};

/// What is looked for.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    /// Contracts with a smaller bounty are not shown. With a minimum the server sends no `accepted` events.
    pub min_bounty: Raw,
    /// Whether the event stream is used; without it only polling.
    pub sse: bool,
    /// How often open contracts are listed while there is no stream.
    pub poll: Duration,
    /// How often they are listed beside a stream: a contract that reopens has no event.
    pub poll_beside: Duration,
    /// A stream that is silent for longer is given up: keepalives come every 15 s.
    pub silence: Duration,
    /// Longest pause before a stream is opened again.
    pub longest_pause: Duration,
    /// Resume behind this event; `Some(0)`: from the oldest one that the server keeps.
    pub last_event_id: Option<u64>,
}

impl Default for WatchOptions {
    fn default() -> WatchOptions {
        WatchOptions {
            min_bounty: Raw::ZERO,
            sse: true,
            poll: Duration::from_secs(2),
            poll_beside: Duration::from_secs(15),
            silence: Duration::from_secs(45),
            longest_pause: Duration::from_secs(30),
            last_event_id: None,
        }
    }
}

/// Something was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Of which contract.
    pub contract_id: ContractId,
    /// The event; nothing when it was found in the list of open contracts.
    pub event: Option<SseEvent>,
    /// The event's number.
    pub id: Option<u64>,
}

/// Sightings, one after the other.
#[derive(Debug)]
pub struct Watch {
    receiver: mpsc::Receiver<Sighting>,
    task: JoinHandle<()>,
}

impl Watch {
    pub(super) fn start(market: Market, options: WatchOptions) -> Watch {
        let (sender, receiver) = mpsc::channel(64);
        let task = tokio::spawn(async move {
            let mut seeker =
                Seeker { last: options.last_event_id, market, options, sender, listed: Listed::default() };
            seeker.run().await;
        });
        Watch { receiver, task }
    }

    /// The next one. It waits for ever when nothing happens; failures of the network are waited out.
    pub async fn next(&mut self) -> Option<Sighting> {
        self.receiver.recv().await
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Contracts that were in the last list, so that each is shown once, and again when it comes back.
#[derive(Default)]
struct Listed(HashSet<ContractId>);

impl Listed {
    /// The new ones.
    fn update(&mut self, now: &[ContractId]) -> Vec<ContractId> {
        let new = now.iter().filter(|id| !self.0.contains(id)).copied().collect();
        self.0 = now.iter().copied().collect();
        new
    }
}

/// The receiver is gone.
struct Gone;

struct Seeker {
    market: Market,
    options: WatchOptions,
    sender: mpsc::Sender<Sighting>,
    last: Option<u64>,
    listed: Listed,
}

impl Seeker {
    async fn run(&mut self) {
        let mut pause = Duration::from_millis(250);
        loop {
            if self.options.sse {
                match self.follow().await {
                    Ok(Err(Gone)) => return,
                    // The stream was good and ended: the server stopped, or dropped a slow reader.
                    Ok(Ok(())) => pause = Duration::from_millis(250),
                    Err(error) => {
                        tracing::debug!(code = error.code(), %error, "no event stream; polling");
                        pause = pause.saturating_mul(2).min(self.options.longest_pause);
                    }
                }
            } else {
                pause = self.options.longest_pause;
            }
            // Poll until it is time to try the stream again.
            let again = Instant::now() + pause;
            loop {
                if self.list().await.is_err() {
                    return;
                }
                if Instant::now() >= again {
                    break;
                }
                sleep(self.options.poll.min(again.saturating_duration_since(Instant::now()))).await;
            }
        }
    }

    /// Read a stream to its end. `Ok(Ok)` after at least one frame.
    async fn follow(&mut self) -> Result<std::result::Result<(), Gone>> {
        let path = if self.options.min_bounty.is_zero() {
            "/contracts/stream".to_owned()
        } else {
            format!("/contracts/stream?min_bounty={}", self.options.min_bounty.xno())
        };
        let last = self.last.map(|last| last.to_string());
        let mut response = self.market.inner.link.stream(&path, last.as_deref()).await?;
        let mut frames = Frames::default();
        // What was posted before the stream was open is in the list.
        let mut list_at = Instant::now();
        let mut silent_at = Instant::now() + self.options.silence;
        loop {
            if Instant::now() >= list_at {
                if self.list().await.is_err() {
                    return Ok(Err(Gone));
                }
                list_at = Instant::now() + self.options.poll_beside;
            }
            let until = list_at.min(silent_at).saturating_duration_since(Instant::now());
            let chunk = match timeout(until, response.chunk()).await {
                Err(_) if Instant::now() >= silent_at => return Ok(Ok(())),
                Err(_) => continue,
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the event stream broke");
                    return Ok(Ok(()));
                }
                Ok(Ok(None)) => return Ok(Ok(())),
                Ok(Ok(Some(chunk))) => chunk,
            };
            silent_at = Instant::now() + self.options.silence;
            for frame in frames.push(&chunk) {
                if let Some(id) = frame.id {
                    self.last = Some(id);
                }
                let Some(event) = frame.event else { continue };
                if event.passes(self.options.min_bounty, None) {
                    let sighting =
                        Sighting { contract_id: event.contract_id, event: Some(event), id: frame.id };
                    if self.sender.send(sighting).await.is_err() {
                        return Ok(Err(Gone));
                    }
                }
            }
        }
    }

    async fn list(&mut self) -> std::result::Result<(), Gone> {
        let filter = ListFilter { status: Some(State::Open), limit: Some(200), mine: false };
        let contracts = match self.market.list(filter).await {
            Ok(contracts) => contracts,
            Err(error) => {
                tracing::debug!(code = error.code(), %error, "the list of contracts could not be read");
                return if self.sender.is_closed() { Err(Gone) } else { Ok(()) };
            }
        };
        let open: Vec<ContractId> = contracts.iter().map(|view| view.id).collect();
        for contract_id in self.listed.update(&open) {
            let sighting = Sighting { contract_id, event: None, id: None };
            self.sender.send(sighting).await.map_err(|_| Gone)?;
        }
        if self.sender.is_closed() { Err(Gone) } else { Ok(()) }
    }
}

/// One event of a stream.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    id: Option<u64>,
    /// Nothing when it could not be read: a newer server's event.
    event: Option<SseEvent>,
}

/// The longest line of a stream that is kept.
const MAX_LINE: usize = 64 << 10;

/// Cuts a stream of bytes into events. It keeps what is not complete yet, within a bound.
#[derive(Default)]
struct Frames {
    rest: Vec<u8>,
    /// The present line is too long and is dropped up to its end.
    skipping: bool,
    id: Option<u64>,
    data: String,
}

impl Frames {
    fn push(&mut self, bytes: &[u8]) -> VecDeque<Frame> {
        let mut frames = VecDeque::new();
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            let (text, ended) = match part.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (part, false),
            };
            if !self.skipping {
                self.rest.extend_from_slice(text);
                if self.rest.len() > MAX_LINE {
                    self.rest.clear();
                    self.skipping = true;
                }
            }
            if ended {
                let line = std::mem::take(&mut self.rest);
                if !std::mem::take(&mut self.skipping) {
                    frames.extend(self.line(&line));
                }
            }
        }
        frames
    }

    fn line(&mut self, line: &[u8]) -> Option<Frame> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = String::from_utf8_lossy(line);
        if line.is_empty() {
            let (data, id) = (std::mem::take(&mut self.data), self.id.take());
            if data.is_empty() && id.is_none() {
                return None;
            }
            return Some(Frame { id, event: serde_json::from_str(&data).ok() });
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.id = value.trim().parse().ok(),
            "data" if self.data.len() + value.len() <= MAX_LINE => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#"{"event":"contract_posted","contract_id":"0011223344556677","status":"open","bounty":"0.5","command":"make"}"#;

    fn all(text: &[u8], step: usize) -> Vec<Frame> {
        let mut frames = Frames::default();
        text.chunks(step).flat_map(|chunk| frames.push(chunk)).collect()
    }

    #[test]
    fn a_stream_is_read_alike_however_it_is_cut() {
        let text =
            format!(": hello\n\nid: 7\ndata: {EVENT}\n\n: keepalive\n\nid: 9\r\ndata: {EVENT}\r\n\r\n");
        let whole = all(text.as_bytes(), usize::MAX);
        assert_eq!(whole.iter().map(|f| f.id).collect::<Vec<_>>(), [Some(7), Some(9)]);
        assert!(whole.iter().all(|f| f.event.is_some()));
        for step in [1, 2, 3, 7, 50] {
            assert_eq!(all(text.as_bytes(), step), whole, "{step}");
        }
    }

    #[test]
    fn garbage_and_endless_lines_are_dropped_and_the_next_event_is_read() {
        let mut text = b"data: ".to_vec();
        text.extend(std::iter::repeat_n(b'x', 3 * MAX_LINE));
        text.extend(format!("\n\ndata: {{\"event\":\"new_kind\"}}\n\ndata: {EVENT}\n\n").bytes());
        let frames = all(&text, 4096);
        assert_eq!(frames.iter().filter(|f| f.event.is_some()).count(), 1);
        let mut long = Frames::default();
        for _ in 0..100 {
            long.push(&[b'y'; 4096]);
        }
        assert!(long.rest.len() <= MAX_LINE);
    }

    #[test]
    fn a_listed_contract_is_shown_once_and_again_when_it_comes_back() {
        let id = |n: u8| format!("{n:016x}").parse::<ContractId>().unwrap();
        let mut listed = Listed::default();
        assert_eq!(listed.update(&[id(1), id(2)]), [id(1), id(2)]);
        assert_eq!(listed.update(&[id(2)]), []);
        assert_eq!(listed.update(&[id(1), id(2)]), [id(1)]);
    }
}
