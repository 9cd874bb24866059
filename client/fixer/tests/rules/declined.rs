//! Failures that no rule repairs: each is declined, and no rule proposes anything.

use zx1_fixer::rules::{Decline, Failure, Findings, Step, decide};

use super::harness::Workshop;

/// `(set-up, command)` of failures that really happen.
const FAILURES: &[(&str, &str)] = &[
    ("true", "false"),
    ("true", "exit 3"),
    ("mkdir full; touch full/a", "rmdir full"),
    ("mkdir full", "rm full"),
    ("true", "cat notes.txt"),
    ("touch bat hat", "cat cat"),
    ("touch chapter1.txt chapter2.txt", "cat chapter3.txt"),
    ("true", "gibberish --now"),
    ("true", "./missing.sh"),
    ("true", "unlnik f"),
    ("touch data1.csv data2.csv", "cp data3.csv x"),
    (r"printf '#!/bin/sh\nexit 7\n' > run.sh; chmod +x run.sh", "./run.sh"),
    (r"printf 'if true; then\n echo a\n' > run.sh", "sh run.sh"),
    (r"printf 'x = 3\n' > run.sh", "sh run.sh"),
    (r"printf 'int main(void) { return helper(); }\nint helper(int);\n' > a.c", "gcc a.c -o app"),
    (r"printf 'int f(void); int main(void) { return f(); }\n' > a.c", "gcc a.c -o app"),
    ("echo 'int main(void) { return 0 }}' > a.c", "gcc a.c -o app"),
    ("echo 'int main(void) { int *p = \"a\" + 1.5; return 0; }' > a.c", "gcc a.c -o app"),
    (r#"printf '#include "nowhere.h"\nint main(void) { return 0; }\n' > a.c"#, "gcc a.c -o app"),
    (
        r#"mkdir a b; touch a/u.h b/u.h; printf '#include "u.h"\nint main(void) { return 0; }\n' > a.c"#,
        "gcc a.c -o app",
    ),
    ("echo 'int main(void) { return 0; }' > a.c", "gcc a.c -lnowhere -o app"),
    (
        r"printf 'int x;\nint main(void) { return 0; }\n' > a.c; printf 'int x = 1; int main(void) { return x; }\n' > b.c",
        "gcc a.c b.c",
    ),
    (r"printf 'all:\n\tfalse\n' > Makefile", "make"),
    (r"printf 'all:\n\ttrue\n' > Makefile", "make deploy"),
    ("true", "make"),
    ("true", "git status"),
    ("git init -q", "git log"),
    ("git init -q; git commit -q --allow-empty -m a", "git commit -m nothing"),
    ("git init -q; git commit -q --allow-empty -m a", "git push"),
    ("git init -q; git commit -q --allow-empty -m a", "git checkout nowhere"),
    ("git init -q; git commit -q --allow-empty -m a", "git celan -fdx"),
    ("git init -q; echo a > f; git add f; git commit -qm a; touch .git/index.lock; echo b > f", "git add f"),
    ("git init -q -b main; git commit -q --allow-empty -m a; git branch other", "git checkout -b other HEAD"),
    ("echo 'raise SystemExit(2)' > a.py", "python3 a.py"),
    ("echo 'print(1/0)' > a.py", "python3 a.py"),
    ("echo 'import nowhere_at_all' > a.py", "python3 a.py"),
    ("echo 'print(undefined_thing_here)' > a.py", "python3 a.py"),
    (r"printf 'x = (1,\nprint(x)\n' > a.py", "python3 a.py"),
    (r"printf 'def f():\nreturn 1\n' > a.py", "python3 a.py"),
    ("echo 'open(\"in/data.txt\")' > a.py", "python3 a.py"),
    ("echo 'd = {}; d[\"key\"]' > a.py", "python3 a.py"),
    ("echo '{ a: 1 }' > c.json", "python3 -m json.tool c.json"),
    ("echo 'require(\"./nowhere\")' > a.js", "node a.js"),
    ("echo 'require(\"left-pad-of-nobody\")' > a.js", "node a.js"),
    ("echo 'throw new Error(\"no\")' > a.js", "node a.js"),
    ("echo 'fn main() { let x: u8 = \"a\".len(); }' > a.rs", "rustc a.rs"),
    ("echo 'fn main() { let v = vec![1]; drop(v); drop(v); }' > a.rs", "rustc a.rs"),
    (r"printf 'use nowhere::x;\nfn main() { x(); }\n' > a.rs", "rustc --edition 2021 a.rs"),
    ("true", "cargo build"),
    ("echo 'die \"no\";' > a.pl", "perl a.pl"),
    (r"printf 'use strict;\nmy $x = 3\nprint $x;\n' > a.pl", "perl a.pl"),
    ("echo x > f", "tar -xf f"),
    ("echo x > f", "gzip -d f"),
    ("echo x > f", "sed 's/a/b/c/d' f"),
    ("echo x > f", "grep nowhere f"),
    ("touch a b", "find . -name * -delete -bogus"),
    ("touch current", "ln -s v2 current"),
    // Nobody knows whether the folder is missing or misspelt.
    ("mkdir archive; touch report.txt", "mv report.txt archvie/"),
    ("mkdir archive; touch report.txt", "cp report.txt archvie/2026/"),
    ("mkdir build", "echo x > biuld/out.txt"),
    ("ln -s v1 current; touch current.old", "ln -s v2 current"),
    ("mkdir -p .ssh; echo key > .ssh/id_rsa", "cat .ssh/id_rs"),
    ("true", "mkdir /proc/nowhere/x"),
    ("true", "touch ../nowhere/x"),
    ("true", "cd nowhere && make"),
    ("true", "echo \"$(cat nowhere)\" | grep x"),
];

#[test]
fn a_failure_that_no_rule_knows_is_declined() {
    assert!(FAILURES.len() >= 25);
    let mut wrong = Vec::new();
    for (setup, command) in FAILURES {
        let shop = Workshop::new("", &[]);
        let prepared = shop.prepare(&format!("set -e\n{setup}"));
        assert_eq!(prepared.exit, 0, "{setup}: {}", prepared.output);
        let failure = shop.fail(command, true);
        let step = shop.decide(&failure);
        let proposing = shop.proposing(&failure);
        if !matches!(step, Step::Decline(_)) || !proposing.is_empty() {
            wrong.push(format!("`{command}`: {proposing:?} {step:#?}\n{}", failure.error));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_decline_is_numbered_and_says_what_to_do() {
    let failure = Failure::new("false", "", 1);
    let Step::Decline(reason) = decide(&failure, &Findings::default()) else { panic!("not declined") };
    assert_eq!((reason.code(), &reason), (9300, &Decline::Unknown));
    let reasons = [
        Decline::Unknown,
        Decline::Unsure { rule: "make-library", reason: "several recipes link".to_owned() },
        Decline::Conflict { rules: vec!["one", "two"] },
        Decline::OutOfRounds { rule: "make-library" },
        Decline::NotGranted { rule: "pip-missing-package", capability: "network" },
    ];
    let codes: Vec<u32> = reasons.iter().map(Decline::code).collect();
    assert_eq!(codes, [9300, 9301, 9302, 9303, 9304]);
    for reason in reasons {
        assert!(reason.to_string().ends_with('.'), "{reason}");
    }
}

#[test]
fn a_package_is_installed_only_when_the_network_is_granted() {
    let shop = Workshop::new("", &[]);
    let setup = "mkdir -p .venv/bin; touch .venv/pyvenv.cfg; ln -s \"$(command -v python3)\" .venv/bin/python\n\
                 echo greet > requirements.txt; echo 'import greet' > app.py";
    assert_eq!(shop.prepare(setup).exit, 0);
    let refused = shop.decide(&shop.fail(".venv/bin/python app.py", false));
    let expected = Decline::NotGranted { rule: "pip-missing-package", capability: "network" };
    assert_eq!(refused, Step::Decline(expected));
    let granted = shop.decide(&shop.fail(".venv/bin/python app.py", true));
    assert!(matches!(granted, Step::Propose(proposal) if proposal.rule == "pip-missing-package"));
}

#[test]
fn a_package_that_the_requirements_do_not_name_is_never_made_up() {
    let shop = Workshop::new("", &[]);
    let setup = "mkdir -p .venv/bin; touch .venv/pyvenv.cfg; ln -s \"$(command -v python3)\" .venv/bin/python\n\
                 echo other > requirements.txt; echo 'import reqeusts' > app.py";
    assert_eq!(shop.prepare(setup).exit, 0);
    assert!(matches!(shop.decide(&shop.fail(".venv/bin/python app.py", true)), Step::Decline(_)));
}

#[test]
fn a_command_that_succeeded_or_runs_elsewhere_is_nobodys() {
    let error = "make: *** No rule to make target 'biuld'.  Stop.";
    for (command, exit_code, os) in
        [("make biuld", 0, "Linux"), ("make biuld", 2, "Darwin"), ("sudo make biuld", 2, "Linux")]
    {
        let mut failure = Failure::new(command, error, exit_code);
        failure.os = os.to_owned();
        assert_eq!(decide(&failure, &Findings::default()), Step::Decline(Decline::Unknown), "{command}");
    }
}

#[test]
fn a_fix_changes_nothing_when_the_file_is_not_as_it_was_read() {
    let shop = Workshop::new("", &[]);
    assert_eq!(shop.prepare("echo 'int main(void) { return INT_MAX == 0; }' > a.c").exit, 0);
    let Step::Propose(proposal) = shop.decide(&shop.fail("gcc a.c", false)) else { panic!("no proposal") };
    assert_eq!(shop.prepare("echo 'int main(void) { return INT_MAX; }' > a.c; cp a.c before.c").exit, 0);
    assert_ne!(shop.prepare(&proposal.fix).exit, 0);
    assert_eq!(shop.prepare("cmp a.c before.c").exit, 0);
}
