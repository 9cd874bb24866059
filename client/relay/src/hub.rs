//! Channels and who is in them: commands in, frames out. The server only knows connections and sends what it is
//! told, in this order.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::client::{Presence, Query, Skill};
use crate::defaults::{NICK_MS, Settings};
use crate::id::{AgentId, is_channel};
use crate::json::Value;
use crate::server::{self, Member};
use crate::{RelayError, Result};

/// The websocket's subprotocol of clients that know what this relay adds to the older wire: MEMBERS.
pub const EXTENSIONS: &str = "zx1-relay-1";

/// One frame for some agents: encoded once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out {
    /// Who gets it, in ascending order of ids.
    pub to: Vec<AgentId>,
    /// The text of the frame.
    pub frame: Arc<str>,
    /// Only for connections that know our extensions (subprotocol [`EXTENSIONS`]).
    pub extension: bool,
}

#[derive(Debug, Clone)]
struct Agent {
    member: Member,
    /// The member as JOINED lists it, written once.
    shown: Arc<str>,
    joined: BTreeSet<String>,
    next_nick: u64,
    skills: Vec<Skill>,
}

#[derive(Debug, Clone, Default)]
struct Channel {
    members: BTreeSet<AgentId>,
    /// Members in the order in which they came.
    order: BTreeMap<u64, AgentId>,
    places: HashMap<AgentId, u64>,
    next_place: u64,
    /// `None`: anyone may join.
    invited: Option<BTreeSet<AgentId>>,
    buffer: VecDeque<Kept>,
    /// Who came (or changed) and who went since the last tick, in channels above the limit.
    came: BTreeSet<AgentId>,
    went: BTreeSet<AgentId>,
}

/// A message in a channel's buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Who sent it, and the name that it had.
    pub from: (AgentId, String),
    /// What it said.
    pub content: String,
    /// The sender's signature, as it came.
    pub sig: Option<String>,
    /// The relay's id of it.
    pub msg_id: Option<String>,
    /// When it came, in milliseconds of Unix time.
    pub at: u64,
}

/// A channel as lists of an operator or an explorer show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Room {
    /// The name with its `#`.
    pub name: String,
    /// How many members it has.
    pub members: usize,
    /// Whether it takes only who is invited.
    pub invite_only: bool,
}

/// All channels and agents that are here.
#[derive(Debug, Clone)]
pub struct Hub {
    settings: Settings,
    channels: BTreeMap<String, Channel>,
    agents: HashMap<AgentId, Agent>,
}

impl Hub {
    /// With the default channels.
    pub fn new(settings: Settings) -> Hub {
        let channels = settings.channels.iter().map(|name| (name.clone(), Channel::default())).collect();
        Hub { settings, channels, agents: HashMap::new() }
    }

    /// An agent is here from now on. A second connection of the same identity takes its place first.
    pub fn enter(&mut self, id: AgentId, name: String, verified: bool) {
        let member = Member { id: id.clone(), name, verified, presence: Presence::Online, status_text: None };
        let (shown, joined) = (server::listed(&member).into(), BTreeSet::new());
        self.agents.insert(id, Agent { member, shown, joined, next_nick: 0, skills: Vec::new() });
    }

    /// The connection is gone: AGENT_LEFT in every channel.
    pub fn gone(&mut self, id: &AgentId, now: u64) -> Vec<Out> {
        let joined = self.agents.get(id).map(|agent| agent.joined.clone()).unwrap_or_default();
        let out = joined.iter().flat_map(|channel| self.take_out(id, channel, now)).collect();
        self.agents.remove(id);
        out
    }

    /// The agent as lists show it.
    ///
    /// # Errors
    ///
    /// When it is not here.
    pub fn member(&self, id: &AgentId) -> Result<&Member> {
        Ok(&self.agent(id)?.member)
    }

