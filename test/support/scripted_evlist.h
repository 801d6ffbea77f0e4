/* SPDX-License-Identifier: MIT */
/* Tests of an evlist as tables of text. A row is a test: its name, and steps
 * with a scripted kernel on a made-up host with the CPUs 0 to 2.
 *
 *   {"offline_cpu_is_a_failure",
 *    "attrs 1; cpus 0-1; fail open 2 ENODEV; open -> open e0@0 @1 ENODEV\n"
 *    "failures -> a0 t0 cpu1 ENODEV no_event\n"},
 *
 * Steps are separated by ";" or a newline. After "->" is what a step prints:
 * first what the kernel saw, then what the call returned. A step without "->"
 * may print anything, but must return 0. e0 is the event that was opened first,
 * a0 an attr, t0 a target. A text with spaces is between ''. To see what a
 * program prints, run it with SCRIPTED_EVLIST_PRINT=1 in the environment.
 *
 * What the kernel saw: "open e0@1" is an open on CPU 1 for all tasks, "e0@me:1"
 * there for this process, "e0@me" on all CPUs, "<e2" in the group of e2. Other
 * calls are "read e0", "ENABLE e0 e1" (one ioctl each), "SET_OUTPUT e0 e1",
 * "PERIOD e0 700", "bpf link e0", "close link e0", "poll all e0" (one poll of
 * many), "bpf update 1" (an entry of a map). ioctl ID is not printed. A call
 * that failed ends with its code.
 *
 * What a call returned: code, cause, attr and target of a failure. A count is
 * "7@20/10=14": value, time enabled, time running if that differs, scaled if
 * that differs, "+1 lost", a code, "-1" (missing); or its state.
 *
 * The host
 *   file PATH TEXT            a file
 *   up CPU, online LIST       a CPU; the list of CPUs
 *   task PROCESS ID START     a task in /proc; "tasks": 11 and 12. After "task"
 *                             tkill(2) finds all ids
 *   replace N PROCESS ID START  the same at the Nth open
 * The options
 *   attrs N, records N        as evlist_make, evlist_make_records
 *   names TEXT                events by name; the PMUs are in make_host
 *   group FIRST N, leader A LEADER
 *   attr A FIELD=VALUE...     sets fields; so does "sample", in options.sample
 *   flags, side_band, fallbacks WORD...; ring_bytes, wakeup_bytes, slack_us N
 *   TARGET                    cpus LIST | cpus all | self | thread, process or
 *                             command PID [LIST] [alone]; PID may be "me" or
 *                             "parent", "alone" is UVPERF_TARGET_NO_INHERIT
 * The kernel
 *   fail CALL N CODE          the Nth next CALL fails; also "1-3", "2+"
 *   refuse WHAT CODE          opens of WHAT fail; "refuse nothing"
 *   ioctls NAME CODE          these ioctls fail; 0 ends that
 *   give E V N R [LOST]       what a read of E returns: count and times
 *   give E N R E=V...         the same of a group
 *   size E N, word E N V      a read returns so many bytes, or this word
 *   hup E..., err E...        what a poll returns
 *   write E E [N]             writes samples of the second event into the ring
 *                             of the first; 0 fills it
 *   clock NS; id E E (the first gets the id of the second)
 *   share N                   the events share a list with N programs
 *   fork, unfork              acts as a forked child
 *   kernel without lost
 * The calls
 *   open, close, enable, disable, read, base, reset, gone, come or back CPU
 *   add TARGET, elsewhere TARGET (opened in a list of its own), remove T, take
 *   T (prints the last counts), churn N SAMPLES (targets that come and go)
 *   begin N TARGET, steps N [MOST], cancel N, join N, drop N: "elsewhere" in
 *   steps, at most two at a time
 *   filter A TEXT, period A N, program A [COOKIE], noprogram A, detach
 *   map N [FLAGS [TYPE]], fill A, leave, foreign KEY, clear KEY, entries
 *   probe, ended, drain, free_sources, writers
 *   set [pool] (uvperf_set_init; from then on add, remove and close are calls
 *   of the set), later TARGET (the pool opens it), slow (each open is a request
 *   of its own), pool [N | work], turn (of the loop), start, stop, flush, next,
 *   has_record, samples E E TIME..., snapshot [WORD...], stats
 *   work E N R V..., meter NAMES, measure N [NAMES], repeat TIMES N, free_meter
 * What there is
 *   totals, counts A (at each place), mark and delta A, places, failures, nr
 *   failure N TEXT, says TEXT (what the reason, or the last one, must contain)
 *   item A, fields A FIELD..., nonzero A, changes A, enabled
 *   events FIELD... (of all that were opened), sources E..., rings
 *   memory mark, memory compare
 * The row
 *   each CALL CODE            first: the row is run once for each CALL, which
 *                             fails; steps must then return 0 or CODE.
 *                             "sweep": only calls after this step
 *   times N STEP */
#ifndef UVPERF_TEST_SCRIPTED_EVLIST_H
#define UVPERF_TEST_SCRIPTED_EVLIST_H

#include "make_evlist.h"

typedef struct evlist_row_s {
  const char *name;
  const char *text;
} evlist_row_t;

/* Runs the rows and then other tests. Returns the number of failed tests. */
int scripted_evlist_run(const char *program, const evlist_row_t *rows,
                        size_t nr, const struct CMUnitTest *tests,
                        size_t nr_tests);

#define SCRIPTED_EVLIST_RUN(rows)                                              \
  scripted_evlist_run(__FILE__, rows, sizeof(rows) / sizeof((rows)[0]), NULL, 0)

#endif
