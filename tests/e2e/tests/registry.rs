//! Nodes and the registry: first peers from registration files, the agent's own file, and agents that leave and come
//! back. Real nodes, real cluster, files served on loopback.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zx1_e2e::{Hosting, Jump, Localnet, Owner, Served, text, wait_for_mesh, wait_until};

const DAY: i64 = 86_400;

/// An agent whose wallet is its key of every scope, and that says where its file is.
fn agent(net: &Localnet, index: usize, name: &str, hosting: &Hosting) -> Owner {
    let file = net.wallet_file(index);
    Owner::hosted(net, index, name, &[(&file, "pay,batch,deal,peer")], &hosting.url(name))
}

/// A port that was free a moment ago, as an address.
fn place() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("/ip4/127.0.0.1/tcp/{port}")
}

/// Starts a node that others reach at this place for sure.
fn start_at(owner: &mut Owner, place: &str) {
    owner.address = format!("{place}/p2p/x");
    owner.start(&["--external", place]);
}

/// Waits until the node says this of the hosted copy; its registration.
fn wait_for_hosted(owner: &Owner, word: &str) -> Value {
    let mut last = Value::Null;
    wait_until(&format!("the hosted copy {word}; it is {last}"), || {
        last = owner.status()["registration"].clone();
        (last["hosted"] == word).then(|| last.clone())
    })
}

/// Hosts the file that the node keeps, as its owner would.
fn host(owner: &Owner, hosting: &Hosting, name: &str) {
    let kept = owner.status()["registration"].clone();
    hosting.put(name, Served::File(std::fs::read(text(&kept["file"])).unwrap()));
}

/// A page of the local API, by the socket.
fn page(owner: &Owner, path: &str) -> String {
    let socket = owner.zx1.home().join("agents").join(&owner.mint).join("node.sock");
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    said
}

