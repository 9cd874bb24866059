"""Contexts and formats that only the held-out half has. Written after the rules were finished, and not used for them.

The first held-out half was looked at when it was measured, so its contexts went over to `development`; these replaced
them. So did the ones of aws once more. See make.py.
"""


def fresh(m):
    """{category: (formats, contexts)}; a format may return (context, secret) itself."""
    up, low, dig = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
    pem = "PRI" + "VATE KEY"
    base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    return {
        "api_key": (
            [lambda: "xai" + "-" + m.mixed(80), lambda: "NR" + "AK-" + m.s(up + dig, 26) + "7", lambda: "PM" + "AK-" + m.hex(24) + "-" + m.hex(34), lambda: "sk" + "_test_" + m.mixed(24),
             lambda: "shp" + "at_" + m.hex(32), lambda: "lin" + "_api_" + m.mixed(40), lambda: "key" + "-" + m.hex(32), lambda: m.mixed(36)],
            ["openai.AuthenticationError: Error code: 401 - api_key='{S}'", "[ERROR] main.tf:4: api_key    = \"{S}\"", "{\"headers\":{\"X-API-KEY\":\"{S}\"}}", "+ export MAILGUN_API_KEY={S}",
             "- name: SERVICE_API_KEY\n  value: x\napiKey={S}", "requests.get(url, params={'api_key': '{S}'})", "Loaded appSecret={S} for tenant 4", "terraform.tfvars: newrelic_license_key = \"{S}\"",
             "APIKEY: {S}", "ALGOLIA_ADMIN_KEY={S}", "npm run deploy -- --apiKey={S}", "E   KeyError for API-Key: {S}", "POST /v1?apikey={S} HTTP/1.1"],
        ),
        "password": (
            [m.password],
            ["psql: connection to server failed: host=db user=bob password={S} dbname=shop", "ansible_ssh_pass={S}", "    \"smtpPassword\": \"{S}\"", "kubectl create secret generic x --from-literal=password={S}",
             "helm upgrade x --set auth.password={S}", "tomcat-users.xml: <user username=\"bob\" password=\"{S}\"/>", "rabbitmqctl add_user bob; default_pass = {S}", "ldapsearch -D cn=admin -w {S} -b dc=x",
             "MARIADB_ROOT_PASSWORD: '{S}'", "echo \"bob:x\"; PASSWORD=\"{S}\" ./run.sh", "jdbc.password = {S}", "keytool error: -storepass {S}", "{'user': 'bob', 'passwd': '{S}', 'port': 3306}",
             "[client]\npassword={S}", "unzip -P {S} backup.zip", "mongo --username bob --password {S} --host db", "OperationalError: (1045, password: '{S}')", "7z x -p{S} a.7z"],
        ),
        "token": (
            [lambda: "gh" + "o_" + m.mixed(36), lambda: "xo" + "xp-" + m.s(dig, 11) + "-" + m.s(dig, 11) + "-" + m.hex(32), lambda: "gl" + "rt-" + m.mixed(20), lambda: "rubygems" + "_" + m.hex(48), lambda: "nfp" + "_" + m.mixed(36),
             lambda: "da" + "pi" + m.hex(32), lambda: m.mixed(44), lambda: m.url64(33)],
            ["gh: HTTP 401: Bad credentials; GH_TOKEN={S}", "always-auth=true\n_authToken=\"{S}\"", "X-Vault-Token: {S}", "netlify deploy --auth-token {S}", "{\"access_token\":\"{S}\",\"expires_in\":3600}",
             "JOB-TOKEN: {S}", "  slack_token: '{S}'", "ERROR HEX_API_TOKEN={S} rejected", "twine upload -u __token__; TWINE_TOKEN={S}", "Cookie: _session={S}; theme=dark", "oauth_token = {S}",
             "Authorization: OAuth Bearer {S}", "wss://rt.example.com/?token={S}", "let client = Client::new().bearer_auth(); // token = \"{S}\"", "DISCORD_BOT_TOKEN='{S}'", "csrf_token={S}"],
        ),
        "private_key": (
            [lambda: ("key: |\n  {S}\n", m.pem("EC " + pem, newline="\n  ")), lambda: ("PRIVATE_KEY='{S}'", m.pem(pem, newline="\\n")), lambda: ("> {S}", m.pem("DSA " + pem, newline="\n> ")),
             lambda: ("id.json: {S}", m.array()), lambda: ("let secret: [u8; 64] = {S};", m.array()), lambda: ("wallet seed: {S}", m.hex(64)), lambda: ("recovery phrase = \"{S}\"", m.words(12)),
             lambda: ("cut:\n{S}\n", m.pem("OPENSSH " + pem, footer=False, lines=6)), lambda: ("{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"{S}\",\"x\":\"AAAA\"}", m.url64(32)),
             lambda: ("solana: privateKey: \"{S}\"", m.s(base58, 88)), lambda: ("...\n{S}\n", m.pem(pem, header=False, lines=6)), lambda: ("log of key body:\n{S}\n", m.pem(pem, header=False, footer=False, lines=6)),
             lambda: ("FIX_NANO_SEED: {S}", m.hex(64)), lambda: ("PEM: \"{S}\"", m.pem("RSA " + pem))],
            [],
        ),
        "database_url": (
            [lambda: f"postgresql+asyncpg://app:{m.mixed(12)}@10.2.0.4/app", lambda: f"mysql+pymysql://root:{m.mixed(9)}@127.0.0.1:3306/x?charset=utf8mb4", lambda: f"mongodb://admin:{m.mixed(16)}@m1:27017,m2:27017/db?authSource=admin",
             lambda: f"rediss://default:{m.mixed(32)}@cache.example.net:6380", lambda: f"amqp://guest2:{m.mixed(10)}@rabbit:5672/%2F", lambda: f"mariadb://u:{m.mixed(11)}@db/x", lambda: f"mssql+pyodbc://sa:{m.mixed(12)}@db/x?driver=ODBC",
             lambda: f"jdbc:mysql://db:3306/x?user=root&password={m.mixed(10)}&useSSL=false", lambda: f"postgres://u:p%40{m.mixed(8)}@db:5432/x", lambda: f"neo4j+s://neo4j:{m.mixed(20)}@graph.example.net",
             lambda: ("Server=tcp:db.example.net,1433;Database=x;User ID=sa;Password={S};Encrypt=True;", m.mixed(14)), lambda: ("Host=db;Port=5432;Username=bob;Password={S}", m.mixed(12))],
            ["panic: failed to connect to `{S}`", "sequelize: unable to connect with {S}", "goose: failed to open DB: {S}", "ActiveRecord::NoDatabaseError ({S})", "knexfile.js:4: connection: \"{S}\",",
             "diesel setup --database-url={S}", "sqlx::Error: {S}", "SQLALCHEMY_DATABASE_URI = '{S}'", "broker_url: {S}", "tried {S} 3 times"],
        ),
        "aws": (
            [lambda: "AK" + "IA" + m.s(up + "234567", 16), lambda: ("AWS_SECRET_KEY: {S}", m.s(low + up + dig + "+/", 40)), lambda: ("new BasicAWSCredentials(id, awsSecretKey=\"{S}\")", m.s(low + up + dig + "+/", 40)),
             lambda: ("{\"Credentials\":{\"SecretAccessKey\":\"{S}\",\"Expiration\":1}}", m.s(low + up + dig + "+/", 40)), lambda: ("fs.s3a.aws.secret.key={S}", m.s(low + up + dig + "+/", 40)),
             lambda: ("$env:AWS_SECRET_ACCESS_KEY=\"{S}\"", m.s(low + up + dig + "+/", 40)), lambda: ("setx AWS_SESSION_TOKEN {S}", "IQoJb3JpZ2lu" + m.b64(150)), lambda: ("X-Amz-Security-Token={S}&x=1", m.b64(90).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")),
             lambda: "AS" + "IA" + m.s(up + "234567", 16)],
            ["S3 error: 403 (InvalidAccessKeyId): {S}", "cdk: no role for {S}", "fs.s3a.access.key={S}", "sts: get-caller-identity with {S} expired", "accessKeyId: '{S}',", "[boto] key {S}:"],
        ),
        "gcp": (
            [lambda: "AI" + "za" + m.s(low + up + dig + "-_", 34) + "q", lambda: "ya" + "29." + m.url64(120), lambda: "GO" + "CSPX-" + m.s(low + up + dig, 28), lambda: ("    \"private_key_id\": \"{S}\"", m.hex(40)),
             lambda: ("GCP_SERVICE_TOKEN={S}", m.mixed(40)), lambda: ("\"refresh_token\": \"{S}\"", "1/" + "/0" + m.s(low + up + dig, 50)), lambda: ("firebase_api_key: {S}", "AI" + "za" + m.s(low + up + dig, 35)),
             lambda: ("gsutil hmac: access id {S}", "GO" + "OG1E" + m.s(up + dig, 56)), lambda: ("google_maps_key = '{S}'", m.mixed(30))],
            ["REQUEST_DENIED: {S}", "GET https://x.example.com/v1/models?key={S}", "oauth2: cannot fetch token: {S}", "const firebaseConfig = { apiKey: \"{S}\" }", "invalid authentication: {S}", "[gcloud] using {S}"],
        ),
        "azure": (
            [lambda: ("az storage blob list --account-key {S}", m.b64(64)), lambda: ("AZURE_STORAGE_CONNECTION_STRING=\"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={S}\"", m.b64(64)),
             lambda: ("client_secret = \"{S}\"", m.mixed(3) + "8Q~" + m.s(low + up + dig + "_-", 33) + "z"), lambda: ("HostName=x.example.net;DeviceId=d;SharedAccessKey={S}", m.b64(32)),
             lambda: ("azcopy cp 'https://x.example.net/c?sp=rw&st=2026&se=2027&sv=2024&sr=c&sig={S}' .", m.b64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")),
             lambda: ("'Ocp-Apim-Subscription-Key': '{S}'", m.hex(32)), lambda: ("azure_openai_key: {S}", m.hex(32)), lambda: ("AZURE_DEVOPS_EXT_PAT={S}", m.s(low + "234567", 52)),
             lambda: ("AccountEndpoint=https://x.example.net:443/;AccountKey={S};", m.b64(64)), lambda: ("AZURE_PASSWORD={S}", m.mixed(20)), lambda: ("ServicePrincipal secret {S} expired", m.mixed(3) + "7Q~" + m.s(low + up + dig + "_-", 33) + "z"),
             lambda: ("openai: {S} is invalid", m.mixed(52) + "JQQJ99" + m.s(up + dig, 7) + "AAAB" + m.mixed(16))],
            [],
        ),
        "basic_auth": (
            [lambda: ("< Authorization: Basic {S}", m.basic()), lambda: ("curl: (22) https://ci:{S}@jenkins.example.com/job/x returned 403", m.mixed(14)), lambda: ("--header='Authorization: Basic {S}'", m.basic()),
             lambda: ("pip config: extra-index-url = https://bob:{S}@nexus.example.com/simple", m.mixed(12)), lambda: ("npm config: //r.example.com/:_auth={S}", m.basic()), lambda: ("curl -X POST -u 'admin:{S}' localhost:9200", m.mixed(12)),
             lambda: ("http_proxy=http://svc:{S}@proxy:8080/ apt update", m.mixed(10)), lambda: ("{\"Authorization\":\"Basic {S}\"}", m.basic()), lambda: ("W: Failed to fetch https://bob:{S}@apt.example.com/dists/x", m.mixed(12)),
             lambda: ("maven: https://ci:{S}@nexus.example.com/repository/x.pom", m.mixed(16)), lambda: ("\"https://index.example.com/v1/\": { \"auth\": \"{S}\" }", m.basic()), lambda: ("rtsp://admin:{S}@10.0.0.9:554/stream", m.mixed(9)),
             lambda: ("curl --proxy-user bob:{S} http://x.example.com", m.mixed(9)), lambda: ("sftp://bob:{S}@files.example.com/in", m.mixed(12)), lambda: ("http --auth-type basic, AUTHORIZATION=Basic {S}", m.basic())],
            [],
        ),
        "git_credential": (
            [lambda: ("error: failed to push some refs to 'https://bob:{S}@github.com/o/r.git'", "gh" + "p_" + m.mixed(36)), lambda: ("remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://gitlab-ci-token:{S}@gitlab.example.com/o/r.git/'", m.mixed(20)),
             lambda: ("  Push  URL: https://bob:{S}@git.example.com/r.git", m.mixed(12)), lambda: ("https://bob:{S}@github.com", m.mixed(30)), lambda: ("go: git ls-remote -q https://{S}@github.com/o/r: exit status 128", "gh" + "o_" + m.mixed(36)),
             lambda: ("[url \"https://ci:{S}@git.example.com/\"]\n\tinsteadOf = x", m.mixed(22)), lambda: ("submodule.lib.url=https://u:{S}@bitbucket.org/o/lib.git", m.mixed(18)), lambda: ("npm ERR! git ls-remote https://{S}:@github.com/o/r.git", m.mixed(40)),
             lambda: ("error: RPC failed; remote https://bob:{S}@codeberg.org/o/r.git/", m.mixed(14)), lambda: ("git -c http.extraHeader='Authorization: Basic {S}' fetch", m.basic()), lambda: ("From https://x:{S}@github.com/o/r", m.mixed(24)),
             lambda: ("cargo: failed to fetch `https://bob:{S}@git.example.com/o/r`", m.mixed(18))],
            [],
        ),
        "credit_card": (
            [m.luhn],
            ["CHECK constraint failed: card_no = {S}", "{\"type\":\"visa\",\"number\":\"{S}\"}", "order 17: paid with {S}", "test_cards.py:8: {S} != masked", "PAN: {S}", "| bob | {S} | 11/28 |", "expected \"****\" but got \"{S}\"", "gateway rejected {S}: do not honor",
             "csv line 9: bob;{S};123", "cardNo={S}&exp=1128", "log.warn(\"charging {S}\")"],
        ),
        "ssn": (
            [m.ssn],
            ["applicant {S} not found", "{\"taxId\":\"{S}\"}", "UNIQUE constraint failed: people.ssn ({S})", "| Jane Doe | {S} |", "W2 box a: {S}", "Expected: {S}\nActual: null", "ERROR validating SSN '{S}': checksum", "ssn={S}&dob=1980-01-01", "people.json:3: \"{S}\",", "- {S}"],
        ),
        "phone": (
            [lambda: "+1 (" + m.nanp()[0] + ") " + "-".join(m.nanp()[1:]), lambda: "+1." + ".".join(m.nanp()), lambda: "+61 4" + m.s(dig, 2) + " " + m.s(dig, 3) + " " + m.s(dig, 3), lambda: "+86138" + m.s(dig, 8), lambda: "+34 6" + m.s(dig, 2) + " " + m.s(dig, 3) + " " + m.s(dig, 3),
             lambda: "1-" + "-".join(m.nanp()), lambda: "({}) {}-{}".format(*m.nanp()), lambda: "+4915" + m.s(dig, 9), lambda: ("telephone: {S}", "0" + m.pick("23456789") + m.s(dig, 8)), lambda: ("\"mobile\": \"{S}\"", "0" + m.pick("23456789") + m.s(dig, 9)),
             lambda: "+55 11 9" + m.s(dig, 4) + "-" + m.s(dig, 4), lambda: "+41 44 " + m.s(dig, 3) + " " + m.s(dig, 2) + " " + m.s(dig, 2)],
            ["SMS to {S} undeliverable", "{\"to\":\"{S}\"}", "tel:{S} is no link", "| bob | {S} |", "whatsapp: recipient {S} not in allow list", "Customer called from {S} at noon", "validation failed: {S} is too long", "contacts.vcf:4: TEL;TYPE=CELL:{S}", "sip: 404 for {S}"],
        ),
        "totp_seed": (
            [lambda: ("QR failed for otpauth://totp/Example:alice@example.com?algorithm=SHA1&secret={S}&period=30", m.base32(32)), lambda: ("TOTP_SEED: \"{S}\"", m.base32(32)), lambda: ("\"totpSecret\":\"{S}\"", m.base32(20)), lambda: ("OTP_SECRET={S}", m.base32(16)),
             lambda: ("google-authenticator: Your new secret key is: {S}", m.base32(26)), lambda: ("mfa_seed = '{S}'", m.base32(32)), lambda: ("TypeError: totp.verify('{S}')", m.base32(32)), lambda: ("oathtool: base32 decoding failed for {S}", m.base32(31)),
             lambda: ("two_factor_secret: {S}", m.base32(32)), lambda: ("authenticator secret: {S}", " ".join(m.base32(4) for _ in range(8))), lambda: ("2FA_SEED={S}", m.base32(16)), lambda: ("<totp>{S}</totp>", m.base32(32)), lambda: ("user.otpSecret = \"{S}\"", m.base32(24))],
            [],
        ),
        "jwt": (
            [m.jwt],
            ["WWW-Authenticate: Bearer error, got {S}", "Set-Cookie: auth={S}; Secure", "graphql: {\"authorization\": \"{S}\"}", "jwt decode {S}", "E   AssertionError: '{S}' != None", "KUBE_TOKEN={S}", "    token: \"{S}\"", "hasura: invalid x-hasura-admin {S}",
             "curl -H 'Authorization: Bearer {S}' http://127.0.0.1", "id_token_hint={S}&x=1", "thread 'main' panicked: bad token {S}", "[{S}]", "ANON_KEY: {S}"],
        ),
        "high_entropy_hex": (
            [lambda: m.hex(32), lambda: m.hex(64), lambda: m.hex(48), lambda: m.hex(40), lambda: m.hex(96), lambda: m.hex(64).upper()],
            ["cannot use {S} here", "master: {S}", "iv and cipher: {S}", "  - {S}", "NEXTAUTH_SECRET={S}", "'{S}' is not valid base64", "({S})", "Datadog: 403 for {S}", "x={S};", "got unexpected argument: {S}", "salt={S}", "vapid {S} refused", "license {S} expired"],
        ),
    }
