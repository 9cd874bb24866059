//! `zx1 register`: becoming an agent of the registry (protocol.md, 4.2; decision A3).

use crate::chain::Chain;
use crate::config_file::AgentEntry;
use crate::confirm;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::files;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use crate::words;
use serde::Serialize;
use serde_json::{Value, json};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signature::Signature;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Registration, Sati, registered_mint};
use zx1_chain::sati::NewAgent;

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

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 register --name alice
  zx1 register --name alice --uri https://example.org/alice.json \\
      --endpoint /ip4/203.0.113.7/tcp/4001 --description 'Fixes Makefiles'

Your agent is an NFT in your wallet: whoever holds it owns the agent. zx1 writes
the registration file, with the endpoint as the service zerox1-mesh; host it
where --uri says. Registration costs about 0.003 SOL. With --soulbound the NFT
can never be moved, not even to save it from a stolen key.";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent's name, at most 32 bytes
    #[arg(long)]
    name: String,
    /// Its symbol, at most 10 bytes
    #[arg(long, default_value = "ZX1")]
    symbol: String,
    /// Where you will host the registration file, at most 200 bytes
    #[arg(long, default_value = "", hide_default_value = true)]
    uri: String,
    /// What it does, in a sentence; goes into the registration file
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
    /// Address of a picture; goes into the registration file
    #[arg(long, default_value = "", hide_default_value = true)]
    image: String,
    /// libp2p address at which the mesh reaches it; may be given several times
    #[arg(long, value_name = "MULTIADDR")]
    endpoint: Vec<String>,
    /// An entry on chain, at most 10 of 32 and 200 bytes; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// Where to write the registration file [default: NAME.json in zx1's folder registrations]
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Local name for --agent [default: the name]
    #[arg(long = "as", value_name = "LOCAL_NAME")]
    local: Option<String>,
    /// Make it impossible to ever move the NFT; you have to type the agent's name
    #[arg(long)]
    soulbound: bool,
}

/// Does it.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let local = args.local.clone().unwrap_or_else(|| args.name.clone());
    let why = if local.is_empty() {
        Some("it is empty")
    } else if Address::from_str(&local).is_ok() {
        Some("it is an address")
    } else if words::plain(&args.name) != args.name || words::plain(&local) != local || local.contains('\n') {
        Some("it holds characters that steer a terminal")
    } else {
        None
    };
    if let Some(why) = why {
        return Err(Error::BadLocalName { name: local, why }.into());
    }
    check_lengths(&args)?;
    for endpoint in &args.endpoint {
        check_multiaddr(endpoint)?;
    }
    if args.soulbound && !context.flags().dry_run && !confirm::can_ask() {
        return Err(Error::NeedsTerminal { what: "The name of a soulbound agent".to_owned() }.into());
    }
    let agent = NewAgent {
        name: args.name.clone(),
        symbol: args.symbol.clone(),
        uri: args.uri.clone(),
        metadata: args.metadata.iter().map(|entry| key_value(entry)).collect::<Result<_>>()?,
        non_transferable: args.soulbound,
    };
    let file = match &args.file {
        Some(file) => file.clone(),
        None => context.home()?.join("registrations").join(format!("{}.json", file_name(&local))),
    };
    context.wait(register(context, &args, &local, agent, &file))
}

/// SATI's limits, before anything is asked or read.
fn check_lengths(args: &Args) -> Result<()> {
    let entries: Vec<&str> = args.metadata.iter().map(String::as_str).collect();
    let pairs = entries.iter().filter_map(|entry| entry.split_once('='));
    let of_entries = pairs.flat_map(|(key, value)| {
        [("A metadata key", key, limits::KEY), ("A metadata value", value, limits::VALUE)]
    });
    let of_agent = [
        ("The name", args.name.as_str(), limits::NAME),
        ("The symbol", args.symbol.as_str(), limits::SYMBOL),
        ("The address of the registration file", args.uri.as_str(), limits::URI),
    ];
    for (what, text, limit) in of_agent.into_iter().chain(of_entries) {
        let found = text.len();
        if found > limit {
            return Err(Error::TooLong { what: what.to_owned(), found, limit }.into());
        }
    }
    let (found, limit) = (entries.len(), limits::ENTRIES);
    if found > limit { Err(Error::TooManyMetadata { found, limit }.into()) } else { Ok(()) }
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
    if fits { Ok(()) } else { Err(Error::BadMultiaddr { text: text.to_owned() }.into()) }
}

fn key_value(entry: &str) -> Result<(String, String)> {
    let pair = entry.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or(Error::BadMetadata { entry: entry.to_owned() })?;
    Ok((key.to_owned(), value.to_owned()))
}

