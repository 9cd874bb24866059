//! The next step after an error.

/// After the error with this number.
pub(crate) fn after(code: u32) -> Option<&'static str> {
    Some(match code {
        // Amounts, keys, addresses, blocks.
        8000..=8010 | 8012 | 8013 => {
            "Write XNO as plain digits with a point, such as 1.5, or raw as a whole number."
        }
        8011 => "Write the amount in raw as a whole number, or give it in XNO.",
        8014 | 8040 | 8043 => "Give an amount above zero.",
        8015 => "Check the amounts; one of them is wrong.",
        8016 => "Check the balance, or send less.",
        8020..=8024 => "Copy the whole address again from where it came; do not repair it by hand.",
        8030 => "Give exactly that many digits, without 0x and without blanks.",
        8031 => "Check the key; money sent to it would be lost.",
        8032 => "Check that block, key and signature belong together.",
        8033 => "If the block is another's, ask the node whether it is confirmed.",
        8034 => "Use the key of the block's account.",
        8041 => "Give the address of a person or a contract.",
        8042 => "Receive something first; the receive opens the account.",
        8044 => "Ask the node for what is receivable, and use the hash of a send.",
        8045 => "Name a representative; any account that votes will do.",
        8046 => "Use send to pay and receive to take up; a change with a lower balance burns the difference.",
        8047 | 8647 => "Nothing to do.",
        8048 => "Ask the node for the amount of the source, and build the block again.",
        8049 => "Read the account's frontier again, and build the block on it.",
        8050 => "Use the head of the block's own account.",
        8051 => "Set the link to zero, or the balance to what the block should move.",
        8060 => "Give a state block as a node prints it with json_block.",
        8061 => "Do not trust this block; ask where it came from.",
        8062 => "Give the whole block, and nothing but the block.",
        8063 => "Solve the work for the block's root first.",
        8070 => "Use one of these names.",

        // Work.
        8100 => "Solve it again, for this root and this threshold.",
        8101 => "Start again when the work is needed.",
        8102 => "Use the portable path, and report the processor.",
        8103 => "Check the work peers, or allow the processor to solve.",
        8104 => "Check the journal's disk.",

        // The node.
        8200 => "Check the node: its version, that it is in sync, and enable_control for work.",
        8201..=8203 => "Check the node and its URL. A block that was sent may have arrived: ask block_info.",
        8204 => "Check that the URL is the RPC of a Nano node.",
        8205 => "Use a node of the right network, or name the other network.",
        8206 => "Give it as http://host:port or ws://host:port.",
        8207 => "Nothing is lost: confirmations are also polled.",

        // Bindings.
        8300 | 8301 => "Do not pay this address for that key; ask its owner for a new record.",
        8302 => "Check the key: 32 bytes in base58 or in hexadecimal digits.",
        8303 | 8304 => "Ask its owner for the whole record.",

        // The commands.
        8400 => "Check the machine: its disk, its memory, its permissions.",
        8401 => "Give it as - (standard input), file:PATH or env:NAME.",
        8402 => "Check the name and the permissions.",
        8403 => "Give JSON.",
        8404 => "Set it to 64 hexadecimal digits, or name another.",
        8405 => "Give one of them as a file.",
        8406 => "Give one of them.",
        8407 => "Give an even number of digits, without 0x and without blanks.",
        8408 => "See nano-escrow --help, or the help of the command.",
        8409 => "Leave --path out; the fastest that it has is used.",
        8440 => "Give --network live, beta, dev or test, or NANO_NETWORK.",
        8441 => "Give --node URL or set NANO_NODE_URL.",
        8442 => "Give --representative ADDRESS: any account that votes on this network.",
        8443 => "Give the payment of the rest last.",

        // Journal, escrow, wallet.
        8600 => "Check the disk; nothing is lost, start again once it works.",
        8601 => "Check the path and its permissions.",
        8602 => "Use the running process, or stop it first.",
        8603 => "Give the seed that the journal was made with.",
        8604 => "Name the journal's network, or use another folder.",
        8605 => "Use the program version that wrote it, or a newer one.",
        8606 => "Do not edit the journal; restore an export into an empty folder.",
        8607 => "Open the journal for writing, with the seed.",
        8608 => "Repair the system; keys need random bytes.",
        8609 => "Give the former nonce secrets too; without them the address cannot be found again.",
        8610 => "Give the journal's nonce secret, or name it as a former one beside the new one.",
        8611 => "Repair the system; a journal needs random bytes.",
        8620 => "Create the account first.",
        8621 => "Choose a shorter, printable name.",
        8622 => "Use the terms of the first request, or another round.",
        8623 => "Name accounts of this contract only.",
        8624 => "Name every account once.",
        8625 => "What arrives now goes back to its sender; read the contract's statement.",
        8640 | 8641 => "Wait for deposits to be confirmed, or correct the legs; nothing was paid.",
        8642 | 8643 => "Correct the destination; nothing was paid.",
        8644 => "Read the statement: what was decided first stands.",
        8645 | 8646 => "Read the contract's statement.",
        8648 => "Try again when they are.",
        8649 => "Find out what was decided before the backup was restored, and settle with those legs.",
        8660 => "Wait for the network's election, then try again.",
        8661 => "Nothing was signed. Ask another node, and do not trust this one.",
        8662 => "Wait until the node has caught up, or use another one.",
        8663 => "Give the URL of a node of the right network.",
        8664 => "Look at the account on another node; resume it when you know why.",
        8665 => "Nothing is lost: recover continues where this ended.",
        8666 => "Sweep the account: what is left goes back to its sources.",
        8667 => "Give the caller its contract back, from a backup or a transcript; or sweep that contract.",
        8680 => "Stop paying out and look at the accounts that are named.",
        8681 => "Give a file that export has written.",
        8682 => "Give the right seed, and the file as it was written.",
        8683 => "Restore into an empty folder.",

        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nano_escrow::binding::BindingError;
    use nano_escrow::escrow::EscrowError;
    use nano_escrow::journal::JournalError;
    use nano_escrow::node::NodeError;
    use nano_escrow::work::WorkError;
    use nano_escrow::{AddressError, AmountError, HexError, KeyError};

    #[test]
    fn every_error_has_a_next_step() {
        let all = [
            AmountError::ROWS,
            AddressError::ROWS,
            HexError::ROWS,
            KeyError::ROWS,
            nano_escrow::Error::ROWS,
            WorkError::ROWS,
            NodeError::ROWS,
            BindingError::ROWS,
            JournalError::ROWS,
            EscrowError::ROWS,
            crate::errors::Error::ROWS,
        ];
        for row in all.concat() {
            assert!(after(row.code).is_some_and(|next| next.ends_with('.')), "{row:?}");
        }
    }
}
