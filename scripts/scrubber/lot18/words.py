"""password, database_url, basic_auth, git_credential, totp_seed, jwt."""
LINES = {
"password": r"""
export ADMIN_PASSWORD='«pw»'
REDIS_PASSWORD=«pwu»
  POSTGRES_PASSWORD: "«pw»"
      - MYSQL_ROOT_PASSWORD=«pwu»
environment:⏎  MARIADB_PASSWORD: «pwa»⏎  TZ: UTC
{"username":"‹user›","password":"«pwdelim»"}
{"event":"login","user":"‹user›","pwd":"«pwdelim»","ok":false}
password = "«pwdelim»"⏎region   = "eu-central-1"
resource "aws_db_instance" "main" {⏎  username = "‹user›"⏎  password = "«pwdelim»"⏎}
  ~ master_password = "«pwdelim»" -> "«pwdelim»" # forces replacement
variable "db_password" {⏎  type    = string⏎  default = "«pwdelim»"⏎}
apiVersion: v1⏎kind: Secret⏎stringData:⏎  username: ‹user›⏎  password: «pwa»
kubectl create secret generic ‹svc› --from-literal=password='«pwdelim»'
helm upgrade ‹svc› ./chart --set postgresql.auth.password=«pwgen»
docker run -d -e POSTGRES_PASSWORD=«pwa» postgres:16
docker login -u ‹user› -p «pwa» harbor.example.net
ansible-playbook site.yml -e ansible_become_pass=«pwa»
‹host› ansible_user=‹user› ansible_password=«pwa»
sshpass -p '«pwdelim»' scp dump.sql ‹user›@‹host›:/tmp
mysql -h ‹host› -u ‹user› -p«pwa» ‹db› < schema.sql
mysqldump --user=‹user› --password=«pwa» ‹db›
PGPASSWORD='«pwdelim»' pg_dump -h ‹host› ‹db›
ALTER USER ‹user› WITH PASSWORD '«pwdelim»';
CREATE USER '‹user›'@'%' IDENTIFIED BY '«pwdelim»';
ALTER ROLE ‹user› SET password TO '«pwdelim»';
redis-cli -a «pwa» -h ‹host› ping
ldapsearch -x -D cn=admin,dc=acme,dc=test -w '«pwdelim»' -b dc=acme,dc=test
spring.datasource.password=«pwa»
<add key="SmtpPassword" value="«pwx»" />
<property name="connection.password">«pwx»</property>
smtp.login("‹email›", "«pwdelim»")
const conn = await mysql.createConnection({ host: '‹host›', user: '‹user›', password: '«pwdelim»' });
$pass = "«pwa»";⏎$db = new PDO($dsn, $user, $pass);
login failed for ‹user› (password tried: «pwa»)
Your temporary password is «pwgens» and must be changed at first login.
‹name›: the wifi password at the office is «pwa» btw
new password for ‹user› set to «pwgen»
Initial root password: «pwgens»
machine ‹host› login ‹user› password «pwa»
gpg --batch --yes --passphrase '«pwdelim»' -d backup.tar.gpg
openssl pkcs12 -export -out cert.p12 -inkey key.pem -passout pass:«pwa»
keytool -importkeystore -srcstorepass «pwa» -destkeystore new.jks
restic: RESTIC_PASSWORD="«pw»" restic snapshots
net use Z: \\‹host›\share /user:‹user› «pwa»
runas: LDAP bind with cn=‹user› and "«pwdelim»" failed: invalid credentials (49)
echo '«pwdelim»' | sudo -S systemctl restart ‹svc›
wpa_supplicant: psk="«pwdelim»"
  wifi:⏎    ssid: Guest⏎    password: «pwa»
vault kv put secret/‹svc› password=«pwa»
az vm create -n ‹word› --admin-username ‹user› --admin-password «pwgen»
System.setProperty("javax.net.ssl.keyStorePassword", "«pwdelim»");
""",
"database_url": r"""
DATABASE_URL=«dburl.postgresql»
DATABASE_URL="«dburl.mysql»"
sqlalchemy.exc.OperationalError: could not connect to «dburl.postgresql»
  url: «dburl.postgres»
  uri: "«dburl.mongodb»"
MONGO_URI=«dburl.mongodb»
redis.exceptions.ConnectionError: Error 111 connecting to «dburl.redis»
{"broker":"«dburl.amqp»","queue":"‹word›"}
CELERY_BROKER_URL='«dburl.amqp»'
prisma:error Can't reach database server at «dburl.postgresql»
npx prisma db push --url «dburl.postgresql»
pg_dump «dburl.postgres» > ‹db›.sql
psql '«dburl.postgresql»' -c 'select 1'
datasource db {⏎  provider = "postgresql"⏎  url      = "«dburl.postgresql»"⏎}
goose postgres "«dburl.postgres»" up
migrate -path ./migrations -database "«dburl.mysql»" up
dial error: «dburl.mongodb»: no reachable servers
    value: "«dburl.postgresql»"
  DATABASE_URL      = "«dburl.postgres»"
jdbc.url=jdbc:mysql://‹host›:3306/‹db›?user=‹user›&password=«pwa»
Server=‹host›;Database=‹db›;User Id=‹user›;Password=«pwa»;Encrypt=true
Data Source=‹host›,1433;Initial Catalog=‹db›;UID=‹user›;PWD=«pwa»
host=‹host› port=5432 dbname=‹db› user=‹user› password=«pwa» sslmode=require
"ConnectionStrings": {⏎  "Default": "Server=‹host›;Uid=‹user›;Pwd=«pwa»;"⏎}
‹user›:«pwa»@tcp(‹host›:3306)/‹db›?parseTime=true
sqlplus ‹user›/«pwa»@//‹host›:1521/ORCLPDB1
‹host›:5432:‹db›:‹user›:«pwa»
clickhouse-client: cannot open «dburl.clickhouse»
flask: SQLALCHEMY_DATABASE_URI = '«dburl.mysql+pymysql»'
ERROR asyncpg «dburl.postgresql+asyncpg» refused
Error: P1001 while connecting to `«dburl.postgresql»`
amqp: dial «dburl.amqps»: i/o timeout
kombu.exceptions.OperationalError: [Errno 111] «dburl.amqp»
  connection_string = "«dburl.postgres»"
[alembic]⏎sqlalchemy.url = «dburl.postgresql+psycopg2»
influx: «dburl.influxdb» unreachable
neo4j driver «dburl.neo4j» ServiceUnavailable
""",
"basic_auth": r"""
curl -u ‹user›:«pwa» https://‹host›/api/health
curl --user '‹user›:«pwdelim»' -X PUT https://‹host›/jobs
wget --user=‹user› --password=«pwa» https://‹host›/file.tgz
< authorization: Basic «basic»
Authorization: Basic «basic»
-H 'Authorization: Basic «basic»'
headers: {'Authorization': 'Basic «basic»'}
"auth": "«basic»"
{"auths":{"harbor.example.net":{"auth":"«basic»"}}}
requests.get(url, auth=("‹user›", "«pwdelim»"))
httpx.BasicAuth("‹user›", "«pwdelim»")
http -a ‹user›:«pwa» GET ‹host›/status
https://‹user›:«pwurl»@‹host›/v2/
http_proxy=http://‹user›:«pwurl»@proxy.acme.test:3128
HTTPS_PROXY="http://‹user›:«pwurl»@10.1.1.1:8080"
pip install --index-url https://‹user›:«pwurl»@pypi.acme.test/simple ‹word›
could not fetch https://‹user›:«pwurl»@‹host›/maven/‹word›.pom: 401
sftp://‹user›:«pwurl»@‹host›/upload
ftp://‹user›:«pwurl»@‹host›/pub/‹word›.tgz
ab -n 100 -A ‹user›:«pwa» https://‹host›/
machine.auth: ‹user›:«pwa»
NEXUS_CREDENTIALS=‹user›:«pwa»
prometheus:⏎  basic_auth:⏎    username: ‹user›⏎    password: «pwa»
basic_auth_users:⏎  ‹user›: "«pwdelim»"
proxy_set_header Authorization "Basic «basic»";
Proxy-Authorization: Basic «basic»
_auth = «basic»
//npm.acme.test/:_auth="«basic»"
GET /manager/html⏎Authorization: Basic «basic»⏎⏎HTTP/1.1 403
ELASTIC_URL=https://‹user›:«pwurl»@‹host›:9243
svn checkout --username ‹user› --password «pwa» https://‹host›/svn/‹word›
skopeo copy --src-creds ‹user›:«pwa» docker://‹host›/‹word› oci:out
.basicAuth("‹user›", "«pwdelim»")
new UsernamePasswordCredentials("‹user›", "«pwdelim»")
$cred = "‹user›:«pwa»"⏎$b64 = [Convert]::ToBase64String($cred)
webdav:⏎  url: https://‹user›:«pwurl»@dav.acme.test
""",
"git_credential": r"""
remote: https://‹user›:«ghp»@github.com/‹repo›.git
git clone https://«ghp»@github.com/‹repo›.git
git clone https://oauth2:«glpat»@gitlab.com/‹repo›.git
fatal: unable to access 'https://‹user›:«ghp»@github.com/‹repo›.git/': The requested URL returned error: 403
origin⇥https://‹user›:«pwurl»@git.acme.test/‹repo›.git (fetch)
https://x-access-token:«ghp»@github.com
https://‹user›:«ghp»@github.com
url = https://gitlab-ci-token:«glpat»@gitlab.com/‹repo›.git
git push https://‹user›:«pwurl»@bitbucket.org/‹repo›.git HEAD:main
git remote set-url origin https://x-token-auth:«bbtok»@bitbucket.org/‹repo›.git
[url "https://‹user›:«ghp»@github.com/"]⏎⇥insteadOf = https://github.com/
Cloning into '‹word›'...⏎fatal: Authentication failed for 'https://‹user›:«pwurl»@gitea.acme.test/‹repo›.git/'
go: github.com/‹repo›: git ls-remote -q https://‹user›:«ghp»@github.com/‹repo› failed
terraform init⏎Error: could not download module git::https://oauth2:«glpat»@gitlab.acme.test/‹repo›.git
"‹word›": "git+https://«ghpat»@github.com/‹repo›.git#‹ver›"
pip install git+https://«ghp»@github.com/‹repo›@main
-e git+https://‹user›:«pwurl»@git.acme.test/‹repo›.git#egg=‹word›
protocol=https⏎host=github.com⏎username=‹user›⏎password=«ghp»
submodule 'lib' (https://‹user›:«ghp»@github.com/‹repo›) registered for path 'lib'
GIT_ASKPASS=echo GIT_TOKEN=«ghp» git fetch
repoURL: https://‹user›:«glpat»@gitlab.com/‹repo›.git
flux create source git ‹svc› --url=https://git.acme.test/‹repo› --username=‹user› --password=«ghp»
gh auth login --with-token <<< «ghp»
machine github.com login ‹user› password «ghp»
dev.azure.com: https://‹user›:«azpat»@dev.azure.com/acme/_git/‹word›
"repository": "https://«glpat»@gitlab.com/‹repo›.git"
jenkins: > git fetch --tags https://‹user›:«ghp»@github.com/‹repo›.git # timeout=10
source "https://‹user›:«ghp»@github.com/‹repo›" do
cargo: failed to fetch into: https://‹user›:«ghp»@github.com/‹repo›
git -c http.extraheader="AUTHORIZATION: basic «gitbasic»" fetch origin
http.https://github.com/.extraheader=AUTHORIZATION: basic «gitbasic»
renovate: cloning https://x-access-token:«ghp»@github.com/‹repo›.git
""",
"totp_seed": r"""
otpauth://totp/acme:‹user›?secret=«totp32»&issuer=acme
TOTP_SECRET=«totp32»
totp_secret: «totp16»
"mfa_secret": "«totp32»"
oathtool --totp -b «totp32»
oathtool -b --totp '«totp26»'
pyotp.TOTP("«totp16»").now()
2FA setup key: «totpsp»
Enter this key in your authenticator app: «totpsp»
Manual entry key: «totp32»
MFA seed for ‹user› is «totp32»
two_factor_secret => "«totp16»"
speakeasy.totp({ secret: '«totp52»', encoding: 'base32' })
Base32StringSeed: «totp52»
otp.secret = «totp26»
authenticator.generate('«totp16»')
{"type":"totp","secret":"«totp32»"}
google_authenticator_secret="«totp16»"
ykman oath accounts add acme «totp32»
WARN totp mismatch for ‹user›, secret «totp32», window 1
INSERT INTO mfa (user_id, totp_secret) VALUES (‹n3›, '«totp32»');
ROTP::TOTP.new("«totp16»")
totp := gotp.NewDefaultTOTP("«totp16»")
Your backup 2FA secret: «totp32»
scan the QR or type «totpsp» into Google Authenticator
bw get totp: seed «totp32»
OTP_SEED="«totp32»"
aws iam create-virtual-mfa-device⏎Base32StringSeed = «totp52»
mfa:⏎  secret: «totp32»
otpauth://hotp/acme?secret=«totp16»&counter=1
<totpSecret>«totp32»</totpSecret>
2fa_secret=«totp16»
""",
"jwt": r"""
Authorization: Bearer «jwt»
curl -H "Authorization: Bearer «jwths»" https://‹host›/v1/me
{"access_token":"«jwt»","token_type":"Bearer"}
id_token=«jwt»
JWT=«jwths»
jwt.exceptions.ExpiredSignatureError: «jwths»
localStorage.setItem("token", "«jwths»")
Set-Cookie: session=«jwths»; HttpOnly
Cookie: auth=«jwt»; theme=dark
token: «jwk8s»
kubectl config set-credentials ci --token=«jwk8s»
SUPABASE_ANON_KEY=«jwths»
supabase: anon «jwths»
ws://‹host›/socket?token=«jwths»
https://‹host›/cb#id_token=«jwt»&state=‹hex8›
invalid token «jwt»
verify failed: signature mismatch for «jwths»
x-amz-oidc-data: «jwt»
CF_Authorization=«jwt»
"X-Auth-Token" => "«jwths»"
> x-jwt-assertion: «jwt»
vault write auth/kubernetes/login role=ci jwt=«jwk8s»
ACTIONS_ID_TOKEN: «jwt»
echo «jwths» | cut -d. -f2 | base64 -d
jwt decode «jwths»
session restored from «jwths» (exp 1790000000)
'Bearer «jwt»'
refreshToken → «jwths»
grpc: authorization:[Bearer «jwt»]
"authorization","Bearer «jwths»"
DEBUG oauth2 response id_token="«jwt»"
Assertion «jwt» was not valid at this time
""",
}
