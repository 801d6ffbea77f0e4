#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds with sanitizers and warnings as errors, runs the tests, and ends with
# the line "N passed, N failed, N skipped". See usage below.
set -u

usage() {
  cat <<'EOF'
usage: sh test/run.sh [PATTERN...]

Builds and runs the test programs whose path below test/ contains a PATTERN,
which may have the shell's *, ? and []: event/control for
unit/event/test_control*.c, live/ for all that is live, tools/stat, checks.sh,
install.sh. Without a pattern it builds and runs everything, and installs with
apt what it needs for that and does not find.

Failed tests are listed before skipped ones; the last line is "N passed,
N failed, N skipped". The exit code is not 0 if a test failed, or skipped
without a reason, or, as root, skipped without being listed in test/skips.txt.

UVPERF_BUILD_DIR  where to build, instead of build/test
CC                the compiler
EOF
}

for argument in "$@"; do
  case $argument in
    -h | --help) usage; exit ;;
    -* | '') usage >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$root/test/setup.sh"

build=${UVPERF_BUILD_DIR:-$root/build/test}
run_seconds=1200
program_seconds=100

# Prints all tests in the order in which they run: the path below test/, and
# what its program is called, as CMakeLists.txt calls it.
all_tests() {
  (cd "$root/test" && ls checks.sh install.sh &&
    ls unit/*/test_*.c live/test_*.c tools/*/test_*.c peers/test_*.c) | awk '{
      name = $0; sub("/test_", "/", name); sub(/\.[a-z]*$/, "", name)
      gsub("/", "_", name); print $0, name }'
}

# Prints those tests that have a pattern in their path, with "test_" or without,
# or in the name of their program.
matching() {
  all_tests | while read -r path name; do
    # shellcheck disable=SC2254 # a pattern
    case "$path ${path%test_*}${path##*test_} $name" in
      *$1*) echo "$path $name" ;;
    esac
  done
}

# Prints the tests that were asked for, or says that a pattern has none.
asked_for() {
  for pattern in "$@"; do
    matches=$(matching "$pattern")
    if [ -z "$matches" ]; then
      echo "test/run.sh: no test has '$pattern' in its path: see" \
        "ls test/unit/*/ test/live/ test/tools/*/ test/peers/" >&2
      exit 2
    fi
    echo "$matches"
  done
}

# Prints why a program was not built: what it needs that may be missing.
lacks() {
  case $1 in
    unit_tracepoint_* | peers_perf_tracepoint | tools_trace_fields_named)
      echo "needs libtraceevent" ;;
    tools_bpf-output_*)
      echo "needs the sample bpf-output (clang, bpftool, libbpf)" ;;
    peers_libbpf_*)
      echo "needs libbpf" ;;
  esac
}

# One line per test: passed, failed or skipped, its name, why, and its program,
# with tabs between them.
note() {
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$program" >>"$results/all"
}

# Prints the counts and ends. Everything else has been said before.
finish() {
  awk -F '\t' '
    $1 == "skipped" { skips = skips "\n  " $2 ": " $3 }
    $1 == "failed" { failures = failures "\n  " $4 ", " $2 ": " $3 }
    { n[$1]++ }
    END {
      if (failures != "") print "failed:" failures
      if (skips != "") print "skipped:" skips
      printf "%d passed, %d failed, %d skipped\n", \
        n["passed"], n["failed"], n["skipped"]
      exit n["failed"] > 0 || n["passed"] == 0
    }' "$results/all"
  exit $?
}

say_privileges() {
  if [ -r /sys/kernel/tracing/events ]; then
    :
  elif [ "$(id -u)" -ne 0 ]; then
    echo "Not root: tests that need tracefs will skip."
  elif mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; then
    echo "Mounted tracefs at /sys/kernel/tracing."
  else
    echo "tracefs cannot be mounted: tests that need it will skip."
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "Not root, and perf_event_paranoid is" \
      "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo unknown):" \
      "tests that need more privileges will skip."
  fi
}

