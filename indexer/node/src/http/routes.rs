//! What is asked and answered once.

use super::App;
use crate::defaults::REQUEST_WITHIN;
use crate::error::{Error, Result};
use crate::facts;
use crate::inbox::{self, Place};
use crate::notary::dues;
use crate::pen::blocking;
use crate::words;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::IntoParams;
use zx1_mesh::conversation;
use zx1_mesh::gate::Mode;
use zx1_mesh::node::Refusal;
use zx1_operator::message::type_name;
use zx1_operator::node::wire::{
    Acknowledge, Advert, Cluster, Conversation, Draft, Heard, Identity, Inbox, Line, MAX_PAGE, MAX_REQUEST,
    Messages, Peer, Reputation, Send, Standing, Status,
};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_server::{answer, body, query};

const JSON: &str = "application/json";
const SECOND: u64 = 1_000_000;

pub(super) fn json_of(status: StatusCode, value: &impl Serialize) -> Result<Response> {
    answer::json(status, value).map_err(|error| Error::BadRequest(error.to_string()))
}

pub(crate) fn ok(value: &impl Serialize) -> Result<Response> {
    json_of(StatusCode::OK, value)
}

/// A body of JSON. Of no type at all a page of another origin could send one without asking.
pub(super) async fn read<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T> {
    if !headers.contains_key(header::CONTENT_TYPE) {
        return Err(Error::MediaType(JSON));
    }
    body::is_of(headers, JSON)?;
    let bytes = body::read(body, MAX_REQUEST, REQUEST_WITHIN).await?;
    serde_json::from_slice(&bytes).map_err(|error| Error::BadRequest(error.to_string()))
}

/// How the node is
#[utoipa::path(get, path = "/v1/status", responses((status = 200, body = Status)))]
pub(super) async fn status(State(app): State<App>) -> Result<Response> {
    let parts = &app.inner;
    let (seen, tally) = (parts.cluster.seen(), parts.judge.tally());
    let counters = parts.node.counters();
    let refused = |kind| counters.refused(kind);
    let is_dev = parts.judge.mode() == Mode::Dev;
    ok(&Status {
        identity: who(&app).await?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_micros: parts.started_micros,
        gates: gates(is_dev).to_owned(),
        cluster: cluster_of(&parts.cluster, &parts.genesis, tally.is_away),
        clock_ahead_seconds: seen.clock_ahead_seconds,
        standing: Standing {
            is_good: is_dev || seen.missing.is_none(),
            missing: seen.missing.filter(|_| !is_dev),
        },
        peers: parts.node.peers().await?.len(),
        messages: Messages {
            accepted: counters.accepted(),
            ignored: refused(Refusal::Ignored),
            rejected: refused(Refusal::Rejected).saturating_add(refused(Refusal::Misattributed)),
            waiting: tally.waiting,
        },
        outbox: parts.sender.counts().await,
        signer: parts.signers.is_there() || parts.pen.signs(MsgType::Propose),
        owns_log: parts.agent.log().is_owner(),
        registration: parts.registrar.shown(),
    })
}

/// Whether there are gates, as a word.
pub(crate) fn gates(is_dev: bool) -> &'static str {
    if is_dev { "dev" } else { "enforced" }
}

/// What is known of the cluster; `is_away` where questions about senders are not answered.
pub(crate) fn cluster_of(cluster: &facts::Cluster, genesis: &str, is_away: bool) -> Cluster {
    let seen = cluster.seen();
    Cluster {
        genesis: genesis.to_owned(),
        slot: seen.slot.0,
        age_seconds: seen.age_seconds,
        is_away: seen.is_away || is_away,
    }
}

async fn who(app: &App) -> Result<Identity> {
    let parts = &app.inner;
    let identity = parts.node.identity().await?;
    let texts = |all: &[libp2p::Multiaddr]| all.iter().map(ToString::to_string).collect();
    Ok(Identity {
        agent: parts.agent.id().to_string(),
        peer: identity.peer.to_string(),
        key: parts.pen.key().to_string(),
        listening: texts(&identity.listening),
        external: texts(&identity.external),
    })
}

