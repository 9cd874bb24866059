//! Work for whoever needs it: kept, asked for, or solved; wanted now, or for later.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Cancel, MemoryCache, Solver, WorkCache, WorkError, WorkPeers};
use crate::{BlockHash, Work};

/// What work is wanted for. The processor makes the most urgent first, and is interrupted for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A block that may come later.
    Later,
    /// What goes back to a depositor.
    Refund,
    /// Receiving a deposit.
    Receive,
    /// What a settlement pays.
    Payment,
}

/// Numbers of callers, by [`Urgency`].
#[derive(Default)]
struct Callers([AtomicUsize; 4]);

impl Callers {
    fn most(&self) -> usize {
        self.0.iter().rposition(|callers| callers.load(Ordering::SeqCst) > 0).unwrap_or(0)
    }
}

/// Makes work: looks into the cache, asks the peers, then uses the processor. Clones share everything.
///
/// The processor solves one root at a time with all its threads. What is more urgent ([`Urgency`]) goes before what is
/// less so or only wanted later ([`prefetch`](Self::prefetch), decision F5), and interrupts it.
#[derive(Clone)]
pub struct WorkService(Arc<Inner>);

struct Inner {
    cache: Arc<dyn WorkCache>,
    peers: WorkPeers,
    solver: Option<Solver>,
    /// One job a root, so that nothing is solved twice at once.
    jobs: Mutex<HashMap<BlockHash, Weak<Job>>>,
    /// The processor solves one root at a time.
    processor: tokio::sync::Mutex<()>,
    /// How many callers want something now; a bell for every change of it.
    urgent: Callers,
    changed: Notify,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// The making of one root's work, whoever does it.
#[derive(Default)]
struct Job {
    /// Held by the one who makes it; the others wait, then find it in the cache.
    lock: tokio::sync::Mutex<()>,
    /// How many want it now. It can become urgent while it is made for later.
    urgent: Callers,
}

impl Default for WorkService {
    /// The processor alone, kept in memory.
    fn default() -> Self {
        WorkService::new(Arc::new(MemoryCache::new()), WorkPeers::default(), Some(Solver::default()))
    }
}

impl WorkService {
    /// With a cache, peers (may be empty), and a solver (or `None` where the processor must stay free).
    pub fn new(cache: Arc<dyn WorkCache>, peers: WorkPeers, solver: Option<Solver>) -> WorkService {
        WorkService(Arc::new(Inner {
            cache,
            peers,
            solver,
            jobs: Mutex::default(),
            processor: tokio::sync::Mutex::default(),
            urgent: Callers::default(),
            changed: Notify::new(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }))
    }

    /// Work for `root` that reaches `threshold`. Dropping the future stops the processor.
    pub async fn get(&self, root: BlockHash, threshold: u64) -> Result<Work, WorkError> {
        self.get_for(root, threshold, Urgency::Payment).await
    }

    /// As [`get`](Self::get), for something that may be less urgent than a payment.
    pub async fn get_for(
        &self,
        root: BlockHash,
        threshold: u64,
        urgency: Urgency,
    ) -> Result<Work, WorkError> {
        let job = self.0.job(root);
        let _urgent = Urgent::new(&self.0, &job, urgency);
        self.0.get(root, threshold, &job).await
    }

    /// Begin to make work that will be wanted. Returns at once, must be called inside a tokio runtime; ask
    /// with [`get`](Self::get) when it is needed.
    pub fn prefetch(&self, root: BlockHash, threshold: u64) {
        let inner = self.0.clone();
        self.0.tasks.spawn(async move {
            let job = inner.job(root);
            tokio::select! {
                () = inner.stop.cancelled() => {}
                made = inner.get(root, threshold, &job) => {
                    if let Err(error) = made {
                        tracing::warn!(%root, %error, "work could not be made ahead");
                    }
                }
            }
        });
    }

    /// What is kept for `root`, if it reaches `threshold`. Makes nothing.
    pub async fn cached(&self, root: BlockHash, threshold: u64) -> Result<Option<Work>, WorkError> {
        Ok(self.0.cache.get(root).await?.filter(|w| w.is_valid(&root, threshold)))
    }

    /// The root's block is confirmed, or void: forget its work.
    pub async fn forget(&self, root: BlockHash) -> Result<(), WorkError> {
        self.0.cache.remove(root).await
    }

    /// Stop what is made for later, and wait until it has stopped.
    pub async fn shutdown(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// The peers, and how they have done.
    pub fn peers(&self) -> &WorkPeers {
        &self.0.peers
    }
}

/// Stops the solver when the future is dropped.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Counts a caller that wants a job's work now, until it is dropped.
struct Urgent<'a> {
    inner: &'a Inner,
    job: &'a Job,
    urgency: Urgency,
}

impl<'a> Urgent<'a> {
    fn new(inner: &'a Inner, job: &'a Job, urgency: Urgency) -> Urgent<'a> {
        job.urgent.0[urgency as usize].fetch_add(1, Ordering::SeqCst);
        inner.urgent.0[urgency as usize].fetch_add(1, Ordering::SeqCst);
        inner.changed.notify_waiters();
        Urgent { inner, job, urgency }
    }
}

impl Drop for Urgent<'_> {
    fn drop(&mut self) {
        self.job.urgent.0[self.urgency as usize].fetch_sub(1, Ordering::SeqCst);
        self.inner.urgent.0[self.urgency as usize].fetch_sub(1, Ordering::SeqCst);
        self.inner.changed.notify_waiters();
    }
}

