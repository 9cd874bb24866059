//! Which connections go when there are many: pure.

use crate::defaults::{TRIM_GRACE, TRIM_INBOUND, TRIM_OUTBOUND};
use libp2p::PeerId;
use std::cmp::Reverse;
use std::time::Duration;

/// A connected peer, as trimming sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) peer: PeerId,
    /// This node opened the connection.
    pub(crate) outbound: bool,
    /// It is in the mesh of a topic.
    pub(crate) in_mesh: bool,
    /// Its score in hundredths of a point.
    pub(crate) score: i64,
    /// How long ago it last sent or took a message.
    pub(crate) unused: Duration,
    /// How long it is connected.
    pub(crate) age: Duration,
    /// It is needed whatever its score: a relay with our reservation, a peer with one of ours, a recipient.
    pub(crate) needed: bool,
}

/// The peers to let go, so that each direction has no more than it should. Peers outside the mesh go first,
/// then low scores, then those unused for longest; never young or needed ones.
pub(crate) fn to_trim(held: &[Held]) -> Vec<PeerId> {
    let of = |outbound, keep| {
        let mut side: Vec<_> = held.iter().filter(|it| it.outbound == outbound).collect();
        let excess = side.len().saturating_sub(keep);
        side.retain(|it| !it.needed && it.age >= TRIM_GRACE);
        side.sort_by_key(|it| (it.in_mesh, it.score, Reverse(it.unused), it.peer));
        side.into_iter().take(excess).map(|it| it.peer).collect::<Vec<_>>()
    };
    [of(false, TRIM_INBOUND), of(true, TRIM_OUTBOUND)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(outbound: bool) -> Held {
        Held {
            peer: PeerId::random(),
            outbound,
            in_mesh: false,
            score: 100,
            unused: Duration::from_secs(60),
            age: Duration::from_secs(600),
            needed: false,
        }
    }

    #[test]
    fn nothing_goes_while_there_is_room() {
        let all: Vec<_> =
            (0..TRIM_INBOUND).map(|_| held(false)).chain((0..TRIM_OUTBOUND).map(|_| held(true))).collect();
        assert_eq!(to_trim(&all), []);
    }

    #[test]
    fn the_mesh_stays_before_score_and_score_before_use() {
        let mut all: Vec<_> = (0..TRIM_INBOUND - 1).map(|_| held(false)).collect();
        let long_unused = Held { unused: Duration::from_secs(61), ..held(false) };
        let low = Held { score: -5, unused: Duration::ZERO, ..held(false) };
        let low_in_mesh = Held { score: -500, in_mesh: true, ..held(false) };
        all.extend([low_in_mesh, long_unused, low]);
        assert_eq!(to_trim(&all), [low.peer, long_unused.peer]);
    }

    #[test]
    fn young_and_needed_peers_stay_though_there_are_too_many() {
        let mut all: Vec<_> =
            (0..TRIM_OUTBOUND).map(|_| Held { needed: true, score: -9_000, ..held(true) }).collect();
        all.push(Held { age: Duration::from_secs(1), ..held(true) });
        assert_eq!(to_trim(&all), []);
        let old = held(true);
        all.push(old);
        assert_eq!(to_trim(&all), [old.peer]);
    }
}
