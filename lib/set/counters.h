/* SPDX-License-Identifier: MIT */
/* Many events at many places, without a loop: opened, controlled and read
 * together. A set is made of them, and so is a measurement. The face of the
 * counters*.c files; what these share is in counters_internal.h.
 *
 * A target stands for places; an attr at a place is one event, with an fd of
 * its own. Returned codes are 0 or -errno; `error` may be NULL. In a forked
 * child every function but _free and the getters gives -EPERM. */
#ifndef UVPERF_LIB_SET_COUNTERS_H
#define UVPERF_LIB_SET_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/record.h"
#include "uvperf/set_options.h"

#include "count/reading.h"
#include "host/tracefs.h"
#include "ring/cpu_rings.h"
#include "ring/leftovers.h"

typedef struct uvperf__counters_s uvperf__counters_t;

/* Opens every attr at every place of every target, disabled. `options` is a
 * full, own copy (uvperf__options_copy was done); what it points to is copied.
 * 0 if anything could be opened, or there are no targets; or a code and the
 * error, and nothing is left open: that of the failure that tells most; with
 * UVPERF_SET_STRICT of the first; and of a shortage of fds or memory in any
 * case. */
int uvperf__counters_new(uvperf__counters_t **counters,
                         const uvperf_set_options_t *options,
                         uvperf_error_t *error);

/* The same for events of the calling thread that only this thread reads, before
 * it goes on to anything else: what serves to see that a task is gone is not
 * looked for, as that takes longer than all else here. */
int uvperf__counters_new_brief(uvperf__counters_t **counters,
                               const uvperf_set_options_t *options,
                               uvperf_error_t *error);

/* Stand in for counters that are being opened: uvperf__counters_check gives
 * -EBUSY and the error, and the getters nothing. NULL: no memory. */
uvperf__counters_t *uvperf__counters_new_none(void);

/* Those will not come: -EBADF from now on. */
void uvperf__counters_never_come(uvperf__counters_t *counters);

/* Closes every fd and frees. NULL is allowed. Also for a forked child: closing
 * its fds does nothing to the parent's events. */
void uvperf__counters_free(uvperf__counters_t *counters);

/* Whether closing so many of the events takes long. */
int uvperf__counters_close_slowly(const uvperf__counters_t *counters,
                                  size_t nr);

/* Gives up every fd and mapping, if closing them takes long. The counters can
 * only be freed then. */
void uvperf__counters_give_up(uvperf__counters_t *counters,
                              uvperf__leftovers_t *leftovers);

/* From now on events that are closed are put there; NULL: they are closed at
 * once again. */
void uvperf__counters_put_aside(uvperf__counters_t *counters,
                                uvperf__leftovers_t *leftovers);

/* UV_EPERM and the error in a forked child; else 0. */
int uvperf__counters_check(const uvperf__counters_t *counters,
                           uvperf_error_t *error);

/* -- opening in steps: counters_targets.c -- */

/* Which event is opened next. */
typedef struct counter_cursor_s {
  size_t target;
  size_t place;
  size_t at; /* in the order of the attrs */
} counter_cursor_t;

/* Targets that are being added to counters. All of it but the first two is
 * private. */
typedef struct uvperf__adding_s {
  uvperf__counters_t *counters;
  int is_deferred;
  int stage;
  uvperf_target_t *targets; /* copies */
  size_t nr;
  uvperf__tracefs_ids_t tracepoints;
  /* What there was before. */
  size_t first;
  size_t nr_failures;
  size_t nr_open;
  size_t nr_rings;
  uint32_t index;
  /* How far it is. */
  size_t nr_planned; /* targets */
  size_t nr_fds;     /* what it takes */
  size_t nr_new_rings;
  counter_cursor_t cursor;
  /* What has failed. */
  int rc;
  uvperf_error_t why;
  size_t nr_shrinkable; /* rings */
  uvperf__leftovers_t leftovers;
} uvperf__adding_t;

/* Makes counters as uvperf__counters_new does, but for the targets, which
 * `adding` is to add. Opens nothing, and asks the kernel nothing. */
int uvperf__counters_new_adding(uvperf__counters_t **counters,
                                const uvperf_set_options_t *options,
                                uvperf__adding_t *adding,
                                uvperf_error_t *error);

/* Begins to add targets. `is_deferred`: the steps are made by another thread,
 * after the caller's options are gone; SELF is the caller's, and a step closes
 * no more than one event. 0, or a code and the error, and nothing is to be
 * ended. */
int uvperf__adding_begin(uvperf__adding_t *adding, uvperf__counters_t *counters,
                         const uvperf_target_t *targets, size_t nr,
                         int is_deferred, uvperf_error_t *error);

/* Makes a step: most are one system call. 1 if there are more. Once it is
 * cancelled it closes what it has opened, and fails with -ECANCELED. Nobody
 * else may use the counters until the end. */
