//! Batches' data (decision C7): taken from whoever brings it, if it is what the chain commits to, and served.
//!
//! Nobody has to log in: only the data whose leaves, records and hash lead to the commitment on chain fits,
//! so only the agent's own can be stored. A batch that contradicts itself is served as well, because its
//! challengers need its trees, but it counts for no reputation. What is said to be signed is anybody's text:
//! where it is not the very message on chain, signed by the key that the chain names, it is left out, so that it
//! makes no good data useless; and data that is signed is not replaced by data that is not.

use crate::config::Limits;
use crate::error::{Error, Result};
use crate::index::{Index, now_ms};
use crate::merge::stream_row;
use crate::reputation;
use crate::store::{
    BatchRow, Commit, ConversationRow, CounterpartyRow, Find, RatingRow, Remove, StreamRow, signed,
};
use axum::body::{Body, HttpBody as _};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use utoipa::ToSchema;
use zx1_home::files;
use zx1_protocol::behavior_batch::{BehaviorBatch, MAX_BATCH_BYTES};
use zx1_protocol::bundle::{Bundle, BundleError};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::record::{KIND_SELECTION, KIND_VERIFIER, MAX_LEN, Record};
use zx1_server::body::{self, BodyFault};

/// Agents whose reputation is computed anew when a batch binds their tasks.
const MOST_AFFECTED: usize = 1_000;

/// The batches' data on disk.
#[derive(Debug)]
pub struct Bundles {
    dir: PathBuf,
    /// Limits how many batches' data are checked or read concurrently: a million leaves take a second and a
    /// hundred megabytes.
    seats: Semaphore,
    /// Disk space for arriving uploads, in units of [`ROOM`].
    room: Arc<Semaphore>,
    rooms: usize,
    /// Timeout for waiting for that space.
    patience: Duration,
    indexed: usize,
}

/// Unit of the limit on arriving uploads, in bytes.
const ROOM: usize = 4 << 10;

/// The data of a batch that has arrived: a file that is removed on drop unless [`Bundles::take`] keeps it.
#[derive(Debug)]
pub struct Upload {
    path: PathBuf,
    _room: OwnedSemaphorePermit,
}

impl Drop for Upload {
    fn drop(&mut self) {
        // It is gone when it was taken.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Result of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is served now.
    Created,
    /// The same was served before.
    Same,
}

/// What the data of a batch says of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Content {
    /// whether it is what the chain commits to, and can be read
    holds: bool,
    fault: Option<String>,
    /// whether the data holds the signature of the batch's signer
    signed: bool,
    records: RecordCounts,
    #[serde(flatten)]
    #[schema(value_type = ContentBatch)]
    batch: Option<ContentBatch>,
}

/// How many records of each kind a batch has.
#[derive(Debug, Serialize, ToSchema)]
struct RecordCounts {
    bids: u32,
    selections: u32,
    verifiers: u32,
    feedback: u32,
}

/// The batch's own fields; absent when they cannot be read.
#[derive(Debug, Serialize, ToSchema)]
struct ContentBatch {
    #[schema(required = false)]
    slot_start: u64,
    #[schema(required = false)]
    slot_end: u64,
    #[schema(required = false)]
    message_count: u32,
    #[schema(required = false)]
    msg_type_counts: Vec<u32>,
    #[schema(required = false)]
    unique_counterparties: u32,
    #[schema(required = false)]
    tasks_completed: u32,
    #[schema(required = false)]
    notarizations: u32,
    #[schema(required = false)]
    disputes: u32,
    #[schema(required = false)]
    overflow: bool,
    #[schema(required = false)]
    overflow_data_hash: String,
}

/// What a batch's data says, as rows for the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The batch's own fields as a JSON object.
    pub content: Value,
    /// Ratings that the batch records of its agent.
    pub ratings: Vec<RatingRow>,
    /// Conversations of its selections and verifier assignments, without duplicates.
    pub conversations: Vec<ConversationRow>,
    /// The agent's relations to each other agent in the batch.
    pub counterparties: Vec<CounterpartyRow>,
}

