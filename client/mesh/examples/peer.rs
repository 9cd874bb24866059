//! A node that another implementation can talk to by hand: it prints its address, publishes a signed text each
//! second, takes what carries its own signature, and says what it took and dropped.
//!
//! ```text
//! cargo run -p zx1-mesh --example peer
//! ```

use libp2p::identity::{Keypair, PublicKey};
use std::future::{Future, ready};
use std::time::Duration;
use zx1_mesh::node::{Dropped, Event, Node, Refusal, Settings};
use zx1_mesh::validate::{Message, NotKept, Sink, Validator, Verdict};
use zx1_protocol::channel::Channel;

struct OwnSignature(PublicKey);

impl Validator for OwnSignature {
    fn judge(&self, message: &Message) -> impl Future<Output = Verdict> + Send + 'static {
        let holds =
            message.bytes.split_last_chunk::<64>().is_some_and(|(text, mark)| self.0.verify(text, mark));
        ready(if holds { Verdict::Accept } else { Verdict::Reject(7314) })
    }
}

struct Screen;

impl Sink for Screen {
    fn keep(&self, message: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static {
        println!("took {} bytes by {:?} from {}", message.bytes.len(), message.channel, message.forwarder);
        ready(Ok(()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = Keypair::generate_ed25519();
    let mut settings = Settings::new(key.clone());
    settings.listen = vec!["/ip4/127.0.0.1/tcp/0".parse()?];
    let (node, mut events) = Node::start(settings, OwnSignature(key.public()), Screen, None).await?;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    let mut number = 0_u64;
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(Event::Listening(address)) => {
                    println!("{address}/p2p/{}", node.peer_id());
                    // Others find it by Kademlia only at an address that is known to be good.
                    node.confirm(address).await?;
                }
                Some(Event::Identified { peer, .. }) => {
                    println!("identified {peer}");
                    // And the other way round: it asks the other for itself.
                    let (other, own) = (node.clone(), node.peer_id());
                    tokio::spawn(async move { println!("found {:?}", other.find(own).await) });
                    let (other, text) = (node.clone(), format!("by stream to {peer}"));
                    tokio::spawn(async move { println!("sent {:?}", other.send(peer, text.into_bytes()).await) });
                }
                Some(event) => println!("{event:?}"),
                None => return Ok(()),
            },
            _ = ticks.tick() => {
                number += 1;
                let text = format!("message {number} of {}", node.peer_id()).into_bytes();
                let mark = key.sign(&text)?;
                let published = node.publish(Channel::Broadcast, [text, mark].concat()).await;
                let counters = node.counters();
                let drops: Vec<_> = Dropped::ALL.into_iter().map(|it| counters.dropped(it)).collect();
                let rejected = counters.refused(Refusal::Rejected);
                println!("{:?} accepted {} rejected {rejected} drops {drops:?}", published.is_ok(), counters.accepted());
            }
        }
    }
}