/// The registration file: what the owner hosts (protocol.md, 4.1).
fn registration_file(args: &Args) -> Result<Vec<u8>> {
    let services: Vec<Value> = args
        .endpoint
        .iter()
        .map(|endpoint| json!({ "name": MESH_SERVICE, "endpoint": endpoint, "version": MESH_VERSION }))
        .collect();
    let file = json!({
        "name": args.name,
        "description": args.description,
        "image": args.image,
        "services": services,
    });
    let text = serde_json::to_string_pretty(&file);
    let text = text.map_err(|error| Error::Usage { message: error.to_string() })?;
    Ok((text + "\n").into_bytes())
}

#[derive(Serialize)]
struct Registered<'a> {
    #[serde(flatten)]
    sent: &'a Sent,
    agent: String,
    name: String,
    local_name: String,
    member_number: Option<u64>,
    owner: String,
    soulbound: bool,
    registration_file: String,
    uri: String,
}

impl Report for Registered<'_> {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("agent", &self.agent)
            .field("local name", &self.local_name)
            .maybe("member number", self.member_number)
            .field("owner", &self.owner)
            .field("file", &self.registration_file);
        if self.uri.is_empty() {
            page.line("It has no --uri: the mesh finds it only once it is announced there.");
        } else {
            page.line(format!("Host the file at {}.", self.uri));
        }
        page.next("zx1 stake lock 10");
    }
}

async fn register(context: &Context, args: &Args, local: &str, agent: NewAgent, file: &Path) -> Result<()> {
    let key = context.key()?;
    let chain = context.connect().await?;
    let registry = Sati::connect(&chain.client).await?;
    let (uri, soulbound) = (agent.uri.clone(), agent.non_transferable);
    let wish =
        Registration { payer: key.address(), owner: key.address(), agent, mint: Arc::new(Keypair::new()) };
    // Limits are checked here, before anything is asked or written.
    let flow = registry.register(&wish)?;
    check_unknown(context, &chain, local, flow.intent().as_str())?;
    let content = registration_file(args)?;
    check_file(file, &content)?;
    let flags = context.flags();
    if soulbound && !flags.dry_run {
        let question = "A soulbound agent can never be moved to another wallet. Type its name to go on:";
        confirm::type_exactly(question, &args.name)?;
    }
    let Some(sent) = tx::run(context, &chain, flow.as_ref(), &key).await? else { return Ok(()) };
    // An earlier run's transaction made another mint than the one in hand.
    let mint = landed_mint(&chain, &sent).await?;
    write_file(file, &content)?;
    remember(context, &chain, local, mint, &uri)?;
    let member_number = registry.look_up(mint).await?.map(|record| record.member_number);
    let report = Registered {
        sent: &sent,
        agent: mint.to_string(),
        name: args.name.clone(),
        local_name: local.to_owned(),
        member_number,
        owner: key.address().to_string(),
        soulbound,
        registration_file: files::shown(file),
        uri,
    };
    sent.finish(context, &report).await
}

/// Refuses a local name that stands for an agent of this cluster; one of another cluster gives way. A name
/// that an interrupted run of the same command has written is no obstacle.
fn check_unknown(context: &Context, chain: &Chain, local: &str, intent: &str) -> Result<()> {
    let config = context.config()?;
    let genesis = &chain.identity.genesis;
    let here = |entry: &&AgentEntry| entry.genesis.as_ref().is_none_or(|known| known == genesis);
    if config.agents.get(local).filter(here).is_none() {
        return Ok(());
    }
    let records = tx::outbox(context)?.records()?;
    if records.iter().any(|record| record.intent == intent && record.genesis == *genesis) {
        return Ok(());
    }
    Err(Error::AgentNameTaken { name: local.to_owned() }.into())
}

async fn landed_mint(chain: &Chain, sent: &Sent) -> Result<Address> {
    let missing = || Error::MintUnknown { signature: sent.signature.clone().unwrap_or_default() };
    let signature = sent.signature.as_ref().and_then(|text| Signature::from_str(text).ok());
    let transaction = chain.client.transaction(&signature.ok_or_else(missing)?).await?;
    Ok(registered_mint(&transaction).ok_or_else(missing)?)
}

fn check_file(path: &Path, content: &[u8]) -> Result<()> {
    if path.is_dir() {
        return Err(files::folder(path).into());
    }
    match files::read_limited(path, crate::defaults::MAX_INPUT)? {
        Some(bytes) if bytes.as_slice() != content => Err(Error::Exists { path: files::shown(path) }.into()),
        _ => Ok(()),
    }
}

fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    files::create_private(path, content, Error::Exists { path: files::shown(path) })
}

fn remember(context: &Context, chain: &Chain, local: &str, mint: Address, uri: &str) -> Result<()> {
    context.update_config(|config| {
        let entry = AgentEntry {
            mint: mint.to_string(),
            genesis: Some(chain.identity.genesis.clone()),
            uri: (!uri.is_empty()).then(|| uri.to_owned()),
        };
        config.agents.insert(local.to_owned(), entry);
        Ok(())
    })
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
