//! Watching: the websocket at once, polling underneath, everything told once.

use std::time::Duration;

use nano_devnet::{Confirm, Devnet, Effect, FaultRule, On};
use nano_escrow::node::rpc::ReceivableBlock;
use nano_escrow::node::{Event, NodeCalls, WatchOptions, Watcher};
use nano_escrow::{Raw, Subtype};
use tokio::sync::mpsc::Receiver;

use crate::support::{
    PATIENCE, Place, confirmed, embedded, finish, fresh_key, fund, genesis, head_of, outside,
};

/// So rare that what happens in a test can only come from the websocket.
const NEVER: Duration = Duration::from_secs(3600);
const OFTEN: Duration = Duration::from_millis(10);

fn start(place: &Place, poll_every: Duration, websocket: bool) -> (Watcher, Receiver<Event>) {
    let options = WatchOptions {
        websocket: place.websocket.clone().filter(|_| websocket),
        poll_every,
        first_wait: Duration::from_millis(5),
        longest_wait: Duration::from_millis(20),
        ..WatchOptions::default()
    };
    Watcher::start(place.node.clone(), options).unwrap()
}

async fn next(events: &mut Receiver<Event>) -> Event {
    tokio::time::timeout(PATIENCE, events.recv()).await.expect("no event came").unwrap()
}

async fn live(watcher: &Watcher, wanted: bool) {
    let mut live = watcher.live();
    tokio::time::timeout(PATIENCE, live.wait_for(|l| *l == wanted)).await.unwrap().unwrap();
}

/// Checks that no other event comes. Everything is asked once more: a block that is watched last is reported
/// first.
async fn nothing_but(watcher: &Watcher, events: &mut Receiver<Event>, place: &Place) {
    let marker = fund(&*place.node, fresh_key().address(), Raw(1)).await;
    confirmed(&*place.node, marker.hash()).await;
    watcher.watch_block(marker.hash());
    match next(events).await {
        Event::Confirmed(block) => assert_eq!(block.hash, marker.hash()),
        other => panic!("told too much: {other:?}"),
    }
}

#[tokio::test]
async fn a_deposit_and_a_payout_are_told_once_by_websocket_and_by_polling_ok() {
    for (poll, websocket) in [(NEVER, true), (OFTEN, false), (OFTEN, true)] {
        told_once(&embedded(Devnet::builder()).await, poll, websocket).await;
    }
    if let Some(place) = outside() {
        told_once(&place, Duration::from_millis(500), true).await;
    }
}

async fn told_once(place: &Place, poll: Duration, websocket: bool) {
    let node = &*place.node;
    let (watcher, mut events) = start(place, poll, websocket);
    let alice = fresh_key();
    watcher.watch_account(alice.address());
    if websocket && place.websocket.is_some() {
        live(&watcher, true).await;
    }
    let send = fund(node, alice.address(), Raw(70)).await;
    let expected =
        ReceivableBlock { hash: send.hash(), amount: Some(Raw(70)), source: Some(genesis().address()) };
    let account = alice.address();
    assert_eq!(next(&mut events).await, Event::Seen { account, send: expected });
    assert_eq!(next(&mut events).await, Event::Receivable { account, send: expected });

    let open = finish(head_of(node, &alice).await.open(send.hash(), Raw(70)).unwrap(), &alice);
    watcher.watch_block(open.hash());
    node.process(open, Some(Subtype::Open)).await.unwrap();
    match next(&mut events).await {
        Event::Confirmed(block) => assert_eq!((block.hash, block.contents), (open.hash(), Some(open))),
        other => panic!("{other:?}"),
    }
    nothing_but(&watcher, &mut events, place).await;
}

#[tokio::test]
async fn a_send_is_seen_before_it_is_confirmed_ok() {
    let place = embedded(Devnet::builder().confirm(Confirm::OnDemand)).await;
    let devnet = place.devnet.as_ref().unwrap();
    let (watcher, mut events) = start(&place, OFTEN, true);
    let alice = fresh_key().address();
    watcher.watch_account(alice);
    let send = devnet.faucet(alice, Raw(5)).await.unwrap();
    assert!(matches!(next(&mut events).await, Event::Seen { send: s, .. } if s.hash == send));
    watcher.poll_now();
    assert!(events.try_recv().is_err(), "not confirmed, not told");
    devnet.confirm(send).await.unwrap();
    assert!(matches!(next(&mut events).await, Event::Receivable { send: s, .. } if s.hash == send));
}

