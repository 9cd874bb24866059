//! An account: from the cluster, or its bytes.

use super::fields::{Fields, base58, minute, sol};
use crate::ask::tree_name;
use crate::challenge::{ground_name, outcome_name};
use serde_json::json;
use solana_address::Address;
use zx1_chain::rpc::{RawAccount, idl};
use zx1_chain::sati::{self, AgentIndex, RegistryConfig, SasAttestation, SchemaConfig};
use zx1_interface::Layout as _;
use zx1_interface::accounts::{AskAccount, ChallengeAccount, FeedbackEntry, KeyAccount};
use zx1_interface::external;
use zx1_interface::ids;
use zx1_protocol::keys::{OPEN, Scopes};

/// The fields of an account that the cluster has.
pub fn account(address: Address, account: &RawAccount) -> Fields {
    let known = account_data(Some(address), Some(account.owner), &account.data);
    let mut fields = known.unwrap_or_else(|| {
        let mut fields =
            Fields::new(if account.data.is_empty() { "Wallet" } else { "Account of another program" });
        if !account.data.is_empty() {
            let head = account.data.get(..64).unwrap_or(&account.data);
            fields.both("data", json!(hex::encode(&account.data)), format!("{}…", hex::encode(head)));
        }
        fields
    });
    let mut section = Fields::new("Account");
    section
        .text("address", address)
        .text("owner", account.owner)
        .both("lamports", json!(account.lamports), sol(account.lamports))
        .number("bytes", account.data.len().try_into().unwrap_or(u64::MAX))
        .both("executable", json!(account.executable), if account.executable { "yes" } else { "no" });
    fields.section("account", section);
    fields
}

/// The fields of an account's data; `None` when no known layout fits. Without an owner all layouts are tried.
pub fn account_data(address: Option<Address>, owner: Option<Address>, data: &[u8]) -> Option<Fields> {
    let ours = [ids::STAKE_LOCK, ids::LEASE, ids::BEHAVIOR_LOG, ids::CHALLENGE, ids::FEEDBACK_LOG];
    let fits = |program: [u8; 32]| owner.is_none_or(|owner| owner.to_bytes() == program);
    let of_ours = || {
        let mut programs = ours.into_iter().filter(|program| fits(*program));
        programs.find_map(|program| {
            let program = Address::new_from_array(program);
            idl::account(&program, data).map(|decoded| of_program(program, &decoded))
        })
    };
    let of_sati = || fits(ids::SATI).then(|| of_registry(data)).flatten();
    let of_sas = || fits(ids::SAS).then(|| of_attestation(data)).flatten();
    let of_token = || {
        let token = fits(ids::TOKEN) || fits(ids::TOKEN_2022);
        token.then(|| of_tokens(address, data)).flatten()
    };
    of_ours().or_else(of_sati).or_else(of_sas).or_else(of_token)
}

fn of_program(program: Address, decoded: &idl::Decoded) -> Fields {
    let mut fields = Fields::new(decoded.name);
    fields.hidden("kind", json!(decoded.name)).text("program", format!("{} ({program})", decoded.program));
    for (name, value) in &decoded.fields {
        if *name != "reserved" {
            let words = in_words(decoded.name, name, value);
            fields.both(name, value.to_json(), words.unwrap_or_else(|| value.to_string()));
        }
    }
    if !decoded.tail.is_empty() {
        match std::str::from_utf8(&decoded.tail) {
            Ok(text) if decoded.name == FeedbackEntry::NAME => fields.text("text", text.escape_debug()),
            _ => fields.text("tail", hex::encode(&decoded.tail)),
        };
    }
    fields
}

/// What a number stands for, where that is not plain.
fn in_words(account: &str, field: &str, value: &idl::Value) -> Option<String> {
    let number = value.as_u64()?;
    let byte = || u8::try_from(number).ok();
    let meaning = match (account, field) {
        (KeyAccount::NAME, "scopes") => Scopes(byte()?).names(),
        (KeyAccount::NAME, "until_epoch") if number == OPEN => "it has not ended".to_owned(),
        (ChallengeAccount::NAME, "ground") => ground_name(byte()?).to_owned(),
        (ChallengeAccount::NAME, "outcome") => outcome_name(byte()?).to_owned(),
        (AskAccount::NAME, "tree") => tree_name(byte()?).to_owned(),
        _ => return None,
    };
    Some(format!("{number} ({meaning})"))
}

