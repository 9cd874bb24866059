//! Frames of the relay as clients read them: the inverse of [`crate::server`]. Reading is total. Fields that are
//! not known are ignored, and so are types: they come as [`Event::Other`].

use crate::client::{Presence, Target};
use crate::defaults::{MAX_DEPTH, MAX_FRAME};
use crate::id::{AgentId, PublicKey};
use crate::json::Value;
use crate::proposal::Act;
use crate::signing::{self, Terms};
use crate::{Code, RelayError, Result};

/// The id under which the relay itself speaks.
pub const SERVER: &str = "@server";

/// A frame of the relay.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The relay's milliseconds of Unix time; 0 where the frame has none.
    pub ts: u64,
    /// What it says.
    pub event: Event,
}

/// An agent as a list or an announcement shows it. Older frames have less of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The id on the wire.
    pub id: AgentId,
    /// Absent in JOINED of CREATE_CHANNEL.
    pub name: Option<String>,
    /// Whether it proved its key.
    pub verified: Option<bool>,
    /// The state of its presence.
    pub presence: Option<Presence>,
    /// Its status text.
    pub status_text: Option<String>,
}

/// A message to a channel or to one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who said it; [`SERVER`] for the relay's own texts.
    pub from: AgentId,
    /// The name that it had.
    pub from_name: String,
    /// Where it went.
    pub to: Target,
    /// What it said.
    pub content: String,
    /// The sender's signature, unchecked.
    pub sig: Option<String>,
    /// The relay's id of the message.
    pub msg_id: Option<String>,
    /// Whether it comes from the buffer.
    pub replay: bool,
}

impl Said {
    /// Whether the relay itself says it.
    pub fn is_from_relay(&self) -> bool {
        self.from.to_string() == SERVER
    }
}

/// A proposal as its parties receive it.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposed {
    /// The relay's id of it.
    pub id: String,
    /// The party that proposed.
    pub from: AgentId,
    /// Who may accept.
    pub to: AgentId,
    /// What was signed. `expires` is worked out of the two times below.
    pub terms: Terms,
    /// When it ends, in milliseconds of Unix time.
    pub expires_at: Option<u64>,
    /// When it came.
    pub created_at: u64,
    /// The word of its state.
    pub status: String,
    /// Over the older string.
    pub sig: String,
    /// Over all terms.
    pub zx1_sig: Option<String>,
    /// What the proposer's client carries along, base64.
    pub envelope: Option<String>,
}

impl Proposed {
    /// Whether the proposer's signatures hold under its key. Without `zx1_sig`, terms, contract and conversation are
    /// not covered.
    ///
    /// # Errors
    ///
    /// [`RelayError::Signature`]
    pub fn check(&self, key: &PublicKey) -> Result<()> {
        key.verify(&signing::proposal(&self.terms), &self.sig)?;
        match &self.zx1_sig {
            Some(sig) => key.verify(&signing::zx1_proposal(&self.terms), sig),
            None => Ok(()),
        }
    }
}

/// A rating that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rated {
    /// Whose it is.
    pub agent: AgentId,
    /// The rating before.
    pub old: i64,
    /// The rating now.
    pub new: i64,
}

/// ACCEPT, REJECT, COMPLETE or DISPUTE of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// What its author did.
    pub act: Act,
    /// The relay's id of the proposal.
    pub proposal_id: String,
    /// The word of its state now.
    pub status: String,
    /// Who did it.
    pub from: AgentId,
    /// The other party.
    pub to: AgentId,
    /// Of who did it.
    pub sig: String,
    /// Only in ACCEPT.
    pub payment_code: Option<String>,
    /// Of REJECT and DISPUTE.
    pub reason: Option<String>,
    /// Only in COMPLETE.
    pub proof: Option<String>,
    /// Ratings that moved; empty while none did.
    pub ratings: Vec<Rated>,
    /// The outcome for the stakes.
    pub settlement: Option<String>,
    /// What the other client carries along, base64.
    pub envelope: Option<String>,
}

