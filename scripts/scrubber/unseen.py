"""Contexts that no rule was tuned for: written last, measured, and left alone. Whoever looks at what they miss moves
them into fresh.py and writes others. See corpus.py."""

SECRETS = {
    "api_key": """
opentofu: variable "api_key" = "«mixed40»"
haproxy: http-request set-header X-Api-Key «mixed32»
Kotlin: val STRIPE = "«stripe»"
mailgun.send: 401 «mailgun»
crystal: API_KEY = "«mixed40»"
meson: option api_key=«mixed32»
curl 'https://‹host›/v1?api_key=«mixed40»&x=1'
anthropic: x-api-key «anthropic»
""",
    "password": """
tomcat-users.xml: <user username="‹user›" password="«pws»" roles="x"/>
ORA-01017: connect ‹user›/«pws»@‹host›:1521/ORCL
pg_restore: PGPASSWORD=«pws» failed
wp config create --dbpass=«pws»
mosquitto_pub -u ‹user› -P «pws» -t x
flask: app.config['DB_PASSWORD'] = '«pws»'
compose: MYSQL_PASSWORD=«pws» is weak
ldapsearch -D cn=x -w «pws» -b dc=y
""",
    "token": """
nuget push -k «mixed40» --token «mixed40»
vercel --token «mixed40» deploy
snyk: SNYK_TOKEN=«uuid»
renovate: GITHUB_COM_TOKEN=«ghpat»
gitlab-runner register --registration-token «glrt»
header "Authorization": "token «ghp»"
slack-cli: «xoxb» invalid_auth
refreshToken: "«mixed64»"
""",
    "private_key": """
caddy: tls: failed to find any PEM data in⏎«pem»
openvpn: <key>⏎«pem»⏎</key>
"sshKey": "«pem_json»"
scp: «pem_bracket»
gh secret set KEY < k.pem⏎«pem_nofooter»
bs58 «sol58»
truffle: privateKeys: ["0x«hex64»"]
mnemonic="«words12»"
""",
    "database_url": """
graphile: postgres://‹user›:«pwu»@‹host›/‹word› refused
keycloak: KC_DB_URL=jdbc:postgresql://‹host›/‹word›?user=‹user›&password=«pwu»
beego: ‹user›:«pwu»@tcp(‹host›:3306)/‹word›?charset=utf8
metabase: MB_DB_CONNECTION_URI=postgres://‹user›:«pwu»@‹host›/‹word›
celery -b redis://:«pwu»@‹host›:6379/0 worker
"mongodb://‹user›:«pwu»@‹host›:27017"
superset: mysql://‹user›:«pwu»@‹host›/‹word›
Data Source=‹host›;Initial Catalog=‹word›;User ID=‹user›;Password=«pwu»
""",
    "aws": """
ansible: aws_secret_key: «aws40»
[minio]⏎secret_key = «aws40»
argo: AWS_SECRET_ACCESS_KEY «aws40»
boto3.Session(aws_access_key_id="«akia»")
"AccessKeyId" : "«asia»"
loki: s3: secret_access_key: «aws40»
rails: secret_access_key: "«aws40»"
X-Amz-Credential=«akia»%2F20261103
""",
    "gcp": """
ktor: googleApiKey = "«aiza»"
kubectl: gcr pull: _json_key «b64_json»
expo: "googleMapsApiKey": "«aiza»"
gcloud: ERROR: token «ya29»
passport-google: clientSecret: '«gocspx»'
{"refresh_token":"«goog_refresh»"}
key «aiza» has referer restrictions
"private_key":"«pem_json»"
""",
    "azure": """
velero: AZURE_CLIENT_SECRET=«azsecret»
terraform: primary_access_key = "«b64_88»"
iot: SharedAccessKey=«b64_44»
download: ...?sv=2025-05-05&sr=b&sig=«sigenc»
client_secret=«azsecret»&grant_type=client_credentials
AzureFileShare: AccountKey=«b64_88»;
AZURE_DEVOPS_EXT_PAT=«azdevops»
openai.api_key = "«azopenai»"
""",
    "basic_auth": """
curl --proxy http://‹user›:«pwu»@‹host›:3128 https://x
gradle: systemProp.http.proxy=http://‹user›:«pwu»@‹host›:8080
influx: http://‹user›:«pwu»@‹host›:8086
> authorization: Basic «basic»
kibana: https://‹user›:«pwu»@‹host›:5601
oras login: --creds ‹user›:«pwu»
urllib: https://‹user›:«pwu»@‹host›/x
fetch: {"Authorization":"Basic «basic»"}
""",
    "git_credential": """
woodpecker: git clone https://‹user›:«pwu»@‹host›/o/r.git
chezmoi init https://‹user›:«ghp»@github.com/o/r.git
nix: git+https://«ghp»@github.com/o/r
yarn: https://«glpat»:x-oauth-basic@‹host›/o/r.git
error: could not lock https://‹user›:«pwu»@‹host›/o/r.git
gitea: remote https://‹user›:«pwu»@‹host›/o/r.git
Pushing to https://‹user›:«pwu»@‹host›/o/r.git
uv: git+https://‹user›:«pwu»@‹host›/o/r.git
""",
    "credit_card": """
paypal: instrument «card» declined
{"card_number":"«cardsp»"}
INFO charge «card» EUR
pos> «cardda»
amex: «amex»
"number":"«card»",
select '«card»'
mask(«card»)
""",
    "ssn": """
hr: «ssn» exists
{"ssn":"«ssn»","dob":"x"}
ssn column: «ssn»
<ssn>«ssn»</ssn>
SSN «ssn» on file
- «ssn»
ssn=«ssnbare»
taxpayer-id: «ssn»
""",
    "phone": """
crm: «e164» exists
{"phone":"«us»"}
whatsapp: «brmob»
phone column: «uspar»
<tel>«e164»</tel>
otp sent to «e164»
cell: «us»
mobile=«ukmob»
""",
    "totp_seed": """
otpauth://totp/a:b?secret=«b32_32»&algorithm=SHA1
freeotp: secret=«b32_32» totp
"totp": {"secret": "«b32_32»"}
mfa_secret=«b32_16»
OTP_SEED: «b32_32»
two-factor seed «b32_32»
totp «b32_26»
google authenticator: «b32sp»
""",
    "jwt": """
traefik: jwt «jwt» refused
auth: «jwt»
"token": "«jwt»",
Authorization=Bearer «jwt»
?id_token=«jwt»
nats: user_jwt «jwt»
const jwt = "«jwt»"
expired: «jwt»
""",
    "high_entropy_hex": """
phoenix: secret_key_base: "«hex128»"
nuxt: NUXT_SECRET=«hex64»
secret «hex32» is too short
hmac key: «hex64»
sign secret=«hex64»
COOKIE_SECRET="«hex64»"
derived key «hex64»
symmetric key = «hex32»
""",
}

