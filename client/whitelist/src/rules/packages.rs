//! What is installed: package managers in their asking forms.
//!
//! Left out: whatever installs, downloads, runs a project's code, prints configuration (which holds
//! passwords), or takes another root, another configuration file or an option of the configuration on the
//! command line, because those name programs to run (`apt -o`, `dpkg --pre-invoke`, `rpm --define`, `pip
//! --python`, `cargo --config`).

use super::super::grammar::{Kind, Operands, Options, Part, Rule, Shape};
use super::custom;
use Kind::{Module, Name, Number, OneOf, Path, Text};
use Part::{Operand, Rest, Word};

const NAMES: Options = Options { operands: Operands::Many(Name), ..Options::NONE };
const SOME: Options = Options { operands: Operands::Some(Name, "a package's name"), ..Options::NONE };
const PATTERN: Options = Options { operands: Operands::Some(Text, "a pattern"), ..Options::NONE };
const PATTERN_OF_NAMES: Options = Options {
    flags: "nf",
    long: "names-only full installed",
    operands: Operands::Some(Text, "a pattern"),
    ..SOME
};

const DPKG: &[&[Part]] = &[
    &[Word("-l"), Rest(&NAMES)],
    &[Word("--list"), Rest(&NAMES)],
    &[Word("--no-pager"), Word("-l"), Rest(&NAMES)],
    &[Word("-s"), Rest(&SOME)],
    &[Word("--status"), Rest(&SOME)],
    &[Word("-L"), Rest(&SOME)],
    &[Word("--listfiles"), Rest(&SOME)],
    &[Word("-p"), Rest(&SOME)],
    &[Word("--print-avail"), Rest(&SOME)],
    &[Word("-S"), Rest(&PATTERN)],
    &[Word("--search"), Rest(&PATTERN)],
    &[Word("-C")],
    &[Word("--audit")],
    &[Word("--get-selections"), Rest(&NAMES)],
    &[Word("--print-architecture")],
    &[Word("--print-foreign-architectures")],
    &[Word("--compare-versions"), Operand(Name), Operand(COMPARE), Operand(Name)],
    &[Word("--version")],
    &[Word("--help")],
];
const COMPARE: Kind = OneOf(&["lt", "le", "eq", "ne", "ge", "gt"]);

const LISTED: Options = Options {
    flags: "a",
    long: "installed upgradable upgradeable all-versions manual-installed",
    operands: Operands::Many(Name),
    ..Options::NONE
};
const SHOWN: Options = Options { flags: "a", long: "all-versions no-all-versions installed", ..SOME };
const DEPENDS: Options = Options { flags: "i", long: "important installed recurse", ..SOME };

const APT: &[&[Part]] = &[
    &[Word("list"), Rest(&LISTED)],
    &[Word("show"), Rest(&SHOWN)],
    &[Word("policy"), Rest(&NAMES)],
    &[Word("search"), Rest(&PATTERN_OF_NAMES)],
    &[Word("depends"), Rest(&DEPENDS)],
    &[Word("rdepends"), Rest(&DEPENDS)],
    &[Word("--version")],
    &[Word("--help")],
];

const APT_CACHE: &[&[Part]] = &[
    &[Word("policy"), Rest(&NAMES)],
    &[Word("show"), Rest(&SHOWN)],
    &[Word("showpkg"), Rest(&SOME)],
    &[Word("showsrc"), Rest(&SOME)],
    &[Word("search"), Rest(&PATTERN_OF_NAMES)],
    &[Word("depends"), Rest(&DEPENDS)],
    &[Word("rdepends"), Rest(&DEPENDS)],
    &[Word("madison"), Rest(&SOME)],
    &[Word("pkgnames"), Rest(&NAMES)],
    &[Word("unmet")],
    &[Word("stats")],
    &[Word("--version")],
    &[Word("--help")],
];

const RPM_NAMED: Options = Options {
    flags: "ilcdRsv",
    long: "info list configfiles docfiles requires provides conflicts obsoletes changelog state last",
    ..SOME
};
const RPM_ALL: Options =
    Options { flags: "iv", long: "last", operands: Operands::Many(Name), ..Options::NONE };
const RPM_FILE: Options =
    Options { flags: "iv", operands: Operands::Some(Path, "a path"), long: "info", ..Options::NONE };

/// `rpm -q`. Formats, macros and package files are left out: they are small languages of their own.
const RPM: &[&[Part]] = &[
    &[Word("-q"), Word("--whatprovides"), Operand(Name)],
    &[Word("-q"), Word("--whatrequires"), Operand(Name)],
    &[Word("-q"), Word("-f"), Rest(&RPM_FILE)],
    &[Word("-q"), Word("-a"), Rest(&RPM_ALL)],
    &[Word("-q"), Rest(&RPM_NAMED)],
    &[Word("-qa"), Rest(&RPM_ALL)],
    &[Word("-qf"), Rest(&RPM_FILE)],
    &[Word("-qi"), Rest(&RPM_NAMED)],
    &[Word("-ql"), Rest(&RPM_NAMED)],
    &[Word("-qR"), Rest(&RPM_NAMED)],
    &[Word("-qc"), Rest(&RPM_NAMED)],
    &[Word("-qd"), Rest(&RPM_NAMED)],
    &[Word("--query"), Rest(&RPM_NAMED)],
    &[Word("--version")],
];

