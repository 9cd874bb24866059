//! `zx1 merkle`: roots and proofs as the protocol builds them (protocol.md, 8.5; decision C5).

use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Result, json_fault};
use crate::files;
use crate::input;
use crate::output::{Page, Report};
use crate::words::{self, count};
use clap::Subcommand;
use serde::Serialize;
use std::path::Path;
use zx1_operator::log::ProofFile;
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::merkle::{self, MerkleError, Tree};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 merkle root entries.txt                       entries in hex, one per line
  cat entries.txt | zx1 merkle root                 the same from standard input
  zx1 merkle root --leaves hashes.txt               the lines are leaf hashes
  zx1 merkle prove entries.txt --index 2 --output json > proof.json
  zx1 merkle verify proof.json
  zx1 merkle verify --root ROOT --len 5 --index 5 --entry HEX --path HASH,HASH,HASH

A leaf is keccak256(entry), a node is keccak256(left || right), and zero hashes
pad the left side to a power of two. --index of prove counts entries from 0; the
index in the proof counts in the padded tree, as the programs expect it. Empty
lines are skipped.";

#[derive(Debug, clap::Args)]
pub(crate) struct Entries {
    /// File with one hex entry per line; - for standard input
    #[arg(default_value = "-")]
    file: String,
    /// Treat the lines as leaf hashes instead of entries
    #[arg(long)]
    leaves: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Print the root of a list of entries
    Root(Entries),
    /// Print the proof that an entry is under the root
    Prove {
        #[command(flatten)]
        entries: Entries,
        /// Index of the entry, starting at 0
        #[arg(long, value_name = "N")]
        index: u64,
    },
    /// Verify a proof; exit code 1 if it is invalid
    Verify(Verify),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Proof, as written by merkle prove --output json; - for standard input
    #[arg(conflicts_with_all = ["root", "len", "index", "path"], required_unless_present = "root")]
    file: Option<String>,
    /// Root in hex
    #[arg(long, value_name = "HASH", requires_all = ["len", "index"])]
    root: Option<String>,
    /// Number of entries in the tree
    #[arg(long, value_name = "N")]
    len: Option<u32>,
    /// Index of the leaf in the padded tree
    #[arg(long, value_name = "N")]
    index: Option<u32>,
    /// Entry in hex
    #[arg(long, value_name = "HEX", conflicts_with = "leaf")]
    entry: Option<String>,
    /// Hash of the entry, instead of the entry
    #[arg(long, value_name = "HASH")]
    leaf: Option<String>,
    /// Hashes from the leaf up, separated by commas
    #[arg(long, value_name = "HASHES", value_delimiter = ',')]
    path: Vec<String>,
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Root(entries) => root(context, &entries),
        Action::Prove { entries, index } => prove(context, &entries, index),
        Action::Verify(verify) => check(context, verify),
    }
}

/// The leaf hashes of a file, line by line.
fn read_leaves(entries: &Entries) -> Result<Vec<Hash>> {
    let bytes = match entries.file.as_str() {
        "-" => files::read_all(std::io::stdin().lock(), "Standard input", defaults::MAX_LARGE_INPUT)?,
        name => files::read_needed(Path::new(name), defaults::MAX_LARGE_INPUT)?,
    };
    let mut leaves = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line_number = index.saturating_add(1);
        let bad = |why: String| Error::BadEntry { line: line_number, why };
        let text = std::str::from_utf8(line).map_err(|_| bad("it is not text".to_owned()))?.trim();
        if text.is_empty() {
            continue;
        }
        let entry = input::hex_line(text).map_err(bad)?;
        leaves.push(if entries.leaves {
            let found = entry.len();
            entry.try_into().map_err(|_| Error::BadLeaf { line: line_number, found })?
        } else {
            merkle::leaf::<Sha3>(&entry)
        });
    }
    Ok(leaves)
}

fn too_many() -> Error {
    Error::TooManyEntries { limit: u64::from(u32::MAX) }
}

#[derive(Serialize)]
struct Root {
    root: String,
    len: u32,
    depth: u32,
    padding: u64,
}

impl Report for Root {
    fn draw(&self, page: &mut Page) {
        page.field("root", &self.root)
            .field("entries", self.len)
            .field("depth", self.depth)
            .field("padding", format!("{} on the left", count(self.padding, "zero hash", "zero hashes")));
    }
}

