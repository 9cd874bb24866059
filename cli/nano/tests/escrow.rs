//! `nano-escrow escrow` and `nano-escrow wallet`, as a script uses them.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use assert_cmd::Command;
use nano_devnet::Devnet;
use nano_escrow::{Address, Network, Raw, Seed};
use serde_json::Value;

fn seed() -> Seed {
    Seed::from_bytes([7; 32])
}

fn person(name: &str) -> Address {
    nano_escrow::PrivateKey::from_bytes(nano_escrow::blake2b_256(&[name.as_bytes()])).address()
}

fn xno(text: &str) -> Raw {
    Raw::from_xno(text).unwrap()
}

struct Shell<'a> {
    devnet: &'a Devnet,
    folder: &'a Path,
}

impl Shell<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("nano-escrow").unwrap();
        command
            .args(args)
            .env_clear()
            .env("FIX_NANO_SEED", hex::encode([7; 32]))
            .env("NANO_NETWORK", "dev")
            .env("NANO_NODE_URL", self.devnet.rpc_url())
            .env("NANO_ESCROW_JOURNAL", self.folder.join("escrow.db"))
            .current_dir(self.folder);
        command
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.command(args).arg("--json").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{args:?}: {text} {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&text).unwrap()
    }

    fn refused(&self, args: &[&str]) -> u64 {
        let output = self.command(args).arg("--json").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        value["error"]["code"].as_u64().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_deposits_settles_audits_exports_and_restores_ok() {
    let (devnet, folder, elsewhere) = (
        Devnet::builder().start().await.unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let sh = Shell { devnet: &devnet, folder: folder.path() };
    let made = sh.json(&["escrow", "create", "c1", "alice", "--expected", "2"]);
    let address: Address = made["account"]["address"].as_str().unwrap().parse().unwrap();
    assert!(made["uri"].as_str().unwrap().ends_with("amount=2000000000000000000000000000000"));
    assert_eq!(sh.json(&["escrow", "create", "c1", "alice", "--expected", "2"]), made);
    assert_eq!(sh.refused(&["escrow", "create", "c1", "alice", "--expected", "3"]), 8622);

    let (bob, fee) = (person("bob").to_string(), person("platform").to_string());
    let pays = [format!("alice:{bob}:1.8"), format!("alice:{fee}:rest")];
    let settle = ["escrow", "settle", "c1", "--kind", "done", "--pay", &pays[0], "--pay", &pays[1]];
    assert_eq!(sh.refused(&settle), 8640, "nothing is there yet");
    let deposit = devnet.faucet(address, xno("2.5")).await.unwrap();
    let status = sh.json(&["escrow", "status", "c1", "--watch"]);
    assert_eq!(status["accounts"][0]["funded"], true);
    let plan = sh.json(&settle);
    assert_eq!(plan["done"], true);
    assert_eq!(sh.json(&settle), plan, "the same again pays nothing again");
    let sent = devnet.account(address).sent_confirmed;
    assert_eq!(sent[&person("bob").public_key()], xno("1.8"));
    assert_eq!(sent[&person("platform").public_key()], xno("0.2"));
    sh.json(&["escrow", "refund", &deposit.to_string()]);
    let sent = devnet.account(address).sent_confirmed;
    assert_eq!(sent[&Network::DEV_GENESIS_ACCOUNT], xno("0.5"));
    let late = devnet.faucet(address, xno("0.5")).await.unwrap();
    assert_eq!(sh.refused(&["escrow", "refund", &late.to_string()]), 8646, "not looked for yet");
    sh.json(&["escrow", "recover"]);
    let audit = sh.json(&["escrow", "audit", "--with-node"]);
    assert_eq!(audit["problems"], serde_json::json!([]));
    let text = sh.command(&["escrow", "audit"]).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&text).contains("all agrees"));

    let export = folder.path().join("backup.json");
    sh.json(&["escrow", "export", export.to_str().unwrap()]);
    let there = Shell { devnet: &devnet, folder: elsewhere.path() };
    there.json(&["escrow", "restore", export.to_str().unwrap()]);
    there.json(&["escrow", "recover"]);
    assert_eq!(there.json(&settle)["done"], true);
    assert_eq!(sh.refused(&["escrow", "restore", export.to_str().unwrap()]), 8683);
    let wrong = sh.command(&["escrow", "create", "x", "y", "--seed", &"00".repeat(32)]).assert().failure();
    assert_eq!(wrong.get_output().status.code(), Some(2), "a seed on the command line is refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_pays_from_its_wallet_once_ok() {
    let (devnet, folder) = (Devnet::builder().start().await.unwrap(), tempfile::tempdir().unwrap());
    let sh = Shell { devnet: &devnet, folder: folder.path() };
    let address: Address = sh.json(&["wallet", "address"])["address"].as_str().unwrap().parse().unwrap();
    assert_eq!(address, seed().wallet_key(0).address());
    devnet.faucet(address, xno("3")).await.unwrap();
    assert_eq!(sh.json(&["wallet", "receive"])["pending"], 0);
    let bob = person("bob").to_string();
    for _ in 0..2 {
        let plan = sh.json(&["wallet", "send", &bob, "1", "--id", "first"]);
        assert_eq!(plan["done"], true);
    }
    assert_eq!(sh.refused(&["wallet", "send", &bob, "2", "--id", "first"]), 8644);
    assert_eq!(sh.json(&["wallet", "balance"])["balance"], xno("2").to_string());
    assert_eq!(sh.json(&["wallet", "history"]).as_array().unwrap().len(), 2);
}
