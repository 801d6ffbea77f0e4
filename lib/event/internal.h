/* SPDX-License-Identifier: MIT */
/* What the files of the event handle share. */
#ifndef UVPERF_LIB_EVENT_INTERNAL_H
#define UVPERF_LIB_EVENT_INTERNAL_H

#include "uvperf/event.h"

#include "loop/snapshot_job.h"
#include "loop/watch.h"
#include "ring/ring.h"
#include "ring/scratch.h"

typedef struct event_s event_t;
typedef struct event_opening_s event_opening_t;

/* What init or open was asked for. */
typedef struct event_plan_s {
  uvperf_event_options_t options; /* a full copy */
  int pid; /* of options, but for open the calling thread's id instead of 0 */
  int group_fd;      /* of the leader, or -1 */
  size_t ring_bytes; /* 0: no ring */
} event_plan_t;

/* That an event writes, or has written, into the ring of another. The ring's
 * owner keeps it, since records can outlive the event that wrote them. */
typedef struct uvperf__writer_s {
  struct uvperf__writer_s *next;      /* of the same ring */
  struct uvperf__writer_s *next_ring; /* of the same event */
  event_t *owner;
  event_t *event; /* NULL once that is closing */
  struct perf_event_attr *attr;
  uvperf_source_t source;
  uint64_t id;
  int has_left;
  uint64_t left_at; /* uv_hrtime */
  int has_end;      /* it has left so long ago that its records end at `end` */
  uint64_t end;
  int is_overwritten; /* all that it wrote, of an overwritable ring */
} uvperf__writer_t;

/* What uvperf_event_t.impl points to; freed in the last inner close callback,
 * or later, when the flush or snapshot in which that ran returns. */
struct event_s {
  uvperf_event_t *handle; /* NULL until init has succeeded */
  uvperf__watch_t *watch;
  uvperf__teardown_t teardown;
  event_opening_t *opening; /* on libuv's pool; NULL: it is not */
  int has_failed;           /* that has */
  struct perf_event_attr *attr;
  uvperf_decoder_t *decoder;
  uvperf__scratch_t *scratch; /* of all events on the loop; NULL: no ring */
  uvperf__ring_t ring;
  uvperf_source_t source;
  uint64_t id;
  int fd;
  uint32_t process;         /* that opened it */
  int cgroup;               /* as it was opened: a number, -1 for none */
  uint32_t flags;           /* of its options: UVPERF_EVENT_* */
  uvperf_change_t *changes; /* of attr, by fallbacks; NULL for none */
  size_t nr_changes;

  /* The event into whose ring this one writes, NULL for its own or none, and
   * what it is and was to such rings. */
  event_t *output;
  uvperf__writer_t *rings;
  /* Of a ring: the other events that write into it, the latest first, and the
   * fds of all, its own first (&fd while it is alone). */
  uvperf__writer_t *writers;
  int *fds;
  size_t nr_fds;

  uvperf_event_record_cb cb; /* of the last start */
  uint32_t start_flags;
  int default_flush; /* the last start left flush_ms to the library */
  int started;
  int enabled_by_start;
  int enabled; /* as far as the library can know: uvperf_event_modify */
  int limited; /* uvperf_event_refresh was called */
  /* The count at which its overflows have run out; UINT64_MAX: not known. */
  uint64_t limit_end;
  int has_program; /* uvperf_event_attach_bpf was called: it may drop samples */
  int bpf_link;    /* that holds the program; -1: none, or the event does */
  int paused;      /* the ring, by PERF_EVENT_IOC_PAUSE_OUTPUT */
  int snapped;     /* an overwritable ring since then: next has looked at it */
  event_t *leader; /* of its group; NULL if it leads or is alone */
  event_t *members;     /* of a leader: the first sibling */
  event_t *next_member; /* of a sibling: the next one */

  /* Bytes of the record that is in the user's hands, 0 for none; where it was
   * put together, of one that next gave and that wraps; and the decoders,
   * latest first, one of which made it where another has taken its place
   * since. */
  size_t lent;
  void *whole;
  uvperf_decoder_t *old_decoders;
  int delivering; /* inside a record callback, or between two of a drain */
  const uvperf__ring_t *drained; /* the ring in whose drain that is, or the copy
                                  * of one; NULL for none */
  int was_empty;                 /* the last next found nothing */
  int unsound; /* next has found that the ring cannot be read any more */

  /* That was begun, until its callback; or NULL. */
  uvperf__snapshot_job_t *snapshot;
  uvperf_event_snapshot_cb snapshot_cb;

  int closing;
  int closed_by_user;
  uvperf_stats_t stats;
};

/* Whether there is a ring that the watch drains: an overwritable one is read by
 * next and in snapshots alone. */
static inline int uvperf__event_is_watched(const event_t *impl) {
  return impl->ring.page != NULL && !impl->ring.overwrite;
}

/* -- base.c -- */

/* The impl of a handle that must not be closing: anything else is a programming
 * error, as with libuv's handles. */
event_t *uvperf__event_impl(const uvperf_event_t *event);

/* Whether this process is a forked child of the one that opened the event: it
 * has the fd, which is the same kernel event, but not the ring
 * (VM_DONTCOPY). */
int uvperf__event_is_forked(const event_t *impl);

