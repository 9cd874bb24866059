"""Looks for moves that nobody thought of: every short plan of a liar's coalition against a finder that answers with
its best time, and every short sequence of two attackers against an honest agent; then random games."""

import random
from fractions import Fraction
from functools import partial
from itertools import combinations, combinations_with_replacement, product

from game import BID, BURNT, DOUBLE_BID, EPOCH, SELECTION, SOL, TREASURY, USDC, Claim, Draft, Message, Refused, claims
from liars import Liar
from players import HonestAgent, Player, Table, clean, play
from strangers import AnsweringFinder, Bystander, Copier, Finder, Fisher, Frivolous, FrontRunner
from statements import COALITION, EFFORT, KEPT, SOL_PRICE, lies, percent, usdc

BEFORE = (
    "cover old", "cover last", "weak cover", "ask old", "ask older", "ask last", "begin", "top up", "sell to self",
)  # fmt: skip
AFTER = ("double bid", "same claim", "other claim", "own draft", "settle asks", "top up", "sell to self")
TIMES = (100, 110_000, 431_000)


class PlanningLiar(Liar):
    """Carries out one plan before anybody looks and another when a finder shows up. What it has against itself it
    answers in the last slot, unless it is caught."""

    planted = True
    batches = 3
    deals = 8

    def __init__(self, before, after, kind="ACCEPT"):
        super().__init__()
        self.kind = kind
        self.before, self.after = before, after
        self.used = 0
        self.draft = None
        self.reacted = False

    def start(self, table):
        super().start(table)
        # The two older batches are past the time when leaves can be asked for; only the false one need be served.
        for batch in table.batches[:-1]:
            batch.public.clear()
        lie = table.lies[0] = table.lies[0]._replace(kind=self.kind)
        table.last.arrays[(BID, lie.name)] = (lie.value + 1,)

    def caught(self, table):
        return bool(self.strangers(table))

    def answers(self, table, challenge):
        own = challenge.owner == self.helper
        last_slot = challenge.slot + table.game.rules.window
        return not own or (table.game.slot == last_slot and not self.caught(table))

    def shows(self, table, ask):
        own = ask.owner == self.helper
        last_slot = ask.slot + table.game.rules.ask_answer
        return not own or (table.game.slot == last_slot and not self.caught(table))

    def ticks(self, table):
        rules = table.game.rules
        return {1, 1 + rules.window, 1 + rules.ask_answer, 2 + rules.ask_answer}

    def fresh_deal(self, table, batch):
        self.used += 1
        return table.deals[id(batch)][self.used % self.deals]

    def does(self, table, action):
        game, agent, lie = table.game, table.agent, table.lies[0]
        old, older, last = table.batches[0], table.batches[1], table.last
        twin = Message("twin", last.covers[-1])
        open_, helper = game.open, self.helper
        match action:
            case "cover old":
                self.may(open_, helper, old, claims(self.fresh_deal(table, old))[0])
            case "cover last":
                self.may(open_, helper, last, claims(self.fresh_deal(table, last))[0])
            case "weak cover":
                self.may(open_, helper, last, claims(lie, payload=False)[0])
            case "ask old" | "ask older" | "ask last":
                batch = {"ask old": old, "ask older": older, "ask last": last}[action]
                for record in batch.arrays:
                    if all(ask.record != record for ask in batch.asks):
                        self.may(game.ask, helper, batch, record)
                        break
            case "begin" | "own draft":
                if action == "begin":
                    self.draft = self.may(game.begin, helper, agent, last.era, last, lie)
                elif self.draft:
                    self.may(open_, helper, last, claims(lie)[0], self.draft)
            case "top up":
                self.may(game.lock, agent, agent.owner, game.rules.min_stake)
            case "sell to self":
                self.may(game.take_over, agent, helper if agent.owner == self.name else self.name)
            case "double bid":
                self.may(open_, helper, last, Claim(DOUBLE_BID, False, twin))
            case "same claim" | "other claim":
                self.may(open_, helper, last, claims(lie)[-1 if action == "other claim" else 0])
            case "settle asks":
                for batch in table.batches:
                    for ask in batch.asks:
                        self.may(game.settle_ask, ask, helper)

    def move(self, table):
        if table.now == 1:
            for action in self.before:
                self.does(table, action)
        if not self.reacted and table.now > 1 and self.caught(table):
            self.reacted = True
            for action in self.after:
                self.does(table, action)
        super().move(table)
        self.helps(table)


