//! The local cluster, as a process of its own.

use std::{
    fs,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use serde_json::{Value, json};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::token::{self, TOKEN_PROGRAM};
use zx1_fixtures::control::{Balance, Env, Jump, Status};

use crate::{
    process::{Running, binary, wait_until},
    runtime,
};

/// How the cluster is to be.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    state: Option<PathBuf>,
    slot_time: Option<u64>,
    wallets: Option<usize>,
    arguments: Vec<String>,
}

impl Builder {
    /// Keeps its state in this folder, which outlives the value. Otherwise the folder is a temporary one.
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Milliseconds between empty blocks, instead of 400.
    pub fn slot_time(mut self, ms: u64) -> Self {
        self.slot_time = Some(ms);
        self
    }

    /// How many wallets have SOL and USDC, instead of 4.
    pub fn wallets(mut self, count: usize) -> Self {
        self.wallets = Some(count);
        self
    }

    /// One more argument for `zx1-localnet`.
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Starts `zx1-localnet` on free ports, and waits until it is ready.
    #[track_caller]
    pub fn start(self) -> Localnet {
        let folder = tempfile::Builder::new().prefix("zx1-e2e-").tempdir().unwrap();
        let mut net = Localnet {
            state: self.state.clone().unwrap_or_else(|| folder.path().join("localnet")),
            process: None,
            builder: self,
            env: None,
            folder,
            keys: Mutex::new(0),
        };
        net.restart();
        net
    }
}

/// A running cluster. One that this value started is killed when it is dropped.
pub struct Localnet {
    // Dropped before the folder.
    process: Option<Running>,
    env: Option<Env>,
    builder: Builder,
    state: PathBuf,
    folder: tempfile::TempDir,
    keys: Mutex<usize>,
}

impl Localnet {
    /// The cluster that `ANCHOR_PROVIDER_URL` names, as in `anchor test`, else one of its own.
    #[track_caller]
    pub fn start() -> Self {
        match std::env::var("ANCHOR_PROVIDER_URL") {
            Ok(url) if !url.is_empty() => Self::attach(&url),
            _ => Self::builder().start(),
        }
    }

    /// Configures a cluster of its own, whatever the environment says.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Uses a cluster that runs already. Its control endpoint is at `ZX1_LOCALNET_CONTROL`, else at the
    /// default port.
    #[track_caller]
    pub fn attach(rpc_url: &str) -> Self {
        let control = std::env::var("ZX1_LOCALNET_CONTROL")
            .ok()
            .filter(|url| !url.is_empty())
            .unwrap_or_else(|| "http://127.0.0.1:8897".to_owned());
        let mut env: Env = serde_json::from_value(get(&format!("{control}/env"))).unwrap_or_else(|why| {
            panic!("ANCHOR_PROVIDER_URL is set, but no zx1-localnet answers at {control}: {why}")
        });
        env.rpc_url = rpc_url.trim_end_matches('/').to_owned();
        Self {
            process: None,
            state: env.state.clone(),
            env: Some(env),
            builder: Builder::default(),
            folder: tempfile::Builder::new().prefix("zx1-e2e-").tempdir().unwrap(),
            keys: Mutex::new(0),
        }
    }

    /// True where the cluster is somebody else's, with other tests' agents and time.
    pub fn is_attached(&self) -> bool {
        self.process.is_none()
    }

    /// Where everything is.
    pub fn env(&self) -> &Env {
        self.env.as_ref().expect("the cluster is started")
    }

    /// JSON-RPC over HTTP.
    pub fn rpc_url(&self) -> &str {
        &self.env().rpc_url
    }

    /// URL of the cluster's websocket.
    pub fn ws_url(&self) -> &str {
        &self.env().ws_url
    }

    /// The control endpoint.
    pub fn control_url(&self) -> &str {
        &self.env().control_url
    }

    /// The state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// A JSON-RPC call: its result, or the error object. Panics if nobody answers.
    #[track_caller]
    pub fn rpc(&self, method: &str, params: Value) -> Result<Value, Value> {
        runtime::rpc(self.rpc_url(), method, params)
    }

    /// Key file of the n-th ready-made wallet, from 0.
    #[track_caller]
    pub fn wallet_file(&self, index: usize) -> PathBuf {
        self.key_file(&format!("wallet-{}", index + 1))
    }

    /// The n-th ready-made wallet, from 0.
    #[track_caller]
    pub fn wallet(&self, index: usize) -> Keypair {
        read_key(&self.wallet_file(index))
    }

    /// Key file of `treasury`, `maintainer`, `sponsor`, `upgrade-authority`, `faucet` or `wallet-N`.
    #[track_caller]
    pub fn key_file(&self, name: &str) -> PathBuf {
        let wallet = self.env().wallet(name);
        wallet.unwrap_or_else(|| panic!("the cluster has no wallet '{name}'")).keypair.clone()
    }

    /// The key of one of these.
    #[track_caller]
    pub fn key(&self, name: &str) -> Keypair {
        read_key(&self.key_file(name))
    }

    /// The mint that stands for USDC.
    pub fn usdc_mint(&self) -> Address {
        self.env().usdc_mint.parse().unwrap()
    }

