//! Secrets among the arguments of functions that log somebody in, encrypt or sign: `login("name", "secret")`.

use super::Candidate;
use super::category::Category;
use super::looks::{is_chosen, is_generated, is_location, is_placeholder, is_unlike_prose};
use super::memo::Settled;
use super::text::Text;
use Category::{Aws, BasicAuth, DatabaseUrl, Password, PrivateKey, Token};
use std::ops::Range;

/// Which argument is the secret.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which {
    /// The one after the name, which may be empty and then stands second.
    Second,
    /// After an address or a handle and a name; the second if there are no more.
    Third,
    /// The last of two or more.
    Last,
    /// The second, if it looks chosen or generated.
    SecondLikely,
    /// The first after the first that nobody would write as a name.
    LaterOdd,
    /// The first, if it looks chosen or generated.
    FirstLikely,
    /// The string that the function is called on.
    Itself,
}

use Which::{FirstLikely, Itself, Last, LaterOdd, Second, SecondLikely, Third};

/// The end of a function's name with its bracket, and the place of the secret.
const CALLS: &[(&str, Which, Category)] = &[
    ("awscredentials(", Second, Aws),
    ("staticcredentials(", Second, Aws),
    ("staticcredentialsprovider(", Second, Aws),
    ("auth=(", Second, BasicAuth),
    ("auth = (", Second, BasicAuth),
    ("basic_auth ", Second, BasicAuth),
    ("authorization_basic(", Second, BasicAuth),
    ("basic_auth: {", Second, BasicAuth),
    ("{basic_auth, {", Second, BasicAuth),
    ("basicauth(", Second, BasicAuth),
    ("basic_auth(", Second, BasicAuth),
    ("auth_basic(", Second, BasicAuth),
    ("basicauthentication(", Second, BasicAuth),
    ("basiccredential(", Second, BasicAuth),
    ("basiccredentials(", Second, BasicAuth),
    (".basic(", Second, BasicAuth),
    (" basic(", Second, BasicAuth),
    (".digest(", Second, BasicAuth),
    ("digestauth(", Second, BasicAuth),
    ("credential(", Second, BasicAuth),
    ("credentials(", Last, BasicAuth),
    ("authprovider(", Second, Password),
    ("authenticator(", Second, Password),
    ("ntlmauth(", Second, BasicAuth),
    ("add_password(", Last, BasicAuth),
    ("setauth(", Second, BasicAuth),
    ("httpbasic(", Second, BasicAuth),
    (":basic_auth, ", Second, BasicAuth),
    ("usernamepasswordcredentials(", Second, BasicAuth),
    ("plainauth(", Second, BasicAuth),
    ("userpassword(", Second, BasicAuth),
    ("passwordauthentication(", Second, Password),
    ("passwordauthenticationtoken(", Second, Password),
    ("usernamepasswordtoken(", Second, Password),
    ("login(", Second, BasicAuth),
    ("log_in(", Second, Password),
    ("logon(", Second, Password),
    ("authenticate(", Second, BasicAuth),
    (".auth(", Second, Password),
    ("signin(", Second, Password),
    ("sign_in(", Second, Password),
    ("signup(", Second, Password),
    ("simple_bind_s(", Second, Password),
    ("simple_bind(", Second, Password),
    (".bind(", Second, Password),
    (">bind(", Second, Password),
    ("wifi.begin(", Second, Password),
    ("createuser(", SecondLikely, Password),
    ("create_user(", Third, Password),
    ("create_superuser(", Third, Password),
    ("changepassword(", SecondLikely, Password),
    ("change_password(", SecondLikely, Password),
    ("ldap_bind(", Third, Password),
    ("ftp_login(", Third, Password),
    ("auth_password(", Third, Password),
    ("imap_open(", Third, Password),
    ("mysqli(", Third, Password),
    ("mysqli_connect(", Third, Password),
    ("mysql_connect(", Third, Password),
    ("mysql.connect(", Third, Password),
    ("mysqldb.connect(", Third, Password),
    ("oci_connect(", SecondLikely, Password),
    ("real_connect(", Third, Password),
    ("dbi->connect(", Third, Password),
    ("dbi.connect(", Third, Password),
    ("odbc_connect(", Third, Password),
    ("pdo(", Third, Password),
    ("sequelize(", Third, Password),
    ("resource.new(", Third, Password),
    (":basic, ", Second, BasicAuth),
    ("ftp(", Third, Password),
    ("getconnection(", Third, Password),
    ("emailandpassword(", Third, Password),
    ("oracledb.connect(", SecondLikely, Password),
    ("oracle.connect(", SecondLikely, Password),
    ("connect(", LaterOdd, Password),
    ("__construct(", LaterOdd, Password),
    (".open ", LaterOdd, DatabaseUrl),
    ("cwjap=", Second, Password),
    ("cwjap_cur=", Second, Password),
    ("cwjap_def=", Second, Password),
    ("from_base58_string(", FirstLikely, PrivateKey),
    ("fromsecretkey(", FirstLikely, PrivateKey),
    ("from_secret_key(", FirstLikely, PrivateKey),
    ("privatekeytoaccount(", FirstLikely, PrivateKey),
    ("from_private_key(", FirstLikely, PrivateKey),
    ("database(", LaterOdd, DatabaseUrl),
    ("drivermanager(", LaterOdd, DatabaseUrl),
    ("drivermanager[io](", LaterOdd, DatabaseUrl),
    ("openrowset(", LaterOdd, DatabaseUrl),
    (" mysql(", LaterOdd, DatabaseUrl),
    (" postgresql(", LaterOdd, DatabaseUrl),
    (" mongodb(", LaterOdd, DatabaseUrl),
    ("credential]::new(", Second, Password),
    ("username_pw_set(", Second, Password),
    ("sp_addlogin ", Second, Password),
    ("sp_password ", Second, Password),
    ("hashsync(", FirstLikely, Password),
    ("comparesync(", FirstLikely, Password),
    ("hash::make(", FirstLikely, Password),
    ("hash::check(", FirstLikely, Password),
    ("passlib.hash(", FirstLikely, Password),
    ("argon2.hash(", FirstLikely, Password),
    ("crypt(", FirstLikely, Password),
    ("sym_encrypt(", SecondLikely, Password),
    ("sym_decrypt(", SecondLikely, Password),
    ("aes_encrypt(", SecondLikely, Password),
    ("aes_decrypt(", SecondLikely, Password),
    ("pbkdf2(", FirstLikely, Password),
    ("scrypt(", FirstLikely, Password),
    ("verify_password(", FirstLikely, Password),
    ("check_password(", SecondLikely, Password),
    ("password_verify(", FirstLikely, Password),
    ("password_hash(", FirstLikely, Password),
    ("hash_password(", FirstLikely, Password),
    ("make_password(", FirstLikely, Password),
    ("bcrypt.compare(", FirstLikely, Password),
    ("bcrypt.hash(", FirstLikely, Password),
    ("hashpw(", FirstLikely, Password),
    ("checkpw(", FirstLikely, Password),
    ("authenticate(", FirstLikely, Password),
    (".tochararray(", Itself, Password),
    ("jwt.sign(", SecondLikely, Token),
    ("jwt.encode(", SecondLikely, Token),
    ("jwt.decode(", SecondLikely, Token),
    ("jwt.verify(", SecondLikely, Token),
    ("createhmac(", SecondLikely, Token),
    ("hmac.new(", FirstLikely, Token),
    ("hmac.hexdigest(", SecondLikely, Token),
    ("hash_hmac(", Third, Token),
    ("signwith(", SecondLikely, Token),
    ("fernet(", FirstLikely, Token),
    ("cookieparser(", FirstLikely, Token),
    ("cookie_secret(", FirstLikely, Token),
    ("keycredential(", FirstLikely, Token),
    ("tokencredential(", FirstLikely, Token),
    ("authtoken(", FirstLikely, Token),
    ("bearerauth(", FirstLikely, Token),
    ("bearer_auth(", FirstLikely, Token),
    ("bearertoken(", FirstLikely, Token),
    ("oauth2(", FirstLikely, Token),
    ("client(", FirstLikely, Token),
    ("::new(", FirstLikely, Token),
    ("init(", FirstLikely, Token),
    ("configure(", FirstLikely, Token),
];

