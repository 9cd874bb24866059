//! The rotating pool (decision E3).

use std::sync::Arc;
use std::time::Duration;

use zx1_model::{Line, Model, ModelError, Pool, Request, Scripted};

fn limited(seconds: Option<u64>) -> Line {
    Line::Fail(ModelError::RateLimited { retry_after: seconds.map(Duration::from_secs) })
}

fn pool(models: &[Arc<Scripted>]) -> Pool {
    Pool::new(models.iter().map(|m| m.clone() as Arc<dyn Model>).collect()).unwrap()
}

/// A pool whose time is moved by hand.
fn timed(models: &[Arc<Scripted>]) -> (Pool, impl Fn(Duration) + use<>) {
    let begun = tokio::time::Instant::now();
    let passed = Arc::new(std::sync::Mutex::new(Duration::ZERO));
    let hand = passed.clone();
    let pool = pool(models).with_clock(move || begun + *passed.lock().unwrap());
    (pool, move |span| *hand.lock().unwrap() += span)
}

fn ask() -> Request {
    Request::new("s", "u", 10)
}

async fn text(pool: &Pool) -> Result<String, ModelError> {
    pool.complete(&ask()).await.map(|a| a.text)
}

#[tokio::test]
async fn models_take_turns_ok() {
    let models: Vec<_> = ["a", "b", "c"].map(|n| Scripted::function(move |_| n.into()).shared()).into();
    let pool = pool(&models);
    let mut said = String::new();
    for _ in 0..7 {
        said += &text(&pool).await.unwrap();
    }
    assert_eq!(said, "abcabca");
}

#[tokio::test]
async fn a_limited_model_rests_until_its_time() {
    let a = Scripted::lines([limited(Some(100)), "a".into()]).shared();
    let b = Scripted::function(|_| "b".into()).shared();
    let (pool, advance) = timed(&[a.clone(), b.clone()]);
    assert_eq!(text(&pool).await.unwrap(), "b", "the next is asked at once");
    assert_eq!(pool.awake(), 1);
    advance(Duration::from_secs(99));
    assert_eq!(text(&pool).await.unwrap(), "b");
    assert_eq!(a.calls(), 1);
    advance(Duration::from_secs(1));
    assert_eq!(pool.awake(), 2);
    assert_eq!(text(&pool).await.unwrap(), "a");
}

#[tokio::test]
async fn when_all_are_limited_nobody_is_asked() {
    let a = Scripted::lines([limited(Some(100))]).shared();
    let b = Scripted::lines([limited(None)]).shared();
    let c = Scripted::lines([limited(Some(10_000_000))]).shared();
    let (pool, advance) = timed(&[a.clone(), b.clone(), c.clone()]);
    assert_eq!(
        text(&pool).await.unwrap_err(),
        ModelError::AllLimited { retry_after: Duration::from_secs(60) }
    );
    advance(Duration::from_secs(20));
    assert_eq!(
        text(&pool).await.unwrap_err(),
        ModelError::AllLimited { retry_after: Duration::from_secs(40) }
    );
    assert_eq!((a.calls(), b.calls(), c.calls()), (1, 1, 1));
    advance(Duration::from_secs(24 * 3600));
    assert_eq!(pool.awake(), 3, "no server can make a model rest for more than a day");
}

#[tokio::test]
async fn a_model_that_is_down_or_gone_is_passed_over() {
    let down =
        Scripted::lines([Line::Fail(ModelError::Unavailable { status: 502, why: "x".into() })]).shared();
    let gone = Scripted::lines([Line::Fail(ModelError::Rejected { status: 404, why: "x".into() })]).shared();
    let good = Scripted::function(|_| "g".into()).shared();
    let (pool, advance) = timed(&[down, gone, good]);
    assert_eq!(text(&pool).await.unwrap(), "g");
    assert_eq!(pool.awake(), 1);
    advance(Duration::from_secs(15));
    assert_eq!(pool.awake(), 2);
}

#[tokio::test]
async fn what_is_the_answers_own_matter_comes_back() {
    for (error, awake) in [
        (ModelError::Refused { why: "x".into() }, 2),
        (ModelError::TooLong { why: "x".into() }, 2),
        (ModelError::TimedOut { after: Duration::from_secs(1) }, 1),
    ] {
        let a = Scripted::lines([Line::Fail(error.clone())]).shared();
        let b = Scripted::function(|_| "b".into()).shared();
        let pool = pool(&[a, b.clone()]);
        assert_eq!(text(&pool).await.unwrap_err(), error);
        assert_eq!((b.calls(), pool.awake()), (0, awake));
    }
}

#[test]
fn a_pool_of_nothing_fails() {
    assert_eq!(Pool::new(Vec::new()).map(|_| ()).unwrap_err().code(), 9336);
}

#[tokio::test]
async fn a_script_in_a_file_is_read_ok() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, r#"["one","two"]"#).unwrap();
    let model = Scripted::file(&path).unwrap();
    assert_eq!(model.complete(&ask()).await.unwrap().text, "one");
    assert_eq!(model.complete(&ask()).await.unwrap().text, "two");
    assert_eq!(model.complete(&ask()).await.unwrap_err().code(), 9323);
    assert_eq!(model.asked().len(), 3);
    std::fs::write(&path, "{}").unwrap();
    assert_eq!(Scripted::file(&path).unwrap_err().code(), 9337);
    assert_eq!(Scripted::file(&folder.path().join("none")).unwrap_err().code(), 9337);
}
