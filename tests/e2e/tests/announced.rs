//! A contract that is found on the mesh: the market's node announces it, the agent's node hears it, `fix agent --mesh`
//! takes it. Real cluster, nodes, market and command lines; the market has its embedded ledger.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use zx1_e2e::{Localnet, Owner, Running, binary, path, text, wait_for_mesh, wait_until};

const NANO: u128 = 1_000_000_000_000_000_000_000_000_000_000;
const NEEDS_LM: &str = "#include <math.h>\n#include <stdio.h>\n\
    int main(int argc, char **argv) { (void)argv; printf(\"%.3f\\n\", sqrt(argc + 1.0)); return 0; }\n";

/// A party of the market with a home of its own.
struct Fix<'a> {
    home: &'a Path,
    key: &'a Path,
    server: &'a str,
    nano: &'a str,
}

impl Fix<'_> {
    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(binary("fix"));
        command.args(["--json", "--server", self.server, "--key", path(self.key)]).args(line);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home)
            .env("FIX_NANO_NODE", self.nano)
            .env("FIX_NANO_NETWORK", "dev")
            .current_dir(self.home);
        command
    }

    /// What it says on standard output, line by line.
    fn run(&self, line: &[&str]) -> Vec<Value> {
        let output = self.command(line).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        if let Ok(whole) = serde_json::from_str(&said) {
            return vec![whole];
        }
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Its Nano address, with this much money from the faucet.
    fn account(&self, amount: u128) -> String {
        let address = text(&self.run(&["wallet", "balance"])[0]["address"]).to_owned();
        if amount > 0 {
            let faucet = json!({ "action": "faucet", "account": address, "amount": amount.to_string() });
            let got = ledger(self.nano, &faucet);
            assert!(got["error"].is_null(), "{got}");
        }
        address
    }
}

fn ledger(url: &str, question: &Value) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let text = runtime.block_on(async {
        client.post(url).body(question.to_string()).send().await.unwrap().text().await.unwrap()
    });
    serde_json::from_str(&text).unwrap()
}

/// Raw of an account, received or on its way.
fn raw(url: &str, account: &str) -> u128 {
    let got = ledger(url, &json!({ "action": "account_balance", "account": account }));
    ["balance", "receivable"].iter().map(|part| text(&got[part]).parse::<u128>().unwrap()).sum()
}

#[test]
fn a_contract_is_announced_heard_and_taken_and_everybody_is_paid_to_the_unit() {
    let net = Localnet::builder().start();
    let (mut house, mut arno) = (Owner::simple(&net, 0, "market"), Owner::simple(&net, 1, "arno"));
    house.start(&["--name", "market"]);
    arno.bootstrap = Some(house.address.clone());
    arno.start(&["--name", "arno"]);
    let folder = house.zx1.home().join("agents").join(&house.mint);
    let data = tempfile::tempdir().unwrap();
    let homes = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let keys = [2, 1].map(|wallet| net.wallet_file(wallet));

    let record = house.zx1.home().join("binding.json");
    let platform = text(&house.json(&["bind", "--file", path(&record)])["nano"]).to_owned();
    let mut command = Command::new(binary("fix-server"));
    command.args(["--bind", "127.0.0.1", "--port", "0", "--nano", "embedded", "--data", path(data.path())]);
    command.args(["--mesh-node", path(&folder), "--platform-address", &platform]);
    let market = Running::start(command);
    market.wait_for("\"ready\":true");
    let ready: Value = serde_json::from_str(market.stdout().lines().next().unwrap()).unwrap();
    let (server, nano) = (text(&ready["url"]), text(&ready["nano_rpc"]));

    let [paula, worker] = [0, 1].map(|at| Fix { home: homes[at].path(), key: &keys[at], server, nano });
    let accounts = [paula.account(2 * NANO), worker.account(2 * NANO), platform];
    wait_for_mesh(&house);
    wait_for_mesh(&arno);
    // Whose node, if no agent is named?
    let refused = worker.command(&["agent", "--mesh"]).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("9529"), "{refused:?}");
    let mut command =
        worker.command(&["--agent-id", &arno.mint, "--cluster", net.rpc_url(), "agent", "--mesh"]);
    command.env("ZX1_HOME", arno.zx1.home());
    let agent = Running::start(command);
    agent.wait_for("\"ready\"");

    std::fs::write(homes[0].path().join("m.c"), NEEDS_LM).unwrap();
    let line = ["--yes", "--accept-corrected", "--bounty", "0.5", "--market", "gcc", "m.c", "-o", "m"];
    let events = paula.run(&line);
    let ended = events.iter().find(|event| event["event"] == "ended").unwrap();
    assert_eq!(ended["state"], "fulfilled", "{events:?}");
    let contract = text(&ended["contract"]);

    // It was learnt on the mesh, of the market's own agent, before the market's list showed it.
    let said: Vec<Value> = agent.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| said.iter().position(|it| it["event"] == event && it["contract"] == contract);
    let heard = of("announced").unwrap_or_else(|| panic!("{}", agent.said()));
    assert_eq!((text(&said[heard]["by"]), text(&said[heard]["price"])), (house.mint.as_str(), "0.5"));
    assert!(heard < of("found").unwrap(), "{}", agent.said());
    // Half a nano, of which the platform keeps a tenth.
    let due = [2 * NANO - NANO / 2, 2 * NANO + NANO * 45 / 100, NANO * 5 / 100];
    wait_until("everybody is paid", || {
        let now = accounts.clone().map(|account| raw(nano, &account));
        (now == due).then_some(())
    });

    // What is taken is announced no more.
    wait_until("it is taken back", || {
        arno.json(&["discover"])["adverts"].as_array().unwrap().is_empty().then_some(())
    });
}
