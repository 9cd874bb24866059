//! Request signatures (fix.md, "Authentication"; decisions E1, E13, E23).

use sha2::{Digest, Sha256};

use crate::defaults::{MAX_AGE, MAX_AGE_COMPAT, MAX_AHEAD, MAX_AHEAD_COMPAT, MAX_BODY, MAX_PATH};
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
    /// `X-Fix-Auth`: the version of the signature. Older clients send none.
    pub auth: Option<&'a str>,
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

/// The values of the headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHeaders {
    /// Value of `X-Fix-Auth`.
    pub auth: &'static str,
    /// Value of `X-Fix-Pubkey`.
    pub pubkey: String,
    /// Value of `X-Fix-Signature`.
    pub signature: String,
    /// Value of `X-Fix-Timestamp`.
    pub timestamp: String,
}

/// The version of request signatures, as `X-Fix-Auth` gives it.
pub const VERSION: &str = "2";
const DOMAIN: &str = "fix-request/v2";

/// What a signature covers (decision E23): it names the server, and every part is one line.
fn lines(server: &PartyId, method: &str, path: &str, body: &[u8], timestamp: &str) -> Vec<u8> {
    let body = hex::encode(Sha256::digest(body));
    [DOMAIN, &server.hex(), method, path, timestamp, &body].join("\n").into_bytes()
}

/// What older clients sign, in the order of their versions (decision E13): METHOD, PATH without its query, TIMESTAMP,
/// BODY by line ends; METHOD, PATH, BODY, TIMESTAMP by bars.
fn older(method: &str, path: &str, body: &[u8], timestamp: &str) -> [Vec<u8>; 2] {
    let bare = path.split('?').next().unwrap_or(path);
    let [method, path, timestamp] = [method, path, timestamp].map(str::as_bytes);
    [[method, bare.as_bytes(), timestamp, body].join(&b'\n'), [method, path, body, timestamp].join(&b'|')]
}

/// Sign a request to a server at `now`. The path has its query and is percent-encoded, as it will be sent.
pub fn sign(
    server: &PartyId,
    method: &str,
    path: &str,
    body: &[u8],
    now: Millis,
    key: &PartyKey,
) -> SignedHeaders {
    let timestamp = now.to_string();
    let signature = key.sign(&lines(server, method, path, body, &timestamp));
    SignedHeaders { auth: VERSION, pubkey: key.id().hex(), signature: hex::encode(signature), timestamp }
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

/// Check a request to `server`: who sent it, and that it is fresh. `compat` accepts the forms of older clients too,
/// which name no server, and 300 s (decision E13). Whether it was taken before is the caller's to ask, with
/// [`Authenticated::replay`].
pub fn authenticate(
    request: &Request<'_>,
    server: &PartyId,
    now: Millis,
    compat: bool,
) -> Result<Authenticated> {
    if request.body.len() > MAX_BODY {
        return Err(Refusal::with(Reason::RequestBody, request.body.len()));
    }
    let older_client = match request.auth {
        Some(VERSION) => false,
        None if compat => true,
        _ => return Err(Refusal::with(Reason::RequestHeader, "X-Fix-Auth")),
    };
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
    let (max_age, max_ahead) =
        if older_client { (MAX_AGE_COMPAT, MAX_AHEAD_COMPAT) } else { (MAX_AGE, MAX_AHEAD) };
    if now > at.plus(max_age) {
        return Err(Refusal::with(Reason::RequestOld, now.minus(at)));
    }
    if at > now.plus(max_ahead) {
        return Err(Refusal::with(Reason::RequestAhead, at.minus(now)));
    }
    let (method, path, body) = (request.method, request.path, request.body);
    let candidates = if older_client {
        older(method, path, body, stamp).to_vec()
    } else {
        vec![lines(server, method, path, body, stamp)]
    };
    let held = candidates.iter().find(|message| party.verify(message, &signature));
    let held = held.ok_or(Reason::RequestSignature)?;
    let digest = Sha256::new().chain_update(party.as_bytes()).chain_update(held).finalize().into();
    // One millisecond more than the request can be fresh.
    let keep_until = at.plus(max_age).plus(Millis(1));
    Ok(Authenticated { party, replay: ReplayKey { digest, keep_until } })
}
