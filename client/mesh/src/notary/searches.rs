//! All searches and all tasks of one agent, bounded. Each row goes to the store whenever it changes.

use super::{Desk, NotaryError, Search};
use crate::defaults::{MAX_DESKS, MAX_SEARCHES};
use std::collections::BTreeMap;
use zx1_protocol::ids::ConversationId;

macro_rules! rows {
    ($(#[$doc:meta])* $name:ident, $row:ident, $limit:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name(BTreeMap<ConversationId, $row>);

        impl $name {
            /// The rows of a store.
            pub fn load(rows: impl IntoIterator<Item = $row>) -> Self {
                Self(rows.into_iter().map(|row| (row.conversation(), row)).collect())
            }

            /// Takes a new one. When there are too many, the ones that are over leave, which the caller takes out
            /// of the store as well; when none is over, the new one is refused.
            pub fn add(&mut self, row: $row) -> Result<Vec<ConversationId>, NotaryError> {
                let id = row.conversation();
                if self.0.contains_key(&id) {
                    return Err(NotaryError::Exists(id));
                }
                let mut gone = Vec::new();
                if self.0.len() >= $limit {
                    let over = self.0.values().filter(|row| row.stage().is_over() && row.tasks().is_empty());
                    gone.extend(over.map($row::conversation));
                    self.0.retain(|id, _| !gone.contains(id));
                }
                if self.0.len() >= $limit {
                    return Err(NotaryError::Full { limit: $limit });
                }
                self.0.insert(id, row);
                Ok(gone)
            }

            /// The one of a conversation.
            pub fn get(&self, id: ConversationId) -> Result<&$row, NotaryError> {
                self.0.get(&id).ok_or(NotaryError::Unknown(id))
            }

            /// The one of a conversation, for the next input.
            pub fn get_mut(&mut self, id: ConversationId) -> Result<&mut $row, NotaryError> {
                self.0.get_mut(&id).ok_or(NotaryError::Unknown(id))
            }

            /// All, in the order of their conversations.
            pub fn iter(&self) -> impl Iterator<Item = &$row> {
                self.0.values()
            }

            /// When the next deadline passes, unix microseconds.
            pub fn next_deadline(&self) -> Option<u64> {
                self.0.values().filter_map($row::until).min()
            }

            /// Lets the time pass; returns the conversations of the rows that changed.
            pub fn advance(&mut self, now_micros: u64) -> Vec<ConversationId> {
                let mut changed = Vec::new();
                for row in self.0.values_mut().filter(|row| row.until().is_some_and(|until| until <= now_micros)) {
                    row.advance(now_micros);
                    changed.push(row.conversation());
                }
                changed
            }
        }
    };
}

rows!(
    /// The searches of a party.
    Searches, Search, MAX_SEARCHES
);
rows!(
    /// The tasks of a notary.
    Desks, Desk, MAX_DESKS
);
