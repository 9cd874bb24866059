//! A contract with its parties and a clock that tests move.

use std::collections::BTreeMap;

use zx1_market::case::{Chained, Effect, Settle, Transcript, replay};
use zx1_market::chain::{Data, DepositData, Entry, Head, ReexecutionData, RulingData, Side};
use zx1_market::contract::{ContractBuilder, Ending, FailedStep, Failure, FailureClass};
use zx1_market::money::{Court, Outcome, Payee, inclusive_bond};
use zx1_market::*;

pub(crate) const START: Millis = Millis(1_708_531_200_000);

pub(crate) fn key(n: u8) -> PartyKey {
    PartyKey::from_seed(&[n; 32])
}

pub(crate) fn principal() -> PartyKey {
    key(1)
}

pub(crate) fn agent() -> PartyKey {
    key(2)
}

pub(crate) fn server() -> PartyKey {
    key(3)
}

pub(crate) fn stranger() -> PartyKey {
    key(4)
}

pub(crate) fn judge() -> PartyKey {
    key(5)
}

pub(crate) fn address(n: u8) -> Address {
    Address::from(nano_escrow::PublicKey([n; 32]))
}

pub(crate) fn xno(text: &str) -> Raw {
    Raw::from_xno(text).unwrap()
}

pub(crate) fn terms() -> Terms {
    let mut terms = Terms::new(server().id(), address(90)).unwrap();
    terms.judges.push(judge().id());
    terms
}

