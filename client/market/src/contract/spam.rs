//! Spam: texts that obviously are not a failed command (fix.md, "Posting"; decision E2). Cautious: a real
//! failure must never count as spam, so only what no terminal prints is refused.

/// Phrases of advertisements. One alone proves nothing; two in a short command or error do.
const PHRASES: &[&str] = &[
    "buy now",
    "click here",
    "limited offer",
    "free crypto",
    "double your",
    "airdrop claim",
    "casino bonus",
    "make money fast",
    "cheap viagra",
    "seo service",
    "whatsapp +",
    "join our telegram",
];

/// Why the command or its error is obviously spam, if it is.
pub fn spam_reason(command: &str, error: &str) -> Option<&'static str> {
    if command.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Some("control characters in the command");
    }
    if !command.chars().any(char::is_alphanumeric) {
        return Some("a command without a letter");
    }
    let word = command.trim();
    let link = ["http://", "https://"].iter().any(|scheme| word.starts_with(scheme));
    if link && !word.contains(char::is_whitespace) {
        return Some("a link instead of a command");
    }
    if longest_run(command) > 256 {
        return Some("one character over and over");
    }
    let text = format!("{command}\n{error}").to_lowercase();
    let found = PHRASES.iter().filter(|phrase| text.contains(**phrase)).count();
    (found >= 2).then_some("advertising")
}

/// How often the most repeated character stands in a row.
fn longest_run(text: &str) -> usize {
    let (mut best, mut run, mut last) = (0, 0, None);
    for c in text.chars() {
        run = if Some(c) == last { run + 1 } else { 1 };
        last = Some(c);
        best = best.max(run);
    }
    best
}
