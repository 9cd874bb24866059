//! The one key of a party (decision A1), in every usual form: Solana's JSON array of 64 numbers, 32 raw
//! bytes, 64 hexadecimal digits. Secrets are wiped when dropped and never shown.

mod backup;
mod passphrase;

pub use backup::{Restored, Summary, restore, save};
pub use passphrase::{Passphrase, Purpose};

use crate::defaults;
use crate::errors::{Error, Result, reason};
use crate::files;
use crate::output;
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer as _;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// How a key file writes its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON array of 64 numbers, as solana-keygen writes it.
    SolanaJson,
    /// 32 bytes.
    Raw,
    /// 64 hexadecimal digits.
    Hex,
    /// No key at all, only the address of one that is elsewhere.
    AddressOnly,
}

impl Form {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::SolanaJson => "Solana keypair (JSON array of 64)",
            Self::Raw => "32 raw bytes",
            Self::Hex => "64 hexadecimal digits",
            Self::AddressOnly => "an address, without its key",
        }
    }
}

/// A key and where it came from.
pub struct Key {
    address: Address,
    keypair: Keypair,
    path: PathBuf,
    form: Form,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("address", &self.address()).field("path", &self.path).finish()
    }
}

impl Key {
    /// Reads a key file; warns when others can read it too.
    ///
    /// # Errors
    /// 7410 to 7417, each with the path.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = files::shown(path);
        if shown.starts_with("usb:") || shown.starts_with("prompt:") || shown == "ASK" {
            return Err(Error::KeyNotAFile { path: shown }.into());
        }
        if path.is_dir() {
            return Err(Error::KeyIsFolder { path: shown }.into());
        }
        let bytes = match files::read_limited(path, defaults::MAX_KEY_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(Error::KeyMissing { path: shown }.into()),
            Err(failure) if failure.code == 7452 => {
                let found = path.metadata().map_or(0, |metadata| metadata.len());
                return Err(Error::KeyUnknownForm { path: shown, found }.into());
            }
            Err(failure) => return Err(failure),
        };
        let (keypair, form) = parse(&bytes, &shown)?;
        warn_if_readable(path);
        Ok(Self { address: keypair.pubkey(), keypair, path: path.to_owned(), form })
    }

    /// An address whose key is elsewhere, for transactions that are made here and signed there. The key in
    /// hand is one of no wallet, so it signs nothing.
    pub fn elsewhere(address: Address) -> Self {
        Self { address, keypair: Keypair::new(), path: PathBuf::new(), form: Form::AddressOnly }
    }

    /// Makes a new key and writes it; never over another.
    ///
    /// # Errors
    /// 7416 when the file is there, 7422 when the system has no random bytes.
    pub fn create(path: &Path) -> Result<Self> {
        let mut secret = Zeroizing::new([0u8; 32]);
        getrandom::fill(secret.as_mut()).map_err(|error| Error::RandomFailed { why: error.to_string() })?;
        Self::write(Keypair::new_from_array(*secret), path)
    }

    /// Writes a key that was read elsewhere, in Solana's form; never over another.
    pub fn copy_to(&self, path: &Path) -> Result<Self> {
        Self::write(Keypair::new_from_array(*self.keypair.secret_bytes()), path)
    }

    fn write(keypair: Keypair, path: &Path) -> Result<Self> {
        let taken = Error::KeyExists { path: files::shown(path) };
        files::create_private(path, solana_json(&keypair).as_bytes(), taken)?;
        Ok(Self { address: keypair.pubkey(), keypair, path: path.to_owned(), form: Form::SolanaJson })
    }

    /// The signer.
    pub fn keypair(&self) -> &Keypair {
        &self.keypair
    }

    /// The wallet's address: the public key.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the file writes it.
    pub fn form(&self) -> Form {
        self.form
    }
}

/// libp2p's name of an Ed25519 key: base58 of an identity multihash of its protobuf form.
pub fn peer_id(public: &[u8; 32]) -> String {
    // identity, 36 bytes; key type 1 (Ed25519); data, 32 bytes.
    bs58::encode([&[0x00, 0x24, 0x08, 0x01, 0x12, 0x20], public.as_slice()].concat()).into_string()
}

/// The fix market's name of a key (decision A1).
pub fn fix_id(public: &[u8; 32]) -> String {
    format!("fix_{}", hex::encode(public))
}

