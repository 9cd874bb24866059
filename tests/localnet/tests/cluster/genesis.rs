//! What a new cluster begins with.

use crate::common::*;
use serde_json::json;
use solana_address::Address;
use solana_signer::Signer;
use zx1_chain::{pda, sati, token};
use zx1_interface::{
    Layout,
    accounts::{Config, LeaseAccount},
    ids,
};
use zx1_protocol::amounts::Amounts;

#[test]
fn the_configuration_stands_as_the_instruction_writes_it_ok() {
    let net = start();
    let env = net.env();
    let address = |text: &str| text.parse::<Address>().unwrap().to_bytes();
    let config = Config::read(&data(&net, &pda::config()).unwrap()).unwrap();
    assert_eq!(config.usdc_mint, address(&env.usdc_mint));
    assert_eq!(config.treasury, address(&env.treasury));
    assert_eq!(config.maintainer, address(&env.maintainer));
    assert_eq!(config.registry, address(&env.sati_registry));
    assert_eq!(config.registry_group, address(&env.group_mint));
    assert_eq!(config.delegate_credential, address(&env.credential));
    assert_eq!(config.delegate_schema, address(&env.delegate_schema));
    assert_eq!(config.created_slot, 400_000_000);
    let genesis = rpc(&net, "getGenesisHash", json!([])).unwrap();
    assert_eq!(
        config.network,
        address(genesis.as_str().unwrap()),
        "batches are signed for this cluster alone"
    );
    assert_eq!(Amounts::of(&config), Amounts::DEFAULT);
    assert_eq!(config.event_sequence, 1, "the program itself wrote it and emitted its event");
}

#[test]
fn sati_has_its_real_addresses_ok() {
    let net = start();
    let env = net.env();
    // The main network's addresses (wire.md, "SATI"): a client with its constants works here.
    assert_eq!(env.sati_registry, "EdtfLCcsiMPuNdVTUivqAsomTYwqdLcha7Y8KM8ndB5p");
    assert_eq!(env.credential, "DQHW6fAhPfGAENuwJVYfzEvUN12DakZgaaGtPPRfGei1");
    for (schema, name) in [(&env.feedback_schema, "FeedbackV1"), (&env.delegate_schema, "DelegateV1")] {
        let at = sati::schema_config_address(&schema.parse().unwrap()).0;
        let config = sati::SchemaConfig::decode(&data(&net, &at).unwrap()).unwrap();
        assert_eq!(config.name, name);
    }
}

#[test]
fn all_programs_can_be_upgraded_by_the_named_key_ok() {
    let net = start();
    let authority = net.env().upgrade_authority.parse::<Address>().unwrap();
    for id in [
        ids::STAKE_LOCK,
        ids::LEASE,
        ids::BEHAVIOR_LOG,
        ids::CHALLENGE,
        ids::FEEDBACK_LOG,
        ids::SATI,
        ids::SAS,
    ] {
        let answer = rpc(
            &net,
            "getAccountInfo",
            json!([Address::new_from_array(id).to_string(), {"encoding": "base64"}]),
        );
        assert_eq!(answer.unwrap()["value"]["executable"], true);
        let data = data(&net, &pda::program_data(id)).unwrap();
        assert_eq!(data[12], 1);
        assert_eq!(&data[13..45], authority.as_ref());
    }
}

#[test]
fn wallets_are_funded_and_their_files_are_private_ok() {
    use std::os::unix::fs::PermissionsExt;
    let net = builder().wallets(3).start().unwrap();
    let names: Vec<&str> = net.env().wallets.iter().map(|wallet| wallet.name.as_str()).collect();
    let roles = ["treasury", "maintainer", "sponsor", "upgrade-authority", "faucet"];
    assert_eq!(names, [&["wallet-1", "wallet-2", "wallet-3"][..], &roles].concat());
    for described in &net.env().wallets {
        let key = wallet(&net, &described.name);
        assert_eq!(key.pubkey().to_string(), described.address);
        let mode = std::fs::metadata(&described.keypair).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", described.name);
        assert!(net.balance(&key.pubkey()).lamports >= 99_000_000_000, "{}", described.name);
    }
    for name in ["wallet-1", "wallet-2", "wallet-3"] {
        let balance = net.balance(&wallet(&net, name).pubkey());
        assert_eq!((balance.lamports, balance.usdc_micro), (100_000_000_000, 1_000_000_000));
    }
    let mode = std::fs::metadata(&net.env().state).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "nobody else looks into the state folder");
}

#[test]
fn usdc_is_a_legacy_mint_of_six_decimals_ok() {
    let net = start();
    let answer =
        rpc(&net, "getAccountInfo", json!([net.env().usdc_mint, {"encoding": "jsonParsed"}])).unwrap();
    let account = &answer["value"];
    assert_eq!(account["owner"], token::TOKEN_PROGRAM.to_string());
    assert_eq!(account["data"]["parsed"]["info"]["decimals"], 6);
    let faucet = wallet(&net, "faucet").pubkey().to_string();
    assert_eq!(account["data"]["parsed"]["info"]["mintAuthority"], faucet);
    let treasury = net.env().treasury.parse().unwrap();
    assert!(data(&net, &usdc_account(&net, &treasury)).is_some(), "fees have somewhere to go");
}

#[test]
fn an_agent_can_be_registered_staked_and_leased_ok() {
    let net = start();
    let owner = wallet(&net, "wallet-1");
    let agent = register(&net, &owner);
    lock_stake(&net, &owner, &agent, 30);
    pay_lease(&net, &owner, &agent, 2);
    assert_eq!(usdc(&net, &owner.pubkey()), (1_000 - 30 - 2) * 1_000_000);
    assert_eq!(usdc(&net, &net.env().treasury.parse().unwrap()), 2_000_000);
    let lease = LeaseAccount::read(&data(&net, &pda::lease(&agent.mint)).unwrap()).unwrap();
    assert_eq!(lease.paid_through_epoch, net.status().epoch + 1);
}

#[test]
fn two_new_ledgers_differ_in_genesis_and_blockhash_ok() {
    let (a, b) = (start(), start());
    let of = |net, method| rpc(net, method, json!([])).unwrap();
    assert_ne!(of(&a, "getGenesisHash"), of(&b, "getGenesisHash"));
    let hash = |net| of(net, "getLatestBlockhash")["value"]["blockhash"].clone();
    assert_ne!(hash(&a), hash(&b), "a transaction of one cluster is worth nothing on the other");
}
