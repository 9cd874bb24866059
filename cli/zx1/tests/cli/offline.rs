//! Commands that need a cluster, without one.

use crate::support::Home;

/// A port on which nobody listens: below those that the system gives out, so that no other test can be given it.
const DEAD_URL: &str = "http://127.0.0.1:1";

#[test]
fn an_unreachable_cluster_is_one_sentence_and_changes_nothing() {
    let home = Home::with_key();
    home.zx1(["config", "set", "agent", "11111111111111111111111111111112"]).ok();
    let url = DEAD_URL;
    let before = home.files();
    for arguments in [
        &["stake", "lock", "10", "--yes"][..],
        &["stake", "unlock", "--yes"],
        &["stake", "cancel", "--yes"],
        &["stake", "claim", "--yes"],
        &["stake", "show"],
        &["lease", "pay", "--yes"],
        &["lease", "tick", "--yes"],
        &["lease", "show"],
        &["lease", "status"],
        &["delegate", "add", "11111111111111111111111111111113", "--yes"],
        &["delegate", "list"],
        &["delegate", "revoke", "11111111111111111111111111111113", "--yes"],
        &["register", "--name", "alice", "--yes"],
        &["status"],
        &["inspect", "account", "11111111111111111111111111111112"],
    ] {
        let said = home.zx1([arguments, &["--url", url]].concat());
        assert!(said.fails(7000).contains(url), "{arguments:?}: {said:?}");
    }
    assert_eq!(home.files(), before);
}

#[test]
fn doctor_goes_on_without_a_cluster_and_says_what_it_did_not_look_at() {
    let home = Home::with_key();
    let said = home.zx1(["doctor", "--output", "json", "--url", DEAD_URL]);
    assert_eq!(said.code, 1, "{said:?}");
    let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let mark = |name: &str| {
        let checks = found["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["mark"].as_str().unwrap().to_owned()
    };
    assert_eq!((mark("key"), mark("cluster"), mark("stake")), ("ok".into(), "fail".into(), "skip".into()));
    assert!(said.err.contains("7506"), "{said:?}");
}

#[test]
fn without_an_agent_a_command_says_how_to_get_one() {
    let home = Home::with_key();
    for arguments in [&["stake", "show"][..], &["lease", "pay"], &["delegate", "list"]] {
        let said = home.zx1(arguments);
        assert!(said.fails(7434).contains("zx1 register"), "{said:?}");
    }
    home.zx1(["stake", "show", "--agent", "bob"]).fails(7436);
}

#[test]
fn wrong_arguments_are_usage_and_are_refused_before_anything_is_asked() {
    let home = Home::with_key();
    let before = home.files();
    let url = DEAD_URL;
    for (arguments, number) in [
        (&["stake", "lock", "ten"][..], 7456),
        (&["stake", "lock", "1.0000001"], 7456),
        (&["stake", "lock", "-1"], 7400),
        (&["stake", "lock"], 7400),
        (&["lease", "pay", "--epochs", "0"], 7400),
        (&["delegate", "add", "nobody"], 7451),
        (&["register", "--name", "a", "--endpoint", "https://x"], 7503),
        (&["register", "--name", "a", "--metadata", "nothing"], 7504),
        (&["register", "--name", ""], 7502),
        (&["register"], 7400),
        (&["stake", "lock", "1", "--sign-only"], 7400),
        (&["stake", "lock", "1", "--dry-run", "--print-tx"], 7400),
        (&["completions", "tcl"], 7400),
        (&["nonsense"], 7400),
    ] {
        let said = home.zx1([arguments, &["--url", url]].concat());
        said.is_usage(number);
    }
    assert_eq!(home.files(), before);
}
