//! Every page: nothing goes wrong in it, everything in it has a name, it fits on a phone, in light and dark.

use crate::support::Stage;
use serde_json::Value;
use std::path::PathBuf;
use zx1_explorer_tests::{Page, Seen};

/// A folder for pictures of the main pages, if set.
const SCREENSHOTS: &str = "ZX1_SCREENSHOTS";

/// Roles that one can act on.
const INTERACTIVE: [&str; 16] = [
    "link",
    "button",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "switch",
    "slider",
    "spinbutton",
    "tab",
    "menuitem",
    "option",
    "DisclosureTriangle",
    "listbox",
    "progressbar",
];

/// Name for its picture, and place.
fn places(stage: &Stage) -> Vec<(&'static str, String)> {
    let world = &stage.world;
    let alice = format!("#/agents/{}", world.agents[0].mint);
    vec![
        ("overview", String::new()),
        ("network", "#/network".into()),
        ("search", "#/search?q=e".into()),
        ("agents", "#/agents".into()),
        ("agent", alice.clone()),
        ("challenged-agent", format!("#/agents/{}", world.agents[1].mint)),
        ("hostile-agent", format!("#/agents/{}", world.agents[2].mint)),
        ("batch", format!("{alice}/batches/{}", world.epoch)),
        ("withheld-batch", format!("{alice}/batches/{}", world.epoch - 1)),
        ("batches", "#/batches".into()),
        ("challenges", "#/challenges".into()),
        ("challenge", format!("#/challenges/{}", world.challenge)),
        ("asks", "#/asks".into()),
        ("ask", format!("#/asks/{}", world.asks[1])),
        ("settled-ask", format!("#/asks/{}", world.asks[0])),
        ("contracts", "#/contracts".into()),
        ("contract", format!("#/contracts/{}", world.deals.fulfilled)),
        ("contract-in-review", format!("#/contracts/{}", world.deals.review)),
        ("contract-open", format!("#/contracts/{}", world.deals.open)),
        ("verify", "#/verify".into()),
        ("feed", "#/feed".into()),
        ("events", "#/events".into()),
        ("feedback", "#/feedback".into()),
        ("status", "#/status".into()),
        ("missing", "#/no/such/page".into()),
    ]
}

#[test]
fn every_page_is_clean_has_names_and_fits_in_light_and_dark_and_on_a_phone() {
    let stage = Stage::start();
    let pictures = std::env::var_os(SCREENSHOTS).map(PathBuf::from);
    let page = stage.page("");
    let mut grounds = Vec::new();
    for (width, height) in [(1440, 900), (768, 1024), (360, 740)] {
        page.size(width, height);
        for scheme in ["light", "dark"] {
            page.prefers(&[("prefers-color-scheme", scheme)]);
            for (name, place) in places(&stage) {
                let place = if place.is_empty() { "#/" } else { &place };
                stage.go(&page, place);
                drawn(&page, name);
                complete(&page, name);
                page.mouse_away();
                fits(&page, width, name);
                page.assert_clean(name);
                page.axe(&format!("{name} at {width}, {scheme}"));
                // Colours and width change no names.
                if scheme == "light" {
                    accessible(&page, name);
                }
                if name == "overview" {
                    grounds.push(ground(&page));
                }
                if let Some(folder) = &pictures {
                    std::fs::create_dir_all(folder).unwrap();
                    std::fs::write(folder.join(format!("{name}-{width}-{scheme}.png")), page.picture())
                        .unwrap();
                }
            }
        }
    }
    assert!(grounds[0] > 0.8 && grounds[1] < 0.1, "light and dark: {grounds:?}");
    // Whoever chooses colours gets them, whatever the system's are, also after the page is loaded anew.
    page.size(1440, 900);
    assert!(ground(&page) < 0.1);
    page.click(".icon-button");
    page.until("the page is light", "document.documentElement.dataset.theme === 'light'");
    assert!(ground(&page) > 0.8);
    page.reload();
    page.settled();
    assert!(ground(&page) > 0.8);
    page.assert_clean("the choice of colours");
}

/// Waits for what comes after the page's own answer: verdicts and the stream.
fn drawn(page: &Page, name: &str) {
    match name {
        "contract" | "contract-open" => {
            page.until_text("Valid: all");
        }
        "contract-in-review" => page.until_text("The transcript is not public"),
        "feed" | "overview" => {
            page.until("events are listed", "document.querySelector('.events .event') !== null");
        }
        _ => {}
    }
    page.settled();
}

