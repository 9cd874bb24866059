//! How often somebody asks.

use crate::config::Limits;
use crate::error::Result;
use zx1_server::limits::{Buckets, Client};

/// Rate limits by client.
#[derive(Debug)]
pub(crate) struct Rates {
    requests: Buckets<Client>,
    uploads: Buckets<Client>,
}

impl Rates {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { requests: Buckets::new(limits.address), uploads: Buckets::new(limits.uploads) }
    }

    /// One request.
    ///
    /// # Errors
    ///
    /// 9655
    pub(super) fn request(&self, client: Client) -> Result<()> {
        Ok(self.requests.take(client)?)
    }

    /// One upload.
    ///
    /// # Errors
    ///
    /// 9655
    pub(super) fn upload(&self, client: Client) -> Result<()> {
        Ok(self.uploads.take(client)?)
    }
}
