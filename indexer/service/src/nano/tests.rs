//! Binding records: whoever holds both keys, and the later one counts.
#![allow(clippy::unwrap_used)]

use super::{Node, bind, sum};
use crate::bundles::Put;
use crate::store::Find;
use crate::testing::{Fake, Rig, mint};
use nano_escrow::Seed;
use nano_escrow::binding::{Binding, nano_key};

fn record(number: u8, created: u64) -> (Binding, String) {
    let seed = Seed::from_bytes([number; 32]);
    let nano = nano_key(&seed, 0).keypair();
    let binding = Binding::make(&seed, &nano, created);
    (binding, serde_json::to_string(&binding).unwrap())
}

#[tokio::test]
async fn a_binding_shows_at_every_agent_of_its_wallet() {
    let (binding, text) = record(1, 1_000);
    let chain = Fake::new();
    chain.register(mint(1), binding.solana.0);
    chain.register(mint(2), binding.solana.0);
    chain.register(mint(3), [9; 32]);
    let rig = Rig::new(&chain).await;
    rig.round().await;
    assert_eq!(bind(&rig.index, &text).await.unwrap(), Put::Created);
    assert_eq!(bind(&rig.index, &text).await.unwrap(), Put::Same);
    let rows = rig.index.store.agents(Find::all().order(&["mint"])).await.unwrap();
    let shown: Vec<Option<String>> = rows.into_iter().map(|row| row.nano_address).collect();
    let nano = Some(binding.nano.to_string());
    assert_eq!(shown, [nano.clone(), nano, None]);
}

#[tokio::test]
async fn forged_old_and_future_bindings_fail() {
    let rig = Rig::new(&Fake::new()).await;
    let (binding, text) = record(1, 1_000);
    let forged = Binding { created: 1_001, ..binding };
    for bad in [serde_json::to_string(&forged).unwrap(), "{}".to_owned(), text.replace("nano_", "xrb_")] {
        assert_eq!(bind(&rig.index, &bad).await.unwrap_err().code(), 9652, "{bad}");
    }
    assert_eq!(bind(&rig.index, &record(1, 99_999_999_999).1).await.unwrap_err().code(), 9652);
    bind(&rig.index, &text).await.unwrap();
    assert_eq!(bind(&rig.index, &record(1, 999).1).await.unwrap_err().code(), 9652);
    assert_eq!(bind(&rig.index, &record(1, 1_001).1).await.unwrap(), Put::Created);
}

#[test]
fn sums_of_raw_do_not_overflow_and_pass_over_what_is_no_number() {
    assert_eq!(sum(["1", "x", "2"].into_iter()), "3");
    let most = u128::MAX.to_string();
    assert_eq!(sum([most.as_str(), "1"].into_iter()), most);
    assert!(Node::new("").unwrap().is_none());
    assert_eq!(Node::new("ftp://x").unwrap_err().code(), 9610);
}
