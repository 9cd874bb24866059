//! One instruction in words: the five programs' by their IDLs, and those of the programs beside them.

use super::idl::{self, Decoded};
use super::moves::{Call, Money};
use crate::sati;
use crate::token;
use solana_address::Address;
use solana_sdk_ids::{address_lookup_table, compute_budget, ed25519_program, system_program};
use zx1_interface::constants::{
    BATCH_MESSAGE_PREFIX, CHALLENGE_STAKE, GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH,
};
use zx1_interface::external::ed25519_signature;
use zx1_protocol::envelope::parse_signing_bytes;
use zx1_protocol::units::MicroUsdc;

/// One instruction in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it does.
    pub title: String,
    /// Names and values worth showing.
    pub details: Vec<(String, String)>,
    /// Whether this client knows the instruction.
    pub understood: bool,
}

/// The words for one instruction.
pub fn line(call: &Call) -> Line {
    let known = if let Some(decoded) = idl::instruction(&call.program, &call.data) {
        ours(call, &decoded)
    } else if call.program == sati::PROGRAM {
        registry(call)
    } else if call.program == token::TOKEN_PROGRAM || call.program == token::TOKEN_2022_PROGRAM {
        tokens(call)
    } else if call.program == token::ASSOCIATED_TOKEN_PROGRAM {
        associated(call)
    } else if call.program == system_program::ID {
        system(call)
    } else if call.program == ed25519_program::ID {
        signature(call)
    } else if call.program == compute_budget::ID {
        budget(call)
    } else if call.program == address_lookup_table::ID {
        table(call)
    } else {
        None
    };
    known.unwrap_or_else(|| unknown(call))
}

fn unknown(call: &Call) -> Line {
    let mut details = vec![
        ("program".to_owned(), call.program.to_string()),
        ("data".to_owned(), format!("{} bytes", call.data.len())),
    ];
    let accounts = call.accounts.iter().enumerate();
    details.extend(accounts.map(|(index, account)| (format!("account {index}"), account.to_string())));
    Line { title: "An instruction that zx1 does not understand".to_owned(), details, understood: false }
}

fn words(title: impl Into<String>, details: Vec<(&str, String)>) -> Line {
    let details = details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Line { title: title.into(), details, understood: true }
}

fn usdc(micro: u64) -> Money {
    Money::Usdc(MicroUsdc(micro))
}

