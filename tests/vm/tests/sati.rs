//! The stand-in for SATI behaves as the notes on the real program say.
#![allow(clippy::unwrap_used)] // A test fails by panicking, in its helpers too.

use sha3::{Digest, Keccak256};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::{
    sati::{self, AgentIndex, NewAgent, RegistryConfig, SchemaConfig, SignatureMode, Storage},
    token::{self, TOKEN_2022_PROGRAM, TokenAccount, mint_extensions},
};
use zx1_vm_tests::{Agent, ForeignMint, World, events};

const NAME_TOO_LONG: u32 = 6000;
const SYMBOL_TOO_LONG: u32 = 6001;
const URI_TOO_LONG: u32 = 6002;
const TOO_MANY_METADATA_ENTRIES: u32 = 6003;
const METADATA_KEY_TOO_LONG: u32 = 6004;
const METADATA_VALUE_TOO_LONG: u32 = 6005;
const INVALID_GROUP_MINT: u32 = 6006;
const INVALID_AUTHORITY: u32 = 6007;
const IMMUTABLE_REGISTRY: u32 = 6008;
const OWNER_MUST_SIGN: u32 = 6010;
const SCHEMA_NAME_TOO_LONG: u32 = 6012;
const INVALID_EVM_SIGNATURE: u32 = 6027;
const INVALID_CHAIN_ID: u32 = 6028;

fn names() -> NewAgent {
    NewAgent {
        name: "Agent Ä".into(),
        symbol: "AGT".into(),
        uri: "https://example.org/agent.json".into(),
        ..NewAgent::default()
    }
}

fn borsh(text: &str) -> Vec<u8> {
    [&u32::try_from(text.len()).unwrap().to_le_bytes()[..], text.as_bytes()].concat()
}

/// A world with a registry and an owner.
fn world() -> (World, Keypair) {
    let mut world = World::with_stand_ins();
    world.init_registry();
    let owner = world.new_wallet(1);
    (world, owner)
}

#[test]
fn the_registry_has_its_81_bytes_and_its_group_mint() {
    let (mut world, _) = world();
    let at = world.init_registry();
    let authority = world.registry_authority().pubkey();
    let data = world.data(&at);
    assert_eq!(data.len(), RegistryConfig::LEN);
    let config = RegistryConfig::decode(&data).unwrap();
    let group_mint = world.group_mint();
    assert_eq!(config, RegistryConfig { group_mint, authority, total_agents: 0, bump: 254 });
    let mint = world.data(&group_mint);
    let extensions = mint_extensions(&mint).unwrap();
    assert_eq!(extensions.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [20, 21]);
    assert_eq!(&extensions[1].1[..32], at.as_array());
}

#[test]
fn the_registry_cannot_be_initialized_twice_or_with_another_group() {
    let (mut world, owner) = world();
    let again = sati::initialize(&owner.pubkey(), &world.group_mint());
    world.send_refused(&[again], &owner, &[]);

    let mut fresh = World::with_stand_ins();
    let payer = fresh.new_wallet(10);
    let mint = fresh.new_keypair();
    // Its members are admitted by the payer, not by the registry.
    fresh.create_group(&payer, &mint, &payer.pubkey());
    let initialize = sati::initialize(&payer.pubkey(), &mint.pubkey());
    fresh.send_refused(&[initialize], &payer, &[]).expect_code(INVALID_GROUP_MINT);
}

/// Checks every byte that the notes name of a registered agent.
fn check_agent(world: &World, agent: &Agent, names: &NewAgent, group: &Address) {
    let mint = world.account(&agent.mint.into()).unwrap();
    assert_eq!(mint.owner, TOKEN_2022_PROGRAM);
    // No mint authority, supply 1, no decimals, initialized, no freeze authority.
    assert_eq!(mint.data[..4], [0; 4]);
    assert_eq!(mint.data[36..44], 1u64.to_le_bytes());
    assert_eq!(mint.data[44..50], [0, 1, 0, 0, 0, 0]);
    assert_eq!(mint.data[165], 1);
    assert_eq!(mint.lamports, world.rent(mint.data.len()));
    let extensions = mint_extensions(&mint.data).unwrap();
    let kinds: Vec<u16> = extensions.iter().map(|(kind, _)| *kind).collect();
    let soulbound: &[u16] = if names.non_transferable { &[9] } else { &[] };
    assert_eq!(kinds, [&[18, 22], soulbound, &[19, 23]].concat());
    let value = |kind: u16| extensions.iter().find(|(k, _)| *k == kind).unwrap().1;
    let itself = [&[0; 32], &agent.mint.0[..]].concat();
    assert_eq!(value(18), itself);
    assert_eq!(value(22), itself);
    let mut metadata = [agent.owner.to_bytes(), agent.mint.0].concat();
    for text in [&names.name, &names.symbol, &names.uri] {
        metadata.extend(borsh(text));
    }
    metadata.extend(u32::try_from(names.metadata.len()).unwrap().to_le_bytes());
    for (key, text) in &names.metadata {
        metadata.extend([borsh(key), borsh(text)].concat());
    }
    assert_eq!(value(19), metadata);
    let number = agent.member_number.to_le_bytes();
    assert_eq!(value(23), [&agent.mint.0[..], group.as_array(), &number].concat());

    let account = world.account(&agent.token_account).unwrap();
    assert_eq!(account.owner, TOKEN_2022_PROGRAM);
    let held = TokenAccount { mint: agent.mint.into(), owner: agent.owner, amount: 1, frozen: false };
    assert_eq!(TokenAccount::decode(&account.data), Some(held));
    let index = world.account(&agent.agent_index).unwrap();
    assert_eq!((index.owner, index.data.len()), (sati::PROGRAM, AgentIndex::LEN));
    let bump = sati::agent_index_address(agent.member_number).1;
    assert_eq!(AgentIndex::decode(&index.data), Some(AgentIndex { mint: agent.mint.into(), bump }));
}

