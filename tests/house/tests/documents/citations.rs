//! Whatever the code cites is in this repository, at the place that the citation names.
//!
//! Citations have four forms: `decision B7`, `protocol.md, 5.5`, `fix.md, "Courts"`, and a path from the
//! root of the repository, from the crate or from the citing file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::files::{SourceFile, anchors, headings, pattern, tracked};
use regex::Regex;
use zx1_house_tests::root;

/// Files that must keep their bytes: databases remember the checksum of a migration that was applied, and archives that
/// others made have theirs inside.
const FROZEN: &[&str] =
    &["nano-escrow/src/journal/migrations/0001_journal.sql", "tests/vectors/relay/slurp.json"];

/// Written by a test of the error numbers, which comes with it.
const TO_COME: &[&str] = &["docs/errors.md"];

/// This test spells out what it refuses.
const THIS: &str = "tests/house/tests/documents/citations.rs";

/// Where a citation of several words may be broken: a line end, and what a comment begins with.
const GAP: &str = r"(?:\s*\n\s*(?://[/!]?|#|--|\*)?\s*|\s+)";

fn cited_files() -> Vec<SourceFile> {
    let skipped =
        |path: &str| path == THIS || FROZEN.contains(&path) || path.starts_with("tests/vectors/fix/scrubber");
    tracked().into_iter().filter(|file| !skipped(&file.path)).collect()
}

/// The pages of `docs/`, by file name.
fn documents() -> BTreeMap<String, String> {
    tracked()
        .into_iter()
        .filter_map(|file| Some((file.path.strip_prefix("docs/")?.to_owned(), file.text)))
        .filter(|(name, _)| name.ends_with(".md"))
        .collect()
}

fn report(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}: {}\n{}", found.len(), found.join("\n"));
}

