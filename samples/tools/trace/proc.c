/* SPDX-License-Identifier: MIT */
#include "trace/proc.h"

#include "common/proc.h"
#include "common/tasks.h"

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
  trace_names_set(names, tid, comm);
  return trace_names_get(names, tid);
}

static void on_thread(void *arg, int32_t tid, const char *comm) {
  trace_names_set(arg, (uint32_t)tid, comm);
}

void trace_proc_scan(trace_names_t *names) {
  names->has_outsiders = common_tasks_has_outsiders();
  common_proc_threads(on_thread, names);
}
