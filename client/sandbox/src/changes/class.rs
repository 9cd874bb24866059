//! What a change touches besides the files of the work: such changes are shown apart and need their own
//! consent (decision E11).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Kind, Meta};
use crate::consent::Class;

/// Names in any directory that are run or read at start-up.
const START_UP_NAMES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    ".vimrc",
    ".exrc",
    ".gvimrc",
    ".emacs",
    ".emacs.d",
    ".nanorc",
    ".gdbinit",
    ".lldbinit",
    ".gitconfig",
    ".screenrc",
    ".tmux.conf",
    ".wgetrc",
    ".curlrc",
    ".pythonrc",
    ".pythonrc.py",
    ".irbrc",
    ".pryrc",
    ".Rprofile",
    ".sqliterc",
    ".psqlrc",
    ".envrc",
    ".npmrc",
    ".pnpmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "sitecustomize.py",
    "usercustomize.py",
    ".direnvrc",
    ".mise.toml",
    ".tool-versions",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".forward",
    ".bazelrc",
];

/// Endings of paths below a home (or anywhere) that are the same.
const START_UP_PARTS: &[&str] = &[
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".config/git",
    ".config/nvim",
    ".config/pip",
    ".config/direnv",
    ".config/mise",
    ".config/nushell",
    ".config/plasma-workspace",
    ".local/share/applications",
    ".local/share/systemd",
    ".local/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/bin",
    ".vim",
    ".oh-my-zsh",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".ssh",
    ".gnupg",
];

/// Places on the machine that are the same.
const START_UP_PLACES: &[&str] = &[
    "/etc/profile",
    "/etc/profile.d",
    "/etc/bash.bashrc",
    "/etc/bash",
    "/etc/bashrc",
    "/etc/zsh",
    "/etc/fish",
    "/etc/environment",
    "/etc/environment.d",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.cache",
    "/etc/cron.d",
    "/etc/cron.daily",
    "/etc/cron.hourly",
    "/etc/cron.weekly",
    "/etc/cron.monthly",
    "/etc/crontab",
    "/etc/anacrontab",
    "/var/spool/cron",
    "/var/spool/at",
    "/etc/systemd",
    "/lib/systemd",
    "/usr/lib/systemd",
    "/usr/local/lib/systemd",
    "/etc/init.d",
    "/etc/init",
    "/etc/rc.local",
    "/etc/inittab",
    "/etc/rc0.d",
    "/etc/rc1.d",
    "/etc/rc2.d",
    "/etc/rc3.d",
    "/etc/rc4.d",
    "/etc/rc5.d",
    "/etc/rc6.d",
    "/etc/rcS.d",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/pam.d",
    "/etc/security",
    "/etc/passwd",
    "/etc/group",
    "/etc/shells",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/ssh",
    "/etc/ssl",
    "/etc/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/etc/pki",
    "/etc/X11",
    "/etc/xdg",
    "/etc/dbus-1",
    "/usr/share/dbus-1",
    "/etc/polkit-1",
    "/usr/share/polkit-1",
    "/etc/udev",
    "/lib/udev",
    "/usr/lib/udev",
    "/etc/modprobe.d",
    "/etc/modules",
    "/etc/modules-load.d",
    "/etc/sysctl.conf",
    "/etc/sysctl.d",
    "/etc/gitconfig",
    "/etc/inputrc",
    "/etc/vim",
    "/etc/alternatives",
    "/boot",
    "/etc/default",
    "/etc/fstab",
    "/etc/tmpfiles.d",
    "/etc/binfmt.d",
    "/etc/logrotate.d",
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/apt/trusted.gpg.d",
];

/// Parts of paths that hold hooks.
const HOOK_PARTS: &[&str] =
    &[".git/hooks", ".git/config", ".git/info/attributes", ".husky", ".githooks", ".config/git/hooks"];
/// Names that configure hooks.
const HOOK_NAMES: &[&str] = &[
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    ".overcommit.yml",
    ".gitmodules",
    ".gitattributes",
];
/// Places on the machine that hold hooks.
const HOOK_PLACES: &[&str] = &[
    "/etc/apt/apt.conf",
    "/etc/apt/apt.conf.d",
    "/etc/dpkg/dpkg.cfg",
    "/etc/dpkg/dpkg.cfg.d",
    "/var/lib/dpkg/info",
    "/etc/kernel",
    "/etc/initramfs-tools",
    "/etc/pacman.d/hooks",
    "/usr/share/libalpm/hooks",
    "/etc/dhcp",
    "/etc/network",
    "/etc/NetworkManager",
    "/etc/acpi",
    "/etc/pm",
    "/etc/needrestart",
    "/usr/share/git-core/templates",
];

/// Directories of tests.
const TEST_DIRS: &[&str] =
    &["test", "tests", "spec", "specs", "__tests__", "testdata", "test-data", "e2e", "__snapshots__"];
