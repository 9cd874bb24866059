//! How much two nodes in one process pass to each other over TCP: acknowledged direct messages, gossip.
//!
//! ```text
//! cargo run --release -p zx1-mesh --example rates
//! ```

use libp2p::futures::StreamExt;
use libp2p::futures::stream::FuturesUnordered;
use libp2p::identity::Keypair;
use std::future::{Future, ready};
use std::time::Instant;
use zx1_mesh::node::{Event, Events, Node, NodeError, Settings};
use zx1_mesh::validate::{Message, NotKept, Sink, Validator, Verdict};
use zx1_protocol::channel::Channel;

/// Takes everything and keeps nothing: what is measured is the transport alone.
struct Everything;

impl Validator for Everything {
    fn judge(&self, _: &Message) -> impl Future<Output = Verdict> + Send + 'static {
        ready(Verdict::Accept)
    }
}

impl Sink for Everything {
    fn keep(&self, _: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static {
        ready(Ok(()))
    }
}

async fn start() -> Result<(Node, Events), NodeError> {
    let mut settings = Settings::new(Keypair::generate_ed25519());
    settings.listen.extend("/ip4/127.0.0.1/tcp/0".parse());
    Node::start(settings, Everything, Everything, None).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (one, _) = start().await?;
    let (two, mut events) = start().await?;
    while let Some(event) = events.recv().await {
        if let Event::Listening(address) = event {
            one.dial(address).await?;
            break;
        }
    }
    let wait_for_mesh = async {
        while one.peers().await?.iter().all(|it| !it.mesh.contains(&Channel::Broadcast)) {
            tokio::task::yield_now().await;
        }
        Ok::<_, NodeError>(())
    };
    wait_for_mesh.await?;

    let (total, at_a_time) = (20_000_u64, 32);
    let (begun, mut number, mut sent) = (Instant::now(), 0, FuturesUnordered::new());
    while number < total || !sent.is_empty() {
        while number < total && sent.len() < at_a_time {
            number += 1;
            let envelope = [&number.to_le_bytes()[..], &[0; 1_016]].concat();
            sent.push(one.send(two.peer_id(), envelope));
        }
        if let Some(answer) = sent.next().await {
            answer?;
        }
    }
    let taken = begun.elapsed();
    println!(
        "direct, 1 KiB, {at_a_time} at a time: {:.0} acknowledged/s",
        total as f64 / taken.as_secs_f64()
    );

    let (before, begun) = (two.counters().accepted(), Instant::now());
    for number in 0..total {
        let envelope = [&number.to_le_bytes()[..], &[1; 500]].concat();
        while let Err(NodeError::Busy) = one.publish(Channel::Broadcast, envelope.clone()).await {
            tokio::task::yield_now().await;
        }
        // Not more than gossipsub's queue of one peer holds.
        while number.saturating_sub(two.counters().accepted() - before) > 500 {
            tokio::task::yield_now().await;
        }
    }
    let taken = begun.elapsed();
    println!(
        "gossip, 508 B: {:.0} accepted/s",
        (two.counters().accepted() - before) as f64 / taken.as_secs_f64()
    );
    Ok(())
}
