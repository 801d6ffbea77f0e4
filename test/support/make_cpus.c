/* SPDX-License-Identifier: MIT */
#include "make_cpus.h"

#include "make_host.h"
#include "support.h"

/* Counts the directories that were made. */
static unsigned generation;

void make_cpus_list(const char *list) {
  make_host_write("/sys/devices/system/cpu/online", list);
}

void make_cpus_bring_up(int cpu) {
  char name[64], path[128], old[128], away[128];

  snprintf(name, sizeof(name), "/new/%u/core_id", ++generation);
  make_host_write(name, "0\n");
  snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/online", cpu);
  make_host_write(name, "1\n");
  snprintf(path, sizeof(path), "%s/new/%u", make_host_root(), generation);
  snprintf(old, sizeof(old), "%s/sys/devices/system/cpu/cpu%d/topology",
           make_host_root(), cpu);
  /* Kept, so that its inode is not used again. */
  snprintf(away, sizeof(away), "%s/new/%u-old", make_host_root(), generation);
  assert_true(rename(old, away) == 0 || errno == ENOENT);
  assert_int_equal(rename(path, old), 0);
}

void make_cpus_take_down(int cpu) {
  char old[128], away[128];

  snprintf(old, sizeof(old), "%s/sys/devices/system/cpu/cpu%d/topology",
           make_host_root(), cpu);
  snprintf(away, sizeof(away), "%s/new/%u-away", make_host_root(),
           ++generation);
  assert_int_equal(rename(old, away), 0);
}

int make_cpus_begin(int nr) {
  char list[32];
  int cpu;

  if (make_host_setup(NULL) != 0)
    return -1;
  generation = 0;
  for (cpu = 0; cpu < nr; cpu++)
    make_cpus_bring_up(cpu);
  snprintf(list, sizeof(list), nr > 1 ? "0-%d\n" : "%d\n", nr - 1);
  make_cpus_list(list);
  return 0;
}

int make_cpus_end(void) {
  return make_host_teardown(NULL);
}
