//! The fuzz target's body, bounded.

use crate::common::{agent, letter};
use crate::{bodies, harness};
use zx1_mesh::wire::envelope_prefix;
use zx1_protocol::envelope::MsgType;

#[test]
fn no_bytes_on_a_direct_stream_make_a_reader_panic_or_read_on() {
    let envelope = letter(MsgType::Propose, agent(1), 1).sign(1);
    let prefix = envelope_prefix(&envelope).unwrap();
    harness::run(&bodies::ALL, |_, _| [&[6], &prefix[..], &envelope].concat());
}
