//! GET /v1/search: what a pasted text is, and where it leads.

use super::lists::known_as;
use crate::chain::Finality;
use crate::error::{Error, Result};
use crate::http::App;
use crate::http::answer::{Digest, Headed, headed};
use crate::http::openapi::SearchQuery;
use crate::http::query::Query;
use crate::http::standing::is_slashed;
use crate::party;
use crate::store::{AgentRow, ContractRow, Find, signed};
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use jiff::civil::Date;
use serde::Serialize;
use serde_json::Value;
use solana_address::Address;
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// Hits of one kind that are answered.
const MOST: i64 = 10;
/// Days since 1970 before which no number is an epoch.
const FIRST_EPOCH: u64 = 10_000;

/// What the text may be, the likeliest first.
#[derive(Serialize, ToSchema)]
struct Hits {
    hits: Vec<Hit>,
}

/// Something that a text names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
struct Hit {
    /// `agent`, `wallet`, `challenge`, `ask`, `account`, `transaction`, `slot`, `epoch`, `contract` or `party`
    kind: &'static str,
    /// a mint, an address, a signature, a number or a contract's id
    id: String,
    /// a name or a task
    title: String,
    /// how it is connected with the text, where it is not the text itself
    note: Option<&'static str>,
    /// of a transaction: its slot
    slot: Option<u64>,
    /// of an agent, and of the one behind a contract: convicted of leaving something out of a batch
    slashed: bool,
}

impl Hit {
    fn new(kind: &'static str, id: impl ToString) -> Self {
        Self { kind, id: id.to_string(), title: String::new(), note: None, slot: None, slashed: false }
    }

    fn agent(row: &AgentRow, note: Option<&'static str>) -> Self {
        Self { title: row.name.clone(), note, slashed: is_slashed(row), ..Self::new("agent", row.mint) }
    }

    async fn contracts(app: &App, rows: &[ContractRow], note: Option<&'static str>) -> Result<Vec<Self>> {
        let known = known_as(app, rows).await?;
        let hit = |row: &ContractRow| {
            let summary: Value = serde_json::from_str(&row.summary).unwrap_or_default();
            let agent = row.agent.as_deref().and_then(party::key_of).and_then(|key| known.get(&key));
            Self {
                title: summary["task"].as_str().unwrap_or_default().to_owned(),
                note,
                slashed: agent.is_some_and(is_slashed),
                ..Self::new("contract", &row.id)
            }
        };
        Ok(rows.iter().map(hit).collect())
    }
}

/// What a text is by its looks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Look {
    Signature([u8; 64]),
    Address(Address),
    Number(u64),
    Contract(String),
    Party(String),
    /// A Nano address.
    Nano(String),
    /// 64 hexadecimal digits: a Nano block, or a party's key.
    Hash(String),
    Words(String),
}

impl Look {
    fn of(text: &str) -> Self {
        let is_hex =
            |text: &str, length| text.len() == length && text.bytes().all(|it| it.is_ascii_hexdigit());
        let lower = text.to_ascii_lowercase();
        // No number that is looked for has 16 digits.
        if is_hex(text, 16) {
            return Self::Contract(lower);
        }
        if let Some(number) =
            text.strip_prefix('#').unwrap_or(text).replace(',', "").parse().ok().or(day(text))
        {
            return Self::Number(number);
        }
        if lower.strip_prefix("fix_").is_some_and(|key| is_hex(key, 64)) {
            return Self::Party(lower);
        }
        if is_hex(text, 64) {
            return Self::Hash(lower.to_uppercase());
        }
        if lower.starts_with("nano_") || lower.starts_with("xrb_") {
            return match lower.parse::<nano_escrow::Address>() {
                Ok(address) => Self::Nano(address.to_string()),
                Err(_) => Self::Words(lower),
            };
        }
        let mut signature = [0; 64];
        if bs58::decode(text).onto(&mut signature) == Ok(signature.len()) {
            return Self::Signature(signature);
        }
        match text.parse() {
            Ok(address) => Self::Address(address),
            Err(_) => Self::Words(lower),
        }
    }
}

