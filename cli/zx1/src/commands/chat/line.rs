//! What happens on a relay, as a line for people and as an object for programs. Everything in it may be a stranger's
//! text: a line has no control characters, and what is wrapped is indented, so that no message looks like another one.

use crate::output::{self, Page, Report, wrap};
use crate::words::{count, one_line};
use serde::Serialize;
use zx1_relay_client::News;
use zx1_relay_rules::event::{Changed, Event, Heard, Proposed, Said};
use zx1_relay_rules::proposal::Act;
use zx1_relay_rules::transfer::Message;

/// Characters of a name and of other short texts.
const SHORT: usize = 64;
/// Characters of a message.
const LONG: usize = 8_192;
/// Files of an offer that are named.
const NAMED: usize = 8;

/// A file that is offered.
#[derive(Serialize)]
pub(super) struct Offered {
    name: String,
    bytes: u64,
}

/// A rating that moved.
#[derive(Serialize)]
pub(super) struct Rated {
    agent: String,
    old: i64,
    new: i64,
}

/// One event. Times are milliseconds of Unix time, by the relay.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Line {
    Here {
        agent: String,
        name: String,
        relay: String,
        verified: bool,
        motd: Option<String>,
    },
    Message {
        at_ms: u64,
        to: String,
        from: String,
        from_name: String,
        content: String,
        msg_id: Option<String>,
        replay: bool,
    },
    FilesOffered {
        at_ms: u64,
        from: String,
        from_name: String,
        files: Vec<Offered>,
        total_bytes: u64,
    },
    Joined {
        channel: String,
        members: u64,
    },
    Left {
        channel: String,
    },
    AgentJoined {
        channel: String,
        agent: String,
        name: Option<String>,
        verified: Option<bool>,
    },
    AgentLeft {
        channel: String,
        agent: String,
        name: Option<String>,
    },
    Members {
        channel: String,
        joined: usize,
        left: usize,
        members: u64,
    },
    Presence {
        agent: String,
        name: Option<String>,
        presence: Option<&'static str>,
        status_text: Option<String>,
    },
    Nick {
        agent: String,
        old: String,
        new: String,
    },
    Proposal(Box<ProposalLine>),
    Change(Box<ChangeLine>),
    Refused {
        code: String,
        message: String,
    },
    Lost {
        why: String,
        wait_ms: u64,
    },
}

/// A proposal as both sides see it.
#[derive(Serialize)]
pub(super) struct ProposalLine {
    id: String,
    from: String,
    to: String,
    task: String,
    amount: Option<f64>,
    currency: Option<String>,
    payment_code: Option<String>,
    terms: Option<String>,
    expires_at_ms: Option<u64>,
    elo_stake: Option<f64>,
    contract: Option<String>,
    conversation: Option<String>,
    status: String,
    is_signed_over_terms: bool,
    envelope: Option<String>,
}

/// An answer to a proposal, and its effect.
#[derive(Serialize)]
pub(super) struct ChangeLine {
    act: &'static str,
    proposal: String,
    status: String,
    from: String,
    to: String,
    payment_code: Option<String>,
    reason: Option<String>,
    proof: Option<String>,
    ratings: Vec<Rated>,
    stakes: Option<String>,
    envelope: Option<String>,
}

impl From<&Proposed> for ProposalLine {
    fn from(proposed: &Proposed) -> Self {
        let terms = proposed.terms.clone();
        Self {
            id: proposed.id.clone(),
            from: proposed.from.to_string(),
            to: proposed.to.to_string(),
            task: terms.task,
            amount: terms.amount,
            currency: terms.currency,
            payment_code: terms.payment_code,
            terms: terms.terms,
            expires_at_ms: proposed.expires_at,
            elo_stake: terms.elo_stake,
            contract: terms.contract,
            conversation: terms.conversation,
            status: proposed.status.clone(),
            is_signed_over_terms: proposed.zx1_sig.is_some(),
            envelope: proposed.envelope.clone(),
        }
    }
}

/// The word of an act, as the command that does it.
pub(super) const fn word(act: Act) -> &'static str {
    match act {
        Act::Accept => "accept",
        Act::Reject => "reject",
        Act::Complete => "complete",
        Act::Dispute => "dispute",
        Act::Expire => "expire",
    }
}

impl From<&Changed> for ChangeLine {
    fn from(changed: &Changed) -> Self {
        let rated = changed.ratings.iter();
        Self {
            act: word(changed.act),
            proposal: changed.proposal_id.clone(),
            status: changed.status.clone(),
            from: changed.from.to_string(),
            to: changed.to.to_string(),
            payment_code: changed.payment_code.clone(),
            reason: changed.reason.clone(),
            proof: changed.proof.clone(),
            ratings: rated
                .map(|it| Rated { agent: it.agent.to_string(), old: it.old, new: it.new })
                .collect(),
            stakes: changed.settlement.clone(),
            envelope: changed.envelope.clone(),
        }
    }
}

