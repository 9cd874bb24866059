//! `zx1 keys`: the keys that act and sign for an agent (decision P1).

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::input;
use crate::keys::Key;
use crate::output::{Page, Table};
use crate::settings::expand_home;
use crate::tx::{self, Shown as _};
use crate::words::{clause, moment};
use clap::Subcommand;
use solana_address::Address;
use std::path::Path;
use zx1_operator::Attempt;
use zx1_operator::keys::{Changed, Delegation, KeyReport, Keys, Standing, TenureReport};
use zx1_protocol::keys::Scopes;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 key new hot.json
  zx1 keys add hot.json --scopes pay,batch        for the keeper
  zx1 keys add deals.json --scopes deal
  zx1 keys add ~/.config/zx1/id.json --scopes batch,deal,peer
  zx1 keys list
  zx1 keys end hot.json
  zx1 keys close hot.json

pay pays the lease, batch signs batches, deal signs PROPOSE, COUNTER, ACCEPT and
NOTARIZE_ASSIGN, peer signs all other messages. Only keys that are listed count;
your wallet is no exception, and may be listed. The first keys act at once; later
ones from the epoch after the next, so that you can end a stranger's in time. The
key's own file signs with your wallet. A deal key that is stolen can cost the
whole stake, also after it was ended. All keys end when somebody takes over.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Add a key to the agent; the key signs the transaction too
    Add {
        /// Keypair file of the key
        #[arg(value_name = "FILE")]
        key: String,
        /// What it may do: pay, batch, deal, peer; separated by commas
        #[arg(long, value_name = "SCOPES")]
        scopes: String,
        /// Also file SATI's DelegateV1, which informs others and gives no authority
        #[arg(long)]
        sati: bool,
    },
    /// List the agent's keys, and show its tenure
    List,
    /// End a key: it can act no longer, and its signatures count through this epoch
    End {
        /// The key: an address or a keypair file
        key: String,
        /// Also revoke SATI's DelegateV1
        #[arg(long)]
        sati: bool,
    },
    /// Close an ended key and recover its rent; anyone may do this
    Close {
        /// The key: an address or a keypair file
        key: String,
    },
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::List => context.wait(list(context)),
        Action::Add { key, scopes, sati } => {
            let bad = |error: zx1_protocol::keys::ScopesError| {
                let why = clause(&error.to_string());
                Error::BadScopes { text: scopes.clone(), why }
            };
            let named = Scopes::parse(&scopes).map_err(bad)?;
            let key = read(&expand_home(&key))?;
            context.wait(add(context, &key, named, sati))
        }
        Action::End { key, sati } => {
            let key = address(&key)?;
            context.wait(end(context, key, sati))
        }
        Action::Close { key } => {
            let key = address(&key)?;
            context.wait(close(context, key))
        }
    }
}

/// One of the agent's keys, which is not the setting keypair.
fn read(path: &Path) -> Result<Key> {
    let next = "give the keypair file of the key, or make one with zx1 key new FILE";
    Key::read(path).map_err(|failure| failure.next(next))
}

/// The key's address: as it is given, or of the file.
fn address(text: &str) -> Result<Address> {
    let path = expand_home(text);
    if path.exists() { Ok(read(&path)?.address()) } else { input::address(text, "The key") }
}

async fn list(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let keys = context.operator_of(&agent).await?.keys(&agent).await?;
    context.show(&keys, draw_listed)
}

async fn add(context: &Context, key: &Key, scopes: Scopes, sati: bool) -> Result<()> {
    let owner = context.key()?;
    let agent = context.agent()?;
    if sati && key.address() == owner.address() {
        return Err(Error::DelegateIsOwner { delegate: key.address().to_string() }.into());
    }
    let operator = context.spender_of(&agent).await?;
    let Some(changed) = tx::done(context, operator.add_key(&agent, &owner, key, scopes, sati).await?)? else {
        return Ok(());
    };
    context.show_onward((&operator, &agent), &changed, draw_changed).await?;
    Ok(changed.acknowledge().await?)
}