/// Solana's form: 64 numbers, secret then public.
fn solana_json(keypair: &Keypair) -> Zeroizing<String> {
    use std::fmt::Write as _;
    let bytes = Zeroizing::new(keypair.to_bytes());
    // Room for all of it at once: a string that grows leaves copies behind.
    let mut text = Zeroizing::new(String::with_capacity(64 * 4 + 2));
    text.push('[');
    for (index, byte) in bytes.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{byte}");
    }
    text.push(']');
    text
}

fn parse(bytes: &[u8], path: &str) -> Result<(Keypair, Form)> {
    if let Ok(secret) = <&[u8; 32]>::try_from(bytes) {
        return Ok((Keypair::new_from_array(*secret), Form::Raw));
    }
    let text = bytes.trim_ascii();
    if text.first() == Some(&b'[') {
        return parse_json(text, path).map(|keypair| (keypair, Form::SolanaJson));
    }
    let mut secret = Zeroizing::new([0u8; 32]);
    if text.len() == 64 && hex::decode_to_slice(text, secret.as_mut()).is_ok() {
        return Ok((Keypair::new_from_array(*secret), Form::Hex));
    }
    let found = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Err(Error::KeyUnknownForm { path: path.to_owned(), found }.into())
}

fn parse_json(text: &[u8], path: &str) -> Result<Keypair> {
    let path = path.to_owned();
    let (numbers, found) = match parse_numbers(text) {
        Ok(read) => read,
        Err(why) => return Err(Error::KeyNotJson { path, why }.into()),
    };
    let Some(bytes) = <&[u8; 64]>::try_from(numbers.as_slice()).ok().filter(|_| found == 64) else {
        return Err(Error::KeyWrongLength { path, found }.into());
    };
    let (secret, public) = bytes.split_first_chunk::<32>().unwrap_or((&[0; 32], &[]));
    let keypair = Keypair::new_from_array(*secret);
    if keypair.pubkey().as_ref() != public {
        return Err(Error::KeyHalvesDiffer { path }.into());
    }
    Ok(keypair)
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
    use std::os::unix::fs::PermissionsExt as _;
    if path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0) {
        let shown = files::shown(path);
        output::warn(&format!("others on this machine can read {shown}; run chmod 600 {shown}"));
    }
}

/// Whether only this user can read the file.
pub fn is_private(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(path.metadata()?.permissions().mode() & 0o077 == 0)
}

/// The reason of a failed read, for messages of this module's children.
fn why(error: &io::Error) -> String {
    reason(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> Option<u32> {
        parse(bytes, "f").err().map(|failure| failure.code)
    }

    #[test]
    fn all_three_forms_give_the_same_key() {
        let keypair = Keypair::new_from_array([7; 32]);
        let json = solana_json(&keypair);
        let hex = hex::encode([7u8; 32]) + "\n";
        for (bytes, form) in
            [(json.as_bytes(), Form::SolanaJson), (&[7; 32][..], Form::Raw), (hex.as_bytes(), Form::Hex)]
        {
            let (parsed, found) = parse(bytes, "f").unwrap();
            assert_eq!((parsed.pubkey(), found), (keypair.pubkey(), form));
        }
    }

    #[test]
    fn every_damage_has_its_own_refusal() {
        let json = solana_json(&Keypair::new_from_array([7; 32]));
        let other = json.replacen("[7,", "[8,", 1);
        assert_eq!(code(other.as_bytes()), Some(7414));
        assert_eq!(code(b"[1,2,3]"), Some(7413));
        assert_eq!(code(b"[]"), Some(7413));
        assert_eq!(code(json.replacen(']', ",1]", 1).as_bytes()), Some(7413));
        assert_eq!(code(b"[1,2"), Some(7412));
        assert_eq!(code(b"[1,256]"), Some(7412));
        assert_eq!(code(b"[1,-1]"), Some(7412));
        assert_eq!(code(b"[\"a\"]"), Some(7412));
        assert_eq!(code(b""), Some(7415));
        assert_eq!(code(&[0; 33]), Some(7415));
    }

    #[test]
    fn a_peer_id_is_the_key_behind_an_identity_multihash() {
        let id = peer_id(&[7; 32]);
        assert!(id.starts_with("12D3KooW"), "{id}");
        let bytes = bs58::decode(&id).into_vec().unwrap();
        assert_eq!(bytes, [&[0, 36, 8, 1, 18, 32][..], &[7; 32]].concat());
    }

    #[test]
    fn a_key_does_not_show_its_secret() {
        let keypair = Keypair::new_from_array([7; 32]);
        let key = Key { address: keypair.pubkey(), keypair, path: "p".into(), form: Form::Raw };
        let shown = format!("{key:?}");
        assert!(!shown.contains("7, 7") && shown.contains(&key.address().to_string()), "{shown}");
    }
}
