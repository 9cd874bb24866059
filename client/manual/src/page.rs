//! Manual pages, one a command.

use clap::Command;

/// A command tree as manual pages are made from it.
#[must_use]
pub fn built(command: Command) -> Command {
    let mut root = shown(command.disable_help_flag(true));
    root.build();
    root
}

/// A page has room for what the short help leaves out.
fn shown(command: Command) -> Command {
    command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(shown)
}

/// The page of the command that `path` leads to; `None` when there is none.
pub fn page(root: &Command, path: &[String]) -> Option<Vec<u8>> {
    path.iter().try_fold(root, |at, name| at.find_subcommand(name)).map(render)
}

/// The pages of all commands, by their file names.
#[must_use]
pub fn pages(root: &Command) -> Vec<(String, Vec<u8>)> {
    let own = (format!("{}.1", name(root)), render(root));
    // Below `help` stand the names of all other commands.
    let is_shown = |child: &&Command| !child.is_hide_set() && root.get_name() != "help";
    std::iter::once(own).chain(root.get_subcommands().filter(is_shown).flat_map(pages)).collect()
}

fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn render(command: &Command) -> Vec<u8> {
    let mut page = Vec::new();
    let usage = usage(command);
    let named = command.clone().name(name(command));
    // A Vec takes every byte.
    let _ = clap_mangen::Man::new(named).render(&mut page);
    match usage {
        Some(usage) => with_synopsis(&String::from_utf8_lossy(&page), &usage).into_bytes(),
        None => page,
    }
}

/// The usage of a command that has more than one, which the generated synopsis does not know.
fn usage(command: &Command) -> Option<Vec<String>> {
    let text = command.clone().render_usage().to_string();
    let text = text.trim_start_matches("Usage:");
    let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    (lines.len() > 1).then_some(lines)
}

/// The page with these lines in place of its synopsis.
fn with_synopsis(page: &str, usage: &[String]) -> String {
    const HEAD: &str = ".SH SYNOPSIS\n";
    let Some((before, rest)) = page.split_once(HEAD) else { return page.to_owned() };
    let after = rest.find("\n.SH ").and_then(|end| rest.get(end.saturating_add(1)..)).unwrap_or_default();
    let lines: Vec<String> = usage.iter().map(|line| line.replace('-', "\\-")).collect();
    format!("{before}{HEAD}{}\n{after}", lines.join("\n.br\n"))
}
