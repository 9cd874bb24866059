//! Takes secrets out of text before it leaves the principal's machine (decision E10;
//! fix.md, "Scrubber").
//!
//! ```
//! use zx1_scrub::Scrubber;
//!
//! let scrubbed = Scrubber::new().scrub("mysql: connect failed, MYSQL_PWD=hunter2 host=db");
//! assert_eq!(scrubbed.text, "mysql: connect failed, MYSQL_PWD=[REDACTED:password] host=db");
//! ```
//!
//! # What is promised
//!
//! - **Deterministic**: the same bytes give the same result on every machine.
//! - **Idempotent**: scrubbing a result changes nothing. A marker counts as one opaque character, and the
//!   rules run until they find nothing new.
//! - **Linear**: one pass of an automaton over the text finds anchors (`password`, `ghp_`, `://`, …). A rule
//!   runs only at its anchor, sees a bounded number of bytes around it, and remembers what it saw for the next
//!   anchor (`memo.rs`). So hostile text is looked at a bounded number of times a byte too; a test counts it.
//!   More than 16 names inside of one another's long values are not read: the value goes.
//! - A value is replaced whole, up to its closing quote or blank. Where findings overlap, their union goes.
//! - Bytes that are not UTF-8 are kept as they are ([`Scrubber::scrub_bytes`]).
//!
//! It is not promised that nothing slips through: a password in a sentence without any hint is a word like
//! others.
//!
//! # The rules
//!
//! - **Names** decide about values: `DB_PASSWORD=`, `"apiKey": "…"`, `--token …`, `<password>…`, `password:
//!   …` in YAML, TOML, JSON (escaped JSON too), shell, flags, headers, query strings, `.netrc`, tuples of
//!   source code. Names of passwords and telephones in other languages and scripts are known, too (`anchors.rs`), and
//!   bytes of a key that are written apart (`aa:bb:…`, `{ 0x1f, … }`) belong to the name of a key. The *end* of the
//!   name counts: `token_url` and `password_file` are harmless. Placeholders stay (`$TOKEN`, `<token>`, `****`, `None`), and so do types and expressions of source code (`token:
//!   Token`, `password=get_password()`). A word of prose after a colon stays (`unexpected token:
//!   identifier`).
//! - **Forms** decide alone: prefixes of providers (`ghp_`, `sk-`, `AKIA`, `glpat-`, …), PEM, JSON web
//!   tokens, `user:password@` in URLs, arrays of 64 bytes, secret keys of Solana and Bitcoin in base58, card numbers that pass Luhn, social security
//!   numbers, telephone numbers, password hashes.
//! - **Places** among a program's arguments: a table of programs says behind which flag or at which word they
//!   take a secret (`programs.rs`). Another says which argument of a call is one (`calls.rs`), and a member with a
//!   neutral name (`value`, `default`) belongs to the secret above it.
//! - **Sentences**: what a line says was tried, set or fed to a program that asks for a password (`attempts.rs`,
//!   `nearby.rs`, `typed.rs`), if nobody would write it as a word of the language (`looks.rs`); also on the line below a
//!   command that prints a secret, or below a sentence about a password that ends with a colon.
//! - **Pairs and rows**: `name:secret` in quotes or behind a flag, `host:port:database:name:secret`, the cells below a
//!   heading that is a password's name, the lines of `pap-secrets` and its like (`rows.rs`); the secret must be such
//!   that nobody would write it as a word.
//! - **Generated words**: 24 bytes or more of base64 whose cases and digits change as in a random word, on a line that
//!   speaks of what lets in (`token`, `401`, `revoked`, …); not the ids of things (`cus_…`, `upload id …`), nor 32
//!   bytes in base58 (`shaped.rs`).
//! - **High-entropy hex**: at least 32 hex digits in one case, an even number, standing alone, with at least 8 different
//!   digits. It stays where the text says what public thing it is: a digest's label right before it (`sha256:`,
//!   `BuildID[sha1]=`, `commit`, a trace's or request's id, any name that ends with `id`), a name or word whose last word
//!   names a thing (`dag_hash=<hex>`, `KeyVersion <hex>`, `refname '<hex>'`; not `key`, `cookie`, `salt` and their like),
//!   a word that names a hash near it, the rest of a name joined to it (`index-<hex>`), a file's extension after it, a line
//!   of a checksum list (`<hex>  name`), an object id (40 or 64 digits) on a line that speaks git, an id (64 digits) on a
//!   line that speaks of containers or images, a component of a file's path, a fingerprint of OpenPGP (40 digits in upper
//!   case), and `0x` with 40 digits (an address). A word such as `secret`, `token` or `private` near before it revokes
//!   all but the label.
//! - UUIDs, shorter hex, memory addresses, versions, timestamps, IP addresses and ports, npm's `sha512-…` fit
//!   no rule.

