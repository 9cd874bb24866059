//! Several models in turn: the free agent's rotating pool (decision E3; spec, "Free-mode contracts").

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Answer, ConfigError, Model, ModelError, Request, Spend};
use crate::defaults;
use futures_util::future::BoxFuture;

/// A rotating pool. Each call begins with the model after the one that was asked last. A model that is
/// limited rests as long as its server asks (a minute if it does not say, a day at most), and the next is
/// asked at once. When all rest, [`ModelError::AllLimited`] comes back without a question, and the agent
/// declines.
///
/// A model that fails in another way that concerns only itself (down, unreachable, gone, no credit) rests
/// too, and the next is asked. A refusal, a malformed answer or a prompt that is too long is the answer's own
/// matter and is handed to the caller. A model that did not answer in time, or broke off, rests, but its call
/// may have been paid for, so the error is handed to the caller too.
///
/// The members should have [`super::Retry::NEVER`]: waiting for one model is of no use while others are free.
pub struct Pool {
    name: String,
    models: Vec<Arc<dyn Model>>,
    state: Mutex<State>,
    now: Arc<dyn Fn() -> Instant + Send + Sync>,
}

struct State {
    next: usize,
    rests_until: Vec<Option<Instant>>,
}

impl Pool {
    /// A pool of at least one model. Fails with 9336 without any.
    pub fn new(models: Vec<Arc<dyn Model>>) -> Result<Pool, ConfigError> {
        if models.is_empty() {
            return Err(ConfigError::EmptyPool);
        }
        let rests_until = vec![None; models.len()];
        let name = format!("pool of {}", models.len());
        let state = Mutex::new(State { next: 0, rests_until });
        Ok(Pool { name, models, state, now: Arc::new(Instant::now) })
    }

    /// With another clock, for tests.
    pub fn with_clock(mut self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Pool {
        self.now = Arc::new(now);
        self
    }

    /// How many models could be asked now.
    pub fn awake(&self) -> usize {
        let now = (self.now)();
        self.lock().rests_until.iter().filter(|until| until.is_none_or(|t| t <= now)).count()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next model that does not rest, and its place.
    fn take_next(&self) -> Option<(usize, Arc<dyn Model>)> {
        let now = (self.now)();
        let mut state = self.lock();
        for step in 0..self.models.len() {
            let place = (state.next + step) % self.models.len();
            let rests = state.rests_until.get(place).copied().flatten().is_some_and(|until| until > now);
            if let (false, Some(model)) = (rests, self.models.get(place)) {
                state.next = (place + 1) % self.models.len();
                return Some((place, model.clone()));
            }
        }
        None
    }

    fn rest(&self, place: usize, time: Duration) {
        let until = (self.now)() + time.min(defaults::POOL_REST_CAP);
        if let Some(slot) = self.lock().rests_until.get_mut(place) {
            // Two calls at once may both have been told: the longer rest counts.
            *slot = Some(slot.map_or(until, |old| old.max(until)));
        }
    }

    fn all_limited(&self) -> ModelError {
        let now = (self.now)();
        let first = self.lock().rests_until.iter().flatten().min().copied();
        ModelError::AllLimited {
            retry_after: first.map_or(Duration::ZERO, |t| t.saturating_duration_since(now)),
        }
    }
}

/// How long a model rests after an error. `None`: it does not.
fn rest_after(error: &ModelError) -> Option<Duration> {
    match error {
        ModelError::RateLimited { retry_after } => Some(retry_after.unwrap_or(defaults::POOL_REST)),
        ModelError::AllLimited { retry_after } => Some(*retry_after),
        ModelError::Unavailable { .. }
        | ModelError::Unreachable { .. }
        | ModelError::TimedOut { .. }
        | ModelError::Broken { .. } => Some(defaults::POOL_REST_AFTER_FAILURE),
        ModelError::Denied { .. } | ModelError::Rejected { .. } | ModelError::Redirected { .. } => {
            Some(defaults::POOL_REST_WHEN_DENIED)
        }
        _ => None,
    }
}

impl Model for Pool {
    fn name(&self) -> &str {
        &self.name
    }

    /// Every model may be asked once: the time is the sum. Money and tokens are those of the dearest model:
    /// an attempt after which the next is asked has cost nothing.
    fn worst_case(&self, request: &Request) -> Spend {
        let mut worst = Spend::default();
        let mut millis = 0u64;
        for model in &self.models {
            let one = model.worst_case(request);
            millis = millis.saturating_add(one.millis);
            worst = worst.max(one);
        }
        Spend { millis, ..worst }
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            for _ in 0..self.models.len() {
                let Some((place, model)) = self.take_next() else { break };
                match model.complete(request).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => {
                        let Some(time) = rest_after(&error) else { return Err(error) };
                        tracing::info!(model = model.name(), code = error.code(), ?time, "the model rests");
                        self.rest(place, time);
                        if error.may_have_cost() {
                            return Err(error);
                        }
                    }
                }
            }
            Err(self.all_limited())
        })
    }
}
