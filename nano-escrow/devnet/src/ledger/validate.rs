//! The checks of a block, in the order of a node (wire.md, "Nano"). Where a block
//! has two faults, the earlier check names it, so the order is part of what clients see.

use super::{Account, Block, Entry, Epoch, Kind, Ledger, Receivable};
use crate::Refusal;
use nano_escrow::{BlockHash, PublicKey, Raw, SignedBlock, Subtype};

/// What adding a valid block will do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    pub(super) entry: Entry,
    /// The receivable that it uses up.
    pub(super) receives: Option<(PublicKey, BlockHash)>,
}

/// A block beside what the ledger says of its neighbours.
struct Candidate<'a> {
    ledger: &'a Ledger,
    signed: &'a SignedBlock,
    hash: BlockHash,
    account: Option<&'a Account>,
    previous: Option<&'a Entry>,
}

impl Ledger {
    /// Whether a block could be added now. Changes nothing.
    pub fn validate(&self, signed: &SignedBlock) -> Result<(), Refusal> {
        self.verdict(signed, 0).map(|_| ())
    }

    pub(super) fn verdict(&self, signed: &SignedBlock, timestamp: u64) -> Result<Verdict, Refusal> {
        let b = &signed.block;
        let candidate = Candidate {
            ledger: self,
            signed,
            hash: signed.hash(),
            account: self.accounts.get(&b.account),
            previous: if b.previous.is_zero() { None } else { self.blocks.get(&b.previous) },
        };
        candidate.check(timestamp)
    }

    /// The check of `process` on the word `subtype`, which a node makes before the ledger sees the block and
    /// against the account's present balance. So a repeated send is refused by its subtype (wire.md,
    /// "Nano"), and not as old.
    pub fn check_subtype(&self, signed: &SignedBlock, subtype: &str) -> Result<(), Refusal> {
        let b = &signed.block;
        if !b.previous.is_zero() && !self.blocks.contains_key(&b.previous) {
            return Err(Refusal::GapPrevious);
        }
        let held = self.balance(&b.account);
        match subtype {
            "send" if held <= b.balance => Err(Refusal::SubtypeBalance),
            "receive" if held > b.balance => Err(Refusal::SubtypeBalance),
            "open" if !b.previous.is_zero() => Err(Refusal::SubtypePrevious),
            "change" | "epoch" if held != b.balance => Err(Refusal::SubtypeBalance),
            "change" if b.previous.is_zero() => Err(Refusal::SubtypePrevious),
            "epoch" if !b.is_epoch_link() => Err(Refusal::SubtypeEpochLink),
            "send" | "receive" | "open" | "change" | "epoch" => Ok(()),
            _ => Err(Refusal::Subtype),
        }
    }

    /// The check that a node makes at the door: the lowest work that any block may have.
    pub fn check_entry_work(&self, signed: &SignedBlock) -> Result<(), Refusal> {
        let entry = self.thresholds.entry();
        if signed.work.is_some_and(|w| w.is_valid(&signed.root(), entry)) {
            Ok(())
        } else {
            Err(Refusal::WorkBelowEntry)
        }
    }
}

fn ensure(holds: bool, refusal: Refusal) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal) }
}

