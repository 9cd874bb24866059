//! A port that something else listens on. Nothing is killed: another port is taken.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::Edit;
use super::probe::Probe;
use super::text::RelPath;

/// The message of many runtimes; the port stands in it with some of them.
fn taken(case: &Case<'_>) -> Try<Option<u16>> {
    let found = case.find(regex!(
        r"(?mi)address already in use(?:[^\n\d]*(?:\d+\.\d+\.\d+\.\d+|\[?::\]?|\*|",
        r"localhost)?:(\d{2,5})\b)?|bind: address already in use"
    ))?;
    let before = regex!(r"(?i)(?:listen tcp|bind)[^\n]*?:(\d{2,5}): bind: address already in use");
    let port = found.get(1).or_else(|| before.captures(&case.error).and_then(|found| found.get(1)));
    Ok(port.and_then(|port| port.as_str().parse().ok()))
}

/// The next port above that nothing listens on, as far as can be seen.
fn free_above(probe: &Probe<'_>, port: u16) -> Try<u16> {
    let used = probe.listening()?;
    (1..=100)
        .filter_map(|step| port.checked_add(step))
        .find(|next| !used.contains(next))
        .or_decline("no port near it is free")
}

/// Whether the command itself states the port, as `--port 80`, `-p 80`, `--port=80`, `PORT=80` or
/// `http.server 80`.
fn in_command<'c>(case: &'c Case<'_>, port: Option<u16>) -> Try<(&'c super::shell::Word, &'static str, u16)> {
    let simple = case.single()?;
    let words = simple.args();
    let number = |text: &str| text.parse::<u16>().ok().filter(|found| port.is_none_or(|port| port == *found));
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at)).map(|word| word.text.as_str());
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if let Some(value) = number(&word.text)
            && matches!(before(at), Some("--port" | "-p" | "--listen" | "http.server" | "-port"))
        {
            found.push((word, "", value));
        }
        if let Some(value) = word.text.strip_prefix("--port=").and_then(number) {
            found.push((word, "--port=", value));
        }
    }
    for word in &simple.assignments {
        if let Some(value) = word.text.strip_prefix("PORT=").and_then(number) {
            found.push((word, "PORT=", value));
        }
    }
    match found.as_slice() {
        [one] => Ok(*one),
        _ => Err(Halt::NotMine),
    }
}

pub(crate) fn command(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let port = taken(case)?;
    let (word, prefix, old) = in_command(case, port)?;
    let new = free_above(probe, old)?;
    Repair::command(
        case.with(&word.span, &format!("{prefix}{new}"))?,
        format!("Something listens on port {old}; {new} is free. Nothing is stopped."),
        78,
    )
}

/// Files where a program's port usually stands.
const CONFIGS: &[&str] = &[
    "config.json",
    "config.toml",
    "config.yaml",
    "config.yml",
    "config.ini",
    "settings.json",
    "settings.ini",
    "server.json",
    "server.conf",
    "app.ini",
    "app.toml",
];

pub(crate) fn config(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let port = taken(case)?;
    mine(matches!(in_command(case, port), Err(Halt::NotMine)))?;
    let files = probe.files(&RelPath::parse(".").mine()?)?;
    let known: Vec<&str> =
        CONFIGS.iter().copied().filter(|name| files.iter().any(|file| file == name)).collect();
    let [name] = known.as_slice() else {
        return Err(Halt::decline("it is not certain where the port is configured"));
    };
    let path = RelPath::parse(name).mine()?;
    let lines = probe.lines(&path)?;
    let setting = regex!(r#"^(\s*"?(?:[a-z_]*_)?port"?\s*[:=]\s*"?)(\d{2,5})("?\s*,?\s*)$"#);
    let places: Vec<(usize, u16)> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, setting.captures(line)?.get(2)?.as_str().parse().ok()?)))
        .filter(|(_, value)| port.is_none_or(|port| port == *value))
        .collect();
    let [(number, old)] = places.as_slice() else {
        return Err(Halt::decline(format!("{name} does not set exactly one port")));
    };
    let new = free_above(probe, *old)?;
    let mut edit = Edit::new(&path, &lines);
    let line = setting.replace(edit.line(*number)?, format!("${{1}}{new}${{3}}")).into_owned();
    edit.replace(*number, &line)?;
    edit.repair(format!("Something listens on port {old}; {name} says {new} now. Nothing is stopped."), 80)
}
