//! `zx1-localnet`: starts a local cluster, or talks to a running one.

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tokio::sync::Notify;
use zx1_localnet::{CONTROL_PORT, Env, Jump, Localnet, LocalnetError, RPC_PORT, Restored, control};

/// A Solana cluster and a Nano ledger on this machine, with the zx1 programs, SATI, USDC and funded wallets.
///
/// Without a command it starts one and serves until Ctrl-C. Keys and ledger are kept in the state folder;
/// the next start goes on from there, also after a kill.
#[derive(Parser)]
#[command(name = "zx1-localnet", version, about, long_about, args_conflicts_with_subcommands = true)]
struct Cli {
    /// Print results and errors as JSON, one line each; a start prints one when it is ready
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    start: Start,
}

#[derive(Subcommand)]
enum Command {
    /// Start a cluster and serve it (the default)
    Start(Start),
    /// Say where the chain stands
    Status {
        #[command(flatten)]
        target: Target,
    },
    /// Print the environment of a shell: eval "$(zx1-localnet env)"
    Env {
        #[command(flatten)]
        target: Target,
    },
    /// Move the chain's clock ahead: slots and time together, 400 ms a slot
    Time {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        jump: JumpArgs,
    },
    /// Give an address SOL and USDC
    Fund {
        /// Address to fund, in base58
        address: String,
        /// SOL to add
        #[arg(long, default_value = "0", value_name = "AMOUNT")]
        sol: String,
        /// USDC to add
        #[arg(long, default_value = "0", value_name = "AMOUNT")]
        usdc: String,
        #[command(flatten)]
        target: Target,
    },
    /// End a running cluster; its state is saved
    Stop {
        #[command(flatten)]
        target: Target,
    },
}

#[derive(Args)]
struct Start {
    /// Folder of keys and ledger [default: $XDG_STATE_HOME/zx1/localnet or ~/.local/state/zx1/localnet]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Keep nothing: a temporary folder that ends with the process
    #[arg(long, conflicts_with = "state")]
    no_state: bool,
    /// Forget the saved ledger first; the keys stay
    #[arg(long)]
    reset: bool,
    /// RPC port; 0 takes any free one
    #[arg(long, default_value_t = RPC_PORT, value_name = "PORT")]
    port: u16,
    /// Websocket port [default: the RPC port and one]
    #[arg(long, value_name = "PORT")]
    ws_port: Option<u16>,
    /// Port of the control endpoint [default: 8897, or a free one when --port is 0]
    #[arg(long, value_name = "PORT")]
    control_port: Option<u16>,
    /// Run no Nano ledger
    #[arg(long, conflicts_with_all = ["nano_port", "nano_ws_port"])]
    no_nano: bool,
    /// Port of the Nano ledger's RPC [default: 7076, or a free one when --port is 0]
    #[arg(long, value_name = "PORT")]
    nano_port: Option<u16>,
    /// Port of the Nano ledger's websocket [default: 7078, or a free one when --port is 0]
    #[arg(long, value_name = "PORT")]
    nano_ws_port: Option<u16>,
    /// Milliseconds between empty blocks; a transaction gets its own block at once
    #[arg(long, default_value_t = 400, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    slot_time: u64,
    /// How many wallets begin with 100 SOL and 1000 USDC
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    wallets: u64,
    /// Folder of the built programs [default: $ZX1_DEPLOY_DIR or target/deploy]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

/// Where `env` says that the control endpoint is.
const CONTROL_VARIABLE: &str = "ZX1_LOCALNET_CONTROL";

/// Which cluster is meant.
#[derive(Args)]
struct Target {
    /// Its state folder
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Its control endpoint [env: ZX1_LOCALNET_CONTROL] [default: what the state folder says, else port 8897]
    // Not clap's env: in a shell that has evaluated `env`, --state would conflict with it.
    #[arg(long, value_name = "URL", conflicts_with = "state")]
    control: Option<String>,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct JumpArgs {
    /// Days (zx1 epochs) ahead
    #[arg(long, value_name = "N")]
    epochs: Option<u64>,
    /// Number of slots to jump ahead
    #[arg(long, value_name = "N")]
    slots: Option<u64>,
    /// To this Unix time in seconds
    #[arg(long, value_name = "SECONDS")]
    unix: Option<i64>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let tree = || zx1_manual::with_options(Cli::command());
    zx1_manual::answer_first(tree);
    // Wherever it stands, also before a command, where all other options are those of a start.
    let (switches, arguments): (Vec<_>, Vec<_>) = std::env::args_os().partition(|word| word == "--json");
    let json = !switches.is_empty();
    let arguments = arguments.into_iter().chain(switches.into_iter().take(1));
    let cli = match tree().try_get_matches_from(arguments).and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(error) if json && error.use_stderr() => {
            return fail(&LocalnetError::Usage(first_sentence(&error)), json, ExitCode::from(2));
        }
        Err(error) => error.exit(),
    };
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error,zx1_localnet=warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let result = match cli.command {
        None => start(cli.start, cli.json).await,
        Some(Command::Start(options)) => start(options, cli.json).await,
        Some(other) => talk(other, cli.json).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, json, ExitCode::FAILURE),
    }
}

