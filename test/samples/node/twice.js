// SPDX-License-Identifier: MIT
// Two copies of the add-on in a process do not meet.
'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { count } = require('./common.js');

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'uvperf-'));
const copy = path.join(directory, 'uvperf.node');
fs.copyFileSync(process.env.UVPERF_ADDON, copy);
const second = require(copy);
fs.rmSync(directory, { recursive: true });

async function main() {
  assert.notStrictEqual(second.count, count);
  const one = await count('task-clock:u');
  const two = await second.count('task-clock:u', { interval: 5 }, function() {
    assert(one.read()[0].value > 0);
    this.close();
  });
  assert(two.read()[0].value > 0);
}

main();
