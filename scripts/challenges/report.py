"""The tables, as Markdown."""

import textwrap
from dataclasses import replace
from fractions import Fraction
from functools import partial

import search
from game import SOL, TREASURY, USDC, Rules
from liars import (
    AskingLiar, CoveredLiar, Liar, ParachuteLiar, SelfChallengingLiar, StandingDrafts, WithholdingLiar,
)  # fmt: skip
from players import HonestAgent, SleepingAgent, play
from strangers import (
    AnsweringFinder, BatchThief, Borrower, Buyer, Bystander, Copier, DealThief, EndedBatchThief, Finder,
    Fisher, Frivolous, FrontRunner, PayThief, PeerThief, Seller, WalletThief,
)  # fmt: skip
from statements import (
    BATCHES,
    COALITION,
    DOWN,
    EFFORT,
    OBJECTIVE,
    SOL_PRICE,
    STATEMENTS,
    candidates,
    documents,
    failures,
    fishers,
    measure,
    percent,
    usdc,
)

SEARCHED = ((3, 1, 8, "ACCEPT"), (2, 1, 8, "PROPOSE"))  # actions before, actions after, covers, what is hidden
SEQUENCE = 3
RANDOM_GAMES = 1_000
AGENT = ("agent",)
OTHERS = ("finder", "bystander", "front-runner", "copier", "fisher")


def signed(micro, places=3):
    text = usdc(micro, places)
    return "–" if text == "0" else text if text.startswith("-") else f"+{text}"


def table(head, rows, right=0):
    rule = ["---"] * (len(head) - right) + ["--:"] * right
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, rule, *rows])


# Who moves, what they do, the players


def lies():
    every = partial(AnsweringFinder, every_claim=True)
    liar = COALITION
    return [
        ("Hide a deal; nobody looks", liar, lambda: [Liar()]),
        ("Hide a deal; a finder opens one claim", liar, lambda: [Liar(), Finder()]),
        ("Hide a deal; a finder opens both claims of an ACCEPT", liar, lambda: [Liar(), every()]),
        ("Challenge oneself at once, by one deal", liar, lambda: [SelfChallengingLiar()]),
        ("Challenge oneself by eight deals", liar, lambda: [SelfChallengingLiar(lies=8)]),
        ("Parachute: open a planted double bid when a finder begins", liar, lambda: [ParachuteLiar(), Finder()]),
        ("Parachute, and all other claims", liar, lambda: [ParachuteLiar(extra=True), Finder()]),
        ("Standing draft through the whole window; a finder with both claims", liar,
         lambda: [StandingDrafts(), every(at=431_101)]),
        ("Cover: an answerable challenge against oneself, answered in its last slot; nobody looks", liar,
         lambda: [CoveredLiar()]),
        ("Cover, left unanswered when a finder begins", liar, lambda: [CoveredLiar(), Finder()]),
        ("Six covers; nobody looks", liar, lambda: [CoveredLiar(covers=6)]),
        ("Six covers and a finder", liar, lambda: [CoveredLiar(covers=6), Finder()]),
        ("Cover on served data; the finder answers it first", liar,
         lambda: [CoveredLiar(silent=False, served=True), AnsweringFinder()]),
        ("Asks for own leaves of three batches, shown in the last slot; nobody looks", liar, lambda: [AskingLiar()]),
        ("The same, not shown when a finder begins", liar, lambda: [AskingLiar(), Finder()]),
        ("Withhold a leaf that somebody asks for", liar, lambda: [WithholdingLiar(), Fisher(at=100, first=1)]),
        ("The same with an older ask of an accomplice", liar,
         lambda: [WithholdingLiar(covered=True), Fisher(at=100, first=1)]),
        ("The treasury's holder lies; a finder", ("liar", "accomplice", TREASURY), lambda: [Liar(), Finder()]),
        ("The treasury's holder lies and challenges itself", ("liar", "accomplice", TREASURY),
         lambda: [SelfChallengingLiar()]),
    ]  # fmt: skip


def awake():
    mover = ("frivolous",)
    deaf = partial(HonestAgent, served=False)
    return [
        ("Challenge a recorded deal", mover, lambda: [deaf(), Frivolous()]),
        ("Challenge a recorded deal, and answer it oneself", mover, lambda: [HonestAgent(), Frivolous(answers=True)]),
        ("Challenge a recorded deal; the answer is front-run", mover, lambda: [deaf(), FrontRunner(), Frivolous()]),
        ("The treasury's holder challenges a recorded deal", (TREASURY,), lambda: [deaf(), Frivolous(TREASURY)]),
        ("The same, and answers it itself", (TREASURY,), lambda: [HonestAgent(), Frivolous(TREASURY, answers=True)]),
        ("Ask for a leaf", ("fisher",), lambda: [deaf(), Fisher()]),
        ("Ask for a leaf in the last slot; the showing is front-run", ("fisher",),
         lambda: [deaf(), FrontRunner(), Fisher(last=True)]),
        ("The treasury's holder asks for a leaf", (TREASURY,), lambda: [deaf(), Fisher(TREASURY)]),
        ("A finder is wrong", ("finder",), lambda: [deaf(), Finder(wins=False)]),
        ("Challenge oneself and answer", ("agent", "frivolous"), lambda: [deaf(), Frivolous()]),
        ("Ask oneself and show", ("agent", "fisher"), lambda: [deaf(), Fisher()]),
    ]  # fmt: skip


