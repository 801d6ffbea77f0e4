#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the samples and the tools. Runs two of the samples, and then a tool that
# shows for some seconds where CPU time goes: on the whole machine if the caller
# may look at it, else in a busy child of the caller's own.
#
# UVPERF_BUILD_DIR is where to build (build/samples), CC the compiler.
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$root/test/setup.sh"

build=${UVPERF_BUILD_DIR:-$root/build/samples}

# Whether this process has CAP_PERFMON (38) or CAP_SYS_ADMIN (21).
has_perfmon() {
  capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
  [ $(((0x${capabilities:-0} >> 38 | 0x${capabilities:-0} >> 21) & 1)) -eq 1 ]
}

say_unprivileged() {
  echo "perf_event_paranoid is $1 and this is not root: profiling a busy child" \
    "of its own."
  echo "root, CAP_PERFMON, or perf_event_paranoid at 0 or less would show" \
    "the whole machine and the kernel."
  if [ "$1" -gt 2 ]; then
    echo "Above 2 some kernels refuse even that."
  fi
}

setup_require compiler make cmake pkg-config libuv
echo "Building in $build."
if ! setup_build "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DUVPERF_BUILD_TESTS=OFF -DUVPERF_BUILD_SAMPLES=ON -DUVPERF_BUILD_TOOLS=ON \
  -DUVPERF_SANITIZE=; then
  echo "The build failed."
  exit 1
fi

tools=$build/samples/tools
cat <<END
The tools are in $tools and explain themselves by --help:
  uvperf-stat             counts events, as perf stat does
  uvperf-record           records into perf.data, as perf record does
  uvperf-trace            tells the hits of tracepoints
  uvperf-watch            tells the story of processes
  uvperf-flight-recorder  keeps the last context switches, for a dump
  uvperf-list             lists the names of events
  uvperf-doctor           tells what you may measure, and why not
  uvperf-bpf-output       tells execs, by a BPF program
  uvperf-profile          shows where CPU time goes, as now
END
# "uvperf-bpf-output is left out: no …".
sed -n 's|^-- \(uvperf-bpf-output is left out\)|\1|p' "$build/build.log"
# Names that each machine has, for every user.
echo "resolve_names: page-faults and context-switches, while a loop goes on:"
"$build/samples/resolve_names" page-faults,context-switches || exit 1
echo "open_on_pool: counts of its own, until Ctrl-C, which comes by itself:"
timeout -s INT 2 "$build/samples/open_on_pool"
if has_perfmon; then
  exec "$tools/uvperf-profile" -d 5 -a
fi
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
if [ -z "$paranoid" ]; then
  echo "This kernel has no perf events: /proc/sys/kernel/perf_event_paranoid is" \
    "not there."
  exit 1
fi
if [ "$paranoid" -le 0 ]; then
  exec "$tools/uvperf-profile" -d 5 -a
fi
say_unprivileged "$paranoid"
# The limit ends the child even if nobody else does.
exec "$tools/uvperf-profile" -d 5 -- sh -c 'ulimit -t 20; while :; do :; done'
