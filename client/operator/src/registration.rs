//! The mesh service of a registration file: where an agent's nodes are reached (protocol.md, 4.1; wire.md, Registration
//! file). The one place that reads and writes it. Pure: files and addresses come as text.
//!
//! An address is kept as text: only who dials it knows all protocols of a multiaddr. What is looked at is that it begins
//! with an IP address or a name, and ends in the peer id of an Ed25519 key (decision I5).

use crate::error::{Refusal, Result};
use crate::identity::{key_of_peer_id, peer_id};
use serde_json::{Map, Value, json};
use std::fmt;
use std::str::FromStr;
use zx1_protocol::ids::WalletKey;

/// The service by which others find the agent on the mesh (protocol.md, 4.1).
pub const MESH_SERVICE: &str = "zerox1-mesh";
/// Version of the mesh's protocol, as the service says it.
pub const MESH_VERSION: &str = "1";
/// Most addresses of one agent; of a stranger's file later ones are not looked at.
pub const MAX_ADDRESSES: usize = 8;
/// Largest registration file in bytes.
pub const MAX_FILE: usize = 64 << 10;

/// Longest address in bytes.
const MAX_ADDRESS: usize = 512;
/// Services of a stranger's file that are looked at.
const MAX_SERVICES: usize = 64;
const PEER: &str = "/p2p/";

/// Where a node is reached: a multiaddr that ends in `/p2p/` and the node's peer id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshAddress {
    text: String,
    key: WalletKey,
}

impl MeshAddress {
    /// The address with this key's peer id at its end, unless it ends in one already.
    ///
    /// # Errors
    /// 7503
    pub fn of(text: &str, key: &WalletKey) -> Result<Self> {
        if text.rsplit_once(PEER).is_some_and(|(_, id)| !id.contains('/')) {
            text.parse()
        } else {
            let whole = format!("{}{PEER}{}", text.trim_end_matches('/'), peer_id(key));
            whole.parse().map_err(|_| Refusal::BadMultiaddr { text: text.to_owned() }.into())
        }
    }

    /// The whole address.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key that the peer id is made of: whoever answers there has it.
    pub fn key(&self) -> WalletKey {
        self.key
    }
}

impl fmt::Display for MeshAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for MeshAddress {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || Refusal::BadMultiaddr { text: text.to_owned() };
        let (place, id) = text.rsplit_once(PEER).ok_or_else(bad)?;
        let key = key_of_peer_id(id).filter(|_| is_place(place) && text.len() <= MAX_ADDRESS);
        Ok(Self { key: key.ok_or_else(bad)?, text: text.to_owned() })
    }
}

/// Names protocols with their values, an IP address or a name first; more only its own software knows.
fn is_place(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').skip(1).collect();
    let first = ["ip4", "ip6", "dns", "dns4", "dns6", "dnsaddr"];
    text.starts_with('/')
        && parts.len() >= 2
        && parts.iter().all(|part| !part.is_empty())
        && parts.first().is_some_and(|part| first.contains(part))
        && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}

/// The addresses of a registration file, in its order, at most [`MAX_ADDRESSES`]. What is no such address is passed
/// over, as others may be good.
///
/// # Errors
/// Why it is not a registration file, as a clause.
pub fn mesh_addresses(file: &[u8]) -> std::result::Result<Vec<MeshAddress>, String> {
    let file = object(file)?;
    let mut found: Vec<MeshAddress> = Vec::new();
    let services = file.get("services").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let of_mesh = services.iter().take(MAX_SERVICES).filter(|service| is_mesh(service));
    let texts = of_mesh.flat_map(|service| match service.get("endpoint") {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    });
    for address in texts.take(MAX_SERVICES).filter_map(|text| text.as_str()?.parse().ok()) {
        if found.len() < MAX_ADDRESSES && !found.contains(&address) {
            found.push(address);
        }
    }
    Ok(found)
}

