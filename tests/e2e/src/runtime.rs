//! One runtime for all of the harness's I/O, on threads of its own.

use std::{
    future::Future,
    sync::{OnceLock, mpsc},
};

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(2).enable_all().thread_name("zx1-e2e").build().unwrap()
    })
}

/// Runs in the background.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> tokio::task::JoinHandle<()> {
    runtime().spawn(work)
}

/// Waits for a future, whatever the thread is.
pub(crate) fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    runtime().spawn(async move {
        let _ = done.send(work.await);
    });
    result.recv().expect("the task ran to its end")
}

/// The HTTP client of the harness: local only, so no proxy of the environment is asked.
pub(crate) fn http() -> reqwest::Client {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    CLIENT
        .get_or_init(|| {
            reqwest::Client::builder()
                .no_proxy()
                .timeout(std::time::Duration::from_secs(60))
                // A kept connection may belong to a cluster that was killed meanwhile.
                .pool_max_idle_per_host(0)
                .build()
                .unwrap()
        })
        .clone()
}

/// A JSON-RPC call; panics if there is no answer, and returns `result` or the error object.
pub(crate) fn rpc(url: &str, method: &str, params: Value) -> Result<Value, Value> {
    let (url, method) = (url.to_owned(), method.to_owned());
    let mut answer: Value = wait(async move {
        let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = http().post(&url).json(&body).send().await;
        answer.unwrap_or_else(|why| panic!("{method} at {url}: {why}")).json().await.unwrap()
    });
    match answer.get_mut("error") {
        Some(error) => Err(error.take()),
        None => Ok(answer["result"].take()),
    }
}