# Lends the tests a cgroup v2 hierarchy where root finds none mounted, and takes
# it away when the run ends.
lend_cgroup2() {
  [ "$(id -u)" -eq 0 ] || return
  grep -q '^[^ ]* [^ ]* cgroup2 ' /proc/mounts && return
  cgroup2=$(mktemp -d) || return
  if mount -t cgroup2 none "$cgroup2" 2>/dev/null; then
    trap 'umount "$cgroup2"; rmdir "$cgroup2"' EXIT
    trap 'exit 1' INT TERM HUP
    echo "Mounted a cgroup v2 hierarchy for as long as the tests run."
  else
    rmdir "$cgroup2"
    echo "cgroup v2 cannot be mounted: tests that need it will skip."
  fi
}

# LeakSanitizer needs ptrace, which a container may forbid.
choose_leak_check() {
  leaks=1
  echo 'int main(void) { return 0; }' |
    ${CC:-cc} -fsanitize=address -x c - -o "$results/leaks" &&
    ASAN_OPTIONS=detect_leaks=1 "$results/leaks" >/dev/null 2>&1 && return
  leaks=0
  echo "LeakSanitizer does not work here: leaks are not looked for."
}

# Runs a command in a process group of its own, of which nothing is left
# afterwards. A hang ends with SIGSEGV, so that ASan shows where it was.
run_in_group() {
  # shellcheck disable=SC2016 # for the inner shell
  sh -c 'echo $$ >"$0" && exec timeout "$@"' "$results/pid" \
    -s SEGV -k 5 "$limit" "$@" >"$output" 2>&1 </dev/null
  rc=$?
  kill -s KILL -- "-$(cat "$results/pid")" 2>/dev/null
}

