// The geometry of plots: scales, ticks, paths, summaries. Pure; plot-view.js draws what this reckons.

/** A linear scale: domain to range. */
export function scale([d0, d1], [r0, r1]) {
  const width = d1 - d0 || 1;
  const map = (value) => r0 + ((value - d0) / width) * (r1 - r0);
  map.invert = (pixel) => d0 + ((pixel - r0) / (r1 - r0 || 1)) * width;
  return map;
}

/** Round ticks that cover [low, high]: about `count` of them, at 1, 2 or 5 times a power of ten. */
export function ticks(low, high, count = 4) {
  if (!(Number.isFinite(low) && Number.isFinite(high))) return [];
  const [from, to] =
    low === high ? [low - (low === 0 ? 0 : Math.abs(low) / 2), low + (Math.abs(low) / 2 || 1)] : [low, high];
  const raw = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw * 0.999_999) ?? 10 * power;
  const first = Math.floor(from / step + 1e-9);
  const last = Math.ceil(to / step - 1e-9);
  const out = [];
  // By index, so that errors do not add up; then without the tail of binary fractions.
  for (let i = first; i <= last; i += 1) out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** The same for counts: whole numbers only. */
export function countTicks(high, count = 4) {
  const all = ticks(0, Math.max(1, high), count).filter(Number.isInteger);
  return all.length >= 2 ? all : [0, Math.max(1, Math.ceil(high))];
}

const round = (n) => Number(n.toFixed(2));

/** Runs of neighbouring points with a value; null makes a gap. */
export function runs(points) {
  const out = [];
  let run = [];
  for (const point of points) {
    if (point.y === null || point.y === undefined || !Number.isFinite(point.y)) {
      if (run.length) out.push(run);
      run = [];
    } else {
      run.push(point);
    }
  }
  if (run.length) out.push(run);
  return out;
}

/** The path of a line through points, broken at gaps. */
export function linePath(points, x, y) {
  return runs(points)
    .map((run) => run.map((p, i) => `${i === 0 ? "M" : "L"}${round(x(p.x))} ${round(y(p.y))}`).join(""))
    .join("");
}

/** The path of a step line: each value holds for its whole epoch, half a unit to each side. */
export function stepPath(points, x, y, half = 0.5) {
  return runs(points)
    .map((run) =>
      run
        .map((p, i) => {
          const height = round(y(p.y));
          const start = round(x(p.x - half));
          const end = round(x(p.x + half));
          return i === 0 ? `M${start} ${height}H${end}` : `V${height}H${end}`;
        })
        .join(""),
    )
    .join("");
}

/** The area between a step line and a level. */
export function stepArea(points, x, y, level, half = 0.5) {
  return runs(points)
    .map((run) => {
      const floor = round(y(level));
      const start = round(x(run[0].x - half));
      const top = run.map((p) => `V${round(y(p.y))}H${round(x(p.x + half))}`).join("");
      return `M${start} ${floor}${top}V${floor}Z`;
    })
    .join("");
}

/** Neighbouring epochs of the same word: [{from, to, word}]. */
export function bands(points) {
  const out = [];
  for (const { x, word } of points) {
    const last = out.at(-1);
    if (last && last.word === word && x === last.to + 1) last.to = x;
    else out.push({ from: x, to: x, word });
  }
  return out;
}

/** At most `count` of the epochs for the axis, evenly, always with the last. */
export function axisEpochs(epochs, count) {
  if (epochs.length === 0) return [];
  const step = Math.max(1, Math.ceil((epochs.length - 1) / Math.max(1, count - 1)));
  const out = [];
  for (let i = epochs.length - 1; i >= 0; i -= step) out.push(epochs[i]);
  return out.reverse();
}

/** Labels that would overlap are moved apart, keeping their order and the bounds. */
export function spread(wanted, gap, low, high) {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  for (let i = 1; i < order.length; i += 1) order[i].y = Math.max(order[i].y, order[i - 1].y + gap);
  let limit = high;
  for (let i = order.length - 1; i >= 0; i -= 1) {
    order[i].y = Math.max(low, Math.min(order[i].y, limit));
    limit = order[i].y - gap;
  }
  const out = [];
  for (const { y, i } of order) out[i] = y;
  return out;
}

/** What a series did, in words, for those who do not see the line. */
export function summary(points, text) {
  const known = points.filter((p) => p.y !== null && p.y !== undefined && Number.isFinite(p.y));
  if (known.length === 0) return "no values";
  const low = known.reduce((a, b) => (b.y < a.y ? b : a));
  const high = known.reduce((a, b) => (b.y > a.y ? b : a));
  const last = known.at(-1);
  if (low.y === high.y) return `${text(last.y)} throughout`;
  return `now ${text(last.y)}, lowest ${text(low.y)}, highest ${text(high.y)}`;
}
