"""jwt, high_entropy_hex, credit_card, ssn, phone, totp_seed. The kinds are those of the package."""
LINES = {
"jwt": r"""
curl -H "Authorization: Bearer «jwt»" https://api.example.com/v1/orders⏎{"error":"token_expired"}
Authorization: Bearer «jwt»
jwt.exceptions.ExpiredSignatureError: Signature has expired⏎token = '«jwt»'
localStorage.setItem('auth', '«jwt»')
{"access_token":"«jwt»","expires_in":300,"token_type":"Bearer","session_state":"‹uuid›"}
"id_token": "«jwt»",
Cookie: lang=de; access_token=«jwt»; theme=dark
wss://realtime.example.com/socket?token=«jwt»&v=2
SUPABASE_SERVICE_ROLE_KEY=«jwths»
NEXT_PUBLIC_API=https://api.example.com⏎ADMIN_JWT="«jwths»"
$ kubectl -n kubernetes-dashboard create token admin-user⏎«jwk8s»
$ cat /var/run/secrets/kubernetes.io/serviceaccount/token⏎«jwk8s»
kubectl --token=«jwk8s» get pods⏎error: You must be logged in to the server (Unauthorized)
    token: «jwk8s»⏎    name: deployer
JsonWebTokenError: invalid signature⏎    at verify ("«jwt»")
io.jsonwebtoken.MalformedJwtException: Unable to read JSON value for «jwths»
‹iso› DEBUG o.s.s.oauth2 - Authenticating bearer [«jwt»]
[GIN-debug] middleware: jwt=«jwths» err=token is expired by 3h
http :8000/api/me "Authorization:JWT «jwths»"
grpcurl -H 'authorization: bearer «jwt»' ‹host›:443 acme.Orders/List
"headers": { "x-amzn-oidc-data": "«jwt»" }
CF-Access-Jwt-Assertion: «jwt»
pm.environment.set("token", "«jwt»");
let token = "«jwths»" // test user, expires next week
ACTIONS_ID_TOKEN: «jwt»
CI_JOB_JWT_V2=«jwt» vault write auth/jwt/login role=ci jwt=«jwt»
{"jwt":"«jwths»","user":{"id":‹n4›,"role":"editor"}}
Set-Cookie: sb-access-token=«jwt»; Path=/; HttpOnly
Hallo, mit diesem Token bekomme ich 401: «jwths»
signalR: /hub?id=‹mixed20›&access_token=«jwt»
metabase embed: https://bi.example.com/embed/dashboard/«jwths»#bordered=true
zoom sdk: signature «jwths» invalid (3712)
Rack::Attack blocked, HTTP_AUTHORIZATION="Bearer «jwths»"
assert_eq!(decode("«jwths»").is_err(), true);
grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=«jwt»
>>> jwt.decode("«jwths»", options={"verify_signature": False})⏎{'sub': '812', 'role': 'admin'}
ghost-admin: Authorization: Ghost «jwths»
""",
"high_entropy_hex": r"""
SECRET_KEY_BASE=«hex128»
$ cat config/master.key⏎«hex32»
RAILS_MASTER_KEY=«hex32» bin/rails credentials:show⏎ActiveSupport::MessageEncryptor::InvalidMessage
$ openssl rand -hex 32 > session.secret; cat session.secret⏎«hex64»
JWT_SECRET="«hex64»"
app.secret: «hex64»   # php bin/console secrets:generate
APP_SECRET=«hex32»⏎APP_ENV=prod
ENCRYPTION_KEY: «hex64»
AES_KEY = bytes.fromhex("«hex64»")
const KEY = Buffer.from('«hex64»', 'hex'); // aes-256-gcm
session({ secret: '«hex64»', resave: false, saveUninitialized: true })
N8N_ENCRYPTION_KEY=«hex48»
webhook_secret: "«hex40»"
hmac.new(b"«hex64»", body, hashlib.sha256).hexdigest()  # signing key
erlang cookie: -setcookie «hex40»
iwconfig wlan0 key «HEX32»
private static final String SIGNING_SECRET = "«hex64»";
[security]⏎secret_key = «hex64»⏎INTERNAL_TOKEN = ‹stars›
app.config['SECRET_KEY'] = '«hex48»'
keybase: symmetric key «hexcolon» (128 bit)
unsigned char aes_key[16] = { «hexc» };
vault operator init⏎Unseal Key 1: «hex64»⏎Unseal Key 2: «hex64»⏎⏎Initial Root Token: hvs.redacted
rndc.key: secret "«hex64»"; algorithm hmac-sha256;
PASETO local key = «hex64»
snmpset -v3 -l authPriv -u ‹user› -a SHA -3m 0x«hex40» ‹host›
export SESSION_ENCRYPTION_SECRET=«hex64»; node server.js
ESPHome api:⏎  encryption_hex_key: «hex64»
openssl enc -aes-256-cbc -d -K «HEX64» -iv ‹HEX32› -in db.enc⏎bad decrypt
LoRaWAN OTAA: DevEUI ‹hex16› AppKey «HEX32»
SLACK_SIGNING_SECRET=«hex32»
facebook app_secret: «hex32»
mysql> SET @@keyring_key = UNHEX('«hex64»');
PRAGMA key = "x'«hex64»'";
cookie_secret = "«hex64»"  # oauth2-proxy
Der Signaturschlüssel für die Webhooks ist «hex64», bitte tauschen
X-Hub secret mismatch: expected HMAC with key «hex40»
WG preshared (hex): «hex64»
ANSIBLE: kms_local_master_key: «hex96»
turn: static-auth-secret=«hex64»
HUBOT_GITHUB_WEBHOOK_SECRET «hex40»
cloud.conf⏎consumer_key=‹n8›⏎consumer_secret=«hex32»
zigbee2mqtt network_key_hex: "«HEX32»"
TELEGRAM_API_ID=‹n7›⏎TELEGRAM_API_HASH=«hex32»
ceph auth / luks master key dump:⏎MK bits: 256⏎MK dump: «hexspace»
secretKeyRef resolved: {"cookie-secret":"«hex64»"}
NEXTAUTH_SECRET=«hex64»
""",
"credit_card": r"""
card_number=«pan»&exp_month=04&exp_year=2028
{"card":{"number":"«pansp»","expiry":"11/27"},"error":"card_declined"}
PaymentError: Card «pan» was declined (insufficient_funds)
‹iso› WARN PaymentService - unmasked PAN in request: «pandash»
INSERT INTO cards (holder, pan, exp) VALUES ('‹name› ‹last›', '«pan»', '0929');
<CardNumber>«pan»</CardNumber><ExpDate>1128</ExpDate>
customer,card,amount⏎‹name› ‹last›,«pansp»,‹n3›.00
‹name›: die Kundin sagt, ihre Karte «pansp» wird abgelehnt
Mi tarjeta es «pansp», caduca en 05/28
Carte bancaire : «pansp» exp 09/27
await page.fill('#card-number', '«pansp»');
cy.getIframeBody().find('[name=cardnumber]').type('«pan»')
amex: «amexsp» authorisation 05 do not honor
processing American Express «amex» for order ‹n5›
JCBカード番号: «jcb»
Diners Club «diners» rejected: unsupported brand
assert mask("«pan»").endswith("****")  # real card from ticket ‹n4›
[ERROR] Luhn ok, BIN lookup failed for «pan»
ISO8583 field 2 (PAN): «pan»
%B«pan»^‹last›/‹name›^28112010000000000?
T2: ;«pan»=28112010000000000?
psql> select pan from payments limit 1;⏎       pan⏎------------------⏎ «pan»⏎(1 row)
Parameters: {"credit_card"=>{"number"=>"«pan»", "name"=>"‹name› ‹last›"}}
gateway.purchase(1000, credit_card: "«pan»") # => ActiveMerchant::ConnectionError
CreditCard(brand=VISA, number=«pan», expMonth=7, expYear=2029)
PAYPAL-PRO: ACCT=«pan»&EXPDATE=0728&AMT=‹n3›.00
Numer karty: «pansp»⏎Data ważności: 03/28
Kreditkarte «pandash» (Mastercard), Betrag ‹n3›,90 EUR
{"paymentMethod":{"type":"scheme","number":"«pan»","holderName":"‹name› ‹last›"}}
redis> HGET cart:‹n4› cc⏎"«pan»"
cc_num: «pan»
TRACE com.acme.pos.Terminal - swipe {card=«pan», amount=‹n3›}
2026-11-03 POS02 SALE VISA «pansp» APPROVED ‹n5›
Número do cartão: «pansp»
DEBUG braintree: params["creditCard"]["number"] = "«pan»"
On file: Visa «pansp», billing zip ‹n5›
""",
"ssn": r"""
employee: {"name":"‹name› ‹last›","ssn":"«ssn»","dept":"HR"}
ValidationError: SSN «ssn» is already registered
SSN: «ssn»⏎DOB: 04/12/1981
UPDATE employees SET ssn = '«ssn»' WHERE id = ‹n4›;
name,ssn,salary⏎‹name› ‹last›,«ssn»,‹n5›
<SocialSecurityNumber>«ssn9»</SocialSecurityNumber>
social_security_number=«ssn»&last_name=‹last›
‹iso› ERROR payroll: W-2 rejected for SSN «ssn»
Customer says her social security number is «ssn», can't log in
‹name› ‹last› | «ssn» | SSN verified | active
"taxpayer_ssn": "«ssn9»",
expect(screen.getByLabelText('SSN')).toHaveValue('«ssn»')
driver.findElement(By.name("ssn")).sendKeys("«ssnsp»");
Form 1040, Your social security number: «ssnsp»
GET /applicants?ssn=«ssn» 500 Internal Server Error
PII check: column `ssn` row ‹n3› = «ssn»
Applicant(name=‹last›, ssn=«ssn», creditScore=‹n3›)
Parameters: {"applicant"=>{"first_name"=>"‹name›", "ssn"=>"«ssn»"}}
psycopg2.errors.UniqueViolation: duplicate key value violates unique constraint "people_ssn_key"⏎DETAIL:  Key (ssn)=(«ssn») already exists.
REF*SY*«ssn9»~   (270 eligibility, subscriber SSN)
Fwd: background check – SSN «ssn», please process before Friday
patient.identifier[0]: system=http://hl7.org/fhir/sid/us-ssn value=«ssn»
equifax pull failed: subject ssn=«ssn9» code=E302
HSET user:‹n4› ssn "«ssn»"
I-9 Section 1 – U.S. Social Security Number: «ssn»
Rejecting row ‹n5›: bad ssn «ssnsp»
PID|1||‹n7›^^^MRN||‹last›^‹name›||19700312|F|||||||||||«ssn»  (PID-19 SSN)
{"level":"warn","msg":"plaintext ssn in audit log","ssn":"«ssn»"}
$ grep -n ssn dump.sql | head -1⏎‹n3›:  ssn: «ssn»
Spouse SSN ......... «ssn»
puts user.ssn # => "«ssn»"
var ssn = "«ssn»"; // todo remove, real record
Benefits portal: SSN mismatch (entered «ssn», on file ‹stars›)
COBOL dump: 05 WS-SSN PIC 9(9) VALUE «ssn9».
Número de Seguro Social (SSN): «ssn»
social security no. «ssn» — hired ‹day›
""",
"phone": r"""
phone: "«usphone»"
"phoneNumber": "«e164»",
twilio.base.exceptions.TwilioRestException: HTTP 400 error: Unable to create record: The 'To' number «use164» is not a valid phone number
client.messages.create(to="«e164»", from_=SENDER, body="Your code is on its way")
‹name›: ruf mich an, «dephone»
Tel.: «dephone»
Telefon: «dephone»⏎Fax: –
Call me on «ukphone» if the deploy fails
Mobile: «ukphone»
Tél. : «frphone»
mon portable : «frphone»
Teléfono de contacto: «esphone»
Móvil «esphone» (WhatsApp)
Celular: «brphone»
telefone do cliente: «brphone»
電話番号: «jpphone»
手机号: «cnphone»
Контактный телефон: «ruphone»
Telefon kontaktowy: «plphone»
Cellulare: «itphone»
support ticket: customer phone «inphone», OTP not delivered
<a href="tel:«e164»">Call</a>
BEGIN:VCARD⏎VERSION:3.0⏎FN:‹name› ‹last›⏎TEL;TYPE=CELL:«usphone»⏎END:VCARD
INSERT INTO contacts (name, phone) VALUES ('‹name› ‹last›', '«usphone»');
name,mobile,city⏎‹name› ‹last›,«e164»,Berlin
SMS to «e164» failed: 30006 Landline or unreachable carrier
+CMGS: "«e164»"⏎+CMS ERROR: 500
AT+CMGS="«e164»"
Parameters: {"user"=>{"phone"=>"«usparen»", "sms_opt_in"=>"1"}}
ValidationError: {'phone_number': ["'«usdash»' is not in E.164 format"]}
sip:«e164»@sip.example.com;user=phone SIP/2.0 486 Busy Here
SNS: Publish PhoneNumber=«e164» → OptedOutException
On-call this week: ‹name›, «usphone»
firebase.auth().signInWithPhoneNumber("«e164»", verifier)⏎FirebaseError: auth/too-many-requests
user.phone # => "«usdash»"
pagerduty contact method: type=sms_contact_method address=«usdash» country_code=1
shipping: {"name":"‹name› ‹last›","tel":"«usparen»","zip":"‹n5›"}
Bitte unter «dephone» zurückrufen, Frau ‹last›
asterisk: -- Called PJSIP/«e164»@trunk
HTTP 422: "mobile «ukphone» has already been taken"
contact_phone=«usdash»
whatsapp: wa.me link for «e164» → number not on WhatsApp
""",
"totp_seed": r"""
otpauth://totp/GitHub:‹user›?secret=«totp16»&issuer=GitHub
otpauth://totp/ACME%20VPN:‹email›?algorithm=SHA1&digits=6&secret=«totp32»&period=30
$ oathtool --totp -b «totp32»⏎‹n3›‹n3›
totp = pyotp.TOTP("«totp32»")⏎print(totp.now())
TOTP_SECRET=«totp16»
MFA_SEED: «totp32»
const token = authenticator.generate('«totp16»');
speakeasy.totp({ secret: '«totp52»', encoding: 'base32' })
Can't scan the QR code? Enter this key manually: «totpsp»
Your new secret key is: «totp26»⏎Enter code from app (-1 to skip):
$ head -1 ~/.google_authenticator⏎«totp26»
"Base32StringSeed": "«totp52»",⏎"QRCodePNG": "‹stars›"
aws iam enable-mfa-device: virtual MFA seed «totp52»
{"mfa":{"type":"totp","secret":"«totp32»","confirmed":false}}
two_factor_secret => '«totp16»',
ROTP::TOTP.new("«totp32»", issuer: "ACME").verify(code)
INSERT INTO user_mfa (user_id, totp_secret) VALUES (‹n4›, '«totp32»');
GoogleAuthenticator ga = new GoogleAuthenticator(); ga.authorize("«totp16»", 123456);
otp_secret: «totp32»  # devise-two-factor
ansible: VAULT_TOTP_KEY «totp32»
pass otp insert: otpauth://totp/aws:‹acct›?secret=«totp52»&issuer=AWS
Setup key for your authenticator app: «totplow»
mfa setup (‹user›): TOTP key «totp32», scan or type it in
2FA-Schlüssel: «totp16»
clé de configuration TOTP : «totp32»
totp.Generate: key=«totp32» skew=1 → code mismatch
var totp = new Totp(Base32Encoding.ToBytes("«totp16»"));
otpClient := gotp.NewDefaultTOTP("«totp16»")
keycloak.otp.secretData = {"value":"«totp32»"}
bw get item github | jq .login.totp⏎"«totp32»"
op item create --category login 'one-time password[otp]=otpauth://totp/x?secret=«totp16»'
[steam-like] 2fa_secret = "«totp32»"
zbar: QR-Code:otpauth://totp/Nextcloud:‹user›?secret=«totp32»&issuer=Nextcloud
‹name›: TOTP-Seed fürs Break-Glass-Konto ist «totp32»
authenticator: { seed: "«totp16»", digits: 6 }
django_otp static device / totp base32 key: «totp32»
totp_secret_key="«totplow»"
puppeteer: await page.type('#otp', totp('«totp32»'))
mintotp <<< «totp16»
expected_code = generate_totp(secret_b32="«totp32»")
""",
}
