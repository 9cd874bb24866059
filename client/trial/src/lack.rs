//! What a command needs and a sandbox does not have: the network, and files that are hidden there.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::Ran;

/// What a sandbox lacks, as far as the command itself says so. Only where a person decides on it: a command can say
/// anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// No host can be reached.
    Network,
    /// Credentials and other files that the sandbox hides.
    HiddenFiles,
}

/// What programs say where there is no network, in small letters.
const NETWORK: &[&str] = &[
    "could not resolve",
    "couldn't resolve",
    "unable to resolve",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "name or service not known",
    "failed to lookup address",
    "no such host",
    "unknown host",
    "bad address",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "econnrefused",
    "enetunreach",
    "network is unreachable",
    "no route to host",
    "dial tcp",
    "connection refused",
    "was refused - did you specify",
    "failed to connect to",
    "could not connect",
    "couldn't connect",
    "unable to connect",
    "cannot connect to",
    "failed to establish a new connection",
];

/// What programs say without their credentials or settings, in small letters.
const HIDDEN: &[&str] = &[
    "permission denied (publickey",
    "host key verification failed",
    "could not read username",
    "could not read password",
    "unable to locate credentials",
    "could not find default credentials",
    "no configuration has been provided",
    "not logged in",
    "gh auth login",
    "authentication required",
    "identity file",
];

impl Lack {
    /// What explains that this run failed. `masked`: what is hidden for being a secret.
    pub(crate) fn of(ran: &Ran, masked: &[PathBuf]) -> Option<Lack> {
        if ran.run.limit.is_some() || ran.run.signal.is_some() || ran.run.exit == Some(0) {
            return None;
        }
        let output = ran.output();
        let lower = output.to_lowercase();
        let says = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
        if says(NETWORK) {
            return Some(Lack::Network);
        }
        (says(HIDDEN) || names_hidden(&output, masked)).then_some(Lack::HiddenFiles)
    }

    /// The word for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Lack::Network => "network",
            Lack::HiddenFiles => "hidden_files",
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Lack::Network => "network",
            Lack::HiddenFiles => "files that the sandbox hides",
        })
    }
}

/// Whether the output names a masked file, or misses one that is really there.
fn names_hidden(output: &str, masked: &[PathBuf]) -> bool {
    output.lines().any(|line| {
        let misses = line.to_lowercase().contains("no such file");
        line.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ':' | ',' | ';' | '(' | ')'))
            .map(|word| Path::new(word.trim_end_matches('.')))
            .filter(|path| path.is_absolute())
            .any(|path| masked.iter().any(|mask| path.starts_with(mask)) || (misses && path.exists()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_market::contract::Run;

    fn of(exit: i32, stderr: &str) -> Option<Lack> {
        let run = Run { exit: Some(exit), ..Run::default() };
        Lack::of(
            &Ran { run, stderr: stderr.to_owned(), ..Ran::default() },
            &[PathBuf::from("/home/u/.netrc")],
        )
    }

    #[test]
    fn what_programs_say_without_a_network_or_their_files_explains_the_failure() {
        for (text, lack) in [
            ("fatal: unable to access 'https://h/x.git/': Could not resolve host: h", Lack::Network),
            ("curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms", Lack::Network),
            ("ssh: Could not resolve hostname h: Name or service not known", Lack::Network),
            (
                "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
                Lack::Network,
            ),
            ("npm error code EAI_AGAIN", Lack::Network),
            ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", Lack::Network),
            ("git@h: Permission denied (publickey).", Lack::HiddenFiles),
            ("tool: cannot parse '/home/u/.netrc'", Lack::HiddenFiles),
            ("tool: open /etc/passwd: no such file or directory", Lack::HiddenFiles),
        ] {
            assert_eq!(of(1, text), Some(lack), "{text}");
        }
    }

    #[test]
    fn other_failures_are_not_explained() {
        for text in [
            "make: *** No rule to make target 'tset'.",
            "x.c:1: error",
            "open /none/x: no such file or directory",
            "",
        ] {
            assert_eq!(of(1, text), None, "{text}");
        }
        assert_eq!(of(0, "Could not resolve host: h"), None);
    }
}
