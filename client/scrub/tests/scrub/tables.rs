//! The scrubber: tables of what goes and what stays, and properties over random text.

use proptest::prelude::*;
use std::sync::LazyLock;
use zx1_scrub::{Category, Scrubber};

static SCRUBBER: LazyLock<Scrubber> = LazyLock::new(Scrubber::new);

fn scrub(text: &str) -> String {
    SCRUBBER.scrub(text).text
}

/// Parts of secrets are joined here, so that no scanner takes this file for a leak.
fn join(parts: &[&str]) -> String {
    parts.concat()
}

#[test]
fn values_of_telling_names_go() {
    let cases = [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[REDACTED:password]"),
        ("export FOO_TOKEN=abc123def456", "export FOO_TOKEN=[REDACTED:token]"),
        (r#"{"password": "hunter two"}"#, r#"{"password": "[REDACTED:password]"}"#),
        (r#"{\"password\": \"a\\b1\"}"#, r#"{\"password\": \"[REDACTED:password]\"}"#),
        ("password: hunter2 # old", "password: [REDACTED:password] # old"),
        ("api_key = \"k3y-value-9\"", "api_key = \"[REDACTED:api_key]\""),
        ("psql --password s3cret -h db", "psql --password [REDACTED:password] -h db"),
        ("mysql -u root -p'hunter2' db", "mysql -u root -p'[REDACTED:password]' db"),
        ("mysql -uroot -phunter2 db", "mysql -uroot -p[REDACTED:password] db"),
        ("PGPASSWORD=x9 psql", "PGPASSWORD=x9 psql"),
        ("PGPASSWORD=x9y psql", "PGPASSWORD=[REDACTED:password] psql"),
        ("curl -u bob:hunter2 http://x", "curl -u bob:[REDACTED:basic_auth] http://x"),
        ("machine h login bob password hunter2", "machine h login bob password [REDACTED:password]"),
        ("<password>hunter2</password>", "<password>[REDACTED:password]</password>"),
        ("CREATE USER a IDENTIFIED BY 'hunter2';", "CREATE USER a IDENTIFIED BY '[REDACTED:password]';"),
        ("https://x/?access_token=abc123def456&y=1", "https://x/?access_token=[REDACTED:token]&y=1"),
        ("password=a,b;c&d!1 next", "password=[REDACTED:password] next"),
        ("connect(host='h', password='hunter2')", "connect(host='h', password='[REDACTED:password]')"),
        ("sshpass -p hunter2 ssh h", "sshpass -p [REDACTED:password] ssh h"),
        ("Authorization: Bearer abc123def456ghi", "Authorization: Bearer [REDACTED:token]"),
        ("Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: Basic [REDACTED:basic_auth]"),
        (
            r#"{"auths":{"r":{"auth":"Ym9iOmh1bnRlcjI="}}}"#,
            r#"{"auths":{"r":{"auth":"[REDACTED:basic_auth]"}}}"#,
        ),
        ("http://bob:hunter2@proxy:3128", "http://bob:[REDACTED:basic_auth]@proxy:3128"),
        ("postgres://bob:hunter2@db/x failed", "[REDACTED:database_url] failed"),
        (
            "fatal: 'https://bob:hunter2@git.example.com/x.git/'",
            "fatal: 'https://bob:[REDACTED:git_credential]@git.example.com/x.git/'",
        ),
        ("Server=db;Uid=sa;Pwd=hunter2;", "Server=db;Uid=sa;Pwd=[REDACTED:database_url];"),
        (
            "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&issuer=y",
            "otpauth://totp/x?secret=[REDACTED:totp_seed]&issuer=y",
        ),
        ("card 4111 1111 1111 1111 declined", "card [REDACTED:credit_card] declined"),
        ("ssn 078-05-1120", "ssn [REDACTED:ssn]"),
        ("call +1 415 555 0123 now", "call [REDACTED:phone] now"),
        ("call (415) 555-0123 now", "call [REDACTED:phone] now"),
        ("x 0f1e2d3c4b5a69788796a5b4c3d2e1f0 y", "x [REDACTED:high_entropy_hex] y"),
    ];
    for (text, expected) in cases {
        assert_eq!(scrub(text), expected, "{text}");
    }
}

#[test]
fn look_alikes_stay() {
    let hex40 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
    let hex64 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let lines = [
        "a.c:1:2: error: expected ';' before ')' token".to_owned(),
        "SyntaxError: Unexpected token '}' in JSON at position 40".to_owned(),
        "error: unexpected token: identifier".to_owned(),
        "   12 |     let token: Token = lexer.next();".to_owned(),
        "   12 |     let password = std::env::var(\"PASSWORD\")?;".to_owned(),
        "password = getpass.getpass()".to_owned(),
        "connect(user=user, password=password)".to_owned(),
        "export TOKEN=$OTHER_TOKEN PASSWORD=${PASSWORD} KEY=<your key>".to_owned(),
        "fatal: could not read Password for 'https://github.com': terminal prompts disabled".to_owned(),
        "FATAL:  password authentication failed for user \"bob\"".to_owned(),
        "Error: password: required".to_owned(),
        "token_url: https://example.com/oauth/token".to_owned(),
        "KeyError: 'API_KEY'".to_owned(),
        format!("HEAD is now at {hex40} fix the parser"),
        format!("commit {hex40}"),
        format!("{hex40}\trefs/heads/main"),
        format!("error: pathspec '{hex40}' did not match"),
        format!("image@sha256:{hex64}"),
        format!("checksum = \"{hex64}\""),
        format!("{hex64}  file.tar.gz"),
        format!("SHA256(file)= {hex64}"),
        format!("Expected sha256 {hex64}\n     Got        {hex64}"),
        format!("BuildID[sha1]={hex40}, stripped"),
        format!("/var/cache/objects/{hex64}/data"),
        format!("docker: Error response from daemon: container {hex64} is not running"),
        format!("fix_{hex64}"),
        "123e4567-e89b-12d3-a456-426614174000 0x7ffd5e8a1b20 127.0.0.1:5432 v1.2.3-rc.4".to_owned(),
        "2026-11-21T15:29:00.123456789Z 1700000000 1700000000000 1763739000123456789".to_owned(),
        format!(
            "\"integrity\": \"sha512-{}\"",
            "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kx=="
        ),
        "@@ -120,7 +120,8 @@ int main(void)".to_owned(),
        "ld: a.o: in function `main': a.c:(.text+0x12): undefined reference to `sqrt'".to_owned(),
        "docker run -u 1000:1000 -p 8080:80 http-server".to_owned(),
        "mkdir -p build && cp -a src build".to_owned(),
        "git@github.com:org/repo.git https://alice@github.com/org/repo.git".to_owned(),
        "postgres://localhost:5432/db postgres://bob@db/x".to_owned(),
        "passed 3 tests, bypass=none, compass=north".to_owned(),
        "std::vector<int, std::allocator<int>>::key_type const&".to_owned(),
        "npm ERR! code EBADENGINE 10.2.4 10240000 555-0123".to_owned(),
    ];
    for line in lines {
        assert_eq!(scrub(&line), line);
    }
}

#[test]
fn providers_secrets_go() {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
    let cases = [
        (join(&["gh", "p_", &body[..36]]), Category::Token),
        (join(&["github", "_pat_", body]), Category::Token),
        (join(&["gl", "pat-", &body[..20]]), Category::Token),
        (join(&["xo", "xb-", "123456789012-", &body[..24]]), Category::Token),
        (join(&["np", "m_", &body[..36]]), Category::Token),
        (join(&["sk", "-proj-", body]), Category::ApiKey),
        (join(&["sk", "-ant-api03-", body, "-", body]), Category::ApiKey),
        (join(&["sk", "_live_", &body[..24]]), Category::ApiKey),
        (join(&["S", "G.", &body[..22], ".", body]), Category::ApiKey),
        (join(&["AK", "IA", "Z7QW3RTY5UIP2ASD"]), Category::Aws),
        (join(&["AI", "za", &body[..35]]), Category::Gcp),
        (join(&["ya", "29.", body]), Category::Gcp),
        (join(&["abc8", "Q~", &body[..34]]), Category::Azure),
        (join(&["eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0In0", ".c2lnbmF0dXJlLW9mLXRoaXM"]), Category::Jwt),
        (
            join(&["AGE-SECRET", "-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"]),
            Category::PrivateKey,
        ),
    ];
    for (secret, category) in cases {
        let text = format!("error: request with {secret} failed");
        let result = SCRUBBER.scrub(&text);
        assert_eq!(result.text, format!("error: request with {} failed", category.marker()), "{secret}");
        assert_eq!(result.findings.len(), 1);
        assert_eq!(&text[result.findings[0].range.clone()], secret);
    }
}

/// Lines of a made-up key's body.
fn pem_lines(count: usize) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..count)
        .map(|line| {
            (0..64).map(|at| char::from(alphabet[(line * 37 + at * at * 7 + at) % 64])).collect::<String>()
                + "\n"
        })
        .collect()
}