def asleep():
    mover = ("frivolous",)
    often = f"down in one window of {1 / DOWN}"
    return [
        ("Challenge a recorded deal", mover, lambda: [SleepingAgent(), Frivolous()]),
        ("Four such challenges", mover, lambda: [SleepingAgent(), Frivolous(claims=4)]),
        (f"Challenge a recorded deal, agent {often}, on average", mover,
         lambda: [SleepingAgent(DOWN), Frivolous()]),
        ("Challenge a recorded deal; data served, a bystander answers", mover,
         lambda: [SleepingAgent(served=True), Bystander(), Frivolous()]),
        ("The treasury's holder challenges a recorded deal", (TREASURY,),
         lambda: [SleepingAgent(), Frivolous(TREASURY)]),
        ("Ask for four leaves of a batch", ("fisher",), lambda: [SleepingAgent(), Fisher(asks=4)]),
        (f"Ask for a leaf, agent {often}, on average", ("fisher",), lambda: [SleepingAgent(DOWN), Fisher()]),
        (f"Ask for a leaf of each of {BATCHES} batches", ("fisher",),
         lambda: [SleepingAgent(batches=BATCHES), *fishers()]),
        ("Ask for a leaf; data served, a bystander shows it", ("fisher",),
         lambda: [SleepingAgent(served=True), Bystander(), Fisher()]),
    ]  # fmt: skip


def against_finders():
    every = partial(AnsweringFinder, every_claim=True)
    return [
        ("Copy the evidence of a draft and open its claim first", ("copier",), lambda: [Liar(), Finder(), Copier()]),
        ("Open the other claim of an ACCEPT that a finder left out", ("copier",),
         lambda: [Liar(), Finder(), Copier(drafts=False)]),
        ("The same against a finder that opened both", ("copier",), lambda: [Liar(), every(), Copier(drafts=False)]),
    ]  # fmt: skip


def keys():
    thief = ("thief",)
    return [
        ("Thief of a pay key", thief, lambda: [HonestAgent(), PayThief()]),
        ("Thief of a batch key lands double bids", thief, lambda: [HonestAgent(), BatchThief()]),
        ("The same, after the key was ended", thief, lambda: [HonestAgent(), EndedBatchThief()]),
        ("Thief of a deal key dates deals back, also after the key was ended", thief,
         lambda: [HonestAgent(), DealThief()]),
        ("Thief of a peer key signs deals", thief, lambda: [HonestAgent(), PeerThief()]),
        ("Wallet for one slot: adds keys", thief, lambda: [HonestAgent(), WalletThief()]),
        ("NFT for one slot: takes over, signs, gives back", thief, lambda: [HonestAgent(), Borrower()]),
        ("Seller dates deals back after the sale (agent: the buyer)", ("seller",),
         lambda: [HonestAgent(), Seller("seller")]),
        ("Buyer challenges a recorded deal of the seller's time (agent: the seller)", ("buyer",),
         lambda: [HonestAgent(), Buyer("buyer")]),
    ]  # fmt: skip


GROUPS = (
    ("A liar and its accomplices", lies),
    ("Against an honest agent that is awake", awake),
    ("Against an honest agent that is down", asleep),
    ("Against finders", against_finders),
    ("Keys and sales", keys),
)


def moves(rules):
    """(group, rows): the move, and the gains of who moves, the agent, others, the treasury; SOL if it matters."""
    found = []
    for title, group in GROUPS:
        rows = []
        for name, movers, make in group():
            result = play(rules, make)
            victim = ("buyer",) if movers == ("seller",) else AGENT
            gains = [
                result.of(*(wallet for wallet in movers if wallet in result.usdc)),
                result.of(*(wallet for wallet in victim if wallet not in movers)),
                result.of(*(wallet for wallet in OTHERS if wallet not in movers)),
                result.of(TREASURY) if TREASURY not in movers else Fraction(0),
            ]
            lamports = sum(result.lamports.get(wallet, 0) for wallet in movers)
            note = f" and {signed(lamports * USDC / SOL, 1)} SOL" if lamports < -SOL // 10 else ""
            cells = [signed(gain) for gain in gains]
            cells[0] += note
            if title == GROUPS[0][0]:
                cells[1] = ""
            rows.append((name, *cells))
        found.append((title, rows))
    return found


