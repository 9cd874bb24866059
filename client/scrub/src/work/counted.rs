//! The counter, and the test that reads it.

use super::super::Scrubber;
use super::super::memo::Memo;
use super::super::text::Text;
use std::cell::Cell;

thread_local! {
    static LOOKED: Cell<u64> = const { Cell::new(0) };
}

pub(in super::super) fn looked(bytes: usize) {
    LOOKED.with(|looked| looked.set(looked.get() + bytes as u64));
}

/// How many bytes the rules look at meanwhile.
fn work<T>(run: impl FnOnce() -> T) -> u64 {
    LOOKED.with(|looked| looked.set(0));
    let _ = run();
    LOOKED.with(Cell::get)
}

/// Hostile text: a head, then a piece again and again. Each rule has a piece that starts it as often as text
/// can, and keeps it from a quick answer.
const HOSTILE: &[(&str, &str)] = &[
    // Names, with and without a value, a blank, a quote.
    ("", "password="),
    ("", "token:"),
    ("", "token:'"),
    ("", "token=\\\""),
    ("token:\"", "token:'token=\\\"token=\\\\\\\""),
    ("", "pass"),
    ("", "key "),
    ("", "password is "),
    ("", "ENV_TOKEN "),
    ("", "seed="),
    ("", "auth:"),
    ("", "cookie=a "),
    ("", "set-cookie: a "),
    ("", "otp:"),
    ("", "dsn="),
    ("", "ssn:"),
    ("", "secret,"),
    ("", "secret=,a;"),
    ("", "secret=(a"),
    ("secret=a", ")"),
    ("", "secret=a)))))))))))))))))))))"),
    ("", "login password x "),
    ("", "%3Dpwd%3D"),
    ("", "<pwd>"),
    ("", "key=x"),
    ("", "пароль "),
    ("", "密码："),
    ("", "電話："),
    ("", "password for a:\nb"),
    ("", "key[16]={ 0x1f, "),
    ("key: ", "1f:"),
    ("", "key: 0b0c 551d "),
    ("", "random_password "),
    ("", "base64 -d "),
    ("", "genkey\nA"),
    ("", "pat 7wtkaizd2h "),
    ("", "qr code "),
    ("", "phone 12 34 56 "),
    // Connection strings, one-time passwords, phrases, flags, headers.
    ("host=db;", "pwd="),
    ("", "otpauth://"),
    ("", "totp"),
    ("", "totp ABCD "),
    ("", "mnemonic abc "),
    ("", "mnemonic abc def ghi jkl mno pqr stu vwx yza bcd X "),
    ("", "passphrase"),
    ("openssl ", "pass:"),
    ("", "identified by 'a"),
    ("mysql ", " -p"),
    ("", " -p'"),
    ("", " -a b"),
    ("curl ", "--user"),
    ("curl ", " -ua:b"),
    ("", "curl -su "),
    ("http ", "--user:{a}"),
    ("http ", "--user1:1"),
    ("", "x-auth:{a}"),
    ("openssl ", "pass:{a}"),
    ("", "token:{a}"),
    ("", "token:$a"),
    ("", "token:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "),
    ("", "bearer:"),
    ("", "bearer:your-"),
    ("", "bearer basic "),
    ("", "authorization:"),
    ("", "x-auth=a "),
    ("", "x-auth=x-auth:"),
    ("", "&sig="),
    ("", "/api/webhooks/"),
    // URLs.
    ("", "://"),
    ("", "a://"),
    ("", "a://b:c/"),
    ("", "a://b:c@"),
    ("", "a://b:c/d@"),
    ("", "db2://"),
    ("", "db2://password=x"),
    ("", "db2://b:c/d)@"),
    ("", "@"),
    // Calls, attempts, what is fed or typed, settings, links.
    ("", "connect("),
    ("", "login(\"a\",\""),
    ("", "login(a,'b',"),
    ("", "jwt.sign('"),
    ("", ".toCharArray("),
    ("", "trying a:b1 "),
    ("", "trying "),
    ("", "insert into a (pass) values ('a',"),
    ("", "values ("),
    ("sudo ", "<<<"),
    ("sudo ", "<<< 'a1"),
    ("", "send \"a1"),
    ("", "setuser >"),
    ("", "wifi:P:a;"),
    ("", " -u a:b1"),
    ("", "base64 'a:b"),
    ("", "to=+4930"),
    ("", "/hooks/a1"),
    ("", "seed abc "),
    ("", "password from "),
    ("", "password to a1 "),
    ("", "'a1' password "),
    ("", "password: {a: "),
    ("", "\"secret\",\"type\":\""),
    ("", "pw='pw="),
    ("", "пароль:"),
    // Keys.
    ("", "-----BEGIN PRIVATE KEY-----"),
    ("", "-----BEGIN PRIVATE KEY-----\n"),
    ("", "-----END PRIVATE KEY-----"),
    ("", "MIIEpAIBAAKCAQEA7bq7 MIIEpAIBAAKCAQEA7bq7\n"),
    ("", "mii "),
    ("-----BEGIN PRIVATE KEY-----\n", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\n"),
    ("-----BEGIN PRIVATE KEY-----\n", "QUJDREVGR0hJ"),
    ("", "private-lines: 400\nAAAA\n"),
    ("", "\"kty\""),
    ("", "{\"kty\":\"d\":\"a"),
    // Providers, web tokens, Azure.
    ("", "glc_/"),
    ("", "SG."),
    ("", "$1$/"),
    ("", "eyJ."),
    ("", "eyJhbGci.eyJ"),
    ("", "Q~"),
    // Numbers and hex.
    ("", "4111 "),
    ("", "+1 "),
    ("", "(415) "),
    ("", "415 555 0123 "),
    ("", "[1,"),
    ("", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]"),
    ("", "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c "),
    ("", "got 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c\n"),
    ("", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
    // Nothing of all that: quotes, brackets, escapes, lines, one long word.
    ("", "\""),
    ("", "{\"a\":["),
    ("token:\"", "\\"),
    ("token:", "\\\""),
    ("", "\\u0070"),
    ("", "\n"),
    ("", "a\n"),
    ("", " "),
    ("", "a"),
    ("", "[REDACTED:"),
    ("", "[REDACTED:jwt]"),
    ("", "é"),
];

/// Bytes of the shorter text.
const SMALL: usize = 4_000;
/// Most looks at each byte of hostile text by all rules together, in one run.
const MOST_ONCE: u64 = 150;
/// And in all runs. There are more where secrets come to light only after others are gone.
const MOST: u64 = 400;

#[test]
fn ten_times_as_much_hostile_text_is_ten_times_as_much_work() {
    let scrubber = Scrubber::new();
    let mut failures = Vec::new();
    for (head, piece) in HOSTILE {
        let texts = [SMALL, SMALL * 10].map(|size| format!("{head}{}", piece.repeat(size / piece.len())));
        let [small, large] = [0, 1].map(|at: usize| {
            let text = texts[at].as_bytes();
            let hits = scrubber.anchors.hits(text);
            work(|| scrubber.detect(Text(text, &Memo::new()), &hits))
        });
        let all = work(|| scrubber.scrub(&texts[1]));
        let [small, large, all] =
            [(small, 0), (large, 1), (all, 1)].map(|(looks, at)| looks / texts[at].len() as u64);
        println!("{small:>4} {large:>4} {all:>4} looks a byte: {head:?} {piece:?}");
        // Limits of a few KiB lie between the two lengths, so a little may be added to each byte.
        if large > small + 25 || large > MOST_ONCE || all > MOST {
            failures
                .push(format!("{head:?} {piece:?}: {small} looks a byte, then {large}, in all runs {all}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A search that remembers answers as one that does not.
mod memory {
    use super::super::super::memo::{Memo, Site};
    use super::super::super::text::Text;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 512,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_remembered_is_what_a_search_finds(
            text in "[ab]{0,40}a{150,400}[ab]{0,40}a{0,300}",
            questions in prop::collection::vec((0_usize..900, 0_usize..900), 1..40),
        ) {
            let bytes = text.as_bytes();
            let memo = Memo::new();
            let (seen, fresh) = (Text(bytes, &memo), Memo::new());
            let fresh = Text(bytes, &fresh);
            for (from, limit) in questions {
                let fits = |byte: u8| byte == b'a';
                prop_assert_eq!(
                    seen.run_seen(Site::Line, from, limit, fits),
                    fresh.run(from, limit, fits)
                );
                let to = from.min(bytes.len());
                prop_assert_eq!(
                    seen.run_back_seen(Site::Line, to, limit, fits),
                    fresh.run_back(to, limit, fits)
                );
                let end = (from + limit).min(bytes.len());
                for word in ["b", "ab", "aab", "bb"] {
                    let found = bytes.get(from..end).and_then(|part| part.windows(word.len())
                        .position(|window| window == word.as_bytes()));
                    prop_assert_eq!(
                        seen.find(Site::Line, from..from + limit, word),
                        found.map(|at| from + at)
                    );
                }
            }
        }
    }
}
