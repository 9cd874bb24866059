//! A small repository with one fault, and homes for loops over it.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use zx1_operator::qa::State;

/// Python of the system: what a shim in a home starts is not seen inside.
pub(crate) const PYTHON: &str = "/usr/bin/python3";
/// The line that shows the fault.
pub(crate) const LINE: &str = "qa_decode({\"text\":\"1,x\"})";

pub(crate) const CALC: &str = "\
def total(text):
    return sum(int(part) for part in text.split(\",\"))


def largest(text):
    \"\"\"The largest number.\"\"\"
    numbers = text.split(\",\")
    numbers = [int(part) for part in numbers]
    best = numbers[0]
    for number in numbers:
        if number > best:
            best = number
    return best
";
pub(crate) const INLINE: &str = "\
import unittest


class Inline(unittest.TestCase):
    def test_inline(self):
        self.assertEqual(1 + 1, 2)
";
pub(crate) const TESTS: &str = "\
import unittest
import calc
from inline import Inline


class Calc(unittest.TestCase):
    def test_total(self):
        self.assertEqual(calc.total(\"1,2\"), 3)

    def test_largest(self):
        self.assertEqual(calc.largest(\"1,2\"), 2)
";
const ANSWER: &str = "\
import json, sys
sys.path.insert(0, '.')
line = sys.argv[1]
text = json.loads(line[line.index('(') + 1:-1]).get('text', '')
import calc
try:
    calc.total(text)
except ValueError:
    sys.exit(10)
";
const LINT: &str = "import sys\nsys.exit('\\t' in open('calc.py').read())\n";

pub(crate) struct Toy {
    pub(crate) repository: TempDir,
    pub(crate) home: TempDir,
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn write(folder: &Path, path: &str, content: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

impl Toy {
    pub(crate) fn new() -> Self {
        let repository = tempfile::tempdir().unwrap();
        let folder = repository.path();
        git(folder, &["init", "-q", "-b", "main"]);
        for (path, content) in [
            ("calc.py", CALC),
            ("inline.py", INLINE),
            ("tests/__init__.py", ""),
            ("tests/test_calc.py", TESTS),
            ("tools/answer.py", ANSWER),
            ("tools/lint.py", LINT),
            (".github/workflows/ci.yml", "on: push\n"),
        ] {
            write(folder, path, content);
        }
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", "first"]);
        let toy = Self { repository, home: tempfile::tempdir().unwrap() };
        let state = toy.state();
        let settings = format!(
            "[gate]\nbuild = []\nform = \"unittest\"\nseconds = 120\nmemory = 1073741824\n\
             test = [\"{PYTHON}\", \"-B\", \"-m\", \"unittest\", \"discover\", \"-v\", \"-s\", \"tests\", \"-t\", \".\"]\n\
             lint = [\"{PYTHON}\", \"-B\", \"tools/lint.py\"]\nrepro = [\"{PYTHON}\", \"-B\", \"tools/answer.py\"]\n"
        );
        std::fs::write(state.folder().join("qa.toml"), settings).unwrap();
        toy
    }

    pub(crate) fn state(&self) -> State {
        State::open(self.home.path(), self.repository.path()).unwrap()
    }

    pub(crate) fn head(&self) -> String {
        git(self.repository.path(), &["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// What `git diff` says after these files got these contents; `None` removes one.
    pub(crate) fn patch(&self, changes: &[(&str, Option<&str>)]) -> Vec<u8> {
        let copy = tempfile::tempdir().unwrap();
        let from = self.repository.path().to_str().unwrap();
        git(copy.path(), &["clone", "-q", from, "."]);
        for (path, content) in changes {
            match content {
                Some(content) => write(copy.path(), path, content),
                None => std::fs::remove_file(copy.path().join(path)).unwrap(),
            }
        }
        git(copy.path(), &["add", "-A"]);
        git(copy.path(), &["diff", "--cached"]).into_bytes()
    }
}

/// A folder in which a program that sleeps is called zx1.
pub(crate) fn sleepers() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    std::fs::copy("/bin/sleep", path.join("zx1")).unwrap();
    (folder, path)
}

/// Whether a process has this word on its command line.
pub(crate) fn runs(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.first().is_some_and(|program| program.ends_with(b"/zx1")) && words.contains(&word.as_bytes())
    })
}

/// Waits for something that happens by itself; panics after 20 seconds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed().as_secs() < 20, "{what}");
        std::thread::yield_now();
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
}
