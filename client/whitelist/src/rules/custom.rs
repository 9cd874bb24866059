//! Programs whose words are no options: echo, ps, test, timeout, pacman.

use super::super::Draft;
use super::super::grammar::Kind;
use super::super::refusal::Refusal;

/// `echo` prints its words. Any text is harmless, because nothing expands it.
pub(super) fn echo(draft: &mut Draft) -> Result<(), Refusal> {
    let rest: Vec<usize> = (1..draft.argv.len()).collect();
    draft.operands(Kind::Text, &rest)
}

/// Columns that `ps -o` may show; none shows an environment.
const COLUMNS: &[&str] = &[
    "pid",
    "ppid",
    "pgid",
    "sid",
    "uid",
    "gid",
    "user",
    "group",
    "euser",
    "ruser",
    "tty",
    "tt",
    "stat",
    "state",
    "s",
    "comm",
    "cmd",
    "args",
    "command",
    "ucmd",
    "etime",
    "etimes",
    "time",
    "start",
    "lstart",
    "start_time",
    "pcpu",
    "%cpu",
    "pmem",
    "%mem",
    "rss",
    "vsz",
    "sz",
    "ni",
    "nice",
    "pri",
    "nlwp",
    "thcount",
    "psr",
    "wchan",
    "f",
    "c",
];

/// `ps`. In BSD style the letter `e` shows the environment of every process, secrets and all. And ps reads
/// its words **again** in BSD style when they make no sense as options: `-e -u nobody-of-that-name ww` is
/// such a request. So only whole words that cannot fail are allowed.
pub(super) fn ps(draft: &mut Draft) -> Result<(), Refusal> {
    const WORDS: &[&str] = &[
        "-e",
        "-A",
        "-a",
        "-d",
        "-f",
        "-F",
        "-l",
        "-L",
        "-T",
        "-w",
        "-ww",
        "-ef",
        "-eF",
        "-el",
        "-efl",
        "-eLf",
        "-eT",
        "-ely",
        "-Af",
        "-AF",
        "-efww",
        "-efw",
        "a",
        "x",
        "ax",
        "au",
        "aux",
        "auxw",
        "auxww",
        "axu",
        "axf",
        "auxf",
        "axl",
        "axj",
        "axjf",
        "u",
        "ux",
        "f",
        "l",
        "w",
        "ww",
        "--forest",
        "--no-headers",
        "--headers",
        "--version",
        "-V",
        "--cumulative",
        "--deselect",
    ];
    let mut index = 1;
    while let Some(word) = draft.word(index) {
        index += 1;
        let (name, attached) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| {
            (if name.starts_with("--") { name } else { word.as_str() }, Some(value.to_owned()))
        });
        let kind = match name {
            "-o" | "--format" | "--sort" | "-p" | "--pid" | "--ppid" => name,
            _ if WORDS.contains(&word.as_str()) => continue,
            _ => return Err(draft.refuse(&word, format!("{} -o -p --pid --ppid --sort", WORDS.join(" ")))),
        };
        let value = match attached {
            Some(value) => value,
            None => {
                let Some(value) = draft.word(index) else { return Err(draft.missing(kind)) };
                index += 1;
                value
            }
        };
        match kind {
            "-o" | "--format" => {
                draft.value(kind, Kind::ListOf(COLUMNS), value.trim_end_matches('='), index - 1)?
            }
            "--sort" => {
                let plain: Vec<&str> =
                    value.split(',').map(|key| key.trim_start_matches(['-', '+'])).collect();
                draft.value(kind, Kind::ListOf(COLUMNS), &plain.join(","), index - 1)?;
            }
            _ => {
                for number in value.split(',') {
                    let digits = number.len() <= 7 && number.chars().all(|digit| digit.is_ascii_digit());
                    draft.value(
                        kind,
                        if digits { Kind::Number } else { Kind::OneOf(&["process ids"]) },
                        number,
                        0,
                    )?;
                }
            }
        }
    }
    Ok(())
}

/// `test EXPRESSION`. Parentheses are left out: they would need a parser, and nobody needs them.
pub(super) fn test(draft: &mut Draft) -> Result<(), Refusal> {
    const FILES: &[&str] = &[
        "-b", "-c", "-d", "-e", "-f", "-g", "-G", "-h", "-k", "-L", "-N", "-O", "-p", "-r", "-s", "-S", "-u",
        "-w", "-x",
    ];
    const STRINGS: &[&str] = &["-n", "-z"];
    const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    const TIMES: &[&str] = &["-nt", "-ot", "-ef"];
    let mut index = 1;
    loop {
        while draft.word(index).is_some_and(|word| word == "!") {
            index += 1;
        }
        let Some(first) = draft.word(index) else {
            return Err(draft.needs("an expression, such as `-f a.c`"));
        };
        let (second, third) = (draft.word(index + 1), draft.word(index + 2));
        index += match (first.as_str(), second.as_deref(), third) {
            // A binary operator in second place decides, as POSIX says for three arguments.
            (_, Some(operator), Some(third)) if TIMES.contains(&operator) => {
                draft.value("a file", Kind::Path, &first, index)?;
                draft.value("a file", Kind::Path, &third, index + 2)?;
                3
            }
            (_, Some(operator), Some(third)) if NUMBERS.contains(&operator) => {
                draft.value("a number", Kind::Number, &first, index)?;
                draft.value("a number", Kind::Number, &third, index + 2)?;
                3
            }
            (_, Some("=" | "==" | "!="), Some(_)) => 3,
            (operator, Some(file), _) if FILES.contains(&operator) => {
                draft.value(operator, Kind::Path, file, index + 1)?;
                2
            }
            (operator, Some(_), _) if STRINGS.contains(&operator) => 2,
            (text, None, _) if !text.starts_with('-') => 1,
            (word, _, _) => {
                let known = [FILES, STRINGS, NUMBERS, TIMES].concat().join(" ");
                return Err(draft.refuse(word, format!("{known} = != ! -a -o, each with its operands")));
            }
        };
        match draft.word(index).as_deref() {
            None => return Ok(()),
            Some("-a" | "-o") => index += 1,
            Some(word) => return Err(draft.refuse(word, "-a or -o between two expressions".into())),
        }
    }
}

