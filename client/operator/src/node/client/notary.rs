//! Notaries and ratings.

use super::NodeClient;
use crate::error::Result;
use crate::node::wire::{AskNotary, ChooseNotary, Desk, Draft, Judge, Rate, Search, Serve};
use zx1_net::Method;
use zx1_protocol::ids::ConversationId;

impl NodeClient {
    /// Looks for the notary of a task.
    pub async fn ask_notary(&self, request: &AskNotary) -> Result<Search> {
        self.post("/v1/notary/ask", request).await
    }

    /// Searches for notaries, by conversation.
    pub async fn searches(&self) -> Result<Vec<Search>> {
        self.get("/v1/notary/searches").await
    }

    /// The search of one conversation.
    pub async fn search(&self, id: &ConversationId) -> Result<Search> {
        self.get(&format!("/v1/notary/searches/{id}")).await
    }

    /// Chooses among the offers.
    pub async fn choose_notary(&self, choice: &ChooseNotary) -> Result<Search> {
        self.post("/v1/notary/choose", choice).await
    }

    /// Offers to be a notary from now on, also after a restart.
    pub async fn serve_notary(&self, terms: &Serve) -> Result<Option<Serve>> {
        self.post("/v1/notary/serve", terms).await
    }

    /// The terms of its offers; `None` while it makes none.
    pub async fn notary_terms(&self) -> Result<Option<Serve>> {
        self.get("/v1/notary/serve").await
    }

    /// Makes no further offers.
    pub async fn stop_notary(&self) -> Result<Option<Serve>> {
        self.ask(self.request(Method::DELETE, "/v1/notary/serve")).await
    }

    /// Tasks of the agent as a notary, by conversation.
    pub async fn desks(&self) -> Result<Vec<Desk>> {
        self.get("/v1/notary/desks").await
    }

    /// One task, with the payloads that were shown.
    pub async fn desk(&self, id: &ConversationId) -> Result<Desk> {
        self.get(&format!("/v1/notary/desks/{id}")).await
    }

    /// Gives a VERDICT.
    pub async fn judge(&self, judgement: &Judge) -> Result<Desk> {
        self.post("/v1/notary/judge", judgement).await
    }

    /// Gives a rating.
    pub async fn rate(&self, rating: &Rate) -> Result<Draft> {
        self.post("/v1/rate", rating).await
    }
}
