//! A client of another implementation, in JavaScript, with a real relay: every part of the wire once.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use zx1_e2e::{Running, binary, node_js, text};

const STEPS: [&str; 27] = [
    "health",
    "before identification",
    "a key is proven",
    "a wrong proof",
    "an ephemeral agent",
    "channels",
    "join",
    "join again",
    "invitation",
    "talk and echo",
    "a signed direct message",
    "typing",
    "presence",
    "nick",
    "skills",
    "agents verify each other",
    "propose, accept, complete, confirm",
    "reject",
    "dispute",
    "proposals that are refused",
    "files",
    "what an ephemeral agent may",
    "leave",
    "a second connection with the same key",
    "a connection that ends",
    "too many messages",
    "too large a frame",
];

#[test]
fn a_client_in_javascript_walks_the_relays_wire() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary("zx1-relay"));
    command.args([
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--rate-limit-ms",
        "0",
        "--min-proposal-age-ms",
        "0",
    ]);
    command.arg("--data").arg(folder.path()).env_remove("ZX1_RELAY_CONFIG").env_remove("ZX1_RELAY_DB");
    let mut relay = Running::start(command);
    relay.wait_for("\"ready\"");
    let ready: Value = serde_json::from_str(relay.stdout().trim()).unwrap();

    let walk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../js-relay/walk.mjs");
    let output = Command::new(node_js()).arg(walk).arg(text(&ready["url"])).output().unwrap();
    let (seen, why) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{why}{seen}{}", relay.said());
    let steps: Vec<Value> = seen.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(steps.iter().map(|it| text(&it["step"])).collect::<Vec<_>>(), STEPS);
    assert!(relay.terminate().success());
}