/// Names that steer a test runner: these count when added, too.
const TEST_CONTROLS: &[&str] = &[
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    ".coveragerc",
    "phpunit.xml",
    "jest.config.js",
    "jest.config.ts",
    "vitest.config.ts",
    "vitest.config.js",
    "karma.conf.js",
    ".mocharc.json",
    ".mocharc.js",
    ".rspec",
    "nextest.toml",
    "ctest.cmake",
    "CTestTestfile.cmake",
];

/// The failed command's executables, as they can be found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Protected {
    work_tree: PathBuf,
    executables: BTreeSet<PathBuf>,
}

impl Protected {
    /// Every program word of the line: as found in PATH, each place earlier in PATH where another file would
    /// be found in its stead, and what links lead to.
    pub(crate) fn new(work_tree: &Path, line: &OsStr, path_var: &OsStr) -> Self {
        let mut executables = BTreeSet::new();
        for program in programs(&line.to_string_lossy()) {
            let mut add = |path: PathBuf| -> bool {
                let real = std::fs::canonicalize(&path).ok();
                let there = real.as_ref().is_some_and(|real| real.is_file());
                executables.insert(path);
                executables.extend(real);
                there
            };
            if program.contains('/') {
                let program = program.strip_prefix("./").unwrap_or(&program);
                add(work_tree.join(program));
                continue;
            }
            for dir in std::env::split_paths(path_var) {
                let dir = work_tree.join(dir);
                // Through a link such as /bin the overlay sees the real directory.
                let dir = std::fs::canonicalize(&dir).unwrap_or(dir);
                if add(dir.join(&program)) {
                    break;
                }
            }
        }
        Self { work_tree: work_tree.to_owned(), executables }
    }
}

/// Words of a shell line that are programs: the first of each simple command, behind assignments and
/// wrappers.
fn programs(line: &str) -> BTreeSet<String> {
    const WRAPPERS: [&str; 12] = [
        "sudo", "env", "time", "nice", "nohup", "exec", "command", "timeout", "xargs", "stdbuf", "setsid",
        "doas",
    ];
    let mut found = BTreeSet::new();
    for part in line.split(['|', ';', '&', '(', ')', '`', '\n', '{', '}']) {
        for word in part.split_whitespace() {
            let word = word.trim_matches(['"', '\'', '$', '!']);
            let assignment = word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
            let number = word.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 's');
            if word.is_empty() || assignment || word.starts_with('-') || number {
                continue;
            }
            found.insert(word.to_owned());
            if !WRAPPERS.contains(&word) {
                break;
            }
        }
    }
    found
}

/// All classes of one change.
pub(super) fn classify(
    path: &Path,
    kind: Kind,
    after: Option<&Meta>,
    protected: &Protected,
) -> BTreeSet<Class> {
    let mut classes = BTreeSet::new();
    let inside = path.strip_prefix(&protected.work_tree).ok();
    classes.insert(if inside.is_some() { Class::InTree } else { Class::OutsideTree });
    let name = path.file_name().unwrap_or_default();
    let named = |names: &[&str]| names.iter().any(|other| name == *other);
    if named(START_UP_NAMES)
        || START_UP_PARTS.iter().any(|part| has_part(path, part))
        || START_UP_PLACES.iter().any(|place| path.starts_with(place))
        || path.extension() == Some(OsStr::new("pth"))
    {
        classes.insert(Class::StartUpFile);
    }
    let hooks = is_git_control(path) || HOOK_PARTS.iter().any(|part| has_part(path, part));
    if hooks || named(HOOK_NAMES) || HOOK_PLACES.iter().any(|place| path.starts_with(place)) {
        classes.insert(Class::Hook);
    }
    if let Some(after) = after {
        let set_id = after.mode & 0o6000 != 0 && after.file_type == super::FileType::File;
        let capable = after.xattrs.iter().any(|(name, _)| name.0 == b"security.capability");
        if set_id || capable {
            classes.insert(Class::SetuidBit);
        }
    }
    // A removed directory takes what is in it along.
    if protected
        .executables
        .iter()
        .any(|own| own == path || (kind != Kind::Meta && kind != Kind::Added && own.starts_with(path)))
    {
        classes.insert(Class::OwnCommand);
    }
    if inside.is_some_and(|inside| is_test(inside, name, kind)) {
        classes.insert(Class::Tests);
    }
    classes
}

/// Files of a repository's own folder that git runs or obeys: all but its objects, names and logs. Submodules
/// and linked trees have hooks and settings of their own somewhere below.
fn is_git_control(path: &Path) -> bool {
    const DATA: [&str; 6] = ["objects", "refs", "logs", "index", "packed-refs", "shallow"];
    let mut names = path.components().map(|name| name.as_os_str()).skip_while(|name| *name != ".git").skip(1);
    let Some(first) = names.next() else { return false };
    let head = first.to_str().is_some_and(|name| name.ends_with("HEAD") || name.ends_with("_MSG"));
    !(head || DATA.iter().any(|data| first == *data))
}

