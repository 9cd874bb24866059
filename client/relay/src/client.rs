//! Frames that clients send. Reading is total: every text is a frame or one refusal. Fields that are not known
//! are ignored, and `null` counts as absent, as existing clients rely on.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::defaults::{
    MAX_CONTENT, MAX_DEPTH, MAX_ENVELOPE, MAX_FRAME, MAX_PEM, MAX_RESULTS, MAX_SKILLS, MAX_STATUS, MAX_TEXT,
};
use crate::id::{AgentId, is_channel, is_name, is_nick};
use crate::json::Value;
use crate::rate::Kind;
use crate::signing::Terms;
use crate::{RelayError, Result};

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `#name`, as written.
    Channel(String),
    /// One agent, by its id.
    Agent(AgentId),
}

impl Target {
    /// Reads `#name` or `@id`.
    ///
    /// # Errors
    ///
    /// [`RelayError::Field`], with this field's name.
    pub fn parse(text: &str, field: &'static str) -> Result<Target> {
        if is_channel(text) {
            return Ok(Target::Channel(text.to_owned()));
        }
        AgentId::parse(text, field).map(Target::Agent)
    }
}

/// The states of presence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Presence {
    /// The first one of everybody.
    #[default]
    Online,
    /// Connected, and not looking.
    Away,
    /// Not to be disturbed.
    Busy,
    /// Appears to be gone.
    Offline,
    /// Reads and does not speak.
    Listening,
}

impl Presence {
    /// All states, in the wire's order.
    pub const ALL: [Presence; 5] =
        [Presence::Online, Presence::Away, Presence::Busy, Presence::Offline, Presence::Listening];

    /// The state with this word.
    pub fn parse(word: &str) -> Option<Presence> {
        Presence::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Presence::Online => "online",
            Presence::Away => "away",
            Presence::Busy => "busy",
            Presence::Offline => "offline",
            Presence::Listening => "listening",
        }
    }
}

/// One capability that an agent offers, and the fields that came with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// What it can do.
    pub capability: String,
    /// The object as sent.
    pub value: Value,
}

/// What a search asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Part of the capability, in any case.
    pub capability: Option<String>,
    /// Skills without a rate match too.
    pub max_rate: Option<f64>,
    /// The exact currency.
    pub currency: Option<String>,
    /// Results at most, 1 to [`MAX_RESULTS`].
    pub limit: usize,
}

/// What an admin asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Admin {
    /// Puts a key on the allowlist.
    Approve { pubkey: String, note: Option<String> },
    /// Takes a key, or the key with this id, off it.
    Revoke { pubkey: Option<String>, agent: Option<AgentId> },
    /// Shows the state on the wire.
    List,
    /// Closes a connection.
    Kick { agent: AgentId, reason: Option<String> },
    /// Closes it and keeps the agent out.
    Ban { agent: AgentId, reason: Option<String> },
    /// Lets it in again.
    Unban { agent: AgentId },
    /// Rules on a disputed or half-completed proposal: for one party, or for none.
    Rule { proposal_id: String, winner: Option<AgentId> },
}

/// One frame of a client.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Frame {
    Identify {
        name: String,
        pubkey: Option<String>,
    },
    VerifyIdentity {
        challenge_id: String,
        signature: String,
        timestamp: f64,
    },
    Join {
        channel: String,
    },
    Leave {
        channel: String,
    },
    ListAgents {
        channel: String,
        after: Option<String>,
    },
    ListChannels,
    CreateChannel {
        channel: String,
        invite_only: bool,
    },
    Invite {
        channel: String,
        agent: AgentId,
    },
    Typing {
        channel: String,
    },
    Ping,
    Msg {
        to: Target,
        content: String,
        sig: Option<String>,
    },
    FileChunk {
        to: AgentId,
        content: String,
    },
    Proposal {
        to: AgentId,
        terms: Box<Terms>,
        sig: Option<String>,
        zx1_sig: Option<String>,
        envelope: Option<String>,
    },
    Accept {
        proposal_id: String,
        payment_code: Option<String>,
        elo_stake: Option<f64>,
        sig: Option<String>,
        envelope: Option<String>,
    },
    Reject {
        proposal_id: String,
        reason: Option<String>,
        sig: Option<String>,
        envelope: Option<String>,
    },
    Complete {
        proposal_id: String,
        proof: Option<String>,
        sig: Option<String>,
        envelope: Option<String>,
    },
    Dispute {
        proposal_id: String,
        reason: String,
        sig: Option<String>,
        envelope: Option<String>,
    },
    SetPresence {
        status: Presence,
        status_text: Option<String>,
    },
    SetNick {
        nick: String,
    },
    VerifyRequest {
        target: AgentId,
        nonce: String,
    },
    VerifyResponse {
        request_id: String,
        nonce: String,
        sig: String,
    },
    RegisterSkills {
        skills: Vec<Skill>,
        sent: Value,
        sig: Option<String>,
    },
    SearchSkills {
        query: Query,
        sent: Value,
        query_id: Option<String>,
    },
    Admin {
        action: Admin,
        admin_key: String,
    },
}

