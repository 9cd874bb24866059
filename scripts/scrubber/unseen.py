"""Contexts that no rule was tuned for: written last, measured, and left alone. Whoever looks at what they miss moves
them into fresh.py and writes others. See corpus.py."""

SECRETS = {
    "api_key": """
Caused by: java.lang.IllegalStateException: maps.api-key=«mixed40» must start with AI
{"severity":"ERROR","message":"pinecone 401","labels":{"api_key":"«uuid»"}}
mailgun_api_key «mailgun» is sandbox only
./gradlew assemble -PsentryKey=«hex32»
# kustomize secretGenerator literal: STRIPE_KEY=«stripe»
cypress run --record --key «uuid»
dd-agent: conf.d/api_key: "«hex32»"
Deno.env.set("DEEPL_KEY", "«mixed32»")
ValueError: Unknown scheme: apikey «b64_48»
ERROR collector otlp: headers: {"api-key": "«hex36»FFFF"}
tf: provider "fastly" { api_key = "«url32»" }
Could not resolve secret: fallback client_secret «mixed48»
sudo -E env NGROK_AUTHTOKEN=«mixed43» ngrok http 80
Invalid value for --license-key: «hex40»
wp option update akismet_api_key «low12»
Twilio auth: SK«hex32» / «mixed32»
val client = OkHttp(apiKey = "«mixed32»")
http.Header{"X-Api-Key": {"«mixed40»"}}
<add key="Mandrill.ApiKey" value="«url22»" />
node:internal/process: apiSecret='«mixed40»'
rollbar: accessToken: '«hex32»',
bugsnag.start("«hex32»") # api key
appcenter login --token «hex40»
export RESEND_API_KEY=re_«mixed8»_«mixed24»
GET /maps?client_secret=«mixed40»&v=2 → 403
Failed asserting that 'null' matches expected '«groq»'.
sk-learn? no, «openai» pasted in notebook cell 3
snyk/config: api=«uuid» (apiToken)
Authorization: Api-Key «mixed32».«mixed32»
godoc: const apiKey = "«hex40»" exposed
kong: consumer key-auth key=«mixed32»
SplunkHEC: Authorization: Splunk «uuid»
""",
    "password": r"""
Cannot connect as ‹user› with password '«pws»': ORA-01017
psql: PGPASSWORD «pws» is ignored, use .pgpass
DB_PASS=«pws» DB_HOST=‹host› ./migrate.sh failed with 1
mysql.connector.connect(user='‹user›', password='«pws»', host='‹host›')
{"level":"debug","body":{"email":"a@b.c","password":"«pws»"}}
docker: -e MSSQL_SA_PASSWORD='«pws»' mcr.microsoft.com/mssql
rabbitmqctl change_password ‹user› «pws»
Error: secret/db: {"data":{"password":"«pws»"}}
winrm: ansible_winrm_password='«pws»' rejected
imapsync --user1 ‹user› --password1 «pws» --host1 ‹host›
lftp -u ‹user›,«pws» sftp://‹host›
C:\> net use Z: \\srv\share «pws» /user:‹user›
Set-ADAccountPassword: ConvertTo-SecureString '«pws»' -AsPlainText -Force
openconnect --user=‹user› --passwd-on-stdin <<< '«pws»'
ORACLE_PWD=«pws» docker start oracle
postgres: CREATE ROLE ‹user› LOGIN PASSWORD '«pws»'
pam: user=‹user› pass=«pws» rhost=10.1.2.7
phpunit: $this->login('‹user›', '«pws»');
assertThat(user.getPassword()).isEqualTo("«pws»")
zip --password «pws» x.zip y
cadaver: machine ‹host› login ‹user› password «pws»
config.ini:⏎[smtp]⏎pass = «pws»
ERR AUTH «pws» called without any password configured
redis.exceptions: AUTH ‹user› «pws» failed
<wsse:Password Type="PasswordText">«pws»</wsse:Password>
ttyd -c ‹user›:«pws» bash
tomcat: keystorePass="«pws»" invalid
hibernate.connection.password «pws»
export SUDO_PASS='«pws»'
vault: "root_password": "«pws»" does not satisfy policy
Invalid password "«pws»": must contain a symbol
user typed password «pws» three times
""",
    "token": """
WARNING: token «mixed40» was found in image layer 3
lerna publish: NPM_TOKEN=«npm»
oauth2.TokenError: refresh_token «url64» is not active
ghs_ token leaked: «ghs»
DISCORD_TOKEN=«discord» node .
Bot token "«telegram»" → 404
curl -XPOST -H 'X-Auth-Token: «mixed32»' ‹host›
pulumi login: PULUMI_ACCESS_TOKEN=pul-«hex40»
datadog-ci: accessToken='«mixed40»'
session cookie: sessionid=«low32»; csrftoken=«mixed64»
wss://‹host›/ws?auth=«mixed40» closed 4401
gl: CI_REGISTRY_PASSWORD=«glpat»
bearer: «url64»
app.use(auth("«mixed48»"))
gcloud? no, databricks: token = dapi«hex32»
ansible-galaxy collection publish --token «hex40»
mastodon: access_token: «url43»
FCM server key AAAA«url7»:APA91b«url134»
"csrf_token":"«b64_44»"
HASS_TOKEN=«jwt»
vault write auth/approle/login role_id=x secret_id=«uuid»
X-Shopify-Access-Token: «shopify»
docker trust? DOCKER_PASSWORD=«dckr»
code=401 msg="token «url43» unknown"
login cookie value «mixed40» expired
X-GitLab-Token: «mixed32»
spotify: {"access_token":"BQ«url120»"}
jenkins api token for bob: «hex34»
webhook: https://hooks.slack.com/services/«slackhook»
netlify sites:list --auth nfp_«mixed36»
rubygems: key rubygems_«hex48»
Travis: travis encrypt --token «mixed22»
""",
    "private_key": """
tls: private key does not match public key⏎«pem»
ssh -i <(echo "«pem_json»") x
server-0 | «pem_compose»
[stderr] boom «pem_bracket»
Nov 3: dump «pem_syslog»
@@ -1,9 +0,0 @@⏎«pem_diff»
less -N id_rsa⏎   12 «pem_numbered»
TLS_KEY: |-⏎    «pem_indent2»
Dropbear: cannot parse⏎«pem_openssh»
node:crypto ERR_OSSL: «pem_nofooter»
stack trace cut⏎«pem_noheader»
keybase pgp export⏎«pgp»
sops --age «age» x.yaml
electrum: importing «wif» failed
hdwallet: root «xprv» wrong version
nostril --sec «nsec»
Error: invalid private key "0x«hex64»"
foundry: vm.envUint("PK") 0x«hex64» private key
MNEMONIC="«words12»" npx hardhat deploy
passphrase/mnemonic mismatch: «words24»
recover wallet from "«words12»"
solana airdrop failed: keypair «sol_array»
Keypair bytes «sol_array_bare» have wrong length
import {«sol58»} into phantom
{"secret_key":"«sol58»"}
nano wallet: seed «HEX64»
seed = "«hex64»" # ed25519
wg genkey → «b64_44»? no: PrivateKey = «b64_44»
jwk: {"kty":"EC","d":"«url43»","crv":"P-256"}
signingKey privateKey: '«b64_44»'
APNS_KEY="«pem_json»"
github app: PRIVATE_KEY=«pem_json» malformed
""",
    "database_url": """
DATABASE_URL is postgres://‹user›:«pwu»@‹host›/‹word›
Ecto: failed: ecto://‹user›:«pwu»@‹host›/x
sqlx::Error: Configuration(mysql://‹user›:«pwu»@‹host›/x)
"uri":"mongodb://‹user›:«pwu»@‹host›/admin"
Connecting to amqps://‹user›:«pwu»@‹host›/x
rediss://:«pwu»@‹host›:6380
postgresql+asyncpg://‹user›:«pwu»@‹host›/x
Server=‹host›;Database=x;User Id=‹user›;Password=«pwu»;
jdbc:postgresql://‹host›/x?password=«pwu»&user=y
connection string "Host=‹host›;Username=‹user›;Password=«pwu»"
sql.Open("mysql", "‹user›:«pwu»@tcp(‹host›:3306)/x")
psql "user=‹user› password=«pwu» host=‹host›"
bolt://‹user›:«pwu»@‹host›
mariadb+pymysql://‹user›:«pwu»@‹host›/x
timescale: postgres://‹user›:«pwu»@‹host›:5432/x
pgx: cannot parse `postgres://‹user›:«pwu»@‹host›/x`
DSN=mysql://‹user›:«pwu»@‹host›/x ./api
HikariPool: jdbc:mysql://‹host›/x?user=y&password=«pwu»
oracle: ‹user›/«pwu»@//‹host›:1521/X
couchbase://‹user›:«pwu»@‹host›
clickhouse://‹user›:«pwu»@‹host›:9440/x
Uid=‹user›;Pwd=«pwu»;Server=‹host›
nats://‹user›:«pwu»@‹host›
snowflake://‹user›:«pwu»@acme/x
valkey://default:«pwu»@‹host›
cockroachdb://‹user›:«pwu»@‹host›/x
airflow connections add x --conn-uri postgres://‹user›:«pwu»@‹host›/x
tern: database url mysql://‹user›:«pwu»@‹host›/x
pgloader mysql://‹user›:«pwu»@‹host›/x
kafka: jdbc:db2://‹host›/x:user=y;password=«pwu»;
debezium "database.url":"postgres://‹user›:«pwu»@‹host›/x"
PG error at postgresql://‹user›:«pwu»@‹host›/x
""",
    "aws": """
kms denied for «akia»
AWS_ACCESS_KEY_ID: "«akia»"
aws_secret_access_key: "«aws40»"
"aws_secret_access_key" = "«aws40»"
AwsSecretKey=«aws40»
accessKeyId='«akia»'
SecretAccessKey=«aws40»
-Daws.secretKey=«aws40»
s3.secret-key=«aws40»
secretKey: "«aws40»" # aws s3
AWS_SECRET_ACCESS_KEY='«aws40»' aws s3 ls
X-Amz-Security-Token=«awstoken»
session_token = "«awstoken»"
AKIA in git: «akia»
Credential «asia» expired
boto: aws_secret_access_key=«aws40»
aws_access_key_id «akia»
"secretAccessKey":"«aws40»"
new AWS.Credentials('«akia»')
user «akia» is not authorized
export AWS_SECRET_ACCESS_KEY=«aws40»
AWS secret key «aws40» rejected
awscli: secret: «aws40» aws
terraform aws secret_key "«aws40»"
[prod] aws_session_token=«awstoken»
ACCESS_KEY=«akia»
aws_key=«akia»
AWS_KEY_SECRET=«aws40»
ENV AWS_SECRET_ACCESS_KEY «aws40»
bedrock api key ABSK«b64n120»
SES_SECRET=«aws40» amazon
s3 secret key = «aws40»
""",
    "gcp": """
API key «aiza» expired
google_api_key=«aiza»
?key=«aiza»
"apiKey":"«aiza»"
Bearer «ya29»
access_token=«ya29»
client_secret="«gocspx»"
GOCSPX leak «gocspx»
refresh_token: «goog_refresh»
credentials_json: «b64_json»
"private_key":"«pem_json»"
maps key «aiza»
GOOGLE_MAPS_KEY: '«aiza»'
goog hmac «goog1e»
gcs_secret=«b64n40» # google
gcloud token «ya29»
firebase key «aiza»
vertex: «ya29»
oauth «gocspx» mismatch
youtube «aiza»
secret «gocspx»
sa: «b64_json»
token «goog_refresh»
AIza: «aiza»
places.key=«aiza»
translate --key «aiza»
kubectl secret gcp «b64_json»
adc «ya29»
gemini «aiza» 400
vision key='«aiza»'
gtag «aiza»
GOOGLE_CLIENT_SECRET=«gocspx»
""",
    "azure": """
AccountKey=«b64_88»
client secret «azsecret»
AZURE_PASSWORD=«azsecret»
sig=«sigenc»&se=2026
?sv=1&sig=«sigenc»
SharedAccessKey=«b64_44»
x-functions-key=«azfunc»
?code=«azfunc»
api-key: «azopenai»
az devops «azdevops»
«azdevops»@dev.azure.com
Subscription-Key: «hex32»
Ocp-Apim-Subscription-Key=«hex32»
InstrumentationKey=«uuid»;
storage key «b64_88»
cosmos key «b64_88»
primaryKey: «b64_88»
"key1": "«b64_88»"
acr password «acr»
ARM_CLIENT_SECRET=«azsecret»
client_secret: "«azsecret»"
azure_client_secret «azsecret»
appSecret: '«azsecret»'
secretText: "«azsecret»"
sas: ?sig=«sigenc»
iot primary_key=«b64_44»
SharedAccessSignature sr=x&sig=«sigenc»&se=1
AZURE_STORAGE_CONNECTION_STRING=AccountKey=«b64_88»
AzureWebJobsStorage: AccountName=x;AccountKey=«b64_88»
sp secret «azsecret» invalid
AZURE_KEY=«b64_88»
az: --secret «azsecret»
""",
    "basic_auth": """
oci: failed to authorize https://‹user›:«pwu»@‹host›/v2/token
Err:4 https://‹user›:«pwu»@‹host›/debian sid Release
ALL_PROXY=socks5://‹user›:«pwu»@‹host›:1080
export https_proxy=http://‹user›:«pwu»@‹host›:3128/
curl --user ‹user›:«pwu» -T a.tgz https://‹host›/
requests.exceptions.ProxyError: http://‹user›:«pwu»@‹host›:8080
Proxy-Authorization: Basic «basic»
-H "authorization: Basic «basic»"
"registry-auth": "Basic «basic»"
{"auths":{"x":{"auth":"«basic»"}}}
auth=HTTPBasicAuth('‹user›', '«pwu»')
aiohttp.BasicAuth("‹user›", "«pwu»")
http --auth=‹user›:«pwu» :8000/x
opensearch: https://‹user›:«pwu»@‹host›:9200/_bulk
rtmp://‹user›:«pwu»@‹host›/live/x
camera rtsp://‹user›:«pwu»@10.0.0.4/1
ftp://‹user›:«pwu»@‹host›/a.zip: 530
webdavs://‹user›:«pwu»@‹host›/x
smtp://‹user›:«pwu»@‹host›:25 refused
mqtt://‹user›:«pwu»@‹host›
pip.conf: extra-index-url=https://‹user›:«pwu»@‹host›/simple
GOPROXY=https://‹user›:«pwu»@‹host›,direct
helm pull https://‹user›:«pwu»@‹host›/x.tgz
regctl registry login --creds ‹user›:«pwu»
npm_config_registry=https://‹user›:«pwu»@‹host›/npm/
maven: https://‹user›:«pwu»@‹host›/releases
terraform http backend https://‹user›:«pwu»@‹host›/state
hey -a ‹user›:«pwu» http://‹host›
grafana datasource url=http://‹user›:«pwu»@‹host›:3100
caldav: https://‹user›:«pwu»@‹host›/dav
Authorization: 'Basic «basic»',
wget http://‹user›:«pwu»@‹host›/x.deb
""",
    "git_credential": """
hint: https://‹user›:«pwu»@‹host›/o/r.git diverged
git fetch https://‹user›:«ghp»@github.com/o/r
fatal: could not read from https://‹user›:«pwu»@‹host›/o/r.git
credential approved for https://‹user›:«pwu»@gitlab.com
remote.origin.url=https://‹user›:«pwu»@‹host›/o/r.git
origin⇥https://«ghp»@github.com/o/r.git (fetch)
pip install "x @ git+https://‹user›:«ghp»@github.com/o/x"
git+https://«ghp»@github.com/o/r.git#egg=x
Cloning into bare repository from https://oauth2:«glpat»@gitlab.com/o/r.git
jenkins: hudson.plugins.git: https://‹user›:«pwu»@‹host›/o/r.git
[submodule] url = https://‹user›:«pwu»@‹host›/o/s.git
npm: https://«ghp»:x-oauth-basic@github.com/o/r.git
git clone https://x-access-token:«ghs»@github.com/o/r
argocd repo add https://‹user›:«pwu»@‹host›/o/r.git
flux git https://‹user›:«pwu»@‹host›/o/r.git timeout
codeberg: https://‹user›:«pwu»@codeberg.org/o/r
bitbucket https://x-token-auth:«url40»@bitbucket.org/o/r.git
git lfs: https://‹user›:«pwu»@‹host›/o/r.git/info/lfs/objects
hub sync https://‹user›:«pwu»@‹host›/o/r.git
go mod: git -c x ls-remote https://‹user›:«pwu»@‹host›/o/m.git
cargo: unable to update https://‹user›:«pwu»@‹host›/o/c.git
composer: https://oauth2:«glpat»@gitlab.com/o/p.git
ansible-galaxy: git+https://‹user›:«pwu»@‹host›/o/role.git
bazel: git_repository remote https://‹user›:«pwu»@‹host›/o/b.git
bundle: https://«ghp»:x-oauth-basic@github.com/o/g.git
tea: https://‹user›:«pwu»@gitea.‹host›/o/r
push mirror https://‹user›:«pwu»@‹host›/o/r.git failed
git archive --remote=https://‹user›:«pwu»@‹host›/o/r.git
error: failed to push some refs to 'https://‹user›:«pwu»@‹host›/o/r.git'
west: https://‹user›:«pwu»@‹host›/o/z.git
vcs: pushurl = https://‹user›:«pwu»@‹host›/o/r.git
gerrit: https://‹user›:«pwu»@‹host›/a/o/r.git
""",
    "credit_card": """
card_error: «card» insufficient_funds
expected «cardsp» to be masked
cardNumber="«card»"
pan «card» not in BIN table
Visa ending? full: «cardsp»
{"cc":"«cardda»"}
INSERT INTO c VALUES(3,'«card»')
log: entered «card»
POS terminal: «cardsp» approved
number: «card»
csv: 9;«card»;12/29
amex=«amex»
track «card» read error
<card>«cardsp»</card>
order paid («card»)
dispute on «cardda»
stripe token from «card»
card=«card»&cvc=123
Luhn ok: «cardsp»
print «card»
subscription card «card» expired
billing «cardda» update
"value": "«card»"
Maestro/Visa «cardsp»
replaced «card» with ****
check «amex»
pay «card» 10 USD
saved card: «cardsp»
cc «card»
> «cardsp»
customer gave «card» by phone
«card» blocked
""",
    "ssn": """
ssn invalid: «ssn»
"ssn":"«ssn»"
user «ssn» duplicate
SSN=«ssn»
ssn: «ssn»,
social security number is «ssn»
ITIN «itin»
{"tax_id":"«ssn»"}
employee (ssn «ssn»)
loan: «ssn» denied
row: a,b,«ssn»
<ssn type="us">«ssn»</ssn>
w4 «ssn»
ssn='«ssnbare»'
SocialSecurity: «ssn»
where ssn = '«ssn»'
«ssn» is deceased
person «ssn»
tin: «itin»
expect(ssn).toBe("«ssn»")
claims: «ssn»
SSN "«ssn»" leaked
ssn #«ssn»
student «ssn»
audit «ssn» viewed
verify «ssn»: mismatch
SSN («ssn») bad
medicare «ssn»
ssn → «ssn»
id «ssn» rejected
driver «ssn»
ssn value '«ssnsp»'
""",
    "phone": """
sms failed for «e164»
"phone":"«us»",
phone=«us»
Tel: «uspar»
mobile «ukmob»
to: «e164»
from=«e164»
call «uspar»
whatsapp:«e164»
customer phone is «us»
{"tel":"«frintl»"}
phone: «inmob»
contact «us»
fax: «uspar»
phone («us») invalid
otp for «e164»
number «usdot»
voice «us»
cell: «usdot»
user «brmob»
dial «deintl00»
Handy: «demob»
«e164» opted out
phone_number=«usbare»
msisdn: «msisdn»
sim «e164»
text «us»
PHONE='«e164»'
<phone>«uspar»</phone>
caller «us»
support line «us»
sms to «inmob»
""",
    "totp_seed": """
otpauth://totp/z?secret=«b32_32»
totp secret: «b32_32»
TOTP=«b32_32»
mfa_secret: "«b32_16»"
oathtool --totp --base32 «b32_32»
pyotp.TOTP('«b32_16»')
2fa secret = «b32_32»
otp_key: «b32_32»
authenticator: «b32_32»
"totpSecret": "«b32_32»"
setup key «b32sp»
two factor secret «b32_32»
OTP: «b32_26»
mfa key: «b32_32»
google authenticator key «b32_16»
otplib: secret '«b32_32»'
totp «b32_16» bad
hotp? otp seed «b32_32»
TWO_FACTOR_SECRET=«b32_32»
mfa enroll: «b32_52»
2fa key «b32_32»
rotp: «b32_32»
totp.now(«b32_32»)
otpSecret=«b32_32»
authenticator app secret: «b32_32»
mfaSecret: '«b32_32»'
totp seed: «b32sp»
?secret=«b32_32» otpauth
2FA: enter «b32_16»
totp key=«b32_32»
secret «b32_32» for totp
TOTP_KEY='«b32_32»'
""",
    "jwt": """
invalid «jwt»
jwt=«jwt»
Bearer «jwt»
token: "«jwt»"
{"t":"«jwt»"}
id_token «jwt»
session «jwt»
'«jwt»'
x-jwt: «jwt»
auth=«jwt»;
cookie «jwt»
expired(«jwt»)
grpc «jwt»
kube «jwt»
oidc=«jwt»
refresh=«jwt»
api «jwt»
login «jwt»
sso «jwt»
key «jwt»
access «jwt»
ws «jwt»
app «jwt»
verify «jwt»
parse «jwt» failed
claims in «jwt»
user «jwt»
q=«jwt»
hdr «jwt»
a: «jwt»
[«jwt»]
log «jwt»
""",
    "high_entropy_hex": """
SECRET=«hex64»
secret_key_base=«hex128»
hmac: «hex64» secret
session secret: «hex64»
encryption key: «hex64»
ENC_KEY=«hex32»
aes256 key «hex64»
jwt secret=«hex64»
cookie key «hex64»
signing secret «hex32»
master key=«hex64»
salt «hex64»
pepper: «hex32»
psk «hex64»
network key=«HEX32»
app secret: «hex32»
shared secret=«hex64»
webhook secret: «hex64»
cipher key '«hex64»'
token secret «hex64»
NTLM hash «hex32»
private: «hex64»
api secret=«hex40»
unseal key: «hex66»
device secret «hex32»
csrf secret "«hex64»"
passphrase «hex64»
rails master key: «hex32»
hex key: «hex64»
seed/secret «hex64»
login secret «hex32»
vault token secret «hex64»
""",
}

