//! `zx1-localnet` as a process: what it prints, what a kill leaves, its control endpoint and its refusals; and
//! the harness's own proxy.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use solana_address::Address;
use solana_signer::Signer;
use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    time::{Duration, Instant},
};
use zx1_e2e::{Fault, FaultProxy, Localnet, Running, binary, wait_until};

fn localnet(arguments: &[&str]) -> std::process::Output {
    // Whatever the developer's own shell says.
    Command::new(binary("zx1-localnet")).env_remove("ZX1_LOCALNET_CONTROL").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs against a cluster; its standard output.
#[track_caller]
fn control(net: &Localnet, arguments: &[&str]) -> String {
    let output = localnet(&[arguments, &["--control", net.control_url()]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_ready_line_is_the_environment_ok() {
    let net = Localnet::builder().start();
    let printed: Value = serde_json::from_str(&control(&net, &["env", "--json"])).unwrap();
    assert_eq!(printed, serde_json::to_value(net.env()).unwrap());
    assert_eq!(net.rpc("getHealth", json!([])).unwrap(), "ok");
    let port = |url: &str| url.rsplit(':').next().unwrap().parse::<u16>().unwrap();
    assert_eq!(port(net.ws_url()), port(net.rpc_url()) + 1, "where every tool looks for it");
}

#[test]
fn a_shell_can_evaluate_the_environment_ok() {
    let net = Localnet::builder().start();
    let script = format!(
        "eval \"$({} env --control {})\"; echo \"$ZX1_URL|$ANCHOR_PROVIDER_URL|$ZX1_KEYPAIR|$ZX1_USDC_MINT\"",
        binary("zx1-localnet").display(),
        net.control_url()
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let key = net.wallet_file(0);
    let url = net.rpc_url();
    assert_eq!(text(&output.stdout), format!("{url}|{url}|{}|{}\n", key.display(), net.env().usdc_mint));
}

#[test]
fn time_and_money_from_the_command_line_ok() {
    let net = Localnet::builder().start();
    let before = net.status();
    let after: Value = serde_json::from_str(&control(&net, &["time", "--epochs", "2", "--json"])).unwrap();
    assert_eq!(after["epoch"], before.epoch + 2);
    assert!(control(&net, &["time", "--slots", "10"]).contains("zx1 epoch"));
    assert!(control(&net, &["status"]).contains("slot 4004"));
    let stranger = Address::new_unique();
    let name = stranger.to_string();
    assert_eq!(
        control(&net, &["fund", &name, "--sol", "2.5", "--usdc", "100.000001"]),
        format!("{name} has 2.5 SOL and 100.000001 USDC\n")
    );
    assert_eq!((net.lamports(&stranger), net.usdc(&stranger)), (2_500_000_000, 100_000_001));
}

#[test]
fn bad_arguments_are_refused_with_a_sentence_fails() {
    let net = Localnet::builder().start();
    let url = net.control_url();
    for (arguments, code, words) in [
        (&["time", "--epochs", "x"][..], 2, "invalid value"),
        (&["time"], 2, "--epochs"),
        (&["time", "--epochs", "1", "--slots", "1"], 2, "cannot be used with"),
        (&["--slot-time", "0"], 2, "0 is not in 1..=60000"),
        (&["--wallets", "0"], 2, "0 is not in 1..=1000"),
        (&["--port", "99999"], 2, "99999"),
        (&["--no-state", "--state", "x"], 2, "cannot be used with"),
        (&["bogus"], 2, "bogus"),
        (&["fund", "nobody", "--sol", "1", "--control", url], 1, "error 9814: invalid address 'nobody'"),
        (&["fund", "nobody", "--sol", "1,5", "--control", url], 1, "error 9813"),
        (&["fund", "nobody", "--usdc", "0.0000001", "--control", url], 1, "error 9813"),
        (&["time", "--unix", "5", "--control", url], 1, "error 9811"),
        (&["time", "--epochs", "18446744073709551615", "--control", url], 1, "error 9812"),
        (&["status", "--control", "http://127.0.0.1:1"], 1, "error 9816"),
        (&["status", "--control", net.rpc_url()], 1, "error 9817"),
        (&["status", "--state", "/nonexistent"], 1, "error 9816"),
        (&["--port", "0", "--no-state", "--programs", "/nonexistent"], 1, "error 9800"),
    ] {
        let output = localnet(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(code == 2 || said.lines().nth(1).unwrap().starts_with("next: "), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn json_is_one_line_wherever_it_is_asked_for_and_errors_have_one_shape() {
    let net = Localnet::builder().start();
    let url = net.control_url();
    let before: Value =
        serde_json::from_str(&text(&localnet(&["--json", "status", "--control", url]).stdout)).unwrap();
    let after: Value = serde_json::from_str(&control(&net, &["status", "--json"])).unwrap();
    assert_eq!(before["epoch"], after["epoch"]);
    for (arguments, code, number, name) in [
        (&["--json", "fund", "nobody", "--sol", "1", "--control", url][..], 1, 9814, "BadAddress"),
        (&["status", "--json", "--control", "http://127.0.0.1:1"], 1, 9816, "NotRunning"),
        (&["time", "--json"], 2, 9819, "Usage"),
        (&["bogus", "--json"], 2, 9819, "Usage"),
    ] {
        let output = localnet(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let said: Value = serde_json::from_str(&text(&output.stderr)).unwrap();
        assert_eq!((&said["code"], &said["name"]), (&number.into(), &name.into()), "{arguments:?}");
        assert!(said["message"].as_str().unwrap().len() > 10 && !said["next"].as_str().unwrap().is_empty());
        let last: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
        assert_eq!(last, json!({ "error": said }), "{arguments:?}");
    }
}

#[test]
fn a_killed_cluster_goes_on_from_its_last_block_ok() {
    let mut net = Localnet::builder().start();
    let stranger = Address::new_unique();
    for round in 1..=5u64 {
        net.fund(&stranger, 1_000_000_000, 1_000_000);
        net.travel_epochs(1);
        let before = net.status();
        net.kill9();
        net.restart();
        let after = net.status();
        assert!(after.slot >= before.slot && after.unix >= before.unix, "{before:?} {after:?}");
        assert!(after.unix < before.unix + 60);
        assert_eq!(
            (net.lamports(&stranger), net.usdc(&stranger)),
            (round * 1_000_000_000, round * 1_000_000)
        );
    }
}

#[test]
fn a_kill_in_the_middle_of_work_loses_nothing_confirmed_ok() {
    let mut net = Localnet::builder().start();
    let stranger = Address::new_unique();
    for _ in 0..5 {
        let before = net.usdc(&stranger);
        let control = net.control_url().to_owned();
        let name = stranger.to_string();
        // One process funds without end, this one kills the cluster meanwhile.
        let mut funder = Running::start({
            let mut command = Command::new("sh");
            let program = binary("zx1-localnet");
            let line =
                format!("while {} fund {name} --usdc 1 --control {control}; do :; done", program.display());
            command.args(["-c", &line]);
            command
        });
        let count = |said: &str| u64::try_from(said.matches(" USDC\n").count()).unwrap();
        wait_until("it was funded a few times", || (count(&funder.stdout()) >= 3).then_some(()));
        net.kill9();
        funder.wait();
        let confirmed = count(&funder.stdout());
        net.restart();
        let got = (net.usdc(&stranger) - before) / 1_000_000;
        // The last one may have landed without its answer.
        assert!(got == confirmed || got == confirmed + 1, "{confirmed} were confirmed and {got} are there");
    }
}

#[test]
fn a_second_process_on_the_same_folder_is_refused_fails() {
    let net = Localnet::builder().start();
    let state = net.state().to_str().unwrap();
    let output = localnet(&["--port", "0", "--state", state]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.starts_with("error 9804:") && said.contains(&net.env().pid.to_string()), "{said}");
    assert_eq!(net.rpc("getHealth", json!([])).unwrap(), "ok");
}

#[test]
fn a_taken_port_is_one_sentence_fails() {
    let net = Localnet::builder().start();
    let port = net.rpc_url().rsplit(':').next().unwrap();
    let output = localnet(&["--no-state", "--control-port", "0", "--port", port]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.starts_with(&format!("error 9802: The RPC port {port} is taken")), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn stop_signals_and_the_stop_command_end_it_in_order_ok() {
    let mut net = Localnet::builder().start();
    let owner = net.wallet(0).pubkey();
    net.fund(&owner, 0, 1);
    net.stop();
    net.restart();
    let state = net.state().to_path_buf();
    let output = localnet(&["stop", "--state", state.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!state.join("running.json").exists(), "a stopped cluster is not announced any more");
    net.restart();
    assert_eq!(net.usdc(&owner), 1_000_000_001);
}

#[test]
fn web_pages_and_strangers_cannot_move_the_clock_fails() {
    let net = Localnet::builder().start();
    let address = net.control_url().strip_prefix("http://").unwrap();
    let ask = |head: &str, body: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        write!(stream, "{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let before = net.status();
    let jump = r#"{"epochs":5}"#;
    let page = ask(&format!("POST /time HTTP/1.1\r\nhost: {address}\r\norigin: https://example.org"), jump);
    assert!(page.starts_with("HTTP/1.1 403") && page.contains("9815"), "{page}");
    let rebound = ask("POST /time HTTP/1.1\r\nhost: evil.example.org", jump);
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
    let head = format!("POST /time HTTP/1.1\r\nhost: {address}");
    for body in ["", "{", "[]", r#"{"epochs":-1}"#, r#"{"days":1}"#, r#"{"epochs":1,"slots":1}"#] {
        let answer = ask(&head, body);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("9815"), "{body}: {answer}");
    }
    let fund = format!("POST /fund HTTP/1.1\r\nhost: {address}");
    let who = Address::new_unique();
    for amounts in [r#""sol":1,"lamports":1"#, r#""sol":"1""#, r#""sol":1e300"#, r#""usdc":-1"#] {
        let answer = ask(&fund, &format!(r#"{{"address":"{who}",{amounts}}}"#));
        assert!(answer.starts_with("HTTP/1.1 400"), "{amounts}: {answer}");
    }
    let good = ask(&fund, &format!(r#"{{"address":"{who}","sol":0.25,"usdc":1.5}}"#));
    assert!(good.starts_with("HTTP/1.1 200"), "{good}");
    assert_eq!((net.lamports(&who), net.usdc(&who)), (250_000_000, 1_500_000));
    assert!(ask(&format!("GET /nothing HTTP/1.1\r\nhost: {address}"), "").starts_with("HTTP/1.1 404"));
    assert_eq!(net.status().epoch, before.epoch);
}

/// A JSON-RPC call through a URL: Ok is an answer that can be read.
fn call(url: &str, method: &str) -> Result<Value, String> {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).map_err(|why| why.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": []}).to_string();
    let length = body.len();
    write!(stream, "POST / HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n\r\n{body}")
        .map_err(|why| why.to_string())?;
    let mut answer = Vec::new();
    loop {
        let mut part = [0; 4096];
        let length = stream.read(&mut part).map_err(|why| why.to_string())?;
        answer.extend_from_slice(&part[..length]);
        let whole = text(&answer);
        if let Some((head, body)) = whole.split_once("\r\n\r\n") {
            let wanted: usize =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap();
            if body.len() >= wanted {
                let status = head.split(' ').nth(1).unwrap();
                return match status {
                    "200" => serde_json::from_str(body).map_err(|_| "garbage".to_owned()),
                    _ => Err(status.to_owned()),
                };
            }
        }
        if length == 0 {
            return Err(if answer.is_empty() { "closed" } else { "half" }.to_owned());
        }
    }
}

#[test]
fn the_proxy_spoils_what_it_is_told_to_and_nothing_else_ok() {
    let net = Localnet::builder().start();
    let proxy = FaultProxy::start(net.rpc_url());
    let url = proxy.url();
    let health = || call(&url, "getHealth").map(|answer| answer["result"].clone());
    assert_eq!(health(), Ok(json!("ok")));
    let wait = Duration::from_millis(300);
    for (fault, seen) in [
        (Fault::DropBefore, Err("closed")),
        (Fault::DropAfter, Err("closed")),
        (Fault::TooManyRequests, Err("429")),
        (Fault::Status(503), Err("503")),
        (Fault::Garbage, Err("garbage")),
        (Fault::HalfAnswer, Err("half")),
        (Fault::NodeBehind, Ok(Value::Null)),
        (Fault::Delay(wait), Ok(json!("ok"))),
        (Fault::DelayAfter(wait), Ok(json!("ok"))),
    ] {
        proxy.fail("getHealth", 1, fault);
        assert!(call(&url, "getVersion").is_ok(), "{fault:?} is for another method");
        let begun = Instant::now();
        assert_eq!(health(), seen.map_err(str::to_owned), "{fault:?}");
        if matches!(fault, Fault::Delay(_) | Fault::DelayAfter(_)) {
            assert!(begun.elapsed() >= wait);
        }
        assert_eq!(proxy.pending(), 0);
        assert_eq!(health(), Ok(json!("ok")), "after {fault:?}");
    }
    proxy.fail("*", 2, Fault::TooManyRequests);
    proxy.fail("getHealth", 1, Fault::Garbage);
    assert_eq!(proxy.pending(), 3);
    let seen: Vec<_> = (0..4).map(|_| health()).collect();
    assert_eq!(seen, [Err("429".into()), Err("429".into()), Err("garbage".into()), Ok(json!("ok"))]);
    proxy.down();
    assert_eq!(health(), Err("closed".into()));
    proxy.up();
    assert_eq!(health(), Ok(json!("ok")));
    proxy.wait_for_calls("getHealth", 1 + 9 * 2 + 4 + 2);
    assert_eq!(proxy.calls("getVersion"), 9);
}
