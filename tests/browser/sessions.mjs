// Who gets in, and until when.

import assert from "node:assert/strict";

const asksForToken = (page) => page.getByRole("heading", { name: "Sign in" }).waitFor();

export async function signsInAndOut(browser, world) {
  const page = await browser.signedIn(world.token);
  const cookies = await page.context().cookies();
  assert.equal(cookies.length, 1);
  assert.deepEqual([cookies[0].httpOnly, cookies[0].sameSite], [true, "Strict"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  await page.getByRole("button", { name: "Sign out" }).click();
  await asksForToken(page);
  assert.deepEqual(await page.context().cookies(), []);
  await page.goto("/dashboard/accounts");
  await asksForToken(page);
}

export async function wrongToken(browser) {
  browser.faults.expect(401);
  const page = await browser.page();
  await page.goto("/dashboard/sources");
  await page.getByLabel("Token of the HTTP API").fill("gaf_of_nobody");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  await asksForToken(page);
  assert.deepEqual(await page.context().cookies(), []);
}

export async function link(browser, world) {
  const page = await browser.page();
  const printed = await world.gaffer(["dashboard"]);
  await page.goto(/http:\S+/.exec(printed)[0]);
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/dashboard");
}

export async function revoked(browser, world) {
  const { name, value } = await world.newToken();
  const page = await browser.signedIn(value);
  await world.gaffer(["token", "revoke", name]);
  // The page asks again by itself.
  await asksForToken(page);
}

export async function reader(browser, world) {
  const id = await world.delivery("Look only");
  const { value } = await world.newToken("--scope", "read");
  const page = await browser.signedIn(value);
  await page.goto(`/dashboard/deliveries/${id}`);
  await page.getByText("This token may only look.").waitFor();
  assert.deepEqual(await page.locator("main button").all(), []);
}
