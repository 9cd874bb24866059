// Showing a transcript and the verdict of this browser about it.

import { Float, Int, canonical } from "./canonical.js";
import { support } from "./ed25519.js";
import { h, icon, prose, say } from "./dom.js";
import { integer, plural, safeText, stamp } from "./format.js";
import { key, pairs, pill, when } from "./parts.js";
import { read, verify } from "./transcript.js";

// Fields of entries that are worth their own lines, in the order in which one reads them.
const LONG = [
  "message",
  "command",
  "corrected_command",
  "fix",
  "explanation",
  "output",
  "argument",
  "reasoning",
  "reason",
  "note",
];
const NAMES = {
  message: "Message",
  command: "Command",
  corrected_command: "Corrected command",
  fix: "Fix",
  explanation: "Explanation",
  output: "Output",
  argument: "Argument",
  reasoning: "Reasoning",
  reason: "Reason",
  note: "Note",
  success: "Success",
  exit_code: "Exit code",
  outcome: "Outcome",
  court: "Court",
  fee: "Fee",
  round: "Round",
  attempt: "Attempt",
  side: "Side",
  flags: "Flags",
  final: "Final",
  level: "Level",
  filer: "Filed by",
  ran: "Ran",
  refused: "Refused",
  payout_address: "Payout address",
  grace: "In grace",
  agent_pubkey: "Agent",
  principal_pubkey: "Principal",
  deposit: "Deposit",
  judge_pubkey: "Judge",
};
const CODE = new Set(["command", "corrected_command", "fix", "output"]);
const QUIET = new Set(["from", "on_behalf_of", "envelope", "judge_signature", "contract", "terms"]);

/**
 * Verify a transcript and show it.
 *
 * @param {Element} place
 * @param {Uint8Array|string} input untouched
 * @param {{expectedId?: string, signal: AbortSignal}} options
 */
export async function showTranscript(place, input, { expectedId, signal }) {
  const progress = h("progress", { max: 1, value: 0, "aria-label": "Verifying" });
  place.replaceChildren(
    h("div", { class: "verifying" }, h("p", null, "Verifying in this browser…"), progress),
  );
  let transcript;
  try {
    transcript = read(input);
  } catch (error) {
    place.replaceChildren(verdictBox("invalid", "This is not a transcript", [], error));
    say(`This is not a transcript. ${error.message}`);
    return null;
  }
  const subtle = globalThis.crypto?.subtle;
  const can = await support(subtle);
  if (can === "insecure") {
    place.replaceChildren(
      verdictBox(
        "unsigned",
        "Not verified: this page has no secure connection",
        [],
        null,
        "Browsers offer cryptography only over HTTPS or on localhost. Open the explorer over HTTPS, or " +
          "check the file with `fix verify`.",
      ),
    );
    return null;
  }
  if (transcript.entries.length === 0) {
    place.replaceChildren(
      verdictBox(
        "unsigned",
        "The transcript is not public",
        [],
        null,
        "The market shows it to the parties only: the contract is private, or is still running. Drop " +
          "your own copy on the page Verify.",
      ),
    );
    return null;
  }
  let painted = performance.now();
  const report = await verify(transcript, {
    subtle,
    signatures: can === "ok",
    expectedId,
    onProgress: (done, total) => {
      if (performance.now() - painted < 50) return;
      painted = performance.now();
      progress.value = done / total;
    },
  });
  if (signal.aborted) return null;
  place.replaceChildren(verdict(report, can), participants(report), timeline(report));
  say(`${title(report)}. ${report.problem?.text ?? ""}`);
  return report;
}

function title(report) {
  if (report.verdict === "valid") return `Valid: all ${plural(report.total, "entry", "entries")} hold`;
  if (report.verdict === "unsigned") return "Links hold; signatures were not checked";
  return report.problem?.index === null ? "Not valid" : `Not valid from entry ${report.problem.index} on`;
}

