//! The crates that others build on introduce themselves: a README, an example on the front page, all metadata.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use serde_json::Value;
use std::process::Command;
use zx1_house_tests::root;

/// Folder and example of each.
const CRATES: [(&str, &str); 7] = [
    ("client/chain", "addresses"),
    ("client/log", "epoch"),
    ("client/market", "contract"),
    ("client/market-client", "post"),
    ("client/protocol", "offer"),
    ("nano-escrow", "blocks"),
    ("programs/interface", "account"),
];

fn metadata(folder: &str) -> Value {
    let manifest = root().join(folder).join("Cargo.toml");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"])
        .arg(&manifest);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{folder}: {output:?}");
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_it = |package: &&Value| package["manifest_path"] == manifest.to_str().unwrap();
    all["packages"].as_array().unwrap().iter().find(is_it).unwrap().clone()
}

#[test]
fn each_crate_that_others_build_on_says_what_a_registry_shows() {
    for (folder, _) in CRATES {
        let package = metadata(folder);
        let text =
            |field: &str| package[field].as_str().unwrap_or_else(|| panic!("{folder}: {field}")).to_owned();
        assert!(text("description").len() > 20 && !text("description").ends_with('.'), "{folder}");
        assert_eq!(
            (text("license"), text("readme")),
            ("MIT OR Apache-2.0".to_owned(), "README.md".to_owned())
        );
        assert_eq!(text("rust_version"), "1.95", "{folder}");
        let keywords: Vec<&str> =
            package["keywords"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!((3..=5).contains(&keywords.len()), "{folder}: {keywords:?}");
        for keyword in keywords {
            let fits = keyword.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
            assert!(fits && keyword.len() <= 20, "{folder}: {keyword}");
        }
        assert!(!package["categories"].as_array().unwrap().is_empty(), "{folder}");
    }
}

#[test]
fn the_example_of_a_crate_stands_on_its_front_page_and_in_its_readme() {
    for (folder, example) in CRATES {
        let folder = root().join(folder);
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let file = format!("examples/{example}.rs");
        assert!(read(&file).contains("fn main()"), "{file}");
        assert!(read("src/lib.rs").contains(&format!("include_str!(\"../{file}\")")), "{}", folder.display());
        let readme = read("README.md");
        assert!(readme.contains(&format!("[{file}]({file})")), "{}", folder.display());
        // Every feature is explained to whoever chooses among them.
        for feature in metadata(folder.strip_prefix(root()).unwrap().to_str().unwrap())["features"]
            .as_object()
            .unwrap()
            .keys()
        {
            assert!(
                feature == "default" || readme.contains(&format!("| `{feature}`")),
                "{}: {feature}",
                folder.display()
            );
        }
    }
}
