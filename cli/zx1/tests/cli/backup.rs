//! Backup and restore: nothing is lost that an agent needs to stay honest, nothing is overwritten.

use crate::support::{Home, Refusal, Said, said};

const PASSPHRASE: &str = "four words are enough";

fn with_passphrase(home: &Home, arguments: &[&str], passphrase: &str) -> Said {
    said(home.command(arguments).env("ZX1_PASSPHRASE", passphrase))
}

/// A home with a key, an agent and what belongs to it.
fn lived_in() -> Home {
    let home = Home::with_key();
    let mint = "11111111111111111111111111111112";
    home.zx1(["config", "set", "agent", mint]).ok();
    for (name, content) in [
        ("nonces", "used up"),
        ("attestations", "hashes"),
        ("lock", ""),
        ("log/20480.log", "entries"),
        ("batches/20479.sig", "signature"),
        ("batches/20479.zx1batch", "bundle"),
    ] {
        home.file(&format!(".config/zx1/agents/{mint}/{name}"), content);
    }
    home.file(".config/zx1/outbox/one.json", "{}");
    home
}

#[test]
fn a_backup_brings_back_key_settings_nonces_and_outbox_ok() {
    let home = lived_in();
    let file = home.path().join("b.age");
    let file = file.to_str().unwrap();
    with_passphrase(&home, &["key", "backup", file], PASSPHRASE).ok();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.starts_with("-----BEGIN AGE ENCRYPTED FILE-----"), "{text}");
    assert!(!text.contains("used up"));

    let new = Home::new();
    let restored = with_passphrase(&new, &["--output", "json", "key", "restore", file], PASSPHRASE).json();
    let address = home.json(&["key", "show"])["address"].clone();
    assert_eq!(restored["address"], address);
    assert_eq!(new.json(&["key", "show"])["address"], address);
    assert_eq!(new.json(&["config", "get", "agent"])["value"], "11111111111111111111111111111112");
    let agent = new.folder().join("agents/11111111111111111111111111111112");
    for (name, there) in [
        ("nonces", true),
        ("attestations", true),
        ("batches/20479.sig", true),
        ("batches/20479.zx1batch", false),
        ("log/20480.log", false),
        ("lock", false),
    ] {
        assert_eq!(agent.join(name).exists(), there, "{name}");
    }
    assert_eq!(std::fs::read_to_string(agent.join("nonces")).unwrap(), "used up");
    assert!(new.folder().join("outbox/one.json").exists());
    let left: Vec<_> =
        new.files().into_keys().filter(|path| path.to_str().unwrap().contains(".restore")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_whole_backup_holds_logs_and_batches_too() {
    let home = lived_in();
    let file = home.path().join("b.age");
    with_passphrase(&home, &["key", "backup", "--all", file.to_str().unwrap()], PASSPHRASE).ok();
    let new = Home::new();
    with_passphrase(&new, &["key", "restore", file.to_str().unwrap()], PASSPHRASE).ok();
    let agent = new.folder().join("agents/11111111111111111111111111111112");
    assert_eq!(std::fs::read_to_string(agent.join("log/20480.log")).unwrap(), "entries");
    assert_eq!(std::fs::read_to_string(agent.join("batches/20479.zx1batch")).unwrap(), "bundle");
}

#[test]
fn a_restore_overwrites_nothing_and_a_wrong_passphrase_changes_nothing() {
    let home = lived_in();
    let file = home.path().join("b.age");
    let file = file.to_str().unwrap();
    with_passphrase(&home, &["key", "backup", file], PASSPHRASE).ok();
    let before = home.files();
    with_passphrase(&home, &["key", "restore", file], PASSPHRASE).fails(7423);
    with_passphrase(&home, &["key", "backup", file], PASSPHRASE).fails(7407);
    assert_eq!(home.files(), before);

    let new = Home::new();
    with_passphrase(&new, &["key", "restore", file], "not those words").fails(7421);
    let text = std::fs::read_to_string(file).unwrap();
    let middle = text.len() / 2;
    let cut = new.file("cut.age", &text[..middle]);
    with_passphrase(&new, &["key", "restore", &cut], PASSPHRASE).fails(7420);
    let junk = new.file("junk.age", "not age at all");
    with_passphrase(&new, &["key", "restore", &junk], PASSPHRASE).fails(7420);
    with_passphrase(&new, &["key", "restore", "missing.age"], PASSPHRASE).fails(7406);
    let left: Vec<_> = new.files().into_keys().filter(|path| path.starts_with(new.folder())).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_passphrase_comes_from_a_descriptor_and_must_not_be_short() {
    let home = Home::with_key();
    let file = home.path().join("b.age");
    let file = file.to_str().unwrap();
    let mut short = home.command(["key", "backup", file, "--passphrase-fd", "0"]);
    said(short.write_stdin("too short\n")).fails(7419);
    assert!(!std::path::Path::new(file).exists());
    let mut good = home.command(["key", "backup", file, "--passphrase-fd", "0"]);
    said(good.write_stdin(format!("{PASSPHRASE}\nnext line\n"))).ok();
    let new = Home::new();
    with_passphrase(&new, &["key", "restore", file], PASSPHRASE).ok();
}

#[test]
fn without_a_terminal_and_a_passphrase_a_backup_fails() {
    let home = Home::with_key();
    let before = home.files();
    home.zx1(["key", "backup", "b.age"]).fails(7418);
    assert_eq!(home.files(), before);
}
