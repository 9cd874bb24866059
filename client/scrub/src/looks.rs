//! What a value looks like: a stand-in, source code, a place, something chosen or something generated.

use super::text::{ATOM, Kinds, every, letter_and_digit};
use super::words::{Words, find};
use memchr::{memchr_iter, memchr2};
use std::sync::LazyLock;

/// What is written where a secret was or is to be.
static STAND_INS: LazyLock<Words> = LazyLock::new(|| {
    Words::new(
        "stand-ins",
        &[
            "redacted",
            "change-me",
            "change_me",
            "changeme",
            "replaceme",
            "replace-me",
            "replace_me",
            "placeholder",
        ],
    )
});

/// Most bytes of an expression in braces. Values may stand in one another, each with its braces.
const EXPRESSION: usize = 256;

/// Bytes of the longest of the words that [`is_placeholder`] knows; a test holds it.
const LONGEST: usize = 14;

/// A stand-in for a secret, or the expression that fetches it.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "null",
        "none",
        "nil",
        "undefined",
        "true",
        "false",
        "yes",
        "no",
        "required",
        "requires",
        "needs",
        "takes",
        "expects",
        "missing",
        "invalid",
        "empty",
        "unset",
        "redacted",
        "hidden",
        "masked",
        "string",
        "str",
        "int",
        "integer",
        "number",
        "bool",
        "boolean",
        "bytes",
        "object",
        "optional",
        "any",
        "void",
        "text",
        "char",
        "default",
        "not",
        "is",
        "the",
        "and",
        "or",
        "incorrect",
        "expired",
        "wrong",
        "failed",
        "denied",
        "ok",
        "error",
        "unknown",
        "disabled",
        "enabled",
        "auto",
        "prompt",
        "stdin",
        "n/a",
        "...",
        "null,",
        "varchar",
        "self",
        "this",
        "const",
        "let",
        "var",
        "new",
        "await",
        "unexpected",
        "expected",
        "found",
        "too",
        "must",
        "should",
        "cannot",
        "can't",
        "or:",
        "and:",
        "authentication",
        "provided",
        "supplied",
        "set",
        "not-set",
        "changed",
        "mismatch",
        "rejected",
        "accepted",
        "updated",
        // The word for the thing instead of the thing.
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "apikey",
        "api_key",
        "passwort",
        "kennwort",
        "mot de passe",
        "contraseña",
        "contrasena",
        "senha",
        "wachtwoord",
        "hasło",
        "пароль",
        "密码",
        "changeme",
        "changeit",
        "change-me",
        "change_me",
        "example",
        "username",
        "undef",
    ];
    if every(value, |byte| {
        matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'?' | b'#' | b'{' | b'}' | ATOM)
    }) {
        return true;
    }
    if value.len() <= LONGEST && WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes())) {
        return true;
    }
    // A value may be long and asked about often, so nothing here goes over all of it without need.
    let starts =
        |prefix: &[u8]| value.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let ends = |suffix: &[u8]| {
        value
            .len()
            .checked_sub(suffix.len())
            .and_then(|from| value.get(from..))
            .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    let wraps = |open: &[u8], close: &[u8]| starts(open) && ends(close);
    let variable = starts(b"$")
        && !starts(b"$2")
        && !starts(b"$apr")
        && value.get(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'{' | b'(' | b'_'))
        && every(value.get(1..).unwrap_or_default(), is_expression);
    variable
        || wraps(b"<", b">")
        || wraps(b"{{", b"}}")
        || wraps(b"(", b")")
            && value.len() <= 24
            && every(value, |byte| byte.is_ascii_alphabetic() || matches!(byte, b'(' | b')' | b' '))
        || wraps(b"[", b"]")
            && every(value, |byte| byte.is_ascii_alphabetic() || matches!(byte, b'[' | b']' | b'_'))
        || wraps(b"${", b"}")
        // What a deployment fills in.
        || wraps(b"#{", b"}#")
        || (wraps(b"%", b"%") && value.len() > 2)
        // Filled in by a build: `@db.password@`.
        || value.len() > 2 && wraps(b"@", b"@") && value.len() <= 64 && every(value, |byte| {
            byte.is_ascii_lowercase() || matches!(byte, b'@' | b'.' | b'_' | b'-')
        })
        // The rules of a validator, a lookup in a catalogue of texts: `$t('password')`.
        || value.len() <= 128 && [&b"required|"[..], b"nullable|", b"string|", b"sometimes|", b"confirmed|"].iter().any(|rule| starts(rule))
        || starts(b"$t(") || starts(b"$_(")
        // `sk_test_xxxxxxxx`
        || value.iter().rev().take_while(|byte| matches!(byte, b'x' | b'X' | b'*')).count() >= 8
        || (wraps(b"{", b"}") && value.len() <= EXPRESSION && every(value, is_expression))
        || starts(b"%(")
        || starts(b"***")
        // The end of `${{ secrets.NAME }}`.
        || starts(b"}}")
        // `VALUE_SPECIFIED_IN_NO_LOG_PARAMETER`
        // Each of them has that letter.
        || value.len() <= 64 && memchr2(b'c', b'C', value).is_some() && STAND_INS.are_in(value)
        // A parameter of a statement: `password = :new_password`.
        || starts(b":") && value.len() <= 32
            && every(value.get(1..).unwrap_or_default(), |byte| byte.is_ascii_lowercase() || byte == b'_')
        || ends(b"..")
        || starts(b"enc[") || starts(b"enc(")
        || starts(b"${") && ends(b"***")
        || matches!(value, b"String!" | b"String?" | b"Int!" | b"ID!" | b"Boolean!" | b"string?")
        || value.len() <= 64
            && every(value, |byte| byte.is_ascii_uppercase() || byte == b'_')
            && value.iter().filter(|byte| **byte == b'_').count() >= 2
        || matches!(
            value,
            b"%s"
                | b"%d"
                | b"%v"
                | b"%q"
                | b"%S"
                | b"%D"
                | b"%V"
                | b"%Q"
                | b"{}"
                | b"[]"
                | b"{:?}"
                | b"()"
                | b"\"\""
                | b"''"
        )
        || [
            &b"process.env"[..],
            b"os.environ",
            b"os.getenv",
            b"env.",
            b"env(",
            b"env!(",
            b"getenv",
            b"std::env",
            b"system.getenv",
            b"secrets.",
            b"vars.",
            b"var.",
            b"your-",
            b"your_",
            b"vault:",
            b"data.",
            b"local.",
            b"@microsoft.keyvault(",
            b"!vault",
            b"!secret",
            b"file:",
            b"op://",
        ]
        .iter()
        .any(|prefix| starts(prefix))
        || ends(b"_here")
        || ends(b"-here")
}

