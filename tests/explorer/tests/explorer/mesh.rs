//! The mesh as one node sees it that only observes, and what is made of the ratings that it hears.

use crate::support::{cells, figures, rows, score, short};
use std::collections::BTreeMap;
use zx1_e2e::{Owner, wait_until};
use zx1_explorer_tests::{Browser, Mesh, Page};

#[test]
fn the_mesh_is_shown_without_addresses_and_ratings_that_were_heard_stand_apart_from_batches() {
    let browser = Browser::start();
    let mesh = Mesh::start();
    let page = Page::new(&browser);
    page.open(&format!("{}/#/mesh", mesh.url));
    page.settled();
    for agent in &mesh.agents {
        let advert = ["advertise", "translate", "--unit", "XNO", "--price", "5", "--ttl", "1h"];
        let advert = agent.send(&advert);
        agent.wait_for(advert, "sent");
    }
    who_and_how_much(&mesh, &page);

    mesh.deal("-40");
    vectors(&mesh, &page, (0, 0), (1, -40_000));
    mesh.next_day();
    vectors(&mesh, &page, (1, -40_000), (1, -40_000));
    // The next rating is heard, and in no batch yet.
    mesh.deal("100");
    vectors(&mesh, &page, (1, -40_000), (2, 30_000));
    page.assert_clean("the mesh");
}

/// The page's peers, topics and rates.
fn who_and_how_much(mesh: &Mesh, page: &Page) {
    let peers = wait_until("both agents are named", || {
        let peers = rows(page, "[aria-labelledby='peers']");
        // By its name where a BEACON said it to this node.
        let is_shown = |agent: &Owner| {
            let shown = |row: &BTreeMap<String, String>| row["Agent"].contains(&short(&agent.mint));
            peers.iter().any(shown)
        };
        mesh.agents.iter().all(is_shown).then_some(peers)
    });
    assert_eq!(peers.len(), 2, "{peers:?}");
    assert!(peers.iter().all(|row| row["Topics"] == "3" && row["Program"].starts_with("zx1/")), "{peers:?}");
    let topics = wait_until("the adverts are counted", || {
        let topics = rows(page, "[aria-labelledby='topics']");
        let broadcast = topics.iter().find(|row| row["Topic"] == "/0x01/v1/broadcast")?;
        let counted = |column: &str| broadcast[column].parse::<u64>().is_ok_and(|count| count >= 2);
        (counted("Last minute") && counted("Since the start")).then_some(topics)
    });
    assert_eq!(topics.len(), 3, "{topics:?}");
    assert!(topics.iter().all(|row| row["Peers in its mesh"] == "2"), "{topics:?}");
    let found = figures(page);
    assert_eq!((&*found["Peers"].0, &*found["Agents heard"].0), ("2", "2"));
    assert_eq!(found["Observing node"].0, "answers");
    page.until_text("advertises what it does");
    for text in [page.shown(), mesh.indexed("/v1/mesh").to_string()] {
        assert!(!text.contains("127.0.0.1") && !text.contains("/ip4"), "{text}");
    }
}

/// Tasks and reliability of Bob, by batches and in real time, as the indexer and the page have them.
fn vectors(mesh: &Mesh, page: &Page, batch: (u64, i64), real_time: (u64, i64)) {
    let mint = &mesh.agents[1].mint;
    mesh.until_indexed(&format!("/v1/agents/{mint}"), |it| {
        let found = &it["agent"]["reputation_detail"];
        let is = |name: &str, (tasks, reliability): (u64, i64)| {
            found[name]["tasks"] == tasks && found[name]["reliability"] == reliability
        };
        is("batch", batch) && is("real_time", real_time)
    });
    page.eval(&format!("void (location.hash = '#/agents/{mint}')"));
    page.reload();
    page.settled();
    let table = cells(page, "[aria-labelledby='reputation']");
    for (row, of_batch, heard) in [
        ("Reliability", score(batch.1), score(real_time.1)),
        ("Tasks", batch.0.to_string(), real_time.0.to_string()),
    ] {
        let found = table.iter().find(|cells| cells[0] == row).unwrap_or_else(|| panic!("{table:?}"));
        assert_eq!((&found[1], &found[2]), (&of_batch, &heard), "{row}");
    }
}
