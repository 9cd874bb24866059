//! The configuration: a TOML file, over it the environment (fix.md, "Environment variables"; decision A1),
//! over it the command line. `--print-config` writes every value out.

use std::net::SocketAddr;
use std::path::PathBuf;

use nano_escrow::Network;
use serde::{Deserialize, Serialize};
use zx1_market::terms::{CourtLimits, Fees, Windows};
use zx1_market::wire::Xno;
use zx1_market::wire::advert::MAX_MARKET;
use zx1_market::{Address, Millis, NetworkId, PartyId, Terms};

use crate::announce::{Announcer, Place};
use crate::engine::SeatLimits;
use crate::error::{Error, Result};
use crate::escrow::{Budget, Ledger};
use crate::http::Limits;

/// Configuration of the market server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address on which the server listens.
    pub bind: SocketAddr,
    /// The only address that serves /metrics. Without one they are served with everything else on a loopback address,
    /// and nowhere on another.
    pub metrics: Option<SocketAddr>,
    /// Where journal, embedded ledger, keys and (unless `db` says otherwise) the database lie.
    pub data: PathBuf,
    /// A path, or `postgres://…` (FIX_DB). Empty: `market.db` in `data`.
    pub db: String,
    /// The file with the server's key (FIX_SERVER_KEY). Empty: `server.key` in `data`. Made if it is not
    /// there.
    pub key: PathBuf,
    /// Sign for older clients (decision E13).
    pub compat: bool,
    /// Keys whose rulings are chained, beside the server's own.
    pub judges: Vec<PartyId>,
    /// Number of cases before the judges at once: no more than each judge sits on. The others wait, and their judge's time
    /// stands still.
    pub court_seats: usize,
    /// Number of these seats that one key holds, as principal or agent, unless another seat stays free.
    pub court_seats_per_key: usize,
    /// The Nano ledger, the escrow's seed and the addresses that fees go to.
    pub nano: NanoConfig,
    /// The mesh node through which open contracts are announced.
    pub mesh: MeshConfig,
    /// Bounds of the bounty, and the fees.
    pub fees: FeesConfig,
    /// How long everything takes, in milliseconds (decision E12).
    pub windows_ms: WindowsConfig,
    /// What a court's machine gives a re-execution (decision E6).
    pub court: CourtLimits,
    /// Bounds of the interface.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            bind: SocketAddr::from(([127, 0, 0, 1], 8000)),
            metrics: None,
            data: "fix-data".into(),
            db: String::new(),
            key: PathBuf::new(),
            compat: false,
            judges: Vec::new(),
            court_seats: zx1_market::defaults::COURT_SEATS,
            court_seats_per_key: 1,
            nano: NanoConfig::default(),
            mesh: MeshConfig::default(),
            fees: FeesConfig::default(),
            windows_ms: WindowsConfig::default(),
            court: CourtLimits::default(),
            limits: Limits::default(),
        }
    }
}

/// Announcement of open contracts on the mesh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeshConfig {
    /// The node of the market's own agent: the agent's folder, or the URL of the node's local API. Empty: nothing is
    /// announced.
    pub node: String,
    /// The file with the token of a node that is named by its URL; a folder has its own.
    pub token_file: PathBuf,
    /// Address of this market as others reach it. Empty: the address on which it listens, if that is loopback.
    pub public_url: String,
}

/// The ledger and the escrow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NanoConfig {
    /// `embedded`, a node's RPC URL, or `none` for free contracts only.
    pub ledger: String,
    /// The node's websocket. Empty: polling only.
    pub ws: String,
    /// `live`, `beta`, `test` or `dev`: which network the node must be on.
    pub network: String,
    /// The file with the escrow's seed, when FIX_NANO_SEED is not set. Empty: `nano.seed` in `data`. Made if
    /// it is not there.
    pub seed_file: PathBuf,
    /// The file with the secret that accounts' nonces are derived from, when FIX_NANO_NONCE_SECRET is not set. Empty:
    /// `nonce.secret` in `data`. Made if it is not there. It must not be the seed.
    pub nonce_file: PathBuf,
    /// Files with former nonce secrets, so that addresses that were handed out under them are still found.
    pub former_nonce_files: Vec<PathBuf>,
    /// Where the platform's fees go (FIX_PLATFORM_ADDRESS). Empty: the first wallet account of the escrow's
    /// seed.
    pub platform_address: String,
    /// Where forfeited bounties go. Empty: the default charity (`zx1_market::defaults::CHARITY`).
    pub charity_address: String,
    /// Who votes with the money that is held. Empty on a live network: the charity's account; else the
    /// genesis account.
    pub representative: String,
    /// Serve the embedded ledger, which is play money, on an address that others reach.
    pub play_money: bool,
    /// On the embedded ledger: deposit for both sides, for demos (decision E8).
    pub auto_fund: bool,
    /// Threads for proof of work; 0: all but what the system needs.
    pub work_threads: usize,
    /// RPC URLs of nodes and work servers that compute proof of work, before this machine does. What they answer is
    /// checked.
    pub work_peers: Vec<String>,
    /// Time that a work peer may take, in milliseconds.
    pub work_peer_timeout_ms: u64,
    /// Maximum number of refunds in an hour that are made without an operator's order: each costs a send's work.
    pub refunds_per_hour: u32,
    /// Least amount that is sent back without an operator's order, in XNO.
    pub refund_min: Xno,
    /// How often accounts that wait for a deposit are looked at, in milliseconds.
    pub deposit_poll_ms: u64,
}

