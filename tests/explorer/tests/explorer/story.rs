//! What a visitor must not overlook: a slashed agent, a window that is over, a balance that nobody knows, and where a
//! search leads.

use crate::support::{Stage, figures, rows};
use zx1_explorer_tests::Page;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;

#[test]
fn a_slashed_agent_a_finished_window_and_an_unknown_balance_are_told_as_they_are() {
    let stage = Stage::start();
    let world = &stage.world;
    let (alice, bob) = (&world.agents[0], &world.agents[1]);
    let page = stage.page("#/agents");
    assert_eq!(rows(&page, "#main")[1]["Standing"], "challenged");

    // While the node does not answer, nobody knows what Alice has.
    world.stall_market();
    world.bind(alice);
    stage.go(&page, &format!("#/agents/{}", alice.mint));
    let balance = figures(&page)["Nano balance"].clone();
    assert_eq!(balance, ("unknown".to_owned(), "the Nano node was not asked yet".to_owned()));
    stage.go(&page, "#/network");
    assert_eq!(figures(&page)["Nano balance"].0, "unknown");
    world.wake_market();

    // The window passes, and nobody has shown what Bob left out.
    let batch = format!("#/agents/{}/batches/{}", bob.mint, world.epoch);
    stage.go(&page, &batch);
    assert_eq!(figures(&page)["Challenge window"].0, "open");
    world.net.travel_slots(CHALLENGE_WINDOW_SLOTS + 10);
    world.caught_up();
    page.reload();
    page.settled();
    let window = figures(&page)["Challenge window"].clone();
    assert!(window.0 == "over" && window.1.starts_with("ended "), "{window:?}");
    stage.go(&page, "#/batches");
    assert!(rows(&page, "#main").iter().all(|row| row["Window"].starts_with("over since")));
    alice.zx1.json(["challenge", "resolve", &world.challenge, "--yes"]);
    world.until_indexed(&format!("/v1/agents/{}", bob.mint), |it| it["agent"]["standing"] == "slashed");
    page.reload();
    page.settled();

    stage.go(&page, "#/agents");
    assert_eq!(rows(&page, "#main")[1]["Standing"], "slashed");
    // Beside its name, wherever that stands.
    for place in ["#/agents", "#/challenges", "#/batches", "#/feed"] {
        stage.go(&page, place);
        page.until(
            &format!("Bob is marked at {place}"),
            &format!("document.querySelector('#main [data-flag=\"{}\"]')?.innerText === 'slashed'", bob.mint),
        );
    }
    stage.go(&page, &format!("#/agents/{}", bob.mint));
    page.until_text("Do not rely on this agent: it was slashed");
    stage.go(&page, &format!("#/challenges/{}", world.challenge));
    page.until_text("of its stake were slashed");
    page.assert_clean("the story");
}

/// Searches as a reader does, with the shortcut.
#[track_caller]
fn search(page: &Page, text: &str, leads: &str) {
    page.eval("document.activeElement?.blur()");
    page.press("/");
    page.until("the field has the focus", "document.activeElement?.id === 'jump'");
    page.type_text(text);
    page.press("Enter");
    page.until(&format!("{text} leads to {leads}"), &format!("location.hash.startsWith('{leads}')"));
    page.settled();
}

#[test]
fn a_search_knows_signatures_addresses_slots_days_nano_accounts_blocks_and_ids_and_jumps() {
    let stage = Stage::start();
    let world = &stage.world;
    let alice = &world.agents[0];
    let nano = world.bind(alice);
    let paid = format!("/v1/contracts/{}", world.deals.fulfilled);
    world.until_indexed(&paid, |it| it["contract"]["earned_raw"].is_string());
    let payments = stage.world.indexed(&paid)["contract"]["payments"].clone();
    let hash = payments[0]["hash"].as_str().unwrap().to_owned();
    let slot = world.indexed(&format!("/v1/agents/{}", alice.mint))["agent"]["registered_slot"].to_string();
    let page = stage.page("");
    let agent = format!("#/agents/{}", alice.mint);
    let contract = format!("#/contracts/{}", world.deals.fulfilled);
    search(&page, &world.settled, &format!("#/events?signature={}", world.settled));
    page.until_text("Ask settled");
    search(&page, &alice.mint, &agent);
    search(&page, &world.challenge, &format!("#/challenges/{}", world.challenge));
    search(&page, &world.asks[0], &format!("#/asks/{}", world.asks[0]));
    search(&page, &slot, &format!("#/events?from_slot={slot}"));
    search(&page, &world.epoch.to_string(), &format!("#/batches?epoch={}", world.epoch));
    search(&page, &world.deals.fulfilled.to_uppercase(), &contract);
    search(&page, &hash, &contract);
    search(&page, "alice", &agent);
    // Several places: the reader chooses.
    search(&page, &nano, "#/search");
    page.until_text("is paid to this Nano account");
    search(&page, "no such thing at all", "#/search");
    page.until_text("Nothing was found.");
    page.assert_clean("the search");
}
