//! Where the explorer's links lead: the explorers of the cluster and of Nano.

use crate::config::{Config, ExplorerConfig};
use crate::error::{Error, Result};
use serde::Serialize;
use utoipa::ToSchema;
use zx1_chain::rpc::{Identity, Public};

/// What stands in a template for the signature, address or hash.
const PLACE: &str = "{}";
/// The explorer of Solana's public clusters.
const SOLANA: &str = "https://explorer.solana.com";
/// An explorer of the live Nano network.
const NANO: &str = "https://blocklattice.io";

/// URLs in which `{}` stands for what they lead to; null where there is no such explorer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Links {
    /// of a transaction's signature
    transaction: Option<String>,
    /// of an account's address
    account: Option<String>,
    /// of a Nano block's hash
    nano_block: Option<String>,
    /// of a Nano account
    nano_account: Option<String>,
}

impl Links {
    /// For a cluster with this RPC and genesis.
    pub fn new(config: &Config, rpc: &str, genesis: &str) -> Self {
        let cluster = Identity::of(genesis).public.filter(|_| !is_local(rpc)).map(|public| match public {
            Public::MainnetBeta => String::new(),
            other => format!("?cluster={}", other.moniker()),
        });
        let nano = (!config.nano.rpc.is_empty() && !is_local(&config.nano.rpc)).then_some(());
        let of = |template: &str, auto: Option<String>| match template {
            "" => None,
            "auto" => auto,
            url => Some(url.to_owned()),
        };
        let solana = |kind: &str| cluster.as_ref().map(|tail| format!("{SOLANA}/{kind}/{PLACE}{tail}"));
        let nano = |kind: &str| nano.map(|()| format!("{NANO}/{kind}/{PLACE}"));
        let ExplorerConfig { transaction, account, nano_block, nano_account } = &config.explorer;
        Self {
            transaction: of(transaction, solana("tx")),
            account: of(account, solana("address")),
            nano_block: of(nano_block, nano("block")),
            nano_account: of(nano_account, nano("account")),
        }
    }
}

fn is_local(url: &str) -> bool {
    match zx1_net::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)) {
        Some(host) => {
            let host = host.trim_matches(['[', ']']);
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
        None => true,
    }
}

/// Refuses templates that lead nowhere.
///
/// # Errors
///
/// 9610
pub fn check(config: &ExplorerConfig) -> Result<()> {
    let ExplorerConfig { transaction, account, nano_block, nano_account } = config;
    for (name, template) in [
        ("transaction", transaction),
        ("account", account),
        ("nano_block", nano_block),
        ("nano_account", nano_account),
    ] {
        let is_url = |text: &str| {
            let url = zx1_net::Url::parse(&text.replace(PLACE, "x"));
            url.is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        };
        let is_valid =
            matches!(template.as_str(), "" | "auto") || template.contains(PLACE) && is_url(template);
        if !is_valid {
            return Err(Error::Config(format!(
                "explorer.{name} is '{template}'; it must be auto, empty, or a URL in which {PLACE} stands for what it \
                 leads to."
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn config(nano: &str, explorer: ExplorerConfig) -> Config {
        let mut config = Config { explorer, ..Config::default() };
        config.nano.rpc = nano.to_owned();
        config
    }

    #[test]
    fn public_clusters_have_links_and_local_ones_have_none() {
        let config = config("", ExplorerConfig::default());
        let of = |rpc, genesis| Links::new(&config, rpc, genesis).transaction;
        let devnet = Public::Devnet.genesis();
        assert_eq!(
            of("https://rpc.example.org", devnet).unwrap(),
            format!("{SOLANA}/tx/{{}}?cluster=devnet")
        );
        assert_eq!(
            of("https://rpc.example.org", Public::MainnetBeta.genesis()).unwrap(),
            format!("{SOLANA}/tx/{{}}")
        );
        assert_eq!(of("https://rpc.example.org", "unknown"), None);
        for local in ["http://127.0.0.1:8899", "http://localhost:8899", "http://[::1]:8899", "nonsense"] {
            assert_eq!(of(local, devnet), None, "{local}");
        }
    }

    #[test]
    fn nano_links_follow_the_node() {
        let of = |nano| Links::new(&config(nano, ExplorerConfig::default()), "", "").nano_block;
        assert_eq!(of(""), None);
        assert_eq!(of("http://127.0.0.1:7076"), None);
        assert_eq!(of("https://node.example.org").unwrap(), format!("{NANO}/block/{{}}"));
    }

    #[test]
    fn a_template_of_ones_own_counts_and_one_that_leads_nowhere_fails() {
        let own = "http://127.0.0.1:9999/tx/{}?cluster=custom".to_owned();
        let explorer =
            ExplorerConfig { transaction: own.clone(), account: String::new(), ..ExplorerConfig::default() };
        check(&explorer).unwrap();
        let links = Links::new(&config("", explorer), "http://127.0.0.1:8899", "unknown");
        assert_eq!((links.transaction, links.account), (Some(own), None));
        for bad in ["https://example.org/tx", "javascript:alert({})", "x{}"] {
            let explorer = ExplorerConfig { nano_block: bad.to_owned(), ..ExplorerConfig::default() };
            let error = check(&explorer).unwrap_err();
            assert_eq!(error.code(), 9610);
            assert!(error.to_string().contains("explorer.nano_block"), "{error}");
        }
    }
}