mod anchors;
mod attempts;
mod automaton;
mod calls;
mod category;
mod commands;
mod explained;
mod hex;
mod judged;
mod keys;
mod looks;
mod memo;
mod names;
mod nearby;
pub mod neutral;
mod numbered;
mod numbers;
mod pem;
mod programs;
mod providers;
mod rows;
mod shaped;
mod text;
mod tied;
mod typed;
mod url;
mod value;
mod words;
mod work;

pub use category::Category;

use anchors::{Anchors, Hits};
use memchr::memmem;
use memo::Memo;
use std::borrow::Cow;
use std::ops::Range;
use text::{ATOM, Text};

/// How often the rules run at most. Each run that finds something leaves less text; real text needs two or
/// three.
const ROUNDS: usize = 24;

/// A secret that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub category: Category,
    /// Where it stood, in bytes of the input.
    pub range: Range<usize>,
}

/// Text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrubbed {
    /// The text with a marker in place of each secret.
    pub text: String,
    /// What was taken out, in order and without overlap.
    pub findings: Vec<Finding>,
}

/// Bytes without their secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrubbedBytes {
    /// The bytes with a marker in place of each secret.
    pub bytes: Vec<u8>,
    /// What was taken out, in order and without overlap.
    pub findings: Vec<Finding>,
}

/// A possible secret, in bytes of the text that rules see.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    category: Category,
    range: Range<usize>,
}

/// A replaced part of the input. `category` is `None` for a marker that the input brought along.
#[derive(Debug, Clone)]
struct Hole {
    category: Option<Category>,
    range: Range<usize>,
}

/// The scrubber. Building it compiles an automaton, so keep it.
#[derive(Debug, Clone)]
pub struct Scrubber {
    anchors: Anchors,
}

impl Default for Scrubber {
    fn default() -> Self {
        Self::new()
    }
}

impl Scrubber {
    /// Builds the automaton.
    pub fn new() -> Self {
        Self { anchors: Anchors::new() }
    }

