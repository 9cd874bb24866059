//! The command line: flags and environment over the configuration's file.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::http::openapi;
use crate::server::Server;
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use zx1_server::config::load_or;
use zx1_server::overrides;
use zx1_server::process::{LogFormat, StopSignals, say_ready};

/// Options of the indexer.
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArgs {
    /// A configuration file; --print-config writes one
    #[arg(long, value_name = "FILE", env = "ZX1_INDEXER_CONFIG")]
    pub config: Option<PathBuf>,
    /// The cluster: a URL, or localhost, devnet, testnet, mainnet-beta
    #[arg(long, value_name = "URL", env = "ZX1_INDEXER_RPC")]
    pub rpc: Option<String>,
    /// The cluster's websocket; "auto" is one port above the RPC, "" is polling
    #[arg(long, value_name = "URL", env = "ZX1_INDEXER_WS")]
    pub ws: Option<String>,
    /// Where database and batches' data lie
    #[arg(long, value_name = "DIR", env = "ZX1_INDEXER_DATA")]
    pub data: Option<PathBuf>,
    /// The database: a file, or postgres://…
    #[arg(long, value_name = "URL", env = "ZX1_INDEXER_DB")]
    pub db: Option<String>,
    /// The address to listen on
    #[arg(long, value_name = "IP")]
    pub bind: Option<IpAddr>,
    /// The port to listen on; 0 is any free one
    #[arg(long, value_name = "PORT", env = "ZX1_INDEXER_PORT")]
    pub port: Option<u16>,
    /// A Nano node's RPC, for balances
    #[arg(long, value_name = "URL", env = "ZX1_INDEXER_NANO")]
    pub nano: Option<String>,
    /// A market whose contracts are shown; may be repeated
    #[arg(long, value_name = "URL")]
    pub market: Vec<String>,
    /// Folder of a mesh node on this machine that observes (zx1-node --observe)
    #[arg(long, value_name = "DIR", env = "ZX1_INDEXER_MESH")]
    pub mesh: Option<PathBuf>,
    /// How the log is written: text or json
    #[arg(
        long,
        value_name = "FORMAT",
        env = "ZX1_INDEXER_LOG_FORMAT",
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
}

impl ServeArgs {
    /// The configuration with everything in it.
    ///
    /// # Errors
    ///
    /// 9610
    pub fn configuration(&self) -> Result<Config> {
        let mut config = load_or(self.config.as_deref(), Config::default).map_err(Error::Config)?;
        overrides! {
            config.chain.rpc => self.rpc;
            config.chain.ws => self.ws;
            config.data => self.data;
            config.db => self.db;
            config.nano.rpc => self.nano;
            config.mesh.folder => self.mesh;
        }
        if let Some(ip) = self.bind {
            config.bind.set_ip(ip);
        }
        if let Some(port) = self.port {
            config.bind.set_port(port);
        }
        config.markets.extend(self.market.iter().cloned());
        Ok(config)
    }

    /// Indexes and serves until SIGINT or SIGTERM. When it listens, one line of JSON
    /// ([`crate::server::Ready`]) goes to standard output.
    ///
    /// # Errors
    ///
    /// Those of [`Server::start`].
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
        // Before it says that it is ready: whoever reads that may stop it at once.
        let mut signals = StopSignals::catch().map_err(Error::Config)?;
        let server = tokio::select! {
            server = Server::start(config) => server?,
            // Whatever was begun is a transaction of the database, or done again at the next start.
            () = signals.wait() => return Ok(()),
        };
        say_ready(server.ready()).map_err(Error::Config)?;
        signals.wait().await;
        tracing::info!("stopping");
        server.stop().await;
        Ok(())
    }
}