class PlanFinder(AnsweringFinder):
    def __init__(self, at):
        super().__init__(at=at, every_claim=True)


def plans(before=2, after=2, covers=5):
    """Multisets of preparations, with more of the same kind of cover, and sets of reactions."""
    first = [plan for size in range(before + 1) for plan in combinations_with_replacement(BEFORE, size)]
    first += [("cover old",) * count for count in range(before + 1, covers + 1)]
    second = [plan for size in range(after + 1) for plan in combinations(AFTER, size)]
    return first, second


def liars(rules, before=2, after=2, covers=5, kind="ACCEPT"):
    """Plans that pay for who hides a message of this kind, as (preparation, reaction, what is wrong): a finder at its
    best time gains no more than EFFORT although the preparation, when nobody comes, costs less than being caught; or a
    caught coalition keeps too much."""
    found = []
    stake = rules.min_stake
    first, second = plans(before, after, covers)
    for preparation in first:
        alone = play(rules, lambda: [PlanningLiar(preparation, (), kind)])
        cost = -alone.net(SOL_PRICE, *COALITION)
        best = None
        for at in TIMES:
            worst = None
            for reaction in second:
                result = play(rules, lambda: [PlanningLiar(preparation, reaction, kind), PlanFinder(at)])
                gain = result.net(SOL_PRICE, "finder")
                # Stakes that the coalition locked on top are its own in gain().
                locked = sum(era_stake for _, _, era_stake in result.games[0].game.slashes)
                kept = 1 + result.of(*COALITION) / locked if locked else None
                if kept is not None and kept > KEPT:
                    found.append((preparation, reaction, f"keeps {percent(kept)}"))
                if worst is None or gain < worst[0]:
                    worst = (gain, reaction)
            if best is None or worst[0] > best[0]:
                best = worst
        if best[0] <= EFFORT and cost < stake * (1 - rules.finders):
            why = f"a finder gains {usdc(best[0])}, and preparing costs {usdc(cost)}"
            found.append((preparation, best[1], why))
    return found


# Every two strangers against every agent

STRANGERS = {
    "finder": Finder, "finder of both claims": partial(AnsweringFinder, every_claim=True),
    "late finder": partial(Finder, at=216_001), "wrong finder": partial(Finder, name="x", wins=False),
    "copier of drafts": Copier, "copier of claims": partial(Copier, drafts=False), "fisher": Fisher,
    "fisher of four": partial(Fisher, name="x", asks=4), "frivolous": Frivolous,
    "frivolous treasury": partial(Frivolous, TREASURY), "self-answering": partial(Frivolous, "x", answers=True),
    "bystander": Bystander, "front-runner": FrontRunner,
}  # fmt: skip


def matrix(rules):
    """(games, what is wrong): conservation and settlement are asserted in each game, an agent that is awake must not
    lose, and a caught liar, its accomplice and all strangers together must not keep more than KEPT of the stake."""
    agents = {"awake": HonestAgent, "awake, unserved": partial(HonestAgent, served=False)} | lies(rules)
    games, wrong = 0, []
    for agent_name, agent in agents.items():
        honest = agent_name.startswith("awake")
        for names in [(name,) for name in STRANGERS] + list(combinations(STRANGERS, 2)):
            if honest and any("finder" in name and name != "wrong finder" for name in names):
                continue  # there is no lie to find
            result = play(rules, lambda: [agent(), *(STRANGERS[name]() for name in names)])
            games += 1
            if honest and result.net(SOL_PRICE, "agent") < 0:
                wrong.append((agent_name, names, f"the agent: {usdc(result.net(SOL_PRICE, 'agent'))}"))
            if result.slashed and "frivolous treasury" not in names:
                kept = 1 - result.of(TREASURY, BURNT) / rules.min_stake
                if kept > KEPT:
                    wrong.append((agent_name, names, f"keeps {percent(kept)}"))
    return games, wrong


# Two attackers and an honest agent

STEPS = (
    "x challenges", "y challenges the same", "y challenges another", "x begins", "y copies the draft", "x uses it",
    "x answers", "y answers", "x asks", "y asks the same", "y shows", "treasury challenges",
)  # fmt: skip


