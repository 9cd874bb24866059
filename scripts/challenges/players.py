"""How a match is played, and the honest agent. One small class a strategy: liars.py and strangers.py have the others.

A match is a list of players. At every slot that matters all of them move, in the order of their `order`. Coins are
tossed by enumeration: a match is played once for every outcome, and averages are exact fractions.
"""

from fractions import Fraction
from itertools import product

from game import BID, SOL, USDC, Draft, Game, Message, Refused


class Player:
    order = 5
    coins = {}

    def __init__(self, name):
        self.name = name
        self.luck = {}

    def start(self, table):
        """Before the first slot."""

    def move(self, table):
        """At every slot that matters."""

    def may(self, action, *arguments):
        """The result of an action, or None when it is refused."""
        try:
            return action(*arguments)
        except Refused:
            return None

    def settle_own(self, table):
        """Resolves what this player opened, as soon as the rules allow it."""
        for batch in table.batches:
            for challenge in list(batch.claims.values()):
                if challenge.owner == self.name and challenge.state == "open":
                    self.may(table.game.resolve, challenge, self.name)
            for ask in list(batch.asks):
                if ask.owner == self.name and ask.state == "open":
                    self.may(table.game.settle_ask, ask, self.name)


class Table:
    """One game with what its players may see."""

    def __init__(self, rules, slot=None):
        self.game = Game(rules) if slot is None else Game(rules, slot)
        self.zero = self.game.slot
        self.agent = None
        self.batches = []
        self.ordinary = {}  # lamports that wallets spent before the first slot
        self.lies = []  # messages that no batch records
        self.deals = {}  # id of a batch -> messages that it records

    @property
    def now(self):
        return self.game.slot - self.zero

    @property
    def last(self):
        return self.batches[-1]

    def ticks(self):
        rules = self.game.rules
        window, asks, until = rules.window, rules.ask_answer, rules.ask_until
        early = {0, 1, 2, 50, 51, 100, 101, 102, asks, asks + 1, asks + 2, asks + 3, until, until + 1, until + asks}
        early |= {until + asks + 1, window - 1, window, window + 1}
        late = {tick + window + extra for tick in early for extra in (0, 1)}
        return sorted(early | late | {2 * window + 3, 2 * window + rules.rank_slots + 10})


# The agent


class HonestAgent(Player):
    """An honest agent that is awake: records every deal, answers everything at once."""

    deals, lies, planted, served, batches = 2, 0, False, True, 1
    stake = None

    def __init__(self, name="agent", **changes):
        super().__init__(name)
        for key, value in changes.items():
            assert hasattr(type(self), key), key
            setattr(self, key, value)

    def keepers(self):
        return {self.name}

    def start(self, table):
        game = table.game
        table.agent = agent = game.register("A", self.name)
        game.lock(agent, self.name, self.stake or game.rules.min_stake)
        for number in range(self.batches):
            last = number == self.batches - 1
            epoch = game.epoch - self.batches + number
            made = [Message(f"deal {number}.{at}", epoch) for at in range(self.deals)]
            arrays = {}
            for message in made:
                arrays |= message.records()
            if last and self.planted:
                arrays[(BID, "twin")] = (1, 2)
            batch = game.land(agent, self.name, epoch, arrays, self.keepers(), arrays if self.served else ())
            table.batches.append(batch)
            table.deals[id(batch)] = made
            if last:
                table.lies += [Message(f"lie {at}", epoch) for at in range(self.lies)]

    def answers(self, table, challenge):
        return True

    def shows(self, table, ask):
        return True

    def move(self, table):
        for batch in table.batches:
            for challenge in list(batch.claims.values()):
                if challenge.state == "open" and self.answers(table, challenge):
                    self.may(table.game.answer, challenge, self.name)
            for ask in list(batch.asks):
                if ask.state == "open" and self.shows(table, ask):
                    self.may(table.game.show, ask, self.name)


class SleepingAgent(HonestAgent):
    """Honest, but down through a whole answer window with some probability, for challenges and asks apart."""

    served = False

    def __init__(self, down=Fraction(1), **changes):
        super().__init__(**changes)
        self.coins = {"down for the challenge": down, "down for the ask": down} if down < 1 else {}

    def answers(self, table, challenge):
        return not self.luck.get("down for the challenge", True)

    def shows(self, table, ask):
        return not self.luck.get("down for the ask", True)


# Matches


class Result:
    """Exact averages over all outcomes: micro-USDC and lamports by wallet."""

    def __init__(self):
        self.usdc, self.lamports = {}, {}
        self.slashed = Fraction(0)
        self.games = []

    def add(self, chance, table, names):
        self.games.append(table)
        if chance == 1:
            chance = 1
        for name in names:
            usdc, lamports = table.game.gain(name)
            self.usdc[name] = self.usdc.get(name, 0) + chance * usdc
            self.lamports[name] = self.lamports.get(name, 0) + chance * (lamports - table.ordinary[name])
        self.slashed += chance * bool(table.game.slashes)

    def of(self, *names):
        return Fraction(sum(self.usdc[name] for name in names))

    def net(self, sol_price, *names):
        """USDC and SOL together, in micro-USDC, at a price of so many USDC a SOL."""
        lamports = Fraction(sum(self.lamports[name] for name in names))
        return self.of(*names) + lamports * sol_price * USDC / SOL


NAMES = (
    "agent liar accomplice finder copier fisher frivolous bystander front-runner thief buyer treasury burnt"
).split()


def play(rules, make):
    """Plays `make()`, a fresh list of players, once for every outcome of their coins."""
    result = Result()
    coins = [(at, name, chance) for at, player in enumerate(make()) for name, chance in player.coins.items()]
    for outcome in product((True, False), repeat=len(coins)):
        players, chance = make(), Fraction(1)
        for (at, name, probability), happens in zip(coins, outcome):
            players[at].luck[name] = happens
            chance *= probability if happens else 1 - probability
        if chance:
            result.add(chance, run(rules, players), NAMES)
    return result


def run(rules, players):
    table = Table(rules)
    for player in players:
        player.start(table)
    # What locking a stake and landing a batch cost in fees is not part of the game.
    table.ordinary = {name: table.game.gain(name)[1] for name in NAMES}
    ticks = set(table.ticks())
    for player in players:
        ticks.update(player.ticks(table) if hasattr(player, "ticks") else ())
    ordered = sorted(players, key=lambda player: player.order)
    for tick in sorted(ticks):
        table.game.slot = max(table.game.slot, table.zero + tick)
        for player in ordered:
            player.move(table)
    clean(table)
    return table


def clean(table):
    """Closes lapsed drafts, for nothing but the books; nobody is left with anything open."""
    game = table.game
    game.slot += game.rules.rank_slots + 1
    for era in table.agent.eras:
        for item in era.queue:
            if isinstance(item, Draft) and item.state == "live":
                game.lapse(item, item.owner)
            assert isinstance(item, Draft) or item.state != "open", item
