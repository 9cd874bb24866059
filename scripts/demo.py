#!/usr/bin/env python3
"""The story that scripts/demo tells, once everything is built.

Starts a Solana cluster with a Nano ledger, a market and an indexer on this machine; a build breaks, an agent hears of
it on the mesh, repairs it and is paid; two days of batches, a false one, a challenge. Every amount in it is asked of the two
ledgers after the fact. Standard library only.
"""

import argparse
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from decimal import Decimal
from pathlib import Path

RAW = Decimal(10) ** 30  # raw in one nano
MICRO = Decimal(10) ** 6  # micro-USDC in one USDC
PATIENCE = 120  # seconds that anything may take on a slow machine
ROLES = {"paula": "has a failing build", "arno": "an agent that repairs", "mallory": "an agent that lies"}
HOUSE = "announces what is open"
BOUNTY = "0.5"
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, kill, a closed terminal
PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}  # in either case

MAKEFILE = """CFLAGS = -O0 -Wall -fno-builtin
LDLIBS = -lm

orbit: orbit.c
\t$(CC) $(CFLAGS) -o $@ $< $(LDLIBS)
"""
ORBIT = """#include <math.h>
#include <stdio.h>

/* Kepler's third law: the years that Jupiter needs around the sun, at 5.2 times the earth's distance. */
int main(void) {
    double distance = 5.2;
    printf("Jupiter: %.1f years\\n", sqrt(pow(distance, 3)));
    return 0;
}
"""


class Broken(Exception):
    """The story cannot go on; the text says why and what to do."""


# --- what is printed


COLOURS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m" if COLOURS else text


class Page:
    """Numbered headings and aligned lines."""

    number = 0

    def head(self, text):
        self.number += 1
        print(f"\n{paint('1', f'{self.number}. {text}')}", flush=True)

    @staticmethod
    def line(name, text=""):
        print(f"   {paint('2', f'{name:<10}')} {text}", flush=True)

    @staticmethod
    def plain(text):
        print(f"   {text}", flush=True)

    @staticmethod
    def shell(text):
        print(f"   {paint('36', '$ ' + text)}", flush=True)

    @staticmethod
    def table(head, rows, left=1):
        """A table; the first `left` columns are aligned to the left, the others to the right."""
        widths = [max(len(str(row[at])) for row in [head, *rows]) for at in range(len(head))]
        for number, row in enumerate([head, *rows]):
            cells = [f"{cell:<{width}}" for cell, width in zip(row[:left], widths)]
            cells += [f"{cell:>{width}}" for cell, width in zip(row[left:], widths[left:])]
            text = "   ".join(cells).rstrip()
            print(f"   {paint('2', text) if number == 0 else text}", flush=True)


def short(address):
    return f"{address[:4]}…{address[-4:]}"


def usdc(micro):
    return f"{Decimal(micro) / MICRO:.2f}"


def nano(raw):
    amount = Decimal(raw) / RAW
    whole, fraction = f"{amount:.6f}".split(".")
    return f"{whole}.{fraction.rstrip('0'):0<2}"


# --- processes


