#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one test program, or script, for test/run.sh, which sets the variables
# of runner.sh, $root and $build: run_one.sh name
set -u
. "$root/test/runner.sh"

if [ -f "$root/test/$1.sh" ]; then
  run "$1" sh "$root/test/$1.sh" "$build/plain" "$results/$1/tests"
elif grep -qxF "$1" "$build/test/programs"; then
  run "$1" "$build/test/$1"
else
  skip_program "$1"
fi
