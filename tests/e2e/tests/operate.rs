//! What operators are given (`indexer/ops`) fits the servers as they run: metrics, alerts, dashboards, units, images,
//! logs, limits; and an indexer waits for its node.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "operate/alerts.rs"]
mod alerts;
#[path = "operate/files.rs"]
mod files;
#[path = "operate/process.rs"]
mod process;
#[path = "operate/waiting.rs"]
mod waiting;

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use zx1_e2e::{Localnet, Running, binary};

/// A server of ours as a process.
pub struct Server {
    pub process: Running,
    pub url: String,
    /// What requests carry, where they must.
    token: Option<String>,
    _data: tempfile::TempDir,
}

impl Server {
    /// Starts a program with these arguments and a data folder of its own, and waits for its ready line.
    #[track_caller]
    pub fn start<A: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = A>) -> Server {
        Server::begin(Command::new(binary(program)), arguments)
    }

    /// The same, with this number of open files at most.
    #[track_caller]
    pub fn with_files(program: &str, files: u32, arguments: &[&str]) -> Server {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]).arg(binary(program));
        Server::begin(shell, arguments)
    }

    fn begin<A: AsRef<OsStr>>(mut command: Command, arguments: impl IntoIterator<Item = A>) -> Server {
        let data = tempfile::tempdir().unwrap();
        command.args(arguments).arg("--data").arg(data.path().join("data"));
        Server::run(command, data)
    }

    /// Runs a command until it is ready.
    #[track_caller]
    fn run(mut command: Command, data: tempfile::TempDir) -> Server {
        command.current_dir(data.path());
        for variable in ["FIX_LOG", "ZX1_INDEXER_LOG", "ZX1_SPONSOR_LOG", "ZX1_NODE_LOG", "ZX1_RELAY_LOG"] {
            command.env_remove(variable);
        }
        let process = Running::start(command);
        let said = process.wait_for("\"ready\":true");
        let line = said.lines().find(|line| line.contains("\"ready\":true")).unwrap();
        let ready: Value = serde_json::from_str(line).unwrap();
        // A relay's is that of its websocket.
        let url = ready["url"].as_str().unwrap().replace("ws://", "http://");
        Server { url, process, token: None, _data: data }
    }

    /// What it has logged so far: all that it said but its ready line.
    pub fn log(&self) -> Vec<String> {
        let said = self.process.said();
        said.lines().filter(|line| !line.contains("\"ready\":true")).map(str::to_owned).collect()
    }

    /// Status, type and text of an answer, to whoever accepts this.
    #[track_caller]
    pub fn get(&self, path: &str, accept: Option<&str>) -> (u16, String, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut request = reqwest::Client::new().get(format!("{}{path}", self.url));
            if let Some(accept) = accept {
                request = request.header("accept", accept);
            }
            if let Some(token) = &self.token {
                request = request.bearer_auth(token);
            }
            let response = request.send().await.unwrap();
            let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
            (response.status().as_u16(), kind, response.text().await.unwrap())
        })
    }

    pub fn metrics(&self) -> String {
        let (status, _, text) = self.get("/metrics", None);
        assert_eq!(status, 200);
        text
    }
}

/// A market with the embedded ledger, a relay, and an indexer and a sponsor of a local cluster.
pub fn all(net: &Localnet) -> [(&'static str, Server); 4] {
    let keypair = net.wallet_file(0);
    [
        (
            "zx1_indexer",
            Server::start("zx1-indexer", ["--port", "0", "--rpc", net.rpc_url(), "--ws", net.ws_url()]),
        ),
        ("fix_market", Server::start("fix-server", ["--port", "0"])),
        ("zx1_relay", Server::start("zx1-relay", ["--port", "0"])),
        (
            "zx1_sponsor",
            Server::start(
                "zx1-sponsor",
                ["--listen", "127.0.0.1:0", "--url", net.rpc_url(), "--keypair", keypair.to_str().unwrap()],
            ),
        ),
    ]
}

/// A node of an agent that is not registered on this cluster.
#[track_caller]
pub fn node(net: &Localnet) -> Server {
    const MINT: &str = "6tBou5MHL5aWpDy6cgf3wiwGGK2mR8qs68ujtpaoWrf2";
    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary("zx1-node"));
    command
        .args(["--agent", MINT, "--url", net.rpc_url(), "--api", "127.0.0.1:0", "--no-mdns"])
        .args(["--listen", "/ip4/127.0.0.1/tcp/0"])
        .arg("--keypair")
        .arg(net.wallet_file(0))
        .arg("--home")
        .arg(data.path());
    let token = data.path().join("agents").join(MINT).join("node.token");
    let mut server = Server::run(command, data);
    server.token = Some(std::fs::read_to_string(token).unwrap().trim().to_owned());
    server
}

/// The folder of what operators are given.
pub fn ops(name: &str) -> PathBuf {
    root().join("indexer/ops").join(name)
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[track_caller]
pub fn read(name: &str) -> String {
    std::fs::read_to_string(ops(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
