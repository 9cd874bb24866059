//! The command line of the node's process.

use crate::defaults::LISTEN;
use crate::error::{Error, Result};
use crate::http::{asyncapi, openapi};
use crate::observe::{self, Observer};
use crate::server::{Config, Server};
use clap::Args;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;
use zx1_home::config::{expand_home, folder};
use zx1_mesh::gate::Mode;
use zx1_operator::node::DEFAULT_API;
use zx1_operator::node::wire::Place;
use zx1_protocol::ids::AgentId;
use zx1_server::process::{LogFormat, StopSignals, say_ready};

/// Longest name in a BEACON, in bytes.
const MAX_NAME: usize = 64;

/// Options of the node.
#[derive(Debug, Clone, Args)]
pub struct NodeArgs {
    /// Mint of the agent
    #[arg(long, value_name = "MINT", env = "ZX1_NODE_AGENT")]
    pub agent: Option<String>,
    /// zx1's folder, which holds the agent's log [default: ~/.config/zx1]
    #[arg(long, value_name = "DIR", env = "ZX1_HOME")]
    pub home: Option<PathBuf>,
    /// RPC address of the cluster, or localhost, devnet, testnet, mainnet-beta
    #[arg(short, long, value_name = "URL_OR_MONIKER", env = "ZX1_URL")]
    pub url: Option<String>,
    /// Keypair file of the node: a key of the agent with the scope peer
    #[arg(short, long, value_name = "PATH", env = "ZX1_NODE_KEYPAIR")]
    pub keypair: Option<PathBuf>,
    /// Address to listen on, may be given several times [default: TCP and QUIC on port 4001]
    #[arg(long, value_name = "MULTIADDR")]
    pub listen: Vec<Multiaddr>,
    /// Address at which others reach this node, such as a forwarded port
    #[arg(long, value_name = "MULTIADDR")]
    pub external: Vec<Multiaddr>,
    /// Node to begin with, ending in /p2p/ and its peer id; may be given several times
    #[arg(long, value_name = "MULTIADDR", env = "ZX1_NODE_BOOTSTRAP", value_delimiter = ',')]
    pub bootstrap: Vec<Multiaddr>,
    /// Loopback address and port of the local API
    #[arg(long, value_name = "ADDRESS:PORT", default_value = DEFAULT_API)]
    pub api: SocketAddr,
    /// Do not look for nodes on the local network
    #[arg(long)]
    pub no_mdns: bool,
    /// Relay for nodes that nobody can reach
    #[arg(long)]
    pub relay: bool,
    /// Take messages of anybody: no registration, stake or lease is asked for. For closed networks only
    #[arg(long)]
    pub dev: bool,
    /// Observe only, for an indexer: hear the topics, without an agent. Key, token and peers are kept in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["agent", "keypair", "name"])]
    pub observe: Option<PathBuf>,
    /// What the agent calls itself on the mesh
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub name: String,
    /// Registration file into which the node writes its addresses [default: registration.json in the agent's folder]
    #[arg(long, value_name = "PATH", env = "ZX1_NODE_REGISTRATION_FILE")]
    pub registration_file: Option<PathBuf>,
    /// How the log is written: text or json
    #[arg(
        long,
        value_name = "FORMAT",
        env = "ZX1_NODE_LOG_FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub log_format: LogFormat,
    /// Print the OpenAPI document of the local API, and exit
    #[arg(long)]
    pub print_openapi: bool,
    /// Print the AsyncAPI document of the websocket, and exit
    #[arg(long)]
    pub print_asyncapi: bool,
    /// Take this machine's clock as one that is wrong by this much, for tests
    #[cfg(feature = "testing")]
    #[arg(long, value_name = "SECONDS", hide = true, allow_negative_numbers = true)]
    pub test_clock: Option<i64>,
    /// Agent where nothing else names one; zx1 node run passes it
    #[arg(long, value_name = "MINT", hide = true)]
    pub default_agent: Option<String>,
    /// Cluster where no option names one; zx1 node run passes it
    #[arg(long, value_name = "URL", hide = true)]
    pub default_url: Option<String>,
    /// The default cluster is not zx1's own setting, so it may not be the main network
    #[arg(long, hide = true, requires = "default_url")]
    pub default_url_unasked: bool,
    /// Key where nothing else names one; zx1 node run passes it
    #[arg(long, value_name = "PATH", hide = true)]
    pub default_keypair: Option<PathBuf>,
    /// Registration file where no option names one; zx1 node run passes it
    #[arg(long, value_name = "PATH", hide = true)]
    pub default_registration_file: Option<PathBuf>,
    /// Folder where nothing else names one; zx1 node run passes it
    #[arg(long, value_name = "DIR", hide = true)]
    pub default_home: Option<PathBuf>,
}

