//! The shapes that a command's words may have. The tables are in [`super::rules`].

use super::Draft;
use super::refusal::Refusal;

/// What a value or an operand may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything: a search pattern, a format, a text to print.
    Text,
    /// Digits, with a sign and a size suffix if need be.
    Number,
    /// A file or folder; checked against [`super::secret_paths`], and reported.
    Path,
    /// A name of a package, user, section, command: no path, no option, nothing that is expanded.
    Name,
    /// Names, or version comparisons, as pkg-config takes them.
    Module,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Comma-separated words, each one of these.
    ListOf(&'static [&'static str]),
}

impl Kind {
    fn admits(self, value: &str) -> bool {
        let plain = |extra: &'static str| {
            move |character: char| character.is_ascii_alphanumeric() || extra.contains(character)
        };
        match self {
            Self::Text => true,
            Self::Path => !value.is_empty(),
            Self::Number => {
                let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                let (number, suffix) = digits.split_at(end);
                !number.is_empty()
                    && number.len() <= 18
                    && suffix.len() <= 3
                    && suffix.chars().all(|unit| "bBcwkKmMgGTPEi".contains(unit))
            }
            Self::Name => {
                let scoped = value.strip_prefix('@').and_then(|rest| rest.split_once('/'));
                let whole = |name: &str| {
                    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '*')
                        && name.chars().all(plain("+._:=*?@~^-"))
                        && !name.contains("..")
                };
                scoped.map_or_else(|| whole(value), |(scope, name)| whole(scope) && whole(name))
            }
            Self::Module => {
                value.starts_with(|c: char| c.is_ascii_alphanumeric() || "<>=!".contains(c))
                    && value.chars().all(plain("+._-<>=!, "))
                    && !value.ends_with(".pc")
            }
            Self::OneOf(words) => words.contains(&value),
            Self::ListOf(words) => value.split(',').all(|part| words.contains(&part)),
        }
    }

    fn describe(self) -> String {
        match self {
            Self::Text => "any text".into(),
            Self::Number => "a number".into(),
            Self::Path => "a path".into(),
            Self::Name => "a plain name without slashes".into(),
            Self::Module => "a module's name or a version comparison".into(),
            Self::OneOf(words) | Self::ListOf(words) => words.join(" "),
        }
    }
}

/// The options of a command in the manner of getopt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Letters of options without a value; they may be combined.
    pub flags: &'static str,
    /// Long options without a value, without the dashes, separated by blanks.
    pub long: &'static str,
    /// Options with a value: names with dashes, separated by blanks, and what the value is. A short one takes
    /// the rest of its word or the next word, a long one what follows `=` or the next word.
    pub values: &'static [(&'static str, Kind)],
    /// Long options that take a value only after `=`.
    pub optional: &'static [(&'static str, Kind)],
    /// `-5` means a count.
    pub count: bool,
    /// Long options begin with one dash as well, and letters are not combined.
    pub single_dash: bool,
    /// What stands beside the options.
    pub operands: Operands,
    /// Words that may only be used together with others: (word, what it needs).
    pub needs: &'static [(&'static str, &'static str)],
}