/// The file with these addresses in place of those that it has; everything else of it stays. Without a file a new one
/// with nothing but the name.
///
/// # Errors
/// Why there is no such file, as a clause.
pub fn with_mesh_addresses(
    file: Option<&[u8]>,
    name: &str,
    addresses: &[MeshAddress],
) -> std::result::Result<String, String> {
    let mut file = match file {
        Some(file) => object(file)?,
        None => Map::from_iter([("name".to_owned(), json!(name))]),
    };
    let mut services = match file.remove("services") {
        Some(Value::Array(services)) => services,
        None => Vec::new(),
        Some(_) => return Err("its services are not a list".to_owned()),
    };
    services.retain(|service| !is_mesh(service));
    services.extend(services_of(addresses));
    file.insert("services".to_owned(), Value::Array(services));
    Ok(text(&Value::Object(file)))
}

/// The entries of `services` for these addresses: one each, because the document knows one address in an entry.
pub fn services_of(addresses: &[MeshAddress]) -> Vec<Value> {
    let service = |address: &MeshAddress| json!({ "name": MESH_SERVICE, "endpoint": address.as_str(), "version": MESH_VERSION });
    addresses.iter().take(MAX_ADDRESSES).map(service).collect()
}

/// A registration file as it is written.
pub fn text(file: &Value) -> String {
    format!("{file:#}\n")
}

