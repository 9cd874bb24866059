//! Becoming an agent of the registry (protocol.md, 4.2; decision A3).

use crate::done;
use crate::error::{Error, Refusal, Result};
use crate::files;
use crate::operator::{Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde_json::{Value, json};
use solana_keypair::Keypair;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Registration, Sati, registered_mint};
use zx1_chain::rpc::{Flow, Intent};
use zx1_chain::sati::NewAgent;
use zx1_home::files::{create, folder_of, make_folder};
use zx1_protocol::ids::AgentId;

/// Largest registration file in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The service by which others find the agent on the mesh (protocol.md, 4.1).
const MESH_SERVICE: &str = "zerox1-mesh";
const MESH_VERSION: &str = "1";

/// Most bytes that SATI takes, and most entries of metadata ([`NewAgent`]).
mod limits {
    pub(super) const NAME: usize = 32;
    pub(super) const SYMBOL: usize = 10;
    pub(super) const URI: usize = 200;
    pub(super) const ENTRIES: usize = 10;
    pub(super) const KEY: usize = 32;
    pub(super) const VALUE: usize = 200;
}

/// A new agent.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Request {
    pub name: String,
    pub symbol: String,
    /// Where its owner will host the registration file.
    pub uri: String,
    /// What it does; goes into the registration file.
    pub description: String,
    /// Address of a picture; goes into the registration file.
    pub image: String,
    /// libp2p addresses at which the mesh reaches it; they go into the registration file.
    pub endpoints: Vec<String>,
    pub metadata: Vec<(String, String)>,
    /// Whether its NFT can never be moved.
    pub soulbound: bool,
}

impl Request {
    /// SATI's limits and the form of the endpoints, before anything is asked or read.
    ///
    /// # Errors
    /// 7503, 7507 and 7508.
    pub fn check(&self) -> Result<()> {
        let of_entries = self.metadata.iter().flat_map(|(key, value)| {
            [("A metadata key", key, limits::KEY), ("A metadata value", value, limits::VALUE)]
        });
        let of_agent = [
            ("The name", &self.name, limits::NAME),
            ("The symbol", &self.symbol, limits::SYMBOL),
            ("The address of the registration file", &self.uri, limits::URI),
        ];
        for (what, text, limit) in of_agent.into_iter().chain(of_entries) {
            let found = text.len();
            if found > limit {
                return Err(Refusal::TooLong { what, found, limit }.into());
            }
        }
        let (found, limit) = (self.metadata.len(), limits::ENTRIES);
        if found > limit {
            return Err(Refusal::TooManyMetadata { found, limit }.into());
        }
        self.endpoints.iter().try_for_each(|endpoint| check_multiaddr(endpoint))
    }

    /// Refuses a path that holds anything else than this registration file.
    ///
    /// # Errors
    /// 7405 when it does, 7406 when it cannot be read.
    pub fn check_file(&self, path: &Path) -> Result<()> {
        let source = || io::Error::from(io::ErrorKind::AlreadyExists);
        match files::read(path, MAX_FILE)? {
            Some(bytes) if bytes != self.file().as_bytes() => {
                Err(Error::WriteFailed { path: path.to_owned(), source: source() })
            }
            _ => Ok(()),
        }
    }

    /// Writes the registration file, unless it is there.
    ///
    /// # Errors
    /// 7405
    pub fn write_file(&self, path: &Path) -> Result<()> {
        self.check_file(path)?;
        let written = make_folder(folder_of(path)).and_then(|()| match path.exists() {
            true => Ok(()),
            false => create(path, self.file().as_bytes()),
        });
        written.map_err(|source| Error::WriteFailed { path: path.to_owned(), source })
    }

    /// The registration file: what the owner hosts (protocol.md, 4.1).
    pub fn file(&self) -> String {
        let services: Vec<Value> = self
            .endpoints
            .iter()
            .map(|endpoint| json!({ "name": MESH_SERVICE, "endpoint": endpoint, "version": MESH_VERSION }))
            .collect();
        let file = json!({
            "name": self.name,
            "description": self.description,
            "image": self.image,
            "services": services,
        });
        format!("{file:#}\n")
    }
}

