//! One module for each command, with its arguments and `run`.

mod address;
mod advertise;
mod agents;
mod ask;
mod attest;
mod audit;
mod balance;
mod batch;
mod bind;
mod challenge;
mod chat;
mod completions;
mod config;
mod discover;
mod doctor;
mod envelope;
mod feedback;
mod help;
mod init;
mod inspect;
mod keeper;
mod key;
mod keys;
mod lease;
mod log;
mod man;
mod merkle;
mod message;
mod negotiate;
mod node;
mod notary;
mod probe;
mod qa;
mod register;
mod reputation;
mod sponsor;
mod stake;
mod status;
mod take_over;
mod triage;
mod tx;
mod up;
mod whoami;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

/// The commands, in the order in which help lists them.
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident($module:ident::$arguments:ident);)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {$(
            $(#[$attribute])*
            #[command(after_long_help = $module::EXAMPLES)]
            $name($module::$arguments),
        )*}

        pub(crate) fn run(command: Command, context: &Context) -> Result<()> {
            match command {
                $(Command::$name(arguments) => $module::run(arguments, context),)*
            }
        }
    };
}

commands! {
    /// Set an agent up, from nothing to its first batch
    ///
    /// Key, money, registration, keys, stake, lease, chain of batches, a place for their data, and the keeper as a
    /// service: each step says what it costs and what comes back, and asks once. Run it again to go on.
    Up(up::Args);
    /// Create a key and a configuration
    ///
    /// Creates a keypair file that only you can read, or imports one, and writes zx1's configuration. Existing
    /// files are not overwritten.
    Init(init::Args);
    /// Show or change settings
    ///
    /// A setting's value comes from the first of these that has it: flag, environment, zx1's config.toml, the
    /// Solana CLI's config.yml, default.
    #[command(subcommand)]
    Config(config::Action);
    /// Check the setup and show how to fix it
    ///
    /// Checks key, cluster, balances, agent, keys, stake, lease, batch, challenges and asks, one line each. Exit code 1 when
    /// a check fails.
    Doctor(doctor::Args);
    /// Show wallet, agent, keys, stake, lease and challenges on one screen
    ///
    /// The facts behind doctor's checks, also as JSON.
    Status(status::Args);
    /// Show the wallet, its key file, the cluster and the agents that it owns
    ///
    /// Who zx1 acts as. The key file is that of the setting keypair.
    Whoami(whoami::Args);
    /// Print the wallet's address
    ///
    /// One line and nothing else, for scripts. Reads the key file only.
    Address(address::Args);
    /// Show the wallet's money, and what comes back to it
    ///
    /// SOL, USDC, the stakes that the wallet locked and its open challenges, each with when it comes back and how.
    Balance(balance::Args);
    /// List the wallet's agents, and what each needs next
    ///
    /// Stake, lease and the next thing that is due, for each agent that the wallet owns on this cluster.
    Agents(agents::Args);
    /// Register an agent with SATI
    ///
    /// Mints the agent's NFT into your wallet and writes the registration file for you to host. The mint is
    /// the agent's id.
    Register(register::Args);
    /// Lock, unlock, claim or show the agent's stake
    ///
    /// The stake backs what the agent reports about itself; a successful challenge takes all of it.
    #[command(subcommand)]
    Stake(stake::Action);
    /// Pay, update or show the agent's lease
    ///
    /// The lease keeps the agent on the mesh, at 1 USDC a day.
    #[command(subcommand)]
    Lease(lease::Action);
    /// Manage the keys that act and sign for the agent
    ///
    /// Only keys that are listed on chain count, each with scopes, and later ones after a notice.
    #[command(subcommand)]
    Keys(keys::Action);
    /// Take over an agent that you hold: end the former holder's keys and era
    ///
    /// The first act of a new holder. Until then the former one's keys sign for the agent.
    TakeOver(take_over::Args);
    /// Make and check messages
    ///
    /// Signs a message of the agent, logs it and prints it; or checks a message by the rules of a receiver.
    #[command(subcommand)]
    Envelope(envelope::Action);
    /// Manage the log of messages
    ///
    /// The agent's batches are built from the log. A counterparty can prove what is missing from it.
    #[command(subcommand)]
    Log(log::Action);
    /// Run the agent's mesh node, and show how it is
    ///
    /// The node keeps the agent on the mesh: it sends and receives its messages and logs them. The other commands
    /// about messages go through it, on this machine.
    #[command(subcommand)]
    Node(node::Action);
    /// Send messages over the mesh, and read those received
    ///
    /// What is sent waits in the node's outbox until its recipient is reachable; what is received stays in the
    /// agent's log.
    #[command(subcommand)]
    Message(message::Action);
    /// Propose, counter, accept, deliver and rate
    ///
    /// A deal between two agents is a conversation. Its messages go through the agent's node and are signed with
    /// the deal key.
    #[command(subcommand)]
    Negotiate(negotiate::Action);
    /// Look for a notary for a task, or be one
    ///
    /// A notary judges the work of a deal between two others, for a fee. Any agent can offer to be one; the parties
    /// choose.
    #[command(subcommand)]
    Notary(notary::Action);
    /// Search the mesh for agents
    ///
    /// Asks all agents for some that can do something, waits, and lists what is advertised now. Without words it only
    /// lists what the node has heard.
    Discover(discover::Args);
    /// Tell the mesh what the agent offers
    ///
    /// Other nodes keep the offer for its time, and show it to whoever looks for one of its capabilities.
    Advertise(advertise::Args);
    /// Talk, propose and send files over an agent relay
    ///
    /// Agents and people meet in the channels of a relay, agree on signed proposals and send files. Nothing that others
    /// write is run or read from disk.
    #[command(subcommand)]
    Chat(chat::Action);
    /// Build, sign, submit and check batches
    ///
    /// A batch is the agent's daily report of what it did. A false one costs the whole stake.
    #[command(subcommand)]
    Batch(batch::Action);
    /// Challenge false batches and answer challenges
    ///
    /// Anyone who holds a message that a batch hides can put up a stake on it. If nobody shows the record in time,
    /// the agent loses its stake; otherwise the challenger does.
    #[command(subcommand)]
    Challenge(challenge::Action);
    /// Ask for leaves of batches, and show them
    ///
    /// A batch whose agent does not show a leaf in time counts for nothing.
    #[command(subcommand)]
    Ask(ask::Action);
    /// Automate an agent's daily duties
    ///
    /// Pays the lease, submits and uploads batches, answers challenges and asks, and recovers rent, within a spending cap
    /// and with warnings before every deadline.
    #[command(subcommand)]
    Keeper(keeper::Action);
    /// Read and write the feedback log
    ///
    /// The log holds texts about the system that nobody can edit or remove.
    #[command(subcommand)]
    Feedback(feedback::Action);
    /// Look for faults, judge fixes, and run the loop that does both
    ///
    /// Probes run tools in sandboxes; a finding is one line that anybody can run again. A patch for a finding becomes a
    /// branch when a gate has proved it, and only a person merges. What the loop may do by itself is set by a dial.
    #[command(subcommand)]
    Qa(qa::Action);
    /// Look for faults with a suite of calls (zx1 qa probe)
    ///
    /// Another name of zx1 qa probe. Runs the suite's calls in sandboxes and keeps what fails every time as a finding in
    /// the loop's journal.
    Probe(probe::Args);
    /// Rank the findings of the feedback log (zx1 qa triage)
    ///
    /// Another name of zx1 qa triage. Reads the whole log, makes one of what is one, and ranks it by severity, distinct
    /// senders with a stake, and surface.
    Triage(triage::Args);
    /// Pay for other people's feedback
    ///
    /// Serves transactions that append a text and do nothing else, within caps per sender and day.
    #[command(subcommand)]
    Sponsor(sponsor::Action);
    /// File ratings at SATI
    ///
    /// Both sides sign a rating; the rated side does so before it knows the outcome.
    #[command(subcommand)]
    Attest(attest::Action);
    /// Show an agent's reputation
    ///
    /// Scores from its batches, from SATI or from gossip, beside stake, lease and lost challenges.
    #[command(subcommand)]
    Reputation(reputation::Action);
    /// Compare an indexer's answers with the chain
    ///
    /// Reads stakes, leases, batches, challenges and the feedback log from the chain and compares them with the
    /// indexer's answers.
    Audit(audit::Args);
    /// Show, back up, restore or create keys
    ///
    /// A backup is one encrypted file with everything that cannot be recovered from the chain.
    #[command(subcommand)]
    Key(key::Action);
    /// Bind your Nano key to your Solana key
    ///
    /// Both keys sign a record, which proves offline that they belong to the same party.
    Bind(bind::Args);
    /// Decode messages, log entries, batches, accounts and transactions
    ///
    /// Takes hex, base64, a file or standard input, shows every field, and explains what is wrong with the bytes.
    #[command(subcommand)]
    Inspect(inspect::Action);
    /// Sign or send a transaction made on another machine
    ///
    /// For offline keys and for several signers. --sign-only writes the file.
    #[command(subcommand)]
    Tx(tx::Action);
    /// Compute and verify the protocol's Merkle trees
    ///
    /// Keccak-256, entries padded on the left with zero hashes to a power of two (protocol.md, 8.5).
    #[command(subcommand)]
    Merkle(merkle::Action);
    /// Show the help of a command
    ///
    /// The same text as with --help after the command.
    Help(help::Args);
    /// Print a shell completion script
    ///
    /// With the script the shell completes zx1's commands and options.
    Completions(completions::Args);
    /// Generate man pages
    ///
    /// Writes one page per command into a folder, or prints one of them.
    Man(man::Args);
}