class Script(Player):
    """A sequence of steps of two attackers, a slot apart; the agent is awake and moves after each."""

    order = 3

    def __init__(self, steps):
        super().__init__("x")
        self.steps, self.draft, self.made = list(steps), None, []

    def ticks(self, table):
        return range(len(self.steps) + 2)

    def step(self, table, step):
        game, batch = table.game, table.last
        first, second = table.deals[id(batch)][:2]
        opened = list(batch.claims.values())
        match step:
            case "x challenges":
                return game.open("x", batch, claims(first)[0])
            case "y challenges the same":
                return game.open("y", batch, claims(first)[0])
            case "y challenges another":
                return game.open("y", batch, claims(first)[1])
            case "treasury challenges":
                return game.open(TREASURY, batch, claims(second)[0])
            case "x begins":
                self.draft = game.begin("x", table.agent, batch.era, batch, first)
                return self.draft
            case "y copies the draft":
                return game.open("y", batch, claims(first)[0])
            case "x uses it":
                if self.draft:
                    return game.open("x", batch, claims(first)[0], self.draft)
            case "x answers" | "y answers":
                for challenge in opened:
                    if challenge.state == "open":
                        return game.answer(challenge, step[0])
            case "x asks" | "y asks the same":
                return game.ask(step[0], batch, (BID if step[0] == "x" else SELECTION, first.name))
            case "y shows":
                for ask in batch.asks:
                    if ask.state == "open":
                        return game.show(ask, "y")

    def move(self, table):
        # Two steps a slot: the second may follow before the agent can move.
        for _ in range(2):
            if self.steps:
                self.may(self.step, table, self.steps.pop(0))
        for name in ("x", "y", TREASURY):
            Player(name).settle_own(table)


def attackers(rules, length=3):
    """Sequences by which an awake agent loses anything, or the two attackers gain."""
    found = []
    for size in range(1, length + 1):
        for steps in product(STEPS, repeat=size):
            table = Table(rules)
            agent, script = HonestAgent(), Script(steps)
            agent.start(table)
            before = table.game.gain("agent")[1]
            for tick in (0, 1, 2, 3, rules.ask_answer + 3, rules.window + 4, rules.window + 5):
                table.game.slot = table.zero + tick
                script.move(table)
                agent.move(table)
            clean(table)
            gain, lamports = table.game.gain("agent")
            worth = gain + Fraction((lamports - before) * SOL_PRICE * USDC, SOL)
            team = ("x", "y") + ((TREASURY,) if "treasury challenges" in steps else ())
            if worth < 0 or table.game.gain(*team)[0] > 0:
                found.append((steps, f"the agent: {usdc(worth)}"))
    return found


# Random games


