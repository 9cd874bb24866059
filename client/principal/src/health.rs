//! Whether what a session needs is there: the sandbox, the usual tools, the user's model, the market.

use crate::command::is_program;
use crate::{Interrupts, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_model::Named;
use zx1_net::{Endpoint, Fetcher, Limit};
use zx1_trial::WorkingFolder;

/// How long a server may take to say that it is there.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// How long the sandbox may take for a command that does nothing.
const SANDBOX_WITHIN: Duration = Duration::from_secs(30);

/// Programs that failing commands and their repairs use most.
const TOOLS: [&str; 9] = ["cc", "make", "git", "python3", "pip", "node", "npm", "cargo", "java"];

/// Runs a command that does nothing in the sandbox, over this folder.
///
/// # Errors
/// 9200 to 9299: why the sandbox does not work here.
pub fn sandbox(folder: &Path, masks: Vec<PathBuf>) -> Result<()> {
    let watch = Box::new(Interrupts::default());
    let folder = WorkingFolder::new(folder.to_owned(), "true".to_owned(), Vec::new(), masks, watch);
    folder.rehearse(SANDBOX_WITHIN)?;
    Ok(())
}

/// The usual tools on PATH, and those that are not.
pub fn tools() -> (Vec<&'static str>, Vec<&'static str>) {
    TOOLS.into_iter().partition(|tool| is_program(tool))
}

/// Asks whether a market answers at this address, without a key. The error is a clause.
///
/// # Errors
/// Why it does not.
pub async fn market(url: &str) -> Result<(), String> {
    let (is_success, body) = get(url, "/server_pubkey").await?;
    let is_market = serde_json::from_slice::<serde_json::Value>(&body)
        .is_ok_and(|body| body.get("pubkey").is_some_and(serde_json::Value::is_string));
    if is_success && is_market { Ok(()) } else { Err("it is not a market server".to_owned()) }
}

/// Asks whether a server answers at a model's address at all; nothing of the user's and no key is sent. The error is a
/// clause.
///
/// # Errors
/// Why it does not.
pub async fn model(named: &Named) -> Result<(), String> {
    match named.is_file() {
        true => Ok(()),
        false => get(&named.url, "/models").await.map(drop),
    }
}

async fn get(url: &str, path: &str) -> Result<(bool, Vec<u8>), String> {
    let endpoint = Endpoint::parse(url).map_err(|error| error.to_string())?;
    let options = zx1_net::Options {
        connect_timeout: ANSWERS_WITHIN,
        timeout: ANSWERS_WITHIN,
        ..zx1_net::Options::default()
    };
    let fetcher = Fetcher::new(endpoint, options).map_err(|error| error.to_string())?;
    let answer = fetcher.fetch(fetcher.get(path), Limit::Prefix(1 << 16)).await;
    // Without the system's number.
    let answer = answer
        .map_err(|error| error.to_string().split(" (os error").next().unwrap_or_default().to_owned())?;
    Ok((answer.status.is_success(), answer.body))
}
