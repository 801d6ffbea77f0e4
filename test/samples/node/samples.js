// SPDX-License-Identifier: MIT
// A busy function has nearly all samples of its thread, of this process and of
// another one; the stack begins at the sampled address.
'use strict';
const assert = require('assert');
const { spawn } = require('child_process');
const { once } = require('events');
const { sample, symbol, busy } = require('./common.js');

// Samples, until there are enough of the CPU's time.
async function take(options, work) {
  const all = [];
  const sampler = await sample('cpu-clock:u', { interval: 20, ...options },
    (error, batch, lost) => {
      assert.ifError(error);
      assert.strictEqual(lost, 0);
      all.push(...batch);
    });
  const start = process.hrtime.bigint();
  while (all.length < 100 && process.hrtime.bigint() - start < 20000000000n) {
    work();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  sampler.close();
  assert(all.length >= 100, `${all.length} samples`);
  return { all, start };
}

async function main() {
  const { all, start } = await take({ tid: 0, frequency: 1000, stacks: true },
    () => busy(50));
  let last = 0n;
  for (const { ip, pid, tid, cpu, time, period, event, stack } of all) {
    assert.strictEqual(pid, process.pid);
    assert.strictEqual(tid, process.pid); // the main thread
    assert(cpu >= 0 && period > 0 && event === 0);
    assert(time >= last && time <= process.hrtime.bigint());
    last = time;
    assert.strictEqual(stack[0], ip);
    // No PERF_CONTEXT_*. (Code without frame pointers makes other frames up.)
    assert(stack.every((address) => address < 2n ** 64n - 4095n));
  }
  assert(last > start);
  // Frames of node itself are below those of JavaScript.
  assert(all.some(({ stack }) => stack.some((address) =>
    symbol(address)?.startsWith('_ZN4node'))));
  assert.strictEqual(symbol(1n), undefined);
  assert.throws(() => symbol(1), { name: 'TypeError' });
  const deep = all.filter(({ stack }) => stack.length > 3);
  assert(deep.length > all.length / 2, `${deep.length} of ${all.length}`);

  const child = spawn(process.execPath, ['-e', 'console.log(1); for (;;);'],
    { env: { ...process.env, LD_PRELOAD: '' } });
  await once(child.stdout, 'data');
  const other = await take({ pid: child.pid, period: 1000000 }, () => {});
  child.kill();
  // Its loop is a few instructions, in one page.
  const main = other.all.filter(({ tid }) => tid === child.pid);
  assert(other.all.every(({ pid }) => pid === child.pid));
  const pages = new Map();
  for (const { ip } of main)
    pages.set(ip >> 12n, (pages.get(ip >> 12n) ?? 0) + 1);
  const most = Math.max(...pages.values());
  assert(most > main.length / 2, `${most} of ${main.length}`);
}

main();
