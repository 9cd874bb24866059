//! `nano-devnet`: the embedded ledger as a program.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use nano_devnet::{Builder, Confirm, Devnet, DevnetError, Dialect, Epoch, ForkRule, Order};
use nano_escrow::{Address, Network, Raw};
use serde_json::json;
use tokio::io::AsyncReadExt;

const AFTER_HELP: &str = "\
Examples:
  nano-devnet --memory                                    everything final at once, gone when it ends
  nano-devnet --folder ledger --delay-ms 500              blocks kept in ./ledger, final after half a second
  nano-devnet --memory --fund nano_1abc...=5 --json       one line of JSON when it is ready, 5 XNO sent

Money: curl -d '{\"action\":\"faucet\",\"account\":\"nano_...\"}' http://127.0.0.1:45000

The control endpoint (--control) takes POST /control with content type application/json. A command is an
object; its \"do\" is one of these, with the fields in brackets beside it:
  fault_add (rule), fault_list, fault_remove (id), fault_clear, behind (on), faucet (account, amount),
  publish (block), let_win (block), confirm (hash), confirm_all, epoch (account), account (account),
  audit, status, stop
A rule says what it strikes, what happens, how many pass first and how often it strikes:
  {\"on\":{\"action\":\"process\"},\"effect\":{\"kind\":\"lose_answer\",\"ms\":0},\"skip\":1,\"times\":1}
On (all optional): action, account, hash, subtype. Kinds of effect:
  drop, delay (ms), lose_answer (ms), delay_answer (ms), cut_answer, do_twice, repeat_answer, error (text),
  done_but_error (text), status (code, body), rival_before (key), rival_after (key),
  rival_block (block, before), epoch_block (account), old_frontier (blocks), false_frontier (hash),
  other_network (network, genesis), bad_work, hide_confirmation, repeat_confirmation, hold_confirmation

It holds play money only: the key of its genesis is public. It stops on Ctrl-C, SIGTERM or {\"do\":\"stop\"}.
Exit status: 0 stopped, 1 an error with its number, 2 wrong options.";

/// A Nano ledger in one process, with the rules, RPC and websocket of a node of the dev network.
#[derive(Parser)]
#[command(name = "nano-devnet", version, after_help = AFTER_HELP, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    place: Place,
    /// Where the RPC listens; port 0 takes one that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:45000")]
    rpc: SocketAddr,
    /// Where the websocket listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:47000")]
    ws: SocketAddr,
    /// Listen for control commands here; only an address of this machine
    #[arg(long, value_name = "ADDRESS")]
    control: Option<SocketAddr>,
    /// Make blocks final this long after they came, instead of at once
    #[arg(long, value_name = "MS", conflicts_with = "on_demand")]
    delay_ms: Option<u64>,
    /// Make blocks final only when block_confirm or a control command asks for it
    #[arg(long)]
    on_demand: bool,
    /// In which order blocks become final that are due together; random draws each delay from --seed
    #[arg(long, value_enum, default_value_t = OrderArg::Arrival)]
    order: OrderArg,
    /// The seed of --order random
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Who wins when two blocks follow the same block
    #[arg(long, value_enum, default_value_t = ForksArg::First)]
    forks: ForksArg,
    /// Whose habits the RPC has: rust answers an empty list as [], cpp as ""
    #[arg(long, value_enum, default_value_t = DialectArg::Rust)]
    dialect: DialectArg,
    /// The epoch of a new ledger; below 2, epoch blocks can be appended to open accounts
    #[arg(long, value_name = "0|1|2", default_value_t = 2, value_parser = epoch())]
    genesis_epoch: u8,
    /// What the RPC action faucet sends when no amount is named
    #[arg(long, value_name = "XNO", default_value = "1000", value_parser = Raw::from_xno)]
    faucet: Raw,
    /// Send money to this address at start; the faucet's amount, or the one after =
    #[arg(long, value_name = "ADDRESS[=XNO]", value_parser = fund)]
    fund: Vec<(Address, Option<Raw>)>,
    /// Refuse work_generate, as a node without enable_control does
    #[arg(long)]
    no_control_actions: bool,
    /// Stop when the standard input ends, so that no process outlives a test that was killed
    #[arg(long)]
    stop_with_stdin: bool,
    /// Print one line of JSON when ready, and errors as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// Keep the blocks in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Keep the blocks in memory; they are gone when the program ends
    #[arg(long)]
    memory: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrderArg {
    Arrival,
    Reverse,
    Random,
}

#[derive(Clone, Copy, ValueEnum)]
enum ForksArg {
    First,
    Last,
}

#[derive(Clone, Copy, ValueEnum)]
enum DialectArg {
    Rust,
    Cpp,
}

fn epoch() -> clap::builder::RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(0..=2)
}

fn fund(text: &str) -> Result<(Address, Option<Raw>), String> {
    let (address, amount) = match text.split_once('=') {
        Some((address, amount)) => (address, Some(Raw::from_xno(amount).map_err(|e| e.to_string())?)),
        None => (text, None),
    };
    Ok((address.parse::<Address>().map_err(|e| e.to_string())?, amount))
}

impl Cli {
    fn builder(&self) -> Builder {
        let confirm = match (self.on_demand, self.delay_ms) {
            (true, _) => Confirm::OnDemand,
            (false, None | Some(0)) => Confirm::AtOnce,
            (false, Some(ms)) => Confirm::After(Duration::from_millis(ms)),
        };
        let mut builder = Devnet::builder()
            .rpc(self.rpc)
            .ws(self.ws)
            .confirm(confirm)
            .order(match self.order {
                OrderArg::Arrival => Order::Arrival,
                OrderArg::Reverse => Order::Reverse,
                OrderArg::Random => Order::Random(self.seed),
            })
            .forks(match self.forks {
                ForksArg::First => ForkRule::FirstSeen,
                ForksArg::Last => ForkRule::LastSeen,
            })
            .dialect(match self.dialect {
                DialectArg::Rust => Dialect::Rust,
                DialectArg::Cpp => Dialect::Cpp,
            })
            .genesis_epoch(Epoch::from_number(self.genesis_epoch).unwrap_or(Epoch::Two))
            .faucet_amount(self.faucet)
            .enable_control(!self.no_control_actions);
        if let Some(folder) = &self.place.folder {
            builder = builder.folder(folder);
        }
        if let Some(control) = self.control {
            builder = builder.control_at(control);
        }
        builder
    }

    async fn run(&self) -> Result<(), DevnetError> {
        let signals = signals().map_err(|source| DevnetError::System { what: "signals", source })?;
        let devnet = self.builder().start().await?;
        for (address, amount) in &self.fund {
            devnet.faucet(*address, amount.unwrap_or(self.faucet)).await?;
        }
        self.say_ready(&devnet);
        tokio::select! {
            () = devnet.stopped() => {}
            () = signals => {}
            () = stdin_ended(), if self.stop_with_stdin => {}
        }
        devnet.stop().await
    }

    fn say_ready(&self, devnet: &Devnet) {
        let blocks = devnet.look(|ledger| ledger.block_count());
        let text = if self.json {
            json!({
                "ready": true,
                "pid": std::process::id(),
                "rpc": devnet.rpc_url(),
                "ws": devnet.ws_url(),
                "control": devnet.control_url(),
                "genesis": Network::Dev.genesis(),
                "blocks": blocks,
                "replayed": devnet.replayed(),
                "cut_bytes": devnet.cut(),
            })
            .to_string()
        } else {
            let mut text = format!(
                "The ledger is ready, with {blocks} blocks.\n  RPC        {}\n  websocket  {}",
                devnet.rpc_url(),
                devnet.ws_url()
            );
            if let Some(control) = devnet.control_url() {
                text += &format!("\n  control    {control}");
            }
            if devnet.cut() > 0 {
                text += &format!(
                    "\n{} bytes of a write that was never answered were cut from the block file.",
                    devnet.cut()
                );
            }
            text
        };
        // Whoever started it may not read; it goes on all the same.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

/// Ctrl-C, and where there is such a thing, SIGTERM. Both are caught from the moment of the call on, so that a
/// signal right after the ready line stops in order too.
#[cfg(unix)]
fn signals() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signals() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

async fn stdin_ended() {
    let mut stdin = tokio::io::stdin();
    let mut buffer = [0; 256];
    while matches!(stdin.read(&mut buffer).await, Ok(n) if n > 0) {}
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let runtime =
        tokio::runtime::Runtime::new().map_err(|source| DevnetError::System { what: "threads", source });
    let result = runtime.and_then(|runtime| {
        let result = runtime.block_on(cli.run());
        // A thread may be waiting for the standard input, which never ends.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            if cli.json {
                eprintln!("{}", json!({ "code": e.code(), "error": e.to_string(), "next": next(&e) }));
            } else {
                eprintln!("error {}: {e}. {}", e.code(), next(&e));
            }
            ExitCode::FAILURE
        }
    }
}

/// The next step after an error of the program's start, run or end.
fn next(error: &DevnetError) -> &'static str {
    match error {
        DevnetError::Folder { .. } => "Check the path and its rights, or use --memory.",
        DevnetError::Locked(_) => "Stop that process, or give this one a folder of its own.",
        DevnetError::NotOurs(_) => "Give an empty folder, or one that this program made.",
        DevnetError::Version { .. } => "Use the program that made the file, or an empty folder.",
        DevnetError::GenesisEpoch { .. } => "Start with the epoch of the file, or with an empty folder.",
        DevnetError::Damaged { .. } | DevnetError::Replay { .. } => {
            "Restore the file from a copy, or start with an empty folder; nothing was changed."
        }
        DevnetError::Write(_) => "Make room on the disk and start again; what was answered is kept.",
        DevnetError::Bind { .. } => "Choose another port, or 0 for any that is free.",
        DevnetError::ControlAddress(_) => "Use 127.0.0.1 or ::1.",
        DevnetError::FaucetEmpty { .. } | DevnetError::FaucetZero => "Correct the amounts of --fund.",
        DevnetError::System { .. } => "Free some memory and try again.",
        _ => "Report this as a defect, with the block file.",
    }
}
