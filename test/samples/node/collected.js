// SPDX-License-Identifier: MIT
// With --expose-gc: an open handle without a callback that nothing refers to is
// closed; one with a callback lives on.
'use strict';
const assert = require('assert');
const fs = require('fs');
const { count } = require('./common.js');

const events = () => fs.readdirSync('/proc/self/fd').filter((fd) => {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`).includes('[perf_event]');
  } catch {
    return false; // the directory's own
  }
}).length;
const turn = () => new Promise((resolve) => setTimeout(resolve, 10));

async function main() {
  let calls = 0;
  let others = 0;
  for (let i = 0; i < 20; i++)
    (await count('task-clock:u', { tid: 0 })).read();
  await count('task-clock:u', { tid: 0, interval: 5 }, function() {
    calls += 1;
    if (calls === 1000)
      this.close();
  }).then((handle) => handle.unref());
  assert(events() > 1);
  for (let i = 0; i < 100 && events() > 1; i++) {
    gc();
    await turn();
  }
  assert.strictEqual(events(), 1);
  others = calls;
  gc();
  while (calls < others + 3)
    await turn();
}

main();
