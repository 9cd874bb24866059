//! What the transport asks of the layers above it: a verdict on a message, and a place where it is kept.
//!
//! The transport knows nothing of agents, stake or nonces. It brings bytes, the channel by which they came,
//! and the key that the connection or the gossip signature proves.

use libp2p::PeerId;
use std::future::Future;
use std::sync::Arc;
use zx1_protocol::channel::Channel;
use zx1_protocol::ids::WalletKey;

/// A message as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The bytes of the envelope, not looked at. At most 65 536 when they came by a direct stream.
    pub bytes: Arc<[u8]>,
    /// The topic, or the direct stream.
    pub channel: Channel,
    /// The key that is proven. On a topic: the author's, whose signature over the gossip message holds. On a
    /// stream: that of the peer at the other end.
    pub author: WalletKey,
    /// The peer that brought it, which on a topic is seldom the author.
    pub forwarder: PeerId,
}

/// What becomes of a message. The numbers are those of the reason, such as
/// [`Reason`](zx1_protocol::validate::Reason)'s: they are counted and told to nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is kept, acknowledged or forwarded.
    Accept,
    /// It is dropped, and nobody is blamed: what is wrong depends on one's own view (decision I4).
    Ignore(u32),
    /// It is dropped, and all who brought these bytes pay: every honest node rejects them.
    Reject(u32),
    /// It is dropped, and only who brought this copy pays: the bytes may be good, but not from this author or
    /// on this topic. The message id covers the bytes alone, so honest peers may bring the same ones.
    Misattributed(u32),
}

/// Judges messages for the transport.
pub trait Validator: Send + Sync + 'static {
    /// Judges a message. Called from tasks of the pool, never from the swarm task, and for one author not again
    /// before the last verdict.
    ///
    /// The call itself does what can be decided by what is known now: no network, no disk, well under a
    /// millisecond. The future is then ready at once. Where facts about the author are missing it waits until
    /// they are fetched or given up; the author's later messages wait behind it, and after
    /// [`WAIT_TIME`](crate::defaults::WAIT_TIME) all of them are ignored and the future is dropped.
    fn judge(&self, message: &Message) -> impl Future<Output = Verdict> + Send + 'static;
}

/// An error of the sink: the message is not kept, so nobody acknowledges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotKept;

/// Where accepted messages go.
pub trait Sink: Send + Sync + 'static {
    /// Takes a message. The call itself puts it in line, so that an author's messages keep their order; the
    /// future only waits until it is on disk, and can be one of many. At most
    /// [`MAX_SAVING`](crate::defaults::MAX_SAVING) futures wait at a time.
    ///
    /// # Errors
    /// [`NotKept`]: a direct stream is then reset, a gossiped message is forwarded all the same.
    fn keep(&self, message: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static;
}

impl<V: Validator> Validator for Arc<V> {
    fn judge(&self, message: &Message) -> impl Future<Output = Verdict> + Send + 'static {
        (**self).judge(message)
    }
}

impl<S: Sink> Sink for Arc<S> {
    fn keep(&self, message: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static {
        (**self).keep(message)
    }
}
