/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID of tasks and threads. Keeps nothing between calls. */
#include "host/task.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/system.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/grow.h"

/* More bytes than the 52 fields of a stat file need. The second field has up to
 * 64 bytes, and each other field has up to 20. */
#define STAT_BYTES 2048

/* How long uvperf__task_is_gone_now does without /proc, in ns: for the first
 * thread of a process, and for other threads. */
#define PROCESS_NS 1000000000u
#define THREAD_NS  10000000000u

/* -- one task ------------------------------------------------------------- */

/* NSpid in /proc/PID/status lists a task's ids in several PID namespaces. The
 * first id is for the namespace of /proc, and the last id is for the task's own
 * namespace. A single id means that both namespaces are the same. The field
 * NSpid exists since Linux 4.1. In older kernels, and without CONFIG_PID_NS, we
 * cannot find out whether the namespaces differ. */
int uvperf__task_proc_is_own(void) {
  char text[64];
  int rc =
      uvperf__system_line("/proc/self/status", "NSpid:", text, sizeof(text));
  const char *at = text + strspn(text, " \t");

  if (uvperf__is_shortage(rc))
    return rc;
  if (uvperf__is_forbidden(rc))
    return -EPERM;
  /* A process outside of the namespace of /proc has no /proc/self there. */
  if (rc != 0)
    return rc == -ENODATA;
  at += strspn(at, "0123456789");
  return at[strspn(at, " \t")] == '\0';
}

static int skip_entry(const char *name, void *data) {
  (void)name;
  (void)data;
  return 0;
}

/* Whether this process can list its own threads. They are never hidden. */
static int can_list_own(void) {
  int fd = uvperf__directory_open("/proc/self/task");

  return fd >= 0 && uvperf__directory_each(fd, skip_entry, NULL) == 0;
}

/* Returns the code for a failure to read /proc/ID. With hidepid=1,
 * proc_pid_permission returns EPERM. It never returns EACCES. */
static int code_of_absence(int id, int code) {
  switch (code) {
    case -ENOENT:
    case -ESRCH: /* the task ended after open(2) */
      return uvperf__sys_has_task(-1, id) == -ESRCH ? -ESRCH : -EACCES;
    case -EPERM:
      return can_list_own() ? -EACCES : -EPERM;
    case -EACCES:
      return -EPERM;
    default:
      return code;
  }
}

/* Parses the state and the start from the text of a stat file. The second field
 * is the task's name in parentheses, which may itself contain parentheses. */
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

/* Reads the stat file of a thread of a process. /proc/ID/stat is not used: each
 * read of it sums up all threads. */
static int read_stat(int process, int id, uvperf__task_t *task) {
  char text[STAT_BYTES], path[64];
  int rc;

  snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, id);
  rc = uvperf__system_text(path, text, sizeof(text));
  return rc != 0 ? rc : parse_stat(text, task);
}

int uvperf__task_read(int id, uvperf__task_t *task) {
  int rc;

  memset(task, 0, sizeof(*task));
  task->id = id;
  rc = read_stat(id, id, task);
  return rc != 0 ? code_of_absence(id, rc) : 0;
}

int uvperf__task_start(int id, uint64_t *start) {
  uvperf__task_t task;
  int rc = uvperf__task_read(id, &task);

  *start = rc == 0 ? task.start : rc == -ESRCH ? UVPERF__TASK_ENDED : 0;
  return uvperf__is_shortage(rc) ? rc : 0;
}

int uvperf__task_check(int id, uint64_t start, uvperf_error_t *error) {
  uvperf__task_t task;
  int rc;

  if (start == 0)
    return 0;
  rc = uvperf__task_read(id, &task);
  if (rc == 0 && task.start == start)
    return 0;
  if (uvperf__is_shortage(rc))
    return uvperf__error_shortage(error, rc, "cannot check the task");
  return uvperf__error_set(error, -ESRCH, UVPERF_CAUSE_NO_TASK,
                           "task %d ended before its events were open; the id "
                           "may now belong to another task",
                           id);
}

/* -- a pidfd -------------------------------------------------------------- */

