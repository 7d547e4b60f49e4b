// How quick the page is: from opening it to the first answer, and from a key to the next one.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { address, launch } from "./browser.mjs";

const FIRST = 1000;
const NEXT = 30;

const browser = await launch();
const firsts = [];
for (let run = 0; run < 5; run++) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(address);
  await page.waitForFunction(() => globalThis.gpuenv?.page.took !== undefined);
  // The time at which the answer stood in the page, from the beginning of the navigation.
  firsts.push(await page.evaluate(() => performance.getEntriesByName("answered")[0].startTime));
  await page.close();
}

/** What somebody does: keys in the text, a value in the form, another machine, a conflict. Solving and drawing. */
const page = await (await browser.newContext()).newPage();
await page.goto(address);
// While somebody begins to read, the page gets itself ready.
await page.waitForFunction(() => globalThis.gpuenv?.page.isWarm);
const names = [];
const texts = [];
const typed = '[stack]\ntorch = "2.5.1"\npython = "3.11"\n\n[target.a]\ngpu = "H100"\ndriver = "550"\n';
for (let end = 60; end <= typed.length; end++) {
  names.push(`${end} letters`);
  texts.push(typed.slice(0, end));
}
for (const folder of readdirSync("tests/scenarios").sort()) {
  names.push(folder);
  texts.push(readFileSync(join("tests/scenarios", folder, "gpuenv.toml"), "utf8"));
}
const nexts = await page.evaluate((texts) => texts.map((text) => {
  globalThis.gpuenv.page.set(text);
  return globalThis.gpuenv.page.took;
}), texts);
await browser.close();

const sorted = (times) => [...times].sort((a, b) => a - b);
const at = (times, share) => sorted(times)[Math.min(times.length - 1, Math.floor(times.length * share))];
const ms = (time) => `${time.toFixed(1)} ms`;
console.log(`first answer: median ${ms(at(firsts, 0.5))}, slowest ${ms(Math.max(...firsts))} of ${firsts.length}`);
console.log(`next answers: median ${ms(at(nexts, 0.5))}, 95 % within ${ms(at(nexts, 0.95))}, slowest ${ms(Math.max(...nexts))} of ${nexts.length}`);
const slow = nexts.map((time, at) => [time, names[at]]).filter(([time]) => time > NEXT).sort(([a], [b]) => b - a);
if (slow.length > 0) {
  console.log(`${slow.length} took longer than ${NEXT} ms: ${slow.slice(0, 12).map(([time, name]) => `${name} ${ms(time)}`).join(", ")}`);
}
// A median: the machine that measures does other things too.
if (at(firsts, 0.5) > FIRST || at(nexts, 0.5) > NEXT) {
  console.error(`slower than ${FIRST} ms and ${NEXT} ms`);
  process.exit(1);
}
