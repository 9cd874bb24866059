//! The processes that the explorer's pages tell of, and what they answer.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use zx1_e2e::{Localnet, Running, binary};

/// `zx1-indexer` on a cluster, perhaps a market, and with more options; and its address.
#[track_caller]
pub(crate) fn start_indexer(
    net: &Localnet,
    market: Option<&Value>,
    folder: &Path,
    port: &str,
    more: &[&str],
) -> (Running, String) {
    let config = folder.join("indexer.toml");
    std::fs::write(
        &config,
        "market_secs = 1\n[chain]\npoll_ms = 200\nregistry_secs = 1\nowner_check_secs = 1\n[nano]\npoll_secs = 1\n",
    )
    .unwrap();
    let mut command = Command::new(binary("zx1-indexer"));
    command
        .args(["--rpc", net.rpc_url(), "--ws", net.ws_url(), "--port", port, "--config"])
        .arg(config)
        .args(more)
        .arg("--data")
        .arg(folder.join("indexer"))
        .env("ZX1_INDEXER_LOG", "warn");
    if let Some(market) = market {
        command.args(["--nano", market["nano_rpc"].as_str().unwrap()]);
        command.args(["--market", market["url"].as_str().unwrap()]);
    }
    let (process, line) = ready(command, "\"ready\":true");
    (process, text(&line["url"]))
}

#[track_caller]
pub(crate) fn ready(command: Command, sign: &str) -> (Running, Value) {
    let process = Running::start(command);
    let said = process.wait_for(sign);
    let line = said.lines().find(|line| line.contains(sign)).unwrap();
    let line = serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {said}"));
    (process, line)
}

/// Waits until an indexer's answer is as it must be.
#[track_caller]
pub(crate) fn until_answers(url: &str, path: &str, is_so: impl Fn(&Value) -> bool) {
    let mut last = Value::Null;
    let started = Instant::now();
    while !is_so(&last) {
        assert!(started.elapsed() < crate::PATIENCE, "{path} is not as it must be: {last}");
        std::thread::sleep(crate::LOOK);
        last = get(&format!("{url}{path}"));
    }
}

/// A text of JSON.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn http(work: reqwest::RequestBuilder) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let answer = work.send().await.unwrap();
        let (status, url) = (answer.status(), answer.url().clone());
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{url}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{url}: {why}: {text}"))
    })
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().timeout(crate::PATIENCE).build().unwrap()
}

/// GET, as JSON.
#[track_caller]
pub(crate) fn get(url: &str) -> Value {
    http(client().get(url))
}

#[track_caller]
pub(crate) fn post(url: &str, body: &Value) -> Value {
    http(client().post(url).body(body.to_string()))
}

#[track_caller]
pub(crate) fn put(url: &str, body: &Value) -> Value {
    http(client().put(url).body(body.to_string()))
}
