//! `zx1 up`: from an empty home to an agent whose batches count, killed wherever it can be killed, and refused
//! where something is missing. Money is asserted to the micro-USDC.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use solana_address::Address;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use zx1_e2e::{Fault, FaultProxy, Localnet, Zx1, wait_until};

const USDC: u64 = 1_000_000;
/// What `zx1 up` takes from the faucet, less stake and one day of lease.
const LEFT: u64 = (100 - 30 - 1) * USDC;

/// The command line in a home that holds nothing, and which knows the cluster's faucet.
fn newcomer(net: &Localnet) -> Zx1 {
    let zx1 = Zx1::new(net).env("ZX1_LOCALNET_CONTROL", net.control_url());
    let key = zx1.home().join("id.json");
    zx1.keypair(key)
}

fn wallet(zx1: &Zx1) -> Address {
    Address::from_str(zx1.run(["address"]).ok().stdout.trim()).unwrap()
}

fn unit(zx1: &Zx1) -> PathBuf {
    zx1.home().join(".config/systemd/user/zx1-keeper.service")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn states(plan: &Value) -> Vec<(String, String)> {
    let steps = plan["steps"].as_array().unwrap().iter();
    steps.map(|step| (text(&step["step"]).to_owned(), text(&step["state"]).to_owned())).collect()
}

/// What the chain and the disk show of an agent that is ready, and paid for once.
#[track_caller]
fn is_ready(net: &Localnet, zx1: &Zx1) {
    let status = zx1.json(["status"]);
    let agent = &status["agent"];
    assert_eq!(agent["stake"]["stake_micro_usdc"], 30 * USDC, "{status}");
    assert_eq!((&agent["lease"]["state"], &agent["lease"]["days_left"]), (&"active".into(), &0.into()));
    assert_eq!((&agent["batches"]["count"], &agent["keys"]["batch"]), (&0.into(), &1.into()), "{status}");
    assert_eq!(status["unfinished"], serde_json::json!([]), "{status}");
    assert_eq!(net.usdc(&wallet(zx1)), LEFT);
    let agents = zx1.json(["agents"]);
    assert_eq!(agents["agents"].as_array().unwrap().len(), 1, "{agents}");
    assert_eq!(agents["agents"][0]["due"], Value::Null, "{agents}");
    let place = zx1.json(["config", "get", "upload"]);
    assert_eq!(Path::new(text(&place["value"])), zx1.home().join("served"));
    let unit = std::fs::read_to_string(unit(zx1)).unwrap();
    assert!(unit.contains(&format!("--agent {} ", text(&agent["mint"]))), "{unit}");
}

#[test]
fn an_empty_home_becomes_an_agent_that_is_ready_and_nothing_is_paid_twice() {
    let net = Localnet::builder().start();
    let zx1 = newcomer(&net);
    let treasury = Address::from_str(&net.env().treasury).unwrap();

    // Looking changes nothing.
    let plan = zx1.json(["up", "--dry-run"]);
    assert_eq!(
        (&plan["status"], &plan["cost_micro_usdc"]),
        (&"planned".into(), &(31 * USDC).into()),
        "{plan}"
    );
    assert!(states(&plan).iter().all(|(_, state)| state == "due"), "{plan}");
    assert_eq!(std::fs::read_dir(zx1.home()).unwrap().count(), 0);

    let made = zx1.json(["up", "--yes"]);
    assert_eq!(made["status"], "ready", "{made}");
    assert!(states(&made).iter().all(|(_, state)| state == "made"), "{made}");
    assert_eq!(made["spent_micro_usdc"], 31 * USDC);
    let lamports = net.lamports(&wallet(&zx1));
    assert_eq!(lamports, 2_000_000_000 - made["spent_lamports"].as_u64().unwrap(), "{made}");
    // What was estimated is enough, and not far off.
    let estimate = plan["cost_lamports"].as_u64().unwrap();
    let spent = made["spent_lamports"].as_u64().unwrap();
    assert!(spent <= estimate && estimate < 2 * spent, "{spent} of {estimate}");
    is_ready(&net, &zx1);
    assert_eq!(net.usdc(&treasury), USDC);

    // Again: nothing is left to do, and nothing is sent.
    let again = zx1.json(["up", "--yes"]);
    assert!(states(&again).iter().all(|(_, state)| state == "done"), "{again}");
    assert_eq!((&again["spent_micro_usdc"], &again["spent_lamports"]), (&0.into(), &0.into()));
    assert_eq!(net.lamports(&wallet(&zx1)), lamports);
    is_ready(&net, &zx1);

    // The first batch lands by the keeper that was set up, and its data is served.
    net.travel_epochs(1);
    zx1.run(["keeper", "run", "--once"]).fails_with(7401);
    zx1.run(["keeper", "run", "--once", "--yes"]).ok();
    let shown = zx1.json(["batch", "show", "--all"]);
    assert_eq!(shown["batches"][0]["data"], "served", "{shown}");
    // Days later the agent is behind, and `up` pays what is due, once.
    net.travel_epochs(2);
    let due = zx1.json(["up", "--dry-run"]);
    let missing: Vec<_> = states(&due).into_iter().filter(|(_, state)| state == "due").collect();
    assert_eq!(missing, [("lease".to_owned(), "due".to_owned())], "{due}");
}

#[test]
fn killed_before_or_after_each_transaction_it_goes_on_and_pays_once() {
    let net = Localnet::builder().start();
    let whole = FaultProxy::start(net.rpc_url());
    newcomer(&net).url(whole.url()).run(["up", "--yes"]).ok();
    let log = whole.log();
    let sends: Vec<usize> = (0..log.len()).filter(|at| log[*at] == "sendTransaction").collect();
    assert_eq!(sends.len(), 5, "{log:?}");
    let treasury = Address::from_str(&net.env().treasury).unwrap();
    let before = net.usdc(&treasury);
    let mut agents = 0;
    for at in sends {
        // The cluster never hears of it; it lands and nobody hears of that; it lands and is confirmed.
        for (number, fault) in [(at, Fault::Hang), (at, Fault::HangAfter), (at + 2, Fault::HangAfter)] {
            let zx1 = newcomer(&net);
            let proxy = FaultProxy::start(net.rpc_url());
            proxy.fail_at(number, fault);
            let mut running = zx1.clone().url(proxy.url()).spawn(["up", "--yes"]);
            wait_until("it hangs", || proxy.has_struck().then_some(()));
            running.kill9();
            let made = zx1.json(["up", "--yes"]);
            assert_eq!(made["status"], "ready", "{number} {fault:?}: {made}");
            is_ready(&net, &zx1);
            agents += 1;
        }
    }
    assert_eq!(net.usdc(&treasury) - before, agents * USDC);
}

#[test]
fn what_is_missing_is_said_and_nothing_is_begun() {
    let net = Localnet::builder().start();
    // Nobody to ask, and nobody has agreed.
    let zx1 = newcomer(&net);
    zx1.run(["up"]).fails_with(7401);
    // A cluster that is not there, and one that is none of zx1's.
    zx1.clone().url("http://127.0.0.1:1").run(["up", "--yes"]).fails_with(7000);
    // A place that nobody can reach, and one that no file can be made in.
    zx1.run(["up", "--yes", "--data", "http://127.0.0.1:1"]).fails_with(7263);
    zx1.run(["up", "--yes", "--data", "/proc/served"]).fails_with(7405);
    zx1.run(["up", "--yes", "--data", "ftp://x"]).fails_with(7432);
    // A limit below what it costs.
    zx1.run(["up", "--yes", "--max-usdc", "30.999999"]).fails_with(7481);
    zx1.run(["up", "--yes", "--max-usdc", "much"]).fails_with(7456);
    zx1.run(["up", "--yes", "--cap", "much"]).fails_with(7560);
    zx1.run(["up", "--yes", "--name", "a\u{7}b"]).fails_with(7502);
    zx1.run(["up", "--yes", "--print-tx"]).fails_with(7400);
    assert_eq!(std::fs::read_dir(zx1.home()).unwrap().count(), 0);
}

#[test]
fn a_wallet_that_cannot_pay_is_told_how_much_it_lacks() {
    let net = Localnet::builder().start();
    // No faucet answers there.
    let nobody = |zx1: Zx1| zx1.env("ZX1_LOCALNET_CONTROL", "http://127.0.0.1:1");
    let (_, file) = net.new_wallet(1, 30);
    let poor = nobody(Zx1::new(&net).keypair(file));
    let refused = poor.run(["up", "--yes"]).fails_with(7480);
    assert!(refused.stderr.contains("30 USDC") && refused.stderr.contains("--usdc 100"), "{refused}");
    assert!(!refused.stderr.contains("--sol"), "only what is missing: {refused}");
    let (key, file) = net.new_wallet(0, 100);
    let poor = nobody(Zx1::new(&net).keypair(file));
    let refused = poor.run(["up", "--yes"]).fails_with(7480);
    assert!(refused.stderr.contains("--sol 2") && !refused.stderr.contains("--usdc"), "{refused}");
    assert_eq!(net.usdc(&solana_signer::Signer::pubkey(&key)), 100 * USDC);
    assert!(!poor.home().join("config.toml").exists());
}

#[test]
fn sol_is_capped_by_what_the_transactions_cost() {
    let net = Localnet::builder().start();
    let zx1 = newcomer(&net);
    let refused = zx1.run(["up", "--yes", "--max-sol", "0.002"]).fails_with(7481);
    assert!(refused.stderr.contains("0.002 SOL"), "{refused}");
    assert_eq!(net.usdc(&wallet(&zx1)), 100 * USDC);
    assert_eq!(net.lamports(&wallet(&zx1)), 2_000_000_000);
    // With more it goes on from there.
    zx1.run(["up", "--yes"]).ok();
    is_ready(&net, &zx1);
}

#[test]
fn the_unit_is_printed_or_written_and_never_over_another_agents() {
    let net = Localnet::builder().start();
    let zx1 = newcomer(&net);
    let printed = zx1.run(["up", "--yes", "--print-unit"]).ok();
    assert!(
        printed.stdout.starts_with("[Unit]\n") && printed.stdout.contains("--fee-cap 0.02\n"),
        "{printed}"
    );
    assert!(!unit(&zx1).exists());
    std::fs::create_dir_all(unit(&zx1).parent().unwrap()).unwrap();
    std::fs::write(unit(&zx1), "[Service]\nExecStart=zx1 --agent Other keeper run\n").unwrap();
    let refused = zx1.run(["up", "--yes"]).fails_with(7407);
    assert!(refused.stderr.contains("--print-unit"), "{refused}");
    assert!(std::fs::read_to_string(unit(&zx1)).unwrap().contains("--agent Other"));
    std::fs::remove_file(unit(&zx1)).unwrap();
    zx1.run(["up", "--yes", "--cap", "3"]).ok();
    assert!(std::fs::read_to_string(unit(&zx1)).unwrap().contains("--cap 3 "));
    // A new cap is a new unit of the same agent.
    zx1.run(["up", "--yes", "--cap", "4"]).ok();
    assert!(std::fs::read_to_string(unit(&zx1)).unwrap().contains("--cap 4 "));
    is_ready(&net, &zx1);
}

#[test]
fn the_key_of_fix_is_taken_and_an_agent_that_the_wallet_owns_is_found() {
    let net = Localnet::builder().start();
    let zx1 = newcomer(&net);
    std::fs::create_dir_all(zx1.home().join(".fix")).unwrap();
    let fix = zx1.home().join(".fix/key.ed25519");
    std::fs::copy(net.wallet_file(2), &fix).unwrap();
    zx1.run(["up", "--yes", "--name", "alice", "--no-keeper"]).ok();
    let owner = wallet(&zx1);
    assert_eq!(owner, solana_signer::Signer::pubkey(&net.wallet(2)));
    let mint = zx1.json(["status"])["agent"]["mint"].clone();
    assert!(!unit(&zx1).exists());
    // Another home with the same wallet: its agent is found, and not registered a second time.
    let other = newcomer(&net).keypair(net.wallet_file(2));
    let made = other.json(["up", "--yes", "--no-keeper"]);
    assert_eq!((&made["agent"], &made["spent_lamports"]), (&mint, &0.into()), "{made}");
    assert_eq!(other.json(["whoami"])["agents"][0]["name"], "alice");
}
