//! What every store does alike.

use zx1_relay::store::{Commit, Kept, Pair, PostgresStore, SqliteStore, Store, StoreError};
use zx1_relay_rules::AgentId;
use zx1_relay_rules::access::Subject;
use zx1_relay_rules::elo::Rating;
use zx1_relay_rules::proposal::{Party, Proposal, State};
use zx1_relay_rules::signing::Terms;

fn id(text: &str) -> AgentId {
    AgentId::parse(text, "id").unwrap()
}

fn proposal(number: u8, state: State) -> Proposal {
    let party = |key: u8| Party { key: [key; 32], id: id(&format!("@{key:08x}")) };
    Proposal {
        id: format!("prop_{number}"),
        from: party(1),
        to: party(2),
        terms: Terms {
            to: "@00000002".into(),
            task: "é 🦀 \u{0}".into(),
            amount: Some(0.1),
            currency: None,
            payment_code: Some(String::new()),
            terms: None,
            expires: Some(0.25),
            elo_stake: Some(3.0),
            contract: None,
            conversation: None,
        },
        state,
        created_at: 1,
        expires_at: Some(u64::from(number)),
        updated_at: u64::from(number),
        acceptor_stake: 7,
        completed_by: Some([1; 32]),
        settlement: None,
    }
}

async fn conforms(store: &dyn Store) {
    assert_eq!(store.load().await.unwrap(), Kept::default());
    store.ping().await.unwrap();
    store.remember([1; 32], id("@0000000a")).await.unwrap();
    // The first id stays, and no other key has it.
    store.remember([1; 32], id("@0000000b")).await.unwrap();
    store.remember([2; 32], id("@0000000a")).await.unwrap();
    let rating = |rating, transactions| Rating { rating, transactions };
    let ban = (Subject::Key([3; 32]), "spam".to_owned(), 5);
    let first = Commit {
        proposals: vec![(proposal(1, State::Pending), false), (proposal(2, State::Rejected), true)],
        ratings: vec![([1; 32], rating(1_200, 0)), ([2; 32], rating(u32::MAX, u32::MAX))],
        pair: Some(Pair { a: [1; 32], b: [2; 32], last: 9, count: 1 }),
        ban: Some(ban),
        allow: Some(([4; 32], Some("note".to_owned()), 6)),
        import: vec![(id("@00000000000000aa"), rating(1_500, 3)), (id("@00000000000000bb"), rating(100, 0))],
        ..Commit::default()
    };
    store.commit(first).await.unwrap();
    let second = Commit {
        proposals: vec![(proposal(1, State::Accepted), false)],
        ratings: vec![([1; 32], rating(1_208, 1))],
        pair: Some(Pair { a: [1; 32], b: [2; 32], last: 10, count: 2 }),
        ban: Some((Subject::Id(id("@guest123")), String::new(), 7)),
        found: Some(id("@00000000000000bb")),
        ..Commit::default()
    };
    store.commit(second).await.unwrap();
    store.buffer(vec![("#a".into(), "[1]".into()), ("#b".into(), "[]".into())]).await.unwrap();
    store.buffer(vec![("#a".into(), "[2]".into())]).await.unwrap();
    let mut kept = store.load().await.unwrap();
    kept.ratings.sort_by_key(|(key, _)| *key);
    let expected = Kept {
        identities: vec![([1; 32], id("@0000000a"))],
        ratings: vec![([1; 32], rating(1_208, 1)), ([2; 32], rating(u32::MAX, u32::MAX))],
        imported: vec![(id("@00000000000000aa"), rating(1_500, 3))],
        pairs: vec![Pair { a: [1; 32], b: [2; 32], last: 10, count: 2 }],
        proposals: vec![proposal(1, State::Accepted)],
        bans: vec![(Subject::Key([3; 32]), "spam".to_owned()), (Subject::Id(id("@guest123")), String::new())],
        allowed: vec![([4; 32], Some("note".to_owned()))],
        buffers: vec![("#a".into(), "[2]".into()), ("#b".into(), "[]".into())],
    };
    kept.bans.sort_by(|a, b| b.1.cmp(&a.1));
    assert_eq!(kept, expected);
    // History goes, what is open stays.
    store.sweep(u64::MAX).await.unwrap();
    let undone = Commit {
        unban: Some(Subject::Key([3; 32])),
        revoke: Some([4; 32]),
        proposals: vec![(proposal(1, State::Disputed), true)],
        ..Commit::default()
    };
    store.commit(undone).await.unwrap();
    let kept = store.load().await.unwrap();
    assert_eq!((kept.bans.len(), kept.allowed.len(), kept.proposals.len()), (1, 0, 0));
}

#[tokio::test]
async fn sqlite_conforms_and_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.sqlite3");
    let store = SqliteStore::open(&path).await.unwrap();
    conforms(&store).await;
    assert!(matches!(SqliteStore::open(&path).await, Err(StoreError::Busy)));
    drop(store);
    let again = SqliteStore::open(&path).await.unwrap();
    assert_eq!(again.load().await.unwrap().ratings.len(), 2);
}

#[tokio::test]
async fn postgres_conforms_and_has_one_writer() {
    let cluster = zx1_server::testing::Cluster::start();
    let url = cluster.database("relay");
    let store = PostgresStore::open(&url).await.unwrap();
    conforms(&store).await;
    assert!(matches!(PostgresStore::open(&url).await, Err(StoreError::Busy)));
}
