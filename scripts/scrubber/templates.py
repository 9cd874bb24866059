"""Contexts of the scrubber's second corpus: a line each, by category. Written before the rules that it measures.

«gen» is a secret made by the generator `gen` of corpus.py, ‹gen› is text around it that is no secret, ⏎ is a line's
end and ⇥ a tab. In CLEAN nothing is a secret and ‹gen› is what looks like one.
"""

SECRETS = {
    "api_key": """
export STRIPE_SECRET_KEY=«stripe»
stripe.error.AuthenticationError: Invalid API Key provided: «stripe»
  "openai_api_key": "«openai»",
openai.OpenAI(api_key="«openai»").chat.completions.create()
ANTHROPIC_API_KEY=«anthropic» claude -p hi
curl https://api.example.com/v1/messages -H 'x-api-key: «anthropic»'
[mail] SENDGRID key «sendgrid» was rejected with 401
EMAIL_BACKEND_KEY: «sendgrid»
mailgun.client({username: 'api', key: '«mailgun»'})
dd-agent: DD_API_KEY=«hex32» is invalid for site datadoghq.eu
docker run -e DD_API_KEY=«hex32» -e DD_SITE=datadoghq.com agent:7
ALGOLIA_API_KEY: "«hex32»"
{"apiKey":"«mixed32»","appId":"‹word›"}
const client = algoliasearch('‹word›', process.env.K || apiKey = '«hex32»');
HEROKU_API_KEY=«uuid» heroku apps
groq.AuthenticationError: «groq» is not authorized for model llama
config.yml:17:  figma_token: «figma»
notion: request with «notion» failed: unauthorized
LINEAR_API_KEY="«linear»" node sync.js
x-goog-api-client: gl-python⏎x-api-key: «mixed40»
GET /v2/forecast?lat=1&appid=«hex32»&units=metric 401
GET /data/2.5/weather?q=Paris&api_key=«hex32» HTTP/1.1" 403 -
r = requests.get(URL, headers={"X-Api-Key": "«mixed36»"})
--api-key «mixed32» is deprecated, use the environment
./deploy.sh --apikey=«mixed40»
newrelic: license_key: '«newrelic»'
TWILIO_API_KEY_SECRET=«mixed32»
twilio.rest: username SK‹hex32› password «mixed32»
+  apiSecret: "«mixed32»",
-    api_secret = "«mixed36»"
ERROR replicate: token «replicate» has no credit
Setting secret CODECOV_API_TOKEN to «uuid»
api.key=«mixed40»
<add key="ApiKey" value="«mixed32»" />
<api-key>«mixed32»</api-key>
pplx: invalid key «pplx»
OPENROUTER_KEY=«openrouter»
Etherscan: https://api.etherscan.io/api?module=account&apikey=«up34»
Shopify access «shopify» lacks scope read_orders
cloudinary://‹digits15›:«mixed27»@‹word›
CLOUDINARY_URL=cloudinary://‹digits15›:«mixed27»@‹word›
[tool.publish] key «postman» expired
BINANCE_API_SECRET='«mixed64»'
sq0: Square client got «square»
""",
    "password": """
mysql -u ‹user› -p«pws» ‹word›
mysqldump --user=‹user› --password=«pws» ‹word› > dump.sql
+ mysqladmin -uroot -p«pws» ping
sshpass -p «pws» ssh ‹user›@‹host› uptime
sshpass -p'«pws»' scp dump.sql ‹user›@‹host›:/tmp
PGPASSWORD=«pws» psql -h ‹host› -U ‹user›
redis-cli -h ‹host› -a «pws» ping
requirepass «pws»
redis.conf:507: masterauth «pws»
net use Z: \\\\‹host›\\share /user:‹user› «pws»
echo «pws» | sudo -S apt-get update
echo '«pws»' | docker login -u ‹user› --password-stdin ‹host›
docker login -u ‹user› -p «pws» ‹host›
ftp> quote PASS «pws»
---> PASS «pws»
wpa_passphrase ‹word› «pws»
⇥psk="«pws»"
htpasswd -b /etc/nginx/.htpasswd ‹user› «pws»
echo "‹user›:«pws»" | chpasswd
chpasswd <<< '‹user›:«pws»'
smbclient //‹host›/share -U ‹user›%«pws»
mount -t cifs //‹host›/s /mnt -o username=‹user›,password=«pws»
<property name="javax.persistence.jdbc.password">«pws»</property>
<property name="hibernate.connection.password" value="«pws»"/>
spring.datasource.password=«pws»
spring:⏎  datasource:⏎    username: ‹user›⏎    password: «pws»
openssl pkcs12 -in a.p12 -passin pass:«pws» -nodes
openssl enc -aes-256-cbc -k «pws» -in a -out b
gpg --batch --passphrase «pws» -d a.gpg
ldapsearch -x -D cn=‹user›,dc=x -w «pws» -b dc=x
ldapmodify -H ldap://‹host› -D "cn=admin" -w '«pws»'
mongosh --host ‹host› -u ‹user› -p «pws»
sqlcmd -S ‹host› -U sa -P '«pws»' -Q 'select 1'
ansible-playbook -e "ansible_become_pass=«pws»" site.yml
keystorePassword="«pws»"
keytool -import -keystore k.jks -storepass «pws» -noprompt
javax.net.ssl.trustStorePassword=«pws»
DB_PASS=«pws»
SMTP_PASS='«pws»'
ALTER USER ‹user› WITH PASSWORD '«pws»';
CREATE USER '‹user›'@'%' IDENTIFIED BY '«pws»';
zip -P «pws» out.zip a b
rar a -hp«pws» out.rar a
curl: login with password «pws» denied
{"username":"‹user›","password":"«pws»"}
machine ‹host› login ‹user› password «pws»
default_password = "«pws»"
proftpd: USER ‹user› (Login failed): Incorrect password «pws»
""",
    "token": """
GITHUB_TOKEN=«ghp» gh pr list
remote: Invalid username or token «ghp»
##[debug]token: «ghs»
export GH_PAT=«ghpat»
gitlab-runner register --registration-token «glrt»
PRIVATE-TOKEN: «glpat»
curl --header "PRIVATE-TOKEN: «glpat»" https://‹host›/api/v4/projects
slack_sdk.errors.SlackApiError: token=«xoxb» invalid_auth
SLACK_APP_TOKEN=«xapp»
curl -X POST https://hooks.slack.com/services/«slackhook»
//npm.example.org/:_authToken=«npm»
npm ERR! 401 Unauthorized - token «npm» has expired
twine upload -u __token__ -p «pypi» dist/*
[pypi]⏎username = __token__⏎password = «pypi»
HF_TOKEN=«hf» python train.py
OSError: You are trying to access a gated repo with «hf»
discord.errors.LoginFailure: Improper token «discord»
client.run("«discord»")
https://api.telegram.org/bot«telegram»/getMe
TELEGRAM_BOT_TOKEN="«telegram»"
VAULT_TOKEN=«hvs» vault kv get secret/x
vault login «hvs»
docker login -u ‹user› -p «dckr»
DIGITALOCEAN_ACCESS_TOKEN: «dop»
sentry-cli --auth-token «sntrys» releases list
FLY_API_TOKEN="«fly»"
Authorization: Bearer «mixed40»
> authorization: bearer «url43»
fetch(url, {headers: {Authorization: `Bearer «url43»`}})
kubectl config set-credentials ‹user› --token=«url64»
kubeadm join 10.0.0.1:6443 --token «kubeadm» --discovery-token-unsafe-skip-ca-verification
Set-Cookie: sessionid=«low32»; HttpOnly; Path=/
Cookie: PHPSESSID=«low26»
cookie: connect.sid=s%3A«mixed32».«mixed43»
"refresh_token": "«mixed64»",
access_token=«mixed64»&token_type=bearer
X-Auth-Token: «hex32»
X-CSRF-Token: «b64_44»
CLOUDFLARE_API_TOKEN=«mixed40»
CF_API_TOKEN: «mixed40»
Authorization: Token «hex40»
Authorization: token «ghp»
"sessionToken": "r:«hex32»"
buildkite-agent start --token «mixed50»
consul: ACL token «uuid» not found
X-Consul-Token: «uuid»
CIRCLE_TOKEN=«hex40»
SONAR_TOKEN=«sonar» mvn sonar:sonar
mvn sonar:sonar -Dsonar.login=«sonar»
terraform: credentials "app.terraform.io" { token = "«tfe»" }
""",
    "private_key": """
«pem»
cat: «pem_openssh»
2026-11-03T10:11:12Z web-1  | «pem_logged»
[stderr] «pem_bracket»
‹date› app[‹n›]: «pem_syslog»
private_key: |⏎  «pem_indent2»
"privateKey": "«pem_json»"
TLS_KEY="«pem_json»"
diff --git a/id b/id⏎«pem_diff»
  12 «pem_numbered»
web_1  | «pem_compose»
«pem_nofooter»
error: could not parse key⏎«pem_noheader»
id.json: «sol_array»
solana-keygen: read [«sol_array_bare»]
Keypair.fromSecretKey(Uint8Array.from(«sol_array»))
const secret = "«sol58»";
bs58.decode('«sol58»')
PRIVATE_KEY=«sol58»
phantom export: «sol58»
«sol58»
wallet import failed for «sol58»: bad checksum
SOLANA_KEYPAIR=«sol58»
ETH_PRIVATE_KEY=0x«hex64»
new ethers.Wallet("0x«hex64»", provider)
cast send --private-key 0x«hex64» 0x‹hex40› 'f()'
accounts: ["0x«hex64»"], // deployer private key
nano seed: «HEX64»
--seed «HEX64»
"seed": "«HEX64»",
MNEMONIC="«words12»"
seed phrase: «words24»
mnemonic: «words12»
solana-keygen recover prompt:// seed phrase «words12»
age: identity «age»
AGE_KEY=«age»
[Interface]⏎PrivateKey = «b64_44»⏎Address = 10.0.0.2/32
wg set wg0 private-key «b64_44»
{"kty":"RSA","n":"‹url64›","e":"AQAB","d":"«url86»"}
{"kty":"EC","crv":"P-256","x":"‹url43›","y":"‹url43›","d":"«url43»"}
bitcoin-cli importprivkey «wif»
dumped: «wif»
xprv: «xprv»
nostr key «nsec»
PuTTY-User-Key-File-3: ssh-ed25519⏎Private-Lines: 1⏎«b64_44»⏎Private-MAC: «hex64»
«pgp»
signing key (hex): «hex64»
ed25519 secret: «b64_88»
""",
    "database_url": """
DATABASE_URL=postgres://‹user›:«pwu»@‹host›:5432/‹word›
sqlalchemy.exc.OperationalError: (connection to postgresql://‹user›:«pwu»@‹host›/‹word› refused)
prisma: P1001: can't reach `mysql://‹user›:«pwu»@‹host›:3306/‹word›`
MongoServerError: mongodb+srv://‹user›:«pwu»@‹host›/‹word›?retryWrites=true
mongodb://‹user›:«pwu»@a:27017,b:27017/‹word›?replicaSet=rs0
redis://:«pwu»@‹host›:6379/0
REDIS_URL: rediss://default:«pwu»@‹host›:6380
dial amqp://‹user›:«pwu»@‹host›:5672/: connection refused
CELERY_BROKER_URL='amqps://‹user›:«pwu»@‹host›/‹word›'
sqlplus ‹user›/«pwu»@//‹host›:1521/ORCL
sqlplus scott/«pwu»@‹word›
jdbc:oracle:thin:‹user›/«pwu»@‹host›:1521:xe
jdbc:postgresql://‹host›/‹word›?user=‹user›&password=«pwu»
jdbc:sqlserver://‹host›:1433;databaseName=‹word›;user=sa;password=«pwu»;
Server=‹host›;Database=‹word›;User Id=‹user›;Password=«pwu»;
"DefaultConnection": "Data Source=‹host›;Initial Catalog=‹word›;User ID=‹user›;Pwd=«pwu»"
Driver={ODBC Driver 18 for SQL Server};Server=‹host›;UID=sa;PWD=«pwu»;Encrypt=yes
host=‹host› port=5432 user=‹user› password=«pwu» dbname=‹word› sslmode=require
pq: connect "host=‹host› user=‹user› password='«pwu»'": no route
sql.Open("mysql", "‹user›:«pwu»@tcp(‹host›:3306)/‹word›?parseTime=true")
dsn: ‹user›:«pwu»@tcp(127.0.0.1:3306)/‹word›
Error 1045: dsn ‹user›:«pwu»@unix(/var/run/mysqld.sock)/‹word›
clickhouse://‹user›:«pwu»@‹host›:9000/‹word›
clickhouse-client --host ‹host› --user ‹user› --password «pwu»
cockroach sql --url 'postgresql://‹user›:«pwu»@‹host›:26257/defaultdb'
couchdb: http://‹user›:«pwu»@‹host›:5984/_all_dbs 401
elasticsearch http://‹user›:«pwu»@‹host›:9200 unhealthy
bolt://‹user›:«pwu»@‹host›:7687
nats://‹user›:«pwu»@‹host›:4222
mqtt://‹user›:«pwu»@‹host›:1883
postgres:«pwu»@‹host›:5432/‹word›: no pg_hba.conf entry
pg_dump -d "postgresql://‹user›:«pwu»@‹host›/‹word›" failed
‹host›:5432:‹word›:‹user›:«pwu»
libsql://‹word›.turso.io?authToken=«jwt»
snowflake://‹user›:«pwu»@‹word›/‹word›
ecto://‹user›:«pwu»@‹host›/‹word›
kafka sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="‹user›" password="«pwu»";
ldap://cn=admin:«pwu»@‹host›/dc=x
'PASSWORD': '«pwu»',  # DATABASES default
DSN "oracle://‹user›:«pwu»@‹host›:1521/?service_name=x"
flyway -url=jdbc:mysql://‹host›/‹word› -user=‹user› -password=«pwu» migrate
liquibase --username=‹user› --password=«pwu» update
spring.r2dbc.url=r2dbc:mysql://‹user›:«pwu»@‹host›/‹word›
""",
    "aws": """
aws_access_key_id = «akia»
AWS_ACCESS_KEY_ID=«akia»
An error occurred (InvalidAccessKeyId): «akia» does not exist in our records
botocore: signed by «asia»
Credential=«akia»/20261103/eu-west-1/s3/aws4_request
X-Amz-Credential=«akia»%2F20261103%2Fus-east-1%2Fs3%2Faws4_request
aws_secret_access_key = «aws40»
AWS_SECRET_ACCESS_KEY="«aws40»"
export AWS_SECRET_ACCESS_KEY=«aws40»
"SecretAccessKey": "«aws40»",
AWS Secret Access Key [None]: «aws40»
AWS Secret Key [None]: «aws40»
aws configure set aws_secret_access_key «aws40»
secretAccessKey: '«aws40»',
new AWS.Config({accessKeyId: '«akia»', region: 'eu-west-1'})
boto3.client('s3', aws_access_key_id='x', aws_secret_access_key='«aws40»')
  secret_key = "«aws40»"
provider "aws" {⏎  secret_key = "«aws40»"⏎}
mc alias set local http://‹host›:9000 «akia» «aws40»
mc config host add s3 https://s3.amazonaws.com admin «aws40»
s3cmd --access_key=«akia» --secret_key=«aws40» ls
s3cmd: secret_key = «aws40»
rclone: secret_access_key = «aws40»
rclone config create r s3 access_key_id x secret_access_key «aws40»
s3fs: «akia»:«aws40»
echo «akia»:«aws40» > ~/.passwd-s3fs
AWS_SESSION_TOKEN=«awstoken»
"SessionToken": "«awstoken»",
aws_session_token = «awstoken»
x-amz-security-token: «awstoken»
--set s3.secretKey=«aws40»
helm install x --set aws.secretAccessKey=«aws40»
docker run -e AWS_SECRET_ACCESS_KEY=«aws40» x
  AWS_SECRET_ACCESS_KEY: «aws40»
| SecretAccessKey | «aws40» |
SPACES_SECRET=«aws40»
hadoop -Dfs.s3a.secret.key=«aws40» -ls
spark.hadoop.fs.s3a.secret.key «aws40»
SES_SMTP_PASSWORD=«ses44»
ecs: amzn.mws.«uuid» denied
MWSAuthToken=amzn.mws.«uuid»
bedrock key ABSK«b64_108»
"aws": {"key": "«akia»", "secret": "«aws40»"}
User: «akia» is not authorized to perform: s3:GetObject
restic: AWS_SECRET_ACCESS_KEY «aws40» rejected
""",
    "gcp": """
GOOGLE_API_KEY=«aiza»
maps: InvalidKeyMapError «aiza»
https://maps.googleapis.com/maps/api/js?key=«aiza»&callback=init
"current_key": "«aiza»"
firebase.initializeApp({ apiKey: "«aiza»", projectId: "x" })
gemini: 400 API key not valid: «aiza»
curl "https://generativelanguage.googleapis.com/v1beta/models?key=«aiza»"
Authorization: Bearer «ya29»
gcloud auth print-access-token⏎«ya29»
access_token: «ya29»
"access_token":"«ya29»",
tokeninfo?access_token=«ya29»
"client_secret": "«gocspx»",
GOOGLE_CLIENT_SECRET=«gocspx»
oauth2: invalid_client «gocspx»
client_secret=«gocspx»&grant_type=authorization_code
"private_key_id": "«hex40»",
"private_key": "«pem_json»",
GOOGLE_CREDENTIALS='{"type":"service_account","private_key_id":"«hex40»"}'
GOOG1E access id «goog1e»
gs_access_key_id = «goog1e»
gs_secret_access_key = «aws40»
refresh_token = «goog_refresh»
"refresh_token": "«goog_refresh»",
.config/gcloud/application_default_credentials.json: refresh_token «goog_refresh»
GCP_SA_KEY=«b64_json»
echo «b64_json» | base64 -d > key.json
_json_key_base64 password «b64_json»
FIREBASE_TOKEN=«goog_refresh»
firebase deploy --token "«goog_refresh»"
FCM server key AAAA«url7»:APA91b«url134»
Authorization: key=AAAA«url7»:APA91b«url134»
RECAPTCHA_SECRET_KEY=6L«url38»
recaptcha.secret: 6L«url38»
YOUTUBE_API_KEY: «aiza»
google_maps_api_key">«aiza»</string>
android:value="«aiza»"/>
ERROR: (gcloud.auth) key «aiza» restricted by referer
vertexai.init(api_key="«aiza»")
GTM server preview key=«aiza»
GOOGLE_OAUTH_SECRET: '«gocspx»'
x-goog-api-key: «aiza»
gsutil -o Credentials:gs_secret_access_key=«aws40» ls
Sheets API: {"key":"«aiza»","status":"PERMISSION_DENIED"}
""",
    "azure": """
DefaultEndpointsProtocol=https;AccountName=‹word›;AccountKey=«b64_88»;EndpointSuffix=core.windows.net
AZURE_STORAGE_KEY=«b64_88»
az storage container list --account-name ‹word› --account-key «b64_88»
"accountKey": "«b64_88»",
storage_account_access_key = "«b64_88»"
AzureWebJobsStorage: DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«b64_88»
AZURE_CLIENT_SECRET=«azsecret»
az login --service-principal -u ‹uuid› -p «azsecret» --tenant ‹uuid›
ARM_CLIENT_SECRET="«azsecret»"
AADSTS7000215: Invalid client secret «azsecret»
"clientSecret": "«azsecret»",
client_secret=«azsecret»&grant_type=client_credentials
Endpoint=sb://‹word›.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«b64_44»
HostName=‹word›.azure-devices.net;SharedAccessKeyName=iothubowner;SharedAccessKey=«b64_44»
SharedAccessSignature sr=x&sig=«sigenc»&se=1767225600&skn=Root
https://‹word›.blob.core.windows.net/c/b?sv=2024-05-04&sp=r&sig=«sigenc»
https://‹word›.blob.core.windows.net/c?se=2027-01-01&sig=«sigenc»&sv=2023
azcopy copy ./x "https://‹word›.blob.core.windows.net/c?sv=2024&sig=«sigenc»"
APPINSIGHTS_INSTRUMENTATIONKEY=«uuid»
InstrumentationKey=«uuid»;IngestionEndpoint=https://westeurope-1.in.applicationinsights.azure.com/
APPLICATIONINSIGHTS_CONNECTION_STRING="InstrumentationKey=«uuid»;IngestionEndpoint=https://x/"
https://‹word›.azurewebsites.net/api/run?code=«azfunc»
curl "https://‹word›.azurewebsites.net/api/hook?name=x&code=«azfunc»"
x-functions-key: «azfunc»
AZURE_OPENAI_API_KEY=«hex32»
AZURE_OPENAI_KEY: «azopenai»
api-key: «hex32»
Ocp-Apim-Subscription-Key: «hex32»
AZURE_DEVOPS_PAT=«low52»
az devops login --token «low52»
vsts: PAT «azdevops»
AccountEndpoint=https://‹word›.documents.azure.com:443/;AccountKey=«b64_88»;
COSMOS_KEY="«b64_88»"
cosmos.CosmosClient(url, credential="«b64_88»")
az acr login: password «acr»
docker login ‹word›.azurecr.io -u ‹word› -p «acr»
AZURE_AD_SECRET=«azsecret»
az ad sp create-for-rbac: "password": "«azsecret»"
secret value «azsecret» (expires in 10 days)
REDIS ‹word›.redis.cache.windows.net:6380,password=«b64_44»,ssl=True,abortConnect=False
SEARCH_ADMIN_KEY=«mixed52»
speech_key="«hex32»"
--sas-token "?sv=2024&ss=b&sig=«sigenc»"
Azure Key Vault returned secret 'db': «azsecret»
""",
    "basic_auth": """
curl -u ‹user›:«pwu» https://‹host›/api
curl -sSfu ‹user›:«pwu» https://‹host›/x
curl --user '‹user›:«pws»' https://‹host›/
curl -X GET -u "‹user›:«pwu»" -H 'Accept: */*' https://‹host›/x
wget --user=‹user› --password=«pwu» https://‹host›/a.tgz
wget --http-user=‹user› --http-passwd=«pwu» https://‹host›/
http --auth ‹user›:«pwu» GET ‹host›
http -a ‹user›:«pwu» PUT ‹host›/x
xh -a ‹user›:«pwu» ‹host›
ab -n 10 -A ‹user›:«pwu» https://‹host›/
ab -A ‹user›:«pwu» -c 2 http://‹host›/
Authorization: Basic «basic»
> Authorization: Basic «basic»
headers = {"Authorization": "Basic «basic»"}
proxy-authorization: basic «basic»
https://‹user›:«pwu»@‹host›/path
GET http://‹user›:«pwu»@‹host›/metrics 401
HTTPS_PROXY=http://‹user›:«pwu»@‹host›:3128
export http_proxy="http://‹user›:«pwu»@‹host›:8080"
pip install --index-url https://‹user›:«pwu»@‹host›/simple x
Looking in indexes: https://‹user›:«pwu»@‹host›/pypi/simple
npm config set proxy http://‹user›:«pwu»@‹host›:8080
"auths": {"‹host›": {"auth": "«basic»"}}
_auth=«basic»
requests.get(url, auth=('‹user›', '«pws»'))
httpx.BasicAuth("‹user›", "«pws»")
ftp://‹user›:«pwu»@‹host›/in/x.csv
lftp -u ‹user›,«pwu» ‹host›
lftp -u '‹user›,«pwu»' sftp://‹host›
sftp://‹user›:«pwu»@‹host›:22/
rtsp://‹user›:«pwu»@10.0.0.5:554/ch1
smb://‹user›:«pwu»@‹host›/share
scrape: basic_auth: {username: ‹user›, password: «pwu»}
    basic_auth:⏎      username: ‹user›⏎      password: «pwu»
auth_basic: user=‹user› pass=«pwu»
nexus: -Dnexus.user=‹user› -Dnexus.password=«pwu»
artifactory curl -u‹user›:«pwu» -T a.jar https://‹host›/r
jenkins-cli.jar -s https://‹host› -auth ‹user›:«pwu» list-jobs
siege --header="Authorization: Basic «basic»" https://‹host›
hey -a ‹user›:«pwu» https://‹host›
k6: http.get('https://‹user›:«pwu»@‹host›/x')
svn co --username ‹user› --password «pwu» https://‹host›/svn
hg clone https://‹user›:«pwu»@‹host›/r
skopeo copy --src-creds ‹user›:«pwu» docker://‹host›/x dir:x
skopeo copy --dest-creds=‹user›:«pwu» dir:x docker://‹host›/x
podman login -u ‹user› -p «pwu» ‹host›
helm repo add r https://‹host› --username ‹user› --password «pwu»
grpcurl -H 'authorization: Basic «basic»' ‹host›:443 list
""",
    "git_credential": """
fatal: Authentication failed for 'https://‹user›:«ghp»@github.com/o/r.git/'
fatal: unable to access 'https://‹user›:«pwu»@‹host›/o/r.git/': The requested URL returned error: 403
origin⇥https://‹user›:«ghp»@github.com/o/r.git (fetch)
origin⇥https://«ghp»@github.com/o/r.git (push)
⇥url = https://‹user›:«pwu»@‹host›/o/r.git
git clone https://‹user›:«pwu»@‹host›/o/r
git clone https://oauth2:«glpat»@gitlab.com/o/r.git
git clone https://x-access-token:«ghs»@github.com/o/r
git remote set-url origin https://‹user›:«mixed32»@‹host›/r.git
git push https://‹user›:«pwu»@‹host›/r.git main
remote.origin.url=https://‹user›:«pwu»@‹host›/r
https://‹user›:«pwu»@‹host›
.git-credentials:1: https://‹user›:«mixed24»@bitbucket.org
protocol=https⏎host=github.com⏎username=‹user›⏎password=«ghp»
username=‹user›⏎password=«pwu»
Cloning into 'r'... from https://‹user›:«pwu»@‹host›/r.git
go: module lookup: git ls-remote https://‹user›:«pwu»@‹host›/r failed
pip: git+https://‹user›:«pwu»@‹host›/o/r.git@main
git+https://«ghp»@github.com/o/r.git
pip install git+https://«ghpat»@github.com/o/r@v1
"resolved": "git+https://‹user›:«pwu»@‹host›/o/r.git#‹hex40›"
npm ERR! git clone https://‹user›:«pwu»@‹host›/o/r.git
composer: https://‹user›:«pwu»@‹host›/o/r.git could not be cloned
{"github-oauth": {"github.com": "«ghp»"}}
{"http-basic": {"‹host›": {"username": "x", "password": "«pwu»"}}}
cargo: failed to authenticate when downloading repository: https://‹user›:«pwu»@‹host›/r
bundle config ‹host› ‹user›:«pwu»
BUNDLE_GITHUB__COM: x-access-token:«ghp»
git -c http.extraheader="AUTHORIZATION: bearer «ghs»" fetch
http.https://github.com/.extraheader AUTHORIZATION: basic «basic»
git config --global http.proxy http://‹user›:«pwu»@‹host›:3128
[http]⏎⇥proxy = http://‹user›:«pwu»@‹host›:8080
LFS: https://‹user›:«pwu»@‹host›/r.git/info/lfs/objects/batch 401
Submodule 'x' (https://‹user›:«pwu»@‹host›/x.git) registered for path 'x'
From https://‹user›:«pwu»@‹host›/r
To https://‹user›:«pwu»@‹host›/r.git
 ! [remote rejected] main -> main (https://‹user›:«pwu»@‹host›/r)
error: failed to push some refs to 'https://«ghp»@github.com/o/r'
terraform: git::https://‹user›:«pwu»@‹host›/m.git?ref=v1
ARGOCD repo add https://‹host›/r --username ‹user› --password «ghp»
flux bootstrap git --url=https://‹host›/r --username=‹user› --password=«pwu»
warning: redirecting to https://‹user›:«pwu»@‹host›/o/r.git/
hub: oauth_token: «ghp»
""",
    "credit_card": """
stripe: card «card» was declined
{"number":"«card»","exp_month":11,"cvc":"‹n3›"}
card_number=«cardsp»
Payment with «cardda» failed: insufficient funds
pan=«card»;expiry=2711
<CardNumber>«card»</CardNumber>
INSERT INTO payments VALUES (‹n›, '«card»', '11/28');
duplicate key value violates unique constraint: Key (card)=(«card»)
‹user›,«cardda»,11/27,‹n3›
Visa «cardsp» exp 09/29
AMEX «amex» not supported here
"creditCard": "«amex»",
cc: «cardsp»
AssertionError: '«card»' != '****'
validate('«card»') returned False
Refund to card no. «cardsp» done
POST /charge card=«card»&amount=100
| ‹user› | «cardda» |
customer.card: "«cardda»"
log: charging card «card» for order ‹n›
Kreditkarte: «cardsp»
mastercard ending? full: «card»
track2=«card»=2711101000000
Expected card '«cardsp»' to be masked
primary account number «card»
payment_method: {card: {number: '«card»'}}
PaymentError(card='«card»')
checkout rejects «cardda»
2026-11-03 10:00:01 WARN card «card» luhn ok
"cardNo" : «card»
ccnum «card» cvv ‹n3›
Diners «card» accepted
fixtures/orders.json:8:  "card": "«cardsp»"
‹n›⇥«card»⇥EUR
iin lookup for «card»
cardholder ‹user› number «cardsp»
Debit card «card»
card: '«cardda»' is in use
KeyError: '«card»'
("«card»", "approved")
tokenize(«card») timed out
""",
    "ssn": """
SSN: «ssn»
ssn=«ssn»
"ssn": "«ssn»",
social security number «ssn»
Social Security No. «ssn»
Social Security Number: «ssnsp»
taxpayer id «ssnbare»
taxpayer_id: «ssn»
"socialSecurityNumber":"«ssn»"
employee ‹user› («ssn»)
Key (ssn)=(«ssn») already exists.
‹user›,«ssn»,1980-02-03
<SSN>«ssn»</SSN>
INSERT INTO people (name, ssn) VALUES ('‹user›', '«ssn»');
ValueError: invalid SSN '«ssn»'
SSN «ssnsp» is a duplicate
ssn: «ssnbare»
"ssn":"«ssnbare»"
SSN=«ssnbare» rejected
patient «ssn» not found
| ‹user› | «ssn» | active |
TIN «ssn» does not match
form W-9 «ssn»
W-2 employee's social security number: «ssn»
tax id: «ssn»
GET /people?ssn=«ssn» 500
applicant «ssn» has no credit file
SELECT * FROM p WHERE ssn='«ssn»'
ITIN «itin» accepted
AssertionError: masked('«ssn»')
‹n›;‹user›;«ssn»
- ssn: '«ssn»'
social: «ssn»
borrower.ssn = "«ssn»"
record ‹n› has ssn «ssn»
person(ssn='«ssn»')
Expected "***-**-****" but was "«ssn»"
social_security: «ssn»
«ssn» is not unique
national id (US): «ssn»
""",
    "phone": """
phone: «us»
"phone": "«e164»",
Call «us» for support of ‹user›
tel:«e164»
tel:«usbare»
SMS to «e164» failed: 21211
{"from":"«e164»","to":"«e164»"}
whatsapp:«e164»
contact ‹user› at «uspar»
Phone number «usdot» is not valid
mobile=«ukmob»
Mobile: «ukmob»
phone_number: «deintl00»
tel «deintl00»
Telefon: «deloc»
Tel.: «deloc»
téléphone : «frloc»
phone: "«frloc»"
fax: «us»
fax «uspar»
«uspar»
twilio: unverified number «e164»
‹user›,«us»,Berlin
INSERT INTO c (phone) VALUES ('«e164»');
cell «usdot»
+ phone = "«us»"
<phone>«e164»</phone>
mobile_number="«inmob»"
whatsapp «inmob» opted out
"mobile":"«brmob»"
TEL;TYPE=cell:«e164»
TEL;HOME:«us»
msisdn=«msisdn»
"msisdn":"«msisdn»"
caller id «uspar»
ValueError: '«us»' is not E.164
customer_phone: «us»
| ‹user› | «e164» |
contactNumber: «us»
href="tel:«us»"
phoneNumber='«e164»'
dial «us» ext. 12
ring «frintl»
handy: «demob»
hotline «us»
""",
    "totp_seed": """
otpauth://totp/Acme:‹user›?secret=«b32_32»&issuer=Acme
otpauth://hotp/Acme:‹user›?counter=1&secret=«b32_16»
TOTP_SECRET=«b32_32»
totp_secret: "«b32_16»"
"totp_secret":"«b32_26»"
MFA_SECRET='«b32_32»'
mfa_secret = «b32_32»
2fa secret: «b32_16»
two_factor_secret=«b32_32»
"twoFactorSecret": "«b32_32»",
OTP_SEED: «b32_32»
otp_secret=«b32_24»
otpSecret: '«b32_16»'
oathtool --totp -b «b32_32»
oathtool -b --totp "«b32_16»"
oathtool --totp --base32 «b32_32»
pyotp.TOTP('«b32_32»').now()
pyotp.TOTP("«b32_16»")
speakeasy.totp({secret: '«b32_32»', encoding: 'base32'})
authenticator.generate('«b32_32»')
totp = new TOTP("«b32_32»")
ykman oath accounts add acme «b32_32»
google authenticator key: «b32_16»
Your new secret key is: «b32_26»
Enter this code in your authenticator app: «b32sp»
authenticator key «b32sp»
setup key: «b32_32» (TOTP)
user.totp_seed = "«b32_32»"
TOTP seed «b32_32» invalid: padding
totpSeed=«b32_16»
INSERT INTO mfa (user_id, totp_secret) VALUES (‹n›, '«b32_32»');
hotp_secret: «b32_16»
MFA seed: «b32_32»
2FA_SECRET=«b32_32»
TWO_FACTOR_KEY=«b32_32»
GOOGLE_AUTH_SECRET=«b32_16»
steam shared secret? totp: «b32_32»
aws mfa enable: Base32StringSeed «b32_64»
"Base32StringSeed": "«b32_64»"
pass otp insert: otpauth://totp/x?secret=«b32_16»
""",
    "jwt": """
Authorization: Bearer «jwt»
curl -H "Authorization: Bearer «jwt»" https://‹host›
id_token=«jwt»
"id_token": "«jwt»",
jwt.exceptions.InvalidSignatureError: «jwt»
token expired: «jwt»
SUPABASE_SERVICE_ROLE_KEY=«jwt»
anonKey: '«jwt»'
?token=«jwt»
GET /ws?access_token=«jwt» 403
Cookie: jwt=«jwt»
Set-Cookie: session=«jwt»; HttpOnly
cookies: __Host-auth=«jwt»
kubectl --token=«jwt» get pods
users:⏎- name: x⏎  user:⏎    token: «jwt»
JWT «jwt»
Verifying «jwt»: malformed
assertion=«jwt»&grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer
"accessToken":"«jwt»"
Error: jwt malformed «jwt»
localStorage.setItem('t', '«jwt»')
X-Auth: «jwt»
X-Goog-IAP-JWT-Assertion: «jwt»
Cf-Access-Jwt-Assertion: «jwt»
const t = "«jwt»";
(«jwt»)
decode("«jwt»")
subprotocol auth.«jwt»
log: user=‹user› token=«jwt» status=401
service account token: «jwt»
«jwt»
eyJ dump «jwt» end
assert verify('«jwt»') is None
grpc metadata authorization=Bearer «jwt»
docker registry Bearer token="«jwt»"
client_assertion=«jwt»
refresh: «jwt»
magic link https://‹host›/login#token=«jwt»
invite https://‹host›/i/«jwt»
"idToken" : "«jwt»"
""",
    "high_entropy_hex": """
SECRET_KEY_BASE=«hex128»
secret_key_base: «hex128»
SESSION_SECRET=«hex64»
secret: '«hex64»'
ENCRYPTION_KEY=«hex64»
encryption key «hex32» has wrong length
aes key: «hex32»
key = bytes.fromhex("«hex64»")
APP_SECRET=«hex32»
hmac secret «hex64»
"secret": "«hex40»",
webhook_secret=«hex64»
WEBHOOK_SIGNING_SECRET: «hex64»
master_key: «hex32»
config/master.key: «hex32»
RAILS_MASTER_KEY=«hex32» bin/rails c
cookie_secret «hex64»
openssl enc -aes-256-cbc -K «hex64» -iv ‹hex32›
openssl dgst -sha256 -hmac «hex64» file
auth_hash «hex40»
auth_hash=«hex40»
NTLM hash «hex32»
Administrator:500:«hex32»:«hex32»:::
psk=«hex64»
psk «hex64»
pre-shared key «hex64»
shared_secret=«hex64»
JWT_SECRET=«hex64»
jwt secret is «hex64»
NEXTAUTH_SECRET: "«hex64»"
erlang cookie «hex40»
signing_secret: «hex32»
SLACK_SIGNING_SECRET=«hex32»
storage encryption passphrase «hex64»
vault unseal key: «hex66»
Unseal Key 1: «hex66»
device key «HEX32»
LoRa AppKey: «HEX32»
appkey=«HEX32»
ZIGBEE network key «HEX32»
client secret «hex64»
LUKS master key: «hex64»
SALT+PEPPER=«hex64»
pepper: «hex64»
""",
}

