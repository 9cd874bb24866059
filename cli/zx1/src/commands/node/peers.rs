//! `zx1 node peers`.

use crate::context::Context;
use crate::errors::Result;
use crate::node;
use crate::output::{Page, Table};
use crate::words::count;
use zx1_operator::node::wire::Peer;

fn draw(peers: &Vec<Peer>, page: &mut Page) {
    if peers.is_empty() {
        page.line("The node has no peers.").next("start it with --bootstrap MULTIADDR, a peer that is known");
        return;
    }
    let mut table = Table::new(["peer", "", "score", "ms", "mesh", "agent"]).ids(&[0, 5]);
    for peer in peers {
        let way = if peer.is_outbound { "out" } else { "in" };
        let mesh = match peer.is_graylisted {
            true => "graylisted".to_owned(),
            false => count(peer.mesh.len(), "topic", "topics"),
        };
        let agent = peer.agent.as_deref().unwrap_or("-");
        let ping = ping(peer.ping_micros);
        table.row([&peer.peer, &way, &score(peer.score), &ping, &mesh, &agent]);
    }
    page.table(table, "");
}

/// Points, from hundredths of one.
fn score(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let whole = hundredths.unsigned_abs();
    format!("{sign}{}.{:02}", whole / 100, whole % 100)
}

/// Milliseconds of the last round trip.
fn ping(micros: Option<u64>) -> String {
    match micros {
        None => "-".to_owned(),
        Some(micros) if micros < 1_000 => "<1".to_owned(),
        Some(micros) => (micros / 1_000).to_string(),
    }
}

pub(super) fn run(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let client = node::client(context, &agent)?;
    let peers = context.wait(async { Ok(client.peers().await?) })?;
    context.show(&peers, draw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_points_and_pings_milliseconds() {
        assert_eq!(
            [0, 7, -7, 1_234, i64::MIN].map(score),
            ["0.00", "0.07", "-0.07", "12.34", "-92233720368547758.08"]
        );
        assert_eq!([None, Some(999), Some(41_900)].map(ping), ["-", "<1", "41"]);
    }
}
