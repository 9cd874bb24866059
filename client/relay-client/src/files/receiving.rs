//! The receiver's half of a transfer.

use std::time::Duration;

use tokio::time::Instant;
use zx1_relay_rules::event::Event;
use zx1_relay_rules::slurp::{self, File};
use zx1_relay_rules::transfer::{Message, Offered, Receiver, State};
use zx1_relay_rules::{AgentId, RelayError};

use super::sending::framed;
use crate::client::Client;
use crate::session::News;
use crate::{ClientError, Result};

/// Milliseconds between two requests for a chunk that is missing.
const ASK_MS: u64 = 1_500;
/// Longest wait for the next news, after which the time that is left is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What an agent offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The agent that offers them.
    pub from: AgentId,
    /// The name that it gives itself.
    pub nick: String,
    /// Names and sizes as it says; the archive decides.
    pub files: Vec<Offered>,
    /// Bytes of all files.
    pub total_size: u64,
}

/// A transfer from offer to acknowledgement, without a connection. Time is an argument.
#[derive(Debug, Clone)]
pub struct Receiving {
    from: AgentId,
    tid: String,
    receiver: Receiver,
    asked_at: Option<u64>,
    /// Whether a chunk is missing that was not asked for yet.
    has_gap: bool,
}

impl Receiving {
    /// Takes an offer.
    ///
    /// # Errors
    ///
    /// More than 50 MiB, or more chunks than anybody could send in time.
    pub fn offered(from: &AgentId, offer: &Message, now: u64) -> Result<Receiving> {
        let Message::Offer { tid, .. } = offer else { return Err(RelayError::NotATransfer.into()) };
        let receiver = Receiver::offered(offer, now)?;
        Ok(Receiving { from: from.clone(), tid: tid.clone(), receiver, asked_at: None, has_gap: false })
    }

    /// Accepts; the message says so.
    ///
    /// # Errors
    ///
    /// After 30 minutes.
    pub fn accept(&mut self, now: u64) -> Result<Message> {
        self.receiver.accept(now)?;
        let accepted = self.ask(now);
        self.asked_at = None;
        Ok(accepted)
    }

    /// Asks for the first chunk that is missing.
    fn ask(&mut self, now: u64) -> Message {
        (self.asked_at, self.has_gap) = (Some(now), false);
        Message::Accept { tid: self.tid.clone(), from: self.receiver.next() }
    }

    /// Asks, unless it did so just now: then [`Receiving::tick`] does.
    fn ask_again(&mut self, now: u64) -> Option<Message> {
        self.has_gap = true;
        self.tick(now)
    }

    /// Asks for a chunk that is missing still; to be called every second.
    pub fn tick(&mut self, now: u64) -> Option<Message> {
        let waits = self.asked_at.is_some_and(|at| now.saturating_sub(at) < ASK_MS);
        if waits || !self.has_gap { None } else { Some(self.ask(now)) }
    }

    /// Asks again after a break of the own connection.
    pub fn back(&mut self, now: u64) -> Option<Message> {
        (self.receiver.state(now) == State::Receiving).then(|| self.ask(now))
    }

    /// Whether its time is over.
    pub fn is_over(&self, now: u64) -> bool {
        self.receiver.state(now) == State::Ended
    }

    /// The message that ends it.
    pub fn ack(&self, error: Option<String>) -> Message {
        Message::Ack { tid: self.tid.clone(), ok: error.is_none(), error }
    }

    /// Takes the sender's message: what to answer, and the archive once it is whole.
    ///
    /// # Errors
    ///
    /// Another archive than the offered one, too many bytes, the deadline.
    pub fn hear(&mut self, message: &Message, now: u64) -> Result<(Option<Message>, Option<String>)> {
        match message {
            Message::Chunk { tid, idx, total, data } if *tid == self.tid => {
                match self.receiver.chunk(*idx, *total, data, now) {
                    Ok(()) => {
                        self.has_gap = false;
                        Ok((None, None))
                    }
                    // One before it was lost.
                    Err(RelayError::Chunk) if *idx > self.receiver.next() => Ok((self.ask_again(now), None)),
                    Err(refusal) => Err(refusal.into()),
                }
            }
            Message::Complete { tid, sha256 } if *tid == self.tid => {
                match self.receiver.complete(sha256, now) {
                    Ok(archive) => Ok((None, Some(archive))),
                    Err(RelayError::Chunk) => Ok((self.ask_again(now), None)),
                    Err(refusal) => Err(refusal.into()),
                }
            }
            // The sender came back. A sender that began anew has another id and the same archive.
            Message::Offer { tid, .. } => {
                if *tid == self.tid {
                    return Ok((self.ask_again(now), None));
                }
                if let Ok(resumed) = self.receiver.clone().resume(message, now) {
                    (self.receiver, self.tid) = (resumed, tid.clone());
                    return Ok((Some(self.accept(now)?), None));
                }
                Ok((None, None))
            }
            _ => Ok((None, None)),
        }
    }
}

