//! A client of the local API.

mod notary;

use super::wire::{
    Acknowledge, Advert, Conversation, Draft, Heard, Identity, Inbox, MeshMap, ObservedPage, Peer, Place,
    Reputation, Send, Signed, Status, ToSign,
};
use super::{PLACE_FILE, TOKEN_FILE};
use crate::error::{Error, Refusal, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::time::Duration;
use zx1_home::files;
use zx1_net::{Endpoint, FetchError, Fetcher, Limit, Method, Options, Problem, RequestBuilder, StatusCode};
use zx1_protocol::ids::{AgentId, ConversationId};

/// Longest place file and token.
const MAX_FILE: u64 = 4_096;
/// Longest answer: a page of messages with their payloads.
const MAX_ANSWER: usize = 64 << 20;
/// How long the node may take to answer; it waits 25 s for something to sign.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);

/// The node of one agent on this machine.
#[derive(Clone, Debug)]
pub struct NodeClient {
    fetcher: Fetcher,
    token: String,
    agent: AgentId,
}

impl NodeClient {
    /// The node of the agent with this folder; nothing is asked yet.
    ///
    /// # Errors
    /// 7592 when no node has said where it serves; 7593 for a file that no node of this agent wrote.
    pub fn of(folder: &Path, agent: AgentId) -> Result<Self> {
        Self::in_folder(folder, Some(agent))
    }

    /// The node with this folder that only observes; nothing is asked yet.
    ///
    /// # Errors
    /// 7592 when no node has said where it serves; 7593 for a file that no such node wrote.
    pub fn observer(folder: &Path) -> Result<Self> {
        Self::in_folder(folder, None)
    }

    fn in_folder(folder: &Path, agent: Option<AgentId>) -> Result<Self> {
        let named = agent.map_or_else(|| folder.display().to_string(), |agent| agent.to_string());
        let absent =
            || Refusal::NodeNotRunning { agent: named.clone(), why: "it was not started".to_owned() };
        let text = |name: &str| -> Result<Vec<u8>> {
            let path = folder.join(name);
            let broken = |why: String| Refusal::NodeBroken { why: format!("{}: {why}", path.display()) };
            let read = files::read(&path, MAX_FILE).map_err(|error| broken(error.to_string()))?;
            Ok(read.ok_or_else(absent)?.to_vec())
        };
        let broken = |why: String| Refusal::NodeBroken { why };
        let place: Place = serde_json::from_slice(&text(PLACE_FILE)?)
            .map_err(|error| broken(format!("{PLACE_FILE}: {error}")))?;
        if place.agent != agent.map(|agent| agent.to_string()).unwrap_or_default() {
            return Err(broken(format!("{PLACE_FILE} is of the agent '{}'", place.agent)).into());
        }
        let token = String::from_utf8(text(TOKEN_FILE)?).map_err(|error| broken(error.to_string()))?;
        Self::at(&place.url, token.trim(), agent.unwrap_or_default())
    }

    /// The node at an address.
    ///
    /// # Errors
    /// 7593 for an address that is none.
    pub fn at(url: &str, token: &str, agent: AgentId) -> Result<Self> {
        let broken = |why: String| Refusal::NodeBroken { why };
        let endpoint = Endpoint::parse(url).map_err(|error| broken(error.to_string()))?;
        let options = Options { timeout: ANSWER_WITHIN, ..Options::default() };
        let fetcher = Fetcher::new(endpoint, options).map_err(|error| broken(error.to_string()))?;
        Ok(Self { fetcher, token: token.to_owned(), agent })
    }

    /// How it is.
    pub async fn status(&self) -> Result<Status> {
        self.get("/v1/status").await
    }

    /// Who and where it is.
    pub async fn identity(&self) -> Result<Identity> {
        self.get("/v1/identity").await
    }

    /// Its peers, the best first.
    pub async fn peers(&self) -> Result<Vec<Peer>> {
        self.get("/v1/peers").await
    }

    /// Takes a message for sending.
    pub async fn send(&self, message: &Send) -> Result<Draft> {
        self.post("/v1/send", message).await
    }

    /// One message of the outbox.
    pub async fn draft(&self, draft: u64) -> Result<Draft> {
        self.get(&format!("/v1/outbox/{draft}")).await
    }

    /// The outbox, the oldest first.
    pub async fn outbox(&self) -> Result<Vec<Draft>> {
        self.get("/v1/outbox").await
    }

    /// Takes a draft back that is not on its way.
    pub async fn take_back(&self, draft: u64) -> Result<Draft> {
        self.ask(self.request(Method::DELETE, &format!("/v1/outbox/{draft}"))).await
    }

    /// Lets those behind an unanswered message go.
    pub async fn settle(&self, draft: u64) -> Result<Draft> {
        self.ask(self.request(Method::POST, &format!("/v1/outbox/{draft}/settle"))).await
    }

    /// Received messages after this one.
    pub async fn inbox(&self, after: Option<&str>, limit: usize) -> Result<Inbox> {
        let after = after.map(|after| format!("&after={}", form(after))).unwrap_or_default();
        self.get(&format!("/v1/inbox?limit={limit}{after}")).await
    }

    /// Everything up to this message was handled.
    pub async fn acknowledge(&self, id: &str) -> Result<Inbox> {
        self.post("/v1/inbox/ack", &Acknowledge { id: id.to_owned() }).await
    }

    /// One conversation of the agent.
    pub async fn conversation(&self, id: &ConversationId) -> Result<Conversation> {
        self.get(&format!("/v1/conversations/{id}")).await
    }

    /// What agents advertise now, the newest first; with a capability only those that name it.
    pub async fn adverts(&self, want: &[String]) -> Result<Vec<Advert>> {
        let wanted: Vec<_> = want.iter().map(|cap| form(cap)).collect();
        self.get(&format!("/v1/adverts?want={}", wanted.join(","))).await
    }

    /// Agents that were heard, the latest first.
    pub async fn heard(&self) -> Result<Vec<Heard>> {
        self.get("/v1/heard").await
    }

    /// Reputation of an agent as it was heard.
    pub async fn reputation(&self, agent: &AgentId) -> Result<Reputation> {
        self.get(&format!("/v1/reputation/{agent}")).await
    }

    /// The next message that needs the deal key; `None` when there was none for 25 s.
    pub async fn to_sign(&self) -> Result<Option<ToSign>> {
        self.post("/v1/signer/next", &serde_json::json!({})).await
    }

    /// Answers such a question.
    pub async fn signed(&self, id: u64, answer: &Signed) -> Result<()> {
        let _: serde_json::Value = self.post(&format!("/v1/signer/{id}"), answer).await?;
        Ok(())
    }

    /// The mesh as a node sees it that only observes.
    pub async fn mesh(&self) -> Result<MeshMap> {
        self.get("/v1/mesh").await
    }

    /// Messages that such a node has heard after this one.
    pub async fn observed(&self, after: Option<&str>, limit: usize) -> Result<ObservedPage> {
        let after = after.map(|after| format!("&after={}", form(after))).unwrap_or_default();
        self.get(&format!("/v1/observed?limit={limit}{after}")).await
    }

    /// Asks it to stop. It answers before it has.
    pub async fn stop(&self) -> Result<()> {
        let _: serde_json::Value = self.post("/v1/stop", &serde_json::json!({})).await?;
        Ok(())
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.fetcher.request(method, path).bearer_auth(&self.token)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.ask(self.request(Method::GET, path)).await
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        self.ask(self.request(Method::POST, path).json(body)).await
    }

    async fn ask<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let answer = match self.fetcher.fetch(request, Limit::Whole(MAX_ANSWER)).await {
            Ok(answer) => answer,
            Err(FetchError::Unreachable { why }) => {
                return Err(Refusal::NodeNotRunning { agent: self.agent.to_string(), why }.into());
            }
            Err(error) => return Err(broken(error.to_string())),
        };
        if !answer.status.is_success() {
            return Err(refused(answer.status, &answer.body));
        }
        serde_json::from_slice(&answer.body).map_err(|error| broken(error.to_string()))
    }
}

fn broken(why: String) -> Error {
    Refusal::NodeBroken { why }.into()
}

fn refused(status: StatusCode, body: &[u8]) -> Error {
    if status == StatusCode::UNAUTHORIZED {
        return broken(format!("it does not accept the token in {TOKEN_FILE}"));
    }
    let problem = Problem::read(body);
    // Its next step is one over HTTP; whoever shows this names another.
    let why = if problem.detail.is_empty() { format!("it answered {status}.") } else { problem.detail };
    Refusal::NodeRefused { number: problem.code.unwrap_or_default(), why }.into()
}

/// A text as part of a query.
fn form(text: &str) -> String {
    zx1_net::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
