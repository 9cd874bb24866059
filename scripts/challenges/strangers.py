"""Everybody else: finders, copiers, fishers, frivolous challengers, who answers for others, and thieves."""

from game import BID, DOUBLE_BID, EPOCH, TREASURY, USDC, Claim, Draft, Message, claims
from players import Player


class Finder(Player):
    """Knows a lie; takes a rank for each claim that it will open, then opens them in one transaction."""

    order = 7
    opened = False

    def __init__(self, name="finder", at=100, every_claim=False, wins=True):
        super().__init__(name)
        self.at, self.every_claim, self.wins, self.drafts = at, every_claim, wins, []

    def claims(self, table):
        found = claims(table.lies[0] if self.wins else table.deals[id(table.last)][0])
        return found if self.every_claim else found[:1]

    def move(self, table):
        game, batch, found = table.game, table.last, self.claims(table)
        if table.now >= self.at and not self.drafts:
            begun = (self.name, table.agent, batch.era, batch, found[0].message)
            self.drafts = [self.may(game.begin, *begun) for _ in found]
        elif self.drafts and not self.opened:
            self.opened = True
            for claim, draft in zip(found, self.drafts):
                if self.may(game.open, self.name, batch, claim, draft) is None and draft:
                    self.may(game.withdraw, draft, self.name, claim)
        self.settle_own(table)
        for draft in self.drafts:
            if draft and draft.state == "live":
                self.may(game.lapse, draft, self.name)


class AnsweringFinder(Finder):
    """First answers whatever served records can answer, so that no open challenge stands before its own."""

    def move(self, table):
        if table.now >= self.at and not self.drafts:
            for batch in table.batches:
                for challenge in list(batch.claims.values()):
                    self.may(table.game.answer, challenge, self.name)
        super().move(table)


class Frivolous(Player):
    """Challenges deals that the batch records, in the hope that nobody answers. Order before the agent's."""

    order = 3

    def __init__(self, name="frivolous", at=100, claims=1, answers=False):
        super().__init__(name)
        self.at, self.claims, self.answers = at, claims, answers

    def move(self, table):
        batch = table.last
        if table.now == self.at:
            targets = [claim for message in table.deals[id(batch)] for claim in claims(message)]
            for claim in targets[: self.claims]:
                made = self.may(table.game.open, self.name, batch, claim)
                if self.answers and made:
                    self.may(table.game.answer, made, self.name)
        self.settle_own(table)


class Fisher(Player):
    """Asks for leaves in the hope that nobody shows them; `last` asks in the last slot allowed."""

    order = 3

    def __init__(self, name="fisher", asks=1, at=0, first=0, last=False):
        super().__init__(name)
        self.asks, self.at, self.first, self.last = asks, at, first, last

    def move(self, table):
        if table.now == (table.game.rules.ask_until if self.last else self.at):
            for record in list(table.last.arrays)[self.first : self.first + self.asks]:
                self.may(table.game.ask, self.name, table.last, record)
        self.settle_own(table)


class Copier(Player):
    """Opens the claim of a draft whose evidence it saw, or the other claims about a message that was challenged."""

    order = 8

    def __init__(self, name="copier", drafts=True):
        super().__init__(name)
        self.drafts = drafts

    def move(self, table):
        game, batch = table.game, table.last
        for item in list(batch.era.queue):
            if item.owner == self.name:
                continue
            if self.drafts and isinstance(item, Draft) and game.alive(item):
                self.may(game.open, self.name, batch, claims(item.commit[1])[0])
            if not self.drafts and not isinstance(item, Draft) and item.state == "open" and hasattr(item, "claim"):
                for claim in claims(item.claim.message) + claims(item.claim.message, payload=False):
                    self.may(game.open, self.name, batch, claim)
        self.settle_own(table)


class Bystander(Player):
    """Answers whatever the served data can answer, for the answerer's part. After the agent, if it is awake."""

    order = 9

    def __init__(self, name="bystander"):
        super().__init__(name)

    def move(self, table):
        for batch in table.batches:
            for challenge in list(batch.claims.values()):
                self.may(table.game.answer, challenge, self.name)
            for ask in list(batch.asks):
                self.may(table.game.show, ask, self.name)


class FrontRunner(Bystander):
    """Sees the agent's answer on its way and lands it first; the agent's own transaction fails."""

    order = 4

    def __init__(self, name="front-runner"):
        super().__init__(name)

    def start(self, table):
        for batch in table.batches:
            batch.keepers |= {self.name}

    def move(self, table):
        before = len(table.game.log)
        super().move(table)
        for _ in range(len(table.game.log) - before):
            table.game.fee(table.agent.owner)


