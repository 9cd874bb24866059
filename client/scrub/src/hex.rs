//! Long hex strings: a secret, unless the text around says what public thing it is. The rule stands in the
//! module's documentation.

use super::memo::Site;
use super::text::{Text, find};
use std::ops::Range;

/// Digits that a run must have to count.
pub(super) const LEAST: usize = 32;

/// Labels of public values. They stand right before the run, with a separator at most.
const LABELS: &[&str] = &[
    "sha1",
    "sha-1",
    "sha224",
    "sha-224",
    "sha256",
    "sha-256",
    "sha2-256",
    "sha384",
    "sha-384",
    "sha512",
    "sha-512",
    "sha3-256",
    "md5",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "blake2",
    "blake2b",
    "blake2s",
    "blake3",
    "keccak256",
    "crc",
    "digest",
    "checksum",
    "checksums",
    "cksum",
    "hash",
    "hashes",
    "integrity",
    "etag",
    "narhash",
    "buildid",
    "build-id",
    "build id",
    "build_id",
    "buildid[sha1]",
    "uuid",
    "guid",
    "fingerprint",
    "thumbprint",
    "pubkey",
    "public key",
    "public_key",
    "publickey",
    "publickeytoken",
    "txid",
    "tx",
    "transaction",
    "block",
    "commit",
    "commit-id",
    "commit_id",
    "commitid",
    "commithash",
    "commit_hash",
    "gitcommit",
    "git_commit",
    "vcs.revision",
    "rev",
    "revision",
    "ref",
    "sha",
    "git-sha",
    "git_sha",
    "oid",
    "tree",
    "parent",
    "object",
    "blob",
    "head",
    "trace id",
    "traceid",
    "trace_id",
    "trace-id",
    "span_id",
    "spanid",
    "request id",
    "requestid",
    "request_id",
    "request-id",
    "x-request-id",
    "correlation id",
    "correlation-id",
    "correlationid",
    "x-amzn-requestid",
    "invocation id",
    "image id",
    "imageid",
    "image_id",
    "container id",
    "containerid",
    "container_id",
    "layer",
    "id_hash",
    "merkle_root",
    "root hash",
    "block hash",
    "serial",
    "serial number",
    "subject key identifier",
    "authority key identifier",
    "version hash",
    "cache key",
    "cachekey",
    "traceparent: 00",
    "md5:",
    "contract",
    "signature hash",
    "agent_id",
    "account",
    "address",
    "frontier",
    "previous",
    "kid",
    "shasum",
    "trace",
    "machine-id",
    "machine id",
    "machineid",
    "key id",
    "keyid",
    "rsa key",
    "dsa key",
    "ecdsa key",
    "eddsa key",
    "btih",
    "infohash",
    "span id",
    "artifact",
    "lock",
    "yarnlock",
    "jj op",
    "operation",
    "link",
];

/// Words of git, on the line of an object's id.
const GIT: &[&str] = &[
    "commit",
    "head",
    "merge",
    "tree ",
    "parent ",
    "cherry",
    "revert",
    "rebase",
    "checkout",
    "checked out",
    "bisect",
    "refs/",
    "origin",
    "submodule",
    "fetch",
    "git",
    "object",
    "blob",
    "index ",
    "tag ",
    "branch",
    "reflog",
    "stash",
    "ancestor",
    "revision",
    "pathspec",
    "pick ",
    "fixup ",
    "squash ",
    "updating ",
    "fast-forward",
    "remote",
    "rev-parse",
    "upstream",
    "locked",
    "rev=",
    "sha ",
    "could not read",
    "unable to find",
    "unable to read",
    "vendor",
    "moving to",
    "checking out",
    "working copy",
    "jj ",
    "ref ",
    "resolved",
];

/// Words of containers, on the line of an id.
const CONTAINERS: &[&str] = &[
    "docker",
    "container",
    "image",
    "layer",
    "overlay",
    "manifest",
    "moby",
    "containerd",
    "buildkit",
    "runc",
    "volume",
    "network",
    "pod ",
    "kubelet",
    "digest",
    "podman",
    "oci",
    "cgroup",
    "snapshot",
    "sandbox",
];

