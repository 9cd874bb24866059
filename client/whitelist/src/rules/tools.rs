//! Compilers, build tools and programs that look into binaries.
//!
//! Compilers answer questions about themselves and never see a file of the project: `-wrapper`, `-fplugin`,
//! `-specs`, `-B`, `@file`, `#include` and `-o` are so many ways to run, read and write.

use super::super::grammar::{Kind, Operands, Options, Part, Rule, Shape};
use Kind::{Name, Number, OneOf, Path, Text};
use Part::{Operand, Rest, Word};

const LANGUAGE: Kind = OneOf(&["c", "c++"]);
const TUNING: Options = Options {
    flags: "",
    long: "dM E v P",
    values: &[("-x", LANGUAGE)],
    single_dash: true,
    operands: Operands::Many(OneOf(&["/dev/null"])),
    ..Options::NONE
};
const HELP: Kind =
    OneOf(&["common", "optimizers", "warnings", "target", "params", "c", "c++", "joined", "separate"]);
const ABOUT: Options =
    Options { flags: "Q", optional: &[("--help", HELP), ("-march -mtune", Name)], ..Options::NONE };

const COMPILER: &[&[Part]] = &[
    &[Word("--version")],
    &[Word("-v")],
    &[Word("-dumpversion")],
    &[Word("-dumpfullversion")],
    &[Word("-dumpmachine")],
    &[Word("-dumpspecs")],
    &[Word("-print-search-dirs")],
    &[Word("--print-search-dirs")],
    &[Word("-print-libgcc-file-name")],
    &[Word("-print-multi-lib")],
    &[Word("-print-multi-directory")],
    &[Word("-print-multi-os-directory")],
    &[Word("-print-multiarch")],
    &[Word("-print-sysroot")],
    &[Word("-print-resource-dir")],
    &[Word("-print-target-triple")],
    &[Word("-print-targets")],
    &[Word("--print-targets")],
    &[Word("--target-help")],
    &[Word("-Q"), Rest(&ABOUT)],
    // The predefined macros and the search path for headers, from an empty file.
    &[Word("-dM"), Word("-E"), Rest(&TUNING)],
    &[Word("-E"), Word("-dM"), Rest(&TUNING)],
    &[Word("-E"), Word("-v"), Rest(&TUNING)],
    &[Word("-v"), Word("-E"), Rest(&TUNING)],
    &[Word("-xc"), Word("-E"), Word("-v"), Word("/dev/null")],
    &[Word("-xc++"), Word("-E"), Word("-v"), Word("/dev/null")],
    // `--help`, `--help=warnings`, last because it takes any rest.
    &[Rest(&ABOUT_ALONE)],
];
const ABOUT_ALONE: Options = Options {
    optional: &[("--help", HELP), ("-print-file-name -print-prog-name", Name)],
    values: &[("--print-file-name --print-prog-name", Name)],
    ..Options::NONE
};

/// Every form of cmake takes a file to write to as its last word, so there is no last word.
const CMAKE: &[&[Part]] = &[
    &[Word("--version")],
    &[Word("--help")],
    &[Word("--help-command"), Operand(Name)],
    &[Word("--help-module"), Operand(Name)],
    &[Word("--help-variable"), Operand(Name)],
    &[Word("--help-policy"), Operand(Name)],
    &[Word("--help-property"), Operand(Name)],
    &[Word("--help-command-list")],
    &[Word("--help-module-list")],
    &[Word("--help-variable-list")],
    &[Word("--help-policy-list")],
    &[Word("--help-property-list")],
];

const STRINGS: Options = Options {
    flags: "afwd",
    long: "all data print-file-name include-all-whitespace",
    values: &[
        ("-n --bytes", Number),
        ("-t --radix", OneOf(&["d", "o", "x"])),
        ("-e --encoding", OneOf(&["s", "S", "b", "l", "B", "L"])),
        ("-s --output-separator", Text),
    ],
    count: true,
    operands: Operands::Some(Path, "a path"),
    ..Options::NONE
};

const NM: Options = Options {
    flags: "aABCDghnopPrSsuvVWUj",
    long: "debug-syms print-file-name demangle no-demangle dynamic extern-only numeric-sort no-sort \
           portability \
           reverse-sort print-size print-armap size-sort special-syms synthetic undefined-only defined-only \
           with-symbol-versions without-symbol-versions no-weak just-symbols",
    values: &[
        ("-f --format", OneOf(&["bsd", "sysv", "posix", "just-symbols"])),
        ("-t --radix", OneOf(&["d", "o", "x"])),
    ],
    optional: &[("--demangle", Name)],
    operands: Operands::Many(Path),
    ..Options::NONE
};

/// Without `-S` and `-l`: they print the source files whose names stand in the binary, wherever those lie.
const OBJDUMP: Options = Options {
    flags: "adDefGhHiprRstTvVwxzC",
    long: "archive-headers disassemble disassemble-all file-headers full-contents headers section-headers \
           private-headers reloc dynamic-reloc syms dynamic-syms all-headers info wide disassemble-zeroes \
           demangle no-show-raw-insn show-raw-insn no-addresses special-syms prefix-addresses",
    values: &[
        ("-j --section", Text),
        ("-M --disassembler-options", Name),
        ("-m --architecture", Name),
        ("--start-address --stop-address", Name),
        ("--insn-width", Number),
    ],
    optional: &[
        ("--disassemble", Text),
        ("--demangle", Name),
        ("--dwarf", OneOf(&["info", "abbrev", "decodedline", "rawline", "frames", "str", "loc", "Ranges"])),
    ],
    operands: Operands::Some(Path, "a path"),
    ..Options::NONE
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        names: &["gcc", "g++", "clang", "clang++", "cc", "c++"],
        shape: Shape::Forms(COMPILER),
        response_files: true,
    },
    Rule {
        names: &["make", "gmake"],
        shape: Shape::Only(&["--version", "-v", "--help"]),
        response_files: false,
    },
    Rule { names: &["cmake"], shape: Shape::Forms(CMAKE), response_files: false },
    Rule { names: &["strings"], shape: Shape::Options(STRINGS), response_files: true },
    Rule { names: &["nm"], shape: Shape::Options(NM), response_files: true },
    Rule { names: &["objdump"], shape: Shape::Options(OBJDUMP), response_files: true },
    Rule {
        names: &["ldd"],
        shape: Shape::Options(Options {
            flags: "vudr",
            long: "verbose unused data-relocs function-relocs",
            operands: Operands::Some(Path, "a path"),
            ..Options::NONE
        }),
        response_files: false,
    },
];
