//! Finding one's way by the keyboard alone, and by the mouse.

use crate::support::{Stage, rows};
use zx1_explorer_tests::Page;

fn names(page: &Page) -> Vec<String> {
    let row = |row: &std::collections::BTreeMap<String, String>| {
        row["Agent"].rsplit_once(" #").expect("a name and a number").0.to_owned()
    };
    rows(page, "#main").iter().map(row).collect()
}

/// Waits until the table's rows are these agents.
#[track_caller]
fn until_names(page: &Page, wanted: &[&str]) {
    let list = serde_json::Value::from(wanted.to_vec());
    page.until(
        &format!("the agents are {wanted:?}"),
        &format!(
            "!document.querySelector('#main [aria-busy]') && JSON.stringify([...document.querySelectorAll(\
             '#main tbody .agent-name')].map((e) => e.innerText)) === JSON.stringify({list})"
        ),
    );
}

#[track_caller]
fn has_focus(page: &Page, selector: &str) {
    let wanted = serde_json::Value::from(selector);
    page.until(
        &format!("{selector} has the focus"),
        &format!("document.activeElement?.matches({wanted}) ?? false"),
    );
}

#[test]
fn the_keyboard_alone_skips_searches_sorts_filters_turns_pages_and_opens_an_agent() {
    let stage = Stage::start();
    let hostile = zx1_explorer_tests::HOSTILE;
    let page = stage.page("#/agents?limit=2");
    until_names(&page, &["alice", "bob"]);

    // The first stop is the link past the navigation.
    page.press("Tab");
    assert_eq!(page.focused(), "Skip to the content");
    let seen = page.eval("document.activeElement.getBoundingClientRect().top >= 0");
    assert_eq!(seen, true, "whoever stands on it sees it");
    page.press("Enter");
    has_focus(&page, "main");
    assert_eq!(page.eval("location.hash"), "#/agents?limit=2", "the address stays");

    // Searching keeps the focus in the field.
    page.tab_to("#filter-query");
    page.type_text("DORA");
    until_names(&page, &["dora"]);
    has_focus(&page, "#filter-query");
    for _ in 0..4 {
        page.press("Backspace");
    }
    until_names(&page, &["alice", "bob"]);
    has_focus(&page, "#filter-query");

    // A choice by the arrow keys: of those without a stake there is one.
    page.tab_to("#filter-staked");
    page.press("ArrowDown");
    page.press("ArrowDown");
    until_names(&page, &["dora"]);
    has_focus(&page, "#filter-staked");
    page.press("Home");
    until_names(&page, &["alice", "bob"]);

    // Sorting: the head of the column keeps the focus, and says the order.
    page.tab_to("[data-keep='sort-stake']");
    page.press("Enter");
    until_names(&page, &["alice", hostile]);
    has_focus(&page, "[data-keep='sort-stake']");
    assert_eq!(page.eval("document.querySelector('[aria-sort]').getAttribute('aria-sort')"), "descending");
    page.press("Enter");
    // Who has none comes first, or last; either way the order of the others is turned around.
    page.until(
        "the order is turned",
        "document.querySelector('[aria-sort]').getAttribute('aria-sort') === 'ascending' \
         && !document.querySelector('#main [aria-busy]')",
    );
    has_focus(&page, "[data-keep='sort-stake']");
    let turned = names(&page);
    assert!(!turned.contains(&"alice".to_owned()), "{turned:?}");

    // Pages: the focus stays where one turns them, and no agent is shown twice or never.
    page.open(&stage.at("#/agents?limit=2"));
    page.reload();
    page.settled();
    until_names(&page, &["alice", "bob"]);
    page.tab_to(".pager a");
    assert_eq!(page.focused(), "Next page");
    page.press("Enter");
    until_names(&page, &[hostile, "dora"]);
    has_focus(&page, ".pager a");
    assert_eq!(page.focused(), "First page", "there is no further one");
    page.press("Enter");
    until_names(&page, &["alice", "bob"]);
    has_focus(&page, ".pager a");

    // Opening an agent: the heading of the new page has the focus, and Back leads back.
    page.press_shift("Tab");
    page.tab_to("a[href^='#/agents/']");
    page.press("Enter");
    page.settled();
    has_focus(&page, "h1");
    page.until_text("agent #");
    page.eval("history.back()");
    until_names(&page, &["alice", "bob"]);
    page.assert_clean("the keyboard's way");
    every_stop_is_seen_and_none_is_a_trap(&stage);
}

