//! The fuzz targets of this crate, on the stable compiler.

use nano_escrow::{BlockHash, PrivateKey, Raw, StateBlock, Work};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::bodies;
use crate::harness::{self, draw};

/// Bytes that the target takes.
fn good(target: &str, runner: &mut TestRunner) -> Vec<u8> {
    let key = PrivateKey::from_bytes(draw(runner, any::<[u8; 32]>())).keypair();
    let (previous, link) = draw(runner, any::<([u8; 32], [u8; 32])>());
    let block = StateBlock {
        account: key.public_key(),
        previous: BlockHash(previous),
        representative: key.public_key(),
        balance: Raw(draw(runner, any::<u128>())),
        link,
    };
    let signed = block.sign(&key).unwrap().with_work(Work(draw(runner, any::<u64>())));
    let (hash, account, amount) = (signed.hash(), key.address(), block.balance);
    let answers = [
        json!({ "error": "Block not found" }),
        json!({ "balance": amount, "receivable": amount, "pending": amount }),
        json!({ "account": account, "history": [{ "hash": hash, "type": "state", "subtype": "send",
            "account": account, "amount": amount, "balance": amount, "height": "3", "local_timestamp": "5",
            "confirmed": "true" }], "previous": hash }),
        json!({ "frontier": hash, "open_block": hash, "representative_block": hash, "balance": amount,
            "modified_timestamp": "5", "block_count": "3", "account_version": "2",
            "confirmation_height": "3", "confirmation_height_frontier": hash, "representative": account,
            "confirmed_balance": amount, "confirmed_height": "3", "confirmed_frontier": hash }),
        json!({ "balances": { account.to_string(): { "balance": amount, "receivable": amount } } }),
        json!({ "frontiers": { account.to_string(): hash } }),
        json!({ "blocks": { account.to_string(): { hash.to_string(): { "amount": amount, "source": account } } } }),
        json!({ "network_minimum": "fffffff800000000", "network_receive_minimum": "fffffe0000000000" }),
        json!({ "started": "1" }),
        json!({ "count": "7", "unchecked": "0", "cemented": "7" }),
        json!({ "block_account": account, "amount": amount, "balance": amount, "height": "3",
            "local_timestamp": "5", "successor": hash, "confirmed": "true", "subtype": "send",
            "contents": signed }),
        json!({ "blocks": { hash.to_string(): { "block_account": account, "height": "3",
            "local_timestamp": "5", "confirmed": "true", "contents": signed } }, "blocks_not_found": [hash] }),
        json!({ "blocks": { hash.to_string(): { "amount": amount, "source": account } } }),
        json!({ "exists": "1" }),
        json!({ "metrics": [{ "cemented_count": "7", "block_count": "9" }] }),
        json!({ "rpc_version": "1", "store_version": "14", "protocol_version": "21", "node_vendor": "Nano",
            "network": "live", "network_identifier": hash }),
        json!({ "work": Work(1), "difficulty": "fffffff800000000", "multiplier": "1", "hash": hash }),
        json!({ "valid_all": "1", "valid_receive": "1", "difficulty": "fffffff800000000" }),
    ];
    match target {
        "nano_block" if draw(runner, any::<bool>()) => signed.to_bytes().unwrap().to_vec(),
        "nano_block" => serde_json::to_vec(&signed).unwrap(),
        "nano_answer" => {
            let answer: &Value = &answers[draw(runner, 0..answers.len())];
            serde_json::to_vec(answer).unwrap()
        }
        other => panic!("{other} has no good bytes here"),
    }
}

#[test]
fn no_decoder_panics_on_noise_or_on_damaged_bytes() {
    harness::run(&bodies::ALL, good);
}