/// Where the inner command of `timeout` begins.
pub(super) fn inner(argv: &[String]) -> Option<usize> {
    let mut index = 1;
    loop {
        match argv.get(index)?.as_str() {
            "-s" | "--signal" | "-k" | "--kill-after" => index += 2,
            word if word.starts_with('-') => index += 1,
            _ => return argv.get(index + 1).map(|_| index + 1),
        }
    }
}

/// `timeout [options] DURATION COMMAND…`: the command is held to the whitelist as if it stood alone.
pub(super) fn timeout(draft: &mut Draft) -> Result<(), Refusal> {
    const SIGNALS: Kind = Kind::OneOf(&[
        "TERM", "KILL", "INT", "HUP", "QUIT", "SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "SIGQUIT", "9", "15",
        "2",
    ]);
    if draft.inner {
        return Err(Refusal::Nested { word: "timeout".into() });
    }
    let mut index = 1;
    let duration = loop {
        let Some(word) = draft.word(index) else { return Err(draft.needs("a duration and a command")) };
        let (name, attached) =
            word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v.to_owned())));
        index += 1;
        match (name, attached) {
            ("--version" | "--help", None) if draft.argv.len() == 2 => return Ok(()),
            ("-v" | "--verbose" | "--foreground" | "--preserve-status", None) => {}
            ("--signal", Some(value)) => draft.value(name, SIGNALS, &value, index - 1)?,
            ("--kill-after", Some(value)) => span(draft, &value)?,
            ("-s" | "--signal", None) => {
                let Some(value) = draft.word(index) else { return Err(draft.missing(name)) };
                draft.value(name, SIGNALS, &value, index)?;
                index += 1;
            }
            ("-k" | "--kill-after", None) => {
                let Some(value) = draft.word(index) else { return Err(draft.missing(name)) };
                span(draft, &value)?;
                index += 1;
            }
            _ if word.starts_with('-') => {
                let allowed =
                    "-s -k -v --signal --kill-after --foreground --preserve-status, then a duration";
                return Err(draft.refuse(&word, allowed.into()));
            }
            _ => break word,
        }
    };
    span(draft, &duration)?;
    let argv = draft.argv.get(index..).unwrap_or_default().to_vec();
    if argv.is_empty() {
        return Err(draft.needs("a command after the duration"));
    }
    let mut inside = Draft { argv, paths: Vec::new(), given: Vec::new(), inner: true };
    inside.read()?;
    draft.paths.extend(inside.paths.into_iter().map(|mut path| {
        path.word += index;
        path
    }));
    Ok(())
}

/// `5`, `0.5`, `2m`. The sandbox has its own limit, so the size does not matter.
fn span(draft: &Draft, word: &str) -> Result<(), Refusal> {
    let number = word.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(word);
    let parts: Vec<&str> = number.split('.').collect();
    let digits =
        |part: &&str| !part.is_empty() && part.len() <= 9 && part.chars().all(|c| c.is_ascii_digit());
    if parts.len() <= 2 && parts.iter().all(digits) {
        return Ok(());
    }
    Err(Refusal::Value {
        program: draft.program(),
        option: "the duration".into(),
        word: word.to_owned(),
        allowed: "a number, with s, m, h or d after it".into(),
    })
}

/// `pacman` in its two asking modes: `-Q…` (what is installed) and `-S` with `s`, `i`, `l` or `g` (what
/// exists).
pub(super) fn pacman(draft: &mut Draft) -> Result<(), Refusal> {
    let Some(mode) = draft.word(1) else {
        return Err(draft.needs("-Q, -Qi, -Ql, -Qo, -Qs, -Ss, -Si or --version"));
    };
    if matches!(mode.as_str(), "-V" | "--version" | "-h" | "--help") && draft.argv.len() == 2 {
        return Ok(());
    }
    let asks = match mode.strip_prefix("-Q") {
        Some(letters) => letters.chars().all(|letter| "cdegiklmnoqstu".contains(letter)),
        None => mode.strip_prefix("-S").is_some_and(|letters| {
            letters.chars().all(|letter| "silgq".contains(letter)) && letters.contains(['s', 'i', 'l', 'g'])
        }),
    };
    if !asks {
        return Err(
            draft.refuse(&mode, "-Q with any of cdegiklmnoqstu, -S with s, i, l or g, --version".into())
        );
    }
    let kind = if mode.starts_with("-Q") && mode.contains('o') { Kind::Path } else { Kind::Name };
    let rest: Vec<usize> = (2..draft.argv.len()).collect();
    for index in &rest {
        let word = draft.word(*index).unwrap_or_default();
        if word.starts_with('-') {
            return Err(draft.refuse(&word, "names after the mode, no further options".into()));
        }
    }
    draft.operands(kind, &rest)
}