/// Tab reaches everything and leaves everything, and one always sees where one is.
fn every_stop_is_seen_and_none_is_a_trap(stage: &Stage) {
    for place in ["#/agents", "#/feed", "#/verify"] {
        let page = stage.page(place);
        page.until("the fonts are there", "document.fonts.status === 'loaded'");
        let mut stops = Vec::new();
        loop {
            page.press("Tab");
            let stop = page.text(
                "(() => { const e = document.activeElement; if (!e || e === document.body) return ''; \
                 const label = e.labels?.[0]; \
                 const shows = [e, e.parentElement, label].some((it) => { if (!it) return false; \
                 const s = getComputedStyle(it); \
                 return (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) \
                 || s.boxShadow !== 'none'; }); \
                 return (shows ? 'seen ' : 'UNSEEN ') \
                 + (e.id || e.getAttribute('aria-label') || e.innerText); })()",
            );
            if stop.is_empty() || stops.len() > 150 {
                break;
            }
            assert!(stop.starts_with("seen "), "{place}: {stop} after {stops:?}");
            stops.push(stop);
        }
        let reach = |name: &str| stops.iter().any(|stop| stop.contains(name));
        assert!((10..150).contains(&stops.len()), "{place}: {stops:?}");
        assert!(reach("Skip to") && reach("jump") && reach("API"), "{place}: {stops:?}");
    }
}

#[test]
fn the_mouse_sorts_turns_pages_and_follows_links() {
    let stage = Stage::start();
    let page = stage.page("");
    page.click("nav a[href='#/agents']");
    until_names(&page, &["alice", "bob", zx1_explorer_tests::HOSTILE, "dora"]);
    page.click("[data-keep='sort-name']");
    // The address changes before the page hears of it, so the rows are what is waited for.
    page.until(
        "names are in order",
        "location.hash.includes('sort=name') && (() => {
             const names = [...document.querySelectorAll('#main tbody .agent-name')].map((e) => e.innerText);
             const shown = names.join();
             names.sort();
             return names.length === 4 && [names.join(), names.reverse().join()].includes(shown);
         })()",
    );
    page.settled();
    let mut sorted = names(&page);
    sorted.sort_unstable();
    let shown = names(&page);
    let turned: Vec<String> = sorted.iter().rev().cloned().collect();
    assert!(shown == sorted || shown == turned, "{shown:?}");
    page.click("[data-keep='sort-name']");
    until_names(&page, &shown.iter().rev().map(String::as_str).collect::<Vec<_>>());

    // Through all the pages, one agent on each.
    stage.go(&page, "#/agents?limit=1");
    let mut met = names(&page);
    while page.eval("document.querySelector('.pager').innerText.includes('Next page')") == true {
        page.click(".pager a:last-child");
        let last = serde_json::Value::from(met.last().unwrap().as_str());
        page.until(
            "the next agent is there",
            &format!(
                "!document.querySelector('#main [aria-busy]') \
                 && document.querySelector('#main tbody .agent-name').innerText !== {last}"
            ),
        );
        met.append(&mut names(&page));
    }
    assert_eq!(met, ["alice", "bob", zx1_explorer_tests::HOSTILE, "dora"]);
    page.click(".pager a");
    until_names(&page, &["alice"]);

    // From an agent to its batch to the proof of a record, and out of it.
    page.click("#main tbody a[href^='#/agents/']");
    page.until_text("agent #1");
    // What is drawn later moves what is below it.
    page.settled();
    page.click("[aria-labelledby='batches'] tbody a");
    page.until_text("Batch of");
    page.settled();
    page.click("#main td[data-label='Proof'] button");
    page.until("the proof is open", "document.querySelector('dialog[open]') !== null");
    page.until_text("Records");
    page.press("Escape");
    page.until("the proof is closed", "document.querySelector('dialog[open]') === null");
    has_focus(&page, "#main td[data-label='Proof'] button");

    // The field at the top finds a contract by its id.
    page.click("#jump");
    page.type_text(&stage.world.deals.fulfilled);
    page.press("Enter");
    page.until_text("Valid: all");
    page.assert_clean("the mouse's way");
}
