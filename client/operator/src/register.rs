//! Becoming an agent of the registry (protocol.md, 4.2; decision A3).

use crate::done;
use crate::error::{Error, Refusal, Result};
use crate::files;
use crate::operator::{Operator, Wallet};
use crate::registration::{self, MAX_ADDRESSES, MAX_FILE, MeshAddress};
use crate::send::{Attempt, Sent};
use serde_json::json;
use solana_keypair::Keypair;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Registration, Sati, registered_mint};
use zx1_chain::rpc::{Flow, Intent};
use zx1_chain::sati::NewAgent;
use zx1_home::files::{create, folder_of, make_folder};
use zx1_protocol::ids::AgentId;

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
    /// Where the mesh reaches its node; they go into the registration file.
    pub endpoints: Vec<MeshAddress>,
    pub metadata: Vec<(String, String)>,
    /// Whether its NFT can never be moved.
    pub soulbound: bool,
}

impl Request {
    /// SATI's limits and the number of addresses, before anything is asked or read.
    ///
    /// # Errors
    /// 7507, 7508 and 7516.
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
        let (found, limit) = (self.endpoints.len(), MAX_ADDRESSES);
        if found > limit {
            return Err(Refusal::TooManyAddresses { found, limit }.into());
        }
        Ok(())
    }

    /// Refuses a path that holds anything else than this registration file.
    ///
    /// # Errors
    /// 7405 when it does, 7406 when it cannot be read.
    pub fn check_file(&self, path: &Path) -> Result<()> {
        let source = || io::Error::from(io::ErrorKind::AlreadyExists);
        match files::read(path, MAX_FILE as u64)? {
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
        registration::text(&json!({
            "name": self.name,
            "description": self.description,
            "image": self.image,
            "services": registration::services_of(&self.endpoints),
        }))
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
    use solana_signer::Signer as _;

    #[test]
    fn the_file_names_each_address_once_and_there_are_at_most_eight() {
        let key = Keypair::new_from_array([3; 32]).pubkey();
        let address = |port: usize| MeshAddress::of(&format!("/ip4/203.0.113.7/tcp/{port}"), &key).unwrap();
        let mut request = Request { endpoints: (1..=8).map(address).collect(), ..Request::default() };
        request.check().unwrap();
        assert_eq!(registration::mesh_addresses(request.file().as_bytes()).unwrap(), request.endpoints);
        request.endpoints.push(address(9));
        assert_eq!(request.check().unwrap_err().code(), 7516);
    }

    #[test]
    fn a_name_never_leads_out_of_the_folder() {
        assert_eq!(file_name("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(file_name("alice 2"), "alice_2");
    }
}
