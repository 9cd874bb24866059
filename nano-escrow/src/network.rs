//! The networks: genesis, ports, thresholds, epoch signers.

use std::fmt;
use std::str::FromStr;

use crate::{BlockHash, Error, PublicKey, Thresholds};

/// A Nano network. There is no default: whoever moves money says where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// The main network.
    Live,
    /// The network on which new versions of the node are tested.
    Beta,
    /// For one machine; its genesis key is public. The embedded ledger is of this network.
    Dev,
    /// The former public test network, retired; its numbers stay for private copies.
    Test,
}

/// The usual ports of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// Port of the node's HTTP RPC.
    pub rpc: u16,
    /// Port of the node's websocket.
    pub websocket: u16,
    /// Port for connections with other nodes.
    pub peer: u16,
}

const fn bytes(text: &str) -> [u8; 32] {
    const fn digit(c: u8) -> u8 {
        match c {
            b'0'..=b'9' => c - b'0',
            b'A'..=b'F' => c - b'A' + 10,
            _ => panic!("a digit"),
        }
    }
    let text = text.as_bytes();
    let mut out = [0; 32];
    let mut i = 0;
    while i < 32 {
        out[i] = digit(text[2 * i]) << 4 | digit(text[2 * i + 1]);
        i += 1;
    }
    out
}

impl Network {
    /// All networks that this crate knows.
    pub const ALL: [Network; 4] = [Network::Live, Network::Beta, Network::Dev, Network::Test];

    /// The private key of the dev network's genesis account. Public knowledge; it holds money of the dev
    /// network only.
    pub const DEV_GENESIS_PRIVATE_KEY: [u8; 32] =
        bytes("34F0A37AAD20F4A260F0A5B3CB3D7FB50673212263E58A380BC10474BB039CE4");

    /// The name, as nodes write it: `live`, `beta`, `dev`, `test`.
    pub const fn name(self) -> &'static str {
        match self {
            Network::Live => "live",
            Network::Beta => "beta",
            Network::Dev => "dev",
            Network::Test => "test",
        }
    }

    /// The hash of the genesis block, which a node answers as `network_identifier` to `version`.
    pub const fn genesis(self) -> BlockHash {
        BlockHash(bytes(match self {
            Network::Live => "991CF190094C00F0B68E2E5F75F6BEE95A2E0BD93CEAA4A6734DB9F19B728948",
            Network::Beta => "E1227CF974C1455A8B630433D94F3DDBF495EEAC9ADD2481A4A1D90A0D00F488",
            Network::Dev => "04270D7F11C4B2B472F2854C5A59F2A7E84226CE9ED799DE75744BD7D85FC9D9",
            Network::Test => "B1D60C0B886B57401EF5A1DAA04340E53726AA6F4D706C085706F31BBD100CEE",
        }))
    }

    /// The network of a genesis hash.
    pub fn from_genesis(hash: BlockHash) -> Option<Network> {
        Self::ALL.into_iter().find(|n| n.genesis() == hash)
    }

    /// The default ports of a node of this network.
    pub const fn ports(self) -> Ports {
        match self {
            Network::Live => Ports { rpc: 7076, websocket: 7078, peer: 7075 },
            Network::Beta => Ports { rpc: 55000, websocket: 57000, peer: 54000 },
            Network::Dev => Ports { rpc: 45000, websocket: 47000, peer: 44000 },
            Network::Test => Ports { rpc: 17076, websocket: 17078, peer: 17075 },
        }
    }

    /// The work thresholds of this network.
    pub const fn thresholds(self) -> Thresholds {
        match self {
            Network::Live | Network::Test => Thresholds::LIVE,
            Network::Beta => Thresholds::BETA,
            Network::Dev => Thresholds::DEV,
        }
    }

    /// The signer of the second epoch's blocks, where it is known: (live) its own account, (dev) genesis.
    pub const fn epoch_2_signer(self) -> Option<PublicKey> {
        match self {
            Network::Live => {
                Some(PublicKey(bytes("DD24A9200D4BF8247981E4AC63DBDE38FD2319386970A26D02ECC98C79975DB1")))
            }
            Network::Dev => Some(Self::DEV_GENESIS_ACCOUNT),
            Network::Beta | Network::Test => None,
        }
    }

    /// The genesis account of the dev network.
    pub const DEV_GENESIS_ACCOUNT: PublicKey =
        PublicKey(bytes("B0311EA55708D6A53C75CDBF88300259C6D018522FE3D4D0A242E431F9E8B6D0"));
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Network {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|n| n.name() == text).ok_or_else(|| Error::NetworkName(text.to_owned()))
    }
}
