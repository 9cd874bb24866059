//! Payloads on whose content the nodes of this project agree: ADVERTISE, DISCOVER, a notary's offer, VERDICT
//! and DISPUTE (wire.md, "Mesh payloads").
//!
//! Each is the format hint [`HINT`], then one CBOR map with text keys. The map has exactly the keys of its type
//! in canonical order (shorter keys first, equally long ones by their bytes), so that a payload has one
//! encoding. The protocol does not ask for these payloads: whatever does not parse here is another agent's own
//! format, valid and opaque.
//!
//! Texts come from strangers. Whoever prints one escapes control characters.

use crate::canonical::{Canonical, CborReader};
use crate::error::sentences;
use crate::hash::Hash;
use crate::payload::FORMAT_HINT_LEN;
use minicbor::encode::{Encoder, Error, Write};

/// The format hint in front of the map.
pub const HINT: &[u8; FORMAT_HINT_LEN] = b"CBOR";
/// Maximum number of capabilities in an ADVERTISE or a DISCOVER; there is at least one.
pub const MAX_CAPS: usize = 16;
/// Longest capability, in bytes of UTF-8; the shortest has one.
pub const MAX_CAP_LEN: usize = 64;
/// Longest name of a payload schema, in bytes of UTF-8; it may be empty.
pub const MAX_SCHEMA_LEN: usize = 256;
/// Longest name of a unit, in bytes of UTF-8; the shortest has one.
pub const MAX_UNIT_LEN: usize = 32;
/// Longest reference to a contract, in bytes of UTF-8; the shortest has one.
pub const MAX_CONTRACT_LEN: usize = 256;
/// Longest reason of a VERDICT or a DISPUTE, in bytes of UTF-8; it may be empty.
pub const MAX_REASON_LEN: usize = 1_024;
/// The largest outcome of a VERDICT: 0 negative, 1 neutral, 2 positive.
pub const MAX_VERDICT_OUTCOME: u8 = crate::payload::MAX_OUTCOME;

/// Why bytes are not such a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshPayloadError {
    /// The first four bytes are not the format hint.
    Hint,
    /// What follows is not a map with the keys of the type, in their order and with values of their kinds.
    Malformed,
    /// The bytes are not the one encoding of what they mean, or something follows them.
    NotCanonical,
    /// A list of capabilities is empty or has more than [`MAX_CAPS`].
    Count,
    /// A text is longer than its bound, or empty where it must not be.
    TextLength,
    /// An amount below zero.
    Amount,
    /// An outcome above 2.
    Outcome,
    /// An offer to judge within no time.
    Seconds,
}

sentences!(MeshPayloadError {
    Self::Hint => "The payload does not begin with the format hint of its type.";
    Self::Malformed => "The payload does not have the fields of its type.";
    Self::NotCanonical => "The payload is not in its canonical encoding.";
    Self::Count => "A list of capabilities has from 1 to {MAX_CAPS} of them.";
    Self::TextLength => "A text in the payload is longer than its bound, or is empty.";
    Self::Amount => "An amount is not negative.";
    Self::Outcome => "An outcome is 0, 1 or 2.";
    Self::Seconds => "The time to judge has at least one second.";
});

type Result<T> = core::result::Result<T, MeshPayloadError>;

/// A payload that is the hint and a map.
trait Map<'a>: Canonical + Sized {
    /// Takes the map's items; `None` for other ones.
    fn read(cbor: &mut CborReader<'a>) -> Option<Self>;

    /// Whether every field is in its range.
    fn check(&self) -> Result<()>;

    fn from_payload(payload: &'a [u8]) -> Result<Self> {
        let map = payload.strip_prefix(HINT).ok_or(MeshPayloadError::Hint)?;
        let mut cbor = CborReader::new(map);
        let found = Self::read(&mut cbor).ok_or(MeshPayloadError::Malformed)?;
        if !cbor.is_canonical() {
            return Err(MeshPayloadError::NotCanonical);
        }
        found.check()?;
        Ok(found)
    }

    fn payload(&self) -> Result<Vec<u8>> {
        self.check()?;
        Ok([HINT.as_slice(), &self.encode_to_vec()].concat())
    }
}

/// The two directions of a [`Map`], as methods that callers find without the trait.
macro_rules! payload {
    ($name:ident) => {
        impl<'a> $name<'a> {
            /// Reads the payload: hint, map, ranges.
            pub fn decode(payload: &'a [u8]) -> Result<Self> {
                Self::from_payload(payload)
            }

            /// The payload; refuses what [`Self::decode`] would refuse.
            pub fn to_payload(&self) -> Result<Vec<u8>> {
                self.payload()
            }
        }
    };
}

