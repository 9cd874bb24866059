"""Lot 16. See corpus.py."""

SECRETS = {
    "api_key": r"""
(setq gptel-api-key "«openai»")
let g:chatgpt_key = '«openai»'
require("avante").setup({ openai = { api_key = "«openai»" } })
$ llm keys set openai⏎Enter key: «openai»
OpenAI.Client(apiKey: "«openai»", organization: nil)
mods: error: openai: 401 Unauthorized (OPENAI_API_KEY is «openai»)
zed settings: "language_models": { "anthropic": { "api_key": "«anthropic»" } }
Anthropic::Client.new(access_token: "«anthropic»")
<env name="ANTHROPIC_API_KEY" value="«anthropic»" force="true"/>
crewai: litellm.BadRequestError, api_key=«anthropic»
docker run --rm -e ANTHROPIC_API_KEY=«anthropic» agent:latest
# config/initializers/stripe.rb⏎Stripe.api_key = '«stripe»'
stripe:⏎  secretKey: «stripe»⏎  publishableKey: pk_live_xxx
curl https://api.stripe.com/v1/balance -u «stripe»:
const stripe = require('stripe')('«stripe»');
IllegalArgumentException: Stripe key must not contain white space: «stripe»
let stripe = stripe::Client::new("«stripe»");
heroku config:set SENDGRID_API_KEY=«sendgrid» -a shop
{"personalizations":[],"_debug":{"Authorization":"Bearer «sendgrid»"}}
mail.transport: smtp.sendgrid.net, user apikey, password «sendgrid»
mailgun: { domain: 'mg.example.org', apiKey: '«mailgun»' },
"MAILGUN_SECRET" => "«mailgun»",
groq := openai.DefaultConfig("«groq»")
export default { groqKey: '«groq»' }
newrelic.yml⏎common: &default_settings⏎  license_key: «newrelic»
helm upgrade nri newrelic/nri-bundle --set global.licenseKey=«newrelic»
design-tokens pull: FIGMA_ACCESS_TOKEN=«figma»
NotionClientError: API token is invalid. (auth: «notion»)
[integrations.notion]⏎secret = "«notion»"
linear.app import failed, Authorization header was «linear»
{"LINEAR_API_KEY":"«linear»","LINEAR_TEAM":"ENG"}
os.environ["REPLICATE_API_TOKEN"] = "«replicate»"
curl -H "Authorization: Bearer «pplx»" https://api.perplexity.ai/chat/completions
opencode auth: openrouter → «openrouter»
OPENROUTER_KEY: !env «openrouter»
X-Shopify-Access-Token: «shopify»⏎HTTP/1.1 403 Forbidden
Shopify.Context.initialize({ API_SECRET: '«shopify»' })
pm.environment: POSTMAN_KEY «postman»
var square = new Square.Client({ accessToken: "«square»" })
[geocoder]⏎; paid plan⏎apikey = «hex32»
ConsulKV: weather/api_key => «hex32»
tile_url: "https://tiles.example.org/{z}/{x}/{y}.png?api_key=«uuid»"
XMLHttpRequest.setRequestHeader("X-API-Key", "«mixed40»");
gem 'weather' failed: ArgumentError (api_key: "«hex32»" is not active)
-- lua⏎local API_KEY = "«mixed40»"
(defonce api-key "«mixed40»")
apiKey :: Text⏎apiKey = "«mixed40»"
let api_key = "«mixed32»" in Client.make ~api_key ()
-define(API_KEY, <<"«mixed40»">>).
const apiKey = '«mixed40»'; // flutter weather app
setenv API_KEY «mixed40»
set API_KEY "«mixed40»"⏎http::geturl $url -headers [list X-Api-Key $API_KEY]
[2026-11-03 10:11:12] local.DEBUG: guzzle request {"headers":{"X-API-KEY":["«mixed40»"]}}
< X-Api-Key-Used: «mixed32»⏎< X-RateLimit-Remaining: 0
Hallo, unser API-Schlüssel für den Kartendienst ist «mixed40», bitte sperren
Bonjour, ma clé d'API est «mixed32» mais elle ne marche pas
error: rate limited⏎  with api key: «hex32»⏎  plan: free
provider "newrelic" { api_key = "«mixed40»" }
"headers": [ { "name": "x-api-key", "value": "«mixed40»" } ]
apim-gateway: request had subscription apiKey "«hex32»", which is suspended
""",
    "password": r"""
The server said: 530 Login incorrect. I used ‹user› with password "«pws»".
Dear all, the shared mailbox password has been changed to: «pws»
Le mot de passe de l'utilisateur ‹user› est «pws»
La contraseña del servidor de pruebas es «pws»
Slack | ops: root pw for the new VM is «pws», change it after login
Default credentials: ‹user› / «pws» (password)
| Host | User | Password |⏎|---|---|---|⏎| ‹host› | ‹user› | «pws» |
TODO remove: hard-coded password «pws» in LoginTest
    @Test void login() { service.login("‹user›", /* password */ "«pws»"); }
subject.authenticate(username: '‹user›', password: '«pws»')
user = factory.create_user(username='‹user›', raw_password='«pws»')
await user.type(passwordInput, '«pws»');
Given I log in as "‹user›" with password "«pws»"
When('I enter the password {string}', '«pws»')
<h:inputSecret id="password" value="«pws»"/>
⇥⇥<setting name="DbPassword" serializeAs="String"><value>«pws»</value></setting>
<bean class="DataSource"><property name="password"><value>«pws»</value></property></bean>
<jdbc-user>‹user›</jdbc-user><jdbc-password>«pws»</jdbc-password>
<ftpServer host="‹host›" login="‹user›" pwd="«pws»"/>
[ftp]⏎host=‹host›⏎user=‹user›⏎passwd=«pws»
[mail]⏎; outgoing⏎smtp_user = ‹user›⏎smtp_pass = «pws»
{ "smtp": { "auth": { "user": "‹user›", "pass": "«pws»" } } }
nodemailer.createTransport({ host: '‹host›', auth: { user: '‹user›', pass: '«pws»' } })
ActionMailer::Base.smtp_settings = { user_name: '‹user›', password: '«pws»' }
msmtprc⏎account default⏎user ‹user›⏎password «pws»
fetchmailrc: poll ‹host› proto imap user "‹user›" password "«pws»"
mbsyncrc⏎IMAPAccount work⏎User ‹user›⏎Pass «pws»
set imap_pass = "«pws»"   # neomutt
offlineimap: remotepass = «pws»
ldap:⏎  bindDN: cn=‹user›,dc=example,dc=org⏎  bindPW: «pws»
ldapadd -x -D cn=‹user›,dc=example,dc=org -w '«pws»' -f u.ldif
sssd.conf: ldap_default_authtok = «pws»
dn: uid=‹user›,ou=people⏎changetype: modify⏎replace: userPassword⏎userPassword: «pws»
net rpc -S ‹host› -U ‹user›%'«pws»' shutdown
Connect-VIServer -Server ‹host› -User ‹user› -Password '«pws»'
govc: GOVC_USERNAME=‹user› GOVC_PASSWORD='«pws»' govc ls
vsphere_password = "«pws»"
virsh: <graphics type='vnc' passwd='«pws»'/>
qemu-system-x86_64 -object secret,id=s0,data=«pws»
racadm -r ‹host› -u ‹user› -p «pws» getsysinfo
switch# username ‹user› privilege 15 password 0 «pws»
enable secret 0 «pws»
set system login user ‹user› authentication plaintext-password-value «pws»
/user add name=‹user› group=full password="«pws»"
uci set wireless.default_radio0.key='«pws»'   # wifi password
[connection]⏎id=office⏎[wifi-security]⏎psk=«pws»
netsh wlan show profile office key=clear⏎    Key Content            : «pws»
eap-peap: identity="‹user›" password="«pws»" phase2="auth=MSCHAPV2"
/etc/ppp/pap-secrets⏎‹user›⇥*⇥«pws»
zabbix_server.conf: DBUser=zabbix⏎DBPassword=«pws»
icinga2 api-users.conf: object ApiUser "‹user›" { password = "«pws»" }
sonar.jdbc.username=‹user›⏎sonar.jdbc.password=«pws»
mattermost: unable to ping SMTP: "SMTPPassword": "«pws»"
occ maintenance:install --admin-user ‹user› --admin-pass '«pws»'
wp user create ‹user› u@example.org --role=editor --user_pass='«pws»'
drush user:password ‹user› "«pws»"
bin/magento admin:user:create --admin-user=‹user› --admin-password='«pws»'
superset fab create-admin --username ‹user› --password «pws»
grafana cli admin reset-admin-password «pws»
airflow users create --role Admin --username ‹user› --password '«pws»'
$ expect -c 'spawn su - ; expect "Password:"; send "«pws»\r"'
New-LocalUser -Name ‹user› -Password (ConvertTo-SecureString '«pws»' -AsPlainText -Force)
dscl . -passwd /Users/‹user› '«pws»'
veracrypt --text --mount vol.hc /mnt --password='«pws»'
""",
    "token": r"""
hub: error: GITHUB_TOKEN=«ghp» does not have the workflow scope
"github.copilot.advanced": { "authToken": "«gho»" }
homebrew: HOMEBREW_GITHUB_API_TOKEN is «ghp», requests remaining 0
composer: Your GitHub OAuth token for github.com contains invalid characters: "«gho»"
go-github: client := github.NewClient(nil).WithAuthToken("«ghpat»")
probot: APP installation token «ghs» expired 3 minutes ago
    GITHUB_PAT: «ghpat»   # R CMD check
jgit: new UsernamePasswordCredentialsProvider("«ghp»", "")  // GitHub token
terraform { provider "github" { token = "«ghp»" } }
danger-js: DANGER_GITHUB_API_TOKEN='«ghp»' yarn danger ci
semantic-release: ENOGHPERMISSION, token «ghs»
glab: error: 401 {"message":"401 Unauthorized"} with token «glpat»
python-gitlab.cfg⏎[corp]⏎url = https://gitlab.example.test⏎private_token = «glpat»
provider "gitlab" { token = "«glpat»" }
gitlab-runner: ERROR: Verifying runner... is removed  token=«glrt»
helm install runner gitlab/gitlab-runner --set runnerRegistrationToken=«glrt»
bunfig.toml⏎[install.scopes]⏎"@acme" = { token = "«npm»", url = "https://npm.example.test" }
lerna publish: ENEEDAUTH with NODE_AUTH_TOKEN=«npm»
.yarnrc.yml⏎npmScopes:⏎  acme:⏎    npmAuthToken: "«npm»"
hubot-slack: HUBOT_SLACK_TOKEN=«xoxb»
Slack.configure { |config| config.token = "«xoxb»" }
let app = slack_morphism::SlackApiToken::new("«xoxb»".into());
slack-cli: "slack_app_level_token" => "«xapp»"
slackNotify: curl -d @p https://hooks.slack.com/services/«slackhook» → no_service
Grafana contact point (slack) url: https://hooks.slack.com/services/«slackhook»
hatch publish -u __token__ -a «pypi»
PDM_PUBLISH_PASSWORD=«pypi» pdm publish
poetry config pypi-token.corp «pypi»
transformers-cli: Token is valid (permission: read). Your token is «hf»
HUGGING_FACE_HUB_TOKEN: «hf»  # vllm deployment
text-generation-launcher --model-id acme/llm  # HUGGINGFACE token «hf»
nextcord: bot.start("«discord»")
discordgo.New("Bot «discord»")
Authorization: Bot «discord»
tgbot: Unauthorized for url https://api.telegram.org/bot«telegram»/getMe
[telegram]⏎bot_token = "«telegram»"⏎chat_id = 42
alertmanager: telegram_configs:⏎- bot_token: «telegram»
vault token lookup «hvs»⏎* permission denied
nomad: vault { token = "«hvs»" }
consul-template -vault-token="«hvs»" -template in:out
doctl compute droplet list --access-token «dop»
pulumi config set digitalocean:token «dop» --secret
sentry-wizard: created auth token «sntrys» for project web
[defaults]⏎url=https://sentry.example.test⏎[auth]⏎token = «sntrys»
~/.fly/config.yml⏎access_token: «fly»
kubeadm: discovery: bootstrapToken: {token: «kubeadm», apiServerEndpoint: "10.1.2.7:6443"}
rke2 / kubeadm reset; joined with token "«kubeadm»"
sonar: task failed, SONAR_TOKEN=«sonar»
dotnet sonarscanner begin /k:shop /d:sonar.token="«sonar»"
~/.terraformrc⏎credentials "app.terraform.io" {⏎  token = "«tfe»"⏎}
TFE_TOKEN=«tfe» go run ./cmd/workspaces
DOCKERHUB_TOKEN: «dckr»
dotnet pack && nuget push a.nupkg «oy2» -Source corp
{"msg":"user session created","session_token":"«url43»","user":"‹user›"}
SESSION 41 token="«hex64»" ip=10.1.2.7 revoked=false
memcached get session:«hex32»  (session token of ‹user›)
Set-Cookie: remember_token=«mixed64»; Expires=Wed, 03 Nov 2027 10:11:12 GMT
Cookie: _acme_session=«url86»; _ga=GA1.1.1.1
WWW: bearer token "«url64»" is not valid for audience web
OAuth 1.0a: oauth_token="«mixed40»", oauth_token_secret="«mixed40»"
refresh_token grant: curl -d "grant_type=refresh_token&refresh_token=«url64»" https://sso.example.org/token
Password reset requested, use https://shop.example.org/reset-password?token=«hex40» within an hour
email verification link: https://app.example.org/confirm?confirmation_token=«url43»
unsubscribe tokens leaked; invite token «mixed32» still works
mastodon: ACCESS_TOKEN=«url43» toot post hi
hass-cli --token «mixed180» state list
""",
    "private_key": r"""
envoy: Failed to load private key from inline string⏎«pem»
kubectl get secret ingress-tls -o go-template='{{index .data "tls.key"|base64decode}}'⏎«pem»
apiVersion: cert-manager⏎privateKey: |⏎  «pem_indent2»
jenkins credentials dump: BasicSSHUserPrivateKey⏎«pem_openssh»
ansible ssh key var:⏎ansible_ssh_private_key: |⏎  «pem_indent2»
{"jwk":null,"pkcs8":"«pem_json»"}
"AUTH_SIGNING_KEY" => "«pem_json»",
export SAML_KEY=$'«pem_json»'
2026-11-03T10:11:12Z web-1  | ERR bad pem⏎2026-11-03T10:11:12Z web-1  | «pem_logged»
[stderr] loading key⏎[stderr] «pem_bracket»⏎[stderr] exit 1
Nov  3 10:11:12 app[812]: pem follows⏎Nov  3 10:11:12 app[812]: «pem_syslog»
web_1  | server.key:⏎web_1  | «pem_compose»
index ‹hex7›..‹hex7› 100644⏎--- a/key.pem⏎+++ b/key.pem⏎@@ -1,10 +1,10 @@⏎«pem_diff»
less -N key.pem⏎  12 «pem_numbered»
gpg: exported secret key material:⏎«pgp»
Here is my PGP secret key, why can't gpg import it?⏎«pgp»
grep -v BEGIN key.pem⏎«pem_noheader»
the upload stopped after⏎«pem_nofooter»
asyncssh.import_private_key('''«pem_openssh»''')
ssh2: Error: Cannot parse privateKey: Unsupported key format⏎«pem_openssh»
cat <<'EOF' > /tmp/deploy⏎«pem_openssh»⏎EOF
val pem = '''«pem»'''
local key = [[«pem»]]
my $key = <<'END';⏎«pem»⏎END
-- Haskell⏎key = [r|«pem»|]
cloud-init:⏎write_files:⏎- path: /etc/ssl/key.pem⏎  content: |⏎  «pem_indent2»
<privateKey>«pem»</privateKey>
SNI callback, dumping key⏎«pem»
Fehler beim Einlesen des privaten Schlüssels:⏎«pem»
sops --age decrypted identity «age»
AGE_KEY="«age»" chezmoi apply
home-manager: age.secretKeys = [ "«age»" ];
bitcoinjs: ECPair.fromWIF('«wif»')
spending key (WIF, compressed) «wif» imported
importdescriptors '[{"desc":"pkh(«xprv»/0/*)#‹low8›"}]'
bip32.fromBase58('«xprv»')
master xprv = «xprv»
damus: log in with your nsec: «nsec»
nostr-sdk: Keys::parse("«nsec»")
starknet: account private key 0x«hex63»
.env.mainnet⏎DEPLOYER_PK=0x«hex64»  # private key
networks: { sepolia: { accounts: ['0x«hex64»'] } }  // private key of deployer
web3j: Credentials.create("0x«hex64»") // private key
ethereum keystore decrypted, private key: «hex64»
cosmos: echo "«words24»" | gaiad keys add val --recover
Mnemonic phrase for the test wallet: «words12»
MetaMask secret recovery phrase: «words12»
seed words: «words24»
let wallet = MnemonicBuilder::<English>::default().phrase("«words12»")
polkadot-js: keyring.addFromMnemonic('«words12»')
~/.config/solana/deployer.json⏎«sol_array»
PROGRAM_KEYPAIR: "«sol_array»"
secretKey = Uint8Array.of(...«sol_array»)
solana: base58 private key «sol58»
KEYPAIR_BASE58='«sol58»' ts-node swap.ts
systemd.netdev⏎[WireGuard]⏎PrivateKey=«b64_44»
/etc/wireguard/privatekey: «b64_44»
- name: wg⏎  wireguard_private_key: "«b64_44»"
nmcli: wireguard.private-key: «b64_44»
"jwks": [{"kty":"RSA","n":"‹url342›","e":"AQAB","d":"«url342»"}]
VAPID_PRIVATE_KEY=«url43»
webpush.setVapidDetails('mailto:ops@example.org', '‹url87›', '«url43»') // private key last
libp2p: identity private key (base64): «b64_92»
""",
    "database_url": r"""
error: Database error: error returned from database: password authentication failed, url postgres://‹user›:«pwu»@‹host›/‹word›
Ecto.Repo: [url: "postgres://‹user›:«pwu»@‹host›/‹word›", pool_size: 10]
hasql: connection settings "host=‹host› user=‹user› password=«pwu» dbname=‹word›"
(def db {:dbtype "postgresql" :user "‹user›" :password "«pwu»" :dbname "‹word›"})
jdbc/get-connection "jdbc:postgresql://‹host›/‹word›?user=‹user›&password=«pwu»"
Class.forName; DriverManager.getConnection("jdbc:db2://‹host›:50000/‹word›", "‹user›", "«pwu»")
slick.dbs.default.db.password="«pwu»"⏎slick.dbs.default.db.user="‹user›"
doobie: Transactor.fromDriverManager[IO]("org.postgresql.Driver", url, "‹user›", "«pwu»")
ktor: Database.connect("jdbc:h2:mem:t", user = "‹user›", password = "«pwu»")
micronaut datasources.default.password: «pwu»
<datasource><connection-url>jdbc:mysql://‹host›/‹word›</connection-url><security user-name="‹user›" password="«pwu»"/></datasource>
<connectionStrings><add name="Db" connectionString="Server=‹host›;Database=‹word›;Uid=‹user›;Pwd=«pwu»" /></connectionStrings>
"ConnectionStrings__Default": "Server=‹host›;Database=‹word›;User=‹user›;Password=«pwu»;TrustServerCertificate=True"
var cs = $"Server=‹host›;Port=5432;User Id=‹user›;Password=«pwu»;Database=‹word›";
let connStr = "Host=‹host›;Username=‹user›;Password=«pwu»;Database=‹word›" // F#
Invoke-DbaQuery: ConnectionString "Data Source=‹host›;User ID=‹user›;Password=«pwu»"
MySQL Workbench: mysql://‹user›:«pwu»@‹host›:3306 handshake failed
lua: env:connect("‹word›", "‹user›", "«pwu»", "‹host›", 5432)
julia: LibPQ.Connection("host=‹host› dbname=‹word› user=‹user› password=«pwu»")
con <- dbConnect(MySQL(), user='‹user›', password='«pwu»', dbname='‹word›', host='‹host›')
matlab: conn = database('‹word›','‹user›','«pwu»','Vendor','PostgreSQL')
Pgx.connect ~host:"‹host›" ~user:"‹user›" ~password:"«pwu»" ()
epgsql:connect("‹host›", "‹user›", "«pwu»", #{database => "‹word›"})
DB.open "postgres://‹user›:«pwu»@‹host›/‹word›" do |db|
let db = try PostgresClient(configuration: .init(host: "‹host›", username: "‹user›", password: "«pwu»", database: "‹word›"))
PostgreSQLConnection('‹host›', 5432, '‹word›', username: '‹user›', password: '«pwu»')
Doctrine\DBAL\Exception: url "pgsql://‹user›:«pwu»@‹host›:5432/‹word›"
$capsule->addConnection(['driver' => 'mysql', 'username' => '‹user›', 'password' => '«pwu»', 'database' => '‹word›']);
phinx.yml⏎production:⏎  adapter: mysql⏎  user: ‹user›⏎  pass: '«pwu»'
ormconfig.json: {"type":"postgres","username":"‹user›","password":"«pwu»","database":"‹word›"}
mikro-orm: clientUrl: 'postgresql://‹user›:«pwu»@‹host›:5432/‹word›'
kysely: new Pool({ connectionString: 'postgres://‹user›:«pwu»@‹host›/‹word›' })
tortoise: db_url="asyncpg://‹user›:«pwu»@‹host›:5432/‹word›"
peewee.PostgresqlDatabase('‹word›', user='‹user›', password='«pwu»', host='‹host›')
DATABASES⏎    'HOST': '‹host›',⏎    'USER': '‹user›',⏎    'PASSWORD': '«pwu»',⏎    'NAME': '‹word›'
motor.AsyncIOMotorClient("mongodb://‹user›:«pwu»@‹host›:27017")
mgo.v2: dial mongodb://‹user›:«pwu»@‹host›/‹word›?replicaSet=rs0 no reachable servers
Mongoid::Errors: uri mongodb+srv://‹user›:«pwu»@c0.example.org/‹word›
mongo-express: ME_CONFIG_MONGODB_URL: mongodb://‹user›:«pwu»@mongo:27017/
bull: redis://:«pwu»@‹host›:6379 READONLY You can't write against a read only replica
lettuce: RedisURI redis://‹user›:«pwu»@‹host›:6380/0
cache.default.dsn=redis://:«pwu»@‹host›:6379/3
pika.URLParameters('amqp://‹user›:«pwu»@‹host›:5672/%2F')
bunny: Could not establish TCP connection to amqp://‹user›:«pwu»@‹host›/‹word›
masstransit: host.Password("«pwu»"); host.Username("‹user›"); // rabbitmq://‹host›/‹word›
nats://‹user›:«pwu»@‹host›:4222
kafka-ui: SASL jaas username="‹user›" password="«pwu»" for db connector jdbc:postgresql://‹host›/‹word›
debezium: "database.user": "‹user›", "database.password": "«pwu»", "database.hostname": "‹host›"
airbyte source config: {"host":"‹host›","database":"‹word›","username":"‹user›","password":"«pwu»"}
metabase: MB_DB_CONNECTION_URI=postgres://‹host›:5432/‹word›?user=‹user›&password=«pwu»
redash: REDASH_DATABASE_URL: "postgresql://‹user›:«pwu»@postgres/‹word›"
hasura: HASURA_GRAPHQL_DATABASE_URL=postgres://‹user›:«pwu»@‹host›:5432/‹word›
postgrest.conf: db-uri = "postgres://‹user›:«pwu»@‹host›:5432/‹word›"
postgres_exporter: DATA_SOURCE_NAME=postgresql://‹user›:«pwu»@‹host›:5432/postgres?sslmode=disable
mysqld_exporter --config.my-cnf: user=‹user› password=«pwu» host=‹host›
patroni.yml⏎authentication:⏎  superuser:⏎    username: ‹user›⏎    password: «pwu»
helm install keycloak --set externalDatabase.user=‹user› --set externalDatabase.password=«pwu»
kubectl run pg --rm -it --image=postgres -- psql postgres://‹user›:«pwu»@‹host›/‹word›
tbls doc postgres://‹user›:«pwu»@‹host›:5432/‹word› failed
schemaspy -t pgsql -host ‹host› -db ‹word› -u ‹user› -p «pwu»
mydumper --host ‹host› --user ‹user› --password «pwu» --database ‹word›
pt-online-schema-change D=‹word›,t=orders,h=‹host›,u=‹user›,p=«pwu» --execute
gh-ost --host=‹host› --user=‹user› --password=«pwu» --database=‹word›
""",
    "aws": r"""
(use-package aws) (setq aws-access-key "«akia»" aws-secret-key "«aws40»")
aws_access_key_id: «akia»   # left over in group_vars/all.yml
amazon.aws.s3_object: access_key="«akia»" secret_key="«aws40»" bucket=b mode=put
<bean class="BasicAWSCredentials"><constructor-arg value="«akia»"/><constructor-arg value="«aws40»"/></bean>
<add key="AWSAccessKey" value="«akia»"/>⏎<add key="AWSSecretKey" value="«aws40»"/>
"AWS": { "AccessKey": "«akia»", "SecretKey": "«aws40»" }
micronaut: aws.accessKeyId: «akia»⏎aws.secretKey: «aws40»
quarkus.s3.aws.credentials.static-provider.secret-access-key=«aws40»
camel: aws2-sqs://jobs?accessKey=«akia»&secretKey=RAW(«aws40»)
S3.configure(accessKeyId = "«akia»", secretAccessKey = "«aws40»") // kotlin
AWSStaticCredentialsProvider(accessKey: "«akia»", secretKey: "«aws40»")
erlcloud_s3:new("«akia»", "«aws40»")
config :ex_aws, secret_access_key: "«aws40»"
$provider = CredentialProvider::fromCredentials(new Credentials('«akia»', '«aws40»'));
'disks' => ['s3' => ['driver' => 's3', 'key' => '«akia»', 'secret' => '«aws40»']]
Fog::Storage.new(provider: 'AWS', aws_access_key_id: '«akia»', aws_secret_access_key: '«aws40»')
Paperclip s3_credentials: { access_key_id: '«akia»', secret_access_key: '«aws40»' }
shrine: Shrine::Storage::S3.new(secret_access_key: "«aws40»")
paws::s3(config = list(credentials = list(creds = list(access_key_id = "«akia»", secret_access_key = "«aws40»"))))
Sys.setenv(AWS_SECRET_ACCESS_KEY = "«aws40»")
AWSCredentials("«akia»", "«aws40»")  # AWS.jl
Net::Amazon::S3->new({ aws_access_key_id => '«akia»', aws_secret_access_key => '«aws40»' });
boto.connect_s3('«akia»', '«aws40»')
s3fs.S3FileSystem(key="«akia»", secret="«aws40»")
storage_options={"aws_access_key_id": "«akia»", "aws_secret_access_key": "«aws40»"}
pl.scan_parquet("s3://b/x", storage_options={"aws_secret_access_key": "«aws40»"})
df.write.option("secretAccessKey", "«aws40»")
object_store: AmazonS3Builder::new().with_access_key_id("«akia»").with_secret_access_key("«aws40»")
let s3 = S3Client::new_with(HttpClient::new()?, StaticProvider::new_minimal("«akia»".into(), "«aws40»".into()), region);
session.Must(session.NewSession(&aws.Config{Credentials: credentials.NewStaticCredentials("«akia»", "«aws40»", "")}))
SET AWS_SECRET_ACCESS_KEY=«aws40»
[Environment]::SetEnvironmentVariable("AWS_ACCESS_KEY_ID", "«akia»", "User")
New-S3Bucket -BucketName b -AccessKey «akia» -SecretKey «aws40» -SessionToken «awstoken»
docker service create --env AWS_SECRET_ACCESS_KEY=«aws40» backup
docker inspect backup⏎"Env": [⏎  "AWS_ACCESS_KEY_ID=«akia»",⏎  "AWS_SECRET_ACCESS_KEY=«aws40»"⏎]
- name: S3_ACCESS_KEY⏎  value: «akia»⏎- name: S3_SECRET_KEY⏎  value: «aws40»
stringData:⏎  AWS_ACCESS_KEY_ID: «akia»⏎  AWS_SECRET_ACCESS_KEY: «aws40»
cortex: s3://«akia»:«mixed40»@eu-west-1/bucket
tempo: storage: trace: s3: access_key: «akia»
vector.toml⏎[sinks.s3.auth]⏎access_key_id = "«akia»"⏎secret_access_key = "«aws40»"
fluent-plugin: aws_key_id «akia»⏎aws_sec_key «aws40»
logstash output { s3 { access_key_id => "«akia»" secret_access_key => "«aws40»" } }
filebeat.inputs: type: aws-s3⏎access_key_id: '«akia»'⏎secret_access_key: '«aws40»'
PUT _snapshot/backup {"type":"s3","settings":{"access_key":"«akia»","secret_key":"«aws40»"}}
CREATE CREDENTIAL [s3://b] WITH IDENTITY = 'S3 Access Key', SECRET = '«akia»:«aws40»';
BACKUP INTO 's3://b/x?AWS_ACCESS_KEY_ID=«akia»&AWS_SECRET_ACCESS_KEY=«aws40»&AWS_REGION=eu-west-1';
SELECT * FROM s3Cluster('c', 'https://b.s3.amazonaws.com/*.parquet', '«akia»', '«aws40»')
pgbackrest.conf⏎repo1-s3-key=«akia»⏎repo1-s3-key-secret=«aws40»
duplicity: AWS_ACCESS_KEY_ID="«akia»" AWS_SECRET_ACCESS_KEY="«aws40»" duplicity full / s3://b
rclone copy x :s3,access_key_id=«akia»,secret_access_key=«aws40»:bucket
gitlab_rails['object_store']['connection'] = { 'aws_access_key_id' => '«akia»', 'aws_secret_access_key' => '«aws40»' }
nexus blobstore: "accessKeyId":"«akia»","secretAccessKey":"«aws40»"
mastodon .env.production: AWS_SECRET_ACCESS_KEY=«aws40»⏎S3_BUCKET=media
Email from AWS Abuse: your access key «akia» is publicly available on GitHub
IAM credential report: access_key_1 «akia», rotated 400 days ago
aws iam delete-access-key --access-key-id «akia» --user-name ci
CloudTrail lookup-events --lookup-attributes AttributeKey=AccessKeyId,AttributeValue=«akia»
AccessKeyId «asia» used by role session deploy from 10.1.2.7
panic: RequestError: send request failed; signing with secret key "«aws40»" (aws)
ses-relay: SMTP AUTH LOGIN as «akia» with «ses44» → 535 Authentication Credentials Invalid
""",
    "gcp": r"""
(setq google-translate-api-key "«aiza»")
import googlemaps; gmaps = googlemaps.Client(key='«aiza»')
GoogleApi.Config.set(api_key: "«aiza»")
Places SDK: Places.initialize(getApplicationContext(), "«aiza»");
manifestPlaceholders = [MAPS_API_KEY: "«aiza»"]
secrets.properties⏎PLACES_KEY=«aiza»
google-services.json: "api_key": [{ "current_key": "«aiza»" }]
FirebaseOptions.Builder().setApiKey("«aiza»").build()
environment.ts⏎firebase: {⏎  apiKey: '«aiza»',⏎  projectId: 'acme'⏎}
NUXT_PUBLIC_GOOGLE_KEY=«aiza»
<gmp-map-loader key="«aiza»" solution-channel="x"></gmp-map-loader>
https://www.google.com/maps/embed/v1/place?key=«aiza»&q=Oslo
https://pagespeedonline.googleapis.com/v5/runPagespeed?url=x&key=«aiza» quota exceeded
https://safebrowsing.googleapis.com/v4/threatMatches:find?key=«aiza»
https://vision.googleapis.com/v1/images:annotate?key=«aiza»
https://identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=«aiza»
https://firestore.googleapis.com/v1/projects/acme/databases/(default)/documents?key=«aiza»
https://texttospeech.googleapis.com/v1/text:synthesize⏎X-Goog-Api-Key: «aiza»
aider --model gemini/gemini-2.0-flash --api-key gemini=«aiza»
gemini: { "GEMINI_API_KEY": "«aiza»" } // .gemini/settings
litellm: model gemini-pro api_key «aiza» → PERMISSION_DENIED
llm keys set gemini⏎Enter key: «aiza»
ChatGoogleGenerativeAI(model="gemini-pro", google_api_key="«aiza»")
gcloud services api-keys list⏎keyString: «aiza»
Terraform: google_apikeys_key.maps.key_string = "«aiza»"
secret scanning alert: Google API Key «aiza» in src/map.js
curl -X PATCH -H "Authorization: Bearer «ya29»" https://run.googleapis.com/v1/x
CLOUDSDK_AUTH_ACCESS_TOKEN=«ya29» gcloud projects list
export GOOGLE_OAUTH_ACCESS_TOKEN="«ya29»"
helm registry login -u oauth2accesstoken --password «ya29» europe-docker.example.test
{"level":"debug","grpc.metadata":{"authorization":"Bearer «ya29»"}}
ERROR 401 UNAUTHENTICATED access_token=«ya29»
gsutil -D: header 'authorization: Bearer «ya29»'
MSAL-like cache: google_access_token «ya29» expires 10:11
http.Header{"Authorization":[]string{"Bearer «ya29»"}}
NextAuth account: { provider: 'google', access_token: '«ya29»', refresh_token: '«goog_refresh»' }
INSERT INTO oauth (provider, refresh_token) VALUES ('google', '«goog_refresh»');
gcalcli: token expired, refresh_token "«goog_refresh»" revoked by the user
authorized_user: {"client_secret":"«gocspx»","refresh_token":"«goog_refresh»","type":"authorized_user"}
MailKit SaslMechanismOAuth2 google refresh «goog_refresh»
YTDLP oauth refresh token: «goog_refresh»
<ClientSecret>«gocspx»</ClientSecret> <!-- Google -->
grafana.ini⏎[auth.google]⏎enabled = true⏎client_secret = «gocspx»
oauth2-proxy --provider=google --client-secret=«gocspx»
dex: connectors:⏎- type: google⏎  config:⏎    clientSecret: «gocspx»
keycloak idp google: clientSecret "«gocspx»"
argocd-cm: dex.google.clientSecret: "«gocspx»"
Ueberauth.Strategy.Google.OAuth, client_secret: "«gocspx»"
AUTH_GOOGLE_SECRET=«gocspx»
SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET = '«gocspx»'
googleAuthR: options(googleAuthR.client_secret = "«gocspx»")
appsettings: "Google": { "ClientSecret": "«gocspx»" }
{⏎  "type": "service_account",⏎  "private_key": "«pem_json»",⏎  "token_uri": "https://oauth2.googleapis.com/token"⏎}
ServiceAccountCredentials.fromStream: {"private_key":"«pem_json»","client_email":"a@acme.iam.gserviceaccount.com"}
GOOGLE_PRIVATE_KEY="«pem_json»"⏎GOOGLE_CLIENT_EMAIL=bot@acme.iam.gserviceaccount.com
gspread.service_account_from_dict({"private_key": "«pem_json»"})
terraform: google_service_account_key.ci.private_key = "«b64_json»"
VERTEX_CREDENTIALS_B64='«b64_json»'
kind: Secret⏎metadata: { name: gcs }⏎data:⏎  service-account.json: «b64_json»
- GCLOUD_KEYFILE_JSON=«b64_json»
velero/gcs: HMAC accessKey «goog1e» secretKey «b64n40»
boto3.client('s3', endpoint_url='https://storage.googleapis.com', aws_access_key_id='«goog1e»', aws_secret_access_key='«b64n40»')
""",
    "azure": r"""
(setenv "AZURE_STORAGE_KEY" "«b64_88»")
$storageKey = '«b64_88»'; $ctx = New-AzStorageContext acme $storageKey
az storage blob upload --account-name acme --account-key "«b64_88»" -f x -c c
az webapp config storage-account add --access-key «b64_88» --account-name acme
kubectl create secret generic azure-secret --from-literal=azurestorageaccountkey=«b64_88»
//acme.file.core.windows.net/share /mnt cifs username=acme,password=«b64_88»,serverino
net use Z: \\acme.file.core.windows.net\share /user:AZURE\acme «b64_88»
adlfs.AzureBlobFileSystem(account_name="acme", account_key="«b64_88»")
pd.read_csv("abfs://c/x.csv", storage_options={"account_name": "acme", "account_key": "«b64_88»"})
MicrosoftAzureBuilder::new().with_account("acme").with_access_key("«b64_88»")
azblob.NewSharedKeyCredential("acme", "«b64_88»")
AzureRM::Storage.new(storage_account_name: 'acme', storage_access_key: '«b64_88»')
BlobRestProxy::createBlobService("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«b64_88»");
AzureStor::storage_endpoint("https://acme.blob.core.windows.net", key="«b64_88»")
thanos objstore.yml⏎type: AZURE⏎config:⏎  storage_account: acme⏎  storage_account_key: «b64_88»
tempo:⏎  azure:⏎    storage_account_name: acme⏎    storage_account_key: «b64_88»
restic: AZURE_ACCOUNT_NAME=acme AZURE_ACCOUNT_KEY=«b64_88» restic backup
pgbackrest: repo1-azure-account=acme⏎repo1-azure-key=«b64_88»
elasticsearch-keystore add azure.client.default.key <<< «b64_88»
hdfs: fs.azure.account.key.lake.dfs.core.windows.net = «b64_88»
CREATE SECRET az (TYPE AZURE, CONNECTION_STRING 'AccountName=acme;AccountKey=«b64_88»');
ADF linked service: "connectionString": "DefaultEndpointsProtocol=https;AccountName=adf;AccountKey=«b64_88»"
StorageException: 403, connection string AccountName=acme;AccountKey=«b64_88»;EndpointSuffix=core.windows.net
Cosmos DB primary key for account acme: «b64_88»
gremlin: cosmosdb password «b64_88» user /dbs/g/colls/p
@azure/cosmos: new CosmosClient({ endpoint: 'https://acme.documents.azure.com', key: '«b64_88»' })
COSMOS_CONNECTION=AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=«b64_88»
azcopy sync . 'https://acme.blob.core.windows.net/site?sv=2023-11-03&ss=b&sp=rwdl&sig=«sigenc»'
Invoke-WebRequest 'https://acme.blob.core.windows.net/d/setup.msi?sr=b&sig=«sigenc»' -OutFile setup.msi
CREATE DATABASE SCOPED CREDENTIAL c WITH IDENTITY='SHARED ACCESS SIGNATURE', SECRET='sv=2022-11-02&ss=b&sig=«sigenc»';
snowflake: CREATE STAGE s URL='azure://acme.blob.core.windows.net/c' CREDENTIALS=(AZURE_SAS_TOKEN='?sv=2022&sig=«sigenc»')
terraform output sas_url⏎"https://acme.blob.core.windows.net/tf?sv=2022-11-02&sig=«sigenc»"
GET 403 https://acme.table.core.windows.net/t()?sv=2019-02-02&tn=t&sig=«sigenc»
Power Automate hook: https://prod-01.westeurope.logic.azure.com/workflows/‹hex32›/triggers/manual/paths/invoke?sp=%2Ftriggers&sv=1.0&sig=«sigenc»
azure-iot-sdk: SharedAccessSignature sr=acme.azure-devices.net%2Fdevices%2Fpi&sig=«sigenc»&se=17‹digits8›
celery broker azureservicebus://Root:«b64_44»@acme.servicebus.windows.net
"ServiceBus": "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=app;SharedAccessKey=«b64_44»"
kafka sasl.jaas.config: username="$ConnectionString" password="Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=«b64_44»"
keda: connectionFromEnv SERVICEBUS=Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKey=«b64_44»
az eventhubs eventhub authorization-rule keys list → primaryKey «b64_44»
iotedge config.toml⏎connection_string = "HostName=acme.azure-devices.net;DeviceId=edge;SharedAccessKey=«b64_44»"
az iot hub device-identity show: symmetricKey primaryKey «b64_44»
DPS symmetric_key = { value = "«b64_44»" } # azure iot edge
az signalr key list⏎"primaryConnectionString": "Endpoint=https://acme.service.signalr.net;AccessKey=«b64_44»;Version=1.0;"
StackExchange.Redis: acme.redis.cache.windows.net:6380,password=«b64_44»,ssl=True,abortConnect=False
spring.data.redis.host=acme.redis.cache.windows.net⏎spring.data.redis.password=«b64_44»
AzureRelay: SharedAccessKeyName=hc;SharedAccessKey=«b64_44»;EntityPath=conn
curl -X POST https://acme-fn.azurewebsites.net/api/http_trigger?code=«azfunc»
durable functions statusQueryGetUri: https://acme.azurewebsites.net/runtime/webhooks/durabletask/instances/‹hex32›?code=«azfunc»
az functionapp keys list → default: «azfunc»
AZURE_FUNCTION_KEY='«azfunc»' newman run f.json
semantic-kernel: AddAzureOpenAIChatCompletion("gpt-4o", "https://acme.openai.azure.com", "«azopenai»")
llm.nvim: azure = { api_key = "«azopenai»" }
cognitive: "AzureOpenAI:ApiKey": "«azopenai»"
HTTP 401 PermissionDenied api-key=«azopenai» (openai.azure.com)
az pipelines: ##vso[task.setvariable variable=PAT]«azdevops»
curl -u ci:«azdevops» https://pkgs.dev.azure.com/acme/_packaging/feed/nuget/v3/index.json
//pkgs.dev.azure.com/acme/_packaging/feed/npm/:_password="«azdevops»"
VSTS_PAT=«azdevops» dotnet restore
az acr login -n acme --username acme --password «acr» --expose-token
kubectl create secret docker-registry acr --docker-server=acme.azurecr.io --docker-username=acme --docker-password=«acr»
crossplane azure creds: {"clientId":"‹uuid›","clientSecret":"«azsecret»","tenantId":"‹uuid›"}
ansible azure_rm: client_id=‹uuid› secret=«azsecret» tenant=‹uuid›
packer azure-arm: client_secret = "«azsecret»"
ClientSecretCredentialBuilder().clientSecret("«azsecret»").clientId("‹uuid›").build()
azidentity.NewClientSecretCredential("‹uuid›", "‹uuid›", "«azsecret»", nil)
MicrosoftProviderAuthenticationSecret => '«azsecret»', // Azure app registration
grafana.ini [auth.azuread] client_secret = «azsecret»
AZURE_AD_SECRET="«azsecret»" next start
""",
    "basic_auth": r"""
error: failed to fetch `https://‹user›:«pwu»@index.example.test/config.json`⏎Caused by: HTTP 401
cargo: sparse+https://‹user›:«pwu»@crates.example.test/index/
.cargo/config.toml⏎[http]⏎proxy = "http://‹user›:«pwu»@proxy.example.org:3128"
PIP_INDEX_URL=https://‹user›:«pwu»@py.example.test/simple/
pip.conf⏎[global]⏎extra-index-url = https://‹user›:«pwu»@py.example.test/simple
[[tool.uv.index]]⏎name = "corp"⏎url = "https://‹user›:«pwu»@py.example.test/simple"
[[tool.poetry.source]]⏎name = "corp"⏎url = "https://‹user›:«pwu»@py.example.test/simple"
Pipfile⏎[[source]]⏎url = "https://‹user›:«pwu»@py.example.test/simple"
condarc⏎channels:⏎  - https://‹user›:«pwu»@conda.example.test/main
--extra-index-url https://‹user›:«pwu»@py.example.test/simple
@acme:registry=https://‹user›:«pwu»@npm.example.test/
.npmrc⏎//npm.example.test/:username=‹user›⏎//npm.example.test/:_password=«b64_24»
"resolved": "https://‹user›:«pwu»@npm.example.test/kit/-/kit-1.0.0.tgz"
bower EINVRES Request to https://‹user›:«pwu»@bower.example.test/packages failed with 401
Gemfile: source "https://‹user›:«pwu»@gems.example.test" do
BUNDLE_GEMS__EXAMPLE__TEST="‹user›:«pwu»" bundle install
maven-metadata: Could not transfer metadata from https://‹user›:«pwu»@mvn.example.test/snapshots
gradle: maven { url = uri("https://‹user›:«pwu»@mvn.example.test") }
lein: :repositories [["corp" {:url "https://mvn.example.test" :username "‹user›" :password "«pwu»"}]]
coursier: COURSIER_CREDENTIALS="mvn.example.test ‹user›:«pwu»"
<packageSourceCredentials><corp><add key="Username" value="‹user›" /><add key="ClearTextPassword" value="«pwu»" /></corp></packageSourceCredentials>
Register-PSRepository -SourceLocation https://‹user›:«pwu»@ps.example.test/nuget
choco source add -n=corp -s=https://choco.example.test -u=‹user› -p=«pwu»
flatpak remote-add corp https://‹user›:«pwu»@flatpak.example.test/repo
/etc/apt/auth.conf.d/corp.conf⏎machine apt.example.test login ‹user› password «pwu»
Err:3 https://‹user›:«pwu»@apt.example.test stable InRelease⏎  401  Unauthorized
pacman.conf: Server = https://‹user›:«pwu»@arch.example.test/$repo/os/$arch
nix: netrc-file entry machine cache.example.test login ‹user› password «pwu»
error: unable to download 'https://‹user›:«pwu»@cache.example.test/nix-cache-info': HTTP error 401
HOMEBREW_ARTIFACT_DOMAIN=https://‹user›:«pwu»@brew.example.test
docker build --build-arg http_proxy=http://‹user›:«pwu»@proxy:3128 .
~/.docker/config.json⏎"proxies": {"default": {"httpProxy": "http://‹user›:«pwu»@proxy:3128"}}
/etc/systemd/system/docker.service.d/proxy.conf⏎Environment="HTTPS_PROXY=http://‹user›:«pwu»@proxy:3128"
containerd config: [plugins.cri.registry.configs."r.example.test".auth]⏎username = "‹user›"⏎password = "«pwu»"
registries.yaml⏎configs:⏎  r.example.test:⏎    auth:⏎      username: ‹user›⏎      password: «pwu»
kubectl create secret docker-registry reg --docker-server=r.example.test --docker-username=‹user› --docker-password=«pwu»
buildah push --creds ‹user›:«pwu» img docker://r.example.test/img
kaniko: "auths":{"r.example.test":{"auth":"«basic»"}}
jib: to { auth { username = '‹user›'; password = '«pwu»' } }
docker compose pull: Authorization: Basic «basic» → denied
gh api: GET with header authorization: basic «basic»
X-Original-Authorization: Basic «basic»
{"req":{"headers":{"authorization":"Basic «basic»"}},"res":{"statusCode":401}}
"Authorization" = "Basic «basic»" # powershell headers
conn.setRequestProperty("Authorization", "Basic «basic»");
xhr.setRequestHeader('Authorization', 'Basic «basic»');
request.add_header("Authorization", "Basic «basic»")
Wire log: http-outgoing-0 >> "Authorization: Basic «basic»[\r][\n]"
urllib3: send: b'GET / HTTP/1.1\r\nAuthorization: Basic «basic»\r\n'
soapui: <con:username>‹user›</con:username><con:password>«pwu»</con:password> (basic auth)
jmeter HTTP Authorization Manager: https://‹host› ‹user› «pwu» BASIC
locust: self.client.auth = ("‹user›", "«pwu»")
wrk -H "Authorization: Basic «basic»" https://‹host›/
hey -a ‹user›:«pwu» https://‹host›/
blackbox_exporter: http:⏎  basic_auth:⏎    username: "‹user›"⏎    password: "«pwu»"
loki promtail clients:⏎- url: https://‹user›:«pwu»@logs.example.test/loki/api/v1/push
grafana agent remote_write: basic_auth { username = "‹user›" password = "«pwu»" }
telegraf [[outputs.http]]⏎  username = "‹user›"⏎  password = "«pwu»"
curl -k https://‹user›:«pwu»@‹host›:9200/_cluster/health?pretty
es = Elasticsearch("https://‹host›:9200", basic_auth=("‹user›", "«pwu»"))
opensearchpy http_auth=('‹user›', '«pwu»')
icinga: curl -s -u ‹user›:«pwu» 'https://‹host›:5665/v1/status'
Start-BitsTransfer -ProxyCredential: http://‹user›:«pwu»@proxy.example.org:8080
davfs2 secrets: https://dav.example.test/files ‹user› «pwu»
onvif: rtsp://‹user›:«pwu»@192.168.1.64:554/Streaming/Channels/101
frigate: inputs: - path: rtsp://‹user›:«pwu»@cam1.example.org/live
""",
    "git_credential": r"""
fatal: repository 'https://‹user›:«pwu»@git.example.test/team/app.git/' not found
fatal: unable to look up current user; remote https://‹user›:«ghp»@github.com/team/app.git
error: RPC failed; curl 56 GnuTLS recv error, https://‹user›:«pwu»@git.example.test/team/app.git
> git push -u origin main⏎remote: Invalid credentials⏎fatal: Authentication failed for 'https://x-access-token:«ghs»@github.com/team/app.git/'
warning: remote HEAD refers to nonexistent ref (https://oauth2:«glpat»@gitlab.example.test/team/app.git)
origin⇥https://x-token-auth:«url40»@bitbucket.org/team/app.git (push)
GIT_SSH_COMMAND unset, falling back to https://‹user›:«pwu»@git.example.test/team/app
lines from .git/FETCH_HEAD: ‹hex40› not-for-merge branch 'dev' of https://‹user›:«ghp»@github.com/team/app
[branch "main"]⏎⇥remote = https://‹user›:«pwu»@git.example.test/team/app.git
[lfs]⏎⇥url = "https://‹user›:«pwu»@git.example.test/team/app.git/info/lfs"
[credential "https://git.example.test"]⏎⇥username = ‹user›⏎⇥helper = "!echo password=«pwu»"
pushurl = https://‹user›:«glpat»@gitlab.example.test/team/app.git
env GIT_CONFIG_KEY_0=url.https://x-access-token:«ghs»@github.com/.insteadOf GIT_CONFIG_VALUE_0=https://github.com/
.gitmodules⏎  url = https://oauth2:«glpat»@gitlab.example.test/team/proto.git
git submodule add https://‹user›:«pwu»@git.example.test/team/proto.git proto
gclient: solutions = [{"url": "https://‹user›:«pwu»@git.example.test/team/src.git"}]
go env GOPRIVATE; fatal: could not read from https://‹user›:«ghp»@github.com/team/lib
.netrc for go modules: machine github.com login ‹user› password «ghp»
cargo:warning=spawning git fetch https://x-access-token:«ghs»@github.com/team/rs
Cargo.lock: source = "git+https://‹user›:«ghp»@github.com/team/rs?branch=main#‹hex40›"
"dependencies": { "core": "https://«ghp»@github.com/team/core/tarball/main" }
npm i git+https://oauth2:«glpat»@gitlab.example.test/team/core.git
bun add git+https://‹user›:«pwu»@git.example.test/team/core.git
requirements.in⏎core @ git+https://‹user›:«pwu»@git.example.test/team/core.git@v2
ERROR: Command errored out: git clone --filter=blob:none -q https://«ghp»@github.com/team/core.git /tmp/pip-req-build
environment.yml⏎- pip:⏎  - git+https://oauth2:«glpat»@gitlab.example.test/team/core.git
devtools::install_gitlab host https://‹user›:«glpat»@gitlab.example.test/team/rpkg
Gemfile.lock⏎GIT⏎  remote: https://‹user›:«ghp»@github.com/team/core.git⏎  revision: ‹hex40›
deps: {core, {git, "https://‹user›:«pwu»@git.example.test/team/core.git", {branch, "main"}}}
composer.lock "source": {"type":"git","url":"https://oauth2:«glpat»@gitlab.example.test/team/core.git"}
pubspec.yaml⏎core:⏎  git:⏎    url: https://‹user›:«ghp»@github.com/team/core.git
stack.yaml⏎extra-deps:⏎- git: https://‹user›:«pwu»@git.example.test/team/hs.git⏎  commit: ‹hex40›
deps.edn: {core/core {:git/url "https://‹user›:«ghp»@github.com/team/core.git" :git/sha "‹hex40›"}}
opam pin add core git+https://‹user›:«pwu»@git.example.test/team/core.git
nimble install https://‹user›:«pwu»@git.example.test/team/nimlib
shards: core: { git: https://‹user›:«ghp»@github.com/team/core.git }
zig fetch --save git+https://‹user›:«pwu»@git.example.test/team/zlib
spm: error: failed to clone https://‹user›:«ghp»@github.com/team/Kit
[!] Error installing Kit⏎[!] /usr/bin/git clone https://‹user›:«pwu»@git.example.test/team/Kit.git failed
CPMAddPackage(GIT_REPOSITORY "https://oauth2:«glpat»@gitlab.example.test/team/kit.git")
PlatformIO lib_deps = https://‹user›:«pwu»@git.example.test/team/fwlib.git
ARG GH_TOKEN⏎RUN git clone https://‹user›:«ghp»@github.com/team/app.git⏎ ---> Running in ‹hex12›
docker-compose: build: https://‹user›:«ghp»@github.com/team/app.git#main
podman build https://oauth2:«glpat»@gitlab.example.test/team/app.git
kubectl apply -k https://‹user›:«pwu»@git.example.test/team/k8s//base
initContainers: args: ["clone", "https://‹user›:«pwu»@git.example.test/team/site.git", "/data"]
fleet GitRepo spec: repo: https://‹user›:«pwu»@git.example.test/team/fleet
source: git::https://x-access-token:«ghs»@github.com/team/modules.git//vpc?ref=v1
pulumi up: stack deploy from https://‹user›:«ghp»@github.com/team/infra.git
ansible-galaxy install git+https://‹user›:«pwu»@git.example.test/team/role.git
salt gitfs_remotes:⏎  - https://git.example.test/salt.git:⏎    - user: ‹user›⏎    - password: «pwu»
r10k: sources: puppet: remote: 'https://‹user›:«pwu»@git.example.test/team/control.git'
berks: git 'https://‹user›:«ghp»@github.com/team/cookbook.git'
gitlab-ci: git push "https://ci:«glpat»@gitlab.example.test/team/app.git" HEAD:release
GitLab pull mirror error: https://*****:«glpat»@gitlab.example.test/team/app.git 403
steps: git remote set-url --push origin https://bot:«ghpat»@github.com/team/app
act_runner: cloning https://gitea-actions:«pwu»@gitea.example.test/team/actions
teamcity VCS root url https://‹user›:«pwu»@git.example.test/team/app.git connection refused
sourcegraph: "url": "https://‹user›:«glpat»@gitlab.example.test", "projectQuery": ["all"]
backstage: git clone https://«ghp»:x-oauth-basic@github.com/team/tpl
jupyterlab-git: {"auth":{"username":"‹user›","password":"«ghp»"},"path":"https://github.com/team/nb.git"}
obsidian-git: https://‹user›:«ghpat»@github.com/team/notes.git
rstudio: git pull https://‹user›:«pwu»@git.example.test/team/stats.git
""",
    "credit_card": r"""
thrown: Braintree.AuthorizationError on creditCard.number = "«card»"
req.body = { holder: 'TEST', pan: '«card»', exp: '0931' }
payload: {"method":"CARD","cardNumber":"«cardsp»"}
mollie: cardNumber=«card» cardHolder=TEST
[checkout-api] Validation failed: credit card number «cardsp» is not supported
2026-11-03 10:11:12 ERROR PaymentController - Card «card» refused by acquirer
I/flutter: submitting card number «cardsp»
console.log('cc number', '«card»')
error_log("card number was «card»");
fmt.Printf("charging card %s", "«card»")
eprintln!("card number: {}", "«card»");
Logger.info("credit card «card»")
System.out.println("PAN = «card»");
cat("Credit card:", "«cardsp»")
CC_NUMBER: '«card»'
credit_card = { number = "«card»", cvc = "" }
visa_card = "«card»"
mastercard: "«card»"
{:card {:number "«card»" :brand :visa}}
type Card = { number = "«card»"; brand = "visa" }
REPLACE INTO billing (customer, credit_card_no) VALUES (12, '«card»');
MERGE INTO cards USING (SELECT '«card»' AS card_number) s
db.payments.insertOne({ cardNumber: "«card»" })
HSET customer:7 credit_card «card»
order_id|card_number|total⏎18|«card»|20.00
"Card Number";"Amount"⏎"«cardsp»";"20,00"
<Payment><Card><Number>«card»</Number></Card></Payment>
<tns:pan>«card»</tns:pan>
<creditCardNumber>«cardda»</creditCardNumber>
POST /pay card_number=«card»&amount=1200
GET /lookup?cardNumber=«card» HTTP/1.1
Content-Disposition: form-data; name="cc-number"⏎⏎«cardsp»
x-debug-card: card number «card»
cardNumber : «cardsp» → 402 Payment Required
WebSocket frame: {"type":"pay","card":"«card»"}
kafka topic payments: key=42 value={"pan":"«card»"}
sqs body: {"creditCardNumber":"«card»"}
Apple Pay fallback: entered PAN «card»
terminal log: PAN(«card») EXP(3104) APP(VISA CREDIT)
EMV: 57 Track2: «card»D31042010000000000
MSR swipe: ;«card»=31042010000000000?
auth request F2=«card» F4=000000001200
authorisation for card no «cardsp» timed out
reversal of PAN «card» accepted
Hi, could you refund to my mastercard «cardda»?
chat: customer: "my card number is «cardsp»"
support ticket: double charge on my Visa card «card»
Bitte buchen Sie von meiner Kreditkarte «cardsp» ab
mon numéro de carte de crédit est «cardsp»
mi tarjeta Visa «cardsp» fue rechazada
creditcardnummer «cardsp» is geweigerd
AMEX: «amex»
amex_number="«amex»"
corporate American Express «amex» blocked
it { expect(CardType.of('«amex»')).to eq(:amex) }
assert luhn_valid("«card»"), "credit card"
faker.credit_card_number() returned «card»
regex CREDIT_CARD matched «cardsp» in attachment.txt
""",
    "ssn": r"""
panicked at 'invalid ssn: "«ssn»"', src/hr.rs:9
raise ValidationError("SSN already used: «ssn»")
IllegalStateException: two employees share SSN «ssn»
log.Printf("lookup failed for ssn=%s", "«ssn»")
Rails.logger.info "SSN: «ssn»"
console.warn('ssn rejected', '«ssn»')
System.err.println("SSN=«ssn»");
print(f"social security number: {'«ssn»'}")
cat(sprintf("SSN %s", "«ssn»"))
:ssn => '«ssn»',
{:ssn "«ssn»" :name "Test"}
'ssn' => '«ssn»',
ssn := "«ssn»"
let SSN: String = "«ssn»"
val ssn = "«ssn»"
final String ssn = '«ssn»';
const ssn = "«ssn»";
$ssn = '«ssn»';
string socialSecurityNumber = "«ssn»";
[person]⏎name = "Test"⏎ssn = "«ssn»"
<person><name>Test</name><ssn>«ssn»</ssn></person>
<field name="SSN">«ssn»</field>
<input id="ssn" value="«ssn»">
page.getByLabel('Social Security Number').fill('«ssn»')
driver.findElement(By.name("ssn")).sendKeys("«ssn»");
fill_in 'SSN', with: '«ssn»'
db.employees.find({ ssn: "«ssn»" })
HGET employee:9 ssn → «ssn»
MERGE (p:Person {ssn: "«ssn»"})
SELECT * FROM payroll WHERE ssn LIKE '«ssn»%'
CALL add_person('Test', /* ssn */ '«ssn»');
COPY people (name, ssn) FROM stdin;⏎Test⇥«ssn»
employee_id,social_security_number⏎77,«ssn»
curl "https://hr.example.org/people?ssn=«ssn»"
POST /apply name=Test&ssn=«ssn»&zip=73301
{"query":"mutation { addPerson(ssn: \"«ssn»\") { id } }"}
kafka: {"event":"hire","ssn":"«ssn»"}
payroll batch 12: SSN «ssn» missing address
ADP import error: invalid SSN «ssn» in row 41
Gusto: Employee SSN «ssn» has already been used
SSA name mismatch letter for SSN «ssn»
credit freeze requested for SSN «ssn»
Experian PIN reset, social security number «ssn»
mortgage 1003: Borrower Social Security Number «ssn»
student loan: SSN «ssn» is not found in NSLDS
VA claim, veteran SSN «ssn»
health plan: subscriber SSN «ssn» not eligible
HIPAA breach: social security number «ssn» mailed
tenant screening, SSN: «ssn»
I think you have my social security number wrong, it should be «ssn»
Hi HR, my SSN changed? The stub shows «ssn» as SSN
Form 8879: taxpayer's SSN «ssn», ERO PIN missing
1095-C line 2 SSN: «ssn»
foreign spouse has ITIN «itin»
taxpayer_id_type=ITIN taxpayer_id=«itin»
ITIN application for «itin» approved
scrubber test: SSN without dashes «ssnbare»
ssn_raw = "«ssnbare»"
SSN with blanks: «ssnsp»
""",
    "phone": r"""
twilio: Error 21211: Invalid 'To' Phone Number: «e164»
Plivo::Exceptions: dst phone number «e164» not routable
messagebird send --to mobile «e164»
nexmo.sendSms("Acme", "«e164»", "phone verified")
signal-cli: Failed to register phone number «e164»
telethon: client.sign_in(phone='«e164»')
pyrogram: phone_number = "«e164»"
yowsup: phone=«e164» cc=47
gammu sendsms TEXT «e164» -text "hi"   # phone
AT+CMGS="«e164»"⏎> test sms⏎+CMS ERROR: 500
mmcli: sms create: number='«e164»', text='phone test'
firebase: signInWithPhoneNumber(auth, "«e164»", verifier)
Cognito: UserAttributes: [{Name: 'phone_number', Value: '«e164»'}]
auth.admin.createUser({ phone: '«e164»', phone_confirm: true })
duo: user bob, phone «e164», push timed out
okta factor sms: "phoneNumber":"«e164»"
PagerDuty: calling responder's phone «e164»
VictorOps contact: type=phone value=«us»
statuspage subscriber: phone_number=«us» phone_country=US
hubspot contact property phone="«uspar»"
Salesforce: INVALID_PHONE: Phone: «uspar»
zendesk: user.phone: "«us»"
shopify order: "shipping_address": {"phone": "«us»"}
stripe customer: "phone": "«e164»", "name": "Test"
sap: TELF1 (telephone) = «us»
DHL label: receiver phone «e164» too short
pizza order: customer phone «uspar»
restaurant booking under Test, phone «us»
taxi: your driver will call you on your mobile «us»
My phone is «usdot», call anytime
Could you change my phone number to «us»?
He left a voicemail; call back on phone «us»
If urgent, phone me: «uspar»
Please fax the form to fax no. «us»
Mein Telefon: «deloc», bitte zurückrufen
Meine Handynummer ist «demob»
Ich bin mobil unter «demob» erreichbar
Büro-Telefon «deintl00», Durchwahl 12
Ansprechpartner: Empfang, Telefon «deloc»
Notfallnummer (Handy): «demob»
Mon téléphone: «frloc»
Joignable au tél. «frintl»
Numéro de mobile : «frintl»
Meu celular é «brmob»
telefone para contato: «brmob»
Customer mobile (India): «inmob»
Call customer care executive mobile «inmob»
My UK mobile is «ukmob»
mob: «ukmob»
struct Contact { phone: "«e164»".into() }
{:phone "«us»"}
phone => '«us»',
:phone: "«us»"
SUPPORT_PHONE="«uspar»"
<input type="tel" value="«uspar»">
cy.get('[name=phone]').type('«usbare»')
db.users.find({ phone: "«e164»" })
HSET user:7 phone «e164»
whatsapp://send?phone=«msisdn»
CDR: msisdn=«msisdn» duration=12
MSISDN «msisdn» barred by operator
""",
    "totp_seed": r"""
otpauth://totp/Example%20Corp:‹user›?secret=«b32_32»&algorithm=SHA256&digits=8
QR payload otpauth://totp/vpn.example.org?secret=«b32_26»&issuer=vpn
img src="https://qr.example.test/?data=otpauth://totp/app%3Fsecret%3D«b32_32»"
<img alt="otpauth://totp/intranet?secret=«b32_16»">
Toast: "Could not open otpauth://totp/mail?secret=«b32_32»"
adb shell am start -a android.intent.action.VIEW -d "otpauth://totp/test?secret=«b32_16»"
parse_otpauth_uri("otpauth://totp/A:b?secret=«b32_32»&period=60")
let totp = TOTP(secret: base32DecodeToData("«b32_32»")!)
TOTP.generateTOTPCodeString('«b32_16»', DateTime.now().millisecondsSinceEpoch)
OTP.generateTOTPCodeString("«b32_32»", now)
otp.totp({ secret: "«b32_32»" })
twofactor.verifyToken("«b32_32»", code)
node-2fa: generateToken('«b32_32»')
OTPHP\TOTP::createFromSecret('«b32_32»')->now()
RobThree\Auth\TwoFactorAuth: verifyCode('«b32_32»', $code)
Authenticator::TOTP.new secret: "«b32_32»"
(totp/generate "«b32_32»")
pot:totp(<<"«b32_32»">>)
oath.totp.create("«b32_32»") -- TOTP lua
gotp.NewDefaultTOTP("«b32_32»").Now()
totp_rs: Secret is too short: «b32_16»
DefaultCodeVerifier TOTP rejected code for secret «b32_32»
TimeBasedOneTimePasswordUtil.generateCurrentNumberString("«b32_32»")
Base32.decode("«b32_32»") // TOTP shared secret
django_otp: Device key base32 for TOTP «b32_32»
allauth.mfa: TOTP secret in session: «b32_32»
flask-security: SECURITY_TOTP_SECRETS = {1: "«b32_52»"}
fortify: 'two_factor_secret' => '«b32_32»'
devise-two-factor: otp_secret: «b32_32» (user ‹user›)
privacyidea: tokentype totp, otpkey(base32) «b32_32»
linotp init type=totp otpkey=«b32_32»
authelia: storage user totp generate ‹user› --secret «b32_52»
authentik totp device key «b32_32»
freeipa: TOTP token key «b32_32»
pam_google_authenticator: secret "«b32_26»" unreadable
Your new secret key is: «b32_26»⏎Enter code from app (-1 to skip):
openvpn otp.conf: ‹user› otp totp «b32_32»
freeradius users: totp secret for ‹user› := «b32_32»
HOTP/T30/6 ‹user› - (base32 «b32_32»)
gnome-authenticator import: secret «b32_32» (TOTP)
ente auth export⏎otpauth://totp/Git:‹user›?secret=«b32_32»&issuer=Git
raivo-otp-export.json {"secret":"«b32_32»","kind":"TOTP"}
2fas backup: {"otp":{"tokenType":"TOTP"},"secret":"«b32_32»"}
bitwarden csv⏎login_totp⏎«b32_32»
lastpass authenticator: "secret" : "«b32_16»" (TOTP)
rbw get --field totp git⏎«b32_32»
itamae: mfa_secret «b32_32» for deploy user (TOTP)
saml2aws --mfa-seed TOTP «b32_64»
aws-vault: ykman oath add TOTP seed «b32_64»
vagrant e2e: TOTP_SEED: "«b32_32»"
playwright: process.env.OTP_SECRET ??= '«b32_32»' // TOTP
cypress.env.json {"totp_secret_key":"«b32_32»"}
robot framework: ${TOTP_SECRET}    «b32_32»
Get OTP    «b32_32»    # TOTP secret
steam bot config: totp shared secret base32 «b32_32»
telegram 2FA helper: my TOTP secret was «b32_16», now changed
Lost phone; the backup setup key for Google Authenticator is «b32sp»
Schlüssel für die Authenticator-App: «b32sp»
Clé de configuration pour l'authentificateur (TOTP) : «b32sp»
Enter setup key manually in your authenticator: «b32_32»
""",
    "jwt": r"""
called `Result::unwrap()` on an `Err` value: InvalidSignature, token=«jwt»
panic: jwt: «jwt» signature is invalid
Exception: Token has expired (eyJ...): «jwt»
(JOSE.Error) invalid token «jwt»
ERROR: JWSSignatureVerificationError: «jwt»
401 {"detail":"Signature has expired.","token":"«jwt»"}
AUTH reject jwt="«jwt»" reason=aud
{"time":"2026-11-03T10:11:12Z","level":"ERROR","auth_header":"Bearer «jwt»"}
kong | invalid exp claim in Bearer «jwt»
istio-proxy: RBAC: access denied, jwt «jwt»
apisix: failed to verify jwt: «jwt»
oauth2-proxy: id_token=«jwt» email_verified=false
spring oauth2ResourceServer: Bearer token «jwt» rejected
keycloak: code exchange returned {"access_token":"«jwt»","refresh_expires_in":1800}
auth0: {"id_token":"«jwt»","scope":"openid"}
cognito: CognitoIdentityServiceProvider.idToken: «jwt»
amplify: accessToken.jwtToken "«jwt»"
supabase.auth.setSession({ access_token: '«jwt»' })
anon + service_role: service_role key «jwt»
firebase verifyIdToken('«jwt»') failed
appwrite: X-Appwrite-JWT: «jwt»
pocketbase: pb.authStore.save("«jwt»")
directus: ?access_token=«jwt»
strapi: Authorization=Bearer «jwt»
ghost admin: Authorization: Ghost «jwt»
CF-Access-Jwt-Assertion: «jwt»
x-goog-iap-jwt-assertion: «jwt»
Cookie: CF_Authorization=«jwt»
Cookie: lang=de; jwt=«jwt»; theme=dark
Set-Cookie: id_token=«jwt»; SameSite=None; Secure
https://app.example.org/#/login?jwt=«jwt»
http://localhost:8888/lab?jwt=«jwt»
https://meet.example.org/room?jwt=«jwt»
https://bi.example.test/embed/question/«jwt»#bordered=true
GET /api/me?access_token=«jwt» HTTP/1.1" 200
< location: /cb#id_token=«jwt»&session_state=1
-d '{"assertion":"«jwt»"}'
wscat -c wss://‹host›/ws -H "Authorization: Bearer «jwt»"
evans --header authorization="Bearer «jwt»" repl
httpRequest.addValue("Bearer «jwt»", forHTTPHeaderField: "Authorization")
client.DefaultRequestHeaders.Authorization = new("Bearer", "«jwt»");
requests.get(url, headers={"Authorization": "Bearer «jwt»"})
HTTP.auth("Bearer «jwt»").get(url)
Http::withToken('«jwt»')->get($url)
req_auth_bearer_token(req, "«jwt»")
http-headers: [["Authorization" "Bearer «jwt»"]]
let token = "«jwt»" in decode token
setItem("authToken", "«jwt»")
AsyncStorage token → «jwt»
prefs.edit().putString("jwt", "«jwt»")
UserDefaults.standard.set("«jwt»", forKey: "jwt")
kubeconfig⏎users:⏎- name: sa⏎  user:⏎    token: «jwt»
kubectl get secret sa-token -o jsonpath='{.data.token}' | base64 -d⏎«jwt»
argocd account generate-token⏎«jwt»
vault login -method=jwt jwt=«jwt»
GitHub OIDC: {"value":"«jwt»","count":1234}
Buildkite OIDC token: «jwt»
minio: mc admin prometheus generate → bearer_token: «jwt»
mercure.rocks: publisher JWT "«jwt»" lacks claim
Can somebody tell me why this JWT is invalid? «jwt»
please decode: «jwt» (it's my access token)
""",
    "high_entropy_hex": r"""
django: SECRET_KEY = '«hex64»'  # settings/production.py
app.config.from_mapping(SECRET_KEY="«hex64»")
itsdangerous: URLSafeTimedSerializer("«hex64»")  # secret key
starlette: SessionMiddleware(app, secret_key="«hex64»")
quart_auth.secret = "«hex64»"
Rails.application.secrets.secret_key_base = "«hex128»"
config.secret_key = '«hex128»'  # devise
Rack::Session::Cookie, secret: "«hex128»"
use Rack::Session::Cookie secret: '«hex64»'
plug Plug.Session, signing_salt: "x", secret_key_base: "«hex128»"
LIVE_VIEW secret_key_base "«hex128»" too short?
next-auth: NEXTAUTH_SECRET="«hex64»"
AUTH_SECRET=«hex64» npm run build
BETTER_AUTH_SECRET: «hex64»
iron-session: { password: "«hex64»", cookieName: "s" }
fastify.register(cookie, { secret: '«hex64»' })
koa: app.keys = ['«hex64»']; // cookie signing secret
@nestjs/jwt: JwtModule.register({ secret: '«hex64»' })
passport-jwt: secretOrKey: '«hex64»'
LARAVEL reverb: REVERB_APP_SECRET=«hex40»
'secret_salt' => '«hex64»',
MAGENTO crypt key: 'key' => '«hex32»'
joomla configuration.php: public $secret = '«hex32»';
security.salt = «hex64»
io.jsonwebtoken: Keys.hmacShaKeyFor(Hex.decode("«hex64»"))
jwt:⏎  signing-secret: «hex128»
micronaut.security.token.jwt.signatures.secret.generator.secret: «hex64»
"Jwt": { "Key": "«hex64»", "Issuer": "acme" }
new SymmetricSecurityKey(Encoding.UTF8.GetBytes("«hex64»"))
machineKey validationKey="«HEX128»" decryptionKey="«HEX64»"
<machineKey decryptionKey="«HEX48»" validation="SHA1" />
let mac = HmacSha256::new_from_slice(&hex::decode("«hex64»")?);
ring::hmac::Key secret bytes: «hex64»
aes_gcm key: «hex64»
XChaCha20 key (hex): «hex64»
sodium secretbox key: «hex64»
libsodium: crypto_secretbox_easy key=«hex64»
fernet-like master key hex: «hex64»
dataEncryptionKey: «hex64»
ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY=«hex64»
ATTR_ENCRYPTED_KEY="«hex64»"
vaultwarden: DB encryption secret «hex64»
restic/rustic: masterkey encrypt key "«hex64»"
backup.encryption.key: «hex64»
luks keyfile (hex secret): «hex128»
cryptsetup: --master-key-file dump MK dump: «hex64» (secret key)
dmsetup table --showkeys⏎0 204800 crypt aes-xts-plain64 «hex128» 0 8:2 4096
keyctl padd: encryption key payload «hex64»
fscryptctl: secret key «hex128»
ZFS raw key (hex) for tank/secret: «hex64»
ceph: dashboard jwt secret «hex64»
etcd encryption provider aescbc secret (hex): «hex64»
cilium ipsec key: 3 rfc4106(gcm(aes)) 0x«hex40» 128
ip xfrm state add ... enc 'cbc(aes)' 0x«hex64» auth 'hmac(sha256)' 0x«hex64»
macsec: ip macsec add macsec0 tx sa 0 pn 1 on key 01 «hex32»
tsig-keygen hmac secret (hex) «hex64»
snmp usmUser auth localized key 0x«hex40»
bluetooth /var/lib/bluetooth info⏎[LinkKey]⏎Key=«HEX32»
zigbee2mqtt: network_key (secret) «hex32»
Matter: IPK epoch key (secret): «hex32»
OTAA: DevEUI ‹hex16›, AppKey secret «HEX32»
ttn-lw-cli end-devices: NwkSKey «HEX32» AppSKey «HEX32»
esp-idf flash encryption key (hex): «hex64»
TLS keylog: CLIENT_RANDOM ‹hex64› «hex96»
SERVER_HANDSHAKE_TRAFFIC_SECRET ‹hex64› «hex64»
hashcat recovered key: NT hash of svc account «hex32»
secretsdump.py: Administrator:500:aad3b435b51404eeaad3b435b51404ee:«hex32»::: (NTLM hashes)
krb5 keytab aes256-cts-hmac-sha1-96 key: (0x«hex64»)
ktutil: aes256 key 0x«hex64» for HTTP/‹host›
webhook signing secret (hex): «hex64»
svix/standard webhooks secret hex «hex64»
linear/github hook secret mismatch, configured secret "«hex40»"
oauth2 client shop: client_secret "«hex64»" has expired
oidc.client.secret=«hex64»
discourse: DiscourseConnect secret «hex32»
sso_secret = "«hex64»"
janus: admin_secret = "«hex32»"
jitsi: JICOFO_COMPONENT_SECRET=«hex32»
galaxy id_secret: «hex32»
onlyoffice: "secret": {"inbox": {"string": "«hex64»"}}
""",
}

