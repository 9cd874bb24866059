"""Contexts that no rule was tuned for: written last, measured, and left alone. Whoever looks at what they miss moves
them into fresh.py and writes others. See corpus.py."""

SECRETS = {
    "api_key": """
Stripe::AuthenticationError (Invalid API Key: «stripe»)
env: OPENAI_KEY=«openai» not accepted
"x-api-key": "«mixed40»"
config.api_key = '«mixed32»'
langchain: anthropic_api_key='«anthropic»' given twice
REACT_APP_ALGOLIA_API_KEY=«mixed32»
sendgrid.send failed with «sendgrid»
https://api.example.org/search?q=x&api-key=«mixed32»
""",
    "password": """
mysql: [ERROR] mysql -h db -u ‹user› -p«pws» exited with 1
sshpass -p «pws» rsync -a x ‹user›@‹host›:
Redis: requirepass "«pws»"
env REDIS_PASSWORD=«pws» ./app
'password' => '«pws»',
smb: mount.cifs //‹host›/s /mnt -o user=‹user›,password=«pws»
{"db":{"user":"‹user›","password":"«pws»"}}
rabbitmqctl add_user ‹user› «pws»
""",
    "token": """
git: using GITHUB_TOKEN «ghp»
glab auth login --token «glpat»
slack: posting with «xoxb» failed
.npmrc: _authToken=«npm»
Invalid token: «hf»
Authorization: Bearer «mixed40»
discord token=«discord»
X-Vault-Token: «hvs»
""",
    "private_key": """
invalid key:⏎«pem»⏎end of file
worker-3: «pem_logged»
"tls_key": "«pem_json»"
solana config: keypair «sol_array»
wallet: «sol58»
ETH_KEY=0x«hex64»
recovery phrase: «words12»
[stdout] «pem_bracket»
""",
    "database_url": """
Error: connect ECONNREFUSED postgresql://‹user›:«pwu»@‹host›/‹word›
mongo uri mongodb://‹user›:«pwu»@‹host›/admin
REDIS=redis://:«pwu»@‹host›/2
gorm: failed to connect ‹user›:«pwu»@tcp(‹host›:3306)/‹word›
jdbc:mysql://‹user›:«pwu»@‹host›/‹word›
Data Source=‹host›;User ID=sa;Password=«pwu»
sqlplus system/«pwu»@‹host›
amqp://‹user›:«pwu»@‹host›:5672/vhost
""",
    "aws": """
botocore.exceptions.ClientError: «akia» InvalidClientTokenId
aws_secret_access_key: «aws40»
AWS_SECRET_KEY=«aws40»
"secretAccessKey":"«aws40»"
docker run -e AWS_ACCESS_KEY_ID=«akia» x
AWS_SECURITY_TOKEN=«awstoken»
mc alias set a https://‹host› «akia» «aws40»
s3.secret-key=«aws40»
""",
    "gcp": """
Google Maps error: key «aiza» expired
fcm: Authorization: Bearer «ya29»
client_secret: «gocspx»
GCP_API_KEY="«aiza»"
"private_key": "«pem_json»"
https://www.googleapis.com/youtube/v3/search?key=«aiza»
refresh_token=«goog_refresh»
firebase apiKey '«aiza»'
""",
    "azure": """
AzureStorage: AccountKey=«b64_88» is wrong
AZURE_CLIENT_SECRET: «azsecret»
Endpoint=sb://x.servicebus.windows.net/;SharedAccessKey=«b64_44»
SAS: ?sv=2025&se=2026&sig=«sigenc»
ApplicationInsights: InstrumentationKey=«uuid»
POST https://f.azurewebsites.net/api/x?code=«azfunc»
cosmos AccountEndpoint=https://x/;AccountKey=«b64_88»;
az login --service-principal -p «azsecret»
""",
    "basic_auth": """
curl -k -u ‹user›:«pwu» https://‹host›/api/v1
curl: (6) could not resolve https://‹user›:«pwu»@‹host›
proxy = http://‹user›:«pwu»@‹host›:8080
Authorization: Basic «basic» rejected
ab -A ‹user›:«pwu» https://‹host›/
xh --auth ‹user›:«pwu» ‹host›
WARN proxy https://‹user›:«pwu»@‹host›:3128 timed out
"Authorization": "Basic «basic»"
""",
    "git_credential": """
git pull https://‹user›:«pwu»@‹host›/o/r.git
remote: https://‹user›:«ghp»@github.com/o/r not found
git clone -q https://«ghp»@github.com/o/r x
error: could not fetch https://‹user›:«pwu»@‹host›/r.git
origin https://‹user›:«glpat»@‹host›/o/r.git (push)
pip: git+https://‹user›:«pwu»@‹host›/r.git
url=https://‹user›:«pwu»@github.com/o/r.git
fatal: repository 'https://‹user›:«pwu»@‹host›/r/' not found
""",
    "credit_card": """
payment with card «card» rejected
"pan": "«card»"
cardnumber: «cardsp»
‹user› «cardda» 12/28
test card «amex»
INSERT INTO c VALUES ('«card»')
card=«card» status=402
declined: «cardsp»
""",
    "ssn": """
SSN «ssn» invalid
"ssn": "«ssn»"
row 4: ‹user›,«ssn»
social security number «ssn»
ssn='«ssn»'
duplicate ssn (‹user›, «ssn»)
taxpayer id: «ssnbare»
Employee «ssn» not found
""",
    "phone": """
phone «us» invalid
{"phone":"«e164»"}
sms to «e164» rejected
tel: «uspar»
call me at «us»
mobile: «ukmob»
Telefon «deintl00»
number «e164» is blocked
""",
    "totp_seed": """
otpauth://totp/a?secret=«b32_32»
TOTP_SECRET: «b32_32»
"mfa_secret":"«b32_32»"
pyotp.TOTP('«b32_16»')
oathtool --totp -b «b32_32»
otp_secret «b32_32» is invalid
two-factor secret: «b32_16»
authenticator key: «b32sp»
""",
    "jwt": """
token «jwt» expired
Authorization: Bearer «jwt»
cookie: auth=«jwt»
JWT=«jwt»
"jwt":"«jwt»"
verify(«jwt»)
?access_token=«jwt»
id_token: «jwt»
""",
    "high_entropy_hex": """
secret=«hex64»
"encryption_key":"«hex64»"
SESSION_KEY: «hex64»
signing secret «hex64»
api secret: «hex32»
master_key=«hex32»
hmac_secret: «hex64»
HASH_SALT=«hex64»
""",
}