/// ADVERTISE: what the sender offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertise<'a> {
    /// What the sender can do, in words that DISCOVER asks for.
    pub caps: Vec<&'a str>,
    /// Name of the payload schema that the sender's other messages use; may be empty.
    pub schema: &'a str,
    /// In what the price is counted, such as `raw`.
    pub unit: &'a str,
    /// Usual price in that unit, not negative. It has the range of a bid value.
    pub price: i128,
    /// The contract that is offered, `https://host#<16 hex>`, when it is one of a market.
    pub contract: Option<&'a str>,
    /// Seconds from the timestamp for which the offer stands. Whoever keeps it sets a bound of its own.
    pub ttl: u32,
}

/// DISCOVER: what the sender looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discover<'a> {
    /// Capabilities; an agent fits that has all of them.
    pub want: Vec<&'a str>,
    /// Maximum number of agents that should answer.
    pub max: u32,
}

/// A notary's terms, behind the 17 fixed bytes of NOTARIZE_BID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer<'a> {
    /// What the notary asks for, not negative.
    pub fee: i128,
    /// In what the fee is counted.
    pub unit: &'a str,
    /// Within how many seconds of NOTARIZE_ASSIGN it sends its VERDICT; at least one.
    pub seconds: u32,
}

/// VERDICT: the notary's judgement of one DELIVER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// 0 negative, 1 neutral, 2 positive.
    pub outcome: u8,
    /// payload_hash of the DELIVER that was judged.
    pub deliver: Hash,
    /// Why, in words.
    pub reason: &'a str,
}

/// DISPUTE: the sender contests a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispute<'a> {
    /// keccak256 of the VERDICT's whole envelope, as its CBOR travelled.
    pub verdict: Hash,
    /// Why, in words.
    pub reason: &'a str,
}

payload!(Advertise);
payload!(Discover);
payload!(Offer);
payload!(Verdict);
payload!(Dispute);

impl<'a> Map<'a> for Advertise<'a> {
    fn read(cbor: &mut CborReader<'a>) -> Option<Self> {
        let keys = cbor.map()?;
        cbor.key("ttl")?;
        let ttl = cbor.u32()?;
        cbor.key("caps")?;
        let caps = texts(cbor)?;
        cbor.key("unit")?;
        let unit = cbor.text()?;
        cbor.key("price")?;
        let price = amount(cbor)?;
        cbor.key("schema")?;
        let schema = cbor.text()?;
        let contract = match keys {
            5 => None,
            6 => {
                cbor.key("contract")?;
                Some(cbor.text()?)
            }
            _ => return None,
        };
        Some(Self { caps, schema, unit, price, contract, ttl })
    }

    fn check(&self) -> Result<()> {
        check_caps(&self.caps)?;
        check_text(self.schema, 0, MAX_SCHEMA_LEN)?;
        check_text(self.unit, 1, MAX_UNIT_LEN)?;
        check_amount(self.price)?;
        self.contract.map_or(Ok(()), |contract| check_text(contract, 1, MAX_CONTRACT_LEN))
    }
}

impl Canonical for Advertise<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> core::result::Result<(), Error<W::Error>> {
        encoder.map(if self.contract.is_some() { 6 } else { 5 })?;
        encoder.str("ttl")?.u32(self.ttl)?.str("caps")?;
        write_texts(encoder, &self.caps)?;
        encoder.str("unit")?.str(self.unit)?;
        encoder.str("price")?.bytes(&self.price.to_be_bytes())?;
        encoder.str("schema")?.str(self.schema)?;
        if let Some(contract) = self.contract {
            encoder.str("contract")?.str(contract)?;
        }
        Ok(())
    }
}

impl<'a> Map<'a> for Discover<'a> {
    fn read(cbor: &mut CborReader<'a>) -> Option<Self> {
        map_of(cbor, 2)?;
        cbor.key("max")?;
        let max = cbor.u32()?;
        cbor.key("want")?;
        Some(Self { want: texts(cbor)?, max })
    }

    fn check(&self) -> Result<()> {
        check_caps(&self.want)
    }
}

impl Canonical for Discover<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> core::result::Result<(), Error<W::Error>> {
        encoder.map(2)?.str("max")?.u32(self.max)?.str("want")?;
        write_texts(encoder, &self.want)
    }
}

