/* SPDX-License-Identifier: MIT */
/* A thread that is switched out makes two records: a sample with its stack,
 * then a SWITCH that says whether it waits or was preempted. The next SWITCH in
 * ends the wait. Kernel threads, which include the idle tasks, are left out: a
 * kernel thread without work only waits.
 *
 * If the sample has a copy of the stack, the stack is unwound meanwhile. The
 * wait is counted when both are known, its stack and its end. */
#include "profile/waits.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/proc.h"
#include "common/tasks.h"
#include "profile/symbols/kallsyms.h"
#include "profile/unwinding.h"

static void on_stack(void *arg, uint64_t number, const profile_stack_t *stack);

/* The functions between these symbols belong to the scheduler, for example
 * schedule() and mutex_lock(). All waits end in these functions.
 * /proc/PID/wchan leaves them out too. */
void profile_waits_init(profile_waits_t *waits, profile_account_t *account,
                        const char *kallsyms) {
  static const char *const names[] = {"__sched_text_start", "__sched_text_end"};
  uint64_t addresses[2];

  memset(waits, 0, sizeof(*waits));
  waits->account = account;
  symbols_kallsyms_addresses(kallsyms, names, addresses, 2);
  waits->sched_start = addresses[0];
  waits->sched_end = addresses[1];
  if (account->unwinding == NULL)
    return;
  account->unwinding->on_stack = on_stack;
  account->unwinding->arg = waits;
}

/* -- stacks ---------------------------------------------------------------- */

/* Kernel threads have no user stack and no user registers. */
static int is_of_user(const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;
  size_t i;

  if ((record->present & PERF_SAMPLE_REGS_USER) != 0 &&
      sample->regs_user.abi != PERF_SAMPLE_REGS_ABI_NONE)
    return 1;
  for (i = 0; i < sample->callchain.nr; i++) {
    if (sample->callchain.ips[i] == (uint64_t)PERF_CONTEXT_USER)
      return 1;
  }
  return 0;
}

static int is_scheduler(const profile_waits_t *waits,
                        const profile_frame_t *frame) {
  return frame->object == PROFILE_OBJECT_KERNEL &&
         frame->offset >= waits->sched_start &&
         frame->offset < waits->sched_end;
}

/* Returns the same stack with one more innermost frame, for example [ready to
 * run]. */
static common_entry_t *stack_under(const profile_waits_t *waits,
                                   uint32_t object,
                                   const common_entry_t *entry) {
  profile_account_t *account = waits->account;
  profile_stack_t stack = {.who = (uint32_t)entry->number, .nr = entry->nr + 1};

  while (account->frame_capacity < stack.nr)
    account->frames = common_grow(account->frames, &account->frame_capacity,
                                  sizeof(*account->frames));
  account->frames[0] = (profile_frame_t){object, 0};
  if (entry->nr > 0)
    memcpy(account->frames + 1, entry->items,
           entry->nr * sizeof(*account->frames));
  stack.frames = account->frames;
  return profile_account_keep(account, &stack);
}

/* Returns a stack of one frame, which says why there are no other frames. */
static common_entry_t *stack_without(const profile_waits_t *waits,
                                     uint32_t object, uint32_t pid,
                                     uint32_t tid) {
  const common_entry_t none = {
      .number = profile_account_who(waits->account, pid, tid, 0)};

  return stack_under(waits, object, &none);
}

/* Returns the stack of a thread that has waited since before the start, as far
 * as /proc knows this stack. */
static common_entry_t *stack_before(const profile_waits_t *waits, uint32_t pid,
                                    uint32_t tid) {
  uint64_t ips[] = {(uint64_t)PERF_CONTEXT_USER, 0};
  profile_stack_t stack;
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.pid = pid;
  record.tid = tid;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 2;
  if (common_proc_entry((int32_t)pid, (int32_t)tid, &ips[1]) != 0)
    return stack_without(waits, PROFILE_OBJECT_BEFORE, pid, tid);
  profile_account_stack(waits->account, &record, &stack);
  return stack_under(waits, PROFILE_OBJECT_BEFORE,
                     profile_account_keep(waits->account, &stack));
}

void profile_waits_look(profile_waits_t *waits) {
  const common_by_id_t *threads = &waits->account->tasks.threads;
  profile_task_t *task = NULL;

  while ((task = common_by_id_next(threads, task)) != NULL)
    task->wait.stack = stack_before(
        waits, task->process != 0 ? task->process : task->tid, task->tid);
}

