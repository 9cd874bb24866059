//! What a review found missed or redacted needlessly, by kind. Secrets are put together here, so that no scanner takes
//! this file for a leak.

use ed25519_dalek::SigningKey;
use std::sync::LazyLock;
use zx1_scrub::Scrubber;

static SCRUBBER: LazyLock<Scrubber> = LazyLock::new(Scrubber::new);

/// Of each context, whether the secret in place of `¤` is gone, whole.
pub(super) fn assert_gone(contexts: &[&str], secret: &str) {
    let left: Vec<String> = contexts
        .iter()
        .map(|context| context.replace('¤', secret))
        .filter(|text| {
            let start = text.find(secret).unwrap();
            let mut at = start;
            for finding in SCRUBBER.scrub(text).findings {
                if finding.range.start <= at {
                    at = at.max(finding.range.end);
                }
            }
            at < start + secret.len()
        })
        .collect();
    assert!(left.is_empty(), "not redacted:\n{}", left.join("\n"));
}

pub(super) fn assert_stays(lines: &[String]) {
    let redacted: Vec<String> = lines
        .iter()
        .map(|line| SCRUBBER.scrub(line).text)
        .zip(lines)
        .filter(|(scrubbed, line)| scrubbed != *line)
        .map(|(scrubbed, line)| format!("{line}\n  became {scrubbed}"))
        .collect();
    assert!(redacted.is_empty(), "{}", redacted.join("\n"));
}

#[test]
fn a_password_among_a_programs_arguments_is_found() {
    assert_gone(
        &[
            "mysql -uroot -p¤ shop",
            "mysqldump -u root --password=¤ shop",
            "curl -u bob:¤ https://example.com",
            "curl -sSu bob:¤ https://example.com",
            "sshpass -p ¤ ssh bob@example.com",
            "sshpass -p'¤' ssh bob@example.com",
            "requirepass ¤",
            "redis.conf:12: masterauth ¤",
            "net use Z: \\\\srv\\share /user:bob ¤",
            "net use Z: \\\\srv\\share ¤ /user:bob",
            "echo ¤ | sudo -S apt-get update",
            "echo '¤' | docker login -u bob --password-stdin",
            "ftp> quote PASS ¤",
            "---> PASS ¤",
            "USER bob\nPASS ¤",
            "wpa_passphrase home ¤",
            "\tpsk=\"¤\"",
            "htpasswd -b /etc/nginx/users bob ¤",
            "htpasswd -nb bob ¤",
            "chpasswd <<< 'bob:¤'",
            "echo 'bob:¤' | chpasswd",
            "smbclient //srv/share -U bob%¤",
            "rar a -hp¤ out.rar a",
            "7z x -p¤ a.7z",
            "http --auth bob:¤ example.com",
            "http -a bob:¤ PUT example.com",
            "xh -a bob:¤ example.com",
            "ab -n 10 -A bob:¤ https://example.com/",
            "ab -A bob:¤ -n 10 https://example.com/",
            "hey -a bob:¤ https://example.com",
            "lftp -u bob,¤ sftp://example.com",
            "lftp -u 'bob,¤' sftp://example.com",
            "skopeo copy --src-creds bob:¤ docker://a dir:b",
            "skopeo copy --dest-creds=bob:¤ dir:b docker://a",
            "java -jar jenkins-cli.jar -s https://x -auth bob:¤ list-jobs",
            "bundle config gems.example.com bob:¤",
            "requests.get(url, auth=('bob', '¤'))",
            "httpx.BasicAuth(\"bob\", \"¤\")",
            "<property name=\"javax.jdbc.password\">¤</property>",
            "<property name=\"hibernate.connection.password\" value=\"¤\"/>",
            "sqlplus scott/¤@//db.example.com:1521/ORCL",
            "ORA-12541: scott/¤@//db.example.com:1521/ORCL",
            "jdbc:oracle:thin:scott/¤@db:1521:xe",
            "sql.Open(\"mysql\", \"bob:¤@tcp(db:3306)/shop\")",
            "dsn: bob:¤@unix(/run/mysqld.sock)/shop",
        ],
        "hunter-2x9Q",
    );
    assert_gone(&["auth_hash ¤", "auth_hash=¤"], "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b");
}

