/* SPDX-License-Identifier: MIT */
/* Names of the functions at addresses, found while sampling goes on. ELF files
 * belong to strangers, so a worker process reads them (libdwfl), with limits on
 * memory and time. libuv's pool waits for it, never the loop. Kernel names come
 * from /proc/kallsyms.
 *
 * An object is a mapped file, the vdso, or memory of a JIT compiler. Add it
 * when it is first sampled: its file is opened soon after, while the process
 * may still live, so that deleted files and files in containers can be read. */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/* The object that is the kernel with its modules: addresses are offsets. */
#define SYMBOLS_KERNEL 0u

typedef enum symbols_kind_e {
  SYMBOLS_FILE, /* offsets are bytes into the file */
  SYMBOLS_VDSO, /* offsets are bytes into the vdso */
  SYMBOLS_JIT   /* memory without a file: offsets are addresses in the process,
                   named by /tmp/perf-PID.map if its user owns that file */
} symbols_kind_t;

/* What is known of a mapping; the strings are copied. */
typedef struct symbols_mapping_s {
  symbols_kind_t kind;
  uint32_t pid;        /* of the process that has it */
  uint64_t start, end; /* where; end is the first address after it */
  const char *path;    /* as the kernel says, " (deleted)" included; or "" */
  uint32_t major, minor;
  uint64_t inode; /* 0: not known, then the path is trusted */
  unsigned char build_id[20];
  size_t build_id_bytes; /* 0: not known; else the file must have this one */
  int is_recorded;       /* from a file: no process is looked at, only paths */
} symbols_mapping_t;

typedef struct symbols_options_s {
  int inlined;            /* frames of inlined functions, from DWARF */
  int debuginfod;         /* may ask the servers in DEBUGINFOD_URLS */
  const char *kallsyms;   /* NULL: /proc/kallsyms; "": no kernel names */
  const char *debug_path; /* where debug files are, as -debuginfo-path of
                             elfutils; NULL: beside the file and in
                             /usr/lib/debug */
  uint64_t timeout_ms;    /* for one object; 0: 30,000 */
  uint64_t kernel_shift;  /* added to a kernel address before it is looked up */
} symbols_options_t;

/* A function, outermost last if others are inlined into it. */
typedef struct symbols_name_s {
  const char *name;        /* demangled, printable */
  const char *linked_name; /* as in the symbol table, printable */
  const char *file;        /* of the source, or "" */
  uint32_t line;           /* or 0 */
} symbols_name_t;

typedef struct symbols_place_s {
  uint64_t address; /* of the offset, as the symbol table counts */
  uint64_t first;   /* offset where its function begins, named or not; the
                       offset itself if that is not known */
  size_t nr;        /* of names; 0: none is known */
  const symbols_name_t *names; /* the innermost inlined one first */
} symbols_place_t;

typedef struct symbols_s symbols_t;
typedef void (*symbols_cb)(void *arg);

/* Nothing runs before the first object. */
symbols_t *symbols_new(uv_loop_t *loop, const symbols_options_t *options);

/* An id for an object, the same for equal mappings of a file (by device, inode
 * and path; a JIT's by process). */
uint32_t symbols_object(symbols_t *symbols, const symbols_mapping_t *mapping);

/* Asks for the name at an offset. For a return address ask for offset - 1.
 * Costs a look into a hash table if it was asked for before. */
void symbols_want(symbols_t *symbols, uint32_t object, uint64_t offset);

/* The answer, or NULL if the answer has not come yet. Valid until
 * symbols_free. */
const symbols_place_t *symbols_find(const symbols_t *symbols, uint32_t object,
                                    uint64_t offset);

/* Why an object has no names: "" if it has or is not known yet; else
 * "stripped", "permission denied", "took longer than 30 s" … */
const char *symbols_reason(const symbols_t *symbols, uint32_t object);

/* Its build id: how many bytes are known by now, and in *build_id where. */
size_t symbols_build_id(const symbols_t *symbols, uint32_t object,
                        const unsigned char **build_id);

/* Has the names of a JIT's process looked for again: its map file grows. */
void symbols_refresh(symbols_t *symbols, uint32_t object);

/* Calls back once each offset that was wanted before has its answer; on the
 * loop, never inside this call. At most one at a time. */
void symbols_wait(symbols_t *symbols, symbols_cb cb, void *arg);

/* Ends the worker and what runs; cb is called once it has ended, or may be
 * NULL. Answers are kept until symbols_free. */
void symbols_close(symbols_t *symbols, symbols_cb cb, void *arg);
void symbols_free(symbols_t *symbols);

/* To be called first in main: the worker is the same program, started again.
 * Returns if this is not the worker; else it does its work and exits. */
void symbols_main(int argc, char **argv);

#endif
