//! Whatever the whitelist accepts has no effect beyond reading: properties over random lines.
#![allow(missing_docs, clippy::unwrap_used)]

use proptest::prelude::*;
use zx1_whitelist::{Command, check_paths, names, secret_paths};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Words that an attacker builds lines from.
fn word() -> impl Strategy<Value = String> {
    let known = [
        "cat",
        "ls",
        "find",
        ".",
        "a.c",
        "-name",
        "-exec",
        "-delete",
        "-o",
        "--pre",
        "sh",
        "rm",
        "-rf",
        "/",
        ";",
        "|",
        "&",
        "&&",
        "$HOME",
        "`id`",
        "$(id)",
        ">",
        ">>",
        "<",
        "'",
        "\"",
        "\\",
        "*",
        "?",
        "[a]",
        "{a,b}",
        "~",
        "#",
        "!",
        "(",
        ")",
        "-",
        "--",
        "-n",
        "5",
        "timeout",
        "grep",
        "-r",
        "-R",
        "-e",
        "rg",
        "-f",
        ".env",
        "/etc/shadow",
        "@x",
        "-L",
        "e",
        "ps",
        "aux",
        "-u",
        "ww",
        "--version",
        "gcc",
        "'a b'",
        "\"a b\"",
        "a\\ b",
        "\t",
        "=",
        "FOO=bar",
        "--files0-from=x",
    ];
    let known = prop::sample::select(known.to_vec()).prop_map(str::to_owned);
    prop_oneof![4 => known, 1 => "[ -~]{0,8}", 1 => any::<String>()]
}

fn line() -> impl Strategy<Value = String> {
    let program = prop_oneof![
        3 => prop::sample::select(names().collect::<Vec<_>>()).prop_map(str::to_owned),
        1 => word(),
    ];
    (program, prop::collection::vec(word(), 0..8))
        .prop_map(|(program, words)| format!("{program} {}", words.join(" ")))
}

proptest! {
    #![proptest_config(config(4096))]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = Command::parse(&text);
        let _ = secret_paths::is_secret(&text);
        let _ = check_paths(&["/"], &[text]);
    }

    #[test]
    fn an_accepted_line_is_one_listed_program_and_the_same_words_again(line in line()) {
        let Ok(investigation) = Command::parse(&line) else { return Ok(()) };
        prop_assert!(names().any(|name| name == investigation.program) || investigation.program == "which");
        prop_assert!(!investigation.program.contains('/'));
        let unseen = |word: &String| word.chars().any(|c| c.is_control() && c != '\t');
        prop_assert!(!investigation.argv.iter().any(unseen));
        for path in &investigation.paths {
            prop_assert!(secret_paths::is_secret(&path.path).is_none());
            prop_assert!(investigation.argv[path.word].ends_with(&path.path));
        }
        // Quoted afresh, the words are accepted again and mean the same: nothing depends on how they were
        // quoted.
        let quoted: Vec<String> = investigation.argv.iter().filter(|word| *word != "--no-config")
            .map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let again = Command::parse(&quoted.join(" ")).unwrap();
        prop_assert_eq!(again, investigation);
    }

    /// A shell metacharacter outside of single quotes is refused, wherever it stands.
    #[test]
    fn an_unquoted_metacharacter_fails(
        before in "[a-z ]{0,12}",
        sign in prop::sample::select(vec!['|', ';', '&', '$', '`', '(', ')', '<', '>', '*', '{']),
        after in "[a-z ]{0,12}",
    ) {
        let line = format!("echo {before}{sign}{after}");
        prop_assert!(Command::parse(&line).is_err(), "{}", line);
        let line = format!("echo \"{before}{sign}{after}\"");
        prop_assert_eq!(Command::parse(&line).is_err(), matches!(sign, '$' | '`'), "{}", line);
        let line = format!("echo '{before}{sign}{after}'");
        prop_assert!(Command::parse(&line).is_ok(), "{}", line);
    }
}

proptest! {
    #![proptest_config(config(128))]

    /// The same words as a real shell would see: no expansion is left in an accepted line.
    #[test]
    fn a_real_shell_agrees_on_accepted_lines(words in prop::collection::vec(word(), 0..8)) {
        let line = format!("echo {}", words.join(" "));
        let Ok(investigation) = Command::parse(&line) else { return Ok(()) };
        let script = format!("printf '%s\\0' {line}");
        let output = std::process::Command::new("sh").args(["-c", &script]).env_clear().output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let shell: Vec<&str> = text.split_terminator('\0').collect();
        prop_assert_eq!(shell, investigation.argv);
    }
}
