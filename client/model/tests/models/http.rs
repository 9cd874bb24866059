//! The HTTP back ends against real servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use zx1_model::{
    Anthropic, AnthropicOptions, ApiKey, Finish, HttpOptions, Message, Model, ModelError, OpenAi,
    OpenAiOptions, Price, Proxies, Request, Retry, TokenField, Usage,
};

use crate::server::{Server, json, raw, typed};

const KEY: &str = "sk-very-secret-0123456789";
const GOOD: &str = r#"{"id":"1","model":"m-1","choices":[{"index":0,"finish_reason":"stop",
    "message":{"role":"assistant","content":"hello"}}],
    "usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}"#;

fn options(base: String) -> OpenAiOptions {
    let mut options = OpenAiOptions::new(base, "some/model", Some(ApiKey::new(KEY).unwrap()));
    options.http.timeout = Duration::from_secs(20);
    options.http.retry = Retry { attempts: 4, base: Duration::from_millis(1), cap: Duration::from_millis(2) };
    options
}

fn ask() -> Request {
    Request::new("system words", "user words", 77)
}

async fn complete(base: String) -> Result<zx1_model::Answer, ModelError> {
    OpenAi::new(options(base)).unwrap().complete(&ask()).await
}

async fn serve_text(status: u16, body: &'static str) -> Server {
    Server::start(move |_| json(status, body)).await
}

#[tokio::test]
async fn a_good_answer_ok() {
    let server = serve_text(200, GOOD).await;
    let mut options = options(server.url("/v1/"));
    options.price = Price { input_per_million: 3_000_000, output_per_million: 15_000_000, per_call: 1 };
    options.extra.insert("provider".into(), serde_json::json!({"sort": "price"}));
    let model = OpenAi::new(options).unwrap();
    let mut request = ask();
    request.temperature = Some(20);
    request.stop = vec!["END".into()];
    request.json = true;
    request.messages.push(Message::assistant("a"));
    request.messages.push(Message::user("b"));
    let answer = model.complete(&request).await.unwrap();
    assert_eq!(answer.text, "hello");
    assert_eq!(answer.usage, Usage { input: 11, output: 3 });
    assert_eq!(answer.micro_usd, 33 + 45 + 1);
    assert_eq!((answer.model.as_str(), answer.finish), ("m-1", Finish::Done));
    let worst = model.worst_case(&request);
    assert!(worst.micro_usd >= answer.micro_usd && worst.tokens >= 14 && worst.millis >= 20_000);

    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].path, "/v1/chat/completions");
    assert_eq!(seen[0].headers["authorization"], format!("Bearer {KEY}").as_str());
    assert_eq!(
        seen[0].json(),
        serde_json::json!({
            "model": "some/model", "stream": false, "max_tokens": 77, "temperature": 0.2, "stop": ["END"],
            "response_format": {"type": "json_object"}, "provider": {"sort": "price"},
            "messages": [
                {"role": "system", "content": "system words"}, {"role": "user", "content": "user words"},
                {"role": "assistant", "content": "a"}, {"role": "user", "content": "b"},
            ],
        })
    );
}

#[tokio::test]
async fn a_local_server_needs_no_key_and_may_report_nothing_ok() {
    let body = r#"{"choices":[{"message":{"content":
        [{"type":"text","text":"<think>\nhm {}</think>\n\n{\"a\":1}"}]}}]}"#;
    let server = serve_text(200, body).await;
    let mut options = options(server.url("/v1"));
    options.key = None;
    options.token_field = TokenField::MaxCompletionTokens;
    options.temperature = false;
    let answer = OpenAi::new(options).unwrap().complete(&ask()).await.unwrap();
    assert_eq!(answer.text, "{\"a\":1}");
    assert_eq!(answer.model, "some/model");
    assert_eq!(answer.finish, Finish::Other);
    assert_eq!(answer.usage, Usage { input: ask().input_tokens_at_most(), output: 77 });
    let seen = server.seen();
    assert!(!seen[0].headers.contains_key("authorization"));
    assert_eq!(seen[0].json()["max_completion_tokens"], 77);
    assert!(seen[0].json().get("temperature").is_none());
}

