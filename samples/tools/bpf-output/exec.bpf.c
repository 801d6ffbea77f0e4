/* SPDX-License-Identifier: MIT */
/* Runs in the kernel at each exec, and outputs the process and the file. */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "exec.h"

/* Half of the helpers here require a GPL-compatible license. */
char license_name[] SEC("license") = "Dual MIT/GPL";

/* An entry for each possible CPU; libbpf sets the number. */
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __type(key, __u32);
  __type(value, __u32);
} events SEC(".maps");

/* The stack of a BPF program has 512 bytes, which are too few for a
 * filename. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct exec_event);
} scratch SEC(".maps");

/* The filters, set before the program is loaded; 0 and "" mean all. */
const volatile __u32 wanted_pid = 0;
const volatile char wanted_comm[EXEC_COMM_BYTES] = "";

/* The return value of the program. If the program returned 0, no perf event on
 * the machine would see the hit of the tracepoint (perf_trace_run_bpf_submit in
 * kernel/events/core.c). */
#define LET_OTHERS_SEE 1

/* The number of execs that matched the filters but could not be output. */
__u64 lost = 0;

/* libbpf finds the offsets of these fields in the kernel's BTF. A kernel with
 * PREEMPT_RT has more fields before the fields of the tracepoint. */
struct trace_event_raw_sched_process_exec {
  __u32 __data_loc_filename; /* offset, and from bit 16 on the size */
} __attribute__((preserve_access_index));

struct task_struct {
  struct task_struct *real_parent;
  int tgid;
} __attribute__((preserve_access_index));

static __always_inline int is_wanted_comm(const char *comm) {
  int i;

  if (wanted_comm[0] == '\0')
    return 1;
#pragma unroll
  for (i = 0; i < EXEC_COMM_BYTES; i++) {
    if (comm[i] != wanted_comm[i])
      return 0;
    if (comm[i] == '\0')
      return 1;
  }
  return 1;
}

static __always_inline int is_wanted(const struct exec_head *head) {
  if (wanted_pid != 0 && head->pid != wanted_pid && head->ppid != wanted_pid)
    return 0;
  return is_wanted_comm(head->comm);
}

static __always_inline void
add_filename(struct exec_event *event,
             const struct trace_event_raw_sched_process_exec *context) {
  __u32 place = context->__data_loc_filename;
  const char *filename = (const char *)context + (place & 0xffff);
  long bytes =
      bpf_probe_read_kernel_str(event->filename, EXEC_FILENAME_BYTES, filename);

  event->head.filename_bytes = bytes > 0 ? (__u32)bytes : 0;
  event->head.filename_bytes_all = place >> 16;
}

SEC("tp/sched/sched_process_exec")
int on_exec(struct trace_event_raw_sched_process_exec *context) {
  struct task_struct *task = (struct task_struct *)bpf_get_current_task();
  __u32 key = 0;
  struct exec_event *event = bpf_map_lookup_elem(&scratch, &key);
  __u64 size;

  if (event == NULL)
    return LET_OTHERS_SEE;
  event->head.time = bpf_ktime_get_ns();
  event->head.pid = bpf_get_current_pid_tgid() >> 32;
  event->head.ppid = (__u32)BPF_CORE_READ(task, real_parent, tgid);
  bpf_get_current_comm(event->head.comm, sizeof(event->head.comm));
  if (!is_wanted(&event->head))
    return LET_OTHERS_SEE;
  add_filename(event, context);
  size = sizeof(event->head) + event->head.filename_bytes;
  /* This never happens, but the verifier requires the check. */
  if (size > sizeof(*event))
    return LET_OTHERS_SEE;
  if (bpf_perf_event_output(context, &events, BPF_F_CURRENT_CPU, event, size) !=
      0)
    __sync_fetch_and_add(&lost, 1);
  return LET_OTHERS_SEE;
}
