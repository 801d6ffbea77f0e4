/* SPDX-License-Identifier: MIT */
/* Reads the profile in this page and draws it. Names are not trusted: they only
 * become text nodes, or text on the canvas. No function here calls itself,
 * because stacks can have any depth. */
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);

  /* ---- The data: see page.c. ---- */

  async function unpack(base64) {
    const text = atob(base64), packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
      packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream()
      .pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  class Column {
    constructor(bytes, at) {
      this.bytes = bytes;
      this.at = at;
    }
    next() {
      let value = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = this.bytes[this.at++];
        value += (byte & 127) * scale;
        if (byte < 128)
          return value;
      }
    }
  }

  let data; // the JSON
  let bytes, columnsAt; // where the columns begin

  function parse(unpacked) {
    const head = new Column(unpacked, 0);
    const size = head.next();
    const json = unpacked.subarray(head.at, head.at + size);
    data = JSON.parse(new TextDecoder().decode(json));
    bytes = unpacked;
    columnsAt = head.at + size;
  }

  function columns() {
    let at = columnsAt;
    return data.columns.map((size) => {
      const column = new Column(bytes, at);
      at += size;
      return column;
    });
  }

  /* ---- The tree: one node for each path of functions. ---- */

  // The first step of each path: a process, a thread, or nothing.
  const groupings = {
    process: ["process name", (t) => t.process],
    pid: ["process id", (t) =>
      (t.pid ? `${t.process} (${t.pid})` : t.process)],
    thread: ["thread", (t) =>
      (t.thread === t.process ? t.process : `${t.process} / ${t.thread}`) +
      (t.tid ? ` (${t.tid})` : "")],
    cgroup: ["cgroup", (t) => t.cgroup],
    none: ["nothing", () => ""],
  };

  // Numbers the groups: returns their names, and the group of each task.
  function group(by) {
    const known = new Map(), names = [];
    const of = data.tasks.map((task) => {
      const name = groupings[by][1](task);
      if (!known.has(name)) {
        known.set(name, names.length);
        names.push(name);
      }
      return known.get(name);
    });
    return { names, of };
  }

  // Several tasks can be in one group, so this finds a node's child by its key.
  class Children {
    constructor(most) {
      let size = 16;
      while (size < most * 2)
        size *= 2;
      this.mask = size - 1;
      this.slots = new Int32Array(size);
      this.parent = new Int32Array(most);
      this.key = new Uint32Array(most);
      this.nr = 1; // the root
    }
    of(parent, key) {
      let at = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b);
      at = (at ^ (at >>> 15)) & this.mask;
      for (; this.slots[at] !== 0; at = (at + 1) & this.mask) {
        const node = this.slots[at];
        if (this.parent[node] === parent && this.key[node] === key)
          return node;
      }
      this.slots[at] = this.nr;
      this.parent[this.nr] = parent;
      this.key[this.nr] = key;
      return this.nr++;
    }
  }

  // Reads all paths: each node's parent (a smaller number), key, own sums.
  function read(groupOf, hasGroups) {
    const [drops, steps, keys, samples, weights] = columns();
    const children = new Children(data.steps + 1);
    const own = new Float64Array(data.steps + 1);
    const hits = new Float64Array(data.steps + 1);
    const path = [];
    let nrKnown = 0; // functions so far
    for (let i = 0; i < data.paths; i++) {
      path.length -= drops.next();
      for (let nr = steps.next(); nr > 0; nr--) {
        const key = keys.next();
        if (path.length === 0) {
          path.push(hasGroups ? children.of(0, groupOf[key]) : 0);
          continue;
        }
        const number = key >> 1 || ++nrKnown;
        path.push(children.of(path[path.length - 1],
          (number - 1) * 2 + (key & 1)));
      }
      const node = path[path.length - 1];
      const nr = samples.next(), weight = weights.next();
      hits[node] += nr;
      own[node] += weight === 0 ? nr * data.each : weight - 1;
    }
    return { nr: children.nr, parent: children.parent, key: children.key,
      own, hits };
  }

  function sums(raw, own) {
    const total = own.slice(0, raw.nr);
    for (let i = raw.nr - 1; i > 0; i--)
      total[raw.parent[i]] += total[i];
    return total;
  }

  // The nodes in drawing order: each before its children, and children by
  // weight. order[new number] is the old one.
  function arrange(raw, total) {
    const from = new Int32Array(raw.nr + 1), sorted = new Int32Array(raw.nr);
    for (let i = 1; i < raw.nr; i++)
      from[raw.parent[i] + 1]++;
    for (let i = 0; i < raw.nr; i++)
      from[i + 1] += from[i];
    const next = from.slice();
    for (let i = 1; i < raw.nr; i++)
      sorted[next[raw.parent[i]]++] = i;
    const order = new Int32Array(raw.nr), todo = [0];
    for (let n = 0; todo.length > 0; n++) {
      const node = todo.pop();
      order[n] = node;
      const mine = sorted.subarray(from[node], from[node + 1]);
      if (mine.length > 1)
        mine.sort((a, b) => total[a] - total[b] || b - a);
      for (const child of mine)
        todo.push(child);
    }
    return order;
  }

  // The displayed tree. Node 0 is the root; the nodes below i are i + 1 to
  // end[i] - 1; start is where a node begins, in units of weight.
  let tree;

  function build(by) {
    const hasGroups = by !== "none", { names, of } = group(by);
    const raw = read(of, hasGroups);
    // Without weights the samples are shown.
    if (!raw.own.some((weight) => weight > 0))
      raw.own = raw.hits;
    const total = sums(raw, raw.own), hits = sums(raw, raw.hits);
    const order = arrange(raw, total), n = raw.nr;
    const number = new Int32Array(n);
    tree = { by, hasGroups, names, nr: n, parent: new Int32Array(n),
      key: new Uint32Array(n), depth: new Int32Array(n),
      end: new Int32Array(n), own: new Float64Array(n),
      total: new Float64Array(n), ownHits: new Float64Array(n),
      hits: new Float64Array(n), start: new Float64Array(n) };
    const begin = new Float64Array(n);
    order.forEach((old, i) => {
      const parent = number[raw.parent[old]];
      number[old] = i;
      tree.key[i] = raw.key[old];
      tree.own[i] = raw.own[old];
      tree.total[i] = total[old];
      tree.ownHits[i] = raw.hits[old];
      tree.hits[i] = hits[old];
      tree.parent[i] = parent;
      if (i > 0) {
        tree.depth[i] = tree.depth[parent] + 1;
        tree.start[i] = begin[i] = begin[parent];
        begin[parent] += total[old];
      }
    });
    for (let i = n - 1; i >= 0; i--) {
      tree.end[i] = Math.max(tree.end[i], i + 1);
      const parent = tree.parent[i];
      tree.end[parent] = Math.max(tree.end[parent], tree.end[i]);
    }
  }

  /* ---- Facts about a node. ---- */

  const isGroup = (i) => tree.hasGroups && tree.depth[i] === 1;
  const isFunction = (i) => i > 0 && !isGroup(i);
  const functionOf = (i) => tree.key[i] >> 1;
  const isInlined = (i) => isFunction(i) && (tree.key[i] & 1) === 1;

  function nameOf(i) {
    if (i === 0)
      return `all: ${amount(tree.total[0])}`;
    if (isGroup(i))
      return tree.names[tree.key[i]] || "(unknown)";
    return data.functions[functionOf(i)];
  }

  const homeOf = (f) => data.objects[data.homes[f]] ?? "";

  const kinds = {
    program: "program",
    library: "libraries",
    kernel: "kernel",
    other: "unknown or JIT",
    group: "",
  };
  let kindOf; // of each object

  function kindOfObject(name) {
    if (/^\[(vdso|vsyscall|uprobes)\]$/.test(name))
      return "library";
    if (!name || /^\[(other|unknown|heap|stack|anon|jit|.* .*)/i.test(name))
      return "other";
    if (name[0] === "[" || /\.ko(\.|$)/.test(name))
      return "kernel";
    return /\.so(\.|$)/.test(name) ? "library" : "program";
  }

  function kindOfNode(i) {
    return isFunction(i) ? kindOf[data.homes[functionOf(i)]] : "group";
  }

  /* ---- Numbers as text. ---- */

  const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

  function amount(value) {
    if (value === 0)
      return "0";
    if (data.unit !== "ns")
      return `${grouped.format(value)} ${data.unit}`;
    const [size, unit] = value >= 1e9 ? [1e9, "s"]
      : value >= 1e6 ? [1e6, "ms"] : value >= 1e3 ? [1e3, "µs"] : [1, "ns"];
    const scaled = value / size;
    if (size === 1 || scaled >= 1000)
      return `${grouped.format(Math.round(scaled))} ${unit}`;
    return `${scaled.toFixed(scaled < 10 ? 2 : 1)} ${unit}`;
  }

  function percent(value, of = tree.total[0]) {
    return `${(of > 0 ? 100 * value / of : 0).toFixed(2)} %`;
  }

  function samples(nr) {
    const what = data.event === "off-cpu" ? "wait" : "sample";
    return `${grouped.format(nr)} ${what}${nr === 1 ? "" : "s"}`;
  }

  /* ---- State: the contents of the page's address. ---- */

  const initial = { zoom: 0, search: "", match: "text", by: "process",
    flip: false };
  const state = { ...initial };
  let focused = 0; // the frame with the keyboard's focus
  let views = []; // zooms to go back to

  function address() {
    const words = new URLSearchParams();
    for (const name of Object.keys(initial)) {
      if (state[name] !== initial[name])
        words.set(name, state[name] === true ? "1" : state[name]);
    }
    const text = words.toString();
    return text === "" ? "#" : `#${text}`;
  }

  // A zoom is a step that the browser's Back undoes.
  function remember(isStep = false) {
    const to = address();
    if ((location.hash || "#") === to)
      return;
    if (isStep)
      history.pushState(null, "", to);
    else
      history.replaceState(null, "", to);
  }

  // Sets the state from the address, which may contain anything.
  function recall() {
    const words = new URLSearchParams(location.hash.slice(1));
    const pick = (name, list) =>
      list.includes(words.get(name)) ? words.get(name) : initial[name];
    const by = pick("by", offered());
    state.search = words.get("search") ?? "";
    state.match = pick("match", ["text", "exact", "regex"]);
    state.flip = words.get("flip") === "1";
    state.by = by;
    if (!tree || tree.by !== by)
      build(by);
    const zoom = Number(words.get("zoom"));
    state.zoom = Number.isInteger(zoom) && zoom > 0 && zoom < tree.nr ? zoom
      : 0;
    focused = state.zoom;
    $("search").value = state.search;
    $("match").value = state.match;
    $("by").value = by;
    views = [];
    search();
    show();
    say();
  }

  /* ---- Search. ---- */

  let isHit; // by node, or null: no search
  let hitFunctions; // the functions that match

  // Returns a test for names, or null. Throws for an invalid expression.
  function matcher() {
    const text = state.search;
    if (text === "")
      return null;
    if (state.match === "exact")
      return (name) => name === text;
    if (state.match === "regex") {
      const regex = new RegExp(text, "i");
      return (name) => regex.test(name);
    }
    const lower = text.toLowerCase();
    return (name) => name.toLowerCase().includes(lower);
  }

  function search() {
    let test = null, wrong = "";
    try {
      test = matcher();
    } catch (error) {
      wrong = "not a regular expression";
    }
    $("search").setAttribute("aria-invalid", wrong !== "");
    isHit = null;
    hitFunctions = null;
    if (test) {
      const objects = data.objects.map((name) =>
        state.match !== "exact" && test(name));
      hitFunctions = data.functions.map((name, f) =>
        test(name) || objects[data.homes[f]]);
      const groups = tree.names.map(test);
      isHit = (i) => (isFunction(i) ? hitFunctions[functionOf(i)]
        : i > 0 && groups[tree.key[i]]);
    }
    $("found").textContent = wrong || (test ? found() : "");
  }

  // The share of the displayed frames with a match, each part counted once.
  function found() {
    let sum = 0, nr = 0, until = 0;
    for (let i = state.zoom; i < tree.end[state.zoom]; i++) {
      if (!isHit(i))
        continue;
      nr++;
      if (i >= until) {
        sum += tree.total[i];
        until = tree.end[i];
      }
    }
    if (nr === 0)
      return "no match";
    const part = state.zoom > 0
      ? `, ${percent(sum, tree.total[state.zoom])} of the zoomed frame` : "";
    return `${percent(sum)} in ${grouped.format(nr)} ` +
      `${nr === 1 ? "frame" : "frames"} (${amount(sum)})${part}`;
  }

  /* ---- The picture. ---- */

  const palette = {
    light: { program: [212, 85, 79], library: [158, 45, 73],
      kernel: [32, 92, 73], other: [220, 8, 82], group: [262, 45, 88],
      hit: [322, 85, 75], text: "#15181d", ground: "#ffffff",
      ring: "#0b1a33", step: 2.4 },
    dark: { program: [212, 48, 36], library: [162, 42, 25],
      kernel: [24, 62, 32], other: [220, 7, 34], group: [262, 18, 30],
      hit: [322, 58, 42], text: "#f4f6fa", ground: "#16191e",
      ring: "#ffffff", step: 1.8 },
  };
  const LEAST = 0.5; // narrower frames are drawn as one
  const graph = $("graph"), canvas = $("canvas");
  const context = canvas.getContext("2d", { alpha: false });
  let theme = "light", row = 19, letter = 7.2, height = 0, printing = false;

  // Neighbours of one kind have four shades, by name.
  function shade(kind, name) {
    const [hue, saturation, base] = palette[theme][kind];
    let sum = 0;
    for (let i = 0; i < Math.min(name.length, 40); i++)
      sum = (sum * 31 + name.charCodeAt(i)) & 0xffff;
    const lightness = base + (((sum >> 4) & 3) - 1.5) * palette[theme].step;
    return `hsl(${hue} ${saturation}% ${lightness}%)`;
  }

  let colours = {}; // by kind and key

  function colour(i) {
    const kind = isHit && isHit(i) ? "hit" : kindOfNode(i);
    const key = tree.key[i];
    colours[kind] = colours[kind] || new Map();
    const known = colours[kind];
    let found = known.get(key);
    if (!found)
      known.set(key, found = shade(kind, nameOf(i)));
    return found;
  }

  // Where a row begins, from the top of the scrolled contents.
  function top(depth) {
    return state.flip ? height - (depth + 1) * row : depth * row;
  }

  // All ASCII characters have the same width.
  function label(name, x, y, width) {
    const room = Math.floor((width - 7) / letter);
    if (room < 2)
      return;
    let text = name;
    if (name.length > room) {
      const cut = name.charCodeAt(room - 2) >> 10 === 0x36 ? room - 2
        : room - 1;
      text = name.slice(0, cut) + "…";
    }
    if (/^[\x20-\x7e…]*$/.test(text)) {
      context.fillText(text, x + 4, y + row / 2 + 0.5);
      return;
    }
    context.save();
    context.beginPath();
    context.rect(x, y, width - 3, row);
    context.clip();
    context.fillText(text, x + 4, y + row / 2 + 0.5);
    context.restore();
  }

  function box(i, x, y, width, faded) {
    const gap = width > 2 ? 1 : width * 0.2;
    context.globalAlpha = faded ? 0.4 : 1;
    context.fillStyle = colour(i);
    context.fillRect(x, y, width - gap, row - 1);
    context.globalAlpha = 1;
    if (width < letter * 3)
      return;
    context.fillStyle = palette[theme].text;
    if (isInlined(i)) {
      context.font = font(true);
      label(nameOf(i), x, y, width);
      context.font = font(false);
    } else {
      label(nameOf(i), x, y, width);
    }
  }

  const font = (italic) =>
    `${italic ? "italic " : ""}12px ui-monospace, Menlo, Consolas, monospace`;

  // On paper the picture is scaled so that it fits below the title.
  const RATIO = 1.05;
  const widthOf = () => (printing
    ? Math.min(Math.max(height / RATIO, 1100), 2200) : graph.clientWidth);
  const visibleOf = () => (printing
    ? Math.min(height, widthOf() * RATIO) : graph.clientHeight);

  function clear(width, visible) {
    const dots = printing ? 2 : window.devicePixelRatio || 1;
    const wide = Math.round(width * dots), high = Math.round(visible * dots);
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
    }
    canvas.style.height = printing ? "auto" : `${visible}px`;
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.fillStyle = palette[theme].ground;
    context.fillRect(0, 0, width, visible);
    context.font = font(false);
    context.textBaseline = "middle";
    letter = context.measureText("0000000000").width / 10;
  }

  // True if a frame is drawn, or on paper has room for some letters.
  function isWide(i) {
    const [width, least] = printing ? [1100, 4] : [widthOf(), LEAST];
    return tree.total[i] * width / tree.total[state.zoom] >= least;
  }

  // Frames that are too narrow to see. Children are sorted, so the rest of a
  // parent's children are narrow too.
  function rest(parent, x, y, scale) {
    const to = tree.start[parent] + tree.total[parent] - tree.own[parent];
    const width = (to - tree.start[state.zoom]) * scale - x;
    if (width < LEAST)
      return;
    context.globalAlpha = 0.5;
    context.fillStyle = shade("other", "");
    context.fillRect(x, y, width, row - 1);
    context.globalAlpha = 1;
  }

  function draw() {
    const width = widthOf(), visible = visibleOf();
    const zoom = state.zoom, last = tree.end[zoom];
    const scale = tree.total[zoom] > 0 ? width / tree.total[zoom] : 0;
    const scrolled = printing ? 0 : graph.scrollTop;
    clear(width, visible);
    for (let i = zoom; i > 0;) {
      i = tree.parent[i];
      box(i, 0, top(tree.depth[i]) - scrolled, width, true);
    }
    box(zoom, 0, top(tree.depth[zoom]) - scrolled, width,
      isHit && !isHit(zoom));
    for (let i = zoom + 1; i < last;) {
      const x = (tree.start[i] - tree.start[zoom]) * scale;
      const w = tree.total[i] * scale, y = top(tree.depth[i]) - scrolled;
      if (w < LEAST) {
        rest(tree.parent[i], x, y, scale);
        i = tree.end[tree.parent[i]];
      } else if (state.flip ? y + row < 0 : y > visible) {
        i = tree.end[i];
      } else {
        if (y + row >= 0 && y <= visible)
          box(i, x, y, w, isHit && !isHit(i));
        i++;
      }
    }
    if (document.activeElement === canvas && !printing)
      ring();
  }

  // Where a node is, in the canvas; null if it is not shown.
  function place(i) {
    const zoom = state.zoom, width = widthOf();
    if (i <= zoom && tree.end[i] >= tree.end[zoom])
      return { x: 0, y: top(tree.depth[i]) - graph.scrollTop, width };
    if (i < zoom || i >= tree.end[zoom])
      return null;
    const scale = width / tree.total[zoom];
    return { x: (tree.start[i] - tree.start[zoom]) * scale,
      y: top(tree.depth[i]) - graph.scrollTop, width: tree.total[i] * scale };
  }

  function ring() {
    const at = place(focused);
    if (!at)
      return;
    context.strokeStyle = palette[theme].ring;
    context.lineWidth = 2;
    context.strokeRect(at.x + 1, at.y + 1, Math.max(at.width - 3, 2), row - 3);
  }

  let isWanted = false;

  function redraw() {
    if (isWanted)
      return;
    isWanted = true;
    requestAnimationFrame(() => {
      isWanted = false;
      draw();
    });
  }

  // The node at a place of the canvas, or -1.
  function nodeAt(x, y) {
    const zoom = state.zoom, inside = y + graph.scrollTop;
    const depth = Math.floor((state.flip ? height - inside : inside) / row);
    let i = zoom;
    if (depth < tree.depth[zoom]) {
      while (tree.depth[i] > depth)
        i = tree.parent[i];
      return depth < 0 ? -1 : i;
    }
    const at = tree.start[zoom] + x / graph.clientWidth * tree.total[zoom];
    while (tree.depth[i] < depth) {
      let child = i + 1;
      while (child < tree.end[i] && at >= tree.start[child] + tree.total[child])
        child = tree.end[child];
      if (child >= tree.end[i])
        return -1;
      i = child;
    }
    return i;
  }

  // Sizes the graph for the frames that are wide enough to see, or on paper to
  // read.
  function measure() {
    const zoom = state.zoom;
    let deepest = tree.depth[zoom];
    for (let i = zoom + 1; i < tree.end[zoom];) {
      if (isWide(i))
        deepest = Math.max(deepest, tree.depth[i++]);
      else
        i = tree.end[tree.parent[i]];
    }
    row = matchMedia("(pointer: coarse)").matches ? 26 : 19;
    height = (deepest + 1) * row;
    const most = Math.max(innerHeight * 0.62, 10 * row);
    graph.style.height = printing ? "auto" : `${Math.min(height, most) + 2}px`;
    graph.style.resize = height > most ? "vertical" : "none";
    makeRoom();
  }

  // The height that can be scrolled, beyond the canvas.
  function makeRoom() {
    const room = printing ? 0 : Math.max(height - graph.clientHeight, 0);
    $("room").style.height = `${room}px`;
  }

  function reveal(i) {
    const y = top(tree.depth[i]) - graph.scrollTop;
    const visible = graph.clientHeight;
    if (y < 0)
      graph.scrollTop += y;
    else if (y + row > visible)
      graph.scrollTop += y + row - visible;
  }

  // Updates everything that depends on the state.
  function show() {
    measure();
    graph.scrollTop = top(tree.depth[state.zoom]) -
      (state.zoom > 0 ? graph.clientHeight / 3 : 0);
    $("whole").disabled = state.zoom === 0;
    $("flip").setAttribute("aria-pressed", state.flip);
    redraw();
    table();
  }

  /* ---- Moving about. ---- */

  function zoomTo(i, isBack = false) {
    if (i === state.zoom || i < 0)
      return;
    if (!isBack)
      views.push(state.zoom);
    state.zoom = i;
    focused = i;
    search();
    show();
    remember(true);
    say();
  }

  function back() {
    zoomTo(views.length > 0 ? views.pop() : 0, true);
  }

  // The next frame that is drawn in a row, or the same.
  function beside(i, step) {
    const zoom = state.zoom;
    let found = i;
    if (tree.depth[i] <= tree.depth[zoom])
      return i;
    for (let j = zoom; j < tree.end[zoom];) {
      if (j > zoom && !isWide(j)) {
        j = tree.end[tree.parent[j]];
        continue;
      }
      if (tree.depth[j] < tree.depth[i]) {
        j++;
        continue;
      }
      if (step < 0 && j === i)
        return found;
      if (step < 0)
        found = j;
      if (step > 0 && j > i)
        return j;
      j = tree.end[j];
    }
    return found;
  }

  function move(key) {
    const inward = state.flip ? "ArrowUp" : "ArrowDown";
    let to = focused;
    if (key === "ArrowLeft" || key === "ArrowRight")
      to = beside(focused, key === "ArrowLeft" ? -1 : 1);
    else if (key !== inward)
      to = tree.parent[focused];
    else if (focused >= state.zoom && tree.end[focused] > focused + 1 &&
        isWide(focused + 1))
      to = focused + 1;
    else if (focused < state.zoom) {
      to = state.zoom;
      while (tree.parent[to] !== focused)
        to = tree.parent[to];
    }
    focused = to;
    reveal(focused);
    redraw();
    say();
    // In a corner, where it hides few of the next frames.
    const corner = graph.getBoundingClientRect();
    tip(focused, corner.right, corner.bottom);
  }

  // For screen readers.
  function say() {
    const i = focused, parts = [nameOf(i)];
    if (isFunction(i))
      parts.push(homeOf(functionOf(i)));
    if (isInlined(i))
      parts.push("inlined");
    parts.push(`total ${percent(tree.total[i])}, ${amount(tree.total[i])}`,
      `self ${percent(tree.own[i])}, ${amount(tree.own[i])}`,
      samples(tree.hits[i]), `level ${tree.depth[i]}`);
    if (i === state.zoom && i > 0)
      parts.push("zoomed");
    $("said").textContent = parts.join(", ");
  }

  /* ---- The tooltip. ---- */

  // Makes an element with a text. Names enter the page only in this way.
  function element(name, text = "", className = "") {
    const made = document.createElement(name);
    made.textContent = text;
    if (className)
      made.className = className;
    return made;
  }

  function tip(i, x, y) {
    const box = $("tip");
    box.hidden = i < 0;
    if (i < 0)
      return;
    const rows = element("table");
    for (const [what, value, nr] of [["total", tree.total[i], tree.hits[i]],
      ["self", tree.own[i], tree.ownHits[i]]]) {
      const line = element("tr");
      line.append(element("th", what), element("td", percent(value)),
        element("td", amount(value)), element("td", samples(nr)));
      rows.append(line);
    }
    box.replaceChildren(element("b", nameOf(i)));
    if (isFunction(i))
      box.append(element("p", homeOf(functionOf(i)) +
        (isInlined(i) ? " · inlined into its caller" : "")));
    else if (isGroup(i))
      box.append(element("p", groupings[tree.by][0]));
    box.append(rows);
    const part = percent(tree.total[i], tree.total[state.zoom]);
    if (state.zoom > 0 && i >= state.zoom)
      box.append(element("p", `${part} of the zoomed frame`));
    const high = box.offsetHeight, wide = box.offsetWidth;
    if (y + high > innerHeight - 4)
      y = Math.min(y - row - 22, innerHeight - 4) - high;
    x = Math.min(x, document.documentElement.clientWidth - wide - 8);
    box.style.left = `${Math.max(4, x)}px`;
    box.style.top = `${Math.max(4, y)}px`;
  }

  /* ---- The table. ---- */

  const heads = [
    ["self", "Self", "number"], ["selfAmount", "", "number extra"],
    ["total", "Total", "number"], ["totalAmount", "", "number extra"],
    ["name", "Function", "name"], ["home", "Object", "home"],
  ];
  let sortBy = "self", isUp = false, shown = 25;
  let listed = []; // the functions that have a row

  // Functions below the zoomed frame; a recursion counts once in a total.
  function functions() {
    const nr = data.functions.length, list = [];
    const self = new Float64Array(nr), total = new Float64Array(nr);
    const until = new Int32Array(nr), seen = new Uint8Array(nr);
    for (let i = state.zoom; i < tree.end[state.zoom]; i++) {
      if (!isFunction(i))
        continue;
      const f = functionOf(i);
      seen[f] = 1;
      self[f] += tree.own[i];
      if (i >= until[f]) {
        total[f] += tree.total[i];
        until[f] = tree.end[i];
      }
    }
    for (let f = 0; f < nr; f++) {
      if (seen[f])
        list.push(f);
    }
    return { list, self, total };
  }

  function sorted({ list, self, total }) {
    const text = { name: (f) => data.functions[f], home: homeOf }[sortBy];
    const value = sortBy === "self" ? self : total;
    const other = sortBy === "self" ? total : self;
    const order = text
      ? (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1
        : total[b] - total[a])
      : (a, b) => value[a] - value[b] || other[a] - other[b];
    return list.sort((a, b) => (isUp ? order(a, b) : order(b, a)) || a - b);
  }

  function table() {
    const all = functions(), list = sorted(all);
    listed = list.slice(0, shown);
    $("table").tBodies[0].replaceChildren(...listed.map((f) => {
      const line = element("tr");
      const button = element("button", data.functions[f]);
      button.type = "button";
      button.title = data.functions[f].slice(0, 300);
      button.addEventListener("click", () => pick(data.functions[f]));
      const name = element("td", "", "name");
      name.append(button);
      line.append(element("td", percent(all.self[f]), "number"),
        element("td", amount(all.self[f]), "number extra"),
        element("td", percent(all.total[f]), "number"),
        element("td", amount(all.total[f]), "number extra"), name,
        element("td", homeOf(f), "home"));
      return line;
    }));
    mark();
    $("table").tHead.rows[0].replaceChildren(...heads.map(head));
    $("more").hidden = list.length <= shown;
    $("scope").textContent = (state.zoom > 0
      ? `Below the zoomed frame ${nameOf(state.zoom).slice(0, 200)}: `
      : "") + `${grouped.format(list.length)} functions. ` +
      "Percentages are of the whole profile.";
  }

  function mark() {
    const rows = $("table").tBodies[0].rows;
    listed.forEach((f, i) =>
      rows[i].classList.toggle("hit", !!hitFunctions && hitFunctions[f]));
  }

  function head([key, text, className]) {
    const cell = element("th", "", className);
    cell.scope = "col";
    if (text === "") {
      cell.append(element("span", key === "selfAmount" ? "self in units"
        : "total in units", "hidden"));
      return cell;
    }
    const button = element("button",
      text + (sortBy === key ? (isUp ? " ▲" : " ▼") : ""));
    button.type = "button";
    button.dataset.sort = key;
    if (sortBy === key)
      cell.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    cell.append(button);
    return cell;
  }

  function resort(key) {
    isUp = sortBy === key ? !isUp : key === "name" || key === "home";
    sortBy = key;
    table();
    document.querySelector(`[data-sort="${key}"]`).focus();
  }

  // Searches for one function; a second call ends the search.
  function pick(name) {
    const again = state.match === "exact" && state.search === name;
    state.search = again ? "" : name;
    state.match = again ? "text" : "exact";
    $("search").value = state.search;
    $("match").value = state.match;
    searched();
  }

  function searched() {
    search();
    redraw();
    mark();
    remember();
  }

  function endSearch() {
    state.search = $("search").value = "";
    searched();
  }

  /* ---- The rest of the page. ---- */

  // The groups that distinguish tasks, and the choice without groups.
  function offered() {
    const nr = (by) => group(by).names.length;
    const list = ["process"];
    if (nr("pid") > nr("process"))
      list.push("pid");
    if (nr("thread") > nr("pid") || data.tasks.some((t) => t.tid))
      list.push("thread");
    if (data.tasks.some((t) => t.cgroup !== ""))
      list.push("cgroup");
    list.push("none");
    return list;
  }

  function facts() {
    const parts = [`${data.event}: ${amount(tree.total[0])}`,
      samples(tree.hits[0])];
    if (data.duration > 0)
      parts.push(`measured for ${grouped.format(data.duration / 1e9)} s`);
    parts.push(`${grouped.format(data.paths)} ` +
      `${data.paths === 1 ? "stack" : "different stacks"}`);
    $("facts").textContent = parts.join(" · ");
    if (data.start > 0) {
      const date = new Date(data.start / 1e6);
      if (!Number.isNaN(date.getTime())) {
        const time = element("time", date.toLocaleString(undefined,
          { dateStyle: "medium", timeStyle: "short" }));
        time.dateTime = date.toISOString();
        $("facts").append(" · ", time);
      }
    }
  }

  function legend() {
    const own = {};
    for (let i = 0; i < tree.nr; i++) {
      const kind = isFunction(i) ? kindOfNode(i) : "group";
      own[kind] = (own[kind] ?? 0) + tree.own[i];
    }
    const items = Object.keys(kinds).filter((kind) =>
      kinds[kind] && own[kind] > 0).map((kind) => {
      const item = element("li"), patch = element("i");
      const [hue, saturation, lightness] = palette[theme][kind];
      patch.style.background = `hsl(${hue} ${saturation}% ${lightness}%)`;
      item.append(patch, `${kinds[kind]} `, element("b", percent(own[kind])));
      return item;
    });
    let hasInlined = false;
    for (let i = 1; i < tree.nr && !hasInlined; i++)
      hasInlined = isInlined(i);
    if (hasInlined) {
      const item = element("li");
      item.append(element("em", "italic"), " inlined");
      items.push(item);
    }
    $("legend").replaceChildren(element("li", "Self:"), ...items);
  }

  function paint(name) {
    theme = name;
    document.documentElement.dataset.theme = name;
    $("theme").textContent = name === "dark" ? "Light" : "Dark";
    colours = {};
    legend();
    redraw();
  }

  const isTyping = (target) =>
    target.matches("input, select, textarea, dialog, dialog *");

  function keyDown(event) {
    if (event.ctrlKey || event.altKey || event.metaKey)
      return;
    const typing = isTyping(event.target), key = event.key;
    if (event.target === $("search") && key === "Escape") {
      endSearch();
      canvas.focus();
    } else if (typing) {
      return;
    } else if (key === "/") {
      $("search").focus();
      $("search").select();
    } else if (key === "?") {
      $("help").showModal();
    } else if (key === "Escape" || key === "Backspace") {
      tip(-1);
      if (state.zoom === 0 && views.length === 0)
        endSearch();
      else
        back();
    } else if (event.target !== canvas) {
      return;
    } else if (key.startsWith("Arrow")) {
      move(key);
    } else if (key === "Enter" || key === " ") {
      zoomTo(focused);
    } else if (key === "Home") {
      zoomTo(0);
    } else {
      return;
    }
    event.preventDefault();
  }

  function pointed(event) {
    return nodeAt(event.offsetX, event.offsetY);
  }

  function listen() {
    let touched = -1; // a first touch shows the tooltip, a second one zooms
    document.addEventListener("keydown", keyDown);
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse")
        tip(pointed(event), event.clientX + 12, event.clientY + 18);
    });
    canvas.addEventListener("pointerleave", () => tip(-1));
    canvas.addEventListener("click", (event) => {
      const i = pointed(event);
      if (i < 0)
        return;
      focused = i;
      if (event.pointerType === "touch" && i !== touched) {
        touched = i;
        tip(i, event.clientX, event.clientY + 18);
        redraw();
      } else {
        zoomTo(i);
        tip(-1);
      }
      say();
    });
    canvas.addEventListener("focus", () => {
      redraw();
      say();
    });
    canvas.addEventListener("blur", () => {
      tip(-1);
      redraw();
    });
    graph.addEventListener("scroll", () => {
      tip(-1);
      redraw();
    });
    $("controls").addEventListener("submit", (event) => event.preventDefault());
    $("search").addEventListener("input", () => {
      state.search = $("search").value;
      searched();
    });
    $("match").addEventListener("change", () => {
      state.match = $("match").value;
      searched();
    });
    $("by").addEventListener("change", () => {
      state.by = $("by").value;
      state.zoom = focused = 0;
      views = [];
      build(state.by);
      search();
      show();
      remember();
    });
    $("whole").addEventListener("click", () => zoomTo(0));
    $("flip").addEventListener("click", () => {
      state.flip = !state.flip;
      show();
      remember();
    });
    $("theme").addEventListener("click", () =>
      paint(theme === "dark" ? "light" : "dark"));
    $("help-open").addEventListener("click", () => $("help").showModal());
    $("more").addEventListener("click", () => {
      shown += 200;
      table();
    });
    $("table").tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button)
        resort(button.dataset.sort);
    });
    addEventListener("hashchange", recall);
    new ResizeObserver(() => {
      makeRoom();
      redraw();
    }).observe(graph);
    addEventListener("resize", () => {
      measure();
      redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
      (event) => paint(event.matches ? "dark" : "light"));
    let before; // the theme before printing
    addEventListener("beforeprint", () => {
      before = theme;
      print(true, "light");
    });
    addEventListener("afterprint", () => print(false, before));
  }

  function print(isPrinting, colours) {
    printing = isPrinting;
    paint(colours);
    measure();
    draw();
  }

  const preferred = () =>
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

  async function main() {
    const message = $("message");
    if (!("DecompressionStream" in window)) {
      message.textContent = "This browser is too old to unpack the profile: " +
        "Chrome or Edge 86, Firefox 113, Safari 16.4 or newer can.";
      return;
    }
    try {
      parse(await unpack($("data").textContent));
    } catch (error) {
      message.textContent = "The profile in this page is damaged: " +
        "was the file copied whole?";
      return;
    }
    data.functions = data.functions.map((name) => name || "(unknown)");
    kindOf = data.objects.map(kindOfObject);
    for (const by of offered()) {
      const option = element("option", groupings[by][0]);
      option.value = by;
      $("by").append(option);
    }
    document.documentElement.dataset.theme = theme = preferred();
    message.textContent = data.paths > 0 ? "" : "There are no samples.";
    $("main").hidden = false;
    recall();
    facts();
    paint(theme);
    listen();
  }

  main();
})();
