#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds with sanitizers and warnings as errors, runs the tests, and ends with
# the line "N passed, N failed, N skipped". See usage below.
set -u

usage() {
  cat <<'EOT'
usage: sh test/run.sh [--all] [PATTERN...]

Builds and runs the test programs whose path below test/ contains a PATTERN,
which may have the shell's *, ? and []: event/control for
unit/event/test_control*.c, live/ for all live tests, tools/stat, checks.sh,
docs.sh, install.sh, samples.sh. Without a pattern it builds and runs all but
those that compare with perf(1) for a long time, and installs missing packages
with apt.

Failed tests are listed before skipped ones; the last line is "N passed,
N failed, N skipped". The exit code is not 0 if a test failed, or skipped
without a reason, or, as root, for a reason that test/skips.txt does not list.

  --all           run every program, also those of class "all" in schedule.txt,
                  and install what they compare with: perf(1), compilers
  -h, --help      show this; nothing is built

UVPERF_BUILD_DIR  where to build, instead of build/test
UVPERF_SANITIZE   the sanitizers, instead of address,undefined; may be empty
UVPERF_TEST_JOBS  how many programs run at a time, instead of 4
CC, CFLAGS, LDFLAGS, CMAKE_PREFIX_PATH, PKG_CONFIG_LIBDIR
                  as for cmake; always the same in one build directory

Ninja, ccache and mold are used if they are installed.
EOT
}

all=
for argument; do
  shift
  case $argument in
    -h | --help) usage; exit ;;
    --all) all=1 ;;
    -* | '') usage >&2; exit 2 ;;
    *) set -- "$@" "$argument" ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$root/test/setup.sh"
. "$root/test/runner.sh"

build=${UVPERF_BUILD_DIR:-$root/build/test}
sanitizers=${UVPERF_SANITIZE-address,undefined}
jobs=${UVPERF_TEST_JOBS:-4}
skips=$root/test/skips.txt
run_seconds=3000
program_seconds=900

say_privileges() {
  if [ -r /sys/kernel/tracing/events ]; then
    :
  elif ! is_root; then
    echo "Not root: tests that need tracefs will skip."
  elif mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; then
    echo "Mounted tracefs at /sys/kernel/tracing."
  else
    echo "tracefs cannot be mounted: tests that need it will skip."
  fi
  if ! is_root; then
    echo "Not root, and perf_event_paranoid is" \
      "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo unknown):" \
      "tests that need more privileges will skip."
  fi
}

# Mounts a cgroup v2 hierarchy for the tests if root finds none.
mount_cgroup2() {
  [ "$(id -u)" -eq 0 ] || return
  grep -q '^[^ ]* [^ ]* cgroup2 ' /proc/mounts && return
  cgroup2=$(mktemp -d) || return
  if mount -t cgroup2 none "$cgroup2" 2>/dev/null; then
    echo "Mounted a cgroup v2 hierarchy for as long as the tests run."
  else
    rmdir "$cgroup2"
    cgroup2=
    echo "cgroup v2 cannot be mounted: tests that need it will skip."
  fi
}

