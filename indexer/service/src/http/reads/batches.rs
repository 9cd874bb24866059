//! Batches, their records, leaves and proofs.

use super::agents::epoch as current_epoch;
use super::{List, Page, agent_row, list as list_answer, names};
use crate::bundles;
use crate::error::{Error, Result};
use crate::http::App;
use crate::http::answer::{Digest, Headed, headed};
use crate::http::items;
use crate::http::openapi::{BatchQuery, Mint, MintEpoch, PageQuery, ProofQuery, RecordQuery};
use crate::http::query::Query;
use crate::http::words::{DATA, RECORD_KINDS};
use crate::reputation;
use crate::store::{AgentRow, BatchRow, ContractRow, Find, signed};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::Response;
use serde::Serialize;
use std::collections::BTreeSet;
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::merkle;
use zx1_protocol::record::Record;
use zx1_protocol::reputation::Standing;
use zx1_protocol::units::Slot;
use zx1_server::answer::text;

async fn page_of(app: &App, uri: &Uri, headers: &HeaderMap, agent: Option<&AgentRow>) -> Result<Response> {
    let query = Query::read(uri, &["data", "withheld", "epoch", "limit", "cursor"])?;
    let mut find = Find::all().newest(&["submitted_slot", "agent", "epoch"]);
    if let Some(agent) = agent {
        find = find.and("agent", "=", agent.mint);
    }
    find = match query.flag("withheld")? {
        None => find,
        Some(true) => find.sure("withheld_slot IS NOT NULL"),
        Some(false) => find.sure("withheld_slot IS NULL"),
    };
    find = match query.word("data", &DATA)? {
        None => find,
        Some("served") => find.sure("data_bytes IS NOT NULL"),
        Some(_) => find.sure("data_bytes IS NULL"),
    };
    if let Some(epoch) = query.number("epoch")? {
        find = find.and("epoch", "=", signed(epoch));
    }
    let list = agent.map_or_else(|| "batches".to_owned(), |agent| agent.mint.to_string());
    let page = Page::new(&list, &query, &[0, 2, 0])?;
    let rows = app.index.store.batches(page.find(find)?).await?;
    let place = |row: &BatchRow| vec![row.submitted_slot.into(), row.agent.into(), row.epoch.into()];
    let (rows, next) = page.cut(rows, place);
    let names = names(app, rows.iter().map(|row| row.agent)).await?;
    let (network, now) = (app.index.network(), app.index.status.get());
    let item = |row: &BatchRow| items::Batch::new(row, names.get(&row.agent), &network, &now);
    let items = rows.iter().map(item).collect();
    let digest = agent.map_or(Digest::Index, |agent| Digest::Head(agent.head_digest.clone()));
    Ok(list_answer(app, headers, &digest, items, next))
}

/// All batches, newest first
///
/// Behaviour batches as they were submitted, of all agents.
#[utoipa::path(get, path = "/v1/batches", params(BatchQuery, PageQuery), responses((status = 200, body = Headed<List<items::Batch>>)))]
pub(in crate::http) async fn list(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    page_of(&app, &uri, &headers, None).await
}

/// An agent's batches
///
/// Behaviour batches of one agent, newest first.
#[utoipa::path(get, path = "/v1/agents/{mint}/batches", params(Mint, BatchQuery, PageQuery), responses((status = 200, body = Headed<List<items::Batch>>)))]
pub(in crate::http) async fn of_agent(
    State(app): State<App>,
    Path(mint): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let agent = agent_row(&app, &mint).await?;
    page_of(&app, &uri, &headers, Some(&agent)).await
}

/// A batch by its path.
pub(in crate::http) async fn batch_row(app: &App, mint: &str, epoch: &str) -> Result<BatchRow> {
    let missing = || Error::NoBatch(app.index.status.get().slot);
    let mint: AgentId = mint.parse().map_err(|_| missing())?;
    let epoch: u32 = epoch.parse().map_err(|_| missing())?;
    bundles::batch(&app.index, &mint, i64::from(epoch)).await
}

