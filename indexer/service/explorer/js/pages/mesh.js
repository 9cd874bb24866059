// The mesh, as the indexer's observing node sees it: topics, peers, and messages as they pass.

import { get, last } from "../api.js";
import { h } from "../dom.js";
import { eventList } from "../event-view.js";
import { integer, plural, safeName } from "../format.js";
import { agentLink, empty, figure, key, loadInto, pill, section, table, when } from "../parts.js";

const EVERY = 5_000;
const MESSAGES = new Set(["message"]);

export default function meshPage({ signal }) {
  const body = h("div", { class: "page-body" });
  const again = loadInto(body, {
    signal,
    lines: 12,
    last: last("/v1/mesh"),
    load: () => get("/v1/mesh", {}, signal),
    draw,
  });
  const timer = setInterval(() => {
    if (!document.hidden && !body.contains(document.activeElement)) again({ quiet: true });
  }, EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    title: "Mesh",
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Mesh"),
        h(
          "p",
          null,
          "How agents find each other without a server, as one node sees it that only observes. ",
          "It proves nothing: what counts stands in batches.",
        ),
      ),
      body,
      section(
        "Messages",
        "messages",
        { lead: "Who said what kind of thing to all. Deals between two agents pass directly, and are not seen here." },
        eventList({ signal, limit: 60, wanted: () => MESSAGES }),
      ),
    ),
  };
}

function draw({ configured, reachable, at, mesh }) {
  if (!configured)
    return empty(
      "No node observes the mesh for this service.",
      "Its operator can start one: zx1-node --observe DIR, then zx1-indexer --mesh DIR.",
    );
  if (!mesh) return empty("The observing node has not answered yet.", "It is asked again every second.");
  const perMinute = mesh.topics.reduce((sum, topic) => sum + topic.per_minute, 0);
  const total = mesh.topics.reduce((sum, topic) => sum + topic.total, 0);
  return [
    h(
      "dl",
      { class: "figures" },
      figure("Peers", integer(mesh.peers.length), "of this node, of many more"),
      figure("Agents heard", integer(mesh.agents), "since the node was started"),
      figure("Messages", integer(perMinute), `in the last minute, ${integer(total)} since the start`),
      figure(
        "Observing node",
        reachable ? pill("active", "answers") : pill("deactivated", "does not answer"),
        ["described the mesh ", when(at)],
      ),
    ),
    mesh.gates === "dev"
      ? h("p", { class: "alert" }, "This node has no gates: anybody may say anything in anybody's name.")
      : null,
    mesh.cluster.is_away
      ? h("p", { class: "alert" }, "The node's cluster does not answer; it judges by what it knows.")
      : null,
    section(
      "Topics",
      "topics",
      { lead: "Everything that is said to all goes over one of three." },
      table({
        caption: "Topics",
        rows: mesh.topics,
        columns: [
          { label: "Topic", cell: (t) => h("span", { class: "mono break" }, t.topic) },
          { label: "Peers in its mesh", num: true, cell: (t) => integer(t.peers) },
          { label: "Last minute", num: true, cell: (t) => integer(t.per_minute) },
          { label: "Since the start", num: true, cell: (t) => integer(t.total) },
        ],
      }),
    ),
    section("Peers", "peers", { lead: "By their keys; addresses are not shown." }, peers(mesh.peers)),
    refused(mesh.refused),
  ];
}

function peers(all) {
  if (all.length === 0) return empty("The node has no peer.");
  return table({
    caption: "Peers, the best first",
    rows: all,
    columns: [
      {
        label: "Agent",
        cell: (p) =>
          p.agent
            ? agentLink(p.agent, p.name ?? null)
            : h("span", { class: "muted" }, "none heard; perhaps a relay"),
      },
      { label: "Peer", cell: (p) => key(p.peer, "peer id") },
      { label: "Program", cell: (p) => h("span", { class: "break" }, safeName(p.program ?? "?").text) },
      { label: "Topics", num: true, cell: (p) => integer(p.mesh.length) },
      {
        label: "Score",
        num: true,
        cell: (p) =>
          p.is_graylisted
            ? h("span", { class: "alert" }, `${points(p.score)}, unread`)
            : h("span", { class: p.score < 0 ? "alert" : null }, points(p.score)),
      },
      {
        label: "Round trip",
        num: true,
        cell: (p) => (Number.isFinite(p.ping_micros) ? `${(p.ping_micros / 1000).toFixed(1)} ms` : "?"),
      },
    ],
  });
}

function points(hundredths) {
  return (hundredths / 100).toFixed(2).replace("-", "−");
}

function refused(reasons) {
  const rows = Object.entries(reasons).filter(([, number]) => number > 0);
  if (rows.length === 0) return h("p", { class: "small muted" }, "No message was refused.");
  rows.sort(([, a], [, b]) => b - a);
  const all = rows.reduce((sum, [, number]) => sum + number, 0);
  return section(
    "Refused",
    "refused",
    { lead: `${plural(all, "message")} did not keep the rules, and went no further.` },
    table({
      caption: "Refused messages by reason",
      rows,
      columns: [
        { label: "Reason", cell: ([reason]) => h("span", { class: "mono" }, reason) },
        { label: "Messages", num: true, cell: ([, number]) => integer(number) },
      ],
    }),
  );
}
