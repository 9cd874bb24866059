//! Appending to the log: the same for a text in one transaction and for a sealed draft.

use anchor_lang::prelude::*;
use zx1_interface::accounts::{FeedbackEntry, FeedbackLogAccount};
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_interface::events::FeedbackSubmitted;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::feedback_log::{TextError, check_text, entry_digest};
use zx1_runtime::{Now, Stored, Syscall, bump, create, ensure, existing, expect_address, key, time};

/// Accounts of a write to the log.
pub struct Append<'a> {
    /// Pays the rent.
    pub payer: &'a AccountView,
    /// The wallet that writes the text.
    pub sender: &'a AccountView,
    /// The log's head; created by the first entry.
    pub log: &'a AccountView,
    /// The entry's account, to be created.
    pub entry: &'a AccountView,
    /// The draft that is sealed; zero when the text came in the instruction.
    pub draft: [u8; 32],
}

impl Append<'_> {
    /// Appends the text at this index, which must be the next one. Returns the event to emit.
    pub fn append(&self, index: u64, text: &[u8]) -> Result<FeedbackSubmitted> {
        check_text(text).map_err(|error| match error {
            TextError::Empty => Error::EmptyText,
            TextError::TooLong => Error::TextTooLong,
            TextError::NotUtf8 => Error::TextNotUtf8,
        })?;
        let now = time::now()?;
        expect_address(self.log, &pda::FEEDBACK_LOG.address)?;
        let mut log = if self.log.is_data_empty() { self.open(&now)? } else { existing(self.log)? };
        ensure!(index == log.count, Error::IndexTaken);
        let (sender, payer, previous_head) = (*key(self.sender), *key(self.payer), log.head);
        let text_len = u32::try_from(text.len()).map_err(|_| Error::TextTooLong)?;
        let entry_seeds: &[&[u8]] = &[seeds::ENTRY, &index.to_le_bytes()];
        let mut entry = create(
            self.payer,
            self.entry,
            entry_seeds,
            text.len(),
            Error::AccountExists,
            |account: &mut FeedbackEntry, bump| {
                account.index = index;
                account.timestamp = now.unix;
                account.slot = now.slot.0;
                account.sender = sender;
                account.payer = payer;
                account.previous_head = previous_head;
                account.text_len = text_len;
                account.version = LAYOUT_VERSION;
                account.bump = bump;
            },
        )?;
        let tail = entry.tail_mut();
        ensure!(tail.len() == text.len(), Error::WrongAccountType);
        tail.copy_from_slice(text);
        let slot = now.slot.0;
        log.head = entry_digest::<Syscall>(&previous_head, index, now.unix, slot, &sender, &payer, text);
        log.count = index.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
        Ok(FeedbackSubmitted {
            index,
            sender,
            payer,
            draft: self.draft,
            timestamp: now.unix,
            head: log.head,
            text_len,
            sequence: bump(&mut log.event_sequence)?,
            account_created_slot: log.created_slot,
        })
    }

    fn open(&self, now: &Now) -> Result<Stored<FeedbackLogAccount>> {
        let fill = |account: &mut FeedbackLogAccount, bump| {
            account.created_slot = now.slot.0;
            account.version = LAYOUT_VERSION;
            account.bump = bump;
        };
        create(self.payer, self.log, &[seeds::FEEDBACK_LOG], 0, Error::AccountExists, fill)
    }
}
