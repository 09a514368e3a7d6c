// Measures npm's @octokit/webhooks on the payload beside this file: node measure.mjs SECRET SIGNATURE TIMES
import { readFileSync } from "node:fs";
import { Webhooks } from "@octokit/webhooks";

const [secret, signature, times] = process.argv.slice(2);
const payload = readFileSync("payload.json", "utf8");
const { version } = JSON.parse(readFileSync("node_modules/@octokit/webhooks/package.json", "utf8"));

const webhooks = new Webhooks({ secret, log: { debug() {}, info() {}, warn() {}, error() {} } });
let heard = 0;
webhooks.on("pull_request.synchronize", () => {
  heard += 1;
});

const receive = (signed) =>
  webhooks.verifyAndReceive({ id: "1", name: "pull_request", payload, signature: signed });

async function timeEach(act) {
  const samples = [];
  const warm = Math.floor(times / 10);
  for (let turn = 0; turn < Number(times) + warm; turn += 1) {
    const began = process.hrtime.bigint();
    await act();
    const took = Number(process.hrtime.bigint() - began) / 1000;
    if (turn >= warm) samples.push(took);
  }
  samples.sort((a, b) => a - b);
  const at = (share) => samples[Math.ceil((samples.length * share) / 100) - 1];
  const sum = samples.reduce((a, b) => a + b, 0);
  return { mean: sum / samples.length, p50: at(50), p99: at(99) };
}

const valid = await timeEach(() => receive(signature));
if (heard === 0) throw new Error("the payload was not received");
const flipped = signature.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
let refused = 0;
const forged = await timeEach(() => receive(flipped).catch(() => { refused += 1; }));
if (refused === 0) throw new Error("a forged payload was taken");
process.stdout.write(JSON.stringify({ version, node: process.versions.node, valid, forged }));
