//! Every state that an owner can be in has its mark, its words and its next command.

use solana_address::Address;
use zx1_chain::rpc::ChainTime;
use zx1_cli::errors::{Error, Failure};
use zx1_cli::findings::{Check, Checks};
use zx1_cli::output::Mark::{self, Fail, Ok, Skip, Warn};
use zx1_cli::settings::Source;
use zx1_interface::accounts::{AskAccount, ChallengeAccount, LeaseAccount, StakeLockAccount, TenureAccount};
use zx1_operator::Agent;
use zx1_operator::facts::{Accounts, KeyCounts, OpenAsk, OpenChallenge};
use zx1_operator::health::{Finding, Ownership};
use zx1_operator::keys::TenureReport;
use zx1_protocol::amounts::Amounts;
use zx1_protocol::units::MicroUsdc;

const NOW: u64 = 20_778;
const SLOT: u64 = 400_000_000;
const AGENT: Address = Address::new_from_array([7; 32]);

/// The check of a finding: mark, words, next step.
fn one(finding: Finding) -> (Mark, String, String) {
    let mut checks = Checks::default();
    checks.finding(&finding);
    let mut checks = checks.checks;
    assert_eq!(checks.len(), 1, "{checks:?}");
    let Check { mark, found, next, .. } = checks.remove(0);
    // What is not well says what to do.
    assert_eq!(next.is_some(), matches!(mark, Warn | Fail), "{mark:?} {found} {next:?}");
    (mark, found, next.unwrap_or_default())
}

fn said(mark: Mark, found: &str, next: &str) -> (Mark, String, String) {
    (mark, found.to_owned(), next.to_owned())
}

fn accounts(stake: Option<StakeLockAccount>, paid_through: Option<u64>) -> Accounts {
    let lease = paid_through.map(|paid_through_epoch| LeaseAccount { paid_through_epoch, ..lease() });
    let unix = i64::try_from(NOW * 86_400 + 43_200).unwrap();
    Accounts {
        time: ChainTime { slot: SLOT, unix, epoch: NOW },
        amounts: Amounts::DEFAULT,
        holder: Some(Address::new_from_array([0; 32])),
        tenure: Some(tenure()),
        stakes: stake.into_iter().collect(),
        lease,
        head: None,
    }
}

const MIN_STAKE: u64 = Amounts::DEFAULT.min_stake;

fn tenure() -> TenureAccount {
    TenureAccount { number: 1, ..zeroed() }
}

fn lease() -> LeaseAccount {
    zeroed()
}

fn stake(micro_usdc: u64) -> StakeLockAccount {
    StakeLockAccount { stake_usdc: micro_usdc, ..zeroed() }
}

/// An account of zeros, read by the interface's own layout.
fn zeroed<T: zx1_interface::Layout>() -> T {
    let mut bytes = T::DISCRIMINATOR.to_vec();
    bytes.resize(T::SIZE, 0);
    bytes[T::VERSION_AT] = 2;
    T::read(&bytes).unwrap()
}

fn of_stake(account: Option<StakeLockAccount>, paid_through: Option<u64>) -> (Mark, String, String) {
    let stake = accounts(account, paid_through).stake_report(AGENT.into());
    one(Finding::Stake { stake, minimum_micro_usdc: MicroUsdc(MIN_STAKE) })
}

fn of_lease(paid_through: Option<u64>) -> (Mark, String, String) {
    let report = accounts(None, paid_through).lease_report(AGENT.into());
    one(Finding::Lease(report))
}

#[test]
fn without_an_agent_it_says_register() {
    let (mark, _, next) = one(Finding::NoAgent { owned: None });
    assert_eq!((mark, next.as_str()), (Fail, "zx1 register --name NAME"));
}

