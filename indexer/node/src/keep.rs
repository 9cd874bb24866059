//! Accepted messages on their way into the agent's log: in order, in groups with one sync each.

use crate::agent::Agent;
use crate::defaults::KEEP_GROUP;
use crate::error::{Error, Result};
use crate::judge::Judge;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use tokio::sync::oneshot;
use zx1_log::{Key, Origin, Received};
use zx1_mesh::validate::{Message, NotKept, Sink};
use zx1_protocol::envelope::Envelope;
use zx1_protocol::ids::AgentId;

struct Item {
    message: Message,
    kept: oneshot::Sender<Result<(), NotKept>>,
}

/// Puts messages in line for the log. When all clones are gone, what waits is still written.
#[derive(Clone, Debug)]
pub struct Keeper {
    line: mpsc::Sender<Item>,
}

impl Keeper {
    /// Starts the thread that writes; join it to wait for the last message.
    ///
    /// # Errors
    /// 7680 when the system gives no thread.
    pub fn start(agent: Arc<Agent>, judge: Arc<Judge>) -> Result<(Self, JoinHandle<()>)> {
        let (line, items) = mpsc::channel();
        let thread = Builder::new().name("zx1-node-keep".to_owned());
        let thread = thread.spawn(move || write(&agent, &judge, &items));
        let thread = thread.map_err(|error| Error::Config(format!("No thread for the log: {error}.")))?;
        Ok((Self { line }, thread))
    }
}

impl Sink for Keeper {
    fn keep(&self, message: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static {
        let (kept, answer) = oneshot::channel();
        // The transport bounds how many wait.
        let _ = self.line.send(Item { message, kept });
        async move { answer.await.unwrap_or(Err(NotKept)) }
    }
}

fn write(agent: &Agent, judge: &Judge, items: &mpsc::Receiver<Item>) {
    while let Ok(first) = items.recv() {
        let mut group = vec![first];
        group.extend(items.try_iter().take(KEEP_GROUP.saturating_sub(1)));
        write_group(agent, judge, group);
    }
}

fn write_group(agent: &Agent, judge: &Judge, group: Vec<Item>) {
    let slot = judge.chain().map(|chain| chain.slot).unwrap_or_default();
    let mut keys: BTreeMap<AgentId, Vec<Key>> = BTreeMap::new();
    for Item { message, .. } in &group {
        if let Ok(envelope) = Envelope::decode(&message.bytes) {
            let author = envelope.header.sender();
            keys.entry(author).or_insert_with(|| judge.keys(&author, &message.author));
        }
    }
    let received: Vec<Received<'_>> = group
        .iter()
        .map(|Item { message, .. }| Received {
            bytes: &message.bytes,
            origin: Origin::Mesh { channel: message.channel, slot },
        })
        .collect();
    match agent.log().inbox().admit_all(&received, &keys, agent.now()) {
        Ok(outcomes) => {
            for (Item { message, kept }, outcome) in group.into_iter().zip(outcomes) {
                match outcome {
                    Ok(admitted) => {
                        let _ = kept.send(Ok(()));
                        agent.took(&message, &admitted);
                    }
                    Err(error) => {
                        tracing::debug!(%error, forwarder = %message.forwarder, "the log does not take a message");
                        let _ = kept.send(Err(NotKept));
                    }
                }
            }
        }
        Err(error) => {
            tracing::error!(%error, messages = group.len(), "messages cannot be kept");
            for Item { kept, .. } in group {
                let _ = kept.send(Err(NotKept));
            }
        }
    }
}
