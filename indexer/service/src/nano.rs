//! The Nano side: balances of the accounts that agents' owners have bound, and of contracts' escrow accounts,
//! read through a node. A node is believed about other people's accounts (decision F4).

use crate::bundles::Put;
use crate::error::{Error, Result};
use crate::index::{Index, now_s};
use crate::store::{AgentRow, BindingRow, Commit, Find, fixed, signed};
use nano_escrow::binding::Binding;
use nano_escrow::node::{HttpNode, HttpOptions, NodeCalls};
use nano_escrow::{Address, BlockHash, PublicKey, Subtype};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Amounts of a Nano account in raw, as decimal numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Confirmed balance of the account.
    pub balance: String,
    /// Sum of the confirmed sends that wait for the account.
    pub receivable: String,
}

/// A send as the node has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Whose balance it lowers.
    pub from: String,
    /// The payee; empty unless the block sends.
    pub to: String,
    /// The amount in raw, as a decimal number.
    pub raw: String,
    /// Whether the network has decided for it.
    pub confirmed: bool,
}

/// The Nano node whose balances are shown.
#[derive(Debug, Clone)]
pub struct Node(HttpNode);

impl Node {
    /// The node at this address; none where none is configured.
    ///
    /// # Errors
    ///
    /// 9610
    pub fn new(url: &str) -> Result<Option<Self>> {
        if url.is_empty() {
            return Ok(None);
        }
        let wrong = |error: nano_escrow::node::NodeError| {
            Error::Config(format!("nano.rpc cannot be used ({error}); correct it, or leave it empty."))
        };
        HttpNode::new(url, HttpOptions::default()).map(|node| Some(Self(node))).map_err(wrong)
    }

    /// What an account holds, confirmed blocks only. None when the node does not answer.
    pub async fn held(&self, account: &str) -> Option<Held> {
        let account: Address = account.parse().ok()?;
        match self.0.account_balance(account, true).await {
            Ok(held) => {
                let text = |raw: nano_escrow::Raw| raw.get().to_string();
                Some(Held { balance: text(held.balance), receivable: text(held.receivable) })
            }
            Err(error) => {
                tracing::debug!(%error, "a Nano balance could not be read");
                None
            }
        }
    }
}

impl Node {
    /// The send of this hash. None when the node does not know the block, or does not answer.
    pub async fn sent(&self, hash: &str) -> Option<Seen> {
        let hash: BlockHash = hash.parse().ok()?;
        let block = match self.0.block_info(hash).await {
            Ok(block) => block?,
            Err(error) => {
                tracing::debug!(%error, "a Nano block could not be read");
                return None;
            }
        };
        let link = block.contents.as_ref().map(|contents| contents.block.link);
        let payee = link.filter(|_| block.subtype == Some(Subtype::Send));
        Some(Seen {
            from: block.account.to_string(),
            to: payee.map(|key| Address::from(PublicKey(key)).to_string()).unwrap_or_default(),
            raw: block.amount.map(|raw| raw.get().to_string()).unwrap_or_default(),
            confirmed: block.confirmed,
        })
    }
}