# Rules and amounts, one changed at a time


def variants():
    chosen, noted = Rules(), Rules.as_noted()
    return [
        ("as chosen", chosen),
        ("the rules as first written down, these amounts", noted),
        ("the document's 10, 10 and 50 %, nothing for who answers", documents(chosen)),
        ("only the first finder is paid", replace(chosen, share=Fraction(1))),
        ("each finder gets two thirds of what is left", replace(chosen, share=Fraction(2, 3))),
        ("each finder gets a third of what is left", replace(chosen, share=Fraction(1, 3))),
        ("fines do not wait for open challenges", replace(chosen, fines_wait=False)),
        ("a lost challenge pays the agent's current era", replace(chosen, credit="current")),
        ("nothing of an ask to the agent's stake", replace(chosen, ask_to_agent=0, ask_to_answerer=400_000)),
        ("a claim without value may follow the one with it", replace(chosen, weak_after_strong=True)),
        ("lapsed deposits to the treasury", replace(chosen, forfeited=TREASURY)),
        ("lapsed deposits to who closes them", replace(chosen, forfeited="settler")),
        ("minimum stake 20", chosen.with_stakes(20 * USDC, 5 * USDC, chosen.finders)),
        ("minimum stake 50", chosen.with_stakes(50 * USDC, 5 * USDC, chosen.finders)),
        ("challenge stake 4", chosen.with_stakes(30 * USDC, 4 * USDC, chosen.finders)),
        ("challenge stake 6", chosen.with_stakes(30 * USDC, 6 * USDC, chosen.finders)),
        ("finders' part 30 %", replace(chosen, finders=Fraction(30, 100))),
        ("finders' part 50 %", replace(chosen, finders=Fraction(50, 100))),
        ("a lost challenge goes to the treasury alone", replace(chosen, lost_to_agent=0, lost_to_answerer=0)),
        ("fine 12, 3.6 to the asker", replace(chosen, fine=12 * USDC, fine_to_asker=3_600_000)),
        ("fine 5, 1.5 to the asker", replace(chosen, fine=5 * USDC, fine_to_asker=1_500_000)),
        ("ask for 1", replace(chosen, ask_price=USDC)),
        ("the treasury's parts are burnt", replace(chosen, burnt=Fraction(1))),
    ]  # fmt: skip


def holders(rules):
    """What being the treasury's holder is worth: (the chance of being down from which challenging a recorded deal
    pays it, the same for asks, what its own lie costs it when a finder comes)."""

    def chance(asleep, awake):
        gain = play(rules, asleep).net(SOL_PRICE, TREASURY)
        loss = -play(rules, awake).net(SOL_PRICE, TREASURY)
        return loss / (loss + gain)

    return (
        chance(lambda: [SleepingAgent(), Frivolous(TREASURY)], lambda: [HonestAgent(), Frivolous(TREASURY)]),
        chance(lambda: [SleepingAgent(), Fisher(TREASURY)], lambda: [HonestAgent(), Fisher(TREASURY)]),
        -play(rules, lambda: [Liar(), Finder()]).of("liar", "accomplice", TREASURY),
    )


def amounts(rules):
    lost = rules.challenge_stake - rules.lost_to_agent - rules.lost_to_answerer
    ask = rules.ask_price - rules.ask_to_agent - rules.ask_to_answerer
    return [
        ("minimum stake", usdc(rules.min_stake)),
        ("challenge stake", usdc(rules.challenge_stake)),
        ("slash", f"{percent(rules.finders)} finders, {percent(1 - rules.finders)} treasury"),
        ("each finder, in rank order", f"{rules.share} of what is left of the finders' part; at last the treasury"),
        ("lost challenge", f"{usdc(rules.lost_to_agent)} into the challenged era, {usdc(rules.lost_to_answerer)} to "
                           f"who answered, {usdc(lost)} treasury"),
        ("ask", f"{usdc(rules.ask_price)}: {usdc(rules.ask_to_answerer)} to who shows the leaf, "
                f"{usdc(rules.ask_to_agent)} into the era, {usdc(ask)} treasury"),
        ("unanswered ask, once a batch", f"{usdc(rules.fine)}: {usdc(rules.fine_to_asker)} to the asker, "
                                         f"{usdc(rules.fine - rules.fine_to_asker)} treasury"),
        ("rank", f"{usdc(Fraction(rules.deposit, 1000))} SOL for {rules.rank_slots} slots, burnt when it lapses"),
    ]  # fmt: skip


