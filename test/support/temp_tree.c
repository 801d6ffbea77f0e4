/* SPDX-License-Identifier: MIT */
#include "temp_tree.h"
#include "support.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *ftw) {
  (void)status;
  (void)type;
  (void)ftw;
  return remove(path);
}

int temp_tree_setup(void **state) {
  temp_tree_t *tree = calloc(1, sizeof(*tree));

  if (tree == NULL)
    return -1;
  snprintf(tree->root, sizeof(tree->root), "/tmp/uvperf-XXXXXX");
  *state = tree;
  return mkdtemp(tree->root) == NULL ? -1 : 0;
}

int temp_tree_teardown(void **state) {
  temp_tree_t *tree = *state;
  int rc = nftw(tree->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);

  free(tree);
  return rc;
}

/* The full path, after making its directories. */
static void make_way(const temp_tree_t *tree, const char *path,
                     char full[PATH_MAX]) {
  char *slash;

  snprintf(full, PATH_MAX, "%s%s", tree->root, path);
  slash = full + strlen(tree->root);
  while ((slash = strchr(slash + 1, '/')) != NULL) {
    *slash = '\0';
    assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
    *slash = '/';
  }
}

void temp_tree_write(const temp_tree_t *tree, const char *path,
                     const char *text) {
  temp_tree_write_bytes(tree, path, text, strlen(text));
}

void temp_tree_write_bytes(const temp_tree_t *tree, const char *path,
                           const void *bytes, size_t size) {
  char full[PATH_MAX];
  FILE *file;

  make_way(tree, path, full);
  file = fopen(full, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

void temp_tree_link(const temp_tree_t *tree, const char *path,
                    const char *target) {
  char full[PATH_MAX];

  make_way(tree, path, full);
  assert_int_equal(symlink(target, full), 0);
}

int temp_tree_machine_setup(void **state) {
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

  if (temp_tree_setup(state) != 0)
    return -1;
  for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
    temp_tree_write(*state, files[i].path, files[i].text);
  return 0;
}
