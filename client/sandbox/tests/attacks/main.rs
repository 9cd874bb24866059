//! Attacks on the sandbox, each as root and as an ordinary user, each in an outer jail with a throwaway root,
//! so that a bug destroys nothing. After every attack the jail's whole tree must be as it was.
//!
//! One program plays all parts: the list of tests, the jail, the caller of the sandbox, and the attacker
//! inside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

mod attacker;
mod basics;
mod commits;
mod files;
mod groups;
mod jail;
mod processes;
mod refusals;
mod sealed;
mod secrets;
mod snapshot;
mod views;
mod world;

use std::process::ExitCode;

use world::{Scenario, Who};

/// All scenarios of all modules.
fn scenarios() -> Vec<Scenario> {
    [
        basics::SCENARIOS,
        commits::SCENARIOS,
        files::SCENARIOS,
        groups::SCENARIOS,
        processes::SCENARIOS,
        refusals::SCENARIOS,
        sealed::SCENARIOS,
        secrets::SCENARIOS,
        views::SCENARIOS,
    ]
    .concat()
}

fn main() -> ExitCode {
    // The sandbox's helper is this program too, as in the command line of fix.
    zx1_sandbox::helper_main_if_asked();
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, jail::ARGUMENT, who, name] => jail::enter(Who::parse(who), &find(name)),
        [_, world::ARGUMENT, who, name] => world::play(Who::parse(who), &find(name)),
        [_, attacker::ARGUMENT, ref rest @ ..] => attacker::main(rest),
        _ => libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials()).exit_code(),
    }
}

fn find(name: &str) -> Scenario {
    scenarios().into_iter().find(|scenario| scenario.name == name).expect("a scenario of that name")
}

fn trials() -> Vec<libtest_mimic::Trial> {
    let mut trials = Vec::new();
    for scenario in scenarios() {
        for who in [Who::Root, Who::User] {
            let needs_groups = groups::SCENARIOS.iter().any(|other| other.name == scenario.name);
            let module = if needs_groups { "groups::" } else { "" };
            let name = format!("{}::{module}{}", who.name(), scenario.name);
            trials.push(libtest_mimic::Trial::ignorable_test(name, move || {
                if needs_groups && let Some(reason) = groups::why_not() {
                    return Ok(libtest_mimic::Completion::ignored_with(reason));
                }
                jail::run(who, scenario.name).map(|()| libtest_mimic::Completion::Completed)
            }));
        }
    }
    trials
}