/// The sections of what a page is about are there, with rows where this world has some.
#[track_caller]
fn complete(page: &Page, name: &str) {
    let sections: &[&str] = match name {
        "agent" => &["tenures", "keys", "stakes", "batches", "asks"],
        "challenged-agent" => &["tenures", "keys", "stakes", "batches", "challenges"],
        "hostile-agent" => &["tenures", "keys", "stakes"],
        "batch" | "withheld-batch" => &["records", "asks"],
        "ask" | "settled-ask" | "challenge" => &["details"],
        _ => &[],
    };
    for section in sections {
        let filled = "tbody tr, dl > div";
        let drawn = format!(
            "[...document.querySelectorAll('#main [aria-labelledby={section}] :is({filled})')]\
             .some((row) => row.getBoundingClientRect().height > 0)"
        );
        assert_eq!(page.eval(&drawn), true, "{name}: nothing under {section}");
    }
}

/// How bright the page's ground is, 0 to 1, and that its text stands out from it.
fn ground(page: &Page) -> f64 {
    let colours = page.eval(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]\
         .map((text) => { const c = document.createElement('canvas').getContext('2d'); c.fillStyle = text; \
         c.fillRect(0, 0, 1, 1); \
         const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; \
         const [r, g, b] = c.getImageData(0, 0, 1, 1).data; \
         return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); })",
    );
    let [ground, text] = [0, 1].map(|at| colours[at].as_f64().unwrap());
    let contrast = (ground.max(text) + 0.05) / (ground.min(text) + 0.05);
    assert!(contrast > 7.0, "text has a contrast of {contrast}");
    ground
}

/// Nothing stands out of the window to the side.
#[track_caller]
fn fits(page: &Page, width: u32, name: &str) {
    let found = page.eval(
        "(() => { const wide = document.scrollingElement.scrollWidth; \
         if (wide <= innerWidth) return [wide, []]; \
         return [wide, [...document.querySelectorAll('body *')].filter((e) => \
         e.getBoundingClientRect().right > innerWidth + 1) \
         .map((e) => e.tagName + '.' + e.className).slice(0, 8)]; })()",
    );
    assert_eq!(found[1], Value::Array(Vec::new()), "{name} at {width} is {} wide", found[0]);
    assert_eq!(page.eval("innerWidth"), width, "{name} shrinks the page");
    // Nor out of a cell into the next one.
    let over = page.eval(
        "[...document.querySelectorAll('#main tbody :is(td, th)')].flatMap((cell) => \
         [...cell.querySelectorAll('a, button, span, time, bdi')].filter((e) => e.getClientRects().length \
         && getComputedStyle(e).position !== 'absolute' \
         && e.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1) \
         .map((e) => `${cell.dataset.label}: ${e.innerText}`)).slice(0, 8)",
    );
    assert_eq!(over, Value::Array(Vec::new()), "{name} at {width}: texts run into each other");
}

/// What a screen reader needs.
#[track_caller]
fn accessible(page: &Page, name: &str) {
    let tree = page.accessibility();
    let of = |role: &str| tree.iter().filter(|node| node.role == role).collect::<Vec<_>>();
    for node in &tree {
        let acts = INTERACTIVE.contains(&node.role.as_str());
        assert!(!acts || !node.name.trim().is_empty(), "{name}: no name: {node:?}");
        let shown = ["image", "img", "table", "region", "figure", "dialog"].contains(&node.role.as_str());
        assert!(!shown || !node.name.trim().is_empty(), "{name}: no name: {node:?}");
    }
    assert!(tree.iter().any(|node| node.role == "link" && node.focusable), "{name}: nothing to act on");
    for (role, least, most) in [("main", 1, 1), ("banner", 1, 1), ("contentinfo", 1, 1), ("navigation", 1, 9)]
    {
        let count = of(role).len();
        assert!((least..=most).contains(&count), "{name}: {count} of {role}");
    }
    let navigations: Vec<&str> = of("navigation").iter().map(|node| node.name.as_str()).collect();
    let mut different = navigations.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), navigations.len(), "{name}: navigations of one name: {navigations:?}");
    // One first heading, and no level is left out on the way down.
    let headings = of("heading");
    let levels: Vec<u64> = headings.iter().map(|node| node.level).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{name}: {headings:?}");
    assert_eq!(levels.first(), Some(&1), "{name}: {headings:?}");
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{name}: {headings:?}");
    let live: Vec<&Seen> = tree.iter().filter(|node| node.live == "polite").collect();
    assert!(live.iter().any(|node| node.role == "status"), "{name}: no live region: {live:?}");
    // The document's own name tells pages apart.
    let title = &tree[0].name;
    assert!(title.ends_with("zx1 explorer"), "{name}: {title}");
    assert!((name == "overview") == (title == "zx1 explorer"), "{name}: {title}");
}
