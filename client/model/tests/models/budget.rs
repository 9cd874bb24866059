//! Budgets are never exceeded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use zx1_home::{Clock as _, FixedClock, SystemClock};
use zx1_model::budget::{
    Books, Budget, BudgetError, Budgeted, Caps, FileStore, Kind, Limits, MemoryStore, Reservation, Shared,
    Span, Store,
};
use zx1_model::{Line, Model, ModelError, Price, Request, Scripted, Spend, micro_usd_of_decimal};

const DAY_MS: u64 = 86_400_000;

fn spend(n: u64) -> Spend {
    Spend { micro_usd: n, tokens: n, millis: n }
}

fn caps(n: u64) -> Caps {
    Caps { micro_usd: n, tokens: n, millis: n }
}

fn limits(contract: u64, day: u64) -> Limits {
    Limits { per_contract: caps(contract), per_day: caps(day) }
}

fn hand_clock() -> (Arc<FixedClock>, FixedClock) {
    let time = FixedClock::new(1_000 * DAY_MS);
    (Arc::new(time.clone()), time)
}

fn within(spend: Spend, caps: Caps) -> bool {
    spend.micro_usd <= caps.micro_usd && spend.tokens <= caps.tokens && spend.millis <= caps.millis
}

#[test]
fn the_defaults_are_on_and_finite() {
    let Limits { per_contract, per_day } = Limits::default();
    assert_eq!(per_contract, Caps { micro_usd: 500_000, tokens: 1_000_000, millis: 600_000 });
    assert_eq!(per_day, Caps { micro_usd: 5_000_000, tokens: 20_000_000, millis: 21_600_000 });
}

#[test]
fn exactly_the_cap_is_allowed_and_one_more_fails() {
    let (clock, _) = hand_clock();
    let budget = Budget::open(limits(10, 100), Box::new(MemoryStore::default()), clock).unwrap();
    budget.reserve("a", spend(7)).unwrap().settle(spend(3)).unwrap();
    let kept = budget.reserve("a", spend(7)).unwrap();
    for one in [
        Spend { micro_usd: 1, ..Spend::default() },
        Spend { tokens: 1, ..Spend::default() },
        Spend { millis: 1, ..Spend::default() },
    ] {
        assert_eq!(budget.reserve("a", one).unwrap_err().code(), 9340);
    }
    kept.settle(Spend::default()).unwrap();
    drop(budget.reserve("a", spend(7)).unwrap());
    assert_eq!(budget.spent_on("a"), spend(10), "a dropped reservation counts in full");
    assert_eq!(budget.reserve("", spend(0)).unwrap_err().code(), 9343);
}

#[test]
fn the_day_has_a_cap_of_its_own_and_ends() {
    let (clock, time) = hand_clock();
    let budget = Budget::open(limits(10, 15), Box::new(MemoryStore::default()), clock).unwrap();
    budget.reserve("a", spend(10)).unwrap().settle(spend(10)).unwrap();
    let error = budget.reserve("b", spend(6)).unwrap_err();
    assert_eq!(error, BudgetError::Cap { span: Span::Day, kind: Kind::Money, would_be: 16, cap: 15 });
    let over_night = budget.reserve("b", spend(5)).unwrap();
    time.advance(DAY_MS);
    assert_eq!(budget.spent_today(), spend(5), "a call that is under way counts for the new day");
    over_night.settle(spend(4)).unwrap();
    assert_eq!(budget.spent_today(), spend(4));
    assert_eq!(budget.reserve("a", spend(1)).unwrap_err().code(), 9340, "a contract's cap does not end");
    time.set(time.unix_ms() - 3 * DAY_MS);
    assert_eq!(budget.spent_today(), spend(4), "a clock that goes back opens no new day");
}

#[test]
fn what_was_reserved_at_a_crash_counts_in_full() {
    let (clock, _) = hand_clock();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("budget.json");
    let open = || Budget::open(limits(10, 100), Box::new(FileStore::new(&path)), clock.clone());
    let budget = open().unwrap();
    budget.reserve("a", spend(3)).unwrap().settle(spend(2)).unwrap();
    // The process is gone before it settles: nothing runs, not even a destructor.
    std::mem::forget(budget.reserve("a", spend(5)).unwrap());
    drop(budget);
    let budget = open().unwrap();
    assert_eq!(budget.spent_on("a"), spend(7));
    assert_eq!(budget.spent_today(), spend(7));
    assert_eq!(budget.reserve("a", spend(4)).unwrap_err().code(), 9340);
    drop(budget);
    std::fs::write(&path, b"{\"day\":").unwrap();
    assert_eq!(open().unwrap_err().code(), 9342, "damaged books are never taken for empty ones");
}

