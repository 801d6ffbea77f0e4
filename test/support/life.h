/* SPDX-License-Identifier: MIT */
/* The life-cycle suite, live/test_life_*.c: what an event, a set and a BPF
 * reader have in common is tested with each kind of them, on the running kernel
 * and on a scripted one.
 *
 *   life_open(life);
 *   life_start(life);
 *   life_write(life, 5);
 *   life_act(life, LIFE_RECORD, 3, life_close);    in the third record callback
 *   life_expect(life, "3 closed");                 runs the loop
 *   life_end(life);
 *
 * Each test is run once for each kind, on a loop of its own. The text of
 * life_expect has the callbacks in their order: the number of records,
 * and
 *
 *   slice        the end of a slice
 *   EOF, EPROTO  a status without a record
 *   raw          a record with UV_EPROTO
 *   done, open   a callback of uvperf_snapshot, of opening; with its status if
 *                it failed: "done ECANCELED"
 *   cpu          of uvperf_on_cpu, with the CPU and its status: "cpu 1 ENODEV"
 *   closed       the close callback, which frees the handle */
#ifndef UVPERF_TEST_LIFE_H
#define UVPERF_TEST_LIFE_H

#include "live_bpf_reader.h"
#include "live_bpf_ring.h"
#include "live_stream.h"

#include "make_evlist.h"
#include "fake_kernel.h"
#include "fake_map.h"
#include "fake_pool.h"

/* Kinds of handles, as bits. */
enum {
  LIFE_EVENT = 1 << 0,
  LIFE_LEADER = 1 << 1, /* an event with a sibling */
  LIFE_FLIGHT = 1 << 2, /* an event with an overwritable ring */
  LIFE_SET = 1 << 3,    /* of two attrs */
  LIFE_ORDER = 1 << 4,  /* a set in the order of time */
  LIFE_SET_FLIGHT = 1 << 5,
  LIFE_ORDER_FLIGHT = 1 << 6,
  LIFE_READER = 1 << 7,
  LIFE_READER_FLIGHT = 1 << 8,
  LIFE_RINGBUF = 1 << 9, /* a reader of a BPF ring buffer; on the running kernel
                          * only */
  LIFE_KINDS = 10,

  LIFE_EVENTS = LIFE_EVENT | LIFE_LEADER | LIFE_FLIGHT,
  LIFE_SETS = LIFE_SET | LIFE_ORDER | LIFE_SET_FLIGHT | LIFE_ORDER_FLIGHT,
  LIFE_READERS = LIFE_READER | LIFE_READER_FLIGHT,
  /* Whose records come by snapshots only. */
  LIFE_FLIGHTS =
      LIFE_FLIGHT | LIFE_SET_FLIGHT | LIFE_ORDER_FLIGHT | LIFE_READER_FLIGHT,
  LIFE_PLAIN = LIFE_EVENT | LIFE_LEADER | LIFE_SET | LIFE_ORDER | LIFE_READER |
               LIFE_RINGBUF,
  LIFE_ANY = LIFE_PLAIN | LIFE_FLIGHTS,
  /* Whose targets can end: all of the calling thread. */
  LIFE_MORTAL = LIFE_EVENT | LIFE_LEADER | LIFE_SET | LIFE_ORDER,

  /* On which kernel; both if there is neither. */
  LIFE_LIVE = 1 << 16,
  LIFE_SCRIPTED = 1 << 17
};

/* Callbacks. */
enum life_place {
  LIFE_RECORD,
  LIFE_SLICE,
  LIFE_STATUS,
  LIFE_OPENED,
  LIFE_DONE,
  LIFE_CPU,
  LIFE_CLOSED
};

/* How records come. After LIFE_TURN and LIFE_POOL the loop delivers them. */
enum life_way {
  LIFE_TURN,
  LIFE_FLUSH,
  LIFE_FLUSH_STOPPED,
  LIFE_SNAPSHOT, /* these three: of overwritable rings */
  LIFE_SNAPSHOT_STOPPED,
  LIFE_POOL, /* a snapshot with a callback */
  LIFE_WAYS
};

