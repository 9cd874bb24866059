//! Names and values of instructions, accounts and events, from the committed IDLs: what `inspect` shows and
//! what a summary reads by name instead of by position.

use serde_json::{Value as Json, json};
use solana_address::Address;
use std::fmt;
use std::sync::OnceLock;

const SOURCES: [&str; 5] = [
    include_str!("../../../../programs/idl/zx1_stake_lock.json"),
    include_str!("../../../../programs/idl/zx1_lease.json"),
    include_str!("../../../../programs/idl/zx1_behavior_log.json"),
    include_str!("../../../../programs/idl/zx1_challenge.json"),
    include_str!("../../../../programs/idl/zx1_feedback_log.json"),
];

/// A value inside an instruction, account or event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// An unsigned number.
    Unsigned(u128),
    /// A signed number.
    Signed(i128),
    /// A public key.
    Address(Address),
    /// A byte string.
    Bytes(Vec<u8>),
    /// A list of hashes.
    Hashes(Vec<[u8; 32]>),
}

impl Value {
    /// The number, if it is one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Unsigned(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The address, if it is one.
    pub fn as_address(&self) -> Option<Address> {
        match self {
            Self::Address(address) => Some(*address),
            _ => None,
        }
    }

    /// As JSON: numbers past 2^53 and all 128-bit ones as decimal strings, bytes as hex.
    pub fn to_json(&self) -> Json {
        const EXACT: u128 = 1 << 53;
        match self {
            Self::Unsigned(number) if *number <= EXACT => json!(u64::try_from(*number).unwrap_or_default()),
            Self::Unsigned(number) => json!(number.to_string()),
            Self::Signed(number) => match i64::try_from(*number) {
                Ok(small) if small.unsigned_abs() <= 1 << 53 => json!(small),
                _ => json!(number.to_string()),
            },
            Self::Hashes(hashes) => json!(hashes.iter().map(|hash| hex(hash)).collect::<Vec<_>>()),
            other => json!(other.to_string()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Signed(number) => write!(f, "{number}"),
            Self::Address(address) => write!(f, "{address}"),
            Self::Bytes(bytes) => f.write_str(&hex(bytes)),
            Self::Hashes(hashes) => write!(f, "{} hashes", hashes.len()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len().saturating_mul(2)), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A decoded instruction, account or event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The program, as its crate is called.
    pub program: &'static str,
    /// The instruction's, account's or event's name.
    pub name: &'static str,
    /// The fields in order.
    pub fields: Vec<(&'static str, Value)>,
    /// An instruction's account names, in order; empty for others.
    pub accounts: &'static [String],
    /// Bytes behind the fixed part of an account: a text or evidence.
    pub tail: Vec<u8>,
}

impl Decoded {
    /// A field by its name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The place of an account in an instruction, by its name.
    pub fn account(&self, name: &str) -> Option<usize> {
        self.accounts.iter().position(|known| known == name)
    }

    /// The fields as a JSON object.
    pub fn to_json(&self) -> Json {
        let fields = self.fields.iter().map(|(name, value)| ((*name).to_owned(), value.to_json()));
        Json::Object(fields.collect())
    }
}

#[derive(Debug)]
struct Item {
    name: String,
    discriminator: [u8; 8],
    fields: Vec<(String, Kind)>,
    accounts: Vec<String>,
}

#[derive(Debug)]
struct Program {
    id: Address,
    name: String,
    instructions: Vec<Item>,
    accounts: Vec<Item>,
    events: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Unsigned(usize),
    Signed(usize),
    Address,
    Array(usize),
    Bytes,
    Hashes,
}

fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    // The files are committed and a test reads them all: what cannot be read is left out.
    PROGRAMS.get_or_init(|| SOURCES.iter().filter_map(|text| program(text)).collect())
}

fn program(text: &str) -> Option<Program> {
    let idl: Json = serde_json::from_str(text).ok()?;
    let types = idl.get("types").and_then(Json::as_array).cloned().unwrap_or_default();
    let of_type = |name: &str| {
        let found = types.iter().find(|ty| ty.get("name").and_then(Json::as_str) == Some(name))?;
        fields(found.get("type")?.get("fields")?)
    };
    let list = |key: &str, read: &dyn Fn(&Json) -> Option<Item>| -> Option<Vec<Item>> {
        idl.get(key)
            .and_then(Json::as_array)
            .map_or(Some(Vec::new()), |items| items.iter().map(read).collect())
    };
    let typed = |item: &Json| {
        let name = item.get("name")?.as_str()?.to_owned();
        let fields = of_type(&name)?;
        Some(Item { discriminator: discriminator(item)?, fields, accounts: Vec::new(), name })
    };
    Some(Program {
        id: idl.get("address")?.as_str()?.parse().ok()?,
        name: idl.get("metadata")?.get("name")?.as_str()?.to_owned(),
        instructions: list("instructions", &|item| {
            let names = item.get("accounts")?.as_array()?.iter();
            Some(Item {
                name: item.get("name")?.as_str()?.to_owned(),
                discriminator: discriminator(item)?,
                fields: fields(item.get("args")?)?,
                accounts: names.map(|a| Some(a.get("name")?.as_str()?.to_owned())).collect::<Option<_>>()?,
            })
        })?,
        accounts: list("accounts", &typed)?,
        events: list("events", &typed)?,
    })
}

fn discriminator(item: &Json) -> Option<[u8; 8]> {
    let bytes = item.get("discriminator")?.as_array()?;
    let bytes: Vec<u8> = bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect::<Option<_>>()?;
    bytes.try_into().ok()
}

fn fields(list: &Json) -> Option<Vec<(String, Kind)>> {
    let read = |field: &Json| Some((field.get("name")?.as_str()?.to_owned(), kind(field.get("type")?)?));
    list.as_array()?.iter().map(read).collect()
}

fn kind(ty: &Json) -> Option<Kind> {
    if let Some(name) = ty.as_str() {
        return Some(match name {
            "u8" => Kind::Unsigned(1),
            "u16" => Kind::Unsigned(2),
            "u32" => Kind::Unsigned(4),
            "u64" => Kind::Unsigned(8),
            "i8" => Kind::Signed(1),
            "i64" => Kind::Signed(8),
            "i128" => Kind::Signed(16),
            "pubkey" => Kind::Address,
            "bytes" => Kind::Bytes,
            _ => return None,
        });
    }
    if let Some(array) = ty.get("array").and_then(Json::as_array) {
        return Some(Kind::Array(usize::try_from(array.get(1)?.as_u64()?).ok()?));
    }
    match ty.get("vec")?.as_str() {
        Some("u8") => Some(Kind::Bytes),
        _ => Some(Kind::Hashes),
    }
}

/// Little-endian bytes, at most 16, as a number.
fn number(bytes: &[u8]) -> Option<u128> {
    let mut wide = [0; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u128::from_le_bytes(wide))
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    Some(head)
}

fn counted<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let count = usize::try_from(number(take(rest, 4)?)?).ok()?;
    take(rest, count.checked_mul(size)?)
}

fn value(rest: &mut &[u8], kind: Kind) -> Option<Value> {
    Some(match kind {
        Kind::Unsigned(size) => Value::Unsigned(number(take(rest, size)?)?),
        Kind::Signed(size) => {
            let bytes = take(rest, size)?;
            let fill = if bytes.last()? & 0x80 == 0 { 0 } else { 0xff };
            let mut wide = [fill; 16];
            wide.get_mut(..size)?.copy_from_slice(bytes);
            Value::Signed(i128::from_le_bytes(wide))
        }
        Kind::Address => Value::Address(Address::new_from_array(take(rest, 32)?.try_into().ok()?)),
        Kind::Array(size) => Value::Bytes(take(rest, size)?.to_vec()),
        Kind::Bytes => Value::Bytes(counted(rest, 1)?.to_vec()),
        Kind::Hashes => {
            let hashes = counted(rest, 32)?.chunks_exact(32);
            Value::Hashes(hashes.map(|hash| hash.try_into().ok()).collect::<Option<_>>()?)
        }
    })
}

fn decode(
    program: &Address,
    data: &[u8],
    items: fn(&'static Program) -> &'static [Item],
    with_tail: bool,
) -> Option<Decoded> {
    let (discriminator, mut rest) = data.split_first_chunk::<8>()?;
    let program = programs().iter().find(|known| known.id == *program)?;
    let item = items(program).iter().find(|item| item.discriminator == *discriminator)?;
    let mut fields = Vec::with_capacity(item.fields.len());
    for (name, kind) in &item.fields {
        fields.push((name.as_str(), value(&mut rest, *kind)?));
    }
    (with_tail || rest.is_empty()).then(|| Decoded {
        program: &program.name,
        name: &item.name,
        fields,
        accounts: &item.accounts,
        tail: rest.to_vec(),
    })
}

/// An instruction of one of the five programs. None for anything else, also for trailing bytes.
pub fn instruction(program: &Address, data: &[u8]) -> Option<Decoded> {
    decode(program, data, |program| &program.instructions, false)
}

/// An account of one of the five programs.
pub fn account(owner: &Address, data: &[u8]) -> Option<Decoded> {
    decode(owner, data, |program| &program.accounts, true)
}

/// An event of one of the five programs; `payload` is what stands behind the tag.
pub fn event(program: &Address, payload: &[u8]) -> Option<Decoded> {
    decode(program, payload, |program| &program.events, false)
}

/// The names of one of the five programs' instructions.
pub fn instruction_names(program: &Address) -> Vec<&'static str> {
    let found = programs().iter().find(|known| known.id == *program);
    found.map_or_else(Vec::new, |program| program.instructions.iter().map(|i| i.name.as_str()).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use zx1_interface::accounts::LeaseAccount;
    use zx1_interface::instruction::{AnswerChallenge, Instruction, PayLease, SubmitFeedback};
    use zx1_interface::{Event, Layout, events::LeasePaid, ids};

    #[test]
    fn all_five_idls_are_read() {
        let counts: Vec<_> =
            programs().iter().map(|p| (p.instructions.len(), p.accounts.len(), p.events.len())).collect();
        assert_eq!(counts.len(), 5);
        assert_eq!(counts.iter().map(|(i, ..)| i).sum::<usize>(), 40);
        assert_eq!(counts.iter().map(|(_, a, _)| a).sum::<usize>(), 15);
        assert_eq!(counts.iter().map(|(.., e)| e).sum::<usize>(), 35);
    }

    #[test]
    fn an_instruction_is_decoded_by_name() {
        let data = PayLease { agent_id: [3; 32], epochs: 7 }.data();
        let program = Address::new_from_array(ids::LEASE);
        let found = instruction(&program, &data).unwrap();
        assert_eq!((found.program, found.name), ("zx1_lease", "pay_lease"));
        assert_eq!(found.field("epochs").and_then(Value::as_u64), Some(7));
        assert_eq!(found.account("treasury_usdc"), Some(8));
        assert_eq!(instruction(&program, &[data, vec![0]].concat()), None, "trailing bytes");
    }

    #[test]
    fn variable_and_signed_fields_are_decoded() {
        let data = AnswerChallenge {
            leaf_index: 1,
            merkle_proof: vec![[5; 32], [6; 32]],
            bid_value: -3,
            attestation: [0; 32],
        };
        let found = instruction(&Address::new_from_array(ids::CHALLENGE), &data.data()).unwrap();
        assert_eq!(found.field("merkle_proof"), Some(&Value::Hashes(vec![[5; 32], [6; 32]])));
        assert_eq!(found.field("bid_value"), Some(&Value::Signed(-3)));
        let data = SubmitFeedback { index: u64::MAX, text: b"hi".to_vec() };
        let found = instruction(&Address::new_from_array(ids::FEEDBACK_LOG), &data.data()).unwrap();
        assert_eq!(found.field("text"), Some(&Value::Bytes(b"hi".to_vec())));
        assert_eq!(found.to_json()["index"], json!(u64::MAX.to_string()));
    }

    #[test]
    fn accounts_and_events_are_decoded() {
        let mut bytes = vec![0; LeaseAccount::SIZE];
        bytes[..8].copy_from_slice(&LeaseAccount::DISCRIMINATOR);
        bytes[8] = 9;
        let program = Address::new_from_array(ids::LEASE);
        let found = account(&program, &bytes).unwrap();
        assert_eq!(found.field("paid_through_epoch").and_then(Value::as_u64), Some(9));
        let paid = LeasePaid {
            agent_id: [1; 32],
            epoch: 4,
            amount: 5,
            payer: [2; 32],
            kind: 0,
            sequence: 0,
            account_created_slot: 1,
        };
        let bytes = paid.to_bytes();
        let payload = super::super::events::payload(bytes.as_ref()).unwrap();
        assert_eq!(event(&program, payload).unwrap().name, "LeasePaid");
        assert_eq!(
            super::super::Event::read(&ids::LEASE, payload),
            Some(super::super::Event::LeasePaid(paid))
        );
        assert_eq!(super::super::Event::read(&ids::CHALLENGE, payload), None, "another program's word");
    }

    proptest! {
        #[test]
        fn hostile_data_never_panics(program in 0_usize..5, item in 0_usize..15, data in
            proptest::collection::vec(any::<u8>(), 0..200)) {
            let program = &programs()[program];
            let tagged = |items: &[Item]| match items.get(item % items.len().max(1)) {
                Some(item) => [&item.discriminator[..], &data].concat(),
                None => data.clone(),
            };
            let _ = instruction(&program.id, &tagged(&program.instructions));
            let _ = account(&program.id, &tagged(&program.accounts));
            let _ = event(&program.id, &tagged(&program.events));
        }
    }
}
