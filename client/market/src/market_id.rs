//! Which market: what a party signs for one must not count at another (decision E23).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::fields::{Builder, Fields};
use crate::network::NetworkId;
use crate::{PartyId, Result};

/// A market: a server's key on a ledger. A `post` names it, so the same entry is good at one market only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarketId {
    /// The ledger that the money lies on.
    pub network: NetworkId,
    /// The server's key.
    pub server: PartyId,
}

impl MarketId {
    pub(crate) fn to_json(self) -> Json {
        Builder::new().text("network", self.network).put("server", self.server.hex()).build()
    }

    pub(crate) fn read(mut fields: Fields<'_>) -> Result<MarketId> {
        let network = fields.network("network")?;
        let server = PartyId::from_hex(fields.text("server", 64)?)?;
        fields.done()?;
        Ok(MarketId { network, server })
    }
}

impl fmt::Display for MarketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server {} on network {}", self.server, self.network)
    }
}
