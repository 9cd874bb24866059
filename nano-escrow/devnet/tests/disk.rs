//! Blocks on disk: a restart, a torn file, a killed process, and the program itself.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nano_devnet::{Confirm, Devnet, DevnetError, Epoch, ForkRule};
use nano_escrow::{BlockHash, Raw, SignedBlock};
use serde_json::{Value, json};
use support::*;

/// Sends, receives, an epoch block, a rollback, confirmations.
async fn live_a_little(devnet: &Devnet) {
    let opened = open(devnet, &key(1), 100).await;
    let first = send_block(&key(1), opened.hash(), 90, key(2).address());
    devnet.publish(&first).await.unwrap();
    devnet
        .publish(&sign(block(key(2).public_key(), BlockHash::ZERO, 10, first.hash().0), &key(2)))
        .await
        .unwrap();
    devnet.confirm(opened.hash()).await.unwrap();
    let rival = send_block(&key(1), opened.hash(), 50, key(3).address());
    devnet.let_win(&rival).await.unwrap();
    devnet.append_epoch(key(1).address()).await.unwrap();
    devnet.confirm(rival.hash()).await.unwrap();
    open(devnet, &key(4), 7).await;
}

#[tokio::test]
async fn a_restart_gives_the_identical_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Devnet::builder().folder(folder.path()).confirm(Confirm::OnDemand).genesis_epoch(Epoch::One).start()
    };
    let devnet = start().await.unwrap();
    live_a_little(&devnet).await;
    let before = devnet.ledger();
    let same_time = start().await;
    assert!(matches!(same_time, Err(DevnetError::Locked(_))));
    let (rpc, ws) = devnet.addresses();
    devnet.stop().await.unwrap();

    let devnet = Devnet::builder()
        .folder(folder.path())
        .confirm(Confirm::OnDemand)
        .genesis_epoch(Epoch::One)
        .rpc(rpc)
        .ws(ws)
        .start()
        .await
        .unwrap();
    assert_eq!(devnet.ledger(), before);
    assert_eq!((devnet.cut(), devnet.addresses()), (0, (rpc, ws)));
    assert!(devnet.replayed() > 10);
    devnet.audit().unwrap();
    drop(devnet);
    let other = Devnet::builder().folder(folder.path()).start();
    // The lock goes when the last request is answered, which may be a moment later.
    let other = loop_until_unlocked(other, folder.path()).await;
    assert!(matches!(other, Err(DevnetError::GenesisEpoch { found: 1, asked: 2 })));
}

async fn loop_until_unlocked(
    first: impl Future<Output = Result<Devnet, DevnetError>>,
    folder: &Path,
) -> Result<Devnet, DevnetError> {
    let mut result = first.await;
    let end = Instant::now() + Duration::from_secs(20);
    while matches!(result, Err(DevnetError::Locked(_))) && Instant::now() < end {
        tokio::task::yield_now().await;
        result = Devnet::builder().folder(folder).start().await;
    }
    result
}

#[tokio::test]
async fn a_file_cut_anywhere_opens_as_an_earlier_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let build =
        |path: &Path| Devnet::builder().folder(path).confirm(Confirm::OnDemand).genesis_epoch(Epoch::One);
    let devnet = build(folder.path()).start().await.unwrap();
    // Each change waits for the disk, so each is a frame.
    let mut states = vec![devnet.ledger()];
    let fund = devnet.faucet(key(1).address(), Raw(100)).await.unwrap();
    states.push(devnet.ledger());
    let opened = sign(block(key(1).public_key(), BlockHash::ZERO, 100, fund.0), &key(1));
    devnet.publish(&opened).await.unwrap();
    states.push(devnet.ledger());
    let mut head = opened.hash();
    for left in [90, 80, 70] {
        let send = send_block(&key(1), head, left, key(2).address());
        devnet.publish(&send).await.unwrap();
        states.push(devnet.ledger());
        devnet.confirm(head).await.unwrap();
        states.push(devnet.ledger());
        head = send.hash();
    }
    devnet
        .let_win(&send_block(
            &key(1),
            devnet.look(|l| l.block(&head).unwrap().block.previous()),
            1,
            key(3).address(),
        ))
        .await
        .unwrap();
    states.push(devnet.ledger());
    devnet.stop().await.unwrap();
    let bytes = std::fs::read(folder.path().join("blocks")).unwrap();
    let mut seen = Vec::new();
    // Every byte of the last frames, every seventh before.
    for length in (68..=bytes.len()).filter(|l| bytes.len() - l < 400 || l % 7 == 0) {
        let torn = tempfile::tempdir().unwrap();
        std::fs::write(torn.path().join("blocks"), &bytes[..length]).unwrap();
        let devnet = build(torn.path()).start().await.unwrap();
        devnet.audit().unwrap();
        if devnet.replayed() > 0 {
            let state = devnet.ledger();
            seen.push(
                states.iter().position(|s| *s == state).unwrap_or_else(|| panic!("{length}: no such ledger")),
            );
        }
    }
    assert!(seen.is_sorted());
    seen.dedup();
    assert_eq!(seen, (0..states.len()).collect::<Vec<_>>());
}

