//! Which addresses are believed, and which network an address is in. Pure.

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use std::net::{IpAddr, Ipv6Addr};

/// From where an address can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Within this process.
    Process,
    /// On this machine.
    Machine,
    /// In a private network.
    Private,
    /// From everywhere. Names count as public: what they stand for is not known here.
    Public,
}

/// From where an address can be reached; of a relayed one, the relay's. `None` when nobody can dial it,
/// such as 0.0.0.0.
pub fn reach(address: &Multiaddr) -> Option<Reach> {
    match address.iter().next()? {
        Protocol::Ip4(ip) => reach_of_ip(IpAddr::V4(ip)),
        Protocol::Ip6(ip) => reach_of_ip(IpAddr::V6(ip)),
        Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name) | Protocol::Dnsaddr(name) => {
            Some(if is_local_name(&name) { Reach::Machine } else { Reach::Public })
        }
        Protocol::Memory(_) => Some(Reach::Process),
        _ => None,
    }
}

/// Whether an address that a peer gives of itself is believed. From where the peer is connected decides: a
/// stranger out in the world says nothing about addresses in a private network, ours least of all.
pub fn is_believable(address: &Multiaddr, connected_from: &Multiaddr) -> bool {
    match (reach(address), reach(connected_from)) {
        (Some(Reach::Process), Some(from)) => from == Reach::Process,
        (Some(address), Some(from)) => address >= from,
        _ => false,
    }
}

/// A network of which one party may own all addresses: a /24, or a /64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subnet {
    /// The first 24 bits.
    V4([u8; 3]),
    /// The first 64 bits.
    V6([u16; 4]),
}

/// The network of an address. `None` where many peers of one address are usual: on this machine, in this
/// process, behind a relay.
pub fn subnet(address: &Multiaddr) -> Option<Subnet> {
    if is_relayed(address) || reach(address)? <= Reach::Machine {
        return None;
    }
    match address.iter().next()? {
        Protocol::Ip4(ip) => {
            let [a, b, c, _] = ip.octets();
            Some(Subnet::V4([a, b, c]))
        }
        Protocol::Ip6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Some(Subnet::V6([a, b, c, d]))
        }
        _ => None,
    }
}

/// Whether a connection by this address goes through a relay.
pub fn is_relayed(address: &Multiaddr) -> bool {
    address.iter().any(|it| matches!(it, Protocol::P2pCircuit))
}

/// An address without the peer id at its end.
pub fn without_peer(address: &Multiaddr) -> Multiaddr {
    let mut address = address.clone();
    if let Some(Protocol::P2p(_)) = address.iter().last() {
        address.pop();
    }
    address
}

fn reach_of_ip(ip: IpAddr) -> Option<Reach> {
    let ip = match ip {
        IpAddr::V6(it) => it.to_ipv4_mapped().map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    };
    if ip.is_unspecified() || ip.is_multicast() {
        return None;
    }
    if ip.is_loopback() {
        return Some(Reach::Machine);
    }
    let private = match ip {
        IpAddr::V4(it) => {
            // 100.64.0.0/10 is between a provider and its customers.
            let shared = matches!(it.octets(), [100, 64..=127, ..]);
            it.is_private() || it.is_link_local() || shared || it.is_broadcast() || it.is_documentation()
        }
        IpAddr::V6(it) => it.is_unique_local() || it.is_unicast_link_local() || is_documentation(&it),
    };
    Some(if private { Reach::Private } else { Reach::Public })
}

/// In 2001:db8::/32, which is for examples.
fn is_documentation(ip: &Ipv6Addr) -> bool {
    matches!(ip.segments(), [0x2001, 0x0db8, ..])
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name.ends_with(".local")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_stranger_is_not_believed_about_private_networks() {
        let world = of("/ip4/9.9.9.9/tcp/4001");
        let (lan, machine, process) =
            (of("/ip4/192.168.1.2/tcp/1"), of("/ip4/127.0.0.1/tcp/1"), of("/memory/5"));
        for (address, from_world, from_lan, from_machine, from_process) in [
            ("/ip4/8.8.8.8/udp/4001/quic-v1", true, true, true, true),
            ("/dns4/node.example/tcp/4001", true, true, true, true),
            ("/ip4/10.0.0.1/tcp/4001", false, true, true, true),
            ("/ip4/100.100.0.1/tcp/4001", false, true, true, true),
            ("/ip6/fe80::1/tcp/4001", false, true, true, true),
            ("/ip6/::ffff:127.0.0.1/tcp/4001", false, false, true, true),
            ("/ip4/127.0.0.1/tcp/4001", false, false, true, true),
            ("/dns/localhost/tcp/4001", false, false, true, true),
            ("/memory/7", false, false, false, true),
            ("/ip4/0.0.0.0/tcp/4001", false, false, false, false),
            ("/unix/tmp", false, false, false, false),
        ] {
            let address = of(address);
            let found = [&world, &lan, &machine, &process].map(|from| is_believable(&address, from));
            assert_eq!(found, [from_world, from_lan, from_machine, from_process], "{address}");
        }
    }

    #[test]
    fn networks_are_24_and_64_bits_and_the_machine_is_none() {
        assert_eq!(subnet(&of("/ip4/9.8.7.6/tcp/1")), Some(Subnet::V4([9, 8, 7])));
        assert_eq!(subnet(&of("/ip6/2a01:1:2:3:4::1/tcp/1")), Some(Subnet::V6([0x2a01, 1, 2, 3])));
        assert_eq!(subnet(&of("/ip4/127.0.0.1/tcp/1")), None);
        assert_eq!(subnet(&of("/memory/1")), None);
        let relay = libp2p::PeerId::random();
        assert_eq!(subnet(&of(&format!("/ip4/9.8.7.6/tcp/1/p2p/{relay}/p2p-circuit"))), None);
    }

    #[test]
    fn a_peer_id_at_the_end_comes_off() {
        let peer = libp2p::PeerId::random();
        assert_eq!(without_peer(&of(&format!("/memory/1/p2p/{peer}"))), of("/memory/1"));
        assert_eq!(without_peer(&of("/memory/1")), of("/memory/1"));
    }
}
