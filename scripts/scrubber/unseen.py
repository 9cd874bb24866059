"""Contexts that no rule was tuned for: written last, measured, and left alone. Whoever looks at what they miss moves
them into fresh.py and writes others. See corpus.py."""

SECRETS = {
    "api_key": """
panic: runtime error: no route; cfg={Endpoint:https://api.x.io Key:«mixed40» Timeout:5s}
(venv) $ MISTRAL_API_KEY=«mixed32» python rag.py⏎httpx.HTTPStatusError: Client error '401 Unauthorized'
fly secrets set RESEND_KEY="«mixed36»" -a web
Error: connect ECONNREFUSED, options: { headers: { 'x-api-key': '«mixed40»' } }
[ERROR] Failed to execute goal: deepl.auth.key=«uuid»:fx
<meta-data android:name="io.fabric.ApiKey" android:value="«hex40»" />
<param name="apiKey">«mixed32»</param>
application.yml: line 22: mapbox: secret: sk.«jwt»
influx query 'from(bucket:"x")' --token «b64_88» → unauthorized access
I18N: crowdin upload --project-id 12 --token «hex80» failed
elasticsearch: ApiKey «b64_60» is not authorized for indices:data/read
curl -s "https://api.openweathermap.org/data/3.0/onecall?lat=1&lon=2&appid=«hex32»"
curl --get https://newsapi.org/v2/everything --data-urlencode "apiKey=«hex32»"
vercel env add OPENAI_API_KEY production <<< «openai»
stripe listen --api-key «stripe» --forward-to localhost:4242
Exception in thread "main" com.stripe.exception.AuthenticationException: Invalid API Key provided: «stripe»
bundler: Gem::RemoteFetcher: rubygems_api_key: rubygems_«hex48»
{"errors":[{"code":10001,"message":"bad auth"}],"request":{"apiToken":"«mixed40»"}}
algoliasearch('APPID', '«hex32»') // admin api key
conf/sonarr.xml: <ApiKey>«hex32»</ApiKey>
GET /api/v3/movie?apikey=«hex32» HTTP/1.1" 401 52 "-" "Radarr"
docker service create -e ROLLBAR_POST_SERVER_ITEM_ACCESS_TOKEN=«hex32» app
telegraf: [outputs.datadog] apikey = "«hex32»"
E/Zendesk: api_token/«mixed40» rejected
zsh: command not found: OPENAI_KEY:«openai»
Rails.logger: Geocoder::InvalidRequest key: «mixed39» for provider here
etherscan: {"status":"0","result":"Invalid API Key"} url=...&apikey=«up34»
unleash: custom authorization header '*:production.«hex56»' rejected
airtable: pat«mixed14».«hex64» lacks scope
Fastly-Key: «url32»
gpg-agent? no: export BREVO=xkeysib-«hex64»-«mixed16»
scrapy crawl x -a key=«hex32»
""",
    "password": r"""
Proxmox: pvesh create /access/users -userid ‹user›@pve -password '«pws»'
FAILED! => {"changed": false, "cmd": "htpasswd -bc /etc/x ‹user› «pws»"}
Warning: Using a password on the command line interface can be insecure: mysqldump -u ‹user› -p«pws»
Imap: a1 LOGIN ‹user› "«pws»" → NO [AUTHENTICATIONFAILED]
expect: spawn ssh ‹user›@‹host›; send "«pws»\r" after "password:"
nmcli: Error: 802-11-wireless-security.psk «pws» too short
vncserver: echo «pws» | vncpasswd -f > ~/.vnc/passwd
unattend.xml: <AdministratorPassword><Value>«pws»</Value></AdministratorPassword>
UPDATE mysql.user SET authentication_string=PASSWORD('«pws»') WHERE User='root';
SET PASSWORD FOR '‹user›'@'localhost' = '«pws»';
Msg 33064: CREATE LOGIN ‹user› WITH PASSWORD = N'«pws»';
org.postgresql.util.PSQLException: props={user=‹user›, password=«pws», ssl=true}
login-form: {"username":"‹user›","passwd":"«pws»","remember":true}
POST /session body: user[login]=‹user›&user[password]=«pws»
$ smbclient //‹host›/share '«pws»' -U ‹user› --password='«pws»'
xfreerdp /v:‹host› /u:‹user› /p:«pws» /cert:ignore
wget --user=‹user› --password='«pws»' https://‹host›/a
svnserve.conf: ‹user› = x, password-db says ‹user›'s password: «pws»
Ansible: "become_password": "«pws»"
System.Net.NetworkCredential: new NetworkCredential("‹user›", "«pws»")
smtp.login("‹user›@example.com", "«pws»") raised SMTPAuthenticationError
nodemailer: auth: { user: '‹user›', pass: '«pws»' }
conn.authenticate('‹user›', '«pws»') failed: 18
pymysql.connect(host='‹host›', user='‹user›', passwd='«pws»')
INFO  bootstrap: generated password for user ‹user›: «pws»
Keycloak admin created, username=‹user› password=«pws»
systemd-ask-password said '«pws»'; cryptsetup: No key available with this passphrase.
sshpass: exec: -p«pws» scp x ‹user›@‹host›:
mosquitto_passwd -b pwfile ‹user› «pws»
rclone config: pass = «pws»
kadmin: addprinc -pw «pws» ‹user›@EXAMPLE.COM
Enter PEM pass phrase: «pws»⏎unable to load Private Key
""",
    "token": """
2026/09/30 [error] 31#31: *8 upstream sent 401, request: "GET /feed?auth_token=«mixed40» HTTP/2.0"
tfc: export TF_TOKEN_app_terraform_io=«tfe»
Netlify: NETLIFY_AUTH_TOKEN="nfp_«mixed36»"
npx @railway/cli up --service web (RAILWAY_TOKEN=«uuid»)
Unable to fetch from gitlab: invalid header 'JOB-TOKEN: «mixed20»'
pip config: index-url = https://__token__:«pypi»@upload.example.com/simple
AuthenticationError: Session «url43» has been revoked
vault: {"auth":{"client_token":"«hvs»","accessor":"x"}}
fastlane: MATCH_GIT_BEARER… bearer_token: "«url64»"
yarn npm publish → YN0041: npmAuthToken: "«npm»"
curl -H "X-Figma-Token: «figma»" https://api.figma.com/v1/me
kubeconfig users[0].user.token: «url88»
dockerhub webhook: PAT «dckr» expired
{"msg":"ws handshake","url":"wss://gw.x.io/?v=9&token=«mixed64»"}
phpMyAdmin: token mismatch, got «hex32»
laravel_session=«url128»; expires=Thu
connect.sid=s%3A«url32».«url43»
PHPSESSID=«low26» rejected
MATTERMOST_BOT=«low26» # bot access token
zulip: api_key for bot: «mixed32» invalid
atlas: x-auth-token => «uuid»
consul: X-Consul-Token: «uuid»
gitea: Authorization: token «hex40»
bitbucket: ATBB«mixed32» rejected
jfrog rt ping --access-token=«url128»
argo: argocd login ‹host› --auth-token «url64»
nomad status -token=«uuid»
heroku: Authorization: Bearer «uuid»
slack: xoxp-«digits12»-«digits12»-«digits12»-«hex32» token_revoked
pushover: user=x&token=«low30»
twitch oauth:«low30» Login authentication failed
posthog: Personal API key phx_«mixed43» lacks scope
""",
    "private_key": """
$ openssl rsa -in <(cat <<EOF⏎«pem»⏎EOF⏎) -check
paramiko.ssh_exception.SSHException: not a valid RSA private key file⏎«pem_openssh»
{"kind":"Secret","data":"x","stringData":{"tls.key":"«pem_json»"}}
Terraform: private_key_pem = <<-EOT⏎    «pem_indent2»⏎  EOT
worker-2  | «pem_compose»
diff: secrets.pem⏎«pem_diff»
[stderr] reading key: «pem_bracket»
Oct: pulled secret⏎«pem_syslog»
cat -n ca.key⏎   11 «pem_numbered»
curl: (58) unable to set private key file: «pem_nofooter»
tail of log:⏎«pem_noheader»
gpg --import failed:⏎«pgp»
age: error: no identity matched: «age»
Import-WIF: «wif» is for testnet
bip32: «xprv» at depth 0
nsec login: «nsec» invalid checksum
web3.eth.accounts.privateKeyToAccount('0x«hex64»') threw
truffle-config: new HDWalletProvider("«words12»", url)
metamask: Secret Recovery Phrase "«words12»" is invalid
ledger restore: words: «words24»
SOLANA_KEYPAIR=[«sol_array_bare»] node bot.js
anchor deploy --provider.wallet «sol58»
Uint8Array.from(«sol_array»)
secretKey: '«sol58»',
export NANO_WALLET_SEED=«HEX64»
eth_keyfile: private key = «hex64»
PRIVATE_KEY: "0x«hex64»"
wireguard: peer config PrivateKey=«b64_44» could not be parsed
ssh_host_ed25519_key:⏎«pem_openssh»
JWK: {"kty":"OKP","crv":"Ed25519","d":"«url43»","x":"«url43»"}
acme: account key «pem_json»
cosmos: priv_validator_key.json "priv_key":{"type":"tendermint/PrivKeyEd25519","value":"«b64_88»"}
""",
    "database_url": """
panic: dial tcp: lookup db: no such host (dsn=postgres://‹user›:«pwu»@‹host›/‹word›)
prisma:error Invalid `datasource.url`: postgresql://‹user›:«pwu»@‹host›:6543/‹word›?pgbouncer=true
gorm: failed to initialize: ‹user›:«pwu»@tcp(‹host›:3306)/‹word›?charset=utf8mb4
Npgsql: Host=‹host›;Port=5432;Username=‹user›;Password=«pwu»;Database=‹word›
asyncpg.connect(dsn='postgresql://‹user›:«pwu»@‹host›/‹word›')
MONGO_URI=mongodb://‹user›:«pwu»@‹host›:27017,‹host›:27018/‹word›?replicaSet=rs0
BROKER_URL = 'amqp://‹user›:«pwu»@‹host›:5672/vhost'
ActionCable: redis://:«pwu»@‹host›:6379/1 connection reset
bull: Redis connection to rediss://default:«pwu»@‹host›:25061 failed
ERROR 2003: mysql://‹user›:«pwu»@‹host›/‹word›
pg_dump --dbname=postgresql://‹user›:«pwu»@‹host›:5432/‹word›
psql 'host=‹host› port=5432 user=‹user› password=«pwu» dbname=‹word›'
appsettings.json: "Data Source=‹host›;Initial Catalog=‹word›;User ID=‹user›;Password=«pwu»;MultipleActiveResultSets=True"
sqlalchemy: mssql+pyodbc://‹user›:«pwu»@‹host›/‹word›?driver=x
strapi: DATABASE_URL: "mysql2://‹user›:«pwu»@‹host›/‹word›"
r2dbc:postgresql://‹user›:«pwu»@‹host›/‹word›
spring.datasource.url=jdbc:mariadb://‹host›/‹word›?user=‹user›&password=«pwu»
jdbc:oracle:thin:‹user›/«pwu»@‹host›:1521:XE
logstash jdbc_connection_string => "jdbc:postgresql://‹host›/x?user=‹user›&password=«pwu»"
liquibase: url: jdbc:sqlserver://‹host›;databaseName=x;user=‹user›;password=«pwu»
migrate -database "cockroachdb://‹user›:«pwu»@‹host›:26257/‹word›" up
couchdb: http request to couchbases://‹user›:«pwu»@‹host›
ClickHouse exception, clickhouse+native://‹user›:«pwu»@‹host›/‹word›
cypher-shell -a neo4j+s://‹user›:«pwu»@‹host›
dotnet ef: Server=‹host›;Database=x;User=‹user›;Pwd=«pwu»;
odbc: DRIVER=MySQL;SERVER=‹host›;UID=‹user›;PWD=«pwu»;
heroku pg:psql → postgres://‹user›:«pwu»@ec2-1-2-3-4.compute-1.amazonaws.com:5432/d
"url": "mongodb+srv://‹user›:«pwu»@cluster0.ab1cd.mongodb.net/test"
pgpool: conninfo "host=‹host› user=‹user› password=«pwu»" rejected
memcached://‹user›:«pwu»@‹host›:11211
PHP PDO: mysql:host=‹host›;dbname=x;user=‹user›;password=«pwu»
phoenix: DATABASE_URL ecto://‹user›:«pwu»@‹host›/‹word› missing ssl
""",
    "aws": """
aws: [ERROR]: An error occurred (UnrecognizedClientException), AWS_ACCESS_KEY_ID=«akia»
~/.aws/credentials:4: aws_secret_access_key=«aws40»
sts: {"Credentials":{"AccessKeyId":"«asia»"}}
"SecretAccessKey": "«aws40»",
"SessionToken": "«awstoken»",
SignatureDoesNotMatch: <AWSAccessKeyId>«akia»</AWSAccessKeyId>
tf: access_key = "«akia»"
terraform.tfvars: aws_secret = "«aws40»"
s3://‹word› --access_key=«akia»
s3cmd --secret_key=«aws40» ls
django-storages: AWS_S3_SECRET_ACCESS_KEY = '«aws40»'
kubectl create secret generic x --from-literal=aws_secret_access_key=«aws40»
docker run -e AWS_SECRET_ACCESS_KEY=«aws40» -e AWS_REGION=x app
pulumi: aws:secretKey: «aws40»
hadoop: fs.s3a.secret.key=«aws40»
Sidekiq: Aws::S3::Client.new(secret_access_key: "«aws40»")
new BasicAWSCredentials("«akia»", "x")
AmazonS3Exception: InvalidAccessKeyId «akia»
email: ses user «akia»
GET /?X-Amz-Credential=«akia»/20261103/eu/s3/aws4_request
AWS4-HMAC-SHA256 Credential=«asia»/20261103
export AWS_SESSION_TOKEN="«awstoken»"
S3 upload failed: key «akia», region eu
filebeat: secret_access_key: "«aws40»"
lambda env: {"AWS_SECRET":"«aws40»"}
vault read aws/creds/x⏎secret_key      «aws40»
access_key      «akia»
rails credentials: aws: secret_access_key: «aws40»
grafana: cloudwatch secretKey: «aws40»
thanos objstore: secret_key: "«aws40»"
backup.sh: line 3: AWS_ACCESS_KEY_ID=«akia»: readonly variable
wal-g: AWS_SECRET_ACCESS_KEY='«aws40»' invalid
""",
    "gcp": """
HttpError 400 when requesting https://youtube.googleapis.com/v3/search?q=x&key=«aiza»
Firebase: Error (auth/invalid-api-key). apiKey: «aiza»
const firebaseConfig = { apiKey: "«aiza»", projectId: "x" }
strings.xml: <string name="google_maps_key">«aiza»</string>
gcloud config: access_token: «ya29»
curl -H "Authorization: Bearer «ya29»" https://storage.googleapis.com/x
{"access_token":"«ya29»","expires_in":3599}
oauth2 client secret «gocspx» not found
OmniAuth google_oauth2: client_secret => '«gocspx»'
token.json: {"refresh_token":"«goog_refresh»"}
GCP_SA_KEY=«b64_json» ./deploy.sh
boto: gs_secret_access_key = «b64n40»
HMAC: access id «goog1e»
key.json⏎{"private_key":"«pem_json»"}
rclone: client_secret = «gocspx»
flutter: android key «aiza» restricted
GEMINI_API_KEY=«aiza» npx tsx a.ts
places: REQUEST_DENIED for «aiza»
firebase login:ci⏎1 token: «goog_refresh»
google-auth: RefreshError('invalid_grant', token='«goog_refresh»')
gcr: docker login -u oauth2accesstoken -p «ya29»
Recaptcha/Maps: data-key="«aiza»"
terraform google provider: access_token = "«ya29»"
bigquery: credentials «b64_json»
NEXTAUTH google: clientSecret: "«gocspx»"
gapi.client.setApiKey('«aiza»')
Translate: {"key": "«aiza»"}
adc refresh «goog_refresh» expired
GOOGLE_PRIVATE_KEY="«pem_json»"
android.geo.API_KEY=«aiza»
looker: client_secret=«gocspx»
log: key=«aiza» status=403
""",
    "azure": """
Azure.RequestFailedException: AccountName=x;AccountKey=«b64_88»
az storage container list --account-name x --account-key «b64_88»
BlobEndpoint=https://x;SharedAccessSignature=sv=2025&sig=«sigenc»
AADSTS7000222: client secret «azsecret» expired
AZURE_CLIENT_SECRET: '«azsecret»'
az login --service-principal -u x -p=«azsecret» -t y
ServiceBus: Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=«b64_44»
iothub: DeviceId=x;SharedAccessKey=«b64_44»
curl "https://x.blob.core.windows.net/a?sp=r&sig=«sigenc»"
POST https://x.azurewebsites.net/api/go?code=«azfunc» 401
openai: {"api-key": "«azopenai»"}
pip: https://x:«azdevops»@pkgs.dev.azure.com/o/_packaging
SYSTEM_ACCESSTOKEN=«azdevops»
docker login x.azurecr.io --password «acr»
Cosmos: AccountEndpoint=https://x;AccountKey=«b64_88»;
terraform azurerm: client_secret = "«azsecret»"
appsettings: "ClientSecret": "«azsecret»"
Cognitive: 'Ocp-Apim-Subscription-Key': '«hex32»'
APPLICATIONINSIGHTS_CONNECTION_STRING=InstrumentationKey=«uuid»
EventHub key: SharedAccessKey=«b64_44»;
azcopy: https://x.file.core.windows.net/s?sv=x&sig=«sigenc»
ARM_ACCESS_KEY=«b64_88»
storage_account_key: «b64_88»
x-functions-key: «azfunc»
mount -t cifs //x.file.core.windows.net/s /m -o username=x,password=«b64_88»
msal: ClientSecretCredential(tenant, client, '«azsecret»')
pulumi azure: clientSecret: «azsecret»
AZURE_SEARCH_KEY=«mixed52»
translator: subscription key «hex32» invalid
speech sdk: SubscriptionKey=«hex32»
rclone azureblob key = «b64_88»
az keyvault secret show⏎"value": "«azsecret»"
""",
    "basic_auth": """
Get "https://‹user›:«pwu»@‹host›/v2/": x509: certificate signed by unknown authority
W: https://‹user›:«pwu»@‹host›/apt/dists/x/InRelease: 401
proxy=http://‹user›:«pwu»@‹host›:3128 in /etc/yum.conf
git config http.proxy http://‹user›:«pwu»@‹host›:8080
npm ERR! network proxy http://‹user›:«pwu»@‹host›:8080/
docker pull: proxyconnect tcp: http://‹user›:«pwu»@‹host›:3128
curl -fsSL --user "‹user›:«pwu»" https://‹host›/x
curl -k -u '‹user›:«pwu»' -X DELETE https://‹host›/idx
headers={'Authorization': 'Basic «basic»'}
"auth": "«basic»"
_auth = "«basic»"
HTTP/1.1 401⏎authorization: basic «basic»
session.auth = ('‹user›', '«pwu»')
httpx.get(u, auth=("‹user›", "«pwu»"))
xh -a ‹user›:«pwu» ‹host›/api
ES_HOST=https://‹user›:«pwu»@‹host›:9200
filebeat: hosts: ["https://‹user›:«pwu»@‹host›:9200"]
prometheus scrape: http://‹user›:«pwu»@‹host›/metrics
onvif: rtsp://‹user›:«pwu»@192.168.1.20/h264
vlc rtsp://‹user›:«pwu»@‹host›:554/live
lftp ftp://‹user›:«pwu»@‹host›
sftp://‹user›:«pwu»@‹host›/inbox failed
smtps://‹user›:«pwu»@‹host›:465
mqtts://‹user›:«pwu»@‹host›:8883
gem sources -a https://‹user›:«pwu»@‹host›/gems
GOPROXY=https://‹user›:«pwu»@‹host›
helm repo add x https://‹user›:«pwu»@‹host›/charts
skopeo copy --src-creds ‹user›:«pwu» docker://x dir:y
regctl: --creds "‹user›:«pwu»"
selenium grid: http://‹user›:«pwu»@‹host›:4444/wd/hub
webdav: davs://‹user›:«pwu»@‹host›/files
wrk -H 'Authorization: Basic «basic»' http://‹host›
""",
    "git_credential": """
remote: Repository not found.⏎fatal: repository 'https://‹user›:«ghp»@github.com/o/r.git/' not found
error: RPC failed; https://‹user›:«pwu»@‹host›/o/r.git
origin  https://‹user›:«pwu»@‹host›/o/r.git (push)
git remote add deploy https://‹user›:«pwu»@‹host›/o/r.git
+ git clone --depth 1 https://gitlab-ci-token:«glpat»@gitlab.com/o/r.git
Cloning https://«ghp»@github.com/o/r (to revision main)
~/.git-credentials: https://‹user›:«pwu»@‹host›
go env GOPRIVATE; git ls-remote https://oauth2:«glpat»@gitlab.com/o/m
npm install git+https://«ghp»:x-oauth-basic@github.com/o/r.git
cargo: Updating git repository `https://‹user›:«pwu»@‹host›/o/c.git`
Cannot fetch https://‹user›:«pwu»@bitbucket.org/o/r.git
fatal: unable to access 'https://‹user›:«pwu»@‹host›/o/r.git/': SSL
jenkins > git fetch --tags https://‹user›:«pwu»@‹host›/o/r.git
module "x" { source = "git::https://‹user›:«pwu»@‹host›/m.git" }
git push https://x-access-token:«ghs»@github.com/o/r.git
[url "https://‹user›:«ghp»@github.com/"] insteadOf
flux create source git --url=https://‹user›:«pwu»@‹host›/f.git
submodule.x.url=https://‹user›:«pwu»@‹host›/x.git
gitlab runner: Fetching https://‹user›:«pwu»@gitlab.‹host›/o/r.git
svn→git: https://‹user›:«pwu»@‹host›/o/r.git
pip: git+https://oauth2:«glpat»@gitlab.com/o/p.git@main
poetry: https://‹user›:«ghp»@github.com/o/p.git
go get: https://«ghp»@github.com/o/m failed
cocoapods: git clone https://‹user›:«pwu»@‹host›/specs.git
carthage: https://«ghp»@github.com/o/r.git
conan: scm https://‹user›:«pwu»@‹host›/o/r.git
vcpkg: https://«ghp»@github.com/o/registry.git
packer: git https://‹user›:«pwu»@‹host›/p.git
act: https://‹user›:«ghp»@github.com/actions/x
renovate: remote https://x-access-token:«ghs»@github.com/o/r.git
mirror push to https://‹user›:«pwu»@‹host›/o/r.git rejected
gitea mirror https://‹user›:«pwu»@gitea.example.com/o/r
""",
    "credit_card": """
Declined: «card» (do_not_honor)
{"pan":"«card»","expiry":"1228"}
ERROR  luhn: «cardsp» ok but expired
fixture.number = '«card»'
INSERT INTO payments(card) VALUES('«cardda»')
"card": "«cardsp»"
txn 88 card «card» amount 12.00
POS: swipe «card»=2812
test data: Visa «card»
amex «amex» cvc 1234
<pan>«card»</pan>
number=«card»&exp=12
Card number «cardda» already saved
customer,card⏎x,«card»
FRAUD score 91 for «card»
charge: {card: «card»}
regex matched '«cardsp»'
expected masked, got «card»
billing.card=«card»
Kreditkarte «cardsp» abgelehnt
carte «cardsp» refusée
visa/«card»
chargeback «card»
INFO card=«amex»
assert card == "«card»"
pan: «cardda»
refund «card» 5 EUR
vault: tokenise «card»
print(card)  # «cardsp»
cc_number="«card»"
«cardsp» is not a test card
row 4 | «card» | MC
""",
    "ssn": """
psycopg2.errors.UniqueViolation: Key (ssn)=(«ssn») already exists.
SSN «ssn» failed verification
"socialSecurityNumber":"«ssn»"
employee.ssn = «ssn»
taxpayer «itin» unknown
SELECT * FROM p WHERE ssn='«ssn»'
w2.pdf: ssn «ssn»
ssn,name⏎«ssn»,x
<tin>«ssn»</tin>
HR import: row 2: «ssn»
SSN=«ssnbare»
social security: «ssn»
i9 check «ssn» denied
claimant «ssn»
patient ssn "«ssn»"
mask_ssn('«ssn»') returned None
FAFSA: «ssn» mismatch
dependent SSN: «ssn»
ITIN: «itin»
tax_id=«ssn»
payroll error for «ssn»
member «ssn» not enrolled
{"ssn":"«ssnbare»"}
ssn: «ssnsp»
borrower.ssn «ssn»
DMV record «ssn»
x | «ssn» | y
SSN: '«ssn»'
got «ssn», want XXX-XX-XXXX
identity «ssn» locked
assert ssn == '«ssn»'
Social Security Number («ssn»)
""",
    "phone": """
TwilioRestException: Unable to create record: «e164» is unverified
sms → «e164» undelivered
"phone_number": "«us»"
phone='«usdot»'
tel: «uspar»
call «us» failed
Mobile: «inmob»
contact phone «uspar»
WhatsApp «brmob» invalid
sip:«e164»@x
signup: phone «e164» taken
user.phone = "«us»"
<tel>«frintl»</tel>
<a href="tel:«e164»">
ring «ukmob»
msisdn «msisdn»
Telefon: «deintl00»
Handy: «demob»
fax «us»
phone: «usbare»
to=«e164» body=x
customer «us»
helpdesk «uspar»
caller id «e164»
vcard: TEL;TYPE=CELL:«e164»
voicemail for «us»
cell phone «usdot»
otp → «inmob»
INSERT INTO c(phone) VALUES('«e164»')
{"mobile":"«ukmob»"}
recipient «frintl» opted out
number «us» ported
""",
    "totp_seed": """
qrencode 'otpauth://totp/x:y?secret=«b32_32»'
oathtool -b --totp «b32_32»
pyotp.TOTP("«b32_16»")
GOOGLE_AUTH_SECRET=«b32_32»
totp_secret: «b32_32»
{"otp_secret":"«b32_32»"}
mfa.secret=«b32_16»
Your 2FA secret: «b32_32»
two-factor: key «b32_32»
speakeasy: base32: '«b32_52»', totp
enroll authenticator with «b32_32»
setup key: «b32sp»
TOTP: invalid base32 «b32_32»
new OTPAuth.TOTP({ secret: "«b32_32»" })
aws iam: Base32StringSeed «b32_64» (virtual MFA)
user.totp_seed="«b32_32»"
2fa backup: «b32_32»
mfa enrol key «b32_26»
authy/totp: «b32_32»
pam_google_authenticator: «b32_26»⏎" TOTP_AUTH
otp seed: «b32_32»
OTP secret is «b32_32»
otpauth://hotp/z?counter=1&secret=«b32_16»
totp.verify('«b32_32»')
okta mfa sharedSecret (totp): «b32_16»
steam guard totp «b32_32»
ansible: totp_key: «b32_32»
secret for google authenticator: «b32_16»
2fa: «b32_32»
freeipa otptoken-add totp «b32_56»
gopass otp: «b32_32» totp
TOTP_SEED_BOB=«b32_32»
""",
    "jwt": """
401: token «jwt» expired 3s ago
Authorization: Bearer «jwt»
{"jwt":"«jwt»"}
curl -b 'token=«jwt»' x
jose: JWSSignatureVerificationFailed «jwt»
access_token=«jwt»&x=1
id_token_hint=«jwt»
supabase anon «jwt»
k8s sa: «jwt»
ws auth «jwt»
Error: malformed «jwt»
"accessToken": "«jwt»"
TOKEN='«jwt»'
decode(«jwt»)
bearer «jwt»
refresh: «jwt»
apikey: «jwt»
nginx: jwt «jwt»
cookie sid=«jwt»
eval: «jwt»
--token «jwt»
X-Token: «jwt»
<token>«jwt»</token>
dapr «jwt»
msal id «jwt»
graph: «jwt»
jwt.io «jwt»
oidc «jwt»
hasura «jwt»
sub=«jwt»
cli: «jwt»
auth0: «jwt» aud
""",
    "high_entropy_hex": """
Rails: SECRET_KEY_BASE: «hex128»
openssl enc -K «hex64»
flask SECRET_KEY = '«hex48»'
SESSION_SECRET: «hex32»
hmac secret=«hex64»
jwt signing key «hex64»
encryption_key = «hex64»
crypt key «hex32» bad
salt: «hex32»
pepper=«hex64»
webhook secret «hex64»
aes key = «hex32»
psk=«hex64»
pmk/psk «hex64»
master key: «hex64»
api secret "«hex40»"
shared secret: «hex64»
cookie secret «hex32»
APP_KEY=«hex64»
appkey «HEX32»
unseal key «hex66»
token secret: «hex40»
session key «hex64»
zwave network key «HEX32»
dm-crypt key «hex128»
client_secret=«hex64»
nextauth secret «hex64»
discord public? no: app secret «hex32»
NTLM hash: «hex32»
PRIVATE=«hex64»
invalid secret '«hex64»'
signing_secret: "«hex32»"
""",
}

