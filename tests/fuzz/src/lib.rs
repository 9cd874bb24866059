//! The fuzz targets by name. What a target does with its bytes is written beside the tests of the crate that it
//! is about, which run it as well, bounded, on the stable compiler (`harness.rs`).

#[path = "../../../client/log/tests/log/bodies.rs"]
mod log;
#[path = "../../../client/market/tests/market/bodies.rs"]
mod market;
#[path = "../../../client/mesh/tests/mesh/bodies.rs"]
mod mesh;
#[path = "../../../nano-escrow/tests/node/bodies.rs"]
mod nano;
#[path = "../../../client/protocol/tests/protocol/bodies.rs"]
mod protocol;
#[path = "../../../client/relay/tests/relay/bodies.rs"]
mod relay;
#[path = "../../../client/qa/tests/qa/bodies.rs"]
mod qa;

/// Runs the target of this name.
///
/// # Panics
///
/// When there is none, and when the target finds a fault.
pub fn run(name: &str, bytes: &[u8]) {
    let rules = protocol::ALL.iter().chain(&market::ALL).chain(&log::ALL).chain(&relay::ALL).chain(&qa::ALL);
    let mut all = rules.chain(&nano::ALL).chain(&mesh::ALL);
    let (_, body) = all.find(|(other, _)| *other == name).expect("a target of this name");
    body(bytes);
}
