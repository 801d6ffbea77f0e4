/* SPDX-License-Identifier: MIT */
/* Prints each second what happened in the cgroups directly below a given one,
 * until Ctrl-C. Cgroups and CPUs may come and go: a new cgroup is found within
 * a second, and counted from then on. A cgroup in which nothing ran has counts
 * of 0 that are "did not run". Needs root, CAP_PERFMON or perf_event_paranoid
 * 0, and one fd for each event, cgroup and CPU.
 *
 *   count_cgroups DIRECTORY [EVENTS]      such as /sys/fs/cgroup/system.slice
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <uvperf.h>

typedef struct group_s {
  struct group_s *next;
  ino_t inode; /* a later cgroup of the same name has another */
  enum {
    OPENING,
    OPEN,
    FAILED, /* for as long as its directory is there */
    RETRY
  } state;
  uint32_t target;
  int is_there;
  char name[256];
} group_t;

static group_t *groups;
static const char *parent;

static void fail(const char *what, const char *reason) {
  fprintf(stderr, "%s: %s\n", what, reason);
  exit(1);
}

static void on_group(uvperf_set_t *set, int status, void *data, uint32_t target,
                     const uvperf_error_t *error) {
  group_t *group = data;

  (void)set;
  group->target = target;
  group->state = status == 0 ? OPEN : status == UV_EAGAIN ? RETRY : FAILED;
  if (status == 0 || status == UV_EAGAIN || status == UV_ECANCELED)
    return; /* UV_ECANCELED: the set was closed */
  if (error->cause == UVPERF_CAUSE_PERMISSION)
    fail(group->name, error->reason);
  fprintf(stderr, "%s: %s\n", group->name, error->reason);
}

static void add_group(uvperf_set_t *set, const struct dirent *entry) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  group_t *group = calloc(1, sizeof(*group));
  uvperf_error_t error;
  char path[4096];

  if (group == NULL)
    fail(parent, "out of memory");
  group->inode = entry->d_ino;
  group->is_there = 1;
  snprintf(group->name, sizeof(group->name), "%s", entry->d_name);
  group->next = groups;
  groups = group;
  snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name);
  target.type = UVPERF_TARGET_CGROUP;
  target.cgroup = path;
  target.data = group;
  if (uvperf_set_add(set, &target, on_group, NULL, &error) != 0)
    fail(path, error.reason);
}

/* Finds cgroups that are new, and forgets those that are gone. Returns 0, or -1
 * if the directory cannot be read. All stay if there are no fds to read it. */
static int scan_groups(uvperf_set_t *set) {
  DIR *directory = opendir(parent);
  const struct dirent *entry;
  group_t *group, **place;

  if (directory == NULL && errno != ENOENT)
    return -1;
  for (group = groups; group != NULL; group = group->next)
    group->is_there = 0;
  while (directory != NULL && (entry = readdir(directory)) != NULL) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
      continue;
    for (group = groups; group != NULL; group = group->next)
      if (group->inode == entry->d_ino)
        break;
    if (group != NULL)
      group->is_there = 1;
    else
      add_group(set, entry);
  }
  if (directory != NULL)
    closedir(directory);
  for (place = &groups; (group = *place) != NULL;) {
    if (group->state == OPENING || (group->state != RETRY && group->is_there)) {
      place = &group->next;
      continue;
    }
    if (group->state == OPEN)
      uvperf_set_remove(set, group->target, NULL, NULL);
    *place = group->next;
    free(group);
  }
  return directory != NULL ? 0 : -1;
}

/* Counts events in the cgroups below the directory. `cb` gets the counts of
 * each second, and must call scan_groups. */
static void start_groups(uv_loop_t *loop, uvperf_set_t *set,
                         const char *directory, const char *names,
                         uvperf_set_read_cb cb) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_error_t error;
  struct rlimit files;

  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max; /* often 1024, which is soon too few */
    setrlimit(RLIMIT_NOFILE, &files);
  }
  parent = directory;
  options.names = names;
  options.flags = UVPERF_SET_TARGETS_LATER | UVPERF_SET_ENABLED;
  if (uvperf_set_init(loop, set, &options, &error) != 0 ||
      uvperf_set_read_start(set, 1000, cb, &error) != 0)
    fail("events", error.reason);
  if (scan_groups(set) != 0)
    fail(parent, "cannot be read");
}

/* Call it when the loop has ended: until then a group may be opening. */
static void free_groups(void) {
  group_t *group;

  while ((group = groups) != NULL) {
    groups = group->next;
    free(group);
  }
}

/* -- this program ---------------------------------------------------------- */

#ifndef COUNT_CGROUPS_PART /* agent.c takes the part above only */

static void print_groups(uvperf_set_t *set, int status,
                         const uvperf_reading_t *reading,
                         const uvperf_reading_t *delta) {
  uvperf_count_t count;
  group_t *group;
  char line[256];
  size_t i;

  (void)reading; /* the same since the beginning */
  for (group = groups; status == 0 && group != NULL; group = group->next)
    for (i = 0; group->state == OPEN && i < uvperf_set_nr_attrs(set); i++) {
      /* UV_ENOENT: opened after the reading began. */
      if (uvperf_reading_get(delta, i, group->target, UVPERF_ALL, &count) != 0)
        break;
      uvperf_count_format(&count, uvperf_set_item(set, i), line, sizeof(line));
      printf("%s: %s\n", group->name, line);
    }
  scan_groups(set);
}

static void close_groups(uv_signal_t *interrupt, int number) {
  (void)number;
  uvperf_close(interrupt->data, NULL);
  uv_close((uv_handle_t *)interrupt, NULL);
}

int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  uv_signal_t interrupt;
  uvperf_set_t set;

  if (argc != 2 && argc != 3)
    fail(argv[0], "give the directory of a cgroup, and events if you like");
  setvbuf(stdout, NULL, _IOLBF, 0); /* each second, into a pipe too */
  start_groups(loop, &set, argv[1], argc == 3 ? argv[2] : "cpu-clock,cs",
               print_groups);
  interrupt.data = &set;
  uv_signal_init(loop, &interrupt);
  uv_signal_start(&interrupt, close_groups, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  free_groups();
  if (fflush(stdout) != 0 || ferror(stdout))
    fail("stdout", "could not be written");
  return uv_loop_close(loop) != 0;
}

#endif
