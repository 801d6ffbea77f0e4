/* SPDX-License-Identifier: MIT */
/* What an event, a set and a BPF reader have in common as handles of a loop:
 * the user's struct, the check for a fork, the work on libuv's pool, snapshots,
 * and closing. Each kind's impl begins with this base.
 *
 *     NEW --publish--> OPEN --begin_close--> CLOSING --closed--> (freed)
 *                        ^ code UV_EBUSY while the pool opens it, then 0,
 *                          or UV_EBADF if it could not be opened
 *
 * A NEW handle whose init fails is closed too: uvperf__handle_fail. */
#ifndef UVPERF_LIB_LOOP_HANDLE_H
#define UVPERF_LIB_LOOP_HANDLE_H

#include "uvperf/handle.h"

#include <stdatomic.h>

#include "uvperf/attr.h"

#include "decode/merge.h"
#include "loop/hotplug.h"
#include "loop/teardown.h"
#include "loop/watch.h"
#include "ring/cpu_rings.h"
#include "sys/fork.h"

typedef struct uvperf__snapshot_job_s uvperf__snapshot_job_t;

/* What include/uvperf/handle.h says of these functions: control.c. They are
 * called for a handle that can be used, except `changes`. */
typedef struct uvperf__control_ops_s {
  /* Whether there is such an attr, for an operation that may be for all attrs
   * (`is_whole`) or is for one. Returns 0, or UV_EINVAL and the error. */
  int (*check)(size_t attr, int is_whole, uvperf_error_t *error);
  int (*enable)(void *impl, size_t attr, uvperf_error_t *error);
  int (*disable)(void *impl, size_t attr, uvperf_error_t *error);
  int (*reset)(void *impl, size_t attr, uvperf_error_t *error);
  int (*change_period)(void *impl, size_t attr, uint64_t period,
                       uvperf_error_t *error);
  int (*apply_filter)(void *impl, size_t attr, const char *filter,
                      uvperf_error_t *error);
  int (*attach_bpf)(void *impl, size_t attr, int prog_fd, uint64_t cookie,
                    uvperf_error_t *error);
  int (*query_bpf)(void *impl, size_t attr, uint32_t *ids, size_t *nr,
                   uvperf_error_t *error);
  const uvperf_change_t *(*changes)(const void *impl, size_t attr, size_t *nr);
} uvperf__control_ops_t;

