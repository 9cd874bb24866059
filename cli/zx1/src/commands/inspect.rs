//! `zx1 inspect`: every field of the protocol's bytes, and what is wrong with them.

use crate::context::Context;
use crate::defaults::{MAX_INPUT, MAX_LARGE_INPUT, MAX_MESSAGE};
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::input::{self, Input};
use crate::output::Page;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Subcommand;
use solana_address::Address;
use solana_signature::Signature;
use std::path::Path;
use zx1_chain::rpc::PartialTransaction;
use zx1_operator::inspect::{self, Fields, Malformed, Message, NotABatch};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 inspect envelope message.bin
  zx1 inspect envelope 8c01035820... --key WALLET
  xxd -p message.bin | zx1 inspect envelope -
  zx1 inspect log-entry entry.hex
  zx1 inspect batch 20480.zx1batch
  zx1 inspect account ADDRESS           read from the cluster
  zx1 inspect account account.bin --owner PROGRAM
  zx1 inspect tx SIGNATURE              read from the cluster, with its events
  zx1 inspect tx transaction.base64

DATA is hex, base64, a file, or - for standard input; the format is detected. The
commands for bytes work offline. Exit code 1 if the bytes are not of the kind.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Decode a message: header, payload, hashes, and whether signature and encoding are valid
    Envelope {
        /// Message: hex, base64, a file, or -
        data: String,
        /// Key that may have signed it; can be repeated. Your own is always tried
        #[arg(long = "key", value_name = "ADDRESS")]
        keys: Vec<String>,
        /// Also try the sender's keys, read from the cluster
        #[arg(long)]
        online: bool,
    },
    /// Decode a log entry: header, signature, logged payload, leaf hash
    LogEntry {
        /// Entry: hex, base64, a file, or -
        data: String,
    },
    /// Decode a batch (.zx1batch or CBOR), or the 237 bytes that are signed for it
    Batch {
        /// Batch: hex, base64, a file, or -
        data: String,
        /// Show all records instead of the first 20
        #[arg(long)]
        all: bool,
    },
    /// Decode an account of the five programs, SATI, SAS or the token programs
    Account {
        /// Address to read from the cluster, or the bytes: hex, base64, a file, or -
        data: String,
        /// Program that owns the account [default: all known layouts are tried]
        #[arg(long, value_name = "PROGRAM")]
        owner: Option<String>,
    },
    /// Decode a transaction: instructions, transfers, events
    Tx {
        /// Signature to look up, or the transaction: hex, base64, a file (also from --sign-only), or -
        data: String,
        /// Show the program logs
        #[arg(long)]
        logs: bool,
    },
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    let fields = match action {
        Action::Envelope { data, keys, online } => envelope(&data, &keys, online, context)?,
        Action::LogEntry { data } => {
            let input = message(&data, "The log entry")?;
            inspect::log_entry(&input.bytes, input.encoding).map_err(malformed("log entry"))?
        }
        Action::Batch { data, all } => batch(&data, all)?,
        Action::Account { data, owner } => account(&data, owner.as_deref(), context)?,
        Action::Tx { data, logs } => transaction(&data, logs, context)?,
    };
    context.show(&fields, draw)
}

fn draw(fields: &Fields, page: &mut Page) {
    page.heading(&fields.heading);
    for (label, value) in &fields.rows {
        page.field(label, value);
    }
    fields.sections.iter().for_each(|section| draw(section, page));
}

fn malformed(what: &str) -> impl Fn(Malformed) -> Error {
    let what = what.to_owned();
    move |Malformed(why)| Error::NotEnvelope { what: what.clone(), why }
}

/// Bytes that are at most as long as a message.
fn message(data: &str, what: &str) -> Result<Input> {
    let input = input::read(data, MAX_INPUT)?;
    let (what, size, limit) = (what.to_owned(), input.bytes.len(), MAX_MESSAGE);
    if size > limit { Err(Error::MessageTooLarge { what, size, limit }.into()) } else { Ok(input) }
}

/// An address or a signature, unless it is the name of a file.
fn named<T: std::str::FromStr>(data: &str) -> Option<T> {
    data.parse().ok().filter(|_| !Path::new(data).exists())
}

fn envelope(data: &str, keys: &[String], online: bool, context: &Context) -> Result<Fields> {
    let input = message(data, "The envelope")?;
    let message = Message::read(&input.bytes).map_err(malformed("envelope"))?;
    let mut candidates = Vec::new();
    for text in keys {
        candidates.push((input::address(text, "The key")?, "given with --key".to_owned()));
    }
    // Inspecting works without a key, and with a broken one.
    if context.settings()?.keypair.value.exists()
        && let Ok(key) = context.key()
    {
        candidates.push((key.address(), "your own".to_owned()));
    }
    candidates.extend(message.own_key());
    if online {
        let found = async { Ok(message.registered_keys(&context.connect().await?.client).await?) };
        candidates.extend(context.wait(found)?);
    }
    Ok(message.fields(input.encoding, &candidates))
}

fn batch(data: &str, all: bool) -> Result<Fields> {
    let input = input::read(data, MAX_LARGE_INPUT)?;
    inspect::batch(&input.bytes, all).map_err(|error| match error {
        NotABatch::Message => Error::UnknownBytes { what: "batch".to_owned() }.into(),
        NotABatch::Bundle(error) => Failure::of(&error, None::<String>),
        NotABatch::Batch(error) => Failure::of(&error, None::<String>)
            .in_input(&input.name)
            .next("give a .zx1batch file, a batch's CBOR, or the 165 bytes that are signed for it"),
    })
}

fn account(data: &str, owner: Option<&str>, context: &Context) -> Result<Fields> {
    let owner = owner.map(|owner| input::address(owner, "The owner")).transpose()?;
    if let Some(address) = named::<Address>(data) {
        let missing = Error::NoAccount { address: address.to_string() };
        let found = async { Ok(context.connect().await?.client.account(address).await?) };
        let account = context.wait(found)?.ok_or(missing)?;
        return Ok(inspect::account(address, &account));
    }
    let input = input::read(data, MAX_INPUT)?;
    let fields = inspect::account_data(None, owner, &input.bytes);
    fields.ok_or_else(|| Error::UnknownBytes { what: "account".to_owned() }.into())
}

fn transaction(data: &str, logs: bool, context: &Context) -> Result<Fields> {
    if let Some(signature) = named::<Signature>(data) {
        let found = async { Ok(context.connect().await?.client.transaction(&signature).await?) };
        return Ok(inspect::landed(&signature, &context.wait(found)?, logs));
    }
    let text = match files::read_limited(Path::new(data), MAX_INPUT) {
        // What --sign-only writes is JSON, and holds the transaction.
        Ok(Some(bytes)) if bytes.trim_ascii().starts_with(b"{") => {
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => STANDARD.encode(input::read(data, MAX_INPUT)?.bytes),
    };
    Ok(inspect::unsent(&PartialTransaction::from_text(&text)?))
}
