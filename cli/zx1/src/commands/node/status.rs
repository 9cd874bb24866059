//! `zx1 node status`.

use crate::context::Context;
use crate::errors::Result;
use crate::node;
use crate::output::Page;
use crate::words::{self, count, duration};
use zx1_operator::Refusal;
use zx1_operator::defaults::CLOCK_SKEW_SECONDS;
use zx1_operator::node::wire::{Registration, Status};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Agent whose node it is: a local name or a mint [default: --agent, or the setting]
    #[arg(value_name = "AGENT")]
    of: Option<String>,
}

fn draw(status: &Status, page: &mut Page) {
    let identity = &status.identity;
    page.field("agent", &identity.agent)
        .field("peer id", &identity.peer)
        .field("key", &identity.key)
        .field("version", &status.version)
        .field("running", format!("since {}", node::moment(status.started_micros)))
        .field(
            "gates",
            if status.gates == "dev" { "off: every key may sign everything" } else { &status.gates },
        )
        .field("cluster", cluster(status))
        .maybe("clock", clock(status))
        .field("standing", standing(status))
        .field("peers", status.peers);
    let messages = &status.messages;
    page.field(
        "messages",
        format!(
            "{} accepted, {} ignored, {} rejected, {} waiting",
            messages.accepted, messages.ignored, messages.rejected, messages.waiting
        ),
    );
    let outbox = &status.outbox;
    page.field(
        "outbox",
        format!("{} queued, {} sent, {} unanswered", outbox.queued, outbox.sent, outbox.unanswered),
    )
    .field("signer", if status.signer { "connected" } else { "not connected: deals wait for it" })
    .field("log", if status.owns_log { "written by this node" } else { "written by another process" });
    addresses(page, "listens on", &identity.listening);
    addresses(page, "reached at", &identity.external);
    page.field("hosted", hosted(&status.registration));
    if let Some(next) = next(status) {
        page.next(next);
    }
}

fn cluster(status: &Status) -> String {
    let cluster = &status.cluster;
    let age = duration(cluster.age_seconds);
    match cluster.is_away {
        true => format!("away: its last answer is {age} old, slot {}", cluster.slot),
        false => format!("slot {}, {age} ago ({})", cluster.slot, words::short(&cluster.genesis)),
    }
}

/// A clock that is so far off that nobody hears the node.
fn clock(status: &Status) -> Option<String> {
    let ahead = status.clock_ahead_seconds;
    let off = ahead.unsigned_abs();
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    let is_off = off > CLOCK_SKEW_SECONDS;
    is_off.then(|| format!("{} {side} the cluster's: other nodes ignore its messages", duration(off)))
}

fn standing(status: &Status) -> String {
    match (&status.standing.missing, status.standing.is_good) {
        (_, true) => "good: other nodes take its messages".to_owned(),
        (Some(missing), _) => format!("other nodes drop its messages: {}", words::clause(missing)),
        (None, _) => "other nodes drop its messages".to_owned(),
    }
}

/// Whether others find the node by its agent's registration file.
fn hosted(kept: &Registration) -> String {
    let file = words::one_line(&kept.file, 200);
    match (kept.hosted.as_str(), &kept.why) {
        ("agrees", _) => format!("{file}; the hosted copy agrees"),
        (_, Some(why)) => format!("{file}; {}", words::clause(&words::one_line(why, 300))),
        (_, None) => "not compared before an address is confirmed".to_owned(),
    }
}

/// One address a line, below each other.
fn addresses(page: &mut Page, label: &str, all: &[String]) {
    for (index, address) in all.iter().enumerate() {
        page.field(if index == 0 { label } else { "" }, address);
    }
    if all.is_empty() {
        page.field(label, "no known address");
    }
}

fn next(status: &Status) -> Option<String> {
    let outbox = &status.outbox;
    let waits = || {
        format!(
            "zx1 message list shows {}",
            count(outbox.unanswered, "unanswered message", "unanswered messages")
        )
    };
    Some(match status {
        _ if clock(status).is_some() => "set this machine's clock, by time synchronization".to_owned(),
        _ if !status.standing.is_good && status.gates != "dev" => "zx1 doctor".to_owned(),
        _ if status.cluster.is_away => "check the cluster (zx1 doctor)".to_owned(),
        _ if outbox.unanswered > 0 => waits(),
        _ if !status.signer && outbox.queued > 0 => "zx1 node signer".to_owned(),
        _ if matches!(status.registration.hosted.as_str(), "differs" | "unread") => {
            match &status.registration.uri {
                Some(uri) => format!("host the registration file at {}", words::one_line(uri, 200)),
                None => return None,
            }
        }
        _ if status.peers == 0 => "start it with --bootstrap MULTIADDR, a peer that is known".to_owned(),
        _ => return None,
    })
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = node::agent(context, args.of.as_deref())?;
    let client = node::client(context, &agent)?;
    let status = context.wait(async { Ok(client.status().await?) })?;
    if status.identity.agent != agent.mint.to_string() {
        let why = format!("it is the node of {}", words::one_line(&status.identity.agent, 100));
        return Err(Refusal::NodeBroken { why }.into());
    }
    context.show(&status, draw)
}
