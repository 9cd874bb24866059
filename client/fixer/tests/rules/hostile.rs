//! Hostile errors and files: whatever a program prints or a folder holds, no word of it becomes a command.

use proptest::prelude::*;
use zx1_fixer::rules::{Diagnosis, Failure, Findings, MAX_ROUNDS, Proposal, Step, decide};

use super::harness::{Workshop, assert_readable};

/// Commands and errors of every tool; `@` is the hostile word, `@q` the same as one quoted word of the command.
const TEMPLATES: &[(&str, &str)] = &[
    ("gcc @q -o app", "cc1: fatal error: @: No such file or directory"),
    ("gcc a.c", "@.c:1:1: error: unknown type name 'uint32_t'"),
    ("gcc a.c", "a.c:1:1: error: unknown type name '@'; did you mean '@x'?"),
    ("gcc a.c", "a.c:1:1: error: '@' undeclared (first use in this function); did you mean 'uint'?"),
    ("gcc a.c", "@:1:11: error: expected ';' before 'return'"),
    ("gcc a.c", "a.c:1:10: fatal error: @: No such file or directory"),
    ("gcc a.c", "undefined reference to `@'\ncollect2: error: ld returned 1 exit status"),
    ("gcc a.c -l@q", "/usr/bin/ld: cannot find -l@: No such file or directory"),
    ("gcc a.c -o @q", "/usr/bin/ld: cannot open output file @/app: No such file or directory"),
    ("gcc @q", "gcc: error: unrecognized command-line option '@'; did you mean '@x'?"),
    ("gcc a.c @q", "/usr/bin/ld: @.a: error adding symbols: archive has no index; run ranlib to add one"),
    ("g++ a.cpp", "@:1:1: error: 'vector' is not a member of 'std'"),
    ("make @q", "make: *** No rule to make target '@'.  Stop."),
    ("make", "make: *** No rule to make target '@', needed by 'app'.  Stop."),
    ("make", "@:2: *** missing separator.  Stop."),
    ("make", "undefined reference to `sqrt'\nmake: *** [@:3: app] Error 1"),
    ("make -C @q", "undefined reference to `sqrt'\nmake: *** [Makefile:3: app] Error 1"),
    ("sh x.sh", "sh: 1: @/x: Permission denied"),
    ("./@q", "bash: ./@: Permission denied"),
    ("./@q", "sh: 1: ./@: not found"),
    ("bash @q", "@: line 1: $'\\r': command not found"),
    ("bash @q", "@: line 1: [: missing `]'"),
    ("sh @q", "@: 1: [[: not found"),
    ("@q status", "sh: 1: @: not found"),
    ("echo hi > @q/x", "sh: 1: cannot create @/x: Directory nonexistent"),
    ("mkdir @q/x", "mkdir: cannot create directory '@/x': No such file or directory"),
    ("cp f @q/x", "cp: cannot create regular file '@/x': No such file or directory"),
    ("touch @q/x", "touch: cannot touch '@/x': No such file or directory"),
    ("cp @q x", "cp: -r not specified; omitting directory '@'"),
    ("ln -s a @q", "ln: failed to create symbolic link '@': File exists"),
    ("cat @q", "cat: @: No such file or directory"),
    ("cat @q.json", "cat: @.json: No such file or directory"),
    ("tar -xf a.tar -C @q", "tar: @: Cannot open: No such file or directory"),
    ("grep x @q", "grep: @: Is a directory"),
    (
        "git push",
        "fatal: The current branch @ has no upstream branch.\nTo push\n\n    git push --set-upstream @ @\n",
    ),
    (
        "git push",
        "fatal: The upstream branch of your current branch does not match\nx\nTo push to the branch of the same name on the remote, use\n\n    git push @ HEAD\n",
    ),
    (
        "git pull",
        "There is no tracking information for the current branch.\n\n    git branch --set-upstream-to=@/<branch> @\n",
    ),
    (
        "git pull",
        "Your configuration specifies to merge with the ref 'refs/heads/@'\nfrom the remote, but no such ref was fetched.",
    ),
    ("git @q", "git: '@' is not a git command. See 'git --help'.\n\nThe most similar command is\n\t@x"),
    ("git checkout @q", "error: pathspec '@' did not match any file(s) known to git"),
    ("git add @q", "fatal: pathspec '@' did not match any files"),
    ("git push @q main", "fatal: '@' does not appear to be a git repository"),
    ("git checkout -b @q", "fatal: a branch named '@' already exists"),
    ("git archive -o @q/x HEAD", "fatal: could not open '@/x' for writing: No such file or directory"),
    ("python3 a.py", "  File \"@\", line 1\nNameError: name 'os' is not defined"),
    ("python3 a.py", "  File \"a.py\", line 1\nNameError: name '@' is not defined. Did you mean: '@x'?"),
    ("python3 a.py", "  File \"@\", line 1\nSyntaxError: expected ':'"),
    ("python3 a.py", "  File \"@\", line 1\nTabError: inconsistent use of tabs and spaces in indentation"),
    (
        "python3 a.py",
        "SyntaxError: Non-UTF-8 code starting with '\\xe9' in file @ on line 1, but no encoding declared",
    ),
    ("python3 a.py", "  File \"a.py\", line 1\nModuleNotFoundError: No module named '@'"),
    ("python3 @q/a.py", "ImportError: attempted relative import with no known parent package"),
    (
        "python3 a.py",
        "  File \"a.py\", line 1\n    open(\"x\", \"w\")\nFileNotFoundError: [Errno 2] No such file or directory: '@/x'",
    ),
    ("@q/bin/python a.py", "  File \"a.py\", line 1\nModuleNotFoundError: No module named 'yaml'"),
    (
        "pip install -r @q",
        "ERROR: Could not open requirements file: [Errno 2] No such file or directory: '@'",
    ),
    ("pip @q", "ERROR: unknown command \"@\" - maybe you meant \"@x\""),
    ("node a.js", "Error: Cannot find module './@'\nRequire stack:\n- /srv/app/a.js\n"),
    ("node a.js", "Error: Cannot find module '@'\nRequire stack:\n- /srv/app/a.js\n"),
    ("node a.js", "Error: ENOENT: no such file or directory, open '@/x'\n at writeFileSync"),
    ("npm run @q", "npm error Missing script: \"@\""),
    ("cargo @q", "error: no such command: `@`\n\nhelp: a command with a similar name exists: `@x`"),
    (
        "cargo run",
        "error: target `x` in package `p` requires the features: `@`\nConsider enabling them by passing, e.g., `--features=\"@\"`",
    ),
    ("cargo build", "error: can't find bin `x` at path `/srv/app/@`"),
    (
        "cargo build",
        "error[E0433]: cannot find module or crate `@` in this scope\n --> src/main.rs:1:1\n  |\n1 | @\n  | ^ use of unresolved module or unlinked crate `@`",
    ),
    (
        "rustc a.rs",
        "error[E0425]: cannot find value `x` in this scope\n --> a.rs:1:1\n  |\nhelp: a local variable with a similar name exists\n  |\n1 - uint32_t a;\n1 + uint32_t @;\n  |\n",
    ),
    (
        "rustc a.rs",
        "error[E0433]: cannot find type `X` in this scope\n --> @:1:1\n  |\nhelp: consider importing this struct\n  |\n1 + use std::@;\n  |\n",
    ),
    ("javac @q.java", "@.java:1: error: class @ is public, should be declared in a file named @.java\n"),
    ("java @q", "Error: Could not find or load main class @\n"),
    ("perl a.pl", "Can't locate @/Util.pm in @INC (you may need) at a.pl line 1."),
    (
        "perl a.pl",
        "Global symbol \"$x\" requires explicit package name (did you forget to declare \"my $x\"?) at @ line 1.",
    ),
    ("python3 -m json.tool @q.json", "Expecting value: line 1 column 1 (char 0)"),
    ("node a.js --port 8080", "Error: listen EADDRINUSE: address already in use :::8080 @"),
];