fn is_expression(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'{' | b'}' | b'(' | b')' | b':' | b'-' | b'.' | b'?' | b'[' | b']')
}

/// Source code rather than a value: a call, a path of names, a type, an attribute.
pub(super) fn is_code(value: &[u8]) -> bool {
    let has = |needle: &[u8]| value.windows(needle.len()).any(|window| window == needle);
    let first = value.first().copied().unwrap_or(0);
    let named = first.is_ascii_alphabetic() || first == b'_';
    let call = named
        && value.iter().position(|b| *b == b'(').is_some_and(|at| {
            value
                .iter()
                .take(at)
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'!' | b'?'))
        });
    let dotted = named
        && has(b".")
        && value
            .split(|b| *b == b'.')
            .all(|part| !part.is_empty() && part.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_'));
    let generic = named && (has(b"<") || has(b"[") && has(b"]")) && !value.iter().any(u8::is_ascii_digit);
    // `header[1]`, `pw[:-1]`
    let indexed = named
        && value.ends_with(b"]")
        && value.iter().position(|byte| *byte == b'[').is_some_and(|at| {
            value.iter().take(at).all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
        });
    // `*const`, `!request.headers`
    let applied = matches!(first, b'*' | b'!')
        && value.len() > 1
        && value
            .iter()
            .skip(1)
            .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.' | b';' | b','));
    call || indexed || applied || dotted || generic || has(b"::") || first == b'&' || has(b"->")
}

/// A path or URL, which names where a secret lies but is none.
pub(super) fn is_location(value: &[u8]) -> bool {
    // Base64 may begin with a slash and hold several.
    if value.len() >= 32 && value.iter().all(|byte| super::text::is_base64(*byte)) {
        let kinds = Kinds::of(value);
        if kinds.digits > 0 && kinds.upper >= 5 && kinds.lower >= 5 && changes_often(kinds, value.len()) {
            return false;
        }
    }
    // `src/a.py:4`
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let file =
        value.get(..value.len() - digits).and_then(|rest| rest.strip_suffix(b":")).is_some_and(|file| {
            let dot = file.iter().rposition(|byte| *byte == b'.').unwrap_or(0);
            dot > 0
                && (2..=5).contains(&(file.len() - dot))
                && file.iter().skip(dot + 1).all(u8::is_ascii_lowercase)
        });
    file && digits > 0
        || value.starts_with(b"/") && value.iter().skip(1).any(|b| *b == b'/')
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.starts_with(b"~/")
        || memchr_iter(b':', value).any(|at| value.get(at + 1..at + 3) == Some(b"//"))
        || [&b".pem"[..], b".key", b".json", b".txt", b".crt", b".yml", b".yaml", b".toml", b".pub"]
            .iter()
            .any(|end| value.ends_with(end))
}

