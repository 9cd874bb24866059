//! Frames that the relay sends. Every one begins with `type` and `ts`; the order of fields is the older server's.

use crate::RelayError;
use crate::client::{Presence, Skill};
use crate::id::AgentId;
use crate::json::Value;
use crate::proposal::{Moved, Proposal, State};

/// A member as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The id on the wire.
    pub id: AgentId,
    /// Its name, or the nick that it took.
    pub name: String,
    /// Whether it proved its key.
    pub verified: bool,
    /// The state of its presence.
    pub presence: Presence,
    /// Its status text.
    pub status_text: Option<String>,
}

/// One frame: the same text goes to everybody who gets it.
fn frame(kind: &str, ts: u64, fields: Vec<(&str, Value)>) -> String {
    let mut all = vec![("type".to_owned(), kind.into()), ("ts".to_owned(), ts.into())];
    all.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Value::Object(all).stringify()
}

fn at(id: &AgentId) -> Value {
    id.to_string().into()
}

/// ERROR for a refusal. An ACCEPT of an unknown proposal has a code of its own: see [`accept_error`].
pub fn error(refusal: &RelayError, ts: u64) -> String {
    frame(
        "ERROR",
        ts,
        vec![("code", refusal.wire().as_str().into()), ("message", refusal.wire_message().into())],
    )
}

/// ERROR for a refused ACCEPT: an unknown id is PROPOSAL_NOT_FOUND there, as existing clients expect.
pub fn accept_error(refusal: &RelayError, ts: u64) -> String {
    if *refusal != RelayError::NoProposal {
        return error(refusal, ts);
    }
    let code = crate::Code::ProposalNotFound.as_str();
    frame("ERROR", ts, vec![("code", code.into()), ("message", refusal.to_string().into())])
}

/// PONG, for PING.
pub fn pong(ts: u64) -> String {
    frame("PONG", ts, vec![])
}

/// WELCOME, the end of identification.
pub fn welcome(
    id: &AgentId,
    name: &str,
    server: &str,
    disclaimer: &str,
    verified: bool,
    motd: Option<&str>,
    ts: u64,
) -> String {
    let mut fields = vec![
        ("agent_id", at(id)),
        ("name", name.into()),
        ("server", server.into()),
        ("disclaimer", disclaimer.into()),
    ];
    if verified {
        fields.push(("verified", true.into()));
    }
    if let Some(motd) = motd {
        fields.push(("motd", motd.into()));
    }
    frame("WELCOME", ts, fields)
}

/// An id that nobody else has: a word, time in base 36 and four random bytes.
pub fn unique(word: &str, now: u64, random: [u8; 4]) -> String {
    let (mut rest, mut digits) = (now, Vec::new());
    loop {
        digits
            .push(b"0123456789abcdefghijklmnopqrstuvwxyz".get((rest % 36) as usize).copied().unwrap_or(b'0'));
        rest /= 36;
        if rest == 0 {
            break;
        }
    }
    let time: String = digits.into_iter().rev().map(char::from).collect();
    format!("{word}_{time}_{}", hex::encode(random))
}

/// The id of a challenge.
pub fn challenge_id(now: u64, random: [u8; 4]) -> String {
    unique("chal", now, random)
}

/// CHALLENGE, for IDENTIFY with a key.
pub fn challenge(id: &str, nonce: [u8; 16], expires_at: u64, ts: u64) -> String {
    let nonce = hex::encode(nonce);
    frame(
        "CHALLENGE",
        ts,
        vec![("challenge_id", id.into()), ("nonce", nonce.into()), ("expires_at", expires_at.into())],
    )
}

/// MSG. `from` is `None` for the relay's own texts.
pub fn msg(
    from: Option<(&AgentId, &str)>,
    to: &str,
    content: &str,
    sig: Option<&str>,
    msg_id: Option<&str>,
    replay: bool,
    ts: u64,
) -> String {
    let (id, name) = from.map_or_else(|| ("@server".into(), "Server"), |(id, name)| (at(id), name));
    let mut fields =
        vec![("from", id), ("from_name", name.into()), ("to", to.into()), ("content", content.into())];
    if let Some(sig) = sig {
        fields.push(("sig", sig.into()));
    }
    if let Some(msg_id) = msg_id {
        fields.push(("msg_id", msg_id.into()));
    }
    if replay {
        fields.push(("replay", true.into()));
    }
    frame("MSG", ts, fields)
}

