//! A market's contracts, mirrored from a real interface over HTTP.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::Markets;
use crate::http;
use crate::store::Find;
use crate::testing::{Fake, Rig};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zx1_market::case::{Chained, Step};
use zx1_market::chain::{Data, DepositData, Entry, Head, ReexecutionData, RulingData, Side};
use zx1_market::money::{Outcome, inclusive_bond};
use zx1_market::wire::{ContractView, ListAnswer};
use zx1_market::{Address, Case, Contract, Millis, PartyKey, Raw, Terms};
use zx1_server::testing::schema::Description;

fn key(number: u8) -> PartyKey {
    PartyKey::from_seed(&[number; 32])
}

fn address(number: u8) -> Address {
    Address::from(nano_escrow::PublicKey([number; 32]))
}

/// A contract that was fixed, disputed and ruled on.
struct World {
    case: Case,
    chained: Vec<Chained>,
    now: Millis,
}

impl World {
    fn disputed() -> Self {
        let server = key(3);
        let mut terms = Terms::new(server.id(), address(90)).unwrap();
        terms.judges.push(key(5).id());
        let contract = Contract::builder("gcc foo.c", "undefined reference to `bar'");
        let contract = contract.bounty(Raw::from_xno("0.5").unwrap()).build(&terms).unwrap();
        let now = Millis(1_795_000_000_000);
        let (principal, market, payout) = (key(1).id(), Some(terms.market()), Some(address(11)));
        let data = Data::Post { contract: contract.json().clone(), principal, payout, market };
        let (case, step) =
            Case::start(Entry::sign(&data, Head::GENESIS, now, &key(1)), &terms, now, &server).unwrap();
        let mut world = Self { case, chained: Vec::new(), now };
        world.take(step);
        world.deposit(Side::Principal, 101);
        let bond = Data::Bond { agent: key(2).id(), payout: Some(address(12)) };
        let bond = Entry::sign(&bond, world.case.head(), world.now, &key(2));
        world.case.reserve(bond, world.now).unwrap();
        world.deposit(Side::Agent, 102);
        world.act(2, Data::Accept { agent: key(2).id() });
        world.act(
            2,
            Data::Fix {
                fix: "gcc foo.c -lbar".into(),
                explanation: "links libbar".into(),
                corrected_command: None,
            },
        );
        world.act(1, Data::DisputeFiled { argument: "it is so".into(), side: Side::Principal });
        world.act(2, Data::DisputeResponse { argument: "it is not".into(), side: Side::Agent });
        world
    }

    fn take(&mut self, step: Step) {
        self.chained.extend(step.entries);
    }

    fn deposit(&mut self, side: Side, account: u8) {
        let amount = inclusive_bond(&self.case.terms().fees, self.case.contract().bounty).unwrap();
        let deposit = DepositData { account: address(account), amount, source: address(11) };
        let step = self.case.deposit_confirmed(side, deposit, self.now, &key(3)).unwrap();
        self.take(step);
    }

    fn act(&mut self, who: u8, data: Data) {
        self.now = self.now.plus(Millis(1_000));
        let entry = Entry::sign(&data, self.case.head(), self.now, &key(who));
        let step = self.case.handle(entry, self.now, &key(3)).unwrap();
        self.take(step);
    }

    fn rule(&mut self) {
        let court = self.case.judge_task().unwrap().court;
        let data = ReexecutionData {
            ran: false,
            success: None,
            exit_code: None,
            output: String::new(),
            note: "no inputs".into(),
            trial: None,
            signature: None,
        };
        let data = data.sign(self.case.id(), &self.case.head().hash, &key(5));
        let step = self.case.chain_by_server(Data::Reexecution(Box::new(data)), self.now, &key(3)).unwrap();
        self.take(step);
        let ruling = RulingData::new(Outcome::Fulfilled, court, "the transcript says so");
        let ruling = ruling.sign(self.case.id(), &self.case.head().hash, &key(5));
        let step = self.case.chain_by_server(Data::Ruling(Box::new(ruling)), self.now, &key(3)).unwrap();
        self.take(step);
        self.now = self.now.plus(Millis(600_000));
        let step = self.case.run(self.now, &key(3)).unwrap();
        self.take(step);
    }

