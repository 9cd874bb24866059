//! Contracts that come by the mesh: where to look, and nothing else.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use zx1_agent::worker::{Announced, Config, Folder, Hooks, WorkError, Worker};
use zx1_market::wire::advert::{Offer, Reference};
use zx1_market::{ContractId, Raw, State};

use crate::support::*;
use crate::worker::quick;

#[derive(Default)]
struct Told {
    announced: Mutex<Vec<ContractId>>,
    strange: Mutex<Vec<String>>,
    ended: Mutex<Vec<(ContractId, State)>>,
}

impl Hooks for Told {
    fn on_announced(&self, announced: &Announced) {
        self.announced.lock().unwrap().push(announced.offer.contract.contract);
    }

    fn on_strange_market(&self, announced: &Announced) {
        self.strange.lock().unwrap().push(announced.offer.contract.market.clone());
    }

    fn on_ended(&self, contract: ContractId, state: State) {
        self.ended.lock().unwrap().push((contract, state));
    }
}

struct Agent {
    told: Arc<Told>,
    sender: mpsc::Sender<Announced>,
    task: JoinHandle<Result<(), WorkError>>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Agent {
    async fn hears(&self, market: &str, contract: ContractId, price: Raw) {
        let contract = Reference { market: market.to_owned(), contract };
        self.sender.send(Announced { by: "m".to_owned(), offer: Offer { contract, price } }).await.unwrap();
    }
}

/// An agent that reads the market's list so rarely that whatever it takes it has heard of, after its first look.
async fn agent(world: &World, config: Config) -> Agent {
    let (purse, _) = world.purse("agent", "3").await;
    let folder = Folder::open(world.folder.path().join("agent-2")).unwrap();
    let told = Arc::new(Told::default());
    let (sender, receiver) = mpsc::channel(8);
    let worker = Worker::new(world.party(2).await, config, Box::new(folder))
        .with_hooks(told.clone())
        .with_purse(purse)
        .with_announcements(receiver);
    Agent { told, sender, task: tokio::spawn(worker.run(std::future::pending())) }
}

fn by_mesh() -> Config {
    Config { sse: false, discover_ms: 3_600_000, ..quick() }
}

#[tokio::test]
async fn an_announced_contract_is_taken_and_a_second_word_of_it_changes_nothing() {
    let world = World::start().await;
    let agent = agent(&world, by_mesh()).await;
    // Its first look at the list is behind it when it has looked at something else.
    let none: ContractId = "00000000000000ff".parse().unwrap();
    agent.hears(world.url(), none, xno("0.5")).await;
    eventually("it looks", || async { (!agent.told.announced.lock().unwrap().is_empty()).then_some(()) })
        .await;
    let bench = Bench::lacks_lm();
    let id = world.open(&bench.contract(&world.terms().await, "0.5", &[], |_| {})).await;
    agent.hears(world.url(), id, xno("0.5")).await;
    agent.hears(world.url(), id, xno("0.5")).await;
    let end = bench.serve(&world.principal, id, true).await;
    assert_eq!(end.state(), State::Fulfilled);
    eventually("it has ended", || async { (!agent.told.ended.lock().unwrap().is_empty()).then_some(()) })
        .await;
    assert_eq!(*agent.told.ended.lock().unwrap(), [(id, State::Fulfilled)]);
    assert_eq!(*agent.told.announced.lock().unwrap(), [none, id]);
}

#[tokio::test]
async fn a_contract_of_another_market_is_said_once_and_its_address_is_not_asked() {
    let world = World::start().await;
    let agent = agent(&world, by_mesh()).await;
    let trap = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let strange = format!("http://{}", trap.local_addr().unwrap());
    let id: ContractId = "00000000000000aa".parse().unwrap();
    for _ in 0..3 {
        agent.hears(&strange, id, xno("0.5")).await;
    }
    // By then all three were judged.
    agent.hears(world.url(), id, xno("0.5")).await;
    eventually("it looks", || async { (!agent.told.announced.lock().unwrap().is_empty()).then_some(()) })
        .await;
    assert_eq!(*agent.told.strange.lock().unwrap(), [strange]);
    let nobody = tokio::time::timeout(std::time::Duration::from_millis(200), trap.accept()).await;
    assert!(nobody.is_err(), "it was asked");
}

#[tokio::test]
async fn a_lost_announcement_loses_nothing_and_what_it_says_of_the_price_neither() {
    let world = World::start().await;
    let agent = agent(&world, Config { sse: false, ..quick() }).await;
    let bench = Bench::lacks_lm();
    let contract = bench.contract(&world.terms().await, "0.5", &[], |_| {});
    let id = world.open(&contract).await;
    // A lie about it, after or before the list has shown it.
    agent.hears(world.url(), id, xno("1.9")).await;
    let end = bench.serve(&world.principal, id, true).await;
    assert_eq!((end.state(), end.case().contract().bounty), (State::Fulfilled, xno("0.5")));
}

/// Requests that the market has answered so far.
fn requests(world: &World) -> u64 {
    let text = world.server().engine().metrics().text();
    let counts = text.lines().filter(|line| line.starts_with("fix_market_requests_total"));
    counts.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[tokio::test]
async fn false_announcements_cost_a_bounded_number_of_requests() {
    let world = World::start().await;
    let agent = agent(&world, by_mesh()).await;
    let bench = Bench::lacks_lm();
    let ended = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    world.clock.advance(zx1_market::Millis::secs(31));
    world.until(ended, State::Canceled).await;
    let last: ContractId = "00000000000000ff".parse().unwrap();
    agent.hears(world.url(), last, xno("0.5")).await;
    eventually("it looks", || async { (!agent.told.announced.lock().unwrap().is_empty()).then_some(()) })
        .await;
    let before = requests(&world);
    for n in 0..100u64 {
        // The same ended contract, ever new ones that do not exist, and what no agent of this one would take.
        agent.hears(world.url(), ended, Raw::ZERO).await;
        agent.hears(world.url(), format!("{:016x}", n + 1_000).parse().unwrap(), xno("0.5")).await;
        agent.hears(world.url(), format!("{:016x}", n + 9_000).parse().unwrap(), xno("99")).await;
    }
    agent.sender.reserve_many(8).await.unwrap();
    // Twenty at once, and one a second: what a slow machine takes for it is not known.
    let looks = agent.told.announced.lock().unwrap().clone();
    assert!((2..=60).contains(&looks.len()), "{}", looks.len());
    assert_eq!(looks.iter().filter(|id| **id == ended).count(), 1);
    let dear = (9_000..9_100u64).map(|n| format!("{n:016x}").parse::<ContractId>().unwrap());
    assert!(dear.into_iter().all(|id| !looks.contains(&id)), "{looks:?}");
    assert!(requests(&world) - before <= 200, "a look is a request or two");
}
