/* SPDX-License-Identifier: MIT */
/* Shared by the files of the event handle. */
#ifndef UVPERF_LIB_EVENT_INTERNAL_H
#define UVPERF_LIB_EVENT_INTERNAL_H

#include "uvperf/event.h"

#include "loop/handle.h"
#include "ring/ring.h"
#include "sys/opener.h"

typedef struct event_s event_t;

/* The arguments of init. */
typedef struct event_plan_s {
  uvperf_event_options_t options; /* a full copy */
  int pid;      /* options.pid, but the pool's is the calling thread's id */
  int group_fd; /* the leader's fd, or -1 */
  uint64_t newest_id; /* the greatest id of the events on the loop */
  size_t ring_bytes;  /* 0: no ring */
  uint64_t start;     /* of the task, for uvperf__task_check */
} event_plan_t;

/* An event that writes, or has written, into another event's ring. The ring's
 * owner keeps it, because records can outlive the event that wrote them. */
typedef struct uvperf__writer_s {
  struct uvperf__writer_s *next;      /* the next writer of the ring */
  struct uvperf__writer_s *next_ring; /* the event's entry for another ring */
  event_t *owner;
  event_t *event; /* NULL when it is closing */
  struct perf_event_attr *attr;
  uvperf_source_t source;
  uint64_t id;
  int has_left;
  uint64_t left_at; /* uv_hrtime */
  int has_end;      /* `end` is set: its records end there at the latest */
  uint64_t end;
  int is_overwritten; /* all its records are overwritten */
} uvperf__writer_t;

/* uvperf_event_t.impl points to this struct. The struct is freed in the last
 * inner close callback. If that callback runs inside a flush or a snapshot, the
 * struct is freed when the flush or snapshot returns. */
struct event_s {
  uvperf__handle_t base;
  struct perf_event_attr *attr;
  uvperf__cpu_ring_t own; /* its own ring, if it has one */
  uvperf_source_t source;
  uint64_t id;
  uvperf__calls_t calls;
  int fd;
  int cgroup;               /* options.cgroup, maybe closed by now; -1: none */
  uint32_t flags;           /* UVPERF_EVENT_* of its options */
  uvperf_change_t *changes; /* that fallbacks made to attr; NULL: none */
  size_t nr_changes;

  /* The event into whose ring this event writes. NULL: it writes into its own
   * ring, or has none. `rings` has an entry for each ring of another event that
   * may have records of this event. */
  event_t *output;
  uvperf__writer_t *rings;
  /* Used if the event has a ring. `writers` are the other events that write or
   * have written into the ring, the latest first. `fds` are the fds of all
   * events that write into the ring now, the event's own fd first (&fd until
   * another event writes for the first time). */
  uvperf__writer_t *writers;
  int *fds; /* own.nr_events of them */

  int default_flush; /* the last start used the default flush_ms */
  int enabled;       /* may be out of date: see uvperf_event_modify */
  int limited;       /* uvperf_event_refresh was called */
  /* The count at which its overflows run out. UINT64_MAX: unknown. */
  uint64_t limit_end;
  int has_program;      /* has a BPF program, which may drop samples */
  int bpf_link;         /* fd of the program's link; -1: no link was made */
  int paused;           /* the ring is paused (PERF_EVENT_IOC_PAUSE_OUTPUT) */
  int snapped;          /* overwritable: next has read the head since pausing */
  event_t *leader;      /* of its group; NULL: it leads or has no group */
  event_t *members;     /* of a leader: the first sibling */
  event_t *next_member; /* of a sibling: the next sibling */

  /* The replaced decoders, the latest first. The user may still have a record
   * of uvperf_next from such a decoder. */
  uvperf_decoder_t *old_decoders;
  uint64_t seen_lost; /* of the event's own lost records, those in a `lost` */
  int was_paused;     /* the ring was paused by uvperf_event_pause */
};

/* Whether the event has a ring that the watch drains. An overwritable ring is
 * read only by uvperf_next and by snapshots. */
static inline int uvperf__event_is_watched(const event_t *impl) {
  return impl->own.ring.page != NULL && !impl->own.ring.overwrite;
}

/* Whether no record of the ring is delivered any more. */
static inline int uvperf__event_has_ended(const event_t *impl) {
  return impl->own.status != 0 ||
         (uvperf__event_is_watched(impl) &&
          uvperf__watch_has_ended(impl->base.watch, 0));
}

/* -- open.c: the attr -- */

/* Copies the user's attr and changes the copy as a handle with these
 * UVPERF_EVENT_* flags needs it. `disabled` is set. If the attr has no clock
 * and `like` is not NULL, it gets the clock of `like`. The copy comes from
 * uvperf__calloc and has attr->size bytes, but at least sizeof(struct
 * perf_event_attr). Returns 0, or a code and the error. */
