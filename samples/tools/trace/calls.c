/* SPDX-License-Identifier: MIT */
/* A call is measured only if its begin and its end were seen, and no record was
 * lost between them. All other calls are counted separately. */
#include "trace/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "common/memory.h"
#include "common/tasks.h"
#include "trace/syscalls.h"

/* From include/linux/errno.h: the call was interrupted. The call is restarted
 * or returns EINTR. This depends on the handler of the signal. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516
#define MAX_ERRNO             4095

/* A thread. */
struct trace_caller_s {
  common_item_t item;
  uint32_t pid, tid;
  trace_group_t *group; /* NULL: no call yet */
  trace_call_t *call;   /* the call that it is in, or NULL */
  uint64_t began;
  uint64_t losses; /* before the call began */
  int is_new;      /* the next end is of the call that created it */
};

/* -- groups and their calls ------------------------------------------------ */

static int is_one_of(const char *name, const char *one, const char *other) {
  return name != NULL && (strcmp(name, one) == 0 || strcmp(name, other) == 0);
}

static trace_call_t *find_call(const trace_calls_t *calls, trace_group_t *group,
                               int64_t nr, int is_compat, const char *name) {
  uint64_t id = 2 * (uint64_t)nr + (is_compat != 0);
  trace_call_t *call = common_by_id_find(&group->calls, id);

  if (call != NULL)
    return call;
  if (name == NULL && !is_compat && !calls->is_foreign)
    name = trace_syscalls_name(nr);
  call = common_by_id_get(&group->calls, id, sizeof(*call));
  call->nr = nr;
  call->is_compat = is_compat;
  call->name = name;
  call->is_exec = is_one_of(name, "execve", "execveat");
  call->is_sigreturn = is_one_of(name, "rt_sigreturn", "sigreturn");
  return call;
}

static void free_group(trace_group_t *group) {
  common_by_id_free(&group->calls, free);
  free(group);
}

static void join_call(const trace_calls_t *calls, trace_group_t *group,
                      const trace_call_t *other) {
  trace_call_t *call =
      find_call(calls, group, other->nr, other->is_compat, other->name);

  trace_latency_join(&call->latency, &other->latency);
  call->errors += other->errors;
  call->interrupted += other->interrupted;
  call->running += other->running;
  call->ended += other->ended;
  call->no_begin += other->no_begin;
  call->no_end += other->no_end;
}

static void join_group(const trace_calls_t *calls, trace_group_t *group,
                       const trace_group_t *other) {
  const trace_call_t *call = NULL;

  trace_latency_join(&group->sum, &other->sum);
  group->errors += other->errors;
  group->nr_joined++;
  while ((call = common_by_id_next(&other->calls, call)) != NULL)
    join_call(calls, group, call);
}

static trace_group_t *add_group(trace_calls_t *calls) {
  return *COMMON_ADD(calls->groups, calls->nr, calls->capacity) =
             common_calloc(1, sizeof(*calls->groups[0]));
}

/* Makes room: if a group has ended, joins the smallest such group to the sum of
 * ended groups. */
static void join_smallest(trace_calls_t *calls) {
  size_t i, smallest = SIZE_MAX;

  for (i = 0; i < calls->nr; i++) {
    if (calls->groups[i]->nr_threads == 0 &&
        calls->groups[i] != calls->joined &&
        (smallest == SIZE_MAX ||
         calls->groups[i]->sum.nr < calls->groups[smallest]->sum.nr))
      smallest = i;
  }
  if (smallest == SIZE_MAX)
    return;
  if (calls->joined == NULL)
    calls->joined = add_group(calls);
  join_group(calls, calls->joined, calls->groups[smallest]);
  free_group(calls->groups[smallest]);
  calls->groups[smallest] = calls->groups[--calls->nr];
}

/* Returns the group of the process, from another of its threads, or NULL. */
static trace_group_t *group_of_process(const trace_calls_t *calls,
                                       uint32_t pid) {
  const trace_caller_t *caller = common_by_id_find(&calls->callers, pid);
  size_t i;

  if (caller != NULL && caller->group != NULL)
    return caller->group;
  for (i = calls->nr; i-- > 0;) {
    if (calls->groups[i]->pid == pid && calls->groups[i]->nr_threads > 0)
      return calls->groups[i];
  }
  return NULL;
}