#[tokio::test]
async fn blocks_that_were_not_final_when_it_stopped_become_final_after() {
    let folder = tempfile::tempdir().unwrap();
    let devnet = Devnet::builder().folder(folder.path()).confirm(Confirm::OnDemand).start().await.unwrap();
    let opened = open(&devnet, &key(1), 100).await;
    devnet.stop().await.unwrap();
    let devnet = Devnet::builder().folder(folder.path()).forks(ForkRule::FirstSeen).start().await.unwrap();
    devnet.wait_confirmed(opened.hash(), Duration::from_secs(20)).await.unwrap();
}

#[tokio::test]
async fn a_file_with_a_block_that_the_ledger_refuses_fails() {
    // Both files are whole; put together they are not: the second tells of a send from nowhere.
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (folder, amount) in [(&one, 100), (&two, 200)] {
        let devnet = Devnet::builder().folder(folder.path()).start().await.unwrap();
        open(&devnet, &key(1), amount).await;
        devnet.stop().await.unwrap();
    }
    let (a, b) = (
        std::fs::read(one.path().join("blocks")).unwrap(),
        std::fs::read(two.path().join("blocks")).unwrap(),
    );
    // The frames of both begin alike; take the last frame from the other file.
    let start = |bytes: &[u8]| bytes.windows(4).rposition(|w| w == b"NdvF").unwrap();
    let mut mixed = a[..start(&a)].to_vec();
    mixed.extend(&b[start(&b)..]);
    std::fs::write(one.path().join("blocks"), &mixed).unwrap();
    let failed = Devnet::builder().folder(one.path()).start().await;
    assert!(matches!(failed, Err(DevnetError::Replay { .. })), "{failed:?}");
    assert_eq!(std::fs::read(one.path().join("blocks")).unwrap(), mixed, "nothing was changed");
}

/// The program, with its addresses.
struct Program {
    child: Child,
    ready: Value,
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_nano-devnet"))
}

impl Program {
    fn start(arguments: &[&str]) -> Program {
        let mut child = command()
            .args(["--rpc", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--control", "127.0.0.1:0", "--json"])
            .arg("--stop-with-stdin")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut error = String::new();
            child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
            panic!("not ready: {error}")
        });
        Program { child, ready }
    }

    fn url(&self, name: &str) -> String {
        self.ready[name].as_str().unwrap().to_owned()
    }

