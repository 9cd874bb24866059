//! What a change touches besides the files of the work: such changes are shown apart and need their own
//! consent (decision E11).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Kind, Meta};
use crate::consent::Class;
use zx1_whitelist::steering;

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
const TEST_DIRS: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "testdata",
    "test-data",
    "test_data",
    "e2e",
    "__snapshots__",
    "t",
    "cypress",
    "features",
    "integration",
    "integration_tests",
    "integration-tests",
    "playwright",
    "fixtures",
    "__mocks__",
    "acceptance",
    "functional",
    "unit",
    "testing",
    "xt",
    "androidTest",
    "testFixtures",
    "doctest",
];
/// Names, up to the first dot, that steer a test runner: these count when added, too.
const TEST_CONTROLS: &[&str] = &[
    "conftest",
    "pytest",
    "tox",
    "noxfile",
    "phpunit",
    "jest",
    "vitest",
    "karma",
    "mocha",
    "cypress",
    "playwright",
    "ava",
    "nightwatch",
    "wdio",
    "protractor",
    "nextest",
    "ctest",
    "CTestTestfile",
    "CTestConfig",
    "testing",
    "spec_helper",
    "rails_helper",
    "test_helper",
    "setupTests",
    "behat",
    "codeception",
    "nose",
    "unittest",
    "tape",
    "testng",
    "junit",
    "robot",
    "behave",
    "lettuce",
    "cucumber",
];

/// Names of new text files that programs run or obey as soon as they are there, beside [`steering::BUILD`].
const RUN_BY_NAME: &[&str] = &[
    "configure",
    "extensions.xml",
    "sitecustomize.py",
    "usercustomize.py",
    "manage.py",
    "tasks.py",
    "fabfile.py",
    "dodo.py",
    "__main__.py",
    "__init__.pyi",
    "local.properties",
    "autogen.sh",
    "esbuild.js",
    "HEAD",
    "commondir",
    "gitdir",
    "config.worktree",
];

/// Endings of ordinary new text files: sources, data, documents. Everything else is asked for.
const ORDINARY_ENDINGS: &[&str] = &[
    "c",
    "h",
    "cc",
    "cpp",
    "cxx",
    "hh",
    "hpp",
    "hxx",
    "inl",
    "inc",
    "m",
    "mm",
    "rs",
    "go",
    "zig",
    "nim",
    "d",
    "v",
    "py",
    "pyi",
    "pyx",
    "rb",
    "erb",
    "js",
    "mjs",
    "cjs",
    "jsx",
    "ts",
    "mts",
    "cts",
    "tsx",
    "vue",
    "svelte",
    "astro",
    "java",
    "kt",
    "scala",
    "groovy",
    "clj",
    "cljs",
    "cs",
    "fs",
    "vb",
    "swift",
    "dart",
    "php",
    "pl",
    "pm",
    "lua",
    "r",
    "jl",
    "hs",
    "lhs",
    "ml",
    "mli",
    "ex",
    "erl",
    "hrl",
    "elm",
    "f",
    "f90",
    "for",
    "asm",
    "s",
    "sol",
    "cu",
    "cl",
    "glsl",
    "wgsl",
    "hlsl",
    "proto",
    "graphql",
    "gql",
    "thrift",
    "avsc",
    "sql",
    "html",
    "htm",
    "css",
    "scss",
    "sass",
    "less",
    "xml",
    "xsd",
    "xsl",
    "svg",
    "json",
    "json5",
    "jsonl",
    "yaml",
    "yml",
    "toml",
    "ini",
    "cfg",
    "conf",
    "csv",
    "tsv",
    "txt",
    "md",
    "markdown",
    "rst",
    "adoc",
    "tex",
    "bib",
    "log",
    "out",
    "lock",
    "sum",
    "mod",
    "list",
    "tmpl",
    "j2",
    "mustache",
    "hbs",
    "ejs",
    "po",
    "pot",
    "strings",
    "properties",
    "example",
    "sample",
    "in",
    "am",
    "ac",
    "m4",
    "cmake",
    "mk",
    "map",
    "snap",
    "diff",
    "patch",
    "template",
    "env",
    "lst",
    "dat",
    "srt",
    "vtt",
    "ipynb",
    "tf",
    "typ",
    "rsc",
    "res",
    "def",
    "ld",
    "x",
    "y",
    "l",
    "g4",
    "ebnf",
    "feature",
];

