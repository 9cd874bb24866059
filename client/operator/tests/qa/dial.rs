use crate::Test;
use crate::toy::Toy;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use zx1_market::PartyKey;
use zx1_operator::qa::state::{DIAL, State};
use zx1_qa::dial::{DialError, Rung, line, signing_bytes};

pub(crate) const ALL: &[(&str, Test)] = &[
    ("bad_dial_files_mean_observe", bad_dial_files_mean_observe),
    (
        "the_maintainers_line_gives_propose_and_nobody_elses",
        the_maintainers_line_gives_propose_and_nobody_elses,
    ),
    ("a_stopped_loop_goes_on_after_the_dial_is_set", a_stopped_loop_goes_on_after_the_dial_is_set),
];

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn bad_dial_files_mean_observe() {
    let toy = Toy::new();
    let state = toy.state();
    let path = state.folder().join(DIAL);
    let other = toy.home.path().join("other");
    std::fs::write(&other, "exercise").unwrap();
    let plain = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        mode(&path, 0o600);
    };
    type Bad<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let text = |bytes: &'static [u8]| Box::new(move || plain(bytes));
    let bad: Vec<Bad<'_>> = vec![
        ("missing", Box::new(|| {})),
        ("empty", text(b"")),
        ("unknown word", text(b"merge")),
        ("two lines", text(b"exercise\nexercise\n")),
        ("capitals", text(b"Exercise")),
        ("a space", text(b"exercise ")),
        ("no UTF-8", text(b"\xff\xfe")),
        ("propose without a line", text(b"propose")),
        ("too long", Box::new(|| plain(&b"exercise ".repeat(200)))),
        (
            "writable by the group",
            Box::new(|| {
                plain(b"exercise");
                mode(&path, 0o620);
            }),
        ),
        (
            "writable by all",
            Box::new(|| {
                plain(b"exercise");
                mode(&path, 0o602);
            }),
        ),
        ("a link", Box::new(|| symlink(&other, &path).unwrap())),
        ("a second name of another file", Box::new(|| std::fs::hard_link(&other, &path).unwrap())),
        ("a folder", Box::new(|| std::fs::create_dir(&path).unwrap())),
        (
            "a pipe",
            Box::new(|| {
                assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            }),
        ),
        (
            "in a folder that others can write",
            Box::new(|| {
                plain(b"exercise");
                mode(state.folder(), 0o777);
            }),
        ),
    ];
    assert!(bad.len() >= 12);
    for (name, make) in &bad {
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir(&path);
        mode(state.folder(), 0o700);
        make();
        let dial = state.dial();
        assert_eq!(dial.rung, Rung::Observe, "{name}");
        assert!(dial.why.is_some(), "{name}");
        assert_eq!(state.given(Some(Rung::Propose)).unwrap().rung(), Rung::Observe, "{name}");
    }
    mode(state.folder(), 0o700);
    plain(b"exercise");
    assert_eq!((state.dial().rung, state.dial().why), (Rung::Exercise, None));
    assert_eq!(state.given(Some(Rung::Observe)).unwrap().rung(), Rung::Observe);
}

pub(crate) fn signed(state: &State, key: &PartyKey, seconds: i64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let expires = i64::try_from(now).unwrap() + seconds;
    let bytes = signing_bytes(state.fleet(), state.root(), expires).unwrap();
    line(state.fleet(), state.root(), expires, &key.sign(&bytes)).unwrap()
}

/// Lets the dial reach `propose`.
pub(crate) fn allow(toy: &Toy) -> State {
    let maintainer = PartyKey::from_seed(&[9; 32]);
    let path = toy.state().folder().join("qa.toml");
    let settings = std::fs::read_to_string(&path).unwrap();
    let key = *maintainer.id().as_bytes();
    std::fs::write(&path, format!("maintainer_key = \"{}\"\n{settings}", bs58::encode(key).into_string()))
        .unwrap();
    let state = toy.state();
    assert_eq!(state.set_dial(&signed(&state, &maintainer, 3_600)).unwrap(), Rung::Propose);
    state
}

fn the_maintainers_line_gives_propose_and_nobody_elses() {
    let toy = Toy::new();
    let maintainer = PartyKey::from_seed(&[9; 32]);
    let before = toy.state();
    // Without a maintainer's key in the settings no line counts.
    assert_eq!(
        before.set_dial(&signed(&before, &maintainer, 60)).unwrap_err().to_string(),
        DialError::Signature.to_string()
    );
    let state = allow(&toy);
    assert_eq!(state.given(None).unwrap().rung(), Rung::Propose);
    assert_eq!(state.given(Some(Rung::Exercise)).unwrap().rung(), Rung::Exercise);
    let stranger = PartyKey::from_seed(&[8; 32]);
    for line in [
        signed(&state, &stranger, 60),
        signed(&state, &maintainer, 31 * 86_400),
        signed(&state, &maintainer, -1),
    ] {
        assert!(state.set_dial(&line).is_err());
        std::fs::write(state.folder().join(DIAL), line).unwrap();
        assert_eq!(state.dial().rung, Rung::Observe);
    }
}

fn a_stopped_loop_goes_on_after_the_dial_is_set() {
    let toy = Toy::new();
    let state = toy.state();
    state.stop("because").unwrap();
    assert!(state.is_stopped() && state.dial().stopped);
    assert_eq!(state.given(None).unwrap_err(), DialError::Stopped);
    state.set_dial("exercise").unwrap();
    assert!(!state.is_stopped());
    assert_eq!(state.given(None).unwrap().rung(), Rung::Exercise);
    assert!(state.set_dial("EXERCISE").is_err());
    assert_eq!(state.dial().rung, Rung::Exercise);
}
