/* SPDX-License-Identifier: MIT */
/* The file or files of a recording. */
#ifndef RECORD_RUN_FILE_H
#define RECORD_RUN_FILE_H

#include "record/run.h"

/* Creates the file. Until this call an old file is not changed. Returns 0, or 1
 * after a message. */
int record_run_file_open(record_run_t *run);

/* Writes the running tasks. The file can be read from here on. Returns 0, or 1.
 * The message about a failure comes at the end. */
int record_run_file_begin(record_run_t *run);

/* Adds the ids of new events. Returns 0, or 1 after a message. */
int record_run_file_add_ids(record_run_t *run);

/* Writes a record of the kernel. If the file would exceed --max-size, the
 * record is left out and the recording ends soon. */
void record_run_file_write(record_run_t *run, const uvperf_record_t *record);

/* Call this after each slice of records. */
void record_run_file_round(record_run_t *run);

/* Writes buffered records, for programs that read the file now. */
void record_run_file_sync(record_run_t *run);

/* Continues the recording in a new file. Callbacks of the set may not use
 * it. */
void record_run_file_switch(record_run_t *run);

/* Starts the timer of --switch-output=TIME. */
void record_run_file_wait(record_run_t *run);

/* Writes the last records, after all events are disabled. */
void record_run_file_stop(record_run_t *run);

/* Finishes the file. If the file could not be written, says why. */
void record_run_file_close(record_run_t *run);

#endif
