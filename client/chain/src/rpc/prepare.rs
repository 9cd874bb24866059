//! From a draft to a message that is ready to be signed: blockhash, compute units from a simulation,
//! priority fee, and what the simulation showed.

use super::client::Client;
use super::compute::{MAX_UNITS, with_margin};
use super::draft::Draft;
use super::error::{ChainError, Result};
use super::message::{Key, all_keys, top_calls, transaction_bytes, writable};
use super::moves::{Call, Money, Move, inner_calls, name_tokens};
use super::partial::PartialTransaction;
use super::read::RecentBlockhash;
use super::refusal::{Circumstances, Refusal};
use super::sizes::{MAX_TRANSACTION, compile, signed_size};
use super::summary::{self, Summary};
use super::wire::{PrioritizationFee, Simulated, WithContext};
use crate::token::TokenAccount;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use solana_address::Address;
use solana_message::VersionedMessage;
use solana_rpc_client_api::request::RpcRequest;
use solana_signature::Signature;
use solana_transaction::versioned::VersionedTransaction;

/// What to offer for being included soon, in micro-lamports for each compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeePolicy {
    /// What three quarters of the recent transactions on the same accounts paid at most, but never more than
    /// the cap.
    Auto {
        /// Highest price in micro-lamports a compute unit.
        cap: u64,
    },
    /// A fixed price.
    Fixed(u64),
}

impl Default for FeePolicy {
    /// Automatic; the cap makes a transaction of 30 000 units cost at most 3 000 lamports more.
    fn default() -> Self {
        Self::Auto { cap: 100_000 }
    }
}

/// What a simulation showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simulation {
    /// Compute units used.
    pub units: u32,
    /// Log lines of the simulation.
    pub logs: Vec<String>,
    /// Why it would be refused, if it would.
    pub refusal: Option<Refusal>,
    /// Money that would move, the fee apart.
    pub moves: Vec<Move>,
}

/// A transaction that is ready to be agreed to and signed.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What it was made from.
    pub draft: Draft,
    /// The message to be signed.
    pub message: VersionedMessage,
    /// Its blockhash and how long that serves.
    pub blockhash: RecentBlockhash,
    /// Compute units that it may use.
    pub units: u32,
    /// Micro-lamports for each of them.
    pub price: u64,
    /// What the simulation showed.
    pub simulation: Simulation,
    pub(crate) keys: Vec<Address>,
    pub(crate) usdc: Option<Address>,
}

impl Prepared {
    /// Refuses what the simulation refused, and what is too long to be sent.
    ///
    /// # Errors
    ///
    /// [`ChainError::Refused`] and [`ChainError::TooLarge`].
    pub fn check(&self) -> Result<()> {
        let size = self.size();
        if size > MAX_TRANSACTION {
            return Err(ChainError::TooLarge { size, max: MAX_TRANSACTION });
        }
        match &self.simulation.refusal {
            Some(refusal) => Err(refusal.clone().into()),
            None => Ok(()),
        }
    }

    /// Bytes of the signed transaction.
    pub fn size(&self) -> usize {
        signed_size(&self.message)
    }

    /// What it does, read from the message itself, with the money that the simulation saw moving.
    pub fn summary(&self) -> Summary {
        summary::summarize(&self.message, &self.keys, self.usdc, self.simulation.moves.clone())
    }

    /// Without signatures, but for those of the draft's own keys.
    ///
    /// # Errors
    ///
    /// [`ChainError::TooLarge`].
    pub fn unsigned(&self) -> Result<PartialTransaction> {
        let mut made = PartialTransaction::unsigned(
            self.draft.intent.clone(),
            self.draft.title.clone(),
            self.message.clone(),
            self.blockhash.last_valid_block_height,
            self.blockhash.slot,
        )?;
        let keys: Vec<Key<'_>> = self.draft.keys.iter().map(|key| key.as_ref() as Key<'_>).collect();
        made.sign(&keys)?;
        Ok(made)
    }

    /// Puts another blockhash in; nothing may have been signed yet.
    pub(crate) fn renew(&mut self, blockhash: RecentBlockhash) {
        self.message.set_recent_blockhash(blockhash.hash.into());
        self.blockhash = blockhash;
    }
}

