#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds what is in this directory with optimization and runs it. Needs what
# the programs say they need: tracefs and root, or CAP_PERFMON.
#
# UVPERF_BUILD_DIR is where to build (build/bench), CC the compiler.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$root/test/setup.sh"

build=${UVPERF_BUILD_DIR:-$root/build/bench}

setup_require compiler make cmake pkg-config libuv
echo "Building in $build."
if ! setup_build "$build" -DCMAKE_BUILD_TYPE=Release -DUVPERF_BUILD_BENCH=ON \
  -DUVPERF_BUILD_TESTS=OFF -DUVPERF_BUILD_SAMPLES=OFF -DUVPERF_SANITIZE=; then
  echo "The build failed."
  exit 1
fi

"$build/test/bench/bench_order" "$@"