    async fn control(&self, body: Value) -> Value {
        let client = reqwest::Client::new();
        let request = client.post(self.url("control")).header("content-type", "application/json");
        let text = request.body(body.to_string()).send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn wait(mut self) -> ExitStatus {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "it does not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn what_was_answered_survives_kill_9_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let arguments = ["--folder", path];
    let mut heads: Vec<(SignedBlock, u128)> = Vec::new();
    let mut program = Program::start(&arguments);
    for n in 0..4 {
        let body = json!({"action": "faucet", "account": key(n).address(), "amount": "1000000"});
        let answer = post_text(&program.url("rpc"), body.to_string()).await;
        let send: BlockHash = answer["hash"].as_str().unwrap().parse().unwrap();
        let opened = sign(block(key(n).public_key(), BlockHash::ZERO, 1_000_000, send.0), &key(n));
        let body = json!({"action": "process", "json_block": "true", "subtype": "open", "block": opened});
        assert_eq!(post_text(&program.url("rpc"), body.to_string()).await["hash"], opened.hash().to_string());
        heads.push((opened, 1_000_000));
    }
    let mut answered: Vec<BlockHash> = heads.iter().map(|(b, _)| b.hash()).collect();
    let mut lost = 0;
    for round in 0..8_u64 {
        let mut tasks = Vec::new();
        for (n, (head, balance)) in heads.iter().enumerate() {
            let (url, mut head, mut balance) = (program.url("rpc"), *head, *balance);
            tasks.push(tokio::spawn(async move {
                let client = reqwest::Client::new();
                let (mut done, mut open_end) = (Vec::new(), None);
                loop {
                    let next = send_block(&key(n as u32), head.hash(), balance - 1, key(9).address());
                    let body =
                        json!({"action": "process", "json_block": "true", "subtype": "send", "block": next});
                    let answer = match client.post(&url).body(body.to_string()).send().await {
                        Ok(answer) => answer.text().await.ok(),
                        Err(_) => None,
                    };
                    let Some(text) = answer else {
                        open_end.get_or_insert((next, balance - 1));
                        return (done, head, balance, open_end);
                    };
                    let answer: Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(answer, json!({"hash": next.hash().to_string()}));
                    (head, balance) = (next, balance - 1);
                    done.push(next.hash());
                }
            }));
        }
        // Not a wait for something: the moment of death is what varies.
        tokio::time::sleep(Duration::from_millis(40 + 23 * round)).await;
        program.kill();
        let mut ends = Vec::new();
        for task in tasks {
            ends.push(task.await.unwrap());
        }
        program = Program::start(&arguments);
        for (n, (done, head, balance, open_end)) in ends.into_iter().enumerate() {
            answered.extend(&done);
            heads[n] = (head, balance);
            // The block without an answer is there or not; only asking tells.
            if let Some((block, left)) = open_end {
                let body = json!({"action": "block_info", "hash": block.hash()});
                if post_text(&program.url("rpc"), body.to_string()).await.get("error").is_none() {
                    heads[n] = (block, left);
                } else {
                    lost += 1;
                }
            }
        }
        let body = json!({"action": "blocks_info", "hashes": answered, "include_not_found": "true"});
        let found = post_text(&program.url("rpc"), body.to_string()).await;
        assert_eq!(found["blocks_not_found"], json!([]), "round {round}");
        for info in found["blocks"].as_object().unwrap().values() {
            assert_eq!(info["confirmed"], "true", "it was final before its answer");
        }
        let audit = program.control(json!({"do": "audit"})).await;
        assert_eq!(audit["blocks"], audit["confirmed"], "{audit}");
    }
    assert!(answered.len() > 40, "only {} blocks in all", answered.len());
    println!("{} blocks answered, {lost} without an answer were not there", answered.len());
}

#[tokio::test]
async fn the_control_endpoint_does_what_the_library_does() {
    let fund = format!("{}=2.5", key(1).address());
    let program = Program::start(&["--memory", "--genesis-epoch", "1", "--on-demand", "--fund", &fund]);
    assert_eq!(program.ready["ready"], true);
    let account = key(1).address();
    let rpc = program.url("rpc");
    let paid = program.control(json!({"do": "faucet", "account": account, "amount": "7"})).await;
    let send = paid["hash"].as_str().unwrap().to_owned();
    let held = program.control(json!({"do": "account", "account": account})).await;
    assert_eq!(held["receivable"].as_array().unwrap().len(), 2);
    let opened =
        sign(block(key(1).public_key(), BlockHash::ZERO, 7, send.parse::<BlockHash>().unwrap().0), &key(1));
    let entry = program.control(json!({"do": "publish", "block": opened})).await;
    assert_eq!((&entry["subtype"], &entry["confirmed"]), (&json!("receive"), &json!(false)));
    assert_eq!(program.control(json!({"do": "publish", "block": opened})).await["code"], 8520);
    let rule = json!({"on": {"action": "version"}, "effect": {"kind": "error", "text": "no"}, "times": 1});
    let added = program.control(json!({"do": "fault_add", "rule": rule})).await;
    assert_eq!(post_text(&rpc, json!({"action": "version"}).to_string()).await, json!({"error": "no"}));
    let list = program.control(json!({"do": "fault_list"})).await;
    assert_eq!((&list["faults"][0]["struck"], &list["faults"][0]["rule"]["times"]), (&json!(1), &json!(1)));
    let key_rule = json!({"effect": {"kind": "rival_before", "key": "11".repeat(32)}});
    program.control(json!({"do": "fault_add", "rule": key_rule})).await;
    let list = program.control(json!({"do": "fault_list"})).await.to_string();
    assert!(list.contains("(hidden)") && !list.contains("1111"), "a key is never shown: {list}");
    program.control(json!({"do": "fault_remove", "id": added["id"]})).await;
    program.control(json!({"do": "fault_clear"})).await;
    assert!(program.control(json!({"do": "epoch", "account": account})).await["hash"].is_string());
    assert_eq!(program.control(json!({"do": "epoch", "account": account})).await["code"], 8525);
    assert!(program.control(json!({"do": "confirm_all"})).await["confirmed"].as_u64().unwrap() >= 4);
    let rival = sign(block(key(1).public_key(), BlockHash::ZERO, 7, opened.block.link), &key(1));
    let mut rival = rival;
    rival.block.representative = GENESIS;
    let rival = sign(rival.block, &key(1));
    assert_eq!(program.control(json!({"do": "let_win", "block": rival})).await["code"], 8524);
    assert_eq!(program.control(json!({"do": "confirm", "hash": "00".repeat(32)})).await["code"], 8523);
    program.control(json!({"do": "behind", "on": true})).await;
    program.control(json!({"do": "behind", "on": false})).await;
    let status = program.control(json!({"do": "status"})).await;
    assert_eq!(status["blocks"], status["confirmed"]);
    assert_eq!(program.control(json!({"do": "audit"})).await["blocks"], status["blocks"]);
    assert_eq!(program.control(json!({"do": "nonsense"})).await["code"], 8551);
    // What a page in a browser could send is refused.
    let client = reqwest::Client::new();
    for (name, value) in [("content-type", "text/plain"), ("origin", "http://example.org")] {
        let mut request = client.post(program.url("control")).body("{\"do\":\"stop\"}");
        if name == "origin" {
            request = request.header("content-type", "application/json");
        }
        let answer = request.header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), 403, "{name}");
    }
    assert_eq!(program.control(json!({"do": "stop"})).await, json!({"stopping": true}));
    assert!(program.wait().success());
}

