"""Lines without a secret. The kinds are those of the package."""
LINES = {"clean": r"""
commit ‹hex40›⏎Merge: ‹hex7› ‹hex7›⏎Date:   ‹day› ‹time› +0100⏎⏎    Rotate the database password on failover
‹hex7› (HEAD -> main, origin/main) fix: don't log the token
 * branch            main       -> FETCH_HEAD⏎   ‹hex7›..‹hex7›  main       -> origin/main
diff --git a/src/auth/password.rs b/src/auth/password.rs⏎index ‹hex7›..‹hex7› 100644
git bisect: ‹hex40› is the first bad commit
error: Your local changes to the following files would be overwritten by merge:⏎	config/secrets.example.yml⏎Aborting at ‹hex12›
Submodule path 'vendor/sdk': checked out '‹hex40›'
git@github.com: Permission denied (publickey).⏎fatal: Could not read from remote repository.
remote: Support for password authentication was removed on August 13, 2021.⏎fatal: Authentication failed for 'https://github.com/‹repo›.git/'
git clone https://github.com/‹repo›.git && git checkout ‹hex40›
origin	https://gitlab.example.com/‹repo›.git (fetch)
git push origin HEAD:refs/heads/token-refresh-‹n4›
‹hex64›  ubuntu-24.04-live-server-amd64.iso
‹hex32›  archive-‹ver›.tar.gz
sha256sum: WARNING: 1 computed checksum did NOT match⏎expected ‹hex64›⏎     got ‹hex64›
==> Verifying checksum for cask 'firefox'⏎Error: SHA256 mismatch⏎Expected: ‹hex64›⏎  Actual: ‹hex64›
"integrity": "sha512-‹sha512b64›",
npm error sha512-‹sha512b64› integrity checksum failed when using sha512
checksum = "‹hex64›"
github.com/pkg/errors v‹ver› h1:‹b6443›=
requests==‹ver› \⏎    --hash=sha256:‹hex64›
THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.⏎        Expected sha256 ‹hex64›⏎             Got        ‹hex64›
FROM node:22-alpine@sha256:‹hex64›
Digest: sha256:‹hex64›⏎Status: Downloaded newer image for postgres:16
Step 4/9 : RUN apk add curl⏎ ---> Running in ‹hex12›⏎ ---> ‹hex12›
‹hex12›   redis:7-alpine   "docker-entrypoint.s…"   2 hours ago   Up 2 hours   6379/tcp   app-cache-1
failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1⏎#12 sha256:‹hex64› 3.1MB / 3.1MB
container ‹hex64› exited with code 137
overlay on /var/lib/docker/overlay2/‹hex64›/merged type overlay
pod/‹svc›-‹low10›-‹low5› 0/1 CrashLoopBackOff 12 (3m ago) 41m
replicaset.apps "‹svc›-‹low10›" has timed out progressing
uid: ‹uuid›⏎resourceVersion: "‹n8›"
Warning  FailedMount  ‹n2›s  kubelet  MountVolume.SetUp failed for volume "kube-api-access-‹low5›" : object "default"/"db-password" not registered
Error from server (NotFound): secrets "‹svc›-tls" not found
secret/‹svc›-credentials unchanged
request_id=‹uuid› status=500 duration=‹n3›ms
X-Request-Id: ‹uuid›
traceparent: 00-‹hex32›-‹hex16›-01
{"trace_id":"‹hex32›","span_id":"‹hex16›","level":"info","msg":"password reset mail queued"}
x-amz-request-id: ‹up10›ABCDEF⏎x-amz-id-2: ‹b64blob›=
ETag: "‹hex32›"
etag: W/"‹hex40›"
Last-Modified: Tue, 03 Nov 2026 10:11:12 GMT⏎ETag: "‹hex8›-‹hex12›"
cache key: Linux-node-‹hex64›⏎Cache not found for input keys
Cache restored from key: cargo-‹hex40›
/nix/store/‹nixh›-openssl-‹ver›/bin/openssl: No such file or directory
error: hash mismatch in fixed-output derivation '/nix/store/‹nixh›-source.drv':⏎         specified: sha256-‹b6443›=⏎            got:    sha256-‹b6443›=
dist/assets/index-‹hex8›.js   ‹n3›.12 kB │ gzip: ‹n2›.40 kB
main.‹mixed20›.chunk.js:2:‹n5› Uncaught TypeError: Cannot read properties of undefined (reading 'token')
BuildID[sha1]=‹hex40›, for GNU/Linux 3.2.0, stripped
core dumped: /var/lib/systemd/coredump/core.‹svc›.1000.‹hex32›.‹n5›.‹unix›000000.zst
machine-id: ‹hex32›
 boot ‹hex32› — ‹day›
UUID=‹uuid› /boot ext4 defaults 0 2
/dev/mapper/luks-‹uuid› on / type btrfs (rw,relatime,ssd)
PARTUUID="‹hex8›-02"
link/ether ‹mac› brd ff:ff:ff:ff:ff:ff
wlan0: SSID "Office" BSSID ‹mac› signal -52 dBm
CLSID {‹uuid›} is not registered (0x80040154)
Project("{FAE04EC0-301F-11D3-BF4B-00C04F79EFBC}") = "Web", "Web\Web.csproj", "{‹uuid›}"
Correlation ID: ‹uuid›⏎Timestamp: ‹day› ‹time›Z⏎AADSTS50126: Error validating credentials due to invalid username or password.
subscription ‹uuid› is not registered to use namespace 'Microsoft.KeyVault'
tenant: ‹uuid›  client: ‹uuid›  result: login_required
migration ‹unix›_add_password_digest_to_users: migrated (0.‹n4›s)
V‹n8›__create_api_keys.sql
Revision ID: ‹hex12›⏎Revises: ‹hex12›⏎Create Date: ‹day› ‹time›
ssh-ed25519 ‹ed25519pub› ‹user›@‹host›
ssh-rsa ‹rsapub› deploy@ci
‹host› ssh-ed25519 ‹ed25519pub›
The authenticity of host '‹host›' can't be established.⏎ED25519 key fingerprint is SHA256:‹b6443›.⏎Are you sure you want to continue connecting (yes/no/[fingerprint])?
debug1: Offering public key: /home/runner/.ssh/id_ed25519 ED25519 SHA256:‹b6443› agent
Host key fingerprint is MD5:4a:‹mac›:‹mac›:0b:1c:2d
@@@@@@@@@@@⏎@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @⏎Offending ECDSA key in /home/runner/.ssh/known_hosts:‹n2›
-----BEGIN CERTIFICATE-----⏎MIIDdzCCAl+gAwIBAgIE‹b64blob›⏎‹b64blob›⏎‹b64blob›⏎-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----⏎MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE‹b6443›⏎‹b6443›==⏎-----END PUBLIC KEY-----
-----BEGIN PGP SIGNATURE-----⏎⏎iQEzBAABCAAdFiEE‹b64blob›⏎=aB3d⏎-----END PGP SIGNATURE-----
gpg: Signature made Tue 03 Nov 2026⏎gpg:                using RSA key ‹HEX32›‹n8›⏎gpg: Can't check signature: No public key
gpg: key ‹hex16›: public key "Release Signing" imported
pub   ed25519 ‹day› [SC]⏎      4F1C‹HEX32›12AB
NO_PUBKEY ‹hex16›⏎E: The repository 'https://apt.example.com jammy InRelease' is not signed.
[Peer]⏎PublicKey = ‹b6443›=⏎AllowedIPs = 10.8.0.0/24
peer: ‹b6443›=⏎  latest handshake: 1 minute, 12 seconds ago
{"kty":"RSA","e":"AQAB","use":"sig","kid":"‹hex16›","n":"‹url86›‹url86›"}
serial: ‹hexcolon›⏎issuer: C = US, O = Let's Encrypt, CN = R11
SHA1 Fingerprint=AA:‹mac›:‹mac›:‹mac›:BB
verify error:num=20:unable to get local issuer certificate⏎Server public key is 2048 bit⏎Session-ID-ctx:
tlsv1 alert: bad certificate for SPKI pin sha256/‹b6443›=
transaction ‹0xhex› reverted without a reason
from: ‹ethaddr›⏎to: ‹ethaddr›⏎value: 0.5 ETH
Error: insufficient funds for gas * price + value: address ‹ethaddr› have 0 want ‹n9›000
Program ‹b58addr› invoke [1]⏎Program log: Error: AccountNotInitialized⏎Program ‹b58addr› failed: custom program error: 0xbc4
declare_id!("‹b58addr›");
payout to ‹btc› confirmed in block ‹n7›
ipfs://‹cid›/metadata/‹n3›.json
Error: merkledag: not found /ipfs/‹qm›
id=‹ulid› type=invoice.paid delivered
event ‹ulid› retried 3 times
order #‹n9› shipped, tracking no. ‹n10›
Bestellnummer ‹n8›-‹n4› wurde storniert
Rechnung RE-2026-‹n5› über 1.‹n3›,00 EUR
invoice INV-‹n7› due ‹day›
Ticket ‹n5›: login page does not accept the new password
Case 0‹n7› / Sev 2 / customer cannot reset MFA
article 4‹n7›, EAN ‹acct›, in stock: ‹n›
order_ref=‹notluhn› state=paid
snowflake id ‹unix›‹n9› out of range for int4
ISBN 978-3-16-148410-0, edition ‹n2›
part no. ‹n3›-‹n2›-‹n5›-B
SELECT pg_size_pretty(‹n10›);
[‹unix›.‹n3›] usb 1-2: new high-speed USB device number ‹n2› using xhci_hcd
ts=‹unixms› level=warn caller=main.go:‹n3› msg="slow query"
{"time":‹unixns›,"severity":"ERROR","message":"context deadline exceeded"}
[   12.‹n3›456] EXT4-fs (sda1): mounted filesystem ‹uuid› r/w
‹syslog› host kernel: CPU3: Core temperature above threshold, total events = ‹n5›
‹day› ‹time›.‹n3› [main] INFO  c.a.Application - Started in 4.‹n3› seconds (PID ‹n5›)
build ‹ver›-‹hex7› (‹n8›)
Version ‹ver›.‹n4› (Official Build) (64-bit)
rustc 1.‹n2›.0 (‹hex7›9f ‹day›)
Python 3.12.‹n2› (main, ‹day›, ‹time›) [GCC 13.2.0] on linux
go: downloading golang.org/x/crypto v0.‹n2›.1-0.20260801‹n2›1500-‹hex12›
bash-5.2# uname -a⏎Linux ‹hex12› 6.8.0-‹n2›-generic #‹n2›-Ubuntu SMP x86_64 GNU/Linux
dpkg: warning: version '‹ver›-‹n3›ubuntu0.‹n2›' has bad syntax
latitude 52.‹n7›, longitude 13.‹n7›
inet 10.0.‹n2›.‹n2›/24 brd 10.0.‹n2›.255 scope global eth0
listening on 0.0.0.0:‹port›
connect ECONNREFUSED 127.0.0.1:‹port›
bigint out of range: ‹n10›‹n9›
Segmentation fault at 0x00007f‹hex8›40 ip 000055‹hex8›10 sp 00007ff‹hex8›0
   ‹n2›: 0x7f‹hex8›12 - std::panicking::begin_panic::h‹hex16›
_ZN4core6option13expect_failed17h‹hex16›E
at com.acme.auth.PasswordEncoder.matches(PasswordEncoder.java:‹n3›)
  File "/usr/lib/python3.12/getpass.py", line ‹n2›, in unix_getpass⏎    passwd = _raw_input(prompt, stream, input=input)
    at TokenService.refresh (/app/dist/token.service.js:‹n2›:‹n2›)
undefined method `password' for nil:NilClass (NoMethodError)⏎app/controllers/sessions_controller.rb:‹n2›:in `create'
panic: runtime error: invalid memory address⏎goroutine ‹n3› [running]:⏎main.loadSecret(0xc000‹hex7›)
password = os.environ["‹var›"]
const token = process.env.‹var› ?? '';
pass := os.Getenv("‹var›")
let secret = std::env::var("‹var›").expect("‹var› not set");
String pw = System.getenv("‹var›");
var key = Environment.GetEnvironmentVariable("‹var›");
password: ${‹var›}
password: ${‹var›:?must be set}
    password: "{{ vault_‹db›_password }}"
      ‹var›: ${{ secrets.‹var› }}
mysql -u root -p"$‹var›" ‹db› < schema.sql
curl -u "$USER:$‹var›" https://‹host›/api
curl -H "Authorization: Bearer $‹var›" https://api.example.com/v1/me
docker login -u "$CI_REGISTRY_USER" -p "$‹var›" $CI_REGISTRY
DATABASE_URL=postgres://$PGUSER:$PGPASSWORD@‹host›:5432/‹db›
postgres://${DB_USER}:${‹var›}@‹host›/‹db›
git clone https://oauth2:${‹var›}@gitlab.com/‹repo›.git
https://x-access-token:${{ secrets.‹var› }}@github.com/‹repo›.git
mysql://%DB_USER%:%‹var›%@‹host›/‹db›
f"postgresql://{user}:{password}@{host}/{name}"
"amqp://" + user + ":" + pass + "@" + host
DATABASE_URL=postgres://‹user›:‹stars›@‹host›:5432/‹db›
redis://:***@‹host›:6379/0: Connection refused
connection to "postgresql+psycopg2://‹user›:***@‹host›/‹db›" failed
mongodb+srv://<username>:<password>@cluster0.mongodb.net/‹db›
postgres://USER:PASSWORD@HOST:PORT/DATABASE
jdbc:postgresql://‹host›:5432/‹db›?ssl=true&sslmode=require
Server=‹host›;Database=‹db›;Integrated Security=SSPI;
https://‹user›@‹host›/scm/web.git
http://‹host›:‹port›/path?user=‹user›
password=‹stars›
Password: ‹stars›
"password": "‹stars›",
api_key=‹stars› (from environment)
token: ‹stars›⏎expires: ‹iso›
Authorization: Bearer ‹stars›
Authorization: Basic ‹stars›
aws_secret_access_key     ****************‹hex7›  shared-credentials-file
npm config: //npm.example.com/:_authToken = (protected)
Parameters: {"user"=>{"login"=>"‹user›", "password"=>"[FILTERED]"}}
  + password                 = (sensitive value)
  master_password = (known after apply)
DB_PASSWORD=
password: ""
password: null
"password": true,
password = None
use_password_auth: false
DISABLE_PASSWORD_LOGIN=1
PasswordAuthentication no⏎PermitRootLogin prohibit-password
%wheel ALL=(ALL) NOPASSWD: ALL
sudo: a password is required
sudo: no tty present and no askpass program specified
[sudo] password for ‹user›: ⏎Sorry, try again.
Enter passphrase for key '/home/runner/.ssh/id_rsa':
Password for 'https://‹user›@github.com':
su: Authentication failure
FATAL:  password authentication failed for user "‹user›"
ERROR 1045 (28000): Access denied for user '‹user›'@'‹host›' (using password: YES)
NOAUTH Authentication required.
WRONGPASS invalid username-password pair or user is disabled.
Login failed for user '‹user›'. Reason: Password did not match that for the login provided.
error: password must be at least 12 characters and contain a digit
Password does not meet the complexity requirements (min length ‹n2›)
BAD PASSWORD: The password is shorter than 8 characters
‹user› must change password at next logon
passwd: password updated successfully
Password expiry: ‹day›, warning ‹n2› days before
usage: mycli [-h] [-u USER] [-p PASSWORD] [--token TOKEN] host
  -p, --password <PASSWORD>    Password for the user [env: ‹var›]
      --api-key string         API key (default $‹var›)
      --password-stdin         Take the password from stdin
Options:⏎  --token=TOKEN   access token, see `glab auth login`⏎  --secret-file=PATH
error: the following required arguments were not provided:⏎  --password <PASSWORD>
error: unexpected argument '--pasword' found⏎  tip: a similar argument exists: '--password'
kubectl create secret generic NAME --from-literal=password=PASSWORD [--dry-run]
sshpass -f /run/secrets/ssh_pw ssh ‹user›@‹host›
gpg --batch --passphrase-file /run/secrets/gpg -d x.gpg
openssl pkcs12 -in b.p12 -passin env:‹var› -nodes
restic --password-file /etc/restic/pw snapshots
DB_PASSWORD_FILE=/run/secrets/db_password
ssl.keystore.password=${file:/opt/secrets.properties:keystore}
password: !vault_ref secret/data/‹svc›#password
valueFrom:⏎  secretKeyRef:⏎    name: ‹svc›-db⏎    key: password
arn:aws:secretsmanager:‹region›:‹acct›:secret:prod/‹svc›/db-AbC‹n3›
op://Infra/‹svc›/password
vault kv get -field=password secret/‹svc›
aws ssm get-parameter --name /prod/‹svc›/db_password --with-decryption
projects/acme-prod/secrets/‹svc›-key/versions/‹n2›
@Microsoft.KeyVault(SecretUri=https://acme.vault.azure.net/secrets/‹svc›/)
arn:aws:iam::‹acct›:role/ci-deploy
AccountId ‹acct› is not authorized to perform: sts:AssumeRole
def check_password(raw: str, stored: str) -> bool:
private readonly passwordHasher: PasswordHasher,
public function setPassword(?string $password): self
if (password.length < 8) throw new Error("password too short");
fn verify_token(token: &str, key: &PublicKey) -> Result<Claims>
interface Credentials { username: string; password: string }
val password: String by project
assert user.password != user.password_hash
return bcrypt.compare(password, user.passwordHash);
$request->validate(['password' => 'required|min:12|confirmed']);
t.string "password_digest", null: false
password VARCHAR(255) NOT NULL,
ALTER TABLE users ADD COLUMN api_key_hash bytea;
SELECT count(*) FROM tokens WHERE expires_at < now();
token = next(tokens)⏎if token.type == 'IDENT': parser.advance()
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
unexpected token: end of input at line ‹n›
prompt_tokens=‹n4› completion_tokens=‹n3› total_tokens=‹n5›
This model's maximum context length is ‹n5› tokens.
Invalid CSRF token found for https://‹host›/login
tokenizer.json: 100%|██████████| 9.08M/9.08M
warning: unused variable: `password`⏎  --> src/auth.rs:‹n2›:9
error[E0425]: cannot find value `api_key` in this scope⏎ --> src/client.rs:‹n3›:‹n2›
error TS2339: Property 'password' does not exist on type 'User'.
./auth.go:‹n2›:2: undefined: secretKey
KeyError: '‹var›'
ValueError: ‹var› environment variable is not set
Error: Missing required env var ‹var›
warning: ‹var› is deprecated, use ‹var›_FILE instead
The "‹var›" variable is not set. Defaulting to a blank string.
test auth::rejects_wrong_password ... FAILED
✗ shows an error when the password is wrong (‹n3› ms)
--- FAIL: TestTokenRefresh/expired_token (0.‹n2›s)
PASS src/login/password.spec.ts (‹n2› tests)
feat(auth): replace basic auth by OIDC (#‹n4›)
- Reset your password under Settings → Security.
Das Passwort muss mindestens zwölf Zeichen lang sein.
Falsches Passwort. Noch ‹n2› Sekunden warten.
Le mot de passe est incorrect.
La contraseña no coincide con la confirmación.
A senha expira em ‹n2› dias.
パスワードが正しくありません。
密码错误，请重试。
Неверный пароль или имя пользователя
‹name›: hast du das Passwort im Tresor abgelegt?
‹name›: never paste your API key in the chat, use the vault
‹name›: can you rotate the deploy token before Friday?
TODO(‹name›): store the password hashed
See https://docs.example.com/auth/api-keys#rotate-a-key
https://example.com/reset-password?lang=de
https://cdn.example.com/img/‹hex32›.png
https://example.com/static/app.js?v=‹hex8›
https://www.example.org/blog/‹n4›/how-to-choose-a-password
magnet:?xt=urn:btih:‹hex40›&dn=debian-12
background: #‹hex8›; color: #1f2a3b;
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA‹b64blob›
<path d="M12.‹n3› 4.‹n2›c-1.‹n2› 0-2.‹n3› 1.2-2.8 2.‹n3›z"/>
integrity="sha384-‹b64blob›" crossorigin="anonymous"
nonce count: ‹n7›, difficulty 0x1e0ffff0
Content-MD5: ‹mixed20›Ab==
h264 profile-level-id=42e01f;sprop-parameter-sets
RFC 7519 section 4.1.4: "exp" (Expiration Time) Claim
NIST SP 800-63B-4, rev. ‹day›
error code 0x‹hex8› (STATUS_LOGON_FAILURE)
HRESULT: 0x80070005 (E_ACCESSDENIED)
Exit status 128 after ‹n4› ms
‹n›/‹n5› [00:12<01:‹n2›, 35.‹n2›it/s] loss=0.‹n4›
|  users |  ‹n5› |  ‹n7› |  ‹n9› |
total ‹n4›⏎-rw------- 1 root root  1675 Nov  3 10:11 id_rsa⏎-rw-r--r-- 1 root root   ‹n3› Nov  3 10:11 id_rsa.pub
Permissions 0644 for '/root/.ssh/id_rsa' are too open.⏎This private key will be ignored.
Load key "/home/runner/.ssh/deploy_key": error in libcrypto
unable to load Private Key⏎140‹n9›:error:0909006C:PEM routines:get_name:no start line
openssl genpkey -algorithm ED25519 -out server.key
grep -rn "BEGIN RSA PRIVATE KEY" . --include=*.pem
no SSN on file for applicant ‹n5›
ssn VARCHAR(11) CHECK (ssn ~ '^\d{3}-\d{2}-\d{4}$')
SSN must be in the form XXX-XX-XXXX
card ending in ‹n4› declined
**** **** **** ‹n4›
validate("card_number", required=True, luhn=True)
phone: required, E.164 format
phone_number = models.CharField(max_length=‹n2›, blank=True)
TypeError: otpauth URI needs a secret parameter
Invalid TOTP code. ‹n2› seconds until the next one.
totp = pyotp.TOTP(user.totp_secret)
jwt malformed
jwt.verify(token, publicKey, { algorithms: ['RS256'] })
ENCRYPTION_KEY must be 64 hex characters, got ‹n2›
openssl rand -hex 32
gcloud auth application-default login
az account set --subscription ‹uuid›
client_id=‹uuid›&response_type=code&scope=openid
OAuth app client id: ‹acct›-web.apps.example.com
sentry event ‹hex32› captured
job ‹n9› of pipeline ‹n10› failed
https://github.com/‹repo›/actions/runs/‹n10›/job/‹n10›
Compiling openssl-sys v0.9.‹n3›
Unpacking libpam-passwdqc (‹ver›-1) ...
Failed password for invalid user ‹user› from 10.9.8.‹n2› port ‹port› ssh2
pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh user=‹user›
audit: type=1100 pid=‹n5› msg='op=PAM:authentication grantors=? acct="‹user›" res=failed'
10.4.‹n2›.7 - ‹user› [03/Nov/2026:10:11:12 +0000] "POST /login HTTP/1.1" 401 ‹n3› "-" "curl/8.5.0"
Docker Compose: secrets.db_password.file: ./db_password.txt not found
AUTH PLAIN LOGIN XOAUTH2⏎250 CHUNKING
535 5.7.8 Error: authentication failed
ldap_bind: Invalid credentials (49)
KRB5: Preauthentication failed while getting initial credentials
Bluetooth: pairing with ‹mac› failed (0x05)
Device serial ‹up10›, firmware ‹ver›
AppleID: provisioning profile ‹uuid› doesn't include signing certificate
CodeSign: "Apple Development: CI (‹up10›)" ambiguous
Warning: apt-key is deprecated. Manage keyring files in trusted.gpg.d instead
psql (16.‹n2›)⏎Type "help" for help.⏎⏎‹db›=# \password ‹user›⏎Enter new password for user "‹user›":
CREATE USER ‹user› WITH PASSWORD :'pw';
wp_options autoload: ‹n5› bytes, transient_timeout_‹hex32›
"""}
