//! `zx1 batch sign`.

use crate::context::Context;
use crate::defaults;
use crate::errors::{Failure, Result};
use crate::files;
use crate::input;
use crate::output::Page;
use std::path::PathBuf;
use zx1_operator::batch::{Signed, sign_file};
use zx1_protocol::batch::BATCH_MESSAGE_LEN;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Epoch of the batch [default: the last one that is over]
    #[arg(long, value_name = "EPOCH", conflicts_with = "file")]
    epoch: Option<u64>,
    /// Sign this unsigned file and print the signature, without saving anything: for a key on another machine
    #[arg(long, value_name = "PATH", requires = "message")]
    file: Option<PathBuf>,
    /// Message to sign for that file, 474 hex digits, as zx1 batch build printed it
    #[arg(long, value_name = "HEX", requires = "file")]
    message: Option<String>,
}

fn draw(signed: &Signed, page: &mut Page) {
    page.field("epoch", signed.epoch)
        .field("batch hash", &signed.batch_hash)
        .field("signer", &signed.signer)
        .field("signature", &signed.signature);
    if signed.saved {
        page.line("Saved with its data. The covered epochs accept no more messages.")
            .next(format!("zx1 batch submit --epoch {}", signed.epoch));
    } else {
        page.next(format!(
            "zx1 batch submit --epoch {} --signature {} --signer {}",
            signed.epoch, signed.signature, signed.signer
        ));
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let key = context.batch_key()?;
    let signed = match &args.file {
        Some(file) => {
            let message = args.message.as_deref().unwrap_or_default();
            let message = input::hex_array::<BATCH_MESSAGE_LEN>(message, "The message")?;
            let bytes = files::read_needed(file, defaults::MAX_LARGE_INPUT)?;
            sign_file(&bytes, &message, &key).map_err(|error| {
                let next = "give the unsigned file that zx1 batch build wrote";
                Failure::from(error).next(next).in_input(&files::shown(file))
            })?
        }
        None => {
            let agent = context.agent()?;
            context.wait(async {
                let operator = context.with_second(context.operator_of(&agent).await?).await?;
                Ok(operator.sign_batch(&agent, &key, args.epoch).await?)
            })?
        }
    };
    context.show(&signed, draw)
}
