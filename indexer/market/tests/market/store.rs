//! The conformance suite of the store: both back ends pass all of it.

use std::sync::Arc;

use zx1_market::Millis;
use zx1_market_server::store::{
    Commit, ContractRow, DepositRow, EntryRow, ListFilter, OutboxRow, OutboxState, Store, StoreError, open,
};
#[cfg(feature = "postgres")]
use zx1_server::testing::Cluster;

fn row(id: &str, created_at: i64) -> ContractRow {
    ContractRow {
        id: id.into(),
        principal: "fix_p".into(),
        agent: None,
        state: "open".into(),
        bounty: "0.5".into(),
        head_seq: 1,
        created_at,
        updated_at: created_at,
        next_deadline: Some(created_at + 30),
        summary: format!("{{\"id\":\"{id}\"}}"),
        snapshot: "{\"text\":\"\\u0000 ü\"}".into(),
    }
}

fn entry(seq: i64) -> EntryRow {
    EntryRow { seq, received_at: 100 + seq, body: format!("{{\"seq\":{seq}}}") }
}

fn new(id: &str, created_at: i64) -> Commit {
    Commit { row: Some(row(id, created_at)), entries: vec![entry(0)], ..Commit::default() }
}

fn deposit(id: &str, status: &str) -> DepositRow {
    DepositRow {
        contract_id: id.into(),
        party: "fix_p".into(),
        round: 0,
        side: "principal".into(),
        address: "nano_1".into(),
        amount: "670000000000000000000000000000".into(),
        status: status.into(),
    }
}

fn decided(id: &str, kind: &str, at: i64) -> OutboxRow {
    OutboxRow {
        contract_id: id.into(),
        kind: kind.into(),
        item: "0".into(),
        body: "{}".into(),
        created_at: at,
        reason: String::new(),
    }
}

async fn a_commit_is_read_back_as_it_was(store: &dyn Store) {
    let commit = Commit {
        entries: vec![entry(0), entry(1)],
        deposits: vec![deposit("a", "waiting")],
        outbox: vec![decided("a", "fulfilled", 7)],
        events: vec![(5, "{\"event\":1}".into()), (6, "{\"event\":2}".into())],
        replay: Some(([1; 32], Millis(500))),
        ..new("a", 10)
    };
    let before = store.last_event().await.unwrap();
    assert_eq!(store.commit(commit).await.unwrap(), 1);
    let stored = store.load("a").await.unwrap().unwrap();
    assert_eq!((stored.version, stored.row), (1, row("a", 10)));
    assert_eq!(store.entries("a").await.unwrap(), [entry(0), entry(1)]);
    assert_eq!(store.deposits("a").await.unwrap(), [deposit("a", "waiting")]);
    assert!(store.waiting().await.unwrap().contains(&deposit("a", "waiting")));
    assert!(store.outbox(OutboxState::Open).await.unwrap().contains(&decided("a", "fulfilled", 7)));
    let events = store.events_after(before, 10).await.unwrap();
    assert_eq!(
        events.iter().map(|e| e.body.as_str()).collect::<Vec<_>>(),
        ["{\"event\":1}", "{\"event\":2}"]
    );
    assert!(events[0].id > before && events[1].id > events[0].id);
    assert_eq!(store.last_event().await.unwrap(), events[1].id);
    assert_eq!(store.events_after(events[0].id, 10).await.unwrap(), events[1..]);
    assert!(store.load("none").await.unwrap().is_none());
    assert!(store.entries("none").await.unwrap().is_empty());
}