CLEAN = """
error: ‹hex40› is not a commit
note: switching to '‹hex40›'
error: object ‹hex40› is corrupt
Fast-forward ‹hex7›..‹hex7›
git checkout ‹hex40›
[main ‹hex7›] wip
merge-base ‹hex40›
built from ‹hex40›
upstream changed to ‹hex40›
pinned at ‹hex40›
digest mismatch: ‹hex64›
sha512: ‹hex128›
sha256:‹hex64› verified
got: sha256-‹b64_44›
checksum ‹hex32› ok
‹hex64›  pkg.deb
MD5 (a) = ‹hex32›
docker image ‹hex64› removed
pulled registry.local/app@sha256:‹hex64›
registry.local/app:‹hex40› pushed
container ‹hex12› started
trace_id: ‹hex32›
request-id: ‹uuid›
span_id=‹hex16›
x-correlation-id: ‹uuid›
cache key node-‹hex64› not found
build/app-‹hex40›.tar.gz
dist/app.‹hex20›.js
libx-‹hex16›.so
ssh: SHA256:‹b64n43›
gpg: key ‹HEX16› not found
tx ‹sol_sig› failed
account ‹sol_pub› not found
nano_‹nano60›
block ‹HEX64› not found
address 0x‹hex40›
usage: app --password <PASSWORD>
error: missing --token <TOKEN>
password incorrect for user ‹user›
Password must contain a digit
unexpected token in JSON at position ‹n›
token expired
let token = read_token()?;
API_KEY=${API_KEY}
key not found: 'name'
mysql -u ‹user› -p
docker run -p 80:80 x
ssh -p 22 ‹user›@‹host›
curl -u ‹user› https://‹host›
postgres://‹host›/‹word›
https://‹host›/‹word›?id=‹n›
order ‹digits12› shipped
serial ‹digits16nl›
2026-11-22T10:00:00.‹n3›Z
0x‹hex16›
rip: 0x‹hex12›
uuid ‹uuid›
arn:aws:iam::‹digits12›:user/x
vol-0‹hex16›
s3://b/‹hex32›/x
integrity sha512-‹b64_88›
data:image/gif;base64,R0lGODlh‹b64_88›
12D3KooW‹b58_44›
ino ‹digits10› size ‹n›
"""
