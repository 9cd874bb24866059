//! Whether a contract grants root rights of its own (`capabilities.sudo`).
//!
//! A fix runs with the rights of the command that failed. Whoever is root needs nothing more, and a sandbox,
//! the court's too, gives its root no other rights. So being root grants nothing: the capability means rights
//! beyond those, and only somebody's word gives them: `--allow-sudo`, or a command that asks for them itself.

/// Programs that run others with other rights.
const GIVERS: [&str; 5] = ["sudo", "doas", "su", "pkexec", "run0"];

/// Programs that run the program behind them.
const WRAPPERS: [&str; 11] =
    ["env", "time", "nice", "ionice", "nohup", "exec", "command", "timeout", "xargs", "stdbuf", "setsid"];

/// Whether a shell line names a program that gives root rights, where a program is named: first in a simple
/// command, behind assignments and wrappers, also in a line that is quoted (`sh -c 'sudo make'`). A quoted
/// text that merely looks so counts too: then the court leaves the contract to its model, which hurts nobody.
pub fn asks_for_root(line: &str) -> bool {
    const ENDS: [char; 13] = ['|', ';', '&', '(', ')', '`', '\n', '{', '}', '"', '\'', '$', '!'];
    line.split(ENDS).any(|part| program(part).is_some_and(|name| GIVERS.contains(&name)))
}

/// The program of one simple command, without its folder.
fn program(part: &str) -> Option<&str> {
    part.split_whitespace().find_map(|word| {
        let assignment = word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
        let number = word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 's' | 'm' | 'h'));
        let name = word.trim_start_matches('\\').rsplit('/').next().unwrap_or(word);
        let passes = assignment || number || word.starts_with('-') || WRAPPERS.contains(&name);
        (!passes).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_names_sudo_su_or_doas_asks_for_root() {
        for line in [
            "sudo make install",
            "make && sudo make install",
            "CC=gcc sudo -E make",
            "/usr/bin/sudo true",
            "\\sudo true",
            "doas pkg_add x",
            "su -c 'make install'",
            "sh -c 'sudo make'",
            "bash -c \"cd x; sudo make\"",
            "timeout -k 5 10 sudo make",
            "env A=1 nice -n 5 doas x",
            "yes | sudo apt install x",
            "echo $(sudo cat /etc/shadow)",
            "cat hosts | sudo tee /etc/hosts",
            "! sudo true",
        ] {
            assert!(asks_for_root(line), "{line}");
        }
    }

    #[test]
    fn what_only_mentions_it_does_not() {
        for line in [
            "make install",
            "apt install sudo",
            "man su",
            "grep -r sudo .",
            "./sudo.sh",
            "sudoku",
            "gcc su.c -o su",
            "ls /etc/sudoers",
            "",
        ] {
            assert!(!asks_for_root(line), "{line}");
        }
    }
}
