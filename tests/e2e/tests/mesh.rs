//! Agents that find each other and trade by their nodes, without any server: real nodes, real cluster, command lines
//! only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use zx1_e2e::{Localnet, NOWHERE, Owner, Zx1, is_inside, path, text, wait_for_mesh, wait_until};

#[test]
fn two_agents_find_each_other_and_deal_and_their_logs_agree() {
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    alice.start(&["--name", "alice"]);
    bob.bootstrap = Some(alice.address.clone());
    bob.start(&["--name", "bob"]);
    for owner in [&alice, &bob] {
        wait_for_mesh(owner);
        let status = owner.status();
        assert_eq!(
            (&status["standing"]["is_good"], &status["owns_log"]),
            (&true.into(), &true.into()),
            "{status}"
        );
    }

    // Found by what it advertises, with nobody between them.
    let advert =
        bob.send(&["advertise", "translate", "german", "--unit", "XNO", "--price", "5", "--ttl", "1h"]);
    bob.wait_for(advert, "sent");
    let found = wait_until("the advert is heard", || {
        let found = alice.json(&["discover"]);
        found["adverts"].as_array().unwrap().first().cloned()
    });
    assert_eq!((text(&found["agent"]), text(&found["price"])), (bob.mint.as_str(), "5"));

    // PROPOSE, COUNTER, ACCEPT, DELIVER.
    let proposed = alice.send(&["negotiate", "propose", &bob.mint, "--value", "250", "--text", "3 pages"]);
    let proposed = alice.wait_for(proposed, "acknowledged");
    let deal = text(&proposed["conversation"]).to_owned();
    let received = bob.inbox();
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!((text(&received[0]["sender"]), text(&received[0]["type"])), (alice.mint.as_str(), "propose"));
    assert_eq!(received[0]["message"], proposed["message"]);
    let countered = bob.send(&["negotiate", "counter", &deal, "--value", "300"]);
    bob.wait_for(countered, "acknowledged");
    let accepted = alice.send(&["negotiate", "accept", &deal]);
    alice.wait_for(accepted, "acknowledged");
    let delivered = bob.send(&["negotiate", "deliver", &deal, "--text", "drei Seiten"]);
    bob.wait_for(delivered, "acknowledged");
    assert_eq!(alice.phase(&deal), bob.phase(&deal));
    // What is not the next move is refused before anything is signed.
    let line = ["message", "send", "accept", "--to", &bob.mint, "--conversation", &deal, "--value", "300"];
    alice.zx1.run(line).fails_with(7594);

    let own = |logged: Vec<(String, String)>, direction: &str| {
        let kinds = logged
            .into_iter()
            .filter(|(of, kind)| of == direction && kind != "beacon" && kind != "advertise");
        kinds.map(|(_, kind)| kind).collect::<Vec<_>>()
    };
    assert_eq!(own(alice.logged(), "sent"), ["propose", "accept"]);
    assert_eq!(own(alice.logged(), "received"), ["counter", "deliver"]);
    assert_eq!(own(bob.logged(), "sent"), ["counter", "deliver"]);
    assert_eq!(own(bob.logged(), "received"), ["propose", "accept"]);

    // A reader goes on where it stopped.
    let page = alice.json(&["message", "inbox", "--limit", "1", "--ack"]);
    let rest = alice.json(&["message", "inbox", "--after", text(&page["next"])]);
    assert_eq!(rest["acknowledged"], page["next"]);
    assert_eq!(rest["messages"][0]["type"], "deliver");
    alice.stop();
    bob.stop();
    // The log is free again, and nothing says that a node runs.
    alice.zx1.run(["node", "status"]).fails_with(7592);
}

