//! An offer: signed, decoded, and proven to stand in an epoch's tree.
use ed25519_dalek::{Signer as _, SigningKey};
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::merkle::{self, Tree};
use zx1_protocol::payload::{bid_payload, bid_value};
use zx1_protocol::signature;
use zx1_protocol::units::Slot;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = SigningKey::from_bytes(&[5; 32]);
    // What a receiver would drop is refused before it is signed.
    let cbor = Draft {
        msg_type: MsgType::Propose,
        sender: AgentId([1; 32]),
        recipient: AgentId([2; 32]),
        timestamp: 1_790_000_000_000_000,
        block_ref: Slot(1_000),
        nonce: 1,
        conversation_id: ConversationId([3; 16]),
        payload: &bid_payload(250, b"translate 3 pages"),
    }
    .sign(|bytes| key.sign(bytes).to_bytes())?;

    let envelope = Envelope::decode(&cbor)?;
    assert_eq!(bid_value(envelope.payload), 250);
    let signed = envelope.signing_bytes();
    assert!(signature::verify(key.verifying_key().as_bytes(), &signed, envelope.signature));

    // Whoever holds the tree's root can be shown that the message is in it.
    let tree = Tree::<Sha3>::of_entries([&b"another"[..], &cbor])?;
    let proof = tree.proof_of_entry(1).ok_or("an entry of the tree")?;
    let leaf = merkle::leaf::<Sha3>(&cbor);
    merkle::verify::<Sha3>(&tree.root(), tree.len(), proof.index, &leaf, &proof.path)?;
    Ok(())
}