async fn end(context: &Context, key: Address, sati: bool) -> Result<()> {
    let authority = context.key()?;
    let agent = context.agent()?;
    let operator = context.spender_of(&agent).await?;
    finish(context, operator.end_key(&agent, &authority, key, sati).await?).await
}

async fn close(context: &Context, key: Address) -> Result<()> {
    let payer = context.key()?;
    let agent = context.agent()?;
    let operator = context.spender_of(&agent).await?;
    finish(context, operator.close_key(&agent, &payer, key).await?).await
}

async fn finish(context: &Context, attempt: Attempt<Changed>) -> Result<()> {
    let Some(changed) = tx::done(context, attempt)? else { return Ok(()) };
    context.show(&changed, draw_changed)?;
    Ok(changed.acknowledge().await?)
}

fn draw_changed(changed: &Changed, page: &mut Page) {
    changed.sent.draw(page);
    if let Some(sati) = &changed.sati {
        sati.draw(page);
    }
    draw(&changed.keys, page.blank());
}

fn draw_listed(keys: &Keys, page: &mut Page) {
    page.field("agent", keys.agent).maybe("owner", keys.holder.as_ref());
    draw_tenure(keys.tenure.as_ref(), page);
    draw(keys, page.blank());
}

/// Whose turn it is, for people.
pub(crate) fn draw_tenure(tenure: Option<&TenureReport>, page: &mut Page) {
    match tenure {
        None => page.field("tenure", "none yet: it begins with the first key or stake"),
        Some(tenure) => {
            let whose = match tenure.is_holders {
                true => String::new(),
                false => format!(", of {}, who does not hold the agent any more", tenure.owner),
            };
            let line =
                format!("{}, from epoch {}, era {}{whose}", tenure.number, tenure.from_epoch, tenure.era);
            page.field("tenure", line)
        }
    };
}

pub(crate) fn draw(keys: &Keys, page: &mut Page) {
    let mut table = Table::new(["key", "scopes", "counts in epochs", "status"]).ids(&[0]);
    for key in &keys.keys {
        let until = key.until_epoch.map_or_else(|| "on".to_owned(), |until| format!("to {until}"));
        let epochs = match key.until_epoch.is_some_and(|until| until < key.from_epoch) {
            true => "none".to_owned(),
            false => format!("{} {until}", key.from_epoch),
        };
        table.row([&key.key, &key.scopes, &epochs, &standing(key)]);
    }
    page.table(table, "No keys: nobody signs for the agent.");
    for delegation in &keys.delegations {
        page.line(in_words(delegation));
    }
    let needs_take_over = keys.tenure.as_ref().is_some_and(|tenure| !tenure.is_holders);
    if needs_take_over {
        page.next("zx1 take-over");
    } else if keys.keys.iter().all(|key| key.standing == Standing::Ended) {
        page.next("zx1 keys add FILE --scopes pay,batch,deal,peer");
    } else if let Some(key) = keys.keys.iter().find(|key| key.closable) {
        page.next(format!("zx1 keys close {}", key.key));
    }
}

fn standing(key: &KeyReport) -> String {
    match key.standing {
        Standing::Live => "live".to_owned(),
        Standing::Notice => format!("acts from epoch {}", key.from_epoch),
        Standing::Former => "of a former holder".to_owned(),
        Standing::Ended if key.closable => "ended, can be closed".to_owned(),
        Standing::Ended => "ended".to_owned(),
    }
}

fn in_words(delegation: &Delegation) -> String {
    let until = match (delegation.valid, delegation.expiry) {
        (true, 0) => "without an end".to_owned(),
        (true, expiry) => format!("until {}", moment(expiry)),
        (false, _) => "not valid any more".to_owned(),
    };
    format!("SATI's DelegateV1 of {}: {until}. It gives no authority.", delegation.key)
}
