//! Bytes that people hand over: hex, base64, a file, or standard input, recognised by themselves.

use crate::errors::{Error, Result};
use crate::files;
use crate::words::count;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use solana_address::Address;
use std::io;
use std::path::Path;
use std::str::FromStr;
use zx1_protocol::ids::ConversationId;

/// Shortest argument that counts as base64 without its padding: a mistyped path often consists of base64's
/// letters only, and the protocol has no value that short.
const LEAST_BASE64: usize = 24;

/// Bytes and how they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The bytes after decoding.
    pub bytes: Vec<u8>,
    /// "hex", "base64" or "bytes".
    pub encoding: &'static str,
    /// What to call it in messages.
    pub name: String,
}

/// Reads what an argument names: `-` is standard input; a path that exists is that file; anything else is
/// hex or base64 itself. A file's content may be hex, base64 or the bytes.
///
/// # Errors
/// 7452 over `limit` bytes, 7454 empty, 7455 none of the forms, 7450 hex with a defect.
pub fn read(argument: &str, limit: u64) -> Result<Input> {
    let (content, name, from_file) = if argument == "-" {
        let name = "Standard input".to_owned();
        (files::read_all(io::stdin().lock(), &name, limit)?.to_vec(), name, true)
    } else {
        match read_file(argument, limit)? {
            Some(bytes) => (bytes, argument.to_owned(), true),
            None => (argument.as_bytes().to_vec(), "The argument".to_owned(), false),
        }
    };
    if content.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::InputEmpty { what: name }.into());
    }
    let is_path = !from_file && argument.len() < LEAST_BASE64 && !argument.ends_with('=');
    if let Some((bytes, encoding)) = decode_text(&content).filter(|(_, form)| !is_path || *form == "hex") {
        return Ok(Input { bytes, encoding, name });
    }
    if let Some(text) = std::str::from_utf8(&content).ok().filter(|text| looks_like_hex(text)) {
        return Err(Error::BadHex { what: name, why: hex_fault(text) }.into());
    }
    if from_file {
        return Ok(Input { bytes: content, encoding: "bytes", name });
    }
    let shown: String = argument.chars().take(40).collect();
    let shown = if shown.len() < argument.len() { format!("{shown}…") } else { shown };
    Err(Error::NotUnderstood { what: shown }.into())
}

fn read_file(argument: &str, limit: u64) -> Result<Option<Vec<u8>>> {
    // No path is that long, and the system would complain about the name instead.
    if argument.len() > 4_000 || argument.is_empty() {
        return Ok(None);
    }
    let path = Path::new(argument);
    if path.is_dir() {
        return Err(files::folder(path).into());
    }
    if !path.exists() {
        return Ok(None);
    }
    Ok(files::read_limited(path, limit)?.map(|bytes| bytes.to_vec()))
}

/// Text that is hex or base64 through and through; line breaks are allowed.
fn decode_text(content: &[u8]) -> Option<(Vec<u8>, &'static str)> {
    let text: Vec<u8> = content.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let text = std::str::from_utf8(&text).ok()?;
    if let Ok(bytes) = hex::decode(text.strip_prefix("0x").unwrap_or(text)) {
        return Some((bytes, "hex"));
    }
    if looks_like_hex(text) {
        return None;
    }
    STANDARD.decode(text).ok().map(|bytes| (bytes, "base64"))
}

/// Mostly hex digits: a typing error in hex should not be taken for base64 or a missing file.
fn looks_like_hex(text: &str) -> bool {
    let text = text.trim().strip_prefix("0x").unwrap_or(text.trim());
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    text.len() >= 8 && digits.saturating_mul(100) >= text.len().saturating_mul(95)
}

/// What is wrong with hex.
fn hex_fault(text: &str) -> String {
    let digits = text.trim().strip_prefix("0x").unwrap_or(text.trim());
    match digits.char_indices().find(|(_, letter)| !letter.is_ascii_hexdigit()) {
        Some((at, letter)) => format!("invalid digit '{letter}' at position {at}"),
        None => format!("odd number of digits ({})", digits.len()),
    }
}

/// Bytes from hex text, with or without 0x.
pub fn hex_bytes(text: &str, what: &str) -> Result<Vec<u8>> {
    let text = text.trim();
    hex::decode(text.strip_prefix("0x").unwrap_or(text))
        .map_err(|_| Error::BadHex { what: what.to_owned(), why: hex_fault(text) }.into())
}

/// Exactly `N` bytes from hex text.
pub fn hex_array<const N: usize>(text: &str, what: &str) -> Result<[u8; N]> {
    let bytes = hex_bytes(text, what)?;
    let found = bytes.len();
    bytes.try_into().map_err(|_| {
        let found = count(found, "byte", "bytes");
        Error::WrongLength { what: what.to_owned(), found, wanted: N.to_string() }.into()
    })
}

/// A conversation's id from hex text.
pub fn conversation(text: &str) -> Result<ConversationId> {
    Ok(ConversationId(hex_array(text, "The conversation")?))
}

/// What is wrong with a line of hex, for callers that name the line themselves.
pub fn hex_line(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.trim();
    hex::decode(digits.strip_prefix("0x").unwrap_or(digits)).map_err(|_| hex_fault(digits))
}

/// An address in base58.
pub fn address(text: &str, what: &str) -> Result<Address> {
    let text = text.trim();
    Address::from_str(text).map_err(|_| {
        Error::BadAddress { what: what.to_owned(), text: text.chars().take(60).collect() }.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(argument: &str) -> Option<u32> {
        read(argument, 1 << 20).err().map(|failure| failure.code)
    }

    #[test]
    fn every_form_gives_the_same_bytes() {
        let bytes = [0x8c, 1, 2, 3, 0xff];
        let folder = tempfile::tempdir().unwrap();
        for (form, content) in [
            ("hex", b"8c 0102\n03ff\n".to_vec()),
            ("base64", b"jAECA/8=".to_vec()),
            ("bytes", bytes.to_vec()),
        ] {
            let path = folder.path().join(form);
            std::fs::write(&path, content).unwrap();
            let input = read(path.to_str().unwrap(), 100).unwrap();
            assert_eq!((input.bytes.as_slice(), input.encoding), (bytes.as_slice(), form));
        }
        assert_eq!(read("0x8c010203ff", 100).unwrap().bytes, bytes);
        assert_eq!(read("jAECA/8=", 100).unwrap().encoding, "base64");
    }

    #[test]
    fn malformed_input_is_refused_with_what_is_wrong() {
        let odd = read("8c0102030", 100).unwrap_err();
        assert!(odd.message.contains("odd number of digits (9)"), "{}", odd.message);
        let letter = read(&format!("{}g{}", "ab".repeat(20), "cd".repeat(20)), 100).unwrap_err();
        assert!(letter.message.contains("'g' at position 40"), "{}", letter.message);
        assert_eq!((code(""), code("no such file.bin"), code("/")), (Some(7454), Some(7455), Some(7406)));
        // Base64's letters, but rather a path.
        assert_eq!((code("deal"), code("offer/mine"), code("jAECA/8=")), (Some(7455), Some(7455), None));
        let short = hex_array::<2>("00", "It").unwrap_err();
        assert_eq!((short.code, short.message.as_str()), (7461, "It has 1 byte instead of 2."));
    }
}
