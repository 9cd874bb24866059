//! Transactions that are signed in several places: `--sign-only`, a sponsor, a wallet without a network.

use super::draft::{Draft, Intent};
use super::error::{ChainError, Result};
use super::message::{Key, parse_transaction, transaction_bytes};
use super::sizes::{MAX_TRANSACTION, compile, signed_size};
use super::summary::{self, Summary};
use super::words::shown;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::json;
use solana_address::Address;
use solana_message::VersionedMessage;
use solana_signature::Signature;
use solana_transaction::versioned::VersionedTransaction;

/// Kind of a file that `--sign-only` writes; other files are refused.
const KIND: &str = "zx1-partial-transaction/v1";

/// A transaction with some, all or none of its signatures. Every signature in it was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialTransaction {
    /// The intent that the transaction serves.
    pub intent: Intent,
    /// What the transaction does, in a few words.
    pub title: String,
    /// The last block height at which it can land, as far as its maker knew.
    pub last_valid_block_height: u64,
    pub(crate) slot: u64,
    pub(crate) transaction: VersionedTransaction,
}

#[derive(Serialize, Deserialize)]
struct File {
    kind: String,
    title: String,
    last_valid_block_height: u64,
    slot: u64,
    transaction: String,
    #[serde(default)]
    signers: Vec<SignerLine>,
}

#[derive(Serialize, Deserialize)]
struct SignerLine {
    address: String,
    signed: bool,
}

impl PartialTransaction {
    /// A message without signatures.
    pub(crate) fn unsigned(
        intent: Intent,
        title: String,
        message: VersionedMessage,
        last_valid_block_height: u64,
        slot: u64,
    ) -> Result<Self> {
        let size = signed_size(&message);
        if size > MAX_TRANSACTION {
            return Err(ChainError::TooLarge { size, max: MAX_TRANSACTION });
        }
        let count = usize::from(message.header().num_required_signatures);
        let transaction = VersionedTransaction { signatures: vec![Signature::default(); count], message };
        Ok(Self { intent, title, last_valid_block_height, slot, transaction })
    }

