//! A running ledger in the hand of whoever started it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::task::JoinSet;

use super::faults::{FaultId, FaultRule, FaultState};
use super::node::{Core, Node};
use super::rpc::{self, Outcome};
use super::ws::Hub;
use super::{AccountAudit, Audit, DevnetError, Entry, Ledger};
use nano_escrow::node::{Call, NodeApi, NodeError};
use nano_escrow::{Address, BlockHash, Raw, SignedBlock};

/// How long a stop waits for requests that are under way.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) struct Running {
    pub(crate) node: Arc<Node>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) tasks: JoinSet<()>,
    pub(crate) rpc: SocketAddr,
    pub(crate) ws: SocketAddr,
    pub(crate) control: Option<SocketAddr>,
    pub(crate) replayed: u64,
    pub(crate) cut: u64,
}

/// A running ledger. It stops when this is dropped; [`stop`](Self::stop) also waits until all is on the disk.
///
/// It is also a [`NodeApi`]: the same requests without HTTP, faults included.
pub struct Devnet {
    running: Running,
}

impl fmt::Debug for Devnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Devnet").field("rpc", &self.running.rpc).field("ws", &self.running.ws).finish()
    }
}

impl Drop for Devnet {
    fn drop(&mut self) {
        self.running.node.cancel.cancel();
    }
}

impl Devnet {
    pub(crate) fn new(running: Running) -> Devnet {
        Devnet { running }
    }

    /// Where the RPC is.
    pub fn rpc_url(&self) -> String {
        format!("http://{}", self.running.rpc)
    }

    /// Where the websocket is.
    pub fn ws_url(&self) -> String {
        format!("ws://{}", self.running.ws)
    }

    /// Where control commands go, if there is a place.
    pub fn control_url(&self) -> Option<String> {
        self.running.control.map(|a| format!("http://{a}/control"))
    }

    /// The addresses of RPC and websocket, for starting another ledger in the same place.
    pub fn addresses(&self) -> (SocketAddr, SocketAddr) {
        (self.running.rpc, self.running.ws)
    }

    /// How many records were read from the folder at start.
    pub fn replayed(&self) -> u64 {
        self.running.replayed
    }

    /// How many bytes of a torn end were cut from the block file at start.
    pub fn cut(&self) -> u64 {
        self.running.cut
    }

    /// Do something under the lock, then wait until it is kept.
    async fn change<T>(
        &self,
        work: impl FnOnce(&Node, &mut Core) -> Result<T, DevnetError>,
    ) -> Result<T, DevnetError> {
        let node = &self.running.node;
        if node.cancel.is_cancelled() {
            return Err(DevnetError::Stopped);
        }
        let (result, number) = {
            let mut core = node.lock();
            let result = work(node, &mut core);
            (result, node.commit(core))
        };
        node.kept(number).await?;
        result
    }

    /// Send money from genesis: a real block with real work. Returns the hash of the send. Fails with 8521
    /// when genesis has less, with 8522 when the amount is zero.
    pub async fn faucet(&self, to: Address, amount: Raw) -> Result<BlockHash, DevnetError> {
        self.change(|node, core| node.faucet(core, &to.public_key(), amount)).await
    }

    /// A block comes from the network. No subtype is checked; a block that lacks its predecessor is kept for
    /// later. Fails with 8520.
    pub async fn publish(&self, block: &SignedBlock) -> Result<Entry, DevnetError> {
        self.change(|node, core| {
            let hash = block.hash();
            let refused = |refusal| DevnetError::Refused { hash, refusal };
            core.ledger.check_entry_work(block).map_err(refused)?;
            node.add(core, block).map_err(refused)
        })
        .await
    }

    /// The network decides for a rival: the block in its place and all that depends on it are rolled back,
    /// and the rival takes the place, unconfirmed. All or nothing. Fails with 8524 when the other is final.
    pub async fn let_win(&self, rival: &SignedBlock) -> Result<Entry, DevnetError> {
        self.change(|node, core| node.force(core, rival)).await
    }

    /// Make a block final, and all that it stands on, whatever options and faults say. Returns how many
    /// became final. Fails with 8523.
    pub async fn confirm(&self, hash: BlockHash) -> Result<usize, DevnetError> {
        self.change(|node, core| {
            if core.ledger.block(&hash).is_none() {
                return Err(DevnetError::Unknown(hash));
            }
            Ok(node.confirm_now(core, &hash))
        })
        .await
    }

    /// Make every block final.
    pub async fn confirm_all(&self) -> Result<usize, DevnetError> {
        self.change(|node, core| {
            let heads: Vec<BlockHash> = core.ledger.accounts().map(|(_, a)| a.head).collect();
            Ok(heads.iter().map(|head| node.confirm_now(core, head)).sum())
        })
        .await
    }

    /// The network appends the next epoch block to an account. An unopened account that has something
    /// receivable is opened by it. Fails with 8525 at epoch 2: see [`crate::Builder::genesis_epoch`].
    pub async fn append_epoch(&self, account: Address) -> Result<BlockHash, DevnetError> {
        self.change(|node, core| node.append_epoch(core, &account.public_key())).await
    }

