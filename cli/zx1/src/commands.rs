//! One module for each command, with its arguments and `run`.

mod attest;
mod audit;
mod batch;
mod bind;
mod challenge;
mod completions;
mod config;
mod delegate;
mod doctor;
mod envelope;
mod feedback;
mod init;
mod inspect;
mod keeper;
mod key;
mod lease;
mod log;
mod man;
mod merkle;
mod register;
mod reputation;
mod sponsor;
mod stake;
mod status;
mod tx;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

/// The commands, in the order in which help lists them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a key and a configuration
    ///
    /// Makes a keypair file that only you can read, or takes one that you have, and writes zx1's
    /// configuration. Nothing that is there is overwritten.
    #[command(after_long_help = init::EXAMPLES)]
    Init(init::Args),
    /// Show or change settings
    ///
    /// A setting's value comes from a flag, the environment, zx1's config.toml, the Solana command line's
    /// config.yml, or a default: the first that says something.
    #[command(subcommand, after_long_help = config::EXAMPLES)]
    Config(config::Action),
    /// Find out what is wrong, and the command that helps
    ///
    /// Checks key, cluster, money, agent, stake, lease, batch and challenges, one line each. Exit code 1 when
    /// something does not work.
    #[command(after_long_help = doctor::EXAMPLES)]
    Doctor,
    /// Show wallet, agent, stake, lease and challenges on one screen
    ///
    /// The facts that doctor judges, also as JSON.
    #[command(after_long_help = status::EXAMPLES)]
    Status,
    /// Register an agent with SATI
    ///
    /// Mints the agent's NFT into your wallet and writes the registration file for you to host. The mint is
    /// the agent's id.
    #[command(after_long_help = register::EXAMPLES)]
    Register(register::Args),
    /// Lock, unlock, claim or show the agent's stake
    ///
    /// The stake answers for what the agent says about itself; a successful challenge takes it all.
    #[command(subcommand, after_long_help = stake::EXAMPLES)]
    Stake(stake::Action),
    /// Pay, tick or show the agent's lease
    ///
    /// The lease keeps the agent on the mesh, at 1 USDC a day.
    #[command(subcommand, after_long_help = lease::EXAMPLES)]
    Lease(lease::Action),
    /// Let other keys act for the agent
    ///
    /// A delegation is a DelegateV1 attestation that the NFT's owner signs.
    #[command(subcommand, after_long_help = delegate::EXAMPLES)]
    Delegate(delegate::Action),
    /// Make and check messages
    ///
    /// Signs a message of the agent, logs it, and prints it; or checks somebody's message by the rules of a
    /// receiver.
    #[command(subcommand, after_long_help = envelope::EXAMPLES)]
    Envelope(envelope::Action),
    /// Keep the log of messages
    ///
    /// The log is what the agent's batches are made from. What it misses, a counterparty can prove.
    #[command(subcommand, after_long_help = log::EXAMPLES)]
    Log(log::Action),
    /// Build, sign, submit and check batches
    ///
    /// A batch is the agent's daily account of what it did. A false one costs the whole stake.
    #[command(subcommand, after_long_help = batch::EXAMPLES)]
    Batch(batch::Action),
    /// Challenge false batches, answer challenges
    ///
    /// Whoever holds a message that a batch hides puts up 10 USDC; shown or lost decides.
    #[command(subcommand, after_long_help = challenge::EXAMPLES)]
    Challenge(challenge::Action),
    /// Do by itself what an agent must do every day
    ///
    /// Lease, batch, uploads, answers, rent: within a spending cap, with warnings before every deadline.
    #[command(subcommand, after_long_help = keeper::EXAMPLES)]
    Keeper(keeper::Action),
    /// Read and write the feedback log
    ///
    /// Texts about the system that nobody can edit or remove, newest first.
    #[command(subcommand, after_long_help = feedback::EXAMPLES)]
    Feedback(feedback::Action),
    /// Pay for other people's feedback
    ///
    /// Serves transactions that do nothing but append a text, within caps for each sender and day.
    #[command(subcommand, after_long_help = sponsor::EXAMPLES)]
    Sponsor(sponsor::Action),
    /// File ratings at SATI
    ///
    /// Ratings that both sides signed: the rated one before it knew how it ends.
    #[command(subcommand, after_long_help = attest::EXAMPLES)]
    Attest(attest::Action),
    /// Show what an agent's past says
    ///
    /// Scores from its batches, from SATI or from hearsay, beside stake, lease and lost challenges.
    #[command(subcommand, after_long_help = reputation::EXAMPLES)]
    Reputation(reputation::Action),
    /// Compare an indexer's answers with the chain
    ///
    /// An indexer holds no secrets and can lie like any server. This asks the chain itself for everything
    /// that the indexer says of stakes, leases, batches, challenges and the feedback log.
    #[command(after_long_help = audit::EXAMPLES)]
    Audit(audit::Args),
    /// Back up, restore or show the key
    ///
    /// A backup is one encrypted file with all that an agent cannot get back from the chain.
    #[command(subcommand, after_long_help = key::EXAMPLES)]
    Key(key::Action),
    /// Bind your Nano key to your Solana key
    ///
    /// A record that both keys sign: whoever has it knows, offline, that both belong to one party.
    #[command(after_long_help = bind::EXAMPLES)]
    Bind(bind::Args),
    /// Show every field of messages, log entries, batches, accounts and transactions
    ///
    /// Takes hex, base64, a file or standard input, and says what is wrong with it.
    #[command(subcommand, after_long_help = inspect::EXAMPLES)]
    Inspect(inspect::Action),
    /// Sign or send a transaction that another machine has made
    ///
    /// For keys that stay offline, and for several signers: --sign-only makes the file.
    #[command(subcommand, after_long_help = tx::EXAMPLES)]
    Tx(tx::Action),
    /// Compute and check Merkle trees as the protocol builds them
    ///
    /// Keccak-256, entries padded on the left with zero hashes to a power of two (protocol.md, 8.5).
    #[command(subcommand, after_long_help = merkle::EXAMPLES)]
    Merkle(merkle::Action),
    /// Print completions for a shell
    ///
    /// Prints a script with which the shell completes zx1's commands and options.
    #[command(after_long_help = completions::EXAMPLES)]
    Completions(completions::Args),
    /// Write man pages
    ///
    /// Writes one page a command into a folder, or prints one.
    #[command(after_long_help = man::EXAMPLES)]
    Man(man::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command, context: &Context) -> Result<()> {
    match command {
        Command::Init(args) => init::run(args, context),
        Command::Config(args) => config::run(args, context),
        Command::Doctor => doctor::run(context),
        Command::Status => status::run(context),
        Command::Register(args) => register::run(args, context),
        Command::Stake(args) => stake::run(args, context),
        Command::Lease(args) => lease::run(args, context),
        Command::Delegate(args) => delegate::run(args, context),
        Command::Envelope(args) => envelope::run(args, context),
        Command::Log(args) => log::run(args, context),
        Command::Batch(args) => batch::run(args, context),
        Command::Challenge(args) => challenge::run(args, context),
        Command::Keeper(args) => keeper::run(args, context),
        Command::Feedback(args) => feedback::run(args, context),
        Command::Sponsor(args) => sponsor::run(args, context),
        Command::Attest(args) => attest::run(args, context),
        Command::Reputation(args) => reputation::run(args, context),
        Command::Audit(args) => audit::run(args, context),
        Command::Key(args) => key::run(args, context),
        Command::Bind(args) => bind::run(args, context),
        Command::Inspect(args) => inspect::run(args, context),
        Command::Tx(args) => tx::run(args, context),
        Command::Merkle(args) => merkle::run(args, context),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args, context),
    }
}
