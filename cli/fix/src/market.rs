//! The market's client with this user's key, and the wallet that pays.

use crate::context::{Context, Who};
use crate::errors::{Error, Result};
use nano_escrow::binding::KEY_DOMAIN;
use nano_escrow::escrow::{DomainKeys, EscrowError, Options as Habits, Parts};
use nano_escrow::journal::Journal;
use nano_escrow::node::{HttpNode, HttpOptions};
use nano_escrow::wallet::Wallet;
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, Network, Seed};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use zx1_home::config::environment;
use zx1_market::PartyKey;
use zx1_market_client::{Clock, Market, Options, Pin, Transcripts, WalletPurse};
use zx1_net::Endpoint;

/// Where transcripts are kept.
///
/// # Errors
/// 9368 to 9389 when the folder cannot be made.
pub fn transcripts(context: &Context) -> Result<Arc<Transcripts>> {
    Ok(Arc::new(Transcripts::open(context.place("transcripts")?)?))
}

/// Connects with the key of a party of this machine. The server's key is remembered the first time and must
/// stay the same.
///
/// # Errors
/// The client's 9368 to 9389; the key's 9510 to 9518.
pub async fn connect(context: &Context, who: Who) -> Result<Market> {
    connect_to(context, &context.server()?, context.key(who)?).await
}

/// The same, at this address.
///
/// # Errors
/// As [`connect`].
pub async fn connect_to(context: &Context, url: &str, key: PartyKey) -> Result<Market> {
    let clock = Clock::default();
    // For tests that move the clock of a server of this machine (fix serve --test-clock). No other server may
    // say what time a signature carries.
    #[cfg(feature = "testing")]
    let clock = match std::env::var_os("FIX_TEST_CLOCK") {
        Some(_) if is_this_machine(url) => Clock::Server,
        Some(_) => return Err(Error::TestClock { url: url.to_owned() }.into()),
        None => clock,
    };
    let options = Options {
        clock,
        transcripts: Some(transcripts(context)?),
        poll: Duration::from_millis(250),
        ..Options::default()
    };
    let pin = Pin::File(context.place("servers.json")?);
    Ok(Market::connect(url, Arc::new(key), pin, options).await?)
}

/// How the wallet reaches the ledger, over what the configuration says.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Ledger {
    /// A Nano node's RPC address [env: FIX_NANO_NODE]
    #[arg(long, value_name = "URL", global = true)]
    pub node: Option<String>,
    /// live, beta, dev or test [env: FIX_NANO_NETWORK]
    #[arg(long, value_name = "NETWORK", global = true)]
    pub network: Option<String>,
    /// Who votes with the wallet's money; needed for its first block, but for dev
    #[arg(long, value_name = "ADDRESS", global = true)]
    pub representative: Option<String>,
}

impl Ledger {
    /// What holds: flag, environment, configuration.
    ///
    /// # Errors
    /// 9520: the configuration.
    pub fn over(&self, context: &Context) -> Result<Self> {
        let config = &context.config()?.wallet;
        Ok(Self {
            node: self.node.clone().or_else(|| environment("FIX_NANO_NODE")).or_else(|| config.node.clone()),
            network: self
                .network
                .clone()
                .or_else(|| environment("FIX_NANO_NETWORK"))
                .or_else(|| config.network.clone()),
            representative: self.representative.clone().or_else(|| config.representative.clone()),
        })
    }
}

/// A Nano address.
///
/// # Errors
/// 9565.
pub fn address(text: &str) -> Result<Address> {
    text.parse().map_err(|error: nano_escrow::AddressError| {
        let why = zx1_cli_common::words::clause(&error.to_string());
        Error::BadAddress { text: text.chars().take(80).collect(), why }.into()
    })
}

/// The journalled wallet of a party of this machine: its Nano keys come from its one key (decision A2).
///
/// # Errors
/// 9560 to 9562: the ledger is not named; nano-escrow's own.
pub async fn wallet(context: &Context, who: Who, ledger: &Ledger) -> Result<Wallet> {
    let ledger = ledger.over(context)?;
    let url = ledger.node.ok_or(Error::NoNode)?;
    let name = ledger.network.ok_or(Error::NoNode)?;
    let network: Network = name.parse().map_err(|_| Error::BadNetwork { text: name.clone() })?;
    let representative = match (&ledger.representative, network) {
        (Some(text), _) => address(text)?,
        (None, Network::Dev) => Address::from(Network::DEV_GENESIS_ACCOUNT),
        (None, _) => return Err(Error::NoRepresentative { network: name }.into()),
    };
    let seed = context.seed(who)?;
    let keys = DomainKeys::new(KEY_DOMAIN, Seed::from_bytes(*seed));
    let file = match who {
        Who::Principal => "wallet.db",
        Who::Agent => "agent-wallet.db",
        Who::Judge => "judge-wallet.db",
    };
    let path = context.place(file)?;
    zx1_cli_common::files::make_private_folder(path.parent().unwrap_or(Path::new(".")))?;
    let fingerprint = nano_escrow::escrow::Keys::fingerprint(&keys);
    let journal = Journal::open(&path, network, &fingerprint).await?;
    let node = HttpNode::new(&url, HttpOptions::default()).map_err(EscrowError::from)?;
    let peers = WorkPeers::new(Vec::<(String, _)>::new(), Duration::from_secs(30));
    let work = WorkService::new(journal.work_cache(), peers, Some(Solver::default()));
    let parts =
        Parts::new(journal, Arc::new(node), work, Arc::new(keys), Habits::new(network, representative));
    let wallet = Wallet::new(parts);
    // What a crash left half done is finished first.
    wallet.recover().await?;
    Ok(wallet)
}

/// The wallet that pays deposits, if its ledger is named anywhere.
///
/// # Errors
/// As [`wallet`].
pub async fn purse(context: &Context, who: Who, ledger: &Ledger) -> Result<Option<WalletPurse>> {
    if ledger.over(context)?.node.is_none() {
        return Ok(None);
    }
    Ok(Some(WalletPurse::new(wallet(context, who, ledger).await?, 0)))
}

/// Whether a market runs on this machine: a demo ledger may then deposit for both sides.
pub fn is_this_machine(url: &str) -> bool {
    Endpoint::parse(url).is_ok_and(|endpoint| endpoint.is_this_machine() && !endpoint.is_https())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_this_machine() {
        assert!(is_this_machine("http://127.0.0.1:8000") && is_this_machine("http://localhost"));
        assert!(is_this_machine("http://[::1]:8000/") && is_this_machine("http://127.9.9.9:80/a@b"));
        for other in [
            "https://fix.example.org",
            "http://127.0.0.1.example.org",
            "http://127.evil.example",
            "http://localhost.example.org:80",
            "http://127.0.0.1:8000@evil.example",
            "http://localhost@evil.example:80",
            "http://localhost:@evil.example",
            "http://evil.example#127.0.0.1",
            "http://127.0.0.1:80\t00",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }
}
