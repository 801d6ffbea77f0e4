/* SPDX-License-Identifier: MIT */
/* What the files of the scripted kernel share; tests include fake_kernel.h. */
#ifndef UVPERF_TEST_FAKE_SCRIPT_H
#define UVPERF_TEST_FAKE_SCRIPT_H

#include "fake_kernel.h"

/* Counts the call; 1 and *code if a script makes it fail. */
int fake_scripted(enum fake_call call, int *code);

/* Adds the call to the log: "call detail", and " failed". */
void fake_note(const char *call, const char *detail, int failed);

/* Something that no kernel allows: fails the test, or aborts in a child. */
void fake_broken(const char *what);

/* The scripted event that is open by this fd, or NULL. */
fake_event_t *fake_event_of(int fd);

/* Whether this program has a scripted kernel, and not the running one. */
int fake_is_scripted(void);

/* fake_script.c's part in a reset. */
void fake_script_reset(void);

/* fake_memory.c's part in a reset and in fake_assert_clean. */
void fake_memory_reset(void);
void fake_memory_assert_clean(void);

/* fake_map.c's part in a reset, in a close (before the fd is closed; if a
 * forked child is played its parent has the file too), and in
 * fake_assert_clean. */
void fake_map_reset(void);
void fake_map_close_fd(int fd, int in_child);
int fake_map_was_closed(int fd);
void fake_map_assert_clean(void);

#endif