/// Two reservations at once would not fit: calls follow one another, and none is lost from the books.
#[tokio::test(flavor = "multi_thread")]
async fn calls_of_several_processes_take_turns_and_all_are_counted() {
    let (clock, _) = hand_clock();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home").join("budget.json");
    let request = Request::new("s", "u", 5);
    let script = Scripted::function(|_| Line::Say("four".into())).shared();
    let worst = script.worst_case(&request).tokens;
    let per_day = Caps { tokens: worst + 50, ..Caps::NONE };
    let limits = Limits { per_contract: Caps::NONE, per_day };
    let calls = (0..8).map(|number| {
        let model = Shared::new(script.clone(), limits, &path, format!("process {number}"), clock.clone());
        let request = request.clone();
        tokio::spawn(async move { model.complete(&request).await.map(|answer| answer.usage.total()) })
    });
    let mut total = 0;
    for call in calls.collect::<Vec<_>>() {
        total += call.await.unwrap().unwrap();
    }
    let today = || Budget::today_in(&FileStore::new(&path), &*clock).unwrap().tokens;
    assert_eq!((script.calls(), today()), (8, total));
    // What a process that is gone has reserved counts in full, and a full day asks nobody.
    let budget = Budget::open(limits, Box::new(FileStore::new(&path)), clock.clone()).unwrap();
    std::mem::forget(budget.reserve("gone", Spend { tokens: worst, ..Spend::default() }).unwrap());
    drop(budget);
    assert_eq!(today(), total + worst);
    let model = Shared::new(script.clone(), limits, &path, "later", clock.clone());
    assert_eq!(model.complete(&request).await.unwrap_err().code(), 9313);
    assert_eq!((script.calls(), today()), (8, total + worst));
}

/// Cannot write when told so.
#[derive(Clone, Default)]
struct Full(MemoryStore, Arc<AtomicBool>);

impl Store for Full {
    fn load(&self) -> Result<Option<Books>, String> {
        self.0.load()
    }

    fn save(&self, books: &Books) -> Result<(), String> {
        if self.1.load(Ordering::SeqCst) { Err("no space".into()) } else { self.0.save(books) }
    }
}

#[tokio::test]
async fn what_cannot_be_written_down_is_not_asked() {
    let store = Full::default();
    let (clock, _) = hand_clock();
    let budget = Budget::open(Limits::default(), Box::new(store.clone()), clock).unwrap();
    store.1.store(true, Ordering::SeqCst);
    let script = Scripted::lines(["x"]).shared();
    let model = Budgeted::new(script.clone(), budget.clone(), "c");
    let error = model.complete(&Request::new("s", "u", 5)).await.unwrap_err();
    assert_eq!(error.code(), 9313);
    assert!(error.to_string().contains("no space"), "{error}");
    assert_eq!((script.calls(), budget.spent_on("c")), (0, Spend::default()));
}

#[tokio::test]
async fn a_model_within_a_budget_stops_before_the_cap() {
    let (clock, _) = hand_clock();
    let cap = Caps { micro_usd: 20_000, ..Caps::NONE };
    let limits = Limits { per_contract: cap, per_day: Caps::NONE };
    let budget = Budget::open(limits, Box::new(MemoryStore::default()), clock).unwrap();
    let script = Scripted::function(|_| Line::Say("x".repeat(400)))
        .priced(Price { input_per_million: 1_000_000, output_per_million: 10_000_000, per_call: 0 })
        .shared();
    let model = Budgeted::new(script.clone(), budget.clone(), "c");
    let request = Request::new("s", "u".repeat(400), 100);
    let mut answers = 0;
    let error = loop {
        match model.complete(&request).await {
            Ok(_) => answers += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), 9313);
    assert!(error.to_string().contains("cap is 20000"), "{error}");
    assert_eq!(script.calls(), answers, "the last call was not made");
    assert!(answers > 5 && budget.spent_on("c").micro_usd <= 20_000);
    // Another contract has its own cap.
    Budgeted::new(script, budget, "d").complete(&request).await.unwrap();
}

