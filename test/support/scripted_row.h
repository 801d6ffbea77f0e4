/* SPDX-License-Identifier: MIT */
/* Tests as tables of text. A row is a test: its name, and steps with a scripted
 * kernel on a made-up host with the CPUs 0 to 2. A subject has the words for
 * what is tested: scripted_evlist.h, scripted_handles.h, scripted_array.h.
 *
 *   {"offline_cpu_is_a_failure",
 *    "attrs 1; cpus 0-1; fail open 2 ENODEV; open -> open e0@0 @1 ENODEV\n"
 *    "failures -> a0 t0 cpu1 ENODEV no_event\n"},
 *
 * Steps are separated by ";" or a newline. After "->" is what a step prints:
 * first what the kernel saw, then what the call returned. A step without "->"
 * may print anything, but must return 0. A text with spaces is between ''. To
 * see what a program prints, run it with SCRIPTED_PRINT=1 in the environment.
 *
 * What the kernel saw: e0 is the event that was opened first. "open e0@1" is an
 * open on CPU 1 for all tasks, "e0@me:1" there for this process, "e0@me" on all
 * CPUs, "e0@self" for the calling thread, "<e2" in the group of e2, "<copy" in
 * that of a duplicate of the leader's fd. Other calls are "read e0", "ENABLE e0
 * e1" (one ioctl each), "SET_OUTPUT e0 e1", "PERIOD e0 700", "bpf link e0",
 * "close link e0", "poll all e0" (one poll of many), "bpf update 1" (an entry
 * of a map), "program" (options.open). ioctl ID is not printed. A call that
 * failed ends with its code.
 *
 * What a call returned: code and cause of a failure. A count is
 * "7@20/10=14": value, time enabled, time running if that differs, scaled if
 * that differs, "+1 lost", a code, "-1" (missing); or its state.
 *
 * The host
 *   file PATH TEXT            a file; "no_host": none can be read
 *   up CPU, down CPU, online LIST  a CPU; the list of CPUs
 *   goes CPU LIST, comes CPU LIST  with a uevent; LIST is online then
 *   uevent_reads              how often uevents were read
 *   task PROCESS ID START     a task in /proc; "tasks": 11 and 12. After "task"
 *                             tkill(2) finds all ids
 * Calls of the kernel
 *   fail CALL N CODE          the Nth next CALL fails; also "1-3", "2+"
 *   count CALL                how often it was called
 *   refuse WHAT CODE          opens of WHAT fail; "refuse nothing"
 *   ioctls NAME CODE          these ioctls fail, or all; 0 ends that
 *   opener N WHAT             the Nth next call of options.open returns a code,
 *                             a number, or the fd of the last call ("again"),
 *                             of a "file" or of none ("closed")
 *   hang N TEXT [STEP]        the Nth next call of options.open runs a step,
 *                             and hangs until a callback prints TEXT
 *   at open N 'STEP'          runs a step at the Nth open; also at the next
 *                             "poll E" or "map E"
 *   kernel with lost          also "without"; "unknown_lost": it must be asked
 *   version PART=VALUE...     another kernel or PMU: cycles, attr_size,
 *                             precise_ip, user_only, flag_bits,
 *                             sample_type_bits
 *   fork, unfork              acts as a forked child
 *   thread_number N           all threads have this number
 *   clock NS [STEP]           the time of counters; each look adds a step
 *   loop_clock NS             the time of the loop
 *   memory mark               then memory compare, more or less
 *   memory spare              uses up an allocation that is to fail
 * Events
 *   give E V N R [LOST]       what a read of E returns: count and times
 *   give E N R E=V...         the same of a group
 *   words E V...              what a read returns, as it is
 *   size E N, word E N V      a read returns so many bytes, or this word
 *   hup E..., err E...        what a poll returns
 *   wake E, quiet E           the loop sees that there are records
 *   id E E                    the first gets the id of the second
 *   share N                   the events share a list with N programs
 *   events FIELD...           of all attrs that were opened; "modified
 *                             FIELD...": of the last MODIFY_ATTRIBUTES
 *   running                   those that are enabled
 * Rings
 *   write E E [N]             writes samples of the second event into the ring
 *                             of the first; 0 fills it
 *   append E TYPE [E]         a sound record of the event, or of another one
 *   lose E N, lose_samples E N  a record of losses
 *   header E TYPE SIZE BYTES [MISC [E]]
 *                             bytes that begin with a header, and end with an
 *                             event's id
 *   fill_ring E TYPE SIZE, head E N (moves it), tail E
 * The BPF map
 *   map N [FLAGS [TYPE]], foreign KEY, clear KEY, entries, keys, files
 *   max_entries N, map_type N, map_flags N, pin, freeze, thaw
 * The loop
 *   turn [N], run (turns of a loop that nothing keeps alive), wait MS (runs it
 *   so long), wait_for TEXT (until this is printed), alive, timers,
 *   fire_timer, waits (for fds), polled (how many fds),
 *   handles TYPE... (how many)
 *   uv_close all, uv_close hub  by other code
 *   hold (the pool waits), refuse_work (it does not), pool [N | work], slow
 *   (each open is a request of its own)
 * The row
 *   says TEXT                 what the last reason must contain; "says_no"
 *   needed, needed_at_least N what the last error says
 *   on TEXT 'STEP|STEP...'    the next callback that prints TEXT runs steps
 *   on_each 'STEP|STEP...'    each callback does; on TEXT never: none may come
 *   times N STEP
 *   in_thread STEP            also "in_child": a forked one, by its code
 *   returns CODE STEP         for a code without what is printed
 *   each CALL CODE            first: the row is run once for each CALL, which
 *                             fails; steps must then return 0 or CODE.
 *                             "sweep": only calls after this step */
