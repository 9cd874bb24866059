//! `zx1 feedback resolve`.

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::input;
use crate::output::Page;
use crate::tx::Shown as _;
use crate::words::count;
use zx1_operator::feedback::{Resolved, commit_id};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Index of the entry
    #[arg(value_name = "INDEX")]
    index: u64,
    /// Commit id, 40 or 64 hex digits
    #[arg(long, value_name = "ID")]
    commit: String,
    /// Hash of the contract that fixed it, 64 hex digits
    #[arg(long, value_name = "HASH")]
    contract: Option<String>,
}

fn draw(resolved: &Resolved, page: &mut Page) {
    resolved.sent.draw(page);
    page.field("entry", resolved.index).field("commit", &resolved.commit);
}

fn commit_of(text: &str) -> Result<[u8; 32]> {
    let bytes = input::hex_bytes(text, "The commit")?;
    commit_id(&bytes).ok_or_else(|| {
        let found = count(bytes.len(), "byte", "bytes");
        let (what, wanted) = ("The commit".to_owned(), "20 or 32".to_owned());
        Error::WrongLength { what, found, wanted }.into()
    })
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let commit = commit_of(&args.commit)?;
    let contract = args.contract.as_deref().map(|text| input::hex_array(text, "The contract")).transpose()?;
    let key = context.key()?;
    context.wait(async {
        let operator = context.spender().await?;
        let contract = contract.unwrap_or_default();
        let resolved = operator.resolve_feedback(args.index, contract, commit, &key).await?;
        context.finish(resolved, |it| &it.sent, draw).await
    })
}
