//! Leases in a bucket.

use super::mirror::consume;
use super::{Shared, connection};
use crate::bus::leases::Table;
use crate::bus::{BusError, Claim, Held, Result, State, Watch, name};
use async_nats::header::NATS_MARKER_REASON;
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::kv::{Operation, UpdateErrorKind};
use axum::body::Bytes;
use futures_util::StreamExt as _;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// The server looks for entries that have ended every two seconds, so leases last up to that much longer there.
const LATE: Duration = Duration::from_secs(3);

/// How often a claim is tried again that others have overtaken.
const RACES: usize = 8;

impl Shared {
    fn unanswered(&self, error: &dyn std::fmt::Display) -> BusError {
        self.degrade(error);
        BusError::Away
    }

    /// Writes an entry whose last revision is this one, 0 for none. `None` when it is another.
    async fn put(&self, key: &str, value: Bytes, revision: u64) -> Result<Option<u64>> {
        match self.bucket.update(name::to_subject(key), value, revision).await {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => Err(self.unanswered(&error)),
        }
    }

    /// The last revision of an entry, 0 for none, and its value where it stands.
    async fn entry(&self, key: &str) -> Result<(u64, Option<Bytes>)> {
        match self.bucket.entry(name::to_subject(key)).await {
            Ok(Some(entry)) => {
                let stands = entry.operation == Operation::Put;
                Ok((entry.revision, stands.then_some(entry.value)))
            }
            Ok(None) => Ok((0, None)),
            Err(error) => Err(self.unanswered(&error)),
        }
    }

    pub(super) async fn take(&self, key: &str, value: Bytes, from: Option<u64>) -> Result<Claim> {
        name::check(key)?;
        name::check_size(value.len())?;
        self.available()?;
        let mut last = from.unwrap_or(0);
        for _ in 0..RACES {
            if let Some(revision) = self.put(key, value.clone(), last).await? {
                return Ok(Claim::Taken { revision });
            }
            let (revision, stands) = self.entry(key).await?;
            match stands {
                Some(other) if other != value => return Ok(Claim::Held(Held { value: other, revision })),
                // Free, or this claim's own, whose answer was lost.
                _ => last = revision,
            }
        }
        Err(BusError::Away)
    }

    pub(super) async fn renew(&self, key: &str, value: Bytes, revision: u64) -> Result<Option<u64>> {
        name::check(key)?;
        self.available()?;
        if let Some(revision) = self.put(key, value.clone(), revision).await? {
            return Ok(Some(revision));
        }
        match self.entry(key).await? {
            (revision, Some(stands)) if stands == value => self.put(key, value, revision).await,
            _ => Ok(None),
        }
    }

    pub(super) async fn release(&self, key: &str, revision: u64) -> Result<bool> {
        name::check(key)?;
        self.available()?;
        match self.bucket.delete_expect_revision(name::to_subject(key), Some(revision)).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(false),
            Err(error) => Err(self.unanswered(&error)),
        }
    }

    pub(super) async fn holder(&self, key: &str) -> Result<Option<Held>> {
        name::check(key)?;
        self.available()?;
        let (revision, value) = self.entry(key).await?;
        Ok(value.map(|value| Held { value, revision }))
    }
}

/// Watches names with a table of its own, in which leases end also where the server says nothing of it.
pub(super) fn watch(shared: &Arc<Shared>, prefix: &str) -> Result<Watch> {
    let table = Arc::new(Table::new(shared.settings.bus.lease + LATE));
    let watch = table.watch(prefix)?;
    let task = tokio::spawn(keep(shared.clone(), prefix.to_owned(), table));
    Ok(watch.with(AbortOnDropHandle::new(task)))
}

async fn keep(shared: Arc<Shared>, prefix: String, table: Arc<Table>) {
    let mut state = shared.state.subscribe();
    let mut attempt = 0;
    while state.wait_for(|state| *state == State::Connected).await.is_ok() {
        if let Err(error) = follow(&shared, &prefix, &table).await {
            tracing::warn!(%error, "leases are not followed");
        }
        tokio::time::sleep(connection::pause(attempt)).await;
        attempt += 1;
    }
}

async fn follow(shared: &Shared, prefix: &str, table: &Table) -> Result<()> {
    let mut lost = std::pin::pin!(shared.linked().await);
    let own = &shared.bucket.prefix;
    let filter = match prefix {
        "" => vec![format!("{own}>")],
        prefix => ["", ".>"].map(|end| format!("{own}{}{end}", name::to_subject(prefix))).to_vec(),
    };
    let (mut messages, mut pending) =
        consume(shared, &shared.bucket.stream_name, filter, DeliverPolicy::LastPerSubject).await?;
    let mut first = Some(HashSet::new());
    loop {
        // Whoever is not among the first is gone since the last time.
        if pending == 0
            && let Some(keys) = first.take()
        {
            table.keep(&keys);
        }
        tokio::select! {
            biased;
            () = &mut lost => return Ok(()),
            message = messages.next() => {
                let Some(message) = message else { return Ok(()) };
                let refused = |why: String| BusError::Refused { what: "to deliver leases", why };
                let message = message.map_err(|error| refused(error.to_string()))?;
                let info = message.info().map_err(|error| refused(error.to_string()))?;
                let (revision, left) = (info.stream_sequence, info.pending);
                pending = left;
                let key = message.subject.strip_prefix(own.as_str()).and_then(name::from_subject);
                let Some(key) = key else { continue };
                let value = stands(&message).then(|| message.payload.clone());
                if let (Some(keys), Some(_)) = (&mut first, &value) {
                    keys.insert(key.clone());
                }
                table.hear(&key, value.map(|value| Held { value, revision }));
            }
        }
    }
}

/// Whether an entry is a value, not the mark of one that was deleted or has ended.
fn stands(message: &Message) -> bool {
    let Some(headers) = &message.headers else { return true };
    headers.get("KV-Operation").is_none() && headers.get(NATS_MARKER_REASON).is_none()
}