typedef struct uvperf__handle_kind_s {
  int type;         /* enum uvperf_handle_type */
  const char *noun; /* for errors */
  /* Refs the inner handles that only this kind has. May be NULL. */
  void (*set_ref)(void *impl, int ref);
  /* Whether it is started or reads. It is not closing and not being opened. */
  int (*is_active)(const void *impl);
  /* What include/uvperf/handle.h says of these functions. They are called for a
   * handle that can be used, except `attr`. */
  /* `enables`: this start enables the events. */
  int (*start)(void *impl, const uvperf_stream_options_t *options, int enables,
               uvperf_record_cb cb, uvperf_error_t *error);
  int (*stop)(void *impl);
  /* The same as uvperf_next. Not called inside a callback. The user has no
   * record. Does not check for the end of targets. */
  int (*next)(void *impl, const uvperf_record_t **record);
  /* Called after `next` if two calls in a row have found no record. Checks for
   * the end of targets. May free the impl. NULL: there is no such check. */
  int (*next_or_end)(void *impl, const uvperf_record_t **record);
  /* Called only with a record callback, for rings that are not overwritable,
   * and not inside a callback. The impl is not freed meanwhile. NULL:
   * uvperf__watch_flush. */
  int (*flush)(void *impl);
  /* What makes the rings overwritable, for an error. */
  const char *overwritable_by;
  /* Prepares a snapshot of all rings, after uvperf__snapshot_job_new. Returns
   * 0, or a code and the error. NULL: there is nothing to prepare. */
  int (*prepare)(void *impl, uvperf__snapshot_job_t *job,
                 uvperf_error_t *error);
  /* Delivers the snapshots from job->at on. Returns the same codes as `drain`
   * of the watch's operations, but never a negative code. */
  int (*deliver)(void *impl, uvperf__snapshot_job_t *job,
                 uvperf__slice_t *slice);
  /* A snapshot has ended. Not called if the handle is closing. May be NULL. */
  void (*snapped)(void *impl);
  const uvperf__control_ops_t *control; /* NULL: it has none */
  const struct perf_event_attr *(*attr)(const void *impl, size_t attr);
  /* Reads how many records the kernel has lost, for the statistics. Returns
   * whether the kernel has such a number. Not called for a handle that cannot
   * be used. */
  int (*count_lost)(void *impl);
  /* Operations of a kind that has rings of CPUs: rings.c. */
  /* The watch may have more rings now. Returns 0 or a code. May be NULL. */
  int (*rings_watched)(void *impl);
  /* The next record is an EXIT record. May be NULL. */
  void (*task_exited)(void *impl);
  /* Whether it has, or should have, events on this CPU. NULL: on any CPU. */
  int (*uses_cpu)(const void *impl, int cpu);
  void (*cpu_gone)(void *impl, int cpu);
  /* Returns 0, or a code and the error. */
  int (*cpu_come)(void *impl, int cpu, uvperf_error_t *error);
  /* The handle closes. Its events stop now, unless the pool will close them:
   * see "How a handle closes" in lib/README.md. */
  void (*quit)(void *impl);
  /* See uvperf__teardown_init. */
  void (*give_up)(void *impl, uvperf__leftovers_t *leftovers);
  void (*release)(void *impl);
} uvperf__handle_kind_t;

typedef struct uvperf__handle_s uvperf__handle_t;

/* The position of uvperf_next. The record that the user has is at the tail of
 * its ring. For most records only this struct is read: see next.c. */
typedef struct uvperf__cursor_s {
  size_t lent; /* bytes of the record that the user has; 0: none */
  uvperf__ring_t *ring;
  uvperf_stats_t *stats; /* the ring's */
  uvperf_decoder_t *decoder;
  /* The records after the user's record. They lie in place, before the head
   * that was read, and may be taken before the tail must be published. If the
   * two are equal, the next call checks everything. */
  const uint8_t *at;
  const uint8_t *end;
  /* Takes the first of these records. */
  int (*next)(uvperf__handle_t *self, const uvperf_record_t **record);
  /* Bytes from `at` to the head that was read, for uvperf_record_t.remaining.
   * Only of a BPF reader; otherwise 0. */
  uint64_t waiting;
  size_t index; /* the ring that is read, without a merge */
  /* The rings in the order of time. The top is the user's record. NULL without
   * this order, and if other code may have read the rings since. */
  uvperf__merge_t *merge;
  int was_empty; /* the last call found no record */
} uvperf__cursor_t;

