//! Passwords in URLs.

use super::Candidate;
use super::category::Category;
use super::looks::{is_chosen, is_mixed, is_placeholder, is_unlike_prose};
use super::memo::Site;
use super::text::{ATOM, REACH, Text, every};
use std::ops::Range;

/// Schemes of databases and queues: with a password in it, the whole URL goes.
const DATABASES: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mysqlx",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "valkey",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "clickhouse",
    "cockroachdb",
    "cockroach",
    "cassandra",
    "couchbase",
    "couchbases",
    "oracle",
    "db2",
    "neo4j",
    "neo4j+s",
    "bolt",
    "influxdb",
    "snowflake",
    "redshift",
    "memcached",
    "nats",
    "kafka",
    "firebird",
    "hive",
    "trino",
    "presto",
    "vertica",
    "tidb",
    "libsql",
    "elasticsearch",
    "jdbc",
    "ecto",
    "pgsql",
    "rethinkdb",
    "arangodb",
    "etcd",
];

/// Reads the URL around a `://`.
pub(super) fn detect(text: Text<'_>, anchor: usize, found: &mut Vec<Candidate>) {
    let start =
        text.run_back(anchor, 48, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-' | b':'));
    let scheme: String =
        text.slice(start..anchor).iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let Some(last) = scheme.rsplit(':').next().filter(|last| !last.is_empty()) else { return };
    let host_start = anchor + 3;
    let end = text.run_seen(Site::Url, host_start, REACH, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | 0)
    });
    // The next URL's slashes end this, so it is short where URLs stand in one another.
    let slash = text.run(host_start, end - host_start, |b| !matches!(b, b'/' | b'?' | b'#' | b'\\'));
    let mut at = text.run_back(slash, slash - host_start, |b| b != b'@').checked_sub(1);
    let base = last.split('+').next().unwrap_or(last);
    let scheme_start = anchor - last.len();
    let database = scheme
        .split(':')
        .any(|part| DATABASES.contains(&part) || DATABASES.contains(&part.split('+').next().unwrap_or(part)));
    if at.is_none_or(|at| at < host_start) && slash < end {
        // A password with a slash in it: `user:pa/ss@host`. A port before the slash says that it is none.
        let colon = text.run(host_start, slash - host_start, |b| b != b':');
        let port = text.slice(colon + 1..slash.max(colon + 1)).iter().all(u8::is_ascii_digit);
        if colon < slash && !port {
            let query = text.run_seen(Site::UrlQuery, host_start, end - host_start, |b| b != b'?');
            at = text.run_back_seen(Site::UrlAt, query, query - host_start, |b| b != b'@').checked_sub(1);
        }
    }
    let Some(at) = at.filter(|at| *at >= host_start) else {
        let secret = || {
            ["password=", "passwd=", "pwd="]
                .iter()
                .find_map(|name| text.find(Site::Url, host_start..end, name).map(|p| p + name.len()))
        };
        if database && let Some(from) = secret() {
            let stop = text.run_seen(Site::UrlValue, from, end - from, |b| !matches!(b, b'&' | b';'));
            if !is_placeholder(text.peek(from..stop)) {
                found.push(Candidate {
                    category: Category::DatabaseUrl,
                    range: start.max(scheme_start.min(start))..trim(text, end),
                });
            }
        }
        beside(text, end, found);
        return;
    };
    let colon = text.run(host_start, at - host_start, |b| b != b':');
    let (user, pass) = (text.peek(host_start..colon), text.peek((colon + 1).min(at)..at));
    let real = |part: &[u8]| !part.is_empty() && !is_placeholder(part) && part.iter().any(|b| *b != ATOM);
    if database {
        if real(pass) {
            found.push(Candidate { category: Category::DatabaseUrl, range: start..trim(text, end) });
        }
        return;
    }
    // A node's public key.
    let node = user.len() == 128 && every(user, |byte| byte.is_ascii_hexdigit());
    let named = user.len() >= 16 && is_mixed(user, 16) && real(user) && !node;
    if !real(pass) && !named {
        return;
    }
    let git = is_git(text, at + 1..end, base, anchor);
    let category = if git { Category::GitCredential } else { Category::BasicAuth };
    if real(pass) {
        let whole_info = user.len() >= 16 || pass == b"x-oauth-basic" || pass == b"x-access-token";
        let range = if whole_info { host_start..at } else { colon + 1..at };
        found.push(Candidate { category, range });
    } else {
        let category = if git { category } else { Category::Token };
        found.push(Candidate { category, range: host_start..colon });
    }
}

/// `https://host/path name secret` of a list of credentials.
fn beside(text: Text<'_>, end: usize, found: &mut Vec<Candidate>) {
    let name = text.blanks(end);
    let stop = text.run(name, 48, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let start = text.blanks(stop);
    if name == end || stop == name || start == stop {
        return;
    }
    let last =
        text.run(start, 96, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`'));
    let value = text.peek(start..last);
    let ends = matches!(text.at(last), 0 | b'\n' | b'\r');
    if (is_unlike_prose(value) || ends && is_chosen(value))
        && !is_placeholder(value)
        && text.line_has(end, &["secret", "auth", "credential", "password", "login"])
    {
        found.push(Candidate { category: Category::BasicAuth, range: start..last });
    }
}

/// The password in a URL that was written into JSON or into another URL: `postgres:\/\/name:secret@host`.
pub(super) fn escaped(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let encoded = text.at(anchor.start) == b'%';
    let part = |byte: u8| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'\\' | b'/' | b'<' | b'>' | b'&')
    };
    let end = text.run(anchor.end, 192, part);
    let info = text.slice(anchor.end..end);
    let (colon, at): (&[u8], &[u8]) = if encoded { (b"%3A", b"%40") } else { (b":", b"@") };
    let find = |sign: &[u8], from: usize| {
        let rest = info.get(from..)?;
        rest.windows(sign.len()).position(|piece| piece.eq_ignore_ascii_case(sign)).map(|at| from + at)
    };
    let Some(name) = find(colon, 0) else { return };
    let Some(stop) = find(at, name) else { return };
    let secret = name + colon.len()..stop;
    if secret.len() >= 3 && !is_placeholder(info.get(secret.clone()).unwrap_or_default()) {
        found.push(Candidate {
            category: Category::DatabaseUrl,
            range: anchor.end + secret.start..anchor.end + secret.end,
        });
    }
}

/// The URL without the sentence's signs after it.
fn trim(text: Text<'_>, end: usize) -> usize {
    text.run_back_seen(Site::UrlTrim, end, end, |b| {
        matches!(b, b')' | b',' | b'.' | b';' | b':' | b']' | b'}')
    })
}

/// Whether the URL leads to a repository, or the line speaks of one.
fn is_git(text: Text<'_>, host_and_path: Range<usize>, scheme: &str, anchor: usize) -> bool {
    const HOSTS: &[&str] =
        &["github", "gitlab", "bitbucket", "dev.azure.com", "visualstudio.com", "codeberg", "gitea", "git."];
    let host = text.run_seen(Site::UrlHost, host_and_path.start, host_and_path.len(), |b| b != b'/');
    scheme == "git"
        || text.has(Site::UrlHost, host_and_path.start..host, HOSTS)
        || text.find(Site::Url, host_and_path.clone(), ".git").is_some()
        || text.line_has(
            anchor,
            &[
                "git clone",
                "git push",
                "git fetch",
                "git pull",
                "git remote",
                "git+http",
                "remote:",
                "origin",
                "fatal:",
                "cloning",
                "upstream",
                "submodule",
                "git-credential",
                "pushurl",
                "insteadof",
            ],
        )
}
