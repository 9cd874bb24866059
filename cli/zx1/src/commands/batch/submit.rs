//! `zx1 batch submit`: what is sent was saved before, with its data; the upload can be repeated at any time.

use super::build::{build_and_keep, plan, unsigned_path};
use super::sign::{check_signer, forget_unsigned, read_bundle, sign_and_seal};
use crate::agent_files::{self, refused};
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::{Error, Result};
use crate::input;
use crate::output::{self, Page, Report};
use crate::tx::{self, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Draft;
use zx1_chain::rpc::actions::{Actions, intents};
use zx1_chain::rpc::registry::Sati;
use zx1_interface::instruction::SubmitBatch;
use zx1_log::{BatchStore as _, Put, SavedBatch};
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::signature;
use zx1_protocol::units::Epoch;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The batch's epoch; by default the last one that is over
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// Signature of a key that lies elsewhere, 128 hex digits (zx1 batch sign --file)
    #[arg(long, value_name = "HEX", requires = "signer")]
    signature: Option<String>,
    /// That key
    #[arg(long, value_name = "ADDRESS", requires = "signature")]
    signer: Option<String>,
    /// Where the data goes: a folder or an http(s) address [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// Upload nothing now; a batch without served data counts for nothing
    #[arg(long, conflicts_with = "data")]
    no_upload: bool,
}

#[derive(Serialize)]
struct Submitted {
    #[serde(flatten)]
    sent: Sent,
    agent: String,
    epoch: u64,
    batch_hash: String,
    upload: Uploaded,
}

#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum Uploaded {
    Served { place: String, new: bool },
    NotAsked,
    NoPlace,
}

impl Report for Submitted {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("epoch", self.epoch).field("batch hash", &self.batch_hash);
        match &self.upload {
            Uploaded::Served { place, .. } => {
                page.field("data served at", place);
            }
            Uploaded::NotAsked | Uploaded::NoPlace => {
                page.line("The data is not served, so the batch counts as withheld until it is.")
                    .next(format!("zx1 batch submit --epoch {} --data FOLDER_OR_URL", self.epoch));
            }
        }
    }
}

/// The saved batch of this epoch; built and signed first when there is none.
async fn saved(
    context: &Context,
    chain: &Chain,
    agent: &Agent,
    args: &Args,
    epoch: Option<u64>,
) -> Result<SavedBatch> {
    let batches = agent_files::reader(context, agent)?.batches();
    // A saved batch is taken as it is, also one that landed: a rerun then finishes its upload.
    let wanted = match epoch {
        Some(epoch) => epoch,
        None => agent_files::Now::ask(chain).await?.epoch.0.saturating_sub(1),
    };
    if let Some(saved) = batches.get(Epoch(wanted))? {
        return Ok(saved);
    }
    let plan = plan(chain, agent, epoch).await?;
    let epoch = plan.covered.to;
    if let Some(saved) = batches.get(epoch)? {
        return Ok(saved);
    }
    let log = agent_files::open_log(context, agent)?;
    if let (Some(signature), Some(signer)) = (&args.signature, &args.signer) {
        let bytes = read_bundle(&unsigned_path(context, agent, epoch)?)?
            .ok_or(Error::BatchMissing { epoch: epoch.0 })?;
        let bundle =
            Bundle::decode(&bytes).map_err(|error| refused(error.code(), &error, "zx1 batch build"))?;
        let checked = bundle.check().map_err(|error| refused(error.code(), &error, "zx1 batch build"))?;
        let signature: [u8; 64] = input::hex_array(signature, "The signature")?;
        let signer = input::address(signer, "The signer")?;
        if !signature::verify(signer.as_array(), &checked.commitment().message(), &signature) {
            return Err(Error::BadBatchSignature { signer: signer.to_string() }.into());
        }
        check_signer(chain, agent, signer).await?;
        log.seal(&bundle, plan.covered, signer.to_bytes(), signature)?;
    } else {
        let key = context.key()?;
        check_signer(chain, agent, key.address()).await?;
        let (built, _) = build_and_keep(context, chain, agent, &log, plan).await?;
        let bundle = built.bundle().map_err(|error| refused(error.code(), &error, "zx1 log list"))?;
        sign_and_seal(&log, &bundle, plan.covered, &key)?;
    }
    forget_unsigned(context, agent, epoch)?;
    batches.get(epoch)?.ok_or_else(|| Error::BatchMissing { epoch: epoch.0 }.into())
}

