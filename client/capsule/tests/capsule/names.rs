//! Names of refs, branches, folders; what signal files say.

use std::process::Command;

use proptest::prelude::*;
use zx1_capsule::refname::{self, Branch, Revision};
use zx1_capsule::signal::{Kind, Signal};

fn git_takes(name: &str, one_level: bool) -> bool {
    let mut command = Command::new("git");
    command.arg("check-ref-format");
    if one_level {
        command.arg("--allow-onelevel");
    }
    command.arg(name).status().unwrap().success()
}

/// Each rule of git-check-ref-format broken and kept, then pieces of such names in random order.
fn awkward() -> Vec<String> {
    let listed = [
        "a",
        "a/b",
        "",
        "@",
        "a/@",
        "@/a",
        ".a/b",
        "a/.b",
        "a/b.",
        "a./b",
        "a/b.lock",
        "a.lock/b",
        "a.lockx/b",
        "a..b/c",
        "a/b..",
        "a b/c",
        "a/~",
        "a/^",
        "a/:",
        "a/?",
        "a/*",
        "a/[",
        "a/]",
        "a\\b/c",
        "/a/b",
        "a/b/",
        "a//b",
        "a/@{b",
        "a/{@b",
        "a/b@{",
        "a/-b",
        "refs/heads/.stop",
        "refs/.stop",
        "refs/zx1/stop",
        "a/\u{7f}",
        "a/\u{1}",
        "a/\n",
        "a/\t",
        "ä/ö",
        "a/\u{80}",
        ".lock/a",
        "a/lock",
        "a/.lock",
        "HEAD",
        "refs/heads/main",
    ];
    let mut names: Vec<String> = listed.iter().map(ToString::to_string).collect();
    let pieces =
        ["a", "/", ".", "..", ".lock", "@", "{", "-", "~", "*", " ", "\\", "é", "bot", "^", "\u{7f}"];
    let mut seed = 1u64;
    for _ in 0..150 {
        let mut name = String::new();
        for _ in 0..5 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            name.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        names.push(name);
    }
    names
}

#[test]
fn ref_names_are_judged_as_git_check_ref_format_does() {
    // Git takes what begins with a dash for one of its options.
    for name in awkward().iter().filter(|name| !name.starts_with('-')) {
        for one_level in [false, true] {
            let ours = refname::check(name.as_bytes(), one_level).is_ok();
            assert_eq!(ours, git_takes(name, one_level), "{name:?}, one level: {one_level}");
        }
    }
    assert!(refname::check(b"a/\0", false).is_err(), "git cannot be asked about NUL");
}

#[test]
fn a_branch_and_its_folder_name_each_other() {
    for (name, folder) in [
        ("main", "/bot/main/minifram"),
        ("bot/x", "/bot/x/minifram"),
        ("bot/a/b-1", "/bot/a/b-1/minifram"),
        ("bot/mainly", "/bot/mainly/minifram"),
    ] {
        let branch = Branch::parse(name).unwrap();
        assert_eq!(branch.folder(), folder);
        assert_eq!(Branch::of_folder(folder).unwrap(), branch);
        assert_eq!(Branch::of_ref(&branch.full()).unwrap(), branch);
    }
    for folder in
        ["/bot/minifram", "/bot//minifram", "/bot/../minifram", "/bot/.signal/minifram", "/etc/x/minifram"]
    {
        assert_eq!(Branch::of_folder(folder).unwrap_err().code(), 7902, "{folder}");
    }
}

#[test]
fn a_branch_that_is_no_folder_of_its_own_fails() {
    let long = format!("bot/{}", "x".repeat(97));
    for name in [
        "bot/main",
        "bot/main/x",
        "bot/minifram",
        "bot/a/minifram",
        "bot/-x",
        "bot/a b",
        "bot/$(x)",
        "bot/a;b",
        "bot/ä",
        "bot/.signal",
        "bot/..",
        "bot/",
        "bot",
        "feature",
        "refs/heads/main",
        "Main",
        "bot/x.lock",
        &long,
    ] {
        assert!(matches!(Branch::parse(name).unwrap_err().code(), 7900 | 7901), "{name}");
    }
    assert_eq!(Branch::of_ref("refs/tags/main").unwrap_err().code(), 7901);
}

#[test]
fn no_two_branches_share_a_folder() {
    proptest!(|(a in "bot/[a-m/.-]{1,8}|main", b in "bot/[a-m/.-]{1,8}|main")| {
        if let (Ok(a), Ok(b)) = (Branch::parse(&a), Branch::parse(&b)) {
            prop_assert_eq!(a == b, a.folder() == b.folder());
            prop_assert_eq!(Branch::of_folder(&a.folder()).unwrap(), a);
        }
    });
}

#[test]
fn a_signal_is_one_line_that_names_a_branch_or_a_revision() {
    let bootstrap = |bytes: &[u8]| Signal::parse(Kind::Bootstrap, bytes);
    let rollback = |bytes: &[u8]| Signal::parse(Kind::Rollback, bytes);
    assert_eq!(bootstrap(b"bot/x\n").unwrap(), Signal::Bootstrap(Branch::parse("bot/x").unwrap()));
    assert_eq!(bootstrap(b"main").unwrap(), Signal::Bootstrap(Branch::main()));
    let commit = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(rollback(commit.as_bytes()).unwrap(), Signal::Rollback(Revision::parse(commit).unwrap()));
    assert!(rollback(b"refs/tags/v1\n").is_ok());
    for (bytes, code) in [
        (&b""[..], 7912),
        (b"\n", 7912),
        (b"bot/x\nbot/y\n", 7912),
        (b"bot/x\r\n", 7912),
        (b"bot/\xff", 7912),
        (b"bot/x\0", 7912),
        (b" bot/x", 7900),
        (b"../../etc", 7900),
        (b"feature", 7901),
        (&[b'a'; 257], 7910),
    ] {
        assert_eq!(bootstrap(bytes).unwrap_err().code(), code, "{bytes:?}");
    }
    for text in ["--upload-pack=x", "main~3", "HEAD^", "main:path", "-x", "@{-1}"] {
        assert_eq!(rollback(text.as_bytes()).unwrap_err().code(), 7900, "{text}");
    }
}

proptest! {
    #[test]
    fn any_bytes_in_a_signal_are_judged_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for kind in Kind::ALL {
            if let Ok(Signal::Bootstrap(branch)) = Signal::parse(kind, &bytes) {
                prop_assert!(branch.folder().starts_with("/bot/") && !branch.folder().contains(".."));
            }
        }
    }
}
