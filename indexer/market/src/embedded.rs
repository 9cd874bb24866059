//! The embedded ledger (decision F6), or what stands for it in a build without the feature `devnet`.

use std::path::PathBuf;
use std::sync::Arc;

use nano_escrow::node::NodeApi;
use nano_escrow::{Address, Raw};

#[cfg(not(feature = "devnet"))]
use crate::error::Error;
use crate::error::Result;

/// A running embedded ledger. Clones share it.
#[cfg(feature = "devnet")]
#[derive(Clone)]
pub(crate) struct Embedded(Arc<nano_devnet::Devnet>);

#[cfg(feature = "devnet")]
impl Embedded {
    pub(crate) async fn start(folder: PathBuf) -> Result<Embedded> {
        Ok(Embedded(Arc::new(nano_devnet::Devnet::builder().folder(folder).start().await?)))
    }

    pub(crate) fn devnet(&self) -> &Arc<nano_devnet::Devnet> {
        &self.0
    }

    pub(crate) fn node(&self) -> Arc<dyn NodeApi> {
        self.0.clone()
    }

    pub(crate) fn rpc_url(&self) -> String {
        self.0.rpc_url()
    }

    pub(crate) fn ws_url(&self) -> String {
        self.0.ws_url()
    }

    pub(crate) async fn faucet(&self, account: Address, amount: Raw) -> Result<()> {
        self.0.faucet(account, amount).await?;
        Ok(())
    }

    /// Turns it off and waits until its folder is free, when this is the last clone.
    pub(crate) async fn stop(self) -> Result<()> {
        if let Some(devnet) = Arc::into_inner(self.0) {
            devnet.stop().await?;
        }
        Ok(())
    }
}

/// There is none in this build: no value of this type exists.
#[cfg(not(feature = "devnet"))]
#[derive(Clone)]
pub(crate) enum Embedded {}

#[cfg(not(feature = "devnet"))]
impl Embedded {
    /// Fails with 9426.
    pub(crate) async fn start(_: PathBuf) -> Result<Embedded> {
        Err(Error::NoDevnet)
    }

    pub(crate) fn node(&self) -> Arc<dyn NodeApi> {
        match *self {}
    }

    pub(crate) fn rpc_url(&self) -> String {
        match *self {}
    }

    pub(crate) fn ws_url(&self) -> String {
        match *self {}
    }

    pub(crate) async fn faucet(&self, _: Address, _: Raw) -> Result<()> {
        match *self {}
    }

    pub(crate) async fn stop(self) -> Result<()> {
        match self {}
    }
}
