"""What the committed vectors about rules contain: edges on both sides of each limit. Every value comes from rules.py."""

import itertools
import random

import rules
from samples import AGENT, OTHER, U64, noise

NOW = 20_500


def coverages():
    steps = itertools.product((-40, -5, -4, -3, -2, -1, 0, 1), (-100, -31, -30, -29, -4, -2, -1), (-100, -30, -3, -1, 1))
    out = [rules.coverage(NOW + epoch, NOW, NOW + last, NOW + tenure) for epoch, last, tenure in steps]
    return out + [rules.coverage(0, 1, 0, 0), rules.coverage(1, 2, 0, 0), rules.coverage(2, 4, 0, 1)]


def lengths():
    root, largest = noise("root", 32), 2**20
    counts, roots = (0, 1, largest, largest + 1), (bytes(32), root)
    return [rules.lengths(*row) for row in itertools.product(counts, roots, counts, roots)]


def heads():
    return [rules.head(noise("network", 32), agent, current) for agent in (AGENT, OTHER) for current in (0, 1, NOW)]


def voids():
    one, other = noise("digest", 32), noise("another", 32)
    return [rules.void(one, NOW, head, NOW + late) for head in (one, other) for late in (0, 1, 3, 4, 100)]


def key_lives():
    rows = itertools.product((0, NOW), (False, True), (False, True), (0, 1, 2, 3, 40))
    return [rules.key_life(current, first, after, current + late) for current, first, after, late in rows]


def closings():
    def of(scopes, ended=True, until=NOW, current=NOW, last_epoch=None, last_slot=0, now=10**9):
        return rules.closing(scopes, ended, until, current, last_epoch, last_slot, now)

    out = [of(scopes, ended) for scopes in (1, 2, 4, 8, 12, 15) for ended in (False, True)]
    out += [of(4, current=NOW + age) for age in (34, 35, 36)]
    out += [of(4, last_epoch=NOW + late, last_slot=1000) for late in (-1, 0, 1)]
    out += [of(4, last_epoch=NOW, last_slot=1000, now=1000 + rules.WINDOW + late) for late in (-1, 0, 1)]
    return out + [of(4, until=rules.OPEN, current=U64), of(4, ended=False, current=NOW + 36)]


def scopes():
    return [rules.scopes(number) for number in (*range(16), 16, 17, 255)]


def windows():
    since = 400_000_000
    edges = (0, rules.WINDOW, rules.RANK, rules.ASK, rules.SHOW)
    return [rules.windows(since, since + edge + late) for edge in edges for late in (0, 1)]


def amounts():
    changes = [{}]
    changes += [{name: 0} for name in rules.AMOUNTS]
    changes += [{name: 100} for name in ("finders_percent", "share_percent")]
    changes += [{name: 101} for name in ("finders_percent", "share_percent")]
    changes += [{"lost_to_stake": 4_500_000}, {"lost_to_stake": 4_500_001}, {"lost_to_stake": U64}, {"fine": 2_999_999}]
    changes += [{"ask_to_shower": 400_000}, {"ask_to_stake": 200_001}, {"fine_to_asker": 10_000_001}]
    changes += [dict.fromkeys(list(rules.AMOUNTS)[:10], U64), {"lost_to_stake": U64, "challenge_stake": U64}]
    made = [{**rules.AMOUNTS, **change} for change in changes]
    return [{**item, "verdict": rules.amounts_verdict(item)} for item in made]


def divisions():
    wholes = (0, 1, 2, 99, 100, 101, 400_000, 500_000, 1_499_999, 2_000_000, 5_000_000, 9_999_999, 30_000_000, U64)
    out = [rules.division(rules.AMOUNTS, whole) for whole in wholes]
    rng = random.Random(20261123)
    for _ in range(20):
        other = {name: rng.randrange(2**rng.randrange(1, 64)) for name in list(rules.AMOUNTS)[:10]}
        percents = {name: rng.randrange(101) for name in ("finders_percent", "share_percent")}
        out.append(rules.division({**other, **percents}, rng.randrange(2**64)))
    return out


FILES = {
    "coverage": (
        "coverage: which epochs a batch covers, or why it is refused; lengths: of both trees with their roots; heads "
        "that are opened; void: messages that can never land (decisions B7, P2)",
        {"coverage": coverages, "lengths": lengths, "heads": heads, "voids": voids},
    ),
    "keys": (
        "key_lives: first and last epoch of a key, and which of the epochs up to three after its end count; closings: "
        "whether its account may be closed; scopes: their names and the message types that they sign (decision P1)",
        {"key_lives": key_lives, "closings": closings, "scopes": scopes},
    ),
    "amounts": (
        "amounts: whether they fit each other; divisions: what becomes of a sum that is lost, paid for an ask, left in "
        "an era when a leaf is withheld, slashed, or left for finders; windows in slots (decisions B12, P4)",
        {"amounts": amounts, "divisions": divisions, "windows": windows},
    ),
}