impl Client {
    /// Compiles, simulates and prices a draft. A refusal by the simulation is part of the answer:
    /// [`Prepared::check`] raises it.
    pub async fn prepare(&self, draft: &Draft, fees: FeePolicy, units: Option<u32>) -> Result<Prepared> {
        let blockhash = self.blockhash().await?;
        let usdc = self.usdc_mint().await?;
        let instructions = &draft.instructions;
        let tables = &draft.tables;
        // Simulated without a price: the fee for the most units could be more than the wallet has.
        let trial = compile(instructions, &draft.payer, tables, MAX_UNITS, 0, blockhash.hash)?;
        let keys = all_keys(&trial, tables);
        let size = signed_size(&trial);
        let simulation = if size > MAX_TRANSACTION {
            // A node does not even decode it.
            Simulation::default()
        } else {
            self.simulate(&trial, draft.payer, &keys, usdc).await?
        };
        let price = match fees {
            FeePolicy::Fixed(price) => price,
            FeePolicy::Auto { cap } => self.price(&trial, &keys).await?.min(cap),
        };
        let limit = match units {
            Some(units) => units.min(MAX_UNITS),
            None if simulation.refusal.is_some() => MAX_UNITS,
            None => with_margin(simulation.units),
        };
        let message = compile(instructions, &draft.payer, tables, limit, price, blockhash.hash)?;
        let keys = all_keys(&message, tables);
        Ok(Prepared { draft: draft.clone(), message, blockhash, units: limit, price, simulation, keys, usdc })
    }

    /// Runs a message without its signatures and without effect.
    async fn simulate(
        &self,
        message: &VersionedMessage,
        payer: Address,
        keys: &[Address],
        usdc: Option<Address>,
    ) -> Result<Simulation> {
        let count = usize::from(message.header().num_required_signatures);
        let signatures = vec![Signature::default(); count];
        let bytes = transaction_bytes(&VersionedTransaction { signatures, message: message.clone() });
        let params = json!([STANDARD.encode(bytes), {
            "encoding": "base64",
            "commitment": self.commitment().commitment,
            "sigVerify": false,
            "replaceRecentBlockhash": true,
            "innerInstructions": true,
        }]);
        let answer: WithContext<Simulated> = self.ask(RpcRequest::SimulateTransaction, params).await?;
        let found = answer.value;
        let logs = found.logs.unwrap_or_default();
        let refusal = found.err.map(|error| {
            let programs: Vec<Address> = top_calls(message, keys).into_iter().map(|c| c.program).collect();
            let local = self.cluster().is_local();
            Refusal::decode(
                &error.into(),
                &logs,
                &Circumstances { payer: Some(payer), programs: &programs, local },
            )
        });
        let mut calls: Vec<(usize, Call)> = top_calls(message, keys).into_iter().enumerate().collect();
        calls.extend(inner_calls(&found.inner_instructions.unwrap_or_default(), keys));
        // In the order in which they ran: an instruction before what it called.
        calls.sort_by_key(|(index, _)| *index);
        let mut moves: Vec<Move> = calls.iter().filter_map(|(_, call)| call.moved(usdc)).collect();
        moves.retain(|moved| moved.money.amount() > 0);
        self.find_mints(&mut moves, usdc).await?;
        Ok(Simulation {
            moves,
            units: u32::try_from(found.units_consumed.unwrap_or_default()).unwrap_or(MAX_UNITS),
            logs,
            refusal,
        })
    }

    /// A token program's plain transfer does not name the mint; the accounts do.
    async fn find_mints(&self, moves: &mut [Move], usdc: Option<Address>) -> Result<()> {
        let unknown = |moved: &&Move| matches!(moved.money, Money::Token { mint: None, .. });
        let mut wanted: Vec<Address> =
            moves.iter().filter(unknown).flat_map(|moved| [moved.from, moved.to]).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let found = self.accounts(&wanted).await?;
        let mints: Vec<(Address, Address)> = found
            .iter()
            .flatten()
            .filter_map(|account| Some((account.address, TokenAccount::decode(&account.data)?.mint)))
            .collect();
        name_tokens(moves, usdc, |account| {
            mints.iter().find(|(known, _)| known == account).map(|(_, mint)| *mint)
        });
        Ok(())
    }

    /// The third quartile of what was paid lately for the accounts that this message writes to.
    async fn price(&self, message: &VersionedMessage, keys: &[Address]) -> Result<u64> {
        // The method takes at most this many.
        const MOST: usize = 128;
        let written = writable(message, keys);
        let names: Vec<String> = written.iter().take(MOST).map(Address::to_string).collect();
        let paid: Vec<PrioritizationFee> =
            match self.ask(RpcRequest::GetRecentPrioritizationFees, json!([names])).await {
                Ok(paid) => paid,
                // Without the method there is nothing to compete with.
                Err(ChainError::WrongNode { .. } | ChainError::NodeRefused { .. }) => return Ok(0),
                Err(error) => return Err(error),
            };
        let mut fees: Vec<u64> = paid.into_iter().map(|fee| fee.prioritization_fee).collect();
        fees.sort_unstable();
        Ok(fees.get(fees.len().saturating_mul(3) / 4).copied().unwrap_or(0))
    }
}
