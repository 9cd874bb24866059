//! What an observing node hears, as the indexer serves it: real nodes, real cluster, real processes, killed in between.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod process;

use process::Indexer;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use zx1_e2e::{Localnet, Owner, Running, binary, path, text, wait_for_mesh};

/// A node that only observes, in this folder.
fn observe(net: &Localnet, folder: &Path, bootstrap: &str) -> Running {
    let mut command = Command::new(binary("zx1-node"));
    command
        .args(["--observe", path(folder), "--url", net.rpc_url(), "--api", "127.0.0.1:0", "--no-mdns"])
        .args(["--listen", "/ip4/127.0.0.1/tcp/0", "--bootstrap", bootstrap]);
    let node = Running::start(command);
    node.wait_for("\"ready\":true");
    node
}

fn advertise(owner: &Owner, what: &str) {
    let advert = owner.send(&["advertise", what, "--unit", "XNO", "--price", "5", "--ttl", "1h"]);
    owner.wait_for(advert, "sent");
}

/// The messages of this type, by their hashes.
fn of_type<'a>(events: &'a [Value], msg_type: &str) -> Vec<&'a str> {
    events.iter().filter(|it| it["msg_type"] == msg_type).map(|it| text(&it["hash"])).collect()
}

#[test]
fn what_agents_say_to_all_is_told_once_and_their_deals_are_not() {
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    alice.start(&["--name", "alice"]);
    bob.bootstrap = Some(alice.address.clone());
    bob.start(&["--name", "bob"]);
    wait_for_mesh(&alice);
    let folders = tempfile::tempdir().unwrap();
    let (watch, data) = (folders.path().join("watch"), folders.path().join("data"));
    let mut observer = observe(&net, &watch, &alice.address);
    let options = ["--mesh", path(&watch)];
    let mut indexer = Indexer::start_with(&net, &data, true, &options);
    indexer.until("/v1/agents", |it| {
        let items = it["items"].as_array().unwrap();
        items.len() == 2 && items.iter().all(|it| it["keys"].as_array().is_some_and(|keys| keys.len() == 1))
    });
    let in_mesh = |it: &Value| {
        let peers = it["mesh"]["peers"].as_array();
        peers.is_some_and(|peers| peers.iter().any(|peer| peer["mesh"].as_array().unwrap().len() == 3))
    };
    indexer.until("/v1/mesh", in_mesh);

    // What goes to all is an event, with its header and without its payload.
    advertise(&alice, "translate");
    let events = indexer.stream("types=message&last=1000", |events| !of_type(events, "advertise").is_empty());
    let advert = events.iter().find(|it| it["msg_type"] == "advertise").unwrap();
    assert_eq!(
        (text(&advert["sender"]), text(&advert["agent_name"])),
        (alice.mint.as_str(), "alice"),
        "{advert}"
    );
    assert!(
        advert["payload"].is_null() && advert["envelope"].is_null() && advert["summary"].is_null(),
        "{advert}"
    );
    let map = indexer.until("/v1/mesh", |it| {
        let peers = it["mesh"]["peers"].as_array().unwrap();
        peers.iter().any(|peer| peer["agent"] == alice.mint.as_str())
    });
    assert_eq!((&map["configured"], &map["reachable"]), (&true.into(), &true.into()), "{map}");
    let shown = map.to_string();
    assert!(!shown.contains("127.0.0.1") && !shown.contains("/ip4"), "no addresses: {shown}");

    // A deal passes directly; the rating that follows goes to all, and makes the real-time scores alone.
    let proposed = alice.send(&["negotiate", "propose", &bob.mint, "--value", "250", "--text", "3 pages"]);
    let deal = text(&alice.wait_for(proposed, "acknowledged")["conversation"]).to_owned();
    let accepted = bob.send(&["negotiate", "accept", &deal]);
    bob.wait_for(accepted, "acknowledged");
    let delivered = bob.send(&["negotiate", "deliver", &deal, "--text", "drei Seiten"]);
    bob.wait_for(delivered, "acknowledged");
    let rated = alice.send(&["negotiate", "rate", &deal, &bob.mint, "--score", "-40"]);
    alice.wait_for(rated, "sent");
    let events = indexer.stream("types=message&last=1000", |events| !of_type(events, "feedback").is_empty());
    let rating = events.iter().find(|it| it["msg_type"] == "feedback").unwrap();
    assert_eq!(
        (&rating["summary"]["score"], text(&rating["summary"]["target"])),
        (&(-40).into(), bob.mint.as_str())
    );
    assert!(of_type(&events, "propose").is_empty(), "{events:?}");
    let rated = indexer.until(&format!("/v1/agents/{}", bob.mint), |it| {
        it["agent"]["reputation_detail"]["real_time"]["tasks"] == 1
    });
    let reputation = &rated["agent"]["reputation_detail"];
    assert_eq!(reputation["real_time"]["reliability"], -40_000, "{reputation}");
    assert_eq!(
        (&reputation["batch"]["tasks"], &reputation["batch"]["reliability"]),
        (&0.into(), &0.into()),
        "{reputation}"
    );

    // What is said while the indexer is away comes when it is back, and nothing comes twice.
    indexer.process.kill9();
    advertise(&bob, "german");
    indexer = Indexer::start_with(&net, &data, true, &options);
    let events = indexer.stream("types=message&last=1000", |events| of_type(events, "advertise").len() == 2);
    let mut hashes: Vec<&str> = events.iter().map(|it| text(&it["hash"])).collect();
    let all = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), all, "{events:?}");

    // Without the observer the indexer goes on and says so; with another one it hears again.
    observer.kill9();
    indexer.until("/v1/mesh", |it| it["reachable"] == false);
    assert_eq!(indexer.get("/v1/status")["state"], "live");
    let _observer = observe(&net, &watch, &alice.address);
    indexer.until("/v1/mesh", |it| it["reachable"] == true && in_mesh(it));
    advertise(&bob, "french");
    indexer.stream("types=message&last=1000", |events| of_type(events, "advertise").len() == 3);
}

#[test]
fn an_indexer_without_an_observer_says_that_none_is_set() {
    let net = Localnet::builder().start();
    let data = tempfile::tempdir().unwrap();
    let indexer = Indexer::start(&net, data.path(), false);
    let map = indexer.get("/v1/mesh");
    assert_eq!(
        (&map["configured"], &map["reachable"], &map["mesh"]),
        (&false.into(), &false.into(), &Value::Null)
    );
    assert_eq!(indexer.get("/v1/mesh?x=1")["code"], 9631);
}
