//! Words that came from a principal's error text or files, checked before they may stand in a command.

/// A path below the working folder that is safe to name in a fix: relative, no `..`, no leading `-`, only
/// letters, digits, spaces and `._-+@,:=`, no place where secrets live (decision E11).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RelPath(String);

impl RelPath {
    /// Checks `raw`; `./` in front is dropped.
    pub(crate) fn parse(raw: &str) -> Option<Self> {
        let mut text = raw;
        while let Some(rest) = text.strip_prefix("./") {
            text = rest;
        }
        let text = if text == "." { text } else { text.trim_end_matches('/') };
        let fits = !text.is_empty()
            && text.len() <= 240
            && !text.starts_with(['/', '-', '~', ' '])
            && !text.ends_with(' ')
            && text.chars().all(|c| c.is_alphanumeric() || " ._-+@,:=/".contains(c));
        let parts_fit = text.split('/').all(|part| {
            let lower = part.to_ascii_lowercase();
            !part.is_empty()
                && part != ".."
                && !part.starts_with('-')
                && !SECRET_NAMES.contains(&lower.as_str())
                && !lower.starts_with(".env")
                && !lower.starts_with("id_")
                && !part.contains("REDACTED:")
        });
        (fits && parts_fit).then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as one shell word.
    pub(crate) fn quoted(&self) -> String {
        super::shell::quote(&self.0)
    }

    /// The folder it lies in; `None` for a name without one.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    /// The folder it lies in, as `.` when it lies in the working folder.
    pub(crate) fn folder(&self) -> Self {
        self.parent().unwrap_or_else(|| Self(".".to_owned()))
    }

    /// The last part.
    pub(crate) fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// This path below `folder`.
    pub(crate) fn below(&self, folder: &Self) -> Self {
        if folder.0 == "." { self.clone() } else { Self(format!("{}/{}", folder.0, self.0)) }
    }

    /// The same folder, another name.
    pub(crate) fn with_name(&self, name: &str) -> Option<Self> {
        match self.parent() {
            Some(parent) => Self::parse(&format!("{}/{name}", parent.0)),
            None => Self::parse(name),
        }
    }

    /// Written so that no program takes it for an option or looks for it on its search path.
    pub(crate) fn dotted(&self) -> String {
        super::shell::quote(&format!("./{}", self.0))
    }
}

const SECRET_NAMES: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".fix",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
];

/// A name of a programming language: letters, digits, `_`, not a digit first, at most 100 bytes.
pub(crate) fn identifier(text: &str) -> Option<&str> {
    let first = text.bytes().next()?;
    let fits = (first.is_ascii_alphabetic() || first == b'_')
        && text.len() <= 100
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    fits.then_some(text)
}

/// A name of a package, branch, target or subcommand: letters, digits, `._-/+@`, no `-` first, no `..`.
pub(crate) fn name(text: &str) -> Option<&str> {
    let first = text.bytes().next()?;
    let fits = (first.is_ascii_alphanumeric() || first == b'_' || first == b'@')
        && text.len() <= 100
        && !text.contains("..")
        && !text.ends_with(['/', '.'])
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/+@".contains(&b));
    fits.then_some(text)
}

/// A line of a file that may be written back: no control character but the tab, nothing scrubbed away.
pub(crate) fn line(text: &str) -> Option<&str> {
    let fits = text.len() <= 500
        && !text.chars().any(|c| c.is_control() && c != '\t')
        && !text.contains("[REDACTED:");
    fits.then_some(text)
}

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, &l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &r) in right.iter().enumerate() {
            let change = last.get(j).copied().unwrap_or(usize::MAX / 2) + usize::from(l != r);
            let delete = last.get(j + 1).copied().unwrap_or(usize::MAX / 2) + 1;
            let insert = row.last().copied().unwrap_or(usize::MAX / 2) + 1;
            let mut best = change.min(delete).min(insert);
            let swapped = i > 0 && j > 0 && left.get(i - 1) == Some(&r) && right.get(j - 1) == Some(&l);
            if swapped {
                best = best.min(before.get(j - 1).copied().unwrap_or(usize::MAX / 2) + 1);
            }
            row.push(best);
        }
        before = last;
        last = row;
    }
    last.last().copied().unwrap_or(0)
}

/// The one known word that was meant: differing in case only, or within one step for short words and two for
/// words of at least five letters. `None` when there is none or more than one at the best distance.
pub(crate) fn meant<'a, I: IntoIterator<Item = &'a str>>(typed: &str, known: I) -> Option<&'a str> {
    let allowed = match typed.chars().count() {
        0..=2 => return None,
        3..=4 => 1,
        _ => 2,
    };
    let lower = typed.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    let mut tie = false;
    for candidate in known {
        if candidate == typed {
            return None;
        }
        let steps = if candidate.to_lowercase() == lower { 0 } else { distance(typed, candidate) };
        if steps > allowed {
            continue;
        }
        match best {
            Some((least, word)) if steps == least => tie |= word != candidate,
            Some((least, _)) if steps > least => {}
            _ => (best, tie) = (Some((steps, candidate)), false),
        }
    }
    if tie { None } else { best.map(|(_, word)| word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_pass() {
        for good in ["a.c", "./src/a b.c", "build/", "größe.txt", ".gitignore", "a:b"] {
            assert!(RelPath::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "-rf",
            "a/-x",
            "~/x",
            "a;b",
            "$(x)",
            "`x`",
            "a\nb",
            "a'b",
            "a\"b",
            "a*b",
            "a&b",
            "a|b",
            "a>b",
            "[REDACTED:token]",
            ".env",
            "x/.env.local",
            ".ssh/config",
            "id_ed25519",
            "a//b",
            "a\\b",
            "a b ",
            "x\u{7f}",
            "a#b",
            "a!b",
        ] {
            assert!(RelPath::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_meant_word_is_near_and_alone() {
        assert_eq!(meant("biuld", ["build", "test"]), Some("build"));
        assert_eq!(meant("gti", ["git", "gdb"]), Some("git"));
        assert_eq!(meant("cat", ["bat", "hat"]), None);
        assert_eq!(meant("deploy", ["build", "test"]), None);
        assert_eq!(meant("README", ["readme"]), Some("readme"));
        assert_eq!(meant("ab", ["abc"]), None);
    }

    proptest::proptest! {
        #[test]
        fn distance_is_a_symmetric_measure(a in "[ab]{0,6}", b in "[ab]{0,6}") {
            proptest::prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            proptest::prop_assert_eq!(distance(&a, &b) == 0, a == b);
            proptest::prop_assert!(distance(&a, &b) <= a.len().max(b.len()));
        }
    }
}
