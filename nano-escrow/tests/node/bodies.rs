//! What each fuzz target of this crate does with its bytes. `tests/fuzz` runs them too.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use nano_escrow::node::rpc::*;
use nano_escrow::node::{Call, Message, NodeApi, NodeCalls, NodeError};
use nano_escrow::{Address, BlockHash, SignedBlock, StateBlock, Work};
use serde_json::Value;

/// A target's body.
pub(crate) type Body = fn(&[u8]);

/// All targets by name.
pub(crate) const ALL: [(&str, Body); 2] = [("nano_block", nano_block), ("nano_answer", nano_answer)];

/// A block as bytes or as JSON. Nodes write JSON in many ways, this crate in one, which is read as the same.
pub(crate) fn nano_block(bytes: &[u8]) {
    if let Ok(block) = SignedBlock::from_bytes(bytes) {
        assert_eq!(block.to_bytes().expect("a block with work"), bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(signed) = SignedBlock::from_json(text) {
        let json = serde_json::to_string(&signed).expect("a block is JSON");
        assert_eq!(SignedBlock::from_json(&json), Ok(signed));
        assert_eq!(StateBlock::from_json(text), Ok(signed.block));
        let _ = signed.verify_network();
    }
}

/// A node that has the same answer for everything.
struct Parrot(Value);

impl NodeApi for Parrot {
    fn call(&self, _: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        ready(Ok(self.0.clone())).boxed()
    }
}

/// A node's answer, read as the answer to every message.
pub(crate) fn nano_answer(bytes: &[u8]) {
    fn ask<M: Message>(node: &Parrot, message: M) {
        let answered = node.ask(message).now_or_never().expect("the answer is there");
        if let Err(error) = answered {
            assert!(!error.to_string().is_empty());
        }
    }
    let Ok(answer) = serde_json::from_slice(bytes) else { return };
    let node = &Parrot(answer);
    let (account, hash, confirmed_only) = (Address::BURN, BlockHash::ZERO, true);
    let accounts = || vec![account];
    ask(node, AccountBalance { account, confirmed_only });
    ask(node, AccountHistory { account, count: None, head: None, reverse: true });
    ask(node, AccountInfo { account });
    ask(node, AccountsBalances { accounts: accounts(), confirmed_only });
    ask(node, AccountsFrontiers { accounts: accounts() });
    ask(node, AccountsReceivable { accounts: accounts(), count: 1, threshold: None, confirmed_only });
    ask(node, ActiveDifficulty);
    ask(node, BlockConfirm { hash });
    ask(node, BlockCount);
    ask(node, BlockInfo { hash });
    ask(node, BlocksInfo { hashes: vec![hash] });
    ask(node, Receivable::all(account));
    ask(node, ReceivableExists { hash, confirmed_only });
    ask(node, Telemetry);
    ask(node, Version);
    ask(node, WorkGenerate { root: hash, difficulty: 0, use_peers: false });
    ask(node, WorkValidate { root: hash, work: Work(0) });
}