#[test]
fn what_was_queued_or_received_survives_kill_9_and_is_there_once() {
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    alice.start(&[]);
    bob.bootstrap = Some(alice.address.clone());
    bob.start(&[]);
    wait_for_mesh(&alice);
    let line = ["negotiate", "propose", &bob.mint, "--value", "1", "--name", "first"];
    let first = alice.send(&line);
    alice.wait_for(first, "acknowledged");
    bob.node.take().unwrap().kill9();

    // Bob is away: the draft waits, unsigned. The same intent again is the same message.
    let line = ["negotiate", "propose", &bob.mint, "--value", "2", "--name", "second"];
    let second = alice.send(&line);
    assert_eq!(alice.send(&line), second);
    wait_until("it was tried", || {
        let shown = alice.json(&["message", "show", &second.to_string()]);
        (shown["tries"].as_u64()? > 0 && shown["message"].is_null()).then_some(())
    });
    alice.node.take().unwrap().kill9();
    alice.start(&[]);
    let shown = alice.json(&["message", "show", &second.to_string()]);
    assert_eq!((text(&shown["state"]), text(&shown["name"])), ("queued", "second"));

    bob.start(&[]);
    alice.wait_for(second, "acknowledged");
    let values: Vec<String> =
        bob.inbox().iter().map(|message| text(&message["payload"]["value"]).to_owned()).collect();
    assert_eq!(values, ["1", "2"]);
    let proposals = alice.logged().into_iter().filter(|(_, kind)| kind == "propose").count();
    assert_eq!(proposals, 2, "each was signed once");
}

#[test]
fn a_stranger_without_stake_is_not_heard_and_a_deal_key_signs_elsewhere() {
    let net = Localnet::builder().start();
    let keys = tempfile::tempdir().unwrap();
    let key = |name: &str| -> PathBuf {
        let file = keys.path().join(name);
        Zx1::new(&net).run(["key", "new", path(&file)]).ok();
        file
    };
    let (peer, deal) = (key("peer.json"), key("deal.json"));
    let mut alice = Owner::new(&net, 0, "alice", &[(&peer, "peer"), (&deal, "deal")]);
    let mut bob = Owner::simple(&net, 1, "bob");
    bob.start(&[]);
    alice.bootstrap = Some(bob.address.clone());
    alice.start(&["--keypair", path(&peer)]);
    wait_for_mesh(&alice);

    // Registered, without stake: its node runs, says why nobody listens, and nobody does.
    let file = net.wallet_file(2);
    let zx1 = Zx1::new(&net).keypair(&file);
    let made = zx1.json(["register", "--name", "carol", "--uri", NOWHERE, "--yes"]);
    zx1.json(["keys", "add", path(&file), "--scopes", "deal,peer", "--yes"]);
    let mint = text(&made["agent"]).to_owned();
    let mut carol =
        Owner { zx1, mint, node: None, address: String::new(), bootstrap: Some(bob.address.clone()) };
    carol.start(&[]);
    let status = carol.status();
    assert_eq!(status["standing"]["is_good"], false, "{status}");
    assert!(text(&status["standing"]["missing"]).contains("no stake"), "{status}");
    // With --dev it speaks all the same, as a liar's would.
    carol.stop();
    carol.start(&["--dev"]);
    wait_for_mesh(&carol);
    let advert = carol.send(&["advertise", "spam", "--unit", "XNO", "--price", "1", "--ttl", "1h"]);
    carol.wait_for(advert, "sent");
    wait_until("bob has judged it", || {
        let messages = bob.status()["messages"].clone();
        (messages["ignored"].as_u64()? > 0).then_some(())
    });
    let adverts = || bob.json(&["discover"])["adverts"].as_array().unwrap().len();
    assert_eq!(adverts(), 0);
    // It locks a stake, and is heard long before what is known of it would be read again for its age.
    let began = Instant::now();
    carol.json(&["stake", "lock", "30", "--yes"]);
    carol.json(&["lease", "pay", "--yes"]);
    wait_until("carol is heard", || {
        let advert = carol.send(&["advertise", "work", "--unit", "XNO", "--price", "1", "--ttl", "1h"]);
        carol.wait_for(advert, "sent");
        (adverts() == 1).then_some(())
    });
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());

    // Alice's node cannot bind her: the deal waits for the process that holds the deal key, and its limits.
    let waiting = alice.send(&["negotiate", "propose", &bob.mint, "--value", "7"]);
    wait_until("it waits for a signer", || {
        let shown = alice.json(&["message", "show", &waiting.to_string()]);
        shown["why"].as_str()?.contains("signer").then_some(())
    });
    let line = ["node", "signer", "--keypair", path(&deal), "--max-value", "10"];
    let _signer = alice.zx1.spawn(line);
    alice.wait_for(waiting, "acknowledged");
    let greedy = alice.send(&["negotiate", "propose", &bob.mint, "--value", "11"]);
    let refused = alice.wait_for(greedy, "refused");
    assert!(text(&refused["why"]).contains("exceeds the limit of 10"), "{refused}");
    assert_eq!(bob.inbox().len(), 1);
}

