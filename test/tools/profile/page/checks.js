// SPDX-License-Identifier: MIT
// Opens the pages that test_browser.c has written into a directory, and checks
// what they show. Each page.html has a page.folded beside it with the expected
// contents. Prints a line for each check: "ok NAME" or "failed NAME: why".
//
//   node checks.js DIRECTORY
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { Browser, Tab } = require("./browser.js");

const directory = process.argv[2];
const ROW = 19; // pixels
const PINK = [322, 1];

// The tree of folded stacks, which the page must show, by samples.
function fold(name) {
  const root = { name: "", self: 0, total: 0, level: 0, x: 0, children: [] };
  const text = fs.readFileSync(path.join(directory, `${name}.folded`), "utf8");
  for (const line of text.split("\n").filter((l) => l !== "")) {
    const at = line.lastIndexOf(" "), count = Number(line.slice(at + 1));
    let node = root;
    node.total += count;
    for (const step of line.slice(0, at).split(";")) {
      let child = node.children.find((c) => c.name === step);
      if (!child) {
        child = { name: step, self: 0, total: 0, level: node.level + 1,
          parent: node, children: [] };
        node.children.push(child);
      }
      node = child;
      node.total += count;
    }
    node.self += count;
  }
  const list = [root];
  for (let i = 0; i < list.length; i++) // it grows meanwhile
    list.push(...list[i].children);
  for (const node of list)
    node.children.sort((a, b) => b.total - a.total);
  // Where each begins, in samples.
  for (const node of list) {
    let x = node.x;
    for (const child of node.children) {
      child.x = x;
      x += child.total;
    }
  }
  return { root, list };
}

const percent = (part, whole) => `${(100 * part / whole).toFixed(2)} %`;

const textOf = (tab, id) =>
  tab.run(`document.getElementById("${id}").textContent`);

const stateOf = async (tab) =>
  Object.fromEntries(new URLSearchParams(
    (await tab.run("location.hash")).slice(1)));

const boxOf = (tab) => tab.run(`(() => {
  const box = document.getElementById("canvas").getBoundingClientRect();
  return { x: box.x, y: box.y, width: box.width, height: box.height };
})()`);

// Hue of the pixel of the canvas in that place, and whether it is not grey.
async function hueAt(tab, x, y) {
  const [r, g, b] = await pixelAt(tab, x, y);
  const most = Math.max(r, g, b), range = most - Math.min(r, g, b);
  if (range < 12)
    return [0, 0];
  const sixth = most === r ? (g - b) / range
    : most === g ? (b - r) / range + 2 : (r - g) / range + 4;
  return [Math.round((sixth * 60 + 360) % 360), 1];
}

function pixelAt(tab, x, y) {
  return tab.run(`(() => {
    const canvas = document.getElementById("canvas");
    const box = canvas.getBoundingClientRect();
    const copy = new OffscreenCanvas(1, 1).getContext("2d");
    copy.drawImage(canvas, ${x} - box.x, ${y} - box.y, 1, 1, 0, 0, 1, 1);
    return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
  })()`);
}

// Where a node of the folded tree is drawn as long as nothing is zoomed; the
// right bottom corner, where there is no text.
async function placeOf(tab, { root }, node) {
  const box = await boxOf(tab), scale = box.width / root.total;
  return { x: box.x + (node.x + node.total * 0.9) * scale,
    y: box.y + node.level * ROW + ROW - 4, width: node.total * scale };
}

const find = ({ list }, ...names) => {
  const node = list.find((n) => {
    let at = n;
    for (let i = names.length - 1; i >= 0; i--, at = at.parent) {
      if (!at || at.name !== names[i])
        return false;
    }
    return at === list[0];
  });
  assert(node, `no ${names.join(";")}`);
  return node;
};

const near = (hue, [expected]) => Math.abs(hue[0] - expected) <= 4 &&
  hue[1] === 1;

