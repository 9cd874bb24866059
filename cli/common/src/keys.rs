//! The one key of a party (decision A1), in every usual form: Solana's JSON array of 64 numbers, 32 raw
//! bytes, 64 hexadecimal digits. Secrets are wiped when dropped and never shown.

use crate::errors::Fault;
use crate::{files, output};
use ed25519_dalek::SigningKey;
use std::io;
use std::path::Path;
use zeroize::Zeroizing;

/// A secret: the seed of an Ed25519 key.
pub type Seed = Zeroizing<[u8; 32]>;

/// Largest key file in bytes.
pub const MAX_KEY_FILE: u64 = 4_096;

/// How a key file writes its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON array of 64 numbers, as solana-keygen writes it.
    SolanaJson,
    /// 32 raw bytes: the seed.
    Raw,
    /// 64 hexadecimal digits.
    Hex,
    /// No key at all, only the address of one that is elsewhere.
    AddressOnly,
}

impl Form {
    /// Name of the form, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SolanaJson => "Solana keypair (JSON array of 64)",
            Self::Raw => "32 raw bytes",
            Self::Hex => "64 hexadecimal digits",
            Self::AddressOnly => "an address, without its key",
        }
    }
}

/// Reads a key file; warns when others can read it too.
///
/// # Errors
/// The variants of [`Fault`] that begin with `Key`, each with the path.
pub fn read(path: &Path) -> Result<(Seed, Form), Fault> {
    let shown = files::shown(path);
    if shown.starts_with("usb:") || shown.starts_with("prompt:") || shown == "ASK" {
        return Err(Fault::KeyNotAFile { path: shown });
    }
    if path.is_dir() {
        return Err(Fault::KeyIsFolder { path: shown });
    }
    let bytes = match files::read_limited(path, MAX_KEY_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(Fault::KeyMissing { path: shown }),
        Err(Fault::InputTooLarge { size, .. }) => {
            return Err(Fault::KeyUnknownForm { path: shown, found: size });
        }
        Err(fault) => return Err(fault),
    };
    let read = parse(&bytes, &shown)?;
    warn_if_readable(path);
    Ok(read)
}

/// A new secret.
///
/// # Errors
/// [`Fault::RandomFailed`].
pub fn random() -> Result<Seed, Fault> {
    let mut seed = Zeroizing::new([0u8; 32]);
    getrandom::fill(seed.as_mut()).map_err(|error| Fault::RandomFailed { why: error.to_string() })?;
    Ok(seed)
}

/// Writes a key in Solana's form, for this user only; never over another.
///
/// # Errors
/// [`Fault::Exists`], [`Fault::WriteFailed`].
pub fn write(seed: &Seed, path: &Path) -> Result<(), Fault> {
    files::create_private(path, solana_json(seed).as_bytes())
}

/// The public key of a secret.
pub fn public(seed: &Seed) -> [u8; 32] {
    SigningKey::from_bytes(seed).verifying_key().to_bytes()
}

/// Solana's form: 64 numbers, secret then public.
pub fn solana_json(seed: &Seed) -> Zeroizing<String> {
    use std::fmt::Write as _;
    // Room for all of it at once: a string that grows leaves copies behind.
    let mut text = Zeroizing::new(String::with_capacity(64 * 4 + 2));
    text.push('[');
    for (index, byte) in seed.iter().chain(&public(seed)).enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{byte}");
    }
    text.push(']');
    text
}

fn parse(bytes: &[u8], path: &str) -> Result<(Seed, Form), Fault> {
    if let Ok(secret) = <&[u8; 32]>::try_from(bytes) {
        return Ok((Zeroizing::new(*secret), Form::Raw));
    }
    let text = bytes.trim_ascii();
    if text.first() == Some(&b'[') {
        return parse_json(text, path).map(|seed| (seed, Form::SolanaJson));
    }
    let mut secret = Zeroizing::new([0u8; 32]);
    if text.len() == 64 && hex::decode_to_slice(text, secret.as_mut()).is_ok() {
        return Ok((secret, Form::Hex));
    }
    let found = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Err(Fault::KeyUnknownForm { path: path.to_owned(), found })
}

