#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the library and its benchmarks with optimization and runs them:
#
#   run.sh [OPTION…] [BENCHMARK…]    --help lists them
#
# Prints a table, and writes the same as JSON to bench.json in the build
# directory, unless --json names another file. Needs what the benchmarks report
# as missing: tracefs, libbpf, and root, or CAP_PERFMON (and CAP_BPF).
#
# UVPERF_BUILD_DIR is where to build (build/bench), CC the compiler.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$root/test/setup.sh"

build=${UVPERF_BUILD_DIR:-$root/build/bench}

setup_require compiler make cmake pkg-config libuv
setup_wish libbpf
echo "Building in $build."
if ! setup_build "$build" -DCMAKE_BUILD_TYPE=Release -DUVPERF_BUILD_BENCH=ON \
  -DUVPERF_BUILD_TESTS=OFF -DUVPERF_BUILD_SAMPLES=OFF \
  -DUVPERF_BUILD_TOOLS=OFF -DUVPERF_SANITIZE=; then
  echo "The build failed."
  exit 1
fi
exec "$build/test/bench/bench" --json "$build/bench.json" "$@"
