use zx1_market::PartyKey;
use zx1_qa::dial::{DialError, File, Place, Rung, check, line, read, signing_bytes};

const NOW: i64 = 1_800_000_000;
const DAY: i64 = 86_400;
const ROOT: &str = "0123456789abcdef0123456789abcdef01234567";
const FLEET: [u8; 32] = [5; 32];

fn maintainer() -> PartyKey {
    PartyKey::from_seed(&[9; 32])
}

fn signed(key: &PartyKey, expires: i64) -> String {
    let bytes = signing_bytes(&FLEET, ROOT, expires).unwrap();
    line(&FLEET, ROOT, expires, &key.sign(&bytes)).unwrap()
}

fn file(bytes: &[u8]) -> File<'_> {
    File { bytes, is_special: false, is_foreign: false, is_writable_by_others: false }
}

fn ask(file: Option<&File<'_>>) -> (Rung, Option<DialError>) {
    let key = *maintainer().id().as_bytes();
    read(file, &Place { fleet: &FLEET, root_commit: ROOT, maintainer: &key }, NOW)
}

fn text(text: &str) -> (Rung, Option<DialError>) {
    ask(Some(&file(text.as_bytes())))
}

#[test]
fn good_files_give_their_rung() {
    assert_eq!(text("observe"), (Rung::Observe, None));
    assert_eq!(text("exercise\n"), (Rung::Exercise, None));
    assert_eq!(text(&signed(&maintainer(), NOW + DAY)), (Rung::Propose, None));
}

#[test]
fn every_bad_file_means_observe() {
    let good = signed(&maintainer(), NOW + DAY);
    let bad: Vec<Vec<u8>> = vec![
        vec![],
        b"\n".to_vec(),
        b"propose".to_vec(),
        b"EXERCISE".to_vec(),
        b" exercise".to_vec(),
        b"exercise\nexercise".to_vec(),
        b"exercise\r\n".to_vec(),
        b"exercise\0".to_vec(),
        vec![0xff, 0xfe],
        b"exercise ".repeat(200),
        format!("{good} more").into_bytes(),
        good.replace(' ', "  ").into_bytes(),
        good.as_bytes()[..good.len() - 1].to_vec(),
        signed(&PartyKey::from_seed(&[8; 32]), NOW + DAY).into_bytes(),
        good.replace("propose", "exercise").into_bytes(),
    ];
    for bytes in &bad {
        let (rung, why) = ask(Some(&file(bytes)));
        assert_eq!(rung, Rung::Observe, "{:?}", String::from_utf8_lossy(bytes));
        assert!(why.is_some());
    }
    let exercise = file(b"exercise");
    for file in [
        None,
        Some(File { is_special: true, ..exercise }),
        Some(File { is_foreign: true, ..exercise }),
        Some(File { is_writable_by_others: true, ..exercise }),
    ] {
        assert_eq!(ask(file.as_ref()), (Rung::Observe, Some(DialError::File)));
    }
}

#[test]
fn a_line_holds_until_its_second_and_for_thirty_days_at_most() {
    let at = |expires| text(&signed(&maintainer(), expires));
    assert_eq!(at(NOW), (Rung::Observe, Some(DialError::Expired)));
    assert_eq!(at(NOW + 1), (Rung::Propose, None));
    assert_eq!(at(NOW + 30 * DAY), (Rung::Propose, None));
    assert_eq!(at(NOW + 30 * DAY + 1), (Rung::Observe, Some(DialError::TooLong)));
}

#[test]
fn a_line_counts_for_its_fleet_and_repository_alone() {
    let line = signed(&maintainer(), NOW + DAY);
    let key = *maintainer().id().as_bytes();
    let other_root = ROOT.replace('0', "1");
    for (fleet, root) in [([6; 32], ROOT), (FLEET, other_root.as_str())] {
        let place = Place { fleet: &fleet, root_commit: root, maintainer: &key };
        assert_eq!(read(Some(&file(line.as_bytes())), &place, NOW), (Rung::Observe, Some(DialError::Other)));
    }
}

#[test]
fn a_command_line_lowers_the_rung_and_never_raises_it() {
    let key = *maintainer().id().as_bytes();
    let place = Place { fleet: &FLEET, root_commit: ROOT, maintainer: &key };
    for in_file in ["observe", "exercise"] {
        for at_most in Rung::ALL {
            let file = file(in_file.as_bytes());
            let given = check(Some(&file), &place, Some(at_most), false, NOW).unwrap().rung();
            assert_eq!(given, at_most.min(Rung::of(in_file).unwrap()));
        }
    }
}

#[test]
fn a_stopped_loop_gets_no_rung_at_all() {
    let key = *maintainer().id().as_bytes();
    let place = Place { fleet: &FLEET, root_commit: ROOT, maintainer: &key };
    assert_eq!(check(Some(&file(b"exercise")), &place, None, true, NOW).unwrap_err(), DialError::Stopped);
}

#[test]
fn a_call_above_the_rung_is_refused_with_a_number() {
    let key = *maintainer().id().as_bytes();
    let place = Place { fleet: &FLEET, root_commit: ROOT, maintainer: &key };
    let given = |text: &[u8]| check(Some(&file(text)), &place, None, false, NOW).unwrap();
    assert_eq!(given(b"observe").exercise().unwrap_err().code(), 7821);
    assert_eq!(given(b"exercise").propose().unwrap_err().code(), 7821);
    assert!(given(b"exercise").exercise().is_ok());
    let line = signed(&maintainer(), NOW + DAY);
    assert!(given(line.as_bytes()).propose().is_ok());
    for needed in Rung::ALL {
        for found in Rung::ALL {
            assert_eq!(found.allows(needed).is_ok(), needed <= found);
        }
    }
}

#[test]
fn a_rung_has_no_size() {
    assert_eq!(size_of::<zx1_qa::dial::Propose>(), 0);
}
