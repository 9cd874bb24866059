//! One pass over the text finds every place where a rule may apply.

use super::automaton::Automaton;
use super::keys::Names;
use super::memo::Site;
use super::text::Text;
use super::{
    Candidate, Category, attempts, calls, commands, numbers, pem, programs, providers, rows, typed, url,
};
use std::ops::Range;

/// Which rule an anchor starts.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Name,
    Foreign(Category),
    Provider(usize),
    Azure,
    Url,
    UrlEscaped,
    Jwt,
    Program(usize),
    Piped,
    Ftp,
    UserFlag,
    Call(usize),
    Attempt,
    Inserted,
    Link,
    Fed,
    Sent,
    Member,
    Host,
    Rows,
    Acl,
    Called,
    Encoded,
    Wifi,
    PairFlag,
    Track,
    Stripe,
    Section,
    Printed,
    Random,
    Edi,
    Login,
    Thin,
    Pgpass,
    Scheme,
    Authorization,
    Phrase,
    Signature,
    Otpauth,
    OneTime,
    Webhook,
    PemBegin,
    PemEnd,
    PemBody,
    Putty,
    Words,
    Jwk,
    Dsn,
}

/// Stems of names. Every name that [`super::keys`] knows holds one of them.
const STEMS: &[&str] = &[
    "pass",
    "pwd",
    "pw=",
    "pw:",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "seed",
    "mnemonic",
    "phrase",
    "otp",
    "mfa",
    "2fa",
    "cookie",
    "session",
    "sessid",
    "signature",
    "phone",
    "mobil",
    "celular",
    "festnetz",
    "dest_addr",
    "pat:",
    "pat=",
    "source_addr",
    "cell:",
    "cell=",
    "gsm",
    "rufnummer",
    "whatsapp",
    "telephone",
    "msisdn",
    "fax",
    "tel:",
    "tel ",
    "ssn",
    "social",
    "security number",
    "security no",
    "contact",
    "kennwort",
    "contrasena",
    "jwt",
    "bearer",
    "wif",
    "xprv",
    "dsn",
    "_pat",
    "sid=",
    "_sas",
    "psk",
    "taxid",
    "tax_id",
    "tax id",
    "taxpayer",
    "taxpayer id",
    "itin",
    "telefon",
    "tel.",
    "handy",
    "pw ",
    "pw'",
    "pw\"",
    "login",
    "userpwd",
    "senha",
    "haslo",
    "adgangskode",
    "jelszo",
    "lozinka",
    "wachtwoord",
    "parola",
    "heslo",
    "salasana",
    "priv:",
    "privateexponent:",
    "mk dump:",
    "api_hash",
    "apihash",
    "app_hash",
    "pat ",
    "verifier",
    "userinfo",
    "user.info",
    "user-info",
    "proxy-user",
    "--user",
    "salt",
    "pepper",
    "device_code",
];

/// Stems of names in other scripts, or with letters that ASCII has not. Letter case counts in those letters, so the first
/// one is left out where it may be a capital.
const FOREIGN: &[(&str, Category)] = &[
    ("lösenord", Category::Password),
    ("contraseña", Category::Password),
    ("hasło", Category::Password),
    ("şifre", Category::Password),
    ("Şifre", Category::Password),
    ("mật khẩu", Category::Password),
    ("ароль", Category::Password),
    ("АРОЛЬ", Category::Password),
    ("ωδικός", Category::Password),
    ("密码", Category::Password),
    ("密碼", Category::Password),
    ("パスワード", Category::Password),
    ("비밀번호", Category::Password),
    ("óvil", Category::Phone),
    ("éfono", Category::Phone),
    ("елефон", Category::Phone),
    ("тел.", Category::Phone),
    ("Тел.", Category::Phone),
    ("ηλέφωνο", Category::Phone),
    ("电话", Category::Phone),
    ("電話", Category::Phone),
    ("手机", Category::Phone),
    ("手機", Category::Phone),
    ("携帯", Category::Phone),
    ("전화", Category::Phone),
];

