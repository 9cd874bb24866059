//! Whether a node keeps up with its peers: one that lags shows deposits late, or never.

use super::NodeError;
use super::api::NodeCalls;
use super::rpc::{BlockCount, Counts, Telemetry};
use zx1_coded::Coded as _;

/// With fewer peers nobody knows what the network has confirmed; so a ledger of one node is never behind.
const MIN_PEERS: usize = 3;
/// A node that lacks more than so many confirmed blocks is behind: on the live network, that is a quarter of an hour or
/// more.
const FAR: u64 = 2_000;
/// What peers may be ahead without anything being wrong; they say it in turn, and not each second.
const NEAR: u64 = 200;
/// With so many blocks unchecked, and none confirmed meanwhile, a node stands still.
const CROWD: u64 = 1_000;
/// Number of looks in a row that have to agree before the verdict changes.
const LOOKS: u32 = 3;

/// One look at a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sight {
    counts: Counts,
    /// What the middle one of its peers has confirmed, so that no minority of them decides.
    peers: Option<u64>,
}

impl Sight {
    /// A node's counts, and the number of confirmed blocks that each peer names.
    pub fn new(counts: Counts, mut peers: Vec<u64>) -> Sight {
        peers.sort_unstable();
        let middle = peers.len().saturating_sub(1) / 2;
        let peers = peers.get(middle).copied().filter(|_| peers.len() >= MIN_PEERS);
        Sight { counts, peers }
    }

    /// How a node stands beside its peers. A node that does not tell has none.
    ///
    /// # Errors
    /// 8200 to 8299: the node does not answer.
    pub async fn of(node: &(impl NodeCalls + Sync + ?Sized)) -> Result<Sight, NodeError> {
        let peers = told(node.ask(Telemetry).await)?;
        // Afterwards, so that nothing is missed that came meanwhile.
        let counts = told(node.ask(BlockCount).await)?;
        Ok(counts.map(|counts| Sight::new(counts, peers.unwrap_or_default())).unwrap_or_default())
    }

    /// Number of confirmed blocks that its peers have and it lacks.
    pub fn lacks(&self) -> u64 {
        self.peers.map_or(0, |peers| peers.saturating_sub(self.counts.cemented))
    }
}

/// `None` when the node will answer the same each time: not everybody who serves a node serves all of it.
fn told<T>(answer: Result<T, NodeError>) -> Result<Option<T>, NodeError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.transient() => Err(error),
        Err(_) => Ok(None),
    }
}

/// The verdict over several looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behind {
    behind: bool,
    /// Looks in a row that say the opposite.
    against: u32,
    cemented: Option<u64>,
}

impl Behind {
    /// Takes one more look. Answers whether the node is behind.
    pub fn look(&mut self, sight: Sight) -> bool {
        let Sight { counts, .. } = sight;
        let stands = self.cemented.replace(counts.cemented).is_some_and(|last| counts.cemented <= last);
        let lacks = sight.lacks();
        // Whoever is behind has to come closer than what made it so.
        let far = if self.behind { FAR / 2 } else { FAR };
        let now = lacks > far || (stands && lacks > NEAR && counts.unchecked >= CROWD);
        self.against = if now == self.behind { 0 } else { self.against.saturating_add(1) };
        if self.against >= LOOKS {
            (self.behind, self.against) = (now, 0);
        }
        self.behind
    }

    /// The verdict of the last look.
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Whether the node keeps up and nothing speaks against it, so that the next look has time.
    pub fn is_well(&self) -> bool {
        !self.behind && self.against == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(cemented: u64, unchecked: u64, peers: &[u64]) -> Sight {
        Sight::new(Counts { count: cemented, unchecked, cemented }, peers.to_vec())
    }

    fn looks(behind: &mut Behind, sight: Sight, times: u32) -> Vec<bool> {
        (0..times).map(|_| behind.look(sight)).collect()
    }

    #[test]
    fn the_middle_peer_counts_and_without_peers_nobody_is_behind() {
        assert_eq!(sight(10, 0, &[u64::MAX, 15, 12]).lacks(), 5);
        assert_eq!(sight(10, 0, &[u64::MAX, u64::MAX, 12, 11]).lacks(), 2, "of four the second");
        assert_eq!(sight(20, 0, &[15, 15, 15]).lacks(), 0);
        for peers in [&[][..], &[u64::MAX, u64::MAX]] {
            let mut behind = Behind::default();
            assert_eq!(looks(&mut behind, sight(0, 9_999, peers), 10), [false; 10]);
            assert!(behind.is_well());
        }
    }

    #[test]
    fn one_look_does_not_decide_and_the_way_back_is_longer() {
        let mut behind = Behind::default();
        let (level, far) = (sight(10_000, 0, &[12_000; 3]), sight(10_000, 0, &[12_001; 3]));
        assert_eq!(looks(&mut behind, far, 2), [false, false]);
        assert!(!behind.is_well());
        assert_eq!(looks(&mut behind, level, 1), [false]);
        assert!(behind.is_well());
        assert_eq!(looks(&mut behind, far, 3), [false, false, true]);
        // Just below what made it so is not back.
        assert_eq!(looks(&mut behind, level, 9), [true; 9]);
        let closer = sight(11_000, 0, &[12_000; 3]);
        assert_eq!(looks(&mut behind, closer, 2), [true, true]);
        assert_eq!(looks(&mut behind, far, 1), [true]);
        assert_eq!(looks(&mut behind, closer, 3), [true, true, false]);
    }

    #[test]
    fn one_that_confirms_nothing_while_blocks_pile_up_is_behind() {
        let stuck = sight(10_000, 1_000, &[10_201; 3]);
        assert_eq!(looks(&mut Behind::default(), stuck, 5), [false, false, false, true, true]);
        for well in [sight(10_000, 999, &[10_201; 3]), sight(10_000, 1_000, &[10_200; 3])] {
            assert_eq!(looks(&mut Behind::default(), well, 9), [false; 9]);
        }
        let mut grows = Behind::default();
        assert!((0..9).all(|n| !grows.look(sight(10_000 + n, 1_000, &[10_300 + n; 3]))));
    }
}
