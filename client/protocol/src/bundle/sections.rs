//! Packed records one after another: kind after kind, each of its own length, so that the place of every
//! record follows from four counts.

use super::BundleError;
use crate::behavior_batch::{MAX_BATCH_ENTRIES, OverflowHash};
use crate::hash::{Hash, Sha3};
use crate::merkle::{StreamingRoot, TreeError, ZERO, leaf};
use crate::record::{
    BID_LEN, FEEDBACK_LEN, KIND_BID, KIND_FEEDBACK, KIND_SELECTION, KIND_VERIFIER, Record, RecordError,
    SELECTION_LEN, VERIFIER_LEN, slot_of,
};
use zx1_interface::constants::MAX_TREE_LEN;

/// The kinds in the order of the arrays, with the length of a packed record.
const KINDS: [(u8, usize); 4] = [
    (KIND_BID, BID_LEN),
    (KIND_SELECTION, SELECTION_LEN),
    (KIND_VERIFIER, VERIFIER_LEN),
    (KIND_FEEDBACK, FEEDBACK_LEN),
];

/// How many records of each kind there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sections {
    counts: [u32; 4],
}

impl Sections {
    /// Counts the records; every one must parse, and the kinds must follow in order.
    pub(crate) fn split(records: &[u8]) -> Result<Self, BundleError> {
        let mut rest = records;
        let mut counts = [0u32; 4];
        let mut room = MAX_TREE_LEN;
        for ((kind, len), count) in KINDS.iter().zip(&mut counts) {
            while rest.first() == Some(kind) {
                let cut = BundleError::Record(RecordError::WrongLength);
                let (record, after) = rest.split_at_checked(*len).ok_or(cut)?;
                Record::parse(record).map_err(BundleError::Record)?;
                room = room.checked_sub(1).ok_or(BundleError::TooManyRecords)?;
                *count = count.saturating_add(1);
                rest = after;
            }
        }
        match rest.first() {
            None => Ok(Self { counts }),
            Some(byte) if KINDS.iter().any(|(kind, _)| kind == byte) => Err(BundleError::KindOrder),
            Some(_) => Err(BundleError::Record(RecordError::UnknownKind)),
        }
    }

    /// How many records there are. At most [`MAX_TREE_LEN`].
    pub(crate) fn len(&self) -> u32 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// All packed records in order.
    pub(crate) fn iter<'a>(&self, records: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.split_up(records).into_iter().flat_map(|(_, len, bytes)| bytes.chunks_exact(len))
    }

    /// The packed records of one kind, and how many records come before them.
    pub(crate) fn of_kind<'a>(
        &self,
        records: &'a [u8],
        kind: u8,
    ) -> (u32, impl Iterator<Item = &'a [u8]> + use<'a>) {
        let before = KINDS.iter().zip(&self.counts).take_while(|((other, _), _)| *other != kind);
        let before = before.fold(0u32, |sum, (_, count)| sum.saturating_add(*count));
        let mine = self.split_up(records).into_iter().filter(move |(other, _, _)| *other == kind);
        (before, mine.flat_map(|(_, len, bytes)| bytes.chunks_exact(len)))
    }

    /// The packed `entry`-th record.
    pub(crate) fn get<'a>(&self, records: &'a [u8], entry: u32) -> Option<&'a [u8]> {
        let mut left = entry;
        for ((_, len, bytes), count) in self.split_up(records).into_iter().zip(&self.counts) {
            match left.checked_sub(*count) {
                Some(later) => left = later,
                None => {
                    let start = usize::try_from(left).ok()?.checked_mul(len)?;
                    return bytes.get(start..)?.get(..len);
                }
            }
        }
        None
    }

    /// Whether each kind is ordered by slot.
    pub(crate) fn check_order(&self, records: &[u8]) -> Result<(), BundleError> {
        let sorted = |(_, len, bytes): (u8, usize, &[u8])| bytes.chunks_exact(len).is_sorted_by_key(slot_of);
        if self.split_up(records).into_iter().all(sorted) {
            Ok(())
        } else {
            Err(BundleError::NotChronological)
        }
    }

    /// The root over all records (decision B9).
    pub(crate) fn root(&self, records: &[u8]) -> Result<Hash, TreeError> {
        let mut root = StreamingRoot::<Sha3>::new(self.len());
        for record in self.iter(records) {
            root.push(leaf::<Sha3>(record))?;
        }
        root.finish()
    }

    /// Whether any array is too long for a batch to hold it.
    pub(crate) fn overflow(&self) -> bool {
        self.counts.iter().any(|count| *count as usize > MAX_BATCH_ENTRIES)
    }

    /// The hash of the uncut arrays; zeros when none is cut (protocol.md, 8.2).
    pub(crate) fn overflow_data_hash(&self, records: &[u8]) -> Hash {
        if !self.overflow() {
            return ZERO;
        }
        let mut hash = OverflowHash::default();
        for ((_, len, bytes), count) in self.split_up(records).into_iter().zip(&self.counts) {
            hash.array(*count as usize);
            for record in bytes.chunks_exact(len).map(Record::parse) {
                // `split` has parsed every one of them.
                record.iter().for_each(|record| hash.record(record));
            }
        }
        hash.finish()
    }

    /// The records that a batch itself holds: the first ones of each kind.
    pub(crate) fn fronts<'a>(&self, records: &'a [u8]) -> impl Iterator<Item = Record> + use<'a> {
        let fronts = self.split_up(records).into_iter();
        let fronts = fronts.flat_map(|(_, len, bytes)| bytes.chunks_exact(len).take(MAX_BATCH_ENTRIES));
        fronts.filter_map(|record| Record::parse(record).ok())
    }

    /// (kind, length of a record, bytes of all records of the kind).
    fn split_up<'a>(&self, records: &'a [u8]) -> [(u8, usize, &'a [u8]); 4] {
        let mut rest = records;
        let mut split = KINDS.map(|(kind, len)| (kind, len, records));
        for ((_, len, bytes), count) in split.iter_mut().zip(&self.counts) {
            let whole = len.saturating_mul(*count as usize);
            (*bytes, rest) = rest.split_at_checked(whole).unwrap_or((rest, &[]));
        }
        split
    }
}