/* ---- What is checked: each with a page of its own. ---- */

const checks = {};

checks.frames_are_those_of_the_model = ["small", async (tab, model) => {
  const names = [], lines = [];
  for (let i = 1; ; i++) {
    await tab.run(`location.hash = "#zoom=${i}"`);
    await tab.frame();
    if (await tab.run("document.getElementById('whole').disabled"))
      break;
    const said = await textOf(tab, "said");
    const [name] = said.split(", ");
    const [, total, self, nr, level] = new RegExp(", total (.*? %).*?, " +
      "self (.*? %).*, (\\d+) samples?, level (\\d+)").exec(said);
    names.length = Number(level) - 1;
    names.push(name);
    lines.push([...names, total, self, nr].join(";"));
  }
  const whole = model.root.total;
  const expected = model.list.slice(1).map((node) => {
    const steps = [];
    for (let at = node; at.parent; at = at.parent)
      steps.unshift(at.name);
    return [...steps, percent(node.total, whole), percent(node.self, whole),
      node.total].join(";");
  });
  assert.deepStrictEqual(lines.sort(), expected.sort());
}];

checks.frames_are_where_they_belong = ["small", async (tab, model) => {
  for (const node of model.list) {
    const at = await placeOf(tab, model, node);
    if (at.width < 12)
      continue;
    await tab.mouse("mouseMoved", at.x, at.y);
    const tip = await textOf(tab, "tip");
    assert(tip.startsWith(node.name || "all"), `${node.name}: ${tip}`);
    assert(tip.includes(`${node.total} sample`), `${node.name}: ${tip}`);
    assert.strictEqual((await hueAt(tab, at.x, at.y))[1], 1, node.name);
  }
  const scan = find(model, "server", "main", "serve", "parse", "scan");
  const at = await placeOf(tab, model, scan);
  await tab.mouse("mouseMoved", at.x, at.y);
  assert.match(await textOf(tab, "tip"), /inlined/);
}];

checks.sums_are_those_of_the_model = ["cycles", async (tab) => {
  const sums = fs.readFileSync(path.join(directory, "cycles.sums"), "utf8");
  const facts = (await textOf(tab, "facts")).replaceAll(",", "");
  assert(facts.startsWith(sums.trim()), `${facts}; not ${sums}`);
  assert.match(facts, /measured for 2.5 s · \d+ different stacks/);
  assert.match(facts, /Sep 21 2026/);
}];

checks.search_marks_matches = ["small", async (tab, model) => {
  const whole = model.root.total;
  const share = (test) => {
    let sum = 0, nr = 0;
    for (const node of model.list.filter((n) => test(n.name))) {
      nr++;
      let above = node.parent;
      while (above && !test(above.name))
        above = above.parent;
      sum += above ? 0 : node.total;
    }
    return `${percent(sum, whole)} in ${nr} frames`;
  };
  const search = async (match, text) => {
    await tab.run(`document.getElementById("match").value = "${match}";
      document.getElementById("match").dispatchEvent(new Event("change"))`);
    await tab.run("document.activeElement.blur()");
    await tab.press("/");
    await tab.type(text);
    return textOf(tab, "found");
  };
  const found = await search("text", "WALK");
  assert(found.startsWith(share((n) => n === "walk")), found);
  const walk = find(model, "server", "main", "serve", "walk");
  const pink = await placeOf(tab, model, walk);
  assert(near(await hueAt(tab, pink.x, pink.y), PINK));
  const serve = await placeOf(tab, model, walk.parent);
  assert(!near(await hueAt(tab, serve.x, serve.y), PINK));
  assert.strictEqual((await stateOf(tab)).search, "WALK");
  // By object: the frames of libc.so.6.
  const libc = await search("text", "libc.so");
  assert(libc.startsWith(share((n) => /^lib_/.test(n))), libc);
  const regex = await search("regex", "^(parse|idle)$");
  assert(regex.startsWith(share((n) => n === "parse" || n === "idle")), regex);
  assert.match(await search("regex", "(("), /not a regular expression/);
  assert.match(await search("exact", "wal"), /no match/);
  assert.match(await search("text", "(("), /no match/);
  await tab.press("Escape");
  assert.strictEqual(await textOf(tab, "found"), "");
  assert.deepStrictEqual(await stateOf(tab), {});
}];

