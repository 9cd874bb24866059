//! Sending transactions, and what comes of them.

use std::fmt;

use litesvm::types::TransactionMetadata;
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_message::{Message, VersionedMessage};
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use solana_transaction_error::TransactionError;

use crate::World;

/// Most bytes of a serialized transaction.
pub const MAX_TRANSACTION: usize = 1_232;

/// First bytes of a self-CPI event's data.
pub const EVENT_TAG: [u8; 8] = [0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d];

/// An instruction that a program called.
#[derive(Clone, Debug)]
pub struct Inner {
    /// The top-level instruction under which it ran.
    pub outer: usize,
    /// Depth: 2 is called by the top-level instruction.
    pub depth: u8,
    /// The program called.
    pub program: Address,
    /// Accounts of the instruction, in order.
    pub accounts: Vec<Address>,
    /// Data of the instruction.
    pub data: Vec<u8>,
}

/// What an executed transaction left behind, whether it succeeded or not.
#[derive(Clone, Default)]
pub struct Sent {
    /// Compute units of the whole transaction.
    pub units: u64,
    /// The log, line by line.
    pub logs: Vec<String>,
    /// Bytes of the serialized transaction.
    pub size: usize,
    /// The last program's return data.
    pub return_data: Vec<u8>,
    /// Calls between programs, in order.
    pub inner: Vec<Inner>,
    /// The fee in lamports.
    pub fee: u64,
}

impl Sent {
    /// Compute units of every call that reported them, in the order in which the calls ended. A caller's
    /// units include those of what it called; precompiles and the system program report none.
    pub fn units_by_program(&self) -> Vec<(Address, u64)> {
        let read = |line: &String| {
            let (program, rest) = line.strip_prefix("Program ")?.split_once(" consumed ")?;
            Some((program.parse().ok()?, rest.split(' ').next()?.parse().ok()?))
        };
        self.logs.iter().filter_map(read).collect()
    }

    /// Compute units of all calls of one program.
    pub fn units_of(&self, program: &Address) -> u64 {
        self.units_by_program().iter().filter(|(id, _)| id == program).map(|(_, units)| units).sum()
    }
}

/// A transaction that succeeded.
#[derive(Clone)]
pub struct Receipt(pub Sent);

impl std::ops::Deref for Receipt {
    type Target = Sent;
    fn deref(&self) -> &Sent {
        &self.0
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "succeeded with {} compute units and {} bytes", self.units, self.size)?;
        self.logs.iter().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

/// A transaction that was refused. Nothing changed, but the fee may have been taken.
#[derive(Clone)]
pub struct Failure {
    /// Error of the transaction.
    pub error: TransactionError,
    /// What ran until then.
    pub sent: Sent,
}

impl Failure {
    /// The program's error number, if a program refused with one.
    pub fn code(&self) -> Option<u32> {
        match self.error {
            TransactionError::InstructionError(_, InstructionError::Custom(code)) => Some(code),
            _ => None,
        }
    }

    /// The top-level instruction that failed.
    pub fn instruction(&self) -> Option<u8> {
        match self.error {
            TransactionError::InstructionError(index, _) => Some(index),
            _ => None,
        }
    }

    /// The runtime's error of the failed instruction.
    pub fn instruction_error(&self) -> Option<&InstructionError> {
        match &self.error {
            TransactionError::InstructionError(_, error) => Some(error),
            _ => None,
        }
    }

    /// The innermost program that failed.
    pub fn program(&self) -> Option<Address> {
        let read = |line: &String| {
            line.strip_prefix("Program ")?
                .split_once(" failed: ")
                .and_then(|(program, _)| program.parse().ok())
        };
        self.sent.logs.iter().find_map(read)
    }