impl Default for NanoConfig {
    fn default() -> NanoConfig {
        NanoConfig {
            ledger: "embedded".to_owned(),
            ws: String::new(),
            network: "live".to_owned(),
            seed_file: PathBuf::new(),
            nonce_file: PathBuf::new(),
            former_nonce_files: Vec::new(),
            platform_address: String::new(),
            charity_address: String::new(),
            representative: String::new(),
            play_money: false,
            auto_fund: false,
            work_threads: 0,
            work_peers: Vec::new(),
            work_peer_timeout_ms: 30_000,
            refunds_per_hour: 60,
            refund_min: nano_escrow::Raw(nano_escrow::Raw::XNO.get() / 100).into(),
            deposit_poll_ms: 500,
        }
    }
}

/// Prices; see [`Fees`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeesConfig {
    /// The least bounty of a contract, in XNO.
    pub min_bounty: Xno,
    /// The greatest bounty of a contract, in XNO.
    pub max_bounty: Xno,
    /// Each side's judge fee, in XNO.
    pub judge_fee: Xno,
    /// The platform's fee, in hundredths of a percent of the bounty.
    pub platform_fee_bp: u32,
    /// The least platform fee, in XNO.
    pub platform_fee_min: Xno,
    /// The fee for leaving late, in hundredths of a percent of the bounty.
    pub cancel_fee_bp: u32,
    /// The fees of the district, appeals and supreme court, in XNO.
    pub courts: [Xno; 3],
}

impl Default for FeesConfig {
    fn default() -> FeesConfig {
        let fees = Fees::default();
        FeesConfig {
            min_bounty: fees.min_bounty.into(),
            max_bounty: fees.max_bounty.into(),
            judge_fee: fees.judge_fee.into(),
            platform_fee_bp: fees.platform_fee_bp,
            platform_fee_min: fees.platform_fee_min.into(),
            cancel_fee_bp: fees.cancel_fee_bp,
            courts: fees.courts.map(Xno),
        }
    }
}

impl FeesConfig {
    fn fees(&self) -> Fees {
        Fees {
            min_bounty: self.min_bounty.0,
            max_bounty: self.max_bounty.0,
            judge_fee: self.judge_fee.0,
            platform_fee_bp: self.platform_fee_bp,
            platform_fee_min: self.platform_fee_min.0,
            cancel_fee_bp: self.cancel_fee_bp,
            courts: self.courts.map(|fee| fee.0),
        }
    }
}

macro_rules! windows {
    ($($name:ident),*) => {
        /// The windows in milliseconds; see [`Windows`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[allow(missing_docs)] // They are named and explained in `Windows`.
        pub struct WindowsConfig { $(pub $name: u64),* }

        impl Default for WindowsConfig {
            fn default() -> WindowsConfig {
                let windows = Windows::default();
                WindowsConfig { $($name: windows.$name.0),* }
            }
        }

        impl WindowsConfig {
            fn windows(&self) -> Windows {
                Windows { $($name: Millis(self.$name)),* }
            }
        }
    };
}
windows!(
    open,
    reservation,
    unfunded,
    investigation,
    grace,
    verify,
    response,
    judge,
    reexecution,
    appeal,
    objection,
    halt
);

fn address(text: &str, what: &str) -> Result<Option<Address>> {
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = |_| Error::Config(format!("{what} is not a Nano address; correct it."));
    text.parse().map(Some).map_err(wrong)
}