#[test]
fn private_keys_go_whole_or_cut_off() {
    let body = pem_lines(4);
    let (begin, end) =
        (join(&["-----BEGIN RSA PRI", "VATE KEY-----"]), join(&["-----END RSA PRI", "VATE KEY-----"]));
    let whole = format!("x\n{begin}\n{body}AbC=\n{end}\ny");
    assert_eq!(scrub(&whole), "x\n[REDACTED:private_key]\ny");
    assert_eq!(scrub(&format!("x\n{begin}\n{body}")).trim_end(), "x\n[REDACTED:private_key]");
    assert_eq!(scrub(&format!("x\n{body}{end}\ny")), "x\n[REDACTED:private_key]\ny");
    assert_eq!(scrub(&format!("x\n{body}y")), "x\n[REDACTED:private_key]\ny");
    let escaped = format!("{{\"key\": \"{begin}\\n{}\\n{end}\\n\"}}", body.trim_end().replace('\n', "\\n"));
    assert_eq!(scrub(&escaped), "{\"key\": \"[REDACTED:private_key]\\n\"}");
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n");
    assert_eq!(scrub(&certificate), certificate);
    let array: Vec<String> = (0..64).map(|n| ((n * 37 + 11) % 256).to_string()).collect();
    assert_eq!(scrub(&format!("keypair [{}] read", array.join(","))), "keypair [REDACTED:private_key] read");
    assert_eq!(scrub(&format!("[{}]", array[..32].join(", "))), format!("[{}]", array[..32].join(", ")));
    let phrase = "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic";
    assert_eq!(scrub(&format!("seed phrase:\n{phrase}\n")), "seed phrase:\n[REDACTED:private_key]\n");
    assert_eq!(
        scrub(&format!("NANO_SEED={}", "0F1E2D3C4B5A6978".repeat(4))),
        "NANO_SEED=[REDACTED:private_key]"
    );
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let result = SCRUBBER.scrub_bytes(b"\xff\xfe password=hunter2\xff \x80end\xc3");
    assert_eq!(result.bytes, b"\xff\xfe password=[REDACTED:password] \x80end\xc3");
    assert_eq!(result.findings.len(), 1);
    assert_eq!(scrub("Passwort: straße9 größer"), "Passwort: [REDACTED:password] größer");
}

