//! The bundle: a batch with all that anyone needs to check it and to build proofs (decision C7). One file,
//! or one HTTP body.
//!
//! ```text
//! canonical CBOR array of 5:
//!   2                the format's version
//!   signed           byte string: batch message (237 bytes), key (32), signature (64); empty while it is not
//!                    signed
//!   batch            byte string: the BehaviorBatch's CBOR
//!   records          byte string: the packed records (decision B9) of the uncut arrays, one after
//!                    another: bids, selections, verifiers, feedback, each kind by slot
//!   leaves           byte string: 32 bytes for each entry of the log, in log order
//! ```
//!
//! A bundle borrows the bytes that it was read from. [`Bundle::check`] recomputes every hash and root that
//! the batch gives; that the batch is the one on chain is for the caller, who compares
//! [`Checked::commitment`] with the account. What is signed names network, coverage and head, and the key's
//! account follows from it: with the head's digest it proves the batch also when its account is closed.

mod sections;

pub(crate) use sections::Sections;

use crate::batch::{BATCH_MESSAGE_LEN, BatchMessage, Covered};
use crate::behavior_batch::{BatchFormatError, BehaviorBatch, Commitment, MAX_BATCH_BYTES};
use crate::bytes::Reader;
use crate::canonical::{Canonical, CborReader};
use crate::error::numbered;
use crate::hash::{Hash, Keccak, Sha3};
use crate::ids::WalletKey;
use crate::merkle::{Proof, Tree, leaf, root_of_leaves};
use crate::record::{MAX_LEN, Record, RecordError};
use crate::signature;
use minicbor::encode::{Encoder, Error, Write};
use std::ops::Deref;
use std::sync::OnceLock;
use zx1_interface::constants::MAX_TREE_LEN;

/// The one version of the format that is written and read.
pub const BUNDLE_VERSION: u8 = 2;
/// Bytes of a [`Signed`]: message, key, signature.
const SIGNED_LEN: usize = BATCH_MESSAGE_LEN + 32 + 64;
/// Room for the heads of the array and of its items.
const MAX_HEADS: usize = 32;
/// No bundle is longer, in bytes: 2^20 records and leaves, and a batch.
pub const MAX_BUNDLE_BYTES: usize =
    MAX_TREE_LEN as usize * (MAX_LEN + 32) + MAX_BATCH_BYTES + SIGNED_LEN + MAX_HEADS;

const FIELDS: u64 = 5;

/// Why bytes are not a bundle, or not one of the batch that they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleError {
    /// More than [`MAX_BUNDLE_BYTES`].
    TooLarge,
    /// Not an array of a number and four byte strings.
    Malformed,
    /// Not the one encoding of what it means.
    NotCanonical,
    /// Another version than [`BUNDLE_VERSION`].
    Version {
        /// The version that was found.
        version: u8,
    },
    /// What is signed is neither empty nor a batch message with key and signature.
    MalformedSigned,
    /// What is signed is another batch.
    SignedOther,
    /// The signature does not hold.
    Signature,
    /// The batch does not decode.
    Batch(BatchFormatError),
    /// A record does not parse, or is cut off.
    Record(RecordError),
    /// The kinds of records are not in the order of the arrays.
    KindOrder,
    /// The records of one kind are not ordered by slot.
    NotChronological,
    /// More than [`MAX_TREE_LEN`] records.
    TooManyRecords,
    /// More than [`MAX_TREE_LEN`] leaves.
    TooManyLeaves,
    /// The leaves are not a multiple of 32 bytes.
    CutLeaf,
    /// log_len is not the number of leaves.
    LogLength,
    /// log_merkle_root is not the leaves' root.
    LogRoot,
    /// arrays_len is not the number of records.
    ArraysLength,
    /// arrays_root is not the records' root.
    ArraysRoot,
    /// The batch's arrays are not the first records of each kind.
    Arrays,
    /// overflow_data_hash is not the hash of the records.
    OverflowHash,
}

