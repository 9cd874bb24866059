//! `zx1 negotiate show`.

use crate::context::{Agent, Context};
use crate::errors::Result;
use crate::input;
use crate::node::{self, moment};
use crate::output::{Page, Report, Table};
use serde::Serialize;
use zx1_operator::node::wire::Conversation;

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    conversation: Conversation,
    /// `proposer`, `responder`, `notary` or none of these.
    role: Option<&'static str>,
    #[serde(skip)]
    me: String,
}

impl Shown {
    fn of(conversation: Conversation, agent: &Agent) -> Self {
        let me = agent.mint.to_string();
        let parts = [
            (Some(&conversation.proposer), "proposer"),
            (Some(&conversation.responder), "responder"),
            (conversation.notary.as_ref(), "notary"),
        ];
        let role = parts.into_iter().find(|(party, _)| *party == Some(&me)).map(|(_, role)| role);
        Self { conversation, role, me }
    }

    /// An agent of the conversation, as the table of its messages names it.
    fn party(&self, agent: &str) -> String {
        let it = &self.conversation;
        match agent {
            _ if agent == self.me => "you".to_owned(),
            _ if agent == it.proposer => "proposer".to_owned(),
            _ if agent == it.responder => "responder".to_owned(),
            _ if it.notary.as_deref() == Some(agent) => "notary".to_owned(),
            other => other.to_owned(),
        }
    }

    fn next(&self) -> Option<String> {
        let id = &self.conversation.conversation;
        match (self.conversation.phase.as_str(), self.role) {
            ("proposer_bid", Some("responder")) | ("responder_bid", Some("proposer")) => Some(format!(
                "zx1 negotiate accept {id} --value {}, or counter or reject",
                self.conversation.value
            )),
            ("agreed", Some("responder")) => Some(format!("zx1 negotiate deliver {id} --file WORK")),
            _ => {
                let due = self.conversation.owed.first()?;
                Some(format!("zx1 negotiate rate {id} {} --score N", due.target))
            }
        }
    }
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        let it = &self.conversation;
        let named = |agent: &str| if agent == self.me { format!("{agent} (you)") } else { agent.to_owned() };
        page.field("conversation", &it.conversation)
            .field("phase", it.phase.replace('_', " "))
            .field("last bid", &it.value)
            .field("proposer", named(&it.proposer))
            .field("responder", named(&it.responder))
            .maybe("notary", it.notary.as_deref().map(named));
        for due in &it.owed {
            page.field("rating owed of", &due.target);
        }
        let mut table = Table::new(["sent", "from", "type", "payload", ""]).ids(&[3, 1]);
        for line in &it.lines {
            let note = if line.is_out_of_order { "out of order" } else { "" };
            let (at, from) = (moment(line.timestamp_micros), self.party(&line.sender));
            table.row([&at, &from, &line.r#type, &line.payload_hash, &note]);
        }
        page.heading("Messages").table(table, "None is known here.");
        if let Some(next) = self.next() {
            page.next(next);
        }
    }
}

pub(super) fn run(conversation: &str, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = input::conversation(conversation)?;
    let client = node::client(context, &agent)?;
    let known = context.wait(async { Ok(client.conversation(&conversation).await?) })?;
    context.print(&Shown::of(known, &agent))
}