    fn view(&self, whole: bool) -> ContractView {
        let entries = self.chained.iter().map(|it| it.entry.clone()).filter(|_| whole).collect();
        let times = self.chained.iter().map(|it| it.received_at).filter(|_| whole).collect();
        ContractView::new(&self.case, entries, times)
    }
}

/// What the market answers: the list, and each contract that a stranger may read.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<(String, BTreeMap<String, String>)>>);

impl Pages {
    fn show(&self, world: &World, readable: bool) {
        let mut pages = self.0.lock().unwrap();
        pages.0 =
            serde_json::to_string(&ListAnswer { contracts: vec![world.view(false)], next: None }).unwrap();
        pages.1.clear();
        if readable {
            let whole = serde_json::to_string(&world.view(true)).unwrap();
            pages.1.insert(world.case.id().to_string(), whole);
        }
    }

    async fn serve(&self) -> String {
        let list = |State(pages): State<Pages>| async move { pages.0.lock().unwrap().0.clone() };
        let one = |State(pages): State<Pages>, Path(id): Path<String>| async move {
            match pages.0.lock().unwrap().1.get(&id) {
                Some(text) => text.clone().into_response(),
                None => (StatusCode::FORBIDDEN, "{}").into_response(),
            }
        };
        // The whole of each answer by its path.
        let counted = |State(pages): State<Pages>, uri: axum::http::Uri| async move {
            match pages.0.lock().unwrap().1.get(uri.path()) {
                Some(text) => text.clone().into_response(),
                None => StatusCode::NOT_FOUND.into_response(),
            }
        };
        let router = axum::Router::new()
            .route("/contracts", get(list))
            .route("/contracts/{id}", get(one))
            .route("/reputation/{key}", get(counted));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, router.with_state(self.clone())).into_future());
        url
    }
}

async fn rig(market: &str) -> (Rig, Markets) {
    let rig = Rig::new(&Fake::new()).await;
    let (store, ledger) = (rig.index.store.clone(), rig.index.ledger.clone());
    let mut config = rig.index.config.clone();
    config.markets = vec![format!("{market}/")];
    let metrics = crate::metrics::Metrics::default();
    let index = crate::index::Index::open(store, ledger, config, metrics).await.unwrap();
    (rig, Markets::new(index, None).unwrap())
}

#[tokio::test]
async fn what_a_market_counts_of_both_parties_is_shown_with_the_contract() {
    let (pages, world) = (Pages::default(), World::disputed());
    let url = pages.serve().await;
    let (_rig, markets) = rig(&url).await;
    pages.show(&world, false);
    let [principal, agent] = [world.case.principal(), world.case.agent().unwrap()];
    let counts = |agent: u64, principal: u64| json!({"agent": {"fixes": agent, "failed_outside": 2}, "principal": {"fixes": principal, "failed_outside": 1}});
    let answers = [
        (
            principal,
            json!({"pubkey": principal.hex(), "note": "", "paid": counts(7, 8), "free": counts(5, 6)}),
        ),
        (agent, json!({"pubkey": agent.hex(), "note": "", "paid": counts(14, 9), "free": counts(3, 4)})),
    ];
    for (party, answer) in answers {
        pages.0.lock().unwrap().1.insert(format!("/reputation/{}", party.hex()), answer.to_string());
    }
    let store = markets.index.store.clone();
    let summary = async || {
        let row = store.contracts(Find::all()).await.unwrap().remove(0);
        serde_json::from_str::<Value>(&row.summary).unwrap()
    };
    markets.look().await;
    // The contract has a bounty, so what counts is what was paid for.
    let shown = summary().await;
    assert_eq!(shown["principal_fixes"], json!({"fixes": 8, "failed_outside": 1}));
    assert_eq!(shown["agent_fixes"], json!({"fixes": 14, "failed_outside": 2}));
}

