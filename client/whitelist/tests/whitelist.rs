//! The whitelist's grammar: the published vectors, tables of what runs and of what an attacker would try.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeSet;
use zx1_whitelist::{Command, Investigation, Refusal, check_paths, names, secret_paths};

fn vectors() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/fix/whitelist.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn lines(value: &serde_json::Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect()
}

/// The lines of a table, without its comments.
fn table(text: &'static str) -> Vec<&'static str> {
    text.lines()
        .map(|line| line.trim_start())
        .filter(|line| !line.is_empty() && !line.starts_with("##"))
        .collect()
}

fn allowed() -> Vec<&'static str> {
    table(include_str!("tables/allowed.txt"))
}

fn refused() -> Vec<&'static str> {
    table(include_str!("tables/refused.txt"))
}

fn paths(investigation: &Investigation) -> Vec<&str> {
    investigation.paths.iter().map(|path| path.path.as_str()).collect()
}

#[test]
fn the_vectors_allowed_lines_are_ok() {
    let vectors = vectors();
    for line in lines(&vectors["allowed"]) {
        assert!(Command::parse(line).is_ok(), "{line}: {:?}", Command::parse(line));
    }
}

#[test]
fn the_vectors_refused_lines_fails() {
    let vectors = vectors();
    for line in lines(&vectors["refused"]) {
        assert!(Command::parse(line).is_err(), "{line}");
    }
}

#[test]
fn every_harmless_line_of_the_table_is_ok() {
    let lines = allowed();
    assert!(lines.len() >= 120, "only {} lines", lines.len());
    for line in lines {
        assert!(Command::parse(line).is_ok(), "{line}: {}", Command::parse(line).unwrap_err());
    }
}

