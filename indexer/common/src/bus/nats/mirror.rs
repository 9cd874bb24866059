//! Keeps the mirror of the stream: hears what is republished, and reads after a loss what was missed.
//!
//! The stream alone would not do: of a topic it has only what is kept, and what a consumer has not read before that is
//! gone without a word. A republished message names the one before it in its topic, so nothing is missed unnoticed.

use super::{ANSWER, Shared, connection};
use crate::bus::{Body, BusError, Result, State};
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::push::{Ordered, OrderedConfig};
use async_nats::jetstream::stream;
use async_nats::{HeaderMap, header};
use axum::body::Bytes;
use futures_util::StreamExt as _;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::sync::Arc;

/// Follows the stream for as long as the bus lives.
pub(super) async fn keep(shared: Arc<Shared>) {
    let mut attempt = 0;
    // When the stream was made that is mirrored, in nanoseconds.
    let mut made = None;
    loop {
        match follow(&shared, &mut attempt, &mut made).await {
            Ok(()) => shared.degrade(&"the connection was lost"),
            Err(error) => shared.degrade(&error),
        }
        tokio::time::sleep(connection::pause(attempt)).await;
        attempt += 1;
    }
}

fn refused(why: &dyn Display) -> BusError {
    BusError::Refused { what: "to deliver a stream", why: why.to_string() }
}

/// Follows the stream until the connection is lost.
async fn follow(shared: &Shared, attempt: &mut usize, made: &mut Option<i128>) -> Result<()> {
    let mut lost = std::pin::pin!(shared.linked().await);
    let live = shared.client.subscribe(format!("{}.live.>", shared.settings.name)).await;
    let mut live = live.map_err(|error| refused(&error))?;
    // The server answers in order: what is published after the answer to the next question is heard.
    let (_, info) = connection::prepare(&shared.settings, &shared.client, &shared.jetstream).await?;
    begin(shared, &info, made);
    let mut missed = Missed::read(shared).await?;
    while missed.pending > 0 {
        tokio::select! {
            biased;
            () = &mut lost => return Ok(()),
            message = live.next() => match message {
                Some(message) => missed.hear(Read::live(shared, message)),
                None => return Ok(()),
            },
            message = missed.messages.next() => match message {
                Some(Ok(message)) => {
                    let info = message.info().map_err(|error| refused(&error))?;
                    let (sequence, pending) = (info.stream_sequence, info.pending);
                    missed.take(Read::kept(shared, message.message, sequence), pending);
                }
                Some(Err(error)) => return Err(refused(&error)),
                None => return Ok(()),
            },
        }
    }
    missed.deliver(shared);
    *attempt = 0;
    shared.state.send_replace(State::Connected);
    tracing::info!("the bus is connected");
    // Whoever gets no answer from here on says so there.
    let mut state = shared.state.subscribe();
    loop {
        tokio::select! {
            biased;
            () = &mut lost => return Ok(()),
            _ = state.wait_for(|state| *state == State::Degraded) => return Ok(()),
            message = live.next() => match message {
                Some(message) => if let Some(read) = Read::live(shared, message) {
                    if read.is_after_gap(shared) {
                        return Err(refused(&"messages were missed"));
                    }
                    read.add(shared);
                },
                None => return Ok(()),
            },
        }
    }
}

/// A stream that was made anew, or that has lost what was mirrored, numbers its messages anew.
fn begin(shared: &Shared, info: &stream::Info, made: &mut Option<i128>) {
    let created = info.created.unix_timestamp_nanos();
    let mirrored = shared.topics.sequence();
    if made.is_some_and(|made| made != created) || info.state.last_sequence < mirrored {
        tracing::warn!("the stream of messages was made anew; what it had is lost");
        shared.topics.reset();
        shared.mirrored.send_replace(0);
        shared.published.send_replace(0);
    } else if mirrored > 0 && info.state.first_sequence > mirrored.saturating_add(1) {
        shared.topics.gap(None);
    }
    *made = Some(created);
}

