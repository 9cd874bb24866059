//! As whom, and to which relay.

use crate::context::{Chosen, Context};
use crate::errors::{Error, Result};
use crate::keys::Key;
use crate::output;
use std::sync::Arc;
use zx1_home::clock::SystemClock;
use zx1_relay_client::{Client, Identity, Options, Relay};
use zx1_relay_rules::AgentId;
use zx1_relay_rules::client::Target;
use zx1_relay_rules::id::{is_channel, is_name};

/// Name of an agent without a key.
const GUEST: &str = "guest";

/// Options of all commands of `zx1 chat`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Relaying {
    /// Address of the relay, ws:// or wss:// [default: the setting relay] [env: ZX1_RELAY]
    #[arg(long, value_name = "URL")]
    relay: Option<String>,
    /// Name that others see [default: the agent's local name, or one from its id]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Take part without a key
    #[arg(long)]
    ephemeral: bool,
}

fn name(text: &str) -> Result<String, String> {
    let wanted = "expected 1 to 32 letters, digits, dashes and underscores";
    if is_name(text) { Ok(text.to_owned()) } else { Err(wanted.to_owned()) }
}

/// Reads the name of a channel, with its `#`.
pub(super) fn channel(text: &str) -> Result<String, String> {
    let wanted = "expected # and 1 to 31 letters, digits, dashes and underscores, such as '#general'";
    if is_channel(text) { Ok(text.to_owned()) } else { Err(wanted.to_owned()) }
}

/// Reads the id of an agent, with its `@`.
pub(super) fn agent(text: &str) -> Result<AgentId, String> {
    AgentId::parse(text, "agent").map_err(|_| "expected @ and the agent's id, such as @1a2b3c4d".to_owned())
}

/// Reads the name of a channel or the id of an agent.
pub(super) fn target(text: &str) -> Result<Target, String> {
    let wanted = "expected a channel such as '#general' or an agent such as @1a2b3c4d";
    Target::parse(text, "to").map_err(|_| wanted.to_owned())
}

impl Relaying {
    /// Reads the key and the settings; nothing is sent.
    pub(super) fn options(&self, context: &Context) -> Result<Options> {
        let settings = context.settings()?;
        let relay = Relay::parse(self.relay.as_deref().unwrap_or(&settings.relay.value))?;
        if !relay.is_encrypted() && !relay.is_this_machine() {
            output::warn(
                "The relay is on another machine and the connection is not encrypted: others can read it.",
            );
        }
        let identity = if self.ephemeral {
            None
        } else {
            let key = Key::read(&settings.deal_key.value)?;
            Some(Arc::new(Identity::of_seed(&key.seed())?))
        };
        let name = self.name.clone().unwrap_or_else(|| usual_name(context, identity.as_deref()));
        Ok(Options::new(relay, &name, identity, Arc::new(SystemClock)))
    }

    /// The same for what has to be signed.
    pub(super) fn signing_options(&self, context: &Context) -> Result<Options> {
        if self.ephemeral {
            let message = "Proposals are signed: leave --ephemeral out.".to_owned();
            return Err(Error::Usage { message }.into());
        }
        self.options(context)
    }
}

/// The agent's local name where it is one for the relay, too.
fn usual_name(context: &Context, identity: Option<&Identity>) -> String {
    let Some(identity) = identity else { return GUEST.to_owned() };
    let chosen = match context.chosen() {
        Ok(Chosen::One(agent)) => agent.name.clone(),
        _ => None,
    };
    chosen.filter(|name| is_name(name)).unwrap_or_else(|| format!("agent-{}", identity.id().as_str()))
}

/// A client for one exchange: when the connection is lost, the command ends.
pub(super) async fn once(mut options: Options) -> Result<Client> {
    options.waits = None;
    Ok(Client::connect(options).await?)
}