#[test]
fn keys_of_clouds_and_bots_are_found() {
    let aws = ["wJalrXUtnFEMI/K7MDENG", "/bPxRfiCYzq3Zk8T1aB"].concat();
    assert_gone(&["AWS Secret Key [None]: ¤", "mc alias set s3 https://example.com AKID ¤"], &aws);
    assert_gone(
        &[
            "MWSAuthToken was amzn.mws.¤",
            "InstrumentationKey=¤;IngestionEndpoint=https://x/",
            "consul: ACL token ¤ not found",
        ],
        "27d2fd00-eafa-461f-99f5-3e4fbaf747fa",
    );
    let function = ["Zk3uXq81bB2", "nV7cM5aQ9wE4rT6yU0iOpLkJhGfDsAzXcVbN", "mAzFu12ab34=="].concat();
    assert_gone(&["https://x.azurewebsites.net/api/run?code=¤", "GET /api/run?name=a&code=¤ 401"], &function);
    let discord = ["MTA0NzM0MDk1MzM5NDkzOTgw", ".GZtWPz.", "EcZ89OwpO8CBlnfF-q1sL0GmtRjga98kZthyuf"].concat();
    assert_gone(&["client.run('¤')", "Improper ¤ given"], &discord);
}

#[test]
fn a_key_behind_log_prefixes_is_found() {
    let body = [
        "MIIEpAIBAAKCAQEAmttWjC879s0kfkuCpyEvTIPCpfzY2tc4tu/b+RZIbvv8qaJz",
        "wsLnyUHx2d4wqZ5YMnFjVofwwixtMHtnHxttZ0KyJZhLrn4lkDd3rOJAEgBXOabc",
        "abLnyUHx2d4wqZ5YMnFjVofwwixtMHtnHxttZ0KyJZhLrn4lkDd3rOJAEgBXOdef",
        "Zk3uXq81bB2nV7cM5aQ9wE4rT6yU0g==",
    ];
    let label = ["PRI", "VATE KEY-----"].concat();
    let whole: Vec<String> = [format!("-----BEGIN {label}")]
        .into_iter()
        .chain(body.map(str::to_owned))
        .chain([format!("-----END {label}")])
        .collect();
    for prefix in
        ["2026-11-03T10:11:12Z web-1  | ", "[stderr] ", "Nov  3 10:11:12 app[812]: ", "web_1  | ", "12 "]
    {
        for lines in [&whole[..], &whole[..4], &whole[1..]] {
            let text: String = lines.iter().map(|line| format!("{prefix}{line}\n")).collect();
            let scrubbed = SCRUBBER.scrub(&text).text;
            for line in body {
                assert!(!scrubbed.contains(&line[..16]), "{text}\nbecame\n{scrubbed}");
            }
        }
    }
}

#[test]
fn a_secret_key_of_solana_is_told_from_a_signature() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let secret = bs58::encode(key.to_keypair_bytes()).into_string();
    assert_gone(&["¤", "const k = \"¤\";", "import of ¤: bad checksum", "['¤', 1]"], &secret);
    let mut other = key.to_keypair_bytes();
    other[63] ^= 1;
    let (signature, address) = (bs58::encode(other).into_string(), bs58::encode([7; 32]).into_string());
    assert_stays(&[signature, format!("owner {address} is not the signer")]);
}

