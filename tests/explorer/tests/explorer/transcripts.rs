//! The browser checks transcripts: a real one of the real market is valid, one that was touched is not.

use crate::support::Stage;
use serde_json::Value;
use zx1_explorer_tests::{HOSTILE, Page};

fn verdict(page: &Page) -> String {
    page.text("document.querySelector('#main .verdict .standing-word').innerText")
}

/// Waits for the verdict about the file of this name.
#[track_caller]
fn until_verdict(page: &Page, file: &str, text: &str) {
    page.until_text(file);
    let text = Value::from(text);
    page.until(
        &format!("the verdict is {text}"),
        &format!("document.querySelector('#main .verdict .standing-word')?.innerText === {text}"),
    );
}

#[test]
fn a_real_transcript_is_valid_and_a_tampered_one_names_its_broken_entry() {
    let stage = Stage::start();
    let deals = &stage.world.deals;
    let shown = stage.world.principal.show(&deals.fulfilled);
    let entries = shown["total"].as_u64().unwrap();
    assert_eq!(shown["valid"], true);
    let valid = format!("Valid: all {entries} entries hold");

    // On the contract's own page.
    let page = stage.page(&format!("#/contracts/{}", deals.fulfilled));
    page.until_text(&valid);
    page.until_text(shown["chain_head"].as_str().unwrap());
    assert_eq!(page.eval("document.querySelectorAll('#main .chain-entry[data-good=\"1\"]').length"), entries);
    for party in ["principal", "agent", "server"] {
        page.until_text(shown[party].as_str().unwrap());
    }
    page.until("it is said", &format!("document.getElementById('said').innerText.includes('{valid}')"));

    // The file that the principal keeps, chosen by hand.
    stage.go(&page, "#/verify");
    page.choose_file("#file", &deals.transcript);
    let name = deals.transcript.file_name().unwrap().to_str().unwrap();
    until_verdict(&page, name, &valid);

    // One letter of the agent's fix is another one: dropped on the page.
    let bytes = std::fs::read_to_string(&deals.transcript).unwrap();
    let kept: Value = serde_json::from_str(&bytes).unwrap();
    let list = kept["transcript"].as_array().unwrap_or_else(|| panic!("{kept}"));
    let broken = list.iter().position(|entry| entry["data"].to_string().contains(" -lm\"")).unwrap();
    assert!(broken > 0 && bytes.matches(" -lm\"").count() == 1, "{bytes}");
    let tampered = stage.world.file("tampered.json");
    std::fs::write(&tampered, bytes.replace(" -lm\"", " -ln\"")).unwrap();
    page.drop_file(640.0, 500.0, &tampered);
    until_verdict(&page, "tampered.json", &format!("Not valid from entry {broken} on"));
    let found =
        page.eval("[...document.querySelectorAll('#main .chain-entry')].map((e) => e.dataset.good === '1')");
    let first_bad = found.as_array().unwrap().iter().position(|good| good == false);
    assert_eq!(first_bad, Some(broken), "{found}");
    let text = page.text(&format!("document.querySelectorAll('#main .chain-entry')[{broken}].innerText"));
    assert!(text.contains("invalid") && text.contains("-ln"), "{text}");
    page.until("it is said", "document.getElementById('said').innerText.includes('Not valid from entry')");
    // `fix verify` has the same verdict.
    let checked = stage.world.principal.run(&["verify", tampered.to_str().unwrap()]);
    assert_ne!(checked.code, 0, "{checked}");
    assert_eq!(checked.json()["entries"], broken, "{checked}");

    // An entry is missing; nothing is a transcript that is none.
    let mut shorter = kept.clone();
    shorter["transcript"].as_array_mut().unwrap().remove(1);
    let gap = stage.world.file("gap.json");
    std::fs::write(&gap, shorter.to_string()).unwrap();
    page.drop_file(640.0, 500.0, &gap);
    until_verdict(&page, "gap.json", "Not valid from entry 1 on");
    let checks = page.text("document.querySelector('#main .verdict').innerText");
    let all = format!("{0} of {0}", entries - 1);
    assert!(checks.contains("hang on the one before"), "{checks}");
    assert!(!checks.contains(&format!("{all} entries hang")), "{checks}");
    assert!(checks.contains(&format!("{all} signatures hold")), "each entry is still its author's: {checks}");
    let junk = stage.world.file("junk.json");
    std::fs::write(&junk, format!("{{\"transcript\": \"{HOSTILE}\"}}")).unwrap();
    page.choose_file("#file", &junk);
    until_verdict(&page, "junk.json", "This is not a transcript");

    // By its id, by the keyboard alone; an invalid id is reported beside the field.
    page.tab_to("#contract-id");
    page.type_text("nonsense");
    page.press("Enter");
    page.until_text("16 lower-case hexadecimal digits");
    assert_eq!(page.eval("document.activeElement.getAttribute('aria-invalid')"), "true");
    for _ in 0.."nonsense".len() {
        page.press("Backspace");
    }
    page.type_text(&deals.fulfilled);
    page.press("Enter");
    until_verdict(&page, &deals.fulfilled, &valid);
    assert_eq!(verdict(&page), valid);
    page.assert_clean("transcripts");
}

#[test]
fn hostile_names_commands_and_texts_stay_text_on_every_page_that_shows_them() {
    let stage = Stage::start();
    let world = &stage.world;
    let page = stage.page("");
    for (place, part) in [
        ("#/".to_owned(), ".events"),
        ("#/agents".to_owned(), "tbody"),
        (format!("#/agents/{}", world.agents[2].mint), "h1"),
        ("#/contracts".to_owned(), "tbody"),
        (format!("#/contracts/{}", world.deals.open), ".chain"),
        ("#/feedback".to_owned(), ".entries"),
        ("#/feed".to_owned(), ".events"),
    ] {
        stage.go(&page, &place);
        let hostile = Value::from(HOSTILE);
        page.until(
            &format!("{place} shows it as text"),
            &format!(
                "(() => {{ const part = document.querySelector('#main {part}'); if (!part) return false; \
                 const walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT); \
                 while (walk.nextNode()) if (walk.currentNode.data.includes({hostile})) return true; \
                 return false; }})()"
            ),
        );
        assert_eq!(page.eval("document.querySelectorAll('img, iframe, [onerror]').length"), 0, "{place}");
    }
    // Addresses that somebody sends: what they hold is a filter, an id or nothing, never markup.
    for place in [
        "#/agents?query=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "#/agents/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "#/contracts/..%2F..%2Fv1%2Fstatus",
        "#/agents?sort=%00&order=javascript:alert(1)",
        "#/%3Cscript%3Ealert(1)%3C/script%3E",
    ] {
        page.eval(&format!("void (location.hash = {})", Value::from(place)));
        page.eval("new Promise((done) => setTimeout(done))");
        page.settled();
        assert_eq!(page.eval("document.querySelectorAll('img, iframe, main script').length"), 0, "{place}");
    }
    // The server refuses some of them, which the console notes; nothing of them ran.
    let ran: Vec<String> = page.problems().into_iter().filter(|one| !one.contains("40")).collect();
    assert!(ran.is_empty(), "{ran:?}");
}
