//! gossipsub with the figures of this mesh.

use crate::defaults::{
    DUPLICATE_TIME, FORWARD_QUEUE_TIME, MAX_TRANSMIT_SIZE, PEER_QUEUE, PRUNE_PEERS, PUBLISH_QUEUE_TIME,
};
use crate::score::{MESH, Milli, PEER, THRESHOLDS, TOPIC};
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
        .heartbeat_interval(Duration::from_millis(MESH.heartbeat_ms.into()))
        .history_length(MESH.history_length)
        .duplicate_cache_time(DUPLICATE_TIME)
        .mesh_n(MESH.peers)
        .mesh_n_low(MESH.low)
        .mesh_n_high(MESH.high)
        .mesh_outbound_min(MESH.outbound)
        .flood_publish(MESH.flood_publish)
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

/// A figure as gossipsub takes it.
pub(crate) fn points(Milli(thousandths): Milli) -> f64 {
    // Far below 2^52.
    thousandths as f64 / 1_000.0
}

fn thresholds() -> PeerScoreThresholds {
    PeerScoreThresholds {
        gossip_threshold: points(THRESHOLDS.gossip),
        publish_threshold: points(THRESHOLDS.publish),
        graylist_threshold: points(THRESHOLDS.graylist),
        accept_px_threshold: points(THRESHOLDS.accept_px),
        opportunistic_graft_threshold: points(THRESHOLDS.opportunistic_graft),
    }
}

fn scores(topics: &[IdentTopic]) -> PeerScoreParams {
    let topic = TopicScoreParams {
        topic_weight: points(TOPIC.weight),
        time_in_mesh_weight: points(TOPIC.mesh_second),
        time_in_mesh_quantum: Duration::from_secs(1),
        time_in_mesh_cap: TOPIC.mesh_seconds_cap.into(),
        first_message_deliveries_weight: points(TOPIC.first_delivery),
        first_message_deliveries_decay: points(TOPIC.first_delivery_decay),
        first_message_deliveries_cap: TOPIC.first_delivery_cap.into(),
        mesh_message_deliveries_weight: points(TOPIC.mesh_deliveries),
        mesh_failure_penalty_weight: points(TOPIC.mesh_deliveries),
        invalid_message_deliveries_weight: points(TOPIC.rejected),
        invalid_message_deliveries_decay: points(TOPIC.rejected_decay),
        ..TopicScoreParams::default()
    };
    PeerScoreParams {
        topics: topics.iter().map(|it| (it.hash(), topic.clone())).collect::<HashMap<_, _>>(),
        topic_score_cap: 0.0,
        app_specific_weight: points(PEER.app),
        // gossipsub counts single addresses; the node counts networks and adds P6 to P5.
        ip_colocation_factor_weight: 0.0,
        behaviour_penalty_weight: points(PEER.behaviour),
        behaviour_penalty_threshold: PEER.behaviour_threshold.into(),
        behaviour_penalty_decay: points(PEER.behaviour_decay),
        slow_peer_weight: points(PEER.slow_peer),
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
}
