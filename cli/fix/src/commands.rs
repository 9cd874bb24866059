//! One module a command. Each has `Args` (what is typed) and `run` (what it does with the context).

pub mod agent;
pub mod chat;
pub mod check_command;
pub mod completions;
pub mod contract;
pub mod hook;
pub mod init;
pub mod it;
pub mod judge;
pub mod man;
pub mod payout;
pub mod run;
pub mod scrub;
pub mod serve;
pub mod undo;
pub mod verify;
pub mod wallet;

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::flags::Fixing;
use clap::Subcommand;
use contract::Act;
use std::ffi::OsString;
use std::process::ExitCode;

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a command, and have it fixed if it fails
    ///
    /// The same as fix COMMAND, also for commands that are named like one of fix's own. Put -- before the
    /// command.
    #[command(after_long_help = run::EXAMPLES)]
    Run(run::Args),
    /// Fix the command that just failed in this shell
    ///
    /// The shell's hook remembers it (fix hook). It is run again in the sandbox to see its output: your
    /// files stay as they are.
    #[command(after_long_help = it::EXAMPLES)]
    It(it::Args),
    /// Print the lines that let a shell remember its last failed command
    ///
    /// The hook starts no process: it writes two lines with the shell's own words, and only after a command
    /// that failed.
    #[command(after_long_help = hook::EXAMPLES)]
    Hook(hook::Args),
    /// Make your key
    ///
    /// Makes the key that signs what you post, in a file that only you can read, or takes one that you have.
    /// Nothing that is there is overwritten.
    #[command(after_long_help = init::EXAMPLES)]
    Init(init::Args),
    /// List contracts
    ///
    /// Yours that are under way, as the market and this machine know them.
    #[command(after_long_help = contract::LIST_EXAMPLES)]
    Contracts(contract::List),
    /// Show a contract: every entry, checked here
    ///
    /// Fetches the contract, checks every signature and every rule on this machine, saves the transcript and
    /// shows what it proves.
    #[command(after_long_help = contract::SHOW_EXAMPLES)]
    Show(contract::Show),
    /// Take back a contract that nobody has taken
    ///
    /// The whole deposit comes back.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Cancel(contract::Because),
    /// Stop a contract at once
    ///
    /// The emergency stop. After 30 seconds a judge decides, unless it is resumed; a free contract ends.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Halt(contract::Because),
    /// Take a halt back, or go on with a contract
    ///
    /// Goes on where fix was stopped: by Ctrl+C, by a crash, or by a halt.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Resume(contract::Because),
    /// Leave a contract
    ///
    /// Free for 30 seconds after it was taken and before the first fix; later it costs 20 % of the bounty.
    #[command(name = "back-out", after_long_help = contract::ACT_EXAMPLES)]
    BackOut(contract::Because),
    /// Take a contract to the court
    ///
    /// The other side has 30 seconds to answer, then a judge runs the fix again and rules.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Dispute(contract::Argue),
    /// Answer a dispute
    ///
    /// The judge reads both arguments beside the transcript.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Respond(contract::Argue),
    /// Appeal a ruling
    ///
    /// The next court decides again; who loses there pays its fee. The supreme court is final.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Appeal(contract::Argue),
    /// Accept a ruling at once
    ///
    /// Without it the loser has 120 seconds to appeal, and nothing is paid before.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Waive(contract::Show),
    /// Accept, reject or dispute a fix that waits for review
    ///
    /// In autonomous mode a fix waits for your review; silence accepts it.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Review(contract::Review),
    /// Talk with the other side of a contract
    ///
    /// Shows what was said and sends a line: an answer, when the agent has asked. Secrets are removed first.
    #[command(after_long_help = chat::EXAMPLES)]
    Chat(chat::Args),
    /// Send, receive and look at your Nano
    ///
    /// The wallet keeps a journal: what was decided is paid exactly once, whatever crashes. Its keys come
    /// from your one key.
    #[command(after_long_help = wallet::EXAMPLES)]
    Wallet(wallet::Args),
    /// Work as an agent: fix other people's commands for money
    ///
    /// Finds contracts, looks through harmless commands, proposes fixes, and is paid for those that work.
    #[command(after_long_help = agent::EXAMPLES)]
    Agent(agent::Args),
    /// Serve a market
    ///
    /// Relays signed chains, keeps the time, holds the escrow. With the embedded ledger nothing else is
    /// needed.
    #[command(after_long_help = serve::EXAMPLES)]
    Serve(serve::Args),
    /// Work as a judge of a market
    ///
    /// Runs disputed fixes again, reads the transcript, rules. The market must name this judge's key.
    #[command(after_long_help = judge::EXAMPLES)]
    Judge(judge::Args),
    /// Check a transcript, offline
    ///
    /// Checks every signature, every link and every rule of the market over a saved transcript, without
    /// asking anybody.
    #[command(after_long_help = verify::EXAMPLES)]
    Verify(verify::Args),
    /// Take back what a fix changed
    ///
    /// Restores the files of an applied fix byte for byte: the last one in this folder, or the one that is
    /// named. It refuses when the files were changed since.
    #[command(after_long_help = undo::EXAMPLES)]
    Undo(undo::Args),
    /// Remove secrets from standard input
    ///
    /// Writes to standard output what would leave your machine: secrets are replaced by [REDACTED:category].
    #[command(after_long_help = scrub::EXAMPLES)]
    Scrub(scrub::Args),
    /// Tell whether an agent may run a command here
    ///
    /// Exit code 0 when it may, 1 with the reason when not. Nothing is run.
    #[command(name = "check-command", after_long_help = check_command::EXAMPLES)]
    CheckCommand(check_command::Args),
    /// Show who is paid what for an outcome
    ///
    /// The money table: both sides have deposited the bounty and the judge's fee, and every row sums to what
    /// was deposited.
    #[command(after_long_help = payout::EXAMPLES)]
    Payout(payout::Args),
    /// Print completions for a shell
    ///
    /// Prints a script with which the shell completes fix's commands and options.
    #[command(after_long_help = completions::EXAMPLES)]
    Completions(completions::Args),
    /// Write man pages
    ///
    /// Writes one page a command into a folder, or prints one.
    #[command(after_long_help = man::EXAMPLES)]
    Man(man::Args),
    /// Any other word begins the command that is to be run.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// Runs a command. The exit code is the fixed command's own, or that of a command of fix that is
