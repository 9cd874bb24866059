//! The repository as a set of files: which are tracked, what a Markdown file's anchors are, where a path
//! leads. For tests of rules that hold everywhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;

/// A tracked text file.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    /// From the repository's root, with slashes.
    pub(crate) path: String,
    /// The whole text.
    pub(crate) text: String,
}

impl SourceFile {
    /// Whether the name ends with one of these extensions.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| extensions.iter().any(|wanted| found == *wanted))
    }

    /// The line, counted from 1, of a byte of the text.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        self.text.as_bytes().iter().take(byte).filter(|b| **b == b'\n').count() + 1
    }
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}

/// Every tracked file that exists and is UTF-8 text. Lock files are left out.
///
/// # Panics
///
/// If `git` cannot list the files.
pub(crate) fn tracked() -> Vec<SourceFile> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap_or_else(|error| panic!("git ls-files: {error}"));
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let paths: BTreeSet<String> = String::from_utf8_lossy(&listed.stdout)
        .split('\0')
        .filter(|path| !path.is_empty() && !path.ends_with(".lock"))
        .map(str::to_owned)
        .collect();
    let read =
        |path: String| Some(SourceFile { text: std::fs::read_to_string(root().join(&path)).ok()?, path });
    paths.into_iter().filter_map(read).collect()
}

/// What a link to a Markdown file may name after `#`: headings as GitHub writes them, and explicit ids.
pub(crate) fn anchors(markdown: &str) -> BTreeSet<String> {
    static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<a id="([^"]+)">"#));
    let ids = ID.captures_iter(markdown).map(|found| found[1].to_owned());
    ids.chain(headings(markdown).iter().map(|heading| slug(heading))).collect()
}

/// The headings of a Markdown file, outside of code.
pub(crate) fn headings(markdown: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && line.starts_with('#') {
            found.push(line.trim_start_matches('#').trim().to_owned());
        }
    }
    found
}

/// A heading's anchor: lower case, spaces to hyphens, everything else but letters, digits, `-` and `_` gone.
fn slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Compiles a pattern of a test.
///
/// # Panics
///
/// If it does not compile.
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| panic!("{error}"))
}