#[test]
fn a_full_disk_takes_nothing_keeps_what_it_has_and_all_goes_on_when_there_is_room() {
    let name = "a_full_disk_takes_nothing_keeps_what_it_has_and_all_goes_on_when_there_is_room";
    if !is_inside(name, &["--mount"], "") {
        return;
    }
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    let disk = on_a_small_disk(&alice);
    alice.start(&[]);
    bob.bootstrap = Some(alice.address.clone());
    bob.start(&[]);
    wait_for_mesh(&alice);
    let propose = |from: &Owner, to: &Owner, value: &str| {
        from.send(&["negotiate", "propose", &to.mint, "--value", value])
    };
    let kept = propose(&bob, &alice, "1");
    bob.wait_for(kept, "acknowledged");

    fill(&disk.join("filler"));
    let refused = alice.zx1.run(["negotiate", "propose", &bob.mint, "--value", "2"]).fails_with(7594);
    assert!(refused.stderr.contains("No space left"), "{refused}");
    let lost = propose(&bob, &alice, "3");
    bob.wait_for(lost, "unanswered");
    assert_eq!(alice.metric("zx1_node_transport_dropped_total{reason=\"NotKept\"}"), 1);
    let values = |owner: &Owner| -> Vec<String> {
        let values = owner.inbox();
        values.iter().map(|message| text(&message["payload"]["value"]).to_owned()).collect()
    };
    assert_eq!(values(&alice), ["1"]);

    std::fs::remove_file(disk.join("filler")).unwrap();
    let next = propose(&bob, &alice, "4");
    bob.wait_for(next, "acknowledged");
    // Whatever was sent before this one would be there before it.
    let own = propose(&alice, &bob, "5");
    alice.wait_for(own, "acknowledged");
    assert_eq!(values(&bob), ["5"]);
    alice.node.take().unwrap().kill9();
    alice.start(&[]);
    assert_eq!(values(&alice), ["1", "4"]);
    let proposals = alice.logged().into_iter().filter(|(_, kind)| kind == "propose").count();
    assert_eq!(proposals, 3, "one that was sent and two that were received");
}

/// Puts the agent's folder on a disk of two megabytes, in this test's own namespace.
fn on_a_small_disk(owner: &Owner) -> PathBuf {
    let folder = owner.zx1.home().join("agents").join(&owner.mint);
    let script = "set -e; mkdir -p -m 700 \"$1\"; cp -a \"$1\" \"$1.was\"; \
                  mount -t tmpfs -o size=2m,mode=700 none \"$1\"; cp -a \"$1.was/.\" \"$1\"";
    let done = Command::new("sh").args(["-c", script, "sh", path(&folder)]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    folder
}

/// Writes to a file until nothing fits any more.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    let full = std::iter::repeat_with(|| file.write_all(&[1; 4_096])).find_map(Result::err).unwrap();
    assert_eq!(full.kind(), ErrorKind::StorageFull);
}

