//! The sender's half of a transfer.

use std::time::Duration;

use tokio::time::Instant;
use zx1_relay_rules::AgentId;
use zx1_relay_rules::client::{Frame, Target, units};
use zx1_relay_rules::defaults::{CHUNK_SEND_MS, MAX_CONTENT, OFFER_MS, RECEIVE_MS};
use zx1_relay_rules::event::Event;
use zx1_relay_rules::slurp::{self, File};
use zx1_relay_rules::transfer::{Message, Offered, chunks};

use crate::client::{Client, token};
use crate::session::{News, refusal};
use crate::{ClientError, Result};

/// How far a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Chunks that were sent.
    pub sent: usize,
    /// Chunks in all.
    pub chunks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waits for the answer to the offer, or to be asked again.
    Waiting,
    Running,
    /// All was sent; the receiver checks it.
    Checked,
    Done,
}

/// A transfer from offer to acknowledgement, without a connection. Time is an argument.
#[derive(Debug, Clone)]
pub struct Sending {
    tid: String,
    offer: Message,
    sha256: String,
    chunks: Vec<String>,
    next: usize,
    state: State,
    deadline: u64,
    is_accepted: bool,
}

impl Sending {
    /// Packs the files. `created` is for the archive's head.
    ///
    /// # Errors
    ///
    /// What no receiver takes, and what takes longer than it waits.
    pub fn new(files: &[File], name: &str, created: &str, nick: &str, now: u64) -> Result<Sending> {
        let archive = slurp::pack(name, created, files)?;
        let chunks: Vec<String> = chunks(&archive)?.into_iter().map(str::to_owned).collect();
        let tid = token()?;
        let sha256 = slurp::sha256(&archive);
        let listed = |file: &File| Offered { name: file.path.clone(), size: file.bytes.len() as u64 };
        let mut listed: Vec<Offered> = files.iter().map(listed).collect();
        let total_size = listed.iter().map(|file| file.size).sum();
        let offer = loop {
            let offer = Message::Offer {
                tid: tid.clone(),
                files: listed.clone(),
                total_size,
                sha256: sha256.clone(),
                chunks: chunks.len() as u64,
                sender_nick: nick.to_owned(),
            };
            // The list is for people; the archive has all.
            if units(&offer.encode()) <= MAX_CONTENT || listed.pop().is_none() {
                break offer;
            }
        };
        let deadline = now.saturating_add(OFFER_MS);
        let state = State::Waiting;
        Ok(Sending { tid, offer, sha256, chunks, next: 0, state, deadline, is_accepted: false })
    }

    /// The offer, which begins the transfer and goes on with it after a break.
    pub fn offer(&self) -> &Message {
        &self.offer
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress { sent: self.next, chunks: self.chunks.len() }
    }

    /// Whether the receiver has all and says so.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Milliseconds that are left.
    pub fn left(&self, now: u64) -> u64 {
        self.deadline.saturating_sub(now)
    }

    /// Waits until the receiver asks for the next chunk.
    pub fn pause(&mut self) {
        if self.state != State::Done {
            self.state = State::Waiting;
        }
    }

    /// The next message, a chunk or the end; `None` while the other side has the word.
    pub fn next_message(&mut self) -> Option<Message> {
        if self.state != State::Running {
            return None;
        }
        let (idx, total) = (self.next as u64, self.chunks.len() as u64);
        let Some(data) = self.chunks.get(self.next).cloned() else {
            self.state = State::Checked;
            return Some(Message::Complete { tid: self.tid.clone(), sha256: self.sha256.clone() });
        };
        self.next += 1;
        Some(Message::Chunk { tid: self.tid.clone(), idx, total, data })
    }

