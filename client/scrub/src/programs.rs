//! Secrets among a program's arguments: a table of programs, and where each of them takes a secret.

use super::Candidate;
use super::category::Category;
use super::looks::{is_address, is_generated, is_mixed, is_placeholder, is_random, is_unlike_prose, is_uuid};
use super::memo::{Settled, Site};
use super::text::{Text, every};
use Category::{ApiKey, Aws, BasicAuth, DatabaseUrl, Password, Token, TotpSeed};
use std::ops::Range;

/// How many bytes and words of a command line are read.
const REACH: usize = 1024;
const MOST: usize = 48;

/// Which part of an argument is the secret.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Whole,
    /// What follows the first such sign: `name:secret`.
    After(u8),
    /// If it is mixed as a password is.
    Secretly,
    /// If nobody would write it in a sentence.
    Oddly,
    /// As [`Self::Secretly`], in quotes.
    Quoted,
    /// If it is long and random.
    Generated,
    /// As [`Self::Login`], where there is an `@`.
    LoginAt,
    /// What stands between the slash and the `@` of `name/secret@host`.
    Login,
}

/// Where an argument with a secret stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Behind a flag, in the same word or the next. Of flags with one letter the last of several counts: `-sSu`.
    Flag(&'static str),
    /// In the same word as the flag only: `-psecret`.
    Glued(&'static str),
    /// A bare word, counted from 0.
    Word(usize),
    /// The last bare word, if a flag with this letter is given.
    LastWith(u8),
    /// Any bare word.
    Any,
    /// The bare words after the one that begins so.
    Behind(&'static str),
    /// The bare word after that one, or after a digit that says how it is written.
    Next(&'static str),
    /// The second bare word after the one that begins so: a name stands between.
    SecondBehind(&'static str),
}

use Part::{After, Generated, Login, LoginAt, Oddly, Quoted, Secretly, Whole};
use Place::{Any, Behind, Flag, Glued, LastWith, Next, SecondBehind, Word};

type Row = (&'static [&'static str], &'static [(Place, Part)], Category);

const PROGRAMS: &[Row] = &[
    (
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlshow",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
        ],
        &[(Glued("-p"), Whole)],
        Password,
    ),
    (
        &["sshpass", "login", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "rdesktop"],
        &[(Flag("-p"), Whole)],
        Password,
    ),
    (&["plink", "pscp", "psftp"], &[(Flag("-pw"), Whole)], Password),
    (&["7z", "7za", "7zr", "unrar"], &[(Glued("-p"), Whole)], Password),
    (&["rar"], &[(Glued("-hp"), Whole), (Glued("-p"), Whole)], Password),
    (
        &["unzip", "zip", "sqlcmd", "bcp", "isql", "tsql", "ipmitool", "mosquitto_pub", "mosquitto_sub"],
        &[(Flag("-P"), Whole)],
        Password,
    ),
    (
        &["smbclient", "rpcclient", "smbget", "smbmap"],
        &[(Flag("-U"), After(b'%')), (Flag("-P"), Whole)],
        Password,
    ),
    (&["redis-cli"], &[(Flag("-a"), Whole)], Password),
    (
        &["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd"],
        &[(Flag("-w"), Whole)],
        Password,
    ),
    (&["openssl enc"], &[(Flag("-k"), Whole)], Password),
    (
        &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk", "snmptrap"],
        &[
            (Flag("-A"), Whole),
            (Flag("-X"), Whole),
            (Flag("-3m"), Whole),
            (Flag("-3M"), Whole),
            (Flag("-3k"), Whole),
            (Flag("-3K"), Whole),
        ],
        Password,
    ),
    (&["xfreerdp"], &[(Glued("/p:"), Whole)], Password),
    (&["htpasswd", "mosquitto_passwd"], &[(LastWith(b'b'), Whole)], Password),
    (
        &["wpa_passphrase", "rabbitmqctl add_user", "rabbitmqctl change_password"],
        &[(Word(1), Whole)],
        Password,
    ),
    (&["requirepass", "masterauth", "enable secret", "enable password"], &[(Word(0), Whole)], Password),
    (
        &["input_pw", "owner_pw", "user_pw", "--rp", "/rp", "-storepass", "-keypass"],
        &[(Word(0), Whole)],
        Password,
    ),
    (
        &["useradd", "usermod", "conan user", "unlock-keychain", "conan remote login"],
        &[(Flag("-p"), Whole)],
        Password,
    ),
    (&["add-generic-password", "add-internet-password"], &[(Flag("-w"), Whole)], Password),
    (&["poetry config", "composer config"], &[(SecondBehind("http-basic"), Whole)], BasicAuth),
    (
        &[
            "walletpassphrase",
            "rclone obscure",
            "bw unlock",
            "mkpasswd",
            "slappasswd -s",
            "cryptsetup luksOpen",
        ],
        &[(Word(0), Quoted), (Word(0), Secretly)],
        Password,
    ),
    (&["bw login", "steamcmd +login", "+login", "mega-login", "ntlm_auth"], &[(Word(1), Secretly)], Password),
    (
        &["nuget", "nuget push", "choco", "choco apikey", "choco push"],
        &[(Flag("-k"), Whole), (Flag("-ApiKey"), Whole)],
        ApiKey,
    ),
    (
        &["codecov", "doctl auth init", "vercel", "coveralls", "snyk auth", "qlty"],
        &[(Flag("-t"), Generated), (Any, Generated)],
        Token,
    ),
    (&["AUTH"], &[(Word(0), Secretly), (Word(1), Secretly)], Password),
    (&["ttyd", "shellinabox", "gotty", "wetty"], &[(Flag("-c"), After(b':'))], BasicAuth),
    (&["userpwd", "siege -H"], &[(Word(0), After(b':'))], BasicAuth),
    (
        &["GetUserSPNs", "secretsdump", "psexec.py", "wmiexec.py", "smbexec.py"],
        &[(Any, After(b':'))],
        Password,
    ),
    (&["chpasswd"], &[(Any, After(b':'))], Password),
    (&[".LOGON"], &[(Word(0), After(b','))], DatabaseUrl),
    (&["EAP", "XAUTH", "PSK"], &[(Word(0), Quoted)], Password),
    (&["radtest", "dscl . -passwd"], &[(Word(1), Whole)], Password),
    (&["networksetup -setairportnetwork"], &[(Word(2), Whole)], Password),
    (
        &["net rpc", "net ads", "winexe", "smbtree", "smbcacls", "smbcquotas", "nmblookup", "wmic"],
        &[(Flag("-U"), After(b'%'))],
        Password,
    ),
    (&["transmission-remote"], &[(Flag("-n"), After(b':')), (Flag("--auth"), After(b':'))], BasicAuth),
    (&["net use"], &[(Behind("\\\\"), Whole)], Password),
    (&["net user"], &[(Word(1), Secretly)], Password),
    (&["login", "auth"], &[(Any, Generated), (Word(1), Quoted), (Word(1), Oddly)], Token),
    (&["user:password", "user:create", "xauth"], &[(Word(1), Whole)], Password),
    (&["users add"], &[(Word(1), Secretly)], Password),
    (&["security import"], &[(Flag("-P"), Whole)], Password),
    (&["signtool sign"], &[(Flag("/p"), Whole)], Password),
    (&["osslsigncode sign"], &[(Flag("-pass"), Whole)], Password),
    (&["db2 connect"], &[(Next("using"), Whole)], DatabaseUrl),
    (&["isql"], &[(Word(2), Secretly)], DatabaseUrl),
    (&["kubeadm token create"], &[(Word(0), Secretly)], Token),
    (&["veracrypt", "couchbase-cli", "truecrypt", "teamviewer"], &[(Flag("-p"), Whole)], Password),
    (&["ftp> user"], &[(Word(1), Whole)], Password),
    (&["socks5", "socks4"], &[(Word(3), Secretly)], BasicAuth),
    (&["ssh-keygen"], &[(Flag("-N"), Whole), (Flag("-P"), Whole)], Password),
    (&["tacacs-server", "radius-server", "isakmp", "radius server"], &[(Next("key"), Whole)], Password),
    (&["username"], &[(Next("secret"), Secretly), (Next("password"), Secretly)], Password),
    (
        &["snmp-server"],
        &[(Next("sha"), Secretly), (Next("md5"), Secretly), (Next("128"), Secretly), (Next("256"), Secretly)],
        Password,
    ),
    (&["snmp-server"], &[(Next("community"), Secretly), (Next("auth"), Secretly)], Password),
    (&["shodan init"], &[(Word(0), Generated)], ApiKey),
    (&["smbclient"], &[(Word(1), Quoted)], Password),
    (&["addprinc"], &[(Flag("-pw"), Whole)], Password),
    (
        &["curl"],
        &[
            (Flag("-u"), After(b':')),
            (Flag("-U"), After(b':')),
            (Flag("--user"), After(b':')),
            (Flag("--proxy-user"), After(b':')),
        ],
        BasicAuth,
    ),
    (&["ab"], &[(Flag("-A"), After(b':')), (Flag("-P"), After(b':'))], BasicAuth),
    (
        &["http", "https", "xh", "xhs", "hey"],
        &[(Flag("-a"), After(b':')), (Flag("--auth"), After(b':'))],
        BasicAuth,
    ),
    (&["lftp", "open"], &[(Flag("-u"), After(b','))], BasicAuth),
    (&["ConvertTo-SecureString"], &[(Word(0), Whole), (Flag("-String"), Whole)], Password),
    (
        &["skopeo", "buildah", "podman", "oras"],
        &[
            (Flag("--creds"), After(b':')),
            (Flag("--src-creds"), After(b':')),
            (Flag("--dest-creds"), After(b':')),
        ],
        BasicAuth,
    ),
    (&["jenkins-cli", "jenkins-cli.jar"], &[(Flag("-auth"), After(b':'))], BasicAuth),
    (&["bundle config"], &[(Any, After(b':'))], BasicAuth),
    (&["mc alias set", "mc config host add"], &[(Word(2), Whole), (Word(3), Whole)], Aws),
    (&["ykman oath accounts add"], &[(Word(1), Whole)], TotpSeed),
    (&["connect", "conn"], &[(Word(0), LoginAt)], DatabaseUrl),
    (
        &["sqlplus", "sqlldr", "expdp", "impdp", "rman", "exp", "imp", "sqlcl", "sql", "dgmgrl"],
        &[(Any, Login)],
        DatabaseUrl,
    ),
];

/// Every program's name with the blank after it, in the order that [`detect`] counts by.
pub(super) fn anchors() -> impl Iterator<Item = String> {
    PROGRAMS.iter().flat_map(|(names, _, _)| names.iter()).map(|name| format!("{name} "))
}

/// The row of the name with this number.
fn row(number: usize) -> Option<&'static Row> {
    let mut left = number;
    PROGRAMS.iter().find(|(names, _, _)| {
        let found = left < names.len();
        left = left.saturating_sub(names.len());
        found
    })
}

/// A word of a command line: as it stands, and what it means without its quotes.
pub(super) struct Argument {
    pub range: Range<usize>,
    pub plain: Range<usize>,
}

/// The arguments from `from` on, up to the end of the command, and where that is.
pub(super) fn arguments(text: Text<'_>, from: usize) -> (Vec<Argument>, usize) {
    let mut words = Vec::new();
    let mut at = from;
    while words.len() < MOST && at < from + REACH {
        at = text.blanks(at);
        if text.at(at) == b'\\' && text.at(at + 1) == b'\n' {
            at += 2;
            continue;
        }
        let start = at;
        let mut plain = None;
        let mut last = false;
        loop {
            let byte = text.at(at);
            let slashes = text.run(at, 2, |byte| byte == b'\\') - at;
            let quote = text.at(at + slashes);
            if matches!(byte, b' ' | b'\t') {
                break;
            }
            if matches!(byte, 0 | b'\n' | b'\r' | b'|' | b';' | b'`') {
                last = true;
                break;
            }
            if matches!(quote, b'"' | b'\'') {
                let before = text.slice(start..at);
                let flag = before.len() <= 3 && before.starts_with(b"-");
                if !before.is_empty()
                    && !flag
                    && !matches!(before.last(), Some(b'=' | b':' | b',' | b'%' | b'/'))
                {
                    // The end of a string that the command stands in.
                    last = true;
                    break;
                }
                let open = at + slashes + 1;
                let close = text.run(open, REACH, |byte| byte != quote && byte != b'\n');
                let end = if slashes > 0 && text.before(close) == b'\\' { close - 1 } else { close };
                plain = Some(open..end.max(open));
                at = if text.at(close) == quote { close + 1 } else { close };
                continue;
            }
            at += 1;
            if at >= from + REACH * 2 {
                last = true;
                break;
            }
        }
        if at > start {
            words.push(Argument { range: start..at, plain: plain.unwrap_or(start..at) });
        }
        if last {
            break;
        }
    }
    (words, at)
}

/// The arguments of the program with that number.
pub(super) fn detect(text: Text<'_>, number: usize, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let before = text.before(anchor.start);
    if before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-') {
        return;
    }
    let Some((_, places, category)) = row(number) else { return };
    // An earlier one on the line read the same arguments.
    if anchor.end < text.1.settled(Settled::Program(number)) {
        return;
    }
    let (words, end) = arguments(text, anchor.end);
    text.1.settle(Settled::Program(number), end);
    for (place, part) in *places {
        for range in values(text, &words, *place) {
            if let Some(range) = cut(text, range, *part) {
                found.push(Candidate { category: *category, range });
            }
        }
    }
}

/// The arguments at a place.
fn values(text: Text<'_>, words: &[Argument], place: Place) -> Vec<Range<usize>> {
    let flagged = |word: &Argument| matches!(text.at(word.range.start), b'-' | b'<');
    let bare = || words.iter().filter(|word| !flagged(word));
    match place {
        Flag(flag) => words
            .iter()
            .enumerate()
            .filter_map(|(number, word)| {
                let next =
                    || words.get(number + 1).filter(|word| !flagged(word)).map(|word| word.plain.clone());
                if let Some(value) = glued(text, word, flag) {
                    return value.or_else(next);
                }
                let cluster = text.slice(word.range.clone());
                let letter =
                    flag.len() == 2 && cluster.len() > 2 && cluster.ends_with(flag.get(1..)?.as_bytes());
                let letters =
                    cluster.starts_with(b"-") && every(cluster.get(1..)?, |byte| byte.is_ascii_alphabetic());
                (letter && letters).then(next)?
            })
            .collect(),
        Glued(flag) => words.iter().filter_map(|word| glued(text, word, flag).flatten()).collect(),
        Word(number) => bare().nth(number).map(|word| word.plain.clone()).into_iter().collect(),
        LastWith(letter) => {
            let given = words.iter().any(|word| {
                let word = text.slice(word.range.clone());
                word.starts_with(b"-") && word.contains(&letter)
            });
            // A file or a name stands before it.
            let last = bare().next_back().filter(|_| given && bare().count() >= 2);
            last.map(|word| word.plain.clone()).into_iter().collect()
        }
        Any => bare().map(|word| word.plain.clone()).collect(),
        Next(known) => {
            let mut rest =
                bare().skip_while(|word| text.slice(word.plain.clone()) != known.as_bytes()).skip(1);
            let kind = |word: &&Argument| word.plain.len() == 1 && text.at(word.plain.start).is_ascii_digit();
            rest.find(|word| !kind(word)).map(|word| word.plain.clone()).into_iter().collect()
        }
        SecondBehind(start) => bare()
            .skip_while(|word| !text.starts(word.plain.start, start))
            .nth(2)
            .map(|word| word.plain.clone())
            .into_iter()
            .collect(),
        Behind(start) => bare()
            .skip_while(|word| !text.starts(word.plain.start, start))
            .skip(1)
            .filter(|word| !matches!(text.at(word.plain.start), b'/' | b'*'))
            .map(|word| word.plain.clone())
            .collect(),
    }
}

/// Whether a word is the flag, and what is written together with it.
#[allow(clippy::option_option)] // Not the flag; the flag alone; the flag with a value.
fn glued(text: Text<'_>, word: &Argument, flag: &str) -> Option<Option<Range<usize>>> {
    // The flag may stand in the quotes too: `'-psecret'`.
    let begin = if text.at(word.plain.start) == b'-' { word.plain.start } else { word.range.start };
    if !text.starts(begin, flag) {
        return None;
    }
    let mut start = begin + flag.len();
    if start >= word.plain.end {
        return Some(None);
    }
    if text.at(start) == b'=' {
        start += 1;
    } else if flag.starts_with("--") || flag.len() > 3 {
        return None;
    }
    let quoted = word.plain.start > start || word.plain.end < word.range.end;
    Some(Some(if quoted { word.plain.start.max(start)..word.plain.end } else { start..word.range.end }))
}

/// The secret part of an argument.
pub(super) fn cut(text: Text<'_>, range: Range<usize>, part: Part) -> Option<Range<usize>> {
    let value = text.slice(range.clone());
    let split = |sign: u8| value.iter().position(|byte| *byte == sign).filter(|at| *at > 0);
    let inner = match part {
        Whole => 0..value.len(),
        Generated if is_uuid(value) => 0..value.len(),
        // `Username/Password` is none.
        Secretly
            if super::looks::is_chosen(value)
                && !value.starts_with(b"/")
                && !every(value, |byte| byte.is_ascii_alphabetic() || byte == b'/')
                || super::looks::is_chosen(value) && every(value, |byte| byte.is_ascii_alphabetic()) =>
        {
            0..value.len()
        }
        Generated if is_generated(value, 20) && is_random(value) && !is_address(value) => 0..value.len(),
        Quoted if is_mixed(value, 6) && matches!(text.before(range.start), b'"' | b'\'') => 0..value.len(),
        Oddly if is_unlike_prose(value) => 0..value.len(),
        Secretly | Quoted | Generated | Oddly => return None,
        // `name:"secret"`
        After(sign)
            if matches!(text.before(range.start), b'"' | b'\'')
                && text.before(range.start.saturating_sub(1)) == sign =>
        {
            0..value.len()
        }
        After(sign) => {
            let at = split(sign)?;
            // A URL, or a user's and a group's number.
            let numbers = every(value.get(..at)?, |byte| byte.is_ascii_digit())
                && every(value.get(at + 1..)?, |byte| byte.is_ascii_digit());
            if numbers || value.get(at + 1..)?.starts_with(b"//") {
                return None;
            }
            at + 1..value.len()
        }
        Login | LoginAt
            if matches!(text.before(range.start), b'"' | b'\'')
                && text.before(range.start.saturating_sub(1)) == b'/' =>
        {
            0..value.len()
        }
        LoginAt if !value.contains(&b'@') => return None,
        Login | LoginAt => {
            let at = split(b'/')?;
            let stop = value.iter().position(|byte| *byte == b'@').unwrap_or(value.len());
            at + 1..stop.max(at + 1)
        }
    };
    let secret = value.get(inner.clone())?;
    (!secret.is_empty() && !secret.starts_with(b"-") && !is_placeholder(secret))
        .then(|| range.start + inner.start..range.start + inner.end)
}

/// `name:secret@tcp(…)` of Go, `name:secret@host:5432` and `name/secret@//…` of Oracle.
pub(super) fn login(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let sign = if text.starts(anchor.end, "//") { b'/' } else { b':' };
    let host = || {
        let end =
            text.run(anchor.end, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        end > anchor.end && text.at(end) == b':' && text.at(end + 1).is_ascii_digit()
    };
    // `name:secret@host.example.com`, if it can only be a secret.
    let dotted = || {
        let end =
            text.run(anchor.end, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        text.slice(anchor.end..end).iter().rposition(|byte| *byte == b'.').is_some_and(|at| at > 0)
            || text.at(anchor.end) == b'/' && text.at(anchor.end + 1).is_ascii_alphanumeric()
    };
    let socket = text.starts(anchor.end, "tcp(") || text.starts(anchor.end, "unix(");
    let digest = text.starts(anchor.end, "sha256:") || text.starts(anchor.end, "sha512:");
    // `name:secret@(host:3306)/…`
    let bracket = text.at(anchor.end) == b'(' && {
        let end =
            text.run(anchor.end + 1, 64, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        text.at(end) == b':' && text.at(end + 1).is_ascii_digit()
    };
    let socket = socket || bracket;
    let sure = !digest && (sign == b'/' || socket || host());
    let far = sure || dotted();
    // `domain/name:'secret'@host`
    let sign_before = text.before(anchor.start);
    if matches!(sign_before, b'\'' | b'"') {
        if !far {
            return;
        }
        let end = anchor.start - 1;
        let start = text.run_back(end, 64, |byte| byte != sign_before && !byte.is_ascii_whitespace());
        let opened = text.before(start) == sign_before && text.before(start.saturating_sub(1)) == b':';
        let value = text.slice(start..end);
        if opened && value.len() >= 3 && !is_placeholder(value) {
            found.push(Candidate { category: Password, range: start..end });
        }
        return;
    }
    let start = text.run_back_seen(Site::Login, anchor.start, 128, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'@' | b'=' | b'(')
    });
    let prefix =
        ["sip:", "sips:", "xmpp:", ":pserver:", ":ext:"].iter().find(|known| text.starts(start, known));
    let start = start + prefix.map_or(0, |known| known.len());
    let value = text.slice(start..anchor.start);
    if value.ends_with(b":") {
        return;
    }
    let split = |sign: u8| value.iter().position(|byte| *byte == sign).filter(|at| *at > 0);
    // `name/secret@host:1521/service`
    let oracle = || split(b'/');
    let (at, sure) = match split(sign) {
        Some(at) => (at, sure),
        None => match oracle() {
            Some(at) => (at, false),
            None => return,
        },
    };
    let secret = value.get(at + 1..).unwrap_or_default();
    let name = value.get(..at).unwrap_or_default();
    let person = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    // `name:secret@host`, if the host's name has no dot.
    let near = || {
        let host = text.run(anchor.end, 64, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        host > anchor.end && !digest && is_unlike_prose(secret)
    };
    if !far && !near() {
        return;
    }
    let secretly = sure
        || (if sign == b'/' || value.get(at) == Some(&b'/') {
            is_unlike_prose(secret)
        } else {
            is_mixed(secret, 6)
        }) && every(name, person)
            && name.first().is_some_and(u8::is_ascii_alphabetic);
    if !secret.is_empty() && secretly && !secret.contains(&b'/') && !is_placeholder(secret) {
        found.push(Candidate { category: DatabaseUrl, range: start + at + 1..anchor.start });
    }
}

/// `host:5432:database:name:secret` of a `.pgpass`.
pub(super) fn pgpass(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let part = |from: usize| text.run(from, 64, |byte| !byte.is_ascii_whitespace() && byte != b':');
    let database = part(anchor.end);
    let name = part(database + 1);
    let end = text.run(name + 1, 128, |byte| !byte.is_ascii_whitespace());
    let value = text.peek(name + 1..end);
    let real = !is_placeholder(value) && !value.contains(&b':');
    if text.at(database) == b':' && text.at(name) == b':' && end > name + 1 && real {
        found.push(Candidate { category: DatabaseUrl, range: name + 1..end });
    }
}

/// The password in Oracle's `jdbc:oracle:thin:name/secret@host`.
pub(super) fn thin(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let end =
        text.run(anchor.end, 256, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'@'));
    if let Some(range) = (text.at(end) == b'@').then(|| cut(text, anchor.end..end, Login)).flatten() {
        found.push(Candidate { category: DatabaseUrl, range });
    }
}
