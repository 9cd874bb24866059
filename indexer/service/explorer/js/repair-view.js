// The change that a fix makes, as a diff.

import { h } from "./dom.js";
import { changes } from "./diff.js";
import { safeText } from "./format.js";
import { copyButton } from "./parts.js";

const WORDS = { "+": "added", "-": "removed", " ": "unchanged" };

function file({ file: name, lines }) {
  return h(
    "figure",
    { class: "diff", "aria-label": safeText(name) },
    h("figcaption", { class: "mono" }, safeText(name)),
    h(
      "ol",
      { class: "diff-lines", tabindex: 0, role: "list", "aria-label": `Changes of ${safeText(name)}` },
      lines.map((line) =>
        h(
          "li",
          { data: { sign: line.sign } },
          h("span", { class: "diff-number", "aria-hidden": "true" }, line.number === null ? "" : String(line.number)),
          h("span", { class: "diff-sign", "aria-hidden": "true" }, line.sign),
          h("span", { class: "unseen" }, `${WORDS[line.sign]}: `),
          h("code", null, safeText(line.text)),
        ),
      ),
    ),
  );
}

/** A fix of a transcript, for the command that failed. */
export function repair(fix, command) {
  const { files, script } = changes(fix, command);
  return [
    ...files.map(file),
    script
      ? h(
          "figure",
          { class: "diff", "aria-label": "Script" },
          h("figcaption", null, "Script ", copyButton(script, "script")),
          h("pre", { tabindex: 0, role: "region", "aria-label": "Script of the fix" }, safeText(script)),
        )
      : null,
    fix.explanation ? h("p", { class: "text", dir: "auto" }, safeText(fix.explanation)) : null,
  ].filter(Boolean);
}
