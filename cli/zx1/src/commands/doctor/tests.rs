//! Every state that an owner can be in has its mark, its words and its next command.

use super::judge::{self, Check, Checks, Open, Owner};
use crate::errors::{Error, Failure};
use crate::output::Mark::{self, Fail, Ok, Skip, Warn};
use crate::settings::Source;
use solana_address::Address;
use zx1_chain::rpc::ChainTime;
use zx1_interface::accounts::{LeaseAccount, StakeLockAccount};
use zx1_interface::constants::MIN_STAKE;
use zx1_operator::facts::Accounts;
use zx1_protocol::units::MicroUsdc;

const NOW: u64 = 20_778;
const SLOT: u64 = 400_000_000;
const AGENT: Address = Address::new_from_array([7; 32]);

fn judged(judge: impl FnOnce(&mut Checks)) -> Checks {
    let mut checks = Checks::default();
    judge(&mut checks);
    checks
}

/// The one check that was made: mark, words, next step.
fn one(judge: impl FnOnce(&mut Checks)) -> (Mark, String, String) {
    let mut checks = judged(judge).checks;
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
    Accounts { time: ChainTime { slot: SLOT, unix, epoch: NOW }, stake, lease, head: None }
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
    T::read(&bytes).unwrap()
}

fn of_stake(account: Option<StakeLockAccount>, paid_through: Option<u64>) -> (Mark, String, String) {
    let report = accounts(account, paid_through).stake_report(AGENT.into());
    one(|checks| judge::stake(report.as_ref(), checks))
}

fn of_lease(paid_through: Option<u64>) -> (Mark, String, String) {
    let report = accounts(None, paid_through).lease_report(AGENT.into());
    one(|checks| judge::lease(&report, checks))
}

#[test]
fn with_nothing_configured_it_says_zx1_init() {
    let failure = Failure::from(Error::KeyMissing { path: "/h/id.json".to_owned() });
    let (mark, found, next) = one(|checks| judge::key(Err(&failure), checks));
    assert_eq!((mark, found.as_str()), (Fail, "There is no keypair file /h/id.json"));
    assert!(next.starts_with("zx1 init"), "{next}");
    let (mark, _, next) = one(|checks| judge::no_agent(None, checks));
    assert_eq!((mark, next.as_str()), (Fail, "zx1 register --name NAME"));
}

#[test]
fn a_key_that_others_can_read_is_warned_of() {
    assert_eq!(one(|checks| judge::key(Result::Ok((AGENT, "/h/id.json", true)), checks)).0, Ok);
    let (mark, _, next) = one(|checks| judge::key(Result::Ok((AGENT, "/h/id.json", false)), checks));
    assert_eq!((mark, next.as_str()), (Warn, "chmod 600 /h/id.json"));
}

#[test]
fn without_a_cluster_nothing_on_chain_is_judged() {
    let failure = Failure::foreign(7000, &"Unreachable", "no answer").next("zx1-localnet");
    let checks = judged(|checks| judge::no_cluster(&failure, &Source::Default, checks));
    assert_eq!((checks.failed, checks.warned), (1, 0));
    assert_eq!((checks.checks[0].found.as_str(), checks.checks[0].mark), ("No answer (default)", Fail));
    assert_eq!(checks.checks[0].next.as_deref(), Some("zx1-localnet"));
    let skipped: Vec<&str> = checks.checks[1..].iter().map(|check| check.name).collect();
    let all = ["programs", "clock", "SOL", "USDC", "agent", "stake", "lease", "batch", "challenges"];
    assert_eq!(skipped, all);
    assert!(checks.checks[1..].iter().all(|check| check.mark == Skip));
}

#[test]
fn a_wrong_clock_matters_where_time_is_everybodys() {
    let mark = |here, local| one(|checks| judge::clock(here, 1_000_000, local, checks)).0;
    assert_eq!([mark(1_000_030, false), mark(1_000_031, false), mark(900_000, false)], [Ok, Warn, Warn]);
    assert_eq!(mark(900_000, true), Ok);
    let (_, found, next) = one(|checks| judge::clock(1_000_000 - 90_000, 1_000_000, false, checks));
    assert_eq!(found, "this machine is 1 d 1 h behind the chain");
    assert_eq!(next, "timedatectl set-ntp true");
}

#[test]
fn without_funds_it_says_how_to_get_some() {
    let none = said(Fail, "none: no fee can be paid", &format!("zx1-localnet fund {AGENT} --sol 1"));
    assert_eq!(one(|checks| judge::sol(AGENT, 0, true, checks)), none);
    let few = said(Warn, "0.004999999 SOL", &format!("send SOL to {AGENT}"));
    assert_eq!(one(|checks| judge::sol(AGENT, 4_999_999, false, checks)), few);
    assert_eq!(one(|checks| judge::sol(AGENT, 5_000_000, true, checks)), said(Ok, "0.005 SOL", ""));
    for held in [None, Some(MicroUsdc(0))] {
        let (mark, _, next) = one(|checks| judge::usdc(AGENT, AGENT, held, true, checks));
        assert_eq!((mark, next), (Warn, format!("zx1-localnet fund {AGENT} --usdc 100")));
    }
    assert_eq!(one(|checks| judge::usdc(AGENT, AGENT, Some(MicroUsdc(1)), true, checks)).0, Ok);
}