int uvperf__adding_step(uvperf__adding_t *adding, int is_cancelled);

/* Ends it when there are no more steps, or before the first, on the thread that
 * began: 0, or a code and the error, as uvperf__counters_new. */
int uvperf__adding_end(uvperf__adding_t *adding, uvperf_error_t *error);

/* Makes counters with the attrs of others, to which `adding` is to add the
 * target, while the others are used. 0, or a code and the error. */
int uvperf__counters_new_for_target(uvperf__counters_t **counters,
                                    const uvperf__counters_t *joined,
                                    const uvperf_target_t *target,
                                    uvperf__adding_t *adding,
                                    uvperf_error_t *error);

/* Takes over the target that such counters have opened, with *index, and
 * enables it if the rest is enabled. 0, or a code and the error, and nothing
 * was added. What is left of them is to be freed. */
int uvperf__counters_take_target(uvperf__counters_t *counters,
                                 uvperf__counters_t *made, uint32_t *index,
                                 uvperf_error_t *error);

/* Opens every attr at every place of one more target, and enables it if the
 * rest is enabled. *index, if not NULL, receives its index. 0 if anything could
 * be opened, or a code and the error, as above, and nothing was added. */
int uvperf__counters_add_target(uvperf__counters_t *counters,
                                const uvperf_target_t *target, uint32_t *index,
                                uvperf_error_t *error);

/* Closes the events of a target; its places and failures are no more. -ENOENT
 * for an index that no target has. */
int uvperf__counters_remove_target(uvperf__counters_t *counters,
                                   uint32_t index);

/* Enables or disables the events, but for those of a command that has not
 * called execve(2) yet: the kernel enables them then. Goes on after a failure
 * and gives the first. */
int uvperf__counters_enable(uvperf__counters_t *counters,
                            uvperf_error_t *error);
int uvperf__counters_disable(uvperf__counters_t *counters,
                             uvperf_error_t *error);

/* Disables without asking whose process it is, which is a system call: a
 * measurement has asked before, and would measure that call too. */
int uvperf__counters_stop(uvperf__counters_t *counters, uvperf_error_t *error);

/* Whether the last of these two that did anything was to enable. */
int uvperf__counters_is_enabled(const uvperf__counters_t *counters);

/* From now on counts and times are told without what they are now. */
int uvperf__counters_reset(uvperf__counters_t *counters);

/* Fills a reading. What cannot be read of an event is its state: the call
 * fails, but for a fork, only with -ENOMEM, and leaves the reading alone
 * then. */
int uvperf__counters_read(uvperf__counters_t *counters,
                          uvperf_reading_t *reading);

/* The same without a look at which tasks are gone, which takes longer than the
 * rest: for a reading that only differences are made with. */
int uvperf__counters_read_base(uvperf__counters_t *counters,
                               uvperf_reading_t *reading);

/* The same in steps, for a loop that has other things to do: begins a reading;
 * goes on for a time, 1 if there is more to read; and fills the reading, which
 * says when it was begun. In between everything may be done to the counters:
 * - What a target that is removed has counted is not in it. One that is added
 *   is read, as they are read in the order of their indexes.
 * - After a reset it begins again.
 * - uvperf__counters_read reads the rest too: there is nothing more to read. */
void uvperf__counters_read_begin(uvperf__counters_t *counters);
int uvperf__counters_read_some(uvperf__counters_t *counters, uint64_t ns);
int uvperf__counters_read_end(uvperf__counters_t *counters,
                              uvperf_reading_t *reading);

/* Gives a reading the room that this takes, and makes it an empty one of the
 * time at which the last one was begun. 0, or -ENOMEM and it is left alone. */
int uvperf__counters_make_reading(const uvperf__counters_t *counters,
                                  uvperf_reading_t *reading);

/* For one attr at every place, also of targets that are added later. Go on
 * after a failure and give the first; a later target gets what was taken at
 * one place or more, or, while there are none, was given last. -EINVAL for an
 * attr that there is not. */
int uvperf__counters_set_filter(uvperf__counters_t *counters, size_t attr,
                                const char *filter, uvperf_error_t *error);
int uvperf__counters_set_period(uvperf__counters_t *counters, size_t attr,
                                uint64_t period, uvperf_error_t *error);
/* Keeps a duplicate of the fd. */
int uvperf__counters_set_bpf(uvperf__counters_t *counters, size_t attr,
                             int prog_fd, uint64_t cookie,
                             uvperf_error_t *error);

/* As uvperf_set_fill_map; and lets go of all maps, for a close. */
int uvperf__counters_fill_map(const uvperf__counters_t *counters, size_t attr,
                              int map_fd, uvperf_error_t *error);
void uvperf__counters_leave_maps(const uvperf__counters_t *counters);