/// Where the registration file of the agent of this local name lies below a home folder, unless its owner names
/// another place.
pub fn usual_file(home: &Path, name: &str) -> PathBuf {
    home.join("registrations").join(format!("{}.json", file_name(name)))
}

/// A name that is a single file name.
fn file_name(name: &str) -> String {
    let safe = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '_' };
    name.chars().map(safe).collect::<String>().trim_start_matches('.').to_owned()
}

/// A multiaddr begins with a slash and names protocols with their values; more only its own software knows.
fn check_multiaddr(text: &str) -> Result<()> {
    let parts: Vec<&str> = text.split('/').skip(1).collect();
    let first = ["ip4", "ip6", "dns", "dns4", "dns6", "dnsaddr"];
    let fits = text.starts_with('/')
        && parts.len() >= 2
        && parts.iter().all(|part| !part.is_empty())
        && parts.first().is_some_and(|part| first.contains(part))
        && !text.contains(char::is_whitespace);
    if fits { Ok(()) } else { Err(Refusal::BadMultiaddr { text: text.to_owned() }.into()) }
}

/// A registration that is ready to be sent.
pub struct Pending<'a> {
    operator: &'a Operator,
    key: &'a Wallet,
    sati: Sati,
    flow: Box<dyn Flow>,
}

/// A registered agent.
#[allow(missing_docs, reason = "the names say it")]
pub struct Registered {
    pub sent: Sent,
    /// The agent: an earlier run's transaction made another mint than this one would have.
    pub agent: AgentId,
    /// Its number in the registry.
    pub member_number: Option<u64>,
}

impl Operator {
    /// Prepares a registration; limits are checked, and nothing is sent.
    pub async fn registration<'a>(&'a self, request: &Request, key: &'a Wallet) -> Result<Pending<'a>> {
        request.check()?;
        let sati = Sati::connect(self.client()).await?;
        let agent = NewAgent {
            name: request.name.clone(),
            symbol: request.symbol.clone(),
            uri: request.uri.clone(),
            metadata: request.metadata.clone(),
            non_transferable: request.soulbound,
        };
        let (payer, mint) = (key.address(), Arc::new(Keypair::new()));
        let flow = sati.register(&Registration { payer, owner: payer, agent, mint })?;
        Ok(Pending { operator: self, key, sati, flow })
    }
}

impl Pending<'_> {
    /// The intent that identifies the registration in the outbox.
    pub fn intent(&self) -> &Intent {
        self.flow.intent()
    }

    /// Registers the agent.
    ///
    /// # Errors
    /// 7505 when it landed, and the node does not show which agent it made.
    pub async fn send(self) -> Result<Attempt<Registered>> {
        let sent = done!(self.operator.send(self.flow.as_ref(), self.key).await?);
        let missing = || Refusal::MintUnknown { signature: sent.signature.clone().unwrap_or_default() };
        let signature = sent.signature.as_ref().and_then(|text| text.parse().ok());
        let client = self.operator.client();
        let transaction = client.transaction(&signature.ok_or_else(missing)?).await?;
        let agent = registered_mint(&transaction).ok_or_else(missing)?;
        let member_number = self.sati.look_up(agent).await?.map(|record| record.member_number);
        Ok(Attempt::Done(Registered { sent, agent, member_number }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiaddrs_are_told_from_other_addresses() {
        for good in ["/ip4/203.0.113.7/tcp/4001", "/dns/a.example/udp/1/quic-v1", "/ip6/::1/tcp/1"] {
            assert!(check_multiaddr(good).is_ok(), "{good}");
        }
        for bad in ["", "/", "/ip4", "/ip4/", "https://a.example", "203.0.113.7:4001", "/ip4/1.2.3.4/tcp/ 1"]
        {
            assert!(check_multiaddr(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_name_never_leads_out_of_the_folder() {
        assert_eq!(file_name("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(file_name("alice 2"), "alice_2");
    }
}
