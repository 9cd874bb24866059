//! Building blocks on the last block of an account, and refusing what burns money by accident.

use crate::{Address, BlockHash, Error, PublicKey, Raw, StateBlock, Subtype};

/// The end of an account's chain: what the next block is built on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Account that the block belongs to.
    pub account: PublicKey,
    /// Its last block; zero when it has none.
    pub frontier: BlockHash,
    /// Balance after the last block, in raw.
    pub balance: Raw,
    /// Who votes with it. An account that was opened by an epoch block has the all-zero one; set another with
    /// [`Head::with_representative`] before building.
    pub representative: PublicKey,
}

impl Head {
    /// An account without blocks, which will be opened with this representative.
    pub fn unopened(account: Address, representative: Address) -> Head {
        Head {
            account: account.public_key(),
            frontier: BlockHash::ZERO,
            balance: Raw::ZERO,
            representative: representative.public_key(),
        }
    }

    /// Whether the account has blocks.
    pub fn is_open(&self) -> bool {
        !self.frontier.is_zero()
    }

    /// What the next block's work is made for; known as soon as the head is.
    pub fn root(&self) -> BlockHash {
        if self.is_open() { self.frontier } else { BlockHash::from(self.account) }
    }

    /// The same head; blocks built on it change the representative at once.
    pub fn with_representative(mut self, representative: Address) -> Head {
        self.representative = representative.public_key();
        self
    }

    /// Take up `amount` of the send `source`. On an account without blocks this is the open. Fails with
    /// 8043, 8044, 8045 or 8015.
    pub fn receive(&self, source: BlockHash, amount: Raw) -> Result<StateBlock, Error> {
        if amount.is_zero() {
            return Err(Error::ZeroReceive);
        }
        let block = self.next(self.balance.add(amount)?, source.0);
        self.check_receive(&block, amount)?;
        Ok(block)
    }

    /// Open the account. The same as [`receive`](Self::receive), but refuses an account that has blocks
    /// (8049).
    pub fn open(&self, source: BlockHash, amount: Raw) -> Result<StateBlock, Error> {
        if self.is_open() {
            return Err(Error::NotNext { expected: self.frontier, found: BlockHash::ZERO });
        }
        self.receive(source, amount)
    }

    /// Pay `amount` to `to`. Fails with 8040 (nothing), 8041 (burn account), 8042 (no blocks), 8016 (not
    /// enough), 8045 (no representative).
    pub fn send(&self, to: Address, amount: Raw) -> Result<StateBlock, Error> {
        if amount.is_zero() {
            return Err(Error::ZeroSend);
        }
        if !self.is_open() {
            return Err(Error::Unopened(self.account.address()));
        }
        let block = self.next(self.balance.sub(amount)?, to.public_key().0);
        self.check(&block)?;
        Ok(block)
    }

    /// Pay everything to `to`. Fails as [`send`](Self::send) does.
    pub fn sweep(&self, to: Address) -> Result<StateBlock, Error> {
        self.send(to, self.balance)
    }

    /// Change the representative, nothing else. Fails with 8042, 8045 or 8047.
    pub fn change(&self, representative: Address) -> Result<StateBlock, Error> {
        if !self.is_open() {
            return Err(Error::Unopened(self.account.address()));
        }
        if representative.public_key() == self.representative {
            return Err(Error::SameRepresentative);
        }
        let block = self.with_representative(representative).next(self.balance, [0; 32]);
        self.check_change(&block)?;
        Ok(block)
    }

    fn next(&self, balance: Raw, link: [u8; 32]) -> StateBlock {
        StateBlock {
            account: self.account,
            previous: self.frontier,
            representative: self.representative,
            balance,
            link,
        }
    }

    /// The head after `block`. Fails with 8049 or 8050 when the block does not follow.
    pub fn after(&self, block: &StateBlock) -> Result<Head, Error> {
        self.follows(block)?;
        Ok(Head {
            account: self.account,
            frontier: block.hash(),
            balance: block.balance,
            representative: block.representative,
        })
    }

    fn follows(&self, block: &StateBlock) -> Result<(), Error> {
        if block.account != self.account {
            return Err(Error::OtherAccount {
                expected: self.account.address(),
                found: block.account.address(),
            });
        }
        if block.previous != self.frontier {
            return Err(Error::NotNext { expected: self.frontier, found: block.previous });
        }
        Ok(())
    }

    /// Check a block that somebody else built before signing it: that it follows, and that it does not burn
    /// money by accident. Answers what it does. Whether a receive's amount is right only the source can
    /// tell: see [`check_receive`](Self::check_receive).
    pub fn check(&self, block: &StateBlock) -> Result<Subtype, Error> {
        self.follows(block)?;
        if block.representative.is_burn() {
            return Err(Error::NoRepresentative);
        }
        let subtype = block.subtype(self.balance);
        match subtype {
            Subtype::Send if block.link == [0; 32] => Err(Error::Burn),
            Subtype::Open | Subtype::Receive if block.balance == self.balance => {
                Err(if self.is_open() { Error::LinkOnChange } else { Error::ZeroReceive })
            }
            Subtype::Open | Subtype::Receive if block.link == [0; 32] => Err(Error::NoSource),
            // Only the network appends these; signed by us, it is a mistake.
            Subtype::Epoch => Err(Error::LinkOnChange),
            other => Ok(other),
        }
    }

    /// Check a block that should take up exactly `amount`.
    pub fn check_receive(&self, block: &StateBlock, amount: Raw) -> Result<(), Error> {
        self.follows(block)?;
        if block.balance != self.balance.add(amount)? {
            return Err(Error::WrongDelta { expected: amount, before: self.balance, after: block.balance });
        }
        self.check(block).map(drop)
    }

    /// Check a block that should only change the representative. A lower balance would be a send to the burn
    /// account.
    pub fn check_change(&self, block: &StateBlock) -> Result<(), Error> {
        self.follows(block)?;
        if block.balance != self.balance {
            return Err(Error::ChangeMovesMoney { before: self.balance, after: block.balance });
        }
        self.check(block).map(drop)
    }
}
