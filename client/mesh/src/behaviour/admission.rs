//! Who gets a connection: places for wanted peers, and one connection a peer in the long run.
//!
//! [`connection_limits`](libp2p::connection_limits) counts. This behaviour adds what it cannot say: some outbound
//! places are only for peers that this node wants, and a second connection with the same peer goes after a while.
//! gossipsub keeps one queue a peer, so a second connection breaks the order of messages. It cannot be refused at
//! once: a peer that tests an address by AutoNAT opens one to a peer that is connected, hole punching does, and
//! of two dials that cross both ends would refuse the other's.

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
use std::time::Duration;
use tokio::time::Instant;

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// Only reserved places are left.
    #[error("the outbound places that are left are for wanted peers")]
    Reserved,
    /// There are as many as there may be, or a better one.
    #[error("there are enough connections to this peer")]
    Second,
}

/// An established connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    id: ConnectionId,
    outbound: bool,
    relayed: bool,
    since: Instant,
}

/// Whether a connection is taken beside those that are open: one more of its kind, but no relayed one beside a
/// direct one.
fn is_taken(open: &[Open], relayed: bool) -> bool {
    let direct = open.iter().any(|it| !it.relayed);
    let alike = open.iter().filter(|it| it.relayed == relayed).count();
    alike < 2 && !(relayed && direct)
}

/// The connections to close, of those with one peer. The first of a kind stays, and relayed ones go when there is
/// a direct one, once the last has been open for the grace. The end with the smaller peer id decides, so that
/// the two never close a different one each; the other end waits twice as long.
fn superfluous(open: &[Open], now: Instant, grace: Duration, decides: bool) -> Vec<ConnectionId> {
    let grace = if decides { grace } else { grace.saturating_mul(2) };
    let direct = open.iter().any(|it| !it.relayed);
    // They are in the order in which they were opened.
    let kept = open.iter().find(|it| !(it.relayed && direct)).map(|it| it.id);
    let old = open.last().is_some_and(|it| now.saturating_duration_since(it.since) >= grace);
    open.iter().filter(|it| old && Some(it.id) != kept).map(|it| it.id).collect()
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

    /// Connections with a peer.
    pub(crate) fn connections(&self, peer: &PeerId) -> usize {
        self.opened_with(peer).len()
    }

    /// Closes all but one connection with each peer, once the last has been open for the grace.
    pub(crate) fn settle(&mut self, now: Instant, grace: Duration) {
        for (peer, open) in &self.open {
            let close = superfluous(open, now, grace, self.local < *peer);
            self.to_close.extend(close.into_iter().map(|id| (*peer, id)));
        }
        if !self.to_close.is_empty() {
            self.wake();
        }
    }

    fn check_place(&self, id: ConnectionId, peer: Option<PeerId>) -> Result<(), ConnectionDenied> {
        // A test of an address for a connected peer must not fail for want of a place: it would be taken for the
        // address's failure.
        let wanted = self.wanted_dials.contains(&id)
            || peer.is_some_and(|it| self.is_wanted(&it) || self.open.contains_key(&it));
        let taken = self.open.values().flatten().filter(|it| it.outbound).count();
        if wanted || taken < self.unwanted_limit {
            Ok(())
        } else {
            Err(ConnectionDenied::new(Refused::Reserved))
        }
    }

    fn check_second(&self, peer: PeerId, relayed: bool) -> Result<THandler<Self>, ConnectionDenied> {
        if is_taken(self.opened_with(&peer), relayed) {
            Ok(dummy::ConnectionHandler)
        } else {
            Err(ConnectionDenied::new(Refused::Second))
        }
    }

    fn opened_with(&self, peer: &PeerId) -> &[Open] {
        self.open.get(peer).map_or(&[], Vec::as_slice)
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
        _: ConnectionId,
        peer: PeerId,
        local_address: &Multiaddr,
        remote_address: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let relayed = is_relayed(local_address) || is_relayed(remote_address);
        self.check_second(peer, relayed)
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
        self.check_second(peer, is_relayed(address))
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(it) => {
                let (id, since) = (it.connection_id, Instant::now());
                let (outbound, relayed) = (it.endpoint.is_dialer(), it.endpoint.is_relayed());
                self.open.entry(it.peer_id).or_default().push(Open { id, outbound, relayed, since });
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
        Open { id: ConnectionId::new_unchecked(id), outbound, relayed, since: Instant::now() }
    }

    const GRACE: Duration = Duration::from_secs(10);

    #[test]
    fn a_second_connection_is_taken_and_a_third_is_not() {
        let (first, second) = (open(1, true, false), open(2, false, false));
        assert!(is_taken(&[], false) && is_taken(&[first], false));
        assert!(!is_taken(&[first, second], false));
    }

    #[test]
    fn a_direct_connection_comes_beside_relayed_ones_and_not_the_other_way() {
        let (relayed, direct) = (open(1, true, true), open(2, false, false));
        assert!(is_taken(&[relayed], false) && is_taken(&[relayed], true));
        assert!(!is_taken(&[direct], true));
        assert!(is_taken(&[relayed, direct], false));
    }

    #[test]
    fn one_end_closes_the_later_connection_and_the_other_only_when_it_does_not() {
        let all = [open(1, true, false), open(2, false, false)];
        let after =
            |seconds, decides| superfluous(&all, all[1].since + Duration::from_secs(seconds), GRACE, decides);
        assert_eq!((after(9, true), after(10, false)), (vec![], vec![]));
        assert_eq!((after(10, true), after(20, false)), (vec![all[1].id], vec![all[1].id]));
    }

    #[test]
    fn relayed_connections_go_when_there_is_a_direct_one() {
        let all = [open(1, true, true), open(2, false, true), open(3, false, false)];
        let late = all[2].since + GRACE;
        assert_eq!(superfluous(&all, late, GRACE, true), [all[0].id, all[1].id]);
        assert_eq!(superfluous(&all[..1], late, GRACE, true), []);
        assert_eq!(superfluous(&[], late, GRACE, true), []);
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