static trace_group_t *group_for(trace_calls_t *calls,
                                const trace_caller_t *caller,
                                const char *comm) {
  trace_group_t *group = NULL;

  if (calls->by == TRACE_CALLS_BY_ALL && calls->nr > 0)
    group = calls->groups[0];
  else if (calls->by == TRACE_CALLS_BY_PROCESS)
    group = group_of_process(calls, caller->pid);
  if (group != NULL)
    return group;
  if (calls->nr >= TRACE_CALLS_GROUPS)
    join_smallest(calls);
  group = add_group(calls);
  if (calls->by == TRACE_CALLS_BY_ALL)
    return group;
  group->pid = caller->pid;
  group->tid = calls->by == TRACE_CALLS_BY_THREAD ? caller->tid : caller->pid;
  snprintf(group->comm, sizeof(group->comm), "%s", comm);
  return group;
}

/* -- threads --------------------------------------------------------------- */

static void forget_caller(trace_calls_t *calls, trace_caller_t *caller) {
  if (caller->call != NULL)
    caller->call->ended++;
  if (caller->group != NULL)
    caller->group->nr_threads--;
  common_by_id_remove(&calls->callers, caller);
  free(caller);
}

static trace_caller_t *add_caller(trace_calls_t *calls, uint32_t pid,
                                  uint32_t tid) {
  trace_caller_t *caller =
      common_by_id_get(&calls->callers, tid, sizeof(*caller));

  caller->pid = pid;
  caller->tid = tid;
  return caller;
}

/* Returns the thread with its group, or NULL if the task has no id of its own.
 * If a thread had this id with another pid, it is removed, because the record
 * of its end was lost. */
static trace_caller_t *find_caller(trace_calls_t *calls,
                                   const trace_caller_now_t *now) {
  trace_caller_t *caller;

  if (!common_tasks_has_id(now->tid)) {
    calls->outsiders++;
    return NULL;
  }
  caller = common_by_id_find(&calls->callers, now->tid);
  if (caller != NULL && caller->pid != now->pid) {
    forget_caller(calls, caller);
    caller = NULL;
  }
  if (caller == NULL)
    caller = add_caller(calls, now->pid, now->tid);
  if (caller->group == NULL) {
    caller->group = group_for(calls, caller, now->comm);
    caller->group->nr_threads++;
  }
  return caller;
}

void trace_calls_free(trace_calls_t *calls) {
  size_t i;

  common_by_id_free(&calls->callers, free);
  for (i = 0; i < calls->nr; i++)
    free_group(calls->groups[i]);
  free(calls->groups);
  memset(calls, 0, sizeof(*calls));
}

void trace_calls_fork(trace_calls_t *calls, uint32_t pid, uint32_t tid) {
  if (!common_tasks_has_id(tid))
    return;
  trace_calls_exit(calls, tid);
  add_caller(calls, pid, tid)->is_new = 1;
}

void trace_calls_comm(trace_calls_t *calls, uint32_t pid, uint32_t tid,
                      const char *comm) {
  trace_caller_t *caller = common_by_id_find(&calls->callers, tid);

  if (calls->by == TRACE_CALLS_BY_ALL || caller == NULL ||
      caller->group == NULL ||
      (calls->by == TRACE_CALLS_BY_PROCESS && tid != pid))
    return;
  snprintf(caller->group->comm, sizeof(caller->group->comm), "%s", comm);
}

/* Finds the group again after an exec. The process is still the same, even if
 * its first thread was known and ended at the exec. */
static void rejoin(trace_calls_t *calls, trace_caller_t *caller) {
  size_t i;

  for (i = calls->nr; i-- > 0;) {
    if (calls->groups[i]->tid != caller->tid)
      continue;
    caller->group = calls->groups[i];
    caller->group->nr_threads++;
    return;
  }
}

/* After an exec all other threads of the process have ended, and the thread
 * that called execve has the id of the first thread. If the thread was not
 * known before, measuring began during its execve, as for a command. */