impl Frame {
    /// Reads one frame.
    ///
    /// # Errors
    ///
    /// [`RelayError::FrameTooLarge`] closes the connection; every other one is answered with an ERROR frame.
    pub fn parse(text: &str) -> Result<Frame> {
        if text.len() > MAX_FRAME {
            return Err(RelayError::FrameTooLarge { bytes: text.len(), most: MAX_FRAME });
        }
        let value = Value::parse(text, MAX_DEPTH)?;
        let kind = value.get("type").and_then(Value::as_text).ok_or(RelayError::NotAFrame)?;
        read(kind, &Fields(&value))
    }

    /// Reads a websocket's message, which may be no text.
    ///
    /// # Errors
    ///
    /// As [`Frame::parse`]; invalid UTF-8 is [`RelayError::NotJson`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Frame> {
        if bytes.len() > MAX_FRAME {
            return Err(RelayError::FrameTooLarge { bytes: bytes.len(), most: MAX_FRAME });
        }
        Frame::parse(std::str::from_utf8(bytes).map_err(|_| RelayError::NotJson)?)
    }

    /// What it counts as. A frame that cannot be read is [`Kind::Other`].
    pub const fn kind(&self) -> Kind {
        match self {
            Frame::Msg { .. } => Kind::Msg,
            Frame::FileChunk { .. } => Kind::Chunk,
            _ => Kind::Other,
        }
    }

    /// Whether it is answered before identification.
    pub const fn before_auth(&self) -> bool {
        matches!(
            self,
            Frame::Identify { .. } | Frame::VerifyIdentity { .. } | Frame::ListChannels | Frame::Ping
        )
    }
}

/// Reads the fields of one object.
struct Fields<'a>(&'a Value);

impl Fields<'_> {
    fn maybe(&self, field: &'static str, most: usize) -> Result<Option<String>> {
        let Some(value) = self.0.get(field) else { return Ok(None) };
        let text = value.as_text().filter(|text| units(text) <= most).ok_or(RelayError::Field { field })?;
        Ok(Some(text.to_owned()))
    }

    fn text(&self, field: &'static str, most: usize) -> Result<String> {
        self.maybe(field, most)?.filter(|text| !text.is_empty()).ok_or(RelayError::Field { field })
    }

    fn number(&self, field: &'static str) -> Result<Option<f64>> {
        self.0.get(field).map(|value| value.as_number().ok_or(RelayError::Field { field })).transpose()
    }

    fn channel(&self) -> Result<String> {
        self.text("channel", 32).ok().filter(|name| is_channel(name)).ok_or(RelayError::ChannelName)
    }

    fn agent(&self, field: &'static str) -> Result<AgentId> {
        AgentId::parse(&self.text(field, 65)?, field)
    }

    /// `agent_id` of admins comes with and without its `@`.
    fn agent_id(&self) -> Result<AgentId> {
        let text = self.text("agent_id", 65)?;
        AgentId::parse(&format!("@{}", text.trim_start_matches('@')), "agent_id")
    }

    fn content(&self, most: usize) -> Result<String> {
        let field = "content";
        let text = self.0.get(field).and_then(Value::as_text).ok_or(RelayError::Field { field })?;
        let units = units(text);
        if units > most {
            return Err(RelayError::ContentTooLong { units, most });
        }
        Ok(text.to_owned())
    }

    fn stake(&self) -> Result<Option<f64>> {
        let field = "elo_stake";
        let stake = self.number(field)?;
        let fits = stake.is_none_or(|stake| stake.fract() == 0.0 && (0.0..=1_000_000.0).contains(&stake));
        if fits { Ok(stake) } else { Err(RelayError::Field { field }) }
    }

    fn envelope(&self) -> Result<Option<String>> {
        let field = "envelope";
        let Some(text) = self.maybe(field, MAX_ENVELOPE.div_ceil(3) * 4)? else { return Ok(None) };
        let fits = STANDARD.decode(&text).is_ok_and(|bytes| bytes.len() <= MAX_ENVELOPE);
        if fits { Ok(Some(text)) } else { Err(RelayError::Field { field }) }
    }

    fn signature(&self, field: &'static str) -> Result<Option<String>> {
        self.maybe(field, 128)
    }
}