#[tokio::test]
async fn a_reported_cost_is_taken_exactly() {
    let body = GOOD.replace("\"total_tokens\":14", "\"cost\":1.41e-4");
    let body: &'static str = body.leak();
    let server = serve_text(200, body).await;
    assert_eq!(complete(server.url("")).await.unwrap().micro_usd, 141);
}

#[tokio::test]
async fn a_limit_is_waited_for_and_then_answered_ok() {
    let server = Server::start(|n| {
        if n == 0 {
            Response::builder().status(429).header("retry-after-ms", "30").body(Body::empty()).unwrap()
        } else {
            json(200, GOOD)
        }
    })
    .await;
    let begun = Instant::now();
    assert_eq!(complete(server.url("/v1")).await.unwrap().text, "hello");
    assert!(begun.elapsed() >= Duration::from_millis(30));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_limit_longer_than_the_time_left_comes_back_at_once() {
    let server = Server::start(|_| {
        Response::builder().status(429).header("retry-after", "3600").body(Body::empty()).unwrap()
    })
    .await;
    let begun = Instant::now();
    let error = complete(server.url("/v1")).await.unwrap_err();
    assert_eq!(error, ModelError::RateLimited { retry_after: Some(Duration::from_secs(3600)) });
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn two_errors_500_and_then_an_answer_ok() {
    let server = Server::start(|n| if n < 2 { json(500, "{}") } else { json(200, GOOD) }).await;
    assert_eq!(complete(server.url("/v1")).await.unwrap().text, "hello");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn errors_500_without_end_fail_after_the_attempts() {
    let server = serve_text(503, r#"{"error":{"message":"no instance"}}"#).await;
    let error = complete(server.url("/v1")).await.unwrap_err();
    assert_eq!(error, ModelError::Unavailable { status: 503, why: "no instance".into() });
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn an_error_in_a_body_with_200_is_an_error() {
    let limited = serve_text(200, r#"{"error":{"code":429,"message":"slow down"}}"#).await;
    assert_eq!(complete(limited.url("/v1")).await.unwrap_err().code(), 9310);
    let broken = serve_text(200, r#"{"error":{"code":"server_error","message":"upstream"}}"#).await;
    assert_eq!(complete(broken.url("/v1")).await.unwrap_err().code(), 9319);
}

#[tokio::test]
async fn garbage_fails_and_is_not_asked_again() {
    for body in [
        "garbage",
        "",
        "{}",
        "[]",
        "null",
        r#"{"choices":[]}"#,
        r#"{"choices":[{}]}"#,
        r#"{"choices":{"0":1}}"#,
        r#"{"choices":[{"message":{"content":null}}]}"#,
        r#"{"choices":[{"message":{"content":7}}]}"#,
        r#"{"choices":[{"message":{"content":[]}}]}"#,
        "\u{0}\u{1}",
        "{\"choices\":",
    ] {
        let body: &'static str = body.to_owned().leak();
        let server = serve_text(200, body).await;
        assert_eq!(complete(server.url("/v1")).await.unwrap_err().code(), 9314, "{body:?}");
        assert_eq!(server.seen().len(), 1);
    }
    let deep: &'static str = format!("{{\"choices\":{}", "[".repeat(100_000)).leak();
    let server = serve_text(200, deep).await;
    assert_eq!(complete(server.url("/v1")).await.unwrap_err().code(), 9314);
}

#[tokio::test]
async fn a_wrong_content_type_fails() {
    for content_type in ["text/html", "text/event-stream", "application/jsonx", ""] {
        let server = Server::start(move |_| typed(200, content_type, Body::from(GOOD))).await;
        assert_eq!(complete(server.url("/v1")).await.unwrap_err().code(), 9314, "{content_type}");
    }
    let server = Server::start(|_| typed(200, "Application/JSON; charset=utf-8", Body::from(GOOD))).await;
    complete(server.url("/v1")).await.unwrap();
}

#[tokio::test]
async fn a_truncated_body_fails_and_counts_as_paid() {
    let whole =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"choices\":[";
    let chunked =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"cho";
    for bytes in [whole.as_slice(), chunked.as_slice()] {
        let address = raw(bytes).await;
        let error = complete(format!("http://{address}/v1")).await.unwrap_err();
        assert_eq!(error.code(), 9324, "{error}");
        assert!(error.may_have_cost());
    }
    let address = raw(b"").await;
    assert_eq!(complete(format!("http://{address}/v1")).await.unwrap_err().code(), 9324);
}

#[tokio::test]
async fn a_body_of_100_mb_is_not_read() {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    let server = Server::start(move |_| {
        let count = count.clone();
        let chunks = stream::unfold(0usize, move |n| {
            let count = count.clone();
            async move {
                count.fetch_add(1, Ordering::Relaxed);
                (n < 100).then(|| (Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 20])), n + 1))
            }
        });
        typed(200, "application/json", Body::from_stream(chunks))
    })
    .await;
    let error = complete(server.url("/v1")).await.unwrap_err();
    assert_eq!(error, ModelError::BodyTooLarge { limit: 8 << 20 });
    assert!(sent.load(Ordering::Relaxed) < 60, "the connection was closed on the way");

    // The same with a length in the header: nothing of the body is read.
    let server = Server::start(|_| typed(200, "application/json", Body::from(vec![b' '; 100 << 20]))).await;
    assert_eq!(complete(server.url("/v1")).await.unwrap_err().code(), 9316);
}

#[tokio::test]
async fn a_huge_error_body_is_read_in_part_only() {
    let server = Server::start(|_| typed(400, "text/html", Body::from(vec![b'x'; 100 << 20]))).await;
    let error = complete(server.url("/v1")).await.unwrap_err();
    assert_eq!(error.code(), 9321);
    assert!(error.to_string().len() < 600);
}

#[tokio::test]
async fn a_slow_drip_ends_in_time() {
    let server = Server::start(|_| {
        let drip = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b" ")), ()))
        });
        typed(200, "application/json", Body::from_stream(drip))
    })
    .await;
    let mut options = options(server.url("/v1"));
    options.http.timeout = Duration::from_millis(300);
    let begun = Instant::now();
    let error = OpenAi::new(options).unwrap().complete(&ask()).await.unwrap_err();
    assert_eq!(error, ModelError::TimedOut { after: Duration::from_millis(300) });
    assert!(error.may_have_cost());
    assert!(begun.elapsed() >= Duration::from_millis(300) && begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays() {
    let elsewhere = Server::start(|_| json(200, GOOD)).await;
    for status in [301u16, 302, 303, 307, 308] {
        let target = elsewhere.url("/v1/chat/completions");
        let server = Server::start(move |_| {
            Response::builder()
                .status(status)
                .header("location", target.as_str())
                .body(Body::empty())
                .unwrap()
        })
        .await;
        assert_eq!(complete(server.url("/v1")).await.unwrap_err(), ModelError::Redirected { status });
        assert_eq!(server.seen().len(), 1);
    }
    assert!(elsewhere.seen().is_empty(), "nobody came, so no key came");
}

#[tokio::test]
async fn a_server_that_echoes_the_key_does_not_bring_it_into_an_error() {
    for status in [400u16, 401, 402, 403, 404, 413, 500] {
        let body: &'static str =
            format!("{{\"error\":{{\"message\":\"Bad key \\u001b[31m {KEY} (flagged) context length\"}}}}")
                .leak();
        let server = serve_text(status, body).await;
        let error = complete(server.url("/v1")).await.unwrap_err();
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains(KEY), "{status}: {text}");
            assert!(!text.contains('\u{1b}'), "{status}: {text}");
        }
    }
    let model = OpenAi::new(options("http://127.0.0.1:1/v1".into())).unwrap();
    assert!(!format!("{model:?}").contains("secret"));
    assert!(!format!("{:?}", options("http://127.0.0.1:1".into())).contains("secret"));
}

