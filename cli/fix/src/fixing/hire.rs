//! The market: a contract for the failure, its deposit, and then what [`super::follow`] does.

use super::record::{Held, Record, all, take};
use super::{Ended, Session, follow, payload};
use crate::bridge;
use crate::context::Who;
use crate::errors::{Error, Result};
use crate::market::{self, Ledger};
use crate::screen::Tone;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::json;
use std::time::Duration;
use zx1_agent::bridge::BridgeError;
use zx1_market::chain::Common;
use zx1_market::contract::Corrected;
use zx1_market::money::inclusive_bond;
use zx1_market::{EntryType, State, case};
use zx1_market_client::{Deposit, Market, Posted, Purse as _, WalletPurse};

/// How long a deposit that somebody else makes (the ledger of a demo) is awaited before it is asked for.
const OTHERS: Duration = Duration::from_secs(6);

/// Offers a contract and sees it through.
///
/// # Errors
/// Everything that the flow can meet; nothing is lost by any of it.
pub fn fix(session: &mut Session<'_>) -> Result<Ended> {
    let runtime = session.runtime;
    if let Some(held) = unfinished(session)? {
        return resume(session, held);
    }
    let payload = payload::gather(session)?;
    let url = session.context.server()?;
    if session.options.dry_run {
        let money = payload.bounty.map_or("free".to_owned(), |bounty| format!("bounty {} XNO", bounty.xno()));
        payload.show(session, &url, &money);
        let data = json!({ "command": payload.command, "error": payload.error, "server": url });
        session.screen.step("dry_run", data, "Nothing was sent: this was a dry run.");
        return Ok(Ended::AsBefore);
    }
    session.bridge = bridge::of(session.context, Who::Principal)?;
    let market = session.wait(market::connect(session.context, Who::Principal))?;
    let terms = session.wait(market.terms())?;
    let contract = payload.builder(session).build(&terms)?;
    let money = match payload.bounty {
        None => "free: no deposit, no judge, your word is final".to_owned(),
        Some(bounty) => format!(
            "bounty {} XNO; you deposit {} XNO, of which {} insure disputes",
            bounty.xno(),
            inclusive_bond(&terms.fees, bounty)?.xno(),
            terms.fees.judge_fee.xno()
        ),
    };
    payload.show(session, &url, &money);
    session.ask("Send this?")?;
    let purse = match payload.bounty {
        Some(_) => session.wait(market::purse(session.context, Who::Principal, &Ledger::default()))?,
        None => None,
    };
    let payout = match &purse {
        Some(purse) => Some(session.wait(purse.address())?),
        None => None,
    };
    // From here on Ctrl+C is only noted; what was pressed before must still keep the contract from its post.
    session.interrupts.in_order(true);
    session.unless_pressed()?;
    let failed = &session.failed;
    let mut held = Held::begin(
        session.context,
        Record {
            id: None,
            url: market.url().to_owned(),
            server: market.server(),
            line: failed.line.clone(),
            folder: failed.folder.clone(),
            exit: failed.exit,
            hosts: session.folder.hosts().to_vec(),
            contract: contract.json().clone(),
            before: market::transcripts(session.context)?.list(&market.server())?,
            applied: None,
        },
    )?;
    let posting = async {
        let common = match &session.bridge {
            Some(bridge) => bridge.announce(market.now().await?).await?,
            None => Common::default(),
        };
        if session.interrupts.was_pressed() {
            return Ok(None);
        }
        Ok::<_, BridgeError>(Some(market.post_with(&contract, payout, &common).await?))
    };
    let posted = match runtime.block_on(posting) {
        Ok(Some(posted)) => posted,
        Ok(None) => {
            held.forget();
            return Err(Error::Interrupted.into());
        }
        Err(error) => {
            // A refusal means that nothing was posted; anything else is looked up when fix goes on.
            let refused = match &error {
                BridgeError::Client(error) => error.server_code().is_some(),
                _ => true,
            };
            if refused {
                held.forget();
            }
            return Err(match error {
                BridgeError::Client(error) => error.into(),
                other => other.into(),
            });
        }
    };
    held.record.id = Some(posted.id);
    held.save()?;
    let id = posted.id.to_string();
    session.screen.step("posted", json!({ "contract": id }), &format!("Contract {id} is posted."));
    if let Some(deposit) = &posted.deposit {
        unless_stopped(fund(session, &market, deposit, purse.as_ref(), &posted))?;
    }
    follow::follow(session, &market, held)
}

