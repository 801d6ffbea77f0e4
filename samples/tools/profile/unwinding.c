/* SPDX-License-Identifier: MIT */
/* The kernel copies the top of the stack. The sample's task, kernel frames and
 * number go through the queue together with this copy. */
#include "profile/unwinding.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/tasks.h"

typedef struct taken_s {
  uint64_t number;
  profile_who_t who;        /* its index may change: see fade.h */
  uint32_t nr_restarts;     /* of the account */
  uint32_t nr_kernel : 31;  /* frames */
  uint32_t is_user : 1;     /* the user frame is from the sample */
  profile_frame_t frames[]; /* of the kernel, then one of user code */
} taken_t;

int profile_unwinding_can(const char *arch) {
  return unwind_regs_mask(unwind_machine(arch)) != 0;
}

void profile_unwinding_ask(struct perf_event_attr *attr, uint32_t stack_bytes) {
  if (stack_bytes == 0)
    return;
  attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr->sample_regs_user = unwind_regs_mask(unwind_machine(NULL));
  attr->sample_stack_user = stack_bytes;
  /* The kernel's own frames still come from the call chain. */
  attr->exclude_callchain_user = 1;
}

/* -- mappings -------------------------------------------------------------- */

static void send_objects(const profile_unwinding_t *unwinding, uint32_t pid,
                         const profile_task_t *task) {
  symbols_mapping_t mapping;
  size_t i;

  for (i = 0; i < task->nr_maps; i++) {
    if (task->maps[i].object == PROFILE_OBJECT_UNKNOWN)
      continue;
    mapping = profile_account_object(unwinding->account, pid, &task->maps[i]);
    unwind_queue_object(unwinding->queue, task->maps[i].object, &mapping);
  }
}

static void send_maps(const profile_unwinding_t *unwinding, uint32_t pid,
                      profile_task_t *task) {
  unwind_range_t *ranges = common_calloc(task->nr_maps + 1, sizeof(*ranges));
  size_t i;

  send_objects(unwinding, pid, task);
  for (i = 0; i < task->nr_maps; i++) {
    ranges[i].start = task->maps[i].start;
    ranges[i].end = task->maps[i].end;
    ranges[i].pgoff = task->maps[i].pgoff;
    ranges[i].object = task->maps[i].object;
  }
  unwind_queue_map(unwinding->queue, pid, ranges, task->nr_maps);
  task->is_unwindable = 1;
  free(ranges);
}

static void on_reap(void *arg, uint32_t tid) {
  const profile_unwinding_t *unwinding = arg;

  unwind_queue_forget(unwinding->queue, tid);
}

/* -- samples --------------------------------------------------------------- */

/* Without places, the stack ends with the one user frame that is known. */
static void on_stack(void *arg, const void *context, unwind_end_t end,
                     const unwind_place_t *places, size_t nr) {
  const profile_unwinding_t *unwinding = arg;
  const taken_t *taken = context;
  profile_frame_t frames[UNWIND_FRAMES + PERF_MAX_STACK_DEPTH + 2];
  profile_stack_t stack = {0, frames, taken->nr_kernel};
  size_t i;

  (void)end;
  if (taken->nr_restarts != unwinding->account->nr_restarts)
    return;
  stack.who = profile_account_keep_who(unwinding->account, &taken->who);
  memcpy(frames, taken->frames, (taken->nr_kernel + 1) * sizeof(*frames));
  /* The kernel can copy the registers later than the moment of a precise event,
   * so the sample's own user frame stays. */
  for (i = taken->is_user; i < nr; i++) {
    frames[stack.nr + i].object = places[i].object == UNWIND_NO_OBJECT
                                      ? PROFILE_OBJECT_UNKNOWN
                                      : places[i].object;
    frames[stack.nr + i].offset =
        places[i].object == UNWIND_NO_OBJECT ? 0 : places[i].offset;
  }
  stack.nr += nr > 0 ? nr : 1;
  if (unwinding->on_stack != NULL)
    unwinding->on_stack(unwinding->arg, taken->number, &stack);
  else
    profile_account_count(unwinding->account, &stack, 1, taken->number);
}

int profile_unwinding_take(profile_unwinding_t *unwinding,
                           const uvperf_record_t *record,
                           const profile_stack_t *stack, uint64_t number) {
  const uint64_t copied = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
  const int is_user =
      uvperf_record_cpu_mode(record->misc) == PERF_RECORD_MISC_USER;
  profile_task_t *task;
  taken_t *taken;
  uint64_t ip;
  size_t bytes;

  if ((record->present & copied) != copied ||
      record->sample.regs_user.abi == PERF_SAMPLE_REGS_ABI_NONE ||
      !common_tasks_has_id(record->pid) || stack->nr > PERF_MAX_STACK_DEPTH)
    return -1;
  if (unwind_ip(unwinding->machine, &record->sample.regs_user, &ip) != 0) {
    unwinding->nr_32_bit++;
    return -1;
  }
  task = profile_tasks_get(&unwinding->account->tasks, record->pid);
  if (!task->is_unwindable)
    send_maps(unwinding, record->pid, task);
  bytes = sizeof(*taken) + (stack->nr + 1) * sizeof(*taken->frames);
  taken = common_calloc(1, bytes);
  taken->number = number;
  taken->who = *profile_account_get_who(unwinding->account, stack->who);
  taken->nr_restarts = unwinding->account->nr_restarts;
  taken->is_user = is_user && (record->present & PERF_SAMPLE_IP) != 0;
  taken->nr_kernel = (uint32_t)(is_user ? 0 : stack->nr) & INT32_MAX;
  memcpy(taken->frames, stack->frames,
         taken->nr_kernel * sizeof(*stack->frames));
  taken->frames[taken->nr_kernel] = profile_account_user_frame(
      unwinding->account, record->pid, taken->is_user ? record->ip : ip);
  if (unwind_queue_add(unwinding->queue, record->pid, &record->sample, taken,
                       bytes) != 0)
    on_stack(unwinding, taken, UNWIND_DROPPED, NULL, 0);
  free(taken);
  return 0;
}

/* -- life-cycle ------------------------------------------------------------ */

int profile_unwinding_init(profile_unwinding_t *unwinding,
                           profile_account_t *account, const char *arch) {
  unwind_queue_options_t options = {
      .machine = unwind_machine(arch), .on_stack = on_stack, .arg = unwinding};

  if (!profile_unwinding_can(arch))
    return -1;
  unwinding->account = account;
  unwinding->machine = options.machine;
  unwinding->queue = unwind_queue_new(symbols_jobs(account->symbols), &options);
  account->unwinding = unwinding;
  account->tasks.on_reap = on_reap;
  account->tasks.arg = unwinding;
  return 0;
}

void profile_unwinding_flush(profile_unwinding_t *unwinding) {
  if (unwinding->queue != NULL)
    unwind_queue_flush(unwinding->queue);
}

void profile_unwinding_wait(profile_unwinding_t *unwinding,
                            void (*cb)(void *arg), void *arg) {
  unwind_queue_wait(unwinding->queue, cb, arg);
}

void profile_unwinding_free(profile_unwinding_t *unwinding) {
  unwind_queue_free(unwinding->queue);
  memset(unwinding, 0, sizeof(*unwinding));
}
