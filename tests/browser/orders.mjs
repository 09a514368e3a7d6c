// What a person orders, on pages that follow what happens.

import assert from "node:assert/strict";

import { SLOW } from "./world.mjs";

/// Waits until a card stands in a column of the board.
const stands = (page, id, lane) => page.locator(`#lane-${lane} #d${id}`).waitFor();

/// Waits until a delivery's page says where it stands.
const says = (page, text) => page.locator("#h-now", { hasText: new RegExp(`^${text}`, "i") }).waitFor();

const press = (page, name) => page.locator("#act").getByRole("button", { name, exact: true }).click();

/// Leaves a mark that a reload would take away.
const mark = (page) => page.evaluate(() => (window.isMarked = true));
const isMarked = (page) => page.evaluate(() => window.isMarked === true);

export async function toItsMerge(browser, world) {
  const id = await world.delivery("Add a search box", { acceptance_criteria: ["It finds a product by its name"] });
  const board = await browser.signedIn(world.token);
  await stands(board, id, "plan");
  await mark(board);
  const page = await board.context().newPage();
  await page.goto(`/dashboard/deliveries/${id}`);
  await mark(page);
  await press(page, "Start");
  await says(page, "plan: succeeded");
  await press(page, "Approve");
  await stands(board, id, "implement");
  await says(page, "implement: succeeded");
  await press(page, "Approve");
  await stands(board, id, "review");
  await says(page, "review: running");
  await page.getByLabel("pass", { exact: true }).check();
  await press(page, "Send the verdict");
  await says(page, "close: succeeded");
  await stands(board, id, "close");
  assert.ok(await isMarked(board), "the board was not loaded again");
}

export async function rejected(browser, world) {
  const id = await world.planned("Rewrite the cart");
  const page = await browser.signedIn(world.token);
  await page.goto(`/dashboard/deliveries/${id}`);
  await page.getByLabel("What has to change").fill("Keep the totals.");
  await press(page, "Reject");
  await page.locator("#feedback", { hasText: "Keep the totals." }).waitFor();
  await says(page, "plan: succeeded");
}

export async function cancelledAndRetried(browser, world) {
  const id = await world.delivery(`A ${SLOW} plan`);
  const page = await browser.signedIn(world.token);
  await page.goto(`/dashboard/deliveries/${id}`);
  await press(page, "Start");
  await says(page, "plan: running");
  await page.locator("#act summary", { hasText: "Cancel" }).click();
  await press(page, "Cancel");
  await says(page, "plan: failed");
  await page.getByText("Canceled by user").first().waitFor();
  await page.getByLabel(/do otherwise/).fill("Think of the buyers.");
  await press(page, "Retry");
  await says(page, "plan: running");
  await page.locator("#feedback", { hasText: "Think of the buyers." }).waitFor();
}

export async function typed(browser, world) {
  const id = await world.planned("Keep what is typed");
  const page = await browser.signedIn(world.token);
  await page.goto(`/dashboard/deliveries/${id}`);
  await mark(page);
  await page.getByLabel("What has to change").fill("Half a sent");
  await world.api("PATCH", `/api/deliveries/${id}`, { summary: "Kept what is typed" });
  await page.getByRole("heading", { name: "Kept what is typed" }).waitFor();
  assert.equal(await page.getByLabel("What has to change").inputValue(), "Half a sent");
  assert.ok(await isMarked(page), "the page was not loaded again");
}

export async function outdated(browser, world) {
  const id = await world.planned("Moved on");
  browser.faults.expect(409);
  const page = await browser.signedIn(world.token, { javaScriptEnabled: false });
  await page.goto(`/dashboard/deliveries/${id}`);
  await page.getByLabel("What has to change").fill("Too late.");
  await world.api("POST", `/api/deliveries/${id}/approve`, {});
  await press(page, "Reject");
  await page.getByRole("alert").filter({ hasText: "nothing was done" }).waitFor();
  assert.match(await world.stands(id), /^implement /);
}