impl NodeArgs {
    /// What the node is started with.
    ///
    /// # Errors
    /// 7680
    pub fn configuration(&self) -> Result<Config> {
        let config = |text: String| Error::Config(text);
        let agent = self.agent.as_ref().or(self.default_agent.as_ref());
        let agent =
            agent.ok_or_else(|| config("No agent is named; name its mint with --agent.".to_owned()))?;
        let agent: AgentId =
            agent.parse().map_err(|error| config(format!("Invalid agent '{agent}': {error}")))?;
        let home = self.home.clone().or_else(|| self.default_home.clone());
        let home = home.or_else(|| folder("ZX1_HOME", ".config/zx1"));
        let home =
            home.ok_or_else(|| config("There is no home folder; name zx1's with --home.".to_owned()))?;
        if self.name.len() > MAX_NAME {
            return Err(config(format!(
                "The name is too long: {} bytes, maximum {MAX_NAME}.",
                self.name.len()
            )));
        }
        let Mesh { url, may_be_mainnet, listen, mode } = self.mesh()?;
        let keypair = self.keypair.clone().or_else(|| self.default_keypair.clone()).unwrap_or_default();
        let wrong_clock = None;
        #[cfg(feature = "testing")]
        let wrong_clock = self.test_clock.or(wrong_clock);
        Ok(Config {
            agent,
            home: expand_home(&home.to_string_lossy()),
            url,
            may_be_mainnet,
            keypair: expand_home(&keypair.to_string_lossy()),
            listen,
            external: self.external.clone(),
            bootstrap: self.bootstrap.clone(),
            api: self.api,
            mdns: !self.no_mdns,
            relay: self.relay,
            mode,
            name: self.name.clone(),
            wrong_clock,
            registration: self
                .registration_file
                .as_ref()
                .or(self.default_registration_file.as_ref())
                .map(|path| expand_home(&path.to_string_lossy())),
        })
    }

    /// What a node that only observes is started with, in this folder.
    ///
    /// # Errors
    /// 7680
    pub fn observing(&self, folder: &Path) -> Result<observe::Config> {
        let Mesh { url, may_be_mainnet, listen, mode } = self.mesh()?;
        Ok(observe::Config {
            folder: expand_home(&folder.to_string_lossy()),
            url,
            may_be_mainnet,
            listen,
            external: self.external.clone(),
            bootstrap: self.bootstrap.clone(),
            api: self.api,
            mdns: !self.no_mdns,
            relay: self.relay,
            mode,
        })
    }

    /// What both kinds of nodes need.
    fn mesh(&self) -> Result<Mesh> {
        if let Some(address) =
            self.bootstrap.iter().find(|it| !matches!(it.iter().last(), Some(Protocol::P2p(_))))
        {
            return Err(Error::Config(format!(
                "The bootstrap address {address} does not end in /p2p/ and a peer id; add it."
            )));
        }
        let listen = if self.listen.is_empty() {
            LISTEN.iter().filter_map(|address| address.parse().ok()).collect()
        } else {
            self.listen.clone()
        };
        let url = self.url.clone().or_else(|| self.default_url.clone());
        Ok(Mesh {
            url: url.unwrap_or_else(|| "localhost".to_owned()),
            may_be_mainnet: !self.default_url_unasked || self.url.is_some(),
            listen,
            mode: if self.dev { Mode::Dev } else { Mode::Enforced },
        })
    }

