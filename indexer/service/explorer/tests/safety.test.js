// What the Content-Security-Policy forbids, and what would let markup from outside into the page.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import test from "node:test";

const ROOT = new URL("../", import.meta.url);
const read = (path) => readFileSync(new URL(path, ROOT), "utf8");
const scripts = [
  ...readdirSync(new URL("js/", ROOT))
    .filter((n) => n.endsWith(".js"))
    .map((n) => `js/${n}`),
  ...readdirSync(new URL("js/pages/", ROOT)).map((n) => `js/pages/${n}`),
  "theme.js",
];
const styles = readdirSync(new URL("css/", ROOT)).map((n) => `css/${n}`);

test("no script makes markup or code of text", () => {
  const forbidden =
    /(inner|outer|insertAdjacent)HTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|javascript:/;
  for (const path of scripts) {
    const found = forbidden.exec(read(path));
    assert.equal(found, null, `${path}: ${found?.[0]}`);
  }
});

test("no style attribute is set as text, no listener is an attribute", () => {
  for (const path of scripts) {
    assert.doesNotMatch(
      read(path),
      /setAttribute\(\s*["']style|\bstyle:\s*["'`]|["']on[a-z]+["']\s*:\s*["'`]/,
      path,
    );
  }
});

test("the page holds no inline script and no inline style", () => {
  const html = read("index.html");
  assert.doesNotMatch(html, /<style|\sstyle=|\son[a-z]+=/);
  for (const [tag] of html.matchAll(/<script[^>]*>/g)) assert.match(tag, / src="/);
});

test("nothing comes from another origin", () => {
  for (const path of ["index.html", ...styles, ...scripts]) {
    const foreign = [...read(path).matchAll(/(?:https?:)?\/\/[a-z0-9.-]+\.[a-z]{2,}/g)]
      .map(([url]) => url)
      .filter((url) => !url.endsWith("//www.w3.org"));
    assert.deepEqual(foreign, [], path);
  }
});

test("every file that is named is there, and every module is used", () => {
  const html = read("index.html");
  for (const [, path] of html.matchAll(/(?:src|href)="([^"#/][^"]*)"/g))
    assert.ok(existsSync(new URL(path, ROOT)), path);
  const used = new Set(["js/main.js"]);
  for (const path of scripts) {
    for (const [, to] of read(path).matchAll(/from "(\.[^"]+)"/g)) {
      const url = new URL(to, new URL(path, ROOT));
      assert.ok(existsSync(url), `${path} imports ${to}`);
      used.add(url.href.slice(ROOT.href.length));
    }
  }
  for (const path of scripts)
    if (path.startsWith("js/")) assert.ok(used.has(path), `${path} is used by nobody`);
});

test("all modules are asked for at once, not one after the other", () => {
  const html = read("index.html");
  const named = [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, path]) => path);
  assert.deepEqual(named.sort(), scripts.filter((path) => path.startsWith("js/")).sort());
});

test("every name that is imported is exported", () => {
  for (const path of scripts) {
    for (const [, names, to] of read(path).matchAll(/import \{([^}]*)\} from "(\.[^"]+)"/g)) {
      const source = readFileSync(new URL(to, new URL(path, ROOT)), "utf8");
      for (const name of names
        .split(",")
        .map((n) => n.trim())
        .filter(Boolean)) {
        assert.match(
          source,
          new RegExp(`export (async )?(function|const|class) ${name}\\b`),
          `${path}: ${name} of ${to}`,
        );
      }
      const rest = read(path).replace(/import \{[^}]*\} from "[^"]+";/g, "");
      for (const name of names
        .split(",")
        .map((n) => n.trim())
        .filter(Boolean)) {
        assert.match(rest, new RegExp(`\\b${name}\\b`), `${path} imports ${name} and does not use it`);
      }
    }
  }
});

// The contrast that the design promises, reckoned from the style sheet: 4.5:1 for text in both themes.
test("text has a contrast of 4.5:1 at least, in light and dark", () => {
  const css = read("css/base.css");
  const colour = {};
  for (const [, name, light, dark] of css.matchAll(
    /--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
  )) {
    colour[name] = [light, dark];
  }
  const luminance = (hex) => {
    const [r, g, b] = [1, 3, 5]
      .map((i) => Number.parseInt(hex.slice(i, i + 2), 16) / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const grounds = ["bg", "surface", "sunken", "hover"];
  const pairs = [
    ...["ink", "muted", "accent", "bad", "ok", "warn", "info"].flatMap((text) =>
      grounds.map((ground) => [text, ground]),
    ),
    ["on-accent", "accent"],
    ["ok", "ok-soft"],
    ["warn", "warn-soft"],
    ["bad", "bad-soft"],
    ["info", "info-soft"],
    ["ink", "accent-soft"],
  ];
  for (const [text, ground] of pairs) {
    for (const theme of [0, 1]) {
      const value = contrast(colour[text][theme], colour[ground][theme]);
      assert.ok(value >= 4.5, `${text} on ${ground}, ${theme ? "dark" : "light"}: ${value.toFixed(2)}`);
    }
  }
  // Lines of plots and edges of controls: 3:1.
  for (const line of ["series-a", "series-b", "series-c", "line-strong", "focus"]) {
    for (const theme of [0, 1]) assert.ok(contrast(colour[line][theme], colour.surface[theme]) >= 3, line);
  }
});
