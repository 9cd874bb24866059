//! One instruction in words: the five programs' by their IDLs, and those of the programs beside them.

use super::idl::{self, Decoded};
use super::moves::{Call, Money};
use crate::sati;
use crate::token;
use solana_address::Address;
use solana_sdk_ids::{address_lookup_table, compute_budget, ed25519_program, system_program};
use zx1_interface::constants::{BATCH_MESSAGE_PREFIX, GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH};
use zx1_interface::external::ed25519_signature;
use zx1_protocol::amounts::Amounts;
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::parse_signing_bytes;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
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
    // Too few accounts: not an instruction that the program would take.
    (call.accounts.len() >= decoded.accounts.len()).then_some(())?;
    let shown = Shown { call, decoded };
    shown.money().or_else(|| shown.keys()).or_else(|| shown.game()).or_else(|| shown.texts())
}

/// A decoded instruction with its accounts.
struct Shown<'a> {
    call: &'a Call,
    decoded: &'a Decoded,
}

impl Shown<'_> {
    fn address(&self, name: &str) -> Option<Address> {
        self.call.accounts.get(self.decoded.account(name)?).copied()
    }

    fn account(&self, name: &str) -> Option<String> {
        self.address(name).map(|address| address.to_string())
    }

    /// An optional account: Anchor's sign for none is the program itself.
    fn given(&self, name: &str) -> Option<String> {
        self.address(name).filter(|found| *found != self.call.program).map(|address| address.to_string())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.decoded.field(name).and_then(idl::Value::as_u64)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.decoded.field(name).map(ToString::to_string)
    }

    fn agent(&self) -> Option<String> {
        self.text("agent_mint").or_else(|| self.text("agent_id")).or_else(|| self.account("agent_mint"))
    }

    /// The configuration, stakes and the lease.
    fn money(&self) -> Option<Line> {
        let Self { decoded, .. } = self;
        Some(match decoded.name {
            "initialize_config" => words(
                "Write the protocol's configuration, once and for ever",
                vec![
                    ("USDC mint", self.account("usdc_mint")?),
                    ("treasury", self.text("treasury")?),
                    ("maintainer", self.text("maintainer")?),
                    ("delegate credential", self.text("delegate_credential")?),
                    ("delegate schema", self.text("delegate_schema")?),
                    ("network", network(decoded)?),
                    ("amounts", self.amounts()?),
                ],
            ),
            "open_vault" => words(
                format!("Make the pooled vault of shard {}", self.number("shard")?),
                vec![("vault", self.account("vault")?), ("rent by", self.account("payer")?)],
            ),
            "lock_stake" => words(
                format!("Lock {} of stake in era {}", usdc(self.number("amount")?), self.number("era")?),
                vec![
                    ("agent", self.agent()?),
                    ("from", self.account("owner_usdc")?),
                    ("into the vault", self.account("vault")?),
                ],
            ),
            "queue_unlock" => words(
                format!(
                    "Queue the unlock of the stake of era {}; it can be claimed 432 000 slots later",
                    self.number("era")?
                ),
                vec![("agent", self.agent()?)],
            ),
            "cancel_unlock" => words(
                format!("Cancel the queued unlock of the stake of era {}", self.number("era")?),
                vec![("agent", self.agent()?)],
            ),
            "claim_stake" => words(
                format!("Claim the whole stake of era {} and its rent", self.number("era")?),
                vec![
                    ("agent", self.agent()?),
                    ("stake to", self.account("owner_usdc")?),
                    ("rent to", self.account("owner")?),
                ],
            ),
            "take_rank" => words(
                format!("Take the next rank of era {}", self.number("era")?),
                vec![("agent", self.agent()?)],
            ),
            "take_deposit" => words(
                format!("Hold {} for era {}", usdc(self.number("amount")?), self.number("era")?),
                vec![("agent", self.agent()?), ("from", self.account("payer_usdc")?)],
            ),
            "settle" => words(
                format!("Settle money of era {}", self.number("era")?),
                vec![
                    ("agent", self.agent()?),
                    ("out of the stake", usdc(self.number("from_stake")?).to_string()),
                    ("into the stake", usdc(self.number("to_stake")?).to_string()),
                    ("first", self.paid("first", "first_usdc")?),
                    ("second", self.paid("second", "second_usdc")?),
                ],
            ),
            "pay_lease" => {
                let epochs = self.number("epochs")?;
                let cost = epochs.checked_mul(LEASE_COST_PER_EPOCH)?;
                let again = GRACE_PERIOD_EPOCHS.checked_mul(LEASE_COST_PER_EPOCH)?.checked_add(cost)?;
                words(
                    format!(
                        "Pay the lease for {epochs} epoch{}: {}",
                        if epochs == 1 { "" } else { "s" },
                        usdc(cost)
                    ),
                    vec![
                        ("agent", self.agent()?),
                        ("from", self.account("authority_usdc")?),
                        ("to the treasury", self.account("treasury_usdc")?),
                        ("if the lease is deactivated", format!("{} to reactivate it", usdc(again))),
                    ],
                )
            }
            "tick_lease" => {
                words("Move the lease to the state that the clock says", vec![("agent", self.agent()?)])
            }
            _ => return None,
        })
    }

    fn paid(&self, amount: &str, to: &str) -> Option<String> {
        let to = self.given(to).unwrap_or_else(|| "nobody".to_owned());
        Some(format!("{} to {to}", usdc(self.number(amount)?)))
    }

    /// The amounts that a configuration names.
    fn amounts(&self) -> Option<String> {
        let number = |name: &str| self.number(name);
        let percent = |name: &str| u8::try_from(self.number(name)?).ok();
        let amounts = Amounts {
            min_stake: number("min_stake")?,
            challenge_stake: number("challenge_stake")?,
            lost_to_stake: number("lost_to_stake")?,
            lost_to_answerer: number("lost_to_answerer")?,
            ask_price: number("ask_price")?,
            ask_to_shower: number("ask_to_shower")?,
            ask_to_stake: number("ask_to_stake")?,
            fine: number("fine")?,
            fine_to_asker: number("fine_to_asker")?,
            rank_deposit: number("rank_deposit")?,
            finders_percent: percent("finders_percent")?,
            share_percent: percent("share_percent")?,
        };
        Some(format!(
            "minimum stake {}, challenge {} (answered: {} to the stake, {} to who answers), ask {} ({} to who \
             shows, {} to the stake), fine {} ({} to the asker), rank {}, finders {} %, each {} % of the rest",
            usdc(amounts.min_stake),
            usdc(amounts.challenge_stake),
            usdc(amounts.lost_to_stake),
            usdc(amounts.lost_to_answerer),
            usdc(amounts.ask_price),
            usdc(amounts.ask_to_shower),
            usdc(amounts.ask_to_stake),
            usdc(amounts.fine),
            usdc(amounts.fine_to_asker),
            Money::Lamports(amounts.rank_deposit),
            amounts.finders_percent,
            amounts.share_percent,
        ))
    }

    /// Tenures, keys and batches.
    fn keys(&self) -> Option<Line> {
        Some(match self.decoded.name {
            "open_tenure" => words(
                "Open the agent's first tenure",
                vec![("agent", self.agent()?), ("owner", self.account("owner")?)],
            ),
            "take_over" => {
                let names: Vec<String> = (0..8).filter_map(|n| self.given(&format!("key_{n}"))).collect();
                words(
                    format!(
                        "Take the agent over: its former owner's era and {} end",
                        counted(u64::try_from(names.len()).ok()?, "key", "keys")
                    ),
                    vec![
                        ("agent", self.agent()?),
                        ("owner", self.account("owner")?),
                        ("key accounts", names.join(", ")),
                    ],
                )
            }
            "add_key" => {
                let scopes = Scopes(u8::try_from(self.number("scopes")?).ok()?);
                let mut details = vec![
                    ("agent", self.agent()?),
                    ("key", self.account("key")?),
                    ("by", self.account("owner")?),
                ];
                if scopes.has(Scopes::BATCH) || scopes.has(Scopes::DEAL) {
                    details.push(("risk", "who has this key can cost the whole stake".to_owned()));
                }
                words(format!("List a key that may {}", may(scopes)), details)
            }
            "end_key" => words(
                "End a key, which acts no more",
                vec![
                    ("agent", self.agent()?),
                    ("key", self.text("key")?),
                    ("by", self.account("authority")?),
                ],
            ),
            "close_key" => words(
                "Close an ended key and return its rent",
                vec![
                    ("agent", self.agent()?),
                    ("key", self.text("key")?),
                    ("rent to", self.account("payer")?),
                ],
            ),
            "open_head" => words(
                "Open the head of the agent's batches",
                vec![("agent", self.agent()?), ("rent by", self.account("payer")?)],
            ),
            "submit_batch" => words(
                "Land the batch whose message is checked before it",
                vec![
                    ("agent", self.agent()?),
                    ("batch", self.account("batch")?),
                    ("key account", self.account("key")?),
                    ("rent by", self.account("payer")?),
                ],
            ),
            "close_batch" => words(
                format!("Close the batch of epoch {} and return its rent", self.number("epoch_number")?),
                vec![("agent", self.agent()?), ("rent to", self.account("payer")?)],
            ),
            "mark_withheld" => words(
                format!("Mark the batch of epoch {} as withheld", self.number("epoch_number")?),
                vec![("agent", self.agent()?)],
            ),
            _ => return None,
        })
    }

    /// Challenges and asks.
    fn game(&self) -> Option<Line> {
        Some(match self.decoded.name {
            "begin_evidence" => {
                let len = self.number("len")?;
                let content = match len {
                    0 => "an envelope".to_owned(),
                    len => format!("{len} bytes"),
                };
                let mut details =
                    vec![("draft", self.account("draft")?), ("rent by", self.account("owner")?)];
                let title = match self.given("stake") {
                    Some(_) => {
                        details.push(("agent", self.agent()?));
                        details.push(("risk", "the rank's deposit is burnt when it is not used".to_owned()));
                        format!("Take a rank in era {} for {content} of evidence", self.number("era")?)
                    }
                    None => format!("Open a draft for {content} of evidence"),
                };
                words(title, details)
            }
            "append_evidence" => words(
                format!("Write evidence at byte {}", self.number("offset")?),
                vec![("draft", self.account("draft")?)],
            ),
            "seal_evidence" => words(
                format!("Verify evidence of a {} against a batch", ground(self.number("ground")?)),
                vec![("draft", self.account("draft")?), ("batch", self.account("batch")?)],
            ),
            "cancel_evidence" => words(
                "Cancel an evidence draft and return its rent",
                vec![("draft", self.account("draft")?), ("rent to", self.account("owner")?)],
            ),
            "submit_challenge" => {
                let mut details = vec![
                    ("batch", self.account("batch")?),
                    ("challenge", self.account("challenge")?),
                    ("from", self.account("challenger_usdc")?),
                    ("draft", self.account("draft")?),
                ];
                if let Some(replaced) = self.given("replaced") {
                    details.push(("takes over from", replaced));
                }
                details.push(("risk", "the stake is lost when somebody shows the record".to_owned()));
                words("Challenge a batch with the configured stake", details)
            }
            "answer_challenge" => words(
                format!("Answer a challenge with the record at leaf {}", self.number("leaf_index")?),
                vec![
                    ("challenge", self.account("challenge")?),
                    ("batch", self.account("batch")?),
                    ("answerer's USDC", self.account("first_usdc")?),
                ],
            ),
            "resolve_challenge" => words(
                "Resolve a challenge that nobody answered: the agent is slashed",
                vec![
                    ("challenge", self.account("challenge")?),
                    ("challenger's USDC", self.account("first_usdc")?),
                    ("treasury's USDC", self.account("second_usdc")?),
                ],
            ),
            "close_challenge" => words(
                "Close a settled challenge and return its rent",
                vec![("challenge", self.account("challenge")?), ("rent to", self.account("payer")?)],
            ),
            "pass_rank" => words(
                "Pass the rank of a settled challenge or a lapsed draft",
                vec![("account", self.account("account")?)],
            ),
            "settle_era" => words(
                format!("Pay the rest of the finders' part of era {} to the treasury", self.number("era")?),
                vec![("agent", self.agent()?), ("treasury's USDC", self.account("second_usdc")?)],
            ),
            "ask_leaf" => words(
                format!(
                    "Ask for leaf {} of {}, for the configured price",
                    self.number("index")?,
                    match self.number("tree")? {
                        0 => "a batch's log",
                        1 => "a batch's arrays",
                        _ => "an unknown tree",
                    }
                ),
                vec![
                    ("batch", self.account("batch")?),
                    ("ask", self.account("ask")?),
                    ("from", self.account("asker_usdc")?),
                ],
            ),
            "show_leaf" => {
                let Some(idl::Value::Bytes(leaf)) = self.decoded.field("leaf") else { return None };
                let title = match leaf.len() {
                    0 => "Show a leaf that was asked for, out of a draft".to_owned(),
                    len => format!("Show a leaf of {len} bytes that was asked for"),
                };
                words(
                    title,
                    vec![("ask", self.account("ask")?), ("shower's USDC", self.account("first_usdc")?)],
                )
            }
            "settle_ask" => words(
                "Settle an ask that nobody answered: the batch counts for nothing",
                vec![
                    ("ask", self.account("ask")?),
                    ("batch", self.account("batch")?),
                    ("asker's USDC", self.account("first_usdc")?),
                ],
            ),
            "close_ask" => words(
                "Close a settled ask and return its rent",
                vec![("ask", self.account("ask")?), ("rent to", self.account("asker")?)],
            ),
            _ => return None,
        })
    }

    /// The feedback log.
    fn texts(&self) -> Option<Line> {
        Some(match self.decoded.name {
            "submit_feedback" => {
                let Some(idl::Value::Bytes(bytes)) = self.decoded.field("text") else { return None };
                let mut line = self.feedback("Publish feedback for ever")?;
                line.details.push(("text".to_owned(), shown(bytes)));
                line
            }
            "begin_draft" => words(
                format!("Open a draft for a feedback of {} bytes", self.number("len")?),
                vec![
                    ("draft", self.account("draft")?),
                    ("sender", self.account("sender")?),
                    ("rent by", self.account("payer")?),
                ],
            ),
            "append_draft" => words(
                format!("Write feedback at byte {}", self.number("offset")?),
                vec![("draft", self.account("draft")?)],
            ),
            "seal_draft" => {
                let mut line = self.feedback("Publish a finished feedback for ever")?;
                line.details.push(("the draft's rent to".to_owned(), self.account("draft_payer")?));
                line
            }
            "cancel_draft" => words(
                "Cancel a feedback draft and return its rent",
                vec![("draft", self.account("draft")?), ("rent to", self.account("draft_payer")?)],
            ),
            "resolve_entry" => words(
                format!("Mark feedback {} as resolved", self.number("index")?),
                vec![("commit", self.text("commit")?), ("contract", self.text("contract_hash")?)],
            ),
            _ => return None,
        })
    }

    fn feedback(&self, title: &str) -> Option<Line> {
        let (index, sender, payer) = (self.number("index")?, self.account("sender")?, self.account("payer")?);
        Some(words(title, vec![("index", index.to_string()), ("sender", sender), ("rent by", payer)]))
    }
}

