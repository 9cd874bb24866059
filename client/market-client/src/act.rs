//! What a party says: signed over a verified chain, sent, and looked up when no answer comes.

use tokio::time::sleep;
use zx1_market::chain::{Common, Data, EntryType, Head, Side};
use zx1_market::wire::{self, Action, BondAnswer, DepositAnswer, JudgeRequest, PostAnswer, StatusAnswer};
use zx1_market::{Address, Contract, ContractId, Entry, Json, Millis, Reason, State};

use zx1_net::Method;

use super::deposit::{Deposit, Posted};
use super::error::{ClientError, Result};
use super::link;
use super::{Market, View};

/// How often an entry is signed anew because the chain has moved on.
const MAX_TRIES: u32 = 5;
/// An entry older than this is not sent any more: the server refuses it after 60 s (9043).
const FRESH: Millis = Millis::secs(45);

/// The server's number for an address that has posted its daily number of contracts (docs/errors.md).
const UNPAID_POSTS: u32 = 9430;

/// Something was said and chained.
#[derive(Debug, Clone)]
pub struct Acted {
    /// The signed entry that the server chained.
    pub entry: Entry,
    /// The server's answer. Nothing when it got lost, and the entry was found in the chain.
    pub answer: Option<Json>,
}

impl Acted {
    /// The `status` of the answer, if there is one.
    pub fn status(&self) -> Option<&str> {
        self.answer.as_ref()?.get("status")?.as_str()
    }
}

/// A contract was taken, or reserved until the agent's deposit is confirmed.
#[derive(Debug, Clone)]
pub struct Bonded {
    /// The contract that was taken or reserved.
    pub id: ContractId,
    /// The signed `bond`.
    pub entry: Entry,
    /// What the agent is to pay. Nothing in free mode. [`Market::check_reserved`] comes before paying.
    pub deposit: Option<Deposit>,
}

fn method(action: Action) -> Method {
    match action.method() {
        wire::Method::Post => Method::POST,
        wire::Method::Delete => Method::DELETE,
    }
}

/// Whether an entry that came in between leaves what is to be said as it was meant.
///
/// Words and payout addresses change nothing. An answered investigation changes nothing for whoever declines,
/// leaves, halts or talks, but an agent that accepts or proposes has not read it yet; it must look again. A
/// halt, a leave and words are meant whatever else came. Who gives up an appeal does so whether or not the
/// other side has done the same. Everything else that may move money (verify, review, dispute, appeal, waive, fix,
/// accept) is decided anew by the caller.
pub fn still_meant(meant: EntryType, between: EntryType) -> bool {
    use EntryType as T;
    let harmless = between.is_talk() || matches!(between, T::Accounts | T::Feedback);
    match meant {
        T::Halt | T::Chat | T::Ask | T::Answer | T::Message | T::Feedback => true,
        T::Bond => harmless || between == T::Opened,
        T::Result => harmless || matches!(between, T::Investigate | T::Result | T::Accept),
        T::Investigate | T::Decline | T::BackOut => harmless || matches!(between, T::Investigate | T::Result),
        T::Accounts => harmless || !matches!(between, T::DisputeFiled | T::Halt | T::Closed),
        T::Waive => harmless || between == T::Waive,
        _ => harmless,
    }
}

impl Market {
    /// Sign an entry over the chain that a view has shown.
    pub async fn sign(&self, view: &View, data: &Data, common: &Common) -> Result<Entry> {
        self.sign_on(view.head(), data, common).await
    }

    async fn sign_on(&self, head: Head, data: &Data, common: &Common) -> Result<Entry> {
        let now = self.now().await?;
        let entry = Entry::sign_json(data.kind(), data.to_json(common), head, now, self.key());
        // What the server would refuse by its shape is refused here, before it is sent.
        entry.read().map_err(ClientError::Rules)?;
        Ok(entry)
    }

