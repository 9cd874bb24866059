//! A party of this machine: its key, and what follows from it at the market, on Nano and in 0x01.

use crate::envelopes::{self, Identity};
use crate::{Refusal, Result};
use futures_util::future::BoxFuture;
use nano_escrow::binding::KEY_DOMAIN;
use nano_escrow::escrow::{DomainKeys, EscrowError, Keys as _, Options as WalletOptions, Parts};
use nano_escrow::journal::Journal;
use nano_escrow::node::{HttpNode, HttpOptions};
use nano_escrow::wallet::Wallet;
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, Network, Raw};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use zx1_agent::bridge::Bridge;
use zx1_home::files;
use zx1_home::keys::Seed;
use zx1_market::{NetworkId, PartyKey};
use zx1_market_client::{ClientError, Clock, Market, Options, Pin, Purse, Transcripts, WalletPurse};
use zx1_net::Endpoint;

/// What a party does at the market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its commands fail.
    Principal,
    /// It fixes them.
    Agent,
    /// It decides disputes.
    Judge,
}

/// How the wallet reaches the ledger, as the settings have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// A Nano node's RPC address.
    pub node: Option<String>,
    /// live, beta, dev or test.
    pub network: Option<String>,
    /// Representative of the wallet's accounts; needed for its first block, but for dev.
    pub representative: Option<String>,
}

impl Ledger {
    /// Whether a wallet can use it. Nothing is opened.
    ///
    /// # Errors
    /// 9560 to 9565.
    pub fn check(&self) -> Result<()> {
        self.named().map(drop)
    }

    fn named(&self) -> Result<(&str, Network, Address)> {
        let url = self.node.as_ref().ok_or(Refusal::NoNode)?;
        let name = self.network.as_ref().ok_or(Refusal::NoNode)?;
        let network: Network = name.parse().map_err(|_| Refusal::BadNetwork { text: name.clone() })?;
        let representative = match (&self.representative, network) {
            (Some(text), _) => nano_address(text)?,
            (None, Network::Dev) => Address::from(Network::DEV_GENESIS_ACCOUNT),
            (None, _) => return Err(Refusal::NoRepresentative { network: name.clone() }.into()),
        };
        Ok((url, network, representative))
    }
}

/// A party of this machine.
#[derive(Clone)]
pub struct Party {
    /// What it does.
    pub role: Role,
    /// Folder of its transcripts, pinned servers, contracts under way and wallets.
    pub home: PathBuf,
    /// Its secret (decision A1).
    pub seed: Seed,
    /// The secret of the deal key that signs its PROPOSEs and ACCEPTs in 0x01 (decision P1); `None`: its own does.
    pub deal: Option<Seed>,
    /// The clock that gives its signatures their time.
    pub clock: Clock,
    /// How its wallet reaches the ledger.
    pub ledger: Ledger,
    /// Who it is in 0x01; `None` trades all the same.
    pub identity: Option<Identity>,
}

impl std::fmt::Debug for Party {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Party")
            .field("role", &self.role)
            .field("id", &self.key().id())
            .finish_non_exhaustive()
    }
}

impl Party {
    /// The market key that follows from its secret.
    pub fn key(&self) -> PartyKey {
        PartyKey::from_seed(&self.seed)
    }

    /// Where its transcripts are kept.
    ///
    /// # Errors
    /// 9382 when the folder cannot be made.
    pub fn transcripts(&self) -> Result<Arc<Transcripts>> {
        Ok(Arc::new(Transcripts::open(self.home.join("transcripts"))?))
    }

    /// Connects to a market. The server's key is remembered the first time and must stay the same.
    ///
    /// # Errors
    /// 9368 to 9389: the client; 9567: the clock of a test is another machine's.
    pub async fn connect(&self, url: &str) -> Result<Market> {
        #[cfg(feature = "testing")]
        if matches!(self.clock, Clock::Server) && !is_this_machine(url) {
            return Err(Refusal::TestClock { url: url.to_owned() }.into());
        }
        let options = Options {
            clock: self.clock.clone(),
            transcripts: Some(self.transcripts()?),
            poll: Duration::from_millis(250),
            ..Options::default()
        };
        let pin = Pin::File(self.home.join("servers.json"));
        Ok(Market::connect(url, Arc::new(self.key()), pin, options).await?)
    }

