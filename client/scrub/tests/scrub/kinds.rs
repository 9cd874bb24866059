//! Kinds of places where secrets were missed: other languages, the line below, calls, bytes apart. Secrets are put
//! together here, so that no scanner takes this file for a leak.

use super::missed::{assert_gone, assert_stays};

#[test]
fn a_password_behind_its_name_in_another_script_is_found() {
    assert_gone(
        &[
            "Пароль от тестовой базы: ¤",
            "ПАРОЛЬ：¤",
            "ログインパスワードは「¤」です。",
            "数据库密码：¤",
            "Şifre: ¤",
            "mật khẩu: ¤",
            "κωδικός: ¤",
            "> lösenordet till servern är ¤ /Nils",
            "Hiro: user app, passwort ¤",
        ],
        "Berlin_2845x",
    );
    assert_stays(&["パスワードが正しくありません。abc123".to_owned(), "Пароль изменён (user123)".to_owned()]);
}

#[test]
fn a_secret_on_the_line_below_is_found() {
    assert_gone(
        &[
            "Password for the elastic user (reset with `bin/reset -u elastic`):\n  ¤",
            "$ kubectl get secret a -o jsonpath=\"{.data.password}\" | base64 -d; echo\n¤",
            "$ wg genkey | tee privatekey\n¤",
            "$ openssl rand -base64 18\n¤",
            "(gdb) p cfg->password\n$1 = 0x5555557a92c0 \"¤\"",
            "<AdministratorPassword>\n  <Value>¤</Value>",
            "  [\"password\"]=>\n  string(16) \"¤\"",
            "  # random_password.db will be created\n      + result = \"¤\"",
            "\"type\": \"random_password\", \"instances\": [{ \"attributes\": { \"length\": 16, \"result\": \"¤\" } }]",
            "id;login;passwort;abteilung\n7;bob;¤;Vertrieb",
        ],
        &["kSZSbBV6", "WLrXdB0R"].concat(),
    );
    assert_stays(&[
        "$ echo aGVsbG8= | base64 -d\nhello world".to_owned(),
        "(gdb) p cfg->password\n$1 = 0x0".to_owned(),
        "undefined method `password' for nil:NilClass (NoMethodError)\na.rb:20:in `create'".to_owned(),
        "https://x-access-token:${{ secrets.DB_PASSWORD }}@github.com/acme/a.git".to_owned(),
        "macro_rules! m { ($error:ty { $($p:pat => $($text:expr),+;)+ }) => {} }".to_owned(),
    ]);
}

#[test]
fn a_password_among_the_arguments_of_a_traced_call_is_found() {
    assert_gone(
        &[
            "#0 db.php(14): PDO->__construct('mysql:host=db', 'deploy', '¤')",
            "conn.Open \"DSN=a\", \"reporting\", \"¤\"",
            "AT+CWJAP=\"home\",\"¤\"",
        ],
        "yuki_matteo_95",
    );
    assert_gone(
        &["Keypair::from_base58_string(\"¤\")", "privateKeyToAccount(\"¤\")"],
        &["2QSXbc2raRZ9E1QxqdDoY5AQaB66H1Rcvd45BMRNHZ", "xmeZPZPaeaXxjnZJzpBQvvQ7Q69zBMvTXYzBC3QbVQ4Ji7"]
            .concat(),
    );
    assert_gone(
        &["createClient('https://x.supabase.co', '¤')"],
        &["sb_secret", "_sqR12LhAGROYl0hGRbSNMwZ31iI8_Jt"].concat(),
    );
    assert_gone(
        &["[error] PAT ¤ has expired"],
        &["7wtkaizd2huf5jl5ks6ykswxaot", "ou45ri6wwkoet5awhnkzkipgx"].concat(),
    );
    assert_gone(
        &["MG_KEY=¤; curl -s https://api.mailgun.net", "key ¤ rejected"],
        "14e3df91671c627b968b55e11bb35188-2c01c7d5-688ee24e",
    );
}

