//! What a name says about its value. The end of a name counts, so `token_url` and `password_file` are harmless.

use super::category::Category;

/// How much a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The value is a secret unless it is a placeholder or source code: `password`, `api_key`.
    Strong,
    /// The value is a secret only if it looks like one: `token`, `auth`, `session`.
    Weak,
    /// The value is a secret only if it looks generated: `key`.
    Faint,
    /// Digits: telephone, social security number.
    Digits,
    /// A seed, which may be a number that means nothing.
    Seed,
}

/// What is added to a secret's name and says nothing: `tokenValue`, `DB_PASSWORD_PROD`, `password_confirmation`.
const QUALIFIERS: [&str; 38] = [
    "base",
    "full",
    "value",
    "string",
    "text",
    "plain",
    "plaintext",
    "raw",
    "base64",
    "b64",
    "hex",
    "pem",
    "prod",
    "production",
    "staging",
    "stage",
    "dev",
    "test",
    "live",
    "old",
    "new",
    "current",
    "previous",
    "prev",
    "primary",
    "secondary",
    "confirm",
    "confirmation",
    "again",
    "repeat",
    "default",
    "content",
    "input",
    "v",
    "literal",
    "bytes",
    "encoded",
    "backup",
];

/// A name without its qualifiers, where what is left names a secret.
fn unqualified(plain: &str) -> &str {
    let kinds = [
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "pass",
        "secret",
        "token",
        "apikey",
        "secretkey",
        "privatekey",
        "privkey",
        "accesskey",
        "ssn",
    ];
    let left = QUALIFIERS.iter().filter_map(|end| plain.strip_suffix(end));
    let left = left.map(|left| left.trim_end_matches(|c: char| c.is_ascii_digit()));
    left.filter(|left| kinds.iter().any(|kind| left.ends_with(kind)))
        .min_by_key(|left| left.len())
        .unwrap_or(plain)
}

/// `next_token`, `page token`: what everybody may see although it is called a token or a key.
pub(super) fn is_public(name: &[u8]) -> bool {
    // They end so, and most names do not.
    if !matches!(name.last(), Some(b'n' | b'N' | b'y' | b'Y' | b'e' | b'E')) {
        return false;
    }
    let plain: String = name
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    PUBLIC.iter().any(|end| plain.ends_with(end))
}

/// What there may be a list of.
const LISTED: [&str; 6] = ["password", "apikey", "authkey", "accesstoken", "apitoken", "secret"];

/// Ends of names that everybody may see.
const PUBLIC: [&str; 19] = [
    "publickey",
    "pubkey",
    "pubkeytoken",
    "publictoken",
    "tokentype",
    "keytoken",
    "pagetoken",
    "continuationtoken",
    "resumetoken",
    "synctoken",
    "nexttoken",
    "cursortoken",
    "cancellationtoken",
    "continuetoken",
    "unexpectedtoken",
    "parsererrortoken",
    "requesttoken",
    "clienttoken",
    "idempotencytoken",
];