    /// Takes the secrets out of text.
    pub fn scrub(&self, text: &str) -> Scrubbed {
        let ScrubbedBytes { bytes, findings } = self.scrub_bytes(text.as_bytes());
        // Markers replace whole characters, so the conversion never has to repair anything.
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|invalid| String::from_utf8_lossy(invalid.as_bytes()).into_owned());
        Scrubbed { text, findings }
    }

    /// Takes the secrets out of bytes in any encoding that extends ASCII.
    pub fn scrub_bytes(&self, input: &[u8]) -> ScrubbedBytes {
        let mut holes = markers(input);
        let mut work = render(input, &holes, |_| &[ATOM]);
        let mut hits = self.anchors.hits(&work);
        for _ in 0..ROUNDS {
            let found = self.detect(Text(&work, &Memo::new()), &hits);
            if found.is_empty() || !dig(input, &mut holes, &found) {
                break;
            }
            hits = self.anchors.left(hits, &found);
            work = render(input, &holes, |_| &[ATOM]);
        }
        let bytes = render(input, &holes, |hole| match hole.category {
            Some(category) => category.marker().as_bytes(),
            None => input.get(hole.range.clone()).unwrap_or_default(),
        })
        .into_owned();
        let findings = holes
            .into_iter()
            .filter_map(|hole| hole.category.map(|category| Finding { category, range: hole.range }))
            .collect();
        ScrubbedBytes { bytes, findings }
    }

    /// What one run of all rules finds: sorted, overlaps united, none that is a marker already.
    fn detect(&self, text: Text<'_>, hits: &Hits) -> Vec<Candidate> {
        let mut found = Vec::new();
        self.anchors.detect(text, hits, &mut found);
        numbers::detect(text, &mut found);
        pem::bodies(text, &mut found);
        rows::pairs(text, &mut found);
        found.retain(|Candidate { range, .. }| {
            text.run(range.start, range.len(), |byte| byte == ATOM) < range.end.min(text.len())
        });
        for candidate in &mut found {
            // Never cut a character of UTF-8 in two.
            while text.at(candidate.range.start) & 0xc0 == 0x80 && candidate.range.start > 0 {
                candidate.range.start -= 1;
            }
            candidate.range.end = text.run(candidate.range.end, 3, |byte| byte & 0xc0 == 0x80);
        }
        found.sort_by_key(|candidate| (candidate.range.start, candidate.range.end));
        let mut united: Vec<Candidate> = Vec::with_capacity(found.len());
        for next in found {
            match united.last_mut() {
                Some(last) if next.range.start < last.range.end => {
                    last.range.end = last.range.end.max(next.range.end);
                    if next.category.rank() > last.category.rank() {
                        last.category = next.category;
                    }
                }
                _ => united.push(next),
            }
        }
        united
    }
}

/// The markers that the input brings along.
fn markers(input: &[u8]) -> Vec<Hole> {
    const START: &[u8] = b"[REDACTED:";
    let mut holes = Vec::new();
    let mut from = 0;
    while let Some(offset) = input.get(from..).and_then(|rest| memmem::find(rest, START)) {
        let start = from + offset;
        from = start + START.len();
        let rest = input.get(from..).unwrap_or_default();
        let name = rest.iter().take(20).position(|byte| *byte == b']').and_then(|end| rest.get(..end));
        if let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok())
            && Category::from_name(name).is_some()
        {
            from += name.len() + 1;
            holes.push(Hole { category: None, range: start..from });
        }
    }
    holes
}

/// The input with something in place of each hole.
fn render<'a>(input: &'a [u8], holes: &[Hole], put: impl Fn(&Hole) -> &'a [u8]) -> Cow<'a, [u8]> {
    if holes.is_empty() {
        return Cow::Borrowed(input);
    }
    let mut output = Vec::with_capacity(input.len());
    let mut from = 0;
    for hole in holes {
        output.extend_from_slice(input.get(from..hole.range.start).unwrap_or_default());
        output.extend_from_slice(put(hole));
        from = hole.range.end;
    }
    output.extend_from_slice(input.get(from..).unwrap_or_default());
    Cow::Owned(output)
}

/// Turns candidates, which count in rendered text, into holes of the input. False if nothing changed.
fn dig(input: &[u8], holes: &mut Vec<Hole>, found: &[Candidate]) -> bool {
    let old = std::mem::take(holes);
    let mut rest = old.into_iter().peekable();
    // Where rendered text and input are in step.
    let (mut rendered, mut original) = (0_usize, 0_usize);
    let mut changed = false;
    for candidate in found {
        // Holes before the candidate stay.
        while let Some(hole) =
            rest.next_if(|hole| rendered + (hole.range.start - original) < candidate.range.start)
        {
            rendered += hole.range.start - original + 1;
            original = hole.range.end;
            holes.push(hole);
        }
        let start = original + (candidate.range.start - rendered);
        // Holes inside of it are swallowed.
        while let Some(hole) =
            rest.next_if(|hole| rendered + (hole.range.start - original) < candidate.range.end)
        {
            rendered += hole.range.start - original + 1;
            original = hole.range.end;
        }
        let end = (original + (candidate.range.end - rendered)).min(input.len());
        holes.push(Hole { category: Some(candidate.category), range: start..end });
        changed = true;
    }
    holes.extend(rest);
    changed
}