# Thieves of keys, and the day of sale: scripted attacks on an honest agent


class Thief(Player):
    """Has a key for a while. `does` makes the attack and returns; then resolves what it opened."""

    order = 3

    def __init__(self, name="thief"):
        super().__init__(name)
        self.done = []

    def challenge(self, table, batch, message, claims_of=claims):
        for claim in claims_of(message):
            if self.may(table.game.open, self.name, batch, claim):
                self.done.append("challenged")

    def move(self, table):
        if table.now == 100:
            self.attack(table)
        self.settle_own(table)


class PayThief(Thief):
    """Keeps the lease alive against an unlock: a payment of 1 USDC an epoch, which gains nothing."""

    def attack(self, table):
        table.game.pay(self.name, TREASURY, USDC)
        table.game.fee(self.name)


class PeerThief(Thief):
    """Signs a deal that the batch lacks with the peer key."""

    def attack(self, table):
        self.challenge(table, table.last, Message("forged", table.last.covers[-1], key="peer"))


class DealThief(Thief):
    """Signs deals dated back into a batched epoch; the owner has ended the key in the meantime."""

    forged = 4

    def attack(self, table):
        table.game.end_key(table.agent, table.agent.owner, "deal")
        for number in range(self.forged):
            self.challenge(table, table.last, Message(f"forged {number}", table.last.covers[-1]))


class BatchThief(Thief):
    """Lands a batch full of double bids and challenges it in the same slot."""

    ended = False
    twins = 8

    def attack(self, table):
        game, agent = table.game, table.agent
        if self.ended:
            game.end_key(agent, agent.owner, "batch")
        game.slot += EPOCH  # the next epoch's batch
        twins = [Message(f"twin {number}", game.epoch - 1) for number in range(self.twins)]
        arrays = {(BID, twin.name): (1, 2) for twin in twins}
        batch = self.may(game.land, agent, self.name, game.epoch - 1, arrays, {self.name})
        if batch:
            table.batches.append(batch)
            for twin in twins:
                self.challenge(table, batch, twin, lambda message: [Claim(DOUBLE_BID, False, message)])


class EndedBatchThief(BatchThief):
    """The same, after the owner has ended the key."""

    ended = True


class WalletThief(Thief):
    """One transaction signed blindly by the wallet: adds keys, signs and lands what it can. The owner ends the keys
    before they act."""

    def attack(self, table):
        game, agent = table.game, table.agent
        game.add_key(agent, agent.owner, "stolen", ["batch", "deal", "pay"])
        twin = {(BID, "twin"): (1, 2)}
        assert self.may(game.land, agent, self.name, game.epoch - 1, twin, {self.name}, (), "stolen") is None
        for epoch in (table.last.covers[-1], game.epoch):
            self.challenge(table, table.last, Message("forged", epoch, key="stolen"))
        assert self.may(game.claim_stake, agent, agent.era, self.name) is None
        game.end_key(agent, agent.owner, "stolen")


class Borrower(Thief):
    """Holds the NFT for one slot: takes the agent over and gives it back; the stake stays with who locked it."""

    def attack(self, table):
        game, agent, owner = table.game, table.agent, table.agent.owner
        era = agent.era
        game.take_over(agent, self.name)
        assert self.may(game.claim_stake, agent, era, self.name) is None
        game.add_key(agent, self.name, "borrowed", ["deal"])
        self.challenge(table, table.last, Message("forged", table.last.covers[-1], key="borrowed"))
        game.take_over(agent, owner)


class Seller(Thief):
    """Sells, then signs deals dated into the epoch of the sale and before; the buyer has a batch of its own."""

    def attack(self, table):
        game, agent = table.game, table.agent
        sale = game.epoch
        game.take_over(agent, "buyer")
        game.add_key(agent, "buyer", "buyer's batch key", ["batch"])
        game.lock(agent, "buyer", game.rules.min_stake)
        game.slot += 2 * EPOCH
        batch = game.land(agent, "buyer", sale + 1, {}, {"buyer"}, (), "buyer's batch key")
        table.batches.append(batch)
        for epoch in (sale - 1, sale, sale + 1):
            self.challenge(table, batch, Message(f"forged {epoch}", epoch))


class Buyer(Thief):
    """Buys, then challenges a recorded deal of the seller's time; the seller answers."""

    order = 3

    def attack(self, table):
        game, agent = table.game, table.agent
        game.take_over(agent, self.name)
        game.lock(agent, self.name, game.rules.min_stake)
        self.challenge(table, table.last, table.deals[id(table.last)][0], lambda message: claims(message)[:1])