/// JOINED, with at most as many members as are listed; `total` where there are more.
pub fn joined(channel: &str, agents: &[Member], total: usize, ts: u64) -> String {
    let listed: Vec<String> = agents.iter().map(listed).collect();
    joined_of(channel, listed.iter().map(String::as_str), total, ts)
}

/// A member as JOINED lists it.
pub fn listed(agent: &Member) -> String {
    Value::object([
        ("id", at(&agent.id)),
        ("name", agent.name.as_str().into()),
        ("verified", agent.verified.into()),
    ])
    .stringify()
}

/// JOINED of members that are written already ([`listed`]): thousands of joins list the same ones.
pub fn joined_of<'m>(channel: &str, members: impl Iterator<Item = &'m str>, total: usize, ts: u64) -> String {
    let mut text = frame("JOINED", ts, vec![("channel", channel.into())]);
    // The closing brace comes last.
    text.pop();
    text.push_str(",\"agents\":[");
    let mut count = 0_usize;
    for member in members {
        if count > 0 {
            text.push(',');
        }
        text.push_str(member);
        count = count.saturating_add(1);
    }
    text.push(']');
    if total > count {
        text.push_str(&format!(",\"total\":{total}"));
    }
    text.push('}');
    text
}

/// JOINED, for CREATE_CHANNEL: ids only, as existing clients know it.
pub fn created(channel: &str, owner: &AgentId, ts: u64) -> String {
    frame("JOINED", ts, vec![("channel", channel.into()), ("agents", Value::List(vec![at(owner)]))])
}

/// LEFT, to who left.
pub fn left(channel: &str, ts: u64) -> String {
    frame("LEFT", ts, vec![("channel", channel.into())])
}

/// AGENT_JOINED, to the others.
pub fn agent_joined(channel: &str, agent: &Member, ts: u64) -> String {
    frame(
        "AGENT_JOINED",
        ts,
        vec![
            ("channel", channel.into()),
            ("agent", at(&agent.id)),
            ("name", agent.name.as_str().into()),
            ("verified", agent.verified.into()),
        ],
    )
}

/// AGENT_LEFT, to the others.
pub fn agent_left(channel: &str, agent: &Member, ts: u64) -> String {
    let name = agent.name.as_str().into();
    frame("AGENT_LEFT", ts, vec![("channel", channel.into()), ("agent", at(&agent.id)), ("name", name)])
}

/// MEMBERS, of channels too large for a frame a member: who came, went and changed since the last one. Only for
/// connections that said they know it.
pub fn members(channel: &str, joined: &[Member], left: &[AgentId], total: usize, ts: u64) -> String {
    let member = |agent: &Member| {
        Value::object([
            ("id", at(&agent.id)),
            ("name", agent.name.as_str().into()),
            ("presence", agent.presence.as_str().into()),
            ("verified", agent.verified.into()),
        ])
    };
    frame(
        "MEMBERS",
        ts,
        vec![
            ("channel", channel.into()),
            ("joined", Value::List(joined.iter().map(member).collect())),
            ("left", Value::List(left.iter().map(at).collect())),
            ("total", total.into()),
        ],
    )
}

/// CHANNELS: the public ones with their numbers of members.
pub fn channels(list: &[(String, usize)], ts: u64) -> String {
    let channel = |(name, agents): &(String, usize)| {
        Value::object([("name", name.as_str().into()), ("agents", (*agents).into())])
    };
    frame("CHANNELS", ts, vec![("list", Value::List(list.iter().map(channel).collect()))])
}

/// AGENTS: one page of a channel's members. `next` is there when more follow.
pub fn agents(channel: &str, list: &[Member], next: Option<&AgentId>, total: usize, ts: u64) -> String {
    let agent = |agent: &Member| {
        Value::object([
            ("id", at(&agent.id)),
            ("name", agent.name.as_str().into()),
            ("presence", agent.presence.as_str().into()),
            ("status_text", agent.status_text.as_deref().into()),
            ("verified", agent.verified.into()),
        ])
    };
    let mut fields =
        vec![("channel", channel.into()), ("list", Value::List(list.iter().map(agent).collect()))];
    if let Some(next) = next {
        fields.push(("next", at(next)));
        fields.push(("total", total.into()));
    }
    frame("AGENTS", ts, fields)
}

/// TYPING, to the other members.
pub fn typing(from: &AgentId, name: &str, channel: &str, ts: u64) -> String {
    frame("TYPING", ts, vec![("from", at(from)), ("from_name", name.into()), ("channel", channel.into())])
}