/// One batch of an agent
///
/// The commitment on chain, and what the batch says of itself once its data is here.
#[utoipa::path(get, path = "/v1/agents/{mint}/batches/{epoch}", params(MintEpoch), responses((status = 200, body = Headed<BatchAnswer>)))]
pub(in crate::http) async fn one(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let row = batch_row(&app, &mint, &epoch).await?;
    let agent = agent_row(&app, &mint).await?;
    let name = Some(&agent.name).filter(|name| !name.is_empty());
    let batch = items::BatchDetail::new(&row, name, &app.index.network(), &app.index.status.get());
    Ok(headed(&app, &headers, &Digest::Head(agent.head_digest), BatchAnswer { batch }))
}

/// The bundle (C7)
#[utoipa::path(get, path = "/v1/agents/{mint}/batches/{epoch}/data", params(MintEpoch), responses((status = 200, body = String, content_type = "application/cbor")))]
pub(in crate::http) async fn data(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
) -> Result<Response> {
    let row = batch_row(&app, &mint, &epoch).await?;
    // Part by part as the client takes it: a slow one holds a file open and not the whole of it in memory.
    let (file, length) = app.bundles.open(&row).await?;
    let mut response = text(StatusCode::OK, "application/cbor", Body::from_stream(ReaderStream::new(file)));
    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    Ok(response)
}

/// Reads the data and looks into it on a thread for that.
async fn look<T: Send + 'static>(
    app: &App,
    row: &BatchRow,
    work: impl FnOnce(&Bundle<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let _seat = app.bundles.seat().await?;
    let bytes = app.bundles.read(row).await?;
    let path = app.bundles.path(&row.agent, row.epoch).display().to_string();
    let done = tokio::task::spawn_blocking(move || {
        let bad = |detail: String| Error::Bundle { path, detail };
        let bundle = Bundle::decode(&bytes).map_err(|error| bad(error.to_string()))?;
        work(&bundle)
    });
    done.await.map_err(|error| Error::Bundle { path: String::new(), detail: error.to_string() })?
}

/// The records under arrays_root
///
/// Bids, selections, verifiers and ratings of a batch, in the order of its tree.
#[utoipa::path(get, path = "/v1/agents/{mint}/batches/{epoch}/records", params(MintEpoch, RecordQuery, PageQuery), responses((status = 200, body = Headed<List<ShownRecord>>)))]
pub(in crate::http) async fn records(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["kind", "limit", "cursor"])?;
    let row = batch_row(&app, &mint, &epoch).await?;
    let kind = query.word("kind", &RECORD_KINDS)?.map(str::to_owned);
    let page = Page::new(&format!("records/{mint}/{epoch}"), &query, &[0])?;
    let find = page.find(Find::all())?;
    let from = match find.after.as_slice() {
        [crate::store::Value::Int(last)] => usize::try_from(last.saturating_add(1)).unwrap_or(0),
        _ => 0,
    };
    let most = usize::try_from(find.limit.unwrap_or(0)).unwrap_or(0);
    let wanted = kind.clone();
    let found: Vec<ShownRecord> = look(&app, &row, move |bundle| {
        let all = (0_i64..).zip(bundle.packed_records()).skip(from);
        let shown = all.filter_map(|(entry, packed)| {
            let shown = ShownRecord::new(entry, packed, &Record::parse(packed).ok()?);
            wanted.as_ref().is_none_or(|kind| shown.kind == kind).then_some(shown)
        });
        Ok(shown.take(most).collect())
    })
    .await?;
    let (mut rows, next) = page.cut(found, |record| vec![record.entry.into()]);
    if rows.iter().any(|record| record.standing.is_some()) {
        let facts = reputation::facts(&app.index, &row.agent).await?;
        let computed = reputation::compute(&row.agent, &facts, current_epoch(&app));
        for record in &mut rows {
            let Some(shown) = &mut record.standing else { continue };
            let standing = computed.standings.get(&(row.epoch, record.entry)).copied();
            *shown = standing.map_or("unbound", |standing| match standing {
                Standing::Bound => "bound",
                Standing::LeftOut => "left_out",
                Standing::Unbound => "unbound",
                Standing::Repeated => "repeated",
            });
        }
    }
    tell_more(&app, &mut rows).await?;
    let agent = agent_row(&app, &mint).await?;
    Ok(list_answer(&app, &headers, &Digest::Head(agent.head_digest), rows, next))
}