/// The most bytes that the data of this batch can have.
pub fn most_bytes(row: &BatchRow) -> usize {
    let leaves = usize::try_from(row.log_len).unwrap_or(0).saturating_mul(32);
    let records = usize::try_from(row.arrays_len).unwrap_or(0).saturating_mul(MAX_LEN);
    // What is signed, and the heads of the items.
    leaves.saturating_add(records).saturating_add(MAX_BATCH_BYTES).saturating_add(512)
}

/// A batch's data that is what the chain commits to.
#[derive(Debug)]
pub struct Checked {
    /// What it says.
    pub contents: Contents,
    /// Whether it holds the signature of the batch's signer.
    pub signed: bool,
    /// What is kept instead of the bytes that came: they held something else as what is signed.
    pub instead: Option<Vec<u8>>,
}

/// Whether these bytes are what the chain commits to, and what they say. Pure.
///
/// # Errors
///
/// 9650 with what does not fit.
pub fn check(bytes: &[u8], row: &BatchRow, network: &Hash, most_records: usize) -> Result<Checked> {
    let refuse = |error: BundleError| {
        Error::BundleRefused(format!(
            "This is not what the chain commits to (error {}): {error}",
            error.code()
        ))
    };
    let commitment = row.commitment();
    let bundle = Bundle::decode(bytes).map_err(refuse)?;
    if Sha3::hashv(&[bundle.batch_bytes()]) != commitment.batch_hash {
        return Err(Error::BundleRefused(
            "This is not what the chain commits to: the batch's bytes do not have the batch_hash on chain. \
             Upload the bundle of the batch that was submitted."
                .to_owned(),
        ));
    }
    let checked = bundle.check_against(&commitment).map_err(refuse)?;
    let is_own_signature = |signed: &&zx1_protocol::bundle::Signed| {
        signed.message == row.message(network) && signed.signer.to_bytes().as_slice() == row.signer
    };
    let signed = checked.signed().filter(is_own_signature).is_some();
    let instead = if bundle.signed().is_some() && !signed {
        let (batch, records) = (bundle.batch_bytes(), bundle.records_bytes());
        Some(Bundle::new(batch, records, bundle.leaves()).map_err(refuse)?.to_vec())
    } else {
        None
    };
    // From here on it is the agent's own; what follows says whether it contradicts itself.
    let own = bundle.check().and_then(|checked| {
        let is_own =
            checked.commitment().agent == commitment.agent && checked.commitment().epoch == commitment.epoch;
        if is_own {
            Ok(())
        } else {
            Err(BundleError::Batch(zx1_protocol::behavior_batch::BatchFormatError::Malformed))
        }
    });
    let batch = bundle.decode_batch().ok();
    let mut contents =
        Contents { content: content(batch.as_ref(), &bundle, signed, own.err()), ..Contents::default() };
    records(&bundle, row, most_records, &mut contents);
    Ok(Checked { contents, signed, instead })
}

fn content(
    batch: Option<&BehaviorBatch>,
    bundle: &Bundle<'_>,
    signed: bool,
    fault: Option<BundleError>,
) -> Value {
    let mut counts = [0_u32; 4];
    for record in bundle.packed_records() {
        let kind = record.first().copied().unwrap_or(0);
        if let Some(count) = counts.get_mut(usize::from(kind).wrapping_sub(1)) {
            *count = count.saturating_add(1);
        }
    }
    let [bids, selections, verifiers, feedback] = counts;
    let content = Content {
        holds: fault.is_none() && batch.is_some(),
        fault: fault.map(|fault| fault.to_string()),
        signed,
        records: RecordCounts { bids, selections, verifiers, feedback },
        batch: batch.map(|batch| ContentBatch {
            slot_start: batch.slot_start.0,
            slot_end: batch.slot_end.0,
            message_count: batch.message_count,
            msg_type_counts: batch.msg_type_counts.to_vec(),
            unique_counterparties: batch.unique_counterparties,
            tasks_completed: batch.tasks_completed,
            notarizations: batch.notarizations,
            disputes: batch.disputes,
            overflow: batch.overflow,
            overflow_data_hash: hex::encode(batch.overflow_data_hash),
        }),
    };
    json!(content)
}