class World:
    """The folder, the binaries and the processes of one demo."""

    def __init__(self, folder, binaries, fixed_ports):
        self.folder = folder
        self.binaries = binaries
        self.fixed_ports = fixed_ports
        self.children = []
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.environment = {
            name: value
            for name, value in os.environ.items()
            # What an operator has set for the real thing must not reach into the demo.
            if not name.startswith(("ZX1_", "FIX_", "NANO_", "ANCHOR_")) or name == "ZX1_DEPLOY_DIR"
            # All servers are on this machine, where no proxy leads.
            if name.upper() not in PROXIES
        }
        self.environment["NO_COLOR"] = "1"

    def port(self, wanted):
        """The wanted port, or 0 (any) when it is taken or nobody needs to know it."""
        if not self.fixed_ports:
            return "0"
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                return "0"
        return str(wanted)

    def start(self, name, program, *arguments, **variables):
        """Starts a server and returns its first line of standard output, which is JSON."""
        log = open(self.logs / f"{name}.log", "wb")
        try:
            child = subprocess.Popen(
                [self.binaries / program, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.folder,
                env=self.environment | variables,
                # Ctrl-C is for the story, which then ends the servers one after the other.
                start_new_session=True,
            )
        except OSError as error:
            raise self.unstartable(program, error) from None
        self.children.append((name, child))
        # It may hang, or close its output without a word.
        ready, _, _ = select.select([child.stdout], [], [], PATIENCE)
        line = child.stdout.readline() if ready else b""
        # What it says later is kept, and must not stop it.
        subprocess.Popen(["cat"], stdin=child.stdout, stdout=log, start_new_session=True)
        try:
            return json.loads(line)
        except ValueError:
            raise Broken(f"{program} did not start. {self.tail(name)}") from None

    def unstartable(self, program, error):
        """What to say of a program that the system does not start: most often it is not there."""
        todo = "Run scripts/demo again; with --keep the logs stay."
        if "/" not in program:
            todo = "Set ZX1_BIN_DIR to the folder of the built binaries, or unset it: then scripts/demo builds them."
        return Broken(f"{self.binaries / program} cannot be started: {error.strerror}. {todo}")

    def tail(self, name):
        log = self.logs / f"{name}.log"
        lines = log.read_text(errors="replace").splitlines()[-12:] if log.exists() else []
        return "\n".join([f"The end of {log}:", *lines])

    def run(self, program, *arguments, cwd=None, good=(0,), streams="out", **variables):
        """Runs a command and returns its standard output, or both streams."""
        command = [str(self.binaries / program) if "/" not in program else program, *map(str, arguments)]
        limit = PATIENCE * 3
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                cwd=cwd or self.folder,
                env=self.environment | variables,
                timeout=limit,
                check=False,
            )
        except OSError as error:
            raise self.unstartable(program, error) from None
        except subprocess.TimeoutExpired:
            raise Broken(
                f"{program} {' '.join(map(str, arguments))}: not done after {limit} s. "
                "Run scripts/demo again when the machine is less busy; with --keep the servers' logs stay."
            ) from None
        if done.returncode not in good:
            said = "\n".join(text for text in [done.stdout.strip(), done.stderr.strip()] if text)
            raise Broken(f"{program} {' '.join(map(str, arguments))}: exit code {done.returncode}\n{said}")
        return done.stdout + done.stderr if streams == "both" else done.stdout

    def alive(self):
        for name, child in self.children:
            if child.poll() is not None:
                raise Broken(f"{name} ended with exit code {child.returncode}. {self.tail(name)}")

    def stop(self):
        for _, child in reversed(self.children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
            try:
                child.wait(timeout=30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def until(what, world, condition):
    """Waits for a condition; nothing here sleeps for its own sake."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = condition()
        if found:
            return found
        world.alive()
        if time.monotonic() > deadline:
            raise Broken(f"Waited {PATIENCE} s in vain until {what}. The logs are in {world.logs}.")
        time.sleep(0.05)


def ask(url, body=None, method=None):
    """A JSON answer over HTTP; None for 404."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise Broken(f"{url} answers {error.code}: {error.read().decode(errors='replace')[:300]}") from None
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise Broken(f"{url} does not answer: {error}") from None


# --- the two ledgers


class Ledgers:
    """Reads both ledgers themselves, not what a server says of them."""

    def __init__(self, environment):
        self.solana = environment["rpc_url"]
        self.nano = environment["nano_rpc_url"]
        self.mint = environment["usdc_mint"]

    def rpc(self, method, *parameters):
        answer = ask(self.solana, {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(parameters)})
        if "error" in answer:
            raise Broken(f"{method} at {self.solana}: {answer['error']['message']}")
        return answer["result"]

    def usdc(self, owner):
        """Micro-USDC of a wallet."""
        found = self.rpc(
            "getTokenAccountsByOwner",
            owner,
            {"mint": self.mint},
            {"encoding": "jsonParsed", "commitment": "confirmed"},
        )
        accounts = [account["account"]["data"]["parsed"]["info"] for account in found["value"]]
        return sum(int(account["tokenAmount"]["amount"]) for account in accounts)

    def raw(self, account):
        """Raw of a Nano account, received or on its way."""
        answer = ask(self.nano, {"action": "account_balance", "account": account})
        return int(answer["balance"]) + int(answer.get("receivable", answer.get("pending", "0")))

    def faucet(self, account, amount):
        answer = ask(self.nano, {"action": "faucet", "account": account, "amount": str(int(amount * RAW))})
        if "error" in answer:
            raise Broken(f"The Nano ledger's faucet refuses: {answer['error']}")


class Party:
    """One who has a key, an agent id on Solana and a Nano account of the same key."""

    def __init__(self, world, environment, market, name, wallet):
        self.world, self.name, self.wallet = world, name, wallet
        self.home = world.folder / name
        self.home.mkdir()
        self.market = market
        self.variables = {
            "HOME": str(self.home),
            "ZX1_HOME": str(self.home / "zx1"),
            "ZX1_URL": environment["rpc_url"],
            "ZX1_KEYPAIR": wallet["keypair"],
            "FIX_HOME": str(self.home / "fix"),
            "FIX_KEY": wallet["keypair"],
            "FIX_SERVER": market,
            "FIX_CLUSTER": environment["rpc_url"],
            "FIX_NANO_NODE": environment["nano_rpc_url"],
            "FIX_NANO_NETWORK": "dev",
        }
        self.mint = ""
        self.nano = ""

    def zx1(self, *arguments, good=(0,), **variables):
        said = self.world.run(
            "zx1", "--output", "json", *arguments, good=good, **(self.variables | variables)
        )
        return json.loads(said) if said.strip() else None

    def lines(self, *arguments):
        """Of a command that prints one object a line."""
        said = self.world.run("zx1", "--json", *arguments, **self.variables)
        return [json.loads(line) for line in said.splitlines() if line.startswith("{")]

    def fix(self, *arguments, cwd=None, **variables):
        return self.world.run("fix", *arguments, cwd=cwd, **(self.variables | variables))

    def register(self):
        """On Solana: the agent, its key, its stake, its lease."""
        made = self.zx1(
            "register", "--name", self.name, "--uri", f"https://example.org/{self.name}.json", "--yes"
        )
        self.mint = made["agent"]
        # One key for everything: a wallet may list itself.
        self.zx1("keys", "add", self.wallet["keypair"], "--scopes", "pay,batch,deal,peer", "--yes")
        self.zx1("stake", "lock", "30", "--yes")
        self.zx1("lease", "pay", "--epochs", "4", "--yes")

    def folder(self):
        """Where the agent's log and node keep their files."""
        return self.home / "zx1" / "agents" / self.mint

    def node(self, bootstrap=None):
        """Starts the agent's node; where others reach it."""
        begin = ["--bootstrap", bootstrap] if bootstrap else []
        ready = self.world.start(
            f"node-{self.name}", "zx1", "--agent", self.mint, "node", "run", "--api", "127.0.0.1:0", "--no-mdns",
            "--listen", "/ip4/127.0.0.1/tcp/0", "--name", self.name, *begin, **self.variables,
        )
        listening = until("a node listens", self.world, lambda: self.zx1("node", "status")["identity"]["listening"])
        return f"{listening[0]}/p2p/{ready['peer']}"

    def is_in_mesh(self):
        return any(len(peer["mesh"]) == 3 for peer in self.zx1("node", "peers"))

    def account(self, indexer):
        """Batches from now on, and the Nano account of the same key."""
        # From today on batches account for what it does.
        self.zx1("batch", "open", "--yes")
        # The Nano account of the same key; the record that binds both is public.
        record = self.home / "binding.json"
        self.nano = self.zx1("bind", "--file", record)["nano"]
        ask(f"{indexer}/v1/bindings", json.loads(record.read_text()), "PUT")

    def stake(self):
        """Micro-USDC that stand for the agent in all its eras, read from their accounts on chain."""
        return sum(era["stake_micro_usdc"] for era in self.zx1("stake", "show")["eras"])


# --- the story


class Story:
    """One run of it. Each chapter reads from the ledgers what it tells."""

    def __init__(self, world, page):
        self.world, self.page = world, page
        self.make = shutil.which("make")
        must(self.make and shutil.which("cc"), "make and cc are not here; run scripts/setup, which installs them.")

    def servers(self):
        world, page = self.world, self.page
        page.head("Two ledgers, three servers and a node of the mesh, all on this machine")
        self.environment = environment = world.start(
            "localnet", "zx1-localnet", "--state", world.folder / "chain", "--json",
            "--port", world.port(8899), "--control-port", world.port(8897),
            "--nano-port", world.port(7076), "--nano-ws-port", world.port(7078),
        )
        self.ledgers = Ledgers(environment)
        self.wallets = [wallet for wallet in environment["wallets"] if wallet["name"].startswith("wallet-")]
        self.house = Party(world, environment, "", "market", self.wallets[3])
        self.parties = [
            Party(world, environment, "", name, wallet) for name, wallet in zip(ROLES, self.wallets)
        ]
        self.paula, self.arno, self.mallory = self.parties
        self.first = self.purses()
        self.house.nano = json.loads(self.house.fix("--json", "wallet", "balance"))["address"]
        settings = world.folder / "market.toml"
        settings.write_text(
            "[nano]\n"
            f"ledger = {json.dumps(environment['nano_rpc_url'])}\n"
            f"ws = {json.dumps(environment['nano_ws_url'])}\n"
            'network = "dev"\n'
            f"platform_address = {json.dumps(self.house.nano)}\n"
            # As many as the usual limit of open files allows.
            "[limits]\nconnections = 500\nstreams = 250\n"
        )
        # Through the node of an agent of its own it announces what is open.
        self.house.register()
        self.mesh = self.house.node()
        self.market = world.start(
            "market", "fix-server", "--config", settings, "--data", world.folder / "market-data",
            "--bind", "127.0.0.1", "--port", world.port(8000), "--mesh-node", self.house.folder(),
        )["url"]
        for party in self.parties:
            party.market = party.variables["FIX_SERVER"] = self.market
        self.indexer = world.start(
            "indexer", "zx1-indexer", "--rpc", environment["rpc_url"], "--ws", environment["ws_url"],
            "--nano", environment["nano_rpc_url"], "--market", self.market, "--data", world.folder / "index",
            "--bind", "127.0.0.1", "--port", world.port(8910),
        )["url"]
        self.relay = world.start(
            "relay", "zx1-relay", "--host", "127.0.0.1", "--port", world.port(6667), "--data", world.folder / "relay-data",
        )["url"]
        for party in self.parties:
            party.variables["ZX1_RELAY"] = self.relay
        page.line("Solana", f"{environment['rpc_url']}   five programs, SATI, a mint that stands for USDC")
        page.line("Nano", f"{environment['nano_rpc_url']}   real blocks and work, play money")
        page.line("market", f"{self.market}   relays signed contracts, holds their escrow")
        page.line("indexer", f"{self.indexer}   rebuilds both ledgers, serves the explorer")
        page.line("mesh", f"{self.mesh.split('/p2p/')[0]}   the market's node announces what is open")
        page.line("relay", f"{self.relay}   channels in which agents meet")

    def owners(self):
        page, ledgers = self.page, self.ledgers
        page.head("Four owners register agents, list a key, stake 30 USDC each and pay four days of lease")
        rows = []
        for party in self.parties:
            party.register()
            party.account(self.indexer)
            ledgers.faucet(party.nano, 2)
            purse = usdc(ledgers.usdc(party.wallet["address"]))
            rows.append([party.name, ROLES[party.name], short(party.mint), usdc(party.stake()), purse])
        house = self.house
        purse = usdc(ledgers.usdc(house.wallet["address"]))
        rows.append([house.name, HOUSE, short(house.mint), usdc(house.stake()), purse])
        self.page.table(["", "", "agent", "stake", "wallet"], rows, left=3)
        self.nano_first = self.nanos()
        # It hears the market's node by the time that something breaks.
        self.arno.node(self.mesh)
        self.meeting()

    def meeting(self):
        """Two agents in a channel; the second one reads what was said before it came."""
        offer = "I repair builds; my agent listens on the mesh."
        self.arno.zx1("chat", "say", "#general", offer)
        said = self.paula.lines("chat", "listen", "#general", "--count", "1")
        heard = next((it for it in said if it.get("content") == offer), None)
        must(heard is not None, "what arno says in the channel reaches paula")
        self.page.line("#general", "paula comes to the relay's channel and reads what was said there:")
        self.page.line("", f"{heard['from_name']} ({heard['from']}): {heard['content']}")

    def purses(self):
        """Micro-USDC of the four wallets and the treasury."""
        owners = {party.name: party.wallet["address"] for party in [*self.parties, self.house]}
        owners["treasury"] = self.environment["treasury"]
        return {name: self.ledgers.usdc(owner) for name, owner in owners.items()}

    def nanos(self):
        """Raw of the three parties and the market."""
        return {party.name: self.ledgers.raw(party.nano) for party in [*self.parties, self.house]}

    def breakage(self):
        page, world = self.page, self.world
        page.head("A build breaks: somebody took -lm out of the Makefile")
        self.project = self.paula.home / "orbit"
        self.project.mkdir()
        (self.project / "orbit.c").write_text(ORBIT)
        makefile = self.project / "Makefile"
        makefile.write_text(MAKEFILE)
        world.run(self.make, cwd=self.project)
        (self.project / "orbit").unlink()
        makefile.write_text(MAKEFILE.replace("LDLIBS = -lm", "LDLIBS ="))
        page.shell("make")
        for line in world.run(self.make, cwd=self.project, good=(2,), streams="both").splitlines()[-3:]:
            page.plain(line)

    def repair(self):
        page, environment = self.page, self.environment
        page.head(f"paula posts {BOUNTY} nano; arno hears of it on the mesh and finds the fault; paula's sandbox tries the fix")
        until("the two nodes have found each other", self.world, self.arno.is_in_mesh)
        self.world.start(
            "arno", "fix", "--json", "--server", self.market, "--key", self.arno.wallet["keypair"],
            "--agent-id", self.arno.mint, "--cluster", environment["rpc_url"],
            "agent", "--mesh", "--node", environment["nano_rpc_url"], "--network", "dev", **self.arno.variables,
        )
        page.shell(f"fix --market --allow own_command --bounty {BOUNTY} make")
        said = self.paula.fix(
            "--json", "--yes", "--market", "--allow", "own_command", "--agent-id", self.paula.mint, "--bounty", BOUNTY, "make",
            cwd=self.project,
        )
        self.ended = tell(page, [json.loads(line) for line in said.splitlines()], self.heard)
        page.shell("./orbit")
        page.plain(self.world.run(str(self.project / "orbit"), cwd=self.project).strip())

    def heard(self, contract):
        """How arno came to know a contract, as its agent said."""
        lines = (self.world.logs / "arno.log").read_text(errors="replace").splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        for event in events:
            if event.get("contract") == contract and event["event"] == "announced":
                must(event["by"] == self.house.mint, f"Announced by a stranger: {json.dumps(event)}")
                return f"arno's node hears it on the mesh, announced by the market's ({short(event['by'])})"
        return "arno finds it in the market's list"

    def payment(self):
        page, before, ended = self.page, self.nano_first, self.ended
        page.head("The escrow pays in Nano, and anybody can check the signed transcript offline")
        due = {"arno": ended["to_agent"], "market": ended["to_platform"], "paula": "-" + ended["cost"]}
        due = {name: int(Decimal(amount) * RAW) for name, amount in due.items()}

        def settled():
            now = self.nanos()
            return now if all(now[name] - before[name] == change for name, change in due.items()) else None

        now = until("the escrow has paid to the raw what the contract says", self.world, settled)
        page.table(
            ["nano", "before", "after", "change"],
            [[name, nano(before[name]), nano(now[name]), signed(nano, now[name] - before[name])] for name in due],
        )
        page.shell(f"fix verify {ended['contract']}")
        page.plain(self.paula.fix("verify", ended["contract"]).strip().splitlines()[0])

    def feedback(self):
        page, paula, arno = self.page, self.paula, self.arno
        page.head("What they say of each other goes on chain")
        conversation = until("both logs hold both ratings", self.world, lambda: rated(paula, arno))
        paula.zx1("attest", "submit", "--conversation", conversation, "--about", arno.mint, "--yes")
        rating = paula.zx1("attest", "show", "--conversation", conversation, "--about", arno.mint,
                           "--by", paula.mint)
        page.line("rating", f"{score(rating)} of arno by paula, at SATI, signed by both: {short(rating['address'])}")
        text = f"orbit builds again: contract {self.ended['contract']}"
        index = paula.zx1("feedback", "submit", text, "--yes")["index"]
        shown = paula.zx1("feedback", "show", index)
        page.line("log", f"entry {shown['index']} of the feedback log: {shown['text']}")

    def batches(self):
        page, mallory, arno = self.page, self.mallory, self.arno
        page.head("A day later every agent commits to what it signed; mallory hides an offer")
        self.offer = mallory.home / "offer.cbor"
        mallory.zx1("envelope", "make", "propose", "--to", arno.mint, "--value", "250",
                    "--content", "I build it for you", "--out", self.offer)
        arno.zx1("log", "append", self.offer)
        self.travel("--epochs", "1")
        rows = []
        for party in self.parties:
            # Mallory's batch comes from a log that never saw her own offer: another folder, the same key.
            log = {"ZX1_HOME": str(mallory.home / "forgetful")} if party is mallory else {}
            epoch = party.zx1("--agent", party.mint, "batch", "submit", "--data", self.indexer, "--yes", **log)["epoch"]
            shown = party.zx1("--agent", party.mint, "batch", "show", "--all", "--data", self.indexer)
            batch = next(batch for batch in shown["batches"] if batch["epoch"] == epoch)
            rows.append([party.name, batch["batch_hash"][:16] + "…", batch["data"], epoch, batch["log_len"]])
        page.table(["batch of", "hash", "data", "epoch", "messages"], rows, left=3)

    def travel(self, *how):
        self.world.run("zx1-localnet", "time", *how, "--state", self.world.folder / "chain")

    def challenge(self):
        page, arno = self.page, self.arno
        page.head("arno holds the signed offer, and puts up 5 USDC that the batch is false")
        before = (self.purses(), {party.name: party.stake() for party in self.parties})
        claim = arno.home / "challenge.json"
        found = arno.zx1("challenge", "find", self.offer, "--data", self.indexer, "--out", claim)["claims"][0]
        page.line("hidden", found["record"])
        challenge = arno.zx1("challenge", "submit", claim, "--yes")["challenges"][0]["challenge"]
        # The window in which the record could have been shown.
        self.travel("--epochs", "2")
        self.travel("--slots", "1")
        resolved = arno.zx1("challenge", "resolve", challenge, "--yes")
        must(resolved["succeeded"], "The challenge did not succeed.")
        page.line("later", "two days on, nobody has shown the record: mallory's stake is slashed, a fifth of it to arno")
        after = (self.purses(), {party.name: party.stake() for party in self.parties})
        rows = [
            [name, usdc(before[0][name]), usdc(after[0][name]), signed(usdc, after[0][name] - before[0][name]),
             *([usdc(before[1][name]), usdc(after[1][name])] if name in before[1] else ["", ""])]
            for name in ["arno", "mallory", "treasury"]
        ]
        page.table(["USDC", "before", "after", "change", "stake before", "after"], rows)
        gain = {name: after[0][name] - before[0][name] for name in after[0]}
        due = {"paula": 0, "arno": 6_000_000, "mallory": 0, "market": 0, "treasury": 24_000_000}
        must(gain == due, f"Wrong: {gain}.")
        must(after[1] == {"paula": 30_000_000, "arno": 30_000_000, "mallory": 0}, f"Wrong: {after[1]}.")

    def end(self):
        page, indexer = self.page, self.indexer
        page.head("What it came to, read from both ledgers")
        purses, nanos = self.purses(), self.nanos()
        stakes = {party.name: party.stake() for party in [*self.parties, self.house]}
        rows = [
            [name, usdc(self.first[name]), usdc(purses[name]), usdc(stakes[name]) if name in stakes else "",
             nano(self.nano_first[name]) if name in nanos else "", nano(nanos[name]) if name in nanos else ""]
            for name in [*stakes, "treasury"]
        ]
        total = [sum(self.first.values()), sum(purses.values()), sum(stakes.values())]
        rows.append(["all", *map(usdc, total), nano(sum(self.nano_first.values())), nano(sum(nanos.values()))])
        page.table(["", "USDC at first", "now", "staked", "nano at first", "now"], rows)
        must(total[0] == total[1] + total[2], "USDC were lost or made.")
        must(sum(self.nano_first.values()) == sum(nanos.values()), "Nano were lost or made.")
        self.follow()
        audit = self.paula.zx1("audit", "--indexer", indexer)
        page.shell(f"zx1 audit --indexer {indexer}")
        page.plain(f"{audit['accounts']} accounts compared with the chain, {len(audit['differences'])} differences")

    def follow(self):
        """Waits until the explorer shows the end: the stake that is gone and the contract that is paid."""
        def shown():
            agent = ask(f"{self.indexer}/v1/agents/{self.mallory.mint}")
            contract = ask(f"{self.indexer}/v1/contracts/{self.ended['contract']}")
            gone = agent and agent["agent"]["staked_micro_usdc"] == "0"
            return gone and contract
        until("the explorer shows it", self.world, shown)


def must(holds, text):
    if not holds:
        raise Broken(text)


def signed(show, amount):
    return f"{'+' if amount >= 0 else '-'}{show(abs(amount))}"


def score(rating):
    return f"{json.loads(rating['content'])['score']:+}"


def tell(page, events, heard):
    """What fix reported, in a few lines; returns the last word about the contract."""
    contract = None
    for event in events:
        match event["event"]:
            case "posted":
                contract = event["contract"]
                page.line("contract", contract)
            case "paying":
                page.line("escrow", f"{event['amount']} nano, bounty and bond, to {short(event['address'])}")
                page.line("mesh", heard(contract))
            case "answered":
                page.line("arno reads", event["command"])
            case "proposal":
                page.line("proposal", event["explanation"])
            case "verified" if event["passed"]:
                page.line("sandbox", f"{event['command']}: exit code {event['exit_code']}")
            case "changes":
                for change in event["changes"]:
                    lines = (change["diff"] or "").splitlines()
                    for line in (line for line in lines if line.startswith(("-", "+"))):
                        page.line("change", f"{Path(change['path']).name}: {line}")
            case "ended":
                must(event["fixed"], f"The contract ended without a fix: {json.dumps(event)}")
                page.line("outcome", event["state"])
                return event
    raise Broken("fix ended without a contract: " + json.dumps(events[-1:]))


def rated(paula, arno):
    """The conversation in which both have rated each other, once both logs hold both ratings."""
    logs = [party.zx1("log", "list")["entries"] for party in (paula, arno)]
    ratings = [[entry["conversation"] for entry in log if entry["type"] == "feedback"] for log in logs]
    return ratings[0][0] if [len(found) for found in ratings] == [2, 2] else None


def stay(world, story):
    """Until Ctrl-C."""
    print(f"\n   {paint('1', 'Explorer: ' + story.indexer)}")
    print("   Everything goes on running; Ctrl-C ends it. arno waits for your failing command:")
    print(f"     FIX_SERVER={story.market} {world.binaries / 'fix'} gcc m.c -o m", flush=True)
    while True:
        world.alive()
        time.sleep(0.5)


def deaf():
    """From here on no signal but SIGKILL is heard: a server that is left behind holds its port."""
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)


def end(number, _):
    """Ends the story at the first signal; the next ones must not keep it from ending the servers."""
    deaf()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def listen():
    for number in ENDS:
        # Who starts it with nohup, or from a script with &, wants the signal ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)


def main():
    arguments = argparse.ArgumentParser(prog="scripts/demo")
    arguments.add_argument("--once", action="store_true", help="end after the story")
    arguments.add_argument("--keep", action="store_true", help="keep the folder with keys, ledgers and logs")
    arguments.add_argument("--binaries", type=Path, required=True, help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="zx1-demo-"))
    world = World(folder, chosen.binaries.resolve(), fixed_ports=not chosen.once)
    listen()
    try:
        began = time.monotonic()
        story = Story(world, Page())
        for chapter in [
            story.servers, story.owners, story.breakage, story.repair, story.payment, story.feedback,
            story.batches, story.challenge, story.end,
        ]:
            chapter()
        print(f"\n   Told in {time.monotonic() - began:.0f} s.", flush=True)
        if not chosen.once:
            stay(world, story)
    except Broken as broken:
        print(f"\nzx1: error: the demo stopped. {broken}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
        return 130 if chosen.once else 0
    finally:
        deaf()
        world.stop()
        if chosen.keep:
            print(f"zx1: kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
