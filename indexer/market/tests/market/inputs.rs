//! Input files of contracts are kept once, are read as they were sent, and go with the last contract that has them.

use std::path::PathBuf;
use std::sync::Arc;

use sqlx::Row as _;
use zx1_market::contract::{Contract, InputFile};
use zx1_market::{Entry, Millis};
use zx1_market_server::Config;
use zx1_market_server::store::{
    Commit, ContractRow, EntryRow, LatePayee, OutboxState, Store, StoreError, open,
};

use crate::support::{Market, address, body_with, eventually};

/// Statements that look behind the store's back.
enum Raw {
    Sqlite(sqlx::SqlitePool),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::PgPool),
}

impl Raw {
    async fn open(url: &str) -> Raw {
        #[cfg(feature = "postgres")]
        if url.starts_with("postgres") {
            return Raw::Postgres(sqlx::PgPool::connect(url).await.unwrap());
        }
        Raw::Sqlite(sqlx::SqlitePool::connect(url).await.unwrap())
    }

    async fn number(&self, sql: &'static str) -> i64 {
        match self {
            Raw::Sqlite(pool) => sqlx::query(sql).fetch_one(pool).await.unwrap().get(0),
            #[cfg(feature = "postgres")]
            Raw::Postgres(pool) => sqlx::query(sql).fetch_one(pool).await.unwrap().get(0),
        }
    }

    async fn run(&self, sql: &'static str, text: &str) {
        match self {
            Raw::Sqlite(pool) => drop(sqlx::query(sql).bind(text).execute(pool).await.unwrap()),
            #[cfg(feature = "postgres")]
            Raw::Postgres(pool) => drop(sqlx::query(sql).bind(text).execute(pool).await.unwrap()),
        }
    }

    /// Number of stored arrays, and of references to them.
    async fn kept(&self) -> (i64, i64) {
        let uses = "SELECT (SELECT COUNT(*) FROM entries WHERE inputs IS NOT NULL) \
                    + (SELECT COUNT(*) FROM contracts WHERE inputs IS NOT NULL)";
        (self.number("SELECT COUNT(*) FROM inputs").await, self.number(uses).await)
    }
}

const BYTES: &str = "SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (\
     SELECT LENGTH(body) AS n FROM entries UNION ALL SELECT LENGTH(body) FROM inputs \
     UNION ALL SELECT LENGTH(snapshot) + LENGTH(summary) FROM contracts) AS texts";

fn array(n: u32) -> String {
    format!("[{{\"content\":\"{n} \\\"]}} é {}\",\"path\":\"a\"}}]", "x".repeat(1_000))
}

fn commit(id: &str, inputs: &str) -> Commit {
    let body = format!(
        "{{\"data\":{{\"contract\":{{\"task\":{{\"error\":\"ü\",\"inputs\":{inputs}}}}}}},\"seq\":0}}"
    );
    let row = ContractRow {
        id: id.into(),
        principal: "fix_p".into(),
        agent: None,
        state: "canceled".into(),
        bounty: "0.5".into(),
        head_seq: 2,
        created_at: 1,
        updated_at: 1,
        next_deadline: None,
        summary: "{}".into(),
        snapshot: format!("{{\"é\":1,\"inputs\":{inputs},\"z\":{{\"inputs\":[]}}}}"),
    };
    let entry = |seq, body| EntryRow { seq, received_at: 5, body };
    Commit {
        row: Some(row),
        entries: vec![entry(0, body), entry(1, "{\"seq\":1}".into())],
        ..Commit::default()
    }
}

async fn is_as_sent(store: &dyn Store, sent: &Commit) {
    let row = sent.row.clone().unwrap();
    assert_eq!(store.load(&row.id).await.unwrap().unwrap().row, row);
    assert_eq!(store.entries(&row.id).await.unwrap(), sent.entries);
    assert_eq!(store.entries_from(&row.id, 1, 1).await.unwrap(), sent.entries[1..]);
}

fn late(id: &str) -> LatePayee {
    LatePayee {
        post_hash: id.into(),
        depositor: "fix_p".into(),
        round: 0,
        payout: "nano_1".into(),
        keep_until: 9,
    }
}

/// Statements that write a first entry and a snapshot as an older version did.
fn whole(id: &str) -> (&'static str, &'static str) {
    macro_rules! of {
        ($id:literal) => {
            (
                concat!(
                    "UPDATE entries SET inputs = NULL, inputs_at = NULL, body = $1 WHERE seq = 0 AND contract_id = ",
                    $id
                ),
                concat!("UPDATE contracts SET inputs = NULL, inputs_at = NULL, snapshot = $1 WHERE id = ", $id),
            )
        };
    }
    match id {
        "c" => of!("'c'"),
        "d" => of!("'d'"),
        _ => of!("'e'"),
    }
}

