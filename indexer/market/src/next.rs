//! The next step after an error of the ledger's side, for whoever operates the server. The market's own sentences say
//! theirs themselves.

use crate::error::Error;

/// After an error that ends the server or an order to it.
pub fn after_error(error: &Error) -> Option<&'static str> {
    after(error.code())
}

/// After the error with this number.
pub fn after(code: u32) -> Option<&'static str> {
    Some(match code {
        // Amounts, keys, addresses, blocks.
        8000..=8019 => {
            "Write XNO as plain digits with a point, such as 1.5; an account holds what the ledger shows."
        }
        8020..=8024 => "Copy the whole address again from where it came; do not repair it by hand.",
        8030 => "Give exactly that many hexadecimal digits, without 0x and without blanks.",
        8031..=8034 => "Check the seed: it must be the one that the journal was made with.",
        8040..=8070 => "Keep the log and the journal, and report this: no block was published.",

        // Work.
        8100 => "Look at the work peers (nano.work_peers): what they answer does not hold.",
        8101..=8103 => "Give the server work peers (nano.work_peers) or threads (nano.work_threads).",
        8104 => "Look at the disk that the journal lies on.",

        // The node.
        8200 => "Look at the node: its version, whether it is in sync, and enable_control for work.",
        8201..=8203 => {
            "Look at the node and at --nano. Nothing is lost: what was decided is paid when it answers."
        }
        8204 => "Give the RPC address of a Nano node with --nano, such as http://127.0.0.1:7076.",
        8205 | 8663 => "Name the node's network with --network, or give a node of the right one with --nano.",
        8206 => "Give --nano as http://host:port and --nano-ws as ws://host:port.",
        8207 => "Look at --nano-ws. Nothing is lost: the node is polled.",

        // The embedded ledger.
        8500 => "Check the path and its permissions, or give another folder with --data.",
        8501 => "Stop the other server, or give this one a folder of its own with --data.",
        8502..=8506 => "Restore the folder from a backup, or start with an empty one: it is play money.",
        8507 => "Make room on the disk and start again; what was answered is kept.",
        8510 | 8511 => "Free the port on this machine and start again.",
        8520..=8525 => "Look at the ledger's answer; nothing was changed on it.",
        8530 | 8531 => "Start the server again; nothing is lost.",
        8540 => "Stop the server and report this, with the ledger's folder.",
        8542 => "Free memory or threads on this machine, and start again.",
        8550 | 8551 => "Correct the request to the control endpoint.",

        // The journal.
        8600 | 8601 => {
            "Look at the disk and at the permissions of the data folder, and start again; nothing is lost."
        }
        8602 => "Stop the other process that has the journal open.",
        8603 => "Give the seed that the journal was made with (nano.seed or FIX_NANO_SEED).",
        8604 => "Name the journal's network with --network, or give another folder with --data.",
        8605 => "Use the version of this server that wrote the journal, or a newer one.",
        8606 => "Restore journal and database from one moment; see docs/operate.md, \"Rebuilding\".",
        8607 => "Give the seed (nano.seed or FIX_NANO_SEED): the journal is read without it, not written.",
        8608 | 8611 => "Repair the system; keys and journals need random bytes.",
        8609 => "Name all former nonce secrets in nano.former_nonce_files.",
        8610 => "Give the journal's nonce secret, or name it in nano.former_nonce_files beside the new one.",

        // The escrow.
        8620..=8625 => {
            "Look at the contract with `nano-escrow escrow status CONTRACT`; nothing was paid by this."
        }
        8640..=8649 => {
            "Look at the contract with `nano-escrow escrow status CONTRACT` and at `fix-server dead-letters`; what was \
             decided first stands."
        }
        8660 => {
            "Find out who else holds the seed: a restored copy, or a second server. Stop it before all else."
        }
        8661 | 8662 => "Compare the account with another node before anything is resumed.",
        8664 => "Compare the account with another node; then fix-server resume ADDRESS.",
        8665 => "Wait, or look at the node: nothing is lost, and it goes on where it ended.",
        8666 => "fix-server sweep: what is left goes back to its sources.",
        8667 => "Import the contract's transcript (--import), or fix-server sweep --contract ID.",
        8680 => "Stop the server before it pays anything out, and look at the accounts that are named.",
        8681..=8683 => {
            "Restore a file of `nano-escrow escrow export` with its own seed into an empty folder."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nano_escrow::escrow::EscrowError;
    use nano_escrow::journal::JournalError;
    use nano_escrow::node::NodeError;
    use nano_escrow::work::WorkError;
    use nano_escrow::{AddressError, AmountError, HexError, KeyError};

    #[test]
    fn every_refusal_of_the_ledgers_side_has_a_next_step() {
        let all = [
            AmountError::ROWS,
            AddressError::ROWS,
            HexError::ROWS,
            KeyError::ROWS,
            nano_escrow::Error::ROWS,
            WorkError::ROWS,
            NodeError::ROWS,
            JournalError::ROWS,
            EscrowError::ROWS,
            #[cfg(feature = "devnet")]
            nano_devnet::DevnetError::ROWS,
        ];
        for row in all.concat() {
            assert!(after(row.code).is_some_and(|next| next.ends_with('.')), "{row:?}");
        }
    }
}
