//! How clients write their frames: the inverse of [`Frame::parse`].

use crate::client::{Admin, Frame, Query, Target};
use crate::id::AgentId;
use crate::json::Value;
use crate::signing::Terms;

/// The fields of a frame in their order. What is absent is left out.
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn of(kind: &str) -> Fields {
        Fields(vec![("type".to_owned(), kind.into())])
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Fields {
        self.0.push((name.to_owned(), value.into()));
        self
    }

    fn maybe(self, name: &str, value: Option<impl Into<Value>>) -> Fields {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    fn text(self, name: &str, value: &Option<String>) -> Fields {
        self.maybe(name, value.as_deref())
    }

    fn agent(self, name: &str, id: &AgentId) -> Fields {
        self.with(name, id.to_string())
    }
}

impl Frame {
    /// The frame as a client sends it.
    pub fn encode(&self) -> String {
        Value::Object(fields(self).0).stringify()
    }
}

impl Query {
    /// The object that asks for this, as `query` of SEARCH_SKILLS.
    pub fn to_value(&self) -> Value {
        let fields = Fields(Vec::new())
            .text("capability", &self.capability)
            .maybe("max_rate", self.max_rate)
            .text("currency", &self.currency)
            .with("limit", self.limit);
        Value::Object(fields.0)
    }
}

fn fields(frame: &Frame) -> Fields {
    match frame {
        Frame::Identify { name, pubkey } => {
            Fields::of("IDENTIFY").with("name", name.as_str()).text("pubkey", pubkey)
        }
        Frame::VerifyIdentity { challenge_id, signature, timestamp } => Fields::of("VERIFY_IDENTITY")
            .with("challenge_id", challenge_id.as_str())
            .with("signature", signature.as_str())
            .with("timestamp", *timestamp),
        Frame::Join { channel } => Fields::of("JOIN").with("channel", channel.as_str()),
        Frame::Leave { channel } => Fields::of("LEAVE").with("channel", channel.as_str()),
        Frame::ListAgents { channel, after } => {
            Fields::of("LIST_AGENTS").with("channel", channel.as_str()).text("after", after)
        }
        Frame::ListChannels => Fields::of("LIST_CHANNELS"),
        Frame::CreateChannel { channel, invite_only } => {
            let invite_only = invite_only.then_some(true);
            Fields::of("CREATE_CHANNEL").with("channel", channel.as_str()).maybe("invite_only", invite_only)
        }
        Frame::Invite { channel, agent } => {
            Fields::of("INVITE").with("channel", channel.as_str()).agent("agent", agent)
        }
        Frame::Typing { channel } => Fields::of("TYPING").with("channel", channel.as_str()),
        Frame::Ping => Fields::of("PING"),
        Frame::Msg { to, content, sig } => {
            Fields::of("MSG").with("to", to.to_string()).with("content", content.as_str()).text("sig", sig)
        }
        Frame::FileChunk { to, content } => {
            Fields::of("FILE_CHUNK").agent("to", to).with("content", content.as_str())
        }
        Frame::Proposal { terms, sig, zx1_sig, envelope, .. } => {
            proposal(terms).text("sig", sig).text("zx1_sig", zx1_sig).text("envelope", envelope)
        }
        Frame::Accept { proposal_id, payment_code, elo_stake, sig, envelope } => Fields::of("ACCEPT")
            .with("proposal_id", proposal_id.as_str())
            .text("payment_code", payment_code)
            .maybe("elo_stake", *elo_stake)
            .text("sig", sig)
            .text("envelope", envelope),
        Frame::Reject { proposal_id, reason, sig, envelope } => Fields::of("REJECT")
            .with("proposal_id", proposal_id.as_str())
            .text("reason", reason)
            .text("sig", sig)
            .text("envelope", envelope),
        Frame::Complete { proposal_id, proof, sig, envelope } => Fields::of("COMPLETE")
            .with("proposal_id", proposal_id.as_str())
            .text("proof", proof)
            .text("sig", sig)
            .text("envelope", envelope),
        Frame::Dispute { proposal_id, reason, sig, envelope } => Fields::of("DISPUTE")
            .with("proposal_id", proposal_id.as_str())
            .with("reason", reason.as_str())
            .text("sig", sig)
            .text("envelope", envelope),
        Frame::SetPresence { status, status_text } => {
            Fields::of("SET_PRESENCE").with("status", status.as_str()).text("status_text", status_text)
        }
        Frame::SetNick { nick } => Fields::of("SET_NICK").with("nick", nick.as_str()),
        Frame::VerifyRequest { target, nonce } => {
            Fields::of("VERIFY_REQUEST").agent("target", target).with("nonce", nonce.as_str())
        }
        Frame::VerifyResponse { request_id, nonce, sig } => Fields::of("VERIFY_RESPONSE")
            .with("request_id", request_id.as_str())
            .with("nonce", nonce.as_str())
            .with("sig", sig.as_str()),
        Frame::RegisterSkills { sent, sig, .. } => {
            Fields::of("REGISTER_SKILLS").with("skills", sent.clone()).text("sig", sig)
        }
        Frame::SearchSkills { sent, query_id, .. } => {
            Fields::of("SEARCH_SKILLS").with("query", sent.clone()).text("query_id", query_id)
        }
        Frame::Admin { action, admin_key } => admin(action).with("admin_key", admin_key.as_str()),
    }
}

fn proposal(terms: &Terms) -> Fields {
    Fields::of("PROPOSAL")
        .with("to", terms.to.as_str())
        .with("task", terms.task.as_str())
        .maybe("amount", terms.amount)
        .text("currency", &terms.currency)
        .text("payment_code", &terms.payment_code)
        .text("terms", &terms.terms)
        .maybe("expires", terms.expires)
        .maybe("elo_stake", terms.elo_stake)
        .text("contract", &terms.contract)
        .text("conversation", &terms.conversation)
}

fn admin(action: &Admin) -> Fields {
    match action {
        Admin::Approve { pubkey, note } => {
            Fields::of("ADMIN_APPROVE").with("pubkey", pubkey.as_str()).text("note", note)
        }
        Admin::Revoke { pubkey, agent } => Fields::of("ADMIN_REVOKE")
            .text("pubkey", pubkey)
            .maybe("agent_id", agent.as_ref().map(ToString::to_string)),
        Admin::List => Fields::of("ADMIN_LIST"),
        Admin::Kick { agent, reason } => {
            Fields::of("ADMIN_KICK").agent("agent_id", agent).text("reason", reason)
        }
        Admin::Ban { agent, reason } => {
            Fields::of("ADMIN_BAN").agent("agent_id", agent).text("reason", reason)
        }
        Admin::Unban { agent } => Fields::of("ADMIN_UNBAN").agent("agent_id", agent),
        Admin::Rule { proposal_id, winner } => Fields::of("ADMIN_RULE")
            .with("proposal_id", proposal_id.as_str())
            .maybe("winner", winner.as_ref().map(ToString::to_string)),
    }
}

impl std::fmt::Display for Target {
    /// As `to` has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Channel(name) => f.write_str(name),
            Target::Agent(id) => id.fmt(f),
        }
    }
}
