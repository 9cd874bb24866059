"""Contexts that were held out when the rules of templates.py's first measurement were tuned: written after that
measurement and before its misses were looked at; tuned for since. See corpus.py."""

SECRETS = {
    "api_key": """
[2026-11-03 10:00] stripe webhook: using «stripe» in live mode
const openai = new OpenAI({ apiKey: "«openai»" });
Error: 401 {"error":"invalid x-api-key «anthropic»"}
$env:SENDGRID_API_KEY = "«sendgrid»"
api_key: «mixed32»  # prod
setx DATADOG_API_KEY «hex32»
    ALGOLIA_ADMIN_API_KEY: «hex32»
GROQ_API_KEY=«groq» python bot.py
figma-api: 403 for «figma»
Notion.Client(auth="«notion»")
consumer_secret = '«mixed40»'
{"api_key":"«mixed32»","ok":false}
GET https://api.example.com/v1/items?apikey=«mixed32»
replicate run --token=«replicate»
""",
    "password": """
ERROR: mysqladmin -u ‹user› -p«pws» status failed
bash: line 3: sshpass -p «pws» ssh -o x ‹user›@‹host›
POSTGRES_PASSWORD=«pws»
      MYSQL_ROOT_PASSWORD: "«pws»"
smtp: auth login ‹user›, password=«pws»
{"user":"‹user›","pass":"«pws»"}
redis-cli -u x -a '«pws»' INFO
docker run -e KEYCLOAK_ADMIN_PASSWORD=«pws» keycloak
$password = "«pws»";
define('DB_PASSWORD', '«pws»');
<connection user="‹user›" password="«pws»" />
ansible_password: «pws»
mysql_secure: IDENTIFIED BY "«pws»"
ldappasswd -w «pws» -s x
""",
    "token": """
gh auth: token «ghp» lacks scope repo
GITLAB_TOKEN: "«glpat»"
SLACK_BOT_TOKEN=«xoxb»
npm config set //registry.npmjs.org/:_authToken «npm»
TWINE_PASSWORD=«pypi»
huggingface-cli login --token «hf»
bot.login('«discord»');
telegram: 401 for bot «telegram»
Vault token «hvs» expired
DOCKER_TOKEN=«dckr»
X-Api-Token: «mixed40»
curl -H "Authorization: Bearer «url43»" https://‹host›
doctl auth init -t «dop»
"access_token" : "«mixed64»"
Cookie: session=«low32»
""",
    "private_key": """
could not decrypt:⏎«pem»
kubectl get secret x -o yaml⏎  tls.key: |⏎    «pem_indent2»
docker logs web: «pem_logged»
export KEY='«pem_json»'
[INFO] [INFO] «pem_bracket»
keypair.json = «sol_array»
let kp = Keypair::from_base58_string("«sol58»");
unexpected: «sol58» given, expected a path
hardhat: privateKey 0x«hex64»
nano-wallet --seed=«HEX64»
MNEMONIC: "«words12»"
age -d -i «age» x.age
PrivateKey = «b64_44»
bitcoind: wif «wif»
master: «xprv»
""",
    "database_url": """
DATABASE_URL="mysql://‹user›:«pwu»@‹host›/‹word›"
could not connect: postgres://‹user›:«pwu»@‹host›:5432/‹word›?sslmode=disable
MONGO_URI=mongodb+srv://‹user›:«pwu»@‹word›.x.mongodb.net/
celery: redis://:«pwu»@‹host›:6379/1 unreachable
AMQP_URL: amqp://‹user›:«pwu»@‹host›
dial: ‹user›:«pwu»@tcp(10.0.0.3:3306)/‹word›
exp ‹user›/«pwu»@//‹host›/ORCL
sqlplus -S ‹user›/«pwu»@‹host›:1521/XE
Server=tcp:‹host›,1433;User ID=‹user›;Password=«pwu»;Encrypt=True
host=‹host› user=‹user› password=«pwu» dbname=‹word›
jdbc:mysql://‹host›/‹word›?user=‹user›&password=«pwu»
bolt+s://‹user›:«pwu»@‹host›:7687
clickhouse://‹user›:«pwu»@‹host›/‹word›
ENGINE: postgresql+psycopg2://‹user›:«pwu»@‹host›/‹word›
""",
    "aws": """
AWS_ACCESS_KEY_ID: «akia»
The AWS Access Key Id «akia» you provided does not exist
export AWS_SECRET_ACCESS_KEY='«aws40»'
aws_secret_access_key=«aws40»
  secret_access_key = "«aws40»"
{"AccessKeyId":"«asia»","SecretAccessKey":"«aws40»"}
aws configure: AWS Secret Access Key [****************XYZ1]: «aws40»
mc alias set minio https://‹host› «akia» «aws40» --api S3v4
s3cmd --secret_key=«aws40» la
-Daws.secretKey=«aws40»
AWS_SESSION_TOKEN="«awstoken»"
s3: credentials «akia»:«aws40»
new BasicAWSCredentials("«akia»", "«aws40»")
terraform: var.aws_secret_key is "«aws40»"
""",
    "gcp": """
{"error":{"message":"API key not valid: «aiza»"}}
NEXT_PUBLIC_FIREBASE_API_KEY=«aiza»
curl 'https://vision.googleapis.com/v1/images?key=«aiza»'
Bearer «ya29»
"client_secret" : "«gocspx»"
gcs hmac «goog1e» revoked
"private_key_id" : "«hex40»"
GOOGLE_MAPS_KEY: '«aiza»'
refresh token «goog_refresh» has been expired or revoked
token_uri ok, refresh_token: "«goog_refresh»"
export GCLOUD_SERVICE_KEY=«b64_json»
apiKey: '«aiza»',
<meta-data android:value="«aiza»" />
CLIENT_SECRET=«gocspx»
""",
    "azure": """
AccountKey=«b64_88»;
AZURE_STORAGE_ACCOUNT_KEY: «b64_88»
--account-key="«b64_88»"
ClientSecretCredential: «azsecret» is invalid
az login -u ‹uuid› -p "«azsecret»" --tenant x
SharedAccessKey=«b64_44»;EntityPath=q
GET https://x.blob.core.windows.net/a?sp=r&sv=2024-01-01&sig=«sigenc» 403
instrumentationKey: «uuid»
https://f.azurewebsites.net/api/f?code=«azfunc»&x=1
AZURE_OPENAI_KEY=«azopenai»
"Ocp-Apim-Subscription-Key": "«hex32»"
SYSTEM_ACCESSTOKEN=«azdevops»
AZURE_TENANT_SECRET='«azsecret»'
azure.cosmosKey: "«b64_88»"
""",
    "basic_auth": """
+ curl -fsSL -u ‹user›:«pwu» https://‹host›/x.tgz
curl --user ‹user›:«pwu» -X PUT https://‹host›/
curl --proxy-user ‹user›:«pwu» https://‹host›/
https --auth ‹user›:«pwu» ‹host›/x
ab -c 5 -A ‹user›:«pwu» http://‹host›/x
Authorization: Basic «basic»
-H 'Authorization: Basic «basic»'
http_proxy=http://‹user›:«pwu»@‹host›:3128/
error downloading https://‹user›:«pwu»@‹host›/simple/x/
session.auth = ('‹user›', '«pws»')
HTTPBasicAuth('‹user›', '«pws»')
{"auths":{"‹host›":{"auth":"«basic»"}}}
lftp -e ls -u ‹user›,«pwu» ‹host›
skopeo inspect --creds=‹user›:«pwu» docker://‹host›/x
""",
    "git_credential": """
git fetch https://‹user›:«pwu»@‹host›/team/r.git
error: https://‹user›:«ghp»@github.com/o/r.git did not match
Cloning https://‹user›:«pwu»@‹host›/o/r to /tmp/x
url = https://«ghp»@github.com/o/r
upstream⇥https://‹user›:«pwu»@‹host›/r (fetch)
https://x-access-token:«ghs»@github.com/o/r/
fatal: could not read from https://oauth2:«glpat»@‹host›/o/r.git
password=«ghp»
pip install git+https://‹user›:«pwu»@‹host›/o/r
go: https://‹user›:«pwu»@‹host›/m?go-get=1
git ls-remote https://«ghpat»@github.com/o/r
https://‹user›:«mixed32»@‹host›/o/r.git
jenkins > git fetch --tags https://‹user›:«pwu»@‹host›/r.git
submodule url https://‹user›:«pwu»@‹host›/s.git
""",
    "credit_card": """
charge «card» failed
"cardNumber": "«card»"
card «cardsp» expired
customer paid with «cardda»
amex «amex» declined
UPDATE cards SET pan='«card»' WHERE id=‹n›;
- number: «cardsp»
row ‹n›: «card»;‹user›
expected «card» to fail
(«cardda»)
POS ‹n› «card» EUR 12
visa: "«cardsp»"
cc_number=«card»&cvc=1
""",
    "ssn": """
"SSN": "«ssn»"
applicant ssn is «ssn»
ssn «ssn» not unique
social security number: «ssn»
«ssn»
<ssn>«ssn»</ssn>
ssn='«ssn»',
(‹user›, «ssn»)
social security number «ssnsp»
taxpayer_id=«ssnbare»
SSN: «ssnbare»
employee: «ssn» / ‹user›
invalid: «ssn»
""",
    "phone": """
phone=«e164»
"tel": "«us»"
Tel: «deintl00»
Phone: «uspar»
call «usdot»
sent to «e164»
mobile «ukmob»
<a href="tel:«e164»">
Fax: «us»
phone: '«frloc»'
"phoneNumber":"«usbare»"
«e164» opted out
contact: «us»
sms «inmob» queued
""",
    "totp_seed": """
otpauth://totp/x:‹user›?issuer=x&secret=«b32_16»
TOTP_KEY=«b32_32»
totpSecret: "«b32_32»"
"otp_secret": "«b32_26»"
pyotp.TOTP("«b32_32»").verify(c)
oathtool --totp -b «b32_16»
mfa_secret: «b32_32»
2FA secret key: «b32_16»
authenticator secret «b32_32»
scan or type into your authenticator: «b32sp»
two_factor_seed=«b32_32»
OTP seed: «b32_32»
new OTPAuth.TOTP({secret: "«b32_32»"})
""",
    "jwt": """
Bearer «jwt»
jwt=«jwt»
"token":"«jwt»"
auth failed for «jwt»
access_token: «jwt»
?jwt=«jwt»&x=1
Set-Cookie: token=«jwt»; Secure
export JWT=«jwt»
'«jwt»' is expired
x-access-token: «jwt»
<«jwt»>
anon key «jwt»
ws://‹host›/?t=«jwt»
""",
    "high_entropy_hex": """
SECRET_KEY=«hex64»
encryption_key: "«hex64»"
hmac key «hex64» too short
webhook secret: «hex40»
API_SECRET=«hex32»
master key «hex32» rejected
crypto: bad key «hex64»
«hex64» is not a valid secret
session_secret: '«hex128»'
auth_hash: «hex40»
cookie secret=«hex32»
jwt.secret=«hex64»
signing key «hex64»
""",
}