# Ends the programs that still run, which are in groups of their own, and
# unmounts the hierarchy.
clean_up() {
  for file in "$results"/*/pid; do
    [ -f "$file" ] && kill -s KILL -- "-$(cat "$file")" 2>/dev/null
  done
  [ -z "$cgroup2" ] || { umount "$cgroup2"; rmdir "$cgroup2"; }
}

# LeakSanitizer needs ptrace, which a container may forbid.
choose_leak_check() {
  echo 'int main(void) { return 0; }' |
    ${CC:-cc} -fsanitize=address -x c - -o "$results/leaks" &&
    ASAN_OPTIONS=detect_leaks=1 "$results/leaks" >/dev/null 2>&1 && return
  leaks=0
  echo "LeakSanitizer does not work here: leaks are not checked."
}

# Without a pattern packages may be new, so CMake searches again.
configure() {
  how=setup_configure_once
  [ -n "$patterns" ] || how=setup_configure
  $how "$build" -DUVPERF_WERROR=ON -DUVPERF_BUILD_TESTS=ON \
    "-DUVPERF_SANITIZE=$sanitizers" -DUVPERF_BUILD_SHARED=OFF \
    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" \
    "-DCMAKE_EXE_LINKER_FLAGS=${LDFLAGS:-}$(setup_fast_linker)" \
    -DUVPERF_BUILD_SAMPLES=ON -DUVPERF_BUILD_TOOLS=ON
}

# Without sanitizers, for scripts, with all that is installed.
build_plain() {
  setup_configure_once "$build/plain" -DUVPERF_WERROR=ON \
    -DUVPERF_BUILD_TESTS=OFF -DUVPERF_SANITIZE= -DUVPERF_BUILD_SHARED=ON \
    -DUVPERF_BUILD_SAMPLES=ON -DUVPERF_BUILD_TOOLS=ON \
    -DUVPERF_INSTALL_TOOLS=ON &&
    setup_make "$build/plain"
}

# Prints the tests that are newer than the list of programs and not in it.
find_new_tests() {
  echo "$tests" | grep '\.c ' | while read -r path name; do
    grep -qxF "$name" "$build/test/programs" ||
      find "$root/test/$path" -newer "$build/test/programs"
  done
}

# Builds what the tests need: with sanitizers everything, or the requested
# programs.
build_for() {
  configure || return 1
  if [ -n "$(find_new_tests)" ]; then
    rm -f "$build/configured"
    configure || return 1
  fi
  case $tests in *.sh*) build_plain || return 1 ;; esac
  if [ -z "$patterns" ]; then
    setup_make "$build"
    return
  fi
  # shellcheck disable=SC2046 # a list
  set -- $(echo "$tests" | cut -d ' ' -f 2 | grep -xF -f - "$build/test/programs")
  [ $# -eq 0 ] || setup_make "$build" "$@"
}

# Prints the names of the tests that schedule.txt has in a class, in its order.
in_class() {
  sed -n "s/^$1 //p" "$root/test/schedule.txt" | grep -xF "$names"
}

# Runs the tests whose names are read: how many at a time.
run_each() {
  xargs -r -n 1 -P "$1" sh "$root/test/run_one.sh"
}

# Prints where the skipped tests run.
count_guests() {
  skipped_tests | awk -F '\t' '
    $1 == "host" || $1 == "nowhere" { nowhere++; next }
    { elsewhere++ }
    END {
      if (elsewhere)
        print elsewhere " skipped tests run only in an emulated machine:" \
          " sh test/vm/run.sh --skipped runs them."
      if (nowhere)
        print nowhere " skipped tests run neither here nor there."
    }'
}

patterns=$*
tests=$(asked_for "$@") || exit
if [ $# -eq 0 ]; then
  tests=$(all_tests)
else
  # Each once, in the usual order.
  tests=$(all_tests | grep -xF "$tests")
fi

setup_require compiler ${sanitizers:+sanitizers} make cmake pkg-config libuv \
  cmocka
[ $# -eq 0 ] && setup_wish ninja libtraceevent libbpf clang node meson \
  abidiff libdw libiberty libprotobuf-c protoc-c zlib libzstd chromium \
  zsh bash-completion doxygen mandoc python3
[ -n "$all" ] && setup_wish perf c++ clang rustc go strace xz
say_privileges
started=$(date +%s)
echo "Building in $build."
if ! build_for; then
  echo "The build failed."
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
echo "Built in $(($(date +%s) - started)) seconds."

leaks=1
build=$(cd "$build" && pwd) || exit 1
results=$build/results
rm -rf "$results" && mkdir "$results" || exit 1
[ -z "$sanitizers" ] || choose_leak_check
cgroup2=
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
mount_cgroup2
unset CMOCKA_TEST_ABORT
export root build results skips started run_seconds program_seconds
export CMOCKA_MESSAGE_OUTPUT=xml
# cmocka would catch SIGSEGV and hide the stack.
export ASAN_OPTIONS="handle_segv=2:detect_leaks=$leaks:exitcode=99"
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
export TSAN_OPTIONS=exitcode=99:second_deadlock_stack=1

names=$(echo "$tests" | cut -d ' ' -f 2)
left_out=0
if [ -z "$patterns$all" ]; then
  left_out=$(in_class all | wc -l)
  names=$(echo "$names" | grep -vxF "$(in_class all)")
fi
alone=$(in_class alone)
{
  in_class first
  echo "$names"
} | awk '!seen[$0]++' | grep -vxF "$alone" | run_each "$jobs"
echo "$alone" | run_each 1

cat "$results"/*/notes >"$results/all"
count_guests
[ "$left_out" -eq 0 ] ||
  echo "$left_out programs were left out; sh test/run.sh --all runs them too."
finish
