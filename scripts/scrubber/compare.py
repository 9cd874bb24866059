#!/usr/bin/env python3
"""Whether two builds of the scrubber find the same: what was made faster must find what it found before.

  scripts/scrubber/compare.py BEFORE AFTER     paths of two builds of the example `findings`

Both read every sample of corpus.py and of the vectors by itself, the same samples joined at random into texts of up to
256 KiB, those cut at random places, and random bytes of the samples' alphabet.
"""
import json
import pathlib
import random
import subprocess
import sys

import corpus

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "tests/vectors/fix/scrubber"
SIZES = [300, 2_000, 20_000, 256_000]
TEXTS = 40


def texts():
    alone = [sample["text"] for sample in corpus.corpus()]
    alone += [json.loads(line)["text"] for line in (VECTORS / "corpus.jsonl").read_text().splitlines()]
    alone += [output["text"] for output in json.loads((VECTORS / "outputs.json").read_text())]
    yield from alone
    rng = random.Random(corpus.SEED)
    signs = sorted(set("".join(alone)))
    for size in SIZES:
        for _ in range(max(1, TEXTS * 2_000 // size)):
            joined = ""
            while len(joined) < size:
                joined += rng.choice(alone) + rng.choice(["\n", "\n\n", " ", ""])
            yield joined
            pieces = [joined[at:at + rng.randrange(20, 200)] for at in (rng.randrange(len(joined)) for _ in range(size // 100))]
            yield "".join(pieces)
            yield "".join(rng.choice(signs) for _ in range(size))


def main():
    before, after = sys.argv[1:]
    given = list(texts())
    lines = "".join(json.dumps({"text": text}) + "\n" for text in given)
    found = [subprocess.run([binary], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
             for binary in (before, after)]
    different = [at for at, (one, other) in enumerate(zip(*found, strict=True)) if one != other]
    for at in different[:10]:
        print(f"{given[at][:400]!r}\n  before {found[0][at][:300]}\n  after  {found[1][at][:300]}")
    print(f"{len(different)} of {len(given)} texts differ, {sum(map(len, given)) / 1e6:.1f} MB")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
