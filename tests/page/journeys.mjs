// Journeys through the page, each from opening it to what somebody came for. A picture is kept of the end of each.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";

import { launch, open } from "./browser.mjs";
import { contrasts, unnamed } from "./access.mjs";

const status = (page) => page.locator("#status").textContent();
const spec = (page) => page.locator("#spec").inputValue();
const write = (page, text) => page.locator("#spec").fill(text);
const driver = (page, value) => page.locator("[data-key$='.driver']").first().fill(value);
const shown = (page) => page.locator("#file-text").textContent();
/** What Copy link copies. */
const linkOf = async (page) => {
  await page.locator("#copy-link").click();
  await page.waitForFunction(async () => location.hash === (await globalThis.gpuenv.page.link()));
  return page.evaluate(() => location.hash);
};
const pressTo = async (page, id) => {
  for (let presses = 0; presses < 80; presses++) {
    if (await page.evaluate((id) => document.activeElement?.matches(id), id)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${id} is not reached by Tab`);
};

const A100 = readFileSync("examples/a100-story/conflict.toml", "utf8");

const JOURNEYS = {
  "an answer stands there at once": async (page) => {
    assert.match(await status(page), /^It fits: torch .* CUDA .* driver .* or newer/);
    assert.match(await shown(page), /^# Written by `gpuenv export requirements`[^]*torch==/);
    assert.match(await page.locator("pre").first().textContent(), /pip install -r/);
  },
  "the A100 story": async (page) => {
    await page.getByRole("button", { name: "A100, driver 460" }).click();
    assert.match(await status(page), /^Nothing fits: torch = "1\.12\.1\+cu102" is incompatible with gpu = "A100-PCIE-40GB" \(target cluster\)\. \d fixes/);
    assert.match(await page.locator("#result").textContent(), /holds code for sm_37, sm_50, sm_60, sm_70 only/);
    await page.locator("[data-fix='1']").click();
    assert.match(await spec(page), /torch = "1\.12\.1\+cu113"/);
    assert.match(await status(page), /^It fits: torch 1\.12\.1\+cu113/);
    assert.match(await shown(page), /FROM docker\.io\/nvidia\/cuda:/);
  },
  "an RTX 5090 needs a newer torch": async (page) => {
    await page.getByRole("button", { name: "RTX 5090" }).click();
    assert.match(await status(page), /^Nothing fits: torch = "2\.6\.0" is incompatible with gpu = "RTX 5090"/);
    const fix = page.locator("[data-fix='1']");
    assert.match(await fix.textContent(), /change torch from 2\.6\.0 to 2\.[78]/);
    await fix.click();
    assert.match(await status(page), /^It fits: torch 2\.[78]/);
  },
  "a GPU is found as one types": async (page) => {
    for (const [typed, name] of [["rtx4090", "RTX 4090"], ["3060ti", "RTX 3060 Ti"], ["RTX 409", "RTX 4090"]]) {
      await page.getByRole("combobox", { name: "GPUs" }).fill(typed);
      assert.equal(await page.getByRole("option").first().evaluate((one) => one.firstChild.textContent), name, typed);
    }
    await page.getByRole("combobox", { name: "GPUs" }).fill("4080 lap");
    const first = page.getByRole("option").first();
    assert.match(await first.textContent(), /RTX 4080 Laptop GPU.*compute capability 8\.9/);
    await first.click();
    assert.match(await spec(page), /gpu = \["RTX 4090", "RTX 4080 Laptop GPU"\]/);
    await page.getByRole("button", { name: "Remove RTX 4090" }).click();
    assert.match(await spec(page), /gpu = "RTX 4080 Laptop GPU"|gpu = \["RTX 4080 Laptop GPU"\]/);
    assert.match(await status(page), /^It fits/);
  },
  "the form writes the text and keeps its comments": async (page) => {
    await driver(page, "550");
    await page.locator("[data-key='stack.torch']").fill("2.9.0+cu130");
    assert.match(await spec(page), /# What must run, and on which machines\.[^]*torch = "2\.9\.0\+cu130" +# the newest that fits[^]*driver = "550"/);
    assert.match(await status(page), /^Nothing fits: torch = "2\.9\.0\+cu130" is incompatible with driver = "550" \(target laptop\)/);
    await driver(page, "");
    assert.doesNotMatch(await spec(page), /driver/);
  },
  "the text fills the form": async (page) => {
    await write(page, '[stack]\njax = "0.5.0"\n\n[target.lab]\ngpu = ["L4", "V100"]\ndriver = "535"\nos = "ubuntu22.04"\n');
    assert.equal(await page.locator("[data-key='stack.jax']").inputValue(), "0.5.0");
    assert.equal(await page.locator("[data-key='target.lab.driver']").inputValue(), "535");
    assert.deepEqual(await page.locator(".chips li").evaluateAll((all) => all.map((one) => one.firstChild.textContent)), ["L4", "V100"]);
  },
  "a value that is refused is told at its field": async (page) => {
    await driver(page, "5x5");
    const field = page.locator("[data-key$='.driver']");
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.match(await page.locator(".wrong").allTextContents().then((all) => all.join("")), /5x5/);
    assert.doesNotMatch(await spec(page), /5x5/);
    await driver(page, "");
    assert.equal(await field.getAttribute("aria-invalid"), "false");
    await driver(page, "535");
    assert.equal(await field.getAttribute("aria-invalid"), "false");
  },
  "container or not": async (page) => {
    await page.getByLabel("In a container").check();
    assert.match(await spec(page), /image = "nvidia\/cuda"/);
    await page.getByRole("tab", { name: "Dockerfile" }).click();
    assert.match(await shown(page), /FROM docker\.io\/nvidia\/cuda:/);
    await page.getByLabel("On the machine itself").check();
    assert.doesNotMatch(await spec(page), /image/);
    assert.match(await page.locator("#file").textContent(), /container|image/, "why there is no Dockerfile");
  },
  "packages come and go": async (page) => {
    await page.getByRole("combobox", { name: "Add a package" }).fill("torchv");
    await page.getByRole("option", { name: "torchvision" }).click();
    assert.match(await spec(page), /torchvision = "\*"/);
    assert.match(await page.locator("#result dl").first().textContent(), /torchvision/);
    await page.getByRole("button", { name: "Remove torchvision" }).click();
    assert.doesNotMatch(await spec(page), /torchvision/);
  },
  "a link holds the question": async (page, browser) => {
    await write(page, A100);
    const hash = await linkOf(page);
    const other = await open(browser, { hash });
    assert.equal(await spec(other), A100);
    assert.equal(await status(other), await status(page));
    await other.evaluate(() => (location.hash = "#q=damaged"));
    assert.equal(await spec(other), A100, "a link that cannot be read changes nothing");
    await other.getByText("This link was not read: it is damaged").waitFor();
    const long = `#q=${deflateRawSync(Buffer.alloc(1e8, "x")).toString("base64url")}`;
    await other.evaluate((hash) => (location.hash = hash), long);
    await other.getByText("This link was not read: it holds more than").waitFor();
    assert.equal(await spec(other), A100);
    await other.context().close();
  },
  "with the keyboard alone": async (page) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "answer");
    assert.doesNotMatch(await page.evaluate(() => location.hash), /answer/, "the question stays in the address");
    await page.evaluate(() => document.activeElement.blur());
    await page.locator("h1").click();
    await pressTo(page, "[id$='.gpu']");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("k80");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.match(await spec(page), /gpu = \[?"[^"]*K80/);
    await pressTo(page, "[data-key$='.driver']");
    await page.keyboard.type("390");
    await pressTo(page, "#spec");
    await page.locator("[data-key='stack.torch']").focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("2.5.1");
    assert.match(await status(page), /^Nothing fits/);
    await pressTo(page, "[data-fix='1']");
    await page.keyboard.press("Enter");
    assert.match(await status(page), /^It fits/);
    assert.equal(await page.evaluate(() => document.activeElement.id), "answer", "the focus goes to the answer");
    await pressTo(page, "[role=tab]");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("[role=tab][aria-selected=true]").textContent(), "uv");
  },
  "360 pixels wide": async (page) => {
    await write(page, A100);
    const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= room, `${wide} of ${room} pixels`);
    await page.evaluate(() => scrollTo(0, 0));
    await page.waitForFunction(() => !document.querySelector("#brief").hidden);
    assert.match(await page.locator("#brief").textContent(), /^Nothing fits/);
    await page.locator("#brief").click();
    await page.locator("[data-fix='1']").click();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= room);
    const small = await page.locator("button:visible:not(.plain)").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).filter((box) => box.height < 24 || box.width < 24).length);
    assert.equal(small, 0, "buttons that a finger misses");
  },
  "in the dark": async (page) => {
    await write(page, A100);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(17, 21, 26)");
    await page.locator("#matrix").scrollIntoViewIfNeeded();
    await page.locator("#picture g.no").first().click();
    assert.deepEqual(await contrasts(page), []);
  },
  "in the light": async (page) => {
    await write(page, A100);
    assert.deepEqual(await contrasts(page), []);
    await page.locator("[data-fix='1']").click();
    assert.deepEqual(await contrasts(page), []);
  },
  "everything has a name for who listens": async (page) => {
    assert.deepEqual(await unnamed(page), []);
    await write(page, A100);
    assert.deepEqual(await unnamed(page), []);
    assert.equal(await page.locator("#status[role=status]").count(), 1);
    assert.equal(await page.evaluate(() => document.querySelectorAll("[id]").length - new Set([...document.querySelectorAll("[id]")].map((one) => one.id)).size), 0);
  },
  "an error message is diagnosed": async (page) => {
    await page.locator("#message").fill("RuntimeError: CUDA error: no kernel image is available for execution on the device");
    assert.match(await page.locator("#findings").textContent(), /no-kernel-image[^]*holds no code for this GPU/);
    await page.locator("#message").fill("good morning");
    assert.match(await page.locator("#diagnosis-status").textContent(), /not known/);
  },
  "a message fills in what the machine has": async (page) => {
    await page.locator("#message").fill("RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver");
    assert.match(await page.locator("#findings").textContent(), /Machine laptop of gpuenv\.toml/);
    await page.locator("#write-host").click();
    assert.match(await spec(page), /driver-cuda = "11\.4"/);
    assert.equal(await page.locator("[data-key$='.driver-cuda']").inputValue(), "11.4");
    assert.match(await page.locator("#findings").textContent(), /says this of the machine already/);
    await driver(page, "595");
    assert.doesNotMatch(await spec(page), /driver-cuda/, "one of the two");
  },
  "mistakes of the file lead to their places": async (page) => {
    await write(page, '[stack]\ntorch = "2.5\n\n[target.a]\ngpu = "L4"\n');
    assert.match(await status(page), /^gpuenv\.toml has a mistake/);
    assert.equal(await page.locator("#form").getAttribute("inert"), "");
    await page.getByRole("button", { name: /^line 2/ }).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "spec");
    await write(page, '[stack]\ntorch = "2.5"\n\n[target.a]\ngpu = "RTX 4909"\n');
    assert.match(await page.locator("#result").textContent(), /RTX 4909/);
    assert.equal(await page.locator("#form").getAttribute("inert"), null);
  },
  "what is applied can be taken back": async (page) => {
    await write(page, A100);
    await page.locator("[data-fix='2']").click();
    assert.notEqual(await spec(page), A100);
    await page.locator("#undo").click();
    assert.equal(await spec(page), A100);
    assert.match(await status(page), /^Nothing fits/);
  },
  "two machines": async (page) => {
    await page.locator("#add-machine").click();
    await page.locator("[id='f-target.machine-2.gpu']").fill("v100");
    await page.keyboard.press("Enter");
    assert.match(await spec(page), /\[target\.machine-2\]\ngpu = "v100"/);
    assert.match(await page.locator("#result").textContent(), /Machine laptop[^]*Machine machine-2/);
    await page.getByRole("button", { name: "Remove the machine machine-2" }).click();
    assert.doesNotMatch(await spec(page), /machine-2/);
  },
  "what nobody knows is not called an answer": async (page) => {
    await write(page, readFileSync("tests/scenarios/torch2150-cu130-unseen/gpuenv.toml", "utf8"));
    assert.match(await status(page), /^Nobody can tell/);
    assert.equal(await page.locator("#status.unknown").count(), 1);
  },
  "a culprit leads to its line": async (page) => {
    await write(page, A100);
    await page.getByRole("button", { name: "target.cluster.gpu", exact: true }).first().click();
    const chosen = await page.evaluate(() => { const area = document.activeElement; return area.value.slice(area.selectionStart, area.selectionEnd); });
    assert.equal(chosen, '"A100-PCIE-40GB"');
  },
  "a matrix shows why": async (page) => {
    await page.locator("#matrix").scrollIntoViewIfNeeded();
    await page.locator("#picture g.no").first().waitFor();
    await page.locator("#matrix-gpu").fill("RTX 5090");
    await page.locator("#matrix-version").fill("2.9");
    assert.match(await page.locator("#matrix-status").textContent(), /^torch 2\.9\.\d on NVIDIA GeForce RTX 5090.*: \d+ builds/);
    await page.locator("#picture g.no").first().click();
    assert.match(await page.locator("#why").textContent(), /torch 2\.9\.\d\+cu126 on RTX 5090: no, no code for sm_120/);
    await page.getByRole("button", { name: "Every release on RTX 5090" }).click();
    await page.locator("#picture g.native").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const says = await page.locator("#why p").first().textContent();
    assert.match(says, /on RTX 5090: (native|ptx)/, "with the keyboard");
    await page.locator("#write-build").click();
    const build = says.match(/^torch (\S+)/)[1];
    assert.ok((await spec(page)).includes(`torch = "${build}"`) && /gpu = "RTX 5090"/.test(await spec(page)), await spec(page));
    assert.match(await status(page), /^It fits/);
    await page.locator("#matrix-driver").fill("5x5");
    assert.match(await page.locator("#matrix-status").textContent(), /5x5/);
    assert.equal(await page.locator("#picture svg").count(), 0);
    await page.locator("#matrix-driver").fill("");
  },
  "a hostile link shows text and runs nothing": async (page, browser) => {
    const evil = '<img src=x onerror="globalThis.run=1">';
    await write(page, `[stack]\ntorch = "2.5"\n\n[target.a]\ngpu = '${evil}'\n`);
    const other = await open(browser, { hash: await linkOf(page) });
    assert.match(await other.locator("#result").textContent(), /<img src=x/);
    assert.equal(await other.evaluate(() => globalThis.run), undefined);
    assert.equal(await other.locator("img").count(), 0);
    await other.context().close();
  },
};

const SETTINGS = {
  "360 pixels wide": { viewport: { width: 360, height: 740 }, hasTouch: true },
  "in the dark": { colorScheme: "dark" },
};

const browser = await launch();
let failed = 0;
for (const [name, journey] of Object.entries(JOURNEYS)) {
  const page = await open(browser, { viewport: { width: 1280, height: 900 }, ...SETTINGS[name] });
  try {
    await journey(page, browser);
    assert.deepEqual(page.mistakes, [], "mistakes in the console");
    assert.equal(page.requests.length, 1, `requests: ${page.requests}`);
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.error(`FAIL  ${name}: ${error.message}`);
  }
  await page.screenshot({ path: `target/page/shots/${name.replaceAll(/\W+/g, "-")}.png`, fullPage: true });
  await page.context().close();
}
await browser.close();
console.log(`${Object.keys(JOURNEYS).length} journeys, ${failed} failed`);
process.exit(failed ? 1 : 0);