async fn conforms(url: &str) {
    let store: Arc<dyn Store> = open(url).await.unwrap();
    let raw = Raw::open(url).await;
    let (a, b, c) = (commit("a", &array(1)), commit("b", &array(1)), commit("c", &array(2)));
    for sent in [&a, &b, &c] {
        store.commit(sent.clone()).await.unwrap();
    }
    assert_eq!(raw.kept().await, (2, 6));
    for sent in [&a, &b, &c] {
        is_as_sent(&*store, sent).await;
    }
    // A commit that says nothing of them leaves them; a refused one leaves nothing.
    let again = Commit { version: Some(1), entries: vec![], ..a.clone() };
    store.commit(again.clone()).await.unwrap();
    assert!(matches!(store.commit(again).await, Err(StoreError::Moved)));
    assert!(matches!(store.commit(commit("c", &array(3))).await, Err(StoreError::Exists)));
    assert_eq!(raw.kept().await, (2, 6));
    is_as_sent(&*store, &a).await;
    // They go with the last contract that has them.
    store.forget("a", late("a")).await.unwrap();
    assert_eq!(raw.kept().await, (2, 4));
    is_as_sent(&*store, &b).await;
    store.forget("b", late("b")).await.unwrap();
    assert_eq!(raw.kept().await, (1, 2));
    is_as_sent(&*store, &c).await;

    // What an older version has written whole is moved when a server takes the database.
    let mut older = vec![c.clone()];
    for (id, n) in [("d", 2), ("e", 3)] {
        let sent = commit(id, &array(n));
        store.commit(sent.clone()).await.unwrap();
        older.push(sent);
    }
    for sent in &older {
        let row = sent.row.clone().unwrap();
        let (entry, contract) = whole(&row.id);
        raw.run(entry, &sent.entries[0].body).await;
        raw.run(contract, &row.snapshot).await;
    }
    raw.run("DELETE FROM inputs WHERE hash IS NOT NULL AND $1 = ''", "").await;
    assert_eq!(raw.kept().await, (0, 0));
    for sent in &older {
        is_as_sent(&*store, sent).await;
    }
    store.lease().await.unwrap();
    assert_eq!(raw.kept().await, (2, 6));
    for sent in &older {
        is_as_sent(&*store, sent).await;
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_keeps_inputs_once() {
    let folder = tempfile::tempdir().unwrap();
    conforms(folder.path().join("market.db").to_str().unwrap()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_keeps_inputs_once() {
    let cluster = zx1_server::testing::Cluster::start();
    conforms(&cluster.database("market")).await;
}

fn database(m: &Market) -> PathBuf {
    m.folder.path().join("market.db")
}

fn contract(m: &Market, bytes: usize) -> Contract {
    let file = InputFile { path: "main.c".into(), content: vec![b'x'; bytes], executable: false };
    let builder = Contract::builder("gcc foo.c", "undefined reference to `bar'");
    builder.input(file).bounty(crate::support::xno("0.5")).build(&m.client.terms).unwrap()
}

async fn post(m: &Market, contract: &Contract) -> Entry {
    let entry = m.client.post_entry(contract, &m.principal, Some(address("principal")));
    let sent = m.client.send("POST", "/contracts", body_with(&entry, &[]), Some(&m.principal)).await;
    sent.says("unfunded");
    entry
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unpaid_post_costs_little_more_than_its_inputs_and_nothing_when_it_is_forgotten() {
    const INPUTS: usize = 250 * 1024;
    // What it counts are the bytes of that file.
    let file = |config: &mut Config| config.db = config.data.join("market.db").to_str().unwrap().to_owned();
    let m = Market::with(file).await;
    let raw = Raw::open(database(&m).to_str().unwrap()).await;
    let contract = contract(&m, INPUTS);
    let first = post(&m, &contract).await;
    let one = usize::try_from(raw.number(BYTES).await).unwrap();
    m.clock.advance(Millis(1));
    let second = post(&m, &contract).await;
    let both = usize::try_from(raw.number(BYTES).await).unwrap();
    println!(
        "an unpaid post with {INPUTS} bytes of inputs: {one} bytes; one more with the same: {}",
        both - one
    );
    assert!(one < INPUTS + 16_384 && both < one + 16_384, "{one} {both}");
    // The parties read what was signed, byte for byte.
    for entry in [&first, &second] {
        let id = entry.contract_id().unwrap();
        let got = m.client.get(&format!("/contracts/{id}"), Some(&m.principal)).await;
        assert!(got.text.contains(&entry.canonical()), "{}", got.status);
        m.sound_so_far(id).await;
    }
    m.clock.advance(m.client.terms.windows.unfunded);
    for entry in [&first, &second] {
        m.client.until(entry.contract_id().unwrap(), &m.principal, "canceled").await;
    }
    let engine = m.server().engine();
    eventually("the escrow has heard of it", || async {
        engine.store().outbox(OutboxState::Open).await.unwrap().is_empty().then_some(())
    })
    .await;
    assert_eq!(raw.kept().await, (1, 4));
    m.clock.advance(Millis::secs(7 * 86_400 + 1));
    eventually("they are forgotten", || async {
        engine.forget_unpaid().await.unwrap();
        (raw.kept().await == (0, 0)).then_some(())
    })
    .await;
}