CLEAN = """
Auto-merging ‹hex40›
could not parse commit ‹hex40›
git: warning: object ‹hex40› is missing
commit ‹hex40› not in branch
Nothing to commit on ‹hex40›
* branch ‹hex40› -> FETCH_HEAD
HEAD: ‹hex40›
rev ‹hex40›
ls-tree ‹hex40›
woodpecker: commit=‹hex40›
https://github.com/o/r/blob/‹hex40›/a.rs#L1
flake: locked ‹hex40›
"resolved": "github:o/r#‹hex40›"
bundler: revision: ‹hex40›
uv: x @ git+https://github.com/o/r@‹hex40›
tofu: module git::https://‹host›/m.git?ref=‹hex40›
sha=‹hex40›
skaffold: tag app:‹hex40›
kaniko: pushed ‹host›/app:‹hex40›
sha256:‹hex64›
sha256sum: ‹hex64›
computed ‹hex64› but lockfile has ‹hex64›
checksum mismatch for x: ‹hex32›
md5 of body ‹hex32›
Blob ‹hex64› exists
docker rmi ‹hex64›
container=‹hex64›
"Id": "‹hex64›",
"ContainerID": "‹hex64›"
nerdctl: ‹hex64› running
podman: pod ‹hex64› created
sandbox ‹hex64› removed
image layer ‹hex64›
/var/lib/containers/storage/overlay/‹hex64›/diff
SRI sha512-‹b64_88›
ETag: "‹hex32›"
If-Match: "‹hex32›"
CACHE_KEY=‹hex64›
cache ‹hex40› evicted
hash=‹hex64›
content hash ‹hex32›
pnpm store ‹hex64›
asset-‹hex32›.webp
/_nuxt/‹hex20›.js
app.css?id=‹hex32›
image.png?v=‹hex32›
tempo: trace ‹hex32› not found
"traceID":"‹hex32›"
x-cloud-trace-context: ‹hex32›/‹digits19›;o=1
x-request-id=‹hex32›
Request-Id: ‹uuid›
span=‹hex16›
correlationId=‹hex32›
job_id=‹hex32›
execution ‹uuid›
airflow: run ‹uuid›
dag hash ‹hex32›
spark: app-20261103-‹n3›
hadoop: block blk_‹digits10›
flink: job ‹hex32› cancelled
JobID ‹hex32›
task ‹hex32› RUNNING
pulsar: ledger ‹n›
machineid=‹hex32›
dmi: uuid ‹uuid›
node ‹hex40› joined
peer ‹hex40› disconnected
info_hash ‹hex40›
torrent ‹hex40› seeded
zfs snapshot ‹digits19›
ceph: fsid ‹uuid›
build-id: ‹hex40›
debuglink ‹hex40›.debug
symbol file ‹hex40› missing
GPG key ‹HEX40›
fingerprint: ‹HEX40›
‹HEX40› expired
cert sha256 ‹colonHEX20›
SHA256:‹b64n43›
block hash: ‹hex64›
state root 0x‹hex64›
tx=0x‹hex64›
0x‹hex40›
validator ‹sol_pub›
‹sol_sig›
nano_‹nano60›
uuid=‹uuid›
oid ‹hex24›
usage: x [--password PASSWORD]
Enter passphrase:
bad password
password changed for ‹user›
token rejected
TOKEN is empty
PASSWORD=
secret/data/app: permission denied
auth.py:12: token = read()
key: ${{ vars.KEY }}
postgres://localhost/‹word›
https://‹host›/login?next=/
"""