/// Says what is wrong: in words, or as `{code, name, message, next}` with a last line on standard output.
fn fail(error: &LocalnetError, json: bool, exit: ExitCode) -> ExitCode {
    if json {
        let (code, name, message) = (error.code(), error.name(), error.to_string());
        let error =
            serde_json::json!({ "code": code, "name": name, "message": message, "next": error.next() });
        eprintln!("{error}");
        println!("{}", serde_json::json!({ "error": error }));
    } else {
        eprintln!("error {}: {error}", error.code());
        eprintln!("next: {}", error.next());
    }
    exit
}

/// The parser's words without its usage and hints.
fn first_sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn default_state() -> Result<PathBuf, LocalnetError> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    of("XDG_STATE_HOME")
        .or_else(|| of("HOME").map(|home| home.join(".local/state")))
        .map(|folder| folder.join("zx1/localnet"))
        .ok_or_else(|| {
            LocalnetError::BadRequest("neither --state nor HOME says where to keep the state".into())
        })
}

async fn start(options: Start, json: bool) -> Result<(), LocalnetError> {
    let mut builder = Localnet::builder()
        .reset(options.reset)
        .port(options.port)
        .nano(!options.no_nano)
        .slot_time(Duration::from_millis(options.slot_time))
        .wallets(usize::try_from(options.wallets).unwrap_or(usize::MAX));
    if !options.no_state {
        builder = builder.state(match options.state {
            Some(folder) => folder,
            None => default_state()?,
        });
    }
    if let Some(port) = options.ws_port {
        builder = builder.ws_port(port);
    }
    if let Some(port) = options.control_port {
        builder = builder.control_port(port);
    }
    if let Some(port) = options.nano_port {
        builder = builder.nano_port(port);
    }
    if let Some(port) = options.nano_ws_port {
        builder = builder.nano_ws_port(port);
    }
    if let Some(folder) = options.programs {
        builder = builder.programs(folder);
    }
    // From here on a signal waits for the start to finish, and then ends it in order.
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .map_err(|why| LocalnetError::Cluster(why.to_string()))?;
    let mut net = tokio::task::spawn_blocking(|| builder.start())
        .await
        .map_err(|why| LocalnetError::Cluster(why.to_string()))??;
    let listener = net.take_control_listener();
    let net = Arc::new(net);
    let stop = Arc::new(Notify::new());
    let mut server = tokio::spawn({
        let (net, stop) = (net.clone(), stop.clone());
        async move {
            match listener {
                Some(listener) => control::serve(listener, net, stop).await,
                None => Ok(()),
            }
        }
    });
    announce(&net, json);
    let mut check = tokio::time::interval(Duration::from_millis(500));
    let failure = loop {
        tokio::select! {
            _ = &mut server => break None,
            _ = tokio::signal::ctrl_c() => break None,
            _ = terminate.recv() => break None,
            _ = check.tick() => {
                let net = net.clone();
                if let Ok(Some(error)) = tokio::task::spawn_blocking(move || net.failure()).await {
                    break Some(error);
                }
            }
        }
    };
    // An open connection may hold the server up; the saving does not wait for it.
    server.abort();
    let ended = tokio::task::spawn_blocking(move || net.shut_down())
        .await
        .unwrap_or_else(|why| Err(LocalnetError::Cluster(why.to_string())));
    failure.map_or(ended, Err)
}