struct uvperf__handle_s {
  const uvperf__handle_kind_t *kind;
  void *handle; /* the user's handle; NULL until init has succeeded */
  struct uvperf__handle_s *outer; /* see closed_now in handle.c */
  uint32_t process;               /* the process that made it */
  const _Atomic uint32_t *number; /* uvperf__process_number */
  int code;                       /* 0, UV_EBUSY or UV_EBADF: see above */
  int is_unref;
  int closing;
  int closed_by_user;
  uint32_t limit_ms;         /* of a call of options.open; 0: it is not set */
  uvperf_stats_t last_stats; /* when it began to close */
  uint64_t lost_at;          /* ns, when lost records were counted; 0: count
                              * them at the next chance */
  int lost_is_read;          /* see uvperf_stats_t */
  uvperf__teardown_t teardown;
  struct uvperf__handle_job_s *jobs; /* on libuv's pool */
  uvperf__watch_t *watch;
  uvperf__hotplug_t *hotplug; /* NULL: it does not follow CPUs */
  uvperf__cpu_rings_t *rings; /* NULL: none, or not open yet */
  uvperf__cpu_ring_t *ring;   /* of an event; NULL: none, or not open yet */
  /* The ring or the image of a snapshot that is drained now, and whose it is.
   * NULL: none. */
  const uvperf__ring_t *drained;
  const uvperf__cpu_ring_t *drained_of;
  uvperf_decoder_t *decoder; /* NULL: there are no records, or not yet */
  int is_overwritable;       /* its rings; only snapshots read these */
  /* The snapshot that has begun and whose callback was not called yet. */
  uvperf__snapshot_job_t *snapshot;
  int is_snapping; /* inside a snapshot without a callback */
  uvperf_cpu_cb cpu_cb;
  uint64_t cpus_gone;
  uint64_t cpus_come;
  size_t closing_fds; /* that the pool has still to close */
  /* Of the last start. NULL: never started, or without a callback. */
  uvperf_record_cb record_cb;
  uint32_t start_flags; /* UVPERF_START_* */
  int is_started;
  /* A start has enabled the events, or the program has enabled or disabled
   * them: a start does not enable them any more. */
  int was_switched;
  /* In a callback, or between two in a drain. The cursor is stopped by then. */
  int in_callback;
  uvperf__cursor_t cursor;
  void *room; /* a buffer of the hub, for the record that uvperf_next returns if
               * it wraps */
};

/* `self` must be zeroed. */
void uvperf__handle_init(uvperf__handle_t *self, uv_loop_t *loop,
                         const uvperf__handle_kind_t *kind);

/* The last step of init: the user's struct is the handle from now on. */
void uvperf__handle_publish(uvperf__handle_t *self, uvperf_handle_t *user);

/* The last step of an init that fails. If the loop has an inner handle already,
 * the impl is freed when that is closed, otherwise now. */
void uvperf__handle_fail(uvperf__handle_t *self);

/* Returns the impl of a handle that may be closing, until its close callback
 * has returned. To use it later is a programming error. */
void *uvperf__handle_impl(const uvperf_handle_t *user);

/* Whether this process is a forked child of the process that made the
 * handle. */
static inline int uvperf__handle_is_forked(const uvperf__handle_t *self) {
  return uvperf__process() != self->process;
}

/* Returns 0 if the handle can be used. Otherwise fills the error and returns
 * UV_EPERM in a forked child, UV_ECANCELED if it is closing, UV_EBUSY while it
 * is being opened, or UV_EBADF if opening it has failed. */
int uvperf__handle_check(const uvperf__handle_t *self, uvperf_error_t *error);

/* Does the same for a handle that is an argument. The error calls it `noun`. */
int uvperf__handle_check_as(const uvperf__handle_t *self, const char *noun,
                            uvperf_error_t *error);

/* Begins to close it: for uvperf_close, for an init that fails, and for a walk
 * over the loop that has found one of its inner handles. */
void uvperf__handle_begin_close(void *self);

/* Operation `stop` of a kind: stops the watch, even if it is not started,
 * because this may be inside a flush. Follows no CPUs any more. Returns 0. */
int uvperf__handle_stop(void *self);

/* Operation `is_active` of a kind whose watch keeps the loop alive. */
int uvperf__handle_is_watching(const void *self);

/* Calls the record callback without a record. `cpu` is that of the ring, or
 * -1. */
void uvperf__handle_report(uvperf__handle_t *self, int status, int cpu);

/* Operation of the watch: see uvperf__watch_ops_t. */
void uvperf__handle_slice_end(void *self);

/* Whether a callback has forked, and this process is the child and has closed
 * the handle. It must not touch the rings. */
int uvperf__handle_has_no_rings(const uvperf__handle_t *self);

/* Returns a ring by its index. */
static inline uvperf__cpu_ring_t *
uvperf__handle_ring(const uvperf__handle_t *self, size_t index) {
  return self->rings == NULL ? self->ring
                             : uvperf__cpu_rings_at(self->rings, index);
}

