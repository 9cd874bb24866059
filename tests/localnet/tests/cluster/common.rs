//! Starting clusters, and speaking JSON-RPC with them.

use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::{VersionedMessage, legacy::Message};
use solana_signer::Signer;
use zx1_chain::{
    instructions::{self, AgentAddresses, stake_lock},
    pda,
    sati::{self, NewAgent, RegisterAgent, RegistryConfig},
    token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM},
};
use zx1_localnet::{Builder, Localnet};
use zx1_protocol::units::MicroUsdc;

/// A cluster on free ports with a temporary folder.
pub(crate) fn start() -> Localnet {
    builder().start().unwrap()
}

/// The same, to be configured further.
pub(crate) fn builder() -> Builder {
    let programs = zx1_fixtures::deploy_folder(env!("CARGO_MANIFEST_DIR"));
    Localnet::builder().port(0).programs(programs)
}

pub(crate) fn wallet(net: &Localnet, name: &str) -> Keypair {
    let file = &net.env().wallet(name).unwrap().keypair;
    let bytes: Vec<u8> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    Keypair::try_from(bytes.as_slice()).unwrap()
}

/// A JSON-RPC call over real HTTP; the error object is `Err`.
pub(crate) fn rpc(net: &Localnet, method: &str, params: Value) -> Result<Value, Value> {
    let url = net.env().rpc_url.clone();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut answer: Value = runtime.block_on(async {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        http.post(url).json(&body).send().await.unwrap().json().await.unwrap()
    });
    match answer.get_mut("error") {
        Some(error) => Err(error.take()),
        None => Ok(answer["result"].take()),
    }
}

/// Asks until the answer is there, at most half a minute.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(std::time::Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A signed transaction in base64, with the newest blockhash.
pub(crate) fn signed(
    net: &Localnet,
    instructions: &[Instruction],
    payer: &Keypair,
    others: &[&Keypair],
) -> String {
    let answer = rpc(net, "getLatestBlockhash", json!([{"commitment": "confirmed"}])).unwrap();
    let blockhash = answer["value"]["blockhash"].as_str().unwrap().parse().unwrap();
    sign(instructions, payer, others, blockhash)
}

pub(crate) fn sign(
    instructions: &[Instruction],
    payer: &Keypair,
    others: &[&Keypair],
    blockhash: solana_message::Hash,
) -> String {
    use base64::Engine;
    let message = Message::new_with_blockhash(instructions, Some(&payer.pubkey()), &blockhash);
    let message = VersionedMessage::Legacy(message);
    let bytes = message.serialize();
    let signers =
        message.static_account_keys()[..usize::from(message.header().num_required_signatures)].to_vec();
    let mut wire = vec![u8::try_from(signers.len()).unwrap()];
    for signer in signers {
        let key =
            std::iter::once(payer).chain(others.iter().copied()).find(|key| key.pubkey() == signer).unwrap();
        wire.extend_from_slice(key.sign_message(&bytes).as_ref());
    }
    wire.extend_from_slice(&bytes);
    base64::engine::general_purpose::STANDARD.encode(wire)
}

/// Sends over the RPC and waits until it is confirmed; the signature.
#[track_caller]
pub(crate) fn send(
    net: &Localnet,
    instructions: &[Instruction],
    payer: &Keypair,
    others: &[&Keypair],
) -> String {
    let wire = signed(net, instructions, payer, others);
    let options = json!({"encoding": "base64", "preflightCommitment": "confirmed"});
    let signature = rpc(net, "sendTransaction", json!([wire, options])).unwrap();
    let signature = signature.as_str().unwrap().to_owned();
    wait_until("the transaction is confirmed", || {
        let answer = rpc(net, "getSignatureStatuses", json!([[signature]])).unwrap();
        let status = &answer["value"][0];
        let level = status["confirmationStatus"].as_str()?;
        assert!(status["err"].is_null(), "{status}");
        (level != "processed").then_some(())
    });
    signature
}