#[tokio::test]
async fn an_error_that_may_have_cost_counts_in_full_and_another_not() {
    let (clock, _) = hand_clock();
    let budget = Budget::open(Limits::default(), Box::new(MemoryStore::default()), clock).unwrap();
    let script = Scripted::lines([
        Line::Fail(ModelError::RateLimited { retry_after: None }),
        Line::Fail(ModelError::Broken { why: "x".into() }),
    ])
    .shared();
    let model = Budgeted::new(script, budget.clone(), "c");
    let request = Request::new("s", "u", 100);
    assert_eq!(model.complete(&request).await.unwrap_err().code(), 9310);
    assert_eq!(budget.spent_on("c").tokens, 0);
    assert_eq!(model.complete(&request).await.unwrap_err().code(), 9324);
    assert_eq!(budget.spent_on("c").tokens, model.worst_case(&request).tokens);
}

/// A model whose calls are reserved for a moment only.
struct Brief(Arc<Scripted>);

impl Model for Brief {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn worst_case(&self, request: &Request) -> Spend {
        Spend { millis: 50, ..self.0.worst_case(request) }
    }

    fn complete<'a>(
        &'a self,
        request: &'a Request,
    ) -> futures_util::future::BoxFuture<'a, Result<zx1_model::Answer, ModelError>> {
        self.0.complete(request)
    }
}

#[tokio::test]
async fn a_call_that_hangs_ends_with_its_reserved_time() {
    let (clock, _) = hand_clock();
    let budget = Budget::open(Limits::default(), Box::new(MemoryStore::default()), clock).unwrap();
    let script = Arc::new(Brief(Scripted::lines([Line::Hang]).shared()));
    let model = Budgeted::new(script, budget.clone(), "c");
    let request = Request::new("s", "u", 100);
    assert_eq!(model.complete(&request).await.unwrap_err().code(), 9317);
    assert_eq!(budget.spent_on("c"), model.worst_case(&request));
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_counts_in_full() {
    let (clock, _) = hand_clock();
    let budget = Budget::open(Limits::default(), Box::new(MemoryStore::default()), clock).unwrap();
    let script = Scripted::lines([Line::Hang]).shared();
    let model = Budgeted::new(script.clone(), budget.clone(), "c");
    let request = Request::new("s", "u", 100);
    let mut call = model.complete(&request);
    let asked = async {
        while script.calls() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! { _ = &mut call => unreachable!(), () = asked => {} }
    drop(call);
    assert_eq!(budget.spent_on("c"), model.worst_case(&request));
}

#[test]
fn fifty_threads_at_once_stay_within_the_cap() {
    let budget =
        Budget::open(limits(1_000, 1_000), Box::new(MemoryStore::default()), Arc::new(SystemClock)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                for _ in 0..20 {
                    if let Ok(reservation) = budget.reserve("c", spend(7)) {
                        assert!(within(budget.spent_on("c"), caps(1_000)));
                        reservation.settle(spend(5)).unwrap();
                    }
                }
            });
        }
    });
    let spent = budget.spent_on("c");
    assert!(within(spent, caps(1_000)) && spent.tokens > 900, "{spent:?}");
}

#[test]
fn prices_are_rounded_up_and_decimals_are_read_exactly() {
    let price = Price { input_per_million: 1, output_per_million: 0, per_call: 0 };
    let usage = |input| zx1_model::Usage { input, output: 0 };
    assert_eq!((price.of(usage(0)), price.of(usage(1)), price.of(usage(1_000_001))), (0, 1, 2));
    let most = Price { input_per_million: u64::MAX, output_per_million: u64::MAX, per_call: u64::MAX };
    assert_eq!(most.of(zx1_model::Usage { input: u64::MAX, output: u64::MAX }), u64::MAX);
    for (text, micro) in [
        ("0", Some(0)),
        ("0.00014", Some(140)),
        ("1.4e-4", Some(140)),
        ("1.41E-4", Some(141)),
        ("1", Some(1_000_000)),
        ("0.0000001", Some(1)),
        ("1e-400", Some(1)),
        ("0e400", Some(0)),
        ("12.5e3", Some(12_500_000_000)),
        ("-1", None),
        ("", None),
        ("e5", None),
        ("1e500", None),
        ("1e99", None),
        ("NaN", None),
        ("1.2.3", None),
        ("99999999999999999999", None),
    ] {
        assert_eq!(micro_usd_of_decimal(text), micro, "{text}");
    }
}

