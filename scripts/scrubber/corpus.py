#!/usr/bin/env python3
"""Makes the scrubber's second corpus: secrets in context and clean look-alikes, one JSON object a line.

  scripts/scrubber/corpus.py [--seed N] [--half development|held_out|fresh|unseen]

The contexts of templates.py, written before the rules, are split by seed into two halves: rules were tuned with
`development`, then `held_out` was measured for the first time. Only then were its misses looked at and tuned for, and
a new lot of contexts was written, and so on: fresh.py, lot16.py and lot17 have the lots that were looked at since.
`unseen` is the last lot, lot18, which is what is measured now. First measurements, before any of a lot's misses was looked at:

  held_out    0.968 of 836 secrets, 3.8 % of 636 clean lines
  fresh 1     0.986 of 663 secrets, 6.7 % of 630 clean lines
  fresh 2     0.998 of 512 secrets, 4.7 % of 512 clean lines
  fresh 3     0.985 of 544 secrets, 7.4 % of 570 clean lines
  fresh 4     0.975 of 528 secrets, 5.0 % of 584 clean lines
  fresh 5     0.970 of 576 secrets, 8.3 % of 600 clean lines
  fresh 6     0.984 of 512 secrets, 7.7 % of 505 clean lines
  fresh 7     0.984 of 512 secrets, 8.8 % of 510 clean lines
  fresh 8     0.980 of 512 secrets, 3.0 % of 500 clean lines
  fresh 9     0.964 of 640 secrets, 3.8 % of 552 clean lines (rules as for fresh 8; each context once, as from here on)
  fresh 10    0.953 of 512 secrets, 4.0 % of 619 clean lines
  fresh 11    0.955 of 512 secrets, 2.5 % of 475 clean lines
  fresh 12    0.988 of 561 secrets, 2.8 % of 538 clean lines (written by somebody who never saw the rules, as from here on)
  fresh 13    0.972 of 562 secrets, 3.7 % of 596 clean lines
  fresh 14    0.968 of 561 secrets, 2.2 % of 697 clean lines (below the bar: database_url 0.857, basic_auth 0.886,
              ssn 0.943)
  fresh 15    0.977 of 915 secrets, 1.0 % of 732 clean lines (below the bar: password 0.879, basic_auth 0.938)
  lot 16      0.963 of 1015 secrets, 1.5 % of 1081 clean lines (below the bar: the whole, password 0.828,
              database_url 0.921, basic_auth 0.924)
  lot 17      0.953 of 1370 secrets, 0.7 % of 837 clean lines (below the bar: the whole, high_entropy_hex 0.848,
              phone 0.893, password 0.895, private_key 0.909, ssn 0.944)
  unseen      0.984 of 1170 secrets, 1.1 % of 1054 clean lines (below the bar: high_entropy_hex 0.925)

`unseen` was written by somebody who knew the rules, before lot 17's misses were looked at and mended; nothing was tuned
for it since. It says less than lots 12 to 17 do, whose writers never saw the rules.

The lots of fresh.py that were never measured first are those that the writer of the rules made up to find what they
miss; they stand after lot 11 there.

Secrets are random, so nothing that looks like a credential lies in the repository.
"""
import argparse
import base64
import json
import pathlib
import random
import re
import string
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tests/vectors")]
import ed25519  # noqa: E402
import fresh  # noqa: E402
import lot16  # noqa: E402
import lot17  # noqa: E402
import lot18  # noqa: E402
import templates  # noqa: E402

SEED = 20261122
# How often a context is filled in, and of ten how many were held out at first.
COPIES = {"development": (2, 4), "held_out": (2, 4), "fresh": (3, 6)}
HELD_OUT = 6
LOW, UP, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
WORDS = ("abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve "
         "acid acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult "
         "advance advice aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album "
         "alcohol alert alien all alley allow almost alone alpha already also alter always amateur amazing among "
         "zebra zero zone zoo wrist write wrong yard year yellow you young youth wolf woman wonder wood wool word "
         "work world worry worth wrap wreck velvet vendor venture venue verb verify version very vessel veteran").split()
OPEN, CLOSE = "\x01", "\x02"


