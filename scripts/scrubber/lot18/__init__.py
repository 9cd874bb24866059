"""Lot 18: contexts in frames, written by somebody who knew the rules, before the misses of lot 17 were looked at.

The form is lot 17's: «kind» is a secret, ‹kind› a filler, ⏎ a newline, ⇥ a tab. New are passwords and people, the
contexts, and the frames: what logs, builds and clusters print before, above and below a line. What is made follows from
SEED.
"""
import re

import lot17

from . import clean, data, people, words

SEED = 20261128
COPIES = {"clean": 3}
FRAMED = 0.6

NOUN = """harvest lantern copper maple tundra velvet orbit puffin saffron quartz meadow falcon nectar glacier bramble
sierra walnut pigeon tempo magnet basalt juniper otter cobalt ferry thistle raven cinder willow ember""".split()
SLANG = """trustno mustang ninja dakota ranger cowboy maverick yankee lakers steelers packers warcraft pokemon zelda
naruto goku sephiroth gizmo buster biscuit muffin peanut cookie snoopy tweety garfield""".split()

BIP39 = """abandon ability absorb abstract accuse actor adjust advice airport album alcohol amateur anchor ankle apology
arctic argue armor arrest artist athlete auction average bamboo barrel basket beauty blanket bridge bubble cabbage camera
canvas carbon casino catalog ceiling century cherry circle citizen client cluster coconut coral cradle cricket""".split()

# What stands before a line.
BEFORE = """
{}
{}
‹iso› ERROR ‹svc›: {}
‹day› ‹time›,‹n3› - ‹svc› - WARNING - {}
‹syslog› ‹node› ‹svc›[‹n5›]: {}
[‹time›] {}
‹svc›-1  | {}
‹svc›-‹low10›-‹low5› ‹svc› {}
#‹n2› 3.‹n3› {}
‹iso› [info] {}
time="‹iso›" level=error msg={}
W‹n4› ‹time›.‹n3›456       1 controller.go:‹n3›] {}
+ {}
$ {}
> {}
    {}
E   {}
[Pipeline] sh⏎{}
##[error]{}
--- stderr ---⏎{}
Traceback (most recent call last):⏎  File "/app/‹word›.py", line ‹n3›, in main⏎RuntimeError: {}
at ‹word› (/srv/app/src/‹word›.ts:‹n3›:‹n2›)⏎{}
""".strip("\n").split("\n")

# What stands above and below.
AROUND = """
{}
{}
{}
‹iso› starting ‹svc› ‹ver›⏎{}⏎‹iso› exit status 1
Run make deploy⏎{}⏎make: *** [Makefile:‹n2›: deploy] Error 2
{}⏎npm error code ELIFECYCLE⏎npm error errno 1
{}⏎⏎Process finished with exit code 137
==> ‹word›.log <==⏎{}
{}⏎command terminated with exit code ‹n2›
# ‹word›, ‹day›⏎{}
NODE_ENV=production⏎{}⏎PORT=‹port›
{}⏎    at process.processTicksAndRejections (node:internal/process/task_queues:‹n2›:5)
""".strip("\n").split("\n")


class Maker(lot17.Maker):
    """The kinds of lot 17, with passwords, people and hosts of its own."""

    def human(self, sym="!@#$%^&*-_=+?."):
        word, other, sign = self.c(NOUN), self.c(SLANG), self.c(sym)
        return self.r.choice([
            lambda: word.capitalize() + sign + self.s("0123456789", 3),
            lambda: other + self.s("0123456789", 2) + sign,
            lambda: other.capitalize() + word.capitalize() + self.s("0123456789", 2),
            lambda: word + "." + other + "." + self.s("0123456789", 2) if "." in sym else word + "_" + other + self.s("0123456789", 2),
            lambda: self.c(["P@ss", "Pa55", "S3cr3t", "L0gin", "Adm1n", "W3lcome"]) + (sign if sign != "@" else "-") + self.s("0123456789", 4),
            lambda: word.upper() + self.s("0123456789", 4) + sign,
            lambda: word[:4].capitalize() + sign + other[:4] + self.s("0123456789", 3),
        ])()

    def gen(self, sym="!@#$%^&*-_=+?."):
        alnum = lot17.ALNUM
        return self.r.choice([
            lambda: self.varied(alnum, self.c([10, 14, 18, 22, 28, 32])),
            lambda: self.c(alnum) + self.varied(alnum + sym, self.c([9, 13, 17, 22])) + self.c(alnum),
            lambda: "-".join(self.varied(lot17.LOW + lot17.UP + lot17.DIG, 4) for _ in range(4)),
            lambda: "-".join(self.r.sample(NOUN, 3)) + "-" + self.s("0123456789", 3),
        ])()

    def bip39(self, count): return " ".join(self.r.sample(BIP39, count))
    def _bip12(self): return self.bip39(12)
    def _bip24(self): return self.bip39(24)
    def _low26(self): return self.varied(lot17.LOW + lot17.DIG, 26)
    def _word(self): return self.c("orders intake ledger beacon mosaic tracker planner gatehouse archive pilot".split())
    def _node(self): return self.c("ip-10-4-7-21 worker-03 kube-node-b web2 edge-fra1 runner-7zq".split())
    def _user(self): return self.c("mreyes hnguyen ci-runner svc_ledger dbowner postgres sysadmin grafana lena.vogt etl web_rw tkowal".split())
    def _host(self): return self.c("pg1.example.net 192.168.40.12 db.acme.test mariadb.svc.cluster.local broker.example.org vault.corp.test files.example.com 10.0.12.8".split())
    def _db(self): return self.c("ledger tracker planner mosaic warehouse_dw auth_prod".split())
    def _svc(self): return self.c("ledger-api intake mosaic-worker beacon tracker-web scheduler-x".split())
    def _name(self): return self.c("Amara Bjorn Celine Dario Esther Farid Greta Hana Ivo Jelena Kofi Leona Mircea Nadia".split())
    def _last(self): return self.c("Okafor Lindgren Mercier Bianchi Whitfield Haddad Brandt Sato Petrov Kralj Mensah Duarte".split())
    def _email(self): return self.c(["amara", "g.brandt", "billing", "k.mensah"]) + "@" + self.c(["example.net", "acme.test"])


def contexts():
    found = {}
    for module in (words, data, people, clean):
        for category, block in module.LINES.items():
            found.setdefault(category, []).extend(line for line in block.strip("\n").split("\n") if line.strip())
    return found


def framed(line, maker):
    """A context as it stands in a log or a build's output; what has several lines keeps its own indentation."""
    line = re.sub(r"«dburl\.(\S+?)»", r"\1://‹user›:«pwurl»@‹host›/‹db›", line)
    if maker.r.random() > FRAMED:
        return line
    if "⏎" not in line:
        line = maker.c(BEFORE).replace("{}", line)
    return maker.c(AROUND).replace("{}", line)


def samples():
    seen = set()
    for category, lines in contexts().items():
        for line in lines:
            for copy in range(COPIES.get(category, 2)):
                maker = Maker(f"{SEED}/{category}/{line}/{copy}")
                text, spans = lot17.fill(framed(line, maker), maker)
                if text not in seen:
                    seen.add(text)
                    yield {"half": "unseen", "category": category, "text": text, "secrets": spans}
