// The sandbox and `gaffer up` over a data folder that ends with the run.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/// The repository of the sandbox.
export const REPO = "acme/shop";

/// Sessions whose prompt has this word think until somebody writes to them.
export const SLOW = "thorough";

/// Sessions plan, open a pull request and are done as soon as they may; checks are green at once.
const SCENARIO = {
  pace: 0,
  accounts: [{ concurrent: 60, per_24h: 300 }],
  stories: [{ match: SLOW, steps: [{ stall: {} }, { plan: { steps: ["Think again"] } }, { complete: { no_change: true } }] }],
  default_story: {
    steps: [{ plan: { steps: ["Look around", "Make the change"] } }, { open_pull: {} }, { complete: {} }],
    on_message: [{ plan: { steps: ["Look around", "Make it otherwise"] } }, { open_pull: {} }, { complete: {} }],
  },
};

const SETTINGS = [
  "--endpoint", "verify", "--review-by", "human", "--label", "gaffer",
  "--settle", "0s", "--ci-start", "1s", "--pull-poll", "3s", "--quiet", "1s",
];

/// Longest life of a child without its first line.
const SPEAKS_WITHIN_MS = 180_000;

export class World {
  #folder;
  #children = [];
  #token;
  #names = 0;
  #last = Promise.resolve();
  url;

  static async start() {
    const world = new World();
    try {
      await world.#begin();
    } catch (error) {
      await world.end(true);
      throw error;
    }
    return world;
  }

  async #begin() {
    this.#folder = await mkdtemp(join(tmpdir(), "gaffer-browser-"));
    const scenario = join(this.#folder, "scenario.json");
    await writeFile(scenario, JSON.stringify(SCENARIO));
    const places = await this.#serve(["sandbox", "--listen", "127.0.0.1:0", "--scenario", scenario]);
    const secrets = { JULES_API_KEY: places.jules_api_key, GITHUB_TOKEN: places.github_token };
    const bases = ["--jules-base", places.jules_base, "--github-base", places.github_base];
    await this.gaffer(["init", "--repo", REPO, "--yes", ...bases], secrets);
    await this.gaffer(["source", "set", REPO, ...SETTINGS]);
    // Slots for all deliveries at once: none waits for another.
    await this.gaffer(["account", "set", "default", "--plan", "ultra"]);
    const up = await this.#serve(["up", "--listen", "127.0.0.1:0", "--no-webhooks"]);
    this.url = up.url;
    this.#token = (await readFile(up.token, "utf8")).trim();
  }

  /// The installation's own token.
  get token() {
    return this.#token;
  }

  #environment() {
    return { PATH: process.env.PATH, HOME: this.#folder, GAFFER_DATA: join(this.#folder, "data") };
  }

  /// Starts a command that goes on, and returns the object that it prints first.
  async #serve(words) {
    const options = { env: this.#environment(), stdio: ["ignore", "pipe", "pipe"] };
    const child = spawn(process.env.GAFFER_BINARY, [...words, "--json"], options);
    const log = [];
    child.stderr.on("data", (text) => log.push(text));
    this.#children.push({ child, log, name: words[0] });
    const lines = createInterface({ input: child.stdout });
    const first = await new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error(`${words[0]} says nothing`)), SPEAKS_WITHIN_MS);
      lines.once("line", (line) => (clearTimeout(late), done(line)));
      child.once("exit", (code) => fail(new Error(`${words[0]} ended with ${code}: ${log.join("")}`)));
    });
    return JSON.parse(first);
  }

  /// Runs a command to its end, and returns what it prints.
  gaffer(words, secrets = {}) {
    const url = this.url ? { GAFFER_URL: this.url } : {};
    const options = { env: { ...this.#environment(), ...url, ...secrets }, stdio: ["ignore", "pipe", "pipe"] };
    const child = spawn(process.env.GAFFER_BINARY, words, options);
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].on("data", (text) => (said[name] += text));
    return new Promise((done, fail) => {
      child.once("error", fail);
      child.once("close", (code) =>
        code === 0 ? done(said.stdout) : fail(new Error(`gaffer ${words.join(" ")} ended with ${code}: ${said.stderr}`)));
    });
  }

  /// Asks the HTTP API.
  async api(method, path, body) {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /// Creates a delivery, and returns its id.
  async delivery(summary, more = {}) {
    const create = () => this.api("POST", "/api/deliveries", { repo: REPO, summary, ...more });
    // One after the other: of many at the same time some are asked to come again.
    const made = this.#last.then(create);
    this.#last = made.catch(() => {});
    return (await made).id;
  }

  /// How a delivery stands.
  async stands(id) {
    const found = await this.api("GET", `/api/deliveries/${id}`);
    return `${found.phase} ${found.run_status}`;
  }

  /// Begins a delivery and waits until its plan awaits a person.
  async planned(summary) {
    const id = await this.delivery(summary);
    await this.api("POST", `/api/deliveries/${id}/start`, {});
    await this.gaffer(["delivery", "wait", id, "--within", "2m"]);
    return id;
  }

  /// A token of its own for a test.
  async newToken(...more) {
    const name = `person-${(this.#names += 1)}`;
    const made = JSON.parse(await this.gaffer(["token", "create", name, "--json", ...more]));
    return { name, value: made.value };
  }

  async end(isTold) {
    const ended = this.#children.reverse().map(async ({ child, log, name }) => {
      const early = child.exitCode ?? child.signalCode;
      if (early !== null) console.log(`${name} had ended by itself: ${early}`);
      if (child.exitCode === null && child.signalCode === null) {
        const gone = new Promise((done) => child.once("exit", done));
        child.kill("SIGTERM");
        await gone;
      }
      if (isTold) console.log(`the last words of ${name}:\n${log.join("").slice(-20000)}`);
    });
    await Promise.all(ended);
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }
}