const PIP_LIST: Options = Options {
    flags: "l",
    long: "local user not-required exclude-editable disable-pip-version-check no-color verbose",
    values: &[("--format", OneOf(&["columns", "freeze", "json"])), ("--exclude", Name)],
    ..Options::NONE
};
const PIP_SHOW: Options = Options { flags: "fv", long: "files verbose", ..SOME };
const PIP_FREEZE: Options = Options {
    flags: "l",
    long: "local user all exclude-editable",
    values: &[("--exclude", Name)],
    ..Options::NONE
};

const PIP: &[&[Part]] = &[
    &[Word("show"), Rest(&PIP_SHOW)],
    &[Word("list"), Rest(&PIP_LIST)],
    &[Word("freeze"), Rest(&PIP_FREEZE)],
    &[Word("check")],
    &[Word("inspect")],
    &[Word("--version")],
    &[Word("-V")],
    &[Word("--help")],
    &[Word("help")],
];

const NPM_LS: Options = Options {
    flags: "ag",
    long: "all global json long parseable link package-lock-only",
    values: &[("--depth", Number)],
    operands: Operands::Many(Name),
    ..Options::NONE
};
const NPM_PLACE: Options = Options { flags: "g", long: "global", ..Options::NONE };

/// `npm config` and `npm get` print tokens, `npm view` needs the network, every other word may run scripts.
const NPM: &[&[Part]] = &[
    &[Word("ls"), Rest(&NPM_LS)],
    &[Word("list"), Rest(&NPM_LS)],
    &[Word("ll"), Rest(&NPM_LS)],
    &[Word("explain"), Rest(&SOME)],
    &[Word("why"), Rest(&SOME)],
    &[Word("root"), Rest(&NPM_PLACE)],
    &[Word("prefix"), Rest(&NPM_PLACE)],
    &[Word("--version")],
    &[Word("-v")],
];

const GEM_LIST: Options = Options {
    flags: "aldi",
    long: "all local details installed versions no-versions exact",
    operands: Operands::Many(Name),
    ..Options::NONE
};
const GEM_WHICH: Options = Options { flags: "ag", long: "all no-gems-first gems-first", ..SOME };
const GEM_PLACE: Kind = OneOf(&["gemdir", "gemhome", "gempath", "version", "platform", "home"]);

const GEM: &[&[Part]] = &[
    &[Word("list"), Rest(&GEM_LIST)],
    &[Word("query"), Rest(&GEM_LIST)],
    &[Word("which"), Rest(&GEM_WHICH)],
    &[Word("contents"), Rest(&SOME)],
    &[Word("dependency"), Rest(&SOME)],
    &[Word("env"), Operand(GEM_PLACE)],
    &[Word("environment"), Operand(GEM_PLACE)],
    &[Word("--version")],
    &[Word("-v")],
    &[Word("--help")],
];

/// `cargo tree` and `cargo metadata` start the `rustc` that the project's configuration names; read
/// Cargo.lock.
const CARGO: &[&[Part]] = &[
    &[Word("--version")],
    &[Word("-V")],
    &[Word("-vV")],
    &[Word("-Vv")],
    &[Word("--version"), Word("--verbose")],
    &[Word("version")],
    &[Word("--list")],
    &[Word("--help")],
    &[Word("locate-project")],
    &[Word("locate-project"), Word("--workspace")],
];

const RUSTC_PRINT: Kind = OneOf(&[
    "sysroot",
    "cfg",
    "host-tuple",
    "target-list",
    "target-libdir",
    "target-cpus",
    "target-features",
    "crate-name",
    "file-names",
    "calling-conventions",
    "relocation-models",
    "code-models",
    "tls-models",
]);

/// `--print NAME=FILE` writes, so only the plain names.
const RUSTC: &[&[Part]] = &[
    &[Word("--version")],
    &[Word("-V")],
    &[Word("-vV")],
    &[Word("-Vv")],
    &[Word("--version"), Word("--verbose")],
    &[Word("--print"), Operand(RUSTC_PRINT)],
    &[Word("--explain"), Operand(Name)],
    &[Word("--help")],
];

const PKG_CONFIG: Options = Options {
    long: "libs cflags modversion exists list-all list-package-names print-variables print-requires \
           print-requires-private print-provides static shared short-errors errors-to-stdout print-errors \
           silence-errors cflags-only-I cflags-only-other libs-only-l libs-only-L libs-only-other validate \
           uninstalled keep-system-libs keep-system-cflags",
    values: &[
        ("--variable", Name),
        ("--atleast-version --exact-version --max-version --atleast-pkgconfig-version", Name),
    ],
    operands: Operands::Many(Module),
    ..Options::NONE
};

pub(super) const RULES: &[Rule] = &[
    forms(&["dpkg"], DPKG),
    forms(&["apt"], APT),
    forms(&["apt-cache"], APT_CACHE),
    forms(&["rpm"], RPM),
    Rule { names: &["pacman"], shape: Shape::Custom(custom::pacman), response_files: false },
    forms(&["pip", "pip3"], PIP),
    forms(&["npm"], NPM),
    forms(&["gem"], GEM),
    forms(&["cargo"], CARGO),
    Rule { names: &["rustc"], shape: Shape::Forms(RUSTC), response_files: true },
    Rule { names: &["pkg-config"], shape: Shape::Options(PKG_CONFIG), response_files: false },
];

const fn forms(names: &'static [&'static str], forms: &'static [&'static [Part]]) -> Rule {
    Rule { names, shape: Shape::Forms(forms), response_files: false }
}