CLEAN = r"""
release pinned to ‹hex40›
Merge made by recursive: ‹hex40›
reset --hard ‹hex40›
bad revision '‹hex40›'
deploying ‹hex40› to staging
Comparing ‹hex40› with main
cannot rebase onto ‹hex40›
patch ‹hex40› does not apply
last good build: ‹hex40›
ref '‹hex40›' not advertised
build of ‹hex40› failed after 3m
image pushed with tag ‹hex40›
nightly-‹hex40› is broken
worktree at ‹hex40› is dirty
notes for ‹hex40› missing
GitHub: status for ‹hex40› is pending
compare/‹hex40›...main
shallow update of ‹hex40› not allowed
sha ‹hex40› is not signed
lint failed on ‹hex40›
unexpected digest ‹hex64›
chunk ‹hex64› is missing
stale lock for ‹hex64›
pulling ‹hex64›
container ‹hex64› restarted
Exited (1) ‹hex64›
layer ‹hex64› verified
object ‹hex64› quarantined
blob ‹hex64› truncated
expected digest ‹hex64› from registry
artifact digest: ‹hex64›
dedup index lost ‹hex64›
image ‹hex64› is dangling
pruned ‹hex64›
container_name=web id=‹hex64›
wanted sha256 ‹hex64›
manifest ‹hex64› unknown
archive ‹hex64› corrupt
content ‹hex64› not in store
volume ‹hex64› removed
trace ‹hex32› sampled out
cacheKey=‹hex32›
page ‹hex32› was evicted
document ‹hex32› not indexed
md5 ‹hex32› differs
Event ID: ‹hex32›
asset ‹hex32› missing
job ‹hex32› crashed
uid ‹hex32› not mapped
device ‹hex32› offline
build ‹hex32› queued
GET /files/‹hex32›.png 404
query ‹hex32› cancelled
request=‹hex32› took 30s
object ‹hex32› locked
report ‹hex32› rendered
batchId: ‹hex32›
snapshot ‹hex32› stale
stream ‹hex32› ended
file hash ‹hex32›
order ‹uuid› shipped
subscription ‹uuid› paused
device_id=‹uuid›
pod uid ‹uuid› evicted
volume pvc-‹uuid› pending
run ‹uuid› aborted
workspace ‹uuid› archived
message ‹uuid› requeued
"correlationId":"‹uuid›"
template ‹uuid› not found
customer ‹uuid› merged
thread ‹uuid› closed
disk ‹uuid› detached
GUID ‹uuid› is in use
user ‹uuid› has no role
[‹uuid›] started
cluster ‹uuid› degraded
lock ‹uuid› is held
transaction ‹uuid› rolled back
session ‹uuid› not resumed
fee payer ‹sol_pub› underfunded
account ‹sol_pub› already in use
program ‹sol_pub› is not executable
vote account ‹sol_pub› delinquent
stake ‹sol_pub› inactive
owner of ‹sol_pub› is not the system program
signer ‹sol_pub› missing
PDA ‹sol_pub› mismatch
ATA ‹sol_pub› does not exist
validator ‹sol_pub› skipped its slot
sender 0x‹hex40› out of funds
call to 0x‹hex40› reverted
allowance for 0x‹hex40› too low
deployed at 0x‹hex40›
balance of 0x‹hex40› is 0
owner() returned 0x‹hex40›
checksum address 0x‹hex40› invalid
router 0x‹hex40› paused
pair 0x‹hex40› not created
proxy 0x‹hex40› points nowhere
https://youtu.be/‹url11›
https://docs.google.com/spreadsheets/d/‹url44›/edit
https://drive.google.com/file/d/‹url33›/view
https://open.spotify.com/track/‹mixed22›
https://www.figma.com/design/‹mixed22›/x
https://codesandbox.io/s/‹low10›
https://stackblitz.com/edit/‹low12›
https://meet.google.com/‹abc3›-‹abc4›-‹abc3›
https://us02web.zoom.us/j/‹digits11›
https://t.co/‹mixed10›
https://bit.ly/‹mixed7›
https://imgur.com/a/‹mixed7›
https://gist.github.com/bob/‹hex32›
https://python.example.org/packages/ab/cd/‹hex60›/x.whl
https://npm.example.org/x/-/x-1.2.3.tgz#‹hex40›
https://cdn.x.io/‹hex64›/main.js
https://x.s3.amazonaws.com/‹uuid›/a.png
https://sentry.io/organizations/x/issues/‹digits10›/
https://app.x.io/trace/‹hex32›
https://hub.docker.com/layers/x/sha256-‹hex64›
pi_‹mixed24› is already confirmed
customer cus_‹mixed14› deleted
seti_‹mixed24› expired
inv_‹mixed24› overdue
evt_‹mixed24› replayed
run_‹mixed24› requires_action
thread_‹mixed24› archived
asst_‹mixed24› not found
file-‹mixed24› was deleted
chatcmpl-‹mixed29› truncated
msg_‹mixed24› too long
batch_‹mixed24› failed validation
resp_‹hex50› incomplete
dpl_‹mixed28› errored
msg ‹url22› bounced
ulid ‹up26›
ksuid ‹mixed27›
nanoid ‹url21›
cuid c‹low24›
req-‹low26› done
xid ‹low20›
shortid ‹url9›
buildId: ‹url21›
sha1-‹b64_28›
sha384-‹b64_64›
sha512-‹b64_88›
sha256-‹b64_44›
h1:‹b64_44›
"integrity": "sha512-‹b64_88›",
integrity sha384-‹b64_64› failed
SHA256:‹b64n43›
fingerprint SHA256:‹b64n43› unknown
spki pin ‹b64_44› not found
public key ‹b64_44›
peer public key: ‹b64_44›
PublicKey: ‹b64_44›
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43›
ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI‹b64n90› x
etag "‹mixed20›"
If-None-Match: W/"‹url27›"
x-vercel-id: fra1::‹low5›-‹digits13›-‹hex12›
x-served-by: cache-fra-‹low8›
x-amz-cf-id: ‹url55›==
x-guploader-uploadid: ‹url120›
cf-ray: ‹hex16›
server-timing: traceparent;desc="00-‹hex32›-‹hex16›-01"
Report-To: {"group":"‹mixed10›"}
nonce-‹b64_24›
Sec-WebSocket-Key: ‹b64_24›
Sec-WebSocket-Accept: ‹b64_28›
boundary=----WebKitFormBoundary‹mixed16›
cursor=‹b64_32›
"after": "‹b64_28›"
startKey ‹b64_32›
pageInfo endCursor "‹b64_24›"
_ZN4core3ptr85drop_in_place$LT$x$GT$17h‹hex16›E
lib-‹hex16›.rmeta
app-‹hex8›.css.map
polyfills-‹hex20›.js
vendor.‹hex20›.chunk.js
fonts/inter-‹hex16›.woff2
_buildManifest.‹hex32›.js
target/release/.fingerprint/x-‹hex16›
/nix/store/‹low32›-bash-5.2
/var/lib/docker/volumes/‹hex64›/_data
/proc/‹n›/ns/net
/dev/disk/by-id/wwn-0x‹hex16›
/tmp/pip-req-build-‹low8›
/tmp/tmp‹low8›
/run/user/1000/keyring
~/.cache/uv/archive-v0/‹url20›
~/.npm/_cacache/content-v2/sha512/ab/cd/‹hex124›
~/Library/Caches/x/‹HEX32›
C:\Users\bob\AppData\Local\Temp\‹uuid›
{‹uuid›} is not registered
HKEY_CLASSES_ROOT\CLSID\{‹uuid›}
S-1-5-21-‹digits10›-‹digits9›-‹digits9›-500
urn:uuid:‹uuid›
arn:aws:acm:x:‹digits12›:certificate/‹uuid›
arn:aws:states:x:‹digits12›:execution:y:‹uuid›
arn:aws:secretsmanager:x:‹digits12›:secret:prod/db-‹mixed6›
projects/x/secrets/db-password/versions/3
/subscriptions/‹uuid›/providers/x
ocid1.instance.oc1.iad.‹low60›
i-‹hex17› is stopping
ami-‹hex17› deprecated
rtb-‹hex17›
acl-‹hex17›
fs-‹hex17› not mounted
tgw-‹hex17›
igw-‹hex17›
nat-‹hex20›
lt-‹hex17›
key-‹hex17› pair not found
volume vol-‹hex17› in use
Qm‹b58_44› not pinned
bafybei‹low52› not found
k51qzi5uqu5d‹low50› expired
magnet:?xt=urn:btih:‹hex40›
12D3KooW‹b58_44› dial backoff
bc1q‹low38› unconfirmed
npub1‹low58›
lnbc10n1‹low60› expired invoice
addr_test1‹low90›
cosmos1‹low38› not found
tz1‹b58_33›
nano_‹nano60› unopened
xrb_‹nano60›
terra1‹low38›
age1‹low58›
signature ‹sol_sig› not found
tx ‹sol_sig› dropped
confirmed ‹sol_sig›
timeline ‹digits19›
status/‹digits19›
guild ‹digits18›
channel ‹digits18› unavailable
snowflake ‹digits18›
chat -100‹digits10›
account ‹digits12›
order ‹digits10›
EAN ‹digits13›
IMEI ‹digits15›
ticket #‹n›
offset=‹digits10›
ts=‹digits13›
nanos ‹digits19›
pid=‹n›
inode ‹digits8›
uptime ‹digits8› s
‹digits10› bytes copied
heap ‹digits10›
rev ‹n›
line ‹n›, column ‹n3›
2026-07-01 12:00:00,123
01/Jul/2026:12:00:00 +0000
20260701T120000Z
1.2.3-beta.4+build.5678
v2026.7.1-rc.2
10.20.30.40:50051
fd00::1234:5678:9abc:def0
de:ad:be:ef:00:01
0x‹hex12› <main+24>
r12: ‹hex16›
RIP: 0010:x+0x1f/0x40
+0x‹hex4› libc.so.6
geo:52.52,13.405
RGB #a1b2c3
width 1920x1080
en_US.UTF-8
text/html; charset=utf-8
1280 x 720 @ 60
the password was changed yesterday
your password will expire in 5 days
password must not contain your name
new password (again):
password authentication is disabled
error: password is too short (minimum 12)
passwordless sudo is not configured
keyring password prompt dismissed
PasswordNotFoundException
ValidationError: "password" is required
password: is not a string
password: (blank)
password: <hidden>
Password: [protected]
password='%s'
password={password}
password: $(PASSWORD)
password: ${{ steps.x.outputs.pw }}
password=$2
password => undef
password => env('DB_PASSWORD')
password: os.getenv("PW")
"password": getSecret("db"),
password = config["db"]["password"]
password=self.password
password=args.password
password: process.env.PW,
passwd = getpass()
user.password = newPassword;
const { password } = req.body;
if password == "" {
fn check_password(hash: &str, password: &str) -> bool
def password=(value)
public void setPassword(String password) {
@Param('password') password: string
<input type="password" name="password">
label.password=Password
i18n: "password": "Passwort",
"password": "Mot de passe"
placeholder="Password"
password.length < 8
SHOW VARIABLES LIKE 'validate_password%'
ALTER USER bob PASSWORD EXPIRE;
GRANT SELECT ON db.password TO x
password_reset_tokens table
password-reset.spec.ts
/usr/share/man/man1/passwd.1.gz
PASSWORD_STORE_DIR=/home/bob/.store
PGPASSFILE=/home/bob/.pgpass
--password-file /run/secrets/pw
--ask-vault-pass
--no-password
-W  force password prompt
secret/data/x not found
Secret "tls" is immutable
kubectl get secret db -o yaml
secrets: db: file: ./db.txt
secret_name = "prod/db"
"SecretId": "prod/db"
SecretString is empty
client_secret is wrong
no secrets found
detect-secrets: 3 potential secrets
gitleaks: no leaks found
SECRET_KEY_FILE=/run/x
token=None
token: {{ .Values.token }}
token: !secret ha_token
token: file:/run/t
tokens=[1, 2, 3]
"token_count": 1234
tok/s 45.1
Tokenizer mismatch
invalid_token
unexpected token ";"
token '}' is unexpected here
missing token after "("
reserved word token
TokenExpiredError: jwt expired
token has wrong audience
token_url=https://‹host›/token
token_uri: https://oauth2.googleapis.com/token
cancellationToken.ThrowIfCancellationRequested()
var token = await GetTokenAsync();
csrf_token()
X-Auth-Token header required
pad token id 0
bearerFormat: JWT
api key required
API-Key header missing
apikey: invalid
"api_key": null
apiKey: import.meta.env.VITE_KEY
API_KEY=${API_KEY:-}
apiKey: '<your-api-key>'
OPENAI_API_KEY=your-key-here
x-api-key: $KEY
--api-key KEY
key: value
key=foo
"key": "id"
key: "created_at"
unknown key 'colour'
key 'x' already defined
missing translation key home.title
registry key not found
key expired 2026-01-01
keyframes fade
key_len must be 32
hash_key = user_id
partition_key: pk
idempotency-key: ‹uuid›
encryption key not found
no such key
private key is encrypted
public key denied
unable to load key file
key type ssh-dss not allowed
PEM_read_bio_PrivateKey failed
id_rsa.pub
authorized_keys
-----BEGIN CERTIFICATE REQUEST-----
-----END PUBLIC KEY-----
auth: disabled
auth=none
auth_provider = ldap
authMechanism=SCRAM-SHA-256
author: bob
authentication failed
login failed for bob
login: root
last login Tue
logged out
cookie banner
Cookie: consent=yes
cookies.txt not found
Set-Cookie: lang=de
session timeout
session.gc_maxlifetime
PHPSESSID missing
seed: 7
seed=12345
seed data loaded
mnemonic too short
mnemonic must have 12 words
passphrase required
passphrase: <none>
recovery phrase invalid
wallet locked
wallet not found
credentials missing
credentials: include
aws: no credentials
no credentials provider
AWS_PROFILE=dev
AWS_REGION=eu-west-1
AWS_ACCESS_KEY_ID is empty
aws_secret_access_key missing
GOOGLE_APPLICATION_CREDENTIALS=/x.json
AZURE_CLIENT_ID=‹uuid›
AccountName=x;EndpointSuffix=y
SharedAccessKeyName=Root
sig missing
otp: wrong code
2fa code 123456 expired
mfa_serial = arn:aws:iam::‹digits12›:mfa/bob
totp: not enrolled
authenticator removed
jwt: audience
jwt secret missing
phone: N/A
phone required
tel: none
phone field too short
call stack exceeded
ssn: hidden
ssn missing
card: none
card expired
postgres://db/x
mysql://db:3306/x
mongodb://a,b,c/x
redis://r:6379
amqp://mq
http://proxy:3128
https://bob@‹host›
https://‹host›/a@b
git@gitlab.com:o/r.git
ssh://git@‹host›/r
scp bob@‹host›:a .
bob@example.com bounced
@types/node@20.1.0
user:pass
curl -u user:pass https://x
ftp://anonymous@‹host›
docker login -u bob
npm login
docker run -u root x
psql -U bob -p 5432
ssh -p 2200 bob@x
-p 3000:3000
mkdir -p a/b
cp -p x y
"""
