//! Long answers are streamed in pages, and what nobody reads is bounded.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use zx1_market::chain::Data;
use zx1_market::contract::Contract;

use crate::support::live::{Live, agent, contract, principal};
use crate::support::{Market, body_with, eventually};

const CONTRACTS: usize = 60;

/// Contracts whose summaries are long: together they are some megabytes.
async fn many(change: impl FnOnce(&mut zx1_market_server::Config)) -> Market {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        change(config);
    })
    .await;
    for n in 0..CONTRACTS {
        let error = format!("{n} undefined reference {}", "to `bar' ".repeat(6_000));
        m.open(&Contract::builder("gcc foo.c", error).build(&m.client.terms).unwrap()).await;
    }
    m
}

/// Somebody at this address of the machine, with small buffers.
async fn ask(m: &Market, from: [u8; 4], path: &str) -> TcpStream {
    ask_at(m.server().address(), from, path).await
}

async fn ask_at(server: SocketAddr, from: [u8; 4], path: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(server).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn answer(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

async fn unsent(m: &Market) -> u64 {
    let text = m.client.get("/metrics", None).await.text;
    let line =
        text.lines().find_map(|line| line.strip_prefix("fix_market_unsent_bytes ")).unwrap().to_owned();
    line.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_comes_whole_and_in_pages() {
    let m = many(|_| {}).await;
    let head = answer(ask(&m, [127, 0, 0, 1], "/contracts?limit=200").await).await;
    assert!(head.to_lowercase().contains("transfer-encoding: chunked"), "it is not made as one text");
    for (limit, wanted) in [(200, CONTRACTS), (60, CONTRACTS), (59, 59), (16, 16), (8, 8), (9, 9), (1, 1)] {
        let list = m.client.get(&format!("/contracts?limit={limit}"), None).await.ok();
        let ids: BTreeSet<_> =
            list["contracts"].as_array().unwrap().iter().map(|c| c["id"].to_string()).collect();
        assert_eq!(ids.len(), wanted);
        assert_eq!(list["next"].is_string(), limit <= CONTRACTS, "{limit}");
    }
    // From page to page none is missing.
    let (mut seen, mut path) = (BTreeSet::new(), "/contracts?limit=25".to_owned());
    loop {
        let list = m.client.get(&path, None).await.ok();
        seen.extend(list["contracts"].as_array().unwrap().iter().map(|c| c["id"].to_string()));
        let Some(next) = list["next"].as_str() else { break };
        path = format!("/contracts?limit=25&cursor={next}");
    }
    assert_eq!(seen.len(), CONTRACTS);
    eventually("everything is sent", || async { (unsent(&m).await == 0).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_read_gets_no_further_long_answers() {
    let m = many(|config| {
        config.limits.unsent_bytes = 2_000_000;
        config.limits.unsent_bytes_per_address = 300_000;
    })
    .await;
    let list = "/contracts?limit=200";
    let silent = ask(&m, [127, 0, 0, 2], list).await;
    eventually("a page waits for its reader", || async { (unsent(&m).await > 300_000).then_some(()) }).await;
    let refused = answer(ask(&m, [127, 0, 0, 2], list).await).await;
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("9431"), "{refused}");
    assert!(refused.to_lowercase().contains("retry-after: "), "{refused}");
    // What is short is served, and so are others.
    assert!(answer(ask(&m, [127, 0, 0, 2], "/stats").await).await.starts_with("HTTP/1.1 200"));
    let another = ask(&m, [127, 0, 0, 3], list).await;
    eventually("the budget is used up", || async { (unsent(&m).await > 1_200_000).then_some(()) }).await;
    m.client.get(list, None).await.refused(503, 9431);
    assert!(m.client.get(list, None).await.retry_after.is_some());
    // When they read on, or leave, there is room again, and nobody has lost anything.
    drop(silent);
    let whole = answer(another).await;
    let end = &whole[whole.len().saturating_sub(100)..];
    assert!(whole.starts_with("HTTP/1.1 200") && end.ends_with("\r\n0\r\n\r\n"), "it ends well: {end}");
    eventually("everything is given back", || async { (unsent(&m).await == 0).then_some(()) }).await;
    assert_eq!(m.client.get(list, None).await.ok()["contracts"].as_array().unwrap().len(), CONTRACTS);
}

/// Resident memory of a process, in bytes.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// A transcript of some megabytes: talk of a free contract, which costs nothing. It once took 6.6 MB for each reader, and
/// most of it stayed when they had gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_readers_that_do_not_read_cost_little_memory_and_leave_none_behind() {
    const BAR: u64 = 50 << 20;
    let live = Live::with(false, |config| config.nano.ledger = "none".into()).await;
    let contract = contract(&live.client.terms, "", false);
    let entry = live.client.post_entry(&contract, &principal(), None);
    live.client.send("POST", "/contracts", body_with(&entry, &[]), Some(&principal())).await.says("open");
    let id = entry.contract_id().unwrap();
    live.client.act(id, "accept", Data::Accept { agent: agent().id() }, &agent()).await.ok();
    for n in 0..60 {
        let message = format!("{n} {}", "x".repeat(16_000));
        live.client.act(id, "chat", Data::Chat { message }, &agent()).await.ok();
    }
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    live.client.act(id, "fix", fix, &agent()).await.ok();
    let (explanation, output) = (String::new(), String::new());
    let works = Data::Verify { success: true, explanation, exit_code: None, output, failure: None };
    live.client.act(id, "verify", works, &principal()).await.says("fulfilled");
    let path = format!("/contracts/{id}");
    assert!(live.client.get(&path, None).await.text.len() > 900_000);
    let before = resident(live.process.id());
    let server = live.process.url().trim_start_matches("http://").parse().unwrap();
    let mut readers = Vec::new();
    for n in 0..100 {
        readers.push(ask_at(server, [127, 0, 0, 2 + n % 10], &path).await);
    }
    let unsent = async || {
        let text = live.client.get("/metrics", None).await.text;
        let line = text.lines().find_map(|line| line.strip_prefix("fix_market_unsent_bytes ")).unwrap();
        line.parse::<u64>().unwrap()
    };
    eventually("every reader has its page", || async { (unsent().await > 100 * 200_000).then_some(()) })
        .await;
    let during = resident(live.process.id());
    drop(readers);
    eventually("everything is given back", || async { (unsent().await == 0).then_some(()) }).await;
    let after = resident(live.process.id());
    println!("{before} {during} {after}");
    assert!(during < before + BAR, "{before} {during}");
    assert!(after < before + BAR / 2, "{before} {after}");
}
