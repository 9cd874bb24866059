//! The task that announces contracts on the mesh: one after the other, at its own pace, and nobody waits for it.

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use zx1_market::{ContractId, State};
use zx1_operator::{Error as NodeError, Refusal};

use super::Engine;
use crate::announce::{AWAY_PAUSE, Announcer, MAX_WAITING, Outcome, PACE, Standing, message};
use crate::store::ListFilter;

impl Engine {
    /// Announces until cancelled: first what is open already, then whatever opens.
    pub(super) async fn announce(self, announcer: Announcer, cancel: CancellationToken) {
        if cancel.run_until_cancelled(self.announce_open(&announcer)).await.is_none() {
            return;
        }
        let mut standing = Standing::default();
        let mut is_away = false;
        loop {
            self.metrics().mesh.waiting(announcer.waiting());
            self.metrics().mesh.add(Outcome::Dropped, announcer.dropped());
            let Some(id) = announcer.take() else {
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = announcer.more() => continue,
                }
            };
            let said = cancel.run_until_cancelled(self.say(&announcer, &mut standing, id)).await;
            let pause = match said {
                None => return,
                Some(Ok(None)) => continue,
                Some(Ok(Some(outcome))) => {
                    self.metrics().mesh.add(outcome, 1);
                    if std::mem::take(&mut is_away) {
                        tracing::info!("contracts are announced on the mesh again");
                    }
                    self.metrics().mesh.live(true);
                    PACE
                }
                Some(Err(why)) => {
                    self.metrics().mesh.live(false);
                    if !std::mem::replace(&mut is_away, true) {
                        tracing::warn!("contracts are not announced on the mesh: {why}");
                    }
                    announcer.note(id);
                    AWAY_PAUSE
                }
            };
            if cancel.run_until_cancelled(sleep(pause)).await.is_none() {
                return;
            }
        }
    }

    /// Notes what is open now, the oldest first.
    async fn announce_open(&self, announcer: &Announcer) {
        let limit = i64::try_from(MAX_WAITING).unwrap_or(i64::MAX);
        let filter =
            ListFilter { state: Some(State::Open.as_str().to_owned()), limit, ..ListFilter::default() };
        match self.store().list(filter).await {
            Ok(open) => open
                .iter()
                .rev()
                .filter_map(|listed| listed.id.parse().ok())
                .for_each(|id| announcer.note(id)),
            Err(error) => {
                tracing::warn!(code = error.code(), %error, "open contracts were not announced again")
            }
        }
    }

    /// One contract's turn; `None` when there is nothing to say.
    ///
    /// # Errors
    /// Why the node is away.
    async fn say(
        &self,
        announcer: &Announcer,
        standing: &mut Standing,
        id: ContractId,
    ) -> std::result::Result<Option<Outcome>, String> {
        let case = match self.read(id).await {
            Ok(case) => case,
            Err(error) => {
                tracing::debug!(code = error.code(), contract = %id, "not announced: {error}");
                return Ok(None);
            }
        };
        let now = self.now();
        let Some((outcome, announcement)) = standing.due(&case, &announcer.market, now) else {
            return Ok(None);
        };
        let message = message(&announcement, case.head().seq);
        let sent = match announcer.place.client() {
            Ok(client) => client.send(&message).await,
            Err(error) => Err(error),
        };
        match sent {
            Ok(_) => {
                standing.said(outcome, announcement, now);
                Ok(Some(outcome))
            }
            Err(NodeError::Refused(Refusal::NodeRefused { number, why })) => {
                tracing::warn!(contract = %id, "the node refused ({number}) to announce it: {why}");
                Ok(Some(Outcome::Refused))
            }
            Err(NodeError::Refused(Refusal::NodeNotRunning { why, .. })) => {
                Err(format!("the node does not answer ({why}); contracts are found in the list meanwhile"))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
