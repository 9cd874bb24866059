#!/usr/bin/env python3
"""The agent's loop: prompt, model, tools, again. Python 3.11, standard library only.

This file belongs to the agent, which may rewrite it. The watcher starts it in the root of a clone and gives it one JSON
object on standard input: generation, session, branch, commit, interval_s, transcript (the last lines of the session
before). The model answers at 127.0.0.1:8080; git is at /mnt/remote; signals go to /bot/.signal.
"""
import datetime
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

MODEL = "http://127.0.0.1:8080/v1/step"
SIGNALS = "/bot/.signal"
# The same call with the same result this many times in a row is a loop.
LOOP = 3
RESULT_MAX = 16_384
BASH_S = 600

TOOLS = {
    "read_file": {"path": "string"},
    "write_file": {"path": "string", "content": "string"},
    "bash": {"command": "string"},
    "bootstrap": {"branch": "string"},
    "rollback": {"ref": "string"},
}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def say(text):
    """To errors.log: the watcher keeps standard error there."""
    print(f"{now()} {text}", file=sys.stderr, flush=True)


def append(path, line):
    """One line, on disk when it returns."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())


def boot_line(boot, word):
    os.makedirs("logs", exist_ok=True)
    append("logs/bootstrap.log", f"{now()} {word} {boot['branch']} {boot['commit']} {boot['generation']}")


def read(path, missing=None):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        if missing is None:
            raise
        return missing


def prompt():
    """personality, SYSTEM.md, COMMS.md, in this order, read anew each time: directives arrive within one step."""
    name = os.environ.get("ZX1_PERSONALITY", "")
    parts = [read("personality/base.md", "")]
    if name.isidentifier():
        parts.append(read(f"personality/{name}.md", ""))
    parts += [read("SYSTEM.md"), read("COMMS.md")]
    return "\n".join(part for part in parts if part)


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=BASH_S, check=False)


def pull():
    """What the person pushed. On main it is taken; elsewhere only fetched, because merging is the agent's decision."""
    fetched = git("fetch", "-q", "origin")
    if fetched.returncode != 0:
        say(f"git fetch failed: {fetched.stderr.strip()}")
        return
    if git("rev-parse", "--abbrev-ref", "HEAD").stdout.strip() == "main":
        merged = git("merge", "-q", "--ff-only", "origin/main")
        if merged.returncode != 0:
            say(f"main was not taken: {merged.stderr.strip()}")


def signal(name, text):
    """A temporary name, then the final one: the watcher never sees half of it."""
    os.makedirs(SIGNALS, exist_ok=True)
    unfinished = os.path.join(SIGNALS, f".{name}.{os.getpid()}")
    with open(unfinished, "w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(unfinished, os.path.join(SIGNALS, name))


class Leave(Exception):
    """A signal was written: this process makes room."""


def read_file(path):
    return read(path)


def write_file(path, content):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    return f"{len(content)} characters written"


def bash(command):
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, text=True, errors="replace", timeout=BASH_S, check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {BASH_S} seconds and was ended"
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


def clean():
    """Changes that are not committed would be lost with this process."""
    status = git("status", "--porcelain")
    return status.returncode == 0 and not status.stdout.strip()


def bootstrap(branch):
    if not clean():
        return "refused: commit or drop your changes first"
    signal("bootstrap", branch)
    raise Leave(f"bootstrap {branch}")


def rollback(ref):
    signal("rollback", ref)
    raise Leave(f"rollback {ref}")


FUNCTIONS = {
    "read_file": read_file, "write_file": write_file, "bash": bash, "bootstrap": bootstrap, "rollback": rollback,
}


def call(tool, arguments):
    """The result as text, also when it failed: the model reads it and goes on."""
    function = FUNCTIONS.get(tool)
    if function is None or not isinstance(arguments, dict) or set(arguments) != set(TOOLS[tool]):
        return f"refused: {tool} is not a tool with these arguments"
    try:
        result = function(**arguments)
    except Leave:
        raise
    except Exception as error:  # pylint: disable=broad-except
        result = f"failed: {type(error).__name__}: {error}"
    if len(result) > RESULT_MAX:
        half = RESULT_MAX // 2
        result = f"{result[:half]}\n[... {len(result) - RESULT_MAX} characters left out ...]\n{result[-half:]}"
    return result


class Loop:
    """Sees the same call with the same result again and again."""

    def __init__(self):
        self.last = None
        self.times = 0

    def sees(self, tool, arguments, result):
        key = (tool, json.dumps(arguments, sort_keys=True), result)
        self.times = self.times + 1 if key == self.last else 1
        self.last = key
        return self.times >= LOOP


class Unavailable(Exception):
    """The model did not answer; `wait` seconds are asked for, if any."""

    def __init__(self, text, wait=None):
        super().__init__(text)
        self.wait = wait


def ask(system, messages):
    body = json.dumps({"system": system, "messages": messages, "tools": TOOLS}).encode()
    request = urllib.request.Request(MODEL, data=body, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=BASH_S) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        wait = error.headers.get("Retry-After")
        raise Unavailable(error.read().decode(errors="replace"), int(wait) if wait and wait.isdigit() else None)
    except (OSError, ValueError) as error:
        raise Unavailable(str(error))


def sleep_to_next(interval):
    """Until the next whole interval of the clock."""
    time.sleep(interval - time.time() % interval)


def work(boot, messages, loop):
    """One unit of work: until the model asks for nothing more, or loops."""
    while True:
        answer = ask(prompt(), messages)
        calls = answer.get("calls") or []
        messages.append({"role": "assistant", "text": answer.get("text", ""), "calls": calls})
        if not calls:
            return
        for one in calls:
            tool, arguments = one.get("tool", ""), one.get("arguments", {})
            result = call(tool, arguments)
            messages.append({"role": "tool", "tool": tool, "text": result})
            if loop.sees(tool, arguments, result):
                say(f"the same call {LOOP} times with the same result: {tool}")
                messages.append({"role": "user", "text": "You repeat yourself. This unit of work is over."})
                return
        # The beginning of a long session goes first.
        del messages[1:-200]


def main():
    boot = json.loads(sys.stdin.read())
    boot_line(boot, "BOOTSTRAPPING")
    first = prompt()
    if not first.strip():
        raise SystemExit("the prompt is empty")
    for name in FUNCTIONS:
        assert name in TOOLS
    pull()
    boot_line(boot, "SUCCESS")
    say(f"session {boot['session']}, generation {boot['generation']}, branch {boot['branch']}")
    before = "\n".join(boot.get("transcript", []))
    start = f"Session {boot['session']}. The last lines of the session before:\n{before}" if before else ""
    messages = [{"role": "user", "text": f"{start}\nContinue.".strip()}]
    interval = boot.get("interval_s", 600)
    loop = Loop()
    try:
        while True:
            try:
                work(boot, messages, loop)
            except Unavailable as error:
                say(f"the model did not answer: {error}")
                if error.wait is not None and error.wait < interval:
                    time.sleep(error.wait)
                    continue
            sleep_to_next(interval)
            pull()
            messages.append({"role": "user", "text": "Continue."})
    except Leave as leave:
        say(f"leaving: {leave}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