/// What may stand beside the options.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operands {
    /// Nothing.
    None,
    /// Any number of one kind.
    Many(Kind),
    /// At least one.
    Some(Kind, &'static str),
    /// A pattern unless one of these options gave it, then paths.
    PatternThenPaths(&'static str),
    /// Exactly two paths, and up to two numbers.
    TwoPaths,
}

/// Options that only print and that nearly every program has.
const ALWAYS: &[&str] = &["--help", "--version"];

impl Options {
    /// The base of every table: nothing but `--help` and `--version`.
    pub(super) const NONE: Self = Self {
        flags: "",
        long: "",
        values: &[],
        optional: &[],
        count: false,
        single_dash: false,
        operands: Operands::None,
        needs: &[],
    };

    /// Reads the words from `at` on as options and operands.
    pub(super) fn read(&self, draft: &mut Draft, at: usize) -> Result<(), Refusal> {
        let mut operands = Vec::new();
        let mut index = at;
        let mut only_operands = false;
        while let Some(word) = draft.word(index) {
            let next = index + 1;
            index = if only_operands || word == "-" || !word.starts_with('-') {
                operands.push(index);
                next
            } else if word == "--" {
                only_operands = true;
                next
            } else if word.starts_with("--") || self.single_dash || self.is_whole(&word) {
                self.long(draft, index, &word)?
            } else {
                self.short(draft, index, &word)?
            };
        }
        for (word, needed) in self.needs {
            if draft.gives(word) && !draft.gives(needed) {
                return Err(draft.refuse(word, format!("`{word}` only together with `{needed}`")));
            }
        }
        self.operands.read(draft, &operands)
    }

    /// An option of one dash that is written in full, such as `-print-file-name=`.
    fn is_whole(&self, word: &str) -> bool {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        name.len() > 2 && self.optional.iter().any(|(names, _)| names.split(' ').any(|listed| listed == name))
    }

    fn long(&self, draft: &mut Draft, index: usize, word: &str) -> Result<usize, Refusal> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let bare = name.strip_prefix(if self.single_dash { "-" } else { "--" }).unwrap_or_default();
        let plain = self.long.split(' ').any(|long| long == bare && !bare.is_empty());
        if value.is_none() && (plain || (ALWAYS.contains(&name) && !self.single_dash)) {
            draft.given.push(name.to_owned());
            return Ok(index + 1);
        }
        let listed = |(names, _): &&(&str, Kind)| names.split(' ').any(|listed| listed == name);
        if let Some((_, kind)) = self.optional.iter().find(listed) {
            draft.given.push(name.to_owned());
            if let Some(value) = value {
                draft.value(name, *kind, value, index)?;
            }
            return Ok(index + 1);
        }
        let Some((_, kind)) = self.values.iter().find(listed) else {
            return Err(draft.refuse(word, self.describe()));
        };
        match value {
            Some(value) if !self.single_dash => draft.value(name, *kind, value, index)?,
            Some(_) => return Err(draft.refuse(word, self.describe())),
            None => {
                let Some(value) = draft.word(index + 1) else { return Err(draft.missing(name)) };
                draft.value(name, *kind, &value, index + 1)?;
                return Ok(index + 2);
            }
        }
        Ok(index + 1)
    }

    fn short(&self, draft: &mut Draft, index: usize, word: &str) -> Result<usize, Refusal> {
        let letters = word.trim_start_matches('-');
        if self.count && letters.chars().all(|letter| letter.is_ascii_digit()) && letters.len() <= 9 {
            return Ok(index + 1);
        }
        for (offset, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            if self.flags.contains(letter) {
                draft.given.push(name);
                continue;
            }
            let listed = |(names, _): &&(&str, Kind)| names.split(' ').any(|listed| listed == name);
            let Some((_, kind)) = self.values.iter().find(listed) else {
                return Err(draft.refuse(word, self.describe()));
            };
            let rest = letters.get(offset + letter.len_utf8()..).unwrap_or_default();
            if !rest.is_empty() {
                draft.value(&name, *kind, rest, index)?;
                return Ok(index + 1);
            }
            let Some(value) = draft.word(index + 1) else { return Err(draft.missing(&name)) };
            draft.value(&name, *kind, &value, index + 1)?;
            return Ok(index + 2);
        }
        Ok(index + 1)
    }

    fn describe(&self) -> String {
        let mut parts = Vec::new();
        if !self.flags.is_empty() {
            parts.push(format!("-[{}]", self.flags));
        }
        let dashes = if self.single_dash { "-" } else { "--" };
        parts.extend(
            self.long.split(' ').filter(|word| !word.is_empty()).map(|word| format!("{dashes}{word}")),
        );
        parts.extend(self.values.iter().map(|(names, _)| (*names).to_owned()));
        parts.extend(self.optional.iter().map(|(names, _)| (*names).to_owned()));
        if !self.single_dash {
            parts.push("--help --version".into());
        }
        if parts.is_empty() {
            parts.push("no options".into());
        }
        parts.join(" ")
    }
}