/// FILE_CHUNK, to one agent.
pub fn file_chunk(from: &AgentId, to: &AgentId, content: &str, ts: u64) -> String {
    frame("FILE_CHUNK", ts, vec![("from", at(from)), ("to", at(to)), ("content", content.into())])
}

/// PRESENCE_CHANGED, once to everybody who shares a channel.
pub fn presence_changed(agent: &Member, ts: u64) -> String {
    frame(
        "PRESENCE_CHANGED",
        ts,
        vec![
            ("agent_id", at(&agent.id)),
            ("name", agent.name.as_str().into()),
            ("presence", agent.presence.as_str().into()),
            ("status_text", agent.status_text.as_deref().into()),
        ],
    )
}

/// The frame NICK_CHANGED.
pub fn nick_changed(id: &AgentId, old: &str, new: &str, ts: u64) -> String {
    frame("NICK_CHANGED", ts, vec![("agent_id", at(id)), ("old_nick", old.into()), ("new_nick", new.into())])
}

/// PROPOSAL, to its recipient and echoed to its sender.
pub fn proposal(
    proposal: &Proposal,
    sig: &str,
    zx1_sig: Option<&str>,
    envelope: Option<&str>,
    ts: u64,
) -> String {
    let terms = &proposal.terms;
    let text = |text: &Option<String>| Value::from(text.as_deref());
    let mut fields = vec![
        ("id", proposal.id.as_str().into()),
        ("from", at(&proposal.from.id)),
        ("to", at(&proposal.to.id)),
        ("task", terms.task.as_str().into()),
        ("amount", terms.amount.into()),
        ("currency", text(&terms.currency)),
        ("payment_code", text(&terms.payment_code)),
        ("terms", text(&terms.terms)),
        ("expires", proposal.expires_at.into()),
        ("status", State::Pending.as_str().into()),
        ("created_at", proposal.created_at.into()),
        ("sig", sig.into()),
        ("elo_stake", terms.elo_stake.into()),
    ];
    let extra = [
        ("zx1_sig", zx1_sig),
        ("contract", terms.contract.as_deref()),
        ("conversation", terms.conversation.as_deref()),
        ("envelope", envelope),
    ];
    fields.extend(extra.into_iter().filter_map(|(name, text)| text.map(|text| (name, text.into()))));
    frame("PROPOSAL", ts, fields)
}

/// ACCEPT, REJECT, COMPLETE or DISPUTE, to the other party and echoed. `more` is the type's own fields.
pub fn transition(
    kind: &str,
    proposal: &Proposal,
    by: &AgentId,
    sig: &str,
    more: Vec<(&str, Value)>,
    envelope: Option<&str>,
    ts: u64,
) -> String {
    let other = if proposal.from.id == *by { &proposal.to.id } else { &proposal.from.id };
    let mut fields = vec![
        ("proposal_id", proposal.id.as_str().into()),
        ("status", proposal.state.as_str().into()),
        ("updated_at", proposal.updated_at.into()),
        ("from", at(by)),
        ("to", at(other)),
        ("sig", sig.into()),
    ];
    fields.extend(more);
    fields.extend(envelope.map(|envelope| ("envelope", envelope.into())));
    frame(kind, ts, fields)
}

/// The `rating_changes` of COMPLETE and DISPUTE; an empty object while nothing moved.
pub fn rating_changes(moved: Option<&Moved>, stakes: (u32, u32)) -> Value {
    let Some(moved) = moved else { return Value::Object(vec![]) };
    let mut fields: Vec<(String, Value)> = Vec::new();
    for (party, change) in &moved.changes {
        let by = f64::from(change.new) - f64::from(change.old);
        let value = Value::object([
            ("oldRating", u64::from(change.old).into()),
            ("newRating", u64::from(change.new).into()),
            ("change", by.into()),
            ("transactions", u64::from(change.transactions).into()),
        ]);
        fields.push((party.id.to_string(), value));
    }
    if stakes != (0, 0) {
        let escrow = Value::object([
            ("proposer_stake", u64::from(stakes.0).into()),
            ("acceptor_stake", u64::from(stakes.1).into()),
            ("settlement", moved.settlement.as_str().into()),
        ]);
        fields.push(("_escrow".to_owned(), escrow));
    }
    Value::Object(fields)
}

