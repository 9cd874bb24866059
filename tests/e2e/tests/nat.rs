//! Agents at home, behind routers that translate addresses: real nodes, real routers, five networks that the test
//! makes itself.
//!
//! ```text
//! home1 -- router1 --+-- this network: cluster, bootstrap and relay node --+-- router2 -- home2
//! ```
//!
//! The tests run themselves again in a network of their own, where the addresses that are public by their numbers belong
//! to devices of its own: nothing leaves the machine. Routers take nothing from outside that nobody inside asked for.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::process::Command;
use zx1_e2e::{Localnet, Owner, is_inside, text, wait_for_mesh, wait_until};

/// Where everybody begins.
const PUBLIC: &str = "/ip4/11.9.9.9/tcp/4001";

/// Makes the networks. What `ip netns` keeps is in a /run that ends with the test.
const SETUP: &str = "
    PATH=$PATH:/usr/sbin:/sbin
    mount -t tmpfs none /run
    mkdir /run/netns
    ip link set lo up
    ip address add 11.9.9.9/32 dev lo
    echo 1 > /proc/sys/net/ipv4/ip_forward
    echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet
    for n in 1 2; do
        ip netns add router$n
        ip netns add home$n
        ip link add wan$n type veth peer name wan netns router$n
        ip -n router$n link add lan type veth peer name eth0 netns home$n
        ip address add 11.1.$n.1/24 dev wan$n
        ip link set wan$n up
        ip -n router$n address add 11.1.$n.2/24 dev wan
        ip -n router$n address add 192.168.$n.1/24 dev lan
        ip -n home$n address add 192.168.$n.2/24 dev eth0
        for device in lo wan lan; do ip -n router$n link set $device up; done
        for device in lo eth0; do ip -n home$n link set $device up; done
        ip -n router$n route add default via 11.1.$n.1
        ip -n home$n route add default via 192.168.$n.1
        nsenter --net=/run/netns/router$n sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
        nsenter --net=/run/netns/home$n sh -c 'echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet'
    done
";

/// Each connection gets a port of its own at the router, so that nobody can be told where to knock.
const RANDOM_PORTS: &str = "masquerade random,fully-random";
/// A connection keeps its port at the router, as at most homes.
const KEPT_PORTS: &str = "masquerade";

/// The cluster serves on loopback only: its port is passed on from the homes to here.
fn pass_cluster_on(port: &str) {
    rules(
        None,
        &format!(
            "table ip cluster {{
                 chain pre {{
                     type nat hook prerouting priority dstnat
                     ip daddr 11.9.9.9 tcp dport {port} dnat to 127.0.0.1:{port}
                 }}
             }}"
        ),
    );
    for home in ["home1", "home2"] {
        rules(
            Some(home),
            &format!(
                "table ip cluster {{
                     chain out {{
                         type nat hook output priority -100
                         ip daddr 127.0.0.1 tcp dport {port} dnat to 11.9.9.9:{port}
                     }}
                     chain post {{
                         type nat hook postrouting priority srcnat
                         ip saddr 127.0.0.1 oifname \"eth0\" masquerade
                     }}
                 }}"
            ),
        );
    }
}

/// How both routers translate addresses.
fn routers(translation: &str) {
    for router in ["router1", "router2"] {
        rules(
            Some(router),
            &format!(
                "table ip router {{
                     chain post {{
                         type nat hook postrouting priority srcnat
                         oifname \"wan\" {translation}
                     }}
                     chain in {{
                         type filter hook input priority filter
                         iifname \"wan\" ct state != {{ established, related }} drop
                     }}
                     chain through {{
                         type filter hook forward priority filter
                         iifname \"wan\" ct state != {{ established, related }} drop
                     }}
                 }}"
            ),
        );
    }
}