async fn a_refused_commit_leaves_nothing(store: &dyn Store) {
    store.commit(new("b", 20)).await.unwrap();
    let events = store.last_event().await.unwrap();
    let full = |version, replay: u8| Commit {
        version,
        entries: vec![entry(1)],
        deposits: vec![deposit("b", "waiting")],
        outbox: vec![decided("b", "voided", 8)],
        events: vec![(9, "{}".into())],
        replay: Some(([replay; 32], Millis(500))),
        ..new("b", 20)
    };
    let nothing = async || {
        assert_eq!(store.load("b").await.unwrap().unwrap().version, 1);
        assert_eq!(store.entries("b").await.unwrap(), [entry(0)]);
        assert!(store.deposits("b").await.unwrap().is_empty());
        assert!(!store.outbox(OutboxState::Open).await.unwrap().iter().any(|o| o.contract_id == "b"));
        assert_eq!(store.last_event().await.unwrap(), events);
    };
    assert!(matches!(store.commit(full(Some(2), 2)).await, Err(StoreError::Moved)));
    nothing().await;
    assert!(matches!(store.commit(full(None, 2)).await, Err(StoreError::Exists)));
    nothing().await;
    // The replay key of a refused commit is free again.
    store.commit(Commit { replay: Some(([2; 32], Millis(500))), ..Commit::default() }).await.unwrap();
    assert!(store.seen([2; 32]).await.unwrap() && !store.seen([3; 32]).await.unwrap());
    assert!(matches!(store.commit(full(Some(1), 2)).await, Err(StoreError::Replayed)));
    nothing().await;
    // An entry whose seq is taken.
    let twice = Commit { entries: vec![entry(0)], ..full(Some(1), 3) };
    assert!(matches!(store.commit(twice).await, Err(StoreError::Database(_))));
    nothing().await;
    assert_eq!(store.commit(full(Some(1), 3)).await.unwrap(), 2);
    assert_eq!(store.entries("b").await.unwrap(), [entry(0), entry(1)]);
}

