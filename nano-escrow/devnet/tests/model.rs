//! Random blocks of many accounts, good and bad, against a model that knows only amounts. After each, the
//! books.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;

use nano_devnet::{Epoch, Kind, Ledger, Refusal};
use nano_escrow::{BlockHash, Keypair, PublicKey, Raw, SignedBlock, StateBlock};
use proptest::prelude::*;
use support::*;

const ACCOUNTS: usize = 6;

/// What a step does. Numbers are taken modulo what there is.
#[derive(Debug, Clone)]
enum Step {
    Fund {
        to: usize,
        amount: u64,
    },
    Send {
        from: usize,
        to: usize,
        part: u8,
    },
    Receive {
        of: usize,
        which: usize,
    },
    Change {
        of: usize,
        to: usize,
    },
    Epoch {
        of: usize,
    },
    Confirm {
        of: usize,
        back: usize,
    },
    Rollback {
        of: usize,
        back: usize,
    },
    /// Publish a block that was published before.
    Again {
        which: usize,
    },
    /// A block with one field spoiled.
    Spoiled {
        of: usize,
        how: u8,
        byte: usize,
    },
    /// A second block behind the same block.
    Fork {
        of: usize,
        back: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let who = 0..ACCOUNTS;
    prop_oneof![
        2 => (who.clone(), 1_u64..1000).prop_map(|(to, amount)| Step::Fund { to, amount }),
        4 => (who.clone(), who.clone(), any::<u8>())
            .prop_map(|(from, to, part)| Step::Send { from, to, part }),
        5 => (who.clone(), any::<usize>()).prop_map(|(of, which)| Step::Receive { of, which }),
        1 => (who.clone(), who.clone()).prop_map(|(of, to)| Step::Change { of, to }),
        1 => who.clone().prop_map(|of| Step::Epoch { of }),
        2 => (who.clone(), 0_usize..4).prop_map(|(of, back)| Step::Confirm { of, back }),
        1 => (who.clone(), 0_usize..3).prop_map(|(of, back)| Step::Rollback { of, back }),
        1 => any::<usize>().prop_map(|which| Step::Again { which }),
        2 => (who.clone(), any::<u8>(), any::<usize>())
            .prop_map(|(of, how, byte)| Step::Spoiled { of, how, byte }),
        1 => (who, 0_usize..4).prop_map(|(of, back)| Step::Fork { of, back }),
    ]
}

/// Amounts by the blocks that were accepted, from the blocks alone.
#[derive(Default)]
struct Model {
    balances: BTreeMap<PublicKey, u128>,
    waiting: BTreeMap<(PublicKey, BlockHash), u128>,
}

struct Machine {
    bench: Bench,
    keys: Vec<Keypair>,
    published: Vec<SignedBlock>,
}

impl Machine {
    fn new(epoch: Epoch) -> Machine {
        let keys = (0..ACCOUNTS as u32).map(|n| key(n).keypair()).collect();
        Machine { bench: Bench::at(epoch), keys, published: Vec::new() }
    }

    fn public(&self, n: usize) -> PublicKey {
        self.keys[n].public_key()
    }

    fn entry(&self, of: usize, back: usize) -> Option<BlockHash> {
        let chain = self.bench.ledger.chain(&self.public(of));
        let at = chain.len().checked_sub(1 + back)?;
        Some(chain[at].block.hash())
    }

