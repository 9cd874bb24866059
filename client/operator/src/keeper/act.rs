//! Doing one action.

use super::Keeper;
use super::plan::Action;
use super::record::Record;
use crate::ask;
use crate::batch::Request;
use crate::error::{Refusal, Result};
use crate::send::Sent;
use solana_address::Address;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{Flow, Stored};
use zx1_interface::accounts::{AskAccount, ChallengeAccount};
use zx1_protocol::units::{Epoch, MicroUsdc};

impl Keeper<'_> {
    /// Does it. What was sent is returned; `None` when nothing had to be.
    pub(super) async fn act(&self, action: &Action, record: &mut Record) -> Result<Option<Sent>> {
        let Self { operator, agent, key, store, .. } = self;
        match action {
            Action::Answer { challenge } => {
                let challenge = self.challenge(challenge).await?;
                operator.answer_unasked(&challenge, agent, key, *store).await.map(Some)
            }
            Action::Show { ask } => operator.show_unasked(address(ask)?, key, *store).await.map(Some),
            Action::PayLease { epochs, cost_micro_usdc } => {
                self.pay_lease(*epochs, *cost_micro_usdc, record).await.map(Some)
            }
            Action::OpenHead => {
                let sati = Sati::connect(operator.client()).await?;
                let actions = operator.actions(&sati).await?;
                let draft = actions.open_head(agent.mint, key.address()).await?;
                self.send(&draft).await.map(Some)
            }
            Action::SubmitBatch { epoch } => self.submit_batch(Epoch(*epoch)).await.map(Some),
            Action::Upload { epoch } => {
                let bytes = operator.log_reader(agent).batches().bundle_bytes(Epoch(*epoch))?;
                let bytes = bytes.ok_or(Refusal::BatchMissing { epoch: *epoch })?;
                if let Some(store) = store {
                    operator.upload_batch(agent, Epoch(*epoch), &bytes, store).await?;
                }
                Ok(None)
            }
            Action::Resolve { challenge } => {
                operator.resolve_unasked(address(challenge)?, key).await.map(Some)
            }
            Action::CloseChallenge { challenge } => {
                let draft = operator.close_draft(address(challenge)?, key).await?;
                self.send(&draft).await.map(Some)
            }
            Action::SettleAsk { ask } => {
                let ask = self.ask(ask).await?;
                let next = ask::settle::next(&ask, operator.now().await?.slot);
                let draft = operator.settle_ask_draft(&ask, next, key).await?;
                self.send(&draft).await.map(Some)
            }
            Action::CloseBatch { epoch } => {
                let draft = operator.close_batch_draft(agent, key, *epoch).await?;
                self.send(&draft).await.map(Some)
            }
        }
    }

    async fn send(&self, flow: &dyn Flow) -> Result<Sent> {
        self.operator.send_unasked(flow, self.key).await
    }

    async fn challenge(&self, text: &str) -> Result<Stored<ChallengeAccount>> {
        let found = self.operator.client().challenge(address(text)?).await?;
        found.ok_or_else(|| Refusal::NoChallenge { address: text.to_owned() }.into())
    }

    async fn ask(&self, text: &str) -> Result<Stored<AskAccount>> {
        let found = self.operator.client().leaf_ask(address(text)?).await?;
        found.ok_or_else(|| Refusal::NoAsk { address: text.to_owned() }.into())
    }

    async fn pay_lease(&self, epochs: u64, cost: MicroUsdc, record: &mut Record) -> Result<Sent> {
        let sati = Sati::connect(self.operator.client()).await?;
        let actions = self.operator.actions(&sati).await?;
        // The plan never asks for more than the cap on epochs ahead and the grace period.
        let epochs = u32::try_from(epochs).unwrap_or(u32::MAX);
        let draft = actions.pay_lease(self.agent.mint, self.key.address(), epochs).await?;
        // Noted before it is sent, and taken back only where nothing can land any more.
        record.spend(cost)?;
        let sent = self.send(&draft).await;
        let cannot_land = || self.operator.may_land_unasked(draft.intent()).is_ok_and(|may| !may);
        if sent.as_ref().is_err_and(|error| error.is_refusal() || cannot_land()) {
            record.unspend(cost)?;
        }
        sent
    }

    async fn submit_batch(&self, epoch: Epoch) -> Result<Sent> {
        let Self { operator, agent, key, store, .. } = self;
        let request = Request { epoch: Some(epoch.0), ..Request::default() };
        let saved = operator.save_batch(agent, key, &request).await?;
        let (_, bytes) = operator.saved_bundle(agent, saved.epoch())?;
        let draft = operator.submit_draft(key, &saved).await?;
        let sent = self.send(&draft).await?;
        if let Some(store) = store {
            operator.upload_batch(agent, saved.epoch(), &bytes, store).await?;
        }
        Ok(sent)
    }
}

fn address(text: &str) -> Result<Address> {
    text.parse().map_err(|_| Refusal::NoChallenge { address: text.to_owned() }.into())
}
