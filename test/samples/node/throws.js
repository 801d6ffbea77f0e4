// SPDX-License-Identifier: MIT
// What a callback throws is an 'uncaughtException', and calls go on; what the
// code after the promise throws is an 'unhandledRejection'; async_hooks see
// the resource.
'use strict';
const assert = require('assert');
const { AsyncLocalStorage, executionAsyncResource } = require('async_hooks');
const { count, sample, busy } = require('./common.js');

const storage = new AsyncLocalStorage();
const seen = [];
process.on('uncaughtException', (error) => seen.push(error.message));
process.on('unhandledRejection', (error) => seen.push(error.message));

async function main() {
  let thrown = 0;
  const counter = await storage.run('a store', () =>
    count('task-clock:u', { interval: 5 }, function() {
      assert.strictEqual(storage.getStore(), 'a store');
      assert.strictEqual(executionAsyncResource(), this);
      thrown += 1;
      if (thrown === 3)
        this.close();
      process.nextTick(() => seen.push('tick'));
      throw new Error('of a count');
    }));
  const sampler = await sample('cpu-clock:u', { interval: 5 }, () => {
    sampler.close();
    throw new Error('of samples');
  });
  busy(50);
  throw new Error('after the promise');
}

main();
process.on('exit', () => {
  process.removeAllListeners('uncaughtException');
  assert.deepStrictEqual(seen.sort(),
    ['after the promise', 'of a count', 'of a count', 'of a count',
      'of samples', 'tick', 'tick', 'tick']);
});
