//! One command, disturbed at every request that it makes, in every way; then run again without disturbance.
//! Whatever happened, what is measured afterwards is what one undisturbed run does.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use zx1_e2e::{Fault, FaultProxy, Running, Zx1};

use crate::world::World;

/// What is measured: numbers by name.
pub(crate) type Facts = BTreeMap<&'static str, i128>;

/// A command that is ready to be run in a state of its own.
pub(crate) struct Staged {
    /// Its home and wallet, with the network whole.
    pub(crate) zx1: Zx1,
    /// Arguments of the command.
    pub(crate) line: Vec<String>,
    /// What it changes.
    pub(crate) measure: Box<dyn Fn(&World) -> Facts + Send + Sync>,
}

/// How the network, or the machine, goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbance {
    /// The request is lost.
    Lost,
    /// The request is done and its answer is lost.
    AnswerLost,
    /// The request is done and its answer is no JSON.
    Garbage,
    /// The request is lost behind a server that is broken.
    Status500,
    /// From this request on nothing is answered.
    Down,
    /// kill -9 when the request comes, before the cluster hears of it.
    Killed,
    /// kill -9 when the cluster has done what the request asks.
    KilledAfter,
}

use Disturbance::*;

const ALL: [Disturbance; 7] = [Lost, AnswerLost, Garbage, Status500, Down, Killed, KilledAfter];

/// One run: the number of the request and what happens to it.
#[derive(Clone, Copy, Debug)]
struct Plan {
    at: usize,
    how: Disturbance,
}

/// A command, and what to break while it runs.
pub(crate) struct Sweep<'a> {
    /// Its name, for messages.
    pub(crate) name: &'a str,
    /// What one run does, as far as it is known beforehand.
    pub(crate) expected: &'a [(&'static str, i128)],
    /// Measures that may differ by so much: fees of transactions that others overtook.
    pub(crate) tolerance: &'a [(&'static str, i128)],
    /// Whether the short run kills, too.
    pub(crate) kill: bool,
}

/// All requests in all ways, instead of a sample.
fn is_soak() -> bool {
    std::env::var_os("ZX1_SOAK").is_some_and(|value| value == "1")
}