/// Every end of a name, in the order that [`detect`] counts by.
pub(super) fn anchors() -> impl Iterator<Item = &'static str> {
    CALLS.iter().map(|(name, _, _)| *name)
}

/// Most bytes of a call's arguments, and most arguments.
const REACH: usize = 256;
const MOST: usize = 5;

/// An argument: where it stands, and the first string in it.
#[derive(Debug, Clone)]
struct Argument {
    string: Option<Range<usize>>,
}

/// The arguments from `from` on, up to the closing bracket.
fn arguments(text: Text<'_>, from: usize) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let (mut at, mut depth, mut string) = (from, 0_usize, None);
    let limit = from + REACH;
    let mut braces = 0_usize;
    while at < limit && arguments.len() < MOST {
        match text.at(at) {
            0 => break,
            b'\n' if text.at(at + 1) == b'\n' => break,
            sign @ (b'"' | b'\'' | b'`') => {
                let end = text.run(at + 1, REACH, |byte| byte != sign && byte != b'\n');
                if text.at(end) != sign {
                    break;
                }
                let escaped = text.before(at) == b'\\' && text.before(end) == b'\\';
                if braces == 0 {
                    string.get_or_insert(at + 1..end - usize::from(escaped));
                }
                at = end;
            }
            // A block or an object: what is in it has names of its own.
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            b'\n' if braces > 0 => break,
            _ if braces > 0 => {}
            b'(' | b'[' => depth += 1,
            b')' | b']' if depth > 0 => depth -= 1,
            b')' => {
                arguments.push(Argument { string: string.take() });
                return arguments;
            }
            b',' | b';' if depth == 0 => arguments.push(Argument { string: string.take() }),
            _ => {}
        }
        at += 1;
    }
    arguments.push(Argument { string });
    arguments
}

