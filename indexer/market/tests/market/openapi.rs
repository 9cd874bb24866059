//! The committed description of the interface is the one that the code gives. That answers are as it says is
//! checked in [`crate::support::Client`].

use serde_json::Value;
use zx1_market::wire::ACTIONS;
use zx1_market_server::http::openapi;

use crate::support::{DESCRIPTION, Market};

#[test]
fn the_committed_description_is_the_codes_own() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == openapi::text(),
        "write it anew: cargo run -p zx1-market-server -- --print-openapi > indexer/market/openapi.json"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_the_description_is_served_and_nothing_else() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let mut pages = 0;
    for (method, path) in DESCRIPTION.operations() {
        // A stream has no end.
        if path == "/contracts/stream" {
            continue;
        }
        let path = path.replace("{id}", &id.to_string()).replace("{pubkey}", &m.agent.id().hex());
        let key = if path.starts_with("/judge") { &m.judge } else { &m.principal };
        let got = m.client.send(&method.to_uppercase(), &path, b"{}".to_vec(), Some(key)).await;
        assert!(
            got.status != 405 && got.body["code"] != 9402 && got.status < 500,
            "{method} {path}: {got:?}"
        );
        pages += 1;
    }
    assert!(pages > 35, "{pages}");
    let got =
        m.client.send("POST", &format!("/contracts/{id}/nonsense"), b"{}".to_vec(), Some(&m.principal)).await;
    got.refused(404, 9402);
}

#[test]
fn every_action_is_described_with_its_summary() {
    for action in ACTIONS {
        let operation = DESCRIPTION.operation(action.method().as_str(), action.path()).unwrap();
        assert_eq!(operation["summary"], action.summary(), "{action:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_not_as_described_is_found() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let path = format!("/contracts/{id}");
    let mut view = m.client.view(id, &m.principal).await;
    assert_eq!(view["agent_pubkey"], Value::Null, "nobody has taken it");
    DESCRIPTION.check("GET", &path, 200, &view).unwrap();
    view["agent_pubkey"] = 7.into();
    assert!(DESCRIPTION.check("GET", &path, 200, &view).unwrap_err().contains("agent_pubkey"));
    view.as_object_mut().unwrap().remove("briefing");
    assert!(DESCRIPTION.check("GET", &path, 200, &view).is_err());
}