/// Seconds since 1970 as a date in UTC; as they are when no calendar has them.
fn date(unix: i64) -> String {
    match jiff::Timestamp::from_second(unix) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => format!("{unix} seconds after 1970"),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// An instruction of the five programs. None when it lacks accounts that it must have.
fn ours(call: &Call, decoded: &Decoded) -> Option<Line> {
    let account = |name: &str| call.accounts.get(decoded.account(name)?).map(Address::to_string);
    let number = |name: &str| decoded.field(name).and_then(idl::Value::as_u64);
    let text = |name: &str| decoded.field(name).map(ToString::to_string);
    let agent = || text("agent_mint").or_else(|| text("agent_id"));
    // Too few accounts: not an instruction that the program would take.
    (call.accounts.len() >= decoded.accounts.len()).then_some(())?;
    Some(match decoded.name {
        "initialize_config" => words(
            "Write the protocol's configuration, once and for ever",
            vec![
                ("USDC mint", account("usdc_mint")?),
                ("treasury", text("treasury")?),
                ("maintainer", text("maintainer")?),
                ("delegate credential", text("delegate_credential")?),
                ("delegate schema", text("delegate_schema")?),
            ],
        ),
        "lock_stake" => words(
            format!("Lock {} of stake", usdc(number("amount")?)),
            vec![
                ("agent", agent()?),
                ("from", account("owner_usdc")?),
                ("into the vault", account("vault")?),
            ],
        ),
        "queue_unlock" => words(
            "Queue the stake's unlock; it can be claimed 432 000 slots later",
            vec![("agent", agent()?)],
        ),
        "cancel_unlock" => words("Cancel the queued unlock of the stake", vec![("agent", agent()?)]),
        "claim_stake" => words(
            "Claim the whole stake and the rent of its accounts",
            vec![("agent", agent()?), ("stake to", account("owner_usdc")?), ("rent to", account("owner")?)],
        ),
        "slash" => words(
            format!("Slash {} of stake", usdc(number("amount")?)),
            vec![("agent", agent()?), ("to", account("recipient")?)],
        ),
        "open_challenge" => words("Count a challenge as open", vec![("agent", agent()?)]),
        "settle_challenge" => words("Count a challenge as settled", vec![("agent", agent()?)]),
        "pay_lease" => {
            let epochs = number("epochs")?;
            let cost = epochs.checked_mul(LEASE_COST_PER_EPOCH)?;
            let again = GRACE_PERIOD_EPOCHS.checked_mul(LEASE_COST_PER_EPOCH)?.checked_add(cost)?;
            words(
                format!(
                    "Pay the lease for {epochs} epoch{}: {}",
                    if epochs == 1 { "" } else { "s" },
                    usdc(cost)
                ),
                vec![
                    ("agent", agent()?),
                    ("from", account("authority_usdc")?),
                    ("to the treasury", account("treasury_usdc")?),
                    ("if the lease is deactivated", format!("{} to reactivate it", usdc(again))),
                ],
            )
        }
        "tick_lease" => words("Move the lease to the state that the clock says", vec![("agent", agent()?)]),
        "submit_batch" => words(
            format!("Submit the batch of epoch {}", number("epoch_number")?),
            vec![
                ("agent", agent()?),
                ("batch hash", text("batch_hash")?),
                (
                    "log",
                    format!(
                        "{}, root {}",
                        counted(number("log_len")?, "entry", "entries"),
                        text("log_merkle_root")?
                    ),
                ),
                ("records", format!("{}, root {}", number("arrays_len")?, text("arrays_root")?)),
                ("rent by", account("payer")?),
            ],
        ),
        "close_batch" => words(
            format!("Close the batch of epoch {} and return its rent", number("epoch_number")?),
            vec![("agent", agent()?), ("rent to", account("payer")?)],
        ),
        "submit_challenge" => {
            let inline =
                matches!(decoded.field("contradicting_entry"), Some(idl::Value::Bytes(b)) if !b.is_empty());
            let evidence = if inline { "in this transaction".to_owned() } else { account("evidence")? };
            words(
                format!(
                    "Challenge the batch of epoch {} for its {}, with a stake of {}",
                    number("epoch_number")?,
                    ground(number("ground")?),
                    usdc(CHALLENGE_STAKE),
                ),
                vec![
                    ("agent", agent()?),
                    ("challenge", account("challenge")?),
                    ("from", account("challenger_usdc")?),
                    ("evidence", evidence),
                    ("risk", "the stake goes to the treasury when the agent answers".to_owned()),
                ],
            )
        }
        "record_envelope" => words(
            format!("Record a signed envelope as evidence of a {}", ground(number("ground")?)),
            vec![("account", account("record")?)],
        ),
        "discard_envelope" => words(
            "Discard a recorded envelope and return its rent",
            vec![("account", account("record")?), ("rent to", account("owner")?)],
        ),
        "begin_evidence" => words(
            format!("Open a draft for {} bytes of evidence", number("len")?),
            vec![("draft", account("draft")?), ("rent by", account("owner")?)],
        ),
        "append_evidence" => {
            words(format!("Write evidence at byte {}", number("offset")?), vec![("draft", account("draft")?)])
        }
        "cancel_evidence" => words(
            "Cancel an evidence draft and return its rent",
            vec![("draft", account("draft")?), ("rent to", account("owner")?)],
        ),
        "answer_challenge" => words(
            format!("Answer a challenge with the record at leaf {}", number("leaf_index")?),
            vec![("challenge", account("challenge")?), ("batch", account("batch")?)],
        ),
        "resolve_challenge" => words(
            "Resolve a challenge: unanswered, the agent is slashed; answered, its stake goes to the treasury",
            vec![
                ("challenge", account("challenge")?),
                ("challenger", account("challenger")?),
                ("challenger's USDC", account("challenger_usdc")?),
                ("treasury's USDC", account("treasury_usdc")?),
            ],
        ),
        "close_challenge" => words(
            "Close a settled challenge and return its rent",
            vec![("challenge", account("challenge")?), ("rent to", account("challenger")?)],
        ),
        "submit_feedback" => {
            let Some(idl::Value::Bytes(bytes)) = decoded.field("text") else { return None };
            let mut line = feedback(
                "Publish feedback for ever",
                number("index")?,
                account("sender")?,
                account("payer")?,
            );
            line.details.push(("text".to_owned(), shown(bytes)));
            line
        }
        "begin_draft" => words(
            format!("Open a draft for a feedback of {} bytes", number("len")?),
            vec![
                ("draft", account("draft")?),
                ("sender", account("sender")?),
                ("rent by", account("payer")?),
            ],
        ),
        "append_draft" => {
            words(format!("Write feedback at byte {}", number("offset")?), vec![("draft", account("draft")?)])
        }
        "seal_draft" => {
            let mut line = feedback(
                "Publish a finished feedback for ever",
                number("index")?,
                account("sender")?,
                account("payer")?,
            );
            line.details.push(("the draft's rent to".to_owned(), account("draft_payer")?));
            line
        }
        "cancel_draft" => words(
            "Cancel a feedback draft and return its rent",
            vec![("draft", account("draft")?), ("rent to", account("draft_payer")?)],
        ),
        "resolve_entry" => words(
            format!("Mark feedback {} as resolved", number("index")?),
            vec![("commit", text("commit")?), ("contract", text("contract_hash")?)],
        ),
        _ => return None,
    })
}

fn feedback(title: &str, index: u64, sender: String, payer: String) -> Line {
    words(title, vec![("index", index.to_string()), ("sender", sender), ("rent by", payer)])
}

fn ground(number: u64) -> &'static str {
    match number {
        1 => "bid",
        2 => "selection",
        3 => "verifier",
        4 => "feedback",
        5 => "double bid",
        _ => "unknown ground",
    }
}