#[tokio::test]
async fn nobody_listening_fails_as_unreachable() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = complete(format!("http://{address}/v1")).await.unwrap_err();
    assert_eq!(error.code(), 9318, "{error}");
    assert!(!error.may_have_cost());
}

#[tokio::test]
async fn a_refusal_is_one() {
    for body in [
        r#"{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I will not"}}]}"#,
        r#"{"choices":[{"finish_reason":"content_filter","message":{"content":"I"}}]}"#,
    ] {
        let server = serve_text(200, body).await;
        assert_eq!(complete(server.url("/v1")).await.unwrap_err().code(), 9312);
    }
}

#[tokio::test]
async fn a_cut_answer_says_so() {
    let server =
        serve_text(200, r#"{"choices":[{"finish_reason":"length","message":{"content":"{"}}]}"#).await;
    assert_eq!(complete(server.url("/v1")).await.unwrap().finish, Finish::Length);
}

fn anthropic(base: String) -> Anthropic {
    let price = Price { input_per_million: 3_000_000, output_per_million: 15_000_000, per_call: 0 };
    let mut options = AnthropicOptions::new("claude-x", ApiKey::new(KEY).unwrap(), price);
    options.base_url = base;
    options.temperature = true;
    options.http = HttpOptions { proxies: Proxies::Never, retry: Retry::NEVER, ..HttpOptions::default() };
    Anthropic::new(options).unwrap()
}

#[tokio::test]
async fn anthropics_api_is_spoken_ok() {
    let body = r#"{"id":"msg","type":"message","role":"assistant","model":"claude-x-1",
        "content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hel"},
            {"type":"text","text":"lo"}],
        "stop_reason":"end_turn","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":4}}"#;
    let server = serve_text(200, body).await;
    let mut request = ask();
    request.stop = vec!["END".into()];
    request.temperature = Some(200);
    let answer = anthropic(server.url("")).complete(&request).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.model.as_str()), ("hello", "claude-x-1"));
    assert_eq!(answer.usage, Usage { input: 15, output: 4 });
    assert_eq!(answer.micro_usd, 45 + 60);
    let seen = server.seen();
    assert_eq!(seen[0].path, "/v1/messages");
    assert_eq!(seen[0].headers["x-api-key"], KEY);
    assert_eq!(seen[0].headers["anthropic-version"], "2023-06-01");
    assert_eq!(
        seen[0].json(),
        serde_json::json!({
            "model": "claude-x", "max_tokens": 77, "system": "system words", "temperature": 1.0,
            "stop_sequences": ["END"], "messages": [{"role": "user", "content": "user words"}],
        })
    );
}

