//! A message and the batch of its epoch: logged before it is sent, signed once, and saved before it is published.
use std::time::Duration;
use zx1_log::{LogHandle, Next, Seen, View, agent_dir};
use zx1_protocol::batch::{check_epoch, open_digest};
use zx1_protocol::channel::Channel;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::bid_payload;
use zx1_protocol::units::{Epoch, Slot};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    let key = ed25519_dalek::SigningKey::from_bytes(&[5; 32]);
    let sign = |bytes: &[u8]| ed25519_dalek::Signer::sign(&key, bytes).to_bytes();
    let (network, signer) = ([9; 32], key.verifying_key().to_bytes().into());
    let (agent, peer) = (AgentId([1; 32]), AgentId([2; 32]));
    let now_micros = 1_790_000_000_000_000;
    let log = LogHandle::open(agent_dir(home.path(), &agent), agent, Duration::from_secs(10))?;

    // A nonce that no crash can give out twice, then the message.
    let nonce = log.reserve_nonce(Channel::Direct, now_micros)?;
    let cbor = Draft {
        msg_type: MsgType::Propose,
        sender: agent,
        recipient: peer,
        timestamp: now_micros,
        block_ref: Slot(1_000),
        nonce,
        conversation_id: ConversationId([3; 16]),
        payload: &bid_payload(5_000_000, b"CBOR..."),
    }
    .sign(sign)?;
    let envelope = Envelope::decode(&cbor)?;

    // On disk when it returns; only now may the message leave.
    let place = log.append_own(&envelope, now_micros)?;
    assert!(place.new);

    // After the epoch, with the head that is final on chain: build the batch, sign it, save it, and only then
    // publish it.
    let current = Epoch(place.epoch.0 + 1);
    let (last_epoch, digest) = (Epoch(place.epoch.0 - 1), open_digest::<Sha3>(&network, &agent.0));
    let view = View { last_epoch, digest, current };
    let seen = Seen { network, tenure_from: view.last_epoch, views: vec![view] };
    let Next::Sign(head) = log.next_batch(&seen)? else { return Err("nothing was signed before".into()) };
    let covered = check_epoch(place.epoch, head.current, head.last_epoch, seen.tenure_from)?;
    let built = log.build(covered, Slot(900), Slot(216_900))?;
    let message = built.commitment().message(&network, covered.from, &head.digest);
    log.seal(&built.bundle()?, &message, signer, sign(&message.to_bytes()), &seen)?;
    // Until it lands or is void there is nothing else to sign.
    assert_eq!(log.next_batch(&seen)?, Next::Send(place.epoch));
    Ok(())
}
