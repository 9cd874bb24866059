//! The command line: flags and environment over the configuration's file.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::server::{self, Server};
use clap::{Args, Subcommand};
use std::net::IpAddr;
use std::path::PathBuf;
use zx1_server::config::load_or;
use zx1_server::overrides;
use zx1_server::process::{LogFormat, StopSignals, say_ready};

/// Options of the relay.
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArgs {
    /// Configuration file (TOML); --print-config writes one
    #[arg(long, value_name = "FILE", env = "ZX1_RELAY_CONFIG")]
    pub config: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1 and ::1]
    #[arg(long, value_name = "ADDRESS")]
    pub host: Option<IpAddr>,
    /// Port to listen on [default: 6667]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// Folder of the database [default: zx1-relay-data]
    #[arg(long, value_name = "DIR", env = "ZX1_RELAY_DATA")]
    pub data: Option<PathBuf>,
    /// Postgres in place of the folder
    #[arg(long, value_name = "URL", env = "ZX1_RELAY_DB")]
    pub db: Option<String>,
    /// What the relay calls itself [default: zx1-relay]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Message of the day, in every WELCOME
    #[arg(long, value_name = "TEXT")]
    pub motd: Option<String>,
    /// Channels that exist from the start, separated by commas [default: #general,#agents,#discovery]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub channels: Vec<String>,
    /// Use the older server's eight channels and 60 s for a challenge
    #[arg(long)]
    pub older: bool,
    /// Hexadecimal digits of an agent's id: 8 or 16 [default: 8]
    #[arg(long, value_name = "N")]
    pub id_digits: Option<usize>,
    /// Messages kept for who joins a channel [default: 20]
    #[arg(long, value_name = "N")]
    pub message_buffer_size: Option<usize>,
    /// Time between two messages of an agent [default: 1000]
    #[arg(long, value_name = "MS")]
    pub rate_limit_ms: Option<u64>,
    /// Time to answer a challenge [default: 30000]
    #[arg(long, value_name = "MS")]
    pub challenge_timeout_ms: Option<u64>,
    /// Time to answer a verification request [default: 30000]
    #[arg(long, value_name = "MS")]
    pub verification_timeout_ms: Option<u64>,
    /// Age that a proposal must have before it is completed [default: 60000]
    #[arg(long, value_name = "MS")]
    pub min_proposal_age_ms: Option<u64>,
    /// Let in only keys that are on the allowlist, and agents without a key
    #[arg(long)]
    pub allowlist_enabled: bool,
    /// Let in only keys that are on the allowlist
    #[arg(long)]
    pub allowlist_strict: bool,
    /// File of public keys (PEM, one after another) that come onto the allowlist
    #[arg(long, value_name = "FILE")]
    pub allowlist_file: Option<PathBuf>,
    /// File with the admin's key
    #[arg(long, value_name = "FILE", env = "ZX1_RELAY_ADMIN_KEY_FILE")]
    pub admin_key_file: Option<PathBuf>,
    /// Maximum number of open websockets [default: 10000]
    #[arg(long, value_name = "N")]
    pub max_connections: Option<usize>,
    /// Maximum number of open websockets from one address [default: 64, on loopback no limit]
    #[arg(long, value_name = "N")]
    pub max_connections_per_ip: Option<usize>,
    /// Time between two pings of the websocket [default: 30000]
    #[arg(long, value_name = "MS")]
    pub heartbeat_interval_ms: Option<u64>,
    /// Time for a pong [default: 30000]
    #[arg(long, value_name = "MS")]
    pub heartbeat_timeout_ms: Option<u64>,
    /// Redact secrets in messages, and refuse signed messages that hold one
    #[arg(long)]
    pub redact: bool,
    /// How the log is written: text or json
    #[arg(
        long,
        value_name = "FORMAT",
        env = "ZX1_RELAY_LOG_FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub log_format: LogFormat,
    /// Print the configuration as it would be used, and exit
    #[arg(long)]
    pub print_config: bool,
    /// Print the AsyncAPI document of the websocket, and exit
    #[arg(long)]
    pub print_asyncapi: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What the relay does beside serving.
#[derive(Debug, Clone, Subcommand)]
enum Command {
    /// Take over the ratings of an older server, once
    Import {
        /// The older server's ratings.json
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

impl ServeArgs {
    /// The configuration with everything in it.
    ///
    /// # Errors
    ///
    /// 7770
    pub fn configuration(&self) -> Result<Config> {
        let mut config = load_or(self.config.as_deref(), Config::default).map_err(Error::Config)?;
        overrides! {
            config.data => self.data;
            config.name => self.name;
            config.id_digits => self.id_digits;
            config.message_buffer_size => self.message_buffer_size;
            config.rate_limit_ms => self.rate_limit_ms;
            config.verification_timeout_ms => self.verification_timeout_ms;
            config.min_proposal_age_ms => self.min_proposal_age_ms;
            config.limits.connections => self.max_connections;
            config.limits.connections_per_ip => self.max_connections_per_ip;
            config.limits.heartbeat_interval_ms => self.heartbeat_interval_ms;
            config.limits.heartbeat_timeout_ms => self.heartbeat_timeout_ms;
        }
        for (field, option) in [(&mut config.motd, &self.motd), (&mut config.database, &self.db)] {
            if option.is_some() {
                field.clone_from(option);
            }
        }
        for (field, option) in [
            (&mut config.allowlist_file, &self.allowlist_file),
            (&mut config.admin_key_file, &self.admin_key_file),
        ] {
            if option.is_some() {
                field.clone_from(option);
            }
        }
        if self.challenge_timeout_ms.is_some() {
            config.challenge_timeout_ms = self.challenge_timeout_ms;
        }
        if !self.channels.is_empty() {
            config.channels.clone_from(&self.channels);
        }
        for (field, flag) in [
            (&mut config.older, self.older),
            (&mut config.allowlist_enabled, self.allowlist_enabled),
            (&mut config.allowlist_strict, self.allowlist_strict),
            (&mut config.redact, self.redact),
        ] {
            *field |= flag;
        }
        if let Some(host) = self.host {
            config.bind.set_ip(host);
        }
        if let Some(port) = self.port {
            config.bind.set_port(port);
        }
        config.rules()?;
        Ok(config)
    }

    /// Serves until SIGINT or SIGTERM. When it listens, one line of JSON ([`crate::server::Ready`]) goes to
    /// standard output.
    ///
    /// # Errors
    ///
    /// Those of [`Server::start`].
    pub async fn serve(self) -> Result<()> {
        let config = self.configuration()?;
        if self.print_config {
            print!("{}", config.print()?);
            return Ok(());
        }
        if self.print_asyncapi {
            print!("{}", crate::asyncapi::text());
            return Ok(());
        }
        if let Some(Command::Import { file }) = &self.command {
            let count = server::import(&config, file).await?;
            println!("{count} ratings imported");
            return Ok(());
        }
        // Caught before the ready line, as its reader may stop the process at once.
        let mut signals = StopSignals::catch().map_err(Error::Config)?;
        let server = tokio::select! {
            server = Server::start(&config) => server?,
            () = signals.wait() => return Ok(()),
        };
        say_ready(server.ready()).map_err(Error::Config)?;
        signals.wait().await;
        tracing::info!("stopping");
        server.stop().await;
        Ok(())
    }
}
