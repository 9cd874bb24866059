//! Decisions that the escrow refuses for good: tried once, shown, resolved by an operator.

use std::process::Command;

use nano_escrow::escrow::{AccountLegs, Leg, Settlement};
use serde_json::Value;
use zx1_market::ContractId;

use crate::support::{Market, address, eventually, xno};

/// `fix-server dead-letters` beside the running server: its exit code and its lines.
fn dead_letters(m: &Market, action: &[&str]) -> (Option<i32>, Vec<Value>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fix-server"));
    command.arg("--data").arg(m.folder.path()).arg("dead-letters").args(action);
    let output =
        command.env_remove("FIX_DATA").env_remove("FIX_CONFIG").env_remove("FIX_DB").output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code(), lines, String::from_utf8(output.stderr).unwrap())
}

async fn figure(m: &Market, line: &str) {
    eventually(line, || async {
        let text = m.client.get("/metrics", None).await.text;
        text.lines().any(|l| l == line).then_some(())
    })
    .await;
}

/// What an older backup of the journal could know: the same decision with other payments.
async fn decided_otherwise(m: &Market, id: ContractId) {
    let deposits = m.server().engine().store().deposits(&id.to_string()).await.unwrap();
    let accounts = deposits.iter().map(|deposit| {
        let leg = Leg::new(address("charity"), nano_escrow::Raw(deposit.amount.parse().unwrap()));
        AccountLegs::exact(deposit.address.parse().unwrap(), vec![leg])
    });
    let accounts = accounts.collect();
    let (contract, kind) = (id.to_string(), "fulfilled".to_owned());
    let settlement = Settlement { contract, kind, round: 0, accounts };
    m.server().engine().desk().unwrap().escrow().settle(&settlement).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hopeless_payout_is_tried_once_then_shown_and_resolved_by_an_operator() {
    let mut m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    decided_otherwise(&m, id).await;
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    figure(&m, "fix_market_dead_letters 1").await;

    // Another contract's payout wakes the one who tells the escrow; the dead letter is not told again.
    let other = m.working(&m.contract("0.6")).await;
    m.fix(other).await.ok();
    m.verify(other, true).await.says("fulfilled");
    figure(&m, "fix_market_settlements_total 1").await;
    figure(&m, "fix_market_escrow_errors_total 1").await;

    let (code, lines, said) = dead_letters(&m, &[]);
    assert_eq!((code, lines.len()), (Some(0), 1), "{said}");
    let name = id.to_string();
    assert_eq!((&lines[0]["contract"], &lines[0]["kind"]), (&Value::from(name.clone()), &"fulfilled".into()));
    assert!(lines[0]["reason"].as_str().unwrap().starts_with("error 8644: "), "{lines:?}");
    assert!(lines[0]["decision"]["accounts"].is_array(), "{lines:?}");
    let item = lines[0]["item"].as_str().unwrap();

    // It outlives the process, and a retry that changes nothing makes it a dead letter again.
    m.restart().await;
    figure(&m, "fix_market_dead_letters 1").await;
    figure(&m, "fix_market_escrow_errors_total 0").await;
    assert_eq!(dead_letters(&m, &["retry", &name, "fulfilled", item]).0, Some(0));
    figure(&m, "fix_market_escrow_errors_total 1").await;
    eventually("it is dead again", || async { (dead_letters(&m, &[]).1.len() == 1).then_some(()) }).await;

    let (code, _, said) = dead_letters(&m, &["drop", &name, "voided", item, "--reason", "mistyped"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("error 9428: "), "{said}");
    let drop = ["drop", &name, "fulfilled", item, "--reason", "paid by hand"];
    assert_eq!(dead_letters(&m, &drop).0, Some(0));
    figure(&m, "fix_market_dead_letters 0").await;
    assert_eq!(dead_letters(&m, &["list"]).1, Vec::<Value>::new());
    assert_eq!(m.balance("charity"), xno("1.34"), "what the journal had decided is what was paid");
}