/// A value of a metric without labels.
fn metric(owner: &Owner, name: &str) -> u64 {
    let page = page(owner, "/metrics");
    let line = page.lines().find(|line| line.split(' ').next() == Some(name));
    line.unwrap_or_else(|| panic!("no {name}: {page}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn two_nodes_without_any_bootstrap_find_each_other_by_the_registry() {
    let (net, hosting) = (Localnet::builder().start(), Hosting::start());
    let (mut alice, mut bob) = (agent(&net, 0, "alice", &hosting), agent(&net, 1, "bob", &hosting));
    let first = place();
    start_at(&mut alice, &first);
    // Nobody serves the file yet: the node says so, and where it wrote its address.
    let kept = wait_for_hosted(&alice, "unread");
    assert_eq!(kept["addresses"], json!([alice.address]));
    assert_eq!(kept["uri"], hosting.url("alice"));
    assert!(text(&kept["file"]).ends_with("registrations/alice.json"), "{kept}");
    assert_eq!(metric(&alice, "zx1_node_registration_outdated"), 1);
    let shown = alice.zx1.run(["node", "status"]).ok();
    let shown = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("cannot be fetched: the server answers with HTTP status 404"), "{shown}");

    // Its owner hosts it; what it was before stays in it.
    host(&alice, &hosting, "alice");
    wait_for_hosted(&alice, "agrees");
    assert_eq!(metric(&alice, "zx1_node_registration_outdated"), 0);
    let file: Value = serde_json::from_slice(&std::fs::read(text(&kept["file"])).unwrap()).unwrap();
    assert_eq!((text(&file["name"]), text(&file["services"][0]["name"])), ("alice", "zerox1-mesh"));

    // Bob knows nobody.
    bob.start(&[]);
    wait_for_mesh(&bob);
    assert!(metric(&bob, "zx1_node_registry_searches_total") > 0);
    let proposed = bob.send(&["negotiate", "propose", &alice.mint, "--value", "1"]);
    bob.wait_for(proposed, "acknowledged");
    assert_eq!(alice.inbox().len(), 1);

    // Alice moves: the file is written anew, and the node says so until the hosted copy follows.
    alice.stop();
    let second = place();
    start_at(&mut alice, &second);
    let kept = wait_for_hosted(&alice, "differs");
    assert_eq!(kept["addresses"], json!([alice.address]));
    assert!(alice.address.starts_with(&second), "{kept}");
    host(&alice, &hosting, "alice");
    wait_for_hosted(&alice, "agrees");
    // A restart at the same place does not touch the file.
    let written = std::fs::metadata(text(&kept["file"])).unwrap().modified().unwrap();
    alice.stop();
    start_at(&mut alice, &second);
    wait_for_hosted(&alice, "agrees");
    assert_eq!(std::fs::metadata(text(&kept["file"])).unwrap().modified().unwrap(), written);
}

#[test]
fn files_that_hang_lie_or_never_end_keep_nobody_from_an_honest_one() {
    let (net, hosting) = (Localnet::builder().wallets(5).start(), Hosting::start());
    let mut honest = agent(&net, 0, "honest", &hosting);
    let liar = agent(&net, 1, "liar", &hosting);
    let others =
        ["endless", "hanging"].map(|name| agent(&net, if name == "endless" { 2 } else { 3 }, name, &hosting));
    let mut seeker = agent(&net, 4, "seeker", &hosting);
    let here = place();
    start_at(&mut honest, &here);
    wait_for_hosted(&honest, "unread");
    // The liar sends whoever believes it to a trap, under the honest peer's id and under one of nobody.
    let (trap, caught) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(AtomicUsize::new(0)));
    let port = trap.local_addr().unwrap().port();
    let counter = Arc::clone(&caught);
    std::thread::spawn(move || {
        for _ in trap.incoming() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (_, peer) = honest.address.split_once("/p2p/").unwrap();
    let nobody = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN";
    let lies: Vec<Value> = [peer, nobody]
        .iter()
        .map(|peer| json!({ "name": "zerox1-mesh", "endpoint": format!("/ip4/127.0.0.1/tcp/{port}/p2p/{peer}") }))
        .collect();
    hosting.put("liar", Served::File(json!({ "services": lies }).to_string().into_bytes()));
    hosting.put("endless", Served::Long(16 << 20));
    hosting.put("hanging", Served::Hangs);
    host(&honest, &hosting, "honest");
    let before = ["liar", "endless", "hanging"].map(|name| hosting.asked(name));

    let began = Instant::now();
    seeker.start(&[]);
    wait_for_mesh(&seeker);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    for (name, before) in ["liar", "endless", "hanging"].into_iter().zip(before) {
        assert!(hosting.asked(name) > before, "{name} was looked at");
    }
    assert_eq!(caught.load(Ordering::Relaxed), 0, "an address counts under its own agent's peer id only");
    let peers = seeker.json(&["node", "peers"]);
    let peers = peers.as_array().or_else(|| peers["peers"].as_array()).unwrap().clone();
    assert_eq!(peers.iter().map(|it| text(&it["peer"])).collect::<Vec<_>>(), [peer]);
    drop((liar, others));
}

#[test]
fn a_deactivated_agent_is_forgotten_stops_and_is_back_at_once_when_it_has_paid() {
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    bob.json(&["lease", "pay", "--epochs", "10", "--yes"]);
    alice.start(&["--name", "alice"]);
    bob.bootstrap = Some(alice.address.clone());
    bob.start(&[]);
    // The last epoch of alice's grace, a minute before its end.
    let last = i64::try_from(net.status().epoch + 3).unwrap();
    net.jump(Jump { unix: Some((last + 1) * DAY - 60), ..Jump::default() });
    wait_for_mesh(&alice);
    let adverts = |owner: &Owner| owner.json(&["discover"])["adverts"].as_array().unwrap().len();
    let advert = wait_until("alice's clock has followed", || {
        let line = ["advertise", "translate", "--unit", "XNO", "--price", "5", "--ttl", "12h"];
        let advert = alice.send(&line);
        alice.wait_for(advert, "sent");
        (adverts(&bob) == 1).then_some(advert)
    });
    assert!(page(&bob, "/v1/heard").contains(&alice.mint));

    let began = Instant::now();
    net.jump(Jump { unix: Some((last + 1) * DAY + 60), ..Jump::default() });
    wait_until("what was heard of alice is gone", || {
        (adverts(&bob) == 0 && !page(&bob, "/v1/heard").contains(&alice.mint)).then_some(())
    });
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    // Her own node says why, and sends nothing.
    let missing = wait_until("alice's node knows", || {
        let standing = alice.status()["standing"].clone();
        (standing["is_good"] == false).then(|| text(&standing["missing"]).to_owned())
    });
    assert!(missing.contains("lease"), "{missing}");
    assert_eq!(metric(&alice, "zx1_node_standing"), 0);
    alice.node.as_ref().unwrap().wait_for("other nodes do not take this agent's messages");
    let waiting = alice.send(&["advertise", "waits", "--unit", "XNO", "--price", "5", "--ttl", "1h"]);
    let logged = alice.logged().len();

    // Her addresses are gone from the file as well, though she is still connected.
    let peer = alice.address.split_once("/p2p/").unwrap().1.to_owned();
    let file = bob.zx1.home().join("agents").join(&bob.mint).join("node.peers");
    bob.stop();
    let saved: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let of_alice = saved["peers"].as_array().unwrap().iter().find(|it| text(&it["peer"]) == peer).cloned();
    let addresses = of_alice.map(|it| it["addresses"].clone());
    assert!(addresses.clone().is_none_or(|it| it == json!([])), "{addresses:?}");
    bob.start(&[]);
    wait_for_mesh(&bob);
    assert_eq!(text(&alice.json(&["message", "show", &waiting.to_string()])["state"]), "queued");
    assert_eq!(alice.logged().len(), logged, "nothing was signed");

    // She pays, and is heard long before the next BEACON would be due.
    alice.json(&["lease", "pay", "--yes"]);
    let began = Instant::now();
    wait_until("alice is heard again", || page(&bob, "/v1/heard").contains(&alice.mint).then_some(()));
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    alice.wait_for(waiting, "sent");
    assert!(alice.logged().iter().filter(|(_, kind)| kind == "beacon").count() >= 1);
    let _ = advert;
}

#[test]
fn a_minimum_stake_that_was_raised_counts_for_nodes_that_run() {
    let net = Localnet::builder().start();
    let mut alice = Owner::simple(&net, 0, "alice");
    alice.start(&[]);
    assert_eq!(alice.status()["standing"]["is_good"], true);
    let address = zx1_chain::pda::config();
    let (_, mut data) = net.account(&address).unwrap();
    let place = 8 + std::mem::offset_of!(zx1_interface::accounts::Config, min_stake);
    data[place..place + 8].copy_from_slice(&31_000_000_u64.to_le_bytes());
    let changed = json!([address.to_string(), { "data": hex::encode(data) }]);
    net.rpc("surfnet_setAccount", changed).unwrap();
    let missing = wait_until("alice's node knows", || {
        let standing = alice.status()["standing"].clone();
        (standing["is_good"] == false).then(|| text(&standing["missing"]).to_owned())
    });
    assert!(missing.contains("minimum") || missing.contains("31"), "{missing}");
}
