/* SPDX-License-Identifier: MIT */
/* Prints each second the CPU time and the context switches of the cgroups
 * directly below a given one, until Ctrl-C. Follows cgroups and CPUs that come
 * and go: a new cgroup is found within a second, and counted from then on.
 * Needs root, CAP_PERFMON or perf_event_paranoid 0, and 2 fds per cgroup and
 * CPU.
 *
 *   count_cgroups DIRECTORY      such as /sys/fs/cgroup/system.slice */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

static void on_target(uvperf_set_t *set, int status, void *data,
                      uint32_t target, const uvperf_error_t *error) {
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

static void add(uvperf_set_t *set, const struct dirent *entry) {
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
  if (uvperf_set_open_target(set, &target, on_target, &error) != 0)
    fail(path, error.reason);
}

static void scan(uvperf_set_t *set) {
  DIR *directory = opendir(parent);
  const struct dirent *entry;
  group_t *group, **place;

  if (directory == NULL)
    fail(parent, "cannot be read");
  for (group = groups; group != NULL; group = group->next)
    group->is_there = 0;
  while ((entry = readdir(directory)) != NULL) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
      continue;
    for (group = groups; group != NULL; group = group->next)
      if (group->inode == entry->d_ino)
        break;
    if (group != NULL)
      group->is_there = 1;
    else
      add(set, entry);
  }
  closedir(directory);
  for (place = &groups; (group = *place) != NULL;) {
    if (group->state == OPENING || (group->state != RETRY && group->is_there)) {
      place = &group->next;
      continue;
    }
    if (group->state == OPEN)
      uvperf_set_remove_target(set, group->target);
    *place = group->next;
    free(group);
  }
}

static void on_reading(uvperf_set_t *set, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  uvperf_count_t clock, switches;
  group_t *group;

  (void)reading; /* the same since the beginning */
  for (group = groups; status == 0 && group != NULL; group = group->next)
    /* UV_ENOENT: opened after the reading began. */
    if (group->state == OPEN &&
        uvperf_reading_target_total(delta, 0, group->target, &clock) == 0 &&
        uvperf_reading_target_total(delta, 1, group->target, &switches) == 0)
      printf("%s: %.1f ms, %llu switches\n", group->name,
             (double)clock.scaled / 1e6, (unsigned long long)switches.scaled);
  scan(set);
}

static void on_signal(uv_signal_t *signal, int number) {
  (void)number;
  uvperf_set_close(signal->data, NULL);
  uv_close((uv_handle_t *)signal, NULL);
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_event_list_t *events;
  uvperf_error_t error;
  uv_signal_t signal;
  uvperf_set_t set;
  group_t *group;

  if (argc != 2)
    fail(argv[0], "give the directory of a cgroup");
  parent = argv[1];
  setvbuf(stdout, NULL, _IOLBF, 0); /* each second, into a pipe too */
  if (uvperf_event_list_parse(&events, "cpu-clock,cs", &error) != 0)
    fail("events", error.reason);
  options.events = events;
  options.flags =
      UVPERF_SET_TARGETS_LATER | UVPERF_SET_FOLLOW_CPUS | UVPERF_SET_ENABLED;
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_set_read_start(&set, 1000, on_reading, &error) != 0)
    fail("events", error.reason);
  uvperf_event_list_free(events);
  scan(&set);
  signal.data = &set;
  uv_signal_init(loop, &signal);
  uv_signal_start(&signal, on_signal, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  while ((group = groups) != NULL) {
    groups = group->next;
    free(group);
  }
  if (fflush(stdout) != 0 || ferror(stdout))
    fail("stdout", "could not be written");
  return uv_loop_close(loop) != 0;
}