pub(crate) fn vectors(name: &str) -> String {
    let path = format!("{}/../../tests/vectors/fix/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

pub(crate) fn builder() -> ContractBuilder {
    Contract::builder("gcc foo.c", "foo.c:12: undefined reference to `bar'")
}

pub(crate) fn paid() -> Contract {
    builder().bounty(xno("0.5")).build(&terms()).unwrap()
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T>) -> u32 {
    result.unwrap_err().code()
}

/// What a principal says that posts this contract.
pub(crate) fn posting(contract: &Contract, who: &PartyKey, payout: Option<Address>) -> Data {
    let market = Some(terms().market());
    Data::Post { contract: contract.json().clone(), principal: who.id(), payout, market }
}

/// Where the money of a key goes: 11 for the principal, 12 for everybody else.
pub(crate) fn payout_of(who: &PartyKey) -> Address {
    address(if who.id() == principal().id() { 11 } else { 12 })
}

pub(crate) fn post(contract: &Contract, who: &PartyKey, now: Millis) -> Entry {
    let payout = (!contract.is_free()).then(|| payout_of(who));
    Entry::sign(&posting(contract, who, payout), Head::GENESIS, now, who)
}

#[derive(Clone)]
pub(crate) struct World {
    pub case: Case,
    pub now: Millis,
    pub chained: Vec<Chained>,
    pub effects: Vec<Effect>,
    /// What lies on each escrow account.
    pub held: BTreeMap<Address, Raw>,
    pub paid_out: BTreeMap<Address, Raw>,
    next_account: u8,
}

impl World {
    pub(crate) fn new(contract: &Contract, terms: &Terms) -> World {
        let post = post(contract, &principal(), START);
        let (case, step) = Case::start(post, terms, START, &server()).unwrap();
        let mut world = World {
            case,
            now: START,
            chained: Vec::new(),
            effects: Vec::new(),
            held: BTreeMap::new(),
            paid_out: BTreeMap::new(),
            next_account: 100,
        };
        world.take(step);
        world
    }

    pub(crate) fn take(&mut self, step: zx1_market::case::Step) {
        for effect in &step.effects {
            if let Effect::Settle(settle) = effect {
                self.pay(settle);
            }
        }
        self.chained.extend(step.entries);
        self.effects.extend(step.effects);
    }

    /// Pay out: the account must exist, and the legs must sum to what it holds.
    fn pay(&mut self, settle: &Settle) {
        for account in &settle.accounts {
            let held = self.held.remove(&account.account).expect("an account is paid out once");
            let sum = Raw::checked_sum(account.legs.iter().map(|leg| leg.amount)).unwrap();
            assert_eq!(sum, held, "{settle:?}");
            for leg in &account.legs {
                assert!(!leg.amount.is_zero());
                let got = self.paid_out.entry(leg.address).or_default();
                *got = got.add(leg.amount).unwrap();
            }
        }
    }

    pub(crate) fn entry(&self, who: &PartyKey, data: &Data) -> Entry {
        Entry::sign(data, self.case.head(), self.now, who)
    }

    /// A party acts now. What was due before happens first, as on a server.
    pub(crate) fn act(&mut self, who: &PartyKey, data: Data) -> Result<()> {
        self.pass(0);
        let before = self.case.clone();
        let entry = self.entry(who, &data);
        match self.case.handle(entry, self.now, &server()) {
            Ok(step) => {
                self.take(step);
                Ok(())
            }
            Err(refusal) => {
                assert_eq!(self.case, before, "a refusal changes nothing");
                Err(refusal)
            }
        }
    }

    pub(crate) fn by_server(&mut self, data: Data) -> Result<()> {
        let step = self.case.chain_by_server(data, self.now, &server())?;
        self.take(step);
        Ok(())
    }

    /// Let time pass, in milliseconds, and do what is due.
    pub(crate) fn pass(&mut self, millis: u64) {
        self.now = self.now.plus(Millis(millis));
        let step = self.case.run(self.now, &server()).unwrap();
        self.take(step);
    }

    /// A seat before a judge is free.
    pub(crate) fn seat(&mut self) {
        let step = self.case.seat(self.now, &server()).unwrap();
        self.take(step);
    }

    pub(crate) fn secs(&mut self, secs: u64) {
        self.pass(secs * 1000);
    }

    pub(crate) fn deposit(&mut self, side: Side) -> Result<()> {
        self.next_account += 1;
        let amount = inclusive_bond(&self.case.terms().fees, self.case.contract().bounty).unwrap();
        // Somebody else was first with a little money, so the escrow names a stranger as the source.
        let source = address(66);
        let deposit = DepositData { account: address(self.next_account), amount, source };
        let step = self.case.deposit_confirmed(side, deposit, self.now, &server())?;
        self.held.insert(deposit.account, amount);
        self.take(step);
        Ok(())
    }

    pub(crate) fn reserve(&mut self, who: &PartyKey) -> Result<()> {
        let data = Data::Bond { agent: who.id(), payout: Some(payout_of(who)) };
        let (_, effects) = self.case.reserve(self.entry(who, &data), self.now)?;
        self.effects.extend(effects);
        Ok(())
    }

    pub(crate) fn bond(&mut self, who: &PartyKey) -> Result<()> {
        if self.case.contract().is_free() {
            return self.act(who, Data::Bond { agent: who.id(), payout: None });
        }
        self.reserve(who)?;
        self.deposit(Side::Agent)
    }

    pub(crate) fn accept(&mut self, who: &PartyKey) -> Result<()> {
        self.act(who, Data::Accept { agent: who.id() })
    }

    pub(crate) fn fix(&mut self) -> Result<()> {
        self.act(
            &agent(),
            Data::Fix {
                fix: "gcc foo.c -lbar".into(),
                explanation: "links libbar".into(),
                corrected_command: None,
            },
        )
    }

    pub(crate) fn verify(&mut self, success: bool) -> Result<()> {
        let data = Data::Verify {
            success,
            explanation: String::new(),
            exit_code: None,
            output: String::new(),
            failure: None,
        };
        self.act(&principal(), data)
    }

    pub(crate) fn dispute(&mut self, side: Side) -> Result<()> {
        self.act(&side_key(side), Data::DisputeFiled { argument: "it is so".into(), side })
    }

    pub(crate) fn respond(&mut self, side: Side) -> Result<()> {
        self.act(&side_key(side), Data::DisputeResponse { argument: "it is not".into(), side })
    }

    pub(crate) fn appeal(&mut self, side: Side) -> Result<()> {
        self.act(&side_key(side), Data::Appeal { argument: "again".into(), side })
    }

    pub(crate) fn waive(&mut self, side: Side) -> Result<()> {
        self.act(&side_key(side), Data::Waive { side })
    }

    pub(crate) fn halt(&mut self) -> Result<()> {
        self.act(&principal(), Data::Halt { reason: "stop".into() })
    }

    pub(crate) fn resume(&mut self) -> Result<()> {
        self.act(&principal(), Data::Resume { reason: String::new() })
    }

    pub(crate) fn back_out(&mut self, side: Side) -> Result<()> {
        self.act(&side_key(side), Data::BackOut { reason: "sorry".into() })
    }

    pub(crate) fn reexecute(&mut self) -> Result<()> {
        let data = ReexecutionData {
            ran: false,
            success: None,
            exit_code: None,
            output: String::new(),
            note: "no inputs".into(),
            trial: None,
            signature: None,
        };
        let data = data.sign(self.case.id(), &self.case.head().hash, &judge());
        self.by_server(Data::Reexecution(Box::new(data)))
    }

    pub(crate) fn rule_as(&mut self, outcome: Outcome, court: Court) -> Result<()> {
        let ruling = RulingData::new(outcome, court, "the transcript says so");
        let ruling = ruling.sign(self.case.id(), &self.case.head().hash, &judge());
        self.by_server(Data::Ruling(Box::new(ruling)))
    }

    /// The machine, then the judge of the present court.
    pub(crate) fn rule(&mut self, outcome: Outcome) -> Result<()> {
        self.pass(0);
        let court = self.case.judge_task().unwrap().court;
        self.reexecute()?;
        self.rule_as(outcome, court)
    }

    pub(crate) fn transcript(&self) -> Transcript {
        Transcript {
            contract_id: Some(self.case.id()),
            server: Some(server().id()),
            entries: self.chained.iter().map(|c| c.entry.clone()).collect(),
            received_at: self.chained.iter().map(|c| c.received_at).collect(),
        }
    }

    pub(crate) fn got(&self, payee: Payee) -> Raw {
        let address = match payee {
            Payee::Principal => address(11),
            Payee::Agent => address(12),
            Payee::Platform => self.case.terms().platform,
            Payee::Charity => self.case.terms().charity,
        };
        self.paid_out.get(&address).copied().unwrap_or_default()
    }

    /// What must hold at every moment: the snapshot is the case, and the transcript replays to it, with and
    /// without the moments of arrival.
    pub(crate) fn check(&self) {
        let text = serde_json::to_string(&self.case).unwrap();
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), self.case, "the snapshot is the case");
        let transcript = self.transcript();
        let report = replay(&transcript);
        assert!(report.valid, "{:?}", report.error);
        assert!(report.exact_times);
        assert_eq!(report.state, Some(self.case.state()));
        assert_eq!(report.settlements, self.case.settlements());
        assert_eq!(report.chain_head, self.case.head().hex());
        let saved = Transcript::parse(transcript.to_json().canonical().as_bytes()).unwrap();
        assert_eq!(saved, transcript);
        let estimated = replay(&Transcript { received_at: Vec::new(), ..transcript });
        assert!(estimated.valid, "without arrival times: {:?}", estimated.error);
        assert_eq!(estimated.settlements, self.case.settlements());
        if self.case.state().is_terminal() {
            assert!(self.held.is_empty(), "nothing is left in escrow");
            assert_eq!(self.case.next_deadline(), None, "an ended contract waits for nothing");
        } else {
            assert!(self.case.next_deadline().is_some(), "{:?} ends some day", self.case.state());
        }
    }
}

