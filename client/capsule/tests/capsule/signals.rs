//! Signal files, written by somebody hostile.

use std::fs;
use std::os::unix::fs::symlink;

use zx1_capsule::refname::Branch;
use zx1_capsule::signal::{Kind, Signal};
use zx1_capsule::spool::{done, look};

fn folder() -> (tempfile::TempDir, fs::File) {
    let folder = tempfile::tempdir().unwrap();
    let opened = fs::File::open(folder.path()).unwrap();
    (folder, opened)
}

fn code(opened: &fs::File) -> u32 {
    look(opened, Kind::Bootstrap).unwrap().expect("a signal").unwrap_err().code()
}

#[test]
fn a_signal_is_read_until_it_is_done_and_then_gone() {
    let (folder, opened) = folder();
    assert!(look(&opened, Kind::Bootstrap).unwrap().is_none());
    fs::write(folder.path().join("bootstrap"), "bot/x\n").unwrap();
    let wanted = Signal::Bootstrap(Branch::parse("bot/x").unwrap());
    for _ in 0..2 {
        assert_eq!(
            look(&opened, Kind::Bootstrap).unwrap().unwrap().unwrap(),
            wanted,
            "a crash does not lose it"
        );
    }
    done(&opened, Kind::Bootstrap).unwrap();
    assert!(look(&opened, Kind::Bootstrap).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_signal_that_comes_while_another_is_read_is_not_lost() {
    let (folder, opened) = folder();
    fs::write(folder.path().join("bootstrap"), "bot/x").unwrap();
    look(&opened, Kind::Bootstrap).unwrap().unwrap().unwrap();
    fs::write(folder.path().join("bootstrap"), "bot/y").unwrap();
    done(&opened, Kind::Bootstrap).unwrap();
    let next = look(&opened, Kind::Bootstrap).unwrap().unwrap().unwrap();
    assert_eq!(next, Signal::Bootstrap(Branch::parse("bot/y").unwrap()));
}

#[test]
fn a_link_to_a_file_outside_fails_and_the_file_stays() {
    let (folder, opened) = folder();
    let (outside, _) = self::folder();
    let secret = outside.path().join("secret");
    fs::write(&secret, "bot/x").unwrap();
    symlink(&secret, folder.path().join("bootstrap")).unwrap();
    assert_eq!(code(&opened), 7911);
    done(&opened, Kind::Bootstrap).unwrap();
    assert_eq!(fs::read_to_string(secret).unwrap(), "bot/x");
}

#[test]
fn a_hard_link_fails() {
    let (folder, opened) = folder();
    fs::write(folder.path().join("other"), "bot/x").unwrap();
    fs::hard_link(folder.path().join("other"), folder.path().join("bootstrap")).unwrap();
    assert_eq!(code(&opened), 7911);
}

#[test]
fn a_fifo_fails_and_does_not_block() {
    let (folder, opened) = folder();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("bootstrap")).status().unwrap();
    assert!(made.success());
    assert_eq!(code(&opened), 7911);
    done(&opened, Kind::Bootstrap).unwrap();
    assert!(look(&opened, Kind::Bootstrap).unwrap().is_none());
}

#[test]
fn a_gibibyte_fails_and_is_not_read() {
    let (folder, opened) = folder();
    let file = fs::File::create(folder.path().join("bootstrap")).unwrap();
    file.set_len(1 << 30).unwrap();
    assert_eq!(code(&opened), 7910);
}

#[test]
fn a_folder_fails_and_an_empty_one_goes_away() {
    let (folder, opened) = folder();
    fs::create_dir(folder.path().join("bootstrap")).unwrap();
    assert_eq!(code(&opened), 7911);
    done(&opened, Kind::Bootstrap).unwrap();
    fs::create_dir_all(folder.path().join("bootstrap/full")).unwrap();
    assert_eq!(code(&opened), 7911);
    assert_eq!(done(&opened, Kind::Bootstrap).unwrap_err().code(), 7913);
    assert!(look(&opened, Kind::Rollback).unwrap().is_none(), "the other signal is not disturbed");
}

#[test]
fn a_half_written_signal_fails_or_is_what_it_says() {
    let (folder, opened) = folder();
    for (text, code_wanted) in [("", 7912), ("bot/", 7900), ("bot", 7901)] {
        fs::write(folder.path().join("bootstrap"), text).unwrap();
        assert_eq!(code(&opened), code_wanted, "{text:?}");
        done(&opened, Kind::Bootstrap).unwrap();
    }
}
