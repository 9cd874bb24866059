//! The tables: one rule per program.

mod custom;
mod files;
mod packages;
mod system;
mod tools;

use super::grammar::Rule;

/// Every rule, in the order of the specification's list.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [files::RULES, system::RULES, packages::RULES, tools::RULES].into_iter().flatten()
}

/// The rule of a program.
pub(super) fn rule(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.names.contains(&name))
}

/// Where the command inside of another one begins, if there is one.
pub(super) fn inner(argv: &[String]) -> Option<usize> {
    (argv.first()? == "timeout").then(|| custom::inner(argv)).flatten()
}

/// Programs that descend into folders.
pub(super) fn walks(name: &str) -> bool {
    matches!(name, "find" | "tree" | "du" | "grep" | "rg" | "ag" | "ls" | "diff")
}
