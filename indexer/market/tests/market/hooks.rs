//! What tests steer programs with exists only behind the feature `testing`: cut that out of the source, and no hook
//! is left.

use std::path::{Path, PathBuf};

/// Names that only tests need.
const HOOKS: [&str; 8] = [
    "test_clock",
    "test_die_after",
    "DrivenClock",
    "DieAfter",
    "dyn Probe",
    "Clock::Server",
    "\"FIX_TEST_CLOCK\"",
    "\"/test/clock\"",
];
const GATE: &str = "#[cfg(feature = \"testing\")]";

/// The source without comments and without the items, fields, arms and statements behind the gate; and the modules
/// behind it.
fn without_gated(source: &str) -> (String, Vec<String>) {
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut rest: &str = &lines.collect::<Vec<_>>().join("\n");
    let (mut kept, mut modules) = (String::new(), Vec::new());
    while let Some((before, after)) = rest.split_once(GATE) {
        kept.push_str(before);
        let mut depth = 0_usize;
        let end = after.char_indices().find(|(_, c)| {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && matches!(c, ';' | ',' | '}')
        });
        let end = end.map_or(after.len(), |(at, c)| at + c.len_utf8());
        let (gated, left) = after.split_at(end);
        if let Some((_, name)) = gated.trim_end_matches(';').rsplit_once("mod ") {
            modules.push(name.trim().to_owned());
        }
        rest = left;
    }
    kept.push_str(rest);
    (kept, modules)
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn crates(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // The embedded ledger is for tests as a whole.
        if path.join("Cargo.toml").exists() && path.join("src").exists() && !path.ends_with("devnet") {
            sources(&path.join("src"), found);
        }
    }
}

#[test]
fn a_build_without_the_feature_testing_has_no_hooks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["cli", "client", "indexer"] {
        crates(&root.join(folder), &mut files);
    }
    sources(&root.join("nano-escrow/src"), &mut files);
    let mut gated_modules = Vec::new();
    let mut left = Vec::new();
    for file in &files {
        let (kept, modules) = without_gated(&std::fs::read_to_string(file).unwrap());
        let folder = file.parent().unwrap();
        gated_modules.extend(modules.into_iter().map(|name| folder.join(name + ".rs")));
        left.push((file, kept));
    }
    assert!(gated_modules.iter().any(|file| file.ends_with("market/src/crash.rs")), "{gated_modules:?}");
    for (file, kept) in left.into_iter().filter(|(file, _)| !gated_modules.contains(file)) {
        for hook in HOOKS {
            assert!(!kept.contains(hook), "{} has {hook} outside of {GATE}", file.display());
        }
    }
}

#[test]
fn the_gate_covers_items_fields_and_arms_and_nothing_behind_them() {
    let source = format!(
        "struct A {{\n    {GATE}\n    #[arg(long)]\n    x: Option<u8>,\n    y: u8,\n}}\n{GATE}\nmod z;\nmatch a {{\n    \
         {GATE}\n    A::X => {{ f(1, 2); }}\n    A::Y => {{}}\n}}\n"
    );
    let (kept, modules) = without_gated(&source);
    assert!(!kept.contains('x') && kept.contains("y: u8"), "{kept}");
    assert!(!kept.contains("A::X") && kept.contains("A::Y"), "{kept}");
    assert_eq!(modules, ["z"]);
}
