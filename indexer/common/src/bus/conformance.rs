//! What holds of every bus. A pair is two processes' handles of one bus.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::leases::{Change, Watch};
use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

pub(super) type Pair = [Arc<dyn Bus>; 2];

/// What the pairs of a suite are made with.
pub(super) fn settings() -> Settings {
    let bounds = Bounds { queue: 700, ..Bounds::default() };
    Settings { bounds, window: Duration::from_secs(60), lease: Duration::from_secs(1) }
}

pub(super) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(20);
    tokio::time::timeout(limit, future).await.unwrap_or_else(|_| panic!("{what}: nothing in {limit:?}"))
}

/// The next message, as `topic id`.
pub(super) async fn hears(subscription: &mut Subscription) -> (String, u64) {
    match within("a message", subscription.next()).await {
        Heard::Item(item) => (format!("{} {}", item.topic, item.event.id), item.sequence),
        other => panic!("{other:?}"),
    }
}

async fn sees(watch: &mut Watch) -> String {
    match within("a change", watch.next()).await {
        Change::Held(key, held) => format!("{key} {}", String::from_utf8_lossy(&held.value)),
        Change::Gone(key) => format!("{key} gone"),
        Change::Lagged(missed) => format!("lagged {missed}"),
    }
}

pub(super) fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| &*message.event.id).collect()
}

/// All of it. Topics and keys are under `root`, so that several run on one server.
pub(super) async fn all(pair: &Pair) {
    topics_are_in_one_order_for_everybody(pair).await;
    an_id_counts_once_for_everybody(pair).await;
    the_last_twenty_of_a_topic_are_replayed(pair).await;
    whoever_resumes_gets_what_is_kept_or_hears_of_a_gap(pair).await;
    who_is_too_slow_hears_it(pair).await;
    of_a_thousand_takeovers_each_has_one_winner(pair).await;
    a_lease_ends_unless_it_is_renewed(pair).await;
    names_are_watched(pair).await;
    what_is_invalid_fails(pair).await;
}

async fn topics_are_in_one_order_for_everybody(pair: &Pair) {
    const EACH: usize = 100;
    let topics = ["order.a", "order.#b c", "order"];
    let mut heard = Vec::new();
    let mut subscriptions = Vec::new();
    for bus in pair {
        subscriptions.push(bus.subscribe("order", Start::Now).await.unwrap());
    }
    let mut publishers = tokio::task::JoinSet::new();
    for (name, bus) in ["x", "y"].into_iter().zip(pair) {
        for topic in topics {
            let bus = bus.clone();
            publishers.spawn(async move {
                for number in 0..EACH {
                    let id = format!("{topic}/{name}/{number}").replace(' ', "_");
                    let said = bus.publish(topic, &id, id.clone().into()).await.unwrap();
                    assert!(!said.duplicate);
                }
            });
        }
    }
    for subscription in &mut subscriptions {
        let mut by_topic = BTreeMap::<String, Vec<(u64, String)>>::new();
        for _ in 0..2 * EACH * topics.len() {
            let Heard::Item(item) = within("a message", subscription.next()).await else { panic!() };
            assert_eq!(item.event.bytes, item.event.id.as_bytes());
            by_topic
                .entry(item.topic.to_string())
                .or_default()
                .push((item.sequence, item.event.id.to_string()));
        }
        heard.push(by_topic);
    }
    while let Some(done) = publishers.join_next().await {
        done.unwrap();
    }
    assert_eq!(heard[0], heard[1]);
    for topic in topics {
        let said = &heard[0][topic];
        assert!(said.is_sorted_by_key(|(sequence, _)| *sequence), "{topic}");
        for name in ["x", "y"] {
            let by_one = said.iter().filter(|(_, id)| id.contains(&format!("/{name}/")));
            let numbers: Vec<usize> =
                by_one.map(|(_, id)| id.rsplit('/').next().unwrap().parse().unwrap()).collect();
            assert_eq!(numbers, (0..EACH).collect::<Vec<_>>(), "{topic} by {name}");
        }
    }
}

async fn an_id_counts_once_for_everybody(pair: &Pair) {
    let mut subscription = pair[1].subscribe("once", Start::Now).await.unwrap();
    let first = pair[0].publish("once.a", "once-1", "1".into()).await.unwrap();
    let again = pair[1].publish("once.a", "once-1", "other".into()).await.unwrap();
    let elsewhere = pair[0].publish("once.b", "once-1", "1".into()).await.unwrap();
    let repeated = Published { sequence: first.sequence, duplicate: true };
    assert_eq!((first.duplicate, again, elsewhere), (false, repeated, repeated));
    pair[0].publish("once.b", "once-2", "2".into()).await.unwrap();
    assert_eq!(hears(&mut subscription).await, ("once.a once-1".to_owned(), first.sequence));
    assert_eq!(hears(&mut subscription).await.0, "once.b once-2");
}

