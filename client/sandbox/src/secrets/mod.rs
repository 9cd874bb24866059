//! What is never shown to a command: secret paths, sockets of the host, secret variables (decision E11).
//!
//! The list names places, not contents: a secret in any other file of the view can be read. Without a network
//! it cannot leave except in the output, which the caller scrubs (decision E10).

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use lists::{
    HARMLESS_ENV, IN_HOME, ON_MACHINE, PROGRAMS, TOOLCHAIN_VARIABLES, TOOLCHAINS, VARIABLE_PREFIXES,
    VARIABLES,
};
use zx1_whitelist::secret_paths;

mod lists;

fn in_home() -> impl Iterator<Item = &'static str> {
    IN_HOME.iter().copied().chain(secret_paths::HOME.iter().map(|path| path.pattern))
}

fn on_machine() -> impl Iterator<Item = &'static str> {
    ON_MACHINE.iter().copied().chain(secret_paths::SYSTEM.iter().map(|path| path.pattern))
}

/// What lies directly in a directory and has a secret's name, but for the way to the working tree.
fn named_secrets(dir: &Path, work_tree: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let secret = entries.filter(|entry| secret_paths::is_secret_name(&entry.file_name().to_string_lossy()));
    secret.map(|entry| entry.path()).filter(|path| !work_tree.starts_with(path)).collect()
}

/// Files of the working tree that have a secret's name: masked, unless the user names them (decisions E9 and E11).
fn named_below(work_tree: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![work_tree.to_owned()];
    while let Some(dir) = todo.pop() {
        found.extend(named_secrets(&dir, work_tree));
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            }
        }
    }
    found
}

/// All paths to mask, resolved, sorted, without what lies below another one.
/// Of what the user wants to be seen only `extra` is masked.
pub(crate) fn paths(work_tree: &Path, extra: &[PathBuf], unmasked: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for home in homes() {
        for pattern in in_home() {
            expand(&home, pattern, &mut found);
        }
        // Keys and credentials that lie about in a home itself.
        found.extend(named_secrets(&home, work_tree));
    }
    for pattern in on_machine() {
        expand(Path::new("/"), pattern.trim_start_matches('/'), &mut found);
    }
    found.extend(sockets());
    environment_files(work_tree, &mut found);
    found.extend(named_below(work_tree));
    found.retain(|path| {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        !unmasked.iter().any(|shown| real.starts_with(shown))
    });
    found.extend(extra.iter().cloned());

    let mut resolved = BTreeSet::new();
    for path in found {
        // A link is masked where it leads: the name then shows the mask too.
        if let Ok(real) = fs::canonicalize(&path)
            && real != Path::new("/")
            && !work_tree.starts_with(&real)
        {
            resolved.insert(real);
        }
    }
    let all = resolved.clone();
    resolved.retain(|path| !path.ancestors().skip(1).any(|parent| all.contains(parent)));
    resolved.into_iter().collect()
}

/// The homes, resolved, without those inside of others.
pub(crate) fn home_roots() -> Vec<PathBuf> {
    let real: BTreeSet<PathBuf> = homes().iter().filter_map(|home| fs::canonicalize(home).ok()).collect();
    let inner = |home: &&PathBuf| !home.ancestors().skip(1).any(|above| real.contains(above));
    real.iter().filter(inner).cloned().collect()
}

/// Folders of toolchains: well-known ones in homes, those of PATH, and those that the environment names. Credentials
/// in them stay masked.
pub(crate) fn toolchains(path_var: &OsStr) -> Vec<PathBuf> {
    let homes = home_roots();
    let mut found = BTreeSet::new();
    for home in &homes {
        found.extend(TOOLCHAINS.iter().map(|name| home.join(name)));
    }
    found.extend(std::env::split_paths(path_var).filter(|path| path.is_absolute()));
    let named = |name: &&str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    found.extend(TOOLCHAIN_VARIABLES.iter().filter_map(named));
    let real = found.iter().filter_map(|path| fs::canonicalize(path).ok());
    // Not a home as a whole, nor what holds one.
    real.filter(|path| path.is_dir() && !homes.iter().any(|home| home.starts_with(path))).collect()
}

/// What programs need of a machine that has nothing to do with what they are run for.
pub(crate) fn programs() -> Vec<PathBuf> {
    PROGRAMS.iter().map(PathBuf::from).filter(|path| fs::symlink_metadata(path).is_ok()).collect()
}