/// Letters and digits mixed, or letters and signs: what a person would not write in a sentence.
pub(super) fn is_mixed(value: &[u8], least: usize) -> bool {
    if value.len() < least {
        return false;
    }
    let (letter, digit) = letter_and_digit(value);
    if letter && digit {
        return true;
    }
    let sign = || {
        value.iter().any(|b| {
            matches!(
                b,
                b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'/' | b'=' | b'~' | b'?'
            )
        })
    };
    let cases = || {
        let kinds = Kinds::of(value);
        kinds.upper >= 3 && kinds.lower >= 1 && changes_often(kinds, value.len())
    };
    (letter || digit) && sign() || value.len() >= 16 && cases()
}

/// What somebody chose, or a program for him, to be a password: mixed, or letters in random case.
pub(super) fn is_chosen(value: &[u8]) -> bool {
    let cases = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    is_mixed(value, 6)
        || cases && value.len() >= 8 && value.iter().all(u8::is_ascii_alphabetic) && is_random(value)
}

/// As [`is_chosen`], and such that nobody writes it in a sentence: unlike `sha256`, `oauth2` or `line-12`.
pub(super) fn is_unlike_prose(value: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let sign = value.iter().enumerate().any(|(at, byte)| {
        at > 0
            && matches!(
                byte,
                b'!' | b'@' | b'#' | b'^' | b'*' | b'+' | b'?' | b'%' | b'=' | b'~' | b'$' | b'&'
            )
    });
    let (letter, digit) = (has(u8::is_ascii_alphabetic), has(u8::is_ascii_digit));
    // `word-word-word7`: three words and a digit at the end of the last.
    let parts: Vec<&[u8]> = value.split(|byte| *byte == b'-').collect();
    let words = parts.len() == 3
        && value.last().is_some_and(u8::is_ascii_digit)
        && parts.iter().all(|part| (4..=8).contains(&part.len()))
        && value.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
        && value.iter().filter(|byte| byte.is_ascii_digit()).count() == 1;
    let random = has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && (digit || value.len() >= 8)
        && is_random(value);
    value.len() >= 6
        && value.len() <= 64
        && !is_assigned(value)
        && !is_code(value)
        && !is_location(value)
        && !is_pattern(value)
        && !value.ends_with(b"=")
        && (letter && digit && sign || random && is_chosen(value) && value.len() >= 7 || words)
}

/// The name of an algorithm or a protocol, which may stand beside the word password.
pub(super) fn is_technical(value: &[u8]) -> bool {
    let known = [
        "sha", "md5", "argon", "bcrypt", "scrypt", "pbkdf", "oauth", "utf", "base64", "aes", "http", "ssh",
        "tls",
    ];
    known.iter().any(|name| find(value, name.as_bytes()).is_some())
}

/// A regular expression.
pub(super) fn is_pattern(value: &[u8]) -> bool {
    if value.starts_with(b".*") {
        return true;
    }
    let special = |byte: &u8| matches!(byte, b'\\' | b'(' | b'[' | b']' | b'^');
    if !value.iter().take(256).any(special) {
        return false;
    }
    let signs = [
        &b"\\w"[..],
        b"\\d",
        b"\\s",
        b"\\x",
        b"(?",
        b"(.*",
        b"[^",
        b"]+",
        b"]*",
        b"]{",
        b"[a-z",
        b"[A-Z",
        b"[0-9",
    ];
    value.len() <= 256 && signs.iter().any(|sign| value.windows(sign.len()).any(|part| part == *sign))
        || value.starts_with(b"^") && value.ends_with(b"$")
}

/// `min_length=12`, `MinimumLength=12`: a setting with a name of its own.
pub(super) fn is_assigned(value: &[u8]) -> bool {
    value.iter().position(|byte| *byte == b'=').is_some_and(|at| {
        at > 0
            && (value.iter().take(at).all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-'))
                || value.get(..at).is_some_and(is_camel))
    })
}

/// The address of a mailbox.
pub(super) fn is_mailbox(value: &[u8]) -> bool {
    let part = |byte: &u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-' | b'+')
    };
    value.iter().position(|byte| *byte == b'@').is_some_and(|at| {
        let (name, domain) = (value.get(..at).unwrap_or_default(), value.get(at + 1..).unwrap_or_default());
        !name.is_empty()
            && name.iter().all(part)
            && domain.iter().all(part)
            && domain.iter().skip(1).any(|byte| *byte == b'.')
    })
}

/// The name of a long option, such as `--api-key`.
pub(super) fn is_flag(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
}

