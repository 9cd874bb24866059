//! What CONTRIBUTING.md says of licences is what each crate says of itself.

use std::collections::BTreeMap;

use crate::files::{SourceFile, pattern, tracked};

/// The `license` of a manifest, or of its workspace.
fn licence(manifest: &SourceFile, manifests: &BTreeMap<String, SourceFile>) -> Option<String> {
    let own = pattern(r#"(?m)^license = "([^"]+)""#);
    let found = |file: &SourceFile| own.captures(&file.text).map(|found| found[1].to_owned());
    if !manifest.text.contains("license.workspace = true") {
        return found(manifest);
    }
    // The nearest workspace above.
    let mut folder = manifest.path.trim_end_matches("Cargo.toml").trim_end_matches('/');
    loop {
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let path = if folder.is_empty() { "Cargo.toml".to_owned() } else { format!("{folder}/Cargo.toml") };
        match manifests.get(&path) {
            Some(file) if file.text.contains("[workspace.package]") => return found(file),
            _ if folder.is_empty() => return None,
            _ => {}
        }
    }
}

#[test]
fn each_crate_has_the_licence_of_the_table() {
    let files: BTreeMap<String, SourceFile> =
        tracked().into_iter().map(|file| (file.path.clone(), file)).collect();
    let manifests: BTreeMap<String, SourceFile> = files
        .iter()
        .filter(|(path, _)| path.ends_with("Cargo.toml"))
        .map(|(p, f)| (p.clone(), f.clone()))
        .collect();
    let (_, section) =
        files["CONTRIBUTING.md"].text.split_once("## Licences").expect("a section on licences");
    let row = pattern(r"(?m)^\| (`[^|]+) \| (AGPL-3.0-or-later|MIT OR Apache-2.0)\b");
    let quoted = pattern("`([^`]+)`");
    let mut table = BTreeMap::new();
    for found in row.captures_iter(section) {
        for path in quoted.captures_iter(&found[1]) {
            table.insert(path[1].to_owned(), found[2].to_owned());
        }
    }
    assert!(table.len() > 5, "{table:?}");
    for path in table.keys() {
        assert!(files.keys().any(|file| file.starts_with(&format!("{path}/"))), "no folder {path}");
    }
    let mut crates = 0;
    for (path, manifest) in &manifests {
        if !manifest.text.contains("[package]") {
            continue;
        }
        crates += 1;
        let expected = table
            .iter()
            .filter(|(folder, _)| path.starts_with(&format!("{folder}/")))
            .max_by_key(|(folder, _)| folder.len())
            .map(|(_, licence)| licence.clone());
        assert_eq!(licence(manifest, &manifests), expected, "{path}: says, and CONTRIBUTING.md says");
    }
    assert!(crates > 25, "{crates}");
}