    /// Opens the log of its agent id, if it has one.
    ///
    /// # Errors
    /// 9393 to 9398, 9566.
    pub fn bridge(&self) -> Result<Option<Arc<Bridge>>> {
        let deal = || self.deal.as_ref().map(|seed| PartyKey::from_seed(seed));
        self.identity.as_ref().map(|identity| envelopes::open(identity, self.key(), deal())).transpose()
    }

    /// Its Nano address, without any ledger.
    pub fn address(&self) -> Address {
        let seed = nano_escrow::Seed::from_bytes(*self.seed);
        nano_escrow::binding::nano_key(&seed, 0).keypair().address()
    }

    /// Its journalled wallet, whose keys come from its one key (decision A2). What a crash left half done is
    /// finished first.
    ///
    /// # Errors
    /// 9560 to 9565: the ledger is not named; nano-escrow's own.
    pub async fn wallet(&self) -> Result<Wallet> {
        let (url, network, representative) = self.ledger.named()?;
        let keys = DomainKeys::new(KEY_DOMAIN, nano_escrow::Seed::from_bytes(*self.seed));
        let path = self.home.join(match self.role {
            Role::Principal => "wallet.db",
            Role::Agent => "agent-wallet.db",
            Role::Judge => "judge-wallet.db",
        });
        files::make_folder(&self.home).map_err(crate::Error::write(&self.home))?;
        let journal = Journal::open(&path, network, &keys.fingerprint()).await?;
        let node = HttpNode::new(url, HttpOptions::default()).map_err(EscrowError::from)?;
        let peers = WorkPeers::new(Vec::<(String, _)>::new(), Duration::from_secs(30));
        let work = WorkService::new(journal.work_cache(), peers, Some(Solver::default()));
        let options = WalletOptions::new(network, representative);
        let wallet = Wallet::new(Parts::new(journal, Arc::new(node), work, Arc::new(keys), options));
        wallet.recover().await?;
        Ok(wallet)
    }

    /// What pays an agent's deposits: its wallet, or on a market of this machine the market's own ledger.
    ///
    /// # Errors
    /// As [`Party::wallet`].
    pub async fn deposits(&self, url: &str) -> Result<Option<Arc<dyn Purse>>> {
        Ok(match self.purse().await? {
            Some(purse) => Some(Arc::new(purse)),
            None if is_this_machine(url) => Some(Arc::new(LeftToMarket(self.address()))),
            None => None,
        })
    }

    /// The wallet that pays deposits, if its ledger is named.
    ///
    /// # Errors
    /// As [`Party::wallet`].
    pub async fn purse(&self) -> Result<Option<WalletPurse>> {
        if self.ledger.node.is_none() {
            return Ok(None);
        }
        let (_, network, _) = self.ledger.named()?;
        Ok(Some(WalletPurse::new(self.wallet().await?, network, 0)))
    }
}

/// On a demo ledger the market deposits for both sides; the agent's money goes to its own address.
struct LeftToMarket(Address);

impl Purse for LeftToMarket {
    fn network(&self) -> Option<NetworkId> {
        None
    }

    fn address(&self) -> BoxFuture<'_, Result<Address, ClientError>> {
        Box::pin(async { Ok(self.0) })
    }

    fn balance(&self) -> BoxFuture<'_, Result<Raw, ClientError>> {
        Box::pin(async { Ok(Raw::MAX) })
    }

    fn pay<'a>(&'a self, _: &'a str, _: Address, _: Raw) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async { Ok(()) })
    }
}

/// Parses a Nano address.
///
/// # Errors
/// 9565.
pub fn nano_address(text: &str) -> Result<Address> {
    text.parse().map_err(|error: nano_escrow::AddressError| {
        let why = zx1_net::clause(&error.to_string());
        Refusal::BadAddress { text: text.chars().take(80).collect(), why }.into()
    })
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