/// Every home that is visible: of the accounts, of this process, and what lies in /home.
fn homes() -> BTreeSet<PathBuf> {
    let mut homes = BTreeSet::from([PathBuf::from("/root")]);
    homes.extend(std::env::var_os("HOME").map(PathBuf::from));
    homes.extend(fs::read_dir("/home").into_iter().flatten().flatten().map(|entry| entry.path()));
    let accounts = fs::read("/etc/passwd").unwrap_or_default();
    for line in accounts.split(|byte| *byte == b'\n') {
        if let Some(home) = line.split(|byte| *byte == b':').nth(5) {
            homes.insert(PathBuf::from(OsStr::from_bytes(home)));
        }
    }
    // Accounts of services live in directories of programs, where nobody keeps keys and names are many.
    let programs = ["/usr", "/bin", "/sbin", "/lib", "/dev", "/proc", "/sys", "/run"];
    let is_home = |home: &PathBuf| {
        let real = fs::canonicalize(home).unwrap_or_default();
        let of_programs = programs.iter().any(|top| home.starts_with(top) || real.starts_with(top));
        home.is_absolute() && real.is_dir() && real != Path::new("/") && !of_programs
    };
    homes.retain(is_home);
    homes
}

/// Adds what matches a pattern below a directory.
fn expand(base: &Path, pattern: &str, found: &mut BTreeSet<PathBuf>) {
    let (first, rest) = match pattern.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (pattern, None),
    };
    let mut take = |path: PathBuf| match rest {
        Some(rest) => expand(&path, rest, found),
        None => {
            if fs::symlink_metadata(&path).is_ok() {
                found.insert(path);
            }
        }
    };
    if !first.contains('*') {
        return take(base.join(first));
    }
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if matches(first.as_bytes(), entry.file_name().as_bytes()) {
            take(entry.path());
        }
    }
}

/// `*` matches any bytes; everything else itself.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => {
            (0..=name.len()).any(|skip| matches(rest, name.get(skip..).unwrap_or_default()))
        }
        Some((byte, rest)) => {
            name.split_first().is_some_and(|(first, tail)| first == byte && matches(rest, tail))
        }
    }
}

/// Every socket with a path that is bound in this network namespace. An overlay does not connect to them, and
/// a mask does not depend on that.
fn sockets() -> impl Iterator<Item = PathBuf> {
    let table = fs::read("/proc/net/unix").unwrap_or_default();
    let lines: Vec<PathBuf> = table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.iter().position(|byte| *byte == b'/').and_then(|start| line.get(start..)))
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
        .collect();
    lines.into_iter()
}

/// The environment files anywhere in the working tree. Links to directories are not followed.
fn environment_files(dir: &Path, found: &mut BTreeSet<PathBuf>) {
    let mut todo = vec![dir.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(entry.path());
            } else if is_environment_file(&name) {
                found.insert(entry.path());
            }
        }
    }
}

fn is_environment_file(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let harmless = HARMLESS_ENV.iter().any(|harmless| harmless.as_bytes() == name);
    (name == b".env" || name == b".envrc" || name.starts_with(b".env.")) && !harmless
}

/// Variables whose names contain one of these.
const SECRET_WORDS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSW",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "PRIVATE",
    "ACCESS_KEY",
    "MNEMONIC",
    "_SEED",
    "_PWD",
    "_PAT",
    "_AUTH",
    "COOKIE",
    "SESSION",
    "SIGNING",
    "WEBHOOK",
    "DATABASE_URL",
    "_DSN",
    "CONNECTION_STRING",
];

/// Variables whose names begin with one of these.
const SECRET_PREFIXES: &[&str] = &[
    "AWS_",
    "AZURE_",
    "ARM_",
    "GOOGLE_",
    "GCP_",
    "GCLOUD_",
    "CLOUDSDK_",
    "FIX_",
    "ZX1_",
    "OPENROUTER_",
    "ANTHROPIC_",
    "OPENAI_",
    "SSH_",
    "GPG_",
    "DBUS_",
    "DOCKER_",
    "KUBE",
    "VAULT_",
    "VSCODE_",
    "WAYLAND_",
    "GITHUB_",
    "GITLAB_",
    "CI_JOB_",
];

/// Variables that lead to sockets or secrets of the host, by their whole names.
const SECRET_NAMES: &[&str] = &[
    "DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "TMUX",
    "STY",
    "WINDOWID",
    "NETRC",
    "PGPASSFILE",
    "MYSQL_PWD",
    "I3SOCK",
    "SWAYSOCK",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "PULSE_SERVER",
    "CONTAINER_HOST",
    "BUILDKIT_HOST",
    "ALL_PROXY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "SUDO_ASKPASS",
    "GIT_ASKPASS",
];

/// The variables that programs are known to need: PATH, HOME, locale, toolchains and build flags. Everything else is
/// left out, and of these what looks like a secret.
pub(crate) fn clean_environment(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let keep = |(name, value): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        is_known_variable(&name) && !is_secret_variable(&name, &value.to_string_lossy())
    };
    variables.into_iter().filter(keep).collect()
}

