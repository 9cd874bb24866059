//! Names and bytes that two nodes must agree on (decision I7).
//!
//! A direct stream carries one frame each way. The sender writes the length of the envelope as four bytes,
//! little-endian, then the envelope. The recipient answers with the frame of the three bytes `ACK` once the
//! envelope is valid and on disk. Otherwise it resets the stream and says nothing.

use libp2p::PeerId;
use libp2p::identity::{PublicKey, ed25519};
use libp2p::swarm::StreamProtocol;
use zx1_protocol::channel::Channel;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::WalletKey;
use zx1_protocol::validate::MAX_MESSAGE_SIZE;

/// Direct streams between sender and recipient.
pub const DIRECT_PROTOCOL: StreamProtocol = StreamProtocol::new("/0x01/bilateral/1.0.0");
/// The distributed table of addresses. Another name than the public network's, so that the two never join.
pub const KAD_PROTOCOL: StreamProtocol = StreamProtocol::new("/0x01/kad/1.0.0");
/// What identify calls the protocol family.
pub const IDENTIFY_PROTOCOL: &str = "/0x01/identify/1.0.0";

/// What a recipient answers once the envelope is on disk.
pub const ACK: &[u8; 3] = b"ACK";
/// Bytes before the envelope, and before the answer.
pub const LENGTH_BYTES: usize = 4;

/// The three channels that are topics; the direct stream is none.
pub const TOPICS: [Channel; 3] = [Channel::Broadcast, Channel::Notary, Channel::Reputation];

/// The channel of a topic's name.
pub fn channel_of_topic(name: &str) -> Option<Channel> {
    TOPICS.into_iter().find(|it| it.topic() == Some(name))
}

/// What names a gossiped message: the hash of all of the envelope's bytes, and of nothing else. An id over a
/// part would let a forged copy that comes first hide the true one.
pub fn message_id(data: &[u8]) -> Hash {
    Sha3::hashv(&[data])
}

/// Why a frame is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// An envelope has more than 65 536 bytes, or an answer more than three.
    TooLong {
        /// What the frame says.
        length: u32,
    },
    /// A frame of no bytes.
    Empty,
}

impl std::fmt::Display for FrameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { length } => write!(f, "The frame has {length} bytes, which is too long."),
            Self::Empty => f.write_str("The frame is empty."),
        }
    }
}

impl std::error::Error for FrameError {}

/// The length that a frame's first bytes give an envelope, checked before anything is allocated for it.
pub fn envelope_length(first: [u8; LENGTH_BYTES]) -> Result<usize, FrameError> {
    frame_length(first, MAX_MESSAGE_SIZE)
}

/// The length that a frame's first bytes give an answer.
pub fn answer_length(first: [u8; LENGTH_BYTES]) -> Result<usize, FrameError> {
    frame_length(first, ACK.len())
}

fn frame_length(first: [u8; LENGTH_BYTES], limit: usize) -> Result<usize, FrameError> {
    let length = u32::from_le_bytes(first);
    match usize::try_from(length) {
        Ok(0) => Err(FrameError::Empty),
        Ok(bytes) if bytes <= limit => Ok(bytes),
        _ => Err(FrameError::TooLong { length }),
    }
}

/// The first bytes of the frame of an envelope.
pub fn envelope_prefix(envelope: &[u8]) -> Result<[u8; LENGTH_BYTES], FrameError> {
    let length = u32::try_from(envelope.len()).unwrap_or(u32::MAX);
    frame_length(length.to_le_bytes(), MAX_MESSAGE_SIZE).map(|_| length.to_le_bytes())
}

/// The frame that acknowledges an envelope.
pub const ACK_FRAME: [u8; 7] = [3, 0, 0, 0, b'A', b'C', b'K'];

/// The key that a peer id stands for; `None` for keys of other kinds than Ed25519, under which no agent can
/// sign.
pub fn key_of_peer(peer: &PeerId) -> Option<WalletKey> {
    let multihash = peer.as_ref();
    // 0 is the identity "hash": the id holds the key itself.
    if multihash.code() != 0 {
        return None;
    }
    let key = PublicKey::try_decode_protobuf(multihash.digest()).ok()?.try_into_ed25519().ok()?;
    Some(WalletKey::from(key.to_bytes()))
}

/// The peer id of a key; `None` where the 32 bytes are not a point of the curve.
pub fn peer_of_key(key: &WalletKey) -> Option<PeerId> {
    let key = ed25519::PublicKey::try_from_bytes(&key.to_bytes()).ok()?;
    Some(PublicKey::from(key).to_peer_id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_envelope_of_65_536_bytes_is_the_longest() {
        assert_eq!(envelope_length([0, 0, 1, 0]), Ok(65_536));
        assert_eq!(envelope_length([1, 0, 1, 0]), Err(FrameError::TooLong { length: 65_537 }));
        assert_eq!(envelope_length([0xFF; 4]), Err(FrameError::TooLong { length: u32::MAX }));
        assert_eq!(envelope_length([0; 4]), Err(FrameError::Empty));
    }

    #[test]
    fn an_answer_is_three_bytes() {
        assert_eq!(answer_length([3, 0, 0, 0]), Ok(3));
        assert_eq!(answer_length([4, 0, 0, 0]), Err(FrameError::TooLong { length: 4 }));
        assert_eq!((&ACK_FRAME[..4], &ACK_FRAME[4..]), (&3_u32.to_le_bytes()[..], &ACK[..]));
    }

    #[test]
    fn topics_are_the_three_of_the_protocol() {
        for channel in TOPICS {
            assert_eq!(channel.topic().and_then(channel_of_topic), Some(channel));
        }
        assert_eq!(channel_of_topic("/0x01/v1/other"), None);
    }

    #[test]
    fn a_peer_id_and_its_key_say_the_same() {
        let pair = libp2p::identity::Keypair::generate_ed25519();
        let peer = pair.public().to_peer_id();
        let key = key_of_peer(&peer).unwrap();
        assert_eq!(peer_of_key(&key), Some(peer));
        assert_eq!(key_of_peer(&PeerId::random()), None);
    }

    proptest! {
        #[test]
        fn a_prefix_reads_back_as_the_length(length in 1..=MAX_MESSAGE_SIZE) {
            let prefix = envelope_prefix(&vec![0; length]).unwrap();
            prop_assert_eq!(envelope_length(prefix), Ok(length));
        }

        #[test]
        fn any_four_bytes_are_read_without_panic(first: [u8; 4]) {
            prop_assert!(envelope_length(first).map_or(true, |it| (1..=MAX_MESSAGE_SIZE).contains(&it)));
        }
    }
}
