#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in a guest as its first process: runs the test programs that /vm/settings
# names, and turns the machine off. Lines with "> " on the console are for the
# reader, lines with "@" are the notes of runner.sh.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

mount_all() {
  mkdir -p /proc /sys /dev /tmp /run /root /mnt
  chmod 1777 /tmp
  mount -t proc proc /proc
  mount -t sysfs sysfs /sys
  mount -t devtmpfs devtmpfs /dev
  # Every distribution has these.
  ln -s /proc/self/fd /dev/fd
  ln -s fd/0 /dev/stdin
  ln -s fd/1 /dev/stdout
  ln -s fd/2 /dev/stderr
  echo guest >/etc/hostname
  mkdir -p /dev/pts /dev/shm
  mount -t devpts devpts /dev/pts
  mount -t tmpfs tmpfs /dev/shm
  mount -t tracefs tracefs /sys/kernel/tracing
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  # Until a controller is enabled, new cgroups have no perf_event either.
  echo +pids >/sys/fs/cgroup/cgroup.subtree_control
}

# As in a distribution whose kernel allows more than Debian's: tests of what a
# user may do without privileges need it.
set_sysctls() {
  echo 2 >/proc/sys/kernel/perf_event_paranoid
  # Interrupts take long in the guest: perf_event_max_sample_rate must stay.
  echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
}

run_all() {
  # shellcheck source=/dev/null # written by run.sh
  . /vm/settings
  # shellcheck source=test/runner.sh
  . "$root/test/runner.sh"
  results=/tmp/results
  skips=/vm/skips.txt
  mkdir "$results"
  started=$(date +%s)
  unset CMOCKA_TEST_ABORT
  export CMOCKA_MESSAGE_OUTPUT=xml
  while read -r name; do
    run "$name" "$build/test/$name" | sed 's/^/> /'
    sed "s/^/@/" "$results/$name/notes"
  done </vm/programs
}

mount_all
set_sysctls
export UVPERF_TEST_OFFLINE_CPU=1
run_all 2>&1
echo "# end"
sync
echo o >/proc/sysrq-trigger
sleep 60