/// Letters in random case, with a dot among them: no path of names.
pub(super) fn is_jumbled(value: &[u8]) -> bool {
    value.iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 3
        && value.iter().filter(|byte| byte.is_ascii_lowercase()).count() >= 3
        && value.len() >= 10
        && is_random(value)
        && every(value, |byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_'))
}

/// `SecretString`, `includeCredentials`: the name of a type or a variable.
pub(super) fn is_camel(value: &[u8]) -> bool {
    let humps = value.iter().skip(1).filter(|byte| byte.is_ascii_uppercase()).count();
    let starts = value.iter().enumerate().filter(|(_, byte)| byte.is_ascii_uppercase());
    let whole = starts.clone().all(|(at, _)| {
        // `No`, `To`, `Is` are humps, too.
        let short =
            matches!(value.get(at..at + 2), Some(b"No" | b"To" | b"Is" | b"On" | b"In" | b"By" | b"Id"));
        short || value.get(at + 1..at + 3).is_some_and(|next| next.iter().all(u8::is_ascii_lowercase))
    });
    humps >= 1 && whole && value.len() >= 8 && value.iter().all(u8::is_ascii_alphabetic)
}

/// `AB12C-…`: four groups or more of a licence's key.
pub(super) fn is_license(value: &[u8]) -> bool {
    let groups = value.split(|byte| *byte == b'-');
    let plain = |group: &[u8]| {
        (4..=8).contains(&group.len())
            && group.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    groups.clone().count() >= 4
        && groups.clone().all(plain)
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_uppercase)
}

/// A token that a node joins a cluster with: six signs, a dot, sixteen.
pub(super) fn is_bootstrap(value: &[u8]) -> bool {
    value.len() == 23
        && value.iter().enumerate().all(|(at, byte)| {
            if at == 6 { *byte == b'.' } else { byte.is_ascii_lowercase() || byte.is_ascii_digit() }
        })
        && value.iter().any(u8::is_ascii_digit)
}

/// A place in memory, as a debugger prints it.
pub(super) fn is_pointer(value: &[u8]) -> bool {
    value
        .strip_prefix(b"0x")
        .is_some_and(|digits| digits.len() <= 16 && digits.iter().all(u8::is_ascii_hexdigit))
}

/// As [`is_mixed`], and long, and of one piece: a generated key.
pub(super) fn is_generated(value: &[u8], least: usize) -> bool {
    if value.len() < least {
        return false;
    }
    let Kinds { digits, upper, lower, parted, foreign, .. } = Kinds::of(value);
    if foreign {
        return false;
    }
    digits >= 2
        && (upper >= 2 && lower >= 2
            || digits >= 4 && upper + lower >= 8 && !parted
            || value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit))
}

/// A seed in base32.
pub(super) fn is_base32(value: &[u8]) -> bool {
    matches!(value.len(), 16 | 20 | 24 | 26 | 32 | 52 | 56 | 64)
        && value.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7'))
        && value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
}

/// 32 bytes in base58: an account of Solana, a hash of a block.
pub(super) fn is_address(value: &[u8]) -> bool {
    let mut bytes = [0; 32];
    matches!(value.len(), 43 | 44) && bs58::decode(value).onto(&mut bytes[..]) == Ok(32)
}

/// Whether letters and digits change as often as in a random word, and not as in a name of several words.
pub(super) fn is_random(value: &[u8]) -> bool {
    changes_often(Kinds::of(value), value.len())
}

/// As [`is_random`], where the kinds were counted already.
pub(super) fn changes_often(kinds: Kinds, length: usize) -> bool {
    kinds.changes * 5 >= length.saturating_sub(1) * 2
}

/// `db-password`, `my-token-secret`: the name under which a secret is kept.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let sign = |byte: &u8| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':');
    let words =
        [&b"password"[..], b"secret", b"token", b"key", b"creds", b"credentials", b"tls", b"cert", b"auth"];
    value.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || sign(byte))
        && value.split(sign).any(|part| words.contains(&part))
        && value.iter().any(sign)
}

/// Five groups of hex digits.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A sentence in quotes, such as a validator's message.
pub(super) fn is_sentence(value: &[u8]) -> bool {
    let words: Vec<&[u8]> = value.split(|b| *b == b' ').filter(|word| !word.is_empty()).collect();
    let plain = |word: &&[u8]| {
        word.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'\'' | b',' | b'.' | b':' | b'-'))
    };
    let capital = value.first().is_some_and(u8::is_ascii_uppercase);
    words.len() >= 3
        && words.iter().filter(|word| plain(word)).count() + 1 >= words.len()
        && (capital
            || value.ends_with(b".")
            || words.len() >= 4
                && words.iter().any(|w| {
                    matches!(*w, b"is" | b"be" | b"must" | b"not" | b"for" | b"the" | b"to" | b"can't" | b"a")
                }))
}