/* Reads the id of a pidfd's task in the PID namespace of /proc: -1 if the task
 * was waited for, 0 if it has no id in this namespace (pidfd_show_fdinfo in
 * fs/pidfs.c). */
static int read_pidfd(int fd, int *id) {
  char path[64], text[24];
  int rc;

  snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", fd);
  rc = uvperf__system_line(path, "Pid:", text, sizeof(text));
  if (rc == -ENOENT || rc == -ENODATA)
    return -EBADF;
  if (rc != 0)
    return rc;
  if (sscanf(text, "%d", id) != 1)
    return -EINVAL;
  return *id > 0 ? 0 : -ESRCH;
}

/* The second reading shows that the start belongs to the task of the pidfd: no
 * other task gets the id before this task was waited for. */
static int find_pidfd(int fd, uvperf__task_t *task) {
  int rc = uvperf__task_proc_is_own();
  int id;

  if (rc <= 0)
    return rc == 0 ? -ENOENT : rc;
  rc = read_pidfd(fd, &id);
  if (rc == 0)
    rc = uvperf__task_read(id, task);
  return rc != 0 ? rc : read_pidfd(fd, &id);
}

int uvperf__task_of_pidfd(int fd, uvperf__task_t *task, uvperf_error_t *error) {
  static const struct {
    int code;
    int cause;
    const char *text;
  } reasons[] = {
      {-ESRCH, UVPERF_CAUSE_NO_TASK,
       "the task of pidfd %d has ended, or is in another PID namespace"},
      {-EBADF, UVPERF_CAUSE_ARGUMENT, "%d is not a pidfd; see pidfd_open(2)"},
      {-EACCES, UVPERF_CAUSE_PERMISSION,
       "the task of pidfd %d is hidden, as /proc is mounted with hidepid=; run "
       "as root or in the group of its option gid="},
      {-EPERM, UVPERF_CAUSE_PERMISSION,
       "cannot find the task of pidfd %d: a seccomp filter or a security "
       "module forbids reading /proc; allow it, or pass the task's id"},
      {-ENOENT, UVPERF_CAUSE_NO_TASK,
       "cannot find the task of pidfd %d: /proc is not mounted, or shows "
       "another PID namespace; run mount -t proc proc /proc"},
      {0, UVPERF_CAUSE_UNKNOWN,
       "cannot find the task of pidfd %d: reading /proc failed (errno %d)"},
  };
  int rc = find_pidfd(fd, task);
  size_t i = 0;

  if (rc == 0)
    return 0;
  if (uvperf__is_shortage(rc))
    return uvperf__error_shortage(error, rc, "cannot read the pidfd");
  while (reasons[i].code != 0 && reasons[i].code != rc)
    i++;
  return uvperf__error_set(error, rc, reasons[i].cause, reasons[i].text, fd,
                           -rc);
}

/* -- the process of a task ------------------------------------------------- */

int uvperf__task_process(int id) {
  char path[48], text[24];
  int process;
  int rc;

  snprintf(path, sizeof(path), "/proc/%d/status", id);
  rc = uvperf__system_line(path, "Tgid:", text, sizeof(text));
  if (rc != 0)
    return code_of_absence(id, rc);
  return sscanf(text, "%d", &process) == 1 ? process : -EINVAL;
}

int uvperf__task_is_gone(int id, uint64_t start) {
  uvperf__task_t task;
  int tries;
  int rc;

  if (id < 0)
    return 0;
  if (start == 0) {
    rc = uvperf__sys_has_task(-1, id);
    return rc == -ESRCH;
  }
  /* Between the two readings in uvperf__task_read another task may have taken
   * the id. In this case /proc shows the other task at the second try. */
  for (tries = 0; tries < 2; tries++) {
    rc = uvperf__task_read(id, &task);
    if (rc == 0)
      return task.has_ended || task.start != start;
    if (rc == -ESRCH)
      return 1;
  }
  return rc;
}

/* Only the first thread of a process becomes a zombie that stays. An id is used
 * again only after all other ids. */
