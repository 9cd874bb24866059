//! The routes that read the index.

pub(super) mod agents;
pub(super) mod batches;
pub(super) mod lists;
pub(super) mod mesh;
pub(super) mod operations;
pub(super) mod search;

use super::App;
use super::answer::{Digest, headed};
use super::cursor;
use super::items::{AgentWork, Belongings};
use super::query::Query;
use crate::error::{Error, Result};
use crate::party;
use crate::store::{AgentRow, Alike, Find, Value};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use utoipa::ToSchema;
use zx1_protocol::ids::AgentId;

/// A list under way: its name with its filters, its order, its page.
pub(super) struct Page {
    list: String,
    kinds: &'static [u8],
    limit: i64,
    cursor: Option<String>,
}

impl Page {
    /// Of this list. `kinds` are the kinds of the order's values: 0 number, 1 text, 2 bytes.
    pub(super) fn new(list: &str, query: &Query, kinds: &'static [u8]) -> Result<Self> {
        Ok(Self {
            list: format!("{list}?{}", query.filter()),
            kinds,
            limit: query.limit()?,
            cursor: query.get("cursor").map(str::to_owned),
        })
    }

    /// What to read: one row more than the page, to know whether there is a next one.
    pub(super) fn find(&self, find: Find) -> Result<Find> {
        let find = cursor::go_on(find, self.cursor.as_deref(), &self.list, self.kinds)?;
        Ok(find.limit(self.limit.saturating_add(1)))
    }

    /// The page's rows and the next cursor.
    pub(super) fn cut<T>(
        &self,
        mut rows: Vec<T>,
        key: impl Fn(&T) -> Vec<Value>,
    ) -> (Vec<T>, Option<String>) {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if rows.len() <= limit {
            return (rows, None);
        }
        rows.truncate(limit);
        let next = rows.last().map(|last| cursor::write(&self.list, &key(last)));
        (rows, next)
    }
}

/// A page of a list.
#[derive(Serialize, ToSchema)]
pub(super) struct List<T> {
    items: Vec<T>,
    /// what to give as `cursor` for the next page; null on the last one
    next: Option<String>,
}

/// A list's answer.
pub(super) fn list(
    app: &App,
    headers: &HeaderMap,
    digest: &Digest,
    items: Vec<impl Serialize>,
    next: Option<String>,
) -> Response {
    headed(app, headers, digest, List { items, next })
}

/// An agent's row by the mint of a path.
///
/// # Errors
///
/// 9641
pub(super) async fn agent_row(app: &App, mint: &str) -> Result<AgentRow> {
    let missing = || Error::NoAgent(app.index.status.get().slot);
    let mint: AgentId = mint.parse().map_err(|_| missing())?;
    app.index.agent_row(&mint).await?.ok_or_else(missing)
}

/// What belongs to these agents: stakes, keys, and their work at markets.
pub(super) async fn belongings(app: &App, rows: &[AgentRow]) -> Result<HashMap<AgentId, Belongings>> {
    let store = &*app.index.store;
    let mints: BTreeSet<AgentId> = rows.iter().map(|row| row.mint).collect();
    let of = || Find::any("agent", mints.iter().copied());
    let mut found: HashMap<AgentId, Belongings> = HashMap::new();
    for row in store.stakes(of().order(&["agent", "era"])).await? {
        let belongings = found.entry(row.agent).or_default();
        belongings.slashed_slot = belongings.slashed_slot.max(row.slashed_slot);
        if row.claimed_slot.is_none() {
            belongings.stakes.push(row);
        }
    }
    let keys = of().and("closed", "=", 0).order(&["created_slot", "key"]);
    for row in store.keys(keys).await? {
        found.entry(row.agent).or_default().keys.push(row);
    }
    let parties = party::of_agents(store, rows).await?;
    let all = store.alike(Find::any("agent", parties.values().flatten().cloned())).await?;
    for mint in mints {
        let belongings = found.entry(mint).or_default();
        belongings.parties = parties.get(&mint).cloned().unwrap_or_default();
        let is_its = |it: &&Alike| it.agent.as_ref().is_some_and(|agent| belongings.parties.contains(agent));
        let its: Vec<Alike> = all.iter().filter(is_its).cloned().collect();
        belongings.work = AgentWork::of(&its);
    }
    Ok(found)
}

/// Names of agents, as far as they are known.
pub(super) async fn names(
    app: &App,
    mints: impl Iterator<Item = AgentId>,
) -> Result<HashMap<AgentId, String>> {
    let mints: BTreeSet<AgentId> = mints.collect();
    let rows = app.index.store.agents(Find::any("mint", mints)).await?;
    let named = rows.into_iter().filter(|row| !row.name.is_empty());
    Ok(named.map(|row| (row.mint, row.name)).collect())
}