typedef struct life_s life_t;
typedef void (*life_fn)(life_t *life);

struct life_s {
  const char *test; /* its name, for skips */
  unsigned int kind;
  int is_scripted;
  uv_loop_t *loop; /* NULL once it is freed */
  /* On the heap; its memory is freed by its close callback. NULL: none. */
  uvperf_handle_t *handle;
  int is_closing; /* uvperf_close was called */
  int closed;     /* close callbacks */
  uvperf_error_t error;
  uint64_t written; /* the number of the next record */
  uint64_t least;   /* the lowest and the highest number that came since */
  uint64_t most;    /* life_expect */
  uint64_t records; /* callbacks with one */
  uint32_t cpu;     /* of the last status without a record */
  /* Scripted events. The rings are those of the second and the fourth. */
  fake_event_t *events[4];
  /* To be set before it is opened: another process to measure, instead of CPUs
   * and this thread; flags of a set that it has besides. */
  pid_t target;
  uint32_t set_flags;
  uvperf_open_fn open; /* options.open, for 1 ms; its argument is the life_t */
  life_t *other;       /* another handle on the same loop: of life_add */
  void *data;          /* the test's */
  /* Called in each callback, with its status, before what life_act has set.
   * Nothing is noted for life_expect then. */
  void (*hook)(life_t *life, enum life_place place, int status);

  /* Private. */
  life_fn act;
  enum life_place act_place;
  unsigned int act_left;
  char seen[1024];
  int is_other;
  unsigned int run; /* records after `seen` */
  uint64_t last[2]; /* number + 1 of the last record, of each CPU */
  uint64_t wrong;   /* records out of order */
  int is_newest_first;
  int cpus[2];
  live_plan_t plan;
  evlist_make_t make;
  live_bpf_reader_t source; /* of a live reader: its map, who writes into it */
  int ring;                 /* the same of a ring buffer; 0: none */
  live_bpf_reserve_t reserve;
  fake_map_t *map;
  int map_fd;
  uvperf_event_t *sibling;
  size_t fds, rings;
  life_fn body;
  int entered, passed;
  life_t *next;   /* of life_add */
  life_t *before; /* abandoned before it */
};

/* -- a handle ------------------------------------------------------------- */

/* Opens it, which must succeed; or returns what init returns. */
void life_open(life_t *life);

/* Opens it on a child that makes nr records on one CPU: without time order, the
 * rings of two CPUs have none. */
void life_open_child(life_t *life, live_child_t *child, uint64_t nr);
int life_try(life_t *life);
/* On the pool, which waits until fake_pool_finish. Returns the code of init. */
int life_begin(life_t *life);
/* Has a set or a reader, on a scripted kernel, follow the CPUs of the
 * host. */
void life_follow(life_t *life);

/* Starts it: no flush timer, and slices that time does not end. */
void life_start(life_t *life);
/* The same with slices of this number of records, and UVPERF_START_*. */
void life_start_with(life_t *life, uint32_t records, uint32_t flags);
int life_try_start(life_t *life);
int life_try_start_with(life_t *life, const uvperf_stream_options_t *options);
void life_stop(life_t *life);

/* Enables its events, or puts them into the map, without a start. Whether they
 * are, if they are scripted. */
void life_enable(life_t *life);
int life_is_enabled(const life_t *life);

/* Writes records, in turns on two CPUs if there are two rings. */
void life_write(life_t *life, uint64_t nr);

/* Takes a record by uvperf_next, for life_expect_now. Returns its code. */
int life_next(life_t *life);

/* Whether records of this kind of handle come this way. */
int life_has(const life_t *life, enum life_way way);
/* Begins it, or does it. */
void life_deliver(life_t *life, enum life_way way);
/* UVPERF_SNAPSHOT_* without a callback, or with one. */
int life_snap(life_t *life, uint32_t flags);
int life_snap_later(life_t *life, uint32_t flags);