async fn the_last_twenty_of_a_topic_are_replayed(pair: &Pair) {
    for number in 0..25 {
        pair[number % 2].publish("replay.a", &format!("r{number}"), Bytes::new()).await.unwrap();
    }
    let last = pair[1].publish("replay.b", "rb", Bytes::new()).await.unwrap();
    let kept: Vec<String> = (5..25).map(|number| format!("r{number}")).collect();
    for bus in pair {
        // The other's message is here as well.
        within("the last message", async {
            let mut all = bus.subscribe("replay", Start::After(last.sequence - 1)).await.unwrap();
            assert_eq!(hears(&mut all).await.0, "replay.b rb");
        })
        .await;
        let twenty = bus.replay("replay.a", 99).await.unwrap();
        assert_eq!(ids(&twenty), kept);
        assert_eq!(ids(&bus.replay("replay.a", 2).await.unwrap()), ["r23", "r24"]);
        assert_eq!(ids(&bus.replay("replay.b", 99).await.unwrap()), ["rb"]);
        assert_eq!(ids(&bus.replay("replay", 99).await.unwrap()), [""; 0]);
    }
    // What a process has published is in its own replay.
    for number in 0..20 {
        let id = format!("own{number}");
        pair[0].publish("replay.own", &id, Bytes::new()).await.unwrap();
        assert_eq!(ids(&pair[0].replay("replay.own", 1).await.unwrap()), [id]);
    }
}

async fn whoever_resumes_gets_what_is_kept_or_hears_of_a_gap(pair: &Pair) {
    let mut sequences = Vec::new();
    for number in 0..25 {
        let said = pair[0].publish("resume.a", &format!("s{number}"), Bytes::new()).await.unwrap();
        sequences.push(said.sequence);
    }
    for bus in pair {
        // The other's last message is here.
        let mut end = bus.subscribe("resume", Start::After(sequences[23])).await.unwrap();
        assert_eq!(hears(&mut end).await.1, sequences[24]);
        let past = bus.after("resume.a", sequences[21]).await.unwrap();
        let mut subscription = bus.subscribe("resume", Start::After(sequences[21])).await.unwrap();
        assert_eq!(hears(&mut subscription).await, ("resume.a s22".to_owned(), sequences[22]));
        assert_eq!((ids(&past.items), past.is_whole), (vec!["s22", "s23", "s24"], true));
        let past = bus.after("resume.a", sequences[2]).await.unwrap();
        assert_eq!((past.items.len(), past.is_whole), (20, false));
        let mut subscription = bus.subscribe("resume", Start::After(sequences[2])).await.unwrap();
        let first = within("a gap", subscription.next()).await;
        assert!(matches!(first, Heard::Gap(_)), "{first:?}");
        assert_eq!(hears(&mut subscription).await.0, "resume.a s5");
    }
}

async fn who_is_too_slow_hears_it(pair: &Pair) {
    let mut slow = pair[1].subscribe("slow", Start::Now).await.unwrap();
    let queue = settings().bounds.queue;
    let mut last = 0;
    for number in 0..queue + 10 {
        last = pair[0].publish("slow.a", &format!("slow{number}"), Bytes::new()).await.unwrap().sequence;
    }
    let mut end = pair[1].subscribe("slow", Start::After(last - 1)).await.unwrap();
    assert_eq!(hears(&mut end).await.1, last);
    assert_eq!(within("a lag", slow.next()).await, Heard::Lagged(10));
    assert_eq!(hears(&mut slow).await.0, "slow.a slow10");
}

async fn of_a_thousand_takeovers_each_has_one_winner(pair: &Pair) {
    const ALL: usize = 1_000;
    let won = Arc::new(std::sync::Mutex::new(Vec::<(u64, u64, String)>::new()));
    let Claim::Taken { revision } = pair[0].claim("sessions.one", "0".into()).await.unwrap() else {
        panic!()
    };
    let mut claimants = tokio::task::JoinSet::new();
    for claimant in 0..4 {
        let (bus, won) = (pair[claimant % 2].clone(), won.clone());
        claimants.spawn(async move {
            let mut from = revision;
            for number in 0.. {
                if won.lock().unwrap().len() >= ALL {
                    return;
                }
                let value = format!("{claimant}/{number}");
                match bus.take_over("sessions.one", value.clone().into(), from).await.unwrap() {
                    Claim::Taken { revision } => {
                        won.lock().unwrap().push((from, revision, value));
                        from = revision;
                    }
                    Claim::Held(held) => {
                        assert!(held.revision > from, "{} after {from}", held.revision);
                        from = held.revision;
                    }
                }
            }
        });
    }
    while let Some(done) = within("all takeovers", claimants.join_next()).await {
        done.unwrap();
    }
    let mut won = std::mem::take(&mut *won.lock().unwrap());
    won.sort_unstable();
    assert!(won.len() >= ALL);
    // A chain: each has replaced the one before it, and nothing else.
    let mut last = revision;
    for (from, to, value) in &won {
        assert_eq!(*from, last, "{value}");
        last = *to;
    }
    let values: BTreeSet<&str> = won.iter().map(|(_, _, value)| value.as_str()).collect();
    assert_eq!(values.len(), won.len());
    let winner = Held { value: won.last().unwrap().2.clone().into(), revision: last };
    // A lease may have run out since.
    let holder = pair[1].holder("sessions.one").await.unwrap();
    assert!(holder.is_none() || holder.as_ref() == Some(&winner), "{holder:?}");
}