    /// Takes the receiver's message.
    ///
    /// # Errors
    ///
    /// It rejects, or could not take the files.
    pub fn hear(&mut self, message: &Message, now: u64) -> Result<()> {
        match message {
            Message::Accept { tid, from } if *tid == self.tid && self.state != State::Done => {
                let from = usize::try_from(*from).unwrap_or(usize::MAX);
                if from > self.chunks.len() {
                    return Err(zx1_relay_rules::RelayError::Chunk.into());
                }
                if !self.is_accepted {
                    self.deadline = now.saturating_add(RECEIVE_MS);
                }
                (self.is_accepted, self.next, self.state) = (true, from, State::Running);
            }
            Message::Reject { tid } if *tid == self.tid => return Err(ClientError::Rejected),
            Message::Ack { tid, ok: true, .. } if *tid == self.tid => self.state = State::Done,
            Message::Ack { tid, ok: false, error } if *tid == self.tid => {
                let why = zx1_net::one_line(error.as_deref().unwrap_or("it did not say why"), 200);
                return Err(ClientError::NotTaken { why: zx1_net::clause(&why) });
            }
            _ => {}
        }
        Ok(())
    }
}

/// Sends files to an agent: offers, waits until it accepts, sends, and waits until it has checked them. Messages of
/// others that come meanwhile are passed over.
///
/// # Errors
///
/// The recipient is not here, rejects, or could not take the files; time; the relay.
pub async fn send(
    client: &mut Client,
    to: &AgentId,
    sending: &mut Sending,
    mut progress: impl FnMut(Progress),
) -> Result<()> {
    offer(client, to, sending).await?;
    let clock = client.options().clock.clone();
    loop {
        while let Some(news) = client.try_next() {
            take(client, to, sending, news).await?;
        }
        if sending.is_done() {
            return Ok(());
        }
        if sending.left(clock.unix_ms()) == 0 {
            let late = zx1_relay_rules::RelayError::OfferExpired;
            return Err(if sending.is_accepted {
                zx1_relay_rules::RelayError::TransferExpired
            } else {
                late
            }
            .into());
        }
        if let Some(message) = sending.next_message() {
            let is_chunk = matches!(message, Message::Chunk { .. });
            let sent = client.send(framed(to, &message, is_chunk)).await;
            progress(sending.progress());
            match sent {
                // It is asked for again once the connection is back.
                Err(ClientError::Lost { .. }) => sending.pause(),
                other => other?,
            }
            continue;
        }
        let until =
            Instant::now() + Duration::from_millis(sending.left(clock.unix_ms()).min(CHUNK_SEND_MS * 5));
        match tokio::time::timeout_at(until, client.next()).await {
            Ok(Some(news)) => take(client, to, sending, news).await?,
            Ok(None) => return Err(ClientError::Ended),
            Err(_) => {}
        }
    }
}

async fn offer(client: &mut Client, to: &AgentId, sending: &Sending) -> Result<()> {
    client.send(framed(to, sending.offer(), false)).await
}

async fn take(client: &mut Client, to: &AgentId, sending: &mut Sending, news: News) -> Result<()> {
    let now = client.options().clock.unix_ms();
    match news {
        News::Ended(error) => return Err(error),
        News::Lost { .. } => sending.pause(),
        News::Back(_) => offer(client, to, sending).await?,
        News::Heard(heard) => match &heard.event {
            Event::Said(said) if said.from == *to && !said.replay => {
                if let Ok(message) = Message::parse(&said.content) {
                    sending.hear(&message, now)?;
                }
            }
            // The recipient is away: before it accepted that is the end, afterwards it may come back.
            Event::Refused { code, .. } if sending.is_accepted && code == "AGENT_NOT_FOUND" => {
                sending.pause()
            }
            // A chunk that the relay did not take is asked for by the receiver.
            Event::Refused { code, .. } if sending.is_accepted && code == "RATE_LIMITED" => {}
            event => {
                if let Some(error) = refusal(event) {
                    return Err(error);
                }
            }
        },
    }
    Ok(())
}

/// A message of a transfer as a frame.
pub(super) fn framed(to: &AgentId, message: &Message, is_chunk: bool) -> Frame {
    let content = message.encode();
    if is_chunk {
        Frame::FileChunk { to: to.clone(), content }
    } else {
        Frame::Msg { to: Target::Agent(to.clone()), content, sig: None }
    }
}