#[test]
fn a_registered_agent_has_the_real_layouts() {
    let (mut world, owner) = world();
    let group = world.group_mint();
    for number in 1..=3 {
        let (agent, receipt) = world.register_agent_as(&owner, &names()).unwrap();
        assert_eq!(agent.member_number, number);
        check_agent(&world, &agent, &names(), &group);
        assert_eq!(world.registry_config().total_agents, number);
        assert!(receipt.units < 200_000, "{} compute units", receipt.units);
    }
}

#[test]
fn agent_registered_is_a_log_event() {
    let (mut world, owner) = world();
    let (agent, receipt) = world.register_agent_as(&owner, &names()).unwrap();
    let mut expected = sati::event_discriminator::AGENT_REGISTERED.to_vec();
    expected.extend(agent.mint.0);
    expected.extend(owner.pubkey().to_bytes());
    expected.extend(1u64.to_le_bytes());
    expected.extend(borsh(&names().name));
    expected.extend(borsh(&names().uri));
    expected.push(0);
    let lines: Vec<&str> = receipt.logs.iter().filter_map(|l| l.strip_prefix("Program data: ")).collect();
    assert_eq!(lines, [base64(&expected)]);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain(&[0, 0]).take(3).fold(0u32, |bits, b| bits << 8 | u32::from(*b));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[test]
fn metadata_entries_need_the_owners_signature() {
    let (mut world, owner) = world();
    let group = world.group_mint();
    let entries = vec![("mesh".to_owned(), "/ip4/10.0.0.1".to_owned()), ("k".to_owned(), String::new())];
    let with = NewAgent { metadata: entries, ..names() };
    let (agent, _) = world.register_agent_as(&owner, &with).unwrap();
    check_agent(&world, &agent, &with, &group);

    let (mint, faucet) = (world.new_keypair(), world.faucet.insecure_clone());
    let mut unsigned = sati::register_agent(&world.registration(&owner, &mint), &with);
    unsigned.accounts[1].is_signer = false;
    world.send_refused(&[unsigned], &faucet, &[&mint]).expect_code(OWNER_MUST_SIGN);
    // Without entries the owner need not sign.
    let plain = sati::register_agent(&world.registration(&owner, &mint), &names());
    assert!(!plain.accounts[1].is_signer);
    world.send_ok(&[plain], &faucet, &[&mint]);
}

#[test]
fn a_soulbound_agent_stays_and_an_ordinary_one_moves() {
    let (mut world, owner) = world();
    let (group, to) = (world.group_mint(), world.new_wallet(1));
    let bound = NewAgent { non_transferable: true, ..names() };
    let (agent, _) = world.register_agent_as(&owner, &bound).unwrap();
    check_agent(&world, &agent, &bound, &group);
    let target = token::associated_address(&to.pubkey(), &agent.mint.into(), &TOKEN_2022_PROGRAM);
    let create =
        token::create_associated(&to.pubkey(), &to.pubkey(), &agent.mint.into(), &TOKEN_2022_PROGRAM);
    let transfer = token::transfer(
        &agent.token_account,
        &agent.mint.into(),
        &target,
        &owner.pubkey(),
        (1, 0),
        &TOKEN_2022_PROGRAM,
    );
    let failure = world.send_refused(&[create, transfer.unwrap()], &to, &[&owner]);
    assert_eq!(failure.program(), Some(TOKEN_2022_PROGRAM));

    let agent = world.register_agent(&owner);
    let moved = world.transfer_agent(&agent, &owner, &to.pubkey());
    assert_eq!(TokenAccount::decode(&world.data(&moved.token_account)).unwrap().owner, to.pubkey());
    let aside = world.transfer_agent_aside(&moved, &to, &to.pubkey());
    assert_eq!(
        (world.token_balance(&moved.token_account), world.token_balance(&aside.token_account)),
        (0, 1)
    );
    world.burn_agent(&aside, &to);
    assert_eq!(world.data(&agent.mint.into())[36..44], [0; 8]);
}

#[test]
fn one_mint_cannot_be_registered_twice() {
    let (mut world, owner) = world();
    let (mint, faucet) = (world.new_keypair(), world.faucet.insecure_clone());
    let first = sati::register_agent(&world.registration(&owner, &mint), &names());
    world.send_ok(&[first], &faucet, &[&mint]);
    let second = sati::register_agent(&world.registration(&owner, &mint), &names());
    world.send_refused(&[second], &faucet, &[&mint]);
}

#[test]
fn lamports_sent_ahead_stop_no_registration() {
    let (mut world, owner) = world();
    let mint = world.new_keypair();
    let accounts = world.registration(&owner, &mint);
    world.set_lamports(&mint.pubkey(), 1_000_000);
    world.set_lamports(&sati::agent_index_address(accounts.member_number).0, 890_880);
    let faucet = world.faucet.insecure_clone();
    world.send_ok(&[sati::register_agent(&accounts, &names())], &faucet, &[&mint]);
}

#[test]
fn registering_with_other_accounts_fails() {
    let (mut world, owner) = world();
    let (mint, faucet) = (world.new_keypair(), world.faucet.insecure_clone());
    let other_group = world.new_keypair();
    world.create_group(&faucet, &other_group, &sati::registry_address().0);
    let mut accounts = world.registration(&owner, &mint);
    accounts.group_mint = other_group.pubkey();
    let wrong = sati::register_agent(&accounts, &names());
    world.send_refused(&[wrong], &faucet, &[&mint]).expect_code(INVALID_GROUP_MINT);
    accounts = world.registration(&owner, &mint);
    accounts.member_number = 5;
    let wrong = sati::register_agent(&accounts, &names());
    world.send_refused(&[wrong], &faucet, &[&mint]);
    let right = sati::register_agent(&world.registration(&owner, &mint), &names());
    for at in 2..10 {
        let mut wrong = right.clone();
        wrong.accounts[at].pubkey = Address::new_from_array([at as u8; 32]);
        wrong.accounts[at].is_signer = false;
        world.send_refused(&[wrong], &faucet, &[&mint]);
    }
}

#[test]
fn names_beyond_their_limits_fail() {
    let (mut world, owner) = world();
    let pairs = |n: usize, key: usize, value: usize| vec![("k".repeat(key), "v".repeat(value)); n];
    let cases = [
        (NewAgent { name: "n".repeat(33), ..names() }, NAME_TOO_LONG),
        (NewAgent { symbol: "s".repeat(11), ..names() }, SYMBOL_TOO_LONG),
        (NewAgent { uri: "u".repeat(201), ..names() }, URI_TOO_LONG),
        (NewAgent { metadata: pairs(11, 1, 1), ..names() }, TOO_MANY_METADATA_ENTRIES),
        (NewAgent { metadata: pairs(1, 33, 1), ..names() }, METADATA_KEY_TOO_LONG),
        (NewAgent { metadata: pairs(1, 1, 201), ..names() }, METADATA_VALUE_TOO_LONG),
    ];
    for (bad, code) in cases {
        world.register_agent_as(&owner, &bad).unwrap_err().expect_code(code);
    }
    let longest = NewAgent { name: "n".repeat(32), symbol: "s".repeat(10), uri: "u".repeat(200), ..names() };
    world.register_agent_as(&owner, &longest).unwrap();
}

#[test]
fn truncated_or_inflated_data_is_refused() {
    let (mut world, owner) = world();
    let (mint, faucet) = (world.new_keypair(), world.faucet.insecure_clone());
    let with = NewAgent { metadata: vec![("key".into(), "value".into())], ..names() };
    let right = sati::register_agent(&world.registration(&owner, &mint), &with);
    for length in 0..right.data.len() {
        let mut cut = right.clone();
        cut.data.truncate(length);
        world.send_refused(&[cut], &faucet, &[&owner, &mint]);
    }
    let mut huge = right.clone();
    huge.data[8..12].copy_from_slice(&[0xFF; 4]);
    world.send_refused(&[huge], &faucet, &[&owner, &mint]);
    for count in 0..right.accounts.len() {
        let mut few = right.clone();
        few.accounts.truncate(count);
        world.send_refused(&[few], &faucet, &[&owner, &mint]);
    }
}

#[test]
fn only_the_authority_registers_schemas_and_hands_the_registry_over() {
    let (mut world, stranger) = world();
    let (authority, schema) = (world.registry_authority(), Address::new_from_array([5; 32]));
    let register = |by: &Address, name: &str| {
        sati::register_schema_config(
            by,
            by,
            &schema,
            SignatureMode::Dual,
            Storage::Compressed,
            None,
            (true, name),
        )
    };
    let by_stranger = register(&stranger.pubkey(), "Name");
    world.send_refused(&[by_stranger], &stranger, &[]).expect_code(INVALID_AUTHORITY);
    let long = register(&authority.pubkey(), &"n".repeat(33));
    world.send_refused(&[long], &authority, &[]).expect_code(SCHEMA_NAME_TOO_LONG);
    world.send_ok(&[register(&authority.pubkey(), "Name")], &authority, &[]);
    let (at, bump) = sati::schema_config_address(&schema);
    let expected = SchemaConfig {
        sas_schema: schema,
        signature_mode: SignatureMode::Dual,
        storage: Storage::Compressed,
        delegation_schema: None,
        closeable: true,
        name: "Name".into(),
        bump,
    };
    assert_eq!(SchemaConfig::decode(&world.data(&at)), Some(expected));
    world.send_refused(&[register(&authority.pubkey(), "Name")], &authority, &[]);

    let hand_over = sati::update_registry_authority(&authority.pubkey(), Some(&stranger.pubkey()));
    world.send_ok(std::slice::from_ref(&hand_over), &authority, &[]);
    world.send_refused(&[hand_over], &authority, &[]).expect_code(INVALID_AUTHORITY);
    let give_up = sati::update_registry_authority(&stranger.pubkey(), None);
    world.send_ok(std::slice::from_ref(&give_up), &stranger, &[]);
    world.send_refused(&[give_up], &stranger, &[]).expect_code(IMMUTABLE_REGISTRY);
}

#[test]
fn what_only_poses_as_an_agent_has_no_place_in_the_registry() {
    let (mut world, owner) = world();
    let agent = world.register_agent(&owner);
    for kind in [ForeignMint::NoGroup, ForeignMint::OtherGroup, ForeignMint::Legacy] {
        let foreign = world.foreign_agent(kind, &owner.pubkey());
        assert_eq!(world.token_balance(&foreign.token_account), 1);
        let data = world.data(&foreign.mint.into());
        let group =
            mint_extensions(&data).and_then(|list| list.iter().find(|(k, _)| *k == 23).map(|(_, v)| *v));
        assert_eq!(group.is_some(), kind == ForeignMint::OtherGroup);
        assert!(group.is_none_or(|value| value[32..64] != *world.group_mint().as_array()));
        assert_ne!(AgentIndex::decode(&world.data(&agent.agent_index)).unwrap().mint, foreign.mint.into());
    }
}

#[test]
fn nobody_else_can_write_an_event() {
    let (mut world, owner) = world();
    let mut forged = sati::initialize(&owner.pubkey(), &owner.pubkey());
    forged.data = [&zx1_vm_tests::EVENT_TAG[..], &sati::event_discriminator::ATTESTATION_CREATED].concat();
    world.send_refused(std::slice::from_ref(&forged), &owner, &[]);
    forged.accounts[0] = solana_instruction::AccountMeta::new_readonly(sati::event_authority().0, false);
    let failure = world.send_refused(&[forged], &owner, &[]);
    assert!(events(&failure.sent, &sati::PROGRAM).is_empty());
}

#[test]
fn an_evm_address_is_linked_with_its_signature_only() {
    let (mut world, owner) = world();
    let agent = world.register_agent(&owner);
    let key = k256::ecdsa::SigningKey::from_slice(&[42; 32]).unwrap();
    let point = key.verifying_key().to_encoded_point(false);
    let evm: [u8; 20] = Keccak256::digest(&point.as_bytes()[1..])[12..].try_into().unwrap();
    let hash = sati::evm_link_hash(&agent.mint.into(), &evm, "eip155:1");
    let (signature, recovery) = key.sign_prehash_recoverable(&hash).unwrap();
    let bytes: [u8; 64] = signature.to_bytes().into();
    let link = |chain: &str| {
        sati::link_evm_address(&owner.pubkey(), &agent.mint.into(), &evm, chain, &bytes, recovery.to_byte())
    };
    let receipt = world.send_ok(&[link("eip155:1")], &owner, &[]);
    assert!(receipt.logs.iter().any(|line| line.starts_with("Program data: ")));
    world.send_refused(&[link("eip155:2")], &owner, &[]).expect_code(INVALID_EVM_SIGNATURE);
    world.send_refused(&[link("")], &owner, &[]).expect_code(INVALID_CHAIN_ID);
}