#[tokio::test]
async fn a_confirmation_that_the_websocket_hides_is_found_by_polling_ok() {
    let place = embedded(Devnet::builder()).await;
    let devnet = place.devnet.as_ref().unwrap();
    let (watcher, mut events) = start(&place, OFTEN, true);
    live(&watcher, true).await;
    let alice = fresh_key().address();
    watcher.watch_account(alice);
    let rule = devnet.faults().add(FaultRule::new(On::default(), Effect::HideConfirmation));
    let send = devnet.faucet(alice, Raw(5)).await.unwrap();
    assert!(matches!(next(&mut events).await, Event::Seen { send: s, .. } if s.hash == send));
    assert!(matches!(next(&mut events).await, Event::Receivable { send: s, .. } if s.hash == send));
    assert!(devnet.faults().struck(rule) > 0);
}

#[tokio::test]
async fn a_confirmation_that_is_repeated_is_told_once_ok() {
    let place = embedded(Devnet::builder()).await;
    let devnet = place.devnet.as_ref().unwrap();
    let (watcher, mut events) = start(&place, NEVER, true);
    let alice = fresh_key().address();
    watcher.watch_account(alice);
    live(&watcher, true).await;
    devnet.faults().add(FaultRule::new(On::default(), Effect::RepeatConfirmation));
    let send = devnet.faucet(alice, Raw(5)).await.unwrap();
    assert!(matches!(next(&mut events).await, Event::Seen { send: s, .. } if s.hash == send));
    assert!(matches!(next(&mut events).await, Event::Receivable { .. }));
    nothing_but(&watcher, &mut events, &place).await;
}

#[tokio::test]
async fn a_node_that_comes_back_tells_what_was_missed_ok() {
    let folder = tempfile::tempdir().unwrap();
    let mut place = embedded(Devnet::builder().folder(folder.path())).await;
    let (watcher, mut events) = start(&place, NEVER, true);
    let alice = fresh_key().address();
    watcher.watch_account(alice);
    live(&watcher, true).await;
    let devnet = place.devnet.take().unwrap();
    let (rpc, ws) = devnet.addresses();
    devnet.stop().await.unwrap();
    live(&watcher, false).await;
    // Confirmed while nobody listens: another ledger at another door, the same blocks.
    let elsewhere = Devnet::builder().folder(folder.path()).start().await.unwrap();
    let send = elsewhere.faucet(alice, Raw(5)).await.unwrap();
    elsewhere.stop().await.unwrap();
    let _back = Devnet::builder().folder(folder.path()).rpc(rpc).ws(ws).start().await.unwrap();
    assert!(matches!(next(&mut events).await, Event::Seen { send: s, .. } if s.hash == send));
    assert!(matches!(next(&mut events).await, Event::Receivable { send: s, .. } if s.hash == send));
    live(&watcher, true).await;
}

#[tokio::test]
async fn what_is_not_watched_any_more_and_dust_is_not_told_ok() {
    let place = embedded(Devnet::builder()).await;
    let devnet = place.devnet.as_ref().unwrap();
    let options = WatchOptions { poll_every: OFTEN, threshold: Raw(100), ..WatchOptions::default() };
    let (watcher, mut events) = Watcher::start(place.node.clone(), options).unwrap();
    let (alice, bob) = (fresh_key().address(), fresh_key().address());
    watcher.watch_account(alice);
    watcher.watch_account(bob);
    watcher.forget_account(bob);
    devnet.faucet(bob, Raw(500)).await.unwrap();
    devnet.faucet(alice, Raw(99)).await.unwrap();
    let enough = devnet.faucet(alice, Raw(100)).await.unwrap();
    assert!(matches!(next(&mut events).await, Event::Seen { send, .. } if send.hash == enough));
    assert!(matches!(next(&mut events).await, Event::Receivable { send, .. } if send.hash == enough));
}

#[tokio::test]
async fn a_websocket_url_that_cannot_be_used_fails() {
    let place = embedded(Devnet::builder()).await;
    for url in ["wss://127.0.0.1", "http://127.0.0.1", "nothing"] {
        let options = WatchOptions { websocket: Some(url.into()), ..WatchOptions::default() };
        assert_eq!(Watcher::start(place.node.clone(), options).unwrap_err().code(), 8206);
    }
}