/// A contract of this command in this folder that has not ended, if the user wants to go on with it.
fn unfinished(session: &Session<'_>) -> Result<Option<Held>> {
    let failed = &session.failed;
    let same = |record: &Record| record.line == failed.line && record.folder == failed.folder;
    let Some(found) = all(session.context)?.into_iter().find(|(_, record)| same(record)) else {
        return Ok(None);
    };
    if session.options.dry_run {
        return Ok(None);
    }
    let name = found.1.id.map(|id| format!("Contract {id}")).unwrap_or_else(|| "A contract".to_owned());
    let question = format!("{name} for this command is still under way. Go on with it?");
    match session.ask(&question) {
        Ok(()) => take(found).map(Some),
        Err(failure) if failure.code == Error::Declined.code() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Goes on with a contract.
///
/// # Errors
/// As [`fix`].
pub fn resume(session: &mut Session<'_>, mut held: Held) -> Result<Ended> {
    let runtime = session.runtime;
    session.bridge = bridge::of(session.context, Who::Principal)?;
    let key = session.context.key(Who::Principal)?;
    let market = session.wait(market::connect_to(session.context, &held.record.url, key))?;
    if held.record.id.is_none() {
        held.record.id = find_post(session, &held.record)?;
        held.save()?;
    }
    let Some(id) = held.record.id else {
        // It never got as far as a signature.
        held.forget();
        return Err(Error::NoContract { what: "to go on with".to_owned() }.into());
    };
    // What the contract promised still holds, and a fix reaches what it could reach before.
    session.options.accept_corrected |= takes_corrected(&held.record);
    let hosts = together(&held.record.hosts, &session.options.allow_host);
    session.folder.reach(hosts);
    session.interrupts.in_order(true);
    let view = match runtime.block_on(market.view(id)) {
        Ok(view) => view,
        Err(error) if error.status() == Some(404) => {
            held.forget();
            return Err(Error::NoContract { what: id.to_string() }.into());
        }
        Err(error) => return Err(error.into()),
    };
    if view.state() == State::Unfunded {
        let purse = session.wait(market::purse(session.context, Who::Principal, &Ledger::default()));
        let paid = purse.and_then(|purse| match session.wait(market.deposit_due(&view))? {
            Some(deposit) => pay(session, &market, &deposit, purse.as_ref()),
            None => Ok(()),
        });
        unless_stopped(paid)?;
    }
    follow::follow(session, &market, held)
}

/// Whether the contract says that a corrected command is taken without asking (--accept-corrected).
fn takes_corrected(record: &Record) -> bool {
    let said = record.contract.get("execution").and_then(|execution| execution.get("corrected_command"));
    said.and_then(|said| said.as_str()) == Some(Corrected::Yes.as_str())
}

/// Names of two lists, each once.
pub(super) fn together(first: &[String], second: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in first.iter().chain(second) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The post whose signature is saved, though its answer never came. The same command may have had a contract
/// with the same words before, or since: it is the newest of those that were saved after this record was made
/// and are not known to have ended.
fn find_post(session: &Session<'_>, record: &Record) -> Result<Option<zx1_market::ContractId>> {
    let transcripts = market::transcripts(session.context)?;
    let known: Vec<_> = all(session.context)?.into_iter().filter_map(|(_, record)| record.id).collect();
    let mut newest = None;
    for id in transcripts.list(&record.server)? {
        if known.contains(&id) || record.before.contains(&id) {
            continue;
        }
        let Some(transcript) = transcripts.load(&record.server, id)? else { continue };
        let post = transcript.entries.first().filter(|entry| entry.kind() == EntryType::Post);
        let Some(post) = post.filter(|post| post.data().get("contract") == Some(&record.contract)) else {
            continue;
        };
        // A lone post has no state yet; what has one says whether it has ended.
        if case::rebuild(&transcript).is_ok_and(|case| case.state().is_terminal()) {
            continue;
        }
        if newest.is_none_or(|(at, _)| at <= post.at()) {
            newest = Some((post.at(), id));
        }
    }
    Ok(newest.map(|(_, id)| id))
}

/// Waits for a deposit that others make; pays it, or asks for it.
fn fund(
    session: &Session<'_>,
    market: &Market,
    deposit: &Deposit,
    purse: Option<&WalletPurse>,
    posted: &Posted,
) -> Result<()> {
    let opened = async { market.wait_open(posted, OTHERS).await.map(drop) };
    if purse.is_none() && session.wait(opened).is_ok() {
        let data = json!({ "amount": deposit.amount.xno() });
        let text =
            format!("The deposit of {} XNO is made by this market's demo ledger.", deposit.amount.xno());
        session.screen.good("funded", data, &text);
        return Ok(());
    }
    pay(session, market, deposit, purse)
}

/// Ctrl+C before a deposit does not count as a failure: [`follow`] sees it too, and cancels the contract.
fn unless_stopped(paid: Result<()>) -> Result<()> {
    match paid {
        Err(failure) if failure.code == Error::Interrupted.code() => Ok(()),
        paid => paid,
    }
}

/// Pays the deposit or asks for it; after Ctrl+C neither.
fn pay(session: &Session<'_>, market: &Market, deposit: &Deposit, purse: Option<&WalletPurse>) -> Result<()> {
    let amount = deposit.amount.xno();
    let screen = session.screen;
    let data = json!({ "address": deposit.address.to_string(), "amount": amount, "uri": deposit.uri });
    if let Some(purse) = purse {
        let balance = session.wait(purse.balance())?;
        session.unless_pressed()?;
        if balance >= deposit.amount {
            screen.step("paying", data, &format!("Paying the deposit of {amount} XNO from your wallet …"));
            session.runtime.block_on(market.pay(purse, deposit))?;
            return Ok(());
        }
        let text = format!("Your wallet has {} XNO; the deposit is {amount} XNO.", balance.xno());
        screen.tell(Tone::Warn, "short", json!({ "balance": balance.xno() }), &text);
    }
    session.unless_pressed()?;
    screen.step("deposit", data, &format!("Please pay {amount} XNO to {}", deposit.address));
    screen.raw(&format!("\n{}\n\n  {}\n\n", qr(&deposit.uri), deposit.uri));
    Ok(())
}

/// A QR code for a terminal with light letters on a dark ground.
fn qr(text: &str) -> String {
    let Ok(code) = QrCode::new(text) else { return String::new() };
    code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_once_however_often_a_contract_goes_on() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let once = together(&names("a b"), &names("b c"));
        assert_eq!(once, names("a b c"));
        assert_eq!(together(&once, &names("b c")), once);
    }

    #[test]
    fn a_qr_code_fits_a_terminal_of_80_columns() {
        let code = qr(&format!("nano:nano_{}?amount={}", "1".repeat(60), "9".repeat(39)));
        assert!(code.lines().count() > 10 && code.lines().all(|line| line.chars().count() <= 78), "{code}");
    }
}
