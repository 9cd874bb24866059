//! Request signatures (fix.md, "Authentication"; decisions E1, E13).

use sha2::{Digest, Sha256};

use crate::defaults::{MAX_AGE, MAX_AGE_COMPAT, MAX_AHEAD, MAX_BODY, MAX_PATH};
use crate::digits::lower_hex;
use crate::{Millis, PartyId, PartyKey, Reason, Refusal, Result};

/// What arrived. The headers are `None` when they are missing.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// In capitals, such as `POST`.
    pub method: &'a str,
    /// With its query, as sent.
    pub path: &'a str,
    /// The body as it was sent; empty for GET.
    pub body: &'a [u8],
    /// `X-Fix-Pubkey`: 64 hexadecimal digits; `fix_` before them is accepted.
    pub pubkey: Option<&'a str>,
    /// `X-Fix-Signature`: 128 hexadecimal digits.
    pub signature: Option<&'a str>,
    /// `X-Fix-Timestamp`: whole or decimal Unix seconds.
    pub timestamp: Option<&'a str>,
}

/// Who sent a request, and how it is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Authenticated {
    /// The party whose key signed the request.
    pub party: PartyId,
    /// What the server keeps so that nobody sends it again.
    pub replay: ReplayKey,
}

/// What the server keeps of a mutating request, also over a restart (decision E1). The digest must be unique
/// until
/// `keep_until`; after that the timestamp refuses the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayKey {
    /// SHA-256 over the key and what it signed. Two signatures of one key over the same message are one
    /// request.
    pub digest: [u8; 32],
    /// Until when it must be kept.
    pub keep_until: Millis,
}

/// The values of the three headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHeaders {
    /// Value of `X-Fix-Pubkey`.
    pub pubkey: String,
    /// Value of `X-Fix-Signature`.
    pub signature: String,
    /// Value of `X-Fix-Timestamp`.
    pub timestamp: String,
}

fn message(separator: u8, method: &str, path: &str, body: &[u8], timestamp: &str) -> Vec<u8> {
    [method.as_bytes(), path.as_bytes(), body, timestamp.as_bytes()].join(&separator)
}

/// Sign a request at `now`. The path has its query and is percent-encoded, as it will be sent.
pub fn sign(method: &str, path: &str, body: &[u8], now: Millis, key: &PartyKey) -> SignedHeaders {
    let timestamp = now.to_string();
    let signature = key.sign(&message(b'|', method, path, body, &timestamp));
    SignedHeaders { pubkey: key.id().hex(), signature: hex::encode(signature), timestamp }
}

fn header<T>(value: Option<T>, name: &str) -> Result<T> {
    value.ok_or_else(|| Refusal::with(Reason::RequestHeader, name))
}

/// Digits, and perhaps a point with digits behind it. No sign, no exponent: Python prints times so.
fn timestamp(text: &str) -> Option<Millis> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| (1..=20).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    text.parse().ok().and_then(Millis::from_secs_f64)
}

/// Check a request: who sent it, and that it is fresh. `compat` accepts the newline-joined form and 300 s as
/// well (decision E13). Whether it was taken before is the caller's to ask, with [`Authenticated::replay`].
pub fn authenticate(request: &Request<'_>, now: Millis, compat: bool) -> Result<Authenticated> {
    if request.body.len() > MAX_BODY {
        return Err(Refusal::with(Reason::RequestBody, request.body.len()));
    }
    // A bar or a line end in the path would let one signature stand for two requests.
    let path_ok = request.path.starts_with('/')
        && request.path.len() <= MAX_PATH
        && request.path.bytes().all(|b| b.is_ascii_graphic() && b != b'|');
    let method_ok = !request.method.is_empty() && request.method.bytes().all(|b| b.is_ascii_uppercase());
    if !path_ok || !method_ok {
        return Err(Reason::RequestPath.into());
    }
    let pubkey = header(request.pubkey, "X-Fix-Pubkey")?;
    let party = PartyId::from_hex(pubkey.strip_prefix("fix_").unwrap_or(pubkey))
        .map_err(|_| Refusal::with(Reason::RequestHeader, "X-Fix-Pubkey"))?;
    let signature: [u8; 64] = header(request.signature.and_then(lower_hex), "X-Fix-Signature")?;
    let stamp = header(request.timestamp, "X-Fix-Timestamp")?;
    let at = timestamp(stamp).ok_or(Reason::RequestTimestamp)?;
    let max_age = if compat { MAX_AGE_COMPAT } else { MAX_AGE };
    if now > at.plus(max_age) {
        return Err(Refusal::with(Reason::RequestOld, now.minus(at)));
    }
    if at > now.plus(MAX_AHEAD) {
        return Err(Refusal::with(Reason::RequestAhead, at.minus(now)));
    }
    let signed = |separator| message(separator, request.method, request.path, request.body, stamp);
    let bar = signed(b'|');
    let good = party.verify(&bar, &signature) || (compat && party.verify(&signed(b'\n'), &signature));
    if !good {
        return Err(Reason::RequestSignature.into());
    }
    let digest = Sha256::new().chain_update(party.as_bytes()).chain_update(&bar).finalize().into();
    // One millisecond more than the request can be fresh.
    let keep_until = at.plus(max_age).plus(Millis(1));
    Ok(Authenticated { party, replay: ReplayKey { digest, keep_until } })
}
