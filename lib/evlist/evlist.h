/* SPDX-License-Identifier: MIT */
/* Opens, controls and reads many events at many places, without a loop. Sets,
 * measurements and BPF readers are built on this. This is the interface of the
 * files of evlist/. What these share is in internal.h.
 *
 * A target stands for one or more places. An attr at a place is one event with
 * its own fd. Functions return 0 or -errno. `error` may be NULL. In a forked
 * child every function except _free and the getters returns -EPERM. */
#ifndef UVPERF_LIB_EVLIST_EVLIST_H
#define UVPERF_LIB_EVLIST_EVLIST_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/record.h"
#include "uvperf/set_options.h"

#include "count/reading.h"
#include "host/tracefs.h"
#include "ring/bpf_map.h"
#include "ring/cpu_rings.h"
#include "ring/leftovers.h"
#include "sys/opener.h"

typedef struct uvperf__evlist_s uvperf__evlist_t;

/* Opens every attr at every place of every target, disabled. `options` is a
 * full copy (by uvperf__options_copy). The function copies the data that
 * `options` points to.
 *
 * Returns 0 if any event could be opened, or if there are no targets. Otherwise
 * it leaves nothing open, and returns the code and the error of the most
 * specific failure. With UVPERF_SET_STRICT it fails with the first failure. A
 * shortage of fds or memory always fails the call. */
int uvperf__evlist_new(uvperf__evlist_t **evlist,
                       const uvperf_set_options_t *options,
                       uvperf_error_t *error);

/* The same. `is_brief` is for events of the calling thread that only this
 * thread reads, before it does anything else. The data for detecting the end of
 * a task is then not looked up, because that takes longer than all other
 * steps. */
int uvperf__evlist_make(int is_brief, uvperf__evlist_t **evlist,
                        const uvperf_set_options_t *options,
                        uvperf_error_t *error);

/* Whether the events of any of these targets belong to CPUs, in a set without
 * rings. */
int uvperf__targets_are_on_cpus(const uvperf_target_t *targets, size_t nr);

/* Makes a placeholder for a list that is being opened, or could not be:
 * uvperf__evlist_check returns -EBUSY and the error, and the getters return
 * nothing. Returns NULL if out of memory. */
uvperf__evlist_t *uvperf__evlist_new_none(void);

/* Closes every fd and frees the evlist. NULL is allowed. It may be called in
 * a forked child: closing its fds does not affect the parent's events. */
void uvperf__evlist_free(uvperf__evlist_t *evlist);

/* Whether closing `nr` of the events takes long. */
int uvperf__evlist_close_slowly(const uvperf__evlist_t *evlist, size_t nr);

/* Moves every fd and mapping to `leftovers` if closing them takes long.
 * Afterwards the evlist can only be freed. */
void uvperf__evlist_give_up(uvperf__evlist_t *evlist,
                            uvperf__leftovers_t *leftovers);

/* From now on, events to be closed are put into `leftovers`. If `leftovers` is
 * NULL, they are closed at once again. */
void uvperf__evlist_put_aside(uvperf__evlist_t *evlist,
                              uvperf__leftovers_t *leftovers);

/* Returns 0 if the evlist can be used. Otherwise fills the error, and returns
 * -EPERM in a forked child, or the code of a placeholder (-EBUSY, -EBADF). */
int uvperf__evlist_check(const uvperf__evlist_t *evlist, uvperf_error_t *error);

/* -- opening in steps: targets.c -- */

/* Which event is opened next. */
typedef struct evlist_cursor_s {
  size_t target;
  size_t place;
  size_t at; /* index in the order of the attrs */
} evlist_cursor_t;

/* Targets that are being added to a list. All members except the first two
 * are private. */
typedef struct uvperf__adding_s {
  uvperf__evlist_t *evlist;
  int is_deferred;
  int stage;
  uvperf_target_t *targets; /* copies */
  uint64_t *starts;         /* of their tasks: see uvperf__target_begin */
  size_t nr;
  uvperf__tracefs_ids_t tracepoints;
  /* The state before the adding began. */
  size_t first;
  size_t nr_failures;
  size_t nr_open;
  size_t nr_rings;
  uint32_t index;
  /* Progress. */
  size_t nr_planned; /* targets */
  size_t nr_fds;     /* needed */
  size_t nr_new_rings;
  size_t nr_checks; /* fds for reading /proc while all events are open */
  evlist_cursor_t cursor;
  /* Failures. */
  int rc;
  uvperf_error_t why;
  size_t nr_shrinkable; /* rings */
  uvperf__leftovers_t leftovers;
} uvperf__adding_t;