/// A genesis hash, which is written like an address.
fn network(decoded: &Decoded) -> Option<String> {
    match decoded.field("network")? {
        idl::Value::Bytes(bytes) => {
            Some(Address::new_from_array(bytes.as_slice().try_into().ok()?).to_string())
        }
        _ => None,
    }
}

/// What a key of these scopes may do.
fn may(scopes: Scopes) -> String {
    const ACTS: [(Scopes, &str); 4] = [
        (Scopes::PAY, "pay the lease"),
        (Scopes::BATCH, "land batches"),
        (Scopes::DEAL, "make deals"),
        (Scopes::PEER, "be the agent's peer"),
    ];
    let acts: Vec<&str> = ACTS.iter().filter(|(scope, _)| scopes.has(*scope)).map(|(_, act)| *act).collect();
    match acts.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "do nothing".to_owned(),
    }
}

fn ground(number: u64) -> &'static str {
    match u8::try_from(number).ok().and_then(Ground::from_u8) {
        Some(Ground::Bid) => "bid",
        Some(Ground::Selection) => "selection",
        Some(Ground::Verifier) => "verifier",
        Some(Ground::Feedback) => "feedback",
        Some(Ground::DoubleBid) => "double bid",
        None => "unknown ground",
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
                    "Name another key with SATI; it has no authority in zx1",
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
        0 | 3 => format!("Create an account with {}", moved.money),
        _ => format!("Send {}", moved.money),
    };
    Some(words(title, vec![("from", account(0)?), ("to", account(1)?)]))
}