    /// Runs until SIGINT, SIGTERM or a request to stop. When it serves, one line of JSON goes to standard output.
    ///
    /// # Errors
    /// Those of [`Server::start`].
    pub async fn serve(self) -> Result<()> {
        if self.print_openapi {
            print!("{}", openapi::text());
            return Ok(());
        }
        if self.print_asyncapi {
            print!("{}", asyncapi::text());
            return Ok(());
        }
        if self.dev {
            tracing::warn!(
                "--dev: messages of anybody are taken, without registration, stake or lease; other nodes drop them"
            );
        }
        // Caught before the ready line, as its reader may stop the process at once.
        let mut signals = StopSignals::catch().map_err(Error::Config)?;
        if let Some(folder) = &self.observe {
            let config = self.observing(folder)?;
            let observer = tokio::select! {
                observer = Observer::start(config) => observer?,
                () = signals.wait() => return Ok(()),
            };
            until_stopped(observer.ready(), observer.stop_asked(), signals).await?;
            return observer.stop().await;
        }
        let config = self.configuration()?;
        let server = tokio::select! {
            server = Server::start(config) => server?,
            () = signals.wait() => return Ok(()),
        };
        until_stopped(server.ready(), server.stop_asked(), signals).await?;
        server.stop().await
    }
}

/// What an agent's node and one that only observes have in common.
struct Mesh {
    url: String,
    may_be_mainnet: bool,
    listen: Vec<Multiaddr>,
    mode: Mode,
}

/// Says that the node serves, and waits for a signal or a request to stop.
async fn until_stopped(ready: &Place, asked: CancellationToken, mut signals: StopSignals) -> Result<()> {
    say_ready(ready).map_err(Error::Config)?;
    tokio::select! {
        () = signals.wait() => {}
        () = asked.cancelled() => {}
    }
    tracing::info!("stopping");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        node: NodeArgs,
    }

    const AGENT: &str = "6tBou5MHL5aWpDy6cgf3wiwGGK2mR8qs68ujtpaoWrf2";

    fn configured(line: &str) -> Result<Config> {
        Command::try_parse_from(line.split(' ')).unwrap().node.configuration()
    }

    #[test]
    fn options_win_over_defaults_that_zx1_passes_and_those_over_ours() {
        let zx1 =
            format!("n --default-agent {AGENT} --default-url devnet --default-keypair /k --default-home /h");
        let config = configured(&zx1).unwrap();
        assert_eq!((config.agent.to_string().as_str(), config.url.as_str()), (AGENT, "devnet"));
        assert_eq!((config.keypair.to_str(), config.listen.len()), (Some("/k"), 2));
        assert!(config.may_be_mainnet && config.mdns && !config.relay && config.mode == Mode::Enforced);
        let config = configured(&format!("{zx1} -u testnet -k /mine --no-mdns --relay --dev")).unwrap();
        assert_eq!((config.url.as_str(), config.keypair.to_str()), ("testnet", Some("/mine")));
        assert!(!config.mdns && config.relay && config.mode == Mode::Dev);
        assert!(!configured(&format!("{zx1} --default-url-unasked")).unwrap().may_be_mainnet);
        let file = |line: &str| configured(&format!("{zx1}{line}")).unwrap().registration;
        assert_eq!(file(""), None);
        assert_eq!(file(" --default-registration-file /r").unwrap().to_str(), Some("/r"));
        let both = file(" --default-registration-file /r --registration-file /own");
        assert_eq!(both.unwrap().to_str(), Some("/own"));
    }

    #[test]
    fn an_observer_needs_no_agent_and_takes_none() {
        let line = format!("n --default-agent {AGENT} --default-url devnet --observe /o --relay");
        let node = Command::try_parse_from(line.split(' ')).unwrap().node;
        let config = node.observing(node.observe.as_deref().unwrap()).unwrap();
        assert_eq!((config.folder.to_str(), config.url.as_str(), config.relay), (Some("/o"), "devnet", true));
        for more in [format!("--agent {AGENT}"), "-k /k".to_owned(), "--name x".to_owned()] {
            assert!(Command::try_parse_from(format!("n --observe /o {more}").split(' ')).is_err(), "{more}");
        }
    }

    #[test]
    fn every_mistake_is_named() {
        for (line, part) in [
            ("n", "No agent is named"),
            ("n --agent zz", "Invalid agent 'zz'"),
            (&format!("n --agent {AGENT} --bootstrap /ip4/127.0.0.1/tcp/1"), "does not end in /p2p/"),
            (&format!("n --agent {AGENT} --name {}", "x".repeat(65)), "too long: 65 bytes"),
        ] {
            let said = configured(line).unwrap_err().to_string();
            assert!(said.contains(part), "{said}");
        }
        for line in ["n --listen 127.0.0.1:4001", "n --api 4010", "n --external x"] {
            assert!(Command::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