int uvperf__task_is_gone_now(int id, uint64_t start, uint64_t now,
                             uint64_t *looked_up) {
  uint64_t age = now - *looked_up;

  if (id < 0)
    return 0;
  if (uvperf__sys_has_task(-1, id) == -ESRCH)
    return 1;
  if (*looked_up != 0 &&
      (age < PROCESS_NS ||
       (age < THREAD_NS && uvperf__sys_has_task(id, id) == -ESRCH)))
    return 0;
  *looked_up = now;
  return uvperf__task_is_gone(id, start);
}

/* -- the threads of a process --------------------------------------------- */

/* The maximum number of listings. */
#define LISTINGS 8

void uvperf__tasks_free(uvperf__tasks_t *tasks) {
  uvperf__free(tasks->tasks);
  memset(tasks, 0, sizeof(*tasks));
}

/* Adds the task that a directory entry names, if it names one. */
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

/* Adds the tasks that the directory lists. */
static int add_listed(int process, uvperf__tasks_t *tasks) {
  char path[32];
  int fd;

  snprintf(path, sizeof(path), "/proc/%d/task", process);
  fd = uvperf__directory_open(path);
  return fd < 0 ? fd : uvperf__directory_each(fd, add_name, tasks);
}

/* Sorts by id, as Shell does. The list is nearly sorted, except where ids begin
 * again. qsort(3) is not used because it may call malloc. */
static void tasks_sort(uvperf__tasks_t *tasks) {
  uvperf__task_t *all = tasks->tasks;
  uvperf__task_t task;
  size_t gap, i, at;

  for (gap = tasks->nr / 2; gap > 0; gap /= 2)
    for (i = gap; i < tasks->nr; i++) {
      task = all[i];
      for (at = i; at >= gap && all[at - gap].id > task.id; at -= gap)
        all[at] = all[at - gap];
      all[at] = task;
    }
}

/* Reads each task of the sorted list. Leaves out tasks that are listed twice or
 * no longer exist. */
static int read_listed(int process, uvperf__tasks_t *tasks) {
  size_t from, to = 0;
  int id = 0;
  int rc;

  for (from = 0; from < tasks->nr; from++) {
    if (tasks->tasks[from].id == id)
      continue;
    id = tasks->tasks[from].id;
    rc = read_stat(process, id, &tasks->tasks[from]);
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

/* Reads the number of threads of a process, including ended threads that still
 * exist. The number is 0 if /proc does not show it. */
static int count_threads(int process, size_t *nr) {
  char path[48], text[24];
  int rc;

  *nr = 0;
  snprintf(path, sizeof(path), "/proc/%d/status", process);
  rc = uvperf__system_line(path, "Threads:", text, sizeof(text));
  if (rc == 0)
    *nr = (size_t)strtoul(text, NULL, 10);
  return rc == -ENODATA ? 0 : rc;
}

/* Lists the threads until the listing is known to be complete, at most LISTINGS
 * times. A listing may miss existing threads: next_tid of fs/proc/base.c stops
 * at a thread that ends at that moment. Then first_tid continues by counting
 * from the beginning, where an earlier thread may be gone. After a listing we
 * count the process's threads. The listing is complete if this is the number of
 * the listed threads that still exist after the count. */
static int list_all(int process, uvperf__tasks_t *threads) {
  size_t nr;
  int i;
  int rc;

  for (i = 0; i < LISTINGS; i++) {
    rc = add_listed(process, threads);
    if (rc == 0)
      rc = count_threads(process, &nr);
    if (rc != 0)
      return rc;
    tasks_sort(threads);
    rc = read_listed(process, threads);
    if (rc != 0 || threads->nr >= nr)
      return rc;
  }
  return 0;
}

int uvperf__task_threads(int process, uvperf__tasks_t *threads) {
  int rc;

  memset(threads, 0, sizeof(*threads));
  rc = list_all(process, threads);
  leave_out_ended(threads);
  if (rc == 0 && threads->nr == 0)
    rc = -ESRCH;
  else if (rc != 0)
    rc = code_of_absence(process, rc);
  if (rc != 0)
    uvperf__tasks_free(threads);
  return rc;
}
