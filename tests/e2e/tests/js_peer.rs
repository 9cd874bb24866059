//! A peer of another implementation, js-libp2p, with a real node: gossip, direct streams, ping and identify, both ways.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use libp2p::identity::Keypair;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use zx1_e2e::{Localnet, Owner, Zx1, node_js, node_modules, path, text, wait_until};
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::Advertise;
use zx1_protocol::units::Slot;

/// The program in JavaScript, which reads commands and writes news, a line each.
struct Js {
    child: Child,
    input: ChildStdin,
    said: Arc<Mutex<Vec<Value>>>,
    _folder: tempfile::TempDir,
}

impl Js {
    /// Starts it beside the modules that `scripts/setup` installed.
    fn start(address: &str, key: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("peer.mjs");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../js-peer/peer.mjs");
        std::fs::copy(source, &program).unwrap();
        symlink(node_modules(), folder.path().join("node_modules")).unwrap();
        let mut command = Command::new(node_js());
        command.arg(program).arg(address).arg(key).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let said = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                lines.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, input, said, _folder: folder }
    }

    /// Waits for news of this kind, and takes it.
    fn wait_for(&self, kind: &str) -> Value {
        wait_until(&format!("the peer in JavaScript says '{kind}'"), || {
            let mut said = self.said.lock().unwrap();
            let place = said.iter().position(|it| !it[kind].is_null())?;
            Some(said.remove(place)[kind].take())
        })
    }

    fn tell(&mut self, command: &Value) {
        writeln!(self.input, "{command}").unwrap();
    }
}

impl Drop for Js {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Writer {
    key: Keypair,
    sender: AgentId,
    slot: u64,
    nonce: u64,
}

impl Writer {
    fn write(&mut self, msg_type: MsgType, recipient: AgentId, payload: &[u8]) -> Vec<u8> {
        self.nonce += 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let draft = Draft {
            msg_type,
            sender: self.sender,
            recipient,
            timestamp: u64::try_from(now.as_micros()).unwrap(),
            block_ref: Slot(self.slot),
            nonce: self.nonce,
            conversation_id: ConversationId([9; 16]),
            payload,
        };
        draft.sign(|bytes| self.key.sign(bytes).unwrap().try_into().unwrap()).unwrap()
    }
}

fn bytes_of(hex: &Value) -> Vec<u8> {
    hex::decode(text(hex)).unwrap()
}

#[test]
fn a_peer_in_javascript_gossips_and_trades_with_a_node() {
    let net = Localnet::builder().start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("peer.json");
    Zx1::new(&net).run(["key", "new", path(&file)]).ok();
    let eve = Owner::new(&net, 1, "eve", &[(&file, "peer")]);
    let mut alice = Owner::simple(&net, 0, "alice");
    alice.start(&["--name", "alice"]);
    let alice_id: AgentId = alice.mint.parse().unwrap();
    let secret: Vec<u8> = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let mut writer = Writer {
        key: Keypair::ed25519_from_bytes(secret[..32].to_vec()).unwrap(),
        sender: eve.mint.parse().unwrap(),
        slot: net.status().slot,
        nonce: 0,
    };
    let mut js = Js::start(&alice.address, &file);
    let id = js.wait_for("ready");
    assert_eq!(text(&id), writer.key.public().to_peer_id().to_string());

    // Identify and ping, both ways.
    let identified = js.wait_for("identified");
    assert!(text(&identified["program"]).starts_with("zx1/"), "{identified}");
    js.tell(&json!({ "do": "ping" }));
    assert!(js.wait_for("ping").as_f64().unwrap() >= 0.0);
    wait_until("the node has identified and pinged it", || {
        let peers = alice.peers();
        let peer = peers.iter().find(|it| it["peer"] == id)?;
        (peer["program"] == "zx1-js-peer" && peer["ping_micros"].is_u64()).then_some(())
    });

    // Gossip from JavaScript: one that keeps all rules, and one of which a bit was changed.
    let advert =
        Advertise { caps: vec!["javascript"], schema: "", unit: "XNO", price: 1, contract: None, ttl: 600 };
    let mut envelope = writer.write(MsgType::Advertise, BROADCAST, &advert.to_payload().unwrap());
    let topic = "/0x01/v1/broadcast";
    js.tell(&json!({ "do": "publish", "topic": topic, "hex": hex::encode(&envelope) }));
    assert_eq!(js.wait_for("published"), 1);
    let found = wait_until("the node hears it", || {
        let found = alice.json(&["discover", "javascript", "--wait", "0"]);
        found["adverts"].as_array().unwrap().first().cloned()
    });
    assert_eq!(found["agent"], eve.mint);
    *envelope.last_mut().unwrap() ^= 1;
    js.tell(&json!({ "do": "publish", "topic": topic, "hex": hex::encode(&envelope) }));
    wait_until("the node refuses the forgery", || {
        (alice.status()["messages"]["rejected"].as_u64()? == 1).then_some(())
    });

    // Gossip to it, signed by the node's key and checked there.
    let told = alice.send(&["advertise", "rust", "--unit", "XNO", "--price", "5", "--ttl", "1h"]);
    alice.wait_for(told, "sent");
    let gossip = wait_until("it hears the advert", || {
        let gossip = js.wait_for("gossip");
        let bytes = bytes_of(&gossip["hex"]);
        (Envelope::decode(&bytes).unwrap().header.msg_type == MsgType::Advertise).then_some(gossip)
    });
    assert_eq!((text(&gossip["type"]), text(&gossip["topic"])), ("signed", topic));
    assert_eq!(gossip["from"], alice.status()["identity"]["peer"]);
    let bytes = bytes_of(&gossip["hex"]);
    assert_eq!(Envelope::decode(&bytes).unwrap().header.sender(), alice_id);

    // Direct streams: acknowledged when it is in the log, and ended without a byte when it is not taken.
    let envelope = writer.write(MsgType::Deliver, alice_id, b"from JavaScript");
    for (expected, nth) in [("ACK", "the first"), ("", "its copy")] {
        js.tell(&json!({ "do": "send", "hex": hex::encode(&envelope) }));
        assert_eq!(js.wait_for("answer"), expected, "{nth}");
    }
    assert_eq!(alice.inbox().len(), 1);
    let proposed = alice.send(&["negotiate", "propose", &eve.mint, "--value", "7"]);
    alice.wait_for(proposed, "acknowledged");
    let bytes = bytes_of(&js.wait_for("direct"));
    let header = Envelope::decode(&bytes).unwrap().header;
    assert_eq!((header.msg_type, header.sender()), (MsgType::Propose, alice_id));
    // Another answer is none.
    js.tell(&json!({ "do": "answer", "text": "NAK" }));
    js.wait_for("answers");
    let proposed = alice.send(&["negotiate", "propose", &eve.mint, "--value", "8"]);
    alice.wait_for(proposed, "unanswered");
}
