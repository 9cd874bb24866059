//! Direct streams as a stranger's program would open them, byte by byte.

#![allow(clippy::unwrap_used)]

mod support;

use libp2p::core::Transport;
use libp2p::core::transport::MemoryTransport;
use libp2p::core::upgrade::Version;
use libp2p::futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::request_response::{Behaviour, Event, Message, OutboundFailure, ProtocolSupport};
use libp2p::swarm::{self, Swarm, SwarmEvent};
use libp2p::{noise, yamux};
use std::io;
use support::bytes::Bytes;
use support::{MEMORY, Peer, start, within};
use zx1_mesh::node::Dropped;
use zx1_mesh::wire::{ACK_FRAME, DIRECT_PROTOCOL};

fn stranger(stalls: bool) -> Swarm<Behaviour<Bytes>> {
    let key = Keypair::generate_ed25519();
    let transport = MemoryTransport::default()
        .upgrade(Version::V1Lazy)
        .authenticate(noise::Config::new(&key).unwrap())
        .multiplex(yamux::Config::default())
        .boxed();
    let codec = Bytes { stalls };
    let protocols = [(DIRECT_PROTOCOL, ProtocolSupport::Full)];
    let behaviour = Behaviour::with_codec(codec, protocols, Default::default());
    let config = swarm::Config::with_tokio_executor().with_idle_connection_timeout(support::PATIENCE);
    Swarm::new(transport, behaviour, key.public().to_peer_id(), config)
}

/// What a stranger reads after it has written these bytes: all until the end, or the reset.
async fn answer_to(peer: &Peer, swarm: &mut Swarm<Behaviour<Bytes>>, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let request =
        swarm.behaviour_mut().send_request_with_addresses(&peer.id(), bytes, vec![peer.address.clone()]);
    within(async {
        loop {
            match swarm.select_next_some().await {
                SwarmEvent::Behaviour(Event::Message {
                    message: Message::Response { request_id, response },
                    ..
                }) if request_id == request => {
                    return Ok(response);
                }
                SwarmEvent::Behaviour(Event::OutboundFailure { request_id, error, .. })
                    if request_id == request =>
                {
                    match error {
                        OutboundFailure::Io(error) => return Err(error),
                        other => panic!("{other}"),
                    }
                }
                _ => {}
            }
        }
    })
    .await
}

fn frame(envelope: &[u8]) -> Vec<u8> {
    [&u32::try_from(envelope.len()).unwrap().to_le_bytes()[..], envelope].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_frame_is_answered_with_seven_bytes_and_the_end() {
    let (mut peer, mut swarm) = (start(MEMORY).await, stranger(false));
    assert_eq!(answer_to(&peer, &mut swarm, frame(b"good")).await.unwrap(), ACK_FRAME);
    assert_eq!(&peer.next().await.bytes[..], b"good");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_else_ends_the_stream_without_a_byte() {
    let peer = start(MEMORY).await;
    let too_long = 65_537_u32.to_le_bytes().to_vec();
    let endless = [&u32::MAX.to_le_bytes()[..], &[0; 5_000]].concat();
    let cut_off = [&100_u32.to_le_bytes()[..], b"only this"].concat();
    for bytes in [frame(b"bad"), frame(b"old"), frame(b""), too_long, endless, cut_off, b"\x01".to_vec()] {
        let shown = format!("{:?}", &bytes[..bytes.len().min(8)]);
        // Each of a stranger of its own: it costs the score.
        let mut swarm = stranger(false);
        // A reader of yamux sees a reset as the end.
        match answer_to(&peer, &mut swarm, bytes).await {
            Ok(answer) => assert!(answer.is_empty(), "{shown}: {answer:?}"),
            Err(error) => assert_eq!(error.to_string(), "[]", "{shown}"),
        }
    }
    assert_eq!(peer.node.counters().dropped(Dropped::Frame), 5);
    assert_eq!(peer.judged(), ["bad", "old"], "nothing else reached the judge");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_message_leaves_the_connection_and_the_next_one_is_read() {
    let (peer, mut swarm) = (start(MEMORY).await, stranger(false));
    for _ in 0..4 {
        let refused = answer_to(&peer, &mut swarm, frame(b"old")).await;
        assert!(refused.map_or(true, |answer| answer.is_empty()));
    }
    assert_eq!(answer_to(&peer, &mut swarm, frame(b"good")).await.unwrap(), ACK_FRAME);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_frames_that_are_none_leave_their_peer_unread_and_others_served() {
    let (peer, mut liar, mut honest) = (start(MEMORY).await, stranger(false), stranger(false));
    for bytes in [65_537_u32.to_le_bytes().to_vec(), frame(b""), frame(b"bad")] {
        let refused = answer_to(&peer, &mut liar, bytes).await;
        assert!(refused.map_or(true, |answer| answer.is_empty()));
    }
    peer.until(*liar.local_peer_id(), |it| it.graylisted).await;
    let unread = answer_to(&peer, &mut liar, frame(b"good")).await;
    assert!(unread.map_or(true, |answer| answer.is_empty()));
    assert_eq!(peer.node.counters().dropped(Dropped::Graylisted), 1);
    assert_eq!(answer_to(&peer, &mut honest, frame(b"fine")).await.unwrap(), ACK_FRAME);
    assert_eq!(peer.judged(), ["bad", "fine"]);
}

/// A stranger that opens streams and sends a length, then nothing: it holds its own places and no one else's.
#[tokio::test(flavor = "multi_thread")]
async fn streams_that_stall_cost_the_others_nothing() {
    let (mut peer, mut idle, mut busy) = (start(MEMORY).await, stranger(true), stranger(false));
    for _ in 0..200 {
        let half = [&65_536_u32.to_le_bytes()[..], &[7; 10]].concat();
        idle.behaviour_mut().send_request_with_addresses(&peer.id(), half, vec![peer.address.clone()]);
    }
    let stalled = async {
        loop {
            idle.select_next_some().await;
        }
    };
    let served = async {
        for number in 0..50 {
            let text = format!("{number}");
            assert_eq!(answer_to(&peer, &mut busy, frame(text.as_bytes())).await.unwrap(), ACK_FRAME);
        }
    };
    tokio::select! {
        () = served => {}
        () = stalled => unreachable!(),
    }
    for number in 0..50 {
        assert_eq!(&peer.next().await.bytes[..], format!("{number}").as_bytes());
    }
}
