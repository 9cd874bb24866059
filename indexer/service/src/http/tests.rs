//! The interface over real connections, on a made-up chain.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod web;

use super::openapi;
use crate::chain::{Finality, Ledger as _};
use crate::server::Server;
use crate::testing::{Fake, Party, commitment, config, mint};
use futures_util::{SinkExt, StreamExt};
use proptest::prelude::*;
use serde_json::{Value, json};
use solana_address::Address;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;
use zx1_chain::rpc::ChainError;
use zx1_chain::rpc::audit::Accounts;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::ConversationId;
use zx1_protocol::payload::bid_payload;
use zx1_server::testing::schema::Description;

static DESCRIPTION: LazyLock<Description> =
    LazyLock::new(|| Description::new(include_str!("../../openapi.json")));

/// The made-up chain as an audit from outside asks it.
struct Outside<'a>(&'a Fake);

impl zx1_operator::audit::Source for Outside<'_> {
    async fn slot(&self) -> Result<u64, ChainError> {
        Ok(self.0.slot(Finality::Confirmed).await.unwrap())
    }

    async fn accounts(&self) -> Result<Accounts, ChainError> {
        Ok(crate::audit::read(self.0).await.unwrap())
    }
}

struct Live {
    server: Server,
    chain: Fake,
    http: reqwest::Client,
    _folder: tempfile::TempDir,
}

impl Live {
    async fn start(chain: Fake) -> Self {
        Self::with(chain, |_| {}).await
    }

    async fn with(chain: Fake, set: impl FnOnce(&mut crate::Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path());
        config.limits.streams_per_address = 3;
        config.limits.stream_ring = 16;
        set(&mut config);
        let server =
            Server::start_on(config, Arc::new(chain.clone()), "made up".to_owned(), None).await.unwrap();
        let live = Self { server, chain, http: reqwest::Client::new(), _folder: folder };
        live.caught_up().await;
        live
    }

