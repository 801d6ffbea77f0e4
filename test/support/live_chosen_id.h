/* SPDX-License-Identifier: MIT */
/* Processes whose ids the test chooses, by clone3(2) with set_tid. */
#ifndef UVPERF_TEST_LIVE_CHOSEN_ID_H
#define UVPERF_TEST_LIVE_CHOSEN_ID_H

#include <sys/types.h>

/* Skips the test if the process may not choose ids. */
void live_chosen_id_need(const char *test);

/* Starts a process that waits for a signal. `id` is its id; 0 means any.
 * Returns its id. */
pid_t live_chosen_id_begin(const char *test, pid_t id);

/* Kills the process and waits for it. */
void live_chosen_id_end(pid_t pid);

/* Ends the process, and begins another one that has its id, and another
 * start. */
void live_chosen_id_replace(const char *test, pid_t pid);

#endif