/// Waits for an offer of this agent, asks whether it is wanted, receives, and gives the files to `store`. Only when that
/// succeeds the sender learns that they arrived. Messages of others that come meanwhile are passed over.
///
/// # Errors
///
/// No offer in time, one that is declined or too large, another archive than the offered one, what `store` refuses.
pub async fn receive<T>(
    client: &mut Client,
    from: &AgentId,
    within: Duration,
    is_wanted: impl FnOnce(&Offer) -> bool,
    store: impl FnOnce(&[File]) -> Result<T>,
) -> Result<T> {
    let clock = client.options().clock.clone();
    let (offer, message) = wait_for_offer(client, from, within).await?;
    let tid = match &message {
        Message::Offer { tid, .. } => tid.clone(),
        _ => String::new(),
    };
    let mut receiving = match Receiving::offered(from, &message, clock.unix_ms()) {
        Ok(receiving) => receiving,
        Err(error) => {
            say(client, from, &Message::Reject { tid }).await?;
            return Err(error);
        }
    };
    if !is_wanted(&offer) {
        say(client, from, &Message::Reject { tid }).await?;
        return Err(ClientError::Declined);
    }
    let accepted = receiving.accept(clock.unix_ms())?;
    say(client, from, &accepted).await?;
    let received = match whole(client, &mut receiving).await {
        Ok(archive) => slurp::apply(&archive).map_err(ClientError::from).and_then(|files| store(&files)),
        Err(error) => Err(error),
    };
    // Nobody is left to tell when the connection is gone.
    if !matches!(received, Err(ClientError::Ended | ClientError::Displaced | ClientError::Removed { .. })) {
        let why = received.as_ref().err().map(why);
        say(client, from, &receiving.ack(why)).await?;
    }
    received
}

/// What the sender learns of a failure: no path of this machine.
fn why(error: &ClientError) -> String {
    match error {
        ClientError::Rule(refusal) => refusal.to_string(),
        ClientError::Taken { .. } => "A file of this name already exists.".to_owned(),
        _ => "The files could not be written.".to_owned(),
    }
}

async fn wait_for_offer(client: &mut Client, from: &AgentId, within: Duration) -> Result<(Offer, Message)> {
    let until = Instant::now() + within;
    loop {
        let news = tokio::time::timeout_at(until, client.next()).await.map_err(|_| ClientError::NoOffer)?;
        let heard = match news {
            None => return Err(ClientError::Ended),
            Some(News::Ended(error)) => return Err(error),
            Some(News::Heard(heard)) => heard,
            Some(News::Lost { .. } | News::Back(_)) => continue,
        };
        let Event::Said(said) = &heard.event else { continue };
        if said.from != *from || said.replay {
            continue;
        }
        let Ok(message) = Message::parse(&said.content) else { continue };
        if let Message::Offer { files, total_size, sender_nick, .. } = &message {
            let offer = Offer {
                from: from.clone(),
                nick: sender_nick.clone(),
                files: files.clone(),
                total_size: *total_size,
            };
            return Ok((offer, message));
        }
    }
}

async fn whole(client: &mut Client, receiving: &mut Receiving) -> Result<String> {
    let clock = client.options().clock.clone();
    loop {
        if receiving.is_over(clock.unix_ms()) {
            return Err(RelayError::TransferExpired.into());
        }
        let news = tokio::time::timeout(LOOK, client.next()).await;
        let now = clock.unix_ms();
        if let Some(asked) = receiving.tick(now) {
            let from = receiving.from.clone();
            say(client, &from, &asked).await?;
        }
        let Ok(news) = news else { continue };
        let (answer, archive) = match news {
            None => return Err(ClientError::Ended),
            Some(News::Ended(error)) => return Err(error),
            Some(News::Lost { .. }) => (None, None),
            Some(News::Back(_)) => (receiving.back(now), None),
            Some(News::Heard(heard)) => {
                let content = match &heard.event {
                    Event::Said(said) if said.from == receiving.from && !said.replay => Some(&said.content),
                    Event::FileChunk { from, content, .. } if *from == receiving.from => Some(content),
                    _ => None,
                };
                match content.map(|content| Message::parse(content)) {
                    Some(Ok(message)) => receiving.hear(&message, now)?,
                    _ => (None, None),
                }
            }
        };
        if let Some(answer) = answer {
            let from = receiving.from.clone();
            say(client, &from, &answer).await?;
        }
        if let Some(archive) = archive {
            return Ok(archive);
        }
    }
}

/// Says it, or leaves it to the next request when the connection is lost just then.
async fn say(client: &Client, to: &AgentId, message: &Message) -> Result<()> {
    match client.send(framed(to, message, false)).await {
        Err(ClientError::Lost { .. }) => Ok(()),
        other => other,
    }
}
