//! What a party's entry does: who may, then the action itself.

use super::phase::{CourtStep, Phase};
use super::{Case, Effect};
use crate::chain::{Data, Side};
use crate::{Address, Millis, PartyId, Reason, Refusal, Result, State};

impl Case {
    /// Act on a party's entry. `said` is the entry's `from`.
    pub(super) fn by_party(
        &mut self,
        data: Data,
        actor: PartyId,
        said: Option<Side>,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        if let (Some(said), Some(side)) = (said, self.acting_side(&data, &actor))
            && said != side
        {
            return Err(Reason::EntryFrom.into());
        }
        // Between a bond and the entry that confirms its deposit there is nothing for a party to do.
        if self.awaits_bonded() {
            return Err(Reason::DepositPending.into());
        }
        match data {
            Data::Post { .. } => Err(Reason::PostFirst.into()),
            Data::Cancel { .. } => self.cancel(actor, now, effects),
            Data::Bond { agent, payout } => self.bond(actor, agent, payout, now),
            Data::Accept { agent } => self.accept(actor, agent, now, effects),
            Data::Decline { .. } => self.decline(actor, now, effects),
            Data::Investigate { command } => self.investigate(actor, command, now),
            Data::Result { command, .. } => self.result(actor, &command),
            Data::Fix { corrected_command, .. } => self.fix(actor, corrected_command.is_some(), now),
            Data::Verify { success, failure, .. } => {
                self.verify(actor, success, failure.as_ref(), now, effects)
            }
            Data::ReviewAccept { .. } => self.review_accept(actor, now, effects),
            Data::ReviewReject { failure, .. } => self.review_reject(actor, failure.as_ref(), now),
            Data::DisputeFiled { side, .. } => self.dispute(actor, side, now),
            Data::DisputeResponse { side, .. } => self.respond(actor, side, now, effects),
            Data::Appeal { side, .. } => self.appeal(actor, side, now),
            Data::Waive { side } => self.waive(actor, side, now, effects),
            Data::Chat { .. } | Data::Message { .. } => self.talk(actor, None),
            Data::Ask { .. } => self.talk(actor, Some(Side::Agent)),
            Data::Answer { .. } => self.talk(actor, Some(Side::Principal)),
            Data::Halt { .. } => self.halt(actor, now),
            Data::Resume { .. } => self.resume(actor, now),
            Data::BackOut { .. } => self.back_out(actor, now),
            Data::Accounts { payout } => self.set_payout(actor, payout),
            Data::Feedback {} => self.leave_feedback(actor),
            // Server entries never come here.
            other => Err(Refusal::with(Reason::NotServer, other.kind())),
        }
    }

    /// The side that the actor has, or takes with this entry.
    fn acting_side(&self, data: &Data, actor: &PartyId) -> Option<Side> {
        match data {
            Data::Bond { .. } | Data::Accept { .. } => Some(Side::Agent),
            _ => self.side_of(actor),
        }
    }

    pub(super) fn need_side(&self, actor: &PartyId) -> Result<Side> {
        self.side_of(actor).ok_or_else(|| Reason::NotParty.into())
    }

    pub(super) fn need_principal(&self, actor: &PartyId) -> Result<()> {
        if *actor == self.principal.id { Ok(()) } else { Err(Reason::NotPrincipal.into()) }
    }

    pub(super) fn need_agent(&self, actor: &PartyId) -> Result<()> {
        if self.agent() == Some(*actor) { Ok(()) } else { Err(Reason::NotAgent.into()) }
    }

    /// The actor's side, which must be the one that the entry names.
    pub(super) fn need_named(&self, actor: &PartyId, named: Side) -> Result<Side> {
        let side = self.need_side(actor)?;
        if side == named { Ok(side) } else { Err(Reason::EntryFrom.into()) }
    }

    pub(super) fn not_closing(&self) -> Result<()> {
        match self.phase {
            Phase::Closing { until, .. } => Err(Refusal::with(Reason::Closing, until)),
            _ => Ok(()),
        }
    }

    pub(super) fn need_state(&self, states: &[State]) -> Result<()> {
        if states.contains(&self.state) { Ok(()) } else { Err(self.wrong_state()) }
    }

    /// Words. Nobody speaks while the judge reads: what it signs must be what it has read.
    fn talk(&self, actor: PartyId, only: Option<Side>) -> Result<()> {
        let side = self.need_side(&actor)?;
        match only {
            Some(Side::Principal) if side != Side::Principal => return Err(Reason::NotPrincipal.into()),
            Some(Side::Agent) if side != Side::Agent => return Err(Reason::NotAgent.into()),
            _ => {}
        }
        if !self.state.can_talk() {
            return Err(self.wrong_state());
        }
        if matches!(&self.phase, Phase::Court(p) if matches!(p.step, CourtStep::Judging { .. })) {
            return Err(Reason::NotYourTurn.into());
        }
        Ok(())
    }

    /// A new payout address: not once a dispute, a halt or the end has come (decision E8).
    fn set_payout(&mut self, actor: PartyId, payout: Address) -> Result<()> {
        let side = self.need_side(&actor)?;
        let open = [State::Unfunded, State::Open, State::Investigating, State::InProgress, State::Review];
        let closing = matches!(self.phase, Phase::Closing { .. });
        if !open.contains(&self.state) || closing {
            return Err(Refusal::with(
                Reason::AccountsFrozen,
                if closing { "closing" } else { self.state.as_str() },
            ));
        }
        self.reserved()?;
        self.not_own_account(payout)?;
        let party = match side {
            Side::Principal => Some(&mut self.principal),
            Side::Agent => self.agent.as_mut(),
        };
        if let Some(party) = party {
            party.payout = Some(payout);
        }
        Ok(())
    }

    /// Money that an escrow account sends to another one of the contract would come back as a late payment.
    pub(super) fn not_own_account(&self, payout: Address) -> Result<()> {
        let agent = self.agent.as_ref().and_then(|agent| agent.deposit);
        let own =
            [self.principal.deposit, agent].into_iter().flatten().any(|deposit| deposit.account == payout);
        if own { Err(Reason::PayoutAddress.into()) } else { Ok(()) }
    }

    /// Nothing is chained while a bond waits for its deposit: the bond hangs on the present head.
    pub(super) fn reserved(&self) -> Result<()> {
        match &self.phase {
            Phase::Open { reservation: Some(r), .. } => Err(Refusal::with(Reason::Reserved, r.until)),
            _ => Ok(()),
        }
    }

    fn leave_feedback(&mut self, actor: PartyId) -> Result<()> {
        let side = self.need_side(&actor)?;
        if !self.state.is_terminal() {
            return Err(self.wrong_state());
        }
        if self.feedback.insert(side) { Ok(()) } else { Err(Reason::FeedbackTwice.into()) }
    }
}
