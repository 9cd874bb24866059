//! Who and which: parties, contracts, signing keys.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeroize::Zeroizing;

use crate::digits::lower_hex;
use crate::{Reason, Refusal, Result};

/// A party: one Ed25519 public key (decision A1). Prints and reads as `fix_` and 64 lower-case hexadecimal
/// digits.
///
/// Every value is a point of the curve and not of small order (decision A4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct PartyId([u8; 32]);

impl PartyId {
    /// From the bytes of a public key. 9003 when they are not a point of the curve, 9004 when the point has
    /// small order, so that signatures under it prove nothing.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<PartyId> {
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| Refusal::of(Reason::PartyKeyPoint))?;
        if key.is_weak() { Err(Reason::PartyKeyWeak.into()) } else { Ok(PartyId(bytes)) }
    }

    /// From 64 lower-case hexadecimal digits without the prefix, as request headers carry it.
    pub fn from_hex(text: &str) -> Result<PartyId> {
        PartyId::from_bytes(lower_hex(text).ok_or_else(|| Refusal::of(Reason::PartyIdHex))?)
    }

    /// The key's bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key as 64 hexadecimal digits, without the prefix.
    pub fn hex(&self) -> String {
        hex::encode(self.0)
    }

    /// Whether the signature holds, strictly (decision A4).
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(message, &Signature::from_bytes(signature)).is_ok())
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("fix_{}", hex::encode(self.0)))
    }
}

impl fmt::Debug for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartyId({self})")
    }
}

impl FromStr for PartyId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<PartyId> {
        PartyId::from_hex(text.strip_prefix("fix_").ok_or_else(|| Refusal::of(Reason::PartyIdPrefix))?)
    }
}

/// A contract: the first 8 bytes of the chain hash of its `post` entry (decision E2). Prints and reads as 16
/// lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct ContractId([u8; 8]);

impl ContractId {
    /// The contract whose `post` entry has this chain hash.
    pub fn of(post_hash: &[u8; 32]) -> ContractId {
        let mut id = [0; 8];
        id.iter_mut().zip(post_hash).for_each(|(to, from)| *to = *from);
        ContractId(id)
    }

    /// The first 8 bytes of the post entry's hash.
    pub const fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

impl fmt::Display for ContractId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.0))
    }
}

impl fmt::Debug for ContractId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContractId({self})")
    }
}

impl FromStr for ContractId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<ContractId> {
        lower_hex(text).map(ContractId).ok_or_else(|| Refusal::of(Reason::ContractIdHex))
    }
}

macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
as_text!(PartyId, ContractId);

/// A party's signing key. Zeroized on drop; has no `Display`, and its `Debug` shows the public key only.
#[derive(Clone)]
pub struct PartyKey {
    key: SigningKey,
    id: PartyId,
}

impl PartyKey {
    /// From the 32 bytes of an Ed25519 seed (decision A1). The copy that was handed in is the caller's to
    /// erase.
    pub fn from_seed(seed: &[u8; 32]) -> PartyKey {
        let key = SigningKey::from_bytes(seed);
        // A point that came from a secret is a point and never weak, so it needs no check.
        let id = PartyId(key.verifying_key().to_bytes());
        PartyKey { key, id }
    }

    /// The party id of the public key.
    pub const fn id(&self) -> PartyId {
        self.id
    }

    /// Sign a message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.key.sign(message).to_bytes()
    }

    /// The seed, for storing it. Erased when dropped.
    pub fn expose_seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.key.to_bytes())
    }
}

impl fmt::Debug for PartyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartyKey(of {})", self.id)
    }
}
