//! What the machine is: versions, environment, system information.

use super::super::grammar::{Kind, Operands, Options, Part, Rule, Shape};
use super::custom;
use Kind::{ListOf, Name, Number, Path, Text};
use Part::{Rest, Word};

/// `hostnamectl` also sets names, and reaches other machines with `-H` and `-M`.
const HOSTNAMECTL: &[&[Part]] = &[
    &[],
    &[Word("status")],
    &[Word("--version")],
    &[Word("--help")],
    &[Word("--static")],
    &[Word("--pretty")],
    &[Word("--transient")],
    &[Word("--json=short")],
    &[Word("--json=pretty")],
    &[Word("--no-pager")],
    &[Word("status"), Word("--no-pager")],
    &[Word("--no-pager"), Word("status")],
];

const COLUMNS: &[&str] = &[
    "source", "fstype", "itotal", "iused", "iavail", "ipcent", "size", "used", "avail", "pcent", "file",
    "target",
];

/// With an operand, `mount` mounts.
const MOUNT: &[&[Part]] = &[
    &[],
    &[Word("-l")],
    &[Word("--show-labels")],
    &[Word("-V")],
    &[Word("--version")],
    &[Word("-h")],
    &[Word("--help")],
    &[Word("-t"), Part::Operand(Name)],
    &[Word("-l"), Word("-t"), Part::Operand(Name)],
    &[Word("-t"), Part::Operand(Name), Word("-l")],
];

const LSB: Options =
    Options { flags: "vidrcash", long: "id description release codename all short", ..Options::NONE };

pub(super) const RULES: &[Rule] = &[
    options(
        &["which"],
        Options { flags: "a", operands: Operands::Some(Name, "a command's name"), ..Options::NONE },
    ),
    options(
        &["whereis"],
        Options { flags: "bmslhV", operands: Operands::Some(Name, "a command's name"), ..Options::NONE },
    ),
    Rule {
        names: &["type"],
        shape: Shape::Forms(&[
            &[Word("-a"), Rest(&Options { operands: Operands::Some(Name, "a command's name"), ..NO_LONG })],
            &[Rest(&Options { operands: Operands::Some(Name, "a command's name"), ..NO_LONG })],
        ]),
        response_files: false,
    },
    options(
        &["uname"],
        Options {
            flags: "asnrvmpio",
            long: "all kernel-name nodename kernel-release kernel-version machine processor \
                   hardware-platform \
                   operating-system",
            ..Options::NONE
        },
    ),
    options(&["arch"], Options::NONE),
    options(&["lsb_release"], LSB),
    forms(&["hostnamectl"], HOSTNAMECTL),
    Rule { names: &["echo"], shape: Shape::Custom(custom::echo), response_files: false },
    options(
        &["id"],
        Options {
            flags: "agGnruzZ",
            long: "context group groups name real user zero",
            operands: Operands::Many(Name),
            ..Options::NONE
        },
    ),
    options(&["whoami"], Options::NONE),
    options(&["pwd"], Options { flags: "LP", long: "logical physical", ..Options::NONE }),
    options(
        &["lscpu"],
        Options {
            flags: "abcBhJVxye",
            long: "all online offline bytes json hex physical output-all",
            optional: &[("--extended --parse --caches", Text)],
            ..Options::NONE
        },
    ),
    options(
        &["free"],
        Options {
            flags: "bkmghwtlvV",
            long: "bytes kibi mebi gibi tebi kilo mega giga tera human wide total lohi si committed line",
            ..Options::NONE
        },
    ),
    options(
        &["df"],
        Options {
            flags: "ahHiklPTv",
            long: "all human-readable si inodes local portability print-type total no-sync",
            values: &[("-B --block-size", Number), ("-t --type -x --exclude-type", Name)],
            optional: &[("--output", ListOf(COLUMNS))],
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    forms(&["mount"], MOUNT),
    Rule { names: &["ps"], shape: Shape::Custom(custom::ps), response_files: false },
    Rule { names: &["test"], shape: Shape::Custom(custom::test), response_files: false },
    Rule { names: &["timeout"], shape: Shape::Custom(custom::timeout), response_files: false },
    // Beside the specification's list: versions, and nothing else.
    version(&[
        "python", "python2", "python3", "perl", "ruby", "node", "nodejs", "git", "tar", "bash", "zsh", "fish",
    ]),
    version(&[
        "python3.8",
        "python3.9",
        "python3.10",
        "python3.11",
        "python3.12",
        "python3.13",
        "python3.14",
    ]),
    version(&[
        "javac",
        "jshell",
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "redis-cli",
        "docker",
        "podman",
        "curl",
    ]),
    version(&[
        "wget", "rsync", "ninja", "meson", "autoconf", "automake", "libtool", "bison", "flex", "swig", "gdb",
    ]),
    version(&[
        "sed", "gawk", "patch", "gzip", "xz", "zstd", "php", "ghc", "rustup", "rustfmt", "ccache", "yasm",
    ]),
    version(&[
        "nasm", "m4", "gettext", "protoc", "swift", "kotlinc", "scalac", "elixir", "ocaml", "julia", "nvcc",
    ]),
    Rule {
        names: &["java"],
        shape: Shape::Only(&["-version", "--version", "-fullversion"]),
        response_files: false,
    },
    Rule { names: &["go", "terraform", "helm"], shape: Shape::Only(&["version"]), response_files: false },
    Rule {
        names: &["openssl"],
        shape: Shape::Forms(&[
            &[Word("version")],
            &[Word("version"), Word("-a")],
            &[Word("version"), Word("-d")],
        ]),
        response_files: false,
    },
    Rule {
        names: &["ld", "as", "ar", "ranlib", "strip", "readelf", "gold", "ld.lld"],
        shape: Shape::Only(&["--version", "-v"]),
        response_files: false,
    },
    Rule { names: &["ssh"], shape: Shape::Only(&["-V"]), response_files: false },
    Rule {
        names: &["getconf"],
        shape: Shape::Only(&["GNU_LIBC_VERSION", "LONG_BIT", "_NPROCESSORS_ONLN", "PAGE_SIZE", "ARG_MAX"]),
        response_files: false,
    },
    options(&["nproc"], Options { long: "all", ..Options::NONE }),
];

const NO_LONG: Options = Options::NONE;

const fn options(names: &'static [&'static str], options: Options) -> Rule {
    Rule { names, shape: Shape::Options(options), response_files: false }
}

const fn forms(names: &'static [&'static str], forms: &'static [&'static [Part]]) -> Rule {
    Rule { names, shape: Shape::Forms(forms), response_files: false }
}

const fn version(names: &'static [&'static str]) -> Rule {
    Rule { names, shape: Shape::Only(&["--version"]), response_files: false }
}
