//! Which addresses are of the public internet: where a stranger may send a program that others rely on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is of the public internet: not loopback, link-local, private, shared, multicast, reserved, or a
/// way of writing one of those in IPv6.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let [.., y, z] = address.segments();
    let embedded = Ipv4Addr::from((u32::from(y) << 16) | u32::from(z));
    if address.to_ipv4_mapped().is_some() || (first, second) == (0x64, 0xff9b) {
        return is_public_v4(embedded);
    }
    // Only 2000::/3 is given out; of it not documentation, 6to4, Teredo and other protocol ranges.
    first & 0xe000 == 0x2000
        && (first, second) != (0x2001, 0x0db8)
        && first != 0x2002
        && !(first == 0x2001 && second < 0x0200)
        && first != 0x3fff
}

/// The public addresses that a name stands for now. Whoever connects must use these: the name may stand for others a
/// moment later.
///
/// # Errors
/// The system's; [`std::io::ErrorKind::PermissionDenied`] when none of them is public.
#[cfg(feature = "fetch")]
pub async fn public_addresses(name: &str, port: u16) -> std::io::Result<Vec<std::net::SocketAddr>> {
    let found = tokio::net::lookup_host((name, port)).await?;
    let found: Vec<_> = found.filter(|address| is_public(address.ip())).collect();
    if found.is_empty() {
        let why = "the name has no public address";
        return Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, why));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_count() {
        let not_public = "127.0.0.1 127.9.9.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 \
            100.64.0.1 0.0.0.0 255.255.255.255 224.0.0.1 192.0.0.8 198.18.0.1 240.0.0.1 192.88.99.1 \
            203.0.113.1 ::1 :: fe80::1 fc00::1 fd12::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 \
            64:ff9b::7f00:1 2001:db8::1 2002:7f00:1:: 2001::1 ::127.0.0.1 3fff::1";
        for address in not_public.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "151.101.2.132", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
