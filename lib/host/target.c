/* SPDX-License-Identifier: MIT */
/* Checks a target, and lists the places at which its events are opened. */
#include "host/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/cgroup.h"
#include "host/cpu_list.h"
#include "host/system.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

/* -- checking it ----------------------------------------------------------- */

/* The fields that each type uses. */
static const struct {
  const char *name;
  int has_pid;
  int has_cgroup;
} types[] = {
    [UVPERF_TARGET_SELF] = {"UVPERF_TARGET_SELF", 0, 0},
    [UVPERF_TARGET_CPUS] = {"UVPERF_TARGET_CPUS", 0, 0},
    [UVPERF_TARGET_THREAD] = {"UVPERF_TARGET_THREAD", 1, 0},
    [UVPERF_TARGET_PROCESS] = {"UVPERF_TARGET_PROCESS", 1, 0},
    [UVPERF_TARGET_COMMAND] = {"UVPERF_TARGET_COMMAND", 1, 0},
    [UVPERF_TARGET_CGROUP] = {"UVPERF_TARGET_CGROUP", 0, 1},
};

static int check_pid(const uvperf_target_t *target, uvperf_error_t *error) {
  if (target->flags & UVPERF_TARGET_PIDFD)
    return types[target->type].has_pid && target->pid >= 0
               ? 0
               : uvperf__error_argument(
                     error,
                     "target.pid %d cannot be the pidfd of %s; leave "
                     "UVPERF_TARGET_PIDFD out, or pass the pidfd of a task",
                     target->pid, types[target->type].name);
  if (types[target->type].has_pid && target->pid <= 0)
    return uvperf__error_argument(
        error, "target.pid %d is not the id of a task, which %s needs",
        target->pid, types[target->type].name);
  if (!types[target->type].has_pid && target->pid != 0)
    return uvperf__error_argument(
        error, "target.pid is %d, but %s has no pid; leave it 0", target->pid,
        types[target->type].name);
  return 0;
}

static int check_cpus(const char *cpus, uvperf_error_t *error) {
  size_t nr = 0;

  if (cpus == NULL)
    return 0;
  if (uvperf_cpu_list_parse(cpus, NULL, &nr) == -EINVAL)
    return uvperf__error_argument(
        error,
        "target.cpus is not a list of CPUs; write it as "
        "in \"0-3,8\", each at most %d",
        UVPERF__MAX_CPU);
  if (nr == 0)
    return uvperf__error_argument(error,
                                  "target.cpus is empty; NULL means the online "
                                  "CPUs, or any CPU of a task");
  return 0;
}

static int check_cgroup(const uvperf_target_t *target, uvperf_error_t *error) {
  int has_one = target->cgroup != NULL && target->cgroup[0] != '\0';

  if (types[target->type].has_cgroup && !has_one)
    return uvperf__error_argument(
        error,
        "target.cgroup is %s, but %s needs a directory; \"/\" means all tasks",
        target->cgroup == NULL ? "NULL" : "empty", types[target->type].name);
  if (!types[target->type].has_cgroup && target->cgroup != NULL)
    return uvperf__error_argument(
        error, "target.cgroup is set, but %s has no cgroup; leave it NULL",
        types[target->type].name);
  return 0;
}

int uvperf__target_check(const uvperf_target_t *target, uvperf_error_t *error) {
  int rc;

  if (target->type >= sizeof(types) / sizeof(types[0]))
    return uvperf__error_argument(
        error, "target.type %u is unknown; see enum uvperf_target_type",
        target->type);
  if (target->flags & ~(UVPERF_TARGET_NO_INHERIT | UVPERF_TARGET_PIDFD))
    return uvperf__error_bits(error, "target.flags", target->flags);
  if (target->reserved != 0)
    return uvperf__error_set(error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                             "target.reserved is not 0, and this version has "
                             "no field there; clear it");
  rc = check_pid(target, error);
  if (rc == 0)
    rc = check_cpus(target->cpus, error);
  return rc != 0 ? rc : check_cgroup(target, error);
}

