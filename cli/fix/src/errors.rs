//! Errors: a number, a full sentence, and what to do next. Numbers 9500 to 9599 are this command line's;
//! others come through from the libraries and the server under their own numbers.

use crate::next;
use zx1_cli_common::{Exit, files};
use zx1_principal::Refusal;

zx1_cli_common::catalogue! {
    // The command line itself.
    9500 Usage Usage { message: String } "{message}" => "fix --help";
    9501 Failure NeedsYes "This needs your consent, and standard input is not a terminal." =>
        "run it in a terminal, or add --yes";
    9502 Failure Declined "Nothing was done: you declined." => "run it again and answer y";
    9503 Interrupted Interrupted "Stopped by Ctrl+C." => "fix contracts lists what is still running";
    9504 Failure ClosedPipe "Standard output is closed." => "";
    9505 Failure WriteFailed { path: String, why: String } "{path} cannot be written: {why}." =>
        "check the folder's permissions and the free space";
    9506 Failure ReadFailed { path: String, why: String } "{path} cannot be read: {why}." =>
        "check the path and its permissions";
    9507 Failure Exists { path: String } "{path} already exists, and fix overwrites nothing." =>
        "move it away, or name another path";
    9508 Failure NoHome "There is no home folder: neither FIX_HOME nor HOME is set." =>
        "export FIX_HOME=/a/folder";
    9509 Failure NeedsTerminal { what: String } "{what} has to be typed in a terminal." =>
        "run it in a terminal";

    // Keys (decision A1).
    9510 Failure KeyMissing { path: String } "There is no key file {path}." =>
        "fix init, or name another file with --key";
    9511 Failure KeyIsFolder { path: String } "{path} is a folder, not a key file." =>
        "name the file in it, for example {path}/key.ed25519";
    9512 Failure KeyNotJson { path: String, why: String }
        "The key file {path} is not a JSON array of 64 numbers: {why}." => "name another file with --key";
    9513 Failure KeyWrongLength { path: String, found: usize }
        "The key file {path} has {found} numbers, and a keypair has 64." => "name another file with --key";
    9514 Failure KeyHalvesDiffer { path: String }
        "The public half in {path} is not the one of its secret half, so the file is damaged." =>
        "restore the file, or name another one with --key";
    9515 Failure KeyUnknownForm { path: String, found: u64 }
        "{path} ({found} bytes) is not a key file: expected a JSON array of 64 numbers, 32 raw bytes, or 64 \
         hexadecimal digits." =>
        "name another file with --key, or make a key with fix init";
    9516 Failure KeyExists { path: String } "There is a key in {path} already, and fix overwrites no key." =>
        "use it as it is, or make another one with --key another.key";
    9517 Failure KeyNotAFile { path: String }
        "{path} names a hardware wallet or a prompt, and fix signs with key files only." =>
        "name a key file with --key";
    9518 Failure RandomFailed { why: String } "The system gave no random bytes: {why}." => "try again";
    9519 Failure InputTooLarge { what: String, size: u64, limit: u64 }
        "{what} has {size} bytes, and at most {limit} are read." => "check that this is the right file";

    // Settings.
    9520 Failure ConfigMalformed { path: String, why: String }
        "The configuration {path} does not parse: {why}." =>
        "correct the file, or move it away and run fix init";
    9521 Usage BadUrl { url: String, source: String } "invalid market address '{url}' ({source})." =>
        "give one like http://127.0.0.1:8000 with --server, or in FIX_SERVER";
    9522 Usage BadAmount { text: String, why: String } "invalid amount of XNO '{text}': {why}." =>
        "give a decimal like 0.5";
    9523 Usage NotHere { option: String }
        "{option} goes with a command that is to be fixed, not with a command of fix itself." =>
        "fix --help";
    9524 Usage BadWord { what: &'static str, text: String, known: String }
        "invalid {what} '{text}': expected one of {known}." => "fix payout --help";

    // Offline commands.
    9530 Failure NotSound { file: String, why: String } "{file} does not verify: {why}" =>
        "ask the server for it again with fix show, and keep this file as evidence";
    9531 Failure NoTranscript { file: String, why: String } "{file} is not a transcript: {why}" =>
        "give a file that fix saved, or the answer of GET /contracts/ID";

    // The failing command.
    9542 Failure NoFolder { why: String } "The working folder cannot be found: {why}." =>
        "change to a folder that exists";
    9543 Failure NoHook "No failed command is known in this shell." =>
        "eval \"$(fix hook bash)\" in ~/.bashrc (or zsh; fish: fix hook fish | source), then try again";

    // The market.
    9557 Failure BadId { text: String } "invalid contract id '{text}'." =>
        "give its 16 hexadecimal digits; fix contracts lists them";

    // Wallet and agent.
    9568 Failure CannotExecute { program: String, why: String }
        "The program {program} is needed for this and cannot be executed: {why}." =>
        "install {program} beside fix, or in a folder of PATH";
}

pub use zx1_cli_common::errors::reason;

/// Lets a library's error through under its own number, with what helps.
macro_rules! foreign {
    ($($error:ty => $after:expr),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::of(&error, $after(&error))
            }
        }
    )*};
}

