"""Plants made-up secrets, and look-alikes that must stay, in the real output of failed commands.

    python3 tests/vectors/fix/scrubber/make.py          # writes corpus.jsonl
    python3 tests/vectors/fix/scrubber/make.py --check  # fails if corpus.jsonl differs

Deterministic: one seed, no clock, no machine. Every secret is random; no key of anybody is in here.

Each line of corpus.jsonl: {"half", "text", "secrets": [{"category", "start", "end"}], "clean": [[start, end]]},
offsets in bytes of UTF-8. `clean` are the look-alikes; everything else outside of `secrets` must stay too.

Two halves. `development` is what the rules are written against. `held_out` takes two thirds of its secrets from contexts and
formats that `development` has not (held_out.py), written after the rules. Real outputs are split by number: odd ones
to `development`, even ones to `held_out`. Whoever looks at the misses of `held_out` to change a rule moves those
contexts to `development` and writes new ones. That has happened twice:
to all categories after the first measurement, to aws after the second.
"""

import base64
import hashlib
import json
import pathlib
import random
import string
import sys

sys.dont_write_bytecode = True
from held_out import fresh  # noqa: E402

HERE = pathlib.Path(__file__).parent
LOW, UP, DIG = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOW + UP + DIG
DEV_COUNT, HELD_COUNT = 48, 48


