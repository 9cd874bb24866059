//! Where a transcript stands, for whoever adds the next entry.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::digits::lower_hex;

/// `prev_hash` of seq 0: SHA-256 of nothing.
pub const GENESIS: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// Where a chain stands: what the next entry must carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head {
    /// The `seq` of the next entry, which is the number of entries so far.
    pub seq: u64,
    /// The `prev_hash` of the next entry: the chain hash of the last one.
    pub hash: [u8; 32],
}

impl Head {
    /// Of a chain without entries.
    pub const GENESIS: Head = Head { seq: 0, hash: GENESIS };

    /// The hash as 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        hex::encode(self.hash)
    }
}

impl Serialize for Head {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        (self.seq, self.hex()).serialize(s)
    }
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(d: D) -> std::result::Result<Head, D::Error> {
        let (seq, hash) = <(u64, String)>::deserialize(d)?;
        let hash =
            lower_hex(&hash).ok_or_else(|| de::Error::custom("a chain head is 64 hexadecimal digits"))?;
        Ok(Head { seq, hash })
    }
}
