#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the output of samples/run.sh: the profile of a workload whose functions
# are known, and a flame graph of it.
#
#   samples.sh build-directory results
#
# builds in this directory, where nearly all is built already, and writes the
# results to the file of results, see check.sh.
#
# The checks are called by name:
# shellcheck disable=SC2317
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
results=$2
. "$root/test/setup.sh"
. "$root/test/check.sh"
output=$results.output
UVPERF_BUILD_DIR=$1
export UVPERF_BUILD_DIR
none=$results.none # is not made

# Runs a command, with its output in a file that is shown as well.
shown() {
  "$@" >"$output" 2>&1
  rc=$?
  cat "$output"
  return "$rc"
}

help() {
  UVPERF_BUILD_DIR=$none shown sh "$root/samples/run.sh" --help &&
    grep -q '^usage: ' "$output" && [ ! -e "$none" ]
}

refusal() {
  UVPERF_BUILD_DIR=$none shown sh "$root/samples/run.sh" --al
  [ $? -eq 2 ] && grep -q '^usage: ' "$output" && [ ! -e "$none" ]
}

# The shares of the workload's functions in the table: of their sum, each has
# its expected share within 5 points, or 4 standard errors of few samples. Other
# programs may run on the machine, too.
shares() {
  awk '
    BEGIN { want["parse"] = 50; want["compress"] = 30; want["hash"] = 15
            want["count_words"] = 5 }
    $1 ~ /^[0-9.]+%?$/ && $NF in want && !($NF in found) {
      found[$NF] = $3; sum += $3 }
    END {
      for (name in want) {
        share = sum > 0 ? 100 * found[name] / sum : 0
        error = sum > 0 ? sqrt(want[name] * (100 - want[name]) / sum) : 0
        most = 4 * error > 5 ? 4 * error : 5
        if (share < want[name] - most || share > want[name] + most) {
          print name " has " share " % of the workload"; bad = 1
        }
      }
      exit bad || sum < 50
    }' "$output"
}

# The last line names a page that shows the workload.
graph() {
  page=$(sed -n '$s/^Flame graph: //p' "$output")
  [ -s "$page" ] && grep -q compress "$page"
}

# It says how to run the profiler, which is in no PATH.
hint() {
  tool=$(sed -n 's/^To profile a command of yours: \(.*\) command\.\.\.$/\1/p' \
    "$output")
  [ -x "$tool" ]
}

profile() {
  shown sh "$root/samples/run.sh" && shares && graph && hint
}

# In a user namespace of its own, root may not measure the machine.
own() {
  shown unshare -Ur sh "$root/samples/run.sh" && shares && graph &&
    grep -q 'would show the whole machine' "$output"
}

# Ctrl-C after the first second of the profile.
interrupt() {
  (until grep -qs '^Profiling' "$output"; do sleep 0.1; done
   sleep 2; kill -s INT "$(cat "$results.pid")") &
  : >"$output"
  # shellcheck disable=SC2016 # for the inner shell
  shown sh -c 'echo $$ >"$0" && exec timeout -s INT 60 sh "$1"' "$results.pid" \
    "$root/samples/run.sh"
  wait
  shares && graph
}

missing=$(setup_missing libdw libiberty libprotobuf-c protoc-c zlib)
check run_help_builds_nothing help
check run_unknown_option_is_refused refusal
if [ -n "$missing" ]; then
  skip run_shows_the_workload "elfutils, libiberty, protobuf-c and zlib"
else
  check run_shows_the_workload profile
  check run_interrupted_shows_what_it_has interrupt
fi
if [ -z "$missing" ] && unshare -Ur true 2>/dev/null; then
  check run_without_privileges_shows_the_workload own
else
  skip run_without_privileges_shows_the_workload \
    "those libraries, and unshare(1) for a user namespace"
fi
exit $failed
