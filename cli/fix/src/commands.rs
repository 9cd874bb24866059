//! One module a command. Each has `Args` (what is typed) and `run` (what it does with the context).

pub mod agent;
pub mod chat;
pub mod check_command;
pub mod completions;
pub mod config;
pub mod contract;
pub mod doctor;
pub mod hook;
pub mod init;
pub mod it;
pub mod judge;
pub mod man;
pub mod payout;
pub mod run;
pub mod scrub;
pub mod serve;
pub mod status;
pub mod undo;
pub mod verify;
pub mod version;
pub mod wallet;

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::flags::Fixing;
use clap::Subcommand;
use std::ffi::OsString;
use std::process::ExitCode;
use zx1_market_client::Act;

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a command, and have it fixed if it fails
    ///
    /// Same as fix COMMAND, also for commands that share their name with one of fix's own. Put -- before the
    /// command.
    #[command(after_long_help = run::EXAMPLES)]
    Run(run::Args),
    /// Fix the command that just failed in this shell
    ///
    /// The shell hook (fix hook) records it. It is run again in the sandbox to capture its output; your files
    /// are not touched.
    #[command(after_long_help = it::EXAMPLES)]
    It(it::Args),
    /// Print the shell code that records the last failed command
    ///
    /// The hook starts no process: it uses built-in commands of the shell, and writes only after a command
    /// has failed.
    #[command(after_long_help = hook::EXAMPLES)]
    Hook(hook::Args),
    /// Set up your key, your language model and the market
    ///
    /// Creates the key that signs what you post, takes that of zx1, or imports one; an existing key is never
    /// overwritten. Asks once which language model of yours is asked when no rule knows a failure.
    #[command(after_long_help = init::EXAMPLES)]
    Init(init::Args),
    /// Show your key, your model and its budget, the market and your contracts
    ///
    /// Nothing is created. Whether everything works, and what to do if not: fix doctor.
    #[command(after_long_help = status::EXAMPLES)]
    Status(status::Args),
    /// Check whether fix works here, and what to do if not
    ///
    /// Checks the sandbox, the tools that failing commands use, your model and the market.
    #[command(after_long_help = doctor::EXAMPLES)]
    Doctor(doctor::Args),
    /// Show and change settings
    ///
    /// A setting comes from an option, the environment or config.toml, in this order.
    #[command(after_long_help = config::EXAMPLES)]
    Config(config::Args),
    /// List contracts
    ///
    /// Lists your contracts that are under way, as known to the market and to this machine.
    #[command(after_long_help = contract::LIST_EXAMPLES)]
    Contracts(contract::List),
    /// Show a contract and verify every entry
    ///
    /// Fetches the contract, verifies every signature and every rule on this machine, saves the transcript
    /// and shows what it proves.
    #[command(after_long_help = contract::SHOW_EXAMPLES)]
    Show(contract::Show),
    /// Cancel a contract that no agent has taken
    ///
    /// The whole deposit is returned.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Cancel(contract::Because),
    /// Halt a contract immediately
    ///
    /// Emergency stop. After 30 seconds a judge decides, unless the contract is resumed; a free contract ends.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Halt(contract::Because),
    /// Resume a contract
    ///
    /// Continues where fix was stopped by Ctrl+C, a crash or a halt.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Resume(contract::Because),
    /// Back out of a contract
    ///
    /// Free for 30 seconds after an agent has taken it, before the first fix; later it costs 20 % of the
    /// bounty.
    #[command(name = "back-out", after_long_help = contract::ACT_EXAMPLES)]
    BackOut(contract::Because),
    /// Dispute a contract in court
    ///
    /// The other side has 30 seconds to answer; then a judge runs the fix again and rules.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Dispute(contract::Argue),
    /// Answer a dispute
    ///
    /// The judge reads both arguments together with the transcript.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Respond(contract::Argue),
    /// Appeal a ruling
    ///
    /// The next court decides again; whoever loses there pays its fee. The supreme court's ruling is final.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Appeal(contract::Argue),
    /// Accept a ruling without appeal
    ///
    /// Otherwise the loser has 120 seconds to appeal, and nothing is paid until then.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Waive(contract::Show),
    /// Accept, reject or dispute a fix under review
    ///
    /// In autonomous mode a fix waits for your review; without one it is accepted.
    #[command(after_long_help = contract::ACT_EXAMPLES)]
    Review(contract::Review),
    /// Chat with the other side of a contract
    ///
    /// Shows the conversation and sends a message, which answers the agent's question if there is one.
    /// Secrets are removed first.
    #[command(after_long_help = chat::EXAMPLES)]
    Chat(chat::Args),
    /// Show, send and receive your Nano
    ///
    /// The wallet keeps a journal: a payment is made exactly once, even across crashes. Its keys are derived
    /// from your key.
    #[command(after_long_help = wallet::EXAMPLES)]
    Wallet(wallet::Args),
    /// Run an agent that fixes other people's commands for money
    ///
    /// Finds contracts, investigates with read-only commands, proposes fixes, and is paid for those that work.
    #[command(after_long_help = agent::EXAMPLES)]
    Agent(agent::Args),
    /// Run a market server
    ///
    /// Relays signed transcripts, keeps time and holds the escrow. With the embedded ledger nothing else is
    /// needed.
    #[command(after_long_help = serve::EXAMPLES)]
    Serve(serve::Args),
    /// Run a judge of a market
    ///
    /// Runs disputed fixes again, reads the transcript and rules. The market must list the judge's key.
    #[command(after_long_help = judge::EXAMPLES)]
    Judge(judge::Args),
    /// Verify a transcript offline
    ///
    /// Verifies every signature, every link and every rule of the market in a saved transcript, without
    /// network access.
    #[command(after_long_help = verify::EXAMPLES)]
    Verify(verify::Args),
    /// Undo an applied fix
    ///
    /// Restores the files that a fix changed, byte for byte: the last fix applied in this folder, or the one
    /// that is named. Fails if the files have changed since.
    #[command(after_long_help = undo::EXAMPLES)]
    Undo(undo::Args),
    /// Remove secrets from standard input
    ///
    /// Writes to standard output what would leave your machine: secrets are replaced by [REDACTED:category].
    #[command(after_long_help = scrub::EXAMPLES)]
    Scrub(scrub::Args),
    /// Check whether an agent may run a command here
    ///
    /// The exit code is 0 if it may, and 1 with the reason if not. Nothing is run.
    #[command(name = "check-command", after_long_help = check_command::EXAMPLES)]
    CheckCommand(check_command::Args),
    /// Show who gets what for an outcome
    ///
    /// Both sides deposit the bounty and the judge's fee; what is paid out sums to what was deposited.
    #[command(after_long_help = payout::EXAMPLES)]
    Payout(payout::Args),
    /// Print shell completions
    ///
    /// Prints a script that completes fix's commands and options.
    #[command(after_long_help = completions::EXAMPLES)]
    Completions(completions::Args),
    /// Print the version
    ///
    /// As fix --version.
    #[command(after_long_help = version::EXAMPLES)]
    Version(version::Args),
    /// Write man pages
    ///
    /// Writes one page for each command into a folder, or prints a single one.
    #[command(after_long_help = man::EXAMPLES)]
    Man(man::Args),
    /// Any other word begins the command to run.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// Runs a command. The exit code is the fixed command's own, or that of a command of fix that is done. `tree`
/// makes the whole command tree, for manual pages and completions.
pub fn run(
    command: Command,
    fixing: Fixing,
    context: &Context,
    tree: fn() -> clap::Command,
) -> Result<ExitCode> {
    let command = match command {
        Command::Other(words) => return run::other(words, fixing, context, &tree()),
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
        Command::Status(args) => status::run(args, context),
        Command::Doctor(args) => doctor::run(args, context),
        Command::Config(args) => config::run(args, context),
        Command::Version(args) => version::run(args, context),
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
        Command::Man(args) => man::run(args, context, tree()),
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
