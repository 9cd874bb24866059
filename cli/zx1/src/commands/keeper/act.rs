//! Doing one action.

use super::plan::Action;
use super::record::Record;
use crate::agent_files;
use crate::chain::Chain;
use crate::commands::{batch, challenge};
use crate::context::{Agent, Context};
use crate::errors::{Error, Failure, Result};
use crate::input;
use crate::keys::Key;
use crate::tx::{self, Sent};
use solana_address::Address;
use zx1_chain::rpc::Flow;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_log::AnyStore;
use zx1_protocol::units::Epoch;

/// What doing needs.
pub(super) struct Actor<'a> {
    pub(super) context: &'a Context,
    pub(super) chain: &'a Chain,
    pub(super) agent: &'a Agent,
    pub(super) key: &'a Key,
    pub(super) store: Option<&'a AnyStore>,
}

impl Actor<'_> {
    /// Does it. What was sent is returned; `None` when nothing had to be.
    pub(super) async fn act(&self, action: &Action, record: &mut Record) -> Result<Option<Sent>> {
        match action {
            Action::Answer { challenge } => self.answer(challenge).await.map(Some),
            Action::PayLease { epochs, cost_micro_usdc } => {
                self.pay_lease(*epochs, *cost_micro_usdc, record).await.map(Some)
            }
            Action::SubmitBatch { epoch } => self.submit_batch(Epoch(*epoch)).await,
            Action::Upload { epoch } => self.upload(Epoch(*epoch)).await.map(|()| None),
            Action::Resolve { challenge } => {
                let draft =
                    challenge::resolve_draft(self.chain, self.address(challenge)?, self.key.address())
                        .await?;
                self.send(&draft).await.map(Some)
            }
            Action::CloseChallenge { challenge } => {
                let draft =
                    challenge::close_draft(self.chain, self.address(challenge)?, self.key.address()).await?;
                self.send(&draft).await.map(Some)
            }
            Action::CloseBatch { epoch } => {
                let sati = Sati::connect(&self.chain.client).await?;
                let actions = Actions::new(&self.chain.client, &sati).await?;
                let draft = actions.close_batch(self.agent.mint, *epoch, self.key.address()).await?;
                self.send(&draft).await.map(Some)
            }
        }
    }

    async fn send(&self, flow: &dyn Flow) -> Result<Sent> {
        tx::run_unasked(self.context, self.chain, flow, self.key).await
    }

    fn address(&self, text: &str) -> Result<Address> {
        input::address(text, "The challenge")
    }

    async fn answer(&self, address: &str) -> Result<Sent> {
        let address = self.address(address)?;
        let found = self.chain.client.challenge(address).await?;
        let found = found.ok_or_else(|| Error::NoChallenge { address: address.to_string() })?;
        let data = challenge::Data::of(self.context, self.agent, self.store)?;
        let (arguments, _) = challenge::find_answer(self.chain, &found, &data).await?;
        let flow = challenge::answer_draft(self.chain, self.key.address(), address, arguments).await?;
        self.send(flow.as_ref()).await
    }

    async fn pay_lease(&self, epochs: u64, cost: u64, record: &mut Record) -> Result<Sent> {
        let sati = Sati::connect(&self.chain.client).await?;
        let actions = Actions::new(&self.chain.client, &sati).await?;
        // The plan never asks for more than the cap on epochs ahead and the grace period.
        let epochs_u32 = u32::try_from(epochs).unwrap_or(u32::MAX);
        let draft = actions.pay_lease(self.agent.mint, self.key.address(), epochs_u32).await?;
        // Noted before it is sent, and taken back only where nothing can land any more.
        record.spend(cost)?;
        let sent = self.send(&draft).await;
        let intent = draft.intent();
        if let Err(failure) = &sent
            && (is_refusal(failure) || tx::may_land_unasked(self.context, intent).is_ok_and(|may| !may))
        {
            record.unspend(cost)?;
        }
        sent
    }

    async fn submit_batch(&self, epoch: Epoch) -> Result<Option<Sent>> {
        let batches = agent_files::reader(self.context, self.agent)?.batches();
        if batches.get(epoch)?.is_none() {
            let plan = batch::plan(self.chain, self.agent, Some(epoch.0)).await?;
            let log = agent_files::open_log(self.context, self.agent)?;
            let (built, _) = batch::build_and_keep(self.context, self.chain, self.agent, &log, plan).await?;
            let bundle =
                built.bundle().map_err(|error| agent_files::refused(error.code(), &error, "zx1 log list"))?;
            batch::sign_and_seal(&log, &bundle, plan.covered, self.key)?;
        }
        let saved = batches.get(epoch)?.ok_or(Error::BatchMissing { epoch: epoch.0 })?;
        let (commitment, bytes) = batch::commitment(self.context, self.agent, &saved)?;
        let draft = batch::submit_draft(self.chain, self.key.address(), &saved, &commitment).await?;
        let sent = self.send(&draft).await?;
        if self.store.is_some() {
            batch::upload(self.context, self.agent, epoch, &bytes, None).await?;
        }
        Ok(Some(sent))
    }

    async fn upload(&self, epoch: Epoch) -> Result<()> {
        let bytes = agent_files::reader(self.context, self.agent)?.batches().bundle_bytes(epoch)?;
        let bytes = bytes.ok_or(Error::BatchMissing { epoch: epoch.0 })?;
        batch::upload(self.context, self.agent, epoch, &bytes, None).await.map(|_| ())
    }
}

/// Whether the chain certainly refused it: numbers of the programs, and of what never reached one.
fn is_refusal(failure: &Failure) -> bool {
    (6000..7000).contains(&failure.code) || (7020..7060).contains(&failure.code)
}
