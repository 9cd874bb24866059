//! The sponsor as a process and over HTTP, without a cluster. What it signs is tested in `tests/e2e`.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use zx1_home::keys::{self, Form};
use zx1_sponsor::{Config, Server};

/// A port on which nobody listens: below those that the system gives out.
const DEAD_URL: &str = "http://127.0.0.1:1";
const MAINNET: &str = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const SENDER: &str = "11111111111111111111111111111112";

/// A server that answers every request with this body.
fn web(kind: &'static str, body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 4_096]);
            // The body is small and comes with the head or is not needed.
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(size) if size > 0 => request.extend_from_slice(&buffer[..size]),
                    _ => break,
                }
            }
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}");
            let _ = stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n{body}").as_bytes());
        }
    });
    url
}

/// A node that answers every question with this genesis hash.
fn node(genesis: &str) -> String {
    web("application/json", json!({ "jsonrpc": "2.0", "id": 0, "result": genesis }).to_string())
}

/// A folder with a key, whose public half is returned, in `key.json`.
fn folder() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let seed = keys::Seed::new([7; 32]);
    keys::create(&folder.path().join("key.json"), &seed, Form::SolanaJson).unwrap();
    (folder, solana_address::Address::new_from_array(keys::public(&seed)).to_string())
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-sponsor"));
    command.args(["--listen", "127.0.0.1:0"]).args(arguments).current_dir(folder);
    command.env_clear().env("HOME", folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Asserts exit code 1 with an error of this number in one line, and returns the line.
#[track_caller]
fn fails(output: &Output, number: u32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
    assert!(said.starts_with(&format!("error {number}: ")) && said.lines().count() == 1, "{said}");
    said
}

fn files(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn an_empty_variable_counts_as_none() {
    let (folder, _) = folder();
    let printed = |variables: &[&str]| {
        let empty = variables.iter().map(|name| (name, ""));
        command(folder.path(), &["--print-config"]).envs(empty).output().unwrap()
    };
    let usual = printed(&[]);
    assert!(usual.status.success(), "{usual:?}");
    assert_eq!(printed(&["ZX1_SPONSOR_CONFIG", "ZX1_URL", "ZX1_KEYPAIR", "ZX1_SPONSOR_DATA"]), usual);
}

#[test]
fn without_a_cluster_it_says_so_and_changes_nothing() {
    let (folder, _) = folder();
    let before = files(folder.path());
    let said = fails(&run(folder.path(), &["-k", "key.json", "-u", DEAD_URL]), 7000);
    assert!(said.contains(DEAD_URL), "{said}");
    let page = web("text/html", "<html><body>Welcome!</body></html>".to_owned());
    let said = fails(&run(folder.path(), &["-k", "key.json", "-u", &page]), 7002);
    assert!(said.contains(&page), "{said}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn wrong_options_end_with_2() {
    let (folder, _) = folder();
    for wrong in [
        &["--per-day", "x"][..],
        &["--per-day", "-0.1"],
        &["--per-sender", "-1"],
        &["--listen", "nope"],
        &["--listen", "127.0.0.1:99999"],
        &["--default-url-unasked"],
        &["nonsense"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-sponsor"));
        let output = command.args(wrong).current_dir(folder.path()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{wrong:?}: {output:?}");
    }
}

#[test]
fn a_key_or_a_record_that_cannot_be_used_fails() {
    let (folder, _) = folder();
    let at = |arguments: &[&str]| run(folder.path(), &[&["-u", DEAD_URL], arguments].concat());
    fails(&at(&[]), 9700);
    fails(&at(&["-k", "none.json"]), 9701);
    let mut halves: Vec<u8> = vec![7; 32];
    halves.extend([8; 32]);
    std::fs::write(folder.path().join("halves.json"), json!(halves).to_string()).unwrap();
    let said = fails(&at(&["-k", "halves.json"]), 9701);
    assert!(said.contains("halves.json") && said.contains("public half"), "{said}");
    std::fs::write(folder.path().join("sponsor.json"), "{\"epoch\": -1}").unwrap();
    fails(&at(&["-k", "key.json", "--data", "."]), 7577);
    std::fs::write(folder.path().join("wrong.toml"), "per_sander = 5").unwrap();
    let said = fails(&at(&["--config", "wrong.toml"]), 9700);
    assert!(said.contains("per_sander"), "{said}");
}

#[test]
fn the_main_network_has_to_be_named() {
    let (folder, _) = folder();
    let url = node(MAINNET);
    let by_default = ["-k", "key.json", "--default-url", &url, "--default-url-unasked"];
    fails(&run(folder.path(), &by_default), 9702);
}

#[test]
fn what_it_prints_as_its_configuration_it_reads() {
    let (folder, _) = folder();
    let printed = run(folder.path(), &["--per-day", "0.05", "--print-config"]);
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(text.contains("per_day_lamports = 50000000"), "{text}");
    std::fs::write(folder.path().join("sponsor.toml"), &text).unwrap();
    let again = run(folder.path(), &["--config", "sponsor.toml", "--print-config"]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), text);
}

#[test]
fn it_says_where_it_listens_and_ends_cleanly_at_sigterm() {
    let (folder, sponsor) = folder();
    let url = node("a genesis of its own");
    let mut command = command(folder.path(), &["-k", "key.json", "-u", &url, "--per-sender", "2"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&ready["sponsor"], &ready["per_sender"]), (&json!(sponsor), &json!(2)), "{line}");
    assert_eq!(ready["url"], format!("http://{}", ready["listening"].as_str().unwrap()));
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert!(child.wait().unwrap().success());
}

/// A server of this configuration on a node that knows only its genesis.
async fn server(change: impl FnOnce(&mut Config)) -> (Server, TempDir) {
    let (folder, _) = folder();
    let mut config = Config {
        url: node("a genesis of its own"),
        keypair: folder.path().join("key.json"),
        data: folder.path().to_owned(),
        ..Config::default()
    };
    config.bind.set_port(0);
    change(&mut config);
    (Server::start(&config, false).await.unwrap(), folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_are_refused_with_their_numbers() {
    let (server, _folder) = server(|_| {}).await;
    let client = reqwest::Client::new();
    let url = |path: &str| format!("{}{path}", server.ready().url);
    let post = async |body: String| {
        let asked = client.post(url("/v1/feedback")).header("content-type", "application/json");
        let answer = asked.body(body).send().await.unwrap();
        let status = answer.status().as_u16();
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        let refusal: Value = answer.json().await.unwrap();
        for name in ["type", "title", "name", "detail", "next"] {
            assert!(refusal[name].as_str().is_some_and(|text| !text.is_empty()), "{refusal}");
        }
        assert_eq!(refusal["status"], status);
        (status, refusal["code"].as_u64().unwrap())
    };
    let say = |sender: &str, text: &str| json!({ "sender": sender, "text": text }).to_string();
    for (body, status, code) in [
        ("no JSON".to_owned(), 400, 9710),
        (json!({ "sender": SENDER }).to_string(), 400, 9710),
        (json!({ "sender": SENDER, "text": "x", "more": 1 }).to_string(), 400, 9710),
        (say("nobody", "x"), 400, 9711),
        (say(&server.ready().sponsor, "x"), 400, 9712),
        (say(SENDER, ""), 400, 7570),
        (say(SENDER, &"x".repeat(2_049)), 400, 7570),
        (say(SENDER, &"x".repeat(20_000)), 413, 9717),
    ] {
        assert_eq!(post(body.clone()).await, (status, code), "{body:.60}");
    }
    for (path, method, status, code) in
        [("/", "GET", 404, 9719), ("/v1/feedback", "GET", 405, 9720), ("/metrics", "POST", 405, 9720)]
    {
        let answer = client.request(method.parse().unwrap(), url(path)).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{method} {path}");
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        assert_eq!(answer.json::<Value>().await.unwrap()["code"], code);
    }
    for kind in [None, Some("text/plain")] {
        let mut asked = client.post(url("/v1/feedback")).body(say(SENDER, "x"));
        asked = kind.into_iter().fold(asked, |asked, kind| asked.header("content-type", kind));
        let answer = asked.header("origin", "https://elsewhere.example").send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 415, "what a page of another origin sends without asking");
        assert!(!answer.headers().contains_key("access-control-allow-origin"));
        assert_eq!(answer.json::<Value>().await.unwrap()["code"], 9721);
    }
    // The node says nothing sensible, and its address is nobody's business.
    let answer = client.get(url("/healthz")).send().await.unwrap();
    assert!(answer.status().is_server_error());
    let text = answer.text().await.unwrap();
    assert!(text.contains("tell its operator") && !text.contains("127.0.0.1"), "{text}");
    let metrics = client.get(url("/metrics")).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("zx1_sponsor_requests_total{status=\"413\"} 1"), "{metrics}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_too_often_has_to_wait() {
    let (server, _folder) = server(|config| {
        config.limits.address.burst = 2;
        config.limits.address.per_second = 1;
    })
    .await;
    let url = format!("{}/metrics", server.ready().url);
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let answer = reqwest::get(&url).await.unwrap();
        assert_eq!(answer.headers()["ratelimit-policy"], "\"address\";q=2;w=2");
        let left = answer.headers()["ratelimit"].to_str().unwrap().starts_with("\"address\";r=1;");
        statuses.push((answer.status().as_u16(), answer.headers().contains_key("retry-after"), left));
    }
    assert_eq!((statuses[0], statuses[3]), ((200, false, true), (429, true, false)), "{statuses:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_finds_it_busy_is_told_to_come_back() {
    let (server, _folder) = server(|config| config.limits.concurrency = 0).await;
    let body = json!({ "sender": SENDER, "text": "x" }).to_string();
    let asked = reqwest::Client::new().post(format!("{}/v1/feedback", server.ready().url));
    let asked = asked.header("content-type", "application/json").body(body);
    let answer = asked.send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers().contains_key("retry-after")), (503, true));
    assert_eq!(answer.json::<Value>().await.unwrap()["code"], 9714);
    server.stop().await;
}