#[test]
fn hex_that_a_name_makes_a_secret_is_found() {
    let hex = "3b3683be9c39e634183e535404f5ccde";
    assert_gone(
        &[
            "SpeechConfig(subscription=\"¤\", region=\"x\")",
            "SET @@keyring_key = UNHEX('¤');",
            "Der Schlüssel für die Webhooks ist ¤, bitte tauschen",
            "TELEGRAM_API_HASH=¤",
            "snmpset -v3 -l authPriv -a SHA -3m 0x¤ nas.local",
            "seeds: [\"0x¤\"]",
        ],
        hex,
    );
    let whole = "0x3b3683be9c39e634183e535404f5ccde3b3683be9c39e634183e535404f5ccde";
    assert_gone(&["new Wallet(\"¤\", provider)", "accounts: [\"¤\"]"], whole);
    assert_gone(&["symmetric key ¤ (128 bit)", "psk = ¤"], "e4:d8:40:77:f6:d4:8d:0d:2d:9b:a8:f7:71:b5:17:08");
    assert_gone(
        &["unsigned char aes_key[16] = { ¤ };", "const secret = [¤]"],
        "0x1f, 0xf0, 0x02, 0x53, 0xcb, 0xe4, 0x41, 0x63, 0xfd, 0xae, 0x56, 0x88, 0xd2, 0xa8, 0x17, 0x80",
    );
    assert_gone(
        &["MK dump: ¤", "encryption key: ¤"],
        "0b0c 551d 8579 fecf 76d4 6a43 f0a1 1c7c c331 117a 589d cb3c 6aa2 652b 697b d707",
    );
    assert_gone(
        &["priv:\n    ¤", "privateExponent:\n    ¤"],
        "00:9f:d8:40:77:f6:d4:8d:0d:2d:9b:a8:f7:71:b5:17:08",
    );
    assert_stays(&[
        "RSA key fingerprint is MD5:e4:d8:40:77:f6:d4:8d:0d:2d:9b:a8:f7:71:b5:17:08".to_owned(),
        "public key: 04:d8:40:77:f6:d4:8d:0d:2d:9b:a8:f7:71:b5:17:08:11".to_owned(),
        "X509v3 Subject Key Identifier: E4:D8:40:77:F6:D4:8D:0D:2D:9B:A8:F7:71:B5:17:08".to_owned(),
        "pub:\n    04:9f:d8:40:77:f6:d4:8d:0d:2d:9b:a8:f7:71:b5:17:08".to_owned(),
        "primary key 10 20 30 40 50 60 70 80 90 10 20 30 40 50 60 70".to_owned(),
        "Die Prüfsumme ist sha256 3b3683be9c39e634183e535404f5ccde3b3683be9c39e634183e535404f5ccde"
            .to_owned(),
    ]);
}

#[test]
fn a_seed_whose_label_is_in_another_language_or_in_words_is_found() {
    assert_gone(
        &["2FA-Schlüssel: ¤", "Can't scan the QR code? Enter this key manually: ¤"],
        &["CLFS73N2", "RMOPGVGG"].concat(),
    );
    assert_gone(
        &["Can't scan the QR code? Enter this key manually: ¤"],
        &["kpxr ttkw wap7 skax ", "4mq7 x3nh 7v23 ysb2"].concat(),
    );
}

#[test]
fn a_number_is_found_whatever_language_names_it() {
    assert_gone(&["Celular: ¤", "telefone do cliente: ¤"], &["(21) 92516", "-7681"].concat());
    assert_gone(&["電話番号: ¤", "携帯電話：¤"], &["080-1132", "-0901"].concat());
    assert_gone(&["手机号: ¤", "电话：¤"], &["177601", "66779"].concat());
    assert_gone(&["Móvil ¤ (WhatsApp)", "móvil: ¤"], &["767 878", " 427"].concat());
    assert_gone(&["тел. ¤", "Телефон: ¤"], &["+7 (912) 345", "-67-89"].concat());
    assert_gone(&["Bitte unter ¤ zurückrufen, Frau Nakamura", "Tel: ¤"], &["089/255", "8871"].concat());
    assert_gone(&["driver.findElement(By.name(\"ssn\")).sendKeys(\"¤\");"], &["568 92", " 9444"].concat());
    assert_gone(&["05 WS-SSN PIC 9(9) VALUE ¤."], &["552", "681591"].concat());
    assert_stays(&["mobile 12345678 bytes".to_owned(), "Kapitel 03/2026 bis 04/2027".to_owned()]);
}

#[test]
fn digests_in_lists_and_records_stay() {
    let digest = "92abeb16d6379faf6cc34692b16319748260cd67bd761055a114b94301ec0704";
    let short = &digest[..40];
    assert_stays(&[
        format!("seed file regressions: cc {digest} # shrinks to input"),
        format!("\"https://deno.example.com/std/fmt/colors.ts\": \"{digest}\""),
        format!("{{<<\"jose\">>,<<\"{}\">>}}", digest.to_uppercase()),
        format!("example.org. 3600 IN TLSA 3 1 1 {}", digest.to_uppercase()),
        format!("sentinel monitor master {short} 10.1.2.7 6379"),
        format!("keys list\nKEY_ID\n{short}"),
        format!("InResponseTo=\"_{short}\""),
        format!("\"_rev\":\"3-{}\"", &digest[..32]),
        format!("https://kv.example.com/secrets/db/{}", &digest[..32]),
        format!("TokenCleanupJob JID-{}: fail", &digest[..24]),
    ]);
}