    /// Joins: AGENT_JOINED to the others, JOINED, the buffer, then the relay's welcome. Who is in it already gets
    /// JOINED and the buffer only.
    ///
    /// # Errors
    ///
    /// No such channel, not invited, in too many.
    pub fn join(&mut self, id: &AgentId, name: &str, now: u64) -> Result<Vec<Out>> {
        let most = self.settings.joined;
        let agent = self.agents.get_mut(id).ok_or(RelayError::NotIdentified)?;
        let channel =
            self.channels.get_mut(name).ok_or_else(|| RelayError::NoChannel { channel: name.into() })?;
        let again = channel.members.contains(id);
        if !again {
            if channel.invited.as_ref().is_some_and(|invited| !invited.contains(id)) {
                return Err(RelayError::InviteOnly { channel: name.into() });
            }
            if agent.joined.len() >= most {
                return Err(RelayError::TooManyJoined { most });
            }
        }
        let member = agent.member.clone();
        agent.joined.insert(name.to_owned());
        let mut out = Vec::new();
        if !again {
            channel.add(id);
            if channel.members.len() > self.settings.coalesce_above {
                channel.went.remove(id);
                channel.came.insert(id.clone());
            } else {
                out.extend(to_others(channel, id, server::agent_joined(name, &member, now)));
            }
        }
        let total = channel.members.len();
        let first = self.first_members(name);
        out.push(to_one(id, server::joined_of(name, first, total, now)));
        if let Some(channel) = self.channels.get(name) {
            out.extend(channel.buffer.iter().map(|kept| to_one(id, kept.replay(name))));
        }
        if !again {
            out.push(to_one(
                id,
                server::msg(None, name, &format!("Welcome to {name}!"), None, None, false, now),
            ));
        }
        Ok(out)
    }

    /// Leaves: LEFT to the agent, AGENT_LEFT to the others.
    ///
    /// # Errors
    ///
    /// When it is not in it.
    pub fn leave(&mut self, id: &AgentId, name: &str, now: u64) -> Result<Vec<Out>> {
        self.in_channel(id, name)?;
        let mut out = self.take_out(id, name, now);
        out.insert(0, to_one(id, server::left(name, now)));
        Ok(out)
    }

    /// Makes a channel, with its maker in it.
    ///
    /// # Errors
    ///
    /// The name is taken or is none, too many channels.
    pub fn create(&mut self, id: &AgentId, name: &str, invite_only: bool, now: u64) -> Result<Vec<Out>> {
        if !is_channel(name) {
            return Err(RelayError::ChannelName);
        }
        if self.channels.contains_key(name) {
            return Err(RelayError::ChannelExists { channel: name.into() });
        }
        let (rooms, most) = (self.settings.rooms, self.settings.joined);
        let agent = self.agents.get_mut(id).ok_or(RelayError::NotIdentified)?;
        if self.channels.len() >= rooms {
            return Err(RelayError::TooManyChannels { most: rooms });
        }
        if agent.joined.len() >= most {
            return Err(RelayError::TooManyJoined { most });
        }
        agent.joined.insert(name.to_owned());
        let mut channel =
            Channel { invited: invite_only.then(|| BTreeSet::from([id.clone()])), ..Channel::default() };
        channel.add(id);
        self.channels.insert(name.to_owned(), channel);
        Ok(vec![to_one(id, server::created(name, id, now))])
    }

    /// Invites an agent that is here; the relay tells it.
    ///
    /// # Errors
    ///
    /// When the inviter is not in the channel, or the invited not here.
    pub fn invite(&mut self, id: &AgentId, name: &str, other: &AgentId, now: u64) -> Result<Vec<Out>> {
        self.in_channel(id, name)?;
        self.agent(other)?;
        if let Some(invited) = self.channels.get_mut(name).and_then(|channel| channel.invited.as_mut()) {
            invited.insert(other.clone());
        }
        let text = format!("You have been invited to {name}.");
        Ok(vec![to_one(other, server::msg(None, &other.to_string(), &text, None, None, false, now))])
    }

    /// A message to a channel: to every member, its sender included, and into the buffer.
    ///
    /// # Errors
    ///
    /// When the sender is not in it.
    pub fn say(
        &mut self,
        id: &AgentId,
        name: &str,
        content: &str,
        sig: Option<&str>,
        msg_id: Option<&str>,
        now: u64,
    ) -> Result<Vec<Out>> {
        self.in_channel(id, name)?;
        let from = self.agent(id)?.member.name.clone();
        let frame = server::msg(Some((id, &from)), name, content, sig, msg_id, false, now);
        let most = self.settings.buffer;
        let Some(channel) = self.channels.get_mut(name) else { return Ok(Vec::new()) };
        channel.buffer.push_back(Kept {
            from: (id.clone(), from),
            content: content.into(),
            sig: sig.map(Into::into),
            msg_id: msg_id.map(Into::into),
            at: now,
        });
        while channel.buffer.len() > most {
            channel.buffer.pop_front();
        }
        Ok(vec![Out { to: channel.members.iter().cloned().collect(), frame: frame.into(), extension: false }])
    }