#[test]
fn without_a_cluster_nothing_on_chain_is_judged() {
    let failure = Failure { message: "No answer.".into(), ..Error::NoHome.into() }.next("zx1-localnet");
    let mut checks = Checks::default();
    checks.no_cluster(&failure, &Source::Default);
    assert_eq!((checks.failed, checks.warned), (1, 0));
    assert_eq!((checks.checks[0].found.as_str(), checks.checks[0].mark), ("No answer (default)", Fail));
    assert_eq!(checks.checks[0].next.as_deref(), Some("zx1-localnet"));
    let skipped: Vec<&str> = checks.checks[1..].iter().map(|check| check.name).collect();
    let all = [
        "programs",
        "clock",
        "SOL",
        "USDC",
        "agent",
        "keys",
        "stake",
        "lease",
        "batch",
        "challenges",
        "asks",
    ];
    assert_eq!(skipped, all);
    assert!(checks.checks[1..].iter().all(|check| check.mark == Skip));
}

#[test]
fn a_wrong_clock_matters_where_time_is_everybodys() {
    let mark = |here, local| one(Finding::clock(here, 1_000_000, local)).0;
    assert_eq!([mark(1_000_030, false), mark(1_000_031, false), mark(900_000, false)], [Ok, Warn, Warn]);
    assert_eq!(mark(900_000, true), Ok);
    let (_, found, next) = one(Finding::clock(1_000_000 - 90_000, 1_000_000, false));
    assert_eq!(found, "this machine is 1 d 1 h behind the chain");
    assert_eq!(next, "timedatectl set-ntp true");
}

fn sol(lamports: u64, local: bool) -> Finding {
    Finding::Sol { wallet: AGENT, lamports, local }
}

fn usdc(micro_usdc: Option<u64>) -> Finding {
    Finding::Usdc { wallet: AGENT, mint: AGENT, micro_usdc: micro_usdc.map(MicroUsdc), local: true }
}

#[test]
fn without_funds_it_says_how_to_get_some() {
    let none = said(Fail, "none: fees cannot be paid", &format!("zx1-localnet fund {AGENT} --sol 1"));
    assert_eq!(one(sol(0, true)), none);
    let few = said(Warn, "0.004999999 SOL", &format!("send SOL to {AGENT}"));
    assert_eq!(one(sol(4_999_999, false)), few);
    assert_eq!(one(sol(5_000_000, true)), said(Ok, "0.005 SOL", ""));
    for held in [None, Some(0)] {
        let (mark, _, next) = one(usdc(held));
        assert_eq!((mark, next), (Warn, format!("zx1-localnet fund {AGENT} --usdc 100")));
    }
    assert_eq!(one(usdc(Some(1))).0, Ok);
}

#[test]
fn an_agent_that_the_wallet_owns_is_proposed_and_a_strangers_is_warned_of() {
    let (mark, found, next) = one(Finding::NoAgent { owned: Some(("alice".to_owned(), AGENT.into())) });
    assert_eq!((mark, next), (Warn, format!("zx1 config set agent {AGENT}")));
    assert!(found.contains("'alice'"), "{found}");
    let mark = |ownership| {
        let agent = Agent { name: None, mint: AGENT.into() };
        one(Finding::Agent { agent, member_number: 7, ownership }).0
    };
    let key = Ownership::Key("pay,batch".to_owned());
    assert_eq!([mark(Ownership::Ours), mark(key), mark(Ownership::Unknown(AGENT))], [Ok; 3]);
    assert_eq!([mark(Ownership::Other(AGENT)), mark(Ownership::Burned)], [Warn, Fail]);
}