impl Config {
    /// Every value, as TOML.
    pub fn print(&self) -> Result<String> {
        zx1_server::config::print(self).map_err(Error::Config)
    }

    /// Path of the server's key file.
    pub fn key_path(&self) -> PathBuf {
        if self.key.as_os_str().is_empty() { self.data.join("server.key") } else { self.key.clone() }
    }

    /// Path of the escrow's seed file.
    pub fn seed_path(&self) -> PathBuf {
        if self.nano.seed_file.as_os_str().is_empty() {
            self.data.join("nano.seed")
        } else {
            self.nano.seed_file.clone()
        }
    }

    /// Path of the file with the nonce secret.
    pub fn nonce_path(&self) -> PathBuf {
        if self.nano.nonce_file.as_os_str().is_empty() {
            self.data.join("nonce.secret")
        } else {
            self.nano.nonce_file.clone()
        }
    }

    /// The URL or path of the database. `market.db` in the data folder, unless the configuration names
    /// another.
    pub fn database(&self) -> String {
        if self.db.is_empty() { self.data.join("market.db").display().to_string() } else { self.db.clone() }
    }

    /// Seats before the judges: at least one.
    pub fn seats(&self) -> SeatLimits {
        SeatLimits { seats: self.court_seats.max(1), per_key: self.court_seats_per_key.max(1) }
    }

    /// Refuses what would lose somebody's money: play money where strangers pay, fees of a live network in the wallet
    /// that holds the escrow's keys.
    pub fn check_money(&self) -> Result<()> {
        match self.ledger()? {
            Some(Ledger::Embedded) if !self.bind.ip().is_loopback() && !self.nano.play_money => {
                Err(Error::Config(
                    "The embedded ledger is play money, and this address is reached by others; give a node's URL \
                     (nano.ledger), or say that it is play money (nano.play_money)."
                        .to_owned(),
                ))
            }
            Some(Ledger::Node { network: Network::Live, .. }) if self.nano.platform_address.is_empty() => {
                Err(Error::Config(
                    "A market on the live network needs an address for its fees; set nano.platform_address.".to_owned(),
                ))
            }
            _ => Ok(()),
        }
    }

    /// What announces this market's contracts; `None`: nothing does. `own` is where it listens.
    pub fn announcer(&self, own: &str) -> Result<Option<Announcer>> {
        let MeshConfig { node, token_file, public_url } = &self.mesh;
        if node.is_empty() {
            return Ok(None);
        }
        let place = Place::read(node, token_file)?;
        let named = match public_url.as_str() {
            "" if self.bind.ip().is_loopback() => own,
            "" => {
                return Err(Error::Config(
                    "Announced contracts name the market's address; set mesh.public_url to the one that others reach."
                        .to_owned(),
                ));
            }
            url => url,
        };
        let wrong = |why: String| Error::Config(format!("mesh.public_url {named}: {why}; correct it."));
        let url =
            zx1_net::Endpoint::parse(named).map_err(|error| wrong(zx1_net::clause(&error.to_string())))?;
        let url = url.to_string();
        if url.len() > MAX_MARKET {
            return Err(wrong(format!("it is longer than {MAX_MARKET} bytes")));
        }
        Ok(Some(Announcer::new(place, url)))
    }

    /// The ledger; `None` for a market of free contracts.
    pub fn ledger(&self) -> Result<Option<Ledger>> {
        match self.nano.ledger.as_str() {
            "none" => Ok(None),
            "embedded" => Ok(Some(Ledger::Embedded)),
            url if url.starts_with("http://") || url.starts_with("https://") => {
                let network = match self.nano.network.as_str() {
                    "live" => Network::Live,
                    "beta" => Network::Beta,
                    "test" => Network::Test,
                    "dev" => Network::Dev,
                    other => {
                        let text =
                            format!("The network `{other}` is not known; use live, beta, test or dev.");
                        return Err(Error::Config(text));
                    }
                };
                let ws = Some(self.nano.ws.clone()).filter(|ws| !ws.is_empty());
                Ok(Some(Ledger::Node { rpc: url.to_owned(), ws, network }))
            }
            other => Err(Error::Config(format!(
                "The ledger `{other}` is not known; use embedded, a node's URL, or none."
            ))),
        }
    }