# Turns cmocka's XML into lines of state, tab, name, tab and message. A suite
# with more errors than its tests have is one whose group setup failed.
read_xml() {
  awk '
    function attribute(name) {
      if (!match($0, " " name "=\"[^\"]*"))
        return ""
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    }
    function add_message(text) {
      in_message = !sub(/\]\]>.*/, "", text)
      gsub(/\t/, " ", text)
      message = message (message == "" ? "" : " | ") text
    }
    in_message { add_message($0); next }
    /^ *<testsuite / {
      suite = attribute("name")
      bad = attribute("failures") + attribute("errors")
    }
    /^ *<testcase / {
      name = attribute("name"); state = "passed"; message = ""
    }
    /^ *<failure/ { state = "failed"; bad-- }
    /^ *<failure><!\[CDATA\[/ { add_message(substr($0, index($0, "CDATA[") + 6)) }
    /^ *<skipped/ { state = "skipped" }
    /^ *<\/testcase>/ { print state "\t" name "\t" message }
    /^ *<\/testsuite>/ { if (bad > 0) print "failed\t" suite "\tgroup setup" }
  ' "$1"
}

# Notes a skip, if it is allowed: for root that is a line "name: reason" of
# skips.txt, so that a listed test may not skip for any other reason.
note_skip() {
  if [ -z "$2" ]; then
    note failed "$1" "skipped without a reason"
  elif [ "$(id -u)" -eq 0 ] &&
    ! grep -qxF "$1: $2" "$root/test/skips.txt"; then
    note failed "$1" "skipped, and is not in skips.txt: $2"
  else
    note skipped "$1" "$2"
  fi
}

# The reason is what the test printed: "skipped: name: needs what".
judge_skip() {
  note_skip "$1" "$(sed -n "s/^skipped: $1: //p" "$output" | head -n 1)"
}

# Notes what a program did: what it told of its tests, and how it ended. 99 is
# the exit code of the sanitizers here, those above are timeout's and signals'.
judge() {
  while IFS='	' read -r state test message; do
    if [ "$state" = skipped ]; then
      judge_skip "$test"
    else
      note "$state" "$test" "$message"
    fi
  done <"$results/tests"
  if [ "$rc" -eq 124 ]; then
    note failed "$1" "hung: ended after $limit seconds"
  elif [ "$rc" -ge 99 ]; then
    note failed "$1" "died or leaked (exit code $rc)"
  elif [ ! -s "$results/tests" ]; then
    note failed "$1" "ended without a result (exit code $rc)"
  elif [ "$rc" -ne 0 ] && ! grep -q '^failed' "$results/tests"; then
    note failed "$1" "exit code $rc, though no test failed"
  fi
}

# Says what was noted of a program, with its output if a test failed.
say() {
  tail -n "+$((before + 1))" "$results/all" >"$results/noted"
  awk -F '\t' -v program="$1" '
    { n[$1]++ }
    END {
      line = sprintf("%-36s %3d passed", program, n["passed"])
      if (n["failed"]) line = line ", " n["failed"] " failed"
      if (n["skipped"]) line = line ", " n["skipped"] " skipped"
      print line
    }' "$results/noted"
  if grep -q '^failed' "$results/noted"; then
    tail -n 200 "$output" | sed 's/^/    /'
  fi
}

# Runs and judges one program within the time that is left: run name command …
run() {
  program=$1
  shift
  before=$(wc -l <"$results/all")
  limit=$((started + run_seconds - $(date +%s)))
  [ "$limit" -gt "$program_seconds" ] && limit=$program_seconds
  if [ "$limit" -le 0 ]; then
    note failed "$program" "not run: $run_seconds seconds are over"
    return
  fi
  output=$results/$program.output
  : >"$results/tests"
  export CMOCKA_XML_FILE="$results/$program.xml"
  run_in_group "$@"
  [ -f "$CMOCKA_XML_FILE" ] && read_xml "$CMOCKA_XML_FILE" >"$results/tests"
  judge "$program"
  say "$program"
}

# The same for a program that was not built: skip_program name reason
skip_program() {
  program=$1
  before=$(wc -l <"$results/all")
  output=/dev/null
  note_skip "$1" "$2"
  say "$1"
}

configure() {
  names=$(echo "$tests" | cut -d ' ' -f 2 | paste -s -d ';' -)
  setup_configure "$build" -DUVPERF_WERROR=ON -DUVPERF_BUILD_TESTS=ON \
    -DUVPERF_SANITIZE=address,undefined -DUVPERF_BUILD_SHARED=OFF \
    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g" \
    -DUVPERF_BUILD_SAMPLES=ON -DUVPERF_BUILD_TOOLS=ON \
    "-DUVPERF_TESTS_ASKED_FOR=$names"
}

build_plain() {
  setup_configure "$build/plain" -DUVPERF_WERROR=ON -DUVPERF_BUILD_TESTS=OFF \
    -DUVPERF_SANITIZE= -DUVPERF_BUILD_SHARED=ON \
    -DUVPERF_BUILD_SAMPLES=ON -DUVPERF_BUILD_TOOLS=ON \
    -DUVPERF_INSTALL_TOOLS=ON &&
    setup_make "$build/plain"
}

# Whether a program is among those that CMake builds here.
is_built() {
  grep -qxF "$1" "$build/test/programs"
}

# Builds what the tests need: with sanitizers all, or what was asked for, and,
# for the scripts among them, without.
build_for() {
  configure || return 1
  case $tests in *.sh*) build_plain || return 1 ;; esac
  if [ $# -eq 0 ]; then
    setup_make "$build"
  else
    setup_make "$build" tests_asked_for
  fi
}

tests=$(asked_for "$@") || exit
if [ $# -eq 0 ]; then
  tests=$(all_tests)
else
  # Each once, in the usual order.
  tests=$(all_tests | grep -xF "$tests")
fi

setup_require compiler sanitizers make cmake pkg-config libuv cmocka
[ $# -eq 0 ] && setup_wish libtraceevent libbpf clang bpftool node
say_privileges
started=$(date +%s)
echo "Building in $build."
if ! build_for "$@"; then
  echo "The build failed."
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

build=$(cd "$build" && pwd) || exit 1
results=$build/results
rm -rf "$results" && mkdir "$results" && : >"$results/all" || exit 1
choose_leak_check
lend_cgroup2
unset CMOCKA_TEST_ABORT
export CMOCKA_MESSAGE_OUTPUT=xml
# cmocka would catch SIGSEGV and hide the stack.
export ASAN_OPTIONS="handle_segv=2:detect_leaks=$leaks:exitcode=99"
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99

while read -r path name; do
  case $path in
    *.sh) run "$name" sh "$root/test/$path" "$build/plain" "$results/tests" ;;
    *)
      if is_built "$name"; then
        run "$name" "$build/test/$name"
      else
        skip_program "$name" "$(lacks "$name")"
      fi ;;
  esac
done <<EOF
$tests
EOF
finish