/// What happens to a budget.
#[derive(Debug, Clone)]
enum Deed {
    Reserve { contract: u8, worst: [u16; 3] },
    Settle { which: usize, part: [u8; 3] },
    Drop { which: usize },
    Crash,
    Pass { seconds: u32 },
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        5 => (0u8..3, any::<[u16; 3]>()).prop_map(|(contract, worst)| Deed::Reserve { contract, worst }),
        4 => (any::<usize>(), any::<[u8; 3]>()).prop_map(|(which, part)| Deed::Settle { which, part }),
        1 => any::<usize>().prop_map(|which| Deed::Drop { which }),
        1 => Just(Deed::Crash),
        1 => (0u32..100_000).prop_map(|seconds| Deed::Pass { seconds }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever is reserved, settled, dropped, and however often the program dies: the real spending of every
    /// contract and of every day is within the caps, and the books never show less than it.
    #[test]
    fn no_cap_is_ever_exceeded(
        contract_cap in any::<[u16; 3]>(), day_cap in any::<[u16; 3]>(),
        deeds in prop::collection::vec(deed(), 1..60),
    ) {
        let of = |n: [u16; 3]| Caps { micro_usd: n[0].into(), tokens: n[1].into(), millis: n[2].into() };
        let limits = Limits { per_contract: of(contract_cap), per_day: of(day_cap) };
        let (clock, time) = hand_clock();
        let store = MemoryStore::default();
        let mut budget = Budget::open(limits, Box::new(store.clone()), clock.clone()).unwrap();
        let mut open: Vec<(u8, Spend, Reservation)> = Vec::new();
        // The truth, kept apart from the books.
        let mut real = [Spend::default(); 3];
        let mut real_today = Spend::default();
        let mut day = 1_000u64;
        for deed in deeds {
            match deed {
                Deed::Reserve { contract, worst } => {
                    let worst = Spend {
                        micro_usd: (worst[0] / 4).into(),
                        tokens: (worst[1] / 4).into(),
                        millis: (worst[2] / 4).into(),
                    };
                    if let Ok(reservation) = budget.reserve(&contract.to_string(), worst) {
                        open.push((contract, worst, reservation));
                    }
                }
                Deed::Settle { which, part } if !open.is_empty() => {
                    let (contract, worst, reservation) = open.swap_remove(which % open.len());
                    let share = |n: u64, part: u8| n * u64::from(part) / 255;
                    let actual = Spend {
                        micro_usd: share(worst.micro_usd, part[0]),
                        tokens: share(worst.tokens, part[1]),
                        millis: share(worst.millis, part[2]),
                    };
                    reservation.settle(actual).unwrap();
                    real[usize::from(contract)] = real[usize::from(contract)].plus(actual);
                    real_today = real_today.plus(actual);
                }
                Deed::Drop { which } if !open.is_empty() => {
                    let (contract, worst, reservation) = open.swap_remove(which % open.len());
                    drop(reservation);
                    real[usize::from(contract)] = real[usize::from(contract)].plus(worst);
                    real_today = real_today.plus(worst);
                }
                Deed::Crash => {
                    for (contract, worst, reservation) in open.drain(..) {
                        std::mem::forget(reservation);
                        real[usize::from(contract)] = real[usize::from(contract)].plus(worst);
                        real_today = real_today.plus(worst);
                    }
                    budget = Budget::open(limits, Box::new(store.clone()), clock.clone()).unwrap();
                }
                Deed::Pass { seconds } => {
                    time.advance(u64::from(seconds) * 1_000);
                    let now = time.unix_ms();
                    if now / DAY_MS > day {
                        day = now / DAY_MS;
                        real_today = Spend::default();
                    }
                }
                _ => {}
            }
            for (contract, spent) in real.iter().enumerate() {
                prop_assert!(within(*spent, limits.per_contract));
                let shown = budget.spent_on(&contract.to_string());
                prop_assert!(within(shown, limits.per_contract));
                prop_assert_eq!(shown.max(*spent), shown);
            }
            let shown = budget.spent_today();
            prop_assert!(within(real_today, limits.per_day) && within(shown, limits.per_day));
            prop_assert_eq!(shown.max(real_today), shown);
        }
    }
}