    /// What the escrow may spend on its own.
    pub fn budget(&self) -> Budget {
        Budget {
            auto_fund: self.nano.auto_fund,
            work_threads: self.nano.work_threads,
            work_peers: self.nano.work_peers.clone(),
            work_peer_timeout: std::time::Duration::from_millis(self.nano.work_peer_timeout_ms.max(1)),
            refunds_per_hour: self.nano.refunds_per_hour,
            refund_min: self.nano.refund_min.0,
        }
    }

    /// The representative of the escrow's accounts.
    pub fn representative(&self) -> Result<Option<Address>> {
        address(&self.nano.representative, "nano.representative")
    }

    /// The terms of this server's contracts, checked. `own` gets the platform's fees unless another address
    /// is set.
    pub fn terms(&self, server: PartyId, own: Address) -> Result<Terms> {
        let platform = address(&self.nano.platform_address, "nano.platform_address")?.unwrap_or(own);
        let mut terms = Terms::new(server, platform)?;
        if let Some(charity) = address(&self.nano.charity_address, "nano.charity_address")? {
            terms.charity = charity;
        }
        terms.network = match self.ledger()? {
            None => NetworkId::NONE,
            Some(Ledger::Embedded) => Network::Dev.into(),
            Some(Ledger::Node { network, .. }) => network.into(),
        };
        terms.judges = self.judges.clone();
        terms.fees = self.fees.fees();
        terms.windows = self.windows_ms.windows();
        terms.court = self.court;
        terms.compat = self.compat;
        terms.check()?;
        Ok(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back_the_same_ok() {
        let config = Config::default();
        let text = config.print().unwrap();
        assert_eq!(toml::from_str::<Config>(&text).unwrap(), config);
        assert!(text.contains("min_bounty = \"0.19\""), "{text}");
    }

    #[test]
    fn a_part_of_a_table_leaves_the_rest_as_it_is_ok() {
        let config: Config =
            toml::from_str("[windows_ms]\nopen = 5\n[fees]\nmin_bounty = \"0.2\"\n[court]\nprocesses = 9")
                .unwrap();
        assert_eq!(config.windows_ms.open, 5);
        assert_eq!(config.windows_ms.halt, WindowsConfig::default().halt);
        assert_eq!(config.court, CourtLimits { processes: 9, ..CourtLimits::default() });
        assert_eq!(config.fees.judge_fee, FeesConfig::default().judge_fee);
    }

    #[test]
    fn play_money_and_fees_to_the_escrow_s_own_wallet_are_said_aloud() {
        let local = Config::default();
        local.check_money().unwrap();
        let mut public = Config { bind: "0.0.0.0:8000".parse().unwrap(), ..Config::default() };
        assert_eq!(public.check_money().unwrap_err().code(), 9420);
        public.nano.play_money = true;
        public.check_money().unwrap();
        let mut live = Config::default();
        live.nano.ledger = "http://127.0.0.1:7076".into();
        assert_eq!(live.check_money().unwrap_err().code(), 9420);
        live.nano.platform_address = zx1_market::defaults::CHARITY.into();
        live.check_money().unwrap();
        let server = zx1_market::PartyKey::from_seed(&[1; 32]).id();
        let own = zx1_market::defaults::CHARITY.parse().unwrap();
        assert_eq!(live.terms(server, own).unwrap().network.known(), Some(Network::Live));
    }

    #[test]
    fn what_is_announced_needs_an_address_that_others_reach() {
        let own = "http://127.0.0.1:8000";
        let mut config = Config::default();
        assert!(config.announcer(own).unwrap().is_none());
        config.mesh.node = format!("/agents/{}", zx1_protocol::ids::AgentId([1; 32]));
        let market = |config: &Config| config.announcer(own).map(|announcer| announcer.unwrap().market);
        assert_eq!(market(&config).unwrap(), own);
        config.bind = "0.0.0.0:8000".parse().unwrap();
        assert_eq!(market(&config).unwrap_err().code(), 9420);
        config.mesh.public_url = "https://fix.example.org/".into();
        assert_eq!(market(&config).unwrap(), "https://fix.example.org");
        config.mesh.public_url = "https://me@fix.example.org".into();
        assert_eq!(market(&config).unwrap_err().code(), 9420);
    }

    #[test]
    fn an_unknown_name_fails() {
        assert!(toml::from_str::<Config>("[windows_ms]\nopne = 5").is_err());
        let config = Config {
            nano: NanoConfig { ledger: "emdebbed".into(), ..NanoConfig::default() },
            ..Config::default()
        };
        assert_eq!(config.ledger().unwrap_err().code(), 9420);
    }
}