/* Makes a list as uvperf__evlist_new does, but without targets. `adding` will
 * add the targets. Opens nothing, and makes no request to the kernel.
 *
 * With a map, takes the map over (its fd becomes -1) and makes an array: the
 * events through which BPF programs send samples, see array.c. The options of
 * an array have one attr, one target of the type UVPERF_TARGET_CPUS, and the
 * flags UVPERF_SET_RECORDS and UVPERF_SET_STRICT. */
int uvperf__evlist_new_adding(uvperf__evlist_t **evlist,
                              const uvperf_set_options_t *options,
                              uvperf__bpf_map_t *map, uvperf__adding_t *adding,
                              uvperf_error_t *error);

/* Begins to add targets. `is_deferred` means that another thread makes the
 * steps, after the caller's options are gone. Then UVPERF_TARGET_SELF still
 * means the caller, and a step closes at most one event. Returns 0, or a code
 * and the error. After a failure do not call uvperf__adding_end. */
int uvperf__adding_begin(uvperf__adding_t *adding, uvperf__evlist_t *evlist,
                         const uvperf_target_t *targets, size_t nr,
                         int is_deferred, uvperf_error_t *error);

/* Makes a step; most steps are one system call. Returns 1 if more steps follow.
 * After a cancel the steps close what was opened, and the adding fails with
 * -ECANCELED. No other code may use the evlist until uvperf__adding_end. */
int uvperf__adding_step(uvperf__adding_t *adding, int is_cancelled);

/* Ends the adding after the last step or before the first, on the thread that
 * began it. Returns 0, or a code and the error, as uvperf__evlist_new
 * does. */
int uvperf__adding_end(uvperf__adding_t *adding, uvperf_error_t *error);

/* Makes all steps, and ends the adding. */
int uvperf__adding_run(uvperf__adding_t *adding, uvperf_error_t *error);

/* Makes a list with the attrs of `joined`, which can be used meanwhile.
 * `adding` will add the target, whose index is `adding->index`. Returns 0, or a
 * code and the error. */
int uvperf__evlist_new_for_target(uvperf__evlist_t **evlist,
                                  uvperf__evlist_t *joined,
                                  const uvperf_target_t *target,
                                  uvperf__adding_t *adding,
                                  uvperf_error_t *error);

/* Takes over the target that `made` has opened, and enables it if the other
 * targets are enabled. Returns 0. On failure returns a code and the error, and
 * adds nothing. The caller frees `made` in any case. */
int uvperf__evlist_take_target(uvperf__evlist_t *evlist, uvperf__evlist_t *made,
                               uvperf_error_t *error);

/* Opens every attr at every place of one more target, and enables it if the
 * other targets are enabled. *index, if not NULL, receives the target's index.
 * Returns 0 if any event could be opened. Otherwise it returns a code and the
 * error, as uvperf__evlist_new does, and adds nothing. */
int uvperf__evlist_add_target(uvperf__evlist_t *evlist,
                              const uvperf_target_t *target, uint32_t *index,
                              uvperf_error_t *error);

/* Closes the events of a target, and removes its places and failures. `last`,
 * if not NULL, receives the counts of its places. Returns 0, or -ENOENT if no
 * target has this index, or -ENOMEM and removes nothing. */
int uvperf__evlist_remove_target(uvperf__evlist_t *evlist, uint32_t index,
                                 uvperf_reading_t *last, uvperf_error_t *error);

/* Enable or disable the events, except the events of a command that has not
 * called execve(2) yet. The kernel enables the events of a command at
 * execve(2). The functions go on after a failure and return the first
 * failure. */
int uvperf__evlist_enable(uvperf__evlist_t *evlist, uvperf_error_t *error);
int uvperf__evlist_disable(uvperf__evlist_t *evlist, uvperf_error_t *error);

/* Does the same as uvperf__evlist_disable, but without checking for a fork. A
 * measurement has made this check earlier, because before Linux 4.14 it takes a
 * system call, which would be measured too. */
int uvperf__evlist_stop(uvperf__evlist_t *evlist, uvperf_error_t *error);

/* Returns the calls of options.open. */
uvperf__calls_t *uvperf__evlist_calls(uvperf__evlist_t *evlist);

/* Whether the events are enabled: by UVPERF_SET_ENABLED, or by the last of
 * these three calls. */
int uvperf__evlist_is_enabled(const uvperf__evlist_t *evlist);

/* From now on counts and times are relative to now. */
int uvperf__evlist_reset(uvperf__evlist_t *evlist);

/* Fills a reading. If an event cannot be read, its state in the reading says
 * so. The call itself fails only in a forked child or with -ENOMEM. If it
 * fails, it does not change the reading. */
int uvperf__evlist_read(uvperf__evlist_t *evlist, uvperf_reading_t *reading);

