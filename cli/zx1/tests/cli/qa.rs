//! The QA loop from the command line: a repository with one fault, from the line that shows it to the merge.

use crate::support::{Home, Refusal as _};
use std::path::Path;
use std::process::Command;
use zx1_cli_common::testing::Terminal;

const PYTHON: &str = "/usr/bin/python3";
const CALC: &str = "def total(text):\n    return sum(int(part) for part in text.split(\",\"))\n";
const FIXED: &str = "def number(part):\n    return int(part) if part.isdecimal() else 0\n\n\ndef total(text):\n    return sum(number(part) for part in text.split(\",\"))\n";
const TEST: &str = "import unittest\nimport calc\n\n\nclass Old(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(calc.total(\"1,2\"), 3)\n";
const NEW: &str = "import unittest\nimport calc\n\n\nclass New(unittest.TestCase):\n    def test_words(self):\n        self.assertEqual(calc.total(\"1,x\"), 1)\n";
const ANSWER: &str = "import json, sys\nsys.path.insert(0, '.')\nline = sys.argv[1]\ntext = json.loads(line[line.index('(') + 1:-1]).get('text', '')\nimport calc\ntry:\n    calc.total(text)\nexcept ValueError:\n    sys.exit(10)\n";

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A repository in the home, and its path.
fn repository(home: &Home) -> String {
    let folder = home.path().join("toy");
    std::fs::create_dir_all(folder.join("tests")).unwrap();
    std::fs::create_dir_all(folder.join("tools")).unwrap();
    git(&folder, &["init", "-q", "-b", "main"]);
    for (path, content) in [
        ("calc.py", CALC),
        ("tests/__init__.py", ""),
        ("tests/test_old.py", TEST),
        ("tools/answer.py", ANSWER),
    ] {
        std::fs::write(folder.join(path), content).unwrap();
    }
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    folder.to_str().unwrap().to_owned()
}

#[test]
fn the_dial_the_kill_switch_and_the_status_of_a_loop() {
    let home = Home::new();
    let toy = repository(&home);
    let at = ["--repository", toy.as_str()];
    let zx1 = |words: &[&str]| home.zx1([words, &at].concat());
    assert_eq!(zx1(&["qa", "dial", "--json"]).json()["dial"], "observe");
    zx1(&["qa", "dial", "exercise"]).ok();
    zx1(&["qa", "dial", "everything"]).fails(7823);
    assert_eq!(zx1(&["qa", "dial", "--json"]).json()["dial"], "exercise");
    zx1(&["qa", "stop", "a test"]).ok();
    assert_eq!(zx1(&["qa", "status", "--json"]).json()["stopped"], true);
    zx1(&["qa", "run", "--once"]).fails(7820);
    zx1(&["qa", "probe", "--suite", "fuzz", "--calls", "1"]).fails(7820);
    zx1(&["qa", "dial", "observe"]).ok();
    assert_eq!(zx1(&["qa", "status", "--json"]).json()["stopped"], false);
    home.zx1(["qa", "status", "--repository", "/"]).fails(7835);
}

#[test]
fn the_exit_code_of_repro_says_what_the_line_does() {
    let home = Home::new();
    let toy = repository(&home);
    let repro = |line: &str| home.zx1(["qa", "repro", line, "--repository", &toy, "--json"]);
    let works = repro("qa_decode({\"hex\":\"80\",\"kind\":\"envelope\"})");
    assert_eq!((works.code, works.json()["verdict"].as_str()), (0, Some("works")), "{works:?}");
    let works = repro("qa_cli({\"arguments\":[\"inspect\",\"tx\",\"00\"],\"program\":\"zx1\"})");
    assert_eq!(works.code, 0, "{works:?}");
    for line in [
        "rm -rf /",
        "qa_sh(\"id\")",
        "qa_attack({})",
        "qa_decode({\"kind\":\"none\"})",
        "qa_fetch({\"url\":\"x\"})",
    ] {
        let said = repro(line);
        assert_eq!(said.code, 11, "{said:?}");
    }
}

#[test]
fn a_probe_that_finds_nothing_says_so_and_one_tick_runs_what_is_due() {
    let home = Home::new();
    let toy = repository(&home);
    let probe =
        home.zx1(["probe", "--suite", "fuzz", "--seed", "7", "--calls", "1", "--repository", &toy, "--json"]);
    let json = probe.json();
    assert_eq!(
        (json["calls"].as_u64(), json["findings"].as_array().map(Vec::len)),
        (Some(1), Some(0)),
        "{json}"
    );
    let jail =
        home.zx1(["qa", "probe", "--suite", "jail", "--calls", "1", "--repository", &toy, "--json"]).json();
    assert_eq!(jail["left_out"][0][0], "qa_attack");
}

