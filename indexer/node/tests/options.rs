//! The process, asked for what it does not do: it says what is wrong by number, and changes nothing.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

const AGENT: &str = "6tBou5MHL5aWpDy6cgf3wiwGGK2mR8qs68ujtpaoWrf2";
/// Port 1 of this machine, where nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";

fn run(home: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-node"));
    command.env_clear().env("HOME", home).env("ZX1_HOME", home.join("zx1")).args(options).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_refusal_has_its_number_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key.json");
    let bytes: Vec<String> = std::iter::repeat_n("7".to_owned(), 64).collect();
    std::fs::write(&key, format!("[{}]", bytes.join(","))).unwrap();
    let seed = home.path().join("seed");
    std::fs::write(&seed, "07".repeat(32)).unwrap();
    let (key, seed) = (key.to_str().unwrap(), seed.to_str().unwrap());
    let absent = home.path().join("absent.json");
    for (options, number, part) in [
        (&[][..], 7680, "--agent"),
        (&["--agent", "zz"], 7680, "Invalid agent 'zz'"),
        (&["--agent", AGENT], 7680, "keypair"),
        (&["--agent", AGENT, "-k", absent.to_str().unwrap()], 7682, "absent.json"),
        (&["--agent", AGENT, "-k", key], 7682, "key.json"),
        (&["--agent", AGENT, "-k", seed, "--api", "0.0.0.0:4010"], 7685, "loopback"),
        (&["--agent", AGENT, "-k", seed, "--bootstrap", "/ip4/127.0.0.1/tcp/1"], 7680, "/p2p/"),
        (&["--agent", AGENT, "-k", seed, "-u", "ftp://x"], 7007, "ftp://x"),
        (&["--agent", AGENT, "-k", seed, "-u", NOBODY], 7000, "127.0.0.1:1"),
    ] {
        let output = run(home.path(), options);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{options:?}: {text}");
        assert!(text.contains(&format!("error {number}:")) && text.contains(part), "{options:?}: {text}");
        assert!(output.stdout.is_empty() && !home.path().join("zx1").exists(), "{options:?}");
    }
    let folder = home.path().join("zx1");
    let folder = folder.to_str().unwrap();
    for (options, number) in [
        (&["--observe", folder, "--api", "0.0.0.0:4010"][..], 7685),
        (&["--observe", folder, "--bootstrap", "/ip4/127.0.0.1/tcp/1"], 7680),
        (&["--observe", folder, "--api", "127.0.0.1:0", "-u", NOBODY], 7000),
    ] {
        let text = said(&run(home.path(), options));
        assert!(text.contains(&format!("error {number}:")), "{options:?}: {text}");
        assert!(!home.path().join("zx1").exists(), "{options:?}");
    }
    for options in [&["--listen", "127.0.0.1:1"][..], &["--api", "4010"], &["--nonsense"]] {
        assert_eq!(run(home.path(), options).status.code(), Some(2), "{options:?}");
    }
}

#[test]
fn the_documents_of_the_local_api_are_printed_without_any_settings() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["--print-openapi"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), zx1_node::http::openapi::text());
}
