//! The conformance suite of the store: both back ends pass all of it.

use std::sync::Arc;

use zx1_market::Millis;
use zx1_market_server::store::{
    Commit, ContractRow, DepositRow, EntryRow, FixCountRow, LatePayee, ListFilter, Listed, OrphanRow,
    OutboxRow, OutboxState, Store, StoreError, TaskRow, open,
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
        post: "ab".into(),
        closed_at: None,
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

async fn due(store: &dyn Store, now: i64, limit: i64) -> Vec<String> {
    let due = store.due(now, (i64::MIN, String::new()), limit).await.unwrap();
    due.into_iter().map(|(_, id)| id).collect()
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

async fn the_last_heartbeat_is_remembered(store: &dyn Store) {
    assert_eq!(store.heartbeat().await.unwrap(), None);
    for at in [1_000, 2_000] {
        store.beat(at).await.unwrap();
        assert_eq!(store.heartbeat().await.unwrap(), Some(at));
    }
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
    assert_eq!(due(store, -2, 10).await, ["t1", "t2"]);
    assert_eq!(due(store, -1, 2).await, ["t1", "t2"]);
    assert!(due(store, -4, 10).await.is_empty());
    // Onward from one of them, also where two have the same moment.
    assert_eq!(store.due(-1, (-3, "t1".into()), 10).await.unwrap(), [(-2, "t2".into()), (-1, "t3".into())]);
    assert!(store.live("", 1_000).await.unwrap().contains(&"t1".to_owned()));
    assert_eq!(store.live("t1", 2).await.unwrap(), ["t2", "t3"], "only what has a deadline");
    store.commit(Commit { version: Some(1), ..with("t1", None) }).await.unwrap();
    assert_eq!(due(store, -1, 10).await, ["t2", "t3"]);
    for id in ["t2", "t3"] {
        store.commit(Commit { version: Some(1), ..with(id, None) }).await.unwrap();
    }
}

fn summaries(listed: Vec<Listed>) -> Vec<String> {
    listed.into_iter().map(|listed| listed.summary).collect()
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
        summaries(store.list(filter).await.unwrap())
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
        summaries(store.list(filter).await.unwrap())
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

async fn what_nobody_paid_is_forgotten_but_for_its_payee(store: &dyn Store) {
    let ended = |id: &str| Commit {
        row: Some(ContractRow { next_deadline: None, state: "canceled".into(), ..row(id, 500) }),
        entries: vec![entry(0), entry(1), entry(2)],
        ..Commit::default()
    };
    let side = |status| DepositRow { amount: "1".into(), ..deposit("unpaid", status) };
    store.commit(Commit { deposits: vec![side("lapsed")], ..ended("unpaid") }).await.unwrap();
    let paid = DepositRow { contract_id: "paid".into(), ..side("taken") };
    store.commit(Commit { deposits: vec![paid], ..ended("paid") }).await.unwrap();
    let told = DepositRow { contract_id: "told".into(), ..side("lapsed") };
    let outbox = vec![decided("told", "expire", 500)];
    store.commit(Commit { deposits: vec![told], outbox, ..ended("told") }).await.unwrap();
    assert!(store.unpaid(500, 10).await.unwrap().is_empty());
    assert_eq!(store.unpaid(501, 10).await.unwrap(), ["unpaid"], "the escrow has to hear of the other first");
    let page = store.entries_from("unpaid", 1, 1).await.unwrap();
    assert_eq!(page, [entry(1)]);
    let late = LatePayee {
        post_hash: "ab".into(),
        depositor: "fix_p".into(),
        round: 0,
        payout: "nano_1".into(),
        keep_until: 900,
    };
    store.forget("unpaid", late.clone()).await.unwrap();
    assert!(store.load("unpaid").await.unwrap().is_none());
    assert!(store.entries("unpaid").await.unwrap().is_empty());
    assert_eq!(store.late_payees("ab").await.unwrap(), [late]);
    store.prune(901, 0).await.unwrap();
    assert!(store.late_payees("ab").await.unwrap().is_empty());
    for id in ["paid", "told"] {
        assert!(store.load(id).await.unwrap().is_some());
    }
}

async fn orphans_are_those_that_were_found_last(store: &dyn Store) {
    let orphan = |account: &str, round| OrphanRow {
        account: account.into(),
        contract_id: "lost".into(),
        party: "fix_p".into(),
        round,
        amount: "670000000000000000000000000000".into(),
    };
    assert!(store.orphans().await.unwrap().is_empty());
    for found in [vec![orphan("nano_1", 0), orphan("nano_2", 1)], vec![orphan("nano_2", 1)], vec![]] {
        store.set_orphans(found.clone()).await.unwrap();
        assert_eq!(store.orphans().await.unwrap(), found);
    }
}

async fn fixes_are_added_up_for_each_party_side_and_kind(store: &dyn Store) {
    let row = |party: &str, side: &str, paid, fixes, failed_outside| FixCountRow {
        party: party.into(),
        side: side.into(),
        paid,
        fixes,
        failed_outside,
    };
    assert!(store.fix_counts("fix_a").await.unwrap().is_empty());
    let first = vec![row("fix_a", "agent", 1, 1, 0), row("fix_p", "principal", 1, 1, 0)];
    store.commit(Commit { fix_counts: first.clone(), ..new("counted", 90) }).await.unwrap();
    let again = Commit { version: Some(1), entries: vec![], fix_counts: first, ..new("counted", 90) };
    // What is refused counts nothing.
    assert!(matches!(
        store.commit(Commit { version: Some(9), ..again.clone() }).await,
        Err(StoreError::Moved)
    ));
    store.commit(again).await.unwrap();
    let more = vec![
        row("fix_a", "agent", 0, 1, 1),
        row("fix_a", "agent", 1, 0, 1),
        row("fix_a", "principal", 1, 3, 0),
    ];
    store.commit(Commit { fix_counts: more, ..new("counted too", 91) }).await.unwrap();
    assert_eq!(
        store.fix_counts("fix_a").await.unwrap(),
        [row("fix_a", "agent", 0, 1, 1), row("fix_a", "agent", 1, 2, 1), row("fix_a", "principal", 1, 3, 0)]
    );
    assert_eq!(store.fix_counts("fix_p").await.unwrap(), [row("fix_p", "principal", 1, 2, 0)]);
}

async fn a_judge_s_tasks_are_its_own_and_the_most_urgent_come_first(store: &dyn Store) {
    let task = |judge: &str, id: &str, deadline| TaskRow {
        judge: judge.into(),
        deadline,
        contract_id: id.into(),
        body: format!("{{\"contract_id\":\"{id}\"}}"),
    };
    let first = (i64::MIN, String::new());
    let with = |id: &str, tasks| Commit { tasks: Some(tasks), ..new(id, 95) };
    let both = |id: &str, deadline| vec![task("fix_j", id, deadline), task("fix_k", id, deadline)];
    store.commit(with("c2", both("c2", 20))).await.unwrap();
    store.commit(with("c1", both("c1", 20))).await.unwrap();
    store.commit(with("c3", both("c3", 10))).await.unwrap();
    let of_j = async |after, limit| store.tasks("fix_j", after, limit).await.unwrap();
    let all = [task("fix_j", "c3", 10), task("fix_j", "c1", 20), task("fix_j", "c2", 20)];
    assert_eq!(of_j(first.clone(), 10).await, all);
    assert_eq!(of_j(first.clone(), 2).await, all[..2]);
    assert_eq!(of_j((20, "c1".into()), 2).await, all[2..], "behind one of the same moment");
    assert!(store.tasks("fix_other", first.clone(), 10).await.unwrap().is_empty());
    // A commit that says nothing of them leaves them; one that does replaces those of its contract.
    let later = |version, tasks| Commit { version: Some(version), entries: vec![], tasks, ..new("c3", 95) };
    store.commit(later(1, None)).await.unwrap();
    assert_eq!(of_j(first.clone(), 10).await, all);
    store.commit(later(2, Some(vec![task("fix_j", "c3", 30)]))).await.unwrap();
    assert_eq!(of_j(first.clone(), 10).await, [all[1].clone(), all[2].clone(), task("fix_j", "c3", 30)]);
    assert_eq!(store.tasks("fix_k", first.clone(), 10).await.unwrap().len(), 2);
    store.commit(later(3, Some(vec![]))).await.unwrap();
    store.set_tasks("c2", vec![]).await.unwrap();
    assert_eq!(of_j(first.clone(), 10).await, all[1..2]);
    store.set_tasks("c1", vec![]).await.unwrap();
    assert!(of_j(first, 10).await.is_empty());
}

async fn one_server_writes(url: &str) {
    let (first, second) = (open(url).await.unwrap(), open(url).await.unwrap());
    first.lease().await.unwrap();
    assert_eq!(second.lease().await.unwrap_err().code(), 9417);
    first.commit(new("leased", 70)).await.unwrap();
    first.close().await;
    second.lease().await.unwrap();
    second.commit(new("leased too", 71)).await.unwrap();
    second.close().await;
}

/// The lock is gone, as a connection to Postgres may be: the number of the lease still keeps the former server out.
#[tokio::test]
async fn a_server_that_was_superseded_commits_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("market.db");
    let url = path.to_str().unwrap();
    let (first, second) = (open(url).await.unwrap(), open(url).await.unwrap());
    first.lease().await.unwrap();
    std::fs::remove_file(folder.path().join("market.db.lock")).unwrap();
    second.lease().await.unwrap();
    assert_eq!(first.commit(new("a", 1)).await.unwrap_err().code(), 9418);
    second.commit(new("a", 1)).await.unwrap();
}

/// A commit reads the lease before it writes; a heartbeat between the two must not break it.
async fn heartbeats_break_no_commit(url: &str) {
    let store = open(url).await.unwrap();
    store.lease().await.unwrap();
    let beats = store.clone();
    let beats = tokio::spawn(async move {
        for at in 0.. {
            beats.beat(at).await.unwrap();
        }
    });
    for n in 0..300 {
        store.commit(new(&format!("beaten{n}"), 80)).await.unwrap();
    }
    beats.abort();
    let _ = beats.await;
    store.close().await;
}

async fn conforms(url: &str) {
    let store = open(url).await.unwrap();
    store.ping().await.unwrap();
    assert_eq!(store.next_deadline().await.unwrap(), None);
    the_last_heartbeat_is_remembered(&*store).await;
    deadlines_come_earliest_first(&*store).await;
    a_commit_is_read_back_as_it_was(&*store).await;
    a_refused_commit_leaves_nothing(&*store).await;
    of_many_writers_at_once_one_wins(store.clone()).await;
    events_are_seen_in_order_by_whoever_reads_beside(store.clone()).await;
    a_list_is_filtered_and_newest_first(&*store).await;
    decisions_and_deposits_are_closed_once(&*store).await;
    a_dead_letter_is_kept_with_its_reason_until_it_is_resolved(&*store).await;
    old_requests_and_events_are_forgotten(&*store).await;
    what_nobody_paid_is_forgotten_but_for_its_payee(&*store).await;
    orphans_are_those_that_were_found_last(&*store).await;
    fixes_are_added_up_for_each_party_side_and_kind(&*store).await;
    a_judge_s_tasks_are_its_own_and_the_most_urgent_come_first(&*store).await;
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
    one_server_writes(url).await;
    heartbeats_break_no_commit(url).await;
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