/// Programs that obey files of the folder by their names, and those files.
const OBEYED: &[(&[&str], &[&str])] = &[
    (&["make", "gmake", "remake", "bmake"], &["Makefile", "makefile", "GNUmakefile", "BSDmakefile"]),
    (
        &["npm", "npx", "yarn", "pnpm", "bun", "jest", "vitest", "mocha", "node"],
        &["package.json", "bunfig.toml"],
    ),
    (&["deno"], &["deno.json", "deno.jsonc", "package.json"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb"]),
    (&["bundle"], &["Gemfile"]),
    (
        &["pytest", "py.test", "tox", "nox", "coverage", "python", "python3"],
        &["pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "conftest.py", "noxfile.py"],
    ),
    (&["mvn", "mvnw"], &["pom.xml"]),
    (&["gradle", "gradlew"], &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    (&["ant"], &["build.xml"]),
    (&["cmake", "ctest"], &["CMakeLists.txt", "CTestTestfile.cmake"]),
    (&["meson", "ninja"], &["meson.build", "build.ninja"]),
    (&["scons"], &["SConstruct"]),
    (&["waf"], &["wscript"]),
    (&["bazel", "bazelisk"], &["BUILD", "BUILD.bazel", "WORKSPACE", "MODULE.bazel"]),
    (&["docker", "podman", "buildah"], &["Dockerfile", "Containerfile"]),
    (&["docker-compose"], &["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"]),
    (&["vagrant"], &["Vagrantfile"]),
    (&["phpunit"], &["phpunit.xml", "phpunit.xml.dist"]),
    (&["composer"], &["composer.json"]),
    (&["mix"], &["mix.exs"]),
    (&["snakemake"], &["Snakefile"]),
];

/// Programs that run the file that is named behind them.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python2", "python3", "pypy3", "perl", "ruby",
    "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "Rscript", "julia", "tclsh", "awk", "gawk",
    "sed", "source", ".", "pytest", "py.test", "java", "groovy", "elixir", "escript", "guile", "racket",
    "ts-node", "tsx", "bats", "expect",
];

/// Folders of the system: never a part of the work, wherever the command was run.
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/boot", "/var", "/nix",
    "/snap",
];
/// But these of theirs are not: people keep work there.
const NOT_SYSTEM: &[&str] =
    &["/var/www", "/var/tmp", "/usr/src", "/usr/local/src", "/opt/app", "/var/lib/jenkins"];

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
        let text = line.to_string_lossy();
        for path in obeyed(&text) {
            let path = work_tree.join(path.strip_prefix("./").unwrap_or(&path));
            executables.extend(std::fs::canonicalize(&path).ok());
            executables.insert(path);
        }
        for program in programs(&text) {
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

/// What is run or obeyed besides programs: scripts behind interpreters, and the files that a tool looks for.
fn obeyed(line: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in line.split(['|', ';', '&', '(', ')', '`', '\n', '{', '}', '"', '\'']) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
        for (at, word) in words.iter().enumerate() {
            let program = name(word);
            for (_, files) in OBEYED.iter().filter(|(programs, _)| programs.contains(&program.as_str())) {
                found.extend(files.iter().map(|file| (*file).to_owned()));
            }
            let rest = words.get(at.saturating_add(1)..).unwrap_or_default();
            if INTERPRETERS.contains(&program.as_str()) {
                // Whichever of them is a file; the others exist nowhere and protect nothing.
                found
                    .extend(rest.iter().filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned()));
                let modules = rest.windows(2).filter(|pair| pair.first() == Some(&"-m"));
                let modules = modules.filter_map(|pair| pair.get(1)).map(|module| module.replace('.', "/"));
                found.extend(
                    modules.flat_map(|module| [format!("{module}.py"), format!("{module}/__main__.py")]),
                );
            }
            // `make -f other.mk`: what an option of such a tool names is obeyed.
            if OBEYED.iter().any(|(programs, _)| programs.contains(&program.as_str())) {
                let named = rest.windows(2).filter(|pair| matches!(pair.first(), Some(&("-f" | "--file"))));
                found.extend(named.filter_map(|pair| pair.get(1)).map(|file| (*file).to_owned()));
            }
        }
    }
    found
}

/// Both sides of a change.
pub(super) struct Sides<'a> {
    pub(super) kind: Kind,
    pub(super) before: Option<&'a Meta>,
    pub(super) after: Option<&'a Meta>,
    /// It becomes one more name of another file.
    pub(super) is_link: bool,
}

impl Sides<'_> {
    /// It was below a directory that is gone.
    pub(super) fn gone() -> Self {
        Sides { kind: Kind::Deleted, before: None, after: None, is_link: false }
    }

    /// It was written to by another name.
    pub(super) fn touched() -> Self {
        Sides { kind: Kind::Meta, before: None, after: None, is_link: false }
    }
}