    /// Asserts the program's error number.
    #[track_caller]
    pub fn expect_code(&self, code: u32) {
        assert_eq!(self.code(), Some(code), "the refusal is error {code}: {self:?}");
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "refused: {:?}", self.error)?;
        self.sent.logs.iter().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

/// The instruction that allows a transaction more compute units than 200 000 an instruction.
pub fn compute_limit(units: u32) -> Instruction {
    let data = [&[2][..], &units.to_le_bytes()].concat();
    Instruction { program_id: solana_sdk_ids::compute_budget::ID, accounts: Vec::new(), data }
}

/// Bytes that these instructions have as a signed transaction, sent or not.
pub fn transaction_size(instructions: &[Instruction], payer: &Address) -> usize {
    let message = VersionedMessage::Legacy(Message::new(instructions, Some(payer)));
    size(&message)
}

fn size(message: &VersionedMessage) -> usize {
    // Fewer than 128 signatures: their count is one byte.
    1 + 64 * usize::from(message.header().num_required_signatures) + message.serialize().len()
}

/// The raw payloads of a program's self-CPI events, in order, without the tag.
pub fn events(sent: &Sent, program: &Address) -> Vec<Vec<u8>> {
    let payload = |call: &Inner| call.data.strip_prefix(&EVENT_TAG).map(<[u8]>::to_vec);
    sent.inner.iter().filter(|call| call.program == *program).filter_map(payload).collect()
}

impl World {
    /// Signs and sends one transaction with a fresh blockhash; the same instructions can be sent again.
    ///
    /// `payer` need not be repeated in `signers`; keys that the instructions do not ask for are left
    /// out. A transaction of more than 1 232 bytes fails the test.
    #[track_caller]
    pub fn send(
        &mut self,
        instructions: &[Instruction],
        payer: &Keypair,
        signers: &[&Keypair],
    ) -> Result<Receipt, Failure> {
        self.svm.expire_blockhash();
        let blockhash = self.svm.latest_blockhash();
        let message = Message::new_with_blockhash(instructions, Some(&payer.pubkey()), &blockhash);
        let needed = &message.account_keys[..usize::from(message.header.num_required_signatures)];
        let keys: Vec<&Keypair> = needed
            .iter()
            .map(|key| {
                std::iter::once(&payer).chain(signers).find(|k| k.pubkey() == *key).unwrap_or_else(|| {
                    panic!("the instructions ask for a signature of {key}; no key was given")
                })
            })
            .copied()
            .collect();
        let accounts = message.account_keys.clone();
        let message = VersionedMessage::Legacy(message);
        let size = size(&message);
        assert!(size <= MAX_TRANSACTION, "the transaction has {size} bytes, {MAX_TRANSACTION} are allowed");
        let transaction = VersionedTransaction::try_new(message, &keys[..]).expect("every key is there");
        match self.svm.send_transaction(transaction) {
            Ok(meta) => Ok(Receipt(sent(meta, size, &accounts))),
            Err(failed) => Err(Failure { error: failed.err, sent: sent(failed.meta, size, &accounts) }),
        }
    }

    /// Sends what must succeed.
    #[track_caller]
    pub fn send_ok(
        &mut self,
        instructions: &[Instruction],
        payer: &Keypair,
        signers: &[&Keypair],
    ) -> Receipt {
        self.send(instructions, payer, signers).unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    /// Sends what must be refused, and checks that nothing changed but the payer's balance, by the fee.
    #[track_caller]
    pub fn send_refused(
        &mut self,
        instructions: &[Instruction],
        payer: &Keypair,
        signers: &[&Keypair],
    ) -> Failure {
        let before = self.snapshot();
        let payer_before = self.account(&payer.pubkey());
        match self.send(instructions, payer, signers) {
            Ok(receipt) => panic!("this was to be refused, but it {receipt:?}"),
            Err(failure) => {
                before.assert_only_changed(self, &[payer.pubkey()]);
                let paid = payer_before.map(|mut account| {
                    account.lamports -= failure.sent.fee;
                    account
                });
                assert_eq!(self.account(&payer.pubkey()), paid, "the payer lost more than the fee");
                failure
            }
        }
    }
}

fn sent(meta: TransactionMetadata, size: usize, accounts: &[Address]) -> Sent {
    let mut inner = Vec::new();
    for (outer, calls) in meta.inner_instructions.into_iter().enumerate() {
        for call in calls {
            inner.push(Inner {
                outer,
                depth: call.stack_height,
                program: accounts[usize::from(call.instruction.program_id_index)],
                accounts: call.instruction.accounts.iter().map(|a| accounts[usize::from(*a)]).collect(),
                data: call.instruction.data,
            });
        }
    }
    Sent {
        units: meta.compute_units_consumed,
        logs: meta.logs,
        size,
        return_data: meta.return_data.data,
        inner,
        fee: meta.fee,
    }
}
