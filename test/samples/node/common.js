// SPDX-License-Identifier: MIT
// What the scripts share: the add-on, whose path is in UVPERF_ADDON, and work.
'use strict';
const uvperf = require(process.env.UVPERF_ADDON);

function busy(ms) {
  const end = process.hrtime.bigint() + BigInt(ms) * 1000000n;
  let n = 0;
  while (process.hrtime.bigint() < end)
    n += Math.sqrt(n);
  return n;
}

module.exports = { ...uvperf, busy };