def write(rules):
    """Everything between the markers of SECURITY.md."""
    figures = measure(rules)
    treasury = holders(rules)
    burnt = holders(replace(rules, burnt=Fraction(1)))
    bad = failures(figures)
    parts = [
        f"""Written by `scripts/simulate-challenges --write`; do not edit. Amounts in USDC. Assumed: a SOL is
        {SOL_PRICE} USDC, nobody bothers for {usdc(EFFORT)} or less, and an honest agent may be down through one
        window in {1 / DOWN}.""",
        "### Amounts",
        table(("amount", "default"), amounts(rules)),
        "### What every move costs and brings",
        """Gains of who moves, of the agent, of finders or others, and of the treasury. Fees come on top (0.000005 SOL
        a transaction); rents and used deposits come back.""",
    ]
    head = ("move", "who moves", "agent", "others", "treasury")
    for title, rows in moves(rules):
        parts += [f"**{title}.**", table(head, rows, 4)]
    parts += [
        "### What the simulation asserts",
        table(("statement", "figure"), [(sentence, figure) for sentence, figure in holds(figures)]),
        f"""A finder with one claim gains above a certainty of {percent(figures.break_even)}. Challenging a recorded
        deal pays against an agent that is down through more than {percent(figures.down)} of the answer windows,
        asking against {percent(figures.down_asks)}. For the treasury's holder these are {percent(treasury[0])} and
        {percent(treasury[1])}, and a lie of its own costs it only the {usdc(treasury[2])} that the finder gets: who
        runs an agent trusts the treasury's holder. Were its parts burnt, the figures would be {percent(burnt[0])},
        {percent(burnt[1])} and {usdc(burnt[2])}.""",
        f"""Every agent above plays against every two of {len(search.STRANGERS)} strangers. A search
        over {plan_count()} plans of a liar (preparation, reaction, time of the finder), over all
        sequences of up to {SEQUENCE} steps of two attackers against an agent that is awake, {RANDOM_GAMES} random
        games and {RANDOM_GAMES} random sales with a fixed seed found nothing that pays and nothing that cannot be
        settled.""",
        "### Why these amounts and rules",
        f"""{len(list(candidates(rules)))} combinations of minimum stake, challenge stake, finders' part and share
        were tried (`scripts/simulate-challenges --sweep`). Of those that meet every statement the best has
        {OBJECTIVE}. One change at a time:""",
        table(("changed", "what does not hold then"), [(name, reasons(variant)) for name, variant in variants()]),
    ]
    assert not bad, bad
    return "\n\n".join(part if part.startswith("|") else wrap(part) for part in parts)


def wrap(text):
    return textwrap.fill(" ".join(text.split()), 114, break_on_hyphens=False, break_long_words=False)


def sweep_table(found):
    """All candidates, best first."""
    head = ("stake", "challenge", "finders", "share", "certainty", "reward", "covers", "what does not hold")
    rows = []
    for figures, bad in found:
        rules = figures.rules
        why = "; ".join(f"{key}: {text}" for key, text in bad) or "everything holds"
        rows.append((
            usdc(rules.min_stake), usdc(rules.challenge_stake), percent(rules.finders), rules.share,
            percent(figures.break_even), usdc(figures.lone), f"{figures.covers} for {usdc(figures.cover)}", why,
        ))  # fmt: skip
    return table(head, rows)


def plan_count():
    sizes = [[len(part) for part in search.plans(*searched[:3])] for searched in SEARCHED]
    return sum(before * after for before, after in sizes) * len(search.TIMES)


def reasons(rules):
    bad = failures(measure(rules))
    return "; ".join(f"{key}: {why}" for key, why in bad) or "everything holds"


def holds(f):
    """Each statement with the figure that shows it."""
    shown = {
        "awake": f"at worst {signed(f.awake)}",
        "asleep": f"{signed(f.asleep)}, {signed(f.asleep_asks)}",
        "fines": usdc(-f.withheld),
        "tempting": f"{percent(f.down)}, {percent(f.down_asks)}",
        "answering": f"{usdc(f.answerer)}, {usdc(f.shower)}",
        "liar": f"{percent(f.recovered)}, {f.luckiest}",
        "finder": f"{usdc(f.worst)}, {f.worst_liar}",
        "certainty": percent(f.break_even),
        "asker": percent(f.down_asks),
        "cover": f"{usdc(f.cover)} for {f.covers} covers, {usdc(f.caught)}",
        "asks": signed(f.asked),
        "copier": signed(f.copier),
        "parachute": signed(f.parachuted),
        "standing": usdc(f.standing),
        "treasury": usdc(-f.treasury),
        "farmer": usdc(-f.farmer),
        "sale": f"{signed(f.buyer)}, {signed(f.seller)}",
        "thief": f"{usdc(f.thief_loss)}, {usdc(max(gain for gain, _ in f.thieves.values()))}",
    }
    return [(f"{key}: {sentence}", shown[key]) for key, sentence, _, _ in STATEMENTS]