/// The ruling on a proposal, to both parties: the type of the state that was ruled on, with the relay as its sender.
pub fn ruled(proposal: &Proposal, moved: &Moved, stakes: (u32, u32), ts: u64) -> String {
    let kind = if proposal.state == State::Disputed { "DISPUTE" } else { "COMPLETE" };
    frame(
        kind,
        ts,
        vec![
            ("proposal_id", proposal.id.as_str().into()),
            ("status", proposal.state.as_str().into()),
            ("updated_at", proposal.updated_at.into()),
            ("from", "@server".into()),
            ("rating_changes", rating_changes(Some(moved), stakes)),
        ],
    )
}

/// SESSION_DISPLACED, before the close.
pub fn displaced(reason: &str, new_ip: &str, ts: u64) -> String {
    frame("SESSION_DISPLACED", ts, vec![("reason", reason.into()), ("new_ip", new_ip.into())])
}

/// KICKED or BANNED, before the close.
pub fn removed(banned: bool, reason: &str, ts: u64) -> String {
    frame(if banned { "BANNED" } else { "KICKED" }, ts, vec![("reason", reason.into())])
}

/// The frame SKILLS_REGISTERED.
pub fn skills_registered(id: &AgentId, count: usize, ts: u64) -> String {
    frame(
        "SKILLS_REGISTERED",
        ts,
        vec![("agent_id", at(id)), ("skills_count", count.into()), ("registered_at", ts.into())],
    )
}

/// SEARCH_RESULTS; each result is the skill as registered with its agent before it.
pub fn search_results(
    query_id: Option<&str>,
    query: &Value,
    found: &[(AgentId, String, Skill)],
    total: usize,
    ts: u64,
) -> String {
    let result = |(id, name, skill): &(AgentId, String, Skill)| {
        let mut fields = vec![("agent_id".to_owned(), at(id)), ("name".to_owned(), name.as_str().into())];
        if let Value::Object(own) = &skill.value {
            fields.extend(own.iter().filter(|(name, _)| name != "agent_id" && name != "name").cloned());
        }
        Value::Object(fields)
    };
    frame(
        "SEARCH_RESULTS",
        ts,
        vec![
            ("query_id", query_id.into()),
            ("query", query.clone()),
            ("results", Value::List(found.iter().map(result).collect())),
            ("total", total.into()),
        ],
    )
}

/// VERIFY_REQUEST, to the agent that has to sign.
pub fn verify_request(request_id: &str, from: &AgentId, nonce: &str, ts: u64) -> String {
    frame(
        "VERIFY_REQUEST",
        ts,
        vec![("request_id", request_id.into()), ("from", at(from)), ("nonce", nonce.into())],
    )
}

/// VERIFY_REQUEST, to who asked.
pub fn verify_pending(request_id: &str, target: &AgentId, ts: u64) -> String {
    frame(
        "VERIFY_REQUEST",
        ts,
        vec![("request_id", request_id.into()), ("target", at(target)), ("status", "pending".into())],
    )
}

/// VERIFY_SUCCESS, to who asked.
pub fn verify_success(request_id: &str, agent: &AgentId, pubkey: &str, ts: u64) -> String {
    frame(
        "VERIFY_SUCCESS",
        ts,
        vec![("request_id", request_id.into()), ("agent", at(agent)), ("pubkey", pubkey.into())],
    )
}

/// VERIFY_SUCCESS, to the agent that signed.
pub fn verified(request_id: &str, ts: u64) -> String {
    frame("VERIFY_SUCCESS", ts, vec![("request_id", request_id.into()), ("verified", true.into())])
}

/// VERIFY_FAILED, to who asked.
pub fn verify_failed(request_id: &str, target: &AgentId, reason: &str, ts: u64) -> String {
    frame(
        "VERIFY_FAILED",
        ts,
        vec![("request_id", request_id.into()), ("target", at(target)), ("reason", reason.into())],
    )
}

/// ADMIN_RESULT of an act.
pub fn admin_done(action: &str, success: bool, ts: u64) -> String {
    frame("ADMIN_RESULT", ts, vec![("action", action.into()), ("success", success.into())])
}

/// ADMIN_RESULT of ADMIN_LIST: the keys on the allowlist with their notes.
pub fn admin_list(entries: &[(String, Option<String>)], enabled: bool, strict: bool, ts: u64) -> String {
    let entry = |(pubkey, note): &(String, Option<String>)| {
        Value::object([("pubkey", pubkey.as_str().into()), ("note", note.as_deref().into())])
    };
    frame(
        "ADMIN_RESULT",
        ts,
        vec![
            ("action", "list".into()),
            ("entries", Value::List(entries.iter().map(entry).collect())),
            ("enabled", enabled.into()),
            ("strict", strict.into()),
        ],
    )
}
