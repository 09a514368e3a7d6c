// The dashboard as people meet it: a real browser, the real `gaffer up`, and the sandbox. `cargo xtask test --only browser` runs it.

import { inspect } from "node:util";

import { Browser } from "./browser.mjs";
import { World } from "./world.mjs";
import * as forged from "./forged.mjs";
import * as looks from "./looks.mjs";
import * as orders from "./orders.mjs";
import * as scriptless from "./scriptless.mjs";
import * as sessions from "./sessions.mjs";

const TESTS = [
  ["a person signs in and out", sessions.signsInAndOut],
  ["a wrong token is refused with a page", sessions.wrongToken],
  ["a link of `gaffer dashboard` signs in once it is opened", sessions.link],
  ["a revoked token ends its session on the open page", sessions.revoked],
  ["a token that may only look has no buttons", sessions.reader],
  ["a delivery goes from its start to its merge, and its card moves without a reload", orders.toItsMerge],
  ["a plan is rejected with feedback", orders.rejected],
  ["a delivery is cancelled and tried again", orders.cancelledAndRetried],
  ["what was typed outlives a change of the page", orders.typed],
  ["an outdated form does nothing", orders.outdated],
  ["everything works without script", scriptless.everything],
  ["a form of another origin is refused", forged.otherOrigin],
  ["a form without the token of the session is refused", forged.withoutToken],
  ["text from outside stays text", forged.injected],
  ["every page is accessible and fits, in both widths and colours", looks.everyPage],
];

// These measure a board, so nothing else may happen on it.
const ALONE = [["a board of 100 cards, and what pages are shown with, stay small", looks.sizes]];

/// Each test has a browser profile and deliveries of its own.
async function passes(browser, world, [name, test]) {
  const began = performance.now();
  const visit = browser.visit();
  let failure = null;
  try {
    await test(visit, world);
    visit.faults.check();
  } catch (error) {
    failure = error;
    await visit.picture(`failed ${name}`);
  }
  await visit.end();
  const seconds = ((performance.now() - began) / 1e3).toFixed(1);
  console.log(`${failure ? "FAILED" : "ok"} (${seconds} s): ${name}`);
  if (failure) console.log(inspect(failure));
  return failure === null;
}

// A part of a test's name on the command line chooses it.
const isWanted = ([name]) => process.argv.slice(2).every((part) => name.includes(part));
const tests = TESTS.filter(isWanted);
const alone = ALONE.filter(isWanted);
const world = await World.start();
const results = [];
try {
  const browser = await Browser.start(world.url);
  try {
    const judge = (test) => passes(browser, world, test);
    results.push(...(await Promise.all(tests.map(judge))));
    for (const test of alone) results.push(await judge(test));
  } finally {
    await browser.end();
  }
} finally {
  await world.end(results.length === 0 || results.includes(false));
}
const passed = results.filter(Boolean).length;
console.log(`${passed} passed, ${results.length - passed} failed`);
process.exitCode = results.length > 0 && passed === results.length ? 0 : 1;
