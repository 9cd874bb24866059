//! Transactions that landed: what they did, what events they emitted, who paid what.

use super::client::Client;
use super::error::{ChainError, Result};
use super::events::{self, Event};
use super::message::{parse_transaction, top_calls};
use super::moves::{Call, Move, inner_calls, name_tokens};
use super::refusal::{Circumstances, Refusal};
use super::summary::{self, Summary};
use super::wire::{Landed, Loaded, SignatureLine, TokenBalance};
use crate::pda;
use serde_json::json;
use solana_address::Address;
use solana_message::VersionedMessage;
use solana_rpc_client_api::request::RpcRequest;
use solana_signature::Signature;

/// The newest version of transactions that this client can read. Every read declares it: a reader that
/// declares less is refused whole blocks.
pub const READS_VERSION: u8 = 1;

/// An instruction of a landed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The index of the transaction's own instruction under which it ran.
    pub outer: usize,
    /// Whether another program called it.
    pub inner: bool,
    /// The instruction that was called.
    pub call: Call,
}

/// A transaction that landed.
#[derive(Clone, Debug)]
pub struct LandedTransaction {
    /// Its first signature.
    pub signature: Signature,
    /// The slot of its block.
    pub slot: u64,
    /// The block's time in Unix seconds.
    pub block_time: Option<i64>,
    /// Why it failed, if it did: then only the fee was taken.
    pub error: Option<Refusal>,
    /// The fee in lamports.
    pub fee: u64,
    /// Compute units used, where the node says so.
    pub units: Option<u64>,
    /// Message that was signed.
    pub message: VersionedMessage,
    /// All addresses: those of the message, then those of lookup tables.
    pub keys: Vec<Address>,
    /// Its instructions and what they called, each instruction before its calls.
    pub calls: Vec<Called>,
    /// Log lines of the programs.
    pub logs: Vec<String>,
    /// Lamports before and after, in the order of `keys`.
    pub balances: Vec<(u64, u64)>,
    pub(crate) usdc: Option<Address>,
    /// Token accounts and their mints.
    pub(crate) mints: Vec<(Address, Address)>,
}

impl LandedTransaction {
    /// Reads what a node answered to `getTransaction` with the encoding base64. Pure: for recorded answers.
    /// `local` only chooses the words of a refusal's next step.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer, as a part of a sentence.
    pub fn from_answer(
        signature: Signature,
        answer: serde_json::Value,
        usdc: Option<Address>,
        local: bool,
    ) -> Result<Self, String> {
        let found: Landed = serde_json::from_value(answer).map_err(|error| error.to_string())?;
        Self::read(signature, found, usdc, local)
    }

    fn read(signature: Signature, found: Landed, usdc: Option<Address>, local: bool) -> Result<Self, String> {
        let transaction = parse_transaction(&found.transaction.0).map_err(|error| error.to_string())?;
        let meta = found.meta.ok_or("the transaction has no meta data")?;
        let message = transaction.message;
        let keys = with_loaded(&message, meta.loaded_addresses).ok_or("a loaded address")?;
        let balances = meta.pre_token_balances.iter().chain(&meta.post_token_balances).flatten();
        let mint = |balance: &TokenBalance| {
            Some((*keys.get(usize::from(balance.account_index))?, balance.mint.parse().ok()?))
        };
        let mints = balances.filter_map(mint).collect();
        let logs = meta.log_messages.unwrap_or_default();
        let top = top_calls(&message, &keys);
        let programs: Vec<Address> = top.iter().map(|call| call.program).collect();
        let error = meta.err.map(|error| {
            let at = Circumstances { payer: keys.first().copied(), programs: &programs, local };
            Refusal::decode(&error.into(), &logs, &at)
        });
        let mut calls: Vec<Called> =
            top.into_iter().enumerate().map(|(outer, call)| Called { outer, inner: false, call }).collect();
        let inner = inner_calls(&meta.inner_instructions.unwrap_or_default(), &keys);
        calls.extend(inner.into_iter().map(|(outer, call)| Called { outer, inner: true, call }));
        calls.sort_by_key(|called| called.outer);
        Ok(Self {
            signature,
            slot: found.slot,
            block_time: found.block_time,
            error,
            fee: meta.fee,
            units: meta.compute_units_consumed,
            message,
            keys,
            calls,
            logs,
            balances: meta.pre_balances.into_iter().zip(meta.post_balances).collect(),
            usdc,
            mints,
        })
    }