int uvperf__event_attr_copy(struct perf_event_attr **copy,
                            const struct perf_event_attr *attr,
                            const struct perf_event_attr *like, uint32_t flags,
                            uvperf_error_t *error);

/* -- open.c: on any thread -- */

/* The event's ring must be larger than this number of bytes: the event's
 * watermark, or for an overwritable ring its largest stack dump.
 * __perf_output_begin writes a record that is larger than the ring over its own
 * header. */
uint32_t uvperf__event_least_ring(const struct perf_event_attr *attr);

/* Opens impl->attr, or takes options.fd, and maps the ring. If necessary it
 * uses fallbacks that the options allow. On success returns 0 and fills fd,
 * cgroup, changes and ring. On failure returns a code and the error of the
 * first failure. */
int uvperf__event_open(event_t *impl, const event_plan_t *plan,
                       uvperf_error_t *error);

/* After a failure: an fd of the caller's, which has UVPERF_EVENT_FD, belongs to
 * the caller again. */
void uvperf__event_give_back(event_t *impl);

/* -- opening.c: on libuv's pool -- */

/* The last steps of opening, on the loop's thread, after the fd was opened and
 * the ring was mapped. Returns 0, or a code and the error. */
typedef int (*event_install_t)(event_t *impl, const event_plan_t *plan,
                               uvperf_error_t *error);

typedef struct event_opening_s event_opening_t;

/* Prepares to open impl->attr. Returns 0, or a code and the error. Then, and if
 * it cannot begin, free it (NULL is allowed). */
int uvperf__event_new_opening(event_opening_t **opening, event_t *impl,
                              const event_plan_t *plan, event_install_t install,
                              uvperf_error_t *error);
int uvperf__event_begin_opening(event_t *impl, event_opening_t *opening,
                                uvperf_error_t *error);
void uvperf__event_free_opening(event_opening_t *opening);

/* -- drain.c: called by the watch -- */

int uvperf__event_drain(void *owner, size_t ring_index, uvperf__slice_t *slice);

/* Frees the decoders that were replaced while the user had a record. Call it
 * when the user has no record any more. */
void uvperf__event_free_old_decoders(event_t *impl);

/* Operations of the kind. */
int uvperf__event_next(void *owner, const uvperf_record_t **record);
int uvperf__event_next_or_end(void *owner, const uvperf_record_t **record);

/* Operations of the kind, for snapshots. */
int uvperf__event_prepare(void *owner, uvperf__snapshot_job_t *job,
                          uvperf_error_t *error);
int uvperf__event_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                   uvperf__slice_t *slice);

/* -- output.c -- */

/* Makes a decoder for the records of the owner, of each writer in its list, and
 * of `added`, a writer that is not in the list yet (or NULL). Returns 0, or a
 * code of uvperf_decoder_new. */
int uvperf__event_make_decoder(uvperf_decoder_t **decoder, const event_t *owner,
                               const uvperf__writer_t *added);

/* Returns the flush_ms of an event for which the user has not chosen one. */
uint64_t uvperf__event_default_flush(const event_t *impl);

/* Called when the event closes. The event stops writing into another event's
 * ring, and other events stop writing into its own ring. Records that the event
 * wrote are still delivered. */
void uvperf__event_unlink(event_t *impl);

/* Operation of the kind: asks all events that write into the event's ring. */
int uvperf__event_count_lost(void *owner);

/* Frees the list of the events that wrote into the event's ring. */
void uvperf__event_free_writers(event_t *impl);

/* Called when values in the event's attr have changed, but its records still
 * have the same fields. Updates the copies that decode its records in other
 * events' rings. */
void uvperf__event_attr_changed(const event_t *impl);

/* -- control.c -- */

extern const uvperf__control_ops_t uvperf__event_control;

/* Enables the siblings that the event leads, then the event. Returns 0, or a
 * code and the error. */
int uvperf__event_enable(event_t *impl, uvperf_error_t *error);

/* Disables the event alone, without the check for a forked child. A measurement
 * has made this check earlier, because before Linux 4.14 it takes a system
 * call, which would be measured too. */
int uvperf__event_disable(event_t *impl, uvperf_error_t *error);

/* A group is a leader and its members, all handles of one thread. An event
 * leaves its group when it closes or could not be opened. If a leader leaves,
 * its group is dissolved, as in the kernel. */
void uvperf__event_join_group(event_t *impl, event_t *leader);
void uvperf__event_leave_group(event_t *impl);

/* Enables the siblings of a leader, if it has any, so that they count while the
 * leader counts. Siblings with enable_on_exec are included only if also_on_exec
 * is set. Returns 0, or a code and the error of the first that fails. */
int uvperf__event_enable_siblings(event_t *leader, int also_on_exec,
                                  uvperf_error_t *error);

/* Disables the siblings when the leader closes. */
void uvperf__event_disable_siblings(event_t *leader);

#endif