/* Calls a function in the nth callback (1: the next one) of a place. */
void life_act(life_t *life, enum life_place place, unsigned int nth,
              life_fn act);

/* Runs the loop until these were the callbacks since the last call, and some
 * turns more, in which there may be no others. */
void life_expect(life_t *life, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Without running the loop. */
void life_expect_now(life_t *life, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The callbacks since the last call, for a child, which must not assert. */
const char *life_seen(const life_t *life);
void life_turns(life_t *life, int nr);

/* -- its end -------------------------------------------------------------- */

/* Ways to close it. These may be called in any callback: */
void life_close(life_t *life);
void life_walk(life_t *life);  /* by uvperf_walk_close, then life_close */
void life_brute(life_t *life); /* by uv_close, then life_close */
/* and these where the loop may be run. */
void life_walk_run(life_t *life); /* the loop runs before life_close */
void life_brute_run(life_t *life);
#define LIFE_CLOSERS     5
#define LIFE_CLOSERS_ANY 3 /* which may be called in any callback */
extern const life_fn life_closers[LIFE_CLOSERS];

/* uv_close, and uvperf_walk_close where it applies, of all handles of a loop;
 * uv_close of one type. */
void life_uv_close_all(uv_loop_t *loop);
void life_walk_close_all(uv_loop_t *loop);
void life_uv_close_type(uv_loop_t *loop, uv_handle_type type);

/* Runs the loop until it is empty, closes it and unmaps its memory. */
void life_free_loop(life_t *life);

/* Closes the handle unless it is closed, runs the loop, and fails unless it is
 * closed once and leaves nothing: no fd, no ring, no memory, no handle on the
 * loop. Then it can be opened again. */
void life_end(life_t *life);

/* The same after fake_process(), on a scripted kernel: the child may only close
 * fds. */
void life_end_child(life_t *life);

/* Another handle of a kind on the same loop, which life_end closes too. */
life_t *life_add(life_t *life, unsigned int kind);

/* -- stages --------------------------------------------------------------- */

/* The states of a handle. Where it is started, LIFE_WRITTEN records wait. */
#define LIFE_WRITTEN 5
enum life_stage {
  LIFE_OPENING_EARLY, /* before libuv's pool exists */
  LIFE_OPENING,
  LIFE_OPENING_WORKED, /* the pool has done its work */
  LIFE_FAILED,         /* to open */
  LIFE_OPEN,
  LIFE_STARTED,
  LIFE_BACKLOG, /* it has delivered one of them, in slices of one record */
  LIFE_STOPPED,
  LIFE_ENDED, /* others have closed a handle of the hub */
  /* A snapshot with a callback, in slices of two records: */
  LIFE_SNAP_EARLY, /* before libuv's pool exists */
  LIFE_SNAPPING,
  LIFE_SNAP_WORKED, /* the pool has done its work */
  LIFE_SNAP_TAKEN,  /* the loop has still to deliver it */
  LIFE_SNAP_SLICES, /* the first slice is delivered */
  LIFE_STAGES
};

/* Returns 0 if a kind has no such state. */
int life_reach(life_t *life, enum life_stage stage);
/* What a close cancels then, followed by a space: "done ECANCELED ". */
const char *life_cancelled(enum life_stage stage);

/* -- the suite ------------------------------------------------------------ */

typedef struct life_test_s {
  const char *name;
  life_fn run;
  unsigned int kinds;
} life_test_t;

#define LIFE_TEST(f, kinds)                                                    \
  { #f, f, kinds }

/* Runs all tests with all their kinds. */
int life_main(const life_test_t *tests, size_t nr);

/* The name of a kind. */
const char *life_name(const life_t *life);

/* For uvperf_set_read_start. */
void life_ignore_reading(uvperf_set_t *set, int status,
                         const uvperf_reading_t *reading,
                         const uvperf_reading_t *delta);

#endif