/// What each investigation is answered with: the hostile word wherever a name may stand.
fn answer(command: &str, word: &str) -> String {
    match command.split(' ').next().unwrap() {
        "pwd" => "/work\n".to_owned(),
        "which" => "/usr/bin/x\n".to_owned(),
        "ls" => format!("./\n../\n{word}x\n{word}y*\n{word}@\n{word}.json.example\n__init__.py\npyvenv.cfg\nCargo.toml\nrequirements.txt\n"),
        "find" => format!("./{word}/{name}\n", name = command.rsplit('"').nth(1).unwrap_or("x")),
        "grep" => format!("./{word}.c:1:int {word}(void) {{\n./b.c:1:int helper(void) {{\n"),
        _ if command.contains("package.json") => {
            serde_json::json!({ "scripts": { format!("{word}x"): "true" }, "dependencies": { word: "file:x" } }).to_string()
        }
        _ if command.contains("HEAD") => format!("ref: refs/heads/{word}\n"),
        _ => format!("uint32_t a;\n\t{word}\n{word}x: {word}\n    {word}: 1\nimport {word}\n"),
    }
}

/// Every proposal that any rule makes, alone or together.
fn proposals(template: &(&str, &str), word: &str) -> Vec<Proposal> {
    let quoted = format!("'{}'", word.replace('\'', r"'\''"));
    let command = template.0.replace("@q", &quoted).replace('@', word);
    // Exit code 127 is what most rules about programs want to see; the others do not look at it.
    let mut failure = Failure::new(command, template.1.replace('@', word), 127);
    failure.capabilities.network = true;
    let settle = |step: &dyn Fn(&Findings) -> Step| {
        let mut findings = Findings::default();
        loop {
            match step(&findings) {
                Step::Investigate(asked) => {
                    assert!(findings.len() < MAX_ROUNDS);
                    assert_readable(&asked);
                    let output = answer(&asked, word);
                    findings.add(asked, output);
                }
                Step::Propose(proposal) => return Some(proposal),
                Step::Decline(_) => return None,
            }
        }
    };
    Diagnosis::of(&failure)
        .iter()
        .filter_map(|candidate| settle(&|findings| candidate.step(findings)))
        .collect()
}

