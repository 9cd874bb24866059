//! One end of a websocket that answers as a test says.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use zx1_home::clock::SystemClock;
use zx1_home::keys::Seed;
use zx1_relay_client::{Client, Identity, News, Options, Relay, Waits};
use zx1_relay_rules::client::Frame;
use zx1_relay_rules::event::Heard;
use zx1_relay_rules::{AgentId, PublicKey, server, signing};

/// Longer than anything here takes; a test that hangs fails.
const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const TS: u64 = 1_700_000_000_000;

pub(crate) struct Peer {
    listener: TcpListener,
    /// Whether it answers the client's subprotocol.
    is_older: bool,
}

impl Peer {
    pub(crate) async fn new() -> Peer {
        Peer { listener: TcpListener::bind("127.0.0.1:0").await.unwrap(), is_older: false }
    }

    pub(crate) async fn older() -> Peer {
        Peer { is_older: true, ..Peer::new().await }
    }

    pub(crate) fn relay(&self) -> Relay {
        Relay::parse(&format!("ws://{}", self.listener.local_addr().unwrap())).unwrap()
    }

    /// The usual options, without waits that a test would feel.
    pub(crate) fn options(&self, identity: Option<Arc<Identity>>) -> Options {
        let mut options = Options::new(self.relay(), "tester", identity, Arc::new(SystemClock));
        options.waits = Some(Waits { first: 1, longest: 4, reset: 1_000 });
        options.msg_ms = 1;
        options
    }

    pub(crate) async fn accept(&self) -> Wire {
        loop {
            let (stream, _) = within(self.listener.accept()).await.unwrap();
            if self.is_older {
                // Whoever insists on the subprotocol hangs up.
                let socket = tokio_tungstenite::accept_async(stream).await.unwrap();
                let mut wire = Wire(socket);
                if let Some(first) = wire.raw().await {
                    return wire.after(first).await;
                }
                continue;
            }
            #[allow(clippy::result_large_err)]
            let echo = |request: &Request, mut response: Response| {
                let name = "sec-websocket-protocol";
                let asked = request.headers().get(name).unwrap().clone();
                assert_eq!(asked, "zx1-relay-1");
                response.headers_mut().insert(name, asked);
                Ok(response)
            };
            return Wire(tokio_tungstenite::accept_hdr_async(stream, echo).await.unwrap());
        }
    }

    /// A client that has identified, and this end of its connection.
    pub(crate) async fn connected(&self, options: Options, id: &str) -> (Client, Wire) {
        let (client, wire) = tokio::join!(Client::connect(options), async {
            let mut wire = self.accept().await;
            wire.identify(id).await;
            wire
        });
        (client.unwrap(), wire)
    }
}

pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("it takes too long")
}

pub(crate) struct Wire(pub(crate) WebSocketStream<TcpStream>);

impl Wire {
    /// An older peer's connection, whose first frame was read to see whether there is one.
    async fn after(mut self, first: String) -> Wire {
        let Frame::Identify { name, .. } = Frame::parse(&first).unwrap() else { panic!("{first}") };
        let id = AgentId::parse("@abcdefgh", "to").unwrap();
        self.send(server::welcome(&id, &name, "older", "d", false, None, TS)).await;
        self
    }

    /// The next text; `None` when the client has hung up.
    pub(crate) async fn raw(&mut self) -> Option<String> {
        loop {
            match within(self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Some(text.as_str().to_owned()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub(crate) async fn read(&mut self) -> Frame {
        let text = self.raw().await.expect("the client has hung up");
        Frame::parse(&text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
    }

    pub(crate) async fn send(&mut self, text: String) {
        within(self.0.send(Message::text(text))).await.unwrap();
    }

    /// Identifies the client under this id; the key that it proved.
    pub(crate) async fn identify(&mut self, id: &str) -> Option<PublicKey> {
        let Frame::Identify { name, pubkey } = self.read().await else { panic!("another frame") };
        let key = pubkey.map(|pem| PublicKey::from_pem(&pem).unwrap());
        if let Some(key) = &key {
            self.send(server::challenge("chal_1_2", [7; 16], TS + 30_000, TS)).await;
            let Frame::VerifyIdentity { challenge_id, signature, timestamp } = self.read().await else {
                panic!("another frame")
            };
            assert_eq!(challenge_id, "chal_1_2");
            key.verify(&signing::auth(&"07".repeat(16), "chal_1_2", timestamp), &signature).unwrap();
        }
        let id = AgentId::parse(id, "to").unwrap();
        self.send(server::welcome(&id, &name, "peer", "d", key.is_some(), None, TS)).await;
        key
    }
}

pub(crate) fn id(text: &str) -> AgentId {
    AgentId::parse(text, "to").unwrap()
}

pub(crate) fn identity(byte: u8) -> Arc<Identity> {
    Arc::new(Identity::of_seed(&Seed::new([byte; 32])).unwrap())
}

/// The next event of the relay.
pub(crate) async fn heard(client: &mut Client) -> Heard {
    match within(client.next()).await {
        Some(News::Heard(heard)) => heard,
        other => panic!("{other:?}"),
    }
}

/// The names in a folder and below.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}
