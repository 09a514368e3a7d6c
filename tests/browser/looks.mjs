// How pages look: judged by axe, measured, and kept as screenshots.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { shot } from "./browser.mjs";
import { SLOW } from "./world.mjs";

const WIDTHS = [1280, 390];
const COLOURS = ["light", "dark"];

/// WCAG 2.1, A and AA.
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];

const CARDS = 100;
const BOARD_BYTES_MAX = 60 * 1024;
const STATIC_BYTES_MAX = 25 * 1024;

/// Every page, by the name of its screenshots, and the status it comes with.
async function pages(world) {
  const [planned, review] = await Promise.all([
    world.planned("Say what a very-long-word-without-any-break-in-it-that-nobody-would-write means"),
    world.planned("Judge the footer"),
  ]);
  const failed = await world.delivery(`Be ${SLOW} about nothing`);
  await world.api("POST", `/api/deliveries/${failed}/start`, {});
  await world.api("POST", `/api/deliveries/${failed}/cancel`, {});
  for (const _ of ["plan", "implement"]) {
    await world.api("POST", `/api/deliveries/${review}/approve`, {});
    await world.gaffer(["delivery", "wait", review, "--within", "2m"]);
  }
  const { transcript } = JSON.parse(await world.gaffer(["delivery", "transcript", review, "--json"]));
  return [
    ["board", "/dashboard"],
    ["delivery at its plan", `/dashboard/deliveries/${planned}`],
    ["delivery in review", `/dashboard/deliveries/${review}`],
    ["delivery that failed", `/dashboard/deliveries/${failed}`],
    ["transcript", `/dashboard/deliveries/${review}/runs/${transcript.run_id}`],
    ["pipelines", "/dashboard/pipelines"],
    ["sources", "/dashboard/sources"],
    ["accounts", "/dashboard/accounts"],
    ["workers", "/dashboard/workers"],
    ["wakes", "/dashboard/wakes"],
    ["refusal", "/dashboard/deliveries/0123456789ab"],
  ];
}

export async function everyPage(browser, world) {
  const axe = await readFile(join(process.env.GAFFER_AXE, "axe.min.js"), "utf8");
  browser.faults.expect(401, 404);
  const all = await pages(world);
  const looks = WIDTHS.flatMap((width) => COLOURS.map((colorScheme) => ({ viewport: { width, height: 900 }, colorScheme })));
  const found = await Promise.all(looks.map((look) => wrong(browser, world, { axe, all, look })));
  assert.deepEqual(found.flat(), []);
}

/// What is wrong with all pages in one width and colour.
async function wrong(browser, world, { axe, all, look }) {
  const judge = (page, name) => judged(page, axe, `${name} ${look.viewport.width} ${look.colorScheme}`);
  const outside = await browser.page(look);
  await outside.goto("/dashboard/sign-in");
  const found = await judge(outside, "sign-in");
  await staying(outside);
  const { path: link } = await world.api("GET", "/api/dashboard/link");
  await outside.goto(link);
  found.push(...(await judge(outside, "signed in by a link")));
  const page = await browser.signedIn(world.token, look);
  for (const [name, path] of all) {
    await page.goto(path);
    found.push(...(await judge(page, name)));
  }
  return found;
}

/// Keeps the page of a link from going on by itself, which it does at once.
function staying(page) {
  return page.route(/\/dashboard\/enter\b/, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<meta http-equiv="refresh"[^>]*>/, "");
    await route.fulfill({ response, body });
  });
}

/// What is wrong with a page.
async function judged(page, axe, name) {
  const main = page.locator("main h1");
  await main.waitFor();
  await page.screenshot({ path: shot(name), fullPage: true });
  const found = [];
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (overflow > 0) found.push(`${name}: ${overflow} px too wide`);
  await page.evaluate(axe);
  const results = await page.evaluate((values) => globalThis.axe.run(document, { runOnly: { type: "tag", values } }), RULES);
  assert.ok(results.passes.length > 5, `${name}: axe judged it`);
  for (const { id, nodes } of results.violations) {
    for (const node of nodes) found.push(`${name}: ${id}: ${node.html}\n${node.failureSummary}`);
  }
  return found;
}

export async function sizes(browser, world) {
  for (let n = 1; n <= CARDS; n += 1) await world.delivery(`Improve the ${n}th of the things that could be better in this shop`);
  const page = await browser.signedIn(world.token);
  const loaded = [];
  page.on("response", (answer) => loaded.push(answer));
  await page.goto("/dashboard");
  assert.ok((await page.locator(".cards > li").count()) >= CARDS);
  const bytes = async (ours) => {
    const bodies = await Promise.all(loaded.filter(ours).map((answer) => answer.body()));
    return bodies.reduce((sum, body) => sum + body.length, 0);
  };
  const kind = (answer) => answer.request().resourceType();
  const board = await bytes((answer) => kind(answer) === "document");
  const rest = await bytes((answer) => ["script", "stylesheet"].includes(kind(answer)));
  console.log(`a board of ${CARDS} cards: ${board} bytes; scripts and style: ${rest} bytes`);
  assert.ok(board <= BOARD_BYTES_MAX, `${board} bytes of board`);
  assert.ok(rest > 0 && rest <= STATIC_BYTES_MAX, `${rest} bytes of scripts and style`);
  await page.screenshot({ path: shot("board of 100 cards") });
}
