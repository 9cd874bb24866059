//! A contract for the failure, and its deposit.

use crate::event::{Event, Question};
use crate::follow::proposal;
use crate::record::{self, Held, Record};
use crate::session::together;
use crate::{Ended, Error, Party, Payload, Refusal, Result, Session};
use std::time::Duration;
use zx1_agent::bridge::BridgeError;
use zx1_market::chain::Common;
use zx1_market::contract::{Control, Corrected, Ending, Verification};
use zx1_market::money::inclusive_bond;
use zx1_market::{ContractId, EntryType, State, case};
use zx1_market_client::{Deposit, Market, Posted, Purse as _, WalletPurse};
use zx1_trial::Trial;

/// Timeout for a deposit that somebody else makes (the ledger of a demo), before it is asked for.
const OTHERS: Duration = Duration::from_secs(6);

/// How a contract stands that this machine noted.
enum Standing {
    Runs(ContractId),
    /// Its fix was accepted and paid while nobody watched here.
    Unapplied(ContractId),
    Ended,
    /// Nobody can say.
    Unknown,
}

impl Session<'_> {
    /// Offers a contract at this market and sees it through.
    ///
    /// # Errors
    /// Everything that the flow can meet; nothing is lost by any of it.
    pub fn offer(&mut self, party: &Party, url: &str, payload: &Payload) -> Result<Ended> {
        self.bridge = party.bridge()?;
        let market = self.wait(party.connect(url))?;
        let terms = self.wait(market.terms())?;
        let mut contract = self.builder(payload).build(&terms)?;
        self.folder.limit(terms.court);
        if !self.is_reproduced(&contract.verification, contract.execution.timeout)? {
            contract = self.builder(payload).judged_by_principal().build(&terms)?;
        }
        let deposit = match payload.bounty {
            None => None,
            Some(bounty) => Some((inclusive_bond(&terms.fees, bounty)?, terms.fees.judge_fee)),
        };
        let agent_id = party.identity.as_ref().map(|identity| identity.agent_id.as_str());
        self.front.event(Event::Offer { payload, agent_id, server: url, deposit });
        self.ask_to_send(Question::Send)?;
        let purse = match payload.bounty {
            Some(_) => self.wait(party.purse())?,
            None => None,
        };
        let payout = match &purse {
            Some(purse) => Some(self.wait(purse.address())?),
            // Whoever deposits, what comes back is the principal's.
            None => (!contract.is_free()).then(|| party.address()),
        };
        // From here on a stop is only noted; one that came before must still keep the contract from its post.
        self.interrupts.in_order();
        self.unless_pressed()?;
        let failed = &self.failed;
        let mut held = Held::begin(
            &party.home,
            Record {
                id: None,
                url: market.url().to_owned(),
                server: market.server(),
                line: failed.line.clone(),
                folder: failed.folder.clone(),
                exit: failed.exit,
                hosts: self.folder.hosts().to_vec(),
                contract: contract.json().clone(),
                before: party.transcripts()?.list(&market.server())?,
                applied: None,
            },
        )?;
        let posting = async {
            let common = match &self.bridge {
                Some(bridge) => bridge.announce(market.now().await?).await?,
                None => Common::default(),
            };
            if self.interrupts.was_pressed() {
                return Ok(None);
            }
            Ok::<_, BridgeError>(Some(market.post_with(&contract, payout, &common).await?))
        };
        let posted = match self.runtime.block_on(posting) {
            Ok(Some(posted)) => posted,
            Ok(None) => {
                held.forget();
                return Err(Error::Interrupted);
            }
            Err(error) => {
                // A refusal means that nothing was posted; anything else is looked up when the contract is resumed.
                let refused = match &error {
                    BridgeError::Client(error) => error.server_code().is_some(),
                    _ => true,
                };
                if refused {
                    held.forget();
                }
                return Err(error.into());
            }
        };
        held.record.id = Some(posted.id);
        held.save()?;
        self.front.event(Event::Posted(posted.id));
        if let Some(deposit) = &posted.deposit {
            unless_stopped(self.fund(&market, deposit, purse.as_ref(), &posted))?;
        }
        self.follow(&market, held)
    }

    /// Whether the sandbox shows the failure that the real machine has shown. Where it does not, no machine can prove a
    /// fix: then only a person can judge one, and that is said before anything is sent.
    ///
    /// # Errors
    /// 9570: nobody is here to judge; 9200 to 9299 from the sandbox.
    pub(crate) fn is_reproduced(&mut self, conditions: &[Verification], seconds: u32) -> Result<bool> {
        if conditions.contains(&Verification::Principal) {
            return Ok(true);
        }
        let trial = Trial { control: self.control(conditions, seconds)?, ..Trial::default() };
        let Some(control) = trial.control(conditions) else { return Ok(true) };
        let outside = self.failed.exit;
        let same = control.runs().outcome == Ending::of_status(outside.into());
        if same && !matches!(control, Control::Holds(_)) {
            return Ok(true);
        }
        self.front.event(Event::NotReproduced { outside, inside: &control });
        if self.front.is_attended() { Ok(false) } else { Err(Refusal::NotReproduced.into()) }
    }

    /// A contract of this command in this folder to go on with, if the user wants that, and its party. What has ended is
    /// forgotten; what no market answers for is left for later. `party`: whose contracts they are.
    ///
    /// # Errors
    /// [`Error::Read`], 9553; 9556: another process has it; [`Error::Interrupted`]; those of `party`.
    pub fn unfinished<E: From<Error>>(
        &self,
        party: impl Fn() -> Result<Party, E>,
    ) -> Result<Option<(Party, Held)>, E> {
        let failed = &self.failed;
        let same = |record: &Record| record.line == failed.line && record.folder == failed.folder;
        for found in record::all(&self.options.home)? {
            if !same(&found.1) {
                continue;
            }
            let mut held = record::take(found)?;
            let party = party()?;
            let question = match self.standing(&party, &mut held)? {
                Standing::Runs(id) => Question::GoOn(id),
                Standing::Unapplied(id) => Question::ApplyPaid(id),
                Standing::Ended => {
                    held.forget();
                    continue;
                }
                Standing::Unknown => continue,
            };
            match self.ask(question) {
                Ok(()) => return Ok(Some((party, held))),
                Err(Error::Declined) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// What the market says of a contract that this machine noted.
    fn standing(&self, party: &Party, held: &mut Held) -> Result<Standing> {
        if held.record.id.is_none() {
            held.record.id = find_post(party, &held.record)?;
            held.save()?;
        }
        // It never got as far as a signature, or has ended by its own transcript.
        let Some(id) = held.record.id else { return Ok(Standing::Ended) };
        let looked = self.wait(async {
            let market = party.connect(&held.record.url).await?;
            Ok::<_, Error>(market.view(id).await)
        });
        let view = match looked {
            Ok(Ok(view)) => view,
            Ok(Err(error)) if error.status() == Some(404) => return Ok(Standing::Ended),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Ok(Err(_)) | Err(_) => return Ok(Standing::Unknown),
        };
        if !view.state().is_terminal() {
            return Ok(Standing::Runs(id));
        }
        let is_paid = view.state() == State::Fulfilled;
        let Some((seq, _)) = proposal(&view).filter(|_| is_paid) else { return Ok(Standing::Ended) };
        Ok(if self.is_applied(held, seq)? { Standing::Ended } else { Standing::Unapplied(id) })
    }

    /// Goes on with a contract.
    ///
    /// # Errors
    /// As [`Session::offer`].
    pub fn resume(&mut self, party: &Party, mut held: Held) -> Result<Ended> {
        self.bridge = party.bridge()?;
        let market = self.wait(party.connect(&held.record.url))?;
        if held.record.id.is_none() {
            held.record.id = find_post(party, &held.record)?;
            held.save()?;
        }
        let Some(id) = held.record.id else {
            // It never got as far as a signature.
            held.forget();
            return Err(Refusal::NoContract { what: "to go on with".to_owned() }.into());
        };
        // What the contract promised still holds, and a fix reaches what it could reach before.
        self.options.accept_corrected |= takes_corrected(&held.record);
        let hosts = together(&held.record.hosts, &self.options.hosts);
        self.folder.reach(hosts);
        self.interrupts.in_order();
        let view = match self.runtime.block_on(market.view(id)) {
            Ok(view) => view,
            Err(error) if error.status() == Some(404) => {
                held.forget();
                return Err(Refusal::NoContract { what: id.to_string() }.into());
            }
            Err(error) => return Err(error.into()),
        };
        if view.state() == State::Unfunded {
            let paid =
                self.wait(party.purse()).and_then(|purse| match self.wait(market.deposit_due(&view))? {
                    Some(deposit) => self.pay(&market, &deposit, purse.as_ref()),
                    None => Ok(()),
                });
            unless_stopped(paid)?;
        }
        self.follow(&market, held)
    }

    /// Waits for a deposit that others make; pays it, or asks for it.
    fn fund(
        &self,
        market: &Market,
        deposit: &Deposit,
        purse: Option<&WalletPurse>,
        posted: &Posted,
    ) -> Result<()> {
        let opened = async { market.wait_open(posted, OTHERS).await.map(drop) };
        if purse.is_none() && self.wait(opened).is_ok() {
            self.front.event(Event::Funded(deposit.amount));
            return Ok(());
        }
        self.pay(market, deposit, purse)
    }

    /// Pays the deposit or asks for it; after a stop neither.
    fn pay(&self, market: &Market, deposit: &Deposit, purse: Option<&WalletPurse>) -> Result<()> {
        if let Some(purse) = purse {
            let balance = self.wait(purse.balance())?;
            self.unless_pressed()?;
            if balance >= deposit.amount {
                self.front.event(Event::Paying(deposit));
                return Ok(self.runtime.block_on(market.pay(purse, deposit))?);
            }
            self.front.event(Event::Short { balance, amount: deposit.amount });
        }
        self.unless_pressed()?;
        self.front.event(Event::Deposit(deposit));
        Ok(())
    }
}

/// Whether the contract says that a corrected command is taken without asking.
fn takes_corrected(record: &Record) -> bool {
    let said = record.contract.get("execution").and_then(|execution| execution.get("corrected_command"));
    said.and_then(|said| said.as_str()) == Some(Corrected::Yes.as_str())
}

/// The post whose signature is saved, though its answer never came. The same command may have had a contract
/// with the same words before, or since: it is the newest of those that were saved after this record was made
/// and are not known to have ended.
fn find_post(party: &Party, record: &Record) -> Result<Option<ContractId>> {
    let transcripts = party.transcripts()?;
    let known: Vec<_> = record::all(&party.home)?.into_iter().filter_map(|(_, record)| record.id).collect();
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

/// A stop before a deposit does not count as a failure: [`Session::follow`] sees it too, and cancels the contract.
fn unless_stopped(paid: Result<()>) -> Result<()> {
    match paid {
        Err(Error::Interrupted) => Ok(()),
        paid => paid,
    }
}