#[test]
fn a_stake_is_missing_too_small_leaving_or_there() {
    assert_eq!(of_stake(None, None), said(Fail, "none", "zx1 stake lock 30"));
    let small = of_stake(Some(stake(MIN_STAKE - 2_500_000)), None);
    assert_eq!(small, said(Fail, "27.5 USDC, below the minimum", "zx1 stake lock 2.5"));
    assert_eq!(of_stake(Some(stake(MIN_STAKE)), None), said(Ok, "30 USDC", ""));
    let leaving = |available| StakeLockAccount {
        in_unlock_queue: 1,
        queued_slot: 1,
        unlock_available_slot: available,
        ..stake(MIN_STAKE)
    };
    let queued = of_stake(Some(leaving(SLOT + 9_000)), None);
    assert_eq!(queued.1, "30 USDC, unlock queued, 9000 slots (about 1 h) left");
    let over = of_stake(Some(leaving(SLOT)), None);
    assert_eq!(over, said(Warn, "30 USDC, unlocked", "zx1 stake claim"));
    // The delay is over, but the lease lives again.
    let blocked = of_stake(Some(leaving(SLOT)), Some(NOW));
    assert_eq!((blocked.0, blocked.2.as_str()), (Warn, "zx1 stake show"));
    assert!(blocked.1.starts_with("30 USDC, unlock delay over, but the"), "{}", blocked.1);
    let ended = StakeLockAccount { ended_slot: SLOT - 1, ..stake(MIN_STAKE) };
    assert_eq!(
        of_stake(Some(ended), None),
        said(Fail, "30 USDC, but its era has ended", "zx1 stake lock 30")
    );
}

#[test]
fn a_stake_of_an_earlier_era_waits_to_be_claimed() {
    let of = |ended_slot| {
        let earlier = StakeLockAccount { ended_slot, ..stake(MIN_STAKE) };
        let now = StakeLockAccount { era: 1, ..stake(MIN_STAKE) };
        let tenure = Some(TenureAccount { era: 1, ..tenure() });
        let accounts = Accounts { stakes: vec![earlier, now], tenure, ..accounts(None, None) };
        one(Finding::EarlierStake(accounts.stake_reports(AGENT.into()).remove(0)))
    };
    assert_eq!(of(SLOT - 432_000), said(Ok, "era 0: 30 USDC", ""));
    assert_eq!(of(SLOT - 432_001), said(Warn, "era 0: 30 USDC", "zx1 stake claim --era 0"));
}

#[test]
fn keys_are_missing_a_former_holders_or_there() {
    let report = |tenure: &TenureAccount| {
        let holder = Some(Address::new_from_array([0; 32]));
        Some(TenureReport::new(tenure, holder))
    };
    let of = |tenure, counts| one(Finding::Keys { tenure, counts });
    let none = of(None, KeyCounts::default());
    assert_eq!((none.0, none.2.as_str()), (Fail, "zx1 keys add FILE --scopes pay,batch,deal,peer"));
    let sold = of(report(&TenureAccount { owner: [1; 32], ..tenure() }), KeyCounts::default());
    assert_eq!((sold.0, sold.2.as_str()), (Fail, "zx1 take-over"));
    let batch = KeyCounts { batch: 1, ..KeyCounts::default() };
    let half = of(report(&tenure()), batch);
    assert_eq!((half.0, half.2.as_str()), (Warn, "zx1 keys add FILE --scopes deal"));
    let whole = of(report(&tenure()), KeyCounts { deal: 2, notice: 1, ..batch });
    assert_eq!(whole, said(Ok, "0 of scope pay, 1 batch, 2 deal, 0 peer, 1 to act later", ""));
}

#[test]
fn a_lease_is_missing_short_in_grace_or_dead() {
    assert_eq!(of_lease(None), said(Fail, "none yet: 1 USDC starts it", "zx1 lease pay --epochs 1"));
    assert_eq!(of_lease(Some(NOW + 2)), said(Ok, "active, paid for today and 2 more days", ""));
    let today = of_lease(Some(NOW));
    assert_eq!(
        today,
        said(Warn, "active, paid for today; this day ends in 12 h", "zx1 lease pay --epochs 7")
    );
    let late = of_lease(Some(NOW - 1));
    assert_eq!(late, said(Warn, "in grace, 1 day behind: 1 USDC due", "zx1 lease pay --epochs 1"));
    let later = of_lease(Some(NOW - 3));
    assert_eq!(later, said(Warn, "in grace, 3 days behind: 3 USDC due", "zx1 lease pay --epochs 3"));
    let dead = of_lease(Some(NOW - 4));
    let next = "zx1 lease pay --epochs 1";
    assert_eq!(dead, said(Fail, "deactivated, 4 days behind: 4 USDC to reactivate it", next));
}

