//! The options that all commands share.

use crate::output::Format;
use clap::{ArgAction, Args};

const SETTINGS: &str = "Settings";
const TRANSACTIONS: &str = "Transactions";

/// Options of all commands. `-h` leaves them out, `--help` shows them.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// RPC address, or localhost, devnet, testnet, mainnet-beta (or l, d, t, m) [env: ZX1_URL]
    #[arg(short, long, global = true, value_name = "URL_OR_MONIKER",
          help_heading = SETTINGS, hide_short_help = true)]
    pub url: Option<String>,
    /// Keypair file that signs and pays [env: ZX1_KEYPAIR]
    #[arg(short, long, global = true, value_name = "PATH", help_heading = SETTINGS, hide_short_help = true)]
    pub keypair: Option<String>,
    /// Keypair file that signs batches [default: the keypair] [env: ZX1_BATCH_KEY]
    #[arg(long, global = true, value_name = "PATH", help_heading = SETTINGS, hide_short_help = true)]
    pub batch_key: Option<String>,
    /// Keypair file that signs deals [default: the keypair] [env: ZX1_DEAL_KEY]
    #[arg(long, global = true, value_name = "PATH", help_heading = SETTINGS, hide_short_help = true)]
    pub deal_key: Option<String>,
    /// Keypair file that signs all other messages [default: the keypair] [env: ZX1_PEER_KEY]
    #[arg(long, global = true, value_name = "PATH", help_heading = SETTINGS, hide_short_help = true)]
    pub peer_key: Option<String>,
    /// RPC address of a second node, queried before a batch is signed [env: ZX1_SECOND_URL]
    #[arg(long, global = true, value_name = "URL_OR_MONIKER",
          help_heading = SETTINGS, hide_short_help = true)]
    pub second_url: Option<String>,
    /// Agent to use: a local name or a mint address [env: ZX1_AGENT]
    #[arg(long, global = true, value_name = "AGENT", help_heading = SETTINGS, hide_short_help = true)]
    pub agent: Option<String>,
    /// Commitment level: processed, confirmed or finalized [env: ZX1_COMMITMENT]
    #[arg(long, global = true, value_name = "LEVEL", help_heading = SETTINGS, hide_short_help = true)]
    pub commitment: Option<String>,
    /// Print results and errors as JSON, one object a line; the same as --output json-compact
    #[arg(long, global = true, conflicts_with = "output", help_heading = SETTINGS, hide_short_help = true)]
    pub json: bool,
    /// Output format: display, json (indented) or json-compact [env: ZX1_OUTPUT]
    #[arg(long, global = true, value_name = "FORMAT", help_heading = SETTINGS, hide_short_help = true)]
    pub output: Option<String>,
    /// Show addresses and hashes in tables in full
    #[arg(long, global = true, help_heading = SETTINGS, hide_short_help = true)]
    pub full: bool,
    /// Increase verbosity (-v, -vv, -vvv); confirmations then show all addresses
    #[arg(short, long, global = true, action = ArgAction::Count,
          help_heading = SETTINGS, hide_short_help = true)]
    pub verbose: u8,

    /// Skip the confirmation prompt
    #[arg(short, long, global = true, help_heading = TRANSACTIONS, hide_short_help = true)]
    pub yes: bool,
    /// Simulate the transaction and show what it does, without sending it
    #[arg(long, global = true, help_heading = TRANSACTIONS, hide_short_help = true)]
    pub dry_run: bool,
    /// Print the signed transaction in base64 instead of sending it
    #[arg(long, global = true, conflicts_with = "dry_run",
          help_heading = TRANSACTIONS, hide_short_help = true)]
    pub print_tx: bool,
    /// Sign with the given blockhash and print transaction and signatures, without sending
    #[arg(long, global = true, help_heading = TRANSACTIONS, hide_short_help = true, requires = "blockhash",
          conflicts_with_all = ["dry_run", "print_tx"])]
    pub sign_only: bool,
    /// Blockhash to sign with
    #[arg(long, global = true, value_name = "HASH", value_parser = blockhash,
          help_heading = TRANSACTIONS, hide_short_help = true)]
    pub blockhash: Option<String>,
    /// Priority fee in micro-lamports per compute unit [env: ZX1_COMPUTE_UNIT_PRICE]
    #[arg(long = "with-compute-unit-price", global = true, value_name = "MICRO_LAMPORTS",
          help_heading = TRANSACTIONS, hide_short_help = true)]
    pub compute_unit_price: Option<u64>,
}

impl Global {
    /// The setting of this name, where a flag gives it.
    pub fn setting(&self, name: &str) -> Option<String> {
        match name {
            "url" => self.url.clone(),
            "keypair" => self.keypair.clone(),
            "batch_key" => self.batch_key.clone(),
            "deal_key" => self.deal_key.clone(),
            "peer_key" => self.peer_key.clone(),
            "second_url" => self.second_url.clone(),
            "commitment" => self.commitment.clone(),
            "output" if self.json => Some(Format::JsonCompact.name().to_owned()),
            "output" => self.output.clone(),
            "agent" => self.agent.clone(),
            "compute_unit_price" => self.compute_unit_price.map(|price| price.to_string()),
            _ => None,
        }
    }
}

fn blockhash(text: &str) -> Result<String, String> {
    let parsed: Result<solana_address::Address, _> = text.parse();
    let text = parsed.map(|_| text.to_owned());
    text.map_err(|_| "expected 32 bytes in base58".to_owned())
}
