//! The QA loop with its real parts: sandboxes, git, processes that are killed.
//!
//! This program plays all parts, as the command line does: the sandbox's helper, the tools inside, and a loop that is
//! killed.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cheats;
mod dial;
mod killed;
mod texts;
mod toy;
mod work;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

type Test = fn();

fn main() -> ExitCode {
    zx1_operator::qa::main_if_asked();
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, rest @ ..] = arguments.as_slice()
        && word == killed::ARGUMENT
    {
        killed::child(rest);
        return ExitCode::SUCCESS;
    }
    let all: Vec<(&'static str, Test)> =
        [dial::ALL, texts::ALL, killed::ALL, work::ALL, cheats::ALL].concat();
    let trials = all.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
