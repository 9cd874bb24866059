//! How bytes travel: TCP with noise and yamux, QUIC, relayed circuits, names; memory for tests.

use super::error::NodeError;
use crate::settings::Settings;
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, MemoryTransport, OptionalTransport, Transport};
use libp2p::core::upgrade::Version;
use libp2p::{PeerId, dns, noise, quic, relay, tcp, yamux};

/// The transports and the relay client that belongs to one of them.
pub(crate) fn new(
    settings: &Settings,
) -> Result<(Boxed<(PeerId, StreamMuxerBox)>, relay::client::Behaviour), NodeError> {
    let key = &settings.key;
    let local = key.public().to_peer_id();
    let noise = noise::Config::new(key).map_err(|it| NodeError::Start(it.to_string()))?;
    let (circuits, relay_client) = relay::client::new(local);

    let streams = tcp::tokio::Transport::new(tcp::Config::default().nodelay(true));
    let memory = if settings.memory_transport {
        OptionalTransport::some(MemoryTransport::default())
    } else {
        OptionalTransport::none()
    };
    // Memory first: TCP would refuse its addresses anyway, and only one of them takes each address.
    let upgraded = memory
        .or_transport(circuits)
        .or_transport(streams)
        .upgrade(Version::V1Lazy)
        .authenticate(noise)
        .multiplex(yamux::Config::default());
    let quic = quic::tokio::Transport::new(quic::Config::new(key));
    let direct = upgraded.or_transport(quic).map(|either, _| match either {
        libp2p::futures::future::Either::Left((peer, muxer)) => (peer, StreamMuxerBox::new(muxer)),
        libp2p::futures::future::Either::Right((peer, muxer)) => (peer, StreamMuxerBox::new(muxer)),
    });
    let named = dns::tokio::Transport::system(direct).map_err(|it| NodeError::Start(it.to_string()))?;
    Ok((named.boxed(), relay_client))
}
