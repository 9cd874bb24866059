//! Words that were clearly generated: secrets where the line speaks of what lets in, whatever name stands before them.

use super::Candidate;
use super::category::Category;
use super::looks::{changes_often, is_address, is_generated, is_location};
use super::memo::Site;
use super::text::{Kinds, Text, is_shaped};
use super::words::{Words, find};
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes of the shortest word that counts as generated.
const LEAST: usize = 24;
/// How far before it a word may stand that names a public thing.
const NEAR: usize = 40;

/// Words of what lets in, and of who is not let in.
static LETS_IN: LazyLock<Words> = LazyLock::new(|| {
    Words::new(
        "lets in",
        &[
            "token",
            "secret",
            "apikey",
            "api key",
            "api_key",
            "api-key",
            "credential",
            "bearer",
            "authoriz",
            "authent",
            "401",
            "403",
            "forbidden",
            "expired",
            "revoked",
            "not valid",
            "invalid",
            "rejected",
            "denied",
            "password",
            "login",
            "logged in",
            "access key",
            "scope",
            "auth ",
            "auth(",
            "refresh",
            "jwt ",
            "oauth",
            "unlock",
            "unseal",
            "session",
            "cookie",
            "reused",
            "signing",
            "licen",
            "activation",
            "client(",
            "private",
            "encrypt",
        ],
    )
});

/// Words of what everybody may see.
static PUBLIC: LazyLock<Words> = LazyLock::new(|| {
    Words::new(
        "public",
        &[
            "public",
            "pubkey",
            "fingerprint",
            "sha1",
            "sha2",
            "sha3",
            "sha5",
            "sha-",
            "checksum",
            "hash",
            "integrity",
            "ssh-",
            "signature",
            "account",
            "mint",
            "program",
            "cert",
            "etag",
            "version",
            "upload",
            "document",
            "file",
            "commit",
            "block",
            "address",
            "owner",
            "peer",
            "build",
            "digest",
            "h1:",
            "id ",
            "id=",
            "id:",
            "id\"",
            "key id",
            "ids ",
            "nonce",
            "cursor",
            "continuation",
            "next",
            "receipthandle",
            "page",
            "hosts",
            "dnskey",
            "dkim",
            "boundary",
            "base64",
            "pin-",
            "cookie-policy",
            "mac ",
            "wallet",
        ],
    )
});

/// The end of the word around a part of it.
pub(super) fn detect(text: Text<'_>, part: Range<usize>, found: &mut Vec<Candidate>) -> usize {
    // What stands before a sign of equality is a name.
    let start = text.run_back(part.start, 96, |byte| is_shaped(byte) && byte != b'=');
    let end = text.run(part.end, 256, is_shaped);
    let end = if text.before(end) == b'.' { end - 1 } else { end };
    let word = text.slice(start..end);
    if word.len() < LEAST {
        return end;
    }
    let (before, after) = (text.before(start), text.at(end));
    let opens = matches!(
        before,
        0 | b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'`' | b'(' | b'[' | b':' | b'=' | b',' | b'>'
    );
    let closes = !(matches!(after, b'/' | b'@' | b'#' | b'(' | b'?' | b'%')
        || matches!(after, b'.' | b':') && text.at(end + 1).is_ascii_alphanumeric());
    if !opens || !closes {
        return end;
    }
    let kinds = Kinds::of(word);
    let cased = matches!(before, b':' | b'=') || kinds.upper > 0 && kinds.lower > 0;
    // Or hex after letters of a kind: `JID-‹hex›`.
    let kind = word.iter().position(|byte| !byte.is_ascii_uppercase()).filter(|at| (1..=8).contains(at));
    let digits = kind.and_then(|at| word.get(at..)?.strip_prefix(b"-")).or(word.strip_prefix(b"0x"));
    let hex = || digits.unwrap_or(word).iter().all(u8::is_ascii_hexdigit);
    if !cased || kinds.digits < 2 || !changes_often(kinds, word.len()) || hex() || !is_generated(word, LEAST)
    {
        return end;
    }
    let line = text.line(start);
    let near = text.slice(line.start.max(start.saturating_sub(NEAR))..start);
    // 64 bytes in base64 beside the word key: an account's key of Azure.
    let digest = || {
        ["sha", "hash", "sign", "digest", "public", "integrity", "dnskey"]
            .iter()
            .any(|it| find(near, it.as_bytes()).is_some())
    };
    let key = || find(near, b"key").is_some();
    if word.len() == 88 && word.ends_with(b"=") && key() && (!digest() || find(near, b"sharedkey").is_some())
    {
        found.push(Candidate { category: Category::Azure, range: start..end });
        return end;
    }
    let azure = || text.has(Site::Line, line.clone(), &["documents.azure.com", "core.windows.net"]);
    if word.len() == 88 && word.ends_with(b"=") && before == b'"' && azure() {
        found.push(Candidate { category: Category::Azure, range: start..end });
        return end;
    }
    if is_typed(word) || is_location(word) || is_address(word) || PUBLIC.are_in(near) {
        return end;
    }
    // 64 bytes in base64: an account's key of Azure.
    let keys = || find(text.peek(line.start..start), b"key").is_some();
    let account = word.len() == 88 && word.ends_with(b"=") && (before == b'"' || keys());
    if account || text.has_any(Site::Line, line, &LETS_IN) {
        found.push(Candidate { category: Category::Token, range: start..end });
    }
    end
}

/// `cus_…`, `evt_…`: the id of a thing of that type; not `sb_secret_…`.
fn is_typed(word: &[u8]) -> bool {
    let kind = word.iter().position(|byte| *byte == b'_').unwrap_or(0);
    let rest = word.get(kind + 1..).unwrap_or_default();
    let secret = [&b"secret_"[..], b"key_", b"token_", b"live_", b"pat_", b"sk_"]
        .iter()
        .any(|it| rest.starts_with(it));
    !secret && (2..=8).contains(&kind) && word.iter().take(kind).all(u8::is_ascii_lowercase)
}
