//! A process that is killed between writing a transaction down and sending it, and the one that comes after.
#![cfg(feature = "rpc")]
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zx1_chain::rpc::{
    ChainError, Client, ClientOptions, Cluster, Draft, FeePolicy, Intent, Outbox, Outcome, Sender,
    SenderOptions,
};
use zx1_coded::Coded;

/// A node of a few methods with a chain that the test moves by hand.
#[derive(Default)]
struct Chain {
    /// Transactions that reached it, in base64.
    got: Mutex<Vec<String>>,
    /// Whether what arrives lands.
    lands: AtomicBool,
    /// Whether a sent transaction's answer is lost.
    mute: AtomicBool,
    height: AtomicU64,
}

impl Chain {
    fn answer(&self, method: &str, params: &Value) -> Value {
        let height = self.height.load(Ordering::SeqCst);
        let hash = Address::new_from_array([u8::try_from(height % 250).unwrap() + 1; 32]);
        let context = |value: Value| json!({ "context": { "slot": height }, "value": value });
        match method {
            "getGenesisHash" => json!("11111111111111111111111111111111"),
            "getLatestBlockhash" => context(json!({
                "blockhash": hash.to_string(),
                "lastValidBlockHeight": height + 150,
            })),
            "simulateTransaction" => context(json!({ "err": null, "logs": [], "unitsConsumed": 1_000 })),
            "getRecentPrioritizationFees" => json!([]),
            "getAccountInfo" => context(Value::Null),
            "getEpochInfo" => json!({ "absoluteSlot": height, "blockHeight": height }),
            "getBlockHeight" => json!(height),
            "isBlockhashValid" => context(json!(height < 150)),
            "getFirstAvailableBlock" => json!(0),
            "getTransaction" => Value::Null,
            "sendTransaction" => {
                let mut got = self.got.lock().unwrap();
                got.push(params[0].as_str().unwrap().to_owned());
                json!("signature")
            }
            "getSignatureStatuses" => {
                let landed = self.lands.load(Ordering::SeqCst) && !self.got.lock().unwrap().is_empty();
                context(json!([landed.then(|| {
                    json!({ "slot": 7, "confirmations": 1, "err": null, "confirmationStatus": "confirmed" })
                })]))
            }
            other => panic!("the client asked for {other}"),
        }
    }

    fn serve(self: Arc<Self>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let chain = self.clone();
                std::thread::spawn(move || chain.talk(stream.unwrap()));
            }
        });
        url
    }

    fn talk(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                let line = line.trim().to_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let request: Value = serde_json::from_slice(&body).unwrap();
            let method = request["method"].as_str().unwrap();
            let result = self.answer(method, &request["params"]);
            if method == "sendTransaction" && self.mute.load(Ordering::SeqCst) {
                return;
            }
            let text = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                text.len()
            );
            if stream.write_all(format!("{head}{text}").as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn key() -> Keypair {
    Keypair::new_from_array([5; 32])
}

fn draft() -> Draft {
    let tick = zx1_chain::instructions::lease::tick_lease(Address::new_from_array([1; 32]).into());
    Draft::new(Intent::new("tick", &[&1]), "Tick", key().pubkey(), vec![tick])
}

fn sender(url: &str, folder: &std::path::Path, patience: Duration) -> Sender {
    let options = ClientOptions {
        timeout: Duration::from_secs(5),
        attempts: 2,
        pause: Duration::from_millis(5),
        ..ClientOptions::default()
    };
    let client = Client::new(Cluster::parse(url).unwrap(), options);
    let options = SenderOptions {
        fees: FeePolicy::Fixed(0),
        patience,
        resend: Duration::from_millis(50),
        ..SenderOptions::default()
    };
    Sender::new(client, Outbox::open(folder).unwrap(), options)
}

async fn run(sender: &Sender) -> Result<Outcome, ChainError> {
    let key = key();
    sender.run(&draft(), &[&key], &mut |_| Ok(())).await
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Not a test of its own: what the killed child runs.
#[test]
fn child_that_waits_after_writing_down() {
    let Ok(url) = std::env::var("ZX1_CRASH_URL") else { return };
    let folder = std::env::var("ZX1_CRASH_OUTBOX").unwrap();
    let sender = sender(&url, folder.as_ref(), Duration::from_secs(60)).with_progress(Arc::new(|progress| {
        if matches!(progress, zx1_chain::rpc::Progress::Sent(_)) {
            // Written down, not yet sent.
            println!("written down");
            std::io::stdout().flush().unwrap();
            loop {
                std::thread::park();
            }
        }
    }));
    runtime().block_on(run(&sender)).unwrap();
}

#[test]
fn a_kill_between_writing_down_and_sending_loses_nothing_and_signs_nothing_twice() {
    let chain = Arc::new(Chain::default());
    let url = chain.clone().serve();
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["child_that_waits_after_writing_down", "--exact", "--nocapture"])
        .env("ZX1_CRASH_URL", &url)
        .env("ZX1_CRASH_OUTBOX", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("written down")));
    // SIGKILL: nothing of the child runs any more.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(chain.got.lock().unwrap().is_empty(), "nothing was sent");
    let written = Outbox::open(folder.path()).unwrap().records().unwrap();
    assert_eq!(written.len(), 1, "it was written down");

    chain.lands.store(true, Ordering::SeqCst);
    let sender = sender(&url, folder.path(), Duration::from_secs(30));
    let outcome = runtime().block_on(run(&sender)).unwrap();
    let Outcome::Confirmed(landed) = &outcome else { panic!("{outcome:?}") };
    assert_eq!(landed.signature.to_string(), written[0].signature, "the very transaction of the child");
    let got = chain.got.lock().unwrap().clone();
    assert!(!got.is_empty() && got.iter().all(|bytes| *bytes == written[0].transaction));
    runtime().block_on(sender.acknowledge(&outcome)).unwrap();
    assert!(Outbox::open(folder.path()).unwrap().records().unwrap().is_empty());
}