#[test]
fn numbers_of_persons_are_found() {
    assert_gone(&["SSN ¤ is a duplicate", "Social Security Number: ¤"], "384 83 6796");
    assert_gone(&["taxpayer id ¤", "\"ssn\":\"¤\"", "tax id: ¤"], "384836796");
    assert_gone(&["ITIN ¤ accepted"], "944-76-4764");
    assert_gone(&["¤ is not reachable", "tel ¤"], "0049 30 12345678");
    assert_gone(&["¤ is not reachable", "mobile: ¤"], "07700 900123");
    assert_gone(&["¤ is not reachable", "téléphone : ¤"], "06 12 34 56 78");
    assert_gone(&["tel:¤", "<a href=\"tel:¤\">"], "6505550123");
    assert_gone(&["Tel.: ¤", "Telefon: ¤", "handy: ¤"], "030 64578977");
}

#[test]
fn ids_and_checksums_stay() {
    let (hex32, hex40, hex64) = (
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    assert_stays(&[
        format!("error: Could not read {hex40}"),
        format!("error: unable to find {hex40}"),
        format!("vendor at {hex40}"),
        format!("jj op {hex64}{hex64}"),
        format!("Working copy now at: kxryzmor {hex40}"),
        format!("sha256sum mismatch: {hex64}"),
        format!("integrity check failed: got {hex64}"),
        format!("cache key: {hex64}"),
        format!("artifact {hex40}.tar.gz"),
        format!("registry/app:{hex40}"),
        format!("registry.example.com/team/app:{hex40} not found"),
        format!("magnet:?xt=urn:btih:{hex40}"),
        format!("span id {hex32}"),
        format!("\"yarnLock\": \"{hex64}\","),
        format!("\"kid\": \"{hex40}\""),
        format!("gpg: using RSA key {}", hex40.to_uppercase()),
        "error: a value is required for '--password <PASSWORD>' but none was supplied".to_owned(),
        "error: '--password <PASSWORD>' requires a value".to_owned(),
        "00000010  06 12 34 56 78 90".to_owned(),
        "0012 34 56 78 90".to_owned(),
        "mkpasswd: PASS 3 of 4".to_owned(),
        "echo done | tee log".to_owned(),
    ]);
}

#[test]
fn values_that_names_do_not_stand_right_before_are_found() {
    let password = "hunter-2x9Q";
    assert_gone(
        &[
            "user.setPassword(\"¤\");",
            "Builder::new().password(\"¤\")",
            "nmcli dev wifi connect home password ¤",
            "- name: DB_PASSWORD\n  value: ¤",
            "{\"name\": \"DB_PASSWORD\", \"value\": \"¤\"}",
            "password <- \"¤\"",
        ],
        password,
    );
    let key = ["Nv1nZk3uXq81", "bB2nV7cM5aQ9wE4r"].concat();
    assert_gone(&["\"¤\" is not a valid x-api-key", "x_api_key (¤) was rejected"], &key);
    let seed = ["MSQIDCBWKEFM2O72", "IWBECGZWNJQAXVZH"].concat();
    assert_gone(
        &["otp_secret ¤ is invalid", "INSERT INTO u (mfa_secret) VALUES ('¤')", "pyotp.parse('¤')"],
        &seed,
    );
    let phrase = "alien add zone alone almost vendor word admit wool velvet above adapt";
    assert_gone(&["backup phrase: ¤"], phrase);
    assert_stays(&[
        "error: --password requires an argument".to_owned(),
        "  -p, --password <PASSWORD>  [env: DB_PASSWORD=]".to_owned(),
        "password reset failed".to_owned(),
        "config.get_password(\"main\")".to_owned(),
    ]);
}

#[test]
fn hex_goes_unless_a_thing_is_named_right_before_it() {
    let (hex32, hex40, hex64) = (
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    for hex in [hex32, hex40, hex64] {
        assert_gone(
            &[
                "¤",
                "using ¤",
                "unexpected ¤ here",
                "invalid value: ¤",
                "argv[2] = ¤",
                "master: ¤",
                "openssl enc -K ¤",
                "unlock code ¤",
                "HASH_SALT=¤",
                "pepper: ¤",
                "session id ¤",
            ],
            hex,
        );
    }
    assert_stays(&[
        format!("note: switching to '{hex40}'"),
        format!("built from {hex40}"),
        format!("Bump serde from {hex40} to {hex40}"),
        format!("[main {hex40}] initial"),
        format!("Skipping {hex40}, already applied"),
        format!("Sentry: event {hex32}"),
        format!("if-none-match \"{hex32}\""),
        format!("fingerprint of key: {hex40}"),
        format!("b3: {hex32}-91c7cc03e3ad2375-1"),
        format!("index-{hex40} packed"),
        format!("version: 1.2.3+{hex40}"),
        format!("sccache: hash key {hex64}"),
        format!("crictl stop {hex64}"),
        format!("deploymentId={hex32}"),
        "datadog.trace_id: 4111111111111111".to_owned(),
    ]);
}

#[test]
fn a_secret_among_the_arguments_of_a_call_is_found() {
    assert_gone(
        &[
            "pymysql.connect(\"localhost\", \"bob\", \"¤\", \"shop\")",
            "mysqli_connect('localhost', 'bob', '¤', 'x');",
            "DriverManager.getConnection(url, \"bob\", \"¤\");",
            "$ldap->bind('cn=admin,dc=x', '¤');",
            "imap_open(\"{mail:993/ssl}\", \"bob\", \"¤\")",
            "signInWithEmailAndPassword(auth, \"a@b.c\", \"¤\")",
            "WiFi.begin(\"home\", \"¤\");",
            "keyStore.load(in, \"¤\".toCharArray());",
            "request.basic_auth 'bob', '¤'",
            ".basic_auth(\"bob\", Some(\"¤\"))",
            "Credentials(\"realm\", \"host\", \"bob\", \"¤\")",
            "bcrypt.compare('¤', hash)",
            "EXEC sp_addlogin 'bob', '¤'",
            "driver.findElement(By.id(\"pwd\")).sendKeys(\"¤\");",
            "I fill in \"Password\" with \"¤\"",
            "console.log(\"password:\", \"¤\")",
            "btoa(\"bob:¤\")",
            "echo -n 'bob:¤' | base64",
        ],
        "hunter-2x9Q!",
    );
    assert_stays(&[
        "bcrypt.compare(password, user.hash)".to_owned(),
        "connect(\"amqp.example.com\", \"vhost1\")".to_owned(),
        "jwt.sign(payload, privateKey, { algorithm: \"RS256\" })".to_owned(),
        "keyring.set_password(\"acme\", user, password)".to_owned(),
        "socket.bind(1234, () => { s.addMembership('224.0.0.114'); });".to_owned(),
    ]);
}

#[test]
fn a_member_with_a_neutral_name_belongs_to_the_secret_above_it() {
    assert_gone(
        &[
            "db_password:\n    value: ¤",
            "\"adminPassword\": {\n  \"value\": \"¤\"\n}",
            "variable \"db_password\" {\n  default = \"¤\"\n}",
            "{\"Name\":\"/prod/db/password\",\"Type\":\"SecureString\",\"Value\":\"¤\"}",
            "ParameterKey=DBPassword,ParameterValue=¤",
            "<key>Password</key>\n<string>¤</string>",
            "DB_PASSWORD_PROD=¤",
            "password_confirmation: '¤'",
            "keychain password (plain): ¤",
        ],
        "hunter-2x9Q!",
    );
    assert_stays(&[
        "\"password\": {\"type\": \"string\", \"minLength\": 8}".to_owned(),
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db".to_owned(),
        "variable \"token\" {\n  description = \"API token\"\n}".to_owned(),
    ]);
}

#[test]
fn what_is_said_to_be_the_password_is_found() {
    assert_gone(
        &[
            "trying bob:¤ on 10.0.0.3",
            "logged in with bob / ¤",
            "[ERROR] auth failed for bob using '¤'",
            "The password of bob was reset to ¤",
            "rotated db password from ¤ to other",
            "ssh: Password for bob@10.0.0.2: ¤",
            "note to self: root pw is ¤",
            "senha: ¤",
            "пароль: ¤",
            "密码: ¤",
            "INSERT INTO users (name, password) VALUES ('bob', '¤')",
            "kinit bob <<< '¤'",
            "rsync --password-file=<(echo ¤)",
            "expect: send \"¤\\r\"",
            "ACL SETUSER bob on >¤ ~* +@all",
            "WIFI:T:WPA;S:home;P:¤;;",
            "username bob privilege 15 secret ¤",
            "tacacs-server key ¤",
            "rootpw --plaintext ¤",
            "DefaultPassword REG_SZ ¤",
            "{\"url\":\"postgres:\\/\\/bob:¤@db\\/x\"}",
            "SQL> conn bob/¤@X",
        ],
        "hunter-2x9Q!",
    );
    assert_stays(&[
        "let password = rpassword::prompt_password(\"Password: \")?;".to_owned(),
        "read -rs -p \"Password: \" PASSWORD".to_owned(),
        "if you pass `CannotReallocInPlace` to it".to_owned(),
        "password policy: min_length=12 require_digit=true".to_owned(),
        "password: {{ .Values.db.password | b64enc | quote }}".to_owned(),
        "DB_PASSWORD: prod/db:password".to_owned(),
        "WARNING! Using --password via the CLI is insecure.".to_owned(),
        "undefined method `password=' for #<User:0x0000b1d6>".to_owned(),
        "type Mutation { login(email: String!, password: String!): Payload! }".to_owned(),
    ]);
}

#[test]
fn a_key_beside_its_id_is_found_and_a_digest_stays() {
    let id = ["AKIA", "NTDUD6O326G7Z573"].concat();
    let secret = ["MX/cw2qzRzGPdbe0/2JMO", "lcno1zLb6B48Qaf4hHG"].concat();
    assert_gone(
        &[&format!("new AmazonS3Client(\"{id}\", \"¤\")"), &format!("access key {id} / secret ¤")],
        &secret,
    );
    let digest = "92abeb16d6379faf6cc34692b16319748260cd67bd761055a114b94301ec0704";
    assert_stays(&[
        format!("PS C:\\> (Get-FileHash .\\setup.exe).Hash\n{digest}"),
        format!("public_key: hex!(\"{digest}\"),"),
        format!("topic0 0x{digest} Transfer"),
        format!("topics: [\"0x{digest}\"]"),
        format!("\"jason\": {{:hex, :jason, \"1.4.1\", \"{digest}\", [:mix]}}"),
    ]);
}

#[test]
fn a_pair_in_any_dress_is_found() {
    assert_gone(
        &[
            "lwp-request -C bob:¤ https://example.com",
            "oras push registry.example.com/a -u bob -p ¤",
            "[BasicAuth]\nbob: ¤",
            "GET /\nAuthorization: Basic bob ¤",
            "decoded header: bob:¤ (Basic)",
            "PlainTextAuthProvider('bob', '¤')",
            "new Sequelize('shop', 'bob', '¤', { host: 'db' })",
            "$req->authorization_basic('bob', '¤');",
            "basic_auth: {\"bob\", \"¤\"}",
            "NEO4J_AUTH=bob/¤",
            "exp bob/¤@shop file=a.dmp",
            "db2 connect to shop user bob using ¤",
            "signtool sign /f a.pfx /p ¤ app.exe",
        ],
        &["Kq7vZ", "w2mXpL"].concat(),
    );
}

#[test]
fn a_sentence_in_another_language_and_a_failed_comparison_give_a_password_away() {
    assert_gone(
        &[
            "Das Passwort für den Benutzer root lautet ¤",
            "passordet til serveren er ¤",
            "La contraseña del servidor es ¤",
            "Lösenordet är ¤",
            "is the password still ¤?",
            "wrong password for backup: expected \"¤\"",
            "password mismatch\n  - expected: '¤'\n  + actual: undefined",
        ],
        &["Dw8et5", "SwBGEsFU"].concat(),
    );
    assert_gone(
        &["wg genkey\n¤", "az account get-access-token\n¤"],
        &["7XQO1pWESKUZhRf9", "3t7Ks1ZMPHUp"].concat(),
    );
    assert_gone(&["heroku auth:token\n¤"], &["56c12506-05fb-cfa4", "-1ed4-1008f175b882"].concat());
}

#[test]
fn a_number_behind_words_about_it_is_found() {
    let number = ["584", "204265"].concat();
    assert_gone(&["SSN (unformatted) ¤", "SSN as entered: ¤", "REF*SY*¤~"], &number);
    let number = ["0151 ", "78236538"].concat();
    assert_gone(&["Mobilnummer: ¤", "Tel. Empfänger ¤", "contact number ¤"], &number);
}

#[test]
fn code_and_messages_that_name_a_secret_stay() {
    assert_stays(
        &[
            "protected $hidden = ['password', 'remember_token'];",
            "$request->validate(['password' => 'required|min:12']);",
            "<input type=\"password\" :placeholder=\"$t('password')\">",
            "expected \"-----BEGIN PRIVATE KEY-----\", found end of file",
            "man: -p, --passphrase  ask for the passphrase",
            "sed -i 's/password=.*/password=/' app.ini",
            ": \"${API_KEY:?API_KEY must be set}\"",
            "db.password=@db.password@",
            "No existing credentials found. Please log in or pass \"--token\"",
            "TLS Error: Auth Username/Password was not provided by peer",
            "ALTER TABLE users ADD COLUMN password_hash bytea;",
        ]
        .map(str::to_owned),
    );
}

#[test]
fn a_password_in_a_column_is_found_and_the_heading_of_documentation_stays() {
    assert_gone(
        &[
            "| Host | User | Password |\n|---|---|---|\n| db | bob | ¤ |",
            " name | password \n------+----------\n bob  | ¤",
            "user,password\nbob,¤",
            "│ admin_password │ ¤ │",
        ],
        "Berlin#2845",
    );
    assert_stays(
        &[
            "| Name | Type | Default | Description |\n|---|---|---|---|\n| password | string | \"\" | The password |",
            "| User | Password |\n|---|---|\n| bob | (ask ops) |",
            "user,password\nbob,(ask ops)",
        ]
        .map(str::to_owned),
    );
}

#[test]
fn a_name_and_a_password_in_one_word_are_found_in_quotes_and_behind_any_flag() {
    assert_gone(
        &[
            "subprocess.run(['curl','-u','bob:¤',url])",
            "user = \"bob:¤\"",
            "npmAuthIdent: \"bob:¤\"",
            "streamlink --http-basic bob:¤",
            "transmission-remote -n 'bob:¤' -l",
            "sqlmap --auth-cred=\"bob:¤\"",
            "curl --user bob:\"¤\" https://example.com",
            "BUNDLE_GEMS__EXAMPLE__ORG: \"bob:¤\"",
            "COURSIER_CREDENTIALS=\"mvn.example.com bob:¤\"",
            "db1:26257:shop:bob:¤   # ~/.pgpass",
            "localhost:*:shop:bob:¤",
            "401 Unauthorized for bob:¤@git",
            "cvs -d :pserver:bob:¤@example.com:/cvs login",
            "davfs2 secrets: https://dav.example.com/files bob ¤",
            "/etc/ppp/pap-secrets\nbob\t*\t¤",
            "Login with bob and ¤",
        ],
        "Berlin#2845",
    );
    assert_stays(
        &[
            "root:*:19000:0:99999:7:::",
            "docker run -p 8080:80 -u 1000:1000 nginx",
            "docker run -u www-data:www-data -v data:/var nginx:1.27-alpine",
            "src/main.rs:12:5: error: expected item",
            "\"string-width-cjs\": \"npm:string-width@^4.2.0\"",
            "BUNDLE_WITHOUT: \"development:test\"",
            "jdbc:oracle:thin:@db.example.com:1521:XE",
            "hostname:port:database:username:password",
            "uses: actions/checkout@v4",
            "Password reset mail sent to bob@example.com",
        ]
        .map(str::to_owned),
    );
}

#[test]
fn a_password_among_the_arguments_of_a_connection_is_found_wherever_it_stands() {
    assert_gone(
        &[
            "env:connect(\"web\", \"bob\", \"¤\", \"db.example.com\", 5432)",
            "epgsql:connect(\"db.example.com\", \"bob\", \"¤\", #{database => \"web\"})",
            "database('orders','bob','¤','Vendor','PostgreSQL')",
            "SELECT * FROM mysql('db:3306', 'd', 't', 'bob', '¤');",
            "OPENROWSET('SQLOLEDB','db';'bob';'¤','select 1')",
            "cx_Oracle.connect(\"bob/¤@db/XE\")",
            "sqlplus -S bob/\"¤\"@shop",
            "jdbc:oracle:oci:bob/¤@shop",
            "pt-archiver D=shop,t=orders,u=bob,p=¤ --execute",
            "choco source add -n=corp -u=bob -p=¤",
            "primary_conninfo = 'user=bob password=''¤'' host=db'",
        ],
        "Berlin#2845",
    );
    assert_stays(
        &[
            "psycopg2.connect(host=host, user=user, password=password)",
            "requests.get(url, auth=(os.environ['U'], os.environ['P']))",
            "connect(\"tcp://127.0.0.1:5555\", \"readonly\", \"orders\")",
            "UPDATE users SET password=:pw WHERE id=:id",
        ]
        .map(str::to_owned),
    );
}

#[test]
fn a_password_in_an_element_a_default_or_a_log_of_a_dialogue_is_found() {
    assert_gone(
        &[
            "<setting name=\"DbPassword\" serializeAs=\"String\"><value>¤</value></setting>",
            "<property name=\"password\"><value>¤</value></property>",
            "ENV.fetch('ADMIN_PASSWORD') { '¤' }",
            "process.env.ADMIN_PASSWORD || '¤'",
            "os.getenv(\"ADMIN_PASSWORD\") or \"¤\"",
            "fill_in 'Password', with: '¤'",
            "await user.type(passwordInput, '¤');",
            "interact: sent '¤\\n' after prompt 'Password:'",
            "p.sendlineafter(b'Password: ', b'¤')",
            "Enter host password for user 'bob':¤",
            "initial admin password:\n¤",
            "mbsync: PassCmd \"echo ¤\"",
            "qemu-system-x86_64 -object secret,id=s0,data=¤",
            "machine example.com\n\tlogin bob\n\tpassword ¤",
            "    Key Content            : ¤",
            "net rpc -U bob%'¤' shutdown",
        ],
        "Berlin#2845",
    );
    assert_stays(
        &[
            "<setting name=\"PasswordLength\" serializeAs=\"String\"><value>12</value></setting>",
            "<string name=\"prompt_password\">Enter password</string>",
            "\"forgot_password\": \"Forgot password?\",",
            "PASSWORD=`openssl rand -base64 12`",
            "set /p PASSWORD=Enter password:",
            "read -rsp 'Enter password: ' pw",
            "password policy: MinimumLength=12",
            "echo ${{ secrets.DOCKER_PASSWORD }} | docker login -u ${{ secrets.DOCKER_USER }} --password-stdin",
            "\"ApiKey\": \"#{ApiKey}#\",",
        ]
        .map(str::to_owned),
    );
}
