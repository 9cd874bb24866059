//! The explorer in a real Chromium, over the real thing: a local Solana cluster, the market's server with
//! its embedded Nano ledger, an agent that repairs a build, the indexer that mirrors it all, and the command
//! lines `zx1` and `fix`. This is the harness; the tests are in `tests/explorer`.
//!
//! [`Browser`] speaks the DevTools protocol over a pipe, because all that the tests ask about (console,
//! content security policy, emulation, the accessibility tree, files) is only there, and a client of it for
//! a pipe is shorter than the generated code of any crate. [`Page`] is what a reader does with a page;
//! [`World`] is what the page tells of. All is blocking, and panics where a test would be wrong to go on.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod browser;
mod mesh;
mod page;
mod processes;
mod world;

pub use browser::{Browser, CHROMIUM, Session, find};
pub use mesh::Mesh;
pub use page::{Page, Seen};
pub use world::{Deals, Fix, HOSTILE, Party, World};

/// The script of axe-core, which `scripts/setup` puts into the folder of tools.
#[track_caller]
pub(crate) fn axe() -> &'static str {
    static AXE: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let tools = std::env::var_os("ZX1_TOOLS").map(std::path::PathBuf::from);
        let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
        let file =
            tools.unwrap_or_else(|| home.join(".cache/zx1")).join("axe/node_modules/axe-core/axe.min.js");
        std::fs::read_to_string(&file).unwrap_or_else(|why| {
            panic!("{}: {why}. The explorer's tests need axe-core; run scripts/setup.", file.display())
        })
    });
    &AXE
}

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// How often a condition is looked at.
pub(crate) const LOOK: std::time::Duration = std::time::Duration::from_millis(25);