/// A consumer of a stream, and the number of messages that it has for now.
pub(super) async fn consume(
    shared: &Shared,
    stream: &str,
    filter_subjects: Vec<String>,
    deliver_policy: DeliverPolicy,
) -> Result<(Ordered, u64)> {
    let deliver_subject = shared.client.new_inbox();
    let config =
        OrderedConfig { deliver_subject, filter_subjects, deliver_policy, ..OrderedConfig::default() };
    let consumer = shared.jetstream.create_consumer_on_stream(config, stream);
    let consumer = tokio::time::timeout(ANSWER, consumer).await.map_err(|_| BusError::Away)?;
    let consumer = consumer.map_err(|error| refused(&error))?;
    let pending = consumer.cached_info().num_pending;
    Ok((consumer.messages().await.map_err(|error| refused(&error))?, pending))
}

/// A message, kept or live.
struct Read {
    topic: String,
    sequence: u64,
    /// The number of the one before it in its topic, 0 for none. Only a live one says it.
    before: Option<u64>,
    body: Body,
}

impl Read {
    /// What others wrote under another kind of subject is not ours.
    fn kept(shared: &Shared, message: async_nats::Message, sequence: u64) -> Option<Read> {
        let topic = connection::topic(&shared.settings, "topic", &message.subject)?;
        let body = body(message.headers.as_ref(), message.payload, sequence);
        Some(Read { topic, sequence, before: None, body })
    }

    fn live(shared: &Shared, message: async_nats::Message) -> Option<Read> {
        let topic = connection::topic(&shared.settings, "live", &message.subject)?;
        let headers = message.headers.as_ref()?;
        let number = |name: header::HeaderName| headers.get(name)?.as_str().parse().ok();
        let (sequence, before) = (number(header::NATS_SEQUENCE)?, number(header::NATS_LAST_SEQUENCE)?);
        let body = body(message.headers.as_ref(), message.payload, sequence);
        Some(Read { topic, sequence, before: Some(before), body })
    }

    /// Whether a live message follows one of its topic that was not mirrored.
    fn is_after_gap(&self, shared: &Shared) -> bool {
        self.before.is_some_and(|before| before > shared.topics.newest(&self.topic))
    }

    fn add(self, shared: &Shared) {
        let Read { topic, sequence, body, .. } = self;
        shared.topics.push_at(&topic, sequence, body.id.len() + body.bytes.len(), body);
        shared.mirrored.send_replace(shared.topics.sequence());
    }
}

/// A message that somebody wrote without an id has one that no other has.
fn body(headers: Option<&HeaderMap>, bytes: Bytes, sequence: u64) -> Body {
    let id = headers.and_then(|headers| headers.get(header::NATS_MESSAGE_ID));
    let id = id.map_or_else(|| format!("#{sequence}").into(), |id| id.as_str().into());
    Body { id, bytes }
}

/// What the stream has after what was mirrored, and what came while it was read. It is held back until all of it is
/// here: only then it is in order, and shows of which topics something is missing.
struct Missed {
    messages: Ordered,
    pending: u64,
    /// Nothing was mirrored before, so nothing is missing.
    is_first: bool,
    by_sequence: BTreeMap<u64, Read>,
    /// How many messages of a topic were read from the stream.
    counts: HashMap<String, usize>,
}

impl Missed {
    async fn read(shared: &Shared) -> Result<Missed> {
        let last = shared.topics.sequence();
        let policy = DeliverPolicy::ByStartSequence { start_sequence: last.saturating_add(1) };
        let all = vec![format!("{}.topic.>", shared.settings.name)];
        let (messages, pending) = consume(shared, &shared.settings.name, all, policy).await?;
        let (by_sequence, counts) = (BTreeMap::new(), HashMap::new());
        Ok(Missed { messages, pending, is_first: last == 0, by_sequence, counts })
    }

    fn take(&mut self, read: Option<Read>, pending: u64) {
        self.pending = pending;
        if let Some(read) = read {
            *self.counts.entry(read.topic.clone()).or_default() += 1;
            self.by_sequence.entry(read.sequence).or_insert(read);
        }
    }

    fn hear(&mut self, read: Option<Read>) {
        if let Some(read) = read {
            self.by_sequence.insert(read.sequence, read);
        }
    }

    fn deliver(mut self, shared: &Shared) {
        let kept = shared.settings.bus.bounds.kept;
        for read in self.by_sequence.into_values() {
            // The first of its topic that is read and does not say what was before it: as many as are kept came, or more.
            let count = self.counts.remove(&read.topic);
            let may_miss = read.before.is_none() && count.is_some_and(|count| count >= kept);
            if !self.is_first && (may_miss || read.is_after_gap(shared)) {
                shared.topics.gap(Some(&read.topic));
            }
            read.add(shared);
        }
    }
}
