//! The indexer as a process, and what it answers.
#![allow(dead_code, reason = "not every test needs everything")]

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use zx1_e2e::{Localnet, Running};

/// An indexer of a local cluster as a process.
pub(crate) struct Indexer {
    pub(crate) process: Running,
    pub(crate) url: String,
    pub(crate) http: reqwest::Client,
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl Indexer {
    /// Starts one with its data in this folder.
    pub(crate) fn start(net: &Localnet, data: &Path, websocket: bool) -> Self {
        Self::start_with(net, data, websocket, &[])
    }

    /// As [`Self::start`], with more options.
    pub(crate) fn start_with(net: &Localnet, data: &Path, websocket: bool, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-indexer"));
        command
            .args(["--rpc", net.rpc_url(), "--port", "0", "--data"])
            .arg(data)
            .args(["--ws", if websocket { net.ws_url() } else { "" }])
            .args(more)
            .env("ZX1_INDEXER_LOG", "warn,zx1_indexer=debug");
        if let Some(nano) = &net.env().nano_rpc_url {
            command.args(["--nano", nano]);
        }
        let process = Running::start(command);
        let said = process.wait_for("\"ready\":true");
        let line = said.lines().find(|line| line.contains("\"ready\":true")).unwrap();
        let ready: Value = serde_json::from_str(line).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            url: ready["url"].as_str().unwrap().to_owned(),
            process,
            http: reqwest::Client::new(),
            runtime,
        }
    }

    /// What it answers.
    pub(crate) fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.url);
        self.runtime.block_on(async { self.http.get(url).send().await.unwrap().json().await.unwrap() })
    }

    /// Asks until the answer is as it must be.
    #[track_caller]
    pub(crate) fn until(&self, path: &str, what: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.get(path);
            if what(&answer) {
                return answer;
            }
            assert!(Instant::now() < deadline, "{path}: {answer}\n{}", self.process.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Until it has indexed what the chain has now.
    #[track_caller]
    pub(crate) fn caught_up(&self, net: &Localnet) -> Value {
        let slot = net.status().slot;
        self.until("/v1/status", |it| it["slot"].as_u64() >= Some(slot) && it["state"] == "live")
    }

    /// Reads a stream until what it said satisfies this; the events' data.
    #[track_caller]
    pub(crate) fn stream(&self, query: &str, what: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let url = format!("{}/v1/stream?{query}", self.url);
        let read = async {
            let mut answer = self.http.get(url).send().await.unwrap();
            let (mut text, mut events) = (String::new(), Vec::new());
            while !what(&events) {
                let chunk = answer.chunk().await.unwrap().unwrap();
                text.push_str(&String::from_utf8_lossy(&chunk));
                let whole = text.rfind("\n\n").map_or(0, |end| end + 2);
                let data = text[..whole].lines().filter_map(|line| line.strip_prefix("data: "));
                events.extend(data.filter_map(|data| serde_json::from_str::<Value>(data).ok()));
                text.drain(..whole);
            }
            events
        };
        let patience = async { tokio::time::timeout(Duration::from_secs(60), read).await };
        self.runtime.block_on(patience).unwrap_or_else(|_| panic!("{query}: {}", self.process.said()))
    }
}