/// A market that does not count, or answers nonsense, is mirrored all the same.
#[tokio::test]
async fn a_market_that_counts_nothing_is_mirrored_all_the_same() {
    for answer in [
        None,
        Some("{\"pubkey\":\"x\",\"note\":\"older\"}"),
        Some("<html>"),
        Some("{\"paid\":{\"agent\":-1}}"),
    ] {
        let (pages, world) = (Pages::default(), World::disputed());
        let url = pages.serve().await;
        let (_rig, markets) = rig(&url).await;
        pages.show(&world, false);
        if let Some(answer) = answer {
            let path = format!("/reputation/{}", world.case.principal().hex());
            pages.0.lock().unwrap().1.insert(path, answer.to_owned());
        }
        markets.look().await;
        let row = markets.index.store.contracts(Find::all()).await.unwrap().remove(0);
        let shown: Value = serde_json::from_str(&row.summary).unwrap();
        assert_eq!((row.state.as_str(), &shown["principal_fixes"]), ("disputed", &Value::Null), "{answer:?}");
    }
}

#[tokio::test]
async fn a_contracts_whole_life_is_mirrored_and_verified() {
    let (pages, mut world) = (Pages::default(), World::disputed());
    let url = pages.serve().await;
    let (_rig, markets) = rig(&url).await;
    let store = markets.index.store.clone();
    let only = || async { store.contracts(Find::all()).await.unwrap().remove(0) };
    // While it runs, strangers see only that it is there.
    pages.show(&world, false);
    markets.look().await;
    let row = only().await;
    assert_eq!((row.state.as_str(), row.settled), ("disputed", 0));
    let summary: Value = serde_json::from_str(&row.summary).unwrap();
    assert_eq!((&summary["verified"], &summary["entries"]), (&Value::Null, &0.into()));
    assert_eq!(summary["bounty"], "0.5");
    assert_eq!(summary["bounty_raw"], "500000000000000000000000000000");
    assert_eq!(summary["task"], "gcc foo.c");
    let told = store.stream(Find::all().order(&["id"])).await.unwrap();
    // Of a transcript that strangers do not see, no more than the market's list says.
    assert_eq!(
        told.iter().map(|it| it.row.kind.as_str()).collect::<Vec<_>>(),
        ["contract_posted", "contract_taken"]
    );
    // When it has ended, all of it.
    world.rule();
    assert!(world.case.state().is_terminal());
    pages.show(&world, true);
    markets.look().await;
    markets.look().await;
    let row = only().await;
    assert_eq!((row.state.as_str(), row.settled), ("resolved", 1));
    let summary: Value = serde_json::from_str(&row.summary).unwrap();
    assert_eq!((&summary["verified"], &summary["verify_error"]), (&true.into(), &Value::Null));
    assert_eq!(summary["escrow"][0]["account"], address(101).to_string());
    assert_eq!(summary["escrow"].as_array().unwrap().len(), 2);
    let expected = zx1_market::bridge::conversation_id(&key(3).id(), &world.case.id());
    assert_eq!(row.conversation, Some(expected.into()));
    let told = store.stream(Find::all().order(&["id"])).await.unwrap();
    assert_eq!(
        told.iter().map(|it| it.row.kind.as_str()).collect::<Vec<_>>(),
        ["contract_posted", "contract_taken", "dispute_raised", "verdict_issued", "contract_repaired"]
    );
    assert!(told[3].row.body.contains("\"ruling\":\"fulfilled\""), "{}", told[1].row.body);
    let standing = markets.index.status.get();
    assert_eq!(standing.markets, [(url, true, 1)]);
}