    /// Send exactly this entry. When no answer comes, the chain says whether it was taken: then the answer is
    /// `None`. The same entry is never chained twice, because it names its place in the chain.
    ///
    /// A conflict is the server's refusal (status 409 with a head), after a look whether it was this very
    /// entry that moved the chain.
    pub async fn send(&self, id: ContractId, entry: &Entry) -> Result<Option<Json>> {
        let kind = entry.kind();
        let Some(action) = Action::of(kind) else {
            return Err(ClientError::NoCall { kind: kind.as_str() });
        };
        let (method, path) = (method(action), action.path_of(id));
        let body = action.body(entry).map_err(ClientError::Rules)?;
        let mut pause = self.options().pause;
        let mut attempt = 1;
        loop {
            let sent = self.inner.link.once(method.clone(), &path, Some(body.as_bytes()), Some(self.key()));
            let error = match sent.await {
                Ok(bytes) => {
                    // An answer that cannot be read proves nothing: the market may still have chained the
                    // entry.
                    match link::read_json(&format!("{method} {path}"), &bytes) {
                        Ok(json) => return Ok(Some(json)),
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            let conflict = error.status() == Some(409) || error.reason() == Some(Reason::RequestReplayed);
            if (conflict || error.is_ambiguous()) && self.is_chained(id, entry).await? {
                return Ok(None);
            }
            let again = error.is_ambiguous() || error.status() == Some(429);
            let fresh = self.now().await?.minus(entry.at()) < FRESH;
            if !again || attempt >= self.options().attempts || !fresh {
                return Err(error);
            }
            sleep(pause).await;
            pause = pause.saturating_mul(2);
            attempt += 1;
        }
    }

    /// Whether the entry is in the chain, or reserves the contract.
    async fn is_chained(&self, id: ContractId, entry: &Entry) -> Result<bool> {
        match self.view(id).await {
            Ok(view) => Ok(view.holds(entry)),
            // Who may not read it is not a party: nothing of this key is in it.
            Err(error) if matches!(error.status(), Some(403 | 404)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Say something in a contract: read it, verify it, sign, send.
    pub async fn act(&self, id: ContractId, data: Data) -> Result<Acted> {
        let view = self.view(id).await?;
        self.act_on(&view, data, Common::default()).await
    }

    /// Say something on a chain that the caller has seen and judged. When it has moved on, and what came in
    /// between changes nothing of what was meant ([`still_meant`]), the entry is signed anew; otherwise 9378.
    pub async fn act_on(&self, view: &View, data: Data, common: Common) -> Result<Acted> {
        self.act_with(view, data, common, |_| Ok(())).await
    }

    /// The same, and `before` sees each signed entry before it is sent: whoever must survive a crash keeps
    /// it.
    pub async fn act_with<E: From<ClientError>>(
        &self,
        view: &View,
        data: Data,
        common: Common,
        mut before: impl FnMut(&Entry) -> Result<(), E>,
    ) -> Result<Acted, E> {
        let id = view.id();
        if !view.is_whole() {
            return Err(ClientError::NotWhole { id }.into());
        }
        let mut newer: Option<View> = None;
        for _ in 0..MAX_TRIES {
            let now = newer.as_ref().unwrap_or(view);
            let entry = self.sign(now, &data, &common).await?;
            before(&entry)?;
            match self.send(id, &entry).await {
                Ok(answer) => return Ok(Acted { entry, answer }),
                Err(error) if is_conflict(&error) => {
                    let next = self.view(id).await?;
                    let Some(between) = next.since(now.head()) else {
                        return Err(ClientError::NotWhole { id }.into());
                    };
                    let changed: Vec<_> = between
                        .iter()
                        .map(Entry::kind)
                        .filter(|kind| !still_meant(data.kind(), *kind))
                        .collect();
                    if !changed.is_empty() {
                        let words: Vec<_> = changed.iter().map(|kind| kind.as_str()).collect();
                        let (kind, what) = (data.kind().as_str(), words.join(", "));
                        return Err(ClientError::Overtaken { kind, what }.into());
                    }
                    newer = Some(next);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(ClientError::TooBusy { id, tries: MAX_TRIES }.into())
    }

    /// Post a contract. The signed `post` is saved before it is sent. The deposit that the server asks for is
    /// compared with the contract and the advertised terms.
    pub async fn post(&self, contract: &Contract, payout: Option<Address>) -> Result<Posted> {
        self.post_with(contract, payout, &Common::default()).await
    }

    /// The same, with what the entry carries beside its data (decision G1).
    pub async fn post_with(
        &self,
        contract: &Contract,
        payout: Option<Address>,
        common: &Common,
    ) -> Result<Posted> {
        let terms = self.terms().await?;
        contract.check(&terms).map_err(ClientError::Rules)?;
        let market = Some(terms.market());
        let data = Data::Post { contract: contract.json().clone(), principal: self.id(), payout, market };
        let entry = self.sign_on(Head::GENESIS, &data, common).await?;
        let Some(id) = entry.contract_id() else { return Err(ClientError::NoCall { kind: "post" }) };
        if let Some(transcripts) = &self.options().transcripts {
            let transcript = zx1_market::case::Transcript {
                contract_id: Some(id),
                server: Some(self.server()),
                entries: vec![entry.clone()],
                received_at: Vec::new(),
            };
            transcripts.save(&self.server(), id, &transcript)?;
        }
        let (status, answer) = self.send_post(id, &entry).await?;
        let deposit = match answer {
            _ if contract.is_free() => None,
            Some(answer) => answer,
            None => self.deposit_of(id, Side::Principal, 0).await?,
        };
        let deposit = match deposit {
            Some(answer) if status == State::Unfunded => {
                let side = Side::Principal;
                Some(Deposit::checked(id, side, 0, &answer, &terms, contract.bounty)?)
            }
            _ => None,
        };
        Ok(Posted { id, entry, status, deposit, terms })
    }

    /// Send a `post`, and look it up when no answer comes.
    async fn send_post(
        &self,
        id: ContractId,
        entry: &Entry,
    ) -> Result<(State, Option<Option<DepositAnswer>>)> {
        let (path, body) = (Action::Post.path(), Action::Post.body(entry).map_err(ClientError::Rules)?);
        let mut pause = self.options().pause;
        let mut attempt = 1;
        let mut work: Option<String> = None;
        loop {
            let (link, bytes) = (&self.inner.link, Some(body.as_bytes()));
            let sent = link.once_with(Method::POST, path, bytes, Some(self.key()), work.as_deref());
            let error = match sent.await {
                Ok(bytes) => match link::read::<PostAnswer>("POST /contracts", &bytes) {
                    Ok(answer) if answer.contract_id != id => {
                        let found = answer.contract_id.to_string();
                        return Err(ClientError::Other { expected: id.to_string(), found });
                    }
                    Ok(answer) => return Ok((answer.status, Some(answer.deposit))),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if error.server_code() == Some(UNPAID_POSTS) && work.is_none() {
                let (server, body) = (self.server(), body.clone());
                let solved = move || zx1_market::work::solve(&server, body.as_bytes());
                work = tokio::task::spawn_blocking(solved).await.ok();
                continue;
            }
            if error.is_ambiguous() || error.status() == Some(409) {
                match self.view(id).await {
                    Ok(view) if view.holds(entry) => return Ok((view.state(), None)),
                    Ok(_) => {}
                    Err(missing) if missing.status() == Some(404) => {}
                    Err(other) => return Err(other),
                }
            }
            let again = error.is_ambiguous() || error.status() == Some(429);
            if !again || attempt >= self.options().attempts || self.now().await?.minus(entry.at()) >= FRESH {
                return Err(error);
            }
            sleep(pause).await;
            pause = pause.saturating_mul(2);
            attempt += 1;
        }
    }

    /// Sign a bond for an offer. The whole chain may be hidden from a stranger (decision E14): then the bond
    /// hangs on the head that the server names, and [`Market::check_reserved`] verifies all of it before
    /// money moves.
    pub async fn sign_bond(&self, view: &View, payout: Option<Address>, common: &Common) -> Result<Entry> {
        let head = if view.is_whole() { view.head() } else { self.chain_head(view.id()).await? };
        self.sign_on(head, &Data::Bond { agent: self.id(), payout }, common).await
    }

    /// Send a signed bond. In paid mode the contract is reserved for some seconds and the answer says what to
    /// pay.
    pub async fn send_bond(&self, view: &View, entry: Entry) -> Result<Bonded> {
        let id = view.id();
        let answer = match self.send(id, &entry).await {
            Ok(answer) => answer,
            // The contract may be reserved for this key by this very entry.
            Err(error) if error.is_ambiguous() || error.reason() == Some(Reason::Reserved) => {
                match self.deposit_of(id, Side::Agent, view.case().round()).await {
                    Ok(Some(_)) => None,
                    _ => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
        let case = view.case();
        if case.contract().is_free() {
            return Ok(Bonded { id, entry, deposit: None });
        }
        let answer: Option<BondAnswer> = match answer {
            Some(json) => Some(link::read("POST bond", json.canonical().as_bytes())?),
            None => None,
        };
        let round = self.round_of(id, view).await;
        let wanted = match answer {
            Some(answer) if answer.deposit.is_none() => return Ok(Bonded { id, entry, deposit: None }),
            Some(answer) => answer.deposit,
            None => self.deposit_of(id, Side::Agent, round).await?,
        };
        let Some(wanted) = wanted else {
            return Err(ClientError::Deposit { why: "it names no account to pay into".to_owned() });
        };
        let side = Side::Agent;
        let deposit = Deposit::checked(id, side, round, &wanted, case.terms(), case.contract().bounty)?;
        Ok(Bonded { id, entry, deposit: Some(deposit) })
    }

    /// The round of the reservation: the whole chain can be read now.
    async fn round_of(&self, id: ContractId, view: &View) -> u32 {
        match self.view(id).await {
            Ok(now) => now.case().round(),
            Err(_) => view.case().round(),
        }
    }

    /// Bond: [`Market::sign_bond`] and [`Market::send_bond`] in one. Whoever must survive a crash keeps the
    /// entry in between.
    pub async fn bond(&self, id: ContractId, payout: Option<Address>) -> Result<Bonded> {
        let view = self.view(id).await?;
        let entry = self.sign_bond(&view, payout, &Common::default()).await?;
        self.send_bond(&view, entry).await
    }

    /// Verify the whole chain of a contract that is reserved for this key: the bond must hang on its last
    /// entry. Call it before paying.
    pub async fn check_reserved(&self, bonded: &Bonded) -> Result<View> {
        let view = self.view(bonded.id).await?;
        let placed =
            view.holds(&bonded.entry) || (view.is_whole() && view.head().hash == *bonded.entry.prev_hash());
        if placed { Ok(view) } else { Err(ClientError::NotWhole { id: bonded.id }) }
    }

    /// What the escrow shows of one account of the contract, as an answer to a deposit request.
    pub(super) async fn deposit_of(
        &self,
        id: ContractId,
        side: Side,
        round: u32,
    ) -> Result<Option<DepositAnswer>> {
        let escrow = self.escrow(id).await?;
        let account = escrow.accounts.iter().find(|a| a.side == side && a.round == round && !a.confirmed);
        let now = self.now().await?;
        let network = self.terms().await?.network;
        Ok(account.map(|account| DepositAnswer {
            network,
            address: account.address,
            amount: escrow.inclusive_bond,
            amount_raw: escrow.inclusive_bond.0,
            uri: account.address.uri(Some(escrow.inclusive_bond.0)),
            expires_at: now.into(),
        }))
    }

    /// A judge's result or ruling, signed over the head that it has read.
    pub async fn judge(&self, id: ContractId, request: &JudgeRequest) -> Result<Json> {
        let path = Action::Ruling.path_of(id);
        let body =
            serde_json::to_vec(request).map_err(|e| link::unreadable("POST ruling", &e.to_string()))?;
        let bytes = self.inner.link.once(Method::POST, &path, Some(&body), Some(self.key())).await?;
        link::read_json("POST ruling", &bytes)
    }

    /// POST void: asks the server to void a contract whose judge was late. Only the clock decides.
    pub async fn void(&self, id: ContractId) -> Result<StatusAnswer> {
        let path = Action::Void.path_of(id);
        let bytes = self.inner.link.once(Method::POST, &path, Some(b"{}"), Some(self.key())).await?;
        link::read("POST void", &bytes)
    }
}

/// Whether the chain has moved on.
fn is_conflict(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused(refused) if refused.head.is_some() || refused.reason() == Some(Reason::ChainConflict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_money_is_never_signed_again_after_more_than_words() {
        use EntryType as T;
        let money =
            [T::Verify, T::ReviewAccept, T::ReviewReject, T::DisputeFiled, T::Appeal, T::Waive, T::Fix];
        for meant in money {
            for between in EntryType::ALL.iter().copied() {
                let both_waive = (meant, between) == (T::Waive, T::Waive);
                let harmless =
                    between.is_talk() || both_waive || matches!(between, T::Accounts | T::Feedback);
                assert_eq!(still_meant(meant, between), harmless, "{meant} after {between}");
            }
        }
        assert!(!still_meant(T::Accept, T::Result), "an agent reads what it asked for before it accepts");
        assert!(still_meant(T::Decline, T::Result));
        assert!(still_meant(T::Halt, T::Verify), "a halt is meant whatever happened");
        assert!(!still_meant(T::BackOut, T::Fix));
        assert!(!still_meant(T::Bond, T::Bonded));
    }
}
