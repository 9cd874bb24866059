#!/usr/bin/env python3
"""Recall and over-redaction of the scrubber on the corpus of corpus.py.

  scripts/scrubber/measure.py                  the contexts that no rule was tuned for; ends with 1 when a bar is missed
  scripts/scrubber/measure.py --half development --misses    what is missed and what is redacted needlessly
  scripts/scrubber/measure.py --peers          beside detect-secrets and credsweeper, fetched from PyPI once

`scripts/bench scrubber` writes the result to BENCHMARKS.md.

A secret counts as found when every byte of it is redacted. The other two only report; for them a secret counts as
found when anything is reported on one of its lines.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PEERS = {"detect-secrets": "1.5.0", "credsweeper": "1.19.5"}
OVERALL, CATEGORY, NEEDLESS = 0.97, 0.95, 0.015


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"measure: {command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def corpus(half):
    arguments = ["--half", half] if half else []
    lines = run(sys.executable, "-B", ROOT / "scripts/scrubber/corpus.py", *arguments).splitlines()
    return [json.loads(line) for line in lines]


def ours(samples):
    """Byte ranges that the scrubber redacts, by sample."""
    run("cargo", "build", "--locked", "-p", "zx1-scrub", "--example", "findings", cwd=ROOT)
    text = "".join(json.dumps(sample) + "\n" for sample in samples)
    found = run(TARGET / "debug/examples/findings", input=text)
    return [json.loads(line) for line in found.splitlines()]


def covered(spans, found):
    left = [(start, end) for start, end in spans]
    for _, begin, finish in found:
        left = [piece for start, end in left
                for piece in ((start, min(end, begin)), (max(start, finish), end)) if piece[0] < piece[1]]
    return not left


def spoken(samples, reported):
    """Whether a peer reported a line that holds a piece of a sample's secret, or any line of a clean sample."""
    result = []
    for sample, lines in zip(samples, reported):
        text = sample["text"].encode()
        wanted = {text[:start].count(b"\n") + 1 for start, _ in sample["secrets"]}
        result.append(bool(lines & wanted) if wanted else bool(lines))
    return result


def peers(samples):
    """{peer: [reported lines by sample]}, each sample as a file of its own."""
    place = TARGET / "scrubber-peers"
    if not (place / "bin/credsweeper").exists():
        run(sys.executable, "-m", "venv", place)
        run(place / "bin/pip", "install", "--quiet", *(f"{name}=={version}" for name, version in PEERS.items()))
    found = {name: [set() for _ in samples] for name in PEERS}
    with tempfile.TemporaryDirectory() as folder:
        for at, sample in enumerate(samples):
            pathlib.Path(folder, f"{at}.txt").write_text(sample["text"] + "\n")
        names = [f"{at}.txt" for at in range(len(samples))]
        scanned = json.loads(run(place / "bin/detect-secrets", "scan", "--all-files", *names, cwd=folder))
        for name, secrets in scanned["results"].items():
            found["detect-secrets"][int(pathlib.Path(name).stem)].update(it["line_number"] for it in secrets)
        report = pathlib.Path(folder, "report.json")
        run(place / "bin/credsweeper", "--path", ".", "--save-json", report, cwd=folder)
        for secret in json.loads(report.read_text()):
            for line in secret["line_data_list"]:
                found["credsweeper"][int(pathlib.Path(line["path"]).stem)].add(line["line_num"])
    return found


def measure(half, with_peers):
    """{who: [found by sample]} and the samples."""
    samples = corpus(half)
    findings = ours(samples)
    results = {"fix": [covered(sample["secrets"], found) if sample["secrets"] else bool(found)
                       for sample, found in zip(samples, findings)]}
    if with_peers:
        results |= {name: spoken(samples, lines) for name, lines in peers(samples).items()}
    return samples, findings, results


def table(samples, results):
    """[(category, number, {who: share})], the whole and the clean lines last."""
    rows = []
    categories = list(dict.fromkeys(sample["category"] for sample in samples))
    groups = [(category, [category]) for category in categories if category != "clean"]
    groups.append(("all", [category for category in categories if category != "clean"]))
    groups.append(("clean lines redacted", ["clean"]))
    for title, members in groups:
        chosen = [at for at, sample in enumerate(samples) if sample["category"] in members]
        rows.append((title, len(chosen),
                     {who: sum(found[at] for at in chosen) / len(chosen) for who, found in results.items()}))
    return rows


def met(title, share):
    return share <= NEEDLESS if title.startswith("clean") else share >= (OVERALL if title == "all" else CATEGORY)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["development", "held_out", "fresh", "unseen", "all"], default="unseen")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--peers", action="store_true")
    given = parser.parse_args()
    samples, findings, results = measure(None if given.half == "all" else given.half, given.peers)
    rows = table(samples, results)
    for title, number, shares in rows:
        print(f"{title:<22}{number:>6}  " + "  ".join(f"{who} {share:.3f}" for who, share in shares.items()))
    if given.misses:
        for sample, found, ok in zip(samples, findings, results["fix"]):
            if ok == (sample["category"] == "clean"):
                print(f"{sample['category']}: {sample['text']!r}" + (f" {found}" if sample["category"] == "clean" else ""))
    sys.exit(any(not met(title, shares["fix"]) for title, _, shares in rows))


if __name__ == "__main__":
    main()
