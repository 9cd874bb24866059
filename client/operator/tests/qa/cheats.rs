use crate::Test;
use crate::dial::allow;
use crate::toy::{CALC, INLINE, LINE, TESTS, Toy, git};
use zx1_operator::qa::gate::{Judged, Proposal, judge};
use zx1_operator::qa::proposal::{About, list, of_entry, publish};
use zx1_operator::qa::{QaError, Run};
use zx1_qa::dial::Rung;
use zx1_qa::repro::Repro;

pub(crate) const ALL: &[(&str, Test)] = &[
    ("an_honest_fix_passes_and_becomes_a_branch", an_honest_fix_passes_and_becomes_a_branch),
    ("cheats_that_a_patch_shows_are_refused", cheats_that_a_patch_shows_are_refused),
    ("cheats_that_only_runs_show_are_refused", cheats_that_only_runs_show_are_refused),
    ("a_finding_that_does_not_show_is_not_fixed", a_finding_that_does_not_show_is_not_fixed),
];

/// The fix that a person would write: two hunks, each of which the new test needs.
fn fixed() -> String {
    let start = CALC.replace("sum(int(part)", "sum(number(part)");
    format!(
        "{start}\n\ndef number(part):\n    try:\n        return int(part)\n    except ValueError:\n        return 0\n"
    )
}

const NEW: &str = "\
import unittest
import calc


