"""Contexts that no rule was tuned for: lot b. See corpus.py."""

SECRETS = {
    "api_key": r"""
thread 'main' panicked at src/main.rs:18:6: request failed: 401 Unauthorized, api key used: «mixed40»
$ curl "https://api.news.test/v2/top?country=no&apiKey=«hex32»"⏎{"status":"error","code":"apiKeyInvalid"}
Error: Invalid API Key provided: «stripe»⏎    at StripeError.generate (/app/node_modules/stripe/lib/Error.js:10:20)
OPENAI_API_KEY: "«openai»"
aider --anthropic-api-key «anthropic» src/lib.rs
openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: «openai»'}}
Mail::SendGrid->new(api_key => '«sendgrid»')
mg = mailgun.NewMailgun("mg.example.org", "«mailgun»")
<appSettings>⏎  <add key="ApiKey" value="«mixed32»" />⏎</appSettings>
[llm]⏎provider = "groq"⏎api_key = "«groq»"
agent.conf: license_key=«newrelic» app_name="shop"
figma: personal access token is «figma»
NOTION_KEY=«notion» node sync.js
linear-cli auth «linear»
model = replicate.Client(api_token="«replicate»")
PPLX_API_KEY = «pplx»
"openrouterApiKey": "«openrouter»",
ShopifyAPI::Base.headers['X-Shopify-Access-Token'] = '«shopify»'
POSTMAN_API_KEY: '«postman»'
Square\Environment: SQUARE_ACCESS_TOKEN="«square»"
firebase functions:config:set mail.apikey="«mixed36»"
@FeignClient header "X-API-KEY: «mixed32»"
Geocoder.configure(lookup: :opencage, api_key: "«hex32»")
map.addLayer(tiles + "?api_key=«uuid»");
datadog:⏎  site: datadoghq.eu⏎  apiKey: «hex32»⏎  appKey: «hex40»
amplitude secret key: «hex32»
var client = new ElasticClient(new Uri(url), new ApiKeyAuthenticationHeader("«b64_60»"));
SEGMENT_WRITE_KEY="«mixed32»"
wrangler: CF_API_KEY=«hex37» CF_EMAIL=ops@example.org wrangler publish
etherscan: { apiKey: { mainnet: "«up34»" } }
ERROR intercom: 403 with api_key=«mixed60»
NSString *const kApiKey = @"«mixed40»";
api.key: «low40»    # billing provider, production
http.DefaultClient: Get "https://api.exchange.test/latest?access_key=«hex32»": context deadline exceeded
PAGERDUTY_ROUTING_KEY=«hex32»
plaid = PlaidApi(clientId: "‹hex24›", secret: "«hex30»")
""",
    "password": r"""
ERROR 1045 (28000): Access denied for user '‹user›'@'10.1.2.7' -- tried password «pws»
  DB_PASSWORD: «pws»⏎  DB_USER: ‹user›
mysqldump: [Warning] using --password=«pws» on the command line can be insecure
[client]⏎user=‹user›⏎password="«pws»"
CREATE USER ‹user› WITH ENCRYPTED PASSWORD '«pws»';
ftp> user ‹user› «pws»⏎530 Login incorrect.
$ sudo -S systemctl restart nginx <<< '«pws»'
authentication:⏎  username: ‹user›⏎  password: '«pws»'
String password = "«pws»"; // FIXME: read from vault
const pw = '«pws»'; await signIn('‹user›', pw);
jenkins_1  | Please use the following password to proceed to installation:⏎jenkins_1  | ⏎jenkins_1  | «hex32»
GF_SECURITY_ADMIN_PASSWORD=«pws»
javax.mail.AuthenticationFailedException: 535 5.7.8 user=‹user› password=«pws»
xfreerdp /v:‹host› /u:‹user› /p:«pws» /cert:ignore
rpcclient -U "‹user›%«pws»" ‹host›
cryptsetup: echo -n "«pws»" | cryptsetup luksOpen /dev/sdb1 data -
vncpasswd -f <<< «pws» > ~/.vnc/passwd
<entry key="javax.persistence.jdbc.password" value="«pws»"/>
spring:⏎  rabbitmq:⏎    username: ‹user›⏎    password: «pws»
7z x -p«pws» backup.7z
ansible-vault encrypt_string '«pws»' --name db_password
az sql server create -n s1 -u ‹user› -p '«pws»' -g rg
aws rds modify-db-instance --db-instance-identifier db1 --master-user-password '«pws»'
gcloud sql users set-password ‹user› --instance=db1 --password='«pws»'
$mail->Password = '«pws»';
ssl.keystore.password=«pws»
requirepass «pws»
login: ‹user›⏎Password: «pws»⏎Login incorrect
Selenium: driver.findElement(By.id("pwd")).sendKeys("«pws»");
sftp.connect({ host: '‹host›', username: '‹user›', password: '«pws»' })
JAAS: org.apache.kafka.common.security.plain.PlainLoginModule required username="‹user›" password="«pws»";
temporary password for ‹user› is "«pws»" and must be changed at first login
MINIO_ROOT_USER=‹user› MINIO_ROOT_PASSWORD=«pws» minio server /data
@user = User.new(email: "a@example.org", password: "«pws»")
password «pws» does not match the confirmation
""",
    "token": r"""
error: failed to publish: 403 Forbidden, token «mixed35» lacks the scope publish-update
$ git credential fill⏎password=«gho»
env:⏎  GITHUB_TOKEN: «ghp»
glab auth login --hostname git.example.test --token «glpat»
echo "//npm.example.test/:_authToken=«npm»" > .npmrc
WebClient(token="«xoxb»").auth_test()
app = App(token=os.environ["X"], app_token="«xapp»")
SLACK_WEBHOOK_URL=https://hooks.slack.com/services/«slackhook»
[testrepo]⏎username = __token__⏎password = «pypi»
login(token="«hf»")
discord.errors.LoginFailure: Improper token has been passed: «discord»
TELEGRAM_BOT_TOKEN=«telegram»
vault login «hvs»⏎Error authenticating: error looking up token: 403
DIGITALOCEAN_ACCESS_TOKEN: «dop»
SENTRY_AUTH_TOKEN=«sntrys»
fly deploy --access-token "«fly»"
  bootstrapToken:⏎    token: «kubeadm»
sonar.token=«sonar»
TF_TOKEN_app_terraform_test=«tfe»
[[runners]]⏎  name = "r1"⏎  token = "«glrt»"
dotnet nuget update source x --api-key «oy2»
docker login failed: unauthorized: personal access token «dckr» is expired
{"token":"«ghpat»","scopes":["repo","workflow"]}
composer config github-oauth.github.com «ghp»
jira = JIRA(server="https://jira.example.test", token_auth="«b64_44»")
"sessionToken": "r:«hex32»"
Cookie: connect.sid=s%3A«url32».«mixed43»
refresh token «url64» was already used, revoking the token family
auth_token: «hex64»
if (token !== '«hex40»') return res.status(401).end()
X-Auth-Token: «hex32»
fastlane: MATCH_TOKEN=«mixed40» in env
GRAFANA_TOKEN=glsa_«mixed32»_«hex8»
password reset link: https://‹host›/reset?token=«url43»
pusher.trigger failed, bearer token "«mixed64»"
""",
    "private_key": r"""
Error: error:1E08010C:DECODER routines::unsupported while reading key⏎«pem»
resource "tls_private_key" "ca" {⏎  private_key_pem = <<EOT⏎«pem»⏎EOT⏎}
ssh_keys:⏎  rsa_private: |⏎  «pem_indent2»
debug: key file contents were⏎«pem_openssh»
"privateKeyPem" : "«pem_json»",
process.env.JWT_PRIVATE_KEY = "«pem_json»";
2026-11-03T10:11:12Z web-1  | loading signing key⏎2026-11-03T10:11:12Z web-1  | «pem_logged»
[stderr] reading id_rsa: «pem_bracket»
Nov  3 10:11:12 app[812]: dumping key «pem_syslog»
web_1  | key loaded: «pem_compose»
--- /dev/null⏎+++ b/certs/server.key⏎«pem_diff»
cat -n server.key⏎   12 «pem_numbered»
-- secret key export for backup --⏎«pgp»
sed -n '2,$p' server.key⏎«pem_noheader»
head -c 600 /etc/ssl/private/server.key⏎«pem_nofooter»
let key = r#"«pem»"#;
SOPS_AGE_KEY=«age» sops -d secrets.yaml
dumpprivkey bc1q‹low38›⏎«wif»
BIP32 root key: «xprv»
nostr: { privateKey: '«nsec»' }
geth account import: private key «hex64» written in plain text
w3.eth.account.from_key("0x«hex64»")
DEPLOYER_PRIVATE_KEY=«hex64»
truffle: new HDWalletProvider("«words12»", "http://localhost:8545")
seedphrase: «words24»
? Enter your mnemonic: «words12»
Invalid keypair file: expected 64 bytes⏎«sol_array»
PAYER_SECRET_KEY=«sol_array»
phantom private key: «sol58»
let payer = Keypair::from_base58_string("«sol58»");
[Peer A]⏎PrivateKey = «b64_44»⏎ListenPort = 51820
{"p":"«url171»","kty":"RSA","d":"«url342»","e":"AQAB"}
ssh-keygen -y -f /dev/stdin <<'EOF'⏎«pem_openssh»⏎EOF
substrate: subkey inspect "0x«hex64»"⏎Secret seed: 0x«hex64»
kubectl get secret tls -o jsonpath='{.data.tls\.key}' | base64 -d⏎«pem»
SAML_SP_PRIVATE_KEY='«pem_json»'
""",
    "database_url": r"""
django.db.utils.OperationalError: could not translate host name in "postgres://‹user›:«pwu»@‹host›:5432/‹word›"
PrismaClientInitializationError: Authentication failed against database server at `mysql://‹user›:«pwu»@‹host›:3306/‹word›`
MONGODB_URI=mongodb://‹user›:«pwu»@‹host›:27017/‹word›?authSource=admin
redis.exceptions.ConnectionError: Error 111 connecting to redis://:«pwu»@‹host›:6379/2
RABBITMQ_URL: "amqp://‹user›:«pwu»@‹host›:5672/vhost"
heroku config:get DATABASE_URL⏎postgres://‹user›:«pwu»@‹host›:5432/‹word›
services.AddDbContext<Db>(o => o.UseSqlServer("Server=tcp:‹host›,1433;Database=‹word›;User ID=‹user›;Password=«pwu»;"));
2026/11/03 10:11:12 dial error: cannot connect to `user=‹user› password=«pwu» host=‹host› database=‹word›`: timeout
db, err := sqlx.Connect("mysql", "‹user›:«pwu»@(‹host›:3306)/‹word›")
development:⏎  adapter: mysql2⏎  host: ‹host›⏎  username: ‹user›⏎  password: «pwu»
sea-orm-cli generate entity -u postgres://‹user›:«pwu»@‹host›:5432/‹word›
.env.local:3: POSTGRES_PRISMA_URL="postgres://‹user›:«pwu»@‹host›/‹word›?pgbouncer=true"
conn = psycopg2.connect(dbname="‹word›", user="‹user›", password="«pwu»", host="‹host›")
mysqli_connect('‹host›', '‹user›', '«pwu»', '‹word›');
ORA-12154: could not resolve jdbc:oracle:thin:‹user›/«pwu»@‹host›:1521:ORCL
odbc: Driver={ODBC Driver 18 for SQL Server};Server=‹host›;Uid=‹user›;Pwd=«pwu»;
flyway -url=jdbc:postgresql://‹host›/‹word› -user=‹user› -password=«pwu» migrate
cassandra.cluster: PlainTextAuthProvider(username='‹user›', password='«pwu»')
val driver = GraphDatabase.driver("bolt://‹host›:7687", AuthTokens.basic("‹user›", "«pwu»"))
mongorestore --uri="mongodb+srv://‹user›:«pwu»@cluster1.example.org/‹word›" dump/
hibernate.connection.url = jdbc:mariadb://‹host›:3306/‹word›?user=‹user›&password=«pwu»
pg_restore -d postgresql://‹user›:«pwu»@‹host›/‹word› latest.dump
goose postgres "user=‹user› password=«pwu» dbname=‹word› sslmode=disable" up
- DATABASE_URL=postgresql+psycopg://‹user›:«pwu»@db:5432/‹word›
dbt profiles: {type: postgres, host: ‹host›, user: ‹user›, password: «pwu», dbname: ‹word›}
create_engine("oracle+oracledb://‹user›:«pwu»@‹host›:1521/?service_name=‹word›")
const pool = mysql.createPool({ host: '‹host›', user: '‹user›', password: '«pwu»', database: '‹word›' });
UserRepository: jdbc:sqlserver://‹host›:1433;databaseName=‹word›;user=‹user›;password=«pwu»
mysqlsh --uri ‹user›:«pwu»@‹host›:33060/‹word›
migrate -database "mysql://‹user›:«pwu»@tcp(‹host›:3306)/‹word›" -path db up
[sqlalchemy]⏎sqlalchemy.url = postgresql://‹user›:«pwu»@‹host›/‹word›
tds://‹user›:«pwu»@‹host›:1433/‹word›: login timeout
kafka-connect: "connection.url": "jdbc:postgresql://‹host›/‹word›?user=‹user›&password=«pwu»"
CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER '‹user›', PASSWORD '«pwu»', HOST '‹host›');
surreal import --conn ws://‹host›:8000 --user ‹user› --pass «pwu» --ns a --db ‹word› dump.surql
""",
    "aws": r"""
botocore.exceptions.ClientError: An error occurred (SignatureDoesNotMatch) for access key «akia»
+ export AWS_ACCESS_KEY_ID=«akia»⏎+ export AWS_SECRET_ACCESS_KEY=«aws40»
AWS_ACCESS_KEY_ID=«asia»⏎AWS_SECRET_ACCESS_KEY=«aws40»⏎AWS_SESSION_TOKEN=«awstoken»
"Credentials": {⏎    "AccessKeyId": "«asia»",⏎    "SecretAccessKey": "«aws40»",⏎    "SessionToken": "«awstoken»"⏎}
{"AccessKey":{"UserName":"ci","AccessKeyId":"«akia»","Status":"Active","SecretAccessKey":"«aws40»"}}
environment:⏎  - AWS_ACCESS_KEY_ID=«akia»⏎  - AWS_SECRET_ACCESS_KEY=«aws40»
cloud.aws.credentials.accessKey=«akia»
Aws::S3::Client.new(access_key_id: "«akia»", secret_access_key: "«aws40»")
let creds = Credentials::from_keys("«akia»", "«aws40»", None);
AmazonS3Client s3 = new AmazonS3Client("«akia»", "«aws40»", RegionEndpoint.EUWest1);
terraform init -backend-config="access_key=«akia»" -backend-config="secret_key=«aws40»"
$S3 = [Amazon.Runtime.BasicAWSCredentials]::new('«akia»', '«aws40»')
mc alias set s3 https://s3.amazonaws.com «akia» «aws40»
s3cmd --access_key=«akia» --secret_key=«aws40» ls
[profile prod]⏎aws_secret_access_key = «aws40»⏎region = eu-west-1
- name: AWS_SECRET_ACCESS_KEY⏎  value: "«aws40»"
aws_session_token = «awstoken»
curl "http://169.254.169.254/latest/meta-data/iam/security-credentials/web"⏎{ "Code" : "Success", "AccessKeyId" : "«asia»", "SecretAccessKey" : "«aws40»" }
DEBUG botocore.auth Calculating signature using v4 auth. Credential=«akia»/20261103/eu-west-1/sts/aws4_request
GET /object?AWSAccessKeyId=«akia»&Signature=‹b64n27›%3D&Expires=1790000000
X-Amz-Credential=«asia»%2F20261103%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20261103T101112Z
The AWS Access Key Id you provided does not exist in our records: «akia»
config.active_storage: s3: secret_access_key: «aws40»
Jenkinsfile: AWS_SECRET_ACCESS_KEY = '«aws40»'
MAIL_USERNAME=«akia»⏎MAIL_PASSWORD=«ses44»
packer build -var 'aws_access_key=«akia»' -var 'aws_secret_key=«aws40»' web.pkr.hcl
AWS.config.secretAccessKey = "«aws40»";
[trufflehog] Detector Type: AWS⏎Raw result: «akia»
loki: storage_config:⏎  aws:⏎    access_key_id: «akia»⏎    secret_access_key: «aws40»
django-storages: AWS_S3_SECRET_ACCESS_KEY = '«aws40»'
velero: --secret-file with aws_secret_access_key=«aws40»
IAM key rotation: old key «akia» disabled, new key «akia» created
assume-role output: SecretAccessKey: «aws40»
export AWS_SESSION_TOKEN="«awstoken»"
spark-submit --conf spark.hadoop.fs.s3a.secret.key=«aws40» job.py
""",
    "gcp": r"""
{"error":{"code":403,"message":"Requests from this client are blocked.","details":[{"consumer":"api_key:«aiza»"}]}}
fetch(`https://maps.googleapis.com/maps/api/geocode/json?address=Oslo&key=«aiza»`)
NEXT_PUBLIC_FIREBASE_API_KEY=«aiza»
<meta-data android:name="com.google.android.geo.API_KEY" android:value="«aiza»"/>
"api_key": [ { "current_key": "«aiza»" } ],
client = genai.Client(api_key='«aiza»')
args:⏎  MAPBOX_STYLE: streets⏎  GOOGLE_PLACES_API_KEY: «aiza»
W/System.err: com.google.api.client: 403 Forbidden key=«aiza»
> GET /drive/v3/files HTTP/2⏎> authorization: Bearer «ya29»
gcloud auth application-default print-access-token → «ya29»
TOKEN="«ya29»"; curl -H "Authorization: Bearer $TOKEN" https://run.googleapis.com/v2/projects/acme
google-auth: Credentials(token='«ya29»', refresh_token='«goog_refresh»')
rclone.conf: token = {"access_token":"«ya29»","refresh_token":"«goog_refresh»"}
client_id: ‹digits12›-‹low32›.apps.googleusercontent.com⏎client_secret: «gocspx»
{"installed":{"client_id":"x.apps.googleusercontent.com","client_secret":"«gocspx»"}}
passport.use(new GoogleStrategy({ clientSecret: '«gocspx»' }, cb))
spring.security.oauth2.client.registration.google.client-secret=«gocspx»
Error: unauthorized_client: GOCSPX mismatch for client secret «gocspx»
cat key.json⏎{⏎  "type": "service_account",⏎  "private_key": "«pem_json»",⏎  "client_email": "ci@acme.iam.gserviceaccount.com"⏎}
FIREBASE_SERVICE_ACCOUNT=«b64_json»
GCP_SA_KEY: «b64_json»
data:⏎  key.json: «b64_json»
google_hmac: accessId=«goog1e» secret=«b64n40»
gcs: { interoperability: { access_key: "«goog1e»", secret: "«b64n40»" } }
FIREBASE_PRIVATE_KEY="«pem_json»"
YOUTUBE_DATA_KEY = "«aiza»"
mapsLoader = new Loader({ apiKey: "«aiza»", version: "weekly" });
[INFO] Using Gemini key «aiza» (free tier), 429 Too Many Requests
PERSPECTIVE key «aiza» has not enabled commentanalyzer.googleapis.com
gcloud alpha services api-keys get-key-string k1⏎keyString: «aiza»
--dart-define=MAPS_KEY=«aiza»
oauth2l: refresh with «goog_refresh» failed: invalid_grant
GOOGLE_CLIENT_SECRET="«gocspx»" rails s
curl -d "client_secret=«gocspx»&refresh_token=«goog_refresh»&grant_type=refresh_token" https://oauth2.googleapis.com/token
let key = "«aiza»" // Firebase, AppDelegate.swift
""",
    "azure": r"""
Microsoft.Azure.Storage.StorageException: connection string DefaultEndpointsProtocol=https;AccountName=logs;AccountKey=«b64_88»
kubectl create secret generic azure --from-literal=AZURE_CLIENT_SECRET=«azsecret»
ClientSecretCredential(tenant_id="‹uuid›", client_id="‹uuid›", client_secret="«azsecret»")
terraform plan -var="client_secret=«azsecret»"
export ARM_CLIENT_SECRET="«azsecret»" ARM_TENANT_ID="‹uuid›"
{"appId":"‹uuid›","displayName":"ci","password":"«azsecret»","tenant":"‹uuid›"}
az ad app credential reset: "password": "«azsecret»"
spring.cloud.azure.eventhubs.connection-string=Endpoint=sb://eh.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=«b64_44»
ServiceBusClient client = new("Endpoint=sb://bus.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«b64_44»");
IOTHUB_CONNECTION_STRING=HostName=hub.azure-devices.net;SharedAccessKeyName=owner;SharedAccessKey=«b64_44»
wget "https://logs.blob.core.windows.net/c/app.log?sv=2023-01-03&sp=r&se=2027-01-01T00%3A00%3A00Z&sig=«sigenc»"
AuthenticationFailed: Signature did not match. String to sign used was ... url ?sr=c&sig=«sigenc»
POST https://fn.azurewebsites.net/api/orders?code=«azfunc» 401
func azure functionapp list-functions --show-keys⏎    default key: «azfunc»
azure_openai:⏎  endpoint: https://acme.openai.azure.test⏎  key: «azopenai»
AZURE_OPENAI_KEY="«azopenai»" python chat.py
az devops login --token «azdevops»
System.AccessToken / PAT: «azdevops»
nuget.config: <add key="ClearTextPassword" value="«azdevops»" />
curl -H "Ocp-Apim-Subscription-Key: «hex32»" https://acme.azure-api.test/v1
AccountEndpoint=https://cosmos.documents.azure.com:443/;AccountKey=«b64_88»;Database=shop
COSMOS_KEY=«b64_88»
az acr credential show -n acme⏎{"passwords":[{"name":"password","value":"«acr»"}]}
storage_account_access_key = "«b64_88»"
BlobServiceClient(account_url=u, credential="«b64_88»")
$ctx = New-AzStorageContext -StorageAccountName logs -StorageAccountKey "«b64_88»"
ApplicationInsights: InstrumentationKey=«uuid»;IngestionEndpoint=https://westeurope.in.applicationinsights.test/
SharedAccessSignature sr=sb%3a%2f%2fbus.servicebus.windows.net&sig=«sigenc»&skn=Root
azure_translator_key: «hex32»
signalr: Endpoint=https://acme.service.signalr.net;AccessKey=«b64_44»;Version=1.0;
"AzureAd:ClientSecret": "«azsecret»"
MSAL: AADSTS7000222: The provided client secret keys for app are expired. secret=«azsecret»
abfss fs.azure.account.key.logs.dfs.core.windows.net=«b64_88»
BatchSharedKeyCredentials("acct", "«b64_88»")
azureml: primary_key: «mixed32» (online endpoint)
""",
    "basic_auth": r"""
yarn install v1.22.22⏎error https://‹user›:«pwu»@npm.example.test/acme: Request failed "401 Unauthorized"
ERROR: Could not find a version that satisfies acme; looked in https://‹user›:«pwu»@‹host›/simple
curl: (22) 401 for curl -fsSL -u "‹user›:«pwu»" https://‹host›/install.sh
proxychains: socks5 10.1.2.7 1080 ‹user› «pwu»
> Authorization: Basic «basic»⏎> Accept: */*
~/.docker/config.json: {"auths": {"https://registry.example.test/v1/": {"auth": "«basic»"}}}
export NO_PROXY=localhost HTTPS_PROXY=https://‹user›:«pwu»@proxy.example.org:8443
.netrc: machine git.example.test login ‹user› password «pwu»
deb [arch=amd64] https://‹user›:«pwu»@apt.example.test/ubuntu jammy main
pip config set global.index-url https://‹user›:«pwu»@‹host›/simple/
credentials { username = "‹user›"; password = "«pwu»" }
HTTPBasicAuth(username="‹user›", password="«pwu»")
client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", "«basic»");
Net::HTTP::Get: req.basic_auth '‹user›', '«pwu»'
reqwest::Error { url: "https://‹user›:«pwu»@‹host›/api", source: TimedOut }
crane auth login registry.example.test -u ‹user› -p «pwu»
podman push --creds=‹user›:«pwu» localhost/shop registry.example.test/shop
alertmanager: smtp_auth_username: '‹user›'⏎smtp_auth_password: '«pwu»'
axios.get(url, { auth: { username: '‹user›', password: '«pwu»' } })
traefik: dial https://‹user›:«pwu»@‹host›/ping: certificate signed by unknown authority
npm config set //npm.example.test/:_auth «basic»
mamba install -c https://‹user›:«pwu»@conda.example.test/t/main acme
bundle config gems.example.test ‹user›:«pwu»
auth.json: {"http-basic": {"repo.example.test": {"username": "‹user›", "password": "«pwu»"}}}
siege --header="Authorization: Basic «basic»" https://‹host›/
OPENSEARCH_URL='https://‹user›:«pwu»@‹host›:9200'
ffmpeg -i rtsp://‹user›:«pwu»@10.0.0.31/cam out.mp4
curl -T report.csv ftp://‹user›:«pwu»@‹host›/inbox/
elasticdump --input=https://‹user›:«pwu»@‹host›:9200/idx --output=idx.json
zypper ar https://‹user›:«pwu»@rpm.example.test/repo acme
MAILER_DSN=smtp://‹user›:«pwu»@mail.example.org:587
-Dhttps.proxyUser=‹user› -Dhttps.proxyPassword=«pwu»
org.apache.http.client.HttpResponseException: 403 http://‹user›:«pwu»@‹host›:8081/nexus/service
{"proxy":"http://‹user›:«pwu»@10.1.2.7:3128","timeout":30}
gradle.properties:⏎systemProp.http.proxyUser=‹user›⏎systemProp.http.proxyPassword=«pwu»
""",
    "git_credential": r"""
remote: Invalid username or password.⏎fatal: Authentication failed for 'https://‹user›:«ghp»@github.com/acme/api/'
fatal: unable to access 'https://‹user›:«pwu»@git.example.test/acme/api.git/': Could not resolve host: git.example.test
origin  https://oauth2:«glpat»@gitlab.example.test/acme/api.git (fetch)
RUN git clone https://‹user›:«pwu»@git.example.test/acme/api.git /src
go: github.com/acme/lib@v0.1.0: invalid version: git fetch -f https://‹user›:«ghp»@github.com/acme/lib: exit status 128
.git/config:⏎[remote "upstream"]⏎    url = https://‹user›:«ghpat»@github.com/acme/api.git
npm install git+https://‹user›:«pwu»@git.example.test/acme/ui.git#v2
pip install git+https://«ghp»@github.com/acme/lib.git@main
error: failed to load source for dependency `acme`⏎Caused by: Unable to update https://‹user›:«pwu»@git.example.test/acme/lib.git
git push "https://x-access-token:«ghs»@github.com/acme/api.git" HEAD:refs/heads/bump
printf 'protocol=https\nhost=git.example.test\nusername=‹user›\npassword=«pwu»\n' | git credential approve
store --file=/tmp/cred: https://‹user›:«ghp»@github.com
gem "ui", git: "https://‹user›:«pwu»@git.example.test/acme/ui.git", branch: "main"
git config --global url."https://«ghp»:x-oauth-basic@github.com/".insteadOf "git@github.com:"
$ git remote -v⏎gitlab  https://gitlab-ci-token:«glpat»@gitlab.example.test/acme/api.git (push)
  "version": "git+https://‹user›:«ghp»@github.com/acme/tool.git#‹hex40›"
fatal: clone of 'https://‹user›:«pwu»@git.example.test/acme/theme.git' into submodule path 'theme' failed
terraform init: Error: could not download module git::https://oauth2:«glpat»@gitlab.example.test/acme/vpc.git
Podfile: pod 'Kit', :git => 'https://‹user›:«pwu»@git.example.test/acme/Kit.git'
bitbucket-pipelines: git push https://x-token-auth:«url40»@bitbucket.org/acme/api.git
hint: Updates were rejected⏎error: failed to push some refs to 'https://oauth2:«glpat»@gitlab.example.test/acme/api.git'
! [remote rejected] main -> main (protected branch hook declined)⏎To https://‹user›:«pwu»@git.example.test/acme/api.git
<developerConnection>scm:git:https://‹user›:«pwu»@git.example.test/acme/api.git</developerConnection>
composer.json: "url": "https://‹user›:«ghp»@github.com/acme/php-lib.git"
kustomize build "https://‹user›:«pwu»@git.example.test/acme/k8s.git//overlays/prod?ref=main"
error: 'https://‹user›:«ghpat»@github.com/acme/Kit.git' - package manifest cannot be accessed
ERROR: Error cloning remote repo 'origin': https://‹user›:«pwu»@git.example.test/acme/api.git
repo: https://‹user›:«pwu»@git.example.test/acme/ansible-role.git⏎  dest: /opt/role⏎  version: main
fetching https://oauth2:«glpat»@gitlab.example.test/acme/mirror.git every 5m
svn: E170001: Authentication failed; command: svn up --username=‹user› --password=«pwu»
jj git clone https://‹user›:«pwu»@git.example.test/acme/api.git
git ls-remote --heads https://‹user›:«ghp»@github.com/acme/api.git⏎fatal: early EOF
act: {"GITHUB_SERVER_AUTH":"https://x-access-token:«ghs»@github.com"}
west update: fatal: could not read from 'https://‹user›:«pwu»@git.example.test/zephyr/mods.git'
sourcetree: saved credentials https://‹user›:«pwu»@git.example.test:8443
""",
    "credit_card": r"""
com.stripe.exception.CardException: Your card number is incorrect: «card»
"card": { "number": "«card»", "exp_month": 12, "exp_year": 2029, "cvc": "314" }
Credit card: «cardsp» (Visa)
UPDATE customers SET card_number = '«card»' WHERE id = 7;
<PAN>«card»</PAN>
[DEBUG] PaymentRequest{amount=19.99, cardNumber=«card», cvv=***}
id,cc_number,cc_exp⏎1,«card»,10/28
cy.get('[name=cardnumber]').type('«card»')
I was charged twice on my Mastercard «cardsp»
pan=«card» result=DECLINED reason=51
number: '«cardda»', verification_value: '123'  # ActiveMerchant::Billing::CreditCard
curl -d "card[number]=«card»" -d "card[exp_month]=5" https://api.pay.test/v1/tokens
DLP alert: credit card number «card» in outgoing mail
american express «amex» is not accepted here
@ParameterizedTest @ValueSource(strings = {"«card»"}) void validCardNumbers(String pan)
billing.creditcard: "«card»"
Enter card number: «cardsp»⏎Invalid expiry
%B«card»^CUSTOMER/TEST^29011010000000000?
paypal: {"credit_card":{"type":"visa","number":"«card»","expire_year":"2030"}}
Numéro de carte bancaire : «cardsp»
charge failed for card no. «cardda»
rejected: Luhn check passed but BIN blocked for card «card»
card_holder=TEST USER;card_no=«card»;valid=0931
SELECT id FROM transactions WHERE pan LIKE '«card»';
worldpay cardNumber «card» → SOFT_DECLINE
payment_method:⏎  kind: card⏎  card_number: «cardsp»
fraud score 87 for PAN «card»
chargeback received, card «cardsp», amount EUR 49.00
>>> is_valid_card("«card»")⏎True
creditCardNumber → "«amex»"
PCI scan: 1 finding in logs/app.log:118: «card» (MasterCard)
let visa = CreditCard(number: "«card»", cvv: "000")
customer's credit card «cardda» expires 04/27
authorizenet: <cardNumber>«amex»</cardNumber>
Terminal receipt: VISA CREDIT «cardsp» AUTH 004211
""",
    "ssn": r"""
java.lang.IllegalArgumentException: SSN «ssn» is already registered
"ssn" : "«ssn»",
SSN: «ssn»⏎DOB: 1979-04-12
ssn,state⏎«ssn»,TX
ActiveRecord::RecordInvalid: Validation failed: SSN «ssn» has already been taken
<ns1:SSN>«ssn»</ns1:SSN>
SELECT * FROM applicants WHERE ssn = '«ssn»' LIMIT 1;
The applicant's Social Security Number is «ssn»
credit pull failed: social security number «ssn» is on the death master file
ITIN «itin» is expired
update employees set ssn = '«ssnbare»' where emp_id = 91;
employee record 0042: SSN=«ssn», status=terminated
W-9 Part I social security number: «ssn»
e-file reject R0000-500-01: primary SSN «ssn» does not match
spouse's SSN «ssn»
person = Person(ssn="«ssn»")
ssn=«ssn»&dob=1980-01-01
- type: SSN⏎  value: "«ssn»"
background check for SSN «ssn» returned 2 records
{"taxpayerId":{"type":"SSN","value":"«ssn»"}}
assert format_ssn("«ssnbare»") == "«ssn»"
SocialSecurityNumber: «ssnsp»
hello, my ssn is «ssn» and I cannot log in
DLP: U.S. Social Security Number detected: «ssn»
payroll.xlsx!B4 (SSN) = «ssn»
tin_type=ITIN tin=«itin»
Error: borrower.ssn: «ssn» fails checksum with bureau
setField("topmostSubform.SSN", "«ssn»");
Patient SSN on file: «ssn»
dependents: [{ relation: child, ssn: «ssn» }]
Student aid (FAFSA) SSN mismatch: «ssn»
voter.ssn → «ssn»
Keying ssn_hash failed for ssn='«ssn»'
>>> faker record: social_security «ssn»
SSN verification (SSA) failed for «ssn»
""",
    "phone": r"""
Vonage error: Non White-listed Destination - rejected, to=«e164»
"phoneNumber": "«us»",
phone.......: «uspar»
await client.verify.v2.services(sid).verifications.create({ to: '«e164»', channel: 'sms' })
you can reach me at «uspar» after 5pm
Unser Telefon im Büro: «deintl00»
Handynummer: «demob»
Festnetz: «deloc»
tel:«e164»
Tél. mobile : «frloc»
celular: «brmob»
UPDATE users SET phone='«us»' WHERE id=12;
Key (phone)=(«e164») already exists.
AWS SNS: Publish to PhoneNumber=«e164» failed: OptedOut
N:Test;;;⏎TEL;CELL:«us»⏎END:VCARD
ADMIN_PHONE: "«e164»"
UK mobile: «ukmob»
contact_phone,contact_mail⏎«inmob»,a@example.org
Phone/Fax: «us» / «us»
libphonenumber: NumberParseException for phone "«uspar»"
$customer->setTelephone('«us»');
<Telephone>«us»</Telephone>
OTP sent to mobile «e164»
smpp: submit_sm dest_addr=«msisdn» status=ESME_RINVDSTADR
wa.me link for phone number «e164»
emergency contact: mother, phone «us»
phone «usdot» ext. 42
INVITE sip:«e164»@10.1.2.7 SIP/2.0
Callback requested by caller at «uspar»
phone_e164 = "«e164»"
customer asks for a call: mobile «us»
"whatsapp_number": "«e164»"
Driver phone: «usbare»
numéro de téléphone «frintl» invalide
escalation: text the on-call engineer at «us»
""",
    "totp_seed": r"""
otpauth://totp/GitHub:‹user›?secret=«b32_16»&issuer=GitHub
$ oathtool --base32 --totp "«b32_32»" -d 6
--set auth.otp.seed=«b32_32»
totp = pyotp.parse_uri("otpauth://totp/Acme?secret=«b32_32»")
{"two_factor":{"enabled":true,"secret":"«b32_32»","type":"totp"}}
If you cannot scan the barcode, enter this authenticator key manually: «b32sp»
google-authenticator⏎Your new secret key is: «b32_26»
const secret = authenticator.generateSecret(); // totp secret «b32_16»
INSERT INTO user_mfa (user_id, totp_secret) VALUES (3, '«b32_32»');
user.totp_secret = '«b32_32»'
GoogleAuthenticator gAuth: verificationCode for key «b32_16» is 12
ROTP::Base32 secret: "«b32_32»" drifted by 60 seconds
otplib.authenticator.check(token, "«b32_32»")
aws iam enable-mfa-device … --base32-seed «b32_64»
MFA_SECRET_KEY=«b32_32»
zbarimg qr.png⏎QR-Code:otpauth://totp/vpn:‹user›?secret=«b32_32»&period=30
2fa:⏎  method: totp⏎  secret: «b32_32»
bitwarden: "login": {"username": "‹user›", "totp": "«b32_32»"}
binascii.Error: Incorrect padding while decoding TOTP secret «b32_52»
hotp_secret=«b32_32» counter=17
$ga->getCode('«b32_16»'); // 2FA secret
freeotp backup: otp secret base32 «b32_32»
keepassxc: TOTP seed «b32_32»; 30;6
ykman oath accounts uri "otpauth://totp/acme?secret=«b32_32»"
new OTPAuth.TOTP({ issuer: 'Acme', secret: '«b32_32»' })
Authenticator secret for ‹user›@example.org: «b32_32»
gitlab user otp_secret «b32_32» could not be decrypted
mfa: { totpSeed: "«b32_32»" }
OneTimePassword key (TOTP): «b32_16»
PlaywrightOTP: TOTP_SEED_ADMIN='«b32_32»'
flask-security: TOTP secret «b32_32» invalid for user
totp-cli add work acme «b32_32»
import otpauth uri otpauth://totp/x:y?algorithm=SHA1&digits=6&secret=«b32_32»
setup 2FA with secret «b32_32»
authenticator app key: «b32sp»
""",
    "jwt": r"""
HTTP 401 {"message":"jwt malformed","token":"«jwt»"}
< set-cookie: __session=«jwt»; Path=/; Secure
authorization: Bearer «jwt»⏎content-type: application/json
jose.exceptions.ExpiredSignatureError while decoding «jwt»
export SUPABASE_ACCESS_JWT=«jwt»
$ vault write auth/kubernetes/login role=app jwt=«jwt»
response: {"id_token":"«jwt»","scope":"openid"}
JWT.decode("«jwt»", nil, false)
curl -b "jwt=«jwt»" https://‹host›/admin
kubeconfig user token «jwt» is expired
apiVersion: v1⏎kind: Secret⏎stringData:⏎  token: «jwt»
private val TEST_JWT = "«jwt»"
https://‹host›/reset?token=«jwt»
sessionStorage: accessToken → «jwt»
socket.io handshake auth: { token: "«jwt»" }
x-access-token: «jwt»
expect(verify("«jwt»")).toThrow()
ERR_JWS_SIGNATURE_VERIFICATION_FAILED «jwt»
ghost admin token: Ghost «jwt»
MINIO_TOKEN «jwt» rejected
let claims = decode::<Claims>("«jwt»", &key, &validation)?;
npm_token? no, artifactory access token «jwt»
CI_JOB_JWT=«jwt»
{"event":"login","user":"‹user›","jwt":"«jwt»"}
argocd login --auth-token «jwt»
Invalid JWT '«jwt»': kid not found in JWKS
websocket upgrade wss://‹host›/feed?jwt=«jwt»
dex: oauth2 callback id_token=«jwt»
Sec-WebSocket-Protocol: bearer, «jwt»
mutation refresh($t: String = "«jwt»") { refresh(token: $t) { ok } }
openssl dgst -verify failed for token «jwt»
keycloak: client_assertion=«jwt»
token_review: status: authenticated: false, token: «jwt»
eventsource: GET /stream?access_token=«jwt» 401
[env] APP_STORE_CONNECT_JWT="«jwt»"
""",
    "high_entropy_hex": r"""
heroku config:set SECRET_KEY_BASE="«hex128»"
production:⏎  secret_key_base: «hex128»
Couldn't decrypt config/credentials.yml.enc. RAILS_MASTER_KEY was «hex32»
framework:⏎  secret: «hex32»   # symfony APP_SECRET
macaroon_secret_key: "«hex64»"
turn: { sharedSecret: "«hex64»" }
jwt.secret=«hex128»
sqlcipher> PRAGMA hexkey = '«hex64»';
openssl aes-256-cbc -d -K «hex64» -iv ‹hex32› -in backup.enc
wpa_passphrase lab⏎⇥psk=«hex64»
app.use(cookieSession({ keys: ['«hex64»'] }))
FIELD_ENCRYPTION_KEY: "«hex64»"
'env' => ['crypt' => ['key' => '«hex32»']]  // magento app/etc/env.php
$cfg['blowfish_secret'] = '«hex32»';
STRIPE_WEBHOOK_SECRET=whsec_«hex64»
Unseal Key (will be hidden): «hex66»
cookieValidationKey: '«hex32»', // yii2 secret
setkey -c <<< 'add 10.0.0.1 10.0.0.2 esp 0x201 -E aes-cbc 0x«hex64»;'
TTN device: appKey=«HEX32»
ot-ctl dataset networkkey «hex32»
secretsdump: svc_sql:1104:‹hex32›:«hex32»:::
HMAC_SECRET = bytes.fromhex('«hex64»')
masterKey: 0x«hex64»
github webhook secret = "«hex40»"
DEVISE_SECRET_KEY=«hex128»
gitlab-secrets.json: "otp_key_base": "«hex128»"
discourse: api_key secret «hex64»
AES-256 encryption key (hex) = «hex64»
oauth2-proxy --cookie-secret=«hex32»
private static final String SIGNING_SECRET = "«hex64»";
[security]⏎secret_key = «hex64»
key := mustHex("«hex64»") // session encryption key
KMS_LOCAL_SEED_SECRET=«hex64»
DATA_ENCRYPTION_KEY (DEK) in plaintext: «hex64»
api_secret: «hex48»
""",
}

