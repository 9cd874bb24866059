//! The next transaction of a text: built, simulated, charged to the record of the day, signed.

use crate::error::{Error, Result};
use crate::ledger::{Charge, Ledger};
use crate::metrics::Metrics;
use solana_address::Address;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{ChainError, Client, FeePolicy, Prepared, Step, is_race};
use zx1_operator::Wallet;
use zx1_operator::feedback::{Answer, Request, check_text};
use zx1_protocol::hash::{Keccak as _, Sha3};

/// How often somebody else's entry may take the number between our reading the log and the simulation.
const MOST_RACES: u32 = 10;
/// Expired transactions that one request looks up.
const MOST_SETTLED: usize = 16;

/// A wallet that pays for feedback, and the record of what it paid.
pub struct Sponsor {
    client: Client,
    wallet: Wallet,
    ledger: Arc<Mutex<Ledger>>,
    metrics: Metrics,
}

/// What a transaction costs the payer at most: its fee and everything that it moves from the payer.
fn cost(prepared: &Prepared) -> u64 {
    let summary = prepared.summary();
    let payer = summary.payer.to_string();
    let rent =
        summary.moves.iter().filter(|moved| moved.from.to_string() == payer).map(|moved| moved.lamports());
    rent.fold(summary.fee, u64::saturating_add)
}

impl Sponsor {
    /// Nothing is asked yet.
    pub fn new(client: Client, wallet: Wallet, ledger: Ledger, metrics: Metrics) -> Self {
        Self { client, wallet, ledger: Arc::new(Mutex::new(ledger)), metrics }
    }

    /// The wallet that pays.
    pub fn address(&self) -> Address {
        self.wallet.address()
    }

    /// What it holds.
    ///
    /// # Errors
    /// The cluster's.
    pub async fn lamports(&self) -> Result<u64> {
        Ok(self.client.lamports(self.address()).await?)
    }

    /// Works on the record, which waits for the disk, on a thread that may wait. It runs to its end, even if the
    /// request does not.
    async fn record<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Ledger) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut ledger = self.ledger.clone().lock_owned().await;
        // It fails only when the process ends.
        tokio::task::spawn_blocking(move || act(&mut ledger)).await.map_err(|_| Error::Busy)?
    }

    /// Gives back what was charged for transactions that did not land in their time. A request proves nothing,
    /// so anybody could use up the day's money and a sender's share by asking.
    async fn settle(&self, sender: &str, newest: u64) -> Result<()> {
        let expired = self.ledger.lock().await.expired(sender, newest, MOST_SETTLED);
        let mut fates = Vec::new();
        for text in expired {
            let Ok(signature) = text.parse() else { continue };
            // A node that cannot say leaves the charge as it is.
            if let Ok(found) = self.client.find_transaction(&signature).await {
                fates.push((text, found.is_some()));
            }
        }
        self.record(move |ledger| ledger.settle(&fates)).await
    }

    /// The next transaction that appends this text, signed.
    ///
    /// # Errors
    /// What is wrong with the request, 7575 and 7576 when a cap is reached, the cluster's.
    pub async fn next(&self, request: &Request) -> Result<Answer> {
        let sender: Address = request.sender.parse().map_err(|_| Error::BadSender)?;
        check_text(&request.text)?;
        if sender == self.address() {
            return Err(Error::OwnText);
        }
        let client = &self.client;
        let sati = Sati::connect(client).await?;
        let actions = Actions::new(client, &sati).await?;
        let flow = actions.feedback(sender, self.address(), &request.text)?;
        let mut races = 0_u32;
        let (prepared, last) = loop {
            let Step::Send { draft, last } = flow.next(client).await? else { return Err(Error::Stands) };
            let prepared = client.prepare(&draft, FeePolicy::Fixed(0), None).await?;
            match prepared.check() {
                Ok(()) => break (prepared, last),
                Err(ChainError::Refused(refusal))
                    if races < MOST_RACES && is_race(flow.as_ref(), &refusal) =>
                {
                    races = races.saturating_add(1);
                    // A node behind a balancer may be a block behind the one that simulated.
                    tokio::time::sleep(Duration::from_millis(50 << races.min(5))).await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        let mut partial = prepared.unsigned()?;
        partial.sign(&[self.wallet.keypair()])?;
        let last_height = partial.last_valid_block_height;
        self.settle(&request.sender, last_height).await?;
        let charge = Charge {
            signature: partial.signature().map(|signature| signature.to_string()).unwrap_or_default(),
            last_height,
            sender: request.sender.clone(),
            text_hash: hex::encode(Sha3::hashv(&[request.text.as_bytes()])),
            lamports: cost(&prepared),
        };
        let (epoch, lamports) = (client.time().await?.epoch, charge.lamports);
        // Before the signature is handed out.
        let charged = self.record(move |ledger| ledger.charge(epoch, charge)).await;
        match &charged {
            Ok(()) => {
                self.metrics.signed.inc();
                self.metrics.charged.inc_by(lamports);
            }
            Err(Error::SponsorShare(_) | Error::SponsorSpent) => _ = self.metrics.capped.inc(),
            Err(_) => {}
        }
        charged?;
        let text = partial.to_json();
        let transaction = serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text));
        Ok(Answer { transaction, last })
    }
}
