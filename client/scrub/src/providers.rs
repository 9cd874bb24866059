//! Secrets that are known by how they begin.

use super::Candidate;
use super::category::Category;
use super::looks::is_random;
use super::memo::Settled;
use super::text::{Text, is_token, is_word};
use Category::{ApiKey, Aws, Azure, Gcp, Password, PrivateKey, Token};

/// Which bytes the rest of a secret may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Dashed,
    /// [`Self::Dashed`] with `.`, `~`, `+`, `/`, `=`, `%` and `:`.
    Loose,
    /// What password hashes are made of.
    Crypt,
}

/// A prefix, the alphabet of the rest, its least length, and what it is.
struct Form {
    prefix: &'static str,
    alphabet: Alphabet,
    least: usize,
    category: Category,
}

const fn form(prefix: &'static str, alphabet: Alphabet, least: usize, category: Category) -> Form {
    Form { prefix, alphabet, least, category }
}

use Alphabet::{Crypt, Dashed, Loose, Plain};

const FORMS: &[Form] = &[
    // Language models.
    form("sk-", Dashed, 20, ApiKey),
    form("sdk-", Dashed, 36, ApiKey),
    form("gsk_", Plain, 20, ApiKey),
    form("hf_", Plain, 20, ApiKey),
    form("r8_", Plain, 20, ApiKey),
    form("pplx-", Plain, 20, ApiKey),
    form("xai-", Plain, 20, ApiKey),
    form("nvapi-", Dashed, 20, ApiKey),
    form("fw_", Plain, 20, ApiKey),
    form("tgp_v1_", Dashed, 20, ApiKey),
    form("pcsk_", Dashed, 30, ApiKey),
    form("lsv2_", Dashed, 30, ApiKey),
    form("tvly-", Dashed, 20, ApiKey),
    form("fc-", Plain, 32, ApiKey),
    form("jina_", Plain, 30, ApiKey),
    form("e2b_", Plain, 32, ApiKey),
    form("rpa_", Plain, 32, ApiKey),
    form("csk-", Plain, 40, ApiKey),
    form("apify_api_", Plain, 30, ApiKey),
    form("voyage-", Plain, 40, ApiKey),
    form("pa-", Dashed, 40, ApiKey),
    form("ctx7sk-", Dashed, 20, ApiKey),
    // Payment, mail, telephony, monitoring.
    form("rzp_live_", Plain, 14, ApiKey),
    form("rzp_test_", Plain, 14, ApiKey),
    form("cal_live_", Plain, 20, ApiKey),
    form("FLWSECK", Dashed, 20, ApiKey),
    form("sk_prod_", Plain, 20, ApiKey),
    form("sk_org_", Plain, 20, ApiKey),
    form("access-production-", Dashed, 30, ApiKey),
    form("access-sandbox-", Dashed, 30, ApiKey),
    form("shippo_live_", Plain, 30, ApiKey),
    form("shippo_test_", Plain, 30, ApiKey),
    form("EZTK", Plain, 50, ApiKey),
    form("dt0c01.", Loose, 40, Token),
    form("dt0s01.", Loose, 40, Token),
    form("NRJS-", Plain, 19, ApiKey),
    form("NRIQ-", Dashed, 20, ApiKey),
    form("glc_eyJ", Loose, 20, ApiKey),
    form("rnd_", Plain, 24, ApiKey),
    form("hbp_", Plain, 20, ApiKey),
    form("phs_", Plain, 20, ApiKey),
    form("CFPAT-", Dashed, 30, Token),
    form("mob-", Dashed, 36, ApiKey),
    form("live_", Plain, 35, ApiKey),
    form("test_", Plain, 35, ApiKey),
    form("shppa_", Plain, 20, ApiKey),
    form("rdme_", Plain, 40, ApiKey),
    form("lin_oauth_", Plain, 20, ApiKey),
    form("secret_", Plain, 40, ApiKey),
    form("pnu_", Plain, 30, ApiKey),
    form("xata_", Dashed, 20, ApiKey),
    form("AKCp", Plain, 60, ApiKey),
    form("cmVmdGtu", Plain, 40, Token),
    form("AQVN", Dashed, 30, ApiKey),
    form("dnkey-", Dashed, 30, ApiKey),
    form("wsk_", Plain, 30, ApiKey),
    form("sk_live_", Plain, 10, ApiKey),
    form("sk_test_", Plain, 10, ApiKey),
    form("rk_live_", Plain, 10, ApiKey),
    form("rk_test_", Plain, 10, ApiKey),
    form("pk_live_", Plain, 10, ApiKey),
    form("whsec_", Loose, 20, ApiKey),
    form("SG.", Loose, 30, ApiKey),
    form("SK", Plain, 32, ApiKey),
    form("key-", Plain, 32, ApiKey),
    form("re_", Dashed, 20, ApiKey),
    form("xkeysib-", Dashed, 32, ApiKey),
    form("sq0csp-", Dashed, 20, ApiKey),
    form("sq0atp-", Dashed, 20, ApiKey),
    form("EAAA", Dashed, 40, Token),
    form("NRAK-", Plain, 20, ApiKey),
    form("NRII-", Dashed, 20, ApiKey),
    form("PMAK-", Dashed, 30, ApiKey),
    form("lin_api_", Plain, 20, ApiKey),
    form("ntn_", Plain, 20, ApiKey),
    form("figd_", Dashed, 20, ApiKey),
    form("glsa_", Dashed, 20, ApiKey),
    form("glc_", Loose, 20, ApiKey),
    form("sntrys_", Loose, 20, ApiKey),
    form("sntryu_", Plain, 20, ApiKey),
    form("phc_", Plain, 20, ApiKey),
    form("phx_", Plain, 20, ApiKey),
    form("ddapi_", Plain, 20, ApiKey),
    form("dd_", Plain, 32, ApiKey),
    form("shpat_", Plain, 20, ApiKey),
    form("shpss_", Plain, 20, ApiKey),
    form("shpca_", Plain, 20, ApiKey),
    form("pat-na1-", Dashed, 20, ApiKey),
    form("duffel_live_", Dashed, 20, ApiKey),
    form("CLOJARS_", Plain, 20, Token),
    form("LTAI", Plain, 16, ApiKey),
    form("AKID", Plain, 28, ApiKey),
    // Code hosts, registries, chat, infrastructure.
    form("ghp_", Plain, 20, Token),
    form("gho_", Plain, 20, Token),
    form("ghu_", Plain, 20, Token),
    form("ghs_", Plain, 20, Token),
    form("ghr_", Plain, 20, Token),
    form("github_pat_", Dashed, 20, Token),
    form("glpat-", Loose, 15, Token),
    form("gldt-", Dashed, 15, Token),
    form("glrt-", Loose, 15, Token),
    form("glcbt-", Dashed, 15, Token),
    form("glptt-", Dashed, 15, Token),
    form("gloas-", Dashed, 15, Token),
    form("glagent-", Dashed, 15, Token),
    form("ATBB", Plain, 24, Token),
    form("ATATT3", Loose, 24, Token),
    form("ATCTT3", Loose, 24, Token),
    form("xoxb-", Dashed, 10, Token),
    form("xoxa-", Dashed, 10, Token),
    form("xoxp-", Dashed, 10, Token),
    form("xoxr-", Dashed, 10, Token),
    form("xoxs-", Dashed, 10, Token),
    form("xoxe.", Loose, 10, Token),
    form("xoxc-", Dashed, 10, Token),
    form("xapp-", Dashed, 10, Token),
    form("npm_", Plain, 30, Token),
    form("sqp_", Plain, 40, Token),
    form("squ_", Plain, 40, Token),
    form("sqa_", Plain, 40, Token),
    form("pypi-", Dashed, 30, Token),
    form("cio", Plain, 32, Token),
    form("rubygems_", Plain, 32, Token),
    form("oy2", Plain, 43, Token),
    form("dckr_pat_", Dashed, 20, Token),
    form("dckr_oat_", Dashed, 20, Token),
    form("hvs.", Dashed, 20, Token),
    form("hvb.", Dashed, 20, Token),
    form("hvr.", Dashed, 20, Token),
    form("dp.pt.", Plain, 30, Token),
    form("dp.st.", Loose, 30, Token),
    form("dop_v1_", Plain, 32, Token),
    form("doo_v1_", Plain, 32, Token),
    form("dor_v1_", Plain, 32, Token),
    form("HRKU-", Dashed, 30, Token),
    form("fo1_", Dashed, 20, Token),
    form("fm2_", Loose, 20, Token),
    form("nfp_", Plain, 30, Token),
    form("dapi", Plain, 32, Token),
    form("pul-", Plain, 32, Token),
    form("sbp_", Plain, 30, Token),
    form("tfp_", Plain, 30, Token),
    form("bkua_", Plain, 30, Token),
    form("buildkite_", Plain, 30, Token),
    form("CCIPAT_", Dashed, 20, Token),
    form("sgp_", Dashed, 30, Token),
    form("vercel_", Plain, 20, Token),
    form("v2.local.", Loose, 20, Token),
    form("v4.local.", Loose, 20, Token),
    form("secret-token:", Loose, 10, Token),
    form("EZAK", Plain, 50, ApiKey),
    form("glft-", Dashed, 15, Token),
    form("glimt-", Dashed, 15, Token),
    form("glsoat-", Dashed, 15, Token),
    form("glffct-", Dashed, 15, Token),
    form("xoxe-", Dashed, 10, Token),
    form("xoxd-", Loose, 10, Token),
    form("tskey-", Dashed, 20, Token),
    form("SWMTKN-", Dashed, 40, Token),
    form("SWMKEY-", Dashed, 40, Token),
    form("sha256~", Dashed, 40, Token),
    form("pscale_", Dashed, 30, Token),
    form("p8e-", Plain, 30, Token),
    form("fm1r_", Loose, 20, Token),
    form("fm1a_", Loose, 20, Token),
    form("FlyV1 ", Loose, 20, Token),
    form("ops_", Loose, 60, Token),
    form("A3-", Dashed, 30, Token),
    form("RGAPI-", Dashed, 36, ApiKey),
    form("K10", Loose, 80, Token),
    form("SU", Plain, 54, Token),
    form("SA", Plain, 54, Token),
    form("ExponentPushToken[", Dashed, 20, Token),
    form("figu_", Dashed, 20, Token),
    form("EAAG", Plain, 60, Token),
    form("EAAC", Plain, 60, Token),
    form("IGQV", Dashed, 60, Token),
    form("sl.", Dashed, 60, Token),
    form("amzn1.oa2-cs.v1.", Plain, 30, ApiKey),
    form("API-", Plain, 26, ApiKey),
    form("v1.0-", Dashed, 100, ApiKey),
    form("sk.eyJ", Loose, 40, Token),
    form("gAAAAAB", Loose, 60, Token),
    form("ABTT", Plain, 24, Token),
    form("uat_", Plain, 30, Token),
    form("hvp.", Dashed, 20, Token),
    form("pat_", Plain, 40, Token),
    form("nfc_", Plain, 30, Token),
    form("nfo_", Plain, 30, Token),
    form("t1.", Loose, 80, Token),
    // Clouds.
    form("AKIA", Plain, 16, Aws),
    form("ASIA", Plain, 16, Aws),
    form("ABIA", Plain, 16, Aws),
    form("ACCA", Plain, 16, Aws),
    form("ABSK", Loose, 40, Aws),
    form("IQoJb3JpZ2lu", Loose, 40, Aws),
    form("FwoGZXIvYXdz", Loose, 40, Aws),
    // A service account in base64: `{"type":"service_account`, as `jq` and as the console write it.
    form("eyJ0eXBlIjogInNlcnZpY2VfYWNjb3Vud", Loose, 40, Gcp),
    form("eyJ0eXBlIjoic2VydmljZV9hY2NvdW50", Loose, 40, Gcp),
    form("ewogICJ0eXBlIjogInNlcnZpY2VfYWNjb3Vud", Loose, 40, Gcp),
    form("AAAA", Loose, 130, Gcp),
    form("amzn.mws.", Dashed, 36, Aws),
    form("AIza", Dashed, 30, Gcp),
    form("ya29.", Loose, 20, Gcp),
    form("GOCSPX-", Dashed, 20, Gcp),
    form("GOOG1E", Plain, 20, Gcp),
    form("GOOG", Plain, 20, Gcp),
    form("1//0", Dashed, 20, Gcp),
    form("4/0A", Dashed, 20, Gcp),
    // A private key's header in base64, of each kind.
    form("LS0tLS1CRUdJTiBQUklWQVRF", Loose, 30, PrivateKey),
    form("LS0tLS1CRUdJTiBSU0EgUFJJVkFUR", Loose, 30, PrivateKey),
    form("LS0tLS1CRUdJTiBFQyBQUklWQVRF", Loose, 30, PrivateKey),
    form("LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVE", Loose, 30, PrivateKey),
    form("LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVk", Loose, 30, PrivateKey),
    form("LS0tLS1CRUdJTiBEU0EgUFJJVkFUR", Loose, 30, PrivateKey),
    form("LS0tLS1CRUdJTiBQR1AgUFJJVkFUR", Loose, 30, PrivateKey),
    // Minisign's and signify's; public ones are short.
    form("RWR", Loose, 120, PrivateKey),
    form("suiprivkey1", Plain, 50, PrivateKey),
    form("edsk", Plain, 50, PrivateKey),
    form("edesk", Plain, 50, PrivateKey),
    form("spsk", Plain, 50, PrivateKey),
    form("ed25519-priv-", Plain, 40, PrivateKey),
    form("yprv", Plain, 100, PrivateKey),
    form("zprv", Plain, 100, PrivateKey),
    form("tprv", Plain, 100, PrivateKey),
    form("PVT_K1_", Plain, 40, PrivateKey),
    // Private keys.
    form("AGE-SECRET-KEY-1", Plain, 50, PrivateKey),
    form("AGE-PLUGIN-", Dashed, 30, PrivateKey),
    form("xprv", Plain, 100, PrivateKey),
    form("nsec1", Plain, 50, PrivateKey),
    // Password hashes.
    form("$apr1$", Crypt, 20, Password),
    form("$2a$", Crypt, 40, Password),
    form("$2b$", Crypt, 40, Password),
    form("$2y$", Crypt, 40, Password),
    form("$6$", Crypt, 40, Password),
    form("$5$", Crypt, 30, Password),
    form("$1$", Crypt, 20, Password),
    form("$y$", Crypt, 30, Password),
    form("$argon2", Crypt, 30, Password),
    form("{SHA}", Crypt, 20, Password),
    form("{SSHA}", Crypt, 20, Password),
    form("pbkdf2_sha256$", Crypt, 30, Password),
];