class Maker:
    """Random values of every kind."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, items):
        return self.r.choice(items)

    def s(self, alphabet, count):
        return "".join(self.r.choice(alphabet) for _ in range(count))

    def mixed(self, count):
        while True:
            value = self.s(ALNUM, count)
            if any(c in DIG for c in value) and any(c in UP for c in value) and any(c in LOW for c in value):
                return value

    def hex(self, count):
        return self.s("0123456789abcdef", count)

    def b64(self, count):
        return base64.b64encode(bytes(self.r.randrange(256) for _ in range(count))).decode()

    def url64(self, count):
        return base64.urlsafe_b64encode(bytes(self.r.randrange(256) for _ in range(count))).decode().rstrip("=")

    def password(self):
        words = ["winter", "Dragon", "sunny", "Fox", "harbor", "Quartz", "lemon", "Falcon", "river", "Copper"]
        kind = self.r.randrange(5)
        if kind == 0:
            return self.pick(words) + self.pick(words) + str(self.r.randrange(10, 9999)) + self.pick("!#?*")
        if kind == 1:
            return self.mixed(12)
        if kind == 2:
            return self.mixed(5) + self.pick("!@#%^*+") + self.mixed(5) + self.pick("!#%^*")
        if kind == 3:
            return self.pick(words).lower() + str(self.r.randrange(100, 9999))
        return self.s(LOW, 4) + "-" + self.s(LOW + DIG, 5) + "-" + str(self.r.randrange(10, 99))

    def luhn(self):
        prefix, length = self.pick([("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("37", 15), ("34", 15), ("6011", 16), ("3530", 16)])
        body = prefix + self.s(DIG, length - len(prefix) - 1)
        total = 0
        for place, digit in enumerate(reversed(body)):
            value = int(digit) * (2 if place % 2 == 0 else 1)
            total += value - 9 if value > 9 else value
        number = body + str(-total % 10)
        sep = self.pick(["", " ", "-", " "])
        if not sep:
            return number
        groups = [4, 6, 5] if length == 15 else [4, 4, 4, 4]
        parts, at = [], 0
        for group in groups:
            parts.append(number[at:at + group])
            at += group
        return sep.join(parts)

    def ssn(self):
        area = self.pick([a for a in range(101, 772) if a != 666])
        return f"{area:03}-{self.r.randrange(1, 99):02}-{self.r.randrange(1, 9999):04}"

    def nanp(self):
        return f"{self.r.randrange(201, 989)}", f"{self.r.randrange(200, 999)}", f"{self.r.randrange(0, 9999):04}"

    def base32(self, count):
        return self.s(UP + "234567", count)

    def jwt(self):
        def part(value):
            return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")
        head = part(self.pick([{"alg": "HS256", "typ": "JWT"}, {"alg": "RS256", "kid": self.hex(8)}, {"typ": "JWT", "alg": "ES256"}]))
        return f"{head}.{part({'sub': self.s(DIG, 6), 'iat': 1700000000 + self.r.randrange(10**6)})}.{self.url64(32)}"

    def pem(self, label, newline="\n", lines=None, header=True, footer=True):
        body = self.b64(48 * (lines or self.r.randrange(3, 9)) + 20)
        rows = [body[at:at + 64] for at in range(0, len(body), 64)]
        begin, end = ["-" * 5 + f"{word} {label}" + "-" * 5 for word in ("BEGIN", "END")]
        return newline.join(([begin] if header else []) + rows + ([end] if footer else []))

    def array(self):
        sep = self.pick([",", ", "])
        return "[" + sep.join(str(self.r.randrange(256)) for _ in range(64)) + "]"

    def words(self, count=12):
        pool = ("ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic anchor bronze cactus deputy "
                "famous giggle hamster insect jungle kidney ladder magnet napkin orbit pepper rabbit salmon tunnel").split()
        return " ".join(self.pick(pool) for _ in range(count))

    def basic(self):
        return base64.b64encode(f"{self.s(LOW, 5)}:{self.password()}".encode()).decode()


# For each category of `development`: formats and contexts of the plain kind, formats and contexts of a rarer kind.
# A format makes the secret; a context is text with {S} where it stands. A format may return (context, secret) itself.
def catalogue(m):
    pem = "PRI" + "VATE KEY"
    gh, gl, sl = "gh" + "p_", "gl" + "pat-", "xo" + "xb-"
    user = lambda: m.s(LOW, 5)
    host = lambda: m.pick(["db.example.com", "10.0.3.7", "localhost", "db-1.internal", "pg.prod.example.net"])
    return {
        "api_key": (
            [lambda: "sk" + "-proj-" + m.mixed(48), lambda: "sk" + "_live_" + m.mixed(24), lambda: "SG" + "." + m.url64(16) + "." + m.url64(32),
             lambda: m.mixed(32)],
            ["OPENAI_API_KEY={S}", "{\"api_key\": \"{S}\"}", "error: invalid api_key: {S}", "x-api-key: {S}", "api-key = '{S}'",
             "tool --api-key {S} run", "https://api.example.com/v1?api_key={S}&q=1", "    client = Client(api_key=\"{S}\")"],
            [lambda: "sk" + "-ant-api03-" + m.url64(60), lambda: "rk" + "_live_" + m.mixed(30), lambda: "sk" + "-or-v1-" + m.hex(64),
             lambda: "SK" + m.hex(32), lambda: "gsk" + "_" + m.mixed(52), lambda: "hf" + "_" + m.mixed(34), lambda: m.hex(32), lambda: m.mixed(40)],
            ["Incorrect API key provided: apiKey={S}.", "  apiKey: '{S}',", "client_secret: {S}", "export STRIPE_SECRET_KEY='{S}'",
             "[config]\napi_secret = \"{S}\"", "curl -H 'X-Api-Key: {S}' http://127.0.0.1:8080", "DEBUG headers={'x-api-key': '{S}', 'accept': '*/*'}",
             "set APP_KEY={S}", "ENV DD_API_KEY {S}", "-Dservice.apiKey={S}", "<apiKey>{S}</apiKey>", "settings.py:12: API_KEY = '{S}'",
             "warn: using consumer_key={S} from environment", "{\\\"apiKey\\\":\\\"{S}\\\"}"],
        ),
        "password": (
            [m.password],
            ["DB_PASSWORD={S}", "password: {S}", "\"password\": \"{S}\",", "mysql -u root -p'{S}' shop", "PGPASSWORD={S} psql -h db",
             "--password {S}", "  File \"db.py\", line 3, in <module>: connect(user='bob', password='{S}')", "spring.datasource.password={S}"],
            [m.password],
            ["MYSQL_PWD={S} mysqldump shop", "machine ftp.example.com login bob password {S}", "ALTER USER bob WITH PASSWORD '{S}';",
             "ERROR 1045: CREATE USER 'a'@'%' IDENTIFIED BY '{S}'", "<password>{S}</password>", "sshpass -p '{S}' ssh bob@10.0.0.1",
             "smtp_pass = \"{S}\"", "      REDIS_PASSWORD: {S}", "export SUDO_PASS=\"{S}\"", "-Djavax.net.ssl.keyStorePassword={S}",
             "{\\\"user\\\":\\\"bob\\\",\\\"passwd\\\":\\\"{S}\\\"}", "openssl rsa -in k.pem -passin pass:{S}", "redis-cli -a {S} ping",
             "docker run -e POSTGRES_PASSWORD={S} postgres", "+ PASSPHRASE={S}", "mysqladmin -uroot -p{S} status", "ENV ROOT_PASSWORD {S}",
             "const cfg = { user: 'bob', password: \"{S}\" };"],
        ),
        "token": (
            [lambda: gh + m.mixed(36), lambda: gl + m.mixed(20), lambda: sl + m.s(DIG, 12) + "-" + m.mixed(24), lambda: m.mixed(40)],
            ["GITHUB_TOKEN={S}", "Authorization: Bearer {S}", "remote: bad token {S2}", "\"token\": \"{S}\"", "--token {S}", "access_token={S}"],
            [lambda: "github" + "_pat_" + m.mixed(22) + "_" + m.mixed(59), lambda: "npm" + "_" + m.mixed(36), lambda: "pypi" + "-AgEIcHlwaS5vcmc" + m.url64(60),
             lambda: "hvs" + "." + m.mixed(24), lambda: "dop" + "_v1_" + m.hex(64), lambda: "dckr" + "_pat_" + m.mixed(27), lambda: m.mixed(32), lambda: m.hex(40)],
            ["//npm.example.com/:_authToken={S}", "PRIVATE-TOKEN: {S}", "curl -H \"Authorization: token {S}\" http://127.0.0.1", "refresh_token: {S}",
             "[registry]\ntoken = \"{S}\"", "Set-Cookie: session={S}; Path=/; HttpOnly", "https://ci.example.com/hook?access_token={S}",
             "VAULT_TOKEN='{S}' vault read x", "{'Authorization': 'Bearer {S}'}", "npm ERR! _authToken={S}", "X-Auth-Token: {S}", "ARG NPM_TOKEN={S}",
             "sessionid={S}", "export CARGO_REGISTRY_TOKEN={S}", "    headers: { authorization: `Bearer {S}` }", "docker login --password {S}", "bot_token: \"{S}\""],
        ),
        "private_key": (
            [lambda: m.pem("RSA " + pem), lambda: m.array(), lambda: m.pem(pem, footer=False)],
            ["Error loading key:\n{S}\n", "keypair: {S}\n", "could not parse '\n{S}\n'"],
            [lambda: m.pem("OPENSSH " + pem), lambda: m.pem("EC " + pem), lambda: m.pem(pem, newline="\\n"), lambda: m.pem("RSA " + pem, header=False, lines=5),
             lambda: m.array(), lambda: m.pem("ENCRYPTED " + pem, footer=False), lambda: ("NANO_SEED={S}", m.hex(64).upper()),
             lambda: ("Save this seed phrase to recover your new keypair:\n{S}\n", m.words()), lambda: ("mnemonic: \"{S}\"", m.words(24)),
             lambda: ("[Interface]\nPrivateKey = {S}", m.b64(32)), lambda: ("export SOLANA_PRIVATE_KEY={S}", m.s(ALNUM.replace("0", "").replace("O", "").replace("l", "").replace("I", ""), 88)),
             lambda: ("age: identity {S}", "AGE-SECRET" + "-KEY-1" + m.s("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)), lambda: ("--private-key 0x{S}", m.hex(64))],
            ["{S}\n", "{\"private_key\": \"{S}\"}", "Error: failed to read keypair file: {S}\n", "+{S}\n", "TLS_KEY=\"{S}\"\n", "debug: SigningKey({S})\n"],
        ),
        "database_url": (
            [lambda: f"postgres://{user()}:{m.password().replace('#', '').replace('?', '').replace('@', '')}@{host()}:5432/shop", lambda: f"mysql://{user()}:{m.mixed(10)}@{host()}/shop"],
            ["DATABASE_URL={S}", "could not connect to {S}", "sqlalchemy.exc.OperationalError: {S}", "\"url\": \"{S}\""],
            [lambda: f"postgresql+psycopg2://{user()}:{m.mixed(12)}@{host()}:5432/shop?sslmode=require", lambda: f"mongodb+srv://{user()}:{m.mixed(14)}@cluster0.example.net/app?retryWrites=true",
             lambda: f"redis://:{m.mixed(20)}@{host()}:6379/0", lambda: f"amqps://{user()}:{m.mixed(16)}@{host()}/vhost",
             lambda: f"jdbc:postgresql://{host()}:5432/shop?user={user()}&password={m.mixed(12)}", lambda: f"sqlserver://{user()}:{m.mixed(12)}@{host()}:1433?database=shop",
             lambda: f"postgres://{user()}:{m.mixed(6)}%21{m.mixed(5)}@{host()}/shop", lambda: f"clickhouse://{user()}:{m.mixed(12)}@{host()}:9000/logs"],
            ["Error: P1001: Can't reach database server at `{S}`", "  spring.datasource.url: {S}", "celery: consumer: Cannot connect to {S}: timed out.",
             "MongoServerError: bad auth, uri {S}", "psql \"{S}\" -c 'select 1'", "export REDIS_URL='{S}'", "DSN: {S}", "      - DB_URI={S}",
             "django.db.utils.OperationalError: could not parse {S}", "[error] dial {S}, retrying", "const pool = new Pool({ connectionString: '{S}' });", "<Resource url=\"{S}\"/>"],
        ),
        "aws": (
            [lambda: "AK" + "IA" + m.s(UP + "234567", 16), lambda: ("aws_secret_access_key = {S}", m.s(ALNUM + "+/", 40))],
            ["aws_access_key_id = {S}", "AWS_ACCESS_KEY_ID={S}", "InvalidAccessKeyId: The key {S} does not exist"],
            [lambda: "AS" + "IA" + m.s(UP + "234567", 16), lambda: ("\"SecretAccessKey\": \"{S}\"", m.s(ALNUM + "+/", 40)),
             lambda: ("export AWS_SECRET_ACCESS_KEY='{S}'", m.s(ALNUM + "+/", 40)), lambda: ("AWS_SESSION_TOKEN={S}", "IQoJb3JpZ2lu" + m.s(ALNUM + "+/", 180) + "=="),
             lambda: ("secretAccessKey: \"{S}\"", m.s(ALNUM + "+/", 40)), lambda: ("https://b.s3.example.com/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature={S}", m.hex(64)),
             lambda: ("aws configure set aws_secret_access_key {S}", m.s(ALNUM + "+/", 40)), lambda: ("'aws_secret_access_key': '{S}',", m.s(ALNUM + "+/", 40)),
             lambda: ("  SecretAccessKey: {S}", m.s(ALNUM + "+/", 40)), lambda: ("secret_key = \"{S}\"  # aws provider", m.s(ALNUM + "+/", 40)),
             lambda: ("\"SessionToken\": \"{S}\"", "FwoGZXIvYXdz" + m.s(ALNUM + "+/", 200)), lambda: ("aws_session_token = {S}", m.b64(150)),
             lambda: ("aws_session_token = {S}", "/" + m.b64(150)), lambda: ("-Daws.secretKey={S}", m.s(ALNUM + "+/", 40)),
             lambda: ("x-amz-security-token: {S}", m.b64(120)), lambda: "AK" + "IA" + m.s(UP + "234567", 16)],
            ["aws: [ERROR]: credential {S} not authorized", "\"AccessKeyId\": \"{S}\"", "Credential={S}/20260101/us-east-1/s3/aws4_request", "provider \"aws\" { access_key = \"{S}\" }",
             "botocore: using key {S} from env", "--access-key {S}", "s3cmd: access_key={S}"],
        ),
        "gcp": (
            [lambda: "AI" + "za" + m.s(ALNUM + "-_", 34) + "x"],
            ["GOOGLE_API_KEY={S}", "https://maps.example.com/api?key={S}", "\"apiKey\": \"{S}\"", "API key not valid: {S}"],
            [lambda: "AI" + "za" + m.s(ALNUM + "-_", 34) + "x", lambda: "ya" + "29." + m.url64(90), lambda: "GO" + "CSPX-" + m.s(ALNUM + "-_", 27) + "x",
             lambda: ("\"private_key_id\": \"{S}\",", m.hex(40)), lambda: ("gcloud: refresh token {S} revoked", "1/" + "/0" + m.s(ALNUM + "-_", 60) + "x"),
             lambda: ("GOOGLE_CLIENT_SECRET={S}", m.mixed(24)), lambda: ("CLOUDSDK_AUTH_ACCESS_TOKEN={S}", "ya" + "29." + m.url64(60))],
            ["ERROR: (gcloud.auth) invalid_grant for {S}", "firebase: { key: '{S}' }", "client_secret: {S}", "Authorization: Bearer {S}", "  key={S}&address=x", "googleapi: Error 400: {S} bad",
             "{\\\"access\\\": \\\"{S}\\\"}"],
        ),
        "azure": (
            [lambda: ("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={S};EndpointSuffix=core.example.net", m.b64(64)), lambda: ("AZURE_CLIENT_SECRET={S}", m.mixed(3) + "8Q~" + m.s(ALNUM + "_-", 33) + "x")],
            [],
            [lambda: ("Endpoint=sb://x.example.net/;SharedAccessKeyName=Root;SharedAccessKey={S}", m.b64(32)),
             lambda: ("https://acme.blob.example.net/c/b?sv=2024-01-01&se=2026-12-01&sr=b&sp=r&sig={S}", m.b64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")),
             lambda: ("az login --service-principal -u app -p {S}", m.mixed(3) + "8Q~" + m.s(ALNUM + "_-", 33) + "x"),
             lambda: ("Ocp-Apim-Subscription-Key: {S}", m.hex(32)), lambda: ("  clientSecret: '{S}'", m.mixed(3) + "7Q~" + m.s(ALNUM + "_-", 33) + "x"),
             lambda: ("AZURE_STORAGE_KEY=\"{S}\"", m.b64(64)), lambda: ("AZURE_OPENAI_API_KEY={S}", m.hex(32)),
             lambda: ("AADSTS7000215: Invalid client secret '{S}'", m.mixed(3) + "8Q~" + m.s(ALNUM + "_-", 33) + "x"),
             lambda: ("\"accountKey\": \"{S}\"", m.b64(64)), lambda: ("ARM_CLIENT_SECRET={S}", m.mixed(34))],
            [],
        ),
        "basic_auth": (
            [lambda: ("Authorization: Basic {S}", m.basic()), lambda: ("curl -u bob:{S} http://127.0.0.1:8080/", m.password()), lambda: ("http://bob:{S}@proxy.example.com:3128", m.mixed(10))],
            [],
            [lambda: ("Proxy-Authorization: Basic {S}", m.basic()), lambda: ("> authorization: basic {S}", m.basic()), lambda: ("\"auth\": \"{S}\"", m.basic()),
             lambda: ("{\"auths\":{\"r.example.com\":{\"auth\":\"{S}\"}}}", m.basic()), lambda: ("curl --user 'bob:{S}' http://127.0.0.1:8080/", m.mixed(11)),
             lambda: ("HTTPS_PROXY=http://bob:{S}@10.1.1.1:8080", m.mixed(9)), lambda: ("pip._vendor: GET https://bob:{S}@pypi.example.com/simple/x/", m.mixed(12)),
             lambda: ("index-url = https://__token__:{S}@pkgs.example.com/simple", m.mixed(30)), lambda: ("wget ftp://bob:{S}@files.example.com/x", m.mixed(10)),
             lambda: ("'Authorization': 'Basic {S}'", m.basic()), lambda: ("-H \"Authorization: Basic {S}\"", m.basic()), lambda: ("curl -sSu bob:{S} https://x.example.com", m.mixed(11)),
             lambda: ("smtp://bob:{S}@mail.example.com:587 refused", m.mixed(10)), lambda: (".htpasswd: bob:{S}", "$ap" + "r1$" + m.mixed(8) + "$" + m.mixed(22))],
            [],
        ),
        "git_credential": (
            [lambda: ("fatal: Authentication failed for 'https://bob:{S}@git.example.com/org/repo.git/'", m.password().replace("#", "").replace("?", "")), lambda: ("origin\thttps://{S}@github.com/org/repo (fetch)", gh + m.mixed(36))],
            [],
            [lambda: ("remote: https://x-access-token:{S}@github.com/org/repo.git", "gh" + "s_" + m.mixed(36)), lambda: ("url = https://oauth2:{S}@gitlab.example.com/org/repo.git", m.mixed(20)),
             lambda: ("Cloning into 'repo'...\nfatal: unable to access 'https://bob:{S}@bitbucket.org/o/r.git/': 403", "AT" + "BB" + m.mixed(32)),
             lambda: ("pip install git+https://bob:{S}@github.com/o/r.git@main", m.mixed(20)), lambda: ("\"resolved\": \"git+https://{S}@github.com/o/r.git#main\"", m.mixed(40)),
             lambda: ("protocol=https\nhost=git.example.com\nusername=bob\npassword={S}", m.password()), lambda: ("git push https://bob:{S}@codeberg.org/o/r main", m.mixed(16)),
             lambda: ("git submodule: https://deploy:{S}@git.example.com/lib", m.mixed(18)), lambda: ("http.extraheader=AUTHORIZATION: basic {S}", m.basic()),
             lambda: ("GOPRIVATE: reading https://{S}:x-oauth-basic@github.com/o/r", gh + m.mixed(36)), lambda: ("Pushing to https://bob:{S}@dev.azure.com/o/p/_git/r", m.s(LOW + DIG, 52))],
            [],
        ),
        "credit_card": (
            [m.luhn], ["card {S} declined", "card_number={S}", "\"pan\": \"{S}\"", "INSERT INTO payments VALUES (1, '{S}');"],
            [m.luhn], ["stripe: invalid number: {S}", "AssertionError: expected {S} to be masked", "fixtures/users.csv:3: bob,{S},12/29", "<cardNumber>{S}</cardNumber>", "cc: {S}", "DETAIL:  Key (card)=({S}) already exists.",
                       "Charge failed for {S}.", "payload: {number: {S}, cvc: 123}", "E   ValueError: bad card '{S}'", "WARN pan={S} exp=1229"],
        ),
        "ssn": (
            [m.ssn], ["ssn: {S}", "SSN={S}", "\"ssn\": \"{S}\"", "row 4: bob,{S},1980-01-02"],
            [m.ssn], ["DETAIL:  Key (ssn)=({S}) already exists.", "ValueError: invalid taxpayer {S}", "social security number {S} rejected", "<SSN>{S}</SSN>", "patients.csv:12: Doe;John;{S}", "assert person.id == '{S}'", "INSERT INTO people VALUES ('{S}');", "employee {S}: duplicate"],
        ),
        "phone": (
            [lambda: "+1" + "".join(m.nanp()), lambda: "({}) {}-{}".format(*m.nanp()), lambda: "-".join(m.nanp())],
            ["phone: {S}", "sms to {S} failed", "\"phone\": \"{S}\"", "contact {S}"],
            [lambda: "+1 " + " ".join(m.nanp()), lambda: "+44 20 7" + m.s(DIG, 3) + " " + m.s(DIG, 4), lambda: "+49 30 " + m.pick("123456789") + m.s(DIG, 6), lambda: "+1-" + "-".join(m.nanp()), lambda: ".".join(m.nanp()), lambda: "+33 6 " + " ".join(m.s(DIG, 2) for _ in range(4)), lambda: "+9198" + m.s(DIG, 8), lambda: "({})-{}-{}".format(*m.nanp()), lambda: ("mobile={S}", "0" + m.pick("17") + m.s(DIG, 9)), lambda: ("\"phone_number\": \"{S}\"", m.pick("23456789") + m.s(DIG, 9))],
            ["twilio: Unable to create record: The 'To' number {S} is not valid", "users.csv:7: bob,{S},active", "Call us at {S}.", "<tel>{S}</tel>", "DETAIL:  Key (phone)=({S}) already exists.", "notify {S}: timeout", "E   assert normalize('{S}') is None", "From: {S}, status: undelivered"],
        ),
        "totp_seed": (
            [lambda: ("otpauth://totp/Acme:bob?secret={S}&issuer=Acme", m.base32(32)), lambda: ("TOTP_SECRET={S}", m.base32(16)), lambda: ("totp_seed: {S}", m.base32(32))],
            [],
            [lambda: ("oathtool --totp -b {S}", m.base32(32)), lambda: ("\"mfa_secret\": \"{S}\"", m.base32(26)), lambda: ("Enter this key in your authenticator app: {S}", " ".join(m.base32(4) for _ in range(4))),
             lambda: ("2fa_secret = '{S}'", m.base32(16)), lambda: ("export GOOGLE_AUTHENTICATOR_SECRET={S}", m.base32(32)), lambda: ("otpauth://totp/bob@example.com?issuer=X&digits=6&secret={S}", m.base32(32)),
             lambda: ("Your new secret key for two-factor is: {S}", m.base32(26)), lambda: ("pyotp.TOTP('{S}').now()", m.base32(32)), lambda: ("setup key: {S}", " ".join(m.s(LOW + "234567", 4) for _ in range(7)) + " a2b3"),
             lambda: ("binascii.Error: Incorrect padding in totp secret {S}", m.base32(29)), lambda: ("AWS_MFA_SEED={S}", m.base32(64)), lambda: ("otp_secret: \"{S}\"", m.base32(16))],
            [],
        ),
        "jwt": (
            [m.jwt], ["Authorization: Bearer {S}", "token={S}", "jwt.exceptions.DecodeError: {S}", "\"id_token\": \"{S}\""],
            [m.jwt, m.jwt, lambda: m.jwt().rsplit(".", 1)[0] + "."], ["JsonWebTokenError: invalid signature ({S})", "Cookie: session={S}", "kubectl --token={S} get pods", "  token: {S}", "{\\\"access_token\\\":\\\"{S}\\\"}", "supabase anon key {S} rejected",
                    "https://app.example.com/cb#id_token={S}&state=1", "claims of {S}: expired", "SERVICE_ROLE_KEY=\"{S}\"", "<assertion>{S}</assertion>", "['{S}']"],
        ),
        "high_entropy_hex": (
            [lambda: m.hex(32), lambda: m.hex(64), lambda: m.hex(48)],
            ["using {S}", "secret={S}", "value '{S}' rejected", "seedless init {S}"],
            [lambda: m.hex(32), lambda: m.hex(64), lambda: m.hex(40), lambda: m.hex(128), lambda: m.hex(32).upper(), lambda: m.hex(56)],
            ["invalid value: {S}", "encryption_key: {S}", "config.yml:4: {S}", "SESSION_SECRET={S}", "  \"value\": \"{S}\",", "argv[2] = {S}", "cookie salt is {S}.", "https://hooks.example.com/in/{S}", "rails: secret_key_base: {S}", "Unknown option: {S}", "hmac key {S} too long", "<item>{S}</item>"],
        ),
    }


def lookalikes(m):
    h40, h64, h32 = m.hex(40), m.hex(64), m.hex(32)
    uuid = f"{m.hex(8)}-{m.hex(4)}-4{m.hex(3)}-a{m.hex(3)}-{m.hex(12)}"
    return [
        ("commit {C}", h40), ("HEAD is now at {C} add the token parser", h40), ("{C}\trefs/heads/main", h40), ("From https://git.example.com/o/r\n * branch {C} -> FETCH_HEAD", h40),
        ("index {C}..0000000 100644", h40), ("Digest: sha256:{C}", h64), ("image@sha256:{C}", h64), ("checksum = \"{C}\"", h64), ("{C}  archive.tar.gz", h64), ("--hash=sha256:{C}", h64),
        ("Build ID: {C}", h40), ("BuildID[sha1]={C}, not stripped", h40), ("SHA256(a.py)= {C}", h64), ("Expected sha256 {C}", h64), ("\"integrity\": \"{C}\"", "sha512-" + m.b64(64)),
        ("request id {C}", uuid), ("uuid={C}", uuid), ("  at 0x{C} in main", m.hex(12)), ("listening on {C}", f"127.0.0.1:{m.r.randrange(1024, 65535)}"), ("version {C}", f"{m.r.randrange(20)}.{m.r.randrange(20)}.{m.r.randrange(99)}-rc.1"),
        ("[{C}] ERROR failed", f"2026-0{m.r.randrange(1, 9)}-1{m.r.randrange(9)}T12:34:56.{m.s(DIG, 9)}Z"), ("took {C} ns", m.pick("123456789") + m.s(DIG, 15)), ("{C} bytes written", m.pick("123456789") + m.s(DIG, 9)),
        ("main.c:{C}: error: expected ';' before 'token'", f"{m.r.randrange(1, 999)}:{m.r.randrange(1, 99)}"), ("error: unexpected token: {C}", m.pick(["identifier", "semicolon", "EOF"])),
        ("docker: container {C} exited", h64), ("/home/bob/.cache/objects/{C}/data", h64), ("locked rev = {C}", h40), ("go: example.com/m@v0.0.0-20260102030405-{C}", m.hex(12)), ("h1:{C}", m.b64(32)),
        ("password: {C}", "required"), ("token: {C}", "null"), ("PASSWORD={C}", "${DB_PASSWORD}"), ("let key: {C} = read();", "String"), ("Authorization: {C}", "Bearer $TOKEN"), ("fingerprint SHA256:{C}", m.b64(32).rstrip("=")),
        ("trace_id={C}", h32), ("etag: \"{C}\"", h32), ("md5: {C}", h32), ("@@ {C} @@", f"-{m.r.randrange(999)},7 +{m.r.randrange(999)},8"), ("postgres://{C}", "localhost:5432/shop"), ("https://{C}", "example.com/o/r/issues/4155550"),
    ]


SHAPES = [  # Cloud tools, in our own words.
    ("aws s3 ls", "Unable to locate credentials. You can configure them first.\nAn error occurred (AccessDenied) when calling ListBuckets: access denied\n"),
    ("gcloud compute instances list", "ERROR: (gcloud.compute.instances.list) There was a problem refreshing the current auth tokens: invalid_grant\nPlease log in again.\n"),
    ("az vm list", "AADSTS700082: The refresh token has expired due to inactivity.\nTrace ID: 0b5f2c6e-3a0f-4c8e-9f0e-2d1f3a4b5c6d\nTo log in again, run az login.\n"),
    ("terraform plan", "Error: No valid credential sources found\n\n  with provider[\"example/aws\"],\n  on main.tf line 1, in provider \"aws\":\n   1: provider \"aws\" {\n"),
    ("kubectl get pods", "E1121 12:00:00.000000 1234 memcache.go:265] couldn't get current server API group list: dial tcp 127.0.0.1:6443: connect: connection refused\n"),
    ("helm upgrade app .", "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n"),
]


def build(half, count):
    seed = int.from_bytes(hashlib.sha256(f"{half}/2".encode()).digest()[:8], "big")
    m = Maker(seed)
    outputs = json.loads((HERE / "outputs.json").read_text())
    pairs = [(o["command"], o["text"]) for at, o in enumerate(outputs) if at % 2 == (half == "development")] + SHAPES[half == "development"::2]
    plants = []
    new = fresh(m)
    for category, (plain_formats, plain_contexts, rare_formats, rare_contexts) in catalogue(m).items():
        for number in range(count):
            special = number % 3 != 0
            formats, contexts = (rare_formats, rare_contexts) if special else (plain_formats, plain_contexts)
            if special and half == "held_out":
                formats, contexts = new[category]
            at = number // 3 * 2 + number % 3 - 1 if special else number // 3
            value = formats[at % len(formats)]()
            context, secret = value if isinstance(value, tuple) else (contexts[(at // len(formats) + at) % len(contexts)], value)
            plants.append((category, context.replace("{S2}", "{S}"), secret))
    m.r.shuffle(plants)
    lines, number = [], 0
    while plants:
        command, output = pairs[number % len(pairs)]
        number += 1
        here, plants = plants[:3], plants[3:]
        rows = [(None, "$ " + command, "")] + [(None, row, "") for row in output.rstrip("\n").split("\n")]
        for category, context, secret in here:
            rows.insert(m.r.randrange(1, len(rows) + 1), (category, context, secret))
        for context, value in m.r.sample(lookalikes(m), 4):
            rows.insert(m.r.randrange(1, len(rows) + 1), ("clean", context, value))
        text, secrets, clean = b"", [], []
        for category, context, value in rows:
            if category is None:
                text += context.encode() + b"\n"
                continue
            before, after = context.split("{C}" if category == "clean" else "{S}", 1)
            start = len(text) + len(before.encode())
            end = start + len(value.encode())
            if category == "clean":
                clean.append([start, end])
            else:
                secrets.append({"category": category, "start": start, "end": end})
            text += (before + value + after + "\n").encode()
        lines.append(json.dumps({"half": half, "text": text.decode(), "secrets": secrets, "clean": clean}, ensure_ascii=False))
    return lines


def main():
    corpus = "\n".join(build("development", DEV_COUNT) + build("held_out", HELD_COUNT)) + "\n"
    path = HERE / "corpus.jsonl"
    if "--check" in sys.argv:
        sys.exit(0 if path.read_text() == corpus else "corpus.jsonl is not what make.py makes; run it without --check")
    path.write_text(corpus)


main()