fn signature(call: &Call) -> Option<Line> {
    let signed = ed25519_signature(&call.data).ok()?;
    let mut details = vec![("by", Address::new_from_array(signed.signer).to_string())];
    let what = if let Some(batch) = BatchMessage::parse(signed.message) {
        details.extend(batch_details(&batch));
        format!("of the batch of epoch {}", batch.epoch.0)
    } else if signed.message.starts_with(BATCH_MESSAGE_PREFIX) {
        "of bytes that look like a batch and are none".to_owned()
    } else if parse_signing_bytes(signed.message).is_ok() {
        "of an envelope".to_owned()
    } else if signed.message.starts_with(b"SATI ") {
        format!("of the words '{}'", shown(signed.message))
    } else if signed.message.len() == 32 {
        "of an agreed interaction (a hash)".to_owned()
    } else {
        format!("of a message of {} bytes", signed.message.len())
    };
    Some(words(format!("Check a signature {what}"), details))
}

fn batch_details(batch: &BatchMessage) -> Vec<(&'static str, String)> {
    let hash = |bytes: &[u8; 32]| idl::Value::Bytes(bytes.to_vec()).to_string();
    let tree = |len: u32, name: (&str, &str), root: &[u8; 32]| {
        format!("{}, root {}", counted(len.into(), name.0, name.1), hash(root))
    };
    vec![
        ("agent", AgentId(batch.agent).to_string()),
        ("covers", format!("epochs {} to {}", batch.covers_from.0, batch.epoch.0)),
        ("batch hash", hash(&batch.batch_hash)),
        ("log", tree(batch.log_len, ("entry", "entries"), &batch.log_merkle_root)),
        ("records", tree(batch.arrays_len, ("record", "records"), &batch.arrays_root)),
        ("follows", hash(&batch.previous_digest)),
        ("network", Address::new_from_array(batch.network).to_string()),
    ]
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