/// Every prefix, in the order that [`detect`] counts by.
pub(super) fn prefixes() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.prefix)
}

/// The secret that begins at `start`, if it is one of the form with that number.
pub(super) fn detect(text: Text<'_>, number: usize, start: usize, found: &mut Vec<Candidate>) {
    let Some(form) = FORMS.get(number) else { return };
    // The automaton ignores letter case, the prefixes do not.
    if !text.starts(start, form.prefix) || is_word(text.before(start)) || text.before(start) == b'-' {
        return;
    }
    // In these alphabets one may begin inside of another of its form. It ends where that one ends, so it adds
    // nothing; and if the longer one had too few digits, the shorter one has no more.
    let nests = matches!(form.alphabet, Alphabet::Loose | Alphabet::Crypt);
    if nests && start < text.1.settled(Settled::Form(number)) {
        return;
    }
    let body = start + form.prefix.len();
    let end = text.run(body, 4096, |byte| match form.alphabet {
        Alphabet::Plain => byte.is_ascii_alphanumeric(),
        Alphabet::Dashed => is_token(byte),
        Alphabet::Loose => is_token(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=' | b'%' | b':'),
        Alphabet::Crypt => {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'/' | b'$' | b'+' | b'=' | b',' | b'-' | b'_')
        }
    });
    if nests {
        text.1.settle_cut(Settled::Form(number), body..end, 4096);
    }
    let end = body
        + text
            .slice(body..end)
            .iter()
            .rposition(|byte| !matches!(byte, b'.' | b':' | b',' | b'-'))
            .map_or(0, |at| at + 1);
    let rest = text.slice(body..end);
    let upper = rest.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let digits = rest.iter().filter(|byte| byte.is_ascii_digit()).count();
    let shape = match form.prefix {
        // 16 characters of base32, no more.
        "AKIA" | "ASIA" | "ABIA" | "ACCA" => rest.len() == 16 && upper + digits == 16,
        "SK" | "dapi" => rest.len() == 32 && rest.iter().all(u8::is_ascii_hexdigit),
        // Words with dashes, such as `sk-learn-…` or `key-…`, have no digits, or small pieces.
        "sk-" => digits >= 2 && rest.split(|b| *b == b'-').any(|piece| piece.len() >= 16),
        // A server key of Firebase.
        "AAAA" => rest.get(7..14) == Some(b":APA91b"),
        "GOOG" => upper + digits == rest.len(),
        "SU" | "SA" => {
            rest.len() == 56 && rest.iter().all(|b| b.is_ascii_uppercase() || matches!(b, b'2'..=b'7'))
        }
        "cio" | "oy2" => rest.len() <= 48,
        // These begin names of things as well.
        "fc-" | "live_" | "test_" | "mob-" => {
            rest.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
        }
        "pa-" | "sl." | "A3-" | "pat_" | "secret_" | "API-" | "uat_" | "t1." | "ops_" => is_random(rest),
        _ => true,
    };
    // The secret is often the next argument or member.
    if form.category == Aws && shape && rest.len() == 16 {
        let mut at = end;
        while at < end + 64 {
            let start =
                text.run(at, 64, |byte| !super::text::is_base64(byte) && byte != b'\n' || byte == b'=');
            let stop = text.run(start, 42, super::text::is_base64);
            let word = text.slice(start..stop);
            if word.len() == 40 && is_random(word) && !word.iter().all(u8::is_ascii_hexdigit) {
                found.push(Candidate { category: Aws, range: start..stop });
            }
            if stop == start {
                break;
            }
            at = stop;
        }
    }
    // `AKIA…:secret`, as s3fs has it.
    let pair = end + 1..text.run(end + 1, 41, super::text::is_base64);
    if form.category == Aws && shape && rest.len() == 16 && text.at(end) == b':' && pair.len() == 40 {
        found.push(Candidate { category: Aws, range: pair });
    }
    if rest.len() >= form.least && (digits >= 1 || upper >= 3) && shape {
        found.push(Candidate { category: form.category, range: start..end });
    }
}

/// Azure's client secrets carry `Q~` in the middle, newer keys `JQQJ99`, tokens of Azure DevOps `AZDO`.
pub(super) fn azure(text: Text<'_>, anchor: usize, found: &mut Vec<Candidate>) {
    let part = |byte: u8| is_token(byte) || matches!(byte, b'.' | b'~');
    let start = text.run_back(anchor, 96, part);
    let end = text.run(anchor, 96, part);
    let before = anchor - start;
    let fits = if text.starts(anchor, "Q~") {
        before == 4 && (34..=42).contains(&(end - anchor)) && text.before(anchor).is_ascii_digit()
    } else {
        (text.starts(anchor, "JQQJ99") && before >= 40 && end - start >= 76)
            || (text.starts(anchor, "AZDO") && before == 76 && end - start == 84)
    };
    if fits {
        found.push(Candidate { category: Azure, range: start..end });
    }
}
