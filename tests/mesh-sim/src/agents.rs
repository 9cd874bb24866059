//! Agents: their keys, what the chain says of them, and the envelopes that they sign.

use crate::random::{Random, mix};
use ed25519_dalek::{Signer as _, SigningKey};
use std::fmt;
use zx1_mesh::facts::{Chain, Facts, Stake};
use zx1_protocol::beacon::Beacon;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::lease::Lease;
use zx1_protocol::mesh_payload::{Advertise, Discover};
use zx1_protocol::payload::{BidType, Feedback, NotarizeBid};
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

const DAY: u64 = 20_500;
const SECOND: u64 = 1_000_000;
/// The time at which every simulation begins, unix microseconds.
pub const START: u64 = DAY * 86_400 * SECOND + 1_000 * SECOND;
const FIRST_SLOT: u64 = 400_000_000;
const SLOT_MICROS: u64 = 400_000;
const MIN_STAKE: MicroUsdc = MicroUsdc(10_000_000);

/// Slot and configuration of the cluster, this long after the start.
pub fn chain_at(now: u64) -> Chain {
    Chain { slot: Slot(FIRST_SLOT + now / SLOT_MICROS), min_stake: MIN_STAKE }
}

/// What a simulation cannot be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadMessage(pub &'static str);

impl fmt::Display for BadMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The simulation made a message that nobody may send: {}.", self.0)
    }
}

impl std::error::Error for BadMessage {}

#[derive(Clone)]
struct Keys {
    signing: SigningKey,
    public: PublicKey,
    wallet: WalletKey,
    saved_nonces: [Option<u64>; 4],
}

/// All agents by their numbers. Keys are made when an agent first speaks.
pub struct Agents {
    seed: u64,
    keys: Vec<Option<Box<Keys>>>,
}

impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agents").field("seed", &self.seed).field("number", &self.keys.len()).finish()
    }
}

/// A signed message and what is known of it.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The envelope, encoded.
    pub bytes: Vec<u8>,
    /// The key that signed it.
    pub signer: WalletKey,
    /// Its number on its channel.
    pub nonce: u64,
}

fn bytes_of(seed: u64, name: &str, number: u64) -> [u8; 32] {
    let mut random = Random::new(seed ^ mix(number), name);
    let mut bytes = [0; 32];
    bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.draw().to_le_bytes()));
    bytes
}

impl Agents {
    /// This many agents.
    pub fn new(seed: u64, number: u32) -> Self {
        Self { seed, keys: (0..number).map(|_| None).collect() }
    }

    /// The id of an agent. Numbers beyond the agents' are of agents that no registry knows.
    pub fn id(&self, agent: u64) -> AgentId {
        AgentId(bytes_of(self.seed, "agent id", agent))
    }

    fn keys(&mut self, agent: u32) -> Result<&mut Keys, BadMessage> {
        let seed = self.seed;
        let keys = self.keys.get_mut(agent as usize).ok_or(BadMessage("its sender has no key"))?;
        if keys.is_none() {
            let signing = SigningKey::from_bytes(&bytes_of(seed, "peer key", u64::from(agent)));
            let bytes = signing.verifying_key().to_bytes();
            let public = PublicKey::from_bytes(&bytes).map_err(|_| BadMessage("its key is not valid"))?;
            let wallet = WalletKey::from(bytes);
            *keys = Some(Box::new(Keys { signing, public, wallet, saved_nonces: [None; 4] }));
        }
        keys.as_deref_mut().ok_or(BadMessage("its sender has no key"))
    }

    /// The seed of an agent's key, for a real node under the same one.
    pub fn secret(&self, agent: u32) -> [u8; 32] {
        bytes_of(self.seed, "peer key", u64::from(agent))
    }

    /// What the chain says of a registered agent: one key that may do everything, stake and lease.
    ///
    /// # Errors
    /// There is no such agent.
    pub fn facts(&mut self, agent: u32) -> Result<Facts, BadMessage> {
        let key = self.keys(agent)?.public;
        Ok(Facts {
            keys: vec![AgentKey { key, scopes: Scopes::ALL, from: Epoch(DAY - 100), until: OPEN }],
            other_keys: Vec::new(),
            has_all_keys: true,
            stake: Some(Stake { amount: MIN_STAKE, is_queued: false }),
            lease: Some(Lease { paid_through: Epoch(DAY) }),
        })
    }

    /// A message of this type by an agent, signed now by its clock. `now` counts from [`START`].
    ///
    /// # Errors
    /// Receivers would drop it.
    pub fn sign(&mut self, agent: u32, msg_type: MsgType, now: u64) -> Result<Signed, BadMessage> {
        self.sign_as(self.id(u64::from(agent)), agent, msg_type, now)
    }