#[test]
fn the_program_explains_itself_and_its_errors() {
    let run = |arguments: &[&str]| command().args(arguments).stdin(Stdio::null()).output().unwrap();
    let help = run(&["--help"]);
    let text = String::from_utf8(help.stdout).unwrap();
    for word in ["--folder", "--memory", "--control", "lose_answer", "Exit status", "faucet"] {
        assert!(text.contains(word), "{word}");
    }
    assert_eq!(run(&[]).status.code(), Some(2), "a place must be chosen");
    assert_eq!(run(&["--memory", "--folder", "x"]).status.code(), Some(2));
    assert_eq!(run(&["--memory", "--genesis-epoch", "3"]).status.code(), Some(2));
    assert_eq!(run(&["--memory", "--fund", "nano_1"]).status.code(), Some(2));
    let outside = run(&["--memory", "--rpc", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--control", "0.0.0.0:0"]);
    assert_eq!(outside.status.code(), Some(1));
    assert!(String::from_utf8(outside.stderr).unwrap().contains("error 8511"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("blocks"), "something else").unwrap();
    let path = folder.path().to_str().unwrap();
    let foreign = run(&["--folder", path, "--rpc", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--json"]);
    let error: Value = serde_json::from_slice(&foreign.stderr).unwrap();
    assert_eq!((foreign.status.code(), &error["code"]), (Some(1), &json!(8502)));
    assert!(error["next"].is_string());
    assert_eq!(std::fs::read(folder.path().join("blocks")).unwrap(), b"something else");
}

#[tokio::test]
async fn the_program_stops_with_its_input_and_on_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let mut program =
        Program::start(&["--folder", path, "--delay-ms", "1", "--order", "random", "--seed", "3"]);
    let body = json!({"action": "faucet", "account": key(1).address()});
    let paid = post_text(&program.url("rpc"), body.to_string()).await;
    assert_eq!(paid["amount"], Raw(1000 * Raw::XNO.0).to_string());
    let mut stdin = program.child.stdin.take().unwrap();
    stdin.write_all(b"ignored\n").unwrap();
    drop(stdin);
    assert!(program.wait().success());

    let program = Program::start(&["--folder", path]);
    assert_eq!(program.ready["blocks"], 4);
    let kill = Command::new("kill").arg("-TERM").arg(program.child.id().to_string()).status().unwrap();
    assert!(kill.success());
    assert!(program.wait().success());
}