#ifndef UVPERF_TEST_SCRIPTED_ROW_H
#define UVPERF_TEST_SCRIPTED_ROW_H

#include "scripted_say.h"

typedef struct scripted_row_s {
  const char *name;
  const char *text;
} scripted_row_t;

typedef struct scripted_verb_s {
  const char *word;
  void (*run)(const step_t *step);
} scripted_verb_t;

/* What the rows of a program test. */
typedef struct scripted_subject_s {
  const scripted_verb_t *verbs[5]; /* tables, the last is NULL */
  /* Skips a row that needs what is missing here; or NULL. */
  void (*need)(const scripted_row_t *row);
  void (*begin)(void);
  void (*before_step)(void); /* or NULL */
  int (*is_open)(void);      /* whether the call that opens it has succeeded */
  void (*close)(void);       /* before the loop ends */
  void (*end)(void);
} scripted_subject_t;

/* What the call of a step returned. */
typedef struct row_result_s {
  int code;
  uvperf_error_t error;
} row_result_t;

extern row_result_t row_result;

/* Notes and prints it. Returns whether there was an error to print. */
int row_returned(int rc);

/* Runs another step in a step, or several. */
void row_run(const step_t *step);
void row_step(const char *text);

/* Called by a callback that has printed something, from `since` on: runs the
 * step of "on" or "on_each". */
void row_callback(size_t since);

/* A callback for uvperf_on_cpu: prints the CPU, and the error or the status. */
void row_on_cpu(uvperf_handle_t *handle, int cpu, int status,
                const uvperf_error_t *error);

/* Runs the rows and then other tests, as a main function. Returns the number of
 * failed tests. */
int scripted_row_run(const scripted_subject_t *subject,
                     const scripted_row_t *rows, size_t nr,
                     const struct CMUnitTest *tests, size_t nr_tests);

#define SCRIPTED_ROWS(subject, rows)                                           \
  scripted_row_run(subject, rows, COUNT_OF(rows), NULL, 0)
#define SCRIPTED_ROWS_AND_TESTS(subject, rows, tests)                          \
  scripted_row_run(subject, rows, COUNT_OF(rows), tests, COUNT_OF(tests))

#endif