/// All classes of one change.
pub(super) fn classify(path: &Path, sides: &Sides<'_>, protected: &Protected) -> BTreeSet<Class> {
    let kind = sides.kind;
    let mut classes = BTreeSet::new();
    let inside = path.strip_prefix(&protected.work_tree).ok();
    // The root holds everything, and is nobody's work.
    let inside = inside.filter(|_| protected.work_tree.parent().is_some());
    // Who works below /opt or /var works there; /usr and /etc are the system's, wherever the command was run.
    let is_place_of_work = ["/opt", "/var"].iter().any(|top| protected.work_tree.starts_with(top));
    if is_system(path) && !(inside.is_some() && is_place_of_work) {
        classes.insert(Class::System);
    }
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
    if let Some(after) = sides.after {
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
    let below = inside.unwrap_or(path);
    let parts = || below.components().map(|part| part.as_os_str());
    if parts()
        .any(|part| steering::OBEYED.iter().any(|ci| part == *ci) || part.as_bytes().starts_with(b".aider"))
    {
        classes.insert(Class::Ci);
    }
    if inside.is_some() && parts().any(|part| part.as_bytes().starts_with(b".")) {
        classes.insert(Class::Dotfile);
    }
    classes.extend(of_kind(name, sides));
    classes
}

/// What a change is by the kinds of the files, whatever their names are called.
fn of_kind(name: &OsStr, sides: &Sides<'_>) -> Vec<Class> {
    use super::FileType;
    let mut classes = Vec::new();
    let is_symlink =
        |meta: Option<&Meta>| meta.is_some_and(|meta| matches!(meta.file_type, FileType::Symlink(_)));
    if sides.is_link || is_symlink(sides.after) || is_symlink(sides.before) {
        classes.push(Class::Link);
    }
    let Some(after) = sides.after else { return classes };
    match after.file_type {
        FileType::Fifo | FileType::Other => classes.push(Class::Binary),
        FileType::File => {
            let was_file = sides.before.filter(|before| before.file_type == FileType::File);
            let was_run = was_file.is_some_and(|before| before.mode & 0o111 != 0);
            let gains = after.mode & 0o111 != 0 && !was_run;
            let is_new = was_file.is_none();
            let (was_text, same) = (was_file.is_none_or(|before| before.text), sides.kind == Kind::Meta);
            if !same && (!after.text || !was_text) {
                classes.push(Class::Binary);
            }
            if gains || (is_new && !is_ordinary_name(name)) {
                classes.push(Class::Executable);
            }
        }
        FileType::Dir | FileType::Symlink(_) => {}
    }
    classes
}

/// Whether a new text file of this name is only read: a known ending, or none at all and no name that tools know.
fn is_ordinary_name(name: &OsStr) -> bool {
    let Some(text) = name.to_str() else { return false };
    if RUN_BY_NAME.contains(&text) || steering::BUILD.contains(&text) {
        return false;
    }
    match text.trim_start_matches('.').rsplit_once('.') {
        None => true,
        Some((_, ending)) => ORDINARY_ENDINGS.contains(&ending.to_ascii_lowercase().as_str()),
    }
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|top| path.starts_with(top)) && !NOT_SYSTEM.iter().any(|top| path.starts_with(top))
}

/// Files of a repository's own folder that git runs or obeys: all but its objects, names and logs. Submodules
/// and linked trees have hooks and settings of their own somewhere below.
fn is_git_control(path: &Path) -> bool {
    const DATA: [&str; 6] = ["objects", "refs", "logs", "index", "packed-refs", "shallow"];
    let mut names = path.components().map(|name| name.as_os_str()).skip_while(|name| *name != ".git");
    if names.next().is_none() {
        return false;
    }
    // `.git` itself may be a file or a link that leads to another repository.
    let Some(first) = names.next() else { return true };
    let head = first.to_str().is_some_and(|name| name.ends_with("HEAD") || name.ends_with("_MSG"));
    !(head || DATA.iter().any(|data| first == *data))
}

