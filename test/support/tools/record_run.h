/* SPDX-License-Identifier: MIT */
/* Runs record into a file of the test's own, and counts what is in it. */
#ifndef UVPERF_TEST_RECORD_RUN_H
#define UVPERF_TEST_RECORD_RUN_H

#include <glob.h>

#include "perf_data.h"
#include "tool_run.h"

/* A directory that anybody may write to, and where the file is to be. */
int record_run_setup(void **state);
int record_run_teardown(void **state);
const char *record_run_path(void);

/* A test with the two. */
#define record_run_test(f)                                                     \
  cmocka_unit_test_setup_teardown(f, record_run_setup, record_run_teardown)

/* Runs record, as `PROGRAM -o PATH` with these words of a shell behind it;
 * run->args are set here. */
void record_run_run(tool_run_t *run, const char *program, const char *words);

/* The same, of a run without anything else, which is to succeed. */
void record_run_succeeds(const char *program, const char *words);
#define record_run_well(words) record_run_succeeds(RECORD_PATH, words)

/* Skips the test without perf(1) or the event CALL_SERVER_EVENT on a CPU. */
void record_run_need_perf(const char *test);

/* Runs words of a shell in which each @ stands for the path; they are to
 * succeed and to say nothing on stderr. */
void record_run_shell(const char *words);

/* What the last line says: 1, or 0 if there is none. */
int record_run_reported(const tool_run_t *run, unsigned long *samples,
                        unsigned long *lost);

/* What is in a file. */
typedef struct record_run_count_s {
  size_t nr_of_type[96];  /* PERF_RECORD_* */
  size_t nr_of_event[16]; /* samples, by the event's index */
  size_t nr_of_cpu[8];    /* samples with PERF_SAMPLE_CPU */
  uint64_t lost;          /* by LOST_SAMPLES records */
  size_t nr_kernel, nr_user;
  size_t nr_frames, nr_regs, nr_stack_bytes;
  size_t nr_values;     /* of PERF_SAMPLE_READ */
  size_t nr_inversions; /* a record is older than one before it */
  uint32_t first_pid;   /* of samples */
  size_t nr_other_pids; /* samples of other processes */
} record_run_count_t;

/* Fails the test if the decoder cannot read the file. */
void record_run_count(record_run_count_t *count);
void record_run_count_file(const char *file, record_run_count_t *count);

/* The files whose names are the path, a dot and more, in order: how many.
 * glob's; for globfree. */
size_t record_run_files(glob_t *files);

#endif