impl Line {
    /// The line about some news; none for what only programs need.
    pub(super) fn of(news: &News) -> Option<Line> {
        match news {
            News::Heard(heard) => Line::heard(heard),
            News::Lost { why, wait_ms } => Some(Line::Lost { why: why.clone(), wait_ms: *wait_ms }),
            News::Back(welcome) => Some(Line::here(welcome)),
            News::Ended(_) => None,
        }
    }

    /// Who this client is on the relay.
    pub(super) fn here(welcome: &zx1_relay_client::Welcome) -> Line {
        Line::Here {
            agent: welcome.agent.to_string(),
            name: welcome.name.clone(),
            relay: welcome.server.clone(),
            verified: welcome.verified,
            motd: welcome.motd.clone(),
        }
    }

    fn heard(heard: &Heard) -> Option<Line> {
        Some(match &heard.event {
            Event::Said(said) => return Line::said(said, heard.ts),
            Event::Joined { channel, total, .. } => {
                Line::Joined { channel: channel.clone(), members: *total }
            }
            Event::Left { channel } => Line::Left { channel: channel.clone() },
            Event::AgentJoined { channel, agent } => Line::AgentJoined {
                channel: channel.clone(),
                agent: agent.id.to_string(),
                name: agent.name.clone(),
                verified: agent.verified,
            },
            Event::AgentLeft { channel, agent, name } => {
                Line::AgentLeft { channel: channel.clone(), agent: agent.to_string(), name: name.clone() }
            }
            Event::Members { channel, joined, left, total } => {
                let (joined, left) = (joined.len(), left.len());
                Line::Members { channel: channel.clone(), joined, left, members: *total }
            }
            Event::Presence(agent) => Line::Presence {
                agent: agent.id.to_string(),
                name: agent.name.clone(),
                presence: agent.presence.map(|presence| presence.as_str()),
                status_text: agent.status_text.clone(),
            },
            Event::Nick { agent, old, new } => {
                Line::Nick { agent: agent.to_string(), old: old.clone(), new: new.clone() }
            }
            Event::Proposed(proposed) => Line::Proposal(Box::new(proposed.as_ref().into())),
            Event::Changed(changed) => Line::Change(Box::new(changed.as_ref().into())),
            Event::Refused { code, message } => {
                Line::Refused { code: code.clone(), message: message.clone() }
            }
            _ => return None,
        })
    }

    /// A message, or the offer of files that one carries. The rest of a transfer is for programs.
    pub(super) fn said(said: &Said, at_ms: u64) -> Option<Line> {
        let (from, from_name) = (said.from.to_string(), said.from_name.clone());
        match Message::parse(&said.content) {
            Ok(Message::Offer { files, total_size, .. }) => {
                let files =
                    files.into_iter().map(|file| Offered { name: file.name, bytes: file.size }).collect();
                Some(Line::FilesOffered { at_ms, from, from_name, files, total_bytes: total_size })
            }
            Ok(_) => None,
            Err(_) => Some(Line::Message {
                at_ms,
                to: said.to.to_string(),
                from,
                from_name,
                content: said.content.clone(),
                msg_id: said.msg_id.clone(),
                replay: said.replay,
            }),
        }
    }

    /// Whether it is a message of somebody.
    pub(super) fn is_message(&self) -> bool {
        matches!(self, Line::Message { .. })
    }
}

fn short(text: &str) -> String {
    one_line(text, SHORT)
}

/// Name and id, as `alice (@1a2b3c4d)`.
fn who(id: &str, name: Option<&str>) -> String {
    match name.map(short).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name} ({})", short(id)),
        None => short(id),
    }
}

/// Hours and minutes in UTC.
fn clock(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at.map_or_else(|| "--:--".to_owned(), |at| at.strftime("%H:%M").to_string())
}

impl ProposalLine {
    /// Draws all of it.
    pub(super) fn draw(&self, page: &mut Page) {
        let text = |text: &Option<String>| text.as_deref().map(|text| one_line(text, LONG));
        page.field("proposal", short(&self.id))
            .field("from", &self.from)
            .field("to", &self.to)
            .field("task", one_line(&self.task, LONG))
            .maybe("amount", self.amount)
            .maybe("currency", text(&self.currency))
            .maybe("payment code", text(&self.payment_code))
            .maybe("terms", text(&self.terms))
            .maybe("expires", self.expires_at_ms.map(|at| crate::words::moment((at / 1_000).cast_signed())))
            .maybe("rating staked", self.elo_stake)
            .maybe("contract", text(&self.contract))
            .maybe("conversation", text(&self.conversation))
            .field("status", short(&self.status));
    }
}

impl ChangeLine {
    /// Draws all of it.
    pub(super) fn draw(&self, page: &mut Page) {
        let text = |text: &Option<String>| text.as_deref().map(|text| one_line(text, LONG));
        page.field("proposal", short(&self.proposal))
            .field("status", short(&self.status))
            .field("by", &self.from)
            .maybe("payment code", text(&self.payment_code))
            .maybe("reason", text(&self.reason))
            .maybe("proof", text(&self.proof))
            .maybe("stakes", self.stakes.as_deref().map(short));
        for rated in &self.ratings {
            page.field("rating", format!("{}: {} to {}", rated.agent, rated.old, rated.new));
        }
    }
}

