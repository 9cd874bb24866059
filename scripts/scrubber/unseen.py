"""Contexts that no rule was tuned for: written last, measured, and left alone. Whoever looks at what they miss moves
them into fresh.py and writes others. See corpus.py."""

SECRETS = {
    "api_key": r"""
2026-09-14 06:12:44,871 ERROR [pool-3-thread-1] c.a.b.WeatherClient - GET /data/2.5/forecast?q=Oslo&appid=«hex32» -> 401
FATAL: datadog-agent: API Key status: API key ending: invalid, full key «hex32»
> Configure project :app⏎MAPS_API_KEY not found in local.properties, using "«mixed40»"
terraform plan: provider.newrelic.api_key: «newrelic»
ok: [web03] => (item={'name': 'MAILGUN_API_KEY', 'value': '«mailgun»'})
RuntimeError: You didn't provide a valid key. Got openai.api_key="«openai»"
$ export ANTHROPIC_API_KEY=«anthropic»⏎$ claude -p hi⏎401 authentication_error
{"level":"error","ts":1790000000.12,"msg":"request failed","headers":{"X-Api-Key":["«mixed32»"]}}
[Nest] 4122  - ERROR [StripeService] No such customer; key used: «stripe»
segment: writeKey «mixed32» is not valid for source web
Sentry.init: DSN https://«hex32»@o4501.ingest.sentry.io/4502
android/app/build.gradle:31: buildConfigField "String", "API_KEY", "\"«mixed40»\""
expo start: app.json extra.algoliaAdminKey = «hex32»
curl: (22) 403 while fetching https://api.themoviedb.org/3/movie/550?api_key=«hex32»
HTTP 401 Unauthorized⏎> PUT /v2/monitor HTTP/1.1⏎> DD-APPLICATION-KEY: «hex40»
lightspeed.toml:14:api_key = "«pplx»"
pod/worker-7d9f: env HONEYCOMB_API_KEY=«mixed32» (from Secret hc)
shopify theme push --store x.myshopify.com --password «shopify»
error: Postman CLI: collection run failed, --api-key "«postman»"
cmake -DPICOVOICE_ACCESS_KEY="«b64_56»" .. failed
wrangler: Authentication error [code: 10000], X-Auth-Key: «hex37»
docker buildx build --build-arg NEXT_PUBLIC_ALGOLIA_KEY=«hex32» .
ValueError: Invalid groq key '«groq»'
PHP Fatal error: Uncaught Twilio\Exceptions\RestException: authToken «hex32» in /srv/x.php:18
pytest E   assert 'sk-test' == '«openrouter»'
setenv("GEOCODER_KEY", "«mixed40»", 1);
HUBSPOT_APP_SECRET («uuid») rejected with 400
WARN figma-export: «figma» rate limited, retrying
# .env.local⏎LINEAR_KEY=«linear»⏎LINEAR_TEAM=ENG
I/flutter (21904): dart-define=OWM_KEY=«hex32»
amplitude.init('«hex32»') // api key prod
service account key for mixpanel: api_secret=«hex32»
R: Sys.setenv(CENSUS_API_KEY = "«hex40»")
Deploying... netlify.toml: STRIPE_KEY = "«stripe»"
sendgrid-python: raise UnauthorizedError; client built with «sendgrid»
Set-Item Env:COHERE_API_KEY "«mixed40»"
notion-sync: token_v2 invalid, tried «notion»
jq: error: {"apiKey":"«mixed32»","region":"eu"} (object) cannot be iterated
launchdarkly: SDK key sdk-«uuid» not found
pulumi: error: cloudflare:apiKey: «hex37» is malformed
""",
    "password": r"""
pg_dump: error: connection to server failed: FATAL:  password authentication failed (tried "«pws»")
Net::FTP: login('‹user›', '«pws»') -> 530 Login incorrect
PS C:\> net user svc_backup «pws» /add⏎The password does not meet the requirements
java -jar app.jar --spring.datasource.password=«pws» --server.port=0
application-prod.properties:9: javax.persistence.jdbc.password=«pws»
mount error(13): Permission denied: mount -t cifs //nas/x /mnt -o username=‹user›,password=«pws»,vers=3.0
+ mysql -h 10.1.2.7 -u ‹user› '-p«pws»' -e 'select 1'
docker-compose.yml:17:      - POSTGRES_PASSWORD=«pws»
ansible web -m ping --extra-vars "ansible_ssh_pass=«pws»"
smtplib.SMTPAuthenticationError: (535, ...) user=‹user› passwd=«pws»
C:\> runas: cmdkey /add:srv1 /user:‹user› /pass:«pws»
kubectl -n db create secret generic pg --from-literal=POSTGRES_PASSWORD='«pws»'
wpa_supplicant: psk="«pws»" ssid="‹word›"
sqlcmd -S ‹host› -U sa -P «pws» -Q "select @@version"
<bean class="x"><property name="password" value="«pws»"/></bean>
mongosh --username ‹user› --password «pws» --authenticationDatabase admin
keytool error: java.io.IOException: keystore password was incorrect (-storepass «pws»)
jarsigner -keystore k.jks -keypass «pws» app.jar alias
openssl rsa -in k.pem -passin pass:«pws» -out x
gpg --batch --passphrase «pws» -d x.gpg
zip -P «pws» out.zip a b c
7z a -p«pws» -mhe=on out.7z dir/
curl: (67) Access denied: 530 -- curl -u ‹user›:«pws» ftp://‹host›/x
ldap_bind: Invalid credentials (49)⏎  ldapsearch -x -H ldap://‹host› -D cn=admin,dc=x -w '«pws»'
redis-cli -h ‹host› --pass «pws» ping
spring: Failed to bind properties under 'spring.mail.password' value: "«pws»"
borg: BORG_PASSPHRASE=«pws» borg list /b
restic: RESTIC_PASSWORD="«pws»" wrong password or no key found
ecryptfs: mount -o passphrase_passwd=«pws»
ipmitool -I lanplus -H ‹host› -U ADMIN -P «pws» chassis status
rdesktop -u ‹user› -p «pws» ‹host›
CREATE USER '‹user›'@'%' IDENTIFIED BY '«pws»';
ERROR 1396 (HY000): ALTER USER ‹user› IDENTIFIED WITH mysql_native_password BY '«pws»'
rails db:setup: config/database.yml: password: <%= "«pws»" %>
Your temporary password is «pws» and expires in 24 hours
default admin password: «pws»
Login as ‹user› with the password "«pws»"
svn: E170001: svn co --username ‹user› --password «pws» https://‹host›/svn
jenkins: initial admin password⏎⏎«hex32»⏎⏎This may also be found at: /var/jenkins_home/secrets/initialAdminPassword
self.assertEqual(user.password, "«pws»")
""",
    "token": """
remote: HTTP Basic: Access denied. CI_JOB_TOKEN=«mixed20»
Error: 401 Bad credentials - GITHUB_TOKEN=«ghp»
{"ok":false,"error":"invalid_auth","token":"«xoxb»"}
wget --header="PRIVATE-TOKEN: «glpat»" https://‹host›/api/v4/x -> 401
discord.errors.LoginFailure: Improper token has been passed: «discord»
npm ERR! 403 //registry.npmjs.org/:_authToken=«npm»
Uploading x-1.0.whl: WARNING twine upload -u __token__ -p «pypi»
$ huggingface-cli login --token «hf»⏎Invalid token
vault: * permission denied (VAULT_TOKEN=«hvs»)
curl -sS -H 'Authorization: Bearer «mixed40»' https://‹host›/v1 | jq: parse error
kubectl --token=«url43» get pods⏎error: You must be logged in to the server
GET /socket.io/?EIO=4&access_token=«mixed40» 403
Set-Cookie: JSESSIONID=«HEX32»; Path=/; HttpOnly
Cookie: _gh_sess=«url88»; logged_in=yes
telegram.error.InvalidToken: The token `«telegram»` was rejected
docker login -u ‹user› -p «dckr» ⏎Error response from daemon: unauthorized
doctl: using token «dop» (context default)
sentry-cli: error: sentry reported an error: Invalid token «sntrys»
WARN  flyctl auth: FLY_API_TOKEN="«fly»"
rejected: kubeadm join 10.1.2.7:6443 --token «kubeadm»
sonar.token=«sonar»
[ERROR] renovate: host rule token "«ghs»" has expired
cargo publish: error: 403: token `«mixed32»` for registry crates-io
> cargo login «mixed35»
hub: error: git config github.token «hex40»
Jenkins-Crumb:«hex64» rejected
session_token = "«b64_88»"
  "refresh_token": "«url88»",
x-csrf-token: «b64_44»
SlackWebhook: POST https://hooks.slack.com/services/«slackhook» 404
gh auth login --with-token <<< «ghpat»
INFO[0001] Registering runner... token=«glrt»
terraform cloud: 401, credentials app.terraform.io token «tfe»
circleci setup --token «hex40» --host x
HEROKU_API_KEY=«uuid» heroku ps
buildkite-agent start --token "«hex50»"
okta: SSWS «url42» is not valid
dotnet nuget push -k «oy2» failed: 403
export CODECOV_TOKEN='«uuid»'
oauth: exchanged code for access token «url64», scope=read
""",
    "private_key": """
Error loading key "/root/.ssh/id_rsa": invalid format⏎«pem»
$ cat server.key⏎«pem»⏎$ nginx -t
{"type":"service_account","private_key":"«pem_json»","client_email":"a@b"}
web-1  | tls: failed to parse private key⏎«pem_compose»
Nov  3 10:11:12 app[812]: loading «pem_syslog»
[stderr] «pem_bracket»
--- a/deploy.key⏎+++ b/deploy.key⏎«pem_diff»
ssh-add -: Error loading key⏎«pem_openssh»
gpg: no valid OpenPGP data found.⏎«pgp»
  tls.key: |⏎    «pem_indent2»
   12 «pem_numbered»
sops: failed to decrypt: age identity «age» does not match
bitcoin-cli importprivkey «wif»⏎error code: -5
Invalid extended key: «xprv»
nostr-tool: cannot publish with «nsec»
solana-keygen recover: ~/.config/solana/id.json: [«sol_array_bare»]
Keypair.fromSecretKey(bs58.decode("«sol58»"))
Error: bad secret key size: new Uint8Array(«sol_array»)
hardhat.config.js: accounts: ["0x«hex64»"] private key too short
DEPLOYER_PRIVATE_KEY=0x«hex64» forge script x
cast send --private-key 0x«hex64» --rpc-url http://‹host›
anchor: ANCHOR_WALLET_SEED=«hex64»
Invalid mnemonic: «words12»
seed phrase: "«words24»"
wallet recovery phrase⏎  «words12»
nano_seed: «HEX64»
ethers.Wallet.fromPhrase("«words12»")
near: ed25519 secret_key "ed25519:«sol58»"
wg0.conf: PrivateKey = «b64_44»
wg set wg0 private-key <(echo «b64_44»)
[Interface]⏎PrivateKey = «b64_44»⏎Address = 10.0.0.2/24
ERROR could not read key: «pem_nofooter»
truncated log …⏎«pem_noheader»
k8s secret dump: id_ed25519: «pem_json»
PRIVATE_KEY="«pem_json»" node sign.js
phantom import failed for «sol58»
stellar: secret seed S«up55» invalid
tezos-client import secret key bob unencrypted:edsk«b58_50»
libp2p: identity PrivKey: "CAESQ«b64n80»"
vapid private key «url43»
""",
    "database_url": """
sqlalchemy.exc.OperationalError: postgresql+psycopg2://‹user›:«pwu»@‹host›:5432/‹word›
django.db: DATABASE_URL=postgres://‹user›:«pwu»@‹host›/‹word›?sslmode=require
Prisma: P1001 Can't reach database server at mysql://‹user›:«pwu»@‹host›:3306/‹word›
MongoServerError: bad auth : mongodb+srv://‹user›:«pwu»@‹host›/‹word›?retryWrites=true
celery -A x worker: kombu OperationalError amqp://‹user›:«pwu»@‹host›:5672//
REDIS_URL=rediss://default:«pwu»@‹host›:6380/0
System.Data.SqlClient: Server=tcp:‹host›,1433;Initial Catalog=‹word›;User ID=‹user›;Password=«pwu»;Encrypt=True
"ConnectionStrings": {"Default": "Host=‹host›;Username=‹user›;Password=«pwu»;Database=‹word›"}
jdbc:mysql://‹host›:3306/‹word›?user=‹user›&password=«pwu»
jdbc:sqlserver://‹host›:1433;databaseName=‹word›;user=‹user›;password=«pwu»;
go-sql-driver: ‹user›:«pwu»@tcp(‹host›:3306)/‹word›?parseTime=true
psql: could not connect: "host=‹host› dbname=‹word› user=‹user› password=«pwu»"
alembic.ini: sqlalchemy.url = postgresql://‹user›:«pwu»@‹host›/‹word›
goose postgres "postgres://‹user›:«pwu»@‹host›/‹word›" up⏎goose run: EOF
flyway -url=jdbc:postgresql://‹host›/‹word› -user=‹user› -password=«pwu» migrate
neo4j: bolt://‹user›:«pwu»@‹host›:7687 unreachable
clickhouse-client: clickhouse://‹user›:«pwu»@‹host›:9000/‹word›
snowflake://‹user›:«pwu»@acct/‹word›/public?warehouse=wh
cockroach sql --url 'postgresql://‹user›:«pwu»@‹host›:26257/‹word›'
ecto: config url: "ecto://‹user›:«pwu»@‹host›/‹word›"
Sequelize: ConnectionRefusedError: mariadb://‹user›:«pwu»@‹host›/‹word›
typeorm: url 'postgres://‹user›:«pwu»@‹host›:5432/‹word›',
nats: connect nats://‹user›:«pwu»@‹host›:4222
dj-database-url: mssql://‹user›:«pwu»@‹host›/‹word›
knex: { client: 'pg', connection: 'postgres://‹user›:«pwu»@‹host›/‹word›' }
Driver={ODBC Driver 17 for SQL Server};Server=‹host›;Uid=‹user›;Pwd=«pwu»;
DSN=‹word›;UID=‹user›;PWD=«pwu»
pgbouncer: cannot connect: ‹word› = host=‹host› user=‹user› password=«pwu»
influx: INFLUX_URL=influxdb://‹user›:«pwu»@‹host›:8086/‹word›
dbt: profiles.yml: connection: redshift://‹user›:«pwu»@‹host›:5439/‹word›
couchbase://‹user›:«pwu»@‹host›/‹word›
sqlplus ‹user›/«pwu»@‹host›:1521/‹word›
hive: beeline -u "jdbc:hive2://‹host›:10000/‹word›;user=‹user›;password=«pwu»"
~/.pgpass:3: ‹host›:5432:‹word›:‹user›:«pwu»
rails: PG::ConnectionBad postgres://‹user›:«pwu»@‹host›/‹word›
airflow: AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=postgresql+psycopg2://‹user›:«pwu»@‹host›/airflow
trino --server trino://‹user›:«pwu»@‹host›:8443
diesel: DATABASE_URL=mysql://‹user›:«pwu»@‹host›/‹word› diesel migration run
sqlx: error: pool timed out: postgres://‹user›:«pwu»@‹host›/‹word›
Provider=SQLOLEDB;Data Source=‹host›;Initial Catalog=‹word›;User Id=‹user›;Password=«pwu»;
""",
    "aws": """
botocore.exceptions.ClientError: (SignatureDoesNotMatch) with aws_secret_access_key=«aws40»
An error occurred (InvalidAccessKeyId): AKID «akia» does not exist
[default]⏎aws_access_key_id = «akia»⏎region = eu-west-1
terraform: provider "aws" { secret_key = "«aws40»" }
aws configure set aws_secret_access_key «aws40»
AWS_SESSION_TOKEN=«awstoken»
<AWSAccessKeyId>«akia»</AWSAccessKeyId>
s3cmd: secret_key = «aws40»
rclone: secret_access_key = «aws40»
{"AccessKeyId":"ASIA","SecretAccessKey":"«aws40»","SessionToken":"x"}
Credential=«akia»/20261103/us-east-1/s3/aws4_request
SES SMTP: username «akia»
SMTP_PASSWORD=«ses44» # aws ses
fog: aws_secret_access_key: '«aws40»'
aws s3 ls --profile x⏎InvalidToken «awstoken»
minio: MINIO_ROOT_USER=«akia»
spark.hadoop.fs.s3a.secret.key=«aws40»
fs.s3a.access.key «akia»
S3_SECRET=«aws40» ./backup.sh
const s3 = new AWS.S3({ secretAccessKey: '«aws40»' });
s3fs: passwd: «akia»:x
velero: cloud credentials aws_secret_access_key=«aws40»
presigned: ?X-Amz-Credential=«asia»%2F2026
X-Amz-Security-Token: «awstoken»
credential_process returned {"SecretAccessKey": "«aws40»"}
export AWS_ACCESS_KEY_ID=«akia»
chamber exec: AWS_SECRET_KEY=«aws40»
serverless: aws:accessKeyId: «akia»
boto3.client('sqs', aws_secret_access_key="«aws40»")
goamz: SignatureDoesNotMatch for key «akia»
ECS: AWS_SECRET_ACCESS_KEY («aws40») expired
packer: "secret_key": "«aws40»",
DynamoDB local: -accessKey «asia»
hadoop distcp -Dfs.s3a.secret.key=«aws40» s3a://x y
loki config: s3: s3://«akia»:x@eu
aws sts get-caller-identity # key «akia»
restic: AWS_SECRET_ACCESS_KEY is "«aws40»"
cyberduck s3 «akia» denied
litestream: secret-access-key: «aws40»
php: 'secret' => '«aws40»', // aws
""",
    "gcp": """
google.api_core.exceptions.PermissionDenied: 403 API key «aiza» not authorized
GMAPS_KEY="«aiza»"
https://maps.googleapis.com/maps/api/js?key=«aiza»&v=3
com.google.android.geo.API_KEY" android:value="«aiza»"/>
"private_key": "«pem_json»",⏎"client_email": "x@y.iam.gserviceaccount.com"
gcloud auth print-access-token⏎«ya29»
Authorization: Bearer «ya29»
oauth client_secret: «gocspx»
{"installed":{"client_id":"1.apps.googleusercontent.com","client_secret":"«gocspx»"}}
gsutil: gs_access_key_id = «goog1e»
refresh_token=«goog_refresh»&grant_type=refresh_token
GOOGLE_APPLICATION_CREDENTIALS_JSON=«b64_json»
docker login -u _json_key_base64 -p «b64_json» gcr.io
firebase: apiKey: "«aiza»",
YouTube Data API: quotaExceeded for key «aiza»
gcs hmac: «goog1e» disabled
google-services.json: "current_key": "«aiza»"
rclone gdrive: token = {"access_token":"«ya29»"}
next-auth: GOOGLE_CLIENT_SECRET=«gocspx»
googlemaps.Client(key='«aiza»')
FIREBASE_TOKEN=«goog_refresh» firebase deploy
curl "https://vision.googleapis.com/v1/images:annotate?key=«aiza»"
invalid_grant: «goog_refresh»
ERROR: (gcloud.auth) token «ya29» revoked
terraform: credentials = "«b64_json»"
GeminiError: API_KEY_INVALID «aiza»
oauth2l: «ya29»
Info.plist: <string>«aiza»</string>
CLIENT_SECRET («gocspx») mismatch
ansible: gcp_service_account_contents: «b64_json»
genai.configure(api_key="«aiza»")
adc: {"refresh_token": "«goog_refresh»", "type": "authorized_user"}
cloudsdk: CLOUDSDK_AUTH_ACCESS_TOKEN=«ya29»
GOOGLE_API_KEY: «aiza»
wp: recaptcha/google maps key «aiza»
gs_secret_access_key = «b64n40»
x-goog-api-key: «aiza»
skaffold: kaniko secret «b64_json»
GcsSecretKey=«goog1e»
chrome: --google-api-key=«aiza»
""",
    "azure": """
DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«b64_88»;EndpointSuffix=core.windows.net
AZURE_CLIENT_SECRET=«azsecret»
az login --service-principal -u x -p «azsecret» --tenant y
https://x.blob.core.windows.net/c/b?sv=2025-01-05&sig=«sigenc»&se=2026
Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«b64_44»
HostName=x.azure-devices.net;DeviceId=d;SharedAccessKey=«b64_44»
AADSTS7000215: Invalid client secret provided: «azsecret»
Ocp-Apim-Subscription-Key: «hex32»
APPINSIGHTS_INSTRUMENTATIONKEY=«uuid»
https://x.azurewebsites.net/api/f?code=«azfunc»
AZURE_OPENAI_API_KEY=«azopenai»
git clone https://«azdevops»@dev.azure.com/o/p/_git/r
ARM_CLIENT_SECRET: "«azsecret»"
AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=«b64_88»;
azcopy cp 'https://x.blob.core.windows.net/c?sp=r&sig=«sigenc»' .
az storage blob list --account-key «b64_88»
AZURE_STORAGE_KEY=«b64_88»
x-functions-key: «azfunc»
vsts: AZURE_DEVOPS_EXT_PAT=«azdevops»
docker login x.azurecr.io -u x -p «acr»
terraform: client_secret = "«azsecret»"
cosmos: COSMOS_KEY=«b64_88»
MSAL: client_credential='«azsecret»'
az acr login: password «acr»
speech: SPEECH_KEY=«hex32» region=westeurope
EventHub: SharedAccessKey=«b64_44»;EntityPath=x
az functionapp keys set --key-value «azfunc»
openai.AzureOpenAI(api_key="«azopenai»")
InstrumentationKey=«uuid»;IngestionEndpoint=https://x
velero: AZURE_STORAGE_ACCOUNT_ACCESS_KEY=«b64_88»
SAS: sv=2025&ss=b&srt=sco&sp=rwdlac&sig=«sigenc»
az ad sp create-for-rbac⏎{"password": "«azsecret»"}
SignalR: Endpoint=https://x;AccessKey=«b64_44»;Version=1.0;
pipelines: System.AccessToken «azdevops»
blobfuse: accountKey: «b64_88»
AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«b64_88»"
maps: subscription-key=«url43»&api-version=1.0
az iot: primaryKey: "«b64_44»"
batch: account key «b64_88» regenerated
redis cache: x.redis.cache.windows.net:6380,password=«b64_44»,ssl=True
""",
    "basic_auth": """
curl -u ‹user›:«pwu» https://‹host›/api -> 401
> Authorization: Basic «basic»
http_proxy=http://‹user›:«pwu»@‹host›:3128 apt-get update
wget --auth-no-challenge https://‹user›:«pwu»@‹host›/f.tgz
requests.get('https://‹host›', auth=('‹user›', '«pwu»'))
E: Failed to fetch https://‹user›:«pwu»@‹host›/debian/dists/stable/InRelease
"headers": {"authorization": "Basic «basic»"}
.docker/config.json: {"auths":{"‹host›":{"auth":"«basic»"}}}
npm config: //‹host›/:_auth=«basic»
http --auth ‹user›:«pwu» GET ‹host›/x
elasticsearch: http://‹user›:«pwu»@‹host›:9200 No alive nodes
pip install --index-url https://‹user›:«pwu»@‹host›/simple x
yum: https://‹user›:«pwu»@‹host›/repo/repodata/repomd.xml: [Errno 14]
skopeo inspect --creds ‹user›:«pwu» docker://‹host›/x
rtsp://‹user›:«pwu»@10.0.0.9:554/stream1: 401 Unauthorized
ffmpeg -i rtsp://‹user›:«pwu»@‹host›/cam
rclone: webdav url = https://‹user›:«pwu»@‹host›/dav
ab -n 100 -A ‹user›:«pwu» https://‹host›/
k6: http://‹user›:«pwu»@‹host›/login
proxy-authorization: Basic «basic»
Maven: Could not transfer artifact from https://‹user›:«pwu»@‹host›/maven2
conda: channel https://‹user›:«pwu»@‹host›/conda 401
prometheus: remote_write url: https://‹user›:«pwu»@‹host›/api/v1/write
new HttpHeaders({ Authorization: 'Basic «basic»' })
axios.get(url, { headers: { Authorization: `Basic «basic»` } })
ftp://‹user›:«pwu»@‹host›/pub/x.iso: Login incorrect
socks5h://‹user›:«pwu»@‹host›:1080
curl --proxy-user ‹user›:«pwu» -x ‹host›:8080 https://x
HTTPS_PROXY="http://‹user›:«pwu»@‹host›:8080"
grafana: GF_URL=https://‹user›:«pwu»@‹host›/
nexus upload: curl -v --user '‹user›:«pwu»' --upload-file a.jar https://‹host›/r
loki: clients: - url: https://‹user›:«pwu»@‹host›/loki/api/v1/push
mqtt://‹user›:«pwu»@‹host›:1883
smtp://‹user›:«pwu»@‹host›:587
imgpull --creds=‹user›:«pwu»
jenkins-cli -auth ‹user›:«pwu» build x
Invoke-WebRequest -Headers @{Authorization="Basic «basic»"}
scrapy: http://‹user›:«pwu»@‹host›/robots.txt
traefik: basicAuth user ‹user›:$apr1$«b64n8»$«b64n22»
bundle config set --global gems.‹host› ‹user›:«pwu»
""",
    "git_credential": """
fatal: Authentication failed for 'https://‹user›:«pwu»@‹host›/o/r.git/'
git clone https://‹user›:«ghp»@github.com/o/r.git
remote: Invalid username or password. https://‹user›:«pwu»@gitlab.com/o/r
git remote set-url origin https://oauth2:«glpat»@gitlab.com/o/r.git
error: unable to access 'https://«ghp»@github.com/o/r.git/': 403
git-credential-store: https://‹user›:«pwu»@‹host›
pip install git+https://«ghp»@github.com/o/r.git
npm ERR! git ls-remote https://«ghp»:x-oauth-basic@github.com/o/r.git
go: module: git ls-remote -q https://‹user›:«pwu»@‹host›/m.git
cargo: failed to fetch https://‹user›:«pwu»@‹host›/i.git
[remote "origin"] url = https://‹user›:«pwu»@‹host›/o/r.git
terraform init: git::https://‹user›:«pwu»@‹host›/m.git
submodule 'x' (https://‹user›:«pwu»@‹host›/x.git)
Pulling https://x-access-token:«ghs»@github.com/o/r
composer: git clone https://oauth2:«glpat»@gitlab.com/o/r.git failed
Cloning into 'r'...⏎fatal: https://‹user›:«pwu»@‹host›/o/r.git not found
argocd: repo https://‹user›:«pwu»@‹host›/o/r.git: auth required
flux: https://‹user›:«pwu»@‹host›/fleet.git
git push https://‹user›:«pwu»@‹host›/o/r.git HEAD:main
url.https://‹user›:«ghp»@github.com/.insteadOf https://github.com/
jenkins: git fetch https://‹user›:«pwu»@bitbucket.org/o/r.git
lfs: batch https://‹user›:«pwu»@‹host›/o/r.git/info/lfs
poetry add git+https://‹user›:«ghp»@github.com/o/r.git
Fetching origin⏎https://‹user›:«pwu»@‹host›/o/r.git
brew tap o/r https://«ghp»@github.com/o/r
hg clone https://‹user›:«pwu»@bitbucket.org/o/r
git ls-remote https://gitlab-ci-token:«mixed20»@gitlab.com/o/r.git
drone: clone https://‹user›:«pwu»@gitea.‹host›/o/r.git
bundle: gem 'x', git: 'https://«ghp»:x-oauth-basic@github.com/o/x.git'
repo init -u https://‹user›:«pwu»@‹host›/manifest.git
git subtree pull --prefix x https://‹user›:«pwu»@‹host›/x.git main
upstream⇥https://‹user›:«pwu»@‹host›/o/r.git (fetch)
mix deps.get: git: "https://‹user›:«ghp»@github.com/o/r.git"
swift package: https://‹user›:«ghp»@github.com/o/r.git
.gitmodules: url = https://‹user›:«pwu»@‹host›/o/r.git
azure: git clone https://‹user›:«low52»@dev.azure.com/o/p/_git/r
helm plugin install https://«ghp»@github.com/o/r
pre-commit: git fetch https://‹user›:«pwu»@‹host›/h.git
gh repo clone: https://‹user›:«gho»@github.com/o/r.git
stack: git https://‹user›:«pwu»@‹host›/o/r.git
""",
    "credit_card": """
stripe.error.CardError: card «card» was declined
{"number": "«card»", "exp_month": 12}
Payment failed for «cardsp» exp 12/28
INSERT INTO cards VALUES (1, '«card»', '12/28');
ValidationError: ccNumber "«cardda»" is not valid
pan=«card» cvv=***
amex «amex» not accepted
card_number: «cardda»
2026-11-03 WARN checkout - PAN «card» logged
cc: «cardsp»
expected 411111******1111 but got «card»
<CardNumber>«card»</CardNumber>
POST /pay?card=«card»&amount=12
order 12 paid with «cardsp»
braintree: test card «card» only in sandbox
assertEquals("«card»", masked);
| «card» | 12/28 | Visa |
«card»,12/28,John Doe
luhn check passed: «card»
refund to card «cardsp» pending
Mastercard «cardda»
UPDATE users SET cc='«card»' WHERE id=7
adyen: encryptedCardNumber plain «card»
ERROR: duplicate key value (card)=(«card»)
scan track2 «card»=28121010000
receipt card no. «cardsp»
payment_method[card][number]=«card»
visa: «cardsp»,
Diners/amex: «amex»
CreditCard{number='«card»', name='x'}
primaryAccountNumber: "«card»"
DEBUG gateway request card=«cardda»
pan "«card»" rejected by issuer
paypal: funding «card»
wallet tokenization of «card» failed
csv row 12: «card»;EUR;12.00
cardNum -> «cardsp»
customer typed «cardda» into the name field
"cc_num" : "«card»"
Card: «amex»
""",
    "ssn": """
ValidationError: ssn «ssn» already exists
{"ssn": "«ssn»", "name": "x"}
SSN: «ssn»
ERROR: duplicate key value violates unique constraint (ssn)=(«ssn»)
employee 12: social security number «ssn»
applicant ssn=«ssnbare»
INSERT INTO people VALUES ('x', '«ssn»');
tax id «itin» rejected
W-2 for «ssn» failed to print
<SSN>«ssn»</SSN>
social security no. «ssn»
payroll: «ssn» terminated
| John | «ssn» |
row 12,x,y,«ssn»,NY
Invalid ITIN «itin»
ssn "«ssnsp»"
patient «ssn» admitted
taxpayer_id: «ssn»
expected XXX-XX-1234 got «ssn»
SocialSecurityNumber = «ssn»
TIN «itin» mismatch
credit report for «ssn» unavailable
ssn_last: «ssn»
1099 recipient «ssn»
form.ssn.value = "«ssn»"
background check «ssn» pending
HIPAA audit: ssn «ssn» exported
dl=12345 ssn=«ssn»
person_ssn => '«ssn»'
ssn[0]: «ssn»
social: «ssn»
«ssn» not found in IRS file
beneficiary SSN «ssn»,
I-9: «ssn»
UPDATE x SET ssn='«ssn»'
mismatch: '«ssn»' vs '«ssn»'
loan 12 borrower ssn: «ssn»
insured's SSN is «ssn»
W9 ssn «ssnsp»
ssn: "«ssnbare»"
""",
    "phone": """
Twilio: The 'To' number «e164» is not a valid phone number
SMS to «us» failed
{"phone": "«e164»"}
phoneNumber=«usbare»
call me at «uspar»
Invalid phone: «usdot»
mobile: «ukmob»
+ sending OTP to «inmob»
whatsapp: «brmob» not on whatsapp
contact: «frintl»
Tel. «deintl00»
user phone «us» duplicate
<phone>«us»</phone>
tel:«e164»
msisdn=«msisdn»
INSERT INTO users (phone) VALUES ('«us»')
customer «uspar» called
fax: «us»
From: «e164» To: x
vonage: «e164» blocked
emergency contact «us»
cell «usdot»
Telefon: «demob»
téléphone «frloc»
"mobile" : "«inmob»"
| Jane | «us» |
libphonenumber: cannot parse «uspar»
dial «e164»
sip:«e164»@‹host›
phone_number "«us»" is taken
callback number «us»
E164 «e164»
signal-cli -u «e164» send
phone=«frintl»
hotline «deintl00»
voice call to «us» busy
pager: «us»
Handy «demob»
+1 «us»
tel: «ukmob»
""",
    "totp_seed": """
otpauth://totp/Acme:bob?secret=«b32_32»&issuer=Acme
oathtool --totp -b «b32_32»
pyotp.TOTP('«b32_32»').now()
TOTP_SECRET=«b32_32»
"mfa_secret": "«b32_16»"
two_factor_secret: «b32_32»
google-authenticator: Your new secret key is: «b32_26»
2FA setup key: «b32sp»
speakeasy.totp({ secret: '«b32_32»' })
otp_secret=«b32_32»
authenticator secret «b32_32»
rails: user.otp_secret = "«b32_32»"
AWS MFA seed: «b32_64»
ykman oath accounts add x «b32_32»
totp seed «b32_32» invalid
pass otp insert: otpauth://totp/x?secret=«b32_16»
QR: otpauth://hotp/x?secret=«b32_32»&counter=0
base32 decode failed for otp key «b32_32»
mfa: secret «b32_32»
scan or enter code: «b32sp» in your authenticator app
ROTP::TOTP.new("«b32_32»")
GoogleAuthenticator().verify("«b32_16»")
keycloak: totp secret «b32_32»
DUO otp_seed=«b32_32»
laravel: google2fa_secret => «b32_16»
{"totp": "«b32_32»"}
MFA_SEED="«b32_32»"
bitwarden: login.totp: «b32_32»
enter this key manually: «b32sp» (authenticator)
otplib.authenticator.check(t, '«b32_32»')
django-otp: key «b32_32»
TOTP key: «b32_32»
2fa_secret: "«b32_16»"
authenticator key: «b32_32»
totp: «b32_32»
vault write totp/keys/x key=«b32_32»
otp: invalid secret «b32_26»
totp-cli: «b32_32»
mfa seed for bob is «b32_32»
oath: secret «b32_32» counter 0
""",
    "jwt": """
Authorization: Bearer «jwt»
jwt.exceptions.ExpiredSignatureError: «jwt»
{"id_token":"«jwt»"}
kubectl config set-credentials x --token=«jwt»
token=«jwt»
JsonWebTokenError: invalid signature «jwt»
Cookie: auth=«jwt»
?access_token=«jwt»
supabase: SUPABASE_SERVICE_ROLE_KEY=«jwt»
hasura: x-hasura-jwt «jwt»
decoded «jwt» header
JWT «jwt» not before
sa token: «jwt»
msal: acquired «jwt»
export TOKEN=«jwt»
grpc metadata authorization bearer «jwt»
localStorage.token = '«jwt»'
"token": "«jwt»"
oidc: raw «jwt»
vault write auth/kubernetes/login role=x jwt=«jwt»
argocd --auth-token «jwt»
ws://x/?jwt=«jwt»
keycloak: refresh «jwt» stale
const t = `«jwt»`;
curl -H "X-Auth-Token: «jwt»"
nats creds: «jwt»
wget --header='Authorization: Bearer «jwt»'
firebase: idToken «jwt» revoked
session=«jwt»; Path=/
SAMLish: <jwt>«jwt»</jwt>
influx: «jwt»
step ca token: «jwt»
appstore: signed «jwt» 401
JWT=«jwt» ./run
zoom sdk: signature «jwt»
github app: bearer «jwt» too far in the future
grafana: X-JWT-Assertion: «jwt»
dapr: api token «jwt»
| token | «jwt» |
apns: provider token «jwt»
""",
    "high_entropy_hex": """
SECRET_KEY_BASE=«hex128» is weak
ActiveSupport: secret_key_base «hex128»
SESSION_SECRET="«hex64»"
encryption key «hex64»: invalid length
aes-256 key: «hex64»
hmac key=«hex40»
openssl enc -aes-128-cbc -K «hex32» -iv 0
cookie_secret: «hex32»
JWT_SECRET=«hex64» npm start
master key «hex64» not accepted
wpa psk=«hex64»
Administrator:500:aad3b435b51404eeaad3b435b51404ee:«hex32»:::
ntlm hash «hex32»
erlang cookie «hex32» mismatch
secret: «hex64»
shared secret «hex32»
SLACK_SIGNING_SECRET=«hex32»
webhook secret «hex40» invalid
salt=«hex32»
PASSWORD_PEPPER: «hex64»
LUKS volume key «hex128»
lora AppKey «HEX32»
network key: «HEX32»
storage key «hex64»
vault unseal key «hex66»
grafana: secret_key = «hex32»
NEXTAUTH_SECRET=«hex64»
app_secret: "«hex32»"
fernet-ish key «hex64»
BACKUP_ENCRYPTION_KEY='«hex64»'
crypto.createCipheriv('aes-256-gcm', '«hex64»', iv)
hmac.new(bytes.fromhex('«hex64»'))
rndc key "«hex64»"
snmp authkey 0x«hex40»
ble ltk «hex32»
CSRF_KEY=«hex64»
signing key: «hex64»
token_secret «hex32»
private key «hex64»
internal api secret «hex48»
""",
}