/// Least bytes of text to an anchor for anchors to be kept from one run of the rules to the next.
const SPARSE: usize = 4;

/// Where anchors end, in the order in which the automaton meets them. `None`: there are too many to be kept.
#[derive(Debug)]
pub(super) struct Hits(Option<Vec<(u16, usize)>>);

/// The automaton and what each of its patterns starts.
#[derive(Debug, Clone)]
pub(super) struct Anchors {
    automaton: Automaton,
    /// With the length of its pattern.
    rules: Vec<(usize, Rule)>,
}

impl Anchors {
    pub(super) fn new() -> Self {
        let names: Vec<String> = programs::anchors().collect();
        let mut table: Vec<(&str, Rule)> = Vec::new();
        table.extend(STEMS.iter().map(|stem| (*stem, Rule::Name)));
        table.extend(FOREIGN.iter().map(|(stem, category)| (*stem, Rule::Foreign(*category))));
        table.extend(names.iter().enumerate().map(|(number, name)| (name.as_str(), Rule::Program(number))));
        table.extend(
            providers::prefixes().enumerate().map(|(number, prefix)| (prefix, Rule::Provider(number))),
        );
        table.extend(calls::anchors().enumerate().map(|(number, name)| (name, Rule::Call(number))));
        table.extend([
            ("trying ", Rule::Attempt),
            ("tried ", Rule::Attempt),
            ("decoded ", Rule::Attempt),
            (";user=", Rule::PairFlag),
            ("genkey", Rule::Printed),
            ("genpsk", Rule::Printed),
            ("auth:token", Rule::Printed),
            ("auth token", Rule::Printed),
            ("access-token", Rule::Printed),
            ("identity-token", Rule::Printed),
            ("login-password", Rule::Printed),
            ("token create", Rule::Printed),
            ("rand -base64", Rule::Printed),
            ("rand -hex", Rule::Printed),
            ("base64 -d", Rule::Printed),
            ("base64 --decode", Rule::Printed),
            ("pwgen", Rule::Printed),
            ("get-secret-value", Rule::Printed),
            ("versions access", Rule::Printed),
            ("random_password", Rule::Random),
            ("2fa", Rule::OneTime),
            ("mfa", Rule::OneTime),
            ("qr code", Rule::OneTime),
            ("qr-code", Rule::OneTime),
            ("success", Rule::Attempt),
            ("logged in", Rule::Attempt),
            ("logging in", Rule::Attempt),
            ("cracked", Rule::Attempt),
            ("auth failed", Rule::Attempt),
            ("authenticat", Rule::Attempt),
            ("login failed", Rule::Attempt),
            ("valid cred", Rule::Attempt),
            ("credentials:", Rule::Attempt),
            ("connect as", Rule::Attempt),
            ("connecting as", Rule::Attempt),
            ("login as", Rule::Attempt),
            ("login with", Rule::Attempt),
            ("login: ", Rule::Attempt),
            ("creds ", Rule::Attempt),
            ("log in with", Rule::Attempt),
            ("log in as", Rule::Attempt),
            ("sasl", Rule::Attempt),
            ("<<<", Rule::Fed),
            ("<(echo ", Rule::Fed),
            ("<(printf ", Rule::Fed),
            ("send \"", Rule::Sent),
            ("send '", Rule::Sent),
            ("send -- \"", Rule::Sent),
            ("sendline(", Rule::Sent),
            ("%b", Rule::Track),
            ("base64", Rule::Encoded),
            ("btoa(", Rule::Encoded),
            ("getbytes(", Rule::Encoded),
            ("buffer.from(", Rule::Encoded),
            ("sip:", Rule::Called),
            ("wa.me/", Rule::Called),
            ("%2b", Rule::Called),
            ("to=", Rule::Called),
            ("atd+", Rule::Called),
            ("setuser ", Rule::Acl),
            (" on >", Rule::Acl),
            ("wifi:", Rule::Wifi),
            ("[basicauth]", Rule::Section),
            ("track", Rule::Stripe),
            ("ref*sy*", Rule::Edi),
            ("*34*", Rule::Edi),
            (" -c ", Rule::PairFlag),
            (" --auth ", Rule::PairFlag),
            (" --basic ", Rule::PairFlag),
            (" --login ", Rule::PairFlag),
            (" -u ", Rule::PairFlag),
            (" -id ", Rule::PairFlag),
            (" -a ", Rule::PairFlag),
            ("values (", Rule::Inserted),
            ("values(", Rule::Inserted),
            ("hooks.zapier.com/hooks/catch/", Rule::Webhook),
            ("hc-ping.com/", Rule::Webhook),
            ("maker.ifttt.com/trigger/", Rule::Webhook),
            ("outlook.office.com/webhook/", Rule::Webhook),
            (".alchemy.com/v2/", Rule::Webhook),
            (".quiknode.pro/", Rule::Webhook),
            (".infura.io/v3/", Rule::Webhook),
            ("/webhook/", Rule::Link),
            ("/webhooks/", Rule::Link),
            ("/hooks/", Rule::Link),
            ("//hooks.", Rule::Link),
            ("/inputs/", Rule::Link),
            ("/confirm/", Rule::Link),
            ("/reset/", Rule::Link),
            ("/reset-password/", Rule::Link),
            ("/password/reset/", Rule::Link),
            ("/invite/", Rule::Link),
            ("/invitation/", Rule::Link),
            ("/activate/", Rule::Link),
            ("/magic/", Rule::Link),
            ("/verify/", Rule::Link),
            ("/unsubscribe/", Rule::Link),
            (":5431:", Rule::Pgpass),
            (":5433:", Rule::Pgpass),
            (":6432:", Rule::Pgpass),
            ("google2fa", Rule::OneTime),
            ("twofactor", Rule::OneTime),
            ("gauth", Rule::OneTime),
            ("rotp", Rule::OneTime),
            ("otp:", Rule::OneTime),
            ("manual entry", Rule::OneTime),
            ("2-step", Rule::OneTime),
            ("seed", Rule::Words),
            ("recover", Rule::Words),
            ("restore", Rule::Words),
            ("inspect", Rule::Words),
            ("backup words", Rule::Words),
            ("the words", Rule::Words),
            ("words:", Rule::Words),
            ("secret words", Rule::Words),
            ("12 words", Rule::Words),
            ("24 words", Rule::Words),
            ("q~", Rule::Azure),
            ("jqqj99", Rule::Azure),
            ("azdo", Rule::Azure),
            ("://", Rule::Url),
            (":\\/\\/", Rule::UrlEscaped),
            ("%3a%2f%2f", Rule::UrlEscaped),
            ("eyj", Rule::Jwt),
            ("echo ", Rule::Piped),
            ("printf ", Rule::Piped),
            ("pass ", Rule::Ftp),
            (" -p ", Rule::UserFlag),
            ("@", Rule::Login),
            (":5432:", Rule::Pgpass),
            ("jdbc:oracle:thin:", Rule::Thin),
            ("jdbc:oracle:oci:", Rule::Thin),
            (":*:", Rule::Pgpass),
            ("sent '", Rule::Sent),
            ("sent \"", Rule::Sent),
            (" -p=", Rule::UserFlag),
            (" -w ", Rule::UserFlag),
            (" -pw ", Rule::UserFlag),
            ("chpasswd:", Rule::Rows),
            (",p=", Rule::Member),
            (",data=", Rule::Member),
            ("bundle_", Rule::Host),
            ("ap-secrets", Rule::Rows),
            ("userlist", Rule::Rows),
            ("davfs2", Rule::Rows),
            ("userid=", Rule::Thin),
            ("bearer", Rule::Scheme),
            ("basic", Rule::Scheme),
            ("authorization", Rule::Authorization),
            ("x-auth", Rule::Authorization),
            ("identified by", Rule::Phrase),
            ("identified with", Rule::Phrase),
            ("pass:", Rule::Phrase),
            ("sig=", Rule::Signature),
            ("code=", Rule::Signature),
            ("otpauth://", Rule::Otpauth),
            ("oathtool", Rule::OneTime),
            ("totp", Rule::OneTime),
            ("authenticator", Rule::OneTime),
            ("two-factor", Rule::OneTime),
            ("setup key", Rule::OneTime),
            ("pyotp", Rule::OneTime),
            ("otplib", Rule::OneTime),
            ("speakeasy", Rule::OneTime),
            ("hooks.slack.com/services/", Rule::Webhook),
            ("/api/webhooks/", Rule::Webhook),
            ("api.telegram.org/bot", Rule::Webhook),
            ("webhook.office.com/webhookb2/", Rule::Webhook),
            ("-----begin ", Rule::PemBegin),
            ("---- begin ", Rule::PemBegin),
            ("-----end ", Rule::PemEnd),
            ("b3blbnnzac1rzxkt", Rule::PemBody),
            ("mii", Rule::PemBody),
            ("mhccaqe", Rule::PemBody),
            ("mhqcaqe", Rule::PemBody),
            ("mc4caqawbqydk2vw", Rule::PemBody),
            ("mighageamb", Rule::PemBody),
            ("migkageb", Rule::PemBody),
            ("lqosb", Rule::PemBody),
            ("private-lines:", Rule::Putty),
            ("phrase", Rule::Words),
            ("mnemonic", Rule::Words),
            ("wallet", Rule::Words),
            ("recovery words", Rule::Words),
            ("seed words", Rule::Words),
            ("\"kty\"", Rule::Jwk),
            ("password=", Rule::Dsn),
            ("pwd=", Rule::Dsn),
        ]);
        let patterns: Vec<String> = table.iter().map(|(pattern, _)| pattern.to_ascii_lowercase()).collect();
        let automaton = Automaton::new(&patterns);
        Self { automaton, rules: table.into_iter().map(|(pattern, rule)| (pattern.len(), rule)).collect() }
    }

