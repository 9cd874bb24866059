//! Where a fix is looked for: the built-in rules, then the user's own model, then the market. The first that has one
//! ends the search.

use crate::event::{Event, Way};
use crate::model::Own;
use crate::{Ended, Error, Party, Result, Session, health};
use zx1_market::Raw;

/// The market, as one way.
#[allow(missing_debug_implementations, reason = "it holds functions")]
pub struct AtMarket<'a, E> {
    /// Address of the market.
    pub url: &'a str,
    /// Whether somebody named it: then it is an error that it does not answer.
    pub is_named: bool,
    /// What a fix pays; `None` is a free contract.
    pub bounty: Option<Raw>,
    /// The agent id that is shown before the party is needed.
    pub agent_id: Option<&'a str>,
    /// Who posts; its key may be made by this.
    pub party: &'a dyn Fn() -> Result<Party, E>,
}

/// What may be tried, in this order.
#[allow(missing_debug_implementations, reason = "it holds functions")]
pub struct Ways<'a, E> {
    /// Whether the built-in rules are asked.
    pub rules: bool,
    /// The user's own model, set up when it is needed; `None`: there is none.
    pub model: Option<&'a dyn Fn() -> Result<Own>>,
    /// The market; `None`: it is not asked.
    pub market: Option<AtMarket<'a, E>>,
}

impl Session<'_> {
    /// Looks for a fix. With `dry_run` the first way that has anything to show shows it, and nothing is changed or sent.
    ///
    /// # Errors
    /// Those of the last way that was tried, unless that is a market that nobody named and that does not answer.
    pub fn find<E: From<Error>>(&mut self, ways: &Ways<'_, E>, dry_run: bool) -> Result<Ended, E> {
        if let Some(market) = ways.market.as_ref().filter(|_| !dry_run)
            && let Some((party, held)) = self.unfinished(market.party)?
        {
            return Ok(self.resume(&party, held)?);
        }
        let mut left = ways.market.is_some();
        if ways.rules {
            self.trying(Way::Rules, None, None);
            match self.fix_locally(dry_run) {
                Err(error) if error.leaves_hope() && (left || ways.model.is_some()) => {
                    self.front.event(Event::NotHere { way: Way::Rules, error: &error });
                }
                done => return Ok(done?),
            }
        }
        if let Some(model) = ways.model {
            left &= !dry_run;
            let done = model().and_then(|own| {
                self.trying(Way::Model, Some(own.name()), None);
                self.fix_with_model(&own, dry_run)
            });
            match done {
                Err(error) if error.leaves_hope() && left => {
                    self.front.event(Event::NotHere { way: Way::Model, error: &error });
                }
                done => return Ok(done?),
            }
        }
        match &ways.market {
            Some(market) => self.ask_market(market, ways.model.is_some(), dry_run),
            None => Ok(Ended::AsBefore),
        }
    }

    fn ask_market<E: From<Error>>(
        &mut self,
        market: &AtMarket<'_, E>,
        has_model: bool,
        dry_run: bool,
    ) -> Result<Ended, E> {
        let url = market.url;
        if !dry_run
            && !market.is_named
            && self.wait(async { Ok::<_, Error>(health::market(url).await) })?.is_err()
        {
            self.front.event(Event::NoMarket { url, has_model });
            return Ok(Ended::AsBefore);
        }
        self.trying(Way::Market, Some(url), market.bounty);
        let payload = self.gather(market.bounty)?;
        if dry_run {
            let (agent_id, deposit) = (market.agent_id, None);
            self.front.event(Event::Offer { payload: &payload, agent_id, server: url, deposit });
            self.front.event(Event::DryRun { sent: Some((&payload, url)) });
            return Ok(Ended::AsBefore);
        }
        Ok(self.offer(&(market.party)()?, url, &payload)?)
    }

    fn trying(&self, way: Way, to: Option<&str>, bounty: Option<Raw>) {
        self.front.event(Event::Trying { way, to, bounty });
    }
}
