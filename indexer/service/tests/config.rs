//! Settings of the process: what an empty variable means, and what `--print-config` writes.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;
use zx1_indexer::Config;

#[test]
fn an_empty_variable_counts_as_none() {
    let variables =
        ["CONFIG", "RPC", "WS", "DATA", "DB", "PORT", "NANO"].map(|it| format!("ZX1_INDEXER_{it}"));
    let printed = |variables: &[String]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-indexer"));
        command.arg("--print-config").env_clear().envs(variables.iter().map(|name| (name, "")));
        command.output().unwrap()
    };
    let usual = printed(&[]);
    assert!(usual.status.success(), "{usual:?}");
    assert_eq!(printed(&variables), usual);
}

#[test]
fn the_printed_configuration_has_every_default_and_is_read_back() {
    let run = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_zx1-indexer")).args(arguments).output().unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let printed = run(&["--print-config"]);
    assert_eq!(toml::from_str::<Config>(&printed).unwrap(), Config::default());
    // Nothing is left to a default: each value that is taken away, one at a time, is one that was printed.
    let whole: toml::Table = toml::from_str(&printed).unwrap();
    let again: toml::Table = toml::from_str(&toml::to_string(&Config::default()).unwrap()).unwrap();
    assert_eq!(whole, again);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("indexer.toml");
    std::fs::write(&file, &printed).unwrap();
    assert_eq!(run(&["--config", file.to_str().unwrap(), "--print-config"]), printed);
}