function verdictBox(grade, text, checks, error, remark = null, notes = []) {
  const pictures = { valid: "check", invalid: "cross", unsigned: "warn" };
  const grades = { valid: "ok", invalid: "bad", unsigned: "warn" };
  return h(
    "section",
    { class: "standing verdict", "aria-label": "Verdict", data: { grade: grades[grade] } },
    h("p", { class: "standing-word" }, icon(pictures[grade], 22), text),
    h(
      "ul",
      null,
      error
        ? h(
            "li",
            { data: { grade: "bad" } },
            icon("cross", 15),
            h(
              "span",
              null,
              prose(error.text ?? error.message),
              error.code ? h("span", { class: "code" }, ` refusal ${error.code}`) : null,
            ),
          )
        : null,
      checks.map(([grade_, line]) =>
        h(
          "li",
          { data: { grade: grade_ } },
          icon({ ok: "check", bad: "cross", warn: "warn", info: "info" }[grade_], 15),
          h("span", null, prose(line)),
        ),
      ),
      notes.map((note) =>
        h("li", { data: { grade: "info" } }, icon("info", 15), h("span", null, prose(note))),
      ),
      remark ? h("li", { data: { grade: "info" } }, icon("info", 15), h("span", null, prose(remark))) : null,
    ),
  );
}

function verdict(report, can) {
  const all = report.entries;
  const count = (test) => all.filter(test).length;
  const line = (good, text) => [
    good === report.total ? "ok" : "bad",
    `${integer(good)} of ${integer(report.total)} ${text}`,
  ];
  const checks = [
    line(
      count((e) => e.form === "ok"),
      "entries have the right form",
    ),
    line(
      count((e) => e.link === "ok"),
      "entries hang on the one before (SHA-256)",
    ),
    can === "ok"
      ? line(
          count((e) => e.signature === "ok" || e.signature === "no time"),
          "signatures hold (Ed25519, strict)",
        )
      : [
          "warn",
          "This browser has no Ed25519: signatures were not checked. Use Chromium 137, Firefox 129, " +
            "Safari 17 or newer, or `fix verify`.",
        ],
    line(
      count((e) => e.role !== null),
      "entries are signed by the party to whom their type belongs",
    ),
  ];
  if (report.judges.length > 0)
    checks.push([
      "ok",
      `${plural(report.judges.length, "judge's signature", "judges' signatures")} inside hold`,
    ]);
  const remark =
    report.verdict === "valid"
      ? "Times, states and money follow further rules; `fix verify` checks those too."
      : null;
  return verdictBox(report.verdict, title(report), checks, report.problem, remark, report.notes);
}

function participants(report) {
  return pairs(
    [
      [
        "Contract",
        report.contractId
          ? [key(report.contractId, "contract id", { whole: true }), " computed from the first entry"]
          : "cannot be told",
      ],
      ["Principal", report.principal ? key(report.principal, "principal's key", { whole: true }) : "unknown"],
      [
        "Agent",
        report.agents.length
          ? report.agents.map((one) => h("span", { class: "line" }, key(one, "agent's key", { whole: true })))
          : "none",
      ],
      ["Server", report.server ? key(report.server, "server's key", { whole: true }) : "unknown"],
      report.judges.length
        ? [
            "Judge",
            [...new Set(report.judges)].map((one) =>
              h("span", { class: "line" }, key(one, "judge's key", { whole: true })),
            ),
          ]
        : null,
      ["Chain head", report.head ? key(report.head, "chain head", { whole: true }) : "broken"],
    ],
    "pairs wide",
  );
}

function timeline(report) {
  return h(
    "section",
    { class: "section", "aria-labelledby": "entries-title" },
    h("div", { class: "section-head" }, h("h2", { id: "entries-title" }, "Entries")),
    h(
      "ol",
      { class: "chain" },
      report.entries.map((item) => entryRow(item)),
    ),
  );
}

function entryRow(item) {
  const good = item.problem === null;
  const role = (item.role ?? "?").replaceAll(" ", "-");
  const head =
    item.form === "ok"
      ? [
          h("span", { class: "chain-seq mono" }, `#${item.seq}`),
          h("h3", null, item.label),
          h("span", { class: "role", data: { role: role.split("-").at(-1) } }, item.role ?? "unknown author"),
          h("span", { class: "chain-time", title: stamp(item.at) }, when(item.at)),
        ]
      : [h("span", { class: "chain-seq mono" }, `#${item.index}`), h("h3", null, "Entry of a wrong form")];
  return h(
    "li",
    { class: "chain-entry", data: { good: good ? "1" : "0" } },
    h("div", { class: "chain-head" }, head, good ? null : pill("invalid")),
    good
      ? null
      : h(
          "p",
          { class: "alert chain-problem" },
          icon("cross", 15),
          h("span", null, prose(item.problem.text)),
        ),
    item.form === "ok" ? [body(item), proofOf(item)] : null,
  );
}

