/* SPDX-License-Identifier: MIT */
/* A made-up host (fake_host.h) with the files that a test writes, in a
 * temporary directory. There is one at a time. */
#ifndef UVPERF_TEST_MAKE_HOST_H
#define UVPERF_TEST_MAKE_HOST_H

#include <stddef.h>

#include "fake_host.h"

/* Setup and teardown for cmocka, which leave *state alone. The host is empty at
 * first. Afterwards the real host is back. */
int make_host_setup(void **state);
int make_host_teardown(void **state);
#define MAKE_HOST_TEST(test)                                                   \
  cmocka_unit_test_setup_teardown(test, make_host_setup, make_host_teardown)

/* The same, with the files of an ordinary machine with four CPUs, two of them
 * online, and of a process without privileges: uid 1000, paranoid 2. */
int make_host_machine_setup(void **state);
#define MAKE_HOST_MACHINE_TEST(test)                                           \
  cmocka_unit_test_setup_teardown(test, make_host_machine_setup,               \
                                  make_host_teardown)

/* The directory that replaces /. */
const char *make_host_root(void);

/* Writes a file of the host, and makes the directories of its path. */
void make_host_write(const char *path, const char *text);
/* The same for bytes that are no text. */
void make_host_write_bytes(const char *path, const void *bytes, size_t size);

/* Makes the path a symbolic link, whose target may be relative. */
void make_host_link(const char *path, const char *target);

#endif
