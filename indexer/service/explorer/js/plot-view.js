// Drawing plots as inline SVG, with a reader for mouse, touch and keys, and a table of the values.

import { h, s } from "./dom.js";
import { epochDay, integer } from "./format.js";
import {
  axisEpochs,
  bands,
  countTicks,
  linePath,
  scale,
  stepArea,
  stepPath,
  summary,
  ticks,
} from "./plot.js";

const HEIGHT = 168;
const TOP = 10;
const BOTTOM = 22;
const RIGHT = 10;

/**
 * A plot over epochs.
 *
 * @param {object} plan
 * @param {string} plan.title
 * @param {number[]} plan.epochs
 * @param {{name: string, values: (number|null)[], kind: "area"|"line"|"step"|"bars", hue: "a"|"b"|"c",
 *   show?: string[]}[]} plan.series `show`: the exact text of each value, where a float would not do
 * @param {(value: number) => string} plan.text a value in words, with its unit
 * @param {(value: number) => string} [plan.axis] a value on the axis
 * @param {[number, number]} [plan.domain] fixed bounds
 * @param {boolean} [plan.count] whole numbers from 0
 * @param {(string|null)[]} [plan.marks] a word for each epoch: drawn as bands, and told with the value
 * @param {string} [plan.note]
 */
export function plot(plan) {
  const { title, epochs, series } = plan;
  const box = h("div", {
    class: "plot-box",
    tabindex: 0,
    role: "slider",
    "aria-orientation": "horizontal",
    "aria-label":
      `${title}. ${series.map((one) => `${one.name}: ${describe(one, plan)}`).join(". ")}. Arrow keys ` +
      "read the epochs.",
    "aria-valuemin": epochs[0],
    "aria-valuemax": epochs.at(-1),
  });
  const day = h("span", { class: "plot-day" });
  const keys = series.map((one) => ({ one, value: h("span", { class: "plot-value" }) }));
  const head = h(
    "figcaption",
    null,
    h("span", { class: "plot-title" }, title),
    day,
    h(
      "span",
      { class: "plot-keys" },
      keys.map(({ one, value }) =>
        h("span", { class: "plot-key" }, swatch(one), series.length > 1 ? `${one.name} ` : "", value),
      ),
    ),
  );
  const reader = new Reader(plan, box, day, keys);
  new ResizeObserver(() => reader.draw()).observe(box);
  return h(
    "figure",
    { class: "plot", "aria-label": title },
    head,
    box,
    plan.note ? h("p", { class: "plot-note" }, plan.note) : null,
    values(plan),
  );
}

function describe(one, plan) {
  return summary(
    one.values.map((y, i) => ({ x: i, y })),
    (y) => plan.text(y),
  );
}

function swatch(one) {
  const shape =
    one.kind === "line" || one.kind === "step"
      ? s("path", { d: "M0 5H18", class: `stroke-${one.hue}` })
      : s("rect", { x: 4, y: 0, width: 10, height: 10, class: `fill-${one.hue}` });
  return s("svg", { width: 18, height: 10, "aria-hidden": "true", class: "swatch" }, shape);
}

/** The values as a table, for those who read rather than look. */
function values({ title, epochs, series, text, marks }) {
  const make = () =>
    h(
      "div",
      { class: "table-wrap plot-table", tabindex: 0, role: "region", "aria-label": `${title}, values` },
      h(
        "table",
        null,
        h("caption", { class: "unseen" }, `${title} by epoch`),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, "Epoch"),
            series.map((one) => h("th", { scope: "col", class: "num" }, one.name)),
            marks ? h("th", { scope: "col" }, "State") : null,
          ),
        ),
        h(
          "tbody",
          null,
          epochs
            .map((epoch, i) =>
              h(
                "tr",
                null,
                h("th", { scope: "row" }, `${epochDay(epoch)} (${integer(epoch)})`),
                series.map((one) => h("td", { class: "num" }, valueText(one, i, text))),
                marks ? h("td", null, marks[i] ?? "–") : null,
              ),
            )
            .reverse(),
        ),
      ),
    );
  const details = h("details", { class: "plot-data" }, h("summary", null, "Values as a table"));
  // A page has many plots and few readers of their tables: made when first opened.
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(make());
  });
  return details;
}

function valueText(one, i, text) {
  if (one.values[i] === null || one.values[i] === undefined) return "–";
  return one.show?.[i] ?? text(one.values[i]);
}

class Reader {
  constructor(plan, box, day, keys) {
    Object.assign(this, { plan, box, day, keys });
    this.index = plan.epochs.length - 1;
    this.width = 0;
    box.addEventListener("pointermove", (event) => this.point(event));
    box.addEventListener("pointerdown", (event) => this.point(event));
    box.addEventListener("pointerleave", () => this.rest());
    box.addEventListener("blur", () => this.rest());
    box.addEventListener("focus", () => {
      if (box.matches(":focus-visible")) this.move(this.index);
    });
    box.addEventListener("keydown", (event) => this.press(event));
    this.tell();
  }