impl Candidate<'_> {
    fn check(&self, timestamp: u64) -> Result<Verdict, Refusal> {
        let b = &self.signed.block;
        self.epoch_pre_check()?;
        ensure(!self.ledger.blocks.contains_key(&self.hash), Refusal::Old)?;
        ensure(b.previous.is_zero() || self.previous.is_some(), Refusal::GapPrevious)?;
        ensure(self.signed_rightly(), Refusal::BadSignature)?;
        ensure(!b.account.is_burn(), Refusal::OpenedBurnAccount)?;
        ensure(self.account.is_some() || b.previous.is_zero(), Refusal::GapPrevious)?;
        ensure(self.account.is_none() || !b.previous.is_zero(), Refusal::Fork)?;
        ensure(self.account.is_none_or(|a| a.head == b.previous), Refusal::Fork)?;
        ensure(!b.previous.is_zero() || b.link != [0; 32], Refusal::GapSource)?;
        ensure(b.link != [0; 32] || b.balance <= self.before(), Refusal::BalanceMismatch)?;
        let receivable = self.source()?;
        let epoch = self.epoch(receivable);
        self.work(epoch)?;
        self.epoch_rules()?;

        let kind = self.kind();
        Ok(Verdict {
            entry: Entry {
                block: Block::State(*self.signed),
                account: b.account,
                kind,
                amount: Raw(b.balance.0.abs_diff(self.before().0)),
                balance: b.balance,
                height: self.account.map_or(0, |a| a.block_count) + 1,
                epoch,
                successor: BlockHash::ZERO,
                confirmed: false,
                timestamp,
            },
            receives: receivable.map(|_| (b.account, b.link_hash())),
        })
    }

    /// The balance after the previous block.
    fn before(&self) -> Raw {
        self.previous.map_or(Raw::ZERO, |p| p.balance)
    }

    fn link_epoch(&self) -> Option<Epoch> {
        Epoch::of_link(&self.signed.block.link)
    }

    /// An epoch's link alone does not make an epoch block: it may be a send to the account of that key.
    fn is_epoch(&self) -> bool {
        self.link_epoch().is_some() && self.signed.block.balance == self.before()
    }

    fn kind(&self) -> Kind {
        match self.signed.block.subtype(self.before()) {
            Subtype::Send => Kind::Send,
            Subtype::Open | Subtype::Receive => Kind::Receive,
            Subtype::Change => Kind::Change,
            Subtype::Epoch => Kind::Epoch,
        }
    }

    fn by_owner(&self) -> bool {
        self.signed.verify_network().is_ok()
    }

    fn by_epoch_signer(&self) -> bool {
        self.ledger.epoch_signer.verify_network(&self.hash.0, &self.signed.signature).is_ok()
    }

    /// While the previous block is missing nobody knows which of the two keys must have signed, so either
    /// will do; neither is refused at once, so that rubbish does not wait for its predecessor.
    fn epoch_pre_check(&self) -> Result<(), Refusal> {
        if self.link_epoch().is_none() {
            return Ok(());
        }
        ensure(self.by_owner() || self.by_epoch_signer(), Refusal::BadSignature)?;
        ensure(self.signed.block.previous.is_zero() || self.previous.is_some(), Refusal::GapPrevious)
    }

    fn signed_rightly(&self) -> bool {
        if self.is_epoch() { self.by_epoch_signer() } else { self.by_owner() }
    }

    /// The receivable that the block takes up, if it takes up one. Whether its send is confirmed does not
    /// matter.
    fn source(&self) -> Result<Option<&Receivable>, Refusal> {
        let b = &self.signed.block;
        let receives = b.balance >= self.before() && b.link != [0; 32] && !self.is_epoch();
        if !receives {
            return Ok(None);
        }
        ensure(self.ledger.blocks.contains_key(&b.link_hash()), Refusal::GapSource)?;
        let receivable =
            self.ledger.receivable.get(&(b.account, b.link_hash())).ok_or(Refusal::Unreceivable)?;
        let rise = b.balance.checked_sub(self.before());
        ensure(rise == Some(receivable.amount), Refusal::BalanceMismatch)?;
        Ok(Some(receivable))
    }

    /// The account's version after the block.
    fn epoch(&self, receivable: Option<&Receivable>) -> Epoch {
        match self.link_epoch() {
            Some(epoch) if self.is_epoch() => epoch,
            _ => {
                self.account.map_or(Epoch::Zero, |a| a.epoch).max(receivable.map_or(Epoch::Zero, |r| r.epoch))
            }
        }
    }

    fn work(&self, epoch: Epoch) -> Result<(), Refusal> {
        let t = &self.ledger.thresholds;
        let threshold = match (epoch, self.kind()) {
            (Epoch::Two, Kind::Send | Kind::Change) => t.send_or_change,
            (Epoch::Two, Kind::Receive | Kind::Epoch) => t.receive_or_open,
            (Epoch::Zero | Epoch::One, _) => t.old_account,
        };
        ensure(
            self.signed.work.is_some_and(|w| w.is_valid(&self.signed.root(), threshold)),
            Refusal::InsufficientWork,
        )
    }

    fn epoch_rules(&self) -> Result<(), Refusal> {
        if !self.is_epoch() {
            return Ok(());
        }
        let b = &self.signed.block;
        match self.account {
            Some(account) => {
                ensure(b.representative == account.representative, Refusal::RepresentativeMismatch)?;
                ensure(account.epoch.next() == self.link_epoch(), Refusal::BlockPosition)
            }
            None => {
                ensure(b.representative.is_burn(), Refusal::RepresentativeMismatch)?;
                ensure(self.ledger.has_receivable(&b.account), Refusal::GapEpochOpenPending)
            }
        }
    }
}