CLEAN = """
fatal: bad object ‹hex40›
error: inflate: data stream error, could not read ‹hex40›
Your branch is at ‹hex40›
reset: moving to ‹hex40›
‹hex7› (HEAD -> main) tidy
"commit": "‹hex40›"
git show ‹hex40›
locked at revision ‹hex40›
From-commit ‹hex40›
flake.lock: rev ‹hex40›
checking out ‹hex40›
sha256 checksum of x.tgz: ‹hex64›
wanted sha256:‹hex64›
‹hex64› *x.zip
md5 ‹hex32›  x
SHA1(x)= ‹hex40›
digest: sha256:‹hex64› size: 1234
x.whl --hash=sha256:‹hex64›
"resolved": "https://registry.npmjs.org/x/-/x-1.0.0.tgz#‹hex40›"
etag ‹hex32›
"shasum": "‹hex40›"
hash ‹hex64› does not match
deleted: sha256:‹hex64›
ghcr.io/o/r@sha256:‹hex64›
docker.io/o/r:‹hex40›
untagged: r:‹hex12›
containerd: container ‹hex64› not found
kubelet: pod ‹uuid› evicted
layer sha256:‹hex64› exists
trace=‹hex32›
X-Trace-Id: ‹hex32›
x-b3-traceid: ‹hex32›
request_id=‹uuid›
operation ‹uuid› timed out
session ‹n› closed
cache restored from key: build-‹hex64›
Uploading artifact build-‹hex40›.zip
vendor-‹hex20›.css
/static/js/main.‹hex8›.js
‹hex16›.o: file not recognized
target/release/build/x-‹hex16›/out
node_modules/.cache/‹hex32›.json
/var/lib/docker/overlay2/‹hex64›/diff
btih ‹hex40›
SHA256:‹b64n43›
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43›
gpg: key ‹HEX16›: public key "x" imported
gpg: Signature made with RSA key ‹HEX40›
serial: ‹colonhex20›
confirmed ‹sol_sig›
sig=‹sol_sig› slot=‹n›
program ‹sol_pub› failed
recent blockhash ‹sol_pub›
nano_‹nano60› received
hash ‹HEX64›
from 0x‹hex40› to 0x‹hex40›
0x‹hex64› not mined
required: --token <TOKEN>
option '--secret <SECRET>' is missing a value
  --password-file <FILE>  read it from a file
error: Found argument '--pass' which wasn't expected
Password: 
Enter passphrase for key '/root/.ssh/id_ed25519':
password is too short
'password' is required
token = tokenizer.next()
if (!token) throw new Error("no token")
unexpected end of token stream
export API_KEY=$(pass show x)
api_key: ${API_KEY}
password: <your password>
Bearer realm="https://auth.docker.io/token"
unauthorized: authentication required
key 'x' not found in object
public key ‹hex64›
mysql -u ‹user› -p
curl -u ‹user›: https://‹host›
docker login ‹host›
redis://‹host›:6379/0
https://‹host›/a?page=‹n›
ssh ‹user›@‹host› -p 2222
tar -xpf a.tar
127.0.0.1:‹n3›
epoch 17000000‹n3›
sku ‹digits12›
item ‹digits16nl› sold out
at 2026-11-03 10:11:12.‹n3›
fe80::1ff:fe23:4567:890a
segfault at 7f‹hex10› ip 0x‹hex12›
{‹uuid›}
ino ‹digits10›
machine id ‹hex32›
ObjectId('‹hex24›')
arn:aws:s3:::bucket-‹hex8›
i-0‹hex16› terminated
account ‹digits12›
integrity="sha384-‹b64_64›"
h1:‹b64_44› mismatch
data:font/woff2;base64,d09GMgAB‹b64_88›
cid bafybei‹low52›
peer id 12D3KooW‹b58_44›
crc ‹hex8› bad
rax: ‹hex16› rbx: ‹hex16›
000000a0  ‹hex8› ‹hex8› ‹hex8› ‹hex8›
test ok in 0.‹n3›s
"""