/* -- its CPUs -------------------------------------------------------------- */

/* One target whose places are being listed. */
typedef struct expand_s {
  uvperf__target_context_t *context;
  const uvperf_target_t *target;
  uvperf__target_spots_t *spots;
  uvperf_error_t *error;
  int *cpus; /* the same for each task; owned */
  size_t nr_cpus;
} expand_t;

/* Reads which CPUs there are, for a target that lists none: the online CPUs, or
 * for a task all present CPUs. The events of a task can also be opened on an
 * offline CPU, and count after the CPU comes online. */
static int read_cpus(const uvperf_target_t *target,
                     char text[UVPERF__TEXT_BYTES]) {
  size_t nr = 0;
  int rc;

  if (target->type != UVPERF_TARGET_CPUS &&
      target->type != UVPERF_TARGET_CGROUP) {
    rc = uvperf__system_cpu_list("present", text);
    if (uvperf__is_shortage(rc))
      return rc;
    if (rc == 0 && uvperf_cpu_list_parse(text, NULL, &nr) == -ENOBUFS)
      return 0;
  }
  return uvperf__system_cpu_list("online", text);
}

static int explain_cpus(const expand_t *expand, int code) {
  char remedy[48];

  snprintf(remedy, sizeof(remedy), "list the CPUs in %s",
           expand->context->cpus_name);
  return uvperf__error_online(expand->error, code, remedy);
}

/* Gets the list of CPUs. */
static int take_cpus(expand_t *expand) {
  const char *list = expand->target->cpus;
  char text[UVPERF__TEXT_BYTES];
  int rc = 0;

  if (list == NULL) {
    rc = read_cpus(expand->target, text);
    list = text;
  }
  if (rc == 0)
    rc = uvperf_cpu_list_parse(list, NULL, &expand->nr_cpus);
  if (rc == -ENOBUFS) {
    expand->cpus = uvperf__calloc(expand->nr_cpus, sizeof(*expand->cpus));
    if (expand->cpus == NULL)
      return explain_cpus(expand, -ENOMEM);
    rc = uvperf_cpu_list_parse(list, expand->cpus, &expand->nr_cpus);
  }
  if (rc == 0 && expand->nr_cpus == 0)
    rc = -ENODATA;
  return rc != 0 ? explain_cpus(expand, rc) : 0;
}

/* Lists the CPUs of a task. If the target lists none and there are no rings,
 * one event follows the task. */
static int take_task_cpus(expand_t *expand) {
  if (expand->target->cpus != NULL || expand->context->has_rings)
    return take_cpus(expand);
  expand->cpus = uvperf__calloc(1, sizeof(*expand->cpus));
  if (expand->cpus == NULL)
    return explain_cpus(expand, -ENOMEM);
  expand->cpus[0] = -1;
  expand->nr_cpus = 1;
  return 0;
}

/* -- its spots ------------------------------------------------------------- */

/* Makes one spot for each combination of task and CPU. */
static int make_spots(expand_t *expand, const uvperf__task_t *tasks,
                      size_t nr) {
  uvperf__spot_t *spot;
  size_t i, j;

  if (expand->nr_cpus > 0 && nr > SIZE_MAX / expand->nr_cpus)
    spot = NULL;
  else
    spot = uvperf__calloc(nr * expand->nr_cpus, sizeof(*spot));
  if (spot == NULL)
    return uvperf__error_shortage(expand->error, -ENOMEM,
                                  "cannot list the target");
  expand->spots->spots = spot;
  expand->spots->nr_spots = nr * expand->nr_cpus;
  for (i = 0; i < nr; i++) {
    for (j = 0; j < expand->nr_cpus; j++, spot++) {
      spot->pid = tasks[i].id;
      spot->cpu = expand->cpus[j];
      spot->start = tasks[i].start;
    }
  }
  return 0;
}

