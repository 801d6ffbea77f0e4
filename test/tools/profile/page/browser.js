// SPDX-License-Identifier: MIT
// Drives a headless Chromium through a pipe, by the DevTools protocol.
"use strict";
const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");

const LIMIT_MS = 120000; // for one command of the protocol

class Browser {
  // The directory is for its profile and must be removed by the caller.
  constructor(directory) {
    this.process = spawn("chromium", ["--headless=new", "--no-sandbox",
      "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
      "--disable-background-networking", "--remote-debugging-pipe",
      `--user-data-dir=${path.join(directory, "chromium")}`,
      `--crash-dumps-dir=${directory}`, "about:blank"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      env: { ...process.env, HOME: directory, TZ: "UTC", LANG: "C.UTF-8" } });
    this.ended = new Promise((resolve) => this.process.on("close", resolve));
    this.waiting = new Map();
    this.listeners = [];
    this.last = 0;
    let text = "";
    this.process.stdio[4].setEncoding("utf8").on("data", (more) => {
      const messages = (text + more).split("\0");
      text = messages.pop();
      messages.forEach((message) => this.take(JSON.parse(message)));
    });
  }

  take(message) {
    const waiting = this.waiting.get(message.id);
    if (!waiting) {
      this.listeners.forEach((listener) => listener(message));
      return;
    }
    this.waiting.delete(message.id);
    clearTimeout(waiting.timer);
    if (message.error)
      waiting.reject(new Error(message.error.message));
    else
      waiting.resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)),
        LIMIT_MS);
      this.waiting.set(id, { resolve, reject, timer });
      this.process.stdio[3].write(
        `${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  async close() {
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 5000);
    this.send("Browser.close").catch(() => {});
    await this.ended;
    clearTimeout(timer);
  }
}

// A tab with a page, and its errors.
class Tab {
  // `before` is a script that runs before those of the page.
  static async open(browser, url, { width = 1200, height = 800, before = "",
    features = [] } = {}) {
    const tab = new Tab();
    tab.browser = browser;
    tab.faults = [];
    tab.requests = [];
    browser.listeners.push((message) => tab.hear(message));
    tab.target = (await browser.send("Target.createTarget",
      { url: "about:blank" })).targetId;
    tab.session = (await browser.send("Target.attachToTarget",
      { targetId: tab.target, flatten: true })).sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"])
      await tab.send(`${domain}.enable`);
    await tab.size(width, height);
    await tab.send("Emulation.setEmulatedMedia", { features });
    await tab.send("Page.addScriptToEvaluateOnNewDocument",
      { source: before });
    await tab.send("Page.navigate", { url });
    await tab.until("document.readyState === 'complete' && " +
      "!document.getElementById('message').textContent.includes('Reading')");
    await tab.frame();
    return tab;
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.target });
  }

  hear({ method, params, sessionId }) {
    if (sessionId !== this.session)
      return;
    if (method === "Runtime.exceptionThrown")
      this.faults.push(params.exceptionDetails.exception?.description ??
        params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled")
      this.faults.push(`console.${params.type}`);
    if (method === "Log.entryAdded")
      this.faults.push(params.entry.text);
    if (method === "Network.requestWillBeSent")
      this.requests.push(params.request.url);
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  size(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride",
      { width, height, deviceScaleFactor: 1, mobile: false });
  }

  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description ??
        exceptionDetails.text);
    return result.value;
  }

  async until(condition) {
    const end = Date.now() + LIMIT_MS;
    while (!await this.run(condition)) {
      if (Date.now() > end)
        throw new Error(`does not become true: ${condition}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  // Waits until the requested frame is drawn.
  frame() {
    return this.run("new Promise((done) => requestAnimationFrame(() => " +
      "requestAnimationFrame(() => done(0))))");
  }

  // Keys by their names: "Enter", "ArrowDown", "a".
  async press(...keys) {
    const codes = { Enter: 13, Escape: 27, Backspace: 8 };
    for (const key of keys) {
      const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
      const event = { key, text, windowsVirtualKeyCode: codes[key] };
      await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
      await this.send("Input.dispatchKeyEvent",
        { type: "keyUp", key });
    }
    await this.frame();
  }

  async type(text) {
    await this.send("Input.insertText", { text });
    await this.frame();
  }

  async mouse(type, x, y) {
    await this.send("Input.dispatchMouseEvent", { type, x, y, clickCount: 1,
      button: type === "mouseMoved" ? "none" : "left" });
    await this.frame();
  }

  async click(x, y) {
    await this.mouse("mouseMoved", x, y);
    await this.mouse("mousePressed", x, y);
    await this.mouse("mouseReleased", x, y);
  }

  async screenshot(file) {
    const { data } = await this.send("Page.captureScreenshot");
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }
}

module.exports = { Browser, Tab };