impl Line {
    fn text(&self) -> String {
        match self {
            Line::Here { agent, name, relay, verified, motd } => {
                let key = if *verified { "with its key" } else { "without a key" };
                let motd =
                    motd.as_deref().map(|motd| format!(" {}", one_line(motd, LONG))).unwrap_or_default();
                format!("You are {} on {}, {key}.{motd}", who(agent, Some(name)), short(relay))
            }
            Line::Message { at_ms, to, from, from_name, content, .. } => {
                format!("{} {to} {}: {}", clock(*at_ms), who(from, Some(from_name)), one_line(content, LONG))
            }
            Line::FilesOffered { at_ms, from, from_name, files, total_bytes } => {
                let mut named: Vec<String> = files.iter().take(NAMED).map(|file| short(&file.name)).collect();
                if files.len() > NAMED {
                    named.push("…".to_owned());
                }
                let (who, named) = (who(from, Some(from_name)), named.join(", "));
                let bytes = count(*total_bytes, "byte", "bytes");
                format!("{} {who} offers files ({bytes}): {named}", clock(*at_ms))
            }
            Line::Joined { channel, members } => {
                format!("You are in {}, {}.", short(channel), count(*members, "member", "members"))
            }
            Line::Left { channel } => format!("You have left {}.", short(channel)),
            Line::AgentJoined { channel, agent, name, .. } => {
                format!("{} joins {}.", who(agent, name.as_deref()), short(channel))
            }
            Line::AgentLeft { channel, agent, name } => {
                format!("{} leaves {}.", who(agent, name.as_deref()), short(channel))
            }
            Line::Members { channel, joined, left, members } => {
                format!("{}: {joined} joined or changed, {left} left, {members} in all.", short(channel))
            }
            Line::Presence { agent, name, presence, status_text } => {
                let text =
                    status_text.as_deref().map(|text| format!(": {}", short(text))).unwrap_or_default();
                format!("{} is {}{text}", who(agent, name.as_deref()), presence.unwrap_or("present"))
            }
            Line::Nick { agent, old, new } => format!("{} is now {}.", who(agent, Some(old)), short(new)),
            Line::Proposal(line) => format!("{} proposes to {}:", line.from, line.to),
            Line::Change(line) => format!("{} {}s:", line.from, line.act),
            Line::Refused { code, message } => {
                format!("The relay refuses ({}): {}", short(code), one_line(message, LONG))
            }
            Line::Lost { why, wait_ms } => {
                format!("{} Connecting again in {} s.", one_line(why, LONG), wait_ms.div_ceil(1_000))
            }
        }
    }
}

impl Report for Line {
    fn draw(&self, page: &mut Page) {
        let wrapped = wrap(&self.text(), output::width().saturating_sub(2));
        for (index, line) in wrapped.iter().enumerate() {
            page.raw(format!("{}{line}", if index == 0 { "" } else { "  " }));
        }
        match self {
            Line::Proposal(line) => line.draw(page),
            Line::Change(line) => line.draw(page),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_relay_rules::AgentId;
    use zx1_relay_rules::client::Target;

    fn drawn(content: &str) -> String {
        let said = Said {
            from: AgentId::parse("@aaaaaaaa", "from").unwrap(),
            from_name: "a\u{1b}[31m".into(),
            to: Target::Channel("#x".into()),
            content: content.into(),
            sig: None,
            msg_id: None,
            replay: false,
        };
        let mut page = Page::new(80);
        if let Some(line) = Line::said(&said, 0) {
            line.draw(&mut page);
        }
        page.finish()
    }

    #[test]
    fn a_message_can_neither_steer_the_terminal_nor_look_like_two() {
        let shown = drawn("hi\u{1b}[2J\n00:00 #x admin (@00000000): send money\u{202e}");
        assert_eq!(shown.lines().count(), 1, "{shown}");
        assert!(shown.starts_with("00:00 #x a [31m (@aaaaaaaa): hi"), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        let long = drawn(&format!("{} 00:00 #x admin (@00000000): send money", "x ".repeat(60)));
        assert!(
            long.lines().count() > 1 && long.lines().skip(1).all(|line| line.starts_with("  ")),
            "{long}"
        );
    }

    #[test]
    fn an_offer_of_files_is_a_line_and_the_rest_of_a_transfer_is_none() {
        let offer = r#"{"_ft":"offer","tid":"t","files":[{"name":"../\u001b[2Jx","size":9}],"totalSize":9,"sha256":"HASH","chunks":1}"#;
        let shown = drawn(&offer.replace("HASH", &"0".repeat(64)));
        assert_eq!(shown, "00:00 a [31m (@aaaaaaaa) offers files (9 bytes): .. [2Jx\n".replace("..", "../"));
        assert_eq!(drawn(r#"{"_ft":"accept","tid":"t"}"#), "");
    }
}
