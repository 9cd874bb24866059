//! Errors: a number, a full sentence, and what to do next. Numbers 9500 to 9599 are this command line's;
//! others come through from the libraries and the server under their own numbers.

use crate::next;
use zx1_cli_common::{Exit, files};
use zx1_home::config::Unfit;
use zx1_principal::Refusal;

const PROGRAM: &str = "fix";
const KEY_FILE: &str = "key file";
const KEY_OPTION: &str = "--key";
const KEY_NAME: &str = "key.ed25519";
const OTHER_KEY: &str = "restore the file, or give another one with --key";

zx1_cli_common::catalogue! {
    Usage 9500, NeedsYes 9501, ClosedPipe 9504, WriteFailed 9505, ReadFailed 9506, Exists 9507,
    NeedsTerminal 9509, KeyMissing 9510, KeyIsFolder 9511, KeyNotJson 9512, KeyWrongLength 9513,
    KeyHalvesDiffer 9514, KeyUnknownForm 9515, RandomFailed 9518, InputTooLarge 9519,
    ConfigMalformed 9520, CannotExecute 9568;

    // The command line itself.
    9502 Failure Declined "Nothing was done: you declined." => "run it again and answer y";
    9503 Interrupted Interrupted "Stopped by Ctrl+C." => "fix contracts lists what is still running";
    9508 Failure NoHome "There is no home folder: neither FIX_HOME nor HOME is set." =>
        "export FIX_HOME=/a/folder";

    // Keys (decision A1).
    9516 Failure KeyExists { path: String } "There is a key in {path} already, and fix overwrites no key." =>
        "use it as it is, or make another one with --key another.key";
    9517 Failure KeyNotAFile { path: String }
        "{path} names a hardware wallet or a prompt, and fix signs with key files only." =>
        "name a key file with --key";

    // Settings.
    9521 Usage BadUrl { url: String, source: String } "invalid market address '{url}' ({source})." =>
        "give one like http://127.0.0.1:8000 with --server, or in FIX_SERVER";
    9522 Usage BadAmount { text: String, why: String } "invalid amount of XNO '{text}': {why}." =>
        "give a decimal like 0.5";
    9523 Usage NotHere { option: String }
        "{option} goes with a command that is to be fixed, not with a command of fix itself." =>
        "fix --help";
    9524 Usage BadWord { what: &'static str, text: String, known: String }
        "invalid {what} '{text}': expected one of {known}." => "fix payout --help";

    9525 Usage NoProgram { word: String, meant: String } "There is no program '{word}'.{meant}" =>
        "fix --help lists the commands of fix; put run -- before a command that shares its name with one";
    9526 Usage BadSetting { setting: String, value: String, source: String, allowed: String }
        "invalid value '{value}' for {setting} ({source}): expected {allowed}." => "fix config shows all settings";
    9527 Usage NoSetting { name: String } "Unknown setting '{name}'." => "fix config shows all settings";
    9528 Failure Unhealthy { failed: usize } "{failed} of these checks failed." =>
        "do what stands beside each of them, and run fix doctor again";

    9529 Usage NoAgentId "A node of the mesh belongs to an agent id, and none is named." =>
        "give the mint with --agent-id, or set zx1.agent with fix config";

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
}

pub use zx1_cli_common::errors::reason;

impl Error {
    /// A setting's value that it does not accept.
    pub fn unfit(unfit: Unfit) -> Self {
        let Unfit { name, allowed, value, from } = unfit;
        Self::BadSetting {
            setting: name.to_owned(),
            value,
            source: from.to_string(),
            allowed: allowed.to_owned(),
        }
    }
}

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
            Session::Market(error) => Self::of(&**error, next::after_call(error)),
            Session::Rules(error) => Self::of(error, next::after_error(error)),
            Session::Envelope(error) => Self::of(&**error, next::after_envelope(error)),
            Session::Sandbox(error) => Self::of(error, next::after_error(error)),
            Session::Rule(error) => Self::of(error, next::after_error(error)),
            Session::Name(error) => Self::of(error, next::after_error(error)),
            Session::Model(error) => Self::of(error, next::after_error(error)),
            Session::Budget(error) => Self::of(error, next::after_error(error)),
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
    fn numbers_are_unique_and_messages_are_sentences_that_lead_on() {
        let faults = zx1_cli_common::errors::catalogue_faults(Error::ALL, Error::TEXTS, 9500..9600);
        assert_eq!(faults, Vec::<String>::new());
    }
}