#[test]
fn an_agent_whose_clock_is_wrong_is_not_heard_says_so_and_is_heard_again() {
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    alice.start(&[]);
    bob.bootstrap = Some(alice.address.clone());
    // Within the same day, which is an epoch.
    let off = if net.status().unix % 86_400 < 1_200 { "600" } else { "-600" };
    bob.start(&["--test-clock", off]);
    wait_for_mesh(&alice);
    let ahead = bob.status()["clock_ahead_seconds"].as_i64().unwrap();
    assert!((590..=610).contains(&ahead.abs()), "{ahead}");
    let says_so = "the cluster's: other nodes ignore its messages";
    let shown = bob.zx1.run(["node", "status"]).ok();
    assert!(shown.stdout.contains(says_so), "{shown}");
    bob.node.as_ref().unwrap().wait_for("this machine's clock differs from the cluster's by");

    let advertise = |owner: &Owner, what: &str| {
        let advert = owner.send(&["advertise", what, "--unit", "XNO", "--price", "5", "--ttl", "1h"]);
        owner.wait_for(advert, "sent");
    };
    let heard = |owner: &Owner| owner.json(&["discover"])["adverts"].as_array().unwrap().len();
    let ignored = |owner: &Owner| {
        wait_until("it was ignored for its time", || {
            let metric = "zx1_node_messages_refused_total{reason=\"Timestamp\"}";
            (owner.metric(metric) > 0).then_some(())
        });
    };
    advertise(&bob, "late");
    ignored(&alice);
    let unheard = bob.send(&["negotiate", "propose", &alice.mint, "--value", "1"]);
    bob.wait_for(unheard, "unanswered");
    // It hears nobody either, and nobody thinks worse of it.
    advertise(&alice, "early");
    ignored(&bob);
    assert_eq!((heard(&alice), heard(&bob), alice.inbox().len()), (0, 0, 0));
    assert!(alice.peers().iter().all(|peer| peer["score"].as_i64().unwrap() >= 0), "{:?}", alice.peers());

    bob.stop();
    bob.start(&[]);
    wait_for_mesh(&bob);
    assert!(!bob.zx1.run(["node", "status"]).ok().stdout.contains(says_so));
    advertise(&bob, "right");
    wait_until("it is heard again", || (heard(&alice) == 1).then_some(()));
    let proposed = bob.send(&["negotiate", "propose", &alice.mint, "--value", "2"]);
    bob.wait_for(proposed, "acknowledged");
}

#[test]
fn two_nodes_that_know_only_a_third_find_each_other_through_it() {
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    let mut first = Owner::simple(&net, 2, "first");
    first.start(&[]);
    first.stop();
    let (address, _) = first.address.split_once("/p2p/").unwrap();
    let address = address.to_owned();
    first.start(&["--external", &address]);
    for owner in [&mut alice, &mut bob] {
        owner.bootstrap = Some(first.address.clone());
        owner.start(&[]);
        wait_for_mesh(owner);
    }
    let proposed = alice.send(&["negotiate", "propose", &bob.mint, "--value", "1"]);
    alice.wait_for(proposed, "acknowledged");
    assert_eq!(bob.inbox().len(), 1);
    assert_eq!(first.inbox().len(), 0, "it goes to nobody else");
}

/// `docs/examples/trade.py`, as its readers would run it: by node.sock in each agent's folder.
#[test]
fn a_program_in_python_trades_by_the_local_api() {
    let net = Localnet::builder().start();
    let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
    alice.start(&[]);
    bob.bootstrap = Some(alice.address.clone());
    bob.start(&[]);
    wait_for_mesh(&alice);
    wait_for_mesh(&bob);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/trade.py");
    let run = |owner: &Owner, role: &str| {
        let mut command = Command::new("python3");
        command.arg(&program).arg(owner.zx1.home().join("agents").join(&owner.mint));
        command.args([role, "translate", "250"]);
        zx1_e2e::Running::start(command)
    };
    let (mut seller, mut buyer) = (run(&bob, "sell"), run(&alice, "buy"));
    buyer.wait_for(&format!("bought from {}: translate: done", bob.mint));
    seller.wait_for(&format!("sold translate to {} for 250", alice.mint));
    assert!(buyer.wait().success() && seller.wait().success());
    let deals: Vec<serde_json::Value> = bob.inbox();
    assert_eq!(deals.len(), 0, "the seller has handled what it got: {deals:?}");
    assert_eq!(alice.logged().iter().filter(|(of, kind)| of == "received" && kind == "deliver").count(), 1);
}
