/* SPDX-License-Identifier: MIT */
/* A tree of small files in a temporary directory. */
#ifndef UVPERF_TEST_MAKE_TREE_H
#define UVPERF_TEST_MAKE_TREE_H

#include <stddef.h>

typedef struct make_tree_s {
  char root[64];
} make_tree_t;

/* Setup and teardown for cmocka: *state is a make_tree_t *, empty at first. */
int make_tree_setup(void **state);
int make_tree_teardown(void **state);
#define MAKE_TREE_TEST(test)                                                   \
  cmocka_unit_test_setup_teardown(test, make_tree_setup, make_tree_teardown)

/* Writes root + path, and makes the directories of the path. */
void make_tree_write(const make_tree_t *tree, const char *path,
                     const char *text);
/* The same for bytes that are no text. */
void make_tree_write_bytes(const make_tree_t *tree, const char *path,
                           const void *bytes, size_t size);

/* Makes root + path a symbolic link, whose target may be relative. */
void make_tree_link(const make_tree_t *tree, const char *path,
                    const char *target);

#endif
