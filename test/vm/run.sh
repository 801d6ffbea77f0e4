#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests in machines of other kinds, which QEMU emulates. See usage
# below.
set -u

usage() {
  cat <<'EOT'
usage: sh test/vm/run.sh [MACHINE...] [PATTERN...]
       sh test/vm/run.sh --skipped

Boots emulated machines and runs test programs there: those whose path below
test/ contains a PATTERN, as in test/run.sh. Without a pattern it runs all but
those that take too long there, which are listed as skipped. That takes a quarter
of an hour to an hour for each machine.

  aarch64     4 CPUs with a hardware PMU (armv8_pmuv3); the default
  aarch64-rt  the same with a PREEMPT_RT kernel; without a pattern not unit/,
              which does not depend on it
  armv7       2 CPUs, a 32-bit kernel
  s390x       2 CPUs, big-endian
  x86_64      8 CPUs, with kprobes

Kernels, libraries and the guest's programs are fetched by apt into build/vm, of
the distribution that the host's apt knows, which has to be Debian; remove that
directory to have them fetched anew. Nothing foreign is installed on the host:
only QEMU, a cross compiler, cpio and what building needs are. If these cannot be
had, it says so and skips the machine.

Failed tests are listed before skipped ones; the last line is "N passed,
N failed, N skipped". A test may skip for a reason in test/skips.txt or, for its
machine, in test/vm/skips.txt.

With --skipped it boots, for the tests that the last run of test/run.sh skipped,
each machine that has what they need, with exactly their programs. It fails if
one of these tests passes neither here nor there, unless the machine lacks
something else that the test needs.

UVPERF_BUILD_DIR  the build of test/run.sh, instead of build/test

UVPERF_VM_DIR   the cache, instead of build/vm: half a gigabyte for each machine
UVPERF_VM_JOBS  how many guests of a machine run at a time, instead of one for
                each CPU; one has 3 GB of memory
EOT
}

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$root/test/setup.sh"
. "$root/test/runner.sh"
. "$root/test/vm/packages.sh"

# Makes the files that the guest's user nobody has to read.
umask 022
cache=${UVPERF_VM_DIR:-$root/build/vm}
jobs=${UVPERF_VM_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}
# Seconds on the host that one boot may take, including its programs.
boot_seconds=3000
# How many programs one boot runs.
batch=40

# Whether a program takes more than a minute in an emulated machine: storms of
# records, and walks over everything in the kernel. $machine is the machine.
is_slow() {
  case $1:$machine in
    live_*_storm:* | live_*_random:* | live_*_race:* | live_*_hot:* | \
      live_*_busy:* | live_name_walk:* | live_oversized:* | \
      unit_name_label_terms:* | unit_host_elf_symbol_damage:aarch64 | \
      live_container_suite:aarch64-rt) return 0 ;;
  esac
  return 1
}

# Sets the properties of a machine: arch, triplet, kernel and its parameters,
# console and qemu, and how many seconds a program may take there.
#
# With -icount, time in the guest is the number of executed instructions: the
# counts of two runs are the same, and a busy host makes no test late. armv7 and
# x86_64 do not boot with it on more than one CPU, and on s390x a CPU that waits
# for another one waits for a minute.
machine() {
  # Seconds of the host, which may be busy.
  icount= program_seconds=900 parameters=
  case $1 in
    aarch64 | aarch64-rt)
      arch=arm64 triplet=aarch64-linux-gnu console=ttyAMA0 cpu=aarch64
      kernel=linux-image-cloud-arm64
      # A second of work takes about ten on the host.
      icount="-icount shift=0,sleep=off" program_seconds=80
      # Waits take longer on a kernel with PREEMPT_RT.
      [ "$1" = aarch64 ] || kernel=linux-image-rt-arm64 program_seconds=120
      qemu="qemu-system-aarch64 -M virt -cpu max -smp 4" ;;
    armv7)
      arch=armhf triplet=arm-linux-gnueabihf console=ttyAMA0 cpu=arm
      kernel=linux-image-armmp-lpae
      qemu="qemu-system-arm -M virt -cpu max -smp 2" ;;
    s390x)
      arch=s390x triplet=s390x-linux-gnu console=ttysclp0 cpu=s390x
      kernel=linux-image-s390x
      qemu="qemu-system-s390x -M s390-ccw-virtio -cpu max -smp 2" ;;
    x86_64)
      arch=amd64 triplet=x86_64-linux-gnu console=ttyS0 cpu=x86_64
      kernel=linux-image-cloud-amd64
      # On a busy host the kernel would switch to a clock of 4 ms.
      parameters=tsc=reliable
      # With a thread for each CPU, interrupts between CPUs get lost.
      qemu="qemu-system-x86_64 -M q35 -accel tcg,thread=single -cpu max -smp 8" ;;
    *) return 1 ;;
  esac
}

