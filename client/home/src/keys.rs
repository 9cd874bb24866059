//! Key files: the seed of an Ed25519 key as Solana's JSON array of 64 numbers, as 32 raw bytes, or as 64
//! hexadecimal digits. Seeds are wiped when dropped, and no error repeats a byte of one.

use std::io;
use std::path::Path;

use ed25519_dalek::SigningKey;
use zeroize::Zeroizing;

use crate::files::{self, ReadError};

/// The secret half of an Ed25519 key.
pub type Seed = Zeroizing<[u8; 32]>;

/// Largest key file in bytes.
pub const MAX_KEY_FILE: u64 = 4_096;

/// How a key file writes its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON array of 64 numbers, secret then public, as solana-keygen writes it.
    SolanaJson,
    /// 32 raw bytes: the seed.
    Raw,
    /// 64 hexadecimal digits.
    Hex,
}

impl Form {
    /// Name of the form, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SolanaJson => "Solana keypair (JSON array of 64)",
            Self::Raw => "32 raw bytes",
            Self::Hex => "64 hexadecimal digits",
        }
    }
}

/// Why bytes are not a key. The messages have no subject: "key.json: …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Begins like a JSON array and is none of bytes.
    #[error("not a JSON array of bytes: {why}")]
    NotJson {
        /// The place, never what stands there.
        why: String,
    },
    /// A JSON array of another length than 64.
    #[error("expected 64 numbers, found {found}")]
    WrongLength {
        /// Length of the file in bytes.
        found: usize,
    },
    /// The second half is not the public key of the first.
    #[error("the public half does not belong to the secret half")]
    HalvesDiffer,
    /// None of the three forms.
    #[error("expected a JSON array of 64 numbers, 32 bytes or 64 hexadecimal digits, found {found} bytes")]
    UnknownForm {
        /// The file's size in bytes.
        found: u64,
    },
}

/// Why a key file was not read.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// It is a folder.
    #[error("it is a folder")]
    Folder,
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It holds no key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// A key as its file has it.
#[derive(Debug)]
pub struct KeyFile {
    /// The key's secret seed.
    pub seed: Seed,
    /// How the file writes it.
    pub form: Form,
    /// Whether only its owner can read the file.
    pub private: bool,
}

/// Reads a key file.
///
/// # Errors
/// [`KeyFileError`], without the path.
pub fn read(path: &Path) -> Result<KeyFile, KeyFileError> {
    if path.is_dir() {
        return Err(KeyFileError::Folder);
    }
    let bytes = match files::read(path, MAX_KEY_FILE) {
        Ok(bytes) => bytes.ok_or(KeyFileError::Missing)?,
        Err(ReadError::TooLarge { size, .. }) => return Err(KeyError::UnknownForm { found: size }.into()),
        Err(ReadError::Io(error)) => return Err(error.into()),
    };
    let (seed, form) = parse(&bytes)?;
    Ok(KeyFile { seed, form, private: is_private(path)? })
}

/// Whether only its owner can read a file.
///
/// # Errors
/// The system's.
pub fn is_private(path: &Path) -> io::Result<bool> {
    let metadata = path.metadata()?;
    #[cfg(unix)]
    return Ok(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 == 0);
    #[cfg(not(unix))]
    return Ok(metadata.is_file());
}

/// A new secret from the system's random numbers.
///
/// # Errors
/// The system's, which are rare.
pub fn random() -> io::Result<Seed> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(seed.as_mut()).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(seed)
}

