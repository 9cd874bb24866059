"""Contexts that no rule was tuned for: lot c. See corpus.py."""

SECRETS = {
    "api_key": r"""
  "env": {⏎    "WEATHER_API_KEY": "«hex32»",⏎    "NODE_ENV": "development"⏎  }
execve("/usr/bin/curl", ["curl", "-H", "X-Api-Key: «mixed40»", "https://api.example.test"], 0x7ffd /* 31 vars */) = 0
Stripe.apiKey = "«stripe»";
stripe listen --api-key «stripe» --forward-to localhost:4242
~/.config/openai/config.json: {"api_key": "«openai»"}
client := openai.NewClient("«openai»")
x-api-key: «anthropic»⏎anthropic-version: 2023-06-01
library(ellmer); chat_anthropic(api_key = "«anthropic»")
SENDGRID_API_KEY «sendgrid» has insufficient mail.send scope
Mailgun\Mailgun::create('«mailgun»')->messages()->send($domain, $params);
{"name":"GROQ_API_KEY","value":"«groq»","type":"SECRET"}
NEW_RELIC_LICENSE_KEY=«newrelic» java -javaagent:newrelic.jar -jar app.jar
figma-export --token «figma» --file ‹mixed22›
[secrets]⏎notion_token = "«notion»"
LinearClient(apiKey: "«linear»").viewer
REPLICATE_API_TOKEN «replicate» was revoked because it was found in a public repository
"perplexity": {"command": "npx", "env": {"PERPLEXITY_API_KEY": "«pplx»"}}
litellm.AuthenticationError: OpenrouterException - key=«openrouter»
shopify theme push --password «shopify» --store acme
postman login --with-api-key «postman»
square_access_token=«square»
{:api-key "«mixed32»" :base-url "https://geo.example.test"}
val retrofit = api.search(query, apiKey = "«hex32»")
logstash: output { http { headers => { "X-Api-Key" => "«mixed40»" } } }
bugsnag.api.key.private=«hex32»
vim.g.codeium_api_key = "«uuid»"
nushell: $env.TAVILY_API_KEY = "tvly-«mixed32»"
var headers = {"Authorization": "Api-Key «low8».«mixed32»"};
kaggle.json: {"username":"‹user›","key":"«hex32»"}
// curl 'https://api.tiles.test/v4/style.json?access_key=«mixed64»'
HTTParty.get(url, headers: { "apikey" => "«mixed40»" })
cd /srv && VIRUSTOTAL_API_KEY=«hex64» ./scan.py sample.bin
DATADOG_API_KEY «hex32» is not valid for site datadoghq.eu
output.elasticsearch.api_key: "‹url20›:«url22»"
Serilog Seq sink: apiKey "«mixed20»" returned 403
brevo: xkeysib-«hex64»-«mixed16»
""",
    "password": r"""
cmdkey /add:‹host› /user:‹user› /pass:«pws»
<user username="‹user›" password="«pws»" roles="manager-gui"/>
localhost:5432:shop:‹user›:«pws»   (.pgpass)
INFO  AuthController - login attempt username=‹user›, password=«pws», ip=10.1.2.7
  root:⏎    password: «pws»⏎    authorized_keys: []
users.users.‹user›.initialPassword = "«pws»";
config.winrm.password = "«pws»"
d-i passwd/root-password password «pws»
mongosh> db.createUser({ user: "‹user›", pwd: "«pws»", roles: ["readWrite"] })
SET PASSWORD FOR '‹user›'@'localhost' = PASSWORD('«pws»');
ALTER LOGIN [‹user›] WITH PASSWORD = N'«pws»';
GRANT ALL ON *.* TO ‹user›@'%' IDENTIFIED BY "«pws»";
Hi, the password for the staging server is «pws» (user ‹user›)
[14:02] dev: can't log in to grafana, is the password still «pws»?
vagrant ssh: default: SSH auth password: «pws»
ipmitool -I lanplus -H 10.1.2.7 -U ‹user› -P «pws» chassis status
sqlcmd -S ‹host› -U ‹user› -P "«pws»" -Q "SELECT 1"
wget --ftp-user=‹user› --ftp-password='«pws»' ftp://‹host›/dump.gz
Bind DN: cn=‹user›,dc=example,dc=org  Bind password: «pws»
olcRootPW: «pws»
keystore-password: "«pws»"
gpg --batch --passphrase "«pws»" --decrypt backup.gpg
borg: BORG_PASSPHRASE='«pws»' borg list /mnt/repo
cy.get('#password').type('«pws»{enter}')
fill_in "Password", with: "«pws»"
mix ecto.create failed: username: "‹user›", password: "«pws»", hostname: "‹host›"
datasources:⏎- name: pg⏎  user: ‹user›⏎  secureJsonData:⏎    password: «pws»
<wifi><ssid>office</ssid><passphrase>«pws»</passphrase></wifi>
nmcli dev wifi connect office password «pws»
unrar x -p«pws» archive.rar
snmpget -v3 -u ‹user› -l authPriv -a SHA -A «pws» -x AES -X «pws» ‹host› sysDescr.0
{"username":"‹user›","oldPassword":"«pws»","newPassword":"«pws»"}
Get-ADUser -Credential (New-Object PSCredential '‹user›', (ConvertTo-SecureString '«pws»' -AsPlainText -Force))
qm set 100 --ciuser ‹user› --cipassword '«pws»'
mail.smtp.password=«pws»
""",
    "token": r"""
~/.config/gh/hosts.yml:⏎github.com:⏎    user: ‹user›⏎    oauth_token: «gho»
GH_ENTERPRISE_TOKEN=«ghp» gh pr list
HttpError: Bad credentials { headers: { authorization: "token «ghs»" } }
PRIVATE-TOKEN: «glpat»
@acme:registry=https://npm.example.test/⏎//npm.example.test/:_authToken=«npm»
Slack::Web::Client.new(token: '«xoxb»')
"slackAppToken": "«xapp»"
webhook_url: "https://hooks.slack.com/services/«slackhook»"  # alertmanager
twine upload -u __token__ -p «pypi» dist/*
from_pretrained("acme/llm", token="«hf»")
bot.run('«discord»')
telebot.TeleBot("«telegram»")
vault: { address: "https://vault.example.test", token: "«hvs»" }
curl -X GET -H "Authorization: Bearer «dop»" "https://api.digitalocean.test/v2/droplets"
[auth]⏎token=«sntrys»
flyctl auth token⏎«fly»
kubeadm token create «kubeadm» --ttl 2h
sonar-scanner -Dsonar.token=«sonar» -Dsonar.host.url=https://sonar.example.test
{"credentials":{"app.terraform.test":{"token":"«tfe»"}}}
gitlab_runner_token: "«glrt»"
<add key="ApiKeys" value="«oy2»" />
Error response from daemon: Get "https://registry.example.test/v2/": unauthorized: incorrect PAT «dckr»
git config --global github.token «ghpat»
octokit = Octokit::Client.new(access_token: "«ghp»")
JENKINS_API_TOKEN=11«hex32»
curl --cookie "JSESSIONID=«HEX32»" https://‹host›/app/admin
access_token=«mixed64»&token_type=bearer&expires_in=3600
OAuth2 refresh failed: {"refresh_token": "«mixed96»", "grant_type": "refresh_token"}
rpc error: code = PermissionDenied desc = token "«mixed40»" has been revoked
ASANA_TOKEN = "2/‹digits16›/‹digits16›:«hex32»"
nomad job run: NOMAD_TOKEN=«uuid»
Rundeck: X-Rundeck-Auth-Token: «mixed32»
"auth": { "bearer": [{ "key": "token", "value": "«mixed64»", "type": "string" }] }
confluence: Authorization: Bearer «b64_44»
security incident: session token «url86» appeared in the access log
""",
    "private_key": r"""
openssl rsa -in ca.key -check⏎writing RSA key⏎«pem»
"cell_type": "code", "source": ["KEY = '«pem_json»'"]
secrets.yaml (decrypted):⏎ssh_key: |⏎  «pem_indent2»
scp failed; local file deploy_key contains:⏎«pem_openssh»
JWT_SIGNING_KEY="«pem_json»" node server.js
{"tls":{"key":"«pem_json»","cert":"/etc/ssl/c.pem"}}
docker compose logs web⏎2026-11-03T10:11:12Z web-1  | «pem_logged»
[stderr] + cat key.pem⏎[stderr] «pem_bracket»
journalctl -u app⏎Nov  3 10:11:12 app[812]: «pem_syslog»
Attaching to web_1⏎web_1  | «pem_compose»
@@ -0,0 +1,10 @@⏎«pem_diff»
vim: showing line numbers⏎  12 «pem_numbered»
pass show gpg/backup⏎«pgp»
log rotated in the middle of the key:⏎«pem_noheader»
read 512 of 1704 bytes from id_rsa⏎«pem_nofooter»
static SERVER_KEY: &str = "«pem»";
age -d -i <(echo «age») db.sql.age
"wif": "«wif»", "network": "mainnet"
lnd: wallet extended master key «xprv»
NOSTR_NSEC=«nsec»
brownie accounts: add deployer --private-key 0x«hex64»
signer = new Wallet('«hex64»'); // private key of the relayer
[profile.mainnet]⏎private_key = "0x«hex64»"
"mnemonic": "«words12»",
ganache --wallet.mnemonic "«words12»"
Please type your 24-word seed phrase: «words24»
solana config: id.json «sol_array»
keypair = Keypair.from_bytes(bytes(«sol_array»))
export SOLANA_PRIVATE_KEY=«sol58»
{"publicKey":"‹sol_pub›","secretKey":"«sol58»"}
wg set wg0 private-key /dev/stdin <<< «b64_44»  # WireGuard private key
networking.wireguard.interfaces.wg0.privateKey = "«b64_44»";
"d": "«url43»", "crv": "secp256k1", "kty": "EC", "use": "sig"
near: ed25519 private_key "ed25519:«b58_88»"
kubeconfig: client-key-data decoded to⏎«pem»
""",
    "database_url": r"""
ActiveRecord::ConnectionNotEstablished: postgres://‹user›:«pwu»@‹host›:5432/‹word› connection refused
<Resource name="jdbc/‹word›" username="‹user›" password="«pwu»" url="jdbc:mysql://‹host›:3306/‹word›"/>
MongooseServerSelectionError: connect ECONNREFUSED, uri mongodb://‹user›:«pwu»@‹host›:27017/‹word›
ioredis: new Redis("rediss://default:«pwu»@‹host›:6380")
kombu.exceptions.OperationalError: amqp://‹user›:«pwu»@‹host›//: [Errno 111] Connection refused
DATABASE_URL: postgresql://‹user›:«pwu»@postgres:5432/‹word›  # docker-compose.yml
spring:⏎  datasource:⏎    url: jdbc:postgresql://‹host›:5432/‹word›⏎    username: ‹user›⏎    password: «pwu»
System.ArgumentException: Keyword not supported in 'Server=‹host›;Uid=‹user›;Pwd=«pwu»;Foo=1'
pgxpool.New(ctx, "postgres://‹user›:«pwu»@‹host›:5432/‹word›?pool_max_conns=10")
test:⏎  database: ‹word›⏎  username: ‹user›⏎  password: «pwu»⏎  adapter: trilogy
cargo sqlx prepare: error communicating with database postgres://‹user›:«pwu»@‹host›/‹word›
POSTGRES_URL_NON_POOLING="postgres://‹user›:«pwu»@‹host›:5432/‹word›"
cx_Oracle.connect("‹user›", "«pwu»", "‹host›:1521/‹word›")
DriverManager.getConnection("jdbc:mysql://‹host›/‹word›", "‹user›", "«pwu»");
exp ‹user›/«pwu»@‹word› file=full.dmp log=exp.log
DSN=Warehouse;UID=‹user›;PWD=«pwu»
liquibase --url=jdbc:postgresql://‹host›/‹word› --username=‹user› --password=«pwu» update
session = Cluster(['‹host›'], auth_provider=PlainTextAuthProvider('‹user›', '«pwu»')).connect()
NEO4J_AUTH=‹user›/«pwu»
mongodump --host ‹host› -u ‹user› -p «pwu» --authenticationDatabase admin
libpq: conninfo "hostaddr=10.1.2.7 user=‹user› password=«pwu» dbname=‹word›"
psql -d "postgresql://‹user›:«pwu»@‹host›/‹word›" -c '\dt'
alembic: sqlalchemy.url = mysql+pymysql://‹user›:«pwu»@‹host›/‹word›
repo config: [hostname: "‹host›", username: "‹user›", password: "«pwu»", database: "‹word›"]
dotnet ef dbcontext scaffold "Host=‹host›;Database=‹word›;Username=‹user›;Password=«pwu»" Npgsql.EntityFrameworkCore.PostgreSQL
AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=postgresql+psycopg2://‹user›:«pwu»@‹host›/‹word›
sequelize.authenticate: new Sequelize('‹word›', '‹user›', '«pwu»', { host: '‹host›', dialect: 'mysql' })
bcp ‹word›.dbo.t out t.csv -S ‹host› -U ‹user› -P «pwu»
wal-g: PGHOST=‹host› PGUSER=‹user› PGPASSWORD=«pwu» wal-g backup-list
trino --server https://‹host›:8443 jdbc:trino://‹host›:8443/hive?user=‹user›&password=«pwu»
exception at asyncpg.connect("postgres://‹user›:«pwu»@‹host›/‹word›")
cockroach sql --url "postgresql://‹user›:«pwu»@‹host›:26257/‹word›?sslmode=verify-full"
hdb://‹user›:«pwu»@‹host›:39015
logstash jdbc { jdbc_connection_string => "jdbc:mysql://‹host›/‹word›" jdbc_user => "‹user›" jdbc_password => "«pwu»" }
arangodb: arangosh --server.endpoint tcp://‹host›:8529 --server.username ‹user› --server.password «pwu»
""",
    "aws": r"""
aws sts get-caller-identity failed: InvalidClientTokenId («akia»)
[backup]⏎access_key = «akia»⏎secret_key = «aws40»⏎bucket_location = EU
AWS Access Key ID [None]: «akia»⏎AWS Secret Access Key [None]: «aws40»
"Environment": { "Variables": { "AWS_SECRET_ACCESS_KEY": "«aws40»" } }
<accessKeyId>«akia»</accessKeyId>⏎<secretAccessKey>«aws40»</secretAccessKey>
kubectl create secret generic s3 --from-literal=AWS_ACCESS_KEY_ID=«akia» --from-literal=AWS_SECRET_ACCESS_KEY=«aws40»
session = boto3.Session(aws_access_key_id='«asia»', aws_secret_access_key='«aws40»', aws_session_token='«awstoken»')
StaticCredentialsProvider.create(AwsBasicCredentials.create("«akia»", "«aws40»"))
Set-AWSCredential -AccessKey «akia» -SecretKey «aws40» -StoreAs prod
aws configure import: User name,Access key ID,Secret access key⏎ci,«akia»,«aws40»
camel.component.aws2-s3.secret-key = «aws40»
<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>«akia»</AWSAccessKeyId></Error>
https://b.s3.eu-west-1.amazonaws.com/x?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=«asia»/20261103/eu-west-1/s3/aws4_request
StringToSign mismatch for AWSAccessKeyId=«akia»
fluentd: <match s3>⏎  aws_key_id «akia»⏎  aws_sec_key «aws40»⏎</match>
ENV AWS_ACCESS_KEY_ID=«akia»⏎ENV AWS_SECRET_ACCESS_KEY=«aws40»
aws: { credentials: { accessKeyId: '«akia»', secretAccessKey: '«aws40»' } }
$env:AWS_SESSION_TOKEN='«awstoken»'
(def creds {:access-key "«akia»" :secret-key "«aws40»"})
config :ex_aws, access_key_id: "«akia»", secret_access_key: "«aws40»"
SES SMTP: user «akia», password «ses44»
CreateAccessKey response: "SecretAccessKey": "«aws40»"
registry:⏎  storage:⏎    s3:⏎      secretkey: «aws40»⏎      region: eu-west-1
'aws' => array('key' => '«akia»', 'secret' => '«aws40»'),
carrierwave: aws_credentials: { access_key_id: "«akia»" }
CloudTrail: "userIdentity": {"type": "IAMUser", "accessKeyId": "«akia»"}
> x-amz-security-token: «awstoken»⏎< HTTP/1.1 403 Forbidden
Alexa/Lambda deploy: AWS_SECRET_ACCESS_KEY «aws40» does not match the access key
duckdb: CREATE SECRET s (TYPE S3, KEY_ID '«akia»', SECRET '«aws40»');
hadoop distcp -Dfs.s3a.access.key=«akia» -Dfs.s3a.secret.key=«aws40» /in s3a://b/out
COPY orders FROM 's3://b/o.csv' CREDENTIALS 'aws_access_key_id=«akia»;aws_secret_access_key=«aws40»';
dear team, please remove key «akia» from IAM, it was committed to git
vault read aws/creds/deploy⏎access_key     «asia»⏎secret_key     «aws40»⏎security_token «awstoken»
elastic.co keystore: s3.client.default.secret_key = «aws40»
cargo lambda deploy --env-var AWS_SECRET_ACCESS_KEY=«aws40»
""",
    "gcp": r"""
Google Maps JavaScript API error: InvalidKeyMapError, key=«aiza»
GoogleService-Info.plist:⏎⇥<key>API_KEY</key>⏎⇥<string>«aiza»</string>
final apiKey = '«aiza»'; // Google Maps
buildConfigField("String", "MAPS_KEY", "\"«aiza»\"")
resValue "string", "google_api_key", "«aiza»"
firebase.initializeApp({ apiKey: '«aiza»', projectId: 'acme' })
GEMINI_API_KEY=«aiza» npx gemini
models/gemini-1.5-pro:generateContent?key=«aiza» returned 400 API_KEY_INVALID
curl -X POST "https://translation.googleapis.com/language/translate/v2?key=«aiza»"
URL-signing off; static map request https://maps.googleapis.com/maps/api/staticmap?center=Oslo&key=«aiza»
terraform: access_token = "«ya29»"  # google provider
DEBUG:google.auth.transport.requests: Making request: Authorization: Bearer «ya29»
$ gcloud config config-helper --format='value(credential.access_token)'⏎«ya29»
git clone -c http.extraheader="Authorization: Bearer «ya29»" https://source.example.test/p/acme
bq: 401 Invalid Credentials; access token «ya29»
kubectl config: auth-provider:⏎  config:⏎    access-token: «ya29»
gspread.oauth: {"refresh_token": "«goog_refresh»", "client_secret": "«gocspx»"}
drive sync: invalid_grant for refresh token «goog_refresh»
$client->setClientSecret('«gocspx»');
OmniAuth provider :google_oauth2, ENV["GID"], "«gocspx»"
export GOOGLE_OAUTH_CLIENT_SECRET='«gocspx»'
"web": { "client_secret": "«gocspx»", "project_id": "acme" }
google.oauth.clientSecret = «gocspx»
{⏎  "type": "service_account",⏎  "private_key_id": "‹hex40›",⏎  "private_key": "«pem_json»",⏎  "client_id": "‹digits21›"⏎}
credentials = service_account.Credentials.from_service_account_info({"private_key": "«pem_json»"})
GOOGLE_APPLICATION_CREDENTIALS_JSON=«b64_json»
circleci env: GCLOUD_SERVICE_KEY=«b64_json»
kubectl get secret gcp-sa -o yaml⏎data:⏎  credentials.json: «b64_json»
gsutil config -a⏎What is your google access key ID? «goog1e»⏎What is your google secret access key? «b64n40»
boto: gs_secret_access_key = «b64n40»
rclone config create gcs s3 provider=GCS access_key_id=«goog1e» secret_access_key=«b64n40»
security review: the Google key "«aiza»" in bundle.js is unrestricted
recaptcha enterprise: apiKey=«aiza»
flutterfire: apiKey: '«aiza»', appId: '1:‹digits12›:web:‹hex22›'
hello, our Google API key «aiza» was suspended, please advise
""",
    "azure": r"""
az storage account keys list -n acme -o tsv⏎key1⇥FULL⇥«b64_88»
local.settings.json: {"Values":{"AzureWebJobsStorage":"DefaultEndpointsProtocol=https;AccountName=fn;AccountKey=«b64_88»;EndpointSuffix=core.windows.net"}}
param storageKey string = '«b64_88»' // bicep
from_connection_string("DefaultEndpointsProtocol=https;AccountName=media;AccountKey=«b64_88»")
[Storage]⏎azure_storage_account=acme⏎azure_storage_key=«b64_88»
StorageAuthenticationError: key «b64_88» for account logs is not base64 of the current key
loki: azure: account_key: «b64_88»
Cosmos: The input authorization token can't serve the request. masterKey=«b64_88»
new CosmosClient("https://c.documents.azure.com:443/", "«b64_88»")
spark.conf.set("fs.azure.account.key.lake.dfs.core.windows.net", "«b64_88»")
https://media.blob.core.windows.net/v/1.mp4?sv=2022-11-02&sr=b&sig=«sigenc»&se=2026-12-01T00%3A00%3A00Z
container SAS: ?sv=2021-08-06&ss=b&srt=sco&sp=rwdl&sig=«sigenc»
BlobEndpoint=https://acme.blob.core.windows.net;SharedAccessSignature=sv=2022-11-02&sig=«sigenc»
AzCopy: 403 AuthorizationFailure for https://acme.blob.core.windows.net/b/f?sig=«sigenc»
Endpoint=sb://orders.servicebus.windows.net/;SharedAccessKeyName=listen;SharedAccessKey=«b64_44»;EntityPath=q1
AMQP error: amqp:unauthorized-access SharedAccessKey=«b64_44»
az iot hub connection-string show⏎"HostName=h.azure-devices.net;SharedAccessKeyName=iothubowner;SharedAccessKey=«b64_44»"
Endpoint=https://acme.azconfig.test;Id=x-l0-s0:abc;Secret=«b64_44»  (Azure App Configuration)
eventgrid: aeg-sas-key: «b64_44»
EventGridPublisherClient(endpoint, AzureKeyCredential("«b64_44»"))
WEBSITE_CONTENTAZUREFILECONNECTIONSTRING with AccountKey=«b64_88» is malformed
curl "https://fn.azurewebsites.net/api/hook?code=«azfunc»" -d @body.json
host key (azure functions): «azfunc»
AzureOpenAI: api-key «azopenai» → 401 Access denied due to invalid subscription key
client = AzureKeyCredential('«azopenai»')
System.Exception: TF400813 while using PAT «azdevops»
curl -u :«azdevops» https://dev.azure.test/acme/_apis/projects
docker login acme.azurecr.test --username acme --password «acr»
AZURE_AD_CLIENT_SECRET='«azsecret»'
passport-azure-ad: clientSecret: "«azsecret»",
Connect-MgGraph -ClientSecretCredential «azsecret»
pulumi config set azure-native:clientSecret «azsecret»
{"clientSecretCredential":{"secretText":"«azsecret»","hint":"abc"}}
Bing search: Ocp-Apim-Subscription-Key «hex32» is over quota
TextAnalyticsClient key="«hex32»" # Azure AI Language
""",
    "basic_auth": r"""
bundle install⏎Authentication is required for gems.example.test: https://‹user›:«pwu»@gems.example.test/
* Server auth using Basic with user '‹user›'⏎> Authorization: Basic «basic»
curl --proxy-user ‹user›:«pwu» -x proxy:3128 https://example.org
curl --basic -u '‹user›:«pwu»' -X DELETE https://‹host›/api/v2/jobs/7
lwp-request -C ‹user›:«pwu» https://‹host›/private
{"name":"Authorization","value":"Basic «basic»"}
"auths": { "registry.example.test": { "username": "‹user›", "password": "«pwu»" } }
podman login registry.example.test --username=‹user› --password=«pwu»
npm config: https-proxy = "http://‹user›:«pwu»@proxy.example.org:8080/"
[http]⏎⇥proxy = http://‹user›:«pwu»@10.1.2.7:3128
machine artifacts.example.test⏎login ‹user›⏎password «pwu»
uv pip install --index-url https://‹user›:«pwu»@py.example.test/simple acme
UV_INDEX_CORP_USERNAME=‹user› UV_INDEX_CORP_PASSWORD=«pwu»
maven { url "https://mvn.example.test"⏎  credentials { username '‹user›'⏎    password '«pwu»' } }
sbt: Credentials("Nexus", "nexus.example.test", "‹user›", "«pwu»")
dnf: Curl error (22) for https://‹user›:«pwu»@rpm.example.test/repodata/repomd.xml
apk add: fetch https://‹user›:«pwu»@apk.example.test/v3.19/main: Permission denied
scrape_configs:⏎- job_name: node⏎  basic_auth: { username: ‹user›, password: «pwu» }
headers = {"Authorization": "Basic «basic»"}
HttpClient: "Proxy-Authorization" = "Basic «basic»"
oras push registry.example.test/a:1 -u ‹user› -p «pwu»
go env -w GOPROXY=https://‹user›:«pwu»@go.example.test,direct
websocat -H 'Authorization: Basic «basic»' wss://‹host›/ws
Invoke-WebRequest -Uri https://‹user›:«pwu»@‹host›/file.zip -OutFile file.zip
jira:⏎  url: https://‹user›:«pwu»@jira.example.test
INFLUXDB url http://‹user›:«pwu»@‹host›:8086/write?db=telegraf
kibana: elasticsearch.hosts: ["https://‹user›:«pwu»@‹host›:9200"]
vlc rtsp://‹user›:«pwu»@10.0.0.7/h264
wget ftp://‹user›:«pwu»@‹host›/pub/a.iso⏎Login incorrect.
rclone lsd ":webdav,url='https://‹user›:«pwu»@dav.example.test':"
cadvisor scrape http://‹user›:«pwu»@‹host›:8080/metrics: 401 Unauthorized
aria2c --http-user=‹user› --http-passwd=«pwu» https://‹host›/x.iso
mqtts://‹user›:«pwu»@broker.example.org:8883
.WithBasicAuth("‹user›", "«pwu»") // Flurl
hurl: [BasicAuth]⏎‹user›: «pwu»
""",
    "git_credential": r"""
Username for 'https://git.example.test': ‹user›⏎Password for 'https://‹user›@git.example.test': «pwu»
warning: redirecting to https://‹user›:«pwu»@git.example.test/acme/core.git/
fatal: repository 'https://oauth2:«glpat»@gitlab.example.test/acme/core.git/' not found
upstream⇥https://‹user›:«ghp»@github.com/acme/core.git (fetch)
docker build --build-arg REPO=https://‹user›:«ghp»@github.com/acme/core.git .
GOPRIVATE=* git config url."https://‹user›:«ghpat»@github.com".insteadOf "https://github.com"
[url "https://‹user›:«pwu»@git.example.test/"]⏎⇥insteadOf = git@git.example.test:
"acme-ui": "git+https://«ghp»@github.com/acme/ui.git#main",
-e git+https://‹user›:«pwu»@git.example.test/acme/lib.git@main#egg=lib
net.git-fetch-with-cli: fetching https://‹user›:«pwu»@git.example.test/acme/crates.git failed
{:acme, git: "https://‹user›:«ghp»@github.com/acme/acme_ex.git", tag: "v1"}
git remote add ci https://x-access-token:«ghs»@github.com/acme/core.git
git-credential-store get⏎username=‹user›⏎password=«ghp»
GIT_REPO_URL="https://‹user›:«pwu»@git.example.test/acme/core.git"
$ cat .gitmodules⏎[submodule "proto"]⏎⇥url = https://‹user›:«pwu»@git.example.test/acme/proto.git
git_source(:acme) { |r| "https://«ghp»:x-oauth-basic@github.com/#{r}.git" }
git subtree pull --prefix lib https://oauth2:«glpat»@gitlab.example.test/acme/lib.git main
flake.nix: inputs.core.url = "git+https://‹user›:«pwu»@git.example.test/acme/core.git";
Carthage: git "https://‹user›:«ghp»@github.com/acme/Kit.git" "1.0"
repoURL: https://‹user›:«pwu»@git.example.test/acme/deploy.git
stderr: fatal: unable to access 'https://x-token-auth:«url40»@bitbucket.org/acme/core.git/': The requested URL returned error: 403
libgit2: too many redirects or authentication replays (https://‹user›:«pwu»@git.example.test/acme/core.git)
conan: scm = {"type": "git", "url": "https://‹user›:«pwu»@git.example.test/acme/core.git"}
vcpkg_from_git(URL https://‹user›:«ghp»@github.com/acme/core.git REF ‹hex40›)
helm-git: git+https://‹user›:«pwu»@git.example.test/acme/charts.git@charts?ref=main
.package(url: "https://oauth2:«glpat»@gitlab.example.test/acme/Kit.git", branch: "main")
checkout scm: userRemoteConfigs: [[url: 'https://‹user›:«pwu»@git.example.test/acme/core.git']]
atlantis: running git clone https://‹user›:«ghp»@github.com/acme/infra.git: exit status 128
dbt deps: packages:⏎  - git: "https://‹user›:«ghpat»@github.com/acme/dbt-utils.git"
pre-commit: repo: https://‹user›:«pwu»@git.example.test/acme/hooks
dvc remote: git push https://gitlab-ci-token:«glpat»@gitlab.example.test/acme/data.git
git lfs env⏎Endpoint=https://‹user›:«pwu»@git.example.test/acme/core.git/info/lfs (auth=basic)
kaniko --context=git://‹user›:«ghp»@github.com/acme/core.git
bzr branch https://‹user›:«pwu»@bzr.example.test/acme/trunk
fatal: Authentication failed for 'https://«ghp»@github.com/acme/wiki.git/'
""",
    "credit_card": r"""
Net::HTTPBadRequest {"errors":{"credit_card":{"number":"«card» is not a test card"}}}
"cardNumber" : "«cardda»",
Card No: «cardsp»  Exp: 06/29  CVV: ***
COPY cards (pan) FROM stdin;⏎«card»
<card:Number>«card»</card:Number>
ERROR [checkout] tokenization failed for card=«card»
customer,card_number,amount⏎42,«card»,99.50
page.locator('#card').fill('«card»')
hello, my card «cardsp» was declined at the checkout, why?
authorize pan=«card» amount=1000 currency=978 => RC 05
PAYMENT_TEST_CARD="«card»"
val card = CreditCard("«card»", YearMonth.of(2029, 4))
Detected sensitive data (CREDIT_CARD_NUMBER): «card»
amex card «amex» requires a four-digit code
@pytest.mark.parametrize("card_number", ["«card»", "«amex»"])
checkout.payment.pan: «card»
MasterCard «cardsp» / 11-28
Track 1: B«card»^TEST/CARD^2812101
{ "creditCard": { "number": "«cardsp»", "brand": "VISA" } }
Kreditkartennummer: «card»
void transaction, credit card number «cardda»
BIN lookup for card number «card» timed out
cc=«cardda»;exp=0429
UPDATE payment SET card_pan = '«card»' WHERE order_id = 18;
VISA «card» soft declined (3DS2 required)
subscription renewal failed for card number «cardsp»
- card_number: '«card»'⏎  holder: TEST
blocked card list: «card», «card»
tarjeta de crédito: «cardsp»
(gdb) p card->pan⏎$1 = "«card»"
strace: write(4, "PAN=«card»&CVC=...", 27) = 27
form-data; name="card_number"⏎⏎«card»
ISO8583 DE2 = «card»
Receipt: paid with Visa card «cardsp»
logger.debug("charging credit card " + "«card»")
""",
    "ssn": r"""
Error in row 17: SSN «ssn» must be unique
{"subscriber":{"memberId":"‹n›","socialSecurityNumber":"«ssn»"}}
Name: Test Person   SSN: «ssn»   State: OH
emp_id|ssn|rate⏎1004|«ssn»|31.50
<Employee SSN="«ssn»" Status="A"/>
DELETE FROM taxpayers WHERE ssn='«ssn»';
EDI 834: REF*SY*«ssnbare»~ (subscriber social security number)
please correct my social security number to «ssn» in the HR portal
Equifax: no hit for SSN «ssn»
ITIN=«itin»
patient_ssn: "«ssn»"
IRS reject IND-031: taxpayer SSN «ssn»
Form SS-5, Social Security number assigned: «ssn»
HR import: duplicate SSN «ssn» at line 9
cy.get('#ssn').type('«ssn»')
let ssn = "«ssn»"
?firstName=Test&ssn=«ssn»
identity:⏎  ssn: «ssn»⏎  verified: false
presidio: entity US_SSN value «ssn» score 0.85
{"national_id":"«ssn»","national_id_type":"SSN"}
CHECK (ssn ~ '^\d{3}-\d{2}-\d{4}$') violated by '«ssn»' in column ssn
SSN (unformatted) «ssnbare»
SSN: «ssnsp» (as typed by the applicant)
beneficiary social security no. «ssn»
[WARN] PII in payload: ssn=«ssn»
taxpayer_itin: '«itin»'
credit application: co-applicant SSN «ssn»
driver's record links to SSN «ssn»
unemployment claim, claimant SSN «ssn», denied
Customer.find_by(ssn: "«ssn»") => nil
"ssn": ["«ssn»", "«ssn»"]
TEST_SSN=«ssn»
payslip SSN «ssn»
user typed social security number: «ssn»
SSN trace «ssn» → 3 addresses
""",
    "phone": r"""
MessageBird: no (correct) recipients found: phone «e164»
"mobilePhone" : "«uspar»"
Phone no.: «us»
sns.publish(PhoneNumber='«e164»', Message='code')
reach us by phone: «us» or mail help@example.org
Tel. «deintl00»
Mobilnummer: «demob»
Telefonnummer «deloc» ist ungültig
href="tel:«us»"
portable : «frloc»
Celular/WhatsApp: «brmob»
DELETE FROM leads WHERE phone = '«e164»';
phone «us» is already linked to another account
Pinpoint: SMS to destination phone number «e164» THROTTLED
TEL;TYPE=WORK,VOICE:«uspar»
ALERT_SMS_TO=«e164»,«e164»
mobile: «ukmob» (UK)
id;phone⏎7;«inmob»
Fax number: «usdot»
Invalid phone number format: "«us»"
Contact(phone = "«e164»")
<cac:Contact><cbc:Telephone>«e164»</cbc:Telephone></cac:Contact>
we sent a text message with a code to «e164»
SMSC: DELIVRD msisdn:«msisdn»
telegram.errors.PhoneNumberInvalidError: phone=«e164»
hi, my phone number is «uspar», call me back please
office phone: «usdot»
Asterisk: Called PJSIP/«e164»@trunk, caller phone «e164»
patient.telecom: { system: phone, value: «us» }
Auth0 passwordless: phone_number "«e164»"
cell phone «us» ported out
whatsapp: jid for phone «e164» not found
dispatch: driver's cell phone «uspar» unreachable
Mobiltelefon «frintl» nicht erreichbar
PagerDuty contact method phone: «us»
""",
    "totp_seed": r"""
otpauth://totp/Slack:‹user›@example.org?secret=«b32_16»&issuer=Slack&algorithm=SHA1
oathtool -b --totp=sha1 «b32_32»
launch.json: "env": { "E2E_TOTP_SECRET": "«b32_32»" }
code = pyotp.TOTP(s="«b32_32»").at(0)
mfa_devices:⏎  - name: phone⏎    totp_secret: «b32_32»
Scan the QR code or type the 2FA setup key: «b32sp»
Enrolled TOTP factor, secret: «b32_26»
verifyTOTP(code, '«b32_16»') // two-factor secret
COPY two_factor (user_id, totp_secret) FROM stdin;⏎1⇥«b32_32»
user.update!(otp_secret: "«b32_32»")
com.warrenstrange.googleauth: invalid TOTP secret key «b32_16»
qrencode -t ANSI "otpauth://totp/db:‹user›?secret=«b32_32»"
KeeUriFormat otpauth://totp/x?secret=«b32_52»&period=60&digits=8
aws iam create-virtual-mfa-device: Base32StringSeed «b32_64»
ADMIN_2FA_SECRET=«b32_32» npm run e2e
1password: one-time password field otpauth://totp/acme?secret=«b32_32»
totp:⏎  issuer: Acme⏎  secret: «b32_32»
{"login":{"totp":"«b32_32»"}} # vaultwarden export, TOTP
illegal base32 data at input byte 16 in TOTP secret "«b32_32»"
counter-based otpauth://hotp/bank?secret=«b32_32»&counter=4
Google2FA::getCurrentOtp('«b32_16»')
andOTP backup: {"secret":"«b32_32»","issuer":"Acme","type":"TOTP"}
keepass: TimeOtp-Secret-Base32 = «b32_32»
ykman oath accounts add --oath-type TOTP vpn «b32_32»
TimeBasedOneTimePassword(secret: "«b32_32»")
2FA secret for user ‹user› is «b32_32», do not share it
nextcloud twofactor_totp: decrypted TOTP secret «b32_32»
totpSecretKey = '«b32_32»'
authenticator (TOTP) key: «b32_16»
await loginWithTotp(page, 'TOTP secret', '«b32_32»')
django_otp: TOTPDevice secret base32 «b32_32»
google_authenticator: «b32_16»⏎" RATE_LIMIT 3 30⏎" TOTP_AUTH
uri = "otpauth://totp/" + user + "?secret=«b32_32»"
reset MFA; new TOTP seed is «b32_32»
my authenticator setup key is «b32sp»
""",
    "jwt": r"""
{"level":"warn","msg":"token expired","jwt":"«jwt»"}
* Connection #0⏎> authorization: Bearer «jwt»⏎< HTTP/2 403
Cookie: next-auth.session-token=«jwt»; lang=en
TokenExpiredError: jwt expired⏎    at verify («jwt»)
ACCESS_TOKEN="«jwt»" ./smoke.sh
tokenreviews.authentication.k8s.io: spec: token: «jwt»
{"data":{"login":{"token":"«jwt»"}}}
jwt.verify('«jwt»', pubKey)
http GET :8080/api "Authorization:Bearer «jwt»"
cat /var/run/secrets/kubernetes.io/serviceaccount/token⏎«jwt»
<add key="LicenseJwt" value="«jwt»" />
http://localhost:3000/auth/confirm?token_hash=«jwt»
document.cookie = "jwt=«jwt»"
String jwt = "«jwt»";
graphql-ws connection_init payload {"authToken":"«jwt»"}
X-Auth-Request-Access-Token: «jwt»
assert_raises(JWT::ExpiredSignature) { decode "«jwt»" }
ERROR kong jwt plugin: bad token; signature verification failed «jwt»
spring: JwtValidationException for token value «jwt»
mosquitto_pub -u jwt -P «jwt» -t t -m hi
claims, err := ParseToken("«jwt»")
metabase embed: https://bi.example.test/embed/dashboard/«jwt»
CI_JOB_TOKEN_JWT_V2: «jwt»
loginResponse.accessToken=«jwt»
oc login --token=«jwt» --server=https://10.1.2.7:6443
PyJWT: InvalidAudienceError «jwt»
new WebSocket('wss://‹host›/ws', ['access_token', '«jwt»'])
id token from the browser: «jwt»
mercure: invalid publisher JWT «jwt»
query: { authorization: "Bearer «jwt»" } // HAR entry
echo «jwt» | cut -d. -f2 | base64 -d
oidc client_assertion_type=jwt-bearer&client_assertion=«jwt»
firebase custom token: «jwt»
GET /sse?jwt=«jwt» HTTP/1.1
livekit join token = «jwt»
""",
    "high_entropy_hex": r"""
dotenv: SECRET_KEY=«hex64»⏎DEBUG=0
secrets.yml:⏎staging:⏎  secret_key_base: «hex128»
echo «hex32» > config/master.key && bin/rails credentials:show
parameters:⏎  kernel.secret: '«hex32»'
form_secret: "«hex64»"
coturn: use-auth-secret⏎static-auth-secret=«hex64»
JWT_SIGNING_SECRET=«hex64» node api.js
SQLCipher: PRAGMA key="x'«hex64»'" failed: file is not a database
openssl enc -aes-128-cbc -d -K «hex32» -iv ‹hex32› < in > out
hostapd: wpa_psk=«hex64»
secret: "«hex64»" # express-session
DB_ENCRYPTION_KEY=«hex64»
encrypt: {"algorithm":"aes-256-gcm","key":"«hex64»"}
webhooks:⏎  - url: https://‹host›/hook⏎    secret: «hex40»
vault operator unseal «hex66»
LIVEKIT_API_SECRET=«hex64»
'encryptionKey' => '«hex64»', // craft cms security key
esp auth hmac(sha256) 0x«hex64» enc cbc(aes) 0x«hex64»
NwkKey: "«HEX32»"  # LoRaWAN network secret
network_key: [secret] «HEX32» (zwave S2)
mimikatz: * NTLM     : «hex32»
secret = binascii.unhexlify("«hex64»")
MASTER_ENCRYPTION_KEY: «hex64»
if (signature !== hmac('«hex64»', body)) throw new Error('bad webhook secret')
export OTP_SECRET=«hex128» SECRET_KEY_BASE=«hex128»
secret_token = '«hex128»'
ghost: content admin secret «hex64»
let cipherKey = Data(hexString: "«hex64»") // AES key
COOKIE_SECRET='«hex64»'
HMACSHA256(Convert.FromHexString("«hex64»"))
zoneminder ZM_AUTH_HASH_SECRET=«hex32»
Ed25519 signing secret (hex): «hex64»
oauth consumer secret: «hex40»
-----BEGIN OpenVPN Static key V1-----⏎«hex32»⏎«hex32»⏎«hex32»⏎-----END OpenVPN Static key V1-----
wallet encryption secret=«hex64» decrypted ok
""",
}

