//! The server or the network is away: the page says so, shows what it has, and comes back by itself.

use crate::support::{Stage, figures, rows};

/// The word for the service at the top of every page.
const WORD: &str = "document.querySelector('.link-state .word').innerText";

#[test]
fn a_lost_network_and_a_silent_server_are_told_and_the_page_recovers_with_them() {
    let stage = Stage::start();
    without_a_network_the_page_says_so_at_once(&stage);
    a_server_that_does_not_answer_is_told(&stage);
}

fn a_server_that_does_not_answer_is_told(stage: &Stage) {
    let open = stage.page("");
    let known = figures(&open);
    assert_eq!(open.text(WORD), "live");
    let other = stage.page("#/status");
    stage.world.stall_indexer();
    // A page that is opened now waits in grey, and then says what to do.
    other.eval("void (location.hash = '#/agents')");
    other.until("it is under way", "document.querySelector('#main [aria-busy] .skeleton') !== null");
    other.until(
        "it gives up",
        "document.querySelector('#main [role=alert]')?.innerText\
         .includes('did not answer within 20 seconds')",
    );
    // One that was open keeps what it has, and says how old it is.
    open.until(
        "the banner tells",
        "document.getElementById('banner').innerText.includes('cannot be reached')",
    );
    assert_eq!(open.text(WORD), "offline");
    assert!(open.text("document.getElementById('banner').innerText").contains("What you see is"));
    open.until("it is said", "document.getElementById('said').innerText.includes('cannot be reached')");
    assert_eq!(figures(&open)["Agents"], known["Agents"]);

    stage.world.wake_indexer();
    other.tab_to("#main [role=alert] button");
    other.press("Enter");
    other.settled();
    assert_eq!(rows(&other, "#main").len(), 4);
    open.until("the page is live again", &format!("{WORD} === 'live'"));
    open.until("the banner is gone", "document.getElementById('banner').innerText === ''");
    open.until("it is said", "document.getElementById('said').innerText.includes('up to date again')");
    // What failed was noted as failed; nothing else went wrong.
    for page in [&open, &other] {
        let problems = page.problems();
        let other_than_calls = problems.iter().find(|one| !one.contains("ERR_"));
        assert_eq!(other_than_calls, None, "{problems:?}");
    }
}

fn without_a_network_the_page_says_so_at_once(stage: &Stage) {
    let page = stage.page("#/agents");
    page.offline(true);
    page.click("nav a[href='#/feedback']");
    page.until(
        "it tells",
        "document.querySelector('#main [role=alert]')?.innerText.includes('The indexer cannot be reached')",
    );
    assert_eq!(page.eval("document.querySelector('#main h1').innerText"), "Feedback log");
    // What was seen before is shown again, though it cannot be asked for.
    page.click("nav a[href='#/agents']");
    page.until_text("alice");
    page.until("it tells that this is old", "document.querySelector('#main [role=alert]') !== null");
    page.until_text("alice");
    page.click("nav a[href='#/feedback']");
    page.until("the page is another one", "document.querySelector('#main h1').innerText === 'Feedback log'");
    page.until("it tells", "document.querySelector('#main [role=alert]') !== null");
    page.offline(false);
    page.click("#main [role=alert] button");
    page.until_text("The explorer is slow on my old phone.");
    // The focus stays near what was pressed.
    assert_ne!(page.eval("document.activeElement === document.body"), true);
    page.until("nothing is wrong any more", "document.querySelector('#main [role=alert]') === null");
}

#[test]
fn after_a_crash_of_the_server_the_feed_goes_on_where_it_stopped() {
    let mut stage = Stage::start();
    let page = stage.page("#/feed");
    let live = "document.querySelector('.stream-state').dataset.state";
    page.until("it is live", &format!("{live} === 'live'"));
    page.until("events are there", "document.querySelectorAll('.events .event').length > 5");
    let last = page.eval("Number(document.querySelector('.events .event').dataset.id)");
    stage.world.kill_indexer();
    page.until("the loss is shown", &format!("{live} === 'broken'"));
    page.until_text("Connection lost");
    // What happens while nobody listens is there afterwards, once.
    let erin = zx1_explorer_tests::Party::register(&stage.world.net, 4, "erin", None);
    stage.world.restart_indexer();
    page.until("it is live again", &format!("{live} === 'live'"));
    let told = format!("document.querySelectorAll('.events .event-who[href$=\"{}\"]').length", erin.mint);
    page.until("it tells of the new agent", &told);
    assert_eq!(page.eval(&told), 1);
    // It asked for what it had not heard, and nothing is there twice.
    let resumed = page.asked().into_iter().rfind(|url| url.contains("/v1/stream")).unwrap();
    assert!(resumed.contains(&format!("?last_event_id={last}&")), "{resumed}");
    let ids = "[...document.querySelectorAll('.events .event')].map((e) => Number(e.dataset.id))";
    let ordered = format!("{ids}.every((id, at, all) => at === 0 || id < all[at - 1])");
    assert_eq!(page.eval(&ordered), true, "{}", page.eval(ids));
}
