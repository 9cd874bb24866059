//! The tools that a reproduction may name, each with the arguments that it takes and the rung that it needs.

use crate::dial::Rung;
use crate::hex::is_hex;
use zx1_market::Json;

/// Where a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the sandbox, with no network but loopback ports that the run itself opened.
    Jail,
    /// Outside, reading from hosts of the configuration alone.
    Reader,
    /// In the loop itself; no reproduction can name it.
    Loop,
}

/// What an argument may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text of at most this many bytes.
    Text(usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number between these, both included.
    Number(u64, u64),
    /// Lower-case hex of whole bytes, at most this many digits.
    Hex(usize),
    /// The sha256 of evidence that lies elsewhere: 64 digits.
    Sha256,
    /// A list of texts: most items, most bytes of each.
    Texts(usize, usize),
}

/// An argument of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name in the object.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether a call without it is refused.
    pub needed: bool,
}

const fn needed(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind, needed: true }
}

const fn optional(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind, needed: false }
}

/// A tool of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name that a canonical line has.
    pub name: &'static str,
    /// Another name for it, which a call may use and which is written back as the first.
    pub alias: Option<&'static str>,
    /// The lowest rung that may call it.
    pub rung: Rung,
    /// Where it runs.
    pub place: Place,
    /// What it takes.
    pub arguments: &'static [Argument],
    /// Wall time in seconds.
    pub seconds: u64,
    /// Longest output in bytes.
    pub output: usize,
}

/// Methods of a node that only read.
pub const CHAIN_METHODS: &[&str] = &[
    "getAccountInfo",
    "getMultipleAccounts",
    "getSlot",
    "getBlockTime",
    "getGenesisHash",
    "getSignaturesForAddress",
    "getTransaction",
];

/// What every tool of the jail takes: a short text, or evidence by its hash, and a seed.
const TEXT: Argument = optional("text", Kind::Text(MAX_TEXT));
const EVIDENCE: Argument = optional("evidence", Kind::Sha256);
const SEED: Argument = optional("seed", Kind::Number(0, u64::MAX));
const MAX_TEXT: usize = crate::defaults::MAX_REPRO;
const MIB: usize = 1 << 20;

const fn tool(
    name: &'static str,
    rung: Rung,
    place: Place,
    seconds: u64,
    arguments: &'static [Argument],
) -> Tool {
    Tool { name, alias: None, rung, place, arguments, seconds, output: MIB }
}

const fn alias(name: &'static str, tool: Tool) -> Tool {
    Tool { alias: Some(name), ..tool }
}

/// All tools that the loop has.
pub static TOOLS: [Tool; 11] = [
    alias(
        "qa_compile",
        tool(
            "qa_decode",
            Rung::Observe,
            Place::Jail,
            10,
            &[optional("kind", Kind::Text(32)), optional("hex", Kind::Hex(MAX_TEXT)), TEXT, EVIDENCE, SEED],
        ),
    ),
    tool(
        "qa_cli",
        Rung::Observe,
        Place::Jail,
        30,
        &[
            optional("program", Kind::Word(&["zx1", "fix", "nano"])),
            optional("arguments", Kind::Texts(32, 200)),
            TEXT,
            EVIDENCE,
            SEED,
        ],
    ),
    tool(
        "qa_http",
        Rung::Observe,
        Place::Jail,
        120,
        &[
            needed("api", Kind::Word(&["market", "indexer"])),
            optional("cases", Kind::Number(1, 10_000)),
            EVIDENCE,
            SEED,
        ],
    ),
    tool("qa_fetch", Rung::Observe, Place::Reader, 10, &[needed("url", Kind::Text(300))]),
    tool(
        "qa_chain",
        Rung::Observe,
        Place::Reader,
        10,
        &[needed("method", Kind::Word(CHAIN_METHODS)), optional("params", Kind::Texts(8, 100))],
    ),
    alias(
        "qa_create",
        tool(
            "qa_register",
            Rung::Exercise,
            Place::Jail,
            120,
            &[optional("name", Kind::Text(32)), TEXT, SEED],
        ),
    ),
    alias(
        "qa_publish",
        tool(
            "qa_story",
            Rung::Exercise,
            Place::Jail,
            300,
            &[
                optional("parties", Kind::Number(3, 20)),
                optional("steps", Kind::Number(1, 10_000)),
                TEXT,
                EVIDENCE,
                SEED,
            ],
        ),
    ),
    tool("qa_call", Rung::Exercise, Place::Jail, 60, &[needed("text", Kind::Text(MAX_TEXT)), SEED]),
    tool("qa_attack", Rung::Exercise, Place::Jail, 120, &[optional("scene", Kind::Text(64)), TEXT, SEED]),
    tool("qa_report", Rung::Observe, Place::Loop, 60, &[needed("text", Kind::Text(MAX_TEXT))]),
    tool("qa_propose", Rung::Propose, Place::Loop, 3600, &[needed("entry", Kind::Number(0, u64::MAX))]),
];

/// The tool of this name or alias.
pub fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name || tool.alias == Some(name))
}

impl Kind {
    /// Whether a value is of this kind.
    fn takes(self, value: &Json) -> bool {
        match self {
            Self::Text(most) => value.as_str().is_some_and(|text| text.len() <= most),
            Self::Word(words) => value.as_str().is_some_and(|text| words.contains(&text)),
            Self::Number(least, most) => value.as_u64().is_some_and(|n| (least..=most).contains(&n)),
            Self::Hex(most) => value.as_str().is_some_and(|text| is_hex(text) && text.len() <= most),
            Self::Sha256 => value.as_str().is_some_and(|text| is_hex(text) && text.len() == 64),
            Self::Texts(items, bytes) => value.as_array().is_some_and(|list| {
                list.len() <= items
                    && list.iter().all(|item| item.as_str().is_some_and(|text| text.len() <= bytes))
            }),
        }
    }
}

impl Tool {
    /// The argument that keeps a value from being this tool's, or the one that is missing.
    pub fn objection<'a>(&self, arguments: &'a Json) -> Option<&'a str> {
        let Some(fields) = arguments.as_object() else { return Some("") };
        let missing = self.arguments.iter().find(|it| it.needed && !fields.contains_key(it.name));
        let wrong = |(name, value): &(&'a String, &Json)| {
            !self.arguments.iter().any(|it| it.name == name.as_str() && it.kind.takes(value))
        };
        missing.map(|it| it.name).or_else(|| fields.iter().find(wrong).map(|(name, _)| name.as_str()))
    }
}