fn of_registry(data: &[u8]) -> Option<Fields> {
    if let Some(registry) = RegistryConfig::decode(data) {
        let mut fields = Fields::new("RegistryConfig of SATI");
        fields
            .hidden("kind", json!("RegistryConfig"))
            .text("group_mint", registry.group_mint)
            .text("authority", registry.authority)
            .number("total_agents", registry.total_agents)
            .number("bump", registry.bump.into());
        return Some(fields);
    }
    if let Some(index) = AgentIndex::decode(data) {
        let mut fields = Fields::new("AgentIndex of SATI");
        fields.hidden("kind", json!("AgentIndex")).text("mint", index.mint).number("bump", index.bump.into());
        return Some(fields);
    }
    let schema = SchemaConfig::decode(data)?;
    let mut fields = Fields::new("SchemaConfig of SATI");
    fields
        .hidden("kind", json!("SchemaConfig"))
        .text("name", schema.name.escape_debug())
        .text("sas_schema", schema.sas_schema)
        .text("signature_mode", format!("{:?}", schema.signature_mode))
        .text("storage", format!("{:?}", schema.storage))
        .both("closeable", json!(schema.closeable), if schema.closeable { "yes" } else { "no" });
    if let Some(delegation) = schema.delegation_schema {
        fields.text("delegation_schema", delegation);
    }
    Some(fields)
}

fn of_attestation(data: &[u8]) -> Option<Fields> {
    let attestation = SasAttestation::decode(data)?;
    let delegation = external::delegation(data);
    let mut fields = Fields::new("Attestation of SAS");
    fields
        .hidden("kind", json!("Attestation"))
        .text("credential", attestation.credential)
        .text("schema", attestation.schema)
        .text("nonce", hex::encode(attestation.nonce))
        .text("signer", attestation.signer)
        .both("expiry", json!(attestation.expiry), expiry(attestation.expiry))
        .text("data", hex::encode(&attestation.data));
    if let Some(found) = delegation {
        let mut section = Fields::new("Read as DelegateV1, which gives no authority");
        section
            .text("agent", base58(&found.agent))
            .text("delegate", base58(&found.delegate))
            .text("delegator", base58(&found.delegator));
        fields.section("delegation", section);
    }
    Some(fields)
}

fn expiry(unix: i64) -> String {
    if unix == 0 { "never".to_owned() } else { format!("{unix} ({})", minute(unix)) }
}

fn of_tokens(address: Option<Address>, data: &[u8]) -> Option<Fields> {
    if let Some(token) = external::token_account(data) {
        let mut fields = Fields::new("Token account");
        fields
            .hidden("kind", json!("TokenAccount"))
            .text("mint", base58(&token.mint))
            .text("owner", base58(&token.owner))
            .number("amount", token.amount);
        return Some(fields);
    }
    if let Some(mint) = address.and_then(|address| external::agent_mint(address.as_array(), data)) {
        let mut fields = Fields::new("Agent's mint");
        let (index, _) = sati::agent_index_address(mint.member_number);
        fields
            .hidden("kind", json!("AgentMint"))
            .both("supply", json!(mint.supply), if mint.supply == 0 { "0: burned" } else { "1" })
            .text("group", base58(&mint.group))
            .number("member_number", mint.member_number)
            .text("agent_index", index);
        return Some(fields);
    }
    if external::is_legacy_mint(data) {
        let mut fields = Fields::new("Mint");
        let supply = data.get(36..44).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        fields
            .hidden("kind", json!("Mint"))
            .number("supply", supply?)
            .number("decimals", (*data.get(44)?).into());
        return Some(fields);
    }
    None
}