impl Operands {
    fn read(self, draft: &mut Draft, operands: &[usize]) -> Result<(), Refusal> {
        match self {
            Self::None => match operands.first().and_then(|index| draft.word(*index)) {
                Some(word) => Err(draft.refuse(&word, "options alone, without operands".into())),
                None => Ok(()),
            },
            Self::Many(kind) => draft.operands(kind, operands),
            Self::Some(kind, needed) => {
                let answered = ALWAYS.iter().any(|word| draft.gives(word));
                if operands.is_empty() && !answered {
                    return Err(draft.needs(needed));
                }
                draft.operands(kind, operands)
            }
            Self::PatternThenPaths(givers) => {
                let given = givers.split(' ').chain(ALWAYS.iter().copied()).any(|word| draft.gives(word));
                if given {
                    return draft.operands(Kind::Path, operands);
                }
                let Some((_, paths)) = operands.split_first() else {
                    return Err(draft.needs("a pattern to search for"));
                };
                draft.operands(Kind::Path, paths)
            }
            Self::TwoPaths => {
                if ALWAYS.iter().any(|word| draft.gives(word)) {
                    return Ok(());
                }
                let (paths, numbers) = operands.split_at(operands.len().min(2));
                if paths.len() < 2 {
                    return Err(draft.needs("two paths"));
                }
                draft.operands(Kind::Path, paths)?;
                if let Some(word) = numbers.get(2).and_then(|index| draft.word(*index)) {
                    return Err(draft.refuse(&word, "two paths, and two numbers at most".into()));
                }
                draft.operands(Kind::Number, numbers)
            }
        }
    }
}

/// One word of a fixed form.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// Exactly this.
    Word(&'static str),
    /// One operand.
    Operand(Kind),
    /// Options and operands from here to the end.
    Rest(&'static Options),
}

/// How the words after the program are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// getopt options and operands.
    Options(Options),
    /// One of these forms, word by word.
    Forms(&'static [&'static [Part]]),
    /// Only this one word.
    Only(&'static [&'static str]),
    /// Written out by hand.
    Custom(fn(&mut Draft) -> Result<(), Refusal>),
}

/// One program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// Its name, and others that take the same words.
    pub names: &'static [&'static str],
    /// What its words may be.
    pub shape: Shape,
    /// It reads `@file` as a list of more options, so a word that begins so is refused.
    pub response_files: bool,
}

impl Rule {
    pub(super) fn read(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if self.response_files {
            let first =
                (1..draft.argv.len()).find_map(|at| draft.word(at).filter(|word| word.starts_with('@')));
            if let Some(word) = first {
                return Err(draft.refuse(
                    &word,
                    "words that do not begin with `@`, which would read options from \
                                                a file; write `./@name` for such a file"
                        .into(),
                ));
            }
        }
        match self.shape {
            Shape::Options(options) => options.read(draft, 1),
            Shape::Only(words) => match (draft.word(1), draft.word(2)) {
                (Some(word), None) if words.contains(&word.as_str()) => Ok(()),
                (None, _) if words.contains(&"") => Ok(()),
                (word, extra) => {
                    let offending = match (word, extra) {
                        (Some(word), Some(extra)) if words.contains(&word.as_str()) => extra,
                        (word, _) => word.unwrap_or_default(),
                    };
                    Err(draft.refuse(&offending, format!("only {}", only(words))))
                }
            },
            Shape::Forms(forms) => read_forms(draft, forms),
            Shape::Custom(read) => read(draft),
        }
    }
}