#[test]
fn nothing_outside_of_the_repository_is_cited() {
    let outside = [
        pattern(&format!(
            r"(?i)\bspec(?:ification)?{GAP}(?:0x01,?{GAP})?(?:sections?{GAP})?[0-9]+(?:\.[0-9]+)*\b"
        )),
        pattern(r#"\((?:the )?spec(?:ification)?[,:)" ]"#),
        pattern(r"\bnotes/[a-z-]+\.md"),
        pattern(r"\bissue [0-9]+\b"),
        pattern(r"\bdesign\.md\b|\.\./shared\b"),
        pattern(&format!(
            r"(?i)\bspec(?:ification)?{GAP}(?:field|order|section)\b|\bthe{GAP}spec\b|\bthe{GAP}spec's\b"
        )),
    ];
    let mut found = BTreeMap::new();
    for file in cited_files() {
        for hit in outside.iter().flat_map(|pattern| pattern.find_iter(&file.text)) {
            let place = format!("{}:{}", file.path, file.line_of(hit.start()));
            found.insert(place, hit.as_str().trim().to_owned());
        }
    }
    let found: Vec<String> = found.into_iter().map(|(place, text)| format!("{place}: {text}")).collect();
    report("citations of what is not here", &found);
}

#[test]
fn every_cited_decision_has_a_paragraph() {
    let decisions = documents().remove("decisions.md").expect("docs/decisions.md");
    let known = anchors(&decisions);
    let one = r"[A-Z][0-9]{1,2}\b";
    let list =
        pattern(&format!(r"\b[Dd]ecisions?{GAP}({one}(?:(?:,?{GAP}(?:and|or|to){GAP}|,{GAP}){one})*)"));
    let number = pattern(one);
    let mut found = Vec::new();
    let mut seen = 0;
    for file in cited_files() {
        for hit in list.captures_iter(&file.text) {
            let (at, text) = hit.get(1).map_or((0, ""), |m| (m.start(), m.as_str()));
            for cited in number.find_iter(text) {
                seen += 1;
                if !known.contains(cited.as_str()) {
                    found.push(format!("{}:{}: {}", file.path, file.line_of(at), cited.as_str()));
                }
            }
        }
    }
    report("decisions without a paragraph in docs/decisions.md", &found);
    assert!(seen > 300, "the pattern has stopped matching: {seen}");
}

#[test]
fn every_cited_section_exists() {
    let documents = documents();
    let names = documents.keys().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|");
    let word = r"[0-9]+(?:\.[0-9]+)*";
    let numbered =
        pattern(&format!(r"\b({names}),{GAP}({word}(?:(?:,{GAP}|{GAP}(?:and|or|to){GAP}){word})*)\b"));
    let titled = pattern(&format!(r#"\b({names}),{GAP}((?:"[^"\n]+"(?:{GAP}and{GAP}|,{GAP})?)+)"#));
    let anchored = pattern(&format!(r"\b({names})#([A-Za-z0-9._-]+)"));
    let number = pattern(word);
    let title = pattern(r#""([^"\n]+)""#);
    let mut found = Vec::new();
    let mut seen = 0;
    for file in cited_files() {
        let mut refuse =
            |at: usize, what: &str| found.push(format!("{}:{}: {what}", file.path, file.line_of(at)));
        for hit in numbered.captures_iter(&file.text) {
            let known = anchors(&documents[&hit[1]]);
            for cited in number.find_iter(&hit[2]) {
                seen += 1;
                if !known.contains(cited.as_str()) {
                    refuse(hit.get(0).map_or(0, |m| m.start()), &format!("{}, {}", &hit[1], cited.as_str()));
                }
            }
        }
        for hit in titled.captures_iter(&file.text) {
            let known: BTreeSet<String> = headings(&documents[&hit[1]]).into_iter().collect();
            for cited in title.captures_iter(&hit[2]) {
                seen += 1;
                if !known.contains(&cited[1]) {
                    refuse(hit.get(0).map_or(0, |m| m.start()), &format!("{}, {}", &hit[1], &cited[1]));
                }
            }
        }
        for hit in anchored.captures_iter(&file.text) {
            if !anchors(&documents[&hit[1]]).contains(&hit[2]) {
                refuse(hit.get(0).map_or(0, |m| m.start()), &hit[0]);
            }
        }
    }
    report("citations of a section that is not there", &found);
    assert!(seen > 80, "the pattern has stopped matching: {seen}");
}

/// Whether a path that a file names is there: from the root, from the file's folder, or from its crate.
fn resolves(from: &str, path: &str) -> bool {
    let root = root();
    let mut folders = vec![root.clone()];
    let mut folder = Path::new(from).parent();
    while let Some(here) = folder {
        folders.push(root.join(here));
        if root.join(here).join("Cargo.toml").exists() {
            break;
        }
        folder = here.parent();
    }
    folders.iter().any(|folder| folder.join(path).exists())
}

/// `a/{b,c}/d` as `a/b/d` and `a/c/d`; `None` for placeholders and wildcards.
fn expanded(path: &str) -> Option<Vec<String>> {
    if path.contains(['<', '*', '$', '…', ' ']) {
        return None;
    }
    let Some((before, rest)) = path.split_once('{') else {
        return Some(vec![path.to_owned()]);
    };
    let (inner, after) = rest.split_once('}')?;
    Some(inner.split(',').map(|one| format!("{before}{}{after}", one.trim())).collect())
}

#[test]
fn every_path_in_a_document_or_comment_leads_somewhere() {
    let tops: Vec<String> = std::fs::read_dir(root())
        .expect("the root")
        .filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir())?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') && name != "target")
        .collect();
    let quoted = pattern(&format!(r"`((?:{})/[^`\s]+)`", tops.join("|")));
    let mut found = Vec::new();
    for file in cited_files() {
        // A log of what was says where things were.
        if !file.has_extension(&["rs", "md", "py", "js", "toml", "sql"]) || file.path == "CHANGELOG.md" {
            continue;
        }
        for hit in quoted.captures_iter(&file.text) {
            let path = hit[1].split(['#', ':']).next().unwrap_or_default().trim_end_matches(['/', '.']);
            // Made by a build.
            if path.starts_with("target/") {
                continue;
            }
            for path in expanded(path).into_iter().flatten() {
                if !resolves(&file.path, &path) && !TO_COME.contains(&path.as_str()) {
                    let at = hit.get(0).map_or(0, |m| m.start());
                    found.push(format!("{}:{}: {path}", file.path, file.line_of(at)));
                }
            }
        }
    }
    report("paths that lead nowhere", &found);
}

#[test]
fn every_link_in_markdown_leads_somewhere() {
    let link: Regex = pattern(r"\]\(([^()\s]+)\)");
    let mut found = Vec::new();
    for file in cited_files() {
        if !file.has_extension(&["md"]) {
            continue;
        }
        for hit in link.captures_iter(&file.text) {
            let target = &hit[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let folder = root().join(&file.path).parent().map(Path::to_path_buf).unwrap_or_default();
            let place = if path.is_empty() { root().join(&file.path) } else { folder.join(path) };
            let there = place.exists()
                && (anchor.is_empty()
                    || std::fs::read_to_string(&place).is_ok_and(|text| anchors(&text).contains(anchor)));
            if !there {
                let at = hit.get(0).map_or(0, |m| m.start());
                found.push(format!("{}:{}: {target}", file.path, file.line_of(at)));
            }
        }
    }
    report("links that lead nowhere", &found);
}
