//! What does not start, and what it says.

use crate::common::*;
use std::{fs, net::TcpListener};
use zx1_localnet::Localnet;

#[test]
fn a_second_instance_on_the_same_folder_is_refused_fails() {
    let folder = tempfile::tempdir().unwrap();
    let net = builder().state(folder.path()).start().unwrap();
    let error = builder().state(folder.path()).start().err().unwrap();
    assert_eq!(error.code(), 9804);
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    assert!(net.failure().is_none());
    net.stop().unwrap();
    builder().state(folder.path()).start().unwrap();
}

#[test]
fn a_taken_port_is_one_clear_sentence_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = builder().port(port).ws_port(0).start().err().unwrap();
    assert_eq!(error.code(), 9802);
    assert_eq!(error.to_string(), format!("The RPC port {port} is taken by another program."));
    let error = builder().ws_port(port).start().err().unwrap();
    assert_eq!(error.to_string(), format!("The websocket port {port} is taken by another program."));
    let error = builder().control_port(port).start().err().unwrap();
    assert_eq!(error.to_string(), format!("The control port {port} is taken by another program."));
}

#[test]
fn ports_are_free_again_after_stop_ok() {
    let net = start();
    let ports: Vec<u16> = [&net.env().rpc_url, &net.env().ws_url]
        .map(|url| url.rsplit(':').next().unwrap().parse().unwrap())
        .to_vec();
    net.stop().unwrap();
    for port in ports {
        wait_until("the port is free", || TcpListener::bind(("127.0.0.1", port)).ok());
    }
}

#[test]
fn missing_programs_say_what_to_run_fails() {
    let empty = tempfile::tempdir().unwrap();
    let error = Localnet::builder().port(0).programs(empty.path()).start().err().unwrap();
    assert_eq!(error.code(), 9800);
    assert!(error.to_string().contains("zx1_stake_lock.so"), "{error}");
    assert!(error.next().contains("scripts/build-programs"));
}

#[test]
fn a_broken_program_is_named_fails() {
    let folder = tempfile::tempdir().unwrap();
    let built = zx1_fixtures::deploy_folder(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in zx1_fixtures::PROGRAMS.iter().chain(&zx1_fixtures::STAND_INS) {
        let file = format!("{name}.so");
        fs::copy(built.join(&file), folder.path().join(&file)).unwrap();
    }
    fs::write(folder.path().join("zx1_challenge.so"), b"no ELF").unwrap();
    let error = Localnet::builder().port(0).programs(folder.path()).start().err().unwrap();
    assert_eq!(error.code(), 9801);
    assert!(error.to_string().contains("zx1_challenge.so"), "{error}");
}

#[test]
fn a_damaged_key_is_named_and_reset_replaces_it_fails() {
    let folder = tempfile::tempdir().unwrap();
    builder().state(folder.path()).start().unwrap().stop().unwrap();
    let file = folder.path().join("wallets/wallet-2.json");
    fs::write(&file, "[1,2,3]").unwrap();
    let error = builder().state(folder.path()).start().err().unwrap();
    assert_eq!(error.code(), 9808);
    assert!(error.to_string().contains("wallet-2.json"));
    let net = builder().state(folder.path()).reset(true).start().unwrap();
    wallet(&net, "wallet-2");
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named_fails() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = builder().state(file.join("state")).start().err().unwrap();
    assert_eq!(error.code(), 9805);
    assert!(error.to_string().contains("state"), "{error}");
}

#[test]
fn every_refusal_has_its_own_number_and_advice_ok() {
    let errors = [
        start_error(|builder| builder.programs("/nonexistent")),
        start_error(|builder| builder.state("/dev/null/x")),
    ];
    for error in errors {
        assert!((9800..9900).contains(&error.code()));
        assert!(error.to_string().ends_with('.') && error.next().ends_with('.'), "{error} {}", error.next());
    }
}

fn start_error(
    change: impl FnOnce(zx1_localnet::Builder) -> zx1_localnet::Builder,
) -> zx1_localnet::LocalnetError {
    change(builder()).start().err().unwrap()
}
