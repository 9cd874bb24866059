//! `zx1 feedback resolve`.

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::input;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use crate::words::count;
use serde::Serialize;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The entry
    #[arg(value_name = "INDEX")]
    index: u64,
    /// The commit, 40 or 64 hex digits
    #[arg(long, value_name = "ID")]
    commit: String,
    /// Hash of the contract under which it was fixed, 64 hex digits
    #[arg(long, value_name = "HASH")]
    contract: Option<String>,
}

#[derive(Serialize)]
struct Resolved {
    #[serde(flatten)]
    sent: Sent,
    index: u64,
    commit: String,
}

impl Report for Resolved {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("entry", self.index).field("commit", &self.commit);
    }
}

/// 32 bytes; a SHA-1 id is followed by zeros (decision B13).
fn commit_id(text: &str) -> Result<[u8; 32]> {
    let bytes = input::hex_bytes(text, "The commit")?;
    if bytes.len() != 20 && bytes.len() != 32 {
        let found = count(bytes.len(), "byte", "bytes");
        let (what, wanted) = ("The commit".to_owned(), "20 or 32".to_owned());
        return Err(Error::WrongLength { what, found, wanted }.into());
    }
    let mut id = [0; 32];
    for (place, byte) in id.iter_mut().zip(&bytes) {
        *place = *byte;
    }
    Ok(id)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let commit = commit_id(&args.commit)?;
    let contract = args.contract.as_deref().map(|text| input::hex_array(text, "The contract")).transpose()?;
    let key = context.key()?;
    context.wait(async {
        let chain = context.connect().await?;
        let sati = Sati::connect(&chain.client).await?;
        let actions = Actions::new(&chain.client, &sati).await?;
        let contract = contract.unwrap_or_default();
        let draft = actions.resolve_entry(key.address(), args.index, contract, commit).await?;
        let Some(sent) = tx::run(context, &chain, &draft, &key).await? else { return Ok(()) };
        let report = Resolved { sent, index: args.index, commit: args.commit.clone() };
        report.sent.finish(context, &report).await
    })
}