fn records(bundle: &Bundle<'_>, row: &BatchRow, most: usize, contents: &mut Contents) {
    let mut others: BTreeMap<AgentId, CounterpartyRow> = BTreeMap::new();
    let mut conversations: BTreeSet<(ConversationId, AgentId, u8)> = BTreeSet::new();
    for (entry, packed) in (0_i64..).zip(bundle.packed_records()).take(most) {
        // Its bytes lead to the root on chain; one that does not parse still is served.
        let Ok(record) = Record::parse(packed) else { continue };
        let (other, slot) = match &record {
            Record::Bid(it) => (it.counterparty, it.slot),
            Record::Selection(it) => {
                conversations.insert((it.conversation, it.counterparty, KIND_SELECTION));
                (it.counterparty, it.slot)
            }
            Record::Verifier(it) => {
                conversations.insert((it.conversation, it.verifier, KIND_VERIFIER));
                (it.verifier, it.slot)
            }
            Record::Feedback(it) => {
                contents.ratings.push(RatingRow {
                    agent: row.agent,
                    epoch: row.epoch,
                    entry,
                    rater: it.from,
                    conversation: it.conversation,
                    score: i64::from(it.score),
                    outcome: i64::from(it.outcome),
                    role: i64::from(it.role),
                    slot: signed(it.slot.0),
                });
                (it.from, it.slot)
            }
        };
        let with = others.entry(other).or_insert_with(|| CounterpartyRow {
            agent: row.agent,
            other,
            epoch: row.epoch,
            ..CounterpartyRow::default()
        });
        let counter = match record {
            Record::Bid(_) => &mut with.bids,
            Record::Selection(_) => &mut with.selections,
            Record::Verifier(_) => &mut with.verifiers,
            Record::Feedback(_) => &mut with.ratings,
        };
        *counter = counter.saturating_add(1);
        with.last_slot = with.last_slot.max(signed(slot.0));
    }
    contents.counterparties = others.into_values().collect();
    contents.conversations = conversations
        .into_iter()
        .map(|(conversation, other, kind)| ConversationRow {
            conversation,
            agent: row.agent,
            other,
            kind: i64::from(kind),
            epoch: row.epoch,
        })
        .collect();
}

impl Bundles {
    /// In this folder. What was arriving when an earlier process ended is removed.
    pub fn new(dir: PathBuf, limits: &Limits) -> Self {
        let _ = std::fs::remove_dir_all(arriving(&dir));
        let rooms = limits.arriving_bytes.div_ceil(ROOM).clamp(1, MOST_ROOMS);
        Self {
            dir,
            seats: Semaphore::new(limits.bundles.max(1)),
            room: Arc::new(Semaphore::new(rooms)),
            rooms,
            patience: limits.body_time(),
            indexed: limits.indexed_records,
        }
    }

    /// The file of a batch's data, as `zx1_log`'s folder names it.
    pub fn path(&self, agent: &AgentId, epoch: i64) -> PathBuf {
        self.dir.join(agent.to_string()).join(format!("{epoch}.zx1batch"))
    }