    /// The faults on order.
    pub fn faults(&self) -> Faults<'_> {
        Faults { node: &self.running.node }
    }

    /// A copy of the whole ledger as it is now.
    pub fn ledger(&self) -> Ledger {
        self.running.node.lock().ledger.clone()
    }

    /// A look into the ledger without copying it. The ledger waits meanwhile.
    pub fn look<T>(&self, look: impl FnOnce(&Ledger) -> T) -> T {
        look(&self.running.node.lock().ledger)
    }

    /// Recompute the books from the blocks. Fails with 8540, which would be a defect.
    pub fn audit(&self) -> Result<Audit, DevnetError> {
        self.look(Ledger::audit).map_err(DevnetError::Audit)
    }

    /// One account's blocks and sums.
    pub fn account(&self, account: Address) -> AccountAudit {
        self.look(|ledger| ledger.audit_account(&account.public_key()))
    }

    /// Wait until the ledger is as wanted. Fails with 8530 when it is not within the time.
    pub async fn wait_for<T>(
        &self,
        within: Duration,
        mut wanted: impl FnMut(&Ledger) -> Option<T>,
    ) -> Result<T, DevnetError> {
        let mut changes = self.running.node.changes();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                if let Some(found) = self.look(&mut wanted) {
                    return Ok(found);
                }
                changes.changed().await.map_err(|_| DevnetError::Stopped)?;
            }
        };
        tokio::time::timeout(within, waiting).await.unwrap_or(Err(DevnetError::Timeout(within)))
    }

    /// Wait until a block is there and final.
    pub async fn wait_confirmed(&self, hash: BlockHash, within: Duration) -> Result<Entry, DevnetError> {
        self.wait_for(within, |ledger| ledger.block(&hash).filter(|e| e.confirmed).copied()).await
    }

    /// Clients of the websocket, and how many were dropped because they did not read.
    pub fn ws_clients(&self) -> (usize, u64) {
        self.running.hub.counts()
    }

    /// Wait until something asks the ledger to stop by the control endpoint.
    pub async fn stopped(&self) {
        self.running.node.cancel.cancelled().await;
    }

    /// Answer nothing more, write what is left, close the file.
    pub async fn stop(mut self) -> Result<(), DevnetError> {
        let node = self.running.node.clone();
        node.cancel.cancel();
        let tasks = &mut self.running.tasks;
        let ended =
            tokio::time::timeout(PATIENCE, async { while tasks.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            self.running.tasks.shutdown().await;
        }
        let number = node.commit(node.lock());
        node.kept(number).await?;
        // The file is closed with the last owner of the node; requests cut off above own it no longer.
        drop(self);
        if let Some(node) = Arc::into_inner(node) {
            tokio::task::spawn_blocking(move || drop(node)).await.map_err(|_| DevnetError::Stopped)?;
        }
        Ok(())
    }
}

impl NodeApi for Devnet {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        Box::pin(async move {
            let action = call.action;
            let Value::Object(request) = call.to_json() else {
                return Err(NodeError::Unreadable { action, reason: "no object".into() });
            };
            let lost = |reason: &str| NodeError::Unreachable { action, reason: reason.into() };
            if self.running.node.cancel.is_cancelled() {
                return Err(lost("the ledger has stopped"));
            }
            match rpc::answer(&self.running.node, request).await {
                Outcome::Answer(value) => Ok(value),
                Outcome::Cut(_) => {
                    Err(NodeError::Unreadable { action, reason: "the answer ends in the middle".into() })
                }
                Outcome::Close => Err(lost("the connection was closed")),
                Outcome::Status(status, text) => Err(NodeError::Http { action, status, text }),
            }
        })
    }
}

/// The faults on order. See [`FaultRule`].
#[derive(Clone, Copy)]
pub struct Faults<'a> {
    node: &'a Node,
}

impl fmt::Debug for Faults<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

impl Faults<'_> {
    /// Adds a fault rule.
    pub fn add(&self, rule: FaultRule) -> FaultId {
        self.node.faults.add(rule)
    }

    /// Cancel one. Confirmations that it held back are due at once. Returns how often it struck.
    pub fn remove(&self, id: FaultId) -> Option<FaultState> {
        let state = self.node.faults.remove(id);
        self.node.release();
        state
    }

    /// Cancel all, and catch up.
    pub fn clear(&self) {
        self.node.faults.clear();
        self.node.catch_up();
        self.node.release();
    }

    /// All, with how often each struck.
    pub fn list(&self) -> Vec<FaultState> {
        self.node.faults.list()
    }

    /// How often one struck; zero when it is not there.
    pub fn struck(&self, id: FaultId) -> u64 {
        self.list().iter().find(|s| s.id == id).map_or(0, |s| s.struck)
    }

    /// From now on the node answers from what it knows now, and takes only blocks that follow that. The
    /// network, that is [`Devnet::ledger`] and everything else here, goes on.
    pub fn fall_behind(&self) {
        self.node.fall_behind();
    }

    /// The node knows everything again.
    pub fn catch_up(&self) {
        self.node.catch_up();
    }
}