checks.click_zooms_and_escape_goes_back = ["small", async (tab, model) => {
  const serve = find(model, "server", "main", "serve");
  const at = await placeOf(tab, model, serve), box = await boxOf(tab);
  await tab.click(at.x, at.y);
  assert.match(await textOf(tab, "said"), /^serve, .* zoomed$/);
  for (const x of [box.x + 3, box.x + box.width - 6]) {
    await tab.mouse("mouseMoved", x, at.y);
    assert.match(await textOf(tab, "tip"), /^serve/);
  }
  const first = serve.children[0].name;
  await tab.mouse("mouseMoved", box.x + 3, at.y + ROW);
  assert((await textOf(tab, "tip")).startsWith(first));
  assert.match(await textOf(tab, "scope"), /Below the zoomed frame serve/);
  // A caller stays there to be clicked.
  await tab.click(box.x + 3, at.y - ROW);
  assert.match(await textOf(tab, "said"), /^main, .* zoomed$/);
  await tab.press("Escape");
  assert.match(await textOf(tab, "said"), /^serve, .* zoomed$/);
  await tab.press("Escape");
  assert.deepStrictEqual(await stateOf(tab), {});
  await tab.run("history.back()");
  await tab.until("location.hash.includes('zoom')");
}];

checks.keys_move_and_zoom = ["small", async (tab, model) => {
  for (let i = 0; i < 12; i++) {
    if (await tab.run("document.activeElement.id") === "canvas")
      break;
    await tab.press("Tab");
  }
  assert.match(await textOf(tab, "said"), /^all/);
  await tab.press("ArrowDown", "ArrowDown", "ArrowDown");
  let node = find(model, "server", "main", "serve");
  assert.match(await textOf(tab, "said"), /^serve, .*level 3$/);
  await tab.press("ArrowDown");
  assert((await textOf(tab, "said")).startsWith(node.children[0].name));
  await tab.press("ArrowRight");
  node = node.children[1];
  assert((await textOf(tab, "said")).startsWith(node.name));
  await tab.press("ArrowLeft", "ArrowRight", "Enter");
  assert.match(await textOf(tab, "said"), /zoomed$/);
  assert.match((await stateOf(tab)).zoom, /^\d+$/);
  // A caller of the zoomed frame is alone in its row.
  await tab.press("ArrowUp", "ArrowRight");
  assert.match(await textOf(tab, "said"), /^serve/);
  await tab.press("Backspace");
  assert.deepStrictEqual(await stateOf(tab), {});
  await tab.press("?");
  assert(await tab.run("document.getElementById('help').open"));
  await tab.press("Escape");
  assert(!await tab.run("document.getElementById('help').open"));
  await tab.press("/");
  assert.strictEqual(await tab.run("document.activeElement.id"), "search");
}];

checks.link_shows_the_same_view = ["small", async (tab, model, again) => {
  const words = "zoom=3&search=walk&match=regex&by=thread&flip=1";
  const other = await again(`#${words}`);
  assert.deepStrictEqual(await stateOf(other),
    Object.fromEntries(new URLSearchParams(words)));
  assert.strictEqual(await other.run("document.getElementById('by').value"),
    "thread");
  assert.match(await textOf(other, "said"), /^serve, .*level 3, zoomed$/);
  assert.match(await textOf(other, "found"), /of the zoomed frame$/);
  // Flipped, the root is the lowest row.
  const box = await boxOf(other);
  await other.mouse("mouseMoved", box.x + 9, box.y + box.height - 9);
  assert.match(await textOf(other, "tip"), /^all/);
  const wrong = "#zoom=-1&zoom=x&match=__proto__&by=constructor&flip=2";
  await other.run(`location.hash = "${wrong}"`);
  await other.frame();
  assert.match(await textOf(other, "said"), /^all/);
}];

