//! The escrow beside the market: lost and restored files, a second server, unpaid and late deposits, an operator's
//! orders.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nano_devnet::{Confirm, Devnet, Effect, FaultRule, On};
use nano_escrow::escrow::NonceSecret;
use nano_escrow::{Network, Raw};
use serde_json::Value;
use zx1_market::chain::{Data, Side};
use zx1_market::{ContractId, PartyId};
use zx1_market_server::clock::{Clock, DrivenClock};
use zx1_market_server::escrow::origin;

use crate::support::live::{Live, agent, client, contract, folder, principal};
use crate::support::process::{Process, command};
use crate::support::{Client, START, address, body_with, boot, eventually, row, xno};

fn data(live: &Live) -> PathBuf {
    live.folder.path().join("data")
}

fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(name)).collect()
}

fn remove(folder: &Path, name: &str) {
    files(folder, name).iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

fn copy(from: &Path, to: &Path, name: &str) {
    for path in files(from, name) {
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

fn restart(live: &mut Live, options: &[&str]) {
    let options: Vec<&str> = ["--auto-fund"].iter().chain(options).copied().collect();
    live.process = Process::start(live.folder.path(), live.clock.now(), &options);
    live.client.url = live.process.url();
}

/// A contract with a fix that waits for its principal.
async fn fixed() -> Live {
    let mut live = Live::start(false).await;
    live.post(&["0.5"], false).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    live
}

/// What a `fix-server` that cannot start says.
fn refused(live: &Live, options: &[&str]) -> String {
    let mut command = command(live.folder.path());
    command.args(["--test-clock", &live.clock.now().0.to_string()]).args(options);
    match Process::spawn_with(command, Stdio::piped()) {
        Ok(_) => panic!("it started"),
        Err(said) => said,
    }
}

#[test]
fn the_nonces_of_the_vectors_are_derived() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/escrow_nonces.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let items = file["nonces"].as_array().unwrap();
    assert!(!items.is_empty());
    for item in items {
        let bytes = |name: &str| {
            let mut bytes = [0; 32];
            hex::decode_to_slice(item[name].as_str().unwrap(), &mut bytes).unwrap();
            bytes
        };
        let party = |name: &str| PartyId::from_hex(item[name].as_str().unwrap()).unwrap();
        let secret = NonceSecret::from_bytes(bytes("secret"));
        let network: Network = item["network"].as_str().unwrap().parse().unwrap();
        let side = Side::from_word(item["role"].as_str().unwrap()).unwrap();
        let round = u32::try_from(item["round"].as_u64().unwrap()).unwrap();
        let origin = origin(network, &party("server"), &bytes("post"), side, &party("depositor"), round);
        assert_eq!(secret.nonce(&origin), bytes("nonce"), "{item}");
        assert_eq!(secret.id(), item["id"].as_str().unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_one_database_is_refused() {
    let live = Live::start(false).await;
    let other = live.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    copy(&data(&live), &other, "server.key");
    copy(&data(&live), &other, "nano.seed");
    let db = live.database.url();
    let options = ["--data", other.to_str().unwrap(), "--db", &db];
    let said = refused(&live, &options);
    assert!(said.contains("9417"), "{said}");
    // The first one goes on.
    live.client.get("/readyz", None).await.says("ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_journal_is_restored_from_seed_secret_and_database() {
    let mut live = fixed().await;
    live.process.kill();
    remove(&data(&live), "escrow.db");
    let said = refused(&live, &["--auto-fund"]);
    assert!(said.contains("9440"), "{said}");
    restart(&mut live, &["--adopt-journal"]);
    live.verify(true, "fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    live.sound("fulfilled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_journal_is_told_again_and_pays_nothing_twice() {
    let mut live = fixed().await;
    let saved = tempfile::tempdir().unwrap();
    live.process.kill();
    copy(&data(&live), saved.path(), "escrow.db");
    restart(&mut live, &[]);
    live.verify(true, "fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    live.process.kill();
    remove(&data(&live), "escrow.db");
    copy(saved.path(), &data(&live), "escrow.db");
    restart(&mut live, &[]);
    let id = live.ids[0].0;
    eventually("the journal knows the decision again", || async {
        let escrow = live.client.get(&format!("/contracts/{id}/escrow"), Some(&principal())).await.ok();
        let payments = escrow["payments"].as_array().unwrap();
        let done = !payments.is_empty() && payments.iter().all(|p| p["confirmed"] == true);
        done.then_some(())
    })
    .await;
    live.paid_as("fulfilled", None, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_database_stands_still_until_the_operator_gives_the_transcript() {
    let mut live = fixed().await;
    let transcripts = tempfile::tempdir().unwrap();
    live.process.kill();
    live.database.save();
    restart(&mut live, &[]);
    live.verify(true, "fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    let id = live.ids[0].0;
    let transcript = live.client.get(&format!("/contracts/{id}"), Some(&principal())).await;
    std::fs::write(transcripts.path().join("longer.json"), transcript.text).unwrap();
    live.process.kill();
    live.database.restore();
    restart(&mut live, &[]);
    assert_eq!(live.client.view(id, &principal()).await["status"], "in_progress");
    let (explanation, output) = (String::new(), String::new());
    let verify = Data::Verify { success: false, explanation, exit_code: None, output, failure: None };
    live.client.act(id, "verify", verify, &principal()).await.refused(409, 9441);
    let figures = live.client.get("/metrics", None).await.text;
    assert!(figures.contains("fix_market_stopped_contracts 1\n"), "{figures}");
    live.process.kill();
    restart(&mut live, &["--import", transcripts.path().to_str().unwrap()]);
    live.reach("fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    live.sound("fulfilled").await;
    let figures = live.client.get("/metrics", None).await.text;
    assert!(figures.contains("fix_market_stopped_contracts 0\n"), "{figures}");
}

/// The database is older than a bond, which the journal has.
#[tokio::test(flavor = "multi_thread")]
async fn a_contract_whose_bond_the_database_has_lost_stands_still_until_its_transcript_comes() {
    let mut live = Live::start(false).await;
    let transcripts = tempfile::tempdir().unwrap();
    live.post(&["0.5"], false).await;
    live.process.kill();
    live.database.save();
    restart(&mut live, &[]);
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    let id = live.ids[0].0;
    let transcript = live.client.get(&format!("/contracts/{id}"), Some(&principal())).await;
    std::fs::write(transcripts.path().join("longer.json"), transcript.text).unwrap();
    live.process.kill();
    live.database.restore();
    restart(&mut live, &[]);
    figure(&live, "fix_market_orphaned_accounts 1").await;
    figure(&live, "fix_market_stopped_contracts 1").await;
    let bond = Data::Bond { agent: agent().id(), payout: Some(address("agent")) };
    live.client.act(id, "bond", bond, &agent()).await.refused(409, 9441);
    live.process.kill();
    restart(&mut live, &["--import", transcripts.path().to_str().unwrap()]);
    figure(&live, "fix_market_orphaned_accounts 0").await;
    figure(&live, "fix_market_stopped_contracts 0").await;
    live.verify(true, "fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    live.sound("fulfilled").await;
}

/// Seed, nonce secret and the server's key are there; journal and database are gone, and clients have transcripts.
#[tokio::test(flavor = "multi_thread")]
async fn journal_and_database_are_restored_from_secrets_and_transcripts() {
    let mut live = Live::start(false).await;
    let saved = tempfile::tempdir().unwrap();
    live.post(&["0.5"], false).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    live.verify(true, "fulfilled").await;
    live.paid_as("fulfilled", None, &[]).await;
    let mut contracts = std::mem::take(&mut live.ids);
    // Another one waits for its principal's word, a third for an agent.
    live.post(&["1"], false).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    let running = std::mem::take(&mut live.ids);
    live.post(&["2"], false).await;
    let open = std::mem::take(&mut live.ids);
    contracts.extend(running.iter().chain(&open).cloned());
    let escrow = live.client.get(&format!("/contracts/{}/escrow", open[0].0), Some(&principal())).await.ok();
    let deposit = escrow["accounts"][0]["expected"].as_str().unwrap().to_owned();
    for (id, _) in &contracts {
        let transcript = live.client.get(&format!("/contracts/{id}"), Some(&principal())).await;
        std::fs::write(saved.path().join(format!("{id}.json")), transcript.text).unwrap();
    }
    live.process.kill();
    live.database.lose();
    remove(&data(&live), "escrow.db");
    restart(&mut live, &["--import", saved.path().to_str().unwrap()]);
    for line in ["fix_market_orphaned_accounts 0", "fix_market_escrow_open_alarms 0", "fix_market_outbox 0"] {
        figure(&live, line).await;
    }
    // Once more changes nothing.
    live.process.kill();
    restart(&mut live, &["--import", saved.path().to_str().unwrap()]);
    live.ids = open;
    live.act("", Data::Cancel { reason: String::new() }, &principal(), "canceled").await;
    live.sound("canceled").await;
    live.ids = running;
    live.verify(true, "fulfilled").await;
    live.sound("fulfilled").await;
    let before = row("fulfilled", None, "0.5");
    let share = |name: &str| before[name].as_str().unwrap().to_owned();
    let [to_principal, to_agent, platform, charity] =
        ["principal", "agent", "platform", "charity"].map(share);
    let more = [
        ("principal 0.5", to_principal.as_str()),
        ("agent 0.5", &to_agent),
        ("platform", &platform),
        ("charity", &charity),
        ("principal 2", &deposit),
    ];
    live.paid_as("fulfilled", None, &more).await;
    for line in [
        "fix_market_held_xno 0.0",
        "fix_market_orphaned_accounts 0",
        "fix_market_escrow_open_alarms 0",
        "fix_market_dead_letters 0",
        "fix_market_stopped_contracts 0",
    ] {
        figure(&live, line).await;
    }
    live.paid_as("fulfilled", None, &more).await;
}

/// `fix-server` beside the running one.
async fn beside(live: &Live, args: &[&str]) -> Vec<Value> {
    let mut command = command(live.folder.path());
    command.args(args);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn figure(live: &Live, line: &str) {
    eventually(line, || async {
        let text = live.client.get("/metrics", None).await.text;
        text.lines().any(|l| l == line).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn money_for_a_contract_that_the_database_has_lost_is_an_alarm_and_can_be_swept() {
    let mut live = Live::start(false).await;
    let genesis = Network::DEV_GENESIS_ACCOUNT.address();
    let before = live.balance(genesis).await;
    live.process.kill();
    live.database.save();
    restart(&mut live, &[]);
    live.post(&["0.5"], false).await;
    live.bond(&agent(), "agent").await;
    figure(&live, "fix_market_orphaned_accounts 0").await;
    let id = live.ids[0].0;
    let escrow = live.client.get(&format!("/contracts/{id}/escrow"), Some(&principal())).await.ok();
    let held = escrow["accounts"].as_array().unwrap().iter();
    let held: Vec<String> = held.map(|account| account["address"].as_str().unwrap().to_owned()).collect();
    assert_eq!(held.len(), 2, "{escrow}");
    live.process.kill();
    live.database.restore();
    restart(&mut live, &[]);
    live.client.get(&format!("/contracts/{id}"), Some(&principal())).await.refused(404, 9400);
    figure(&live, "fix_market_orphaned_accounts 2").await;
    figure(&live, "fix_market_escrow_open_alarms 2").await;
    let listed = beside(&live, &["dead-letters"]).await;
    for account in &held {
        let row = listed.iter().find(|row| row["orphan"] == account.as_str()).unwrap();
        assert_eq!(row["contract"], id.to_string());
        assert_eq!(row["amount"], xno("0.67").to_string());
    }
    // Nobody has said yet that it is lost for good.
    beside(&live, &["sweep"]).await;
    assert_eq!(beside(&live, &["dead-letters"]).await, listed);
    let said = beside(&live, &["sweep", "--contract", &id.to_string()]).await;
    assert_eq!(said[0]["done"], true, "{said:?}");
    eventually("all of it is back", || async { (live.balance(genesis).await == before).then_some(()) }).await;
    for account in &held {
        assert_eq!(live.balance(account.parse().unwrap()).await, Raw::ZERO);
    }
    figure(&live, "fix_market_orphaned_accounts 0").await;
    figure(&live, "fix_market_escrow_open_alarms 0").await;
    assert!(beside(&live, &["dead-letters"]).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_secret_for_two_purposes_is_refused() {
    let mut live = Live::start(false).await;
    live.process.kill();
    std::fs::copy(data(&live).join("nano.seed"), data(&live).join("nonce.secret")).unwrap();
    let said = refused(&live, &[]);
    assert!(said.contains("9420"), "{said}");
    // Nor does another secret take the place of the one that was used, unless it is named.
    let (file, former) = (data(&live).join("nonce.secret"), data(&live).join("former.secret"));
    std::fs::write(&file, "ab".repeat(32)).unwrap();
    let said = refused(&live, &[]);
    assert!(said.contains("8610"), "{said}");
    assert!(!former.exists());
}

fn on(config: &mut zx1_market_server::Config, devnet: &Devnet) {
    config.nano.ledger = devnet.rpc_url();
    config.nano.ws = devnet.ws_url();
    config.nano.network = "dev".into();
}

async fn post(client: &Client) -> (ContractId, Value) {
    let contract = contract(&client.terms, "0.5", false);
    let entry = client.post_entry(&contract, &principal(), Some(address("principal")));
    let sent = client.send("POST", "/contracts", body_with(&entry, &[]), Some(&principal())).await;
    (entry.contract_id().unwrap(), sent.says("unfunded")["deposit"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unpaid_post_costs_the_journal_nothing_and_a_late_payment_goes_back() {
    let devnet = Devnet::builder().confirm(Confirm::AtOnce).start().await.unwrap();
    let folder = folder(|_| {});
    let mut config = crate::support::config(&folder.path().join("data"));
    on(&mut config, &devnet);
    let clock = DrivenClock::new(START);
    let server = boot(&config, &clock).await;
    let client = client(server.url().to_owned(), clock.clone()).await;
    let (id, deposit) = post(&client).await;
    let escrow = server.engine().desk().unwrap().escrow().clone();
    assert_eq!(escrow.statement(&id.to_string()).await.unwrap_err().code(), 8620, "no row");
    clock.set(START.plus(client.terms.windows.unfunded));
    eventually("the post lapses", || async {
        let rows = server.engine().store().deposits(&id.to_string()).await.unwrap();
        rows.iter().any(|row| row.status == "lapsed").then_some(())
    })
    .await;
    assert_eq!(escrow.statement(&id.to_string()).await.unwrap_err().code(), 8620, "still none");
    drop(escrow);
    // It is paid all the same, after a restart as well.
    server.stop().await.unwrap();
    let server = boot(&config, &clock).await;
    let account: nano_escrow::Address = deposit["address"].as_str().unwrap().parse().unwrap();
    devnet.faucet(account, xno(deposit["amount"].as_str().unwrap())).await.unwrap();
    devnet.faucet(account, xno("0.002")).await.unwrap();
    eventually("the late deposit goes back", || async {
        (!devnet.account(account).sent_confirmed.is_empty()).then_some(())
    })
    .await;
    // The small one is the operator's matter.
    assert_eq!(devnet.account(account).receivable.len(), 1);
    let data = config.data.to_str().unwrap().to_owned();
    let swept = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fix-server"));
        command.args(["--data", &data, "sweep", "--least", "0.001"]);
        command.env_remove("FIX_DATA").env_remove("FIX_CONFIG").env_remove("FIX_DB").output().unwrap()
    });
    let swept = swept.await.unwrap();
    let said = String::from_utf8(swept.stdout).unwrap();
    assert!(swept.status.success(), "{said} {}", String::from_utf8_lossy(&swept.stderr));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["done"], &said["refunds"]), (&Value::Bool(true), &1.into()), "{said}");
    eventually("all is back", || async {
        let state = devnet.account(account);
        let all = Raw::checked_sum(state.sent_confirmed.values().copied()).unwrap();
        (all == xno(deposit["amount"].as_str().unwrap()).add(xno("0.002")).unwrap()).then_some(())
    })
    .await;
    assert_eq!(devnet.account(account).balance, Raw::ZERO);
    devnet.audit().unwrap();
    server.stop().await.unwrap();
}

/// Every raw is where it belongs, by the ledger's own RPC, after dust floods, double and late deposits, a node that is
/// cut off and hangs, and kills.
#[tokio::test(flavor = "multi_thread")]
async fn money_is_conserved_under_dust_double_and_late_deposits_cuts_and_kills() {
    const CONTRACTS: usize = 4;
    let devnet = Devnet::builder().confirm(Confirm::AtOnce).start().await.unwrap();
    let folder = folder(|config| {
        on(config, &devnet);
        config.nano.refunds_per_hour = 1_000;
    });
    let clock = DrivenClock::new(START);
    let mut process = Process::start(folder.path(), START, &[]);
    let mut client = client(process.url(), clock.clone()).await;
    let mut accounts: Vec<nano_escrow::Address> = Vec::new();
    let mut paid = Raw::ZERO;
    let mut pay = async |account: nano_escrow::Address, amount: &str| {
        devnet.faucet(account, xno(amount)).await.unwrap();
        paid = paid.add(xno(amount)).unwrap();
    };
    let mut ids = Vec::new();
    for n in 0..CONTRACTS {
        // Each its own, or the ids would be one.
        clock.advance(zx1_market::Millis(1));
        let (id, deposit) = post(&client).await;
        let account = deposit["address"].as_str().unwrap().parse().unwrap();
        for _ in 0..20 {
            pay(account, "0.001").await;
        }
        pay(account, "0.05").await;
        pay(account, deposit["amount"].as_str().unwrap()).await;
        client.until(id, &principal(), "open").await;
        // Twice: the second comes back.
        pay(account, deposit["amount"].as_str().unwrap()).await;
        accounts.push(account);
        if n == 1 {
            process.kill();
            process = Process::start(folder.path(), clock.now(), &[]);
            client.url = process.url();
        }
        let bond = Data::Bond { agent: agent().id(), payout: Some(address("agent")) };
        let deposit = client.act(id, "bond", bond, &agent()).await.says("reserved")["deposit"].clone();
        let account = deposit["address"].as_str().unwrap().parse().unwrap();
        for _ in 0..20 {
            pay(account, "0.0005").await;
        }
        pay(account, deposit["amount"].as_str().unwrap()).await;
        client.until(id, &agent(), "investigating").await;
        accounts.push(account);
        client.act(id, "accept", Data::Accept { agent: agent().id() }, &agent()).await.says("in_progress");
        let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
        client.act(id, "fix", fix, &agent()).await.ok();
        ids.push(id);
    }
    for (n, id) in ids.iter().enumerate() {
        let effect = match n % 2 {
            0 => Effect::Drop,
            _ => Effect::Delay { ms: 11_000 },
        };
        let times = if n % 2 == 0 { 20 } else { 2 };
        let fault = devnet.faults().add(FaultRule::new(On::default(), effect).times(times));
        let (explanation, output) = (String::new(), String::new());
        let verify = Data::Verify { success: true, explanation, exit_code: Some(0), output, failure: None };
        client.act(*id, "verify", verify, &principal()).await.says("fulfilled");
        eventually("the node fails", || async { (devnet.faults().struck(fault) == times).then_some(()) })
            .await;
        process.kill();
        process = Process::start(folder.path(), clock.now(), &[]);
        client.url = process.url();
    }
    // Long after the end.
    for account in &accounts {
        pay(*account, "0.03").await;
        pay(*account, "0.002").await;
    }
    let row = row("fulfilled", None, "0.5");
    let of = |name: &str| {
        let all = xno(row[name].as_str().unwrap()).get() * CONTRACTS as u128;
        Raw(all)
    };
    let has = |name: &str| {
        let account = devnet.account(address(name));
        Raw::checked_sum(account.receivable.values().copied().chain([account.balance])).unwrap()
    };
    for name in ["principal", "agent", "platform", "charity"] {
        eventually(&format!("{name} is paid"), || async { (has(name) == of(name)).then_some(()) }).await;
    }
    let config = folder.path().join("config.toml");
    eventually("all that is left is swept", || async {
        let mut sweep = Command::new(env!("CARGO_BIN_EXE_fix-server"));
        sweep.arg("--config").arg(&config).args(["sweep", "--least", "0.0001"]);
        let swept = tokio::task::spawn_blocking(move || sweep.env_remove("FIX_DATA").output().unwrap());
        assert!(swept.await.unwrap().status.success());
        let empty = |account: &nano_escrow::Address| {
            let state = devnet.account(*account);
            state.balance.is_zero() && state.receivable.is_empty()
        };
        accounts.iter().all(empty).then_some(())
    })
    .await;
    let back = accounts.iter().flat_map(|account| devnet.account(*account).sent_confirmed);
    let back = back.filter(|(to, _)| *to == Network::DEV_GENESIS_ACCOUNT).map(|(_, amount)| amount);
    let parties = ["principal", "agent", "platform", "charity"].map(has);
    let out = Raw::checked_sum(back.chain(parties)).unwrap();
    assert_eq!(out, paid, "paid in and paid out, to the raw");
    devnet.audit().unwrap();
}