/* -- counting -------------------------------------------------------------- */

static void count(profile_waits_t *waits, common_entry_t *stack, uint64_t from,
                  uint64_t to) {
  if (from < waits->started_ns)
    from = waits->started_ns;
  if (to > from)
    profile_account_add(waits->account, stack, 1, to - from);
}

static void set_end(profile_wait_t *wait, uint64_t until) {
  wait->pending->tid = 0;
  wait->pending->since = wait->since;
  wait->pending->until = until;
  wait->pending = NULL;
}

static void end_wait(profile_waits_t *waits, profile_wait_t *wait,
                     uint64_t until) {
  if (wait->pending != NULL)
    set_end(wait, until);
  else
    count(waits, wait->stack, wait->since, until);
}

/* Its wait is not counted. */
static void drop_stack(profile_wait_t *wait) {
  if (wait->pending != NULL)
    set_end(wait, 0);
}

/* The thread of a wait that has not ended is in `tasks`: a thread is forgotten
 * only after its EXIT, which ends the wait. */
static void on_stack(void *arg, uint64_t number, const profile_stack_t *stack) {
  profile_waits_t *waits = arg;
  profile_pending_t *pending = (profile_pending_t *)(uintptr_t)number;
  common_entry_t *entry = profile_account_keep(waits->account, stack);
  profile_wait_t *wait;

  if (pending->is_ready)
    entry = stack_under(waits, PROFILE_OBJECT_READY, entry);
  if (pending->tid == 0) {
    count(waits, entry, pending->since, pending->until);
  } else {
    wait = &profile_tasks_get(&waits->account->tasks, pending->tid)->wait;
    wait->stack = entry;
    wait->pending = NULL;
  }
  free(pending);
}

/* The stack is known at once, or when it is unwound. */
static void set_stack(profile_waits_t *waits, profile_wait_t *wait,
                      const uvperf_record_t *record) {
  profile_unwinding_t *unwinding = waits->account->unwinding;
  profile_stack_t stack;

  profile_account_stack(waits->account, record, &stack);
  while (stack.nr > 1 && is_scheduler(waits, stack.frames)) {
    stack.frames++;
    stack.nr--;
  }
  if (unwinding != NULL) {
    wait->pending = common_calloc(1, sizeof(*wait->pending));
    wait->pending->tid = record->tid;
    if (profile_unwinding_take(unwinding, record, &stack,
                               (uintptr_t)wait->pending) == 0)
      return;
    free(wait->pending);
    wait->pending = NULL;
  }
  wait->stack = profile_account_keep(waits->account, &stack);
}

/* -- threads --------------------------------------------------------------- */

/* Returns the stack from before the start, with the thread's current name and
 * ids. */
static common_entry_t *before(const profile_waits_t *waits,
                              const profile_wait_t *wait, uint32_t pid,
                              uint32_t tid, uint64_t cgroup) {
  const common_entry_t *entry = wait->stack;
  profile_stack_t stack;

  if (entry == NULL)
    entry = stack_without(waits, PROFILE_OBJECT_BEFORE, pid, tid);
  stack.who = profile_account_who(waits->account, pid, tid, cgroup);
  stack.frames = entry->items;
  stack.nr = entry->nr;
  return profile_account_keep(waits->account, &stack);
}

static void on_sample(profile_waits_t *waits, profile_task_t *task,
                      const uvperf_record_t *record) {
  profile_wait_t *wait = &task->wait;

  if (!is_of_user(record)) {
    wait->state = PROFILE_WAIT_LEFT_OUT;
    return;
  }
  if (wait->state == PROFILE_WAIT_OUT)
    waits->nr_unknown++;
  if (wait->state == PROFILE_WAIT_CAME)
    count(waits,
          before(waits, wait, record->pid, record->tid, record->sample.cgroup),
          0, wait->since);
  drop_stack(wait);
  set_stack(waits, wait, record);
  wait->state = PROFILE_WAIT_LEAVES;
  wait->since = record->time;
}

