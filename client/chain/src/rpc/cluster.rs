//! Which cluster: its URL, its monikers, and how to be sure that it is the one that was meant.

use super::error::ChainError;
use std::fmt;
use zx1_net::Endpoint;

/// Solana's public clusters, told apart by the hash of their genesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Public {
    /// The main network: real money.
    MainnetBeta,
    /// Solana's cluster for application developers.
    Devnet,
    /// Solana's cluster for validators.
    Testnet,
}

impl Public {
    /// All public clusters.
    pub const ALL: [Self; 3] = [Self::MainnetBeta, Self::Devnet, Self::Testnet];

    /// The hash of its genesis, in base58.
    pub const fn genesis(self) -> &'static str {
        match self {
            Self::MainnetBeta => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
            Self::Devnet => "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
            Self::Testnet => "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
        }
    }

    /// Its moniker, as the Solana command line writes it.
    pub const fn moniker(self) -> &'static str {
        match self {
            Self::MainnetBeta => "mainnet-beta",
            Self::Devnet => "devnet",
            Self::Testnet => "testnet",
        }
    }

    /// URL of the cluster's public RPC.
    pub const fn url(self) -> &'static str {
        match self {
            Self::MainnetBeta => "https://api.mainnet-beta.solana.com",
            Self::Devnet => "https://api.devnet.solana.com",
            Self::Testnet => "https://api.testnet.solana.com",
        }
    }
}

/// Where a cluster answers. The default is the local one, never the main network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cluster {
    url: String,
    public: Option<Public>,
}

/// The local cluster's RPC.
pub const LOCALHOST: &str = "http://127.0.0.1:8899";

impl Default for Cluster {
    fn default() -> Self {
        Self { url: LOCALHOST.to_owned(), public: None }
    }
}

impl Cluster {
    /// A URL or one of Solana's monikers: localhost, devnet, testnet, mainnet-beta, or l, d, t, m.
    ///
    /// # Errors
    ///
    /// [`ChainError::BadUrl`] for anything else.
    pub fn parse(text: &str) -> Result<Self, ChainError> {
        let of = |public: Public| Ok(Self { url: public.url().to_owned(), public: Some(public) });
        match text.trim() {
            "l" | "localhost" => Ok(Self::default()),
            "d" | "devnet" => of(Public::Devnet),
            "t" | "testnet" => of(Public::Testnet),
            "m" | "mainnet-beta" => of(Public::MainnetBeta),
            url if Endpoint::parse_with_secrets(url).is_ok() => Ok(Self {
                url: url.to_owned(),
                public: Public::ALL.into_iter().find(|p| p.url() == url.trim_end_matches('/')),
            }),
            _ => Err(ChainError::BadUrl { text: text.to_owned() }),
        }
    }

    /// The RPC's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Which public cluster must answer there; None where any may.
    pub fn expected(&self) -> Option<Public> {
        self.public
    }

    /// Whether the URL is of this machine.
    pub fn is_local(&self) -> bool {
        Endpoint::parse_with_secrets(&self.url).is_ok_and(|endpoint| endpoint.is_this_machine())
    }

    /// Compares what a node says of its genesis with what the URL promises.
    ///
    /// # Errors
    ///
    /// [`ChainError::WrongCluster`].
    pub fn check(&self, genesis: &str) -> Result<Identity, ChainError> {
        let found = Identity::of(genesis);
        match self.public {
            Some(expected) if found.public != Some(expected) => Err(ChainError::WrongCluster {
                url: self.url.clone(),
                expected: expected.moniker().to_owned(),
                found: found.to_string(),
            }),
            _ => Ok(found),
        }
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.public {
            Some(public) => write!(f, "{} ({})", public.moniker(), self.url),
            None => f.write_str(&self.url),
        }
    }
}

/// A cluster as it says itself: the hash of its genesis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The genesis hash in base58.
    pub genesis: String,
    /// The public cluster that this is; `None` for another one.
    pub public: Option<Public>,
}

impl Identity {
    /// The cluster with this genesis hash.
    pub fn of(genesis: &str) -> Self {
        Self {
            genesis: genesis.to_owned(),
            public: Public::ALL.into_iter().find(|public| public.genesis() == genesis),
        }
    }

    /// Whether what is spent there is money. A fork of the main network on one's own machine says the
    /// same genesis and counts as real, as a tunnel to a real node looks just like it.
    pub fn is_real_money(&self) -> bool {
        self.public == Some(Public::MainnetBeta)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.public {
            Some(public) => f.write_str(public.moniker()),
            None => write!(f, "a cluster of its own (genesis {})", self.genesis),
        }
    }
}
