//! The catalogue of refusals: every number is used, and every number that a text names exists.

use std::collections::BTreeSet;
use std::path::Path;
use zx1_cli::errors::Error;

/// Every text file of a kind below a folder.
fn texts(folder: &Path, extensions: &[&str], found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, extensions, found);
        } else if path.extension().is_some_and(|kind| extensions.iter().any(|known| kind == *known)) {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn every_refusal_of_the_catalogue_is_used_somewhere() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    texts(&crate_folder.join("src"), &["rs"], &mut sources);
    // What both command lines share refuses with variants of the same names.
    texts(&crate_folder.join("../common/src"), &["rs"], &mut sources);
    let catalogues = ["errors.rs", "tests.rs", "catalogue.rs"];
    let code: String = sources
        .iter()
        .filter(|(path, _)| !catalogues.iter().any(|name| path.ends_with(name)))
        .map(|(_, text)| text.split("#[cfg(test)]\nmod tests {").next().unwrap())
        .collect();
    let stands = |word: String| {
        code.match_indices(&word).any(|(at, found)| {
            let behind = code[at + found.len()..].chars().next();
            behind.is_none_or(|letter| !letter.is_alphanumeric())
        })
    };
    let is_used = |name: &str| stands(format!("Error::{name}")) || stands(format!("Fault::{name}"));
    let unused: Vec<_> = Error::ALL.iter().filter(|(_, name)| !is_used(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
    let names: BTreeSet<&str> = Error::ALL.iter().map(|(_, name)| *name).collect();
    assert_eq!(names.len(), Error::ALL.len(), "two refusals share a name");
}

/// Numbers from 7400 to 7599 that stand as words of their own, not as a part of an address or of a hash.
fn numbers(text: &str) -> BTreeSet<u32> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| word.len() == 4)
        .filter_map(|word| word.parse().ok())
        .filter(|number| (7400..7600).contains(number))
        .collect()
}

#[test]
fn every_number_that_a_text_names_is_in_the_catalogue() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repository = crate_folder.join("../..");
    let mut found = Vec::new();
    texts(&crate_folder.join("src"), &["rs"], &mut found);
    texts(&crate_folder.join("tests"), &["rs", "trycmd"], &mut found);
    texts(&repository.join("tests/e2e/tests"), &["rs"], &mut found);
    let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    for name in
        pages.into_iter().chain(["docs/operate.md", "docs/protocol.md", "docs/fix.md", "docs/wire.md"])
    {
        found.push((name.to_owned(), std::fs::read_to_string(repository.join(name)).unwrap()));
    }
    let known: BTreeSet<u32> = Error::ALL.iter().map(|(number, _)| *number).collect();
    // Where the range itself is spoken of.
    let bounds = [7499, 7599];
    let mut seen = BTreeSet::new();
    for (path, text) in &found {
        for number in numbers(text) {
            assert!(known.contains(&number) || bounds.contains(&number), "{path} names {number}");
            seen.insert(number);
        }
    }
    assert!(seen.len() > 60, "{}", seen.len());
}