/// Text from outside on one line, without control characters and changes of direction, which could make a
/// terminal show something else.
pub(super) fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(bytes);
    let mut letters = text.chars();
    let bad = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let clean = |c: char| if bad(c) { ' ' } else { c };
    let mut line: String = letters.by_ref().take(LONGEST).map(clean).collect();
    if letters.next().is_some() {
        line.push('…');
    }
    line
}

fn registry(call: &Call) -> Option<Line> {
    let (tag, rest) = call.data.split_first_chunk::<8>()?;
    let account = |index: usize| call.accounts.get(index).map(Address::to_string);
    use sati::instruction_discriminator as known;
    Some(match *tag {
        known::REGISTER_AGENT => {
            let mut rest = rest;
            let mut text = || -> Option<String> {
                let (count, after) = rest.split_first_chunk::<4>()?;
                let (text, after) =
                    after.split_at_checked(usize::try_from(u32::from_le_bytes(*count)).ok()?)?;
                rest = after;
                Some(shown(text))
            };
            let (name, symbol, uri) = (text()?, text()?, text()?);
            let bound = match call.data.last()? {
                0 => "it can be transferred",
                _ => "it can never be transferred",
            };
            words(
                format!("Register the agent '{name}' with SATI; {bound}"),
                vec![("mint", account(4)?), ("owner", account(1)?), ("symbol", symbol), ("metadata", uri)],
            )
        }
        known::CREATE_REGULAR | known::CREATE_COMPRESSED => {
            let (count, after) = rest.split_first_chunk::<4>()?;
            let bytes = after.get(..usize::try_from(u32::from_le_bytes(*count)).ok()?)?;
            if let Some(delegation) =
                sati::DelegateV1::decode(bytes).filter(|_| *tag == known::CREATE_REGULAR)
            {
                let expiry = after.get(bytes.len()..)?.first_chunk::<8>().map(|b| i64::from_le_bytes(*b))?;
                let until = if expiry == 0 { "never".to_owned() } else { date(expiry) };
                words(
                    "Let another key act for the agent",
                    vec![
                        ("agent", delegation.agent.to_string()),
                        ("delegate", delegation.delegate.to_string()),
                        ("given by", delegation.delegator.to_string()),
                        ("ends", until),
                    ],
                )
            } else {
                let found = sati::Attestation::decode(bytes)?;
                words(
                    format!("Attest an outcome with SATI: {}", found.outcome.word()),
                    vec![
                        ("agent", found.agent.to_string()),
                        ("by", found.counterparty.to_string()),
                        ("task", Address::new_from_array(found.task_ref).to_string()),
                        ("content", shown(&found.content)),
                    ],
                )
            }
        }
        known::CLOSE_REGULAR => words(
            "Take a delegation or attestation back and return its rent",
            vec![("attestation", account(7)?), ("rent to", account(0)?)],
        ),
        known::CLOSE_COMPRESSED => words("Take an attestation back", vec![("signer", account(0)?)]),
        known::INITIALIZE => words("Create SATI's registry", vec![("authority", account(0)?)]),
        known::REGISTER_SCHEMA_CONFIG => words(
            "Register a schema with SATI",
            vec![("schema config", account(3)?), ("authority", account(2)?)],
        ),
        known::UPDATE_REGISTRY_AUTHORITY => {
            words("Hand SATI's registry to another authority", vec![("authority", account(0)?)])
        }
        known::LINK_EVM_ADDRESS => {
            words("Link an EVM address to the agent", vec![("owner", account(0)?), ("agent", account(1)?)])
        }
        _ => return None,
    })
}

