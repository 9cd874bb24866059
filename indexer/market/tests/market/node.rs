//! The market on a node that is not its own: an embedded ledger of the test, reached as a live node is, over
//! RPC and websocket. It loses answers and confirms late.

use nano_devnet::{Confirm, Devnet, Effect, FaultRule, On};
use nano_escrow::Raw;
use serde_json::Value;
use zx1_market::chain::Data;
use zx1_market::{ContractId, Millis};
use zx1_market_server::Config;
use zx1_market_server::clock::{Clock, DrivenClock};

use crate::support::live::{agent, client, contract, folder, principal};
use crate::support::process::Process;
use crate::support::{Client, START, address, body_with, boot, eventually, row, xno};

fn on(config: &mut Config, devnet: &Devnet) {
    config.nano.ledger = devnet.rpc_url();
    config.nano.ws = devnet.ws_url();
    config.nano.network = "dev".into();
}

async fn pay(devnet: &Devnet, deposit: &Value) {
    let account = deposit["address"].as_str().unwrap().parse().unwrap();
    devnet.faucet(account, xno(deposit["amount"].as_str().unwrap())).await.unwrap();
}

fn got(devnet: &Devnet, name: &str) -> Raw {
    let account = devnet.account(address(name));
    Raw::checked_sum(account.receivable.values().copied().chain([account.balance])).unwrap()
}

async fn post(client: &Client) -> (ContractId, Value) {
    let contract = contract(&client.terms, "0.5", false);
    let entry = client.post_entry(&contract, &principal(), Some(address("principal")));
    let sent = client.send("POST", "/contracts", body_with(&entry, &[]), Some(&principal())).await;
    (entry.contract_id().unwrap(), sent.says("unfunded")["deposit"].clone())
}

async fn bond(client: &Client, id: ContractId) -> Value {
    let bond = Data::Bond { agent: agent().id(), payout: Some(address("agent")) };
    client.act(id, "bond", bond, &agent()).await.says("reserved")["deposit"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_distant_node_that_loses_answers_is_paid_through_once() {
    let devnet = Devnet::builder().start().await.unwrap();
    let folder = folder(|config| on(config, &devnet));
    let clock = DrivenClock::new(START);
    let mut process = Process::start(folder.path(), START, &[]);
    assert_eq!(process.ready["embedded"], false);
    let mut client = client(process.url(), clock.clone()).await;
    let (id, deposit) = post(&client).await;
    pay(&devnet, &deposit).await;
    client.until(id, &principal(), "open").await;
    let deposit = bond(&client, id).await;
    pay(&devnet, &deposit).await;
    client.until(id, &agent(), "investigating").await;
    client.act(id, "accept", Data::Accept { agent: agent().id() }, &agent()).await.says("in_progress");
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    client.act(id, "fix", fix, &agent()).await.ok();
    // The next three published blocks are added, and their sender never hears of it.
    let fault = FaultRule::new(On::action("process"), Effect::LoseAnswer { ms: 0 }).times(3);
    let fault = devnet.faults().add(fault);
    let (explanation, output) = (String::new(), String::new());
    let verify = Data::Verify { success: true, explanation, exit_code: Some(0), output, failure: None };
    client.act(id, "verify", verify, &principal()).await.says("fulfilled");
    eventually("an answer is lost", || async { (devnet.faults().struck(fault) > 0).then_some(()) }).await;
    process.kill();
    process = Process::start(folder.path(), clock.now(), &[]);
    client.url = process.url();
    let row = row("fulfilled", None, "0.5");
    for name in ["principal", "agent", "platform", "charity"] {
        let amount = xno(row[name].as_str().unwrap());
        eventually(&format!("{name} has {amount}"), || async {
            (got(&devnet, name) == amount).then_some(())
        })
        .await;
    }
    devnet.audit().unwrap();
    let escrow = client.get(&format!("/contracts/{id}/escrow"), None).await.ok();
    assert!(escrow["payments"].as_array().unwrap().iter().all(|p| p["kind"] != "refund"), "{escrow}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deposit_that_is_seen_extends_its_window_once() {
    let devnet = Devnet::builder().confirm(Confirm::OnDemand).start().await.unwrap();
    let folder = folder(|_| {});
    let mut config = crate::support::config(&folder.path().join("data"));
    on(&mut config, &devnet);
    let clock = DrivenClock::new(START);
    let server = boot(&config, &clock).await;
    let client = client(server.url().to_owned(), clock.clone()).await;
    let windows = client.terms.windows;
    let deadline = async |id| server.engine().read(id).await.unwrap().next_deadline().unwrap();
    let extended = async |id, was: Millis| {
        eventually("its window is extended", || async { Some(deadline(id).await).filter(|now| *now > was) })
            .await
    };
    let (id, deposit) = post(&client).await;
    assert_eq!(deadline(id).await, START.plus(windows.unfunded));
    pay(&devnet, &deposit).await;
    let until = extended(id, START.plus(windows.unfunded)).await;
    clock.set(until.minus(Millis(1)));
    assert_eq!(client.view(id, &principal()).await["status"], "unfunded");
    devnet.confirm_all().await.unwrap();
    client.until(id, &principal(), "open").await;
    // The same for a bond; a second window there is not.
    let deposit = bond(&client, id).await;
    let first = deadline(id).await;
    assert_eq!(first, clock.now().plus(windows.reservation));
    pay(&devnet, &deposit).await;
    let second = extended(id, first).await;
    clock.set(second);
    eventually("the reservation lapses", || async {
        let rows = server.engine().store().deposits(&id.to_string()).await.unwrap();
        rows.iter().any(|row| row.status == "lapsed").then_some(())
    })
    .await;
    assert_eq!(client.view(id, &principal()).await["status"], "open");
    // What came too late goes back, and nobody is bonded by it.
    devnet.confirm_all().await.unwrap();
    eventually("the late bond is refunded", || async {
        devnet.confirm_all().await.unwrap();
        let escrow = client.get(&format!("/contracts/{id}/escrow"), Some(&principal())).await.ok();
        let payments = escrow["payments"].as_array().unwrap().clone();
        payments.iter().any(|p| p["kind"] == "refund" && p["confirmed"] == true).then_some(())
    })
    .await;
    assert_eq!(client.view(id, &principal()).await["status"], "open");
    server.stop().await.unwrap();
}
