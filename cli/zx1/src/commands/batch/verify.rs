//! `zx1 batch verify`: everything that a batch's file claims, recomputed. Offline unless asked otherwise.

use crate::context::{self, Context};
use crate::defaults;
use crate::errors::{Failure, Result};
use crate::input;
use crate::output::{Page, Report};
use crate::words::count;
use serde::Serialize;
use zx1_operator::batch::{Verified, check_signature, checked, compare, message_for};
use zx1_operator::{Error, Origin};
use zx1_protocol::batch::BATCH_MESSAGE_LEN;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Batch file, as batch fetch writes it; - for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Signature over the batch's message, 128 hex digits
    #[arg(long, value_name = "HEX", requires_all = ["signer", "message"])]
    signature: Option<String>,
    /// Address of the key that made the signature
    #[arg(long, value_name = "ADDRESS", requires = "signature")]
    signer: Option<String>,
    /// Message that was signed, 474 hex digits
    #[arg(long, value_name = "HEX", requires = "signature")]
    message: Option<String>,
    /// Also compare with the batch on chain
    #[arg(long)]
    on_chain: bool,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    file: Verified,
    signature_checked: bool,
    chain_checked: bool,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.line("The file is valid: every root, length and hash in it is correct.")
            .field("agent", &self.file.agent)
            .field("epoch", self.file.epoch)
            .field("messages", self.file.log_len)
            .field("records", self.file.arrays_len)
            .field("log root", &self.file.log_merkle_root)
            .field("arrays root", &self.file.arrays_root)
            .field("batch hash", &self.file.batch_hash)
            .field(
                "signature",
                if self.signature_checked {
                    "valid"
                } else {
                    "not checked (--signature, --signer, --message)"
                },
            )
            .field("on chain", if self.chain_checked { "matches" } else { "not checked (--on-chain)" });
        if self.file.double_bids > 0 {
            page.line(format!(
                "{} of bids contradict each other for the same message. This can be challenged, and no answer is possible.",
                count(self.file.double_bids, "pair", "pairs")
            ))
            .next(format!(
                "zx1 challenge find --double-bids --against {} --epoch {}",
                self.file.agent, self.file.epoch
            ));
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let input = input::read(&args.file, defaults::MAX_LARGE_INPUT)?;
    let checked = checked(&input.bytes).map_err(|source| {
        Failure::from(Error::Bundle { origin: Origin::File, source }).in_input(&input.name)
    })?;
    let commitment = checked.commitment();
    if let (Some(signature), Some(signer)) = (&args.signature, &args.signer) {
        let signature: [u8; 64] = input::hex_array(signature, "The signature")?;
        let signer = input::address(signer, "The signer")?;
        let message = args.message.as_deref().unwrap_or_default();
        let message = input::hex_array::<BATCH_MESSAGE_LEN>(message, "The message")?;
        check_signature(&message_for(commitment, &message)?, signer, &signature)?;
    }
    if args.on_chain {
        let agent = commitment.agent.to_string();
        let agent = context::find_agent(&context.config()?, &agent)?;
        context.wait(async {
            let account = context.operator().await?.batch_on_chain(&agent, commitment.epoch.0).await?;
            Ok(compare(&account, commitment)?)
        })?;
    }
    let (signature_checked, chain_checked) = (args.signature.is_some(), args.on_chain);
    context.print(&Shown { file: Verified::new(&checked), signature_checked, chain_checked })
}