    /// A transaction made without a network: the blockhash comes from elsewhere, the compute units from the
    /// table.
    ///
    /// # Errors
    ///
    /// [`ChainError::Invalid`] when the table does not know an instruction and `units` is not given.
    pub fn offline(
        draft: &Draft,
        blockhash: [u8; 32],
        last_valid_block_height: u64,
        units: Option<u32>,
        price: u64,
    ) -> Result<Self> {
        let units = units.or_else(|| super::compute::table_units(&draft.instructions)).ok_or_else(|| {
            ChainError::Invalid(
                "How many compute units this transaction needs is known only from a simulation. Name a \
                 number."
                    .to_owned(),
            )
        })?;
        let message = compile(&draft.instructions, &draft.payer, &draft.tables, units, price, blockhash)?;
        let mut made =
            Self::unsigned(draft.intent.clone(), draft.title.clone(), message, last_valid_block_height, 0)?;
        let keys: Vec<Key<'_>> = draft.keys.iter().map(|key| key.as_ref() as Key<'_>).collect();
        made.sign(&keys)?;
        Ok(made)
    }

    /// Who has to sign, in order, and who has. The first pays.
    pub fn signers(&self) -> Vec<(Address, bool)> {
        self.signatures().into_iter().map(|(address, signature)| (address, signature.is_some())).collect()
    }

    /// Every signer with its signature, `None` where it is missing.
    pub fn signatures(&self) -> Vec<(Address, Option<Signature>)> {
        let keys = self.transaction.message.static_account_keys().iter();
        let given = |signature: &Signature| Some(*signature).filter(|it| *it != Signature::default());
        keys.zip(&self.transaction.signatures).map(|(key, one)| (*key, given(one))).collect()
    }

    /// Addresses that have not signed yet.
    pub fn missing(&self) -> Vec<Address> {
        self.signers().into_iter().filter(|(_, signed)| !signed).map(|(address, _)| address).collect()
    }

    /// Whether it can be sent.
    pub fn is_complete(&self) -> bool {
        self.missing().is_empty()
    }

    /// The first signature, by which the cluster will know it; None while it is missing.
    pub fn signature(&self) -> Option<Signature> {
        self.transaction.signatures.first().copied().filter(|signature| *signature != Signature::default())
    }

    /// Adds the signatures of those keys that have to sign. Returns how many were added.
    ///
    /// # Errors
    ///
    /// [`ChainError::BadSignature`] when a key cannot sign, for example on a device that refuses.
    pub fn sign(&mut self, keys: &[Key<'_>]) -> Result<usize> {
        let message = self.transaction.message.serialize();
        let mut added = 0_usize;
        for (index, (address, signed)) in self.signers().into_iter().enumerate() {
            let Some(key) = keys.iter().find(|key| key.pubkey() == address).filter(|_| !signed) else {
                continue;
            };
            let bad = || ChainError::BadSignature { address };
            let signature = key.try_sign_message(&message).map_err(|_| bad())?;
            if !signature.verify(address.as_ref(), &message) {
                return Err(bad());
            }
            *self.transaction.signatures.get_mut(index).ok_or_else(bad)? = signature;
            added = added.saturating_add(1);
        }
        Ok(added)
    }

    /// Takes over the signatures of another copy.
    ///
    /// # Errors
    ///
    /// [`ChainError::DifferentTransactions`].
    pub fn combine(&mut self, other: &Self) -> Result<()> {
        if self.transaction.message != other.transaction.message {
            return Err(ChainError::DifferentTransactions);
        }
        for (mine, theirs) in self.transaction.signatures.iter_mut().zip(&other.transaction.signatures) {
            if *mine == Signature::default() {
                *mine = *theirs;
            }
        }
        Ok(())
    }

    /// Summary of what the transaction does.
    pub fn summary(&self) -> Summary {
        let keys = self.transaction.message.static_account_keys().to_vec();
        summary::summarize(&self.transaction.message, &keys, None, Vec::new())
    }

    /// The message to be signed.
    pub fn message(&self) -> &VersionedMessage {
        &self.transaction.message
    }

    /// The transaction alone in base64, with zeros for missing signatures.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(transaction_bytes(&self.transaction))
    }

    /// The file that `--sign-only` writes: the transaction, what it is for and who has signed.
    pub fn to_json(&self) -> String {
        let signers: Vec<_> = self
            .signers()
            .into_iter()
            .map(|(address, signed)| json!({ "address": address.to_string(), "signed": signed }))
            .collect();
        let file = json!({
            "kind": KIND,
            "title": self.title,
            "last_valid_block_height": self.last_valid_block_height,
            "slot": self.slot,
            "transaction": self.to_base64(),
            "signers": signers,
        });
        // A value of strings and numbers is always printed.
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }

    /// Reads such a file, or a transaction in base64. Every signature is checked; the list of signers is not
    /// believed but read from the transaction.
    ///
    /// # Errors
    ///
    /// [`ChainError::BadTransaction`] and [`ChainError::BadSignature`].
    pub fn from_text(text: &str) -> Result<Self> {
        let bad = |detail: String| ChainError::BadTransaction { detail };
        let text = text.trim();
        // A file's own description proves nothing. So its intent is named by its bytes: no file can pass for
        // an intent that was fulfilled already.
        let of = |transaction: VersionedTransaction, title, last_valid_block_height, slot| {
            let hash: Address = keccak(&transaction.message.serialize()).into();
            let intent = Intent::new("signed", &[&hash]);
            Self { intent, title, last_valid_block_height, slot, transaction }
        };
        let read = if text.starts_with('{') {
            let file: File = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
            if file.kind != KIND {
                return Err(bad(format!("its kind is '{}'", shown(file.kind.as_bytes()))));
            }
            let transaction = parse_transaction(&file.transaction)?;
            of(transaction, shown(file.title.as_bytes()), file.last_valid_block_height, file.slot)
        } else {
            of(parse_transaction(text)?, "A signed transaction".to_owned(), u64::MAX, 0)
        };
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<()> {
        if matches!(self.transaction.message, VersionedMessage::V1(_)) {
            let detail = "it is of version 1, which zx1 reads but does not sign".to_owned();
            return Err(ChainError::BadTransaction { detail });
        }
        let message = self.transaction.message.serialize();
        for ((address, signed), signature) in self.signers().into_iter().zip(&self.transaction.signatures) {
            if signed && !signature.verify(address.as_ref(), &message) {
                return Err(ChainError::BadSignature { address });
            }
        }
        Ok(())
    }
}

