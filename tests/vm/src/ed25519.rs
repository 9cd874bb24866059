//! Instructions of the Ed25519 precompile, right ones and hostile ones.

use ed25519_dalek::{Signer as _, SigningKey};
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_sdk_ids::ed25519_program;

/// Signs with a wallet's key.
pub fn sign(wallet: &Keypair, message: &[u8]) -> [u8; 64] {
    SigningKey::from_bytes(wallet.secret_bytes()).sign(message).to_bytes()
}

/// One of the signatures that an instruction of the precompile describes: seven numbers, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ed25519Entry {
    /// Where the signature begins.
    pub signature_offset: u16,
    /// In which instruction's data; `0xFFFF` is this instruction.
    pub signature_instruction: u16,
    /// Where the key begins.
    pub key_offset: u16,
    /// In which instruction's data.
    pub key_instruction: u16,
    /// Where the message begins.
    pub message_offset: u16,
    /// Length of the message in bytes.
    pub message_size: u16,
    /// In which instruction's data.
    pub message_instruction: u16,
}

impl Ed25519Entry {
    /// Key, signature and message one after the other in this instruction's own data, from `at` on.
    pub fn own(at: usize, message_size: usize) -> Self {
        let number = |n: usize| u16::try_from(n).unwrap();
        Self {
            signature_offset: number(at + 32),
            signature_instruction: u16::MAX,
            key_offset: number(at),
            key_instruction: u16::MAX,
            message_offset: number(at + 96),
            message_size: number(message_size),
            message_instruction: u16::MAX,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        [
            self.signature_offset,
            self.signature_instruction,
            self.key_offset,
            self.key_instruction,
            self.message_offset,
            self.message_size,
            self.message_instruction,
        ]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect()
    }
}

/// An instruction of the precompile with exactly these entries and, after them, these bytes. The first
/// payload byte is at `2 + 14 * entries.len()`.
pub fn ed25519_custom(entries: &[Ed25519Entry], payload: &[u8]) -> Instruction {
    let mut data = vec![u8::try_from(entries.len()).unwrap(), 0];
    data.extend(entries.iter().flat_map(Ed25519Entry::bytes));
    data.extend(payload);
    Instruction { program_id: ed25519_program::ID, accounts: Vec::new(), data }
}

fn block(wallet: &Keypair, message: &[u8]) -> Vec<u8> {
    let key = SigningKey::from_bytes(wallet.secret_bytes()).verifying_key().to_bytes();
    [&key[..], &sign(wallet, message), message].concat()
}

/// The precompile checks that this wallet signed this message: one signature, all in its own data.
pub fn ed25519_instruction(wallet: &Keypair, message: &[u8]) -> Instruction {
    ed25519_custom(&[Ed25519Entry::own(16, message.len())], &block(wallet, message))
}

/// One instruction of the precompile with two signatures.
pub fn ed25519_pair(first: (&Keypair, &[u8]), second: (&Keypair, &[u8])) -> Instruction {
    let (one, two) = (block(first.0, first.1), block(second.0, second.1));
    let entries = [Ed25519Entry::own(30, first.1.len()), Ed25519Entry::own(30 + one.len(), second.1.len())];
    ed25519_custom(&entries, &[one, two].concat())
}
