//! Acts of a party on a contract, one at a time.

use crate::record::{self, Held};
use crate::{Error, Party, Refusal, Result};
use zx1_market::wire::ReviewAction;
use zx1_market::{ContractId, State};
use zx1_market_client::{Act, Market, Price};
use zx1_scrub::Scrubber;

/// An act that the market has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acted {
    /// The contract's id.
    pub contract: ContractId,
    /// Its state after the act.
    pub state: State,
}

/// Acts on a contract. The reason or argument is scrubbed: others read it, and it stays in the transcript.
/// `agree` is asked first where the act may cost something.
///
/// # Errors
/// 9551, 9552; what `agree`, the client and the market refuse.
pub async fn act<E: From<Error>>(
    market: &Market,
    id: ContractId,
    act: Act,
    text: &str,
    agree: impl FnOnce(Price) -> Result<(), E>,
) -> Result<Acted, E> {
    let view = market.view(id).await.map_err(Error::from)?;
    if view.state().is_terminal() {
        return Err(Error::from(Refusal::Ended { id, state: view.state().as_str() }).into());
    }
    if view.side().is_none() {
        return Err(Error::from(Refusal::NotOurs { id }).into());
    }
    let now = market.now().await.map_err(Error::from)?;
    if let Some(price) = act.price(&view, now) {
        agree(price)?;
    }
    act.send(market, id, &scrubbed(text)).await.map_err(Error::from)?;
    after(market, id).await.map_err(E::from)
}

/// Accepts, rejects or disputes a fix that waits for review. The reason is scrubbed.
///
/// # Errors
/// What the client and the market refuse.
pub async fn review(market: &Market, id: ContractId, action: ReviewAction, reason: &str) -> Result<Acted> {
    market.review(id, action, &scrubbed(reason)).await?;
    after(market, id).await
}

/// What [`resume`] has found.
#[derive(Debug)]
pub struct Resumed {
    /// The contract now.
    pub acted: Acted,
    /// Whether a halt was taken back.
    pub was_halted: bool,
    /// This machine's record of the contract, locked, for [`crate::Session::resume`].
    pub record: Option<Held>,
}

/// Takes a halt back. Of an ended contract that this machine has no record of, the 0x01 FEEDBACK that is still
/// missing is left.
///
/// # Errors
/// 9556: another process has the record; what the client, the market and the envelope log refuse.
pub async fn resume(party: &Party, market: &Market, id: ContractId, reason: &str) -> Result<Resumed> {
    let view = market.view(id).await?;
    let was_halted = view.state() == State::Halted;
    if was_halted {
        market.resume(id, &scrubbed(reason)).await?;
    }
    let record = record::of(&party.home, id)?.map(record::take).transpose()?;
    if record.is_none()
        && view.state().is_terminal()
        && let Some(bridge) = party.bridge()?
    {
        bridge.close(market, &view).await?;
    }
    Ok(Resumed { acted: after(market, id).await?, was_halted, record })
}

async fn after(market: &Market, contract: ContractId) -> Result<Acted> {
    Ok(Acted { contract, state: market.view(contract).await?.state() })
}

fn scrubbed(text: &str) -> String {
    Scrubber::new().scrub(text.trim()).text
}
