//! `zx1 batch sign`.

use super::build::{message, plan, unsigned_path};
use crate::agent_files::{self, refused};
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::defaults;
use crate::errors::{Error, Result};
use crate::files;
use crate::keys::Key;
use crate::output::{Page, Report};
use serde::Serialize;
use solana_signer::Signer as _;
use std::path::{Path, PathBuf};
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati};
use zx1_log::LogHandle;
use zx1_protocol::batch::Covered;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::units::Epoch;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The batch's epoch; by default the last one that is over
    #[arg(long, value_name = "EPOCH", conflicts_with = "file")]
    epoch: Option<u64>,
    /// Print the signature over this unsigned file, and save nothing: for a key that lies elsewhere
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
}

#[derive(Serialize)]
struct Signed {
    epoch: u64,
    batch_hash: String,
    signer: String,
    signature: String,
    message: String,
    saved: bool,
}

impl Report for Signed {
    fn draw(&self, page: &mut Page) {
        page.field("epoch", self.epoch)
            .field("batch hash", &self.batch_hash)
            .field("signer", &self.signer)
            .field("signature", &self.signature);
        if self.saved {
            page.line("Saved with its data. The covered epochs take no more messages.")
                .next(format!("zx1 batch submit --epoch {}", self.epoch));
        } else {
            page.next(format!(
                "zx1 batch submit --epoch {} --signature {} --signer {}",
                self.epoch, self.signature, self.signer
            ));
        }
    }
}

/// Whether the chain takes this key's signature over a batch of the agent (decision B7).
///
/// # Errors
/// 7528 when it does not.
pub(super) async fn check_signer(
    chain: &Chain,
    agent: &Agent,
    signer: solana_address::Address,
) -> Result<()> {
    let sati = Sati::connect(&chain.client).await?;
    if sati.verify_ownership(agent.mint, signer).await? {
        return Ok(());
    }
    let delegates = sati.delegates(agent.mint).await?;
    if delegates.iter().any(|delegate| delegate.live && delegate.delegate == signer) {
        return Ok(());
    }
    Err(Error::NotASigner { key: signer.to_string(), agent: agent.shown() }.into())
}

/// Reads an unsigned batch.
pub(super) fn read_bundle(path: &Path) -> Result<Option<Vec<u8>>> {
    Ok(files::read_limited(path, defaults::MAX_LARGE_INPUT)?.map(|bytes| bytes.to_vec()))
}

/// Signs a bundle and saves it with its data, before anything is sent.
pub(crate) fn sign_and_seal(
    log: &LogHandle,
    bundle: &Bundle<'_>,
    covered: Covered,
    key: &Key,
) -> Result<[u8; 64]> {
    let checked = bundle.check().map_err(|error| refused(error.code(), &error, "zx1 batch build"))?;
    let signature: [u8; 64] = key.keypair().sign_message(&message(checked.commitment())).into();
    log.seal(bundle, covered, key.address().to_bytes(), signature)?;
    Ok(signature)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let key = context.key()?;
    if let Some(file) = &args.file {
        let bytes = files::read_needed(file, defaults::MAX_LARGE_INPUT)?;
        let name = files::shown(file);
        let next = "give the unsigned file that zx1 batch build wrote";
        let bundle =
            Bundle::decode(&bytes).map_err(|error| refused(error.code(), &error, next).in_input(&name))?;
        let checked = bundle.check().map_err(|error| refused(error.code(), &error, next).in_input(&name))?;
        let commitment = checked.commitment();
        let signature: [u8; 64] = key.keypair().sign_message(&message(commitment)).into();
        return context.print(&Signed {
            epoch: commitment.epoch.0,
            batch_hash: hex::encode(commitment.batch_hash),
            signer: key.address().to_string(),
            signature: hex::encode(signature),
            message: hex::encode(message(commitment)),
            saved: false,
        });
    }
    let agent = context.agent()?;
    let signed = context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let plan = plan(&chain, &agent, args.epoch).await?;
        let epoch = plan.covered.to;
        let path = unsigned_path(context, &agent, epoch)?;
        let bytes = read_bundle(&path)?.ok_or(Error::BatchMissing { epoch: epoch.0 })?;
        let bundle =
            Bundle::decode(&bytes).map_err(|error| refused(error.code(), &error, "zx1 batch build"))?;
        check_signer(&chain, &agent, key.address()).await?;
        let log = agent_files::open_log(context, &agent)?;
        let signature = sign_and_seal(&log, &bundle, plan.covered, &key)?;
        forget_unsigned(context, &agent, epoch)?;
        let checked = bundle.check().map_err(|error| refused(error.code(), &error, "zx1 batch build"))?;
        Ok(Signed {
            epoch: epoch.0,
            batch_hash: hex::encode(checked.commitment().batch_hash),
            signer: key.address().to_string(),
            signature: hex::encode(signature),
            message: hex::encode(message(checked.commitment())),
            saved: true,
        })
    })?;
    context.print(&signed)
}

/// Removes the unsigned file once the signed one is saved.
pub(super) fn forget_unsigned(context: &Context, agent: &Agent, epoch: Epoch) -> Result<()> {
    let path = unsigned_path(context, agent, epoch)?;
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(files::write_failed(&path, &error).into())
        }
        _ => Ok(()),
    }
}