#[test]
fn an_answer_that_is_lost_is_found_by_the_next_run() {
    let chain = Arc::new(Chain::default());
    chain.mute.store(true, Ordering::SeqCst);
    let url = chain.clone().serve();
    let folder = tempfile::tempdir().unwrap();
    let impatient = sender(&url, folder.path(), Duration::from_millis(300));
    let error = runtime().block_on(run(&impatient)).unwrap_err();
    assert_eq!(error.code(), 7060, "{error}");
    assert!(error.to_string().contains("may still land"));
    let sent = chain.got.lock().unwrap().len();
    assert!(sent >= 1);

    chain.lands.store(true, Ordering::SeqCst);
    let outcome = runtime().block_on(run(&impatient)).unwrap();
    assert!(matches!(outcome, Outcome::AlreadyDone(_)), "{outcome:?}");
    assert_eq!(chain.got.lock().unwrap().len(), sent, "nothing more was sent");
    // Not shown yet, so a third run finds it as well.
    assert!(matches!(runtime().block_on(run(&impatient)).unwrap(), Outcome::AlreadyDone(_)));
    runtime().block_on(impatient.acknowledge(&outcome)).unwrap();
    let next = runtime().block_on(run(&impatient)).unwrap();
    assert!(matches!(next, Outcome::Confirmed(_)), "a new intent: {next:?}");
    assert!(chain.got.lock().unwrap().len() > sent);
}

#[test]
fn a_second_transaction_is_signed_only_when_the_first_can_never_land() {
    let chain = Arc::new(Chain::default());
    let url = chain.clone().serve();
    let folder = tempfile::tempdir().unwrap();
    let impatient = sender(&url, folder.path(), Duration::from_millis(200));
    assert_eq!(runtime().block_on(run(&impatient)).unwrap_err().code(), 7060);
    let first = Outbox::open(folder.path()).unwrap().records().unwrap();

    // The last block in which it may land: still the same bytes.
    chain.height.store(149, Ordering::SeqCst);
    assert_eq!(runtime().block_on(run(&impatient)).unwrap_err().code(), 7060);
    assert_eq!(Outbox::open(folder.path()).unwrap().records().unwrap(), first);
    assert!(chain.got.lock().unwrap().iter().all(|bytes| *bytes == first[0].transaction));

    // One block later it is dead, and the intent may be signed anew.
    chain.height.store(151, Ordering::SeqCst);
    assert_eq!(runtime().block_on(run(&impatient)).unwrap_err().code(), 7060);
    let second = Outbox::open(folder.path()).unwrap().records().unwrap();
    assert_eq!(second.len(), 1);
    assert_ne!(second[0].signature, first[0].signature);
}

