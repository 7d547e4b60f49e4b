// node page/pack.mjs GLUE.js SOLVER.wasm OUT.html: everything in one file, for browsers refuse to fetch and to import
// from file://. Prints the sizes; more than 2 MB as brotli sends them fails.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const MOST = 2_000_000;
/** In the order of use. */
const SCRIPTS = ["dom.js", "link.js", "words.js", "combo.js", "solver.js", "form.js", "answer.js", "diagnosis.js", "matrix.js", "main.js"];

const [glue, wasm, out] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, name), "utf8");

const script = [readFileSync(glue, "utf8"), ...SCRIPTS.map(read)].join("\n");
if (script.includes("</script")) throw new Error("a script that ends its own element");
const style = read("style.css");
/** Bytes as text that brotli makes nearly as small as the bytes themselves, which it does not of base64: a character
 *  each, 256 higher where HTML would change it or its element could end. */
function asText(bytes) {
  const kept = (byte) => byte > 0 && byte < 0x80 && byte !== 0x0d && byte !== 0x3c;
  const parts = [];
  for (const byte of bytes) parts.push(String.fromCharCode(kept(byte) ? byte : byte + 256));
  return parts.join("");
}
const solver = asText(readFileSync(wasm));
const notice = asText(readFileSync(join(here, "..", "NOTICE.md")));

// What may run is this script and this style, by their digests; nothing may be loaded from anywhere.
const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${digest(script)} 'wasm-unsafe-eval'`,
  `style-src ${digest(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const parts = { CSP: policy, STYLE: style, SOLVER: solver, NOTICE: notice, SCRIPT: script };
const page = read("index.html").replace(/%(CSP|STYLE|SOLVER|NOTICE|SCRIPT)%/g, (_, name) => parts[name]);
writeFileSync(out, page);

const sent = brotliCompressSync(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } });
const sizes = { wasm: readFileSync(wasm).length, page: Buffer.byteLength(page), brotli: sent.length };
console.log(`${out}: ${sizes.page} bytes, ${sizes.brotli} as brotli; the solver alone ${sizes.wasm}`);
if (sizes.brotli > MOST) {
  console.error(`more than ${MOST} bytes as brotli sends them`);
  process.exit(1);
}
