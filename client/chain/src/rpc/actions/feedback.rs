//! Feedback: in one transaction where the text fits it, else through a draft (decision B13).

use super::{Actions, nonce};
use crate::instructions::feedback_log;
use crate::pda;
use crate::rpc::client::Client;
use crate::rpc::draft::{Asked, Draft, Flow, Intent, Step};
use crate::rpc::error::{ChainError, Result};
use crate::rpc::refusal::Refusal;
use crate::rpc::sizes::{fits, largest_chunk};
use solana_address::Address;
use solana_message::AddressLookupTableAccount;
use zx1_interface::Error;
use zx1_interface::constants::MAX_FEEDBACK_BYTES;
use zx1_protocol::feedback_log::check_text;
use zx1_protocol::hash::{Keccak, Sha3};

impl Actions<'_> {
    /// A flow that publishes a text for `sender`, paid by `payer`, who may be another (a sponsor).
    ///
    /// # Errors
    ///
    /// [`ChainError::Invalid`] for an empty text or one of more than 2048 bytes.
    pub fn feedback(&self, sender: Address, payer: Address, text: &str) -> Result<Box<dyn Flow>> {
        check_text(text.as_bytes()).map_err(|error| ChainError::Invalid(error.to_string()))?;
        let text_hash = Sha3::hashv(&[text.as_bytes()]);
        let shown = Address::new_from_array(text_hash);
        Ok(Box::new(Publishing {
            sender,
            payer,
            text: text.as_bytes().to_vec(),
            text_hash,
            nonce: nonce(&[b"feedback", sender.as_ref(), payer.as_ref(), text.as_bytes()]),
            intent: Intent::new("feedback", &[&sender, &payer, &shown]),
            tables: self.tables.clone(),
        }))
    }

    /// Whether a text can be published by one transaction, which a sponsor can sign at once.
    pub fn feedback_fits(&self, sender: Address, payer: Address, text: &str) -> bool {
        let submit = feedback_log::submit_feedback(payer, sender, u64::MAX, text.as_bytes().to_vec());
        text.len() <= MAX_FEEDBACK_BYTES && fits(&[submit], &payer, &self.tables)
    }

    /// Attaches a resolution to an entry, as the maintainer.
    pub async fn resolve_entry(
        &self,
        maintainer: Address,
        index: u64,
        contract_hash: [u8; 32],
        commit: [u8; 32],
    ) -> Result<Draft> {
        if maintainer.to_bytes() != self.config.maintainer {
            let message = format!(
                "Only the maintainer {} may resolve feedback. Sign with that key.",
                Address::new_from_array(self.config.maintainer)
            );
            return Err(ChainError::Invalid(message));
        }
        let address = pda::feedback_entry(index);
        let missing =
            || ChainError::AccountMissing { what: format!("feedback entry {index}").into(), address };
        self.client.feedback_entry(index).await?.ok_or_else(missing)?;
        let resolve = feedback_log::resolve_entry(maintainer, index, contract_hash, commit);
        let intent = Intent::new("resolve-entry", &[&index, &Address::new_from_array(commit)]);
        Ok(self.draft(intent, format!("Mark feedback {index} as resolved"), maintainer, vec![resolve]))
    }

    /// Takes a draft of feedback back, whose rent returns to who paid it. `authority` is the sender or the
    /// payer.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn cancel_feedback_draft(
        &self,
        authority: Address,
        sender: Address,
        nonce: u64,
    ) -> Result<Draft> {
        let address = pda::feedback_draft(&sender, nonce);
        let draft = self.client.feedback_draft(sender, nonce).await?;
        let draft = draft.ok_or(ChainError::AccountMissing { what: "feedback draft".into(), address })?;
        let payer = Address::new_from_array(draft.payer);
        let cancel = feedback_log::cancel_draft(authority, sender, payer, nonce);
        let intent = Intent::new("cancel-feedback-draft", &[&sender, &nonce]);
        Ok(self.draft(intent, "Cancel a feedback draft".to_owned(), authority, vec![cancel]))
    }
}

