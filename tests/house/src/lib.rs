//! What the tests of the house share: where the repository is, its tracked files, its crates.

pub mod modules;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root exists")
}

/// Every file that git tracks or would track, relative to the root.
///
/// # Panics
///
/// When git cannot be run or says no.
pub fn files() -> Vec<PathBuf> {
    let output = run("git", &["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    let mut files: Vec<PathBuf> =
        output.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    files.retain(|path| root().join(path).is_file());
    files.sort();
    files.dedup();
    files
}

/// A crate of one of the two workspaces.
#[derive(Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its folder, relative to the root.
    pub folder: PathBuf,
    /// The names of what it needs to be built; what only its tests need is not among them.
    pub needs: Vec<String>,
}

/// The crates of the workspaces, without those of the registry.
///
/// # Panics
///
/// When cargo cannot be run or says no.
pub fn packages() -> Vec<Package> {
    let mut packages = Vec::new();
    for manifest in ["Cargo.toml", "programs/Cargo.toml"] {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let arguments =
            ["metadata", "--no-deps", "--format-version=1", "--offline", "--manifest-path", manifest];
        let metadata: serde_json::Value =
            serde_json::from_str(&run(&cargo, &arguments)).expect("cargo metadata prints JSON");
        let list = metadata["packages"].as_array().expect("packages");
        packages.extend(list.iter().map(|package| {
            Package {
                name: text(&package["name"]),
                folder: Path::new(&text(&package["manifest_path"]))
                    .parent()
                    .and_then(|folder| folder.strip_prefix(root()).ok())
                    .expect("a folder of the repository")
                    .to_path_buf(),
                needs: package["dependencies"]
                    .as_array()
                    .expect("dependencies")
                    .iter()
                    .filter(|dependency| dependency["kind"] != "dev")
                    .map(|dependency| text(&dependency["name"]))
                    .collect(),
            }
        }));
    }
    packages
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    let output = output.unwrap_or_else(|error| panic!("{program} cannot be run: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
