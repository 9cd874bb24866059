//! `zx1 batch submit`.

use super::open;
use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::Page;
use crate::tx::{self, Shown as _};
use zx1_operator::batch::{Outcome, Request, Upload, Uploaded};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Epoch of the batch [default: the last one that is over]
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// Signature made on another machine, 128 hex digits (zx1 batch sign --file)
    #[arg(long, value_name = "HEX", requires = "signer")]
    signature: Option<String>,
    /// Address of the key that made the signature
    #[arg(long, value_name = "ADDRESS", requires = "signature")]
    signer: Option<String>,
    /// Place to upload the data to: a folder or an http(s) URL [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// Do not upload the data; a batch whose data is not served counts as withheld
    #[arg(long, conflicts_with = "data")]
    no_upload: bool,
}

fn draw(outcome: &Outcome, page: &mut Page) {
    let submitted = match outcome {
        Outcome::Opened(opened) => {
            open::draw(opened, page);
            return;
        }
        Outcome::Submitted(submitted) => submitted,
    };
    submitted.sent.draw(page);
    page.field("epoch", submitted.epoch);
    if submitted.covers_from != submitted.epoch {
        page.field("covers", format!("{} to {}", submitted.covers_from, submitted.epoch));
    }
    page.field("batch hash", &submitted.batch_hash);
    match &submitted.upload {
        Uploaded::Served { place, .. } => page.field("data served at", place),
        Uploaded::NotAsked => page
            .line("The data is not uploaded; until it is served, the batch counts as withheld.")
            .next(format!("zx1 batch submit --epoch {} --data FOLDER_OR_URL", submitted.epoch)),
    };
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let payer = context.key()?;
    let key = if args.signature.is_some() { context.key()? } else { context.batch_key()? };
    let signature = match (&args.signature, &args.signer) {
        (Some(signature), Some(signer)) => {
            let signature = input::hex_array::<64>(signature, "The signature")?;
            Some((input::address(signer, "The signer")?, signature))
        }
        _ => None,
    };
    // Without a place the batch would count for nothing: refused before its rent is paid.
    let store = match args.no_upload {
        true => None,
        false => Some(agent_files::need_store(context, args.data.as_deref())?),
    };
    let upload = store.as_ref().map_or(Upload::No, Upload::To);
    let request = Request { epoch: args.epoch, signature, upload };
    context.wait(async {
        let operator = context.with_second(context.spender_of(&agent).await?).await?;
        let attempt = operator.submit_batch(&agent, &payer, &key, &request).await?;
        let Some(outcome) = tx::done(context, attempt)? else { return Ok(()) };
        match &outcome {
            // What is drawn leads to the upload.
            Outcome::Submitted(it) if it.upload == Uploaded::NotAsked => context.show(&outcome, draw)?,
            _ => context.show_onward((&operator, &agent), &outcome, draw).await?,
        }
        Ok(outcome.sent().acknowledge().await?)
    })
}
