//! Which ledger: what a party signs for one must not count at another (decision E23).

use std::fmt;
use std::str::FromStr;

use nano_escrow::{BlockHash, Network};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Reason, Refusal, Result};

/// A Nano network by the hash of its genesis block: 64 upper-case hexadecimal digits. All zeros where there is no
/// ledger and contracts are free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct NetworkId([u8; 32]);

impl NetworkId {
    /// No ledger: only free contracts.
    pub const NONE: NetworkId = NetworkId([0; 32]);

    /// The network, when it is a known one.
    pub fn known(self) -> Option<Network> {
        Network::from_genesis(BlockHash(self.0))
    }
}

impl From<Network> for NetworkId {
    fn from(network: Network) -> NetworkId {
        NetworkId(network.genesis().0)
    }
}

impl fmt::Display for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode_upper(self.0))
    }
}

impl fmt::Debug for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NetworkId({self})")
    }
}

impl FromStr for NetworkId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<NetworkId> {
        let wrong = || Refusal::with(Reason::FieldNotHex, "network");
        if text.bytes().any(|b| b.is_ascii_lowercase()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| wrong())?;
        Ok(NetworkId(bytes))
    }
}

impl Serialize for NetworkId {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NetworkId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<NetworkId, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}