/// Who and where the node is
#[utoipa::path(get, path = "/v1/identity", responses((status = 200, body = Identity)))]
pub(super) async fn identity(State(app): State<App>) -> Result<Response> {
    ok(&who(&app).await?)
}

/// Connected peers, the best first
#[utoipa::path(get, path = "/v1/peers", responses((status = 200, body = Vec<Peer>)))]
pub(super) async fn peers(State(app): State<App>) -> Result<Response> {
    let mut found = app.inner.node.peers().await?;
    found.sort_by_key(|peer| (std::cmp::Reverse(peer.score), peer.peer));
    let heard = app.inner.agent.heard();
    let shown = found.into_iter().map(|peer| {
        let id = peer.peer.to_string();
        Peer {
            address: peer.address.to_string(),
            is_outbound: peer.outbound,
            mesh: peer.mesh.iter().filter_map(|channel| channel.topic()).map(str::to_owned).collect(),
            score: peer.score,
            is_graylisted: peer.graylisted,
            program: peer.agent,
            ping_micros: peer.ping_micros,
            agent: heard.agent_of(&id),
            peer: id,
        }
    });
    ok(&shown.collect::<Vec<_>>())
}

/// Take a message for sending
///
/// It is on disk when the answer comes, and is signed and sent when its recipient can be reached.
#[utoipa::path(post, path = "/v1/send", request_body = Send, responses((status = 202, body = Draft)))]
pub(super) async fn send(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    let request: Send = read(&headers, body).await?;
    let known = match &request.name {
        Some(name) => app.inner.sender.conversation_of(name).await,
        None => None,
    };
    let fresh = known.map_or_else(|| random::<16>().map(ConversationId), Ok)?;
    let words = words::words(&request, fresh)?;
    let name = match request.name {
        Some(name) => name,
        None => hex::encode(random::<16>()?),
    };
    let ttl = request
        .ttl_seconds
        .map_or(zx1_mesh::defaults::DRAFT_TTL, |ttl| u64::from(ttl).saturating_mul(SECOND));
    json_of(StatusCode::ACCEPTED, &app.inner.sender.add(&name, &words, ttl).await?)
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let seed = zx1_home::keys::random();
    let seed = seed.map_err(|error| Error::Config(format!("No random numbers: {error}.")))?;
    seed.first_chunk().copied().ok_or(Error::Busy)
}

/// A message of the outbox.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct Number {
    /// number of the message in the outbox
    draft: u64,
}

fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|_| Error::BadRequest("a message of the outbox has a number".to_owned()))
}

/// The outbox, the oldest message first
#[utoipa::path(get, path = "/v1/outbox", responses((status = 200, body = Vec<Draft>)))]
pub(super) async fn outbox(State(app): State<App>) -> Result<Response> {
    ok(&app.inner.sender.list().await)
}

/// One message of the outbox
#[utoipa::path(get, path = "/v1/outbox/{draft}", params(Number), responses((status = 200, body = Draft)))]
pub(super) async fn draft(State(app): State<App>, Path(draft): Path<String>) -> Result<Response> {
    ok(&app.inner.sender.get(number(&draft)?).await?)
}

/// Take a draft back that is not on its way
#[utoipa::path(delete, path = "/v1/outbox/{draft}", params(Number), responses((status = 200, body = Draft)))]
pub(super) async fn take_back(State(app): State<App>, Path(draft): Path<String>) -> Result<Response> {
    ok(&app.inner.sender.take_back(number(&draft)?).await?)
}