async fn of_many_writers_at_once_one_wins(store: Arc<dyn Store>) {
    store.commit(new("race", 30)).await.unwrap();
    let writers: Vec<_> = (0..16u8)
        .map(|i| {
            let store = store.clone();
            tokio::spawn(async move {
                let commit = Commit {
                    version: Some(1),
                    entries: vec![entry(1)],
                    replay: Some(([100 + i; 32], Millis(900))),
                    events: vec![(1, "{}".into())],
                    ..new("race", 30)
                };
                store.commit(commit).await
            })
        })
        .collect();
    let mut won = 0;
    for writer in writers {
        match writer.await.unwrap() {
            Ok(version) => {
                assert_eq!(version, 2);
                won += 1;
            }
            Err(StoreError::Moved) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(store.entries("race").await.unwrap().len(), 2);
}

async fn events_are_seen_in_order_by_whoever_reads_beside(store: Arc<dyn Store>) {
    let start = store.last_event().await.unwrap();
    let writers: Vec<_> = (0..8)
        .map(|i| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..10 {
                    let id = format!("ev{i}-{n}");
                    let commit = Commit { events: vec![(1, "{}".into())], ..new(&id, 40) };
                    store.commit(commit).await.unwrap();
                }
            })
        })
        .collect();
    let (mut last, mut seen) = (start, 0);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while seen < 80 {
        assert!(std::time::Instant::now() < deadline, "only {seen} of 80 events were seen");
        for event in store.events_after(last, 1000).await.unwrap() {
            assert!(event.id > last);
            last = event.id;
            seen += 1;
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!((seen, store.last_event().await.unwrap()), (80, last));
}

async fn deadlines_come_earliest_first(store: &dyn Store) {
    let with = |id: &str, deadline: Option<i64>| Commit {
        row: Some(ContractRow { next_deadline: deadline, state: "timed".into(), ..row(id, 50) }),
        ..Commit::default()
    };
    for (id, deadline) in [("t2", Some(-2)), ("t1", Some(-3)), ("t3", Some(-1)), ("t4", None)] {
        store.commit(with(id, deadline)).await.unwrap();
    }
    assert_eq!(store.next_deadline().await.unwrap(), Some(-3));
    assert_eq!(store.due(-2, 10).await.unwrap(), ["t1", "t2"]);
    assert_eq!(store.due(-1, 2).await.unwrap(), ["t1", "t2"]);
    assert!(store.due(-4, 10).await.unwrap().is_empty());
    store.commit(Commit { version: Some(1), ..with("t1", None) }).await.unwrap();
    assert_eq!(store.due(-1, 10).await.unwrap(), ["t2", "t3"]);
    for id in ["t2", "t3"] {
        store.commit(Commit { version: Some(1), ..with(id, None) }).await.unwrap();
    }
}

async fn a_list_is_filtered_and_newest_first(store: &dyn Store) {
    let with = |id: &str, state: &str, agent: Option<&str>, at: i64| Commit {
        row: Some(ContractRow { state: state.into(), agent: agent.map(Into::into), ..row(id, at) }),
        ..Commit::default()
    };
    for commit in [
        with("l1", "review", None, 1_000),
        with("l2", "review", Some("fix_lister"), 1_001),
        with("l3", "unfunded", Some("fix_lister"), 1_002),
    ] {
        store.commit(commit).await.unwrap();
    }
    let list = async |state: Option<&str>, party: Option<&str>, limit| {
        let filter = ListFilter {
            state: state.map(Into::into),
            party: party.map(Into::into),
            limit,
            ..ListFilter::default()
        };
        store.list(filter).await.unwrap()
    };
    let id = |id: &str| format!("{{\"id\":\"{id}\"}}");
    assert_eq!(list(Some("review"), None, 10).await, [id("l2"), id("l1")]);
    assert_eq!(list(Some("review"), None, 1).await, [id("l2")]);
    assert_eq!(list(None, Some("fix_lister"), 10).await, [id("l3"), id("l2")]);
    assert_eq!(list(Some("review"), Some("fix_lister"), 10).await, [id("l2")]);
    assert!(!list(None, None, 1_000).await.contains(&id("l3")));
    // Pages join without a hole and without a repetition, also between contracts of one moment.
    store.commit(with("l0", "review", None, 1_001)).await.unwrap();
    let page = async |after: Option<(i64, &str)>, since| {
        let after = after.map(|(at, id)| (at, id.to_owned()));
        let filter =
            ListFilter { state: Some("review".into()), limit: 1, after, since, ..ListFilter::default() };
        store.list(filter).await.unwrap()
    };
    assert_eq!(page(None, None).await, [id("l0")]);
    assert_eq!(page(Some((1_001, "l0")), None).await, [id("l2")]);
    assert_eq!(page(Some((1_001, "l2")), None).await, [id("l1")]);
    assert_eq!(page(Some((1_000, "l1")), None).await, Vec::<String>::new());
    assert_eq!(page(Some((1_001, "l2")), Some(1_001)).await, Vec::<String>::new());
    assert!(store.counts().await.unwrap().contains(&("review".into(), 3)));
}

async fn decisions_and_deposits_are_closed_once(store: &dyn Store) {
    let commit = Commit {
        outbox: vec![decided("d", "x", 2), decided("d", "y", 1)],
        deposits: vec![deposit("d", "waiting")],
        ..new("d", 60)
    };
    store.commit(commit).await.unwrap();
    let of_d = async || {
        let open = store.outbox(OutboxState::Open).await.unwrap();
        open.into_iter().filter(|o| o.contract_id == "d").map(|o| o.kind).collect::<Vec<_>>()
    };
    assert_eq!(of_d().await, ["y", "x"]);
    let told = store.move_outbox(&decided("d", "y", 1), OutboxState::Open, OutboxState::Done, "").await;
    assert!(told.unwrap());
    assert_eq!(of_d().await, ["x"]);
    // Decided again: what was published is not published again.
    let again = Commit {
        version: Some(1),
        outbox: vec![decided("d", "y", 3)],
        deposits: vec![DepositRow { address: String::new(), ..deposit("d", "taken") }],
        ..Commit { entries: vec![], ..new("d", 60) }
    };
    store.commit(again).await.unwrap();
    assert_eq!(of_d().await, ["x"]);
    assert_eq!(store.deposits("d").await.unwrap(), [deposit("d", "taken")]);
    assert!(!store.waiting().await.unwrap().iter().any(|d| d.contract_id == "d"));
}

async fn a_dead_letter_is_kept_with_its_reason_until_it_is_resolved(store: &dyn Store) {
    let letter = decided("dead", "x", 1);
    store.commit(Commit { outbox: vec![letter.clone()], ..new("dead", 65) }).await.unwrap();
    let of_it = async |state| {
        let rows = store.outbox(state).await.unwrap().into_iter().filter(|row| row.contract_id == "dead");
        rows.map(|row| row.reason).collect::<Vec<_>>()
    };
    let (open, dead, dropped) = (OutboxState::Open, OutboxState::Dead, OutboxState::Dropped);
    assert!(store.move_outbox(&letter, open, dead, "error 8644: other legs").await.unwrap());
    assert!(!store.move_outbox(&letter, open, dead, "another").await.unwrap());
    assert_eq!((of_it(open).await, of_it(dead).await), (vec![], vec!["error 8644: other legs".to_owned()]));
    assert!(store.move_outbox(&letter, dead, open, "").await.unwrap());
    assert_eq!((of_it(open).await, of_it(dead).await), (vec![String::new()], vec![]));
    assert!(store.move_outbox(&letter, open, dead, "again").await.unwrap());
    assert!(store.move_outbox(&letter, dead, dropped, "paid by hand").await.unwrap());
    assert!(!store.move_outbox(&letter, dead, open, "").await.unwrap());
    assert_eq!((of_it(dead).await, of_it(dropped).await), (vec![], vec!["paid by hand".to_owned()]));
}

async fn old_requests_and_events_are_forgotten(store: &dyn Store) {
    let with =
        |digest: u8, until| Commit { replay: Some(([digest; 32], Millis(until))), ..Commit::default() };
    store.commit(with(50, 1_000)).await.unwrap();
    store.commit(with(51, 2_000)).await.unwrap();
    let last = store.last_event().await.unwrap();
    store.prune(1_000, 0).await.unwrap();
    assert!(matches!(store.commit(with(50, 1_000)).await, Err(StoreError::Replayed)));
    store.prune(1_001, i64::MAX).await.unwrap();
    store.commit(with(50, 3_000)).await.unwrap();
    assert!(matches!(store.commit(with(51, 2_000)).await, Err(StoreError::Replayed)));
    assert!(store.events_after(0, 10).await.unwrap().is_empty());
    // Ids are never used again.
    store.commit(Commit { events: vec![(1, "{}".into())], ..new("later", 70) }).await.unwrap();
    assert!(store.last_event().await.unwrap() > last);
}

async fn conforms(url: &str) {
    let store = open(url).await.unwrap();
    store.ping().await.unwrap();
    assert_eq!(store.next_deadline().await.unwrap(), None);
    deadlines_come_earliest_first(&*store).await;
    a_commit_is_read_back_as_it_was(&*store).await;
    a_refused_commit_leaves_nothing(&*store).await;
    of_many_writers_at_once_one_wins(store.clone()).await;
    events_are_seen_in_order_by_whoever_reads_beside(store.clone()).await;
    a_list_is_filtered_and_newest_first(&*store).await;
    decisions_and_deposits_are_closed_once(&*store).await;
    a_dead_letter_is_kept_with_its_reason_until_it_is_resolved(&*store).await;
    old_requests_and_events_are_forgotten(&*store).await;
    assert_eq!(store.meta("server", "one").await.unwrap(), "one");
    assert_eq!(store.meta("server", "two").await.unwrap(), "one");
    let before = store.load("b").await.unwrap();
    store.close().await;
    drop(store);
    // Everything is there after a restart; migrations are not run twice.
    let store = open(url).await.unwrap();
    assert_eq!(store.load("b").await.unwrap(), before);
    assert_eq!(store.meta("server", "two").await.unwrap(), "one");
    assert!(matches!(store.commit(new("b", 20)).await, Err(StoreError::Exists)));
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_conforms_ok() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/market.db");
    conforms(path.to_str().unwrap()).await;
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_conforms_ok() {
    let cluster = Cluster::start();
    conforms(&cluster.database("market")).await;
}
