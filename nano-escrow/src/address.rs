//! Addresses: `nano_`, 52 characters of key, 8 of checksum.

use std::fmt;
use std::str::FromStr;

use blake2::Blake2b;
use blake2::digest::Digest;
use blake2::digest::consts::U5;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zx1_coded::Coded;

use crate::{Keypair, PrivateKey, PublicKey, Raw};

/// Why a text is not an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum AddressError {
    /// The prefix is not `nano_` or `xrb_`.
    #[code(8020)]
    #[error("the address does not begin with nano_ or xrb_")]
    Prefix,
    /// Not 60 characters after the prefix.
    #[code(8021)]
    #[error("the address has {0} characters after its prefix instead of 60")]
    Length(usize),
    /// A character outside the alphabet.
    #[code(8022)]
    #[error("the address has a character that addresses do not have, at place {0}")]
    Character(usize),
    /// First character after the prefix neither 1 nor 3.
    #[code(8023)]
    #[error("the first character after the prefix is neither 1 nor 3")]
    Overflow,
    /// The checksum does not match the key.
    #[code(8024)]
    #[error("the address's checksum does not match: it was mistyped or changed")]
    Checksum,
}

const ALPHABET: &[u8; 32] = b"13456789abcdefghijkmnopqrstuwxyz";
const NONE: u8 = 0xff;
const VALUES: [u8; 256] = {
    let mut table = [NONE; 256];
    let mut i = 0;
    while i < 32 {
        table[ALPHABET[i] as usize] = i as u8;
        i += 1;
    }
    table
};

/// The address of an account: another way to write a [`PublicKey`]. Prints with `nano_`. Reads `nano_` and
/// the old `xrb_`; the forms with a hyphen that some nodes take, and `node_`, are refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(PublicKey);

impl Address {
    /// The burn account.
    pub const BURN: Address = Address(PublicKey::BURN);

    /// The key that it stands for.
    pub const fn public_key(&self) -> PublicKey {
        self.0
    }

    /// Whether money sent there is gone for ever.
    pub fn is_burn(&self) -> bool {
        self.0.is_burn()
    }

    /// The payment link that wallets read: `nano:nano_...?amount=RAW`.
    pub fn uri(&self, amount: Option<Raw>) -> String {
        match amount {
            Some(amount) => format!("nano:{self}?amount={amount}"),
            None => format!("nano:{self}"),
        }
    }
}

impl PublicKey {
    /// The address of the account with this key.
    pub fn address(&self) -> Address {
        Address(*self)
    }
}

impl PrivateKey {
    /// The address of the account with this key.
    pub fn address(&self) -> Address {
        self.public_key().address()
    }
}

impl Keypair {
    /// The address of the account with this key.
    pub fn address(&self) -> Address {
        self.public_key().address()
    }
}

fn checksum(key: &PublicKey) -> [u8; 5] {
    let mut sum: [u8; 5] = Blake2b::<U5>::digest(key.0).into();
    sum.reverse();
    sum
}

impl From<PublicKey> for Address {
    fn from(key: PublicKey) -> Self {
        Address(key)
    }
}

impl From<Address> for PublicKey {
    fn from(address: Address) -> Self {
        address.0
    }
}

/// Five bits a character, the last character holding the lowest bits; bits beyond the bytes are zero.
fn encode(bytes: &[u8], out: &mut [u8]) {
    let (mut buffer, mut bits) = (0_u32, 0);
    let mut source = bytes.iter().rev();
    for place in out.iter_mut().rev() {
        if bits < 5 {
            buffer |= u32::from(source.next().copied().unwrap_or(0)) << bits;
            bits += 8;
        }
        *place = ALPHABET[(buffer & 31) as usize];
        buffer >>= 5;
        bits -= 5;
    }
}

/// The reverse of [`encode`]. Bits beyond the bytes are returned.
fn decode(values: &[u8], out: &mut [u8]) -> u32 {
    let (mut buffer, mut bits) = (0_u32, 0);
    let mut places = out.iter_mut().rev();
    for value in values.iter().rev() {
        buffer |= u32::from(*value) << bits;
        bits += 5;
        if bits >= 8
            && let Some(place) = places.next()
        {
            *place = (buffer & 0xff) as u8;
            buffer >>= 8;
            bits -= 8;
        }
    }
    buffer
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = *b"nano_000000000000000000000000000000000000000000000000000000000000";
        encode(&self.0.0, &mut text[5..57]);
        encode(&checksum(&self.0), &mut text[57..]);
        f.pad(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let body =
            text.strip_prefix("nano_").or_else(|| text.strip_prefix("xrb_")).ok_or(AddressError::Prefix)?;
        let length = body.chars().count();
        if length != 60 {
            return Err(AddressError::Length(length));
        }
        let mut values = [0; 60];
        for (i, (value, c)) in values.iter_mut().zip(body.chars()).enumerate() {
            *value = u8::try_from(c).map_or(NONE, |byte| VALUES[usize::from(byte)]);
            if *value == NONE {
                // Counted from 1, from the beginning of the whole address.
                return Err(AddressError::Character(text.len() - body.len() + i + 1));
            }
        }
        let mut key = PublicKey::default();
        if decode(&values[..52], &mut key.0) != 0 {
            return Err(AddressError::Overflow);
        }
        let mut sum = [0; 5];
        decode(&values[52..], &mut sum);
        if sum != checksum(&key) {
            return Err(AddressError::Checksum);
        }
        Ok(Address(key))
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}
