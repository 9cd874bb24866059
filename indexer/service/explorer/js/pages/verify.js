// Verify a transcript: drop a file, choose one, or name a contract.

import { getText } from "../api.js";
import { MAX_JSON_BYTES } from "../canonical.js";
import { h, icon, prose } from "../dom.js";
import { bytes, safeName } from "../format.js";
import { empty, failure, section } from "../parts.js";
import { showTranscript } from "../transcript-view.js";

export default function verifyPage({ signal }) {
  const result = h(
    "div",
    { class: "transcript" },
    empty("Nothing was checked yet.", "Drop a file or name a contract; what was checked, and how, appears here."),
  );
  const about = h("p", { class: "muted" });
  const input = h("input", { type: "file", id: "file", accept: ".json,application/json", class: "unseen" });
  const drop = h(
    "div",
    { class: "drop" },
    icon("file", 28),
    h("p", null, h("strong", null, "Drop a transcript here"), " or "),
    input,
    h("label", { for: "file", class: "button primary" }, "Choose a file"),
    h(
      "p",
      { class: "small muted" },
      prose(
        "It stays in your browser. The client keeps them in `~/.fix/transcripts`; the market and this " +
          "explorer give them too.",
      ),
    ),
  );
  const take = async (file) => {
    about.textContent = `${safeName(file.name).text} · ${bytes(file.size)}`;
    if (file.size > MAX_JSON_BYTES) {
      result.replaceChildren(
        failure(
          new Error("The file is longer than 16 MiB, which no transcript is. Choose another one."),
          null,
        ),
      );
      return;
    }
    try {
      await showTranscript(result, new Uint8Array(await file.arrayBuffer()), { signal });
    } catch (error) {
      console.error(error);
      result.replaceChildren(failure(new Error("The file could not be read. Choose it again."), null));
    }
    about.scrollIntoView({ block: "start" });
  };
  input.addEventListener("change", () => {
    if (input.files[0]) take(input.files[0]);
    input.value = "";
  });
  // The whole page takes a drop: nobody should lose the page by missing the frame.
  let depth = 0;
  const over = (on) => drop.classList.toggle("over", on);
  const listeners = {
    dragenter: (event) => {
      event.preventDefault();
      depth += 1;
      over(true);
    },
    dragleave: () => {
      depth -= 1;
      if (depth <= 0) over(false);
    },
    dragover: (event) => event.preventDefault(),
    drop: (event) => {
      event.preventDefault();
      depth = 0;
      over(false);
      if (event.dataTransfer?.files[0]) take(event.dataTransfer.files[0]);
    },
  };
  for (const [type, listener] of Object.entries(listeners))
    document.addEventListener(type, listener, { signal });

  const id = h("input", {
    id: "contract-id",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    maxlength: 16,
    placeholder: "16 hexadecimal digits",
    class: "mono",
    "aria-describedby": "id-error",
  });
  const problem = h("p", { id: "id-error", class: "alert field-error", "aria-live": "polite" });
  const form = h(
    "form",
    {
      class: "id-form",
      on: {
        submit: async (event) => {
          event.preventDefault();
          const wanted = id.value.trim().toLowerCase();
          const good = /^[0-9a-f]{16}$/.test(wanted);
          problem.textContent = good
            ? ""
            : "A contract id is 16 lower-case hexadecimal digits; check the id.";
          id.setAttribute("aria-invalid", String(!good));
          if (!good) return;
          about.textContent = `Contract ${wanted}`;
          try {
            await showTranscript(result, await getText(`/v1/contracts/${wanted}`, {}, signal), {
              expectedId: wanted,
              signal,
            });
          } catch (error) {
            if (!signal.aborted) result.replaceChildren(failure(error, null));
          }
        },
      },
    },
    h("label", { for: "contract-id" }, "Or fetch by contract id"),
    h(
      "div",
      { class: "joined" },
      id,
      h("button", { type: "submit", class: "button primary" }, "Fetch and verify"),
    ),
    problem,
  );

  return {
    title: "Verify a transcript",
    node: h(
      "article",
      { class: "page verify-page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Verify a transcript"),
        h(
          "p",
          null,
          "A fix contract is a chain of signed entries. Your browser checks every hash and every " +
            "signature; nobody has to be believed.",
        ),
      ),
      h("div", { class: "verify-ways" }, drop, form),
      section("Result", "result", { beside: about }, result),
    ),
  };
}