    /// A seat: so many are read or checked at the same time. The others wait.
    pub async fn seat(&self) -> Result<tokio::sync::SemaphorePermit<'_>> {
        self.seats.acquire().await.map_err(|_| Error::Stopping)
    }

    /// The data of a batch.
    ///
    /// # Errors
    ///
    /// 9646 when nobody brought it; 9617 when the file is gone or was changed.
    pub async fn read(&self, row: &BatchRow) -> Result<Vec<u8>> {
        let expected = row.data_bytes.ok_or(Error::Missing)?;
        let path = self.path(&row.agent, row.epoch);
        let bad = |detail: String| Error::Bundle { path: path.display().to_string(), detail };
        let bytes = tokio::fs::read(&path).await.map_err(|error| bad(error.to_string()))?;
        if i64::try_from(bytes.len()) != Ok(expected) {
            return Err(bad("its length has changed".to_owned()));
        }
        Ok(bytes)
    }

    /// Opens the data of a batch, and says how long it is: for whoever reads it part by part.
    ///
    /// # Errors
    ///
    /// Those of [`Bundles::read`].
    pub async fn open(&self, row: &BatchRow) -> Result<(tokio::fs::File, u64)> {
        let expected = row.data_bytes.ok_or(Error::Missing)?;
        let path = self.path(&row.agent, row.epoch);
        let bad = |detail: String| Error::Bundle { path: path.display().to_string(), detail };
        let file = tokio::fs::File::open(&path).await.map_err(|error| bad(error.to_string()))?;
        let length = file.metadata().await.map_err(|error| bad(error.to_string()))?.len();
        if i64::try_from(length) != Ok(expected) {
            return Err(bad("its length has changed".to_owned()));
        }
        Ok((file, length))
    }

    /// Receives a body into a file, part by part: it is never whole in memory while it arrives, and what is
    /// arriving at the same time has a bound.
    ///
    /// # Errors
    ///
    /// 9648, 9649; 9659 when there is no room in time; 9617 when it cannot be written.
    pub async fn receive(&self, request: Body, most: usize, time: Duration) -> Result<Upload> {
        body::announced(&request, most)?;
        let said = request.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
        let rooms = said.unwrap_or(most).min(most).div_ceil(ROOM).clamp(1, self.rooms);
        let wanted = self.room.clone().acquire_many_owned(u32::try_from(rooms).unwrap_or(u32::MAX));
        let room = match tokio::time::timeout(self.patience, wanted).await {
            Ok(room) => room.map_err(|_| Error::Stopping)?,
            Err(_) => return Err(Error::NoRoom),
        };
        let upload = self.upload(room)?;
        let spooled = body::spool(request, most, time, &upload.path).await;
        spooled.map_err(|fault| match fault {
            BodyFault::File(error) => cannot(&upload.path, &error),
            fault => fault.into(),
        })?;
        Ok(upload)
    }

    /// A new file for what arrives.
    fn upload(&self, room: OwnedSemaphorePermit) -> Result<Upload> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static UPLOADS: AtomicU64 = AtomicU64::new(0);
        let folder = arriving(&self.dir);
        std::fs::create_dir_all(&folder).map_err(|error| cannot(&folder, &error))?;
        let number = UPLOADS.fetch_add(1, Ordering::Relaxed);
        Ok(Upload { path: folder.join(format!("{}.{number}", std::process::id())), _room: room })
    }

    /// Takes the data of a batch from memory.
    ///
    /// # Errors
    ///
    /// Those of [`Bundles::receive`] and [`Bundles::take`].
    pub async fn put(&self, index: &Index, agent: AgentId, epoch: i64, bytes: Vec<u8>) -> Result<Put> {
        let most = bytes.len();
        let upload = self.receive(bytes.into(), most, self.patience).await?;
        self.take(index, agent, epoch, upload).await
    }

    /// Takes the data of a batch.
    ///
    /// # Errors
    ///
    /// 9642 and 9650; 9617 when it cannot be kept.
    pub async fn take(&self, index: &Index, agent: AgentId, epoch: i64, upload: Upload) -> Result<Put> {
        let row = batch(index, &agent, epoch).await?;
        let seat = self.seat().await?;
        let (path, indexed, network) = (self.path(&agent, epoch), self.indexed, index.network());
        let check_row = row.clone();
        let work = move || {
            let bytes = std::fs::read(&upload.path).map_err(|error| cannot(&upload.path, &error))?;
            let checked = check(&bytes, &check_row, &network, indexed)?;
            // A copy without the signature does not replace one with it, unless that is damaged.
            let holds = || {
                let kept = std::fs::read(&path).ok()?;
                check(&kept, &check_row, &network, 0).ok().filter(|kept| kept.signed)
            };
            if !checked.signed && check_row.data_bytes.is_some() && holds().is_some() {
                return Ok(None);
            }
            if let Some(instead) = &checked.instead {
                std::fs::write(&upload.path, instead).map_err(|error| cannot(&upload.path, &error))?;
            }
            let size = checked.instead.as_ref().map_or(bytes.len(), Vec::len);
            keep(&upload.path, &path).map_err(|error| cannot(&path, &error))?;
            Ok::<_, Error>(Some((checked.contents, signed(size as u64))))
        };
        let done = tokio::task::spawn_blocking(work).await;
        drop(seat);
        let stopped = |error: tokio::task::JoinError| {
            Error::BundleRefused(format!("It could not be checked: {error}."))
        };
        let new = done.map_err(stopped)??;
        let new = new.filter(|(contents, size)| {
            let content = Some(contents.content.to_string());
            row.data_bytes != Some(*size) || row.content != content
        });
        let Some((contents, size)) = new else {
            // Whoever brought it first may have been told of a failure after it was kept.
            reputation::refresh(index, &BTreeSet::from([agent]), "batch", &origin(&agent, epoch)).await?;
            return Ok(Put::Same);
        };
        self.record(index, agent, epoch, contents, size).await?;
        index.metrics.bundles.inc();
        Ok(Put::Created)
    }

    async fn record(
        &self,
        index: &Index,
        agent: AgentId,
        epoch: i64,
        contents: Contents,
        size: i64,
    ) -> Result<()> {
        let others: BTreeSet<AgentId> = contents.conversations.iter().map(|it| it.other).collect();
        // Its own agent in any case, however many others it names.
        let mut affected: BTreeSet<AgentId> = others.into_iter().take(MOST_AFFECTED).collect();
        affected.insert(agent);
        {
            let _writer = index.writer().await;
            // It may have vanished with its slot, or have been brought by somebody else meanwhile.
            let mut row = batch(index, &agent, epoch).await?;
            let mut commit = Commit::default();
            if let Some(mut agent_row) = index.agent_row(&agent).await? {
                if row.data_bytes.is_none() {
                    agent_row.missing = agent_row.missing.saturating_sub(1).max(0);
                }
                commit.stream = told(&contents, &row, &agent_row);
                commit.agents.push(agent_row);
            }
            row.data_bytes = Some(size);
            row.content = Some(contents.content.to_string());
            commit.remove.push(Remove::BatchData(agent, epoch));
            commit.batches.push(row);
            commit.ratings = contents.ratings;
            commit.conversations = contents.conversations;
            commit.counterparties = contents.counterparties;
            index.write_rows(commit).await?;
        }
        reputation::refresh(index, &affected, "batch", &origin(&agent, epoch)).await
    }
}

