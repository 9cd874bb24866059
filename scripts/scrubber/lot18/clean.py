"""Lines without a secret that look as if they had one."""
LINES = {"clean": r"""
‹hex64›  ./dist/app-‹ver›.tar.gz
‹hex40› *build/main.wasm
MD5 (disk.img) = ‹hex32›
sha256 of the artifact is ‹hex64›
checksum mismatch: want ‹hex64›, got ‹hex64›
shasum -a 256 -c SHASUMS256.txt: node-v‹ver›.tar.xz ‹hex64›
"shasum": "‹hex40›",
integrity sha512-‹sha512b64›
resolved "https://registry.example.org/a/-/a-‹ver›.tgz#‹hex40›"
name = "serde"⏎version = "1.0.‹n3›"⏎checksum = "‹hex64›"
golang.org/x/sys v0.‹n2›.0 h1:‹b6443›=
golang.org/x/sys v0.‹n2›.0/go.mod h1:‹b6443›=
sha256 "‹hex64›"  # formula
url "https://example.org/v‹ver›.tar.gz"⏎sha256 "‹hex64›"
FROM node:22-alpine@sha256:‹hex64›
image: ghcr.io/‹repo›@sha256:‹hex64›
Digest: sha256:‹hex64›⏎Status: Downloaded newer image for redis:7
sha256:‹hex64›: Pulling from library/nginx
‹hex12›: Pull complete
Successfully built ‹hex12›
CONTAINER ID   IMAGE⏎‹hex12›   nginx:1.27
OCI runtime exec failed: container ‹hex64› is paused
Error response from daemon: No such container: ‹hex64›
/var/lib/docker/overlay2/‹hex64›/merged
containerd: task ‹hex64› not found
layer ‹hex64› already exists
manifest for ‹repo›@sha256:‹hex64› not found
commit ‹hex40›⏎Author: ‹name› <‹email›>
‹hex40› refs/tags/v‹ver›
HEAD detached at ‹hex7›
Merge: ‹hex7› ‹hex7›
index ‹hex7›..‹hex7› 100644
git cherry-pick ‹hex40›
fatal: bad object ‹hex40›
error: Your local changes to the following files would be overwritten: ‹word›.rs
* [new branch]      ‹word› -> origin/‹word›
From https://github.com/‹repo›⏎   ‹hex7›..‹hex7›  main -> origin/main
remote: Resolving deltas: 100% (‹n3›/‹n3›), done.
checkout of ‹hex40› failed
rev: ‹hex40›  # v‹ver›
uses: actions/cache@‹hex40› # v4
ref=‹hex40›
submodule lib at ‹hex40›
pinned to revision ‹hex40›
source = "git+https://github.com/‹repo›?rev=‹hex7›#‹hex40›"
built from ‹hex40› on ‹day›
GIT_COMMIT=‹hex40›
vcs.revision=‹hex40›
CI_COMMIT_SHA=‹hex40›
id: ‹uuid›
request_id=‹uuid› status=502
x-request-id: ‹hex32›
trace_id=‹hex32› span_id=‹hex16›
traceparent: 00-‹hex32›-‹hex16›-01
"correlationId":"‹uuid›"
b3: ‹hex32›-‹hex16›-1
X-Amzn-Trace-Id: Root=1-‹hex8›-‹hex12›‹hex12›
RequestId: ‹uuid› Version: $LATEST
AADSTS50058: Trace ID: ‹uuid› Correlation ID: ‹uuid›
sentry event id ‹hex32›
job id ‹uuid› cancelled
run ‹uuid› timed out
message-id: <‹uuid›@mail.example.net>
deployment ‹uuid› is unhealthy
tenant ‹uuid› has no subscription
subscriptionId: ‹uuid›
client_id = ‹uuid›
project ‹n10› not found
objectId=‹uuid›
order ‹n9› not found
invoice no. ‹n8› overdue
tracking number ‹n10›
account ‹acct› has no access
arn:aws:iam::‹acct›:role/‹word›
arn:aws:s3:::‹word›-‹acct›-logs
arn:aws:kms:eu-west-1:‹acct›:key/‹uuid›
arn:aws:lambda:us-east-1:‹acct›:function:‹svc›
‹acct›.dkr.ecr.eu-central-1.amazonaws.com/‹svc›:‹ver›
i-0‹hex16›1 is in state stopped
vol-0‹hex16›2 available
subnet-0‹hex12›12345
ami-0‹hex12›fe210
sg-0‹hex12›aa1bb
etag: "‹hex32›"
ETag: W/"‹hex32›"
if-none-match: "‹hex40›"
last-modified ‹day› etag ‹hex32›
x-goog-hash: md5=‹b6443›=
Content-MD5: ‹mixed20›Zw==
cache key ‹hex64› hit
restored from key Linux-cargo-‹hex64›
Cache not found for input keys: node-‹hex64›
turbo: cache miss, executing ‹hex16›
bazel: action ‹hex64› failed
nix: /nix/store/‹nixh›-openssl-3.0.‹n2›.drv
/nix/store/‹nixh›-glibc-2.39/lib/libc.so.6
building '/nix/store/‹nixh›-source.drv'
ccache: hash ‹hex32›
yarn: cache/lodash-npm-4.17.21-‹hex12›-8.zip
_next/static/chunks/‹n4›-‹hex16›.js
main.‹hex8›.chunk.css 12.3 kB
app-‹hex16›.js.map
assets/index-‹low10›.js
fonts/inter-‹hex32›.woff2
https://cdn.example.net/a/‹hex40›.webp
gravatar.com/avatar/‹hex32›?s=80
https://example.net/p/‹uuid›/edit
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ‹b6464›
data:font/woff2;base64,d09GMgABAAAAA‹b6464›‹b6464›
data:image/svg+xml;base64,PHN2ZyB4bWxucz0i‹b6464›
//# sourceMappingURL=data:application/json;charset=utf-8;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpb‹b6464›
src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
H4sIAAAAAAAAA‹b6464›  (gzip of the report)
ssh-rsa ‹rsapub› ‹user›@‹host›
ssh-ed25519 ‹ed25519pub› ‹email›
‹host› ssh-ed25519 ‹ed25519pub›
SHA256:‹b6443› ‹user›@‹node› (ED25519)
ED25519 key fingerprint is SHA256:‹b6443›.
key id ‹HEX32›12AB34CD
gpg: using RSA key ‹HEX32›‹n8›
pub   rsa4096 ‹day› [SC]⏎      ‹HEX32›0A1B2C3D
gpg: keyserver receive failed: No data for ‹hex16›
-----BEGIN CERTIFICATE-----⏎MIIDazCCAlOgAwIBAgIU‹b6443›⏎‹b6464›⏎‹b6464›⏎-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----⏎MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA‹b6464›⏎-----END PUBLIC KEY-----
-----BEGIN CERTIFICATE REQUEST-----⏎MIICijCCAXICAQAwRTELMAkGA1UEBhMC‹b6464›⏎-----END CERTIFICATE REQUEST-----
-----BEGIN SSH SIGNATURE-----⏎U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg‹b6443›⏎-----END SSH SIGNATURE-----
PublicKey = ‹b6443›=
peer ‹b6443›= allowed ips 10.9.0.3/32
serial number: ‹hexcolon›
X509v3 Subject Key Identifier: ‹hexcolon›
certificate thumbprint ‹HEX32›0F1E2D3C
fingerprint=‹hex64›
sha1 fingerprint ‹hex40›
public_key: ‹hex64›
pubkey ‹b58addr›
Program ‹b58addr› consumed ‹n5› of 200000 compute units
wallet ‹b58addr› balance 0.‹n3› SOL
tx ‹0xhex› mined in block ‹n8›
transaction ‹0xhex› dropped
contract deployed at ‹ethaddr›
to ‹ethaddr› value 0
block hash ‹0xhex›
nonce too low: address ‹ethaddr›, tx: ‹n2› state: ‹n3›
bc1 address ‹btc›
ipfs get ‹cid›
QmHash: ‹qm›
ulid ‹ulid› created
ksuid 2‹mixed20›abcdef
cursor=‹mixed32›
next_page_token: ‹mixed24›
"nextToken": "‹mixed40›"
pageToken=‹url43›
continuationToken=‹b6464›
upload_id=‹url43›
build number ‹n5›, version ‹ver›-rc.‹n›
v‹ver›+build.‹n4›.‹hex7›
Python 3.‹n2›.‹n› (main, ‹day›, ‹time›)
rustc 1.‹n2›.0 (‹hex8›a ‹day›)
gcc version 13.‹n›.0 (Ubuntu 13.‹n›.0-‹n›ubuntu1)
linux-image-6.‹n›.0-‹n3›-generic
openssl 3.0.‹n2› ‹day› (Library: OpenSSL 3.0.‹n2›)
Chrome/‹n3›.0.‹n4›.‹n3› Safari/537.36
Server: nginx/1.‹n2›.‹n›
libssl.so.3 => /lib/x86_64-linux-gnu/libssl.so.3 (0x00007f‹hex8›00)
0x00007ff‹hex8›1 in __libc_start_main
rip 0x‹hex12› rsp 0x7ff‹hex8› error 4
Build ID: ‹hex40›
BuildID[xxHash]=‹hex16›, not stripped
thread 0x‹hex12› crashed
‹iso› 1790‹n10›.‹n3›
epoch ‹unix› ms ‹unixms› ns ‹unixns›
2026/11/‹n2› ‹time› [crit] ‹n5›#‹n5›: *‹n7› SSL_do_handshake() failed
‹n3›.‹n3›.‹n2›.‹n2› - - [03/Nov/2026:10:00:00 +0000] "GET /login HTTP/2" 302 0
10.‹n2›.‹n2›.‹n2›:‹port› -> 10.‹n2›.‹n2›.‹n2›:443 SYN_SENT
fe80::‹hex7›:‹n4›%eth0
mac ‹mac›:‹mac›
latency p50=‹n2›ms p99=‹n3›ms n=‹n7›
memory: ‹n9› bytes, rss ‹n8›
pid ‹n5› killed by signal 9
exit code 127 after ‹n4› ms
total tokens: ‹n5›, prompt ‹n4›, completion ‹n3›
token count ‹n5› exceeds the limit of 8192
unexpected token '<' at line ‹n2›
Unexpected token } in JSON at position ‹n3›
syntax error near unexpected token `newline'
tokens per second: ‹n3›.‹n2›
pad_token_id ‹n5› bos_token_id 1
tokenizer vocab size ‹n5›
csrf token missing or incorrect
The CSRF token is invalid. Please try to resubmit the form.
invalid_grant: refresh token is expired
Error: token expired at ‹iso›
401 Unauthorized: token has insufficient scope
session expired, please log in again
secret "‹svc›-tls" not found
secrets "‹word›" is forbidden: User "system:serviceaccount:ci:default" cannot get resource
Warning: secret ‹svc›-db already exists
secretName: ‹svc›-tls
secretKeyRef:⏎  name: ‹svc›⏎  key: password
existingSecret: ‹svc›-auth
envFrom:⏎- secretRef:⏎    name: ‹word›-env
imagePullSecrets:⏎  - name: regcred
vault read secret/data/‹word›
sops: encrypted, ENC[AES256_GCM,type:str]
sealedsecret.bitnami.com/‹word› unsealed
password: ${DB_PASSWORD}
password: "{{ .Values.db.password }}"
password: !Ref DbPassword
password = var.db_password
password = data.aws_secretsmanager_secret_version.db.secret_string
password => lookup('profile::db::password')
PASSWORD=$(pass show ‹word›/db)
PASSWORD="$(op read op://vault/‹word›/password)"
DB_PASS=`cat /run/secrets/db`
password: <from vault>
password: ********
Password: (hidden)
password=[FILTERED]
"password":"***"
api_key: ""
API_KEY=
API_KEY=<your-api-key>
api_key=your_api_key_here
apiKey: process.env.API_KEY,
api_key=os.environ["API_KEY"]
token: str | None = None
def login(username: str, password: str) -> Session:
fn set_password(&mut self, password: &str) -> Result<(), Error> {
const password = watch("password");
let token = await getToken();
password_hash varchar(255) not null,
add_column :users, :encrypted_password, :string
validates :password, length: { minimum: 12 }
if (!password) return res.status(400).json({ error: "password required" });
error: the argument '--password <PASSWORD>' requires a value
  -p, --password string   password for basic auth
      --token-file FILE   read the token from FILE
usage: login [-u user] [-p password] host
Enter password for ‹user›:
Password for user postgres:
[sudo] password for ‹user›:
Enter passphrase for key '/home/‹user›/.ssh/id_ed25519':
psql: error: FATAL:  password authentication failed for user "‹user›"
Access denied for user '‹user›'@'‹host›' (using password: NO)
Permission denied (publickey,password).
Permission denied, please try again.
Failed password for invalid user admin from 10.‹n2›.‹n2›.‹n2› port ‹port› ssh2
pam_unix(sudo:auth): conversation failed
passwd: Authentication token manipulation error
chage: password aging for ‹user› set to ‹n2› days
Your password will expire in ‹n› days
Password must contain at least one digit and one symbol.
Password strength: weak (score 1/4)
password reset requested by ‹email›
Wrong password, ‹n› attempts left
LDAP result 49: invalid credentials, data 52e
535 5.7.8 Username and Password not accepted
SASL authentication failed: mechanism PLAIN
ERR invalid password
no password is set for user default
login attempt from ‹host› for ‹user› succeeded
postgres://‹host›:5432/‹db›
postgresql://‹user›@‹host›/‹db›
DATABASE_URL=postgres://${PGUSER}:${PGPASSWORD}@‹host›/‹db›
mongodb://<user>:<password>@‹host›/‹db›
redis://‹host›:6379/0
amqp://guest@‹host›:5672/
jdbc:mysql://‹host›:3306/‹db›?useSSL=true
sqlite:////var/lib/‹word›/‹db›.db
https://user:***@‹host›/repo.git
https://‹user›@bitbucket.org/‹repo›.git
git@github.com:‹repo›.git
ssh://git@‹host›:2222/‹repo›.git
scp ‹user›@‹host›:/tmp/a.tgz .
rsync -a ./ ‹user›@‹host›:/srv/www
mailto:‹email›
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
Authorization: Bearer ${{ secrets.API_TOKEN }}
-H "Authorization: Bearer $(gcloud auth print-access-token)"
WWW-Authenticate: Basic realm="Restricted"
www-authenticate: Bearer error="invalid_token"
Authorization header missing
Set-Cookie: theme=dark; Path=/
Set-Cookie: session=; Max-Age=0
Cookie: _ga=GA1.2.‹n9›.‹unix›
cookie consent banner loaded
Key: ‹word›/reports/‹day›.csv
KeyError: 'password'
KeyError: 'AWS_SECRET_ACCESS_KEY'
Missing required environment variable STRIPE_SECRET_KEY
env: OPENAI_API_KEY not set
primary key constraint "‹db›_pkey" violated
duplicate key value violates unique constraint "users_email_key"
foreign key (‹word›_id) references ‹word›(id)
DETAIL:  Key (id)=(‹n7›) already exists.
partition key ‹word›-‹n3›, offset ‹n8›
sort_key=created_at
key=‹word›:‹n5› ttl=‹n4›
redis key session:‹uuid› evicted
press any key to continue
keyboard interrupt
hotkey ctrl+shift+p is taken
public key retrieval is not allowed
host key verification failed.
unable to load private key
private key does not match the certificate
chmod 600 ~/.ssh/id_rsa
ssh-keygen -t ed25519 -f deploy_key -N ""
-rw------- 1 ‹user› ‹user› 2602 Nov  3 10:11 server.key
openssl req -new -key server.key -out server.csr
tls: failed to verify certificate: x509: certificate signed by unknown authority
phone number is required
invalid phone number
phone_number: string (E.164)
ssn must match ^\d{3}-\d{2}-\d{4}$
card was declined (do_not_honor)
card ending in ‹n4› expired
**** **** **** ‹n4›
4 tests, 12 assertions, 0 failures
‹n5› ‹n5› ‹n5› ‹n5› vmstat
part ‹n4›-‹n4›-‹n3› is out of stock
ISBN 978-0-‹n5›-‹n3›-1
flight LH‹n3› gate B‹n2›
zip ‹n5›-‹n4›
‹n3›-‹n3› of ‹n4› rows
range 100-200-3000
room ‹n3›.‹n3›.‹n4›
lat 48.‹n7› lon 11.‹n7›
1.‹n3›.‹n3›,‹n2› EUR
+‹n3› -‹n2› lines
@@ -‹n3›,7 +‹n3›,9 @@ fn main()
color: #‹hex7›f; background: #fff
hash: ‹hex64› (blake3)
merkle root ‹hex64›
device ‹hex16› offline
firmware ‹hex8›-‹n4›
wifi channel ‹n2› bssid ‹mac›:‹mac›
otp service unavailable
2FA is not enabled for ‹user›
TOTP code ‹n5› is invalid
jwt: signature is invalid
jwt expired
no jwt in request
bearer token not provided
basic auth is deprecated
aws: credentials could not be loaded from any provider
Unable to locate credentials. You can configure credentials by running "aws configure".
gcloud: There was a problem refreshing your current auth tokens: invalid_grant
az: AADSTS700082: The refresh token has expired due to inactivity since ‹iso›
"kid":"‹hex40›"
"n":"‹url86›‹url86›","e":"AQAB"
jwks: key ‹url43› rotated
"x":"‹url43›","y":"‹url43›"
sri: sha384-‹b6464›
csp nonce missing for inline script
pnpm: Lockfile is up to date, resolution step is skipped
added ‹n4› packages, and audited ‹n4› packages in ‹n2›s
Downloading crates ... regex-automata v0.4.‹n›
test auth::password_is_hashed ... ok
PASS src/auth/token.test.ts
✓ rejects an expired token (‹n2› ms)
expect(user.password).not.toBe(user.passwordHash)
warning: field `secret` is never read
error[E0609]: no field `token` on type `&Config`
TypeError: Cannot read properties of undefined (reading 'apiKey')
java.lang.NullPointerException: Cannot invoke "String.length()" because "password" is null
"""}
