//! Messages on their way: when a copy first reaches each node, and when the node accepts it.

use crate::ruling::Verdicts;
use std::collections::VecDeque;
use std::sync::Arc;
use zx1_mesh::defaults::DUPLICATE_TIME;
use zx1_mesh::gate::Path;
use zx1_mesh::intake::Arrived;
use zx1_protocol::envelope::MsgType;

/// Stands for a time that has not come.
pub const NEVER: u32 = u32::MAX;
/// How long a message is remembered: what any rule of any node could ask about it.
pub const REMEMBERED: u64 = DUPLICATE_TIME.as_micros() as u64 + 5_000_000;

/// Envelope and path, which all copies of a message share.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The message that it is a copy of.
    pub spread: u32,
    bytes: Arc<[u8]>,
    path: Path,
}

impl Carried {
    /// A copy of a message.
    pub fn of(spread: u32, bytes: Arc<[u8]>, path: Path) -> Self {
        Self { spread, bytes, path }
    }
}

impl Arrived for Carried {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn path(&self) -> Path {
        self.path
    }
}

/// What a message is in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of an honest agent: its delivery counts.
    Honest,
    /// Of an attacker, signed and registered.
    Spam,
    /// Of an attacker; its signature does not hold.
    Forged,
    /// Of an attacker, in the name of an agent that is not registered.
    Unregistered,
    /// An honest agent's, published again by an attacker.
    Replay,
}

/// A message on its way.
#[derive(Debug)]
pub struct Spread {
    /// What it is.
    pub kind: Kind,
    /// Number of the agent whose message it is.
    pub author: u32,
    /// Type of the message.
    pub msg_type: MsgType,
    /// Its number on its channel.
    pub nonce: u64,
    /// The envelope, encoded.
    pub bytes: Arc<[u8]>,
    /// Topic, and the key that published it.
    pub path: Path,
    /// When it was signed, microseconds since the start.
    pub signed: u64,
    /// When it was published, likewise.
    pub published: u64,
    /// When the first copy reaches each node, as microseconds since `published`.
    pub arrives: Vec<u32>,
    /// When each node accepted it, likewise.
    pub accepted: Vec<u32>,
    /// The message of which this is a replay.
    pub original: Option<u32>,
    /// The part of the run in which it was published.
    pub phase: usize,
    /// Recipients that it should reach, of ordinary nodes and of watched ones.
    pub expected: [u32; 2],
    /// Those that accepted it.
    pub delivered: [u32; 2],
    /// What the gate said of it, by view.
    pub verdicts: Verdicts,
}

impl Spread {
    /// When this node accepted it, microseconds since the start.
    pub fn accepted_at(&self, node: u32) -> Option<u64> {
        let after = self.accepted.get(node as usize).copied().filter(|after| *after != NEVER)?;
        Some(self.published + u64::from(after))
    }

    /// A copy that reaches a node at this time; whether it is the first so far.
    pub fn reaches(&mut self, node: u32, at: u64) -> bool {
        let after = u32::try_from(at.saturating_sub(self.published)).unwrap_or(NEVER);
        match self.arrives.get_mut(node as usize) {
            Some(first) if after < *first => {
                *first = after;
                true
            }
            _ => false,
        }
    }

    /// Whether the copy that reaches a node now is the first.
    pub fn is_first(&self, node: u32, now: u64) -> bool {
        let first = self.arrives.get(node as usize).copied().unwrap_or(NEVER);
        self.published + u64::from(first) == now
    }

    /// How far it is, for a check of what is missing.
    pub fn is_incomplete(&self) -> bool {
        self.delivered != self.expected
    }
}

/// The messages of the last minute by their numbers.
#[derive(Debug, Default)]
pub struct Spreads {
    gone: u32,
    kept: VecDeque<Spread>,
}

impl Spreads {
    /// Takes a message, and gives it a number.
    pub fn add(&mut self, spread: Spread) -> u32 {
        self.kept.push_back(spread);
        self.gone + self.kept.len() as u32 - 1
    }

    /// The message of this number, as long as it is remembered.
    pub fn get(&self, number: u32) -> Option<&Spread> {
        self.kept.get(number.checked_sub(self.gone)? as usize)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Spread> {
        self.kept.get_mut(number.checked_sub(self.gone)? as usize)
    }

    /// Takes out the oldest message, when it is older than [`REMEMBERED`].
    pub fn forget(&mut self, now: u64) -> Option<(u32, Spread)> {
        let is_old = self.kept.front().is_some_and(|it| it.published + REMEMBERED <= now);
        if !is_old {
            return None;
        }
        let spread = self.kept.pop_front()?;
        self.gone += 1;
        Some((self.gone - 1, spread))
    }

    /// Numbers of those published since this time, the newest first.
    pub fn since(&self, time: u64) -> impl Iterator<Item = u32> {
        let recent = self.kept.iter().rev().take_while(move |it| it.published >= time).count() as u32;
        let end = self.gone + self.kept.len() as u32;
        (end - recent..end).rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::channel::Channel;

    fn spread(published: u64) -> Spread {
        Spread {
            kind: Kind::Honest,
            author: 0,
            msg_type: MsgType::Beacon,
            nonce: 0,
            bytes: [].into(),
            path: Path { channel: Channel::Broadcast, source: None },
            signed: published,
            published,
            arrives: vec![NEVER; 2],
            accepted: vec![NEVER; 2],
            original: None,
            phase: 0,
            expected: [1, 0],
            delivered: [0, 0],
            verdicts: Verdicts::default(),
        }
    }

    #[test]
    fn only_the_earliest_copy_counts() {
        let mut it = spread(100);
        assert!(it.reaches(1, 150) && it.reaches(1, 120) && !it.reaches(1, 120) && !it.reaches(1, 130));
        assert!(it.is_first(1, 120) && !it.is_first(1, 150));
        assert!(!it.reaches(9, 1), "messages for first neighbours alone keep no times");
    }

    #[test]
    fn messages_keep_their_numbers_while_older_ones_are_forgotten() {
        let mut spreads = Spreads::default();
        let numbers: Vec<_> = [0, 10, 2 * REMEMBERED].map(|at| spreads.add(spread(at))).into();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(spreads.forget(REMEMBERED - 1).map(|it| it.0), None);
        assert_eq!(spreads.forget(REMEMBERED).map(|it| it.0), Some(0));
        assert!(spreads.get(0).is_none() && spreads.get(1).is_some());
        assert_eq!(spreads.since(10).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(spreads.since(11).collect::<Vec<_>>(), [2]);
    }
}
