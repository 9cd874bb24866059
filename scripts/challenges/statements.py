"""What must hold, the figures behind it, and the sweep over amounts that chooses the defaults."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from game import SOL, TREASURY, USDC, Rules
from liars import AskingLiar, CoveredLiar, Liar, ParachuteLiar, SelfChallengingLiar, StandingDrafts
from players import HonestAgent, SleepingAgent, play
from strangers import (
    AnsweringFinder, BatchThief, Borrower, Buyer, Bystander, Copier, DealThief, EndedBatchThief, Finder,
    Fisher, Frivolous, FrontRunner, PayThief, PeerThief, Seller, WalletThief,
)  # fmt: skip

# What the statements assume
SOL_PRICE = 150  # USDC a SOL: what fees and deposits are worth
EFFORT = Fraction(15 * USDC, 100)  # below this nobody bothers to challenge, to answer or to show
DOWN = Fraction(1, 10)  # chance that an honest agent is down through a whole window
CERTAINTY = Fraction(1, 2)  # a lone finder must not need more than this
ASKING = Fraction(1, 6)  # who asks must not need more than this
BATCHES = 3  # can be landed in one slot, and then be withheld together
KEPT = Fraction(40, 100)  # of a stake, at most, for a caught liar and all its accomplices

COALITION = ("liar", "accomplice")
THIEVES = (PayThief, PeerThief, DealThief, BatchThief, EndedBatchThief, WalletThief, Borrower)


def lies(rules):
    """Every liar, with a fresh player for each game."""
    return {
        "plain": Liar,
        "self-challenge": SelfChallengingLiar,
        "self-challenge, all claims": partial(SelfChallengingLiar, lies=8),
        "parachute": ParachuteLiar,
        "parachute, all claims": partial(ParachuteLiar, extra=True),
        "cover": CoveredLiar,
        "two covers": partial(CoveredLiar, covers=2),
        "cover on served data": partial(CoveredLiar, silent=False, served=True),
        "asks": AskingLiar,
        "asks, one batch": partial(AskingLiar, batches=1),
    }


def finders():
    return {
        "one claim": AnsweringFinder,
        "every claim": partial(AnsweringFinder, every_claim=True),
        "every claim, late": partial(AnsweringFinder, at=216_001, every_claim=True),
    }


@dataclass
class Figures:
    """Micro-USDC, fees and deposits included at SOL_PRICE, unless a name says otherwise."""

    rules: Rules
    lone: Fraction  # a finder's gain from one claim
    every: Fraction  # from every claim of its evidence
    wrong: Fraction  # its loss when the record exists
    worst: Fraction  # its gain against the worst liar
    worst_liar: str
    recovered: Fraction  # share of the stake that the luckiest caught coalition keeps
    luckiest: str
    cover: Fraction  # what it costs to hold a finder with one claim to EFFORT
    covers: int
    awake: Fraction  # the worst of an honest agent that is awake
    asleep: Fraction  # the worst of one asleep, by challenges
    asleep_asks: Fraction  # by asks, for one batch
    withheld: Fraction  # by asks, for BATCHES batches
    frivolous: Fraction  # gain of a frivolous challenger of a sleeping agent
    fisher: Fraction  # gain of a fisher
    fisher_wrong: Fraction  # its loss when the leaf is shown
    answerer: Fraction  # what an answer pays
    shower: Fraction  # what showing a leaf pays
    copier: Fraction
    copied: Fraction  # a finder's gain with a copier around, less its gain without
    asked: Fraction  # a finder's gain at once against a liar that asked itself, less its gain without
    parachuted: Fraction  # a finder's gain against a parachute, less its gain against a plain liar
    treasury: Fraction  # gain of the treasury's holder from a frivolous challenge of an agent that is awake
    farmer: Fraction  # of a pair that challenges and answers itself, the treasury's part apart
    standing: Fraction  # what a live rank through a whole window costs, to a coalition with the treasury's holder
    thieves: dict
    thief_loss: Fraction  # the most that an agent loses to a thief of a key
    buyer: Fraction
    seller: Fraction

    @property
    def break_even(self):
        return self.wrong / (self.wrong + self.lone)

    @property
    def down(self):
        """The chance of being down from which a frivolous challenge pays."""
        return self.wrong / (self.wrong + self.frivolous)

    @property
    def down_asks(self):
        return self.fisher_wrong / (self.fisher_wrong + self.fisher)

    @property
    def caught(self):
        """What a caught coalition loses at least."""
        return self.rules.min_stake * (1 - self.rules.finders)


def measure(rules, all_thieves=True):
    def net(make, *names):
        return play(rules, make).net(SOL_PRICE, *names)

    stake = rules.min_stake
    every = partial(AnsweringFinder, every_claim=True)
    worst, recovered = [], []
    for liar_name, liar in lies(rules).items():
        alone = play(rules, lambda: [liar()])
        if alone.slashed:
            recovered.append((1 + alone.of(*COALITION) / stake, liar_name))
        gains = []
        for finder in finders().values():
            result = play(rules, lambda: [liar(), finder()])
            if result.slashed:
                recovered.append((1 + result.of(*COALITION) / stake, liar_name))
            gains.append(result.net(SOL_PRICE, "finder"))
        if not alone.slashed:
            worst.append((max(gains), liar_name))
    worst = min(worst, key=lambda pair: pair[0])
    luckiest = max(recovered, key=lambda pair: pair[0])
    covers, cover = 0, Fraction(0)
    while covers < 16:
        covers += 1
        cover = -net(lambda: [CoveredLiar(covers=covers)], *COALITION)
        gain = net(lambda: [CoveredLiar(covers=covers), Finder()], "finder")
        if gain <= EFFORT:
            break
    awake = [
        net(lambda: [HonestAgent(served=served), attacker(), *more], "agent")
        for served in (True, False)
        for attacker in (
            Frivolous,
            partial(Frivolous, claims=4),
            partial(Frivolous, answers=True),
            Fisher,
            partial(Fisher, asks=4),
            partial(Fisher, last=True),
            partial(Finder, wins=False),
        )
        for more in ([], [FrontRunner()], [Copier()])
    ]
    thieves = {
        thief.__name__: (result.net(SOL_PRICE, "thief"), result.of("agent"))
        for thief in (THIEVES if all_thieves else ())
        for result in [play(rules, lambda: [HonestAgent(), thief()])]
    }
    lone = net(lambda: [Liar(), Finder()], "finder")
    alike = net(lambda: [Liar(), every()], "finder")
    sold = play(rules, lambda: [HonestAgent(), Seller("seller")])
    bought = play(rules, lambda: [HonestAgent(), Buyer("buyer")])
    served = play(rules, lambda: [SleepingAgent(served=True), Bystander(), Frivolous(), Fisher(last=True)])
    copiers = [
        play(rules, lambda: [Liar(), every(), Copier(drafts=drafts)]) for drafts in (True, False)
    ] + [play(rules, lambda: [Liar(), Finder(), Copier()])]
    frivolous = play(rules, lambda: [HonestAgent(served=False), Frivolous()])
    return Figures(
        rules=rules,
        lone=lone,
        every=alike,
        wrong=-net(lambda: [HonestAgent(), Finder(wins=False)], "finder"),
        worst=worst[0],
        worst_liar=worst[1],
        recovered=luckiest[0],
        luckiest=luckiest[1],
        cover=cover,
        covers=covers,
        awake=min(awake),
        asleep=net(lambda: [SleepingAgent(), Frivolous(claims=4)], "agent"),
        asleep_asks=net(lambda: [SleepingAgent(), Fisher(asks=4)], "agent"),
        withheld=net(lambda: [SleepingAgent(batches=BATCHES), *fishers()], "agent"),
        frivolous=net(lambda: [SleepingAgent(), Frivolous()], "frivolous"),
        fisher=net(lambda: [SleepingAgent(), Fisher()], "fisher"),
        fisher_wrong=-net(lambda: [HonestAgent(), Fisher()], "fisher"),
        answerer=rules.lost_to_answerer - fee_worth(),
        shower=rules.ask_to_answerer - fee_worth(),
        copier=max(result.net(SOL_PRICE, "copier") for result in copiers),
        copied=min(
            copiers[0].net(SOL_PRICE, "finder") - alike,
            copiers[1].net(SOL_PRICE, "finder") - alike,
            copiers[2].net(SOL_PRICE, "finder") - lone,
        ),
        asked=net(lambda: [AskingLiar(), Finder()], "finder") - lone,
        parachuted=net(lambda: [ParachuteLiar(extra=True), Finder()], "finder") - lone,
        treasury=net(lambda: [HonestAgent(), Frivolous(TREASURY, answers=True)], TREASURY),
        farmer=frivolous.of("agent", "frivolous"),
        standing=standing(rules),
        thieves=thieves,
        thief_loss=-min([loss for _, loss in thieves.values()], default=Fraction(0)),
        buyer=sold.of("buyer"),
        seller=min(bought.of("agent"), -bought.of("buyer") - rules.challenge_stake),
    )


def fishers():
    """One ask for each of the batches that were landed together."""

    class FisherOf(Fisher):
        def __init__(self, at):
            super().__init__("fisher")
            self.batch = at

        def move(self, table):
            if table.now == 0:
                batch = table.batches[self.batch]
                table.game.ask(self.name, batch, next(iter(batch.arrays)))
            self.settle_own(table)

    return [FisherOf(at) for at in range(BATCHES)]


def fee_worth(transactions=1):
    return Fraction(transactions * 5_000 * SOL_PRICE * USDC, SOL)


def usdc(micro, places=3):
    """Rounded half up."""
    sign = "-" if micro < 0 else ""
    cents = int(abs(Fraction(micro)) * 10**places / USDC + Fraction(1, 2))
    whole, rest = divmod(cents, 10**places)
    text = f"{whole}.{rest:0{places}}".rstrip("0").rstrip(".") if places else str(whole)
    return f"{sign}{text}" if text != "0" else "0"


def percent(share, places=1):
    scaled = int(share * 100 * 10**places + Fraction(1, 2))
    whole, rest = divmod(scaled, 10**places)
    return f"{whole}.{rest:0{places}}".rstrip("0").rstrip(".") + " %"


# key, what must hold, whether it does, what to say when it does not
STATEMENTS = (
    ("awake", "an honest agent that is awake never loses anything, fees included",
     lambda f: f.awake >= 0, lambda f: f"it loses {usdc(-f.awake)}"),
    ("asleep", "asleep it loses at most its stake by a challenge and one fine a batch by asks",
     lambda f: -f.asleep <= f.rules.min_stake and -f.asleep_asks <= f.rules.fine,
     lambda f: f"{usdc(-f.asleep)} and {usdc(-f.asleep_asks)}"),
    ("fines", f"the fines of {BATCHES} batches landed together do not exceed the minimum stake",
     lambda f: BATCHES * f.rules.fine <= f.rules.min_stake,
     lambda f: f"{usdc(BATCHES * f.rules.fine)} of {usdc(f.rules.min_stake)}"),
    ("tempting", f"attacking an agent that is down through one window in {1 / DOWN} does not pay",
     lambda f: min(f.down, f.down_asks) > DOWN, lambda f: f"pays from {percent(min(f.down, f.down_asks))}"),
    ("answering", f"answering and showing pay anyone at least {usdc(EFFORT)} after the fee",
     lambda f: min(f.answerer, f.shower) >= EFFORT - fee_worth(), lambda f: f"{usdc(min(f.answerer, f.shower))}"),
    ("liar", f"a caught liar and its accomplices keep at most {percent(KEPT)} of the stake",
     lambda f: f.recovered <= KEPT, lambda f: f"{percent(f.recovered)} ({f.luckiest})"),
    ("finder", f"a finder with certainty gains more than {usdc(EFFORT)}, whatever the liar prepared",
     lambda f: f.worst > EFFORT, lambda f: f"{usdc(f.worst)} ({f.worst_liar})"),
    ("certainty", f"a lone finder needs a certainty of less than {percent(CERTAINTY)}",
     lambda f: f.break_even < CERTAINTY, lambda f: percent(f.break_even, 2)),
    ("asker", f"who asks for a withheld leaf needs a certainty of at most {percent(ASKING)}",
     lambda f: f.down_asks <= ASKING, lambda f: percent(f.down_asks)),
    ("cover", "deterring every finder in advance costs a liar at least what it loses when caught",
     lambda f: f.cover >= f.caught, lambda f: f"{usdc(f.cover)} against {usdc(f.caught)}"),
    ("copier", "a copier gains nothing and takes nothing from the finder",
     lambda f: f.copier <= 0 and f.copied >= 0, lambda f: f"{usdc(f.copier)}, {usdc(f.copied)}"),
    ("parachute", "a claim opened after the finder's takes nothing from it",
     lambda f: f.parachuted >= 0, lambda f: usdc(f.parachuted)),
    ("asks", "asks that a liar opened in advance take nothing from the finder, whenever it comes",
     lambda f: f.asked >= 0, lambda f: usdc(f.asked)),
    ("standing", "a live rank through a whole window costs more than the stake, also to the treasury's holder",
     lambda f: f.standing > f.rules.min_stake, lambda f: usdc(f.standing)),
    ("treasury", "the treasury's holder pays for each frivolous challenge, also when it answers itself",
     lambda f: f.treasury < -fee_worth(5), lambda f: usdc(f.treasury)),
    ("farmer", "who challenges and answers itself loses",
     lambda f: f.farmer < 0, lambda f: usdc(f.farmer)),
    ("sale", "on the day of sale neither side can take or be paid the other's money",
     lambda f: f.buyer >= 0 and f.seller >= 0, lambda f: f"{usdc(f.buyer)}, {usdc(f.seller)}"),
    ("thief", "a stolen key costs at most one era's stake and brings at most the finders' part; "
              "pay and peer keys and the wallet for one slot bring nothing",
     lambda f: all(
         gain <= (f.rules.finders * f.rules.min_stake if name in ("DealThief", "BatchThief") else 0)
         for name, (gain, _) in f.thieves.items()) and f.thief_loss <= f.rules.min_stake,
     lambda f: str({name: usdc(gain) for name, (gain, _) in f.thieves.items()})),
)  # fmt: skip


def failures(figures):
    """(key, why) of every statement that does not hold."""
    return [(key, why(figures)) for key, _, holds, why in STATEMENTS if not holds(figures)]


# The sweep

STAKES = (10, 20, 30, 40, 50)
CHALLENGES = (2, 3, 4, 5, 6, 8, 10)
PARTS = (Fraction(30, 100), Fraction(40, 100), Fraction(50, 100))
SHARES = (Fraction(1), Fraction(2, 3), Fraction(1, 2), Fraction(1, 3))
OBJECTIVE = (
    "the least stake that an honest agent must bind, then the least certainty that a lone finder needs, then the "
    "largest reward of a lone finder"
)


def objective(figures):
    return figures.rules.min_stake, figures.break_even, -figures.lone


def candidates(base):
    for stake in STAKES:
        for challenge in CHALLENGES:
            for part in PARTS:
                for share in SHARES:
                    rules = base.with_stakes(stake * USDC, challenge * USDC, part)
                    yield replace(rules, share=share)


def documents(base):
    """The amounts of the protocol's document: 10, 10 and 50 %, and nothing for the answerer."""
    rules = base.with_stakes(10 * USDC, 10 * USDC, Fraction(1, 2), lost=False)
    return replace(rules, share=Fraction(1))


def sweep(base, up_to=max(STAKES)):
    """(figures, failures) of all candidates with a stake of at most `up_to` USDC, best first."""
    found = []
    for rules in candidates(base):
        if rules.min_stake <= up_to * USDC:
            figures = measure(rules, False)
            found.append((figures, failures(figures)))
    return sorted(found, key=lambda pair: (len(pair[1]), objective(pair[0])))


def standing(rules, slots=3_000):
    """Deposits and fees of standing drafts through one window, measured on `slots` of it, in micro-USDC."""
    short = replace(rules, window=slots, ask_until=slots // 2, ask_answer=slots // 4)
    result = play(short, lambda: [StandingDrafts()])
    paid = -sum(result.lamports[name] for name in ("accomplice", TREASURY))
    return paid * rules.window / slots * SOL_PRICE * USDC / SOL
