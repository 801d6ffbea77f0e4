// SPDX-License-Identifier: MIT
// A handle with a callback keeps the process alive until it is closed or
// unref'd; one without does not.
'use strict';
const assert = require('assert');
const { count, sample } = require('./common.js');

let calls = 0;
async function main() {
  await count('task-clock:u');
  (await count('task-clock:u', { interval: 10 }, () => {})).unref();
  (await sample('cpu-clock:u', () => {})).unref().ref().unref();
  const sampler = await sample('cpu-clock:u', () => {});
  const closing = await count('task-clock:u', { interval: 10 }, () => {
    calls += 1;
    if (calls === 10) {
      closing.close();
      sampler.close();
      setImmediate(() => { calls += 100; });
    }
  });
}
main();
process.on('exit', () => assert.strictEqual(calls, 110));