# Builds the library, the tools and the requested tests.
build_tests() {
  tree=$cache/$arch/root
  build=$cache/$arch/build
  cat >"$cache/$arch/toolchain.cmake" <<EOT
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $cpu)
set(CMAKE_C_COMPILER $triplet-gcc)
set(CMAKE_SYSROOT "$tree")
set(CMAKE_FIND_ROOT_PATH "$tree")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
EOT
  echo "Building for $arch in $build."
  (
    unset CC PKG_CONFIG_PATH
    export PKG_CONFIG_SYSROOT_DIR="$tree"
    export PKG_CONFIG_LIBDIR="$tree/usr/lib/$triplet/pkgconfig"
    setup_configure "$build" \
      "-DCMAKE_TOOLCHAIN_FILE=$cache/$arch/toolchain.cmake" \
      -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O2" -DUVPERF_WERROR=ON \
      -DUVPERF_BUILD_TESTS=ON -DUVPERF_BUILD_SHARED=OFF \
      -DUVPERF_BUILD_SAMPLES=ON -DUVPERF_BUILD_TOOLS=ON || exit 1
    # shellcheck disable=SC2046 # a list
    set -- $(grep -xF -f "$asked" "$build/test/programs")
    [ $# -eq 0 ] || setup_make "$build" "$@"
  )
}

# Makes an archive that the kernel unpacks as its root: archive directory, the
# names of its files are read.
archive() {
  (cd "$1" && cpio -o -H newc -R 0:0 --quiet)
}

# The root of the guest: the packages without what only building needs.
pack_root() {
  [ -f "$cache/$arch/root.cpio" ] && return
  ln -sf mawk "$cache/$arch/root/usr/bin/awk"
  printf '%s\n' root:x:0:0:root:/root:/bin/sh \
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin \
    >"$cache/$arch/root/etc/passwd"
  printf '%s\n' root:x:0: nogroup:x:65534: >"$cache/$arch/root/etc/group"
  (cd "$cache/$arch/root" && find . -name '*.a' -o -name '*.o' -o -print) |
    grep -vE '^./usr/(include|share/(doc|man|locale|i18n|info))(/|$)' |
    archive "$cache/$arch/root" >"$cache/$arch/root.cpio.new" &&
    mv "$cache/$arch/root.cpio.new" "$cache/$arch/root.cpio"
}

