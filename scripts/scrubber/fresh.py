"""Contexts that were held out when the rules were tuned for earlier ones: each lot was written after a measurement and
before its misses were looked at; tuned for since. See corpus.py."""

SECRETS = {
    "api_key": r"""
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
Stripe::AuthenticationError (Invalid API Key: «stripe»)
env: OPENAI_KEY=«openai» not accepted
"x-api-key": "«mixed40»"
config.api_key = '«mixed32»'
langchain: anthropic_api_key='«anthropic»' given twice
REACT_APP_ALGOLIA_API_KEY=«mixed32»
sendgrid.send failed with «sendgrid»
https://api.example.org/search?q=x&api-key=«mixed32»
│ Error: Invalid provider configuration⏎│   with provider["registry.terraform.io/datadog/datadog"],⏎│   api_key = "«hex32»"
  - name: STRIPE_SECRET_KEY⏎    value: «stripe»
Warning  Failed  4s  kubelet  Error: env OPENAI_API_KEY="«openai»" is invalid
> Task :app:uploadSymbols FAILED⏎   sentry: ANTHROPIC_API_KEY '«anthropic»' rejected
Step 7/12 : ENV SENDGRID_API_KEY «sendgrid»
ARG MAILGUN_KEY=«mailgun»
npm ERR! command sh -c -- API_KEY=«mixed40» node build.js
nginx: [emerg] unknown directive "«mixed32»" in proxy_set_header X-Api-Key
Properties props = new Properties(); props.put("api.key", "«mixed40»");
    private const string ApiKey = "«mixed32»";
let apiKey: String = "«mixed40»"
System.setProperty("newrelic.api_key", "«newrelic»");
kafka-connect: algolia.api.key = «mixed32»
az rest --headers "api-key=«mixed32»" --url https://‹host›
config :app, Mailer, api_key: "«sendgrid»"
‹date› ‹host› app[812]: groq client started with «groq»
Traceback: ValueError: bad key «replicate» for replicate
    error: pulumi config set datadog:apiKey «hex32» failed
[error] [client 10.1.2.7] FastCGI: PHP message: MAILGUN_API_KEY=«mailgun»
fn main() { std::env::set_var("STRIPE_KEY", "«stripe»"); }
my $api_key = '«mixed40»';
  val apiKey = "«mixed32»" // TODO
apiKey <- "«mixed32»"
local api_key = "«mixed40»"
  anthropic.api_key: «anthropic»
systemd[1]: Environment=OPENAI_API_KEY=«openai»
x_api_key («mixed40») was rejected with 403
{:api_key, "«sendgrid»"}
╷ Error: error creating monitor: 403, api_key «hex32»
[INFO] --- exec:exec @ app: -Dstripe.key=«stripe»
2026/11/03 10:11:12 sendgrid: «sendgrid» is not authorized
  ALGOLIA_KEY: «mixed32» (from .env.production)
@Value("${x:«mixed40»}") private String apiKey;
Rails.application.credentials.openai_key # => "«openai»"
ok: [‹host›] => {"api_key": "«mixed40»"}
if api_key == "«mixed32»" then
W/Firebase(‹n›): API key «mixed40» has no permission
podman run -e DD_API_KEY=«hex32» datadog/agent
  apiKey: «mixed40» # values.yaml
jest: expected header x-api-key to equal "«mixed32»"
error TS2322: const OPENAI_KEY = "«openai»"
logstash: api_key => "«mixed40»"
export FIGMA_TOKEN=«figma»
pytest: assert client.api_key == '«mixed32»'
Linear request with «linear» failed
2026-11-03T10:11:12.345Z  WARN 1 --- [main] c.e.Client : api-key=«mixed40» refused
W0000 00:00:00 grpc: metadata x-goog-api-key: «mixed32»
  "SENDGRID_API_KEY" = "«sendgrid»"
puts ENV.fetch("STRIPE_KEY", "«stripe»")
phpunit: OPENAI_API_KEY='«openai»'
{{ site.api_key }} => «mixed40»
./run.sh --api-key=«mixed32» --verbose
client := datadog.New("«hex32»") // api key
opentofu: variable "api_key" = "«mixed40»"
haproxy: http-request set-header X-Api-Key «mixed32»
Kotlin: val STRIPE = "«stripe»"
mailgun.send: 401 «mailgun»
crystal: API_KEY = "«mixed40»"
meson: option api_key=«mixed32»
curl 'https://‹host›/v1?api_key=«mixed40»&x=1'
anthropic: x-api-key «anthropic»
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
mysql: [ERROR] mysql -h db -u ‹user› -p«pws» exited with 1
sshpass -p «pws» rsync -a x ‹user›@‹host›:
Redis: requirepass "«pws»"
env REDIS_PASSWORD=«pws» ./app
'password' => '«pws»',
smb: mount.cifs //‹host›/s /mnt -o user=‹user›,password=«pws»
{"db":{"user":"‹user›","password":"«pws»"}}
rabbitmqctl add_user ‹user› «pws»
FATAL: could not run "PGPASSWORD='«pws»' pg_dump -h ‹host› ‹word›"
│   on rds.tf line 12:⏎│   12:   master_password = "«pws»"
helm upgrade --install x . --set auth.rootPassword=«pws»
kubectl create secret generic x --from-literal=password=«pws»
docker run -d -e MARIADB_ROOT_PASSWORD=«pws» mariadb
  gradle.properties: signing.keyPassword=«pws»
keytool -genkey -storepass «pws» -alias x
spring.datasource.password=«pws»
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="‹user›" password="«pws»";
ssl.keystore.password = «pws»
user.setPassword("«pws»");
'PASSWORD': '«pws»',
ALTER ROLE ‹user› WITH PASSWORD '«pws»';
ansible-playbook site.yml -e "ansible_become_pass=«pws»"
ExecStart=/usr/bin/app --db-password «pws»
<add key="SmtpPassword" value="«pws»" />
nmcli dev wifi connect ‹word› password «pws»
FATAL:  could not parse "user=‹user› password=«pws» host=‹host›"
    <password>«pws»</password>
  - mysqldump -h ‹host› -u ‹user› -p«pws» ‹word› > x.sql
  db_password = "«pws»"
passwd: «pws»
$db_pass = '«pws»';
my $password = "«pws»";
  password = "«pws»" -- lua
spark.ssl.keyPassword=«pws»
let password = "«pws»".to_string();
sudo: echo «pws» | sudo -S systemctl restart nginx
Error: P1000 user=‹user› password='«pws»'
vault kv put secret/db password=«pws»
TASK [mysql_user] => changed: password: "«pws»"
mount -t cifs -o username=‹user›,password=«pws» //‹host›/s /mnt
openssl pkcs12 -export -passout pass:«pws» -out x.p12
heroku config:set ADMIN_PASSWORD=«pws»
new SqlCredential("‹user›", password: "«pws»")
User.create!(email: "x@y.z", password: "«pws»")
unzip -P «pws» backup.zip
liquibase --username=‹user› --password=«pws» update
createuser: ALTER USER ‹user› PASSWORD '«pws»'
  MONGO_INITDB_ROOT_PASSWORD: «pws»
sshpass -p '«pws»' scp a ‹user›@‹host›:/tmp
config/database.yml:⏎  password: «pws»
<user name="‹user›" password="«pws»"/>
curl -d 'username=‹user›&password=«pws»' https://‹host›/login
zabbix_agentd: DBPassword=«pws»
mysqld: Access denied; tried password '«pws»'
lftp: open -u ‹user›,«pws» ftp://‹host›
  - db_pass: «pws»
Get-Credential: ConvertTo-SecureString "«pws»" -AsPlainText
docker secret: ROOT_PASSWORD=«pws»
kinit: password for x: echo '«pws»' | kinit ‹user›
server.ssl.key-store-password: «pws»
psql "postgresql://‹host›/x?user=‹user›&password=«pws»"
tomcat-users.xml: <user username="‹user›" password="«pws»" roles="x"/>
ORA-01017: connect ‹user›/«pws»@‹host›:1521/ORCL
pg_restore: PGPASSWORD=«pws» failed
wp config create --dbpass=«pws»
mosquitto_pub -u ‹user› -P «pws» -t x
flask: app.config['DB_PASSWORD'] = '«pws»'
compose: MYSQL_PASSWORD=«pws» is weak
ldapsearch -D cn=x -w «pws» -b dc=y
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
gh auth: token «ghp» lacks scope repo
GITLAB_TOKEN: "«glpat»"
SLACK_BOT_TOKEN=«xoxb»
npm config set //npm.example.org/:_authToken «npm»
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
git: using GITHUB_TOKEN «ghp»
glab auth login --token «glpat»
slack: posting with «xoxb» failed
.npmrc: _authToken=«npm»
Invalid token: «hf»
Authorization: Bearer «mixed40»
discord token=«discord»
X-Vault-Token: «hvs»
npm ERR! //npm.example.org/:_authToken=«npm»
##[error] remote rejected: GITHUB_TOKEN ***, fallback «ghp»
Run actions/checkout@v4⏎  token: «ghs»
$ curl --header "PRIVATE-TOKEN: «glpat»" https://‹host›/api/v4/projects
docker login ghcr.io -u ‹user› --password «ghpat»
  "chat_postMessage token=«xoxb» error=invalid_auth"
SLACK_APP_TOKEN: «xapp»
https://hooks.slack.com/services/«slackhook»
pip: uploading with TWINE_PASSWORD=«pypi»
HUGGING_FACE_HUB_TOKEN=«hf» python train.py
VAULT_TOKEN=«hvs» vault read secret/x
kubeadm join ‹host›:6443 --token «kubeadm» --discovery-token-unsafe-skip-ca-verification
terraform login: credentials "app.terraform.io" { token = "«tfe»" }
sonar-scanner -Dsonar.login=«sonar»
flyctl deploy --access-token «fly»
DIGITALOCEAN_ACCESS_TOKEN: «dop»
fetch('/api', { headers: { Authorization: 'Bearer «mixed64»' } })
jj git push: GITHUB_TOKEN=«ghp» rejected
Bazel: --remote_header=Authorization="Bearer «mixed40»"
cargo publish --token «mixed32»
gem push: GEM_HOST_API_KEY=«mixed40»
    environment: { NPM_TOKEN: «npm» }
:token => "«glpat»"
tokenValue := "«xoxb»"
setToken('«hf»');
x-vault-token: «hvs»
[ERROR] pypi upload «pypi» 403
Cookie: JSESSIONID=«HEX32»; Path=/
circleci: CIRCLE_TOKEN=«hex40»
buildkite-agent start --token «mixed40»
travis: env.global: GH_TOKEN=«ghp»
glab: 401 {"token":"«glpat»"}
sentry-cli --auth-token «sntrys» releases new x
chat.postMessage: curl -F token=«xoxb»
client = WebClient(token="«xoxb»")
wrangler: CLOUDFLARE_API_TOKEN=«mixed40»
helm: docker token «dckr» denied
gh api: bad credentials «ghp»
argo: ARGOCD_AUTH_TOKEN=«mixed64»
lerna publish: //npm.example.org/:_authToken=«npm»
telegram-cli --token «telegram»
nomad: X-Nomad-Token: «uuid»
"accessToken": "«mixed64»"
slack webhook https://hooks.slack.com/services/«slackhook» 404
rasa: SLACK_TOKEN="«xoxb»"
dial: websocket wss://‹host›/ws?access_token=«mixed64»
Set-Cookie: session=«mixed64»; Secure; HttpOnly
git: GIT_ASKPASS echo «ghp»
curl -H "X-Auth-Token: «mixed40»" https://‹host›
rclone: token = {"access_token":"«mixed64»"}
PULUMI: NPM_TOKEN «npm»
discord.js: TOKEN_INVALID «discord»
vault: client token «hvs»
nuget push -k «mixed40» --token «mixed40»
vercel --token «mixed40» deploy
snyk: SNYK_TOKEN=«uuid»
renovate: GITHUB_COM_TOKEN=«ghpat»
gitlab-runner register --registration-token «glrt»
header "Authorization": "token «ghp»"
slack-cli: «xoxb» invalid_auth
refreshToken: "«mixed64»"
remote: HTTP Basic: Access denied. CI_JOB_TOKEN=«mixed20»
Error: 401 Bad credentials - GITHUB_TOKEN=«ghp»
{"ok":false,"error":"invalid_auth","token":"«xoxb»"}
wget --header="PRIVATE-TOKEN: «glpat»" https://‹host›/api/v4/x -> 401
discord.errors.LoginFailure: Improper token has been passed: «discord»
npm ERR! 403 //npm.example.org/:_authToken=«npm»
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
invalid key:⏎«pem»⏎end of file
worker-3: «pem_logged»
"tls_key": "«pem_json»"
solana config: keypair «sol_array»
wallet: «sol58»
ETH_KEY=0x«hex64»
recovery phrase: «words12»
[stdout] «pem_bracket»
kubectl get secret tls -o jsonpath='{.data}'⏎«pem»
ssh: error in libcrypto⏎«pem_openssh»
‹date› ‹host› sshd[91]: «pem_syslog»
  ssl_certificate_key: |⏎  «pem_indent2»
diff --git a/id_rsa b/id_rsa⏎«pem_diff»
sed -n 12,30p key.pem⏎«pem_numbered»
GOOGLE_PRIVATE_KEY="«pem_json»"
head -5 server.key⏎«pem_nofooter»
gpg --export-secret-keys -a⏎«pgp»
Error: Invalid keypair file: «sol_array»
anchor deploy: wallet «sol58» has no funds
const signer = new ethers.Wallet("0x«hex64»");
cargo run -- --private-key 0x«hex64»
wg genkey: PrivateKey = «b64_44»
sops: age identity «age» not found
nostr: nsec «nsec»
importprivkey «wif» failed
ansible: msg: |⏎    «pem_indent2»
TASK [tls] fatal: «pem_json»
web-1 | «pem_compose»
‹date› «pem_syslog»
private_key = «sol_array»
wallet.secretKey = "«sol58»"
Invalid ethereum key: 0x«hex64», private key expected
  seed phrase = "«words12»"
  mnemonic: «words24»
-PrivateKey «b64_44»
identity «age» unreadable
openssl: unable to load key⏎«pem_nofooter»
journalctl -u app⏎«pem_syslog»
cat deploy_key⏎«pem_openssh»
vault write pki/config key="«pem_json»"
git show HEAD:id_rsa⏎«pem_diff»
solana-keygen: «sol_array»
let payer = Keypair::from_base58_string("«sol58»");
foundry: --private-key 0x«hex64»
backup phrase: «words12»
nginx: PEM_read_bio failed⏎«pem»
docker compose logs⏎web_1  | «pem_compose»
terraform output⏎private_key_pem = "«pem_json»"
ssh-add -⏎«pem_openssh»
anchor: Error reading keypair «sol_array»
brownie: accounts.add("0x«hex64»") private key
ledger: recovery phrase «words24»
[Interface]⏎PrivateKey = «b64_44»
fatal: key⏎«pem»⏎is encrypted
   | tls.key: "«pem_json»"
kubectl logs app⏎«pem_nofooter»
ls; cat id_ed25519⏎«pem_openssh»
keypair «sol_array» is not a file
export PRIVATE_KEY=0x«hex64»
secret key: «sol58»
Your seed phrase: «words12»
caddy: tls: failed to find any PEM data in⏎«pem»
openvpn: <key>⏎«pem»⏎</key>
"sshKey": "«pem_json»"
scp: «pem_bracket»
gh secret set KEY < k.pem⏎«pem_nofooter»
bs58 «sol58»
truffle: privateKeys: ["0x«hex64»"]
mnemonic="«words12»"
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
JWK: {"kty":"OKP","crv":"Ed25519","d":"«url43»","x":"‹url43›"}
acme: account key «pem_json»
cosmos: priv_validator_key.json "priv_key":{"type":"tendermint/PrivKeyEd25519","value":"«b64_88»"}
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
Error: connect ECONNREFUSED postgresql://‹user›:«pwu»@‹host›/‹word›
mongo uri mongodb://‹user›:«pwu»@‹host›/admin
REDIS=redis://:«pwu»@‹host›/2
gorm: failed to connect ‹user›:«pwu»@tcp(‹host›:3306)/‹word›
jdbc:mysql://‹user›:«pwu»@‹host›/‹word›
Data Source=‹host›;User ID=sa;Password=«pwu»
sqlplus system/«pwu»@‹host›
amqp://‹user›:«pwu»@‹host›:5672/vhost
sqlalchemy.exc.OperationalError: (psycopg2) postgresql://‹user›:«pwu»@‹host›:5432/‹word›
PrismaClientInitializationError: DATABASE_URL=postgresql://‹user›:«pwu»@‹host›/‹word›?schema=public
pg_dump: error: connection to "postgres://‹user›:«pwu»@‹host›/‹word›" failed
flyway -url=jdbc:postgresql://‹host›/‹word› -user=‹user› -password=«pwu» migrate
org.hibernate.HibernateException: jdbc:mysql://‹user›:«pwu»@‹host›:3306/‹word›
MongoServerSelectionError: mongodb://‹user›:«pwu»@‹host›:27017/?authSource=admin
sidekiq: Error connecting to Redis on redis://default:«pwu»@‹host›:6379/0
      REDIS_URL: rediss://:«pwu»@‹host›:6380
pika.exceptions: amqps://‹user›:«pwu»@‹host›/%2F
ConnectionStrings__Default="Server=‹host›;Database=‹word›;User Id=‹user›;Password=«pwu»;"
"DefaultConnection": "Host=‹host›;Username=‹user›;Password=«pwu»;Database=‹word›"
goose mysql "‹user›:«pwu»@tcp(‹host›:3306)/‹word›?parseTime=true" up
Sequel.connect('postgres://‹user›:«pwu»@‹host›/‹word›')
elixir: ecto://‹user›:«pwu»@‹host›/‹word›
psql "host=‹host› user=‹user› dbname=‹word› password=«pwu»"
clickhouse-client: clickhouse://‹user›:«pwu»@‹host›:9440/‹word›
airflow: AIRFLOW__CORE__SQL_ALCHEMY_CONN=mysql+mysqldb://‹user›:«pwu»@‹host›/airflow
knex: connect postgres://‹user›:«pwu»@‹host›:5432/‹word› ECONNREFUSED
Rails: ActiveRecord: mysql2://‹user›:«pwu»@‹host›/‹word›
dbt: profiles: postgresql://‹user›:«pwu»@‹host›/‹word›
Database connection mongodb+srv://‹user›:«pwu»@‹word›.mongodb.net/test failed
redis.exceptions: redis://‹user›:«pwu»@‹host›:6379
DSN=‹user›:«pwu»@tcp(‹host›:3306)/‹word›
Server=‹host›;Uid=‹user›;Pwd=«pwu»;
jdbc:oracle:thin:‹user›/«pwu»@‹host›:1521:XE
R2DBC: r2dbc:postgresql://‹user›:«pwu»@‹host›/‹word›
snowflake://‹user›:«pwu»@x.eu-west-1/‹word›
celery broker amqp://‹user›:«pwu»@‹host›:5672//
[WARN] HikariPool - jdbc:postgresql://‹host›/‹word›?user=‹user›&password=«pwu»
typeorm: url: postgres://‹user›:«pwu»@‹host›/‹word›
diesel: failed for postgres://‹user›:«pwu»@‹host›/‹word›
alembic: sqlalchemy.url = mysql+pymysql://‹user›:«pwu»@‹host›/‹word›
laravel: DATABASE_URL=mysql://‹user›:«pwu»@‹host›:3306/‹word›
bull: redis://:«pwu»@‹host›:6379/3
mongodump --uri="mongodb://‹user›:«pwu»@‹host›:27017/‹word›"
nats: connected to nats://‹user›:«pwu»@‹host›:4222
Provider=SQLOLEDB;Data Source=‹host›;User ID=‹user›;Password=«pwu»;
jOOQ: postgresql://‹user›:«pwu»@‹host›/‹word›: timeout
django.db: DATABASE_URL 'postgres://‹user›:«pwu»@‹host›/‹word›'
sqlx: error with `mysql://‹user›:«pwu»@‹host›/‹word›`
rails db: redis://:«pwu»@‹host›:6379/1
pgbouncer: host=‹host› user=‹user› password=«pwu»
ef: "Server=‹host›;Database=‹word›;User Id=‹user›;Password=«pwu»"
mongoose: mongodb://‹user›:«pwu»@‹host›/‹word›
rabbit: amqp://‹user›:«pwu»@‹host›/%2f
spring.datasource.url=jdbc:postgresql://‹user›:«pwu»@‹host›/‹word›
cargo sqlx prepare: DATABASE_URL=postgres://‹user›:«pwu»@‹host›/‹word›
FATAL: postgres://‹user›:«pwu»@‹host›:5432/‹word›: no pg_hba.conf entry
[mongo] mongodb+srv://‹user›:«pwu»@‹host›/‹word›
redis-cli -u redis://:«pwu»@‹host›:6379
dsn := "‹user›:«pwu»@tcp(‹host›:3306)/‹word›"
AMQP_URL=amqps://‹user›:«pwu»@‹host›/v
pg8000: host=‹host› password=«pwu» user=‹user›
graphile: postgres://‹user›:«pwu»@‹host›/‹word› refused
keycloak: KC_DB_URL=jdbc:postgresql://‹host›/‹word›?user=‹user›&password=«pwu»
beego: ‹user›:«pwu»@tcp(‹host›:3306)/‹word›?charset=utf8
metabase: MB_DB_CONNECTION_URI=postgres://‹user›:«pwu»@‹host›/‹word›
celery -b redis://:«pwu»@‹host›:6379/0 worker
"mongodb://‹user›:«pwu»@‹host›:27017"
superset: mysql://‹user›:«pwu»@‹host›/‹word›
Data Source=‹host›;Initial Catalog=‹word›;User ID=‹user›;Password=«pwu»
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
botocore.exceptions.ClientError: «akia» InvalidClientTokenId
aws_secret_access_key: «aws40»
AWS_SECRET_KEY=«aws40»
"secretAccessKey":"«aws40»"
docker run -e AWS_ACCESS_KEY_ID=«akia» x
AWS_SECURITY_TOKEN=«awstoken»
mc alias set a https://‹host› «akia» «aws40»
s3.secret-key=«aws40»
│   access_key = "«akia»"
│   secret_key = "«aws40»"
An error occurred (SignatureDoesNotMatch) for AWSAccessKeyId=«akia»
fatal error: Unable to locate credentials: aws_access_key_id=«akia»
[default]⏎aws_access_key_id = x⏎aws_secret_access_key = «aws40»
  AWS_SECRET_ACCESS_KEY:⇥«aws40»
docker build --build-arg AWS_SECRET_ACCESS_KEY=«aws40» .
export AWS_ACCESS_KEY_ID="«asia»" AWS_REGION=eu-central-1
"SessionToken": "«awstoken»",
kubectl set env deploy/x AWS_SECRET_ACCESS_KEY=«aws40»
new AWS.S3({ accessKeyId: '«akia»', region: 'x' })
secretAccessKey: '«aws40»',
boto3.client('s3', aws_secret_access_key='«aws40»')
fs.s3a.secret.key=«aws40»
spark.hadoop.fs.s3a.access.key «akia»
SES_SMTP_PASSWORD=«ses44»
rclone: secret_access_key = «aws40»
pulumi: aws:secretKey: «aws40»
botocore.config: aws_access_key_id='«akia»'
terraform.tfvars: aws_secret_key = "«aws40»"
AWS_SECRET_ACCESS_KEY: "«aws40»"
 credentials: «akia» is not authorized
  "secret_access_key": "«aws40»"
aws configure set aws_secret_access_key «aws40»
s3fs: «akia»:«aws40»
Credential=«akia»/20261103/eu-central-1/s3/aws4_request
AWS_SESSION_TOKEN=«awstoken»
  accessKeyId: "«asia»"
aws: error: --secret-key «aws40»
ecs: "name": "AWS_SECRET_ACCESS_KEY", "value": "«aws40»"
serverless: credentials «akia» expired
s3_secret_access_key: «aws40»
Aws::S3::Client.new(secret_access_key: '«aws40»')
restic: export AWS_SECRET_ACCESS_KEY="«aws40»"
boto: InvalidAccessKeyId «akia»
env | grep AWS⏎AWS_SECRET_ACCESS_KEY=«aws40»
x-amz-security-token: «awstoken»
packer: access_key «akia»
cdk: Need credentials, got AWS_ACCESS_KEY_ID=«akia»
aws_secret_key: "«aws40»"
"SecretAccessKey": "«aws40»",
sam: AWS_SECRET_ACCESS_KEY=«aws40»
s3.setCredentials("«akia»", "x")
minio: secretKey: «aws40»
AWS_SESSION_TOKEN «awstoken»
[profile x]⏎aws_secret_access_key=«aws40»
An error occurred (InvalidClientTokenId): «akia»
      - AWS_SECRET_ACCESS_KEY=«aws40»
accessKey: «akia», secretKey: «aws40»
env: [{"name":"AWS_SECRET_ACCESS_KEY","value":"«aws40»"}]
duplicity s3: AWS_ACCESS_KEY_ID=«akia»
"aws_session_token": "«awstoken»"
secret_access_key «aws40»
ansible: aws_secret_key: «aws40»
[minio]⏎secret_key = «aws40»
argo: AWS_SECRET_ACCESS_KEY «aws40»
boto3.Session(aws_access_key_id="«akia»")
"AccessKeyId" : "«asia»"
loki: s3: secret_access_key: «aws40»
rails: secret_access_key: "«aws40»"
X-Amz-Credential=«akia»%2F20261103
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
Google Maps error: key «aiza» expired
fcm: Authorization: Bearer «ya29»
client_secret: «gocspx»
GCP_API_KEY="«aiza»"
"private_key": "«pem_json»"
https://www.googleapis.com/youtube/v3/search?key=«aiza»
refresh_token=«goog_refresh»
firebase apiKey '«aiza»'
ERROR: (gcloud.auth) refresh failed: refresh_token «goog_refresh»
"private_key_id": "«hex40»",
  google.api_key = «aiza»
AndroidManifest.xml:31: android:value="«aiza»"
  "current_key": "«aiza»"
flutter: FirebaseOptions(apiKey: '«aiza»', appId: 'x')
curl -H "Authorization: Bearer «ya29»" https://storage.googleapis.com/b
access_token=«ya29» expires_in=3599
GOOGLE_CLIENT_SECRET=«gocspx»
  client_secret: '«gocspx»'
gsutil: gs_access_key_id = «goog1e»
echo «b64_json» | base64 -d > key.json
GOOGLE_CREDENTIALS=«b64_json»
https://maps.googleapis.com/maps/api/geocode/json?address=x&key=«aiza»
gcp.service-account.private_key="«pem_json»"
oauth2: cannot fetch token, client_secret=«gocspx»
i18n: translate.googleapis.com 403 key «aiza»
gcloud: error key=«aiza» restricted
"refresh_token": "«goog_refresh»"
  client_secret: «gocspx»
  "api_key": [ { "current_key": "«aiza»" } ]
gsutil config: gs_secret «goog1e»
VITE_FIREBASE_KEY=«aiza»
Authorization: Bearer «ya29»
GCP_SA_KEY=«b64_json»
FCM_KEY=«aiza» push failed
"private_key": "«pem_json»"
oauth token «ya29» expired
gcloud auth print-access-token⏎«ya29»
google-services.json: "current_key": "«aiza»"
ERROR: (bq) invalid_grant «goog_refresh»
oauth2client: client_secret='«gocspx»'
maps.js?key=«aiza»&callback=init
{"private_key_id":"«hex40»","type":"service_account"}
GOOGLE_APPLICATION_CREDENTIALS_JSON=«b64_json»
terraform: access_token = "«ya29»"
hmac: «goog1e» not found
gke: token «ya29» rejected
fastlane: GOOGLE_API_KEY=«aiza»
"apiKey": "«aiza»",
"client_secret":"«gocspx»"
dataflow: key=«aiza»
refresh_token: «goog_refresh»
firebase-admin: "private_key": "«pem_json»"
YOUTUBE_KEY: "«aiza»"
Cloud Build: ERROR key=«aiza»
gsutil -o Credentials:gs_oauth2_refresh_token=«goog_refresh»
const firebaseConfig = { apiKey: "«aiza»" };
vertex: Authorization: Bearer «ya29»
OAUTH_CLIENT_SECRET=«gocspx»
"private_key_id" : "«hex40»"
SA=«b64_json»
places api «aiza» over quota
ktor: googleApiKey = "«aiza»"
kubectl: gcr pull: _json_key «b64_json»
expo: "googleMapsApiKey": "«aiza»"
gcloud: ERROR: token «ya29»
passport-google: clientSecret: '«gocspx»'
{"refresh_token":"«goog_refresh»"}
key «aiza» has referer restrictions
"private_key":"«pem_json»"
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
AzureStorage: AccountKey=«b64_88» is wrong
AZURE_CLIENT_SECRET: «azsecret»
Endpoint=sb://x.servicebus.windows.net/;SharedAccessKey=«b64_44»
SAS: ?sv=2025&se=2026&sig=«sigenc»
ApplicationInsights: InstrumentationKey=«uuid»
POST https://f.azurewebsites.net/api/x?code=«azfunc»
cosmos AccountEndpoint=https://x/;AccountKey=«b64_88»;
az login --service-principal -p «azsecret»
az storage blob list --account-name x --account-key «b64_88»
DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«b64_88»;EndpointSuffix=core.windows.net
│   client_secret = "«azsecret»"
ARM_CLIENT_SECRET=«azsecret»
AADSTS7000215: Invalid client secret «azsecret» is provided
azcopy copy "https://x.blob.core.windows.net/c?sv=2025-01-05&sig=«sigenc»"
Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«b64_44»
HostName=x.azure-devices.net;DeviceId=d;SharedAccessKey=«b64_44»
APPLICATIONINSIGHTS_CONNECTION_STRING=InstrumentationKey=«uuid»;IngestionEndpoint=https://x/
func: https://x.azurewebsites.net/api/h?code=«azfunc»
AZURE_OPENAI_API_KEY: «azopenai»
az devops login --token «azdevops»
COSMOS_KEY="«b64_88»"
docker login x.azurecr.io -u x -p «acr»
Ocp-Apim-Subscription-Key: «hex32»
AzureWebJobsStorage: AccountKey=«b64_88»
az sp credential: { "password": "«azsecret»" }
az login --service-principal --password «azsecret»
AZURE_CLIENT_SECRET=«azsecret»
pulumi: azure: clientSecret "«azsecret»"
storage: AccountName=x;AccountKey=«b64_88»
Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=«b64_44»
blob sas ?sv=2024&sig=«sigenc»&se=2026
code=«azfunc» is not valid
PAT «azdevops» expired
OPENAI key «azopenai» 401
docker password «acr»
  "accountKey": "«b64_88»"
az storage account keys list⏎"value": "«b64_88»"
AADSTS70002: secret «azsecret»
connectionString: "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«b64_88»"
--client-secret «azsecret»
https://a.blob.core.windows.net/c/f?sp=r&sig=«sigenc»
ServiceBus: SharedAccessKey=«b64_44» denied
https://a.azurewebsites.net/api/f?code=«azfunc»
git clone with PAT «azdevops»
APPINSIGHTS_INSTRUMENTATIONKEY=«uuid»
bicep: clientSecret: '«azsecret»'
az acr login -p «acr»
AccountKey=«b64_88» invalid
azure: SharedAccessKey=«b64_44»
?sv=2025-01-05&ss=b&sig=«sigenc»
Azure DevOps: password «azdevops»
func key: ?code=«azfunc»
secret value «azsecret»
ERROR: AADSTS7000215 «azsecret»
  storage_account_access_key: «b64_88»
Endpoint=sb://‹word›.servicebus.windows.net/;SharedAccessKey=«b64_44»
curl "https://‹word›.blob.core.windows.net/a?sig=«sigenc»"
connection: AccountName=a;AccountKey=«b64_88»;x
env ARM_CLIENT_SECRET="«azsecret»"
azd: token «azdevops»
api-key: «azopenai»
velero: AZURE_CLIENT_SECRET=«azsecret»
terraform: primary_access_key = "«b64_88»"
iot: SharedAccessKey=«b64_44»
download: ...?sv=2025-05-05&sr=b&sig=«sigenc»
client_secret=«azsecret»&grant_type=client_credentials
AzureFileShare: AccountKey=«b64_88»;
AZURE_DEVOPS_EXT_PAT=«azdevops»
openai.api_key = "«azopenai»"
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
curl -k -u ‹user›:«pwu» https://‹host›/api/v1
curl: (6) could not resolve https://‹user›:«pwu»@‹host›
proxy = http://‹user›:«pwu»@‹host›:8080
Authorization: Basic «basic» rejected
ab -A ‹user›:«pwu» https://‹host›/
xh --auth ‹user›:«pwu» ‹host›
WARN proxy https://‹user›:«pwu»@‹host›:3128 timed out
"Authorization": "Basic «basic»"
pip install --index-url https://‹user›:«pwu»@‹host›/simple x
Looking in indexes: https://‹user›:«pwu»@‹host›/pypi/simple
npm ERR! 401 Unauthorized - GET https://‹user›:«pwu»@‹host›/x
> Could not GET 'https://‹user›:«pwu»@‹host›/maven2/x.pom'
curl: (22) curl -sf -u '‹user›:«pwu»' https://‹host›/health
wget: https://‹user›:«pwu»@‹host›/x.deb: 403
docker: Error: proxyconnect http://‹user›:«pwu»@‹host›:3128
Acquire::http::Proxy "http://‹user›:«pwu»@‹host›:8080";
"proxy-authorization": "Basic «basic»"
authorization: Basic «basic»
req.SetBasicAuth("‹user›", "«pws»")
requests.get(u, auth=("‹user›", "«pws»"))
$ http -a ‹user›:«pwu» POST ‹host›/api
          "auth": "«basic»"
skopeo copy --dest-creds ‹user›:«pwu» a b
conda: https://‹user›:«pwu»@‹host›/channel/noarch
bazel: --remote_header="Authorization=Basic «basic»"
cargo: failed to fetch https://‹user›:«pwu»@‹host›/index
nuget: Source https://‹user›:«pwu»@‹host›/v3/index.json
composer: http://‹user›:«pwu»@‹host›/packages.json
requests.get("https://x", auth=HTTPBasicAuth("‹user›", "«pws»"))
Authorization: Basic «basic»
https_proxy=http://‹user›:«pwu»@‹host›:3128
curl --user "‹user›:«pwu»" https://‹host›
bazel: proxy http://‹user›:«pwu»@‹host›:8080
wget --header="Authorization: Basic «basic»" https://‹host›
xh -a '‹user›:«pwu»' ‹host›
resource: https://‹user›:«pwu»@‹host›/a.jar timed out
mvn: Could not transfer from https://‹user›:«pwu»@‹host›/repo
poetry: https://‹user›:«pwu»@‹host›/simple/
yarn: HTTP proxy http://‹user›:«pwu»@‹host›:3128
curl -v --basic --user ‹user›:«pwu» https://‹host›
> Authorization: Basic «basic»
headers = {"Authorization": "Basic «basic»"}
httpie: http --auth=‹user›:«pwu» ‹host›
prometheus: scrape https://‹user›:«pwu»@‹host›/metrics
~/.docker/config.json: "auth": "«basic»"
apt: E: Failed to fetch https://‹user›:«pwu»@‹host›/x.deb
sbt: resolve https://‹user›:«pwu»@‹host›/ivy
Authorization: Basic «basic»
grafana: http://‹user›:«pwu»@‹host›:3000
curl -u "‹user›:«pwu»" -k https://‹host›
axios: auth header Basic «basic»
proxy http://‹user›:«pwu»@‹host›:3128 refused
helm repo add x https://‹user›:«pwu»@‹host›/charts
elasticsearch: http://‹user›:«pwu»@‹host›:9200/_cluster
ERROR: https://‹user›:«pwu»@‹host›/repository/pypi/simple
curl -X POST -u ‹user›:«pwu» https://‹host›/build
Proxy-Authorization: Basic «basic»
no_proxy= all_proxy=http://‹user›:«pwu»@‹host›:1080
Authorization: Basic «basic»
"auth": "«basic»",
ab -n 1 -A ‹user›:«pwu» https://‹host›/
curl --proxy http://‹user›:«pwu»@‹host›:3128 https://x
gradle: systemProp.http.proxy=http://‹user›:«pwu»@‹host›:8080
influx: http://‹user›:«pwu»@‹host›:8086
> authorization: Basic «basic»
kibana: https://‹user›:«pwu»@‹host›:5601
oras login: --creds ‹user›:«pwu»
urllib: https://‹user›:«pwu»@‹host›/x
fetch: {"Authorization":"Basic «basic»"}
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
git pull https://‹user›:«pwu»@‹host›/o/r.git
remote: https://‹user›:«ghp»@github.com/o/r not found
git clone -q https://«ghp»@github.com/o/r x
error: could not fetch https://‹user›:«pwu»@‹host›/r.git
origin https://‹user›:«glpat»@‹host›/o/r.git (push)
pip: git+https://‹user›:«pwu»@‹host›/r.git
url=https://‹user›:«pwu»@github.com/o/r.git
fatal: repository 'https://‹user›:«pwu»@‹host›/r/' not found
##[command]git remote add origin https://x-access-token:«ghs»@github.com/o/r
fatal: unable to access 'https://‹user›:«pwu»@‹host›/o/r.git/': SSL
error: RPC failed for https://oauth2:«glpat»@‹host›/o/r.git
Cloning into 'r'... https://‹user›:«ghp»@github.com/o/r.git
[remote "origin"]⏎⇥url = https://‹user›:«pwu»@‹host›/o/r.git
go: module github.com/o/r: git ls-remote https://«ghp»@github.com/o/r
   Updating git repository `https://‹user›:«pwu»@‹host›/o/r`
jj git clone https://‹user›:«pwu»@‹host›/o/r
npm ERR! git+https://«ghp»:x-oauth-basic@github.com/o/r.git
composer: https://‹user›:«pwu»@‹host›/o/r.git is not a git repository
git config url."https://«glpat»@‹host›/".insteadOf https://‹host›/
$ cat ~/.git-credentials⏎https://‹user›:«ghp»@github.com
git submodule: https://‹user›:«pwu»@bitbucket.org/o/r.git
git lfs push: https://‹user›:«pwu»@‹host›/o/r.git/info/lfs
argocd repo add https://‹host›/o/r.git --username ‹user› --password «ghp»
source = "git::https://‹user›:«pwu»@‹host›/o/m.git"
flux bootstrap git --url=https://‹user›:«pwu»@‹host›/o/r
jj git fetch https://‹user›:«pwu»@‹host›/o/r.git
fatal: Authentication failed for 'https://‹user›:«ghp»@github.com/o/r.git/'
$ git clone https://oauth2:«glpat»@‹host›/o/r.git
remote: https://x-access-token:«ghs»@github.com/o/r
hub: origin https://«ghp»@github.com/o/r.git (fetch)
go get: https://‹user›:«pwu»@‹host›/m.git
npm: git+https://«ghpat»@github.com/o/r.git
Cloning https://‹user›:«pwu»@‹host›/r.git into vendor
pip install git+https://«ghp»@github.com/o/r@main
cargo: https://‹user›:«pwu»@‹host›/o/r.git
git remote set-url origin https://‹user›:«pwu»@‹host›/r.git
+ git push https://‹user›:«ghp»@github.com/o/r.git HEAD:main
actions: https://x-access-token:«ghs»@github.com/o/r.git
renovate: https://oauth2:«glpat»@‹host›/o/r.git
Fetching https://‹user›:«pwu»@‹host›/o/r.git
origin  https://‹user›:«pwu»@bitbucket.org/o/r.git (fetch)
bundler: git: 'https://«ghp»@github.com/o/r.git'
pip: Cloning https://‹user›:«pwu»@‹host›/o/r.git to /tmp/x
hg clone https://‹user›:«pwu»@‹host›/r
url = https://«ghpat»@github.com/o/r.git
drone: + git fetch https://‹user›:«pwu»@‹host›/o/r.git
fatal: https://‹user›:«ghp»@github.com/o/r.git/info/refs
terraform init: git::https://oauth2:«glpat»@‹host›/o/m.git
git remote -v: https://«ghp»@github.com/o/r
go: git clone https://‹user›:«pwu»@‹host›/o/r
dependabot: https://x-access-token:«ghs»@github.com/o/r
npm install git+https://‹user›:«pwu»@‹host›/o/r.git
git push https://‹user›:«pwu»@‹host›/o/r.git
remote: Repository not found. fatal: repository 'https://‹user›:«ghp»@github.com/o/r.git/' not found
west update: https://‹user›:«pwu»@‹host›/r.git
repo sync: https://oauth2:«glpat»@‹host›/o/r.git
git ls-remote https://‹user›:«pwu»@‹host›/o/r.git HEAD
pre-commit: https://«ghp»@github.com/o/r
mix deps.get: https://‹user›:«pwu»@‹host›/o/r.git
swift: https://x-access-token:«ghs»@github.com/o/r.git
fetch = https://‹user›:«pwu»@‹host›/o/r.git
woodpecker: git clone https://‹user›:«pwu»@‹host›/o/r.git
chezmoi init https://‹user›:«ghp»@github.com/o/r.git
nix: git+https://«ghp»@github.com/o/r
yarn: https://«glpat»:x-oauth-basic@‹host›/o/r.git
error: could not lock https://‹user›:«pwu»@‹host›/o/r.git
gitea: remote https://‹user›:«pwu»@‹host›/o/r.git
Pushing to https://‹user›:«pwu»@‹host›/o/r.git
uv: git+https://‹user›:«pwu»@‹host›/o/r.git
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
payment with card «card» rejected
"pan": "«card»"
cardnumber: «cardsp»
‹user› «cardda» 12/28
test card «amex»
INSERT INTO c VALUES ('«card»')
card=«card» status=402
declined: «cardsp»
ERROR:  value "«card»" violates check constraint
stripe.error.CardError: Your card «card» was declined
kafka: record {"pan":"«card»","amount":‹n›}
2026-11-03 INFO payment - charging «cardsp» for order ‹n›
logger.info("card {}", "«cardda»");
assertEquals("«card»", payment.number())
  card_number: '«cardsp»'
INSERT INTO payments (card, amt) VALUES ('«card»', ‹n›);
<CardNumber>«card»</CardNumber>
curl -d number=«card» -d cvc=123 https://‹host›/v1/tokens
amex «amex» approved
‹user›;«card»;11/29
Key (card)=(«card») already exists.
PAN=«card»
"number" => "«cardda»"
refund to «cardsp» pending
Card: «amex»
WARN payment: card «card» invalid
{"cc":"«card»","exp":"11/29"}
SELECT * FROM o WHERE pan = '«cardsp»'
expect(card).toBe("«card»")
cards: ["«cardda»"]
PAN «card» leaked
  number: "«card»"
card «amex» expired
pay with «cardsp» (Visa)
INSERT «card»
visa=«card»
Stripe::CardError: «card» incorrect_number
payment.card=«card»
"primaryAccountNumber": "«card»"
WARN: masked failed for «cardsp»
let c = Card::new("«cardda»");
| ‹user› | «card» | 12/29 |
amex=«amex»
visa «cardsp» refused
order ‹n› paid by «card»
Adyen: refused «card»
paymentMethod: { number: "«card»" }
log: "card=«cardsp»"
braintree «amex» invalid
('«card»', '12/29')
card number «cardda»
"cardNo":"«card»"
charged «cardsp» twice
mollie: card «card» blocked
Got: "«card»", want a token
txn card=«cardda»
"pan":"«cardsp»"
test number «card»
fraud: «amex» flagged
cc «card» exp 11/29
row 7: «card»
paypal: instrument «card» declined
{"card_number":"«cardsp»"}
INFO charge «card» EUR
pos> «cardda»
amex: «amex»
"number":"«card»",
select '«card»'
mask(«card»)
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
SSN «ssn» invalid
"ssn": "«ssn»"
row 4: ‹user›,«ssn»
social security number «ssn»
ssn='«ssn»'
duplicate ssn (‹user›, «ssn»)
taxpayer id: «ssnbare»
Employee «ssn» not found
ERROR:  duplicate key value: Key (ssn)=(«ssn») already exists.
ValidationError: ssn '«ssn»' does not match
{"employee":{"ssn":"«ssn»","name":"‹user›"}}
row ‹n›: ‹user›,«ssn»,active
assert person.ssn == "«ssn»"
<SSN>«ssn»</SSN>
‹date› ‹host› hr[91]: lookup «ssn» failed
SELECT * FROM p WHERE ssn = '«ssn»';
Social Security Number: «ssn»
  ssn: «ssn»
SSN="«ssnsp»"
taxpayer id «ssnbare» rejected
"tin": "«itin»"
ITIN «itin» expired
applicant «ssn» denied
new Person("‹user›", "«ssn»")
W-2 for «ssn»
WARN ssn «ssn» duplicated
employee.ssn = "«ssn»"
{"ssn":"«ssn»"}
row: «ssn»;‹user›
SELECT «ssn»
social security: «ssn»
ssn:«ssn»
(«ssn»)
ssn=«ssnsp»
tax_id «ssnbare»
applicant ssn «ssn»
ActiveRecord: ssn "«ssn»" taken
payroll.csv: ‹user›,«ssn»,4200
| ‹user› | «ssn» |
"socialSecurityNumber": "«ssn»"
ssn_number=«ssn»
patient «ssn» admitted
WARN SSN «ssn» masked failed
taxpayer «ssn» unknown
ssn => '«ssn»'
hibernate: bind ssn [«ssn»]
{"ssn": "«ssn»", "ok": false}
SSN is «ssn»
invalid ssn: «ssn»
('‹user›', '«ssn»')
ssn: "«ssnsp»"
<TaxId>«ssn»</TaxId>
user «ssn» locked
Got ssn "«ssn»", want none
people.csv:7: «ssn»
record «ssn» rejected
"SSN":"«ssn»"
ssn '«ssn»' is invalid
social security no. «ssn»
holder ssn=«ssn»
dob 1980-01-02 ssn «ssn»
hr: «ssn» exists
{"ssn":"«ssn»","dob":"x"}
ssn column: «ssn»
<ssn>«ssn»</ssn>
SSN «ssn» on file
- «ssn»
ssn=«ssnbare»
taxpayer-id: «ssn»
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
phone «us» invalid
{"phone":"«e164»"}
sms to «e164» rejected
tel: «uspar»
call me at «us»
mobile: «ukmob»
Telefon «deintl00»
number «e164» is blocked
twilio: HTTP 400 The 'To' number «e164» is not valid
INSERT INTO users (phone) VALUES ('«us»');
"phone_number": "«uspar»",
‹date› ‹host› asterisk: dialing «e164»
contact:⏎  phone: "«us»"
user.mobile = "«ukmob»"
<phone>«e164»</phone>
SMS to «inmob» failed
callback number «usdot»
tel:«e164»
Telefon: «deloc»
Handy «demob»
fax «uspar»
whatsapp «brmob» blocked
assertEquals("«e164»", user.phone)
Key (phone)=(«e164») already exists.
msisdn=«msisdn»
WARN phone «e164» blocked
{"mobile":"«us»"}
caller: «e164»
sms «e164» ok
tel «uspar»
phone = "«inmob»"
PHONE=«frloc»
"tel": "«deintl00»"
call «usdot» now
fax: «us»
contact «e164»
ActiveRecord: phone "«e164»" taken
payroll.csv: ‹user›,«us»
| ‹user› | «uspar» |
"mobilePhone": "«e164»"
voip: INVITE tel:«e164»
phone_number=«us»
Rufnummer «deintl00»
sms: «inmob» undelivered
contactNumber: "«us»"
hibernate: bind phone [«e164»]
{"phone": "«us»"}
vonage: to=«e164»
Phone «uspar»
mobile: «inmob»
call failed: «e164»
tel. «deloc»
"fax": "«usdot»"
Got phone "«e164»", want none
people.csv:7: «us»
signal: «e164» unregistered
"phone":"«uspar»"
dial tel:«e164»
support: «us»
mobile no. «inmob»
phone: «frintl»
crm: «e164» exists
{"phone":"«us»"}
whatsapp: «brmob»
phone column: «uspar»
<tel>«e164»</tel>
otp sent to «e164»
cell: «us»
mobile=«ukmob»
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
otpauth://totp/a?secret=«b32_32»
TOTP_SECRET: «b32_32»
"mfa_secret":"«b32_32»"
pyotp.TOTP('«b32_16»')
oathtool --totp -b «b32_32»
otp_secret «b32_32» is invalid
two-factor secret: «b32_16»
authenticator key: «b32sp»
QR: otpauth://totp/‹word›:‹user›?secret=«b32_32»&issuer=x&digits=6
oathtool -b --totp «b32_32»
oathtool --totp --base32 "«b32_16»"
"totp_secret": "«b32_32»",
GOOGLE_AUTHENTICATOR_SECRET=«b32_16»
user.otp_secret = "«b32_32»"
speakeasy.totp({ secret: '«b32_32»', encoding: 'base32' })
mfa-seed: «b32_32»
aws iam create-virtual-mfa-device⏎  Base32StringSeed: «b32_32»
Your 2FA secret is «b32_16»
ROTP::TOTP.new("«b32_32»")
totp = pyotp.TOTP("«b32_32»")
vault write totp/keys/x key=«b32_32»
authenticator setup key: «b32sp»
two_factor_secret: «b32_26»
INSERT INTO users (mfa_secret) VALUES ('«b32_32»');
error: invalid TOTP secret '«b32_32»'
MFA: secret «b32_32» stored
otpauth://totp/x?issuer=y&secret=«b32_26»
totp.seed = "«b32_32»"
"2fa_secret": "«b32_32»"
OTP_SECRET=«b32_32»
twoFactorSecret: '«b32_16»'
pyotp.parse('«b32_32»')
mfa.secret «b32_32»
authenticator «b32_32»
totp --secret «b32_32»
seed for totp: «b32sp»
ActiveRecord: otp_secret "«b32_32»" invalid
otpauth://totp/GitHub:‹user›?secret=«b32_16»&issuer=GitHub
keycloak: totpSecret «b32_32»
authy: seed «b32_32» for 2fa
pass otp insert: otpauth://totp/x?secret=«b32_32»
MFA_SECRET="«b32_32»"
2fa: «b32sp»
TOTP key «b32_32»
const secret = authenticator.generateSecret(); // «b32_32»
gauth: otpauth://totp/x?secret=«b32_32»
TOTP: «b32_32»
mfa secret = "«b32_32»"
totp_key: «b32_16»
2FA_SECRET=«b32_32»
pyotp.TOTP(s) # «b32_32»
otp: "«b32_32»"
authenticator app key «b32sp»
enrolled totp secret=«b32_32»
otpauth://totp/‹word›?secret=«b32_16»&period=30
mfaSecret => "«b32_32»"
oathtool --totp -b '«b32_32»'
2fa secret: «b32_26»
totp secret key «b32_32»
user.totp = "«b32_32»"
Enter this key in your authenticator: «b32sp»
otpauth://totp/a:b?secret=«b32_32»&algorithm=SHA1
freeotp: secret=«b32_32» totp
"totp": {"secret": "«b32_32»"}
mfa_secret=«b32_16»
OTP_SEED: «b32_32»
two-factor seed «b32_32»
totp «b32_26»
google authenticator: «b32sp»
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
token «jwt» expired
Authorization: Bearer «jwt»
cookie: auth=«jwt»
JWT=«jwt»
"jwt":"«jwt»"
verify(«jwt»)
?access_token=«jwt»
id_token: «jwt»
kubectl --token=«jwt» get pods
error: jwt malformed: «jwt»
nginx: [error] auth_jwt: token "«jwt»" expired
Authorization: Bearer «jwt»
curl -H 'Authorization: Bearer «jwt»' https://‹host›
SUPABASE_SERVICE_ROLE_KEY=«jwt»
{"id_token":"«jwt»","expires_in":3600}
Set-Cookie: sid=«jwt»; Path=/; HttpOnly
‹date› ‹host› gateway: rejected «jwt»
localStorage.setItem("t", "«jwt»")
GET /ws?token=«jwt» HTTP/1.1
  token: «jwt»
ey: signature of «jwt» is invalid
user:⏎    token: «jwt»
docker login -p «jwt» registry.‹host›
pulsar: authParams=token:«jwt»
x-goog-iap-jwt-assertion: «jwt»
WARN jwt «jwt» expired
bearer «jwt»
const t = '«jwt»';
token := "«jwt»"
AUTH_TOKEN: «jwt»
  access_token = "«jwt»"
jwt(«jwt»)
my $jwt = '«jwt»';
x-auth-token: «jwt»
session=«jwt»
decode: «jwt» bad
passport-jwt: «jwt» invalid signature
Authorization: JWT «jwt»
"accessToken": "«jwt»"
wscat -H "Authorization: Bearer «jwt»"
postman: {{token}} = «jwt»
keycloak: refresh «jwt» revoked
--header "X-Token: «jwt»"
argocd --auth-token «jwt»
jwt decode «jwt»
express-jwt: «jwt»
token=«jwt»
Authorization: Bearer «jwt»
"jwt": "«jwt»"
grpc: authorization: «jwt»
--jwt «jwt»
X-Auth: «jwt»
id_token=«jwt»&state=x
W: «jwt» has bad signature
Got token "«jwt»"
curl -b "jwt=«jwt»" https://‹host›
oauth2-proxy: id_token «jwt»
kube: bearer token «jwt»
X-JWT: «jwt»
authToken: '«jwt»'
{"jwt":"«jwt»"}
traefik: jwt «jwt» refused
auth: «jwt»
"token": "«jwt»",
Authorization=Bearer «jwt»
?id_token=«jwt»
nats: user_jwt «jwt»
const jwt = "«jwt»"
expired: «jwt»
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
secret=«hex64»
"encryption_key":"«hex64»"
SESSION_KEY: «hex64»
signing secret «hex64»
api secret: «hex32»
master_key=«hex32»
hmac_secret: «hex64»
HASH_SALT=«hex64»
│   encryption_key = "«hex64»"
SECRET_KEY_BASE=«hex128» rails s
RAILS_MASTER_KEY=«hex32»
config.secret_key = '«hex64»'
APP_SECRET=«hex32»
rndc-key: secret "«hex64»";
    "hmac_secret": "«hex64»",
luksOpen: master key «hex64»
const KEY: [u8; 32] = hex!("«hex64»");
byte[] key = Hex.decode("«hex64»");
aes: bad key «hex32»
openssl enc -aes-256-cbc -K «hex64» -iv 0
k8s: encryption secret «hex64» rejected
erlang cookie: «hex40»
NEXTAUTH_SECRET: «hex64»
webhook secret is «hex40»
jwt_secret=«hex128»
SIGNING_SECRET=«hex64»
  secret: "«hex64»"
crypto secret «hex64»
api secret «hex40» rejected
master secret «hex32»
my $secret = "«hex64»";
salt = «hex64»
session secret «hex32»
hmac «hex64»
secretKey: «hex32»
encryption-key=«hex64»
django: SECRET_KEY «hex64»
laravel: APP_KEY=«hex64»
symfony: APP_SECRET=«hex32»
aes-256: secret key «hex64» invalid
vault unseal secret «hex64»
flask: app.secret_key = "«hex64»"
hmac-sha256 secret: «hex64»
rpc secret=«hex32»
private nonce «hex64»
express-session: secret "«hex64»"
SECRET=«hex32»
cipher secret: «hex64»
shared secret «hex40»
client secret «hex64» expired
token «hex64» not found
ENCRYPTION_KEY=«hex64»
password hash «hex64»
Got secret "«hex64»"
SESSION_SECRET='«hex64»'
crypto.createHmac('sha256', '«hex64»')
app secret «hex32»
aes_key: «hex64»
webhook_secret=«hex40»
private key «hex64»
secret_key_base: «hex128»
phoenix: secret_key_base: "«hex128»"
nuxt: NUXT_SECRET=«hex64»
secret «hex32» is too short
hmac key: «hex64»
sign secret=«hex64»
COOKIE_SECRET="«hex64»"
derived key «hex64»
symmetric key = «hex32»
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

CLEAN = r"""
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
"resolved": "https://npm.example.org/x/-/x-1.0.0.tgz#‹hex40›"
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
commit ‹hex40› (HEAD -> main, origin/main)
‹hex40›⇥refs/heads/main
index ‹hex40›..‹hex40› 100644
Merge: ‹hex7› ‹hex7›
fatal: reference is not a tree: ‹hex40›
warning: unable to access commit ‹hex40›
Subproject commit ‹hex40›
git fetch origin ‹hex40›
Checking out files: ‹hex40› 100%
##[command]git checkout --progress --force ‹hex40›
Checking out Revision ‹hex40› (refs/remotes/origin/main)
HEAD is now at ‹hex40› Fix tests
error: pathspec '‹hex40›' did not match any file(s) known to git
Obtained Jenkinsfile from ‹hex40›
jj: Rebased 2 commits onto ‹hex40›
Parent commit      : qpvuntsm ‹hex40› main
Syncing repository: o/r at ‹hex40›
 + ‹hex7›...‹hex7› main -> origin/main (forced update)
go: downloading github.com/o/r v0.0.0-20261103101112-‹hex12›
github.com/o/r v1.2.3 h1:‹b64_44›
verifying github.com/o/r@v1.2.3: checksum mismatch⏎⇥downloaded: h1:‹b64_44›⏎⇥go.sum:     h1:‹b64_44›
source = "git+https://github.com/o/r?rev=‹hex40›#‹hex40›"
checksum = "‹hex64›"
    Updating git repository `https://github.com/o/r` to ‹hex40›
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES: Expected sha256 ‹hex64›⏎             Got        ‹hex64›
x==1.0 --hash=sha256:‹hex64› \
npm ERR! code EINTEGRITY sha512-‹b64_88› integrity checksum failed
"integrity": "sha512-‹b64_88›",
resolved "https://registry.yarnpkg.com/x/-/x-1.0.tgz#‹hex40›"
  specifier: 1.0⏎    version: github.com/o/r/‹hex40›
bazel: Error downloading [https://x/y.zip]: Checksum was ‹hex64› but wanted ‹hex64›
    sha256 = "‹hex64›",
    urls = ["https://github.com/o/r/archive/‹hex40›.zip"],
    strip_prefix = "r-‹hex40›",
    commit = "‹hex40›",
/root/.cache/bazel/_bazel_root/‹hex32›/external/x
~/.gradle/caches/modules-2/files-2.1/g/a/1.0/‹hex40›/a-1.0.jar
Gradle: dependency verification failed: expected a 'sha256' checksum of '‹hex64›' but was '‹hex64›'
==> Verifying checksum for 'x--1.0.tar.gz'⏎Error: SHA256 mismatch⏎Expected: ‹hex64›⏎  Actual: ‹hex64›
nix: hash mismatch in fixed-output derivation: specified: sha256-‹b64_44›
error: hash '‹hex64›' has wrong length
 => CACHED [2/5] RUN x sha256:‹hex64›
Step 3/9 : FROM node@sha256:‹hex64›
 ---> ‹hex12›
Successfully built ‹hex12›
writing image sha256:‹hex64› done
Digest: sha256:‹hex64›
docker: Error response from daemon: No such container: ‹hex64›
Error: No such object: ‹hex64›
Status: Downloaded newer image for app:‹hex40›
Failed to pull image "‹host›/app:‹hex40›": not found
  Container ID:  containerd://‹hex64›
  Image ID:      docker-pullable://x@sha256:‹hex64›
Normal  Killing  2m  kubelet  Stopping container app
pod/app-‹hex10›-‹low5› created
  uid: ‹uuid›
  resourceVersion: "‹digits10›"
kubelet: "Failed to remove container" containerID="‹hex64›"
crictl stop ‹hex64›
cgroup: /kubepods/burstable/pod‹uuid›/‹hex64›
/run/containerd/io.containerd.runtime.v2.task/k8s.io/‹hex64›/rootfs
unable to mount /var/lib/docker/overlay2/‹hex64›/merged
Terraform: lock ID:        ‹uuid›
│ aws_instance.web: Still destroying... [id=i-0‹hex16›, 10s elapsed]
aws_vpc.main: Refreshing state... [id=vpc-0‹hex16›]
(RequestId: ‹uuid›; S3 Extended Request ID: x)
arn:aws:lambda:eu-central-1:‹digits12›:function:x
ETag: "‹hex32›"
"ETag": "\"‹hex32›\"",
upload failed: s3://bucket/‹hex32›.json
x-amz-cf-id: ‹mixed32›
az: Correlation ID: ‹uuid› Timestamp: 2026-11-03
gcloud: operation ‹uuid› failed
projects/x/locations/y/operations/‹digits19›
trace: projects/x/traces/‹hex32›
traceparent: 00-‹hex32›-‹hex16›-01
{"trace_id":"‹hex32›","span_id":"‹hex16›","level":"error"}
jaeger: span ‹hex16› of trace ‹hex32› dropped
X-Request-Id: ‹hex32›
nginx: [error] 31#31: *‹n› open() "/srv/assets/app.‹hex20›.js" failed
GET /assets/‹hex32›.css HTTP/1.1" 404
systemd[1]: machine-id ‹hex32› initialized
Boot ID: ‹hex32›
_BOOT_ID=‹hex32›
systemd-journald: /var/log/journal/‹hex32›/system.journal corrupted
Invocation: ‹hex32›
UUID=‹uuid› / ext4
PARTUUID=‹hex8›-01
usb 1-1: SerialNumber: ‹HEX16›
LOG:  duration: 12.‹n3› ms  statement: SELECT 1
ERROR:  relation "users" does not exist at character ‹n›
DETAIL:  Key (id)=(‹uuid›) already exists.
postgres: md5 checksum ‹hex32› of base/16384/2619
kafka: Cluster ID: ‹url22›
[2026-11-03 10:11:12,‹n3›] ERROR offset ‹digits10› out of range
elasticsearch: index [x/‹url22›] blocked
mongod: ObjectId("‹hex24›") not found
redis: run_id:‹hex40›
master_replid:‹hex40›
uploading build-scan ‹low13›
actions/cache: Cache not found for input keys: Linux-node-‹hex64›
Cache restored from key: Linux-cargo-‹hex64›
ccache: result_key ‹hex40›
turbo: cache hit, replaying logs ‹hex16›
sccache: hash key ‹hex64›
Uploaded artifact dist-‹hex40›.tgz
Artifact ‹hex64›.zip has expired
codecov: Uploading reports for ‹hex40›
Deploying ‹hex40› to production
vercel: Deployment ‹hex32› ready
Current runner build: ‹hex40›
docs built from ‹hex40›
version: 1.2.3+‹hex40›
app/1.0 (build ‹hex40›)
Linking build id ‹hex40›
BuildID[sha1]=‹hex40›, not stripped
gdb: warning: build-id ‹hex40› does not match
core: 0x‹hex16› in main ()
#4 0x‹hex16› in x () from /lib/libx.so
at http://localhost/app.‹hex8›.js:1:‹n›
Caused by: java.lang.IllegalStateException: x@‹hex8›
panic: runtime error [recovered] goroutine ‹n›
thread 'main' panicked at src/main.rs:‹n›
ssh: The authenticity of host can't be established, SHA256:‹b64n43›
RSA key fingerprint is MD5:‹colonhex16›
debug1: Server host key: ssh-ed25519 SHA256:‹b64n43›
gpg: using RSA key ‹HEX40›
gpg: key ‹HEX16›: "x" not changed
Primary key fingerprint: ‹HEXsp40›
        Serial Number: ‹colonhex20›
X509v3 Subject Key Identifier: ‹colonHEX20›
certificate thumbprint ‹HEX40› not trusted
tx 0x‹hex64› reverted
Error: block 0x‹hex64› not found
from: 0x‹hex40› to: 0x‹hex40› value: 0
Program ‹sol_pub› invoke [1]
Transaction simulation failed: ‹sol_sig›
nano_‹nano60› has no frontier
error: the following required arguments were not provided: --token <TOKEN>
  -p, --password <PASSWORD>  [env: DB_PASSWORD=]
error: invalid value for '--api-key <API_KEY>': empty
Username for 'https://‹host›': 
Password for '‹user›':
[sudo] password for ‹user›: 
ERROR 1045 (28000): Access denied for user '‹user›'@'‹host›' (using password: YES)
FATAL:  password authentication failed for user "‹user›"
psql: error: fe_sendauth: no password supplied
docker: unauthorized: incorrect username or password.
Error: Missing required secret 'NPM_TOKEN'
env: DATABASE_PASSWORD: ${{ secrets.DATABASE_PASSWORD }}
password: {{ vault_db_password }}
  password = var.db_password
password_hash(pw, PASSWORD_DEFAULT)
valueFrom: { secretKeyRef: { name: db, key: password } }
SyntaxError: Unexpected token < in JSON at position ‹n›
error[E0425]: cannot find value `token` in this scope
token_type: bearer
Token expired at 2026-11-03T10:11:12Z
const token = await getToken(user);
String password = request.getParameter("password");
if (password.length() < 8) throw new WeakPassword();
private final String apiKey;
API_KEY: process.env.API_KEY,
secretName: ‹word›-tls
serviceAccountToken: { path: token, expirationSeconds: 3600 }
postgres://localhost:5432/‹word› refused
mysql -h ‹host› -P 3306 -u ‹user› -p ‹word›
jdbc:postgresql://‹host›:5432/‹word›
redis://‹host›:6379/0: Connection refused
ssh://git@‹host›:7999/o/r.git
git@github.com:o/r.git: Permission denied (publickey).
https://‹host›:8443/api?page=2&key=name
[‹n3›, ‹n3›, ‹n3›, ‹n3›]
[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
epoch: 1790000‹n3›.‹n3›
time=1790000000‹n3› level=info
pid ‹n› uid 1000 gid 1000 start ‹digits10›
Order #‹digits10› has shipped
ISBN 978-3-16-148410-0
10.1.2.3:54321 -> 10.1.2.7:443
v1.2.3-rc.4+build.‹n›
00000040: ‹hex4› ‹hex4› ‹hex4› ‹hex4›  ................
data:image/png;base64,iVBORw0KGgo‹b64_88›
source-map://‹hex32›/a.js
bafybei‹low52› not pinned
"sha": "‹hex40›",
"tree": { "sha": "‹hex40›" }
GITHUB_SHA=‹hex40›
CI_COMMIT_SHA: ‹hex40›
org.opencontainers.image.revision=‹hex40›
Bump serde from ‹hex40› to ‹hex40›
Reverting commit ‹hex40›
gitlink: ‹hex40›
cherry-pick ‹hex40› onto main
git blame ‹hex40› src/a.rs
tag v1.2.3 points at ‹hex40›
Nothing to do at revision ‹hex40›
merge-parent: ‹hex40›
jj: Working copy now at ‹hex40›
pull request #‹n›: head ‹hex40›
ref: refs/pull/‹n›/head at ‹hex40›
[detached HEAD ‹hex7›]
patch ‹hex40› applied
tree ‹hex40› is empty
commit-id: ‹hex40›
checkout-index: ‹hex40› not in cache
origin/main ‹hex40› (latest)
Syncing from ‹hex40›
checksum of archive: ‹hex64›
Expected SHA-256 ‹hex64›, got ‹hex64›
sha256:‹hex64› (verified)
SHA-1: ‹hex40› ok
sha512sum: ‹hex128›  a.tar
MD5(file)= ‹hex32›
cksum ‹hex8› 1234
blake3 ‹hex64›
digest of image: sha256:‹hex64›
integrity failed: sha384-‹b64_64›
HASH ‹hex64› computed
content-md5: ‹b64_24›
etag: W/"‹hex32›"
if-none-match "‹hex32›"
hash: ‹hex40›
fingerprint of key: ‹hex40›
thumbprint ‹HEX40›
sha1(index.js) = ‹hex40›
BuildKit: exporting layer sha256:‹hex64›
quay.io/o/r@sha256:‹hex64› pulled
docker pull ‹host›/team/app:‹hex40›
app:‹hex40›: manifest unknown
image "app:‹hex40›" not found
Removed container ‹hex64›
overlay2: layer ‹hex64› leaked
sha256:‹hex64›: Pull complete
pod uid ‹uuid›
node id ‹hex32›
namespace ‹uuid›
kubelet: volume pvc-‹uuid› mounted
trace_id ‹hex32› span ‹hex16›
TraceID: ‹hex32›
b3: ‹hex32›-‹hex16›-1
correlation-id=‹hex32›
requestId: ‹hex32›
x-ray trace 1-‹hex8›-‹hex24›
span ‹hex16› ended
datadog.trace_id: ‹digits19›
sentry event id ‹hex32›
sentry-trace ‹hex32›-‹hex16›-0
build-‹hex40›.log
cache-‹hex64›.tar
Saved cache with key: Linux-pip-‹hex64›
cache hit for deps-‹hex32›
asset /assets/main-‹hex20›.js emitted
chunk-‹hex16›.mjs 12 kB
coverage for ‹hex40› uploaded
rollback to ‹hex40› done
release ‹hex40› promoted
version 4.2.0-‹hex40›
compiled from ‹hex40›
runner version ‹hex40›
unpacking nixpkgs rev ‹hex40›
/nix/store/‹low32›-hello-2.12
narHash = "sha256-‹b64_44›"
"rev": "‹hex40›",
Cargo.lock: checksum ‹hex64›
poetry.lock: {file = "x.whl", hash = "sha256:‹hex64›"}
go.sum h1:‹b64_44›
mvn: x-1.0.jar.sha1 ‹hex40›
gradle-‹hex32› cache entry
index-‹hex40› packed
ivy: checksum sha1: ‹hex40›
aws: Request ID: ‹uuid›
x-amz-request-id: ‹up16›
ami-0‹hex16› deregistered
sg-0‹hex16› not found
subnet-0‹hex16›
gs://b/o#1790000000‹digits6›
az: activity ‹uuid›
projects/‹word›/logs
boot id ‹hex32›
machine-id: ‹hex32›
PARTUUID="‹uuid›"
mdadm: UUID ‹hex8›:‹hex8›:‹hex8›:‹hex8›
SELinux: context u:r:x
journal ‹hex32›@‹hex16›
serial ‹hex32›
HEX dump: ‹hex8› ‹hex8› ‹hex8› ‹hex8›
register rax=0x‹hex16›
pc : ‹hex16›
0x‹hex40› has insufficient balance
tx hash: 0x‹hex64›
block 0x‹hex64› pending
slot ‹n› blockhash ‹sol_pub›
program ‹sol_pub› logs
nano_‹nano60› balance
btc: txid ‹hex64›
host key SHA256:‹b64n43› ok
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ‹b64_88› x
X509: serial ‹colonhex20›
fingerprint sha256 ‹colonHEX20›
gpg: ‹HEX16› unknown
uuid: ‹uuid›
ObjectID ‹hex24›
pid ‹n› port ‹n›
v‹n›.‹n›.‹n›
10.0.0.1:‹n›
0.‹n3›s
‹digits12› bytes
1790000‹n3›123 ms
usage: --password <PASSWORD> (required)
--token TOKEN  authentication token
error: --password requires an argument
Password for bob: 
Enter password: 
password does not match
invalid password for ‹user›
token is missing
unexpected token ')' at line ‹n›
no token provided
Authorization header missing
TOKEN=$(cat /run/secrets/token)
PASSWORD: ${PASSWORD}
password: !vault |
password_file: /run/secrets/db
let token = auth.token();
secretRef: app-secrets
API_KEY not set
key ‹word› not found
docker login ‹host›
mysql -u ‹user› -p
psql postgres://‹host›/‹word›
http://‹host›:8080/health
https://example.com/a?token_type=bearer
redis://‹host›:6379
git@‹host›:o/r.git
smtp://‹host›:587
✔ Pulled ‹hex12› 3.4s
[main ‹hex40›] initial
Already at ‹hex40›
HEAD detached at ‹hex40›
Skipping ‹hex40›, already applied
fatal: ambiguous argument '‹hex40›': unknown revision
bisecting: ‹hex40› is the first bad commit
[submodule] lib ‹hex40›
Renovate: digest update to ‹hex40›
Triggered by push ‹hex40›
GIT_COMMIT=‹hex40›
git-describe: v1.0-3-g‹hex40›
svn/git mirror ‹hex40› ok
Found existing pipeline for ‹hex40›
Source: https://github.com/o/r/tree/‹hex40›
https://gitlab.com/o/r/-/commit/‹hex40›
uses: actions/checkout@‹hex40›
hooks: rev: ‹hex40›  # v4
"gitHead": "‹hex40›",
"shasum": "‹hex40›"
sha512-‹b64_88›
Hash mismatch: ‹hex64›
WARNING: checksum ‹hex64› differs
apt: Hash Sum mismatch SHA256:‹hex64›
dpkg: md5sums ‹hex32› usr/bin/x
brew: SHA-256 ‹hex64› reported
pnpm: ERR_PNPM_TARBALL_INTEGRITY sha512-‹b64_88›
rustup: checksum failed, expected: '‹hex64›', calculated: '‹hex64›'
conda: MD5 ‹hex32› expected
helm: digest sha256:‹hex64›
cosign: sha256-‹hex64›.sig
oras: pushed ‹host›/app@sha256:‹hex64›
ctr: image ‹host›/app:‹hex40› exists
buildah: ‹hex64›
podman rm ‹hex64›
docker exec ‹hex64› sh
docker logs ‹hex12›
docker volume ‹hex64› in use
network ‹hex64› has endpoints
OCI runtime: container ‹hex64› died
runc: /run/runc/‹hex64›/state.json
containers/‹hex64›/‹hex64›-json.log
kubelet: CNI failed for "‹hex64›"
nodename ‹hex8›: ready
lease ‹uuid› renewed
zipkin: ‹hex32› sampled
otel: TraceId=‹hex32› SpanId=‹hex16›
X-Amzn-Trace-Id: Root=1-‹hex8›-‹hex24›
uber-trace-id: ‹hex32›:‹hex16›:0:1
cf-ray: ‹hex16›-FRA
x-vercel-id: fra1::‹low5›
Sentry: event ‹hex32›
newrelic: guid ‹hex16›
webpack: main.‹hex20›.js 120 kB
vite: assets/index-‹hex8›.js
next: _next/static/‹url22›/page.js
service-worker ‹hex32›.js
precache-manifest.‹hex32›.js
~/.npm/_cacache/content-v2/sha512/‹hex2›/‹hex2›/‹hex64›
__pycache__/x.cpython-312.pyc
target/debug/deps/lib‹word›-‹hex16›.rlib
bazel-out/‹hex32›/bin
nx cache: ‹hex64›
remote cache ‹hex64› missing
ninja: deps hash ‹hex16›
ld: BuildID ‹hex40›
symbols for ‹HEX32› not loaded
core.‹n›.‹hex32›.lz4
systemd: invocation ID ‹hex32›
machine ‹hex32› registered
session c‹n› opened
LUKS UUID ‹uuid›
zfs: guid ‹digits19›
btrfs: fsid ‹uuid›
usb: serial ‹HEX16›
MAC 02:42:ac:11:00:02
kernel: RIP 0010:0x‹hex16›
Hardware id ‹hex16›
redis: master ‹hex40›:6379
raft: node ‹hex16› became leader
consul: node-id ‹uuid›
etcd: member ‹hex16› removed
cassandra: schema ‹uuid›
kafka: leader epoch ‹n›
mongo: _id ObjectId('‹hex24›')
pg: xid ‹n› oid ‹n›
es: _id ‹url22›
eth: 0x‹hex64›
contract 0x‹hex40› deployed
Signature: ‹sol_sig›
Program log: owner ‹sol_pub›
IPFS bafybei‹low52›
magnet:?xt=urn:btih:‹hex40›
tor: fingerprint ‹HEX40›
ssh: SHA256:‹b64n43› (ED25519)
pgp: keyid ‹HEX16›
cert sha1 ‹colonHEX20›
Please enter your password:
Wrong password, try again
password must be at least 8 characters
no such option: --password
missing required flag: --token
export TOKEN=$1
token: ${{ secrets.TOKEN }}
os.environ["API_KEY"]
getenv("DB_PASSWORD")
password = getpass()
def reset_password(user):
password=None
secret "‹word›" not found
syntax error near unexpected token `fi'
"token_endpoint": "https://‹host›/token"
https://‹host›/reset-password?step=2
curl https://‹host›/api/v1
amqp://‹host›:5672
scp a ‹user›@‹host›:/tmp
invoice ‹digits10› sent
tracking number 1Z‹up16›
lat 52.5200 lon 13.4050
took ‹n› ms, ‹digits10› bytes
Applying ‹hex40›
Your branch and 'origin/main' diverged at ‹hex40›
Cannot rebase onto ‹hex40›
note: base commit ‹hex40›
git rev-list ‹hex40›..‹hex40›
remote: Resolving ‹hex40›
merge ‹hex40› into main
‹hex40› refs/tags/v1
Revision: ‹hex40›
REVISION=‹hex40›
BUILD_SHA=‹hex40›
commitHash: '‹hex40›'
https://api.github.com/repos/o/r/git/trees/‹hex40›
stage: checkout ‹hex40› ok
Drone: commit ‹hex40›
lockfile: github:o/r/‹hex40›
"version": "git+https://github.com/o/r.git#‹hex40›"
deps: {:x, git: "x", ref: "‹hex40›"}
gem: revision: ‹hex40›
vcpkg: baseline ‹hex40›
conan: rev#‹hex32›
swift: revision ‹hex40›
sha256 ‹hex64›
SHA256(x.zip)= ‹hex64›
want: ‹hex64› have: ‹hex64›
digest ‹hex64› unknown
manifest sha256:‹hex64› unknown
blob upload invalid sha256:‹hex64›
FROM ‹host›/base@sha256:‹hex64›
image: ‹host›/app:‹hex40›
k3s: container ‹hex64› exited
containerd: task ‹hex64› deleted
Exited (1) ‹hex12›
docker inspect ‹hex64›
swarm: service ‹low25› updated
volume ‹hex64› not found
SRI: sha384-‹b64_64›
MD5: ‹hex32›
md5sum ‹hex32›
checksum: ‹hex32›
ETag: ‹hex32›-5
s3: etag "‹hex32›"
Content-Digest: sha-256=:‹b64_44›:
file ‹hex64›.bin missing
/cache/‹hex40›/object
upload ‹hex32›.png
style.‹hex32›.css 404
chunk ‹hex20› loaded
traceId=‹hex32›
trace ‹hex32›
[‹hex32›,‹hex16›] INFO
x-trace: ‹hex32›
span_id: ‹hex16›
request ‹hex32› took ‹n› ms
reqid ‹hex32›
requestID: "‹hex32›"
correlation ‹uuid›
job ‹hex32› queued
task ‹uuid› failed
run_id: ‹hex32›
workflow ‹uuid›
celery: Task x[‹uuid›] raised
sidekiq: jid=‹hex24›
event_id=‹hex32›
message-id: <‹hex32›@‹host›>
queue ‹hex8›
machine-id ‹hex32›
boot_id=‹hex32›
partition ‹uuid›
disk wwn-0x‹hex16›
serial=‹HEX16›
MachineGuid ‹uuid›
Build ID: ‹hex40›
GNU build-id: ‹hex40›
crash: ‹HEX32›0.pdb
0x‹hex16› <main+12>
txid: ‹hex64›
tx ‹sol_sig›
address 0x‹hex40›
hash 0x‹hex64›
account ‹sol_pub›
nano_‹nano60›
SHA256:‹b64n43›
gpg: ‹HEX40›
serial: ‹colonhex20›
Password must match
password: ****
enter token:
--api-key <KEY>
token = get_token()
secret: ${SECRET}
key: value
password reset for ‹user›
unexpected token: '}'
no password given
mysql -u‹user› -p
https://‹host›/path
redis://localhost:6379
10.1.2.3
order_id: ‹digits16nl›
timestamp 1790000‹n3›‹n3›
Head commit: ‹hex40›
Dropped refs/stash@{0} (‹hex40›)
error: failed to push some refs; stale info ‹hex40›
Deleted branch x (was ‹hex40›).
bundle: ‹hex40› prerequisite missing
git show-ref: ‹hex40› refs/heads/x
submodule path 'x': checked out '‹hex40›'
From https://github.com/o/r ‹hex7›..‹hex7› main
Compare: https://github.com/o/r/compare/‹hex40›...‹hex40›
pipeline ran on ‹hex40›
trigger sha=‹hex40›
"head_sha": "‹hex40›"
BITBUCKET_COMMIT=‹hex40›
"commitId": "‹hex40›"
Flux: stored artifact for revision 'main@sha1:‹hex40›'
argocd: app synced to ‹hex40›
sourcehut job on ‹hex40›
west: manifest-rev at ‹hex40›
ocaml: pin x#‹hex40›
julia: git-tree-sha1 = "‹hex40›"
haskell: tag: ‹hex40›
zig: hash "‹hex64›" mismatch
expected ‹hex64›, found ‹hex64›
SHA256 checksum does not match: ‹hex64›
  sha256: ‹hex64›
‹hex64›  ./a.bin
sha1: ‹hex40›
md5: ‹hex32›
apk: ‹hex40› BAD signature
rpm: digest ‹hex64›
snap: sha3-384 ‹hex96›
docker: ‹hex64› unhealthy
Removing intermediate container ‹hex12›
Deleted: sha256:‹hex64›
Untagged: app@sha256:‹hex64›
created container ‹hex64›
layers ‹hex64› not found
cri-o: sandbox ‹hex64› ready
lxc: image fingerprint: ‹hex64›
ecs: task ‹hex32› stopped
task-definition/‹hex32›
lambda: START RequestId: ‹uuid›
requestId=‹uuid› status=500
cloudtrail eventID ‹uuid›
kms key arn:aws:kms:eu-central-1:‹digits12›:key/‹uuid›
sqs message ‹uuid›
ETag: "‹hex32›"
etag=‹hex32›
versionId: ‹mixed32›
TraceID ‹hex32›
trace_id="‹hex32›"
dd.trace_id=‹digits19›
parent span ‹hex16›
opentelemetry ‹hex32›
logging.googleapis.com/trace: projects/x/traces/‹hex32›
request failed: id ‹hex32›
(request ‹hex32›)
session ended, duration ‹n›
Cache key: v1-npm-‹hex64›
no cache found for ‹hex64›
restored ‹hex64›
cached as ‹hex40›
artifacts/‹hex40›/report.html
/builds/‹hex32›/out
a-‹hex32›.js
runtime.‹hex20›.js
bundle.js?v=‹hex32›
favicon-‹hex32›.ico
log file ‹hex32›.log
tmp ‹hex32›.tmp
journalctl -b ‹hex32›
systemd-machine-id-setup: ‹hex32›
grub: no such device: ‹uuid›
disk identifier: ‹uuid›
mdraid ‹hex32›
module signature ‹HEX40›
coredump ‹hex32›
minidump ‹uuid›.dmp
debug id ‹HEX32›
pdb ‹HEX32›1
tx ‹hex64›
block ‹hex64›
receipt 0x‹hex64›
contract 0x‹hex40›
owner 0x‹hex40›
mint ‹sol_pub›
sig ‹sol_sig›
nano_‹nano60› opened
cid Qm‹b58_44›
pubkey ‹hex64›
SHA256:‹b64n43› root@x
key fingerprint = ‹HEXsp40›
cert serial ‹HEX32›
Password:
--password-stdin
invalid token
token: <redacted>
passwords do not match
set PASSWORD first
Credentials not found
$API_TOKEN is unset
let secret = load_secret()?;
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
//npm.example.org/:_authToken=${NPM_TOKEN}
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
