// What a fix changes, line by line, read out of its script. Pure. A script that cannot be read whole is shown as it is.

/** A word of a POSIX shell: quotes and backslashes taken away. Null when a quote does not end. */
function words(text) {
  const out = [];
  let word = null;
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (c === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) return null;
      word = (word ?? "") + text.slice(i + 1, end);
      i = end;
    } else if (c === '"') {
      word ??= "";
      for (i += 1; text[i] !== '"'; i += 1) {
        if (i >= text.length) return null;
        if (text[i] === "\\" && '"\\$`'.includes(text[i + 1])) i += 1;
        word += text[i];
      }
    } else if (c === "\\") {
      word = (word ?? "") + (text[i + 1] ?? "");
      i += 1;
    } else if (/\s/.test(c)) {
      if (word !== null) out.push(word);
      word = null;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (word !== null) out.push(word);
  return out;
}

const GUARD = /^test "\$\(sed -n (\d+)p (.+?)\)" = ((?:'[^']*'|\\'|"[^"]*"|[^\s'"])+) &&\n/;
const SED = "sed -i --follow-symlinks ";

/** Edits of single lines, as the built-in rules write them: guards, then one sed. */
function edits(script) {
  const old = new Map();
  let rest = script.trimEnd();
  for (let found = GUARD.exec(rest); found; found = GUARD.exec(rest)) {
    const text = words(found[3]);
    if (text?.length !== 1) return null;
    old.set(Number(found[1]), text[0]);
    rest = rest.slice(found[0].length);
  }
  if (old.size === 0 || !rest.startsWith(SED)) return null;
  const given = words(rest.slice(SED.length));
  if (!given) return null;
  const lines = [];
  while (given[0] === "-e") {
    given.shift();
    const change = /^(\d+)(?:([cia])\\\n([\s\S]*)|d)$/.exec(given.shift() ?? "");
    if (!change) return null;
    const [, at, kind, text] = change;
    const number = Number(at);
    const before = old.get(number);
    if (before === undefined) return null;
    // sed's own escapes: a backslash in front of leading blanks, and doubled ones.
    const fresh = text?.replace(/^\\(?=[ \t])/, "").replaceAll("\\\\", "\\");
    if (kind === "i") lines.push([number, "+", fresh], [number, " ", before]);
    else if (kind === "a") lines.push([number, " ", before], [number, "+", fresh]);
    else lines.push([number, "-", before], ...(kind === "c" ? [[number, "+", fresh]] : []));
  }
  if (given.length !== 1 || lines.length === 0) return null;
  lines.sort((a, b) => a[0] - b[0]);
  return [{ file: given[0], lines: lines.map(([number, sign, text]) => ({ number, sign, text })) }];
}

/** A unified diff somewhere in a script, such as in a here-document for `patch`. */
function unified(script) {
  const files = [];
  let file = null;
  let number = 0;
  for (const line of script.split("\n")) {
    const named = /^\+\+\+ (?:b\/)?([^\t]+)/.exec(line);
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (named) {
      file = { file: named[1], lines: [], open: false };
      files.push(file);
    } else if (hunk && file) {
      number = Number(hunk[1]);
      file.open = true;
    } else if (file?.open && /^[ +-]/.test(line) && !line.startsWith("--- ")) {
      file.lines.push({ number: line[0] === "-" ? null : number, sign: line[0], text: line.slice(1) });
      if (line[0] !== "-") number += 1;
    } else if (file?.open && line !== "") {
      file.open = false;
    }
  }
  const whole = files.filter((one) => one.lines.length > 0);
  return whole.length > 0 ? whole.map(({ file: name, lines }) => ({ file: name, lines })) : null;
}

/**
 * What a fix changes.
 *
 * @param {{fix: string, corrected_command?: string|null}} fix of the transcript
 * @param {string|null} command that failed
 * @returns {{files: {file: string, lines: {sign: string, number: number|null, text: string}[]}[], script: string|null}}
 *   `script`: what could not be read as a change of lines
 */
export function changes(fix, command) {
  const corrected = fix.corrected_command ?? null;
  const files = [];
  if (corrected && command && corrected !== command) {
    files.push({
      file: "command",
      lines: [
        { sign: "-", number: null, text: command },
        { sign: "+", number: null, text: corrected },
      ],
    });
  }
  const script = String(fix.fix ?? "");
  // The script of a pure correction does nothing.
  if (/^\s*(true|:)?\s*$/.test(script)) return { files, script: null };
  const read = edits(script) ?? unified(script);
  return read ? { files: [...files, ...read], script: null } : { files, script };
}
