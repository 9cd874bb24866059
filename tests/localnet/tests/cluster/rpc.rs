//! The RPC, over real HTTP: what Solana's own tools ask.

use crate::common::*;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use solana_address::Address;
use solana_message::{VersionedMessage, v1};
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;
use zx1_chain::{pda, token};
use zx1_interface::ids;

#[test]
fn the_questions_of_every_tool_are_answered_ok() {
    let net = start();
    let ask = |method, params| rpc(&net, method, params).unwrap();
    assert_eq!(ask("getHealth", json!([])), "ok");
    assert!(ask("getVersion", json!([]))["solana-core"].is_string());
    for level in ["processed", "confirmed", "finalized"] {
        let answer = ask("getLatestBlockhash", json!([{"commitment": level}]));
        let hash = answer["value"]["blockhash"].as_str().unwrap();
        assert!(answer["value"]["lastValidBlockHeight"].as_u64().unwrap() >= net.status().block_height);
        let valid = ask("isBlockhashValid", json!([hash, {"commitment": "processed"}]));
        assert_eq!(valid["value"], true, "{level}");
    }
    let confirmed = ask("getSlot", json!([{"commitment": "confirmed"}])).as_u64().unwrap();
    let finalized = ask("getSlot", json!([{"commitment": "finalized"}])).as_u64().unwrap();
    assert!((25..60).contains(&(confirmed - finalized)), "{confirmed} {finalized}");
    assert!(ask("getRecentPrioritizationFees", json!([[pda::config().to_string()]])).is_array());
    assert!(ask("getMinimumBalanceForRentExemption", json!([165])).as_u64().unwrap() > 1_000_000);
    assert!(ask("getGenesisHash", json!([])).is_string());
    assert!(ask("getBlockHeight", json!([])).as_u64().unwrap() > 0);
    assert!(ask("getEpochInfo", json!([]))["absoluteSlot"].as_u64().unwrap() >= 400_000_000);
    assert!(ask("getFirstAvailableBlock", json!([])).is_u64());
    assert!(ask("getTransactionCount", json!([])).is_u64());
    let unknown = rpc(&net, "noSuchMethod", json!([])).unwrap_err();
    assert_eq!(unknown["code"], -32601);
}

#[test]
fn a_transaction_is_simulated_sent_and_found_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let stranger = Address::new_unique();
    let wire = signed(&net, &[transfer(&owner.pubkey(), &stranger, 2_000_000)], &owner, &[]);
    let options = json!({"encoding": "base64", "sigVerify": true, "commitment": "confirmed",
        "accounts": {"encoding": "base64", "addresses": [stranger.to_string()]}});
    let simulated = rpc(&net, "simulateTransaction", json!([wire, options])).unwrap();
    assert!(simulated["value"]["err"].is_null(), "{simulated}");
    assert!(simulated["value"]["unitsConsumed"].as_u64().unwrap() > 0);
    assert_eq!(simulated["value"]["accounts"][0]["lamports"], 2_000_000);
    assert_eq!(net.balance(&stranger).lamports, 0, "a simulation changes nothing");
    let signature = rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap();
    let confirmed = wait_until("it is confirmed", || {
        let answer = rpc(&net, "getSignatureStatuses", json!([[signature]])).unwrap();
        let status = answer["value"][0].clone();
        (status["confirmationStatus"] == "confirmed").then_some(status)
    });
    assert!(confirmed["err"].is_null());
    let options = json!({"encoding": "json", "commitment": "confirmed", "maxSupportedTransactionVersion": 1});
    let found = rpc(&net, "getTransaction", json!([signature, options])).unwrap();
    assert_eq!(found["slot"], confirmed["slot"]);
    let (block_time, unix) = (found["blockTime"].as_i64().unwrap(), net.status().unix);
    assert!((unix - 60..=unix).contains(&block_time));
    assert_eq!(found["meta"]["fee"], 5_000);
    let block = rpc(&net, "getBlock", json!([confirmed["slot"], options])).unwrap();
    assert_eq!(block["transactions"].as_array().unwrap().len(), 1);
    assert_eq!(block["blockTime"], found["blockTime"]);
    let again = rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap_err();
    assert!(is_already_processed(&again), "{again}");
}

