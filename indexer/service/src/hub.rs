//! The streams' events: the store gives them their ids, and a hub hands them out.

use crate::error::{Error, Result};
use crate::store::{Condition, Find, Store, StoredStream, Value};
use axum::body::Bytes;
use std::collections::BTreeSet;
use std::sync::Arc;
use zx1_protocol::ids::AgentId;
use zx1_server::hub::{Event, Failure, Page, PageFuture, Source};
use zx1_server::reader;

/// A stream event in the two forms in which it is sent.
#[derive(Debug, Clone)]
pub struct Told {
    /// Id of the event, which ascends.
    pub id: i64,
    /// Type of the event.
    pub kind: String,
    /// The agent that it is about.
    pub agent: Option<AgentId>,
    /// The event's JSON, id included, as a websocket message.
    pub json: axum::extract::ws::Utf8Bytes,
    /// The event as a frame of server-sent events.
    pub frame: Bytes,
}

impl Told {
    /// Prepares a stored event for sending.
    pub fn of(stored: &StoredStream) -> Self {
        let StoredStream { id, row } = stored;
        // The body is an object that this crate wrote.
        let rest = row.body.strip_prefix('{').unwrap_or("}");
        let json = format!("{{\"id\":{id},{rest}");
        let frame = format!("id: {id}\nevent: {}\ndata: {json}\n\n", row.kind).into();
        Self { id: *id, kind: row.kind.clone(), agent: row.agent, json: json.into(), frame }
    }

    /// Parses the JSON; `None` when it cannot be parsed.
    pub fn value(&self) -> Option<serde_json::Value> {
        serde_json::from_str(self.json.as_str()).ok()
    }
}

impl Event for Told {
    fn id(&self) -> i64 {
        self.id
    }

    fn frame(&self) -> Bytes {
        self.frame.clone()
    }
}

/// The events that a subscriber receives; empty sets match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Types of events; empty for all.
    pub kinds: BTreeSet<String>,
    /// Agents whose events are wanted; empty for all.
    pub agents: BTreeSet<AgentId>,
}

impl reader::Filter<Told> for Filter {
    fn wants(&self, told: &Told) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&told.kind))
            && (self.agents.is_empty() || told.agent.is_some_and(|agent| self.agents.contains(&agent)))
    }
}

/// The store's events.
struct Stored(Arc<dyn Store>);

impl Source<Told> for Stored {
    fn after(&self, id: i64, most: i64) -> PageFuture<'_, Told> {
        Box::pin(async move {
            let rows = self.0.stream(Find::all().and("id", ">", id).order(&["id"]).limit(most)).await;
            let failure = |error: Error| Failure { code: error.code(), sentence: error.to_string() };
            let rows = rows.map_err(|error| failure(error.into()))?;
            Ok(Page::of(&rows, most, |row| row.id, |row| Some(Told::of(row))))
        })
    }
}

/// The last `most` events that a subscriber wants, after `since` if there is one, in order.
///
/// # Errors
///
/// The store's.
pub async fn last(store: &dyn Store, filter: &Filter, since: Option<i64>, most: i64) -> Result<Vec<Told>> {
    let mut find = Find::all().and("id", ">", since.unwrap_or(0)).newest(&["id"]).limit(most);
    if !filter.kinds.is_empty() {
        let kinds = filter.kinds.iter().map(|kind| Value::from(kind.as_str())).collect();
        find.conditions.push(Condition::In("kind", kinds));
    }
    if !filter.agents.is_empty() {
        let agents = filter.agents.iter().map(|agent| Value::from(*agent)).collect();
        find.conditions.push(Condition::In("agent", agents));
    }
    Ok(store.stream(find).await?.iter().rev().map(Told::of).collect())
}

/// The hub. Clones share everything.
pub type Hub = zx1_server::hub::Hub<Told>;

/// A hub of what the store gets from now on, with a ring of so many events.
///
/// # Errors
///
/// The store's.
pub async fn open(store: Arc<dyn Store>, ring: usize) -> Result<Hub> {
    let last = store.stream_bounds().await?.0;
    Ok(Hub::new(Arc::new(Stored(store)), ring, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StreamRow;
    use zx1_server::reader::Filter as _;

    fn told(kind: &str, agent: Option<u8>) -> Told {
        let row = StreamRow {
            kind: kind.to_owned(),
            agent: agent.map(|byte| AgentId([byte; 32])),
            body: format!("{{\"type\":\"{kind}\"}}"),
            ..StreamRow::default()
        };
        Told::of(&StoredStream { id: 7, row })
    }

    #[test]
    fn an_event_carries_its_id_in_both_forms() {
        let told = told("agent_joined", None);
        assert_eq!(told.json.as_str(), "{\"id\":7,\"type\":\"agent_joined\"}");
        let frame = String::from_utf8(told.frame.to_vec()).unwrap_or_default();
        assert_eq!(frame, format!("id: 7\nevent: agent_joined\ndata: {}\n\n", told.json.as_str()));
    }

    #[test]
    fn a_filter_without_words_wants_everything() {
        let mut filter = Filter::default();
        assert!(filter.wants(&told("message", None)));
        filter.kinds.insert("agent_joined".to_owned());
        assert!(!filter.wants(&told("message", None)));
        assert!(filter.wants(&told("agent_joined", Some(1))));
        filter.agents.insert(AgentId([2; 32]));
        assert!(!filter.wants(&told("agent_joined", Some(1))));
        assert!(!filter.wants(&told("agent_joined", None)));
        assert!(filter.wants(&told("agent_joined", Some(2))));
    }
}
