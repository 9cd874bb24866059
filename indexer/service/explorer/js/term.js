// A word with its meaning: shown on a click, a tap or Enter, and gone with Escape.

import { h } from "./dom.js";
import { TERMS } from "./glossary.js";

let count = 0;

/** A word of the glossary, as `text` where it is written otherwise. */
export function term(word, text = word) {
  const meaning = TERMS[word];
  count += 1;
  const id = `term-${count}`;
  const note = h("span", { id, class: "term-note", popover: "auto", role: "note" }, meaning);
  const button = h(
    "button",
    { type: "button", class: "term", popovertarget: id, "aria-describedby": id, title: meaning },
    text,
  );
  note.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    const at = button.getBoundingClientRect();
    const box = note.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left, window.innerWidth - box.width - 8));
    const below = at.bottom + 6;
    const top = below + box.height > window.innerHeight - 8 ? Math.max(8, at.top - box.height - 6) : below;
    note.style.setProperty("left", `${left}px`);
    note.style.setProperty("top", `${top}px`);
  });
  return [button, note];
}
