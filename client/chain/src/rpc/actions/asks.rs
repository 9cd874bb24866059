//! Asking for single leaves of a batch, and showing them (decision P4).

use super::drafts::Pieces;
use super::{Actions, nonce};
use crate::instructions::challenge::{self as build, Money};
use crate::pda;
use crate::rpc::client::Client;
use crate::rpc::draft::{Asked, Draft, Flow, Intent, Step};
use crate::rpc::error::{ChainError, Result};
use crate::rpc::intents;
use crate::rpc::lookup::{Room, is_table_race, would_fit};
use crate::rpc::refusal::Refusal;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use zx1_interface::Error;
use zx1_interface::accounts::AskAccount;
use zx1_interface::constants::MAX_EVIDENCE_BYTES;
use zx1_interface::instruction::BeginEvidence;
use zx1_interface::states::asked;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::AgentId;

impl Actions<'_> {
    /// Asks for a leaf of a batch: `tree` is 0 for the log and 1 for the arrays, `index` counts in the tree
    /// without padding. The asker pays the price and the rent of the ask.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`] without such a batch, [`ChainError::NoUsdc`].
    pub async fn ask_leaf(
        &self,
        asker: Address,
        agent: AgentId,
        epoch: u64,
        tree: u8,
        index: u32,
    ) -> Result<Draft> {
        let batch = self.batch(agent, epoch).await?;
        let from = self.paying(asker).await?;
        let ask = build::ask_leaf(asker, from, agent, epoch, batch.era, tree, index);
        let intent = intents::ask_leaf(&pda::ask(&batch.address, tree, index));
        let of = if tree == 0 { "log" } else { "arrays" };
        let title = format!("Ask for leaf {index} of the {of} of epoch {epoch} of {agent}");
        Ok(self.draft(intent, title, asker, vec![ask]))
    }

    /// A flow that shows a leaf that was asked for: `proof` from the leaf upward. Anyone may, and is paid for
    /// it. A leaf that does not fit a transaction goes through a draft, whose rent comes back at the end.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`] without such an ask, [`ChainError::Invalid`] for a leaf longer than any
    /// draft.
    pub async fn show_leaf(
        &self,
        shower: Address,
        ask: Address,
        leaf: Vec<u8>,
        proof: Vec<Hash>,
    ) -> Result<Box<dyn Flow>> {
        if leaf.len() > MAX_EVIDENCE_BYTES {
            let message =
                format!("invalid leaf: {} bytes, at most {MAX_EVIDENCE_BYTES} can be shown", leaf.len());
            return Err(ChainError::Invalid(message));
        }
        let found = self.client.need::<AskAccount>(ask).await?;
        let (first, make_first) = self.receiving(shower, shower).await?;
        let (second, make_second) = self.treasury(shower).await?;
        let money = Money { agent: AgentId(found.agent_id), era: found.era, first, second };
        let nonce = nonce(&[b"leaf", ask.as_ref(), &leaf]);
        Ok(Box::new(Showing {
            pieces: Pieces { owner: shower, nonce, bytes: leaf, tables: self.tables.clone() },
            ask,
            batch: Address::new_from_array(found.batch),
            money,
            creates: make_first.into_iter().chain(make_second).collect(),
            proof,
            intent: intents::show_leaf(&ask),
            tables: self.tables.clone(),
            room: Room::default(),
        }))
    }

    /// Settles an ask that nobody answered in time: the batch is marked, the price goes back, and once no
    /// challenge is open the fine is taken. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn settle_ask(&self, ask: Address, payer: Address) -> Result<Draft> {
        let found = self.client.need::<AskAccount>(ask).await?;
        let asker = Address::new_from_array(found.asker);
        let (first, make_first) = self.receiving(payer, asker).await?;
        let (second, make_second) = self.treasury(payer).await?;
        let agent = AgentId(found.agent_id);
        let money = Money { agent, era: found.era, first, second };
        let settle = build::settle_ask(ask, agent, found.epoch_number, &money);
        let list = make_first.into_iter().chain(make_second).chain([settle]).collect();
        // An ask is settled in two steps while a challenge is open.
        let intent = intents::settle_ask(&ask, found.state);
        Ok(self.draft(intent, format!("Settle the ask {ask}"), payer, list))
    }

    /// Closes a settled ask; its rent goes to the asker. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn close_ask(&self, ask: Address, payer: Address) -> Result<Draft> {
        let found = self.client.need::<AskAccount>(ask).await?;
        let close = build::close_ask(ask, Address::new_from_array(found.asker));
        Ok(self.draft(intents::close_ask(&ask), format!("Close the ask {ask}"), payer, vec![close]))
    }
}

