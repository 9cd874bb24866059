"""Games computed by hand. Amounts in USDC unless they end in `lamports`."""

import unittest
from dataclasses import replace
from fractions import Fraction

import report
import search
import statements
from game import (
    BID, BURNT, DOUBLE_BID, EPOCH, RENT, SELECTION, SIGNATURE, SOL, TREASURY, USDC, Claim, Game, Message, Refused,
    Rules, claims,
)  # fmt: skip
from liars import AskingLiar, CoveredLiar, StandingDrafts
from players import HonestAgent, SleepingAgent, play
from strangers import Buyer, Finder, Frivolous

WINDOW = Rules().window
DEAL = Message("deal", 9)
LIE = Message("lie", 9)
TWIN = Message("twin", 9)


def gains(result, *names):
    return tuple(Fraction(result.of(name), USDC) for name in names)


class Games(unittest.TestCase):
    """An agent `a` with 30 locked and a batch of epoch 9: `deal`, a false value of `half`, a double bid."""

    def setUp(self):
        self.begin(Rules())

    def begin(self, rules, stake=30):
        self.game = game = Game(rules)
        self.agent = game.register("A", "a")
        self.era = game.lock(self.agent, "a", stake * USDC)
        arrays = {**DEAL.records(), (BID, "twin"): (1, 2), (BID, "half"): (7,), (SELECTION, "half"): ()}
        self.batch = game.land(self.agent, "a", 9, arrays, {"a"}, ())
        self.zero = game.slot

    def at(self, slots):
        self.game.slot = self.zero + slots

    def usdc(self, *names):
        return tuple(Fraction(self.game.gain(name)[0], USDC) for name in names)

    def refuses(self, why, action, *arguments):
        with self.assertRaises(Refused) as refused:
            action(*arguments)
        self.assertIn(why, str(refused.exception))

    def open(self, who, claim=None, draft=None):
        return self.game.open(who, self.batch, claim or claims(LIE)[0], draft)

    def double(self):
        return Claim(DOUBLE_BID, False, TWIN)

    # Slashes and ranks

    def test_an_unanswered_claim_takes_the_stake_one_slot_after_the_window(self):
        challenge = self.open("f")
        self.at(WINDOW)
        self.refuses("window is not over", self.game.resolve, challenge, "f")
        self.at(WINDOW + 1)
        # 40 % of 30 is 12; half of it is 6; the rest of 24 goes to the treasury.
        self.assertEqual(self.game.resolve(challenge, "f"), 6 * USDC)
        self.assertEqual(self.usdc("a", "f", TREASURY), (-30, 6, 24))

    def test_two_claims_of_one_finder_share_by_halves(self):
        first, second = self.open("f"), self.open("f", claims(LIE)[1])
        self.at(WINDOW + 1)
        self.refuses("lower rank", self.game.resolve, second, "f")
        self.game.resolve(first, "f")
        self.game.resolve(second, "f")
        self.assertEqual(self.usdc("a", "f", TREASURY), (-30, 9, 21))  # 6 + 3

    def test_a_double_bid_needs_no_window_but_the_first_rank(self):
        draft = self.game.begin("f", self.agent, self.era, self.batch, LIE)
        parachute = self.open("x", self.double())
        self.refuses("lower rank", self.game.resolve, parachute, "x")
        found = self.open("f", draft=draft)
        self.refuses("lower rank", self.game.resolve, parachute, "x")
        self.at(WINDOW + 1)
        self.game.resolve(found, "f")
        self.game.resolve(parachute, "x")
        self.assertEqual(self.usdc("a", "x", "f", TREASURY), (-30, 3, 6, 21))

    def test_a_double_bid_alone_is_settled_in_its_slot(self):
        self.game.resolve(self.open("x", self.double()), "x")
        self.assertEqual(self.usdc("a", "x", TREASURY), (-30, 6, 24))

    def test_a_rank_lives_300_slots_and_its_deposit_burns_after_them(self):
        draft = self.game.begin("x", self.agent, self.era, self.batch, LIE)
        found = self.open("f", self.double())
        self.at(300)
        self.refuses("lower rank", self.game.resolve, found, "f")
        self.refuses("alive", self.game.lapse, draft, "f")
        self.at(301)
        self.game.resolve(found, "f")
        self.assertEqual(self.game.gain("x")[1], -SOL // 100 - SIGNATURE)
        self.assertEqual(self.game.gain(BURNT)[1], SOL // 100)

    def test_a_used_rank_returns_its_deposit_and_all_rents(self):
        draft = self.game.begin("f", self.agent, self.era, self.batch, LIE)
        self.assertEqual(self.game.gain("f")[1], -SOL // 100 - RENT["draft"] - SIGNATURE)
        challenge = self.open("f", draft=draft)
        self.at(WINDOW + 1)
        self.game.resolve(challenge, "f")
        self.assertEqual(self.game.gain("f")[1], -3 * SIGNATURE)

    def test_a_draft_of_a_later_batch_keeps_no_place(self):
        draft = self.game.begin("x", self.agent, self.era, self.batch, Message("lie", 10))
        self.at(EPOCH)
        later = self.game.land(self.agent, "a", 10, {}, {"a"})
        self.refuses("other evidence", self.game.open, "x", later, claims(Message("lie", 10))[0], draft)

    def test_a_copier_of_a_draft_gets_its_stake_back_and_nothing_else(self):
        draft = self.game.begin("f", self.agent, self.era, self.batch, LIE)
        self.open("copier")
        found = self.open("f", draft=draft)
        self.at(WINDOW + 1)
        self.game.resolve(found, "f")
        self.assertEqual(self.usdc("copier", "f"), (0, 6))
        self.assertEqual(self.game.gain("copier")[1], -SIGNATURE)

    def test_a_copier_without_a_draft_meets_a_taken_claim(self):
        self.open("f")
        self.refuses("the claim exists", self.open, "copier")

    def test_a_weak_claim_does_not_block_the_strong_one_but_the_other_way_it_does(self):
        half = Message("half", 9)
        weak = self.open("x", claims(half, payload=False)[0])
        strong = self.open("f", claims(half)[0])
        self.game.answer(weak, "a")  # any value answers the weak one
        self.refuses("no such record", self.game.answer, strong, "a")
        self.begin(Rules())
        self.open("f")
        self.refuses("with its value", self.open, "copier", claims(LIE, payload=False)[0])

    def test_the_second_finder_of_one_claim_gets_its_deposit_back(self):
        first = self.game.begin("f", self.agent, self.era, self.batch, LIE)
        second = self.game.begin("g", self.agent, self.era, self.batch, LIE)
        self.open("f", draft=first)
        self.refuses("the claim exists", self.open, "g", None, second)
        self.game.withdraw(second, "g", claims(LIE)[0])
        self.assertEqual(self.game.gain("g"), (0, -2 * SIGNATURE))

    def test_a_draft_is_spared_only_if_it_lived_when_its_era_was_emptied(self):
        old = self.game.begin("x", self.agent, self.era, self.batch, LIE)
        self.at(301)
        found = self.open("f", self.double())
        young = self.game.begin("g", self.agent, self.era, self.batch, LIE)
        self.game.slot += 1
        # Resolving passes the lapsed rank: its deposit burns before the era is emptied.
        self.game.resolve(found, "f")
        self.assertEqual((old.state, self.game.gain("x")[1]), ("closed", -SOL // 100 - SIGNATURE))
        self.refuses("the era is empty", self.open, "g", None, young)
        self.game.lapse(young, "g")
        self.assertEqual(self.game.gain("g")[1], -2 * SIGNATURE)

    def test_a_lapsed_draft_behind_the_winner_is_not_spared(self):
        self.open("f")
        draft = self.game.begin("x", self.agent, self.era, self.batch, TWIN)
        self.at(WINDOW + 1)
        self.game.resolve(self.batch.claims[claims(LIE)[0]], "f")
        self.game.lapse(draft, "x")
        self.assertEqual(self.game.gain("x")[1], -SOL // 100 - 2 * SIGNATURE)

    def test_a_draft_with_nothing_in_its_way_is_not_given_back(self):
        draft = self.game.begin("x", self.agent, self.era, self.batch, LIE)
        self.refuses("nothing is in its way", self.game.withdraw, draft, "x", claims(LIE)[0])
        self.open("f")  # a higher rank: the draft can overtake it
        self.refuses("nothing is in its way", self.game.withdraw, draft, "x", claims(LIE)[0])

    def test_a_rank_of_another_era_counts_for_nothing(self):
        self.open("y", claims(DEAL)[0])
        other = self.game.lock(self.agent, "a", 30 * USDC)
        draft = self.game.begin("f", self.agent, other, self.batch, LIE)
        self.assertEqual(self.open("f", draft=draft).rank, 2)

    def test_the_last_slot_of_the_window_is_in_it(self):
        self.at(WINDOW)
        self.open("f")
        self.at(WINDOW + 1)
        self.refuses("the batch's window is over", self.open, "f", claims(LIE)[1])

    # Answers

    def test_an_answer_pays_at_once(self):
        challenge = self.open("x", claims(DEAL)[0])
        self.at(WINDOW)
        self.game.answer(challenge, "a")
        self.assertEqual(self.usdc("a", "x", TREASURY), (2, -5, 3))  # 1.5 into the stake, 0.5 to the wallet
        self.assertEqual(self.game.stake(self.agent), 31_500_000)

    def test_an_answer_comes_in_the_window_or_not_at_all(self):
        challenge = self.open("x", claims(DEAL)[0])
        self.at(WINDOW + 1)
        self.refuses("window is over", self.game.answer, challenge, "a")

    def test_only_who_has_the_record_can_show_it(self):
        challenge = self.open("x", claims(DEAL)[0])
        self.refuses("not known", self.game.answer, challenge, "passer-by")
        self.batch.public.add((BID, "deal"))
        self.game.answer(challenge, "passer-by")
        self.assertEqual(self.usdc("a", "passer-by", "x", TREASURY), (Fraction(3, 2), Fraction(1, 2), -5, 3))

    def test_a_seller_is_paid_for_a_challenge_of_its_own_time(self):
        challenge = self.open("x", claims(DEAL)[0])
        self.game.take_over(self.agent, "b")
        self.game.lock(self.agent, "b", 30 * USDC)
        self.game.answer(challenge, "a")
        self.assertEqual(self.usdc("a", "b"), (2, 0))

    def test_no_batch_lands_and_no_top_up_joins_while_a_challenge_is_open(self):
        challenge = self.open("x", claims(DEAL)[0])
        self.at(EPOCH)
        self.refuses("a challenge is open", self.game.land, self.agent, "a", 10, {}, {"a"})
        self.game.lock(self.agent, "a", 30 * USDC)
        self.at(WINDOW + 1)
        self.game.resolve(challenge, "x")
        self.assertEqual(self.usdc("a"), (-30,))  # of 60

    # Asks

    def test_a_shown_leaf_is_paid_by_who_asked(self):
        ask = self.game.ask("x", self.batch, (BID, "deal"))
        self.at(108_000)
        self.refuses("not over", self.game.settle_ask, ask, "x")
        self.game.show(ask, "a")
        self.assertEqual(self.usdc("a", "x", TREASURY), (Fraction(2, 5), Fraction(-1, 2), Fraction(1, 10)))

    def test_one_fine_a_batch_and_the_other_asks_get_their_price_back(self):
        first, second = (self.game.ask("x", self.batch, (ground, "deal")) for ground in (BID, SELECTION))
        self.at(108_001)
        self.refuses("older ask", self.game.settle_ask, second, "x")
        self.game.settle_ask(first, "x")
        self.assertEqual(self.usdc("a", "x", TREASURY), (-10, 3, 7))
        self.refuses("not open", self.game.settle_ask, second, "x")
        self.refuses("withheld already", self.game.ask, "x", self.batch, (BID, "twin"))
        self.assertTrue(self.batch.withheld)

    def test_a_leaf_shown_in_the_last_slot_can_still_be_challenged(self):
        self.at(216_000)
        ask = self.game.ask("x", self.batch, (BID, "deal"))
        self.at(324_000)
        self.game.show(ask, "a")
        self.at(432_000)
        self.open("x")  # 108 000 slots were left
        self.begin(Rules())
        self.at(216_001)
        self.refuses("too late", self.game.ask, "x", self.batch, (BID, "deal"))

    def test_a_fine_waits_for_an_open_challenge_and_takes_nothing_from_the_finder(self):
        ask = self.game.ask("x", self.batch, (BID, "deal"))
        found = self.open("f")
        self.at(108_001)
        self.refuses("waits", self.game.settle_ask, ask, "x")
        self.at(WINDOW + 1)
        self.game.resolve(found, "f")
        self.assertEqual(self.game.settle_ask(ask, "x"), 0)
        self.assertEqual(self.usdc("f", "x"), (6, 0))

    def test_a_fine_is_all_that_is_left_at_most(self):
        self.begin(replace(Rules(), min_stake=5 * USDC), stake=5)
        ask = self.game.ask("x", self.batch, (BID, "deal"))
        self.at(108_001)
        self.game.settle_ask(ask, "x")
        self.assertEqual(self.usdc("a", "x", TREASURY), (-5, Fraction(3, 2), Fraction(7, 2)))

    def test_one_ask_a_leaf(self):
        self.game.ask("x", self.batch, (BID, "deal"))
        self.refuses("the ask exists", self.game.ask, "y", self.batch, (BID, "deal"))

    # Keys and tenure

    def test_only_a_deal_key_signs_evidence(self):
        for key in ("pay", "batch", "peer"):
            self.refuses("not evidence", self.open, "x", claims(Message("forged", 9, key=key))[0])
        self.assertTrue(self.game.counts(self.batch, Message("forged", 9)))
        self.assertFalse(self.game.counts(self.batch, Message("forged", 10)))

    def test_a_stake_stays_while_a_batch_an_ask_or_a_challenge_is_open(self):
        self.game.queue_unlock(self.agent, "a")
        self.at(1)
        self.game.ask("x", self.batch, (BID, "deal"))
        challenge = self.open("x", claims(DEAL)[0])
        self.at(WINDOW + 1)
        self.refuses("a challenge or an ask is open", self.game.claim_stake, self.agent, self.era, "a")
        self.game.answer(challenge, "a")
        self.refuses("a challenge or an ask is open", self.game.claim_stake, self.agent, self.era, "a")
        self.game.settle_ask(self.batch.asks[0], "x")
        self.game.claim_stake(self.agent, self.era, "a")
        self.assertEqual(self.usdc("a"), (-8,))  # 2 for the answer, 10 of a fine

    def test_a_stake_stays_while_a_batch_is_in_its_window(self):
        self.game.queue_unlock(self.agent, "a")
        self.at(EPOCH)
        self.game.land(self.agent, "a", 10, {}, {"a"})
        self.at(WINDOW + 1)
        self.refuses("a batch is in its window", self.game.claim_stake, self.agent, self.era, "a")
        self.at(EPOCH + WINDOW + 1)
        self.game.claim_stake(self.agent, self.era, "a")

    def test_an_ended_batch_key_lands_nothing_more(self):
        self.game.end_key(self.agent, "a", "batch")
        self.at(EPOCH)
        self.refuses("not alive", self.game.land, self.agent, "x", 10, {}, {"x"})

    def test_a_key_added_now_acts_in_two_epochs_and_an_unborn_one_never(self):
        self.game.add_key(self.agent, "a", "new", ["batch", "deal"])
        self.at(EPOCH)
        self.refuses("too young", self.game.land, self.agent, "x", 10, {}, {"x"}, (), "new")
        self.game.end_key(self.agent, "a", "new")
        self.assertFalse(self.game.counts(self.batch, Message("forged", 9, key="new")))

    def test_deals_dated_back_by_a_seller_touch_the_sellers_money_only(self):
        self.game.take_over(self.agent, "b")
        self.game.add_key(self.agent, "b", "b's", ["batch", "deal"])
        self.game.lock(self.agent, "b", 30 * USDC)
        self.at(2 * EPOCH)
        bought = self.game.land(self.agent, "b", 11, {}, {"b"}, (), "b's")
        self.assertEqual(bought.covers, range(11, 12))  # the epoch of the sale is covered by nobody
        for epoch in (9, 10, 11):
            self.refuses("not evidence", self.game.open, "a", bought, claims(Message("forged", epoch))[0])
        self.game.open("x", self.batch, claims(Message("forged", 9))[0])

    def test_the_rest_of_an_era_goes_to_who_locked_it(self):
        self.game.take_over(self.agent, "b")
        self.at(WINDOW)
        self.refuses("delay", self.game.claim_stake, self.agent, self.era, "a")
        self.at(WINDOW + 1)
        self.refuses("not who locked it", self.game.claim_stake, self.agent, self.era, "b")
        self.game.claim_stake(self.agent, self.era, "a")
        self.assertEqual(self.usdc("a", "b"), (0, 0))

    # Players

    def test_a_cover_costs_three_and_halves_the_reward(self):
        self.assertEqual(gains(play(Rules(), lambda: [CoveredLiar()]), "liar", "accomplice", TREASURY), (2, -5, 3))
        caught = play(Rules(), lambda: [CoveredLiar(), Finder()])
        self.assertEqual(gains(caught, "liar", "accomplice", "finder", TREASURY), (-30, 6, 3, 21))

    def test_as_noted_one_cover_left_the_finder_nothing(self):
        caught = play(Rules.as_noted(), lambda: [CoveredLiar(), Finder(every_claim=True)])
        self.assertEqual(gains(caught, "liar", "accomplice", "finder", TREASURY), (-30, 12, 0, 18))

    def test_as_noted_own_asks_emptied_the_era_before_the_finder(self):
        caught = play(Rules.as_noted(), lambda: [AskingLiar(), Finder()])
        self.assertEqual(gains(caught, "liar", "accomplice", "finder", TREASURY), (-30, 9, 0, 21))
        self.assertEqual(gains(play(Rules(), lambda: [AskingLiar(), Finder()]), "finder"), (6,))

    def test_as_noted_a_buyer_was_paid_by_its_own_challenge(self):
        for rules, expected in ((Rules.as_noted(), (Fraction(-7, 2), Fraction(1, 2))), (Rules(), (-5, 2))):
            result = play(rules, lambda: [HonestAgent(), Buyer("buyer")])
            self.assertEqual(gains(result, "buyer", "agent"), expected)

    def test_standing_drafts_burn_fourteen_sol(self):
        result = play(Rules(), lambda: [StandingDrafts()])
        # 432 000 / 300 + 1 drafts of 0.01 SOL.
        self.assertEqual(result.lamports[BURNT], 1_441 * SOL // 100)

    def test_an_average_is_exact(self):
        result = play(Rules(), lambda: [SleepingAgent(Fraction(1, 10)), Frivolous()])
        # 0.9 of +2 and 0.1 of -30; 0.9 of -5 and 0.1 of +6.
        self.assertEqual(gains(result, "agent", "frivolous"), (Fraction(-6, 5), Fraction(-39, 10)))

    def test_the_treasurys_holder_pays_two(self):
        result = play(Rules(), lambda: [HonestAgent(served=False), Frivolous(TREASURY)])
        self.assertEqual(gains(result, "agent", TREASURY), (2, -2))

    def test_a_break_even_certainty_is_what_it_risks_of_what_is_at_stake(self):
        figures = statements.measure(Rules(), False)
        # It risks 5 and wins 6; fees of 0.0015 and 0.00225 on top.
        self.assertAlmostEqual(float(figures.break_even), 5.0015 / (5.0015 + 5.99775), places=9)

    def test_the_search_finds_what_was_wrong_with_the_noted_rules(self):
        found = search.liars(Rules.as_noted(), 1, 0, 1)
        self.assertIn((("cover old",), ()), [(before, after) for before, after, _ in found])
        self.assertEqual(search.liars(Rules(), 1, 0, 1), [])

    def test_random_games_end_settled(self):
        taken, refused = search.random_games(Rules(), 60)
        self.assertGreater(min(taken, refused), 100)
        self.assertGreater(search.random_sales(Rules(), 60), 30)

    def test_two_attackers_gain_nothing_by_two_steps(self):
        self.assertEqual(search.attackers(Rules(), 2), [])

    def test_money_that_appears_is_noticed(self):
        self.game.books[0]["a"] += 1
        with self.assertRaises(AssertionError):
            self.game.check()

    def test_amounts_are_rounded_half_up(self):
        self.assertEqual(
            [statements.usdc(value) for value in (0, 1_500_000, -11_953_125, 499, 500)],
            ["0", "1.5", "-11.953", "0", "0.001"],
        )
        self.assertEqual(report.signed(2 * USDC), "+2")