fn is_test(inside: &Path, name: &OsStr, kind: Kind) -> bool {
    let text = String::from_utf8_lossy(name.as_bytes()).into_owned();
    let stem = text.trim_start_matches('.').split('.').next().unwrap_or_default();
    if TEST_CONTROLS.contains(&stem)
        || text == ".rspec"
        || text == ".coveragerc"
        || text.starts_with(".mocharc")
    {
        return true;
    }
    if kind == Kind::Added {
        return false;
    }
    let in_dir = inside.components().any(|part| TEST_DIRS.iter().any(|dir| part.as_os_str() == *dir));
    let ends =
        ["_test", "-test", "_tests", "_spec", "-spec", "Test", "Tests", "Spec", "Specs", "TestCase", "IT"];
    let is_java =
        ["java", "kt", "scala", "groovy", "cs", "swift", "php"].iter().any(|one| text.ends_with(one));
    let by_name = ["test_", "test-", "tests_"].iter().any(|start| stem.starts_with(start))
        || ends.iter().any(|end| stem.ends_with(end) && (*end != "IT" || is_java))
        || (stem.starts_with("Test") && is_java)
        || [".test.", ".spec.", ".cy.", ".e2e."].iter().any(|part| text.contains(part))
        || text.ends_with(".t")
        || text.ends_with(".bats")
        || text.ends_with(".feature")
        || matches!(stem, "test" | "tests" | "spec");
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

    fn protected() -> Protected {
        Protected {
            work_tree: PathBuf::from("/home/u/p"),
            executables: BTreeSet::from([PathBuf::from("/home/u/p/bin/tool"), PathBuf::from("/usr/bin/gcc")]),
        }
    }

    fn meta(file_type: super::super::FileType, mode: u32, text: bool) -> Meta {
        Meta {
            file_type,
            mode,
            uid: 0,
            gid: 0,
            size: 1,
            mtime: (0, 0),
            hash: None,
            text,
            xattrs: Vec::new(),
            identity: None,
        }
    }

    /// A text file of this kind of change.
    fn classes_of(path: &str, kind: Kind) -> BTreeSet<Class> {
        let file = meta(super::super::FileType::File, 0o644, true);
        let before = (kind != Kind::Added).then_some(&file);
        let after = (kind != Kind::Deleted).then_some(&file);
        classify(Path::new(path), &Sides { kind, before, after, is_link: false }, &protected())
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

    /// The table of the review and of decision E18: what `--yes` covers is `InTree` alone.
    #[test]
    fn every_path_and_kind_has_the_classes_of_the_table() {
        let table = include_str!("table.txt");
        let mut rows = 0;
        for row in table.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
            let fields: Vec<&str> = row.split_whitespace().collect();
            let [change, path, wanted] = fields[..] else { panic!("{row}") };
            let path = if path.starts_with('/') { path.to_owned() } else { format!("/home/u/p/{path}") };
            let file = |mode, text| meta(super::super::FileType::File, mode, text);
            let link = meta(super::super::FileType::Symlink(PathBuf::from("x")), 0o777, false);
            let (kind, before, after, is_link) = match change {
                "new" => (Kind::Added, None, Some(file(0o644, true)), false),
                "new+x" => (Kind::Added, None, Some(file(0o755, true)), false),
                "new+bin" => (Kind::Added, None, Some(file(0o644, false)), false),
                "new+suid" => (Kind::Added, None, Some(file(0o4755, true)), false),
                "new+link" => (Kind::Added, None, Some(link), false),
                "new+hard" => (Kind::Added, None, Some(file(0o644, true)), true),
                "new+dir" => {
                    (Kind::Added, None, Some(meta(super::super::FileType::Dir, 0o755, false)), false)
                }
                "new+fifo" => {
                    (Kind::Added, None, Some(meta(super::super::FileType::Fifo, 0o644, false)), false)
                }
                "mod" => (Kind::Modified, Some(file(0o644, true)), Some(file(0o644, true)), false),
                "mod+x" => (Kind::Modified, Some(file(0o755, true)), Some(file(0o755, true)), false),
                "mod+bin" => (Kind::Modified, Some(file(0o644, false)), Some(file(0o644, false)), false),
                "chmod+x" => (Kind::Meta, Some(file(0o644, true)), Some(file(0o755, true)), false),
                "chmod" => (Kind::Meta, Some(file(0o644, true)), Some(file(0o600, true)), false),
                "to-link" => (Kind::Replaced, Some(file(0o644, true)), Some(link), false),
                "from-link" => (Kind::Replaced, Some(link), Some(file(0o644, true)), false),
                "del" => (Kind::Deleted, Some(file(0o644, true)), None, false),
                other => panic!("{other}"),
            };
            let sides = Sides { kind, before: before.as_ref(), after: after.as_ref(), is_link };
            let found = classify(Path::new(&path), &sides, &protected());
            let found: Vec<String> = found.iter().map(|class| format!("{class:?}")).collect();
            let wanted: Vec<&str> = wanted.split(',').collect();
            let has = |class: &&str| found.iter().any(|one| one == class);
            let ordinary = wanted == ["InTree"];
            assert!(wanted.iter().all(has) && (!ordinary || found == ["InTree"]), "{row}: {found:?}");
            rows += 1;
        }
        assert!(rows >= 300, "{rows}");
    }

    #[test]
    fn what_the_command_obeys_is_known_behind_interpreters_and_tools() {
        for (line, file) in [
            ("python3 t.py", "t.py"),
            ("bash run.sh -x", "run.sh"),
            ("make test", "Makefile"),
            ("make -f other.mk", "other.mk"),
            ("npm test", "package.json"),
            ("python3 -m pkg.tool", "pkg/tool.py"),
            ("sh -c 'python3 t.py'", "t.py"),
            ("cd x && just build", "justfile"),
        ] {
            assert!(obeyed(line).contains(file), "{line}");
        }
        for (line, file) in [("gcc m.c -o m", "m.c"), ("test -f done", "done")] {
            assert!(!obeyed(line).contains(file), "{line}");
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