    /// A message to one agent, echoed to its sender.
    ///
    /// # Errors
    ///
    /// When the recipient is not here.
    pub fn tell(
        &self,
        id: &AgentId,
        other: &AgentId,
        content: &str,
        sig: Option<&str>,
        msg_id: Option<&str>,
        now: u64,
    ) -> Result<Vec<Out>> {
        self.agent(other)?;
        let name = &self.agent(id)?.member.name;
        let frame = server::msg(Some((id, name)), &other.to_string(), content, sig, msg_id, false, now);
        let to = BTreeSet::from([id.clone(), other.clone()]).into_iter().collect();
        Ok(vec![Out { to, frame: frame.into(), extension: false }])
    }

    /// A chunk of a file, to its recipient alone.
    ///
    /// # Errors
    ///
    /// When the recipient is not here.
    pub fn chunk(&self, id: &AgentId, other: &AgentId, content: &str, now: u64) -> Result<Vec<Out>> {
        self.agent(other)?;
        Ok(vec![to_one(other, server::file_chunk(id, other, content, now))])
    }

    /// TYPING, to the others.
    ///
    /// # Errors
    ///
    /// When the agent is not in the channel.
    pub fn typing(&self, id: &AgentId, name: &str, now: u64) -> Result<Vec<Out>> {
        let channel = self.in_channel(id, name)?;
        let frame = server::typing(id, &self.agent(id)?.member.name, name, now);
        Ok(to_others(channel, id, frame).into_iter().collect())
    }

    /// The public channels.
    pub fn channels(&self, now: u64) -> String {
        let public = self.channels.iter().filter(|(_, channel)| channel.invited.is_none());
        let list: Vec<_> = public.map(|(name, channel)| (name.clone(), channel.members.len())).collect();
        server::channels(&list, now)
    }

    /// One page of a channel's members, behind the one that is named. Invite-only channels show them to members.
    ///
    /// # Errors
    ///
    /// No such channel, or not a member of an invite-only one.
    pub fn agents(&self, id: &AgentId, name: &str, after: Option<&AgentId>, now: u64) -> Result<String> {
        let channel =
            self.channels.get(name).ok_or_else(|| RelayError::NoChannel { channel: name.into() })?;
        if channel.invited.is_some() && !channel.members.contains(id) {
            return Err(RelayError::NotAMember { channel: name.into() });
        }
        let list = self.listed(name, after);
        let last = list.last().map(|member| &member.id);
        let next = last.filter(|last| channel.members.last().is_some_and(|end| end > *last));
        Ok(server::agents(name, &list, next, channel.members.len(), now))
    }

    /// Changes presence: once to everybody who shares a channel, not to the agent.
    ///
    /// # Errors
    ///
    /// When the agent is not here.
    pub fn presence(
        &mut self,
        id: &AgentId,
        presence: Presence,
        status_text: Option<String>,
        now: u64,
    ) -> Result<Vec<Out>> {
        let agent = self.agents.get_mut(id).ok_or(RelayError::NotIdentified)?;
        agent.member.presence = presence;
        agent.member.status_text = status_text;
        let frame = server::presence_changed(&agent.member, now);
        let joined = agent.joined.clone();
        Ok(self.for_neighbours(id, &joined, frame))
    }

    /// Takes another name, once in 30 seconds; the agent receives it too.
    ///
    /// # Errors
    ///
    /// When it was taken too soon.
    pub fn nick(&mut self, id: &AgentId, nick: &str, now: u64) -> Result<Vec<Out>> {
        let agent = self.agents.get_mut(id).ok_or(RelayError::NotIdentified)?;
        if now < agent.next_nick {
            return Err(RelayError::TooFast { wait_ms: agent.next_nick - now });
        }
        agent.next_nick = now.saturating_add(NICK_MS);
        let old = std::mem::replace(&mut agent.member.name, nick.to_owned());
        agent.shown = server::listed(&agent.member).into();
        let frame = server::nick_changed(id, &old, nick, now);
        let joined = agent.joined.clone();
        let mut out = self.for_neighbours(id, &joined, frame.clone());
        out.insert(0, to_one(id, frame));
        Ok(out)
    }

