//! Batches, their records, leaves and proofs.

use super::agents::epoch as current_epoch;
use super::{Page, agent_row, list as list_answer, names};
use crate::bundles;
use crate::error::{Error, Result};
use crate::http::App;
use crate::http::answer::{Digest, headed};
use crate::http::items;
use crate::http::query::{Query, key};
use crate::reputation;
use crate::store::{AgentRow, BatchRow, Find, fixed};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio_util::io::ReaderStream;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::merkle;
use zx1_protocol::record::Record;
use zx1_protocol::reputation::Standing;
use zx1_server::answer::text;

async fn page_of(app: &App, uri: &Uri, headers: &HeaderMap, agent: Option<&AgentRow>) -> Result<Response> {
    let query = Query::read(uri, &["data", "limit", "cursor"])?;
    let mut find = Find::all().newest(&["submitted_slot", "agent", "epoch"]);
    if let Some(agent) = agent {
        find = find.and("agent", "=", agent.mint.clone());
    }
    find = match query.word("data", &["served", "withheld"])? {
        None => find,
        Some("served") => find.sure("data_bytes IS NOT NULL"),
        Some(_) => find.sure("data_bytes IS NULL"),
    };
    let list = agent.map_or_else(|| "batches".to_owned(), |agent| items::base58(&agent.mint));
    let page = Page::new(&list, &query, &[0, 2, 0])?;
    let rows = app.index.store.batches(page.find(find)?).await?;
    let place = |row: &BatchRow| vec![row.submitted_slot.into(), row.agent.clone().into(), row.epoch.into()];
    let (rows, next) = page.cut(rows, place);
    let names = names(app, rows.iter().map(|row| &row.agent)).await?;
    let items = rows.iter().map(|row| items::batch(row, names.get(&row.agent))).collect();
    let digest = agent.map_or(Digest::Index, |agent| Digest::Head(agent.head_digest.clone()));
    Ok(list_answer(app, headers, &digest, items, next))
}

/// GET /v1/batches
pub(in crate::http) async fn list(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Result<Response> {
    page_of(&app, &uri, &headers, None).await
}

/// GET /v1/agents/{mint}/batches
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
    let mint = key(mint).ok_or_else(missing)?;
    let epoch: u32 = epoch.parse().map_err(|_| missing())?;
    bundles::batch(&app.index, &mint, i64::from(epoch)).await
}

/// GET /v1/agents/{mint}/batches/{epoch}
pub(in crate::http) async fn one(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    Query::read(&uri, &[])?;
    let row = batch_row(&app, &mint, &epoch).await?;
    let agent = agent_row(&app, &mint).await?;
    let mut batch = items::batch(&row, Some(&agent.name).filter(|name| !name.is_empty()));
    if let Some(object) = batch.as_object_mut() {
        object.insert("content".into(), items::content(&row));
    }
    Ok(headed(&app, &headers, &Digest::Head(agent.head_digest), json!({ "batch": batch })))
}

/// GET /v1/agents/{mint}/batches/{epoch}/data
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
    let path = app.bundles.path(&fixed(&row.agent), row.epoch).display().to_string();
    let done = tokio::task::spawn_blocking(move || {
        let bad = |detail: String| Error::Bundle { path, detail };
        let bundle = Bundle::decode(&bytes).map_err(|error| bad(error.to_string()))?;
        work(&bundle)
    });
    done.await.map_err(|error| Error::Bundle { path: String::new(), detail: error.to_string() })?
}

/// GET /v1/agents/{mint}/batches/{epoch}/records
pub(in crate::http) async fn records(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["kind", "limit", "cursor"])?;
    let row = batch_row(&app, &mint, &epoch).await?;
    let kind = query.word("kind", &["bid", "selection", "verifier", "feedback"])?.map(str::to_owned);
    let page = Page::new(&format!("records/{mint}/{epoch}"), &query, &[0])?;
    let find = page.find(Find::all())?;
    let from = match find.after.as_slice() {
        [crate::store::Value::Int(last)] => usize::try_from(last.saturating_add(1)).unwrap_or(0),
        _ => 0,
    };
    let most = usize::try_from(find.limit.unwrap_or(0)).unwrap_or(0);
    let mint_key: [u8; 32] = fixed(&row.agent);
    let wanted = kind.clone();
    let found: Vec<(i64, Value)> = look(&app, &row, move |bundle| {
        let all = (0_i64..).zip(bundle.packed_records()).skip(from);
        let shown = all.filter_map(|(entry, packed)| {
            let record = Record::parse(packed).ok()?;
            let value = record_json(entry, packed, &record);
            let fits =
                wanted.as_ref().is_none_or(|kind| value.get("kind").and_then(Value::as_str) == Some(kind));
            fits.then_some((entry, value))
        });
        Ok(shown.take(most).collect())
    })
    .await?;
    let (mut rows, next) = page.cut(found, |(entry, _)| vec![(*entry).into()]);
    if rows.iter().any(|(_, value)| value.get("standing").is_some()) {
        let facts = reputation::facts(&app.index, &mint_key).await?;
        let computed = reputation::compute(&mint_key, &facts, current_epoch(&app));
        for (entry, value) in &mut rows {
            let standing = computed.standings.get(&(row.epoch, *entry)).copied();
            let word = standing.map_or("unbound", |standing| match standing {
                Standing::Bound => "bound",
                Standing::LeftOut => "left_out",
                Standing::Unbound => "unbound",
                Standing::Repeated => "repeated",
            });
            if let Some(place) = value.get_mut("standing") {
                *place = word.into();
            }
        }
    }
    let items = rows.into_iter().map(|(_, value)| value).collect();
    let agent = agent_row(&app, &mint).await?;
    Ok(list_answer(&app, &headers, &Digest::Head(agent.head_digest), items, next))
}

