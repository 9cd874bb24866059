"""Liars: agents that hide a deal, each with an accomplice."""

from game import DOUBLE_BID, Claim, Draft, Message, claims
from players import HonestAgent, Player


class Liar(HonestAgent):
    """Hides a deal, answers all that it can."""

    lies = 1
    helper = "accomplice"

    def __init__(self, name="liar", **changes):
        super().__init__(name, **changes)

    def keepers(self):
        return {self.name, self.helper}

    def strangers(self, table):
        """Open challenges and live drafts of others: the liar sees that it is caught."""
        era = table.last.era
        own = (self.name, self.helper)
        return [
            item
            for item in era.queue
            if item.owner not in own
            and (table.game.alive(item) if isinstance(item, Draft) else item.state == "open")
        ]

    def helps(self, table):
        """Resolves what the accomplice opened."""
        helper = Player(self.helper)
        helper.settle_own(table)


class SelfChallengingLiar(Liar):
    """Its accomplice challenges the lies at once, by as many claims as there are."""

    def move(self, table):
        super().move(table)
        if table.now == 0:
            for lie in table.lies:
                for claim in claims(lie):
                    self.may(table.game.open, self.helper, table.last, claim)
        self.helps(table)


class ParachuteLiar(Liar):
    """Plants a double bid in each batch; the accomplice opens it as soon as a finder shows up."""

    planted = True
    extra = False  # the accomplice opens all other claims about the lie too

    def move(self, table):
        super().move(table)
        if self.strangers(table):
            twin = Message("twin", table.last.covers[-1])
            self.may(table.game.open, self.helper, table.last, Claim(DOUBLE_BID, False, twin))
            for claim in claims(table.lies[0]) if self.extra else ():
                self.may(table.game.open, self.helper, table.last, claim)
        self.helps(table)


class StandingDrafts(Liar):
    """Its accomplice holds a live rank through the whole window, for the lie itself."""

    draft = None

    def ticks(self, table):
        rules = table.game.rules
        last = rules.window - 3 * rules.rank_slots
        return {*range(0, rules.window + 1, rules.rank_slots), last + 1, last + 2, last + 3}

    def move(self, table):
        super().move(table)
        game, batch, lie = table.game, table.last, table.lies[0]
        if [item for item in self.strangers(table) if not isinstance(item, Draft)]:
            if self.draft and game.alive(self.draft):
                self.may(game.open, self.helper, batch, claims(lie)[0], self.draft)
                self.draft = None
        elif table.now <= game.rules.window:
            if not self.draft or game.slot >= self.draft.slot + game.rules.rank_slots:
                self.draft = self.may(game.begin, self.helper, table.agent, batch.era, batch, lie)
        self.helps(table)


class CoveredLiar(Liar):
    """Opens answerable challenges against itself before anybody looks, and answers them in their last slot unless a
    finder has shown up. The records that they demand lie in an older batch, whose leaves cannot be asked for."""

    covers = 1
    served = False
    batches = 2
    silent = True  # challenges the older batch; else the false one, which is served

    def __init__(self, name="liar", **changes):
        super().__init__(name, **changes)
        self.deals = self.covers

    def start(self, table):
        super().start(table)
        if self.silent:
            table.last.public.update(table.last.arrays)

    def answers(self, table, challenge):
        if challenge.owner != self.helper:
            return True
        last_slot = challenge.slot + table.game.rules.window
        return table.game.slot == last_slot and not self.strangers(table)

    def move(self, table):
        if table.now == 1:
            batch = table.batches[0] if self.silent else table.last
            for message in table.deals[id(batch)]:
                self.may(table.game.open, self.helper, batch, claims(message)[0])
        super().move(table)
        self.helps(table)


class AskingLiar(Liar):
    """Asks for leaves of its own batches, and shows them in the last slot unless a finder has shown up."""

    served = False
    batches = 3

    def shows(self, table, ask):
        if ask.owner != self.helper:
            return True
        return table.game.slot == ask.slot + table.game.rules.ask_answer and not self.strangers(table)

    def move(self, table):
        if table.now == 0:
            for batch in table.batches:
                self.may(table.game.ask, self.helper, batch, next(iter(batch.arrays)))
        super().move(table)
        self.helps(table)


class WithholdingLiar(Liar):
    """Shows no leaf. With `covered` its accomplice has the oldest ask, which is shown unless a stranger asks too."""

    served = False
    covered = False

    def shows(self, table, ask):
        own = ask.owner == self.helper
        strangers = [other for other in ask.batch.asks if other.owner != self.helper and other.state == "open"]
        return own and not strangers and table.game.slot == ask.slot + table.game.rules.ask_answer

    def move(self, table):
        if self.covered and table.now == 0:
            self.may(table.game.ask, self.helper, table.last, next(iter(table.last.arrays)))
        super().move(table)
        self.helps(table)