/// What a frame of the relay says.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Event {
    Welcome {
        agent: AgentId,
        name: String,
        server: String,
        disclaimer: String,
        verified: bool,
        motd: Option<String>,
    },
    Challenge {
        challenge_id: String,
        nonce: String,
        expires_at: u64,
    },
    Said(Said),
    /// `total` counts those that are not listed, too.
    Joined {
        channel: String,
        agents: Vec<Listed>,
        total: u64,
    },
    Left {
        channel: String,
    },
    AgentJoined {
        channel: String,
        agent: Listed,
    },
    AgentLeft {
        channel: String,
        agent: AgentId,
        name: Option<String>,
    },
    Members {
        channel: String,
        joined: Vec<Listed>,
        left: Vec<AgentId>,
        total: u64,
    },
    /// The public channels and how many members each has.
    Channels(Vec<(String, u64)>),
    /// `next` is the id behind which the next page begins.
    Agents {
        channel: String,
        list: Vec<Listed>,
        next: Option<AgentId>,
        total: u64,
    },
    Refused {
        code: String,
        message: String,
    },
    Pong,
    Typing {
        from: AgentId,
        from_name: String,
        channel: String,
    },
    FileChunk {
        from: AgentId,
        to: AgentId,
        content: String,
    },
    Proposed(Box<Proposed>),
    Changed(Box<Changed>),
    Presence(Listed),
    Nick {
        agent: AgentId,
        old: String,
        new: String,
    },
    /// Somebody asks this client to sign a nonce.
    VerifyAsked {
        request_id: String,
        from: AgentId,
        nonce: String,
    },
    /// This client's own request waits for its target.
    VerifyPending {
        request_id: String,
        target: AgentId,
    },
    /// The target has the key.
    Verified {
        request_id: String,
        agent: AgentId,
        pubkey: String,
    },
    /// This client's answer was taken.
    VerifyTaken {
        request_id: String,
    },
    VerifyFailed {
        request_id: String,
        target: Option<AgentId>,
        reason: String,
    },
    Displaced {
        reason: String,
        new_ip: Option<String>,
    },
    Removed {
        banned: bool,
        reason: String,
    },
    AdminResult {
        action: String,
        result: Value,
    },
    SkillsRegistered {
        agent: AgentId,
        count: u64,
    },
    SearchResults {
        query_id: Option<String>,
        results: Vec<Value>,
        total: u64,
    },
    Other {
        kind: String,
        value: Value,
    },
}

impl Heard {
    /// Reads one frame.
    ///
    /// # Errors
    ///
    /// What is not a frame, and known types whose fields are missing or wrong.
    pub fn parse(text: &str) -> Result<Heard> {
        if text.len() > MAX_FRAME {
            return Err(RelayError::FrameTooLarge { bytes: text.len(), most: MAX_FRAME });
        }
        let value = Value::parse(text, MAX_DEPTH)?;
        let kind = value.get("type").and_then(Value::as_text).ok_or(RelayError::NotAFrame)?;
        let ts = value.get("ts").and_then(Value::as_whole).unwrap_or(0);
        Ok(Heard { ts, event: read(kind, &Fields(&value))? })
    }
}

impl Event {
    /// The word of a refusal, where it is one of the wire's.
    pub fn code(&self) -> Option<Code> {
        let Event::Refused { code, .. } = self else { return None };
        Code::ALL.iter().copied().find(|own| own.as_str() == code)
    }
}

/// Reads the fields of one object.
struct Fields<'a>(&'a Value);

impl Fields<'_> {
    fn maybe(&self, field: &'static str) -> Result<Option<String>> {
        let text = |value: &Value| value.as_text().map(str::to_owned).ok_or(RelayError::Field { field });
        self.0.get(field).map(text).transpose()
    }

    fn text(&self, field: &'static str) -> Result<String> {
        self.maybe(field)?.ok_or(RelayError::Field { field })
    }

    fn whole(&self, field: &'static str) -> Result<Option<u64>> {
        self.0.get(field).map(|value| value.as_whole().ok_or(RelayError::Field { field })).transpose()
    }

    fn number(&self, field: &'static str) -> Result<Option<f64>> {
        self.0.get(field).map(|value| value.as_number().ok_or(RelayError::Field { field })).transpose()
    }

    fn flag(&self, field: &'static str) -> Result<Option<bool>> {
        match self.0.get(field) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(_) => Err(RelayError::Field { field }),
        }
    }

    fn list(&self, field: &'static str) -> Result<&[Value]> {
        self.0.get(field).and_then(Value::as_list).ok_or(RelayError::Field { field })
    }

    fn agent(&self, field: &'static str) -> Result<AgentId> {
        AgentId::parse(&self.text(field)?, field)
    }

    fn maybe_agent(&self, field: &'static str) -> Result<Option<AgentId>> {
        self.maybe(field)?.map(|text| AgentId::parse(&text, field)).transpose()
    }

    fn channel(&self) -> Result<String> {
        self.text("channel")
    }

    /// An agent whose id has this name.
    fn listed(&self, id: &'static str) -> Result<Listed> {
        Ok(Listed {
            id: self.agent(id)?,
            name: self.maybe("name")?,
            verified: self.flag("verified")?,
            presence: self.maybe("presence")?.as_deref().and_then(Presence::parse),
            status_text: self.maybe("status_text")?,
        })
    }

    /// A list whose items are agents, or ids alone.
    fn all_listed(&self, field: &'static str) -> Result<Vec<Listed>> {
        let one = |item: &Value| match item.as_text() {
            Some(text) => Ok(Listed {
                id: AgentId::parse(text, field)?,
                name: None,
                verified: None,
                presence: None,
                status_text: None,
            }),
            None => Fields(item).listed("id"),
        };
        self.list(field)?.iter().map(one).collect()
    }
}

