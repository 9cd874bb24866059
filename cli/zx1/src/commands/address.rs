//! `zx1 address`: the wallet's address, alone on its line.

use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Report};
use serde::Serialize;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 address
  zx1 address -k hot.json                   of another key
  zx1 address | xargs -I % zx1-localnet fund % --sol 1";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[derive(Serialize)]
struct Shown {
    address: String,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.raw(&self.address);
    }
}

pub(crate) fn run(_: Args, context: &Context) -> Result<()> {
    context.print(&Shown { address: context.key()?.address().to_string() })
}
