//! The one method that a node is, and the typed calls on top of it.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::rpc::*;
use super::{Fault, NodeError};
use crate::{Address, BlockHash, Network, SignedBlock, Subtype, Work};

/// One request: an action and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The name of the action, such as `block_info`.
    pub action: &'static str,
    /// The arguments, without `action`.
    pub body: Map<String, Value>,
    /// Whether it may be repeated without asking anything first. False for `process`: there, after any
    /// failure, only `block_info` says what happened.
    pub repeatable: bool,
}

impl Call {
    /// The request as it is posted.
    pub fn to_json(&self) -> Value {
        let mut body = self.body.clone();
        body.insert("action".into(), self.action.into());
        Value::Object(body)
    }
}

/// A Nano node, or what behaves as one.
///
/// Implement this to wrap a node with faults, a cache or a log; use [`NodeCalls`] to call it.
pub trait NodeApi: Send + Sync {
    /// Send one action. Answers the node's JSON as it is, a refusal (`{"error": "..."}`) included. An `Err`
    /// means that nobody knows whether the node did it.
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>>;
}

impl<T: NodeApi + ?Sized> NodeApi for Arc<T> {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        (**self).call(call)
    }
}

impl<T: NodeApi + ?Sized> NodeApi for &T {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        (**self).call(call)
    }
}

/// A typed request: how it is written, how its answer is read.
pub trait Message: Send + Sync {
    /// The name of the action.
    const ACTION: &'static str;
    /// Whether the call may be repeated: see [`Call::repeatable`].
    const REPEATABLE: bool = true;
    /// The parsed answer of the node.
    type Answer: Send;

    /// The arguments. Nodes want texts, also for numbers and flags.
    fn body(&self) -> Map<String, Value>;

    /// Refuse what must not go out at all.
    fn check(&self) -> Result<(), NodeError> {
        Ok(())
    }

    /// Read the answer. Refusals are taken out before.
    fn read(&self, answer: Value) -> Result<Self::Answer, NodeError>;

    /// What a refusal means. An action that knows a refusal as an answer ("not found") says so here.
    fn refused(&self, fault: Fault) -> Result<Self::Answer, NodeError> {
        Err(NodeError::Refused { action: Self::ACTION, fault })
    }
}

/// The typed calls. Every [`NodeApi`] has them.
pub trait NodeCalls: NodeApi {
    /// Sends a message and parses the node's answer.
    fn ask<M: Message>(&self, message: M) -> impl Future<Output = Result<M::Answer, NodeError>> + Send {
        async move {
            message.check()?;
            let call = Call { action: M::ACTION, body: message.body(), repeatable: M::REPEATABLE };
            let answer = self.call(call).await?;
            match refusal(&answer) {
                Some(fault) => message.refused(fault),
                None => message.read(answer),
            }
        }
    }

    /// What the node is and which network it is in.
    fn version(&self) -> impl Future<Output = Result<VersionInfo, NodeError>> + Send {
        self.ask(Version)
    }

    /// Refuse (8205) a node of another network. Call it at start, before anything that moves money.
    fn check_network(&self, network: Network) -> impl Future<Output = Result<VersionInfo, NodeError>> + Send {
        async move {
            let version = self.version().await?;
            if version.genesis != network.genesis() {
                return Err(NodeError::WrongNetwork { expected: network, genesis: version.genesis });
            }
            Ok(version)
        }
    }

    /// An account's chain, or `None` when it has no blocks (also when money waits for it).
    fn account_info(
        &self,
        account: Address,
    ) -> impl Future<Output = Result<Option<AccountState>, NodeError>> + Send {
        self.ask(AccountInfo { account })
    }

    /// Balance and what is receivable. `confirmed_only`: count confirmed blocks only.
    fn account_balance(
        &self,
        account: Address,
        confirmed_only: bool,
    ) -> impl Future<Output = Result<Balance, NodeError>> + Send {
        self.ask(AccountBalance { account, confirmed_only })
    }

    /// Sends that wait for the account, with amount and source.
    fn receivable(
        &self,
        request: Receivable,
    ) -> impl Future<Output = Result<Vec<ReceivableBlock>, NodeError>> + Send {
        self.ask(request)
    }

    /// A block, or `None` when the node does not know it.
    fn block_info(
        &self,
        hash: BlockHash,
    ) -> impl Future<Output = Result<Option<BlockState>, NodeError>> + Send {
        self.ask(BlockInfo { hash })
    }

    /// Publish a block. An error, whatever it says, does not mean that the block is not in the ledger: ask
    /// [`block_info`](Self::block_info).
    fn process(
        &self,
        block: SignedBlock,
        subtype: Option<Subtype>,
    ) -> impl Future<Output = Result<BlockHash, NodeError>> + Send {
        self.ask(Process { block, subtype })
    }

    /// Ask the node to vote on a block again.
    fn block_confirm(&self, hash: BlockHash) -> impl Future<Output = Result<(), NodeError>> + Send {
        self.ask(BlockConfirm { hash })
    }

    /// Let the node compute work. The answer is the node's word; check it.
    fn work_generate(
        &self,
        root: BlockHash,
        difficulty: u64,
    ) -> impl Future<Output = Result<Work, NodeError>> + Send {
        self.ask(WorkGenerate { root, difficulty, use_peers: false })
    }

    /// An account's blocks, newest first (or oldest first with `reverse`).
    fn account_history(
        &self,
        request: AccountHistory,
    ) -> impl Future<Output = Result<History, NodeError>> + Send {
        self.ask(request)
    }
}

impl<T: NodeApi + ?Sized> NodeCalls for T {}

/// The refusal in an answer, if it is one.
fn refusal(answer: &Value) -> Option<Fault> {
    match answer.get("error")? {
        Value::String(text) => Some(Fault::from_text(text)),
        Value::Null => None,
        other => Some(Fault::from_text(&other.to_string())),
    }
}
