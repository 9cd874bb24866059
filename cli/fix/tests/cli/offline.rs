//! What needs neither market nor sandbox.

use crate::support::{Home, said};
use std::process::Stdio;

#[test]
fn a_command_that_works_is_left_alone_and_nothing_is_written() {
    let home = Home::new();
    let said = home.fix(["echo", "--json", "it works"]);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "--json it works\n", ""));
    assert!(!home.path().join(".fix").exists());
}

#[test]
fn standard_input_is_the_commands_own() {
    let home = Home::new();
    let input = home.file("in", "one\ntwo\n");
    let mut command = home.command(["wc", "-l"]);
    command.stdin(Stdio::from(std::fs::File::open(input).unwrap()));
    assert_eq!(said(&mut command).ok().trim(), "2");
}

#[test]
fn keys_are_made_once_imported_and_never_overwritten() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.fix(["init"]).ok();
    let key = home.path().join(".fix/key.ed25519");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let before = std::fs::read(&key).unwrap();
    assert!(home.fix(["init"]).ok().contains("You have a key already"));
    assert_eq!(std::fs::read(&key).unwrap(), before);

    // Decision A1: the other command's key, in every usual form, is the same party.
    let other = Home::new();
    let seed: Vec<u8> = serde_json::from_slice::<Vec<u8>>(&before).unwrap()[..32].to_vec();
    let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    let id = |home: &Home| {
        let said = home.fix(["--json", "init", "--import", "key"]);
        serde_json::from_str::<serde_json::Value>(said.ok()).unwrap()["fix_id"].as_str().unwrap().to_owned()
    };
    let mut ids = Vec::new();
    for form in [before, seed, hex.into_bytes()] {
        let home = Home::new();
        home.file("key", form);
        ids.push(id(&home));
    }
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]) && ids[0].starts_with("fix_"), "{ids:?}");
    home.file("key", [9; 32]);
    home.fix(["init", "--import", "key"]).refused(1, 9516);
    other.file("key", "[1,2,3]");
    other.fix(["init", "--import", "key"]).refused(1, 9513);
    other.fix(["init", "--import", "nothing"]).refused(1, 9510);
    assert!(!other.path().join(".fix").exists());
}

#[test]
fn a_setting_names_the_layer_that_it_came_from() {
    let home = Home::new();
    let source = |key: &str, flags: &[&str], variable: Option<&str>| {
        let mut command = home.command(["--json", "--key", key]);
        command.args(flags).arg("init");
        variable.map(|url| command.env("FIX_SERVER", url));
        let made: serde_json::Value = serde_json::from_str(said(&mut command).ok()).unwrap();
        format!("{} {}", made["market"].as_str().unwrap(), made["market_source"].as_str().unwrap())
    };
    assert_eq!(source("1", &[], None), "http://127.0.0.1:8000 default");
    std::fs::create_dir_all(home.path().join(".fix")).unwrap();
    std::fs::write(home.path().join(".fix/config.toml"), "server = \"http://a:1/\"\n").unwrap();
    assert_eq!(source("2", &[], None), "http://a:1 config.toml");
    assert_eq!(source("3", &[], Some("http://b:1")), "http://b:1 environment FIX_SERVER");
    assert_eq!(source("4", &["--server", "http://c:1"], Some("http://b:1")), "http://c:1 flag --server");
    // An invalid value is refused with its layer.
    let refused = said(home.command(["contracts"]).env("FIX_SERVER", "ftp://x"));
    assert!(
        refused.err.contains("invalid market address 'ftp://x' (environment FIX_SERVER)"),
        "{}",
        refused.err
    );
}

#[test]
fn secrets_are_taken_out_of_a_stream() {
    let home = Home::new();
    let input = home.file("in", "ok\nAPI_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\n");
    let open = || Stdio::from(std::fs::File::open(&input).unwrap());
    let plain = said(home.command(["scrub"]).stdin(open()));
    assert!(plain.ok().starts_with("ok\n") && plain.out.contains("[REDACTED:"), "{plain:?}");
    assert!(!plain.out.contains("ghp_"));
    let found = said(home.command(["--json", "scrub"]).stdin(open()));
    assert_eq!(found.events()[0]["findings"].as_array().unwrap().len(), 1);
}

