//! Who gets a connection: places for wanted peers, and one connection a peer.
//!
//! [`connection_limits`](libp2p::connection_limits) counts. This behaviour adds what it cannot say: some outbound
//! places are only for peers that this node wants, and of two connections between the same peers one goes, the
//! same one at both ends. gossipsub keeps one queue a peer, so a second connection breaks the order of
//! messages. A relayed connection and a direct one may exist together until the hole is punched.

use crate::addresses::is_relayed;
use crate::defaults::MAX_WANTED;
use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    CloseConnection, ConnectionClosed, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler,
    THandlerInEvent, THandlerOutEvent, ToSwarm, dial_opts::DialOpts, dummy,
};
use libp2p::{Multiaddr, PeerId};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::task::{Context, Poll, Waker};

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// Only reserved places are left.
    #[error("the outbound places that are left are for wanted peers")]
    Reserved,
    /// There is one already.
    #[error("there is a connection to this peer")]
    Second,
}

/// An established connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    id: ConnectionId,
    outbound: bool,
    relayed: bool,
}

/// What happens to a connection that comes beside another.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Take,
    /// It is taken, and these close.
    Replace(Vec<ConnectionId>),
    Refuse,
}

/// The one of two connections between the same peers that stays: a direct one beside relayed ones; of two that
/// were opened from both ends at once, that of the smaller peer id; else the first.
fn decide(local: PeerId, remote: PeerId, open: &[Open], new: Open) -> Decision {
    let alike: Vec<_> = open.iter().filter(|it| it.relayed == new.relayed).collect();
    match (alike.first(), open.first()) {
        (None, None) => Decision::Take,
        // The hole is punched; who began closes the relayed one.
        (None, Some(_)) if !new.relayed => Decision::Take,
        (None, Some(_)) => Decision::Refuse,
        (Some(_), _) => {
            let opened_by_smaller = new.outbound == (local < remote);
            let crossed = alike.iter().all(|it| it.outbound != new.outbound);
            if crossed && opened_by_smaller {
                Decision::Replace(alike.into_iter().map(|it| it.id).collect())
            } else {
                Decision::Refuse
            }
        }
    }
}

/// Decides about connections; it speaks no protocol.
#[derive(Debug)]
pub(crate) struct Behaviour {
    local: PeerId,
    /// Outbound connections to peers that nobody asked for.
    unwanted_limit: usize,
    open: HashMap<PeerId, Vec<Open>>,
    wanted: VecDeque<PeerId>,
    /// Dials of an address whose peer is not known.
    wanted_dials: VecDeque<ConnectionId>,
    to_close: VecDeque<(PeerId, ConnectionId)>,
    waker: Option<Waker>,
}

impl Behaviour {
    /// `unwanted_limit` is the number of outbound connections up to which anyone gets one.
    pub(crate) fn new(local: PeerId, unwanted_limit: usize) -> Self {
        Self {
            local,
            unwanted_limit,
            open: HashMap::new(),
            wanted: VecDeque::new(),
            wanted_dials: VecDeque::new(),
            to_close: VecDeque::new(),
            waker: None,
        }
    }

    /// This node has a use for a connection to the peer.
    pub(crate) fn want(&mut self, peer: PeerId) {
        self.wanted.retain(|it| *it != peer);
        self.wanted.push_back(peer);
        if self.wanted.len() > MAX_WANTED {
            self.wanted.pop_front();
        }
    }

    /// Dial options whose connection is wanted, whoever answers.
    pub(crate) fn want_dial(&mut self, options: DialOpts) -> DialOpts {
        if let Some(peer) = options.get_peer_id() {
            self.want(peer);
        }
        self.wanted_dials.push_back(options.connection_id());
        if self.wanted_dials.len() > MAX_WANTED {
            self.wanted_dials.pop_front();
        }
        options
    }

    /// Whether this node has asked for the peer lately.
    pub(crate) fn is_wanted(&self, peer: &PeerId) -> bool {
        self.wanted.contains(peer)
    }

    /// Closes relayed connections to a peer to which there is a direct one now.
    pub(crate) fn close_relayed(&mut self, peer: PeerId) {
        let open = self.open.get(&peer).map_or(&[][..], Vec::as_slice);
        if open.iter().any(|it| !it.relayed) {
            let relayed = open.iter().filter(|it| it.relayed).map(|it| (peer, it.id));
            self.to_close.extend(relayed);
            self.wake();
        }
    }

    fn check_place(&self, id: ConnectionId, peer: Option<PeerId>) -> Result<(), ConnectionDenied> {
        let wanted = self.wanted_dials.contains(&id) || peer.is_some_and(|it| self.is_wanted(&it));
        let taken = self.open.values().flatten().filter(|it| it.outbound).count();
        if wanted || taken < self.unwanted_limit {
            Ok(())
        } else {
            Err(ConnectionDenied::new(Refused::Reserved))
        }
    }