/// A list's length, or the total beside it.
fn total(fields: &Fields<'_>, listed: usize) -> Result<u64> {
    Ok(fields.whole("total")?.unwrap_or(listed as u64))
}

fn read(kind: &str, fields: &Fields<'_>) -> Result<Event> {
    Ok(match kind {
        "WELCOME" => Event::Welcome {
            agent: fields.agent("agent_id")?,
            name: fields.text("name")?,
            server: fields.maybe("server")?.unwrap_or_default(),
            disclaimer: fields.maybe("disclaimer")?.unwrap_or_default(),
            verified: fields.flag("verified")?.unwrap_or(false),
            motd: fields.maybe("motd")?,
        },
        "CHALLENGE" => Event::Challenge {
            challenge_id: fields.text("challenge_id")?,
            nonce: fields.text("nonce")?,
            expires_at: fields.whole("expires_at")?.unwrap_or(0),
        },
        "MSG" => Event::Said(Said {
            from: fields.agent("from")?,
            from_name: fields.maybe("from_name")?.unwrap_or_default(),
            to: Target::parse(&fields.text("to")?, "to")?,
            content: fields.text("content")?,
            sig: fields.maybe("sig")?,
            msg_id: fields.maybe("msg_id")?,
            replay: fields.flag("replay")?.unwrap_or(false),
        }),
        "JOINED" => {
            let agents = fields.all_listed("agents")?;
            Event::Joined { channel: fields.channel()?, total: total(fields, agents.len())?, agents }
        }
        "LEFT" => Event::Left { channel: fields.channel()? },
        "AGENT_JOINED" => Event::AgentJoined { channel: fields.channel()?, agent: fields.listed("agent")? },
        "AGENT_LEFT" => Event::AgentLeft {
            channel: fields.channel()?,
            agent: fields.agent("agent")?,
            name: fields.maybe("name")?,
        },
        "MEMBERS" => Event::Members {
            channel: fields.channel()?,
            joined: fields.all_listed("joined")?,
            left: fields.all_listed("left")?.into_iter().map(|listed| listed.id).collect(),
            total: fields.whole("total")?.ok_or(RelayError::Field { field: "total" })?,
        },
        "CHANNELS" => {
            let one = |item: &Value| {
                let item = Fields(item);
                Ok((item.text("name")?, item.whole("agents")?.unwrap_or(0)))
            };
            Event::Channels(fields.list("list")?.iter().map(one).collect::<Result<_>>()?)
        }
        "AGENTS" => {
            let list = fields.all_listed("list")?;
            let (next, total) = (fields.maybe_agent("next")?, total(fields, list.len())?);
            Event::Agents { channel: fields.channel()?, list, next, total }
        }
        "ERROR" => Event::Refused {
            code: fields.text("code")?,
            message: fields.maybe("message")?.unwrap_or_default(),
        },
        "PONG" => Event::Pong,
        "TYPING" => Event::Typing {
            from: fields.agent("from")?,
            from_name: fields.maybe("from_name")?.unwrap_or_default(),
            channel: fields.channel()?,
        },
        "FILE_CHUNK" => Event::FileChunk {
            from: fields.agent("from")?,
            to: fields.agent("to")?,
            content: fields.text("content")?,
        },
        "PROPOSAL" => Event::Proposed(Box::new(proposed(fields)?)),
        "ACCEPT" => changed(Act::Accept, fields)?,
        "REJECT" => changed(Act::Reject, fields)?,
        "COMPLETE" => changed(Act::Complete, fields)?,
        "DISPUTE" => changed(Act::Dispute, fields)?,
        "PRESENCE_CHANGED" => Event::Presence(fields.listed("agent_id")?),
        "NICK_CHANGED" => Event::Nick {
            agent: fields.agent("agent_id")?,
            old: fields.text("old_nick")?,
            new: fields.text("new_nick")?,
        },
        "SESSION_DISPLACED" => Event::Displaced {
            reason: fields.maybe("reason")?.unwrap_or_default(),
            new_ip: fields.maybe("new_ip")?,
        },
        "KICKED" | "BANNED" => {
            Event::Removed { banned: kind == "BANNED", reason: fields.maybe("reason")?.unwrap_or_default() }
        }
        "ADMIN_RESULT" => Event::AdminResult { action: fields.text("action")?, result: fields.0.clone() },
        "SKILLS_REGISTERED" => Event::SkillsRegistered {
            agent: fields.agent("agent_id")?,
            count: fields.whole("skills_count")?.unwrap_or(0),
        },
        "SEARCH_RESULTS" => {
            let results = fields.list("results")?.to_vec();
            Event::SearchResults {
                query_id: fields.maybe("query_id")?,
                total: total(fields, results.len())?,
                results,
            }
        }
        _ => match verification(kind, fields)? {
            Some(event) => event,
            None => Event::Other { kind: kind.to_owned(), value: fields.0.clone() },
        },
    })
}