fn only(words: &[&str]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| if word.is_empty() { "no argument".into() } else { format!("`{word}`") })
        .collect();
    format!("{}, and nothing after it", quoted.join(" or "))
}

/// Takes the first form that fits. If none fits, the refusal of the form that came furthest is the answer.
fn read_forms(draft: &mut Draft, forms: &'static [&'static [Part]]) -> Result<(), Refusal> {
    let mut best: Option<(usize, Refusal)> = None;
    for form in forms {
        let mut attempt = draft.clone();
        match read_form(&mut attempt, form, forms) {
            Ok(()) => {
                *draft = attempt;
                return Ok(());
            }
            Err((depth, refusal)) => {
                if best.as_ref().is_none_or(|(deepest, _)| depth > *deepest) {
                    best = Some((depth, refusal));
                }
            }
        }
    }
    Err(best.map_or_else(|| draft.needs("an argument"), |(_, refusal)| refusal))
}

fn read_form(
    draft: &mut Draft,
    form: &'static [Part],
    forms: &'static [&'static [Part]],
) -> Result<(), (usize, Refusal)> {
    let mut index = 1;
    for part in form {
        match (part, draft.word(index)) {
            (Part::Rest(options), _) => {
                return options.read(draft, index).map_err(|refusal| (index, refusal));
            }
            (Part::Word(wanted), Some(word)) if word == *wanted => index += 1,
            (Part::Operand(kind), Some(word)) => {
                draft.value("its argument", *kind, &word, index).map_err(|refusal| (index, refusal))?;
                index += 1;
            }
            (_, word) => {
                let refusal = match word {
                    Some(word) => draft.refuse(&word, starts(forms)),
                    None => draft.needs(&format!("one of these: {}", starts(forms))),
                };
                return Err((index - 1, refusal));
            }
        }
    }
    match draft.word(index) {
        Some(extra) => Err((index, draft.refuse(&extra, "nothing more here".into()))),
        None => Ok(()),
    }
}

/// The first words of all forms, for a refusal.
fn starts(forms: &[&[Part]]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for form in forms {
        if let Some(Part::Word(word)) = form.first()
            && !words.contains(word)
        {
            words.push(word);
        }
    }
    words.join(" ")
}

impl Draft {
    pub(super) fn word(&self, index: usize) -> Option<String> {
        self.argv.get(index).cloned()
    }

    /// Whether this option was given. Words that are values of other options do not count.
    fn gives(&self, option: &str) -> bool {
        self.given.iter().any(|name| name == option)
    }

    pub(super) fn value(
        &mut self,
        option: &str,
        kind: Kind,
        value: &str,
        word: usize,
    ) -> Result<(), Refusal> {
        if !kind.admits(value) {
            return Err(Refusal::Value {
                program: self.program(),
                option: option.to_owned(),
                word: value.to_owned(),
                allowed: kind.describe(),
            });
        }
        self.given.push(option.to_owned());
        if kind == Kind::Path { self.path(value, word) } else { Ok(()) }
    }

    pub(super) fn operands(&mut self, kind: Kind, operands: &[usize]) -> Result<(), Refusal> {
        for index in operands {
            let word = self.word(*index).unwrap_or_default();
            self.value("an operand", kind, &word, *index)?;
        }
        Ok(())
    }

    pub(super) fn refuse(&self, word: &str, allowed: String) -> Refusal {
        let word = if word.is_empty() { "no argument" } else { word };
        Refusal::Word { program: self.program(), word: word.to_owned(), allowed }
    }

    pub(super) fn missing(&self, option: &str) -> Refusal {
        Refusal::MissingValue { program: self.program(), word: option.to_owned() }
    }

    pub(super) fn needs(&self, needed: &str) -> Refusal {
        Refusal::MissingOperand { program: self.program(), needed: needed.to_owned() }
    }
}