/* 0; or UV_EPERM in a forked child, UV_EBUSY while it is being opened, UV_EBADF
 * if that has failed, and the error. */
int uvperf__event_check(const event_t *impl, uvperf_error_t *error);

/* A copy of the user's attr as a handle with the UVPERF_EVENT_* flags gives it
 * to the kernel: disabled, and with what the handle asks for; with the clock of
 * another attr, if there is one. Of uvperf__calloc, attr->size bytes but at
 * least sizeof(struct perf_event_attr). 0, or a code and the error. */
int uvperf__event_attr_copy(struct perf_event_attr **copy,
                            const struct perf_event_attr *attr,
                            const struct perf_event_attr *like, uint32_t flags,
                            uvperf_error_t *error);

/* -- open.c: on any thread -- */

/* More than so many bytes a ring must have: an overwritable one must hold the
 * largest stack dump, as __perf_output_begin writes a record that is larger
 * than the ring over its own header. */
uint32_t uvperf__event_least_ring(const struct perf_event_attr *attr);

/* Opens impl->attr, or what the fallbacks that the options allow make of it, or
 * takes options.fd, and maps the ring: 0, and fd, cgroup, changes and ring are
 * filled; or a code and the error, of the first failure. */
int uvperf__event_open(event_t *impl, const event_plan_t *plan,
                       uvperf_error_t *error);

/* After a failure: an fd that was the caller's is so again. */
void uvperf__event_give_back(event_t *impl);

/* -- opening.c: on libuv's pool -- */

/* What is left to do, on the loop's thread, once fd and ring are there. 0, or a
 * code and the error. */
typedef int (*event_install_t)(event_t *impl, const event_plan_t *plan,
                               uvperf_error_t *error);

/* Prepares to open impl->attr: 0, or a code and the error. */
int uvperf__event_new_opening(event_t *impl, const event_plan_t *plan,
                              event_install_t install, uvperf_event_open_cb cb,
                              uvperf_error_t *error);

/* Begins it. 0, or a code and the error. */
int uvperf__event_begin_opening(event_t *impl, uv_loop_t *loop,
                                uvperf_error_t *error);

/* The handle is closing: if it is being opened, that ends soon, and the
 * teardown waits for it. */
void uvperf__event_cancel_opening(event_t *impl);

/* Frees what was prepared and never begun. */
void uvperf__event_free_opening(event_t *impl);

/* -- drain.c: what the watch calls -- */

int uvperf__event_drain(void *owner, size_t ring_index, uvperf__slice_t *slice);
void uvperf__event_slice_end(void *owner);
void uvperf__event_ring_skipped(void *owner, size_t ring_index);
void uvperf__event_end(void *owner, size_t ring_index, int status);

/* -- drain.c: of the event's ring, or of a copy of it -- */

/* Delivers what one look at the ring shows: as uvperf__watch_ops_t.drain. The
 * scratch is for a record that wraps. */
int uvperf__event_deliver(event_t *impl, uvperf__ring_t *ring, void *scratch,
                          uvperf__slice_t *slice);

/* A callback without a record. */
void uvperf__event_report(event_t *impl, int status);

/* Frees the decoders that made records that were in the user's hands, where
 * others have taken their place since. */
void uvperf__event_free_old_decoders(event_t *impl);

/* Takes back the record that next has lent to the user. */
void uvperf__event_take_back(event_t *impl);

/* -- output.c -- */

/* Makes a decoder of the owner's records and of those of each writer, of one
 * that is not in the list yet too (or NULL). 0, or a code of
 * uvperf_decoder_new. */
int uvperf__event_make_decoder(uvperf_decoder_t **decoder, const event_t *owner,
                               const uvperf__writer_t *added);

/* The flush_ms of an event for which the user has chosen none. */
uint64_t uvperf__event_default_flush(const event_t *impl);

/* The event is closing: it writes into no other's ring any more, and no other
 * into its own. What it has written is still delivered. */
void uvperf__event_unlink(event_t *impl);

/* Frees what is known of the events that wrote into its ring. */
void uvperf__event_free_writers(event_t *impl);

/* The event's attr has other values, of the same fields: so have the copies
 * that its records in the rings of others are decoded with. */
void uvperf__event_attr_changed(const event_t *impl);

/* -- control.c -- */

/* Enables the event, and before it the siblings that it leads. 0, or a code and
 * the error. */
int uvperf__event_enable(event_t *impl, uvperf_error_t *error);

/* Disables the event alone, without asking whose process it is, which is a
 * system call: a measurement has asked before, and would measure that call
 * too. */
int uvperf__event_disable(event_t *impl, uvperf_error_t *error);

/* A group is a leader and its members; handles of one thread. Leaving is for
 * closing events; a leader that leaves dissolves its group, as in the
 * kernel. */
void uvperf__event_join_group(event_t *impl, event_t *leader);
void uvperf__event_leave_group(event_t *impl);

/* Enables the siblings of a leader, which may have none, so that they count
 * while it does. Those that execve(2) enables only if asked for. 0, or a code
 * and the error, of the first that fails. */
int uvperf__event_enable_siblings(event_t *leader, int also_on_exec,
                                  uvperf_error_t *error);

/* Disables them, as the leader closes. */
void uvperf__event_disable_siblings(event_t *leader);

#endif
