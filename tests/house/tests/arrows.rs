//! Arrows between crates point down, and the nevers of ARCHITECTURE.md hold.

use std::collections::BTreeMap;

use zx1_house_tests::modules::{Modules, paths};
use zx1_house_tests::{files, packages, root};

/// From the attic to the cellar. A crate needs only crates of lower floors.
const FLOORS: &[&[&str]] = &[
    &["zx1-cli", "fix-cli", "nano-cli"],
    &["zx1-cli-common"],
    &["zx1-indexer", "zx1-market-server", "zx1-node", "zx1-relay", "zx1-sponsor"],
    &["zx1-server"],
    &["zx1-operator", "zx1-principal"],
    &["zx1-agent", "zx1-capsule"],
    &["zx1-trial"],
    &["zx1-fixer"],
    &["zx1-market-client", "zx1-relay-client"],
    &["zx1-model"],
    &["zx1-sandbox"],
    &["zx1-mesh", "zx1-relay-rules"],
    &["zx1-log"],
    &["zx1-chain", "zx1-qa"],
    &["zx1-market"],
    &["zx1-protocol", "zx1-scrub", "zx1-whitelist"],
    &["zx1-interface"],
    &["nano-devnet"],
    &["nano-escrow"],
    &["zx1-home", "zx1-net"],
    &["zx1-coded", "zx1-manual"],
    &["zx1-coded-derive"],
];

/// Crates whose answers follow from their arguments alone.
const PURE: &[&str] =
    &["zx1-market", "zx1-protocol", "zx1-qa", "zx1-relay-rules", "zx1-scrub", "zx1-whitelist", "zx1-coded"];

/// What a pure crate neither needs nor names.
const IMPURE_CRATES: &[&str] = &["tokio", "reqwest", "tempfile", "rustix", "sqlx"];
const IMPURE_PATHS: &[&str] =
    &["std::fs::", "std::net::", "std::env::", "std::process::", "SystemTime::now::", "Instant::now::"];

#[test]
fn every_arrow_between_crates_points_down() {
    let floor: BTreeMap<&str, usize> = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, names)| names.iter().map(move |name| (*name, floor)))
        .collect();
    let mut wrong = Vec::new();
    for package in packages() {
        if package.folder.starts_with("tests") || package.folder.starts_with("programs") {
            continue;
        }
        let Some(own) = floor.get(package.name.as_str()) else {
            wrong.push(format!("{} has no floor: add it to FLOORS", package.name));
            continue;
        };
        for need in &package.needs {
            if floor.get(need.as_str()).is_some_and(|other| other <= own) {
                wrong.push(format!("{} -> {need}", package.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn command_lines_are_needed_by_nobody_and_need_no_server() {
    let packages = packages();
    let folder_of: BTreeMap<&str, &std::path::Path> =
        packages.iter().map(|package| (package.name.as_str(), package.folder.as_path())).collect();
    let mut wrong = Vec::new();
    for package in &packages {
        for need in &package.needs {
            let Some(folder) = folder_of.get(need.as_str()) else { continue };
            let from_cli = package.folder.starts_with("cli");
            if (folder.starts_with("cli") && !from_cli) || (from_cli && folder.starts_with("indexer")) {
                wrong.push(format!("{} -> {need}", package.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nano_escrow_knows_nothing_of_zx1() {
    let floors_below = ["zx1-home", "zx1-net", "zx1-coded", "zx1-manual", "zx1-coded-derive"];
    for package in packages()
        .iter()
        .filter(|p| p.folder.starts_with("nano-escrow") || floors_below.contains(&p.name.as_str()))
    {
        for need in package.needs.iter().filter(|need| need.starts_with("zx1-")) {
            assert!(floors_below.contains(&need.as_str()), "{} -> {need}", package.name);
        }
    }
}

#[test]
fn pure_crates_know_no_clock_no_network_and_no_disk() {
    let packages = packages();
    let mut wrong = Vec::new();
    for package in packages.iter().filter(|package| PURE.contains(&package.name.as_str())) {
        for need in package.needs.iter().filter(|need| IMPURE_CRATES.contains(&need.as_str())) {
            wrong.push(format!("{} -> {need}", package.name));
        }
        for file in files().iter().filter(|file| file.starts_with(package.folder.join("src"))) {
            for path in paths(&root().join(file)) {
                let path = format!("{}::", path.join("::"));
                if IMPURE_PATHS.iter().any(|impure| path.contains(impure)) {
                    wrong.push(format!("{}: {path}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_of_one_crate_need_each_other_in_no_circle() {
    let mut wrong = Vec::new();
    for package in packages() {
        for name in ["lib.rs", "main.rs"] {
            let file = root().join(&package.folder).join("src").join(name);
            if !file.is_file() {
                continue;
            }
            let modules = Modules::read(&file);
            for circle in modules.circles() {
                let places: Vec<String> = circle.iter().map(|place| place.join("::")).collect();
                wrong.push(format!("{} ({}): {}", package.name, places.len(), places.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