#[tokio::test]
async fn a_rating_that_is_chained_after_the_end_is_heard_and_the_contract_binds_it() {
    use zx1_market::chain::{Common, Data as D};
    let (pages, mut world) = (Pages::default(), World::disputed());
    world.rule();
    // The principal is an agent too, and rates the one that fixed it, for this very task.
    let (mut ann, mut bob) = (crate::testing::Party::new(1), crate::testing::Party::new(2));
    let conversation = zx1_market::bridge::conversation_id(&key(3).id(), &world.case.id());
    let epoch = 19_999;
    let envelope = ann.rate(&mut bob, conversation.into(), 90, epoch);
    let common = Common { envelope: Some(hex::encode(&envelope)), ..Common::default() };
    let data = D::Feedback {};
    world.now = world.now.plus(Millis(1_000));
    let entry = Entry::sign_json(data.kind(), data.to_json(&common), world.case.head(), world.now, &key(1));
    let step = world.case.handle(entry, world.now, &key(3)).unwrap();
    world.take(step);
    let url = pages.serve().await;
    pages.show(&world, true);
    let (rig, markets) = rig(&url).await;
    let chain = &rig.chain;
    chain.lock().owners.insert(ann.mint, ann.owner());
    chain.lock().owners.insert(bob.mint, bob.owner());
    chain.add_key(ann.mint, ann.public(), 8, epoch);
    chain.open_tenure(bob.mint, bob.owner(), epoch);
    let built = bob.build(epoch);
    chain.batch(&built.commitment());
    rig.round().await;
    let bundles = crate::bundles::Bundles::new(rig.index.config.bundles(), &rig.index.config.limits);
    let bytes = built.bundle().unwrap().to_vec();
    bundles.put(&rig.index, bob.mint, epoch as i64, bytes).await.unwrap();
    // The job has an index of its own here, which follows no chain: scores decay by the chain's day.
    let epoch = rig.index.status.get().epoch;
    markets.index.status.set(|it| it.epoch = epoch);
    let score = || async { rig.index.agent_row(&bob.mint).await.unwrap().unwrap().reliability };
    assert_eq!(score().await, 0, "nobody vouches for it");
    markets.look().await;
    assert_eq!(score().await, 90_000);
}