/// Words that make a run a secret whatever else the line says.
const SECRETIVE: &[&str] = &[
    "secret",
    "token",
    "password",
    "passwd",
    "private",
    "api_key",
    "apikey",
    "api-key",
    "seed",
    "credential",
    "ntlm",
    "hmac",
];

/// Whether a run of hex digits is a secret.
pub(super) fn is_secret(text: Text<'_>, run: Range<usize>) -> bool {
    let digits = text.slice(run.clone());
    let mut seen = [false; 16];
    for digit in digits {
        let value = char::from(*digit).to_digit(16).unwrap_or(0) as usize;
        if let Some(seen) = seen.get_mut(value) {
            *seen = true;
        }
    }
    let letters = digits.iter().any(u8::is_ascii_alphabetic);
    let numbers = digits.iter().any(u8::is_ascii_digit);
    if seen.iter().filter(|seen| **seen).count() < 8 || !letters || !numbers {
        return false;
    }
    let line = text.line(run.start);
    let before = text.peek(line.start..run.start);
    let near = before.get(before.len().saturating_sub(48)..).unwrap_or_default();
    let secretive = SECRETIVE.iter().any(|word| find(near, word.as_bytes()).is_some());
    if labelled(before) || listed(text, &line, &run) {
        return false;
    }
    // `SHA2-256(name)= …` of openssl, `SHA256 (name) = …` of BSD.
    let equals = before.strip_suffix(b"= ").is_some_and(|rest| rest.trim_ascii_end().ends_with(b")"));
    if equals && text.has(Site::Before, line.start..run.start, &["sha", "md5", "blake"]) {
        return false;
    }
    if secretive {
        return true;
    }
    let digest = ["sha1", "sha256", "sha512", "md5", "checksum", "digest"];
    if text.has(Site::Before, line.start..run.start, &digest) {
        return false;
    }
    if compared(text, &line, near) || in_path(text, &run) {
        return false;
    }
    if before.ends_with(b"0x") {
        let public = ["tx", "hash", "block", "address", "contract"];
        let sent = text.has(Site::Line, line.clone(), &["mined", "reverted", "confirmed"]);
        return digits.len() != 40
            && !sent
            && !public.iter().any(|word| find(near, word.as_bytes()).is_some());
    }
    if matches!(digits.len(), 40 | 64) {
        if text.has(Site::Line, line.clone(), GIT) {
            return false;
        }
        // The output of `git log --oneline --no-abbrev`, of `git ls-remote`, and below a line that ran git.
        let subject = before.is_empty() && matches!(text.at(run.end), b' ' | b'\t') && digits.len() == 40;
        let earlier = || text.line_seen(Site::Above, line.start.saturating_sub(1));
        let first = text.run(line.start, before.len(), |byte| byte.is_ascii_whitespace()) == run.start;
        let ran = first && text.has(Site::Above, earlier(), &["git ", "rev-parse"]);
        if subject || ran {
            return false;
        }
    }
    if digits.len() == 64 && text.has(Site::Line, line.clone(), CONTAINERS) {
        return false;
    }
    if text.before(run.start) == b'-' && find(near, b"cache").is_some() {
        return false;
    }
    // W3C trace context.
    !(digits.len() == 32 && before.ends_with(b"00-") && text.at(run.end) == b'-')
}