/// The script without its quoted parts and without the fixed pieces that rules are made of.
fn bare(script: &str) -> String {
    let mut text = script.to_owned();
    // Every word in single quotes, with the escaped quote between two of them.
    while let Some(start) = text.find('\'') {
        let Some(length) = text[start + 1..].find('\'') else { return text };
        text.replace_range(start..start + length + 2, "Q");
        while text.contains("Q\\'Q") {
            text = text.replace("Q\\'Q", "Q");
        }
        if text.contains("Q\\''") {
            text = text.replacen("Q\\''", "Q'", 1);
        }
    }
    let guard = "test \"$(sed -n ";
    while let Some(start) = text.find(guard) {
        let Some(end) = text[start..].find(")\" = ") else { break };
        let path = text[start + guard.len()..start + end].to_owned();
        text.replace_range(start..start + end + 5, &format!("test {path} "));
    }
    text.replace("\"$(printf Q)$\"", "Q")
        .replace(" &&\n", " ")
        .replace(" && ", " ")
        .replace(">/dev/null", "")
        .replace("> package.json", "")
        .replace("test ! -e", "test")
}

/// No letter that a shell gives a meaning stands outside of quotes, and nothing leaves the working folder.
fn assert_harmless(proposal: &Proposal, original: &str) {
    let fix = bare(&proposal.fix);
    assert!(
        fix.chars().all(|c| c.is_ascii_alphanumeric() || " ./_-+@,:=".contains(c)),
        "{fix:?} of {proposal:#?}"
    );
    for outside in ["../", " /etc", " ~", " -rf"] {
        assert!(!fix.contains(outside), "{outside} in {proposal:#?}");
    }
    if let Some(corrected) = &proposal.corrected_command {
        let fix = bare(corrected);
        let allowed = bare(original);
        let special = |text: &str| {
            text.chars().filter(|c| !(c.is_alphanumeric() || " ./_-+@,:=".contains(*c))).collect::<String>()
        };
        assert_eq!(special(&fix), special(&allowed), "{proposal:#?}");
    }
}

