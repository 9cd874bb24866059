//! `zx1 notary run`, `serve` and `stop`.

use super::Terms;
use crate::context::Context;
use crate::errors::Result;
use crate::node::{self, Lasting};
use crate::output::{self, Page, Report};
use crate::words;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use zx1_operator::node::wire::{Desk, Serve};

/// Interval of questions for tasks.
const POLL: Duration = Duration::from_secs(1);

/// One line for each thing that happens.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Started {
        agent: String,
        #[serde(flatten)]
        terms: &'a Serve,
    },
    Task(&'a Desk),
    Stopped {
        agent: String,
    },
}

impl Report for Line<'_> {
    fn draw(&self, page: &mut Page) {
        match self {
            Self::Started { agent, terms } => page.raw(format!(
                "{agent} offers to be a notary for {} {}, within {} s.",
                terms.fee,
                words::one_line(&terms.unit, 32),
                terms.seconds
            )),
            Self::Task(desk) => {
                let shown = words::count(desk.exhibits.len(), "message", "messages");
                page.raw(format!("{}: {}, {shown} shown", desk.conversation, desk.stage))
            }
            Self::Stopped { agent } => page.raw(format!("{agent} makes no further offers.")),
        };
    }
}

/// Lines for people go to standard error, objects for programs to standard output.
fn say(context: &Context, line: &Line<'_>) -> Result<()> {
    if context.format()?.is_json() {
        return context.print(line);
    }
    let mut page = Page::new(output::MAX_WIDTH);
    line.draw(&mut page);
    output::write_err(&page.finish());
    Ok(())
}

/// What is new about a task: where it stands, and how much was shown.
fn news_of(desk: &Desk) -> (String, usize) {
    (desk.stage.clone(), desk.exhibits.len())
}

/// Serves while it runs. A crash of this process leaves the node serving, which `zx1 notary stop` ends.
pub(super) fn run(terms: &Terms, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let terms = terms.wire()?;
    let mut node = Lasting::new(context, &agent)?;
    let served = context.serve(async {
        // The first answer says whether the node is there at all.
        let known = node.client().desks().await;
        let known = node.outlast(known).await?.unwrap_or_default();
        let mut seen: BTreeMap<String, (String, usize)> =
            known.iter().map(|desk| (desk.conversation.clone(), news_of(desk))).collect();
        while {
            let taken = node.client().serve_notary(&terms).await;
            node.outlast(taken).await?.is_none()
        } {}
        say(context, &Line::Started { agent: agent.shown(), terms: &terms })?;
        loop {
            let desks = node.client().desks().await;
            if let Some(desks) = node.outlast(desks).await? {
                for desk in &desks {
                    if seen.insert(desk.conversation.clone(), news_of(desk)) != Some(news_of(desk)) {
                        say(context, &Line::Task(desk))?;
                    }
                }
            }
            tokio::time::sleep(POLL).await;
        }
    });
    let stopped = context.wait(async { Ok(node.client().stop_notary().await?) });
    served?;
    stopped?;
    say(context, &Line::Stopped { agent: agent.shown() })
}

fn draw(terms: &Option<Serve>, page: &mut Page) {
    match terms {
        Some(terms) => page
            .field("fee", &terms.fee)
            .field("unit", words::one_line(&terms.unit, 32))
            .field("seconds", terms.seconds)
            .maybe("tasks at a time", terms.max)
            .next("zx1 notary desk"),
        None => page.line("The agent makes no offers to be a notary.").next("zx1 notary run"),
    };
}

pub(super) fn serve(terms: &Terms, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let terms = terms.wire()?;
    let client = node::client(context, &agent)?;
    let terms = context.wait(async { Ok(client.serve_notary(&terms).await?) })?;
    context.show(&terms, draw)
}

pub(super) fn stop(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let client = node::client(context, &agent)?;
    let terms = context.wait(async { Ok(client.stop_notary().await?) })?;
    context.show(&terms, draw)
}