numbered!(BundleError {
    7360 Self::TooLarge => "The bundle has more than {MAX_BUNDLE_BYTES} bytes.";
    7361 Self::Malformed => "The bytes are not a bundle: a version and four byte strings.";
    7362 Self::NotCanonical => "The bundle is not in its canonical encoding.";
    7363 Self::Version { version } =>
        "Unsupported bundle version {version}: only version {BUNDLE_VERSION} is read.";
    7364 Self::Batch(error) => "The bundle's batch does not hold. {error}";
    7365 Self::Record(error) => "The bundle's records do not parse. {error}";
    7366 Self::KindOrder => "The bundle's records are not bids, selections, verifiers, feedback in order.";
    7367 Self::NotChronological => "The bundle's records of one kind are not ordered by slot.";
    7368 Self::TooManyRecords => "The bundle has more than {MAX_TREE_LEN} records.";
    7369 Self::TooManyLeaves => "The bundle has more than {MAX_TREE_LEN} leaves.";
    7370 Self::CutLeaf => "The bundle's leaves are not a multiple of 32 bytes.";
    7371 Self::LogLength => "The bundle does not have as many leaves as its batch says.";
    7372 Self::LogRoot => "The bundle's leaves do not lead to the batch's log root.";
    7373 Self::ArraysLength => "The bundle does not have as many records as its batch says.";
    7374 Self::ArraysRoot => "The bundle's records do not lead to the batch's arrays root.";
    7375 Self::Arrays => "The batch's arrays are not the first records of the bundle.";
    7376 Self::OverflowHash => "The batch's overflow hash is not the hash of the bundle's records.";
    7377 Self::MalformedSigned => "What is signed is not a batch message with a key and a signature.";
    7378 Self::SignedOther => "What is signed is another batch than the bundle's.";
    7379 Self::Signature => "The signature of the bundle's batch does not hold.";
});

/// What makes a batch an agent's: the message, and who signed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed {
    /// What was signed.
    pub message: BatchMessage,
    /// The batch key; its account follows from it and the agent.
    pub signer: WalletKey,
    /// Its signature over [`BatchMessage::to_bytes`].
    pub signature: [u8; 64],
}

impl Signed {
    /// The epochs that the batch covers.
    pub fn covered(&self) -> Covered {
        self.message.covered()
    }

    fn to_bytes(self) -> [u8; SIGNED_LEN] {
        let mut bytes = [0; SIGNED_LEN];
        let mut writer = crate::bytes::Writer::new(&mut bytes);
        writer.put(&self.message.to_bytes()).put(&self.signer.to_bytes()).put(&self.signature);
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let message = BatchMessage::parse(reader.array::<BATCH_MESSAGE_LEN>()?)?;
        let (signer, signature) = (WalletKey::from(*reader.array()?), *reader.array()?);
        reader.is_empty().then_some(Self { message, signer, signature })
    }

    /// Whether it is this commitment that was signed, and the signature holds.
    fn check(&self, commitment: &Commitment) -> Result<(), BundleError> {
        if Commitment::from(&self.message) != *commitment {
            return Err(BundleError::SignedOther);
        }
        let holds = signature::verify(&self.signer.to_bytes(), &self.message.to_bytes(), &self.signature);
        if holds { Ok(()) } else { Err(BundleError::Signature) }
    }
}

/// A bundle that has the form of one. What it says is not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle<'a> {
    signed: Option<Signed>,
    batch_bytes: &'a [u8],
    records: &'a [u8],
    leaves: &'a [Hash],
    sections: Sections,
}

/// A bundle whose records and leaves lead to the roots of its commitment. Proofs come from here.
#[derive(Debug)]
pub struct Checked<'a> {
    bundle: Bundle<'a>,
    commitment: Commitment,
    batch: Option<BehaviorBatch>,
    /// Both trees are built when the first proof is asked for: 64 bytes a leaf.
    log_tree: OnceLock<Tree<Sha3>>,
    arrays_tree: OnceLock<Tree<Sha3>>,
}

/// A bundle's encoding in pieces, to write a large one without making a copy of it.
#[derive(Clone, Debug)]
pub struct BundleParts<'a> {
    front: Vec<u8>,
    records: &'a [u8],
    middle: Vec<u8>,
    leaves: &'a [u8],
}