/// The string that ends at `to`.
fn before(text: Text<'_>, to: usize) -> Option<Range<usize>> {
    let sign = text.before(to);
    let start = text.run_back(to.saturating_sub(1), 64, |byte| byte != sign && !byte.is_ascii_whitespace());
    (matches!(sign, b'"' | b'\'') && text.before(start) == sign).then(|| start..to - 1)
}

/// The secret among the arguments of the call with that number.
pub(super) fn detect(text: Text<'_>, number: usize, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let Some((name, which, category)) = CALLS.get(number) else { return };
    if *name == "crypt(" && text.before(anchor.start).is_ascii_alphanumeric() {
        return;
    }
    if anchor.end < text.1.settled(Settled::Call(number)) {
        return;
    }
    // Most calls have no string where the secret would be.
    if matches!(which, FirstLikely) {
        let first = text.run(anchor.end, 2, |byte| matches!(byte, b' ' | b'b' | b'\n'));
        if !matches!(text.at(first), b'"' | b'\'' | b'`') {
            return;
        }
    }
    let arguments = arguments(text, anchor.end);
    let string = |at: usize| arguments.get(at).and_then(|argument| argument.string.clone());
    let likely = |range: &Range<usize>| {
        let value = text.peek(range.clone());
        let place = value.iter().any(|byte| matches!(byte, b':' | b',')) || is_location(value);
        let chosen = matches!(category, Password | DatabaseUrl) && is_chosen(value);
        (chosen || is_generated(value, 20) && super::looks::is_random(value))
            && !place
            && !value.contains(&b' ')
    };
    let secret = match which {
        Second if string(0).is_some_and(|name| name.is_empty()) => string(2),
        Second => string(1),
        Third => string(2).or_else(|| string(1).filter(|_| arguments.len() == 2)),
        Last if arguments.len() >= 2 => string(arguments.len() - 1),
        Last => None,
        SecondLikely => string(1).filter(likely),
        LaterOdd => {
            // After an address and a name a word need not be that odd.
            let third = string(2).filter(|range| string(0).is_some() && string(1).is_some() && likely(range));
            let odd = |range: &Range<usize>| likely(range) && is_unlike_prose(text.peek(range.clone()));
            (1..MOST).filter_map(string).find(odd).or(third)
        }
        FirstLikely => string(0).filter(likely),
        Itself => before(text, anchor.start).filter(likely),
    };
    if let Some(last) = secret.as_ref() {
        text.1.settle(Settled::Call(number), last.end);
    }
    if let Some(range) = secret.filter(|range| range.len() >= 3 && !is_placeholder(text.peek(range.clone())))
    {
        found.push(Candidate { category: *category, range });
    }
}