checks.groups_are_what_tells_tasks_apart = ["small", async (tab) => {
  const groups = {
    process: /^server, total/, pid: /^server \(100\), total/,
    thread: /^server \(100\), total/, cgroup: /^\/a\.slice, total/,
    none: /^main, server, total/,
  };
  assert.deepStrictEqual(await tab.run(
    "[...document.getElementById('by').options].map((o) => o.value)"),
  Object.keys(groups));
  for (const by of Object.keys(groups)) {
    await tab.run(`location.hash = "#by=${by}&zoom=1"`);
    await tab.frame();
    assert.match(await textOf(tab, "said"), groups[by]);
  }
}];

checks.table_has_self_and_total = ["small", async (tab, model) => {
  const rows = () => tab.run(`[...document.getElementById("table")
    .tBodies[0].rows].map((row) => [...row.cells].map((c) => c.textContent))`);
  const sums = new Map();
  for (const node of model.list.filter((n) => n.level > 1)) {
    const sum = sums.get(node.name) ?? { self: 0, total: 0 };
    sum.self += node.self;
    let above = node.parent;
    while (above && (above.name !== node.name || above.level < 2))
      above = above.parent;
    sum.total += above ? 0 : node.total;
    sums.set(node.name, sum);
  }
  const expect = (key) => [...sums].sort((a, b) => b[1][key] - a[1][key])
    .map(([name, sum]) => [percent(sum.self, model.root.total),
      percent(sum.total, model.root.total), name]);
  const shown = async () => (await rows()).map((row) => [row[0], row[2],
    row[4]]);
  const sort = (list) => list.map((row) => row.join(";")).sort();
  assert.deepStrictEqual(sort(await shown()), sort(expect("self")));
  assert.strictEqual((await shown())[0][2], expect("self")[0][2]);
  await tab.run("document.querySelector('[data-sort=total]').click()");
  assert.strictEqual((await shown())[0][2], "main");
  await tab.run("document.querySelector('[data-sort=name]').click()");
  assert.deepStrictEqual((await shown()).map((row) => row[2]),
    [...sums.keys()].sort());
  await tab.run("document.querySelector('#table td button').click()");
  assert.strictEqual((await stateOf(tab)).match, "exact");
  assert.strictEqual(await tab.run(
    "document.querySelector('tr.hit button').textContent"),
  [...sums.keys()].sort()[0]);
  assert.strictEqual((await stateOf(tab)).search, [...sums.keys()].sort()[0]);
}];

checks.dark_mode_follows_the_system_and_a_button = ["small",
  async (tab, model, again) => {
    const ground = (t) => t.run(
      "getComputedStyle(document.body).backgroundColor");
    const corner = async (t) => {
      const box = await boxOf(t);
      return (await pixelAt(t, box.x + box.width - 4,
        box.y + box.height - 4))[0];
    };
    assert.strictEqual(await ground(tab), "rgb(255, 255, 255)");
    assert(await corner(tab) > 200);
    const dark = await again("", { features: [{ name: "prefers-color-scheme",
      value: "dark" }] });
    assert.notStrictEqual(await ground(dark), "rgb(255, 255, 255)");
    assert(await corner(dark) < 60);
    await dark.run("document.getElementById('theme').click()");
    await dark.frame();
    assert.strictEqual(await ground(dark), "rgb(255, 255, 255)");
    assert(await corner(dark) > 200);
  }];

