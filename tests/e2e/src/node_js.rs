//! The node.js that programs in JavaScript need: newer than what some systems have.

use std::path::PathBuf;

/// The modules that `scripts/setup` installed.
#[track_caller]
pub fn node_modules() -> PathBuf {
    let tools = std::env::var_os("ZX1_TOOLS").map(PathBuf::from);
    let tools = tools.unwrap_or_else(|| PathBuf::from(std::env::var("HOME").unwrap()).join(".cache/zx1"));
    let modules = tools.join("js-peer/node_modules");
    assert!(modules.is_dir(), "{} is not there: run scripts/setup", modules.display());
    modules
}

/// The node.js among these modules, else the system's.
#[track_caller]
pub fn node_js() -> PathBuf {
    let modules = node_modules();
    let own = ["x64", "arm64"].map(|kind| modules.join(format!("node-linux-{kind}/bin/node")));
    own.into_iter().find(|it| it.is_file()).unwrap_or_else(|| PathBuf::from("node"))
}
