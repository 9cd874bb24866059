//! An agent on the mesh.
#![allow(clippy::indexing_slicing)]

use crate::{Localnet, Running, Zx1, runtime, wait_until};
use serde_json::Value;
use std::path::Path;

/// An address of a registration file at which nobody answers: nodes fetch such files.
pub const NOWHERE: &str = "http://127.0.0.1:1/a.json";

/// An agent with its command line and its node.
pub struct Owner {
    /// Its command line.
    pub zx1: Zx1,
    /// The agent's mint.
    pub mint: String,
    /// Its node while it runs.
    pub node: Option<Running>,
    /// Where its node listens, with the peer id; the port stays over a restart.
    pub address: String,
    /// Where its node begins.
    pub bootstrap: Option<String>,
}

impl Owner {
    /// Registers, lists keys, stakes 30 and pays one epoch. `keys` are files and the scopes that they get. Nobody serves
    /// its registration file.
    #[track_caller]
    pub fn new(net: &Localnet, index: usize, name: &str, keys: &[(&Path, &str)]) -> Self {
        Self::hosted(net, index, name, keys, NOWHERE)
    }

    /// The same with the address of its registration file.
    #[track_caller]
    pub fn hosted(net: &Localnet, index: usize, name: &str, keys: &[(&Path, &str)], uri: &str) -> Self {
        let file = net.wallet_file(index);
        let zx1 = Zx1::new(net).keypair(&file);
        let made = zx1.json(["register", "--name", name, "--uri", uri, "--yes"]);
        for (key, scopes) in keys {
            zx1.json(["keys", "add", path(key), "--scopes", scopes, "--yes"]);
        }
        zx1.json(["stake", "lock", "30", "--yes"]);
        zx1.json(["lease", "pay", "--yes"]);
        let mint = text(&made["agent"]).to_owned();
        Self { zx1, mint, node: None, address: String::new(), bootstrap: None }
    }

    /// With its wallet as the key of every scope.
    #[track_caller]
    pub fn simple(net: &Localnet, index: usize, name: &str) -> Self {
        let file = net.wallet_file(index);
        Self::new(net, index, name, &[(&file, "pay,batch,deal,peer")])
    }

    /// Starts the node and waits until it serves.
    #[track_caller]
    pub fn start(&mut self, options: &[&str]) {
        let listen = match self.address.split_once("/p2p/") {
            Some((address, _)) => address.to_owned(),
            None => "/ip4/127.0.0.1/tcp/0".to_owned(),
        };
        let mut line = vec!["node", "run", "--api", "127.0.0.1:0", "--no-mdns", "--listen", &listen];
        if let Some(bootstrap) = &self.bootstrap {
            line.extend(["--bootstrap", bootstrap]);
        }
        line.extend(options);
        let node = self.zx1.spawn(line);
        node.wait_for("\"ready\":true");
        self.node = Some(node);
        self.address = wait_until("the node listens", || {
            let status = self.status();
            let listening = status["identity"]["listening"].as_array().unwrap().first().cloned()?;
            Some(format!("{}/p2p/{}", text(&listening), text(&status["identity"]["peer"])))
        });
    }

    /// What its node says of itself.
    #[track_caller]
    pub fn status(&self) -> Value {
        self.zx1.json(["node", "status"])
    }

    /// The peers of its node.
    #[track_caller]
    pub fn peers(&self) -> Vec<Value> {
        let peers = self.zx1.json(["node", "peers"]);
        peers.as_array().or_else(|| peers["peers"].as_array()).unwrap().clone()
    }

    /// All metrics of its node.
    #[track_caller]
    pub fn metrics(&self) -> String {
        let folder = self.zx1.home().join("agents").join(&self.mint);
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let place: Value = serde_json::from_str(&read("node.json")).unwrap();
        let (url, token) = (format!("{}/metrics", text(&place["url"])), read("node.token"));
        runtime::wait(async move {
            let request = runtime::http().get(url).bearer_auth(token.trim());
            request.send().await.unwrap().text().await.unwrap()
        })
    }

    /// One figure of them, named with its labels; 0 where there is none.
    #[track_caller]
    pub fn metric(&self, name: &str) -> u64 {
        let all = self.metrics();
        all.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0)
    }

    /// Runs a command; what it printed as JSON.
    #[track_caller]
    pub fn json(&self, line: &[&str]) -> Value {
        self.zx1.json(line)
    }

    /// Sends, and returns the number of the message.
    #[track_caller]
    pub fn send(&self, line: &[&str]) -> u64 {
        let sent = self.zx1.json(line);
        sent["draft"].as_u64().unwrap_or_else(|| panic!("{sent}"))
    }

    /// Waits until a message of the outbox is in this state.
    #[track_caller]
    pub fn wait_for(&self, draft: u64, state: &str) -> Value {
        let number = draft.to_string();
        let mut last = Value::Null;
        wait_until(&format!("message {draft} is {state}; it is {last}"), || {
            last = self.zx1.json(["message", "show", &number]);
            (last["state"] == state).then(|| last.clone())
        })
    }

    /// Received messages that were not acknowledged.
    #[track_caller]
    pub fn inbox(&self) -> Vec<Value> {
        self.json(&["message", "inbox"])["messages"].as_array().unwrap().clone()
    }

    /// Where a deal stands.
    #[track_caller]
    pub fn phase(&self, conversation: &str) -> String {
        text(&self.json(&["negotiate", "show", conversation])["phase"]).to_owned()
    }

    /// Entries of the log, as (direction, type).
    #[track_caller]
    pub fn logged(&self) -> Vec<(String, String)> {
        let listed = self.json(&["log", "list"]);
        let entries = listed["entries"].as_array().unwrap();
        entries.iter().map(|it| (text(&it["direction"]).to_owned(), text(&it["type"]).to_owned())).collect()
    }

    /// Stops the node in order.
    #[track_caller]
    pub fn stop(&mut self) {
        self.zx1.json(["node", "stop"]);
        let status = self.node.take().unwrap().wait();
        assert!(status.success(), "{status}");
    }
}

/// A text of an answer.
#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// A path as an argument.
pub fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// Waits until these nodes have a mesh together.
#[track_caller]
pub fn wait_for_mesh(owner: &Owner) {
    wait_until("a peer is in the mesh", || {
        owner
            .peers()
            .iter()
            .any(|peer| peer["mesh"].as_array().is_some_and(|mesh| mesh.len() == 3))
            .then_some(())
    });
}
