//! What a program calls: one connection to one relay, as long as it lasts and after.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use zx1_relay_rules::client::{Frame, Presence, Query, Target, units};
use zx1_relay_rules::defaults::MAX_CONTENT;
use zx1_relay_rules::event::{Event, Heard, Listed, Said};
use zx1_relay_rules::id::{is_channel, is_name, is_nick};
use zx1_relay_rules::json::Value;
use zx1_relay_rules::{AgentId, PublicKey, RelayError, signing};

use crate::identity::Identity;
use crate::session::{Command, News, Options, QUEUE, Session, refusal};
use crate::socket::Welcome;
use crate::{ClientError, Result};

/// Time for an answer.
pub const ANSWER: Duration = Duration::from_secs(15);
/// Time for another agent's answer to a request for verification, beyond the relay's own limit.
const VERIFY: Duration = Duration::from_secs(40);
/// News that calls passed over and [`Client::next`] still gives.
const KEPT: usize = 1_024;
/// Members that [`Client::agents`] reads at most.
const MOST_MEMBERS: usize = 100_000;

/// A client. Dropped, it leaves the relay.
#[derive(Debug)]
pub struct Client {
    commands: mpsc::Sender<Command>,
    news: mpsc::Receiver<News>,
    kept: VecDeque<News>,
    welcome: Welcome,
    options: Options,
}

impl Client {
    /// Connects and identifies. From then on a lost connection comes back by itself.
    ///
    /// # Errors
    ///
    /// The relay cannot be reached or refuses; nothing is tried again.
    pub async fn connect(options: Options) -> Result<Client> {
        if !is_name(&options.name) {
            return Err(RelayError::Name.into());
        }
        let (link, welcome) = Session::first(&options, &options.name).await?;
        let (commands, asked) = mpsc::channel(1);
        let (tell, news) = mpsc::channel(QUEUE);
        let session = Session::new(options.clone(), &welcome, asked, tell);
        tokio::spawn(session.run(link));
        Ok(Client { commands, news, kept: VecDeque::new(), welcome, options })
    }

    /// Who this client is on the relay.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// The id on the relay.
    pub fn agent(&self) -> &AgentId {
        &self.welcome.agent
    }

