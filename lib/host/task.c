/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID of tasks and threads. It keeps nothing between calls. */
#include "host/task.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/system.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/file.h"
#include "util/grow.h"

/* More than the 52 fields of a stat file take, of which the second is up to 64
 * bytes and the others up to 20. */
#define STAT_BYTES 2048

/* -- one task ------------------------------------------------------------- */

/* Of the fields of /proc/PID/status that name a task in several PID namespaces,
 * the first is that of /proc and the last its own: one alone is both. They came
 * with Linux 4.1; before, and without CONFIG_PID_NS, there is no way to see. */
int uvperf__task_proc_is_own(const char *root) {
  char text[64];
  int rc = uvperf__system_line(root, "/proc/self/status", "NSpid:", text,
                               sizeof(text));
  const char *at = text + strspn(text, " \t");

  if (uvperf__is_shortage(rc))
    return rc;
  /* There is no /proc/self for a process that is not in its namespace. */
  if (rc != 0)
    return rc == -ENODATA;
  at += strspn(at, "0123456789");
  return at[strspn(at, " \t")] == '\0';
}

/* What a failure to read of /proc/ID means. */
static int absent(int id, int code) {
  switch (code) {
    case -ENOENT:
    case -ESRCH: /* it ended after open(2) */
      return uvperf__sys_has_task(id) == -ESRCH ? -ESRCH : -EACCES;
    case -EPERM: /* proc_pid_permission, hidepid=1 */
      return -EACCES;
    default:
      return code;
  }
}

/* Takes the state and the start from the text of a stat file. The second field
 * is the task's name between (), which may hold anything, also these. */
static int parse_stat(const char *text, uvperf__task_t *task) {
  const char *at = strrchr(text, ')');
  char *end;
  int field;

  if (at == NULL || at[1] != ' ')
    return -EINVAL;
  at += 2; /* field 3 */
  task->has_ended = *at == 'Z' || *at == 'X';
  for (field = 3; field < 22; field++) {
    at = strchr(at, ' ');
    if (at == NULL)
      return -EINVAL;
    at += 1;
  }
  if (*at < '0' || *at > '9')
    return -EINVAL;
  task->start = strtoull(at, &end, 10);
  return *end == ' ' || *end == '\0' ? 0 : -EINVAL;
}

/* Of a thread of a process. Not /proc/ID/stat: that sums up all threads, with
 * each reading of each of them. */
static int read_stat(const char *root, int process, int id,
                     uvperf__task_t *task) {
  char text[STAT_BYTES], path[64];
  int rc;

  snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, id);
  rc = uvperf__system_text(root, path, text, sizeof(text));
  return rc != 0 ? rc : parse_stat(text, task);
}

int uvperf__task_read(const char *root, int id, uvperf__task_t *task) {
  int rc;

  memset(task, 0, sizeof(*task));
  task->id = id;
  rc = read_stat(root, id, id, task);
  return rc != 0 ? absent(id, rc) : 0;
}

int uvperf__task_process(const char *root, int id) {
  char path[48], text[24];
  int process;
  int rc;

  snprintf(path, sizeof(path), "/proc/%d/status", id);
  rc = uvperf__system_line(root, path, "Tgid:", text, sizeof(text));
  if (rc != 0)
    return absent(id, rc);
  return sscanf(text, "%d", &process) == 1 ? process : -EINVAL;
}

int uvperf__task_is_gone(const char *root, int id, uint64_t start) {
  uvperf__task_t task;
  int tries;
  int rc;

  if (id < 0)
    return 0;
  if (start == 0) {
    rc = uvperf__sys_has_task(id);
    return rc == -ESRCH;
  }
  /* Between the two readings of uvperf__task_read the id may have become that
   * of another: then /proc has it the next time. */
  for (tries = 0; tries < 2; tries++) {
    rc = uvperf__task_read(root, id, &task);
    if (rc == 0)
      return task.has_ended || task.start != start;
    if (rc == -ESRCH)
      return 1;
  }
  return rc;
}

/* -- the threads of a process --------------------------------------------- */

/* How often they are listed at most. */
#define LISTINGS 8

void uvperf__tasks_free(uvperf__tasks_t *tasks) {
  uvperf__free(tasks->tasks);
  memset(tasks, 0, sizeof(*tasks));
}