#[test]
fn a_patch_goes_from_the_gate_to_a_merge_that_a_person_types() {
    let home = Home::new();
    let toy = repository(&home);
    let folder = Path::new(&toy);
    let status = home.zx1(["qa", "dial", "--repository", &toy, "--json"]).json();
    let state = Path::new(status["file"].as_str().unwrap()).parent().unwrap().to_owned();
    let settings = format!(
        "[gate]\nbuild = []\nlint = []\nform = \"unittest\"\nseconds = 120\nmemory = 1073741824\n\
         test = [\"{PYTHON}\", \"-B\", \"-m\", \"unittest\", \"discover\", \"-v\", \"-s\", \"tests\", \"-t\", \".\"]\n\
         repro = [\"{PYTHON}\", \"-B\", \"tools/answer.py\"]\n"
    );
    std::fs::write(state.join("qa.toml"), settings).unwrap();

    std::fs::write(folder.join("calc.py"), FIXED).unwrap();
    std::fs::write(folder.join("tests/test_new.py"), NEW).unwrap();
    git(folder, &["add", "-A"]);
    let patch = home.file("fix.patch", git(folder, &["diff", "--cached"]));
    git(folder, &["reset", "-q", "--hard"]);
    let text = home.file(
        "entry.txt",
        "qa/v1 source=a sev=high surface=cli\nWords are not numbers.\nrepro: qa_decode({\"text\":\"1,x\"})",
    );
    let propose =
        || home.zx1(["qa", "propose", "17", "--patch", &patch, "--text", &text, "--repository", &toy]);
    // At this rung nothing is proposed.
    propose().fails(7821);
    home.zx1(["qa", "review", "17", "--repository", &toy]).fails(7884);
    // The maintainer's line needs a key of the maintainer in the settings.
    let line = signed_line(&home, &state, &toy);
    home.zx1(["qa", "dial", &line, "--repository", &toy]).ok();
    let said = propose();
    assert_eq!(said.code, 0, "{said:?}");

    let review = home.zx1(["qa", "review", "17", "--repository", &toy, "--json"]).json();
    assert_eq!((review["tree_agrees"].as_bool(), review["hunks"].as_u64()), (Some(true), Some(1)));
    let branch = review["branch"].as_str().unwrap();
    assert!(branch.starts_with("qa/fb-17-"));
    // Without a terminal nobody merges, and with one only the number does.
    home.zx1(["qa", "merge", "17", "--repository", &toy]).fails(7409);
    let before = git(folder, &["rev-parse", "main"]);
    let merge = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1"));
        command.args(["qa", "merge", "17", "--repository", &toy]).env_clear().env("HOME", home.path());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("NO_COLOR", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "t").env(format!("GIT_{role}_EMAIL"), "t@localhost");
        }
        Terminal::start(command)
    };
    let (code, screen) = merge().answer(&[("to merge", "yes\r")]);
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("7873"), "{screen}");
    assert_eq!(git(folder, &["rev-parse", "main"]), before);
    let (code, screen) = merge().answer(&[("to merge", "17\r")]);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(git(folder, &["rev-parse", "main^1"]), before);
    assert_eq!(std::fs::read_to_string(folder.join("calc.py")).unwrap(), FIXED);
}

/// The line of a maintainer whose key is in the settings from now on.
fn signed_line(home: &Home, state: &Path, toy: &str) -> String {
    let dial = home.zx1(["qa", "dial", "--repository", toy, "--json"]).json();
    let mut fleet = [0; 32];
    bs58::decode(dial["fleet"].as_str().unwrap()).onto(&mut fleet).unwrap();
    let root = dial["root"].as_str().unwrap();
    let key = solana_keypair::Keypair::new();
    let public = solana_signer::Signer::pubkey(&key).to_string();
    let path = state.join("qa.toml");
    let settings = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("maintainer_key = \"{public}\"\n{settings}")).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let expires = i64::try_from(now).unwrap() + 3_600;
    let bytes = zx1_qa::dial::signing_bytes(&fleet, root, expires).unwrap();
    let signature: [u8; 64] = solana_signer::Signer::sign_message(&key, &bytes).into();
    zx1_qa::dial::line(&fleet, root, expires, &signature).unwrap()
}
