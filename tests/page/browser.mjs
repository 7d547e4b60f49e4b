// A browser with the page in it.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.GPUENV_PAGE_TOOLS, "node_modules", "x.js"));
const { chromium } = require("playwright-core");

export const address = pathToFileURL(process.argv[2]).href;

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** Opens the page, and waits until it has answered. Mistakes in its scripts and requests that it makes are kept. */
export async function open(browser, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ offline: true, ...options });
  const page = await context.newPage();
  page.mistakes = [];
  page.requests = [];
  page.on("pageerror", (error) => page.mistakes.push(error.message));
  page.on("console", (said) => said.type() === "error" && page.mistakes.push(said.text()));
  page.on("request", (request) => page.requests.push(request.url()));
  await page.goto(address + hash);
  await page.waitForFunction(() => globalThis.gpuenv?.page.text !== undefined);
  return page;
}