/* Adds the task that an entry of the directory names, if it does. */
static int add_name(const char *name, void *data) {
  uvperf__tasks_t *tasks = data;
  uvperf__task_t *grown;
  char *end;
  long id;

  if (name[0] < '0' || name[0] > '9')
    return 0;
  id = strtol(name, &end, 10);
  if (*end != '\0' || id <= 0 || id > INT_MAX)
    return 0;
  grown = uvperf__grow(tasks->tasks, tasks->nr, &tasks->room, 64,
                       sizeof(tasks->tasks[0]));
  if (grown == NULL)
    return -ENOMEM;
  tasks->tasks = grown;
  tasks->tasks[tasks->nr++].id = (int)id;
  return 0;
}

/* Adds what a directory lists to the tasks. */
static int add_listed(const char *root, int process, uvperf__tasks_t *tasks) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof(path), "%s/proc/%d/task", root, process);
  int fd;

  if (length < 0 || (size_t)length >= sizeof(path))
    return -ENAMETOOLONG;
  fd = uvperf__directory_open(path);
  return fd < 0 ? fd : uvperf__directory_each(fd, add_name, tasks);
}

/* Puts the one at `at` below those that are greater, in a heap whose greatest
 * is the first. */
static void sift(uvperf__task_t *tasks, size_t at, size_t nr) {
  uvperf__task_t task = tasks[at];
  size_t child;

  while ((child = 2 * at + 1) < nr) {
    if (child + 1 < nr && tasks[child + 1].id > tasks[child].id)
      child += 1;
    if (tasks[child].id <= task.id)
      break;
    tasks[at] = tasks[child];
    at = child;
  }
  tasks[at] = task;
}

/* By ids. Not qsort(3), which may call malloc. */
static void sort(uvperf__tasks_t *tasks) {
  uvperf__task_t last;
  size_t i;

  for (i = tasks->nr / 2; i > 0; i--)
    sift(tasks->tasks, i - 1, tasks->nr);
  for (i = tasks->nr; i > 1; i--) {
    last = tasks->tasks[i - 1];
    tasks->tasks[i - 1] = tasks->tasks[0];
    tasks->tasks[0] = last;
    sift(tasks->tasks, 0, i - 1);
  }
}

/* Reads each of those that are sorted, and leaves out those that are listed
 * twice, or are not there any more. */
static int read_listed(const char *root, int process, uvperf__tasks_t *tasks) {
  size_t from, to = 0;
  int id = 0;
  int rc;

  for (from = 0; from < tasks->nr; from++) {
    if (tasks->tasks[from].id == id)
      continue;
    id = tasks->tasks[from].id;
    rc = read_stat(root, process, id, &tasks->tasks[from]);
    if (rc == 0)
      tasks->tasks[to++] = tasks->tasks[from];
    else if (rc != -ENOENT && rc != -ESRCH)
      return rc;
  }
  tasks->nr = to;
  return 0;
}

static void leave_out_ended(uvperf__tasks_t *tasks) {
  size_t from, to = 0;

  for (from = 0; from < tasks->nr; from++)
    if (!tasks->tasks[from].has_ended)
      tasks->tasks[to++] = tasks->tasks[from];
  tasks->nr = to;
}

/* How many threads a process has, those included that have ended and are still
 * there; 0 where that is not told. */
static int count_threads(const char *root, int process, size_t *nr) {
  char path[48], text[24];
  int rc;

  *nr = 0;
  snprintf(path, sizeof(path), "/proc/%d/status", process);
  rc = uvperf__system_line(root, path, "Threads:", text, sizeof(text));
  if (rc == 0)
    *nr = (size_t)strtoul(text, NULL, 10);
  return rc == -ENODATA ? 0 : rc;
}

/* A listing may lack threads that are there: next_tid of fs/proc/base.c ends it
 * at one that ends just then, and first_tid goes on at the same number of
 * threads from the beginning when an earlier one is gone. So it is made again
 * until it is sure to be complete: if those that were listed, and are still
 * there afterwards, are as many as there were in between, they are the same. */
static int list_all(const char *root, int process, uvperf__tasks_t *threads) {
  size_t nr;
  int i;
  int rc;

  for (i = 0; i < LISTINGS; i++) {
    rc = add_listed(root, process, threads);
    if (rc == 0)
      rc = count_threads(root, process, &nr);
    if (rc != 0)
      return rc;
    sort(threads);
    rc = read_listed(root, process, threads);
    if (rc != 0 || threads->nr >= nr)
      return rc;
  }
  return 0;
}

int uvperf__task_threads(const char *root, int process,
                         uvperf__tasks_t *threads) {
  int rc;

  memset(threads, 0, sizeof(*threads));
  rc = list_all(root, process, threads);
  leave_out_ended(threads);
  if (rc == 0 && threads->nr == 0)
    rc = -ESRCH;
  else if (rc != 0)
    rc = absent(process, rc);
  if (rc != 0)
    uvperf__tasks_free(threads);
  return rc;
}
