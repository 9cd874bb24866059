//! Deals with a notary by the agents' nodes, and what becomes of one that a batch hides: real nodes, real cluster,
//! command lines only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use solana_signer::Signer as _;
use zx1_e2e::{Localnet, Owner, Running, Zx1, path, text, wait_for_mesh, wait_until};

/// A tenth of a USDC.
const DIME: u64 = 100_000;

/// These agents with nodes that are connected with each other. On loopback nobody confirms an address, without which
/// a node is not found through others.
fn agents<const N: usize>(net: &Localnet, names: [&str; N]) -> [Owner; N] {
    let mut known: Vec<String> = Vec::new();
    let owners = names.map(|name| {
        let mut owner = Owner::simple(net, known.len(), name);
        let mut options = vec!["--name", name];
        known.iter().for_each(|address| options.extend(["--bootstrap", address.as_str()]));
        owner.start(&options);
        known.push(owner.address.clone());
        owner
    });
    owners.iter().for_each(wait_for_mesh);
    owners
}

/// A deal between two agents, with the work delivered.
fn deal(alice: &Owner, bob: &Owner) -> String {
    let proposed = alice.send(&["negotiate", "propose", &bob.mint, "--value", "250", "--text", "3 pages"]);
    let proposed = alice.wait_for(proposed, "acknowledged");
    let deal = text(&proposed["conversation"]).to_owned();
    let accepted = bob.send(&["negotiate", "accept", &deal]);
    bob.wait_for(accepted, "acknowledged");
    let delivered = bob.send(&["negotiate", "deliver", &deal, "--text", "drei Seiten"]);
    bob.wait_for(delivered, "acknowledged");
    deal
}

fn search(owner: &Owner, deal: &str) -> Value {
    owner.json(&["notary", "offers", deal])
}

/// Waits until a search stands there.
fn wait_for_search(owner: &Owner, deal: &str, stage: &str) -> Value {
    wait_until(&format!("the search is {stage}"), || {
        let search = search(owner, deal);
        (search["stage"] == stage).then_some(search)
    })
}

fn wait_for_phase(owner: &Owner, deal: &str, phase: &str) -> Value {
    wait_until(&format!("the deal is {phase}"), || {
        let shown = owner.json(&["negotiate", "show", deal]);
        (shown["phase"] == phase).then_some(shown)
    })
}

/// The agents of whom a rating is owed, with the role.
fn owed(of: &Value) -> Vec<(String, u64)> {
    let owed = of["owed"].as_array().unwrap();
    owed.iter().map(|due| (text(&due["target"]).to_owned(), due["role"].as_u64().unwrap())).collect()
}

fn rate(owner: &Owner, deal: &str, other: &Owner, score: &str) {
    let draft = owner.send(&["negotiate", "rate", deal, &other.mint, "--score", score]);
    owner.wait_for(draft, "sent");
}

fn count(owner: &Owner, direction: &str, kind: &str) -> usize {
    owner.logged().iter().filter(|it| (it.0.as_str(), it.1.as_str()) == (direction, kind)).count()
}

#[test]
fn a_deal_is_found_made_judged_and_rated_and_hiding_it_from_the_chain_costs_the_stake() {
    let net = Localnet::builder().start();
    let [mut alice, bob, nora] = agents(&net, ["alice", "bob", "nora"]);
    for owner in [&alice, &bob] {
        owner.json(&["batch", "open", "--yes"]);
    }
    let deal = bargain(&alice, &bob);
    let mut serving = judge(&mut alice, &bob, &nora, &deal);
    rate_all(&alice, &bob, &nora, &deal);
    // It serves as long as the command runs.
    let status = serving.terminate();
    assert!(status.success(), "{status}");
    assert!(serving.stdout().contains("\"stopped\""), "{}", serving.said());
    hide(&net, &alice, &bob, &deal);
}

/// DISCOVER, ADVERTISE, PROPOSE, COUNTER, ACCEPT and DELIVER.
fn bargain(alice: &Owner, bob: &Owner) -> String {
    let advert = ["advertise", "translate", "german", "--unit", "XNO", "--price", "5", "--ttl", "1h"];
    let advert = bob.send(&advert);
    bob.wait_for(advert, "sent");
    let found = wait_until("it is discovered", || {
        let found = alice.json(&["discover", "translate", "--wait", "1s"]);
        found["adverts"].as_array().unwrap().first().cloned()
    });
    assert_eq!(text(&found["agent"]), bob.mint);
    assert!(count(alice, "sent", "discover") > 0);
    let proposed = alice.send(&["negotiate", "propose", &bob.mint, "--value", "250", "--text", "3 pages"]);
    let proposed = alice.wait_for(proposed, "acknowledged");
    let deal = text(&proposed["conversation"]).to_owned();
    let countered = bob.send(&["negotiate", "counter", &deal, "--value", "300"]);
    bob.wait_for(countered, "acknowledged");
    let accepted = alice.send(&["negotiate", "accept", &deal]);
    alice.wait_for(accepted, "acknowledged");
    let delivered = bob.send(&["negotiate", "deliver", &deal, "--text", "drei Seiten"]);
    bob.wait_for(delivered, "acknowledged");
    deal
}

