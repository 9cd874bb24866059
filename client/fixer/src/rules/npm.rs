//! npm's own command line.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::probe::Probe;
use super::text::{self, RelPath};

pub(crate) fn script_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let npm = case.only(&["npm", "yarn", "pnpm"])?;
    let found = case.find(regex!(r#"(?m)^npm (?:error|ERR!) [Mm]issing script: "?([^"\n]+)"?$"#))?;
    let typed = found.get(1).mine()?.as_str();
    mine(npm.arg_texts().next().is_some_and(|word| matches!(word, "run" | "run-script")))?;
    npm.arg(typed).mine()?;
    let text = probe.raw(&RelPath::parse("package.json").mine()?)?;
    let json: serde_json::Value =
        serde_json::from_str(text).ok().or_decline("package.json cannot be read as JSON")?;
    let scripts =
        json.get("scripts").and_then(|value| value.as_object()).or_decline("package.json has no scripts")?;
    let meant = text::meant(typed, scripts.keys().map(String::as_str)).and_then(text::name);
    let meant = meant.or_decline("no single script has a name like it")?;
    case.correct_word(npm, typed, meant, format!("package.json has no script {typed}, but it has {meant}."))
}

pub(crate) fn command_typo(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let npm = case.only(&["npm"])?;
    let found = case.find(regex!(r#"(?m)^Unknown command: "([\w-]+)"$"#))?;
    let typed = found.get(1).mine()?.as_str();
    mine(npm.arg_texts().next() == Some(typed))?;
    // Nothing that publishes, removes or signs in stands here.
    let known =
        ["install", "run", "test", "start", "init", "list", "outdated", "audit", "version", "view", "pack"];
    let meant =
        text::meant(typed, known).ok_or_else(|| Halt::decline("no single command has a name like it"))?;
    case.correct_word(npm, typed, meant, format!("npm has no command {typed}; {meant} was meant."))
}