/// An account's data.
pub(crate) fn data(net: &Localnet, address: &Address) -> Option<Vec<u8>> {
    use base64::Engine;
    let options = json!({"encoding": "base64", "commitment": "confirmed"});
    let answer = rpc(net, "getAccountInfo", json!([address.to_string(), options])).unwrap();
    let text = answer["value"]["data"][0].as_str()?;
    Some(base64::engine::general_purpose::STANDARD.decode(text).unwrap())
}

pub(crate) fn usdc(net: &Localnet, owner: &Address) -> u64 {
    net.balance(owner).usdc_micro
}

pub(crate) fn usdc_mint(net: &Localnet) -> Address {
    net.env().usdc_mint.parse().unwrap()
}

pub(crate) fn usdc_account(net: &Localnet, owner: &Address) -> Address {
    token::associated_address(owner, &usdc_mint(net), &TOKEN_PROGRAM)
}

/// Registers an agent for a wallet, through SATI's stand-in.
#[track_caller]
pub(crate) fn register(net: &Localnet, owner: &Keypair) -> AgentAddresses {
    let registry = RegistryConfig::decode(&data(net, &sati::registry_address().0).unwrap()).unwrap();
    let mint = Keypair::new();
    let accounts = RegisterAgent {
        payer: owner.pubkey(),
        owner: owner.pubkey(),
        group_mint: registry.group_mint,
        agent_mint: mint.pubkey(),
        member_number: registry.total_agents + 1,
    };
    let agent = NewAgent {
        name: "Local agent".into(),
        symbol: "SATI".into(),
        uri: "ipfs://agent".into(),
        ..NewAgent::default()
    };
    send(net, &[sati::register_agent(&accounts, &agent)], owner, &[&mint]);
    AgentAddresses {
        mint: mint.pubkey().into(),
        index: sati::agent_index_address(accounts.member_number).0,
        token: token::associated_address(&owner.pubkey(), &mint.pubkey(), &TOKEN_2022_PROGRAM),
    }
}

/// lock_stake of so many whole USDC in era 0; opens the vault and the first tenure where they are missing.
#[track_caller]
pub(crate) fn lock_stake(net: &Localnet, owner: &Keypair, agent: &AgentAddresses, usdc: u64) {
    let (wallet, shard) = (owner.pubkey(), pda::shard_of(&agent.mint));
    let mut list = Vec::new();
    if data(net, &pda::shard(shard)).is_none() {
        list.push(stake_lock::open_vault(wallet, usdc_mint(net), shard));
    }
    if data(net, &pda::tenure(&agent.mint)).is_none() {
        list.push(stake_lock::open_tenure(agent, wallet));
    }
    let amount = MicroUsdc(usdc * 1_000_000);
    list.push(stake_lock::lock_stake(agent, wallet, usdc_account(net, &wallet), 0, None, amount));
    send(net, &list, owner, &[]);
}

/// Pays the lease for a number of epochs.
#[track_caller]
pub(crate) fn pay_lease(net: &Localnet, owner: &Keypair, agent: &AgentAddresses, epochs: u32) {
    let treasury = net.env().treasury.parse().unwrap();
    let payment = instructions::lease::LeasePayment {
        authority: owner.pubkey(),
        key: None,
        authority_usdc: usdc_account(net, &owner.pubkey()),
        treasury_usdc: usdc_account(net, &treasury),
        epochs,
    };
    send(net, &[instructions::lease::pay_lease(agent, &payment)], owner, &[]);
}

/// Whether `sendTransaction` refused because the transaction was executed before. Surfpool says so in words
/// only, where a validator also sends `data.err`.
pub(crate) fn is_already_processed(error: &Value) -> bool {
    error["code"] == -32002
        && error["message"].as_str().is_some_and(|text| text.contains("has already been processed"))
}