/// A label right before the run.
fn labelled(before: &[u8]) -> bool {
    // A weak tag of HTTP.
    let before = before.strip_suffix(b"W/\"").unwrap_or(before);
    let mut end = before.len();
    let mut signs = 0;
    while let Some(byte) = end.checked_sub(1).and_then(|index| before.get(index)) {
        if !matches!(
            byte,
            b' ' | b'\t'
                | b'"'
                | b'\''
                | b'='
                | b':'
                | b'-'
                | b'('
                | b'['
                | b'`'
                | b'\\'
                | b'@'
                | b'>'
                | b'/'
                | b'{'
        ) || signs > 8
        {
            break;
        }
        signs += 1;
        end -= 1;
    }
    let head = before.get(..end).unwrap_or_default();
    let ends = |word: &[u8]| {
        head.get(head.len().saturating_sub(word.len())..).is_some_and(|tail| tail.eq_ignore_ascii_case(word))
    };
    if [&b"ntlm hash"[..], b"nt hash", b"lm hash", b"password hash"].iter().any(|hash| ends(hash)) {
        return false;
    }
    signs > 0
        && LABELS.iter().any(|label| {
            let start = head.len().checked_sub(label.len());
            let tail = start
                .and_then(|start| head.get(start..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(label.as_bytes()));
            let open = start.and_then(|start| start.checked_sub(1)).and_then(|index| head.get(index));
            tail && open.is_none_or(|byte| !byte.is_ascii_alphabetic())
        })
}

/// A line of a checksum list: the run, two blanks or a blank and a star, a name.
fn listed(text: Text<'_>, line: &Range<usize>, run: &Range<usize>) -> bool {
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\\');
    let first = text.run(line.start, run.start - line.start, blank) == run.start;
    let next = (text.at(run.end), text.at(run.end + 1), text.at(run.end + 2));
    first && matches!(next, (b' ', b' ' | b'*', name) if !name.is_ascii_whitespace() && name != 0)
}

/// `Expected sha256 …`, `Got …`: a comparison of digests, which the line or one of the two before it names.
fn compared(text: Text<'_>, line: &Range<usize>, near: &[u8]) -> bool {
    let label = near.trim_ascii_end();
    let label = label.strip_suffix(b"'").or(label.strip_suffix(b"\"")).unwrap_or(label).trim_ascii_end();
    let label = label.strip_suffix(b":").unwrap_or(label).trim_ascii_end();
    let verbs = [
        "got",
        "expected",
        "actual",
        "received",
        "wanted",
        "computed",
        "calculated",
        "found",
        "specified",
        "want",
        "have",
        "downloaded",
        "mismatch",
    ];
    let verb = verbs.iter().any(|verb| {
        label.len() >= verb.len()
            && label
                .get(label.len() - verb.len()..)
                .is_some_and(|tail| tail.eq_ignore_ascii_case(verb.as_bytes()))
    });
    if !verb {
        return false;
    }
    let earlier = text.line_seen(Site::Above, line.start.saturating_sub(1));
    let start = text.line_seen(Site::AboveThat, earlier.start.saturating_sub(1)).start;
    let digests = ["sha", "md5", "hash", "checksum", "digest", "integrity"];
    // `expected: …` above `actual: …`.
    let next = text.run(line.end + 1, 256, |byte| byte != b'\n');
    let both = text.has(Site::Compared, start..next, &["expected"])
        && text.has(Site::Compared, start..next, &["actual"]);
    both || text.has(Site::Compared, start..line.end, &digests)
}

/// A component of a path, or an object's name after `#` or `@` in a reference to a repository.
fn in_path(text: Text<'_>, run: &Range<usize>) -> bool {
    let blank = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'(' | b'<');
    let start = text.run_back(run.start, 512, blank);
    let word = text.slice(start..run.start);
    let (before, after, next) = (text.before(run.start), text.at(run.end), text.at(run.end + 1));
    let extension = after == b'.' && next.is_ascii_alphanumeric();
    if find(word, b"://").is_some() {
        let parts = [".git", "/commit", "/blob/", "/tree/", "/archive/", "/raw/", "/packages/", "/rev/"];
        let repository = parts.iter().any(|part| find(word, part.as_bytes()).is_some());
        return repository && matches!(before, b'/' | b'#' | b'@' | b'=')
            || (before == b'/' && after == b'/')
            || (before == b'/' && extension);
    }
    let folder = before == b'/' && word.len() > 1;
    // An image's tag: `registry/app:<hex>`.
    let tag = before == b':' && word.contains(&b'/') && !word.contains(&b'=');
    folder
        || tag
        || (after == b'/' && matches!(before, b'/' | b' ' | 0))
        || (extension && matches!(before, b'-' | b'.' | b'/' | b'_'))
        || (before == b'@' && word.contains(&b'/'))
}