class New(unittest.TestCase):
    def test_words_count_nothing(self):
        self.assertEqual(calc.total(\"1,x\"), 1)
";

fn judged(toy: &Toy, patch: &[u8]) -> Result<Judged, QaError> {
    let state = toy.state();
    let mut run = Run::begin(&state, "gate", None).unwrap();
    let call = Repro::parse(LINE).unwrap();
    let commit = toy.head();
    judge(&mut run, &Proposal { call: &call, patch, commit: &commit })
}

fn about() -> About {
    About {
        entry: 17,
        sender: "Sender".to_owned(),
        time: 1_800_000_000,
        finding: "total fails on words.".to_owned(),
        contract: "0".repeat(64),
        transcript: "0".repeat(64),
        author: "fix_0011".to_owned(),
    }
}

fn an_honest_fix_passes_and_becomes_a_branch() {
    let toy = Toy::new();
    let state = allow(&toy);
    let fixed = fixed();
    let patch = toy.patch(&[("calc.py", Some(&fixed)), ("tests/test_new.py", Some(NEW))]);
    let (before, status) = (toy.head(), git(toy.repository.path(), &["status", "--porcelain"]));

    let call = Repro::parse(LINE).unwrap();
    let mut run = Run::begin(&state, "gate", None).unwrap();
    let proposal = Proposal { call: &call, patch: &patch, commit: &before };
    let judged = judge(&mut run, &proposal).unwrap();
    assert_eq!(judged.record.r4.len(), 2);
    assert!(judged.record.siblings.len() > 2, "{:?}", judged.record.siblings);
    let rung = run.given().unwrap().propose().unwrap();
    let kept = publish(rung, &mut run, &judged, &patch, &about()).unwrap();
    // A crash before the journal's line: the same again is the same branch.
    let rung = run.given().unwrap().propose().unwrap();
    let again = publish(rung, &mut run, &judged, &patch, &about()).unwrap();
    run.end("done").unwrap();
    assert_eq!(kept.commit, again.commit);

    assert!(kept.branch.starts_with("qa/fb-17-") && kept.tree_agrees);
    assert_eq!(kept.trailer.as_deref(), Some(judged.passed.gate()));
    let message = git(toy.repository.path(), &["log", "-1", "--format=%an%n%B", &kept.branch]);
    for part in ["fix_0011\ntotal fails", "Feedback: 17\n", "Contract: 000", "Transcript: 000", "Gate: "] {
        assert!(message.contains(part), "{message}");
    }
    // Nobody's branch, index or working tree moved.
    assert_eq!(toy.head(), before);
    assert_eq!(git(toy.repository.path(), &["status", "--porcelain"]), status);
    assert_eq!(list(&state).unwrap().len(), 1);
    assert_eq!(of_entry(&state, 18).unwrap_err().code(), 7884);

    // Somebody commits more to the branch: review says so.
    git(toy.repository.path(), &["checkout", "-q", &kept.branch]);
    std::fs::write(toy.repository.path().join("more.py"), "more = 1\n").unwrap();
    git(toy.repository.path(), &["add", "-A"]);
    git(toy.repository.path(), &["commit", "-q", "-m", "more"]);
    let changed = of_entry(&state, 17).unwrap();
    assert!(!changed.tree_agrees && changed.trailer.is_none());
    // A record that somebody edited proves nothing.
    let folder = state.proposals().join(kept.branch.strip_prefix("qa/").unwrap());
    let record = std::fs::read_to_string(folder.join("record.json")).unwrap();
    std::fs::write(
        folder.join("record.json"),
        record.replace("\"lints_clean\":true", "\"lints_clean\":false"),
    )
    .unwrap();
    assert_eq!(of_entry(&state, 17).unwrap_err().code(), 7869);
}

fn cheats_that_a_patch_shows_are_refused() {
    let toy = Toy::new();
    let fixed = fixed();
    let fix = ("calc.py", Some(fixed.as_str()));
    let new = ("tests/test_new.py", Some(NEW));
    let weaker = TESTS.replace("2\"), 3)", "2\"), 3 or True)");
    let long = format!("{fixed}# {}\n", "x".repeat(70_000));
    let honest = String::from_utf8(toy.patch(&[fix, new])).unwrap();
    let rows: Vec<(&str, Vec<u8>, u32)> = vec![
        ("weakened test", toy.patch(&[fix, new, ("tests/test_calc.py", Some(&weaker))]), 7851),
        ("deleted test", toy.patch(&[fix, new, ("tests/test_calc.py", None)]), 7847),
        ("edited CI", toy.patch(&[fix, new, (".github/workflows/ci.yml", Some("on: never\n"))]), 7845),
        ("touched hooks", toy.patch(&[fix, new, ("hooks/pre-commit", Some("exit 0\n"))]), 7845),
        ("changed toolchain", toy.patch(&[fix, new, ("rust-toolchain.toml", Some("x\n"))]), 7845),
        ("changed test runner", toy.patch(&[fix, new, ("conftest.py", Some("x\n"))]), 7845),
        ("agents' instructions", toy.patch(&[fix, new, ("AGENTS.md", Some("x\n"))]), 7845),
        ("what answers the line", toy.patch(&[fix, new, ("tools/answer.py", Some("pass\n"))]), 7845),
        ("empty diff", Vec::new(), 7840),
        ("oversized patch", toy.patch(&[("calc.py", Some(&long)), new]), 7841),
        ("path escape", honest.replace("calc.py", "../calc.py").into_bytes(), 7844),
        ("no test", toy.patch(&[fix]), 7849),
        ("only a test", toy.patch(&[new]), 7848),
        ("a program", honest.replace("new file mode 100644", "new file mode 100755").into_bytes(), 7846),
        ("another commit's patch", honest.replace("int(part)", "float(part)").into_bytes(), 7883),
    ];
    for (name, patch, code) in rows {
        let error = judged(&toy, &patch).unwrap_err();
        assert_eq!(error.code(), code, "{name}: {error}");
        assert!(error.to_string().ends_with('.'), "{name}: {error}");
    }
    assert_eq!(git(toy.repository.path(), &["branch", "--list", "qa/*"]), "");
}

fn cheats_that_only_runs_show_are_refused() {
    let toy = Toy::new();
    let fixed = fixed();
    let fix = ("calc.py", Some(fixed.as_str()));
    let new = ("tests/test_new.py", Some(NEW));
    let special =
        CALC.replace("def total(text):\n", "def total(text):\n    if text == \"1,x\":\n        return 1\n");
    let broken = fixed.replace("if number > best", "if number < best");
    let tabs = fixed.replace("        return 0", "        return 0\t");
    let quits = format!("import os\n{fixed}\n\nos._exit(0)\n");
    let unneeded = format!("{INLINE}# more\n");
    let skipped = INLINE.replace("    def", "    @unittest.skip(\"later\")\n    def");
    let renamed = INLINE.replace("test_inline", "test_other");
    let syntax = "def\n";
    let too_easy = NEW.replace("\"1,x\"), 1)", "\"1\"), 1)");
    let rows: Vec<(&str, Vec<u8>, u32)> = vec![
        ("special-cased input", toy.patch(&[("calc.py", Some(&special)), new]), 7874),
        ("aborted collection", toy.patch(&[fix, ("tests/test_new.py", Some(syntax))]), 7862),
        ("ends the tests early", toy.patch(&[("calc.py", Some(&quits)), new]), 7862),
        ("ignored test", toy.patch(&[fix, new, ("inline.py", Some(&skipped))]), 7867),
        ("renamed test", toy.patch(&[fix, new, ("inline.py", Some(&renamed))]), 7867),
        ("test that proves nothing", toy.patch(&[fix, ("tests/test_new.py", Some(&too_easy))]), 7864),
        ("no fix at all", toy.patch(&[("calc.py", Some(&format!("{CALC}# done\n"))), new]), 7865),
        ("another test breaks", toy.patch(&[("calc.py", Some(&broken)), new]), 7868),
        ("unclean", toy.patch(&[("calc.py", Some(&tabs)), new]), 7869),
        ("a hunk that no test needs", toy.patch(&[fix, new, ("inline.py", Some(&unneeded))]), 7871),
    ];
    for (name, patch, code) in rows {
        let error = judged(&toy, &patch).map(|judged| judged.record.canonical()).unwrap_err();
        assert_eq!(error.code(), code, "{name}: {error}");
        assert!(error.to_string().ends_with('.'), "{name}: {error}");
    }
}

fn a_finding_that_does_not_show_is_not_fixed() {
    let toy = Toy::new();
    let fixed = fixed();
    let patch = toy.patch(&[("calc.py", Some(&fixed)), ("tests/test_new.py", Some(NEW))]);
    let state = toy.state();
    let mut run = Run::begin(&state, "gate", Some(Rung::Observe)).unwrap();
    let call = Repro::parse("qa_decode({\"text\":\"1,2\"})").unwrap();
    let commit = toy.head();
    let proposal = Proposal { call: &call, patch: &patch, commit: &commit };
    assert_eq!(judge(&mut run, &proposal).unwrap_err().code(), 7860);
    // At this rung nothing can be published: there is no token for it.
    assert!(run.given().unwrap().propose().is_err());
}