/// A notary is found, chosen and shown the deal, and its verdict reaches both parties.
fn judge(alice: &mut Owner, bob: &Owner, nora: &Owner, deal: &str) -> Running {
    let serving = nora.zx1.spawn(["--json", "notary", "run", "--fee", "5", "--seconds", "600"]);
    serving.wait_for("started");
    let asked = alice.json(&["notary", "ask", deal, "--unit", "raw"]);
    assert_eq!(text(&asked["stage"]), "collecting", "{asked}");
    alice.zx1.run(["notary", "ask", deal]).fails_with(7594);
    wait_until("the offer is heard", || {
        let search = search(alice, deal);
        (search["offers"].as_array().unwrap().len() == 1).then_some(())
    });
    // Nothing is forgotten, and nothing is asked twice.
    alice.node.take().unwrap().kill9();
    alice.start(&["--name", "alice"]);
    let chosen = wait_for_search(alice, deal, "choosing");
    assert_eq!(
        (text(&chosen["offers"][0]["notary"]), text(&chosen["offers"][0]["fee"])),
        (nora.mint.as_str(), "5")
    );
    alice.json(&["notary", "choose", deal, &nora.mint]);
    let desk = wait_until("both parties are known", || {
        let desk = nora.json(&["notary", "desk", deal]);
        (desk["can_judge"] == true && desk["exhibits"].as_array().unwrap().len() == 4).then_some(desk)
    });
    let kinds: Vec<&str> = desk["exhibits"].as_array().unwrap().iter().map(|it| text(&it["type"])).collect();
    assert_eq!(kinds, ["propose", "counter", "accept", "deliver"]);
    assert_eq!(desk["exhibits"][1]["payload"]["value"], "300");
    let adopted = wait_for_search(bob, deal, "assigned");
    assert_eq!(text(&adopted["notary"]), nora.mint);
    serving.wait_for("\"assigned\"");

    bob.zx1.run(["notary", "judge", deal, "--outcome", "positive"]).fails_with(7594);
    nora.json(&["notary", "judge", deal, "--outcome", "positive", "--reason", "as ordered"]);
    wait_until("both have the verdict", || {
        let list = nora.json(&["message", "list"]);
        let verdicts: Vec<&Value> =
            list.as_array().unwrap().iter().filter(|it| it["type"] == "verdict").collect();
        let lost = verdicts.iter().find(|it| it["is_over"] == false && it["state"] == "unanswered");
        assert!(lost.is_none(), "{lost:?}");
        (verdicts.len() == 2 && verdicts.iter().all(|it| it["state"] == "acknowledged")).then_some(())
    });
    for party in [&*alice, bob] {
        let judged = wait_for_search(party, deal, "judged");
        assert_eq!(judged["verdict"]["outcome"], 2, "{judged}");
        assert_eq!(judged["verdict"]["deliver"], desk["exhibits"][3]["payload_hash"]);
        wait_for_phase(party, deal, "judged");
    }
    serving
}

/// Both parties rate each other and the notary, the notary rates both.
fn rate_all(alice: &Owner, bob: &Owner, nora: &Owner, deal: &str) {
    let of_alice = owed(&alice.json(&["negotiate", "show", deal]));
    assert_eq!(of_alice, [(bob.mint.clone(), 0), (nora.mint.clone(), 1)]);
    alice.zx1.run(["negotiate", "rate", deal, &alice.mint, "--score", "1"]).fails_with(7594);
    rate(alice, deal, bob, "80");
    rate(alice, deal, nora, "90");
    rate(bob, deal, alice, "70");
    rate(bob, deal, nora, "-10");
    rate(nora, deal, alice, "50");
    rate(nora, deal, bob, "60");
    for party in [alice, bob] {
        assert!(owed(&party.json(&["negotiate", "show", deal])).is_empty());
    }
    assert!(owed(&nora.json(&["notary", "desk", deal])).is_empty());
    for owner in [alice, bob, nora] {
        wait_until("both ratings of it are in its log", || {
            (count(owner, "received", "feedback") == 2).then_some(())
        });
        assert_eq!(count(owner, "sent", "feedback"), 2);
    }
    assert_eq!((count(alice, "sent", "notarize-bid"), count(alice, "sent", "notarize-assign")), (1, 1));
    assert_eq!(count(nora, "sent", "verdict"), 2);
}