#[tokio::test]
async fn anthropics_errors_are_typed() {
    for (status, body, code) in [
        (200, r#"{"content":[],"stop_reason":"refusal"}"#, 9312),
        (200, r#"{"content":[],"stop_reason":"model_context_window_exceeded"}"#, 9315),
        (200, r#"{"content":[],"stop_reason":"end_turn"}"#, 9314),
        (200, r#"{"content":"x"}"#, 9314),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9"}}"#,
            9315,
        ),
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            9320,
        ),
        (429, r#"{"type":"error","error":{"type":"rate_limit_error","message":"m"}}"#, 9310),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, 9319),
    ] {
        let server = serve_text(status, body).await;
        let error = anthropic(server.url("")).complete(&ask()).await.unwrap_err();
        assert_eq!(error.code(), code, "{body}: {error}");
        assert_eq!(server.seen().len(), 1);
    }
    let cut = serve_text(200, r#"{"content":[],"stop_reason":"max_tokens"}"#).await;
    assert_eq!(anthropic(cut.url("")).complete(&ask()).await.unwrap().finish, Finish::Length);
}

#[test]
fn a_key_is_checked_and_hidden() {
    for bad in ["", " ", "a b", "a\nb", "é", &"x".repeat(5_000)] {
        assert_eq!(ApiKey::new(bad).unwrap_err().code(), 9333);
    }
    assert_eq!(format!("{:?}", ApiKey::new(" k \n").unwrap()), "ApiKey(hidden)");
    assert_eq!(ApiKey::from_env("ZX1_TEST_NO_SUCH_KEY").unwrap_err().code(), 9332);
    for name in ["", "a b", "\u{1b}", &"x".repeat(201)] {
        assert_eq!(OpenAi::new(OpenAiOptions::new("http://x", name, None)).unwrap_err().code(), 9334);
    }
}
