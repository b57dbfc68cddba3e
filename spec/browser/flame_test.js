// Flame graphs in a real browser: they load, zoom, search and go by keyboard.
"use strict";
const { after, before, beforeEach, describe, it } = require("node:test");
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Chromium } = require("./chromium.js");
const { chains } = require("./recordings.js");

const perflua = process.env.PERFLUA || "build/perflua";
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "perflua-flame-"));
const HOSTILE = "</script><script>console.log('run')</script> ]]> \"' & <img src=x onerror=alert(1)>";

// The path of the SVG of these folded stacks.
function flame(name, folded, ...options) {
  const file = path.join(scratch, name + ".svg");
  execFileSync(perflua, ["flame", "--folded", "-", "-o", file, ...options], { input: folded });
  return file;
}

const few = [
  "sh;main;parse;lex 120", "sh;main;parse;yacc 80", "sh;main;exec;do_exec_[k] 200", "node;start;~f app.js:1_[j] 400",
  "node;start;uv_poll 160", "gcc;" + HOSTILE + " 40",
].join("\n");

// 100 000 stacks of 5 to 30 frames; the same always.
function many() {
  let seed = 1;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const lines = [];
  for (let i = 0; i < 100000; i++) {
    const names = ["cmd" + random(5)];
    for (let d = 5 + random(26), at = names[0].charCodeAt(3); d > 0; d--) {
      at = (at * 31 + random(random(8) === 0 ? 6 : 2)) % 5000;
      names.push("function_" + at);
    }
    lines.push(names.join(";") + " " + (1 + random(100)));
  }
  return lines.join("\n");
}

const chromium = new Chromium();

// In the page: what is drawn, by the script's own data and by what stands in the document.
const page = `
  rects = () => Array.from(document.querySelectorAll("#frames rect"));
  labels = () => Array.from(document.querySelectorAll("#frames text"), (text) => text.textContent);
  rect_of = (label) => {
    const text = Array.from(document.querySelectorAll("#frames text")).find((one) => one.textContent === label);
    return text && text.previousElementSibling;
  };
  middle = (label) => {
    const box = rect_of(label).getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  width = (label) => rect_of(label) ? Math.round(rect_of(label).getBoundingClientRect().width) : null;
  told = () => document.querySelector(".status").textContent;
  overlap = () => {
    const [name, value] = document.querySelectorAll(".status text");
    return name.getBoundingClientRect().right - value.getBoundingClientRect().left;
  };
  matched = () => document.querySelector("#matched").textContent;
  focused = () => document.activeElement.getAttribute("aria-label");
  hits = () => Array.from(document.querySelectorAll("#frames text.hit"), (text) => text.textContent).sort();
`;

async function open(file, options) {
  await chromium.open(file, options);
  if (!options || options.script !== false) await chromium.evaluate(page);
}

async function ask(expression) {
  return chromium.evaluate(expression);
}

async function click(label) {
  await chromium.click(...await ask(`middle(${JSON.stringify(label)})`));
}

function press(text) {
  return ask(`Array.from(document.querySelectorAll(".tools button"))
    .find((one) => one.textContent === "${text}").click()`);
}

after(async () => {
  await chromium.close();
  fs.rmSync(scratch, { recursive: true, force: true });
});