/// done. `tree` makes the whole command line, for manual pages and completions.
pub fn run(
    command: Command,
    fixing: Fixing,
    tree: fn() -> clap::Command,
    context: &Context,
) -> Result<ExitCode> {
    let command = match command {
        Command::Other(words) => return run::fix(words, fixing, context),
        Command::Run(args) => return run::run(args, fixing, context),
        Command::It(args) => return it::run(args, fixing, context),
        Command::Resume(args) => return contract::resume(args, context),
        own => own,
    };
    if let Some(option) = fixing.given() {
        return Err(Error::NotHere { option: option.to_owned() }.into());
    }
    match command {
        Command::Hook(args) => hook::run(args, context),
        Command::Init(args) => init::run(args, context),
        Command::Contracts(args) => contract::list(args, context),
        Command::Show(args) => contract::show(args, context),
        Command::Cancel(args) => contract::because(args, Act::Cancel, context),
        Command::Halt(args) => contract::because(args, Act::Halt, context),
        Command::BackOut(args) => contract::because(args, Act::BackOut, context),
        Command::Dispute(args) => contract::argue(args, Act::Dispute, context),
        Command::Respond(args) => contract::argue(args, Act::Respond, context),
        Command::Appeal(args) => contract::argue(args, Act::Appeal, context),
        Command::Waive(args) => contract::waive(args, context),
        Command::Review(args) => contract::review(args, context),
        Command::Chat(args) => chat::run(args, context),
        Command::Wallet(args) => wallet::run(args, context),
        Command::Agent(args) => agent::run(args, context),
        Command::Serve(args) => serve::run(args, context),
        Command::Judge(args) => judge::run(args, context),
        Command::Verify(args) => verify::run(args, context),
        Command::Undo(args) => undo::run(args, context),
        Command::Scrub(args) => scrub::run(args, context),
        Command::CheckCommand(args) => check_command::run(args, context),
        Command::Payout(args) => payout::run(args, context),
        Command::Completions(args) => completions::run(args, tree()),
        Command::Man(args) => man::run(args, tree(), context),
        Command::Run(_) | Command::It(_) | Command::Resume(_) | Command::Other(_) => Ok(()),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Logs to standard error; FIX_LOG says which.
fn logs(default: &str) {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_env("FIX_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    // Only the first one counts, and there is only one.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}

/// Ends with SIGINT or SIGTERM.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        // Without a handler of its own SIGTERM ends the process anyway.
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

/// Says that a service has come to its end.
fn stopped(context: &Context, text: &str) {
    context.screen(false).step("stopped", serde_json::json!({}), text);
}