void trace_calls_exec(trace_calls_t *calls, uint32_t pid, uint32_t tid) {
  trace_caller_t *caller = common_by_id_find(&calls->callers, tid);
  trace_caller_t *other = NULL;

  if (!common_tasks_has_id(tid) || (caller != NULL && caller->call != NULL))
    return;
  while ((other = common_by_id_next(&calls->callers, other)) != NULL) {
    if (other->pid != pid || other->tid == tid || other->call == NULL)
      continue;
    if (caller != NULL)
      forget_caller(calls, caller);
    common_by_id_move(&calls->callers, other, tid);
    other->tid = tid;
    return;
  }
  if (caller != NULL)
    return;
  caller = add_caller(calls, pid, tid);
  caller->is_new = 1;
  rejoin(calls, caller);
}

void trace_calls_exit(trace_calls_t *calls, uint32_t tid) {
  trace_caller_t *caller = common_by_id_find(&calls->callers, tid);

  if (caller != NULL)
    forget_caller(calls, caller);
}

void trace_calls_lost(trace_calls_t *calls) {
  calls->losses++;
}

/* -- calls ----------------------------------------------------------------- */

static int is_interrupted(int64_t result) {
  return result == -ERESTARTSYS || result == -ERESTARTNOINTR ||
         result == -ERESTARTNOHAND || result == -ERESTART_RESTARTBLOCK;
}

/* sigreturn replaces the register of the result, so its result means
 * nothing. */
static void measure(trace_caller_t *caller, uint64_t ns, int64_t result) {
  trace_call_t *call = caller->call;

  trace_latency_add(&call->latency, ns);
  trace_latency_add(&caller->group->sum, ns);
  if (call->is_sigreturn)
    return;
  if (is_interrupted(result)) {
    call->interrupted++;
  } else if (result < 0 && result >= -MAX_ERRNO) {
    call->errors++;
    caller->group->errors++;
  }
}

void trace_calls_begin(trace_calls_t *calls, const trace_caller_now_t *now,
                       int64_t nr, const char *name, int is_compat) {
  trace_caller_t *caller = find_caller(calls, now);

  if (caller == NULL)
    return;
  if (caller->call != NULL)
    caller->call->no_end++;
  caller->is_new = 0;
  caller->call = find_call(calls, caller->group, nr, is_compat, name);
  caller->began = now->time;
  caller->losses = calls->losses;
}

void trace_calls_end(trace_calls_t *calls, const trace_caller_now_t *now,
                     int64_t nr, const char *name, int is_compat,
                     int64_t result) {
  trace_caller_t *caller = find_caller(calls, now);
  trace_call_t *call;

  if (caller == NULL)
    return;
  call = caller->call;
  if (call == NULL) {
    /* A new thread first ends the fork, clone or vfork that created it. */
    if (!caller->is_new)
      find_call(calls, caller->group, nr, is_compat, name)->no_begin++;
  } else if (call->nr != nr && !call->is_exec && !call->is_sigreturn) {
    /* execve and sigreturn replace the register that holds the number of the
     * call. So the next end belongs to this execve or sigreturn, whatever its
     * number is. */
    call->no_end++;
    find_call(calls, caller->group, nr, is_compat, name)->no_begin++;
  } else if (caller->losses != calls->losses || now->time < caller->began) {
    call->no_end++;
  } else {
    measure(caller, now->time - caller->began, result);
  }
  caller->is_new = 0;
  caller->call = NULL;
}

/* -- the end --------------------------------------------------------------- */