checks.hostile_names_are_text = ["hostile", async (tab) => {
  const nr = await tab.run(`document.getElementById("table")
    .tBodies[0].rows.length`);
  const names = JSON.parse(fs.readFileSync(
    path.join(directory, "hostile.names"), "utf8"))
    .map((name) => name || "(unknown)");
  const shown = await tab.run(`[...document.querySelectorAll(
    "#table td button")].map((b) => b.textContent)`);
  assert.deepStrictEqual([...shown].sort(), [...names].sort());
  assert.strictEqual(nr, names.length);
  for (let i = 1; i <= names.length * 3; i++) {
    await tab.run(`location.hash = "#zoom=${i}&search=<b>__proto__"`);
    await tab.frame();
    await tab.press("ArrowUp", "ArrowDown");
  }
  assert.strictEqual(await tab.run(`document.scripts.length * 100 +
    document.querySelectorAll("img, b b, iframe, object").length`), 200);
  assert.strictEqual(await tab.run(
    "document.querySelector('h1').textContent"), names[0]);
  await assert.rejects(tab.run("document.body.innerHTML = '<b>x'"),
    /TrustedHTML/);
  tab.faults = tab.faults.filter((fault) => !/TrustedHTML/.test(fault));
}];

for (const [name, frames] of [["empty", 0], ["deep", 2000],
  ["recursion", 2000], ["big", 0]]) {
  checks[`page_of_${name}_stacks_works`] = [name, async (tab) => {
    const paint = "performance.getEntriesByName('first-contentful-paint')[0]";
    await tab.until(`${paint} !== undefined`);
    const first = await tab.run(`${paint}.startTime`);
    process.stdout.write(`${name}: first paint ${Math.round(first)} ms, ` +
      `graph ${Math.round(await tab.run("performance.now()"))} ms\n`);
    await tab.run(`document.getElementById("canvas").focus()`);
    await tab.press("ArrowDown", "ArrowDown", "Enter", "ArrowRight");
    if (frames > 0) {
      await tab.run(`location.hash = "#zoom=${frames + 1}"`);
      await tab.frame();
      assert.match(await textOf(tab, "said"),
        new RegExp(`level ${frames + 1}, zoomed$`));
      await tab.run("document.getElementById('flip').click()");
      await tab.frame();
    }
    assert.strictEqual(await textOf(tab, "message"),
      name === "empty" ? "There are no samples." : "");
    await tab.press("/");
    await tab.type("e");
  }];
}

checks.narrow_page_has_no_horizontal_scrolling = ["hostile", async (tab) => {
  await tab.size(340, 700);
  await tab.frame();
  assert(await tab.run("document.documentElement.scrollWidth") <= 340);
}];

checks.old_browser_says_so = ["small", async (tab, model, again) => {
  const old = await again("", { before: "delete self.DecompressionStream" });
  assert.match(await textOf(old, "message"), /too old/);
}];

checks.damaged_page_says_so = ["damaged", async (tab) => {
  assert.match(await textOf(tab, "message"), /damaged/);
}];

async function check(browser, name) {
  const [page, run] = checks[name], tabs = [];
  const url = pathToFileURL(path.join(directory, `${page}.html`)).href;
  const open = async (hash = "", options = {}) => {
    tabs.push(await Tab.open(browser, url + hash, options));
    return tabs[tabs.length - 1];
  };
  try {
    const folded = path.join(directory, `${page}.folded`);
    await run(await open(), fs.existsSync(folded) ? fold(page) : null, open);
    for (const tab of tabs) {
      assert.deepStrictEqual(tab.faults, []);
      assert.deepStrictEqual(tab.requests.map((r) => r.split("#")[0]), [url]);
    }
    process.stdout.write(`ok ${name}\n`);
  } catch (error) {
    process.stdout.write(`failed ${name}: ${error.stack}\n`);
  }
  for (const tab of tabs)
    await tab.close();
}

async function main() {
  const browser = new Browser(directory);
  try {
    for (const name of Object.keys(checks))
      await check(browser, name);
  } finally {
    await browser.close();
  }
}

main();
