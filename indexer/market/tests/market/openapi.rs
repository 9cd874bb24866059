//! The committed description of the interface is the one that the code gives.

use serde_json::Value;
use zx1_market_server::http::openapi;

use crate::support::Market;

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
    let described: Value = serde_json::from_str(&openapi::text()).unwrap();
    let mut pages = 0;
    for (path, methods) in described["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
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
    }
    assert!(pages > 35, "{pages}");
    let got =
        m.client.send("POST", &format!("/contracts/{id}/nonsense"), b"{}".to_vec(), Some(&m.principal)).await;
    got.refused(404, 9402);
}