/* -- each type of target --------------------------------------------------- */

static int expand_every_task(expand_t *expand) {
  const uvperf__task_t every = {-1, 0, 0};
  int rc = take_cpus(expand);

  return rc != 0 ? rc : make_spots(expand, &every, 1);
}

static int expand_cgroup(expand_t *expand) {
  int fd = uvperf__cgroup_open(expand->target->cgroup, expand->error);

  if (fd < 0)
    return fd;
  expand->spots->cgroup_fd = fd;
  return expand_every_task(expand);
}

/* Does the same as uvperf__task_proc_is_own, but does not call that function
 * again after it has returned 1. */
static int is_proc_own(uvperf__target_context_t *context) {
  int rc;

  if (context->is_proc_own)
    return 1;
  rc = uvperf__task_proc_is_own();
  context->is_proc_own = rc > 0;
  return rc;
}

static int read_start(uvperf__target_context_t *context, int id,
                      uint64_t *start) {
  int rc = is_proc_own(context);

  return rc > 0 ? uvperf__task_start(id, start) : rc;
}

int uvperf__target_begin(uvperf__target_context_t *context,
                         uvperf_target_t *target, int is_deferred,
                         uint64_t *start, uvperf_error_t *error) {
  uvperf__task_t task = {0, 0, 0};
  int is_self = target->type == UVPERF_TARGET_SELF;
  int rc = 0;

  *start = 0;
  if (target->flags & UVPERF_TARGET_PIDFD) {
    rc = uvperf__task_of_pidfd(target->pid, &task, error);
    target->flags &= ~UVPERF_TARGET_PIDFD;
    target->pid = task.id;
    *start = rc == -ESRCH ? UVPERF__TASK_ENDED : task.start;
    return rc == -ESRCH ? 0 : rc;
  }
  if (is_deferred && (is_self || types[target->type].has_pid))
    rc = read_start(context, is_self ? context->self : target->pid, start);
  return rc < 0 ? uvperf__error_shortage(error, rc, "cannot read /proc") : 0;
}

/* `kind` is "process" or "thread". */
static int explain_ended(const expand_t *expand, const char *kind) {
  int pid = expand->target->pid;

  if (pid <= 0)
    return uvperf__error_set(
        expand->error, -ESRCH, UVPERF_CAUSE_NO_TASK,
        "the %s of the pidfd has ended, or is in another PID namespace", kind);
  return uvperf__error_set(
      expand->error, -ESRCH, UVPERF_CAUSE_NO_TASK,
      "%s %d does not exist in this PID namespace, or has ended", kind, pid);
}

/* Reads only the task's start from /proc. The kernel decides whether the task
 * exists and may be measured. */
static int expand_task(expand_t *expand, int id) {
  uvperf__task_t task = {id, 0, expand->context->start};
  int rc = 0;

  if (task.start == UVPERF__TASK_ENDED)
    return explain_ended(expand, "thread");
  if (task.start == 0 && !expand->context->no_starts)
    rc = read_start(expand->context, id, &task.start);
  if (uvperf__is_shortage(rc))
    return uvperf__error_shortage(expand->error, rc, "cannot read /proc");
  rc = take_task_cpus(expand);
  return rc != 0 ? rc : make_spots(expand, &task, 1);
}

static int explain_process(const expand_t *expand, int code) {
  int pid = expand->target->pid;

  if (uvperf__is_shortage(code))
    return uvperf__error_shortage(expand->error, code,
                                  "cannot list the threads of the process");
  if (code == -ESRCH)
    return explain_ended(expand, "process");
  if (code == -EACCES)
    return uvperf__error_set(
        expand->error, code, UVPERF_CAUSE_PERMISSION,
        "process %d is hidden, as /proc is mounted with hidepid=; run as root "
        "or in the group of its option gid=, or name the threads",
        pid);
  if (code == -EPERM)
    return uvperf__error_set(
        expand->error, code, UVPERF_CAUSE_PERMISSION,
        "cannot list the threads of process %d: a seccomp filter or a security "
        "module forbids reading /proc; allow it, or name the threads",
        pid);
  return uvperf__error_set(
      expand->error, code, UVPERF_CAUSE_UNKNOWN,
      "cannot list the threads of process %d: reading /proc failed (errno %d)",
      pid, -code);
}

