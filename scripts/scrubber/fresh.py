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
Caused by: java.lang.IllegalStateException: maps.api-key=«mixed40» must start with AI
{"severity":"ERROR","message":"pinecone 401","labels":{"api_key":"«uuid»"}}
mailgun_api_key «mailgun» is sandbox only
./gradlew assemble -PsentryKey=«hex32»
# kustomize secretGenerator literal: STRIPE_KEY=«stripe»
cypress run --record --key «uuid»
dd-agent: conf.d/api_key: "«hex32»"
Deno.env.set("DEEPL_KEY", "«mixed32»")
ValueError: Unknown scheme: apikey «b64_48»
ERROR collector otlp: headers: {"api-key": "«hex36»FFFF"}
tf: provider "fastly" { api_key = "«url32»" }
Could not resolve secret: fallback client_secret «mixed48»
sudo -E env NGROK_AUTHTOKEN=«mixed43» ngrok http 80
Invalid value for --license-key: «hex40»
wp option update akismet_api_key «low12»
Twilio auth: SK«hex32» / «mixed32»
val client = OkHttp(apiKey = "«mixed32»")
http.Header{"X-Api-Key": {"«mixed40»"}}
<add key="Mandrill.ApiKey" value="«url22»" />
node:internal/process: apiSecret='«mixed40»'
rollbar: accessToken: '«hex32»',
bugsnag.start("«hex32»") # api key
appcenter login --token «hex40»
export RESEND_API_KEY=re_«mixed8»_«mixed24»
GET /maps?client_secret=«mixed40»&v=2 → 403
Failed asserting that 'null' matches expected '«groq»'.
sk-learn? no, «openai» pasted in notebook cell 3
snyk/config: api=«uuid» (apiToken)
Authorization: Api-Key «mixed32».«mixed32»
godoc: const apiKey = "«hex40»" exposed
kong: consumer key-auth key=«mixed32»
SplunkHEC: Authorization: Splunk «uuid»
app.config['MAPS_API_KEY'] = '«mixed40»'
Illuminate\Http\Client: config('services.postmark.key') = '«uuid»'
{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: «mixed32»"}}
resource "datadog_integration" "x" {⏎  api_key = var.k⏎  app_key = "«hex40»"⏎}
apikeys:⏎  - name: ci⏎    value: «mixed32»
{"apiKey":{"value":"«mixed32»","scope":"all"}}
curl -H "X-API-KEY: «mixed32»" https://‹host›/v1
curl 'https://api.example.com/data?appid=«hex32»&q=Berlin'
weather: GET /data/2.5/weather?lat=1&APPID=«hex32» -> 401
<meta-data android:name="com.google.android.geo.API_KEY" android:value="«mixed40»"/>
<add key="SendGridApiKey" value="«mixed40»" />
<key>ApiKey</key>⏎<string>«mixed32»</string>
<ApiKey>«mixed40»</ApiKey>
api_key "«mixed32»" does not match any project
client = Client("«mixed32»")  # api key
let client = Client::new("«mixed40»"); // API key
stripe.api_key = "«stripe»"
Mixpanel.init("«hex32»") token
ERROR: key «mixed32» has exceeded its quota
TypeError: api key '«mixed32»' contains invalid characters
config/newrelic.yml:⏎common:⏎  license_key: «hex40»
nuget push x.nupkg -k «mixed40» -s https://‹host›
dotnet nuget push a.nupkg --api-key «mixed43»
choco apikey -k «uuid» -s https://‹host›
cargo login «mixed35»
sentry-cli --auth-token «hex64» releases list
snyk auth «uuid»
heroku config:set ALGOLIA_KEY=«hex32»
fly secrets set OPENWEATHER_KEY=«hex32»
wrangler secret put KEY <<< «mixed40»
docker run -e API_KEY='«mixed40»' x
ansible: "api_key=«mixed40»" in extra vars
kubectl create secret generic x --from-literal=apikey=«mixed40»
params = {"key": "«mixed39»", "q": "x"}
headers = {'Ocp-Apim-Key': '«hex32»'}
requests.get(url, headers={"X-RapidAPI-Key": "«mixed50»"})
axios.defaults.headers.common['x-api-key'] = '«mixed40»';
req.Header.Set("X-Api-Key", "«mixed40»")
.header("apikey", "«mixed40»")
--header 'Api-Key: «mixed32»' \
Request headers: [api-key=«hex32», accept=*/*]
{"headers":{"X-Auth-Key":"«hex37»","X-Auth-Email":"a@b.c"}}
CLOUDFLARE_API_KEY=«hex37»
tskey-auth-«mixed17»-«mixed32» is expired
pinecone: pcsk_«mixed6»_«mixed60»
langsmith lsv2_pt_«hex32»_«hex10» 403
tavily: invalid tvly-«mixed32»
dynatrace: dt0c01.«up24».«up64» lacks scope
mailchimp 403 for «hex32»-us14
lob: test_«hex35» used in live mode
razorpay auth failed rzp_live_«mixed14»:«mixed24»
zapier hook signing_secret: «hex32»
consumer_key=«mixed25», consumer_secret=«mixed50»
rollbar post_server_item_token: «hex32»
honeybadger api_key: hbp_«mixed36»
typesense: apiKey=«mixed32» not allowed
meilisearch --master-key=«mixed43»
MEILI_MASTER_KEY «mixed32»
vonage api_secret=«mixed16»
plaid: secret «hex30» invalid for client_id ‹hex24›
amplitude.init('«hex32»'); // api key
Sending event with write key «mixed32»
segment.writeKey = «mixed32»
launchdarkly: sdk-«uuid» rejected
contentful: CFPAT-«url43» expired
airtable: pat«mixed14».«hex64» unauthorized
fastly-key: «url32»
Fastly-Key "«url32»"
bunny AccessKey: «uuid»
panic: missing scope for key «mixed40» (owner: ci)
W 10:11 api: rejected request with key=«mixed32» from 10.0.0.4
REVENUECAT key appl_«mixed27» disabled
curl -s "https://api.example.com/v2/lookup/«mixed32»?format=json" # key in path
{"statusCode":403,"message":"Forbidden","apiKey":"«mixed40»"}
apiKeyAuth: «uuid»
HTTP header 'apikey' = '«hex32»'
Auth0 management client_secret: «url64»
client_id=abc client_secret=«mixed40» grant_type=client_credentials
OAuth app secret «mixed40» rotated
spring.cloud.vault.app-role.secret-id=«uuid»
AbuseIPDB: Key: «hex80»
VT_API_KEY=«hex64» vt scan
shodan init «mixed32»
x-apisports-key: «hex32»
ip-api pro key «mixed15»
"licenseKey" : "«up5»-«up5»-«up5»-«up5»"
license key «up5»-«up5»-«up5»-«up5»-«up5» already activated
ELASTIC_API_KEY=«b64_60»
Authorization: ApiKey «b64_60»
es: api_key=("id", "«url22»")
Intercom: app_id=x, secret_key='«url40»'
PAGERDUTY routing_key: «low32»
pd: integration_key «hex32»
opsgenie apiKey=«uuid»
NEW_RELIC_LICENSE_KEY: «hex36»FFFF
nr-insert-key: NRII-«url32»
loggly: /inputs/«uuid»/tag/x 403
logdna ingestion key «hex32» invalid
papertrail token: «mixed20»
bitly: Authorization Bearer «hex40»
mapbox.accessToken = 'sk.eyJ1Ijoi«mixed40».«url22»';
trello: key=«hex32»&token=«hex64»
asana: 1/‹digits16›:«hex32»
twitch client secret «low30»
steam web api key «HEX32»
riot: RGAPI-«uuid» expired
tmdb api_key=«hex32» invalid
oxr app_id «hex32»
etherscan apikey=«up34»
infura project secret «hex32»
https://mainnet.infura.io/v3/«hex32»
https://eth-mainnet.g.alchemy.com/v2/«url32»
https://x.quiknode.pro/«hex40»/
helius: https://mainnet.helius-rpc.com/?api-key=«uuid»
coinbase CB-ACCESS-KEY: «mixed32»
binance: X-MBX-APIKEY: «mixed64»
kraken API-Sign «b64_88»
binance secretKey='«mixed64»'
ghost admin api key ‹hex24›:«hex64»
strapi: API_TOKEN_SALT=«b64_24»
supabase service_role key «jwt»
requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.weather.test/v3/forecast?q=Oslo&appid=«hex32»
2026-11-02 08:14:55.120  WARN 1 --- [nio-8080-exec-4] com.acme.geo.GeoClient : api key «mixed39» was rejected (HTTP 403)
stripe.error.AuthenticationError: Expired API key provided: «stripe»
const openai = new OpenAI({ apiKey: '«openai»', maxRetries: 2 });
ANTHROPIC_API_KEY=«anthropic» cargo run --example chat
config :swoosh, Acme.Mailer, adapter: Swoosh.Adapters.Sendgrid, api_key: "«sendgrid»"
fly secrets set MAILGUN_KEY=«mailgun» --app shop
$client = new \GuzzleHttp\Client(['headers' => ['X-Api-Key' => '«mixed40»']]);
groq.RateLimitError: Error code: 429 for organization org_01 (key «groq»)
newrelic.config.license_key: «newrelic»
curl -sS -H "X-Figma-Token: «figma»" https://api.figma.test/v1/me
notion = Client(auth="«notion»")
linear:⏎  team: CORE⏎  apiKey: «linear»
Dockerfile:14: ENV REPLICATE_API_TOKEN=«replicate»
{"provider":"perplexity","key":"«pplx»","model":"sonar"}
402 Insufficient credits for OpenRouter key «openrouter»
SHOPIFY_ADMIN_TOKEN: "«shopify»"
newman run "https://api.postman.test/collections/‹uuid›?apikey=«postman»"
square: { accessToken: '«square»', environment: 'production' }
    adminApiKey: "«hex32»"  # algolia, write access
Datadog::Client.new(api_key: '«hex32»', application_key: '«hex40»')
HONEYCOMB_API_KEY="«mixed22»" ./bin/server
provider "cloudflare" {⏎  email   = "ops@example.org"⏎  api_key = "«hex37»"⏎}
spring.ai.mistralai.api-key=«mixed32»
"SendGrid": { "ApiKey": "«sendgrid»", "From": "noreply@example.org" }
> Authorization: Token token=«url20»⏎< HTTP/1.1 401 Unauthorized
<meta-data android:name="io.acme.maps.API_KEY" android:value="«mixed40»" />
setx LAUNCHDARKLY_SDK_KEY "sdk-«uuid»"
let apiKey = "«mixed40»" // TODO: move the Deepgram key to the keychain
MEILI_MASTER_KEY=«url43» meilisearch --env production
typesense-server --data-dir=/var/lib/typesense --api-key=«mixed48»
grpc metadata: map[user-agent:[grpc-go/1.61.0] x-api-key:[«low36»]]
http POST https://‹host›/v1/events "Api-Key:«hex40»" name=deploy
Sys.setenv(CENSUS_API_KEY = "«hex40»")
ElasticsearchStatusException[security_exception] Authorization: ApiKey «b64_60»
self.session.params = {"api_key": "«low32»", "format": "json"}
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
Traceback (most recent call last):⏎  File "/app/forecast.py", line 8, in <module>⏎    api_key = "«hex32»"
reqwest::Client::new().get(url).header("x-api-key", "«mixed40»").send().await?
builder.Services.AddHttpClient("geo", c => c.DefaultRequestHeaders.Add("X-Api-Key", "«mixed32»"));
key: «hex32»  # OpenWeather API key, do not commit
I pasted our API key into the ticket by mistake: «mixed40»
Stripe\Stripe::setApiKey('«stripe»');
{:error, %Stripe.Error{message: "Expired API Key provided: «stripe»"}}
openai api chat.completions.create -m gpt-4o --api-key «openai»
  [openai]⏎  key = «openai»⏎  model = gpt-4o-mini
let client = OpenAIClient::builder().with_api_key("«openai»").build()?;
curl https://api.anthropic.com/v1/messages --header "x-api-key: «anthropic»"
"claude": { "type": "anthropic", "apiKey": "«anthropic»" },
anthropic.NewClient(option.WithAPIKey("«anthropic»"))
sendgrid.SendGridAPIClient(api_key="«sendgrid»").send(message)
mailer.sendgrid.key = «sendgrid»
spring.sendgrid.api-key: «sendgrid»
curl -s --user 'api:«mailgun»' https://api.mailgun.net/v3/mg.example.org/messages
anymail: { "MAILGUN_API_KEY": "«mailgun»" }
export GROQ_API_KEY=«groq»; python agent.py
ChatGroq(model="llama-3.1-8b", api_key="«groq»")
<newrelic><service licenseKey="«newrelic»" /></newrelic>
NRIA_LICENSE_KEY: «newrelic»
figma.Client("«figma»").file(key)
const notion = new Client({ auth: "«notion»" });
Linear SDK: InvalidInputLinearError for key «linear»
replicate run acme/model --token «replicate»
OpenAI(api_key="«pplx»", base_url="https://api.perplexity.ai")
continue/config.yaml: apiKey: «openrouter»
shopify app env show⏎    SHOPIFY_ACCESS_TOKEN=«shopify»
{"error":{"name":"invalidApiKeyError","message":"Invalid API Key: «postman»"}}
new SquareClient({ token: "«square»" });
MAPTILER_API_KEY="«mixed20»" vite build
steps:⏎- env:⏎    CODECLIMATE_API_KEY: «hex64»
wp-config.php:⏎define( 'ACME_SMS_API_KEY', '«mixed40»' );
rasterio tile server refused request: apikey=«uuid» not found
SELECT http_get('https://api.rates.test/latest?apikey=«hex32»');
ENV.fetch("X_API_KEY", "«mixed32»")
   |> Req.get!(headers: [{"x-api-key", "«mixed40»"}])
httr2::req_headers(req, "X-API-Key" = "«mixed40»")
var request = URLRequest(url: url); request.setValue("«mixed32»", forHTTPHeaderField: "X-API-Key")
api_key "«hex40»" was disabled by the administrator at 10:11
[WARN] retrying with fallback API key «mixed36»
- name: PINECONE_API_KEY⏎  value: «uuid»
provider "datadog" {⏎  api_key = "«hex32»"⏎  app_key = "«hex40»"⏎}
apikey=«hex32»&secret_key=«hex64»
GRAPHHOPPER key rejected, request was GET /route?point=59,10&key=«uuid»
POST /v1/print HTTP/1.1⏎Host: print.example.test⏎Api-Key: «mixed48»
gradle.properties:⏎mapboxDownloadApiKey=«mixed60»
    "X-RapidAPI-Key": "«mixed50»",
x-rapidapi-key: «mixed50»⏎x-rapidapi-host: quotes.example.test
algoliasearch("‹up10›", "«hex32»") // admin API key
airbrake: project_key: "«hex32»"
zig build run -Dapi-key=«mixed32»
LastFM.init(apiKey: '«hex32»', sharedSecret: '«hex32»');
nats request billing.key '{"apiKey":"«mixed40»"}'
  apiKey:⏎    value: «mixed32»⏎    in: header
customer support: please rotate API key «mixed40», it was shared in a screenshot
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
Cannot connect as ‹user› with password '«pws»': ORA-01017
psql: PGPASSWORD «pws» is ignored, use .pgpass
DB_PASS=«pws» DB_HOST=‹host› ./migrate.sh failed with 1
mysql.connector.connect(user='‹user›', password='«pws»', host='‹host›')
{"level":"debug","body":{"email":"a@b.c","password":"«pws»"}}
docker: -e MSSQL_SA_PASSWORD='«pws»' registry.example.com/mssql
rabbitmqctl change_password ‹user› «pws»
Error: secret/db: {"data":{"password":"«pws»"}}
winrm: ansible_winrm_password='«pws»' rejected
imapsync --user1 ‹user› --password1 «pws» --host1 ‹host›
lftp -u ‹user›,«pws» sftp://‹host›
C:\> net use Z: \\srv\share «pws» /user:‹user›
Set-ADAccountPassword: ConvertTo-SecureString '«pws»' -AsPlainText -Force
openconnect --user=‹user› --passwd-on-stdin <<< '«pws»'
ORACLE_PWD=«pws» docker start oracle
postgres: CREATE ROLE ‹user› LOGIN PASSWORD '«pws»'
pam: user=‹user› pass=«pws» rhost=10.1.2.7
phpunit: $this->login('‹user›', '«pws»');
assertThat(user.getPassword()).isEqualTo("«pws»")
zip --password «pws» x.zip y
cadaver: machine ‹host› login ‹user› password «pws»
config.ini:⏎[smtp]⏎pass = «pws»
ERR AUTH «pws» called without any password configured
redis.exceptions: AUTH ‹user› «pws» failed
<wsse:Password Type="PasswordText">«pws»</wsse:Password>
ttyd -c ‹user›:«pws» bash
tomcat: keystorePass="«pws»" invalid
hibernate.connection.password «pws»
export SUDO_PASS='«pws»'
vault: "root_password": "«pws»" does not satisfy policy
Invalid password "«pws»": must contain a symbol
user typed password «pws» three times
requests.post(url, data={"username": "‹user›", "passwd": "«pws»"})
user: ‹user›⏎password: «pws»
username=‹user›&password=«pwu»&grant_type=password
POST /login HTTP/1.1⏎Content-Length: 40⏎⏎user=‹user›&pass=«pwu»
Enter password for ‹user›: «pws»⏎Sorry, try again.
[sudo] password for ‹user›: «pws»
ssh: Password for ‹user›@‹host›: «pws»
login: ‹user›⏎Password: «pws»⏎Login incorrect
Using password "«pws»" for user ‹user›
Authenticating as ‹user› with password «pws»
logged in with ‹user› / «pws»
trying ‹user›:«pws» on 10.0.0.3
[+] 10.0.0.4:22 - Success: '‹user›:«pws»'
[22][ssh] host: 10.0.0.5   login: ‹user›   password: «pws»
[ERROR] auth failed for ‹user› using '«pws»'
temporary password is generated for root@localhost: «pws»
Your new password is: «pws»
The password of ‹user› was reset to «pws»
Generated admin password: «pws»
Initial root password: «pws»
default admin password is '«pws»', change it
jenkins initialAdminPassword: «hex32»
mysql> CREATE USER '‹user›'@'%' IDENTIFIED BY '«pws»';
ALTER ROLE ‹user› WITH LOGIN PASSWORD '«pws»';
CREATE LOGIN ‹user› WITH PASSWORD = N'«pws»'
ALTER USER ‹user› IDENTIFIED BY "«pws»" ACCOUNT UNLOCK
GRANT ALL ON x.* TO '‹user›'@'%' IDENTIFIED BY '«pws»'
UPDATE users SET password='«pws»' WHERE id=1
SET PASSWORD FOR '‹user›'@'%' = PASSWORD('«pws»');
INSERT INTO users (name, password) VALUES ('‹user›', '«pws»')
db.createUser({user: "‹user›", pwd: "«pws»", roles: []})
db.auth("‹user›", "«pws»")
conn = psycopg2.connect(host="x", user="‹user›", password="«pws»")
pymysql.connect("localhost", "‹user›", "«pws»", "x")
mysqli_connect('localhost', '‹user›', '«pws»', 'x');
$pdo = new PDO('mysql:host=x', '‹user›', '«pws»');
DriverManager.getConnection(url, "‹user›", "«pws»");
new NetworkCredential("‹user›", "«pws»")
client.login('‹user›', '«pws»')
smtp.login("‹user›@example.com", "«pws»")
ftp.login(user='‹user›', passwd='«pws»')
ssh.connect('‹host›', username='‹user›', password='«pws»')
$ldap->bind('cn=admin,dc=x', '«pws»');
ldap_bind($conn, "cn=‹user›,dc=example", "«pws»");
imap_open("{‹host›:993/ssl}", "‹user›", "«pws»")
driver.findElement(By.id("password")).sendKeys("«pws»");
cy.get('#password').type('«pws»')
await page.fill('input[name="password"]', '«pws»')
page.type('#pass', '«pws»');
I fill in "Password" with "«pws»"
user.setPassword("«pws»".toCharArray());
keyStore.load(in, "«pws»".toCharArray());
new PasswordAuthentication("‹user›", "«pws»".toCharArray())
bcrypt.compare('«pws»', hash) // password
User.create(email: 'a@b.c', password: '«pws»', password_confirmation: '«pws»')
expect(user.authenticate('«pws»')).to be_truthy
expect(login("‹user›", "«pws»")).resolves
createUserWithEmailAndPassword(auth, 'a@b.c', '«pws»')
signInWithEmailAndPassword(auth, "a@b.c", "«pws»")
val password = "«pws»"
const PASSWORD: &str = "«pws»";
static char *passwd = "«pws»";
#define WIFI_PASSWORD "«pws»"
WiFi.begin("home", "«pws»");
$db['default']['password'] = '«pws»';
spring:⏎  datasource:⏎    username: ‹user›⏎    password: «pws»
<property name="connection.password">«pws»</property>
<connectionString>Data Source=x;User ID=‹user›;Password=«pwu»</connectionString>
<server><id>x</id><username>‹user›</username><password>«pws»</password></server>
<user name="‹user›" password="«pws»" roles="admin"/>
<user username="‹user›" pwd="«pws»"/>
<entry key="db.password">«pws»</entry>
<param name="password" value="«pws»"/>
<input type="password" value="«pws»">
{"key":"DB_PASSWORD","value":"«pws»","type":"secure"}
{"Name":"/prod/db/password","Type":"SecureString","Value":"«pws»"}
ParameterKey=DBPassword,ParameterValue=«pwu»
variable "db_password" {⏎  default = "«pws»"⏎}
+ password = "«pws»"
-  password: «pws»
~ master_password = "«pws»" -> (sensitive value)
db_password:⏎    value: «pws»
"adminPassword": {⏎  "value": "«pws»"⏎}
env:⏎- name: POSTGRES_PASSWORD⏎  value: «pws»
environment:⏎  - MYSQL_ROOT_PASSWORD=«pws»
stringData:⏎  password: «pws»
kubectl create secret generic db --from-literal=password='«pws»'
docker login -u ‹user› -p «pws» ‹host›
helm registry login -u ‹user› -p «pws» ‹host›
oc login https://‹host›:6443 -u ‹user› -p «pws»
twine upload -u ‹user› -p «pws» dist/*
svn co --username ‹user› --password «pws» https://‹host›/svn
wget --user=‹user› --password='«pws»' https://‹host›/f
keytool -genkey -storepass «pws» -keypass «pws»
jarsigner -keystore x.jks -storepass «pws» a.jar
openssl pkcs12 -export -passout pass:«pws» -in x.pem
gpg --batch --passphrase '«pws»' -d x.gpg
zip -P «pws» a.zip x
qpdf --password=«pws» --decrypt a.pdf b.pdf
pdftk a.pdf input_pw «pws» output b.pdf
nmcli dev wifi connect home password «pws»
wpa_cli set_network 0 psk '"«pws»"'
ipmitool -I lanplus -H 10.0.0.2 -U ‹user› -P «pws» power on
ldapsearch -x -D cn=admin -w «pws» -b dc=x
redis-cli -h ‹host› -a «pws» ping
mosquitto_sub -u ‹user› -P «pws» -t x
cqlsh -u ‹user› -p «pws» ‹host›
clickhouse-client --user ‹user› --password «pws»
influx -username ‹user› -password «pws»
mysqladmin -u root password «pws»
useradd -m -p «pws» ‹user›
echo "‹user›:«pws»" | chpasswd
echo -e "«pws»\n«pws»" | passwd ‹user›
security unlock-keychain -p «pws» login.keychain
security add-generic-password -a ‹user› -s x -w «pws»
xcrun notarytool submit x --apple-id a@b.c --password «pws»
bitcoin-cli walletpassphrase "«pws»" 60
restic -r x: RESTIC_PASSWORD=«pws»
BORG_PASSPHRASE='«pws»' borg create
impacket-psexec CORP/‹user›:'«pws»'@10.0.0.7
evil-winrm -i 10.0.0.8 -u ‹user› -p '«pws»'
crackmapexec smb 10.0.0.0/24 -u ‹user› -p '«pws»'
xfreerdp /v:10.0.0.9 /u:‹user› /p:«pws»
cmdkey /add:srv /user:‹user› /pass:«pws»
schtasks /create /ru ‹user› /rp «pws» /tn x
psexec \\srv -u ‹user› -p «pws» cmd
runas: net user ‹user› «pws» /add
machine ‹host›⏎  login ‹user›⏎  password «pws»
//srv/share /mnt cifs username=‹user›,password=«pwu»,uid=1000 0 0
mount -t cifs -o user=‹user›,pass=«pwu» //srv/share /mnt
mount error(13): options: user=‹user›,pass=«pwu»
auth_pass «pws»
enable secret «pws»
username ‹user› password 0 «pws»
snmp-server: authpass «pws» privpass «pws»
vpn: <password>«pws»</password>
PreSharedKey: passphrase «pws»
HTTP 401: {"username":"‹user›","password":"«pws»"}
{\"user\":\"‹user›\",\"password\":\"«pws»\"}
{'username': '‹user›', 'password': '«pws»'}
%{user: "‹user›", password: "«pws»"}
[user: "‹user›", password: "«pws»"]
User(name='‹user›', password='«pws»')
Credentials{user=‹user›, password=«pws»}
LoginRequest { username: "‹user›", password: "«pws»" }
&{Username:‹user› Password:«pws» Host:x}
{:username ‹user› :password "«pws»"}
(setq smtp-password "«pws»")
password <- "«pws»"
$password = ConvertTo-SecureString "«pws»" -AsPlainText -Force
PS> $pw = '«pws»'
set PGPASSWORD=«pws»
setx DB_PASS "«pws»"
$env:DB_PASSWORD='«pws»'
fish: set -x DB_PASSWORD «pws»
export PASSWORD="«pws»"
Password mismatch: got «pws»
AssertionError: '«pws»' != '' : password should be empty
expected password to be "«pws»"
bad passphrase: «pws»
Wrong PIN/password «pws» (2 tries left)
unlock failed with passphrase "«pws»"
keychain password (plain): «pws»
rotated db password from «pws» to «pws»
note to self: root pw is «pws»
the wifi password is «pws»
pw: «pws»
PW=«pws»
pass «pws» rejected by policy
hunter: pass phrase "«pws»" leaked
Passwort: «pws»
mot de passe : «pws»
contraseña: «pws»
senha: «pws»
пароль: «pws»
密码: «pws»
FTP: 230 user ‹user› logged in, pass «pws»
ftp://‹host› USER ‹user› PASS «pws»
smtp AUTH LOGIN: user=‹user› pass=«pws»
a1 LOGIN ‹user› «pws»
C: A001 LOGIN "‹user›" "«pws»"
> AUTH ‹user› «pws»
-> PASS «pws»
REDISCLI_AUTH=«pws»
redis: config set requirepass «pws»
ACL SETUSER ‹user› on >«pws» ~* +@all
user ‹user› on >«pws» allkeys
memcached sasl: ‹user› / «pws»
KAFKA sasl.jaas.config=PlainLoginModule required username="‹user›" password="«pws»";
ssl.keystore.password=«pws»
ssl.truststore.password: «pws»
-Djavax.net.ssl.keyStorePassword=«pws»
JAVA_OPTS="-Djavax.net.ssl.trustStorePassword=«pws»"
--spring.datasource.password=«pws»
signingConfigs { release { storePassword '«pws»'; keyPassword '«pws»' } }
MYAPP_RELEASE_STORE_PASSWORD=«pws»
ansible_become_pass: «pws»
ansible_ssh_pass=«pws» ansible_host=10.0.0.3
--extra-vars "ansible_sudo_pass=«pws»"
vault_password: «pws»
chef: data_bag password "«pws»"
puppet: Sensitive value 'admin_password' => '«pws»'
salt: mysql.pass: «pws»
vagrant: config.ssh.password = "«pws»"
packer: "ssh_password": "«pws»",
cloud-init: chpasswd: list: ‹user›:«pws»
  - name: ‹user›⏎    plain_text_passwd: «pws»
kickstart: rootpw --plaintext «pws»
rootpw «pws»
preseed: d-i passwd/root-password password «pws»
autounattend: <AdministratorPassword><Value>«pws»</Value>
<Password>«pws»</Password>
<AutoLogon><Password><Value>«pws»</Value></Password></AutoLogon>
DefaultPassword REG_SZ «pws»
reg query: DefaultPassword    REG_SZ    «pws»
net use \\srv\c$ /user:‹user› «pws»
New-LocalUser -Name ‹user› -Password «pws»
Set-ADAccountPassword ‹user› -NewPassword «pws»
$cred = New-Object PSCredential("‹user›", "«pws»")
Connect-VIServer -User ‹user› -Password «pws»
govc: GOVC_PASSWORD=«pws»
esxcli --username ‹user› --password «pws»
mount.cifs //s/x /m -o username=‹user›,password=«pwu»
/etc/ppp/chap-secrets: ‹user› * "«pws»" *
pppoe: ‹user› * «pws» *
ipsec.secrets: ‹user› : XAUTH "«pws»"
: PSK "«pws»"
%any : PSK "«pws»"
openvpn --auth-user-pass: ‹user› «pws»
wpa_supplicant: psk="«pws»"
hostapd: wpa_passphrase=«pws»
802-11-wireless-security.psk:«pws»
iwd: Passphrase=«pws»
"wifi":{"ssid":"x","pass":"«pws»"}
WIFI:T:WPA;S:home;P:«mixed12»;;
const char* password = "«pws»";
MQTT: connect as ‹user› with «pws» refused
client.username_pw_set("‹user›", "«pws»")
amqp: ACCESS_REFUSED - Login was refused using PLAIN: ‹user› «pws»
ssh ‹user›@‹host› # pw «pws»
sshpass -e with SSHPASS=«pws»
scp via pscp -pw «pws» a b:
winscp open sftp://‹user›:«pwu»@‹host›/
lftp ‹user›:«pws»@‹host›
rsync --password-file=<(echo «pws»)
RSYNC_PASSWORD=«pws» rsync a b::c
smbclient -L srv -U '‹user›%«pws»'
rpcclient -U "‹user›%«pws»" 10.0.0.4
kinit ‹user› <<< '«pws»'
echo '«pws»' | kinit ‹user›@X
samba-tool user setpassword ‹user› --newpassword='«pws»'
smbpasswd: new password «pws»
ldapmodify: userPassword: «pws»
bindpw «pws»
ldap.bind_password = «pws»
nss: rootbindpw «pws»
rootdn / rootpw «pws»
LDAP_BIND_PW: "«pws»"
htpasswd: adding ‹user› with «pws»
grafana-cli admin reset-admin-password «pws»
GF_SECURITY_ADMIN_PASSWORD=«pws»
wp user create ‹user› a@b.c --user_pass=«pws»
drush user:password ‹user› "«pws»"
rails c: User.first.update(password: "«pws»")
manage.py: DJANGO_SUPERUSER_PASSWORD=«pws»
artisan: Hash::make('«pws»')
bcrypt.hashSync("«pws»", 10)
passlib.hash("«pws»")
crypt('«pws»', gen_salt('bf'))
SELECT crypt('«pws»', password) FROM users
PGP_SYM_ENCRYPT('x', '«pws»')
AES_ENCRYPT('x', '«pws»')
SELECT * FROM users WHERE login='‹user›' AND password='«pws»'
WHERE pass = MD5('«pws»')
CREATE USER ‹user› WITH PASSWORD '«pws»';
CREATE ROLE ‹user› LOGIN ENCRYPTED PASSWORD '«pws»'
CREATE USER MAPPING FOR x OPTIONS (user '‹user›', password '«pws»')
dblink('host=x user=‹user› password=«pwu»')
CHANGE MASTER TO MASTER_USER='‹user›', MASTER_PASSWORD='«pws»'
CREATE DATABASE LINK x CONNECT TO ‹user› IDENTIFIED BY "«pws»"
EXEC sp_addlogin '‹user›', '«pws»'
BACKUP ... WITH PASSWORD = '«pws»'
cypher-shell -u neo4j -p «pws»
mongosh --username ‹user› --password «pws»
mongo: Authentication failed for ‹user› with mechanism SCRAM, pwd: '«pws»'
couchbase-cli -u ‹user› -p «pws»
arangosh --server.password «pws»
pg_dump: PGPASSWORD='«pws»'
.pgpass: ‹host›:5432:*:‹user›:«pws»
my.cnf: [client]⏎user=‹user›⏎password="«pws»"
nexus: admin.password «pws»
artifactory: user ‹user› password «pws» 401
sonar.password=«pws»
-Dsonar.login=‹user› -Dsonar.password=«pws»
jenkins: hudson.model.User ‹user› password=«pws»
gitlab-rails: root password: «pws»
gitlab_rails['initial_root_password'] = "«pws»"
argocd login ‹host› --username ‹user› --password «pws»
argocd initial admin secret: «mixed16»
rancher bootstrap password: «mixed20»
Bootstrap Password: «pws»
portainer: admin password «pws» too short
minio: MINIO_ROOT_PASSWORD=«pws»
keycloak: KC_BOOTSTRAP_ADMIN_PASSWORD="«pws»"
kc.sh: --password «pws»
kcadm.sh config credentials --user ‹user› --password «pws»
elasticsearch-reset-password: New value: «mixed20»
PASSWORD elastic = «mixed20»
Changed password for user kibana_system: PASSWORD kibana_system = «mixed20»
Password for the elastic user: «mixed20»
The generated password for the elastic built-in superuser is : «mixed20»
openHAB: users add ‹user› «pws» administrator
unifi: x_passphrase: «pws»
mikrotik: /user add name=‹user› password=«pws» group=full
set system login user ‹user› authentication plain-text-password «pws»
username ‹user› privilege 15 secret «pws»
tacacs-server key «pws»
radius-server host 10.0.0.2 key «pws»
snmp-server community «pws» RO
neighbor 10.0.0.3 password «pws»
crypto isakmp key «pws» address 10.0.0.4
ppp chap password 0 «pws»
FreeRADIUS: Cleartext-Password := "«pws»"
User-Password = "«pws»"
secret = «pws» # radius client
sip: secret=«pws» for peer 100
asterisk: [100]⏎secret=«pws»
freeswitch: <param name="password" value="«pws»"/>
vnc: x11vnc -passwd «pws»
vncpasswd <<< «pws»
teamviewer passwd «pws»
anydesk --set-password <<< "«pws»"
rdp: password 51:b:«HEX120»
7z a -p«pws» x.7z y
unrar x -p«pws» a.rar
zip: --password «pws»
gpg --passphrase «pws»
openssl rsa -passin 'pass:«pws»'
openssl enc -k «pws» -d
ansible-vault: password «pws» incorrect
sops: passphrase «pws»
restic: wrong password or no key found: «pws»
cryptsetup luksOpen <<< «pws»
veracrypt -p «pws» x
bitlocker: Password «pws» rejected
hdiutil attach -passphrase «pws»
ssh-keygen -N '«pws»' -f k
ssh-keygen -p -P "«pws»" -N "«pws»" -f k
expect: send "«pws»\r"
autoexpect: send -- "«pws»\r"
spawn su; send "«pws»\n"
PIN: «digits6»
sshpass -p '«pws»' rsync -az ./dist/ ‹user›@‹host›:/srv/www
FATAL:  28P01: password authentication failed (tried "«pws»") for user "‹user›"
ansible_become_password: «pws»
services:⏎  db:⏎    image: postgres:16⏎    environment:⏎      POSTGRES_PASSWORD: «pws»
mysql -u ‹user› -p«pws» -h ‹host› shop < dump.sql
ALTER USER '‹user›'@'%' IDENTIFIED BY '«pws»';
<property name="password" value="«pws»"/>
ldapsearch -x -D "cn=admin,dc=example,dc=org" -w «pws» -b dc=example,dc=org
smbclient //‹host›/backup -U ‹user›%«pws»
keytool -list -keystore release.jks -storepass «pws»
signingConfigs {⏎    release {⏎        storePassword '«pws»'⏎        keyPassword '«pws»'⏎    }⏎}
$cred = New-Object PSCredential("‹user›", (ConvertTo-SecureString "«pws»" -AsPlainText -Force))
imap.login('‹user›@example.org', '«pws»')
openssl pkcs12 -in client.p12 -nodes -passin pass:«pws»
WPA2: network={⏎  ssid="office"⏎  psk="«pws»"⏎}
  hashed=no username=‹user› plaintext_password=«pws»
Invoke-Sqlcmd -ServerInstance ‹host› -Username ‹user› -Password '«pws»'
helm upgrade --install pg ./pg --set auth.postgresPassword=«pws»
ELASTIC_PASSWORD=«pws» docker compose up -d elasticsearch
POST /login body={"username":"‹user›","password":"«pws»"} -> 401
user.password_confirmation = "«pws»"
page.fill('input[name=password]', '«pws»')
- name: admin⏎  initialPassword: "«pws»"
curl -d 'grant_type=password&username=‹user›&password=«pwu»' https://‹host›/oauth/token
mosquitto_sub -h ‹host› -u ‹user› -P '«pws»' -t 'sensors/#'
DJANGO_SUPERUSER_PASSWORD=«pws» python manage.py createsuperuser --noinput
"ConnectionPassword": "«pws»",
expect "Password:" { send "«pws»\r" }
The new root password is: «pws»
restic: RESTIC_PASSWORD="«pws»" restic -r /mnt/backup snapshots
net user ‹user› «pws» /add
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
javax.mail.AuthenticationFailedException: 535 5.7.8 user=‹user› password=«pws»
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
requirepass «pws»
Selenium: driver.findElement(By.id("pwd")).sendKeys("«pws»");
sftp.connect({ host: '‹host›', username: '‹user›', password: '«pws»' })
JAAS: org.apache.kafka.common.security.plain.PlainLoginModule required username="‹user›" password="«pws»";
temporary password for ‹user› is "«pws»" and must be changed at first login
MINIO_ROOT_USER=‹user› MINIO_ROOT_PASSWORD=«pws» minio server /data
@user = User.new(email: "a@example.org", password: "«pws»")
password «pws» does not match the confirmation
Enter MySQL password for ‹user›: «pws»
Invalid login: 535 5.7.8 Username and Password not accepted for ‹user›/«pws»
DEBUG form data: {'login': '‹user›', 'pw': '«pws»', 'remember': 'on'}
params: {"user"=>{"email"=>"a@b.c", "password"=>"«pws»"}}
Parameters: {"username"=>"‹user›", "password"=>"«pws»", "commit"=>"Log in"}
POST data: login=‹user›&passwd=«pwu»&submit=1
var pass = "«pws»"; // fixme
private static final String DB_PASS = "«pws»";
auth := smtp.PlainAuth("", "‹user›@example.com", "«pws»", "smtp.example.com")
cfg.Passwd = "«pws»"
db, err := sql.Open("mysql", "‹user›:«pwu»@tcp(localhost)/x")
$config['password'] = "«pws»";
password => "«pws»",
password: "«pws»",
:password => "«pws»"
password "«pws»"
password='«pws»',
PASSWORD = '«pws»'
Password = "«pws»",
<Password Value="«pws»"/>
-Password "«pws»"
/p:"«pws»"
--pass="«pws»"
--passphrase="«pws»"
-passwd «pws»
sudo -S <<< "«pws»" ls
sshpass -p "«pws»" ssh ‹user›@‹host›
chpasswd <<< "‹user›:«pws»"
print(f"pw = «pws»")
console.log("password:", "«pws»")
logger.debug("Using password %s", "«pws»")
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
psql: error: FATAL:  password authentication failed for user "‹user›" (PGPASSWORD was «pws»)
{ "host": "‹host›", "user": "‹user›", "pass": "«pws»", "port": 21 }
let opts = MySqlConnectOptions::new().username("‹user›").password("«pws»");
rabbitmqctl add_user ‹user› «pws»
rabbitmqctl change_password ‹user› '«pws»'
kinit ‹user›@EXAMPLE.ORG <<< "«pws»"
htpasswd -bc /etc/nginx/.htpasswd ‹user› «pws»
useradd -m ‹user› && echo '«pws»' | passwd --stdin ‹user›
vault write auth/userpass/users/‹user› password=«pws» policies=default
vault kv put secret/‹word› password='«pws»'
keycloak: kcadm.sh config credentials --server https://‹host› --realm master --user ‹user› --password «pws»
KC_BOOTSTRAP_ADMIN_PASSWORD=«pws»
KEYCLOAK_ADMIN_PASSWORD: "«pws»"
PGADMIN_DEFAULT_PASSWORD: «pws»
      MARIADB_ROOT_PASSWORD: '«pws»'
docker run -d -e MSSQL_SA_PASSWORD='«pws»' -p 1433:1433 mssql
nexus: curl: default admin password in admin.password is «pws»
kubectl -n argocd: initial admin password⏎password: «pws»
secret.stringData:⏎  username: ‹user›⏎  password: "«pws»"
gitlab_rails['initial_root_password'] = "«pws»"
gitlab_rails['smtp_password'] = "«pws»"
gsettings: ('org.gnome.system.proxy.http', 'authentication-password', '«pws»')
<input type="password" name="pwd" value="«pws»">
driver.find_element(By.NAME, "password").send_keys("«pws»")
await expect(login('‹user›', password: '«pws»')).rejects.toThrow();
wrong password for ‹user›: expected "«pws»"
AssertionError: password mismatch⏎  - expected: '«pws»'⏎  + actual: undefined
net.smtp: auth login ‹user› password «pws» rejected by server
server.ssl.key-store-password=«pws»
<Connector keystoreFile="conf/k.jks" keystorePass="«pws»" />
javax.net.ssl.trustStorePassword=«pws»
-Djavax.net.ssl.keyStorePassword=«pws»
codesign: security unlock-keychain -p "«pws»" build.keychain
security import dist.p12 -k build.keychain -P «pws»
fastlane match: MATCH_PASSWORD=«pws»
apple_id_password: «pws»
signtool sign /f cert.pfx /p «pws» /fd sha256 app.exe
Import-PfxCertificate -Password (ConvertTo-SecureString -String '«pws»' -AsPlainText -Force) -FilePath c.pfx
runas.exe says: user ‹user› password "«pws»" expired
schtasks /create /tn sync /tr sync.cmd /ru ‹user› /rp «pws»
psexec \\‹host› -u ‹user› -p «pws» cmd
mount -t cifs //‹host›/data /mnt -o username=‹user›,password=«pws»
/etc/samba/cred:⏎username=‹user›⏎password=«pws»⏎domain=CORP
ppp chap-secrets: "‹user›" * "«pws»" *   # password
rootpw --plaintext «pws»
auth-user-pass contents:⏎‹user›⏎«pws»   <- password
hostapd.conf: wpa_passphrase=«pws»
interface wlan0: WPA password "«pws»" too short?
mosquitto_passwd -b /etc/mosquitto/pw ‹user› «pws»
tomcat-users.xml: <user username="admin" password="«pws»" roles="manager-script"/>
proxmox: pvesh create /access/users -userid ‹user›@pve -password «pws»
PASSWORD="«pws»"; mysql -u root -p"$PASSWORD"
your one-time password for the first login is «pws»
Hei, passordet til testserveren er «pws»
Das Passwort für den Benutzer ‹user› lautet «pws»
zip -P '«pws»' -r logs.zip logs/
qpdf --password=«pws» --decrypt in.pdf out.pdf
DatabaseError: ORA-28001: the password has expired (user ‹user›, password «pws»)
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
WARNING: token «mixed40» was found in image layer 3
lerna publish: NPM_TOKEN=«npm»
oauth2.TokenError: refresh_token «url64» is not active
ghs_ token leaked: «ghs»
DISCORD_TOKEN=«discord» node .
Bot token "«telegram»" → 404
curl -XPOST -H 'X-Auth-Token: «mixed32»' ‹host›
pulumi login: PULUMI_ACCESS_TOKEN=pul-«hex40»
datadog-ci: accessToken='«mixed40»'
session cookie: sessionid=«low32»; csrftoken=«mixed64»
wss://‹host›/ws?auth=«mixed40» closed 4401
gl: CI_REGISTRY_PASSWORD=«glpat»
bearer: «url64»
app.use(auth("«mixed48»"))
gcloud? no, databricks: token = dapi«hex32»
ansible-galaxy collection publish --token «hex40»
mastodon: access_token: «url43»
FCM server key AAAA«url7»:APA91b«url134»
"csrf_token":"«b64_44»"
HASS_TOKEN=«jwt»
vault write auth/approle/login role_id=x secret_id=«uuid»
X-Shopify-Access-Token: «shopify»
docker trust? DOCKER_PASSWORD=«dckr»
code=401 msg="token «url43» unknown"
login cookie value «mixed40» expired
X-GitLab-Token: «mixed32»
spotify: {"access_token":"BQ«url120»"}
jenkins api token for bob: «hex34»
webhook: https://hooks.slack.com/services/«slackhook»
netlify sites:list --auth nfp_«mixed36»
rubygems: key rubygems_«hex48»
Travis: travis encrypt --token «mixed22»
Session «mixed43» has been revoked
set-cookie: JSESSIONID=«HEX32»; Path=/; HttpOnly
Cookie: connect.sid=s%3A«url32».«mixed43»
Cookie: laravel_session=«mixed40»
Cookie: _gitlab_session=«hex32»
Cookie: sessionid=«low32»; csrftoken=«mixed32»
PHPSESSID=«low26»; path=/
ASP.NET_SessionId=«low24»
sessionToken: «mixed25»
"sessionToken":"r:«hex32»"
X-Vault-Token: s.«mixed24»
vault login s.«mixed24»
vault token revoke hvs.«mixed24»
VAULT_TOKEN=«mixed26»
Unseal Key 1: «b64_44»
Initial Root Token: s.«mixed24»
NOMAD_TOKEN=«uuid»
kubectl --token=«mixed48» get pods
kubeadm join 10.0.0.1:6443 --token «kubeadm» --discovery-token-ca-cert-hash sha256:‹hex64›
docker swarm join --token SWMTKN-1-«low50»-«low25» 10.0.0.1:2377
oc login --token=sha256~«url43»
gh auth login --with-token <<< «ghp»
ngrok authtoken «mixed27»_«mixed21»
ngrok config add-authtoken «mixed49»
cloudflared tunnel run --token «b64_88»
codecov -t «uuid»
CODECOV_TOKEN=«uuid»
coveralls repo_token: «mixed33»
vercel deploy --token «mixed24»
netlify deploy --auth=«url43»
circleci setup --token «hex40»
Circle-Token: «hex40»
PRIVATE-TOKEN: «mixed20»
JOB-TOKEN: «mixed20»
curl --header "PRIVATE-TOKEN: «glpat»" https://‹host›/api/v4
//‹host›/:_authToken=«uuid»
//registry.example.com/:_auth=«b64_44»
npm config set //‹host›/:_authToken «mixed36»
[pypi]⏎username = __token__⏎password = «pypi»
poetry config pypi-token.main «pypi»
[registries.x]⏎token = "«mixed35»"
gem push --key x :rubygems_api_key: rubygems_«hex48»
oauth_token="«mixed50»", oauth_token_secret="«mixed45»"
access_token=«mixed40»&expires_in=3600
#access_token=«url60»&token_type=bearer
{"access_token":"«url60»","token_type":"Bearer","refresh_token":"«url40»"}
grant_type=refresh_token&refresh_token=«url60»
code_verifier=«url43»
GET /callback?code=«url40»&state=‹mixed16›
GET /reset-password?token=«url43» 200
https://example.com/invite?invitation_token=«url20»
https://example.com/confirm/«url43»?reset_token=«hex40»
magic link: https://app.example.com/login?t=«url43»
wss://x.example.com/socket?access_token=«mixed40»
ws://127.0.0.1:8888/?token=«hex48»
http://127.0.0.1:8888/lab?token=«hex48»
Authorization: token «hex40»
Authorization: Token token="«hex40»", email="a@b.c"
Authorization: GenieKey «uuid»
Authorization: Bearer «mixed32»
'Authorization': `Bearer «url60»`
authorization: Bearer «uuid»
X-Auth-Token: gAAAAAB«url170»
X-CSRF-Token: «b64_88»
x-xsrf-token: «url43»
csrfmiddlewaretoken=«mixed64»
<input name="authenticity_token" value="«b64_88»">
<meta name="csrf-token" content="«b64_88»">
grpc metadata: authorization=[Bearer «url60»]
bot.run("«discord»")
new Client().login('«discord»')
TelegramBot('«telegram»')
https://api.telegram.org/bot«telegram»/getMe
slack: token=«xoxb» channel=x
Slack API error: invalid_auth («xoxb»)
https://discord.com/api/webhooks/‹digits18›/«url68»
https://‹word›.webhook.office.com/webhookb2/«uuid»@‹uuid›/IncomingWebhook/«hex32»/‹uuid›
facebook: EAAG«mixed120» expired
line notify: Bearer «mixed43»
dropbox: sl.«url120» expired
Square access token EAAA«url60»
mapbox sk.eyJ1Ijoi«mixed40».«url22»
twitter bearer_token=AAAAAAAAAAAAAAAAAAAAA«mixed60»%3D«mixed30»
pushover user=«low30» token=«low30»
HASSIO_TOKEN: «hex112»
Home Assistant long-lived token «jwt»
jenkins: crumb «hex64», token 11«hex32»
buildkite-agent start --token «hex50»
agent registration token «mixed29» is invalid
gitlab-runner register --registration-token «mixed20»
./config.sh --url https://github.com/o/r --token «up29»
TOKEN="«mixed40»"; curl -H "Authorization: Bearer $TOKEN" x
token = '«url43»'
token: «mixed24»
token «mixed24» has expired
revoked token: «url43»
Token mismatch: expected «hex40», got «hex40»
invalid refresh token '«url43»'
device token «hex64» is not registered
session id: «mixed26»
session_key=«hex40»
auth_token: «hex40»
user logged in, sid=«mixed26»
jwt refresh «url64» reused
setAuthToken("«mixed40»")
localStorage.setItem('token', '«mixed40»')
app.use(session({ secret: '«mixed32»' }))
app.config['SECRET_KEY'] = '«hex48»'
SECRET_KEY = 'django-insecure-«url50»'
secret_key_base: «hex128»
cookie_secret: «b64_44»
JWT_SECRET=«mixed40»
jwt.sign(payload, '«mixed32»')
jwt.verify(token, "«mixed40»")
hmac.new(b"«mixed32»", msg, sha256)
push: token ExponentPushToken[«mixed22»] revoked
slack cookie d=xoxd-«url120»
Cookie: d=«url60»; SameSite=None
Cookie: auth_tkt=«b64_64»
Cookie: wordpress_logged_in_«hex32»=«url43»
Set-Cookie: remember_token=«url43»; Path=/
Set-Cookie: sid=«url43»; Secure
set-cookie: __Host-session=«url60»
rack.session=«b64_88»
_rails_session=«url80»--«hex40»
"PHPSESSID": "«low26»"
jsessionid=«HEX32»
;jsessionid=«HEX32»?x=1
X-Session-Id: «mixed43»
X-Amz-Security-Token=«url80»
invalid session token «mixed43»
Session «mixed32» expired
session «url43» was terminated by admin
bearer «url43» rejected
token_info: {token: «url43»}
"id": 3, "token": "«mixed20»"
deploy token gldt-«url20» is revoked
token=«low20»
auth=«mixed32»
?auth_token=«mixed20»
?t=«url43» login link
Your login code link: https://example.com/magic?token=«url43»
one-time login link: https://example.com/user/reset/1/‹digits10›/«url43»/login
https://example.com/users/password/edit?reset_password_token=«url20»
password reset token: «hex40»
activation token «url32»
webhook url https://hooks.example.com/h/«mixed24»
https://outlook.office.com/webhook/«uuid»@‹uuid›/IncomingWebhook/«hex32»/‹uuid›
https://hooks.zapier.com/hooks/catch/‹digits7›/«low7»/
https://hc-ping.com/«uuid»
https://discordapp.com/api/webhooks/‹digits18›/«url68»
https://maker.ifttt.com/trigger/x/with/key/«url43»
https://chat.googleapis.com/v1/spaces/AAA/messages?key=«aiza»&token=«url43»
feed: https://example.com/feed.atom?private_token=«mixed20»
ical: https://calendar.example.com/private-«hex32»/basic.ics
X-Plex-Token=«mixed20»
plex: token «mixed20» invalid
radarr: X-Api-Key: «hex32»
jellyfin: MediaBrowser Token="«hex32»"
spotify refresh_token AQ«url129»
oauth: code «url43» already used
device_code=«url40»
OAuth verifier «url43» mismatch
request_token «mixed27» unknown
xsrf: cookie «url32» header «url32»
nonce/token «url43» replayed: csrf
recaptcha token «url200» invalid
apns device token: «hex64»
fcm registration token «url22»:APA91b«url134»
pulsar: token:«jwt»
nats: nkey seed SU«b32_56»
nats creds: SUAM«b32_54»
mqtt: token «mixed40» unauthorised
k3s: K10«hex64»::server:«hex32»
rke2 token: K10«hex64»::server:«hex32»
join token «kubeadm»
talos: token: «kubeadm»
bootstrap-token: «kubeadm»
microk8s join 10.0.0.1:25000/«hex32»/‹hex12›
salt-api X-Auth-Token: «hex40»
teamcity: Bearer eyJ0eXAiOiAiVENWMiJ9.«url22».«url48»
bamboo: Authorization: Bearer «b64n44»
jira: ATATT3xFfGF0«url150»
bitbucket app password ATBB«mixed32»
figma: X-Figma-Token: figd_«url40»
linear oauth: lin_oauth_«mixed64»
notion: secret_«mixed43»
todoist: Bearer «hex40»
monday: Authorization: «jwt»
zendesk: ‹user›@x.com/token:«mixed40»
freshdesk: «mixed20»:X
twilio auth token: «hex32»
TWILIO_AUTH_TOKEN '«hex32»'
messagebird: AccessKey «mixed25»
remote: HTTP Basic: Access denied. The provided token «glpat» has expired
Run echo "GH_TOKEN=«ghp»" >> $GITHUB_ENV
gh auth login --with-token <<< "«gho»"
//npm.example.test/:_authToken=«npm»
slack_sdk.errors.SlackApiError: invalid_auth (token «xoxb»)
SLACK_APP_TOKEN=«xapp»
curl -X POST -d '{"text":"deployed"}' https://hooks.slack.com/services/«slackhook»
uv publish --token «pypi»
huggingface_hub: HF_TOKEN="«hf»" is not allowed to access gated repo
client.login("«discord»");
https://api.telegram.org/bot«telegram»/sendMessage returned 403 Forbidden
export VAULT_TOKEN=«hvs»
sentry-cli --auth-token «sntrys» releases new 1.4.0
FLY_API_TOKEN="FlyV1 «fly»"
kubeadm join 10.1.2.7:6443 --token «kubeadm» --discovery-token-ca-cert-hash sha256:‹hex64›
mvn sonar:sonar -Dsonar.login=«sonar»
credentials "app.terraform.test" {⏎  token = "«tfe»"⏎}
gitlab-runner register --registration-token «glrt» --url https://‹host›/
dotnet nuget push *.nupkg --api-key «oy2» --source https://nuget.example.test/v3
echo «dckr» | docker login -u ‹user› --password-stdin
GITHUB_TOKEN: «ghpat»
Authorization: token «ghp»
Set-Cookie: session_id=«mixed48»; Path=/; HttpOnly; Secure
> GET /api/builds HTTP/2⏎> authorization: Bearer «mixed64»
{"error":"invalid_grant","refresh_token":"«url64»"}
[cargo] registries.internal token = "«mixed35»"
hass: Long-lived access token: «jwt»
ws.connect("wss://‹host›/socket?access_token=«url43»")
BUILDKITE_AGENT_TOKEN=«mixed50» buildkite-agent start
k3s agent --server https://10.1.2.7:6443 --token K10«hex64»::server:«hex32»
consul acl: X-Consul-Token: «uuid»
circleci: CIRCLE_TOKEN=«hex40» circleci orb publish
INFLUX_TOKEN=«url86»==
GET /api/v4/user?private_token=«glpat» 401
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
TELEGRAM_BOT_TOKEN=«telegram»
vault login «hvs»⏎Error authenticating: error looking up token: 403
SENTRY_AUTH_TOKEN=«sntrys»
fly deploy --access-token "«fly»"
  bootstrapToken:⏎    token: «kubeadm»
TF_TOKEN_app_terraform_test=«tfe»
[[runners]]⏎  name = "r1"⏎  token = "«glrt»"
dotnet nuget update source x --api-key «oy2»
docker login failed: unauthorized: personal access token «dckr» is expired
{"token":"«ghpat»","scopes":["repo","workflow"]}
composer config github-oauth.github.com «ghp»
jira = JIRA(server="https://jira.example.test", token_auth="«b64_44»")
"sessionToken": "r:«hex32»"
refresh token «url64» was already used, revoking the token family
auth_token: «hex64»
if (token !== '«hex40»') return res.status(401).end()
X-Auth-Token: «hex32»
fastlane: MATCH_TOKEN=«mixed40» in env
GRAFANA_TOKEN=glsa_«mixed32»_«hex8»
password reset link: https://‹host›/reset?token=«url43»
pusher.trigger failed, bearer token "«mixed64»"
fetch(url, { headers: { Authorization: "Bearer «url43»" } })
const TOKEN = "«url43»"
let token = "«mixed40»";
self.token = "«mixed40»"
config.auth_token = '«mixed32»'
-H "X-Token: «mixed32»"
"token" : "«mixed32»",
<token>«mixed32»</token>
token "«mixed32»"
TOKEN: «mixed32»
access-token: «mixed40»
refreshToken='«mixed40»'
session=«mixed40»; Path=/
bad session «mixed40»
expired bearer «mixed40»
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
error: failed to push some refs; GITHUB_TOKEN «ghp» does not have write access
Octokit.configure { |c| c.access_token = "«ghp»" }
curl -H "Authorization: token «gho»" https://api.github.com/user/repos
octocrab::OctocrabBuilder::new().personal_token("«ghpat»".to_string())
releaser: token: «ghs»
renovate.json: "token": "«ghpat»",
gitlab.Gitlab("https://gitlab.example.test", private_token="«glpat»")
curl --header "JOB-TOKEN: «glpat»" --upload-file a.tgz https://gitlab.example.test/api/v4/projects/7/packages
CI_SERVER_TOKEN «glrt» is not registered
always-auth=true⏎_authToken=«npm»
npm token list: id ‹hex6› token «npm» created 2026-01-01
pnpm publish failed with NPM_TOKEN=«npm»
bolt: SlackRequestError invalid_auth { token: '«xoxb»' }
$slack = new SlackClient("«xoxb»");
ERROR socket-mode: apps.connections.open failed with «xapp»
curl -X POST -H 'Content-type: application/json' --data @m.json https://hooks.slack.com/services/«slackhook»
flit publish: FLIT_PASSWORD=«pypi»
maturin upload --password «pypi»
  password: «pypi»  # __token__
huggingface-cli login --token «hf» --add-to-git-credential
AutoModel.from_pretrained("acme/llama", use_auth_token="«hf»")
discord.Client().run("«discord»")
DISCORD_TOKEN: "«discord»"
new TelegramBot('«telegram»', { polling: true });
GET https://api.telegram.org/bot«telegram»/getUpdates 409 Conflict
VAULT_TOKEN: "«hvs»"
> X-Vault-Token: «hvs»
hvac.Client(url='https://vault.example.test', token='«hvs»')
provider "digitalocean" { token = "«dop»" }
sentry.properties⏎auth.token=«sntrys»
SENTRY_AUTH_TOKEN "«sntrys»" is missing scope project:releases
fly machine run . --access-token «fly»
[init] Using token: «kubeadm»
bootstrap-token-auth: discovery.token «kubeadm» not found in cluster-info
sonarqube: 401 for token «sonar»
terraform login: wrote token «tfe» to credentials.tfrc.json
docker-credential: {"Username":"‹user›","Secret":"«dckr»"}
nuget setapikey «oy2»
dotnet nuget push failed (403): The specified API key «oy2» is invalid
Authorization: Bearer «mixed48»⏎Content-Type: application/json⏎⏎{"error":"insufficient_scope"}
req, _ := http.NewRequest("GET", url, nil); req.Header.Set("Authorization", "Bearer «mixed40»")
Set-Cookie: sid=«mixed32»; Max-Age=86400; HttpOnly; SameSite=Lax
Cookie: PHPSESSID=«low26»
document.cookie → "session=«mixed64»"
{"access_token":"«mixed64»","refresh_token":"«mixed64»","expires_in":1800}
session.auth_token = "«hex40»"
rails: params {"authenticity"=>"ok", "reset_password_token"=>"«url20»"}
Click here to reset your password: https://shop.example.org/password/reset/«hex64»
magic link: https://app.example.org/login?token=«mixed43»
wss://‹host›/live?token=«url32» closed with 4401
heroku auth:token⏎«uuid»
HEROKU_API_KEY: «uuid»
boundary authenticate: token "«mixed64»" stored in keyring
teamcity: curl -H "Authorization: Bearer «mixed120»" https://‹host›/app/rest/builds
NETLIFY_AUTH_TOKEN=«url40» netlify deploy --prod
vercel --token «mixed24» --prod
SNYK_TOKEN=«uuid» snyk test
CODECOV_TOKEN: «uuid»
coveralls: repo_token: «mixed33»
cachix authtoken «mixed120»
{"type":"auth","access_token":"«mixed183»"}
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
tls: private key does not match public key⏎«pem»
ssh -i <(echo "«pem_json»") x
server-0 | «pem_compose»
[stderr] boom «pem_bracket»
Nov 3: dump «pem_syslog»
@@ -1,9 +0,0 @@⏎«pem_diff»
less -N id_rsa⏎   12 «pem_numbered»
TLS_KEY: |-⏎    «pem_indent2»
Dropbear: cannot parse⏎«pem_openssh»
node:crypto ERR_OSSL: «pem_nofooter»
stack trace cut⏎«pem_noheader»
keybase pgp export⏎«pgp»
sops --age «age» x.yaml
electrum: importing «wif» failed
hdwallet: root «xprv» wrong version
nostril --sec «nsec»
Error: invalid private key "0x«hex64»"
foundry: vm.envUint("PK") 0x«hex64» private key
MNEMONIC="«words12»" npx hardhat deploy
passphrase/mnemonic mismatch: «words24»
recover wallet from "«words12»"
solana airdrop failed: keypair «sol_array»
Keypair bytes «sol_array_bare» have wrong length
import {«sol58»} into phantom
{"secret_key":"«sol58»"}
nano wallet: seed «HEX64»
seed = "«hex64»" # ed25519
wg genkey → «b64_44»? no: PrivateKey = «b64_44»
jwk: {"kty":"EC","d":"«url43»","crv":"P-256"}
signingKey privateKey: '«b64_44»'
APNS_KEY="«pem_json»"
github app: PRIVATE_KEY=«pem_json» malformed
PRIVATE_KEY=«hex64»
private_key: "0x«hex64»"
--private-key 0x«hex64»
cast send --private-key «hex64» 0x‹hex40›
DEPLOYER_KEY=0x«hex64»
accounts: ["0x«hex64»"]
new ethers.Wallet("0x«hex64»", provider)
const wallet = new Wallet('«hex64»')
web3.eth.accounts.privateKeyToAccount('0x«hex64»')
Account.from_key("0x«hex64»")
geth account import: key «hex64» already exists
(0) 0x«hex64» (10000 ETH)
Private Keys⏎==================⏎(0) 0x«hex64»⏎(1) 0x«hex64»
anvil: Private Key: 0x«hex64»
secret exponent: «hex64»
nostr private key (hex): «hex64»
nsec: «nsec»
bitcoin-cli importprivkey «wif»
dumpprivkey → «wif»
WIF=«wif»
"privkey": "«wif»"
xprv: «xprv»
master key «xprv»
mnemonic: «words12»
Mnemonic: "«words24»"
export MNEMONIC="«words12»"
seed phrase is «words12»
Recovery phrase: «words24»
backup words: «words12»
1. restore with the words «words12»
wallet import --mnemonic "«words12»"
Your secret recovery phrase⏎«words12»
{"mnemonic":{"phrase":"«words12»","locale":"en"}}
seed words were «words24»
accounts: { mnemonic: '«words12»' }
--seed-phrase '«words12»'
solana-keygen: secret key «sol_array»
let kp = Keypair::from_bytes(&«sol_array»)
SOLANA_PRIVATE_KEY=«sol58»
phantom export: «sol58»
~/.config/solana/id.json: «sol_array»
PresharedKey = «b64_44»
wg set wg0 private-key «b64_44»
wg genkey: «b64_44»
age: «age»
# public key: age1‹low58›⏎«age»
SOPS_AGE_KEY=«age»
{"kty":"OKP","crv":"Ed25519","d":"«url43»","x":"‹url43›"}
{"kty":"RSA","n":"‹url342›","e":"AQAB","d":"«url342»"}
"priv_key":{"type":"tendermint/PrivKeyEd25519","value":"«b64_88»"}
private key (base64): «b64_44»
ed25519 secret: «b64_88»
signing seed «hex64»
ed25519 seed: «hex64»
secret scalar «hex64»
TLS key:⏎«pem»
ssh key:⏎«pem_openssh»
  key: |⏎    «pem_indent2»
SSH_PRIVATE_KEY="«pem_json»"
"private_key": "«pem_json»"
echo "«pem_json»" > id_rsa
web_1 | «pem_compose»
+«pem_diff»
key dump: «pem_bracket»
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ«b64n400»
private_key_b64: LS0tLS1CRUdJTiB«b64n400»
tls.key: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ«b64n300»
gpg: «pgp»
nano: seed=«HEX64»
monero spend key: «hex64»
Secret spend key: «hex64»
view key (secret) «hex64»
polkadot: secret seed 0x«hex64»
subkey: Secret seed:       0x«hex64»
stellar: SC«b32_54» is the secret seed
stellar secret S«b32_55»
xrp: family seed s«b58_28»
tezos secret key edsk«b58_50»
sui keytool import: suiprivkey1«low58»
cosmos: unsafe export: «hex64»
near: ed25519:«sol58»
aptos private key ed25519-priv-0x«hex64»
keypair (64 bytes hex): «hex128»
wallet restored: «words12»
phrase="«words24»" passphrase=""
12-word phrase: «words12»
trezor: mnemonic «words24»
polkadot: Secret phrase:       «words12»
subkey inspect "«words12»"
near: seedPhrase: «words12»
cosmosd keys add x --recover⏎> Enter your bip39 mnemonic⏎«words24»
solana-keygen recover: «words12»
hardhat: PRIVATE_KEY «hex64» too short
truffle: HDWalletProvider("«words12»")
HDWalletProvider(['0x«hex64»'])
brownie: accounts.add('0x«hex64»')
eth_private=«hex64»
signer key 0x«hex64»
vm.startBroadcast(0x«hex64»)
evm private key «hex64» has no funds
keystore decrypted: «hex64» (private)
sk=«hex64»
"sk": "«hex64»"
secretKey: Uint8Array(64) «sol_array»
const secret = new Uint8Array(«sol_array»);
id.json contents: «sol_array»
privateKeyBase58: «sol58»
burner wallet «sol58»
WireGuard private key: «b64_44»
wg0.conf: PrivateKey=«b64_44»
PresharedKey=«b64_44»
tailscale: privkey:«hex64»
minisign secret key «b64n212»
signify: untrusted comment: secret key⏎RWRC«b64n140»
cosign.key: «pem»
pkcs8: «pem_json»
apple p8: «pem»
openssh-key-v1 raw b3BlbnNzaC1rZXktdjEAAAAA«b64n400»
putty: Private-Lines: 1⏎«b64n60»
age-keygen: «age»
ssh_host_ed25519_key: «pem_openssh»
kube client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ«b64n300»
tls.key: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t«b64n300»
{"kty":"EC","crv":"P-256","x":"‹url43›","y":"‹url43›","d":"«url43»"}
{"kty":"oct","k":"«url43»"}
jwk d=«url43»
tor: hs_ed25519_secret_key «b64_88»
ipns: private key CAESQ«b64n87»
libp2p identity.PrivKey "CAES«b64n88»"
"PrivKey": "CAESQ«b64n87»"
bls secret key 0x«hex64»
validator keystore secret: 0x«hex64»
lnd: seed: abandon? «words24»
monero: seed: «words24»
electrum seed: «words12»
electrum: "xprv": "«xprv»"
extended private key «xprv»
descriptor wpkh(«xprv»/84h/0h/0h/0/*)
wif: «wif»
private key WIF «wif» uncompressed
pub/priv pair: ‹sol_pub› / «sol58»
nginx: [emerg] cannot load certificate key "/etc/nginx/tls.key"⏎«pem»
apiVersion: v1⏎kind: Secret⏎stringData:⏎  tls.key: |⏎  «pem_indent2»
$ cat ~/.ssh/id_ed25519⏎«pem_openssh»
GITHUB_APP_PRIVATE_KEY="«pem_json»"
{"type":"rsa","privateKey":"«pem_json»","kid":"2026-01"}
2026-11-03T10:11:12Z web-1  | «pem_logged»
Nov  3 10:11:12 app[812]: «pem_syslog»
web_1  | «pem_compose»
diff --git a/deploy.key b/deploy.key⏎new file mode 100600⏎@@ -0,0 +1,10 @@⏎«pem_diff»
$ gpg --armor --export-secret-keys release@example.org⏎«pgp»
tail: file truncated⏎«pem_noheader»
OpenSSL::PKey::RSAError: Neither PUB key nor PRIV key: nested asn1 error⏎«pem_nofooter»
const pem = `«pem»`;
# created: 2026-05-01T12:00:00Z⏎# public key: age1‹low58›⏎«age»
bitcoin-cli importprivkey "«wif»" "cold" false
Error: invalid extended key checksum: «xprv»
nak event --sec «nsec» -c hello
PRIVATE_KEY=0x«hex64» forge script script/Deploy.s.sol --broadcast
const wallet = new ethers.Wallet("0x«hex64»", provider);
accounts: ["0x«hex64»"], // hardhat.config.js: deployer private key
Write down your recovery phrase: «words24»
{"wallet":{"seed_phrase":"«words12»"}}
solana-keygen recovered ~/.config/solana/id.json: «sol_array»
const secretKey = Uint8Array.from(«sol_array»);
ANCHOR_WALLET_SECRET=«sol58»
[Interface]⏎PrivateKey = «b64_44»⏎Address = 10.8.0.2/24
{"kty":"OKP","crv":"Ed25519","x":"‹url43›","d":"«url43»"}
minisign -S -m app.tar.gz: untrusted comment: minisign encrypted secret key⏎RWRTY0Iy«b64n204»
cast send --private-key «hex64» 0x‹hex40› "transfer()"
eosio: cleos wallet import --private-key 5«b58_50»
ssh-add - <<< "«pem_openssh»"
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
[Peer A]⏎PrivateKey = «b64_44»⏎ListenPort = 51820
{"p":"«url171»","kty":"RSA","d":"«url342»","e":"AQAB"}
ssh-keygen -y -f /dev/stdin <<'EOF'⏎«pem_openssh»⏎EOF
substrate: subkey inspect "0x«hex64»"⏎Secret seed: 0x«hex64»
kubectl get secret tls -o jsonpath='{.data.tls\\.key}' | base64 -d⏎«pem»
SAML_SP_PRIVATE_KEY='«pem_json»'
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
haproxy: unable to load SSL private key from PEM file:⏎«pem»
$ sudo cat /etc/letsencrypt/live/example.org/privkey.pem⏎«pem»
secrets/tls.yaml⏎key: |⏎  «pem_indent2»
paramiko.RSAKey.from_private_key(io.StringIO('''«pem_openssh»'''))
{ "sshKey" : "«pem_json»" }
"APNS_KEY": "«pem_json»",
kubectl logs app⏎2026-11-03T10:11:12Z web-1  | key mismatch⏎2026-11-03T10:11:12Z web-1  | «pem_logged»
[stderr] unable to parse this key:⏎[stderr] «pem_bracket»
rsyslog dump⏎Nov  3 10:11:12 app[812]: «pem_syslog»
docker-compose up⏎web_1  | using TLS key⏎web_1  | «pem_compose»
+++ b/config/jwt.pem⏎@@ -0,0 +1,10 @@⏎«pem_diff»
bat id_rsa⏎  12 «pem_numbered»
gpg --export-secret-subkeys -a ci@example.org > sub.asc; cat sub.asc⏎«pgp»
(first line was cut off)⏎«pem_noheader»
tail -f output ended here:⏎«pem_nofooter»
rustls: failed to parse: «pem»
SSLKeyException: Illegal key «pem_nofooter»
tls.X509KeyPair([]byte(cert), []byte(`«pem»`))
const fs = require('fs'); const key = `«pem_openssh»`;
OPENSSH_KEY<<EOF⏎«pem_openssh»⏎EOF
apns.p8 contents:⏎«pem»
age.identities: «age»
$ cat ~/.config/sops/age/keys.txt⏎«age»
rage -d -i - <<< «age»
electrum: sweep "«wif»"
WIF private key: «wif»
{"xpriv":"«xprv»","fingerprint":"‹hex8›"}
descriptor wpkh(«xprv»/84h/0h/0h/0/*)#‹low8›
nostr-tools: nip19.decode("«nsec»")
"secret_key": "«nsec»" in ~/.config/nostr.json
ETH_PRIVATE_KEY=0x«hex64» npx hardhat deploy
forge create src/T.sol:T --private-key «hex64»
w3.eth.account.sign_transaction(tx, private_key="0x«hex64»")
viem: privateKeyToAccount('0x«hex64»')
const signer = ethers.Wallet.fromPhrase("«words12»");
HD_MNEMONIC="«words12»"
wallet backup (BIP39 mnemonic): «words24»
please don't share your seed phrase again: «words12»
celestia-appd keys add v --recover <<< "«words24»"
solana-keygen pubkey: invalid keypair «sol_array»
SOLANA_KEYPAIR='«sol_array»'
Keypair.fromSecretKey(new Uint8Array(«sol_array»))
const payer = bs58.decode('«sol58»'); // secret key
wallet.json: { "privateKey": "«sol58»" }
WG_PRIVATE_KEY=«b64_44»
wg genkey⏎«b64_44»
wg0.conf⏎[Interface]⏎Address = 10.9.0.1/24⏎PrivateKey = «b64_44»
{"kty":"EC","crv":"P-256","x":"‹url43›","y":"‹url43›","d":"«url43»"}
JWK private key: {"kty":"OKP","crv":"X25519","d":"«url43»","x":"‹url43›"}
ledger: ed25519 signing key "«hex64»" (private)
ssh_host_ed25519_key differs from backup:⏎«pem_openssh»
resource "aws_key_pair" "x" {} # private half:⏎«pem_openssh»
saltstack minion.pem⏎«pem»
Chef client key:⏎«pem»
DKIM private key for mail._domainkey:⏎«pem»
SNOWFLAKE_PRIVATE_KEY="«pem_json»"
DOCUSIGN_RSA_KEY: "«pem_json»"
app.config['RSA_KEY'] = '''«pem»'''
pulumi stack output sshPrivateKey --show-secrets⏎«pem_openssh»
tofu output -raw tls_private_key⏎«pem»
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
DATABASE_URL is postgres://‹user›:«pwu»@‹host›/‹word›
Ecto: failed: ecto://‹user›:«pwu»@‹host›/x
sqlx::Error: Configuration(mysql://‹user›:«pwu»@‹host›/x)
"uri":"mongodb://‹user›:«pwu»@‹host›/admin"
Connecting to amqps://‹user›:«pwu»@‹host›/x
rediss://:«pwu»@‹host›:6380
postgresql+asyncpg://‹user›:«pwu»@‹host›/x
Server=‹host›;Database=x;User Id=‹user›;Password=«pwu»;
jdbc:postgresql://‹host›/x?password=«pwu»&user=y
connection string "Host=‹host›;Username=‹user›;Password=«pwu»"
sql.Open("mysql", "‹user›:«pwu»@tcp(‹host›:3306)/x")
psql "user=‹user› password=«pwu» host=‹host›"
bolt://‹user›:«pwu»@‹host›
mariadb+pymysql://‹user›:«pwu»@‹host›/x
timescale: postgres://‹user›:«pwu»@‹host›:5432/x
pgx: cannot parse `postgres://‹user›:«pwu»@‹host›/x`
DSN=mysql://‹user›:«pwu»@‹host›/x ./api
HikariPool: jdbc:mysql://‹host›/x?user=y&password=«pwu»
oracle: ‹user›/«pwu»@//‹host›:1521/X
couchbase://‹user›:«pwu»@‹host›
clickhouse://‹user›:«pwu»@‹host›:9440/x
Uid=‹user›;Pwd=«pwu»;Server=‹host›
nats://‹user›:«pwu»@‹host›
snowflake://‹user›:«pwu»@acme/x
valkey://default:«pwu»@‹host›
cockroachdb://‹user›:«pwu»@‹host›/x
airflow connections add x --conn-uri postgres://‹user›:«pwu»@‹host›/x
tern: database url mysql://‹user›:«pwu»@‹host›/x
pgloader mysql://‹user›:«pwu»@‹host›/x
kafka: jdbc:db2://‹host›/x:user=y;password=«pwu»;
debezium "database.url":"postgres://‹user›:«pwu»@‹host›/x"
PG error at postgresql://‹user›:«pwu»@‹host›/x
DATABASE_URL=postgresql://‹user›:«pwu»@‹host›:5432/‹word›?sslmode=require
connect to "postgres://‹user›:«pwu»@‹host›/‹word›" failed: FATAL
SQLALCHEMY_DATABASE_URI = 'mysql+pymysql://‹user›:«pwu»@‹host›/x'
mongodb+srv://‹user›:«pwu»@cluster0.abc12.mongodb.net/test
MongoServerError at mongodb://‹user›:«pwu»@a:27017,b:27017/x?replicaSet=rs0
redis://‹user›:«pwu»@‹host›:6379/0
REDIS_URL=redis://:«pwu»@‹host›:6379
amqp://‹user›:«pwu»@‹host›:5672/%2f
jdbc:mysql://‹user›:«pwu»@‹host›:3306/x
jdbc:sqlserver://‹host›:1433;databaseName=x;user=‹user›;password=«pwu»;
Server=tcp:‹host›,1433;Initial Catalog=x;User ID=‹user›;Password=«pwu»;Encrypt=True
Data Source=‹host›;User Id=‹user›;Pwd=«pwu»
Driver={ODBC Driver 17};Server=‹host›;UID=‹user›;PWD=«pwu»
host=‹host› port=5432 user=‹user› password=«pwu» dbname=x
DSN: user=‹user› password='«pwu»' host=/tmp
‹user›:«pwu»@tcp(127.0.0.1:3306)/x?parseTime=true
dial: ‹user›:«pwu»@unix(/tmp/mysql.sock)/x
‹host›:5432:x:‹user›:«pwu»
*:5433:*:‹user›:«pwu»
sqlplus ‹user›/«pwu»@‹host›:1521/XE
couchdb http://‹user›:«pwu»@‹host›:5984
url: jdbc:postgresql://‹host›/x?user=‹user›&password=«pwu»
dialect+driver: oracle+cx_oracle://‹user›:«pwu»@‹host›
ConnectionStrings__Default=Host=‹host›;Database=x;Username=‹user›;Password=«pwu»
"DefaultConnection": "Server=.;Database=x;User=sa;Password=«pwu»;"
mysql -h ‹host› --user=‹user› --password=«pwu» x
influxdb://‹user›:«pwu»@‹host›:8086/x
libsql://x.turso.io?authToken=«jwt»
ldap://cn=admin:«pwu»@‹host›
sqlserver://‹user›:«pwu»@‹host›?database=x
tds: mssql+pyodbc://‹user›:«pwu»@‹host›/x
sqlalchemy.exc.OperationalError: could not connect: postgresql://‹user›:«pwu»@‹host›:5432/‹word›
Error: P1001: Can't reach database server; DATABASE_URL="postgresql://‹user›:«pwu»@‹host›:5432/‹word›?schema=public"
MongoServerError: bad auth : mongodb+srv://‹user›:«pwu»@cluster0.example.org/‹word›?retryWrites=true
REDIS_URL=redis://default:«pwu»@‹host›:6379/0
CELERY_BROKER_URL = 'amqp://‹user›:«pwu»@‹host›:5672//'
spring.datasource.url=jdbc:mysql://‹host›:3306/‹word›?user=‹user›&password=«pwu»
"DefaultConnection": "Server=‹host›,1433;Database=‹word›;User ID=‹user›;Password=«pwu»;Encrypt=True"
panic: failed to connect to `host=‹host› user=‹user› password=«pwu» database=‹word›`
dsn := "‹user›:«pwu»@tcp(‹host›:3306)/‹word›?parseTime=true"
production:⏎  adapter: postgresql⏎  url: postgres://‹user›:«pwu»@‹host›/‹word›
sqlx migrate run --database-url postgres://‹user›:«pwu»@‹host›/‹word›
diesel: Could not connect to mysql://‹user›:«pwu»@‹host›/‹word›
$dbh = DBI->connect("dbi:Pg:dbname=‹word›;host=‹host›", "‹user›", "«pwu»") or die;
$pdo = new PDO('mysql:host=‹host›;dbname=‹word›', '‹user›', '«pwu»');
sqlplus ‹user›/«pwu»@‹host›:1521/ORCLPDB1
<connectionString>Data Source=‹host›;Initial Catalog=‹word›;User Id=‹user›;Password=«pwu»</connectionString>
cfg.ConnString=host=‹host› port=5432 dbname=‹word› user=‹user› password=«pwu» sslmode=require
cqlsh ‹host› 9042 -u ‹user› -p «pwu»
neo4j+s://‹user›:«pwu»@graph.example.org:7687 is not routable
mongosh "mongodb://‹user›:«pwu»@db1.example.org:27017,db2.example.org:27017/‹word›?replicaSet=rs0"
com.zaxxer.hikari: jdbcUrl.........jdbc:postgresql://‹host›/‹word›?user=‹user›&password=«pwu»
clickhouse-client --host ‹host› --user ‹user› --password «pwu» --query 'SELECT 1'
pg_dump: error: connection to "postgres://‹user›:«pwu»@‹host›:6432/‹word›" failed
env:⏎  - name: DATABASE_URL⏎    value: "mysql2://‹user›:«pwu»@‹host›:3306/‹word›"
config :acme, Acme.Repo, url: "ecto://‹user›:«pwu»@‹host›/‹word›"
flask: SQLALCHEMY_DATABASE_URI='mysql+mysqlconnector://‹user›:«pwu»@‹host›/‹word›'
knex({ client: 'pg', connection: { host: '‹host›', user: '‹user›', password: '«pwu»' } })
sqlserver://‹user›:«pwu»@‹host›:1433?database=‹word›
DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql', 'USER': '‹user›', 'PASSWORD': '«pwu»'}}
typeorm-ts-node migration:run -- url=postgres://‹user›:«pwu»@‹host›:5432/‹word›
ERROR: dblink_connect('host=‹host› user=‹user› password=«pwu» dbname=‹word›')
r2dbc:postgresql://‹user›:«pwu»@‹host›:5432/‹word›
influx -host ‹host› -username ‹user› -password '«pwu»' -database ‹word›
gorm.Open(postgres.Open("host=‹host› user=‹user› password=«pwu» dbname=‹word› port=5432"))
hdbsql -n ‹host›:30015 -u ‹user› -p «pwu» "SELECT * FROM DUMMY"
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
?user=‹user›&password=«pwu»
mysql://‹user›:«pwu»@‹host›/x?ssl=true
Error: P1000: Authentication failed at postgresql://‹user›:«pwu»@‹host›/x
PG::ConnectionBad host=‹host› user=‹user› password=«pwu»
dbname=x user=‹user› password=«pwu»
mssql: server=‹host›;user id=‹user›;password=«pwu»;database=x
mongodb://‹user›:«pwu»@‹host›/?authSource=admin
"mongodb+srv://‹user›:«pwu»@x.mongodb.net"
redis: rediss://‹user›:«pwu»@‹host›:6380/0
sentinel+redis://:«pwu»@‹host›:26379/x
amqp://‹user›:«pwu»@‹host›//
kafka+ssl://‹user›:«pwu»@‹host›:9093
elasticsearch http://elastic:«pwu»@‹host›:9200
jdbc:mariadb://‹host›/x?user=‹user›&password=«pwu»
jdbc:oracle:thin:‹user›/«pwu»@//‹host›:1521/X
jdbc:sqlserver://‹host›;user=‹user›;password=«pwu»
jdbc:snowflake://x/?user=‹user›&password=«pwu»
jdbc:redshift://‹host›:5439/x?UID=‹user›&PWD=«pwu»
Provider=SQLOLEDB;Data Source=‹host›;User ID=‹user›;Password=«pwu»
Data Source=‹host›/X;User Id=‹user›;Password=«pwu»;
Server=‹host›;Port=3306;Uid=‹user›;Pwd=«pwu»;
DRIVER={PostgreSQL};SERVER=‹host›;UID=‹user›;PWD=«pwu»
DSN=x;UID=‹user›;PWD=«pwu»
‹user›:«pwu»@tcp(‹host›:3306)/x
‹user›:«pwu»@/x
‹host›:1433:x:‹user›:«pwu»
localhost:5432:*:‹user›:«pwu»
ecto://‹user›:«pwu»@‹host›/x
sqlx: postgres://‹user›:«pwu»@‹host›/x
couchdb://‹user›:«pwu»@‹host›
tarantool ‹user›:«pwu»@‹host›:3301
rqlite http://‹user›:«pwu»@‹host›:4001
imap://‹user›:«pwu»@‹host›
ldap://cn=x:«pwu»@‹host›:389
{"url":"postgres:\\/\\/‹user›:«pwu»@‹host›\\/x"}
postgres%3A%2F%2F‹user›%3A«mixed14»%40‹host›%2Fx
mysqldump -u root -p«pwu» shop > x.sql
mysql -h ‹host› -u ‹user› -p'«pwu»' x
PGPASSWORD=«pwu» psql -h ‹host› -U ‹user› x
sqlcmd -S ‹host› -U sa -P «pwu» -Q "select 1"
bcp x.dbo.t out f -S ‹host› -U sa -P «pwu»
isql -U ‹user› -P «pwu» -S ‹host›
mysql:host=‹host›;dbname=x;user=‹user›;password=«pwu»
Password='«pwu»';Server=‹host›;Database=x
Driver={SQL Server};Server=‹host›;Uid=‹user›;Pwd={«pwu»};
sqlalchemy.url = postgresql://‹user›:«pwu»@‹host›/x
r2dbc:postgresql://‹user›:«pwu»@‹host›/x
cockroach sql --url 'postgresql://‹user›:«pwu»@‹host›:26257/x'
datasource db { url = "mysql://‹user›:«pwu»@‹host›/x" }
sqlplus -s ‹user›/«pwu»@ORCL @x.sql
sqlplus ‹user›/«pwu»
exp ‹user›/«pwu» file=x.dmp
impdp system/«pwu» directory=d
expdp ‹user›/«pwu»@//‹host›/X schemas=x
CONNECT ‹user›/«pwu»@X
SQL> conn ‹user›/«pwu»@X
connect ‹user›/«pwu»@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=‹host›)(PORT=1521)))
cx_Oracle.connect("‹user›", "«pwu»", "‹host›/X")
cx_Oracle.connect('‹user›/«pwu»@‹host›/X')
oracledb.connect(user="‹user›", password="«pwu»", dsn="x")
jdbc:oracle:thin:@‹host›:1521:X user=‹user› password=«pwu»
GraphDatabase.driver("bolt://‹host›", auth=("neo4j", "«pwu»"))
redis.Redis(host='‹host›', password='«pwu»')
redis.createClient({ password: '«pwu»' })
new Redis({ host: "x", password: "«pwu»" })
"‹user›" "«pwu»"  # userlist.txt of pgbouncer
primary_conninfo = 'host=‹host› user=repl password=«pwu»'
pg_basebackup -d "host=‹host› user=repl password=«pwu»"
OPTIONS (user '‹user›', password '«pwu»')
dblink_connect('host=‹host› user=‹user› password=«pwu»')
CREATE SUBSCRIPTION s CONNECTION 'host=‹host› user=‹user› password=«pwu»' PUBLICATION p
MASTER_USER='repl', MASTER_PASSWORD='«pwu»'
SOURCE_PASSWORD = '«pwu»'
production:⏎  adapter: postgresql⏎  username: ‹user›⏎  password: «pwu»
DATABASES = {'default': {'USER': '‹user›', 'PASSWORD': '«pwu»'}}
knex({ connection: { user: '‹user›', password: '«pwu»' } })
new Pool({ user: '‹user›', password: '«pwu»' })
TypeOrmModule.forRoot({ username: '‹user›', password: '«pwu»' })
gorm.Open(mysql.Open("‹user›:«pwu»@tcp(‹host›:3306)/x?charset=utf8"))
dsn := "host=‹host› user=‹user› password=«pwu» dbname=x"
pgx.Connect(ctx, "postgres://‹user›:«pwu»@‹host›/x")
Npgsql: Host=‹host›;Username=‹user›;Password=«pwu»;Database=x
"ConnectionStrings":{"Db":"Server=‹host›;Database=x;User Id=‹user›;Password=«pwu»;"}
<add name="Db" connectionString="Data Source=‹host›;User ID=‹user›;Password=«pwu»"/>
hibernate.connection.url=jdbc:mysql://‹host›/x?user=‹user›&amp;password=«pwu»
jdbc:postgresql://‹user›:«pwu»@‹host›/x
jdbc:db2://‹host›:50000/X:user=‹user›;password=«pwu»;
jdbc:sybase:Tds:‹host›:5000/x?USER=‹user›&PASSWORD=«pwu»
jdbc:clickhouse://‹host›:8123/x?user=‹user›&password=«pwu»
jdbc:mysql://address=(host=‹host›)(user=‹user›)(password=«pwu»)/x
vertica://‹user›:«pwu»@‹host›/x
trino://‹user›:«pwu»@‹host›:8443/x
ksql -u ‹user› -p «pwu» http://‹host›
influx -host ‹host› -username ‹user› -password '«pwu»'
mongodump --uri="mongodb://‹user›:«pwu»@‹host›/x"
mongorestore -u ‹user› -p «pwu» --db x
mongo "mongodb://‹host›/x" -u ‹user› -p «pwu»
etcdctl --user root:«pwu» get /
rabbitmqadmin -u ‹user› -p «pwu» list queues
amqp://‹user›:«pwu»@‹host›:5672 connection refused
CELERY_BROKER_URL=amqp://‹user›:«pwu»@‹host›//
nats -s nats://‹user›:«pwu»@‹host›:4222
stomp://‹user›:«pwu»@‹host›:61613
memcached://‹user›:«pwu»@‹host›
cassandra: PlainTextAuthProvider(username='‹user›', password='«pwu»')
couchbase: cbq -u ‹user› -p «pwu»
‹user›:«pwu»@‹host›:5432/x
(‹user›:«pwu»@‹host›:3306)
connect to ‹user›:«pwu»@‹host›:27017 timed out
SQLSTATE[HY000] [1045] using mysql://‹user›:«pwu»@‹host›/x
ERROR: could not connect to "dbname=x host=‹host› user=‹user› password=«pwu»"
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
psql -d "postgresql://‹user›:«pwu»@‹host›/‹word›" -c '\\dt'
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
thread 'main' panicked: PoolTimedOut, url = "postgres://‹user›:«pwu»@‹host›:5432/‹word›"
Error: getaddrinfo ENOTFOUND ‹host› (connection string mysql://‹user›:«pwu»@‹host›:3306/‹word›)
pymongo.errors.OperationFailure: Authentication failed., mongodb://‹user›:«pwu»@‹host›/‹word›
[cache]⏎url = "redis://:«pwu»@‹host›:6379/1"
sidekiq: Redis::CannotConnectError redis://‹user›:«pwu»@‹host›:6379
AMQP_URI='amqps://‹user›:«pwu»@‹host›:5671/‹word›'
amqplib.connect('amqp://‹user›:«pwu»@‹host›')
export DB_DSN='‹user›:«pwu»@tcp(‹host›:3306)/‹word›?charset=utf8mb4'
  datasource db {⏎    url = "postgresql://‹user›:«pwu»@‹host›:5432/‹word›"⏎  }
drizzle-kit push --url "postgres://‹user›:«pwu»@‹host›/‹word›"
{"ConnectionStrings":{"Main":"Host=‹host›;Username=‹user›;Password=«pwu»;Database=‹word›"}}
System.Data.SqlClient.SqlException: Login failed. Data Source=‹host›;User ID=‹user›;Password=«pwu»
optionsBuilder.UseMySql("server=‹host›;user=‹user›;password=«pwu»;database=‹word›", v);
pgloader mysql://‹user›:«pwu»@‹host›/‹word› postgresql:///‹word›
psycopg.connect("host=‹host› dbname=‹word› user=‹user› password=«pwu»")
sqlx database create -D mysql://‹user›:«pwu»@‹host›/‹word›
atlas schema apply -u "mysql://‹user›:«pwu»@‹host›:3306/‹word›"
dbmate --url "postgres://‹user›:«pwu»@‹host›:5432/‹word›?sslmode=disable" up
R2DBC_URL: r2dbc:mysql://‹user›:«pwu»@‹host›:3306/‹word›
jdbc:postgresql://‹host›:5432/‹word›?user=‹user›&password=«pwu»&ssl=true
hikari.dataSource.password=«pwu»⏎hikari.dataSource.user=‹user›
spring.data.mongodb.uri=mongodb://‹user›:«pwu»@‹host›:27017/‹word›
spring.redis.url=redis://‹user›:«pwu»@‹host›:6379
quarkus.datasource.jdbc.url=jdbc:mariadb://‹host›/‹word›?user=‹user›&password=«pwu»
$db = new mysqli("‹host›", "‹user›", "«pwu»", "‹word›");
Laravel .env:⏎DB_USERNAME=‹user›⏎DB_PASSWORD=«pwu»⏎DB_DATABASE=‹word›
DATABASE_URL="mysql://‹user›:«pwu»@‹host›:3306/‹word›?serverVersion=8.0"
'connections' => ['pg' => ['username' => '‹user›', 'password' => '«pwu»']],
ecto.migrate: (DBConnection.ConnectionError) postgres://‹user›:«pwu»@‹host›/‹word›
database.yml:⏎default: &default⏎  adapter: postgresql⏎  password: «pwu»
Sequel.connect('postgres://‹user›:«pwu»@‹host›/‹word›')
DBI::dbConnect(RPostgres::Postgres(), host = "‹host›", user = "‹user›", password = "«pwu»")
my $dbh = DBI->connect("DBI:mysql:database=‹word›;host=‹host›", "‹user›", "«pwu»");
gorm: failed to initialize database, dsn: user=‹user› password=«pwu» host=‹host› dbname=‹word› port=5432
ent: sql.Open("postgres", "postgres://‹user›:«pwu»@‹host›/‹word›")
PGURI=postgres://‹user›:«pwu»@‹host›/‹word› pg_dumpall
pgbouncer: server login failed: host=‹host› user=‹user› password=«pwu»
primary_conninfo = 'host=‹host› port=5432 user=‹user› password=«pwu»'
CREATE SUBSCRIPTION s CONNECTION 'host=‹host› dbname=‹word› user=‹user› password=«pwu»' PUBLICATION p;
CREATE USER MAPPING FOR app SERVER s OPTIONS (user '‹user›', password '«pwu»');
CHANGE MASTER TO MASTER_HOST='‹host›', MASTER_USER='‹user›', MASTER_PASSWORD='«pwu»';
neo4j.GraphDatabase.driver("neo4j://‹host›", auth=("‹user›", "«pwu»"))
couchdb: http://‹user›:«pwu»@‹host›:5984/_all_dbs
clickhouse://‹user›:«pwu»@‹host›:9000/‹word›
tcp://‹host›:9000?username=‹user›&password=«pwu»&database=‹word›  (clickhouse dsn)
snowflake://‹user›:«pwu»@acme-eu/‹word›/PUBLIC?warehouse=WH
redshift+psycopg2://‹user›:«pwu»@‹host›:5439/‹word›
superset set-database-uri -d dw -u trino://‹user›:«pwu»@‹host›:443/hive
mongosh 'mongodb+srv://‹user›:«pwu»@prod.example.org/‹word›' --eval 'db.stats()'
mongoexport --uri "mongodb://‹user›:«pwu»@‹host›/‹word›" -c orders
keydb-cli -u redis://‹user›:«pwu»@‹host›:6379 INFO
db2 connect to ‹word› user ‹user› using «pwu»
isql -v MyDSN ‹user› «pwu»
jdbc:oracle:thin:‹user›/«pwu»@//‹host›:1521/ORCLPDB1
impdp ‹user›/«pwu»@‹word› dumpfile=full.dmp
jdbc:sqlserver://‹host›;database=‹word›;user=‹user›;password=«pwu»;trustServerCertificate=true
hibernate.cfg.xml: <property name="hibernate.connection.password">«pwu»</property>
persistence.xml <property name="jakarta.persistence.jdbc.password" value="«pwu»"/>
docker run -e DATABASE_URL=postgres://‹user›:«pwu»@‹host›:5432/‹word› shop:latest
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
kms denied for «akia»
AWS_ACCESS_KEY_ID: "«akia»"
aws_secret_access_key: "«aws40»"
"aws_secret_access_key" = "«aws40»"
AwsSecretKey=«aws40»
accessKeyId='«akia»'
SecretAccessKey=«aws40»
secretKey: "«aws40»" # aws s3
AWS_SECRET_ACCESS_KEY='«aws40»' aws s3 ls
X-Amz-Security-Token=«awstoken»
session_token = "«awstoken»"
AKIA in git: «akia»
Credential «asia» expired
boto: aws_secret_access_key=«aws40»
aws_access_key_id «akia»
new AWS.Credentials('«akia»')
user «akia» is not authorized
export AWS_SECRET_ACCESS_KEY=«aws40»
AWS secret key «aws40» rejected
awscli: secret: «aws40» aws
terraform aws secret_key "«aws40»"
[prod] aws_session_token=«awstoken»
ACCESS_KEY=«akia»
aws_key=«akia»
AWS_KEY_SECRET=«aws40»
ENV AWS_SECRET_ACCESS_KEY «aws40»
bedrock api key ABSK«b64n120»
SES_SECRET=«aws40» amazon
s3 secret key = «aws40»
[default]⏎aws_access_key_id = «akia»⏎aws_secret_access_key = «aws40»
AWS Secret Access Key [None]: «aws40»
AWS Access Key ID [****************ABCD]: «akia»
<SecretAccessKey>«aws40»</SecretAccessKey>
new AWS.S3({accessKeyId: '«akia»', secretAccessKey: '«aws40»'})
boto3.client('s3', aws_access_key_id='«akia»', aws_secret_access_key='«aws40»')
BasicAWSCredentials("«akia»", "«aws40»")
credentials.NewStaticCredentials("«akia»", "«aws40»", "")
provider "aws" {⏎  access_key = "«akia»"⏎  secret_key = "«aws40»"⏎}
spark.hadoop.fs.s3a.secret.key «aws40»
X-Amz-Credential=«akia»%2F20261101%2Fus-east-1%2Fs3%2Faws4_request
SignatureDoesNotMatch: key «akia»
"SessionToken": "«awstoken»"
-e AWS_SECRET_ACCESS_KEY=«aws40»
aws.secretAccessKey: «aws40»
MINIO_SECRET_KEY=«aws40»
mc alias set m https://‹host› ‹user› «aws40»
terraform state: "secret": "«aws40»", "ses_smtp_password_v4": "«ses44»"
smtp_password: «ses44» # ses
access key «akia» / secret «aws40»
awsSecret: "«aws40»"
S3_SECRET=«aws40»
aws --secret-key «aws40»
export AWS_SECRET_ACCESS_KEY="«aws40»"
amazon secret: «aws40»
An error occurred (InvalidClientTokenId) when calling the GetCallerIdentity operation: key «akia» does not exist
export AWS_ACCESS_KEY_ID="«akia»" AWS_SECRET_ACCESS_KEY="«aws40»"
{"AccessKeyId":"«asia»","SecretAccessKey":"«aws40»","SessionToken":"«awstoken»","Expiration":"2026-11-03T10:11:12Z"}
provider "aws" {⏎  region     = "eu-west-1"⏎  access_key = "«akia»"⏎  secret_key = "«aws40»"⏎}
docker run -e AWS_ACCESS_KEY_ID=«akia» -e AWS_SECRET_ACCESS_KEY=«aws40» backup:latest
s3 = boto3.client("s3", aws_access_key_id="«akia»", aws_secret_access_key="«aws40»")
AWSCredentials credentials = new BasicAWSCredentials("«akia»", "«aws40»");
$env:AWS_SECRET_ACCESS_KEY = "«aws40»"
aws configure set aws_secret_access_key «aws40» --profile prod
spring.cloud.aws.credentials.secret-key=«aws40»
<SignatureDoesNotMatch> <AWSAccessKeyId>«akia»</AWSAccessKeyId>
https://bucket.s3.amazonaws.com/a.zip?X-Amz-Credential=«akia»%2F20261103%2Feu-west-1%2Fs3%2Faws4_request
Authorization: AWS4-HMAC-SHA256 Credential=«akia»/20261103/us-east-1/s3/aws4_request, SignedHeaders=host
rclone config: [s3]⏎type = s3⏎access_key_id = «akia»⏎secret_access_key = «aws40»
aws.config.update({ accessKeyId: '«akia»', secretAccessKey: '«aws40»' });
set -x AWS_SESSION_TOKEN «awstoken»
SES_SMTP_USERNAME=«akia»⏎SES_SMTP_PASSWORD=«ses44»
Access key created. Secret access key: «aws40»
storage:⏎  s3:⏎    accesskey: «akia»⏎    secretkey: «aws40»
new S3Client(['credentials' => ['key' => '«akia»', 'secret' => '«aws40»']]);
  config.fog_credentials = { aws_access_key_id: '«akia»', aws_secret_access_key: '«aws40»' }
The request signature could not be verified for access key «asia»
DEBUG: request headers: host: sts.amazonaws.com, x-amz-date: 20261103T101112Z, x-amz-security-token: «awstoken»
"AWS_SECRET_KEY": "«aws40»",
TF_VAR_aws_secret_key=«aws40» terraform plan
sc.hadoopConfiguration.set("fs.s3a.access.key", "«akia»")
Credentials::new("«akia»", "«aws40»", None, None, "static")
user deploy: access key «akia» was last used 97 days ago
gitleaks: Finding: AWS_SECRET_ACCESS_KEY=«aws40» RuleID: aws-access-token
serverless: { provider: { environment: { AWS_SECRET: "«aws40»" } } }
cat > ~/.passwd-s3fs <<< «akia»:«aws40»
export S3_SECRET_ACCESS_KEY='«aws40»'
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
velero: --secret-file with aws_secret_access_key=«aws40»
IAM key rotation: old key «akia» disabled, new key «akia» created
assume-role output: SecretAccessKey: «aws40»
spark-submit --conf spark.hadoop.fs.s3a.secret.key=«aws40» job.py
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
aws_sdk_s3::error: service error InvalidAccessKeyId "«akia»"
Credentials provider: profile [ci], access key id = «akia», secret access key = «aws40»
AWS_ACCESS_KEY_ID: «akia»⏎AWS_SECRET_ACCESS_KEY: «aws40»⏎AWS_REGION: eu-north-1
echo "::add-mask::«aws40»"  # AWS secret access key
- run: aws configure set aws_access_key_id «akia» && aws configure set aws_secret_access_key «aws40»
module.exports = { s3: { accessKeyId: "«akia»", secretAccessKey: "«aws40»" } };
AWSAccessKeyId,Secret access key⏎«akia»,«aws40»
Aws.config.update(credentials: Aws::Credentials.new('«akia»', '«aws40»'))
credentials = aws_credential_types::Credentials::new("«akia»", "«aws40»", None, None, "env");
awsCfg := aws.Config{Credentials: credentials.NewStaticCredentialsProvider("«akia»", "«aws40»", "")}
BasicSessionCredentials("«asia»", "«aws40»", "«awstoken»")
val credentials = AwsBasicCredentials.create("«akia»", "«aws40»")
use_aws_creds("«akia»", "«aws40»")
Sys.setenv("AWS_ACCESS_KEY_ID" = "«akia»", "AWS_SECRET_ACCESS_KEY" = "«aws40»")
AWS_CREDENTIAL_FILE:⏎AWSAccessKeyId=«akia»⏎AWSSecretKey=«aws40»
aws --profile x sts get-session-token⏎{⏎  "Credentials": { "SecretAccessKey": "«aws40»", "SessionToken": "«awstoken»" }⏎}
~/.aws/credentials⏎[prod]⏎aws_access_key_id=«akia»⏎aws_secret_access_key=«aws40»
unset AWS_PROFILE; AWS_SECRET_ACCESS_KEY='«aws40»' terragrunt apply
export AWS_SECURITY_TOKEN=«awstoken»
x-amz-security-token: «awstoken»
ECS task role: AccessKeyId=«asia» SecretAccessKey=«aws40»
EC2MetadataError after reading SecretAccessKey="«aws40»"
instance profile: {"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"«asia»","Token":"«awstoken»"}
Presigned PUT: https://media.s3.eu-west-1.amazonaws.com/u?X-Amz-Credential=«akia»%2F20261103%2Feu-west-1%2Fs3%2Faws4_request
Signature v2: https://bucket.s3.amazonaws.com/x?AWSAccessKeyId=«akia»&Expires=1790000000
CanonicalRequest / credential scope: «akia»/20261103/eu-west-1/execute-api/aws4_request
AccessDenied: User arn:aws:iam::‹digits12›:user/ci with access key «akia» is not authorized to perform s3:PutObject
[ERROR] SignatureDoesNotMatch: the secret access key used was «aws40»
restic: AWS_ACCESS_KEY_ID=«akia» AWS_SECRET_ACCESS_KEY=«aws40» restic -r s3:s3.amazonaws.com/b init
s5cmd --credentials-file <(printf '[default]\\naws_access_key_id=«akia»\\naws_secret_access_key=«aws40»')
minio client: mc config host add s3 https://s3.amazonaws.com «akia» «aws40» --api S3v4
litestream.yml⏎access-key-id: «akia»⏎secret-access-key: «aws40»
thanos objstore:⏎type: S3⏎config:⏎  access_key: "«akia»"⏎  secret_key: "«aws40»"
barman-cloud-backup: aws_secret_access_key «aws40»
dagster: s3_resource: {aws_secret_access_key: "«aws40»"}
CREATE EXTERNAL DATA SOURCE ... WITH ACCESS_KEY '«akia»', SECRET_KEY '«aws40»';
UNLOAD ('select 1') TO 's3://b/u' ACCESS_KEY_ID '«akia»' SECRET_ACCESS_KEY '«aws40»';
LOAD FROM S3 failed; s3 aws_access_key_id="«akia»" aws_secret_access_key="«aws40»"
INSERT INTO FUNCTION s3('https://b.s3.amazonaws.com/f.csv', '«akia»', '«aws40»', 'CSV');
snowsql: CREATE STAGE s URL='s3://b/' CREDENTIALS=(AWS_KEY_ID='«akia»' AWS_SECRET_KEY='«aws40»');
spark.hadoop.fs.s3a.access.key  «akia»⏎spark.hadoop.fs.s3a.secret.key  «aws40»
core-site.xml: <name>fs.s3a.secret.key</name><value>«aws40»</value>
jets3t: <key>fs.s3.awsSecretAccessKey</key><value>«aws40»</value>
crossplane creds:⏎[default]⏎aws_access_key_id = «akia»⏎aws_secret_access_key = «aws40»
external-secrets: secretRef data: access-key=«akia» secret-access-key=«aws40»
helm install velero --set configuration.aws.secretAccessKey=«aws40»
vault write aws/config/root access_key=«akia» secret_key=«aws40»
pulumi config set --secret aws:secretKey «aws40»
cdk bootstrap failed with access key «akia»: ExpiredToken
copilot init: AWS Secret Access Key: «aws40»
elasticbeanstalk: option_settings: AWS_SECRET_KEY: «aws40»
Postfix sasl_passwd: [email-smtp.eu-west-1.amazonaws.com]:587 «akia»:«ses44»
AWS_SES_SMTP_PASSWORD="«ses44»"
spring.mail.host=email-smtp.eu-west-1.amazonaws.com⏎spring.mail.username=«akia»⏎spring.mail.password=«ses44»
GuardDuty: UnauthorizedAccess, principal access key «akia»
detect-secrets: AWS Access Key src/deploy.sh:4 «akia»
$ env | grep AWS⏎AWS_SECRET_ACCESS_KEY=«aws40»
Hi ops, the new IAM user key is «akia» / «aws40»
{"aws":{"key":"«akia»","secret":"«aws40»","bucket":"assets"}}
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
API key «aiza» expired
google_api_key=«aiza»
?key=«aiza»
"apiKey":"«aiza»"
access_token=«ya29»
client_secret="«gocspx»"
GOCSPX leak «gocspx»
credentials_json: «b64_json»
maps key «aiza»
goog hmac «goog1e»
gcs_secret=«b64n40» # google
gcloud token «ya29»
firebase key «aiza»
vertex: «ya29»
oauth «gocspx» mismatch
youtube «aiza»
secret «gocspx»
sa: «b64_json»
token «goog_refresh»
AIza: «aiza»
places.key=«aiza»
translate --key «aiza»
kubectl secret gcp «b64_json»
adc «ya29»
gemini «aiza» 400
vision key='«aiza»'
gtag «aiza»
https://maps.googleapis.com/maps/api/geocode/json?key=«aiza»
"current_key": "«aiza»"
GOOGLE_API_KEY «aiza»
<string name="google_maps_key">«aiza»</string>
apiKey: "«aiza»", authDomain: "x.firebaseapp.com"
google.auth: token ya29 «ya29»
"private_key_id": "«hex40»"
"type": "service_account",⏎"private_key": "«pem_json»"
credentials: «b64_json»
HMAC secret GOOG «goog1e»
GOOGLE_CLIENT_SECRET: «gocspx»
fcm: key=AAAA«url7»:APA91b«url134»
recaptcha secret 6L«url38»
RECAPTCHA_SECRET_KEY=6L«url38»
google.api_core.exceptions.BadRequest: 400 API key not valid: «aiza»
<script src="https://maps.googleapis.com/maps/api/js?key=«aiza»&callback=init"></script>
const firebaseConfig = { apiKey: "«aiza»", authDomain: "x.firebaseapp.test" };
GOOGLE_API_KEY=«aiza» python translate.py
<string name="google_maps_key" translatable="false">«aiza»</string>
  GMSServices.provideAPIKey("«aiza»")
curl -H "Authorization: Bearer «ya29»" https://storage.googleapis.com/storage/v1/b
{"access_token":"«ya29»","expires_in":3599,"token_type":"Bearer"}
google.auth.exceptions.RefreshError: ('invalid_grant', {'refresh_token': '«goog_refresh»'})
"client_secret":"«gocspx»","redirect_uris":["http://localhost"]
OAUTH_GOOGLE_CLIENT_SECRET: «gocspx»
socialite: 'google' => ['client_secret' => '«gocspx»'],
{"type":"service_account","project_id":"acme","private_key_id":"‹hex40›","private_key":"«pem_json»"}
GOOGLE_CREDENTIALS_BASE64=«b64_json»
echo «b64_json» | base64 -d > sa.json && gcloud auth activate-service-account --key-file sa.json
gsutil: HMAC key GOOG... created. Access ID: «goog1e»  Secret: «b64n40»
[Credentials]⏎gs_access_key_id = «goog1e»⏎gs_secret_access_key = «b64n40»
GEMINI_API_KEY: «aiza»
E/GoogleMapsAndroidAPI: API Key: «aiza»
youtube.search().list(part="id", key="«aiza»")
docker login -u oauth2accesstoken -p "«ya29»" https://registry.example.test
application_default_credentials.json: "refresh_token": "«goog_refresh»",
<key>API_KEY</key>⏎<string>«aiza»</string>
terraform: google_oauth_client_secret = "«gocspx»"
ya29 in log: authorization=[Bearer «ya29»] path=/v1/projects
GET https://www.googleapis.com/customsearch/v1?key=«aiza»&cx=017&q=rust 429
runtimeConfig: { public: { googleMapsKey: '«aiza»' } }
--set gcp.serviceAccountKey=«b64_json»
rclone: token = {"access_token":"«ya29»","token_type":"Bearer"}
NextAuth Google({ clientId: process.env.GID, clientSecret: "«gocspx»" })
local.properties:⏎MAPS_API_KEY=«aiza»
{"error":{"code":403,"message":"Requests from this client are blocked.","details":[{"consumer":"api_key:«aiza»"}]}}
fetch(`https://maps.googleapis.com/maps/api/geocode/json?address=Oslo&key=«aiza»`)
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
Google Maps JavaScript API error: InvalidKeyMapError, key=«aiza»
GoogleService-Info.plist:⏎⇥<key>API_KEY</key>⏎⇥<string>«aiza»</string>
final apiKey = '«aiza»'; // Google Maps
buildConfigField("String", "MAPS_KEY", "\\"«aiza»\\"")
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
GoogleJsonResponseException: 400 Bad Request, key=«aiza» is not authorized
Error: API_KEY_SERVICE_BLOCKED for key "«aiza»" in project acme
flutter: maps key = «aiza»
<meta-data android:name="com.google.android.maps.v2.API_KEY" android:value="«aiza»"/>
VITE_GOOGLE_MAPS_KEY=«aiza»
REACT_APP_FIREBASE_API_KEY="«aiza»"
EXPO_PUBLIC_MAPS_KEY: «aiza»
options: FirebaseOptions(apiKey: "«aiza»", projectId: "acme")
google_maps_flutter: Authorization failure, API key «aiza»
curl -s "https://www.googleapis.com/youtube/v3/search?part=snippet&key=«aiza»"
POST https://generativelanguage.googleapis.com/v1beta/models/gemini-pro:generateContent?key=«aiza» 429
google.generativeai: GOOGLE_API_KEY set to «aiza»
const ai = new GoogleGenAI({ apiKey: "«aiza»" });
translate.NewClient(ctx, option.WithAPIKey("«aiza»"))
    .apiKey("«aiza»") // GeoApiContext
geocoder = Geocoder::Google.new(key: '«aiza»')
googleway::set_key("«aiza»")
GMSPlacesClient.provideAPIKey("«aiza»")
strings.xml⏎  <string name="google_api_key">«aiza»</string>
"android": { "config": { "googleMaps": { "apiKey": "«aiza»" } } }
[maps] key «aiza» not allowed for referer http://localhost:3000
httpx.HTTPStatusError 401 for oauth token «ya29»
google.oauth2.credentials.Credentials(token="«ya29»")
gcloud auth print-identity-token; gcloud auth print-access-token →⏎«ya29»
kubectl get pods --token=«ya29»
curl "https://www.googleapis.com/oauth2/v1/tokeninfo?access_token=«ya29»"
{"access_token":"«ya29»","scope":"https://www.googleapis.com/auth/drive"}
oauth2: token={AccessToken:«ya29» RefreshToken:«goog_refresh» Expiry:2026-11-03}
docker-credential-gcloud: {"Secret":"«ya29»","Username":"_dcgcloud_token"}
google-ads.yaml:⏎client_secret: «gocspx»⏎refresh_token: «goog_refresh»
token.json: {"token": "«ya29»", "refresh_token": "«goog_refresh»", "client_secret": "«gocspx»"}
clasp: ~/.clasprc.json "refresh_token":"«goog_refresh»"
RefreshError on refresh token «goog_refresh», reauth related error
GDRIVE_REFRESH_TOKEN=«goog_refresh»
gmail.oauth: refreshToken: '«goog_refresh»',
rclone drive: client_secret = «gocspx»
<google><client-secret>«gocspx»</client-secret></google>
quarkus.oidc.google.credentials.secret=«gocspx»
Devise omniauth google_oauth2 secret "«gocspx»"
supabase/config.toml⏎[auth.external.google]⏎secret = "«gocspx»"
GOOGLE_SECRET='«gocspx»' node server
the Google OAuth client secret «gocspx» was exposed in the repository
firebase-admin: {"type":"service_account","project_id":"acme","private_key":"«pem_json»"}
$ cat sa.json⏎{"private_key_id": "‹hex40›", "private_key": "«pem_json»"}
Dialogflow: private_key: "«pem_json»", client_email: "bot@acme.iam.gserviceaccount.com"
new google.auth.JWT({ email: 'x@acme.iam.gserviceaccount.com', key: '«pem_json»' })
BIGQUERY_CREDENTIALS_BASE64="«b64_json»"
GOOGLE_SERVICE_ACCOUNT_B64: «b64_json»
apiVersion: v1⏎kind: Secret⏎data:⏎  sa.json: «b64_json»
kubectl patch secret gcr -p '{"data":{"key.json":"«b64_json»"}}'
printf %s '«b64_json»' | base64 -d > gcp-sa.json
gcs_hmac_access_id=«goog1e»⏎gcs_hmac_secret=«b64n40»
gsutil hmac create sa@acme.iam.gserviceaccount.com⏎Access ID:   «goog1e»⏎Secret:      «b64n40»
s3cmd --host=storage.googleapis.com --access_key=«goog1e» --secret_key=«b64n40» ls
CREATE SECRET gcs_secret (TYPE GCS, KEY_ID '«goog1e»', SECRET '«b64n40»');
storage.googleapis.com S3 interop: accessKeyId: "«goog1e»", secretAccessKey: "«b64n40»"
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
docker login ‹host› -u x -p «acr»
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
docker login ‹host› -u x -p «acr»
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
docker login ‹host› --password «acr»
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
AccountKey=«b64_88»
client secret «azsecret»
AZURE_PASSWORD=«azsecret»
sig=«sigenc»&se=2026
?sv=1&sig=«sigenc»
SharedAccessKey=«b64_44»
x-functions-key=«azfunc»
?code=«azfunc»
az devops «azdevops»
«azdevops»@dev.azure.com
Subscription-Key: «hex32»
Ocp-Apim-Subscription-Key=«hex32»
InstrumentationKey=«uuid»;
storage key «b64_88»
cosmos key «b64_88»
primaryKey: «b64_88»
"key1": "«b64_88»"
acr password «acr»
client_secret: "«azsecret»"
azure_client_secret «azsecret»
appSecret: '«azsecret»'
secretText: "«azsecret»"
sas: ?sig=«sigenc»
iot primary_key=«b64_44»
SharedAccessSignature sr=x&sig=«sigenc»&se=1
AZURE_STORAGE_CONNECTION_STRING=AccountKey=«b64_88»
AzureWebJobsStorage: AccountName=x;AccountKey=«b64_88»
sp secret «azsecret» invalid
AZURE_KEY=«b64_88»
az: --secret «azsecret»
az login --service-principal -u ‹uuid› -p «azsecret» --tenant ‹uuid›
client_secret = "«azsecret»"
"clientSecret": "«azsecret»"
https://x.blob.core.windows.net/c/b?sv=2023&sig=«sigenc»&se=2026
SAS: ?st=2026&sig=«sigenc»
api-key: «hex32»
AZURE_OPENAI_API_KEY=«hex32»
azure devops PAT «azdevops»
AZURE_DEVOPS_EXT_PAT=«low52»
ACR password: «acr»
"primaryMasterKey": "«b64_88»"
"primaryKey": "«b64_44»"
listKeys → «b64_88»
azcopy: cannot use sas sig=«sigenc»
terraform: client_secret «azsecret»
AADSTS7000215: Invalid client secret «azsecret»
sql admin login password: «pws»
batch account key «b64_88»
signalr: Endpoint=https://x.signalr.net;AccessKey=«b64_44»;Version=1.0;
AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«b64_88»;EndpointSuffix=core.windows.net"
provider "azurerm" {⏎  client_id     = "‹uuid›"⏎  client_secret = "«azsecret»"⏎}
https://acme.blob.core.windows.net/c/a.zip?sv=2022-11-02&st=2026-11-01&se=2026-12-01&sr=b&sp=r&sig=«sigenc»
Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«b64_44»
HostName=acme.azure-devices.net;DeviceId=d1;SharedAccessKey=«b64_44»
curl https://acme.azurewebsites.net/api/Run?code=«azfunc»
openai.AzureOpenAI(api_key="«azopenai»", azure_endpoint="https://acme.openai.azure.test")
git -c http.extraHeader="Authorization: Basic x" clone; AZURE_DEVOPS_EXT_PAT=«azdevops»
vsts-npm-auth: using PAT «azdevops»
req.Headers.Add("Ocp-Apim-Subscription-Key", "«hex32»");
AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=«b64_88»;
docker login acme.azurecr.test -u acme -p «acr»
ARM_CLIENT_SECRET: «azsecret»
"AzureAd": { "ClientId": "‹uuid›", "ClientSecret": "«azsecret»" }
new StorageSharedKeyCredential("acme", "«b64_88»");
azcopy copy ./dist "https://acme.blob.core.windows.net/web?sp=rw&sig=«sigenc»"
az storage blob list --account-name acme --account-key «b64_88» -c logs
[{"keyName":"key1","permissions":"FULL","value":"«b64_88»"}]
spring.cloud.azure.active-directory.credential.client-secret=«azsecret»
"AzureWebJobsStorage": "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«b64_88»"
mount -t cifs //acme.file.core.windows.net/share /mnt -o username=acme,password=«b64_88»
Authorization: SharedAccessSignature sr=acme.azure-devices.net&sig=«sigenc»&se=1790000000
cosmos = CosmosClient(url, credential="«b64_88»")
SpeechConfig.FromSubscription("«hex32»", "westeurope"); // Azure speech key
COGNITIVE_SERVICES_KEY=«hex32» # azure
password : «azsecret»⏎tenant   : ‹uuid›
$secret = ConvertTo-SecureString "«azsecret»" -AsPlainText; Connect-AzAccount -ServicePrincipal
eventHub: Endpoint=sb://eh.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=«b64_44»;EntityPath=logs
redis: acme.redis.cache.windows.net:6380,password=«b64_44»,ssl=True
AZURE_CREDENTIALS: {"clientId":"‹uuid›","clientSecret":"«azsecret»","tenantId":"‹uuid›"}
az search admin-key show: {"primaryKey": "«mixed52»", "secondaryKey": "«mixed52»"}
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
StorageException: AccountName=x;AccountKey=«b64_88»
az storage account keys list: "value": "«b64_88»"
"keyName": "key1", "value": "«b64_88»"
azure.storage.account-key=«b64_88»
StorageSharedKeyCredential("x", "«b64_88»")
new StorageCredentials("x", "«b64_88»")
AzureKeyCredential("«hex32»")
AzureKeyCredential("«azopenai»")
CosmosClient(url, "«b64_88»")
COSMOS_KEY: «b64_88»
--account-key «b64_88»
fs.azure.account.key.x.blob.core.windows.net «b64_88»
Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey=«b64_44»;EntityPath=q
SharedAccessSignature=sv=2023&ss=b&sig=«sigenc»
?sp=r&st=2026-01-01&se=2026-02-01&sig=«sigenc»
SAS token sv=2023-01-03&sig=«sigenc»
ClientSecretCredential("‹uuid›", "‹uuid›", "«azsecret»")
ConfidentialClientApplication(client_credential="«azsecret»")
AZURE_AD_CLIENT_SECRET="«azsecret»"
az ad sp create-for-rbac: "password": "«azsecret»"
"secretText":"«azsecret»"
azureADKey: «azsecret»
Connect-AzAccount secret «azsecret»
publishProfile userPWD="«mixed60»"
Kudu: $x:«mixed60»
functions host key: «azfunc»
_master key «azfunc»
x-functions-key «azfunc»
code=«azfunc»&name=x
speech key: «hex32» region: westeurope
AZURE_SPEECH_KEY=«hex32»
COGNITIVE_SERVICES_KEY=«hex32»
AzureOpenAI(api_key="«hex32»", azure_endpoint=u)
search admin key «mixed52»
eventgrid aeg-sas-key: «b64_44»
aeg-sas-key: «b64_44»
DeviceConnectionString=HostName=x;DeviceId=y;SharedAccessKey=«b64_44»
iothubowner primaryKey «b64_44»
redis cache access key: «b64_44»
x.redis.cache.windows.net:6380,password=«b64_44»,ssl=True
signalr AccessKey=«b64_44»
ACS endpoint=https://x/;accesskey=«b64_88»
maps subscription key «url43»
az acr credential show: "value": "«acr»"
vsts PAT: «low52»
System.AccessToken «azdevops»
APPLICATIONINSIGHTS_CONNECTION_STRING=InstrumentationKey=«uuid»;IngestionEndpoint=x
log analytics shared key «b64_88»
workspace key: «b64_88»
OMS: -s «b64_88»
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
StorageSharedKeyCredential::new("acme", "«b64_88»") // account key
AccountName=acme;AccountKey=«b64_88»;TableEndpoint=https://acme.table.core.windows.net/
az storage container create -n c --connection-string "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«b64_88»"
AZURE_STORAGE_KEY=«b64_88» az storage file upload
Azure.RequestFailedException: Server failed to authenticate the request, AccountKey=«b64_88»
terraform backend azurerm: access_key = "«b64_88»"
"storageAccountKey": "«b64_88»",
rclone.conf⏎[az]⏎type = azureblob⏎account = acme⏎key = «b64_88»
velero azure credentials:⏎AZURE_STORAGE_ACCOUNT_ACCESS_KEY=«b64_88»
azurestorageaccountname=acme⏎azurestorageaccountkey=«b64_88»
spring.cloud.azure.storage.blob.account-key=«b64_88»
fs.azure.account.key.acme.blob.core.windows.net «b64_88»
secondary account key of storage account acme: «b64_88»
active_storage: azure:⏎  storage_account_name: acme⏎  storage_access_key: «b64_88»
CloudStorageAccount.parse("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«b64_88»")
QueueServiceClient from "AccountName=jobs;AccountKey=«b64_88»;QueueEndpoint=https://jobs.queue.core.windows.net/"
az cosmosdb keys list -n acme⏎"primaryMasterKey": "«b64_88»"
"CosmosDb": { "EndpointUri": "https://acme.documents.azure.com", "PrimaryKey": "«b64_88»" }
azcosmos.NewKeyCredential("«b64_88»")
mongodb://acme:«b64_88»@acme.mongo.cosmos.azure.com:10255/?ssl=true
https://acme.file.core.windows.net/share/a.txt?sv=2022-11-02&ss=f&srt=o&sp=r&sig=«sigenc»
<Error><Code>AuthenticationFailed</Code></Error> GET https://acme.blob.core.windows.net/c?restype=container&sig=«sigenc»
az storage blob generate-sas ⏎"se=2026-12-01T00%3A00Z&sp=r&sv=2022-11-02&sr=b&sig=«sigenc»"
aks diagnostic upload to https://diag.blob.core.windows.net/logs?sp=cw&spr=https&sig=«sigenc»
SAS_TOKEN='?sv=2021-12-02&ss=bf&sig=«sigenc»'
Logic App callback: https://prod-12.westeurope.logic.azure.com/workflows/‹hex32›/triggers/manual/paths/invoke?api-version=2016-10-01&sig=«sigenc»
ServiceBusException: Unauthorized: Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=«b64_44»
az servicebus namespace authorization-rule keys list⏎"primaryKey": "«b64_44»"
EVENTHUB_CONN="Endpoint=sb://eh.servicebus.windows.net/;SharedAccessKeyName=listen;SharedAccessKey=«b64_44»"
iot device: HostName=acme.azure-devices.net;DeviceId=pi;SharedAccessKey=«b64_44»
DefaultFullSharedAccessSignature notification hub: SharedAccessKey=«b64_44»
Endpoint=https://acme.webpubsub.azure.com;AccessKey=«b64_44»;Version=1.0;
Endpoint=https://acme.communication.azure.com/;accesskey=«b64_88»
spring.cloud.azure.appconfiguration.stores[0].connection-string=Endpoint=https://acme.azconfig.io;Id=a;Secret=«b64_44»
aeg-sas-key header rejected: "aeg-sas-key": "«b64_44»"
logicapp/function host: https://acme.azurewebsites.net/admin/host/status?code=«azfunc»
requests.post("https://acme.azurewebsites.net/api/ingest?code=«azfunc»", json=body)
func keys: "masterKey": "«azfunc»"
headers: { 'x-functions-key': '«azfunc»' }
AuthenticationError 401 from Azure OpenAI with api-key: «azopenai»
langchain AzureChatOpenAI(azure_deployment="gpt4o", api_key="«azopenai»")
az cognitiveservices account keys list -n acme⏎{ "key1": "«azopenai»" }
git clone https://build:«azdevops»@dev.azure.com/acme/core/_git/core
AZURE_DEVOPS_TOKEN=«azdevops» tfx extension publish
config.sh --unattended --url https://dev.azure.com/acme --auth pat --token «azdevops»
vsce publish -p «azdevops»
acr login failed for acme.azurecr.io: user acme, password «acr»
az acr credential renew --password-name password⏎"value": "«acr»"
imagePullSecret for acme.azurecr.io {"username":"acme","password":"«acr»"}
azure_rm: AZURE_SECRET='«azsecret»' AZURE_TENANT='‹uuid›'
azure.identity: ClientSecretCredential.get_token failed: invalid_client, client_secret="«azsecret»"
confidential_client = msal.ConfidentialClientApplication("‹uuid›", client_credential="«azsecret»")
curl -d "grant_type=client_credentials&client_id=‹uuid›&client_secret=«azsecret»" https://login.microsoftonline.com/‹uuid›/oauth2/v2.0/token
sops: azure_kv credentials AZURE_CLIENT_SECRET "«azsecret»"
<add key="ida:ClientSecret" value="«azsecret»" />
external-dns azure.json: "aadClientSecret": "«azsecret»"
oauth2-proxy: --provider=entra-id --client-secret=«azsecret»
Azure Maps: subscription-key=«mixed84» https://atlas.microsoft.com/map/tile
AzureTextTranslationClient: Ocp-Apim-Subscription-Key: «hex32»⏎Ocp-Apim-Subscription-Region: westeurope
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
oci: failed to authorize https://‹user›:«pwu»@‹host›/v2/token
Err:4 https://‹user›:«pwu»@‹host›/debian sid Release
ALL_PROXY=socks5://‹user›:«pwu»@‹host›:1080
export https_proxy=http://‹user›:«pwu»@‹host›:3128/
curl --user ‹user›:«pwu» -T a.tgz https://‹host›/
requests.exceptions.ProxyError: http://‹user›:«pwu»@‹host›:8080
-H "authorization: Basic «basic»"
"registry-auth": "Basic «basic»"
{"auths":{"x":{"auth":"«basic»"}}}
auth=HTTPBasicAuth('‹user›', '«pwu»')
aiohttp.BasicAuth("‹user›", "«pwu»")
http --auth=‹user›:«pwu» :8000/x
opensearch: https://‹user›:«pwu»@‹host›:9200/_bulk
rtmp://‹user›:«pwu»@‹host›/live/x
camera rtsp://‹user›:«pwu»@10.0.0.4/1
ftp://‹user›:«pwu»@‹host›/a.zip: 530
webdavs://‹user›:«pwu»@‹host›/x
smtp://‹user›:«pwu»@‹host›:25 refused
mqtt://‹user›:«pwu»@‹host›
pip.conf: extra-index-url=https://‹user›:«pwu»@‹host›/simple
GOPROXY=https://‹user›:«pwu»@‹host›,direct
helm pull https://‹user›:«pwu»@‹host›/x.tgz
regctl registry login --creds ‹user›:«pwu»
npm_config_registry=https://‹user›:«pwu»@‹host›/npm/
maven: https://‹user›:«pwu»@‹host›/releases
terraform http backend https://‹user›:«pwu»@‹host›/state
hey -a ‹user›:«pwu» http://‹host›
grafana datasource url=http://‹user›:«pwu»@‹host›:3100
caldav: https://‹user›:«pwu»@‹host›/dav
Authorization: 'Basic «basic»',
wget http://‹user›:«pwu»@‹host›/x.deb
curl -u ‹user›:«pws» https://‹host›/x
curl --user "‹user›:«pws»" https://‹host›
wget https://‹user›:«pwu»@‹host›/a
http_proxy=http://‹user›:«pwu»@proxy:8080
'Authorization': 'Basic «basic»'
requests.get(url, auth=("‹user›", "«pws»"))
HTTPBasicAuth("‹user›", "«pws»")
axios.get(u, { auth: { username: '‹user›', password: '«pws»' } })
.basic_auth("‹user›", Some("«pws»"))
given().auth().basic("‹user›", "«pws»")
.auth().preemptive().basic("‹user›", "«pws»")
headers.setBasicAuth("‹user›", "«pws»");
restTemplateBuilder.basicAuthentication("‹user›", "«pws»")
request.basic_auth '‹user›', '«pws»'
curl_setopt($ch, CURLOPT_USERPWD, "‹user›:«pws»");
CURLOPT_USERPWD: ‹user›:«pws»
http.request(u, {auth: '‹user›:«pws»'})
-Dhttp.proxyUser=‹user› -Dhttp.proxyPassword=«pws»
‹user›:$apr1$«mixed8»$«mixed22»
‹user›:$2y$10$«mixed53»
htpasswd -bc f ‹user› «pws»
docker config: "auth": "«basic»"
ab -A ‹user›:«pws» https://‹host›/
siege: login = ‹user›:«pws»
git -c http.extraheader="AUTHORIZATION: basic «basic»" fetch
bundle config set gems.example.com ‹user›:«pws»
poetry config http-basic.x ‹user› «pws»
composer config http-basic.example.com ‹user› «pws»
{"http-basic":{"example.com":{"username":"‹user›","password":"«pws»"}}}
conan user -p «pws» ‹user›
helm repo add x https://‹host› --username ‹user› --password «pws»
opensearch basic_auth=('‹user›','«pws»')
scrape_configs: basic_auth: { username: ‹user›, password: «pws» }
nginx: basic auth user "‹user›" password "«pws»" mismatch
auth_basic: ‹user›:«pws»
--http-user=‹user› --http-password=«pws»
--basic-auth ‹user›:«pws»
-basic_auth=‹user›:«pws»
--user=‹user›:«pws»
--proxy-user '‹user›:«pws»'
proxy = "http://‹user›:«pwu»@proxy.example.com:3128"
Acquire::http::Proxy "http://‹user›:«pwu»@proxy:3128";
git config http.proxy http://‹user›:«pwu»@proxy:8080
npm ERR! proxy http://‹user›:«pwu»@proxy:8080
pip --proxy ‹user›:«pws»@proxy:8080
TRAEFIK basicauth.users=‹user›:$$apr1$$«mixed8»$$«mixed22»
basicAuth: ‹user›:«pws»
"basicAuth": {"user":"‹user›","pass":"«pws»"}
http.basic.auth.user.info=‹user›:«pws»
schema.registry.basic.auth.user.info=‹user›:«pws»
userinfo ‹user›:«pws» is not allowed in URL
credentials: ‹user›:«pws»
creds=‹user›:«pws»
k6: http.get(`https://‹user›:«pwu»@‹host›/`)
artillery: auth: { user: "‹user›", pass: "«pws»" }
locust: auth=("‹user›", "«pws»")
httpx -auth ‹user›:«pws»
ffuf -u https://‹user›:«pwu»@‹host›/FUZZ
nikto -id ‹user›:«pws»
aria2c --http-passwd=«pws»
axel -U ‹user›:«pws» https://‹host›
http://‹user›:«pwu»@127.0.0.1:8080/manager/text
sc config x obj= ‹user› password= «pws»
{"Authorization":"Basic «basic»"}
Authorization=Basic%20«basic»
-H "Authorization: Basic «basic»"
basic «basic»
auth header: Basic «basic» rejected
_auth=«basic»
"auth" : "«basic»"
.dockerconfigjson: {"auths":{"x":{"username":"‹user›","password":"«pws»"}}}
npm ERR! 401 Unauthorized - GET https://‹user›:«pwu»@npm.example.test/left-pad
pip._vendor.requests: Retrying after connection broken: https://‹user›:«pwu»@‹host›/simple/acme/
curl -u ‹user›:«pwu» https://‹host›/api/status
wget --http-user=‹user› --http-password=«pwu» https://‹host›/nightly.tar.gz
GET /private HTTP/1.1⏎Host: ‹host›⏎Authorization: Basic «basic»
{"auths":{"registry.example.test":{"auth":"«basic»"}}}
HTTP_PROXY=http://‹user›:«pwu»@proxy.example.org:3128
machine ‹host› login ‹user› password «pwu»
E: Failed to fetch https://‹user›:«pwu»@apt.example.test/dists/stable/InRelease  401  Unauthorized
[global]⏎index-url = https://‹user›:«pwu»@‹host›/repository/py/simple
<server>⏎  <id>nexus</id>⏎  <username>‹user›</username>⏎  <password>«pwu»</password>⏎</server>
requests.get(url, auth=("‹user›", "«pwu»"))
req.SetBasicAuth("‹user›", "«pwu»")
.basic_auth("‹user›", Some("«pwu»"))
helm repo add acme https://charts.example.test --username ‹user› --password «pwu»
skopeo copy --dest-creds ‹user›:«pwu» docker-archive:a.tar docker://registry.example.test/a
git config --global http.proxy http://‹user›:«pwu»@proxy:8080
prometheus: remote_write:⏎  - url: https://‹host›/write⏎    basic_auth:⏎      username: ‹user›⏎      password: «pwu»
fetch(url, { headers: { Authorization: 'Basic «basic»' } })
proxy_set_header Authorization "Basic «basic»";
//npm.example.test/:_auth=«basic»
conda: https://‹user›:«pwu»@conda.example.test/channel/noarch/repodata.json 403
gem sources --add https://‹user›:«pwu»@gems.example.test/
{"http-basic":{"composer.example.test":{"username":"‹user›","password":"«pwu»"}}}
$ http -a ‹user›:«pwu» GET https://‹host›/metrics
ELASTICSEARCH_HOSTS=https://‹user›:«pwu»@‹host›:9200
rtsp://‹user›:«pwu»@10.0.0.12:554/stream1: 401 Unauthorized
sftp://‹user›:«pwu»@‹host›:22/upload
Acquire::http::Proxy "http://‹user›:«pwu»@10.1.2.7:3142";
yum: [acme]⏎baseurl=https://‹user›:«pwu»@‹host›/el9/⏎gpgcheck=0
smtp_url: smtps://‹user›:«pwu»@mail.example.org:465
java -Dhttp.proxyUser=‹user› -Dhttp.proxyPassword=«pwu» -jar app.jar
uri := "ldap://cn=‹user›:«pwu»@‹host›:389"
resp: 407 Proxy-Authenticate; sent Proxy-Authorization: Basic «basic»
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
HTTP basic user ‹user› with password '«pws»'
GET / (auth: ‹user›:«pws»)
--creds=‹user›:«pws»
--credentials ‹user›:«pws»
--login ‹user›:«pws»
--auth-user ‹user› --auth-pass «pws»
curl -sS -u "‹user›:«pws»" -X POST https://x
curl: -u ‹user›:'«pws»'
curl --proxy-user ‹user›:«pws»
curl -x http://‹user›:«pwu»@proxy:8080 https://x
wget --http-user=‹user› --http-password='«pws»'
Invoke-RestMethod -Headers @{Authorization="Basic «basic»"}
$headers["Authorization"] = "Basic «basic»"
req.Header.Add("Authorization", "Basic «basic»")
headers.put("Authorization", "Basic «basic»");
new AuthenticationHeaderValue("Basic", "«basic»")
Authorization: Basic «basic»,
authorization=Basic «basic»
grpc-metadata authorization: Basic «basic»
proxy-authorization: basic «basic»
"Authorization": ["Basic «basic»"]
Base64 credentials: «basic»
auth: «basic»
_auth = «basic»
:_auth="«basic»"
//x/:username=‹user› //x/:_password="«b64_24»"
always-auth=true _password=«b64_24»
echo -n '‹user›:«pws»' | base64
base64 <<< "‹user›:«pws»"
btoa("‹user›:«pws»")
Buffer.from("‹user›:«pws»").toString("base64")
base64.b64encode(b"‹user›:«pws»")
Base64.strict_encode64("‹user›:«pws»")
Convert.ToBase64String(Encoding.ASCII.GetBytes("‹user›:«pws»"))
socks5://‹user›:«pwu»@10.0.0.2:1080
rtsp://‹user›:«pwu»@10.0.0.5:554/h264
http.proxyUser=‹user› http.proxyPassword=«pws»
proxy_username=‹user› proxy_password=«pws»
users: ["‹user›:«pws»"]
- "‹user›:«pws»"
basicauth ‹user› «pws»
htpasswd entry ‹user›:$2y$10$«mixed53»
‹user›:{SHA}«b64_28»
‹user›:{SSHA}«b64_44»
digest: ‹user›:realm:«hex32»
registry auth ‹user›:«pws» rejected
url_username=‹user› url_password=«pws»
basic_auth:⏎  username: ‹user›⏎  password: «pws»
<user username="‹user›" password="«pws»" roles="manager-gui"/>
Credentials("realm", "‹host›", "‹user›", "«pws»")
credentials += Credentials("Sonatype", "‹host›", "‹user›", "«pws»")
credentials { username '‹user›'⏎ password '«pws»' }
<add key="ClearTextPassword" value="«pws»" />
kubectl create secret docker-registry r --docker-username=‹user› --docker-password=«pws»
crane auth login ‹host› -u ‹user› -p «pws»
podman login -u ‹user› -p «pws» ‹host›
nerdctl login --username ‹user› --password «pws»
oras login ‹host› -u ‹user› -p «pws»
singularity remote login -u ‹user› -p «pws»
Authorization: Digest username="‹user›", realm="x", response="«hex32»"
WWW: user "‹user›" password "«pws»" 401
GRAFANA_AUTH=‹user›:«pws»
KIBANA: -u elastic:«pws»
curl -k -u elastic:«pws» https://‹host›:9200
curl -fsS --user ‹user›:«pws» ftp://‹host›/x
curl --netrc-file <(echo "machine x login ‹user› password «pws»")
wget -q --http-user ‹user› --http-passwd «pws» https://‹host›
fetch("https://‹user›:«pwu»@‹host›/x")
requests.Session().auth = ("‹user›", "«pws»")
s.auth = HTTPDigestAuth('‹user›', '«pws»')
urllib3.make_headers(basic_auth="‹user›:«pws»")
password_mgr.add_password(None, url, "‹user›", "«pws»")
Net::HTTP: req.basic_auth("‹user›", "«pws»")
HTTParty basic_auth: { username: '‹user›', password: '«pws»' }
conn.request :basic_auth, '‹user›', '«pws»'
RestClient::Resource.new url, '‹user›', '«pws»'
$client->setAuth('‹user›', '«pws»');
'auth' => ['‹user›', '«pws»']
withBasicAuth('‹user›', '«pws»')
Http::withBasicAuth("‹user›", "«pws»")->get(x)
new UsernamePasswordCredentials("‹user›", "«pws»".toCharArray())
Credentials.basic("‹user›", "«pws»")
httpBasic("‹user›", "«pws»")
.with(httpBasic("‹user›", "«pws»"))
authentication.basic("‹user›","«pws»")
ClientBuilder.register(HttpAuthenticationFeature.basic("‹user›", "«pws»"))
new HttpBasicAuthentication("‹user›", "«pws»")
client.basic_auth("‹user›", Some("«pws»"))
reqwest: .basic_auth("‹user›", Some("«pws»")).send()
request.SetBasicAuth("‹user›", "«pws»")
resty.New().SetBasicAuth("‹user›", "«pws»")
url.UserPassword("‹user›", "«pws»")
supertest(app).get('/').auth('‹user›', '«pws»')
got(u, { username: '‹user›', password: '«pws»' })
superagent.get(u).auth('‹user›', '«pws»')
cy.visit(u, { auth: { username: '‹user›', password: '«pws»' } })
page.authenticate({ username: '‹user›', password: '«pws»' })
gatling: basicAuth("‹user›", "«pws»")
jmeter: -Jusername=‹user› -Jpassword=«pws»
wrk -H "Authorization: Basic «basic»"
ab -A ‹user›:«pws» -n 1 https://‹host›/
vegeta: Authorization: Basic «basic»
postman: "basic":[{"key":"password","value":"«pws»"}]
insomnia: "authentication":{"type":"basic","username":"‹user›","password":"«pws»"}
### REST client⏎Authorization: Basic ‹user›:«pws»
Authorization: Basic ‹user› «pws»
nginx: htpasswd line "‹user›:$apr1$«mixed8»$«mixed22»"
caddy basicauth ‹user› $2a$14$«mixed53»
squid: cache_peer x login=‹user›:«pws»
haproxy: user ‹user› insecure-password «pws»
lighttpd.user: ‹user›:«pws»
proxy_auth ‹user›:«pws»
HTTP_PROXY_USER=‹user› HTTP_PROXY_PASS=«pws»
apt proxy http://‹user›:«pwu»@‹host›:3128/ 407
git -c http.proxy=http://‹user›:«pwu»@‹host›:8080 clone x
rclone: :webdav,url='https://‹host›',user=‹user›,pass='«pws»':
davfs2 secrets: https://‹host›/dav ‹user› «pws»
/etc/davfs2/secrets: /mnt ‹user› "«pws»"
cadaver: login ‹user› password «pws»
icecast source:«pws»@‹host›:8000
liquidsoap output.icecast(password="«pws»")
rtmp://‹host›/live?user=‹user›&pass=«pwu»
onvif ‹user›:«pws»@10.0.0.4:80
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
warning: spurious network error: failed to download from `https://‹user›:«pwu»@crates.example.test/acme`
pip: Looking in indexes: https://‹user›:«pwu»@py.example.test/simple
poetry config http-basic.corp ‹user› «pwu»
POETRY_HTTP_BASIC_CORP_PASSWORD=«pwu» POETRY_HTTP_BASIC_CORP_USERNAME=‹user› poetry install
twine upload --repository-url https://py.example.test/ -u ‹user› -p «pwu» dist/*
npm notice registry url https://‹user›:«pwu»@npm.example.test/
_auth="«basic»"⏎registry=https://npm.example.test/
mvn deploy: 401 Unauthorized https://‹user›:«pwu»@mvn.example.test/releases/
settings.xml: <username>‹user›</username><password>«pwu»</password>
gradlew publish -PrepoUser=‹user› -PrepoPassword=«pwu»
publishing.repositories.maven.credentials { username = "‹user›"; password = "«pwu»" }
ivy: credentials: realm="Artifactory" host=art.example.test user=‹user› password=«pwu»
dotnet nuget add source https://nuget.example.test/v3 -n corp -u ‹user› -p «pwu» --store-password-in-clear-text
GONOSUMDB=*; GOPROXY="https://‹user›:«pwu»@goproxy.example.test"
gem push acme-1.0.gem --host https://‹user›:«pwu»@gems.example.test
cpanm --mirror http://‹user›:«pwu»@cpan.example.test Acme::X
options(repos = c(CORP = "https://‹user›:«pwu»@cran.example.test"))
HEX: mix hex.repo add corp https://‹user›:«pwu»@hex.example.test
docker login -u ‹user› -p «pwu» registry.example.test
echo '{"auths":{"r.example.test":{"auth":"«basic»"}}}' > config.json
.dockerconfigjson decoded: {"auths":{"r.example.test":{"username":"‹user›","password":"«pwu»","auth":"«basic»"}}}
nerdctl login --username ‹user› --password «pwu» registry.example.test
regctl registry set --user ‹user› --pass «pwu» registry.example.test
helm registry login registry.example.test -u ‹user› -p «pwu»
apt.conf: Acquire::https::apt.example.test::Proxy "http://‹user›:«pwu»@proxy.example.org:3128";
/etc/environment:⏎https_proxy="http://‹user›:«pwu»@proxy.example.org:8080"
$env:HTTPS_PROXY = 'http://‹user›:«pwu»@proxy.example.org:8080'
ProxyError: Cannot connect to proxy http://‹user›:«pwu»@10.1.2.7:3128
curl: (56) Received HTTP code 407 from proxy after CONNECT; -x http://‹user›:«pwu»@proxy:3128
wgetrc:⏎proxy_user = ‹user›⏎proxy_password = «pwu»
dnf.conf⏎proxy=http://proxy:3128⏎proxy_username=‹user›⏎proxy_password=«pwu»
nginx: proxy_set_header Authorization "Basic «basic»";
Caddy: header_up Authorization "Basic «basic»"
RequestHeader set Authorization "Basic «basic»"
httpie session: {"auth": {"type": "basic", "username": "‹user›", "password": "«pwu»"}}
insomnia: authentication: { type: basic, username: ‹user›, password: «pwu» }
"auth": {"type":"basic","basic":[{"key":"password","value":"«pwu»"},{"key":"username","value":"‹user›"}]}
GET http://‹host›/status⏎Authorization: Basic ‹user› «pwu»
curl -su "‹user›:«pwu»" "http://‹host›:15672/api/queues"
k6: http.get(`https://‹user›:«pwu»@staging.example.org/`)
artillery: target: "https://‹user›:«pwu»@staging.example.org"
playwright.config.ts httpCredentials: { username: '‹user›', password: '«pwu»' }
page.authenticate({ username: '‹user›', password: '«pwu»' })
cy.visit('/', { auth: { username: '‹user›', password: '«pwu»' } })
http_basic_authenticate_with name: "‹user›", password: "«pwu»"
HTTP::Client.basic_auth("‹user›", "«pwu»")
URLCredential(user: "‹user›", password: "«pwu»", persistence: .forSession)
Credentials.basic("‹user›", "«pwu»") // okhttp
new UsernamePasswordCredentials("‹user›", "«pwu»".toCharArray())
CURLOPT_USERPWD => '‹user›:«pwu»',
curl_easy_setopt(c, CURLOPT_USERPWD, "‹user›:«pwu»");
$opts = ['http' => ['header' => 'Authorization: Basic «basic»']];
LWP: $req->authorization_basic('‹user›', '«pwu»');
hackney_opts: [basic_auth: {"‹user›", "«pwu»"}]
ftp_proxy=ftp://‹user›:«pwu»@proxy.example.org:21
upload to sftp://‹user›:«pwu»@‹host›/in failed: Permission denied
Nagios: check_http -a ‹user›:«pwu» -H ‹host›
filebeat: output.elasticsearch:⏎  hosts: ["https://‹host›:9200"]⏎  username: "‹user›"⏎  password: "«pwu»"
fluent-bit [OUTPUT]⏎    HTTP_User   ‹user›⏎    HTTP_Passwd «pwu»
jenkins-cli -auth ‹user›:«pwu» list-jobs
SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO=‹user›:«pwu»
basic.auth.user.info=‹user›:«pwu»
ansible.builtin.uri: url_username: ‹user›  url_password: "«pwu»"
decoded Authorization header: ‹user›:«pwu» (Basic)
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
hint: https://‹user›:«pwu»@‹host›/o/r.git diverged
git fetch https://‹user›:«ghp»@github.com/o/r
fatal: could not read from https://‹user›:«pwu»@‹host›/o/r.git
credential approved for https://‹user›:«pwu»@gitlab.com
remote.origin.url=https://‹user›:«pwu»@‹host›/o/r.git
origin⇥https://«ghp»@github.com/o/r.git (fetch)
pip install "x @ git+https://‹user›:«ghp»@github.com/o/x"
git+https://«ghp»@github.com/o/r.git#egg=x
Cloning into bare repository from https://oauth2:«glpat»@gitlab.com/o/r.git
jenkins: hudson.plugins.git: https://‹user›:«pwu»@‹host›/o/r.git
[submodule] url = https://‹user›:«pwu»@‹host›/o/s.git
npm: https://«ghp»:x-oauth-basic@github.com/o/r.git
git clone https://x-access-token:«ghs»@github.com/o/r
argocd repo add https://‹user›:«pwu»@‹host›/o/r.git
flux git https://‹user›:«pwu»@‹host›/o/r.git timeout
codeberg: https://‹user›:«pwu»@codeberg.org/o/r
bitbucket https://x-token-auth:«url40»@bitbucket.org/o/r.git
git lfs: https://‹user›:«pwu»@‹host›/o/r.git/info/lfs/objects
hub sync https://‹user›:«pwu»@‹host›/o/r.git
go mod: git -c x ls-remote https://‹user›:«pwu»@‹host›/o/m.git
cargo: unable to update https://‹user›:«pwu»@‹host›/o/c.git
composer: https://oauth2:«glpat»@gitlab.com/o/p.git
ansible-galaxy: git+https://‹user›:«pwu»@‹host›/o/role.git
bazel: git_repository remote https://‹user›:«pwu»@‹host›/o/b.git
bundle: https://«ghp»:x-oauth-basic@github.com/o/g.git
tea: https://‹user›:«pwu»@gitea.‹host›/o/r
push mirror https://‹user›:«pwu»@‹host›/o/r.git failed
git archive --remote=https://‹user›:«pwu»@‹host›/o/r.git
error: failed to push some refs to 'https://‹user›:«pwu»@‹host›/o/r.git'
west: https://‹user›:«pwu»@‹host›/o/z.git
vcs: pushurl = https://‹user›:«pwu»@‹host›/o/r.git
gerrit: https://‹user›:«pwu»@‹host›/a/o/r.git
https://‹user›:«pwu»@github.com/o/r.git
fatal: unable to access 'https://‹user›:«pwu»@gitlab.com/o/r.git/'
git remote set-url origin https://«ghp»@github.com/o/r.git
git push https://oauth2:«glpat»@gitlab.com/o/r.git
protocol=https⏎host=github.com⏎username=‹user›⏎password=«ghp»
username=‹user›⏎password=«pws»⏎url=https://git.example.com
machine github.com login ‹user› password «ghp»
git clone https://‹user›:«mixed20»@bitbucket.org/o/r.git
GIT_ASKPASS=echo «ghp»
GITHUB_TOKEN=«ghs» git push
insteadOf https://«ghpat»@github.com/
Cloning into 'r'... remote: https://gitlab-ci-token:«url20»@‹host›/o/r.git
go: git ls-remote https://«ghp»@github.com/o/m
ERROR: Command errored out: git clone -q https://‹user›:«pwu»@‹host›/o/p.git
gh: HTTP 401 with «gho»
svn: https://‹user›:«pwu»@‹host›/svn/repo
[auth]⏎x.prefix = ‹host›⏎x.password = «pws»
git-credential-store: get password=«pws»
fatal: Authentication failed for 'https://‹user›:«pwu»@git.example.test/acme/shop.git/'
remote: Repository not found.⏎fatal: repository 'https://‹user›:«ghp»@github.com/acme/shop.git/' not found
origin⇥https://‹user›:«pwu»@git.example.test/acme/shop.git (push)
git clone --depth 1 https://oauth2:«glpat»@gitlab.example.test/acme/shop.git
go: module lookup: git ls-remote -q https://x-access-token:«ghs»@github.com/acme/lib: exit status 128
[remote "origin"]⏎⇥url = https://‹user›:«pwu»@git.example.test/acme/shop.git
npm ERR! code 128 git ls-remote ssh failed, tried git+https://«ghp»@github.com/acme/lib.git
requirements.txt: git+https://‹user›:«ghp»@github.com/acme/lib.git@v1.2#egg=lib
Cargo.toml: acme = { git = "https://‹user›:«pwu»@git.example.test/acme/lib.git" }
git remote set-url origin https://‹user›:«ghpat»@github.com/acme/shop.git
protocol=https⏎host=git.example.test⏎username=‹user›⏎password=«pwu»
~/.git-credentials: https://‹user›:«pwu»@git.example.test
gem 'acme', git: 'https://«ghp»:x-oauth-basic@github.com/acme/acme.git'
url."https://‹user›:«ghp»@github.com/".insteadOf=https://github.com/
+ git push https://gitlab-ci-token:«glpat»@gitlab.example.test/acme/shop.git HEAD:main
"resolved": "git+https://‹user›:«pwu»@git.example.test/acme/lib.git#‹hex40›"
Submodule path 'vendor/x': could not fetch https://‹user›:«pwu»@git.example.test/acme/x.git
module "vpc" { source = "git::https://‹user›:«pwu»@git.example.test/acme/vpc.git?ref=v3" }
s.source = { :git => 'https://‹user›:«pwu»@git.example.test/acme/Pod.git', :tag => '1.0' }
fetch upstream: https://x-token-auth:«url40»@bitbucket.org/acme/shop.git: 401
FETCH_HEAD: ‹hex40› branch 'main' of https://‹user›:«pwu»@git.example.test/acme/shop
error: RPC failed; HTTP 403 curl 22; url https://‹user›:«pwu»@git.example.test/acme/shop.git
<scm><connection>scm:git:https://‹user›:«pwu»@git.example.test/acme/shop.git</connection></scm>
repositories: [{type: vcs, url: "https://oauth2:«glpat»@gitlab.example.test/acme/php.git"}]
argocd repo add https://git.example.test/acme/k8s.git --username ‹user› --password «pwu»
Package.swift: .package(url: "https://‹user›:«ghp»@github.com/acme/Kit.git", from: "2.0.0")
hudson.plugins.git.GitException: Command "git fetch https://‹user›:«pwu»@git.example.test/acme/shop.git" returned 128
GIT_ASKPASS=/tmp/ask git pull https://‹user›:«pwu»@git.example.test/acme/docs.git main
Pushing to https://‹user›:«pwu»@git.example.test/acme/shop.git⏎ ! [rejected] main -> main (fetch first)
svn checkout https://svn.example.test/acme --username ‹user› --password «pwu»
poetry add "git+https://‹user›:«ghpat»@github.com/acme/lib.git"
hg push https://‹user›:«pwu»@hg.example.test/acme
flux create secret git auth --url=https://git.example.test/a/b --username=‹user› --password=«ghp»
renovate: hostRules: [{matchHost: "github.com", token: "«ghp»"}]
lfs.url=https://‹user›:«pwu»@git.example.test/acme/shop.git/info/lfs
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
printf 'protocol=https\\nhost=git.example.test\\nusername=‹user›\\npassword=«pwu»\\n' | git credential approve
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
Cloning into 'shop'...⏎fatal: unable to access 'https://‹user›:«ghp»@github.com/acme/shop.git/': The requested URL returned error: 403
$ git config --get remote.origin.url⏎https://‹user›:«ghp»@github.com/acme/blog.git
GIT_TRACE: run_command: git remote-https origin https://‹user›:«pwu»@git.example.test/acme/blog.git
GIT_CURL_VERBOSE: == Info: Server auth using Basic, url https://oauth2:«glpat»@gitlab.example.test/acme/blog.git
error: could not fetch https://x-access-token:«ghs»@github.com/acme/blog.git
fetch = +refs/heads/*:refs/remotes/origin/*⏎url = https://‹user›:«pwu»@git.example.test/acme/blog.git
remote: Permission to acme/blog.git denied to bot.⏎fatal: unable to access 'https://x-access-token:«ghpat»@github.com/acme/blog.git/'
Updating git repository `https://‹user›:«pwu»@git.example.test/acme/rs.git`
[patch.internal]⏎acme = { git = "https://«ghp»@github.com/acme/rs", branch = "main" }
go get: module git.example.test/acme/lib: git ls-remote https://‹user›:«pwu»@git.example.test/acme/lib: exit status 128
git config --system url."https://oauth2:«glpat»@gitlab.example.test/".insteadOf "ssh://git@gitlab.example.test/"
pnpm-lock.yaml: resolution: {type: git, repo: https://‹user›:«ghp»@github.com/acme/kit.git}
yarn add https://«ghp»:x-oauth-basic@github.com/acme/kit.git
"kit": "git+https://oauth2:«glpat»@gitlab.example.test/acme/kit.git#v3",
Pipfile: kit = {git = "https://‹user›:«pwu»@git.example.test/acme/kit.git", ref = "main"}
pyproject: acme = { git = "https://‹user›:«ghpat»@github.com/acme/py.git", rev = "v1" }
Collecting acme@ git+https://‹user›:«ghp»@github.com/acme/py.git
remotes::install_git("https://‹user›:«pwu»@git.example.test/acme/rpkg.git")
using Pkg; Pkg.add(url="https://‹user›:«ghp»@github.com/acme/Jl.git")
fatal: could not read Password for 'https://«ghp»@github.com': No such device or address
mix deps.get: ** (Mix) Command "git clone https://‹user›:«pwu»@git.example.test/acme/ex.git" failed
bundler: Git error: command `git clone https://«ghp»:x-oauth-basic@github.com/acme/rb.git` in directory / has failed
Failed to clone https://‹user›:«ghp»@github.com/acme/php.git via https
CMake: FetchContent_Declare(kit GIT_REPOSITORY https://‹user›:«pwu»@git.example.test/acme/kit.git)
bazel: git_repository(name = "kit", remote = "https://‹user›:«ghp»@github.com/acme/kit.git")
xcodebuild: error: Couldn't fetch https://oauth2:«glpat»@gitlab.example.test/acme/swift.git
nix: error: program 'git' failed fetching https://‹user›:«pwu»@git.example.test/acme/nixcfg.git
meson wrap: url = https://‹user›:«pwu»@git.example.test/acme/sub.git
repo init -u https://‹user›:«pwu»@git.example.test/platform/manifest
default.xml: <remote name="corp" fetch="https://‹user›:«pwu»@git.example.test/" />
SRC_URI = "git://git.example.test/acme/fw.git;protocol=https;user=‹user›:«pwu»"
git archive --remote=https://‹user›:«pwu»@git.example.test/acme/blog.git HEAD
git bundle create x.bundle --all; origin is https://‹user›:«ghp»@github.com/acme/blog.git
hub clone https://«gho»@github.com/acme/blog.git
gh repo clone failed: https://x-access-token:«gho»@github.com/acme/blog.git
Drone clone: + git fetch --no-tags https://‹user›:«pwu»@git.example.test/acme/blog.git
DRONE_NETRC_USERNAME=‹user› DRONE_NETRC_PASSWORD=«ghp»
machine github.com⏎  login ‹user›⏎  password «ghp»
machine gitlab.example.test login gitlab-ci-token password «glpat»
git credential-cache: protocol=https host=github.com username=‹user› password=«gho»
~/.config/git/credentials⏎https://‹user›:«pwu»@git.example.test
https://‹user›:«ghpat»@github.com   # saved by git credential store
tea login add --url https://git.example.test --user ‹user› --password «pwu»
jenkins job dsl: remote { url('https://‹user›:«pwu»@git.example.test/acme/blog.git') }
gitops-engine: failed to list refs: https://‹user›:«ghp»@github.com/acme/env.git: authorization failed
argocd-repo secret:⏎url: https://github.com/acme/env⏎username: ‹user›⏎password: «ghp»
git-sync: --repo=https://‹user›:«pwu»@git.example.test/acme/dags.git --branch=main
AIRFLOW git-sync: GITSYNC_PASSWORD=«glpat» GITSYNC_USERNAME=‹user›
RUN --mount=type=cache pip install "git+https://oauth2:«glpat»@gitlab.example.test/acme/ml.git"
ansible.builtin.git: repo=https://‹user›:«pwu»@git.example.test/acme/web.git dest=/srv/web
module.net: git::https://‹user›:«ghp»@github.com/acme/tf-net.git?ref=v2
remote "template" failed: copier copy https://‹user›:«pwu»@git.example.test/acme/tpl.git .
cookiecutter https://«ghp»@github.com/acme/tpl.git
hg clone https://‹user›:«pwu»@hg.example.test/acme/core
[auth]⏎corp.prefix = hg.example.test⏎corp.username = ‹user›⏎corp.password = «pwu»
svn: E215004: No more credentials; svn co https://svn.example.test/x --username ‹user› --password «pwu»
p4 -u ‹user› -P «pwu» sync //depot/...
fossil clone https://‹user›:«pwu»@fossil.example.test/core core.fossil
gitea mirror: clone_addr=https://oauth2:«ghp»@github.com/acme/blog.git
mirror push target https://‹user›:«glpat»@gitlab.example.test/acme/mirror.git failed
Dependabot: git_source credentials { host: git.example.test, username: ‹user›, password: «pwu» }
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
card_error: «card» insufficient_funds
expected «cardsp» to be masked
cardNumber="«card»"
pan «card» not in BIN table
Visa ending? full: «cardsp»
{"cc":"«cardda»"}
INSERT INTO c VALUES(3,'«card»')
log: entered «card»
POS terminal: «cardsp» approved
number: «card»
csv: 9;«card»;12/29
track «card» read error
<card>«cardsp»</card>
order paid («card»)
dispute on «cardda»
stripe token from «card»
card=«card»&cvc=123
Luhn ok: «cardsp»
print «card»
subscription card «card» expired
billing «cardda» update
"value": "«card»"
Maestro/Visa «cardsp»
replaced «card» with ****
check «amex»
pay «card» 10 USD
saved card: «cardsp»
cc «card»
> «cardsp»
customer gave «card» by phone
«card» blocked
charge «card» 4.00 EUR declined
card number «cardsp» exp 12/28
{"card":{"number":"«card»","cvc":"123"}}
"pan":"«card»"
PAN=«card»;EXP=1228
Visa «cardda» approved
amex «amex»
4111-like: «cardsp»
ccnum: «card»
Payment with «card» failed: do_not_honor
INSERT INTO payments VALUES (1, '«card»', 'x')
log.info("card={}", "«card»")
stripe.error.CardError: Your card was declined. number=«card» exp=12/29
{"paymentMethod":{"type":"card","number":"«card»","cvc":"737"}}
Card number: «cardsp»
INSERT INTO payments (pan, exp, amount) VALUES ('«card»', '1228', 4200);
<CardNumber>«card»</CardNumber><ExpiryDate>0930</ExpiryDate>
DEBUG BraintreeGateway creditCard.number=«card»
card_number,expiry,name⏎«card»,11/27,TEST USER
await page.type('#cc-number', '«cardsp»');
Please charge my Visa «cardsp», valid until 08/28
ValidationError: pan "«card»" failed BIN lookup
creditCard: "«cardda»"
POST /checkout cc=«card»&exp_month=4&exp_year=2029
WARN PCI: unmasked PAN «card» found in request log
Amex «amex» declined: code 05
assertEquals("VISA", CardType.detect("«card»"));
payment.card.number = «card»
track2=;«card»=29011010000012345?
$gateway->purchase(['card' => ['number' => '«card»', 'cvv' => '123']]);
FIELD 002 (PAN): «card»
Kunde zahlte mit Kreditkarte «cardsp»
"accountNumber": "«card»", "cardType": "mastercard"
refund to card «cardda» failed: original transaction not found
name: A. Customer | card: «card» | cvv: *** | 03/30
ccnum=«card»
select * from cards where card_no = '«card»';
Adyen: encryptedCard missing, got plain number «card»
  card:⏎    number: "«card»"⏎    exp: 05/31
expected "**** **** **** 1111", got "«cardsp»"
Ticket #‹n›: customer sent a photo of credit card «cardsp»
3DS authentication for card «card» timed out
CardValidator.luhn("«card»") -> true, issuer: Visa
my amex is «amex», cid on the front
[order ‹n›] Credit Card ........ «card»
payments.csv:18: "«cardsp»","MASTERCARD","USD"
tokenize(card_number: "«card»") raised Spreedly::TimeoutError
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
card_number: «card»
cc=«cardda»
«card»|12|28|123
«card»:12/28:123
PAN «card» declined (05)
"number": "«cardsp»"
Card: «card» Exp: 12/28
;«card»=28121010000000000?
%B«card»^DOE/JOHN^2812101?
track2=«card»=2812
charge(«card»)
creditcard '«amex»'
acct «card»
num=«card»
card «cardsp».
(«cardsp»)
<number>«card»</number>
cardNo=«card»
payment method «card» failed
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
thread 'main' panicked at src/pay.rs:44: card «card» declined
{ "card_number": "«card»", "exp": "04/30" }
pay.CreditCard{Number: "«card»", Month: 4, Year: 2030}
new CreditCard("«cardda»", "TEST USER", 2030, 4);
CardError(code=incorrect_number): the card number «card» has a wrong check digit
"ccNumber":"«card»","ccExp":"0430"
MasterCard ending check: full number «cardsp»
paymentInstrument[cardNumber]=«card»
<ns:creditCard><ns:cardNumber>«card»</ns:cardNumber></ns:creditCard>
<input name="cardnumber" value="«cardsp»" autocomplete="cc-number">
$card->setNumber('«card»');
ActiveMerchant::Billing::CreditCard.new(number: '«card»', month: 4, year: 2030)
%Card{number: "«card»", exp_month: 4}
let card = STPCardParams(); card.number = "«card»"
CardParams(number = "«card»", expMonth = 4, expYear = 2030)
INSERT INTO cc_vault VALUES (7, '«card»', '0430');
select * from payments where pan = '«cardsp»'
UPDATE wallet SET credit_card='«cardda»' WHERE uid=42
PAN: «card» EXP: 0430
Primary account number: «cardsp»
E_INVALID_PAN: «card»
decrypted PAN is «card»
gateway request: vpc_CardNum=«card»&vpc_CardExp=3004
ACCT=«card»&EXPDATE=0430&TENDER=C
x_card_num=«card»|x_exp_date=0430|x_type=AUTH_CAPTURE
cardNo=«card» respCode=51
ISO 8583 field 2: «card»
DE 35 track2 ;«card»=30042010000000000000?
%B«card»^TEST/USER^3004201?
EMV tag 5A (PAN) = «card»
POS journal: VISA «cardsp» SALE 19.99 APPROVED
The customer read out the card number over the phone: «cardsp»
Please remove my credit card «cardda» from the account
hi, I paid with visa «card» and got no receipt
Kreditkarte «cardsp» wurde abgelehnt
carte bancaire n° «cardsp» refusée
número de tarjeta: «card»
carta di credito: «cardsp»
card on file → «cardda»
amex «amex» (expired)
American Express card number: «amex»
"brand": "amex", "number": "«amex»"
test "rejects card «amex»"
fixtures/cards.yml:⏎visa:⏎  number: «card»
expect(isValidCardNumber('«cardsp»')).toBe(true)
luhn.check("«card»") failed for a card number that the bank issued
spring log: CardService.charge(cardNumber=«card», amount=100)
logger: request body {"creditCard":{"number":"«card»"}}
Splunk alert: unmasked credit card «card» in index=web
WARN dlp-agent: found 1 credit card number: «cardda»
pan_token mapping: pan «card» → tok_‹mixed16›
charge.csv row 3: card=«card», amount=12.00
refund(card: "«card»", amount: 500)
chargeback notice: Mastercard «cardsp», reason 4853
subscription: card «card» expires next month
3-D Secure enrolment check: cardNumber «card» not enrolled
tokenization: POST /tokens {"number":"«cardsp»","type":"visa"}
cvv mismatch for card number «card»
booking guarantee: Visa «cardsp», exp. 04/30
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
ssn invalid: «ssn»
"ssn":"«ssn»"
user «ssn» duplicate
SSN=«ssn»
ssn: «ssn»,
social security number is «ssn»
ITIN «itin»
{"tax_id":"«ssn»"}
employee (ssn «ssn»)
loan: «ssn» denied
row: a,b,«ssn»
<ssn type="us">«ssn»</ssn>
w4 «ssn»
ssn='«ssnbare»'
SocialSecurity: «ssn»
where ssn = '«ssn»'
«ssn» is deceased
person «ssn»
tin: «itin»
expect(ssn).toBe("«ssn»")
claims: «ssn»
SSN "«ssn»" leaked
ssn #«ssn»
student «ssn»
audit «ssn» viewed
verify «ssn»: mismatch
SSN («ssn») bad
medicare «ssn»
ssn → «ssn»
id «ssn» rejected
driver «ssn»
ssn value '«ssnsp»'
ssn=«ssn»
applicant «ssn» rejected
patient ssn «ssn»
«ssn»,Doe,John
tax id «ssn»
ssn: '«ssnbare»'
SSN «ssnsp» invalid
ValidationError: field "ssn": value "«ssn»" already exists
{"firstName":"Test","ssn":"«ssn»","dob":"1980-01-01"}
INSERT INTO employees (name, social_security_number) VALUES ('Test', '«ssn»');
<SocialSecurityNumber>«ssn»</SocialSecurityNumber>
duplicate key value violates unique constraint "people_ssn_key" DETAIL: Key (ssn)=(«ssn») already exists.
applicant's social security number, «ssn», did not match IRS records
W-2 box a: Employee's social security number «ssn»
Taxpayer ITIN: «itin»
name,ssn,salary⏎Test,«ssn»,52000
GET /verify?ssn=«ssnbare» 500
Form 1099: recipient's TIN (SSN) «ssn»
SSN («ssn») flagged by credit bureau
patient: {mrn: 00412, ssn: '«ssn»'}
expect(mask("«ssn»")).toBe("***-**-****"); // ssn
Social Security No.: «ssnsp»
$user->setSsn('«ssn»');
experian request: SocialSecurityNumber=«ssnbare»
UPDATE person SET ssn='«ssn»' WHERE id=4;
SSN ending check failed for full SSN «ssn»
my social is «ssn», please update the payroll record
tax_identification: { type: ITIN, value: "«itin»" }
SSN:⇥«ssn»⇥DOB:⇥01/01/1980
payroll: cannot sync worker with SSN «ssn»: 422
"social_security_number": "«ssnbare»",
borrower SSN «ssn» / co-borrower SSN «ssn»
I-9 section 1: U.S. Social Security Number: «ssn»
regex ^\\d{3}-\\d{2}-\\d{4}$ matched ssn «ssn» in dump.txt
log.info("looking up ssn={}", "«ssn»")
LEAK: SSN «ssn» written to /var/log/hr.log
Medicaid record ssn «ssn» duplicate of 2 others
ssn: "«ssn»" # fixtures/people.yml
HL7 PID-19 SSN: «ssn»
ssn_last4 mismatch for ssn «ssn»
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
SSN#: «ssn»
soc sec «ssn»
"taxId": "«ssn»"
TIN «itin»
employee,ssn⏎bob,«ssn»
ssn(«ssn»)
us_ssn='«ssn»'
SS# «ssn»
Social Security: «ssn»
social_security=«ssnbare»
borrower «ssn»
ssn is «ssnsp»
<SSN>«ssnbare»</SSN>
identity «ssn» mismatch
"ssn": «ssnbare»,
Social Security Number (SSN): «ssn»
SSN No: «ssn»
ssn no. «ssn»
SSN/TIN: «itin»
Social Security #: «ssn»
soc. sec. no. «ssn»
ssn_full: "«ssnbare»"
"ssn_plain":"«ssnbare»"
social-security-number=«ssnbare»
spouse ssn «ssnbare»
{ ssn: '«ssnbare»', name: 'x' }
ssn = "«ssn»",
X-SSN: «ssnbare»
?ssn=«ssnbare»&dob=1970-01-01
/users/ssn/«ssnbare»
for SSN «ssnbare» not found
SSN «ssnbare»: no match
Duplicate entry '«ssnbare»' for key 'users.ssn'
Key (ssn)=(«ssnbare») already exists.
INSERT INTO p (name, ssn) VALUES ('x', '«ssnbare»')
WHERE ssn = «ssnbare»
name,ssn⏎x,«ssnbare»
ssn|«ssnbare»|x
<ssn>«ssnbare»</ssn>
<SocialSecurityNumber>«ssnbare»</SocialSecurityNumber>
setSsn("«ssnbare»")
person.ssn = '«ssnbare»'
Person(ssn='«ssnbare»')
Person{name=x, ssn=«ssnbare»}
ssn=>«ssnbare»
:ssn => "«ssnbare»"
--ssn «ssnbare»
NM1*IL*1*DOE*JOHN****34*«ssnbare»~
REF*SY*«ssnbare»~
PID|1||«ssn»||DOE^JOHN
national id «ssn»
taxpayer «ssn»
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
CHECK (ssn ~ '^\\d{3}-\\d{2}-\\d{4}$') violated by '«ssn»' in column ssn
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
ValueError: SSN «ssn» has an invalid area number
SSN="«ssn»"
struct Employee { ssn: "«ssn»".to_string(), state: "TX".into() }
Employee{Name: "Test", SSN: "«ssn»"}
new Person { Name = "Test", SocialSecurityNumber = "«ssn»" };
person.setSsn("«ssn»");
@ssn = "«ssn»"
{"applicant": {"ssn": "«ssn»", "zip": "73301"}}
<ssn>«ssn»</ssn>
<taxpayer><tin type="SSN">«ssn»</tin></taxpayer>
SELECT id FROM people WHERE social_security_number = '«ssn»'
INSERT INTO w2(ssn) VALUES ('«ssn»');
name;ssn⏎Test;«ssn»
SSN,Last,First⏎«ssn»,Test,Sample
GET /api/employees?ssn=«ssn» 404
curl -d 'ssn=«ssn»' https://hr.example.org/api/lookup
PUT /people/3 {"ssn":"«ssnbare»"}
Social Security number «ssn» not found in the E-Verify database
E-Verify case: SSN «ssn», tentative nonconfirmation
my SSN is «ssn» and the form says it's invalid
The employee's social security number is «ssn».
Could you check why SSN «ssn» was rejected by payroll?
Customer said her social security number is «ssn»
1040 line: Your social security number «ssn»
Form W-4, step 1(b) Social security number: «ssn»
1099-NEC recipient's TIN: SSN «ssn»
IRS: SSN «ssn» and name control don't match
ITIN: «itin»
individual taxpayer identification number «itin»
W-7 renewal for ITIN «itin» rejected
"itin": "«itin»"
SSN/ITIN: «itin»
dependent 1 SSN «ssn», dependent 2 SSN «ssn»
SSN of spouse: «ssn»
co-signer social security no: «ssn»
loan 88: borrower_ssn=«ssn»
FICO pull SSN=«ssn» returned no file
TransUnion error 071 for social security number «ssn»
background check: SSN trace on «ssn»
HL7: PID|1||‹n›||TEST||19800101|M|||||||||||«ssn»  (SSN in PID-19)
EDI 270 REF*SY*«ssnbare» (social security number)
FAFSA student social security number: «ssn»
Medicare: SSN «ssn», claim denied
payroll export: ssn=«ssnbare»
full SSN (no dashes): «ssnbare»
applicant_ssn "«ssnsp»" does not match the pattern
SSN as entered: «ssnsp»
expect(maskSsn("«ssn»")).toEqual("•••-••-••••")
redact(ssn="«ssn»") returned input unchanged
faker seed: { ssn: "«ssn»", name: "Test" }
Presidio: US_SSN «ssn» at offset 12
DLP scan: SSN found: «ssn» in hr.xlsx
hr_sync ERROR: worker SSN «ssn» is used by two profiles
log.debug("SSN {}", "«ssn»")
validate_ssn("«ssn»") => false
unemployment insurance claim for SSN «ssn»
Security question: last known SSN «ssn»
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
sms failed for «e164»
"phone":"«us»",
phone=«us»
Tel: «uspar»
to: «e164»
from=«e164»
call «uspar»
whatsapp:«e164»
customer phone is «us»
{"tel":"«frintl»"}
phone: «inmob»
contact «us»
fax: «uspar»
phone («us») invalid
otp for «e164»
number «usdot»
voice «us»
cell: «usdot»
user «brmob»
dial «deintl00»
phone_number=«usbare»
msisdn: «msisdn»
sim «e164»
text «us»
PHONE='«e164»'
<phone>«uspar»</phone>
caller «us»
support line «us»
sms to «inmob»
To: «e164»
phone: «us»
Call «uspar» now
sms to «e164» failed: 21211
"mobile": "«e164»"
contact: «usdot»
WhatsApp «inmob»
+«msisdn»
phone_number: "«usbare»"
twilio: From «e164» is not verified
twilio.base.exceptions.TwilioRestException: HTTP 400 error: The 'To' number «e164» is not a valid phone number.
{"name":"Test","phone":"«us»"}
Phone (daytime): «uspar»
client.messages.create(to="«e164»", from_="«e164»", body="hi")
Call me on «us» if the deploy breaks
Tel.: «deloc»
Mobil: «demob»
Rufen Sie uns an: «deintl00»
<a href="tel:«e164»">call us</a>
Téléphone : «frloc»
telefone: «brmob»
INSERT INTO contacts (phone_number) VALUES ('«e164»');
phone_number: ["«usbare» has already been taken"]
SMS to «e164» failed with status undelivered
BEGIN:VCARD⏎TEL;TYPE=CELL:«e164»⏎END:VCARD
ON_CALL_PHONE=«e164»
my mobile is «ukmob»
"contact": { "mobile": "«inmob»", "email": null }
Fax «uspar» did not answer
user.phone = '«us»'
<phoneNumber>«us»</phoneNumber>
verification code sent to phone «e164»
msisdn=«msisdn» operator=26201
WhatsApp message to «e164» rejected: outside window
name,phone⏎Test,«us»
contact support: phone «usdot»
sip:«e164»@sip.example.org SIP/2.0 486 Busy Here
caller id «uspar»
E.164 phone "«e164»" is missing country metadata
cell «us» opted out via STOP
signal-cli -u «e164» receive
home phone: «us», work phone: «us»
mobile number «frintl» is blocked
Alert Manager: paging on-call at phone «us»
Customer's phone number is «usbare»
Vonage error: Non White-listed Destination - rejected, to=«e164»
"phoneNumber": "«us»",
phone.......: «uspar»
await client.verify.v2.services(sid).verifications.create({ to: '«e164»', channel: 'sms' })
you can reach me at «uspar» after 5pm
Unser Telefon im Büro: «deintl00»
Handynummer: «demob»
Festnetz: «deloc»
Tél. mobile : «frloc»
celular: «brmob»
UPDATE users SET phone='«us»' WHERE id=12;
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
Phone No: «us»
Tel. «deloc»
tel +49 30 «digits8»
Teléfono: «e164»
cel: «e164»
Mobile: «ukmob»
Mobile No. «inmob»
phone1=«usbare»
"phoneNumber": "«e164»",
"homePhone":"«us»"
work_phone: «uspar»
contact_phone='«usdot»'
caller_id=«e164»
CallerID: "Bob" <«usbare»>
From: sip:«e164»@sip.example.com
SIP/2.0 404 <sip:«usbare»@10.0.0.3>
INVITE sip:«e164»@example.com SIP/2.0
SMS from «e164»: hello
sms.to=«msisdn»
nexmo: to=«msisdn»&from=x
To=%2B«digits11»
https://wa.me/«digits11»
whatsapp://send?phone=«digits11»
"to": "whatsapp:«e164»"
recipient «e164» is not a valid number
number «e164» blocked
dialing «us»...
Fax: «uspar»
Call me at «us»
reach us on «uspar»
Hotline «deintl00»
Rufnummer «demob»
numéro «frintl»
+1 («n3») 555-«n4»
vcard: TEL;TYPE=cell:«e164»
TEL:«us»
INSERT INTO contacts VALUES ('Bob', '«us»')
user,phone⏎bob,«us»
AT+CMGS="«e164»"
ATD«e164»;
voicemail left by «us»
2FA code sent to «e164»
otp sms to «us» failed
verify phone «e164»
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
TwilioRestClient: unable to create record: phone number «e164» is unverified
{"to":"«e164»","channel":"sms","body":"Your code"}
twilio.messages.create(to="«e164»", body="hi")
send_sms(phone: "«e164»", text: "hi")
vonage.SMS to mobile «e164» status 6
phone = "«us»"
"phone": "«uspar»", "name": "Test"
<tel>«e164»</tel>
mobile_number: "«e164»"
Telephone: «us»
Mobile phone «us» is not reachable
call me at «us»
You can call our office: phone «uspar»
Text me on my mobile: «e164»
my phone number is «us»
new phone number: «usdot», please update
Please ring her on her mobile, «ukmob»
UK mobile number «ukmob»
Rufen Sie mich an, Tel. «deloc»
Telefon (mobil): «demob»
Telefon: «deintl00»
Tel.: «deintl00» (Büro)
mon numéro de portable est le «frloc»
WhatsApp: «brmob»
mobile no. «inmob»
INSERT INTO contacts(phone) VALUES('«us»');
SELECT * FROM users WHERE phone_number = '«e164»'
UPDATE leads SET mobile='«inmob»' WHERE id=3
ERROR: duplicate key value violates unique constraint "users_phone_key" DETAIL: Key (phone)=(«us») already exists.
phone;city⏎«usdot»;Austin
phonenumbers.parse("«uspar»", "US")
PhoneNumberUtil: NOT_A_NUMBER for phone «us»
Phonelib.parse("«e164»").valid?
expect(formatPhone("«usbare»")).toBe("-")
user.phone_number = "«e164»"
let phone = "«uspar»"
sms to «e164» queued
SMS-Versand an Mobilnummer «demob» fehlgeschlagen
voicemail from phone «uspar», 0:32
caller id phone number «us»
opsgenie contact: method: sms, to: «e164»
emergency phone: «us»
Kundentelefon: «deloc»
asterisk: Dial(SIP/trunk/«e164») caller number «e164»
sip:«e164»@sip.example.org
smsc: MSISDN «msisdn» absent subscriber
HLR lookup msisdn=«msisdn»
otp_delivery: phone=«e164» provider=sns status=failed
Firebase phone auth: phoneNumber «e164» TOO_LONG
user typed "«us»" into the phone field
Lieferung: Tel. Empfänger «demob»
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
otpauth://totp/z?secret=«b32_32»
totp secret: «b32_32»
TOTP=«b32_32»
mfa_secret: "«b32_16»"
oathtool --totp --base32 «b32_32»
2fa secret = «b32_32»
otp_key: «b32_32»
authenticator: «b32_32»
"totpSecret": "«b32_32»"
setup key «b32sp»
two factor secret «b32_32»
OTP: «b32_26»
mfa key: «b32_32»
google authenticator key «b32_16»
otplib: secret '«b32_32»'
totp «b32_16» bad
hotp? otp seed «b32_32»
TWO_FACTOR_SECRET=«b32_32»
mfa enroll: «b32_52»
2fa key «b32_32»
rotp: «b32_32»
totp.now(«b32_32»)
otpSecret=«b32_32»
authenticator app secret: «b32_32»
mfaSecret: '«b32_32»'
totp seed: «b32sp»
?secret=«b32_32» otpauth
2FA: enter «b32_16»
totp key=«b32_32»
secret «b32_32» for totp
TOTP_KEY='«b32_32»'
otpauth://totp/x:‹user›?secret=«b32_32»&issuer=x
otpauth://hotp/x?secret=«b32_16»&counter=1
TOTP secret: «b32_32»
pyotp.TOTP("«b32_32»").now()
manual entry key: «b32sp»
Your 2FA setup key is «b32_16»
GOOGLE_AUTH_SECRET=«b32_16»
speakeasy.totp({secret: '«b32_32»', encoding: 'base32'})
authenticator.generate('«b32_16»')
"otp_secret":"«b32_32»"
OTP_SEED=«b32_32»
enter this code in your authenticator app: «b32sp»
Scan or type «b32_32» into your authenticator
totp add ‹user› «b32_32»
aws iam: Base32StringSeed «b32_64»
Base32StringSeed: «b32_64»
gauth: «b32_16»
2fa seed «b32_32»
secret=«b32_32» digits=6 period=30
hotp key «b32_32»
steam shared_secret: «b64_28»
mfa.secret=«b32_32»
otpauth://totp/Acme:‹user›@example.org?secret=«b32_32»&issuer=Acme&digits=6
{"mfa":{"type":"totp","secret":"«b32_32»"}}
Enter this setup key in your authenticator app: «b32sp»
totp_seed: «b32_16»
speakeasy.totp.verify({ secret: '«b32_52»', encoding: 'base32', token: code })
UPDATE users SET otp_secret='«b32_32»' WHERE id=1;
Your new secret key is: «b32_26»⏎Your verification code is ‹digits6›
user.google_authenticator_secret = "«b32_16»"
ROTP::TOTP.new("«b32_32»", issuer: "Acme")
authenticator.generate('«b32_16»') // otplib
Can't scan the QR code? Use this 2FA key: «b32_32»
MFA_SEED="«b32_32»" ./login.sh
qrencode -o mfa.png 'otpauth://totp/aws:root?secret=«b32_64»'
two_factor_secret: "«b32_32»"
"totp": "otpauth://totp/bitwarden?secret=«b32_32»&period=30"
ERROR 2FA: invalid base32 in TOTP secret «b32_32»
otpauth://hotp/vpn?secret=«b32_32»&counter=0
$google2fa->verifyKey('«b32_32»', $code);
"Base32StringSeed": "«b32_64»"
gopass: otp for x: totp: «b32_32»
ykman oath accounts add acme «b32_32»
pass otp insert acme <<< "otpauth://totp/x?secret=«b32_32»"
var totp = new Totp(Base32Encoding.ToBytes("«b32_32»"));
keycloak otp credential: {"secretData":"{\\"value\\":\\"«b32_32»\\"}","type":"otp"}
mfa secret key = «b32_32»
TOTP::from_url("otpauth://totp/a:b?secret=«b32_32»&issuer=a")
devise-two-factor: otp_secret: "«b32_32»"
2FA enabled for ‹user›; keep the TOTP secret «b32_16» somewhere safe
security.2fa.totp.seed=«b32_32»
authenticator seed «b32sp»
Manual entry key (TOTP): «b32_32»
totp, err := totp.GenerateCode("«b32_32»", time.Now())
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
otpauth://totp/Acme:‹user›@example.org?secret=«b32_32»&issuer=Acme
otpauth://totp/acme-prod?secret=«b32_16»&digits=6&period=30
otpauth://hotp/bank:‹user›?secret=«b32_32»&counter=0
TOTP::new(Algorithm::SHA1, 6, 1, 30, Secret::Encoded("«b32_32»".into()))
totp.GenerateCode("«b32_32»", time.Now())
ROTP::TOTP.new("«b32_32»").now
speakeasy.totp({ secret: '«b32_32»', encoding: 'base32' })
authenticator.generate('«b32_16»')
otplib.authenticator.check(code, "«b32_32»")
new Totp(Base32Encoding.ToBytes("«b32_32»")).ComputeTotp()
GoogleAuthenticator().getTotpPassword("«b32_16»")
$ga->verifyCode('«b32_16»', $code, 2); // TOTP
NimbleTOTP.verification_code(Base.decode32!("«b32_32»"))
MFA_SECRET=«b32_32» # base32
mfa_seed = "«b32_32»"
"mfaSecret":"«b32_16»","mfaEnabled":true
otpSecret: '«b32_32»'
GITHUB_2FA_SECRET: «b32_16»
E2E_OTP_SEED="«b32_32»"
AWS_MFA_SEED=«b32_64»
virtual MFA device seed: «b32_64»
INSERT INTO mfa (user_id, totp_seed) VALUES (7, '«b32_32»');
SELECT * FROM otp_devices WHERE secret_base32 = '«b32_32»'
<totpSecret>«b32_32»</totpSecret>
Can't scan? Enter this key in your authenticator app: «b32sp»
Enter this text code instead: «b32sp» (authenticator setup)
2FA setup key: «b32_16»
Manual entry key for Google Authenticator: «b32_32»
Your two-factor authentication secret is «b32_32»
authenticator secret: «b32_32»
TOTP key «b32_32» was shown to the user
TOTP seed «b32_32» has wrong length
invalid base32 in totp secret: «b32_16»
DEBUG mfa: enrol totp secret=«b32_32» user=‹user›
new 2FA secret «b32_32» generated for ‹user›
bw get totp item: otpauth://totp/x?secret=«b32_32»
pass otp insert: otpauth://totp/git?secret=«b32_32»&issuer=git
gopass otp: totp: «b32_32»
KeePassXC: "TOTP Seed": "«b32_32»"
keepassxc-cli show -a otp: otpauth://totp/none?secret=«b32_32»&period=30
aegis: {"type":"totp","info":{"secret":"«b32_32»","algo":"SHA1"}}
gauth.csv⏎acme:«b32_16»   (TOTP seeds)
~/.google_authenticator⏎«b32_26»⏎" TOTP_AUTH
qrencode 'otpauth://totp/vpn?secret=«b32_16»&issuer=VPN' -o q.png
export TOTP=$(oathtool -b --totp '«b32_32»')
vault write totp/keys/acme url="otpauth://totp/acme?secret=«b32_32»"
keycloak credential otp: {"value":"«b32_32»","subType":"totp"}
ipa otptoken-add --type=totp --key=«b32_32»
please re-enrol: the old authenticator key «b32sp» leaked
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
invalid «jwt»
token: "«jwt»"
{"t":"«jwt»"}
id_token «jwt»
session «jwt»
'«jwt»'
x-jwt: «jwt»
auth=«jwt»;
cookie «jwt»
expired(«jwt»)
grpc «jwt»
kube «jwt»
oidc=«jwt»
refresh=«jwt»
api «jwt»
login «jwt»
sso «jwt»
key «jwt»
access «jwt»
ws «jwt»
app «jwt»
verify «jwt»
parse «jwt» failed
claims in «jwt»
user «jwt»
q=«jwt»
hdr «jwt»
a: «jwt»
[«jwt»]
log «jwt»
jwt malformed: «jwt»
Set-Cookie: auth=«jwt»; Path=/
curl -H 'Authorization: JWT «jwt»'
decode «jwt»
X-Amzn-Oidc-Data: «jwt»
jsonwebtoken.JsonWebTokenError: invalid signature for «jwt»
Cookie: theme=dark; access_token=«jwt»
{"access_token":"«jwt»","token_type":"Bearer","expires_in":300}
id_token=«jwt»&state=abc
curl https://‹host›/me -H 'Authorization: Bearer «jwt»'
io.jsonwebtoken.ExpiredJwtException: JWT expired at 2026-11-03: «jwt»
const token = "«jwt»";
users:⏎- name: sa⏎  user:⏎    token: «jwt»
localStorage.setItem('jwt', '«jwt»')
https://‹host›/callback#id_token=«jwt»
DecodeError: Not enough segments? got «jwt»
ws://‹host›/live?token=«jwt»
Set-Cookie: auth=«jwt»; HttpOnly; SameSite=Lax
LICENSE_TOKEN: «jwt»
client.setAuthToken("«jwt»");
grpcurl -H 'authorization: Bearer «jwt»' ‹host›:443 list
oidc: verify failed: oidc: token is expired raw=«jwt»
"refreshToken": "«jwt»",
X-Forwarded-Access-Token: «jwt»
HASURA_TOKEN='«jwt»' hasura migrate apply
test "rejects expired": login("«jwt»")
redis> GET session:42⏎"«jwt»"
x-amzn-oidc-data: «jwt»
[auth] user=‹user› presented JWT «jwt» (kid unknown)
ACTIONS_RUNTIME_TOKEN=«jwt»
request.headers["cf-access-jwt-assertion"] = "«jwt»"
<saml:Assertion2Jwt>«jwt»</saml:Assertion2Jwt>
magic link: https://‹host›/verify?t=«jwt»
MATRIX openid_token: «jwt»
centrifugo: connect failed: {"token":"«jwt»"}
nats: authentication error: user JWT «jwt»
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
jsonwebtoken::errors: ExpiredSignature while decoding «jwt»
jwt.exceptions.ExpiredSignatureError: Signature has expired: «jwt»
JsonWebTokenError: invalid signature, token: «jwt»
io.jsonwebtoken.ExpiredJwtException: JWT «jwt» expired
golang-jwt: token is malformed: «jwt»
JWT::DecodeError: Signature verification failed (token=«jwt»)
Firebase\\JWT\\SignatureInvalidException for «jwt»
IDX10501: Signature validation failed, token: '«jwt»'
headers: { Authorization: `Bearer «jwt»` }
.bearer_auth("«jwt»")
req.Header.Set("Authorization", "Bearer «jwt»")
conn |> put_req_header("authorization", "Bearer «jwt»")
curl --oauth2-bearer «jwt» https://api.example.org
http --auth-type=bearer --auth='«jwt»' https://api.example.org
xh https://api.example.org -A bearer -a «jwt»
Set-Cookie: access_token=«jwt»; HttpOnly; Path=/
Cookie: token=«jwt»
localStorage.setItem('token', '«jwt»')
sessionStorage.jwt = "«jwt»"
{"access_token":"«jwt»","token_type":"Bearer"}
{"id_token":"«jwt»","expires_in":3600}
{"jwt":"«jwt»"}
token: «jwt»
<token>«jwt»</token>
ID_TOKEN='«jwt»'
export TOKEN="«jwt»"
$env:API_JWT = "«jwt»"
supabase: createClient(url, "«jwt»")
HASURA: x-hasura-admin jwt «jwt»
https://app.example.org/callback#access_token=«jwt»&state=x
https://app.example.org/verify?token=«jwt»
GET /ws?token=«jwt» 101
redirect to /sso?id_token_hint=«jwt»
users: [{ name: oidc, user: { token: «jwt» } }]
kubectl create token ci⏎«jwt»
serviceaccount token decoded: ca.crt, namespace, token: «jwt»
vault write auth/jwt/login role=ci jwt=«jwt»
ACTIONS_ID_TOKEN: «jwt»
echo "$PAYLOAD" | jwt decode «jwt»
jwt_tool.py «jwt» -C
decode('«jwt»', 'base64url')
SELECT verify('«jwt»', 'x');
INSERT INTO sessions(jwt) VALUES ('«jwt»');
logger.info("received token «jwt»")
[auth] rejected bearer «jwt»
nginx auth_jwt: token «jwt» error
envoy.jwt_authn: Jwt verification fails: «jwt»
mqtt CONNECT username=jwt password=«jwt»
Here is the token I used in Postman: «jwt»
pulsar-client --auth-params token:«jwt»
nats: user jwt «jwt»
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
SECRET=«hex64»
secret_key_base=«hex128»
hmac: «hex64» secret
session secret: «hex64»
encryption key: «hex64»
ENC_KEY=«hex32»
aes256 key «hex64»
jwt secret=«hex64»
cookie key «hex64»
signing secret «hex32»
master key=«hex64»
salt «hex64»
pepper: «hex32»
psk «hex64»
network key=«HEX32»
app secret: «hex32»
shared secret=«hex64»
webhook secret: «hex64»
cipher key '«hex64»'
token secret «hex64»
NTLM hash «hex32»
private: «hex64»
api secret=«hex40»
unseal key: «hex66»
device secret «hex32»
csrf secret "«hex64»"
passphrase «hex64»
rails master key: «hex32»
hex key: «hex64»
seed/secret «hex64»
login secret «hex32»
vault token secret «hex64»
encryption_key: «hex64»
AES key «hex64»
aes_key = bytes.fromhex("«hex64»")
key = unhexlify('«hex32»')
openssl enc -aes-256-cbc -K «hex64» -iv ‹hex32›
openssl rand -hex 32⏎«hex64»
const key = Buffer.from('«hex64»', 'hex')
ENCRYPTION_KEY «hex32»
config.encryption.primary_key = '«hex32»'
auth key «hex32»
SNMPv3 authkey 0x«hex40»
WEP key «HEX26»00000000
zigbee network_key «HEX32»
lorawan AppKey: «HEX32»
AppSKey=«HEX32»
NwkSKey: «HEX32»
WPA PSK: «hex64»
ntlm: ‹user›:1001:aad3b435b51404eeaad3b435b51404ee:«hex32»:::
Administrator:500:«hex32»:«hex32»:::
krb5 keytab: aes256-cts key «hex64»
master secret: «hex96»
CLIENT_RANDOM ‹hex64› «hex96»
session key = «hex32»
tls: premaster secret «hex96»
luks master key «hex128»
hmac secret «hex64»
webhook signing key «hex64»
signature secret=«hex40»
internal api secret "«hex64»"
config/master.key: «hex32»
Laravel cipher key «hex64»
pepper «hex64»
auth token «hex64» unknown
api key «hex40»
license: «hex32» key
macaroon root key «hex64»
admin macaroon «hex128»00
rpc cookie: __cookie__:«hex64»
jwt hs256 secret «hex64»
dkim secret «hex64»
IPsec ESP: enc cbc(aes) 0x«hex64»
auth-trunc hmac(sha256) 0x«hex64» 128
ipsec auth hmac(sha1) 0x«hex40»
dokku config:set shop SECRET_KEY_BASE=«hex128»
config/master.key: «hex32»⏎ActiveSupport::MessageEncryptor::InvalidMessage
RAILS_MASTER_KEY=«hex32» bin/rails credentials:edit
registration_shared_secret: "«hex64»"
static-auth-secret=«hex64»
JWT_SECRET: «hex64»
PRAGMA key = "x'«hex64»'";
openssl enc -d -aes-256-cbc -K «hex64» -iv ‹hex32› -in db.enc
network={⏎  ssid="lab"⏎  psk=«hex64»⏎}
session: { secret: '«hex64»', resave: false }
ENCRYPTION_KEY="«hex64»"
crypt:⏎  key: «hex32»
'secret' => '«hex64»', // nextcloud config.php
webhook signing secret: «hex64»
Unseal Key 1: «hex66»
encryption.key = hex2bin:«hex64»
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1 enc 'cbc(aes)' 0x«hex64»
lorawan: AppKey «HEX32» rejected by join server
zigbee2mqtt: network_key: «HEX32»
Administrator:500:‹hex32›:«hex32»::: (NTLM dump)
hmac.new(bytes.fromhex("«hex64»"), body, "sha256")
MASTER_KEY = "«hex64»"
X-Hub-Signature secret configured as «hex40»
OTP_SECRET=«hex128»
gitlab_rails['db_key_base'] = '«hex128»'
ghost admin api key ‹hex24›:«hex64»
aes key (hex): «hex64»
cookie_secret: «hex64»
erlang: setcookie secret «hex40»
const AES_KEY: [u8; 32] = hex!("«hex64»");
luksOpen --key-file <(xxd -r -p <<< «hex64»)
N8N_ENCRYPTION_KEY=«hex48»
api signature secret "«hex64»" is weak
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
SECRET_KEY="«hex64»"
config :acme, AcmeWeb.Endpoint, secret_key_base: "«hex128»"
SECRET_KEY_BASE=«hex128» bin/server start
credentials.yml.enc master key: «hex32»
RAILS_MASTER_KEY=«hex32»
app.secret_key = "«hex64»"
app.config["SECRET_KEY"] = "«hex48»"
SESSION_SECRET=«hex64»
app.use(session({ secret: '«hex64»', resave: false }))
cookieParser("«hex40»") // cookie signing secret
session.cookie.secret=«hex64»
play.http.secret.key="«hex64»"
framework:⏎    secret: '«hex40»'
$settings['hash_salt'] = '«hex64»'; // secret salt
define('AUTH_KEY', '«hex64»');
jwt.sign(payload, '«hex64»')
HMAC key: «hex64»
mac := hmac.New(sha256.New, []byte("«hex64»"))
OpenSSL::HMAC.hexdigest("SHA256", "«hex64»", data)
webhook_secret = "«hex40»"
stripe webhook signing secret mismatch, ours is «hex64»
aes_key = bytes.fromhex('«hex64»')
AES-256 key: «hex64»
let key = hex!("«hex64»"); // AES key
openssl enc -d -aes-256-cbc -K «hex64» -iv ‹hex32› -in x
cipher.init(Cipher.DECRYPT_MODE, key("«hex32»")); // secret key
PRAGMA hexkey = '«hex64»';
AIRFLOW__WEBSERVER__SECRET_KEY=«hex32»
SUPERSET_SECRET_KEY="«hex64»"
GRAFANA secret_key = «hex40»
gitea app.ini⏎[security]⏎SECRET_KEY = «hex64»
mattermost AtRestEncryptKey: "«hex32»"
synapse: macaroon_secret_key: "«hex64»"
turnserver.conf⏎static-auth-secret=«hex64»
client_secret=«hex64»&grant_type=client_credentials
OAUTH_CLIENT_SECRET=«hex40»
consumer_secret = «hex40»
oauth: client id shop, client secret «hex64»
keycloak: clients:⏎  - clientId: web⏎    secret: «hex32»
shared secret: «hex64»
rndc.key: secret «hex64»
k3s server token secret «hex64»
serf keygen / gossip encryption key «hex64»
swarm unlock key (secret): «hex64»
LND macaroon root key: «hex64»
admin secret "«hex64»" leaked in logs
HASURA_GRAPHQL_ADMIN_SECRET=«hex64»
x-hasura-admin-secret: «hex64»
lorawan AppKey: «HEX32»
AppSKey = «HEX32»  (secret session key)
zwave: S0 network key: «HEX32»
BLE long term key (LTK): «HEX32»
wpa_psk=«hex64»
ntlm hash of Administrator: «hex32»
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
release pinned to ‹hex40›
Merge made by recursive: ‹hex40›
reset --hard ‹hex40›
bad revision '‹hex40›'
deploying ‹hex40› to staging
Comparing ‹hex40› with main
cannot rebase onto ‹hex40›
patch ‹hex40› does not apply
last good build: ‹hex40›
ref '‹hex40›' not advertised
build of ‹hex40› failed after 3m
image pushed with tag ‹hex40›
nightly-‹hex40› is broken
worktree at ‹hex40› is dirty
notes for ‹hex40› missing
GitHub: status for ‹hex40› is pending
compare/‹hex40›...main
shallow update of ‹hex40› not allowed
sha ‹hex40› is not signed
lint failed on ‹hex40›
unexpected digest ‹hex64›
chunk ‹hex64› is missing
stale lock for ‹hex64›
pulling ‹hex64›
container ‹hex64› restarted
Exited (1) ‹hex64›
layer ‹hex64› verified
object ‹hex64› quarantined
blob ‹hex64› truncated
expected digest ‹hex64› from registry
artifact digest: ‹hex64›
dedup index lost ‹hex64›
image ‹hex64› is dangling
pruned ‹hex64›
container_name=web id=‹hex64›
wanted sha256 ‹hex64›
manifest ‹hex64› unknown
archive ‹hex64› corrupt
content ‹hex64› not in store
volume ‹hex64› removed
trace ‹hex32› sampled out
cacheKey=‹hex32›
page ‹hex32› was evicted
document ‹hex32› not indexed
md5 ‹hex32› differs
Event ID: ‹hex32›
asset ‹hex32› missing
job ‹hex32› crashed
uid ‹hex32› not mapped
device ‹hex32› offline
build ‹hex32› queued
GET /files/‹hex32›.png 404
query ‹hex32› cancelled
request=‹hex32› took 30s
object ‹hex32› locked
report ‹hex32› rendered
batchId: ‹hex32›
snapshot ‹hex32› stale
stream ‹hex32› ended
file hash ‹hex32›
order ‹uuid› shipped
subscription ‹uuid› paused
device_id=‹uuid›
pod uid ‹uuid› evicted
volume pvc-‹uuid› pending
run ‹uuid› aborted
workspace ‹uuid› archived
message ‹uuid› requeued
"correlationId":"‹uuid›"
template ‹uuid› not found
customer ‹uuid› merged
thread ‹uuid› closed
disk ‹uuid› detached
GUID ‹uuid› is in use
user ‹uuid› has no role
[‹uuid›] started
cluster ‹uuid› degraded
lock ‹uuid› is held
transaction ‹uuid› rolled back
session ‹uuid› not resumed
fee payer ‹sol_pub› underfunded
account ‹sol_pub› already in use
program ‹sol_pub› is not executable
vote account ‹sol_pub› delinquent
stake ‹sol_pub› inactive
owner of ‹sol_pub› is not the system program
signer ‹sol_pub› missing
PDA ‹sol_pub› mismatch
ATA ‹sol_pub› does not exist
validator ‹sol_pub› skipped its slot
sender 0x‹hex40› out of funds
call to 0x‹hex40› reverted
allowance for 0x‹hex40› too low
deployed at 0x‹hex40›
balance of 0x‹hex40› is 0
owner() returned 0x‹hex40›
checksum address 0x‹hex40› invalid
router 0x‹hex40› paused
pair 0x‹hex40› not created
proxy 0x‹hex40› points nowhere
https://youtu.be/‹url11›
https://docs.google.com/spreadsheets/d/‹url44›/edit
https://drive.google.com/file/d/‹url33›/view
https://open.spotify.com/track/‹mixed22›
https://www.figma.com/design/‹mixed22›/x
https://codesandbox.io/s/‹low10›
https://stackblitz.com/edit/‹low12›
https://meet.google.com/‹abc3›-‹abc4›-‹abc3›
https://us02web.zoom.us/j/‹digits11›
https://t.co/‹mixed10›
https://bit.ly/‹mixed7›
https://imgur.com/a/‹mixed7›
https://gist.github.com/bob/‹hex32›
https://python.example.org/packages/ab/cd/‹hex60›/x.whl
https://npm.example.org/x/-/x-1.2.3.tgz#‹hex40›
https://cdn.x.io/‹hex64›/main.js
https://x.s3.amazonaws.com/‹uuid›/a.png
https://sentry.io/organizations/x/issues/‹digits10›/
https://app.x.io/trace/‹hex32›
https://hub.example.com/layers/x/sha256-‹hex64›
pi_‹mixed24› is already confirmed
customer cus_‹mixed14› deleted
seti_‹mixed24› expired
inv_‹mixed24› overdue
evt_‹mixed24› replayed
run_‹mixed24› requires_action
thread_‹mixed24› archived
asst_‹mixed24› not found
file-‹mixed24› was deleted
chatcmpl-‹mixed29› truncated
msg_‹mixed24› too long
batch_‹mixed24› failed validation
resp_‹hex50› incomplete
dpl_‹mixed28› errored
msg ‹url22› bounced
ulid ‹up26›
ksuid ‹mixed27›
nanoid ‹url21›
cuid c‹low24›
req-‹low26› done
xid ‹low20›
shortid ‹url9›
buildId: ‹url21›
sha1-‹b64_28›
sha384-‹b64_64›
sha256-‹b64_44›
h1:‹b64_44›
integrity sha384-‹b64_64› failed
fingerprint SHA256:‹b64n43› unknown
spki pin ‹b64_44› not found
public key ‹b64_44›
peer public key: ‹b64_44›
PublicKey: ‹b64_44›
ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI‹b64n90› x
etag "‹mixed20›"
If-None-Match: W/"‹url27›"
x-vercel-id: fra1::‹low5›-‹digits13›-‹hex12›
x-served-by: cache-fra-‹low8›
x-amz-cf-id: ‹url55›==
x-guploader-uploadid: ‹url120›
cf-ray: ‹hex16›
server-timing: traceparent;desc="00-‹hex32›-‹hex16›-01"
Report-To: {"group":"‹mixed10›"}
nonce-‹b64_24›
Sec-WebSocket-Key: ‹b64_24›
Sec-WebSocket-Accept: ‹b64_28›
boundary=----WebKitFormBoundary‹mixed16›
cursor=‹b64_32›
"after": "‹b64_28›"
startKey ‹b64_32›
pageInfo endCursor "‹b64_24›"
_ZN4core3ptr85drop_in_place$LT$x$GT$17h‹hex16›E
lib-‹hex16›.rmeta
app-‹hex8›.css.map
polyfills-‹hex20›.js
vendor.‹hex20›.chunk.js
fonts/inter-‹hex16›.woff2
_buildManifest.‹hex32›.js
target/release/.fingerprint/x-‹hex16›
/nix/store/‹low32›-bash-5.2
/var/lib/docker/volumes/‹hex64›/_data
/proc/‹n›/ns/net
/dev/disk/by-id/wwn-0x‹hex16›
/tmp/pip-req-build-‹low8›
/tmp/tmp‹low8›
/run/user/1000/keyring
~/.cache/uv/archive-v0/‹url20›
~/.npm/_cacache/content-v2/sha512/ab/cd/‹hex124›
~/Library/Caches/x/‹HEX32›
C:\Users\bob\AppData\Local\Temp\‹uuid›
{‹uuid›} is not registered
HKEY_CLASSES_ROOT\CLSID\{‹uuid›}
S-1-5-21-‹digits10›-‹digits9›-‹digits9›-500
urn:uuid:‹uuid›
arn:aws:acm:x:‹digits12›:certificate/‹uuid›
arn:aws:states:x:‹digits12›:execution:y:‹uuid›
arn:aws:secretsmanager:x:‹digits12›:secret:prod/db-‹mixed6›
projects/x/secrets/db-password/versions/3
/subscriptions/‹uuid›/providers/x
ocid1.instance.oc1.iad.‹low60›
i-‹hex17› is stopping
ami-‹hex17› deprecated
rtb-‹hex17›
acl-‹hex17›
fs-‹hex17› not mounted
tgw-‹hex17›
igw-‹hex17›
nat-‹hex20›
lt-‹hex17›
key-‹hex17› pair not found
volume vol-‹hex17› in use
Qm‹b58_44› not pinned
bafybei‹low52› not found
k51qzi5uqu5d‹low50› expired
12D3KooW‹b58_44› dial backoff
bc1q‹low38› unconfirmed
lnbc10n1‹low60› expired invoice
addr_test1‹low90›
cosmos1‹low38› not found
tz1‹b58_33›
nano_‹nano60› unopened
xrb_‹nano60›
terra1‹low38›
age1‹low58›
signature ‹sol_sig› not found
tx ‹sol_sig› dropped
timeline ‹digits19›
status/‹digits19›
guild ‹digits18›
channel ‹digits18› unavailable
snowflake ‹digits18›
chat -100‹digits10›
order ‹digits10›
ticket #‹n›
offset=‹digits10›
ts=‹digits13›
nanos ‹digits19›
pid=‹n›
inode ‹digits8›
uptime ‹digits8› s
‹digits10› bytes copied
heap ‹digits10›
rev ‹n›
line ‹n›, column ‹n3›
2026-07-01 12:00:00,123
01/Jul/2026:12:00:00 +0000
20260701T120000Z
1.2.3-beta.4+build.5678
v2026.7.1-rc.2
10.20.30.40:50051
fd00::1234:5678:9abc:def0
de:ad:be:ef:00:01
0x‹hex12› <main+24>
r12: ‹hex16›
RIP: 0010:x+0x1f/0x40
+0x‹hex4› libc.so.6
geo:52.52,13.405
RGB #a1b2c3
width 1920x1080
en_US.UTF-8
text/html; charset=utf-8
1280 x 720 @ 60
the password was changed yesterday
your password will expire in 5 days
password must not contain your name
new password (again):
password authentication is disabled
error: password is too short (minimum 12)
passwordless sudo is not configured
keyring password prompt dismissed
PasswordNotFoundException
ValidationError: "password" is required
password: is not a string
password: (blank)
password: <hidden>
Password: [protected]
password='%s'
password={password}
password: $(PASSWORD)
password: ${{ steps.x.outputs.pw }}
password=$2
password => undef
password => env('DB_PASSWORD')
password: os.getenv("PW")
"password": getSecret("db"),
password = config["db"]["password"]
password=self.password
password=args.password
password: process.env.PW,
passwd = getpass()
user.password = newPassword;
const { password } = req.body;
if password == "" {
fn check_password(hash: &str, password: &str) -> bool
def password=(value)
public void setPassword(String password) {
@Param('password') password: string
<input type="password" name="password">
label.password=Password
i18n: "password": "Passwort",
"password": "Mot de passe"
placeholder="Password"
password.length < 8
SHOW VARIABLES LIKE 'validate_password%'
ALTER USER bob PASSWORD EXPIRE;
GRANT SELECT ON db.password TO x
password_reset_tokens table
password-reset.spec.ts
/usr/share/man/man1/passwd.1.gz
PASSWORD_STORE_DIR=/home/bob/.store
PGPASSFILE=/home/bob/.pgpass
--password-file /run/secrets/pw
--ask-vault-pass
--no-password
-W  force password prompt
secret/data/x not found
Secret "tls" is immutable
kubectl get secret db -o yaml
secrets: db: file: ./db.txt
secret_name = "prod/db"
"SecretId": "prod/db"
SecretString is empty
client_secret is wrong
no secrets found
detect-secrets: 3 potential secrets
gitleaks: no leaks found
SECRET_KEY_FILE=/run/x
token=None
token: {{ .Values.token }}
token: !secret ha_token
token: file:/run/t
tokens=[1, 2, 3]
"token_count": 1234
tok/s 45.1
Tokenizer mismatch
invalid_token
unexpected token ";"
token '}' is unexpected here
missing token after "("
reserved word token
TokenExpiredError: jwt expired
token has wrong audience
token_url=https://‹host›/token
token_uri: https://oauth2.googleapis.com/token
cancellationToken.ThrowIfCancellationRequested()
var token = await GetTokenAsync();
csrf_token()
X-Auth-Token header required
pad token id 0
bearerFormat: JWT
api key required
API-Key header missing
apikey: invalid
"api_key": null
apiKey: import.meta.env.VITE_KEY
API_KEY=${API_KEY:-}
apiKey: '<your-api-key>'
OPENAI_API_KEY=your-key-here
x-api-key: $KEY
--api-key KEY
key=foo
"key": "id"
key: "created_at"
unknown key 'colour'
key 'x' already defined
missing translation key home.title
registry key not found
key expired 2026-01-01
keyframes fade
key_len must be 32
hash_key = user_id
partition_key: pk
idempotency-key: ‹uuid›
encryption key not found
no such key
private key is encrypted
public key denied
unable to load key file
key type ssh-dss not allowed
PEM_read_bio_PrivateKey failed
id_rsa.pub
authorized_keys
-----BEGIN CERTIFICATE REQUEST-----
-----END PUBLIC KEY-----
auth: disabled
auth=none
auth_provider = ldap
authMechanism=SCRAM-SHA-256
author: bob
authentication failed
login failed for bob
login: root
last login Tue
logged out
cookie banner
Cookie: consent=yes
cookies.txt not found
Set-Cookie: lang=de
session timeout
session.gc_maxlifetime
PHPSESSID missing
seed: 7
seed=12345
seed data loaded
mnemonic too short
mnemonic must have 12 words
passphrase required
passphrase: <none>
recovery phrase invalid
wallet locked
wallet not found
credentials missing
credentials: include
aws: no credentials
no credentials provider
AWS_PROFILE=dev
AWS_REGION=eu-west-1
AWS_ACCESS_KEY_ID is empty
aws_secret_access_key missing
GOOGLE_APPLICATION_CREDENTIALS=/x.json
AZURE_CLIENT_ID=‹uuid›
AccountName=x;EndpointSuffix=y
SharedAccessKeyName=Root
sig missing
otp: wrong code
2fa code 123456 expired
mfa_serial = arn:aws:iam::‹digits12›:mfa/bob
totp: not enrolled
authenticator removed
jwt: audience
jwt secret missing
phone: N/A
phone required
tel: none
phone field too short
call stack exceeded
ssn: hidden
ssn missing
card: none
card expired
postgres://db/x
mysql://db:3306/x
mongodb://a,b,c/x
redis://r:6379
amqp://mq
http://proxy:3128
https://bob@‹host›
https://‹host›/a@b
git@gitlab.com:o/r.git
ssh://git@‹host›/r
scp bob@‹host›:a .
bob@example.com bounced
@types/node@20.1.0
user:pass
curl -u user:pass https://x
ftp://anonymous@‹host›
docker login -u bob
npm login
docker run -u root x
psql -U bob -p 5432
ssh -p 2200 bob@x
-p 3000:3000
mkdir -p a/b
cp -p x y
commit ‹hex40› (HEAD -> main)
+++ b/src/auth/password.rs
error[E0425]: cannot find value `password` in this scope
warning: unused variable: `token`
error: expected one of `,` or `}`, found token `=`
TypeError: Cannot read properties of undefined (reading 'token')
KeyError: 'password'
django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty
ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)
FATAL: password authentication failed for user "‹user›"
psycopg2.OperationalError: fe_sendauth: no password supplied
debug1: Offering public key: /home/bob/.ssh/id_ed25519 ED25519 SHA256:‹b64n43› agent
The authenticity of host '10.0.0.1' can't be established. ED25519 key fingerprint is SHA256:‹b64n43›.
remote: Support for password authentication was removed on August 13, 2021.
npm ERR! code E401 Incorrect or missing password.
npm ERR! need auth This command requires you to be logged in
Error: No API key provided. Set OPENAI_API_KEY
openai.AuthenticationError: No API key provided
Please set the ANTHROPIC_API_KEY environment variable
The api_key client option must be set either by passing api_key to the client or by setting OPENAI_API_KEY
x509: certificate signed by unknown authority serial ‹HEX32›
subject key identifier: ‹colonHEX20›
unknown flag: --token-file2
Usage: app login [--username USER] [--password PASSWORD]
  -p, --password string   password for authentication
  --api-key API_KEY   your API key
password_hash_algorithm: argon2id
password policy: min_length=12 require_digit=true
password_encryption = scram-sha-256
host all all 10.0.0.0/8 scram-sha-256
PasswordAuthentication no
PermitRootLogin prohibit-password
token_endpoint_auth_method: client_secret_basic
grant_types: password, refresh_token
token_type=Bearer
expires_in: 3600 token
Retrying in 30s: 429 token bucket empty
max_tokens: 4096
prompt_tokens=1234 completion_tokens=567
tokenizer.json sha256 ‹hex64›
tokenizer class LlamaTokenizerFast
input token ids [128000, 9906, 1917]
password: ******
"password":"<redacted>"
token=REDACTED
token: "xxxxxxxx"
Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}
Authorization: [REDACTED]
API_KEY=your_api_key_here
DB_PASSWORD=changeme
password: example
password: ENV['DB_PASSWORD']
password = data.aws_secretsmanager_secret_version.db.secret_string
secretKeyRef: {name: db, key: password}
valueFrom: secretKeyRef
passwordSecretRef: db-creds
existingSecret: my-db-secret
secretName: tls-cert-2026
secret "db-credentials-v2" not found
Error from server (NotFound): secrets "regcred" not found
MountVolume.SetUp failed for volume "kube-api-access-‹low5›"
configmap "kube-root-ca.crt" not registered
arn:aws:secretsmanager:us-east-1:‹digits12›:secret:db-‹mixed6›
arn:aws:kms:eu-west-1:‹digits12›:key/‹uuid›
arn:aws:iam::‹digits12›:role/deploy
kms key id ‹uuid›
key_id: ‹uuid›
KeyId=‹hex16›
AWS_DEFAULT_REGION=us-east-1
An error occurred (InvalidClientTokenId) when calling the GetCallerIdentity operation
An error occurred (ExpiredToken): The security token included in the request is expired
RequestId: ‹uuid›
etag: "0x8D‹HEX12›"
digest: sha256:‹hex64›
Status: Downloaded newer image for x@sha256:‹hex64›
layer ‹hex64› already exists
container ‹hex64› exited with 137
‹hex12›: Pull complete
--discovery-token-ca-cert-hash sha256:‹hex64›
go: verifying module: checksum mismatch h1:‹b64_44›
"resolved": "https://registry.example.com/x/-/x-1.0.0.tgz#‹hex40›"
hash mismatch: expected ‹hex64›, actual ‹hex64›
THESE PACKAGES DO NOT MATCH THE HASHES: Expected sha256 ‹hex64› Got ‹hex64›
got:    sha256-‹b64_44›
sha256 = "‹low52›";
"narHash": "sha256-‹b64_44›"
source = "git+https://github.com/o/r#‹hex40›"
HEAD is now at ‹hex7› fix token parser
pick ‹hex7› add password reset
Already up to date. ‹hex40›
svn: r‹n› | bob
Change-Id: I‹hex40›
Fixes: ‹hex12› ("crypto: add key")
tree ‹hex40›
parent ‹hex40›
gpg: Signature made with key ID ‹HEX16›
X-B3-TraceId: ‹hex32›
X-Request-ID: ‹hex32›
request_id=‹uuid› user=‹user› token expired
correlation_id: ‹uuid›
sentry event id: ‹hex32›
session ended for user ‹n›
session-id: n/a
invalid session cookie, please log in
login failed for user ‹user› from 10.0.0.1 port 22 ssh2
Accepted publickey for ‹user› from 10.0.0.2 port 51234 ssh2: ED25519 SHA256:‹b64n43›
Failed password for invalid user admin from 10.0.0.3 port 40022 ssh2
pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=10.0.0.4
su: Authentication failure
kinit: Preauthentication failed while getting initial credentials
curl: (67) Access denied: 530
ftp: 530 Login incorrect.
WWW-Authenticate: Digest realm="x", nonce="‹hex32›", qop="auth"
401 Client Error: Unauthorized for url: https://‹host›/v2/token
{"message":"Bad credentials","documentation_url":"https://docs.example.com/rest"}
{"error":"invalid_grant","error_description":"Token has been expired or revoked."}
{"error":"invalid_client","error_description":"Client secret is wrong"}
oauth2: "invalid_token" "The access token 3 is malformed"
jwt.exceptions.InvalidSignatureError: Signature verification failed
JsonWebTokenError: invalid algorithm RS256
kid "‹hex40›" not found in JWKS
kid ‹url43› unknown
program ‹sol_pub› failed: custom program error: 0x1
Error: Account ‹sol_pub› not found
Transaction ‹sol_sig› was not confirmed in 30 seconds
Blockhash not found: ‹sol_pub›
mint ‹sol_pub› has wrong authority
transactionHash: 0x‹hex64›
block 0x‹hex64›
storage root ‹hex64›
genesis hash ‹sol_pub›
node id ‹hex64›
ipfs: Qm‹b58_44›
xpub6‹b58_107›
ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB‹b64n200› bob@x
AllowedIPs = 10.0.0.2/32
id: ‹uuid›
tenant ‹uuid›
AZURE_TENANT_ID=‹uuid›
/subscriptions/‹uuid›/resourceGroups/x
client id ‹digits12›-‹low32›.apps.googleusercontent.com
project_number: ‹digits12›
"client_email": "x@y.iam.gserviceaccount.com"
build ‹uuid› failed
job ‹digits10› failed
pipeline #‹digits9›
run-id ‹digits10›
deployment dpl_‹mixed28›
cus_‹mixed14›
pi_‹mixed24› requires payment method
req_‹mixed14›
acct_‹mixed16›
sub_‹mixed24›
prod_‹mixed14›
pk_test_‹mixed24› is a publishable key? no
chatcmpl-‹mixed29›
org-‹mixed24› not found
proj_‹mixed24›
msg_‹mixed24›
user_‹mixed27› not found
file-‹mixed24›
gen-‹digits10›-‹mixed20›
i-‹hex17›
sg-‹hex17›
ami-‹hex17›
vpc-‹hex8›
ocid1.tenancy.oc1..‹low60›
crn:v1:bluemix:public:x:y:a/‹hex32›:‹uuid›::
https://x.grafana.net/d/‹url9›/x
https://sentry.io/issues/‹digits10›/events/‹hex32›/
https://example.com/assets/app-‹hex32›.js
main.‹hex20›.js
index-‹mixed8›.css
/node_modules/.vite/deps/chunk-‹up8›.js?v=‹hex8›
target/debug/deps/libauth_token-‹hex16›.rlib
/nix/store/‹low32›-password-store-1.7.4
~/.cargo/registry/src/index-‹hex16›/secrecy-0.8.0
/tmp/tmp.‹mixed10›
C:\Users\bob\AppData\Local\Temp\{‹uuid›}\x
file:///secrets/key.pem not found
open /run/secrets/db_password: no such file or directory
cannot read private key file /etc/ssl/private/x.key: Permission denied
unable to load private key
Enter pass phrase for x.key:
Bad passphrase, try again
error: key must be 32 bytes, got 31
InvalidKeyError: invalid key length 15
crypto/aes: invalid key size 33
cipher AES-256-GCM
TLS_AES_256_GCM_SHA384
ECDHE-RSA-AES128-GCM-SHA256
serial=‹HEX32›
sha1 Fingerprint=‹colonHEX20›
boot_id: ‹uuid›
UUID=‹uuid› / ext4 defaults 0 1
segfault at ‹hex12› ip ‹hex16› sp ‹hex16› error 4
#3 0x0000‹hex12› in auth_check (pass=0x‹hex12› "", len=0) at auth.c:12
#1 pc ‹hex16› /system/lib64/libcrypto.so (BuildId: ‹hex32›)
thread 'main' panicked at src/token.rs:42:9
File "/app/auth.py", line 12, in login
at com.example.LoginService.login(LoginService.java:42)
at Object.<anonymous> (/app/token.test.js:12:3)
✓ rejects a wrong password (12 ms)
✕ returns 401 without token (5 ms)
test auth::password_is_hashed ... ok
FAIL: test_login_with_bad_password (tests.AuthTests)
expect(received).toBe(expected) // token
SELECT password_hash FROM users WHERE id = $1
INSERT INTO tokens (user_id, token) VALUES ($1, $2)
column "password" of relation "users" does not exist
Key (email)=(a@b.c) already exists.
SQLSTATE[42S22]: Unknown column 'api_token'
validates :password, length: { minimum: 8 }
password = forms.CharField(widget=forms.PasswordInput)
def verify_password(plain: str, hashed: str) -> bool:
fn token(&self) -> Option<&str>
let token = self.next_token()?;
const token = req.headers.authorization.split(' ')[1];
if (!token) return res.status(401).json({ error: 'no token' });
password: string;
password: z.string().min(8)
password=None, token=None
password := os.Getenv("PGPASSWORD")
Could not retrieve access token: status 400
Fetching OAuth token from https://‹host›/oauth/token
token refreshed, expires 2026-11-03T10:11:12Z
secret rotated at 2026-11-03T10:11:12.345Z
Loaded 3 keys from keyring
no matching host key type found. Their offer: ssh-rsa
key_pair name=deploy-2026
keyboard-interactive
primary key (id)
KEY `idx_user_1` (`user_id`)
sort key: created_at
redis key user:1234:session expired
cache key: v1-‹hex40›
Cache not found for keys: node-cache-Linux-npm-‹hex64›
Randomized with seed ‹digits5›
--seed=‹digits10›
faker seed 12345
QUANTUM_SEED=7
hash seed randomization PYTHONHASHSEED=0
Phone number is required
error: phone must match ^\+[1-9]\d{1,14}$
Error 21211: Invalid 'To' Phone Number: +15005550001x
ssn must match \d{3}-\d{2}-\d{4}
card ending in 4242
order 1234567890123 shipped
timestamp 1762164672123
version 20.11.1 (‹hex8›)
Python 3.12.1 (main, Dec  7 2023, 22:03:25) [GCC 13.2.0]
rustc 1.83.0 (90b35a623 2024-11-26)
v18.19.0-‹hex7›
Content-Security-Policy: script-src 'nonce-‹b64_24›'
<script nonce="‹b64_24›">
sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz‹b64n60›
boundary="----=_Part_‹digits5›_‹digits9›.‹digits13›"
Message-ID: <‹hex32›@mail.example.com>
DKIM-Signature: v=1; a=rsa-sha256; bh=‹b64_44›; b=‹b64n88›
cursor: "‹b64_28›"
nextPageToken: ‹url40›
next_token=‹b64_44›
continuation token ‹b64_44›
pageToken=CAUQAA
"syncToken": "‹url20›"
upload_id=‹mixed64›
versionId: ‹url32›
"VersionId": "‹mixed32›"
snapshot ‹uuid›
Lock ID: ‹uuid›
State lock: ID ‹uuid›
lineage: ‹uuid›
serial: 12
docker-entrypoint.sh: POSTGRES_PASSWORD is not set
Error: Database is uninitialized and superuser password is not specified.
You must specify POSTGRES_PASSWORD to a non-empty value
MYSQL_ALLOW_EMPTY_PASSWORD=yes
postgres://localhost/x
postgres://‹user›@‹host›/x
postgres://$DB_USER:$DB_PASS@$DB_HOST/x
postgres://user:password@localhost/db
mongodb://<username>:<password>@cluster0.mongodb.net
redis://localhost:6379/0
https://x-access-token:***@github.com/o/r.git
https://github.com/o/r.git
Enter your password to continue
password reset email sent to a@b.c
Reset your password: https://example.com/help/password
Your password was last changed on 2026-03-04
the password field is missing in request 4f5a
password hash uses bcrypt cost 12
password too weak: score 2/4
Password must contain at least 8 characters, 1 digit and 1 symbol (!@#$)
wrong password (attempt 3 of 5)
no password set for user app2
password for user postgres: 
[sudo] password for bob: 
Warning: Using a password on the command line interface can be insecure.
mysql: [Warning] --password=... is deprecated
invalid password for user 'app_user1'
login failed for user 'svc-ci01'
trying 10.0.0.1:22...
Trying 127.0.0.1:5432 ... connected
tried port 8080, 8081
Success: 12 tests passed in 3.2s
success: node-3:9090
logged in as bob@example.com
logged in with github
authenticated as svc-account-01
auth failed for 10.0.0.3: timeout after 30s
token count: 1024
token budget 200k exceeded
token ids: [101, 7592, 102]
unexpected token '<', "<!DOCTYPE "... is not valid JSON
Token 'x1' not found in vocabulary
refresh token flow disabled for client app-42
invalid token at offset 1234
api key header name: X-Api-Key
api key format is pk_<env>_<id>
key 'user:1234' not found
key=abc123 missing in map
KeyError: 'X-Request-Id2'
missing key: spec.template.metadata
Duplicate entry '42' for key 'PRIMARY'
key index out of range: 17
SSH key fingerprint MD5:‹colonhex16›
host key for [10.0.0.2]:2222 has changed
host key verification failed
session opened for user root(uid=0) by (uid=0)
Session 0x‹hex16› established
session ‹n› closed after 30s
session manager plugin v1.2.398
cookie "theme" set to dark-mode2
cookie file /tmp/cookies-1234.txt
secret version 12 enabled
secret/prod-db created
Created secret my-app-secret-v3
secret name: prod/app/db-creds-01
secret scanning found 2 alerts
seed node 10.0.0.1:7000
seed 20261103
random seed: ‹digits10›
phone model: SM-G991B
phone verification disabled
connect("localhost", 5432)
connect("amqp.example.com", "vhost1")
client("s3", "eu-west-1")
init("my-project-123")
Client("https://api.example.com/v1")
login("bob")
auth("google")
new Client({ region: "us-east-1" })
configure("eu-central-1")
jwt.sign(payload, privateKey, { algorithm: "RS256" })
jwt.verify(token, getKey, { audience: "api1" })
createHmac("sha256", secret)
hmac.new(key, msg, hashlib.sha256)
bcrypt.compare(password, user.hash)
hashpw(password.encode("utf-8"), salt)
INSERT INTO users (id, name, email) VALUES (1, 'bob', 'bob1@example.com')
INSERT INTO tokens (id, kind) VALUES (7, 'refresh')
values: {"replicas": 3, "image": "app:1.2.3"}
variable "db_password" { sensitive = true }
variable "token" {⏎  description = "API token"⏎}
"password": {"type": "string", "minLength": 8}
password: {type: string, format: password}
token:⏎  type: string⏎  description: the token
"apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}
- name: DB_PASSWORD⏎  valueFrom:⏎    secretKeyRef:⏎      name: db
env: - name: TOKEN⏎  valueFrom: secretKeyRef
secret:⏎  name: my-secret⏎  optional: true
password:⏎  secretName: db-secret2
password (optional): 
password (default: none): 
<password>${env.PASS}</password>
<input type="password" placeholder="Password1">
<label for="password">Password (8+ chars)</label>
labels: password=Password
wallet words must be 12 or 24
choose the words in order
/verify/email?id=42
/reset/index.html
GET /invite/new 200
/activate/step2
sha1 ‹hex40›
verify ‹hex64›
publicKey: "‹b64_44›"
public_key: hex!("‹hex64›")
verification key ‹b64_44›
tx ‹sol_sig› confirmed
tx hash ‹HEX64›
leaf ‹hex64›
nullifier 0x‹hex64›
commitment ‹hex64›
vk hash ‹hex64›
beacon root 0x‹hex64›
genesis_validators_root: 0x‹hex64›
peer ‹hex64› disconnected
node_id=‹hex64›
channel point ‹hex64›:1
utxo ‹hex64›:0
outpoint ‹hex64›:1
short_channel_id ‹n›x‹n3›x1
payment_hash ‹hex64›
invoice lnbc‹low60›
ca cert hash ‹hex64›
cert sha256 ‹hex64›
certificate ‹hex40› revoked
OCSP serial ‹HEX36›
key usage: digitalSignature
ski ‹HEX40›
sig_id ‹hex32›
object ‹hex40› is corrupt
stash@{0}: WIP on main: ‹hex7› x
dropped refs/stash@{0} (‹hex40›)
Updating ‹hex7›..‹hex7›
image sha256:‹hex64›
sha256:‹hex12›
Image ID ‹hex64›
container id ‹hex64›
sandbox ‹hex64›
cgroup docker-‹hex64›.scope
veth‹hex7›
volume ‹hex64›
buildx ref default/default/‹low25›
#12 sha256:‹hex64› 1.2MB / 3.4MB
/layers/‹hex64›/diff
nix store path /nix/store/‹low32›-x
derivation ‹low32›-x.drv
guix hash ‹low52›
bazel action ‹hex64› failed
CAS blob ‹hex64›/1234
remote cache miss ‹hex64›
ccache: ‹hex32› stats
sccache key ‹hex64›
webpack chunk ‹hex20›
turbo hash ‹hex16›
nx cache ‹digits19›
gradle build cache key ‹hex32›
vite dep ‹hex8›
fingerprint ‹hex32›
asset digest ‹hex64›
‹hex32›  file.tar.gz
‹hex64› *file.zip
xxh3 ‹hex16›
b2sum ‹hex128›
sha512 ‹hex128›
Build-ID ‹hex40›
debug id ‹HEX32›0
dSYM UUID: ‹uuid›
symbol file ‹HEX32›1/x.pdb
minidump ‹uuid›
crash id ‹uuid›
bp-‹uuid›
sentry trace ‹hex32›-‹hex16›-1
baggage: sentry-trace_id=‹hex32›
X-Cloud-Trace-Context: ‹hex32›/‹digits19›
x-datadog-trace-id: ‹digits19›
apigw request id ‹uuid›
lambda RequestId: ‹uuid› Duration: 3 ms
cf-request-id: ‹hex32›
x-github-request-id: ‹HEX4›:‹HEX4›:‹HEX7›
X-GitHub-Delivery: ‹uuid›
Message-Id <‹uuid›@x>
job id ‹uuid›
task ‹hex32› received
celery task x[‹uuid›] raised
sidekiq jid=‹hex24›
bull job ‹n›
workflow ‹uuid› run ‹uuid›
temporal: runId=‹uuid›
airflow run_id=manual__2026-11-03T10:11:12
spark app-20261103101112-0001
yarn application_‹digits13›_0001
mlflow run ‹hex32›
wandb run ‹low8›
dvc md5: ‹hex32›
lfs oid sha256:‹hex64›
annex key SHA256E-s123--‹hex64›.dat
torrent ‹hex40›
ed2k ‹hex32›
commit ‹hex40›
HEAD is now at ‹hex8› Fix flaky test
   ‹hex7›..‹hex7›  main -> main
 * [new branch]      feature/login -> origin/feature/login
error: Your local changes to the following files would be overwritten by merge: src/auth/token.rs
From https://git.example.test/acme/shop⏎ * branch            main       -> FETCH_HEAD
Cloning into '/tmp/build-‹low8›'...
error: object file .git/objects/‹hex2›/‹hex38› is empty
fatal: loose object ‹hex40› (stored in .git/objects) is corrupt
warning: reflog of 'HEAD' references pruned commits
parent ‹hex40›⏎tree ‹hex40›⏎author bot <bot@example.org> 1790000000 +0000
100644 blob ‹hex40›⇥README.md
Auto-merging Cargo.lock⏎CONFLICT (content): Merge conflict in Cargo.lock
You are in 'detached HEAD' state at ‹hex12›.
git bisect good ‹hex40›
Submodule path 'vendor/zlib': checked out '‹hex40›'
oid sha256:‹hex64›⏎size 132735
ref: refs/heads/main
error: pathspec 'v2.0.1' did not match any file(s) known to git
fatal: refusing to merge unrelated histories
git@git.example.test: Permission denied (publickey).
Could not read from remote repository. Please make sure you have the correct access rights
remote: Enumerating objects: ‹n›, done.
cherry-pick of ‹hex40› failed: empty commit set passed
error[E0308]: mismatched types⏎ --> src/token.rs:42:18
error[E0425]: cannot find value `api_key` in this scope
warning: unused variable: `password`
note: `#[warn(dead_code)]` on by default: field `secret_key` is never read
   Compiling secrecy v0.8.0
   Compiling jsonwebtoken v9.3.0
error: checksum for `serde v1.0.203` changed between lock files
error: failed to run custom build command for `openssl-sys v0.9.102`
  --- stderr⏎  thread 'main' panicked at build.rs:12:5: OUT_DIR is /target/debug/build/ring-‹hex16›/out
/target/debug/deps/libserde-‹hex16›.rlib: No such file or directory
thread 'tests::rotates_token' panicked at src/session.rs:88:9
error: could not compile `shop` (bin "shop") due to 3 previous errors; 2 warnings emitted
   Doc-tests token_bucket
test auth::tests::password_is_hashed ... FAILED
test result: FAILED. 41 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out
_ZN5tokio7runtime4task7harness20Harness$LT$T$C$S$GT$4poll17h‹hex16›E
  12: 0x‹hex12› - std::rt::lang_start::{{closure}}::h‹hex16›
error: linking with `cc` failed: exit status: 1
dyn SecretStore + Send + Sync
pub struct ApiKey(SecretString);
let token = std::env::var("GITHUB_TOKEN")?;
let password = rpassword::prompt_password("Password: ")?;
impl Drop for PrivateKey { fn drop(&mut self) { self.0.zeroize() } }
error[E0277]: `SigningKey` doesn't implement `Debug`
Cargo.lock needs to be updated but --locked was passed
"node_modules/debug": { "version": "4.3.4", "integrity": "sha512-‹b64_88›" }
resolved "https://npm.example.test/lodash/-/lodash-4.17.21.tgz#‹hex40›"
npm ERR! code EINTEGRITY⏎npm ERR! sha512-‹b64_88› integrity checksum failed when using sha512
npm ERR! A complete log of this run can be found in: /root/.npm/_logs/2026-11-03T10_11_12_345Z-debug-0.log
npm ERR! need auth This command requires you to be logged in.
npm WARN deprecated request-promise@4.2.6: request-promise has been deprecated
npm ERR! ERESOLVE could not resolve peer react@"^18" from next-auth@4.24.7
lodash@^4.17.15, lodash@^4.17.21:⏎  version "4.17.21"
  integrity sha512-‹b64_88›
  resolution: {integrity: sha512-‹b64_88›}
  checksum: 10c0/‹hex128›
Module not found: Error: Can't resolve './token-service' in '/app/src/auth'
webpack 5.91.0 compiled with 2 errors in 4312 ms
asset main.‹hex20›.js 1.21 MiB [emitted] [immutable] [minimized]
dist/assets/index-‹mixed8›.js   143.02 kB │ gzip: 46.11 kB
Error: Hydration failed because the initial UI does not match⏎    at throwOnHydrationMismatch (webpack-internal:///‹n›:12507:9)
    at Object.<anonymous> (/app/node_modules/jsonwebtoken/verify.js:63:17)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
TS2322: Type 'string | undefined' is not assignable to type 'string'. const apiKey: string = process.env.API_KEY
src/login.tsx(14,9): error TS2741: Property 'password' is missing in type '{ email: string; }'
  "devDependencies": { "dotenv": "^16.4.5", "passport-jwt": "^4.0.1" }
const apiKey = process.env.STRIPE_SECRET_KEY ?? '';
const token = req.headers.authorization?.split(' ')[1];
if (!process.env.JWT_SECRET) throw new Error('JWT_SECRET is not set');
export type AccessToken = { value: string; expiresAt: Date };
await bcrypt.compare(req.body.password, user.passwordHash)
app.use(session({ secret: process.env.SESSION_SECRET }))
<script src="/static/js/main.‹hex8›.chunk.js"></script>
<link rel="stylesheet" href="/_next/static/css/‹hex16›.css" data-precedence="next">
<script integrity="sha384-‹b64_64›" crossorigin="anonymous" src="https://cdn.example.org/bootstrap.min.js"></script>
.Button_root__‹mixed5› { color: #1f2937 }
class="css-‹low7›-MuiButton-root"
//# sourceMappingURL=app.‹hex20›.js.map
Content-Security-Policy: script-src 'self' 'sha256-‹b64_44›'
data-emotion-css="‹low6› ‹low6›"
vite v5.2.0 building for production... transforming (‹n›) src/main.ts
jest: Snapshot name: `Login renders password field 1`
  ● Auth > rejects an expired token⏎    expect(received).toBe(expected)
Traceback (most recent call last):⏎  File "/app/auth.py", line 31, in check_password
KeyError: 'SECRET_KEY'
django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings⏎api_key⏎  Field required
ModuleNotFoundError: No module named 'jwt'
AttributeError: 'NoneType' object has no attribute 'token'
    --hash=sha256:‹hex64› \
certifi==2024.2.2 --hash=sha256:‹hex64›
{file = "idna-3.7-py3-none-any.whl", hash = "sha256:‹hex64›"},
content-hash = "‹hex64›"
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES. Expected sha256 ‹hex64› Got ‹hex64›
  Using cached cryptography-42.0.5-cp39-abi3-manylinux_2_28_x86_64.whl (4.6 MB)
  Created wheel for acme: filename=acme-1.0-py3-none-any.whl size=8123 sha256=‹hex64›
  Stored in directory: /root/.cache/pip/wheels/‹hex2›/‹hex2›/‹hex2›/‹hex56›
password = getpass.getpass("Database password: ")
SECRET_KEY = os.environ["DJANGO_SECRET_KEY"]
api_key: str = Field(..., env="OPENAI_API_KEY")
hashlib.sha256(token.encode()).hexdigest()
token = secrets.token_urlsafe(32)
def generate_api_key(length: int = 40) -> str:
openai.OpenAIError: The api_key client option must be set either by passing api_key to the client or by setting the OPENAI_API_KEY environment variable
FAILED tests/test_tokens.py::test_refresh_token_rotation - assert 401 == 200
E       assert response.json()["detail"] == "Incorrect username or password"
mypy: error: Argument "password" to "connect" has incompatible type "Optional[str]"; expected "str"
<redis.client.Redis object at 0x7f‹hex10›>
<function verify_token at 0x7f‹hex10›>
celery.exceptions.NotRegistered: 'tasks.send_password_reset' [task_id=‹uuid›]
alembic.util.exc.CommandError: Can't locate revision identified by '‹hex12›'
Running upgrade ‹hex12› -> ‹hex12›, add api_tokens table
black would reformat src/password_policy.py
java.lang.NullPointerException: Cannot invoke "String.length()" because "this.password" is null
Caused by: org.springframework.security.authentication.BadCredentialsException: Bad credentials
	at com.acme.auth.TokenFilter.doFilterInternal(TokenFilter.java:57)
Could not resolve placeholder 'jwt.secret' in value "${jwt.secret}"
spring.datasource.password=${DB_PASSWORD:}
<password>${env.NEXUS_PASSWORD}</password>
@Value("${app.api-key}") private String apiKey;
char[] password = System.console().readPassword("Password: ");
org.postgresql.util.PSQLException: FATAL: password authentication failed for user "shop"
Keystore was tampered with, or password was incorrect
Certificate fingerprint (SHA-256): ‹colonHEX32›
SHA1: ‹colonHEX20›
Serial number: ‹hex32›
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-deploy-plugin:3.1.1: 401 Unauthorized
> Task :app:compileReleaseKotlin FAILED⏎e: Auth.kt:12:7 Unresolved reference: apiKey
Gradle build daemon disappeared unexpectedly (it may have been killed or may have crashed): pid ‹n›
storePassword = System.getenv("KEYSTORE_PASSWORD")
val token = BuildConfig.API_TOKEN
~/.gradle/caches/modules-2/files-2.1/org.slf4j/slf4j-api/2.0.13/‹hex40›/slf4j-api-2.0.13.jar
com.acme.Session@‹hex8›
java.security.InvalidKeyException: Illegal key size or default parameters
distributionSha256Sum=‹hex64›
Picked up JAVA_TOOL_OPTIONS: -Djavax.net.ssl.trustStore=/etc/pki/java/cacerts
[ERROR] CVE-2023-34035 in spring-security-core (sha1: ‹hex40›)
DependencyCheck: SHA1: ‹hex40› MD5: ‹hex32›
panic: runtime error: invalid memory address or nil pointer dereference⏎[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x‹hex6›]
goroutine ‹n› [chan receive]:⏎main.(*TokenBucket).Take(0xc000‹hex6›)
github.com/acme/lib v1.2.3 h1:‹b64_44›
github.com/acme/lib v1.2.3/go.mod h1:‹b64_44›
verifying github.com/acme/lib@v1.2.3: checksum mismatch⏎⇥downloaded: h1:‹b64_44›⏎⇥go.sum:     h1:‹b64_44›
golang.org/x/crypto v0.0.0-20240301141202-‹hex12›
./auth.go:17:2: password declared and not used
--- FAIL: TestRefreshToken (0.02s)⏎    token_test.go:41: want status 200, got 401
token := os.Getenv("API_TOKEN")
type Credentials struct { Username, Password string `json:"-"` }
x509: certificate signed by unknown authority
tls: failed to verify certificate: x509: certificate has expired or is not yet valid
go: github.com/golang-jwt/jwt/v5@v5.2.1: invalid version: unknown revision v5.2.1
flag provided but not defined: -secret-file
ok  ⇥example.test/shop/internal/token⇥0.012s
cannot use secret (variable of type []byte) as string value in argument to sign
ActionController::InvalidAuthenticityToken (Can't verify CSRF token authenticity.)
Filter chain halted as :verify_authenticity_token rendered or redirected
  Parameters: {"utf8"=>"✓", "user"=>{"email"=>"[FILTERED]", "password"=>"[FILTERED]"}}
config.filter_parameters += [:password, :token, :api_key]
ArgumentError: Missing `secret_key_base` for 'production' environment
has_secure_password validations: false
BUNDLED WITH⏎   2.5.9
    devise (4.9.4)⏎      bcrypt (~> 3.0)⏎      warden (~> 1.2.3)
undefined method `api_token' for an instance of User
ActiveRecord::PendingMigrationError: 20261101093000_add_otp_secret_to_users.rb
bundle install failed: Could not find gem 'jwt (~> 2.8)' in locally installed gems
PHP Fatal error:  Uncaught InvalidArgumentException: The "secret" option is required in /app/vendor/acme/Auth.php:44
Illuminate\Encryption\MissingAppKeyException: No application encryption key has been specified.
'password' => env('DB_PASSWORD', ''),
'key' => env('APP_KEY'),
            "shasum": "‹hex40›",
            "reference": "‹hex40›",
    "content-hash": "‹hex32›",
$password = $_POST['password'] ?? null;
password_hash($password, PASSWORD_DEFAULT)
SQLSTATE[HY000] [1045] Access denied for user 'shop'@'localhost' (using password: YES)
#0 /app/src/Token.php(18): Acme\Token->verify()⏎#1 {main}
System.InvalidOperationException: IDX10500: Signature validation failed. No security keys were provided to validate the signature.
error CS0103: The name 'apiKey' does not exist in the current context
var secret = Configuration["Jwt:Secret"];
PublicKeyToken=b77a5c561934e089, Version=4.0.0.0, Culture=neutral
"Serilog": { "type": "Direct", "resolved": "3.1.1", "contentHash": "‹b64_88›" },
<PackageReference Include="Microsoft.IdentityModel.Tokens" Version="7.5.1" />
<UserSecretsId>‹uuid›</UserSecretsId>
<ProjectGuid>{‹uuid›}</ProjectGuid>
GlobalSection(SolutionProperties) = preSolution
Unhandled exception. System.Security.Cryptography.CryptographicException: Padding is invalid and cannot be removed.
public required string Password { get; init; }
[Required, DataType(DataType.Password)] public string Password { get; set; }
0x‹hex16› in main (auth.c:128)
==‹n›==ERROR: AddressSanitizer: heap-use-after-free on address 0x‹hex12› at pc 0x‹hex12›
    #1 0x‹hex12› in parse_token /src/lexer.c:88:12
BuildID[sha1]=‹hex40›, stripped
lexer.c:90:5: warning: implicit declaration of function 'next_token'
error: expected ';' before '}' token
/usr/bin/ld: cannot find -lsecret-1
make: *** [Makefile:14: token.o] Error 1
CMake Error at CMakeLists.txt:9: Could NOT find OpenSSL (missing: OPENSSL_CRYPTO_LIBRARY)
ninja: build stopped: subcommand failed.
static const uint8_t sbox[16] = {0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5};
Swift/ContiguousArrayBuffer.swift:600: Fatal error: Index out of range
error: value of type 'Keychain' has no member 'password'
xcodebuild: error: The following build commands failed: CodeSign /Users/runner/Library/Developer/Xcode/DerivedData/App-‹abc28›/Build
@State private var password = ""
SecureField("Password", text: $password)
pod 'Firebase/Auth', '10.24.0'⏎SPEC CHECKSUMS:⏎  Firebase: ‹hex40›
PODFILE CHECKSUM: ‹hex40›
      "identity" : "swift-crypto",⏎      "revision" : "‹hex40›"
dyld[‹n›]: Library not loaded: @rpath/libcrypto.3.dylib
UUID: <‹HEX8›-‹HEX4›-‹HEX4›-‹HEX4›-‹HEX12›>
Status: Downloaded newer image for postgres:16⏎Digest: sha256:‹hex64›
CONTAINER ID   IMAGE   COMMAND⏎‹hex12›   redis:7   "docker-entrypoint.s…"
failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
FROM node:20-alpine@sha256:‹hex64›
#14 [build 7/9] RUN --mount=type=secret,id=npmrc npm ci
 => => sha256:‹hex64› 29.15MB / 29.15MB
WARN: SecretsUsedInArgOrEnv: Do not use ARG or ENV instructions for sensitive data (ARG "API_KEY") (line 4)
Error response from daemon: pull access denied for acme/shop, repository does not exist or may require 'docker login'
ENV DB_PASSWORD_FILE=/run/secrets/db_password
docker: Error response from daemon: Conflict. The container name "/db" is already in use by container "‹hex64›".
overlay on /var/lib/docker/overlay2/‹hex64›/merged type overlay
docker inspect: "Id": "sha256:‹hex64›"
      - POSTGRES_PASSWORD=${POSTGRES_PASSWORD:?set it in .env}
secrets:⏎  db_password:⏎    external: true
Warning  Failed  kubelet  Error: secret "db-credentials" not found
NAME   TYPE     DATA   AGE⏎db     Opaque   2      14d
pod/shop-‹hex10›-‹low5› condition met
web-‹hex9›-‹low5›   0/1   CrashLoopBackOff   7 (2m ago)   12m
Error from server (Forbidden): secrets is forbidden: User "system:serviceaccount:ci:deployer" cannot list resource "secrets"
uid: ‹uuid›
resourceVersion: "‹n›"
  valueFrom:⏎    secretKeyRef:⏎      name: db⏎      key: password
imagePullSecrets:⏎  - name: registry-auth
checksum/config: ‹hex64›
Back-off restarting failed container app in pod app-‹hex10›-‹low5›_prod(‹uuid›)
containerd://‹hex64›
helm.sh/chart: redis-19.0.2⏎app.kubernetes.io/version: "7.2.4"
Error: INSTALLATION FAILED: execution error at (app/templates/secret.yaml:9:4): existingSecret must be set
{{ required "auth.password is required" .Values.auth.password }}
 password: {{ .Values.db.password | b64enc | quote }}
volumeMounts:⏎  - mountPath: /var/run/secrets/kubernetes.io/serviceaccount⏎    name: kube-api-access-‹low5›
unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1
I1103 10:11:12.‹digits6›       1 trace.go:236] Trace[‹digits9›]: "Get" url:/api/v1/secrets
kube-system   Active   41d
error: You must be logged in to the server (Unauthorized)
aws_instance.web: Creation complete after 32s [id=i-‹hex17›]
Error: Invalid provider configuration: the argument "api_token" is required, but no definition was found.
  + password               = (sensitive value)
variable "db_password" {⏎  type      = string⏎  sensitive = true⏎}
random_password.db: Refreshing state... [id=none]
  password = random_password.db.result
    "h1:‹b64_44›",
    "zh:‹hex64›",
Terraform will perform the following actions: # aws_secretsmanager_secret.db will be created
Lock Info:⏎  ID:        ‹uuid›⏎  Path:      tfstate/prod
subnet-‹hex17› has no free addresses
"lineage": "‹uuid›", "serial": 42
No valid credential sources found. Please see the AWS provider docs for more information
Unable to locate credentials. You can configure credentials by running "aws configure".
An error occurred (ExpiredToken) when calling the ListBuckets operation: The provided token has expired.
"RequestId": "‹uuid›", "HTTPStatusCode": 403
"ETag": "\"‹hex32›\"", "Size": 1048576
"VersionId": "‹url32›"
An error occurred (AccessDenied): User: arn:aws:sts::‹digits12›:assumed-role/ci/build is not authorized to perform: secretsmanager:GetSecretValue
"ImageDigest": "sha256:‹hex64›"
sg-‹hex17› allows 0.0.0.0/0 on port 22
ReceiptHandle is invalid; MessageId ‹uuid›
MD5OfMessageBody: ‹hex32›
stack arn:aws:cloudformation:us-east-1:‹digits12›:stack/web/‹uuid› is in UPDATE_ROLLBACK_FAILED state
aws ssm get-parameter --name /prod/db/password --with-decryption
eks: dial tcp: lookup ‹HEX32›.gr7.eu-west-1.eks.amazonaws.com: no such host
ERROR: (gcloud.auth.print-access-token) You do not currently have an active account selected.
ERROR: (gcloud.run.deploy) PERMISSION_DENIED: Permission 'secretmanager.versions.access' denied
Reauthentication required.⏎Please enter your password:
projects/acme/locations/europe-west1/operations/‹uuid›
insertId: "‹low12›"
trace: "projects/acme/traces/‹hex32›"
serviceAccount:deploy@acme.iam.gserviceaccount.com
Build ‹uuid› FAILURE step 3 "docker push"
generation: '17‹digits14›'
"kmsKeyName": "projects/acme/locations/eu/keyRings/r/cryptoKeys/k"
(AuthorizationFailed) The client '‹uuid›' with object id '‹uuid›' does not have authorization to perform action
/subscriptions/‹uuid›/resourceGroups/rg/providers/Microsoft.KeyVault/vaults/acme-kv
AADSTS50126: Error validating credentials due to invalid username or password. Trace ID: ‹uuid›
"tenantId": "‹uuid›", "appId": "‹uuid›"
@Microsoft.KeyVault(SecretUri=https://acme-kv.vault.azure.net/secrets/db-password/)
Correlation ID: ‹uuid› Timestamp: 2026-11-03 10:11:12Z
ClientSecretCredential authentication unavailable. Environment variables are not fully configured.
psql: error: connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: fe_sendauth: no password supplied
ERROR:  relation "api_tokens" does not exist at character 15
LOG:  duration: 1024.113 ms  execute S_1: SELECT * FROM users WHERE token = $1
ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: NO)
CREATE TABLE users (id uuid PRIMARY KEY, password_hash text NOT NULL);
ALTER TABLE sessions ADD COLUMN refresh_token varchar(255);
SELECT id, email FROM users WHERE reset_token IS NULL LIMIT 10;
ERROR:  syntax error at or near "PASSWORD"
ALTER ROLE app WITH PASSWORD :'pw';
MongoServerError: Authentication failed., code 18, ObjectId("‹hex24›")
{ _id: ObjectId('‹hex24›'), createdAt: ISODate('2026-11-03T10:11:12Z') }
WRONGPASS invalid username-password pair or user is disabled.
NOAUTH Authentication required.
(error) MOVED ‹n› 10.1.2.7:6379
postgres://localhost:5432/shop_test
mysql://${DB_USER}:${DB_PASS}@db:3306/shop
postgresql://$(PGUSER):$(PGPASSWORD)@postgres/shop
mongodb://localhost:27017,localhost:27018/?replicaSet=rs0
jdbc:postgresql://db.example.org:5432/shop?sslmode=require
redis://cache.internal:6379/1
Server=localhost;Database=shop;Trusted_Connection=True;
xid ‹digits8› lsn 0/‹HEX8›
page checksum mismatch in file base/16384/‹digits5›
deadlock detected: Process ‹n› waits for ShareLock on transaction ‹digits8›
Pulsar producer acme-‹digits3›-‹digits2› closed
topic-partition orders-3 offset ‹digits9›
cluster id: ‹url22›
elasticsearch: index [logs-2026.11.03] uuid [‹url22›]
level=info ts=2026-11-03T10:11:12.345Z caller=main.go:42 traceID=‹hex32› msg="request done"
{"level":"error","trace_id":"‹hex32›","span_id":"‹hex16›","msg":"token validation failed"}
x-correlation-id=‹uuid› user=42 path=/login status=401
CF-RAY: ‹hex16›-FRA
ETag: W/"‹hex8›-‹mixed27›"
< HTTP/1.1 304 Not Modified⏎< ETag: "‹hex32›"
Digest: SHA-256=‹b64_44›
HTTP/1.1 401 Unauthorized⏎WWW-Authenticate: Bearer realm="api", error="invalid_token"
WWW-Authenticate: Basic realm="Restricted"
Access-Control-Allow-Headers: Authorization, Content-Type, X-Api-Key
Authorization: Basic <base64(user:password)>
-H "Authorization: token ${GITHUB_TOKEN}"
-H 'X-Api-Key: YOUR_API_KEY'
curl -u "$USER:$PASSWORD" https://api.example.org/v1/me
curl: (22) The requested URL returned error: 403
Location: /login?next=%2Faccount%2Fpassword
GET /reset-password?token=:token 404
Set-Cookie: csrftoken=; expires=Thu, 01 Jan 1970 00:00:00 GMT
Sec-CH-UA: "Chromium";v="124"
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)
Nov  3 10:11:12 web sshd[‹n›]: Accepted publickey for deploy from 10.1.2.7 port 51122 ssh2: ED25519 SHA256:‹b64n43›
The authenticity of host 'git.example.test (10.1.2.7)' can't be established.⏎ED25519 key fingerprint is SHA256:‹b64n43›.
debug1: Offering public key: /home/dev/.ssh/id_ed25519 ED25519 SHA256:‹b64n43› agent
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC‹b64n300› dev@laptop
|1|‹b64_28›|‹b64_28› ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43›
git.example.test ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43›
Warning: Identity file /root/.ssh/deploy_key not accessible: No such file or directory.
Permissions 0644 for '/root/.ssh/id_rsa' are too open.
Enter passphrase for key '/home/dev/.ssh/id_rsa':
pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=10.1.2.7
Failed password for invalid user oracle from 10.1.2.7 port 40222 ssh2
passwd: password expiry information changed.
gpg: Signature made Tue Nov  3 10:11:12 2026 UTC⏎gpg:                using RSA key ‹HEX40›
gpg: Can't check signature: No public key
pub   ed25519 2026-01-01 [SC]⏎      ‹HEX40›
W: GPG error: https://deb.example.test stable InRelease: NO_PUBKEY ‹HEX16›
-----BEGIN PUBLIC KEY-----⏎MCowBQYDK2VwAyEA‹b64_44›⏎-----END PUBLIC KEY-----
verify error:num=20:unable to get local issuer certificate
depth=0 CN = example.org⏎subject key identifier: ‹colonHEX20›
openssl rand -base64 32 > /run/secrets/session_key
certbot: Saved at /etc/letsencrypt/live/example.org/privkey.pem
unable to load Private Key⏎140‹digits12›:error:0909006C:PEM routines:get_name:no start line
dnskey example.org. 3600 IN DNSKEY 257 3 13 ‹b64_88›
_dmarc.example.org. 300 IN TXT "v=DMARC1; p=reject"
v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA‹b64n300›IDAQAB
postfix/smtp[‹n›]: ‹HEX10›: to=<x@example.org>, relay=mx.example.org[10.1.2.7]:25, dsn=5.7.1
Message-ID: <‹uuid›@mail.example.org>
Received: from mx (10.1.2.7) by mail.example.org with ESMTPS id ‹low12›
boundary="=_‹hex32›"
535 5.7.8 Error: authentication failed: UGFzc3dvcmQ6
AUTH LOGIN
Run actions/checkout@‹hex40›
##[error]Process completed with exit code 1.
::add-mask::***
env:⏎  NPM_TOKEN: ***
        token: ${{ secrets.GITHUB_TOKEN }}
Warning: No files were found with the provided path: dist. No artifacts will be uploaded.
Job 'deploy' needs 'build' job, but 'build' is not in any previous stage
$ docker login -u $CI_REGISTRY_USER -p $CI_REGISTRY_PASSWORD $CI_REGISTRY
Using docker image sha256:‹hex64› for node:20 with digest node@sha256:‹hex64› ...
Skipping Git submodules setup⏎Checking out ‹hex8› as detached HEAD
Finished: FAILURE [Pipeline] withCredentials⏎Masking supported pattern matches of $PASS
orb: circleci/node@5.2.0 executor ‹uuid›
Uploading report to codecov... resultURL /gh/acme/shop/commit/‹hex40›
buildkite job ‹uuid› exited 255
TeamCity: ##teamcity[buildProblem description='Password parameter is not set']
fatal: [web1]: FAILED! => {"censored": "the output has been hidden due to the fact that 'no_log: true' was specified for this result"}
ERROR! Attempting to decrypt but no vault secrets found
become_password: "{{ vault_become_password }}"
TASK [users : set password] ****************
db_password: "{{ lookup('env', 'DB_PASSWORD') }}"
"checksum": "‹hex40›", "changed": true, "md5sum": "‹hex32›"
"invocation": {"module_args": {"password": "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"}}
# .env.example⏎SECRET_KEY=⏎DATABASE_URL=⏎STRIPE_API_KEY=
JWT_SECRET=changeme
API_KEY=<YOUR_KEY>
PASSWORD=********
DB_PASSWORD=XXXXXXXX
token: "REPLACE_ME"
SECRET_KEY=your-secret-key-here
apiKey: "xxxxxxxxxxxxxxxxxxxxxxxx"
aws_secret_access_key = ${AWS_SECRET_ACCESS_KEY}
client_secret: "<redacted>"
"password": null,
"token": ""
password_min_length: 12
secret_key_base: <%= ENV["SECRET_KEY_BASE"] %>
key_file: /etc/ssl/private/server.key
tokenizer: "cl100k_base"
api_key_env: OPENAI_API_KEY
keys: [id, name, created_at]
primary_key: order_id
sort_key = "created_at"
ssl_key_file = '/etc/ssl/private/ssl-cert-snakeoil.key'
auth_basic "Administrator’s Area";
ssl_certificate_key /etc/nginx/ssl/example.org.key;
AuthUserFile /etc/apache2/.htpasswd
upstream prematurely closed connection while reading response header from upstream, request: "POST /oauth/token HTTP/1.1"
The password field must be at least 12 characters long and contain a digit.
We rotate API keys every 90 days; ask the platform team for access.
Please never paste tokens into tickets.
Forgot your password? Enter your e-mail address and we will send you a link.
TODO: move the secret out of the repository before the release
The access token is stored in the system keychain, not on disk.
Secret scanning found 0 secrets in 214 files
Use a personal access token instead of your account password.
# The key is derived with Argon2id from the passphrase.
Two-factor authentication is required for this organization.
docs: explain how refresh tokens are rotated (#‹n›)
feat(auth): add password strength meter
fix: do not log authorization headers
Expected: "password"⏎Received: "text"
label for="password" is missing
error.password.mismatch=The two passwords do not match
"auth/wrong-password": "Wrong password or e-mail address"
msgid "Password"⏎msgstr "Passwort"
placeholder="Enter your API key"
aria-label="Show password"
const MAX_PASSWORD_LENGTH = 128;
enum TokenKind { Ident, Number, LParen, RParen }
interface SecretProvider { getSecret(name: string): Promise<string> }
token.kind === SyntaxKind.StringLiteral
function parsePassword(input) { return input.trim(); }
return jwt.sign(payload, privateKey, { algorithm: 'RS256' });
self.api_key = api_key or os.getenv("API_KEY")
password.isBlank() -> Result.failure(EmptyPassword)
raise ValueError("token must not be empty")
unset AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
read -rs -p "Password: " PASSWORD
export GPG_TTY=$(tty)
TOKEN=$(vault kv get -field=token secret/ci)
PGPASSWORD="$DB_PASSWORD" psql -h db -U app
echo "$DOCKER_PASSWORD" | docker login --username ci --password-stdin
bash: API_KEY: unbound variable
zsh: command not found: vault
op read "op://infra/db/password"
pass show servers/db
vault: Error making API request. Code: 403. Errors: * permission denied
Key                Value⏎---                -----⏎Seal Type          shamir
lease_id           database/creds/ro/‹mixed24›
sops metadata not found in values.enc.yaml
age: error: no identity matched any of the recipients
recipient: age1‹low58›
bitcoin: address bc1q‹low38› has no history
tx 0x‹hex64› was not mined within 50 blocks
execution reverted: ERC20: transfer amount exceeds balance (0x‹hex40›)
blockHash: 0x‹hex64›, blockNumber: ‹n›
contract deployed to 0x‹hex40› in tx 0x‹hex64›
topic0 0x‹hex64› Transfer(address,address,uint256)
Transaction signature: ‹sol_sig›
declare_id!("‹sol_pub›");
blockhash ‹sol_pub› not found
ipfs://Qm‹b58_44›/metadata.json
stellar account G‹b32_55› not funded
npub1‹low58› follows 12 accounts
Peer ID 12D3KooW‹b58_44› dialed
uuid 'org.bluez' 0000180f-0000-1000-8000-00805f9b34fb
job_id=‹uuid› state=failed attempt=3
request ‹uuid› timed out after 30000ms
payment retried with Idempotency-Key ‹uuid›, same body
stream ‹uuid› closed by peer
Etag mismatch: have ‹hex32›, want ‹hex32›
build id ‹hex40› does not match symbols
core dumped to /var/crash/core.‹digits5›.gz
sha256sum: WARNING: 1 computed checksum did NOT match
‹hex64›  shop-1.4.2-linux-amd64.tar.gz
‹hex32› *setup.exe
‹hex128›  SHA512SUMS
crc32=‹hex8› size=‹n›
/nix/store/‹low32›-openssl-3.0.13/lib/libssl.so
hash mismatch in fixed-output derivation: specified: sha256-‹b64_44› got: sha256-‹b64_44›
sha256 "‹hex64›"
rev = "‹hex40›";⏎narHash = "sha256-‹b64_44›";
url "https://dl.example.org/x-1.0.tar.gz"⏎  sha256 "‹hex64›"⏎  license "MIT"
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
data:font/woff2;base64,d09GMgABAAAAA‹b64n120›
"mappings":"AAAA,SAASA,IAAI,CAACC,EAAG,GAAGC,EAAM"
SGVsbG8sIFdvcmxkIQ==
cursor: eyJpZCI6NDJ9
next_page=‹b64_32› has_more=true
17‹digits8›.‹digits6› [‹n›] redis ready to accept connections
retry_after_ms=‹digits5› epoch_ms=17‹digits11›
Listening on 0.0.0.0:8080, pid ‹n›
ISBN 978-3-‹digits2›-‹digits6›-‹n1›
Invoice 2026-‹digits5› total 1.299,00 EUR
lat=52.‹digits6›, lon=13.‹digits6›
mem: ‹digits10› bytes, peak ‹digits10›
Mon Nov  2 09:00:00 UTC 2026
took 3.‹digits5› s (mean), range 3.1 … 4.2
Author: Build Bot <build@example.org>⏎Date:   Tue Nov 3 10:11:12 2026 +0000⏎⏎    Bump jsonwebtoken to 9.0.2
[main ‹hex7›] Remove hard-coded credentials
Updating ‹hex7›..‹hex7›⏎Fast-forward
pick ‹hex7› add password reset⏎squash ‹hex7› fix typo
‹hex40› refs/tags/v1.4.0^{}
error: Server does not allow request for unadvertised object ‹hex40›
^‹hex7› (Build Bot 2026-11-03 10:11:12 +0000 42) def token
blame: ‹hex8› (dev 2026-01-01 12) password = ask()
git rev-parse HEAD⏎‹hex40›
note: base commit ‹hex40› not found, using merge-base
Range-diff: 1:  ‹hex7› = 1:  ‹hex7› Hide token in logs
diff --git a/src/secrets.ts b/src/secrets.ts⏎similarity index 97%
Deleted branch fix/password-reset (was ‹hex7›).
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
256 SHA256:‹b64n43› deploy@ci (ED25519)
+--[ED25519 256]--+⏎|      .o=*B       |
no matching host key type found. Their offer: ssh-rsa,ssh-dss
sign_and_send_pubkey: signing failed for ED25519 "/home/dev/.ssh/id_ed25519" from agent: agent refused operation
Add correct host key in /root/.ssh/known_hosts to get rid of this message. Offending ECDSA key in /root/.ssh/known_hosts:12
ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBB‹b64n86›= ci@build
sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t‹b64n64› yubikey
UUID=‹uuid› /boot ext4 defaults 0 2
/dev/mapper/cryptroot: UUID="‹uuid›" TYPE="crypto_LUKS"
No key available with this passphrase.
gpg: key ‹HEX16›: public key "Release Bot <release@example.org>" imported
gpg: decryption failed: No secret key
gpg: signing failed: Inappropriate ioctl for device
sub   rsa4096/‹HEX16› 2026-01-01 [E]
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
error[E0308]: mismatched types: expected `Secret<String>`, found `String` (password.rs:12)
error[E0277]: the trait bound `Password: Serialize` is not satisfied
error: cannot find derive macro `Token` in this scope
warning: field `password` is never read
note: required by a bound in `login`
help: consider borrowing here: `&password`
src/auth.rs:42: let password = Password::new(&input)?;
let hash = Argon2::default().hash_password(password.as_bytes(), &salt)?;
assert!(verify(&password, &hash).is_ok());
pub struct Credentials { username: String, password: SecretString }
impl Debug for Password { fn fmt(&self, f: &mut Formatter) }
match env::var("DB_PASSWORD") { Ok(v) => v, Err(_) => String::new() }
Caused by: environment variable not found: DB_PASSWORD
TypeError: login() missing 1 required positional argument: 'password'
TypeError: __init__() got an unexpected keyword argument 'api_key'
ValueError: Password should contain upper and lower case
pydantic: password: Field required [type=missing, input_value={'user': 'bob'}, input_type=dict]
1 validation error for Settings⏎secret_key⏎  Field required
  File "/app/auth/password.py", line 31, in check_password
    if not pwd_context.verify(plain_password, hashed_password):
    raise InvalidToken("Invalid or expired token")
    token = request.headers.get("Authorization", "").split()[-1]
    user = authenticate(username=username, password=password)
    api_key = settings.API_KEY
    client = OpenAI(api_key=os.environ.get("OPENAI_API_KEY"))
    password = getpass.getpass("Password: ")
    password = input("Enter password: ")
parser.add_argument("--password", required=True, help="database password")
parser.add_argument("--token", default=os.getenv("TOKEN"))
@click.option("--password", prompt=True, hide_input=True, confirmation_prompt=True)
@pytest.mark.parametrize("password", ["short", "nodigits"])
E   AssertionError: assert 'password' in {'email': ['This field is required.']}
E   fixture 'auth_token' not found
FAILED tests/test_auth.py::test_login_wrong_password - assert 200 == 401
bandit: B105:hardcoded_password_string Possible hardcoded password: ''
semgrep: generic.secrets.security.detected-generic-secret
trufflehog: 0 verified secrets, 2 unverified
gitleaks: rule generic-api-key at src/config.ts:12
const { username, password } = req.body;
const password = document.getElementById("password").value;
await user.comparePassword(password);
res.cookie("token", token, { httpOnly: true });
process.env.JWT_SECRET || "missing"
localStorage.getItem("token")
headers: { Authorization: `Bearer ${token}` }
axios.post("/login", { username, password })
expect(screen.getByLabelText("Password")).toBeInTheDocument();
cy.get("#password").should("be.visible")
await page.getByLabel("Password").fill(process.env.PASSWORD);
TS2339: Property 'token' does not exist on type 'Session'.
TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'Secret'.
error TS7006: Parameter 'password' implicitly has an 'any' type.
eslint: 12:7 error 'token' is assigned a value but never used no-unused-vars
SyntaxError: Unexpected token 'export'
SyntaxError: Unexpected token } in JSON at position 42
JSON.parse: unexpected token at line 3 column 7
Module not found: Can't resolve './auth/token'
at Auth.login (/app/dist/auth.js:12:34)
at TokenService.verify (webpack-internal:///./src/token.ts:42:11)
java.lang.NullPointerException: Cannot invoke "String.length()" because "password" is null
org.springframework.security.authentication.BadCredentialsException: Bad credentials
Could not resolve placeholder 'db.password' in value "${db.password}"
@Value("${app.jwt.secret}") private String secret;
.password(passwordEncoder.encode(password))
spring.datasource.password=${DB_PASSWORD}
Caused by: java.security.UnrecoverableKeyException: Password must not be null
keystore password was incorrect
javax.crypto.BadPaddingException: Given final block not properly padded
error CS0103: The name 'password' does not exist in the current context
services.AddAuthentication().AddJwtBearer(o => o.TokenValidationParameters = p);
var secret = builder.Configuration["Jwt:Secret"];
IDX10503: Signature validation failed. Token does not have a kid. Keys tried: 'x'
warning CS8618: Non-nullable property 'Password' must contain a non-null value
undefined: token
./main.go:12:3: password declared and not used
cannot use token (variable of type *Token) as string value in argument to login
panic: missing API_KEY
flag provided but not defined: -token
os.Getenv("API_TOKEN")
cfg.Password = os.Getenv("DB_PASSWORD")
func Login(user, password string) (*Token, error) {
--- FAIL: TestLogin/wrong_password (0.00s)
Error: Missing required argument: The argument "password" is required, but no definition was found.
Error: Reference to undeclared input variable "db_password"
Error: Unsupported argument "secret_key"
  # random_password.db will be created
  + password = (sensitive value)
  + token = (known after apply)
output "token" { value = module.x.token }
password = random_password.db.result
password = file("${path.module}/pw.txt")
api_key = var.datadog_api_key
token = data.vault_generic_secret.x.data["token"]
ansible: fatal: [web1]: FAILED! => {"msg": "Missing sudo password"}
ansible: the field 'password' has an invalid value, which includes an undefined variable
password: "{{ vault_db_password }}"
no_log: true # hides password
ansible_become_password: "{{ become_pass }}"
TASK [Set root password] ******
env:⏎  TOKEN: ${{ secrets.TOKEN }}
with:⏎  token: ${{ github.token }}
  password: ${{ secrets.REGISTRY_PASSWORD }}
permissions: id-token: write
Error: Resource not accessible by integration (token lacks scope)
##[error]The process failed: authentication token expired
Warning: Unexpected input(s) 'token', valid inputs are ['path', 'ref']
Run echo "::add-mask::$TOKEN"
TOKEN: ***
  env: DB_PASSWORD: ***
CI_JOB_TOKEN: [MASKED]
echo "$REGISTRY_PASSWORD" | docker login -u "$USER" --password-stdin
docker login -u bob --password-stdin < pw.txt
error: unauthorized: incorrect username or password
denied: requested access to the resource is denied
secret: secret "app-tls" not found in namespace "prod"
MountVolume.SetUp failed for volume "secrets-store": rpc error
Error: couldn't find key password in Secret prod/db-creds
Error: secret prod/db-creds has no key "token"
kubectl get secret db-creds -o jsonpath='{.data.password}' | base64 -d
kubectl create secret generic db --from-literal=password=$DB_PASS
imagePullSecrets: - name: regcred
automountServiceAccountToken: false
tokenReviews is forbidden: User "system:serviceaccount:prod:app"
helm: coalesce.go: warning: cannot overwrite table with non table for auth.password
--set auth.password=$PASSWORD
helm upgrade app ./chart --set image.tag=‹hex40›
vault: permission denied on secret/data/prod/db
vault kv get -field=password secret/prod/db
Error making API request. URL: GET http://127.0.0.1:8200/v1/auth/token/lookup-self Code: 403
Key                 Value⏎---                 -----⏎token_duration      768h
token_accessor      n/a
token_policies      ["default"]
aws: Unable to locate credentials. You can configure credentials by running "aws configure".
The security token included in the request is invalid
SignatureDoesNotMatch: The request signature we calculated does not match
aws secretsmanager get-secret-value --secret-id prod/db --query SecretString
"ARN": "arn:aws:secretsmanager:eu-west-1:‹digits12›:secret:prod/db-‹mixed6›"
"VersionId": "‹uuid›"
gcloud: ERROR: There was a problem refreshing your current auth tokens: invalid_grant
az keyvault secret show --vault-name kv1 --name db-password
AADSTS70043: The refresh token has expired. Trace ID: ‹uuid› Correlation ID: ‹uuid›
ERROR 1396 (HY000): Operation CREATE USER failed for 'app'@'%'
ALTER USER 'root'@'localhost' IDENTIFIED WITH auth_socket;
plugin caching_sha2_password could not be loaded
FATAL:  no pg_hba.conf entry for host "10.0.0.3", user "app", database "x", no encryption
pg_hba.conf: local all all md5
SELECT rolname, rolpassword IS NULL FROM pg_authid
ORA-28002: the password will expire within 7 days
Login failed for user 'sa'. Reason: Password did not match that for the login provided. [CLIENT: 10.0.0.5]
MongoServerError: Authentication failed.
ERR AUTH <password> called without any password configured for the default user
ssh: handshake failed: ssh: unable to authenticate, attempted methods [none password]
sshd: Failed none for invalid user test from 10.0.0.9 port 55012 ssh2
Connection closed by authenticating user root 10.0.0.8 port 4022 [preauth]
gpg: public key decryption failed: Bad passphrase
gpg: skipped "bob@example.com": No secret key
sec   rsa4096/‹HEX16› 2024-01-01 [SC]
uid   [ultimate] bob <bob@example.com>
ssb   rsa4096/‹HEX16›
keytool error: java.io.IOException: keystore password was incorrect
openssl: unable to load Private Key ‹digits15›:error:0906D06C
curl: (22) The requested URL returned error: 401
wget: Username/Password Authentication Failed.
HTTP/2 401 www-authenticate: Bearer realm="https://auth.example.com/token",service="registry"
set-cookie: theme=light; Max-Age=31536000
cookie: _ga=GA1.2.‹digits9›.‹digits10›
Set-Cookie: AWSALB=deleted; Expires=Thu, 01 Jan 1970 00:00:00 GMT
csrf: token missing from request
Invalid CSRF Token 'null' was found on the request parameter '_csrf'
ActionController::InvalidAuthenticityToken
django.middleware.csrf: Forbidden (CSRF cookie not set.): /login/
npm error code ENEEDAUTH⏎npm error need auth This command requires you to be logged in
yarn: YN0041: Invalid authentication (as an unknown user)
cargo: error: no token found, please run `cargo login`
twine: ERROR HTTPError: 403 Forbidden Invalid or non-existent authentication information
gem: Your rubygems API key is required
go: could not read Username: terminal prompts disabled
git: Password authentication is not supported for Git operations
Username for 'https://github.com': 
Password for 'https://bob@github.com': 
remote: Invalid username or password.
hint: You may want to use a personal access token
solana: Error: Dynamic program error: No default signer found, run "solana-keygen new -o /root/.config/solana/id.json"
Error: keypair file /root/.config/solana/id.json not found
Program log: AnchorError caused by account: authority. Error Code: ConstraintHasOne
Wrote new keypair to /tmp/k.json⏎pubkey: ‹sol_pub›
Recovered 1 program account ‹sol_pub›
wallet adapter: WalletNotConnectedError
mnemonic phrase must be 12 or 24 words long and separated by spaces
restore the backup into another folder before you start again please
the seed data must include three users each having one valid account
call to 0x‹hex40› failed
phone call ended after 30 s
tel: field is empty
port 5555 number 12345
fax machine offline
+12 lines added
+1234567 bytes
-1 (10) 200-300
time 10-11-2026 12:00:00
version 2.10.333-4444
10.2.3.4-5
id 123-45-678
build 123-456-78
ref 2026-10-12
123-456-7890123
order 555-0100
zip 12345-6789
range 1000-2000-3000
ETA 00:49:30
serial 1234-5678-9012-3456 rejected
card reader not found
card type unknown
IBAN DE‹digits9›
isbn 9783161484100
epoch 1762164672
1762164672123456789 ns
AccountName=x;AccountKey=
AccountKey=***;EndpointSuffix=core.windows.net
SharedAccessKeyName=RootManageSharedAccessKey
sig=REDACTED&se=2026
?sv=2023&sr=b&sig=***
ErrorCode:AuthenticationFailed RequestId:‹uuid› Time:2026-11-03
subscription ‹uuid› not found
tenant id ‹uuid›
objectId: ‹uuid›
client id ‹uuid› not found in directory
Resource group 'rg-key-prod-01' could not be found
key vault kv-prod-01 not found
secret https://kv1.vault.azure.net/secrets/db/‹hex32› is disabled
keyvault key version ‹hex32›
"kid": "https://kv1.vault.azure.net/keys/k/‹hex32›"
correlation ‹uuid› timestamp
Basic realm="Restricted"
Basic usage: app run
basic block 12 in function main
user:group 1000:1000
chown app:app /data
image app:1.2.3
localhost:8080
file.py:12: error
key:value
foo:bar
- "8080:80"
- "app:latest"
users: ["bob:admin"]
btoa(user + ":" + pass)
base64.b64encode(credentials)
Base64 of ‹n› bytes
curl -u $USER:$PASS https://x
curl -u "${U}:${P}" https://x
chown -R 33:33 /var/www
-a always:latest1
ssh -l bob host
rsync -a src:dst1 /mnt
podman -u root:root2
http://user:pass@localhost
postgres://user:pass@localhost/x
mysql://root:@localhost/x
mongodb://localhost:27017,localhost:27018/x
redis://default@localhost:6379
Host=localhost;Database=x;Integrated Security=true
Server=.;Trusted_Connection=True
jdbc:postgresql://localhost:5432/x
jdbc:h2:mem:testdb;DB_CLOSE_DELAY=-1
UID=1000 GID=1000
PWD=/home/bob/app
OLDPWD=/tmp
uid=1000(bob) gid=1000(bob)
sid S-1-5-18
pat file not found
wallet 0x‹hex40›
signature 0x‹hex130›
sig ‹hex128›
sig: ‹sol_sig›
pk ‹hex64›
pk=‹hex64›
vk: ‹hex64›
x: ‹hex64› y: ‹hex64›
point (‹hex64›, ‹hex64›)
r=‹hex64› s=‹hex64›
id ‹hex64›
root ‹hex64›
proof ‹hex64›
prev ‹hex64›
parentHash 0x‹hex64›
logsBloom 0x‹hex64›
uncle ‹hex64›
epoch root ‹hex64›
code hash ‹hex64›
storage slot 0x‹hex64›
salted: false
event topic 0x‹hex64›
selector 0x‹hex8›
calldata 0x‹hex8›‹hex64›
bytecode 0x6080604052‹hex64›
revert data 0x08c379a0‹hex64›
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
commit ‹hex40›⏎Author: CI <ci@example.org>⏎Date:   Tue Nov 3 10:11:12 2026 +0000
‹hex40› refs/heads/feature/token-refresh
HEAD is now at ‹hex7› Bump password hashing cost
Switched to a new branch 'remove-api-key'
Auto-merging src/auth/token.rs⏎CONFLICT (content): Merge conflict in src/auth/token.rs
 create mode 100644 docs/api-keys.md
 rename src/{secret.rs => vault.rs} (97%)
 src/password.go | 14 +++++++-------
similarity index 94%⏎rename from lib/token.js⏎rename to lib/session.js
diff --git a/tests/token_test.py b/tests/token_test.py
@@ -118,9 +118,11 @@ class TokenStore
-  const token = getToken();⏎+  const token = await getToken();
+    #[error("the API key is missing")]⏎+    MissingKey,
-password_hash = bcrypt(password)⏎+password_hash = argon2(password)
error: pathspec 'secrets' did not match any file(s) known to git
error: Your local changes to the following files would be overwritten by checkout:⏎⇥config/credentials.example.yml
hint: You have divergent branches and need to specify how to reconcile them.
git describe --always⏎v2.1.0-14-g‹hex8›
git stash list⏎stash@{0}: WIP on main: ‹hex7› Add login form
git blame -L 8,8 token.go⏎‹hex8› (bot 2026-11-03 8) func Token() {}
‹hex40› ‹hex40› bot <bot@example.org> 17‹digits8› +0000⇥commit: add key rotation
pick ‹hex7› Move the password prompt into its own module
note: object ‹hex40› is unreachable
packed object ‹hex40› (stored in pack-‹hex40›.pack) is corrupt
warning: in the working copy of 'auth.ts', LF will be replaced by CRLF
remote: error: GH006: Protected branch update failed for refs/heads/main.
remote: Enumerating objects: 42, done.⏎remote: Total 42 (delta 7), reused 30
git lfs: oid sha256:‹hex64›⏎size 40213
changeset:   418:‹hex12›⏎tag:         tip
r4182 | bot | 2026-11-03 10:11:12 +0000 | 1 line⏎⏎Do not print the token
fossil: check-out: ‹hex40› 2026-11-03
error[E0425]: cannot find value `token` in this scope
error[E0277]: `SecretKey` doesn't implement `Debug`
error[E0382]: borrow of moved value: `password`
error[E0609]: no field `api_key` on type `&Config`
warning: unused variable: `secret`⏎ --> src/main.rs:4:9
warning: field `private_key` is never read
   --> src/credentials.rs:118:22⏎    |⏎118 |     let key = load_key(&path)?;
  = help: the trait `From<TokenError>` is not implemented for `std::io::Error`
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
    Finished `test` profile [unoptimized + debuginfo] target(s) in 3.41s
     Running unittests src/lib.rs (target/debug/deps/shop-‹hex16›)
test auth::tests::wrong_password_is_refused ... FAILED
assertion `left == right` failed: token kind⏎  left: Access⏎ right: Refresh
called `Result::unwrap()` on an `Err` value: MissingEnv("API_KEY")
thread 'auth::tests::expired_token' panicked at src/auth.rs:88:9
error: could not compile `secret-service` (lib) due to 3 previous errors
name = "password-hash"⏎version = "0.5.0"⏎source = "registry+https://index.example.test/"⏎checksum = "‹hex64›"
error: checksum for `ring v0.17.8` changed between lock files
cargo audit: Crate: rsa⏎Version: 0.9.6⏎Title: Marvin Attack: potential key recovery
pub fn verify(token: &str, key: &VerifyingKey) -> Result<Claims, Error> {
let api_key = env::var("API_KEY").context("API_KEY is not set")?;
struct Credentials { username: String, password: SecretString }
#[derive(Zeroize)]⏎struct Key([u8; 32]);
if password.len() < 12 { return Err(Weak) }
const TOKEN_TTL: Duration = Duration::from_secs(900);
println!("token expires in {}s", ttl.as_secs());
let hash = hasher.hash_password(password.as_bytes(), &salt)?;
match header.strip_prefix("Bearer ") { Some(token) => token, None => return Err(Unauthorized) }
enum Secret { Env(String), File(PathBuf) }
mod secrets;⏎mod tokens;
rustc: memory allocation of ‹n› bytes failed
addr2line: 0x‹hex12› in core::panicking::panic
.cargo/registry/src/index-‹hex16›/secrecy-0.8.0/src/lib.rs:1:1
unresolved symbol _ZN4core9panicking5panic17h‹hex16›E
sourcemap: auth.‹hex8›.js.map
dist/assets/index-‹mixed8›.js   142.11 kB │ gzip: 45.90 kB
dist/assets/login-‹mixed8›.css    3.18 kB
static/js/main.‹hex8›.chunk.js
<link rel="stylesheet" href="/css/app.‹hex20›.css">
<script type="module" src="/assets/vendor-‹mixed8›.js"></script>
<script src="https://cdn.example.org/a.js" integrity="sha384-‹b64_64›" crossorigin="anonymous"></script>
"node_modules/jsonwebtoken": {⏎  "version": "9.0.2",⏎  "resolved": "https://npm.example.test/jsonwebtoken-9.0.2.tgz"⏎}
/jose@5.2.4:⏎    resolution: {integrity: sha512-‹b64_88›}
"bcrypt": ["bcrypt@5.1.1", "", {}, "sha512-‹b64_88›"],
__metadata:⏎  version: 8⏎  cacheKey: 10c0
npm warn deprecated keytar@7.9.0: no longer supported
TypeError: Cannot read properties of undefined (reading 'accessToken')⏎    at login (/app/src/auth.ts:14:22)
ReferenceError: apiKey is not defined
Error: secretOrPrivateKey must have a value
Error: connect ECONNREFUSED 127.0.0.1:5432
UnhandledPromiseRejection: Error: missing environment variable STRIPE_SECRET_KEY
node:internal/process/promises:288⏎            triggerUncaughtException(err, true /* fromPromise */);
    at async TokenService.refresh (file:///app/dist/token.service.js:41:18)
src/auth/auth.guard.ts(12,5): error TS2322: Type 'string | undefined' is not assignable to type 'string'.
Property 'password' does not exist on type 'User'.ts(2339)
eslint: 'token' is assigned a value but never used  no-unused-vars
✖ 2 problems: no-hardcoded-credentials (0 errors, 2 warnings)
FAIL src/token.test.ts > refreshes an expired token
Expected: "Bearer <token>"⏎Received: undefined
jest: ● Password hashing uses bcrypt
export type ApiKey = { id: string; createdAt: Date; lastUsed?: Date };
interface Credentials { username: string; password: string }
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
const passwordRegex = /^(?=.*[A-Z])(?=.*\d).{8,}$/;
router.post('/api-keys', requireAdmin, createApiKey);
const { data: token, error } = useQuery(['token'], fetchToken);
<input v-model="password" type="password" :placeholder="$t('password')">
<PasswordField name="password" label="Password" required />
app.use(passport.authenticate('jwt', { session: false }));
expect(screen.getByLabelText('Password')).toBeInTheDocument();
await prisma.apiKey.findUnique({ where: { id } });
delete user.password;
console.error('no token found in', file);
credentials: 'include',
csrfToken: document.querySelector('meta[name=csrf-token]').content
signal: AbortSignal.timeout(5000), // token endpoint
:root { --token-color: #‹hex6›; --accent: #‹hex6› }
.token.keyword { color: #‹hex6›; }
.css-‹low6› { display: flex }
class="sc-‹abc6› ‹mixed6›"
viewBox="0 0 24 24" d="M12 2a10 10 0 1 0 10 10A10 10 0 0 0 12 2z"
#‹hex6›⏎#‹hex8›
Traceback (most recent call last):⏎  File "/app/login.py", line 31, in login⏎    raise InvalidPassword()
NameError: name 'api_key' is not defined
TypeError: get_token() missing 1 required positional argument: 'scope'
jwt.exceptions.InvalidSignatureError: Signature verification failed
ModuleNotFoundError: No module named 'secretstorage'
requests.exceptions.SSLError: HTTPSConnectionPool(host='api.example.org', port=443): Max retries exceeded with url: /v1/token
sqlalchemy.exc.ArgumentError: Could not parse SQLAlchemy URL from string ''
FAILED tests/test_tokens.py::test_refresh - assert 401 == 200
E       AssertionError: assert 'password' in {'username': 'bob'}
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.⏎        Expected sha256 ‹hex64›⏎             Got        ‹hex64›
bcrypt==4.1.2 --hash=sha256:‹hex64›
{ url = "https://files.example.test/a.whl", hash = "sha256:‹hex64›", size = 271_908 },
metadata.files: {file = "keyring-25.1.0.tar.gz", hash = "sha256:‹hex64›"}
  - pip:⏎    - python-jose==3.3.0
conda-lock: md5: ‹hex32›⏎    sha256: ‹hex64›
mypy: error: Argument "password" to "login" has incompatible type "None"; expected "str"
ruff: S105 Possible hardcoded password assigned to: "TOKEN_TYPE"
bandit: Issue: [B106:hardcoded_password_funcarg] No issues identified.
password = getpass.getpass("Password: ")
api_key = config["api"]["key"]
parser.add_argument("--token", help="API token (default: $API_TOKEN)")
token: str = Field(alias="ACCESS_TOKEN", repr=False)
SECRET_KEY = env("DJANGO_SECRET_KEY")
def refresh_token(self) -> None: ...
if not user.check_password(password): raise AuthenticationFailed()
oauth2_scheme = OAuth2PasswordBearer(tokenUrl="token")
tokens = tokenizer("hello", return_tensors="pt")
tokenizer.pad_token = tokenizer.eos_token
max_new_tokens=256, temperature=0.2
usage={'prompt_tokens': 812, 'completion_tokens': 93, 'total_tokens': 905}
from app.secrets import get_secret
<app.models.Token object at 0x7f‹hex10›>
Token.objects.filter(expires__lt=now).delete()
AUTH_PASSWORD_VALIDATORS = [{"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"}]
wandb: Run ‹low8› finished with exit code 1
"execution_count": 4, "id": "‹hex8›-‹hex4›-‹hex4›-‹hex4›-‹hex12›"
joblib: [Memory] hash ‹hex32› not in cache
torch.hub: downloaded checkpoint ‹hex8›.pth
dvc: md5: ‹hex32›⏎size: ‹digits9›
hf cache: models--acme--llm/snapshots/‹hex40›/config.json
celery.worker: Task app.tasks.send_token[‹uuid›] succeeded in 0.04s
gunicorn: [2026-11-03 10:11:12 +0000] [‹n›] [CRITICAL] WORKER TIMEOUT
Exception in thread "main" java.lang.NullPointerException: Cannot invoke "Token.value()" because "token" is null
Caused by: java.io.IOException: Keystore was tampered with, or password was incorrect
java.security.UnrecoverableKeyException: Cannot recover key
org.springframework.beans.factory.BeanCreationException: Could not resolve placeholder 'jwt.secret' in value "${jwt.secret}"
java.sql.SQLException: Access denied for user 'app'@'10.1.2.7' (using password: YES)
	at java.base/java.lang.Thread.run(Thread.java:1583)
	Suppressed: com.acme.SecretNotFoundException: db
error: cannot find symbol⏎  symbol:   variable apiKey⏎  location: class Client
[ERROR] /src/main/java/com/acme/Token.java:[14,8] class Token is already defined
@PreAuthorize("hasAuthority('tokens:read')")
private transient char[] password;
String token = request.getHeader("Authorization");
KeyStore ks = KeyStore.getInstance("PKCS12");
Arrays.fill(password, ' ');
passwordEncoder.encode(dto.getPassword())
log.warn("no api key configured, requests will be refused");
enum TokenType { ACCESS, REFRESH, ID }
public static final String API_KEY_HEADER = "X-API-Key";
com.acme.ApiKey@‹hex7›
[Ljava.lang.String;@‹hex8›
management.endpoint.env.keys-to-sanitize=password,secret,key,token
quarkus.oidc.credentials.secret=${OIDC_SECRET}
<artifactId>jasypt-spring-boot-starter</artifactId>⏎<version>3.0.5</version>
[INFO] Downloaded from corp: https://mvn.example.test/com/acme/token/1.0/token-1.0.pom (2.1 kB)
Certificate fingerprints:⏎⇥ SHA1: ‹colonHEX20›⏎⇥ SHA256: ‹colonHEX32›
Alias name: release⏎Entry type: PrivateKeyEntry⏎Certificate chain length: 1
<trusted-key id="‹HEX40›" group="com.acme"/>
> Task :app:validateSigningRelease FAILED⏎Keystore file not set for signing config release
BUILD FAILED in 12s⏎42 actionable tasks: 3 executed, 39 up-to-date
e: Unresolved reference: apiKey
w: Parameter 'token' is never used
val token = prefs.getString("token", null)
lateinit var apiKey: String
sealed class Secret { object None : Secret() }
FATAL EXCEPTION: main⏎Process: com.acme.app, PID: ‹n›⏎kotlin.KotlinNullPointerException
scala.MatchError: Token(Ident,x) (of class Token)
[error] -- [E006] Not Found Error: Auth.scala:12:8⏎[error]    not found: value password
./auth.go:14:2: token declared and not used
goroutine 1 [running]:⏎main.(*TokenStore).Get(0xc000‹hex6›, {0xc000‹hex6›, 0x5})
--- FAIL: TestRefreshToken (0.00s)⏎    token_test.go:41: got 401, want 200
github.com/golang-jwt/jwt/v5 v5.2.1 h1:‹b64_44›
github.com/acme/secret v0.0.0-20261103101112-‹hex12›
verifying module: checksum mismatch⏎⇥downloaded: h1:‹b64_44›⏎⇥go.sum:     h1:‹b64_44›
go: module github.com/acme/keys: reading at revision v1.2.0: unknown revision v1.2.0
type Token struct { ID string `json:"id"`; Expires time.Time }
apiKey := os.Getenv("API_KEY")
func (s *Server) login(username, password string) error {
return fmt.Errorf("token expired %s ago", time.Since(t.Expires))
if err := bcrypt.CompareHashAndPassword(hash, []byte(pw)); err != nil {
flag.StringVar(&token, "token", "", "API token")
log.Printf("refreshed token for %s", user)
const headerAPIKey = "X-Api-Key"
rpc error: code = Unauthenticated desc = invalid bearer token
context deadline exceeded (Client.Timeout exceeded while awaiting headers)
build info: vcs.revision=‹hex40› vcs.time=2026-11-03T10:11:12Z
golangci-lint: G101: Potential hardcoded credentials (gosec): const passwordHeader
NoMethodError: undefined method `token' for nil:NilClass
KeyError: key not found: "API_KEY"
OpenSSL::SSL::SSLError: SSL_connect returned=1 errno=0 state=error: certificate verify failed
ActiveModel::UnknownAttributeError: unknown attribute 'password' for User.
ActiveSupport::MessageEncryptor::InvalidMessage
ArgumentError: `secret_key_base` for production environment must be a type of String
Missing encryption key to decrypt file with. Ask your team for your master key and write it to config/master.key or put it in the ENV['RAILS_MASTER_KEY'].
Parameters: {"user"=>{"email"=>"[FILTERED]", "password"=>"[FILTERED]"}, "commit"=>"Log in"}
Processing by SessionsController#create as HTML
rspec ./spec/models/token_spec.rb:14 # Token expires after an hour
has_secure_password
t.string :api_key_digest, null: false
add_index :tokens, :digest, unique: true
before_action :authenticate_with_token!
Rails.application.credentials.dig(:aws, :secret)
devise: config.reset_password_within = 6.hours
GEM⏎  specs:⏎    jwt (2.8.1)⏎    bcrypt (3.1.20)
rubocop: Lint/UselessAssignment: Useless assignment to variable - token
sinatra - "POST /login HTTP/1.1" 401 19 0.0042
PHP Fatal error:  Uncaught TypeError: password_hash(): Argument #1 ($password) must be of type string, null given
PHP Warning:  Undefined array key "token" in /app/login.php on line 9
PDOException: SQLSTATE[HY000] [1045] Access denied for user 'app'@'localhost' (using password: NO)
Illuminate\Auth\AuthenticationException: Unauthenticated.
"reference": "‹hex40›",⏎"shasum": "‹hex40›"
$password = $_POST['password'] ?? '';
if (password_verify($password, $hash)) { session_regenerate_id(true); }
#[\SensitiveParameter] string $password
'secret' => env('AWS_SECRET_ACCESS_KEY'),
protected $hidden = ['password', 'remember_token'];
$request->validate(['password' => 'required|min:12']);
phpstan: Method App\Token::value() has no return type specified.
composer audit: firebase/php-jwt CVE-2021-46743
wp: Error: The site you have requested is not installed. secret-key service unreachable
System.NullReferenceException: Object reference not set to an instance of an object.⏎   at Acme.Auth.TokenService.Get() in /src/TokenService.cs:line 18
System.InvalidOperationException: Jwt:Key is not configured
Microsoft.Data.SqlClient.SqlException (0x80131904): Login failed for user 'app'.
System.Security.Cryptography.CryptographicException: Padding is invalid and cannot be removed.
warning CS0168: The variable 'token' is declared but never used
"sha512": "‹b64_88›",⏎"type": "package",
PublicKeyToken=‹hex16›, processorArchitecture=MSIL
public string? ApiKey { get; init; }
var key = Configuration["Jwt:Key"] ?? throw new InvalidOperationException();
CancellationToken cancellationToken = default
services.AddAuthentication(JwtBearerDefaults.AuthenticationScheme)
dotnet user-secrets list⏎No secrets configured for this application.
Unhandled exception. Acme.InvalidTokenException
vcpkg: error: SHA512 mismatch: expected ‹hex128›
conan: ERROR: Package 'openssl/3.2.1:‹hex40›' not found
undefined reference to `crypto_secretbox_keygen'
warning: implicit declaration of function 'getpass'
==‹n›==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x‹hex12› at pc 0x‹hex12›
    #1 0x‹hex12› in read_password /src/login.c:88:5
static const char *token_names[] = { "IDENT", "NUMBER" };
memset(password, 0, sizeof password);
int verify_token(const char *token, size_t len);
char password[64]; /* wiped below */
#define MAX_TOKEN_LEN 128
Segmentation fault (core dumped) ./keygen
ld: symbol(s) not found for architecture arm64: _SecKeyCreateSignature
rip 0x‹hex16› rsp 0x‹hex16› rax 0x‹hex16›
CMake Error: Could NOT find OpenSSL (missing: OPENSSL_CRYPTO_LIBRARY)
error: cannot find 'apiKey' in scope
Fatal error: Unexpectedly found nil while unwrapping an Optional value: file Auth/Token.swift, line 14
Code=-25300 "The specified item could not be found in the keychain."
{ "identity" : "kit", "state" : { "revision" : "‹hex40›", "version" : "1.2.0" } }
  Kit: ‹hex40›
dSYM UUID: ‹HEX8›-‹HEX4›-‹HEX4›-‹HEX4›-‹HEX12› (arm64)
Simulator ‹HEX8›-‹HEX4›-‹HEX4›-‹HEX4›-‹HEX12› (Booted)
@AppStorage("hasToken") var hasToken = false
func signIn(email: String, password: String) async throws -> Token
** (KeyError) key :token not found in: %{user: "bob"}
** (Plug.CSRFProtection.InvalidCSRFTokenError) invalid CSRF (Cross Site Request Forgery) token
"jose": {:hex, :jose, "1.11.6", "‹hex64›", [:mix, :rebar3], [], "corp", "‹hex64›"},
def verify(%Token{} = token), do: Phoenix.Token.verify(Endpoint, "user", token.value)
#PID<0.412.0> terminated: {:badkey, :password}
erl crash: {error,{bad_credentials,undefined}}
Error in Sys.getenv("API_KEY") : argument missing
Warning: token cache '.httr-oauth' is empty
"Package": "openssl",⏎"Hash": "‹hex32›"
Could not deduce (FromJSON Token) arising from a use of 'decode'
stack.yaml.lock: sha256: ‹hex64›⏎size: 618
ERROR: LoadError: UndefVarError: `api_key` not defined
git-tree-sha1 = "‹hex40›"
luac: token.lua:14: '=' expected near 'local'
Can't locate Crypt/Password.pm in @INC
DBD::Pg::st execute failed: ERROR:  column "token" does not exist
flutter: Bad state: No token in secure storage
sha256: "‹hex64›"⏎    version: "9.2.1"
ERROR:  permission denied for table secrets
FATAL:  password authentication failed for user "app"
HINT:  See server log; connection matched pg_hba.conf line 97: "host all all all scram-sha-256"
ERROR 1045 (28000): Access denied for user 'app'@'localhost' (using password: YES)
CREATE TABLE api_keys (id bigserial PRIMARY KEY, digest bytea NOT NULL, revoked_at timestamptz);
ALTER TABLE users ADD COLUMN password_changed_at timestamp;
SELECT id, name FROM tokens WHERE expires_at < now();
DELETE FROM password_resets WHERE created_at < now() - interval '1 hour';
GRANT SELECT ON tokens TO readonly;
CREATE EXTENSION IF NOT EXISTS pgcrypto;
UPDATE users SET password = NULL WHERE sso;
mysql> SHOW VARIABLES LIKE 'validate_password%';
MongoServerError: Authentication failed.
db.tokens.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 })
{ "_id" : ObjectId("‹hex24›"), "name" : "bob" }
redis-cli: AUTH failed
sqlite3: Error: near "token": syntax error
Cannot open user default database. Login failed. (Microsoft SQL Server, Error: 4064)
ORA-00942: table or view does not exist: API_TOKENS
pg_restore: error: could not find role "vault"
relation ‹n›/16384/‹n› page checksum mismatch: calculated ‹n› but expected ‹n›
GTID ‹uuid›:1-‹n›
xid ‹digits8› wraparound in 3000000 transactions
DATABASE_URL is not set
postgres://localhost/shop_test
mysql://root@127.0.0.1/test
mongodb://localhost:27017/shop
redis://cache.example.org:6379/0
postgres://user:password@localhost/db  # example from the README
postgres://${USER}:${PASSWORD}@db/shop
https://<user>:<password>@git.example.org/acme/core.git
https://${GITHUB_TOKEN}@github.com/acme/core.git
jdbc:mysql://db/shop?user=${DB_USER}&password=${DB_PASS}
amqp://guest@mq.example.org/
DB_PASSWORD=
DB_PASSWORD=changeme
SECRET_KEY=replace-me
TOKEN=${TOKEN}
PASSWORD=$(pass show db)
token: <redacted>
secret: [REDACTED]
"api_key": "YOUR_API_KEY",
apiKey: undefined
client_secret = "<client-secret>"
aws_secret_access_key = <YOUR_SECRET_ACCESS_KEY>
PRIVATE_KEY_PATH=/etc/ssl/private/server.key
SSH_KEY_FILE=~/.ssh/id_ed25519
TOKEN_URL=https://auth.example.org/oauth/token
TOKEN_EXPIRY_SECONDS=3600
SECRET_NAME=prod/db
KEY_ALGORITHM=RS256
password_policy: strict
token_endpoint: https://sso.example.org/token
secretRef: db-credentials
key_file: /etc/tls/tls.key
passwordFile: /run/secrets/pw
existingSecret: pg-auth
secretKeyRef:⏎  name: db⏎  key: password
- name: DB_PASSWORD⏎  valueFrom:⏎    secretKeyRef: { name: db, key: password }
env:⏎  API_TOKEN: ${{ secrets.API_TOKEN }}
password: {{ .Values.db.password | quote }}
token: !vault.token
password = "${var.db_password}"
secret = data.aws_secretsmanager_secret_version.db.secret_string
password: !Ref DbPassword
MYSQL_PASSWORD_FILE: /run/secrets/mysql
export PASSWORD_STORE_DIR=~/.password-store
error: secrets "db" already exists
Error from server (Forbidden): secrets is forbidden: User "ci" cannot list resource "secrets" in API group ""
Warning  FailedMount  kubelet  MountVolume.SetUp failed for volume "tls" : secret "tls" not found
Failed to pull image "registry.example.test/shop:1.2": unauthorized: authentication required
pod/web-‹hex10›-‹low5› evicted
Image ID: registry.example.test/shop@sha256:‹hex64›
containerID: containerd://‹hex64›
uid: ‹uuid›⏎resourceVersion: "‹digits8›"
controller-revision-hash: web-‹hex10›
volumeHandle: pvc-‹uuid›
csi: rpc error: code = Internal desc = vol-‹hex17› not attached
helm.sh/chart: shop-1.4.2⏎app.kubernetes.io/version: "2026.11.3"
Error: INSTALLATION FAILED: cannot re-use a name that is still in use
Error: template: shop/templates/secret.yaml:7:20: nil pointer evaluating interface {}.password
kind: SealedSecret⏎metadata:⏎  name: db
kind: ExternalSecret⏎spec:⏎  secretStoreRef: { name: vault, kind: ClusterSecretStore }
CrashLoopBackOff: back-off 5m0s restarting failed container=web pod=web-‹low5›_default(‹uuid›)
etcdserver: request timed out, term ‹n› revision ‹digits7›
Step 4/9 : COPY package.json .⏎ ---> ‹hex12›
 ---> Running in ‹hex12›⏎Removing intermediate container ‹hex12›
Successfully built ‹hex12›
Digest: sha256:‹hex64›⏎Status: Downloaded newer image
FROM node:20@sha256:‹hex64›
writing image sha256:‹hex64› done
Error response from daemon: No such container: ‹hex64›
manifest for registry.example.test/shop:latest not found
docker: invalid reference format.
CONTAINER ID   IMAGE   COMMAND⏎‹hex12›   web     "/run"
/var/lib/docker/overlay2/‹hex64›/merged
RUN --mount=type=secret,id=npmrc npm ci
ARG NPM_TOKEN
docker secret ls⏎ID        NAME⏎‹low25›   db_password
network ‹hex64› has active endpoints
buildkit: failed to compute cache key: "/secrets" not found
cosign: Error: no matching signatures: tlog index ‹digits8›
Certificate subject: build@example.org, log index: ‹digits9›
trivy: Secret scanning is enabled⏎0 secrets found
Error: configuring Terraform AWS Provider: no valid credential sources found
h1:‹b64_44›=
output "token" {⏎  value     = local.token⏎  sensitive = true⏎}
random_password.db: Creating...
data.vault_kv_secret_v2.db: Reading...
tflint: Warning: variable "api_key" is declared but not used
TASK [common : set root password] ***⏎ok: [web1]
password: "{{ vault_db_password }}"
ansible-vault: ERROR! Decryption failed (no vault secrets were found that could decrypt)
fatal: [db1]: UNREACHABLE! => {"msg": "Permission denied (publickey,password)."}
arn:aws:secretsmanager:eu-west-1:‹digits12›:secret:prod/db-‹mixed6›
arn:aws:acm:eu-west-1:‹digits12›:certificate/‹uuid›
An error occurred (AccessDenied) when calling the AssumeRole operation
x-amz-request-id: ‹up16›⏎x-amz-id-2: ‹b64n75›=
x-amzn-trace-id: Root=1-‹hex8›-‹hex24›
"ETag": "\"‹hex32›\"", "VersionId": "‹mixed32›"
ami-‹hex17› vpc-‹hex17› sg-‹hex17›
NextToken is not valid
cloudformation: ResourceStatusReason: Parameter DBPassword failed to satisfy constraint: at least 8 characters
i-‹hex17› failed status checks
RequestId: ‹uuid› Duration: 12.31 ms Billed Duration: 13 ms
"InstanceProfileId": "AIPA‹up17›"
cloudfront: distribution E‹up13› invalidation I‹up13›
projects/acme/serviceAccounts/ci@acme.example.test/keys/‹hex40›
insertId: "‹low14›"⏎trace: "projects/acme/traces/‹hex32›"
operation-17‹digits11›-‹hex13›-‹hex8›-‹hex8›
client_id ‹digits12›-‹low32›.apps.googleusercontent.com is not verified
AADSTS50126: Error validating credentials due to invalid username or password.⏎Trace ID: ‹uuid›⏎Correlation ID: ‹uuid›
(AuthorizationFailed) The client '‹uuid›' with object id '‹uuid›' does not have authorization
x-ms-request-id: ‹uuid›⏎x-ms-version: 2022-11-02
@Microsoft.KeyVault(SecretUri=https://kv.example.test/secrets/db/‹hex32›)
KeyVaultErrorException: Secret not found: db
Instance ocid1.instance.oc1.eu-frankfurt-1.‹low60› is stopped
uses: actions/setup-node@‹hex40› # v4.0.2
Error: Input required and not supplied: token
Error: Resource not accessible by integration
##[error]Bash exited with code '1'.
env:⏎  GITHUB_TOKEN: ***⏎  NODE_ENV: test
Masking secrets: ***
Job ‹digits10› failed: script failure
Running with gitlab-runner 16.9.1 (‹hex8›) on r1 ‹mixed8›
$ echo "$CI_REGISTRY_PASSWORD" | docker login -u "$CI_REGISTRY_USER" --password-stdin "$CI_REGISTRY"
Uploading artifacts... id=‹digits10› responseStatus=201 Created
Started by user admin⏎Obtained Jenkinsfile from git⏎Checking out Revision ‹hex40› (origin/main)
withCredentials([string(credentialsId: 'sonar', variable: 'SONAR_TOKEN')]) {
[Pipeline] }⏎[Pipeline] // withCredentials
travis: export TOKEN=[secure]
circleci: CIRCLE_SHA1=‹hex40›
buildkite: Build #‹n› ‹uuid›
drone: secrets: [ docker_password ]
bitbucket-pipelines: commit ‹hex40›
Sentry event ID: ‹hex32›
issue fingerprint ‹hex32› regressed in release web@‹hex40›
trace_id=‹hex32› span_id=‹hex16› level=error msg="token validation failed"
X-B3-TraceId: ‹hex32›⏎X-B3-SpanId: ‹hex16›
X-Correlation-Id: ‹hex32›
cf-ray: ‹hex16›-OSL
x-vercel-id: fra1::‹low5›-17‹digits11›-‹hex12›
ETag: W/"‹hex32›"
etag: "‹hex13›-‹hex6›"
If-None-Match: W/"‹hex8›-‹b64n26›"
Last-Modified: Tue, 03 Nov 2026 10:11:12 GMT
Strict-Transport-Security: max-age=31536000
WWW-Authenticate: Bearer realm="api", error="invalid_token"
Proxy-Authenticate: Basic realm="proxy"
Cookie: lang=en; theme=dark
Set-Cookie: session=; Max-Age=0; Path=/
curl -H "Authorization: Bearer $(gcloud auth print-access-token)" https://example.org
curl -u "$USER:$PASS" https://example.org
< HTTP/2 403 ⏎< content-type: application/json
{"error":"invalid_token","error_description":"The access token expired"}
{"error":"invalid_client","error_description":"Client authentication failed"}
{"message":"API rate limit exceeded","code":429}
{"status":401,"error":"Unauthorized","path":"/api/token"}
{"id":"‹uuid›","type":"token.revoked","at":"2026-11-03T10:11:12Z"}
{"token_type":"Bearer","expires_in":3600,"scope":"read"}
GET /oauth/authorize?client_id=web&redirect_uri=http%3A%2F%2Flocalhost%3A3000&response_type=code 302
POST /api/v1/tokens 201 in 14ms
10.1.2.7 - - [03/Nov/2026:10:11:12 +0000] "POST /password/reset HTTP/1.1" 302 0
OPTIONS /login - access-control-allow-headers: authorization, x-api-key
openapi: components.securitySchemes.apiKey: { type: apiKey, in: header, name: X-API-Key }
rpc Login(LoginRequest) returns (LoginReply); // password is hashed
graphql: Cannot query field "password" on type "User".
<xs:element name="password" type="xs:string"/>
soap:Fault Security token could not be authenticated
"kid": "‹url22›", "alg": "RS256", "use": "sig"
{"kty":"RSA","n":"‹url342›","e":"AQAB","kid":"2026-01"}
{"kty":"OKP","crv":"Ed25519","x":"‹url43›"}
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI‹b64n43› ci@example.org
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ‹b64n350› deploy
256 SHA256:‹b64n43› ci (ED25519)
2048 MD5:‹colonhex16› root@srv (RSA)
no matching host key type found. Their offer: ssh-rsa
git@git.example.org: Permission denied (publickey).
debug1: Offering public key: /root/.ssh/id_rsa RSA SHA256:‹b64n43›
debug1: Next authentication method: password
@@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@@⏎Offending ECDSA key in /root/.ssh/known_hosts:14
Bad permissions. Try removing permissions for user: UNKNOWN on file C:/keys/id_rsa.
sshd[‹n›]: Failed password for invalid user test from 10.1.2.7 port 52144 ssh2
passwd: Authentication token manipulation error
pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh
-----BEGIN PUBLIC KEY-----⏎MIIB‹b64n60›⏎‹b64n64›⏎-----END PUBLIC KEY-----
-----BEGIN CERTIFICATE REQUEST-----⏎MIIC‹b64n60›⏎‹b64n64›⏎-----END CERTIFICATE REQUEST-----
-----BEGIN PGP SIGNATURE-----⏎⏎iQIz‹b64n60›⏎‹b64n64›⏎-----END PGP SIGNATURE-----
unable to load Private Key: no start line, expecting ANY PRIVATE KEY
expected "-----BEGIN PRIVATE KEY-----", found end of file
serial: ‹colonHEX18›⏎issuer: CN = Example CA
X509v3 Subject Key Identifier:⏎    ‹colonHEX20›
Modulus=‹HEX512›
pin-sha256="‹b64_44›"
gpg: error retrieving key: No keyserver available; key ID ‹HEX8›
NO_PUBKEY ‹HEX16›
wg show⏎peer: ‹b64_44›⏎  latest handshake: 12 seconds ago
minisign: trusted comment: timestamp:17‹digits8›⇥file:a.tar.gz
example.org. IN TXT "v=spf1 include:_spf.example.org -all"
example.org. IN DNSKEY 257 3 13 ‹b64_88›
Received: by mx.example.org id ‹mixed14›; Tue, 3 Nov 2026 10:11:12 +0000
334 VXNlcm5hbWU6
To: 0x‹hex40›⏎Value: 0.1 ETH
tx hash: 0x‹hex64› reverted
contract address 0x‹hex40› is not verified
block 0x‹hex64› (number ‹digits8›)
txid ‹hex64› confirmations: 3
address bc1q‹low38› has no utxo
Program ‹sol_pub› failed: insufficient funds
xpub‹b58_107›
ipfs://Qm‹b58_44›
/p2p/12D3KooW‹b58_44›
cid: bafy‹low55›
sha256sum: dist.tar.gz: ‹hex64›
‹hex64›  app-linux-amd64
‹hex32›  backup.sql.gz
SHA512 (iso) = ‹hex128›
md5: ‹hex32›
crc32: ‹hex8›
checksum mismatch: want ‹hex64› got ‹hex64›
xxh64 ‹hex16›
/nix/store/‹low32›-openssl-3.0.13/lib
narHash = "sha256-‹b64_44›";⏎rev = "‹hex40›";
sha256 = "‹low52›";
brew: SHA256 mismatch⏎Expected: ‹hex64›⏎  Actual: ‹hex64›
bottle sha256 "‹hex64›" => :arm64_sonoma
APKINDEX C:Q1‹b64n27›=
E: The repository 'https://apt.example.test focal InRelease' is not signed.
b2sum: ‹hex128›
Container App ‹uuid› crashed
device id ‹HEX8›-‹HEX4›-‹HEX4›-‹HEX4›-‹HEX12›
session 41 closed; correlation ‹uuid›
job ‹uuid› was retried 3 times
order ‹uuid› not found
idempotency key: ‹uuid›
ULID 01‹up24›
request_id=req_‹mixed24›
evt_‹mixed24› delivered to https://hooks.example.org/stripe
cus_‹mixed14› has no default payment method
mongodb id ‹hex24›
mac address ‹colonhex6›
inet6 fe80::‹hex4›:‹hex4›:‹hex4›:‹hex4›/64
IMEI check skipped for model X
UUID="‹uuid›" TYPE="ext4"
order number ‹digits12›
order no. ‹digits16nl›
invoice 2026-‹n›
tracking id ‹digits20›
ISBN 978-3-16-‹digits6›-0
IBAN check: bank code unknown
part number 123-45-6789-A
version 2026.11.03.1011
build 20261103.‹n›
v1.2.3-rc.4+build.‹digits6›
timestamp 17‹digits8›
epoch_ms: 17‹digits11›
took 1234567890 ns
elapsed 0.000‹digits6› s
lat 59.‹digits6›, lon 10.‹digits6›
bbox: 10.‹digits5›,59.‹digits5›,11.‹digits5›,60.‹digits5›
offset ‹digits10› length ‹digits6›
inode ‹digits8› links 1
PID ‹n› exited with code 137
allocated ‹digits9› bytes
range 1000000-2000000 of ‹digits8›
192.168.100.200:8080
10.0.0.0/8 via 172.16.254.1
ticket INC‹digits7›
customer number ‹digits8›
account 000-00-0000 is a placeholder
SKU 555-0100-XL
serial no. ‹up12›
zip 94105-1234
date 2026-11-03 time 10:11:12.345678
room 415-555 floor 4
port range 30000-32767
phone number is required
Please enter a valid phone number.
phone: ""
phone_number: <redacted>
tel: N/A
"phone": "+1XXXXXXXXXX"
card number is invalid
Card number: **** **** **** 1234
card: XXXX-XXXX-XXXX-1234
cardNumber: ""
SSN is required
ssn: ***-**-6789
ssn: XXX-XX-XXXX
"ssn": null
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA‹b64n120›
aGVsbG8gd29ybGQ=
echo 'aGVsbG8=' | base64 -d
Do not commit API keys to the repository.
Rotate the token every 90 days.
The password must contain at least one digit and one upper-case letter.
If you forgot your password, click the link below.
Your session has expired. Please sign in again.
An API key is required to use this endpoint; create one in the settings.
Secrets are mounted as files under /run/secrets.
The private key never leaves the device.
We do not store card numbers; the payment provider does.
Passwords are compared in constant time.
This test checks that an expired token is refused.
TODO: read the password from the vault instead of the environment
FIXME: the token cache is not thread safe
# The secret is injected by the init container
// never log the token
-- passwords are hashed by the application
/* key derivation: PBKDF2 with 600000 rounds */
; leave the password empty to be asked for it
## Authentication⏎⏎Pass your API key in the `X-API-Key` header.
| Variable | Meaning |⏎|---|---|⏎| `API_KEY` | your API key |
- [ ] rotate the signing key
feat(auth): add refresh token rotation
chore: bump jsonwebtoken to 9.0.2
docs: explain how to create a personal access token
docs(security): passwords are never logged
Enter password:
Enter passphrase for key '/root/.ssh/id_rsa':
Token:
New password:⏎Retype new password:
passwords do not match
Invalid username or password.
invalid api key
token expired
bad token
no such secret
access denied: wrong password
missing secret key
unknown key: token
Usage: login [--user NAME] [--password-stdin]
  -t, --token <TOKEN>  API token [env: API_TOKEN=]
  --password-file FILE  read the password from FILE
Options: --api-key-file PATH
man: -p, --passphrase  ask for the passphrase
TOKEN_KIND_IDENTIFIER
getAccessTokenSilently
PasswordAuthenticationProvider
ApiKeyAuthFilter
SecretManagerServiceClient
refreshTokenRotationEnabled
useTokenRefreshInterceptor
X_API_KEY_HEADER_NAME
private_key_to_public_key
credential_provider_chain_builder
api_key_prefix
tokenize, detokenize, token_type_ids
keyboard, monkey, turkey, passwordless, secretary
expected token ';' but found 'let'
Unexpected token 'export'
parse error near unexpected token `('
bash: syntax error near unexpected token `done'
yaml: line 14: found character that cannot start any token
JSON parse error: unexpected token at '}'
Unterminated string token at line 3
primary key constraint violated
foreign key mismatch - "orders" referencing "users"
duplicate key "name" found in mapping
KeyError: 'key'
press any key to continue
public key pinning failed
cache key: deps-‹hex64›
partition key is missing
Key not found in dictionary
sort key must be a string
license: Apache-2.0
warning: license key not set, running in trial mode
systemd: session-42.scope: Succeeded.
systemd[1]: Failed to start Vault secret agent.
kernel: [ 1234.‹digits6›] usb 1-1: new high-speed USB device number 7
dmesg: CPU: 3 PID: ‹n› Comm: tokend Not tainted 6.8.0
oom-kill: task=java,pid=‹n›,uid=1000
make: *** [Makefile:14: secrets] Error 2
/bin/sh: 1: vault: not found
permission denied: ./keys
No such file or directory: 'token.txt'
ls: cannot access '/run/secrets': No such file or directory
-rw------- 1 root root 1679 Nov  3 10:11 server.key
drwx------ 2 root root 4096 Nov  3 10:11 .ssh
tar: secrets/: Cannot open: Permission denied
chmod 600 ~/.ssh/id_ed25519
export PATH=$PATH:/opt/token/bin
source .env && ./run.sh
ssh-keygen -t ed25519 -C ci@example.org -f ./key -N ""
openssl rand -base64 32 > secret.txt
read -rs PASSWORD
trap 'unset TOKEN' EXIT
jq -r .access_token < token.json
grep -rn "password" src/ | wc -l
sed -i 's/password=.*/password=/' app.ini
aws sts get-caller-identity --query Account
vault kv get -field=password secret/db
op read op://prod/db/password
sops -d secrets.enc.yaml > /dev/null
age-encryption.org/v1⏎-> X25519 ‹b64n43›
$argon2id$v=19$m=65536,t=3,p=4$<salt>$<hash>
bcrypt: cost 12 took 240 ms
fail2ban: Ban 10.1.2.7
nginx: [warn] "ssl_stapling" ignored, issuer certificate not found
nginx: [emerg] SSL_CTX_use_PrivateKey("/etc/nginx/tls.key") failed (key values mismatch)
envoy: jwt_authn filter: Jwt is missing
kafka: SASL authentication failed: Invalid credentials
rabbitmq: PLAIN login refused: user 'app' - invalid credentials
prometheus: server returned HTTP status 401 Unauthorized
grafana: Invalid API key
elasticsearch: unable to authenticate user [elastic] for REST request
zookeeper: session 0x‹hex16› expired
consul: node id ‹uuid› changed
vault: Code: 403. Errors: * permission denied; request_id ‹uuid›
vault status: Sealed true⏎Unseal Progress 1/3
minio: API: PutObject, Time: 10:11:12, DeploymentID: ‹uuid›
traefik: unable to obtain ACME certificate for domains "example.org"
"""
