//! Commands that need a cluster, without one.

use crate::support::{Home, Refusal};

/// A port on which nobody listens: below those that the system gives out, so that no other test can be given it.
const DEAD_URL: &str = "http://127.0.0.1:1";

#[test]
fn an_unreachable_cluster_is_one_sentence_and_changes_nothing() {
    let home = Home::with_key();
    home.zx1(["config", "set", "agent", "11111111111111111111111111111112"]).ok();
    let hot = home.file("hot.key", [8u8; 32]);
    let url = DEAD_URL;
    let before = home.files();
    for arguments in [
        &["stake", "lock", "10", "--yes"][..],
        &["stake", "unlock", "--yes"],
        &["stake", "cancel", "--yes"],
        &["stake", "claim", "--yes"],
        &["stake", "show"],
        &["lease", "pay", "--yes"],
        &["lease", "tick", "--yes"],
        &["lease", "show"],
        &["lease", "status"],
        &["keys", "add", &hot, "--scopes", "pay,batch", "--yes"],
        &["keys", "list"],
        &["keys", "end", "11111111111111111111111111111113", "--yes"],
        &["keys", "close", &hot, "--yes"],
        &["take-over", "--yes"],
        &["batch", "open", "--yes"],
        &["ask", "leaf", "--epoch", "7", "--tree", "log", "3", "--yes"],
        &["ask", "list"],
        &["ask", "show", "11111111111111111111111111111113", "--yes"],
        &["ask", "settle", "11111111111111111111111111111113", "--yes"],
        &["challenge", "settle", "--era", "0", "--yes"],
        &["challenge", "cancel"],
        &["register", "--name", "alice", "--yes"],
        &["up", "--yes"],
        &["up", "--dry-run"],
        &["whoami"],
        &["balance"],
        &["agents"],
        &["status"],
        &["inspect", "account", "11111111111111111111111111111112"],
    ] {
        let said = home.zx1([arguments, &["--url", url]].concat());
        assert!(said.fails(7000).contains(url), "{arguments:?}: {said:?}");
    }
    assert_eq!(home.files(), before);
}

/// A server that answers every request as a web server does that knows nothing of Solana.
fn web_page() -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0u8; 4_096];
            // The header ends with an empty line; the body is small and comes with it or is not needed.
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(size) if size > 0 => request.extend_from_slice(&buffer[..size]),
                    _ => break,
                }
            }
            let page = "<html><body>Welcome!</body></html>";
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{page}",
                page.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn an_address_that_serves_web_pages_is_no_cluster_and_nothing_changes() {
    let home = Home::with_key();
    home.zx1(["config", "set", "agent", "11111111111111111111111111111112"]).ok();
    let url = web_page();
    let before = home.files();
    for arguments in [
        &["register", "--name", "alice", "--yes"][..],
        &["stake", "lock", "10", "--yes"],
        &["lease", "pay", "--yes"],
        &["keys", "list"],
        &["envelope", "make", "beacon", "--content", "alice"],
        &["log", "list"],
        &["batch", "submit", "--data", "served", "--yes"],
        &["challenge", "list"],
        &["keeper", "run", "--once", "--yes"],
        &["feedback", "list"],
        &["reputation", "show"],
        &["up", "--yes"],
        &["whoami"],
        &["balance"],
        &["agents"],
        &["status"],
    ] {
        let said = home.zx1([arguments, &["--url", &url]].concat());
        let err = said.fails(7002);
        assert!(err.contains(&url) && err.contains("next: ") && err.lines().count() == 2, "{said:?}");
    }
    assert_eq!(home.files(), before);
}

#[test]
fn a_message_of_70_kilobytes_is_refused_by_every_command_that_reads_one() {
    let home = Home::with_key();
    home.zx1(["config", "set", "agent", "11111111111111111111111111111112"]).ok();
    let large = home.file("large.cbor", [&[0x8c][..], &[0; 70 * 1024]].concat());
    let before = home.files();
    for (arguments, number) in [
        (&["inspect", "envelope", &large][..], 7453),
        (&["inspect", "log-entry", &large], 7453),
        (&["challenge", "find", &large], 7453),
        (&["envelope", "check", &large], 7300),
        (&["key", "show", "-k", &large], 7415),
        (&["feedback", "submit", "--file", &large], 7452),
        (&["envelope", "make", "beacon", "--content-file", &large], 7452),
    ] {
        let said = home.zx1(arguments);
        let err = said.fails(number);
        assert!(err.contains("next: ") && err.lines().count() == 2, "{said:?}");
        assert!(err.contains("71681 ") || number == 7300, "{said:?}");
    }
    assert_eq!(home.files(), before);
}

