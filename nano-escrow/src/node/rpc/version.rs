//! The RPC call `version`.

use serde_json::{Map, Value};

use super::read::Answer;
use crate::node::{Message, NodeError};
use crate::{BlockHash, Network};

/// What is the node, and of which network?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version;

/// The answer to [`Version`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionInfo {
    /// Version of the RPC.
    pub rpc_version: u32,
    /// Version of the ledger's storage.
    pub store_version: Option<u32>,
    /// Version of the protocol between nodes.
    pub protocol_version: Option<u32>,
    /// Name and version of the node.
    pub vendor: String,
    /// The network's name, as the node says it.
    pub network: String,
    /// The hash of the genesis block: this is what names the network.
    pub genesis: BlockHash,
}

impl VersionInfo {
    /// The network, by its genesis.
    pub fn known_network(&self) -> Option<Network> {
        Network::from_genesis(self.genesis)
    }
}

impl Message for Version {
    const ACTION: &'static str = "version";
    type Answer = VersionInfo;

    fn body(&self) -> Map<String, Value> {
        Map::new()
    }

    fn read(&self, answer: Value) -> Result<VersionInfo, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        Ok(VersionInfo {
            rpc_version: answer.get("rpc_version")?,
            store_version: answer.maybe("store_version")?,
            protocol_version: answer.maybe("protocol_version")?,
            vendor: answer.maybe("node_vendor")?.unwrap_or_default(),
            network: answer.maybe("network")?.unwrap_or_default(),
            genesis: answer.get("network_identifier")?,
        })
    }
}
