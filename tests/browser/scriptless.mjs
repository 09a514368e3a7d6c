// The same without script: plain forms, and a reload where a page would follow by itself.

import assert from "node:assert/strict";

import { SLOW } from "./world.mjs";

const lane = (page, id, name) => page.locator(`#lane-${name} #d${id}`).waitFor();

export async function everything(browser, world) {
  const id = await world.delivery("Fix the footer");
  const page = await browser.signedIn(world.token, { javaScriptEnabled: false });
  await lane(page, id, "plan");
  await page.getByRole("link", { name: "Fix the footer" }).click();
  const act = page.locator("#act");
  await act.getByRole("button", { name: "Start" }).click();
  await world.gaffer(["delivery", "wait", id, "--within", "2m"]);
  await page.reload();
  await page.getByLabel("What has to change").fill("Not too low.");
  await act.getByRole("button", { name: "Reject" }).click();
  await page.locator("#feedback", { hasText: "Not too low." }).waitFor();
  await world.gaffer(["delivery", "wait", id, "--within", "2m"]);
  await page.reload();
  await page.getByRole("link", { name: "transcript" }).first().click();
  await page.getByRole("heading", { name: "Transcript of the run", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Back to the delivery" }).click();
  await act.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("link", { name: "Deliveries" }).first().click();
  await lane(page, id, "implement");
  await cancelledAndRetried(page, world);
  for (const name of ["Sources", "Accounts", "Workers", "Wakes"]) {
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  }
  await signedOut(browser, world, page);
}

/// Cancels a delivery and tries it again, each with a form and the page that answers it.
async function cancelledAndRetried(page, world) {
  const id = await world.delivery(`Another ${SLOW} plan`);
  await page.goto(`/dashboard/deliveries/${id}`);
  const act = page.locator("#act");
  await act.getByRole("button", { name: "Start", exact: true }).click();
  await act.locator("summary", { hasText: "Cancel" }).click();
  await act.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.locator("#h-now", { hasText: /^plan: failed/i }).waitFor();
  await page.getByLabel(/do otherwise/).fill("Think of the buyers.");
  await act.getByRole("button", { name: "Retry", exact: true }).click();
  await page.locator("#feedback", { hasText: "Think of the buyers." }).waitFor();
}

/// Signs out, and meets the form to sign in again where the token was revoked, too.
async function signedOut(browser, world, page) {
  const { name, value } = await world.newToken();
  const revoked = await browser.signedIn(value, { javaScriptEnabled: false });
  await world.gaffer(["token", "revoke", name]);
  await revoked.reload();
  await revoked.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(await page.context().cookies(), []);
}
