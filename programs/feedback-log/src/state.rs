//! Appending to the log: the same for a text in one transaction and for a sealed draft.

use anchor_lang::prelude::*;
use zx1_interface::accounts::{FeedbackEntry, FeedbackLogAccount, VERSION};
use zx1_interface::events::FeedbackSubmitted;
use zx1_interface::{Error, Layout, pda, seeds};
use zx1_protocol::feedback_log::{TextError, check_text, entry_digest};
use zx1_runtime::stored::bytes_mut;
use zx1_runtime::{Stored, Syscall, bump, create, ensure, expect_address, key, time};

/// Who writes where.
pub struct Append<'a> {
    /// Pays the rent.
    pub payer: &'a AccountView,
    /// Who speaks.
    pub sender: &'a AccountView,
    /// The log's head; created by the first entry.
    pub log: &'a AccountView,
    /// Where the entry goes.
    pub entry: &'a AccountView,
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
        if self.log.is_data_empty() {
            create(self.payer, self.log, &[seeds::FEEDBACK_LOG], 0, Error::AccountExists, |bump| {
                FeedbackLogAccount {
                    count: 0,
                    created_slot: now.slot.0,
                    event_sequence: 0,
                    head: [0; 32],
                    version: VERSION,
                    bump,
                    reserved: [0; 6],
                }
            })?;
        }
        let mut log = <Stored<FeedbackLogAccount> as anchor_lang::AnchorAccount>::load(*self.log)?;
        ensure!(index == log.count, Error::IndexTaken);
        let (sender, payer, previous_head) = (*key(self.sender), *key(self.payer), log.head);
        let text_len = u32::try_from(text.len()).map_err(|_| Error::TextTooLong)?;
        let entry_seeds: &[&[u8]] = &[seeds::ENTRY, &index.to_le_bytes()];
        create(self.payer, self.entry, entry_seeds, text.len(), Error::AccountExists, |bump| FeedbackEntry {
            index,
            timestamp: now.unix,
            slot: now.slot.0,
            sender,
            payer,
            previous_head,
            text_len,
            version: VERSION,
            bump,
            reserved: [0; 2],
        })?;
        let mut entry = *self.entry;
        let tail = bytes_mut(&mut entry).get_mut(FeedbackEntry::SIZE..).ok_or(Error::WrongAccountType)?;
        ensure!(tail.len() == text.len(), Error::WrongAccountType);
        tail.copy_from_slice(text);
        let slot = now.slot.0;
        log.head = entry_digest::<Syscall>(&previous_head, index, now.unix, slot, &sender, &payer, text);
        log.count = index.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
        Ok(FeedbackSubmitted {
            index,
            sender,
            payer,
            timestamp: now.unix,
            head: log.head,
            text_len,
            sequence: bump(&mut log.event_sequence)?,
            account_created_slot: log.created_slot,
        })
    }
}