CLEAN = r"""
fatal: ambiguous argument '‹hex40›': unknown revision or path not in the working tree.
error: pathspec '‹hex40›' did not match any file(s) known to git
HEAD is now at ‹hex40› Merge branch 'x'
‹hex40› refs/heads/main
index ‹hex7›..‹hex7› 100644
Note: switching to '‹hex40›'.
warning: ‹hex40› is not an ancestor of HEAD
bisect: ‹hex40› is the first bad commit
pick ‹hex40› fix build
Author: x <x@y.z>⏎commit ‹hex40›
actions/checkout@‹hex40›
uses: docker/build-push-action@‹hex40› # v6
GITHUB_SHA=‹hex40›
CI_COMMIT_SHA=‹hex40›
BUILD_SOURCEVERSION=‹hex40›
vcs.revision=‹hex40›
deployed revision ‹hex40› to prod
Reverting to ‹hex40› ...
nixpkgs rev ‹hex40›
rev = "‹hex40›";
go: finding module x@‹hex40›
Submodule path 'x': checked out '‹hex40›'
cherry-pick ‹hex40› onto main
object file ‹hex40› is empty
dangling commit ‹hex40›
missing blob ‹hex40›
error: refs/stash does not point to a valid object! ‹hex40›
kernel: Linux version 6.1 (‹hex40›)
App version 4.2.1+‹hex40›
sentry release ‹hex40› not found
release: "web@‹hex40›"
docker.io/library/nginx@sha256:‹hex64›
Digest: sha256:‹hex64›
Error response from daemon: No such container: ‹hex64›
‹hex12›: Pulling fs layer
Loaded image ID: sha256:‹hex64›
failed to register layer: ‹hex64›
containerd[712]: task ‹hex64› deleted
runc: container "‹hex64›" does not exist
StopContainer "‹hex64›" failed
/var/lib/docker/overlay2/‹hex64›/merged
/sys/fs/cgroup/system.slice/docker-‹hex64›.scope
containerID: containerd://‹hex64›
volume ‹hex64› in use
network ‹hex64› has active endpoints
pod sandbox ‹hex64› not ready
buildkit: failed to solve: ‹hex64›
manifest for app:‹hex40› not found
crane digest ‹host›/app => sha256:‹hex64›
oras pull ‹host›/x@sha256:‹hex64›
image: ‹host›/app:1.2.3-‹hex40›
The computed checksum did not match: ‹hex64›
hash mismatch in fixed-output derivation
  specified: sha256-‹b64_44›
     got:    sha256-‹b64_44›
npm ERR! sha512-‹b64_88› integrity checksum failed
yarn: "x@npm:1.0.0": checksum: ‹hex128›
    --hash=sha256:‹hex64›
THESE PACKAGES DO NOT MATCH THE HASHES: Expected sha256 ‹hex64›
             Got        ‹hex64›
verifying x@v1.2.3: checksum mismatch⏎⇥downloaded: h1:‹b64_44›
⇥go.sum:     h1:‹b64_44›
md5sum: WARNING: 1 computed checksum did NOT match ‹hex32›
‹hex32›  file.iso
‹hex64> *file.bin
SHA512 (x.tgz) = ‹hex128›
sha1: ‹hex40›
Hash Sum mismatch - SHA256:‹hex64›
MD5Sum:‹hex32›
brew: SHA256 mismatch. Expected: ‹hex64›
  Actual: ‹hex64›
cask checksum ‹hex64›
archive sha256 ‹hex64› differs
etag: W/"‹hex32›"
If-None-Match: "‹hex40›"
x-amz-request-id: ‹up16›
x-amz-id-2: ‹b64_76›
x-amzn-trace-id: Root=1-‹hex8›-‹hex24›
traceparent: 00-‹hex32›-‹hex16›-01
trace_id=‹hex32› span_id=‹hex16›
b3: ‹hex32›-‹hex16›-1
uber-trace-id: ‹hex16›:‹hex16›:0:1
cf-ray: ‹hex16›-FRA
X-Request-Id: ‹uuid›
correlation_id=‹uuid›
Request ID: ‹uuid›
x-ms-request-id: ‹uuid›
activityId: ‹uuid›
tenant ‹uuid› not found
subscription ‹uuid› disabled
client_id=‹uuid›
UUID="‹uuid›" TYPE="ext4"
/dev/disk/by-uuid/‹uuid› does not exist
PARTUUID=‹uuid›
ALERT! UUID=‹uuid› does not exist. Dropping to a shell!
machine-id ‹hex32›
systemd: boot id ‹hex32›
journal file /var/log/journal/‹hex32›/system.journal corrupted
session ‹n› of user bob
nix: /nix/store/‹low32›-hello-2.12
error: builder for '/nix/store/‹low32›-x.drv' failed
bazel: /root/.cache/bazel/_bazel_root/‹hex32›/external/x
ccache: ‹hex32› not found
sccache: cache miss ‹hex64›
turbo: cache miss, executing ‹hex16›
gradle: build cache key ‹hex32›
~/.gradle/caches/transforms-3/‹hex32›/transformed/x.jar
~/.m2/x-1.0-‹n›.jar.sha1
webpack: main.‹hex20›.js
/static/css/main.‹hex8›.chunk.css
vite: assets/index-‹url8›.js
/_next/static/chunks/‹hex32›.js
next buildId ‹url21›
favicon.‹hex32›.ico
cargo: target/debug/deps/serde-‹hex16›.rlib
note: ... _ZN4core3fmt9Formatter9write_str17h‹hex16›E
thread 'main' panicked at /rustc/‹hex40›/library/core/src/option.rs:12
BuildID[sha1]=‹hex40›
/usr/lib/debug/.build-id/ab/‹hex38›.debug
build-id ‹hex40› mismatch
pdb: {‹HEX32›} not found
symbol server: x.pdb/‹HEX32›1/x.pdb
GPG error: NO_PUBKEY ‹HEX16›
key ‹HEX40› is not certified
gpg: using RSA key ‹HEX40›
pub   rsa4096 2026-01-01⏎      ‹HEX40›
Primary key fingerprint: ‹HEXsp40›
gpg: keyserver receive failed: ‹HEX40›
ssh: SHA256:‹b64n43› (ED25519)
The ED25519 key fingerprint is SHA256:‹b64n43›.
ssh-rsa AAAAB3NzaC1yc2E‹b64n80› bob@x
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43› bob@x
MD5:‹colonhex16›
cert fingerprint ‹colonHEX20›
X509v3 Subject Key Identifier: ‹colonHEX20›
serial number ‹hex36›
serial: ‹colonhex18›
pin-sha256="‹b64_44›"
kid "‹hex40›" not in JWKS
openssl: subject_hash ‹hex8›
certificate ‹hex64› revoked
known_hosts: |1|‹b64_28›|‹b64_28› ssh-rsa AAAA
tx ‹hex64› not found
transaction 0x‹hex64› reverted
block 0x‹hex64› unknown
eth: insufficient funds for 0x‹hex40›
contract 0x‹hex40› has no code
address: 0x‹hex40›
txid ‹hex64› unconfirmed
utxo ‹hex64›:0 spent
bitcoin: block ‹hex64› invalid
merkle root ‹hex64›
genesis hash ‹hex64›
Solana: account ‹sol_pub› not found
Program ‹sol_pub› failed: custom program error: 0x1
Error: Signature ‹sol_sig› not confirmed
blockhash ‹sol_pub› expired
nano_‹nano60› has no frontier
mint ‹sol_pub› supply 0
ipfs: Qm‹b58_44› not found
bafybei‹low52› unreachable
topic 0x‹hex64›
event sig 0x‹hex64›
state root mismatch: have 0x‹hex64›
peer 12D3KooW‹b58_44› disconnected
enode://‹hex128›@10.0.0.1:30303
info_hash=‹hex40›
magnet:?xt=urn:btih:‹hex40›
kafka: cluster id ‹url22›
ObjectId("‹hex24›")
_id: ‹hex24›
mongo: E11000 duplicate key { _id: '‹hex24›' }
redis: node ‹hex40› is failing
cassandra: host id ‹uuid›
etcd: member ‹hex16› lost
consul: node id ‹uuid›
nomad: alloc ‹uuid›
vault: request_id ‹uuid›
elastic: node ‹url22› left
index ‹word›-2026.11.03/‹url22› red
snapshot ‹hex32› failed
Spark: application_1790000000000_0012
yarn: container_e01_‹n›_01_000001
airflow: run_id=manual__2026-11-03
flink: job ‹hex32› failed
mlflow: run ‹hex32› not found
wandb: run ‹low8› crashed
dvc: md5 ‹hex32› missing
outs: md5: ‹hex32›.dir
huggingface: snapshots/‹hex40›/model.bin
blobs/‹hex64› is corrupt
ollama: blob sha256-‹hex64›
lfs: oid sha256:‹hex64›
git-lfs smudge: ‹hex64› missing
restic: pack ‹hex64› damaged
borg: chunk ‹hex64› not found
zfs: guid ‹digits19›
btrfs: uuid ‹uuid›
ceph osd ‹uuid› down
s3: version id ‹mixed32›
upload id ‹mixed64›
x-goog-generation: ‹n›
sqs: message id ‹uuid›
MD5OfBody ‹hex32›
sns: arn:aws:sns:eu-west-1:‹digits12›:x
arn:aws:iam::‹digits12›:role/x is not authorized
i-‹hex17› terminated
vpc-‹hex17› not found
sg-‹hex17› in use
ami-‹hex17› not found
snap-‹hex17›
subnet-‹hex8›
eni-‹hex17›
stack x/‹uuid›
lambda: RequestId: ‹uuid› Error: Runtime exited
cloudfront: distribution E‹up13›
hosted zone Z‹up20›
gcp project 1‹digits11›
serviceAccount:x@y.iam.gserviceaccount.com
operation-‹n›-‹hex12›
az: /subscriptions/‹uuid›/resourceGroups/x
objectId ‹uuid›
stripe: req_‹mixed14›
pi_‹mixed24› requires action
cus_‹mixed14› not found
evt_‹mixed24›
price_‹mixed24› inactive
slack: channel C‹up10› not found
team T‹up8›
discord: guild ‹digits18›
snowflake id ‹digits19›
tweet ‹digits19› not found
chat_id -100‹digits10›
order ‹digits12›
invoice INV-2026-‹n›
ticket ZX-‹n›
isbn 978-3-16-148410-0
IMEI 35-209900-176148-1
EAN ‹digits13›
phone extension 1234
ext. ‹n3›
port ‹n›
pid ‹n› exited
took ‹digits13› ns
1790000000123 ms
offset ‹digits12›
size ‹digits10› bytes
version 2026.11.3.‹n3›
2026-11-03 10:11:12.123456
20261103101112
lat 52.5200 lon 13.4050
192.168.100.200:5432
fe80::1ff:fe23:4567:890a
00:1b:44:11:3a:b7
10.0.0.0/8
0x7ffee4b5c8a0
at 0x00007f8a1c2d3e4f in x
rax: ‹hex16› rbx: ‹hex16›
Call Trace: x+0x‹hex3›/0x‹hex3›
segfault at 0 ip ‹hex16› sp ‹hex16›
password: string
password: must be at least 8 characters
password (optional)
Password for 'https://bob@github.com':
Enter password for user root:
Access denied (using password: YES)
FATAL: password authentication failed for user "bob"
sudo: a password is required
sudo: 3 incorrect password attempts
passwd: Authentication token manipulation error
password_file=/run/secrets/pg
POSTGRES_PASSWORD_FILE=/run/secrets/db
--password-stdin is required
--password PASSWORD  the password
-p, --password string   Password
password = os.environ["DB_PASSWORD"]
password: ${DB_PASSWORD}
password: {{ vault_password }}
password: <%= ENV['PW'] %>
password: !vault |
password=***
password=[FILTERED]
password: "" # set me
password=changeme
password=<your password>
DB_PASSWORD= is not set
missing required env PASSWORD
Undefined variable: password
NameError: name 'password' is not defined
error: no field `password` on type `Config`
let password = prompt("Password: ");
if (password !== confirmPassword) {
password_hash VARCHAR(255) NOT NULL,
ALTER TABLE users ADD COLUMN password text;
def login(username, password):
function setPassword(password: string): void
  password:⏎    type: string
param password: String
passwordEncoder = new BCryptPasswordEncoder()
password reset link sent
wrong password for key
the password has expired
Passwords do not match
minlen password policy 12
pwd: /home/bob/app
PWD=/srv/app
OLDPWD=/root
token: unexpected '}'
unexpected token < in JSON at position 0
Unexpected token: punc (})
syntax error near unexpected token `('
error: expected one of `,` or `}`, found token `;`
Parse error: token T_STRING
invalid token at line 3
lexer: token IDENT "foo"
token bucket exhausted
tokenizer.json not found
max_tokens=4096
total_tokens: 1234
prompt tokens 512 exceed
token_type: bearer
token_endpoint: https://‹host›/oauth/token
csrf token missing or incorrect
Invalid CSRF token
token expired at 2026-11-03
no token provided
Bearer token required
Authorization header missing
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
authorization: Bearer ${{ secrets.TOKEN }}
export GITHUB_TOKEN=$(gh auth token)
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
NPM_TOKEN is not set
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
token = request.headers.get("X-Token")
const token = await getToken();
token: Token::new(kind, span),
self.token.kind
next_token()
spl-token: mint ‹sol_pub›
Token ‹sol_pub› has no metadata
vault token lookup
consul acl token create
API key is missing
Invalid API key provided
apiKey is required
api_key: required
--api-key string   API key [$API_KEY]
api_key=YOUR_API_KEY
OPENAI_API_KEY=sk-...
x-api-key: <redacted>
"apiKey": process.env.API_KEY
KeyError: 'api_key'
key not found: "api_key"
keyerror: 'secret_key'
SECRET_KEY must not be empty
secret not found: db-credentials
secrets "db" is forbidden
Error: secret "x" already exists
secretKeyRef: name: db
secretName: tls-cert
aws_secretsmanager_secret.db: Creating...
client_secret: required
unknown field "clientSecret"
public key: ‹hex64›
pubkey ‹b64_44›
PublicKey = ‹b64_44›
peer: ‹b64_44›
ssh public key /root/.ssh/id_ed25519.pub
duplicate key value violates unique constraint "users_pkey"
Key (id)=(‹n›) already exists.
key: "user:‹n›:profile"
cache key: npm-‹hex64›
Cache restored from key: linux-‹hex64›
key=value pairs expected
foreign key constraint fails
primary key ‹n›
keyboard interrupt
monkeypatch.setattr
keyId: ‹hex32›
KMS key arn:aws:kms:eu-west-1:‹digits12›:key/‹uuid›
KeyVersion ‹hex32›
partition key ‹word›
sort key 2026#11
registry key HKLM\Software\x not found
host key verification failed.
Host key fingerprint is SHA256:‹b64n43›
key exchange: curve25519-sha256
private key file /etc/ssl/private/x.key not found
-----BEGIN CERTIFICATE-----
could not read private key
no private key for alias x
auth: user bob not found
auth failed for bob from 10.0.0.1
authType=NONE
auth_url=https://‹host›/v3
basic auth required
WWW-Authenticate: Basic realm="x"
http_basic_auth.py:12
credentials not found in native keychain
no valid credential sources found
Unable to locate credentials
credentialsId: 'deploy'
session not created: Chrome version must be 120
session expired
SESSION_COOKIE_SECURE=True
Set-Cookie: theme=dark
sessionId is undefined
cookie-parser deprecated
seed: 42
random seed 1234567
--seed ‹digits10›
numpy.random.seed(0)
seeds.rb failed
mnemonic: invalid word count
passphrase for key '/root/.ssh/id_rsa':
Enter passphrase (empty for no passphrase):
postgres://localhost:5432/x
postgresql://bob@‹host›/x
mysql://‹host›:3306
redis://localhost:6379/0 refused
mongodb://mongo:27017/x timed out
amqp://guest@‹host›
jdbc:postgresql://‹host›:5432/x
jdbc:h2:mem:test
Server=‹host›;Database=x;Trusted_Connection=True;
https://bob@github.com/o/r.git
git@github.com:o/r.git
ssh://git@‹host›:2222/o/r.git
https://‹host›/reset?token=
https://‹host›/?utm_source=x&gclid=y
http://user:pass@host/ is an example
curl -u user:password https://example.com
curl -u $USER:$PASS https://‹host›
docker run -u 1000:1000 x
-p 8080:80
ssh -p 2222 bob@‹host›
rsync -avz x bob@‹host›:/x
scp a bob@‹host›:/tmp
mail bob@example.com
otp: 3 attempts left
TOTP code invalid
mfa required
two-factor authentication is enabled
authenticator app not configured
jwt malformed
jwt expired
JWT signature does not match
invalid JWT header
eyJ is not valid base64
jwt.decode(token, key)
alg: RS256, typ: JWT
phone is required
invalid phone number
phone: "555-0100"
telephone exchange
ssn: XXX-XX-1234
ssn must have 9 digits
card ending in 1234
card number is invalid
credit card declined
123-45
1-800-FLOWERS
RFC 7519
CVE-2026-12345
GHSA-‹low4›-‹low4›-‹low4›
TypeScript TS2322
E0308
SQLSTATE[HY000] [2002]
ORA-12154: TNS
0x80070005
exit status 0xC0000005
HTTP/1.1 401 Unauthorized
x-ratelimit-reset: ‹digits10›
Content-Length: ‹digits10›
Last-Modified: Tue, 03 Nov 2026 10:11:12 GMT
base64: invalid input
iVBORw0KGgoAAAANSUhEUgAA‹b64n40›
data:image/png;base64,iVBORw0KGgo‹b64n60›
sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz
font/woff2;base64,d09GMgAB‹b64n40›
Qt5::Core_autogen/mocs_compilation.cpp
libssl.so.1.1: cannot open shared object file
_ZNSt8ios_base4InitC1Ev
undefined reference to `SSL_CTX_use_PrivateKey_file'
undefined symbol: EVP_PKEY_get0_RSA
com.example.auth.TokenService.refreshToken(TokenService.java:42)
at AuthController.login (/srv/auth/login.ts:12:3)
File "/srv/app/password.py", line 12, in check_password
src/token.rs:12:5: error[E0433]: failed to resolve
test_password_reset_token_expires FAILED
PASS src/auth/token.test.ts
tests/test_secret_key.py::test_x PASSED
modified:   config/secrets.yml.enc
deleted:    .env.example
M  src/keys.rs
drwx------ 2 bob bob 4096 .ssh
-rw------- 1 bob bob 2602 id_rsa
chmod 600 private.key
cat /run/secrets/token: No such file or directory
open /etc/ssl/private/key.pem: permission denied
secret/data/db: 403
kubernetes.io/service-account-token
type: kubernetes.io/dockerconfigjson
apiVersion: v1⏎kind: Secret
serviceaccount/default-token-‹low5›
pod web-7d9f8c6b5d-x2x4z
ReplicaSet "web-‹low10›" has timed out
job-‹low10›-‹low5›
configmap "x-‹hex10›" not found
helm: release secret sh.helm.release.v1.x.v12
ghcr.io/o/app:sha-‹hex7›
cosign: sha256-‹hex64›.sig
rekor: uuid ‹hex80›
sbom: pkg:npm/x@1.2.3
SPDXRef-Package-‹hex32›
slsa: subject digest ‹hex64›
apk: x-1.2.3-r0: BAD signature
rpm: Header V4 RSA/SHA256 Signature, key ID ‹hex8›: NOKEY
pacman: invalid or corrupted package (PGP signature)
snap: assertion sign-key ‹url64›
flatpak: commit ‹hex64›
ostree: checksum ‹hex64›
fwupd: device ‹hex40›
dmesg: usb 1-1: SerialNumber: ‹HEX24›
nvme: eui.‹hex16›
wwn-0x‹hex16›
EFI: GUID ‹uuid›
HID\VID_046D&PID_C52B\6&‹hex8›
{‹uuid›}
CLSID {‹uuid›} not registered
S-1-5-21-‹digits10›-‹digits10›-‹digits10›-1001
vscode: commit ‹hex40›
extension x.y-1.2.3 ‹hex8›
electron: ‹hex40›
chrome-extension://‹abc32›/x.js
unity: guid: ‹hex32›
.meta guid ‹hex32›
fileID: ‹digits19›
unreal: derived data ‹HEX40›
steam: depot manifest ‹digits19›
minecraft: player ‹uuid›
spotify:track:‹mixed22›
youtube.com/watch?v=‹url11›
docs.google.com/document/d/‹url44›/edit
figma.com/file/‹mixed22›/x
notion.so/x-‹hex32›
trello.com/c/‹mixed8›
gist ‹hex32›
gist.github.com/bob/‹hex32›
pastebin.com/‹mixed8›
"""
