/* SPDX-License-Identifier: MIT */
#include "cpu_tree.h"

#include "host_tree.h"
#include "support.h"

#include <errno.h>

/* Counts the directories that were made. */
static unsigned generation;

void cpu_tree_list(const char *list) {
  host_tree_write("/sys/devices/system/cpu/online", list);
}

void cpu_tree_bring_up(int cpu) {
  char name[64], path[128], old[128], away[128];

  snprintf(name, sizeof(name), "/new/%u/core_id", ++generation);
  host_tree_write(name, "0\n");
  snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/online", cpu);
  host_tree_write(name, "1\n");
  snprintf(path, sizeof(path), "%s/new/%u", host_tree_root(), generation);
  snprintf(old, sizeof(old), "%s/sys/devices/system/cpu/cpu%d/topology",
           host_tree_root(), cpu);
  /* Kept, so that its inode is not used again. */
  snprintf(away, sizeof(away), "%s/new/%u-old", host_tree_root(), generation);
  assert_true(rename(old, away) == 0 || errno == ENOENT);
  assert_int_equal(rename(path, old), 0);
}

void cpu_tree_take_down(int cpu) {
  char old[128], away[128];

  snprintf(old, sizeof(old), "%s/sys/devices/system/cpu/cpu%d/topology",
           host_tree_root(), cpu);
  snprintf(away, sizeof(away), "%s/new/%u-away", host_tree_root(),
           ++generation);
  assert_int_equal(rename(old, away), 0);
}

int cpu_tree_begin(int nr) {
  char list[32];
  int cpu;

  if (host_tree_setup(NULL) != 0)
    return -1;
  generation = 0;
  for (cpu = 0; cpu < nr; cpu++)
    cpu_tree_bring_up(cpu);
  snprintf(list, sizeof(list), nr > 1 ? "0-%d\n" : "%d\n", nr - 1);
  cpu_tree_list(list);
  return 0;
}

int cpu_tree_end(void) {
  return host_tree_teardown(NULL);
}
