//! What the tests share.

use std::sync::Arc;
use std::time::Duration;

use nano_devnet::{Builder, Devnet};
use nano_escrow::node::{HttpNode, HttpOptions, NodeApi, NodeCalls};
use nano_escrow::work::{Cancel, Solver};
use nano_escrow::{Address, Head, Network, PrivateKey, SignedBlock, StateBlock, Thresholds};

/// Nothing takes that long but what never comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A node to test against: the ledger that must stay alive, RPC, websocket.
pub(crate) struct Place {
    pub(crate) devnet: Option<Devnet>,
    pub(crate) node: Arc<dyn NodeApi>,
    pub(crate) websocket: Option<String>,
}

pub(crate) async fn embedded(builder: Builder) -> Place {
    let devnet = builder.start().await.unwrap();
    let node = Arc::new(HttpNode::new(&devnet.rpc_url(), HttpOptions::default()).unwrap());
    let websocket = Some(devnet.ws_url());
    Place { devnet: Some(devnet), node, websocket }
}

/// The node of the environment, if one is named.
pub(crate) fn outside() -> Option<Place> {
    let url = std::env::var("NANO_NODE_URL").ok()?;
    let node = Arc::new(HttpNode::new(&url, HttpOptions::default()).unwrap());
    Some(Place { devnet: None, node, websocket: std::env::var("NANO_WS_URL").ok() })
}

/// A key that no test has used before, also not on a node that keeps its ledger.
pub(crate) fn fresh_key() -> PrivateKey {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).unwrap();
    PrivateKey::from_bytes(bytes)
}

pub(crate) fn genesis() -> PrivateKey {
    PrivateKey::from_bytes(Network::DEV_GENESIS_PRIVATE_KEY)
}

pub(crate) async fn head_of(node: &dyn NodeApi, key: &PrivateKey) -> Head {
    match node.account_info(key.address()).await.unwrap() {
        Some(state) => state.head(key.address()),
        None => Head::unopened(key.address(), genesis().address()),
    }
}

/// Sign, with work that is good for every block of the dev network.
pub(crate) fn finish(block: StateBlock, key: &PrivateKey) -> SignedBlock {
    let work =
        Solver::default().solve(&block.root(), Thresholds::DEV.send_or_change, &Cancel::new()).unwrap();
    block.sign(&key.keypair()).unwrap().with_work(work)
}

/// A send from genesis, published. Others may use genesis at the same time on an outside node; then it is
/// built again on the new frontier.
pub(crate) async fn fund(node: &dyn NodeApi, to: Address, amount: nano_escrow::Raw) -> SignedBlock {
    for _ in 0..20 {
        let block = finish(head_of(node, &genesis()).await.send(to, amount).unwrap(), &genesis());
        match node.process(block, Some(nano_escrow::Subtype::Send)).await {
            Ok(_) => return block,
            Err(error) if error.fault() == Some(&nano_escrow::node::Fault::Fork) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("genesis is too busy");
}

/// Wait until a block is confirmed, asking for votes again as the journal does.
pub(crate) async fn confirmed(node: &dyn NodeApi, hash: nano_escrow::BlockHash) {
    tokio::time::timeout(PATIENCE, async {
        while !node.block_info(hash).await.unwrap().is_some_and(|b| b.confirmed) {
            let _ = node.block_confirm(hash).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap_or_else(|_| panic!("{hash} was never confirmed"));
}
