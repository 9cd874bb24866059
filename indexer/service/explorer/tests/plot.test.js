import assert from "node:assert/strict";
import test from "node:test";

import * as p from "../js/plot.js";

const points = (...ys) => ys.map((y, i) => ({ x: i, y }));

test("a scale maps both ways, and an empty domain does not divide by zero", () => {
  const s = p.scale([0, 10], [100, 0]);
  assert.equal(s(0), 100);
  assert.equal(s(10), 0);
  assert.equal(s.invert(50), 5);
  assert.ok(Number.isFinite(p.scale([3, 3], [0, 1])(3)));
});

test("ticks are round, rise and cover the values", () => {
  assert.deepEqual(p.ticks(0, 100, 4), [0, 50, 100]);
  assert.deepEqual(p.ticks(-100, 100, 4), [-100, -50, 0, 50, 100]);
  assert.deepEqual(p.ticks(0, 0.3, 3), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(p.ticks(0, 0), [0, 0.5, 1]);
  assert.deepEqual(p.ticks(Number.NaN, 1), []);
  for (const [low, high] of [
    [0, 1],
    [0, 7],
    [3, 12345],
    [-17, 4],
    [1e-6, 2e-6],
    [0, 3.4e38],
    [5, 5],
  ]) {
    const all = p.ticks(low, high);
    assert.ok(all.length >= 2 && all.length <= 8, `${low} ${high}: ${all}`);
    assert.ok(all[0] <= low && all.at(-1) >= high, `${all}`);
    for (let i = 1; i < all.length; i += 1) assert.ok(all[i] > all[i - 1]);
  }
});

test("ticks of counts are whole", () => {
  assert.deepEqual(p.countTicks(0), [0, 1]);
  assert.deepEqual(p.countTicks(1), [0, 1]);
  assert.deepEqual(p.countTicks(3), [0, 1, 2, 3]);
  for (let n = 0; n < 200; n += 7) assert.ok(p.countTicks(n).every(Number.isInteger));
});

test("a missing value is a gap, not a zero", () => {
  const x = (n) => n * 10;
  const y = (n) => 100 - n;
  assert.equal(p.runs(points(1, null, 2, 3)).length, 2);
  assert.equal(p.linePath(points(1, null, 2, 3), x, y), "M0 99M20 98L30 97");
  assert.equal(p.stepPath(points(1, 2), x, y), "M-5 99H5V98H15");
  assert.equal(p.stepArea(points(1, 2), x, y, 0), "M-5 100V99H5V98H15V100Z");
  assert.equal(p.linePath(points(null, Number.NaN), x, y), "");
});

test("bands join neighbours of one word", () => {
  const words = ["a", "a", "b", "a"].map((word, x) => ({ x, word }));
  assert.deepEqual(p.bands(words), [
    { from: 0, to: 1, word: "a" },
    { from: 2, to: 2, word: "b" },
    { from: 3, to: 3, word: "a" },
  ]);
  assert.equal(
    p.bands([
      { x: 0, word: "a" },
      { x: 5, word: "a" },
    ]).length,
    2,
  );
});

test("the axis always names the last epoch", () => {
  const epochs = Array.from({ length: 60 }, (_, i) => 100 + i);
  for (const count of [1, 2, 3, 5, 60, 100]) {
    const all = p.axisEpochs(epochs, count);
    assert.equal(all.at(-1), 159);
    assert.ok(all.length <= Math.max(2, count), `${count}: ${all}`);
  }
  assert.deepEqual(p.axisEpochs([], 3), []);
  assert.deepEqual(p.axisEpochs([7], 3), [7]);
});

test("labels are moved apart and stay inside", () => {
  const out = p.spread([50, 50, 50], 12, 0, 100);
  const sorted = [...out].sort((a, b) => a - b);
  for (let i = 1; i < sorted.length; i += 1) assert.ok(sorted[i] - sorted[i - 1] >= 12);
  assert.ok(p.spread([99, 98], 12, 0, 100).every((y) => y <= 100 && y >= 0));
});

test("summaries say what the eye would see", () => {
  assert.equal(p.summary(points(1, 5, 3), String), "now 3, lowest 1, highest 5");
  assert.equal(p.summary(points(2, 2), String), "2 throughout");
  assert.equal(p.summary(points(null), String), "no values");
});
