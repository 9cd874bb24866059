//! The conformance suite: what a store must do, whatever it is made of.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]

use super::{
    AgentRow, AskRow, BatchRow, ChallengeRow, Commit, ContractRow, ConversationRow, CounterpartyRow,
    EventRow, FeedbackRow, Find, GapRow, KeyRow, LifeRow, RatingRow, Remove, SqliteStore, StakeRow, Store,
    StoreError, StreamRow, TenureRow, Value,
};
use crate::merge::new_agent;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::units::MicroUsdc;

fn event(slot: i64, signature: u8, ordinal: i64) -> EventRow {
    EventRow {
        slot,
        position: 0,
        ordinal,
        signature: vec![signature; 64],
        block_time: Some(slot * 86_400),
        program: 1,
        name: "LeasePaid".to_owned(),
        account: vec![1; 32],
        created_slot: 1,
        sequence: slot,
        agent: Some(AgentId([signature % 3; 32])),
        payload: vec![0, 255],
    }
}

fn told(origin: &str) -> StreamRow {
    StreamRow {
        kind: "agent_joined".to_owned(),
        origin: origin.to_owned(),
        slot: Some(3),
        agent: Some(AgentId([1; 32])),
        signature: Some(vec![1; 64]),
        at: 1_000,
        body: "{}".to_owned(),
    }
}

fn agent(number: u8, name: &str, stake: Option<u64>) -> AgentRow {
    let stake = stake.map(MicroUsdc);
    AgentRow {
        number: i64::from(number),
        search: name.to_lowercase(),
        stake,
        ..new_agent(AgentId([number; 32]))
    }
}

async fn messages_are_forgotten_before_other_events(store: &dyn Store) {
    let message = |name: &str, at: i64| StreamRow {
        kind: "message".to_owned(),
        at,
        slot: None,
        signature: None,
        ..told(&format!("mesh/{name}"))
    };
    let stream = vec![message("a", 100), message("b", 200), StreamRow { at: 100, ..told("of/that/age") }];
    store.commit(Commit { stream, ..Commit::default() }).await.unwrap();
    let remove = vec![Remove::MessagesBefore(200)];
    store.commit(Commit { remove, ..Commit::default() }).await.unwrap();
    let origins = |find: Find| async move {
        let rows = store.stream(find).await.unwrap();
        rows.into_iter().map(|it| it.row.origin).collect::<Vec<_>>()
    };
    assert_eq!(origins(Find::by("kind", "message")).await, ["mesh/b"]);
    assert_eq!(origins(Find::by("origin", "of/that/age")).await, ["of/that/age"]);
}

async fn suite(store: &dyn Store) {
    events_are_written_once(store).await;
    rows_replace_those_with_their_key(store).await;
    pages_follow_each_other_without_loss(store).await;
    searches_take_their_text_literally(store).await;
    what_is_removed_takes_its_children_along(store).await;
    streams_have_rising_ids_and_one_of_each_origin(store).await;
    sums_are_sums(store).await;
    hostile_values_are_values(store).await;
    messages_are_forgotten_before_other_events(store).await;
    large_commits_are_whole(store).await;
    store.ping().await.unwrap();
}

