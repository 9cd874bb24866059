// Hash routes: #/agents/<mint>/batches/<epoch>?kind=bid. Pure.

/** The pages, and the names of what stands in their path. */
export const ROUTES = [
  ["overview", []],
  ["agents", ["agents"]],
  ["agent", ["agents", ":mint"]],
  ["batch", ["agents", ":mint", "batches", ":epoch"]],
  ["batches", ["batches"]],
  ["challenges", ["challenges"]],
  ["challenge", ["challenges", ":address"]],
  ["asks", ["asks"]],
  ["ask", ["asks", ":address"]],
  ["contracts", ["contracts"]],
  ["contract", ["contracts", ":id"]],
  ["verify", ["verify"]],
  ["feed", ["feed"]],
  ["events", ["events"]],
  ["feedback", ["feedback"]],
  ["network", ["network"]],
  ["mesh", ["mesh"]],
  ["search", ["search"]],
  ["status", ["status"]],
];

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Read a hash.
 *
 * @param {string} hash with or without `#`
 * @returns {{page: string, params: Record<string, string>, query: Record<string, string>, path: string}}
 *   page is "missing" for an unknown path
 */
export function parseHash(hash) {
  const text = hash.replace(/^#/, "");
  const [path, search = ""] = text.split(/\?(.*)/s);
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decode);
  const query = Object.create(null);
  for (const [name, value] of new URLSearchParams(search)) query[name] = value;
  for (const [page, pattern] of ROUTES) {
    const fits =
      pattern.length === parts.length &&
      pattern.every((part, i) => part.startsWith(":") || part === parts[i]);
    if (!fits) continue;
    const params = Object.create(null);
    pattern.forEach((part, i) => {
      if (part.startsWith(":")) params[part.slice(1)] = parts[i];
    });
    return { page, params, query, path: `/${parts.join("/")}` };
  }
  return { page: "missing", params: {}, query, path: `/${parts.join("/")}` };
}

/** Write a hash: `href("agents", mint, "batches", 7)`, the last argument may be an object for the query. */
export function href(...parts) {
  const query = typeof parts.at(-1) === "object" && parts.at(-1) !== null ? parts.pop() : {};
  const path = parts.map((part) => encodeURIComponent(String(part))).join("/");
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const tail = search.toString();
  return `#/${path}${tail ? `?${tail}` : ""}`;
}

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;

/** Where a pasted text leads: to the search, which goes on by itself where there is only one place. */
export function jump(text) {
  const value = text.trim();
  return value === "" ? null : href("search", { q: value });
}

/** Whether a text may be a Solana address. */
export function isAddress(text) {
  return text.length >= 32 && text.length <= 44 && BASE58.test(text);
}
