"""The challenge game of the second edition (decision P4) as a state machine.

Money is in a double-entry ledger: micro-USDC and lamports, integers. Every action first checks everything, then moves
money, then checks that no money was made or lost. What a program would refuse raises Refused.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

USDC = 10**6
SOL = 10**9
EPOCH = 216_000  # slots of 400 ms in a day
SIGNATURE = 5_000  # lamports a transaction
ENDOWMENT = (1_000_000 * USDC, 100_000 * SOL)  # nobody in a game is short of money
EVERYWHERE, FEES, BURNT, TREASURY = "endowment", "fees", "burnt", "treasury"
OPEN_END = 2**64 - 1
BID, SELECTION, DOUBLE_BID = "bid", "selection", "double bid"


def rent(size):
    return (128 + size) * 6_960


RENT = {"challenge": rent(344), "draft": rent(264), "ask": rent(160)}


@dataclass(frozen=True)
class Rules:
    """Amounts (micro-USDC, lamports, slots) and the rules that can be chosen.

    The defaults are the chosen ones; `as_noted()` gives the rules that the simulation started from.
    """

    min_stake: int = 30 * USDC
    challenge_stake: int = 5 * USDC
    finders: Fraction = Fraction(40, 100)  # of a slash; the rest goes to the treasury
    share: Fraction = Fraction(1, 2)  # of what is left of the finders' part, to each finder in rank order
    lost_to_agent: int = 1_500_000  # of a lost challenge; the rest goes to the treasury
    lost_to_answerer: int = 500_000
    ask_price: int = 500_000
    ask_to_answerer: int = 300_000
    ask_to_agent: int = 100_000
    fine: int = 10 * USDC
    fine_to_asker: int = 3 * USDC
    deposit: int = SOL // 100
    rank_slots: int = 300
    window: int = 432_000
    ask_until: int = 216_000
    ask_answer: int = 108_000
    fines_wait: bool = True  # a fine waits until the era has no open challenge; asks take no rank among challenges
    credit: str = "challenged"  # the era that a lost challenge pays: the challenged or the current one
    forfeited: str = BURNT  # to whom a lapsed deposit goes: burnt, treasury, settler
    spare: bool = True  # a draft gets its deposit back if its claim or an emptied era was in its way while it lived
    weak_after_strong: bool = False  # whether a claim without value may follow the one with the value
    burnt: Fraction = Fraction(0)  # of everything that would go to the treasury

    @staticmethod
    def as_noted(**changes):
        noted = Rules(
            share=Fraction(1),
            ask_to_answerer=400_000,
            ask_to_agent=0,
            fines_wait=False,
            credit="current",
            forfeited=TREASURY,
            spare=False,
            weak_after_strong=True,
        )
        return replace(noted, **changes)

    def with_stakes(self, min_stake, challenge_stake, finders, lost=True):
        """Other amounts; a lost challenge is split as by default, 30 to 10 to 60, or all to the treasury."""
        return replace(
            self,
            min_stake=min_stake,
            challenge_stake=challenge_stake,
            finders=finders,
            lost_to_agent=challenge_stake * 3 // 10 if lost else 0,
            lost_to_answerer=challenge_stake // 10 if lost else 0,
        )


class Refused(Exception):
    """What the programs would refuse."""


class Message(NamedTuple):
    """A signed envelope of the agent: ACCEPT obliges the batch to hold a bid and a selection, PROPOSE a bid."""

    name: str
    epoch: int
    key: str = "deal"
    kind: str = "ACCEPT"
    value: int = 100

    def records(self):
        bid = {(BID, self.name): (self.value,)}
        return bid | ({(SELECTION, self.name): ()} if self.kind == "ACCEPT" else {})


class Claim(NamedTuple):
    """What claim32 hashes: ground, whether the value is known, the message."""

    ground: str
    value_known: bool
    message: Message


def claims(message, payload=True):
    """All claims that follow from one envelope, the strongest first."""
    bid = Claim(BID, payload, message)
    return [bid, Claim(SELECTION, False, message)] if message.kind == "ACCEPT" else [bid]


@dataclass
class Key:
    scopes: frozenset
    start: int
    until: int = OPEN_END
    ended: int = 0


@dataclass
class Era:
    number: int
    owner: str
    next_rank: int = 0
    slashed: bool = False
    slashed_slot: int | None = None
    queue: list = field(default_factory=list)  # drafts, challenges (and asks, where they take ranks), by rank
    batches: list = field(default_factory=list)

    def challenges(self):
        return [item for item in self.queue if isinstance(item, Challenge) and item.state == "open"]

    def asks(self):
        return [ask for batch in self.batches for ask in batch.asks if ask.state == "open"]


@dataclass
class Batch:
    agent: "Agent"
    era: Era
    covers: range
    slot: int
    arrays: dict  # (ground, message name) -> recorded values
    keepers: frozenset  # wallets that hold all of the batch's data
    public: set  # records that everybody can prove
    asks: list = field(default_factory=list)
    claims: dict = field(default_factory=dict)
    withheld: bool = False


@dataclass
class Draft:
    number: int
    owner: str
    era: Era
    rank: int
    slot: int
    commit: tuple  # (batch, message)
    state: str = "live"


@dataclass
class Challenge:
    number: int
    owner: str
    batch: Batch
    claim: Claim
    rank: int
    slot: int
    state: str = "open"


@dataclass
class Ask:
    number: int
    owner: str
    batch: Batch
    record: tuple
    rank: int
    slot: int
    state: str = "open"


@dataclass
class Agent:
    name: str
    owner: str
    keys: dict
    last_epoch: int
    tenure_start: int = 0
    eras: list = field(default_factory=list)
    queued: int | None = None
    taken_over: int | None = None
    first_key_due: bool = False

    @property
    def era(self):
        return self.eras[-1] if self.eras else None


class Game:
    """One cluster with any number of agents. Time is a slot, set from outside and never back."""

    def __init__(self, rules, slot=10 * EPOCH + 1_000):
        self.rules = rules
        self.slot = slot
        self.books = ({EVERYWHERE: 0}, {EVERYWHERE: 0})
        self.count = 0
        self.log = []
        self.slashes = []  # (era, stake that it took)

    # Money

    @property
    def epoch(self):
        return self.slot // EPOCH

    def pay(self, source, target, amount, unit=0):
        book = self.books[unit]
        for account in (source, target):
            if isinstance(account, str) and account not in book and account not in (FEES, BURNT):
                book[account] = ENDOWMENT[unit]
                book[EVERYWHERE] -= ENDOWMENT[unit]
        assert amount >= 0 and (source == EVERYWHERE or book.get(source, 0) >= amount), (source, target, amount)
        book[source] = book.get(source, 0) - amount
        book[target] = book.get(target, 0) + amount

    def holds(self, account, unit=0):
        return self.books[unit].get(account, 0)

    def to_treasury(self, source, amount):
        burnt = amount * self.rules.burnt.numerator // self.rules.burnt.denominator
        self.pay(source, BURNT, burnt)
        self.pay(source, TREASURY, amount - burnt)

    def to_agent(self, source, agent, era, amount):
        """Into a stake; of an era that is slashed the treasury gets it."""
        if era.slashed:
            self.to_treasury(source, amount)
        else:
            self.pay(source, self.purse(agent, era), amount)

    def fee(self, who, transactions=1):
        self.pay(who, FEES, transactions * SIGNATURE, 1)

    def gain(self, *wallets):
        """(micro-USDC, lamports) that these wallets have won, with the stakes that are still theirs."""
        first = [[0 if name == BURNT else ENDOWMENT[unit] for name in wallets] for unit in (0, 1)]
        usdc = sum(self.books[0].get(name, start) - start for name, start in zip(wallets, first[0]))
        usdc += sum(
            amount
            for account, amount in self.books[0].items()
            if isinstance(account, tuple) and account[0] == "era" and account[2] in wallets
        )
        return usdc, sum(self.books[1].get(name, start) - start for name, start in zip(wallets, first[1]))

    def check(self):
        for unit, book in enumerate(self.books):
            assert sum(book.values()) == 0, f"unit {unit}: money was made or lost: {sum(book.values())}"
            assert all(amount >= 0 for account, amount in book.items() if account != EVERYWHERE), book

    def did(self, text):
        self.log.append((self.slot, text))
        self.check()

    def number(self):
        self.count += 1
        return self.count

    def need(self, condition, why):
        if not condition:
            raise Refused(why)

    @staticmethod
    def purse(agent, era):
        return ("era", agent.name, era.owner, era.number)

    @staticmethod
    def pot(agent, era):
        return ("pot", agent.name, era.number)

    def stake(self, agent, era=None):
        era = era or agent.era
        return self.holds(self.purse(agent, era)) if era else 0

    # Agents, keys, tenure (P1)

    def register(self, name, owner):
        keys = {scope: Key(frozenset([scope]), 0) for scope in ("pay", "batch", "deal", "peer")}
        return Agent(name, owner, keys, self.epoch - 5)

    def add_key(self, agent, by, key, scopes):
        self.need(by == agent.owner, "not the owner")
        self.need(key not in agent.keys, "key exists")
        fresh = not agent.eras and agent.taken_over is None
        notice = 0 if fresh else 1 if agent.first_key_due else 2
        agent.first_key_due = False
        agent.keys[key] = Key(frozenset(scopes), self.epoch + notice)
        self.fee(by)
        self.did(f"{by} adds key {key}")

    def end_key(self, agent, by, key):
        self.need(by == agent.owner, "not the owner")
        found = agent.keys[key]
        found.until, found.ended = min(found.until, max(self.epoch, found.start - 1)), self.slot
        if found.start > self.epoch:
            found.until = found.start - 1
        self.fee(by)
        self.did(f"{by} ends key {key}")

    def take_over(self, agent, by):
        """`by` holds the NFT now."""
        self.need(by != agent.owner, "owner already")
        for found in agent.keys.values():
            found.until, found.ended = min(found.until, self.epoch), found.ended or self.slot
        agent.owner, agent.tenure_start, agent.taken_over = by, self.epoch + 1, self.slot
        agent.first_key_due, agent.queued = True, None
        self.fee(by)
        self.did(f"{by} takes {agent.name} over")

    def lock(self, agent, by, amount):
        self.need(by == agent.owner, "not the tenure's owner")
        era = agent.era
        if era is None or era.owner != by or era.slashed or era.challenges():
            era = Era(len(agent.eras), by)
        self.need(self.stake(agent, era) + amount >= self.rules.min_stake, "stake too small")
        if era not in agent.eras:
            agent.eras.append(era)
        self.pay(by, self.purse(agent, era), amount)
        self.fee(by)
        self.did(f"{by} locks {amount} in era {era.number}")
        return era

    def queue_unlock(self, agent, by):
        """The lease is taken as dead."""
        self.need(by == agent.owner, "not the tenure's owner")
        agent.queued = self.slot
        self.fee(by)
        self.did(f"{by} queues the unlock")

    def claim_stake(self, agent, era, by):
        self.need(by == era.owner, "not who locked it")
        since = agent.queued if by == agent.owner else agent.taken_over
        self.need(since is not None and self.slot > since + self.rules.window, "delay not over")
        self.need(not era.challenges() and not era.asks(), "a challenge or an ask is open")
        self.need(all(self.slot > batch.slot + self.rules.window for batch in era.batches), "a batch is in its window")
        self.pay(self.purse(agent, era), by, self.stake(agent, era))
        self.fee(by)
        self.did(f"{by} claims era {era.number}")

    # Batches (P2)

    def land(self, agent, by, epoch, arrays, keepers, public=(), key="batch"):
        signer = agent.keys.get(key)
        self.need(signer and "batch" in signer.scopes and not signer.ended, "key not alive")
        self.need(signer.start <= epoch, "key too young for this epoch")
        self.need(agent.era is not None and agent.era.owner == agent.owner, "no stake of this tenure")
        self.need(agent.last_epoch < epoch < self.epoch and self.epoch - epoch <= 3, "epoch out of order")
        start = max(agent.last_epoch + 1, agent.tenure_start, epoch - 29)
        self.need(start <= epoch, "before the tenure")
        self.need(self.stake(agent) >= self.rules.min_stake and not agent.era.slashed, "stake too small")
        self.need(not agent.era.challenges(), "a challenge is open")
        batch = Batch(
            agent, agent.era, range(start, epoch + 1), self.slot, dict(arrays), frozenset(keepers), set(public)
        )
        agent.era.batches.append(batch)
        agent.last_epoch = epoch
        self.fee(by)
        self.did(f"{by} lands the batch of epoch {epoch}")
        return batch

    # Ranks, challenges, answers, slashes (P4)

    def take_rank(self, era):
        era.next_rank += 1
        return era.next_rank

    def begin(self, by, agent, era, batch, message):
        """Takes a rank for evidence about `message` against `batch`; the chain sees a hash of both."""
        self.need(self.stake(agent, era) > 0 and not era.slashed, "the era is empty")
        draft = Draft(self.number(), by, era, self.take_rank(era), self.slot, (id(batch), message))
        self.pay(by, ("draft", draft.number), self.rules.deposit + RENT["draft"], 1)
        era.queue.append(draft)
        self.fee(by)
        self.did(f"{by} begins with rank {draft.rank}")
        return draft

    def alive(self, draft):
        return draft.state == "live" and self.slot <= draft.slot + self.rules.rank_slots

    def receiver(self, by):
        """Who gets the deposit of a lapsed rank."""
        return by if self.rules.forfeited == "settler" else self.rules.forfeited

    def close_draft(self, draft, deposit_to):
        self.pay(("draft", draft.number), draft.owner, RENT["draft"], 1)
        self.pay(("draft", draft.number), deposit_to, self.rules.deposit, 1)
        draft.state = "closed"

    def lapse(self, draft, by):
        """Anyone closes a draft whose rank has lapsed. One that was alive when its era was emptied costs nothing."""
        emptied = draft.era.slashed_slot
        empty = self.rules.spare and emptied is not None and emptied <= draft.slot + self.rules.rank_slots
        self.need(draft.state == "live" and (not self.alive(draft) or empty), "the rank is alive")
        self.close_draft(draft, draft.owner if empty else self.receiver(by))
        self.fee(by)
        self.did(f"{by} closes a lapsed draft of {draft.owner}")

    def withdraw(self, draft, by, claim):
        """Closes an own live draft whose claim somebody with a lower rank has opened; shows the evidence."""
        self.need(self.rules.spare, "no such instruction")
        self.need(draft.owner == by and self.alive(draft), "not your live draft")
        batch = next((batch for batch in draft.era.batches if id(batch) == draft.commit[0]), None)
        older = batch and batch.claims.get(claim)
        self.need(draft.commit[1] == claim.message and older and older.rank < draft.rank, "nothing is in its way")
        self.close_draft(draft, by)
        self.fee(by)
        self.did(f"{by} withdraws a draft")

    def counts(self, batch, message):
        """Whether an envelope is evidence against a batch (P1, B11)."""
        key = batch.agent.keys.get(message.key)
        return bool(
            key and "deal" in key.scopes and message.epoch in batch.covers and key.start <= message.epoch <= key.until
        )

    def is_double(self, batch, message):
        return len(set(batch.arrays.get((BID, message.name), ()))) > 1

    def answerable(self, batch, claim):
        values = batch.arrays.get((claim.ground, claim.message.name))
        if claim.ground == DOUBLE_BID or values is None:
            return False
        return claim.ground != BID or not claim.value_known or claim.message.value in values

    def open(self, by, batch, claim, draft=None):
        rules, era, agent = self.rules, batch.era, batch.agent
        self.need(self.stake(agent, era) > 0 and not era.slashed, "the era is empty")
        self.need(self.slot <= batch.slot + rules.window, "the batch's window is over")
        if claim.ground == DOUBLE_BID:
            self.need(self.is_double(batch, claim.message), "not a double bid")
        else:
            self.need(self.counts(batch, claim.message), "not evidence")
        if draft:
            self.need(draft.owner == by and draft.state == "live", "not your draft")
            self.need(draft.commit == (id(batch), claim.message), "other evidence than committed to")
        strong = batch.claims.get(claim._replace(value_known=True))
        weak = claim.ground == BID and not claim.value_known
        self.need(rules.weak_after_strong or not weak or strong is None, "the claim exists with its value")
        ranked = draft is not None and self.alive(draft) and draft.era is era
        older = batch.claims.get(claim)
        if older:
            self.need(ranked and older.state == "open" and draft.rank < older.rank, "the claim exists")
            older.state = "overtaken"
            self.pay(("challenge", older.number), older.owner, rules.challenge_stake)
            self.pay(("challenge", older.number), older.owner, RENT["challenge"], 1)
        rank = draft.rank if ranked else self.take_rank(era)
        challenge = Challenge(self.number(), by, batch, claim, rank, self.slot)
        if draft:
            self.close_draft(draft, by if ranked else self.receiver(by))
        self.pay(by, ("challenge", challenge.number), rules.challenge_stake)
        self.pay(by, ("challenge", challenge.number), RENT["challenge"], 1)
        era.queue.append(challenge)
        batch.claims[claim] = challenge
        self.fee(by)
        self.did(f"{by} challenges with rank {rank}: {claim.ground} of {claim.message.name}")
        return challenge

    def knows(self, who, batch, record):
        return who in batch.keepers or record in batch.public

    def answer(self, challenge, by):
        """Shows the record; pays out at once. The record is public from then on."""
        rules, batch, claim = self.rules, challenge.batch, challenge.claim
        self.need(challenge.state == "open", "not open")
        self.need(self.slot <= challenge.slot + rules.window, "the answer's window is over")
        record = (claim.ground, claim.message.name)
        self.need(self.answerable(batch, claim), "the batch has no such record")
        self.need(self.knows(by, batch, record), "the record is not known")
        account, era = ("challenge", challenge.number), batch.era
        challenge.state = "answered"
        self.to_agent(account, batch.agent, self.era_of_credit(batch), rules.lost_to_agent)
        self.pay(account, by, rules.lost_to_answerer)
        self.to_treasury(account, self.holds(account))
        self.pay(account, challenge.owner, RENT["challenge"], 1)
        batch.public.add(record)
        self.fee(by)
        self.sweep(batch.agent, era)
        self.did(f"{by} answers {challenge.owner}")

    def era_of_credit(self, batch):
        if self.rules.credit == "challenged":
            return batch.era
        # The note's "current era" need not exist after take_over: a new one is made for the new owner.
        agent = batch.agent
        if agent.era.owner != agent.owner:
            agent.eras.append(Era(len(agent.eras), agent.owner))
        return agent.era

    def blocked(self, era, rank):
        """What of a lower rank is neither settled nor lapsed."""
        return [
            item
            for item in era.queue
            if item.rank < rank and (self.alive(item) if isinstance(item, Draft) else item.state == "open")
        ]

    def resolve(self, challenge, by):
        """Slashes, when the answer's window is over and the rank is first. A double bid has no window."""
        rules, era, agent = self.rules, challenge.batch.era, challenge.batch.agent
        self.need(challenge.state == "open", "not open")
        if challenge.claim.ground != DOUBLE_BID:
            self.need(self.slot > challenge.slot + rules.window, "the answer's window is not over")
        self.need(not self.blocked(era, challenge.rank), "a lower rank is not settled")
        for item in era.queue:
            if isinstance(item, Draft) and item.state == "live" and item.rank < challenge.rank:
                self.lapse(item, by)
        challenge.state = "won"
        pot = self.pot(agent, era)
        if not era.slashed:
            era.slashed, era.slashed_slot = True, self.slot
            stake = self.stake(agent, era)
            self.slashes.append((agent, era, stake))
            self.pay(self.purse(agent, era), pot, stake * rules.finders.numerator // rules.finders.denominator)
            self.to_treasury(self.purse(agent, era), self.stake(agent, era))
        won = self.holds(pot) * rules.share.numerator // rules.share.denominator
        self.pay(pot, challenge.owner, won)
        self.pay(("challenge", challenge.number), challenge.owner, rules.challenge_stake)
        self.pay(("challenge", challenge.number), challenge.owner, RENT["challenge"], 1)
        self.fee(by)
        self.sweep(agent, era)
        self.did(f"{challenge.owner} wins {won}")
        return won

    def sweep(self, agent, era):
        """What finders left of their part goes to the treasury once no challenge of the era is open."""
        if era.slashed and not era.challenges():
            self.to_treasury(self.pot(agent, era), self.holds(self.pot(agent, era)))

    # Asks (P4)

    def ask(self, by, batch, record):
        self.need(record in batch.arrays, "index out of range")
        self.need(self.slot <= batch.slot + self.rules.ask_until, "too late to ask")
        self.need(not batch.withheld, "withheld already")
        self.need(all(ask.record != record for ask in batch.asks), "the ask exists")
        rank = self.number() if self.rules.fines_wait else self.take_rank(batch.era)
        ask = Ask(self.number(), by, batch, record, rank, self.slot)
        self.pay(by, ("ask", ask.number), self.rules.ask_price)
        self.pay(by, ("ask", ask.number), RENT["ask"], 1)
        batch.asks.append(ask)
        if not self.rules.fines_wait:
            batch.era.queue.append(ask)
        self.fee(by)
        self.did(f"{by} asks for {record}")
        return ask

    def show(self, ask, by):
        self.need(ask.state == "open", "not open")
        self.need(self.slot <= ask.slot + self.rules.ask_answer, "the answer's window is over")
        self.need(self.knows(by, ask.batch, ask.record), "the leaf is not known")
        ask.state = "shown"
        ask.batch.public.add(ask.record)
        account, batch = ("ask", ask.number), ask.batch
        self.pay(account, by, self.rules.ask_to_answerer)
        self.to_agent(account, batch.agent, batch.era, self.rules.ask_to_agent)
        self.to_treasury(account, self.holds(account))
        self.pay(("ask", ask.number), ask.owner, RENT["ask"], 1)
        self.fee(by)
        self.did(f"{by} shows {ask.record}")

    def give_back(self, ask):
        self.pay(("ask", ask.number), ask.owner, self.rules.ask_price)
        self.pay(("ask", ask.number), ask.owner, RENT["ask"], 1)

    def settle_ask(self, ask, by):
        """An unanswered ask: the batch is withheld, and the era pays one fine a batch."""
        rules, batch = self.rules, ask.batch
        self.need(ask.state == "open", "not open")
        self.need(self.slot > ask.slot + rules.ask_answer, "the answer's window is not over")
        self.need(all(other.state != "open" or other.rank >= ask.rank for other in batch.asks), "an older ask is open")
        if rules.fines_wait:
            self.need(not batch.era.challenges(), "the fine waits for an open challenge")
        else:
            self.need(not self.blocked(batch.era, ask.rank), "a lower rank is not settled")
        ask.state, batch.withheld = "unanswered", True
        self.give_back(ask)
        fine = min(rules.fine, self.stake(batch.agent, batch.era))
        purse = self.purse(batch.agent, batch.era)
        asker = fine * rules.fine_to_asker // rules.fine if rules.fine else 0
        self.pay(purse, ask.owner, asker)
        self.to_treasury(purse, fine - asker)
        for other in batch.asks:
            if other.state == "open":
                other.state = "returned"
                self.give_back(other)
        self.fee(by)
        self.did(f"{ask.owner} is paid {asker} for a withheld leaf")
        return fine