/// The epoch of a day that is written as 2026-11-21.
fn day(text: &str) -> Option<u64> {
    let date: Date = text.parse().ok().filter(|_| text.len() == "2026-11-21".len())?;
    u64::try_from((date - Date::constant(1970, 1, 1)).get_days()).ok()
}

/// What a pasted text is, and where it leads
#[utoipa::path(get, path = "/v1/search", params(SearchQuery), responses((status = 200, body = Headed<Hits>)))]
pub(in crate::http) async fn search(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response> {
    let query = Query::read(&uri, &["query"])?;
    let bad = Error::parameter("query", "it must say what to look for");
    let text = query.get("query").map(str::trim).filter(|text| !text.is_empty()).ok_or(bad)?;
    let mut hits = match Look::of(text) {
        Look::Signature(signature) => transaction(&app, text, signature).await?,
        Look::Address(address) => account(&app, address).await?,
        Look::Number(number) => numbered(&app, number).await?,
        Look::Contract(id) => contracts(&app, Find::by("id", id), None).await?,
        Look::Party(party) => of_party(&app, party).await?,
        Look::Nano(address) => nano(&app, &address).await?,
        Look::Hash(hash) => {
            let mut hits = traced(&app, &hash, "its payment").await?;
            hits.extend(of_party(&app, format!("fix_{}", hash.to_lowercase())).await?);
            hits
        }
        Look::Words(_) => Vec::new(),
    };
    if hits.is_empty() {
        let named = Find::all().holds("search", text).order(&["number", "mint"]).limit(MOST);
        hits.extend(app.index.store.agents(named).await?.iter().map(|row| Hit::agent(row, None)));
        hits.extend(contracts(&app, Find::all().holds("search", text), None).await?);
    }
    Ok(headed(&app, &headers, &Digest::Index, Hits { hits }))
}

async fn contracts(app: &App, find: Find, note: Option<&'static str>) -> Result<Vec<Hit>> {
    let rows = app.index.store.contracts(find.newest(&["created_at", "market", "id"]).limit(MOST)).await?;
    Hit::contracts(app, &rows, note).await
}

/// A transaction of which events are here, or that the node knows.
async fn transaction(app: &App, text: &str, signature: [u8; 64]) -> Result<Vec<Hit>> {
    let told = Find::by("signature", signature).limit(1);
    let slot = match app.index.store.stream(told).await?.first().and_then(|it| it.row.slot) {
        Some(slot) => Some(slot),
        // A node that does not answer now keeps nobody from searching for other things.
        None => match app.index.ledger.transaction(signature, Finality::Confirmed).await {
            Ok(found) => found.map(|it| signed(it.slot)),
            Err(error) => {
                tracing::debug!(%error, "a transaction could not be looked up");
                None
            }
        },
    };
    let Some(slot) = slot else { return Ok(Vec::new()) };
    let hit = Hit { slot: u64::try_from(slot).ok(), ..Hit::new("transaction", text) };
    Ok(vec![hit])
}

async fn account(app: &App, address: Address) -> Result<Vec<Hit>> {
    let (store, key) = (&app.index.store, address.to_bytes());
    let mut hits: Vec<Hit> =
        store.agents(Find::by("mint", address)).await?.iter().map(|row| Hit::agent(row, None)).collect();
    if !hits.is_empty() {
        return Ok(hits);
    }
    let challenges = Find::by("address", address).limit(1);
    hits.extend(store.challenges(challenges).await?.iter().map(|_| Hit::new("challenge", address)));
    let asks = Find::by("address", address).limit(1);
    hits.extend(store.asks(asks).await?.iter().map(|_| Hit::new("ask", address)));
    if !hits.is_empty() {
        return Ok(hits);
    }
    let owned = store.agents(Find::by("owner", address).order(&["number"]).limit(MOST)).await?;
    hits.extend(owned.iter().map(|row| Hit::agent(row, Some("held by this wallet"))));
    let keys = store.keys(Find::by("key", address).limit(MOST)).await?;
    let mints: BTreeSet<_> = keys.iter().map(|row| row.agent).collect();
    let with_key = store.agents(Find::any("mint", mints)).await?;
    let is_new = |row: &&AgentRow| owned.iter().all(|known| known.mint != row.mint);
    hits.extend(with_key.iter().filter(is_new).map(|row| Hit::agent(row, Some("lists this key"))));
    if hits.is_empty() {
        let events = store.events(Find::by("account", address).limit(1)).await?;
        hits.extend(events.iter().map(|_| Hit::new("account", address)));
        hits.extend(of_party(app, party::of_key(&key)).await?);
    }
    Ok(hits)
}

async fn numbered(app: &App, number: u64) -> Result<Vec<Hit>> {
    let now = app.index.status.get();
    let find = Find::by("number", signed(number)).limit(1);
    let mut hits: Vec<Hit> =
        app.index.store.agents(find).await?.iter().map(|row| Hit::agent(row, None)).collect();
    if (FIRST_EPOCH..=now.epoch).contains(&number) {
        hits.push(Hit::new("epoch", number));
    } else if number > now.epoch && number <= now.chain_slot.max(now.slot) {
        hits.push(Hit::new("slot", number));
    }
    Ok(hits)
}

async fn of_party(app: &App, party: String) -> Result<Vec<Hit>> {
    let key = party::key_of(&party).into_iter().collect();
    let agents = party::agents(&*app.index.store, key).await?;
    let mut hits: Vec<Hit> = agents.values().map(|row| Hit::agent(row, Some("acts as this party"))).collect();
    let find = Find::all().either(("principal", "=", party.clone()), ("agent", "=", party.clone())).limit(1);
    hits.extend(app.index.store.contracts(find).await?.iter().map(|_| Hit::new("party", &party)));
    Ok(hits)
}

async fn nano(app: &App, address: &str) -> Result<Vec<Hit>> {
    let bound = Find::by("nano_address", address).order(&["number"]).limit(MOST);
    let bound = app.index.store.agents(bound).await?;
    let mut hits: Vec<Hit> =
        bound.iter().map(|row| Hit::agent(row, Some("is paid to this Nano account"))).collect();
    hits.extend(traced(app, address, "pays from or to this Nano account").await?);
    Ok(hits)
}

/// Contracts whose payments name this.
async fn traced(app: &App, mark: &str, note: &'static str) -> Result<Vec<Hit>> {
    let traces = app.index.store.traces(Find::by("mark", mark).limit(MOST)).await?;
    let ids: BTreeSet<String> = traces.into_iter().map(|it| it.id).collect();
    contracts(app, Find::any("id", ids), Some(note)).await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_known_by_its_looks_in_any_case() {
        let signature = [7; 64];
        let text = bs58::encode(signature).into_string();
        assert_eq!(Look::of(&text), Look::Signature(signature));
        let mint = "satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe";
        assert_eq!(Look::of(mint), Look::Address(mint.parse().unwrap()));
        assert_eq!(Look::of("0123456789ABCDEF"), Look::Contract("0123456789abcdef".into()));
        assert_eq!(Look::of("0123456789012345"), Look::Contract("0123456789012345".into()));
        let key = "aB".repeat(32);
        assert_eq!(Look::of(&format!("FIX_{key}")), Look::Party(format!("fix_{}", "ab".repeat(32))));
        assert_eq!(Look::of(&key), Look::Hash("AB".repeat(32)));
        let nano = nano_escrow::Address::from(nano_escrow::PublicKey([9; 32])).to_string();
        assert_eq!(Look::of(&nano.to_uppercase()), Look::Nano(nano.clone()));
        assert_eq!(Look::of(&nano.replace("nano_", "xrb_")), Look::Nano(nano));
        assert_eq!(Look::of("400,648,432"), Look::Number(400_648_432));
        assert_eq!(Look::of("#3"), Look::Number(3));
        assert_eq!(Look::of("2026-11-21"), Look::Number(20_778));
        assert_eq!(Look::of("nano_broken"), Look::Words("nano_broken".into()));
        assert_eq!(Look::of("Make"), Look::Words("make".into()));
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day("1970-01-01"), Some(0));
        assert_eq!(day("2000-03-01"), Some(11_017));
        assert_eq!(day("2024-02-29"), Some(19_782));
        for none in ["1969-12-31", "2026-13-01", "2026-02-30", "2026-1-1", "x", "2026-11-21-1", "20261-1-21"]
        {
            assert_eq!(day(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}") {
            let _ = Look::of(&text);
        }
    }
}