async fn events_are_written_once(store: &dyn Store) {
    let commit = || Commit {
        events: vec![event(5, 1, 0), event(5, 1, 1), event(7, 2, 0)],
        meta: vec![("cursor", "7".to_owned())],
        lives: vec![LifeRow { account: vec![1; 32], created_slot: 1, events: 2, last: 7 }],
        ..Commit::default()
    };
    store.commit(commit()).await.unwrap();
    store.commit(commit()).await.unwrap();
    let all = store.events(Find::all().order(&["slot", "position", "ordinal"])).await.unwrap();
    assert_eq!(
        all.iter().map(|it| (it.row.slot, it.row.ordinal)).collect::<Vec<_>>(),
        [(5, 0), (5, 1), (7, 0)]
    );
    assert_eq!(all[0].row, event(5, 1, 0));
    assert!(all.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_eq!(store.meta().await.unwrap()["cursor"], "7");
    let known = async |listed: &[([u8; 64], i64)], finalized| store.known(listed, finalized).await.unwrap();
    assert_eq!(known(&[([1; 64], 5), ([9; 64], 5)], 7).await, [[1; 64]]);
    assert!(known(&[], 7).await.is_empty());
    // What is final stands in its slot; what is not may have stood in another one.
    assert!(known(&[([1; 64], 6)], 7).await.is_empty());
    assert_eq!(known(&[([1; 64], 6), ([2; 64], 8)], 4).await, [[1; 64], [2; 64]]);
    assert_eq!(known(&[([1; 64], 6), ([2; 64], 8)], 5).await, [[2; 64]]);
    assert_eq!(store.signatures(5, 7).await.unwrap(), [([2; 64], 7)]);
    assert_eq!(store.sequences(&[1; 32], 1).await.unwrap(), [5, 7]);
    assert_eq!(store.lives(Find::all()).await.unwrap()[0].last, 7);
    let remove = vec![Remove::Transaction(5, vec![1; 64])];
    store.commit(Commit { remove, ..Commit::default() }).await.unwrap();
    assert_eq!(store.events(Find::all()).await.unwrap().len(), 1);
}

async fn rows_replace_those_with_their_key(store: &dyn Store) {
    let agents = vec![agent(1, "One", Some(5)), agent(2, "Two", None)];
    store.commit(Commit { agents, ..Commit::default() }).await.unwrap();
    let agents = vec![agent(1, "One", Some(6))];
    store.commit(Commit { agents, ..Commit::default() }).await.unwrap();
    let found = store.agents(Find::all().order(&["mint"])).await.unwrap();
    assert_eq!(found, [agent(1, "One", Some(6)), agent(2, "Two", None)]);
    let gap = |state: &str| GapRow {
        account: vec![1; 32],
        created_slot: 1,
        first: 2,
        last: 3,
        found_slot: 9,
        state: state.to_owned(),
    };
    for state in ["open", "refilled"] {
        store.commit(Commit { gaps: vec![gap(state)], ..Commit::default() }).await.unwrap();
    }
    assert_eq!(store.gaps(Find::all()).await.unwrap(), [gap("refilled")]);
}

async fn pages_follow_each_other_without_loss(store: &dyn Store) {
    // Equal values of the first column are told apart by the second.
    let agents = (3_u8..40).map(|number| agent(number, "Many", Some(u64::from(number / 4)))).collect();
    store.commit(Commit { agents, ..Commit::default() }).await.unwrap();
    for descending in [false, true] {
        let order = || {
            let find = Find::all();
            let mut find = if descending { find.newest(&[]) } else { find.order(&[]) };
            find.order = vec!["COALESCE(stake, -1)", "mint"];
            find
        };
        let all = store.agents(order()).await.unwrap();
        let (mut paged, mut after): (Vec<AgentRow>, Vec<Value>) = (Vec::new(), Vec::new());
        loop {
            let find = Find { after: after.clone(), ..order().limit(7) };
            let page = store.agents(find).await.unwrap();
            let Some(last) = page.last() else { break };
            after = vec![last.stake.map_or(Value::Int(-1), Value::from), last.mint.into()];
            paged.extend(page);
        }
        assert_eq!(paged, all);
        assert_eq!(all.len(), 39);
    }
}

async fn searches_take_their_text_literally(store: &dyn Store) {
    let agents = vec![agent(41, "50% off_\\", None), agent(42, "50 percent off", None)];
    store.commit(Commit { agents, ..Commit::default() }).await.unwrap();
    let found = |text: &'static str| store.agents(Find::all().holds("search", text).order(&["mint"]));
    assert_eq!(found("0% O").await.unwrap().len(), 1);
    assert_eq!(found("off_").await.unwrap().len(), 1);
    assert_eq!(found("f_\\").await.unwrap().len(), 1);
    assert_eq!(found("OFF").await.unwrap().len(), 2);
    assert_eq!(found("%%").await.unwrap().len(), 0);
    assert_eq!(store.agents(Find::any("mint", Vec::<[u8; 32]>::new())).await.unwrap().len(), 0);
    assert_eq!(store.agents(Find::any("mint", [[41_u8; 32], [42; 32]])).await.unwrap().len(), 2);
}

async fn what_is_removed_takes_its_children_along(store: &dyn Store) {
    let batch = |epoch: i64| BatchRow {
        agent: AgentId([1; 32]),
        epoch,
        signature: vec![1; 64],
        ..BatchRow::default()
    };
    let rating = |epoch: i64| RatingRow {
        agent: AgentId([1; 32]),
        epoch,
        rater: AgentId([2; 32]),
        ..RatingRow::default()
    };
    let with = |epoch: i64| CounterpartyRow {
        agent: AgentId([1; 32]),
        other: AgentId([2; 32]),
        epoch,
        ..Default::default()
    };
    let said = |epoch: i64| ConversationRow {
        conversation: ConversationId([5; 16]),
        agent: AgentId([1; 32]),
        other: AgentId([2; 32]),
        kind: 2,
        epoch,
    };
    let commit = Commit {
        batches: vec![batch(1), batch(2)],
        ratings: vec![rating(1), rating(2)],
        counterparties: vec![with(1), with(2)],
        conversations: vec![said(1), said(2)],
        challenges: vec![ChallengeRow { address: vec![1; 32], submitted_slot: 4, ..ChallengeRow::default() }],
        asks: vec![AskRow { address: vec![1; 32], created_slot: 4, ..AskRow::default() }],
        tenures: [1, 2]
            .map(|agent| TenureRow { agent: AgentId([agent; 32]), ..TenureRow::default() })
            .to_vec(),
        keys: [1, 2].map(|agent| KeyRow { agent: AgentId([agent; 32]), ..KeyRow::default() }).to_vec(),
        stakes: [1, 2].map(|agent| StakeRow { agent: AgentId([agent; 32]), ..StakeRow::default() }).to_vec(),
        feedback: vec![FeedbackRow { number: 1, text: Some("Hi".to_owned()), ..FeedbackRow::default() }],
        ..Commit::default()
    };
    store.commit(commit).await.unwrap();
    let remove = vec![
        Remove::Batch(AgentId([1; 32]), 1),
        Remove::BatchData(AgentId([1; 32]), 2),
        Remove::Challenge(vec![1; 32], 4),
        Remove::Ask(vec![1; 32], 4),
        Remove::Standing(AgentId([1; 32])),
        Remove::Feedback(1),
        Remove::Gaps(vec![1; 32], 1),
        Remove::Life(vec![1; 32], 1),
    ];
    store.commit(Commit { remove, ..Commit::default() }).await.unwrap();
    let batches = store.batches(Find::all()).await.unwrap();
    assert_eq!(batches.iter().map(|row| row.epoch).collect::<Vec<_>>(), [2]);
    assert!(store.ratings(Find::all()).await.unwrap().is_empty());
    assert!(store.counterparties(Find::all()).await.unwrap().is_empty());
    assert!(store.conversations(Find::all()).await.unwrap().is_empty());
    assert!(store.challenges(Find::all()).await.unwrap().is_empty());
    assert!(store.asks(Find::all()).await.unwrap().is_empty());
    let left = [
        store.tenures(Find::all()).await.unwrap().iter().map(|row| row.agent).collect::<Vec<_>>(),
        store.keys(Find::all()).await.unwrap().iter().map(|row| row.agent).collect(),
        store.stakes(Find::all()).await.unwrap().iter().map(|row| row.agent).collect(),
    ];
    assert_eq!(left, [(); 3].map(|()| vec![AgentId([2; 32])]));
    assert!(store.feedback(Find::all()).await.unwrap().is_empty());
    assert!(store.gaps(Find::all()).await.unwrap().is_empty());
    assert!(store.lives(Find::all()).await.unwrap().is_empty());
}

async fn streams_have_rising_ids_and_one_of_each_origin(store: &dyn Store) {
    let stream = vec![told("a"), told("b")];
    store.commit(Commit { stream, ..Commit::default() }).await.unwrap();
    let stream = vec![told("a"), told("c")];
    store.commit(Commit { stream, ..Commit::default() }).await.unwrap();
    let all = store.stream(Find::all().order(&["id"])).await.unwrap();
    assert_eq!(all.iter().map(|it| it.row.origin.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    let (last, first) = store.stream_bounds().await.unwrap();
    assert_eq!((first, last), (all[0].id, all[2].id));
    let rest = store.stream(Find::all().and("id", ">", first).order(&["id"])).await.unwrap();
    assert_eq!(rest.len(), 2);
    let remove = vec![Remove::StreamBefore(1_001)];
    store.commit(Commit { remove, ..Commit::default() }).await.unwrap();
    assert_eq!(store.stream_bounds().await.unwrap(), (0, 0));
    let stream = vec![told("d")];
    store.commit(Commit { stream, ..Commit::default() }).await.unwrap();
    assert!(store.stream_bounds().await.unwrap().0 > last, "an id is never given twice");
}

async fn sums_are_sums(store: &dyn Store) {
    let contract = |id: &str, state: &str| ContractRow {
        market: "m".to_owned(),
        id: id.to_owned(),
        state: state.to_owned(),
        ..ContractRow::default()
    };
    let commit = Commit {
        contracts: vec![contract("a", "open"), contract("b", "fulfilled")],
        feedback: vec![
            FeedbackRow { number: 0, resolution_slot: Some(3), ..FeedbackRow::default() },
            FeedbackRow { number: 1, ..FeedbackRow::default() },
        ],
        challenges: vec![
            ChallengeRow { address: vec![1; 32], settled_slot: Some(3), outcome: 2, ..Default::default() },
            ChallengeRow { address: vec![2; 32], ..ChallengeRow::default() },
        ],
        events: vec![EventRow { name: "BatchSubmitted".to_owned(), ..event(20_000, 5, 0) }],
        meta: vec![("events", "12".to_owned())],
        ..Commit::default()
    };
    store.commit(commit).await.unwrap();
    let totals = store.totals().await.unwrap();
    let rows = store.agents(Find::all()).await.unwrap();
    assert_eq!(totals.agents, rows.len() as i64);
    assert_eq!(totals.staked, MicroUsdc(rows.iter().filter_map(|row| row.stake).map(|stake| stake.0).sum()));
    assert_eq!((totals.contracts, totals.contracts_open), (2, 1));
    assert_eq!((totals.feedback, totals.feedback_resolved), (2, 1));
    assert_eq!((totals.challenges, totals.challenges_open, totals.challenges_succeeded), (2, 1, 1));
    let either = Find::all().either(("outcome", "=", 2), ("address", "=", vec![2; 32]));
    assert_eq!(store.challenges(either.and("outcome", "=", 0)).await.unwrap().len(), 1);
    assert_eq!((totals.batches, totals.missing, totals.withheld, totals.events), (1, 1, 0, 12));
    assert_eq!(totals.leases, [(None, rows.len() as i64)]);
    let epochs = store.epoch_totals(19_999).await.unwrap();
    assert_eq!(epochs.len(), 1);
    assert_eq!((epochs[0].epoch, epochs[0].batches, epochs[0].joined), (20_000, 1, 0));
}

async fn hostile_values_are_values(store: &dyn Store) {
    for text in ["'; DROP TABLE agents; --", "\" OR 1=1", "%", "$1", "?", "\\", "🦀", "a\nb"] {
        assert!(store.agents(Find::by("name", text).order(&["mint"])).await.unwrap().is_empty(), "{text}");
        let _ = store.agents(Find::all().holds("search", text)).await.unwrap();
        let meta = vec![("hostile", text.to_owned())];
        store.commit(Commit { meta, ..Commit::default() }).await.unwrap();
        assert_eq!(store.meta().await.unwrap()["hostile"], text);
    }
    assert!(store.totals().await.unwrap().agents > 0);
}

async fn large_commits_are_whole(store: &dyn Store) {
    let many: i64 = 5_000;
    let events = (0..many).map(|number| {
        let mut row = event(100_000 + number, 7, number);
        row.agent = None;
        row
    });
    store.commit(Commit { events: events.collect(), ..Commit::default() }).await.unwrap();
    let found = store.events(Find::all().and("slot", ">=", 100_000)).await.unwrap();
    assert_eq!(found.len() as i64, many);
}

#[tokio::test]
async fn sqlite_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub/index.db");
    let store = SqliteStore::open(&path).await.unwrap();
    suite(&store).await;
    let second = SqliteStore::open(&path).await;
    assert!(matches!(second, Err(StoreError::Busy)), "one writer at a time");
    store.close().await;
    drop(store);
    let again = SqliteStore::open(&path).await.unwrap();
    assert_eq!(again.meta().await.unwrap()["cursor"], "7");
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_conforms() {
    let cluster = crate::testing::Cluster::start();
    let url = cluster.url();
    let store = super::PostgresStore::open(&url).await.unwrap();
    suite(&store).await;
    assert!(matches!(super::PostgresStore::open(&url).await, Err(StoreError::Busy)), "one writer at a time");
    store.close().await;
}