/// Takes a binding record.
///
/// # Errors
///
/// 9652
pub async fn bind(index: &Index, text: &str) -> Result<Put> {
    let refuse = |sentence: String| Error::BindingRefused(sentence);
    let not_taken =
        |error: &dyn std::fmt::Display| refuse(format!("The binding record is not taken: {error}."));
    let binding = Binding::from_json(text).map_err(|error| not_taken(&error))?;
    binding.verify().map_err(|error| not_taken(&error))?;
    // Its time orders the records of one wallet, so it must not lie ahead.
    if signed(binding.created) > now_s().saturating_add(60) {
        return Err(refuse(
            "The binding record is dated in the future; correct the clock and make it anew.".to_owned(),
        ));
    }
    let wallet = binding.solana.0;
    let _writer = index.writer().await;
    let known = index.store.bindings(Find::by("wallet", wallet)).await?.into_iter().next();
    if let Some(known) = &known {
        if known.created > signed(binding.created) {
            return Err(refuse(
                "A later binding record of this wallet is known; the later one counts.".to_owned(),
            ));
        }
        if known.created == signed(binding.created) {
            let same = known.nano == binding.nano.to_string();
            let other = "Another binding record of this wallet has the same time; make a new one.";
            return if same { Ok(Put::Same) } else { Err(refuse(other.to_owned())) };
        }
    }
    let record = serde_json::to_string(&binding).map_err(|error| not_taken(&error))?;
    let nano = binding.nano.to_string();
    let mut agents = index.store.agents(Find::by("owner", wallet)).await?;
    for agent in &mut agents {
        agent.nano_address = Some(nano.clone());
        (agent.nano_balance, agent.nano_receivable, agent.nano_checked) = (None, None, None);
    }
    let row = BindingRow { wallet: wallet.into(), nano, created: signed(binding.created), record };
    index.write_rows(Commit { bindings: vec![row], agents, ..Commit::default() }).await?;
    // Its balance is asked for at once.
    index.bound.notify_one();
    Ok(Put::Created)
}

/// The job that reads the balances of bound Nano accounts.
#[derive(Debug, Clone)]
pub struct Balances {
    index: Arc<Index>,
    node: Node,
}

impl Balances {
    /// Of this index, through this node.
    pub fn new(index: Arc<Index>, node: Node) -> Self {
        Self { index, node }
    }

    /// Reads balances until cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        let pause = Duration::from_secs(self.index.config.nano.poll_secs.max(1));
        loop {
            if let Err(error) = self.look().await {
                tracing::warn!(code = error.code(), %error, "balances could not be kept");
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.index.bound.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Reads all bound accounts once.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn look(&self) -> Result<()> {
        let index = &self.index;
        let bindings = index.store.bindings(Find::all()).await?;
        let mut held: HashMap<[u8; 32], (String, Held)> = HashMap::new();
        let mut reachable = None;
        for binding in bindings {
            let found = self.node.held(&binding.nano).await;
            reachable = Some(reachable.unwrap_or(false) || found.is_some());
            if let Some(found) = found {
                held.insert(binding.wallet.to_bytes(), (binding.nano, found));
            }
        }
        index.status.set(|standing| standing.nano = Some(reachable.unwrap_or(true)));
        if held.is_empty() {
            return Ok(());
        }
        let _writer = index.writer().await;
        let mut agents = index.store.agents(Find::any("owner", held.keys().copied())).await?;
        for agent in &mut agents {
            let Some((nano, held)) = agent.owner.as_deref().and_then(|owner| held.get(&fixed::<32>(owner)))
            else {
                continue;
            };
            agent.nano_address = Some(nano.clone());
            agent.nano_balance = Some(held.balance.clone());
            agent.nano_receivable = Some(held.receivable.clone());
            agent.nano_checked = Some(now_s());
        }
        index.write_rows(Commit { agents, ..Commit::default() }).await
    }
}

/// What these agents' Nano accounts hold, in raw, with what they may still receive. Each account counts once.
/// `None` while one of them was never asked for.
pub fn total(agents: &[AgentRow]) -> Option<String> {
    let mut accounts: BTreeMap<&str, [&str; 2]> = BTreeMap::new();
    for agent in agents {
        let Some(address) = agent.nano_address.as_deref() else { continue };
        let (balance, receivable) = (agent.nano_balance.as_deref()?, agent.nano_receivable.as_deref()?);
        accounts.insert(address, [balance, receivable]);
    }
    Some(sum(accounts.into_values().flatten()))
}

/// The sum of decimal texts, in raw; a text that is not a number counts as 0.
pub fn sum<'a>(amounts: impl Iterator<Item = &'a str>) -> String {
    amounts.filter_map(|text| text.parse::<u128>().ok()).fold(0_u128, u128::saturating_add).to_string()
}

#[cfg(test)]
mod tests;