/// Let the messages behind an unanswered one go
#[utoipa::path(post, path = "/v1/outbox/{draft}/settle", params(Number), responses((status = 200, body = Draft)))]
pub(super) async fn settle(State(app): State<App>, Path(draft): Path<String>) -> Result<Response> {
    ok(&app.inner.sender.settle(number(&draft)?).await?)
}

/// Where to begin, and how many.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct InboxQuery {
    /// id of the last message that the reader has
    after: Option<String>,
    /// maximum number of messages, 1 to 256
    limit: Option<usize>,
}

/// Parameters of a query, each of them known and given once.
pub(crate) fn parameters(raw: Option<&str>, known: &[&str]) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for (name, value) in query::pairs(raw) {
        if !known.contains(&name.as_str()) {
            return Err(Error::BadRequest(format!("unknown parameter '{name}'")));
        }
        if all.insert(name.clone(), value).is_some() {
            return Err(Error::BadRequest(format!("parameter '{name}' is given twice")));
        }
    }
    Ok(all)
}

/// How many messages a page may have.
pub(crate) fn limit_of(given: Option<String>) -> Result<usize> {
    let Some(limit) = given else { return Ok(MAX_PAGE) };
    let limit = limit.parse().ok().filter(|limit| (1..=MAX_PAGE).contains(limit));
    limit.ok_or_else(|| Error::BadRequest(format!("limit is from 1 to {MAX_PAGE}")))
}

/// Received messages, in the order of the agent's log
#[utoipa::path(get, path = "/v1/inbox", params(InboxQuery), responses((status = 200, body = Inbox)))]
pub(super) async fn inbox(State(app): State<App>, RawQuery(raw): RawQuery) -> Result<Response> {
    let mut given = parameters(raw.as_deref(), &["after", "limit"])?;
    let after: Option<Place> = given.remove("after").map(|after| after.parse()).transpose()?;
    let limit = limit_of(given.remove("limit"))?;
    let page = page(&app, after, limit).await?;
    ok(&page)
}

pub(super) async fn page(app: &App, after: Option<Place>, limit: usize) -> Result<Inbox> {
    let reader = app.inner.agent.log().reader();
    let page = blocking(move || inbox::page(&reader, after, limit)).await?;
    let acknowledged = Arc::clone(&app.inner.acknowledged).lock_owned().await;
    let acknowledged = blocking(move || acknowledged.get()).await?;
    Ok(Inbox { acknowledged: acknowledged.map(|place| place.to_string()), ..page })
}

/// Everything up to a message was handled
#[utoipa::path(post, path = "/v1/inbox/ack", request_body = Acknowledge, responses((status = 200, body = Inbox)))]
pub(super) async fn acknowledge(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Response> {
    let Acknowledge { id } = read(&headers, body).await?;
    let place: Place = id.parse()?;
    let reader = app.inner.agent.log().reader();
    let acknowledged = Arc::clone(&app.inner.acknowledged).lock_owned().await;
    let acknowledged = blocking(move || {
        if !inbox::has(&reader, place)? {
            return Err(Error::Missing(format!("message {place} in the agent's log")));
        }
        acknowledged.set(place)
    });
    let acknowledged = Some(acknowledged.await?.to_string());
    ok(&Inbox { messages: Vec::new(), next: Some(id), acknowledged })
}

/// The agent's deals, by id
#[utoipa::path(get, path = "/v1/conversations", responses((status = 200, body = Vec<Conversation>)))]
pub(super) async fn conversations(State(app): State<App>) -> Result<Response> {
    let me = app.inner.agent.id();
    ok(&app.inner.agent.conversations().iter().map(|deal| shown(deal, me)).collect::<Vec<_>>())
}

/// Parameters of a deal.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct Deal {
    /// id of the conversation, 32 hex digits
    conversation: String,
}

/// One deal of the agent
#[utoipa::path(get, path = "/v1/conversations/{conversation}", params(Deal), responses((status = 200, body = Conversation)))]
pub(super) async fn conversation(State(app): State<App>, Path(id): Path<String>) -> Result<Response> {
    let id = words::conversation(&id)?;
    let me = app.inner.agent.id();
    ok(&shown(app.inner.agent.conversations().get(id)?, me))
}

