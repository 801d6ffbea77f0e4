/* SPDX-License-Identifier: MIT */
#include "host_tree.h"

#include "support.h"
#include "temp_tree.h"

static temp_tree_t *host_tree;

int host_tree_setup(void **state) {
  void *made = NULL;
  int rc = temp_tree_setup(&made);

  (void)state;
  host_tree = made;
  if (rc == 0)
    fake_host_set(host_tree->root);
  return rc;
}

int host_tree_teardown(void **state) {
  void *made = host_tree;

  (void)state;
  host_tree = NULL;
  fake_host_set(NULL);
  return temp_tree_teardown(&made);
}

const char *host_tree_root(void) {
  return host_tree->root;
}

void host_tree_write(const char *path, const char *text) {
  temp_tree_write(host_tree, path, text);
}

void host_tree_write_bytes(const char *path, const void *bytes, size_t size) {
  temp_tree_write_bytes(host_tree, path, bytes, size);
}

void host_tree_link(const char *path, const char *target) {
  temp_tree_link(host_tree, path, target);
}

int host_tree_machine_setup(void **state) {
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

  if (host_tree_setup(state) != 0)
    return -1;
  for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
    host_tree_write(files[i].path, files[i].text);
  return 0;
}
