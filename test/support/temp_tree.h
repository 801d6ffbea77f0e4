/* SPDX-License-Identifier: MIT */
/* A tree of small files in a temporary directory. */
#ifndef UVPERF_TEST_TEMP_TREE_H
#define UVPERF_TEST_TEMP_TREE_H

#include <stddef.h>

typedef struct temp_tree_s {
  char root[64];
} temp_tree_t;

/* Setup and teardown for cmocka: *state is a temp_tree_t *, empty at first. */
int temp_tree_setup(void **state);
int temp_tree_teardown(void **state);

/* Writes root + path, and makes the directories of the path. */
void temp_tree_write(const temp_tree_t *tree, const char *path,
                     const char *text);
/* The same for bytes that are no text. */
void temp_tree_write_bytes(const temp_tree_t *tree, const char *path,
                           const void *bytes, size_t size);

/* Makes root + path a symbolic link, whose target may be relative. */
void temp_tree_link(const temp_tree_t *tree, const char *path,
                    const char *target);

#endif