# Everything that was built, and the files that tests read, with their names on
# the host. A test may run other programs.
pack_tests() {
  tree=$results/tree
  mkdir -p "$tree$build/test" "$tree$root/test/support" &&
    cp -R "$root/test/fuzz" "$root/test/runner.sh" "$tree$root/test" &&
    cp -R "$root/test/support/names" "$root/test/support/programs" \
      "$tree$root/test/support" &&
    cp "$root/test/vm/guest.sh" "$tree/init" && chmod +x "$tree/init" || return 1
  for file in "$build"/test/* "$build"/samples/* \
    "$build"/samples/tools/uvperf-*; do
    [ -f "$file" ] && [ -x "$file" ] || continue
    mkdir -p "$tree${file%/*}" && cp "$file" "$tree$file" || return 1
  done
  (cd "$tree" && find . -print) | archive "$tree" |
    cat "$cache/$arch/root.cpio" - >"$results/tests.cpio" && rm -rf "$tree"
}

# What may skip in this machine: what may skip on a host and is missing here,
# and what may skip only here.
list_skips() {
  grep -vE "^(@(all|([^ ]*,)?${machine%-rt}(,[^ ]*)?) |#)" \
    "$root/test/skips.txt"
  sed -nE "s/^(\*|${machine%-rt}|$machine): needs //p" "$root/test/vm/skips.txt"
}

# The difference between boots: $work/programs, and how to run them.
pack_batch() {
  mkdir -p "$work/tree/vm" &&
    cp "$work/programs" "$results/skips.txt" "$work/tree/vm" || return 1
  printf '%s\n' "root='$root'" "build='$build'" \
    "run_seconds=100000" "program_seconds=$program_seconds" \
    >"$work/tree/vm/settings"
  (cd "$work/tree" && find . -print) | archive "$work/tree" |
    cat "$results/tests.cpio" - >"$work/initrd"
}

# Shows how a boot failed, and notes it together with the programs that have no
# result.
note_failure() {
  program=boot
  note failed "$machine" "$1"
  echo "$machine: $1. Its console:"
  tail -n 40 "$work/console" | sed 's/^/    /'
  while read -r program; do
    cut -f 4 "$work/notes" | grep -qxF "$program" ||
      note failed "$program" "no result: $1"
  done <"$work/programs"
}

# Boots a machine with the programs of $work/programs, and shows and notes their
# results.
boot() {
  : >"$work/console" && : >"$work/notes"
  if ! pack_batch; then
    note_failure "the boot's files could not be written"
    return
  fi
  # shellcheck disable=SC2086 # a list
  timeout --foreground -k 5 "$boot_seconds" $qemu $icount -m 3072 \
    -nodefaults -nographic -serial stdio -no-reboot -pidfile "$work/pid" \
    -kernel "$cache/kernels/$kernel/vmlinuz" -initrd "$work/initrd" \
    -append "console=$console quiet panic=-1 loglevel=3 rdinit=/init $parameters" \
    </dev/null 2>&1 | sed -u 's/\r$//' | tee "$work/console" |
    sed -un 's/^> //p'
  sed -n 's/^@//p' "$work/console" >"$work/notes"
  cat "$work/notes" >>"$results/all"
  grep -aqx '# end' "$work/console" ||
    note_failure "the machine did not come to its end in $boot_seconds seconds"
  rm -f "$work/initrd" "$work/pid"
}

# Boots for each batch whose number is $1 modulo the number of workers.
worker() {
  work=$results/worker$1
  mkdir -p "$work"
  for each in "$results"/batch.*; do
    worker_turn=$((worker_turn + 1))
    [ $((worker_turn % jobs)) -eq "$1" ] || continue
    cp "$each" "$work/programs"
    boot
  done
}

run_machine() {
  machine=$1
  machine "$machine"
  results=$cache/results/$machine
  notes=$results/all
  rm -rf "$results" && mkdir -p "$results" && : >"$notes" || return 1
  list_skips >"$results/skips.txt"
  skips=$results/skips.txt
  asked=$results/asked
  echo "$tests" | cut -d ' ' -f 2 | while read -r program; do
    case $patterns:$program:$machine in
      :unit_*:aarch64-rt) continue ;;
    esac
    if [ -z "$patterns" ] && is_slow "$program"; then
      note skipped "$program" "too slow here, unless it is asked for"
    else
      echo "$program"
    fi
  done >"$asked"
  if ! build_tests; then
    echo "The build failed."
    program=build note failed build "see above"
    return
  fi
  if ! pack_root || ! pack_tests; then
    program=build note failed build "the guest's files could not be written"
    return
  fi
  grep -xF -f "$asked" "$build/test/programs" >"$results/programs"
  grep -vxF -f "$results/programs" "$asked" | while read -r program; do
    skip_program "$program"
    cat "$notes" >>"$results/all"
  done
  # Alternating, so that the workers have about the same amount of work.
  count=$(wc -l <"$results/programs")
  boots=$(((count + batch - 1) / batch))
  [ "$boots" -ge "$jobs" ] || boots=$jobs
  awk -v boots="$boots" -v prefix="$results/batch." \
    '{ print > (prefix (NR - 1) % boots) }' "$results/programs"
  nth=0
  while [ "$nth" -lt "$jobs" ]; do
    worker_turn=-1
    worker "$nth" &
    pids="$pids $!"
    nth=$((nth + 1))
  done
  # shellcheck disable=SC2086 # a list
  wait $pids
  pids=
  rm -f "$results/tests.cpio"
}

# Fetches the missing parts of a machine.
fetch() {
  mkdir -p "$cache/$arch" "$cache/kernels" || return 1
  [ "$(cat "$cache/$arch/packages" 2>/dev/null)" = "$packages" ] || make_tree ||
    return 1
  [ -d "$cache/kernels/$kernel" ] || fetch_kernel "$kernel"
}

# Runs the tests in one machine, if that is possible here, and sums up.
try_machine() {
  machine "$1"
  needs="apt-get dpkg-deb make cmake pkg-config cpio ${qemu%% *} $triplet-gcc"
  # Without protoc-c, uvperf-profile is left out.
  # shellcheck disable=SC2086 # a list
  setup_wish $needs protoc-c
  # shellcheck disable=SC2086 # a list
  missing=$(setup_missing $needs)
  [ -n "$missing" ] || fetch || missing="packages that apt cannot fetch here"
  if [ -n "$missing" ]; then
    echo "$1: skipped: needs $missing"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  started=$(date +%s)
  run_machine "$1" || return 1
  echo "$1: $(cat "$cache/kernels/$kernel/release")," \
    "$(($(date +%s) - started)) seconds"
  (finish)
}

# The workers first; otherwise they would boot the next machine.
kill_machines() {
  [ -n "$results" ] || exit 1
  # shellcheck disable=SC2086 # a list
  kill $pids 2>/dev/null
  for each in "$results"/worker*/pid; do
    [ -f "$each" ] && kill "$(cat "$each")"
  done 2>/dev/null
  rm -f "$results/tests.cpio" "$results"/worker*/initrd
  exit 1
}