fn tokens(call: &Call) -> Option<Line> {
    let account = |index: usize| call.accounts.get(index).map(Address::to_string);
    if let Some(moved) = call.moved(None) {
        let (verb, mint) = match call.data.first()? {
            7 | 14 => ("Mint", account(0)?),
            12 => ("Send", account(1)?),
            _ => ("Send", "of the two accounts".to_owned()),
        };
        return Some(words(
            format!("{verb} {} units of a token", moved.money.amount()),
            vec![("mint", mint), ("from", moved.from.to_string()), ("to", moved.to.to_string())],
        ));
    }
    let amount = || call.data.get(1..)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes));
    Some(match call.data.first()? {
        0 | 20 => words("Create a token", vec![("mint", account(0)?)]),
        1 | 16 | 18 => words("Make a token account", vec![("account", account(0)?), ("mint", account(1)?)]),
        4 | 13 => words(
            format!("Allow somebody to spend {} units of a token", amount()?),
            vec![
                ("account", account(0)?),
                ("spender", account(if call.data.first() == Some(&4) { 1 } else { 2 })?),
            ],
        ),
        6 => words("Change an authority over a token or account", vec![("account", account(0)?)]),
        8 | 15 => words(
            format!("Burn {} units of a token", amount()?),
            vec![("account", account(0)?), ("mint", account(1)?)],
        ),
        9 => words("Close a token account", vec![("account", account(0)?), ("rent to", account(1)?)]),
        17 => words("Count wrapped SOL anew", vec![("account", account(0)?)]),
        _ => return None,
    })
}

fn associated(call: &Call) -> Option<Line> {
    let account = |index: usize| call.accounts.get(index).map(Address::to_string);
    match call.data.as_slice() {
        [] | [0] | [1] => Some(words(
            "Create the wallet's token account, if it is not there",
            vec![
                ("wallet", account(2)?),
                ("mint", account(3)?),
                ("account", account(1)?),
                ("rent by", account(0)?),
            ],
        )),
        _ => None,
    }
}

fn system(call: &Call) -> Option<Line> {
    let account = |index: usize| call.accounts.get(index).map(Address::to_string);
    let moved = call.moved(None)?;
    let title = match call.data.first()? {
        0 => format!("Create an account with {}", moved.money),
        _ => format!("Send {}", moved.money),
    };
    Some(words(title, vec![("from", account(0)?), ("to", account(1)?)]))
}

fn signature(call: &Call) -> Option<Line> {
    let signed = ed25519_signature(&call.data).ok()?;
    let what = if signed.message.starts_with(BATCH_MESSAGE_PREFIX) {
        "of a behaviour batch".to_owned()
    } else if parse_signing_bytes(signed.message).is_ok() {
        "of an envelope".to_owned()
    } else if signed.message.starts_with(b"SATI ") {
        format!("of the words '{}'", shown(signed.message))
    } else if signed.message.len() == 32 {
        "of an agreed interaction (a hash)".to_owned()
    } else {
        format!("of a message of {} bytes", signed.message.len())
    };
    let signer = Address::new_from_array(signed.signer).to_string();
    Some(words(format!("Check a signature {what}"), vec![("by", signer)]))
}

pub(super) enum Budget {
    Limit(u32),
    Price(u64),
}

pub(super) fn compute_budget_value(data: &[u8]) -> Option<Budget> {
    match data.split_first()? {
        (2, rest) => rest.first_chunk().map(|bytes| Budget::Limit(u32::from_le_bytes(*bytes))),
        (3, rest) => rest.first_chunk().map(|bytes| Budget::Price(u64::from_le_bytes(*bytes))),
        _ => None,
    }
}

fn budget(call: &Call) -> Option<Line> {
    Some(match compute_budget_value(&call.data)? {
        Budget::Limit(units) => words(format!("Use at most {units} compute units"), vec![]),
        Budget::Price(price) => words(format!("Pay {price} micro-lamports for each compute unit"), vec![]),
    })
}

fn table(call: &Call) -> Option<Line> {
    let account = |index: usize| call.accounts.get(index).map(Address::to_string);
    let title = match u32::from_le_bytes(*call.data.first_chunk::<4>()?) {
        0 => "Create an address lookup table",
        1 => "Freeze an address lookup table",
        2 => "Add addresses to an address lookup table",
        3 => "Deactivate an address lookup table",
        4 => "Close an address lookup table and return its rent",
        _ => return None,
    };
    Some(words(title, vec![("table", account(0)?)]))
}
