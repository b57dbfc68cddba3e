// Exports in speedscope, as npm has it: they load, and its totals are those of perflua report.
"use strict";
const { after, before, describe, it } = require("node:test");
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Chromium } = require("./chromium.js");
const { switches } = require("./recordings.js");

const perflua = process.env.PERFLUA || "build/perflua";
const release = path.resolve(process.env.SPEEDSCOPE || "build/npm/node_modules/speedscope", "dist/release");
const words = ["--symfs", "spec/fixtures/words", "spec/fixtures/words/perf.data"];
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "perflua-speedscope-"));
const chromium = new Chromium();

// Opens an export in speedscope as its own command does, by a script that hands the file over.
async function open(name, ...options) {
  const file = path.join(scratch, name), loader = path.join(scratch, name + ".js");
  execFileSync(perflua, ["export", "-o", file, ...options]);
  fs.writeFileSync(loader, `speedscope.loadFileFromBase64("${name}", "${fs.readFileSync(file).toString("base64")}")`);
  await chromium.open(path.join(release, "index.html"), { hash: "#localProfilePath=" + loader });
  await seen(/Sandwich/);
}

// Waits until the page has such a text, and returns all of it.
async function seen(pattern) {
  for (let i = 0; i < 300; i++) {
    const text = await chromium.evaluate("document.title + '\\n' + document.body?.innerText");
    if (pattern.test(text)) return text;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("the page has no " + pattern);
}

// The sandwich view: { symbol: [total, self] } as texts.
async function totals() {
  await chromium.key("3");
  const rows = {}, text = await seen(/Symbol Name[^]*\([\d.]+%\)/);
  for (const [, total, self, symbol] of text.matchAll(/^(\S+) \([\d.]+%\)\s+^\s*(\S+) \([\d.]+%\)\s+^\s*(.*)$/gm)) {
    rows[symbol] = [total, self];
  }
  return rows;
}

// Nanoseconds as speedscope writes them.
function format(ns) {
  return ns >= 1e6 ? (ns / 1e6).toFixed(2) + "ms" : (ns / 1e3).toFixed(2) + "µs";
}

after(async () => {
  await chromium.close();
  fs.rmSync(scratch, { recursive: true, force: true });
});

const missing = !fs.existsSync(release) && "speedscope is not installed";

describe("a profile for speedscope", { skip: missing }, () => {
  let rows;
  before(() => {
    const report = execFileSync(perflua, ["report", "--json", "--comm", "list", "--sort", "symbol", ...words]);
    rows = JSON.parse(report).events[0].rows;
  });

  it("has the threads, functions and totals of the recording", async () => {
    await open("words.json", "--to", "speedscope", "--comm", "list", ...words);
    const text = await seen(/list/);
    assert.match(text, /^spec\/fixtures\/words\/perf\.data - speedscope\n[^]*list \(pid 5159\), cpu-clock:u/);
    const got = await totals();
    assert.ok(Object.keys(got).length >= 5);
    for (const row of rows.filter((one) => got[one.symbol])) {
      assert.deepEqual(got[row.symbol], [format(row.children), format(row.period)], row.symbol);
    }
    assert.ok(got.find_in_list);
    assert.ok(chromium.requests.every((url) => url.startsWith("file://")));
  });

  it("loads folded stacks, too", async () => {
    await open("words.folded", "--to", "folded", "--comm", "list", ...words);
    assert.ok((await totals()).find_in_list);
  });
});

describe("trace events in speedscope", { skip: missing }, () => {
  it("have the processors and threads of the recording", async () => {
    const recording = switches();
    await open("trace.json", "--to", "chrome", recording);
    fs.rmSync(recording);
    assert.match(await seen(/processors/), /^trace\.json - speedscope\n[^]*processors \(pid 0\), cpu 0 \(tid 0\)/);
    assert.deepEqual(await totals(), { "a<script> (7)": ["90.00ms", "90.00ms"], "c (9)": ["10.00ms", "10.00ms"] });
  });
});