#[test]
fn doctor_goes_on_without_a_cluster_and_says_what_it_did_not_look_at() {
    let home = Home::with_key();
    let said = home.zx1(["doctor", "--output", "json", "--url", DEAD_URL]);
    assert_eq!(said.code, 1, "{said:?}");
    let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let mark = |name: &str| {
        let checks = found["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["mark"].as_str().unwrap().to_owned()
    };
    assert_eq!((mark("key"), mark("cluster"), mark("stake")), ("ok".into(), "fail".into(), "skip".into()));
    assert!(said.err.contains("7506"), "{said:?}");
}

#[test]
fn without_an_agent_a_command_says_how_to_get_one() {
    let home = Home::with_key();
    for arguments in [&["stake", "show"][..], &["lease", "pay"], &["keys", "list"]] {
        let said = home.zx1(arguments);
        assert!(said.fails(7434).contains("zx1 register"), "{said:?}");
    }
    home.zx1(["stake", "show", "--agent", "bob"]).fails(7436);
}

#[test]
fn wrong_arguments_are_usage_and_are_refused_before_anything_is_asked() {
    let home = Home::with_key();
    let hot = home.file("hot.key", [8u8; 32]);
    let before = home.files();
    let url = DEAD_URL;
    for (arguments, number) in [
        (&["stake", "lock", "ten"][..], 7456),
        (&["stake", "lock", "1.0000001"], 7456),
        (&["stake", "lock", "-1"], 7456),
        (&["stake", "lock"], 7400),
        (&["lease", "pay", "--epochs", "0"], 7400),
        (&["keys", "end", "nobody"], 7451),
        (&["keys", "add", &hot, "--scopes", "pay,sell"], 7515),
        (&["keys", "add", &hot], 7400),
        (&["ask", "leaf", "--epoch", "7", "--tree", "leaves", "3"], 7400),
        (&["ask", "show", "nothing"], 7451),
        (&["challenge", "cancel", "nothing"], 7451),
        (&["batch", "sign", "--file", &hot], 7400),
        (&["register", "--name", "a", "--endpoint", "https://x"], 7503),
        (&["register", "--name", "a", "--metadata", "nothing"], 7504),
        (&["register", "--name", ""], 7502),
        (&["register"], 7400),
        (&["stake", "lock", "1", "--sign-only"], 7400),
        (&["stake", "lock", "1", "--dry-run", "--print-tx"], 7400),
        (&["completions", "tcl"], 7400),
        (&["nonsense"], 7400),
    ] {
        let said = home.zx1([arguments, &["--url", url]].concat());
        said.is_usage(number);
    }
    assert_eq!(home.files(), before);
}

/// The line of doctor's report about a part, without a cluster.
fn doctor(home: &Home, part: &str) -> serde_json::Value {
    let said = home.zx1(["doctor", "--output", "json", "--url", DEAD_URL]);
    let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    found["checks"].as_array().unwrap().iter().find(|check| check["name"] == part).unwrap().clone()
}

#[test]
fn with_nothing_configured_doctor_says_zx1_init() {
    let home = Home::new();
    let key = doctor(&home, "key");
    let path = home.folder().join("id.json");
    assert_eq!(key["mark"], "fail");
    assert_eq!(key["found"], format!("The keypair file {} does not exist", path.display()));
    assert!(key["next"].as_str().unwrap().starts_with("zx1 init"), "{key}");
}

#[test]
fn doctor_warns_of_a_key_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::with_key();
    assert_eq!(doctor(&home, "key")["mark"], "ok");
    let path = home.folder().join("id.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let key = doctor(&home, "key");
    assert_eq!(
        (&key["mark"], &key["next"]),
        (&"warn".into(), &format!("chmod 600 {}", path.display()).into())
    );
}