  press(event) {
    const end = this.plan.epochs.length - 1;
    const to = {
      ArrowLeft: this.index - 1,
      ArrowRight: this.index + 1,
      ArrowDown: this.index - 1,
      ArrowUp: this.index + 1,
      PageDown: this.index - 7,
      PageUp: this.index + 7,
      Home: 0,
      End: end,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.move(Math.max(0, Math.min(end, to)));
  }

  point(event) {
    if (!this.x) return;
    const left = this.box.getBoundingClientRect().left;
    const wanted = Math.round(this.x.invert(event.clientX - left));
    const index = wanted - this.plan.epochs[0];
    this.move(Math.max(0, Math.min(this.plan.epochs.length - 1, index)));
  }

  rest() {
    this.index = this.plan.epochs.length - 1;
    this.cursor?.setAttribute("visibility", "hidden");
    this.tell();
  }

  move(index) {
    this.index = index;
    this.tell();
    if (!this.cursor) return;
    const at = this.x(this.plan.epochs[index]);
    this.cursor.setAttribute("visibility", "visible");
    this.cursor.setAttribute("d", `M${at} ${TOP}V${HEIGHT - BOTTOM}`);
  }

  tell() {
    const { epochs, text, marks } = this.plan;
    const epoch = epochs[this.index];
    const said = [];
    for (const { one, value } of this.keys) {
      const words = valueText(one, this.index, text);
      value.textContent = words;
      said.push(`${one.name} ${words === "–" ? "no value" : words}`);
    }
    const mark = marks?.[this.index];
    this.day.textContent = mark ? `${epochDay(epoch)} · ${mark}` : epochDay(epoch);
    this.box.setAttribute("aria-valuenow", epoch);
    this.box.setAttribute(
      "aria-valuetext",
      `${epochDay(epoch)}: ${said.join(", ")}${mark ? `, ${mark}` : ""}`,
    );
  }

  bounds() {
    const { domain, series, count } = this.plan;
    if (domain) return ticks(domain[0], domain[1], 4);
    const all = series.flatMap((one) => one.values).filter((value) => Number.isFinite(value));
    const high = Math.max(0, ...all);
    const low = Math.min(0, ...all);
    return count && low === 0 ? countTicks(high, 3) : ticks(low, high || 1, 3);
  }

  draw() {
    const width = Math.floor(this.box.clientWidth);
    if (width < 40 || width === this.width) return;
    this.width = width;
    const { plan } = this;
    const axis = plan.axis ?? plan.text;
    const levels = this.bounds();
    const left = Math.max(...levels.map((level) => axis(level).length)) * 6.6 + 10;
    const x = scale([plan.epochs[0] - 0.5, plan.epochs.at(-1) + 0.5], [left, width - RIGHT]);
    const y = scale([levels[0], levels.at(-1)], [HEIGHT - BOTTOM, TOP]);
    this.x = x;
    const step = x(1) - x(0);
    this.cursor = s("path", { class: "plot-cursor", visibility: "hidden" });
    const svg = s(
      "svg",
      { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" },
      this.bands(x),
      this.grid(levels, axis, x, y, left, width),
      plan.series.map((one) => this.series(one, x, y, step)),
      this.cursor,
    );
    this.box.replaceChildren(svg);
  }

  bands(x) {
    if (!this.plan.marks) return null;
    const words = this.plan.epochs.map((epoch, i) => ({ x: epoch, word: this.plan.marks[i] }));
    return bands(words)
      .filter(({ word }) => word && word !== "active")
      .map(({ from, to, word }) =>
        s("rect", {
          x: x(from - 0.5),
          y: TOP,
          width: Math.max(1, x(to + 0.5) - x(from - 0.5)),
          height: HEIGHT - TOP - BOTTOM,
          class: `band band-${word.replace(/[^a-z]/g, "-")}`,
        }),
      );
  }

  grid(levels, axis, x, y, left, width) {
    const lines = levels.map((level) => [
      s("path", {
        d: `M${left} ${y(level)}H${width - RIGHT}`,
        class: level === 0 ? "plot-zero" : "plot-line",
      }),
      s("text", { x: left - 6, y: y(level) + 4, "text-anchor": "end", class: "plot-text" }, axis(level)),
    ]);
    const days = axisEpochs(this.plan.epochs, Math.max(2, Math.floor((width - left) / 92)));
    // The last label ends with the axis; the others stand below their epochs.
    const labels = days.map((epoch, i) =>
      s(
        "text",
        {
          x: i === days.length - 1 ? width - RIGHT : x(epoch),
          y: HEIGHT - 6,
          "text-anchor": i === days.length - 1 ? "end" : "middle",
          class: "plot-text",
        },
        epochDay(epoch).slice(5),
      ),
    );
    return [lines, labels];
  }

  series(one, x, y, step) {
    const points = this.plan.epochs.map((epoch, i) => ({ x: epoch, y: one.values[i] }));
    if (one.kind === "area") {
      return [
        s("path", { d: stepArea(points, x, y, 0), class: `area-${one.hue}` }),
        s("path", { d: stepPath(points, x, y), class: `stroke-${one.hue}` }),
      ];
    }
    if (one.kind === "step") return s("path", { d: stepPath(points, x, y), class: `stroke-${one.hue}` });
    if (one.kind === "line") return s("path", { d: linePath(points, x, y), class: `stroke-${one.hue}` });
    const wide = Math.max(1, Math.min(18, step * 0.72));
    return points
      .filter((p) => Number.isFinite(p.y) && p.y !== 0)
      .map((p) =>
        s("rect", {
          x: (x(p.x) - wide / 2).toFixed(2),
          width: wide.toFixed(2),
          class: `fill-${one.hue}`,
          y: Math.min(y(0), y(p.y)).toFixed(2),
          height: Math.max(1, Math.abs(y(0) - y(p.y))).toFixed(2),
        }),
      );
  }
}