/// Both parties submit the day's batch while their nodes run. Bob's leaves the deal out, and the COUNTER that Alice
/// holds takes his stake.
fn hide(net: &Localnet, alice: &Owner, bob: &Owner, deal: &str) {
    let served = tempfile::tempdir().unwrap();
    let data = path(served.path());
    let held = alice.zx1.home().join("counter.cbor");
    let listed = alice.json(&["log", "list", "--limit", "1000"]);
    let entries = listed["entries"].as_array().unwrap();
    let is_counter = |it: &&Value| it["type"] == "counter" && it["direction"] == "received";
    let counter = entries.iter().find(is_counter).unwrap_or_else(|| panic!("{listed}"));
    assert_eq!((text(&counter["counterparty"]), text(&counter["conversation"])), (bob.mint.as_str(), deal));
    let (epoch, index) = (counter["epoch"].to_string(), counter["index"].to_string());
    alice.json(&["log", "export", "--epoch", &epoch, "--index", &index, "--out", path(&held)]);
    let treasury = net.env().treasury.parse().unwrap();
    let wallets = [net.wallet(0).pubkey(), net.wallet(1).pubkey(), treasury];
    let purses = || wallets.map(|wallet| net.usdc(&wallet) / DIME);
    assert_eq!(purses(), [9_690, 9_690, 30]);

    net.travel_epochs(1);
    let told = alice.json(&["batch", "submit", "--data", data, "--yes"]);
    assert_eq!((&told["epoch"].to_string(), text(&told["upload"]["state"])), (&epoch, "served"), "{told}");
    let seen = alice.json(&["reputation", "show", "--data", data]);
    assert_eq!(
        (&seen["ratings"]["bound"], &seen["scores"]["reliability_milli"]),
        (&2.into(), &60_000.into()),
        "{seen}"
    );
    // Another home with Bob's key: its log knows nothing.
    let forgetful = Zx1::new(net).keypair(net.wallet_file(1));
    let hidden = forgetful.json(["--agent", &bob.mint, "batch", "submit", "--data", data, "--yes"]);
    assert_eq!(hidden["epoch"].to_string(), epoch, "{hidden}");

    let challenge = alice.zx1.home().join("challenge.json");
    let found = ["challenge", "find", path(&held), "--data", data, "--out", path(&challenge)];
    let found = alice.json(&found);
    assert_eq!(
        (&found["claims"][0]["presence"], &found["claims"][0]["in_log"]),
        (&"absent".into(), &false.into()),
        "{found}"
    );
    let submitted = alice.json(&["challenge", "submit", path(&challenge), "--yes"]);
    let challenges = submitted["challenges"].as_array().unwrap();
    assert_eq!((challenges.len(), purses()), (1, [9_640, 9_690, 30]), "{submitted}");
    let challenge = text(&challenges[0]["challenge"]);
    alice.zx1.run(["challenge", "resolve", challenge, "--yes"]).fails_with(7546);
    net.travel_epochs(2);
    net.travel_slots(1);
    let resolved = alice.json(&["challenge", "resolve", challenge, "--yes"]);
    assert_eq!(resolved["succeeded"], true, "{resolved}");
    // Her stake of 5 is back, and half of the finders' part of 12 with it; the treasury has the rest of his 30.
    assert_eq!(purses(), [9_750, 9_690, 270]);
    let stake = |owner: &Owner| {
        let shown = owner.json(&["stake", "show"]);
        let eras = shown["eras"].as_array().unwrap().iter();
        eras.map(|era| era["stake_micro_usdc"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!([stake(alice), stake(bob)], [300 * DIME, 0]);
    let missing = wait_until("his own node knows that nobody listens to him", || {
        let standing = bob.status()["standing"].clone();
        (standing["is_good"] == false).then(|| text(&standing["missing"]).to_owned())
    });
    assert!(missing.contains("stake"), "{missing}");
}

#[test]
fn a_silent_notary_is_followed_by_the_next_offer_and_then_the_task_is_unjudged() {
    let net = Localnet::builder().start();
    let [alice, bob, nora, mary] = agents(&net, ["alice", "bob", "nora", "mary"]);
    let deal = deal(&alice, &bob);
    for notary in [&nora, &mary] {
        notary.json(&["notary", "serve", "--fee", "5", "--seconds", "8"]);
    }
    alice.json(&["notary", "ask", &deal]);
    let search = wait_for_search(&alice, &deal, "choosing");
    assert_eq!(search["offers"].as_array().unwrap().len(), 2, "{search}");
    alice.json(&["notary", "choose", &deal, &nora.mint]);
    let second = wait_until("the second offer is taken", || {
        let search = self::search(&alice, &deal);
        (search["notaries"].as_array().unwrap().len() == 2).then_some(search)
    });
    assert_eq!(text(&second["notaries"][1]), mary.mint);
    wait_until("it is assigned", || {
        let desk = mary.json(&["notary", "desk", &deal]);
        (desk["stage"] != "offered").then_some(())
    });
    for party in [&alice, &bob] {
        wait_for_phase(party, &deal, "unjudged");
    }
    let of_bob = owed(&bob.json(&["negotiate", "show", &deal]));
    assert_eq!(of_bob, [(alice.mint.clone(), 0), (mary.mint.clone(), 1)]);
    rate(&bob, &deal, &mary, "-100");
    rate(&bob, &deal, &alice, "0");
    assert!(owed(&bob.json(&["negotiate", "show", &deal])).is_empty());
    // Who did not judge rates nobody.
    mary.zx1.run(["negotiate", "rate", &deal, &bob.mint, "--score", "1"]).fails_with(7594);
    assert!(mary.json(&["notary", "stop"]).is_null());
}
