//! BEACON: at join, after a change of the key's account or of standing, and every ten minutes; the answer to a search for what this agent
//! advertises.

use crate::agent::Agent;
use crate::defaults::{BEACON_EVERY, BEACON_SOONEST};
use crate::facts::Cluster;
use crate::pen::Pen;
use crate::words::Words;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use zx1_mesh::node::Node;
use zx1_protocol::beacon::Beacon;
use zx1_protocol::channel::channel_of;
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::ConversationId;
use zx1_protocol::keys::AgentKey;

/// How often it is looked whether one is due.
const LOOK: Duration = Duration::from_millis(500);

/// When the next BEACON is due, and the next answers.
#[derive(Debug, Default)]
struct Schedule {
    due: u64,
    beacon: Option<u64>,
    answered: Option<u64>,
    could_send: bool,
    /// The node's key as the chain had it.
    key: Option<AgentKey>,
}

impl Schedule {
    /// Whether a BEACON is due. `can_send`: there are peers, and they take this agent's messages.
    fn is_due(&mut self, can_send: bool, now: u64) -> bool {
        // Somebody hears it again, or for the first time.
        if can_send && !self.could_send {
            self.due = self.due.min(now);
        }
        self.could_send = can_send;
        can_send && self.due <= now && is_past(self.beacon, now)
    }

    /// The key's account is another one than before, such as one that was listed anew: the others learn it from a BEACON.
    fn look_at_key(&mut self, key: Option<AgentKey>, now: u64) {
        if key.is_some() && key != self.key {
            (self.due, self.key) = (self.due.min(now), key);
        }
    }

    fn sent(&mut self, now: u64, spread: u64) {
        self.beacon = Some(now);
        let tenth = BEACON_EVERY / 10;
        self.due = now.saturating_add(BEACON_EVERY - tenth).saturating_add(spread % (2 * tenth));
    }

    fn may_answer(&mut self, now: u64) -> bool {
        let may = self.could_send && is_past(self.answered, now);
        if may {
            self.answered = Some(now);
        }
        may
    }
}

/// A clock that was put back lets one through early rather than none for long.
fn is_past(last: Option<u64>, now: u64) -> bool {
    last.is_none_or(|last| now.abs_diff(last) >= BEACON_SOONEST)
}

/// Sends until cancelled.
pub async fn run(
    agent: Arc<Agent>,
    cluster: Arc<Cluster>,
    node: Node,
    pen: Arc<Pen>,
    cancel: CancellationToken,
) {
    let mut schedule = Schedule::default();
    let topic = channel_of(MsgType::Beacon);
    while cancel.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_some() {
        let Ok(peers) = node.peers().await else { return };
        let is_heard = peers.iter().any(|peer| peer.mesh.contains(&topic));
        let can_send = is_heard && cluster.check_standing().is_ok() && pen.signs(MsgType::Beacon);
        let now = agent.now();
        schedule.look_at_key(cluster.own_key(&pen.key()), now);
        if schedule.is_due(can_send, now) {
            let payload =
                Beacon { agent_id: agent.id(), verifying_key: pen.key(), name: agent.name() }.to_bytes();
            if say(&node, &pen, MsgType::Beacon, payload).await {
                schedule.sent(now, now);
            }
        }
        if agent.heard().is_wanted() && schedule.may_answer(now) {
            let answers = agent.heard().answers(now);
            for payload in answers {
                say(&node, &pen, MsgType::Advertise, payload).await;
            }
        }
    }
}

async fn say(node: &Node, pen: &Pen, msg_type: MsgType, payload: Vec<u8>) -> bool {
    let words = Words { msg_type, recipient: BROADCAST, conversation: ConversationId([0; 16]), payload };
    let made = match pen.write(&words).await {
        Ok(made) => made,
        Err(error) => {
            tracing::warn!(%error, "a message to all cannot be made");
            return false;
        }
    };
    match node.publish(channel_of(msg_type), made.cbor).await {
        Ok(_) => true,
        Err(error) => {
            tracing::debug!(%error, "a message to all cannot be published");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::units::Epoch;

    #[test]
    fn a_beacon_goes_out_at_join_then_every_ten_minutes_and_never_twice_in_thirty_seconds() {
        let mut schedule = Schedule::default();
        let mut now = 1_000_000_000;
        assert!(!schedule.is_due(false, now), "nobody hears it");
        assert!(schedule.is_due(true, now));
        schedule.sent(now, 0);
        for _ in 0..53 {
            now += 10_000_000;
            assert!(!schedule.is_due(true, now));
        }
        now += 10_000_000;
        assert!(schedule.is_due(true, now), "nine minutes at the soonest");
        schedule.sent(now, u64::MAX);
        assert!(!schedule.is_due(false, now + 1));
        assert!(!schedule.is_due(true, now + 29_999_999), "too soon after the last one");
        assert!(schedule.is_due(true, now + 30_000_000), "it was away, and is back");
    }

    #[test]
    fn a_beacon_goes_out_at_once_when_the_agent_is_back_or_its_key_has_changed() {
        let public = ed25519_dalek::SigningKey::from_bytes(&[5; 32]).verifying_key().to_bytes();
        let key =
            |from| AgentKey { from: Epoch(from), ..crate::judge::of_any_scope(&public.into()).unwrap() };
        let (mut schedule, mut now) = (Schedule::default(), 1_000_000_000);
        schedule.look_at_key(Some(key(5)), now);
        assert!(schedule.is_due(true, now));
        schedule.sent(now, 0);
        now += 60_000_000;
        // Deactivated for a minute, then paid again.
        assert!(!schedule.is_due(true, now) && !schedule.is_due(false, now));
        now += 60_000_000;
        assert!(schedule.is_due(true, now));
        schedule.sent(now, 0);
        now += 40_000_000;
        schedule.look_at_key(Some(key(5)), now);
        schedule.look_at_key(None, now);
        assert!(!schedule.is_due(true, now), "it is the same key, or the cluster was away");
        schedule.look_at_key(Some(key(6)), now);
        assert!(schedule.is_due(true, now));
        schedule.sent(now, 0);
        schedule.look_at_key(Some(key(7)), now + 1);
        assert!(!schedule.is_due(true, now + 1), "others take one in thirty seconds");
        assert!(schedule.is_due(true, now + 30_000_000));
    }
}
