//! A server as a process: its log, its limits, a start with nothing set.

use crate::{Server, all};
use serde_json::Value;
use std::process::Command;
use zx1_e2e::{Localnet, binary, wait_until};

/// Nothing answers there.
const NOWHERE: &str = "http://127.0.0.1:9";

#[test]
fn a_start_with_nothing_set_warns_of_nothing_and_a_log_that_is_no_terminal_has_no_colours() {
    let net = Localnet::builder().start();
    for (prefix, mut server) in all(&net) {
        server.process.terminate();
        server.process.wait_for("stopping");
        for line in server.log() {
            assert!(!line.contains("WARN") && !line.contains("ERROR"), "{prefix}: {line}");
            assert!(!line.contains('\u{1b}'), "{prefix}: {line}");
        }
    }
}

#[test]
fn every_line_of_a_json_log_is_an_object() {
    let server = Server::start("zx1-indexer", ["--port", "0", "--rpc", NOWHERE, "--log-format", "json"]);
    let log = wait_until("it says that the node is away", || {
        Some(server.log()).filter(|log| log.iter().any(|line| line.contains("7000")))
    });
    for line in &log {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        for field in ["timestamp", "level", "message", "target"] {
            assert!(entry[field].is_string(), "{field}: {line}");
        }
    }
    let waits: Value = serde_json::from_str(log.iter().find(|line| line.contains("7000")).unwrap()).unwrap();
    assert_eq!((waits["level"].as_str(), waits["code"].as_u64()), (Some("WARN"), Some(7000)));
}

#[test]
fn the_error_that_ends_a_server_is_an_object_in_a_json_log_and_a_line_in_a_text_log() {
    let last = |format: &str| {
        let mut command = Command::new(binary("zx1-indexer"));
        command
            .args(["--config", "/nowhere/indexer.toml", "--log-format", format])
            .env_remove("ZX1_INDEXER_LOG");
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    };
    let entry: Value = serde_json::from_str(&last("json")).unwrap();
    assert_eq!((entry["level"].as_str(), entry["code"].as_u64()), (Some("ERROR"), Some(9610)));
    assert!(entry["message"].as_str().unwrap().contains("/nowhere/indexer.toml"), "{entry}");
    assert!(last("text").starts_with("error 9610: The configuration /nowhere/indexer.toml cannot be read"));
}

#[test]
fn a_log_format_that_there_is_not_is_refused_with_those_that_there_are() {
    for program in ["zx1-indexer", "fix-server", "zx1-sponsor", "zx1-node", "zx1-relay"] {
        let output = Command::new(binary(program)).args(["--log-format", "xml"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("'xml'") && said.contains("text, json"), "{said}");
    }
}

/// The value of a metric.
#[track_caller]
fn value(server: &Server, name: &str) -> f64 {
    let text = server.metrics();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
}

#[test]
fn a_server_takes_no_more_connections_than_it_has_files_for_and_says_so_without_a_warning() {
    let server = Server::with_files("fix-server", 300, &["--port", "0"]);
    assert_eq!(value(&server, "process_max_fds"), 300.0);
    assert_eq!(value(&server, "fix_market_connections_limit"), 44.0);
    let log = server.log().join("\n");
    assert!(log.contains("INFO") && log.contains("connections=44") && !log.contains("WARN"), "{log}");
    // Where there are files enough, the setting holds.
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[limits]\nconnections = 500\n").unwrap();
    let server =
        Server::with_files("fix-server", 1_000, &["--port", "0", "--config", config.to_str().unwrap()]);
    assert_eq!(value(&server, "fix_market_connections_limit"), 500.0);
    assert!(!server.log().join("\n").contains("open files"));
}