pub(crate) fn side_key(side: Side) -> PartyKey {
    if side == Side::Principal { principal() } else { agent() }
}

/// A paid contract in the state open.
pub(crate) fn open() -> World {
    open_with(&paid())
}

pub(crate) fn open_with(contract: &Contract) -> World {
    let mut world = World::new(contract, &terms());
    if !contract.is_free() {
        world.deposit(Side::Principal).unwrap();
    }
    world
}

pub(crate) fn free() -> Contract {
    builder().build(&terms()).unwrap()
}

pub(crate) fn autonomous() -> Contract {
    builder().bounty(xno("0.5")).autonomous().build(&terms()).unwrap()
}

/// A contract under investigation.
pub(crate) fn investigating_with(contract: &Contract) -> World {
    let mut world = open_with(contract);
    world.bond(&agent()).unwrap();
    world
}

/// A contract in progress.
pub(crate) fn working_with(contract: &Contract) -> World {
    let mut world = investigating_with(contract);
    world.accept(&agent()).unwrap();
    world
}

pub(crate) fn working() -> World {
    working_with(&paid())
}

/// IN_PROGRESS, with a fix that waits for its verification.
pub(crate) fn verifying() -> World {
    let mut world = working();
    world.fix().unwrap();
    world
}

/// A contract whose fix is in review.
pub(crate) fn reviewing() -> World {
    let mut world = working_with(&autonomous());
    world.fix().unwrap();
    world
}

/// DISPUTED by the principal, answered: the judge's turn.
pub(crate) fn judging() -> World {
    let mut world = verifying();
    world.dispute(Side::Principal).unwrap();
    world.respond(Side::Agent).unwrap();
    world
}

/// One of every type of entry that a party writes.
pub(crate) fn said(me: PartyId, side: Side) -> Vec<Data> {
    let text = || "a \u{e9}\n\"b\"".to_owned();
    vec![
        Data::Cancel { reason: text() },
        Data::Bond { agent: me, payout: Some(address(7)) },
        Data::Bond { agent: me, payout: None },
        Data::Accept { agent: me },
        Data::Decline { reason: text() },
        Data::Investigate { command: text() },
        Data::Result { command: text(), output: text(), exit_code: Some(-9), refused: true },
        Data::Result { command: text(), output: text(), exit_code: None, refused: false },
        Data::Fix { fix: text(), explanation: text(), corrected_command: Some("make".to_owned()) },
        Data::Fix { fix: text(), explanation: text(), corrected_command: None },
        Data::Verify {
            success: true,
            explanation: text(),
            exit_code: Some(0),
            output: text(),
            failure: None,
        },
        Data::ReviewAccept { explanation: text() },
        Data::ReviewReject { reason: text(), failure: None },
        Data::ReviewReject {
            reason: text(),
            failure: Some(Failure::new(FailedStep::Outside, Ending::Two, FailureClass::OutsideFailed)),
        },
        Data::DisputeFiled { argument: text(), side },
        Data::DisputeResponse { argument: text(), side },
        Data::Appeal { argument: text(), side },
        Data::Waive { side },
        Data::Chat { message: text() },
        Data::Ask { message: text() },
        Data::Answer { message: text() },
        Data::Message { message: text() },
        Data::Halt { reason: text() },
        Data::Resume { reason: text() },
        Data::BackOut { reason: text() },
        Data::Accounts { payout: address(7) },
    ]
}