CLEAN = r"""
Author: Build Bot <build@example.org>⏎Date:   Tue Nov 3 10:11:12 2026 +0000⏎⏎    Bump jsonwebtoken to 9.0.2
[main ‹hex7›] Remove hard-coded credentials
Updating ‹hex7›..‹hex7›⏎Fast-forward
pick ‹hex7› add password reset⏎squash ‹hex7› fix typo
‹hex40› refs/tags/v1.4.0^{}
‹hex40›⇥refs/heads/main
fatal: bad object ‹hex40›
error: Server does not allow request for unadvertised object ‹hex40›
^‹hex7› (Build Bot 2026-11-03 10:11:12 +0000 42) def token
blame: ‹hex8› (dev 2026-01-01 12) password = ask()
git rev-parse HEAD⏎‹hex40›
note: base commit ‹hex40› not found, using merge-base
Range-diff: 1:  ‹hex7› = 1:  ‹hex7› Hide token in logs
diff --git a/src/secrets.ts b/src/secrets.ts⏎similarity index 97%
Deleted branch fix/password-reset (was ‹hex7›).
Dropped refs/stash@{0} (‹hex40›)
tagger bot <bot@example.org> 1790000000 +0000
gitdir: /src/.git/modules/vendor/lib
pack-‹hex40›.idx is corrupt
error: inflate: data stream error⏎fatal: pack has bad object at offset ‹digits8›: inflate returned -3
Switched to a new branch 'chore/rotate-secrets'
fatal: could not read Username for 'https://git.example.test': terminal prompts disabled
fatal: could not read Password for 'https://ci@git.example.test': No such device or address
remote: error: GH013: Repository rule violations found for refs/heads/main. Push cannot contain secrets
Support for password authentication was removed. Please use a personal access token instead.
[credential]⏎    helper = osxkeychain
pre-commit: detect-private-key.............................Passed
changeset: ‹n›:‹hex12›⏎tag: tip
r‹n› | dev | 2026-11-03 10:11:12 +0000 | 1 line
warning: field `api_key` is never read⏎  --> src/config.rs:9:5
error[E0599]: no method named `expose_secret` found for struct `String` in the current scope
error[E0382]: borrow of moved value: `token`
error[E0433]: failed to resolve: use of undeclared crate or module `hmac`
   Compiling password-hash v0.5.0
warning: `shop` (lib) generated 3 warnings (run `cargo fix --lib -p shop` to apply)
source = "registry+https://crates.example.test/index"⏎checksum = "‹hex64›"
{"rev":"‹hex40›","crate":"ed25519-dalek"}
"$message_type":"artifact","artifact":"/t/debug/deps/libring-‹hex16›.rmeta"
thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: NotPresent', src/main.rs:7:42 // std::env::var("API_TOKEN")
assertion `left == right` failed⏎  left: "‹hex64›"⏎ right: "‹hex64›" // sha256 of fixture
rustc --crate-name shop --edition=2021 -C metadata=‹hex16› -C extra-filename=-‹hex16›
Executable unittests src/lib.rs (target/debug/deps/shop-‹hex16›)
insta: Snapshot Summary: login__wrong_password.snap.new
match token { Token::Plus => self.add(), Token::Minus => self.sub(), _ => None }
let secret = Secret::new(std::fs::read_to_string("/run/secrets/key")?);
#[serde(skip_serializing)] password: String,
#[arg(long, env = "API_KEY", hide_env_values = true)] api_key: String,
pub fn verify(token: &Token, key: &PublicKey) -> Result<Claims, Error>
const TOKEN_LEN: usize = 32;
tokio::spawn(async move { refresh_token(client).await })
impl fmt::Debug for Password { fn fmt(&self, f: &mut Formatter) -> fmt::Result { f.write_str("***") } }
miri: error: Undefined Behavior: dereferencing pointer at alloc‹digits6›
wasm-bindgen: export `__wbg_token_free` not found
  /lodash@4.17.21:⏎    resolution: {integrity: sha512-‹b64_88›}⏎    dev: true
"node_modules/jose": {⏎      "version": "5.2.4",⏎      "integrity": "sha512-‹b64_88›",
pnpm-lock.yaml is not up to date with package.json (specifiers don't match: "dotenv": "^16.4.5")
    "lodash": ["lodash@4.17.21", "", {}, "sha512-‹b64_88›"],
error: integrity check failed for tarball: left-pad, expected sha1-‹b64_28›
npm notice shasum:        ‹hex40›
npm notice integrity:     sha512-‹b64n13›[...]‹b64n13›==
npm audit: jsonwebtoken <=8.5.1 Severity: moderate - GHSA-hjrf-2m68-5959
npm ERR! code ENEEDAUTH⏎npm ERR! need auth This command requires you to be logged in to https://npm.example.test/
npm token list
(node:‹n›) [DEP0182] DeprecationWarning: Short GCM authentication tags are deprecated
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
SyntaxError: Unexpected token u in JSON at position 0
ReferenceError: apiKey is not defined⏎    at file:///app/src/client.mjs:4:17
TypeError: Cannot read properties of undefined (reading 'accessToken')
UnhandledPromiseRejection: Error: secretOrPrivateKey must have a value
/app/.next/static/chunks/pages/login-‹hex16›.js
/app/node_modules/.vite/deps/chunk-‹up8›.js?v=‹hex8›
/app/node_modules/.pnpm/next@14.2.3_‹low26›/node_modules/next/dist/server/lib/start-server.js
Error: Minified React error #418; visit https://react.example.org/errors/418
<link rel="modulepreload" crossorigin href="/assets/vendor-‹mixed8›.js">
<meta name="csp-nonce" content="{{ nonce }}">
import styles from './Password.module.css'; // Password_input__‹mixed5›
._1‹mixed5›_12 { display: grid }
src: url(/fonts/inter.‹hex8›.woff2) format("woff2");
workbox precache: {url: "/index.html", revision: "‹hex32›"}
next-env: Loaded env from /app/.env.local
const { data } = useSWR(token ? ['/api/me', token] : null, fetcher);
export const authOptions = { secret: process.env.NEXTAUTH_SECRET };
z.object({ email: z.string().email(), password: z.string().min(12) })
res.cookie('token', token, { httpOnly: true, secure: true });
const hash = crypto.createHash('sha256').update(password).digest('hex');
useState<string>(''); // password
logger.info({ password: '[Redacted]' }, 'login attempt');
throw new UnauthorizedException('Invalid token');
app.post('/login', passport.authenticate('local', { failureRedirect: '/login' }))
axios.defaults.headers.common['Authorization'] = `Bearer ${token}`;
describe('ApiKeyGuard', () => {
cy.get('[data-test=password]').type(Cypress.env('PASSWORD'), { log: false })
playwright: locator.fill: Timeout 30000ms exceeded. waiting for getByLabel('Password')
eslint: 12:7  error  'refreshToken' is assigned a value but never used  @typescript-eslint/no-unused-vars
prettier: [warn] src/auth/apiKey.ts
  File "/usr/lib/python3.12/site-packages/jwt/api_jwt.py", line 210, in decode⏎jwt.exceptions.DecodeError: Not enough segments
jwt.exceptions.ExpiredSignatureError: Signature has expired
NameError: name 'password' is not defined
sqlalchemy.exc.ProgrammingError: (psycopg.errors.UndefinedColumn) column users.api_token does not exist
RuntimeError: The session is unavailable because no secret key was set. Set the secret_key on the application
TypeError: __init__() missing 1 required positional argument: 'api_key'
botocore.exceptions.NoCredentialsError: Unable to locate credentials
paramiko.ssh_exception.PasswordRequiredException: Private key file is encrypted
cryptography.exceptions.InvalidSignature
cryptography.fernet.InvalidToken
smtplib.SMTPAuthenticationError: (535, b'5.7.8 Error: authentication failed:')
huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-‹hex8›-‹hex24›;‹uuid›)
Special tokens have been added in the vocabulary, make sure the associated word embeddings are fine-tuned or trained.
UserWarning: Token indices sequence length is longer than the specified maximum sequence length for this model (2048 > 1024)
~/.cache/huggingface/hub/models--gpt2/snapshots/‹hex40›/config.json
wandb: Run data is saved locally in ./wandb/run-20261103_101112-‹low8›
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
GPU 0: NVIDIA H100 (UUID: GPU-‹uuid›)
eos_token_id=50256, pad_token_id=50257
{"model":"gpt-4o","usage":{"prompt_tokens":812,"completion_tokens":96,"total_tokens":908}}
openai.RateLimitError: Error code: 429 - Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000
poetry.lock: {file = "attrs-23.2.0-py3-none-any.whl", hash = "sha256:‹hex64›"}
Pipfile.lock: "sha256": "‹hex64›"
uv.lock: sdist = { url = "https://files.example.test/a.tar.gz", hash = "sha256:‹hex64›", size = 12345 }
conda: numpy-1.26.4-py312h‹hex7›_0
    sha256: ‹hex64›⏎    md5: ‹hex32›
pytest: tmp_path = PosixPath('/tmp/pytest-of-ci/pytest-‹n›/test_token0')
============================= test session starts =============================⏎collected 88 items / 1 error
ruff: S105 Possible hardcoded password assigned to: "password" (src/a.py:4)
bandit: Issue: [B106:hardcoded_password_funcarg] Severity: Low  Location: ./app/db.py:12
app.config["SECRET_KEY"] = os.environ.get("SECRET_KEY")
conn = psycopg2.connect(host=cfg.host, user=cfg.user, password=cfg.password)
if not hmac.compare_digest(expected, given): abort(403)
keyring.set_password("acme", user, password)
class Token(BaseModel): access_token: str; token_type: str
def authenticate(username: str, password: str) -> User | None:
assert "password" not in caplog.text
parser.add_argument("--api-key", help="API key (or set ACME_API_KEY)")
os.environ.pop("AWS_SECRET_ACCESS_KEY", None)
org.springframework.beans.factory.UnsatisfiedDependencyException: Error creating bean with name 'passwordEncoder'
io.jsonwebtoken.security.WeakKeyException: The specified key byte array is 56 bits which is not secure enough
java.io.IOException: keystore password was incorrect⏎Caused by: java.security.UnrecoverableKeyException: failed to decrypt safe contents entry
javax.crypto.BadPaddingException: Given final block not properly padded. Such issues can arise if a bad key is used during decryption.
2026-11-03 10:11:12.345  INFO 1 --- [main] o.s.s.web.DefaultSecurityFilterChain: Will secure any request with [BearerTokenAuthenticationFilter]
Using generated security password: (hidden)
	at java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1144)
spring.security.oauth2.client.registration.okta.client-secret=${OKTA_CLIENT_SECRET}
private final PasswordEncoder encoder = new BCryptPasswordEncoder();
public record LoginRequest(String username, String password) {}
@ToString.Exclude private String secret;
System.getProperty("javax.net.ssl.keyStorePassword")
final String token = request.getHeader("X-Auth-Token");
org.hibernate.SQL: select u.id,u.password from users u where u.email=?
Alias name: server⏎Entry type: PrivateKeyEntry⏎Certificate chain length: 2
Owner: CN=example.org⏎Serial number: ‹hex16›⏎Valid from: Tue Nov 03 10:11:12 UTC 2026
         SHA256: ‹colonHEX32›
kotlinc: warning: parameter 'token' is never used
Execution failed for task ':app:validateSigningRelease'. > Keystore file '/app/release.jks' not found for signing config 'release'.
> Could not find method storePassword() for arguments [null]
gradle-8.7-bin/‹low25›/gradle-8.7
scala: value password is not a member of com.acme.User
[error] sbt.librarymanagement.ResolveException: unresolved dependency: com.github.jwt-scala#jwt-core_3;10.0.0
ch.qos.logback: %mask{password} pattern active
AndroidRuntime: FATAL EXCEPTION: main Process: com.acme.shop, PID: ‹n›
adb: error: failed to get feature set: device '‹HEX12›' not found
E/FirebaseMessaging: Failed to get FIS auth token
I/flutter ( ‹n›): ══╡ EXCEPTION CAUGHT BY WIDGETS LIBRARY ╞══
TextFormField(obscureText: true, decoration: InputDecoration(labelText: 'Password'))
final token = await storage.read(key: 'access_token');
panic: open /run/secrets/db_password: no such file or directory
fatal error: all goroutines are asleep - deadlock!⏎⏎goroutine 1 [select]:
	/go/src/app/token.go:31 +0x‹hex3›
main.handler(0xc0000b‹hex4›, 0x‹hex2›)
# example.test/shop/auth⏎./jwt.go:12:6: missing return
go.sum: golang.org/x/oauth2 v0.19.0 h1:‹b64_44›
SECURITY ERROR⏎This download does NOT match an earlier download recorded in go.sum.
cfg.Password = strings.TrimSpace(string(b))
if subtle.ConstantTimeCompare([]byte(a), []byte(b)) != 1 { return ErrBadToken }
return fmt.Errorf("parse token: %w", err)
bcrypt.CompareHashAndPassword(hash, []byte(password))
http: TLS handshake error from 10.1.2.7:51022: remote error: tls: bad certificate
golangci-lint: G101: Potential hardcoded credentials (gosec)
staticcheck: const apiKeyHeader is unused (U1000)
** (Mix) Could not compile dependency :bcrypt_elixir
** (KeyError) key :secret_key_base not found in: [url: [host: "localhost"]]
"jason": {:hex, :jason, "1.4.1", "‹hex64›", [:mix], [], "private", "‹hex64›"},
#PID<0.‹n3›.0> running ShopWeb.Endpoint terminated
secret_key_base: System.fetch_env!("SECRET_KEY_BASE"),
iex> :crypto.strong_rand_bytes(32) |> Base.encode64()
ghc: • Couldn't match expected type ‘Token’ with actual type ‘[Char]’
stack: resolver: lts-22.18⏎sha256: ‹hex64›⏎size: 712153
opam: [ERROR] The sources of package jwto could not be obtained: bad checksum, expected md5=‹hex32›
Error in library(httr2) : there is no package called ‘httr2’
Julia: git-tree-sha1 = "‹hex40›"⏎uuid = "‹uuid›"
Can't locate Crypt/JWT.pm in @INC (you may need to install the Crypt::JWT module)
lua: attempt to index a nil value (global 'token')
NoMethodError (undefined method `password=' for #<User:0x0000‹hex12›>)
Devise::Mapping: mapping for :admin_user not found
Processing by SessionsController#create as HTML⏎  Parameters: {"authenticity_token"=>"[FILTERED]"}
Started POST "/users/password" for 10.1.2.7 at 2026-11-03 10:11:12 +0000
PLATFORMS⏎  x86_64-linux⏎DEPENDENCIES⏎  jwt⏎  rack-attack
ActiveSupport::EncryptedFile::MissingKeyError: Missing encryption key to decrypt file with. Ask your team for your master key
validates :password, length: { minimum: 12 }
Rails.application.credentials.dig(:aws, :secret_access_key)
rubocop: Style/HashSyntax: Use the new Ruby 1.9 hash syntax. :password => pw
PHP Warning:  Undefined array key "api_token" in /app/src/Login.php on line 22
In EncryptCookies.php line 44: The MAC is invalid. (DecryptException)
composer.lock: "dist": {"type": "zip", "reference": "‹hex40›", "shasum": ""}
Symfony\Component\DependencyInjection\Exception\EnvNotFoundException: Environment variable not found: "APP_SECRET".
'secret' => $_ENV['APP_SECRET'],
phpstan: Parameter #1 $password of function password_verify expects string, string|null given.
<?php echo csrf_field(); ?>
wp-config: define( 'AUTH_KEY', getenv('AUTH_KEY') );
Deprecated: Function mcrypt_encrypt() is deprecated
warning CS8618: Non-nullable property 'Password' must contain a non-null value when exiting constructor.
Microsoft.Data.SqlClient.SqlException (0x80131904): Login failed for user 'app'. ClientConnectionId:‹uuid›
   at Acme.Auth.TokenService.Issue(User user) in /src/Auth/TokenService.cs:line 61
<AssemblyOriginatorKeyFile>acme.snk</AssemblyOriginatorKeyFile>
"Microsoft.AspNetCore.App/8.0.4": { "sha512": "sha512-‹b64_88›" }
options.Password.RequiredLength = 12;
builder.Configuration.AddUserSecrets<Program>();
[Authorize(AuthenticationSchemes = JwtBearerDefaults.AuthenticationScheme)]
HRESULT: 0x8007052E The user name or password is incorrect.
Get-Credential -UserName admin -Message "Enter the password"
$password = Read-Host -AsSecureString "Password"
PS C:\> (Get-FileHash .\setup.exe).Hash⏎‹HEX64›
EventID 4625: An account failed to log on. Security ID: S-1-5-21-‹digits10›-‹digits10›-‹digits9›-1001
{‹HEX8›-‹HEX4›-‹HEX4›-‹HEX4›-‹HEX12›}
Faulting module path: C:\Windows\System32\ntdll.dll⏎Report Id: ‹uuid›
CertUtil: -hashfile command completed successfully. ‹hex64›
Thumbprint: ‹HEX40›
Segmentation fault (core dumped)⏎#0  0x0000‹hex12› in EVP_DecryptFinal_ex () from /lib/libcrypto.so.3
token.h:14:8: error: redefinition of 'struct token'
AddressSanitizer: SUMMARY: heap-buffer-overflow /src/base64.c:51 in b64_decode
    Build ID: ‹hex40›
valgrind: ==‹n›== Invalid read of size 8 at 0x‹hex8›: parse_key (conf.c:81)
note: candidate: 'Token::Token(const std::string&)'
if (strcmp(password, stored) != 0) return -1;
#define API_KEY_MAX 128
memset(secret, 0, sizeof secret);
static const char *kPrompt = "Password: ";
objdump: 00000000004‹hex5› <get_token>:
error: no such module 'KeychainAccess'
SecItemCopyMatching returned -25300 (errSecItemNotFound)
let password = try Keychain.get("acme.password")
error: Signing for "App" requires a development team. Select a development team in the Signing & Capabilities editor.
    Signing Identity:     "Apple Development: Dev Team (‹up10›)"
"state": {"revision": "‹hex40›", "version": "1.5.4"}
CodeResources hash2: ‹b64_44›
Step 4/9 : RUN echo "no secrets here"⏎ ---> Running in ‹hex12›
ERROR: failed to register layer: Error processing tar file(exit status 1): archive/tar: invalid tar header
manifest for registry.example.test/shop@sha256:‹hex64› not found: manifest unknown
exporting layers done⏎ => writing image sha256:‹hex64›
COPY --from=build /app/dist /usr/share/nginx/html
buildx: importing cache manifest from registry.example.test/shop:cache => sha256:‹hex64›
{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:‹hex64›","size":32654}
podman: Error: short-name "shop" did not resolve to an alias
WARNING! Using --password via the CLI is insecure. Use --password-stdin.
Login Succeeded
services.db.environment.POSTGRES_PASSWORD must be a string, number or null
network ‹hex64› not found
Error: No such container: ‹hex12›
docker secret ls⏎ID                          NAME          CREATED⏎‹low25›   db_password   3 weeks ago
swarm node ‹low25› is down
trivy: usr/lib/libssl.so.3 CVE-2024-0727 MEDIUM; Secrets: 0
cosign: Verified OK; tlog index ‹digits8›, digest sha256:‹hex64›
Warning  FailedMount  MountVolume.SetUp failed for volume "token" : secret "ci-token-‹low5›" not found
deployment.apps/auth configured⏎secret/db unchanged
ownerReferences:⏎- kind: ReplicaSet⏎  name: auth-‹hex10›⏎  uid: ‹uuid›
pod-template-hash: ‹hex10›
envFrom:⏎- secretRef:⏎    name: shop-env
kubectl create secret generic db --from-file=password=./pw.txt
type: kubernetes.io/dockerconfigjson
data:⏎  password: <base64-encoded value>
Error from server (NotFound): secrets "tls-cert" not found
x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error")
Unable to connect to the server: getting credentials: exec: executable aws failed with exit code 255
certificate-authority-data: DATA+OMITTED⏎client-key-data: REDACTED
argocd app get shop: Sync Revision: ‹hex40›
ExternalSecret "db": SecretSyncedError: could not get secret data from provider
sealedsecret.bitnami.com/db created
istio-proxy: upstream connect error or disconnect/reset before headers. x-request-id: ‹uuid›
cert-manager: Issuing certificate as Secret does not exist secretName=tls
etcdserver: request timed out, member ‹hex16›
kubelet: failed to get sandbox "‹hex64›" status
helm: Error: template: app/templates/deploy.yaml:31: nil pointer evaluating interface {}.password
values.yaml: existingSecret: "" # name of a secret that has the key `password`
auth:⏎  existingSecret: redis-auth⏎  existingSecretPasswordKey: password
cilium endpoint ‹n› identity ‹digits5›
Plan: 3 to add, 1 to change, 0 to destroy.
  ~ secret_string = (sensitive value)
data.aws_secretsmanager_secret_version.db: Reading...
Error: Reference to undeclared input variable "github_token"
  # module.db.random_password.this will be created⏎  + length = 32⏎  + result = (sensitive value)
output "db_password" { value = random_password.db.result  sensitive = true }
Error: error configuring Terraform AWS Provider: failed to refresh cached credentials, no EC2 IMDS role found
provider["registry.example.test/hashicorp/aws"] 5.46.0 h1:‹b64_44›
etag = "‹hex32›"
ami = "ami-‹hex17›"
vpc_security_group_ids = ["sg-‹hex17›"]
pulumi: error: Missing required configuration variable 'shop:dbPassword'
pulumi: urn:pulumi:prod::shop::aws:s3/bucket:Bucket::web-‹hex7›
cdk: Resource handler returned message: "Secret already exists" (RequestToken: ‹uuid›, HandlerErrorCode: AlreadyExists)
cdk asset ‹hex64›.zip uploaded
An error occurred (UnrecognizedClientException) when calling the ListTables operation: The security token included in the request is invalid.
An error occurred (InvalidSignatureException): Signature expired: 20261103T101112Z is now earlier than 20261103T102012Z
SSO session has expired or is invalid. To refresh this SSO session run aws sso login
{"UserId":"AIDA‹up16›","Account":"‹digits12›"}
"KeyId": "‹uuid›", "KeyState": "PendingDeletion"
"SecretARN": "arn:aws:secretsmanager:eu-west-1:‹digits12›:secret:db-‹mixed6›"
LogStream: 2026/11/03/[$LATEST]‹hex32›
START RequestId: ‹uuid› Version: $LATEST
cloudfront distribution E‹up13› is InProgress
hosted zone Z‹up20› has no record
eni-‹hex17› is in use
vpce-‹hex17› rejected
snap-‹hex17› completed
d-‹hex10›.awsapps.test
route53 change C‹up20› PENDING
cognito pool eu-west-1_‹mixed9› user is not confirmed
x-amzn-trace-id: Root=1-‹hex8›-‹hex24›;Sampled=1
codebuild:⏎  env:⏎    secrets-manager:⏎      DB_PASSWORD: prod/db:password
gcloud secrets versions access latest --secret=db-password
ERROR: (gcloud.auth.login) There was a problem with web authentication. Try running again with --no-launch-browser.
"uniqueId": "1‹digits20›", "email": "ci@acme.iam.gserviceaccount.com"
"etag": "BwX‹mixed8›="
bigquery job acme:EU.bquxjob_‹hex8›_19‹hex9› failed
gke-prod-pool-1-‹hex8›-‹low4› NotReady
gs://acme-builds/source/17‹digits8›.‹digits6›-‹hex32›.tgz
google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found.
x-cloud-trace-context: ‹hex32›/‹digits19›;o=1
az: 'login' credentials have expired due to inactivity. Trace ID: ‹uuid›
/providers/Microsoft.Authorization/roleAssignments/‹uuid›
"principalId": "‹uuid›", "type": "SystemAssigned"
Azure.Identity.CredentialUnavailableException: DefaultAzureCredential failed to retrieve a token from the included credentials.
keyvault: SecretNotFound: A secret with (name/id) db-password was not found in this key vault.
x-ms-version: 2023-01-03⏎x-ms-client-request-id: ‹uuid›
"clientSecret": "$(AZURE_CLIENT_SECRET)"
azd env set AZURE_SUBSCRIPTION_ID ‹uuid›
psql:dump.sql:12: ERROR:  role "app" does not exist
FATAL:  no pg_hba.conf entry for host "10.1.2.7", user "app", database "shop", SSL off
HINT:  No function matches the given name and argument types: gen_random_bytes(integer)
DETAIL:  Key (email)=(x@example.org) already exists.
CREATE INDEX sessions_token_hash_idx ON sessions USING btree (token_hash);
COPY public.api_keys (id, name, created_at) FROM stdin;
GRANT USAGE ON SCHEMA secrets TO reader;
\password app
local   all   all   scram-sha-256
SELECT pg_read_file('postgresql.conf') LIKE '%password_encryption%';
CREATE USER MAPPING FOR app SERVER s OPTIONS (user :'u', password :'p');
ERROR 1819 (HY000): Your password does not satisfy the current policy requirements
[Warning] [MY-010055] 'mysql_native_password' is deprecated
[ERROR] Can't open and lock privilege tables: Table 'mysql.user' doesn't exist
gtid_executed: ‹uuid›:1-‹n›
SET PASSWORD FOR CURRENT_USER() = PASSWORD(@new);
ORA-28001: the password has expired
MongoParseError: Password contains unescaped characters
{"t":{"$date":"2026-11-03T10:11:12.345Z"},"s":"I","c":"ACCESS","id":20249,"msg":"Authentication failed"}
E11000 duplicate key error collection: shop.users index: token_1 dup key: { token: null }
ClusterTime: Timestamp(17‹digits8›, 1) hash: BinData(0, "AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
127.0.0.1:6379> CONFIG GET requirepass⏎1) "requirepass"⏎2) ""
MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.
run_id:‹hex40›
master_replid:‹hex40›
Code: 516. DB::Exception: default: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)
CqlTraceException: ‹uuid› trace not found
kafka: SASL authentication failed: client is not authorized, mechanism PLAIN
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="app" password="${KAFKA_PASSWORD}";
consumer-group member id consumer-orders-1-‹uuid› left
airflow.exceptions.AirflowNotFoundException: The conn_id `prod_db` isn't defined
spark: Stage 3.0 (TID ‹n›) app-20261103101112-‹n›
dag_id=sync run_id=scheduled__2026-11-03T00:00:00+00:00 map_index=-1
jdbc:postgresql://{{ db_host }}:5432/{{ db_name }}
DATABASE_URL=postgres://USER:PASSWORD@HOST:PORT/NAME
amqp://<user>:<password>@rabbit:5672
sqlite:///./dev.db
mongodb+srv://<username>:<password>@cluster0.example.org/test
bolt://localhost:7687
clickhouse://ch.internal:9000/default
{"ts":17‹digits8›.‹digits3›,"logger":"auth","msg":"login failed","request_id":"‹uuid›","reason":"bad password"}
dd.trace_id=‹digits19› dd.span_id=‹digits18›
otel: exporter timeout trace_id=‹hex32› span_id=‹hex16› trace_flags=01
uber-trace-id: ‹hex16›:‹hex16›:0:1
sentry event ‹hex32› captured
X-Sentry-Trace: ‹hex32›-‹hex16›-1
newrelic: transaction guid ‹hex16› dropped
time="2026-11-03T10:11:12Z" level=warning msg="token is about to expire" ttl=59s accessor=redacted
nginx: 10.1.2.7 - - [03/Nov/2026:10:11:12 +0000] "POST /oauth/token HTTP/1.1" 401 58 "-" "curl/8.5.0"
haproxy: backend auth has no server available!
caddy: {"level":"error","logger":"tls.obtain","msg":"could not get certificate from issuer"}
http_requests_total{path="/password/reset",code="429"} ‹n›
ALERT TokenExpiryImminent labels: {fingerprint="‹hex16›"}
X-Fastly-Request-ID: ‹hex40›
X-Amz-Cf-Pop: FRA56-P4⏎X-Cache: Miss from cloudfront
Age: 312⏎ETag: "‹hex8›-‹hex3›"⏎Last-Modified: Tue, 03 Nov 2026 10:11:12 GMT
Strict-Transport-Security: max-age=63072000; includeSubDomains; preload
Repr-Digest: sha-256=:‹b64_44›:
Public-Key-Pins: pin-sha256="‹b64_44›"; max-age=5184000
Proxy-Authenticate: Negotiate
Vary: Authorization, Cookie
Authorization: Bearer {{access_token}}
Authorization: AWS4-HMAC-SHA256 Credential=<access-key>/20261103/us-east-1/s3/aws4_request
authorization: [REDACTED]
Cookie: [filtered]
X-Api-Key: ${env:API_KEY}
curl -H "Authorization: Bearer $(gcloud auth print-access-token)" https://run.example.test/
wget --user="$U" --ask-password https://example.org/f
http --auth-type=bearer --auth="$TOKEN" GET :8000/me
grpc: code = Unauthenticated desc = missing bearer token
GET https://api.example.org/v1/users?api_key=[FILTERED] 403
{"error":"invalid_client","error_description":"Client authentication failed","error_uri":"https://example.org/e"}
{"error":{"code":"InvalidAuthenticationToken","innerError":{"request-id":"‹uuid›"}}}
openapi: securitySchemes:⏎  bearerAuth:⏎    type: http⏎    scheme: bearer
type Mutation { login(email: String!, password: String!): AuthPayload! }
rpc RotateKey(RotateKeyRequest) returns (RotateKeyResponse);
string password = 2 [(validate.rules).string.min_len = 12];
systemd[1]: Starting OpenBSD Secure Shell server (InvocationID=‹hex32›)
Nov  3 10:11:12 web sudo:   deploy : 3 incorrect password attempts ; TTY=pts/0 ; PWD=/srv ; USER=root ; COMMAND=/bin/ls
sshd[‹n›]: Connection closed by authenticating user root 10.1.2.7 port 40122 [preauth]
debug1: identity file /home/dev/.ssh/id_ed25519 type 3
debug1: Server host key: ssh-ed25519 SHA256:‹b64n43›
256 SHA256:‹b64n43› deploy@ci (ED25519)
+--[ED25519 256]--+⏎|      .o=*B       |
no matching host key type found. Their offer: ssh-rsa,ssh-dss
sign_and_send_pubkey: signing failed for ED25519 "/home/dev/.ssh/id_ed25519" from agent: agent refused operation
Add correct host key in /root/.ssh/known_hosts to get rid of this message. Offending ECDSA key in /root/.ssh/known_hosts:12
ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBB‹b64n86›= ci@build
sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t‹b64n64› yubikey
machine-id: ‹hex32›
UUID=‹uuid› /boot ext4 defaults 0 2
/dev/mapper/cryptroot: UUID="‹uuid›" TYPE="crypto_LUKS"
No key available with this passphrase.
gpg: key ‹HEX16›: public key "Release Bot <release@example.org>" imported
gpg: decryption failed: No secret key
gpg: signing failed: Inappropriate ioctl for device
sub   rsa4096/‹HEX16› 2026-01-01 [E]
rpm: Header V4 RSA/SHA256 Signature, key ID ‹hex8›: NOKEY
-----BEGIN CERTIFICATE-----⏎MIIDdzCCAl+gAwIBAgIE‹b64n44›⏎‹b64n64›⏎-----END CERTIFICATE-----
-----BEGIN PGP PUBLIC KEY BLOCK-----⏎⏎mDMEZ‹b64n59›⏎-----END PGP PUBLIC KEY BLOCK-----
subject=CN = *.example.org⏎issuer=C = US, O = Example CA, CN = R3
        X509v3 Authority Key Identifier: ‹colonHEX20›
Enter PEM pass phrase:
openssl: error:0480006C:PEM routines::no start line:Expecting: ANY PRIVATE KEY
ssl_certificate_key "/etc/ssl/k.pem" is not readable
SSL_ERROR_SYSCALL, errno 104 in connection to api.example.org:443
wg: interface: wg0⏎  public key: ‹b64_44›⏎  private key: (hidden)⏎  listening port: 51820
peer: ‹b64_44›⏎  allowed ips: 10.8.0.3/32
[Peer]⏎PublicKey = ‹b64_44›⏎Endpoint = vpn.example.org:51820
mail._domainkey IN TXT ( "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC‹b64n176›IDAQAB" )
_acme-challenge.example.org. 60 IN TXT "‹url43›"
example.org. IN DS ‹n› 13 2 ‹HEX64›
dovecot: auth: passwd-file(x@example.org): unknown user
DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=mail; bh=‹b64_44›; b=‹b64_88›
In-Reply-To: <‹mixed22›@mail.example.org>
X-Mailer: sendmail⏎X-Spam-Status: No, score=-1.9
450 4.7.1 Client host rejected: cannot find your hostname; queue id ‹HEX10›
Subject: Your password was changed
Hi, you asked to reset your password. If this was not you, ignore this mail.
::error file=src/auth.ts,line=3::Secret API_KEY is not set for this environment
uses: docker/login-action@‹hex40› # v3.1.0
with:⏎  username: ${{ github.actor }}⏎  password: ${{ secrets.REGISTRY_TOKEN }}
permissions:⏎  id-token: write⏎  contents: read
Run ID: ‹digits11›, attempt 2, sha ‹hex40›
Cache not found for input keys: node-‹hex64›
Artifact deploy.zip has been successfully uploaded! Artifact ID ‹digits10›. SHA256 digest of uploaded artifact zip is ‹hex64›
ERROR: Job failed: prepare environment: exit status 1. Check https://docs.example.test/runner/shells for more information
Running with gitlab-runner 16.11.0 (‹hex8›)⏎  on shared-1 ‹url8›, system ID: s_‹hex12›
variables:⏎  DEPLOY_TOKEN: $DEPLOY_TOKEN
[Pipeline] withCredentials⏎[Pipeline] // withCredentials
credentialsId: 'nexus-deploy'
stage('Login') { sh 'docker login -u $USER --password-stdin < $PASS_FILE' }
secret: !Ref DbSecret
drone: secret: registry_password: cannot find secret
travis_fold:start:secrets
renovate: config.migrated hostRules token => **redacted**
PLAY RECAP ***⏎web1 : ok=12 changed=3 unreachable=0 failed=1
fatal: [db1]: UNREACHABLE! => {"msg": "Invalid/incorrect password: Permission denied, please try again."}
ansible.cfg: vault_password_file = ~/.vault_pass
no_log: true  # contains credentials
$ANSIBLE_VAULT;1.1;AES256
chef: data bag secret file /etc/chef/encrypted_data_bag_secret not found
puppet: Error: Could not request certificate: the certificate retrieved from the master does not match the agent's private key
salt: minion key for 'web1' is pending; fingerprint ‹colonhex32›
# Copy to .env and fill in⏎OPENAI_API_KEY=sk-...⏎GITHUB_TOKEN=ghp_...
JWT_SECRET=please-change-me
PASSWORD=<your password here>
SMTP_PASSWORD=
api_key = "YOUR-API-KEY-HERE"
"apiKey": "INSERT_YOUR_KEY",
secretKey: '***'
DB_PASS=$(cat /run/secrets/db)
AWS_SECRET_ACCESS_KEY: ${{ secrets.AWS_SECRET_ACCESS_KEY }}
TOKEN="${1:?usage: deploy.sh TOKEN}"
password: "{{ .Env.PASSWORD }}"
client_secret: ENC[AES256_GCM,data:REDACTED,type:str]
passwordFile: /etc/borg/passphrase
password_hash_algorithm: argon2id
auth_token_ttl: 3600
keyboard_layout: de
key_rotation_days = 90
foreign_key: user_id
token_limit = 8192
secretName: wildcard-tls
"secret": false,
authToken: undefined
password_policy:⏎  min_length: 14⏎  require_symbols: true
oauth_callback: /auth/callback
ssh_private_key_path: ~/.ssh/deploy
encryption: { algorithm: AES-256-GCM, kms: true }
privateKeyFile=/etc/pki/tls/private/app.pem
The password must contain at least one upper-case letter and one digit.
Never share your recovery phrase with anybody.
Your session has timed out, please log in again.
A token is a unit of text; one token is about four characters.
The seed for the random generator was fixed to make the test repeatable.
Ask ops for the VPN password; it is not written down here.
If you lose the private key, the funds cannot be recovered.
Rotate the signing key before the certificate expires.
// TODO: encrypt the refresh token at rest
# never commit real keys; see docs/secrets.md
docs(security): describe how API keys are hashed
refactor: rename SecretKey to SigningKey
chore(deps): bump golang-jwt from 5.2.0 to 5.2.1
test: cover wrong password and locked account
BREAKING CHANGE: tokens issued before 3.0 are no longer accepted
msgstr "Le mot de passe est trop court"
"login.password.placeholder": "Ihr Passwort"
<label for="pw">Passwort</label>
<TextField label="API key" type="password" autoComplete="off" />
errors.invalid_token=The link has expired
placeholder: 'pk_live_… or pk_test_…'
while let Some(token) = lexer.next() {
switch (token.type) { case TokenType.STRING: return this.string(); }
private async getAccessToken(): Promise<string> {
def token_expired?(token) = token.expires_at < Time.now
const isSecret = (name) => /token|secret|password/i.test(name);
secret = Secret.from_name("db")
password = kwargs.pop("password", None)
val (user, password) = credentials ?: return
export DATABASE_URL="$(pass show db/url)"
security find-generic-password -s acme -w
secret-tool lookup service acme
TOKEN=$(jq -r .access_token < token.json)
set +x  # do not print the token
echo "password: ${PASSWORD:0:2}***"
vault kv get -mount=secret db⏎== Secret Path ==⏎secret/data/db
Unseal Progress    1/3⏎Unseal Nonce       ‹uuid›
token_accessor     redacted⏎token_policies     ["default"]
age: error: no identities specified
sops: lastmodified: "2026-11-03T10:11:12Z"⏎pgp: []⏎version: 3.8.1
recipients: - age1‹low58›
eth_getLogs topics: ["0x‹hex64›"]
nonce too low: address 0x‹hex40›, tx: 12 state: 14
0x‹hex40› is not the owner of token #‹n›
transactionHash: '0x‹hex64›', gasUsed: ‹digits6›
verifyingContract: "0x‹hex40›"
hardhat: Contract 0x‹hex40› has not been verified yet
txid ‹hex64›:0 is already spent
bc1p‹low58› received 0.01 BTC
Merkle root ‹hex64› does not match
solana: Error: AccountNotFound: pubkey=‹sol_pub›
Program log: mint ‹sol_pub› supply 1000000
signature ‹sol_sig› was not confirmed in 30.00 seconds
ipns: /ipns/k51qzi5uqu5d‹low50› could not resolve
cosmosvaloper1‹low38› jailed
cid: bafkrei‹low52›
swarm: dial /ip4/10.1.2.7/tcp/4001/p2p/12D3KooW‹b58_44›: i/o timeout
Torrent: magnet:?xt=urn:btih:‹hex40›&dn=ubuntu.iso
uuid: "‹uuid›", name: "Living room lamp"
snapshot ‹hex8› saved
restic: repository ‹hex10› opened (version 2, compression level auto)
borg: Archive fingerprint: ‹hex64›
rsync error: some files/attrs were not transferred (code 23) at main.c(1338)
dedupe: chunk ‹hex64› referenced 3 times
MD5 (app.zip) = ‹hex32›
SHA2-256(app.tar.gz)= ‹hex64›
B2SUM ‹hex128›  app.img
xxh64: ‹hex16›  data.bin
{ pkgs ? import (fetchTarball { url = "https://nix.example.test/x.tar.gz"; sha256 = "‹low52›"; }) {} }
error: builder for '/nix/store/‹low32›-shop-1.0.drv' failed with exit code 1
bazel: remote cache: 404 for /ac/‹hex64›
ccache: result key ‹low30›
guix: hash ‹low52› is invalid
flatpak: Commit: ‹hex64›
vendorHash = "sha256-‹b64_44›";
Homebrew: ==> Downloading https://dl.example.test/blobs/sha256:‹hex64›
data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7
data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=
base64 -d <<< aGVsbG8gd29ybGQK
"sources":["webpack:///./src/index.js"],"mappings":";;;;;AAAA,IAAIA,CAAC,GAAG,CAAC"
pageToken=‹b64_32›
{"next":"/items?after=‹b64_24›","count":50}
continuationToken '‹b64_44›' for listing page 3 has expired
epoch 17‹digits8›, slot ‹digits9›
seq=‹digits9› ack=‹digits10› win 502
GTIN ‹digits13› out of stock
Order no. 100-‹digits7›-‹digits7› was shipped
elapsed_ns=‹digits10› rss_kb=‹digits6›
Tracking number 1Z‹up16›
2026-11-03 10:11:12.345678+00 | 42 | active
v20.12.2, npm 10.5.0, linux/amd64
"""
