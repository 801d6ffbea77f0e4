// SPDX-License-Identifier: MIT
// Errors have a code and a reason; wrong arguments are TypeErrors. Root becomes
// nobody first; in a user namespace it has the rights of a user.
'use strict';
const assert = require('assert');
const fs = require('fs');
const { count, sample } = require('./common.js');

const paranoid = +fs.readFileSync('/proc/sys/kernel/perf_event_paranoid');
const isRoot = process.getuid() === 0 &&
  fs.readlinkSync('/proc/self/ns/user') === 'user:[4026531837]';
if (isRoot) {
  process.setgroups([]);
  process.setgid(65534);
  process.setuid(65534);
}

async function main() {
  const denied = { name: 'Error', code: 'EACCES', errno: -13,
    message: /thread 1\b.*CAP_PERFMON/ };
  await assert.rejects(count('task-clock:u', { pid: 1 }), denied);
  await assert.rejects(sample('cpu-clock:u', { pid: 1 }, () => {}), denied);
  await assert.rejects(count('task-clok'), { message: /task-clo/ });
  await assert.rejects(count('task-clock:u', { tid: 2147483647 }),
    { code: 'ESRCH' });

  for (const args of [[], [7], ['task-clock', 7], ['task-clock', {}, 7],
    ['task-clock', { pid: 'x' }], ['task-clock', { pid: 1.5 }],
    ['task-clock', { interval: 0 }], ['x'.repeat(5000)]])
    await assert.rejects(count(...args),
      { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' }, `${args}`);
  await assert.rejects(sample('cpu-clock'), { name: 'TypeError' });
  await assert.rejects(count('task-clock', { get pid() { throw 5; } }),
    (error) => error === 5);

  // The kernel's side is not for this user. What is not known is not 0.
  const counter = await count('task-clock:u,task-clock');
  const [own, all] = counter.read();
  assert(own.value > 0 && own.reason === undefined);
  if (paranoid === 2) {
    assert.strictEqual(all.value, null);
    assert.strictEqual(all.state, 'not available');
    assert.match(all.reason, /paranoid/);
  }
  const { read } = counter;
  assert.throws(read, { name: 'TypeError' });
}

main();
