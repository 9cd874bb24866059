//! Passwords in URLs.

use super::Candidate;
use super::category::Category;
use super::text::{ATOM, REACH, Text, find};
use super::value::{is_mixed, is_placeholder};

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
    let end = text.run(host_start, REACH, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | 0)
    });
    let whole = text.slice(host_start..end);
    let slash = whole.iter().position(|b| matches!(b, b'/' | b'?' | b'#' | b'\\')).unwrap_or(whole.len());
    let mut at = whole.iter().take(slash).rposition(|b| *b == b'@');
    let base = last.split('+').next().unwrap_or(last);
    let scheme_start = anchor - last.len();
    let database = scheme
        .split(':')
        .any(|part| DATABASES.contains(&part) || DATABASES.contains(&part.split('+').next().unwrap_or(part)));
    if at.is_none() && slash < whole.len() {
        // A password with a slash in it: `user:pa/ss@host`. A port before the slash says that it is none.
        let query = whole.iter().position(|b| *b == b'?').unwrap_or(whole.len());
        let colon = whole.iter().take(slash).position(|b| *b == b':');
        let port =
            colon.is_some_and(|colon| whole.iter().take(slash).skip(colon + 1).all(u8::is_ascii_digit));
        if colon.is_some() && !port {
            at = whole.iter().take(query).rposition(|b| *b == b'@');
        }
    }
    let Some(at) = at else {
        let secret = ["password=", "passwd=", "pwd="]
            .iter()
            .find_map(|name| find(whole, name.as_bytes()).map(|p| p + name.len()));
        if database && let Some(from) = secret {
            let value: Vec<u8> =
                whole.iter().skip(from).copied().take_while(|b| !matches!(b, b'&' | b';')).collect();
            if !is_placeholder(&value) {
                found.push(Candidate {
                    category: Category::DatabaseUrl,
                    range: start.max(scheme_start.min(start))..trim(text, end),
                });
            }
        }
        return;
    };
    let info = whole.get(..at).unwrap_or_default();
    let colon = info.iter().position(|b| *b == b':');
    let (user, pass) = match colon {
        Some(colon) => (info.get(..colon).unwrap_or_default(), info.get(colon + 1..).unwrap_or_default()),
        None => (info, &[][..]),
    };
    let real = |part: &[u8]| !part.is_empty() && !is_placeholder(part) && part.iter().any(|b| *b != ATOM);
    let info_range = host_start..host_start + at;
    if database {
        if real(pass) {
            found.push(Candidate { category: Category::DatabaseUrl, range: start..trim(text, end) });
        }
        return;
    }
    let git = is_git(text, whole.get(at + 1..).unwrap_or_default(), base, anchor);
    let category = if git { Category::GitCredential } else { Category::BasicAuth };
    if real(pass) {
        let whole_info = user.len() >= 16 || pass == b"x-oauth-basic" || pass == b"x-access-token";
        let range = if whole_info { info_range } else { info_range.end - pass.len()..info_range.end };
        found.push(Candidate { category, range });
    } else if user.len() >= 16 && is_mixed(user, 16) && real(user) {
        let category = if git { category } else { Category::Token };
        found.push(Candidate { category, range: host_start..host_start + user.len() });
    }
}

/// The URL without the sentence's signs after it.
fn trim(text: Text<'_>, mut end: usize) -> usize {
    while matches!(text.before(end), b')' | b',' | b'.' | b';' | b':' | b']' | b'}') {
        end -= 1;
    }
    end
}

/// Whether the URL leads to a repository, or the line speaks of one.
fn is_git(text: Text<'_>, host_and_path: &[u8], scheme: &str, anchor: usize) -> bool {
    const HOSTS: &[&str] =
        &["github", "gitlab", "bitbucket", "dev.azure.com", "visualstudio.com", "codeberg", "gitea", "git."];
    let host = host_and_path.split(|b| *b == b'/').next().unwrap_or_default();
    scheme == "git"
        || HOSTS.iter().any(|name| find(host, name.as_bytes()).is_some())
        || find(host_and_path, b".git").is_some()
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