/// UTF-16 units, in which the document counts characters.
pub fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn read(kind: &str, fields: &Fields<'_>) -> Result<Frame> {
    let id = || fields.text("proposal_id", 128);
    Ok(match kind {
        "IDENTIFY" => {
            let name = fields.text("name", 64).ok().filter(|name| is_name(name)).ok_or(RelayError::Name)?;
            Frame::Identify { name, pubkey: fields.maybe("pubkey", MAX_PEM)? }
        }
        "VERIFY_IDENTITY" => Frame::VerifyIdentity {
            challenge_id: fields.text("challenge_id", 64)?,
            signature: fields.text("signature", 128)?,
            timestamp: fields
                .number("timestamp")?
                .filter(|at| *at != 0.0)
                .ok_or(RelayError::Field { field: "timestamp" })?,
        },
        "JOIN" => Frame::Join { channel: fields.channel()? },
        "LEAVE" => Frame::Leave { channel: fields.channel()? },
        "LIST_AGENTS" => Frame::ListAgents { channel: fields.channel()?, after: fields.maybe("after", 65)? },
        "LIST_CHANNELS" => Frame::ListChannels,
        "CREATE_CHANNEL" => {
            let field = "invite_only";
            let invite_only = match fields.0.get(field) {
                None => false,
                Some(Value::Bool(value)) => *value,
                Some(_) => return Err(RelayError::Field { field }),
            };
            Frame::CreateChannel { channel: fields.channel()?, invite_only }
        }
        "INVITE" => Frame::Invite { channel: fields.channel()?, agent: fields.agent("agent")? },
        "TYPING" => Frame::Typing { channel: fields.channel()? },
        "PING" => Frame::Ping,
        "MSG" => {
            let to = Target::parse(&fields.text("to", 65)?, "to")?;
            let content = fields.content(MAX_CONTENT)?;
            if content.is_empty() {
                return Err(RelayError::Field { field: "content" });
            }
            Frame::Msg { to, content, sig: fields.signature("sig")? }
        }
        "FILE_CHUNK" => Frame::FileChunk { to: fields.agent("to")?, content: fields.content(MAX_FRAME)? },
        "PROPOSAL" => read_proposal(fields)?,
        "ACCEPT" => Frame::Accept {
            proposal_id: id()?,
            payment_code: fields.maybe("payment_code", MAX_TEXT)?,
            elo_stake: fields.stake()?,
            sig: fields.signature("sig")?,
            envelope: fields.envelope()?,
        },
        "REJECT" => Frame::Reject {
            proposal_id: id()?,
            reason: fields.maybe("reason", MAX_TEXT)?,
            sig: fields.signature("sig")?,
            envelope: fields.envelope()?,
        },
        "COMPLETE" => Frame::Complete {
            proposal_id: id()?,
            proof: fields.maybe("proof", MAX_TEXT)?,
            sig: fields.signature("sig")?,
            envelope: fields.envelope()?,
        },
        "DISPUTE" => Frame::Dispute {
            proposal_id: id()?,
            reason: fields.text("reason", MAX_TEXT)?,
            sig: fields.signature("sig")?,
            envelope: fields.envelope()?,
        },
        "SET_PRESENCE" => {
            let status = Presence::parse(&fields.text("status", 16)?);
            Frame::SetPresence {
                status: status.ok_or(RelayError::Field { field: "status" })?,
                status_text: fields.maybe("status_text", MAX_STATUS)?,
            }
        }
        "SET_NICK" => {
            let nick = fields.text("nick", 64).ok().filter(|nick| is_nick(nick));
            Frame::SetNick { nick: nick.ok_or(RelayError::Nick)? }
        }
        "VERIFY_REQUEST" => {
            let nonce = fields.text("nonce", 128)?;
            if units(&nonce) < 16 {
                return Err(RelayError::Field { field: "nonce" });
            }
            Frame::VerifyRequest { target: fields.agent("target")?, nonce }
        }
        "VERIFY_RESPONSE" => Frame::VerifyResponse {
            request_id: fields.text("request_id", 64)?,
            nonce: fields.text("nonce", 128)?,
            sig: fields.text("sig", 128)?,
        },
        "REGISTER_SKILLS" => read_skills(fields)?,
        "SEARCH_SKILLS" => read_search(fields)?,
        _ => read_admin(kind, fields)?,
    })
}

