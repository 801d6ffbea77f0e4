// SPDX-License-Identifier: MIT
// The end of a process is an error with code EOF, after which the handle is
// closed and keeps the loop alive no more.
'use strict';
const assert = require('assert');
const { spawn } = require('child_process');
const { sample } = require('./common.js');

const child = spawn('sleep', ['100']);
const errors = [];
sample('cpu-clock:u', { pid: child.pid, interval: 20 }, function(error) {
  errors.push(error.code);
  setImmediate(() => assert.throws(() => this.read(), { code: 'EBADF' }));
}).then(() => child.kill());
process.on('exit', () => assert.deepStrictEqual(errors, ['EOF']));
