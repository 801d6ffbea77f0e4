/* SPDX-License-Identifier: MIT */
/* Keeps the current names of threads. Callers pass records in the order of
 * time, so no older names are needed. */
#include "trace/names.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/tasks.h"
#include "common/text.h"

void trace_names_free(trace_names_t *names) {
  common_by_id_free(&names->names, free);
}

static void name_forget(trace_names_t *names, trace_name_t *name) {
  common_by_id_remove(&names->names, name);
  free(name);
}

/* Sets the name of a thread, or replaces it. */
static void set_name(trace_names_t *names, uint32_t tid, const char *comm) {
  trace_name_t *name = common_by_id_get(&names->names, tid, sizeof(*name));

  name->is_ended = 0;
  /* comm may point to the name of this same thread. */
  if (comm != name->comm)
    snprintf(name->comm, sizeof(name->comm), "%s", comm);
}

const char *trace_names_get(const trace_names_t *names, uint32_t tid) {
  const trace_name_t *name = common_by_id_find(&names->names, tid);

  return name != NULL ? name->comm : NULL;
}

/* A new thread has the name of its creator. If this name is not known, the name
 * of an earlier thread with the new thread's id is removed. */
static void follow_fork(trace_names_t *names, const uvperf_task_t *task) {
  const char *comm = trace_names_get(names, task->ptid);
  trace_name_t *earlier = common_by_id_find(&names->names, task->tid);

  if (comm != NULL)
    set_name(names, task->tid, comm);
  else if (earlier != NULL)
    name_forget(names, earlier);
}

static void follow_exit(trace_names_t *names, uint32_t tid) {
  trace_name_t *name = common_by_id_find(&names->names, tid);
  uint32_t *slot = &names->ended[names->nr_ended % TRACE_NAMES_ENDED];
  uint32_t oldest = *slot;

  if (name == NULL)
    return;
  name->is_ended = 1;
  *slot = tid;
  if (names->nr_ended++ < TRACE_NAMES_ENDED || oldest == tid)
    return;
  name = common_by_id_find(&names->names, oldest);
  if (name != NULL && name->is_ended)
    name_forget(names, name);
}

void trace_names_record(trace_names_t *names, const uvperf_record_t *record) {
  const uvperf_comm_t *comm = &record->comm;
  char name[COMMON_PROC_COMM_BYTES];

  switch (record->type) {
    case PERF_RECORD_FORK:
      if (common_tasks_has_id(record->task.tid))
        follow_fork(names, &record->task);
      break;
    case PERF_RECORD_COMM:
      if (common_tasks_has_id(comm->tid))
        set_name(
            names, comm->tid,
            common_text_copy(name, sizeof(name), comm->comm, comm->comm_size));
      break;
    case PERF_RECORD_EXIT:
      if (common_tasks_has_id(record->task.tid))
        follow_exit(names, record->task.tid);
      break;
    default:
      break;
  }
}

/* -- /proc ----------------------------------------------------------------- */

const char *trace_proc_name(trace_names_t *names, uint32_t pid, uint32_t tid) {
  const char *known = trace_names_get(names, tid);
  char comm[COMMON_PROC_COMM_BYTES] = "";

  if (known != NULL)
    return known;
  /* Each CPU has an idle task. Idle tasks are not in /proc. */
  if (tid == 0)
    return names->has_outsiders ? "" : "swapper";
  /* The thread has ended and lost its id (perf_event_pid_type in
   * kernel/events/core.c). */
  if (tid == UINT32_MAX)
    return "";
  common_proc_comm((int32_t)pid, (int32_t)tid, comm);
  set_name(names, tid, comm);
  return trace_names_get(names, tid);
}

static void on_thread(void *arg, int32_t tid, const char *comm) {
  set_name(arg, (uint32_t)tid, comm);
}

void trace_proc_scan(trace_names_t *names) {
  names->has_outsiders = common_tasks_has_outsiders();
  common_proc_threads(on_thread, names);
}
