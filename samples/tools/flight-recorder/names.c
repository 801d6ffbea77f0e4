/* SPDX-License-Identifier: MIT */
/* Keeps the names that threads had, each with the time from which on it was
 * valid. Switches are read long after they happened. By then a thread may have
 * another name, or may have ended. A past name is useful only for a switch in
 * the rings. So there need not be more past names than switches that fit into
 * the rings. Does not use /proc. */
#include "flight-recorder/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/proc.h"
#include "common/tasks.h"
#include "common/text.h"

void flight_names_init(flight_names_t *names, size_t nr_past) {
  memset(names, 0, sizeof(*names));
  names->past_capacity = nr_past;
  names->past = common_calloc(nr_past, sizeof(*names->past));
  names->has_outsiders = common_tasks_has_outsiders();
}

static flight_thread_t **place_of(const flight_names_t *names, uint32_t tid) {
  flight_thread_t **link =
      (flight_thread_t **)&names->buckets[tid % FLIGHT_NAME_BUCKETS];

  while (*link != NULL && (*link)->tid != tid)
    link = &(*link)->next;
  return link;
}

static void remove_at(flight_thread_t **link) {
  flight_thread_t *thread = *link;
  size_t i;

  *link = thread->next;
  for (i = 0; i < thread->nr; i++)
    free(thread->names[thread->first + i].comm);
  free(thread->names);
  free(thread);
}

void flight_names_free(flight_names_t *names) {
  size_t i;

  for (i = 0; i < FLIGHT_NAME_BUCKETS; i++) {
    while (names->buckets[i] != NULL)
      remove_at(&names->buckets[i]);
  }
  free(names->past);
}

/* -- past names ------------------------------------------------------------ */

/* The oldest past name is also the oldest name of its thread. A living thread
 * always has a newer name. */
static void forget_oldest(flight_names_t *names) {
  flight_thread_t **link = place_of(names, names->past[names->past_first]);
  flight_thread_t *thread = *link;

  names->past_first = (names->past_first + 1) % names->past_capacity;
  names->past_nr--;
  free(thread->names[thread->first].comm);
  thread->first++;
  thread->nr--;
  if (thread->nr == 0)
    remove_at(link);
}

static void put_past(flight_names_t *names, uint32_t tid) {
  if (names->past_nr == names->past_capacity)
    forget_oldest(names);
  names->past[(names->past_first + names->past_nr) % names->past_capacity] =
      tid;
  names->past_nr++;
}

static void end(flight_names_t *names, flight_thread_t *thread) {
  if (thread->is_ended)
    return;
  thread->is_ended = 1;
  put_past(names, thread->tid);
}

/* -- new names ------------------------------------------------------------- */

static flight_thread_t *find_or_add(flight_names_t *names, uint32_t tid) {
  flight_thread_t **link = place_of(names, tid);

  if (*link == NULL) {
    *link = common_calloc(1, sizeof(**link));
    (*link)->tid = tid;
    (*link)->names = common_calloc(1, sizeof(*(*link)->names));
    (*link)->capacity = 1;
  }
  return *link;
}

static flight_name_t *newest_of(const flight_thread_t *thread) {
  return thread->nr == 0 ? NULL
                         : &thread->names[thread->first + thread->nr - 1];
}

static char *copy_of(const char *comm) {
  size_t size = strlen(comm) + 1;

  return memcpy(common_calloc(size, 1), comm, size);
}

static void append(flight_thread_t *thread, const char *comm, uint64_t since) {
  flight_name_t *name;

  if (thread->first + thread->nr == thread->capacity) {
    if (thread->first > thread->capacity / 2) {
      memmove(thread->names, thread->names + thread->first,
              thread->nr * sizeof(*thread->names));
      thread->first = 0;
    } else {
      thread->names =
          common_grow(thread->names, &thread->capacity, sizeof(*thread->names));
    }
  }
  name = &thread->names[thread->first + thread->nr++];
  name->since = since;
  name->comm = copy_of(comm);
}

/* A thread that changes its name all the time must not push out the names of
 * other threads. If a thread has more than FLIGHT_NAMES_OF_ONE names, it loses
 * its own oldest name. That name's entry in the ring then stands for the
 * thread's next past name. */
static void drop_own(flight_thread_t *thread) {
  free(thread->names[thread->first].comm);
  thread->first++;
  thread->nr--;
}

