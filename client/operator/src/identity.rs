//! Who holds an agent, and which keys act and sign for it (decisions A1, A3 and P1).

use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator};
use solana_address::Address;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati};
use zx1_interface::accounts::KeyAccount;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::{AgentKey, Scopes};
use zx1_protocol::units::Epoch;

/// Before the key of a peer id: identity, 36 bytes; key type 1 (Ed25519); data, 32 bytes.
const PEER_ID: [u8; 6] = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20];

/// libp2p's name of an Ed25519 key: base58 of an identity multihash of its protobuf form.
pub fn peer_id(key: &Address) -> String {
    bs58::encode([PEER_ID.as_slice(), key.as_array().as_slice()].concat()).into_string()
}

/// The key that a peer id is made of; `None` for ids of other kinds of keys, under which no agent can sign.
pub fn key_of_peer_id(text: &str) -> Option<Address> {
    // Two more than such an id has.
    let bytes = bs58::decode(Some(text).filter(|text| text.len() <= 54)?).into_vec().ok()?;
    let key: [u8; 32] = bytes.strip_prefix(PEER_ID.as_slice())?.try_into().ok()?;
    Some(Address::new_from_array(key))
}

/// The fix market's name of a key (decision A1).
pub fn fix_id(key: &Address) -> String {
    format!("fix_{}", hex::encode(key))
}

/// The wallet that holds an agent's NFT.
///
/// # Errors
/// 7584 when the agent is unknown or retired.
pub async fn owner_of(sati: &Sati, agent: AgentId) -> Result<Address> {
    let record = sati.look_up(agent).await?;
    let owner = record.and_then(|record| record.owner);
    owner.ok_or_else(|| Refusal::NotRegistered { agent: agent.to_string() }.into())
}

/// The key under which a signature on a message of this type and epoch holds and counts.
pub fn signer_of(
    keys: &[AgentKey],
    (msg_type, epoch): (MsgType, Epoch),
    signed: &[u8],
    signature: &[u8; 64],
) -> Option<Address> {
    let counting = keys.iter().filter(|key| key.scopes.sign(msg_type) && key.counts_in(epoch));
    let mut holding = counting.filter(|key| key.key.verify(signed, signature));
    holding.next().map(|key| Address::new_from_array(key.key.to_bytes()))
}

/// What a key is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// What this scope allows, and only a key of its own holder: paying, and landing batches.
    Act(Scopes, Address),
    /// Signing messages of this type.
    Sign(MsgType),
}

impl Use {
    fn allows(self, scopes: Scopes) -> bool {
        match self {
            Self::Act(scope, _) => scopes.has(scope),
            Self::Sign(msg_type) => scopes.sign(msg_type),
        }
    }

    /// The scopes that allow it, for people.
    fn scopes(self) -> String {
        match self {
            Self::Act(scope, _) => scope.names(),
            Self::Sign(msg_type) if msg_type.is_deal() => Scopes::DEAL.names(),
            Self::Sign(_) => format!("{} or {}", Scopes::PEER.names(), Scopes::DEAL.names()),
        }
    }
}

/// Why a key is of no use for it in this epoch, as a clause; `None` when it is.
pub fn fault(key: Option<&KeyAccount>, what: Use, epoch: Epoch) -> Option<String> {
    let Some(key) = key else { return Some("it is not listed".to_owned()) };
    if key.ended_slot != 0 {
        Some("it has ended".to_owned())
    } else if !what.allows(Scopes(key.scopes)) {
        Some(format!("its scopes are {}", Scopes(key.scopes).names()))
    } else if key.from_epoch > epoch.0 {
        Some(format!("it counts from epoch {}", key.from_epoch))
    } else if matches!(what, Use::Act(_, holder) if holder.to_bytes() != key.owner) {
        Some("it was listed by a wallet that does not hold the agent any more".to_owned())
    } else {
        None
    }
}