#[test]
fn markers_in_the_input_count_as_one_opaque_character() {
    let scrubber = &SCRUBBER;
    let text = "password=[REDACTED:jwt] and token=[REDACTED:password]tail1234 [REDACTED:nonsense]";
    let once = scrubber.scrub(text);
    assert_eq!(once.text, "password=[REDACTED:jwt] and token=[REDACTED:token] [REDACTED:nonsense]");
    assert_eq!(once.findings.len(), 1);
    assert_eq!(scrubber.scrub(&once.text).findings, []);
}

#[test]
fn names_in_one_anothers_long_values_are_not_read_without_end() {
    // None of these values looks like a secret, however often the name comes again.
    let tail = "a".repeat(600);
    let few = format!("{}{tail} b", "token:".repeat(17));
    assert_eq!(scrub(&few), few);
    // One more, and what is left of the value goes.
    let many = format!("{}{tail} b", "token:".repeat(18));
    assert_eq!(scrub(&many), format!("{}[REDACTED:token] b", "token:".repeat(18)));
    // Short values, and values beside one another, may be as many as there are.
    let beside = format!("token:{tail} ").repeat(40);
    assert_eq!(scrub(&beside), beside);
    let short = format!("{}a b", "token:".repeat(80));
    assert_eq!(scrub(&short), short);
}

/// Text made of what the rules look for.
fn fragments() -> impl Strategy<Value = String> {
    let known = [
        "password",
        "=",
        ":",
        " ",
        "\n",
        "\"",
        "'",
        "\\",
        "token",
        "secret",
        "hunter2",
        "[REDACTED:jwt]",
        "[REDACTED:",
        "]",
        "@",
        "://",
        "https",
        "postgres",
        "user",
        "/",
        "eyJhbGciOiJIUzI1NiJ9",
        ".",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA7bq7",
        "4111111111111111",
        "078-05-1120",
        "+14155550123",
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "sha256",
        "commit ",
        ",",
        ";",
        "&",
        "-p",
        "mysql ",
        "curl -u ",
        "Bearer ",
        "Basic ",
        "Ym9iOmh1bnRlcjI=",
        "seed",
        "é",
        "\u{1a}",
        "key",
        "AKIAZ7QW3RTY5UIP2ASD",
        "[1,2,3",
        "JBSWY3DPEHPK3PXP",
        "totp",
        "otpauth://",
        "secret=",
        "--token ",
        "a1B2c3D4e5F6g7H8",
        "<",
        ">",
    ];
    prop::collection::vec(
        prop_oneof![8 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => any::<String>()],
        0..24,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scrubbing_twice_is_scrubbing_once(text in fragments()) {
        let scrubber = &SCRUBBER;
        let once = scrubber.scrub(&text);
        let twice = scrubber.scrub(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert_eq!(twice.findings.len(), 0);
    }

    #[test]
    fn findings_say_exactly_what_was_replaced(text in fragments()) {
        let result = SCRUBBER.scrub(&text);
        let mut rebuilt = String::new();
        let mut from = 0;
        for finding in &result.findings {
            prop_assert!(from <= finding.range.start && finding.range.start < finding.range.end);
            rebuilt.push_str(&text[from..finding.range.start]);
            rebuilt.push_str(finding.category.marker());
            from = finding.range.end;
        }
        rebuilt.push_str(&text[from..]);
        prop_assert_eq!(rebuilt, result.text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let scrubber = &SCRUBBER;
        let once = scrubber.scrub_bytes(&bytes);
        prop_assert_eq!(scrubber.scrub_bytes(&once.bytes).bytes, once.bytes);
    }
}
