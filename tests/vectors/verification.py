"""The rule of verification (decision E15), a second time, and the samples of fix/verification.json."""

import re

LIMITS = ("time", "memory", "processes", "output", "canceled")


def status(run):
    """As a shell reports it: the exit code, or 128 and the number of the signal."""
    if run["exit"] is not None:
        return run["exit"]
    return None if run["signal"] is None else 128 + run["signal"]


def unmet(conditions, fix, check):
    """The first condition that does not hold, or None. The exit code of the fix itself does not count."""
    for step, run in (("apply", fix), ("check", check)):
        if run["limit"] is not None:
            return {"class": "limit", "step": step, "limit": run["limit"]}
    for condition in conditions:
        if condition["method"] == "exit_code":
            expected = condition.get("expected", 0)
            if status(check) != expected:
                return {"class": "wrong_exit", "found": status(check), "expected": expected}
        elif condition["method"] == "output_match":
            if not re.search(condition["pattern"], check["stdout"]):
                return {"class": "output_mismatch", "pattern": condition["pattern"]}
    if any(condition["method"] == "principal_verification" for condition in conditions):
        return {"class": "principal"}
    return None


def run(exit=None, signal=None, limit=None, stdout=""):
    return {"exit": exit, "signal": signal, "limit": limit, "stdout": stdout}


def exits(expected=None):
    return {"method": "exit_code"} | ({} if expected is None else {"expected": expected})


def prints(pattern):
    return {"method": "output_match", "pattern": pattern}


PERSON = {"method": "principal_verification"}
OK = run(0)
CASES = [
    ("it works", [exits(0)], OK, OK),
    ("zero is expected when nothing is", [exits()], OK, OK),
    ("the fix ends with 1 and the command works", [exits(0)], run(1), OK),
    ("a signal ends the fix and the command works", [exits(0)], run(signal=15), OK),
    ("the fix is not found and the command works", [exits(0)], run(127), OK),
    ("the fix has no exit code and the command works", [exits(0)], run(), OK),
    ("the command still fails", [exits(0)], OK, run(1)),
    ("the fix ends well and the command is not found", [exits(0)], OK, run(127)),
    ("another exit code is expected", [exits(3)], OK, run(3)),
    ("another exit code is expected and it is zero", [exits(3)], OK, OK),
    ("a signal ends the command", [exits(0)], OK, run(signal=9)),
    ("a signal is 128 and its number", [exits(137)], OK, run(signal=9)),
    ("the shell's code of a signal", [exits(137)], OK, run(137)),
    ("another signal than the expected one", [exits(137)], OK, run(signal=15)),
    ("no exit code and no signal", [exits(0)], OK, run()),
    ("the output matches", [exits(0), prints("^3$")], OK, run(0, stdout="3")),
    ("the output matches somewhere", [prints("built [0-9]+")], OK, run(0, stdout="so: built 12 files\n")),
    ("the output does not match", [exits(0), prints("^3$")], OK, run(0, stdout="4")),
    ("the output of the fix is not looked at", [prints("done")], run(0, stdout="done"), OK),
    ("the output alone is asked for", [prints("done")], OK, run(1, stdout="done")),
    ("the output alone is asked for and a signal came", [prints("done")], OK, run(signal=13, stdout="done")),
    ("the first condition that fails is named", [prints("a"), exits(0)], OK, run(1)),
    ("all must hold", [exits(0), prints("a"), prints("b")], OK, run(0, stdout="a")),
    ("the principal has to say it", [exits(0), PERSON], OK, OK),
    ("the principal alone has to say it", [PERSON], OK, run(1)),
    ("the principal is asked last", [PERSON, exits(0)], OK, run(1)),
    *((f"a limit of the command: {limit}", [exits(0)], OK, run(0, limit=limit)) for limit in LIMITS),
    *((f"a limit of the fix: {limit}", [exits(0)], run(0, limit=limit), OK) for limit in LIMITS),
    ("a limit that killed", [exits(137)], OK, run(signal=9, limit="time")),
    ("limits of both", [exits(0)], run(limit="memory"), run(limit="time")),
    ("a limit comes before the principal", [PERSON], OK, run(0, limit="output")),
    ("a limit comes before the output", [prints("a")], OK, run(0, limit="time", stdout="a")),
]


def samples():
    return [
        {"name": name, "conditions": conditions, "fix": fix, "check": check, "unmet": unmet(conditions, fix, check)}
        for name, conditions, fix, check in CASES
    ]


FILES = {"fix/verification": ("Whether what was run meets a contract's conditions (decision E15).", {"runs": samples})}
