/* SPDX-License-Identifier: MIT */
/* Requests the names of places in files, and waits for them. main() must call
 * symbols_main() first. */
#ifndef TEST_SYMBOLS_ASK_NAMES_H
#define TEST_SYMBOLS_ASK_NAMES_H

#include <stdint.h>

#include <uv.h>

#include "profile/symbols/symbols.h"

/* A test that fails abandons its loop, but the pool still uses it: so the loop
 * is not on the test's stack. */
typedef struct ask_names_s {
  uv_loop_t *loop;
  symbols_t *symbols;
} ask_names_t;

/* `options` may be NULL for the defaults. */
void ask_names_begin(ask_names_t *ask, const symbols_options_t *options);
/* This also checks that everything is freed. */
void ask_names_end(ask_names_t *ask);

/* Returns the object of a file, by its path and inode. */
uint32_t ask_names_file(ask_names_t *ask, const char *path);
/* Returns the object that a process (0: this one) has mapped at an address, and
 * the offset in it. */
uint32_t ask_names_mapped(ask_names_t *ask, uint32_t pid, uint64_t address,
                          uint64_t *offset);

void ask_names_wait(ask_names_t *ask);

/* Requests a name and waits for the answer. */
const symbols_place_t *ask_names_at(ask_names_t *ask, uint32_t object,
                                    uint64_t offset);
/* Returns the innermost name, or "" if there is none. */
const char *ask_names_name(ask_names_t *ask, uint32_t object, uint64_t offset);

/* Converts an address in an ELF file of this machine to an offset. Returns 0 or
 * -1. */
int ask_names_offset(const char *path, uint64_t address, uint64_t *offset);

/* Returns the address of a symbol, from nm; fails the test if there is no such
 * symbol. */
uint64_t ask_names_symbol(const char *path, const char *name);

/* For cmocka: each test gets a directory of its own. */
int ask_names_setup(void **state);
int ask_names_teardown(void **state);
/* Returns the path of a file in that directory. It is valid for the next three
 * calls. */
const char *ask_names_in(const char *name);
void ask_names_write(const char *name, const char *bytes, size_t size);
/* Runs a shell command in that directory. Returns its status. */
int ask_names_run(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Returns the offset of a function in a file of the directory. */
uint64_t ask_names_place(const char *file, const char *function);

#endif