fn read_proposal(fields: &Fields<'_>) -> Result<Frame> {
    let field = "expires";
    let expires = fields.number(field)?;
    if expires.is_some_and(|seconds| !(0.0..=31_536_000.0).contains(&seconds)) {
        return Err(RelayError::Field { field });
    }
    let to = fields.agent("to")?;
    let hex = |text: &str, digits| {
        text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let contract = fields.maybe("contract", 512)?;
    let is_contract = |text: &String| {
        text.strip_prefix("https://").and_then(|rest| rest.split_once('#')).is_some_and(|(host, id)| {
            !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c.is_control()) && hex(id, 16)
        })
    };
    if contract.as_ref().is_some_and(|text| !is_contract(text)) {
        return Err(RelayError::Field { field: "contract" });
    }
    let conversation = fields.maybe("conversation", 32)?;
    if conversation.as_ref().is_some_and(|text| !hex(text, 32)) {
        return Err(RelayError::Field { field: "conversation" });
    }
    let terms = Terms {
        to: to.to_string(),
        task: fields.text("task", MAX_TEXT)?,
        amount: fields.number("amount")?,
        currency: fields.maybe("currency", 32)?,
        payment_code: fields.maybe("payment_code", MAX_TEXT)?,
        terms: fields.maybe("terms", MAX_TEXT)?,
        expires,
        elo_stake: fields.stake()?,
        contract,
        conversation,
    };
    Ok(Frame::Proposal {
        to,
        terms: Box::new(terms),
        sig: fields.signature("sig")?,
        zx1_sig: fields.signature("zx1_sig")?,
        envelope: fields.envelope()?,
    })
}

fn read_skills(fields: &Fields<'_>) -> Result<Frame> {
    let field = "skills";
    let sent = fields.0.get(field).ok_or(RelayError::Field { field })?;
    let list = sent.as_list().filter(|list| (1..=MAX_SKILLS).contains(&list.len()));
    let skills = list.ok_or(RelayError::Field { field })?.iter().map(|value| {
        let capability = value.get("capability").and_then(Value::as_text);
        let capability = capability.filter(|text| (1..=128).contains(&units(text)))?;
        Some(Skill { capability: capability.to_owned(), value: value.clone() })
    });
    let skills = skills.collect::<Option<Vec<_>>>().ok_or(RelayError::Field { field })?;
    Ok(Frame::RegisterSkills { skills, sent: sent.clone(), sig: fields.signature("sig")? })
}

fn read_search(fields: &Fields<'_>) -> Result<Frame> {
    let sent = fields.0.get("query").filter(|query| matches!(query, Value::Object(_)));
    let sent = sent.ok_or(RelayError::Field { field: "query" })?;
    let query = Fields(sent);
    let limit =
        query.0.get("limit").map_or(Some(50), Value::as_whole).and_then(|limit| usize::try_from(limit).ok());
    let limit =
        limit.filter(|limit| *limit > 0).ok_or(RelayError::Field { field: "limit" })?.min(MAX_RESULTS);
    Ok(Frame::SearchSkills {
        query: Query {
            capability: query.maybe("capability", 128)?,
            max_rate: query.number("max_rate")?,
            currency: query.maybe("currency", 32)?,
            limit,
        },
        sent: sent.clone(),
        query_id: fields.maybe("query_id", 128)?,
    })
}

fn read_admin(kind: &str, fields: &Fields<'_>) -> Result<Frame> {
    let reason = || fields.maybe("reason", MAX_TEXT);
    let action = match kind {
        "ADMIN_APPROVE" => {
            Admin::Approve { pubkey: fields.text("pubkey", MAX_PEM)?, note: fields.maybe("note", MAX_TEXT)? }
        }
        "ADMIN_REVOKE" => {
            let pubkey = fields.maybe("pubkey", MAX_PEM)?;
            let agent = if pubkey.is_none() { Some(fields.agent_id()?) } else { None };
            Admin::Revoke { pubkey, agent }
        }
        "ADMIN_LIST" => Admin::List,
        "ADMIN_KICK" => Admin::Kick { agent: fields.agent_id()?, reason: reason()? },
        "ADMIN_BAN" => Admin::Ban { agent: fields.agent_id()?, reason: reason()? },
        "ADMIN_UNBAN" => Admin::Unban { agent: fields.agent_id()? },
        "ADMIN_RULE" => Admin::Rule {
            proposal_id: fields.text("proposal_id", 128)?,
            winner: if fields.0.get("winner").is_some() { Some(fields.agent("winner")?) } else { None },
        },
        _ => return Err(RelayError::UnknownType),
    };
    Ok(Frame::Admin { action, admin_key: fields.text("admin_key", 512)? })
}