fn record_json(entry: i64, packed: &[u8], record: &Record) -> Value {
    let mut value = match record {
        Record::Bid(it) => json!({
            "kind": "bid",
            "conversation": hex::encode(it.conversation),
            "counterparty": items::base58(&it.counterparty),
            "value": it.value.to_string(), "slot": it.slot.0,
        }),
        Record::Selection(it) => json!({
            "kind": "selection", "conversation": hex::encode(it.conversation),
            "counterparty": items::base58(&it.counterparty), "slot": it.slot.0,
        }),
        Record::Verifier(it) => json!({
            "kind": "verifier",
            "conversation": hex::encode(it.conversation),
            "verifier": items::base58(&it.verifier),
            "slot": it.slot.0,
        }),
        Record::Feedback(it) => json!({
            "kind": "feedback", "conversation": hex::encode(it.conversation), "from": items::base58(&it.from),
            "score": it.score, "outcome": it.outcome, "role": it.role, "slot": it.slot.0,
            "attestation": hex::encode(it.attestation), "standing": "unbound",
        }),
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("entry".into(), entry.into());
        object.insert("packed".into(), hex::encode(packed).into());
        object.insert("leaf".into(), hex::encode(merkle::leaf::<Sha3>(packed)).into());
    }
    value
}

/// GET /v1/agents/{mint}/batches/{epoch}/leaves
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
    let found: Vec<(i64, Value)> = look(&app, &row, move |bundle| {
        let all = (0_i64..).zip(bundle.leaves()).skip(from).take(most);
        Ok(all.map(|(entry, leaf)| (entry, json!({ "entry": entry, "leaf": hex::encode(leaf) }))).collect())
    })
    .await?;
    let (rows, next) = page.cut(found, |(entry, _)| vec![(*entry).into()]);
    let items = rows.into_iter().map(|(_, value)| value).collect();
    let agent = agent_row(&app, &mint).await?;
    Ok(list_answer(&app, &headers, &Digest::Head(agent.head_digest), items, next))
}

/// GET /v1/agents/{mint}/batches/{epoch}/proof
pub(in crate::http) async fn proof(
    State(app): State<App>,
    Path((mint, epoch)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["record", "leaf"])?;
    let bad = |detail| Error::Parameter { name: "record", detail };
    let (is_record, entry) = match (query.number("record")?, query.number("leaf")?) {
        (Some(entry), None) => (true, entry),
        (None, Some(entry)) => (false, entry),
        _ => return Err(bad("name either a record or a leaf")),
    };
    let entry = u32::try_from(entry).map_err(|_| bad("the batch has no such entry"))?;
    let row = batch_row(&app, &mint, &epoch).await?;
    let commitment = bundles::commitment(&row);
    let root = if is_record { commitment.arrays_root } else { commitment.log_merkle_root };
    let proof = look(&app, &row, move |bundle| {
        let wrong = |error: zx1_protocol::bundle::BundleError| Error::Bundle {
            path: String::new(),
            detail: error.to_string(),
        };
        let checked = bundle.check_against(&commitment).map_err(wrong)?;
        let missing = || bad("the batch has no such entry");
        let (leaf, proof) = if is_record {
            let packed = bundle.record_bytes(entry).ok_or_else(missing)?;
            (Sha3::hashv(&[packed]), checked.record_proof(entry))
        } else {
            let at = usize::try_from(entry).map_err(|_| missing())?;
            (*bundle.leaves().get(at).ok_or_else(missing)?, checked.leaf_proof(entry))
        };
        let proof = proof.ok_or_else(missing)?;
        let path: Vec<String> = proof.path.iter().map(hex::encode).collect();
        Ok(json!({
            "entry": entry,
            "index": proof.index,
            "leaf": hex::encode(leaf),
            "path": path,
            "root": hex::encode(root),
        }))
    })
    .await?;
    let agent = agent_row(&app, &mint).await?;
    Ok(headed(&app, &headers, &Digest::Head(agent.head_digest), json!({ "proof": proof })))
}