#[test]
fn a_transaction_becomes_final_after_31_slots_ok() {
    let net = builder().slot_time(std::time::Duration::from_millis(20)).start().unwrap();
    let owner = wallet(&net, "wallet-1");
    let signature = send(&net, &[transfer(&owner.pubkey(), &Address::new_unique(), 1_000_000)], &owner, &[]);
    wait_until("it is final", || {
        let answer = rpc(&net, "getSignatureStatuses", json!([[signature]])).unwrap();
        (answer["value"][0]["confirmationStatus"] == "finalized").then_some(())
    });
}

#[test]
fn a_version_1_transaction_lands_and_is_read_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let stranger = Address::new_unique();
    let answer = rpc(&net, "getLatestBlockhash", json!([])).unwrap();
    let blockhash = answer["value"]["blockhash"].as_str().unwrap().parse().unwrap();
    let instruction = transfer(&owner.pubkey(), &stranger, 3_000_000);
    // Version 1 has no defaults: what is not asked for is 0.
    let limits = v1::TransactionConfig::empty()
        .with_compute_unit_limit(10_000)
        .with_loaded_accounts_data_size_limit(100_000);
    let message =
        v1::Message::try_compile_with_config(&owner.pubkey(), &[instruction], blockhash, limits).unwrap();
    let bytes = VersionedMessage::V1(message).serialize();
    let wire = STANDARD.encode([&bytes, owner.sign_message(&bytes).as_ref()].concat());
    let signature = rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap();
    wait_until("it arrived", || (net.balance(&stranger).lamports == 3_000_000).then_some(()));
    let read = |version: Value| {
        let options = json!({"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": version});
        rpc(&net, "getTransaction", json!([signature, options]))
    };
    let found = wait_until("it is confirmed", || read(json!(1)).ok().filter(|found| !found.is_null()));
    assert_eq!(found["version"], 1);
    assert_eq!(found["transaction"][0], wire);
    assert!(read(json!(0)).is_err(), "a reader that does not know version 1 gets an error");
}

#[test]
fn a_failing_transaction_says_why_and_costs_only_its_fee_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let too_much = transfer(&owner.pubkey(), &Address::new_unique(), 1_000_000_000_000);
    let wire = signed(&net, std::slice::from_ref(&too_much), &owner, &[]);
    let refused = rpc(&net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap_err();
    assert_eq!(refused["code"], -32002);
    assert_eq!(refused["data"]["err"]["InstructionError"][1]["Custom"], 1);
    assert!(refused["data"]["logs"].as_array().unwrap().len() > 1);
    let before = net.balance(&owner.pubkey()).lamports;
    assert_eq!(before, 100_000_000_000, "what preflight refuses costs nothing");
    let options = json!({"encoding": "base64", "skipPreflight": true});
    let signature = rpc(&net, "sendTransaction", json!([wire, options])).unwrap();
    let status = wait_until("it is noted", || {
        let answer = rpc(&net, "getSignatureStatuses", json!([[signature]])).unwrap();
        Some(answer["value"][0].clone()).filter(|status| !status.is_null())
    });
    assert_eq!(status["err"]["InstructionError"][1]["Custom"], 1);
    assert_eq!(net.balance(&owner.pubkey()).lamports, before - 5_000);
}

#[test]
fn a_wrong_signature_is_refused_fails() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let wire = signed(&net, &[transfer(&owner.pubkey(), &Address::new_unique(), 1_000_000)], &owner, &[]);
    let mut bytes = STANDARD.decode(wire).unwrap();
    bytes[10] ^= 1;
    let refused = rpc(&net, "sendTransaction", json!([STANDARD.encode(bytes), {"encoding": "base64"}]));
    assert!(refused.is_err());
    assert_eq!(net.balance(&owner.pubkey()).lamports, 100_000_000_000);
}