CLEAN = r"""
‹hex40› (HEAD -> main, origin/main) Rotate signing keys
* ‹hex7› - (2 days ago) Stop logging the request body
Reset branch 'main'⏎Your branch is behind 'origin/main' by 3 commits
Revert "Store tokens in localStorage"⏎⏎This reverts commit ‹hex40›.
fixup! ‹hex12›: typo in password hint
(cherry picked from commit ‹hex40›)
Bisecting: 7 revisions left to test after this (roughly 3 steps)⏎[‹hex40›] Add token cache
‹hex40› is the first bad commit
git worktree list⏎/src        ‹hex9› [main]
Could not apply ‹hex7›... Use bcrypt for passwords
dangling blob ‹hex40›
missing tree ‹hex40›
broken link from  commit ‹hex40›⏎              to    tree ‹hex40›
gitlink vendor/lib ‹hex40›
-Subproject commit ‹hex40›⏎+Subproject commit ‹hex40›
tree ‹hex40›⏎⏎src/⏎tests/
160000 commit ‹hex40›⇥third_party/zlib
index 0000000..‹hex7›
old mode 100644⏎new mode 100755⏎--- a/bin/get-token
@@ -12,7 +12,7 @@ fn read_password() -> io::Result<String> {
-    let password = "";⏎+    let password = prompt()?;
fatal: credential-cache unavailable; no unix socket support
fatal: unable to access 'https://git.example.test/acme/core.git/': SSL certificate problem: self-signed certificate
error: The following untracked working tree files would be overwritten by checkout:⏎⇥secrets/.gitkeep
remote: Resolving deltas: 100% (12/12), completed with 4 local objects.
batch response: Post "https://git.example.test/acme/core.git/info/lfs/objects/batch": EOF⏎[‹hex64›] Object does not exist on the server
Downloading assets/logo.psd (4.1 MB) oid ‹hex64›
jj: Working copy now at: ‹low12› ‹hex8› (empty) (no description set)
p4: Change ‹digits6› created with 3 open file(s).
sl: abort: unknown revision '‹hex40›'!
error[E0432]: unresolved import `crate::token::ApiKey`
error[E0063]: missing field `password` in initializer of `Login`
error[E0015]: cannot call non-const fn `SecretString::new` in statics
help: consider borrowing here: `&token`
warning: use of deprecated method `Client::with_api_key`: use `ClientBuilder`
   Compiling rpassword v7.3.1⏎   Compiling keyring v2.3.3
  Downloaded secrecy v0.8.0 (registry `internal`)
error: package `jsonwebtoken v9.3.0` cannot be built because it requires rustc 1.73.0 or newer
name = "subtle"⏎version = "2.5.0"⏎checksum = "‹hex64›"
error: failed to verify the checksum of `zeroize v1.7.0`
target/release/build/openssl-sys-‹hex16›/build-script-main
  = note: "cc" "-m64" "/tmp/rustc‹mixed6›/symbols.o" "shop.shop.‹hex16›-cgu.0.rcgu.o"
note: rustc 1.78.0 (‹hex9› 2026-04-29) running on x86_64-unknown-linux-gnu
stack backtrace:⏎   0: rust_begin_unwind⏎             at /rustc/‹hex40›/library/std/src/panicking.rs:652:5
   3: shop::token::decode::h‹hex16›
thread 'tokio-runtime-worker' panicked at src/vault.rs:31:14:⏎secret not found: "prod/db"
---- tokens::expired_is_rejected stdout ----
test token::roundtrip has been running for over 60 seconds
proptest: seed file regressions: cc ‹hex64› # shrinks to input
cargo deny: error[vulnerability]: RSA key recovery through timing sidechannel (RUSTSEC-2023-0071)
clippy: this `if let` can be collapsed: if let Some(secret) = key
let Some(key) = cfg.api_key.as_deref() else { bail!("no API key configured") };
pub struct Login<'a> { user: &'a str, password: &'a SecretBox<str> }
impl From<Token> for HeaderValue
std::mem::take(&mut self.password).zeroize();
type Key = [u8; 32];
fn private_key_path(&self) -> &Path
use sha2::{Digest, Sha256}; // token hashing
tracing::warn!(user = %user.id, "wrong password");
std::env::remove_var("GITHUB_TOKEN");
trybuild: tests/ui/missing_key.rs ... mismatch
"@babel/core@^7.24.0":⏎  version "7.24.4"⏎  integrity sha512-‹b64_88›
  "resolved": "https://npm.example.test/ms/-/ms-2.1.3.tgz",⏎  "integrity": "sha512-‹b64_88›"
  checksum: ‹hex128›⏎  languageName: node⏎  linkType: hard
➤ YN0018: │ jose@npm:5.2.4: The remote archive doesn't match the expected checksum
bun install: error: IntegrityCheckFailed extracting tarball from dotenv (sha512-‹b64_88›)
deno.lock: "https://deno.example.test/std@0.224.0/fmt/colors.ts": "‹hex64›"
error: The source code is invalid, as it does not match the expected hash in the lock file.
npm ERR! code E401⏎npm ERR! Incorrect or missing password.⏎npm ERR! If you were trying to login, change your password, create an authentication token or enable two-factor
npm ERR! code E404⏎npm ERR! 404 Not Found - GET https://npm.example.test/@acme%2fsecrets
npm WARN config _auth is deprecated
gyp ERR! stack Error: not found: make
Error: Cannot find module 'jsonwebtoken'⏎Require stack:⏎- /app/auth.js
JsonWebTokenError: jwt must be provided
TypeError [ERR_INVALID_ARG_TYPE]: The "key" argument must be of type string or an instance of ArrayBuffer. Received undefined
Error: ENOENT: no such file or directory, open '/run/secrets/api_key'
ERR_OSSL_EVP_UNSUPPORTED: error:0308010C:digital envelope routines::unsupported
(Use `node --trace-warnings ...` to show where the warning was created) token.mjs:‹n›
chunk 2-‹mixed8›.js (login) 18.2 kB [rendered]
/build/_assets/root-‹up8›.css
/_nuxt/entry.‹hex8›.js net::ERR_ABORTED 404
__webpack_require__.u = (e) => "static/chunks/" + e + ".‹hex16›.js"
GET /_next/data/‹url21›/index.json 404
esbuild: [ERROR] Could not resolve "./api-key"
svelte-‹low7›.svelte-kit { color: red }
data-v-‹hex8› data-v-app
<div id="radix-:r‹n1›:" data-state="closed">
<input type="password" id="new-password" autocomplete="new-password" minlength="12">
<form action="/login" method="post"><input type="hidden" name="_csrf" value="{{ csrfToken }}">
storybook: PasswordInput.stories.tsx
const { accessToken, refreshToken } = await auth.refresh();
const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt"]);
import { getToken } from 'next-auth/jwt';
export const API_KEY_HEADER = 'x-api-key';
if (!apiKey) { return new Response('missing API key', { status: 401 }); }
const secret = await client.getSecret('db-password');
process.env.TOKEN = undefined;
schema.path('password').select(false);
throw createError({ statusCode: 401, message: 'Wrong password' });
nuxt.config: runtimeConfig: { apiSecret: '' }
console.log('token length', token.length);
ng build: NG0303: Can't bind to 'password' since it isn't a known property of 'app-login'
vitest: AssertionError: expected 'Bearer undefined' to be 'Bearer test'
cypress: cy.login() failed because the command timed out after 4000ms
tsc: Type '"secret"' is not assignable to type '"token" | "key"'
  File "/app/settings.py", line 12, in <module>⏎    SECRET_KEY = os.environ["SECRET_KEY"]
ValueError: Password must be at least 12 characters long
django.db.utils.ProgrammingError: column auth_user.otp_secret does not exist
fastapi.exceptions.HTTPException: 401: Could not validate credentials
jose.exceptions.JWKError: Unable to load PEM file
google.auth.exceptions.MalformedError: Service account info was not in the expected format, missing fields client_email.
requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://api.example.org/v1/keys
ImportError: cannot import name 'get_api_key' from 'app.security'
openai.BadRequestError: Error code: 400 - {'error': {'message': 'max_tokens is too large: 50000', 'code': None}}
tiktoken: Could not automatically map model to a tokeniser
KeyError: 'access_token'
binascii.Error: Incorrect padding
zipfile.BadZipFile: Bad magic number for file header
InvalidTokenError: nonce has expired
<Token.OPERATOR: 3>
<Response [401]>
<cryptography.hazmat.backends.openssl.rsa._RSAPrivateKey object at 0x7f‹hex10›>
DeprecationWarning: 'crypt' is deprecated and slated for removal in Python 3.13
pip: WARNING: Discarding https://files.example.test/x.tar.gz#sha256=‹hex64›
Downloading acme-1.0-cp312-cp312-manylinux.whl (2.1 MB) hash=‹hex64›
[[package]]⏎name = "pyjwt"⏎files = [{file = "PyJWT-2.8.0-py3-none-any.whl", hash = "sha256:‹hex64›"}]
pdm.lock: content_hash = "sha256:‹hex64›"
https://conda.example.test/linux-64/openssl-3.3.0-h‹hex7›_0.conda#‹hex32›
dvc.lock: md5: ‹hex32›.dir⏎  size: ‹digits8›
mlflow: Run ID ‹hex32› not found
experiment ‹digits18› artifact_uri=mlruns/0/‹hex32›/artifacts
kernel ‹uuid› restarted
"id": "‹hex8›", "cell_type": "markdown"
ray: ObjectRefStreamEndOfStreamError: ObjectRef(‹hex56›)
dask: <Future: error, key: sum-‹hex32›>
prefect: Flow run 'curious-otter' - Finished in state Failed flow_run_id=‹uuid›
settings = Settings(_env_file=".env", api_key=SecretStr("..."))
def set_password(self, raw): self.password = make_password(raw)
headers={"Authorization": f"Bearer {self.token}"}
with open("/run/secrets/db_password") as f: password = f.read().strip()
token = request.cookies.get("session")
if not secrets.compare_digest(a, b): raise PermissionError
logging.getLogger("auth").debug("password check took %s ms", ms)
@pytest.fixture⏎def api_key(monkeypatch): monkeypatch.setenv("API_KEY", "test")
__all__ = ["Token", "TokenError", "decode_token"]
argparse.ArgumentError: argument --token: expected one argument
org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed during authentication due to invalid credentials
java.security.SignatureException: Signature length not correct: got 256 but was expecting 512
Caused by: com.nimbusds.jose.proc.BadJWSException: Signed JWT rejected: Invalid signature
java.lang.IllegalArgumentException: Invalid character found in method name [0x160x030x010x020x00]
o.s.s.c.bcrypt.BCryptPasswordEncoder: Encoded password does not look like BCrypt
com.acme.auth.ApiKeyAuthenticationFilter$$SpringCGLIB$$0@‹hex8›
	... 37 common frames omitted [token-store-‹hex4›.jar:na]
jwt.secret=${JWT_SECRET:?}
password: ENC(${encrypted.password})
quarkus.datasource.password=${QUARKUS_DATASOURCE_PASSWORD}
<settings><servers><server><password>${env.MVN_PW}</password></server></servers></settings>
@JsonProperty(access = WRITE_ONLY) private String password;
var key = Keys.secretKeyFor(SignatureAlgorithm.HS256);
PreparedStatement ps = c.prepareStatement("select password_hash from users where id=?");
private static final String PARAM_TOKEN = "token";
throw new BadCredentialsException("Wrong user name or password");
kotlin.UninitializedPropertyAccessException: lateinit property apiKey has not been initialized
data class Token(val kind: Kind, val text: String)
e: file:///src/Login.kt:18:22 Type mismatch: inferred type is String? but String was expected (password)
SHA-256: ‹colonHEX32›
MD5:  ‹colonHEX16›⏎SHA1: ‹colonHEX20›
keytool error: java.io.IOException: Invalid keystore format
jarsigner: unable to sign jar: signature algorithm not found
<sha256 value="‹hex64›" origin="Generated by Gradle"/>
~/.m2/repository/com/acme/lib/1.0/lib-1.0.jar.sha1: ‹hex40›
Could not validate integrity of download: Checksum failed, expected ‹hex40› but is ‹hex40›
/root/.gradle/caches/8.7/transforms/‹hex32›/transformed/core-1.12.0
INSTALL_FAILED_UPDATE_INCOMPATIBLE: Package com.acme.app signatures do not match
W/System.err: android.security.keystore.KeyPermanentlyInvalidatedException: Key permanently invalidated
logcat: --------- beginning of crash⏎F/libc ( ‹n›): Fatal signal 11 (SIGSEGV), code 1
R8: Missing class com.google.crypto.tink.subtle.Base64
panic: interface conversion: interface {} is nil, not jwt.MapClaims
main.go:14:15: undefined: apiKey
go vet: struct field tag `json:"token` not compatible with reflect.StructTag.Get
goroutine 41 [IO wait, 3 minutes]:⏎internal/poll.runtime_pollWait(0x7f‹hex10›, 0x72)
crypto/rsa: verification error
tls: first record does not look like a TLS handshake
golang.org/x/net v0.24.0 h1:‹b64_44›⏎golang.org/x/net v0.24.0/go.mod h1:‹b64_44›
pseudo version v0.0.0-20261103101112-‹hex12›
github.com/acme/core@v0.0.0-20260201000000-‹hex12›/auth/token.go:77
if token == "" { return nil, errors.New("token is empty") }
Password string `yaml:"password" env:"DB_PASSWORD"`
slog.Info("loaded key", "id", key.ID(), "alg", key.Algorithm())
var ErrInvalidAPIKey = errors.New("invalid API key")
func (c *Client) SetToken(token string) { c.token = token }
key, err := rsa.GenerateKey(rand.Reader, 4096)
** (RuntimeError) environment variable SECRET_KEY_BASE is missing.
** (ArgumentError) cookie store expects conn.secret_key_base to be at least 64 bytes
[error] Postgrex.Protocol (#PID<0.‹n3›.0>) failed to connect: ** (Postgrex.Error) FATAL 28P01 (invalid_password) password authentication failed for user "shop"
"plug": {:hex, :plug, "1.15.3", "‹hex64›", [:mix], [], "hexpm", "‹hex64›"},
rebar3: {<<"jose">>,<<"‹HEX64›">>}
phx_digest: app-‹hex32›.js
crash report: {badmatch,{error,invalid_token}}
cabal: Failed to build cryptonite-0.30 (which is required by exe:shop)
shop.cabal: plan.json: "pkg-src-sha256": "‹hex64›"
ocaml: Error: Unbound value verify_password
Warning message: In readRDS(f) : cannot open compressed file 'token.rds'
renv.lock: "Hash": "‹hex32›"
nim: Error: undeclared identifier: 'apiKey'
zig: error: use of undeclared identifier 'token'
build.zig.zon: .hash = "1220‹hex64›",
crystal: Error: undefined local variable or method 'password' for Login
clojure: Syntax error compiling at (auth.clj:12:3). Unable to resolve symbol: token
dart: Error: The getter 'accessToken' isn't defined for the class 'Session'.
pubspec.lock: sha256: "‹hex64›"⏎      url: "https://pub.example.test"
perl: Use of uninitialized value $password in string eq at login.pl line 8.
luarocks: Error: No results matching query were found: jwt
OpenSSL::Cipher::CipherError (wrong final block length)
ActiveRecord::Encryption::Errors::Decryption: ActiveRecord::Encryption::Errors::Decryption
ActionController::ParameterMissing (param is missing or the value is empty: password)
Completed 401 Unauthorized in 212ms (ActiveRecord: 3.1ms | Allocations: ‹n›)
Sidekiq: TokenCleanupJob JID-‹hex24›: fail: 0.3 sec
Rack::Attack throttled login/ip 10.1.2.7
CHECKSUMS⏎  jwt (2.8.1) sha256=‹hex64›
schema.rb: t.string "encrypted_password", default: "", null: false
User.authenticate(params[:email], params[:password])
def api_key = ENV.fetch("ACME_API_KEY")
PG::UndefinedColumn: ERROR:  column users.reset_password_token does not exist
PHP Parse error:  syntax error, unexpected token "}", expecting ";" in /app/Token.php on line 14
[2026-11-03 10:11:12] production.ERROR: Unable to find personal access client. Please create one.
Laravel\Passport\Exceptions\OAuthServerException: The user credentials were incorrect.
openssl_private_decrypt(): key parameter is not a valid private key
Session token mismatch (419 Page Expired)
'api_key' => getenv('MAILER_KEY') ?: null,
if (!hash_equals($known, $token)) { abort(403); }
$user->setPassword($hasher->hashPassword($user, $plain));
psalm: MissingPropertyType: Property App\User::$password does not have a declared type
drush: [error]  No hash_salt was set in settings.php
Microsoft.IdentityModel.Tokens.SecurityTokenExpiredException: IDX10223: Lifetime validation failed. The token is expired.
error CS1002: ; expected at Token.cs(14,33)
System.Security.Authentication.AuthenticationException: The remote certificate is invalid because of errors in the certificate chain: UntrustedRoot
Culture=neutral, PublicKeyToken=‹hex16›
packages.lock.json: "contentHash": "‹b64_88›"
warning NU1903: Package 'System.IdentityModel.Tokens.Jwt' has a known moderate severity vulnerability
[assembly: Guid("‹uuid›")]
services.Configure<JwtOptions>(builder.Configuration.GetSection("Jwt"));
private readonly ISecretClient _secrets;
ArgumentNullException: Value cannot be null. (Parameter 'apiKey')
let token = Environment.GetEnvironmentVariable "TOKEN"
PSSecurityException: File login.ps1 cannot be loaded because running scripts is disabled on this system.
Import-PfxCertificate : The PFX file you are trying to import requires either a different password or membership in an Active Directory principal
Algorithm : SHA256⏎Hash      : ‹HEX64›
Get-Secret : The secret db was not found in vault SecretStore.
HKEY_LOCAL_MACHINE\SOFTWARE\Classes\CLSID\{‹uuid›}\InprocServer32
0xC000006D STATUS_LOGON_FAILURE
msiexec: ProductCode: {‹HEX8›-‹HEX4›-‹HEX4›-‹HEX4›-‹HEX12›}
Volume Serial Number is ‹HEX4›-‹HEX4›
net use: System error 86 has occurred. The specified network password is not correct.
WER: Fault bucket ‹digits19›, type 5
crash: thread #1, queue = 'com.apple.main-thread', stop reason = EXC_BAD_ACCESS (code=1, address=0x0)
codesign: CDHash=‹hex40›
notarytool: id: ‹uuid› status: Invalid
Provisioning profile "App Dev" doesn't include signing certificate
xcframework checksum '‹hex64›' does not match
Cartfile.resolved: github "acme/Kit" "‹hex40›"
errSecAuthFailed: The user name or passphrase you entered is not correct.
NSLog(@"password field is empty");
guard let token = keychain["token"] else { return }
static: warning: variable 'secret' was never mutated; consider changing to 'let' constant
Undefined symbols for architecture arm64: "_crypto_secretbox_easy"
gcc: error: auth.c: In function 'check_token': array subscript 64 is above array bounds of 'char[64]'
(gdb) bt⏎#0  0x0000‹hex12› in __strcmp_avx2 ()⏎#1  0x0000‹hex12› in check_password (in=0x0) at auth.c:31
Program received signal SIGABRT, rip 0x‹hex12›
perf: [kernel.kallsyms] ‹hex16›
/lib/x86_64-linux-gnu/libsecret-1.so.0 (0x0000‹hex12›)
readelf:     Build ID: ‹hex40›
const char *secret_label(void);
typedef enum { TOK_EOF, TOK_IDENT, TOK_NUM } token_t;
EVP_PKEY_free(private_key);
#include "tokenizer.h"
warning: comparison of integer expressions of different signedness (token_len)
arm-none-eabi-objcopy: section .secrets overlaps .data
esptool: MAC: ‹colonhex6›⏎Hash of data verified.
Hexdump: 00000010  ‹hex8› ‹hex8› ‹hex8› ‹hex8›
avrdude: verification error, first mismatch at byte 0x‹hex4›
I/boot: SHA-256 of app image ‹hex64›
=> ERROR [internal] load metadata for registry.example.test/node:20
 => CACHED [2/6] RUN apk add --no-cache libsecret
#7 sha256:‹hex64› 3.4MB / 3.4MB 0.2s done
sha256:‹hex64›: Pulling fs layer
‹hex12›: Pull complete⏎‹hex12›: Already exists
docker history: <missing>  3 weeks ago  /bin/sh -c #(nop)  CMD ["bash"]
docker images --digests⏎shop  latest  sha256:‹hex64›  ‹hex12›
RepoDigests: ["registry.example.test/shop@sha256:‹hex64›"]
image: registry.example.test/shop:‹hex40›
image: "redis@sha256:‹hex64›"
error: secret 'npmrc' not found: failed to solve: rpc error
environment:⏎  DB_PASSWORD_FILE: /run/secrets/db
services.web.secrets contains an invalid type
level=error msg="Handler for POST /v1.43/containers/‹hex64›/start returned error"
runc: container ‹hex64› does not exist
/sys/fs/cgroup/system.slice/docker-‹hex64›.scope
ctr: snapshot sha256:‹hex64› already exists
hadolint: DL3008 Pin versions in apt get install (Dockerfile:9 ENV TOKEN)
buildpack: sha256 ‹hex64› launcher layer reused
nomad: Allocation "‹hex8›" created: node "‹hex8›", group "web"
consul: Failed to join 10.1.2.7: ACL not found
Error creating: pods "web-‹hex10›-" is forbidden: error looking up service account default/web: serviceaccount "web" not found
MountVolume.SetUp failed for volume "kube-api-access-‹low5›" : object "default"/"kube-root-ca.crt" not registered
couldn't find key PASSWORD in Secret default/db
secret/registry-auth created
kubectl describe secret db⏎Type:  Opaque⏎Data⏎====⏎password:  16 bytes
automountServiceAccountToken: false
kubectl rollout status: deployment "auth-token-service" exceeded its progress deadline
stringData:⏎  password: ${DB_PASSWORD}
spec:⏎  tls:⏎  - secretName: web-tls
secretGenerator:⏎- name: db⏎  envs: [.env.secret]
node "ip-10-1-2-7" status NotReady; bootID: ‹uuid›
lease: holderIdentity: web-‹hex10›-‹low5›_‹uuid›
failed calling webhook "vault.hashicorp.test": x509: certificate signed by unknown authority
E1103 10:11:12.‹digits6›    ‹n› reflector.go:147] failed to list *v1.Secret
Error: UPGRADE FAILED: "web" has no deployed releases
chart: sha256:‹hex64› generated: "2026-11-03T10:11:12.‹digits9›Z"
{{- if not .Values.auth.existingSecret }}
{{ lookup "v1" "Secret" .Release.Namespace "db" }}
argocd: ComparisonError: rpc error: code = Unknown desc = `git fetch origin ‹hex40›` failed
fluxcd: stored artifact for revision 'main@sha1:‹hex40›'
tekton: TaskRun build-‹low5› failed: secret "git-auth" not found
kyverno: policy disallow-secrets-from-env-vars fail
linkerd: identity: failed to certify: token review failed
crossplane: cannot get credentials secret: Secret "aws-creds" not found
flannel: subnet lease renewed until 2026-11-04
Error: No value for required variable: "db_password" on variables.tf line 3
 # aws_iam_access_key.ci will be destroyed⏎  - secret = (sensitive value)
resource "aws_secretsmanager_secret" "db" {⏎  name = "prod/db"⏎}
ephemeral "random_password" "db" { length = 32 }
Error acquiring the state lock: ConditionalCheckFailedException⏎Lock ID: ‹uuid›
module.vpc.aws_subnet.a: Refreshing state... [id=subnet-‹hex17›]
"zh:‹hex64›",⏎    "zh:‹hex64›",
data "vault_generic_secret" "db" { path = "secret/db" }
checkov: CKV_SECRET_6: "Base64 High Entropy String" Passed checks: 12
terragrunt: working dir .terragrunt-cache/‹url27›/‹url27›
tofu: key_provider "pbkdf2" "k" { passphrase = var.passphrase }
pulumi:secrets: encryptedkey is not set in Pulumi.prod.yaml
@secure()⏎param adminPassword string
Parameters:⏎  DBPassword:⏎    Type: String⏎    NoEcho: true
sam deploy: Uploading to ‹hex32›.template  3211 / 3211  (100.00%)
MasterUserPassword: '{{resolve:secretsmanager:prod/db:SecretString:password}}'
serverless: Error: Cannot resolve variable at "provider.environment.API_KEY": Value not found at "env" source
An error occurred (AuthFailure) when calling the DescribeInstances operation: AWS was not able to validate the provided access credentials
An error occurred (DecryptionFailure): Secrets Manager can't decrypt the protected secret text using the provided KMS key
The config profile (prod) could not be found
"ResponseMetadata": {"RequestId": "‹up52›", "HTTPStatusCode": 400}
arn:aws:elasticloadbalancing:eu-west-1:‹digits12›:targetgroup/web/‹hex16›
arn:aws:sns:eu-west-1:‹digits12›:alerts:‹uuid›
"RoleId": "AROA‹up17›"
"Fingerprint": "‹colonhex20›", "KeyName": "deploy"
"ChecksumSHA256": "‹b64_44›"
"UploadId": "‹url86›"
[profile dev]⏎sso_start_url = https://acme.awsapps.test/start⏎sso_account_id = ‹digits12›
credential_process = /usr/local/bin/aws-vault export dev
aws ecr get-login-password | docker login --username AWS --password-stdin
eipalloc-‹hex17› is not associated
dynamodb: ConsumedCapacity null, LastEvaluatedKey {"pk":{"S":"user#42"}}
step functions: execution ‹uuid› TIMED_OUT
ecs: task arn:aws:ecs:eu-west-1:‹digits12›:task/prod/‹hex32› stopped
rds: db-‹up26› storage-full
[ERROR] [17‹digits11›] LAMBDA_RUNTIME Failed to post handler success response. Http response code: 413.
ERROR: (gcloud.builds.submit) INVALID_ARGUMENT: could not resolve source: googleapi: Error 403, forbidden
gcloud iam service-accounts keys list⏎KEY_ID⏎‹hex40›
"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "ACCESS_TOKEN_EXPIRED"
availableSecrets:⏎  secretManager:⏎  - versionName: projects/acme/secrets/db/versions/1⏎    env: DB_PASSWORD
spanner: Transaction was aborted. retry_delay { nanos: ‹digits8› }
pubsub: ackIds expired for message ‹digits17›
x-goog-hash: crc32c=‹b64n6›==,md5=‹b64_24›
firebase: Error: HTTP Error: 401, Request had invalid authentication credentials.
appspot: 2026110‹n1›t101112-dot-acme.example.test
AADSTS700016: Application with identifier '‹uuid›' was not found in the directory 'Acme'.
ERROR: The following arguments are required: --password/-p
"odata.metadata": "https://graph.example.test/v1.0/$metadata#applications", "id": "‹uuid›"
ManagedIdentityCredential authentication unavailable, no response from the IMDS endpoint.
"keyId": "‹uuid›", "hint": "null", "displayName": "ci secret"
steps.deploy.env: ARM_CLIENT_SECRET: $(armClientSecret)
##[error]The process '/usr/bin/az' failed with exit code 1
x-ms-correlation-request-id: ‹uuid›
ETag: "0x8D‹HEX13›"
Content-CRC64: ‹b64n11›=
"objectId" : "‹uuid›", "homeTenantId" : "‹uuid›"
doctl: Error: Unable to initialize DigitalOcean API client: access token is required.
heroku: Error: Invalid credentials provided. Release v42, dyno web.1
fly: Error: failed to fetch an image or build from source: app not found; machine ‹hex14›
vercel: Error: No existing credentials found. Please run `vercel login` or pass "--token"
netlify deploy id: ‹hex24›
cloudflare: zone ‹hex32› is not active
wrangler: Authentication error [code: 10000]; account ‹hex32›
hcloud: invalid input in field 'ssh_keys': key not found
ERROR:  password authentication failed for user "shop" (SQLSTATE 28P01)
psql:seed.sql:3: ERROR:  null value in column "password_hash" of relation "users" violates not-null constraint
LOG:  parameters: $1 = NULL, $2 = '2026-11-03' -- update tokens
ERROR:  permission denied for table api_keys
CREATE TYPE token_kind AS ENUM ('access', 'refresh');
SELECT count(*) FROM sessions WHERE token_hash = digest($1, 'sha256');
ALTER TABLE users DROP COLUMN plain_password;
pg_basebackup: error: FATAL:  no PostgreSQL user name specified in startup packet
WAL segment 0000000100000000000000‹HEX2› has already been removed
system identifier: ‹digits19›
ERROR 1396 (HY000): Operation CREATE USER failed for 'app'@'%'
ERROR 2061 (HY000): Authentication plugin 'caching_sha2_password' reported error: Authentication requires secure connection.
InnoDB: Page [page id: space=0, page number=‹n›] log sequence number ‹digits10› is in the future
server-uuid=‹uuid›
ORA-01017: invalid username/password; logon denied
Msg 18456, Level 14, State 1: Login failed for user 'sa'.
CREATE LOGIN app WITH PASSWORD = '$(APP_PASSWORD)';
MongoServerSelectionError: connection <monitor> to 10.1.2.7:27017 closed
db.users.updateOne({ _id: ObjectId("‹hex24›") }, { $unset: { resetToken: 1 } })
"lsid": { "id": UUID("‹uuid›") }
NOPERM this user has no permissions to run the 'config' command
redis-cli -h cache --askpass PING
sentinel monitor master ‹hex40› 10.1.2.7 6379
etcdctl: {"level":"warn","msg":"retrying of unary invoker failed","error":"rpc error: code = InvalidArgument desc = etcdserver: user name is empty"}
cassandra: host id ‹uuid› is down
neo4j: The credentials you provided were valid, but must be changed before you can use this instance.
security_exception: missing authentication credentials for REST request [/_cat/indices]
shard [logs][2], node[‹url22›], relocating
influx: ERR: authorization failed; org id ‹hex16›
snowflake.connector.errors.DatabaseError: 250001 (08001): Incorrect username or password was specified. queryId ‹uuid›
dbt: Env var required but not provided: 'DBT_PASSWORD'
bigtable: tablet server ts-‹n› is unavailable
trino: Query 20261103_101112_‹digits5›_‹low5› failed
databricks: cluster ‹digits4›-101112-‹low8› terminated
jdbc:mysql://localhost:3306/shop?useSSL=false
postgresql://postgres@localhost/shop
mongodb://mongo.internal/shop
redis://:${REDIS_PASSWORD}@cache:6379
DATABASE_URL="postgres://$DB_USER:$DB_PASSWORD@$DB_HOST/$DB_NAME"
https://USERNAME:TOKEN@git.example.org/acme/core.git
amqp://{{ rabbit_user }}:{{ rabbit_pass }}@mq/
http://localhost:3000/login?returnUrl=%2F
level=warn traceID=‹hex32› component=auth err="password hash needs rehash"
{"@timestamp":"2026-11-03T10:11:12.345Z","trace.id":"‹hex32›","transaction.id":"‹hex16›","message":"401"}
b3: ‹hex32›-‹hex16›-1
tracestate: dd=s:1;t.tid:‹hex16›
grafana: logger=context userId=0 orgId=0 uname= traceID=‹hex32› status=401 remote_addr=10.1.2.7
loki: ingester ‹mixed6› not ready; fingerprint ‹hex16›
jaeger: span ‹hex16› has no parent
bugsnag: payload checksum sha1 ‹hex40›
rollbar: uuid ‹hex32›
envoy: "x-request-id":"‹uuid›" response_flags=UAEX
varnish: X-Varnish: ‹digits8› ‹digits8›
X-Runtime: 0.‹digits6›⏎X-Request-Id: ‹uuid›
X-Nf-Request-Id: ‹b32_26›
fly-request-id: ‹b32_26›-fra
x-github-request-id: ‹HEX4›:‹HEX5›:‹HEX6›:‹HEX6›:‹HEX8›
x-envoy-upstream-service-time: 12
X-Content-Digest: ‹hex40›
ETag: "‹hex40›"
If-Match: "‹mixed22›"
Accept-CH: DPR, Width⏎Vary: Cookie
Access-Control-Expose-Headers: X-Auth-Token
WWW-Authenticate: Digest realm="api", qop="auth", algorithm=SHA-256
Authorization: Bearer YOUR_TOKEN_HERE
Authorization: token <redacted>
Authorization: Basic ${BASIC_AUTH}
Authorization: Bearer ***
curl -H "X-Vault-Token: $VAULT_TOKEN" $VAULT_ADDR/v1/sys/health
curl --netrc-file ~/.netrc https://api.example.org
{"errors":[{"message":"Bad credentials","documentation_url":"https://docs.example.org/rest"}]}
{"type":"https://errors.example.org/invalid-api-key","title":"Invalid API key","status":401}
{"ok":false,"error":"not_authed"}
{"code":"token_not_valid","detail":"Given token not valid for any token type"}
jwks: {"keys":[{"kty":"RSA","use":"sig","kid":"‹url22›","n":"‹url342›","e":"AQAB"}]}
{"kty":"EC","crv":"P-256","x":"‹url43›","y":"‹url43›","kid":"1"}
.well-known/openid-configuration: "token_endpoint": "https://sso.example.org/token"
code_challenge=‹url43›&code_challenge_method=S256
saml: <ds:X509Certificate>MIID‹b64n300›</ds:X509Certificate>
<ds:DigestValue>‹b64_44›</ds:DigestValue>
InResponseTo="_‹hex40›"
scope=openid%20profile&response_type=code&client_id=web
message LoginRequest { string user = 1; string password = 2; }
type Query { apiKeys(first: Int): ApiKeyConnection! }
query Login($password: String!) { login(password: $password) { ok } }
components:⏎  schemas:⏎    Login:⏎      required: [email, password]
sshd: error: maximum authentication attempts exceeded for root from 10.1.2.7 port 41122 ssh2 [preauth]
Load key "/root/.ssh/id_ed25519": error in libcrypto
Load key "deploy_key": invalid format
ssh-keygen -lf key.pub⏎4096 SHA256:‹b64n43› ci@build (RSA)
debug1: Authentications that can continue: publickey,password
debug1: Will attempt key: deploy RSA SHA256:‹b64n43› explicit
ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29t‹b64n240› host
authorized_keys: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43› deploy
@cert-authority *.example.org ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ‹b64n350›
IdentityFile ~/.ssh/acme_ed25519⏎IdentitiesOnly yes
login: timed out after 60 seconds
Password for deploy@10.1.2.7:
[sudo] password for deploy:
Sorry, try again.⏎sudo: 3 incorrect password attempts
chpasswd: (line 1, user deploy) password not changed
BAD PASSWORD: The password is shorter than 8 characters
pam_pwquality: pam_chauthtok: authentication token manipulation error
usermod: user deploy is currently used by process ‹n›
systemd-ask-password: timed out
secret service: Object does not exist at path "/org/freedesktop/secrets/collection/login"
boot_id ‹uuid›
journal: _MACHINE_ID=‹hex32› _BOOT_ID=‹hex32›
audit: type=1400 audit(17‹digits8›.‹digits3›:‹n›): apparmor="DENIED" operation="open"
PARTUUID=‹uuid› none swap sw 0 0
ata-SAMSUNG_SSD_870_‹up15› SMART error
usb 1-2: SerialNumber: ‹HEX12›
zfs: pool guid ‹digits19› degraded
mdadm: UUID : ‹hex8›:‹hex8›:‹hex8›:‹hex8›
btrfs: scrub started on /mnt, fsid ‹uuid›
cryptsetup luksOpen /dev/sdb1 data⏎Enter passphrase for /dev/sdb1:
gpg: keyserver receive failed: No data⏎gpg: requesting key ‹HEX16›
uid           [ultimate] Release Bot <release@example.org>⏎sub   cv25519 2026-01-01 [E]
Key fingerprint = ‹HEXsp40›
pacman: error: shop: signature from "Packager <p@example.org>" is unknown trust
apt-key: OK; Release.gpg key ‹HEX40›
minisign: Public key: RW‹b64n54›
signify: untrusted comment: signify public key⏎RW‹b64n54›
-----BEGIN CERTIFICATE-----⏎MIIB‹b64n60›⏎‹b64n64›⏎‹b64n64›⏎-----END CERTIFICATE-----
-----BEGIN RSA PUBLIC KEY-----⏎MIIBCgKCAQEA‹b64n52›⏎‹b64n64›⏎-----END RSA PUBLIC KEY-----
-----BEGIN SSH SIGNATURE-----⏎U1NIU0lH‹b64n56›⏎-----END SSH SIGNATURE-----
notAfter=Nov  3 10:11:12 2027 GMT⏎serial=‹HEX36›
SHA256 Fingerprint=‹colonHEX32›
OCSP: issuerKeyHash: ‹HEX40›
SCT log id: ‹b64_44›
openssl req -newkey rsa:4096 -keyout key.pem -nodes -subj /CN=example.org
Could not read private key from key.pem
bad decrypt: wrong password for encrypted private key
acme: error: 429 :: too many certificates already issued; order ‹digits10›
[Peer]⏎PublicKey=‹b64_44›⏎AllowedIPs=10.9.0.0/24
wireguard: peer ‹b64_44› handshake did not complete
tailscale: nodekey:‹hex64› expired (public)
tor: hidden service ‹low56›.onion unreachable
openvpn: TLS Error: Auth Username/Password was not provided by peer
strongswan: received AUTHENTICATION_FAILED notify error
radius: Login incorrect (pap: Cleartext password does not match)
selector1._domainkey.example.org TXT "v=DKIM1; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A‹b64n350›"
google-site-verification=‹url43›
example.org. 3600 IN TLSA 3 1 1 ‹HEX64›
example.org. IN RRSIG A 13 2 300 20261201000000 20261101000000 ‹n› example.org. ‹b64_88›
exim: ‹mixed6›-‹mixed6›-‹mixed2› == x@example.org R=dnslookup defer (-44)
Authentication-Results: mx.example.org; dkim=pass header.d=example.org header.b=‹mixed8›
References: <‹hex24›@example.org>
Content-Type: multipart/mixed; boundary="000000000000‹hex16›"
IMAP: NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)
Subject: [acme/core] Your personal access token is about to expire
##[warning]Unexpected input(s) 'token', valid inputs are ['path', 'key']
- uses: actions/cache@‹hex40›⏎  with:⏎    key: deps-${{ hashFiles('Cargo.lock') }}
steps.login.outputs.token is masked as ***
Secret source: Actions⏎GITHUB_TOKEN Permissions: Contents: read
workflow ‹digits8› run ‹digits11› was cancelled
deploy: environment: production, sha: ‹hex40›, ref: refs/heads/main
Evaluate and set job outputs: Skip output 'token' since it may contain secret.
ERROR: Uploading artifacts as "archive" to coordinator... 401 Unauthorized id=‹digits10› token=[MASKED]
before_script:⏎  - echo "$SSH_PRIVATE_KEY" | ssh-add -
CI_COMMIT_SHA=‹hex40›
hudson.AbortException: ERROR: Could not find credentials entry with ID 'nexus-deploy'
properties([parameters([password(name: 'DB_PASSWORD', description: 'asked at build time')])])
circleci: Error: context 'prod-secrets' not found
semaphore: checksum Gemfile.lock ‹hex32›
appveyor: environment:⏎  API_KEY:⏎    secure: <encrypted>
azure-pipelines: - task: AzureKeyVault@2⏎  inputs: { secretsFilter: '*' }
concourse: resource version sha256:‹hex64›
sonar: rule java:S2068 "Hard-coded passwords are security-sensitive" 0 issues
codeql: js/clear-text-logging found in src/login.ts:14
snyk: ✗ Hardcoded Secret rule disabled
dependabot: bumps jose from 5.2.3 to 5.2.4; commits: ‹hex7›, ‹hex7›
ansible: ERROR! The vault password file /root/.vault_pass was not found
TASK [db : create user] ***⏎changed: [db1] => (item=(censored due to no_log))
vars_prompt:⏎- name: password⏎  private: true
msg: "Unable to connect to database: (1045, 'Access denied')"
vagrant: SSH auth method: private key
packer: ==> amazon-ebs: Creating temporary keypair: packer_‹uuid›
puppet: node_encrypt: certificate fingerprint (SHA256) ‹colonHEX32›
SECRET_KEY=${SECRET_KEY}
STRIPE_SECRET_KEY=sk_test_xxxxxxxxxxxxxxxxxxxxxxxx
api_token: CHANGE_ME
"password": "<PASSWORD>",
access_key = "YOUR_ACCESS_KEY"⏎secret_key = "YOUR_SECRET_KEY"
ADMIN_PASSWORD=placeholder
token: xxxx-xxxx-xxxx
private_key = "{{ vault_private_key }}"
auth_token: null
apiKey: process.env["API_KEY"]!,
passphrase = os.environ.get("PASSPHRASE")
db.password=@db.password@
credentials: file:///etc/acme/credentials.json
password_field_selector: "#password"
secret_backend: vault
token_bucket_size: 100
cache_key_prefix: "v2:users"
key_type: ecdsa-p256
pass_through_headers = ["x-request-id"]
api_keys_enabled: true
login_attempts_max: 5
ssl_key: ./certs/localhost-key.pem
require_password_change: true
The API key is read from the environment and is never written to disk.
Passwords are hashed with Argon2id; we do not store them in clear text.
Wrong password. Two attempts left.
Two tokens were returned by the lexer where one was expected.
Please enter the six-digit code from your authenticator app.
The secret has been created; copy it now, it will not be shown again.
See docs/adr/0007-token-rotation.md for the reasons.
He forgot the passphrase of the backup and had to start again.
Keep the signing key offline.
/// Returns the bearer token, refreshing it when it is about to expire.
/* the password is compared in constant time */
-- tokens older than 30 days are removed by a cron job
fix(login): trim white space around the password
perf: cache the public key instead of fetching it for each request
Added support for API key authentication (#‹n›)
feat!: drop support for HTTP basic authentication
<string name="hint_password">Password</string>
"errors.password.too_short": "Das Passwort ist zu kurz"
msgid "Invalid token"⏎msgstr "Ungültiges Token"
<Label htmlFor="apiKey">API key</Label>
<button aria-label="Copy token">Copy</button>
def token_count(text: str) -> int:
for (const token of tokens) { if (token.type === 'space') continue; }
public interface TokenRepository extends JpaRepository<Token, Long> {
async fn fetch_secret(&self, name: &str) -> Result<Secret>
password = try? keychain.read(account)
val apiKey: String by project
const [password, setPassword] = useState('');
SECRET="$(openssl rand -hex 32)"
export TOKEN=$(cat ~/.config/acme/token)
: "${API_KEY:?API_KEY must be set}"
stty -echo; read -r password; stty echo
if [ -z "$GITHUB_TOKEN" ]; then echo "GITHUB_TOKEN is not set" >&2; exit 1; fi
kubectl get secret db -o jsonpath='{.data.password}' | base64 -d
make: *** No rule to make target 'secrets.env', needed by 'up'.  Stop.
bash: ./get-token.sh: Permission denied
fish: Unknown command: op
pass: Error: servers/db is not in the password store.
vault operator unseal⏎Unseal Key (will be hidden):
bw: You are not logged in.
age-keygen: Public key: age1‹low58›
sops: error loading config: no matching creation rules found
Error: Returned error: sender doesn't have enough funds, tx cost 21000, address 0x‹hex40›
TransferFrom 0x‹hex40› -> 0x‹hex40› value 5
eth_sendRawTransaction: already known, hash 0x‹hex64›
stateRoot 0x‹hex64› mismatch at block ‹digits8›
code hash 0x‹hex64› is not allowed
chainlink: job spec ‹uuid› errored
block ‹hex64› at height ‹digits6› has too many sigops
bitcoin-cli getnewaddress⏎bc1q‹low38›
vout 0 of ‹hex64› is unspent
Error processing Instruction 2: custom program error: 0x1771 (program ‹sol_pub›)
anchor: deployed program id ‹sol_pub›
owner: ‹sol_pub›⏎lamports: 2039280
"signatures": ["‹sol_sig›"]
near: tx ‹sol_pub› failed: NotEnoughBalance
celestia1‹low38› has no delegations
addr1‹low98› is not a script address
/ipfs/bafybei‹low52›/index.html: context deadline exceeded
filecoin: deal bafyrei‹low52› slashed
hole punching to 12D3KooW‹b58_44› failed
nostr: event ‹hex64› rejected: rate-limited
"pubkey": "‹hex64›", "kind": 1, "content": "gm"
request id ‹uuid› not found in the cache
saga ‹uuid› compensated after 3 retries
upload ‹low26› part 3 checksum ‹hex32› does not match
snapshot.‹hex8› restored to /srv
job ‹hex24› moved to the dead letter queue
pulsar message id ‹digits6›:‹n›:0 redelivered
kafka transactional.id=orders-‹uuid› fenced
temporal: workflow ‹uuid› run ‹uuid› timed out
SHA1(firmware.bin)= ‹hex40›
‹hex40›  ./dist/app.js
sha512: ‹hex128›
"sha1": "‹hex40›", "size": ‹digits7›, "url": "https://dl.example.org/client.jar"
md5sum: app.iso: FAILED⏎expected ‹hex32›
adler32 ‹hex8› bad in block ‹n›
blake3 ‹hex64›  model.safetensors
cargo-binstall: checksum ‹hex64› verified
/nix/store/‹low32›-python3-3.12.3.drv
hash = "sha256-‹b64_44›";
got:    sha256-‹b64_44›
spack: dyld missing in /opt/spack/linux/gcc-13/openssl-3.3.0-‹low32›/lib
bazel: Action details: ‹hex64›⏎INFO: Invocation ID: ‹uuid›
sccache: hash key ‹hex64›
buck2: Build ID: ‹uuid›
ostree: commit ‹hex64›
snap: revision x‹n1›, sha3-384: ‹url64›
data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=
data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/‹b64n160›
"content": "IyBSZWFkbWUKClRoaXMgaXMgYSB0ZXN0Lgo=", "encoding": "base64"
sourceMappingURL=data:application/json;charset=utf-8;base64,eyJ2ZXJzaW9uIjozfQ==
"mappings":"AAAA;EACE,QAAQ;EACR,SAAS;AACX","names":[]
nextToken: null
@odata.nextLink: https://graph.example.test/v1.0/users?$skiptoken=<token>
scroll_id cleared, 0 contexts left
timestamp 17‹digits11› is in the past
fps=59.‹digits2› frame=‹digits5› drop=0
rx_bytes:‹digits10› tx_bytes:‹digits9›
article no. ‹digits8›, batch 2026-44
RFC 7519, section 4.1.4
utc 2026-11-03T10:11:12.‹digits9›Z seq ‹digits6›
real⇥0m3.‹digits3›s⏎user⇥0m2.‹digits3›s
"""