    /// The next block of an account, if one of this kind is possible.
    fn make(&self, step: &Step) -> Option<(SignedBlock, usize)> {
        let ledger = &self.bench.ledger;
        let (of, block) = match *step {
            Step::Send { from, to, part } => {
                let a = ledger.account(&self.public(from))?;
                let amount = (a.balance.0 * u128::from(part) / 255).max(1);
                let left = a.balance.0.checked_sub(amount)?;
                (from, block(self.public(from), a.head, left, self.public(to).0))
            }
            Step::Receive { of, which } => {
                let waiting: Vec<_> = ledger.receivables(&self.public(of)).collect();
                let (hash, r) = waiting.get(which % waiting.len().max(1))?;
                let (head, balance) =
                    ledger.account(&self.public(of)).map_or((BlockHash::ZERO, 0), |a| (a.head, a.balance.0));
                (of, block(self.public(of), head, balance + r.amount.0, hash.0))
            }
            Step::Change { of, to } => {
                let a = ledger.account(&self.public(of))?;
                let mut b = block(self.public(of), a.head, a.balance.0, [0; 32]);
                b.representative = self.public(to);
                (of, b)
            }
            _ => return None,
        };
        Some((sign_with(block, &self.keys[of]), of))
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Fund { to, amount } => {
                self.bench.fund(self.public(*to), u128::from(*amount));
            }
            Step::Send { .. } | Step::Receive { .. } | Step::Change { .. } => {
                if let Some((signed, _)) = self.make(step) {
                    assert_eq!(self.bench.ledger.validate(&signed), Ok(()));
                    self.bench.add(&signed).unwrap();
                    self.published.push(signed);
                }
            }
            Step::Epoch { of } => {
                let account = self.public(*of);
                let signed = self.bench.epoch_block(&account);
                let a = self.bench.ledger.account(&account).copied();
                let expected = match a {
                    Some(a) if a.epoch == Epoch::Two => Some(Refusal::BlockPosition),
                    Some(_) => None,
                    None if self.bench.ledger.has_receivable(&account) => None,
                    None => Some(Refusal::GapEpochOpenPending),
                };
                assert_eq!(self.bench.add(&signed).err(), expected);
            }
            Step::Confirm { of, back } => {
                if let Some(hash) = self.entry(*of, *back) {
                    let before = self.bench.ledger.confirmed_count();
                    let done = self.bench.ledger.confirm(&hash);
                    assert_eq!(self.bench.ledger.confirmed_count(), before + done.len() as u64);
                    assert!(self.bench.ledger.is_confirmed(&hash));
                }
            }
            Step::Rollback { of, back } => {
                if let Some(hash) = self.entry(*of, *back) {
                    let before = self.bench.ledger.clone();
                    match self.bench.ledger.rollback(&hash) {
                        Ok(removed) => assert!(removed.iter().all(|h| self.bench.ledger.block(h).is_none())),
                        Err(_) => assert_eq!(self.bench.ledger, before),
                    }
                }
            }
            Step::Again { which } => {
                if let Some(signed) = self.published.get(which % self.published.len().max(1)).copied() {
                    let known = self.bench.ledger.block(&signed.hash()).is_some();
                    let result = self.bench.add(&signed);
                    if known {
                        assert_eq!(result.err(), Some(Refusal::Old));
                    }
                }
            }
            Step::Spoiled { of, how, byte } => {
                let kinds = [
                    Step::Send { from: *of, to: *byte % ACCOUNTS, part: 100 },
                    Step::Receive { of: *of, which: *byte },
                    Step::Change { of: *of, to: 0 },
                ];
                let Some((mut signed, _)) = self.make(&kinds[usize::from(how / 8) % 3]) else { return };
                let b = &mut signed.block;
                match how % 8 {
                    0 => b.account.0[byte % 32] ^= 1,
                    1 => b.previous.0[byte % 32] ^= 1,
                    2 => b.representative.0[byte % 32] ^= 1,
                    3 => b.balance.0 ^= 1 << (byte % 128),
                    4 => b.link[byte % 32] ^= 1,
                    5 => signed.signature.0[byte % 64] ^= 1,
                    6 => signed.work = Some(work_between(&signed.root(), 0, Some(1 << 60))),
                    _ => signed.work = None,
                }
                let before = self.bench.ledger.clone();
                assert!(self.bench.add(&signed).is_err(), "a spoiled block passed: {signed:?}");
                assert_eq!(self.bench.ledger, before);
            }
            Step::Fork { of, back } => {
                let account = self.public(*of);
                let Some(previous) = self.entry(*of, back + 1) else { return };
                let balance = self.bench.ledger.block(&previous).unwrap().balance;
                let b = StateBlock {
                    account,
                    previous,
                    representative: PublicKey([7; 32]),
                    balance,
                    link: [0; 32],
                };
                let before = self.bench.ledger.clone();
                assert_eq!(self.bench.add(&sign_with(b, &self.keys[*of])).err(), Some(Refusal::Fork));
                assert_eq!(self.bench.ledger, before);
            }
        }
        self.check();
    }

    fn check(&self) {
        let ledger = &self.bench.ledger;
        let audit = ledger.audit().unwrap();
        assert_eq!(audit.balances.checked_add(audit.receivable), Some(Raw::MAX));
        let mut model = Model::default();
        for (account, _) in ledger.accounts() {
            let mut height = 0;
            for entry in ledger.chain(account) {
                height += 1;
                assert_eq!(entry.height, height);
                let held = model.balances.entry(*account).or_default();
                match entry.kind {
                    Kind::Send => {
                        *held -= entry.amount.0;
                        let to = (entry.destination().unwrap(), entry.block.hash());
                        model.waiting.insert(to, entry.amount.0);
                    }
                    Kind::Receive => *held += entry.amount.0,
                    Kind::Change | Kind::Epoch => {}
                }
                assert_eq!(entry.balance.0, *held);
            }
        }
        for (account, _) in ledger.accounts() {
            for entry in ledger.chain(account) {
                if let Some(source) = entry.source() {
                    let gone = model.waiting.remove(&(*account, source));
                    assert_eq!(gone, Some(entry.amount.0), "received what was not sent, or twice");
                }
            }
        }
        let kept: BTreeMap<_, _> = self
            .keys
            .iter()
            .flat_map(|k| {
                let account = k.public_key();
                ledger.receivables(&account).map(move |(h, r)| ((account, h), r.amount.0)).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(kept, model.waiting, "receivables are exactly the unreceived sends");
        let weights: u128 = ledger.weights().map(|(_, w)| w.0).sum();
        assert_eq!(weights, audit.balances.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_books_hold_after_every_step(
        epoch in prop_oneof![Just(Epoch::Zero), Just(Epoch::One), Just(Epoch::Two)],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut machine = Machine::new(epoch);
        for step in &steps {
            machine.apply(step);
        }
    }

    #[test]
    fn a_ledger_is_what_its_blocks_are_whatever_was_tried_in_between(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut machine = Machine::new(Epoch::One);
        for step in &steps {
            machine.apply(step);
        }
        // Put the blocks into a fresh ledger in any order that their needs allow, and confirm what is
        // confirmed.
        let old = &machine.bench.ledger;
        let mut fresh = Ledger::dev();
        let mut left: Vec<_> = old
            .accounts()
            .flat_map(|(account, _)| old.chain(account))
            .filter_map(|e| e.block.state().map(|s| (*s, e.timestamp)))
            .collect();
        while !left.is_empty() {
            let before = left.len();
            left.retain(|(signed, timestamp)| fresh.add(signed, *timestamp).is_err());
            prop_assert!(left.len() < before, "the blocks of a ledger do not make a ledger");
        }
        for (_, account) in old.accounts() {
            fresh.confirm(&account.confirmed_frontier);
        }
        prop_assert_eq!(&fresh, old);
    }
}
