// SPDX-License-Identifier: MIT
// The calling thread's own clock is counted as it is used, in total and in each
// interval.
'use strict';
const assert = require('assert');
const { count, busy } = require('./common.js');

async function main() {
  await assert.rejects(count('task-clock:u,no_such_pmu/x/'),
    { code: 'ENOENT' });
  const thread = await count('task-clock:u,page-faults:u', { tid: 0 });
  const before = process.hrtime.bigint();
  busy(200);
  const [clock, faults] = thread.read();
  assert.strictEqual(clock.name, 'task-clock:u');
  assert.strictEqual(clock.unit, 'ns');
  assert.strictEqual(clock.state, 'counting');
  assert.strictEqual(clock.ratio, 1);
  assert(clock.value > 100e6, `${clock.value}`);
  assert(clock.value < Number(process.hrtime.bigint() - before) + 50e6);
  assert(faults.value >= 0 && faults.unit === '');
  thread.close();
  thread.close();
  assert.throws(() => thread.read(), { code: 'EBADF' });

  let sum = 0;
  let time = 0;
  await new Promise((resolve, reject) => {
    count('task-clock:u', { interval: 50 }, (error, counts, seconds) => {
      sum += counts[0].value;
      time += seconds;
      busy(40);
      if (time > 0.4)
        resolve();
    }).then((handle) => { whole = handle; }, reject);
  });
  const total = whole.read()[0].value;
  assert(sum > 0 && sum <= total, `${sum} of ${total}`);
  whole.close();
}

let whole;
main();