# Boots each machine for its part of the skipped tests in the file $host, and
# notes which of them passed.
run_skipped() {
  patterns=skipped
  for machine in $(cut -f 1 "$host" | grep -vx -e nowhere -e host | sort -u)
  do
    tests=$(awk -F '\t' -v machine="$machine" \
      '$1 == machine { print "- " $2 }' "$host" | sort -u)
    try_machine "$machine" || code=1
  done
  results=$cache/results/skipped
  notes=$results/all
  rm -rf "$results" && mkdir -p "$results" || exit 1
  while IFS='	' read -r machine program test reason; do
    found=$(awk -F '\t' -v test="$test" -v program="$program" \
      '$2 == test && $4 == program { print $1, $3; exit }' \
      "$cache/results/$machine/all" 2>/dev/null)
    case $machine:$found in
      nowhere:*) note skipped "$test" "$reason" ;;
      *:passed*) note passed "$test" "" ;;
      *:skipped*)
        note skipped "$test" "$reason; and in $machine: ${found#skipped needs }" ;;
      *) note failed "$test" "passed neither here nor in a guest: $reason" ;;
    esac
  done <"$host"
}

machines= skipped=
for argument; do
  shift
  case $argument in
    -h | --help) usage; exit ;;
    --skipped) skipped=1; continue ;;
    -* | '') usage >&2; exit 2 ;;
  esac
  if machine "$argument"; then
    machines="$machines $argument"
  else
    set -- "$@" "$argument"
  fi
done
[ -n "$machines" ] || machines=aarch64
tests=$(asked_for "$@") || exit
patterns=$*
[ $# -gt 0 ] || tests=$(all_tests)
tests=$(all_tests | grep -xF "$tests" | grep -v '\.sh ')
case $tests:$jobs in
  :*) echo "$0: scripts do not run in a guest: name programs" >&2; exit 2 ;;
  *:0 | *:*[!0-9]*) echo "$0: UVPERF_VM_JOBS is not a number" >&2; exit 2 ;;
esac
if ! mkdir -p "$cache" 2>/dev/null || ! cache=$(cd "$cache" && pwd) ||
  [ ! -w "$cache" ]; then
  echo "$0: cannot write to $cache: set UVPERF_VM_DIR to another" >&2
  exit 1
fi

pids= results= code=0
trap kill_machines INT TERM HUP
if [ -n "$skipped" ]; then
  results=${UVPERF_BUILD_DIR:-$root/build/test}/results
  if [ ! -f "$results/all" ]; then
    echo "$0: $results/all is missing: run test/run.sh first" >&2
    exit 1
  fi
  skips=$root/test/skips.txt
  host=$cache/results/host
  mkdir -p "$cache/results" && skipped_tests >"$host" || exit 1
  if ! grep -qv '^nowhere' "$host"; then
    echo "No skipped test has a machine."
    exit
  fi
  run_skipped
  (finish) || code=1
  exit "$code"
fi
for machine in $machines; do
  try_machine "$machine" || code=1
done
exit "$code"
