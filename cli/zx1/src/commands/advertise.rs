//! `zx1 advertise`: what the agent offers.

use crate::context::Context;
use crate::errors::{Error, Result, sentence};
use crate::node::{self, capability, draw_draft, not_negative, sized, ttl};
use zx1_operator::message::type_name;
use zx1_operator::node::wire::{self, Fields};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::mesh_payload::{Advertise, MAX_CONTRACT_LEN, MAX_SCHEMA_LEN, MAX_UNIT_LEN};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 advertise translate german --unit raw --price 250
  zx1 advertise fix --contract 'https://market.example#0123456789abcdef' --ttl 6h

The offer stands for its time; run the command again to renew it. Other nodes show it
to whoever looks for its capabilities (zx1 discover). A price binds nobody: the bid of
a conversation does.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Capabilities of the agent, in words that others look for
    #[arg(value_name = "CAP", required = true, value_parser = capability)]
    caps: Vec<String>,
    /// Name of the payload schema that the agent's other messages use
    #[arg(long, value_name = "SCHEMA", default_value = "", hide_default_value = true, value_parser = schema)]
    schema: String,
    /// Unit in which prices are counted
    #[arg(long, value_name = "UNIT", default_value = "raw", value_parser = unit)]
    unit: String,
    /// Usual price in that unit
    #[arg(long, value_name = "NUMBER", default_value = "0", allow_negative_numbers = true, value_parser = not_negative)]
    price: i128,
    /// Contract that is offered, such as https://HOST#ID
    #[arg(long, value_name = "CONTRACT", value_parser = contract)]
    contract: Option<String>,
    /// Time for which the offer stands, such as 90s, 30m or 1h, at most 24h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = ttl)]
    ttl: u32,
}

fn schema(text: &str) -> Result<String, String> {
    sized(text, 0, MAX_SCHEMA_LEN)
}

fn unit(text: &str) -> Result<String, String> {
    sized(text, 1, MAX_UNIT_LEN)
}

fn contract(text: &str) -> Result<String, String> {
    sized(text, 1, MAX_CONTRACT_LEN)
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let payload = Advertise {
        caps: args.caps.iter().map(String::as_str).collect(),
        schema: &args.schema,
        unit: &args.unit,
        price: args.price,
        contract: args.contract.as_deref(),
        ttl: args.ttl,
    };
    payload.to_payload().map_err(|error| Error::Usage { message: sentence(&error.to_string()) })?;
    let message = wire::Send {
        r#type: type_name(MsgType::Advertise),
        fields: Some(Fields::Advertise {
            caps: args.caps,
            schema: args.schema,
            unit: args.unit,
            price: args.price.to_string(),
            contract: args.contract,
            ttl: args.ttl,
        }),
        // An offer that is over by then is not sent.
        ttl_seconds: Some(args.ttl),
        ..wire::Send::default()
    };
    let client = node::client(context, &agent)?;
    let draft = context.wait(async { Ok(client.send(&message).await?) })?;
    context.show(&draft, draw_draft)
}