fn rules(network: Option<&str>, text: &str) {
    let mut command = match network {
        Some(network) => {
            let mut command = Command::new("nsenter");
            command.arg(format!("--net=/run/netns/{network}")).arg("nft");
            command
        }
        None => Command::new("nft"),
    };
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap());
    let done = command.arg(text).env("PATH", path).output().unwrap();
    assert!(done.status.success(), "{text}\n{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn agents_behind_routers_trade_by_a_relay() {
    if !is_inside("agents_behind_routers_trade_by_a_relay", &["--net", "--mount"], SETUP) {
        return;
    }
    let net = Localnet::builder().start();
    let [alice, bob, first] = homes_and_relay(&net, RANDOM_PORTS);
    // Neither can be reached but through the relay, and there is no way around it.
    trade(&alice, &bob);
    for (one, other) in [(&alice, &bob), (&bob, &alice)] {
        let address = address_of(one, other);
        assert!(address.contains("/p2p-circuit"), "{address}");
    }
    let said = bob.node.as_ref().unwrap().said();
    assert!(said.contains("a relay keeps a place for this node"), "{said}");
    assert_eq!(first.inbox().len(), 0, "the relay passes on what is not for it");
}

#[test]
fn agents_behind_routers_that_keep_ports_connect_directly_and_need_the_relay_no_more() {
    let name = "agents_behind_routers_that_keep_ports_connect_directly_and_need_the_relay_no_more";
    if !is_inside(name, &["--net", "--mount"], SETUP) {
        return;
    }
    let net = Localnet::builder().start();
    let [alice, bob, mut first] = homes_and_relay(&net, KEPT_PORTS);
    trade(&alice, &bob);
    wait_until("they are connected directly", || {
        let addresses = [address_of(&alice, &bob), address_of(&bob, &alice)];
        addresses.iter().all(|it| !it.contains("/p2p-circuit")).then_some(())
    });
    for owner in [&alice, &bob] {
        owner.node.as_ref().unwrap().wait_for("connected directly, no longer by a relay");
    }
    first.node.take().unwrap().kill9();
    trade(&bob, &alice);
}

/// Two agents at home, behind routers that translate so, and a node that they begin with and that relays for them.
fn homes_and_relay(net: &Localnet, translation: &str) -> [Owner; 3] {
    pass_cluster_on(net.rpc_url().rsplit(':').next().unwrap());
    routers(translation);
    let [mut alice, mut bob, mut first] =
        [(0, "alice"), (1, "bob"), (2, "first")].map(|(index, name)| Owner::simple(net, index, name));
    // The harness takes the part before the peer id as the address to listen on.
    first.address = format!("{PUBLIC}/p2p/");
    first.start(&["--relay", "--external", PUBLIC]);
    let relay = first.address.clone();
    for (owner, home) in [(&mut alice, "home1"), (&mut bob, "home2")] {
        owner.bootstrap = Some(relay.clone());
        owner.zx1 = owner
            .zx1
            .clone()
            .env("ZX1_NODE_LOG", "info")
            .behind(["nsenter", &format!("--net=/run/netns/{home}")]);
        start_at_home(owner, &relay);
    }
    [alice, bob, first]
}

/// Starts a node that listens at home, and at a place that the relay keeps for it.
fn start_at_home(owner: &mut Owner, relay: &str) {
    owner.address = "/ip4/0.0.0.0/tcp/4001/p2p/".to_owned();
    owner.start(&["--listen", &format!("{relay}/p2p-circuit")]);
    wait_for_mesh(owner);
    wait_until("others know where it is", || {
        let external = owner.status()["identity"]["external"].clone();
        external.as_array().unwrap().iter().any(|it| text(it).contains("/p2p-circuit")).then_some(())
    });
}

/// A deal from its first word to its end.
fn trade(buyer: &Owner, seller: &Owner) {
    let proposed = buyer.send(&["negotiate", "propose", &seller.mint, "--value", "250", "--text", "3 pages"]);
    let proposed = buyer.wait_for(proposed, "acknowledged");
    let deal = text(&proposed["conversation"]).to_owned();
    let accepted = seller.send(&["negotiate", "accept", &deal]);
    seller.wait_for(accepted, "acknowledged");
    let delivered = seller.send(&["negotiate", "deliver", &deal, "--text", "drei Seiten"]);
    seller.wait_for(delivered, "acknowledged");
    assert_eq!(buyer.phase(&deal), seller.phase(&deal));
}

/// By which address two nodes are connected.
fn address_of(one: &Owner, other: &Owner) -> String {
    let id = other.status()["identity"]["peer"].clone();
    let peers = one.peers();
    let peer = peers.iter().find(|it| it["peer"] == id).unwrap_or_else(|| panic!("not connected: {peers:?}"));
    text(&peer["address"]).to_owned()
}