/* Adds to the `lost` of each ring how many records the kernel has lost. This
 * reads the events of each ring that was half full. Returns 0 if the events
 * lack PERF_FORMAT_LOST. */
int uvperf__evlist_count_lost(const uvperf__evlist_t *evlist);

/* Does the same as uvperf__evlist_read for `nr` targets from the position
 * `first` on. `nr` may be 0. A reading in steps goes on afterwards. */
int uvperf__evlist_read_targets(uvperf__evlist_t *evlist, size_t first,
                                size_t nr, uvperf_reading_t *reading);

/* Does the same as uvperf__evlist_read, but does not check which tasks are
 * gone, because that check takes longer than the rest. Use it for a reading
 * that serves only to compute differences. */
int uvperf__evlist_read_base(uvperf__evlist_t *evlist,
                             uvperf_reading_t *reading);

/* These functions fill a reading in steps, for a loop that has other work. The
 * first function begins a reading. The second reads for some time and returns 1
 * if there is more to read. The last fills the reading. The reading has the
 * time of the first call. Any other call is allowed in between:
 * - A target that is removed is not in the reading. A target that is added is
 *   read, because targets are read in the order of their indexes.
 * - After a reset the reading begins again.
 * - uvperf__evlist_read begins again and reads everything, so nothing is left
 *   to read. The begun reading then has the time of that call. */
void uvperf__evlist_read_begin(uvperf__evlist_t *evlist);
int uvperf__evlist_read_some(uvperf__evlist_t *evlist, uint64_t ns);
int uvperf__evlist_read_end(uvperf__evlist_t *evlist,
                            uvperf_reading_t *reading);

/* Allocates the memory that a reading of this list needs, and makes the
 * reading empty, with the time of the last uvperf__evlist_read_begin. Returns
 * 0, or -ENOMEM without changing the reading. */
int uvperf__evlist_make_reading(const uvperf__evlist_t *evlist,
                                uvperf_reading_t *reading);

/* These functions change one attr at every place, also for targets that are
 * added later. The functions go on after a failure and return the first
 * failure. A later target gets a value if at least one event has accepted it,
 * or if no event was open. The functions return -EINVAL if there is no such
 * attr. */
int uvperf__evlist_apply_filter(uvperf__evlist_t *evlist, size_t attr,
                                const char *filter, uvperf_error_t *error);
int uvperf__evlist_change_period(uvperf__evlist_t *evlist, size_t attr,
                                 uint64_t period, uvperf_error_t *error);
/* Keeps a duplicate of prog_fd. */
int uvperf__evlist_attach_bpf(uvperf__evlist_t *evlist, size_t attr,
                              int prog_fd, uint64_t cookie,
                              uvperf_error_t *error);

/* Does what uvperf_query_bpf says, through one open event of the attr. */
int uvperf__evlist_query_bpf(const uvperf__evlist_t *evlist, size_t attr,
                             uint32_t *ids, size_t *nr, uvperf_error_t *error);

/* The first function does the same as uvperf_set_fill_map. Call the second when
 * the handle closes: it closes all maps. */
int uvperf__evlist_fill_map(const uvperf__evlist_t *evlist, size_t attr,
                            int map_fd, uvperf_error_t *error);
void uvperf__evlist_leave_maps(const uvperf__evlist_t *evlist);

/* Detaches the programs that are attached by links, so that they end before the
 * events are closed. The events should be disabled. Call it only when the set
 * closes, because the attrs still have their programs. Does nothing in a forked
 * child. */
void uvperf__evlist_detach(uvperf__evlist_t *evlist);

/* Events that are not open, ordered by target, place and attr. Valid until a
 * target is added or removed, or a CPU comes online. */
const uvperf_set_failure_t *
uvperf__evlist_failures(const uvperf__evlist_t *evlist, size_t *nr);

/* Returns 0 if an event that writes records is open, or may be opened later.
 * Otherwise returns the code that says why no such event could be opened. */
int uvperf__evlist_check_writers(const uvperf__evlist_t *evlist,
                                 uvperf_error_t *error);

/* Whether any of the attrs makes the kernel write records. */
int uvperf__evlist_write_records(const uvperf__evlist_t *evlist);

size_t uvperf__evlist_nr_attrs(const uvperf__evlist_t *evlist);

/* Returns the number of attrs without the further parts of events. These parts
 * come after all events. */
size_t uvperf__evlist_nr_whole(const uvperf__evlist_t *evlist);

/* Returns how many events are open. */
size_t uvperf__evlist_nr_open(const uvperf__evlist_t *evlist);

/* Returns the item of an attr, or NULL if there is no such attr. item->attr is
 * the attr as it is opened, except for the fields that depend on the target:
 * disabled, inherit and enable_on_exec. The first call for an attr without a
 * name makes the labels of all such attrs. */