fn is_known_variable(name: &str) -> bool {
    VARIABLES.contains(&name) || VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn is_secret_variable(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if matches!(name.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let key = name.ends_with("KEY")
        || name.contains("_KEY_")
        || name.ends_with("_KEYS")
        || name.ends_with("KEYPAIR");
    key || SECRET_WORDS.iter().any(|word| name.contains(word))
        || SECRET_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SECRET_NAMES.contains(&name.as_str())
        || has_user_info(value)
}

/// `scheme://user:password@host` anywhere in a value.
fn has_user_info(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.split_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

/// Whether a path is a secret's or lies below one: no commit writes there.
pub(crate) fn is_masked(path: &Path, masked: &[PathBuf]) -> bool {
    masked.iter().any(|mask| path.starts_with(mask))
}

/// Where a fix must not put files: what would be masked if it existed when a sandbox starts. Made once for many paths.
pub(crate) struct SecretPlaces {
    homes: BTreeSet<PathBuf>,
}

impl SecretPlaces {
    pub(crate) fn now() -> Self {
        Self { homes: homes() }
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        is_secret_place(path, &self.homes)
    }
}

fn is_secret_place(path: &Path, homes: &BTreeSet<PathBuf>) -> bool {
    let fits = |base: &Path, pattern: &str| {
        let Ok(relative) = path.strip_prefix(base) else { return false };
        let mut names = relative.components();
        pattern.split('/').all(|part| {
            names.next().is_some_and(|name| matches(part.as_bytes(), name.as_os_str().as_bytes()))
        })
    };
    homes
        .iter()
        .filter(|home| path.starts_with(home))
        .any(|home| in_home().any(|pattern| fits(home, pattern)))
        || on_machine().any(|pattern| fits(Path::new("/"), pattern.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_within_one_name() {
        assert!(matches(b".*_history", b".bash_history"));
        assert!(matches(b"credentials*", b"credentials.toml"));
        assert!(matches(b"credentials*", b"credentials"));
        assert!(!matches(b".*_history", b"bash_history"));
        assert!(!matches(b"*.kdbx", b"a.kdbx.txt"));
    }

    #[test]
    fn secret_variables_go_and_ordinary_ones_stay() {
        for (name, value) in [
            ("GITHUB_TOKEN", "x"),
            ("my_api_key", "x"),
            ("PGPASSWORD", "x"),
            ("FIX_NANO_SEED", "x"),
            ("SSH_AUTH_SOCK", "/tmp/x"),
            ("DATABASE_URL", "postgres://localhost"),
            ("PIP_INDEX", "https://me:pw@mirror.example/simple"),
            ("DISPLAY", ":0"),
            ("SOLANA_KEYPAIR", "x"),
        ] {
            assert!(is_secret_variable(name, value), "{name}");
        }
        for (name, value) in [
            ("PATH", "/bin"),
            ("HOME", "/home/u"),
            ("LANG", "C.UTF-8"),
            ("CFLAGS", "-O2"),
            ("PWD", "/x"),
            ("OLDPWD", "/x"),
            ("KEYBOARD", "de"),
            ("GOPROXY", "https://proxy.golang.org,direct"),
            ("CARGO_HOME", "/x"),
        ] {
            assert!(!is_secret_variable(name, value), "{name}");
        }
    }

    #[test]
    fn a_variable_that_nobody_knows_stays_out_whatever_its_name() {
        let all =
            ["DB_PASS", "SMTP_PASS", "STRIPE_SK", "SEED", "PIN", "MY_SETTING", "PATH", "LC_ALL", "CFLAGS"];
        let kept = clean_environment(all.map(|name| (name.into(), "x".into())));
        let kept: Vec<_> = kept.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(kept, ["PATH", "LC_ALL", "CFLAGS"]);
    }

    #[test]
    fn environment_files_are_found_at_any_depth_but_not_their_examples() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        for name in [".env", ".env.local", ".env.example", "env"] {
            fs::write(deep.join(name), "x").unwrap();
        }
        let real = fs::canonicalize(dir.path()).unwrap();
        let found = paths(&real, &[], &[]);
        let here: Vec<_> = found.iter().filter_map(|path| path.strip_prefix(&real).ok()).collect();
        assert_eq!(here, [Path::new("a/b/.env"), Path::new("a/b/.env.local")]);
    }

    #[test]
    fn a_place_of_secrets_is_known_before_it_exists() {
        let places = SecretPlaces::now();
        assert!(places.has(Path::new("/root/.ssh/authorized_keys")));
        assert!(places.has(Path::new("/etc/shadow-")));
        assert!(!places.has(Path::new("/root/project/Makefile")));
    }
}