fn try_template(template: &(&str, &str), word: &str) -> Vec<Proposal> {
    let quoted = format!("'{}'", word.replace('\'', r"'\''"));
    let original = template.0.replace("@q", &quoted).replace('@', word);
    let all = proposals(template, word);
    for proposal in &all {
        assert_harmless(proposal, &original);
    }
    all
}

const PAYLOADS: &[&str] = &[
    "$(>PWNED)",
    "`>PWNED`",
    ";>PWNED;",
    "'>PWNED'",
    "\">PWNED\"",
    "|>PWNED|",
    "&>PWNED&",
    "\n>PWNED\n",
    "a b",
    "a'b",
    "$IFS>PWNED",
    "x\\",
    "-rf",
    "--exec=x",
    "../../etc/x",
    "/etc/x",
    "~/x",
    "*",
    "x;y",
    "a$(>PWNED)b",
    "a\n1w PWNED\n",
    "x/e>PWNED",
    "{}",
    "!!",
    "#",
    "\r>PWNED",
    "[REDACTED:token]",
    ".ssh/id_rsa",
    ".env",
    "x'$(>PWNED)'",
    "\u{202e}x",
    "x'\\''>PWNED '",
    "main",
    "helper",
    "src",
    "größe",
    "a=b",
    "e>PWNED",
    "1e>PWNED",
    "/e;>PWNED",
    "&",
];

#[test]
fn hostile_words_never_run() {
    let mut tried = 0;
    for word in PAYLOADS {
        for proposal in TEMPLATES.iter().flat_map(|template| try_template(template, word)) {
            // The fix itself runs, in a folder where only the tools that fixes use can be found.
            let shop = Workshop::new(
                "",
                &[
                    "sed", "mkdir", "test", "mv", "cp", "grep", "chmod", "printf", "true", "touch", "cat",
                    "ls",
                ],
            );
            tried += 1;
            shop.run(&proposal.fix);
            let traces = shop.prepare("find .. -name 'PWNED*'");
            assert_eq!(traces.output.trim(), "", "{proposal:#?}");
        }
    }
    // The harmless words among them do lead to repairs, so the templates are alive.
    assert!(tried >= 60, "{tried}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_letter_of_a_hostile_word_reaches_the_shell(
        word in "[a-z/.$`'\"\\\\;|&><(){}*?!#~\n\r \t=-]{1,12}",
        which in prop::collection::vec(0..TEMPLATES.len(), 8),
    ) {
        for template in which.iter().map(|at| &TEMPLATES[*at]) {
            try_template(template, &word);
        }
    }

    #[test]
    fn no_rule_panics_on_any_output(
        which in 0..TEMPLATES.len(),
        cut in any::<prop::sample::Index>(),
        noise in "\\PC{0,30}",
    ) {
        let (command, error) = TEMPLATES[which];
        let error = error.replace('@', "main");
        let mut at = cut.index(error.len() + 1);
        while !error.is_char_boundary(at) {
            at -= 1;
        }
        let failure = Failure::new(command.replace("@q", "main"), format!("{}{noise}{}", &error[..at], &error[at..]), 1);
        let mut findings = Findings::default();
        while let Step::Investigate(asked) = decide(&failure, &findings) {
            findings.add(asked, noise.clone());
        }
    }
}