    /// The anchors of a text.
    pub(super) fn hits(&self, text: &[u8]) -> Hits {
        let most = text.len() / SPARSE + SPARSE;
        let mut hits = Vec::with_capacity(text.len() / 32);
        self.automaton.scan(text, |pattern, end| {
            hits.push((pattern, end));
            hits.len() <= most
        });
        Hits((hits.len() <= most).then_some(hits))
    }

    fn range(&self, pattern: u16, end: usize) -> Range<usize> {
        let length = self.rules.get(usize::from(pattern)).map_or(0, |(length, _)| *length);
        end.saturating_sub(length)..end
    }

    /// Those that are left when these parts of the text are replaced by one byte each, which no anchor holds. `found`
    /// is in order.
    pub(super) fn left(&self, hits: Hits, found: &[Candidate]) -> Hits {
        let mut gone = found.iter().map(|candidate| &candidate.range).peekable();
        // The end of the last part that begins before an anchor ends, and by how much those make the text shorter.
        let (mut last, mut shorter) = (0, 0);
        let keep = |(pattern, end): (u16, usize)| {
            while let Some(part) = gone.next_if(|part| part.start < end) {
                last = part.end;
                shorter += part.len() - 1;
            }
            (last <= self.range(pattern, end).start).then(|| (pattern, end - shorter))
        };
        Hits(hits.0.map(|hits| hits.into_iter().filter_map(keep).collect()))
    }

