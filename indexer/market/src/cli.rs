//! The command line of the server; `fix serve` and `fix-server` share it.

use std::net::IpAddr;
use std::path::PathBuf;
#[cfg(feature = "testing")]
use std::sync::Arc;

use clap::Args;
#[cfg(feature = "testing")]
use nano_escrow::journal::CrashPoints;
use zx1_home::config::environment;
#[cfg(feature = "testing")]
use zx1_market::Millis;
use zx1_server::config::load_or;
use zx1_server::overrides;
use zx1_server::process::{LogFormat, StopSignals, say_ready};

#[cfg(feature = "testing")]
use crate::clock::DrivenClock;
use crate::config::Config;
#[cfg(feature = "testing")]
use crate::crash::DieAfter;
use crate::error::{Error, Result};
use crate::http::openapi;
use crate::server::{Options, Server};

/// Options over the configuration file. Each wins over the environment, and that over the file.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// A TOML file; see --print-config
    #[arg(long, value_name = "FILE", env = "FIX_CONFIG")]
    pub config: Option<PathBuf>,
    /// A path, or postgres://… for a Postgres database
    #[arg(long, value_name = "PATH|URL", env = "FIX_DB")]
    pub db: Option<String>,
    /// Where journal, embedded ledger and keys lie
    #[arg(long, value_name = "DIR", env = "FIX_DATA")]
    pub data: Option<PathBuf>,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// The port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT", env = "FIX_PORT")]
    pub port: Option<u16>,
    /// The file with the server's key
    #[arg(long, value_name = "FILE", env = "FIX_SERVER_KEY")]
    pub server_key: Option<PathBuf>,
    /// embedded, a node's RPC URL, or none for free contracts only
    #[arg(long, value_name = "LEDGER", env = "FIX_NANO")]
    pub nano: Option<String>,
    /// The node's websocket
    #[arg(long, value_name = "URL", env = "FIX_NANO_WS")]
    pub nano_ws: Option<String>,
    /// The node's network: live, beta, test or dev
    #[arg(long, value_name = "NETWORK", env = "FIX_NANO_NETWORK")]
    pub network: Option<String>,
    /// Where the platform's fees go
    #[arg(long, value_name = "ADDRESS", env = "FIX_PLATFORM_ADDRESS")]
    pub platform_address: Option<String>,
    /// On the embedded ledger: deposit for both sides
    #[arg(long)]
    pub auto_fund: bool,
    /// Serve the embedded ledger's play money on an address that others reach
    #[arg(long)]
    pub play_money: bool,
    /// The only address that serves /metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<std::net::SocketAddr>,
    /// Serve older clients, and sign for them
    #[arg(long)]
    pub compat: bool,
    /// Add a key whose rulings are chained; may be repeated
    #[arg(long, value_name = "fix_…")]
    pub judge: Vec<String>,
    /// Take over contracts from the transcripts of a folder, then serve
    #[arg(long, value_name = "DIR")]
    pub import: Option<PathBuf>,
    /// Take over the escrow journal that lies in the data folder, in place of the one that the database knows
    #[arg(long)]
    pub adopt_journal: bool,
    /// Announce open contracts on the mesh through this node: its agent's folder, or the URL of its local API
    #[arg(long, value_name = "FOLDER|URL", env = "FIX_MESH_NODE")]
    pub mesh_node: Option<String>,
    /// Address of this market as others reach it, which announcements name
    #[arg(long, value_name = "URL", env = "FIX_PUBLIC_URL")]
    pub public_url: Option<String>,
    /// How the log is written: text or json
    #[arg(
        long,
        value_name = "FORMAT",
        env = "FIX_LOG_FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub log_format: LogFormat,
    /// Write the configuration as it would be used, and end
    #[arg(long)]
    pub print_config: bool,
    /// Write the interface as OpenAPI, and end
    #[arg(long)]
    pub print_openapi: bool,
    /// Where the data lie when neither an option nor a configuration file says so; fix serve gives it
    #[arg(long, value_name = "DIR", hide = true)]
    pub default_data: Option<PathBuf>,
    /// A clock that stands still at this Unix millisecond until a test moves it; loopback only
    #[cfg(feature = "testing")]
    #[arg(long, value_name = "MS", hide = true)]
    pub test_clock: Option<u64>,
    /// Count restarts as absences by the test's clock
    #[cfg(feature = "testing")]
    #[arg(long, hide = true, requires = "test_clock")]
    pub test_absences: bool,
    /// Die at the n-th crash point
    #[cfg(feature = "testing")]
    #[arg(long, value_name = "N", hide = true, requires = "test_clock")]
    pub test_die_after: Option<u64>,
}

impl ServeArgs {
    /// The configuration with everything in it.
    pub fn configuration(&self) -> Result<Config> {
        let defaults = || {
            let mut config = Config::default();
            overrides! { config.data => self.default_data; }
            config
        };
        let mut config = load_or(self.config.as_deref(), defaults).map_err(Error::Config)?;
        overrides! {
            config.db => self.db;
            config.data => self.data;
            config.key => self.server_key;
            config.nano.ledger => self.nano;
            config.nano.ws => self.nano_ws;
            config.nano.network => self.network;
            config.nano.platform_address => self.platform_address;
            config.mesh.node => self.mesh_node;
            config.mesh.public_url => self.public_url;
        }
        if let Some(ip) = self.bind {
            config.bind.set_ip(ip);
        }
        if let Some(port) = self.port {
            config.bind.set_port(port);
        }
        config.nano.auto_fund |= self.auto_fund;
        config.nano.play_money |= self.play_money;
        config.metrics = self.metrics.or(config.metrics);
        config.compat |= self.compat;
        for judge in &self.judge {
            config.judges.push(judge.parse()?);
        }
        Ok(config)
    }

    /// Serve until SIGINT or SIGTERM. When ready, one line of JSON ([`crate::server::Ready`]) goes to
    /// standard output.
    pub async fn serve(self) -> Result<()> {
        if self.print_openapi {
            print!("{}", openapi::text());
            return Ok(());
        }
        let config = self.configuration()?;
        if self.print_config {
            print!("{}", config.print()?);
            return Ok(());
        }
        let options = Options {
            nano_seed: environment("FIX_NANO_SEED").map(zeroize::Zeroizing::new),
            nonce_secret: environment("FIX_NANO_NONCE_SECRET").map(zeroize::Zeroizing::new),
            adopt_journal: self.adopt_journal,
            ..Options::default()
        };
        #[cfg(feature = "testing")]
        let options = Options {
            test_clock: self.test_clock.map(|ms| match self.test_absences {
                true => DrivenClock::new(Millis(ms)).with_absences(),
                false => DrivenClock::new(Millis(ms)),
            }),
            points: match self.test_die_after {
                Some(points) => CrashPoints::new(Arc::new(DieAfter::new(points))),
                None => CrashPoints::default(),
            },
            ..options
        };
        // Before it says that it is ready: whoever reads that may stop it at once.
        let mut signals = StopSignals::catch().map_err(Error::Config)?;
        let server = tokio::select! {
            server = Server::start(&config, options) => server?,
            // Nothing was promised to anybody yet; what was begun is finished at the next start.
            () = signals.wait() => return Ok(()),
        };
        if let Some(folder) = &self.import {
            let (taken, known) = crate::import::folder(server.engine(), folder).await?;
            tracing::info!(taken, known, "transcripts imported");
        }
        say_ready(server.ready()).map_err(Error::Config)?;
        signals.wait().await;
        tracing::info!("stopping");
        server.stop().await
    }
}
