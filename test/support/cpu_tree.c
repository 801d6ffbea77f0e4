/* SPDX-License-Identifier: MIT */
#include "cpu_tree.h"

#include "support.h"
#include "temp_tree.h"

#include <errno.h>

static struct {
  temp_tree_t *tree;
  unsigned generation;
} sysfs;

void cpu_tree_write(const char *path, const char *text) {
  temp_tree_write(sysfs.tree, path, text);
}

void cpu_tree_list(const char *list) {
  temp_tree_write(sysfs.tree, "/sys/devices/system/cpu/online", list);
}

void cpu_tree_bring_up(int cpu) {
  char name[64], path[128], old[128], away[128];

  snprintf(name, sizeof(name), "/new/%u/core_id", ++sysfs.generation);
  temp_tree_write(sysfs.tree, name, "0\n");
  snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/online", cpu);
  temp_tree_write(sysfs.tree, name, "1\n");
  snprintf(path, sizeof(path), "%s/new/%u", sysfs.tree->root, sysfs.generation);
  snprintf(old, sizeof(old), "%s/sys/devices/system/cpu/cpu%d/topology",
           sysfs.tree->root, cpu);
  /* Kept, so that its inode is not used again. */
  snprintf(away, sizeof(away), "%s/new/%u-old", sysfs.tree->root,
           sysfs.generation);
  assert_true(rename(old, away) == 0 || errno == ENOENT);
  assert_int_equal(rename(path, old), 0);
}

void cpu_tree_take_down(int cpu) {
  char old[128], away[128];

  snprintf(old, sizeof(old), "%s/sys/devices/system/cpu/cpu%d/topology",
           sysfs.tree->root, cpu);
  snprintf(away, sizeof(away), "%s/new/%u-away", sysfs.tree->root,
           ++sysfs.generation);
  assert_int_equal(rename(old, away), 0);
}

int cpu_tree_begin(int nr) {
  void *tree = NULL;
  char list[32];
  int cpu;

  if (temp_tree_setup(&tree) != 0)
    return -1;
  sysfs.tree = tree;
  sysfs.generation = 0;
  for (cpu = 0; cpu < nr; cpu++)
    cpu_tree_bring_up(cpu);
  snprintf(list, sizeof(list), nr > 1 ? "0-%d\n" : "%d\n", nr - 1);
  cpu_tree_list(list);
  return 0;
}

int cpu_tree_end(void) {
  void *tree = sysfs.tree;

  sysfs.tree = NULL;
  return temp_tree_teardown(&tree);
}

const char *cpu_tree_root(void) {
  return sysfs.tree->root;
}
