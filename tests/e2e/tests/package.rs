//! What `scripts/package` makes from the tests' binaries is what somebody can install.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use zx1_e2e::binary;

const PROGRAMS: [&str; 8] =
    ["fix", "fix-server", "nano-escrow", "zx1", "zx1-indexer", "zx1-node", "zx1-relay", "zx1-sponsor"];
const UNITS: [&str; 5] = ["fix-server", "zx1-indexer", "zx1-node@", "zx1-relay", "zx1-sponsor"];
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn script() -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(root.join("scripts/package"));
    command
        .env("ZX1_BIN_DIR", binary("fix").parent().unwrap())
        .env("ZX1_MAINTAINER", "A Tester <a@example.org>");
    command
}

#[track_caller]
fn ran(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

#[track_caller]
fn said(command: &mut Command) -> String {
    String::from_utf8(ran(command).stdout).unwrap()
}

/// Every file below a folder, from there.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// What must lie below the prefix, but for the pages of commands.
fn expected(zsh: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for program in PROGRAMS {
        all.extend([
            format!("bin/{program}"),
            format!("share/man/man1/{program}.1.gz"),
            format!("share/bash-completion/completions/{program}"),
            format!("share/fish/vendor_completions.d/{program}.fish"),
            format!("share/zsh/{zsh}/_{program}"),
        ]);
    }
    all.extend(UNITS.map(|unit| format!("lib/systemd/system/{unit}.service")));
    all.insert("lib/sysusers.d/zx1.conf".to_owned());
    for document in [
        "README.md",
        "SECURITY.md",
        "changelog.gz",
        "copyright",
        "errors.md",
        "fix.md",
        "glossary.md",
        "node.md",
        "operate.md",
        "protocol.md",
        "release.md",
    ] {
        all.insert(format!("share/doc/zx1/{document}"));
    }
    for example in [
        "alerts.yml",
        "compose.yaml",
        "Dockerfile",
        "prometheus.yml",
        "trade.py",
        "grafana/dashboards.yaml",
        "grafana/datasource.yaml",
        "grafana/indexer.json",
        "grafana/market.json",
        "grafana/node.json",
        "grafana/relay.json",
    ] {
        all.insert(format!("share/doc/zx1/examples/{example}"));
    }
    all
}

#[track_caller]
fn complete(found: &BTreeSet<String>, zsh: &str) {
    let wanted = expected(zsh);
    let missing: Vec<_> = wanted.difference(found).collect();
    assert!(missing.is_empty(), "missing: {missing:?}");
    let more: Vec<_> =
        found.difference(&wanted).filter(|file| !file.starts_with("share/man/man1/")).collect();
    assert!(more.is_empty(), "unexpected: {more:?}");
    assert!(found.len() > wanted.len() + 100, "the pages of commands: {}", found.len());
}

/// The programs run from where they were unpacked, and need nothing but the C library.
#[track_caller]
fn works(prefix: &Path) {
    for program in PROGRAMS {
        let path = prefix.join("bin").join(program);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755, "{program}");
        let version = said(Command::new(&path).arg("--version").env_clear());
        assert!(version.starts_with(&format!("{program} {VERSION}")), "{version}");
        let linked = said(Command::new("ldd").arg(&path));
        for library in linked.lines().filter_map(|line| line.split_whitespace().next()) {
            let known = [
                "linux-vdso",
                "libc.so",
                "libm.so",
                "libgcc_s.so",
                "libdl.so",
                "libpthread.so",
                "/lib64/ld-",
            ];
            assert!(known.iter().any(|start| library.starts_with(start)), "{program} needs {library}");
        }
    }
    for unit in UNITS {
        let text =
            std::fs::read_to_string(prefix.join(format!("lib/systemd/system/{unit}.service"))).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
        assert!(prefix.join("bin").join(line.split(' ').next().unwrap()).is_file(), "{line}");
    }
    let page = said(Command::new("gzip").args(["-dc"]).arg(prefix.join("share/man/man1/fix.1.gz")));
    assert!(page.contains(".SH SYNOPSIS"), "{page}");
    let bash = prefix.join("share/bash-completion/completions/fix");
    ran(Command::new("bash").arg("-n").arg(bash));
}

#[test]
fn archive_and_package_are_complete_run_and_have_the_checksums_that_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    ran(script().args(["--quick", "--out"]).arg(&out));
    let made = files(&out);
    let find = |end: &str| -> PathBuf {
        let name = made.iter().find(|name| name.ends_with(end)).unwrap_or_else(|| panic!("{end}: {made:?}"));
        out.join(name)
    };
    assert_eq!(made.len(), 3, "{made:?}");
    ran(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&out));
    let sums = std::fs::read_to_string(out.join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), 2, "{sums}");

    let archive = find(".tar.gz");
    let top = archive.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.gz").to_owned();
    assert!(top.starts_with(&format!("zx1-{VERSION}-")) && top.ends_with("-linux"), "{top}");
    let prefix = folder.path().join("local");
    std::fs::create_dir(&prefix).unwrap();
    // As the README says it.
    ran(Command::new("tar").arg("-C").arg(&prefix).args(["--strip-components=1", "-xzf"]).arg(&archive));
    complete(&files(&prefix), "site-functions");
    works(&prefix);

    let package = find(".deb");
    let root = folder.path().join("root");
    ran(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&root));
    assert!(root.join("etc/zx1").is_dir());
    complete(&files(&root.join("usr")), "vendor-completions");
    works(&root.join("usr"));
    let field =
        |name: &str| said(Command::new("dpkg-deb").arg("-f").arg(&package).arg(name)).trim().to_owned();
    assert_eq!((field("Package"), field("Version")), ("zx1".to_owned(), VERSION.to_owned()));
    assert_eq!(field("Maintainer"), "A Tester <a@example.org>");
    assert!(field("Depends").starts_with("libc6 (>= 2."), "{}", field("Depends"));
    // Everything belongs to root, and every sum of the package holds.
    let listed = said(Command::new("dpkg-deb").arg("-c").arg(&package));
    assert!(listed.lines().all(|line| line.contains(" root/root ")), "{listed}");
    let control = folder.path().join("control");
    ran(Command::new("dpkg-deb").arg("-e").arg(&package).arg(&control));
    let mut check = Command::new("md5sum");
    ran(check.args(["--check", "--quiet"]).arg(control.join("md5sums")).current_dir(&root));
    for script in ["postinst", "prerm"] {
        ran(Command::new("sh").arg("-n").arg(control.join(script)));
    }
}

#[test]
fn what_is_asked_for_wrongly_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |command: &mut Command, words: &str| {
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(words), "{said}");
    };
    refused(script().arg("--fast"), "scripts/package knows --out and --quick, not '--fast'");
    let out = folder.path().join("out");
    refused(script().arg("--out").arg(&out).env("ZX1_BIN_DIR", folder.path()), "is missing. Build it");
    assert!(out.read_dir().map_or(0, Iterator::count) == 0, "nothing half-made is left");
}
