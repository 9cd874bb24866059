"""api_key, token, private_key, aws, gcp, azure, high_entropy_hex."""
LINES = {
"api_key": r"""
OPENAI_API_KEY=«openai»
openai.error: Incorrect API key provided: «openai»
  OPENAI_API_KEY: "«openai»"
client = OpenAI(api_key="«openai»")
ANTHROPIC_API_KEY=«anthropic» claude -p hello
x-api-key: «anthropic»
STRIPE_SECRET_KEY=«stripeold»
stripe.api_key = "«stripe»"
No such customer; a similar object exists in live mode, but «stripeold» was used
webhook secret «whsec» does not match the signature
SENDGRID_API_KEY=«sendgrid»
curl https://api.resend.com/emails -H "Authorization: Bearer «resend»"
mailgun: Forbidden for «mailgun»
MAILCHIMP_API_KEY=«mailchimp»
newrelic_license_key: «nrlic»
GROQ_API_KEY='«groq»'
export XAI_API_KEY=«xai»
openrouter: 401 for key «openrouter»
NOTION_TOKEN=«notion»
{"api_key":"«mixed32»","region":"eu"}
apiKey: '«mixed40»',
X-API-Key: «mixed40»
api-key: «hex32»
GET /v1/items?api_key=«mixed24» 403
https://api.example.net/v2/geo?apikey=«hex32»&q=Berlin
datadog:⏎  apiKey: «hex32»⏎  site: datadoghq.eu
DD_APP_KEY=«hex40»
SECRET_KEY_BASE=«hex128»
SECRET_KEY = '«mixed64»'
clientSecret = "«mixed40»"
client_secret=«url43»&grant_type=client_credentials
"consumer_secret": "«mixed40»"
FIGMA_TOKEN=«figma»
linear: key «linear» revoked
ALGOLIA_ADMIN_KEY=«hex32»
TWILIO_AUTH_TOKEN=«hex32»
CLOUDFLARE_API_TOKEN=«mixed40»
AIRTABLE_API_KEY=«airtable»
posthog: «posthog»
PINECONE_API_KEY=«pinecone»
SHOPIFY_API_SECRET=«shopify»
signing_secret: "«hex32»"
hcloud context create prod --token «mixed64»
REPLICATE_API_TOKEN=«replicate»
""",
"token": r"""
GITHUB_TOKEN=«ghp»
gh: Bad credentials («ghp»)
env:⏎  - name: GH_TOKEN⏎    value: «ghpat»
PRIVATE-TOKEN: «glpat»
curl --header "PRIVATE-TOKEN: «glpat»" https://gitlab.com/api/v4/projects
gitlab-runner register --token «glrt»
SLACK_BOT_TOKEN=«xoxb»
slack.errors.SlackApiError: invalid_auth for «xoxb»
slack app-level token «xapp»
webhook_url: «slackhook»
//registry.npmjs.org/:_authToken=«npm»
npm ERR! 403 with token «npm»
TWINE_PASSWORD=«pypi»
HF_TOKEN=«hf»
huggingface_hub: token «hf» is invalid
DISCORD_TOKEN=«discord»
client.login("«discord»")
TELEGRAM_BOT_TOKEN=«tg»
https://api.telegram.org/bot«tg»/getMe 401
VAULT_TOKEN=«vault»
vault login «vault»
X-Vault-Token: «vault»
DOCKER_PAT=«dckr»
doctl: 401 for «dop»
DATABRICKS_TOKEN=«dapi»
credentials "app.terraform.io" {⏎  token = "«tfc»"⏎}
DOPPLER_TOKEN=«doppler»
SENTRY_AUTH_TOKEN=«sntry»
grafana: «glsa» lacks permission
oc login --token=«sha256k» --server=https://‹host›:6443
K3S_TOKEN=«k3s»
kubeadm join ‹host›:6443 --token «kubeadm»
{"refresh_token":"«url86»","expires_in":3600}
Set-Cookie: sessionid=«mixed32»; Path=/; Secure
Cookie: PHPSESSID=«low26»; csrftoken=«mixed32»
Authorization: token «mixed40»
Authorization: Bearer «url43»
X-Auth-Token: «mixed32»
session_token: «b6444»
https://example.net/reset?token=«url43»
access token expired: «mixed40»
csrf_token="«mixed64»"
CI_JOB_TOKEN=«gljob»
RUBYGEMS_API_KEY=«gem»
bearer_token = "«url86»"
""",
"private_key": r"""
-----BEGIN RSA PRIVATE KEY-----⏎«pem.rsa»⏎-----END RSA PRIVATE KEY-----
-----BEGIN PRIVATE KEY-----⏎«pem.pkcs8»⏎-----END PRIVATE KEY-----
-----BEGIN EC PRIVATE KEY-----⏎«pem.ec»⏎-----END EC PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY-----⏎«pem.ssh»⏎-----END OPENSSH PRIVATE KEY-----
-----BEGIN ENCRYPTED PRIVATE KEY-----⏎«pem.enc»⏎-----END ENCRYPTED PRIVATE KEY-----
TLS_KEY="-----BEGIN PRIVATE KEY-----\n«pem.ecpk8/esc»\n-----END PRIVATE KEY-----\n"
{"tls.key":"-----BEGIN RSA PRIVATE KEY-----\n«pem.rsa/esc»\n-----END RSA PRIVATE KEY-----\n"}
  tls.key: |⏎    -----BEGIN PRIVATE KEY-----⏎    «pem.pkcs8:____»⏎    -----END PRIVATE KEY-----
  private_key = <<-EOT⏎    -----BEGIN RSA PRIVATE KEY-----⏎    «pem.rsa:____»⏎    -----END RSA PRIVATE KEY-----⏎  EOT
  + private_key_pem = (sensitive) <<EOT⏎-----BEGIN EC PRIVATE KEY-----⏎«pem.ec»⏎-----END EC PRIVATE KEY-----⏎EOT
  tls.key: «b64pem»
SSH_PRIVATE_KEY_B64=«b64pem»
ssh_key: "-----BEGIN OPENSSH PRIVATE KEY-----\n«pem.ssh/esc»\n-----END OPENSSH PRIVATE KEY-----"
cat deploy.key⏎-----BEGIN PRIVATE KEY-----⏎«pem.ed»⏎-----END PRIVATE KEY-----
error loading key: -----BEGIN RSA PRIVATE KEY-----⏎«pem.rsa/cut»
-----BEGIN PGP PRIVATE KEY BLOCK-----⏎⏎«pem.pgp»⏎-----END PGP PRIVATE KEY BLOCK-----
[Interface]⏎PrivateKey = «wg»⏎Address = 10.9.0.2/32
wg set wg0 private-key <(echo «wg»)
PresharedKey = «wg»
AGE_KEY=«age»
# created: ‹day›⏎«age»
SOPS_AGE_KEY: «age»
nostr: nsec «nsec»
bitcoin-cli importprivkey «wif»
dumpprivkey => «wif»
extended key «xprv»
PRIVATE_KEY=«0xhex»
DEPLOYER_PRIVATE_KEY="«0xhex»"
ethers: new Wallet("«0xhex»")
cast send --private-key «0xhex» ‹ethaddr›
forge script Deploy --private-key «hex64» --broadcast
accounts: ["«0xhex»"]
~/.config/solana/id.json: [«ints64»]
Keypair.fromSecretKey(Uint8Array.from([«ints64»]))
seed: «hex64»
mnemonic: «bip12»
seed phrase: «bip24»
MNEMONIC="«bip12»"
wallet restore --phrase "«bip12»"
-----BEGIN DSA PRIVATE KEY-----⏎«pem.dsa»⏎-----END DSA PRIVATE KEY-----
{"kty":"OKP","crv":"Ed25519","d":"«url43»","x":"‹url43›"}
{"kty":"EC","crv":"P-256","x":"‹url43›","y":"‹url43›","d":"«url43»"}
signing_key: «hex64»
deploy_key="-----BEGIN EC PRIVATE KEY-----\\n«pem.ec/esc2»\\n-----END EC PRIVATE KEY-----"
""",
"aws": r"""
AWS_ACCESS_KEY_ID=«akia»⏎AWS_SECRET_ACCESS_KEY=«awssecret»
aws_access_key_id = «akia»
aws_secret_access_key = «awssecret»
[default]⏎aws_access_key_id=«akia»⏎aws_secret_access_key=«awssecret»
export AWS_SESSION_TOKEN="«awssession»"
{"AccessKeyId":"«asia»","SecretAccessKey":"«awssecret»","Token":"«awssession»"}
The AWS Access Key Id «akia» does not exist in our records
InvalidAccessKeyId: «akia»
provider "aws" {⏎  access_key = "«akia»"⏎  secret_key = "«awssecret»"⏎}
boto3.client("s3", aws_access_key_id="«akia»", aws_secret_access_key="«awssecret»")
  AWS_ACCESS_KEY_ID: «akia»
      - AWS_SECRET_ACCESS_KEY=«awssecret»
s3cmd --access_key=«akia» --secret_key=«awssecret» ls
mc alias set minio https://‹host› «akia» «awssecret»
aws configure set aws_secret_access_key «awssecret»
credentials {⏎  accessKeyId     = "«akia»"⏎  secretAccessKey = "«awssecret»"⏎}
spark.hadoop.fs.s3a.secret.key «awssecret»
spark.hadoop.fs.s3a.access.key=«akia»
https://‹word›.s3.amazonaws.com/x?X-Amz-Credential=«akia»/20261103/eu-west-1/s3/aws4_request&X-Amz-Signature=«hex64»
Authorization: AWS4-HMAC-SHA256 Credential=‹word›/20261103/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=«hex64»
AWS Secret Access Key [None]: «awssecret»
AKID «akia» / secret «awssecret»
new AWS.Credentials('«akia»', '«awssecret»')
s3: { accessKeyId: '«akia»', secretAccessKey: '«awssecret»' }
BEDROCK_API_KEY=«absk»
SMTP_PASSWORD=«sespw» # ses
docker login --username AWS --password «ecrpw» ‹acct›.dkr.ecr.eu-west-1.amazonaws.com
assumed role: export AWS_ACCESS_KEY_ID=«asia»
RESTIC_REPOSITORY=s3:… AWS_SECRET_ACCESS_KEY='«awssecret»'
velero: [default] aws_secret_access_key=«awssecret»
rclone config create s3 s3 access_key_id «akia» secret_access_key «awssecret»
appsync x-api-key: «da2»
""",
"gcp": r"""
GOOGLE_API_KEY=«aiza»
https://maps.googleapis.com/maps/api/geocode/json?address=x&key=«aiza»
API key not valid: «aiza»
firebaseConfig = { apiKey: "«aiza»", projectId: "‹word›" }
  GEMINI_API_KEY: «aiza»
key=«aiza»
YOUTUBE_API_KEY="«aiza»"
Authorization: Bearer «ya29»
gcloud auth print-access-token⏎«ya29»
{"access_token":"«ya29»","expires_in":3599}
GOOGLE_CLIENT_SECRET=«gocspx»
"client_secret":"«gocspx»"
oauth: invalid_client for «gocspx»
"refresh_token": "«grefresh»"
refresh_token=«grefresh»&grant_type=refresh_token
GOOGLE_CREDENTIALS_B64=«sab64»
fcm: Authorization: key=«fcm»
"private_key_id": "«hex40»"
{"type":"service_account","project_id":"‹word›","private_key_id":"«hex40»","private_key":"-----BEGIN PRIVATE KEY-----\n«pem.pkcs8/esc»\n-----END PRIVATE KEY-----\n"}
docker login -u oauth2accesstoken -p «ya29» gcr.io
curl -H "X-Goog-Api-Key: «aiza»" https://generativelanguage.googleapis.com/v1/models
android:value="«aiza»"
<string name="google_maps_key">«aiza»</string>
TF_VAR_google_api_key=«aiza»
rejected: key «aiza» referer not allowed
google-oauth client secret «gocspx» rotated
export GOOGLE_OAUTH_ACCESS_TOKEN='«ya29»'
credentials = { token: "«ya29»" }
NEXT_PUBLIC_FIREBASE_API_KEY=«aiza»
gsutil: refresh token «grefresh» revoked
""",
"azure": r"""
AZURE_CLIENT_SECRET=«azclient»
client_secret: «azclient»
az login --service-principal -u ‹uuid› -p «azclient» --tenant ‹uuid›
ARM_CLIENT_SECRET="«azclient»"
AADSTS7000215: Invalid client secret «azclient» provided
DefaultEndpointsProtocol=https;AccountName=‹word›;AccountKey=«azkey»;EndpointSuffix=core.windows.net
AZURE_STORAGE_KEY=«azkey»
az storage blob list --account-name ‹word› --account-key «azkey»
Endpoint=sb://‹word›.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«azsb»
HostName=‹word›.azure-devices.net;SharedAccessKeyName=owner;SharedAccessKey=«b6444»
https://‹word›.blob.core.windows.net/c/f?sv=2024-11-04&sp=r&sig=«azsig»
SAS token ?sv=2023-01-03&se=2027-01-01&sig=«azsig»
AccountEndpoint=https://‹word›.documents.azure.com:443/;AccountKey=«azkey»;
cosmos = CosmosClient(url, credential="«azkey»")
https://‹word›.azurewebsites.net/api/f?code=«azfn»
x-functions-key: «azfn»
AZURE_DEVOPS_EXT_PAT=«azpat»
AZDO_PERSONAL_ACCESS_TOKEN=«azpat2»
docker login ‹word›.azurecr.io -u ‹word› -p «acr»
Ocp-Apim-Subscription-Key: «hex32»
AZURE_OPENAI_API_KEY=«hex32»
AZURE_SEARCH_KEY=«azsearch»
redis: ‹word›.redis.cache.windows.net:6380,password=«azredis»,ssl=True
  accountKey: «azkey»
azurerm provider: client_secret = "«azclient»"
InstrumentationKey=«uuid»;IngestionEndpoint=https://westeurope-5.in.applicationinsights.azure.com/
"clientSecret": "«azclient»"
primary_access_key = "«azkey»"
rclone: account ‹word›, key «azkey»
endpoint=https://‹word›.communication.azure.com/;accesskey=«b6444»
""",
"high_entropy_hex": r"""
using «hex32»
master «hex64»
derived «hex64» from the passphrase
unexpected value «hex32»
invalid argument: «hex64»
X-Internal-Auth: «hex64»
ENCRYPTION_KEY=«hex64»
AES_KEY=«hex32»
aes-256-cbc key «hex64»
openssl enc -aes-256-cbc -K «hex64» -iv «hex32»
hmac secret: «hex64»
jwt_secret = «hex64»
APP_SECRET=«hex32»
session secret is «hex48»
LUKS master key: «hex128»
K = «hex64»
macaroon «hex96»
rndc key "«hex64»"
wpa psk=«hex64»
cookie_secret: '«hex64»'
salt: «hex32»
pepper=«hex40»
NTLM hash of ‹user›: «hex32»
Administrator:500:aad3b435b51404eeaad3b435b51404ee:«hex32»:::
token «hex40» revoked
got «hex64» as the unlock code
register device with «HEX32»
lorawan AppKey «HEX32»
zigbee network key «hex32»
data encryption key «hex64» loaded
secrets.yml:⏎  production:⏎    secret_key_base: «hex128»
erlang cookie «hex40»
activation code «hex32» rejected
POST /enroll {"code":"«hex64»"}
backup passphrase = «hex64»
preshared «hex64»
{"nonceSecret":"«hex64»"}
unlock with «HEX64»
dek: «hex64»
hub challenge key=«hex32»
""",
}
