// SPDX-License-Identifier: MIT
// Prints, each second, the counts of this process and the functions in which it
// ran. Names of JavaScript functions need --perf-basic-prof. Names of V8's
// builtins also need --no-short-builtin-calls.
//   node --perf-basic-prof --no-short-builtin-calls \
//     example.js [uvperf.node [seconds]]
'use strict';
const fs = require('fs');
const path = require('path');
const { count, sample, symbol } =
  require(path.resolve(process.argv[2] ?? __dirname));

function busy(n) {
  for (let i = 0; i < 3e6; i++)
    n += Math.sqrt(i ^ n);
  return n;
}

// Reads lines "start size name", in hexadecimal, in the order of their creation.
function readNames() {
  const map = `/tmp/perf-${process.pid}.map`;
  const lines = fs.existsSync(map) ? fs.readFileSync(map, 'latin1') : '';
  return Array.from(lines.matchAll(/^(\w+) (\w+) (.*)$/gm),
    ([, start, size, name]) =>
      ({ start: BigInt(`0x${start}`), size: BigInt(`0x${size}`), name }));
}

async function main() {
  const hits = new Map();
  const sampler = await sample('cpu-clock:u', { frequency: 199 },
    (error, samples) => {
      for (const { ip } of samples ?? [])
        hits.set(ip, (hits.get(ip) ?? 0) + 1);
    });
  const counter = await count('task-clock:u,page-faults:u,context-switches',
    (error, counts, seconds) => {
      for (const { name, value, unit, reason } of counts)
        console.log(name, reason ?? `${Math.round(value / seconds)} ${unit}/s`);
      const names = readNames();
      const functions = new Map();
      for (const [ip, nr] of hits) {
        const found = names.findLast(({ start, size }) =>
          ip >= start && ip < start + size);
        const name = found?.name ?? symbol(ip) ?? 'unknown';
        functions.set(name, (functions.get(name) ?? 0) + nr);
      }
      hits.clear();
      for (const [name, nr] of [...functions].sort((a, b) => b[1] - a[1])
        .slice(0, 5))
        console.log(String(nr).padStart(6), name);
    });
  const work = setInterval(() => busy(0), 20);
  setTimeout(() => {
    clearInterval(work);
    counter.close();
    sampler.close();
  }, 1000 * (process.argv[3] ?? 3) + 500);
}

main();
