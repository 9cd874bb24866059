//! Play money on a local cluster, from `zx1-localnet`.

use crate::errors::{Error, Result};
use solana_address::Address;
use std::ffi::OsString;
use zx1_chain::rpc::Cluster;
use zx1_cli_common::sibling;
use zx1_operator::Chain;
use zx1_operator::setup::Setup;

/// SOL and USDC that a wallet gets: what an agent costs, and some days of its life.
const SOL: &str = "2";
const USDC: &str = "100";

/// Whether money on this cluster is play money that `zx1-localnet` gives.
pub(super) fn is_here(chain: &Chain) -> bool {
    let cluster: &Cluster = chain.client.cluster();
    cluster.is_local() && chain.identity.public.is_none()
}

/// What is asked for, in words.
pub(super) fn offer(setup: &Setup) -> String {
    let parts: Vec<String> = amounts(setup).iter().map(|(name, amount)| format!("{amount} {name}")).collect();
    parts.join(" and ")
}

/// Only what is missing.
fn amounts(setup: &Setup) -> Vec<(&'static str, &'static str)> {
    let sol = (setup.lamports < setup.cost.lamports).then_some(("SOL", SOL));
    let usdc = (setup.micro_usdc < setup.cost.micro_usdc).then_some(("USDC", USDC));
    sol.into_iter().chain(usdc).collect()
}

/// The command that gives it.
pub(super) fn command(wallet: &Address, setup: &Setup) -> Vec<String> {
    let amounts = amounts(setup).into_iter();
    let options =
        amounts.flat_map(|(name, amount)| [format!("--{}", name.to_lowercase()), amount.to_owned()]);
    ["fund".to_owned(), wallet.to_string()].into_iter().chain(options).collect()
}

/// Asks `zx1-localnet` for it.
///
/// # Errors
/// 7424 when it cannot be run, or when no cluster of its making answers.
pub(super) fn fund(wallet: &Address, setup: &Setup) -> Result<()> {
    let arguments = command(wallet, setup).into_iter().map(OsString::from);
    let output = sibling::run("zx1-localnet", arguments)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = crate::words::one_line(said.lines().next().unwrap_or_default(), 300);
    let why = crate::words::clause(why.trim_end_matches('.'));
    Err(Error::CannotExecute { program: "zx1-localnet fund".to_owned(), why }.into())
}