/// What the index knows of the records beside what the batch says.
async fn tell_more(app: &App, rows: &mut [ShownRecord]) -> Result<()> {
    let other = |row: &ShownRecord| -> Option<AgentId> {
        row.counterparty.as_ref().or(row.verifier.as_ref()).or(row.from.as_ref())?.parse().ok()
    };
    let names = names(app, rows.iter().filter_map(other)).await?;
    let conversations: BTreeSet<Vec<u8>> =
        rows.iter().filter_map(|row| hex::decode(&row.conversation).ok()).collect();
    let contracts = app.index.store.contracts(Find::any("conversation", conversations)).await?;
    for row in rows {
        row.name = other(row).and_then(|mint| names.get(&mint).cloned());
        let is_its = |it: &&ContractRow| it.conversation.is_some_and(|id| id.to_string() == row.conversation);
        row.contract = contracts.iter().find(is_its).map(|contract| contract.id.clone());
    }
    Ok(())
}

/// A batch's page.
#[derive(Serialize, ToSchema)]
struct BatchAnswer {
    batch: items::BatchDetail,
}

/// A record of a batch; which fields it has depends on its kind.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = Record)]
struct ShownRecord {
    /// its number in the batch
    entry: i64,
    /// `bid`, `selection`, `verifier` or `feedback`
    kind: &'static str,
    packed: String,
    leaf: String,
    conversation: String,
    slot: u64,
    /// hash of the header of the message that it follows from
    message: String,
    /// the contract of a market that the conversation is; a bid's value is in raw then
    contract: Option<String>,
    /// of the other agent
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterparty: Option<String>,
    /// of a bid
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verifier: Option<String>,
    /// the agent that rates
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<i8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attestation: Option<String>,
    /// of a rating: `bound`, `left_out`, `unbound` or `repeated`
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'static str>,
}

impl ShownRecord {
    fn new(entry: i64, packed: &[u8], record: &Record) -> Self {
        let (leaf, packed) = (hex::encode(merkle::leaf::<Sha3>(packed)), hex::encode(packed));
        let message = hex::encode(record.message());
        let of = |kind, conversation: ConversationId, slot: Slot| Self {
            entry,
            kind,
            packed,
            leaf,
            conversation: conversation.to_string(),
            slot: slot.0,
            message,
            ..Self::default()
        };
        match record {
            Record::Bid(it) => Self {
                counterparty: Some(it.counterparty.to_string()),
                value: Some(it.value.to_string()),
                ..of("bid", it.conversation, it.slot)
            },
            Record::Selection(it) => Self {
                counterparty: Some(it.counterparty.to_string()),
                ..of("selection", it.conversation, it.slot)
            },
            Record::Verifier(it) => {
                Self { verifier: Some(it.verifier.to_string()), ..of("verifier", it.conversation, it.slot) }
            }
            Record::Feedback(it) => Self {
                from: Some(it.from.to_string()),
                score: Some(it.score),
                outcome: Some(it.outcome),
                role: Some(it.role),
                attestation: Some(hex::encode(it.attestation)),
                standing: Some("unbound"),
                ..of("feedback", it.conversation, it.slot)
            },
        }
    }
}

/// A leaf of a batch's log.
#[derive(Serialize, ToSchema)]
struct Leaf {
    entry: i64,
    leaf: String,
}

