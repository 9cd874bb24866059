//! Refusals: a number, a full sentence, and what to do next. Numbers 9500 to 9599 are this command line's;
//! others come through from the libraries and the server under their own numbers.

use crate::next;

zx1_cli_common::catalogue! {
    // The command line itself.
    9500 Usage Usage { message: String } "{message}" => "fix --help";
    9501 Failure NeedsYes "This needs your consent, and standard input is no terminal to ask on." =>
        "run it in a terminal, or add --yes";
    9502 Failure Declined "Nothing was done: you said no." => "run it again and answer y";
    9503 Interrupted Interrupted "Stopped by Ctrl+C." => "fix contracts lists what is still running";
    9504 Failure ClosedPipe "Nobody reads standard output any more." => "";
    9505 Failure WriteFailed { path: String, why: String } "{path} cannot be written: {why}." =>
        "check the folder's permissions and the free space";
    9506 Failure ReadFailed { path: String, why: String } "{path} cannot be read: {why}." =>
        "check the path and its permissions";
    9507 Failure Exists { path: String } "{path} is there already, and fix overwrites nothing." =>
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
        "{path} ({found} bytes) is no key: neither a JSON array of 64 numbers, nor 32 raw bytes, nor 64 \
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
    9521 Usage BadUrl { url: String } "'{url}' is no market's address." =>
        "give one like http://127.0.0.1:8000 with --server, or in FIX_SERVER";
    9522 Usage BadAmount { text: String, why: String } "'{text}' is no amount of XNO: {why}." =>
        "give a decimal like 0.5";
    9523 Usage NotHere { option: String }
        "{option} goes with a command that is to be fixed, not with a command of fix itself." =>
        "fix --help";
    9524 Usage BadWord { what: &'static str, text: String, known: String }
        "'{text}' is no {what}. There are {known}." => "fix payout --help";

    // Offline commands.
    9530 Failure NotSound { file: String, why: String } "{file} is not sound: {why}" =>
        "ask the server for it again with fix show, and keep this file as evidence";
    9531 Failure NoTranscript { file: String, why: String } "{file} is no transcript: {why}" =>
        "give a file that fix saved, or the answer of GET /contracts/ID";
    9532 Failure NothingToUndo "fix has changed nothing here that could be undone." =>
        "fix undo --list shows all records";
    9533 Failure NoSuchRecord { id: String } "There is no undo record {id}." =>
        "fix undo --list shows all records";

    // The failing command.
    9540 Failure NotUtf8 "The command is not UTF-8, so no contract can hold it." =>
        "rename the file, or put the command into a script";
    9541 Failure CannotRun { program: String, why: String } "{program} cannot be run: {why}." =>
        "check the path and its permissions";
    9542 Failure NoFolder { why: String } "The working folder cannot be found: {why}." =>
        "change to a folder that exists";
    9543 Failure NoHook "No failed command is known in this shell." =>
        "eval \"$(fix hook bash)\" in ~/.bashrc (or zsh; fish: fix hook fish | source), then try again";
    9544 Failure Unfixed { why: String } "It is not fixed: {why}" => "read the error above";
    9545 Failure SecretExpected { found: String }
        "What --expect says holds a secret ({found}), and every agent reads it." =>
        "give an expression without it";
    9546 Failure InputOutside { path: String }
        "{path} is not below the folder in which the command failed." =>
        "attach files of this folder only";
    9547 Failure NotConsented { what: String }
        "Not applied: the fix changes {what}, and nobody agreed to that." =>
        "run it in a terminal to be asked; --yes never agrees to it";
    9548 Failure CommandNotAccepted { line: String }
        "Not applied: the fix puts {line} in place of your command, and nobody agreed to that." =>
        "run it in a terminal to be asked, or add --accept-corrected; --yes alone never agrees to it";
    9549 Failure TooManyPaths { count: usize, what: String }
        "Not applied: the fix changes {count} {what}, too many to be asked for unseen." =>
        "run the command again with --explain to be shown and asked for all of them";

    // The market.
    9550 Failure NoContract { what: String } "There is no contract {what} here." =>
        "fix contracts lists them";
    9551 Failure Ended { id: String, state: String } "Contract {id} has ended: it is {state}." =>
        "fix show {id}";
    9552 Failure NotOurs { id: String } "Contract {id} is none of yours." => "fix contracts lists yours";
    9553 Failure StateMalformed { path: String, why: String } "The record {path} does not parse: {why}." =>
        "move it away; the contract itself is safe on the server: fix contracts";
    9556 Failure OtherRun { id: String } "Another fix is at contract {id} right now." =>
        "wait for it, or stop it with Ctrl+C in its terminal";
    9557 Failure BadId { text: String } "'{text}' is no contract id." =>
        "give its 16 hexadecimal digits; fix contracts lists them";

    // Wallet and agent.
    9560 Failure NoNode "No Nano node is named, so the wallet cannot look at the ledger." =>
        "give --node URL and --network, or set them in config.toml under [wallet]";
    9561 Usage BadNetwork { text: String } "'{text}' is no Nano network: it is live, beta, dev or test." =>
        "name it with --network";
    9562 Usage NoRepresentative { network: String }
        "The wallet's first block on {network} needs a representative, and none is named." =>
        "give --representative ADDRESS, or set it in config.toml under [wallet]";
    9563 Usage BadModel { text: String, why: String } "'{text}' is no model: {why}." =>
        "give rules, openai:MODEL@URL, openrouter:MODEL, anthropic:MODEL or script:FILE";
    9565 Usage BadAddress { text: String, why: String } "'{text}' is no Nano address: {why}." =>
        "give an address that begins with nano_";
    9566 Failure NoCluster "There is an agent id, and no Solana cluster is named." =>
        "give --cluster URL, or set cluster in config.toml under [zx1]";
    9567 Failure TestClock { url: String }
        "FIX_TEST_CLOCK is set, and {url} is not on this machine: its clock must not say when you sign." =>
        "unset FIX_TEST_CLOCK; it is for tests of fix serve --test-clock";
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_messages_are_sentences_that_lead_on() {
        let faults = zx1_cli_common::errors::catalogue_faults(Error::ALL, Error::TEXTS, 9500..9600);
        assert_eq!(faults, Vec::<String>::new());
    }
}
