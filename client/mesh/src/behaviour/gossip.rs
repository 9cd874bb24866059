//! gossipsub with the figures of this mesh.

use crate::defaults::*;
use crate::wire::{TOPICS, message_id};
use libp2p::gossipsub::{
    self, ConfigBuilder, IdentTopic, MaxCountSubscriptionFilter, MessageAuthenticity, MessageId,
    PeerScoreParams, PeerScoreThresholds, TopicScoreParams, ValidationMode, WhitelistSubscriptionFilter,
};
use libp2p::identity::Keypair;
use libp2p::metrics::Registry;
use std::collections::HashMap;
use std::time::Duration;
use zx1_protocol::channel::Channel;

/// gossipsub over the three topics and no other.
pub(crate) type Gossip = gossipsub::Behaviour<
    gossipsub::IdentityTransform,
    MaxCountSubscriptionFilter<WhitelistSubscriptionFilter>,
>;

/// A topic as gossipsub names it.
pub(crate) fn topic_of(channel: Channel) -> Option<IdentTopic> {
    channel.topic().map(IdentTopic::new)
}

/// gossipsub, subscribed to the three topics. What it drops by itself, such as messages without a signature, it
/// counts in the registry only.
///
/// # Errors
/// What libp2p says about a figure that it does not take.
pub(crate) fn new(key: &Keypair, registry: Option<&mut Registry>) -> Result<Gossip, String> {
    let mut config = ConfigBuilder::default();
    config
        .validation_mode(ValidationMode::Strict)
        .validate_messages()
        .message_id_fn(|message| MessageId::from(message_id(&message.data).to_vec()))
        .max_transmit_size(MAX_TRANSMIT_SIZE)
        .heartbeat_interval(HEARTBEAT)
        .history_length(HISTORY)
        .duplicate_cache_time(DUPLICATE_TIME)
        .mesh_n(MESH_PEERS)
        .mesh_n_low(MESH_PEERS_LOW)
        .mesh_n_high(MESH_PEERS_HIGH)
        .mesh_outbound_min(MESH_OUTBOUND)
        .flood_publish(true)
        .do_px()
        .prune_peers(PRUNE_PEERS)
        .connection_handler_queue_len(PEER_QUEUE)
        .publish_queue_duration(PUBLISH_QUEUE_TIME)
        .forward_queue_duration(FORWARD_QUEUE_TIME);
    let config = config.build().map_err(|it| it.to_string())?;

    let topics: Vec<_> = TOPICS.into_iter().filter_map(topic_of).collect();
    let filter = MaxCountSubscriptionFilter {
        filter: WhitelistSubscriptionFilter(topics.iter().map(IdentTopic::hash).collect()),
        max_subscribed_topics: topics.len(),
        // A peer may leave and join all topics in one request.
        max_subscriptions_per_request: topics.len().saturating_mul(2),
    };
    let mut gossip =
        Gossip::new_with_subscription_filter(MessageAuthenticity::Signed(key.clone()), config, filter)?;
    if let Some(registry) = registry {
        let mut metrics = gossipsub::MetricsConfig::default();
        metrics.buckets_using_scoring_thresholds(&thresholds());
        gossip = gossip.with_metrics(registry.sub_registry_with_prefix("gossipsub"), metrics);
    }
    gossip.with_peer_score(scores(&topics), thresholds())?;
    for topic in &topics {
        gossip.subscribe(topic).map_err(|it| it.to_string())?;
    }
    Ok(gossip)
}

fn thresholds() -> PeerScoreThresholds {
    PeerScoreThresholds {
        gossip_threshold: GOSSIP_THRESHOLD,
        publish_threshold: PUBLISH_THRESHOLD,
        graylist_threshold: GRAYLIST_THRESHOLD,
        accept_px_threshold: PX_THRESHOLD,
        opportunistic_graft_threshold: GRAFT_THRESHOLD,
    }
}

fn scores(topics: &[IdentTopic]) -> PeerScoreParams {
    let topic = TopicScoreParams {
        topic_weight: 1.0,
        time_in_mesh_weight: SCORE_MESH_SECOND,
        time_in_mesh_quantum: Duration::from_secs(1),
        time_in_mesh_cap: SCORE_MESH_CAP / SCORE_MESH_SECOND,
        first_message_deliveries_weight: SCORE_FIRST,
        first_message_deliveries_decay: SCORE_FIRST_DECAY,
        first_message_deliveries_cap: SCORE_FIRST_CAP,
        // P3 off: agents speak seldom, and it prunes peers that are quiet and honest.
        mesh_message_deliveries_weight: 0.0,
        mesh_failure_penalty_weight: 0.0,
        invalid_message_deliveries_weight: SCORE_INVALID,
        invalid_message_deliveries_decay: SCORE_INVALID_DECAY,
        ..TopicScoreParams::default()
    };
    PeerScoreParams {
        topics: topics.iter().map(|it| (it.hash(), topic.clone())).collect::<HashMap<_, _>>(),
        topic_score_cap: 0.0,
        app_specific_weight: 1.0,
        // gossipsub counts single addresses; the node counts networks and adds P6 to P5.
        ip_colocation_factor_weight: 0.0,
        behaviour_penalty_weight: SCORE_BEHAVIOUR,
        behaviour_penalty_threshold: SCORE_BEHAVIOUR_THRESHOLD,
        behaviour_penalty_decay: SCORE_BEHAVIOUR_DECAY,
        slow_peer_weight: SCORE_SLOW,
        ..PeerScoreParams::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libp2p_takes_the_figures() {
        let topics: Vec<_> = TOPICS.into_iter().filter_map(topic_of).collect();
        assert_eq!(scores(&topics).validate(), Ok(()));
        assert_eq!(thresholds().validate(), Ok(()));
        let gossip = new(&Keypair::generate_ed25519(), Some(&mut Registry::default())).unwrap();
        assert_eq!(gossip.topics().count(), 3);
    }

    #[test]
    fn three_rejected_messages_are_below_every_threshold() {
        let score = |rejected: f64| SCORE_INVALID * rejected * rejected;
        assert!(score(1.0) >= GOSSIP_THRESHOLD, "one mistake costs nothing but the score");
        assert!(score(2.0) >= GRAYLIST_THRESHOLD && score(3.0) < GRAYLIST_THRESHOLD);
    }
}
