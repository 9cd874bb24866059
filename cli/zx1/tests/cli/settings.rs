//! Where values come from, and what they may be.

use crate::support::{Home, Refusal, said};

#[test]
fn the_first_layer_that_says_something_wins_and_is_named() {
    let home = Home::new();
    let get = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = home.command([&["--output", "json", "config", "get", "url"], arguments].concat());
        let found = said(command.envs(variables.iter().copied())).json();
        (found["value"].as_str().unwrap().to_owned(), found["source"].as_str().unwrap().to_owned())
    };
    let pair = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    assert_eq!(get(&[], &[]), pair("http://127.0.0.1:8899", "default"));
    let solana = "---\njson_rpc_url: http://solana.example\nwebsocket_url: ''\n\
                  keypair_path: /solana/id.json\n\
                  address_labels: {}\ncommitment: finalized\n";
    home.file(".config/solana/cli/config.yml", solana);
    assert_eq!(get(&[], &[]), pair("http://solana.example", "Solana's config.yml"));
    assert_eq!(home.json(&["config", "get", "keypair"])["value"], "/solana/id.json");
    assert_eq!(home.json(&["config", "get", "commitment"])["value"], "finalized");
    home.zx1(["config", "set", "url", "devnet"]).ok();
    assert_eq!(get(&[], &[]), pair("https://api.devnet.solana.com", "config.toml"));
    let environment = [("ZX1_URL", "testnet")];
    assert_eq!(get(&[], &environment), pair("https://api.testnet.solana.com", "environment ZX1_URL"));
    assert_eq!(get(&["-u", "l"], &environment), pair("http://127.0.0.1:8899", "flag --url"));
    home.zx1(["config", "unset", "url"]).ok();
    assert_eq!(get(&[], &[]), pair("http://solana.example", "Solana's config.yml"));
}

#[test]
fn what_a_setting_cannot_be_is_refused_and_not_written() {
    let home = Home::with_key();
    let before = home.files();
    for (key, value) in [
        ("url", "mainnet"),
        ("url", "ftp://x"),
        ("commitment", "soon"),
        ("output", "xml"),
        ("compute_unit_price", "many"),
        ("keypair", ""),
    ] {
        home.zx1(["config", "set", key, value]).is_usage(7432);
    }
    let said = home.zx1(["config", "set", "colour", "red"]);
    assert!(said.is_usage(7430).contains("Unknown setting: colour"), "{said:?}");
    home.zx1(["config", "get", "colour"]).is_usage(7430);
    home.zx1(["config", "unset", "colour"]).is_usage(7430);
    assert_eq!(home.files(), before);
}

#[test]
fn a_bad_environment_is_refused_with_its_name() {
    let home = Home::new();
    let said = said(home.command(["config", "get"]).env("ZX1_COMMITMENT", "soon"));
    assert!(said.is_usage(7432).contains("environment ZX1_COMMITMENT"), "{said:?}");
}

#[test]
fn an_empty_variable_counts_as_none() {
    let home = Home::new();
    let names = ["ZX1_URL", "ZX1_KEYPAIR", "ZX1_COMMITMENT", "ZX1_OUTPUT", "ZX1_AGENT", "ZX1_UPLOAD"];
    let got = said(home.command(["config", "get"]).envs(names.map(|name| (name, ""))));
    assert_eq!(got.ok(), home.zx1(["config", "get"]).ok());
    let audit = said(home.command(["audit"]).env("ZX1_INDEXER", ""));
    assert!(audit.is_usage(7400).contains("Missing required argument: --indexer"), "{audit:?}");
}

#[test]
fn a_malformed_configuration_is_refused_with_its_line_and_kept() {
    let home = Home::new();
    home.file(".config/zx1/config.toml", "url = \"devnet\"\nurll = 1\n");
    let before = home.files();
    for arguments in [&["config", "get"][..], &["config", "set", "url", "l"], &["key", "show"]] {
        let said = home.zx1(arguments);
        assert!(said.fails(7431).contains("line 2, unknown field `urll`"), "{said:?}");
    }
    // The lock file is all that may be new.
    let mut after = home.files();
    after.retain(|path, _| path.file_name().unwrap() != ".lock");
    assert_eq!(after, before);
}

#[test]
fn settings_of_two_processes_at_once_are_both_kept() {
    let home = Home::with_key();
    let pairs = [
        ("upload", "/served"),
        ("commitment", "finalized"),
        ("agent", "11111111111111111111111111111112"),
        ("compute_unit_price", "7"),
    ];
    std::thread::scope(|scope| {
        for (key, value) in pairs {
            let home = &home;
            scope.spawn(move || home.zx1(["config", "set", key, value]).ok().to_owned());
        }
    });
    for (key, value) in pairs {
        assert_eq!(home.json(&["config", "get", key])["value"], value, "{key}");
    }
}

#[test]
fn zx1_home_moves_everything() {
    let home = Home::new();
    let elsewhere = home.path().join("elsewhere");
    said(home.command(["init"]).env("ZX1_HOME", &elsewhere)).ok();
    assert!(elsewhere.join("id.json").exists() && elsewhere.join("config.toml").exists());
    assert!(!home.folder().exists());
}

#[test]
fn without_any_home_it_says_so() {
    let home = Home::new();
    said(home.command(["config", "get"]).env_remove("HOME")).fails(7408);
}

#[test]
fn refusals_are_json_where_json_is_asked_for() {
    let home = Home::new();
    let cases: [(&[&str], u32, i32); 3] = [
        (&["--output", "json", "key", "show"], 7410, 1),
        (&["--output=json", "nonsense"], 7400, 2),
        (&["config", "set", "colour", "red", "--output", "json-compact"], 7430, 2),
    ];
    for (arguments, number, code) in cases {
        let said = home.zx1(arguments);
        let object: serde_json::Value =
            serde_json::from_str(&said.err).unwrap_or_else(|_| panic!("{said:?}"));
        assert_eq!((object["code"].as_u64(), said.code), (Some(number.into()), code), "{said:?}");
        for field in ["name", "message", "next"] {
            assert!(object[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {said:?}");
        }
    }
}