static void on_out(profile_waits_t *waits, profile_task_t *task,
                   const uvperf_record_t *record) {
  profile_wait_t *wait = &task->wait;

  if (wait->state == PROFILE_WAIT_OUT)
    waits->nr_unknown++;
  if (wait->state != PROFILE_WAIT_LEAVES) {
    drop_stack(wait);
    wait->stack =
        stack_without(waits, PROFILE_OBJECT_UNKNOWN, record->pid, record->tid);
  }
  if (uvperf_record_is_preempted(record) && wait->pending != NULL)
    wait->pending->is_ready = 1;
  else if (uvperf_record_is_preempted(record))
    wait->stack = stack_under(waits, PROFILE_OBJECT_READY, wait->stack);
  wait->state = PROFILE_WAIT_OUT;
  wait->since = record->time;
}

static void on_in(profile_waits_t *waits, profile_task_t *task,
                  const uvperf_record_t *record) {
  profile_wait_t *wait = &task->wait;

  switch (wait->state) {
    case PROFILE_WAIT_OUT:
    case PROFILE_WAIT_LEAVES:
      end_wait(waits, wait, record->time);
      break;
    case PROFILE_WAIT_NEW:
      wait->since = record->time;
      wait->state = PROFILE_WAIT_CAME;
      return;
    case PROFILE_WAIT_RUNS:
    case PROFILE_WAIT_CAME:
      waits->nr_unknown++;
      break;
    default:
      break;
  }
  wait->state = PROFILE_WAIT_RUNS;
}

static void forget(profile_waits_t *waits, uint32_t tid, int state) {
  profile_task_t *task;

  if (!common_tasks_has_id(tid))
    return;
  task = profile_tasks_get(&waits->account->tasks, tid);
  if (task->wait.state == PROFILE_WAIT_OUT)
    waits->nr_unknown++;
  drop_stack(&task->wait);
  memset(&task->wait, 0, sizeof(task->wait));
  task->wait.state = state;
}

/* -- records --------------------------------------------------------------- */

/* A task that has ended is switched out once more. This is not a wait. */
static void on_switch(profile_waits_t *waits, const uvperf_record_t *record) {
  profile_task_t *task;

  if (!common_tasks_has_id(record->tid))
    return;
  task = profile_tasks_get(&waits->account->tasks, record->tid);
  if (task->died != 0)
    return;
  if (record->type == PERF_RECORD_SAMPLE)
    on_sample(waits, task, record);
  else if (task->wait.state == PROFILE_WAIT_LEFT_OUT)
    return;
  else if (uvperf_record_is_switch_out(record))
    on_out(waits, task, record);
  else
    on_in(waits, task, record);
}

void profile_waits_record(profile_waits_t *waits,
                          const uvperf_record_t *record) {
  switch (record->type) {
    case PERF_RECORD_SAMPLE:
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
      on_switch(waits, record);
      return;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      waits->lost_ns = record->time;
      break;
    case PERF_RECORD_FORK:
      forget(waits, record->task.tid, PROFILE_WAIT_BORN);
      break;
    case PERF_RECORD_EXIT:
      forget(waits, record->task.tid, PROFILE_WAIT_BORN);
      break;
    default:
      break;
  }
  profile_account_record(waits->account, record);
}

/* If a thread had no switch and does not run now, it has waited all the
 * time. */
static void end_of_new(profile_waits_t *waits, const profile_task_t *task,
                       uint64_t now) {
  uint32_t pid = task->process != 0 ? task->process : task->tid;
  common_proc_stat_t stat;

  if (common_proc_stat((int32_t)pid, (int32_t)task->tid, &stat) == 0 &&
      stat.state != 'R')
    count(waits, before(waits, &task->wait, pid, task->tid, 0), 0, now);
}

static void end_of(profile_waits_t *waits, profile_task_t *task, uint64_t now,
                   int is_of_tasks) {
  profile_wait_t *wait = &task->wait;

  if (task->died != 0)
    return;
  if (wait->state == PROFILE_WAIT_NEW && is_of_tasks)
    end_of_new(waits, task, now);
  if (wait->state != PROFILE_WAIT_OUT && wait->state != PROFILE_WAIT_LEAVES)
    return;
  /* The wait may have ended long ago, in a lost record. */
  if (wait->since <= waits->lost_ns)
    waits->nr_unknown++;
  else
    end_wait(waits, wait, now);
}

void profile_waits_end(profile_waits_t *waits, uint64_t now, int is_of_tasks) {
  const common_by_id_t *threads = &waits->account->tasks.threads;
  profile_task_t *task = NULL;

  while ((task = common_by_id_next(threads, task)) != NULL)
    end_of(waits, task, now, is_of_tasks);
}