impl<'a> Map<'a> for Offer<'a> {
    fn read(cbor: &mut CborReader<'a>) -> Option<Self> {
        map_of(cbor, 3)?;
        cbor.key("fee")?;
        let fee = amount(cbor)?;
        cbor.key("unit")?;
        let unit = cbor.text()?;
        cbor.key("seconds")?;
        Some(Self { fee, unit, seconds: cbor.u32()? })
    }

    fn check(&self) -> Result<()> {
        check_amount(self.fee)?;
        check_text(self.unit, 1, MAX_UNIT_LEN)?;
        if self.seconds == 0 { Err(MeshPayloadError::Seconds) } else { Ok(()) }
    }
}

impl Canonical for Offer<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> core::result::Result<(), Error<W::Error>> {
        encoder.map(3)?.str("fee")?.bytes(&self.fee.to_be_bytes())?;
        encoder.str("unit")?.str(self.unit)?.str("seconds")?.u32(self.seconds)?;
        Ok(())
    }
}

impl<'a> Map<'a> for Verdict<'a> {
    fn read(cbor: &mut CborReader<'a>) -> Option<Self> {
        map_of(cbor, 3)?;
        cbor.key("reason")?;
        let reason = cbor.text()?;
        cbor.key("deliver")?;
        let deliver = *cbor.byte_array()?;
        cbor.key("outcome")?;
        Some(Self { outcome: cbor.u8()?, deliver, reason })
    }

    fn check(&self) -> Result<()> {
        check_text(self.reason, 0, MAX_REASON_LEN)?;
        if self.outcome > MAX_VERDICT_OUTCOME { Err(MeshPayloadError::Outcome) } else { Ok(()) }
    }
}

impl Canonical for Verdict<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> core::result::Result<(), Error<W::Error>> {
        encoder.map(3)?.str("reason")?.str(self.reason)?;
        encoder.str("deliver")?.bytes(&self.deliver)?.str("outcome")?.u8(self.outcome)?;
        Ok(())
    }
}

impl<'a> Map<'a> for Dispute<'a> {
    fn read(cbor: &mut CborReader<'a>) -> Option<Self> {
        map_of(cbor, 2)?;
        cbor.key("reason")?;
        let reason = cbor.text()?;
        cbor.key("verdict")?;
        Some(Self { verdict: *cbor.byte_array()?, reason })
    }

    fn check(&self) -> Result<()> {
        check_text(self.reason, 0, MAX_REASON_LEN)
    }
}

impl Canonical for Dispute<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> core::result::Result<(), Error<W::Error>> {
        encoder.map(2)?.str("reason")?.str(self.reason)?.str("verdict")?.bytes(&self.verdict)?;
        Ok(())
    }
}

fn map_of(cbor: &mut CborReader<'_>, keys: u64) -> Option<()> {
    (cbor.map()? == keys).then_some(())
}

/// An amount: 16 bytes, big-endian, as in a batch.
fn amount(cbor: &mut CborReader<'_>) -> Option<i128> {
    cbor.byte_array().map(|bytes| i128::from_be_bytes(*bytes))
}

/// A list of texts. Its length is read from the bytes, so nothing is reserved for it.
fn texts<'a>(cbor: &mut CborReader<'a>) -> Option<Vec<&'a str>> {
    let count = cbor.array()?;
    (0..count).map(|_| cbor.text()).collect()
}

fn write_texts<W: Write>(
    encoder: &mut Encoder<W>,
    texts: &[&str],
) -> core::result::Result<(), Error<W::Error>> {
    // A longer list than a u64 can count does not exist.
    encoder.array(u64::try_from(texts.len()).unwrap_or(u64::MAX))?;
    for text in texts {
        encoder.str(text)?;
    }
    Ok(())
}

fn check_caps(caps: &[&str]) -> Result<()> {
    if !(1..=MAX_CAPS).contains(&caps.len()) {
        return Err(MeshPayloadError::Count);
    }
    caps.iter().try_for_each(|cap| check_text(cap, 1, MAX_CAP_LEN))
}

fn check_text(text: &str, min: usize, max: usize) -> Result<()> {
    if (min..=max).contains(&text.len()) { Ok(()) } else { Err(MeshPayloadError::TextLength) }
}

fn check_amount(amount: i128) -> Result<()> {
    if amount < 0 { Err(MeshPayloadError::Amount) } else { Ok(()) }
}