def random_games(rules, count, seed=14):
    """Random moves of everybody at random slots; an awake agent, a liar and a finder with certainty in each game.

    Money is conserved after every action (Game.check); returns how many actions were taken and refused."""
    taken = refused = 0
    for number in range(count):
        dice = random.Random(seed * 1_000_003 + number)
        honest = number % 2 == 0
        table = Table(rules)
        agent = HonestAgent() if honest else PlanningLiar((), ())
        agent.start(table)
        game, before = table.game, table.game.gain("agent")[1]
        wallets = ["x", "y", TREASURY] if honest else ["x", "y", "liar", "accomplice"]
        drafts = []
        for _ in range(dice.randrange(4, 24)):
            game.slot += dice.choice((0, 0, 1, 50, 301, 20_000, 108_001, 216_001))
            batch = dice.choice(table.batches)
            by = dice.choice(wallets)
            messages = table.deals[id(batch)] + ([] if honest else table.lies)
            message = dice.choice(messages)
            claim = dice.choice(claims(message) + claims(message, payload=False))
            opened, asked = list(batch.claims.values()), list(batch.asks)
            options = [
                lambda: game.open(by, batch, claim),
                lambda: drafts.append(game.begin(by, table.agent, batch.era, batch, message)),
                lambda: drafts and game.open(drafts[-1].owner, batch, claim, drafts[-1]),
                lambda: game.ask(by, batch, dice.choice(list(batch.arrays))),
                lambda: opened and game.resolve(dice.choice(opened), by),
                lambda: opened and game.answer(dice.choice(opened), by),
                lambda: asked and game.settle_ask(dice.choice(asked), by),
                lambda: asked and game.show(dice.choice(asked), by),
                lambda: drafts and game.lapse(dice.choice(drafts), by),
                lambda: game.lock(table.agent, table.agent.owner, dice.choice((5, 30)) * USDC),
                lambda: honest or game.open(by, batch, Claim(DOUBLE_BID, False, Message("twin", batch.covers[-1]))),
                lambda: honest or game.take_over(table.agent, dice.choice(wallets)),
            ]
            try:
                dice.choice(options)()
                taken += 1
            except Refused:
                refused += 1
            if honest:
                agent.move(table)
        if honest:
            fees = before - game.gain("agent")[1]
            # What the agent chose to lock costs a fee that is its own.
            own = sum(text.startswith("agent locks") for _, text in game.log[2:])
            worth = game.gain("agent")[0] - Fraction((fees - own * 5_000) * SOL_PRICE * USDC, SOL)
            assert worth >= 0, (number, worth, game.log)
            assert not game.slashes, (number, game.log)
        settle_all(table, wallets)
        if not honest:
            # Were all of them accomplices, they would still have lost this much to the treasury.
            lost = -sum(game.gain(name)[0] for name in wallets)
            least = sum(stake - stake * rules.finders // 1 for _, _, stake in game.slashes)
            assert lost >= least, (number, lost, least, game.log)
    return taken, refused


def random_sales(rules, count, seed=14):
    """Random moves around a sale, forged deals of the seller's key among them. The buyer, who has a batch of its own,
    loses nothing in any game; the seller loses nothing where it forged nothing."""
    sold = 0
    for number in range(count):
        dice = random.Random(seed * 2_000_003 + number)
        forges = number % 2 == 1
        table = Table(rules)
        seller, buyer = HonestAgent(), HonestAgent("buyer")
        seller.start(table)
        game, agent = table.game, table.agent
        wallets, former = ["x", "y", "agent"] if forges else ["x", "y"], list(table.batches)
        for _ in range(dice.randrange(6, 24)):
            game.slot += dice.choice((0, 1, 50, 301, 20_000, 108_001, EPOCH))
            batch, by = dice.choice(table.batches), dice.choice(wallets)
            deals = table.deals[id(batch)]
            message = dice.choice(deals) if deals and not forges else Message("forged", game.epoch - dice.randrange(4))
            claim = dice.choice(claims(message))
            opened = list(batch.claims.values())
            options = [
                lambda: game.open(by, batch, claim),
                lambda: game.ask(by, batch, dice.choice(list(batch.arrays) or [None])),
                lambda: opened and game.resolve(dice.choice(opened), by),
                lambda: opened and game.answer(dice.choice(opened), by),
                lambda: agent.owner == "agent" and buys(table),
                lambda: agent.owner == "buyer" and lands(table, buyer),
            ]
            try:
                dice.choice(options)()
            except Refused:
                pass
            if not forges:
                seller.move(table)
            buyer.move(table)
        # An honest seller claims what is left; a stake of its own that nobody can claim would be lost.
        settle_all(table, ["x", "y", "agent", "buyer"])
        sold += agent.owner == "buyer"
        assert game.gain("buyer")[0] >= 0, (number, game.log)
        assert forges or game.gain("agent")[0] >= 0, (number, game.log)
        if agent.owner == "buyer" and not former[0].era.slashed:
            game.claim_stake(agent, former[0].era, "agent")
    return sold


def buys(table):
    game, agent = table.game, table.agent
    game.take_over(agent, "buyer")
    game.add_key(agent, "buyer", "buyer's", ["batch", "deal"])
    game.lock(agent, "buyer", game.rules.min_stake)


def lands(table, buyer):
    game = table.game
    deal = Message("bought", game.epoch - 1, key="buyer's")
    batch = game.land(table.agent, "buyer", game.epoch - 1, deal.records(), buyer.keepers(), (), "buyer's")
    table.batches.append(batch)
    table.deals[id(batch)] = [deal]


def settle_all(table, wallets):
    """Everything comes to its end: no account is left that nobody can settle."""
    game = table.game
    for _ in range(40):
        game.slot += game.rules.window + 1
        for name in wallets:
            Player(name).settle_own(table)
        for era in table.agent.eras:
            for item in era.queue:
                if isinstance(item, Draft) and item.state == "live":
                    try:
                        game.lapse(item, item.owner)
                    except Refused:
                        pass
        items = [item for batch in table.batches for item in (*batch.claims.values(), *batch.asks)]
        left = [item for item in items if item.state == "open"]
        if not left:
            return
    raise AssertionError(("a deadlock", left, game.log))
