//! Files, folders, searching, comparing.
//!
//! Left out on purpose, wherever they occur: options that write (`tree -o`, `-R`), that read lists of names
//! (`--files0-from`, `grep -f`, `file -f`, `sha256sum -c`), that start programs (`rg --pre`, `-z`, `ag
//! --pager`, `diff -l`), that follow links while walking, and that never end (`tail -f`).

use super::super::find;
use super::super::grammar::{Kind, Operands, Options, Rule, Shape};
use Kind::{Number, OneOf, Path, Text};

const WHEN: Kind = OneOf(&["always", "auto", "never"]);
const SUMS: Options =
    Options { flags: "btz", long: "binary text tag zero", operands: Operands::Many(Path), ..Options::NONE };

pub(super) const RULES: &[Rule] = &[
    rule(
        &["cat"],
        Options {
            flags: "AbeEnstTuv",
            long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    rule(
        &["head"],
        Options {
            flags: "qvz",
            long: "quiet silent verbose zero-terminated",
            values: &[("-n --lines -c --bytes", Number)],
            count: true,
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    rule(
        &["tail"],
        Options {
            flags: "qvz",
            long: "quiet silent verbose zero-terminated",
            values: &[("-n --lines -c --bytes", Number)],
            count: true,
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    Rule { names: &["less"], shape: Shape::Only(&["--version", "-V"]), response_files: false },
    rule(
        &["file"],
        Options {
            flags: "bEhikLNrv0",
            long: "brief mime mime-type mime-encoding apple extension no-dereference dereference keep-going \
                   no-pad raw print0",
            values: &[(
                "-e --exclude",
                OneOf(&[
                    "apptype", "ascii", "cdf", "compress", "csv", "elf", "encoding", "json", "simh", "soft",
                    "tar", "text", "tokens",
                ]),
            )],
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    rule(
        &["wc"],
        Options {
            flags: "cmlLw",
            long: "bytes chars lines max-line-length words",
            optional: &[("--total", OneOf(&["auto", "always", "only", "never"]))],
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    rule(
        &["stat"],
        Options {
            flags: "Lft",
            long: "dereference file-system terse",
            values: &[("-c --format --printf", Text)],
            operands: Operands::Some(Path, "at least one path"),
            ..Options::NONE
        },
    ),
    rule(&["md5sum", "sha256sum"], SUMS),
    rule(
        &["ls"],
        Options {
            flags: "aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1",
            long: "all almost-all author escape ignore-backups directory classify no-group human-readable \
                   si inode \
                   kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name \
                   reverse \
                   recursive size context full-time group-directories-first zero file-type",
            values: &[("-I --ignore --hide", Text), ("-w --width -T --tabsize", Number)],
            optional: &[
                ("--block-size", Number),
                ("--color", WHEN),
                ("--classify", WHEN),
                ("--hyperlink", OneOf(&["never"])),
                (
                    "--format",
                    OneOf(&[
                        "across",
                        "commas",
                        "horizontal",
                        "long",
                        "single-column",
                        "verbose",
                        "vertical",
                    ]),
                ),
                ("--indicator-style", OneOf(&["none", "slash", "file-type", "classify"])),
                ("--sort", OneOf(&["none", "size", "time", "version", "extension", "width", "name"])),
                (
                    "--time",
                    OneOf(&["atime", "access", "use", "ctime", "status", "birth", "creation", "mtime"]),
                ),
                ("--time-style", Text),
                (
                    "--quoting-style",
                    OneOf(&["literal", "locale", "shell", "shell-always", "shell-escape", "c", "escape"]),
                ),
            ],
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    Rule { names: &["find"], shape: Shape::Custom(find::read), response_files: false },
    rule(
        &["tree"],
        Options {
            flags: "aACcDdFfghiJNnpQqrSstUuvXx",
            long: "noreport du dirsfirst filesfirst prune si inodes device matchdirs ignore-case gitignore",
            values: &[("-L --filelimit", Number), ("-P -I", Text)],
            optional: &[
                ("--sort", OneOf(&["name", "version", "size", "mtime", "ctime", "none"])),
                ("--charset", OneOf(&["UTF-8", "utf-8", "ascii", "ASCII"])),
                ("--timefmt", Text),
            ],
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    rule(
        &["du"],
        Options {
            flags: "0abchklmsSxP",
            long: "null all apparent-size bytes total human-readable inodes count-links no-dereference \
                   separate-dirs si summarize one-file-system",
            values: &[("-d --max-depth -B --block-size -t --threshold", Number), ("--exclude", Text)],
            optional: &[
                ("--time", OneOf(&["atime", "access", "use", "ctime", "status"])),
                ("--time-style", Text),
            ],
            operands: Operands::Many(Path),
            ..Options::NONE
        },
    ),
    rule(
        &["grep"],
        Options {
            flags: "abcEFGHhIiLlnoPqrsTUvwxyzZ",
            long: "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case \
                   word-regexp \
                   line-regexp null-data no-messages invert-match byte-offset line-number line-buffered \
                   with-filename no-filename only-matching quiet silent text recursive files-without-match \
                   files-with-matches count initial-tab null binary",
            values: &[
                ("-e --regexp --label --include --exclude --exclude-dir --group-separator", Text),
                ("-A --after-context -B --before-context -C --context -m --max-count", Number),
                ("-d --directories", OneOf(&["read", "recurse", "skip"])),
                ("-D --devices", OneOf(&["skip"])),
                ("--binary-files", OneOf(&["binary", "text", "without-match"])),
            ],
            optional: &[("--color --colour", WHEN)],
            count: true,
            operands: Operands::PatternThenPaths("-e --regexp"),
            ..Options::NONE
        },
    ),
    rule(
        &["rg"],
        Options {
            flags: "abcFHhIilNnoPpqSsUuvVwx0.",
            long: "text count count-matches fixed-strings with-filename no-filename ignore-case files \
                   files-with-matches files-without-match line-number no-line-number only-matching pcre2 \
                   quiet \
                   smart-case case-sensitive multiline multiline-dotall unrestricted invert-match \
                   word-regexp \
                   line-regexp hidden no-ignore no-ignore-vcs no-ignore-parent column heading no-heading \
                   json \
                   no-messages null null-data passthru stats trim type-list vimgrep binary byte-offset crlf \
                   glob-case-insensitive no-config one-file-system max-columns-preview block-buffered \
                   line-buffered no-mmap mmap pretty auto-hybrid-regex",
            values: &[
                ("-e --regexp -g --glob --iglob -r --replace --context-separator", Text),
                ("--field-context-separator --field-match-separator", Text),
                ("-t --type -T --type-not", Kind::Name),
                ("-A --after-context -B --before-context -C --context -m --max-count", Number),
                (
                    "-d --max-depth --maxdepth -M --max-columns -j --threads --max-filesize --dfa-size-limit",
                    Number,
                ),
                ("--regex-size-limit", Number),
                ("--color", OneOf(&["never", "auto", "always", "ansi"])),
                ("--sort --sortr", OneOf(&["none", "path", "modified", "accessed", "created"])),
                ("--engine", OneOf(&["default", "pcre2", "auto"])),
                ("-E --encoding", Kind::Name),
                ("--path-separator", OneOf(&["/"])),
            ],
            operands: Operands::PatternThenPaths("-e --regexp --files --type-list -V"),
            ..Options::NONE
        },
    ),
    rule(
        &["ag"],
        Options {
            flags: "aFHiLlnoQRrSstuUvVw0c",
            long: "ackmate all-text all-types column count noheading heading nobreak break nofilename \
                   filename \
                   nocolor color nogroup group nonumbers numbers hidden ignore-case case-sensitive \
                   smart-case \
                   literal fixed-strings files-with-matches files-without-matches norecurse recurse \
                   only-matching invert-match word-regexp list-file-types print-long-lines vimgrep null \
                   passthrough passthru search-binary silent skip-vcs-ignores stats stats-only unrestricted \
                   one-device nofollow nopager nomultiline multiline",
            values: &[
                ("-g -G --file-search-regex --ignore --ignore-dir", Text),
                ("-A --after -B --before -C --context -m --max-count -W --width --depth --workers", Number),
            ],
            operands: Operands::PatternThenPaths("-g --list-file-types -V"),
            ..Options::NONE
        },
    ),
    rule(
        &["readlink"],
        Options {
            flags: "efmnqsvz",
            long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose \
                   zero",
            operands: Operands::Some(Path, "at least one path"),
            ..Options::NONE
        },
    ),
    rule(
        &["realpath"],
        Options {
            flags: "emLPqszE",
            long: "canonicalize canonicalize-existing canonicalize-missing logical physical quiet strip \
                   no-symlinks zero",
            values: &[("--relative-to --relative-base", Path)],
            operands: Operands::Some(Path, "at least one path"),
            ..Options::NONE
        },
    ),
    rule(
        &["basename"],
        Options {
            flags: "az",
            long: "multiple zero",
            values: &[("-s --suffix", Text)],
            operands: Operands::Some(Text, "a name"),
            ..Options::NONE
        },
    ),
    rule(
        &["dirname"],
        Options { flags: "z", long: "zero", operands: Operands::Some(Text, "a name"), ..Options::NONE },
    ),
    rule(
        &["diff"],
        Options {
            flags: "abBcdEeiNnpqrstTuwyZ",
            long: "text brief context ed ignore-blank-lines ignore-case ignore-space-change \
                   ignore-trailing-space ignore-tab-expansion ignore-all-space minimal new-file \
                   no-dereference \
                   normal rcs recursive report-identical-files show-c-function side-by-side \
                   speed-large-files strip-trailing-cr suppress-common-lines suppress-blank-empty unified \
                   left-column expand-tabs initial-tab unidirectional-new-file ignore-file-name-case",
            values: &[
                ("-U -C -W --width --tabsize --horizon-lines", Number),
                ("-L --label -I --ignore-matching-lines -F --show-function-line -x --exclude", Text),
            ],
            optional: &[("--unified --context", Number), ("--color", WHEN)],
            operands: Operands::TwoPaths,
            // Without it the links inside of the folders are followed.
            needs: &[("-r", "--no-dereference"), ("--recursive", "--no-dereference")],
            ..Options::NONE
        },
    ),
    rule(
        &["cmp"],
        Options {
            flags: "bls",
            long: "print-bytes verbose quiet silent",
            values: &[("-i --ignore-initial -n --bytes", Number)],
            operands: Operands::TwoPaths,
            ..Options::NONE
        },
    ),
];

const fn rule(names: &'static [&'static str], options: Options) -> Rule {
    Rule { names, shape: Shape::Options(options), response_files: false }
}