    /// A new wallet with so many whole SOL and USDC, and its key file.
    #[track_caller]
    pub fn new_wallet(&self, sol: u64, usdc: u64) -> (Keypair, PathBuf) {
        let key = Keypair::new();
        let number = {
            let mut keys = self.keys.lock().unwrap();
            *keys += 1;
            *keys
        };
        let file = self.folder.path().join(format!("key-{number}.json"));
        let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).unwrap();
        out.write_all(serde_json::to_string(&key.to_bytes().to_vec()).unwrap().as_bytes()).unwrap();
        if sol > 0 || usdc > 0 {
            self.fund(&key.pubkey(), sol * 1_000_000_000, usdc * 1_000_000);
        }
        (key, file)
    }

    /// Adds lamports and micro-USDC to an address.
    #[track_caller]
    pub fn fund(&self, address: &Address, lamports: u64, usdc_micro: u64) -> Balance {
        let body = json!({"address": address.to_string(), "lamports": lamports, "usdc_micro": usdc_micro});
        serde_json::from_value(self.post("fund", body)).unwrap()
    }

    /// Jumps so many zx1 epochs (days) ahead.
    #[track_caller]
    pub fn travel_epochs(&self, epochs: u64) -> Status {
        self.jump(Jump { epochs: Some(epochs), ..Jump::default() })
    }

    /// Jumps so many slots ahead; 400 ms of time go with each.
    #[track_caller]
    pub fn travel_slots(&self, slots: u64) -> Status {
        self.jump(Jump { slots: Some(slots), ..Jump::default() })
    }

    /// Moves the cluster's clock and slot ahead.
    #[track_caller]
    pub fn jump(&self, jump: Jump) -> Status {
        serde_json::from_value(self.post("time", serde_json::to_value(jump).unwrap())).unwrap()
    }

    /// Where the chain stands.
    #[track_caller]
    pub fn status(&self) -> Status {
        serde_json::from_value(get(&format!("{}/status", self.control_url()))).unwrap()
    }

    /// Lamports of an address; 0 where there is nothing.
    #[track_caller]
    pub fn lamports(&self, address: &Address) -> u64 {
        let answer = self.rpc("getBalance", json!([address.to_string(), {"commitment": "confirmed"}]));
        answer.unwrap()["value"].as_u64().unwrap()
    }

    /// An account's owner and data, if it exists.
    #[track_caller]
    pub fn account(&self, address: &Address) -> Option<(Address, Vec<u8>)> {
        let options = json!({"commitment": "confirmed", "encoding": "base64"});
        let answer = self.rpc("getAccountInfo", json!([address.to_string(), options])).unwrap();
        let account = answer["value"].as_object()?;
        let data = account["data"][0].as_str().unwrap();
        Some((account["owner"].as_str().unwrap().parse().unwrap(), base64_decode(data)))
    }

    /// Micro-USDC in an owner's associated account; 0 where there is none.
    #[track_caller]
    pub fn usdc(&self, owner: &Address) -> u64 {
        let account = token::associated_address(owner, &self.usdc_mint(), &TOKEN_PROGRAM);
        let data = self.account(&account).map(|(_, data)| data).unwrap_or_default();
        token::TokenAccount::decode(&data).map_or(0, |account| account.amount)
    }

    /// Kills the process as a power cut would. [`Localnet::restart`] goes on from what it saved.
    #[track_caller]
    pub fn kill9(&mut self) {
        self.process.as_mut().expect("a cluster of somebody else's is not killed").kill9();
    }

    /// Ends the process in order.
    #[track_caller]
    pub fn stop(&mut self) {
        let process = self.process.as_mut().expect("a cluster of somebody else's is not stopped");
        let status = process.terminate();
        assert!(status.success(), "zx1-localnet ended with {status}:\n{}", process.said());
    }

    /// Starts it again on the same state and, if it ran before, the same ports.
    #[track_caller]
    pub fn restart(&mut self) {
        let mut command = Command::new(binary("zx1-localnet"));
        command.args(["start", "--json", "--state"]).arg(&self.state);
        match &self.env {
            None => command.args(["--port", "0"]),
            Some(env) => {
                for (option, url) in [
                    ("--port", Some(&env.rpc_url)),
                    ("--ws-port", Some(&env.ws_url)),
                    ("--control-port", Some(&env.control_url)),
                    ("--nano-port", env.nano_rpc_url.as_ref()),
                    ("--nano-ws-port", env.nano_ws_url.as_ref()),
                ] {
                    if let Some(url) = url {
                        command.args([option, port(url)]);
                    }
                }
                &mut command
            }
        };
        if let Some(ms) = self.builder.slot_time {
            command.args(["--slot-time", &ms.to_string()]);
        }
        if let Some(count) = self.builder.wallets {
            command.args(["--wallets", &count.to_string()]);
        }
        command.args(&self.builder.arguments);
        let mut process = Running::start(command);
        let line = wait_until("zx1-localnet is ready", || {
            let line = process.stdout();
            // One that has ended says nothing more.
            (line.ends_with('\n') || !process.is_running()).then_some(line)
        });
        self.env = Some(
            serde_json::from_str(&line)
                .unwrap_or_else(|why| panic!("zx1-localnet did not start: {why}\n{}", process.said())),
        );
        self.process = Some(process);
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value) -> Value {
        let url = format!("{}/{path}", self.control_url());
        let (status, answer) = runtime::wait(async move {
            let answer = runtime::http().post(url).json(&body).send().await.unwrap();
            (answer.status(), answer.json::<Value>().await.unwrap())
        });
        assert!(status.is_success(), "/{path} was refused: {answer}");
        answer
    }
}

fn port(url: &str) -> &str {
    url.rsplit(':').next().unwrap()
}

fn get(url: &str) -> Value {
    let url = url.to_owned();
    runtime::wait(async move {
        match runtime::http().get(&url).send().await {
            Ok(answer) => answer.json().await.unwrap_or_default(),
            Err(why) => json!(why.to_string()),
        }
    })
}

/// A Solana key file.
#[track_caller]
fn read_key(file: &Path) -> Keypair {
    let bytes: Vec<u8> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    Keypair::try_from(bytes.as_slice()).unwrap()
}

fn base64_decode(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}
