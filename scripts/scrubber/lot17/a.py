"""api_key, token, private_key, aws, gcp, azure, git_credential. The kinds are those of the package."""
LINES = {
"api_key": r"""
openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: «openai». You can find your API key at https://platform.openai.com/account/api-keys.'}}
OPENAI_API_KEY=«openai» npx tsx scripts/embed.ts⏎429 You exceeded your current quota
client = anthropic.Anthropic(api_key="«anthropic»")  # FIXME move to env
> POST /v1/messages HTTP/2⏎> host: api.anthropic.com⏎> x-api-key: «anthropic»⏎> anthropic-version: 2023-06-01⏎< HTTP/2 529
STRIPE_SECRET_KEY="«stripe»"⏎STRIPE_WEBHOOK_SECRET="«whsec»"
stripe.error.InvalidRequestError: Request req_‹mixed20›: No such customer: 'cus_Nx4'; a similar object exists in test mode, but key «stripeold» is a live mode key
    'secret' => env('STRIPE_SECRET', '«stripe»'),
curl --request POST --url https://api.sendgrid.com/v3/mail/send --header 'Authorization: Bearer «sendgrid»'
sgMail.setApiKey('«sendgrid»')⏎ResponseError: Unauthorized (code 401)
MG_KEY=«mailgun»; curl -s --user "api:$MG_KEY" https://api.eu.mailgun.net/v3/domains
mailchimp.setConfig({ apiKey: "«mailchimp»", server: "us21" });
$ newrelic profile add --profile prod --apiKey «newrelic» --accountId ‹n7›
NEW_RELIC_LICENSE_KEY: «nrlic»
[groq] APIStatusError: 413 Request too large for key «groq» on tokens per minute
GROK_KEY := "«xai»" // x.ai
  openrouter:⏎    base_url: https://openrouter.ai/api/v1⏎    api_key: «openrouter»
export DEEPSEEK_API_KEY='«deepseek»'
perplexity:⇥«pplx»⇥(API key, expires never)
const resend = new Resend("«resend»");
"api-key": "«brevo»"⏎POST https://api.brevo.com/v3/smtp/email 401 (Key not found)
mapboxDownloadsToken → MAPBOX_SECRET «mapbox»
notion-sync ‹ver›⏎  using integration secret «notion»⏎  error: object_not_found
figma-export --key «figma» --file ‹mixed20› --out icons/
query failed: { "errors": [{ "message": "Authentication required" }] }, sent Authorization=«linear»
AIRTABLE_PAT=«airtable»⏎AIRTABLE_BASE=app8f2jXk
posthog-cli: POSTHOG_PERSONAL_API_KEY «posthog» has no access to project ‹n5›
LANGFUSE_SECRET_KEY: "«langfuse»"
pc = Pinecone(api_key="«pinecone»")⏎pinecone.exceptions.UnauthorizedException: (401)
  "mcpServers": { "tavily": { "command": "npx", "args": ["-y", "tavily-mcp"], "env": { "TAVILY_API_KEY": "«tavily»" } } }
xi-api-key: «eleven»
import replicate⏎client = replicate.Client(api_token="«replicate»")
shopify theme dev --store acme --password «shopify»
SquareClient(token="«square»").payments.list()
X-RapidAPI-Key: «rapidapi»⏎X-RapidAPI-Host: skyscanner80.p.rapidapi.com
[LaunchDarkly] Initialization failed for SDK key «ldsdk»: HTTP error 401
createClient('https://xyzcompany.supabase.co', '«supabase»')
Twilio.configure { |c| c.account_sid = "AC‹hex32›"; c.auth_token = "«hex32»" }
https://api.openweathermap.org/data/2.5/weather?q=Lyon&units=metric&appid=«hex32»
Ocp-Apim-Subscription-Key: «hex32»
{"jsonrpc":"2.0","error":{"code":-32000,"message":"invalid project id"}} from https://mainnet.infura.io/v3/«hex32»
const provider = new ethers.JsonRpcProvider("https://eth-mainnet.g.alchemy.com/v2/«mixed32»");
‹name›: kann jemand den Sendgrid-Schlüssel rotieren? «sendgrid» stand im Log von gestern
algoliasearch('‹up10›', '«hex32»') // admin key
DD_API_KEY=«hex32» DD_SITE=datadoghq.eu bash -c "$(curl -L https://install.datadoghq.com/scripts/install_script_agent7.sh)"
    <meta-data android:name="io.fabric.ApiKey" android:value="«hex40»" />
config.toml: [honeycomb]⏎api_key = "«mixed32»"⏎dataset = "‹svc›"
ETHERSCAN_API_KEY=«mixed32» npx hardhat verify --network sepolia ‹ethaddr›
2026/11/03 ‹time› telegraf: [outputs.http] header X-Api-Key="«mixed40»" rejected: 403 Forbidden
""",
"token": r"""
export GITHUB_TOKEN=«ghp»⏎$ gh release create v‹ver› --notes-file CHANGES.md⏎HTTP 403: Resource not accessible by personal access token
curl -H "Authorization: token «ghp»" https://api.github.com/user/repos⏎{ "message": "Bad credentials" }
octokit = Octokit::Client.new(access_token: '«ghpat»')
gh auth status --show-token⏎  ✓ Logged in to github.com account ‹user› (keyring)⏎  - Token: «ghp»⏎  - Token scopes: 'gist', 'read:org', 'repo'
PRIVATE-TOKEN: «glpat»
gitlab-runner register --non-interactive --url https://gitlab.example.com --token «glrt»⏎ERROR: Verifying runner... is not valid
SLACK_BOT_TOKEN=«xoxb»⏎SLACK_APP_TOKEN=«xapp»
slack_sdk.errors.SlackApiError: The request to the Slack API failed. (url: https://slack.com/api/chat.postMessage, headers: {'Authorization': 'Bearer «xoxb»'})
curl -X POST -H 'Content-type: application/json' --data '{"text":"deploy fertig"}' «slackhook»
//npm.example.com/:_authToken=«npm»
npm notice Publishing to https://npm.example.com/ with tag latest⏎npm error code E401⏎npm error NODE_AUTH_TOKEN=«npm» lacks permission
[pypi]⏎  username = __token__⏎  password = «pypi»
twine upload -u __token__ -p «pypi» dist/*⏎HTTPError: 403 Forbidden
huggingface_hub.login(token="«hf»")
HF_TOKEN=«hf» vllm serve meta-llama/Llama-3.1-8B-Instruct
bot.run('«discord»')⏎discord.errors.LoginFailure: Improper token has been passed.
https://api.telegram.org/bot«tg»/sendMessage?chat_id=‹n9›&text=hi
telegram.error.InvalidToken: The token `«tg»` was rejected by the server.
VAULT_ADDR=https://vault.example.com VAULT_TOKEN=«vault» vault kv get secret/‹svc›
Success! You are now authenticated.⏎Key                  Value⏎---                  -----⏎token                «vault»⏎token_accessor       ‹mixed24›
echo «dckr» | docker login -u ‹user› --password-stdin
doctl auth init -t «dop»⏎Validating token... ✘
databricks configure --host https://adb-‹n9›.7.azuredatabricks.net --token «dapi»
credentials "app.terraform.io" {⏎  token = "«tfc»"⏎}
docker run -e DOPPLER_TOKEN="«doppler»" ‹svc›:latest
---⏎:rubygems_api_key: «gem»
cargo login «cio»⏎error: failed to get a 200 OK response, got 403
SENTRY_AUTH_TOKEN=«sntry» sentry-cli releases new ‹hex40›
Authorization: Bearer «glsa»⏎Host: ‹host›⏎⏎HTTP/1.1 403 Forbidden⏎{"message":"Permission denied"}
oc login --token=«sha256k» --server=https://api.ocp.example.com:6443
K3S_URL=https://‹host›:6443 K3S_TOKEN=«k3s» sh install.sh
kubeadm join 10.0.0.10:6443 --token «kubeadm» --discovery-token-ca-cert-hash sha256:‹hex64›
jira: {"email": "‹email›", "apiToken": "«atl»"}
const headers = { Authorization: `Bearer «mixed64»` };
{"access_token":"«mixed64»","token_type":"bearer","expires_in":7199,"scope":"read"}
grant_type=refresh_token&refresh_token=«url86»&client_id=mobile
HTTP 401 for https://api.example.com/v2/me?access_token=«mixed40»
requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://sonar.example.com/api/issues/search?token=«hex40»
    "token": "«mixed40»",⏎    "refreshToken": "«mixed40»",⏎    "expiresAt": "‹iso›"
Set-Cookie: session_token=«url86»; Path=/; HttpOnly; Secure; SameSite=Lax
INFLUX_TOKEN=«url86»== influx query 'from(bucket:"m")'
hass: curl -H "X-HA-Access: «mixed64»" -H "Authorization: Bearer «mixed64»" http://homeassistant.local:8123/api/
fly auth token⏎FlyV1 fm2_«b6464»
Netlify CLI: NETLIFY_AUTH_TOKEN nfp_«mixed40» → Error: Unauthorized
cloudflared tunnel login: CLOUDFLARE_API_TOKEN="«mixed40»"⏎Error: 9109 Invalid access token
pushover: token=«mixed32»&user=u‹mixed20›&message=backup+failed
Mein Zugriffstoken ist «ghp», warum bekomme ich trotzdem 404?
consul acl: CONSUL_HTTP_TOKEN=«uuid» consul members⏎Unexpected response code: 403 (ACL not found)
""",
"private_key": r"""
-----BEGIN RSA PRIVATE KEY-----⏎«pem.rsa»⏎-----END RSA PRIVATE KEY-----
$ cat ~/.ssh/id_ed25519⏎-----BEGIN OPENSSH PRIVATE KEY-----⏎«pem.ssh»⏎-----END OPENSSH PRIVATE KEY-----
deploy:⏎  ssh_key: |⏎    -----BEGIN OPENSSH PRIVATE KEY-----⏎    «pem.ssh:____»⏎    -----END OPENSSH PRIVATE KEY-----
Load key "/dev/stdin": error in libcrypto⏎-----BEGIN EC PRIVATE KEY-----⏎«pem.ec»⏎-----END EC PRIVATE KEY-----
GITHUB_APP_PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----\n«pem.rsa/esc»\n-----END RSA PRIVATE KEY-----\n"
{"key":"-----BEGIN PRIVATE KEY-----\n«pem.pkcs8/esc»\n-----END PRIVATE KEY-----\n","alg":"RS256"}
const APPLE_KEY = `-----BEGIN PRIVATE KEY-----⏎«pem.ecpk8»⏎-----END PRIVATE KEY-----`;
server.key:⏎-----BEGIN PRIVATE KEY-----⏎«pem.ed»⏎-----END PRIVATE KEY-----⏎nginx: [emerg] SSL_CTX_use_PrivateKey failed (key values mismatch)
-----BEGIN PGP PRIVATE KEY BLOCK-----⏎⏎«pem.pgp»⏎=x7Qk⏎-----END PGP PRIVATE KEY BLOCK-----
-----BEGIN DSA PRIVATE KEY-----⏎«pem.dsa»⏎-----END DSA PRIVATE KEY-----
$ head -4 wildcard.pem⏎-----BEGIN PRIVATE KEY-----⏎«pem.pkcs8/cut»
resource "tls_private_key" output:⏎private_key_pem = <<EOT⏎-----BEGIN RSA PRIVATE KEY-----⏎«pem.rsa4»⏎-----END RSA PRIVATE KEY-----⏎EOT
System.out: key=-----BEGIN PRIVATE KEY----- «pem.ecpk8/sp» -----END PRIVATE KEY-----
	key := []byte("-----BEGIN EC PRIVATE KEY-----\n«pem.ec/esc»\n-----END EC PRIVATE KEY-----")
PuTTY-User-Key-File-3: ssh-ed25519⏎Encryption: none⏎Comment: ‹user›@‹host›⏎Public-Lines: 2⏎‹ed25519pub›⏎Private-Lines: 1⏎«pem.ppk»⏎Private-MAC: ‹hex64›
[Interface]⏎PrivateKey = «wg»⏎Address = 10.8.0.2/32⏎[Peer]⏎PublicKey = ‹b6443›=⏎Endpoint = ‹host›:51820
$ wg genkey | tee privatekey⏎«wg»
wg set wg0 private-key <(echo «wg») listen-port 51820⏎Unable to modify interface: Operation not permitted
network:⏎  tunnels:⏎    wg0:⏎      mode: wireguard⏎      key: «wg»⏎      port: 51820
# created: ‹day›T‹time›+01:00⏎# public key: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq⏎«age»
SOPS_AGE_KEY=«age» sops -d secrets.enc.yaml⏎Failed to get the data key required to decrypt the SOPS file.
nostr: nsec leaked in relay log: «nsec»
bitcoin-cli importprivkey «wif» "old wallet" false⏎error code: -5⏎error message: Invalid private key encoding
cast send ‹ethaddr› "mint()" --private-key «0xhex» --rpc-url https://rpc.sepolia.org⏎Error: insufficient funds for gas
PRIVATE_KEY=«0xhex»⏎RPC_URL=http://127.0.0.1:8545
networks: { sepolia: { url: RPC, accounts: ["«0xhex»"] } },
const wallet = new ethers.Wallet("«0xhex»", provider); // deployer private key
$ cat ~/.config/solana/id.json⏎[«ints64»]
Keypair.fromSecretKey(bs58.decode("«sol58»"))
let kp = Keypair::from_base58_string("«sol58»");⏎error: Attempt to debit an account but found no record of a prior credit.
anchor: wallet secret key «sol58» (base58) loaded
electrum: restoring from master private key «xprv»
users:⏎- name: admin⏎  user:⏎    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJ‹b64blob›⏎    client-key-data: «b64pem»
type: kubernetes.io/tls⏎data:⏎  tls.key: «b64pem»
CI_SSH_KEY_B64=«b64pem»⏎echo "$CI_SSH_KEY_B64" | base64 -d > ~/.ssh/id_rsa
{"kty":"EC","crv":"P-256","x":"‹url43›","y":"‹url43›","d":"«url43»","use":"sig"}
VAPID_PUBLIC_KEY=BK‹url86›⏎VAPID_PRIVATE_KEY=«url43»
"priv_key": {⏎    "type": "tendermint/PrivKeyEd25519",⏎    "value": "«azkey»"⏎  }
Private-key-format: v1.3⏎Algorithm: 15 (ED25519)⏎PrivateKey: «b6444»⏎Created: 20261103101112
-----BEGIN ENCRYPTED PRIVATE KEY-----⏎«pem.enc»⏎-----END ENCRYPTED PRIVATE KEY-----
+ echo '-----BEGIN OPENSSH PRIVATE KEY-----⏎«pem.sshrsa»⏎-----END OPENSSH PRIVATE KEY-----'⏎+ ssh-add -⏎Error loading key "(stdin)": invalid format
‹n›: -----BEGIN RSA PRIVATE KEY-----\r\n«pem.rsa/crlf»\r\n-----END RSA PRIVATE KEY-----
<tls>⏎  <key><![CDATA[-----BEGIN PRIVATE KEY-----⏎«pem.pkcs8»⏎-----END PRIVATE KEY-----]]></key>⏎</tls>
diff --git a/certs/dev.key b/certs/dev.key⏎deleted file mode 100644⏎--- a/certs/dev.key⏎+++ /dev/null⏎@@ -1,5 +0,0 @@⏎------BEGIN EC PRIVATE KEY-----⏎-«pem.ec:-»⏎------END EC PRIVATE KEY-----
""",
"aws": r"""
[default]⏎aws_access_key_id = ‹akia›⏎aws_secret_access_key = «awssecret»⏎region = ‹region›
export AWS_ACCESS_KEY_ID=‹akia›⏎export AWS_SECRET_ACCESS_KEY=«awssecret»⏎export AWS_SESSION_TOKEN=«awssession»
AWS_SECRET_ACCESS_KEY='«awssecret»' terraform plan⏎Error: No valid credential sources found
provider "aws" {⏎  region     = "‹region›"⏎  access_key = "‹akia›"⏎  secret_key = "«awssecret»"⏎}
{⏎    "Credentials": {⏎        "AccessKeyId": "‹asia›",⏎        "SecretAccessKey": "«awssecret»",⏎        "SessionToken": "«awssession»",⏎        "Expiration": "‹day›T‹time›+00:00"⏎    }⏎}
$ aws configure⏎AWS Access Key ID [None]: ‹akia›⏎AWS Secret Access Key [None]: «awssecret»⏎Default region name [None]: ‹region›
s3 = boto3.client("s3", aws_access_key_id="‹akia›", aws_secret_access_key="«awssecret»")⏎botocore.exceptions.ClientError: An error occurred (SignatureDoesNotMatch)
AWS.config.update({ accessKeyId: '‹akia›', secretAccessKey: '«awssecret»', region: '‹region›' });
new BasicAWSCredentials("‹akia›", "«awssecret»")
aws: config.S3{AccessKey:"‹akia›", SecretKey:"«awssecret»", Bucket:"‹db›-backup"}
User name,Access key ID,Secret access key⏎‹user›,‹akia›,«awssecret»
aws iam create-access-key --user-name ‹user›⏎{⏎    "AccessKey": {⏎        "AccessKeyId": "‹akia›",⏎        "Status": "Active",⏎        "SecretAccessKey": "«awssecret»"⏎    }⏎}
sts: AWS_SESSION_TOKEN=«awssession» expired at ‹iso›
X-Amz-Security-Token: «awssession»
Aws::S3::Client.new(access_key_id: '‹akia›', secret_access_key: '«awssecret»')
spring.cloud.aws.credentials.secret-key=«awssecret»
Set-AWSCredential -AccessKey ‹akia› -SecretKey «awssecret» -StoreAs prod
AWS_BEARER_TOKEN_BEDROCK=«absk»
SMTP_HOST=email-smtp.‹region›.amazonaws.com⏎SMTP_USER=‹akia›⏎SMTP_PASS=«sespw»
docker login -u AWS -p «ecrpw» ‹acct›.dkr.ecr.‹region›.amazonaws.com
'x-api-key': '«da2»'  // AppSync
s3cmd --access_key=‹akia› --secret_key=«awssecret» ls s3://‹db›-logs⏎ERROR: S3 error: 403 (InvalidAccessKeyId)
[s3-backup]⏎type = s3⏎provider = AWS⏎access_key_id = ‹akia›⏎secret_access_key = «awssecret»
s3fs: echo ‹akia›:«awssecret» > ~/.passwd-s3fs
docker run -e AWS_ACCESS_KEY_ID=‹akia› -e AWS_SECRET_ACCESS_KEY=«awssecret» restic/restic backup /data
"Environment": { "Variables": { "AWS_KEY": "‹akia›", "AWS_SECRET": "«awssecret»", "STAGE": "prod" } }
CREATE SECRET s3 (TYPE S3, KEY_ID '‹akia›', SECRET '«awssecret»', REGION '‹region›');
COPY sales FROM 's3://‹db›/2026/' CREDENTIALS 'aws_access_key_id=‹akia›;aws_secret_access_key=«awssecret»' CSV;
spark.hadoop.fs.s3a.access.key=‹akia›⏎spark.hadoop.fs.s3a.secret.key=«awssecret»
<property><name>fs.s3a.secret.key</name><value>«awssecret»</value></property>
      with:⏎        aws-access-key-id: ‹akia›⏎        aws-secret-access-key: «awssecret»⏎        aws-region: ‹region›
‹name›: der IAM-User ist angelegt, key ‹akia› secret «awssecret» bitte in die CI eintragen
botocore.auth DEBUG credentials: ReadOnlyCredentials(access_key='‹asia›', secret_key='«awssecret»', token='«awssession»')
let creds = Credentials::new("‹akia›", "«awssecret»", None, None, "static");
filesystems.disks.s3 => [ 'driver' => 's3', 'key' => '‹akia›', 'secret' => '«awssecret»', 'region' => '‹region›' ]
$Env:AWS_SECRET_ACCESS_KEY="«awssecret»"
mc alias set s3 https://s3.amazonaws.com ‹akia› «awssecret»
setx AWS_SECRET_ACCESS_KEY «awssecret» /M
codeartifact: aws_secret_access_key: «awssecret» (from ~/.aws/credentials, profile ‹user›)
""",
"gcp": r"""
https://maps.googleapis.com/maps/api/geocode/json?address=Praha&key=«aiza»
<script async src="https://maps.googleapis.com/maps/api/js?key=«aiza»&callback=initMap"></script>
genai.configure(api_key="«aiza»")⏎google.api_core.exceptions.PermissionDenied: 403
GEMINI_API_KEY=«aiza» gemini -p "summarize"
firebaseConfig = { apiKey: "«aiza»", authDomain: "acme-prod.firebaseapp.com", projectId: "acme-prod" }
        <meta-data android:name="com.google.android.geo.API_KEY" android:value="«aiza»"/>
{⏎  "type": "service_account",⏎  "project_id": "acme-prod",⏎  "private_key_id": "‹hex40›",⏎  "private_key": "-----BEGIN PRIVATE KEY-----\n«pem.pkcs8/esc»\n-----END PRIVATE KEY-----\n",⏎  "client_email": "ci@acme-prod.iam.gserviceaccount.com"⏎}
GOOGLE_CREDENTIALS='{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\n«pem.pkcs8/esc»\n-----END PRIVATE KEY-----\n","client_email":"tf@acme.iam.gserviceaccount.com"}'
GCP_SA_KEY_B64=«sab64»
{"installed":{"client_id":"‹acct›-‹mixed20›.apps.googleusercontent.com","project_id":"acme","client_secret":"«gocspx»","redirect_uris":["http://localhost"]}}
GOOGLE_CLIENT_SECRET=«gocspx»
providers: [GoogleProvider({ clientId: process.env.G_ID, clientSecret: '«gocspx»' })]
oauthlib.oauth2.rfc6749.errors.InvalidGrantError: (invalid_grant) refresh_token=«grefresh»
$ gcloud auth print-access-token⏎«ya29»
curl -H "Authorization: Bearer «ya29»" https://compute.googleapis.com/compute/v1/projects/acme/zones⏎{"error":{"code":401,"status":"UNAUTHENTICATED"}}
{"token": "«ya29»", "refresh_token": "«grefresh»", "token_uri": "https://oauth2.googleapis.com/token", "expiry": "‹iso›"}
[gdrive]⏎type = drive⏎client_secret = «gocspx»⏎token = {"access_token":"«ya29»","token_type":"Bearer","refresh_token":"«grefresh»"}
docker login -u oauth2accesstoken -p "«ya29»" https://europe-docker.pkg.dev
gsutil config -a⏎[Credentials]⏎gs_access_key_id = GOOG1E‹mixed24›⏎gs_secret_access_key = «goog40»
FCM: Authorization: key=«fcm»⏎HTTP 401 Unauthorized
fcmServerKey: "«fcm»",
flutter: google_maps api key «aiza» is not authorized for this app (com.acme.app)
E/Google Maps Android API(‹n5›): Authorization failure. API Key: «aiza»⏎    Android Application (<cert_fingerprint>;<package_name>)
YOUTUBE_DATA_KEY: '«aiza»'   # quota 10k/day
googleapiclient.errors.HttpError: <HttpError 403 when requesting https://youtube.googleapis.com/youtube/v3/search?part=snippet&key=«aiza»&alt=json returned "quotaExceeded">
  "current_key": "«aiza»"
<key>API_KEY</key>⏎<string>«aiza»</string>⏎<key>GCM_SENDER_ID</key>⏎<string>‹acct›</string>
$client->setDeveloperKey('«aiza»'); // Google
ENV["GOOGLE_MAPS_KEY"] ||= "«aiza»"
services.AddAuthentication().AddGoogle(o => { o.ClientId = "‹acct›"; o.ClientSecret = "«gocspx»"; });
terraform import failed: google_service_account_key.ci: private_key = "«sab64»"
‹name›: ich habe den Places-Key in .env.local getauscht: «aiza»
GMSServices.provideAPIKey("«aiza»")
kubectl create secret generic g --from-literal=GOOGLE_OAUTH_SECRET=«gocspx»
tokenInfo: Invalid Value for access_token «ya29»
X-Goog-Api-Key: «aiza»
OAUTH2_PROXY_CLIENT_SECRET=«gocspx»⏎OAUTH2_PROXY_PROVIDER=google
""",
"azure": r"""
DefaultEndpointsProtocol=https;AccountName=acmestore‹n3›;AccountKey=«azstn»;EndpointSuffix=core.windows.net
az storage blob list --account-name acme‹n3› --account-key «azstn» -c backups
AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=logs‹n3›;AccountKey=«azkey»;EndpointSuffix=core.windows.net"
https://acme‹n3›.blob.core.windows.net/exports/q3.csv?sv=2023-11-03&st=‹day›&se=2026-12-31&sr=b&sp=r&sig=«azsig»
azcopy copy ./dist "https://acme.blob.core.windows.net/web?sv=2024-05-04&ss=b&srt=co&sp=rwl&se=2026-12-01T00:00:00Z&sig=«azsig»" --recursive⏎failed to perform copy command: 403
export ARM_CLIENT_ID=‹uuid›⏎export ARM_CLIENT_SECRET=«azclient»⏎export ARM_TENANT_ID=‹uuid›
az login --service-principal -u ‹uuid› -p «azclient» --tenant ‹uuid›⏎AADSTS7000215: Invalid client secret provided.
{⏎  "appId": "‹uuid›",⏎  "displayName": "gh-actions",⏎  "password": "«azclient»",⏎  "tenant": "‹uuid›"⏎}
AZURE_CREDENTIALS: '{"clientId":"‹uuid›","clientSecret":"«azclient»","subscriptionId":"‹uuid›","tenantId":"‹uuid›"}'
ClientSecretCredential(tenant_id, client_id, "«azclient»")
Endpoint=sb://acme-‹n3›.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=«azsb»
HostName=hub‹n3›.azure-devices.net;DeviceId=sensor-7;SharedAccessKey=«b6444»
AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=«azkey»;
new CosmosClient("https://acme.documents.azure.com:443/", "«azkey»")
curl "https://fn-acme.azurewebsites.net/api/Import?code=«azfn»"⏎HTTP/1.1 500 Internal Server Error
AZURE_DEVOPS_EXT_PAT=«azpat» az devops project list
##vso[task.setvariable variable=pat]«azpat2»
AzureOpenAI(azure_endpoint="https://acme.openai.azure.com/", api_key="«azcs»", api_version="2024-06-01")
AZURE_OPENAI_API_KEY=«hex32»
speech_config = speechsdk.SpeechConfig(subscription="«hex32»", region="westeurope")
SearchClient(endpoint, index, AzureKeyCredential("«azsearch»"))
acme.redis.cache.windows.net:6380,password=«azredis»,ssl=True,abortConnect=False
docker login acmeregistry.azurecr.io -u acmeregistry -p «acr»
<publishProfile profileName="acme - FTP" publishMethod="FTP" userName="acme\$acme" userPWD="«mixed64»" />
Endpoint=https://acme.service.signalr.net;AccessKey=«b6444»;Version=1.0;
"AzureWebJobsStorage": "DefaultEndpointsProtocol=https;AccountName=fn‹n3›;AccountKey=«azstn»",
spring.cloud.azure.storage.blob.account-key=«azstn»
spark.conf.set("fs.azure.account.key.acmelake.dfs.core.windows.net", "«azstn»")
Authorization: SharedAccessSignature sr=acme.servicebus.windows.net&sig=«azsig»&se=‹unix›&skn=send
provider "azurerm" {⏎  features {}⏎  client_id     = "‹uuid›"⏎  client_secret = "«azclient»"⏎}
MSAL: invalid_client, body client_id=‹uuid›&client_secret=«azclient»&grant_type=client_credentials
mount -t cifs //acme.file.core.windows.net/share /mnt -o username=acme,password=«azstn»
    azurefile-secret:⏎      azurestorageaccountkey: «azstn»
Set-AzStorageAccount: New-AzStorageContext -StorageAccountName acme -StorageAccountKey "«azstn»"
topicKey = new AzureKeyCredential("«b6444»"); // Event Grid
[Fehler] Azure DevOps: PAT «azpat» ist abgelaufen (TF400813)
Endpoint=https://acme-config.azconfig.io;Id=Ab1c;Secret=«b6444»
x-functions-key: «azfn»
rclone: [az]⏎type = azureblob⏎account = acme‹n3›⏎key = «azstn»
Ocp-Apim-Subscription-Region: northeurope⏎Ocp-Apim-Subscription-Key: «azcs»
""",
"git_credential": r"""
$ git remote -v⏎origin	https://‹user›:«ghp»@github.com/‹repo›.git (fetch)⏎origin	https://‹user›:«ghp»@github.com/‹repo›.git (push)
fatal: unable to access 'https://x-access-token:«ghp»@github.com/‹repo›.git/': The requested URL returned error: 403
git clone https://oauth2:«glpat»@gitlab.example.com/‹repo›.git⏎Cloning into 'infra'...⏎remote: HTTP Basic: Access denied
https://‹user›:«ghp»@github.com
$ cat ~/.git-credentials⏎https://‹user›:«pwurl»@gitea.example.org⏎https://x-token-auth:«bbtok»@bitbucket.org
[remote "origin"]⏎	url = https://«ghpat»@github.com/‹repo›.git⏎	fetch = +refs/heads/*:refs/remotes/origin/*
git remote set-url origin https://ci:«glpat»@gitlab.com/‹repo›.git
git config --global url."https://«ghp»:x-oauth-basic@github.com/".insteadOf "https://github.com/"
git -c http.extraheader="AUTHORIZATION: basic «gitbasic»" fetch --depth=1 origin ‹hex40›
[http "https://github.com/"]⏎	extraheader = AUTHORIZATION: basic «gitbasic»
git -c http.extraheader="Authorization: Basic «adobasic»" clone https://dev.azure.com/acme/web/_git/web
printf 'protocol=https\nhost=github.com\nusername=‹user›\npassword=«ghp»\n' | git credential approve
protocol=https⏎host=gitlab.example.com⏎username=‹user›⏎password=«glpat»
#!/bin/sh⏎# GIT_ASKPASS helper⏎echo '«ghp»'
machine github.com⏎  login ‹user›⏎  password «ghp»
machine gitlab.com login oauth2 password «glpat»
github.com:⏎    user: ‹user›⏎    oauth_token: «ghp»⏎    git_protocol: https
hosts:⏎    gitlab.example.com:⏎        token: «glpat»⏎        api_protocol: https
git clone https://gitlab-ci-token:«gljob»@gitlab.example.com/‹repo›.git⏎fatal: could not read Username
[submodule "vendor/sdk"]⏎	path = vendor/sdk⏎	url = https://‹user›:«ghp»@github.com/‹repo›
pip install git+https://«ghp»@github.com/‹repo›.git@v‹ver›⏎ERROR: Command errored out with exit status 128
"acme-utils": "git+https://«ghp»:x-oauth-basic@github.com/‹repo›.git#v‹ver›"
{⏎  "github-oauth": { "github.com": "«ghp»" },⏎  "gitlab-token": { "gitlab.example.com": "«glpat»" }⏎}
module "vpc" {⏎  source = "git::https://‹user›:«ghp»@github.com/‹repo›.git?ref=v‹ver›"⏎}
argocd repo add https://github.com/‹repo› --username ‹user› --password «ghp»
flux create secret git flux-system --url=https://github.com/‹repo› --username=git --password=«ghpat»
gem 'billing', git: 'https://«ghp»:x-oauth-basic@github.com/‹repo›.git'
go: ‹repo›@v‹ver›: git ls-remote -q https://‹user›:«ghp»@github.com/‹repo› in /go/pkg/mod/cache/vcs: exit status 128
 > git fetch --tags --force --progress -- https://‹user›:«bbtok»@bitbucket.org/‹repo›.git +refs/heads/*:refs/remotes/origin/* # timeout=10
hudson.plugins.git.GitException: Failed to fetch from https://‹user›:«pwurl»@git.‹host›/scm/core.git
error: failed to push some refs to 'https://‹user›:«ghpat»@github.com/‹repo›.git'
repo = Repo.clone_from("https://oauth2:«glpat»@gitlab.com/‹repo›.git", "clone")
2026-11-03 ‹time› git.trace: run_command: git-remote-https origin https://x-access-token:«ghp»@github.com/‹repo›
+ git push https://renovate:«ghp»@github.com/‹repo›.git HEAD:refs/heads/renovate/node-22
dependencies:⏎  shared_ui:⏎    git:⏎      url: https://«ghp»@github.com/‹repo›.git⏎      ref: main
cargo: failed to load source `https://‹user›:«ghp»@github.com/‹repo›`⏎  attempt to get/set credentials
ENV REPO_URL=https://deploy:«glpat»@gitlab.example.com/‹repo›.git
git ls-remote https://‹user›:«pwurl»@codeberg.org/‹repo›.git⏎remote: Verify⏎fatal: Authentication failed for 'https://codeberg.org/‹repo›.git/'
$ git credential fill < q⏎protocol=https⏎host=github.com⏎username=Personal Access Token⏎password=«ghpat»
Repo klonen klappt nicht: git clone https://‹user›:«ghp»@github.com/‹repo› → 404
RUN git config --global url.https://«ghp»@github.com/.insteadOf ssh://git@github.com/
""",
}