    fn check_second(&mut self, peer: PeerId, new: Open) -> Result<THandler<Self>, ConnectionDenied> {
        let open = self.open.get(&peer).map_or(&[][..], Vec::as_slice);
        match decide(self.local, peer, open, new) {
            Decision::Take => {}
            Decision::Replace(ids) => {
                self.to_close.extend(ids.into_iter().map(|id| (peer, id)));
                self.wake();
            }
            Decision::Refuse => return Err(ConnectionDenied::new(Refused::Second)),
        }
        Ok(dummy::ConnectionHandler)
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl NetworkBehaviour for Behaviour {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        local_address: &Multiaddr,
        remote_address: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let relayed = is_relayed(local_address) || is_relayed(remote_address);
        self.check_second(peer, Open { id, outbound: false, relayed })
    }

    fn handle_pending_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: Option<PeerId>,
        _: &[Multiaddr],
        _: Endpoint,
    ) -> Result<Vec<Multiaddr>, ConnectionDenied> {
        self.check_place(id, peer).map(|()| Vec::new())
    }

    fn handle_established_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.check_place(id, Some(peer))?;
        self.check_second(peer, Open { id, outbound: true, relayed: is_relayed(address) })
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(it) => {
                let (outbound, relayed) = (it.endpoint.is_dialer(), it.endpoint.is_relayed());
                self.open.entry(it.peer_id).or_default().push(Open {
                    id: it.connection_id,
                    outbound,
                    relayed,
                });
            }
            FromSwarm::ConnectionClosed(ConnectionClosed { peer_id, connection_id, .. }) => {
                self.wanted_dials.retain(|it| *it != connection_id);
                if let Some(open) = self.open.get_mut(&peer_id) {
                    open.retain(|it| it.id != connection_id);
                    if open.is_empty() {
                        self.open.remove(&peer_id);
                    }
                }
            }
            FromSwarm::DialFailure(it) => self.wanted_dials.retain(|id| *id != it.connection_id),
            _ => {}
        }
    }

    fn on_connection_handler_event(&mut self, _: PeerId, _: ConnectionId, event: THandlerOutEvent<Self>) {
        match event {}
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        if let Some((peer_id, id)) = self.to_close.pop_front() {
            return Poll::Ready(ToSwarm::CloseConnection { peer_id, connection: CloseConnection::One(id) });
        }
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(id: usize, outbound: bool, relayed: bool) -> Open {
        Open { id: ConnectionId::new_unchecked(id), outbound, relayed }
    }

    fn pair() -> (PeerId, PeerId) {
        let (one, two) = (PeerId::random(), PeerId::random());
        (one.min(two), one.max(two))
    }

    #[test]
    fn both_ends_keep_the_same_one_of_two_crossed_connections() {
        let (small, large) = pair();
        // Connection 1 was opened by the smaller id, 2 by the larger one.
        for (local, remote) in [(small, large), (large, small)] {
            let ones = open(1, local == small, false);
            let twos = open(2, local == large, false);
            assert_eq!(decide(local, remote, &[ones], twos), Decision::Refuse);
            assert_eq!(decide(local, remote, &[twos], ones), Decision::Replace(vec![twos.id]));
        }
    }

    #[test]
    fn a_second_connection_from_the_same_end_is_refused() {
        let (small, large) = pair();
        for outbound in [true, false] {
            let open = [open(1, outbound, false)];
            assert_eq!(
                decide(small, large, &open, Open { id: ConnectionId::new_unchecked(2), ..open[0] }),
                Decision::Refuse
            );
        }
    }

    #[test]
    fn a_direct_connection_comes_beside_a_relayed_one_and_not_the_other_way() {
        let (small, large) = pair();
        let (relayed, direct) = (open(1, true, true), open(2, false, false));
        assert_eq!(decide(small, large, &[relayed], direct), Decision::Take);
        assert_eq!(decide(small, large, &[direct], relayed), Decision::Refuse);
        assert_eq!(decide(small, large, &[relayed, direct], open(3, false, false)), Decision::Refuse);
    }

    #[test]
    fn reserved_places_are_for_wanted_peers() {
        let mut behaviour = Behaviour::new(PeerId::random(), 1);
        let (taken, wanted, other) = (PeerId::random(), PeerId::random(), PeerId::random());
        behaviour.open.insert(taken, vec![open(1, true, false)]);
        behaviour.want(wanted);
        let id = ConnectionId::new_unchecked(9);
        assert!(behaviour.check_place(id, Some(wanted)).is_ok());
        assert!(behaviour.check_place(id, Some(other)).is_err());
        assert!(behaviour.check_place(id, None).is_err());
        let address: Multiaddr = "/memory/1".parse().unwrap();
        let options = behaviour.want_dial(address.into());
        assert!(behaviour.check_place(options.connection_id(), None).is_ok());
    }
}
