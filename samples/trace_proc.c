/* SPDX-License-Identifier: MIT */
/* Knows nothing of events or records. */
#include "trace_proc.h"

#include "shared_proc.h"
#include "shared_targets.h"
#include "shared_tasks.h"

const char *trace_proc_name(trace_names_t *names, uint32_t pid, uint32_t tid) {
  const char *known = trace_names_get(names, tid);
  char comm[SHARED_PROC_COMM_BYTES] = "";

  if (known != NULL)
    return known;
  /* Each CPU has an idle task, and /proc none of them. */
  if (tid == 0)
    return names->has_outsiders ? "" : "swapper";
  /* So dead that it has no id any more (perf_event_pid_type in
   * kernel/events/core.c). */
  if (tid == UINT32_MAX)
    return "";
  shared_proc_comm((int32_t)pid, (int32_t)tid, comm);
  trace_names_set(names, tid, comm);
  return trace_names_get(names, tid);
}

static void scan_process(trace_names_t *names, int32_t pid) {
  shared_ids_t tids = {NULL, 0, 0};
  char comm[SHARED_PROC_COMM_BYTES];
  size_t i;

  shared_threads_of(&tids, pid);
  for (i = 0; i < tids.nr; i++) {
    if (shared_proc_comm(pid, tids.ids[i], comm) == 0)
      trace_names_set(names, (uint32_t)tids.ids[i], comm);
  }
  shared_ids_free(&tids);
}

void trace_proc_scan(trace_names_t *names) {
  shared_ids_t pids = {NULL, 0, 0};
  size_t i;

  names->has_outsiders = shared_tasks_has_outsiders();
  shared_processes(&pids);
  for (i = 0; i < pids.nr; i++)
    scan_process(names, pids.ids[i]);
  shared_ids_free(&pids);
}
