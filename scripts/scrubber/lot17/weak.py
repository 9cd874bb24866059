"""password, database_url, basic_auth. The kinds are those of the package."""
LINES = {
"password": r"""
$ sshpass -p '«pw»' ssh -o StrictHostKeyChecking=no ‹user›@‹host› uptime⏎Permission denied, please try again.
$ mysqldump -u ‹user› -p«pwu» ‹db› | gzip > /backup/‹db›-‹day›.sql.gz
PGPASSWORD=«pwu» pg_restore -h ‹host› -U ‹user› -d ‹db› --no-owner dump.tar
 ‹n4›  htpasswd -bB /etc/nginx/.htpasswd ‹user› '«pw»'
spring.datasource.hikari.password=«pwu»
$ docker login ‹host› -u ‹user› -p «pwu»⏎WARNING! Using --password via the CLI is insecure. Use --password-stdin.⏎Error response from daemon: Get "https://‹host›/v2/": unauthorized
echo '«pw»' | sudo -S systemctl restart ‹svc›
java -Djavax.net.ssl.keyStore=/etc/pki/app.jks -Djavax.net.ssl.keyStorePassword=«pwu» -jar ‹svc›.jar
keytool -list -v -keystore release.jks -storepass «pwu»⏎keytool error: java.io.IOException: Keystore was tampered with, or password was incorrect
openssl pkcs12 -export -in cert.pem -inkey key.pem -out bundle.p12 -passout pass:«pwu»
‹host› ansible_user=‹user› ansible_password='«pw»' ansible_become_password='«pw»'
C:\> net use Z: \\‹host›\share «pwu» /user:CORP\‹user›⏎System error 86 has occurred.
mount -t cifs //‹host›/data /mnt/data -o username=‹user›,password=«pwa»,vers=3.0⏎mount error(13): Permission denied
redis-cli -h ‹host› -a '«pw»' ping⏎Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.
# redis.conf⏎bind 0.0.0.0⏎requirepass «pwu»⏎maxmemory 2gb
ACL SETUSER ‹user› on >«pwu» ~cache:* +@read
CREATE USER '‹user›'@'%' IDENTIFIED BY '«pw»';⏎ERROR 1819 (HY000): Your password does not satisfy the current policy requirements
‹day› ‹time› UTC [‹n5›] ERROR:  role "‹user›" does not exist⏎‹day› ‹time› UTC [‹n5›] STATEMENT:  ALTER ROLE ‹user› WITH LOGIN PASSWORD '«pw»';
CREATE LOGIN [‹user›] WITH PASSWORD = N'«pw»', CHECK_POLICY = OFF;
ALTER USER ‹user› IDENTIFIED BY "«pw»" ACCOUNT UNLOCK;
rabbitmqctl add_user ‹user› '«pw»'⏎Adding user "‹user›" ...
kubectl -n prod create secret generic ‹svc›-db --from-literal=username=‹user› --from-literal=password='«pw»'
apiVersion: v1⏎kind: Secret⏎metadata:⏎  name: ‹svc›⏎stringData:⏎  username: ‹user›⏎  password: "«pw»"
apiVersion: v1⏎data:⏎  password: «b64pw»⏎kind: Secret⏎metadata:⏎  creationTimestamp: "‹day›T‹time›Z"
services:⏎  db:⏎    image: mysql:8.4⏎    environment:⏎      - MYSQL_ROOT_PASSWORD=«pwu»⏎      - MYSQL_DATABASE=‹db›
DATABASES = {⏎    'default': {⏎        'ENGINE': 'django.db.backends.postgresql',⏎        'NAME': '‹db›',⏎        'USER': '‹user›',⏎        'PASSWORD': '«pw»',⏎        'HOST': '‹host›',⏎    }⏎}
/** MySQL database password */⏎define( 'DB_PASSWORD', '«pw»' );
        'password' => env('DB_PASSWORD', '«pw»'),
production:⏎  adapter: mysql2⏎  database: ‹db›⏎  username: ‹user›⏎  password: "«pw»"⏎  host: ‹host›
<Resource name="jdbc/‹db›" auth="Container" type="javax.sql.DataSource" username="‹user›" password="«pwx»" maxTotal="20"/>
[Pipeline] sh⏎+ ./deploy.sh --target ‹host› --user ‹user› --password «pwu»⏎./deploy.sh: line ‹n2›: ansible-playbook: command not found
    <server>⏎      <id>nexus-releases</id>⏎      <username>‹user›</username>⏎      <password>«pwx»</password>⏎    </server>
RELEASE_STORE_FILE=upload.keystore⏎RELEASE_STORE_PASSWORD=«pwu»⏎RELEASE_KEY_ALIAS=upload⏎RELEASE_KEY_PASSWORD=«pwu»
        release {⏎            storeFile file("release.keystore")⏎            storePassword "«pw»"⏎            keyAlias "key0"⏎            keyPassword "«pw»"⏎        }
  File "/srv/app/db.py", line ‹n2›, in connect⏎    conn = psycopg2.connect(dbname='‹db›', user='‹user›', password='«pw»', host='‹host›')⏎psycopg2.OperationalError: could not connect to server: Connection refused
  File "mailer.py", line ‹n2›, in <module>⏎    server.login("‹email›", "«pw»")⏎smtplib.SMTPAuthenticationError: (535, b'5.7.8 Error: authentication failed')
    client.connect('‹host›', port=22, username='‹user›', password='«pw»', look_for_keys=False)⏎paramiko.ssh_exception.AuthenticationException: Authentication failed.
const db = mysql.createConnection({ host: '‹host›', user: '‹user›', password: '«pw»', database: '‹db›' });
		Auth: []ssh.AuthMethod{ssh.Password("«pw»")},
handler.Credentials = new NetworkCredential("‹user›", "«pw»", "CORP");
Connection c = DriverManager.getConnection("jdbc:oracle:thin:@‹host›:1521:XE", "‹user›", "«pw»");
PHP Fatal error:  Uncaught PDOException: SQLSTATE[HY000] [1045] Access denied in /var/www/html/lib/db.php:‹n2›⏎Stack trace:⏎#0 /var/www/html/lib/db.php(‹n2›): PDO->__construct('mysql:host=‹host›', '‹user›', '«pw»')⏎#1 {main}
$link = mysqli_connect("localhost", "‹user›", "«pw»", "‹db›") or die(mysqli_connect_error());
Net::SSH.start('‹host›', '‹user›', password: '«pw»', non_interactive: true) do |ssh|
let opts = PgConnectOptions::new().host("‹host›").username("‹user›").password("«pw»").database("‹db›");
config :app, App.Repo,⏎  username: "‹user›",⏎  password: "«pw»",⏎  hostname: "‹host›",⏎  pool_size: 10
my $dbh = DBI->connect("DBI:mysql:database=‹db›;host=‹host›", "‹user›", '«pw»', { RaiseError => 1 });
con <- dbConnect(RMariaDB::MariaDB(), user = "‹user›", password = "«pw»", dbname = "‹db›")
‹name›: hey, guest wifi password is «pws» btw, works on the 3rd floor too
Das Kennwort für den Testserver lautet «pws», bitte nicht weitergeben.
la contraseña del wifi de la oficina es «pws»
‹name›: a senha do banco de homologação é «pws»
ciao, la password di root sul nuovo server è «pws»
Gebruikersnaam: ‹user›⏎Wachtwoord: «pws»⏎⏎Inloggen mislukt.
Login: ‹user›⏎Hasło: «pws»⏎Błąd: nieprawidłowe hasło
Пароль от тестовой базы: «pws»
ログインパスワードは「«pws»」です。初回ログイン後に変更してください。
数据库密码：«pws»
관리자 비밀번호: «pws»
Kullanıcı adı: ‹user›⏎Şifre: «pws»
> lösenordet till jumphosten är «pws» /‹name›
Přihlašovací jméno: ‹user›⏎Heslo: «pws»
mot de passe wifi : «pws»
‹day›T‹time›.‹n3›456Z ‹n› [Note] [MY-010454] [Server] A temporary password is generated for root@localhost: «pwgens»
Welcome to GitLab! Initial root login:⏎  Username: root⏎  Password: «b6444»
✅ Elasticsearch security features have been automatically configured!⏎ℹ️  Password for the elastic user (reset with `bin/elasticsearch-reset-password -u elastic`):⏎  «pwgen»
Jenkins initial setup is required. An admin user has been created and a password generated.⏎Please use the following password to proceed to installation:⏎⏎«hex32»
$ kubectl -n argocd get secret argocd-initial-admin-secret -o jsonpath="{.data.password}" | base64 -d; echo⏎«pwgen»
resource "aws_db_instance" "main" {⏎  engine          = "postgres"⏎  username        = "‹user›"⏎  password        = "«pw»"⏎}
  # random_password.db will be created⏎      + result = "«pwgens»"⏎      + special = true
      "type": "random_password",⏎      "instances": [{ "attributes": { "length": 20, "result": "«pwgen»" } }]
#cloud-config⏎chpasswd:⏎  expire: false⏎  users:⏎    - {name: ‹user›, password: «pwa», type: text}
echo "‹user›:«pwu»" | chpasswd
rootpw --plaintext «pwu»
d-i passwd/root-password password «pwu»⏎d-i passwd/root-password-again password «pwu»
<AdministratorPassword>⏎  <Value>«pwx»</Value>⏎  <PlainText>true</PlainText>⏎</AdministratorPassword>
    win.winrm.username = "vagrant"⏎    win.winrm.password = "«pw»"
[client]⏎user = ‹user›⏎password = "«pw»"⏎host = ‹host›
# ~/.pgpass⏎‹host›:5432:‹db›:‹user›:«pwu»
lftp -u ‹user›,'«pw»' -e 'mirror -R dist /htdocs; quit' ftp.example.org
smbclient //‹host›/pub -U '‹user›%«pw»' -c 'put report.pdf'⏎session setup failed: NT_STATUS_LOGON_FAILURE
xfreerdp /v:‹host› /u:‹user› /p:'«pw»' /cert:ignore
7z x -p«pwu» kundendaten-‹day›.7z⏎ERROR: Wrong password : kunden.csv
unzip -P «pwu» archive.zip -d out/
gpg --batch --yes --passphrase '«pw»' --decrypt secrets.tar.gpg
ssh-keygen -p -P '«pw»' -N '«pw»' -f ~/.ssh/id_rsa
export BORG_PASSPHRASE='«pwphrase»'
RESTIC_PASSWORD="«pwphrase»" restic -r sftp:‹host›:/srv/restic snapshots⏎Fatal: wrong password or no key found
echo -n "«pw»" | cryptsetup luksOpen /dev/sdb1 data --key-file=-⏎No key available with this passphrase.
network={⏎    ssid="Buero-5G"⏎    psk="«pw»"⏎    key_mgmt=WPA-PSK⏎}
$ nmcli dev wifi connect 'Home Sweet Home' password '«pw»'⏎Error: Connection activation failed: (7) Secrets were required, but not provided.
driver.find_element(By.ID, "password").send_keys("«pw»")
    cy.get('[data-cy=password]').type('«pw»', { log: false })
await page.getByLabel('Password').fill('«pw»');
*** Test Cases ***⏎Login⏎    Input Text        id:user      ‹user›⏎    Input Password    id:pass      «pwu»
POST /account/login HTTP/1.1⏎Host: shop.example.com⏎Content-Type: application/x-www-form-urlencoded⏎⏎username=‹user›&password=«pwurl»&remember=on
curl -s https://sso.example.com/realms/main/protocol/openid-connect/token -d grant_type=password -d client_id=cli -d username=‹user› -d 'password=«pwurl»'
> POST /api/session⏎> {"username":"‹user›","password":"«pw»"}⏎< 401 {"error":"bad_credentials"}
Started POST "/users/sign_in" for 10.0.2.2 at ‹day› ‹time› +0000⏎  Parameters: {"user"=>{"login"=>"‹user›", "password"=>"«pw»", "remember_me"=>"0"}, "commit"=>"Log in"}
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="‹user›" password="«pw»";
mosquitto_pub -h ‹host› -t home/temp -m 21 -u ‹user› -P '«pw»'⏎Connection error: Connection Refused: not authorised.
sqlcmd -S ‹host›,1433 -U sa -P '«pw»' -C -Q "SELECT @@VERSION"⏎Sqlcmd: Error: Microsoft ODBC Driver 18 for SQL Server : Login failed for user 'sa'..
sqlplus ‹user›/«pwa»@‹host›:1521/ORCLPDB1 @migrate.sql⏎ORA-01017: invalid username/password; logon denied
mongosh mongodb://‹host›/admin --username ‹user› --password '«pw»'⏎MongoServerError: Authentication failed.
db.createUser({ user: "‹user›", pwd: "«pw»", roles: [{ role: "readWrite", db: "‹db›" }] })
cqlsh ‹host› 9042 -u cassandra -p '«pw»' -e 'DESCRIBE KEYSPACES'
clickhouse-client --host ‹host› --user ‹user› --password '«pw»' -q 'SELECT 1'⏎Code: 516. DB::Exception: ‹user›: Authentication failed
[6001]⏎type=friend⏎username=6001⏎secret=«pwu»⏎host=dynamic
    edit "‹user›"⏎        set type password⏎        set passwd «pwu»⏎    next
+ export SMTP_PASSWORD=«pwu»⏎+ SMTP_PASSWORD=«pwu»⏎+ exec /usr/local/bin/‹svc›
declare -x LDAP_BIND_PW="«pw»"⏎declare -x LESS="-R"
            "Env": [⏎                "MARIADB_USER=‹user›",⏎                "MARIADB_PASSWORD=«pw»",⏎                "PATH=/usr/local/bin:/usr/bin"
root     ‹n5›  0.3  1.1 987632 45120 ?  Ssl  09:12   0:04 /usr/bin/‹svc› --dbuser=‹user› --dbpass=«pwu» --port=8080
[Service]⏎Environment="APP_ADMIN_PASSWORD=«pw»"⏎ExecStart=/opt/‹svc›/bin/run
15 2 * * * MYSQL_PWD='«pw»' /usr/bin/mysqldump --all-databases > /var/backups/all.sql
cmdkey /add:‹host› /user:CORP\‹user› /pass:«pwu»
schtasks /create /tn Nightly /tr C:\jobs\nightly.cmd /sc daily /ru CORP\‹user› /rp «pwu»
psexec \\‹host› -u CORP\‹user› -p «pwu» -h cmd /c "ipconfig /all"
DB_USER ?= ‹user›⏎DB_PASS ?= «pws»⏎⏎migrate:⏎	migrate -path db up
id;login;passwort;abteilung⏎‹n3›;‹user›;«pwu»;Vertrieb
helm upgrade --install pg bitnami/postgresql --set auth.postgresPassword=«pwu» --set auth.database=‹db›
io.app.AuthException: Invalid credentials: LoginRequest(username=‹user›, password=«pwa», remember=true)
thread 'main' panicked at src/db.rs:‹n2›:‹n2›:⏎connect failed: Config { host: "‹host›", user: "‹user›", password: "«pw»", pool: 5 }
‹day›T‹time›Z	DEBUG	cfg/load.go:‹n2›	loaded {Host:‹host› User:‹user› Password:«pwa» Port:5432 SSLMode:disable}
ValueError: cannot log in with Credentials(username='‹user›', password='«pw»', domain=None)
#<Mail::SMTP:0x00007f8b @settings={:address=>"‹host›", :port=>587, :user_name=>"‹user›", :password=>"«pw»"}>
array(3) {⏎  ["user"]=>⏎  string(5) "admin"⏎  ["password"]=>⏎  string(12) "«pw12»"⏎}
Connecting with properties {user=‹user›, password=«pwa», ssl=true}
{⏎  user: '‹user›',⏎  password: '«pw»',⏎  server: '‹host›',⏎  options: { encrypt: true }⏎}⏎ConnectionError: Login failed for user '‹user›'.
(gdb) p cfg->password⏎$1 = 0x5555557a92c0 "«pw»"
Administrator:~$ passwd: the new root password on ‹host› is: «pws»
snowflake.connector.connect(user='‹user›', password='«pw»', account='xy‹n5›.eu-central-1')
<add key="SmtpPassword" value="«pwx»" />
Set-ADAccountPassword -Identity ‹user› -Reset -NewPassword (ConvertTo-SecureString -AsPlainText "«pw»" -Force)
sftp> open ‹host›⏎Name: ‹user›⏎Password (echoed, non-tty): «pws»⏎530 Login incorrect
> What's the password for the demo account?⏎It's ‹user› with password «pws» — reset it after the call please
Reset done. Your new password: «pws»⏎Please change it at next login.
app.ldap.manager-password: «pwu»
kdbx: keepassxc-cli show -s vault.kdbx mail⏎Title: mail⏎UserName: ‹user›⏎Password: «pw»⏎URL: imap://‹host›
- name: create db user⏎  community.postgresql.postgresql_user:⏎    name: ‹user›⏎    password: "«pw»"⏎    db: ‹db›
fatal: [‹host›]: FAILED! => {"changed": false, "invocation": {"module_args": {"login_user": "‹user›", "login_password": "«pw»", "name": "‹db›"}}, "msg": "unable to connect to database"}
$ ipmitool -I lanplus -H ‹host› -U ADMIN -P «pwu» chassis status⏎Error: Unable to establish IPMI v2 / RMCP+ session
vncpasswd -f <<< "«pw»" > ~/.vnc/passwd
openconnect vpn.example.com --user=‹user› --passwd-on-stdin <<< '«pw»'
$cfg['Servers'][$i]['password'] = '«pw»';
SELECT * FROM users WHERE login='‹user›' AND password='«pwa»' -- slow query 2.31s
Dim conn As New ADODB.Connection⏎conn.Open "DSN=‹db›", "‹user›", "«pw»" ' user, password
sudo: ‹user› : TTY=pts/0 ; PWD=/root ; USER=root ; COMMAND=/usr/sbin/useradd-wrap --login kiosk --password «pwu»
AT+CWJAP="Werkstatt","«pw»"⏎WIFI CONNECTED
const char* ssid = "FRITZ!Box 7590";⏎const char* password = "«pw»";⏎WiFi.begin(ssid, password);
zip encryption: pyminizip.compress("a.csv", None, "a.zip", "«pw»", 5)  # password
UserManager.CreateAsync(new AppUser { UserName = "‹user›" }, password: "«pw»").Wait();
INSERT INTO smtp_accounts (host, username, password) VALUES ('‹host›', '‹user›', '«pw»');
""",
"database_url": r"""
DATABASE_URL=postgres://‹user›:«pwurl»@‹host›:5432/‹db›?sslmode=require
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to "postgresql+psycopg2://‹user›:«pwurl»@‹host›/‹db›" failed
engine = create_async_engine("postgresql+asyncpg://‹user›:«pwurl»@‹host›/‹db›", pool_size=20)
sqlalchemy.url = mysql+pymysql://‹user›:«pwurl»@‹host›:3306/‹db›?charset=utf8mb4
MONGO_URI: mongodb+srv://‹user›:«pwurl»@cluster0.ab1cd.mongodb.net/‹db›?retryWrites=true&w=majority
MongoServerSelectionError: connect ECONNREFUSED⏎    at mongoose.connect (mongodb://‹user›:«pwurl»@mongo-0:27017,mongo-1:27017/‹db›?replicaSet=rs0)
REDIS_URL=rediss://default:«pwgen»@eu1-proud-lark-‹n5›.upstash.io:6379
redis.exceptions.ConnectionError: Error 111 connecting to redis://:«pwurl»@cache-1:6379/0
CELERY_BROKER_URL = "amqp://‹user›:«pwurl»@‹host›:5672//"
[ERROR/MainProcess] consumer: Cannot connect to amqp://‹user›:«pwurl»@10.1.2.3:5672/prod: [Errno 111] Connection refused.
"ConnectionStrings": {⏎    "Default": "Server=‹host›;Database=‹db›;User Id=‹user›;Password=«pwdelim»;TrustServerCertificate=True"⏎  }
<add name="Main" connectionString="Data Source=‹host›;Initial Catalog=‹db›;Persist Security Info=True;User ID=‹user›;Password=«pwa»" providerName="System.Data.SqlClient"/>
jdbc:sqlserver://‹host›:1433;databaseName=‹db›;user=‹user›;password=«pwdelim»;encrypt=true
jdbc:postgresql://‹host›:5432/‹db›?user=‹user›&password=«pwa»&ssl=true
url: jdbc:mysql://‹user›:«pwa»@‹host›:3306/‹db›?useSSL=false
jdbc:oracle:thin:‹user›/«pwa»@//‹host›:1521/XEPDB1
cnxn = pyodbc.connect('DRIVER={ODBC Driver 18 for SQL Server};SERVER=tcp:‹host›,1433;DATABASE=‹db›;UID=‹user›;PWD=«pwdelim»')
psql "host=‹host› port=5432 dbname=‹db› user=‹user› password=«pwa» sslmode=verify-full"
db, err := sql.Open("mysql", "‹user›:«pwa»@tcp(‹host›:3306)/‹db›?parseTime=true")
dsn := fmt.Sprintf("host=%s user=‹user› password=«pwa» dbname=‹db› port=5432 TimeZone=Europe/Berlin", h)
Host=‹host›;Port=5432;Username=‹user›;Password=«pwa»;Database=‹db›;Maximum Pool Size=50
clickhouse://‹user›:«pwurl»@‹host›:9000/‹db›?dial_timeout=10s
cockroach sql --url 'postgresql://‹user›:«pwurl»@‹host›:26257/‹db›?sslmode=verify-full&options=--cluster%3Dblue-‹n3›'
snowflake://‹user›:«pwurl»@ab‹n5›.eu-west-1/‹db›/PUBLIC?warehouse=WH_S
datasource db {⏎  provider = "postgresql"⏎  url      = "postgresql://‹user›:«pwurl»@‹host›:5432/‹db›?schema=public"⏎}
Error: P1001: Can't reach database server⏎Environment variables loaded from .env⏎Datasource "db": PostgreSQL, url: postgresql://‹user›:«pwurl»@‹host›:5432/‹db›
knex({ client: 'pg', connection: 'postgres://‹user›:«pwurl»@‹host›/‹db›' })
const sequelize = new Sequelize('mysql://‹user›:«pwurl»@‹host›:3306/‹db›');
diesel migration run --database-url=postgres://‹user›:«pwurl»@localhost/‹db›⏎Failed to run migrations
error: error communicating with database: postgres://‹user›:«pwurl»@db/‹db› (sqlx-cli)
* ‹db› = host=‹host› port=5432 dbname=‹db› user=‹user› password=«pwa» pool_size=40
migrate -database "mysql://‹user›:«pwa»@tcp(‹host›:3306)/‹db›" -path ./migrations up⏎error: dial tcp: i/o timeout
flyway -url=jdbc:mariadb://‹host›/‹db› -user=‹user› -password='«pw»' migrate
liquibase --url="jdbc:postgresql://‹host›/‹db›" --username=‹user› --password=«pwu» update
=== shop-prod Config Vars⏎DATABASE_URL:        postgres://u‹hex8›:p«hex64»@ec2-3-248-‹n2›-12.eu-west-1.compute.amazonaws.com:5432/d‹hex8›⏎RACK_ENV:            production
flyctl secrets set DATABASE_URL="postgres://‹user›:«mixed24»@‹svc›-db.flycast:5432/‹db›"
postgresql://postgres.xkq‹low5›:«pwurl»@aws-0-eu-central-1.pooler.supabase.com:6543/postgres
neonctl: using postgresql://neondb_owner:npg_«mixed20»@ep-cool-dew-‹n5›.eu-central-1.aws.neon.tech/neondb?sslmode=require
config :app, App.Repo, url: "ecto://‹user›:«pwurl»@‹host›/‹db›"
adapter: postgresql⏎url: <%= ENV.fetch("DATABASE_URL") { "postgres://‹user›:«pwurl»@‹host›/‹db›" } %>
ActiveRecord::DatabaseConnectionError: postgres://‹user›:«pwurl»@‹host›:5432/‹db›: FATAL: password authentication failed
nats://‹user›:«pwurl»@nats-0.nats:4222
HASURA_GRAPHQL_METADATA_DATABASE_URL: postgres://‹user›:«pwurl»@‹host›:5432/hasura
          - name: DB_DSN⏎            value: "postgres://‹user›:«pwurl»@‹host›:5432/‹db›"
environment: Sequel.connect('tinytds://‹user›:«pwurl»@‹host›/‹db›')
bolt+s driver: GraphDatabase.driver("neo4j+s://‹hex8›.databases.neo4j.io", auth=("neo4j", "«url43»"))
mongorestore --uri="mongodb://‹user›:«pwurl»@‹host›:27017/?authSource=admin" dump/⏎Failed: error connecting to db server
$ pg_dump postgresql://‹user›:«pwurl»@‹host›/‹db› -Fc -f ‹db›.dump⏎pg_dump: error: server version: 17.2; pg_dump version: 15.8
DBI.connect("dbi:Pg:dbname=‹db›;host=‹host›;user=‹user›;password=«pwa»")
$dsn = "pgsql:host=‹host›;port=5432;dbname=‹db›;user=‹user›;password=«pwa»"; $pdo = new PDO($dsn);
DATABASE_URL="mysql://‹user›:«pwurl»@‹host›:3306/‹db›?serverVersion=10.11.2-MariaDB&charset=utf8mb4"
TypeORM: { type: "postgres", url: "postgres://‹user›:«pwurl»@‹host›:5432/‹db›", ssl: true }
AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=postgresql+psycopg2://airflow:«pwurl»@‹host›/airflow
SQLALCHEMY_DATABASE_URI = 'mssql+pyodbc://‹user›:«pwurl»@‹host›/‹db›?driver=ODBC+Driver+17+for+SQL+Server'
df = pl.read_database_uri(q, "redshift://‹user›:«pwurl»@‹db›.abc123xyz.eu-west-1.redshift.amazonaws.com:5439/dev")
ERROR 10061: can't open tcps dsn: Driver=Oracle;Data Source=‹host›:1521/XE;User Id=‹user›;Password=«pwa»;
‹name›: prod replica ist postgres://‹user›:«pwurl»@‹host›/‹db›, aber bitte nur lesend zugreifen
[‹iso›] FATAL could not parse config: yaml: line 9: dsn: "postgres://‹user›:«pwurl»@‹host›:5432/‹db›?sslmode=disable" already set
docker run --rm -e KEYCLOAK_DB=postgres -e QUARKUS_DATASOURCE_JDBC_URL='jdbc:postgresql://‹host›/kc?user=kc&password=«pwa»' quay.io/keycloak
{"level":"error","ts":‹unix›.123,"msg":"db ping failed","dsn":"‹user›:«pwa»@tcp(‹host›:3306)/‹db›"}
dbt: profile output⏎      type: postgres⏎      connection: "postgresql://‹user›:«pwurl»@‹host›/‹db›"
ldb = "couchbases://‹user›:«pwurl»@cb.‹low5›.cloud.couchbase.com"
OGRERROR: ogr2ogr -f PostgreSQL PG:"host=‹host› user=‹user› dbname=gis password=«pwa»" roads.shp failed
spring:⏎  data:⏎    mongodb:⏎      uri: mongodb://‹user›:«pwurl»@‹host›:27017/‹db›?authSource=admin
spring.r2dbc.url=r2dbc:postgresql://‹user›:«pwurl»@‹host›/‹db›
pscale: mysql://‹low10›:pscale_pw_«url43»@aws.connect.psdb.cloud/‹db›?sslaccept=strict
Exception in thread "main" com.mongodb.MongoSecurityException: uri=mongodb://‹user›:«pwurl»@‹host›/‹db›
vector[‹n4›]: sink "pg": endpoint = "postgres://‹user›:«pwurl»@‹host›:5432/‹db›": pool timed out
cube.js: CUBEJS_DB_URL=presto://‹user›:«pwurl»@‹host›:8443/hive
$env:DATABASE_URL = 'postgres://‹user›:«pwurl»@‹host›:5432/‹db›'; npx prisma migrate deploy
export const pool = new Pool({ connectionString: `postgres://‹user›:«pwurl»@${host}:5432/‹db›` });
[mssql] conn="sqlserver://‹user›:«pwurl»@‹host›:1433?database=‹db›"
influxdb_uri = influxdb://‹user›:«pwurl»@‹host›:8086/metrics
""",
"basic_auth": r"""
$ curl -u ‹user›:'«pw»' https://‹host›/api/v1/status⏎{"status":401,"message":"Unauthorized"}
curl --user "‹user›:«pw»" -T build/app.war "https://‹host›/manager/text/deploy?path=/app"
curl -sSf -x http://proxy.corp.example:3128 --proxy-user '‹user›:«pw»' https://example.org/
export https_proxy=http://‹user›:«pwurl»@proxy.corp.example:8080
> GET /v2/_catalog HTTP/2⏎> Host: ‹host›⏎> authorization: Basic «basic»⏎> user-agent: curl/8.5.0⏎< HTTP/2 401
requests.get("https://‹host›/rest/api/2/myself", auth=("‹user›", "«pw»"))
    auth=HTTPBasicAuth('‹user›', '«pw»'),
urllib3.exceptions.MaxRetryError: HTTPSConnectionPool: Max retries exceeded with url: https://‹user›:«pwurl»@‹host›/simple/
Looking in indexes: https://‹user›:«pwurl»@‹host›/pypi/simple⏎ERROR: No matching distribution found for acme-utils
[global]⏎index-url = https://‹user›:«pwurl»@‹host›/repository/pypi/simple
machine ‹host›⏎login ‹user›⏎password «pwu»
machine ‹host› login ‹user› password «pwu»
{⏎  "auths": {⏎    "‹host›": {⏎      "auth": "«basic»"⏎    }⏎  }⏎}
//‹host›/npm/:_auth=«basic»⏎//‹host›/npm/:always-auth=true
deb [signed-by=/usr/share/keyrings/acme.gpg] https://‹user›:«pwurl»@‹host›/debian bookworm main
E: Failed to fetch https://‹user›:«pwurl»@‹host›/ubuntu/dists/noble/InRelease  401  Unauthorized
http -a ‹user›:«pwu» POST ‹host›/api/users name=foo⏎HTTP/1.1 403 Forbidden
axios.get(url, { auth: { username: '‹user›', password: '«pw»' } })
req.SetBasicAuth("‹user›", "«pw»")
String credential = Credentials.basic("‹user›", "«pw»");
async with aiohttp.ClientSession(auth=aiohttp.BasicAuth("‹user›", "«pw»")) as s:
  - job_name: node⏎    basic_auth:⏎      username: ‹user›⏎      password: «pwu»⏎    static_configs:
location / {⏎    proxy_pass http://‹host›;⏎    proxy_set_header Authorization "Basic «basic»";⏎}
ab -n 100 -c 10 -A ‹user›:«pwu» https://‹host›/
java -jar jenkins-cli.jar -s https://‹host›/ -auth ‹user›:«hex32» list-jobs
wget --http-user=‹user› --http-password='«pw»' https://‹host›/dist/app.tgz⏎401 Unauthorized
wget https://‹user›:«pwurl»@‹host›/backups/‹day›.tar.zst
fetch("https://‹host›/wp-json/wp/v2/posts", { headers: { Authorization: "Basic «basic»" } })
Error: Request failed with status code 401⏎    config: { headers: { Authorization: 'Basic «basic»', Accept: 'application/json' } }
<packageSourceCredentials>⏎  <Intern>⏎    <add key="Username" value="‹user›" />⏎    <add key="ClearTextPassword" value="«pwx»" />⏎  </Intern>⏎</packageSourceCredentials>
credentials += Credentials("Sonatype Nexus Repository Manager", "‹host›", "‹user›", "«pw»")
    maven {⏎        url "https://‹host›/repository/releases"⏎        credentials {⏎            username '‹user›'⏎            password '«pw»'⏎        }⏎    }
bundle config set --global ‹host› ‹user›:«pwu»
source "https://‹user›:«pwurl»@gems.example.com/"
channels:⏎  - https://‹user›:«pwurl»@‹host›/conda/main⏎  - conda-forge
poetry config http-basic.intern ‹user› '«pw»'
[[tool.uv.index]]⏎name = "intern"⏎url = "https://‹user›:«pwurl»@‹host›/simple"
terraform {⏎  backend "http" {⏎    address  = "https://‹host›/state/prod"⏎    username = "‹user›"⏎    password = "«pw»"⏎  }⏎}
helm repo add intern https://‹host›/charts --username ‹user› --password '«pw»'⏎Error: looks like "https://‹host›/charts" is not a valid chart repository: 401
skopeo copy --src-creds ‹user›:«pwu» docker://‹host›/base:1.2 dir:/tmp/base
podman build --creds=‹user›:«pwu» -t app .
output.elasticsearch:⏎  hosts: ["https://‹user›:«pwurl»@‹host›:9200"]
elastic_transport.ConnectionTimeout: Connection timed out: https://elastic:«pwurl»@‹host›:9200/_bulk
output { elasticsearch { hosts => ["‹host›:9200"] user => "elastic" password => "«pw»" } }
Invoke-RestMethod -Uri https://‹host›/api -Headers @{ Authorization = "Basic «basic»" }
HttpRequest.newBuilder(uri).header("Authorization", "Basic «basic»").build();
client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", "«basic»");
SOAPAction: "urn:getCustomer"⏎Authorization: Basic «basic»⏎Content-Length: ‹n3›
curl -H 'Authorization: Basic «basic»' -d '{"query":{"match_all":{}}}' http://‹host›:9200/logs/_search
uri = URI("https://‹host›/feed"); req.basic_auth '‹user›', '«pw»'
use LWP::UserAgent; $ua->credentials('‹host›:443', 'Restricted', '‹user›', '«pw»');
curl_setopt($ch, CURLOPT_USERPWD, '‹user›:«pw»');
http://‹user›:«pwurl»@192.168.1.64/ISAPI/Streaming/channels/101/picture
WebDAV: https://‹host›/remote.php/dav ‹user› «pwu»   # /etc/davfs2/secrets
couchdb: curl -X PUT http://admin:«pwurl»@127.0.0.1:5984/‹db›⏎{"error":"unauthorized","reason":"Name or password is incorrect."}
$ yum makecache⏎https://‹user›:«pwurl»@‹host›/rhel9/repodata/repomd.xml: [Errno 14] HTTPS Error 401 - Unauthorized
grafana: curl -X POST http://admin:«pwurl»@‹host›:3000/api/datasources -d @ds.json
GRPC trace: :authority ‹host›, authorization: Basic «basic», te: trailers
{"name":"Authorization","value":"Basic «basic»","enabled":true,"type":"text"}
let auth = reqwest::Client::new().get(url).basic_auth("‹user›", Some("«pw»")).send().await?;
‹name›: staging steht hinter basic auth, user ‹user›, passwort «pws»
k6: http.get(`https://‹user›:«pwurl»@‹host›/health`) => status 401
hey -n 200 -a ‹user›:«pwu» https://‹host›/
remote_write:⏎  - url: https://prometheus-prod-01.grafana.net/api/prom/push⏎    basic_auth: { username: ‹n5›, password: "«pw»" }
[loki] clients:⏎  - url: https://‹user›:«pwurl»@logs.example.com/loki/api/v1/push
dav = webdav4.Client("https://‹host›/dav", auth=("‹user›", "«pw»"))
"http-basic": {⏎    "repo.magento.com": {⏎      "username": "‹hex32›",⏎      "password": "«hex32»"⏎    }⏎  }
$ mvn deploy⏎[ERROR] Failed to transfer file https://‹user›:«pwurl»@‹host›/repository/snapshots/a.jar: status code 401
Acquire::https::Proxy "http://‹user›:«pwurl»@proxy.example.com:3128";
npm config set proxy http://CORP%5C‹user›:«pwurl»@proxy.corp.example:8080
GET /jmx HTTP/1.1⏎Authorization: Basic «basic»⏎Host: ‹host›:8161
rclone config create nc webdav url=https://‹host›/dav vendor=nextcloud user=‹user› pass='«pw»'
Failed to load resource: https://‹user›:«pwurl»@‹host›/login: net::ERR_INVALID_AUTH_CREDENTIALS
Proxy-Authorization: Basic «basic»
siege --header="Authorization: Basic «basic»" -c5 -t30s https://‹host›/
JFROG: jf c add srv --url=https://‹host› --user=‹user› --password='«pw»' --interactive=false
""",
}