/// Writes a new key file for its owner only, and makes its folder where it is missing.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when the path is taken: no key is ever overwritten. The system's.
pub fn create(path: &Path, seed: &Seed, form: Form) -> io::Result<()> {
    files::make_folder(files::folder_of(path))?;
    match form {
        Form::SolanaJson => files::create(path, solana_json(seed).as_bytes()),
        Form::Raw => files::create(path, seed.as_ref()),
        Form::Hex => files::create(path, Zeroizing::new(hex::encode(seed.as_ref())).as_bytes()),
    }
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

/// Parses the content of a key file. Spaces and line breaks around text are ignored.
///
/// # Errors
/// [`KeyError`].
pub fn parse(bytes: &[u8]) -> Result<(Seed, Form), KeyError> {
    let text = bytes.trim_ascii();
    // An array that was cut to 32 characters is not a raw key.
    let is_json =
        |text: &[u8]| text.iter().all(|byte| b"0123456789[],".contains(byte) || byte.is_ascii_whitespace());
    if text.first() == Some(&b'[') && (bytes.len() != 32 || is_json(text)) {
        return parse_json(text).map(|seed| (seed, Form::SolanaJson));
    }
    if let Ok(secret) = <&[u8; 32]>::try_from(bytes) {
        return Ok((Zeroizing::new(*secret), Form::Raw));
    }
    let mut secret = Zeroizing::new([0; 32]);
    if text.len() == 64 && hex::decode_to_slice(text, secret.as_mut()).is_ok() {
        return Ok((secret, Form::Hex));
    }
    Err(KeyError::UnknownForm { found: u64::try_from(bytes.len()).unwrap_or(u64::MAX) })
}

fn parse_json(text: &[u8]) -> Result<Seed, KeyError> {
    let (numbers, found) = parse_numbers(text).map_err(|why| KeyError::NotJson { why })?;
    let Some(bytes) = <&[u8; 64]>::try_from(numbers.as_slice()).ok().filter(|_| found == 64) else {
        return Err(KeyError::WrongLength { found });
    };
    let (secret, half) = bytes.split_first_chunk::<32>().unwrap_or((&[0; 32], &[]));
    let seed = Zeroizing::new(*secret);
    if public(&seed) != half {
        return Err(KeyError::HalvesDiffer);
    }
    Ok(seed)
}

/// A JSON array of bytes: the first 64 and how many there are. Read here so that no general parser leaves
/// copies of a secret.
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
        let number = number.ok_or_else(|| format!("item {found} is not a number from 0 to 255"))?;
        // More are counted, not kept: the buffer must not grow.
        if numbers.len() < 64 {
            numbers.push(number);
        }
    }
    Ok((numbers, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_give_the_same_key() {
        let seed = Zeroizing::new([7; 32]);
        let json = solana_json(&seed);
        let spaced = format!(" {} \n", json.replace(',', " , "));
        let hex = hex::encode([7u8; 32]) + "\n";
        for (bytes, form) in [
            (json.as_bytes(), Form::SolanaJson),
            (spaced.as_bytes(), Form::SolanaJson),
            (&[7; 32][..], Form::Raw),
            (hex.as_bytes(), Form::Hex),
        ] {
            assert_eq!(parse(bytes).unwrap(), (seed.clone(), form));
        }
        // A raw key may begin with a bracket.
        let mut raw = [200; 32];
        raw[0] = b'[';
        assert_eq!(parse(&raw).unwrap(), (Zeroizing::new(raw), Form::Raw));
    }

    #[test]
    fn every_damage_has_its_own_refusal() {
        let json = solana_json(&Zeroizing::new([7; 32]));
        let refusal = |bytes: &[u8]| parse(bytes).unwrap_err();
        for (from, to) in [("[7,", "[8,"), (",7,", ",9,")] {
            assert_eq!(refusal(json.replacen(from, to, 1).as_bytes()), KeyError::HalvesDiffer);
        }
        let last = json.rsplit_once(',').unwrap().0.to_owned() + ",0]";
        assert_eq!(refusal(last.as_bytes()), KeyError::HalvesDiffer);
        for (bytes, length) in
            [(&b"[1,2,3]"[..], 3), (b"[]", 0), (json.replacen(']', ",1]", 1).as_bytes(), 65)]
        {
            assert_eq!(refusal(bytes), KeyError::WrongLength { found: length });
        }
        for bytes in [&b"[1,2"[..], b"[1,256]", b"[1,-1]", b"[\"a\"]", b"[1,,2]", b"[+1]"] {
            assert!(matches!(refusal(bytes), KeyError::NotJson { .. }));
        }
        // Cut after exactly 32 characters, an array would pass as a raw key.
        let cut = json.get(..32).unwrap();
        assert!(matches!(refusal(cut.as_bytes()), KeyError::NotJson { .. }));
        for bytes in [&b""[..], &[0; 33], &[b'g'; 64], &[b'a'; 63]] {
            assert!(matches!(refusal(bytes), KeyError::UnknownForm { .. }));
        }
    }

    #[test]
    fn no_refusal_repeats_a_byte_of_the_secret() {
        let json = solana_json(&Zeroizing::new([211; 32])).replacen("211,", "2110,", 3);
        let refusal = parse(json.as_bytes()).unwrap_err().to_string();
        assert!(!refusal.contains("211"), "{refusal}");
    }
}
