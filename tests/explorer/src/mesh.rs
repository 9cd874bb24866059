//! Two agents with nodes, a node that only observes, and an indexer that reads it.

use crate::processes::{ready, start_indexer, until_answers};
use serde_json::Value;
use std::process::Command;
use zx1_e2e::{Localnet, Owner, Running, binary, path, text, wait_for_mesh, wait_until};

/// All of it. The processes end when it is dropped.
pub struct Mesh {
    /// The explorer's address.
    pub url: String,
    /// `alice` buys, `bob` sells; both can submit batches.
    pub agents: [Owner; 2],
    net: Localnet,
    _observer: Running,
    _indexer: Running,
    _folder: tempfile::TempDir,
}

impl Mesh {
    /// Starts it, and waits until the observing node is in the mesh.
    #[track_caller]
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("zx1-explorer-").tempdir().unwrap();
        let net = Localnet::builder().start();
        let (mut alice, mut bob) = (Owner::simple(&net, 0, "alice"), Owner::simple(&net, 1, "bob"));
        alice.start(&["--name", "alice"]);
        bob.bootstrap = Some(alice.address.clone());
        bob.start(&["--name", "bob"]);
        wait_for_mesh(&alice);
        for owner in [&alice, &bob] {
            owner.json(&["batch", "open", "--yes"]);
        }
        let watch = folder.path().join("watch");
        let mut command = Command::new(binary("zx1-node"));
        command
            .args(["--observe", path(&watch), "--url", net.rpc_url(), "--api", "127.0.0.1:0", "--no-mdns"])
            .args(["--listen", "/ip4/127.0.0.1/tcp/0", "--bootstrap", &alice.address])
            .args(["--bootstrap", &bob.address]);
        let (observer, _) = ready(command, "\"ready\":true");
        let (indexer, url) = start_indexer(&net, None, folder.path(), "0", &["--mesh", path(&watch)]);
        let agents = [alice, bob];
        let mesh = Self { url, agents, net, _observer: observer, _indexer: indexer, _folder: folder };
        mesh.until_indexed("/v1/agents", |it| {
            let has_key = |it: &Value| it["keys"].as_array().is_some_and(|keys| keys.len() == 1);
            it["items"].as_array().is_some_and(|items| items.len() == 2 && items.iter().all(has_key))
        });
        mesh.until_indexed("/v1/mesh", |it| {
            let in_mesh = |peer: &Value| peer["mesh"].as_array().is_some_and(|mesh| mesh.len() == 3);
            it["mesh"]["peers"]
                .as_array()
                .is_some_and(|peers| peers.iter().filter(|it| in_mesh(it)).count() == 2)
        });
        mesh
    }

    /// Waits until the indexer's answer is as it must be.
    #[track_caller]
    pub fn until_indexed(&self, path: &str, is_so: impl Fn(&Value) -> bool) {
        until_answers(&self.url, path, is_so);
    }

    /// What the indexer answers.
    #[track_caller]
    pub fn indexed(&self, path: &str) -> Value {
        crate::processes::get(&format!("{}{path}", self.url))
    }

    /// Alice buys from Bob, who delivers, and rates him.
    #[track_caller]
    pub fn deal(&self, score: &str) {
        let [alice, bob] = &self.agents;
        let proposed =
            alice.send(&["negotiate", "propose", &bob.mint, "--value", "250", "--text", "3 pages"]);
        let deal = text(&alice.wait_for(proposed, "acknowledged")["conversation"]).to_owned();
        let accepted = bob.send(&["negotiate", "accept", &deal]);
        bob.wait_for(accepted, "acknowledged");
        let delivered = bob.send(&["negotiate", "deliver", &deal, "--text", "drei Seiten"]);
        bob.wait_for(delivered, "acknowledged");
        let rated = alice.send(&["negotiate", "rate", &deal, &bob.mint, "--score", score]);
        alice.wait_for(rated, "sent");
        wait_until("it is in his log", || {
            let received = |it: &(String, String)| it.0 == "received" && it.1 == "feedback";
            bob.logged().iter().any(received).then_some(())
        });
    }

    /// The day ends, and Bob submits his batch.
    #[track_caller]
    pub fn next_day(&self) {
        self.net.travel_epochs(1);
        let slot = self.net.status().slot;
        for owner in &self.agents {
            wait_until("the node's clock has followed", || {
                (owner.status()["cluster"]["slot"].as_u64()? >= slot).then_some(())
            });
        }
        let told = self.agents[1].json(&["batch", "submit", "--data", &self.url, "--yes"]);
        assert_eq!(told["upload"]["state"], "served", "{told}");
    }
}
