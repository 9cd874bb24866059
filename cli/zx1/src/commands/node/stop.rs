//! `zx1 node stop`.

use crate::context::Context;
use crate::errors::Result;
use crate::node;
use crate::output::{Page, Report};
use serde::Serialize;
use std::time::{Duration, Instant};
use zx1_operator::node::NodeClient;
use zx1_operator::{Error as Operation, Refusal};

/// How long its end is waited for; what it then does is in its log.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct Stopped {
    agent: String,
    stopped: bool,
}

impl Report for Stopped {
    fn draw(&self, page: &mut Page) {
        match self.stopped {
            true => page.line(format!("The node of {} has stopped.", self.agent)),
            false => page
                .line(format!("The node of {} was asked to stop and still runs.", self.agent))
                .next("zx1 node status"),
        };
    }
}

/// Whether nothing listens there any more.
async fn is_gone(client: &NodeClient) -> bool {
    let error = client.identity().await.err();
    error.is_some_and(|error| matches!(error, Operation::Refused(Refusal::NodeNotRunning { .. })))
}

pub(super) fn run(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let client = node::client(context, &agent)?;
    let stopped = context.wait(async {
        client.stop().await?;
        let _progress = context.spinner("Waiting for the node's end");
        let begun = Instant::now();
        while !is_gone(&client).await {
            if begun.elapsed() > PATIENCE {
                return Ok(false);
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(true)
    })?;
    context.print(&Stopped { agent: agent.shown(), stopped })
}