    pub(super) fn detect(&self, text: Text<'_>, hits: &Hits, found: &mut Vec<Candidate>) {
        let mut names = Names::new();
        let mut apply = |(pattern, end): (u16, usize)| {
            let Some((_, rule)) = self.rules.get(usize::from(pattern)) else { return };
            let range = self.range(pattern, end);
            match rule {
                Rule::Name => names.detect(text, range, found),
                Rule::Foreign(category) => names.foreign(text, range, *category, found),
                Rule::Provider(number) => providers::detect(text, *number, range.start, found),
                Rule::Azure => providers::azure(text, range.start, found),
                Rule::Url => url::detect(text, range.start, found),
                Rule::UrlEscaped => url::escaped(text, range, found),
                Rule::Jwt => commands::jwt(text, range.start, found),
                Rule::Program(number) => programs::detect(text, *number, range, found),
                Rule::Piped => typed::piped(text, range, found),
                Rule::Ftp => typed::ftp(text, range, found),
                Rule::UserFlag => typed::beside_user(text, range, found),
                Rule::Call(number) => calls::detect(text, *number, range, found),
                Rule::Attempt => attempts::tried(text, range, found),
                Rule::Inserted => attempts::inserted(text, range, found),
                Rule::Link => commands::link(text, range, found),
                Rule::Stripe => numbers::stripe(text, range.end, found),
                Rule::Edi => numbers::edi(text, range.end, found),
                Rule::Printed => typed::printed(text, range, found),
                Rule::Random => typed::random(text, range, found),
                Rule::Section => typed::section(text, range, found),
                Rule::Track => numbers::track(text, range.end, found),
                Rule::Called => numbers::called(text, range.end, found),
                Rule::Encoded => attempts::encoded(text, range, found),
                Rule::Member => rows::member(text, range, found),
                Rule::Host => rows::host(text, range, found),
                Rule::Rows => rows::below(text, range, found),
                Rule::Acl => typed::acl(text, range, found),
                Rule::Wifi => typed::wifi(text, range, found),
                Rule::PairFlag => typed::pair_flag(text, range, found),
                Rule::Fed => typed::fed(text, range, found),
                Rule::Sent => typed::sent(text, range, found),
                Rule::Login => programs::login(text, range, found),
                Rule::Pgpass => programs::pgpass(text, range, found),
                Rule::Thin => programs::thin(text, range, found),
                Rule::Scheme => commands::scheme(text, range, found),
                Rule::Authorization => commands::authorization(text, range, found),
                Rule::Phrase => commands::phrase(text, range, found),
                Rule::Signature => commands::signature(text, range, found),
                Rule::Otpauth => commands::otpauth(text, range, found),
                Rule::OneTime => commands::one_time(text, range, found),
                Rule::Webhook => commands::webhook(text, range, found),
                Rule::PemBegin => pem::begin(text, range, found),
                Rule::PemEnd => pem::end(text, range, found),
                Rule::PemBody => pem::body(text, range.start, found),
                Rule::Putty => pem::putty(text, range, found),
                Rule::Words => pem::phrase(text, range, found),
                Rule::Jwk => pem::jwk(text, range, found),
                Rule::Dsn => connection(text, range, found),
            }
        };
        match &hits.0 {
            Some(known) => known.iter().copied().for_each(apply),
            None => self.automaton.scan(text.0, |pattern, end| {
                apply((pattern, end));
                true
            }),
        }
    }
}

