//! `zx1 keeper unit`.

use crate::context::Context;
use crate::errors::Result;
use crate::output;
use crate::service::{self, Caps};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Maximum USDC to spend per day
    #[arg(long, value_name = "USDC", default_value = "2")]
    cap: String,
    /// Maximum SOL per day for fees and rent
    #[arg(long, value_name = "SOL", default_value = "0.02")]
    fee_cap: String,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let caps = Caps::parse(&args.cap, &args.fee_cap)?;
    let agent = context.agent()?;
    let unit = service::unit(context, &agent, caps)?;
    Ok(output::write_out(unit.as_bytes())?)
}