fn seed() -> u64 {
    std::env::var("ZX1_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0x5eed_0003)
}

/// A small generator (SplitMix64): the sample must be the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// Runs of the short suite beyond those around the first and last transaction.
const SAMPLED: usize = 4;
/// Threads of one test. Most of the time they wait.
const THREADS: usize = 6;

impl Sweep<'_> {
    /// `stage` makes so many independent states in which the command does the same thing.
    pub(crate) fn run(&self, world: &World, stage: impl Fn(&World, usize) -> Vec<Staged>) {
        let started = Instant::now();
        let reference = stage(world, 1).pop().unwrap();
        let (methods, done) = self.reference(world, &reference);
        let plans = self.plans(&methods);
        let staged = stage(world, plans.len());
        assert_eq!(staged.len(), plans.len());
        let staging = started.elapsed();
        let (next, missed, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let (Some(plan), Some(one)) = (plans.get(number), staged.get(number)) else { return };
                        match self.disturb(world, one, *plan, &done) {
                            Ok(struck) => {
                                missed.fetch_add(usize::from(!struck), Ordering::Relaxed);
                            }
                            Err(why) => {
                                let method = &methods[plan.at];
                                failures.lock().unwrap().push(format!("{plan:?} ({method}): {why}"));
                            }
                        }
                    }
                });
            }
        });
        let failures = failures.into_inner().unwrap();
        println!(
            "{}: {} requests, {} runs of {} (seed {:#x}), {} without their request; staged in {:.1?}, all in {:.1?}",
            self.name,
            methods.len(),
            plans.len(),
            methods.len() * ALL.len(),
            seed(),
            missed.load(Ordering::Relaxed),
            staging,
            started.elapsed(),
        );
        println!("{}: {methods:?}", self.name);
        assert!(
            failures.is_empty(),
            "{}: {} of {} runs ended wrong:\n\n{}",
            self.name,
            failures.len(),
            plans.len(),
            failures.join("\n\n")
        );
    }

    /// The undisturbed run: its requests, and what it does.
    fn reference(&self, world: &World, one: &Staged) -> (Vec<String>, Facts) {
        let proxy = FaultProxy::start(world.net.rpc_url());
        let before = (one.measure)(world);
        let output = one.zx1.clone().url(proxy.url()).run(&one.line);
        assert_eq!(output.code, 0, "{}: {output}", self.name);
        let done = change(&before, &(one.measure)(world));
        for (name, wanted) in self.expected {
            assert_eq!(done.get(name), Some(wanted), "{}: {name}: {done:?}\n{output}", self.name);
        }
        (proxy.log(), done)
    }

    fn plans(&self, methods: &[String]) -> Vec<Plan> {
        let every = || (0..methods.len()).flat_map(|at| ALL.map(|how| Plan { at, how }));
        if is_soak() {
            return every().collect();
        }
        // Around the transactions that move the money, which are the first and the last, always.
        let sending: Vec<usize> = (0..methods.len()).filter(|at| methods[*at] == "sendTransaction").collect();
        let around = [sending.first(), sending.last()];
        let mut plans = Vec::new();
        let mut seen = Vec::new();
        for at in around.into_iter().flatten() {
            if seen.contains(at) {
                continue;
            }
            seen.push(*at);
            plans.extend([Lost, AnswerLost, Down].map(|how| Plan { at: *at, how }));
            if let Some(status) = methods.get(at + 1).filter(|method| *method == "getSignatureStatuses") {
                assert!(!status.is_empty());
                plans.extend([Garbage, Down].map(|how| Plan { at: at + 1, how }));
            }
            if self.kill {
                plans.extend([Killed, KilledAfter].map(|how| Plan { at: *at, how }));
                plans.push(Plan { at: at + 1, how: Killed });
            }
        }
        let mut random =
            Random(seed() ^ self.name.bytes().fold(0, |sum: u64, byte| sum.rotate_left(8) ^ u64::from(byte)));
        let mut rest: Vec<Plan> = every()
            .filter(|plan| self.kill || !matches!(plan.how, Killed | KilledAfter))
            .filter(|plan| !seen.contains(&plan.at))
            .collect();
        for _ in 0..SAMPLED.min(rest.len()) {
            plans.push(rest.swap_remove(random.below(rest.len())));
        }
        plans
    }

    /// Runs the command, disturbs it, and runs it again until it has said that it is done. True when the
    /// disturbance came.
    fn disturb(&self, world: &World, one: &Staged, plan: Plan, done: &Facts) -> Result<bool, String> {
        let proxy = FaultProxy::start(world.net.rpc_url());
        match plan.how {
            Lost => proxy.fail_at(plan.at, Fault::DropBefore),
            AnswerLost => proxy.fail_at(plan.at, Fault::DropAfter),
            Garbage => proxy.fail_at(plan.at, Fault::Garbage),
            Status500 => proxy.fail_at(plan.at, Fault::Status(500)),
            Killed => proxy.fail_at(plan.at, Fault::Hang),
            KilledAfter => proxy.fail_at(plan.at, Fault::HangAfter),
            Down => proxy.down_from(plan.at),
        }
        let before = (one.measure)(world);
        let mut running = one.zx1.clone().url(proxy.url()).spawn(&one.line);
        let ended = watch(&mut running, &proxy, plan.how);
        let struck = proxy.has_struck();
        let first = running.said();
        drop(running);
        let mut told = format!("first run: {ended:?}\n{first}");
        // It said that it is done: then it is, and another run would be another intent.
        if ended != Some(0) {
            let again = one.zx1.run(&one.line);
            told = format!("{told}\nthe rerun: {again}");
            if again.code != 0 {
                return Err(format!("the rerun failed\n{told}"));
            }
        }
        let after = change(&before, &(one.measure)(world));
        for (name, wanted) in done {
            let found = after.get(name).copied().unwrap_or_default();
            let tolerance = self.tolerance.iter().find(|(known, _)| known == name).map_or(0, |(_, by)| *by);
            if (found - wanted).abs() > tolerance {
                return Err(format!("{name} changed by {found} and not by {wanted}: {after:?}\n{told}"));
            }
        }
        let left = unfinished(&one.zx1);
        if !left.is_empty() {
            return Err(format!("the outbox still holds {left:?}\n{told}"));
        }
        Ok(struck)
    }
}

/// Waits for the end of the disturbed run; its exit code, or none where it was killed.
fn watch(running: &mut Running, proxy: &FaultProxy, how: Disturbance) -> Option<i32> {
    let started = Instant::now();
    // A user without a network loses patience; the command's own is 90 seconds.
    let patience = Duration::from_secs(if is_soak() { 100 } else { 3 });
    let mut since = None;
    loop {
        if !running.is_running() {
            return running.wait().code();
        }
        assert!(started.elapsed() < Duration::from_secs(150), "it does not end:\n{}", running.said());
        if proxy.has_struck() {
            let since = *since.get_or_insert_with(Instant::now);
            let kill = match how {
                Killed | KilledAfter => true,
                Down => since.elapsed() > patience,
                _ => false,
            };
            if kill {
                running.kill9();
                return None;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn change(before: &Facts, after: &Facts) -> Facts {
    after.iter().map(|(name, now)| (*name, now - before.get(name).copied().unwrap_or_default())).collect()
}

/// Records of transactions that a command left behind.
fn unfinished(zx1: &Zx1) -> Vec<String> {
    let outbox = zx1.home().join("outbox");
    let mut found = Vec::new();
    // The second one is of what runs by itself.
    for folder in [outbox.clone(), outbox.join("unasked")] {
        let Ok(files) = std::fs::read_dir(folder) else { continue };
        let names = files.map(|file| file.unwrap().path());
        let records = names.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        found.extend(records.map(|path| std::fs::read_to_string(path).unwrap()));
    }
    found
}