    /// Replaces an agent's skills.
    ///
    /// # Errors
    ///
    /// When the agent is not here.
    pub fn register(&mut self, id: &AgentId, skills: Vec<Skill>, now: u64) -> Result<Vec<Out>> {
        let agent = self.agents.get_mut(id).ok_or(RelayError::NotIdentified)?;
        let frame = server::skills_registered(id, skills.len(), now);
        agent.skills = skills;
        Ok(vec![to_one(id, frame)])
    }

    /// Skills of those who are here, cheapest first, then by id.
    pub fn search(&self, query: &Query, sent: &Value, query_id: Option<&str>, now: u64) -> String {
        let wanted = query.capability.as_deref().unwrap_or_default().to_lowercase();
        let rate = |skill: &Skill| skill.value.get("rate").and_then(Value::as_number);
        let fits = |skill: &&Skill| {
            skill.capability.to_lowercase().contains(&wanted)
                && query.max_rate.is_none_or(|most| rate(skill).is_none_or(|rate| rate <= most))
                && query
                    .currency
                    .as_deref()
                    .is_none_or(|own| skill.value.get("currency").and_then(Value::as_text) == Some(own))
        };
        let all = self
            .agents
            .values()
            .flat_map(|agent| agent.skills.iter().map(move |skill| (&agent.member, skill)));
        let mut found: Vec<_> = all.filter(|(_, skill)| fits(skill)).collect();
        found.sort_by(|a, b| {
            let key = |skill| rate(skill).unwrap_or(0.0);
            key(a.1).total_cmp(&key(b.1)).then_with(|| a.0.id.cmp(&b.0.id))
        });
        let total = found.len();
        let page: Vec<_> = found
            .into_iter()
            .take(query.limit)
            .map(|(member, skill)| (member.id.clone(), member.name.clone(), skill.clone()))
            .collect();
        server::search_results(query_id, sent, &page, total, now)
    }

    /// What was coalesced since the last call, one frame a channel; the server calls it four times a second.
    pub fn tick(&mut self, now: u64) -> Vec<Out> {
        let mut out = Vec::new();
        let listed = self.settings.listed;
        for (name, channel) in &mut self.channels {
            while !channel.came.is_empty() || !channel.went.is_empty() {
                let came: Vec<AgentId> = channel.came.iter().take(listed).cloned().collect();
                let went: Vec<AgentId> = channel.went.iter().take(listed).cloned().collect();
                channel.came.retain(|id| !came.contains(id));
                channel.went.retain(|id| !went.contains(id));
                let came: Vec<Member> = came
                    .iter()
                    .filter_map(|id| self.agents.get(id))
                    .map(|agent| agent.member.clone())
                    .collect();
                let frame = server::members(name, &came, &went, channel.members.len(), now);
                out.push(Out {
                    to: channel.members.iter().cloned().collect(),
                    frame: frame.into(),
                    extension: true,
                });
            }
        }
        out
    }

    fn agent(&self, id: &AgentId) -> Result<&Agent> {
        self.agents.get(id).ok_or_else(|| RelayError::NoAgent { agent: id.to_string() })
    }

    fn in_channel(&self, id: &AgentId, name: &str) -> Result<&Channel> {
        let channel =
            self.channels.get(name).ok_or_else(|| RelayError::NoChannel { channel: name.into() })?;
        let inside = channel.members.contains(id);
        if inside { Ok(channel) } else { Err(RelayError::NotAMember { channel: name.into() }) }
    }

    /// As many members as are listed, first come first.
    fn first_members(&self, name: &str) -> impl Iterator<Item = &str> {
        let members = self.channels.get(name).into_iter().flat_map(|channel| channel.order.values());
        let shown = members.filter_map(|id| self.agents.get(id)).map(|agent| &*agent.shown);
        shown.take(self.settings.listed)
    }