fn is_test(inside: &Path, name: &OsStr, kind: Kind) -> bool {
    if TEST_CONTROLS.iter().any(|control| name == *control) {
        return true;
    }
    if kind == Kind::Added {
        return false;
    }
    let in_dir = inside.components().any(|part| TEST_DIRS.iter().any(|dir| part.as_os_str() == *dir));
    let text = String::from_utf8_lossy(name.as_bytes()).into_owned();
    let stem = text.split('.').next().unwrap_or_default();
    let by_name = stem.starts_with("test_")
        || stem.starts_with("test-")
        || stem.ends_with("_test")
        || stem.ends_with("-test")
        || stem.ends_with("_spec")
        || stem.ends_with("Test")
        || stem.ends_with("Tests")
        || text.contains(".test.")
        || text.contains(".spec.")
        || matches!(stem, "test" | "tests");
    in_dir || by_name
}

/// Whether `part` (one or more names) occurs in a path as whole names.
fn has_part(path: &Path, part: &str) -> bool {
    let names: Vec<&OsStr> = path.components().map(|name| name.as_os_str()).collect();
    let wanted: Vec<&OsStr> = part.split('/').map(OsStr::new).collect();
    names.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes_of(path: &str, kind: Kind) -> BTreeSet<Class> {
        let protected = Protected {
            work_tree: PathBuf::from("/home/u/p"),
            executables: BTreeSet::from([PathBuf::from("/home/u/p/bin/tool"), PathBuf::from("/usr/bin/gcc")]),
        };
        classify(Path::new(path), kind, None, &protected)
    }

    #[test]
    fn each_class_is_recognised() {
        for (path, kind, class) in [
            ("/home/u/p/src/a.c", Kind::Modified, Class::InTree),
            ("/home/u/other", Kind::Added, Class::OutsideTree),
            ("/home/u/.bashrc", Kind::Modified, Class::StartUpFile),
            ("/home/u/.config/fish/config.fish", Kind::Added, Class::StartUpFile),
            ("/etc/profile.d/x.sh", Kind::Added, Class::StartUpFile),
            ("/home/u/p/.venv/lib/python3/site-packages/evil.pth", Kind::Added, Class::StartUpFile),
            ("/home/u/p/.git/hooks/pre-commit", Kind::Added, Class::Hook),
            ("/home/u/p/.git/config", Kind::Modified, Class::Hook),
            ("/usr/bin/gcc", Kind::Modified, Class::OwnCommand),
            ("/usr/bin", Kind::Deleted, Class::OwnCommand),
            ("/home/u/p/tests/a.rs", Kind::Modified, Class::Tests),
            ("/home/u/p/src/test_a.py", Kind::Deleted, Class::Tests),
            ("/home/u/p/src/a.test.ts", Kind::Meta, Class::Tests),
            ("/home/u/p/conftest.py", Kind::Added, Class::Tests),
        ] {
            assert!(classes_of(path, kind).contains(&class), "{path} {class:?}");
        }
    }

    #[test]
    fn ordinary_changes_need_no_consent_ok() {
        for (path, kind) in [
            ("/home/u/p/src/a.c", Kind::Modified),
            ("/home/u/p/tests/new.rs", Kind::Added),
            ("/home/u/p/src/contest.c", Kind::Modified),
            ("/home/u/p/.gitignore", Kind::Modified),
        ] {
            assert!(classes_of(path, kind).iter().all(|class| !class.needs_consent()), "{path}");
        }
    }

    #[test]
    fn programs_are_found_behind_assignments_wrappers_and_operators() {
        let found = programs("CC=gcc sudo -E make test && ./run.sh a b | timeout 5 grep x; (cd y)");
        let wanted = ["./run.sh", "cd", "grep", "make", "sudo", "timeout"].map(String::from);
        assert_eq!(found, BTreeSet::from(wanted));
    }

    #[test]
    fn a_program_put_earlier_in_path_is_the_own_command() {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        let (early, late) = (root.join("early"), root.join("late"));
        std::fs::create_dir(&early).unwrap();
        std::fs::create_dir(&late).unwrap();
        std::fs::write(late.join("tool"), "").unwrap();
        let path = std::env::join_paths([&early, &late, &root.join("after")]).unwrap();
        let protected = Protected::new(&root, OsStr::new("tool --x"), &path);
        assert!(protected.executables.contains(&early.join("tool")));
        assert!(protected.executables.contains(&late.join("tool")));
        assert!(!protected.executables.contains(&root.join("after/tool")));
    }

    #[test]
    fn no_consent_is_given_unless_named() {
        let consents = crate::consent::Consents::none().with(Class::OutsideTree);
        assert!(consents.allow(Class::InTree) && consents.allow(Class::OutsideTree));
        assert!(!consents.allow(Class::StartUpFile));
    }
}