const uvperf_event_item_t *uvperf__evlist_item(const uvperf__evlist_t *evlist,
                                               size_t attr);

/* Returns the changes that fallbacks made to an attr, or NULL and 0 if there
 * are no changes. */
const uvperf_change_t *uvperf__evlist_changes(const uvperf__evlist_t *evlist,
                                              size_t attr, size_t *nr);

/* Returns the fd of an attr at the place with this serial number, or -1 if it
 * is not open. */
int uvperf__evlist_fd(const uvperf__evlist_t *evlist, size_t attr,
                      uint64_t serial);

/* -- records: sources.c -- */

/* Returns the rings into which all events write, or NULL without
 * UVPERF_SET_RECORDS. Each call that opens events may add rings. */
uvperf__cpu_rings_t *uvperf__evlist_rings(const uvperf__evlist_t *evlist);

/* Returns how many rings there are, or 0 without UVPERF_SET_RECORDS. */
size_t uvperf__evlist_nr_rings(const uvperf__evlist_t *evlist);

/* Returns the decoder for the records of all rings, or NULL without
 * UVPERF_SET_RECORDS. */
uvperf_decoder_t *uvperf__evlist_decoder(const uvperf__evlist_t *evlist);

/* Reads the clock that stamps the records of all events, in nanoseconds.
 * Returns UINT64_MAX if it is the kernel's own clock, which cannot be read. A
 * set with UVPERF_SET_TIME_ORDER never uses that clock. */
uint64_t uvperf__evlist_clock(const uvperf__evlist_t *evlist);

/* Returns the time of this clock before the first event was opened, or 0 if the
 * clock cannot be read. */
uint64_t uvperf__evlist_opened(const uvperf__evlist_t *evlist);

/* Frees the sources of closed events once every ring has been read past their
 * last record. In an overwritable ring, the last record must have been
 * overwritten. Call it after an iteration, never inside a record callback. */
void uvperf__evlist_free_sources(uvperf__evlist_t *evlist);

/* -- CPU hotplug: hotplug.c -- */

/* Call it when a CPU is online (again).
 * - Opens again the events that are bound to this CPU (pid -1, cgroups), with
 *   the filters, periods and programs that were set. Enables them if the set is
 *   enabled. Their counts go on.
 * - Does not open events again that went on without the CPU, because their
 *   PMU's driver moved them to another CPU (perf_pmu_migrate_context in
 *   kernel/events/core.c).
 * - Tries again to open the events that could not be opened there.
 * - If the CPU is new to a target whose `cpus` is NULL, adds places on the CPU.
 *   A task that has a place that follows it to every CPU gets no new place.
 * Goes on after a failure. Returns 0 or the first failure. */
int uvperf__evlist_cpu_come(uvperf__evlist_t *evlist, int cpu,
                            uvperf_error_t *error);

/* Call it when a CPU is offline. The CPU's events have stopped, most of them
 * for good. Notes their running times, which show later, when the CPU is back,
 * which events went on. */
void uvperf__evlist_cpu_gone(uvperf__evlist_t *evlist, int cpu);

/* -- the events of a BPF map: array.c -- */

/* Puts all events of an array into the map (`is_in`), or takes them out. If an
 * event fails, undoes what was done to the events before it. Returns 0 (also if
 * there is nothing to do), or a code and the error. It is not a failure if
 * another process has taken an entry out. */
int uvperf__evlist_put(uvperf__evlist_t *evlist, int is_in,
                       uvperf_error_t *error);

/* Does the same as uvperf_bpf_reader_cpu_status. */
int uvperf__evlist_cpu_status(const uvperf__evlist_t *evlist, int cpu);

/* -- the end of targets: gone.c -- */

/* Finds out which targets are gone, by poll(2) on one event of each target that
 * was alive before. It polls more events of a target only if that event has
 * hung up. The probe consumes wakeups of the rings, so check all rings
 * afterwards.
 *
 * A target without events that write records is looked up in /proc, which takes
 * about 15 microseconds. Returns how many targets have newly ended. */
size_t uvperf__evlist_probe(uvperf__evlist_t *evlist);

/* If the probe found a target gone that this function has not returned yet,
 * sets *index to its index and returns 1. Otherwise returns 0. */
int uvperf__evlist_take_ended(uvperf__evlist_t *evlist, uint32_t *index);

/* Whether there is a target of tasks that has not ended. Only targets of tasks
 * can end. */
int uvperf__evlist_can_end(const uvperf__evlist_t *evlist);

/* Whether there are targets, and the probe found all of them gone. */
int uvperf__evlist_have_ended(const uvperf__evlist_t *evlist);

#endif
