//! How often somebody asks.

use crate::config::Limits;
use zx1_server::limits::{Asked, Buckets, Client};

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

    /// Counts one request of a client.
    pub(super) fn request(&self, client: Client) -> Asked {
        self.requests.ask(client)
    }

    /// Counts one upload of a client.
    pub(super) fn upload(&self, client: Client) -> Asked {
        self.uploads.ask(client)
    }
}
