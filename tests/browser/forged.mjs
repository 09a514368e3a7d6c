// What others send in a person's name, and what they write into pages.

import assert from "node:assert/strict";
import { createServer } from "node:http";

/// The fields of the form that begins a delivery.
const fields = async (page, id) => {
  await page.goto(`/dashboard/deliveries/${id}`);
  return page.locator("#act-start input").evaluateAll((all) => all.map(({ name, value }) => [name, value]));
};

/// A page of another origin that sends a form with everything that ours holds. The browser takes a port of this machine for the
/// same site, so it sends the cookie, and only the origin tells the two apart.
async function foreignPage(action, values) {
  const inputs = values.map(([name, value]) => `<input name="${name}" value="${value}">`).join("");
  const html = `<!doctype html><link rel="icon" href="data:,"><form method="post" action="${action}">${inputs}<button>Win</button></form>`;
  const server = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(html));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

export async function otherOrigin(browser, world) {
  const id = await world.delivery("Not begun by others");
  browser.faults.expect(403);
  const page = await browser.signedIn(world.token);
  const values = await fields(page, id);
  const { server, origin } = await foreignPage(`${world.url}/dashboard/deliveries/${id}/start`, values);
  browser.faults.visits(origin);
  try {
    await page.goto(origin);
    await page.getByRole("button", { name: "Win" }).click();
    await page.getByText("foreign_origin").waitFor();
    assert.equal(await world.stands(id), "plan pending");
  } finally {
    server.close();
  }
}

export async function withoutToken(browser, world) {
  const id = await world.delivery("Not begun by a stranger's form");
  browser.faults.expect(403, 422, 400);
  const page = await browser.signedIn(world.token);
  const spoil = {
    wrong: (input) => (input.value = "0".repeat(input.value.length)),
    empty: (input) => (input.value = ""),
    missing: (input) => input.remove(),
  };
  for (const [name, change] of Object.entries(spoil)) {
    await fields(page, id);
    await page.locator("#act-start input[name=form]").evaluate(change);
    const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
    await page.locator("#act-start button").click();
    const status = (await answered).status();
    assert.ok([400, 403, 422].includes(status), `a ${name} token is answered with ${status}`);
    await page.getByRole("alert").waitFor();
    assert.equal(await world.stands(id), "plan pending");
  }
}

export async function injected(browser, world) {
  const text = `<script>document.title="won"</script><img src=x onerror="document.title='won'"> [a](javascript:alert(1))`;
  const id = await world.delivery(`Odd ${text}`.slice(0, 200), { acceptance_criteria: [text] });
  const page = await browser.signedIn(world.token);
  await page.goto(`/dashboard/deliveries/${id}`);
  await page.locator("#task li", { hasText: "onerror" }).waitFor();
  assert.deepEqual(await page.locator("main img, main script, a[href^=javascript]").all(), []);
  assert.notEqual(await page.title(), "won");
}
