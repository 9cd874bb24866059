//! Repetition of calls that may be repeated.

use std::fmt::Debug;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::time::Instant;

/// How often and how fast a call is repeated. The pause doubles each time; up to its own length is added at
/// random, so that many clients do not come back at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Calls in all; at least one is made.
    pub attempts: u32,
    /// The pause before the second call.
    pub pause: Duration,
    /// The longest pause, unless a server asks for more.
    pub longest_pause: Duration,
    /// Time for all calls and pauses together: no pause begins that would end later. It does not end a call
    /// that is under way.
    pub within: Option<Duration>,
}

impl Retry {
    /// One call, never repeated.
    pub const NEVER: Retry =
        Retry { attempts: 1, pause: Duration::ZERO, longest_pause: Duration::ZERO, within: None };

    /// Makes a call until it succeeds, until `again` returns `None`, or until the attempts are used up; then
    /// returns the last error. `again` gets each error and returns the least pause before the next call:
    /// what a server asked for, or zero. Only the caller knows whether a call may be repeated.
    ///
    /// # Errors
    /// The last error of the call.
    pub async fn run<T, E: Debug, Fut: Future<Output = Result<T, E>>>(
        &self,
        call: impl FnMut() -> Fut,
        mut again: impl FnMut(&E) -> Option<Duration>,
    ) -> Result<T, E> {
        let begun = Instant::now();
        let retries = self.attempts.saturating_sub(1);
        let pauses = ExponentialBuilder::new()
            .with_min_delay(self.pause)
            .with_max_delay(self.longest_pause.max(self.pause))
            .with_max_times(usize::try_from(retries).unwrap_or(usize::MAX))
            .with_jitter();
        call.retry(pauses)
            .adjust(|error, pause| {
                let pause = pause?.max(again(error)?);
                let ends = begun.elapsed().saturating_add(pause);
                self.within.is_none_or(|within| ends < within).then_some(pause)
            })
            .notify(|error, pause| tracing::debug!(?error, ?pause, "repeating a call"))
            .await
    }
}

/// How long a server asks its clients to wait: `Retry-After` in seconds or as a date, or the
/// `retry-after-ms` of model servers.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    let seconds = date.as_second().saturating_sub(jiff::Timestamp::now().as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;
    use std::cell::Cell;

    const RETRY: Retry = Retry {
        attempts: 4,
        pause: Duration::from_millis(5),
        longest_pause: Duration::from_secs(1),
        within: None,
    };

    /// Fails until call number `good`; how many calls there were, how long it took, and the outcome.
    async fn run(
        retry: Retry,
        good: u32,
        again: impl FnMut(&u32) -> Option<Duration>,
    ) -> (u32, Duration, bool) {
        let (calls, begun) = (Cell::new(0), Instant::now());
        let call = || {
            calls.set(calls.get() + 1);
            std::future::ready(if calls.get() == good { Ok(()) } else { Err(calls.get()) })
        };
        let done = retry.run(call, again).await;
        (calls.get(), begun.elapsed(), done.is_ok())
    }

    #[tokio::test]
    async fn calls_are_repeated_as_often_as_allowed_and_no_more() {
        let (calls, took, ok) = run(RETRY, 3, |_| Some(Duration::ZERO)).await;
        assert_eq!((calls, ok), (3, true));
        assert!(took >= Duration::from_millis(15), "{took:?}");
        assert_eq!(run(RETRY, 9, |_| Some(Duration::ZERO)).await.0, 4);
        assert_eq!(run(Retry::NEVER, 9, |_| Some(Duration::ZERO)).await.0, 1);
        assert_eq!(run(Retry { attempts: 0, ..RETRY }, 9, |_| Some(Duration::ZERO)).await.0, 1);
    }

    #[tokio::test]
    async fn what_the_caller_calls_final_is_not_repeated() {
        let (calls, _, ok) = run(RETRY, 9, |_| None).await;
        assert_eq!((calls, ok), (1, false));
    }

    #[tokio::test]
    async fn the_wait_that_a_server_asks_for_is_kept() {
        let asked = Duration::from_millis(80);
        let (calls, took, ok) = run(RETRY, 2, |_| Some(asked)).await;
        assert_eq!((calls, ok), (2, true));
        assert!(took >= asked, "{took:?}");
    }

    #[tokio::test]
    async fn no_pause_begins_that_would_end_after_the_time_for_all() {
        let retry = Retry { within: Some(Duration::from_secs(20)), ..RETRY };
        let (calls, took, ok) = run(retry, 2, |_| Some(Duration::from_secs(30))).await;
        assert_eq!((calls, ok), (1, false));
        assert!(took < Duration::from_secs(20), "{took:?}");
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        let with = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).unwrap());
            retry_after(&headers)
        };
        assert_eq!(with("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(with("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(with("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let soon = with("retry-after", "Fri, 31 Dec 2100 23:59:59 GMT").unwrap();
        assert!(soon > Duration::from_secs(365 * 86_400));
        for bad in ["", "soon", "-5", "99999999999999999999999"] {
            assert_eq!(with("retry-after", bad), None, "{bad}");
        }
    }
}