#[test]
fn an_agent_that_the_wallet_owns_is_proposed_and_a_strangers_is_warned_of() {
    let (mark, found, next) = one(|checks| judge::no_agent(Some(("alice", AGENT.into())), checks));
    assert_eq!((mark, next), (Warn, format!("zx1 config set agent {AGENT}")));
    assert!(found.contains("'alice'"), "{found}");
    let mark = |owner: &Owner| one(|checks| judge::agent("alice", 7, owner, checks)).0;
    assert_eq!([mark(&Owner::Ours), mark(&Owner::Delegated), mark(&Owner::Unknown(AGENT))], [Ok; 3]);
    assert_eq!([mark(&Owner::Other(AGENT)), mark(&Owner::Burned)], [Warn, Fail]);
}

#[test]
fn a_stake_is_missing_too_small_leaving_or_there() {
    assert_eq!(of_stake(None, None), said(Fail, "none", "zx1 stake lock 10"));
    let small = of_stake(Some(stake(MIN_STAKE - 2_500_000)), None);
    assert_eq!(small, said(Fail, "7.5 USDC, too little to count", "zx1 stake lock 2.5"));
    assert_eq!(of_stake(Some(stake(MIN_STAKE)), None), said(Ok, "10 USDC", ""));
    let leaving = |available| StakeLockAccount {
        in_unlock_queue: 1,
        queued_slot: 1,
        unlock_available_slot: available,
        ..stake(MIN_STAKE)
    };
    let queued = of_stake(Some(leaving(SLOT + 9_000)), None);
    assert_eq!(queued.1, "10 USDC, its unlock is queued and over in 9000 slots (about 1 h)");
    let over = of_stake(Some(leaving(SLOT)), None);
    assert_eq!(over, said(Warn, "10 USDC, its unlock is over", "zx1 stake claim"));
    // The delay is over, but the lease lives again.
    let blocked = of_stake(Some(leaving(SLOT)), Some(NOW));
    assert_eq!((blocked.0, blocked.2.as_str()), (Warn, "zx1 stake show"));
    assert!(blocked.1.starts_with("10 USDC, its unlock's delay is over, but the"), "{}", blocked.1);
}

#[test]
fn a_lease_is_missing_short_in_grace_or_dead() {
    assert_eq!(of_lease(None), said(Fail, "none yet: 1 USDC begins it", "zx1 lease pay --epochs 1"));
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
    assert_eq!(dead, said(Fail, "deactivated, 4 days behind: 4 USDC bring it back", next));
}

#[test]
fn a_batch_is_missing_due_or_submitted() {
    let of = |last| one(|checks| judge::batch(last, NOW, checks));
    assert_eq!(of(None).0, Warn);
    assert_eq!(of(Some((4, NOW - 1))), said(Ok, "4 submitted, the last for epoch 20777 (2026-11-20)", ""));
    let next = "zx1 batch submit --epoch 20777";
    assert_eq!(of(Some((3, NOW - 2))), said(Warn, "due for epoch 20777 (2026-11-20)", next));
    let found = "due for epoch 20777 (2026-11-20); it will cover 20774 to 20777";
    assert_eq!(of(Some((3, NOW - 5))), said(Warn, found, next));
}

#[test]
fn an_open_challenge_asks_for_its_answer_and_an_old_one_for_its_resolution() {
    let challenge =
        |submitted_slot, answered| Open { address: AGENT, epoch: NOW - 1, submitted_slot, answered };
    let of = |open: Open| one(|checks| judge::challenges(&[open], SLOT, checks));
    let (mark, found, next) = of(challenge(SLOT - 1, false));
    assert_eq!((mark, next), (Fail, format!("zx1 challenge answer {AGENT}")));
    assert!(found.ends_with("answer it within 431999 slots (about 1 d 23 h)"), "{found}");
    assert_eq!(of(challenge(SLOT - 1, true)).0, Ok);
    let (mark, _, next) = of(challenge(SLOT - 432_000, true));
    assert_eq!((mark, next), (Warn, format!("zx1 challenge resolve {AGENT}")));
    let (mark, found, _) = of(challenge(SLOT - 432_000, false));
    assert_eq!(mark, Fail);
    assert!(found.contains("the stake is lost"), "{found}");
    assert_eq!(one(|checks| judge::challenges(&[], SLOT, checks)).0, Ok);
}

#[test]
fn what_was_sent_and_not_seen_to_land_is_named() {
    assert_eq!(one(|checks| judge::outbox(&[], checks)).0, Ok);
    let (mark, found, _) = one(|checks| judge::outbox(&["Lock 10 USDC"], checks));
    assert_eq!((mark, found.as_str()), (Warn, "1 transaction was sent without a result seen: Lock 10 USDC"));
}

#[test]
fn failures_and_warnings_are_counted_apart() {
    let checks = judged(|checks| {
        judge::stake(None, checks);
        judge::batch(None, NOW, checks);
        judge::outbox(&[], checks);
    });
    assert_eq!((checks.failed, checks.warned), (1, 1));
}