CLEAN = """
error: commit ‹hex40› is a merge but no -m option was given.
fatal: Not possible to fast-forward; base ‹hex40›
Created autostash: ‹hex7›
Rebasing (1/3)⏎stopped at ‹hex40›
warning: refname '‹hex40›' is ambiguous.
git show ‹hex40›:src/a.rs
git diff ‹hex40›..‹hex40›
On commit ‹hex40›, 3 files changed
gitleaks? scanned ‹hex40›
ERROR: Job failed: pulling image "x:‹hex40›"
checkout ‹hex40› done in 2s
CIRCLE_SHA1=‹hex40›
TRAVIS_COMMIT ‹hex40›
BUILDKITE_COMMIT="‹hex40›"
drone commit ‹hex40›
argocd: synced to ‹hex40›
helm: appVersion: ‹hex40›
image tag ‹hex40› does not exist
tag: sha-‹hex40›
rollout: web ‹hex40› → ‹hex40›
rev-list: ‹hex40›
‹hex40›⇥refs/tags/v1.2.3
x = { git = "https://github.com/o/x", rev = "‹hex40›" }
source = "git+https://github.com/o/x#‹hex40›"
package @ ‹hex40› has no go.mod
pod 'X', :commit => '‹hex40›'
SwiftPM: revision ‹hex40› mismatch
ref: ‹hex40› is unreachable
repo sync: ‹hex40› not found in manifest
buildroot: X_VERSION = ‹hex40›
SRCREV = "‹hex40›"
yocto: unable to resolve ‹hex40›
west update: ‹hex40›
hg: abort: unknown revision '‹hex40›'
fossil: check-in ‹hex64›
jj: commit ‹hex40› is immutable
svn: UUID ‹uuid›
blame: ‹hex40› (bob 2026-11-03
failed to pull sha256:‹hex64›
‹host›/app@sha256:‹hex64›: not found
unexpected status from HEAD request to https://‹host›/v2/x/manifests/sha256:‹hex64›: 404
layer sha256:‹hex64› already exists
docker inspect ‹hex64›
docker exec ‹hex12› failed
docker logs ‹hex64›
Error: No such image: ‹hex64›
CONTAINER ID ‹hex12›
OCI runtime exec failed: ‹hex64›
containerd: shim ‹hex64› exited
"Id": "sha256:‹hex64›"
/run/containerd/io.containerd.runtime.v2.task/k8s.io/‹hex64›/config.json
/var/lib/kubelet/pods/‹uuid›/volumes
cri-o: ‹hex64› stopped
podman rm ‹hex64›
lxc: ‹word›-‹hex8›
nspawn machine ‹hex32›
cgroup: /kubepods/burstable/pod‹uuid›/‹hex64›
sha256:‹hex64› != sha256:‹hex64›
expected sha256:‹hex64›
checksum: ‹hex64›
digest mismatch ‹hex64›
wanted ‹hex64›, got ‹hex64›
integrity sha256-‹b64_44›
subresource integrity 'sha384-‹b64_64›'
hashes: ["sha256:‹hex64›"]
"sha256": "‹hex64›"
sha512: ‹hex128›
md5: ‹hex32›
blake3 ‹hex64›
crc32 ‹hex8›
xxh64 ‹hex16›
narHash: sha256-‹b64_44›
vendorHash = "sha256-‹b64_44›";
conda: MD5MismatchError ‹hex32›
Gem checksum sha256=‹hex64›
Cargo.lock: checksum = "‹hex64›"
gradle: dependency verification failed ‹hex64›
maven: Checksum validation failed, expected ‹hex40› but is ‹hex40›
pip hash: sha256:‹hex64›
poetry.lock: {file = "x.whl", hash = "sha256:‹hex64›"}
deno: integrity ‹hex64›
bun: sha512-‹b64_88›
apt: Hash Sum mismatch ‹hex64›
dnf: Package checksum ‹hex64›
iso: ‹hex64›  debian.iso
Terraform: h1:‹b64_44›
zh:‹hex64›
terraform provider checksum zh:‹hex64› mismatch
rsync: full checksum ‹hex32›
ETag: "‹hex32›-12"
Content-MD5: ‹b64_24›
x-amz-version-id: ‹mixed32›
x-goog-hash: md5=‹b64_24›
x-goog-generation: ‹digits16nl›
If-Match: "‹hex64›"
x-cache-key: ‹hex32›
X-Trace-Id: ‹hex32›
traceparent=00-‹hex32›-‹hex16›-00
dd.trace_id=‹digits19› dd.span_id=‹digits19›
"trace_id":"‹hex32›"
otel: TraceID ‹hex32› dropped
span ‹hex16› parent ‹hex16›
x-b3-traceid: ‹hex32›
Jaeger: ‹hex32›
sentry event ‹hex32›
eventId: ‹hex32›
X-Correlation-ID: ‹uuid›
req-‹uuid›
RequestID: ‹uuid›
request ‹hex32› timed out
opc-request-id: ‹HEX32›/‹HEX32›
x-request-id: ‹hex32›
correlation ‹uuid›
operation ‹uuid› failed
OperationId=‹uuid›
deployment ‹uuid›
az deployment ‹uuid› failed
tenantId: ‹uuid›
appId: ‹uuid›
project_id: ‹uuid›
"id": "‹uuid›"
id=‹hex24›
_id: ObjectId('‹hex24›')
E11000 dup key: { : ObjectId('‹hex24›') }
user ‹uuid› not found
UUID: ‹uuid›
mount: can't find UUID=‹uuid›.
/dev/mapper/luks-‹uuid›
cryptsetup: luks-‹uuid› failed
grub: no such device: ‹uuid›
blkid: PARTUUID="‹uuid›"
lvm: ‹mixed6›-‹mixed4›-‹mixed4›-‹mixed4›-‹mixed4›-‹mixed4›-‹mixed6›
mdadm: UUID ‹hex8›:‹hex8›:‹hex8›:‹hex8›
zpool guid ‹digits19›
smartctl: LU WWN Device Id: 5 ‹hex6› ‹hex9›
Serial Number: ‹up14›
USB: idVendor=‹hex4›, idProduct=‹hex4›
MAC ‹colonhex6›
DHCP: DUID ‹colonhex14›
machine id ‹hex32›
_MACHINE_ID=‹hex32›
_BOOT_ID=‹hex32›
systemd invocation ‹hex32›
INVOCATION_ID=‹hex32›
core.app.0.‹hex32›.812.zst
coredump: build id ‹hex40›
Build ID ‹hex40› not found in symbol store
debuginfod: ‹hex40›: no such file
minidump ‹uuid›.dmp
breakpad: MODULE Linux x86_64 ‹HEX33› app
symbols for ‹HEX33› missing
dSYM ‹uuid›
UUID mismatch: ‹uuid›
perf: ‹hex40› [vdso]
bpf: prog tag ‹hex16›
kernel: module x: signature ‹hex40›
nix-store: path '/nix/store/‹low32›-x' is not valid
guix: /gnu/store/‹low32›-x.drv
ccache key ‹hex32›
sccache ‹hex64› miss
bazel action ‹hex64›
blobs/sha256/‹hex64›
remote cache: ‹hex64›/‹n› not found
buck: ‹hex40›:‹n›
turborepo hash ‹hex16›
nx: computation hash ‹digits19›
gradle: ~/.gradle/wrapper/dists/x/‹low25›/x.zip
.cache/pip/http/a/b/‹hex56›
.cache/huggingface/hub/blobs/‹hex64›
.cache/go-build/ab/‹hex64›-d
go build cache ‹hex64›
node_modules/.cache/babel/‹hex32›.json
.next/cache/‹hex40›.pack
dist/app.‹hex20›.min.js
/assets/application-‹hex64›.css
chunk-‹up8›.js
runtime~main.‹hex8›.js
bundle.js?v=‹hex32›
ServiceWorker revision "‹hex32›"
workbox: {url:"/x.js",revision:"‹hex32›"}
flutter engine ‹hex40›
dart: revision ‹hex40›
unity guid ‹hex32›
godot uid://‹low13›
blender: ‹hex12›
gpg: Signature made; using EDDSA key ‹HEX40›
gpg: key ‹HEX16›: public key imported
W: GPG error: NO_PUBKEY ‹HEX16›
sub rsa4096 ‹HEX40›
sec#  ed25519 2026-01-01⏎      ‹HEX40›
fingerprint = ‹HEX40›
repo key ‹HEX40› expired
apt-key: ‹HEXsp40›
keyid ‹HEX16›
pgp id 0x‹HEX16›
minisign public key RW‹b64n54›
cosign bundle logIndex ‹digits9›
rekor ‹hex64›
SHA256:‹b64n43› bob@x (RSA)
Host key SHA256:‹b64n43› changed
MD5 fingerprint ‹colonhex16›
ECDSA key fingerprint is SHA256:‹b64n43›
AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43›
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ‹b64n160›
authorized_keys:3: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43› ci
known_hosts line 4: |1|‹b64_28›|‹b64_28›
thumbprint ‹HEX40›
x5t: ‹url27›
cert serial ‹hex38›
SKI ‹colonHEX20›
CN=x, serial=‹colonhex16›
OCSP: certID ‹hex40›
CT log ‹b64_44›
HPKP pin-sha256="‹b64_44›"
"kid":"‹url43›"
kid=‹hex40›
jwks: key ‹url27› not found
"x5t#S256":"‹url43›"
wg: peer ‹b64_44› handshake timed out
[Peer]⏎PublicKey = ‹b64_44›
wireguard public key: ‹b64_44›
nacl pubkey ‹hex64›
tailscale: nodekey:‹hex64›
nodekey:‹hex64› expired
mkey:‹hex64›
i2p: ‹low52›.b32.i2p
‹low56›.onion unreachable
age1‹low58› recipient
ssh-keygen: ‹b64n43›
webauthn credential id ‹url86›
tx 0x‹hex64› failed: out of gas
Transaction hash: 0x‹hex64›
revert in 0x‹hex40›
nonce too low: address 0x‹hex40›
from: 0x‹hex40› to: 0x‹hex40›
blockHash 0x‹hex64›
txid=‹hex64›
prevout ‹hex64›:1
input ‹hex64› not found
rawtx ‹hex64›
scriptPubKey 76a914‹hex40›88ac
bc1q‹low38›
block ‹hex64› orphaned
header hash ‹hex64›
state_root: 0x‹hex64›
validator 0x‹hex96›
ens namehash 0x‹hex64›
ERC20 at 0x‹hex40› paused
Solana program ‹sol_pub› not deployed
Error: AccountNotFound: pubkey=‹sol_pub›
Transaction ‹sol_sig› was not confirmed in 30s
mint: ‹sol_pub›
payer ‹sol_pub› has 0 SOL
owner: ‹sol_pub›
authority ‹sol_pub› mismatch
Recent Blockhash: ‹sol_pub›
Program log: ‹sol_pub›
signature: ‹sol_sig›
solana confirm ‹sol_sig›
token account ‹sol_pub› is frozen
spl-token transfer ‹sol_pub› 1
nano_‹nano60›
nano: block ‹HEX64› not found
representative nano_‹nano60›
frontier: ‹HEX64›
previous ‹HEX64›
work ‹hex16› invalid
ipfs pin Qm‹b58_44›
bafkrei‹low52›
peer id 12D3KooW‹b58_44›
arweave tx ‹url43›
magnet:?xt=urn:btih:‹hex40›&dn=x
torrent ‹hex40› stalled
nostr event ‹hex64› rejected
npub1‹low58›
cursor: ‹b64_44›
nextPageToken: ‹b64_28›
continuationToken=‹b64_60›
next_cursor "‹b64_24›"
page_token ‹b64_32›
SyncToken ‹digits13›
LastEvaluatedKey {"id":{"S":"‹uuid›"}}
resumeToken: {_data: '‹HEX64›'}
kafka offset ‹digits10›
group ‹word›-‹uuid›
consumer-‹n›-‹uuid› left
rabbitmq: delivery tag ‹n›
amq.gen-‹url22›
sqs ReceiptHandle AQEB‹b64n120›
receipt handle expired
MessageId: ‹uuid›
Message-ID: <‹hex32›@‹host›>
<‹digits14›.‹mixed6›@‹host›>
DKIM: bh=‹b64_44›;
queue id ‹HEX10›
SMTP id ‹mixed16›
pulsar ledger ‹n›:‹n›
celery task ‹uuid› raised
sidekiq JID-‹hex24›
jid=‹hex24›
resque ‹hex32›
job ‹uuid› FAILED
slurm job ‹n›
workflow run ‹digits10›
temporal: RunID ‹uuid›
argo: wf-‹low5›
dag_run ‹hex32›
mlflow run_id ‹hex32›
wandb: ‹low8›
ray: ‹hex48›
ObjectRef(‹hex56›)
NodeID ‹hex56› died
ActorID ‹hex32›
WorkerID=‹hex56›
dask: key ('x-‹hex32›', 0)
spark stage ‹n›
hive query_id=hive_2026_‹uuid›
trino query 20261103_101112_‹n›_‹low5›
presto: ‹digits8›
bigquery job bquxjob_‹hex8›_‹hex11›
snowflake query 01‹hex6›-‹hex4›-‹hex4›-‹hex4›-‹hex12›
druid: ‹hex32›
elastic: _id=‹url20›
index uuid ‹url22›
shard allocation ‹url22›
node {es-1}{‹url22›}{‹url22›}
cluster_uuid: ‹url22›
redis cluster: ‹hex40› master
sentinel runid ‹hex40›
replid:‹hex40›
cassandra ‹uuid›
scylla: host ‹uuid›
etcd: cluster ID ‹hex16›
raft term 12
consul: ‹uuid›
nomad eval ‹uuid›
vault lease aws/creds/x/‹mixed24›
lease_id database/creds/x/‹mixed24›
request_id: ‹uuid›
accessor ‹mixed24›
ceph pg 1.‹hex2›
minio: deployment ‹uuid›
s3 x-amz-id-2: ‹b64_76›
HostId: ‹b64_76›
RequestId: ‹up16›
UploadId=‹mixed64›
arn:aws:kms:x:‹digits12›:key/‹uuid›
arn:aws:secretsmanager:x:‹digits12›:secret:db-‹mixed6›
arn:aws:lambda:x:‹digits12›:function:y
account ‹digits12› not authorized
i-‹hex17› unhealthy
vol-‹hex17›
eks: ‹HEX32›.gr7.eu-west-1.eks.amazonaws.com
OIDC id ‹HEX32›
elb-‹hex16›
ECR: ‹digits12›.dkr.ecr.x.amazonaws.com/app
task ‹hex32› stopped
ecs: arn:aws:ecs:x:‹digits12›:task/c/‹hex32›
cloudformation ‹uuid›
apigw ‹low10›
cognito pool eu-west-1_‹mixed9›
cloudfront E‹up13›
route53 Z‹up20›
gcp: projects/‹digits12›
logName: x insertId: ‹low14›
operations/‹uuid›
cloud run rev web-00012-‹low3›
gke-‹word›-‹hex8›-‹low4›
azure: /subscriptions/‹uuid›
ResourceId ‹uuid›
clientId: ‹uuid›
objectId=‹uuid›
x-ms-client-request-id: ‹uuid›
do: droplet ‹digits9›
cf-ray: ‹hex16›-AMS
cloudflare zone ‹hex32›
zone_id = "‹hex32›"
account_id: ‹hex32›
vercel: dpl_‹mixed28›
prj_‹mixed28› not found
netlify: site ‹uuid›
heroku: release v12
fly: machine ‹hex14›
railway: deployment ‹uuid›
req_‹mixed14› failed
pi_‹mixed24› canceled
cus_‹mixed14› has no default source
sub_‹mixed24› past_due
ch_‹mixed24› refunded
in_‹mixed24› void
pm_‹mixed24› detached
evt_‹mixed24› not delivered
acct_‹mixed16› restricted
invalid payment intent pi_‹mixed24›
pk_test is required
slack C‹up10› channel_not_found
U‹up10› not in channel
discord guild ‹digits18›
telegram chat ‹digits10›
twilio SM‹hex32› undelivered
AC‹hex32› suspended
MG‹hex32› not found
sendgrid message ‹url22›
mailchimp list ‹hex10›
shopify gid://shopify/Order/‹digits13›
figma file ‹mixed22›
notion page ‹hex32›
airtable app‹mixed14›/tbl‹mixed14›
google doc ‹url44›
drive: file ‹url33› not found
sheets: ‹url44›
youtube ‹url11›
vimeo ‹digits9›
spotify:album:‹mixed22›
jira: ABC-‹n›
linear ENG-‹n›
asana ‹digits16nl› not found
zoom meeting ‹digits11›
IBAN check failed
VAT DE‹digits9›
order #‹digits10›
tracking 1Z‹up16›
SKU ‹up10›
EAN-13 ‹digits13›
IMEI ‹digits15›
vin WVW‹up14›
timestamp ‹digits13›
epoch_ns=‹digits19›
duration ‹digits10› ns
seed=‹digits10›
checksum ‹digits10›
2026-11-03T10:11:12.123Z
Tue Nov 3 10:11:12 UTC 2026
10.42.0.17:8443
2001:db8:85a3::8a2e:370:7334
0x‹hex16›
#‹n› 0x0000‹hex12› in main
pc=0x‹hex8› sp=0x‹hex12›
goroutine 1 [running]: main.main() +0x‹hex3›
_RNvCs‹mixed11›_3foo3bar
_ZN3foo3bar17h‹hex16›E
??_7TokenProvider@@6B@
$s4main5TokenV
lambda$getToken$0
com.acme.security.TokenFilter$$EnhancerBySpringCGLIB$$‹hex8›
at com.acme.PasswordEncoder.encode(PasswordEncoder.java:41)
PasswordResetControllerTest > sendsMail() FAILED
src/auth/secretManager.ts(14,7): error TS2339
error[E0425]: cannot find value `token` in this scope
undefined: getSecretFromVault
'PRIVATE_KEY_PATH' undeclared
fatal error: openssl/pem.h: No such file
SSL_CTX_use_certificate:ca md too weak
usage: tool --token TOKEN [--secret SECRET]
  -k, --api-key <KEY>   API key
  --password-file FILE  read password from FILE
Options: --client-secret CLIENT_SECRET
password: required field
password must contain a digit
"password": ["This field is required."]
password=None
password=""
password: null
passwords.txt: No such file or directory
password prompt timed out
Password:
[sudo] password for bob:
bob's password:
Password: ********
passwd: password unchanged
password strength: weak
password policy requires 12 characters
PASSWORD_MIN_LENGTH=12
PASSWORD_HASHERS = [
$password = $_POST['password'];
password = input("Password: ")
$env:PASSWORD is empty
echo $PASSWORD
password=%(password)s
password: {{ .Values.db.password }}
password: '@Microsoft.KeyVault(SecretUri=x)'
password = data.vault_generic_secret.db.data["password"]
password = var.db_password
password: !Ref DBPassword
valueFrom: secretKeyRef: key: password
process.env.DB_PASSWORD is undefined
config.get('db.password')
private String password;
char password[64];
password VARCHAR(72)
it('rejects a wrong password', async () => {
test "password can't be blank"
unexpected token: '}'
SyntaxError: invalid token (<string>, line 1)
Unexpected token 'export'
token ')' expected
expected token 'end', got 'endfor'
unterminated string token
token stream ended
TokenError: EOF in multi-line statement
Special tokens have been added
tokens per second: 45.2
pad_token_id is None
Setting `pad_token_id` to `eos_token_id`:50256
context length 8192 tokens exceeded
tokenizer_config.json missing
token: ""
token: null
token=undefined
token = generate_token()
token: ${CI_TOKEN}
token: ((token))
token: "{{ token }}"
token="$(cat /run/token)"
--token=$TOKEN
--token-file /var/run/token
tokenEndpoint: https://‹host›/token
token_ttl=3600
id-token: write
permissions: id-token: none
Error: Input required and not supplied: token
invalid token
refresh token expired
token revoked
X-CSRF-Token missing
CSRF token mismatch.
AuthenticityTokenError
csrfToken: undefined
<input name="csrf_token">
bearer token not found in header
Bearer realm="https://‹host›/token",service="x"
authentication token manipulation
API key not valid. Please pass a valid API key.
Missing apiKey
"apiKey": ""
apikey=xxxxxxxx
api_key = settings.API_KEY
API_KEY=<API_KEY>
api-key: ${API_KEY}
x-api-key: [MASKED]
OPENAI_API_KEY not set
No API key found in ~/.config
Secret "db-creds" not found
secret: db-password-‹low5›
secretName: x-tls
MountVolume.SetUp failed for volume "x" : secret "y" not found
client secret is missing
SECRET_KEY setting must not be empty
secrets.token_hex(32)
import secrets
docker secret ls
gh secret set X
private_key_path = "~/.ssh/id_rsa"
Permission denied (publickey,password).
Load key "/home/bob/.ssh/id_ed25519": bad permissions
identity file id_rsa type -1
privateKeyFile: /etc/x.key
no such identity: /root/.ssh/key
-----BEGIN PUBLIC KEY-----
unsupported key type
key too small
Unknown key "foo" in config
KeyError: 'token'
invalid key length: 15
duplicate key 'id'
missing key: name
primary key constraint
keys: [a, b, c]
hotkey ctrl+k
auth.log: Failed password for root from 10.0.0.1 port 22
auth: none
auth method not supported
oauth2: cannot fetch token: 400
session closed
sessionStorage is not defined
session_id missing
cookies disabled
Set-Cookie: lang=en; Path=/
credential helper not found
credentials are required
git: 'credential-osxkeychain' is not a git command
connect postgres://db:5432/x
mysql://root@localhost/x
redis://cache:6379
mongodb://localhost/x
ftp://ftp.example.com/x
http://localhost:8080/login
https://user@‹host›/x
user:pass@host form expected
http://user:password@example.com
curl -u username:password
-u root:root? no
docker run -u 0:0
npm i @scope/pkg@1.2.3
go get x.io/y@v1.2.3
pkg:npm/%40a/b@1.0.0
me@example.com
otp expired
invalid otp
mfa: code required
totp drift 30s
2fa disabled
jwt audience invalid
jwt must be provided
JWT_EXPIRY=3600
phone invalid
phone: null
ssn required
ssn: null
card declined
card type visa
card: **** 4242
1 800 555
HTTP 401
errno 13
CVE-2025-0001
PEP 517
E: 404
exit 137
"""
