//! The 0x01 side of a party (decision G1): with an agent id, its contracts' envelopes travel in the chain
//! entries and are logged where `zx1 batch build` finds them. Without one nothing changes.

use crate::context::{Context, Who};
use crate::errors::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zx1_agent::bridge::{self, Bridge};

/// zx1's folder below the home folder.
const ZX1_HOME: &str = ".config/zx1";

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// zx1's folder, where it looks for agents: ZX1_HOME, or ~/.config/zx1.
fn zx1_home() -> Result<PathBuf> {
    let named = environment("ZX1_HOME").map(PathBuf::from);
    let home = named.or_else(|| environment("HOME").map(|home| Path::new(&home).join(ZX1_HOME)));
    Ok(home.ok_or(Error::NoHome)?)
}

/// The cluster that `zx1` itself uses: ZX1_URL, or `url` in its configuration.
fn zx1_cluster(home: &Path) -> Option<String> {
    environment("ZX1_URL").or_else(|| {
        // A file that zx1 cannot read is zx1's to complain about.
        let text = std::fs::read_to_string(home.join("config.toml")).ok()?;
        let table: toml::Table = toml::from_str(&text).ok()?;
        Some(table.get("url")?.as_str()?.to_owned())
    })
}

/// Opens the log of a party's agent id, if it has one.
///
/// # Errors
/// 9397, 9398, 9566: agent id or cluster are wrong or missing; 9393, 9394: the log cannot be written.
pub fn of(context: &Context, who: Who) -> Result<Option<Arc<Bridge>>> {
    let Some(text) = context.agent_id(who)? else { return Ok(None) };
    let agent = bridge::agent_id(&text)?;
    let home = zx1_home()?;
    let cluster = match context.cluster()? {
        Some(cluster) => cluster,
        None => zx1_cluster(&home).ok_or(Error::NoCluster)?,
    };
    let slots = bridge::slots_of(&cluster)?;
    let key = Arc::new(context.key(who)?);
    let bridge = Bridge::open(zx1_log::agent_dir(&home, &agent), agent, key, slots)?;
    Ok(Some(Arc::new(bridge)))
}
