//! What a log holds of a conversation: the ACCEPT, and the other side's pre-signature (decision D5).

use crate::errors::Result;
use zx1_log::LogHandle;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::payload;
use zx1_protocol::units::{Epoch, Slot};

/// What two agents agreed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// block_ref of the last ACCEPT between them.
    pub(crate) accepted: Option<Slot>,
    /// The other side's pre-signature: from its ACCEPT, or from its first message after ours.
    pub(crate) presigned: Option<[u8; 64]>,
}

/// Reads the conversation with `other` in these epochs.
pub(crate) fn conversation_of(
    log: &LogHandle,
    conversation: &[u8; 16],
    other: &[u8; 32],
    (from, to): (Epoch, Epoch),
) -> Result<Conversation> {
    let mut found = Conversation::default();
    let mut waiting = false;
    let mut entries = log.reader().entries(from, to)?;
    while let Some(stored) = entries.next_entry()? {
        let entry = stored.entry().map_err(zx1_log::LogError::from)?;
        let header = entry.header;
        let between = match stored.direction {
            Direction::Sent => header.recipient == other,
            Direction::Received => header.sender == other,
        };
        if header.conversation_id != conversation || !between {
            continue;
        }
        let accepts = header.msg_type == MsgType::Accept;
        match stored.direction {
            Direction::Sent if accepts => {
                found = Conversation { accepted: Some(header.block_ref), presigned: None };
                waiting = true;
            }
            Direction::Received if accepts || waiting => {
                if accepts {
                    found.accepted = Some(header.block_ref);
                }
                waiting = false;
                let payload = log.payload(header.payload_hash)?.unwrap_or_default();
                let split = if accepts {
                    payload::split_accept_presignature(&payload)
                } else {
                    payload::split_presignature(&payload)
                };
                found.presigned = split.map(|(_, signature)| *signature);
            }
            _ => {}
        }
    }
    Ok(found)
}