CLEAN = """
error: Could not read ‹hex40›
fatal: unable to read tree (‹hex40›)
error: unable to find ‹hex40›
error: refs/heads/main does not point to a valid object! ‹hex40›
vendor at ‹hex40›
commit ‹hex40›
HEAD is now at ‹hex7› fix tests
Merge: ‹hex7› ‹hex7›
index ‹hex7›..‹hex7› 100644
‹hex40› refs/tags/v1.2.‹n3›
Submodule path 'x': checked out '‹hex40›'
jj: Working copy now at: ‹low8› ‹hex8› (empty)
jj op ‹hex128›
bisect: ‹hex40› is the first bad commit
warning: skipping commit-graph ‹hex40›
pick ‹hex40› tidy
parent ‹hex40›
tree ‹hex40›
blob ‹hex40› not found
git cat-file -p ‹hex40›
rev: ‹hex40›
"sha": "‹hex40›",
"gitHead": "‹hex40›",
resolved ref main to ‹hex40›
actions/checkout@‹hex40›
uses: actions/cache@‹hex40› # v4
GITHUB_SHA=‹hex40›
‹hex64›  ./dist/app.tar.gz
‹hex32›  a.iso
sha256sum: WARNING: computed ‹hex64› did not match
sha256sum mismatch: ‹hex64›
sha256: ‹hex64›
SHA256 (a.tgz) = ‹hex64›
expected sha256 ‹hex64›, got ‹hex64›
integrity check failed: got ‹hex64›
hash mismatch in fixed-output derivation: got ‹hex64›
checksum = "‹hex64›"
"integrity": "sha512-‹b64_88›",
integrity sha512-‹b64_88›
--hash=sha256:‹hex64› \\
h1:‹b64_44›
github.com/x/y v1.2.3 h1:‹b64_44›
md5sum ‹hex32›
MD5: ‹hex32›
etag: "‹hex32›"
ETag: W/"‹hex40›"
Digest: sha256:‹hex64›
Status: Downloaded newer image for x@sha256:‹hex64›
FROM alpine@sha256:‹hex64›
registry/app:‹hex40›
registry.example.com/team/app:‹hex40› not found
‹hex12›: Pull complete
container ‹hex64› exited (1)
docker: Error response from daemon: No such container: ‹hex12›
docker: Error response: No such container: ‹hex64›
=> => writing image sha256:‹hex64›
overlay2/‹hex64›/merged
pod web-‹hex10›-x‹low4›b crashed
uid: ‹uuid›
request id ‹uuid›
RequestId: ‹uuid›
x-request-id: ‹hex32›
X-Amzn-Trace-Id: Root=1-‹hex8›-‹hex24›
traceparent: 00-‹hex32›-‹hex16›-01
trace_id=‹hex32› span_id=‹hex16›
span id ‹hex16›
span ‹hex16› dropped
correlation-id: ‹uuid›
job ‹uuid› failed
cache key: ‹hex64›
Cache not found for input keys: Linux-node-‹hex64›
cache hit for key node-cache-Linux-‹hex64›
artifact ‹hex40›.tar.gz
main.‹hex20›.js:1 Uncaught TypeError
/assets/index-‹hex8›.js
chunk-‹mixed8›.js
/nix/store/‹low32›-hello-2.12
magnet:?xt=urn:btih:‹hex40›
infohash ‹hex40›
build id ‹hex40›
BuildID[sha1]=‹hex40›
/root/.cache/bazel/_bazel_root/‹hex32›/execroot
target/debug/deps/libserde-‹hex16›.rlib
fingerprint: ‹hex16›
SHA256:‹b64n43› ‹user›@‹host› (ED25519)
ED25519 key fingerprint is SHA256:‹b64n43›.
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43› ‹user›@‹host›
|1|‹b64_28›|‹b64_28› ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43›
Serial Number: ‹colonhex20›
Subject Key Identifier: ‹colonHEX20›
X509v3 Authority Key Identifier: ‹colonHEX20›
-----BEGIN CERTIFICATE-----
gpg: using RSA key ‹HEX40›
gpg: Good signature, Primary key fingerprint: ‹HEXsp40›
pub rsa4096 ‹HEX16›
apt: NO_PUBKEY ‹HEX16›
transaction ‹sol_sig› was not confirmed
Signature: ‹sol_sig›
signature ‹sol_sig› failed: custom program error: 0x1
Program ‹sol_pub› invoke [1]
Program log: authority ‹sol_pub› mismatch
mint: ‹sol_pub›
solana confirm -v ‹sol_sig›
https://explorer.solana.com/tx/‹sol_sig›
owner ‹sol_pub› is not the signer
blockhash ‹sol_pub› expired
nano_‹nano60›
account nano_‹nano60› unopened
block ‹HEX64› is not confirmed
frontier: ‹HEX64›
"hash": "‹HEX64›"
0x‹hex40› has no code
tx 0x‹hex64› reverted
Transaction hash: 0x‹hex64›
contract address: 0x‹hex40›
bc1q‹low38›
error: the following required arguments were not provided: --password <PASSWORD>
error: a value is required for '--password <PASSWORD>' but none was supplied
'--token <TOKEN>' requires a value
Usage: login --user <USER> --password <PASSWORD>
usage: x [-h] [--api-key API_KEY] [--secret SECRET]
  -p, --password string   Password for the registry
      --password-stdin    Take the password from stdin
Enter password:
Password for ‹user›:
‹user›@‹host›'s password:
Permission denied (publickey,password).
sudo: a password is required
password authentication failed for user "‹user›"
Wrong password, try again
password: must be at least 8 characters
"password": "string"
"password": "********",
password=****
PASSWORD=$DB_PASSWORD
password: ${{ secrets.DB_PASSWORD }}
token: ${GITHUB_TOKEN}
api_key = os.environ["API_KEY"]
const token = await getToken(user);
let token = self.next_token()?;
token := scanner.Scan()
password = getpass.getpass()
unexpected token '}' in JSON at position ‹n›
SyntaxError: Unexpected token < in JSON
error: expected one of `!` or `::`, found token `=`
KeyError: 'api_key'
undefined method `password' for nil:NilClass
error[E0425]: cannot find value `token` in this scope
secret not found: "db-credentials"
Error: secrets "regcred" already exists
invalid api key
Missing API key
The access token has expired
token type: bearer
grant_type=password
csrf token missing or incorrect
primary key (id)
foreign key constraint "fk_user_key" fails
Duplicate entry '‹n›' for key 'PRIMARY'
Key: 'User.Email' Error:Field validation failed
ssh-add: Could not open a connection to your authentication agent.
postgres://localhost:5432/‹word›
redis://127.0.0.1:6379
postgres://‹user›@‹host›/‹word›
mysql -u ‹user› -p ‹word›
mysql: [Warning] Using a password on the command line interface can be insecure.
mysql -h ‹host› -P 3306
curl -u ‹user› https://‹host›
git clone git@github.com:o/r.git
git clone https://github.com/o/r.git
docker run -p 8080:80 nginx
docker run -p 127.0.0.1:5432:5432 postgres
mkdir -p build/out
cp -p a b
ssh -p 2222 ‹user›@‹host›
scp -P 2222 a ‹user›@‹host›:/tmp
psql -U ‹user› -d ‹word› -w
zip -r a.zip dir
lsof -u ‹user›
tar -cpf a.tar dir
nc -u ‹host› 514
make -k all
openssl x509 -in a.pem -noout
version 1.2.3-‹hex7›
python-3.11.7-‹low8›
libssl.so.1.1.‹n3›
2026-11-03T10:11:12.‹n3›Z INFO ready
1700000000‹n3› metric
id=‹digits16nl›
order ‹digits12› not found
order number ‹digits16nl› not found
isbn 978-3-16-148410-0
tracking ‹digits12›
2001:db8:85a3::8a2e:370:7334
10.0.0.‹n3›:8443
00:1a:2b:3c:4d:5e
pid ‹n› exited with 139
port 5432 failed
line ‹n›, column 17
0x00007f‹hex10›
rip 0x‹hex16›
address 0x‹hex8›
error code 0x80070‹hex3›
‹digits10› bytes copied
‹n›.‹n3›s elapsed
took 123-45-67 steps
build 2026-11-03-‹n›
GUID {‹uuid›}
PARTUUID=‹uuid›
UUID=‹uuid› / ext4
machine-id ‹hex32›
"_id": ObjectId("‹hex24›")
"nbformat": 4, "id": "‹hex8›"
arn:aws:iam::‹digits12›:role/x
i-0‹hex16›
vpc-‹hex17›
subnet-0‹hex16› has no route
ami-0‹hex16› does not exist
sg-0‹hex16›
eni-‹hex17›
s3://bucket/‹hex32›/part-0
arn:aws:kms:eu-west-1:‹digits12›:key/‹uuid›
"projectId": "‹word›-‹n›"
projects/‹digits12›/secrets/db/versions/3
/subscriptions/‹uuid›/resourceGroups/x
tenant ‹uuid›
kid: ‹hex40›
"kid": "‹url43›"
"x5t": "‹url27›"
"n": "‹url342›", "e": "AQAB"
data:image/png;base64,iVBORw0KGgo‹b64_88›
sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz‹b64_88›
font-family: 'AAAA‹b64_44›'
nonce-‹b64_24›
sha384-‹b64_64›
Content-Security-Policy: script-src 'sha256-‹b64_44›'
Sec-WebSocket-Key: ‹b64_24›
boundary=----WebKitFormBoundary‹mixed16›
_rid=‹mixed8›
X-Cache-Key: /a/b/c
cf-ray: ‹hex16›-FRA
"yarnLock": "‹hex64›"
go.sum mismatch: downloaded h1:‹b64_44›
checksum mismatch⏎⇥downloaded: h1:‹b64_44›⏎⇥go.sum:     h1:‹b64_44›
expected: '‹hex64›'⏎  actual: '‹hex64›'
Hash: ‹hex64› (lockfile v3)
PKG-INFO digest ‹hex64›
sha1 ‹hex40› differs
blake3 ‹hex64› a.bin
crc32 ‹hex8›
keyring: trusted fingerprint ‹HEX40›
revision ‹hex40› is unknown
snapshot ‹hex64› saved
restic snapshot ‹hex8› saved
layer ‹hex64› already exists
image id ‹hex64›
manifest ‹hex64› unknown
volume ‹hex64› in use
network ‹hex64› not found
ipfs CID Qm‹b58_44›
bafybei‹low52›
peer 12D3KooW‹b58_44›
"etag": "0x8D‹HEX13›"
ion-content ‹hex16›
test result: ok. ‹n3› passed
"""
