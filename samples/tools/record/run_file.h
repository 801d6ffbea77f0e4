/* SPDX-License-Identifier: MIT */
/* The file of a recording, or its files, one after the other. */
#ifndef RECORD_RUN_FILE_H
#define RECORD_RUN_FILE_H

#include "record/run.h"

/* Makes the first file; an old one is left alone until then. 0, or 1 after a
 * message. */
int record_run_file_open(record_run_t *run);

/* Writes the tasks that run. From here on the file can be read. 0, or 1; the
 * message comes at the end. */
int record_run_file_begin(record_run_t *run);

/* Adds the ids of events that are new: 0, or 1 after a message. */
int record_run_file_add_ids(record_run_t *run);

/* Writes a record of the kernel. If it is too much for --max-size, it is left
 * out and the recording ends soon. */
void record_run_file_write(record_run_t *run, const uvperf_record_t *record);

/* After each slice of records. */
void record_run_file_round(record_run_t *run);

/* Brings the file up to date for those who read it now. */
void record_run_file_sync(record_run_t *run);

/* Continues in a new file: soon, or at once, which is not for callbacks of the
 * set. */
void record_run_file_switch_soon(record_run_t *run);
void record_run_file_switch(record_run_t *run);

/* Starts the timer of --switch-output=TIME. */
void record_run_file_wait(record_run_t *run);

/* Writes the last records: when all is disabled. */
void record_run_file_stop(record_run_t *run);

/* Finishes the file, and says why it could not be written. */
void record_run_file_close(record_run_t *run);

#endif
