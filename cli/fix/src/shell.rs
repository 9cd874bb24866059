//! Command lines as a shell writes them.

use std::ffi::OsStr;

/// Whether a word needs no quotes.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./=:,+@%^".contains(&byte))
}

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &str) -> String {
    if is_plain(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Words as one command line. `None` when a word is not UTF-8, which no contract can hold.
pub fn line<S: AsRef<OsStr>>(words: &[S]) -> Option<String> {
    let words: Option<Vec<String>> = words.iter().map(|word| Some(quoted(word.as_ref().to_str()?))).collect();
    Some(words?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_a_shell_as_they_were() {
        let words =
            ["printf", "%s|", "plain", "", "two words", "it's", "$HOME", "a\nb", "*", "~", "a;b", "\\"];
        let output = std::process::Command::new("sh").arg("-c").arg(line(&words).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), words[2..].join("|") + "|");
    }

    #[test]
    fn a_usual_command_stays_readable() {
        assert_eq!(line(&["gcc", "-O2", "m.c", "-o", "m"]).unwrap(), "gcc -O2 m.c -o m");
    }
}