/// The category and trust of a name, by its end.
pub(super) fn classify(name: &[u8]) -> Option<(Category, Trust)> {
    use Category::{
        ApiKey, Aws, Azure, BasicAuth, DatabaseUrl, Gcp, Password, Phone, PrivateKey, Ssn, Token, TotpSeed,
    };
    let plain: String = name
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let plain = unqualified(plain.trim_end_matches(|c: char| c.is_ascii_digit()));
    let last = plain.as_bytes().last();
    // The last byte decides most of them.
    let ends = |ends: &[&str]| ends.iter().any(|end| end.as_bytes().last() == last && plain.ends_with(end));
    let has = |parts: &[&str]| parts.iter().any(|part| plain.contains(part));
    let is = |names: &[&str]| names.contains(&plain);
    if ends(&PUBLIC) {
        return None;
    }
    // A list of secrets: each of them must look like one.
    if let Some(one) = plain.strip_suffix('s').filter(|one| LISTED.iter().any(|end| one.ends_with(end))) {
        return Some((if one.ends_with("password") { Password } else { Token }, Trust::Weak));
    }
    let secretive = ends(&[
        "key",
        "secret",
        "token",
        "password",
        "pass",
        "pwd",
        "signature",
        "credential",
        "sas",
        "pat",
        "seed",
    ]);
    if ends(&[
        "awssecretaccesskey",
        "secretaccesskey",
        "awssecretkey",
        "awssessiontoken",
        "xamzsecuritytoken",
        "xamzsignature",
        "awsaccesskeyid",
        "accesskeyid",
        "xamzcredential",
    ]) || (secretive && has(&["aws", "amazon", "s3secret", "bedrock"]))
    {
        return Some((Aws, if has(&["id"]) && ends(&["keyid"]) { Trust::Weak } else { Trust::Strong }));
    }
    if ends(&[
        "accountkey",
        "sharedaccesskey",
        "sharedaccesssignature",
        "cosmoskey",
        "storagekey",
        "ocpapimsubscriptionkey",
        "instrumentationkey",
        "subscriptionkey",
    ]) || (secretive && has(&["azure", "armclient", "aadclient", "cosmosdb", "azcopy"]))
    {
        return Some((Azure, Trust::Strong));
    }
    if ends(&["privatekeyid"])
        || (secretive && has(&["gcp", "gcloud", "google", "firebase", "gmaps", "cloudsdk"]))
    {
        return Some((Gcp, Trust::Strong));
    }
    // Few names have a part of these, so the others are not searched for each.
    let one_time = || {
        has(&[
            "totp",
            "otpsecret",
            "otpseed",
            "otpkey",
            "mfasecret",
            "mfaseed",
            "mfakey",
            "twofactorsecret",
            "twofactorkey",
            "authenticatorkey",
            "authenticatorsecret",
            "googleauth",
            "2fasecret",
        ]) || (plain.contains("2fa") && ends(&["secret", "seed", "key"]))
    };
    if is(&["setupkey", "otp", "mfa", "2fa"]) || (has(&["otp", "fa", "auth"]) && one_time()) {
        return Some((TotpSeed, Trust::Weak));
    }
    if ends(&[
        "privatekey",
        "privkey",
        "secretseed",
        "nanoseed",
        "walletseed",
        "masterseed",
        "signingseed",
        "keypair",
        "seedhex",
        "wif",
        "xprv",
        "deploykey",
        "hostkey",
        "walletkey",
        "walletsecret",
        "privateexponent",
    ]) || is(&["priv", "mkdump"])
    {
        return Some((PrivateKey, Trust::Seed));
    }
    if is(&["seed", "secretkey", "sk"]) || ends(&["seed", "mnemonic", "seedphrase", "recoveryphrase"]) {
        return Some(if is(&["secretkey", "sk"]) {
            (ApiKey, Trust::Strong)
        } else {
            (PrivateKey, Trust::Seed)
        });
    }
    if ends(&[
        "password",
        "passwd",
        "passphrase",
        "passwort",
        "passord",
        "passordet",
        "adgangskode",
        "adgangskoden",
        "jelszo",
        "lozinka",
        "userpass",
        "dbpass",
        "rootpass",
        "smtppass",
        "mysqlpwd",
        "userpwd",
        "dbpwd",
        "keypass",
        "storepass",
        "kennwort",
        "motdepasse",
        "contrasena",
        "contrasea",
        "senha",
        "passe",
        "haslo",
        "wachtwoord",
        "parola",
        "heslo",
        "salasana",
        "losenord",
        "passcode",
        "passkey",
        "passwordhash",
        "pgpassword",
        "psk",
        "presharedkey",
        "presharedsecret",
        "keycontent",
    ]) {
        return Some((Password, Trust::Strong));
    }
    if ends(&["pass", "pwd"]) && !ends(&["bypass", "compass", "renderpass", "oldpwd", "lopass", "highpass"]) {
        // The shell's working folder is called PWD; a name that only ends so is a password.
        return Some((Password, if is(&["pwd"]) { Trust::Weak } else { Trust::Strong }));
    }
    if ends(&[
        "apikey",
        "keyvalue",
        "apitoken",
        "apisecret",
        "apihash",
        "apphash",
        "accesskey",
        "appkey",
        "appsecret",
        "clientsecret",
        "consumersecret",
        "consumerkey",
        "secretkey",
        "signingkey",
        "encryptionkey",
        "masterkey",
        "licensekey",
        "writekey",
        "authkey",
        "servicekey",
        "integrationkey",
        "ingestkey",
        "signingsecret",
        "webhooksecret",
        "sharedsecret",
        "secretkeybase",
        "apiauth",
        "applicationkey",
        "sendkey",
        "serverkey",
        "restkey",
        "adminkey",
    ]) {
        return Some((ApiKey, Trust::Strong));
    }
    if ends(&[
        "authtoken",
        "accesstoken",
        "refreshtoken",
        "idtoken",
        "bearertoken",
        "sessiontoken",
        "csrftoken",
        "xsrftoken",
        "logintoken",
        "deploytoken",
        "bottoken",
        "registrytoken",
        "githubtoken",
        "gitlabtoken",
        "npmtoken",
        "usertoken",
        "cookie",
        "privatetoken",
        "jobtoken",
        "sessionid",
        "sessid",
        "codeverifier",
        "unsealkey",
        "sessionkey",
        "oauthtoken",
        "vaulttoken",
        "servicetoken",
        "personalaccesstoken",
        "authhash",
        "tokenauth",
    ]) {
        return Some((Token, Trust::Strong));
    }
    if ends(&["secret", "credentials", "credential"]) {
        return Some((Token, Trust::Strong));
    }
    // `connect.sid`, but not `UserSecretsId`.
    let sid = plain.ends_with("sid") && {
        let head = name.get(..name.len().saturating_sub(3)).unwrap_or_default();
        name.to_ascii_lowercase().ends_with(b"sid")
            && (head.is_empty()
                || head.ends_with(b"_")
                || head.ends_with(b".")
                || head.ends_with(b"-")
                || name.ends_with(b"Sid"))
    };
    if sid || ends(&["token", "session", "jwt", "bearer", "pat"]) && !ends(&["compat", "path"]) {
        return Some((Token, Trust::Weak));
    }
    if ends(&["secretid", "devicecode"]) {
        return Some((Token, Trust::Weak));
    }
    if ends(&["pw"]) {
        let promises = is(&["pw", "userpw", "inputpw", "ownerpw", "rootpw", "dbpw", "adminpw", "bindpw"]);
        return Some((Password, if promises { Trust::Strong } else { Trust::Weak }));
    }
    if ends(&["authtok"]) {
        return Some((Password, Trust::Weak));
    }
    if ends(&["creds", "authcred"]) || is(&["userpass"]) {
        return Some((BasicAuth, Trust::Strong));
    }
    if is(&["auth", "login", "userpwd", "httpuserpwd", "user", "userinfo", "authbasic", "basicauthuserinfo"])
        || ends(&["userinfo", "proxyuser"])
        || ends(&["auth"])
            && (name.starts_with(b"-")
                || name.ends_with(b".auth")
                || name
                    .iter()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_'))
        || ends(&["authident", "basicauth", "rawauth", "registryauth", "proxyauth", "optuserpwd"])
    {
        return Some((BasicAuth, Trust::Weak));
    }
    if ends(&["databaseurl", "dburl", "dsn", "connectionstring", "dburi", "databaseuri"]) {
        return Some((DatabaseUrl, Trust::Weak));
    }
    if ends(&[
        "phone",
        "phonenumber",
        "phoneno",
        "mobil",
        "mobileno",
        "celular",
        "festnetz",
        "destaddr",
        "sourceaddr",
        "cell",
        "gsm",
        "rufnummer",
        "telefonnummer",
        "handynummer",
        "whatsapp",
        "mobile",
        "telephone",
        "telefon",
        "telefono",
        "telefone",
        "telefoon",
        "handy",
        "cellphone",
        "msisdn",
        "fax",
        "contactnumber",
        "mobilenumber",
        "callback",
        "tel",
    ]) && !ends(&["callback"])
        || ends(&["nummer", "number", "nr", "no", "num", "numero"])
            && has(&["mobil", "telefon", "handy", "phone", "fax", "cell", "whatsapp"])
    {
        return Some((Phone, Trust::Digits));
    }
    if is(&["ssn", "itin", "taxid", "taxpayerid", "taxpayeridentificationnumber"])
        || ends(&[
            "ssn",
            "socialsecuritynumber",
            "socialsecurityno",
            "securityno",
            "socialsecurity",
            "securitynumber",
        ])
    {
        return Some((Ssn, Trust::Digits));
    }
    (ends(&["key", "salt", "pepper"])
        && !ends(&[
            "monkey",
            "foreignkey",
            "hotkey",
            "cachekey",
            "sortkey",
            "partitionkey",
            "keykey",
            "websocketkey",
            "nodekey",
            "mkey",
            "hashkey",
            "resultkey",
            "rowkey",
            "objectkey",
            "idempotencykey",
            "nodekey",
            "startkey",
        ]))
    .then_some((ApiKey, Trust::Faint))
}