struct Publishing {
    sender: Address,
    payer: Address,
    text: Vec<u8>,
    text_hash: [u8; 32],
    nonce: u64,
    intent: Intent,
    tables: Vec<AddressLookupTableAccount>,
}

impl Publishing {
    fn draft(&self, intent: Intent, title: &str, list: Vec<solana_instruction::Instruction>) -> Draft {
        Draft::new(intent, title, self.payer, list).with_tables(self.tables.clone())
    }

    fn begin(&self) -> solana_instruction::Instruction {
        // A text has at most 2048 bytes, as was checked.
        let len = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        feedback_log::begin_draft(self.payer, self.sender, self.nonce, len, self.text_hash)
    }

    fn append(&self, at: usize, count: usize) -> Option<solana_instruction::Instruction> {
        let bytes = self.text.get(at..at.checked_add(count)?)?.to_vec();
        Some(feedback_log::append_draft(self.sender, self.nonce, u32::try_from(at).ok()?, bytes))
    }

    /// The next piece, with `before` in the same transaction.
    fn piece(
        &self,
        at: usize,
        before: &[solana_instruction::Instruction],
    ) -> Option<Vec<solana_instruction::Instruction>> {
        let with = |count: usize| {
            let mut list = before.to_vec();
            list.extend(self.append(at, count));
            list
        };
        let rest = self.text.len().checked_sub(at)?;
        largest_chunk(rest, &self.payer, &self.tables, with).map(with)
    }

    async fn step(&self, client: &Client) -> Result<Step> {
        let index = client.feedback_log().await?.map_or(0, |log| log.count);
        let submit = feedback_log::submit_feedback(self.payer, self.sender, index, self.text.clone());
        if fits(std::slice::from_ref(&submit), &self.payer, &self.tables) {
            let draft = self.draft(self.intent.clone(), "Publish feedback", vec![submit]);
            return Ok(Step::Send { draft, last: true });
        }
        let no_room = || ChainError::Invalid("Not even one byte of the text fits a transaction.".to_owned());
        let Some(found) = client.feedback_draft(self.sender, self.nonce).await? else {
            let list = self.piece(0, &[self.begin()]).ok_or_else(no_room)?;
            let draft = self.draft(self.intent.step("begin"), "Begin a long feedback", list);
            return Ok(Step::Send { draft, last: false });
        };
        let written = usize::try_from(found.written).unwrap_or(usize::MAX);
        if found.text_hash != self.text_hash || self.text.get(..written) != found.tail.get(..written) {
            return Err(ChainError::Invalid(format!(
                "The draft {} holds another text. Cancel it and run the command again.",
                found.address
            )));
        }
        if written < self.text.len() {
            let list = self.piece(written, &[]).ok_or_else(no_room)?;
            let intent = self.intent.step(&format!("append at {written}"));
            let draft = self.draft(intent, "Write more of a long feedback", list);
            return Ok(Step::Send { draft, last: false });
        }
        let draft_payer = Address::new_from_array(found.payer);
        let seal = feedback_log::seal_draft(self.payer, self.sender, draft_payer, self.nonce, index);
        let draft = self.draft(self.intent.clone(), "Publish a long feedback", vec![seal]);
        Ok(Step::Send { draft, last: true })
    }
}

impl Flow for Publishing {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    fn title(&self) -> String {
        "Publish feedback".to_owned()
    }

    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step> {
        Box::pin(self.step(client))
    }

    fn is_race(&self, refusal: &Refusal) -> bool {
        // Somebody else's entry took the index. (Its account is found to exist, or the count to differ.)
        matches!(refusal.of_zx1(), Some(Error::IndexTaken | Error::WrongAddress | Error::AccountExists))
    }
}
