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
unit/event/test_control*.c, live/ for all live tests, tools/stat, checks.sh,
docs.sh, install.sh, samples.sh. Without a pattern it builds and runs
everything, and installs missing packages with apt.

Failed tests are listed before skipped ones; the last line is "N passed,
N failed, N skipped". The exit code is not 0 if a test failed, or skipped
without a reason, or, as root, skipped without being listed in test/skips.txt.

UVPERF_BUILD_DIR  where to build, instead of build/test
UVPERF_SANITIZE   the sanitizers, instead of address,undefined; may be empty
CC, CFLAGS, LDFLAGS, CMAKE_PREFIX_PATH, PKG_CONFIG_LIBDIR
                  as for cmake; always the same in one build directory
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
. "$root/test/runner.sh"

build=${UVPERF_BUILD_DIR:-$root/build/test}
sanitizers=${UVPERF_SANITIZE-address,undefined}
skips=$root/test/skips.txt
run_seconds=3000
program_seconds=200

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

# Mounts a cgroup v2 hierarchy for the tests if root finds none, and unmounts it
# when the run ends.
mount_cgroup2() {
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
  echo 'int main(void) { return 0; }' |
    ${CC:-cc} -fsanitize=address -x c - -o "$results/leaks" &&
    ASAN_OPTIONS=detect_leaks=1 "$results/leaks" >/dev/null 2>&1 && return
  leaks=0
  echo "LeakSanitizer does not work here: leaks are not checked."
}

configure() {
  names=$(echo "$tests" | cut -d ' ' -f 2 | paste -s -d ';' -)
  setup_configure "$build" -DUVPERF_WERROR=ON -DUVPERF_BUILD_TESTS=ON \
    "-DUVPERF_SANITIZE=$sanitizers" -DUVPERF_BUILD_SHARED=OFF \
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

# Builds what the tests need: with sanitizers everything, or the requested
# programs; and, for scripts among them, also a build without sanitizers.
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

setup_require compiler ${sanitizers:+sanitizers} make cmake pkg-config libuv \
  cmocka
[ $# -eq 0 ] && setup_wish libtraceevent libbpf clang bpftool node meson abidiff \
  libdw libiberty libprotobuf-c protoc-c zlib libzstd chromium \
  zsh bash-completion doxygen mandoc python3
say_privileges
started=$(date +%s)
echo "Building in $build."
if ! build_for "$@"; then
  echo "The build failed."
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

leaks=1
build=$(cd "$build" && pwd) || exit 1
results=$build/results
rm -rf "$results" && mkdir "$results" && : >"$results/all" || exit 1
[ -z "$sanitizers" ] || choose_leak_check
mount_cgroup2
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
        skip_program "$name"
      fi ;;
  esac
done <<EOF
$tests
EOF
finish