impl BundleParts<'_> {
    /// The pieces, in order.
    pub fn slices(&self) -> [&[u8]; 4] {
        [&self.front, self.records, &self.middle, self.leaves]
    }

    /// Bytes of all of them.
    pub fn len(&self) -> usize {
        self.slices().iter().fold(0, |sum, part| sum.saturating_add(part.len()))
    }

    /// Never: a bundle has at least its heads.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Bundle<'a> {
    /// Reads canonical CBOR and nothing else; counts and splits the records.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, BundleError> {
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(BundleError::TooLarge);
        }
        let mut cbor = CborReader::new(bytes);
        let fields = cbor.array().ok_or(BundleError::Malformed)?;
        let version = cbor.u8().ok_or(BundleError::Malformed)?;
        if version != BUNDLE_VERSION {
            return Err(BundleError::Version { version });
        }
        if fields != FIELDS {
            return Err(BundleError::Malformed);
        }
        let signed = cbor.bytes().ok_or(BundleError::Malformed)?;
        let batch_bytes = cbor.bytes().ok_or(BundleError::Malformed)?;
        let records = cbor.bytes().ok_or(BundleError::Malformed)?;
        let leaves = cbor.bytes().ok_or(BundleError::Malformed)?;
        if !cbor.is_canonical() {
            return Err(BundleError::NotCanonical);
        }
        let (leaves, cut) = leaves.as_chunks();
        if !cut.is_empty() {
            return Err(BundleError::CutLeaf);
        }
        let signed = match signed {
            [] => None,
            signed => Some(Signed::parse(signed).ok_or(BundleError::MalformedSigned)?),
        };
        Ok(Self { signed, ..Self::new(batch_bytes, records, leaves)? })
    }

    /// A bundle of its three parts, not signed yet.
    pub fn new(batch_bytes: &'a [u8], records: &'a [u8], leaves: &'a [Hash]) -> Result<Self, BundleError> {
        if batch_bytes.len() > MAX_BATCH_BYTES {
            return Err(BundleError::Batch(BatchFormatError::TooLarge));
        }
        if leaves.len() as u64 > u64::from(MAX_TREE_LEN) {
            return Err(BundleError::TooManyLeaves);
        }
        let sections = Sections::split(records)?;
        Ok(Self { signed: None, batch_bytes, records, leaves, sections })
    }

    /// The bundle with what was signed, which must be its own batch and hold.
    pub fn with_signed(self, signed: Signed) -> Result<Self, BundleError> {
        let batch = self.decode_batch().map_err(BundleError::Batch)?;
        signed.check(&batch.commitment_with(Sha3::hashv(&[self.batch_bytes])))?;
        Ok(Self { signed: Some(signed), ..self })
    }

    /// What is said to be signed. That of a [`Checked`] bundle is this very batch, and the signature holds; anything
    /// else was left out. Whether the key is the agent's is for the caller, who compares it with the account.
    pub fn signed(&self) -> Option<&Signed> {
        self.signed.as_ref()
    }

    /// The CBOR, in one piece.
    pub fn to_vec(&self) -> Vec<u8> {
        self.encode_to_vec()
    }

    /// The CBOR in pieces.
    pub fn parts(&self) -> BundleParts<'a> {
        let leaves = self.leaves.as_flattened();
        let signed = self.signed.map(Signed::to_bytes);
        let signed = signed.as_ref().map_or(&[][..], |signed| signed);
        let front = Front { signed, batch_bytes: self.batch_bytes, records_len: self.records.len() };
        let middle = BytesHead(leaves.len());
        let (front, middle) = (front.encode_to_vec(), middle.encode_to_vec());
        BundleParts { front, records: self.records, middle, leaves }
    }

    /// The batch's CBOR.
    pub fn batch_bytes(&self) -> &'a [u8] {
        self.batch_bytes
    }

    /// The batch, decoded anew.
    pub fn decode_batch(&self) -> Result<BehaviorBatch, BatchFormatError> {
        BehaviorBatch::decode(self.batch_bytes)
    }

    /// All packed records.
    pub fn records_bytes(&self) -> &'a [u8] {
        self.records
    }

    /// The log's leaves, in log order.
    pub fn leaves(&self) -> &'a [Hash] {
        self.leaves
    }

    /// Number of leaves.
    pub fn log_len(&self) -> u32 {
        // `new` has compared it with MAX_TREE_LEN.
        u32::try_from(self.leaves.len()).unwrap_or(u32::MAX)
    }

    /// Number of records.
    pub fn arrays_len(&self) -> u32 {
        self.sections.len()
    }

    /// The packed `entry`-th record, counted from 0 without the tree's padding.
    pub fn record_bytes(&self, entry: u32) -> Option<&'a [u8]> {
        self.sections.get(self.records, entry)
    }

    /// The `entry`-th record.
    pub fn record(&self, entry: u32) -> Option<Record> {
        Record::parse(self.record_bytes(entry)?).ok()
    }

    /// All packed records, one by one.
    pub fn packed_records(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.sections.iter(self.records)
    }

    /// The packed records of one kind with the entry number of the first: `kind` is a kind byte.
    pub(crate) fn packed_of_kind(&self, kind: u8) -> (u32, impl Iterator<Item = &'a [u8]> + use<'a>) {
        self.sections.of_kind(self.records, kind)
    }

    /// Whether everything that the batch gives is so: the batch decodes and does not contradict itself,
    /// its arrays are the first records, order, lengths, roots and overflow hash are right.
    pub fn check(&self) -> Result<Checked<'a>, BundleError> {
        let batch = self.decode_batch().map_err(BundleError::Batch)?;
        self.sections.check_order(self.records)?;
        let commitment = batch.commitment_with(Sha3::hashv(&[self.batch_bytes]));
        self.check_roots(&commitment)?;
        if !self.holds_front_of(&batch) {
            return Err(BundleError::Arrays);
        }
        // `BehaviorBatch::check` has seen that flag and lengths fit, and now the lengths are known.
        if batch.overflow_data_hash != self.sections.overflow_data_hash(self.records) {
            return Err(BundleError::OverflowHash);
        }
        Ok(Checked::new(*self, commitment, Some(batch)))
    }

    /// Whether leaves and records are those of this commitment, whatever the batch itself says. That is
    /// all that challenges and answers rest on, so a batch that lies about itself protects nobody.
    pub fn check_against(&self, commitment: &Commitment) -> Result<Checked<'a>, BundleError> {
        self.check_roots(commitment)?;
        Ok(Checked::new(*self, *commitment, self.decode_batch().ok()))
    }

    fn check_roots(&self, commitment: &Commitment) -> Result<(), BundleError> {
        if commitment.log_len != self.log_len() {
            return Err(BundleError::LogLength);
        }
        if commitment.arrays_len != self.arrays_len() {
            return Err(BundleError::ArraysLength);
        }
        let log_root = root_of_leaves::<Sha3>(self.log_len(), self.leaves.iter().copied());
        if log_root != Ok(commitment.log_merkle_root) {
            return Err(BundleError::LogRoot);
        }
        if self.sections.root(self.records) != Ok(commitment.arrays_root) {
            return Err(BundleError::ArraysRoot);
        }
        Ok(())
    }

    fn holds_front_of(&self, batch: &BehaviorBatch) -> bool {
        let bids = batch.bid_values.iter().copied().map(Record::Bid);
        let selections = batch.task_selections.iter().copied().map(Record::Selection);
        let verifiers = batch.verifier_ids.iter().copied().map(Record::Verifier);
        let feedback = batch.feedback_events.iter().copied().map(Record::Feedback);
        bids.chain(selections).chain(verifiers).chain(feedback).eq(self.sections.fronts(self.records))
    }
}