/* -- next.c ---------------------------------------------------------------- */

/* Gives back to the kernel the record that uvperf_next has lent. The caller
 * moves the top of a merge on. The second function gives the room back to the
 * hub. */
void uvperf__handle_consume(uvperf__handle_t *self);
void uvperf__handle_give_back(uvperf__handle_t *self);

/* Call it when something has changed that uvperf_next must check. */
static inline void uvperf__cursor_stop(uvperf__cursor_t *cursor) {
  cursor->end = cursor->at;
}

/* The same as uvperf_next, with all checks: for cursor->next, if it cannot take
 * a record. */
int uvperf__next_checked(const uvperf_handle_t *handle,
                         const uvperf_record_t **record);

/* For the operation `next`, which has set cursor->decoder. Decodes, counts and
 * lends the record at the tail of a ring. Returns 0 or UV_EPROTO, both with a
 * record. `bytes` are in place, or a copy. See uvperf__decode for `alone`. */
int uvperf__next_lend(uvperf__cursor_t *cursor, uvperf__ring_t *ring,
                      uvperf_stats_t *stats, const uvperf_source_t *alone,
                      const void *bytes, size_t size,
                      const uvperf_record_t **record);

/* The same for a kind that has `rings`. Finds the next record of cursor->merge,
 * or else of the ring cursor->index and those after it. Also returns UV_EPROTO
 * without a record, UV_EAGAIN, or UV_EOF if no ring is read any more. */
int uvperf__next_of_rings(uvperf__handle_t *self,
                          const uvperf_record_t **record);

/* -- work on libuv's pool -------------------------------------------------- */

/* Work for the handle, which waits for it when it closes. The caller zeroes it
 * and sets job.step, job.kind if the work opens nothing, done, free, and
 * open_cb if the work opens the handle. */
typedef struct uvperf__handle_job_s {
  uvperf__job_t job;
  uvperf__handle_t *owner;
  struct uvperf__handle_job_s *next;
  /* Its result is not wanted, the handle closes, or the job is late. */
  atomic_int is_cancelled;
  int opens;   /* the handle is active meanwhile */
  int is_late; /* a call of options.open hangs */
  /* The user's callback, if the job opens the handle: until then, all calls
   * return UV_EBUSY. */
  uvperf_open_cb open_cb;
  /* Called on the loop when the steps are done, and takes over what they have
   * made, if anything. rc is 0, or UV_ECANCELED and the error if the handle is
   * closing. Then it takes over too, and the handle closes all it has. Returns
   * 0 if it has taken over. Otherwise returns a code, and if rc is 0, fills the
   * error.
   *
   * If is_late is set, the steps are not done: rc is UV_ETIMEDOUT or
   * UV_ECANCELED, a thread of the pool still uses the job, and it returns
   * rc. */
  int (*done)(struct uvperf__handle_job_s *job, int rc, uvperf_error_t *error);
  /* Called after `done`, when no thread uses the job any more. If is_late is
   * set, the handle may have been freed. */
  void (*free)(struct uvperf__handle_job_s *job);
} uvperf__handle_job_t;

/* Begins a job. A job that opens something passes its calls of options.open,
 * and the handle is active meanwhile. Other jobs pass NULL. Returns 0, or a
 * code and the error. */
int uvperf__handle_job_begin(uvperf__handle_t *self, uvperf__handle_job_t *job,
                             uvperf__calls_t *calls, uvperf_error_t *error);

/* Sets how long a call of options.open may take on the pool, as the options of
 * the handle say. */
void uvperf__handle_limit_calls(uvperf__handle_t *self, uvperf_open_fn open,
                                uint32_t timeout_ms);

/* Whether the handle, or a part of it, is being opened on the pool. */
int uvperf__handle_is_opening(const uvperf__handle_t *self);

#endif
