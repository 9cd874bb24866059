//! The log that nobody can edit (decision B13), and the findings that QA agents file in it.

mod sponsored;

pub use sponsored::{Answer, MAX_REQUEST, ROUTE, Request, Sponsor};

use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::FeedbackItem;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_interface::constants::MAX_FEEDBACK_BYTES;
use zx1_qa::finding::Text;

/// How far back a new entry is looked for.
const NEWEST: usize = 50;
/// Entries that one call reads.
const PAGE: usize = 100;

/// A text that stands.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Submitted {
    #[serde(flatten)]
    pub sent: Sent,
    pub index: Option<u64>,
    pub sender: String,
    pub payer: String,
    pub bytes: usize,
}

/// A resolved entry.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Resolved {
    #[serde(flatten)]
    pub sent: Sent,
    pub index: u64,
    pub commit: String,
}

/// An entry of the log. Addresses are in base58, hashes in hex.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Entry {
    pub index: u64,
    pub timestamp: i64,
    pub time: String,
    pub slot: u64,
    pub sender: String,
    pub payer: String,
    pub text: String,
    pub finding: Finding,
    /// How the maintainer resolved it, if that has happened.
    pub resolution: Option<Resolution>,
}

/// How the maintainer resolved an entry.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Resolution {
    pub slot: u64,
    /// The contract under which it was fixed.
    pub contract_hash: String,
    pub commit: String,
    pub maintainer: String,
}

/// What an entry says in the form `qa/v1`; prose is a summary alone.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Finding {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// As it was written; `unknown` where it was not.
    pub severity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    pub summary: String,
    /// The call that reproduces it, `qa_tool(JSON)`; other lines are part of the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repro: Option<String>,
}

impl Finding {
    fn of(text: &str) -> Self {
        let (finding, prose) = match Text::parse(text) {
            Text::Finding(finding) => (*finding, None),
            Text::Prose(prose) => (zx1_qa::finding::Finding::default(), Some(prose)),
            Text::Halt => (zx1_qa::finding::Finding::default(), Some(text.trim().to_owned())),
        };
        Self {
            source: finding.source,
            severity: finding.sev.unwrap_or_else(|| "unknown".to_owned()),
            surface: finding.surface,
            summary: prose.unwrap_or(finding.summary),
            repro: finding.repro.map(|repro| repro.to_string()),
        }
    }
}

/// Entries, the newest first.
#[derive(Serialize)]
pub struct Listed {
    /// Number of entries in the whole log.
    pub count: u64,
    /// The entries that the caller asked for.
    pub entries: Vec<Entry>,
}

/// Filter for a list of entries.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Filter {
    pub limit: usize,
    /// Only those before this one.
    pub before: Option<u64>,
    /// Only findings about this part of the system.
    pub surface: Option<String>,
    /// Only findings of this severity.
    pub severity: Option<String>,
    /// Only findings of this agent.
    pub source: Option<String>,
    /// Only entries of this wallet.
    pub sender: Option<Address>,
    /// Only entries that nobody has resolved.
    pub unresolved: bool,
}

impl Filter {
    fn takes(&self, entry: &Entry) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        is(&self.surface, entry.finding.surface.as_deref())
            && is(&self.severity, Some(&entry.finding.severity))
            && is(&self.source, entry.finding.source.as_deref())
            && self.sender.is_none_or(|sender| sender.to_string() == entry.sender)
            && !(self.unresolved && entry.resolution.is_some())
    }
}

/// A commit id: a SHA-1 id is followed by twelve zero bytes (decision B13).
fn shown_commit(commit: &[u8; 32]) -> String {
    let (sha1, rest) = commit.split_at(20);
    if rest.iter().all(|byte| *byte == 0) { hex::encode(sha1) } else { hex::encode(commit) }
}

/// 32 bytes from a SHA-1 or SHA-256 id; `None` for another length.
pub fn commit_id(bytes: &[u8]) -> Option<[u8; 32]> {
    let mut id = [0; 32];
    let fits = matches!(bytes.len(), 20 | 32);
    id.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
    fits.then_some(id)
}