#[test]
fn a_batch_is_missing_due_or_submitted() {
    let of = |last| one(Finding::batch(last, NOW));
    assert_eq!((of(None).0, of(None).2.as_str()), (Warn, "zx1 batch open"));
    assert_eq!(of(Some((0, NOW - 1))), said(Ok, "none yet; the first is due tomorrow", ""));
    assert_eq!(of(Some((4, NOW - 1))), said(Ok, "4 submitted, the last for epoch 20777 (2026-11-20)", ""));
    let next = "zx1 batch submit --epoch 20777";
    assert_eq!(of(Some((3, NOW - 2))), said(Warn, "due for epoch 20777 (2026-11-20)", next));
    let found = "due for epoch 20777 (2026-11-20); it will cover 20774 to 20777";
    assert_eq!(of(Some((3, NOW - 5))), said(Warn, found, next));
}

#[test]
fn an_open_challenge_asks_for_its_answer_and_an_old_one_for_its_resolution() {
    let challenge = |submitted_slot, expected_len| {
        let account = ChallengeAccount { epoch_number: NOW - 1, submitted_slot, expected_len, ..zeroed() };
        OpenChallenge::new(AGENT, &account, SLOT)
    };
    let of = |open| one(Finding::Challenge(open));
    let (mark, found, next) = of(challenge(SLOT - 2, 105));
    assert_eq!((mark, next), (Fail, format!("zx1 challenge answer {AGENT}")));
    assert!(found.ends_with("answer it within 431999 slots (about 1 d 23 h)"), "{found}");
    let (mark, found, _) = of(challenge(SLOT - 432_000, 105));
    assert_eq!((mark, found.contains("answer it within 1 slot ")), (Fail, true), "{found}");
    // Nothing answers a double bid, whenever it was opened.
    for (submitted, expected_len) in [(SLOT - 432_001, 105), (SLOT - 1, 0)] {
        let (mark, found, next) = of(challenge(submitted, expected_len));
        assert_eq!((mark, next), (Fail, format!("zx1 challenge resolve {AGENT}")));
        assert!(found.contains("the stake is lost"), "{found}");
    }
    assert_eq!(one(Finding::NoChallenges).0, Ok);
}

#[test]
fn a_leaf_that_is_asked_for_is_to_be_shown_in_time() {
    let ask = |created_slot| {
        let account = AskAccount { epoch_number: NOW - 1, created_slot, index: 3, ..zeroed() };
        one(Finding::Ask(OpenAsk::new(AGENT, &account, SLOT)))
    };
    let (mark, found, next) = ask(SLOT - 1);
    assert_eq!((mark, next), (Warn, format!("zx1 ask show {AGENT}")));
    assert!(found.contains("leaf 3 of the log of epoch 20777"), "{found}");
    assert_eq!(ask(SLOT - 108_000).2, format!("zx1 ask show {AGENT}"));
    let (mark, found, next) = ask(SLOT - 108_001);
    assert_eq!((mark, next), (Fail, format!("zx1 ask settle {AGENT}")));
    assert!(found.ends_with("was not shown in time"), "{found}");
    assert_eq!(one(Finding::NoAsks).0, Ok);
}

#[test]
fn what_was_sent_and_not_seen_to_land_is_named() {
    assert_eq!(one(Finding::Outbox(Vec::new())).0, Ok);
    let (mark, found, _) = one(Finding::Outbox(vec!["Lock 10 USDC".to_owned()]));
    assert_eq!((mark, found.as_str()), (Warn, "1 transaction was sent with unknown outcome: Lock 10 USDC"));
}

#[test]
fn failures_and_warnings_are_counted_apart() {
    let mut checks = Checks::default();
    for finding in [
        Finding::Stake { stake: None, minimum_micro_usdc: MicroUsdc(MIN_STAKE) },
        Finding::batch(None, NOW),
        Finding::Outbox(Vec::new()),
    ] {
        checks.finding(&finding);
    }
    assert_eq!((checks.failed, checks.warned), (1, 1));
}
