// Pages of perflua annotate in a real browser: a click shows the lines of the other side.
"use strict";
const { after, before, beforeEach, describe, it } = require("node:test");
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Chromium } = require("./chromium.js");

const perflua = process.env.PERFLUA || "build/perflua";
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "perflua-annotate-"));
const words = "spec/fixtures/words";
const chromium = new Chromium();

const page = `
  row = (side, text) => Array.from(document.querySelectorAll(side + " tr"))
    .find((one) => one.textContent.includes(text));
  middle = (side, text) => {
    const box = row(side, text).getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  marked = (side) => Array.from(document.querySelectorAll(side + " tr.on .number"), (one) => one.textContent);
`;

after(async () => {
  await chromium.close();
  fs.rmSync(scratch, { recursive: true, force: true });
});

describe("a page of perflua annotate", () => {
  let file;
  before(() => {
    file = path.join(scratch, "compare.html");
    execFileSync(perflua, ["annotate", "--symfs", words, "--prefix", words, "--html", "-o", file,
      words + "/perf.data", "compare"]);
  });
  beforeEach(async () => {
    await chromium.open(file);
    await chromium.evaluate(page);
  });

  it("marks the instructions of a line that is clicked", async () => {
    await chromium.click(...await chromium.evaluate(`middle("#source", "a++, b++")`));
    assert.deepEqual(await chromium.evaluate(`marked("#source")`), ["71"]);
    assert.deepEqual(await chromium.evaluate(`marked("#code")`), ["40110a", "40110e"]);
    assert.deepEqual(chromium.errors, []);
  });

  it("marks the line of an instruction that is clicked", async () => {
    await chromium.click(...await chromium.evaluate(`middle("#code", "retq")`));
    assert.deepEqual(await chromium.evaluate(`marked("#source")`), ["73"]);
  });

  it("fills the window, and needs nothing else", async () => {
    assert.ok(await chromium.evaluate(`document.documentElement.scrollHeight <= innerHeight`));
    const width = await chromium.evaluate(`row("#code", "retq").getBoundingClientRect().right - innerWidth`);
    assert.ok(Math.abs(width) < 20);
    assert.deepEqual(chromium.requests.filter((url) => !url.startsWith("file:")), []);
  });
});