    /// A message in the name of this agent id, under the key of that agent.
    ///
    /// # Errors
    /// Receivers would drop it whoever sent it.
    pub fn sign_as(
        &mut self,
        sender: AgentId,
        agent: u32,
        msg_type: MsgType,
        now: u64,
    ) -> Result<Signed, BadMessage> {
        let target = self.id(0);
        let keys = self.keys(agent)?;
        let channel = zx1_protocol::channel::channel_of(msg_type);
        let saved = &mut keys.saved_nonces[usize::from(channel.number())];
        // As the log gives them out: from the time on, and within a run one by one.
        let nonce = saved.map_or(START, |last| last + 1);
        *saved = Some(nonce);
        let conversation_id = ConversationId(u128::from(mix(now)).to_be_bytes());
        let payload = payload(msg_type, sender, keys.wallet, target, conversation_id)?;
        let draft = Draft {
            msg_type,
            sender,
            recipient: BROADCAST,
            timestamp: START + now,
            block_ref: chain_at(now).slot,
            nonce,
            conversation_id,
            payload: &payload,
        };
        let bytes = draft.sign(|bytes| keys.signing.sign(bytes).to_bytes());
        let bytes = bytes.map_err(|_| BadMessage("its draft is refused"))?;
        Ok(Signed { bytes, signer: keys.wallet, nonce })
    }
}

fn payload(
    msg_type: MsgType,
    sender: AgentId,
    verifying_key: WalletKey,
    target_agent: AgentId,
    conversation_id: ConversationId,
) -> Result<Vec<u8>, BadMessage> {
    let refused = BadMessage("its payload is refused");
    match msg_type {
        MsgType::Beacon => Ok(Beacon { agent_id: sender, verifying_key, name: "" }.to_bytes()),
        MsgType::Advertise => {
            let offer = Advertise {
                caps: vec!["fix"],
                schema: "",
                unit: "raw",
                price: 1_000,
                contract: None,
                ttl: 600,
            };
            offer.to_payload().map_err(|_| refused)
        }
        MsgType::Discover => Discover { want: vec!["fix"], max: 8 }.to_payload().map_err(|_| refused),
        MsgType::NotarizeBid => {
            let terms: &[u8] = b"";
            Ok(NotarizeBid { bid_type: BidType::Request, conversation_id, terms }.to_bytes())
        }
        MsgType::Feedback => {
            let rating =
                Feedback { conversation_id, target_agent, score: 50, outcome: 2, is_dispute: false, role: 0 };
            rating.to_cbor().map_err(|_| refused)
        }
        _ => Err(BadMessage("it belongs on a direct stream")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_mesh::facts::Known;
    use zx1_mesh::gate::{Gate, Mode, Path, Verdict, View};
    use zx1_protocol::channel::channel_of;
    use zx1_protocol::nonce::SeenNonces;

    #[test]
    fn the_real_gate_accepts_what_a_registered_agent_signs_on_every_topic() {
        let mut agents = Agents::new(3, 2);
        let facts = agents.facts(1).unwrap();
        let types =
            [MsgType::Beacon, MsgType::Advertise, MsgType::Discover, MsgType::NotarizeBid, MsgType::Feedback];
        for msg_type in types {
            let signed = agents.sign(1, msg_type, 70 * SECOND).unwrap();
            let channel = channel_of(msg_type);
            let view = View {
                now: START + 71 * SECOND,
                chain: Some(chain_at(71 * SECOND)),
                author: Known::Present(&facts),
                seen: SeenNonces::none(channel),
            };
            let gate = Gate::new(agents.id(0), Mode::Enforced);
            let verdict = gate.verdict(&signed.bytes, Path { channel, source: Some(signed.signer) }, &view);
            assert!(matches!(verdict, Verdict::Accept(_)), "{msg_type:?}: {verdict:?}");
        }
        assert!(agents.sign(1, MsgType::Propose, 0).is_err());
        assert!(agents.sign(2, MsgType::Beacon, 0).is_err());
    }

    #[test]
    fn nonces_of_a_channel_go_up_by_one() {
        let mut agents = Agents::new(3, 2);
        let mut nonce = |msg_type, now| agents.sign(1, msg_type, now).unwrap().nonce;
        assert_eq!(nonce(MsgType::Beacon, 5), START);
        assert_eq!(nonce(MsgType::Advertise, 900), START + 1);
        assert_eq!(nonce(MsgType::Feedback, 900), START);
    }
}
