//! A running sponsor: everything put together, started and stopped.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::http::App;
use crate::ledger::Ledger;
use crate::metrics::Metrics;
use crate::sponsor::Sponsor;
use serde::Serialize;
use zx1_chain::rpc::{Client, ClientOptions, Cluster};
use zx1_home::config::expand_home;
use zx1_home::keys;
use zx1_operator::Wallet;
use zx1_server::jobs::Jobs;
use zx1_server::serve::listen;

/// The line that a sponsor writes when it is ready.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Ready {
    pub ready: bool,
    /// Where it serves, such as `http://127.0.0.1:8895`.
    pub url: String,
    /// The same without the scheme.
    pub listening: String,
    pub pid: u32,
    /// The wallet that pays.
    pub sponsor: String,
    /// Texts for each sender and day.
    pub per_sender: u32,
    pub per_day_lamports: u64,
}

/// A running sponsor.
#[derive(Debug)]
pub struct Server {
    ready: Ready,
    jobs: Jobs,
}

impl Server {
    /// Reads key and record, asks the cluster who it is, and listens.
    ///
    /// # Errors
    ///
    /// 7574 and 7577; 9700 to 9703, 9702 on the main network unless `may_be_mainnet`; the cluster's.
    pub async fn start(config: &Config, may_be_mainnet: bool) -> Result<Self> {
        let wallet = wallet(config)?;
        let record = config.data.join("sponsor.json");
        Ledger::check(&record)?;
        let client = Client::new(Cluster::parse(&config.url)?, ClientOptions::default());
        if client.identity().await?.is_real_money() && !may_be_mainnet {
            return Err(Error::MainnetUnasked(config.url.clone()));
        }
        let cannot = |error| Error::CannotListen(config.bind.to_string(), error);
        let listener = listen(config.bind).map_err(cannot)?;
        // Last, as it makes its folder: whatever is refused before changes nothing.
        let ledger = Ledger::open(&record, config.caps())?;
        let address = listener.local_addr().map_err(cannot)?;
        let ready = Ready {
            ready: true,
            url: format!("http://{address}"),
            listening: address.to_string(),
            pid: std::process::id(),
            sponsor: wallet.address().to_string(),
            per_sender: config.per_sender,
            per_day_lamports: config.per_day_lamports,
        };
        let metrics = Metrics::default();
        let sponsor = Sponsor::new(client, wallet, ledger, metrics.clone());
        let app = App::new(sponsor, config.limits.clone(), metrics.clone());
        let mut jobs = Jobs::new();
        jobs.serve(listener, app.router(), config.limits.bounds(), metrics.http);
        Ok(Self { ready, jobs })
    }

    /// The line that the sponsor prints when it is ready.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Stops: requests are finished, then it ends.
    pub async fn stop(self) {
        self.jobs.stop().await;
    }
}

fn wallet(config: &Config) -> Result<Wallet> {
    if config.keypair.as_os_str().is_empty() {
        return Err(Error::Config("No keypair file is named; name the key that pays.".to_owned()));
    }
    let path = expand_home(&config.keypair.to_string_lossy());
    let wrong = |why| Error::Key { path: path.display().to_string(), why };
    let key = keys::read(&path).map_err(wrong)?;
    if !key.private {
        tracing::warn!(path = %path.display(), "others on this machine can read the keypair file; run chmod 600");
    }
    Ok(Wallet::new(solana_keypair::Keypair::new_from_array(*key.seed)))
}
