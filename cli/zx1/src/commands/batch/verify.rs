//! `zx1 batch verify`: everything that a batch's file claims, recomputed. Offline unless asked otherwise.

use crate::context::{self, Context};
use crate::defaults;
use crate::errors::{Failure, Result};
use crate::input;
use crate::output::{Page, Report};
use crate::words::count;
use serde::Serialize;
use zx1_operator::batch::{check_signature, checked, compare};
use zx1_operator::{Error, Origin};
use zx1_protocol::finder::double_bids;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The batch's file, as batch fetch writes it; - is standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Signature over the batch, 128 hex digits
    #[arg(long, value_name = "HEX", requires = "signer")]
    signature: Option<String>,
    /// Whose signature it is
    #[arg(long, value_name = "ADDRESS", requires = "signature")]
    signer: Option<String>,
    /// Compare with the batch on chain as well
    #[arg(long)]
    on_chain: bool,
}

#[derive(Serialize)]
struct Verified {
    valid: bool,
    agent: String,
    epoch: u64,
    log_len: u32,
    log_merkle_root: String,
    arrays_len: u32,
    arrays_root: String,
    batch_hash: String,
    signature_checked: bool,
    chain_checked: bool,
    double_bids: usize,
}

impl Report for Verified {
    fn draw(&self, page: &mut Page) {
        page.line("The file holds together: every root, length and hash in it is right.")
            .field("agent", &self.agent)
            .field("epoch", self.epoch)
            .field("messages", self.log_len)
            .field("records", self.arrays_len)
            .field("log root", &self.log_merkle_root)
            .field("arrays root", &self.arrays_root)
            .field("batch hash", &self.batch_hash)
            .field(
                "signature",
                if self.signature_checked { "valid" } else { "not checked (--signature, --signer)" },
            )
            .field("on chain", if self.chain_checked { "the same" } else { "not asked (--on-chain)" });
        if self.double_bids > 0 {
            page.line(format!(
                "{} of bids contradict each other for one deal. Nothing answers that: it can be challenged.",
                count(self.double_bids, "pair", "pairs")
            ))
            .next(format!(
                "zx1 challenge find --double-bids --against {} --epoch {}",
                self.agent, self.epoch
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
        check_signature(commitment, signer, &signature)?;
    }
    let agent = commitment.agent;
    if args.on_chain {
        let agent = context::find_agent(&context.config()?, &agent.to_string())?;
        context.wait(async {
            let account = context.operator().await?.batch_on_chain(&agent, commitment.epoch.0).await?;
            Ok(compare(&account, commitment)?)
        })?;
    }
    context.print(&Verified {
        valid: true,
        agent: agent.to_string(),
        epoch: commitment.epoch.0,
        log_len: commitment.log_len,
        log_merkle_root: hex::encode(commitment.log_merkle_root),
        arrays_len: commitment.arrays_len,
        arrays_root: hex::encode(commitment.arrays_root),
        batch_hash: hex::encode(commitment.batch_hash),
        signature_checked: args.signature.is_some(),
        chain_checked: args.on_chain,
        double_bids: double_bids(&checked).count(),
    })
}