    /// The options that it was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn identity(&self) -> Result<&Identity> {
        self.options.identity.as_deref().ok_or(ClientError::Rule(RelayError::SignatureNeeded))
    }

    /// The next news; `None` after the end. It may be dropped while it waits.
    pub async fn next(&mut self) -> Option<News> {
        match self.kept.pop_front() {
            Some(news) => Some(news),
            None => self.hear().await,
        }
    }

    /// News that are there already.
    pub(crate) fn try_next(&mut self) -> Option<News> {
        if let Some(news) = self.kept.pop_front() {
            return Some(news);
        }
        let news = self.news.try_recv().ok();
        self.remember(news.as_ref());
        news
    }

    async fn hear(&mut self) -> Option<News> {
        let news = self.news.recv().await;
        self.remember(news.as_ref());
        news
    }

    fn remember(&mut self, news: Option<&News>) {
        if let Some(News::Back(welcome)) = news {
            self.welcome = welcome.clone();
        }
    }

    /// Sends a frame as soon as the relay's limits allow. Done means written; the relay's refusal is news.
    ///
    /// # Errors
    ///
    /// [`ClientError::Lost`] when it is not known whether it was sent, [`ClientError::Ended`].
    pub async fn send(&self, frame: Frame) -> Result<()> {
        let (done, wait) = oneshot::channel();
        self.commands.send(Command::Send(frame, done)).await.map_err(|_| ClientError::Ended)?;
        wait.await.map_err(|_| ClientError::Ended)?
    }

    /// Leaves the relay.
    pub async fn close(self) {
        let (done, wait) = oneshot::channel();
        if self.commands.send(Command::Close(done)).await.is_ok() {
            let _ = wait.await;
        }
    }

    /// Waits for an event. What comes before it stays for [`Client::next`].
    ///
    /// # Errors
    ///
    /// The relay's refusal, whatever it refuses; a lost connection; [`ClientError::NoAnswer`].
    pub async fn wait_for<T>(
        &mut self,
        within: Duration,
        mut wanted: impl FnMut(&Heard) -> Option<T>,
    ) -> Result<T> {
        let until = Instant::now() + within;
        loop {
            let news =
                tokio::time::timeout_at(until, self.hear()).await.map_err(|_| ClientError::NoAnswer)?;
            match news {
                None => return Err(ClientError::Ended),
                Some(News::Ended(error)) => return Err(error),
                Some(News::Heard(heard)) => {
                    if let Some(error) = refusal(&heard.event) {
                        return Err(error);
                    }
                    if let Some(found) = wanted(&heard) {
                        return Ok(found);
                    }
                    self.keep(News::Heard(heard));
                }
                Some(News::Lost { why, wait_ms }) => {
                    self.keep(News::Lost { why: why.clone(), wait_ms });
                    return Err(ClientError::Lost { why });
                }
                Some(news) => self.keep(news),
            }
        }
    }

    fn keep(&mut self, news: News) {
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(news);
    }

    /// Sends and waits for the event that answers.
    ///
    /// # Errors
    ///
    /// Those of [`Client::send`] and [`Client::wait_for`].
    pub async fn ask<T>(&mut self, frame: Frame, wanted: impl FnMut(&Heard) -> Option<T>) -> Result<T> {
        self.send(frame).await?;
        self.wait_for(ANSWER, wanted).await
    }

    /// Sends what the relay does not answer, and makes sure that it does not refuse.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub async fn tell(&mut self, frame: Frame) -> Result<()> {
        self.send(frame).await?;
        self.settled().await
    }

    /// Waits until the relay has answered all that was sent before.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub async fn settled(&mut self) -> Result<()> {
        self.ask(Frame::Ping, |heard| (heard.event == Event::Pong).then_some(())).await
    }

    /// The next of the news that a call passed over; [`Client::next`] gives them first, too.
    pub fn passed_over(&mut self) -> Option<News> {
        self.kept.pop_front()
    }

    /// Joins a channel: members that are listed, and how many there are. The buffer follows as news.
    ///
    /// # Errors
    ///
    /// No such channel, not invited, in too many.
    pub async fn join(&mut self, channel: &str) -> Result<(Vec<Listed>, u64)> {
        let frame = Frame::Join { channel: checked(channel)? };
        self.ask(frame, joined(channel)).await
    }

    /// Makes a channel and is in it.
    ///
    /// # Errors
    ///
    /// The channel exists, too many.
    pub async fn create(&mut self, channel: &str, invite_only: bool) -> Result<()> {
        let frame = Frame::CreateChannel { channel: checked(channel)?, invite_only };
        self.ask(frame, joined(channel)).await.map(|_| ())
    }

    /// Leaves a channel.
    ///
    /// # Errors
    ///
    /// Not a member.
    pub async fn leave(&mut self, channel: &str) -> Result<()> {
        let frame = Frame::Leave { channel: checked(channel)? };
        let left = |heard: &Heard| {
            matches!(&heard.event, Event::Left { channel: own } if own == channel).then_some(())
        };
        self.ask(frame, left).await
    }

    /// Invites an agent that is on the relay.
    ///
    /// # Errors
    ///
    /// Not a member, no such agent.
    pub async fn invite(&mut self, channel: &str, agent: &AgentId) -> Result<()> {
        self.tell(Frame::Invite { channel: checked(channel)?, agent: agent.clone() }).await
    }

    /// Says something in a channel or to one agent: the message as the relay gave it out.
    ///
    /// # Errors
    ///
    /// Empty or too long, not a member, no such agent.
    pub async fn say(&mut self, to: &Target, content: &str) -> Result<(Said, u64)> {
        let units = units(content);
        if units > MAX_CONTENT {
            return Err(RelayError::ContentTooLong { units, most: MAX_CONTENT }.into());
        }
        if content.is_empty() {
            return Err(RelayError::Field { field: "content" }.into());
        }
        let own = self.agent().clone();
        let frame = Frame::Msg { to: to.clone(), content: content.to_owned(), sig: None };
        self.ask(frame, |heard| match &heard.event {
            // The relay may have taken secrets out of the text.
            Event::Said(said) if said.from == own && said.to == *to && !said.replay => {
                Some((said.clone(), heard.ts))
            }
            _ => None,
        })
        .await
    }

    /// The public channels and how many members each has.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub async fn channels(&mut self) -> Result<Vec<(String, u64)>> {
        self.ask(Frame::ListChannels, |heard| match &heard.event {
            Event::Channels(list) => Some(list.clone()),
            _ => None,
        })
        .await
    }

    /// The members of a channel, page after page.
    ///
    /// # Errors
    ///
    /// No such channel, not a member of an invite-only one.
    pub async fn agents(&mut self, channel: &str) -> Result<Vec<Listed>> {
        let channel = checked(channel)?;
        let mut all: Vec<Listed> = Vec::new();
        let mut after: Option<AgentId> = None;
        loop {
            let frame = Frame::ListAgents {
                channel: channel.clone(),
                after: after.as_ref().map(ToString::to_string),
            };
            let (mut page, next) = self
                .ask(frame, |heard| match &heard.event {
                    Event::Agents { channel: own, list, next, .. } if *own == channel => {
                        Some((list.clone(), next.clone()))
                    }
                    _ => None,
                })
                .await?;
            all.append(&mut page);
            // A relay whose pages do not advance is not asked for ever.
            let advances = next.as_ref().is_some_and(|next| after.as_ref().is_none_or(|after| next > after));
            if !advances || all.len() >= MOST_MEMBERS {
                return Ok(all);
            }
            after = next;
        }
    }

    /// Changes presence; it is set again after a reconnect.
    ///
    /// # Errors
    ///
    /// A status text of more than 100 characters.
    pub async fn set_presence(&mut self, status: Presence, status_text: Option<String>) -> Result<()> {
        self.tell(Frame::SetPresence { status, status_text }).await
    }

    /// Takes another name, once in 30 seconds.
    ///
    /// # Errors
    ///
    /// A reserved name, too soon.
    pub async fn set_nick(&mut self, nick: &str) -> Result<()> {
        if !is_nick(nick) {
            return Err(RelayError::Nick.into());
        }
        let own = self.agent().clone();
        let taken = |heard: &Heard| match &heard.event {
            Event::Nick { agent, new, .. } if *agent == own && new == nick => Some(()),
            _ => None,
        };
        self.ask(Frame::SetNick { nick: nick.to_owned() }, taken).await
    }

    /// Registers the skills of this list of objects, each with a `capability`, in place of earlier ones.
    ///
    /// # Errors
    ///
    /// Without a key, or a list that the relay does not take.
    pub async fn register_skills(&mut self, skills: Value) -> Result<u64> {
        let sig = self.identity()?.sign(&signing::skills(&skills));
        let frame = Frame::RegisterSkills { skills: Vec::new(), sent: skills, sig: Some(sig) };
        // Read as the relay reads it, so that what it would refuse is not sent.
        let frame = Frame::parse(&frame.encode())?;
        self.ask(frame, |heard| match &heard.event {
            Event::SkillsRegistered { count, .. } => Some(*count),
            _ => None,
        })
        .await
    }

    /// Searches the skills of those who are here: the results as they were registered, and how many there are.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub async fn search_skills(&mut self, query: &Query) -> Result<(Vec<Value>, u64)> {
        let id = token()?;
        let frame =
            Frame::SearchSkills { query: query.clone(), sent: query.to_value(), query_id: Some(id.clone()) };
        self.ask(frame, |heard| match &heard.event {
            Event::SearchResults { query_id, results, total } if query_id.as_ref() == Some(&id) => {
                Some((results.clone(), *total))
            }
            _ => None,
        })
        .await
    }

    /// Asks an agent to prove its key. The relay checks the signature; the key is what it says.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotVerified`] when the agent does not answer or has another key.
    pub async fn verify(&mut self, target: &AgentId) -> Result<PublicKey> {
        let frame = Frame::VerifyRequest { target: target.clone(), nonce: token()? };
        self.send(frame).await?;
        let pubkey = self
            .wait_for(VERIFY, |heard| match &heard.event {
                Event::Verified { agent, pubkey, .. } if agent == target => Some(Ok(pubkey.clone())),
                Event::VerifyFailed { target: Some(agent), reason, .. } if agent == target => {
                    Some(Err(ClientError::NotVerified { reason: zx1_net::one_line(reason, 200) }))
                }
                _ => None,
            })
            .await??;
        Ok(PublicKey::from_pem(&pubkey)?)
    }
}

fn joined(channel: &str) -> impl FnMut(&Heard) -> Option<(Vec<Listed>, u64)> + '_ {
    move |heard| match &heard.event {
        Event::Joined { channel: own, agents, total } if own == channel => Some((agents.clone(), *total)),
        _ => None,
    }
}

fn checked(channel: &str) -> Result<String> {
    if is_channel(channel) { Ok(channel.to_owned()) } else { Err(RelayError::ChannelName.into()) }
}

/// A new id of 32 hex digits.
pub(crate) fn token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| ClientError::Disk {
        path: "The system's random numbers".to_owned(),
        why: error.to_string(),
    })?;
    Ok(hex::encode(bytes))
}