impl<'a> Checked<'a> {
    fn new(bundle: Bundle<'a>, commitment: Commitment, batch: Option<BehaviorBatch>) -> Self {
        // Whoever serves or uploads a bundle writes what it likes there: it must not make good data useless.
        let signed = bundle.signed.filter(|signed| signed.check(&commitment).is_ok());
        let bundle = Bundle { signed, ..bundle };
        Self { bundle, commitment, batch, log_tree: OnceLock::new(), arrays_tree: OnceLock::new() }
    }

    /// What the batch commits to; compare it with the account on chain.
    pub fn commitment(&self) -> &Commitment {
        &self.commitment
    }

    /// The batch. There is none only after [`Bundle::check_against`] of a bundle whose batch does not
    /// decode.
    pub fn batch(&self) -> Option<&BehaviorBatch> {
        self.batch.as_ref()
    }

    /// The proof of the `entry`-th record under arrays_root, counted without the padding; the proof's own
    /// index counts with it. The first call builds the tree.
    pub fn record_proof(&self, entry: u32) -> Option<Proof> {
        let tree = self.arrays_tree.get_or_init(|| {
            // At most MAX_TREE_LEN leaves, which every tree can hold.
            Tree::new(self.packed_records().map(leaf::<Sha3>).collect()).unwrap_or_default()
        });
        tree.proof_of_entry(entry)
    }

    /// The proof of the log's `entry`-th leaf under log_merkle_root. The first call builds the tree.
    pub fn leaf_proof(&self, entry: u32) -> Option<Proof> {
        let tree = self.log_tree.get_or_init(|| Tree::new(self.leaves.to_vec()).unwrap_or_default());
        tree.proof_of_entry(entry)
    }

    /// Where in the log an entry with this leaf stands, counted without the padding.
    pub fn find_leaf(&self, leaf: &Hash) -> Option<u32> {
        self.leaves.iter().position(|other| other == leaf).and_then(|place| u32::try_from(place).ok())
    }
}

impl<'a> Deref for Checked<'a> {
    type Target = Bundle<'a>;

    fn deref(&self) -> &Bundle<'a> {
        &self.bundle
    }
}

impl Canonical for Bundle<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder
            .array(FIELDS)?
            .u8(BUNDLE_VERSION)?
            .bytes(self.signed.map(Signed::to_bytes).as_ref().map_or(&[][..], |signed| signed))?
            .bytes(self.batch_bytes)?
            .bytes(self.records)?
            .bytes(self.leaves.as_flattened())?;
        Ok(())
    }
}

/// A bundle's encoding up to the records themselves.
struct Front<'a> {
    signed: &'a [u8],
    batch_bytes: &'a [u8],
    records_len: usize,
}

impl Canonical for Front<'_> {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder.array(FIELDS)?.u8(BUNDLE_VERSION)?.bytes(self.signed)?.bytes(self.batch_bytes)?;
        BytesHead(self.records_len).write(encoder)
    }
}

/// The head of a byte string of this length.
struct BytesHead(usize);

impl Canonical for BytesHead {
    fn write<W: Write>(&self, encoder: &mut Encoder<W>) -> Result<(), Error<W::Error>> {
        encoder.bytes_len(self.0 as u64)?;
        Ok(())
    }
}