fn keccak(bytes: &[u8]) -> [u8; 32] {
    use sha3::Digest;
    sha3::Keccak256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::instructions::feedback_log;
    use solana_keypair::Keypair;
    use solana_signer::Signer;

    fn pair() -> (Keypair, Keypair) {
        (Keypair::new_from_array([1; 32]), Keypair::new_from_array([2; 32]))
    }

    fn sponsored() -> PartialTransaction {
        let (payer, sender) = pair();
        let submit = feedback_log::submit_feedback(payer.pubkey(), sender.pubkey(), 3, b"hello".to_vec());
        let draft = Draft::new(Intent::new("feedback", &[&3]), "Say hello", payer.pubkey(), vec![submit]);
        PartialTransaction::offline(&draft, [9; 32], 150, None, 10).unwrap()
    }

    #[test]
    fn two_keys_sign_in_two_places_and_the_halves_make_a_whole() {
        let (payer, sender) = pair();
        let fresh = sponsored();
        assert_eq!(fresh.missing(), vec![payer.pubkey(), sender.pubkey()]);
        let mut first = PartialTransaction::from_text(&fresh.to_json()).unwrap();
        assert_eq!(first.sign(&[&payer]).unwrap(), 1);
        assert_eq!(first.sign(&[&payer]).unwrap(), 0, "once is enough");
        let mut second = PartialTransaction::from_text(&fresh.to_base64()).unwrap();
        assert_eq!(second.sign(&[&sender]).unwrap(), 1);
        assert!(!first.is_complete() && !second.is_complete());
        first.combine(&second).unwrap();
        assert!(first.is_complete());
        let read = PartialTransaction::from_text(&first.to_json()).unwrap();
        assert_eq!(read.to_base64(), first.to_base64());
        assert_eq!(read.intent, PartialTransaction::from_text(&first.to_base64()).unwrap().intent);
        assert_ne!(read.intent, fresh.intent, "a file's words are not believed");
        assert_eq!(read.signature().map(|s| s.to_string().len() > 80), Some(true));
    }

    #[test]
    fn a_wrong_signature_another_transaction_and_rubbish_fail() {
        let (payer, _) = pair();
        let mut signed = sponsored();
        signed.sign(&[&payer]).unwrap();
        let mut forged = signed.clone();
        forged.transaction.signatures[1] = forged.transaction.signatures[0];
        assert_eq!(PartialTransaction::from_text(&forged.to_json()).unwrap_err().code(), 7065);
        let mut other = sponsored();
        if let VersionedMessage::V0(message) = &mut other.transaction.message {
            message.recent_blockhash = [8; 32].into();
        }
        assert_eq!(signed.combine(&other).unwrap_err().code(), 7067);
        for text in ["", "{}", "AAAA", "not base64!", r#"{"kind":"x"}"#] {
            assert_eq!(PartialTransaction::from_text(text).unwrap_err().code(), 7066, "{text}");
        }
    }

    #[test]
    fn what_the_table_does_not_know_needs_a_number() {
        let (payer, _) = pair();
        let odd = solana_instruction::Instruction {
            program_id: Address::new_from_array([5; 32]),
            accounts: vec![],
            data: vec![],
        };
        let draft = Draft::new(Intent::new("odd", &[]), "Odd", payer.pubkey(), vec![odd]);
        assert_eq!(PartialTransaction::offline(&draft, [9; 32], 1, None, 0).unwrap_err().code(), 7090);
        assert!(PartialTransaction::offline(&draft, [9; 32], 1, Some(5_000), 0).is_ok());
    }
}