describe("a flame graph of a few stacks", () => {
  let file;
  before(() => { file = flame("few", few, "--title", "A <b>&</b> " + HOSTILE); });
  beforeEach(() => open(file));

  it("is as wide as the window, and stays so", async () => {
    assert.equal(await ask(`width("all")`), 1167);
    await chromium.size(700, 600);
    await ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert.equal(await ask(`width("all")`), 667);
    assert.ok(await ask("labels().every((label) => label.length < 90)"));
    assert.deepEqual(chromium.errors, []);
  });

  it("shows hostile names as they are and runs nothing of them", async () => {
    await open(flame("hostile", "gcc;" + HOSTILE + " 40"));
    assert.ok((await ask("labels()")).some((label) => label.startsWith("</script><script>console.log")));
    assert.equal(await ask("document.querySelectorAll('script').length"), 1);
    assert.equal(await ask("document.querySelectorAll('img, [onerror]').length"), 0);
    assert.deepEqual(chromium.errors, []);
  });

  it("tells of the frame below the pointer", async () => {
    await chromium.mouse("mouseMoved", ...await ask(`middle("main")`));
    assert.match(await ask("told()"), /^main400 samples · 40\.00.% of all · self 0$/);
    assert.ok(await ask("overlap()") < 0, "the name runs into its numbers");
    assert.match(await ask(`rect_of("main").querySelector("title").textContent`), /^main\n400 samples/);
    assert.equal(await ask(`document.querySelector("#ring").getAttribute("visibility")`), "visible");
  });

  it("tells the binary and the number of samples of a frame of a recording", async () => {
    const words = path.join(scratch, "words.svg");
    execFileSync(perflua, ["flame", "--symfs", "spec/fixtures/words", "-o", words, "spec/fixtures/words/perf.data"]);
    await open(words);
    await chromium.mouse("mouseMoved", ...await ask(`middle("count_with_list")`));
    const numbers = ["147.4 ms", "20.16\u2009% of all", "self 0", "147 samples", "/usr/local/bin/words", "words.c:128"];
    assert.equal(await ask("told()"), "count_with_list" + numbers.join(" · "));
    assert.equal(await ask(`rect_of("count_with_list").querySelector("title").textContent`),
      ["count_with_list", ...numbers].join("\n"));
  });

  it("tells no line where frames are turned round, or lines were not asked for", async () => {
    const words = path.join(scratch, "words.svg");
    const told_of = async (name) => {
      await chromium.mouse("mouseMoved", ...await ask(`middle("${name}")`));
      return ask("told()");
    };
    const draw = (...options) => execFileSync(perflua, ["flame", "--symfs", "spec/fixtures/words", "-o", words,
      ...options, "spec/fixtures/words/perf.data"]);
    draw();
    await open(words + "#view=flame-reversed");
    assert.match(await told_of("compare"), /^compare.* self 0 · .*\/words$/);
    draw("--no-lines");
    await open(words);
    assert.match(await told_of("compare"), /^compare.* · [0-9]+ samples · .*\/words$/);
  });

  it("zooms to a frame that is clicked, and back", async () => {
    await click("main");
    assert.equal(await ask(`width("main")`), 1167);
    assert.equal(await ask(`width("sh")`), 1167); // above it
    assert.equal(await ask(`width("parse")`), 583);
    assert.equal(await ask(`width("start")`), null);
    await chromium.mouse("mouseMoved", ...await ask(`middle("lex")`));
    assert.match(await ask("told()"), /12\.00.% of all · 30\.00.% of this view · self 120 samples$/);
    await click("all");
    assert.equal(await ask(`width("start")`), 653);
    await click("main");
    await click("sh");
    assert.equal(await ask(`width("sh")`), 1167);
    await ask(`document.querySelector(".tools button").click()`);
    assert.equal(await ask(`width("start")`), 653);
    assert.deepEqual(chromium.errors, []);
  });

  it("searches for a regular expression and tells the share of what matches", async () => {
    await chromium.key("/");
    await chromium.type("^(lex|do_EXEC)$");
    assert.deepEqual(await ask("hits()"), ["lex"]); // upper case means what it says
    await chromium.key("Escape");
    await chromium.key("f", 2);
    await chromium.type("^(parse|lex|do_exec)$");
    assert.deepEqual(await ask("hits()"), ["do_exec", "lex", "parse"]);
    assert.match(await ask("matched()"), /^3 names: 40\.00.% of all$/); // lex is inside parse
    await click("parse");
    assert.match(await ask("matched()"), /^3 names: 40\.00.% of all, 100.% of this view$/);
    await chromium.key("Escape");
    assert.deepEqual(await ask("hits()"), []);
    assert.equal(await ask("matched()"), "");
    assert.equal(await ask(`width("parse")`), 1167);
    await chromium.key("Escape");
    assert.equal(await ask(`width("parse")`), 233);
  });

  it("searches for text that is not a regular expression", async () => {
    await chromium.key("/");
    await chromium.type("PP.js:1");
    assert.deepEqual(await ask("hits()"), []);
    await chromium.key("Escape");
    await chromium.key("/");
    await chromium.type("~f app.js:1[");
    assert.deepEqual(await ask("hits()"), []);
    await chromium.key("Backspace");
    assert.deepEqual(await ask("hits()"), ["~f app.js:1"]);
    await chromium.key("Escape");
    await chromium.key("/");
    await chromium.type("(1)>");
    assert.match(await ask("matched()"), /^1 name: 4\.00.% of all$/);
    assert.deepEqual(chromium.errors, []);
  });

  it("goes by the keyboard alone", async () => {
    for (const [key, name] of [["ArrowUp", "node"], ["ArrowRight", "sh"], ["ArrowUp", "main"], ["ArrowUp", "exec"],
      ["ArrowRight", "parse"], ["ArrowLeft", "exec"], ["ArrowDown", "main"]]) {
      await chromium.key(key);
      assert.match(await ask("focused()"), new RegExp("^" + name + ", \\d"));
    }
    assert.match(await ask("told()"), /^main400 samples/);
    await chromium.key("Enter");
    assert.equal(await ask(`width("main")`), 1167);
    assert.match(await ask("document.activeElement.tagName"), /^rect$/);
    await chromium.key("Escape");
    assert.equal(await ask(`width("start")`), 653);
    await chromium.key("/");
    await chromium.type("lex|yacc");
    await chromium.key("Enter");
    assert.match(await ask("focused()"), /^lex, /);
    await chromium.key("n");
    assert.match(await ask("focused()"), /^yacc, /);
    await chromium.key("n");
    assert.match(await ask("focused()"), /^lex, /);
    assert.deepEqual(chromium.errors, []);
  });

  it("turns over, and merges stacks from the callee, as --inverted and --reverse do", async () => {
    const drawn = `Array.from(document.querySelectorAll("#frames rect"), (rect) =>
      ["class", "x", "y", "width"].map((key) => rect.getAttribute(key)).join(" ")).join(";")`;
    for (const [name, ...options] of [["Icicle", "--inverted"], ["Reverse", "--reverse"]]) {
      await open(flame("turned", few, ...options));
      const expected = await ask(drawn);
      await open(file);
      await press(name);
      assert.equal(await ask(drawn), expected, name);
      await press(name);
      await open(file);
      assert.notEqual(await ask(drawn), expected);
    }
    assert.deepEqual(chromium.errors, []);
  });

  it("keeps what is shown in the page's address", async () => {
    await click("main");
    await chromium.key("/");
    await chromium.type("exec");
    await press("Icicle");
    const hash = await ask("location.hash");
    assert.match(hash, /^#search=exec&zoom=\d+&view=icicle$/);
    await open(file, { hash });
    assert.equal(await ask(`width("main")`), 1167);
    assert.ok(await ask(`middle("main")[1] < middle("parse")[1]`));
    assert.deepEqual(await ask("hits()"), ["do_exec", "exec"]);
    assert.deepEqual(chromium.errors, []);
  });

  it("is an HTML page that runs no other script and loads nothing", async () => {
    const html = path.join(scratch, "few.html");
    execFileSync(perflua, ["flame", "--folded", "-", "-o", html], { input: few });
    await open(html);
    assert.equal(await ask(`width("all")`), 1167);
    await click("main");
    assert.equal(await ask(`width("main")`), 1167);
    assert.deepEqual(chromium.errors, []);
    assert.deepEqual(chromium.requests.map((url) => path.basename(url.split("#")[0])), ["few.html"]);
    await ask(`{
      const script = document.createElement("script");
      script.textContent = "window.ran = 1";
      document.body.append(script);
    }`);
    assert.equal(await ask("window.ran"), undefined);
    assert.match(chromium.errors.join(), /Content Security Policy/);
  });

  it("has colours for dark windows", async () => {
    const paper = `getComputedStyle(document.querySelector(".paper")).fill`;
    assert.equal(await ask(paper), "rgb(255, 255, 255)");
    await open(file, { dark: true });
    assert.equal(await ask(paper), "rgb(21, 23, 28)");
  });

  it("can be seen without its script", async () => {
    await open(file, { script: false });
    await chromium.screenshot(path.join(scratch, "still.png"));
    await chromium.send("Emulation.setScriptExecutionDisabled", { value: false });
    assert.ok(await ask(`document.querySelectorAll("#frames text").length`) >= 10);
    assert.equal(await ask(`document.querySelectorAll(".tools").length`), 0);
  });

  it("hangs from its callers when it is inverted", async () => {
    await open(flame("icicle", few, "--inverted"));
    assert.ok(await ask(`middle("all")[1] < middle("sh")[1]`));
    await chromium.key("ArrowDown");
    assert.match(await ask("focused()"), /^node, /);
    await chromium.key("ArrowUp");
    assert.match(await ask("focused()"), /^all, /);
  });
});

describe("a flame graph that is taller than the window", () => {
  const deep = ["sh;" + Array.from({ length: 200 }, (_, i) => "f" + i).join(";") + " 10", "sh;g 30"].join("\n");

  it("begins with its callers in sight, also in a picture of the window", async () => {
    const file = flame("deep", deep), png = path.join(scratch, "deep.png");
    await open(file, { height: 600 });
    assert.ok(await ask(`middle("all")[1] < 600`));
    await chromium.screenshot(png);
    assert.ok(fs.statSync(png).size > 10000, fs.statSync(png).size + " bytes");
    execFileSync(process.env.CHROMIUM || "chromium", ["--headless", "--no-sandbox", "--disable-gpu",
      "--window-size=1200,600", "--screenshot=" + png, "file://" + file], { stdio: "ignore" });
    assert.ok(fs.statSync(png).size > 10000, fs.statSync(png).size + " bytes");
  });

  it("scrolls by wheel and keyboard", async () => {
    await open(flame("deep", deep), { height: 600 });
    const top = await ask(`middle("sh")[1]`);
    await chromium.send("Input.dispatchMouseEvent", { type: "mouseWheel", x: 300, y: 300, deltaX: 0, deltaY: -90 });
    await ask("new Promise((done) => setTimeout(done, 100))");
    assert.equal(await ask(`middle("sh")[1]`), top + 90);
    await chromium.key("PageUp");
    assert.ok(await ask(`middle("sh")[1]`) > top + 500);
    await chromium.key("ArrowUp");
    await chromium.key("ArrowUp");
    assert.ok(await ask(`document.activeElement.getBoundingClientRect().bottom < innerHeight`));
    assert.deepEqual(chromium.errors, []);
  });
});

describe("a differential flame graph", () => {
  const recording = "spec/fixtures/words/perf.data";

  it("tells both sides of a frame and the verdict, and turns over but not around", async () => {
    const file = path.join(scratch, "changes.svg");
    execFileSync(perflua, ["diff", "--symfs", "spec/fixtures/words", "--flame", file, recording, recording]);
    await open(file, { height: 900 });
    assert.match(await ask(`document.querySelector("#title").textContent`),
      /^spec\/fixtures\/words\/perf\.data, \d+ms → spec\/fixtures\//);
    await chromium.mouse("mouseMoved", ...await ask(`middle("all")`));
    assert.match(await ask("told()"),
      /^allbefore [\d.]+ (ms|s) \(100.%\) · after [\d.]+ (ms|s) \(100.%\) · (noise|too few samples|varies too much)/);
    assert.ok(await ask(`rect_of("all").getAttribute("class").startsWith("n")`)); // gray
    assert.equal(await ask(`Array.from(document.querySelectorAll(".tools button"))
      .find((one) => one.textContent === "Reverse").offsetParent`), null);
    await press("Icicle");
    await click("main");
    assert.equal(await ask(`width("main")`), 1167);
    assert.deepEqual(chromium.errors, []);
  });

  it("has the strongest shade where the change is largest, with and without its script", async () => {
    const file = path.join(scratch, "sides.svg");
    const sides = ["3 1 2", "3 4 2"].map((numbers, i) => {
      const recording = chains(numbers), side = path.join(scratch, `side${i}.data`);
      fs.renameSync(recording, side);
      return side;
    });
    execFileSync(perflua, ["diff", "--flame", file, ...sides]);
    for (const script of [false, true]) {
      await open(file, { script });
      if (!script) await chromium.send("Emulation.setScriptExecutionDisabled", { value: false });
      await chromium.evaluate(page);
      const [whole, grown, same] = await Promise.all(["main", "two", "three"].map((name) =>
        ask(`rect_of("${name}").getAttribute("class")`)));
      assert.deepEqual([whole, grown, same[0]], ["m7", "m7", "n"], `script: ${script}`);
    }
    assert.deepEqual(chromium.errors, []);
  });
});

describe("a flame graph of 100 000 stacks", () => {
  it("is drawn, zoomed and searched in a moment", async () => {
    const file = flame("many", many());
    assert.ok(fs.statSync(file).size < 4e6, fs.statSync(file).size + " bytes");
    await open(file, { height: 900 });
    assert.ok(await ask("rects().length") > 1000);
    assert.ok(await ask("rects().length") < 60000);
    assert.match(await ask(`document.querySelector("#note").textContent`), /are left out; they hold \d/);
    assert.ok(await ask(`middle("all")[1] < innerHeight`));
    await click("cmd2");
    assert.equal(await ask(`width("cmd2")`), 1167);
    await chromium.key("/");
    await chromium.type("_1");
    assert.match(await ask("matched()"), /^\d+ names: [\d.]+.% of all, [\d.]+.% of this view$/);
    assert.deepEqual(chromium.errors, []);
  });
});
