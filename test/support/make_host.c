/* SPDX-License-Identifier: MIT */
#include "make_host.h"

#include "support.h"
#include "make_tree.h"

static make_tree_t *make_host;

int make_host_setup(void **state) {
  void *made = NULL;
  int rc = make_tree_setup(&made);

  make_host = made;
  if (rc == 0)
    fake_host_set(make_host->root);
  return rc;
}

int make_host_teardown(void **state) {
  void *made = make_host;

  make_host = NULL;
  fake_host_set(NULL);
  return make_tree_teardown(&made);
}

const char *make_host_root(void) {
  return make_host->root;
}

void make_host_write(const char *path, const char *text) {
  make_tree_write(make_host, path, text);
}

void make_host_write_bytes(const char *path, const void *bytes, size_t size) {
  make_tree_write_bytes(make_host, path, bytes, size);
}

void make_host_link(const char *path, const char *target) {
  make_tree_link(make_host, path, target);
}

int make_host_machine_setup(void **state) {
  static const struct {
    const char *path;
    const char *text;
  } files[] = {
      {"/proc/sys/kernel/perf_event_paranoid", "2\n"},
      {"/proc/sys/kernel/perf_event_mlock_kb", "516\n"},
      {"/proc/sys/kernel/perf_event_max_sample_rate", "50000\n"},
      {"/proc/sys/kernel/perf_event_max_stack", "127\n"},
      {"/proc/sys/kernel/osrelease", "6.1.0-9-amd64\n"},
      {"/proc/self/status",
       "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n"
       "Seccomp:\t0\nVmPin:\t      64 kB\n"},
      {"/proc/self/uid_map", "         0          0 4294967295\n"},
      {"/proc/sys/fs/file-max", "100000\n"},
      {"/proc/sys/vm/max_map_count", "65530\n"},
      {"/proc/77/status", "Uid:\t0\t0\t0\t0\n"},
      {"/proc/78/status", "Uid:\t1000\t1000\t1000\t1000\n"},
      {"/proc/79/status", "Uid:\t1000\t0\t0\t0\n"},
      {"/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"
                        "cpu\t0\t1\t1\nperf_event\t0\t1\t1\n"},
      {"/sys/devices/system/cpu/online", "0-1\n"},
      {"/sys/devices/system/cpu/possible", "0-3\n"},
      {"/sys/bus/event_source/devices/uprobe/type", "8\n"},
      {"/sys/bus/event_source/devices/msr/type", "9\n"},
      {"/sys/bus/event_source/devices/kprobe/type", "6\n"},
      {"/sys/bus/event_source/devices/uncore_imc/type", "20\n"},
      {"/sys/bus/event_source/devices/uncore_imc/cpumask", "0,64\n"},
      {"/sys/kernel/tracing/events/header_page", "a file, not a group\n"},
      {"/sys/kernel/tracing/events/sched/filter", "0\n"},
      {"/sys/kernel/tracing/events/sched/sched_switch/id", "316\n"},
      {"/sys/kernel/tracing/events/ftrace/function/id", "1\n"},
  };
  size_t i;

  if (make_host_setup(state) != 0)
    return -1;
  for (i = 0; i < COUNT_OF(files); i++)
    make_host_write(files[i].path, files[i].text);
  return 0;
}