#[test]
fn the_money_table_is_that_of_the_vectors() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/fix/escrow_routing.json");
    let vectors: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let home = Home::new();
    let mut tried = 0;
    for row in vectors["rows"].as_array().unwrap().iter().step_by(7) {
        let text = |name: &str| row[name].as_str().unwrap();
        let mut arguments =
            vec!["--json", "payout", "--outcome", text("scenario"), "--bounty", text("bounty")];
        if let Some(court) = row["court"].as_str() {
            arguments.extend(["--court", court]);
        }
        if let Some(filer) = row["filer"].as_str() {
            arguments.extend(["--filer", filer]);
        }
        let said = home.fix(&arguments);
        let shown: serde_json::Value = serde_json::from_str(said.ok()).unwrap();
        for name in ["deposited", "principal", "agent", "platform", "charity"] {
            assert_eq!(shown[name], row[name], "{arguments:?}: {name}");
        }
        tried += 1;
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn a_command_is_allowed_with_0_and_refused_with_1() {
    let home = Home::new();
    home.file("m.c", "int main;");
    home.fix(["check-command", "grep", "-n", "main", "m.c"]).ok();
    home.fix(["check-command", "cat m.c"]).ok();
    for line in ["rm m.c", "cat m.c; rm m.c", "cat /etc/shadow", "cat ../../etc/passwd.none", "cat $(ls)", ""]
    {
        let said = home.fix(["check-command", line]);
        assert_eq!(said.code, 1, "{line}: {said:?}");
        assert!(said.err.starts_with("error 9"), "{line}: {said:?}");
    }
}

#[test]
fn refusals_are_numbered_and_change_nothing() {
    let home = Home::new();
    home.file("no.json", "{}");
    for (arguments, code, number) in [
        (&["--nonsense"][..], 2, 9500),
        (&["verify"], 2, 9500),
        (&["verify", "nothing.json"], 1, 9506),
        (&["verify", "no.json"], 1, 9531),
        (&["payout", "--outcome", "x", "--bounty", "1"], 2, 9524),
        (&["payout", "--outcome", "fulfilled", "--bounty", "0.01"], 2, 9522),
        (&["payout", "--outcome", "fulfilled", "--bounty", "-1"], 2, 9522),
        (&["payout", "--outcome", "voided", "--bounty", "1", "--court", "moon"], 2, 9524),
        (&["undo"], 1, 9532),
        (&["undo", "nonsense"], 1, 9533),
        (&["it"], 1, 9543),
        (&["--local", "verify", "x"], 2, 9523),
        (&["--bounty", "much", "true"], 2, 9522),
        (&["show", "nonsense"], 1, 9557),
        (&["--server", "ftp://x", "contracts"], 2, 9521),
        (&["wallet", "balance"], 1, 9560),
        (&["wallet", "send", "nobody", "1", "--id", "a"], 2, 9565),
        (&["wallet", "balance", "--node", "http://127.0.0.1:1", "--network", "moon"], 2, 9561),
        (&["agent", "--model", "magic"], 2, 9563),
        (&["agent", "--price", "cheap"], 2, 9500),
        (&["judge"], 2, 9500),
        (&["judge", "--always", "maybe"], 2, 9524),
        (&["--key", "nothing", "show", "0123456789abcdef"], 1, 9510),
    ] {
        let said = home.fix(arguments);
        let err = said.refused(code, number);
        assert_eq!(err.lines().filter(|line| line.starts_with("next: ")).count(), 1, "{arguments:?}: {err}");
        assert_eq!(said.out, "", "{arguments:?}");
        assert!(!home.path().join(".fix").exists(), "{arguments:?} wrote something");
    }
    let json = home.fix(["--json", "undo"]);
    let refusal: serde_json::Value = serde_json::from_str(&json.err).unwrap();
    assert_eq!((refusal["code"].as_u64(), json.out.as_str()), (Some(9532), ""));
}
