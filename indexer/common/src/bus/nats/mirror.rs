//! Keeps the mirror of the stream: follows it, and goes on after a loss where it stopped.

use super::{Shared, connection};
use crate::bus::{Body, BusError, Result, State};
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::push::{Ordered, OrderedConfig};
use async_nats::jetstream::{Message, stream};
use futures_util::StreamExt as _;
use std::collections::{HashMap, HashSet};
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
    let (_, info) = connection::prepare(&shared.settings, &shared.client, &shared.jetstream).await?;
    begin(shared, &info, made);
    let last = shared.topics.sequence();
    let policy = DeliverPolicy::ByStartSequence { start_sequence: last.saturating_add(1) };
    let all = vec![format!("{}.topic.>", shared.settings.name)];
    let (mut messages, pending) = consume(shared, &shared.settings.name, all, policy).await?;
    let mut resumed = Resumed { pending, is_done: false, is_first: last == 0, messages: Vec::new() };
    // Whoever gets no answer from here on says so there.
    let mut state = shared.state.subscribe();
    loop {
        if resumed.pending == 0 && !resumed.is_done {
            resumed.deliver(shared);
            *attempt = 0;
            shared.state.send_replace(State::Connected);
            tracing::info!("the bus is connected");
        }
        tokio::select! {
            biased;
            () = &mut lost => return Ok(()),
            _ = state.wait_for(|state| *state == State::Degraded), if resumed.is_done => return Ok(()),
            message = messages.next() => match message {
                Some(Ok(message)) => resumed.take(shared, &message)?,
                Some(Err(error)) => return Err(refused(&error)),
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
    let consumer = shared.jetstream.create_consumer_on_stream(config, stream).await;
    let consumer = consumer.map_err(|error| refused(&error))?;
    let pending = consumer.cached_info().num_pending;
    Ok((consumer.messages().await.map_err(|error| refused(&error))?, pending))
}

/// A message that was read from the stream.
struct Read {
    topic: String,
    sequence: u64,
    body: Body,
}

/// What the stream has for a mirror that was away. It is held back until all of it is here: only then it shows of
/// which topics more may have been published than is kept.
struct Resumed {
    pending: u64,
    is_done: bool,
    /// Nothing was mirrored before, so nothing is missing.
    is_first: bool,
    messages: Vec<Read>,
}

impl Resumed {
    fn take(&mut self, shared: &Shared, message: &Message) -> Result<()> {
        let info = message.info().map_err(|error| refused(&error))?;
        let (sequence, pending) = (info.stream_sequence, info.pending);
        let id = message.headers.as_ref().and_then(|headers| headers.get(NATS_MESSAGE_ID));
        // What others wrote there without an id is not ours.
        if let (Some(topic), Some(id)) = (connection::topic(&shared.settings, &message.subject), id) {
            let body = Body { id: id.as_str().into(), bytes: message.payload.clone() };
            let read = Read { topic, sequence, body };
            if self.is_done || self.is_first {
                add(shared, read);
            } else {
                self.messages.push(read);
            }
        }
        if self.is_done || self.is_first {
            shared.mirrored.send_replace(sequence);
        }
        self.pending = if self.is_done { 0 } else { pending };
        Ok(())
    }

    fn deliver(&mut self, shared: &Shared) {
        self.is_done = true;
        let mut counts = HashMap::<&str, usize>::new();
        for read in &self.messages {
            *counts.entry(&read.topic).or_default() += 1;
        }
        let kept = shared.settings.bus.bounds.kept;
        let full = counts.into_iter().filter(|(_, count)| *count >= kept);
        let mut full: HashSet<String> = full.map(|(topic, _)| topic.to_owned()).collect();
        for read in std::mem::take(&mut self.messages) {
            if full.remove(&read.topic) {
                shared.topics.gap(Some(&read.topic));
            }
            let sequence = read.sequence;
            add(shared, read);
            shared.mirrored.send_replace(sequence);
        }
    }
}

fn add(shared: &Shared, read: Read) {
    let Read { topic, sequence, body } = read;
    shared.topics.push_at(&topic, sequence, body.id.len() + body.bytes.len(), body);
}