    fn listed(&self, name: &str, after: Option<&AgentId>) -> Vec<Member> {
        let Some(channel) = self.channels.get(name) else { return Vec::new() };
        let behind = channel.members.iter().filter(|id| after.is_none_or(|after| *id > after));
        let members = behind.filter_map(|id| self.agents.get(id)).map(|agent| agent.member.clone());
        members.take(self.settings.listed).collect()
    }

    /// Whether this agent is here.
    pub fn is_here(&self, id: &AgentId) -> bool {
        self.agents.contains_key(id)
    }

    /// Every channel, by name.
    pub fn rooms(&self) -> Vec<Room> {
        let room = |(name, channel): (&String, &Channel)| Room {
            name: name.clone(),
            members: channel.members.len(),
            invite_only: channel.invited.is_some(),
        };
        self.channels.iter().map(room).collect()
    }

    /// The buffer of a channel, oldest first.
    pub fn buffer(&self, name: &str) -> Vec<Kept> {
        self.channels.get(name).map(|channel| channel.buffer.iter().cloned().collect()).unwrap_or_default()
    }

    /// Whether anybody may read a channel.
    pub fn is_public(&self, name: &str) -> bool {
        self.channels.get(name).is_some_and(|channel| channel.invited.is_none())
    }

    /// Puts back the buffer of a channel that exists.
    pub fn restore(&mut self, name: &str, kept: Vec<Kept>) {
        let skip = kept.len().saturating_sub(self.settings.buffer);
        if let Some(channel) = self.channels.get_mut(name) {
            channel.buffer = kept.into_iter().skip(skip).collect();
        }
    }

    /// One frame to everybody who shares a small channel; in large ones the change waits for the tick.
    fn for_neighbours(&mut self, id: &AgentId, joined: &BTreeSet<String>, frame: String) -> Vec<Out> {
        let mut to = BTreeSet::new();
        for name in joined {
            let Some(channel) = self.channels.get_mut(name) else { continue };
            if channel.members.len() > self.settings.coalesce_above {
                channel.came.insert(id.clone());
            } else {
                to.extend(channel.members.iter().filter(|other| *other != id).cloned());
            }
        }
        if to.is_empty() {
            Vec::new()
        } else {
            vec![Out { to: to.into_iter().collect(), frame: frame.into(), extension: false }]
        }
    }

    fn take_out(&mut self, id: &AgentId, name: &str, now: u64) -> Vec<Out> {
        let Some(agent) = self.agents.get_mut(id) else { return Vec::new() };
        agent.joined.remove(name);
        let frame = server::agent_left(name, &agent.member, now);
        let Some(channel) = self.channels.get_mut(name) else { return Vec::new() };
        let large = channel.members.len() > self.settings.coalesce_above;
        channel.remove(id);
        channel.came.remove(id);
        if channel.members.is_empty() && !self.settings.channels.iter().any(|own| own == name) {
            // A made channel ends with its last member, or names could be used up.
            self.channels.remove(name);
            return Vec::new();
        }
        if large {
            channel.went.insert(id.clone());
            return Vec::new();
        }
        to_others(channel, id, frame).into_iter().collect()
    }
}

impl Channel {
    fn add(&mut self, id: &AgentId) {
        if self.members.insert(id.clone()) {
            self.order.insert(self.next_place, id.clone());
            self.places.insert(id.clone(), self.next_place);
            self.next_place = self.next_place.saturating_add(1);
        }
    }

    fn remove(&mut self, id: &AgentId) {
        self.members.remove(id);
        if let Some(place) = self.places.remove(id) {
            self.order.remove(&place);
        }
    }
}

impl Kept {
    fn replay(&self, channel: &str) -> String {
        let from = Some((&self.from.0, self.from.1.as_str()));
        server::msg(from, channel, &self.content, self.sig.as_deref(), self.msg_id.as_deref(), true, self.at)
    }
}

fn to_one(id: &AgentId, frame: String) -> Out {
    Out { to: vec![id.clone()], frame: frame.into(), extension: false }
}

fn to_others(channel: &Channel, id: &AgentId, frame: String) -> Option<Out> {
    let to: Vec<AgentId> = channel.members.iter().filter(|other| *other != id).cloned().collect();
    if to.is_empty() { None } else { Some(Out { to, frame: frame.into(), extension: false }) }
}
