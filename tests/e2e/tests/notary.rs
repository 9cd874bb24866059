//! Notaries of tasks by the agents' nodes: real nodes, real cluster, command lines only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use zx1_e2e::{Localnet, Owner, text, wait_for_mesh, wait_until};

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
fn a_notary_is_found_chosen_and_shown_the_deal_and_its_verdict_reaches_both() {
    let net = Localnet::builder().start();
    let [mut alice, bob, nora] = agents(&net, ["alice", "bob", "nora"]);
    let deal = deal(&alice, &bob);
    let mut serving = nora.zx1.spawn(["--json", "notary", "run", "--fee", "5", "--seconds", "600"]);
    serving.wait_for("started");

    let asked = alice.json(&["notary", "ask", &deal, "--unit", "raw"]);
    assert_eq!(text(&asked["stage"]), "collecting", "{asked}");
    alice.zx1.run(["notary", "ask", &deal]).fails_with(7594);
    wait_until("the offer is heard", || {
        let search = search(&alice, &deal);
        (search["offers"].as_array().unwrap().len() == 1).then_some(())
    });
    // Nothing is forgotten, and nothing is asked twice.
    alice.node.take().unwrap().kill9();
    alice.start(&["--name", "alice"]);
    let chosen = wait_for_search(&alice, &deal, "choosing");
    assert_eq!(
        (text(&chosen["offers"][0]["notary"]), text(&chosen["offers"][0]["fee"])),
        (nora.mint.as_str(), "5")
    );
    alice.json(&["notary", "choose", &deal, &nora.mint]);
    let desk = wait_until("both parties are known", || {
        let desk = nora.json(&["notary", "desk", &deal]);
        (desk["can_judge"] == true && desk["exhibits"].as_array().unwrap().len() == 3).then_some(desk)
    });
    let kinds: Vec<&str> = desk["exhibits"].as_array().unwrap().iter().map(|it| text(&it["type"])).collect();
    assert_eq!(kinds, ["propose", "accept", "deliver"]);
    assert_eq!(desk["exhibits"][0]["payload"]["value"], "250");
    let adopted = wait_for_search(&bob, &deal, "assigned");
    assert_eq!(text(&adopted["notary"]), nora.mint);
    serving.wait_for("\"assigned\"");

    bob.zx1.run(["notary", "judge", &deal, "--outcome", "positive"]).fails_with(7594);
    nora.json(&["notary", "judge", &deal, "--outcome", "positive", "--reason", "as ordered"]);
    wait_until("both have the verdict", || {
        let list = nora.json(&["message", "list"]);
        let verdicts: Vec<&Value> =
            list.as_array().unwrap().iter().filter(|it| it["type"] == "verdict").collect();
        let lost = verdicts.iter().find(|it| it["is_over"] == false && it["state"] == "unanswered");
        assert!(lost.is_none(), "{lost:?}");
        (verdicts.len() == 2 && verdicts.iter().all(|it| it["state"] == "acknowledged")).then_some(())
    });
    for party in [&alice, &bob] {
        let judged = wait_for_search(party, &deal, "judged");
        assert_eq!(judged["verdict"]["outcome"], 2, "{judged}");
        assert_eq!(judged["verdict"]["deliver"], desk["exhibits"][2]["payload_hash"]);
        wait_for_phase(party, &deal, "judged");
    }

    // Both parties rate each other and the notary, the notary rates both.
    let of_alice = owed(&alice.json(&["negotiate", "show", &deal]));
    assert_eq!(of_alice, [(bob.mint.clone(), 0), (nora.mint.clone(), 1)]);
    alice.zx1.run(["negotiate", "rate", &deal, &alice.mint, "--score", "1"]).fails_with(7594);
    rate(&alice, &deal, &bob, "80");
    rate(&alice, &deal, &nora, "90");
    rate(&bob, &deal, &alice, "70");
    rate(&bob, &deal, &nora, "-10");
    rate(&nora, &deal, &alice, "50");
    rate(&nora, &deal, &bob, "60");
    for party in [&alice, &bob] {
        assert!(owed(&party.json(&["negotiate", "show", &deal])).is_empty());
    }
    assert!(owed(&nora.json(&["notary", "desk", &deal])).is_empty());
    for owner in [&alice, &bob, &nora] {
        wait_until("both ratings of it are in its log", || {
            (count(owner, "received", "feedback") == 2).then_some(())
        });
        assert_eq!(count(owner, "sent", "feedback"), 2);
    }
    assert_eq!((count(&alice, "sent", "notarize-bid"), count(&alice, "sent", "notarize-assign")), (1, 1));
    assert_eq!(count(&nora, "sent", "verdict"), 2);

    // It serves as long as the command runs.
    let status = serving.terminate();
    assert!(status.success(), "{status}");
    assert!(serving.stdout().contains("\"stopped\""), "{}", serving.said());
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