CLEAN = r"""
git log --oneline⏎‹hex7› Hide the password in traces⏎‹hex7› Add token scopes
git show --stat ‹hex10›
From ‹hex40› Mon Sep 17 00:00:00 2001⏎From: bot <bot@example.org>⏎Subject: [PATCH] auth: refuse empty tokens
Signed-off-by: bot <bot@example.org>⏎Change-Id: I‹hex40›
Reviewed-on: https://review.example.org/c/core/+/‹n›
git cat-file -p HEAD⏎tree ‹hex40›⏎parent ‹hex40›⏎author bot <bot@example.org> 17‹digits8› +0000
git ls-files -s⏎100644 ‹hex40› 0⇥src/token.rs
git submodule status⏎ ‹hex40› vendor/lib (v1.4.0)
‹hex40›	HEAD⏎‹hex40›	refs/heads/main
From git.example.test:acme/core⏎   ‹hex7›..‹hex7›  main       -> origin/main
To git.example.test:acme/core.git⏎ + ‹hex7›...‹hex7› main -> main (forced update)
error: failed to push some refs to 'git.example.test:acme/core.git'
Rebasing (3/7)⏎error: could not apply ‹hex7›... Store hashed API keys only
Applying: Make the secret store pluggable⏎error: patch failed: src/store.rs:88
<<<<<<< HEAD⏎    token: Option<Token>,⏎=======⏎    token: Token,⏎>>>>>>> ‹hex7›
warning: unable to rmdir 'vendor/secrets': Directory not empty
error: bad signature 0x00000000⏎fatal: index file corrupt
git fsck⏎error: ‹hex40›: object corrupt or missing
unreachable tag ‹hex40›
hint: the '.env' file was ignored because of .gitignore
husky - pre-commit hook exited with code 1 (no secrets found, 1 lint error)
svn: E155011: File '/src/token.c' is out of date
hg: abort: push creates new remote head ‹hex12›!
bzr: ERROR: Not a branch: "/src/keys/".
changes: 2 files, rev ‹hex12›, branch default
.git/HEAD: ‹hex40›
ORIG_HEAD ‹hex40›
GIT_COMMIT=‹hex40› GIT_BRANCH=origin/main
COMMIT_SHA: "‹hex40›"
"sha": "‹hex40›",⏎"node_id": "C_kwDO‹mixed40›"
version: 0.4.0+g‹hex7›
app_1.4.2-‹hex8›_amd64.deb
release web@2026.11.3-‹hex7› deployed
https://git.example.org/acme/core/commit/‹hex40›
https://git.example.org/acme/core/compare/‹hex12›...‹hex12›
https://git.example.org/acme/core/blob/‹hex40›/src/token.rs#L14-L22
error[E0433]: failed to resolve: use of undeclared type `Secret`⏎ --> src/lib.rs:3:14
error[E0308]: mismatched types⏎  --> src/auth.rs:21:18⏎   |⏎21 |     login(user, password)⏎   |                 ^^^^^^^^ expected `&str`, found `String`
error[E0004]: non-exhaustive patterns: `TokenKind::Refresh` not covered
error[E0106]: missing lifetime specifier⏎ --> src/token.rs:8:12
error[E0603]: struct `ApiKey` is private
error[E0023]: this pattern has 1 field, but the corresponding tuple variant has 2 fields: Token(kind)
error: lifetime may not live long enough (returning `&'a Secret`)
error: environment variable `API_KEY` not defined at compile time⏎ = help: use `std::env::var("API_KEY")` to read the variable at run time
warning: `auth` (lib) generated 2 warnings: unused import: `secrecy::ExposeSecret`
warning: this function depends on never type fallback: read_password
error: linking with `cc` failed: exit status: 1⏎  = note: /usr/bin/ld: cannot find -lsecret-1: No such file or directory
error: failed to select a version for `zeroize`.
error: the lock file /src/Cargo.lock needs to be updated but --locked was passed
    Updating index⏎     Locking 214 packages⏎      Adding secrecy v0.8.0 (latest: v0.10.3)
   Fresh password-auth v1.0.0
dependencies = [⏎ "hmac",⏎ "password-hash",⏎ "sha2",⏎]
running 3 tests⏎test token::parses ... ok⏎test token::expires ... ok
test result: FAILED. 41 passed; 1 failed; 0 ignored
failures:⏎    auth::password_too_short
error: test failed, to rerun pass `-p auth --test password`
libfuzzer: artifact_prefix='./'; Test unit written to ./crash-‹hex40›
miri: error: Undefined Behavior: reading memory at alloc‹n›[0x0..0x20]
criterion: hash_password/argon2 time: [41.2 ms 41.9 ms 42.7 ms]
insta: snapshot assertion for 'token_debug' failed in line 12
    token: Token { kind: Access, value: "[redacted]" },
impl fmt::Debug for ApiKey { fn fmt(&self, f: &mut Formatter) -> fmt::Result { f.write_str("ApiKey(..)") } }
let token = self.tokens.get(&id).ok_or(TokenError::Unknown)?;
let Ok(password) = rpassword::prompt_password("Password: ") else { return };
pub type SharedSecret = [u8; 32];
use ring::rand::SystemRandom; // for key generation
#[arg(long, env = "API_TOKEN", hide_env_values = true)]⏎token: Option<String>,
#[serde(rename = "apiKey")]
assert!(matches!(err, Error::BadPassword));
assert_eq!(tokens.len(), 3);
fn token_at(&self, index: usize) -> Option<&Token> {
loop { let token = lexer.next()?; if token.is_eof() { break } }
debug!(token.id = %id, "token refreshed");
//! Secret storage backends: file, keyring, vault.
const KEY_LEN: usize = 32;
static TOKEN_RE: Lazy<Regex> = Lazy::new(|| Regex::new(r"^[A-Za-z0-9_-]+$").unwrap());
wasm-bindgen: ./target/wasm32-unknown-unknown/release/deps/shop-‹hex16›.wasm
/tmp/cargo-install‹mixed6›/release/build/ring-‹hex16›/out
  0x‹hex12› - <alloc::string::String as core::fmt::Debug>::fmt::h‹hex16›
incremental/shop-‹low13›/s-‹low10›-‹low7›.lock
npm ci can only install with an existing package-lock.json
npm error code E401⏎npm error Unable to authenticate, your authentication token seems to be invalid.
npm error 403 403 Forbidden - PUT https://npm.example.test/@acme%2fkit - You do not have permission
npm warn EBADENGINE package: 'keytar@7.9.0'
up to date, audited 812 packages in 2s⏎found 0 vulnerabilities
pnpm: ERR_PNPM_FETCH_401  GET https://npm.example.test/kit: Unauthorized - 401⏎No authorization header was set for the request.
pnpm: ERR_PNPM_TARBALL_INTEGRITY  Got unexpected checksum for kit-1.0.0.tgz. Wanted "sha512-‹b64_88›". Got "sha512-‹b64_88›".
yarn: error Integrity check failed for "jose" (computed integrity doesn't match our records, got "sha512-‹b64_88›")
jose@^5.2.0:⏎  version "5.2.4"⏎  resolved "https://npm.example.test/jose/-/jose-5.2.4.tgz#‹hex40›"
resolution: "jsonwebtoken@npm:9.0.2"⏎  checksum: 10c0/‹hex128›
"shasum": "‹hex40›",⏎"integrity": "sha512-‹b64_88›"
"version": "3.1.0", "hash": "sha1-‹b64_28›"
bun.lock: "kit": ["kit@1.0.0", "", {}, "sha512-‹b64_88›"]
import map: "https://esm.example.org/stable/react@18.2.0/es2022/react.mjs": "‹hex64›"
webpack 5.91.0 compiled with 1 error: Can't resolve './secrets.json'
asset main.‹hex20›.js 244 KiB [emitted] [immutable] [minimized]
✓ built in 1.2s: dist/assets/TokenList-‹mixed8›.js 3.11 kB
_next/static/css/‹hex16›.css 404
_app/immutable/chunks/entry.‹mixed8›.js
/packs/js/application-‹hex20›.js
/assets/application-‹hex64›.css
ngsw.json "hashTable": { "/index.html": "‹hex40›" }
sw.js precache: {url:"/index.html",revision:"‹hex32›"}
<link rel="modulepreload" href="/build/entry.client-‹up8›.js">
<script nonce="{{ nonce }}" src="/js/login.js"></script>
<script src="/js/sri.js" integrity="sha256-‹b64_44›"></script>
<style data-emotion="css ‹low6›">.css-‹low6›{margin:0}</style>
<div class="Login_password__‹mixed5›">
<svg><path d="M10.5 3.75a6.75 6.75 0 100 13.5 6.75 6.75 0 000-13.5z"/></svg>
<input autocomplete="current-password" type="password" required>
<label for="token">Token</label><input id="token" name="token" placeholder="paste your token">
<meta name="csrf-param" content="authenticity_token">
<a href="/settings/tokens">Personal access tokens</a>
<p class="error">The password you entered is not correct.</p>
<option value="api_key">API key</option>
<form [formGroup]="passwordForm" (ngSubmit)="changePassword()">
{#if wrongPassword}<Alert>Wrong password</Alert>{/if}
<template #label>{{ t('form.password') }}</template>
v-if="token.expiresAt < Date.now()"
TypeError: Failed to fetch⏎    at refreshToken (auth.js:22:9)
TypeError: jwt.sign is not a function
TypeError: Cannot destructure property 'password' of 'req.body' as it is undefined.
RangeError: Invalid key length⏎    at Cipheriv.createCipherBase (node:internal/crypto/cipher:121:19)
DOMException: The operation failed for an operation-specific reason (subtle.importKey)
Error [ERR_CRYPTO_INVALID_KEYLEN]: Invalid key length
Error: EACCES: permission denied, open '/run/secrets/db_password'
Error: self-signed certificate in certificate chain
AxiosError: Request failed with status code 401⏎  config: { url: '/api/token', method: 'post' }
PrismaClientKnownRequestError: Unique constraint failed on the fields: (`token`)
MongooseError: Operation `tokens.findOne()` buffering timed out after 10000ms
SequelizeAccessDeniedError: Access denied for user 'app'@'10.1.2.7' (using password: YES)
NestJS: Nest can't resolve dependencies of the TokenService (?).
GraphQLError: Context creation failed: invalid token
[vite] Internal server error: Failed to resolve import "./useToken"
TS2345: Argument of type 'Token | null' is not assignable to parameter of type 'Token'.
TS7006: Parameter 'password' implicitly has an 'any' type.
TS2551: Property 'acessToken' does not exist on type 'Session'. Did you mean 'accessToken'?
  12:7  error  'apiKey' is not defined  no-undef
FAIL  tests/login.spec.ts > shows an error for a wrong password
expect(received).toBe(expected)⏎⏎Expected: "token expired"⏎Received: "unauthorized"
Error: Timed out 5000ms waiting for expect(locator).toBeVisible() - getByLabel('Password')
const keys = Object.keys(tokens).filter((key) => !key.startsWith('_'));
const token = jwt.sign({ sub: user.id }, process.env.JWT_SECRET);
const hash = await bcrypt.hash(password, 12);
const isValid = await argon2.verify(user.passwordHash, password);
const apiKey = import.meta.env.VITE_API_KEY;
export const login = createAsyncThunk('auth/login', async ({ username, password }) => {
type Tokens = { access: string; refresh: string };
await fetch('/api/login', { method: 'POST', body: JSON.stringify({ email, password }) });
function isApiKey(value: unknown): value is ApiKey {
if (!/^[\w-]{20,}$/.test(token)) throw new Error('malformed token');
res.clearCookie('token').status(204).end();
@Column({ select: false }) password: string;
@UseGuards(JwtAuthGuard)⏎@Get('tokens')⏎list() { return this.tokens.findAll(); }
app.post('/password/forgot', limiter, forgotPassword);
const { mutate: revokeToken } = useMutation({ mutationFn: api.revokeToken });
setError('password', { message: 'Too short' });
logger.child({ module: 'token-store' }).info('ready');
crypto.randomBytes(32).toString('hex')
crypto.timingSafeEqual(Buffer.from(a), Buffer.from(b))
generateKeyPairSync('ed25519')
keys: { publicKey: string; privateKey: CryptoKey }
deno: error: Uncaught PermissionDenied: Requires env access to "API_TOKEN"
electron: safeStorage.isEncryptionAvailable() returned false
  File "/usr/lib/python3.12/site-packages/keyring/backends/fail.py", line 25, in get_password⏎keyring.errors.NoKeyringError: No recommended backend was available.
ValueError: Could not deserialize key data. The data may be in an incorrect format
ValueError: Fernet key must be 32 url-safe base64-encoded bytes.
RuntimeError: API_KEY environment variable missing
TypeError: Object of type SecretStr is not JSON serializable
PermissionError: [Errno 13] Permission denied: '/run/secrets/token'
jwt.exceptions.DecodeError: Not enough segments
jwt.exceptions.PyJWKClientError: Unable to find a signing key that matches: "‹url22›"
paramiko.ssh_exception.SSHException: Server '10.1.2.7' not found in known_hosts
psycopg2.OperationalError: fe_sendauth: no password supplied
ldap3.core.exceptions.LDAPInvalidCredentialsResult: 49 invalidCredentials
hvac.exceptions.Forbidden: permission denied, on get https://vault.example.test/v1/secret/data/db
boto3: EndpointConnectionError: Could not connect to the endpoint URL: "https://secretsmanager.eu-west-1.example.test/"
stripe.error.AuthenticationError: No API key provided. (HINT: set your API key using "stripe.api_key = <API-KEY>")
anthropic.AuthenticationError: Error code: 401 - {'type': 'error', 'error': {'type': 'authentication_error', 'message': 'invalid x-api-key'}}
starlette.exceptions.HTTPException: 401: Invalid authentication credentials
rest_framework.exceptions.AuthenticationFailed: Invalid token header. No credentials provided.
flask_wtf.csrf.CSRFError: 400 Bad Request: The CSRF session token is missing.
allauth: The password reset link is invalid.
celery: kombu.exceptions.DecodeError: Can't decode message body: token task
tests/test_auth.py::TestLogin::test_wrong_password PASSED
E   KeyError: 'access_token'⏎tests/test_oauth.py:41: KeyError
ERROR collecting tests/test_secrets.py⏎ImportError while importing test module
coverage: src/app/tokens.py   118   9  92%   41-44, 77
pip-audit: cryptography 41.0.7 PYSEC-2024-225 42.0.2
Collecting python-keycloak⏎  Using cached python_keycloak-4.0.0-py3-none-any.whl (76 kB)
ERROR: Hash mismatch: expected sha256:‹hex64›, got sha256:‹hex64›
uv.lock: sdist = { url = "https://files.example.test/secretstorage-3.3.3.tar.gz", hash = "sha256:‹hex64›", size = 19739 }
poetry.lock: content-hash = "‹hex64›"
Pipfile.lock: "_meta": {"hash": {"sha256": "‹hex64›"}}
build: acme-1.0.dist-info/RECORD: acme/token.py,sha256=‹url43›,2114
__pycache__/token.cpython-312.pyc: bad magic number
def mask(token: str) -> str:⏎    return token[:4] + "…"
class Settings(BaseSettings):⏎    api_key: SecretStr⏎    db_password: SecretStr
password: Annotated[str, Field(min_length=12)]
key = Fernet.generate_key()
hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 600_000)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")  # SECRET_KEY comes from the environment
@app.post("/token", response_model=Token)
monkeypatch.delenv("API_TOKEN", raising=False)
with pytest.raises(InvalidToken):
return Response({"token": "expired"}, status=401)
from itsdangerous import BadSignature, SignatureExpired
password = forms.CharField(widget=forms.PasswordInput)
cursor.execute("SELECT password_hash FROM users WHERE name = %s", (name,))
tokens_per_second = 41.7
num_tokens=8192, truncation=True
special_tokens_map.json, tokenizer.json, vocab.txt
special token <|endoftext|> has id 50256
Token indices sequence length is longer than the specified maximum sequence length for this model (1043 > 512)
loss=0.4127 lr=3.0e-05 tokens=1048576 grad_norm=1.02
epoch 3: val_loss 0.‹digits6›, saved to checkpoint-‹n›
safetensors: sha256 ‹hex64› model-00001-of-00004.safetensors
ollama pull: pulling ‹hex12›... 100%
blobs/sha256-‹hex64›
Job ID: ‹n›_‹n1› on node gpu-07, GPU-‹uuid›
jupyter: http://localhost:8888/lab?token=...
airflow: DAG secrets_rotation run scheduled__2026-11-03T00:00:00+00:00 failed
spark: java.io.NotSerializableException: com.acme.TokenProvider, stage 4.0 (TID ‹n›)
delta: _delta_log/‹digits20›.json part-00000-‹uuid›-c000.snappy.parquet
iceberg: snap-‹digits19›-1-‹uuid›.avro
java.lang.IllegalStateException: No encryption key configured for field User.ssn
java.lang.SecurityException: Invalid signature file digest for Manifest main attributes
java.security.InvalidKeyException: Illegal key size
java.security.InvalidAlgorithmParameterException: the trustAnchors parameter must be non-empty
javax.net.ssl.SSLHandshakeException: PKIX path building failed
javax.naming.AuthenticationException: [LDAP: error code 49 - 80090308: LdapErr: DSID-0C09044E, comment: AcceptSecurityContext error, data 52e, v2580]
io.jsonwebtoken.security.WeakKeyException: The signing key's size is 128 bits which is not secure enough for the HS256 algorithm.
io.jsonwebtoken.MalformedJwtException: JWT strings must contain exactly 2 period characters. Found: 0
org.springframework.web.server.ResponseStatusException: 401 UNAUTHORIZED "token missing"
org.hibernate.PropertyValueException: not-null property references a null or transient value : com.acme.User.password
org.apache.http.auth.MalformedChallengeException: Invalid auth challenge: Bearer
com.mongodb.MongoCommandException: Command failed with error 13 (Unauthorized)
com.fasterxml.jackson.core.JsonParseException: Unrecognized token 'undefined': was expecting (JSON String, Number, Array, Object or token 'null')
net.schmizz.sshj.userauth.UserAuthException: Exhausted available authentication methods
Caused by: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target
	at com.acme.vault.SecretLoader.lambda$load$0(SecretLoader.java:‹n›) ~[classes!/:na]
	at app//com.acme.Token$Builder.build(Token.java:77)
[main] INFO  c.a.KeyRotationJob - rotated 3 keys in 41 ms
2026-11-03 10:11:12.123  INFO 1 --- [main] o.s.s.web.DefaultSecurityFilterChain : Will secure any request
Using generated security password: (suppressed)
@ConfigurationProperties("acme.api") record ApiProperties(URI url, String key) {}
if (StringUtils.isBlank(password)) { throw new IllegalArgumentException("password"); }
SecretKey key = keyGenerator.generateKey();
Optional<Token> findByUserId(long userId);
Mac mac = Mac.getInstance("HmacSHA256");
MessageDigest.isEqual(expected, actual)
@Schema(accessMode = WRITE_ONLY) String password
Assertions.assertThrows(TokenExpiredException.class, () -> service.verify(token));
for (String key : map.keySet()) { System.out.println(key); }
int tokenCount = tokenizer.countTokens();
new JPasswordField(20)
var secret = System.getenv("WEBHOOK_SECRET");
server.ssl.key-store-password=${KEYSTORE_PASSWORD:}
spring.config.import=vault://secret/shop
<property name="hibernate.connection.password">${db.password}</property>
<distributionManagement><repository><id>corp</id><url>https://mvn.example.test/releases</url></repository></distributionManagement>
[WARNING] /src/Token.java: uses unchecked or unsafe operations.
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-gpg-plugin:3.1.0:sign: no default secret key
gradle-wrapper.jar SHA-256 ‹hex64›
verification-metadata.xml: <pgp value="‹HEX40›"/>
.gradle/caches/modules-2/files-2.1/com.acme/lib/1.0/‹hex40›/lib-1.0.jar
Execution failed for task ':app:packageRelease'.⏎> SigningConfig "release" is missing required property "storePassword".
org.gradle.internal.hash: build cache key is ‹hex32›
Signature Algorithm: SHA256withRSA⏎Serial number: ‹hex16›⏎Valid from: Tue Nov 03 10:11:12 UTC 2026
APK signature scheme v2: Signer #1 certificate SHA-256 digest: ‹hex64›
E/AndroidRuntime: java.lang.RuntimeException: Unable to start activity ComponentInfo{com.acme.app/.TokenActivity}
adb: device ‹up10› unauthorized
Lint: HardcodedText: Hardcoded string "Password", should use @string resource
kotlinc: warning: variable 'password' is never used
java.lang.IllegalArgumentException: JAAS config entry not terminated by semi-colon
suspend fun refresh(token: RefreshToken): Tokens = withContext(IO) {
private val apiKey by lazy { BuildConfig.API_KEY }
case class ApiKey(id: UUID, hash: String)
val password = StdIn.readLine("Password: ")
sbt: [error] (auth / Test / test) sbt.TestsFailedException: Tests unsuccessful
groovy.lang.MissingPropertyException: No such property: token for class: Script1
clojure.lang.ExceptionInfo: Invalid token: : {:type :reader-exception}
(s/def ::password (s/and string? #(<= 12 (count %))))
internal/auth/token.go:41:9: cannot use nil as Token value in return statement
internal/keys/keys.go:8:2: package crypto/ecdh is not in std
vet: ./auth.go:31:2: fmt.Printf format %s has arg token of wrong type *Token
panic: token: nil key [recovered]⏎⇥panic: token: nil key
fatal error: all goroutines are asleep - deadlock!⏎⏎goroutine 1 [chan receive]:⏎main.waitForToken(...)
	/go/pkg/mod/github.com/acme/auth@v1.2.3/token.go:‹n› +0x‹hex3›
created by net/http.(*Server).Serve in goroutine 1⏎⇥/usr/local/go/src/net/http/server.go:3086 +0x‹hex3›
github.com/acme/kit v1.4.0/go.mod h1:‹b64_44›
go: downloading github.com/acme/secrets v0.0.0-20261103101112-‹hex12›
path/to/main⏎⇥mod⇥github.com/acme/shop⇥(devel)⏎⇥build⇥vcs.revision=‹hex40›
=== RUN   TestPasswordHash⏎--- PASS: TestPasswordHash (0.21s)
token_test.go:18: Token() mismatch (-want +got):⏎  Kind: "access"
type Config struct {⏎⇥APIKey string `env:"API_KEY,required"`⏎}
func NewClient(apiKey string, opts ...Option) *Client {
if subtle.ConstantTimeCompare(a, b) != 1 { return ErrBadToken }
token, err := jwt.ParseWithClaims(raw, &Claims{}, keyFunc)
defer func() { clear(password) }()
pw, err := term.ReadPassword(int(os.Stdin.Fd()))
http.Error(w, "missing token", http.StatusUnauthorized)
r.Handle("/tokens/{id}", requireAuth(deleteToken)).Methods("DELETE")
errors.Is(err, keyring.ErrNotFound)
var tokenPool = sync.Pool{New: func() any { return new(token) }}
for key, value := range m { fmt.Println(key, value) }
buf: proto/auth/v1/auth.proto:14:3:Field "password" on message "LoginRequest" deleted
NameError: uninitialized constant TokensController
ActionView::Template::Error (undefined local variable or method `token' for #<ActionView::Base:0x0000‹hex12›>)
ActiveRecord::RecordInvalid: Validation failed: Password is too short (minimum is 12 characters)
ActiveRecord::NotNullViolation: PG::NotNullViolation: ERROR: null value in column "token"
ActiveSupport::EncryptedFile::MissingKeyError: Missing encryption key to decrypt file with.
Net::SSH::AuthenticationFailed: Authentication failed for user deploy@10.1.2.7
JWT::ExpiredSignature: Signature has expired
OmniAuth::Strategies::OAuth2::CallbackError, csrf_detected | CSRF detected
Bundler::HTTPError Could not fetch specs from https://gems.example.test/ due to underlying error <bad response Unauthorized 401>
Your bundle is locked to bcrypt (3.1.18)
Redirected to http://localhost:3000/login⏎Filter chain halted as :require_token rendered or redirected
[‹uuid›] Completed 422 Unprocessable Entity in 31ms
TokenMailer#reset: processed outbound mail in 12.1ms
1) SessionsController rejects a wrong password⏎   Failure/Error: expect(response).to have_http_status(:unauthorized)
encrypts :api_key, deterministic: true
config.filter_parameters += [:password, :token, :secret]
generates_token_for :password_reset, expires_in: 15.minutes
password_digest:string added to users
form.password_field :password, autocomplete: "new-password"
authenticate_or_request_with_http_token { |token, _| Token.active?(token) }
Digest::SHA256.hexdigest(token)
SecureRandom.hex(32)
/var/lib/gems/3.2.0/gems/jwt-2.8.1/lib/jwt/decode.rb:‹n›:in `verify_signature'
PHP Deprecated:  Creation of dynamic property User::$token is deprecated
PHP Notice:  Undefined index: api_key in /app/config.php on line 3
Fatal error: Uncaught Error: Class "Firebase\JWT\Key" not found
Symfony\Component\Security\Core\Exception\InvalidCsrfTokenException: Invalid CSRF token.
Doctrine\DBAL\Exception\ConnectionException: An exception occurred in the driver: SQLSTATE[08006] [7] fe_sendauth: no password supplied
SodiumException: Argument 2 must be SODIUM_CRYPTO_SECRETBOX_KEYBYTES long
Illuminate\Contracts\Encryption\DecryptException: The MAC is invalid.
TokenMismatchException in VerifyCsrfToken.php line 68
"dist": {"type": "zip", "reference": "‹hex40›", "shasum": ""}
phpunit: Failed asserting that 'invalid token' contains "expired".
$token = bin2hex(random_bytes(32));
public function rules(): array { return ['password' => ['required', Password::min(12)]]; }
$apiKey = config('services.weather.key');
unset($_SESSION['token']);
echo password_needs_rehash($hash, PASSWORD_ARGON2ID) ? 'yes' : 'no';
#[ORM\Column(length: 255)] private ?string $password = null;
WordPress: Error: Incorrect password. Lost your password?
artisan: key:generate is missing APP_KEY in .env
drupal: The key database_password could not be found
Unhandled exception. System.Text.Json.JsonException: 'p' is an invalid start of a value. Path: $.token
System.UnauthorizedAccessException: Access to the path '/run/secrets' is denied.
System.Security.Authentication.InvalidCredentialException: The server has rejected the client credentials.
Microsoft.IdentityModel.Tokens.SecurityTokenSignatureKeyNotFoundException: IDX10503: Signature validation failed. Token does not have a kid.
Azure.Identity.CredentialUnavailableException: EnvironmentCredential authentication unavailable. Environment variables are not fully configured.
   at Acme.Tokens.TokenStore.GetAsync(Guid id) in /src/Tokens/TokenStore.cs:line ‹n›
CS1061: 'User' does not contain a definition for 'PasswordHash'
error NU1101: Unable to find package Acme.Secrets. No packages exist with this id in source(s): corp
error NETSDK1045: The current .NET SDK does not support targeting .NET 9.0
/_framework/dotnet.runtime.‹low10›.js
"resolved": "8.0.0",⏎"contentHash": "‹b64_88›"
InternalsVisibleTo("Acme.Tests, PublicKey=‹hex320›")
ModuleVersionId {‹uuid›}
<add key="ApiKey" value="" />
"ApiKey": "#{ApiKey}#",
record struct Token(Guid Id, DateTimeOffset Expires);
public async Task<IActionResult> ChangePassword(ChangePasswordRequest request, CancellationToken ct)
ArgumentException.ThrowIfNullOrEmpty(apiKey);
var token = tokenHandler.CreateToken(descriptor);
RandomNumberGenerator.GetBytes(32)
PasswordHasher<User>.VerifyHashedPassword returned Failed
let apiKey = config.["ApiKey"]
Set-Secret : Vault 'SecretStore' requires a password.
New-PSSession : [10.1.2.7] Access is denied.
$cred = Get-Credential -Message 'Password for deploy'
ConvertFrom-SecureString: The input object cannot be bound
EventID 4625: An account failed to log on. Failure Reason: Unknown user name or bad password. Logon ID: 0x3E7
{‹HEX8›-‹HEX4›-‹HEX4›-‹HEX4›-‹HEX12›} DCOM error 10016
S-1-5-21-‹digits10›-‹digits10›-‹digits9›-1104
schannel: next InitializeSecurityContext failed: SEC_E_UNTRUSTED_ROOT
/usr/bin/ld: auth.o: undefined reference to symbol 'EVP_PKEY_keygen@@OPENSSL_3.0.0'
auth.cpp:31:14: error: no member named 'token' in namespace 'acme'
auth.c:88:5: warning: 'strncpy' output may be truncated copying 63 bytes from a string (password)
collect2: error: ld returned 1 exit status (libkeyutils)
==‹n›== Invalid read of size 8⏎==‹n›==    at 0x‹hex6›: token_free (token.c:41)
Thread 1 "keyd" received signal SIGSEGV, Segmentation fault.⏎0x0000‹hex12› in parse_token ()
#4  0x0000‹hex12› in g_main_context_dispatch () at /lib/x86_64-linux-gnu/libglib-2.0.so.0
core: /var/lib/systemd/coredump/core.keyd.0.‹hex32›.‹n›.17‹digits14›.zst
typedef struct { char *password; size_t len; } creds_t;
static int cmp_token(const void *a, const void *b);
#ifdef USE_LIBSECRET
OPENSSL_cleanse(key, sizeof(key));
if (getrandom(key, 32, 0) != 32) abort();
std::string_view next_token() noexcept;
explicit_bzero(pass, strlen(pass));
case TOKEN_STRING: return "string";
nm: 0000000000‹hex6› T secret_password_lookup_sync
strings: /lib64/ld-linux-x86-64.so.2⏎getpass⏎crypt
objdump:   ‹hex6›:⇥e8 ‹hex2› ‹hex2› ff ff⇥call   ‹hex6› <check_key>
0x0040: ‹hex4› ‹hex4› ‹hex4› ‹hex4› ‹hex4› ‹hex4›  ................
conanfile: revision ‹hex32› of openssl/3.2.1
vcpkg_from_github(REPO acme/kit REF v1.0 SHA512 ‹hex128›)
find_package(Libsecret REQUIRED)
swift: error: value of optional type 'Token?' must be unwrapped to a value of type 'Token'
Thread 1: Fatal error: API key missing from Info.plist: file App/Config.swift, line 12
"revision" : "‹hex40›", "branch" : "main"
binaryTarget(name: "Kit", url: "https://dl.example.org/Kit.zip", checksum: "‹hex64›")
SPEC CHECKSUMS:⏎  Alamofire: ‹hex40›
CodeDirectory hash=‹hex40› flags=0x10000(runtime)
Image UUID <‹HEX32›> /System/Library/Frameworks/Security.framework
errSecDuplicateItem: token already in keychain
kSecAttrAccount as String: account, kSecClass as String: kSecClassGenericPassword
try keychain.remove("accessToken")
struct Token: Codable { let value: String; let expires: Date }
@SecureStorage(key: "password") var password: String?
pod lib lint: - WARN  | [iOS] Kit: `token` shadows declaration
** (DBConnection.ConnectionError) tcp connect (localhost:5432): connection refused, no password tried
** (FunctionClauseError) no function clause matching in Acme.Token.verify/2
** (Mix) Could not start application acme: API_KEY is missing
warning: variable "password" is unused (if the variable is not meant to be used, prefix it with an underscore)
"phoenix": {:hex, :phoenix, "1.7.11", "‹hex64›", [:mix], [], "corp", "‹hex64›"}
[info] POST /api/tokens⏎[info] Sent 401 in 3ms⏎request_id=F‹mixed19›
field :password, :string, virtual: true, redact: true
Bcrypt.verify_pass(password, user.hashed_password)
config :acme, token_ttl: 900
handle_call({get_token, Id}, _From, State) ->
=ERROR REPORT==== 3-Nov-2026::10:11:12.345678 ===⏎** Generic server token_server terminating
Auth.hs:14:9: error: Variable not in scope: password :: Text
newtype Token = Token { unToken :: Text } deriving newtype (Eq)
cabal.project.freeze: any.cryptonite ==0.30
File "auth.ml", line 4, characters 8-16:⏎Error: This expression has type string but an expression was expected of type token
Error in httr::content(resp) : unauthorized (HTTP 401), check your token
Error: object 'api_key' not found
keyring::key_get("db") : The specified item could not be found
"RemoteSha": "‹hex40›",⏎"Hash": "‹hex32›"
julia> ERROR: KeyError: key "TOKEN" not found
[[deps.OpenSSL_jll]]⏎git-tree-sha1 = "‹hex40›"⏎uuid = "‹uuid›"
lua: auth.lua:9: attempt to index a nil value (local 'token')
attempt to compare nil with number (field 'token_ttl')
perl: Global symbol "$password" requires explicit package name at login.pl line 3.
tclsh: can't read "token": no such variable
vim: E121: Undefined variable: g:api_token
emacs: Symbol's value as variable is void: auth-source-token
bash: TOKEN: unbound variable
zsh: command not found: keyring
fish: set: Tried to change the read-only variable 'token'
nu: Error: nu::shell::column_not_found: cannot find column 'token'
awk: line 1: syntax error at or near token
make: *** [Makefile:8: keys/server.pem] Error 1
dart: Unhandled exception: FormatException: Unexpected character (at token)
flutter: PlatformException(keychain_error, item not found, null, null)
description: { name: kit, sha256: "‹hex64›", url: "https://pub.example.test" }
Unity: NullReferenceException at TokenManager.Awake () [0x00000] in <‹hex32›>:0
guid: ‹hex32›⏎fileFormatVersion: 2
godot: ERROR: Condition "key.is_empty()" is true.
solidity: ParserError: Expected ';' but got identifier (token.sol:14)
contract Token is ERC20 { constructor() ERC20("Acme", "ACM") {} }
forge test: [FAIL. Reason: ERC20: insufficient allowance] testTransferToken()
verilog: error: port 'key_in' is not a port of u_aes
ERROR:  new row for relation "users" violates check constraint "password_hash_length"
ERROR:  column reference "token" is ambiguous at character 8
ERROR:  could not decrypt: wrong key or corrupt data
DETAIL:  Role "app" has no password assigned.
FATAL:  no pg_hba.conf entry for host "10.1.2.7", user "app", database "shop", no encryption
LOG:  connection authenticated: identity="app" method=scram-sha-256
STATEMENT:  SELECT id FROM tokens WHERE digest = $1 AND revoked_at IS NULL
psql: error: connection to server at "10.1.2.7", port 5432 failed: timeout expired (no password needed)
pg_dump: detail: table "api_keys" skipped
CREATE POLICY own_tokens ON tokens USING (user_id = current_setting('app.user')::bigint);
CREATE INDEX CONCURRENTLY tokens_digest_idx ON tokens (digest);
ALTER ROLE app PASSWORD NULL;
ALTER TABLE users RENAME COLUMN pass TO password_hash;
COMMENT ON COLUMN users.password_hash IS 'argon2id';
INSERT INTO settings (key, value) VALUES ('theme', 'dark');
SELECT gen_random_uuid();⏎ ‹uuid›
EXPLAIN: Index Scan using tokens_pkey on tokens (cost=0.42..8.44 rows=1 width=72)
mysql: [Warning] World-writable config file '/etc/my.cnf' is ignored.⏎Enter password:
ERROR 1396 (HY000): Operation ALTER USER failed for 'app'@'localhost'
ERROR 1062 (23000): Duplicate entry '‹hex24›' for key 'sessions.PRIMARY'
Table 'shop.tokens' doesn't exist
caching_sha2_password requires a secure connection
binlog.000042 end_log_pos ‹n› CRC32 0x‹hex8›
ORA-01005: null password given; logon denied
ORA-28000: The account is locked.
SP2-0306: Invalid option. Usage: CONN[ECT] [{logon|/|proxy}]
DB2: SQL30082N  Security processing failed with reason "24" ("USERNAME AND/OR PASSWORD INVALID").
Login failed for user 'NT AUTHORITY\ANONYMOUS LOGON'.
sqlite> .schema tokens⏎CREATE TABLE tokens(id TEXT PRIMARY KEY, digest BLOB);
MongoNetworkError: connection 4 to 10.1.2.7:27017 timed out during SASL
{ ok: 0, errmsg: 'not authorized on shop to execute command { find: "tokens" }', code: 13 }
"electionId" : ObjectId("7fffffff‹hex16›")
db.getUser("app")⏎{ "_id" : "shop.app", "userId" : UUID("‹uuid›"), "mechanisms" : [ "SCRAM-SHA-256" ] }
redis: -ERR AUTH <password> called without any password configured for the default user.
127.0.0.1:6379> TTL session:count⏎(integer) -2
cluster nodes: ‹hex40› 10.1.2.7:6379@16379 master - 0 17‹digits11› 3 connected 0-5460
cqlsh: AuthenticationFailed('Failed to authenticate: Error from server: code=0100 [Bad credentials]')
token ring: -‹digits19› owned by 10.1.2.7
elastic: {"type":"security_exception","reason":"unable to authenticate with provided credentials and anonymous access is not allowed"}
index uuid [‹url22›] shard 0 unassigned
kibana: Unable to authenticate user, realm native
clickhouse: Code: 516. DB::Exception: app: Authentication failed: password is incorrect, or there is no user with such name.
query_id: ‹uuid›, rows read ‹digits6›
snowflake: 390100 (08004): Incorrect username or password was specified.
influx: unauthorized access (bucket id ‹hex16›)
dynamo: ProvisionedThroughputExceededException RequestID: ‹up52›
cosmos: ActivityId: ‹uuid›, RequestCharge 2.83 (token continuation is null)
neo4j> :server change-password
couchbase: LCB_ERR_AUTHENTICATION_FAILURE (206)
etcd: member ‹hex16› has no leader, cluster ‹hex16›
zk: zxid 0x‹hex10› sessionid 0x‹hex16›
kafka: Cluster ID ‹url22› node 1
kafka: topic id ‹url22› unknown
consumer group web-‹uuid› rebalancing
rabbitmq: ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.
erlang cookie must be accessible by owner only
nats: error: nats: Authorization Violation
mosquitto: Client probe-‹hex8› disconnected, not authorised.
sqs: ReceiptHandleIsInvalid; MessageId ‹uuid› MD5OfBody ‹hex32›
DB_URL=postgres://db.example.org/shop
DATABASE_URL=sqlite:///data/shop.db
SQLALCHEMY_DATABASE_URI = os.environ["DATABASE_URL"]
spring.datasource.url=jdbc:h2:mem:test;DB_CLOSE_DELAY=-1
mysql://{{ user }}:{{ password }}@{{ host }}/{{ db }}
amqp://${MQ_USER}:${MQ_PASS}@mq.example.org:5672
redis://:<password>@localhost:6379
https://username:password@example.org/path (RFC 3986 form)
postgres://app:***@db.example.org:5432/shop
https://x-access-token:***@git.example.org/acme/core.git
ldap://ldap.example.org/dc=example,dc=org?uid?sub
DSN=Warehouse;Trusted_Connection=yes
Server=db.example.org;Database=shop;Integrated Security=SSPI
ACCESS_TOKEN=<paste token here>
export GITHUB_TOKEN=<your token>
set GITHUB_TOKEN=%GH_TOKEN%
$env:API_KEY = $secrets.ApiKey
API_SECRET=xxxxxxxxxxxxxxxx
JWT_SECRET=<generate with openssl rand -hex 32>
STRIPE_KEY=sk_live_...
SLACK_TOKEN=xoxb-your-token
OPENAI_API_KEY=sk-...
AWS_ACCESS_KEY_ID=<ACCESS_KEY_ID>⏎AWS_SECRET_ACCESS_KEY=<SECRET_ACCESS_KEY>
AWS_PROFILE=prod
GITLAB_TOKEN: $GITLAB_TOKEN
token = "todo"
password = "password"  # documentation example, not used
passwd: x
api_key: !secret weather_api_key
password: !vault_lookup db
secret: { env: JWT_SECRET }
key: ${{ runner.os }}-cargo-${{ hashFiles('**/Cargo.lock') }}
token: ${{ github.token }}
password = file("${path.module}/password.txt")
client_secret = azuread_application_password.ci.value
secrets = ["db_password", "api_key"]
sensitive_fields: [password, token, ssn, card_number]
secretName: shop-tls
tokenReviewerJwtPath: /var/run/secrets/token
auth: { method: approle, mount: auth/approle }
session_cookie_name: sid
token_cache: memory
private_key_file = /etc/ssh/ssh_host_ed25519_key
jwt_header: authorization
enable_password_login: false
access_token_ttl: 15m
key_rotation_period: 90d
password_attempts: 3
api_key_header: X-Api-Key
tls: { cert: /tls/tls.crt, key: /tls/tls.key }
vault: { path: secret/data/shop, field: password }
no_log: true
rotation: { secret: prod/db, lambda: rotate-db }
kubectl get secrets⏎NAME   TYPE     DATA   AGE⏎db     Opaque   2      41d
kubectl get sa default -o yaml⏎secrets:⏎- name: default-token-‹low5›
secret "db-credentials" deleted
Error: secrets "sh.helm.release.v1.web.v3" already exists
Warning: Secret "web-tls" annotated checksum ‹hex64›
MountVolume.SetUp failed for volume "config" : configmap "web-env" not found
Error: couldn't find key api-token in Secret shop/web
error: error validating "secret.yaml": unknown field "stringdata"
Unable to attach or mount volumes: unmounted volumes=[token-vol]
serviceaccounts "ci" is forbidden: cannot create resource "serviceaccounts/token"
x509: certificate has expired or is not yet valid: current time 2026-11-03T10:11:12Z is after 2026-11-01T00:00:00Z
web-‹hex9›-‹low5›   0/1   ImagePullBackOff   0   3m
replicaset.apps/web-‹hex10›   1   1   0
nodeName: gke-prod-pool-1-‹hex8›-‹low4›
uid: "‹uuid›", generation: 4
leader election lost: web_‹uuid›
etcd: snapshot hash ‹hex8› revision ‹n›
ImageInspectError: Failed to inspect image "sha256:‹hex64›"
Readiness probe failed: HTTP probe failed with statuscode: 401
cert-manager: Certificate request has failed: order shop-‹hex10›-‹digits10› is invalid
external-secrets: could not get secret data from provider: Secret does not exist
sealed-secrets: no key could decrypt secret (password)
vault-agent-init: error authenticating: permission denied
kustomize: secretGenerator literals: [] in overlays/dev
helm diff: - checksum/secret: ‹hex64›⏎+ checksum/secret: ‹hex64›
{{- with .Values.existingSecret }}⏎secretName: {{ . }}⏎{{- end }}
{{ .Values.password | default (randAlphaNum 24) | b64enc }}
argocd app get: Sync Status: OutOfSync from main (‹hex7›)
flux: HelmRelease/web: values sha256:‹hex64› changed
istio: SPIFFE id spiffe://cluster.local/ns/shop/sa/web, serial ‹digits38›
opa: deny: container web mounts secret "root-token"
kube-bench: [FAIL] 5.4.1 Prefer using secrets as files over secrets as environment variables
crictl: pod sandbox ‹hex13› not ready
podman: Error: no secret with name or id "db": no such secret
docker compose: secret "db_password" file ./db_password.txt does not exist
ERROR: failed to solve: process "/bin/sh -c test -n \"$TOKEN\"" did not complete successfully
#12 [build 4/7] RUN --mount=type=secret,id=token ./build.sh⏎#12 CACHED
#5 resolve registry.example.test/rust:1@sha256:‹hex64› done
exporting manifest sha256:‹hex64› 0.0s done
latest: digest: sha256:‹hex64› size: 1573
Untagged: web@sha256:‹hex64›⏎Deleted: sha256:‹hex64›
image id ‹hex12› is being used by running container ‹hex12›
"Id": "sha256:‹hex64›",⏎"Parent": ""
"MacAddress": "02:42:‹colonhex4›", "EndpointID": "‹hex64›"
"layers": [{"digest": "sha256:‹hex64›", "size": ‹digits7›}]
unauthorized: authentication required (registry.example.test/web)
swarm: Error response from daemon: rpc error: code = NotFound desc = secret db not found
docker scout: pkg:npm/jsonwebtoken@8.5.1 CVE-2022-23529
dive: layer ‹hex12› wasted 14 MB
syft: sha256:‹hex64› catalogued
sigstore: tlog entry verified, uuid ‹hex80›
notation: signature digest sha256:‹hex64›
COPY --from=build /out/keygen /usr/bin/
ENV PASSWORD_FILE=/run/secrets/pw
HEALTHCHECK CMD wget -qO- http://localhost:8080/token-service/health
Error: Missing required argument⏎⏎The argument "admin_password" is required, but was not set.
Error: Unsupported attribute: This object does not have an attribute named "secret_string".
Error: error reading Secrets Manager Secret: ResourceNotFoundException
Error: Invalid for_each argument (sensitive value var.tokens)
  # random_password.db will be created⏎  + result = (sensitive value)
module.db.random_id.suffix: Refreshing state... [id=‹url6›]
aws_iam_role.ci: Creation complete [id=ci] unique_id AROA‹up17›
terraform.lock.hcl⏎  hashes = [⏎    "h1:‹b64_44›",⏎    "zh:‹hex64›",⏎  ]
sensitive = true # never print the token
ignore_changes = [password]
data "aws_ssm_parameter" "token" { name = "/shop/token" }
locals { token = one(data.vault_generic_secret.t[*].data["token"]) }
tfsec: Result #1 HIGH Variable 'db_password' has a default (none set)
infracost: project id ‹uuid›
pulumi: +  random:index:RandomPassword  pw  create (‹n›ms)
cdk: SecretValue.secretsManager('db').unsafeUnwrap() is discouraged
sam: Error: PythonPipBuilder:ResolveDependencies - {secretstorage==3.3.3}
TASK [Read the token] *** fatal: [web1]: FAILED! => {"msg": "The field 'password' has an invalid value, undefined variable"}
[WARNING]: The value of password is not set, skipping
- name: Set password⏎  user: name=app password={{ pw | password_hash('sha512') }}
lookup('env', 'API_TOKEN')
ansible-playbook site.yml --ask-vault-pass
Vault password:
molecule: ERROR: vault password prompt in CI
puppet: Error: Evaluation Error: Unknown function: 'sensitive_password'
chef: ERROR: No such encrypted data bag item: secrets/db
knife: WARNING: could not find secret file /etc/chef/encrypted_data_bag_secret
salt: Minion did not return. [The master key has changed], fingerprint ‹colonhex32›
nix: error: attribute 'passwordFile' missing
users.users.app.hashedPasswordFile = config.age.secrets.app.path;
age.secrets.db.file = ./secrets/db.age;
sops.secrets."db/password" = { };
error: undefined variable 'token' at /etc/nixos/auth.nix:12:5
/nix/store/‹low32›-source/modules/secrets.nix
fetchFromGitHub { owner = "acme"; repo = "kit"; rev = "‹hex40›"; hash = "sha256-‹b64_44›"; }
cargoHash = lib.fakeHash;
guix: sha256 hash mismatch: expected ‹low52›, actual ‹low52›
arn:aws:sts::‹digits12›:assumed-role/deploy/session
arn:aws:iam::‹digits12›:oidc-provider/token.actions.example.test
arn:aws:lambda:eu-west-1:‹digits12›:function:rotate-secret:42
arn:aws:states:eu-west-1:‹digits12›:execution:rotate:‹uuid›
An error occurred (InvalidSignatureException) when calling the GetSecretValue operation: Signature expired: 20261103T101112Z
An error occurred (UnrecognizedClientException): The security token included in the request is invalid.
An error occurred (ResourceExistsException) when calling the CreateSecret operation
fatal error: Unable to locate credentials (aws s3 cp)
"AccessKeyMetadata": [],⏎"IsTruncated": false
"SecretList": [{"ARN": "arn:aws:secretsmanager:eu-west-1:‹digits12›:secret:db-‹mixed6›", "Name": "db"}]
"UserId": "AIDA‹up17›"
"GroupId": "sg-‹hex17›", "VpcId": "vpc-‹hex17›"
"ImageId": "ami-‹hex17›", "ReservationId": "r-‹hex17›"
"CodeSha256": "‹b64_44›", "RevisionId": "‹uuid›"
"Etag": "‹hex32›-8", "ChecksumCRC32": "‹b64n6›=="
X-Amz-Cf-Pop: OSL50-C1⏎X-Amz-Cf-Id: ‹url54›==
x-amz-version-id: ‹mixed32›
X-Amzn-ErrorType: AccessDeniedException⏎x-amzn-RequestId: ‹uuid›
REPORT RequestId: ‹uuid›⇥Duration: 3.02 ms⇥XRAY TraceId: 1-‹hex8›-‹hex24›
eks: token is not yet valid, clock skew 312 s
cognito: NotAuthorizedException: Incorrect username or password. pool eu-west-1_‹mixed9›
apigateway: rest api ‹low10› stage prod deployment ‹low6›
route53: hosted zone Z‹up20› change C‹up20›
ssm: parameter /shop/db/password not found
kms: alias/shop does not exist, key id ‹uuid› is pending deletion
gcloud: PERMISSION_DENIED: Permission 'secretmanager.versions.access' denied for resource 'projects/acme/secrets/db/versions/latest'
projects/‹digits12›/secrets/db/versions/3
"unique_id": "‹digits21›"
cloud run: revision web-00042-‹abc3› failed
gke: cluster UUID ‹hex64›
"insertId": "‹low15›", "logName": "projects/acme/logs/auth"
gcs: generation 17‹digits14› metageneration 1
x-goog-generation: 17‹digits14›⏎x-guploader-uploadid: ‹url120›
x-goog-stored-content-length: ‹n›
firebase: app id 1:‹digits12›:web:‹hex22›
ERROR: (gcloud.container.clusters.get-credentials) ResponseError: code=404
az: ERROR: Please run 'az login' to setup account.
AADSTS65001: The user or administrator has not consented to use the application with ID '‹uuid›'
ForbiddenByRbac: Caller is not authorized to perform action on secret db, appid=‹uuid›;oid=‹uuid›
"keyVaultUri": "https://kv.example.test/secrets/db"
"clientId": "‹uuid›", "subscriptionId": "‹uuid›"
x-ms-client-request-id: ‹uuid›
x-ms-routing-request-id: NORWAYEAST:20261103T101112Z:‹uuid›
"etag": "W/\"datetime'2026-11-03T10%3A11%3A12.‹digits7›Z'\""
ocid1.tenancy.oc1..‹low60›
doctl: droplet ‹digits9› not found
hcloud server ‹digits8› created, fingerprint ‹colonhex16›
linode: instance ‹digits8› powered off
cloudflare: account id ‹hex32›, zone id ‹hex32›
"ray_id": "‹hex16›"
wrangler deploy: Current Version ID: ‹uuid›
vercel: dpl_‹mixed28› ready
netlify: deploy ‹hex24› is live, build ‹hex24›
heroku: slug ‹uuid› released v42
fly: machine ‹hex14› stopped, instance 01‹up24›
render: dep-‹low20› failed
Run docker/login-action@‹hex40›⏎  with:⏎    registry: registry.example.test⏎    password: ***
Error: Username and password required
Error: The `token` input is empty; set secrets.DEPLOY_TOKEN
Warning: Unable to process file command 'env' successfully. Invalid format 'TOKEN'
if: ${{ secrets.DEPLOY_KEY != '' }}
with:⏎  ssh-key: ${{ secrets.DEPLOY_KEY }}
Cache not found for input keys: cargo-‹hex64›
artifact sha256 digest ‹hex64›, id ‹digits10›
runner version 2.321.0, job ‹uuid›
Getting source from Git repository⏎Checking out ‹hex8› as detached HEAD (ref is main)...
ERROR: Job failed: prepare environment: secret CI_DEPLOY_PASSWORD is not defined
variables:⏎  DOCKER_AUTH_CONFIG: $CI_DOCKER_AUTH
$ glab auth login --stdin < token.txt
WARNING: The variable DEPLOY_TOKEN is protected and not available here
hudson.remoting.ProxyException: groovy.lang.MissingPropertyException: No such property: API_TOKEN
credentials('sonar-token') not found
Masking supported pattern matches of $DOCKER_PASSWORD
[Pipeline] withCredentials⏎Masking supported pattern matches of $TOKEN
commit: ‹hex40› pipeline: ‹digits8›
bamboo.buildKey=CORE-PLAN-JOB1-‹n›
teamcity: %env.API_TOKEN% is not resolved
azure-pipelines: ##[warning]Can't find secret variable 'apiKey'
sonarqube: "S6437: Credentials should not be hard-coded" raised 0 times
gitleaks: no leaks found⏎scanned 418 commits
detect-secrets: "hashed_secret": "‹hex40›",
semgrep: rule generic.secrets.security.detected-api-key: 0 findings
codecov: Commit ‹hex40› uploaded, report id ‹uuid›
renovate: PR "Update dependency jsonwebtoken to v9.0.2" (branch renovate/jsonwebtoken-9.x, ‹hex7›)
OpenTelemetry: trace ‹hex32› span ‹hex16› name="POST /token"
{"traceId":"‹hex32›","spanId":"‹hex16›","msg":"password reset mail sent"}
{"dd.trace_id":"‹digits19›","dd.span_id":"‹digits18›","message":"401"}
x-datadog-trace-id: ‹digits19›⏎x-datadog-parent-id: ‹digits18›
x-honeycomb-trace: 1;trace_id=‹uuid›,parent_id=‹uuid›
newrelic.traceId=‹hex32› newrelic.spanId=‹hex16›
baggage: sentry-trace_id=‹hex32›,sentry-release=‹hex40›
grpc-trace-bin: ‹b64n39›=
elastic-apm-traceparent: 00-‹hex32›-‹hex16›-00
rum session ‹uuid› view ‹uuid›
honeybadger fault ‹digits8› (id ‹uuid›)
X-Served-By: cache-osl‹n›-OSL⏎X-Timer: S17‹digits8›.‹digits6›,VS0
Server-Timing: auth;dur=12.4
Age: ‹n›⏎Vary: Authorization
Alt-Svc: h3=":443"; ma=86400
Want-Digest: SHA-256;q=1
Link: </assets/app-‹hex20›.css>; rel=preload; as=style
NEL: {"report_to":"cf-nel","success_fraction":0}
Report-To: {"endpoints":[{"url":"https://report.example.test/v4?s=x"}]}
HTTP/1.1 401 Unauthorized⏎WWW-Authenticate: Bearer⏎Content-Length: 0
HTTP/1.1 407 Proxy Authentication Required
HTTP/2 429⏎retry-after: 30⏎x-ratelimit-limit: 5000
Authorization: <missing>
Authorization: Bearer ${API_TOKEN}
Authorization: Basic {{ (user ~ ':' ~ password) | b64encode }}
x-api-key: {{apiKey}}
Cookie: <redacted>
curl --header "PRIVATE-TOKEN: <your_access_token>" "https://git.example.test/api/v4/projects"
curl -u user:$(cat pw.txt) https://example.org/
curl -sS -H @headers.txt https://example.org/api
http --session=dev GET https://example.org/api/tokens
wget: Username/Password Authentication Failed.
{"error":"unauthorized_client","error_uri":"https://docs.example.org/oauth#errors"}
{"error":{"code":16,"message":"Request is missing required authentication credential."}}
{"title":"Forbidden","detail":"token lacks scope repo:write","status":403}
{"errors":[{"code":"PASSWORD_TOO_WEAK","field":"password"}]}
{"success":false,"reason":"api key quota exceeded"}
{"active":false}
{"alg":"RS256","typ":"JWT","kid":"‹url27›"}
{"sub":"42","iss":"https://sso.example.org","aud":"web","exp":17‹digits8›}
"x5t#S256": "‹url43›", "kid": "sig-2026"
"jwks_uri": "https://sso.example.org/.well-known/jwks.json"
{"kty":"RSA","e":"AQAB","n":"‹url342›"}
{"kty":"EC","crv":"P-384","x":"‹url64›","y":"‹url64›"}
<KeyDescriptor use="signing"><X509Certificate>MIIC‹b64n200›</X509Certificate></KeyDescriptor>
<saml:Issuer>https://sso.example.org</saml:Issuer> InResponseTo="_‹hex32›"
<wsse:Password Type="#PasswordText">?</wsse:Password>
code_challenge: ‹url43› (S256)
GET /authorize?response_type=code&client_id=‹uuid›&scope=openid 302
POST /oauth/token 400 invalid_grant 12ms
10.1.2.7 - - [03/Nov/2026:10:11:12 +0000] "GET /static/js/runtime.‹hex8›.js HTTP/2.0" 200 1412
paths:⏎  /token:⏎    post:⏎      summary: Issue a token
securitySchemes:⏎  bearer: { type: http, scheme: bearer, bearerFormat: JWT }
message Token { string id = 1; google.protobuf.Timestamp expires = 2; }
mutation RevokeToken($id: ID!) { revokeToken(id: $id) { ok } }
extend type User { apiKeys: [ApiKey!]! }
avro: {"name":"password_hash","type":["null","string"]}
ssh-keyscan: # git.example.org:22 SSH-2.0-OpenSSH_9.6⏎git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43›
ssh_authorized_keys:⏎  - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43› admin@example.org
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ‹b64n400› root@build
Accepted publickey for deploy from 10.1.2.7 port 51422 ssh2: ED25519 SHA256:‹b64n43›
ssh-add -l⏎The agent has no identities.
ssh: connect to host 10.1.2.7 port 22: Connection timed out
Permission denied, please try again.⏎deploy@10.1.2.7's password:
id_rsa.pub: SHA256:‹b64n43› 3072
userauth_pubkey: signature algorithm ssh-rsa not in PubkeyAcceptedAlgorithms
pam_unix(su:auth): conversation failed
chage: Password expires : never
shadow: deploy:!:20000:0:99999:7:::
login: pam_faillock: Consecutive login failures for user root account temporarily locked
polkit: Error executing command as another user: Not authorized
gnome-keyring-daemon: couldn't access control socket
secret-tool: No such secret item at path
kwalletd: wallet is locked
pinentry: no tty for passphrase entry
gpg-agent: command 'PKDECRYPT' failed: No passphrase given
gpg: Good signature from "Release Bot <release@example.org>" [unknown]⏎Primary key fingerprint: ‹HEXsp40›
sec#  rsa4096/‹HEX16› 2026-01-01 [SC]
-----BEGIN PGP PUBLIC KEY BLOCK-----⏎⏎mQINB‹b64n59›⏎‹b64n64›⏎=‹b64n4›⏎-----END PGP PUBLIC KEY BLOCK-----
-----BEGIN DH PARAMETERS-----⏎MIIB‹b64n60›⏎‹b64n64›⏎-----END DH PARAMETERS-----
-----BEGIN X509 CRL-----⏎MIIB‹b64n60›⏎-----END X509 CRL-----
-----BEGIN PRIVATE KEY-----⏎(key removed)⏎-----END PRIVATE KEY-----
Not Before: Nov  3 10:11:12 2026 GMT⏎Serial Number:⏎    ‹colonhex16›
X509v3 Authority Key Identifier:⏎    keyid:‹colonHEX20›
Public-Key: (2048 bit)⏎Modulus:⏎    00:‹colonhex14›:
verify error:num=18:self-signed certificate
openssl dgst -sha256 -verify pub.pem -signature s.bin f⏎Verification failure
ct: log id ‹b64_44› timestamp 17‹digits11›
certbot: An unexpected error occurred: too many failed authorizations
acme order https://acme.example.test/order/‹digits9›/‹digits12›
step: error: token is missing required claim
HSTS pin "‹b64_44›" does not match
wg: Peer ‹b64_44› (10.1.2.7:51820) did not complete handshake
[WireGuardPeer]⏎PublicKey=‹b64_44›⏎AllowedIPs=10.9.0.2/32
tailscale: node key nodekey:‹hex64› machine key mkey:‹hex64› (public)
openvpn: AUTH: Received control message: AUTH_FAILED
ipsec: no private key found for '10.1.2.7'
hostapd: wlan0: STA ‹colonhex6› IEEE 802.11: deauthenticated
wpa_supplicant: CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid="office" reason=WRONG_KEY
freeradius: (4) pap: ERROR: Passwords don't match
snmp: Authentication failure (incorrect password, community or key)
v=DKIM1; k=ed25519; p=‹b64_44›
example.org. 300 IN DS ‹n› 13 2 ‹HEX64›
NSEC3 1 0 10 ‹HEX16› ‹up32›
example.org. IN SSHFP 4 2 ‹hex64›
MS=ms‹digits8› in TXT record
ARC-Seal: i=1; a=rsa-sha256; d=example.org; cv=none; b=‹b64_88›
X-Google-Smtp-Source: ‹b64n80›
postfix/smtp[‹n›]: ‹HEX10›: to=<x@example.org>, status=deferred (SASL authentication failed; server said: 535 5.7.8)
dovecot: imap-login: Aborted login (auth failed, 1 attempts in 2 secs)
boundary="----=_Part_‹digits6›_‹digits9›.17‹digits11›"
Content-ID: <‹hex16›@example.org>
eth_call: execution reverted, to 0x‹hex40›, block 0x‹hex64›
Etherscan: contract 0x‹hex40› verified, creation tx 0x‹hex64›
selector 0x‹hex8› not found in ABI
storage slot 0x‹hex64› = 0x0
gas used 21000 in tx 0x‹hex64›
ENS: namehash 0x‹hex64›
1‹b58_33› is a legacy address
coinbase tx ‹hex64› vout 0
previousblockhash ‹hex64›, height ‹digits6›
lnd: channel point ‹hex64›:1 closed
node pubkey 03‹hex64› is offline
solana: transaction ‹sol_sig› was not confirmed in 30.00 seconds
mint ‹sol_pub› authority ‹sol_pub›
nano_‹nano60› balance 0
cosmos1‹low38› sequence mismatch, expected 4, got 3
osmosis txhash: ‹HEX64›
polkadot: extrinsic 0x‹hex64› failed: BadOrigin
near: receipt ‹sol_pub› not found
ipns k51qzi5uqu5d‹low50› could not be resolved
git-annex key SHA256E-s‹n›--‹hex64›.iso
magnet:?xt=urn:btih:‹hex40›&dn=image.iso
torrent info hash ‹hex40›
note1‹low58› was deleted
did:key:z6Mk‹b58_44›
PeerId Qm‹b58_44›
age1‹low58›  # recipient, public
sha256:‹hex64› matches
SHA-1: ‹hex40› (debug.keystore certificate)
file.bin: OK⏎sha512sum: WARNING: 1 computed checksum did NOT match ‹hex128›
md5 checksum of upload is ‹hex32›, expected ‹hex32›
Content hash: ‹hex64›; chunk 12/40
rolling hash ‹hex16›, window 48
murmur3 ‹hex32›
crc64nvme: ‹b64n11›=
zstd: Checksum error in block, frame ‹hex8›
rsync: delta hash ‹hex32›
restic: pack ‹hex64› contained in index ‹hex64›
casync: chunk ‹hex64› missing from store
apt: Hash Sum mismatch⏎   - SHA256:‹hex64›⏎   - MD5Sum:‹hex32› [weak]
brew: resource "kit" sha256 "‹hex64›"
yum: repomd.xml: [sha256] ‹hex64›
alpine: SHA512 (kit-1.0.tar.gz) ‹hex128›
b2sums=('‹hex128›')
gentoo Manifest: DIST kit-1.0.tar.gz ‹n› BLAKE2B ‹hex128› SHA512 ‹hex128›
portage: >>> Failed to emerge app-crypt/libsecret-0.21.4
snapcraft: source-checksum: sha256/‹hex64›
ModSecurity: unique_id "‹url27›"
job id ‹hex32› attempts 3/3
BullMQ job ‹uuid›:‹n› stalled
workflow run ‹uuid› cancelled by user
correlationId=‹uuid› step=issue-token result=denied
request ‹mixed22› took 41 ms
message_id=‹digits18› acked
order=‹uuid› customer=‹uuid› state=PAID
pi_‹mixed24› requires_action
in_‹mixed24› was voided
invoice no. INV-2026-‹digits6›
order reference ‹up10›
parcel ‹digits14› left the depot
booking code ‹up6›
meter reading ‹digits8› kWh
lot ‹up8› best before 2027-11-03
asset tag ‹digits6›-‹n1›
ISBN 0-‹digits6›-92-X
ISSN 2049-‹n3›X
doi:10.1000/‹digits6›
arXiv:2611.‹digits5›v2
CVE-2026-‹digits5›
PMID ‹digits8›
MAC ‹colonHEX6› vendor unknown
barcode ‹digits13› not readable
EAN-8 ‹digits8›
GTIN 0‹digits13›
order number ‹digits16nl› has shipped
reference number ‹digits16nl› (bank transfer)
snowflake id ‹digits18›
tweet id ‹digits19›
seq=‹digits16nl› ack=‹digits10›
17‹digits14› microseconds since epoch
duration_ns=‹digits12›
heap 0x‹hex12› used ‹digits9› of ‹digits10›
screen 1920x1080 at 59.94 Hz
x=‹n›.‹digits4› y=‹n›.‹digits4› z=0.0
GPS 59.9139,10.7522 accuracy 12
POINT(10.‹digits6› 59.‹digits6›)
EPSG:25833 ‹digits6›.12 ‹digits7›.34
2026-W45-2T10:11:12,345+01:00
uptime 123-04:05:06
Nov 03 10:11:12.123456 host app[‹n›]: ready
range bytes 0-1048575/‹digits8›
lines 100-200-3000
revision 2026.11.3-4
firmware 01.02.0003.4567
v10.15.7-20261103-1011
schema version 20261103101112
model 555-1234 rev. B
extension 4021, desk 12
room 212-555
chapter 3, section 3.14.159
192.168.1.1 192.168.1.254 255.255.255.0
::ffff:10.1.2.7 port 49152
AS64512 prefix 203.0.113.0/24
dial plan pattern _X. has no match
The phone field is required.
phone number must contain digits only
phone: xxx-xxx-xxxx
phone: {type: string, pattern: "^\\+[1-9]\\d{1,14}$"}
contact.phone is null
placeholder="+1 (___) ___-____"
No phone number on file
mobile_phone = models.CharField(max_length=20)
libphonenumber: INVALID_COUNTRY_CODE
sms code was sent to ***-***-**12
card_number VARCHAR(19) NOT NULL
cardNumber.replace(/\d(?=\d{4})/g, '*')
Card ending in 4242 was declined.
visa **** 1881 exp **/**
"last4": "4242", "brand": "visa"
pan: ************1111
const cardRegex = /^4[0-9]{12}(?:[0-9]{3})?$/;
Luhn check failed
ssn CHAR(11) CHECK (ssn ~ '^\d{3}-\d{2}-\d{4}$')
SSN must be in the format XXX-XX-XXXX
ssn = fields.Str(load_only=True)
mask: "999-99-9999"
<label>Social Security Number</label>
social security number is missing
TOTP code is invalid
TOTP is not enabled for this account
otpauth URI must start with otpauth://totp/
totp: { digits: 6, period: 30 }
2FA: enter the 6-digit code
totp_secret: <hidden>
base32 alphabet: ABCDEFGHIJKLMNOPQRSTUVWXYZ234567
ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/
0123456789abcdef
data:text/plain;base64,SGVsbG8sIHdvcmxkIQ==
data:application/pdf;base64,JVBERi0xLjQK‹b64n100›
data:audio/wav;base64,UklGRiQAAABXQVZF‹b64n80›
<image xlink:href="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA‹b64n100›"/>
"mappings": ";;;AAAA,OAAO,MAAM,OAAO,CAAC"
b64decode('Zm9vYmFy') == b'foobar'
=?UTF-8?B?SGVsbG8gd29ybGQ=?=
%E2%9C%93 utf8=✓
VGhlIHF1aWNrIGJyb3duIGZveA==
%PDF-1.7 /ID [<‹HEX32›> <‹HEX32›>]
%3Csvg xmlns=%27http://www.w3.org/2000/svg%27%3E
How do I rotate an API key without downtime?
I lost my phone and can't get past two-factor authentication.
Your password will expire in 7 days.
Someone tried to sign in with the wrong password.
Please never send passwords by mail.
Use a password manager and a long passphrase.
Tokens are shown once and stored as hashes.
The client secret has been rotated; see the vault.
We accept Visa and Mastercard.
Secrets belong in the vault, not in the repository.
Deploy keys give read access to one repository.
The access token was revoked by its owner.
Set the environment variable API_KEY before you start the server.
A private key is required to sign the release.
Kein Passwort angegeben.
Bitte geben Sie Ihr Passwort ein.
Mot de passe oublié ?
Contraseña incorrecta
パスワードが間違っています
Пароль неверен
Feil passord
msgid "Forgot your password?"⏎msgstr "Mot de passe oublié ?"
"login.password": "Password",⏎"login.forgot": "Forgot password?"
<string name="error_wrong_password">Wrong password</string>
TODO: revoke the token on logout
XXX this compares secrets with ==
HACK: retry once when the token has just expired
# noqa: S105 - not a password
// eslint-disable-next-line no-secrets/no-secrets
# pragma: allowlist secret
/** @param {string} token bearer token */
'''Return the API key, or None.'''
--- Returns the token from the keyring.
(* the key is kept in locked memory *)
{- secret handling, see Note [Secrets] -}
REM asks for the password
.. warning:: The token is shown only once.
## Rotating secrets
* Added: `--token-file`
- Fixed: the password prompt echoed what was typed
BREAKING CHANGE: `apiKey` is now `api_key`
test: cover expired refresh tokens
refactor(keys): split KeyStore into reader and writer
ci: pass the token through the environment
revert: "feat: remember password"
Authorization header required
API key missing
key expired
wrong passphrase
decryption failed
signature mismatch
token not found
unknown token type
secret is empty
bad credentials
ERR_TOKEN_EXPIRED
E_BAD_PASSWORD
ENOKEY (Required key not available)
EKEYEXPIRED
STATUS_WRONG_PASSWORD
kSecretNotFound
SECRET_TYPE_PASSWORD
PasswordResetTokenGenerator
OAuth2AccessTokenResponseClient
ApiKeyCredentialsProvider
useApiKeyMutation
validate_password_strength
token_bucket_refill_rate
secret_manager_enabled
rsa_private_key_bits: 4096
publicKeyCredentialCreationOptions
getTokenBalance(address)
tokenize_with_offsets
monkeypatch, keystroke, hotkey, turnkey
passthrough, bypass, compass, passenger
secretion, secretariat
"""
