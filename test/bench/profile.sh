#!/bin/sh
# SPDX-License-Identifier: MIT
# The cost of uvperf-profile on a busy machine, compared with perf record:
#
#   profile.sh [SECONDS]    of each measurement, 60 by default
#
# The work is building the library with two jobs, as often as takes that long:
# without a profiler, below uvperf-profile -a, and below perf record -a, at 999
# samples a second and CPU, with call chains. Prints how long the work took, the
# CPU time of each profiler with its children until it has ended, and how many
# samples it lost. The time of perf report comes on top, while uvperf-profile
# has already named its functions when it ends. Needs root (or CAP_PERFMON) and
# perf(1).
#
# UVPERF_BUILD_DIR is where to build (build/bench-profile), CC the compiler.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/test/setup.sh"

build=${UVPERF_BUILD_DIR:-$root/build/bench-profile}
seconds=${1:-60}

setup_require compiler make cmake pkg-config libuv libdw libiberty \
  libprotobuf-c protoc-c zlib perf
echo "Building in $build."
if ! setup_build "$build" -DCMAKE_BUILD_TYPE=Release -DUVPERF_BUILD_TESTS=OFF \
  -DUVPERF_BUILD_SHARED=OFF -DUVPERF_BUILD_TOOLS=ON -DUVPERF_SANITIZE=; then
  echo "The build failed."
  exit 1
fi
profile=$build/samples/tools/uvperf-profile

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# perf(1) keeps copies of files there.
export HOME="$scratch"
mkdir "$scratch/source"
(cd "$root" && tar cf - CMakeLists.txt include lib) |
  (cd "$scratch/source" && tar xf -)

now() {
  date +%s%N | sed 's/......$//'
}

# Each is a build from nothing, without ccache.
work() {
  i=0
  while [ "$i" -lt "$times" ]; do
    rm -rf "$scratch/work"
    cmake -S "$scratch/source" -B "$scratch/work" -DUVPERF_BUILD_TESTS=OFF \
      -DUVPERF_BUILD_SAMPLES=OFF -DUVPERF_BUILD_TOOLS=OFF \
      -DCMAKE_C_COMPILER_LAUNCHER= >"$scratch/log" 2>&1
    cmake --build "$scratch/work" -j2 >>"$scratch/log" 2>&1 || cat "$scratch/log"
    i=$((i + 1))
  done
}

# The duration of the work in ms.
time_work() {
  begun=$(now)
  work
  echo $(($(now) - begun))
}

# Prints the CPU time of a command and of all its children, in ms. Its pid goes
# to $scratch/pid.
cpu_of() {
  sh -c '
    sh -c "echo \$\$ >\"\$HOME/pid\"; exec \"\$@\"" sh "$@" >&2
    times
  ' sh "$@" | awk '
    function ms(text, parts) {
      sub("s$", "", text)
      split(text, parts, "m")
      return (parts[1] * 60 + parts[2]) * 1000
    }
    NR == 2 { printf "%d\n", ms($1) + ms($2) }'
}

# Runs a profiler during the work: beside command…. Sets took and cpu.
beside() {
  rm -f "$scratch/pid"
  cpu_of "$@" >"$scratch/cpu" 2>"$scratch/said" &
  profiler=$!
  while [ ! -s "$scratch/pid" ]; do sleep 0.1; done
  # Both take some time to start.
  sleep 2
  took=$(time_work)
  if ! kill -TERM "$(cat "$scratch/pid")"; then
    cat "$scratch/said"
    exit 1
  fi
  wait "$profiler" || true
  cpu=$(cat "$scratch/cpu")
}

row() {
  printf '%-16s %10s %8s %10s %10s %8s\n' "$@"
}

# ratio A B: A/B with two digits.
ratio() {
  awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}

in_seconds() {
  awk "BEGIN { printf \"%.2f s\", $1 / 1000 }"
}

times=1
time_work >/dev/null
once=$(time_work)
times=$(((seconds * 1000 + once - 1) / once))
echo "The work is $times builds of the library."
row "" work ratio "CPU time" samples lost
alone=$(time_work)
row "nothing" "$(in_seconds "$alone")" 1.00 "" "" ""

beside "$profile" -a -F 999 -g
ours=$cpu
sum=$(sed -n 's/^\([0-9]*\) samples, .* \([0-9]*\) lost$/\1 \2/p' \
  "$scratch/said")
row uvperf-profile "$(in_seconds "$took")" "$(ratio "$took" "$alone")" \
  "$(in_seconds "$cpu")" "${sum% *}" "${sum#* }"

data=$scratch/perf.data
beside perf record -q -a -F 999 -g -o "$data"
theirs=$cpu
samples=$(perf report -i "$data" --stats 2>/dev/null |
  awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }')
lost=$(perf script -i "$data" --show-lost-events -F event 2>/dev/null |
  awk '/PERF_RECORD_LOST/ { sum += $NF } END { print sum + 0 }')
row "perf record" "$(in_seconds "$took")" "$(ratio "$took" "$alone")" \
  "$(in_seconds "$cpu")" "$samples" "$lost"
report=$(cpu_of perf report --stdio -i "$data" 2>/dev/null)
row "perf report" "" "" "$(in_seconds "$report")" "" ""
echo "uvperf-profile took $(ratio "$ours" "$theirs") of the CPU time of perf" \
  "record, $(ratio "$ours" $((theirs + report))) of that with perf report."
