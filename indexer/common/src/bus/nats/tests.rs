#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::bus::conformance::{Pair, all, hears, ids, settings, within};
use crate::bus::{Change, Heard, Seen};
use crate::testing::nats::NatsServer;
use std::collections::BTreeMap;
use std::time::Instant;
use tokio::io::AsyncWriteExt as _;

fn named(server: &NatsServer, name: &str) -> NatsSettings {
    NatsSettings { bus: settings(), ..NatsSettings::new(&server.url(), name) }
}

async fn pair(server: &NatsServer, name: &str) -> Pair {
    let connect = async || Arc::new(Nats::connect(named(server, name)).await.unwrap());
    [connect().await, connect().await]
}

async fn becomes(bus: &Arc<dyn Bus>, wanted: State) {
    let mut state = bus.state();
    within(&format!("{wanted:?}"), state.wait_for(|state| *state == wanted)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bus_of_nats_keeps_what_every_bus_keeps() {
    let server = NatsServer::start();
    all(&pair(&server, "suite").await).await;
    // Another bus of the same server has nothing of it; a third process of the same bus has all that is kept.
    let other: Arc<dyn Bus> = Arc::new(Nats::connect(named(&server, "other")).await.unwrap());
    assert_eq!(ids(&other.replay("replay.a", 99).await.unwrap()), [""; 0]);
    let third = Nats::connect(named(&server, "suite")).await.unwrap();
    assert_eq!(third.replay("replay.a", 99).await.unwrap().len(), 20);
}

/// A process as a relay is one: it delivers at once where the bus is away, and publishes again later.
struct Process {
    bus: Arc<dyn Bus>,
    subscription: Subscription,
    seen: Seen,
    delivered: Vec<String>,
    unsent: Vec<String>,
}

impl Process {
    async fn new(bus: &Arc<dyn Bus>) -> Process {
        Process {
            bus: bus.clone(),
            subscription: bus.subscribe("room", Start::Now).await.unwrap(),
            seen: Seen::new(Duration::from_secs(60), 10_000),
            delivered: Vec::new(),
            unsent: Vec::new(),
        }
    }

    async fn say(&mut self, id: &str) {
        if let Err(error) = self.bus.publish("room.a", id, Bytes::new()).await {
            assert_eq!(error, BusError::Away);
            self.deliver(id);
            self.unsent.push(id.to_owned());
        }
    }

    async fn say_again(&mut self) {
        for id in std::mem::take(&mut self.unsent) {
            self.say(&id).await;
        }
    }

    fn deliver(&mut self, id: &str) {
        if self.seen.insert(id, (), Instant::now()) {
            self.delivered.push(id.to_owned());
        }
    }

    /// Delivers what the bus has, up to this id.
    async fn hear_until(&mut self, last: &str) {
        while !self.delivered.iter().any(|id| id == last) {
            match within(last, self.subscription.next()).await {
                Heard::Item(item) => self.deliver(&item.event.id),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_is_said_and_nothing_is_lost_or_doubled() {
    let mut server = NatsServer::start();
    let [a, b] = pair(&server, "killed").await;
    let mut processes = [Process::new(&a).await, Process::new(&b).await];
    let mut said = 0;
    for round in 0..3 {
        for number in 0..6 {
            for (name, process) in ["a", "b"].into_iter().zip(&mut processes) {
                // Killed in the middle of it.
                if number == 3 && name == "b" {
                    server.kill();
                }
                process.say(&format!("{name}{round}.{number}")).await;
                said += 1;
            }
        }
        for process in &mut processes {
            becomes(&process.bus, State::Degraded).await;
            assert!(!process.unsent.is_empty(), "messages stayed in the process");
            assert_eq!(process.bus.claim("k", "v".into()).await, Err(BusError::Away));
            assert!(process.bus.replay("room.a", 20).await.unwrap().len() >= 6);
        }
        server.restart();
        for process in &mut processes {
            becomes(&process.bus, State::Connected).await;
            process.say_again().await;
        }
        let last = format!("last{round}");
        processes[0].say(&last).await;
        for process in &mut processes {
            process.hear_until(&last).await;
        }
        said += 1;
    }
    for process in &processes {
        let mut counts = BTreeMap::<&str, usize>::new();
        for id in &process.delivered {
            *counts.entry(id).or_default() += 1;
        }
        assert_eq!(counts.len(), said, "{:?}", process.delivered);
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    }
    // Both have kept the same.
    let kept = a.replay("room.a", 99).await.unwrap();
    assert_eq!((kept.len(), &kept), (20, &b.replay("room.a", 99).await.unwrap()));
}

/// A line to a server that can be cut, so that one process is away and the others are not.
struct Line {
    url: String,
    is_whole: watch::Sender<bool>,
    _task: AbortOnDropHandle<()>,
}

impl Line {
    async fn to(server: &NatsServer) -> Line {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("nats://{}", listener.local_addr().unwrap());
        let is_whole = watch::Sender::new(true);
        let (target, changes) = (server.url().replace("nats://", ""), is_whole.subscribe());
        let task = tokio::spawn(async move {
            while let Ok((mut here, _)) = listener.accept().await {
                let (target, mut changes) = (target.clone(), changes.clone());
                tokio::spawn(async move {
                    if !*changes.borrow() {
                        return;
                    }
                    let mut there = tokio::net::TcpStream::connect(target).await.unwrap();
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut here, &mut there) => {}
                        _ = changes.wait_for(|is_whole| !is_whole) => {}
                    }
                });
            }
        });
        Line { url, is_whole, _task: AbortOnDropHandle::new(task) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_published_meanwhile_is_replayed_and_a_gap_is_said_where_it_is_too_much() {
    let server = NatsServer::start();
    let line = Line::to(&server).await;
    let a = Nats::connect(named(&server, "cut")).await.unwrap();
    let b: Arc<dyn Bus> = Arc::new(
        Nats::connect(NatsSettings { servers: vec![line.url.clone()], ..named(&server, "cut") })
            .await
            .unwrap(),
    );
    let mut subscription = b.subscribe("", Start::Now).await.unwrap();
    let mut watch = b.watch("").unwrap();
    a.publish("few", "before", Bytes::new()).await.unwrap();
    assert_eq!(hears(&mut subscription).await.0, "few before");
    let Claim::Taken { revision } = a.claim("gone", "1".into()).await.unwrap() else { panic!() };
    assert!(matches!(a.claim("stays", "2".into()).await.unwrap(), Claim::Taken { .. }));
    for _ in 0..2 {
        let change = within("a change", watch.next()).await;
        assert!(matches!(change, Change::Held(..)), "{change:?}");
    }
    line.is_whole.send_replace(false);
    becomes(&b, State::Degraded).await;
    assert_eq!(b.publish("few", "own", Bytes::new()).await, Err(BusError::Away));
    for number in 0..20 {
        a.publish("much", &format!("much{number}"), Bytes::new()).await.unwrap();
        if number % 2 == 0 {
            a.publish("few", &format!("few{number}"), Bytes::new()).await.unwrap();
        }
    }
    a.publish("much", "much20", Bytes::new()).await.unwrap();
    assert!(a.release("gone", revision).await.unwrap());
    line.is_whole.send_replace(true);
    becomes(&b, State::Connected).await;
    let mut heard = Vec::new();
    while heard.len() < 31 {
        heard.push(match within("what was missed", subscription.next()).await {
            Heard::Item(item) => item.event.id.to_string(),
            Heard::Gap(topic) => format!("gap in {}", topic.unwrap()),
            other => panic!("{other:?}"),
        });
    }
    // Of 21 messages the first is gone, and it is said before the second.
    let mut wanted = vec!["few0".to_owned(), "gap in much".to_owned()];
    for number in 1..20 {
        wanted.push(format!("much{number}"));
        if number % 2 == 0 {
            wanted.push(format!("few{number}"));
        }
    }
    wanted.push("much20".to_owned());
    assert_eq!(heard, wanted);
    // The lease that went meanwhile, and the one that nobody renews.
    let mut gone = Vec::new();
    for _ in 0..2 {
        match within("a change", watch.next()).await {
            Change::Gone(key) => gone.push(key.to_string()),
            other => panic!("{other:?}"),
        }
    }
    gone.sort_unstable();
    assert_eq!(gone, ["gone", "stays"]);
    let own = b.publish("few", "own", Bytes::new()).await.unwrap();
    assert_eq!(hears(&mut subscription).await, ("few own".to_owned(), own.sequence));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_counts_as_away_and_what_it_took_counts_once() {
    let server = NatsServer::start();
    let [a, b] = pair(&server, "frozen").await;
    let mut subscription = b.subscribe("t", Start::Now).await.unwrap();
    a.publish("t", "0", Bytes::new()).await.unwrap();
    assert_eq!(hears(&mut subscription).await, ("t 0".to_owned(), 1));
    server.freeze();
    assert_eq!(within("an answer", a.publish("t", "1", Bytes::new())).await, Err(BusError::Away));
    assert_eq!(*a.state().borrow(), State::Degraded);
    assert_eq!(within("an answer", b.claim("k", "v".into())).await, Err(BusError::Away));
    assert_eq!(*b.state().borrow(), State::Degraded);
    server.thaw();
    becomes(&a, State::Connected).await;
    becomes(&b, State::Connected).await;
    // It was taken after all, or is now: once.
    let again = a.publish("t", "1", Bytes::new()).await.unwrap();
    assert_eq!(hears(&mut subscription).await, ("t 1".to_owned(), again.sequence));
    assert_eq!(ids(&b.replay("t", 99).await.unwrap()), ["0", "1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_lost_its_data_begins_anew_and_a_gap_is_said() {
    let mut server = NatsServer::start();
    let [a, b] = pair(&server, "lost").await;
    for id in ["1", "2", "3"] {
        a.publish("t", id, Bytes::new()).await.unwrap();
    }
    let mut subscription = b.subscribe("t", Start::After(0)).await.unwrap();
    for id in ["t 1", "t 2", "t 3"] {
        assert_eq!(hears(&mut subscription).await.0, id);
    }
    server.forget();
    becomes(&a, State::Degraded).await;
    becomes(&b, State::Degraded).await;
    server.restart();
    becomes(&a, State::Connected).await;
    becomes(&b, State::Connected).await;
    assert_eq!(within("a gap", subscription.next()).await, Heard::Gap(None));
    let said = a.publish("t", "4", Bytes::new()).await.unwrap();
    assert_eq!((said.sequence, hears(&mut subscription).await), (1, ("t 4".to_owned(), 1)));
    let claim = b.claim("k", "v".into()).await.unwrap();
    assert!(matches!(claim, Claim::Taken { .. }), "{claim:?}");
}

#[tokio::test]
async fn a_server_that_is_too_old_or_not_there_is_refused_with_its_number() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let old = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let info = r#"{"server_id":"X","version":"2.9.10","proto":1,"max_payload":1048576,"headers":true,"jetstream":true,"host":"127.0.0.1","port":1,"go":"x","client_id":1}"#;
        stream.write_all(format!("INFO {info}\r\nPONG\r\n").as_bytes()).await.unwrap();
        // Whatever comes: it is connected, and nothing more.
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    });
    let url = format!("nats://127.0.0.1:{port}");
    let refusal = Nats::connect(NatsSettings::new(&url, "old")).await.unwrap_err();
    assert_eq!(refusal, BusError::OldServer { version: "2.9.10".to_owned() });
    assert_eq!(refusal.to_string(), "The NATS server is of version 2.9.10; expected at least 2.10.");
    old.abort();
    let _ = old.await;
    let refusal = Nats::connect(NatsSettings::new(&url, "old")).await.unwrap_err();
    assert!(matches!(refusal, BusError::Unreachable { .. }), "{refusal:?}");
}