fn object(file: &[u8]) -> std::result::Result<Map<String, Value>, String> {
    if file.len() > MAX_FILE {
        return Err(format!("it is longer than {MAX_FILE} bytes"));
    }
    match serde_json::from_slice(file) {
        Ok(Value::Object(file)) => Ok(file),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

fn is_mesh(service: &Value) -> bool {
    service.get("name").and_then(Value::as_str) == Some(MESH_SERVICE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(byte: u8) -> WalletKey {
        WalletKey::new_from_array([byte; 32])
    }

    fn address(port: u16) -> MeshAddress {
        MeshAddress::of(&format!("/ip4/203.0.113.7/tcp/{port}"), &key(7)).unwrap()
    }

    #[test]
    fn an_address_ends_in_the_peer_id_of_a_key() {
        let id = peer_id(&key(7));
        for place in ["/ip4/203.0.113.7/tcp/4001", "/dns/a.example/udp/1/quic-v1", "/ip6/::1/tcp/1"] {
            let address: MeshAddress = format!("{place}/p2p/{id}").parse().unwrap();
            assert_eq!(address.key(), key(7));
            assert_eq!(MeshAddress::of(place, &key(7)).unwrap(), address);
            assert_eq!(MeshAddress::of(address.as_str(), &key(8)).unwrap(), address, "it has one");
        }
        let relay = format!("/ip4/9.9.9.9/tcp/1/p2p/{}/p2p-circuit", peer_id(&key(1)));
        assert_eq!(MeshAddress::of(&relay, &key(7)).unwrap().key(), key(7));
        let rsa = "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N";
        for bad in [
            String::new(),
            format!("/p2p/{id}"),
            "/ip4/203.0.113.7/tcp/4001".to_owned(),
            "/ip4/203.0.113.7/tcp/4001/p2p/".to_owned(),
            "/ip4/203.0.113.7/tcp/4001/p2p/12D3KooW".to_owned(),
            format!("/ip4/203.0.113.7/tcp/4001/p2p/{rsa}"),
            format!("/ip4//p2p/{id}"),
            format!("/ip4/203.0.113.7/tcp/ 1/p2p/{id}"),
            format!("/ip4/203.0.113.7/tcp/\u{1b}[0m/p2p/{id}"),
            format!("/unix/tmp/p2p/{id}"),
            format!("203.0.113.7:4001/p2p/{id}"),
            format!("https://a.example/p2p/{id}"),
            format!("/ip4/203.0.113.7/tcp/1/p2p/{id}/"),
            format!("/dns4/{}/tcp/1/p2p/{id}", "x".repeat(MAX_ADDRESS)),
        ] {
            assert_eq!(bad.parse::<MeshAddress>().unwrap_err().code(), 7503, "{bad}");
        }
    }

    #[test]
    fn addresses_are_replaced_and_everything_else_stays() {
        let before = json!({
            "name": "alice", "image": "https://a.example/a.png", "custom": { "a": [1] },
            "services": [
                { "name": "zerox1-mesh", "endpoint": address(1).as_str(), "version": "1" },
                { "name": "web", "endpoint": "https://a.example" },
            ],
        });
        let all: Vec<_> = (2..12).map(address).collect();
        let after = with_mesh_addresses(Some(text(&before).as_bytes()), "", &all).unwrap();
        assert_eq!(mesh_addresses(after.as_bytes()).unwrap(), all[..MAX_ADDRESSES]);
        let mut file: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(file["services"][0], before["services"][1]);
        file["services"] = before["services"].clone();
        assert_eq!(file, before);
        let again = with_mesh_addresses(Some(after.as_bytes()), "", &all).unwrap();
        assert_eq!(again, after, "written twice it is the same");
        let new = with_mesh_addresses(None, "bob", &[]).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&new).unwrap(), json!({ "name": "bob", "services": [] }));
    }

    #[test]
    fn an_endpoint_is_a_text_or_a_list_and_bad_ones_hide_no_good_ones() {
        let [one, two, three] = [1, 2, 3].map(address);
        let file = json!({ "services": [
            { "name": "zerox1-mesh", "endpoint": one.as_str() },
            { "name": "zerox1-mesh", "endpoint": ["/ip4/1.2.3.4/tcp/1", two.as_str(), 7, one.as_str()] },
            { "name": "zerox1-mesh", "endpoint": null }, { "name": "zerox1-mesh" }, 5, null,
            { "name": "other", "endpoint": address(9).as_str() },
            { "name": "zerox1-mesh", "endpoint": three.as_str() },
        ]});
        assert_eq!(mesh_addresses(text(&file).as_bytes()).unwrap(), [one, two, three]);
        for none in ["{}", r#"{"services":[]}"#, r#"{"services":{}}"#, r#"{"services":"x"}"#] {
            assert_eq!(mesh_addresses(none.as_bytes()).unwrap(), [], "{none}");
        }
    }

    #[test]
    fn what_is_no_registration_file_says_why() {
        let long = format!("{{\"name\":\"{}\"}}", "x".repeat(MAX_FILE));
        let deep = "[".repeat(10_000);
        for (file, why) in [
            ("", "not JSON"),
            ("<html>", "not JSON"),
            ("[]", "not a JSON object"),
            ("7", "not a JSON object"),
            (&long, "longer than 65536 bytes"),
            (&deep, "not JSON"),
        ] {
            let said = mesh_addresses(file.as_bytes()).unwrap_err();
            assert!(said.contains(why), "{said}");
            assert!(with_mesh_addresses(Some(file.as_bytes()), "", &[]).is_err());
        }
        let said = with_mesh_addresses(Some(br#"{"services":{}}"#), "", &[]).unwrap_err();
        assert_eq!(said, "its services are not a list", "an owner's mistake is not overwritten");
    }

    #[test]
    fn a_stranger_s_file_costs_no_more_than_its_bound() {
        let all: Vec<_> = (1..=1_000).map(address).collect();
        let texts: Vec<&str> = all.iter().map(MeshAddress::as_str).collect();
        let many = json!({ "services": [{ "name": "zerox1-mesh", "endpoint": texts[..500] }] });
        assert_eq!(mesh_addresses(text(&many).as_bytes()).unwrap().len(), MAX_ADDRESSES);
        let services: Vec<Value> = (0..1_000).map(|_| json!({ "name": "x" })).collect();
        let mut late = json!({ "services": services });
        late["services"].as_array_mut().unwrap().extend(services_of(&all[..1]));
        assert_eq!(mesh_addresses(text(&late).as_bytes()).unwrap(), []);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in ".{0,80}") {
            let _ = mesh_addresses(&bytes);
            let _ = text.parse::<MeshAddress>();
            if let Err(error) = MeshAddress::of(&text, &key(7)) {
                prop_assert!(error.to_string().contains(&text), "{error}");
            }
        }
    }
}
