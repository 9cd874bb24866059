//! A relay's process, and a client of it that is made of a websocket, JSON and Ed25519 alone.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream as Plain;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ed25519_dalek::{Signer as _, SigningKey};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Longer than anything takes; nothing waits for it that goes well.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Relay {
    child: Child,
    pub address: String,
    arguments: Vec<String>,
    pub data: std::sync::Arc<tempfile::TempDir>,
}

impl Relay {
    /// With these arguments, on a port that the system chooses.
    pub fn start(arguments: &[&str]) -> Relay {
        let data = std::sync::Arc::new(tempfile::tempdir().unwrap());
        Relay::with(arguments.iter().map(|it| (*it).to_owned()).collect(), data)
    }

    fn with(arguments: Vec<String>, data: std::sync::Arc<tempfile::TempDir>) -> Relay {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zx1-relay"))
            .args(["--host", "127.0.0.1", "--port", "0", "--data"])
            .arg(data.path())
            .args(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).expect("a ready line");
        let address = ready["listening"][0].as_str().unwrap().to_owned();
        Relay { child, address, arguments, data }
    }

    /// Without arguments and without a wait between messages.
    pub fn quick() -> Relay {
        Relay::start(&["--rate-limit-ms", "0"])
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Dies and comes back with what it kept.
    pub fn restart(mut self) -> Relay {
        self.kill();
        Relay::with(std::mem::take(&mut self.arguments), self.data.clone())
    }

    pub fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
    }

