"""Lot 17, by somebody who never saw the rules: contexts, and the kinds of secrets and fillers that they name.

In a context «kind» is a secret, ‹kind› a filler, ⏎ a newline, ⇥ a tab. What is made follows from SEED.
"""
import base64
import json
import random
import re
import string
import urllib.parse
import xml.sax.saxutils
import zlib

from . import a, b, clean, weak

SEED = 20261103
COPIES = {"password": 1, "database_url": 1, "basic_auth": 1, "clean": 3}
LOW, UP, DIG = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOW + UP + DIG
B64 = ALNUM + "+/"
URL64 = ALNUM + "-_"
HEX = "0123456789abcdef"
B32 = UP + "234567"
B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

WORDS = """sommer winter herbst kaktus giraffe tiger monkey dragon falcon purple orange banana coffee summer autumn london
berlin madrid lisboa krakow istanbul tokyo arsenal juventus chelsea batman gandalf pikachu hunter shadow sunshine
michelle charlie nicole amanda oliver matteo sofia lucas emma jakub mehmet yuki schatz liebe amour soleil papillon
bonjour estrella corazon guitarra playa verano futebol saudade brasil pizza ciao mamma welkom fiets molen piwo kwiat
slonce zima lato medved zvezda privet kukushka warehouse billing shop deploy jenkins gitlab reports analytics backup
octopus marble thunder rocket planet mango pepper lemon ginger walnut cactus bridge harbor window ladder candle""".split()
DICE = """anchor bishop cradle dapper ember fossil gravel hollow ivory jigsaw kettle lagoon mitten nectar oyster
pebble quiver ribbon saddle timber upbeat velvet walrus yonder zipper acorn blender copper domino elbow""".split()
LEET = str.maketrans("aeios", "@3105")
FIRST = "Ana Ben Chloé Dmitri Elif Femke Giulia Hiro Ingrid João Kasia Lars Maya Nils Olga Pablo Quentin Rosa Samir Tuan".split()
LASTN = "Almeida Becker Costa Dubois Eriksen Fischer Garcia Horvat Ivanova Jansen Kowalski Lindqvist Moreau Nakamura O'Neil Patel Quist Rossi Santos Tanaka".split()
USERS = "svc_billing deploy app appuser root admin reporting etl_rw ci-bot jenkins m.fischer kowalskaj backup webapp readonly django shopware nextcloud wpuser sa postgres dbadmin ops-user tomcat oracle_app lnovak tanaka.h operator".split()
HOSTS = "db01.prod.example.com pg-main.internal 10.20.3.14 mysql.intern.firma.example nas.local registry.example.io build-07.corp.example db.shop.example.org 172.16.4.9 srv-app2.lan ci.example.dev cache-1.eu.example.net mq.example.com localhost repo.example.com artifactory.corp.example".split()
DBS = "shop billing orders analytics_prod inventory crm wordpress app_production keycloak metabase events reporting tenants lagerverwaltung".split()
SVCS = "checkout-api billing-worker ingest auth-proxy notifier search-indexer webhooks report-gen mailer cart gateway scheduler".split()
REPOS = "acme/payments-api nordwind/infra contoso/webshop tuxlabs/kernel-tools rosalab/ml-pipeline globex/mobile-app initech/reports umbrella/sdk-go hooli/landing fjord/etl".split()


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.c = self.r.choice

    def s(self, chars, n):
        return "".join(self.r.choices(chars, k=n))

    def varied(self, chars, n):
        """n chars with a digit, a lower and an upper letter where the alphabet has them."""
        while True:
            s = self.s(chars, n)
            if all(any(x in group for x in s) for group in (LOW, UP, DIG) if any(x in group for x in chars)):
                return s

    # ---- passwords
    def human(self, sym="!@#$%^&*-_=+?."):
        w, w2 = self.c(WORDS), self.c(WORDS)
        tail = self.c("!!!!?#*." if set("!?#*.") <= set(sym) else sym)
        return self.r.choice([
            lambda: w.capitalize() + str(self.r.randint(1970, 2026)) + tail,
            lambda: w.capitalize() + self.c("#@-_") + str(self.r.randint(10, 9999)),
            lambda: w + w2.capitalize() + str(self.r.randint(1, 999)),
            lambda: w.translate(LEET).capitalize() + self.s(DIG, 2) + tail,
            lambda: "".join(x.capitalize() for x in (w, w2)) + self.c("!_-") + self.s(DIG, 2),
            lambda: w + self.s(DIG, 4),
            lambda: w + "_" + w2 + "_" + self.s(DIG, 2),
            lambda: self.c(["Qwerty", "qwertz", "Azerty", "1qaz", "zaq1"]) + self.c("!@#") + self.s(DIG, 3) + self.c(["wsx", "WSX", "xsw", "Ab"]),
            lambda: w.upper() + "-" + w2 + self.s(DIG, 3),
            lambda: self.s(DIG, 2) + w.capitalize() + w2.capitalize() + tail,
            lambda: "".join(x.capitalize() for x in self.r.sample(DICE, 3)) + self.s(DIG, 1),
        ])()

    def gen(self, sym="!@#$%^&*-_=+?."):
        return self.r.choice([
            lambda: self.varied(ALNUM, self.c([12, 14, 16, 16, 20, 24])),
            lambda: self.c(ALNUM) + self.varied(ALNUM + sym, self.c([10, 12, 14, 18])) + self.c(ALNUM),
            lambda: "-".join(self.varied(LOW + DIG + UP, 6) for _ in range(3)),
            lambda: "-".join(self.r.sample(DICE, 4)) + "-" + self.s(DIG, 2),
            lambda: self.varied(LOW + DIG, self.c([12, 16])),
        ])()

    def _any(self, sym):
        return self.human(sym) if self.r.random() < .6 else self.gen(sym)

    def _pw(self): return self._any("!@#$%^&*-_=+?.")
    def _pwu(self): return self._any("!@#%^*-_=+.")      # unquoted in a shell or a config
    def _pws(self): return self._any("!-_")              # in prose
    def _pwa(self): return self._any("_-").replace("!", "").replace("?", "").replace("#", "-").replace("@", "-").replace("*", "").replace(".", "")
    def _pwgen(self): return self.varied(ALNUM, self.c([16, 20, 24]))
    def _pwgens(self): return self.c(ALNUM) + self.varied(ALNUM + "!@#%^*-_=+.", self.c([10, 14])) + self.c(ALNUM)
    def _pwurl(self): return urllib.parse.quote(self._any("!@#$%^&*-_=+?"), safe="!*-_.~")
    def _pwx(self): return xml.sax.saxutils.escape(self._pw())
    def _pwdelim(self): return self._any("!#$%^*-_+.").replace("@", "-").replace("?", "!")  # no @ : / ? ; , =
    def _pwphrase(self): return " ".join(self.r.sample(DICE, 4))
    def _pw12(self): return self.varied(ALNUM, 12)
    def _pin(self): return self.s(DIG, 6)
    def _b64pw(self): return base64.b64encode((self._pw() + self.c(["", "\n"])).encode()).decode()
    def _basic(self): return base64.b64encode(f"{self.c(USERS)}:{self._pw()}".encode()).decode()
    def _gitbasic(self): return base64.b64encode(f"x-access-token:{self.c(['ghs_', 'ghp_']) + self.s(ALNUM, 36)}".encode()).decode()
    def _adobasic(self): return base64.b64encode((":" + self._azpat()).encode()).decode()

    # ---- generic
    def _hex16(self): return self.varied(HEX, 16)
    def _hex32(self): return self.varied(HEX, 32)
    def _hex40(self): return self.varied(HEX, 40)
    def _hex48(self): return self.varied(HEX, 48)
    def _hex64(self): return self.varied(HEX, 64)
    def _hex96(self): return self.varied(HEX, 96)
    def _hex128(self): return self.varied(HEX, 128)
    def _HEX32(self): return self._hex32().upper()
    def _HEX64(self): return self._hex64().upper()
    def _hexcolon(self): return ":".join(re.findall("..", self._hex32()))
    def _hexspace(self): return " ".join(re.findall("....", self._hex64()))
    def _hexc(self): return ", ".join("0x" + x for x in re.findall("..", self._hex32()))
    def _mixed20(self): return self.varied(ALNUM, 20)
    def _mixed24(self): return self.varied(ALNUM, 24)
    def _mixed32(self): return self.varied(ALNUM, 32)
    def _mixed40(self): return self.varied(ALNUM, 40)
    def _mixed64(self): return self.varied(ALNUM, 64)
    def _url43(self): return self.varied(URL64, 43)
    def _url86(self): return self.varied(URL64, 86)
    def _b6444(self): return self.varied(B64, 43) + "="
    def _b6464(self): return self.varied(B64, 64)
    def _uuid(self):
        h = self.s(HEX, 32)
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{self.c('89ab')}{h[17:20]}-{h[20:]}"

    # ---- api keys
    def _openai(self): return self.c([lambda: "sk-proj-" + self.varied(URL64, 74) + "T3BlbkFJ" + self.varied(URL64, 74), lambda: "sk-" + self.varied(ALNUM, 20) + "T3BlbkFJ" + self.varied(ALNUM, 20), lambda: "sk-svcacct-" + self.varied(URL64, 60) + "T3BlbkFJ" + self.varied(URL64, 60)])()
    def _anthropic(self): return "sk-ant-api03-" + self.varied(URL64, 93) + "AA"
    def _stripe(self): return self.c(["sk_live_51", "rk_live_51"]) + self.varied(ALNUM, 97)
    def _stripeold(self): return "sk_live_" + self.varied(ALNUM, 24)
    def _whsec(self): return "whsec_" + self.varied(ALNUM, 32)
    def _sendgrid(self): return "SG." + self.varied(URL64, 22) + "." + self.varied(URL64, 43)
    def _mailgun(self): return self.c([lambda: "key-" + self._hex32(), lambda: self._hex32() + "-" + self.s(HEX, 8) + "-" + self.s(HEX, 8)])()
    def _mailchimp(self): return self._hex32() + "-us" + str(self.r.randint(1, 21))
    def _newrelic(self): return "NRAK-" + self.varied(UP + DIG, 27)
    def _nrlic(self): return self.s(HEX, 36) + "NRAL"
    def _groq(self): return "gsk_" + self.varied(ALNUM, 52)
    def _xai(self): return "xai-" + self.varied(ALNUM, 80)
    def _openrouter(self): return "sk-or-v1-" + self._hex64()
    def _deepseek(self): return "sk-" + self._hex32()
    def _pplx(self): return "pplx-" + self.varied(ALNUM, 48)
    def _resend(self): return "re_" + self.varied(ALNUM, 8) + "_" + self.varied(ALNUM, 24)
    def _brevo(self): return "xkeysib-" + self._hex64() + "-" + self.varied(ALNUM, 16)
    def _mapbox(self): return "sk.eyJ1Ijoi" + self.varied(ALNUM, 52) + "." + self.varied(URL64, 22)
    def _notion(self): return "ntn_" + self.varied(ALNUM, 46)
    def _figma(self): return "figd_" + self.varied(URL64, 40)
    def _linear(self): return "lin_api_" + self.varied(ALNUM, 40)
    def _airtable(self): return "pat" + self.varied(ALNUM, 14) + "." + self._hex64()
    def _posthog(self): return "phx_" + self.varied(ALNUM, 43)
    def _langfuse(self): return "sk-lf-" + self._uuid()
    def _pinecone(self): return "pcsk_" + self.varied(ALNUM, 6) + "_" + self.varied(ALNUM, 63)
    def _tavily(self): return "tvly-dev-" + self.varied(ALNUM, 32)
    def _eleven(self): return "sk_" + self._hex48()
    def _replicate(self): return "r8_" + self.varied(ALNUM, 37)
    def _shopify(self): return self.c(["shpat_", "shpss_"]) + self._hex32()
    def _square(self): return "EAAA" + self.varied(URL64, 60)
    def _rapidapi(self): return self.s(HEX, 10) + "msh" + self.s(HEX, 15) + "p1" + self.s(HEX, 5) + "jsn" + self.s(HEX, 12)
    def _ldsdk(self): return "sdk-" + self._uuid()
    def _supabase(self): return "sb_secret_" + self.varied(URL64, 31)
    def _twiliosid(self): return "SK" + self._hex32()
    # ---- tokens
    def _ghp(self): return self.c(["ghp_", "gho_", "ghu_", "ghs_"]) + self.varied(ALNUM, 36)
    def _ghpat(self): return "github_pat_11" + self.varied(UP + DIG, 20) + "_" + self.varied(ALNUM, 59)
    def _glpat(self): return "glpat-" + self.varied(URL64, 20)
    def _gljob(self): return "glcbt-64_" + self.varied(URL64, 20)
    def _glrt(self): return "glrt-" + self.varied(URL64, 20)
    def _bbtok(self): return "ATBB" + self.varied(ALNUM, 32)
    def _atl(self): return "ATATT3xFfGF0" + self.varied(URL64, 170) + "=" + self.s(HEX.upper(), 8)
    def _xoxb(self): return f"xoxb-{self.s('123456789', 12)}-{self.s('123456789', 13)}-" + self.varied(ALNUM, 24)
    def _xapp(self): return f"xapp-1-A{self.varied(UP + DIG, 10)}-{self.s('123456789', 13)}-" + self._hex64()
    def _slackhook(self): return f"https://hooks.slack.com/services/T{self.varied(UP + DIG, 10)}/B{self.varied(UP + DIG, 10)}/" + self.varied(ALNUM, 24)
    def _npm(self): return "npm_" + self.varied(ALNUM, 36)
    def _pypi(self): return "pypi-AgEIcHlwaS5vcmc" + self.varied(URL64, 150)
    def _hf(self): return "hf_" + self.varied(LOW + UP, 34)
    def _discord(self): return base64.b64encode(self.s("123456789", 18).encode()).decode() + "." + "G" + self.varied(URL64, 5) + "." + self.varied(URL64, 38)
    def _tg(self): return self.s("123456789", 10) + ":AA" + self.varied(URL64, 33)
    def _vault(self): return "hvs.CAESI" + self.varied(URL64, 90)
    def _dckr(self): return "dckr_pat_" + self.varied(URL64, 27)
    def _dop(self): return "dop_v1_" + self._hex64()
    def _dapi(self): return "dapi" + self._hex32() + "-2"
    def _tfc(self): return self.varied(ALNUM, 14) + ".atlasv1." + self.varied(ALNUM, 67)
    def _doppler(self): return "dp.st.prd." + self.varied(ALNUM, 43)
    def _gem(self): return "rubygems_" + self._hex48()
    def _cio(self): return "cio" + self.varied(ALNUM, 32)
    def _sntry(self): return "sntryu_" + self._hex64()
    def _glsa(self): return "glsa_" + self.varied(ALNUM, 32) + "_" + self.s(HEX, 8)
    def _sha256k(self): return "sha256~" + self.varied(URL64, 43)
    def _k3s(self): return "K10" + self._hex64() + "::server:" + self._hex32()
    def _kubeadm(self): return self.varied(LOW + DIG, 6) + "." + self.varied(LOW + DIG, 16)
    # ---- keys
    def _wg(self): return self.varied(B64, 42) + self.c("AEIMQUYcgkosw048") + "="
    def _age(self): return "AGE-SECRET-KEY-1" + self.s("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
    def _nsec(self): return "nsec1" + self.s("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58)
    def _wif(self): return self.c("KL") + self.varied(B58, 51)
    def _xprv(self): return "xprv9s21ZrQH143K" + self.varied(B58, 95)
    def _0xhex(self): return "0x" + self._hex64()
    def _sol58(self): return self.c("2345") + self.varied(B58, 87)
    def _ints64(self): return ",".join(str(self.r.randrange(256)) for _ in range(64))
    def _b64pem(self): return base64.b64encode(("-----BEGIN " + self.c(["RSA ", "EC ", "", "OPENSSH "]) + "PRIVATE KEY-----\n" + "\n".join(self.varied(B64, 64) for _ in range(self.c([6, 10]))) + "\n").encode()).decode()
    # ---- clouds
    def _akia(self): return "AKIA" + self.s(B32, 16)
    def _asia(self): return "ASIA" + self.s(B32, 16)
    def _awssecret(self): return self.varied(B64, 40)
    def _awssession(self): return "IQoJb3JpZ2luX2Vj" + self.varied(B64, self.c([260, 340])) + "=="
    def _absk(self): return "ABSKQmVkcm9ja0FQSUtleS" + self.varied(ALNUM, 106) + "=="
    def _sespw(self): return "B" + self.varied(B64, 43)
    def _ecrpw(self): return "eyJwYXlsb2FkIjoi" + self.varied(ALNUM, 220) + "=="
    def _da2(self): return "da2-" + self.varied(LOW + DIG, 26)
    def _aiza(self): return "AIzaSy" + self.varied(URL64, 33)
    def _ya29(self): return "ya29." + self.c(["a0A", "c.c0A"]) + self.varied(URL64, self.c([150, 200]))
    def _gocspx(self): return "GOCSPX-" + self.varied(URL64, 28)
    def _grefresh(self): return "1//0" + self.varied(URL64, 99)
    def _goog40(self): return self.varied(B64, 40)
    def _fcm(self): return "AAAA" + self.varied(URL64, 7) + ":APA91b" + self.varied(URL64, 134)
    def _sab64(self): return base64.b64encode(json.dumps({"type": "service_account", "project_id": "acme-prod", "private_key_id": self._hex40(), "private_key": "-----BEGIN PRIVATE KEY-----\n" + self.varied(B64, 64) + "\n-----END PRIVATE KEY-----\n"}).encode()).decode()
    def _azkey(self): return self.varied(B64, 86) + "=="
    def _azstn(self): return self.varied(B64, 76) + "+ASt" + self.s(B64, 6) + "=="
    def _azsb(self): return self.varied(B64, 33) + "+ASbE" + self.s(B64, 5) + "="
    def _azclient(self): return self.varied(ALNUM, 3) + "8Q~" + self.varied(ALNUM + "-_.~", 33) + self.c(ALNUM)
    def _azpat(self): return self.varied(LOW + "234567", 52)
    def _azpat2(self): return self.varied(ALNUM, 76) + "AZDO" + self.varied(ALNUM, 4)
    def _azfn(self): return self.varied(URL64, 44) + "AzFu" + self.varied(URL64, 6) + "=="
    def _azsig(self): return urllib.parse.quote(self.varied(B64, 43) + "=", safe="")
    def _azcs(self): return self.varied(ALNUM, 75) + "AC" + self.varied(ALNUM, 7)
    def _azsearch(self): return self.varied(ALNUM, 42) + "AzSe" + self.varied(ALNUM, 6)
    def _azredis(self): return self.varied(B64, 33) + "AzCaA" + self.s(ALNUM, 5) + "="
    def _acr(self): return self.varied(B64, 42) + "+ACR" + self.s(ALNUM, 6)
    # ---- people
    def luhn(self, prefix, length):
        digits = prefix + self.s(DIG, length - 1 - len(prefix))
        total = sum(sum(divmod(int(d) * 2, 10)) if i % 2 == 0 else int(d) for i, d in enumerate(reversed(digits)))
        return digits + str(-total % 10)
    def _pan(self): return self.c([lambda: self.luhn("4" + self.c(["53", "17", "98", "02", "75"]), 16), lambda: self.luhn(self.c(["51", "52", "53", "54", "55"]) + self.s("2345678", 2), 16), lambda: self.luhn("2" + self.c(["223", "35", "50"]), 16), lambda: self.luhn("6011", 16)])()
    def _pansp(self): return " ".join(re.findall("....", self._pan()))
    def _pandash(self): return "-".join(re.findall("....", self._pan()))
    def _amex(self): return self.luhn(self.c(["34", "37"]), 15)
    def _amexsp(self):
        a = self._amex(); return f"{a[:4]} {a[4:10]} {a[10:]}"
    def _jcb(self): return self.luhn("35" + self.c(["28", "41", "66"]), 16)
    def _diners(self):
        a = self.luhn(self.c(["36", "38"]), 14); return self.c([a, f"{a[:4]} {a[4:10]} {a[10:]}"])
    def ssn3(self):
        return f"{self.r.choice([x for x in range(101, 772) if x != 666]):03}", f"{self.r.randint(11, 98):02}", f"{self.r.randint(1012, 9987):04}"
    def _ssn(self): return "-".join(self.ssn3())
    def _ssnsp(self): return " ".join(self.ssn3())
    def _ssn9(self): return "".join(self.ssn3())
    def usn(self): return self.c(["212", "415", "617", "312", "503", "206", "713", "303", "404", "718"]), self.c("2346789") + self.s(DIG, 2), self.s(DIG, 4)
    def _usphone(self):
        a, b, c = self.usn(); return self.c([f"({a}) {b}-{c}", f"{a}-{b}-{c}", f"+1 {a}-{b}-{c}", f"+1 ({a}) {b}-{c}", f"{a}.{b}.{c}"])
    def _usparen(self):
        a, b, c = self.usn(); return f"({a}) {b}-{c}"
    def _usdash(self): return "-".join(self.usn())
    def _use164(self): return "+1" + "".join(self.usn())
    def _dephone(self): return self.c([f"+49 {self.c(['151', '160', '170', '176'])} {self.s('123456789', 8)}", f"+49 30 {self.s('123456789', 8)}", f"0{self.c(['171', '152', '176'])} {self.s('123456789', 7)}", f"0{self.c(['89', '40', '221'])}/{self.s('123456789', 7)}"])
    def _ukphone(self): return self.c([f"+44 7{self.s(DIG, 3)} {self.s(DIG, 6)}", f"07{self.s(DIG, 3)} {self.s(DIG, 6)}", f"+44 20 7{self.s(DIG, 3)} {self.s(DIG, 4)}", f"020 7{self.s(DIG, 3)} {self.s(DIG, 4)}"])
    def _frphone(self): return self.c(["06 ", "07 ", "01 ", "+33 6 "]) + " ".join(self.s(DIG, 2) for _ in range(4))
    def _esphone(self): return self.c(["+34 ", ""]) + self.c("67") + self.s(DIG, 2) + " " + self.s(DIG, 3) + " " + self.s(DIG, 3)
    def _brphone(self): return self.c(["+55 ", ""]) + f"({self.c(['11', '21', '31', '85'])}) 9{self.s('123456789', 4)}-{self.s(DIG, 4)}"
    def _e164(self): return self.c(["+4915" + self.s(DIG, 9), "+447" + self.s(DIG, 9), "+336" + self.s(DIG, 8), "+919" + self.s(DIG, 9), "+55119" + self.s(DIG, 8), "+4860" + self.s(DIG, 7), "+8190" + self.s(DIG, 8), "+6141" + self.s(DIG, 7), "+90532" + self.s(DIG, 7)])
    def _jpphone(self): return self.c(["090", "080"]) + f"-{self.s('123456789', 4)}-{self.s(DIG, 4)}"
    def _inphone(self): return f"+91 {self.c('987')}{self.s(DIG, 4)} {self.s(DIG, 5)}"
    def _plphone(self): return f"+48 {self.c(['601', '512', '788'])} {self.s(DIG, 3)} {self.s(DIG, 3)}"
    def _ruphone(self): return f"+7 (9{self.s(DIG, 2)}) {self.s('123456789', 3)}-{self.s(DIG, 2)}-{self.s(DIG, 2)}"
    def _cnphone(self): return "1" + self.c(["38", "59", "86", "77"]) + self.s(DIG, 8)
    def _itphone(self): return f"+39 3{self.c(['20', '33', '47'])} {self.s('123456789', 7)}"
    # ---- totp, jwt
    def _totp16(self): return self.varied(B32, 16)
    def _totp32(self): return self.varied(B32, 32)
    def _totp26(self): return self.varied(B32, 26)
    def _totp52(self): return self.varied(B32, 52)
    def _totpsp(self): return " ".join(re.findall("....", self.s(B32.lower(), 32)))
    def _totplow(self): return self.varied(B32.lower(), self.c([16, 32]))
    def jwt(self, claims, alg="RS256", sig=342):
        e = lambda v: base64.urlsafe_b64encode(json.dumps(v, separators=(",", ":")).encode()).decode().rstrip("=")
        return e({"alg": alg, "typ": "JWT", **({"kid": self._hex16()} if self.r.random() < .4 else {})}) + "." + e(claims) + "." + self.varied(URL64, sig)
    def _jwt(self):
        claims = {"sub": self.c([self._uuid(), self.s(DIG, 6), self.c(USERS)]), "iat": 1762100000 + self.r.randrange(90000), "exp": 1762200000}
        if self.r.random() < .5: claims |= {"iss": "https://id.example.com/", "scope": "read write"}
        return self.jwt(claims, *self.c([("HS256", 43), ("RS256", 342), ("ES256", 86), ("HS512", 86)]))
    def _jwths(self): return self.jwt({"sub": self.s(DIG, 5), "role": self.c(["admin", "editor", "service_role"]), "exp": 1762200000 + self.r.randrange(90000)}, "HS256", 43)
    def _jwk8s(self): return self.jwt({"iss": "kubernetes/serviceaccount", "kubernetes.io/serviceaccount/namespace": self.c(["default", "ci"]), "sub": "system:serviceaccount:ci:deployer"})

    # ---- fillers
    def _user(self): return self.c(USERS)
    def _host(self): return self.c(HOSTS)
    def _db(self): return self.c(DBS)
    def _svc(self): return self.c(SVCS)
    def _repo(self): return self.c(REPOS)
    def _name(self): return self.c(FIRST)
    def _last(self): return self.c(LASTN)
    def _email(self): return f"{self.c(['maya', 'pablo', 'ingrid', 'ops', 'noreply', 'it'])}@{self.c(['example.com', 'firma.example', 'example.org'])}"
    def _n(self): return str(self.r.randint(2, 4000))
    def _n2(self): return str(self.r.randint(10, 59))
    def _n3(self): return str(self.r.randint(100, 999))
    def _n4(self): return str(self.r.randint(1000, 9999))
    def _n5(self): return str(self.r.randint(10000, 99999))
    def _n7(self): return self.c("123456789") + self.s(DIG, 6)
    def _n8(self): return self.c("123456789") + self.s(DIG, 7)
    def _n9(self): return self.c("123456789") + self.s(DIG, 8)
    def _n10(self): return self.c("123456789") + self.s(DIG, 9)
    def _port(self): return str(self.r.randint(1024, 65000))
    def _ver(self): return f"{self.r.randint(0, 24)}.{self.r.randint(0, 30)}.{self.r.randint(0, 20)}"
    def _day(self): return f"2026-{self.r.randint(1, 12):02}-{self.r.randint(1, 28):02}"
    def _time(self): return f"{self.r.randint(0, 23):02}:{self.r.randint(0, 59):02}:{self.r.randint(0, 59):02}"
    def _iso(self): return f"{self._day()}T{self._time()}.{self.s(DIG, 3)}Z"
    def _syslog(self): return f"{self.c(['Nov', 'Oct', 'Jan', 'Mar'])} {self.r.randint(1, 28):2} {self._time()}"
    def _unix(self): return "17" + self.s("3456789", 1) + self.s(DIG, 7)
    def _unixms(self): return self._unix() + self.s(DIG, 3)
    def _unixns(self): return self._unix() + self.s(DIG, 9)
    def _hex7(self): return self.varied(HEX, 7)
    def _hex8(self): return self.varied(HEX, 8)
    def _hex12(self): return self.varied(HEX, 12)
    def _low5(self): return self.s("bcdfghjklmnpqrstvwxz2456789", 5)
    def _low10(self): return self.s("bcdf4567892", 10)
    def _sha512b64(self): return self.varied(B64, 86) + "=="
    def _b6443(self): return self.varied(B64, 43)
    def _up10(self): return self.varied(UP + DIG, 10)
    def _b58addr(self): return self.varied(B58, 44)
    def _btc(self): return "bc1q" + self.s("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 38)
    def _ethaddr(self): return "0x" + self._hex40()
    def _cid(self): return "bafybei" + self.s("abcdefghijklmnopqrstuvwxyz234567", 52)
    def _qm(self): return "Qm" + self.varied(B58, 44)
    def _ulid(self): return "01J" + self.varied("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23)
    def _nixh(self): return self.varied("0123456789abcdfghijklmnpqrsvwxyz", 32)
    def _ed25519pub(self): return "AAAAC3NzaC1lZDI1NTE5AAAAI" + self.varied(B64, 43)
    def _rsapub(self): return "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + self.varied(B64, 340)
    def _notluhn(self):
        p = self.luhn(self.c(["70", "80", "90", "10"]), 16)
        return p[:-1] + str((int(p[-1]) + 1 + self.r.randrange(8)) % 10)
    def _stars(self): return self.c(["********", "****", "*****", "xxxxxx", "••••••••", "[REDACTED]", "<redacted>", "[FILTERED]", "***", "<hidden>", "XXXXXXXX"])
    def _mac(self): return ":".join(re.findall("..", self.s(HEX, 12)))
    def _pubdate(self): return self._day()
    def _region(self): return self.c(["eu-central-1", "us-east-1", "us-west-2", "ap-southeast-2", "sa-east-1"])
    def _acct(self): return self.c("123456789") + self.s(DIG, 11)
    def _var(self): return self.c(["DB_PASSWORD", "SMTP_PASS", "REGISTRY_PASSWORD", "POSTGRES_PASSWORD", "API_TOKEN", "ADMIN_PW", "GITLAB_TOKEN", "SECRET_KEY"])
    def _b64blob(self): return self.varied(B64, 64)


PEM = {  # how a body begins, and how many full lines and what last line follow
    "rsa": ("MIIEowIBAAKCAQEA", 24, 36), "rsa4": ("MIIJKQIBAAKCAgEA", 49, 20), "pkcs8": ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ", 25, 24),
    "ec": ("MHcCAQEEI", 2, 36), "ecpk8": ("MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg", 2, 56), "ed": ("MC4CAQAwBQYDK2VwBCIEI", 0, 64),
    "ssh": ("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW", 5, 28), "sshrsa": ("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdzc2gtcn", 36, 44),
    "pgp": ("lQPGBGc", 18, 40), "dsa": ("MIIBuwIBAAKBgQ", 9, 20), "enc": ("MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHA", 27, 24), "ppk": ("AAAAI", 0, 48),
}


def pem(maker, name):
    head, full, last = PEM[name]
    width = 70 if name.startswith("ssh") else 64
    if full == 0:
        return [head + maker.varied(B64, last - len(head))]
    lines = [maker.varied(B64, width) for _ in range(full)] + [maker.s(B64, last - 1 - maker.r.randrange(2)).ljust(last, "=")]
    lines[0] = head + lines[0][len(head):]
    return lines


def fill(template, maker):
    """The text, and the secrets' spans in bytes."""
    pieces = []  # (text, secret?)
    at = 0
    for match in re.finditer(r"([«‹])([\w.]+?)(?:/(\w+))?(?::([^»›]*))?[»›]", template):
        pieces.append((template[at:match.start()], False))
        at = match.end()
        secret, kind, option, indent = match[1] == "«", match[2], match[3], match[4]
        if kind.startswith("pem."):
            lines = pem(maker, kind[4:])
            if option == "cut":
                lines = lines[:3]
            joint = {"esc": "\\n", "esc2": "\\\\n", "one": "", "sp": " ", "crlf": "\\r\\n"}.get(option, "\n" + (indent or "").replace("_", " "))
            if option == "one":
                pieces.append(("".join(lines), secret))
            else:
                for i, line in enumerate(lines):
                    if i:
                        pieces.append((joint, False))
                    pieces.append((line, secret))
        else:
            pieces.append((getattr(maker, "_" + kind)(), secret))
    pieces.append((template[at:], False))
    text, spans = bytearray(), []
    for piece, secret in pieces:
        if not secret:
            piece = piece.replace("⏎", "\n").replace("⇥", "\t")
        start = len(text)
        text += piece.encode()
        if secret:
            spans.append([start, len(text)])
    return text.decode(), spans


def contexts():
    found = {}
    for module in (weak, a, b, clean):
        for category, block in module.LINES.items():
            found.setdefault(category, []).extend(line for line in block.strip("\n").split("\n") if line.strip())
    return found


def samples():
    seen = set()
    for category, lines in contexts().items():
        for line in lines:
            copies = COPIES.get(category, 2)
            if category == "clean" and "‹" not in line:
                copies = 1
            for copy in range(copies):
                text, spans = fill(line, Maker(f"{SEED}/{category}/{line}/{copy}"))
                if text in seen:
                    continue
                seen.add(text)
                yield {"half": "unseen", "category": category, "text": text, "secrets": spans}