function plain(value) {
  if (value === null) return "none";
  if (value instanceof Int || value instanceof Float) return value.toString();
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return safeText(value);
  return safeText(canonical(value));
}

function body(item) {
  const parts = [];
  if (item.type === "post" && item.data.get("contract") instanceof Map)
    parts.push(contract(item.data.get("contract")));
  const short = [];
  for (const [field, value] of item.data) {
    if (QUIET.has(field) || LONG.includes(field)) continue;
    if (field === "deposit" && value instanceof Map) {
      short.push([
        "Deposit",
        `${plain(value.get("amount") ?? null)} XNO from ${plain(value.get("source") ?? null)}`,
      ]);
    } else if (field === "market" && value instanceof Map) {
      short.push(["Market", `server ${plain(value.get("server") ?? null)}, network ${plain(value.get("network") ?? null)}`]);
    } else {
      short.push([NAMES[field] ?? field, plain(value)]);
    }
  }
  for (const field of LONG) {
    const value = item.data.get(field);
    if (value === undefined || value === null || value === "") continue;
    parts.push(
      field === "reason" || !CODE.has(field)
        ? h(
            "div",
            { class: "said" },
            h("span", { class: "said-name" }, NAMES[field]),
            h("p", { class: "text", dir: "auto" }, plain(value)),
          )
        : h(
            "div",
            { class: "said" },
            h("span", { class: "said-name" }, NAMES[field]),
            h("pre", { tabindex: 0 }, plain(value)),
          ),
    );
  }
  if (short.length > 0)
    parts.push(
      pairs(
        short.map(([term, text]) => [term, h("span", { class: "break" }, text)]),
        "pairs tight",
      ),
    );
  return parts.length > 0 ? h("div", { class: "chain-body" }, parts) : null;
}

function contract(json) {
  const part = (...names) =>
    names.reduce((value, name) => (value instanceof Map ? value.get(name) : undefined), json);
  const checks = part("verification");
  const verification = Array.isArray(checks)
    ? checks
        .map((one) => {
          if (!(one instanceof Map)) return plain(one);
          const detail = one.get("expected") ?? one.get("pattern");
          const method = plain(one.get("method") ?? null).replaceAll("_", " ");
          return detail === undefined ? method : `${method} ${plain(detail)}`;
        })
        .join(", ")
    : null;
  const bounty = part("escrow", "bounty");
  const error = part("task", "error");
  return [
    h(
      "div",
      { class: "said" },
      h("span", { class: "said-name" }, "Command"),
      h("pre", { tabindex: 0 }, plain(part("task", "command") ?? null)),
    ),
    error
      ? h(
          "div",
          { class: "said" },
          h("span", { class: "said-name" }, "Error"),
          h("pre", { tabindex: 0 }, plain(error)),
        )
      : null,
    pairs(
      [
        ["Bounty", bounty === undefined ? "none: free mode" : `${plain(bounty)} XNO`],
        ["Mode", plain(part("execution", "mode") ?? "supervised")],
        verification ? ["Verification", h("span", { class: "break" }, verification)] : null,
        [
          "Machine",
          [part("environment", "os"), part("environment", "arch"), part("environment", "distro")]
            .filter(Boolean)
            .map(plain)
            .join(", ") || "unknown",
        ],
      ],
      "pairs tight",
    ),
  ];
}

const SIGNATURES = {
  ok: "holds",
  "no time": "holds, but leaves the time out",
  bad: "does not hold",
  unknown: "not checked",
};

function proofOf(item) {
  const details = h("details", { class: "chain-proof" }, h("summary", null, "Hashes, signature, raw data"));
  // Most entries are never opened.
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const raw = canonical(item.data);
    details.append(
      pairs(
        [
          ["Author", key(item.author, "author's key", { whole: true })],
          ["Signed at", stamp(item.at)],
          item.receivedAt ? ["Taken at", stamp(item.receivedAt)] : null,
          ["Signature", SIGNATURES[item.signature]],
          ["Link to the entry before", item.link === "ok" ? "holds" : "broken"],
          ["Previous hash", key(item.prevHash, "previous hash", { whole: true })],
          ["Hash", key(item.hash, "hash", { whole: true })],
          [
            "Data",
            h("pre", { class: "raw", tabindex: 0 }, raw.length > 20_000 ? `${raw.slice(0, 20_000)}…` : raw),
          ],
        ],
        "pairs wide",
      ),
    );
  });
  return details;
}
