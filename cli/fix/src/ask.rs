//! What is shown before anything leaves the machine, and questions in words, wrapped to the terminal.

use crate::screen::Screen;
use std::path::Path;
use zx1_cli_common::files;
use zx1_cli_common::output::{self, wrap};
use zx1_cli_common::words::{count, plain};
use zx1_market::contract::Corrected;
use zx1_model::Spend;
use zx1_model::budget::Caps;
use zx1_principal::{Payload, Prompt, Question};

/// The word that sends a command which was not found.
pub const SEND: &str = "send";

/// The screen before the first send.
pub fn payload(screen: Screen, heading: &str, payload: &Payload, last: &[Option<String>]) {
    if screen.is_json() {
        return;
    }
    screen.heading(heading);
    screen.block(&format!("$ {}\n{}", payload.command, payload.error), 24);
    let e = &payload.environment;
    let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join(" ") };
    let shell = if e.shell.is_empty() { "none" } else { &e.shell };
    let mut lines = vec![
        format!("system    {} {}, {}; shell: {}", e.os, e.arch, e.distro, shell),
        format!("packages  {}", list(&e.package_managers)),
        format!(
            "allowed   network: {}; sudo: {}; replacing your command: {}",
            list(&payload.hosts),
            if payload.capabilities.sudo { "yes" } else { "no" },
            match payload.corrected {
                Corrected::Yes => "yes",
                Corrected::Asks => "asks you first",
                Corrected::No => "no",
            }
        ),
    ];
    if !payload.inputs.is_empty() {
        let named = payload.inputs.iter();
        let named: Vec<_> =
            named.map(|input| format!("{} ({} bytes)", input.path, input.content.len())).collect();
        lines.push(format!("files     {}", named.join(", ")));
    }
    lines.extend(payload.expect.as_ref().map(|pattern| format!("expected  {pattern}")));
    lines.push(match payload.redacted.len() {
        0 => "secrets   none found".to_owned(),
        found => format!("secrets   {found} removed: {}", payload.redactions()),
    });
    lines.extend(last.iter().flatten().cloned());
    screen.raw("\n");
    // What goes on stands behind its label.
    let room = output::width().saturating_sub(12);
    let wrapped = |line: &String| {
        let (label, text) = line.split_at_checked(10).unwrap_or((line.as_str(), ""));
        format!("{label}{}", wrap(&plain(text), room).join("\n          "))
    };
    screen.block(&lines.iter().map(wrapped).collect::<Vec<_>>().join("\n"), usize::MAX);
    screen.raw("\n");
}

/// What a day has cost so far, and what it may.
pub fn budget(spent: Spend, caps: Caps) -> String {
    let usd = |micro: u64| {
        let cents = micro.div_ceil(10_000);
        format!("{}.{:02}", cents / 100, cents % 100)
    };
    let (spent_usd, usd) = (usd(spent.micro_usd), usd(caps.micro_usd));
    format!("today {spent_usd} of {usd} USD, {} of {} tokens", spent.tokens, caps.tokens)
}

/// A question in words. `yes`: consent was given beforehand, which does not cover everything.
pub fn question(question: &Question, yes: bool) -> String {
    let changed = |files: &usize| match files {
        0 => "It changes no file.".to_owned(),
        some => format!("It changes {}.", count(*some, "file", "files")),
    };
    let text = match question {
        Question::Send => "Send this?".to_owned(),
        Question::SendToModel { model, url } => {
            format!("Send this to {model} at {url}? A yes holds for later failures, too.")
        }
        Question::SendNotFound => {
            format!(
                "The command was not found, which is often a typing error; --yes does not cover it. Type {SEND} to \
                 send it all the same:"
            )
        }
        Question::GoOn(id) => {
            format!("Contract {id} for this command is still under way. Go on with it?")
        }
        Question::ApplyPaid(id) => {
            format!("Contract {id} for this command is fulfilled, and its fix is not applied yet. Apply it?")
        }
        Question::Apply { files } => format!("{} Apply the fix?", changed(files)),
        Question::Correct { files, line, from_outside } => {
            let note = if *from_outside && yes { " --yes does not cover it." } else { "" };
            format!("{} Run {line} instead?{note}", changed(files))
        }
        Question::RunUnproven { line, lack } => {
            let note = if yes { " --yes does not cover it." } else { "" };
            format!("{line} could not be tested without {lack}; run it?{note}")
        }
        Question::Allow { what, paths } => {
            let lines: String = paths.iter().map(|path| line_of(path)).collect();
            format!("The fix changes {what}:\n{lines}Allow this? --yes does not cover it.")
        }
        Question::SendOutput => "Send this output to the agent? --yes does not cover it.".to_owned(),
        Question::Satisfied => "Is this what you wanted?".to_owned(),
        Question::BadFaith => "Did the agent act in bad faith? Take it to the court?".to_owned(),
        Question::Appeal { court, fee } => {
            format!("Appeal to the {court} court? Losing there costs {} XNO.", fee.xno())
        }
        other => format!("{other:?}?"),
    };
    on_screen(&text)
}

/// The text of a prompt, with a space after it.
pub fn words_of(prompt: &Prompt) -> String {
    let text = match prompt {
        Prompt::Why => "Why not? The agent reads it (Enter: nothing to add):".to_owned(),
        Prompt::Response => "Your answer to the court (30 s; Enter: none):".to_owned(),
        Prompt::Argument => "Your argument:".to_owned(),
        Prompt::ReplyToModel => "Your answer (Enter: none):".to_owned(),
        Prompt::Reply(id) => format!("Your answer (Enter: none; fix chat {id} answers later):"),
        other => format!("{other:?}:"),
    };
    format!("{} ", on_screen(&text))
}

/// A question for a person, wrapped at blanks: terminals break words.
fn on_screen(text: &str) -> String {
    let width = output::width().saturating_sub(" [y/N] y".len());
    let wrapped = |line: &str| match line.starts_with(' ') {
        // A path is named as it is.
        true => line.to_owned(),
        false => wrap(line, width).join("\n"),
    };
    plain(text).lines().map(wrapped).collect::<Vec<_>>().join("\n")
}

/// A path as a line of a question. A name with a line break in it stays one line.
pub fn line_of(path: &Path) -> String {
    format!("  {}\n", files::shown(path).replace('\n', "\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_question_is_one_line() {
        assert_eq!(line_of(Path::new("/a\nAllow this? ")), "  /a\u{fffd}Allow this? \n");
    }
}
