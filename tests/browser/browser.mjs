// The browser, and what no page may do: print an error, or ask another origin.

import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

const require = createRequire(import.meta.url);
const { chromium } = require(process.env.GAFFER_PLAYWRIGHT);

/// Longest wait for anything on a page. What is waited for comes by itself within seconds.
export const WITHIN_MS = 60_000;

/// Longest start of the browser, which takes a second on an idle machine.
const STARTS_WITHIN_MS = 180_000;

/// How the browser itself tells of an answer that is no success.
const REFUSED = /^Failed to load resource: the server responded with a status of (\d+)/;

/// What went wrong on the pages of one test.
class Faults {
  found = [];
  #expected = new Set();
  #origins;

  constructor(origin) {
    this.#origins = new Set([origin]);
  }

  /// A refusal that the test is about.
  expect(...statuses) {
    for (const status of statuses) this.#expected.add(String(status));
  }

  /// Another origin that the test itself goes to.
  visits(origin) {
    this.#origins.add(origin);
  }

  said(message) {
    if (message.type() !== "error" && message.type() !== "warning") return;
    const status = REFUSED.exec(message.text())?.[1];
    if (!this.#expected.has(status)) this.found.push(`${message.type()}: ${message.text()}`);
  }

  asked(request) {
    const { origin } = new URL(request.url());
    if (!this.#origins.has(origin)) this.found.push(`a request to ${request.url()}`);
  }

  check() {
    assert.deepEqual(this.found, [], "pages print no error and ask no other origin");
  }
}

export class Browser {
  #chromium;
  #url;
  #isEnding = false;

  static async start(url) {
    const { GAFFER_CHROMIUM, GAFFER_CHROMIUM_LIBRARIES, GAFFER_CHROMIUM_FONTS, GAFFER_SCREENSHOTS } = process.env;
    await rm(GAFFER_SCREENSHOTS, { recursive: true, force: true });
    await mkdir(GAFFER_SCREENSHOTS, { recursive: true });
    const before = process.env.LD_LIBRARY_PATH;
    const libraries = before ? GAFFER_CHROMIUM_LIBRARIES + delimiter + before : GAFFER_CHROMIUM_LIBRARIES;
    const browser = new Browser();
    browser.#url = url;
    browser.#chromium = await chromium.launch({
      executablePath: GAFFER_CHROMIUM,
      timeout: STARTS_WITHIN_MS,
      // Its sandbox needs rights that a container and root do not give it, and it shows nothing but our own pages.
      chromiumSandbox: false,
      args: ["--disable-gpu", "--disable-dev-shm-usage"],
      env: { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: GAFFER_CHROMIUM_FONTS },
    });
    browser.#chromium.once("disconnected", () => browser.#isEnding || console.log("the browser has ended by itself"));
    return browser;
  }

  /// What one test does with it.
  visit() {
    return new Visit(this.#chromium, this.#url);
  }

  async end() {
    this.#isEnding = true;
    await this.#chromium.close();
  }
}

/// The pages of one test.
class Visit {
  #chromium;
  #url;
  #contexts = [];
  faults;

  constructor(chromium, url) {
    this.#chromium = chromium;
    this.#url = url;
    this.faults = new Faults(url);
  }

  /// A page of a browser that was never here.
  async page(options = {}) {
    const faults = this.faults;
    const context = await this.#chromium.newContext({ baseURL: this.#url, viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(WITHIN_MS);
    this.#contexts.push(context);
    context.on("console", (message) => faults.said(message));
    context.on("request", (request) => faults.asked(request));
    context.on("weberror", (error) => faults.found.push(String(error.error())));
    return context.newPage();
  }

  /// A page on which a token was shown.
  async signedIn(token, options = {}) {
    // The first answer asks for a token.
    this.faults.expect(401);
    const page = await this.page(options);
    await page.goto("/dashboard");
    await page.getByLabel("Token of the HTTP API").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
    return page;
  }

  async picture(name) {
    const pages = this.#contexts.flatMap((context) => context.pages());
    for (const [index, page] of pages.entries()) {
      await page.screenshot({ path: shot(`${name} ${index + 1}`), fullPage: true }).catch(() => {});
    }
  }

  async end() {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }
}

/// Where a screenshot is kept.
export function shot(name) {
  return join(process.env.GAFFER_SCREENSHOTS, `${name.replace(/[^a-z0-9]+/gi, "-")}.png`);
}