/// What a saved batch commits to.
pub(crate) fn commitment(
    context: &Context,
    agent: &Agent,
    saved: &SavedBatch,
) -> Result<(Commitment, Vec<u8>)> {
    let batches = agent_files::reader(context, agent)?.batches();
    let epoch = saved.epoch();
    let bytes = batches.bundle_bytes(epoch)?.ok_or(Error::BatchMissing { epoch: epoch.0 })?;
    let commitment = {
        let bundle =
            Bundle::decode(&bytes).map_err(|error| refused(error.code(), &error, "zx1 batch show"))?;
        *bundle.check().map_err(|error| refused(error.code(), &error, "zx1 batch show"))?.commitment()
    };
    Ok((commitment, bytes))
}

/// The transaction that submits a saved batch.
pub(crate) async fn draft(
    chain: &Chain,
    payer: Address,
    saved: &SavedBatch,
    commitment: &Commitment,
) -> Result<Draft> {
    let sati = Sati::connect(&chain.client).await?;
    let actions = Actions::new(&chain.client, &sati).await?;
    let arguments = SubmitBatch {
        agent_id: commitment.agent,
        epoch_number: commitment.epoch.0,
        log_merkle_root: commitment.log_merkle_root,
        log_len: commitment.log_len,
        batch_hash: commitment.batch_hash,
        arrays_root: commitment.arrays_root,
        arrays_len: commitment.arrays_len,
    };
    let signer = Address::new_from_array(saved.signer);
    Ok(actions.submit_batch(payer, &arguments, signer, &saved.signature).await?)
}

/// Uploads a batch's data; `None` when no place is known.
pub(crate) async fn upload(
    context: &Context,
    agent: &Agent,
    epoch: Epoch,
    bundle: &[u8],
    place: Option<&str>,
) -> Result<Option<(String, bool)>> {
    let Some(store) = agent_files::store(context, place)? else { return Ok(None) };
    let spinner = context.spinner(format!("Uploading {} bytes", bundle.len()));
    let put = store.put(agent.mint.as_array(), epoch, bundle).await?;
    drop(spinner);
    Ok(Some((store.describe(), put == Put::Created)))
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    // A place that does not parse is refused before money moves.
    agent_files::store(context, args.data.as_deref())?;
    if let (Some(signature), Some(signer)) = (&args.signature, &args.signer) {
        input::hex_array::<64>(signature, "The signature")?;
        input::address(signer, "The signer")?;
    }
    context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let epoch = match args.epoch {
            Some(epoch) => Some(epoch),
            None => unfinished(context, &chain, &agent).await?,
        };
        let saved = saved(context, &chain, &agent, args, epoch).await?;
        let epoch = saved.epoch();
        let (commitment, bundle) = commitment(context, &agent, &saved)?;
        let on_chain = chain.client.batch(agent.mint, epoch.0).await?;
        let sent = match &on_chain {
            Some(account) => {
                super::data::compare(account, &commitment)?;
                // An interrupted run of this command may have put it there, and waits to be shown.
                let wish = intents::submit_batch(&agent.mint, epoch.0, &commitment.batch_hash);
                match tx::earlier(context, &chain, &wish).await? {
                    Some(sent) => sent,
                    None => {
                        let why = format!("the batch of epoch {} is on chain", epoch.0);
                        Sent::nothing_to_do(context, &chain, &why)?
                    }
                }
            }
            None => {
                let flow = draft(&chain, key.address(), &saved, &commitment).await?;
                let Some(sent) = tx::run(context, &chain, &flow, &key).await? else { return Ok(()) };
                sent
            }
        };
        let upload = match args.no_upload {
            true => Uploaded::NotAsked,
            false => match upload(context, &agent, epoch, &bundle, args.data.as_deref()).await? {
                Some((place, new)) => Uploaded::Served { place, new },
                None => Uploaded::NoPlace,
            },
        };
        if matches!(upload, Uploaded::NoPlace) {
            output::warn("no place for batch data is set, so nothing was uploaded");
        }
        let report = Submitted {
            sent,
            agent: agent.mint.to_string(),
            epoch: epoch.0,
            batch_hash: hex::encode(commitment.batch_hash),
            upload,
        };
        report.sent.finish(context, &report).await
    })
}

/// The epoch of a batch that was signed here and has not landed: an interrupted run's.
async fn unfinished(context: &Context, chain: &Chain, agent: &Agent) -> Result<Option<u64>> {
    let batches = agent_files::reader(context, agent)?.batches();
    let Some(last) = batches.list()?.into_iter().max_by_key(SavedBatch::epoch) else { return Ok(None) };
    let head = chain.client.head(agent.mint).await?;
    let landed = head.is_some_and(|head| head.last_epoch >= last.epoch().0);
    let now = agent_files::Now::ask(chain).await?;
    // An older one can never land any more; the next batch covers its epochs.
    let possible = now.epoch.since(last.epoch()) <= zx1_interface::constants::MAX_BATCH_AGE_EPOCHS;
    Ok((!landed && possible).then_some(last.epoch().0))
}
