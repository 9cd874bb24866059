//! What is to be done, before it is a transaction: a [`Draft`] of one, a [`Flow`] of several.

use super::client::Client;
use super::error::{ChainError, Result};
use super::refusal::Refusal;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::AddressLookupTableAccount;
use solana_sdk_ids::ed25519_program;
use solana_signer::Signer;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// An answer to come.
pub type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What a command wants, in words that are the same when the command is run again. The outbox finds a
/// transaction by it, so that the second run does not pay a second time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Intent(String);

impl Intent {
    /// An intent's name: a verb, and everything that distinguishes it from other intents.
    pub fn new(verb: &str, parts: &[&dyn fmt::Display]) -> Self {
        let mut text = verb.to_owned();
        for part in parts {
            let part = part.to_string();
            // Quoted where it could be taken for several.
            let plain = !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '"');
            text.push(' ');
            text.push_str(&if plain { part } else { format!("{part:?}") });
        }
        Self(text)
    }

    /// An intent by its name, as [`Intent::as_str`] gives it.
    pub(crate) fn from_words(words: &str) -> Self {
        Self(words.to_owned())
    }

    /// The intent of one step of a flow.
    pub fn step(&self, name: &str) -> Self {
        Self(format!("{} / {name}", self.0))
    }

    /// The intent's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One transaction to be.
#[derive(Clone)]
pub struct Draft {
    /// The intent that the transaction serves.
    pub intent: Intent,
    /// What the transaction does, in a few words.
    pub title: String,
    /// The signer that pays the fee and usually the rent.
    pub payer: Address,
    /// What it runs, without the compute budget.
    pub instructions: Vec<Instruction>,
    /// Lookup tables that make it shorter.
    pub tables: Vec<AddressLookupTableAccount>,
    /// Keys made for this transaction alone, like a new mint's.
    pub keys: Vec<Arc<Keypair>>,
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<Address> = self.keys.iter().map(|key| key.pubkey()).collect();
        f.debug_struct("Draft")
            .field("intent", &self.intent)
            .field("title", &self.title)
            .field("payer", &self.payer)
            .field("instructions", &self.instructions)
            .field("keys", &keys)
            .finish_non_exhaustive()
    }
}

impl Draft {
    /// A draft without lookup tables and keys of its own.
    pub fn new(
        intent: Intent,
        title: impl Into<String>,
        payer: Address,
        instructions: Vec<Instruction>,
    ) -> Self {
        Self { intent, title: title.into(), payer, instructions, tables: Vec::new(), keys: Vec::new() }
    }

    /// The same with lookup tables.
    #[must_use]
    pub fn with_tables(mut self, tables: Vec<AddressLookupTableAccount>) -> Self {
        self.tables = tables;
        self
    }

    /// The same with another payer of the fee.
    #[must_use]
    pub fn paid_by(mut self, payer: Address) -> Self {
        self.payer = payer;
        self
    }
}

/// What comes next in a flow.
#[derive(Debug)]
pub enum Step {
    /// Send this transaction.
    Send {
        /// Instructions and signers.
        draft: Draft,
        /// Whether the flow is complete once it has landed.
        last: bool,
    },
    /// Nothing: the chain shows that the flow is complete. Holds a sentence that says so.
    Done(String),
}

/// An operation that takes one transaction or several. How far it is is read from the chain before each step,
/// so a flow can be resumed by anyone at any time.
pub trait Flow: Send + Sync {
    /// The intent of the whole flow; the last transaction carries it.
    fn intent(&self) -> &Intent;

    /// What it does, in a few words for a person.
    fn title(&self) -> String;

    /// The next step, from what the chain shows now.
    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step>;

    /// Whether a refusal comes from somebody else having been faster, so that the next step, built anew,
    /// may succeed.
    fn is_race(&self, _refusal: &Refusal) -> bool {
        false
    }
}

/// Whether the next step, built anew, may succeed where this refusal came: somebody else was faster, or the
/// same intent is carried out twice at once.
pub fn is_race(flow: &dyn Flow, refusal: &Refusal) -> bool {
    flow.is_race(refusal) || refusal.of_zx1() == Some(zx1_interface::Error::WrongDraftOffset)
}

impl Flow for Draft {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn next<'a>(&'a self, _client: &'a Client) -> Asked<'a, Step> {
        Box::pin(async move { Ok(Step::Send { draft: self.clone(), last: true }) })
    }
}

/// An instruction of the Ed25519 program that checks one signature held in its own bytes, as the protocol's
/// programs demand it (decision B7).
///
/// # Errors
///
/// [`ChainError::Invalid`] for a message longer than any transaction.
pub(crate) fn ed25519(signer: &Address, signature: &[u8; 64], message: &[u8]) -> Result<Instruction> {
    const KEY: u16 = 16;
    const SIGNATURE: u16 = KEY + 32;
    const MESSAGE: u16 = SIGNATURE + 64;
    const OWN: u16 = u16::MAX;
    let size = u16::try_from(message.len())
        .map_err(|_| ChainError::Invalid("The message is too long to be signed on chain.".to_owned()))?;
    let mut data = vec![1, 0];
    for number in [SIGNATURE, OWN, KEY, OWN, MESSAGE, size, OWN] {
        data.extend_from_slice(&number.to_le_bytes());
    }
    data.extend_from_slice(signer.as_ref());
    data.extend_from_slice(signature);
    data.extend_from_slice(message);
    Ok(Instruction { program_id: ed25519_program::ID, accounts: Vec::new(), data })
}
