//! What happens while one looks: events arrive, timers run, and motion is only for those who want it.

use crate::support::{Stage, line};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use zx1_explorer_tests::{Page, Party};

/// The ids of the listed events, from the top.
fn ids(page: &Page) -> Vec<u64> {
    let found =
        page.eval("[...document.querySelectorAll('.events .event')].map((e) => Number(e.dataset.id))");
    found.as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect()
}

/// Waits until the feed tells this of an agent.
#[track_caller]
fn until_told(page: &Page, agent: &str, text: &str) {
    let (agent, text) = (Value::from(agent), Value::from(text));
    page.until(
        &format!("the feed tells of {agent}: {text}"),
        &format!(
            "[...document.querySelectorAll('.events .event')].some((e) => \
             e.querySelector('.event-who')?.innerText === {agent} && e.innerText.includes({text}))"
        ),
    );
}

#[test]
fn the_feed_tells_of_a_new_agent_while_one_looks_and_waits_while_it_is_paused() {
    let stage = Stage::start();
    let net = &stage.world.net;
    let feed = stage.page("#/feed");
    // A glance at the overview, in a window of its own.
    let overview = stage.page("");
    for page in [&feed, &overview] {
        until_told(page, "bob", "is challenged");
    }
    feed.until("it is live", "document.querySelector('.stream-state[data-state=live]') !== null");
    let before = ids(&feed);

    Party::register(net, 4, "erin", Some("30"));
    for page in [&feed, &overview] {
        until_told(page, "erin", "was registered");
        until_told(page, "erin", "paid its first lease");
    }
    let after = ids(&feed);
    assert!(after.windows(2).all(|pair| pair[0] > pair[1]), "newest first, none twice: {after:?}");
    assert!(after.ends_with(&before) && after.len() > before.len(), "{before:?} {after:?}");
    // What is heard counts from then on.
    stage.world.caught_up();
    stage.go(&overview, "#/agents");
    overview.until_text("erin");

    // Only those that are asked for, by the keyboard; the address says so.
    feed.tab_to("#type-challenge_submitted");
    feed.press(" ");
    feed.until("the address names the filter", "location.hash.includes('types=challenge_submitted')");
    let kinds = "[...document.querySelectorAll('.event-kind')].map((e) => e.innerText)";
    feed.until(
        "only challenges are listed",
        &format!("{kinds}.length > 0 && {kinds}.every((kind) => kind === 'Challenge')"),
    );
    feed.press(" ");
    feed.until("all are listed", &format!("{kinds}.length > 5"));

    // Paused: nothing moves under the reader, a button counts what waits, and going on shows it.
    feed.click(".live-bar button");
    feed.until("it says so", "document.querySelector('.live-bar').innerText.includes('Go on')");
    let still = ids(&feed);
    Party::register(net, 5, "frank", None);
    feed.until(
        "a button counts",
        "/^Show \\d+ new events?$/.test(document.querySelector('.fresh:not([hidden])')?.innerText)",
    );
    assert_eq!(ids(&feed), still);
    feed.click(".live-bar button");
    until_told(&feed, "frank", "was registered");
    for page in [&feed, &overview] {
        page.assert_clean("the feed");
    }
}

#[test]
fn timers_run_down_to_the_markets_deadline_and_nothing_else_moves_for_those_who_want_less_motion() {
    let stage = Stage::start();
    timers_run_down(&stage);
    nothing_moves_for_those_who_want_less_motion(&stage);
}

fn timers_run_down(stage: &Stage) {
    let id = &stage.world.deals.review;
    let market = stage.world.market_says(id);
    // Seconds with a fraction, as the market writes them.
    let deadline = (market["review_expires_at"].as_f64().unwrap() * 1_000.0).round();
    for place in [format!("#/contracts/{id}"), "#/contracts".to_owned()] {
        let page = stage.page(&place);
        let timer = format!("document.querySelector('#main .timer[data-deadline=\"{deadline}\"]')");
        page.until("the timer runs to the market's deadline", &format!("{timer} !== null"));
        let first = page.text(&format!("{timer}.innerText"));
        let shown = seconds(&first);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let left = (deadline - now as f64) / 1_000.0;
        // A busy machine may be seconds late.
        assert!((left - shown).abs() < 10.0, "{first}, and {left} s are left");
        // It ticks downwards, and is silent for those who listen.
        let second =
            page.until("it ticks", &format!("{timer}.innerText !== {} && {timer}.innerText", json!(first)));
        assert!(seconds(&line(&second)) < shown, "{first}, then {second}");
        assert_eq!(page.eval(&format!("{timer}.getAttribute('aria-live')")), "off");
        page.assert_clean("timers");
    }
    // Of a contract that waits for an agent: from its opening on, for the market's open window.
    let open = &stage.world.deals.open;
    let (opened, window) = stage.world.opened(open);
    let page = stage.page(&format!("#/contracts/{open}"));
    let timer = format!("document.querySelector('#main .timer[data-deadline=\"{}\"]')", opened + window);
    page.until("the open contract's timer runs to the market's deadline", &format!("{timer} !== null"));
    page.until_text("until the state’s deadline");
    // A contract that has ended has none.
    let page = stage.page(&format!("#/contracts/{}", stage.world.deals.fulfilled));
    page.until_text("the contract has ended");
    assert_eq!(page.eval("document.querySelectorAll('#main .timer').length"), 0);
}

/// "1:59:58 left" in seconds.
fn seconds(text: &str) -> f64 {
    let clock = text.strip_suffix(" left").unwrap_or_else(|| panic!("no timer: '{text}'"));
    clock.split(':').fold(0.0, |sum, part| sum * 60.0 + part.parse::<f64>().unwrap())
}

/// How much of a page moves by itself: what has an animation or a transition.
fn moving(page: &Page) -> u64 {
    let count = page.eval(
        "[...document.querySelectorAll('body, body *')].filter((e) => { const s = getComputedStyle(e); \
         return s.animationName !== 'none' \
         || s.transitionDuration.split(',').some((d) => parseFloat(d) > 0); })\
         .length",
    );
    count.as_u64().unwrap()
}

fn nothing_moves_for_those_who_want_less_motion(stage: &Stage) {
    let page = stage.page("#/agents");
    // Without that preference something moves, or this would prove nothing.
    assert!(moving(&page) > 0);
    page.prefers(&[("prefers-reduced-motion", "reduce")]);
    assert_eq!(moving(&page), 0);
    // Also while something is under way: the server does not answer.
    stage.world.stall_indexer();
    page.eval("void (location.hash = '#/challenges')");
    page.until("it is under way", "document.querySelector('#main .skeleton') !== null");
    assert_eq!((moving(&page), page.eval("document.getAnimations().length")), (0, json!(0)));
    page.prefers(&[]);
    page.until("grey lines breathe", "document.getAnimations().length > 0");
    stage.world.wake_indexer();
    page.settled();
    page.until_text("bob");
}