/* Ignores a late record, whose name has already been replaced. */
static void begin(flight_names_t *names, uint32_t tid, const char *comm,
                  uint64_t since) {
  flight_thread_t *thread = find_or_add(names, tid);
  flight_name_t *newest = newest_of(thread);
  int was_ended = thread->is_ended;
  char *copy;

  if (newest != NULL && since < newest->since)
    return;
  thread->is_ended = 0;
  if (newest != NULL && since == newest->since && !was_ended) {
    copy = copy_of(comm);
    free(newest->comm);
    newest->comm = copy;
    return;
  }
  append(thread, comm, since);
  /* The name of an ended thread is already in the ring of past names. */
  if (newest == NULL || was_ended)
    return;
  if (thread->nr > FLIGHT_NAMES_OF_ONE)
    drop_own(thread);
  else
    put_past(names, tid);
}

/* -- records --------------------------------------------------------------- */

/* A new thread has the name of its creator. The name is copied first, because
 * the original may move in memory. */
static void follow_fork(flight_names_t *names, const uvperf_record_t *record) {
  char *comm = copy_of(flight_names_at(names, record->task.ptid, record->time));

  begin(names, record->task.tid, comm, record->time);
  free(comm);
}

static void follow_exit(flight_names_t *names, uint32_t tid) {
  flight_thread_t *thread = *place_of(names, tid);

  if (thread != NULL)
    end(names, thread);
}

void flight_names_record(flight_names_t *names, const uvperf_record_t *record) {
  const uvperf_comm_t *comm = &record->comm;
  char name[COMMON_PROC_COMM_BYTES];

  switch (record->type) {
    case PERF_RECORD_FORK:
      if (common_tasks_has_id(record->task.tid))
        follow_fork(names, record);
      break;
    case PERF_RECORD_COMM:
      if (common_tasks_has_id(comm->tid))
        begin(names, comm->tid,
              common_text_copy(name, sizeof(name), comm->comm, comm->comm_size),
              record->time);
      break;
    case PERF_RECORD_EXIT:
      if (common_tasks_has_id(record->task.tid))
        follow_exit(names, record->task.tid);
      break;
    case PERF_RECORD_LOST:
      names->lost += record->lost.lost;
      names->lost_in_all += record->lost.lost;
      break;
    default:
      break;
  }
}

/* Returns the last name that began at `time` or before. */
const char *flight_names_at(const flight_names_t *names, uint32_t tid,
                            uint64_t time) {
  const flight_thread_t *thread = *place_of(names, tid);
  size_t low, high, middle;

  /* Each CPU has an idle task. */
  if (tid == 0 && !names->has_outsiders)
    return "swapper";
  if (thread == NULL)
    return "";
  low = thread->first;
  high = thread->first + thread->nr;
  while (low < high) {
    middle = low + (high - low) / 2;
    if (thread->names[middle].since <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low == thread->first ? "" : thread->names[low - 1].comm;
}

/* -- scans ----------------------------------------------------------------- */

void flight_names_scan_begin(flight_names_t *names) {
  names->scan++;
  names->lost = 0;
}

/* /proc adds the current or last work to the name of a kworker
 * (wq_worker_comm() in kernel/workqueue.c). At the time of a switch the work
 * was different, so the added part is cut off. The name of a rescuer,
 * kworker/R-NAME, is kept whole. */
static void cut_work(char *comm) {
  static const char worker[] = "kworker/";
  char *id = comm + sizeof(worker) - 1;

  if (strncmp(comm, worker, sizeof(worker) - 1) == 0 &&
      (isdigit((unsigned char)*id) || *id == 'u'))
    id[strcspn(id, "-+")] = '\0';
}

void flight_names_scan_found(flight_names_t *names, uint32_t tid,
                             const char *comm, uint64_t time) {
  flight_thread_t *thread = find_or_add(names, tid);
  const flight_name_t *newest = newest_of(thread);
  char *name = copy_of(comm);

  cut_work(name);
  thread->scan = names->scan;
  if (newest == NULL || thread->is_ended || strcmp(newest->comm, name) != 0)
    begin(names, tid, name, time);
  free(name);
}

/* Ends the threads that the scan did not find. Threads that got a name after
 * the scan began are not ended. Ending a thread may remove another thread, so
 * each bucket is then searched from its start again. */
void flight_names_scan_end(flight_names_t *names, uint64_t time) {
  flight_thread_t *thread;
  size_t i;

  for (i = 0; i < FLIGHT_NAME_BUCKETS; i++) {
    thread = names->buckets[i];
    while (thread != NULL) {
      if (thread->is_ended || thread->scan == names->scan ||
          newest_of(thread)->since > time) {
        thread = thread->next;
        continue;
      }
      end(names, thread);
      thread = names->buckets[i];
    }
  }
}