async fn a_lease_ends_unless_it_is_renewed(pair: &Pair) {
    let [a, b] = pair;
    let taken = a.claim("lease.x", "a".into()).await.unwrap();
    let Claim::Taken { mut revision } = taken else { panic!("{taken:?}") };
    let first = revision;
    let held = Held { value: "a".into(), revision };
    assert_eq!(b.claim("lease.x", "b".into()).await.unwrap(), Claim::Held(held));
    let again = a.claim("lease.x", "a".into()).await.unwrap();
    assert!(matches!(again, Claim::Taken { revision: later } if later > revision), "{again:?}");
    // Two leases long it is renewed, at first with a revision whose successor was not heard of.
    let (begin, mut every) = (Instant::now(), tokio::time::interval(Duration::from_millis(300)));
    while begin.elapsed() < 2 * settings().lease {
        every.tick().await;
        revision = a.renew("lease.x", "a".into(), revision).await.unwrap().unwrap();
        assert_eq!(b.renew("lease.x", "b".into(), first).await.unwrap(), None);
    }
    let mut watch = b.watch("lease").unwrap();
    assert_eq!(sees(&mut watch).await, "lease.x a");
    assert_eq!(sees(&mut watch).await, "lease.x gone");
    assert_eq!(b.holder("lease.x").await.unwrap(), None);
    assert_eq!(a.renew("lease.x", "a".into(), revision).await.unwrap(), None);
    assert!(!a.release("lease.x", revision).await.unwrap());
    let Claim::Taken { revision: theirs } = b.claim("lease.x", "b".into()).await.unwrap() else { panic!() };
    assert!(!a.release("lease.x", revision).await.unwrap());
    assert!(b.release("lease.x", theirs).await.unwrap());
    assert!(matches!(a.claim("lease.x", "a2".into()).await.unwrap(), Claim::Taken { .. }));
}

async fn names_are_watched(pair: &Pair) {
    let [a, b] = pair;
    a.claim("watch.x", "1".into()).await.unwrap();
    let mut watch = b.watch("watch").unwrap();
    assert_eq!(sees(&mut watch).await, "watch.x 1");
    a.claim("watched", "1".into()).await.unwrap();
    let Claim::Taken { revision } = a.claim("watch.#y", "2".into()).await.unwrap() else { panic!() };
    assert_eq!(sees(&mut watch).await, "watch.#y 2");
    let renewed = a.renew("watch.#y", "2".into(), revision).await.unwrap().unwrap();
    let taken = b.take_over("watch.#y", "3".into(), renewed).await.unwrap();
    let Claim::Taken { revision } = taken else { panic!("{taken:?}") };
    assert_eq!(sees(&mut watch).await, "watch.#y 3");
    assert!(b.release("watch.#y", revision).await.unwrap());
    // The lease of the other may end before.
    let mut gone = BTreeSet::from([sees(&mut watch).await]);
    if !gone.contains("watch.#y gone") {
        gone.insert(sees(&mut watch).await);
    }
    assert!(gone.contains("watch.#y gone"), "{gone:?}");
}

async fn what_is_invalid_fails(pair: &Pair) {
    for (id, bus) in ["size0", "size1"].into_iter().zip(pair) {
        let large = Bytes::from(vec![0; MAX_BYTES + 1]);
        let too_large = BusError::TooLarge { bytes: MAX_BYTES + 1, most: MAX_BYTES };
        assert_eq!(bus.publish("", "i", Bytes::new()).await, Err(BusError::Name));
        assert_eq!(bus.publish("a", "i i", Bytes::new()).await, Err(BusError::MessageId));
        assert_eq!(bus.publish("a", "i", large.clone()).await, Err(too_large.clone()));
        assert_eq!(bus.claim("a", large.clone()).await, Err(too_large));
        assert!(!bus.publish("size", id, large.slice(1..)).await.unwrap().duplicate);
        assert_eq!(bus.claim("a..b", Bytes::new()).await, Err(BusError::Name));
        assert_eq!(bus.renew("", Bytes::new(), 1).await, Err(BusError::Name));
        assert_eq!(bus.release(".", 1).await, Err(BusError::Name));
        assert_eq!(bus.holder(".").await, Err(BusError::Name));
        assert_eq!(bus.replay("a.", 1).await, Err(BusError::Name));
        assert_eq!(bus.after("a.", 1).await, Err(BusError::Name));
        assert_eq!(bus.subscribe("a.", Start::Now).await.err(), Some(BusError::Name));
        assert_eq!(bus.watch("a.").err(), Some(BusError::Name));
        assert_eq!(*bus.state().borrow(), State::Connected);
    }
}

#[tokio::test]
async fn the_local_bus_keeps_what_every_bus_keeps() {
    let local = Local::new(settings());
    all(&[Arc::new(local.clone()), Arc::new(local)]).await;
}