impl Entry {
    fn of(item: &FeedbackItem) -> Self {
        let entry = &item.entry;
        let resolution = item.resolution.as_ref().map(|resolution| Resolution {
            slot: resolution.slot,
            contract_hash: hex::encode(resolution.contract_hash),
            commit: shown_commit(&resolution.commit),
            maintainer: Address::new_from_array(resolution.maintainer).to_string(),
        });
        let time = jiff::Timestamp::from_second(entry.timestamp);
        Self {
            index: entry.index,
            timestamp: entry.timestamp,
            time: time.map_or_else(|_| entry.timestamp.to_string(), |time| time.to_string()),
            slot: entry.slot,
            sender: Address::new_from_array(entry.sender).to_string(),
            payer: Address::new_from_array(entry.payer).to_string(),
            finding: Finding::of(&item.text),
            text: item.text.clone(),
            resolution,
        }
    }
}

/// Whether the log takes a text.
///
/// # Errors
/// 7570 when it does not.
pub fn check_text(text: &str) -> Result<(), Refusal> {
    if text.is_empty() || text.len() > MAX_FEEDBACK_BYTES {
        return Err(Refusal::FeedbackLength { found: text.len(), limit: MAX_FEEDBACK_BYTES });
    }
    Ok(())
}

impl Operator {
    /// Appends a text. An interrupted submission goes on where it stopped.
    pub async fn submit_feedback(&self, text: &str, key: &Wallet) -> Result<Attempt<Submitted>> {
        check_text(text)?;
        let sati = Sati::connect(self.client()).await?;
        let actions = Actions::new(self.client(), &sati).await?;
        let flow = actions.feedback(key.address(), key.address(), text)?;
        let sent = done!(self.send(flow.as_ref(), key).await?);
        let index = self.index_of(key.address(), text).await?;
        let sender = key.address().to_string();
        Ok(Attempt::Done(Submitted { sent, index, payer: sender.clone(), sender, bytes: text.len() }))
    }

    /// The entry that holds this text of this sender: the newest one.
    async fn index_of(&self, sender: Address, text: &str) -> Result<Option<u64>> {
        let newest = self.client().feedback(None, NEWEST).await?;
        let found = newest.iter().find(|it| it.entry.sender == *sender.as_array() && it.text == text);
        Ok(found.map(|item| item.entry.index))
    }

    /// Says in which commit an entry was dealt with; the maintainer only.
    pub async fn resolve_feedback(
        &self,
        index: u64,
        contract: [u8; 32],
        commit: [u8; 32],
        key: &Wallet,
    ) -> Result<Attempt<Resolved>> {
        let sati = Sati::connect(self.client()).await?;
        let actions = Actions::new(self.client(), &sati).await?;
        let draft = actions.resolve_entry(key.address(), index, contract, commit).await?;
        let sent = done!(self.send(&draft, key).await?);
        Ok(Attempt::Done(Resolved { sent, index, commit: shown_commit(&commit) }))
    }

    async fn feedback_count(&self) -> Result<u64> {
        Ok(self.client().feedback_log().await?.map_or(0, |log| log.count))
    }

    /// Entries, the newest first: a page a call, until there are enough.
    pub async fn feedback(&self, filter: &Filter) -> Result<Listed> {
        let count = self.feedback_count().await?;
        let mut end = filter.before.unwrap_or(count).min(count);
        let mut entries = Vec::new();
        while entries.len() < filter.limit && end > 0 {
            let page = self.client().feedback(Some(end.saturating_sub(1)), PAGE).await?;
            let read = u64::try_from(page.len()).unwrap_or(0);
            entries.extend(page.iter().map(Entry::of).filter(|entry| filter.takes(entry)));
            end = end.saturating_sub(read.max(1));
        }
        entries.truncate(filter.limit);
        Ok(Listed { count, entries })
    }

    /// One entry.
    ///
    /// # Errors
    /// 7571 when there is none.
    pub async fn feedback_entry(&self, index: u64) -> Result<Entry> {
        let count = self.feedback_count().await?;
        let item = self.client().feedback_entry(index).await?;
        item.as_ref().map(Entry::of).ok_or_else(|| Refusal::NoFeedback { index, count }.into())
    }
}