#[test]
fn every_attack_of_the_table_fails() {
    let lines = refused();
    assert!(lines.len() >= 150, "only {} lines", lines.len());
    let passed: Vec<_> = lines.into_iter().filter(|line| Command::parse(line).is_ok()).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn attacks_that_no_text_file_can_hold_fails() {
    for line in [
        "ls\nrm x",
        "cat a\0b",
        "cat 'a\nb'",
        "ls\r",
        "cat \u{202e}a",
        "cat a\u{200b}b",
        "cat a\u{a0}b",
        "ls \u{7f}",
    ] {
        let refusal = Command::parse(line).unwrap_err();
        assert_eq!(refusal.code(), 9153, "{line:?}: {refusal}");
    }
    assert_eq!(Command::parse("").unwrap_err().code(), 9150);
    assert_eq!(Command::parse(" \t ").unwrap_err().code(), 9150);
    assert_eq!(Command::parse(&format!("cat {}", "a".repeat(4093))).unwrap_err().code(), 9151);
    assert!(Command::parse(&format!("cat {}", "a".repeat(4092))).is_ok());
    assert_eq!(Command::parse(&format!("cat{}", " a".repeat(128))).unwrap_err().code(), 9152);
    assert!(Command::parse(&format!("cat{}", " a".repeat(127))).is_ok());
}

#[test]
fn every_name_of_the_specification_has_an_allowed_form() {
    let vectors = vectors();
    let mut first: BTreeSet<&str> =
        allowed().iter().filter_map(|line| line.split([' ', '\t']).next()).collect();
    first.extend(lines(&vectors["allowed"]).iter().filter_map(|line| line.split(' ').next()));
    for name in lines(&vectors["names"]) {
        assert!(names().any(|known| known == name), "{name} has no rule");
        assert!(first.contains(name), "{name} has no allowed line in the tables");
    }
}

#[test]
fn no_name_has_two_rules() {
    let mut seen = BTreeSet::new();
    for name in names() {
        assert!(seen.insert(name), "{name}");
    }
}

#[test]
fn each_kind_of_refusal_has_its_number_and_names_the_word() {
    let cases: &[(&str, u16, &str)] = &[
        ("cat a.c | sh", 9154, "`|`"),
        ("echo $HOME", 9154, "`$`"),
        ("ls *.c", 9155, "`*`"),
        ("cat 'a", 9156, "`'a`"),
        ("rm -rf /", 9157, "`rm`"),
        ("/bin/ls", 9158, "`/bin/ls`"),
        ("./ls", 9158, "`./ls`"),
        ("find . -delete", 9159, "`-delete`"),
        ("rg --pre sh main", 9159, "`--pre`"),
        ("less a.c", 9159, "`a.c`"),
        ("head -n", 9160, "`-n`"),
        ("head -n x a.c", 9161, "`x`"),
        ("stat", 9162, "`stat`"),
        ("cat .env", 9163, "`.env`"),
        ("timeout 1 timeout 1 ls", 9167, "`timeout`"),
    ];
    for (line, code, word) in cases {
        let refusal = Command::parse(line).unwrap_err();
        assert_eq!(refusal.code(), *code, "{line}: {refusal}");
        assert!(refusal.to_string().contains(word), "{line}: {refusal}");
    }
}

#[test]
fn a_refused_option_is_answered_with_the_allowed_ones() {
    let sentence = Command::parse("wc --files0-from=list").unwrap_err().to_string();
    assert!(sentence.contains("--files0-from") && sentence.contains("--lines"), "{sentence}");
}

#[test]
fn all_paths_of_a_command_are_reported_ok() {
    let cases: &[(&str, &[&str])] = &[
        ("cat a.c -n 'b c'", &["a.c", "b c"]),
        ("cat -- -n", &["-n"]),
        ("cat -", &[]),
        ("head -n5 a -c 3 b", &["a", "b"]),
        ("grep -rn main src lib", &["src", "lib"]),
        ("grep -e main -e other src", &["src"]),
        ("grep -nemain src", &["src"]),
        ("grep --regexp=main src", &["src"]),
        ("rg --files src", &["src"]),
        ("rg main src", &["src"]),
        ("ag -g main src", &["src"]),
        ("find a b -name '*.c' -newer stamp", &["a", "b", "stamp"]),
        ("find -samefile x", &["x"]),
        ("diff -u a b", &["a", "b"]),
        ("cmp a b 1 2", &["a", "b"]),
        ("test -f a -a b -nt c", &["a", "b", "c"]),
        ("test a = b", &[]),
        ("realpath --relative-to=base x", &["base", "x"]),
        ("realpath --relative-to base x", &["base", "x"]),
        ("timeout -k 1 5 cat a b", &["a", "b"]),
        ("df .", &["."]),
        ("rpm -qf /bin/ls", &["/bin/ls"]),
        ("pacman -Qo /bin/ls", &["/bin/ls"]),
        ("ldd -v ./a.out", &["./a.out"]),
    ];
    for (line, expected) in cases {
        let investigation = Command::parse(line).unwrap();
        assert_eq!(paths(&investigation), *expected, "{line}");
        for path in &investigation.paths {
            assert!(investigation.argv[path.word].ends_with(&path.path), "{line}: {path:?}");
        }
    }
}

#[test]
fn rg_never_reads_its_configuration_file() {
    let investigation = Command::parse("rg main src").unwrap();
    assert_eq!(investigation.argv, ["rg", "--no-config", "main", "src"]);
    assert_eq!(investigation.paths[0].word, 3);
    let investigation = Command::parse("timeout 5 rg main src").unwrap();
    assert_eq!(investigation.argv, ["timeout", "5", "rg", "--no-config", "main", "src"]);
    assert_eq!(investigation.paths[0].word, 5);
}

#[test]
fn type_runs_as_which() {
    assert_eq!(Command::parse("type -a gcc").unwrap().argv, ["which", "-a", "gcc"]);
    assert_eq!(Command::parse("timeout 5 type gcc").unwrap().argv, ["timeout", "5", "which", "gcc"]);
}

#[test]
fn walkers_and_ldd_are_marked() {
    for line in ["find .", "grep -r x .", "timeout 3 rg x", "du", "tree", "ls"] {
        assert!(Command::parse(line).unwrap().walks, "{line}");
    }
    assert!(!Command::parse("cat a").unwrap().walks);
    assert!(Command::parse("timeout 3 ldd a").unwrap().runs_input);
    assert!(!Command::parse("nm a").unwrap().runs_input);
}

#[test]
fn quotes_are_literal_text() {
    let argv = |line: &str| Command::parse(line).unwrap().argv;
    assert_eq!(
        argv(r#"echo 'a|b;$c' "d e" f\ g "h\"i\\j" k'l'"m""#),
        ["echo", "a|b;$c", "d e", "f g", r#"h"i\j"#, "klm"]
    );
    assert_eq!(argv("echo '' \"\""), ["echo", "", ""]);
    assert_eq!(argv(r"find . \( -name x \)"), ["find", ".", "(", "-name", "x", ")"]);
}

/// What a POSIX shell makes of an accepted line must be what we make of it.
#[test]
fn a_real_shell_reads_every_allowed_line_as_we_do() {
    let vectors = vectors();
    for line in allowed().into_iter().chain(lines(&vectors["allowed"])) {
        let program = line.split([' ', '\t']).next().unwrap();
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("printf '%s\\0' {line}")])
            .env_clear()
            .output()
            .unwrap();
        let shell: Vec<String> =
            String::from_utf8(output.stdout).unwrap().split_terminator('\0').map(str::to_owned).collect();
        let mut ours = Command::parse(line).unwrap().argv;
        ours.retain(|word| word != "--no-config");
        if program == "type" {
            "type".clone_into(&mut ours[0]);
        }
        assert_eq!(shell, ours, "{line}");
    }
}

#[test]
fn check_paths_keeps_to_the_roots() {
    let roots = ["/srv/app", "/usr"];
    check_paths(&roots, &["/srv/app", "/srv/app/a.c", "/usr/include/math.h", "/dev/null"]).unwrap();
    let code = |path: &str| check_paths(&roots, &[path]).unwrap_err().code();
    assert_eq!(code("/srv/app2/a.c"), 9164);
    assert_eq!(code("/etc/passwd"), 9164);
    assert_eq!(code("/"), 9164);
    assert_eq!(code("/srv/app/../x"), 9165);
    assert_eq!(code("a.c"), 9165);
    assert_eq!(code(""), 9165);
    assert_eq!(code("/dev/sda"), 9166);
    assert_eq!(code("/dev/zero"), 9166);
    assert_eq!(code("/srv/app/.env"), 9163);
    assert_eq!(code("/srv/app/.ssh/known_hosts"), 9163);
    assert_eq!(check_paths(&["/"], &["/etc/shadow"]).unwrap_err().code(), 9163);
    assert_eq!(check_paths::<&str, &str>(&[], &[]), Ok(()));
    let none: [&str; 0] = [];
    assert!(matches!(check_paths(&none, &["/x"]), Err(Refusal::OutsideRoots { .. })));
}

#[test]
fn secrets_are_known_by_place_and_by_name() {
    for path in [
        "~/.ssh",
        "/home/u/.ssh/config",
        ".ssh/../.ssh/id_rsa",
        "/root//.aws/./credentials",
        ".AWS/credentials",
        "/home/u/.fix/key.ed25519",
        "/home/u/.config/solana/id.json",
        "app/.env",
        ".env.local",
        "prod.env",
        "id_ed25519",
        "deploy.key",
        "server-key.pem",
        "privkey.pem",
        "/etc/shadow",
        "/etc/./shadow-",
        "/x/../etc/shadow",
        "/proc/self/environ",
        "/proc/1/mem",
        "/proc/7/root/etc/shadow",
        "/proc/kcore",
        ".netrc",
        ".npmrc",
        ".bash_history",
        "/home/u/.local/share/fish/fish_history",
        "/run/docker.sock",
        "/home/u/.docker/config.json",
        "terraform.tfstate",
        "/home/u/.kube/config",
        "service-account-prod.json",
        "/home/u/.mozilla/firefox/x/logins.json",
        ".git-credentials",
        "/home/u/.cargo/credentials.toml",
        "/etc/sudoers.d/x",
        "/home/u/.gnupg",
        "/home/u/.m2/settings.xml",
        "x.kdbx",
    ] {
        assert!(secret_paths::is_secret(path).is_some(), "{path}");
    }
    for path in [
        "a.c",
        ".",
        "/",
        "..",
        ".env.example",
        "src/environment.rs",
        "id_ed25519.pub",
        "/etc/passwd",
        "/etc/hosts",
        "/proc/cpuinfo",
        "/proc/self/status",
        "/etc/ssl/certs/ca.pem",
        "keys.rs",
        "src/nano/mod.rs",
        "Cargo.toml",
        "/usr/include/shadow.h",
        "etc/shadow.c",
        "node_modules/dotenv/lib/main.js",
        ".github/workflows/ci.yml",
        "docker/config.json",
        "package.json",
        ".dockerignore",
        "cert.pem",
        "/home/u/.cargo/registry/src/x/lib.rs",
    ] {
        assert!(secret_paths::is_secret(path).is_none(), "{path}: {:?}", secret_paths::is_secret(path));
    }
}

#[test]
fn the_sandbox_gets_every_fixed_path_of_every_home() {
    let masked: Vec<String> = secret_paths::fixed(&["/home/u/", "/root"]).collect();
    for path in ["/etc/shadow", "/home/u/.ssh", "/root/.fix", "/root/.config/solana"] {
        assert!(masked.iter().any(|masked| masked == path), "{path}");
    }
    assert!(masked.iter().all(|path| path.starts_with('/') && secret_paths::is_secret(path).is_some()));
    assert!(secret_paths::is_secret_name(".env") && !secret_paths::is_secret_name("main.rs"));
}
