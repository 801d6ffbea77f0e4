// SPDX-License-Identifier: MIT
// Workers that are terminated, or exit, while handles are opened, live, or in
// a callback. Node aborts if one were still open then.
'use strict';
const assert = require('assert');
const { Worker, isMainThread, parentPort, workerData } =
  require('worker_threads');
const { count, sample, busy } = require('./common.js');

async function inWorker() {
  const opened = Promise.all([
    sample('cpu-clock:u', { interval: 1, stacks: true }, () => {
      if (workerData % 5 === 3)
        process.exit();
      if (workerData % 5 === 4)
        for (;;);
    }),
    count('task-clock:u', { tid: 0, interval: 1 }, () => {}),
    count('task-clock:u')]);
  if (workerData % 5 !== 0)
    await opened;
  parentPort.postMessage('open');
  setInterval(() => busy(5), 1);
}

async function inMain() {
  for (let i = 0; i < 50; i++) {
    const worker = new Worker(__filename, { workerData: i });
    const ended = new Promise((resolve) => worker.on('exit', resolve));
    worker.on('error', (error) => { throw error; });
    await new Promise((resolve) => worker.once('message', resolve));
    await new Promise((resolve) => setTimeout(resolve, i % 5 > 1 ? 20 : 0));
    if (i % 5 !== 3)
      await worker.terminate();
    await ended;
  }
  // The add-on works on in this thread, and leaves it open at the end.
  const clock = await count('task-clock:u', { interval: 1000 }, () => {});
  assert(clock.unref().read()[0].value >= 0);
}

if (isMainThread)
  inMain();
else
  inWorker();