/// A Merkle proof.
#[derive(Serialize, ToSchema)]
struct Proof {
    entry: u32,
    /// the leaf's place in the tree
    index: u32,
    leaf: String,
    /// the siblings from the leaf up
    path: Vec<String>,
    root: String,
}

/// A Merkle proof of a record or a leaf.
#[derive(Serialize, ToSchema)]
struct ProofAnswer {
    proof: Proof,
}

/// The leaves under log_merkle_root
///
/// Hashes of the entries of the agent's log, in the order of its tree.
#[utoipa::path(get, path = "/v1/agents/{mint}/batches/{epoch}/leaves", params(MintEpoch, PageQuery), responses((status = 200, body = Headed<List<Leaf>>)))]
pub(in crate::http) async fn leaves(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["limit", "cursor"])?;
    let row = batch_row(&app, &mint, &epoch).await?;
    let page = Page::new(&format!("leaves/{mint}/{epoch}"), &query, &[0])?;
    let find = page.find(Find::all())?;
    let from = match find.after.as_slice() {
        [crate::store::Value::Int(last)] => usize::try_from(last.saturating_add(1)).unwrap_or(0),
        _ => 0,
    };
    let most = usize::try_from(find.limit.unwrap_or(0)).unwrap_or(0);
    let found: Vec<Leaf> = look(&app, &row, move |bundle| {
        let all = (0_i64..).zip(bundle.leaves()).skip(from).take(most);
        Ok(all.map(|(entry, leaf)| Leaf { entry, leaf: hex::encode(leaf) }).collect())
    })
    .await?;
    let (items, next) = page.cut(found, |leaf| vec![leaf.entry.into()]);
    let agent = agent_row(&app, &mint).await?;
    Ok(list_answer(&app, &headers, &Digest::Head(agent.head_digest), items, next))
}

/// A Merkle proof of a record or a leaf
///
/// The siblings from the leaf up to the root that the chain commits to.
#[utoipa::path(get, path = "/v1/agents/{mint}/batches/{epoch}/proof", params(MintEpoch, ProofQuery), responses((status = 200, body = Headed<ProofAnswer>)))]
pub(in crate::http) async fn proof(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["record", "leaf"])?;
    let (is_record, entry) = match (query.number("record")?, query.number("leaf")?) {
        (Some(entry), None) => (true, entry),
        (None, Some(entry)) => (false, entry),
        _ => return Err(Error::parameter("record", "name either a record or a leaf")),
    };
    let entry = u32::try_from(entry).map_err(|_| Error::NoEntry)?;
    let row = batch_row(&app, &mint, &epoch).await?;
    let commitment = row.commitment();
    let root = if is_record { commitment.arrays_root } else { commitment.log_merkle_root };
    let proof = look(&app, &row, move |bundle| {
        let wrong = |error: zx1_protocol::bundle::BundleError| Error::Bundle {
            path: String::new(),
            detail: error.to_string(),
        };
        let checked = bundle.check_against(&commitment).map_err(wrong)?;
        let missing = || Error::NoEntry;
        let (leaf, proof) = if is_record {
            let packed = bundle.record_bytes(entry).ok_or_else(missing)?;
            (Sha3::hashv(&[packed]), checked.record_proof(entry))
        } else {
            let at = usize::try_from(entry).map_err(|_| missing())?;
            (*bundle.leaves().get(at).ok_or_else(missing)?, checked.leaf_proof(entry))
        };
        let proof = proof.ok_or_else(missing)?;
        let path: Vec<String> = proof.path.iter().map(hex::encode).collect();
        Ok(Proof { entry, index: proof.index, leaf: hex::encode(leaf), path, root: hex::encode(root) })
    })
    .await?;
    let agent = agent_row(&app, &mint).await?;
    Ok(headed(&app, &headers, &Digest::Head(agent.head_digest), ProofAnswer { proof }))
}
