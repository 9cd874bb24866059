//! What is wrong with a command line, in one sentence.

use std::ffi::OsString;
use zx1_cli::args;
use zx1_cli::errors::{Error, Failure};
use zx1_cli_common::usage::in_words;

fn said(line: &str) -> (String, String) {
    let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    let error = args::parse(&arguments).map(|_| ()).unwrap_err();
    let failure = Failure::from(Error::Usage { message: in_words(&error) });
    let failure = failure.with_help_of(&args::command(), &arguments);
    (failure.message, failure.next.unwrap_or_default())
}

#[test]
fn every_kind_of_typing_error_is_one_sentence_with_the_help_of_its_command() {
    for (line, sentence, next) in [
        ("zx1 stak lock", "Unknown command 'stak'. Did you mean status or stake?", "zx1"),
        ("zx1 stake lok", "Unknown command 'lok'. Did you mean lock?", "zx1 stake"),
        ("zx1 task", "Unknown command 'task'. Did you mean ask?", "zx1"),
        ("zx1 asks", "Unknown command 'asks'. Did you mean ask?", "zx1"),
        ("zx1 volcano", "Unknown command 'volcano'.", "zx1"),
        ("zx1 stake lock 10 --fast", "Unknown option '--fast'.", "zx1 stake lock"),
        ("zx1 stake lock 1 --yess", "Unknown option '--yess'. Did you mean --yes?", "zx1 stake lock"),
        ("zx1 stake lock 10 20", "Unexpected argument '20'.", "zx1 stake lock"),
        ("zx1 stake lock", "Missing required argument: <USDC>.", "zx1 stake lock"),
        (
            "zx1 batch fetch",
            "Missing required arguments: --epoch <EPOCH> and --out <PATH>.",
            "zx1 batch fetch",
        ),
        (
            "zx1 bind --index -1",
            "Invalid value '-1' for --index <N>: negative numbers are not allowed.",
            "zx1 bind",
        ),
        ("zx1 bind --index 1.5", "Invalid value '1.5' for --index <N>: expected a whole number.", "zx1 bind"),
        ("zx1 bind --index 4294967296", "Invalid value '4294967296' for --index <N>: too large.", "zx1 bind"),
        (
            "zx1 log list --epoch -1",
            "Invalid value '-1' for --epoch <EPOCH>: negative numbers are not allowed.",
            "zx1 log list",
        ),
        (
            "zx1 log list --epoch 18446744073709551616",
            "Invalid value '18446744073709551616' for --epoch <EPOCH>: too large.",
            "zx1 log list",
        ),
        (
            "zx1 lease pay --epochs 0",
            "Invalid value '0' for --epochs <N>: expected 1 or more.",
            "zx1 lease pay",
        ),
        (
            "zx1 challenge watch --interval 0",
            "Invalid value '0' for --interval <SECONDS>: expected 1 to 3600.",
            "zx1 challenge watch",
        ),
        (
            "zx1 completions tcl",
            "Invalid value 'tcl' for <SHELL>: expected bash, elvish, fish, powershell or zsh.",
            "zx1 completions",
        ),
        ("zx1 --url", "--url <URL_OR_MONIKER> requires a value.", "zx1"),
        (
            "zx1 stake lock 10 --dry-run --print-tx",
            "--dry-run cannot be used with --print-tx.",
            "zx1 stake lock",
        ),
        (
            "zx1 stake lock 10 --sign-only --blockhash x",
            "Invalid value 'x' for --blockhash <HASH>: expected 32 bytes in base58.",
            "zx1 stake lock",
        ),
    ] {
        assert_eq!(said(line), (sentence.to_owned(), format!("{next} --help")), "{line}");
    }
}