/* Without these checks the threads of the wrong process could be measured. */
static int check_process(const expand_t *expand) {
  int pid = expand->target->pid;
  int rc = is_proc_own(expand->context);

  if (rc == 0)
    return uvperf__error_set(
        expand->error, -ESRCH, UVPERF_CAUSE_NO_TASK,
        "cannot list the threads of process %d: /proc is not mounted, or shows "
        "another PID namespace; run mount -t proc proc /proc",
        pid);
  if (rc > 0)
    rc = uvperf__task_process(pid);
  if (rc < 0)
    return explain_process(expand, rc);
  if (rc != pid)
    return uvperf__error_set(expand->error, -ESRCH, UVPERF_CAUSE_NO_TASK,
                             "%d is not a process but a thread of process %d; "
                             "name the process, or use UVPERF_TARGET_THREAD",
                             pid, rc);
  return 0;
}

/* If the process had ended before its threads were listed, another process may
 * have its id, and the threads would belong to that process. */
static int expand_process(expand_t *expand) {
  uint64_t start = expand->context->start;
  int pid = expand->target->pid;
  uvperf__tasks_t threads;
  int rc;

  if (start == UVPERF__TASK_ENDED)
    return explain_ended(expand, "process");
  rc = check_process(expand);
  if (rc != 0)
    return rc;
  expand->spots->inherit = !(expand->target->flags & UVPERF_TARGET_NO_INHERIT);
  if (start == 0)
    rc = uvperf__task_start(pid, &start);
  if (rc == 0)
    rc = uvperf__task_threads(pid, &threads);
  if (rc != 0)
    return explain_process(expand, rc);
  rc = uvperf__task_check(pid, start, expand->error);
  if (rc == 0)
    rc = take_task_cpus(expand);
  if (rc == 0)
    rc = make_spots(expand, threads.tasks, threads.nr);
  uvperf__tasks_free(&threads);
  return rc;
}

static int expand_type(expand_t *expand) {
  const uvperf_target_t *target = expand->target;

  switch (target->type) {
    case UVPERF_TARGET_SELF:
      return expand_task(expand, expand->context->self != 0
                                     ? expand->context->self
                                     : (int)uvperf__sys_gettid());
    case UVPERF_TARGET_COMMAND:
      expand->spots->on_exec = 1;
      expand->spots->inherit = !(target->flags & UVPERF_TARGET_NO_INHERIT);
      return expand_task(expand, target->pid);
    case UVPERF_TARGET_THREAD:
      return expand_task(expand, target->pid);
    case UVPERF_TARGET_PROCESS:
      return expand_process(expand);
    case UVPERF_TARGET_CGROUP:
      return expand_cgroup(expand);
    default: /* UVPERF_TARGET_CPUS */
      return expand_every_task(expand);
  }
}

int uvperf__target_expand(uvperf__target_context_t *context,
                          const uvperf_target_t *target,
                          uvperf__target_spots_t *spots,
                          uvperf_error_t *error) {
  expand_t expand = {context, target, spots, error, NULL, 0};
  int rc;

  memset(spots, 0, sizeof(*spots));
  spots->cgroup_fd = -1;
  rc = expand_type(&expand);
  uvperf__free(expand.cpus);
  if (rc != 0)
    uvperf__target_free(spots);
  return rc;
}

void uvperf__target_free(uvperf__target_spots_t *spots) {
  uvperf__free(spots->spots);
  if (spots->cgroup_fd >= 0)
    uvperf__file_close(spots->cgroup_fd);
  memset(spots, 0, sizeof(*spots));
  spots->cgroup_fd = -1;
}
