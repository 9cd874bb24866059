// SLURP v4: files as one text.

import { check, sha256 } from './client.mjs';

const human = (size) => (size < 1024 ? `${size} B` : size < 1024 ** 2 ? `${(size / 1024).toFixed(1)} KB` : `${(size / 1024 ** 2).toFixed(1)} MB`);
const isBinary = (bytes) => bytes.subarray(0, 8192).includes(0);

export function pack(name, files) {
  const manifest = files.map(({ path, bytes }) =>
    `#   ${path.padEnd(20)} ${human(bytes.length).padStart(10)}  sha256:${sha256(bytes).slice(0, 16)}`
      + `${isBinary(bytes) ? '  [binary]' : ''}`);
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const head = ['# --- SLURP v4 ---', '#', `# name: ${name}`, `# files: ${files.length}`, `# total: ${human(total)}`,
    `# created: ${new Date().toISOString()}`, '#', '# MANIFEST:', ...manifest, '#', '', ''].join('\n');
  const blocks = files.map(({ path, bytes }) => {
    if (isBinary(bytes)) {
      const lines = bytes.toString('base64').match(/.{1,76}/g).join('\n');
      return `=== ${path} [binary] ===\n${lines}\n=== END ${path} ===\n\n`;
    }
    return `=== ${path} ===\n${bytes.toString().replace(/\n$/, '')}\n=== END ${path} ===\n\n`;
  });
  return head + blocks.join('');
}

export function unpack(archive) {
  check(/^# --- SLURP v4 ---\n/, archive);
  const files = [...archive.matchAll(/^=== (.+?)( \[binary\])? ===\n([^]*?)\n=== END \1 ===$/gm)];
  const sums = new Map([...archive.matchAll(/^# {3}(\S+) .* {2}sha256:([0-9a-f]{16})(?: {2}\[binary\])?$/gm)].map((it) => [it[1], it[2]]));
  return files.map(([, path, binary, body]) => {
    const bytes = binary ? Buffer.from(body, 'base64') : Buffer.from(`${body}\n`);
    check(sums.get(path), sha256(bytes).slice(0, 16));
    return { path, bytes };
  });
}
