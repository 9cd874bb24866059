//! `zx1 register`: becoming an agent of the registry (protocol.md, 4.2; decision A3).

use crate::config_file::AgentEntry;
use crate::confirm;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::files;
use crate::keys::Key;
use crate::output::{Page, Report};
use crate::steps;
use crate::tx::{self, Sent, Shown as _};
use crate::words;
use serde::Serialize;
use solana_address::Address;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use zx1_operator::register::{Registered, Request, usual_file};
use zx1_operator::registration::MeshAddress;
use zx1_operator::steps::Step;
use zx1_operator::{Chain, Operator};
use zx1_protocol::ids::AgentId;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 register --name alice
  zx1 register --name alice --uri https://example.org/alice.json \\
      --endpoint /ip4/203.0.113.7/tcp/4001 --description 'Fixes Makefiles'

The agent is an NFT in your wallet; its holder owns the agent. zx1 writes the
registration file, with the endpoints as the service zerox1-mesh; host it at --uri.
An endpoint without /p2p/ and a peer id gets the id of the peer key. Later the node
writes its addresses into the file, and says when the hosted copy differs.
Registration costs about 0.003 SOL. With --soulbound the NFT can never be moved,
not even to rescue it from a stolen key. Next: list a key that acts for the agent
(zx1 keys), lock its stake, pay its lease, open its chain of batches.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the agent, at most 32 bytes
    #[arg(long)]
    name: String,
    /// Symbol of the NFT, at most 10 bytes
    #[arg(long, default_value = "ZX1")]
    symbol: String,
    /// URL at which you will host the registration file, at most 200 bytes
    #[arg(long, default_value = "", hide_default_value = true)]
    uri: String,
    /// Description for the registration file
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
    /// URL of an image for the registration file
    #[arg(long, default_value = "", hide_default_value = true)]
    image: String,
    /// libp2p address of the agent's node on the mesh; can be repeated up to 8 times
    #[arg(long, value_name = "MULTIADDR")]
    endpoint: Vec<String>,
    /// On-chain metadata, key up to 32 and value up to 200 bytes; can be repeated up to 10 times
    #[arg(long, value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// Output file for the registration file [default: registrations/NAME.json in zx1's folder]
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Local name for --agent [default: the name]
    #[arg(long = "as", value_name = "LOCAL_NAME")]
    local: Option<String>,
    /// Make the NFT non-transferable for ever; you must confirm by typing the agent's name
    #[arg(long)]
    soulbound: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    let local = args.local.clone().unwrap_or_else(|| args.name.clone());
    check_name(&args.name, &local)?;
    let endpoints = endpoints(&args.endpoint, context)?;
    let request = Request {
        name: args.name.clone(),
        symbol: args.symbol.clone(),
        uri: args.uri.clone(),
        description: args.description.clone(),
        image: args.image.clone(),
        endpoints,
        metadata: args.metadata.iter().map(|entry| key_value(entry)).collect::<Result<_>>()?,
        soulbound: args.soulbound,
    };
    request.check()?;
    if args.soulbound && !context.flags().dry_run && !confirm::can_ask() {
        return Err(Error::NeedsTerminal { what: "The name of a soulbound agent".to_owned() }.into());
    }
    let file = match &args.file {
        Some(file) => file.clone(),
        None => usual_file(context.home()?, &local),
    };
    context.wait(register(context, &request, &local, &file))
}

/// Refuses a name that could not be used, or that could be taken for something else.
pub(super) fn check_name(name: &str, local: &str) -> Result<()> {
    let why = if local.is_empty() {
        "it must not be empty"
    } else if Address::from_str(local).is_ok() {
        "it must not be an address"
    } else if words::plain(name) != name || words::plain(local) != local || local.contains('\n') {
        "it must not contain control characters"
    } else {
        return Ok(());
    };
    Err(Error::BadLocalName { name: local.to_owned(), why }.into())
}

/// Addresses with the peer key's id, where they have none.
fn endpoints(texts: &[String], context: &Context) -> Result<Vec<MeshAddress>> {
    let under = |key: Address| -> Result<Vec<MeshAddress>> {
        Ok(texts.iter().map(|text| MeshAddress::of(text, &key)).collect::<zx1_operator::Result<_>>()?)
    };
    // Their form is looked at before a key is read, which is needed by few.
    let checked = under(Address::default())?;
    let is_whole = texts.iter().zip(&checked).all(|(text, address)| text == address.as_str());
    if is_whole { Ok(checked) } else { under(context.message_key(false)?.address()) }
}

fn key_value(entry: &str) -> Result<(String, String)> {
    let pair = entry.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = pair.ok_or(Error::BadMetadata { entry: entry.to_owned() })?;
    Ok((key.to_owned(), value.to_owned()))
}

#[derive(Serialize)]
struct Shown<'a> {
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
    next: String,
}

impl Report for Shown<'_> {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("agent", &self.agent)
            .field("local name", &self.local_name)
            .maybe("member number", self.member_number)
            .field("owner", &self.owner)
            .field("file", &self.registration_file);
        if self.uri.is_empty() {
            page.line("No --uri was given: peers find the agent only after it announces itself on the mesh.");
        } else {
            page.line(format!("Host the file at {}.", self.uri));
        }
        page.next(&self.next);
    }
}

async fn register(context: &Context, request: &Request, local: &str, file: &Path) -> Result<()> {
    let key = context.key()?;
    let operator = context.spender().await?;
    let Some(registered) = enroll(context, (&operator, &key), request, local, file).await? else {
        return Ok(());
    };
    let Registered { sent, agent, member_number } = registered;
    let report = Shown {
        sent: &sent,
        agent: agent.to_string(),
        name: request.name.clone(),
        local_name: local.to_owned(),
        member_number,
        owner: key.address().to_string(),
        soulbound: request.soulbound,
        registration_file: files::shown(file),
        uri: request.uri.clone(),
        next: steps::command(&Step::ListKeys),
    };
    sent.finish(context, &report).await
}

/// Registers an agent, writes its registration file and remembers it. `None` where only a preview was asked for.
pub(super) async fn enroll(
    context: &Context,
    (operator, key): (&Operator, &Key),
    request: &Request,
    local: &str,
    file: &Path,
) -> Result<Option<Registered>> {
    // Limits are checked here, before anything is asked or written.
    let pending = operator.registration(request, key).await?;
    check_unknown(context, &operator.chain, local, pending.intent().as_str())?;
    request.check_file(file)?;
    if request.soulbound && !context.flags().dry_run {
        let question = "A soulbound agent can never be moved to another wallet. Type its name to continue:";
        confirm::type_exactly(question, &request.name)?;
    }
    let registered = tx::done(context, pending.send().await?)?;
    if let Some(registered) = &registered {
        request.write_file(file)?;
        remember(context, &operator.chain, local, registered.agent, &request.uri)?;
    }
    Ok(registered)
}

/// Refuses a local name that is in use for an agent of this cluster. A name that is in use on another cluster is
/// replaced, and one that an interrupted run of the same command wrote is accepted.
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

pub(super) fn remember(
    context: &Context,
    chain: &Chain,
    local: &str,
    mint: AgentId,
    uri: &str,
) -> Result<()> {
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