foreign!(
    zx1_market::Refusal => next::after_error,
    zx1_whitelist::Refusal => next::after_error,
    zx1_sandbox::SandboxError => next::after_error,
    zx1_fixer::rules::Decline => next::after_error,
    zx1_model::budget::BudgetError => next::after_error,
    zx1_agent::worker::WorkError => next::after_work,
    zx1_agent::bridge::BridgeError => next::after_envelope,
    zx1_market_client::ClientError => next::after_call,
    nano_escrow::journal::JournalError => next::after_error,
    nano_escrow::escrow::EscrowError => next::after_error,
);

impl From<zx1_principal::Error> for Failure {
    fn from(error: zx1_principal::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&zx1_principal::Error> for Failure {
    fn from(error: &zx1_principal::Error) -> Self {
        use zx1_principal::Error as Session;
        match error {
            Session::Refused(refusal) => refusal.clone().into(),
            Session::Declined => Error::Declined.into(),
            Session::Interrupted => Error::Interrupted.into(),
            Session::Stopped(stopped) => Self::from(Error::Interrupted).next(next::after_stop(stopped)),
            Session::Market(error) => Self::of(error, next::after_call(error)),
            Session::Rules(error) => Self::of(error, next::after_error(error)),
            Session::Envelope(error) => Self::of(error, next::after_envelope(error)),
            Session::Sandbox(error) => Self::of(error, next::after_error(error)),
            Session::Rule(error) => Self::of(error, next::after_error(error)),
            Session::Wallet(error) => Self::of(error, next::after_error(error)),
            Session::Journal(error) => Self::of(error, next::after_error(error)),
            Session::Read { path, source } => files::unread(source, &files::shown(path)).into(),
            Session::Write { path, source } => files::write_failed(path, source).into(),
            // Unattended.
            _ => Error::NeedsYes.into(),
        }
    }
}

impl From<zx1_model::NameError> for Failure {
    fn from(error: zx1_model::NameError) -> Self {
        Self { exit: Exit::Usage, ..Self::of(&error, next::after_error(&error)) }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let mut failure = Self::of(&refusal, next::after_refusal(&refusal));
        if let Refusal::BadNetwork { .. } | Refusal::NoRepresentative { .. } | Refusal::BadAddress { .. } =
            refusal
        {
            failure.exit = Exit::Usage;
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_messages_are_sentences_that_lead_on() {
        let faults = zx1_cli_common::errors::catalogue_faults(Error::ALL, Error::TEXTS, 9500..9600);
        assert_eq!(faults, Vec::<String>::new());
    }
}
