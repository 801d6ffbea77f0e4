// SPDX-License-Identifier: MIT
// What the scripts share: the add-on, whose path is in UVPERF_ADDON, and work.
'use strict';
const uvperf = require(process.env.UVPERF_ADDON);

// Milliseconds of CPU time: a busy host takes the CPU away.
function busy(ms) {
  const begin = process.cpuUsage();
  let used, n = 0;
  do {
    for (let i = 0; i < 100000; i++)
      n += Math.sqrt(n + i);
    used = process.cpuUsage(begin);
  } while (used.user + used.system < ms * 1000);
  return n;
}

module.exports = { ...uvperf, busy };