    pub fn wait(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    pub async fn client(&self) -> Client {
        Client::connect(&self.address, false).await
    }

    /// Identified without a key.
    pub async fn guest(&self, name: &str) -> Client {
        let mut client = self.client().await;
        client.send(json!({ "type": "IDENTIFY", "name": name })).await;
        client.welcomed().await;
        client
    }

    /// Identified by the key of this number.
    pub async fn agent(&self, name: &str, key: u8) -> Client {
        let mut client = self.client().await;
        client.identify(name, key).await;
        client
    }

    pub async fn get(&self, path: &str) -> (u16, String) {
        let answer = reqwest::get(format!("http://{}{path}", self.address)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// The value of a figure.
    pub async fn figure(&self, name: &str) -> f64 {
        let (_, text) = self.get("/metrics").await;
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        line.and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap()
    }

    /// Waits until a figure has this value.
    pub async fn reaches(&self, name: &str, value: f64) {
        let reached = async {
            while (self.figure(name).await - value).abs() > 0.1 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{name} does not reach {value}"));
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

pub fn pem(key: &SigningKey) -> String {
    zx1_relay_rules::PublicKey::new(key.verifying_key().to_bytes()).unwrap().to_pem()
}

pub fn sign(key: &SigningKey, text: &str) -> String {
    base64(&key.sign(text.as_bytes()).to_bytes())
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| word << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = char::from(LETTERS[(word >> (18 - 6 * at) & 63) as usize]);
            text.push(if at <= chunk.len() { letter } else { '=' });
        }
    }
    text
}

pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub id: String,
    pub key: Option<SigningKey>,
}

impl Client {
    pub async fn connect(address: &str, extensions: bool) -> Client {
        let mut request = format!("ws://{address}/any/path").into_client_request().unwrap();
        if extensions {
            request.headers_mut().insert("sec-websocket-protocol", "zx1-relay-1".parse().unwrap());
        }
        let (socket, _) = connect_async(request).await.unwrap();
        Client { socket, id: String::new(), key: None }
    }

    /// A connection that reads nothing at all, not even from the system.
    pub fn deaf(address: &str) -> Plain {
        Plain::connect(address).unwrap()
    }

    pub async fn send(&mut self, frame: Value) {
        self.text(frame.to_string()).await;
    }

    pub async fn text(&mut self, text: impl Into<String>) {
        self.socket.send(Message::text(text.into())).await.unwrap();
    }

    pub async fn raw(&mut self, message: Message) {
        // The relay may have closed meanwhile.
        let _ = self.socket.send(message).await;
    }

    async fn message(&mut self) -> Message {
        let next = timeout(PATIENCE, self.socket.next()).await.expect("a frame within the patience");
        next.expect("the connection is open").expect("a frame")
    }

    /// The next frame.
    pub async fn next(&mut self) -> Value {
        loop {
            match self.message().await {
                Message::Text(text) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    described(&frame, &text);
                    return frame;
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?} instead of a frame"),
            }
        }
    }

    /// The next frame, which has this type.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let frame = self.next().await;
        assert_eq!(frame["type"], kind, "{frame}");
        frame
    }

    /// The next frame is this error; gives its message.
    pub async fn error(&mut self, code: &str) -> String {
        let frame = self.expect("ERROR").await;
        assert_eq!(frame["code"], code, "{frame}");
        frame["message"].as_str().unwrap().to_owned()
    }

    /// Sends a frame that is refused with this code.
    pub async fn refused(&mut self, frame: Value, code: &str) -> String {
        self.send(frame).await;
        self.error(code).await
    }

    /// The close, after which nothing comes; frames before it are skipped.
    pub async fn closed(&mut self) -> Option<(u16, String)> {
        loop {
            match timeout(PATIENCE, self.socket.next()).await.expect("an end within the patience") {
                Some(Ok(Message::Close(frame))) => {
                    return frame.map(|CloseFrame { code, reason }| (code.into(), reason.to_string()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// Everything that was asked so far has been handled, and nothing else comes before the answer.
    pub async fn settled(&mut self) {
        self.send(json!({ "type": "PING" })).await;
        self.expect("PONG").await;
    }

    pub async fn welcomed(&mut self) -> Value {
        let welcome = self.expect("WELCOME").await;
        self.id = welcome["agent_id"].as_str().unwrap().to_owned();
        welcome
    }

    pub async fn challenge(&mut self, name: &str, pem: &str) -> Value {
        self.send(json!({ "type": "IDENTIFY", "name": name, "pubkey": pem })).await;
        self.expect("CHALLENGE").await
    }

    pub async fn answer(&mut self, challenge: &Value, key: &SigningKey) {
        let (id, nonce) = (challenge["challenge_id"].as_str().unwrap(), challenge["nonce"].as_str().unwrap());
        let sig = sign(key, &format!("AGENTCHAT_AUTH|{nonce}|{id}|1700000000000"));
        let timestamp = 1_700_000_000_000_u64;
        self.send(json!({
            "type": "VERIFY_IDENTITY", "challenge_id": id, "signature": sig, "timestamp": timestamp,
        }))
        .await;
    }

    pub async fn identify(&mut self, name: &str, number: u8) -> Value {
        let key = key(number);
        let challenge = self.challenge(name, &pem(&key)).await;
        self.answer(&challenge, &key).await;
        self.key = Some(key);
        self.welcomed().await
    }

    pub fn sign(&self, text: &str) -> String {
        sign(self.key.as_ref().unwrap(), text)
    }

    /// Joins; everything up to the relay's welcome is read.
    pub async fn join(&mut self, channel: &str) {
        self.send(json!({ "type": "JOIN", "channel": channel })).await;
        loop {
            let frame = self.next().await;
            if frame["type"] == "MSG" && frame["from"] == "@server" {
                return;
            }
        }
    }

    pub async fn say(&mut self, to: &str, content: &str) {
        self.send(json!({ "type": "MSG", "to": to, "content": content })).await;
    }
}

/// Every frame that a test receives is one that the AsyncAPI document describes, and begins with `type` and `ts`.
fn described(frame: &Value, text: &str) {
    let kind = frame["type"].as_str().unwrap();
    assert!(text.starts_with(&format!("{{\"type\":\"{kind}\",\"ts\":")), "{text}");
    let shape = zx1_relay::asyncapi::FROM_RELAY.iter().find(|shape| shape.name == kind).expect(kind);
    let names = |fields: &[&'static str]| -> Vec<&'static str> {
        fields.iter().map(|field| field.split(':').next().unwrap()).collect()
    };
    let (required, optional) = (names(shape.required), names(shape.optional));
    for name in &required {
        assert!(frame.get(*name).is_some(), "{name} is missing in {text}");
    }
    for name in frame.as_object().unwrap().keys().map(String::as_str) {
        assert!(
            ["type", "ts"].contains(&name) || required.contains(&name) || optional.contains(&name),
            "{name} is not described: {text}"
        );
    }
}
