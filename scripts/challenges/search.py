"""Looks for moves that nobody thought of: every short plan of a liar's coalition against a finder that answers with
its best time, and every short sequence of two attackers against an honest agent; then random games."""

import random
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

from game import BID, DOUBLE_BID, SELECTION, SOL, TREASURY, USDC, Claim, Draft, Message, Refused, claims
from liars import Liar
from players import HonestAgent, Player, Table, clean, play
from strangers import AnsweringFinder
from statements import COALITION, EFFORT, KEPT, SOL_PRICE, percent, usdc

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

    def __init__(self, before, after):
        super().__init__()
        self.before, self.after = before, after
        self.used = 0
        self.draft = None
        self.reacted = False

    def start(self, table):
        super().start(table)
        # The two older batches are past the time when leaves can be asked for; only the false one need be served.
        for batch in table.batches[:-1]:
            batch.public.clear()
        lie = table.lies[0]
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
                self.may(open_, helper, last, claims(lie)[action == "other claim"])
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


def liars(rules, before=2, after=2, covers=5):
    """Plans that pay, as (preparation, reaction, what is wrong): a finder at its best time gains no more than EFFORT
    although the preparation, when nobody comes, costs less than being caught; or a caught coalition keeps too much."""
    found = []
    stake = rules.min_stake
    first, second = plans(before, after, covers)
    for preparation in first:
        alone = play(rules, lambda: [PlanningLiar(preparation, ())])
        cost = -alone.net(SOL_PRICE, *COALITION)
        best = None
        for at in TIMES:
            worst = None
            for reaction in second:
                result = play(rules, lambda: [PlanningLiar(preparation, reaction), PlanFinder(at)])
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
        wallets = ["x", "y", TREASURY] + ([] if honest else ["liar", "accomplice"])
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
        else:
            for holder, era, stake in game.slashes:
                assert stake >= 0, (number, holder, era)
        settle_all(table, wallets)
    return taken, refused


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