impl Inner {
    fn job(&self, root: BlockHash) -> Arc<Job> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = jobs.get(&root).and_then(Weak::upgrade) {
            return job;
        }
        jobs.retain(|_, job| job.strong_count() > 0);
        let job = Arc::new(Job::default());
        jobs.insert(root, Arc::downgrade(&job));
        job
    }

    async fn get(&self, root: BlockHash, threshold: u64, job: &Job) -> Result<Work, WorkError> {
        let _only_one = job.lock.lock().await;
        if let Some(work) = self.cache.get(root).await?
            && work.is_valid(&root, threshold)
        {
            return Ok(work);
        }
        let work = self.make(root, threshold, job).await?;
        self.cache.put(root, work).await?;
        Ok(work)
    }

    async fn make(&self, root: BlockHash, threshold: u64, job: &Job) -> Result<Work, WorkError> {
        let mut reason = "there are no peers".to_owned();
        if !self.peers.is_empty() {
            match self.peers.work(root, threshold).await {
                Ok(work) => return Ok(work),
                Err(error) => {
                    tracing::debug!(%root, %error, "no work from peers");
                    reason = error.to_string();
                }
            }
        }
        match self.solver {
            Some(solver) => self.solve(solver, root, threshold, job).await,
            None => {
                Err(WorkError::NoSource { root, reason: format!("{reason}; the processor may not be used") })
            }
        }
    }

    /// Whether the job may have the processor: nothing is more urgent.
    fn may_run(&self, job: &Job) -> bool {
        job.urgent.most() >= self.urgent.most()
    }

    async fn solve(
        &self,
        solver: Solver,
        root: BlockHash,
        threshold: u64,
        job: &Job,
    ) -> Result<Work, WorkError> {
        loop {
            self.wait_until(|| self.may_run(job)).await;
            let _alone = self.processor.lock().await;
            if !self.may_run(job) {
                continue;
            }
            let guard = CancelOnDrop(Cancel::new());
            let cancel = guard.0.clone();
            // A new place each time: what was tried before an interruption need not be tried again.
            let start = solver.start(&root);
            let mut task =
                tokio::task::spawn_blocking(move || solver.solve_from(&root, threshold, start, &cancel));
            let solved = tokio::select! {
                solved = &mut task => solved,
                () = self.wait_until(|| !self.may_run(job)) => {
                    guard.0.cancel();
                    task.await
                }
            };
            match solved {
                Ok(Err(WorkError::Cancelled)) => continue,
                Ok(done) => return done,
                Err(panic) => return Err(WorkError::NoSource { root, reason: panic.to_string() }),
            }
        }
    }

    async fn wait_until(&self, condition: impl Fn() -> bool) {
        loop {
            // Listening begins before looking, or a change between the two would be missed.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if condition() {
                return;
            }
            changed.await;
        }
    }
}