#[tokio::test]
async fn a_transcript_that_was_changed_is_shown_as_such_and_settles_nothing() {
    let (pages, mut world) = (Pages::default(), World::disputed());
    let url = pages.serve().await;
    let (_rig, markets) = rig(&url).await;
    world.rule();
    pages.show(&world, true);
    for text in pages.0.lock().unwrap().1.values_mut() {
        *text = text.replace("links libbar", "links libfoo");
    }
    markets.look().await;
    let row = markets.index.store.contracts(Find::all()).await.unwrap().remove(0);
    let summary: Value = serde_json::from_str(&row.summary).unwrap();
    assert_eq!((&summary["verified"], row.settled), (&false.into(), 0));
    assert!(summary["verify_error"].as_str().unwrap().ends_with('.'), "{summary}");
    assert!(markets.index.store.stream(Find::all()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_market_that_answers_nonsense_changes_nothing() {
    let pages = Pages::default();
    let url = pages.serve().await;
    let (_rig, markets) = rig(&url).await;
    pages.0.lock().unwrap().0 = "{\"contracts\":[{}]}".to_owned();
    markets.look().await;
    assert_eq!(markets.index.status.get().markets, [(url, false, 0)]);
    assert!(markets.index.store.contracts(Find::all()).await.unwrap().is_empty());
}

/// A market of free contracts, all of one moment but the first, with pages of two.
#[derive(Clone, Default)]
struct Shelf {
    views: Arc<Mutex<Vec<ContractView>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Shelf {
    fn add(&self, number: usize, updated: u64) -> Case {
        let server = key(3);
        let terms = Terms::new(server.id(), address(90)).unwrap();
        let contract = Contract::builder(format!("gcc foo{number}.c"), "no bar").build(&terms).unwrap();
        let now = Millis(1_795_000_000_000);
        let (principal, market, payout) = (key(1).id(), Some(terms.market()), Some(address(11)));
        let data = Data::Post { contract: contract.json().clone(), principal, payout, market };
        let entry = Entry::sign(&data, Head::GENESIS, now, &key(1));
        let (case, step) = Case::start(entry, &terms, now, &server).unwrap();
        let entries = step.entries.iter().map(|it| it.entry.clone()).collect();
        let mut view =
            ContractView::new(&case, entries, step.entries.iter().map(|it| it.received_at).collect());
        view.updated_at = Millis(now.0 + updated).into();
        self.views.lock().unwrap().push(view);
        case
    }

    async fn serve(&self) -> String {
        let list = |State(shelf): State<Self>, uri: axum::http::Uri| async move {
            let query = uri.query().unwrap().to_owned();
            let of = |name: &str| query.split('&').find_map(|it| it.strip_prefix(name)?.parse::<u64>().ok());
            let (since, from) = (of("updated_since=").unwrap_or(0), of("cursor=").unwrap_or(0) as usize);
            shelf.asked.lock().unwrap().push(query.clone());
            let views = shelf.views.lock().unwrap();
            let fits: Vec<&ContractView> = views.iter().filter(|it| it.updated_at.0.0 >= since).collect();
            let next = (fits.len() > from + 2).then(|| (from + 2).to_string());
            let bare = |it: &&ContractView| ContractView {
                transcript: vec![],
                received_at: vec![],
                ..(*it).clone()
            };
            let contracts = fits.iter().skip(from).take(2).map(bare).collect();
            serde_json::to_string(&ListAnswer { contracts, next }).unwrap()
        };
        let one = |State(shelf): State<Self>, Path(id): Path<String>| async move {
            let views = shelf.views.lock().unwrap();
            serde_json::to_string(views.iter().find(|it| it.id.to_string() == id).unwrap()).unwrap()
        };
        let router = axum::Router::new().route("/contracts", get(list)).route("/contracts/{id}", get(one));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(axum::serve(listener, router.with_state(self.clone())).into_future());
        url
    }
}

#[tokio::test]
async fn a_list_is_read_to_its_end_and_then_only_what_has_changed() {
    let shelf = Shelf::default();
    let cases: Vec<Case> = (0..5).map(|number| shelf.add(number, 100_000 * number as u64)).collect();
    let url = shelf.serve().await;
    let (_rig, markets) = rig(&url).await;
    markets.look().await;
    assert_eq!(markets.index.status.get().markets, [(url.clone(), true, 5)]);
    let asked = |from: usize| shelf.asked.lock().unwrap()[from..].to_vec();
    assert_eq!(asked(0), ["limit=200", "limit=200&cursor=2", "limit=200&cursor=4"]);
    // The timer of an open contract is the rules' own.
    let rows = markets.index.store.contracts(Find::by("id", cases[0].id().to_string())).await.unwrap();
    let summary: Value = serde_json::from_str(&rows[0].summary).unwrap();
    assert_eq!(summary["deadline"].as_u64(), cases[0].next_deadline().map(|at| at.0), "{summary}");
    shelf.add(5, 400_001);
    markets.look().await;
    assert_eq!(markets.index.status.get().markets, [(url, true, 6)]);
    let since = 1_795_000_000_000_u64 + 400_000 - 60_000;
    assert_eq!(asked(3), [format!("limit=200&updated_since={since}")]);
}

#[tokio::test]
async fn a_contract_that_cannot_be_read_hides_no_other() {
    let shelf = Shelf::default();
    let cases: Vec<Case> = (0..3).map(|number| shelf.add(number, 0)).collect();
    // The market answers another contract for the first one.
    let other = shelf.views.lock().unwrap()[2].clone();
    let id = cases[0].id().to_string();
    let list = {
        let shelf = shelf.clone();
        move || async move {
            let contracts = shelf.views.lock().unwrap().clone();
            serde_json::to_string(&ListAnswer { contracts, next: None }).unwrap()
        }
    };
    let one = {
        let shelf = shelf.clone();
        move |Path(asked): Path<String>| async move {
            let views = shelf.views.lock().unwrap();
            let found = views.iter().find(|it| it.id.to_string() == asked).unwrap();
            serde_json::to_string(if asked == id { &other } else { found }).unwrap()
        }
    };
    let router = axum::Router::new().route("/contracts", get(list)).route("/contracts/{id}", get(one));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, router).into_future());
    let (_rig, markets) = rig(&url).await;
    markets.look().await;
    assert_eq!(markets.index.status.get().markets, [(url, false, 2)], "the other two are here");
}

#[test]
fn the_documents_of_both_servers_are_told_apart() {
    // The indexer's own routes begin with /v1, the market's do not: one proxy can serve both.
    let own = Description::new(http::openapi::text());
    assert!(own.operations().iter().all(|(_, path)| !path.starts_with("/contracts")));
}
