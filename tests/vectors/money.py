"""The market's money table (fix.md, "Escrow"; decisions E4, E5, E7, E20), a second time: the rows of
fix/escrow_routing.json."""

from decimal import Decimal

JUDGE_FEE = Decimal("0.17")
COURTS = {"district": Decimal("0.02"), "appeals": Decimal("0.05"), "supreme": Decimal("0.10")}
BOUNTIES = ("0.5", "1", "100")
SIDES = ("principal", "agent")
OTHER = {"principal": "agent", "agent": "principal"}


def platform_fee(bounty):
    return max(bounty / 10, Decimal("0.002"))


class Pot:
    """Both deposits; what is taken out of one goes to somebody, and what is left goes back."""

    def __init__(self, bounty):
        self.bounty = bounty
        self.fee = platform_fee(bounty)
        self.got = dict.fromkeys(("principal", "agent", "platform", "charity"), Decimal(0))
        self.left = dict.fromkeys(SIDES, bounty + JUDGE_FEE)
        self.deposited = sum(self.left.values())

    def move(self, side, to, amount):
        assert 0 <= amount <= self.left[side]
        self.left[side] -= amount
        self.got[to] += amount

    def end(self):
        for side in SIDES:
            self.move(side, side, self.left[side])
        assert sum(self.got.values()) == self.deposited
        return self.got


def fulfilled(pot):
    pot.move("principal", "platform", pot.fee)
    pot.move("principal", "agent", pot.bounty - pot.fee)


def canceled(pot):
    pot.move("principal", "platform", pot.fee)


def late(by):
    def take(pot):
        if by == "principal":
            canceled(pot)
        pot.move(by, OTHER[by], pot.bounty / 10)
        pot.move(by, "platform", pot.bounty / 10)
        # The whole row of an agent's leaving: the posting fee is due when nobody else takes the contract.
        if by == "agent":
            canceled(pot)

    return take


def after_fix(pot):
    canceled(pot)
    pot.move("principal", "agent", pot.bounty / 2)


def nothing(pot):
    del pot


def evil(*sides):
    def take(pot):
        for side in sides:
            # The platform's fee is taken once, out of the first account that is forfeited.
            fee = pot.fee if side == sides[0] else Decimal(0)
            pot.move(side, "platform", fee)
            pot.move(side, "charity", pot.bounty - fee)

    return take


ENDS = {
    "fulfilled": fulfilled,
    "canceled_attempts_exhausted": canceled,
    "grace_cancel": nothing,
    "late_cancel_by_agent": late("agent"),
    "late_cancel_by_principal": late("principal"),
    "late_cancel_after_fix": after_fix,
    "voided": nothing,
}
# What a ruling moves, and who has lost.
RULINGS = {
    "fulfilled": (fulfilled, ("principal",)),
    "canceled": (canceled, ("agent",)),
    "impossible": (nothing, ()),
    "evil_agent": (evil("agent"), ("agent",)),
    "evil_principal": (evil("principal"), ("principal",)),
    "evil_both": (evil(*SIDES), SIDES),
}


def row(scenario, bounty, court, take, payers, filer=None):
    pot = Pot(Decimal(bounty))
    take(pot)
    for side in payers:
        pot.move(side, "platform", COURTS[court])
    called = {} if filer is None else {"filer": filer}
    amounts = {"deposited": pot.deposited, **pot.end()}
    texts = {name: f"{amount.normalize():f}" for name, amount in amounts.items()}
    return {"scenario": scenario, "court": court, **called, "bounty": bounty, **texts}


def rows():
    table = []
    for bounty in BOUNTIES:
        table += [row(name, bounty, None, take, ()) for name, take in ENDS.items()]
        for court in COURTS:
            for outcome, (take, losers) in RULINGS.items():
                scenario = f"ruling_{outcome}"
                if losers:
                    table.append(row(scenario, bounty, court, take, losers))
                    continue
                # Nobody has won: who called the court pays. Only the first court's answer can be unreadable and still be
                # a ruling, and then nobody pays.
                if court == "district":
                    table.append(row(scenario, bounty, court, take, ()))
                table += [row(scenario, bounty, court, take, (filer,), filer) for filer in SIDES]
    return table



def again(item):
    """The row that should stand in place of this one."""
    return next(row for row in rows() if all(row.get(name) == item.get(name) for name in KEY))


KEY = ("scenario", "court", "filer", "bounty")
ABOUT = (
    "payouts in XNO for every outcome; both sides deposited bounty + 0.17; every row sums to deposited. filer: who called "
    "the court that has found for nobody; without it its answer could not be read. docs/decisions.md says why."
)
FILES = {"fix/escrow_routing": (ABOUT, {"rows": rows})}
