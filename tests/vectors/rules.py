"""Rules without a wire format, a second time from docs/: which epochs a batch covers (P2), when keys count (P1), and
what every move of the challenge game costs and brings (P4). Each function is one item of a vector file."""

from formats import open_digest

OPEN = 2**64 - 1
MAX_TREE_LEN = 2**20
WINDOW, RANK, ASK, SHOW = 432_000, 300, 216_000, 108_000
PAY, BATCH, DEAL, PEER = 1, 2, 4, 8
DEALS = (0x03, 0x04, 0x05, 0x09)


def coverage(epoch, current, last_epoch, tenure_from):
    """Why a batch is refused, or the first epoch that it covers."""
    first = None
    if epoch > current:
        verdict = "FutureEpoch"
    elif epoch == current:
        verdict = "CurrentEpoch"
    elif epoch < current - 3:
        verdict = "TooOld"
    elif epoch <= last_epoch:
        verdict = "NotIncreasing"
    elif epoch < tenure_from:
        verdict = "BeforeTenure"
    else:
        verdict, first = "Ok", max(last_epoch + 1, tenure_from, epoch - 29)
    given = {"epoch": epoch, "current": current, "last_epoch": last_epoch, "tenure_from": tenure_from}
    return {**given, "verdict": verdict, "covers_from": first}


def lengths(log_len, log_root, arrays_len, arrays_root):
    empty = [(length == 0) == (root == bytes(32)) for length, root in ((log_len, log_root), (arrays_len, arrays_root))]
    verdict = "Ok" if all(empty) else "LengthRoot"
    if arrays_len > MAX_TREE_LEN:
        verdict = "ArraysTooLong"
    if log_len > MAX_TREE_LEN:
        verdict = "LogTooLong"
    given = {"log_len": log_len, "log_root": log_root, "arrays_len": arrays_len, "arrays_root": arrays_root}
    return {**given, "verdict": verdict}


def head(network, agent, current):
    """A head that is opened."""
    opened = {"last_epoch": max(current, 1) - 1, "digest": open_digest(network, agent)}
    return {"network": network, "agent": agent, "current": current, **opened}


def void(previous_digest, epoch, head_digest, current):
    given = {"previous_digest": previous_digest, "epoch": epoch, "head_digest": head_digest, "current": current}
    return {**given, "void": previous_digest != head_digest or epoch + 3 < current}


def key_life(current, first_use, after_take_over, ended_in):
    """A key that is listed in one epoch and ended in another: its first and last epoch, and which others count."""
    first = current + (0 if first_use else 1 if after_take_over else 2)
    # One that is ended before it is born has no epoch at all.
    until = first - 1 if first > ended_in else ended_in
    counts = [epoch for epoch in range(current, ended_in + 4) if first <= epoch <= until]
    given = {"current": current, "first_use": first_use, "after_take_over": after_take_over, "ended_in": ended_in}
    return {**given, "from": first, "until": until, "counts": counts}


def closing(scopes, ended, until, current, last_epoch, last_slot, now):
    if not ended:
        may = False
    elif not scopes & DEAL:
        may = True
    else:
        landed = last_epoch is not None and last_epoch >= until and last_slot + WINDOW < now
        may = landed or current > until + 35
    given = {"scopes": scopes, "ended": ended, "until": until, "current": current, "last_epoch": last_epoch}
    return {**given, "last_slot": last_slot, "now": now, "may_close": may}


def scopes(number):
    names = [name for scope, name in ((PAY, "pay"), (BATCH, "batch"), (DEAL, "deal"), (PEER, "peer")) if number & scope]
    signs = [kind for kind in range(1, 14) if number & DEAL or (number & PEER and kind not in DEALS)]
    return {"scopes": number, "valid": 0 < number < 16, "names": ",".join(names), "signs": signs}


def windows(since, now):
    """Whether a challenge's window, a rank, the time to ask and the time to show are open."""
    length = {"challenge": WINDOW, "rank": RANK, "ask": ASK, "show": SHOW}
    return {"since": since, "now": now, **{name: now <= since + slots for name, slots in length.items()}}


AMOUNTS = {
    "min_stake": 30_000_000, "challenge_stake": 5_000_000, "lost_to_stake": 1_500_000, "lost_to_answerer": 500_000,
    "ask_price": 500_000, "ask_to_shower": 300_000, "ask_to_stake": 100_000, "fine": 10_000_000,
    "fine_to_asker": 3_000_000, "rank_deposit": 10_000_000, "finders_percent": 40, "share_percent": 50,
}  # fmt: skip


def amounts_verdict(a):
    if not (a["min_stake"] and a["challenge_stake"] and a["ask_price"]):
        return "Zero"
    divided = (
        a["lost_to_stake"] + a["lost_to_answerer"] <= a["challenge_stake"]
        and a["ask_to_shower"] + a["ask_to_stake"] <= a["ask_price"]
        and a["fine_to_asker"] <= a["fine"]
    )
    if not divided:
        return "PartsExceedWhole"
    return "Ok" if max(a["finders_percent"], a["share_percent"]) <= 100 else "AboveHundredPercent"


def division(amounts, whole):
    """Every way in which a sum is divided by these amounts."""

    def parts(whole, **wanted):
        out = {}
        for name, part in wanted.items():
            out[name] = min(part, whole)
            whole -= out[name]
        return {**out, "treasury": whole}

    pot = whole * amounts["finders_percent"] // 100
    return {
        "amounts": amounts,
        "whole": whole,
        "lost": parts(whole, stake=amounts["lost_to_stake"], answerer=amounts["lost_to_answerer"]),
        "shown": parts(whole, stake=amounts["ask_to_stake"], shower=amounts["ask_to_shower"]),
        "fine": parts(min(whole, amounts["fine"]), asker=amounts["fine_to_asker"]),
        "slash": {"pot": pot, "treasury": whole - pot},
        "share": whole * amounts["share_percent"] // 100,
    }
