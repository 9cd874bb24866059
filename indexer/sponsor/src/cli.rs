//! The command line: flags and environment over the configuration's file.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::server::Server;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use zx1_protocol::units::{AmountError, parse_decimal};
use zx1_server::config::load_or;
use zx1_server::overrides;
use zx1_server::process::{LogFormat, StopSignals, say_ready};

/// Decimals of SOL: amounts are lamports.
const SOL_DECIMALS: usize = 9;

/// Options of the sponsor.
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArgs {
    /// Configuration file (TOML); --print-config writes one
    #[arg(long, value_name = "FILE", env = "ZX1_SPONSOR_CONFIG")]
    pub config: Option<PathBuf>,
    /// Address and port to listen on [default: 127.0.0.1:8895]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Maximum number of texts per sender and day [default: 5]
    #[arg(long, value_name = "N")]
    pub per_sender: Option<u32>,
    /// Maximum amount to spend per day, fees and rent together [default: 0.1]
    #[arg(long, value_name = "SOL", value_parser = lamports, allow_negative_numbers = true)]
    pub per_day: Option<u64>,
    /// RPC address of the cluster, or localhost, devnet, testnet, mainnet-beta
    #[arg(short, long, value_name = "URL_OR_MONIKER", env = "ZX1_URL")]
    pub url: Option<String>,
    /// Keypair file that pays
    #[arg(short, long, value_name = "PATH", env = "ZX1_KEYPAIR")]
    pub keypair: Option<PathBuf>,
    /// Folder of the record of what was spent
    #[arg(long, value_name = "DIR", env = "ZX1_SPONSOR_DATA")]
    pub data: Option<PathBuf>,
    /// How the log is written: text or json
    #[arg(
        long,
        value_name = "FORMAT",
        env = "ZX1_SPONSOR_LOG_FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub log_format: LogFormat,
    /// Print the configuration as it would be used, and exit
    #[arg(long)]
    pub print_config: bool,
    /// Cluster where neither an option nor a configuration file names one; zx1 sponsor passes it
    #[arg(long, value_name = "URL", hide = true)]
    pub default_url: Option<String>,
    /// The default cluster is not zx1's own setting, so it may not be the main network
    #[arg(long, hide = true, requires = "default_url")]
    pub default_url_unasked: bool,
    /// Key where nothing else names one; zx1 sponsor passes it
    #[arg(long, value_name = "PATH", hide = true)]
    pub default_keypair: Option<PathBuf>,
    /// Folder where nothing else names one; zx1 sponsor passes it
    #[arg(long, value_name = "DIR", hide = true)]
    pub default_data: Option<PathBuf>,
}

impl ServeArgs {
    /// The configuration with everything in it.
    ///
    /// # Errors
    ///
    /// 9700
    pub fn configuration(&self) -> Result<Config> {
        let defaults = || {
            let mut config = Config::default();
            overrides! {
                config.url => self.default_url;
                config.keypair => self.default_keypair;
                config.data => self.default_data;
            }
            config
        };
        let mut config = load_or(self.config.as_deref(), defaults).map_err(Error::Config)?;
        overrides! {
            config.bind => self.listen;
            config.per_sender => self.per_sender;
            config.per_day_lamports => self.per_day;
            config.url => self.url;
            config.keypair => self.keypair;
            config.data => self.data;
        }
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
        let may_be_mainnet = !self.default_url_unasked || self.url.is_some() || self.config.is_some();
        // Caught before the ready line, as its reader may stop the process at once.
        let mut signals = StopSignals::catch().map_err(Error::Config)?;
        let server = tokio::select! {
            server = Server::start(&config, may_be_mainnet) => server?,
            () = signals.wait() => return Ok(()),
        };
        say_ready(server.ready()).map_err(Error::Config)?;
        signals.wait().await;
        tracing::info!("stopping");
        server.stop().await;
        Ok(())
    }
}

fn lamports(text: &str) -> Result<u64, AmountError> {
    parse_decimal(text, SOL_DECIMALS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn configured(line: &str) -> Config {
        Command::try_parse_from(line.split(' ')).unwrap().serve.configuration().unwrap()
    }

    #[test]
    fn options_win_over_defaults_that_zx1_passes_and_those_over_ours() {
        let zx1 = "s --default-url devnet --default-keypair /k --default-data /d";
        let config = configured(zx1);
        assert_eq!((config.url.as_str(), config.keypair.as_os_str(), config.data.as_os_str()), {
            ("devnet", "/k".as_ref(), "/d".as_ref())
        });
        let config = configured(&format!("{zx1} -u testnet -k /mine --per-day 0.05 --per-sender 2"));
        assert_eq!((config.url.as_str(), config.keypair.to_str()), ("testnet", Some("/mine")));
        assert_eq!((config.per_day_lamports, config.per_sender), (50_000_000, 2));
        let ours = Config::default();
        assert_eq!((ours.per_sender, ours.per_day_lamports, ours.bind.port()), (5, 100_000_000, 8895));
    }

    #[test]
    fn the_daily_cap_is_a_decimal_of_sol_and_nothing_else() {
        assert_eq!(configured("s --per-day 0.000000001").per_day_lamports, 1);
        for text in ["x", "-1", "0.0000000001", "99999999999999"] {
            assert!(Command::try_parse_from(["s", "--per-day", text]).is_err(), "{text}");
        }
    }
}
