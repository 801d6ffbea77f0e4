/* SPDX-License-Identifier: MIT */
/* Shared by the files of the scripted kernel. Tests include fake_kernel.h. */
#ifndef UVPERF_TEST_FAKE_SCRIPT_H
#define UVPERF_TEST_FAKE_SCRIPT_H

#include "fake_kernel.h"

/* Counts the call. Returns 1 and sets *code if a script makes it fail. */
int fake_scripted(enum fake_call call, int *code);

/* Adds the call to the log: "call detail", and " failed". */
void fake_note(const char *call, const char *detail, int failed);

/* The same, and reports it to fake_on_call. */
void fake_see(fake_seen_t seen);

/* Reports a call that no kernel allows: fails the test, or aborts in a
 * child. */
void fake_broken(const char *what);

/* The scripted event that is open with this fd, or NULL. */
fake_event_t *fake_event_of(int fd);

/* Whether this program uses the scripted kernel instead of the running one. */
int fake_is_scripted(void);

/* fake_script.c's part in a reset. */
void fake_script_reset(void);

/* fake_memory.c's part in a reset and in fake_assert_clean. */
void fake_memory_reset(void);
void fake_memory_assert_clean(void);

/* fake_map.c's part in a reset, in a close (before the fd is closed; a parent
 * still has the file while a test acts as a forked child), and in
 * fake_assert_clean. */
void fake_map_reset(void);
void fake_map_close_fd(int fd, int in_child);
int fake_map_was_closed(int fd);
/* mmap(2) of an fd. Returns 0 if the fd is not of a scripted map with memory;
 * otherwise 1 and *code. */
int fake_map_mmap(void **address, size_t size, int prot, int fd, off_t offset,
                  int *code);
void fake_map_assert_clean(void);

#endif