fn parse_json(text: &[u8], path: &str) -> Result<Seed, Fault> {
    let path = path.to_owned();
    let (numbers, found) = match parse_numbers(text) {
        Ok(read) => read,
        Err(why) => return Err(Fault::KeyNotJson { path, why }),
    };
    let Some(bytes) = <&[u8; 64]>::try_from(numbers.as_slice()).ok().filter(|_| found == 64) else {
        return Err(Fault::KeyWrongLength { path, found });
    };
    let (secret, half) = bytes.split_first_chunk::<32>().unwrap_or((&[0; 32], &[]));
    let seed = Zeroizing::new(*secret);
    if public(&seed) != half {
        return Err(Fault::KeyHalvesDiffer { path });
    }
    Ok(seed)
}

/// A JSON array of bytes: the first 64 and how many there are. Read here so that no general parser leaves
/// copies of a secret. The reason for a refusal names a place, never what stands there.
fn parse_numbers(text: &[u8]) -> Result<(Zeroizing<Vec<u8>>, usize), String> {
    let mut numbers = Zeroizing::new(Vec::with_capacity(64));
    let mut found = 0usize;
    let inner = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
    let inner = inner.ok_or("the closing bracket is missing")?;
    if inner.trim_ascii().is_empty() {
        return Ok((numbers, found));
    }
    for item in inner.split(|byte| *byte == b',') {
        found = found.saturating_add(1);
        let item = item.trim_ascii();
        let number = std::str::from_utf8(item).ok().filter(|_| item.iter().all(u8::is_ascii_digit));
        let number = number.and_then(|digits| digits.parse::<u8>().ok());
        let number = number.ok_or_else(|| format!("item {found} is no number from 0 to 255"))?;
        // More are counted, not kept: the buffer must not grow.
        if numbers.len() < 64 {
            numbers.push(number);
        }
    }
    Ok((numbers, found))
}

fn warn_if_readable(path: &Path) {
    if !is_private(path).unwrap_or(true) {
        let shown = files::shown(path);
        output::warn(&format!("others on this machine can read {shown}; run chmod 600 {shown}"));
    }
}

/// Whether only this user can read the file.
pub fn is_private(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(path.metadata()?.permissions().mode() & 0o077 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_give_the_same_key() {
        let seed = Zeroizing::new([7; 32]);
        let json = solana_json(&seed);
        let hex = hex::encode([7u8; 32]) + "\n";
        for (bytes, form) in
            [(json.as_bytes(), Form::SolanaJson), (&[7; 32][..], Form::Raw), (hex.as_bytes(), Form::Hex)]
        {
            assert_eq!(parse(bytes, "f").unwrap(), (seed.clone(), form));
        }
    }

    #[test]
    fn every_damage_has_its_own_refusal() {
        let json = solana_json(&Zeroizing::new([7; 32]));
        let fault = |bytes: &[u8]| parse(bytes, "f").unwrap_err();
        let other = json.replacen("[7,", "[8,", 1);
        assert!(matches!(fault(other.as_bytes()), Fault::KeyHalvesDiffer { .. }));
        for (bytes, length) in
            [(&b"[1,2,3]"[..], 3), (b"[]", 0), (json.replacen(']', ",1]", 1).as_bytes(), 65)]
        {
            assert!(matches!(fault(bytes), Fault::KeyWrongLength { found, .. } if found == length));
        }
        for bytes in [&b"[1,2"[..], b"[1,256]", b"[1,-1]", b"[\"a\"]"] {
            assert!(matches!(fault(bytes), Fault::KeyNotJson { .. }));
        }
        for bytes in [&b""[..], &[0; 33]] {
            assert!(matches!(fault(bytes), Fault::KeyUnknownForm { .. }));
        }
    }
}