fn root(context: &Context, entries: &Entries) -> Result<()> {
    let leaves = read_leaves(entries)?;
    let len = u32::try_from(leaves.len()).map_err(|_| too_many())?;
    let root = merkle::root_of_leaves::<Sha3>(len, leaves).map_err(|_| too_many())?;
    let (depth, padding) = (merkle::depth(len), merkle::padding(len));
    context.print(&Root { root: hex::encode(root), len, depth, padding })
}

pub(crate) fn draw_proof(proof: &ProofFile, page: &mut Page) {
    page.field("root", &proof.root)
        .field("entries", proof.len)
        .maybe("entry", proof.entry_index)
        .field("index", format!("{} in the padded tree", proof.index))
        .field("leaf", &proof.leaf);
    for (level, hash) in proof.path.iter().enumerate() {
        page.field(format!("path {level}"), hash);
    }
    if proof.path.is_empty() {
        page.field("path", "empty: the entry is the root");
    }
}

fn prove(context: &Context, entries: &Entries, index: u64) -> Result<()> {
    let leaves = read_leaves(entries)?;
    let leaf = usize::try_from(index).ok().and_then(|index| leaves.get(index)).copied();
    let tree = Tree::<Sha3>::new(leaves).map_err(|_| too_many())?;
    let none = Error::NoSuchEntry { index, entries: count(tree.len(), "entry", "entries") };
    let proof = u32::try_from(index).ok().and_then(|index| tree.proof_of_entry(index));
    let (Some(leaf), Some(proof)) = (leaf, proof) else { return Err(none.into()) };
    context.show(&ProofFile::new(&tree.root(), tree.len(), &leaf, index, &proof), draw_proof)
}

#[derive(Serialize)]
struct Holds {
    valid: bool,
    root: String,
    leaf: String,
    index: u32,
    len: u32,
}

impl Report for Holds {
    fn draw(&self, page: &mut Page) {
        page.line("The proof is valid: the leaf is under the root.")
            .field("leaf", &self.leaf)
            .field("root", &self.root)
            .field("index", format!("{} of {} in the padded tree", self.index, merkle::width(self.len)));
    }
}

fn check(context: &Context, args: Verify) -> Result<()> {
    let proof = match args.file {
        Some(file) => read_proof(&file)?,
        None => from_options(args)?,
    };
    let root: Hash = input::hex_array(&proof.root, "The root")?;
    let leaf: Hash = input::hex_array(&proof.leaf, "The leaf")?;
    let path: Vec<Hash> =
        proof.path.iter().map(|hash| input::hex_array(hash, "A hash of the path")).collect::<Result<_>>()?;
    merkle::verify::<Sha3>(&root, proof.len, proof.index, &leaf, &path)
        .map_err(|error: MerkleError| Error::ProofFails { why: words::clause(&error.to_string()) })?;
    let (root, leaf) = (hex::encode(root), hex::encode(leaf));
    context.print(&Holds { valid: true, root, leaf, index: proof.index, len: proof.len })
}

fn read_proof(file: &str) -> Result<ProofFile> {
    let bytes = match file {
        "-" => files::read_all(std::io::stdin().lock(), "Standard input", defaults::MAX_INPUT)?,
        name => files::read_needed(Path::new(name), defaults::MAX_INPUT)?,
    };
    serde_json::from_slice(&bytes)
        .map_err(|error| Error::ProofMalformed { path: file.to_owned(), why: json_fault(&error) }.into())
}

fn from_options(args: Verify) -> Result<ProofFile> {
    let leaf = match (&args.entry, args.leaf) {
        (Some(entry), _) => hex::encode(merkle::leaf::<Sha3>(&input::hex_bytes(entry, "The entry")?)),
        (None, Some(leaf)) => leaf,
        (None, None) => {
            let message = "Give --entry or --leaf.".to_owned();
            return Err(Error::Usage { message }.into());
        }
    };
    Ok(ProofFile {
        root: args.root.unwrap_or_default(),
        len: args.len.unwrap_or_default(),
        index: args.index.unwrap_or_default(),
        entry_index: None,
        leaf,
        path: args.path,
    })
}
