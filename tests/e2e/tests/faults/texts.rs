//! Feedback, with and without a sponsor, and ratings at SATI.

use serde_json::Value;
use solana_address::Address;
use zx1_chain::rpc::registry::Agreement;
use zx1_e2e::{Fault, FaultProxy, Running};
use zx1_protocol::hash::Sha3;
use zx1_protocol::interaction::{interaction_hash, task_ref};
use zx1_protocol::units::Slot;

use crate::party::{CONVERSATION, SLOT};
use crate::sweep::{Facts, Staged, Sweep};
use crate::world::{World, of_agent, words};

/// More than any test here publishes.
const MOST_ENTRIES: usize = 1_000;

/// Entries and drafts of a sender.
fn said(world: &World, sender: &Address, text: &str) -> Facts {
    let mut facts = world.purse(sender);
    let items = world.wait(async { world.eye.client.feedback(None, MOST_ENTRIES).await.unwrap() });
    let mine = items.iter().filter(|item| item.entry.sender == sender.to_bytes());
    facts.insert("entries", mine.clone().count().try_into().unwrap());
    facts.insert("right", mine.filter(|item| item.text == text).count().try_into().unwrap());
    facts
}

fn saying(world: &World, count: usize, sol: u64, text: &str, sponsor: Option<&str>) -> Vec<Staged> {
    world.times(count, |_| {
        let owner = world.owner_of(sol, 0);
        let (wallet, said_text) = (owner.address(), text.to_owned());
        let mut line = words(&["feedback", "submit", text, "--yes"]);
        line.extend(sponsor.iter().flat_map(|url| ["--sponsor".to_owned(), (*url).to_owned()]));
        Staged { zx1: owner.zx1, line, measure: Box::new(move |world| said(world, &wallet, &said_text)) }
    })
}

const SAY: Sweep<'_> = Sweep {
    name: "feedback submit",
    expected: &[("entries", 1), ("right", 1)],
    // Of several that speak at once one gets the number; what the others sent may land and fail.
    tolerance: &[("lamports", 50_000)],
    kill: true,
};

/// A cluster where something was said before: the first entry pays for the log's own account.
fn begun() -> World {
    let world = World::new();
    let owner = world.owner();
    world.act(&owner, async |actions, party| {
        let flow = actions.feedback(party.address(), party.address(), "first").unwrap();
        party.run(flow.as_ref()).await;
    });
    world
}

#[test]
fn feedback_submit_in_one_transaction() {
    SAY.run(&begun(), |world, count| saying(world, count, 1, "it is slow", None));
}

#[test]
fn feedback_submit_through_a_draft() {
    let text = "long ".repeat(400);
    let sweep = Sweep { name: "feedback submit, draft", ..SAY };
    sweep.run(&begun(), |world, count| saying(world, count, 1, text.trim(), None));
}

/// A sponsor for as many as there are.
fn sponsor(world: &World) -> (Running, String) {
    let line =
        ["--output", "json-compact", "sponsor", "serve", "--listen", "127.0.0.1:0", "--per-sender", "50"];
    let serving = world.named("sponsor").spawn([&line[..], &["--per-day", "50"]].concat());
    let url = sponsor_url(&serving);
    (serving, url)
}

/// Where a sponsor serves.
fn sponsor_url(serving: &Running) -> String {
    let said = serving.wait_for("listening");
    let line: Value =
        serde_json::from_str(said.lines().find(|line| line.contains("listening")).unwrap()).unwrap();
    format!("http://{}", line["listening"].as_str().unwrap())
}

/// The sender has not a lamport, before and after.
const SPONSORED: Sweep<'_> =
    Sweep { expected: &[("entries", 1), ("right", 1), ("lamports", 0)], tolerance: &[], ..SAY };

#[test]
fn sponsored_feedback_in_one_transaction() {
    let world = World::new();
    let (_serving, url) = sponsor(&world);
    let sweep = Sweep { name: "sponsored feedback", ..SPONSORED };
    sweep.run(&world, |world, count| saying(world, count, 0, "I have nothing", Some(&url)));
}

#[test]
fn sponsored_feedback_through_a_draft() {
    let world = World::new();
    let (_serving, url) = sponsor(&world);
    let text = "poor ".repeat(300);
    let sweep = Sweep { name: "sponsored feedback, draft", ..SPONSORED };
    sweep.run(&world, |world, count| saying(world, count, 0, text.trim(), Some(&url)));
}

#[test]
fn a_sponsor_whose_number_somebody_took_meanwhile_takes_the_next_ok() {
    let world = World::new();
    let proxy = FaultProxy::start(world.net.rpc_url());
    let line = ["--output", "json-compact", "sponsor", "serve", "--listen", "127.0.0.1:0"];
    let serving = world.named("sponsor").url(proxy.url()).spawn(line);
    let url = sponsor_url(&serving);
    // The sponsor has read the number of the next entry, and asks what its transaction would do.
    proxy.fail("simulateTransaction", 1, Fault::Hold);
    let poor = world.owner_of(0, 0);
    let mut speaking = poor.zx1.spawn(["feedback", "submit", "too late", "--sponsor", &url, "--yes"]);
    proxy.wait_for_calls("simulateTransaction", 1);
    let rich = world.owner();
    rich.zx1.run(["feedback", "submit", "faster", "--yes"]).ok();
    proxy.release();
    let ended = speaking.wait();
    assert!(ended.success(), "{ended}: {}", speaking.said());
    let items = world.wait(async { world.eye.client.feedback(None, MOST_ENTRIES).await.unwrap() });
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    let number = |text| items.iter().find(|item| item.text == text).unwrap().entry.index;
    assert_eq!((number("faster"), number("too late")), (0, 1));
    assert_eq!(world.net.lamports(&poor.address()), 0);
}

#[test]
fn attest_submit() {
    let world = World::new();
    let rated = world.owner();
    let about = world.register(&rated);
    let sweep = Sweep {
        name: "attest submit",
        expected: &[("ratings", 1), ("usdc", 0)],
        tolerance: &[],
        kill: false,
    };
    sweep.run(&world, |world, count| {
        world.times(count, |_| {
            let owner = world.owner();
            let wallet = owner.address();
            let mint = world.register(&owner);
            let presigned = world.wait(async {
                let agreement = Agreement {
                    agent: about,
                    counterparty: wallet,
                    task_ref: task_ref(&CONVERSATION),
                    data_hash: interaction_hash::<Sha3>(&CONVERSATION, &mint, Slot(SLOT)),
                };
                let sati = world.eye.sati().await;
                rated.party.sign(&sati.agreement_message(&agreement))
            });
            let (conversation, presigned) = (hex::encode(CONVERSATION), hex::encode(presigned));
            let (about_words, slot) = (about.to_string(), SLOT.to_string());
            let line = [
                "attest",
                "submit",
                "--conversation",
                &conversation,
                "--about",
                &about_words,
                "--score",
                "80",
                "--presignature",
                &presigned,
                "--slot",
                &slot,
            ];
            Staged {
                zx1: owner.zx1,
                line: of_agent(mint, &line),
                measure: Box::new(move |world| {
                    let mut facts = world.purse(&wallet);
                    let found = world.wait(async {
                        let sati = world.eye.sati().await;
                        sati.read_attestation(&task_ref(&CONVERSATION), about, wallet).await.unwrap()
                    });
                    facts.insert("ratings", i128::from(found.is_some()));
                    facts
                }),
            }
        })
    });
}