struct Showing {
    pieces: Pieces,
    ask: Address,
    batch: Address,
    money: Money,
    /// Makes the token accounts that are missing.
    creates: Vec<Instruction>,
    proof: Vec<Hash>,
    intent: Intent,
    tables: Vec<AddressLookupTableAccount>,
    room: Room,
}

impl Showing {
    fn draft(&self, intent: Intent, title: &str, list: Vec<Instruction>) -> Draft {
        Draft::new(intent, title, self.pieces.owner, list).with_tables(self.tables.clone())
    }

    fn show(&self, draft: Option<Address>) -> Vec<Instruction> {
        let leaf = if draft.is_some() { Vec::new() } else { self.pieces.bytes.clone() };
        let (owner, proof) = (self.pieces.owner, self.proof.clone());
        let show = build::show_leaf(owner, self.ask, self.batch, draft, &self.money, leaf, proof);
        self.creates.iter().cloned().chain([show]).collect()
    }

    async fn step(&self, client: &Client) -> Result<Step> {
        let (owner, nonce) = (self.pieces.owner, self.pieces.nonce);
        let found = client.evidence_draft(owner, nonce).await?;
        if client.leaf_ask(self.ask).await?.is_none_or(|ask| ask.state != asked::OPEN) {
            let Some(_) = found else { return Ok(Step::Done(format!("The ask {} is settled.", self.ask))) };
            let cancel = build::cancel_evidence(owner, nonce, None, None);
            let draft = self.draft(self.intent.clone(), "Take the draft's rent back", vec![cancel]);
            return Ok(Step::Send { draft, last: true });
        }
        let step = |name: &str, title: &str, list| Step::Send {
            draft: self.draft(self.intent.step(name), title, list),
            last: false,
        };
        let Some(found) = found else {
            let inline = self.show(None);
            if would_fit(&inline, &owner, &self.tables) {
                let draft = self.draft(self.intent.clone(), "Show a leaf", inline);
                return self.room.step(client, draft, true).await;
            }
            let begin =
                BeginEvidence { nonce, len: self.pieces.len(), agent_id: [0; 32], era: 0, commit: [0; 32] };
            let begin = build::begin_evidence(owner, &begin);
            return Ok(step("begin", "Begin a draft of a leaf", self.pieces.piece(0, &[begin])?));
        };
        let written = self.pieces.written(&found)?;
        if written < self.pieces.bytes.len() {
            let name = format!("append at {written}");
            return Ok(step(&name, "Write more of a leaf", self.pieces.piece(written, &[])?));
        }
        let draft = self.draft(self.intent.step("show"), "Show a leaf", self.show(Some(found.address)));
        self.room.step(client, draft, false).await
    }
}

impl Flow for Showing {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    fn title(&self) -> String {
        format!("Show the leaf that {} asks for", self.ask)
    }

    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step> {
        Box::pin(self.step(client))
    }

    fn is_race(&self, refusal: &Refusal) -> bool {
        // Somebody else showed it.
        is_table_race(refusal) || matches!(refusal.of_zx1(), Some(Error::AccountExists | Error::AskSettled))
    }
}