static int compare_groups(const void *one, const void *other) {
  const trace_group_t *a = *(trace_group_t *const *)one;
  const trace_group_t *b = *(trace_group_t *const *)other;

  if (a->sum.nr != b->sum.nr)
    return a->sum.nr > b->sum.nr ? -1 : 1;
  return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void trace_calls_finish(trace_calls_t *calls) {
  trace_caller_t *caller = NULL;

  while ((caller = common_by_id_next(&calls->callers, caller)) != NULL) {
    if (caller->call != NULL && caller->losses == calls->losses)
      caller->call->running++;
    else if (caller->call != NULL)
      caller->call->no_end++;
    caller->call = NULL;
  }
  if (calls->nr > 1)
    qsort(calls->groups, calls->nr, sizeof(*calls->groups), compare_groups);
}

static int compare_calls(const void *one, const void *other) {
  const trace_call_t *a = *(const trace_call_t *const *)one;
  const trace_call_t *b = *(const trace_call_t *const *)other;

  if (a->latency.total != b->latency.total)
    return a->latency.total > b->latency.total ? -1 : 1;
  if (a->nr != b->nr)
    return a->nr < b->nr ? -1 : 1;
  return a->is_compat - b->is_compat;
}

const trace_call_t **trace_calls_sorted(const trace_group_t *group) {
  const trace_call_t **sorted =
                         common_calloc(group->calls.nr + 1, sizeof(*sorted)),
                     *call = NULL;
  size_t nr = 0;

  while ((call = common_by_id_next(&group->calls, call)) != NULL)
    sorted[nr++] = call;
  if (nr > 1)
    qsort(sorted, nr, sizeof(*sorted), compare_calls);
  return sorted;
}

/* -- latencies ------------------------------------------------------------- */

#define NR_BUCKETS ((size_t)TRACE_LATENCY_POWERS * TRACE_LATENCY_PARTS)

static size_t bucket_of(uint64_t ns) {
  size_t power = 0, i;
  uint64_t rest;

  for (rest = ns; rest > 1; rest >>= 1)
    power++;
  if (power >= TRACE_LATENCY_POWERS)
    return NR_BUCKETS - 1;
  i = (size_t)((power >= 2 ? ns >> (power - 2) : ns << (2 - power)) & 3);
  return power * TRACE_LATENCY_PARTS + i;
}

/* Returns the shortest time of a bucket. */
static uint64_t start_of(size_t bucket) {
  uint64_t part = bucket % TRACE_LATENCY_PARTS;

  return (TRACE_LATENCY_PARTS + part) << (bucket / TRACE_LATENCY_PARTS) >> 2;
}

/* Uses Welford's algorithm, which works with the small distances from the
 * mean. */
void trace_latency_add(trace_latency_t *latency, uint64_t ns) {
  double distance = (double)ns - latency->mean;

  if (latency->nr == 0 || ns < latency->min)
    latency->min = ns;
  if (ns > latency->max)
    latency->max = ns;
  latency->nr++;
  latency->total += ns;
  latency->mean += distance / (double)latency->nr;
  latency->squares += distance * ((double)ns - latency->mean);
  latency->buckets[bucket_of(ns)]++;
}

void trace_latency_join(trace_latency_t *latency,
                        const trace_latency_t *other) {
  double nr = (double)latency->nr, more = (double)other->nr;
  double distance = other->mean - latency->mean;
  size_t i;

  if (other->nr == 0)
    return;
  if (latency->nr == 0 || other->min < latency->min)
    latency->min = other->min;
  if (other->max > latency->max)
    latency->max = other->max;
  latency->squares +=
      other->squares + distance * distance * nr * more / (nr + more);
  latency->mean += distance * more / (nr + more);
  latency->nr += other->nr;
  latency->total += other->total;
  for (i = 0; i < NR_BUCKETS; i++)
    latency->buckets[i] += other->buckets[i];
}

uint64_t trace_latency_percentile(const trace_latency_t *latency,
                                  unsigned percent) {
  uint64_t wanted = (uint64_t)ceil((double)latency->nr * percent / 100);
  uint64_t nr = 0, end;
  size_t i;

  if (latency->nr == 0)
    return 0;
  for (i = 0; i + 1 < NR_BUCKETS; i++) {
    nr += latency->buckets[i];
    if (nr >= wanted)
      break;
  }
  end = start_of(i + 1) - 1;
  if (end < latency->min)
    return latency->min;
  return end > latency->max || i + 1 == NR_BUCKETS ? latency->max : end;
}

double trace_latency_stddev(const trace_latency_t *latency) {
  return latency->nr < 2 ? 0
                         : sqrt(latency->squares / (double)(latency->nr - 1));
}