def base58(data):
    value, text = int.from_bytes(data, "big"), ""
    while value:
        value, digit = divmod(value, 58)
        text = BASE58[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


class Maker:
    """Random text by name: what stands between « » or ‹ › in a context."""

    def __init__(self, rng):
        self.rng = rng

    def s(self, alphabet, length):
        return "".join(self.rng.choice(alphabet) for _ in range(length))

    def bytes(self, length):
        return self.rng.randbytes(length)

    def mixed(self, length):
        return self.s(LOW + UP + DIGITS, length)

    def hex(self, length):
        return self.s("0123456789abcdef", length)

    def b64(self, length):
        return base64.b64encode(self.bytes(length // 4 * 3 - (1 if length in (44, 88, 28, 24) else 0))).decode()

    def url(self, length):
        return self.s(LOW + UP + DIGITS + "-_", length - 1) + self.mixed(1)

    # Sizes in the name: hex32, mixed40, b64_88.
    SIZED = {
        "hex": hex, "mixed": mixed, "url": url, "b64_": b64,
        "HEX": lambda m, n: m.hex(n).upper(), "low": lambda m, n: m.s(LOW + DIGITS, n),
        "abc": lambda m, n: m.s(LOW, n),
        "up": lambda m, n: m.s(UP + DIGITS, n), "b64n": lambda m, n: m.s(LOW + UP + DIGITS + "+/", n),
        "b58_": lambda m, n: m.s(BASE58, n), "b32_": lambda m, n: m.s(UP + "234567", n),
        "digits": lambda m, n: m.rng.choice("123456789") + m.s(DIGITS, n - 1),
        "n": lambda m, n: m.rng.choice("123456789") + m.s(DIGITS, n - 1),
        "words": lambda m, n: " ".join(m.rng.choice(WORDS) for _ in range(n)),
        "colonhex": lambda m, n: ":".join(m.hex(2) for _ in range(n)),
        "colonHEX": lambda m, n: ":".join(m.hex(2).upper() for _ in range(n)),
    }

    def make(self, name):
        named = getattr(self, "_" + name, None)
        if named:
            return named()
        kind, size = re.fullmatch(r"(b\d\d[_n]|[A-Za-z]+)(\d+)", name).groups()
        return self.SIZED[kind](self, int(size))

    # What stands around secrets.
    def _n(self):
        return str(self.rng.randrange(100, 99999))

    def _user(self):
        return self.rng.choice(["bob", "alice", "deploy", "admin", "svc-ci", "root", "app", "j.doe", "backup", "ci"])

    def _host(self):
        return self.rng.choice(["db", "10.1.2.7", "git", "nexus", "srv1", "cache"]) + self.rng.choice(
            ["", ".example.com", ".corp.example.net", ".internal"])

    def _word(self):
        return self.rng.choice(["shop", "orders", "acme", "billing", "prod", "analytics", "users", "web", "intranet"])

    def _date(self):
        return "Nov  3 10:11:%02d" % self.rng.randrange(60)

    def _uuid(self):
        return "-".join(self.hex(n) for n in (8, 4, 4, 4, 12))

    def _HEXsp40(self):
        blocks = [self.hex(4).upper() for _ in range(10)]
        return " ".join(blocks[:5]) + "  " + " ".join(blocks[5:])

    def _sol_pub(self):
        return base58(self.bytes(32))

    def _sol_sig(self):
        return base58(self.bytes(64))

    def _nano60(self):
        return self.rng.choice("13") + self.s("13456789abcdefghijkmnopqrstuwxyz", 59)

    def _digits16nl(self):
        while True:
            text = self.s("123456789", 16)
            if self.luhn(text):
                return text

    # Secrets.
    def _pws(self):
        return self.password("!@#^*-_+.?%=~")

    def _pwu(self):
        return self.password("-_.~!*")

    def password(self, symbols):
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.rng.choice(["Summer", "Dragon", "hunter", "Monkey", "Berlin", "Tr0ub4dor", "letme"]) + self.s(
                symbols, 1) + self.s(DIGITS, self.rng.randrange(2, 5))
        if kind == 1:
            return self.mixed(self.rng.randrange(9, 17))
        if kind == 2:
            return self.mixed(1) + self.s(LOW + UP + DIGITS + symbols, self.rng.randrange(8, 15)) + self.mixed(1)
        return "-".join(self.s(LOW, self.rng.randrange(4, 7)) for _ in range(3)) + self.s(DIGITS, 1)

    def _stripe(self): return "sk" + "_live_" + self.mixed(self.rng.choice([24, 99]))
    def _openai(self): return "sk" + "-proj-" + self.url(60) + "T3Blbk" + "FJ" + self.url(60)
    def _anthropic(self): return "sk" + "-ant-api03-" + self.url(93) + "AA"
    def _sendgrid(self): return "SG" + "." + self.url(22) + "." + self.url(43)
    def _mailgun(self): return "key" + "-" + self.hex(32)
    def _groq(self): return "gsk" + "_" + self.mixed(52)
    def _figma(self): return "figd" + "_" + self.url(40)
    def _notion(self): return "ntn" + "_" + self.s(DIGITS, 11) + self.mixed(35)
    def _linear(self): return "lin" + "_api_" + self.mixed(40)
    def _newrelic(self): return self.hex(36) + "NR" + "AL"
    def _replicate(self): return "r8" + "_" + self.mixed(37)
    def _pplx(self): return "pplx" + "-" + self.mixed(48)
    def _openrouter(self): return "sk" + "-or-v1-" + self.hex(64)
    def _shopify(self): return "shp" + "at_" + self.hex(32)
    def _postman(self): return "PM" + "AK-" + self.hex(24) + "-" + self.hex(34)
    def _square(self): return "EA" + "AA" + self.url(60)
    def _ghp(self): return "gh" + "p_" + self.mixed(36)
    def _gho(self): return "gh" + "o_" + self.mixed(36)
    def _oy2(self): return "oy" + "2" + self.s(LOW + DIGITS, 43)
    def _ghs(self): return "gh" + "s_" + self.mixed(36)
    def _ghpat(self): return "github" + "_pat_" + self.mixed(22) + "_" + self.mixed(59)
    def _glpat(self): return "gl" + "pat-" + self.url(20)
    def _glrt(self): return "GR" + "1348941" + self.url(20)
    def _xoxb(self): return "xo" + "xb-" + self.s(DIGITS, 12) + "-" + self.s(DIGITS, 13) + "-" + self.mixed(24)
    def _xapp(self): return "xa" + "pp-1-A" + self.s(UP + DIGITS, 10) + "-" + self.s(DIGITS, 13) + "-" + self.hex(64)
    def _slackhook(self): return "T" + self.s(UP + DIGITS, 8) + "/B" + self.s(UP + DIGITS, 10) + "/" + self.mixed(24)
    def _npm(self): return "np" + "m_" + self.mixed(36)
    def _pypi(self): return "py" + "pi-AgEIcHlwaS5vcmc" + self.url(150)
    def _hf(self): return "h" + "f_" + self.s(LOW + UP, 34)

    def _discord(self):
        return base64.b64encode(self.s(DIGITS, 18).encode()).decode() + ".G" + self.url(5) + "." + self.url(38)

    def _telegram(self): return self.make("digits10") + ":AA" + self.url(33)
    def _hvs(self): return "hv" + "s.CAES" + "I" + self.url(90)
    def _dckr(self): return "dckr" + "_pat_" + self.url(27)
    def _dop(self): return "do" + "p_v1_" + self.hex(64)
    def _sntrys(self): return "sn" + "trys_eyJ" + self.mixed(80) + "_" + self.mixed(43)
    def _fly(self): return "fm" + "2_lJPE" + self.s(LOW + UP + DIGITS, 120)
    def _kubeadm(self): return self.s(LOW + DIGITS, 6) + "." + self.s(LOW + DIGITS, 16)
    def _sonar(self): return "sq" + "p_" + self.hex(40)
    def _tfe(self): return self.mixed(14) + ".atlas" + "v1." + self.url(67)
    def _akia(self): return "AK" + "IA" + self.s(UP + "234567", 16)
    def _asia(self): return "AS" + "IA" + self.s(UP + "234567", 16)
    def _aws40(self): return self.mixed(1) + self.s(LOW + UP + DIGITS + "+/", 38) + self.mixed(1)
    def _awstoken(self): return "IQoJb3JpZ2luX2Vj" + base64.b64encode(self.bytes(300)).decode()
    def _ses44(self): return "B" + self.s(LOW + UP + DIGITS + "+/", 43)
    def _aiza(self): return "AI" + "za" + self.url(35)
    def _ya29(self): return "ya" + "29.a0" + self.url(140)
    def _gocspx(self): return "GO" + "CSPX-" + self.url(28)
    def _goog1e(self): return "GO" + "OG1E" + self.s(UP + DIGITS, 55)
    def _goog_refresh(self): return "1/" + "/0" + self.url(60)

    def _b64_json(self):
        return base64.b64encode(json.dumps({"type": "service_account", "private_key_id": self.hex(40), "x": self.mixed(90)}).encode()).decode()

    def _azsecret(self): return self.mixed(3) + "8Q~" + self.s(LOW + UP + DIGITS + "_-.", 33) + "z"
    def _sigenc(self): return self.make("b64_44").replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    def _azfunc(self): return self.s(LOW + UP + DIGITS + "-_", 54) + "Az" + "Fu" + self.mixed(6) + "=="
    def _azopenai(self): return self.mixed(52) + "JQQJ99BKAC" + self.s(UP + DIGITS, 5) + "AAABACOG" + self.mixed(4)
    def _azdevops(self): return self.mixed(76) + "AZ" + "DO" + self.mixed(4)
    def _acr(self): return self.s(LOW + UP + DIGITS + "+/", 42) + "+ACR" + self.mixed(6)
    def _basic(self): return base64.b64encode((self._user() + ":" + self._pws()).encode()).decode()

    def _jwt(self):
        part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
        claims = {"sub": self._n(), "iat": 1790000000 + self.rng.randrange(10**6), "name": self._user(), "jti": self.hex(16)}
        return part({"alg": "RS256", "typ": "JWT"}) + "." + part(claims) + "." + self.url(self.rng.choice([43, 342]))

    @staticmethod
    def luhn(digits):
        """What is left over: 0 for a card number."""
        total = 0
        for place, digit in enumerate(reversed(digits)):
            value = int(digit) * (1 + place % 2)
            total += value - 9 if value > 9 else value
        return total % 10

    def numbered(self, prefix, length):
        body = prefix + self.s(DIGITS, length - len(prefix) - 1)
        return next(body + last for last in DIGITS if self.luhn(body + last) == 0)

    def _card(self):
        return self.numbered(self.rng.choice(["4", "51", "54", "55", "6011", "4"]), 16)

    def _cardsp(self): return re.sub(r"(\d{4})(?=\d)", r"\1 ", self._card())
    def _cardda(self): return re.sub(r"(\d{4})(?=\d)", r"\1-", self._card())
    def _amex(self): return self.numbered("37", 15)

    def _ssn(self, join="-"):
        area = self.rng.choice([n for n in range(1, 900) if n != 666])
        return join.join(["%03d" % area, "%02d" % self.rng.randrange(1, 100), "%04d" % self.rng.randrange(1, 10000)])

    def _ssnsp(self): return self._ssn(" ")
    def _ssnbare(self): return self._ssn("")
    def _itin(self): return "9%02d-%02d-%04d" % (self.rng.randrange(100), self.rng.randrange(70, 89), self.rng.randrange(1, 10000))

    def nanp(self):
        return self.rng.choice("23456789") + self.rng.choice("02345678") + self.s(DIGITS, 1), self.rng.choice("23456789") + self.s("02345678", 2), self.s(DIGITS, 4)

    def _us(self): return "-".join(self.nanp())
    def _uspar(self): return "({}) {}-{}".format(*self.nanp())
    def _usdot(self): return ".".join(self.nanp())
    def _usbare(self): return "".join(self.nanp())
    def _e164(self): return "+" + self.rng.choice(["1" + "".join(self.nanp()), "49151" + self.s(DIGITS, 8), "4477" + self.s(DIGITS, 8), "336" + self.s(DIGITS, 8)])
    def _ukmob(self): return "077" + self.s(DIGITS, 2) + " " + self.make("digits6")
    def _deintl00(self): return "0049 30 " + self.make("digits8")
    def _deloc(self): return "030 " + self.make("digits8")
    def _demob(self): return "0151 " + self.make("digits8")
    def _frloc(self): return "06 " + " ".join(self.s(DIGITS, 2) for _ in range(4))
    def _frintl(self): return "+33 6 " + " ".join(self.s(DIGITS, 2) for _ in range(4))
    def _inmob(self): return "+91 98" + self.s(DIGITS, 3) + " " + self.s(DIGITS, 5)
    def _brmob(self): return "+55 11 9" + self.s(DIGITS, 4) + "-" + self.s(DIGITS, 4)
    def _msisdn(self): return "491511" + self.s(DIGITS, 7)
    def _b32sp(self): return " ".join(self.s(LOW + "234567", 4) for _ in range(8))
    def _age(self): return "AGE" + "-SECRET-KEY-1" + self.s("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
    def _wif(self): return self.rng.choice("KL") + self.s(BASE58, 51)
    def _xprv(self): return "xp" + "rv9s21ZrQH143K" + self.s(BASE58, 97)
    def _nsec(self): return "ns" + "ec1" + self.s("qpzry9x8gf2tvdw0s3jn54khce6mua7l", 58)

    def keypair(self):
        secret = self.bytes(32)
        return secret + ed25519.public_key(secret)

    def _sol58(self): return base58(self.keypair())
    def _sol_array_bare(self): return ",".join(str(byte) for byte in self.keypair())
    def _sol_array(self): return "[" + self._sol_array_bare() + "]"

    def body(self, lines):
        """Base64 lines of a key, each marked as secret."""
        raw = base64.b64encode(b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82\x01\x01\x00" + self.bytes(48 * lines - 30)).decode()
        return [OPEN + raw[at:at + 64] + CLOSE for at in range(0, len(raw), 64)]

    def pem_lines(self, header=True, footer=True, label=None, lines=8):
        label = label or self.rng.choice(["RSA PRI", "PRI", "EC PRI"]) + "VATE KEY"
        return ([f"-----BEGIN {label}-----"] if header else []) + self.body(lines) + ([f"-----END {label}-----"] if footer else [])

    def _pem(self): return "\n".join(self.pem_lines())
    def _pem_openssh(self): return "\n".join(self.pem_lines(label="OPENSSH PRI" + "VATE KEY"))
    def _pem_logged(self): return "\n2026-11-03T10:11:12Z web-1  | ".join(self.pem_lines())
    def _pem_bracket(self): return "\n[stderr] ".join(self.pem_lines())
    def _pem_syslog(self): return "\nNov  3 10:11:12 app[812]: ".join(self.pem_lines())
    def _pem_compose(self): return "\nweb_1  | ".join(self.pem_lines())
    def _pem_indent2(self): return "\n  ".join(self.pem_lines())
    def _pem_json(self): return "\\n".join(self.pem_lines())
    def _pem_diff(self): return "\n".join("+" + line for line in self.pem_lines())
    def _pem_numbered(self): return "".join(line if at == 0 else "\n%4d %s" % (12 + at, line) for at, line in enumerate(self.pem_lines()))
    def _pem_nofooter(self): return "\n".join(self.pem_lines(footer=False))
    def _pem_noheader(self): return "\n".join(self.pem_lines(header=False))

    def _pgp(self):
        label = "PGP PRI" + "VATE KEY BLOCK"
        return f"-----BEGIN {label}-----\n\n" + "\n".join(self.body(9)) + f"\n-----END {label}-----"


def fill(template, maker):
    """(text, [(start, end)]): lengths in bytes of UTF-8."""
    text = template.replace("⏎", "\n").replace("⇥", "\t")

    def put(match):
        made = maker.make(match[2])
        if match[1] == "‹" or OPEN in made:
            return made
        return OPEN + made + CLOSE

    marked = re.sub(r"([«‹])(\w+)[»›]", put, text)
    plain, spans, begun = bytearray(), [], None
    for part in re.split(f"([{OPEN}{CLOSE}])", marked):
        if part == OPEN:
            begun = len(plain)
        elif part == CLOSE:
            spans.append([begun, len(plain)])
        else:
            plain += part.encode()
    return plain.decode(), spans


def halves(category, lines, seed):
    """(half, context) of templates.py, split by seed, of fresh.py and of lot16.py."""
    first = lines(templates)
    order = random.Random(f"{seed}/{category}").sample(range(len(first)), len(first))
    held_out = set(order[:len(first) * HELD_OUT // 10])
    yield from (("held_out" if at in held_out else "development", line) for at, line in enumerate(first))
    yield from (("fresh", line) for line in lines(fresh))
    yield from (("fresh", line) for line in lines(lot16))


def corpus(seed=SEED):
    for category in [*templates.SECRETS, "clean"]:
        def lines(module):
            block = module.CLEAN if category == "clean" else module.SECRETS[category]
            return [line for line in block.splitlines() if line]

        for half, template in halves(category, lines, seed):
            for copy in range(COPIES[half][category == "clean"]):
                text, spans = fill(template, Maker(random.Random(f"{seed}/{category}/{template}/{copy}")))
                yield {"half": half, "category": category, "text": text, "secrets": spans}
    yield from ({**sample, "half": "fresh"} for sample in lot17.samples())
    yield from lot18.samples()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--half", choices=["development", "held_out", "fresh", "unseen"])
    given = parser.parse_args()
    for sample in corpus(given.seed):
        if given.half in (None, sample["half"]):
            print(json.dumps(sample, ensure_ascii=True))


if __name__ == "__main__":
    main()