    /// Until everything that is confirmed is indexed.
    async fn caught_up(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let standing = self.server.index().status.get();
            if standing.ready && standing.slot >= self.chain.lock().confirmed {
                return;
            }
            assert!(Instant::now() < deadline, "{standing:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server.url())
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.http.get(self.url(path)).send().await.unwrap();
        let (status, body) = (answer.status().as_u16(), answer.json().await.unwrap());
        // Every answer is as the committed document says.
        if let Err(what) = DESCRIPTION.check("GET", path, status, &body) {
            panic!("{what}");
        }
        (status, body)
    }

    async fn ok(&self, path: &str) -> Value {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    async fn refused(&self, path: &str) -> u64 {
        let (status, body) = self.get(path).await;
        assert!((400..500).contains(&status), "{path}: {status} {body}");
        assert!(["detail", "next"].iter().all(|name| body[name].as_str().unwrap().ends_with('.')), "{body}");
        body["code"].as_u64().unwrap()
    }
}

fn world() -> Fake {
    let chain = Fake::new();
    for number in 1..=5 {
        chain.register(mint(number), [100 + number; 32]);
        chain.stake(mint(number), 10_000_000 + u64::from(number));
    }
    for number in 1..=3 {
        chain.lease(mint(number), 20_000 - u64::from(number) + 1, 0);
    }
    chain.batch(&commitment(mint(1), 19_999));
    chain.challenge(mint(1), 19_999, [50; 32]);
    chain.open_tenure(mint(2), [102; 32], 19_990);
    chain.open_head(mint(2), 19_990);
    chain.add_key(mint(2), [61; 32], 6, 19_990);
    chain.add_key(mint(2), [62; 32], 8, 19_992);
    chain.batch(&commitment(mint(2), 19_999));
    chain.ask(mint(2), 19_999, [70; 32]);
    chain.withhold([70; 32]);
    chain.take_over(mint(2), [112; 32], 20_000);
    chain.feedback("It works.");
    chain.feedback("It <b>still</b> works.");
    chain
}

#[tokio::test]
async fn every_answer_says_what_it_rests_on() {
    let live = Live::start(world()).await;
    let one = mint(1).to_string();
    for path in [
        "/v1/status".to_owned(),
        "/v1/network".to_owned(),
        "/v1/agents".to_owned(),
        "/v1/batches".to_owned(),
        "/v1/challenges".to_owned(),
        "/v1/asks".to_owned(),
        "/v1/feedback".to_owned(),
        "/v1/feedback/0".to_owned(),
        "/v1/events".to_owned(),
        "/v1/contracts".to_owned(),
        "/v1/gaps".to_owned(),
        "/v1/audit".to_owned(),
        format!("/v1/agents/{one}"),
        format!("/v1/agents/{one}/history"),
        format!("/v1/agents/{one}/events"),
        format!("/v1/agents/{one}/counterparties"),
        format!("/v1/agents/{one}/ratings"),
        format!("/v1/agents/{one}/challenges"),
        format!("/v1/agents/{one}/batches"),
        format!("/v1/agents/{one}/batches/19999"),
        format!("/v1/agents/{one}/asks"),
        format!("/v1/challenges/{}", Address::from([50; 32])),
        format!("/v1/asks/{}", Address::from([70; 32])),
    ] {
        let body = live.ok(&path).await;
        assert_eq!(body["slot"], json!(live.chain.lock().confirmed), "{path}");
        assert_eq!(body["commitment"], "confirmed");
        assert_eq!(body["digest"].as_str().unwrap().len(), 64);
    }
    let feedback = live.ok("/v1/feedback").await;
    assert_eq!(feedback["digest"], feedback["items"][0]["head"], "the log's head on chain");
    let agent = live.ok(&format!("/v1/agents/{one}")).await;
    assert_eq!(agent["digest"], agent["agent"]["batches"]["digest"]);
    assert_ne!(agent["digest"], json!("00".repeat(32)));
    let (status, health) = live.get("/healthz").await;
    assert_eq!((status, &health["ok"]), (200, &json!(true)));
    assert_eq!(live.ok("/readyz").await["ready"], json!(true));
    live.server.stop().await;
}

#[tokio::test]
async fn agents_are_searched_filtered_sorted_and_paged() {
    let live = Live::start(world()).await;
    let names = |body: &Value| -> Vec<String> {
        body["items"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    // Names come from the registry's job after a backfill.
    let deadline = Instant::now() + Duration::from_secs(60);
    while live.ok("/v1/agents?query=agent").await["items"].as_array().unwrap().len() < 5 {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(names(&live.ok("/v1/agents?query=gent%204").await), ["Agent 4"]);
    assert_eq!(names(&live.ok("/v1/agents?sort=stake&limit=2").await), ["Agent 5", "Agent 4"]);
    let of = |state: &'static str| live.ok(state);
    assert_eq!(names(&of("/v1/agents?state=active").await), ["Agent 1"]);
    assert_eq!(names(&of("/v1/agents?state=grace").await), ["Agent 2", "Agent 3"]);
    assert_eq!(names(&of("/v1/agents?state=none").await), ["Agent 4", "Agent 5"]);
    assert!(names(&of("/v1/agents?state=deactivated").await).is_empty());
    let owner = Address::from([103; 32]);
    assert_eq!(names(&live.ok(&format!("/v1/agents?owner={owner}")).await), ["Agent 3"]);
    assert_eq!(names(&live.ok("/v1/agents?missing=true").await), ["Agent 1", "Agent 2"]);
    assert_eq!(names(&live.ok("/v1/agents?withheld=true").await), ["Agent 2"]);
    for sort in ["number", "name", "stake", "lease", "batches", "reliability", "last_active"] {
        for order in ["asc", "desc"] {
            let path = format!("/v1/agents?sort={sort}&order={order}");
            let whole = names(&live.ok(&path).await);
            let (mut paged, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let from = cursor.as_ref().map(|it| format!("&cursor={it}")).unwrap_or_default();
                let page = live.ok(&format!("{path}&limit=2{from}")).await;
                paged.extend(names(&page));
                cursor = page["next"].as_str().map(str::to_owned);
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(paged, whole, "{path}");
        }
    }
    live.server.stop().await;
}

#[tokio::test]
async fn tenures_keys_stakes_challenges_and_asks_are_shown_as_an_audit_reads_them() {
    let chain = world();
    let (first, second) = (chain.lock().confirmed, Address::from([112; 32]).to_string());
    let live = Live::start(chain).await;
    let agent = live.ok(&format!("/v1/agents/{}", mint(2))).await["agent"].clone();
    let tenure = &agent["tenure"];
    assert_eq!((&tenure["number"], &tenure["era"], &tenure["owner"]), (&json!(2), &json!(1), &json!(second)));
    assert_eq!(tenure["from_epoch"], 20_001);
    let stakes = agent["stakes"].as_array().unwrap();
    assert_eq!(stakes.len(), 1);
    assert_eq!((&stakes[0]["era"], &stakes[0]["ended"]), (&json!(0), &json!(true)));
    assert_eq!(stakes[0]["micro_usdc"], "10000002");
    assert_eq!(agent["staked_micro_usdc"], "10000002");
    let keys = agent["keys"].as_array().unwrap();
    let of = |key: &Value| (key["scopes"].clone(), key["from_epoch"].clone(), key["until_epoch"].clone());
    let expected = [(json!(6), json!(19_990), json!(20_000)), (json!(8), json!(19_992), json!(20_000))];
    assert_eq!(keys.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(keys[0]["scope_names"], json!(["batch", "deal"]));
    let tenures = agent["tenures"].as_array().unwrap();
    let of = |it: &Value| (it["number"].clone(), it["to_epoch"].clone(), it["uncovered_epochs"].clone());
    // 19 991 to 20 000, and the one batch is marked.
    let expected = [(json!(1), json!(20_000), json!(10)), (json!(2), json!(null), json!(0))];
    assert_eq!(tenures.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!((&agent["batches"]["withheld"], &agent["asks"]["withheld"]), (&json!(1), &json!(1)));
    let items = async |path: &str| live.ok(path).await["items"].as_array().unwrap().clone();
    let batches = items("/v1/batches?withheld=true").await;
    assert_eq!(
        (batches.len(), &batches[0]["withheld"], &batches[0]["data"]),
        (1, &json!(true), &json!("missing"))
    );
    assert_eq!(batches[0]["message"].as_str().unwrap().len(), 2 * 237);
    assert_eq!(items("/v1/batches?withheld=false").await.len(), 1);
    assert_eq!(items("/v1/asks?state=withheld").await[0]["state"], 2);
    assert!(items("/v1/asks?state=open").await.is_empty());
    assert_eq!(items(&format!("/v1/agents/{}/asks?epoch=19999", mint(2))).await[0]["tree_name"], "arrays");
    // An open one is taken over, and settled by its answer.
    let challenge =
        async || live.ok(&format!("/v1/challenges/{}", Address::from([50; 32]))).await["challenge"].clone();
    let open = challenge().await;
    assert_eq!((&open["outcome"], &open["state"], &open["rank"]), (&json!(0), &json!("open"), &json!(3)));
    live.chain.replace([50; 32], [9; 32]);
    live.caught_up().await;
    let taken = challenge().await;
    assert_eq!((&taken["rank"], &taken["taken_over"]), (&json!(2), &json!(true)));
    assert_eq!(taken["challenger"], Address::from([9; 32]).to_string());
    assert_eq!(taken["first_challenger"], Address::from([3; 32]).to_string());
    assert_eq!(items("/v1/challenges?state=open").await.len(), 1);
    live.chain.answer([50; 32]);
    live.caught_up().await;
    let settled = challenge().await;
    assert_eq!((&settled["outcome"], &settled["state"]), (&json!(1), &json!("answered")));
    assert_eq!(settled["to_stake_micro_usdc"], "1500000");
    // Nothing can answer a double bid.
    live.chain.challenge_on(mint(1), 19_999, [51; 32], 5);
    live.caught_up().await;
    assert!(items("/v1/challenges?state=open").await.is_empty());
    assert_eq!(items("/v1/challenges?state=unanswered").await[0]["state"], "unanswered");
    assert!(first < live.chain.lock().confirmed);
    let clean = zx1_operator::audit::audit(&Outside(&live.chain), live.server.url()).await.unwrap();
    assert_eq!(clean.differences, []);
    live.server.stop().await;
}

#[tokio::test]
async fn hostile_requests_are_refused_with_a_number() {
    let live = Live::start(world()).await;
    let long = "x".repeat(5_000);
    for (path, code) in [
        ("/v1/agents?qery=x".to_owned(), 9631),
        ("/v1/agents?limit=0".to_owned(), 9630),
        ("/v1/agents?limit=1e9".to_owned(), 9630),
        ("/v1/agents?sort=stake;DROP".to_owned(), 9630),
        ("/v1/agents?cursor=00".to_owned(), 9632),
        ("/v1/agents?cursor=%00".to_owned(), 9632),
        (format!("/v1/agents?cursor={long}"), 9632),
        ("/v1/agents?owner=0OIl".to_owned(), 9630),
        ("/v1/agents?staked=maybe".to_owned(), 9630),
        ("/v1/agents/nobody".to_owned(), 9641),
        (format!("/v1/agents/{long}"), 9641),
        (format!("/v1/agents/{}", mint(77)), 9641),
        (format!("/v1/agents/{}/batches/x", mint(1)), 9642),
        (format!("/v1/agents/{}/batches/99999999999999999999", mint(1)), 9642),
        (format!("/v1/agents/{}/batches/19999/data", mint(1)), 9646),
        (format!("/v1/agents/{}/batches/19999/records", mint(1)), 9646),
        (format!("/v1/agents/{}/batches/19999/proof?record=1&leaf=1", mint(1)), 9630),
        (format!("/v1/agents/{}/history?from_epoch=9&to_epoch=1", mint(1)), 9630),
        (format!("/v1/agents/{}/history?from_epoch=0&to_epoch=18446744073709551615", mint(1)), 9630),
        ("/v1/challenges/x".to_owned(), 9643),
        ("/v1/challenges?state=failed".to_owned(), 9630),
        ("/v1/asks/x".to_owned(), 9654),
        ("/v1/asks?state=answered".to_owned(), 9630),
        ("/v1/batches?data=withheld".to_owned(), 9630),
        ("/v1/feedback/-1".to_owned(), 9644),
        ("/v1/feedback/18446744073709551615".to_owned(), 9644),
        ("/v1/events?program=Sati".to_owned(), 9630),
        ("/v1/events?name=StakeLockedX".to_owned(), 9630),
        ("/v1/events?from_slot=-1".to_owned(), 9630),
        ("/v1/contracts/..%2f..%2fetc".to_owned(), 9645),
        ("/v1/bindings/x".to_owned(), 9653),
        ("/v1/stream?types=nonsense".to_owned(), 9630),
        ("/v1/stream?last_event_id=x".to_owned(), 9630),
        ("/v1/stream?last=0".to_owned(), 9630),
        ("/v1/stream?last=1001".to_owned(), 9630),
        ("/v1/ws?last=-1".to_owned(), 9630),
        ("/v1/ws".to_owned(), 9666),
        ("/no/such/page".to_owned(), 9640),
        ("/../Cargo.toml".to_owned(), 9640),
    ] {
        assert_eq!(live.refused(&path).await, code, "{path}");
    }
    // Texts that mean something to a database are texts.
    for text in ["' OR '1'='1", "%", "_", "\\", "🦀", "\u{0}"] {
        let url = reqwest::Url::parse_with_params(&live.url("/v1/feedback"), [("query", text)]).unwrap();
        let answer: Value = live.http.get(url).send().await.unwrap().json().await.unwrap();
        assert!(answer["items"].as_array().is_none_or(Vec::is_empty), "{text}: {answer}");
    }
    let posted = live.http.post(live.url("/v1/agents")).send().await.unwrap();
    assert_eq!(posted.status().as_u16(), 405);
    let large = live.http.post(live.url("/v1/envelopes")).body(vec![0; 1 << 20]).send().await.unwrap();
    assert_eq!(large.status().as_u16(), 413);
    let nonsense = live.http.post(live.url("/v1/envelopes")).body("nonsense").send().await.unwrap();
    assert_eq!(nonsense.status().as_u16(), 422);
    let nonsense = live.http.put(live.url("/v1/bindings")).body("{}").send().await.unwrap();
    assert_eq!(nonsense.status().as_u16(), 422);
    live.server.stop().await;
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again() {
    let live = Live::start(world()).await;
    let first = live.http.get(live.url("/v1/feedback")).send().await.unwrap();
    let tag = first.headers()["etag"].clone();
    assert_eq!(first.headers()["access-control-allow-origin"], "*");
    let again = live.http.get(live.url("/v1/feedback")).header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(again.status().as_u16(), 304);
    live.chain.feedback("More.");
    live.caught_up().await;
    let more = live.http.get(live.url("/v1/feedback")).header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(more.status().as_u16(), 200);
    live.server.stop().await;
}

#[tokio::test]
async fn a_batch_is_uploaded_served_and_proven() {
    let (mut ann, mut bob) = (Party::new(1), Party::new(2));
    ann.say(&mut bob, MsgType::Propose, ConversationId([9; 16]), &bid_payload(-500, b"JSON{}"), 19_999);
    bob.say(&mut ann, MsgType::Accept, ConversationId([9; 16]), &bid_payload(-500, b"JSON{}"), 19_999);
    let rating = bob.rate(&mut ann, ConversationId([9; 16]), 70, 19_999);
    let built = ann.build(19_999);
    let chain = Fake::new();
    chain.lock().owners.insert(bob.mint, bob.owner());
    chain.add_key(bob.mint, bob.public(), 8, 19_990);
    chain.open_tenure(ann.mint, ann.owner(), 19_990);
    chain.batch(&built.commitment());
    chain.batch(&bob.build(19_999).commitment());
    let live = Live::start(chain).await;
    let base = format!("/v1/agents/{}/batches/19999", ann.mint);
    let data = live.url(&format!("{base}/data"));
    let bytes = built.bundle().unwrap().to_vec();
    let put =
        |body: Vec<u8>| live.http.put(&data).header("content-type", "application/cbor").body(body).send();
    let wrong = put(bob.build(19_999).bundle().unwrap().to_vec()).await.unwrap();
    assert_eq!(wrong.status().as_u16(), 422);
    let body: Value = wrong.json().await.unwrap();
    assert_eq!(body["code"], 9650);
    assert_eq!(put(bytes.clone()).await.unwrap().status().as_u16(), 201);
    assert_eq!(put(bytes.clone()).await.unwrap().status().as_u16(), 200);
    assert_eq!(put(vec![0; 2 << 20]).await.unwrap().status().as_u16(), 413);
    let arriving = live.server.index().config.bundles().join(".arriving");
    assert_eq!(std::fs::read_dir(arriving).unwrap().count(), 0, "nothing of what was refused is left");
    let served = live.http.get(&data).send().await.unwrap();
    assert_eq!(served.headers()["content-type"], "application/cbor");
    assert_eq!(served.bytes().await.unwrap().to_vec(), bytes);
    let sent = live.http.post(live.url("/v1/envelopes")).body(rating).send().await.unwrap();
    assert_eq!(sent.status().as_u16(), 201);
    let of_bob = live.url(&format!("/v1/agents/{}/batches/19999/data", bob.mint));
    let body = bob.build(19_999).bundle().unwrap().to_vec();
    assert_eq!(live.http.put(of_bob).body(body).send().await.unwrap().status().as_u16(), 201);
    let batch = live.ok(&base).await;
    assert_eq!(batch["batch"]["data"], "served");
    assert_eq!(batch["batch"]["content"]["message_count"], 1);
    let records = live.ok(&format!("{base}/records")).await;
    assert_eq!(records["items"][0]["value"], "-500");
    assert_eq!(records["items"][1]["kind"], "feedback");
    assert_eq!(records["items"][1]["standing"], "bound");
    let bids = live.ok(&format!("{base}/records?kind=bid")).await;
    assert_eq!(bids["items"].as_array().unwrap().len(), 1);
    let first = live.ok(&format!("{base}/records?limit=1")).await;
    let rest = live.ok(&format!("{base}/records?limit=1&cursor={}", first["next"].as_str().unwrap())).await;
    assert_eq!(rest["items"][0]["entry"], 1);
    let leaves = live.ok(&format!("{base}/leaves")).await;
    assert_eq!(leaves["items"].as_array().unwrap().len(), 3);
    for (name, root) in [("leaf", "log_merkle_root"), ("record", "arrays_root")] {
        let proof = live.ok(&format!("{base}/proof?{name}=1")).await["proof"].clone();
        assert_eq!(proof["root"], batch["batch"][root]);
        let hash =
            |it: &Value| -> [u8; 32] { hex::decode(it.as_str().unwrap()).unwrap().try_into().unwrap() };
        let path: Vec<[u8; 32]> = proof["path"].as_array().unwrap().iter().map(hash).collect();
        let (mut node, mut index) = (hash(&proof["leaf"]), proof["index"].as_u64().unwrap());
        for sibling in path {
            use zx1_protocol::hash::{Keccak, Sha3};
            node = if index & 1 == 0 {
                Sha3::hashv(&[&node, &sibling])
            } else {
                Sha3::hashv(&[&sibling, &node])
            };
            index >>= 1;
        }
        assert_eq!(node, hash(&proof["root"]));
    }
    assert_eq!(live.refused(&format!("{base}/proof?leaf=9")).await, 9667);
    let with = live.ok(&format!("/v1/agents/{}/counterparties", ann.mint)).await;
    assert_eq!(with["items"][0]["agent"], bob.mint.to_string());
    assert_eq!((&with["items"][0]["bids"], &with["items"][0]["ratings_received"]), (&json!(1), &json!(1)));
    let ratings = live.ok(&format!("/v1/agents/{}/ratings", ann.mint)).await;
    assert_eq!(
        (&ratings["items"][0]["in_batch"], &ratings["items"][0]["binding"]),
        (&json!(true), &json!("selection"))
    );
    let agent = live.ok(&format!("/v1/agents/{}", ann.mint)).await["agent"].clone();
    assert_eq!(agent["reputation"]["reliability"], 70_000);
    assert_eq!(agent["reputation_detail"]["tally"]["bound"], 1);
    let history = live.ok(&format!("/v1/agents/{}/history?from_epoch=19998&to_epoch=20000", ann.mint)).await;
    assert_eq!(history["epochs"][1]["messages"], 1);
    assert_eq!(history["epochs"][0]["messages"], Value::Null);
    // The audit from outside finds nothing, and finds what is changed.
    let clean = zx1_operator::audit::audit(&Outside(&live.chain), live.server.url()).await.unwrap();
    assert_eq!(clean.differences, []);
    let index = live.server.index();
    let mut row = index.agent_row(&ann.mint).await.unwrap().unwrap();
    row.batches = 7;
    index.write_rows(crate::store::Commit { agents: vec![row], ..Default::default() }).await.unwrap();
    let found = zx1_operator::audit::audit(&Outside(&live.chain), live.server.url()).await.unwrap();
    assert_eq!(found.differences.len(), 1, "{found:?}");
    assert_eq!((found.differences[0].index.as_str(), found.differences[0].chain.as_str()), ("7", "1"));
    let own = crate::audit::self_audit(index).await.unwrap();
    assert_eq!(own.differences.len(), 1);
    live.server.stop().await;
}

#[tokio::test]
async fn an_upload_waits_for_its_own_batch() {
    let (mut ann, mut bob) = (Party::new(8), Party::new(9));
    ann.say(&mut bob, MsgType::Propose, ConversationId([9; 16]), &bid_payload(1, b""), 19_999);
    let built = ann.build(19_999);
    let live = Live::start(world()).await;
    // Nothing is indexed while somebody else writes; the upload comes first.
    let writer = live.server.index().writer().await;
    live.chain.batch(&built.commitment());
    let url = live.url(&format!("/v1/agents/{}/batches/19999/data", ann.mint));
    let body = built.bundle().unwrap().to_vec();
    let sent = tokio::spawn(live.http.put(url).body(body).send());
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!sent.is_finished());
    drop(writer);
    assert_eq!(sent.await.unwrap().unwrap().status().as_u16(), 201);
    live.server.stop().await;
}

/// Reads frames of server-sent events until so many carry an event.
async fn frames(answer: reqwest::Response, count: usize) -> Vec<(i64, Value)> {
    let (mut text, mut found) = (String::new(), Vec::new());
    let mut answer = answer;
    while found.len() < count {
        let part =
            tokio::time::timeout(Duration::from_secs(60), answer.chunk()).await.unwrap().unwrap().unwrap();
        text.push_str(std::str::from_utf8(&part).unwrap());
        while let Some((frame, rest)) = text.split_once("\n\n").map(|(a, b)| (a.to_owned(), b.to_owned())) {
            text = rest;
            let field =
                |name: &str| frame.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
            if let (Some(id), Some(data)) = (field("id: "), field("data: ")) {
                let value: Value = serde_json::from_str(&data).unwrap();
                assert_eq!(field("event: ").as_deref(), value["type"].as_str());
                assert_eq!(value["id"], json!(id.parse::<i64>().unwrap()));
                found.push((id.parse().unwrap(), value));
            }
        }
    }
    found
}

#[tokio::test]
async fn a_stream_resumes_where_it_was_and_repeats_nothing() {
    let live = Live::start(world()).await;
    let open = |path: &str| live.http.get(live.url(path)).send();
    let all = frames(open("/v1/stream?last_event_id=0").await.unwrap(), 16).await;
    let names: Vec<&str> = all.iter().skip(8).map(|(_, it)| it["type"].as_str().unwrap()).collect();
    let expected = [
        "challenge_submitted",
        "key_added",
        "key_added",
        "leaf_asked",
        "batch_withheld",
        "key_ended",
        "key_ended",
        "taken_over",
    ];
    assert_eq!(names, expected, "after five registered and three leased");
    assert_eq!(all[9].1["scope_names"], json!(["batch", "deal"]));
    assert_eq!(all[15].1["number"], 2);
    let ids: BTreeSet<i64> = all.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids.len(), 16);
    let (fourth, _) = all[3];
    let resumed = live.http.get(live.url("/v1/stream")).header("last-event-id", fourth.to_string());
    assert_eq!(frames(resumed.send().await.unwrap(), 12).await, all[4..]);
    let only = open("/v1/stream?last_event_id=0&types=challenge_submitted").await.unwrap();
    assert_eq!(frames(only, 1).await[0].1["ground_name"], "bid");
    // Of the past only the last ones.
    assert_eq!(frames(open("/v1/stream?last=3").await.unwrap(), 3).await, all[13..]);
    let last_but_one = all[14].0;
    let short = open(&format!("/v1/stream?last_event_id={last_but_one}&last=5")).await.unwrap();
    let filtered = format!("/v1/stream?last=1&types=agent_joined&agent={}", mint(2));
    let filtered = frames(open(&filtered).await.unwrap(), 1).await;
    let of_second = |(_, it): &&(i64, Value)| it["agent"] == json!(mint(2)) && it["type"] == "agent_joined";
    assert_eq!(Some(&filtered[0]), all.iter().rfind(of_second));
    // New ones arrive without a reconnect.
    let following = open(&format!("/v1/stream?agent={}", mint(5))).await.unwrap();
    live.chain.lease(mint(4), 20_000, 0);
    live.chain.lease(mint(5), 20_000, 0);
    let news = frames(following, 1).await;
    assert_eq!((&news[0].1["cause"], &news[0].1["agent"]), (&json!("first_lease"), &json!(mint(5))));
    assert_eq!(news[0].1["retracts"], Value::Null);
    let short = frames(short, 3).await;
    assert_eq!(short[0], all[15], "the rest of the past");
    let told = short[1..].iter().map(|(_, it)| it["agent"].as_str().unwrap());
    assert!(told.eq([4, 5].map(|it| mint(it).to_string())));
    live.server.stop().await;
}

#[tokio::test]
async fn a_websocket_hears_the_same_and_may_change_its_filter() {
    let live = Live::start(world()).await;
    let url = live.url("/v1/ws?last=1&types=challenge_submitted").replace("http://", "ws://");
    let (mut socket, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    async fn next<S>(socket: &mut S) -> Value
    where
        S: StreamExt<Item = Result<Message, tokio_tungstenite::tungstenite::Error>> + Unpin,
    {
        loop {
            let message =
                tokio::time::timeout(Duration::from_secs(60), socket.next()).await.unwrap().unwrap().unwrap();
            if let Message::Text(text) = message {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }
    assert_eq!(next(&mut socket).await["type"], "challenge_submitted");
    socket.send(Message::text(json!({ "types": ["agent_joined"] }).to_string())).await.unwrap();
    // The new filter applies to what comes after it; the answer to a ping shows that it was read.
    socket.send(Message::Ping(Vec::new().into())).await.unwrap();
    loop {
        let heard = tokio::time::timeout(Duration::from_secs(60), socket.next()).await;
        if let Message::Pong(_) = heard.unwrap().unwrap().unwrap() {
            break;
        }
    }
    live.chain.lease(mint(5), 20_000, 0);
    assert_eq!(next(&mut socket).await["type"], "agent_joined");
    socket.send(Message::text("nonsense")).await.unwrap();
    let closed = loop {
        match tokio::time::timeout(Duration::from_secs(60), socket.next()).await.unwrap() {
            Some(Ok(Message::Close(frame))) => break frame.unwrap(),
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(u16::from(closed.code), 1008);
    live.server.stop().await;
}

#[tokio::test]
async fn seats_for_streams_end_and_are_given_back() {
    let live = Live::start(world()).await;
    let open = || live.http.get(live.url("/v1/stream")).send();
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(open().await.unwrap());
    }
    let refused = open().await.unwrap();
    assert_eq!(refused.status().as_u16(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    drop(held);
    let deadline = Instant::now() + Duration::from_secs(60);
    while open().await.unwrap().status().as_u16() != 200 {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    live.server.stop().await;
}

#[tokio::test]
async fn clients_behind_a_proxy_of_ours_have_bounds_of_their_own() {
    let live = Live::with(world(), |config| {
        config.limits.proxies = vec!["127.0.0.1".parse().unwrap()];
        config.limits.address = crate::config::Rate { burst: 2, per_second: 1 };
        config.limits.streams_per_address = 1;
    })
    .await;
    let ask = |path: &str, client: &str| {
        live.http.get(live.url(path)).header("x-forwarded-for", format!("192.0.2.1, {client}")).send()
    };
    let status = async |client: &str| ask("/v1/feedback", client).await.unwrap().status().as_u16();
    let of_first = [status("198.51.100.1").await, status("198.51.100.1").await, status("198.51.100.1").await];
    assert_eq!(of_first, [200, 200, 429]);
    assert_eq!(status("198.51.100.2").await, 200);
    let _held = ask("/v1/stream", "198.51.100.3").await.unwrap();
    assert_eq!(ask("/v1/stream", "198.51.100.3").await.unwrap().status().as_u16(), 503);
    assert_eq!(ask("/v1/stream", "198.51.100.4").await.unwrap().status().as_u16(), 200);
    live.server.stop().await;
}

#[tokio::test]
async fn a_graceful_stop_ends_streams_and_frees_the_database() {
    let live = Live::start(world()).await;
    let mut stream = live.http.get(live.url("/v1/stream")).send().await.unwrap();
    let folder = live.server.index().config.data.clone();
    live.server.stop().await;
    let mut text = String::new();
    while let Ok(Some(part)) = stream.chunk().await {
        text.push_str(std::str::from_utf8(&part).unwrap());
    }
    assert!(text.contains("the indexer is stopping"), "{text}");
    let store = crate::store::SqliteStore::open(&folder.join("index.db")).await;
    assert!(store.is_ok());
}

/// The committed document is the one that the code describes; `zx1-indexer --print-openapi` writes it.
#[test]
fn the_openapi_document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == openapi::text(), "run zx1-indexer --print-openapi > indexer/service/openapi.json");
}

#[tokio::test]
async fn every_documented_route_is_there_and_every_parameter_known() {
    let live = Live::start(world()).await;
    for (method, path) in DESCRIPTION.operations() {
        let filled = path
            .replace("{mint}", &mint(1).to_string())
            .replace("{epoch}", "19999")
            .replace(
                "{address}",
                &Address::from([if path.contains("asks") { 70 } else { 50 }; 32]).to_string(),
            )
            .replace("{index}", "0")
            .replace("{id}", "0000000000000000")
            .replace("{wallet}", &Address::from([1; 32]).to_string());
        let method_name = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        if matches!(path, "/v1/stream") {
            continue;
        }
        let answer = live.http.request(method_name, live.url(&filled)).send().await.unwrap();
        let status = answer.status().as_u16();
        let body: Value = answer.json().await.unwrap_or_default();
        assert!(status != 405 && body["code"] != 9640, "{method} {path}: {status} {body}");
        if method != "get" || path == "/v1/ws" {
            continue;
        }
        let parameters = DESCRIPTION.operation(method, path).unwrap()["parameters"].as_array();
        for parameter in parameters.into_iter().flatten().filter(|it| it["in"] == "query") {
            let name = parameter["name"].as_str().unwrap();
            // An empty value is as if it were left out, but its name must be known.
            let (_, body) = live.get(&format!("{filled}?{name}=")).await;
            assert_ne!(body["code"], 9631, "{path} does not know {name}");
        }
    }
    live.server.stop().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]
    #[test]
    fn no_request_makes_the_indexer_fail(paths in proptest::collection::vec("[a-z0-9/?=&%._-]{0,60}", 8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let live = Live::start(world()).await;
            for path in paths {
                for path in ["/v1/", "/v1/agents?", "/v1/events?"].map(|it| format!("{it}{path}")) {
                    if let Ok(answer) = live.http.get(live.url(&path)).send().await {
                        prop_assert!(answer.status().as_u16() < 500, "{} {path}", answer.status());
                    }
                }
            }
            live.server.stop().await;
            Ok(())
        })?;
    }
}