fn shown(deal: &conversation::Conversation, me: AgentId) -> Conversation {
    let line = |line: &conversation::Line| Line {
        message: hex::encode(line.message32),
        r#type: MsgType::try_from(line.msg_type).map(type_name).unwrap_or_default(),
        sender: line.sender.to_string(),
        recipient: line.recipient.to_string(),
        timestamp_micros: line.timestamp,
        payload_hash: hex::encode(line.payload_hash),
        is_out_of_order: line.out_of_order,
    };
    Conversation {
        conversation: deal.id.to_string(),
        proposer: deal.proposer.to_string(),
        responder: deal.responder.to_string(),
        phase: deal.phase.to_string(),
        value: deal.value.to_string(),
        notary: deal.notary.or(deal.silent_notary).map(|notary| notary.to_string()),
        owed: dues(&deal.owed(me)),
        lines: deal.lines.iter().map(line).collect(),
    }
}

/// What is looked for.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct Wanted {
    /// capabilities, all of which an advert names, separated by commas
    want: Option<String>,
}

/// What agents advertise now, the newest first
#[utoipa::path(get, path = "/v1/adverts", params(Wanted), responses((status = 200, body = Vec<Advert>)))]
pub(super) async fn adverts(State(app): State<App>, RawQuery(raw): RawQuery) -> Result<Response> {
    let want = parameters(raw.as_deref(), &["want"])?.remove("want").unwrap_or_default();
    let want: Vec<String> = want.split(',').filter(|cap| !cap.is_empty()).map(str::to_owned).collect();
    let now = app.inner.agent.now();
    let found = app.inner.agent.heard().adverts(&want, now);
    ok(&found)
}

/// Agents that were heard, the latest first
#[utoipa::path(get, path = "/v1/heard", responses((status = 200, body = Vec<Heard>)))]
pub(super) async fn heard(State(app): State<App>) -> Result<Response> {
    let agents = app.inner.agent.heard().agents();
    ok(&agents)
}

/// Parameters of an agent.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "only its description is used")]
pub(super) struct Mint {
    /// mint of the agent
    agent: String,
}

/// Reputation of an agent by the ratings that were heard
///
/// It proves nothing, and stands apart from the reputation of batches.
#[utoipa::path(get, path = "/v1/reputation/{agent}", params(Mint), responses((status = 200, body = Reputation)))]
pub(super) async fn reputation(State(app): State<App>, Path(agent): Path<String>) -> Result<Response> {
    let agent = words::agent(&agent)?;
    let found = app.inner.agent.heard().reputation(&agent);
    ok(&found.ok_or_else(|| Error::Missing(format!("rating of {agent} that was heard")))?)
}

/// Stop the node
///
/// The answer comes first; what is on its way is ended.
#[utoipa::path(post, path = "/v1/stop", responses((status = 200, body = Object)))]
pub(super) async fn stop(State(app): State<App>) -> Result<Response> {
    app.inner.stop.cancel();
    ok(&json!({ "stopping": true }))
}

/// Metrics for Prometheus
#[utoipa::path(get, path = "/metrics", responses((status = 200, content_type = "text/plain", body = String)))]
pub(super) async fn metrics(State(app): State<App>, headers: HeaderMap) -> Response {
    app.inner.metrics.served(&headers)
}

/// Whether the node works
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Object)))]
pub(super) async fn healthz(State(app): State<App>) -> Result<Response> {
    let seen = app.inner.cluster.seen();
    let health: Value = json!({
        "agent": app.inner.agent.id().to_string(),
        "peers": app.inner.node.peers().await?.len(),
        "cluster_age_seconds": seen.age_seconds,
    });
    ok(&health)
}
