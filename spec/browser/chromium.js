// A page in headless Chromium, by its DevTools protocol over a pipe: messages are JSON with a NUL after each.
"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const KEYS = { Enter: 13, Escape: 27, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Tab: 9, Backspace: 8,
  PageUp: 33, PageDown: 34 };

class Chromium {
  constructor() {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "perflua-chromium-"));
    this.process = spawn(process.env.CHROMIUM || "chromium", ["--headless", "--no-sandbox", "--disable-gpu",
      "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
      "--user-data-dir=" + this.profile, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.ended = new Promise((resolve) => this.process.on("close", resolve));
    this.next = 1;
    this.waiting = new Map();
    this.rest = "";
    this.errors = []; // what a page's console would show in red
    this.requests = []; // URLs that were loaded
    this.loaded = () => {};
    this.process.stdio[4].setEncoding("utf8").on("data", (text) => this.receive(text));
  }

  receive(text) {
    const messages = (this.rest + text).split("\0");
    this.rest = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
      const { method, params } = message;
      if (message.id) {
        const { resolve, reject } = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      } else if (method === "Page.loadEventFired") this.loaded();
      else if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
      else if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception.description);
      else if (method === "Runtime.consoleAPICalled") this.errors.push(JSON.stringify(params.args));
      else if (method === "Log.entryAdded") this.errors.push(params.entry.text);
      else if (method === "Page.javascriptDialogOpening") this.errors.push("dialog: " + params.message);
    }
  }

  send(method, params = {}) {
    const id = this.next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId: this.session }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  // Opens a page; options: width, height, dark, hash (with its #).
  async open(file, { width = 1200, height = 800, dark = false, script = true, hash = "" } = {}) {
    if (!this.session) {
      const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
      this.session = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
      for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.send(domain + ".enable");
    }
    await this.size(width, height);
    await this.send("Emulation.setScriptExecutionDisabled", { value: !script });
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
    });
    this.errors = [];
    this.requests = [];
    if (hash) await this.send("Page.navigate", { url: "about:blank" }); // else the page might stay
    const loaded = new Promise((resolve) => { this.loaded = resolve; });
    await this.send("Page.navigate", { url: "file://" + file + hash });
    await loaded;
  }

  size(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true,
      awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
    return result.value;
  }

  async mouse(type, x, y) {
    await this.send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left",
      clickCount: 1 });
  }

  async click(x, y) {
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) await this.mouse(type, x, y);
  }

  // A key by its name, or a letter. modifiers: 2 is Ctrl.
  async key(key, modifiers = 0) {
    const text = key.length === 1 && !modifiers ? key : key === "Enter" ? "\r" : undefined;
    const code = KEYS[key] || key.toUpperCase().charCodeAt(0);
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, text, modifiers, windowsVirtualKeyCode: code });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, modifiers, windowsVirtualKeyCode: code });
  }

  async type(text) {
    await this.send("Input.insertText", { text });
  }

  async screenshot(file) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }

  async close() {
    this.session = undefined;
    await this.send("Browser.close").catch(() => {});
    await this.ended;
    fs.rmSync(this.profile, { recursive: true, force: true });
  }
}

module.exports = { Chromium };