#[test]
fn accounts_are_found_by_program_and_owner_ok() {
    let net = start();
    let (first, second) = (wallet(&net, "wallet-1"), wallet(&net, "wallet-2"));
    let agents = [register(&net, &first), register(&net, &second)];
    lock_stake(&net, &first, &agents[0], 30);
    lock_stake(&net, &second, &agents[1], 40);
    let program = Address::new_from_array(ids::STAKE_LOCK).to_string();
    let all = rpc(&net, "getProgramAccounts", json!([program, {"encoding": "base64"}])).unwrap();
    // One vault holds the stakes of all agents whose ids begin with the same byte.
    let [one, other] = [0, 1].map(|n: usize| pda::shard_of(&agents[n].mint));
    let shards = if one == other { 1 } else { 2 };
    assert_eq!(all.as_array().unwrap().len(), 5 + shards, "two tenures, two stakes and the configuration");
    let stake = data(&net, &pda::stake(&agents[1].mint, 0)).unwrap();
    let at = stake.windows(32).position(|bytes| bytes == agents[1].mint.as_ref()).unwrap();
    let filters =
        json!([{"dataSize": stake.len()}, {"memcmp": {"offset": at, "bytes": agents[1].mint.to_string()}}]);
    let options = json!({"encoding": "base64", "filters": filters, "dataSlice": {"offset": 8, "length": 8}});
    let one = rpc(&net, "getProgramAccounts", json!([program, options])).unwrap();
    assert_eq!(one.as_array().unwrap().len(), 1, "{one}");
    assert_eq!(one[0]["pubkey"], pda::stake(&agents[1].mint, 0).to_string());
    let slice = STANDARD.decode(one[0]["account"]["data"][0].as_str().unwrap()).unwrap();
    assert_eq!(slice, 40_000_000u64.to_le_bytes());
    // The new owner of an account is found, the old one not.
    let by_program = |program: Address| {
        let options = json!([second.pubkey().to_string(), {"programId": program.to_string()}, {"encoding": "jsonParsed"}]);
        rpc(&net, "getTokenAccountsByOwner", options).unwrap()["value"].as_array().unwrap().len()
    };
    assert_eq!((by_program(token::TOKEN_PROGRAM), by_program(token::TOKEN_2022_PROGRAM)), (1, 1));
    let closed =
        rpc(&net, "getMultipleAccounts", json!([[program, Address::new_unique().to_string()]])).unwrap();
    assert!(closed["value"][0].is_object() && closed["value"][1].is_null());
    let supply = rpc(&net, "getTokenSupply", json!([net.env().usdc_mint])).unwrap();
    assert_eq!(supply["value"]["amount"], "4000000000");
}

#[test]
fn an_airdrop_is_confirmed_and_kept_ok() {
    let folder = tempfile::tempdir().unwrap();
    let net = builder().state(folder.path()).start().unwrap();
    let stranger = Address::new_unique();
    let signature = rpc(&net, "requestAirdrop", json!([stranger.to_string(), 1_500_000_000])).unwrap();
    wait_until("it is confirmed", || {
        let answer = rpc(&net, "getSignatureStatuses", json!([[signature]])).unwrap();
        (answer["value"][0]["confirmationStatus"] == "confirmed").then_some(())
    });
    net.stop().unwrap();
    let net = builder().state(folder.path()).start().unwrap();
    assert_eq!(net.balance(&stranger).lamports, 1_500_000_000);
}

#[test]
fn funding_adds_exactly_and_bad_addresses_do_not_matter_ok() {
    let net = start();
    let stranger = Address::new_unique();
    let balance = net.fund(&stranger, 1_000_000_000, 1).unwrap();
    assert_eq!((balance.lamports, balance.usdc_micro), (1_000_000_000, 1));
    let balance = net.fund(&stranger, 0, 2_500_000).unwrap();
    assert_eq!((balance.lamports, balance.usdc_micro), (1_000_000_000, 2_500_001));
    let balance = net.fund(&stranger, 0, 0).unwrap();
    assert_eq!((balance.lamports, balance.usdc_micro), (1_000_000_000, 2_500_001));
    // Less than the rent of an empty account cannot be held by anybody.
    assert_eq!(net.fund(&Address::new_unique(), 1, 0).unwrap_err().code(), 9810);
}

#[test]
fn many_transactions_at_once_all_land_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let strangers: Vec<Address> = (0..40).map(|_| Address::new_unique()).collect();
    let wires: Vec<String> = strangers
        .iter()
        .map(|stranger| signed(&net, &[transfer(&owner.pubkey(), stranger, 1_000_000)], &owner, &[]))
        .collect();
    std::thread::scope(|scope| {
        for part in wires.chunks(10) {
            let net = &net;
            scope.spawn(move || {
                for wire in part {
                    rpc(net, "sendTransaction", json!([wire, {"encoding": "base64"}])).unwrap();
                }
            });
        }
    });
    wait_until("all arrived", || {
        strangers.iter().all(|stranger| net.balance(stranger).lamports == 1_000_000).then_some(())
    });
    assert_eq!(net.balance(&owner.pubkey()).lamports, 100_000_000_000 - 40 * (1_000_000 + 5_000));
}