#[test]
fn a_refusal_by_the_user_signs_and_writes_nothing() {
    let chain = Arc::new(Chain::default());
    let url = chain.clone().serve();
    let folder = tempfile::tempdir().unwrap();
    let sender = sender(&url, folder.path(), Duration::from_secs(1));
    let key = key();
    let outcome = runtime().block_on(sender.run(&draft(), &[&key], &mut |prepared| {
        assert!(prepared.summary().is_understood());
        Err(ChainError::Declined)
    }));
    assert_eq!(outcome.unwrap_err().code(), 7068);
    let missing = runtime().block_on(sender.run(&draft(), &[], &mut |_| Ok(())));
    assert_eq!(missing.unwrap_err().code(), 7064);
    assert!(chain.got.lock().unwrap().is_empty());
    assert!(Outbox::open(folder.path()).unwrap().records().unwrap().is_empty());
}

#[test]
fn what_answers_wrongly_is_told_apart() {
    let ask = |url: &str| {
        let options =
            ClientOptions { timeout: Duration::from_millis(500), attempts: 1, ..ClientOptions::default() };
        let client = Client::new(Cluster::parse(url).unwrap(), options);
        runtime().block_on(client.blockhash()).unwrap_err()
    };
    let serve = |status: &'static str, body: &'static str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut seen = [0; 4096];
                let _ = stream.read(&mut seen);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        url
    };
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let error = ask(&closed);
    assert_eq!(error.code(), 7000);
    assert!(error.to_string().contains(&closed), "{error}");
    assert!(error.transient());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(ask(&format!("http://{}", silent.local_addr().unwrap())).code(), 7000, "a time-out");
    assert_eq!(ask(&serve("404 Not Found", "")).code(), 7002);
    assert_eq!(ask(&serve("200 OK", "<html>hello")).code(), 7002);
    assert_eq!(ask(&serve("503 Busy", "")).code(), 7000);
    assert_eq!(ask(&serve("200 OK", r#"{"jsonrpc":"2.0","id":0,"resu"#)).code(), 7000, "it broke off");
    assert_eq!(ask(&serve("200 OK", r#"{"jsonrpc":"2.0","id":0,"result":{"value":7}}"#)).code(), 7004);
    let error = |code: i64| {
        let body = json!({ "jsonrpc": "2.0", "id": 0, "error": { "code": code, "message": "no." } });
        ask(&serve("200 OK", Box::leak(body.to_string().into_boxed_str())))
    };
    assert_eq!(error(-32601).code(), 7002);
    assert_eq!(error(-32005).code(), 7006);
    assert_eq!(error(-32602).code(), 7005);
    assert!(error(-32602).to_string().ends_with("its error -32602: no."));
}

#[test]
fn another_cluster_than_the_one_that_was_meant_fails() {
    let cluster = Cluster::parse("devnet").unwrap();
    let error = cluster.check("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d").unwrap_err();
    assert_eq!(error.code(), 7003);
    assert!(error.to_string().contains("should be devnet, but the node there belongs to mainnet-beta"));
    for (text, url) in [
        ("l", "http://127.0.0.1:8899"),
        ("localhost", "http://127.0.0.1:8899"),
        ("d", "https://api.devnet.solana.com"),
        ("t", "https://api.testnet.solana.com"),
        ("mainnet-beta", "https://api.mainnet-beta.solana.com"),
        ("https://my.node:1/x?y", "https://my.node:1/x?y"),
    ] {
        assert_eq!(Cluster::parse(text).unwrap().url(), url);
    }
    for text in ["", "mainnet", "my.node", "http://", "ftp://x", "http:// x"] {
        assert_eq!(Cluster::parse(text).unwrap_err().code(), 7007, "{text}");
    }
    assert!(Cluster::default().is_local());
    assert!(Cluster::parse("http://[::1]:8899").unwrap().is_local());
    for foreign in ["http://localhost.example/", "http://127.evil.example", "http://127.0.0.1@evil.example"] {
        assert!(!Cluster::parse(foreign).unwrap().is_local(), "{foreign}");
    }
    let real = Cluster::default().check("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d").unwrap();
    assert!(real.is_real_money(), "a fork or tunnel of the main network counts as it");
}