fn announce(net: &Localnet, json: bool) {
    use std::io::Write;
    let env = net.env();
    let text = if json {
        serde_json::to_string(env).unwrap_or_default()
    } else {
        let mut lines = vec![
            match net.restored() {
                Restored::New => "zx1-localnet is ready with a new ledger.".to_owned(),
                Restored::Saved { cut_bytes: 0 } => {
                    "zx1-localnet is ready and goes on from its ledger.".to_owned()
                }
                Restored::Saved { cut_bytes } => {
                    format!(
                        "zx1-localnet is ready and goes on from its ledger ({cut_bytes} unfinished bytes cut)."
                    )
                }
            },
            String::new(),
            format!("  RPC        {}", env.rpc_url),
            format!("  websocket  {}", env.ws_url),
            format!("  control    {}", env.control_url),
        ];
        if let (Some(rpc), Some(ws)) = (&env.nano_rpc_url, &env.nano_ws_url) {
            lines.push(format!("  Nano       {rpc} and {ws}"));
        }
        lines.push(format!("  state      {}", env.state.display()));
        lines.push(format!("  USDC mint  {}", env.usdc_mint));
        if let Some(wallet) = env.wallets.first() {
            lines.push(format!("  wallet-1   {} ({})", wallet.address, wallet.keypair.display()));
        }
        lines.push(String::new());
        let usual = default_state().is_ok_and(|usual| usual == env.state);
        let state = if usual { String::new() } else { format!(" --state {}", quoted(&env.state)) };
        lines.push(format!("In another terminal:  eval \"$(zx1-localnet env{state})\""));
        lines.push("Ctrl-C ends it; the ledger is kept.".to_owned());
        lines.join("\n")
    };
    let mut out = std::io::stdout().lock();
    // A closed standard output does not end the cluster.
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

impl Target {
    fn client(&self) -> Result<control::Client, LocalnetError> {
        let variable = || std::env::var(CONTROL_VARIABLE).ok().filter(|url| !url.is_empty());
        // Arguments win over the environment.
        let unasked = || if self.state.is_none() { variable() } else { None };
        if let Some(url) = self.control.clone().or_else(unasked) {
            return Ok(control::Client::new(url));
        }
        let state = match &self.state {
            Some(folder) => folder.clone(),
            None => default_state()?,
        };
        let running: Option<Env> = std::fs::read(state.join("running.json"))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        match (running, &self.state) {
            (Some(env), _) => Ok(control::Client::new(env.control_url)),
            (None, Some(folder)) => Err(LocalnetError::NotRunning(folder.display().to_string())),
            (None, None) => Ok(control::Client::new(format!("http://127.0.0.1:{CONTROL_PORT}"))),
        }
    }
}

async fn talk(command: Command, json: bool) -> Result<(), LocalnetError> {
    match command {
        Command::Start(options) => start(options, json).await,
        Command::Status { target } => {
            let status = target.client()?.status().await?;
            print(json, &status, || status_text(&status));
            Ok(())
        }
        Command::Env { target } => {
            let env = target.client()?.env().await?;
            print(json, &env, || shell(&env));
            Ok(())
        }
        Command::Time { target, jump } => {
            let JumpArgs { epochs, slots, unix } = jump;
            let status = target.client()?.jump(Jump { epochs, slots, unix }).await?;
            print(json, &status, || status_text(&status));
            Ok(())
        }
        Command::Fund { address, sol, usdc, target } => {
            let (lamports, usdc) = (control::parse_amount(&sol, 9)?, control::parse_amount(&usdc, 6)?);
            let balance = target.client()?.fund(&address, lamports, usdc).await?;
            print(json, &balance, || {
                format!(
                    "{} has {} SOL and {} USDC",
                    balance.address,
                    decimal(balance.lamports, 9),
                    decimal(balance.usdc_micro, 6)
                )
            });
            Ok(())
        }
        Command::Stop { target } => {
            target.client()?.stop().await?;
            if json {
                println!("{}", serde_json::json!({ "stopped": true }));
            }
            Ok(())
        }
    }
}

fn print(json: bool, value: &impl serde::Serialize, words: impl FnOnce() -> String) {
    if json {
        println!("{}", serde_json::to_string(value).unwrap_or_default());
    } else {
        println!("{}", words());
    }
}

fn status_text(status: &zx1_localnet::Status) -> String {
    format!(
        "slot {}, Unix time {}, zx1 epoch {}, {} transactions, up for {} s",
        status.slot, status.unix, status.epoch, status.transactions, status.uptime_seconds
    )
}

/// A path as one word of a POSIX shell, quoted only when it has to be.
fn quoted(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Lines for a POSIX shell.
fn shell(env: &Env) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let key = env.wallets.first().map(|wallet| wallet.keypair.display().to_string()).unwrap_or_default();
    let mut lines = vec![
        ("ZX1_URL", env.rpc_url.clone()),
        ("ZX1_WS_URL", env.ws_url.clone()),
        ("ZX1_KEYPAIR", key.clone()),
        ("ZX1_USDC_MINT", env.usdc_mint.clone()),
        (CONTROL_VARIABLE, env.control_url.clone()),
        ("ANCHOR_PROVIDER_URL", env.rpc_url.clone()),
        ("ANCHOR_WALLET", key),
    ];
    lines.extend(env.nano_rpc_url.clone().map(|url| ("NANO_NODE_URL", url)));
    lines.extend(env.nano_ws_url.clone().map(|url| ("NANO_WS_URL", url)));
    lines.iter().map(|(name, value)| format!("export {name}={}", quote(value))).collect::<Vec<_>>().join("\n")
}

/// Smallest units as a decimal number without needless zeros.
fn decimal(units: u64, decimals: usize) -> String {
    let text = format!("{units:0>width$}", width = decimals + 1);
    let (whole, part) = text.split_at(text.len() - decimals);
    let part = part.trim_end_matches('0');
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}