impl Operator {
    /// Whether the key is of use for it in this epoch.
    ///
    /// # Errors
    /// 7528 when it is not.
    pub(crate) async fn check_key(&self, agent: &Agent, key: Address, what: Use, epoch: Epoch) -> Result<()> {
        let account = self.client().key(agent.mint, key).await?;
        match fault(account.as_deref(), what, epoch) {
            None => Ok(()),
            Some(why) => {
                let (key, agent, scope) = (key.to_string(), agent.shown(), what.scopes());
                Err(Refusal::NotASigner { key, agent, scope, why }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use solana_keypair::Keypair;
    use solana_signer::Signer as _;
    use zx1_protocol::keys::OPEN;

    #[test]
    fn a_peer_id_is_the_key_behind_an_identity_multihash() {
        let id = peer_id(&Address::new_from_array([7; 32]));
        assert!(id.starts_with("12D3KooW"), "{id}");
        let bytes = bs58::decode(&id).into_vec().unwrap();
        assert_eq!(bytes, [&[0, 36, 8, 1, 18, 32][..], &[7; 32]].concat());
        assert_eq!(key_of_peer_id(&id), Some(Address::new_from_array([7; 32])));
        for other in
            ["", "12D3KooW", &id[1..], &format!("{id}1"), "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N"]
        {
            assert_eq!(key_of_peer_id(other), None, "{other}");
        }
    }

    fn key(scopes: Scopes, from_epoch: u64, until_epoch: u64, ended_slot: u64) -> KeyAccount {
        KeyAccount {
            created_slot: 1,
            event_sequence: 1,
            from_epoch,
            until_epoch,
            ended_slot,
            tenure: 1,
            scopes: scopes.0,
            version: 2,
            bump: 255,
            reserved: 0,
            agent: [9; 32],
            key: Keypair::new_from_array([3; 32]).pubkey().to_bytes(),
            owner: [0; 32],
            payer: [0; 32],
        }
    }

    #[test]
    fn deals_need_a_deal_key_and_what_was_ended_still_counts_for_its_epochs() {
        let signature: [u8; 64] = Keypair::new_from_array([3; 32]).sign_message(b"deal").into();
        let signer = |account: &KeyAccount, msg_type, epoch| {
            let keys = [AgentKey::of(account).unwrap()];
            signer_of(&keys, (msg_type, Epoch(epoch)), b"deal", &signature).is_some()
        };
        let ended = key(Scopes::DEAL, 5, 9, 1);
        for (epoch, counts) in [(4, false), (5, true), (9, true), (10, false)] {
            assert_eq!(signer(&ended, MsgType::Accept, epoch), counts, "{epoch}");
        }
        let peer = key(Scopes::PEER, 5, OPEN, 0);
        assert!(!signer(&peer, MsgType::Accept, 6) && signer(&peer, MsgType::Deliver, 6));
    }

    #[test]
    fn every_fault_of_a_key_is_named() {
        let lands = Use::Act(Scopes::BATCH, Address::new_from_array([0; 32]));
        let why = |key: Option<&KeyAccount>, what| fault(key, what, Epoch(6)).unwrap_or_default();
        assert_eq!(why(None, lands), "it is not listed");
        assert_eq!(why(Some(&key(Scopes::BATCH, 5, 6, 1)), lands), "it has ended");
        assert_eq!(why(Some(&key(Scopes::PAY, 5, OPEN, 0)), lands), "its scopes are pay");
        assert_eq!(why(Some(&key(Scopes::BATCH, 7, OPEN, 0)), lands), "it counts from epoch 7");
        let others = Use::Act(Scopes::BATCH, Address::new_from_array([1; 32]));
        assert!(why(Some(&key(Scopes::BATCH, 6, OPEN, 0)), others).contains("does not hold"));
        assert_eq!(why(Some(&key(Scopes::BATCH, 6, OPEN, 0)), lands), "");
        let peer = key(Scopes::PEER, 6, OPEN, 0);
        assert_eq!(why(Some(&peer), Use::Sign(MsgType::Accept)), "its scopes are peer");
        assert_eq!(why(Some(&peer), Use::Sign(MsgType::Deliver)), "");
    }
}
