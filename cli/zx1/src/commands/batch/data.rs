//! `zx1 batch fetch`, and comparing data with the chain (decision C7).

use crate::agent_files::{self, refused};
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::{Error, Result};
use crate::files;
use crate::output::{Page, Report};
use serde::Serialize;
use solana_address::Address;
use std::path::PathBuf;
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, BatchStore as _};
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::units::Epoch;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The batch's epoch
    #[arg(long, value_name = "EPOCH")]
    epoch: u64,
    /// Where data is served: a folder or an http(s) address [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// File to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Fetched {
    agent: String,
    epoch: u64,
    bytes: usize,
    log_len: u32,
    arrays_len: u32,
    place: String,
    file: String,
}

impl Report for Fetched {
    fn draw(&self, page: &mut Page) {
        page.line("The data is the one that the batch on chain commits to.")
            .field("epoch", self.epoch)
            .field("messages", self.log_len)
            .field("records", self.arrays_len)
            .field("from", &self.place)
            .field("written to", &self.file);
    }
}

/// What a batch on chain commits to.
pub(crate) fn commitment_of(account: &BatchAccount) -> Commitment {
    Commitment {
        agent: account.agent_id,
        epoch: Epoch(account.epoch_number),
        log_merkle_root: account.log_merkle_root,
        log_len: account.log_len,
        batch_hash: account.batch_hash,
        arrays_root: account.arrays_root,
        arrays_len: account.arrays_len,
    }
}

/// Whether data is that of the batch on chain.
///
/// # Errors
/// 7524 with what differs.
pub(super) fn compare(account: &BatchAccount, data: &Commitment) -> Result<()> {
    let chain = commitment_of(account);
    let differing: Vec<&str> = [
        ("agent", chain.agent != data.agent),
        ("epoch", chain.epoch != data.epoch),
        ("log root", chain.log_merkle_root != data.log_merkle_root),
        ("log length", chain.log_len != data.log_len),
        ("batch hash", chain.batch_hash != data.batch_hash),
        ("arrays root", chain.arrays_root != data.arrays_root),
        ("arrays length", chain.arrays_len != data.arrays_len),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect();
    match differing.as_slice() {
        [] => Ok(()),
        names => Err(Error::NotOfChain { epoch: account.epoch_number, what: names.join(", ") }.into()),
    }
}

/// A batch's data from a place: its records and its log are known to be what the chain commits to. What the
/// batch says of them may be a lie (zx1 batch verify tells): that is what it can be challenged for.
///
/// # Errors
/// 7525 when the place does not serve it, 7524 when it serves something else.
pub(crate) async fn fetch(store: &AnyStore, account: &BatchAccount) -> Result<Vec<u8>> {
    let agent = Address::new_from_array(account.agent_id);
    let epoch = Epoch(account.epoch_number);
    let bytes = store.get(&account.agent_id, epoch).await?.ok_or_else(|| Error::Withheld {
        agent: agent.to_string(),
        epoch: epoch.0,
        place: store.describe(),
    })?;
    let bundle =
        Bundle::decode(&bytes).map_err(|error| refused(error.code(), &error, "ask elsewhere with --data"))?;
    bundle.check_against(&commitment_of(account)).map_err(|error| {
        let next = "ask for the data elsewhere with --data: this is not what the chain commits to";
        refused(error.code(), &error, next)
    })?;
    Ok(bytes)
}

/// Whether the bundle is the batch on chain and everything in it holds.
pub(crate) fn is_true(bytes: &[u8], account: &BatchAccount) -> bool {
    let checked = Bundle::decode(bytes).and_then(|bundle| bundle.check());
    checked.is_ok_and(|checked| *checked.commitment() == commitment_of(account))
}

/// A batch on chain.
///
/// # Errors
/// 7526 when there is none.
pub(super) async fn on_chain(chain: &Chain, agent: &Agent, epoch: u64) -> Result<Stored<BatchAccount>> {
    let account = chain.client.batch(agent.mint, epoch).await?;
    account.ok_or_else(|| Error::NoBatchOnChain { agent: agent.mint.to_string(), epoch }.into())
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let store = agent_files::need_store(context, args.data.as_deref())?;
    let taken = Error::Exists { path: files::shown(&args.out) };
    files::check_writable(&args.out, taken.clone())?;
    context.wait(async {
        let chain = context.connect().await?;
        let account = on_chain(&chain, &agent, args.epoch).await?;
        let bytes = fetch(&store, &account).await?;
        files::create_private(&args.out, &bytes, taken)?;
        context.print(&Fetched {
            agent: agent.mint.to_string(),
            epoch: args.epoch,
            bytes: bytes.len(),
            log_len: account.log_len,
            arrays_len: account.arrays_len,
            place: store.describe(),
            file: files::shown(&args.out),
        })
    })
}