fn verification(kind: &str, fields: &Fields<'_>) -> Result<Option<Event>> {
    let request_id = || fields.text("request_id");
    Ok(Some(match kind {
        // To the target it comes with the nonce, to who asked without.
        "VERIFY_REQUEST" => match fields.maybe("nonce")? {
            Some(nonce) => {
                Event::VerifyAsked { request_id: request_id()?, from: fields.agent("from")?, nonce }
            }
            None => Event::VerifyPending { request_id: request_id()?, target: fields.agent("target")? },
        },
        "VERIFY_SUCCESS" => match fields.maybe("pubkey")? {
            Some(pubkey) => {
                Event::Verified { request_id: request_id()?, agent: fields.agent("agent")?, pubkey }
            }
            None => Event::VerifyTaken { request_id: request_id()? },
        },
        "VERIFY_FAILED" => Event::VerifyFailed {
            request_id: fields.maybe("request_id")?.unwrap_or_default(),
            target: fields.maybe_agent("target")?,
            reason: fields.maybe("reason")?.unwrap_or_default(),
        },
        _ => return Ok(None),
    }))
}

fn proposed(fields: &Fields<'_>) -> Result<Proposed> {
    let to = fields.agent("to")?;
    let created_at = fields.whole("created_at")?.unwrap_or(0);
    let expires_at = fields.whole("expires")?;
    #[allow(clippy::cast_precision_loss)]
    let seconds = expires_at.map(|at| at.saturating_sub(created_at) as f64 / 1_000.0);
    let terms = Terms {
        to: to.to_string(),
        task: fields.text("task")?,
        amount: fields.number("amount")?,
        currency: fields.maybe("currency")?,
        payment_code: fields.maybe("payment_code")?,
        terms: fields.maybe("terms")?,
        expires: seconds,
        elo_stake: fields.number("elo_stake")?,
        contract: fields.maybe("contract")?,
        conversation: fields.maybe("conversation")?,
    };
    Ok(Proposed {
        id: fields.text("id")?,
        from: fields.agent("from")?,
        to,
        terms,
        expires_at,
        created_at,
        status: fields.maybe("status")?.unwrap_or_default(),
        sig: fields.maybe("sig")?.unwrap_or_default(),
        zx1_sig: fields.maybe("zx1_sig")?,
        envelope: fields.maybe("envelope")?,
    })
}

fn changed(act: Act, fields: &Fields<'_>) -> Result<Event> {
    let (ratings, settlement) = match fields.0.get("rating_changes") {
        Some(Value::Object(all)) => ratings(all)?,
        None => (Vec::new(), None),
        Some(_) => return Err(RelayError::Field { field: "rating_changes" }),
    };
    Ok(Event::Changed(Box::new(Changed {
        act,
        proposal_id: fields.text("proposal_id")?,
        status: fields.maybe("status")?.unwrap_or_default(),
        from: fields.agent("from")?,
        to: fields.agent("to")?,
        sig: fields.maybe("sig")?.unwrap_or_default(),
        payment_code: fields.maybe("payment_code")?,
        reason: fields.maybe("reason")?,
        proof: fields.maybe("proof")?,
        ratings,
        settlement,
        envelope: fields.maybe("envelope")?,
    })))
}

/// `rating_changes`: by agent, and what came of the stakes under `_escrow`.
fn ratings(all: &[(String, Value)]) -> Result<(Vec<Rated>, Option<String>)> {
    let field = "rating_changes";
    let (mut rated, mut settlement) = (Vec::new(), None);
    for (name, value) in all {
        if name == "_escrow" {
            settlement = Fields(value).maybe("settlement")?;
            continue;
        }
        let whole =
            |field| Fields(value).whole(field).map(|found| found.and_then(|it| i64::try_from(it).ok()));
        let old = whole("oldRating")?.ok_or(RelayError::Field { field })?;
        let new = whole("newRating")?.ok_or(RelayError::Field { field })?;
        rated.push(Rated { agent: AgentId::parse(name, field)?, old, new });
    }
    Ok((rated, settlement))
}