    /// The five programs' events, in order. Only what a program's own event authority signed counts.
    pub fn events(&self) -> Vec<Event> {
        let read = |called: &Called| {
            let call = &called.call;
            let program = call.program.to_bytes();
            let authority = pda::event_authority(program);
            let payload = events::payload(&call.data)?;
            (called.inner && call.accounts.first() == Some(&authority)).then_some(())?;
            Event::read(&program, payload)
        };
        // A failed transaction's events are undone with it.
        self.calls.iter().filter(|_| self.error.is_none()).filter_map(read).collect()
    }

    /// Summary of what the transaction did.
    pub fn summary(&self) -> Summary {
        let moves = self.calls.iter().filter(|_| self.error.is_none());
        let moves = moves.filter_map(|called| called.call.moved(self.usdc));
        let mut moves: Vec<Move> = moves.filter(|moved| moved.money.amount() > 0).collect();
        name_tokens(&mut moves, self.usdc, |account| {
            self.mints.iter().find(|(known, _)| known == account).map(|(_, mint)| *mint)
        });
        let mut summary = summary::summarize(&self.message, &self.keys, self.usdc, moves);
        summary.fee = self.fee;
        summary
    }
}

/// A line of an address's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Signature of the transaction.
    pub signature: Signature,
    /// The slot of its block.
    pub slot: u64,
    /// The block's time in Unix seconds.
    pub block_time: Option<i64>,
    /// Whether it failed.
    pub failed: bool,
}

fn with_loaded(message: &VersionedMessage, loaded: Option<Loaded>) -> Option<Vec<Address>> {
    let loaded = loaded.unwrap_or_default();
    let mut keys = message.static_account_keys().to_vec();
    for text in loaded.writable.iter().chain(&loaded.readonly) {
        keys.push(text.parse().ok()?);
    }
    Some(keys)
}

impl Client {
    /// The configured USDC mint, asked once; None where the protocol is not configured.
    pub(crate) async fn usdc_mint(&self) -> Result<Option<Address>> {
        match self.known_config().await {
            Ok(config) => Ok(Some(Address::new_from_array(config.usdc_mint))),
            Err(ChainError::NotConfigured { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A transaction by its signature.
    ///
    /// # Errors
    ///
    /// [`ChainError::TransactionMissing`] when the node does not know it (any more).
    pub async fn transaction(&self, signature: &Signature) -> Result<LandedTransaction> {
        let found = self.find_transaction(signature).await?;
        found.ok_or(ChainError::TransactionMissing { signature: *signature })
    }

    /// As [`Self::transaction`]; `None` when the node does not know it.
    pub async fn find_transaction(&self, signature: &Signature) -> Result<Option<LandedTransaction>> {
        let request = RpcRequest::GetTransaction;
        let params = json!([signature.to_string(), {
            "encoding": "base64",
            "commitment": self.commitment().commitment,
            "maxSupportedTransactionVersion": READS_VERSION,
        }]);
        let Some(found): Option<Landed> = self.ask(request, params).await? else { return Ok(None) };
        let usdc = self.usdc_mint().await?;
        let landed = LandedTransaction::read(*signature, found, usdc, self.cluster().is_local());
        landed.map(Some).map_err(|error| self.malformed(request, error))
    }

    /// The last transactions that name an address, newest first.
    pub async fn history(&self, address: Address, limit: usize) -> Result<Vec<HistoryEntry>> {
        // The method's own limit.
        const PAGE: usize = 1_000;
        let request = RpcRequest::GetSignaturesForAddress;
        let mut found: Vec<HistoryEntry> = Vec::new();
        while found.len() < limit {
            let page = (limit - found.len()).min(PAGE);
            let before = found.last().map(|entry| entry.signature.to_string());
            let params = json!([address.to_string(), {
                "limit": page,
                "before": before,
                "commitment": self.commitment().commitment,
            }]);
            let lines: Vec<SignatureLine> = self.ask(request, params).await?;
            let got = lines.len();
            for line in lines {
                let signature = line.signature.parse().map_err(|_| self.malformed(request, "a signature"))?;
                found.push(HistoryEntry {
                    signature,
                    slot: line.slot,
                    block_time: line.block_time,
                    failed: line.err.is_some(),
                });
            }
            if got < page {
                break;
            }
        }
        Ok(found)
    }
}
