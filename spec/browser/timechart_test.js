// Timecharts in a real browser: they load, zoom, search and go by keyboard.
"use strict";
const { after, before, beforeEach, describe, it } = require("node:test");
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Chromium } = require("./chromium.js");
const { switches } = require("./recordings.js");

const perflua = process.env.PERFLUA || "build/perflua";
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "perflua-timechart-"));
const chromium = new Chromium();

const page = `
  names = () => Array.from(document.querySelectorAll("#frames text"), (text) => text.textContent);
  lane = (name) => Array.from(document.querySelectorAll("#frames text")).find((text) => text.textContent === name)
    .nextElementSibling;
  box = (name, kind) => {
    const { x, y, width, height } = lane(name).querySelector("." + kind).getBoundingClientRect();
    return [x, y + height / 2, width].map(Math.round);
  };
  told = () => document.querySelector(".status").textContent;
  wakes = () => document.querySelectorAll(".wake").length;
  opacities = () => Array.from(document.querySelectorAll(".wake"), (wake) => Number(wake.getAttribute("opacity")));
`;

after(async () => {
  await chromium.close();
  fs.rmSync(scratch, { recursive: true, force: true });
});

describe("a timechart", () => {
  let file;
  before(() => {
    const recording = switches();
    file = path.join(scratch, "chart.html");
    execFileSync(perflua, ["timechart", recording, "-o", file]);
    fs.rmSync(recording);
  });

  async function open(options) {
    await chromium.open(file, options);
    await chromium.evaluate(page);
  }

  const ask = (expression) => chromium.evaluate(expression);

  beforeEach(() => open());

  it("has rows for processors and threads, as wide as the window", async () => {
    assert.deepEqual(await ask("names()"), ["cpu 0", "cpu 1", "a<script> 7", "b 8", "c 9"]);
    const [x, , width] = await ask(`box("a<script> 7", "run")`);
    assert.deepEqual([x, width], [186, 998]);
    assert.equal((await ask(`box("b 8", "run")`))[2], Math.round(0.7 * 998));
    assert.equal((await ask(`box("a<script> 7", "wait")`))[2], Math.round(0.1 * 998));
    assert.equal(await ask("wakes()"), 1);
    assert.deepEqual(chromium.errors, []);
    assert.deepEqual(chromium.requests.map((url) => path.basename(url)), ["chart.html"]);
  });

  it("tells of the run below the pointer", async () => {
    const [x, y] = await ask(`box("b 8", "run")`);
    await chromium.mouse("mouseMoved", x + 20, y);
    assert.equal(await ask("told()"), "b 8: ran on cpu 1 70.00 ms from 0.120000000");
    const [wait, at] = await ask(`box("a<script> 7", "wait")`);
    await chromium.mouse("mouseMoved", wait + 20, at);
    assert.equal(await ask("told()"), "a<script> 7: waited for a processor 10.00 ms from 0.150000000");
  });

  it("zooms to a range that is dragged over, and back; the page's address keeps it", async () => {
    const [, y] = await ask(`box("b 8", "run")`);
    await chromium.mouse("mousePressed", 186 + 499, y);
    await chromium.mouse("mouseMoved", 186 + 700, y);
    await chromium.mouse("mouseReleased", 186 + 998, y);
    assert.match(await ask("location.hash"), /^#from=50000000&to=100000000$/);
    assert.equal((await ask(`box("b 8", "run")`))[2], Math.round(0.8 * 998));
    assert.equal(await ask("wakes()"), 0);
    const hash = await ask("location.hash");
    await chromium.key("Escape");
    assert.equal((await ask(`box("b 8", "run")`))[2], Math.round(0.7 * 998));
    await open({ hash });
    assert.equal((await ask(`box("b 8", "run")`))[2], Math.round(0.8 * 998));
    await chromium.key("ArrowLeft");
    assert.match(await ask("location.hash"), /^#from=40000000&to=90000000$/);
    assert.deepEqual(chromium.errors, []);
  });

  it("zooms to a run that is clicked", async () => {
    const [x, y] = await ask(`box("c 9", "run")`);
    await chromium.click(x + 10, y);
    assert.match(await ask("location.hash"), /^#from=30000000&to=80000000$/);
  });

  it("hatches a processor while it is not known who ran there", async () => {
    const recording = switches(`{ 100 * MS, 0, "switch", 0, 0, 7 }, { 140 * MS, 0, "switch", 8, 1, 0 },
      { 160 * MS, 0, "switch", 0, 0, 7 }, { 200 * MS, 0, "switch", 7, 1, 0 },`);
    const chart = path.join(scratch, "gaps.svg");
    execFileSync(perflua, ["timechart", recording, "-o", chart]);
    fs.rmSync(recording);
    await chromium.open(chart);
    await chromium.evaluate(page);
    const [x, y, width] = await ask(`box("cpu 0", "gap")`);
    assert.deepEqual([x, width], [186, Math.round(0.4 * 998)]);
    assert.equal((await ask(`box("cpu 0", "cpu")`))[2], Math.round(0.4 * 998));
    assert.match(await ask(`getComputedStyle(lane("cpu 0").querySelector(".gap")).fill`), /#hatch/);
    await chromium.mouse("mouseMoved", x + 20, y);
    assert.equal(await ask("told()"), "cpu 0: not known who ran 40.00 ms from 0.100000000");
    await chromium.mouse("mouseMoved", x + Math.round(0.5 * 998), y);
    assert.match(await ask("told()"), /^cpu 0: ran 40.00 ms, 40.00\s%; not known 40.00 ms, 40.00\s%$/);
    assert.deepEqual(chromium.errors, []);
  });

  // Draws a recording in which thread 7 sleeps n times in a tenth of a second, and 8 wakes it.
  function draw_woken(name, n) {
    const recording = switches(`{ 99 * MS, 0, "switch", 0, 0, 8 }, { 100 * MS, 1, "switch", 0, 0, 7 },`
      + Array.from({ length: n }, (_, i) => 100000001 + i * 1000).map((time) => `{ ${time}, 1, "switch", 7, 1, 0 },
        { ${time + 300}, 0, "waking", 7, 8 }, { ${time + 600}, 1, "switch", 0, 0, 7 },`).join("")
      + `{ 200 * MS, 1, "switch", 7, 1, 0 }, { 201 * MS, 0, "switch", 8, 1, 9 }, { 299 * MS, 0, "switch", 9, 1, 0 },`);
    const chart = path.join(scratch, name + ".svg");
    execFileSync(perflua, ["timechart", recording, "-o", chart]);
    fs.rmSync(recording);
    return chart;
  }

  it("folds rows away that have nothing in the range, and says how many", async () => {
    const chart = draw_woken("folded", 3), note = `document.querySelector("#note").textContent`;
    await chromium.open(chart, { hash: "#from=110000000&to=190000000" });
    await chromium.evaluate(page);
    assert.deepEqual(await ask("names()"), ["cpu 0", "c 9"]);
    assert.equal(await ask(note), "3 rows have nothing in this range");
    const [x, y] = await ask(`box("c 9", "run")`);
    await chromium.mouse("mouseMoved", x + 20, y);
    assert.match(await ask("told()"), /^c 9: ran on cpu 0 98.00 ms/);
    await chromium.key("Escape");
    assert.equal((await ask("names()")).length, 5);
    assert.equal(await ask(note), "");
    assert.deepEqual(chromium.errors, []);
  });

  it("draws wake-ups fainter where there are many, and where a search does not find them", async () => {
    await chromium.open(draw_woken("few", 60));
    await chromium.evaluate(page);
    assert.deepEqual(await ask("opacities()"), Array(60).fill(1));
    await chromium.key("/");
    await chromium.type("^c");
    assert.deepEqual(await ask("opacities()"), Array(60).fill(0.05));
    await chromium.type(" 9|a");
    assert.deepEqual(await ask("opacities()"), Array(60).fill(1));
    await chromium.open(draw_woken("many", 240));
    await chromium.evaluate(page);
    assert.deepEqual(await ask("opacities()"), Array(240).fill(0.25));
    await chromium.open(draw_woken("most", 2001));
    await chromium.evaluate(page);
    assert.equal(await ask("wakes()"), 0);
    assert.match(await ask("told()"), /zoom in to see wake-ups$/);
    assert.deepEqual(chromium.errors, []);
  });

  it("searches for rows", async () => {
    await chromium.key("/");
    await chromium.type("^b|C 9");
    assert.equal(await ask(`document.querySelector("#matched").textContent`), "1 row");
    assert.equal(await ask(`lane("b 8").getAttribute("opacity")`), "1");
    assert.equal(await ask(`lane("c 9").getAttribute("opacity")`), "0.35");
    await chromium.key("Escape");
    assert.equal(await ask(`lane("c 9").getAttribute("opacity")`), "1");
    assert.deepEqual(chromium.errors, []);
  });
});
