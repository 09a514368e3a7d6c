// The same without script: plain forms, and a reload where a page would follow by itself.

import assert from "node:assert/strict";

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
  for (const name of ["Sources", "Accounts", "Workers", "Wakes"]) {
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  }
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(await page.context().cookies(), []);
}