/// `Server=…;User Id=…;Password=…`: the password in a connection string is the database's.
fn connection(text: Text<'_>, anchor: Range<usize>, found: &mut Vec<Candidate>) {
    let line = text.line(anchor.start);
    let names =
        ["server=", "data source=", "host=", "initial catalog=", "database=", "dbname=", "uid=", "user id="];
    let speaks = text.has(Site::Before, line.start..anchor.start, &names);
    let end = text.run_seen(Site::Connection, anchor.end, 512, |byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b';' | b'"' | b'\'' | b'&')
    });
    let value = text.peek(anchor.end..end);
    // `Pwd={…}` of ODBC.
    let braced = value.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
    if (speaks || text.line_has(anchor.start, &["jdbc:"]))
        && braced.is_some_and(|inner| super::looks::is_chosen(inner) && inner.len() >= 8)
    {
        found.push(Candidate { category: Category::DatabaseUrl, range: anchor.end..end });
        return;
    }
    let code = value
        .strip_suffix(b")")
        .is_some_and(|inner| super::looks::is_code(inner) || super::looks::is_placeholder(inner));
    if !code && speaks && value.len() >= 3 && !super::looks::is_placeholder(value) {
        found.push(Candidate { category: Category::DatabaseUrl, range: anchor.end..end });
    }
}
