#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds what is in this directory with optimization and runs it:
#
#   run.sh                     all of it
#   run.sh NAME [ARGUMENT…]    one program: order, bpf
#
# Needs what the programs say they need: tracefs, libbpf, and root, or
# CAP_PERFMON (and CAP_BPF).
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
  -DUVPERF_BUILD_TESTS=OFF -DUVPERF_BUILD_SAMPLES=OFF -DUVPERF_SANITIZE=; then
  echo "The build failed."
  exit 1
fi

if [ $# -gt 0 ]; then
  name=$1
  shift
  exec "$build/test/bench/bench_$name" "$@"
fi
rc=0
for program in "$build"/test/bench/bench_*; do
  if [ -f "$program" ] && [ -x "$program" ]; then
    echo "${program##*/bench_}:"
    "$program" || rc=1
  fi
done
exit $rc
