#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the profiler and a workload, profiles for some seconds, and writes the
# profile as a flame graph too. See usage below.
set -u

usage() {
  cat <<'EOT'
usage: sh samples/run.sh [--all]

Builds uvperf-profile and a workload, samples for 5 seconds, prints a table of
the hottest functions, and writes a flame graph. As root it shows the whole
machine, otherwise the workload alone. The workload's functions are known:
parse takes 50 % of its time, compress 30 %, hash 15 % and count_words 5 %.

  --all       also build the other tools and samples
  -h, --help  show this; nothing is built

Missing packages for the build are installed with apt, or only named if that is
not possible. Ctrl-C ends the build, or the profile: its table is still printed.

UVPERF_BUILD_DIR  where to build, instead of build/samples
CC, CFLAGS        as for cmake
EOT
}

all=
for argument in "$@"; do
  case $argument in
    -h | --help) usage; exit ;;
    --all) all=1 ;;
    *) usage >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$root/test/setup.sh"

build=${UVPERF_BUILD_DIR:-$root/build/samples}
case $build in /*) ;; *) build=$PWD/$build ;; esac
seconds=5
shares="parse 50 %, compress 30 %, hash 15 %, count_words 5 %"

# Succeeds if this process may measure the whole machine: with CAP_PERFMON (38) or
# CAP_SYS_ADMIN (21) in the first user namespace, or if the kernel allows all.
may_see_machine() {
  [ "$paranoid" -le 0 ] && return
  capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
  [ $(((0x${capabilities:-0} >> 38 | 0x${capabilities:-0} >> 21) & 1)) -eq 1 ] &&
    grep -qx ' *0 *0 *4294967295' /proc/self/uid_map
}

build_profiler() {
  setup_configure "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DUVPERF_BUILD_SHARED=OFF -DUVPERF_BUILD_TESTS=OFF -DUVPERF_BUILD_SAMPLES=ON \
    -DUVPERF_BUILD_TOOLS=ON -DUVPERF_SANITIZE= || return 1
  if [ -n "$all" ]; then
    setup_make "$build"
  else
    setup_make "$build" tool_profile sample_workload
  fi
}

# The workload ends by itself if it is not killed.
profile_machine() {
  "$build/samples/workload" $((seconds + 5)) &
  workload=$!
  trap 'kill "$workload" 2>/dev/null' EXIT
  profile -a
}

profile() {
  rm -f "$graph"
  "$tools/uvperf-profile" -F 999 -d "$seconds" --html "$graph" "$@"
}

# Prints the commands to try next.
name_others() {
  if [ -z "$all" ]; then
    echo "To profile a command of yours: $tools/uvperf-profile command..."
    echo "More tools (stat, record, trace, watch ...):" \
      "sh samples/run.sh --all builds them."
    return
  fi
  echo "All tools are in $tools: try --help with each."
}

paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
if [ -z "$paranoid" ]; then
  echo "This kernel has no perf events:" \
    "/proc/sys/kernel/perf_event_paranoid is not there." >&2
  exit 1
fi

setup_require compiler make cmake pkg-config libuv libdw libiberty \
  libprotobuf-c protoc-c zlib
echo "Building uvperf-profile in $build ..."
if ! build_profiler; then
  echo "The build failed." >&2
  exit 1
fi

tools=$build/samples/tools
graph=$build/profile.html
# Ctrl-C ends the profiler, which then prints what it has.
trap : INT
if may_see_machine; then
  echo "Profiling this machine for $seconds seconds, and a workload on it," \
    "which does:"
  echo "  $shares."
  profile_machine || exit
else
  echo "Profiling a workload for $seconds seconds, which does:"
  echo "  $shares."
  echo "Root (or CAP_PERFMON, or perf_event_paranoid at 0 instead of" \
    "$paranoid) would show the whole machine and the kernel."
  profile -- "$build/samples/workload" $((seconds + 5)) || exit
fi
name_others
echo "Flame graph: $graph"
