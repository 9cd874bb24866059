//! What the fuzz target does with its bytes.

use libp2p::futures::FutureExt as _;
use libp2p::futures::io::AsyncRead;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use zx1_mesh::direct::{Fault, Frame, read_frame};
use zx1_mesh::gate::{Gate, Mode, Path};
use zx1_mesh::wire::{LENGTH_BYTES, envelope_prefix};
use zx1_protocol::channel::Channel;
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::validate::MAX_MESSAGE_SIZE;

/// One target's body.
pub(crate) type Body = fn(&[u8]);

/// The targets of this crate.
pub(crate) const ALL: [(&str, Body); 1] = [("mesh_direct", mesh_direct)];

/// A stream whose bytes come in pieces of this size, and then end.
struct Pieces<'a> {
    left: &'a [u8],
    size: usize,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, to: &mut [u8]) -> Poll<io::Result<usize>> {
        let length = self.size.min(to.len()).min(self.left.len());
        let (piece, left) = self.left.split_at(length);
        to[..length].copy_from_slice(piece);
        self.left = left;
        Poll::Ready(Ok(length))
    }
}

/// What a peer writes to a direct stream; the first byte says in which pieces it comes.
fn mesh_direct(bytes: &[u8]) {
    let Some((size, stream)) = bytes.split_first() else { return };
    let mut io = Pieces { left: stream, size: usize::from(*size) + 1 };
    let frame = read_frame(&mut io).now_or_never().expect("nothing is waited for");
    let taken = stream.len() - io.left.len();
    match frame {
        Frame::Envelope(envelope) => {
            assert!((1..=MAX_MESSAGE_SIZE).contains(&envelope.len()));
            assert_eq!(stream[..LENGTH_BYTES], envelope_prefix(&envelope).unwrap());
            assert_eq!(stream[LENGTH_BYTES..taken], envelope);
            let path = Path { channel: Channel::Direct, source: Some(WalletKey::from([2; 32])) };
            let opened = Gate::new(AgentId([0xee; 32]), Mode::Enforced).open(&envelope, path);
            assert!(opened.is_err() || opened.is_ok_and(|it| it.channel() == Channel::Direct));
        }
        Frame::Broken(Fault::Length) => {
            assert_eq!(taken, LENGTH_BYTES, "nothing is read after such a length")
        }
        Frame::Broken(Fault::CutOff) => assert_eq!(taken, stream.len()),
    }
}