/// Identifies a batch in the origins of its stream events, so that each is published once.
fn origin(agent: &AgentId, epoch: i64) -> String {
    format!("{agent}/{epoch}")
}

/// The stream events that follow from a batch's data.
fn told(contents: &Contents, row: &BatchRow, agent: &crate::store::AgentRow) -> Vec<StreamRow> {
    let (now, whose) = (now_ms(), origin(&row.agent, row.epoch));
    let mut told = Vec::new();
    for it in contents.conversations.iter().filter(|it| it.kind == i64::from(KIND_VERIFIER)) {
        let (conversation, verifier) = (it.conversation, it.other);
        let origin = format!("assigned/{whose}/{conversation}/{verifier}");
        let fields = json!({
            "source": "batch", "conversation": conversation, "verifier": verifier, "epoch": row.epoch,
        });
        told.push(stream_row("notary_assigned", origin, Some(agent), None, now, fields));
    }
    for (kind, counter) in [("verdict_issued", "notarizations"), ("dispute_raised", "disputes")] {
        let count = contents.content.get(counter).and_then(Value::as_u64).unwrap_or(0);
        if count > 0 {
            let fields = json!({
                "source": "batch", "contract": null, "market": null, "court": null, "ruling": null,
                "epoch": row.epoch, "count": count,
            });
            told.push(stream_row(kind, format!("{kind}/{whose}"), Some(agent), None, now, fields));
        }
    }
    told
}

/// A batch's row.
///
/// # Errors
///
/// 9642
pub async fn batch(index: &Index, agent: &AgentId, epoch: i64) -> Result<BatchRow> {
    let find = Find::by("agent", *agent).and("epoch", "=", epoch);
    let found = index.store.batches(find).await?.into_iter().next();
    found.ok_or_else(|| Error::NoBatch(index.status.get().slot))
}

/// More rooms than one permit can ask for are of no use.
const MOST_ROOMS: usize = 1 << 28;

/// Where uploads arrive: beside the batches' data, so that taking one is a change of its name.
fn arriving(dir: &Path) -> PathBuf {
    dir.join(".arriving")
}

fn cannot(path: &Path, error: &std::io::Error) -> Error {
    Error::Bundle { path: path.display().to_string(), detail: error.to_string() }
}

/// Whole or not at all, and on disk when it returns.
fn keep(arrived: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(files::folder_of(path))?;
    files::rename(arrived, path)
}

#[cfg(test)]
mod tests;