/* Takes the programs off the events, which should be disabled, where they are
 * attached by links: it is over with them before the events are closed. For the
 * end: the attrs keep their programs. Nothing in a forked child. */
void uvperf__counters_detach(uvperf__counters_t *counters);

/* What is not open, ordered by target, place and attr; valid until a target is
 * added or removed, or a CPU comes. */
const uvperf_set_failure_t *
uvperf__counters_failures(const uvperf__counters_t *counters, size_t *nr);

/* That an event is open, or may come, which writes records: 0; or why none of
 * them could be opened. */
int uvperf__counters_check_writers(const uvperf__counters_t *counters,
                                   uvperf_error_t *error);

/* Whether any of the attrs makes the kernel write records. */
int uvperf__counters_write_records(const uvperf__counters_t *counters);

size_t uvperf__counters_nr_attrs(const uvperf__counters_t *counters);

/* The same without further parts of events, which come after all events. */
size_t uvperf__counters_nr_whole(const uvperf__counters_t *counters);

/* How many events are open. */
size_t uvperf__counters_nr_open(const uvperf__counters_t *counters);

/* What is known of an attr, NULL where there is none. item->attr is the attr as
 * it is opened, but for what depends on the target: disabled, inherit and
 * enable_on_exec. The first call for an attr that came without a name makes the
 * labels of all such attrs. */
const uvperf_event_item_t *
uvperf__counters_item(const uvperf__counters_t *counters, size_t attr);

/* What fallbacks changed of an attr, NULL and 0 for nothing. */
const uvperf_change_t *
uvperf__counters_changes(const uvperf__counters_t *counters, size_t attr,
                         size_t *nr);

/* The fd of an attr at the place of this serial number, -1 where it is not
 * open. */
int uvperf__counters_fd(const uvperf__counters_t *counters, size_t attr,
                        uint64_t serial);

/* -- records: counters_rings.c -- */

/* The rings into which all events write; NULL without UVPERF_SET_RECORDS. New
 * ones may be there after each call that opens events. */
uvperf__cpu_rings_t *uvperf__counters_rings(const uvperf__counters_t *counters);

/* How many rings there are, 0 without UVPERF_SET_RECORDS. */
size_t uvperf__counters_nr_rings(const uvperf__counters_t *counters);

/* Decodes the records of all rings; NULL without UVPERF_SET_RECORDS. */
uvperf_decoder_t *uvperf__counters_decoder(const uvperf__counters_t *counters);

/* Reads the clock that stamps the records of all events, in nanoseconds.
 * UINT64_MAX if that is not possible: the kernel's own, which no set in the
 * order of time has. */
uint64_t uvperf__counters_clock(const uvperf__counters_t *counters);

/* That clock before the first event was opened; 0 if it cannot be read. */
uint64_t uvperf__counters_opened(const uvperf__counters_t *counters);

/* Frees what is known of events that are closed, once every ring has been read
 * behind what they wrote; of overwritable rings once that is overwritten. To be
 * called when a turn is over; never inside a record callback. */
void uvperf__counters_free_sources(uvperf__counters_t *counters);

/* -- CPUs that come and go: counters_hotplug.c -- */

/* A CPU is online (again): opens anew the events that are bound to it alone
 * (pid -1, cgroups), with the filters, periods and programs that were set,
 * enabled if the set is; their counts go on. Those that have gone on without
 * it, as their PMU's driver moves them to another CPU, are left alone
 * (perf_pmu_migrate_context in kernel/events/core.c). Tries anew what could not
 * be opened there. Targets whose `cpus` is NULL get places on a CPU that is new
 * to them, but for tasks that have a place that follows them. 0, or, with all
 * done that could be, the first failure. */
int uvperf__counters_cpu_come(uvperf__counters_t *counters, int cpu,
                              uvperf_error_t *error);

/* A CPU has gone: its events have stopped, most of them for good. Notes where
 * they are, so that those that go on are known when it is back. */
void uvperf__counters_cpu_gone(uvperf__counters_t *counters, int cpu);

/* -- the end of targets: counters_gone.c -- */

/* Finds out which targets are gone, by poll(2) of one event of each that lived
 * so far; of more events only if that one has hung up. It eats wakeups of the
 * rings: check all of them afterwards. A target none of whose events writes
 * records is looked up in /proc, which takes some 15 microseconds. Returns how
 * many have newly ended. */
size_t uvperf__counters_probe(uvperf__counters_t *counters);

/* Gives one target that probe found gone and that was not given yet: 1 and
 * *index; else 0. */
int uvperf__counters_take_ended(uvperf__counters_t *counters, uint32_t *index);

/* Whether there is a target that can end and has not: one of tasks. */
int uvperf__counters_can_end(const uvperf__counters_t *counters);

/* Whether there are targets, and probe found every one of them gone. */
int uvperf__counters_have_ended(const uvperf__counters_t *counters);

#endif
