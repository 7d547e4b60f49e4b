// The page answers as the command does: the document and the lock of more than 300 specs, to the byte.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { launch, open } from "./browser.mjs";

const FEWEST = 300;

/** The scenarios and examples, and then every combination of a few lines. */
function specs() {
  const found = [];
  const add = (name, text) => !/^\s*overlays\s*=/m.test(text) && found.push([name, text]);
  for (const folder of readdirSync("tests/scenarios").sort()) {
    add(folder, readFileSync(join("tests/scenarios", folder, "gpuenv.toml"), "utf8"));
  }
  for (const folder of readdirSync("examples").filter((name) => !name.includes("."))) {
    for (const file of readdirSync(join("examples", folder)).filter((name) => name.endsWith(".toml"))) {
      add(`${folder}/${file}`, readFileSync(join("examples", folder, file), "utf8"));
    }
  }
  for (const gpu of ["Tesla K80", "V100", "RTX 5090", "none", "RTX 999"]) {
    for (const torch of ["*", "2.5.1+cu124", "<2", "99.0", "banana"]) {
      for (const driver of ["470", "595.99.02"]) {
        add(`${gpu} ${torch} ${driver}`, `[stack]\ntorch = "${torch}"\n\n[target.t]\ngpu = "${gpu}"\ndriver = "${driver}"\n`);
      }
    }
  }
  add("empty", "");
  add("no TOML", "[stack\n");
  add("Unicode", '[stack]\ntorch = "2.5" # “größer” 🙂\n[target.a]\ngpu = "Größe 🙂\u202e"\n');
  return found;
}

const folder = mkdtempSync(join(tmpdir(), "gpuenv-page-"));
const browser = await launch();
const page = await open(browser);
const differing = [];
const counts = {};
for (const [name, text] of specs()) {
  const lock = join(folder, "gpuenv.lock");
  rmSync(lock, { force: true });
  writeFileSync(join(folder, "gpuenv.toml"), text);
  const ran = spawnSync(process.env.GPUENV, ["lock", "--format", "json"], { cwd: folder, encoding: "utf8", env: { SOURCE_DATE_EPOCH: "0" } });
  const told = await page.evaluate((text) => {
    const told = globalThis.gpuenv.solver.lock(text);
    return { exit: told.exit, document: told.document, lock: told.text ?? null };
  }, text);
  const written = existsSync(lock) ? readFileSync(lock, "utf8") : null;
  counts[ran.status] = (counts[ran.status] ?? 0) + 1;
  for (const [what, of, has] of [["exit", ran.status, told.exit], ["document", ran.stdout, told.document], ["lock", written, told.lock]]) {
    if (of !== has) differing.push(`${name}: ${what}\n  command: ${String(of).slice(0, 400)}\n  page:    ${String(has).slice(0, 400)}`);
  }
}
for (const [name, gpu, version, driver] of [["torch", "", "", ""], ["torch", "RTX 5090", "2.9", ""], ["jax", "H100", "", "550"], ["tensorflow", "RTX 9999", "", ""]]) {
  const options = [...(gpu ? ["--gpu", gpu] : []), ...(version ? [`--${name}`, version] : ["--package", name]), ...(driver ? ["--driver", driver] : [])];
  const run = (format) => spawnSync(process.env.GPUENV, ["matrix", ...options, "--format", format], { cwd: folder, encoding: "utf8" });
  const told = await page.evaluate((asked) => {
    const told = globalThis.gpuenv.solver.matrix(...asked);
    return { exit: told.exit, document: told.document, text: told.text ?? "" };
  }, [name, gpu, version, driver]);
  const [json, svg] = [run("json"), run("svg")];
  if (json.status !== told.exit || json.stdout !== told.document || svg.stdout !== told.text) differing.push(`matrix ${options.join(" ")}`);
}
await browser.close();
rmSync(folder, { recursive: true });
const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
console.log(`${all} specs, by exit code ${JSON.stringify(counts)}: ${differing.length} differences`);
differing.slice(0, 10).forEach((one) => console.error(one));
if (differing.length > 0 || all < FEWEST || !(counts[0] && counts[1] && counts[2])) process.exit(1);
