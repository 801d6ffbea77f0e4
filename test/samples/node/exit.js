// SPDX-License-Identifier: MIT
// process.exit() while handles are opened, live, or in a callback of one.
'use strict';
const { count, sample, busy } = require('./common.js');

const where = process.argv[2];
sample('cpu-clock:u', { interval: 5 }, () => {
  if (where === 'callback')
    process.exit(7);
});
count('task-clock:u', { interval: 5 }, () => {});
if (where === 'opening')
  process.exit(7);
setInterval(() => busy(10), 1);
if (where === 'live')
  setTimeout(() => process.exit(7), 100);
