/* SPDX-License-Identifier: MIT */
/* Finds the names of functions at addresses while sampling continues. The ELF
 * files are not trusted, so a worker process reads them (libdwfl), with limits
 * on memory and time. Only libuv's pool waits for the worker, never the loop.
 * Kernel names come from /proc/kallsyms.
 *
 * An object is a mapped file, the vdso, or memory of a JIT compiler. Add it
 * when it is first sampled. Its file is opened soon after that, because the
 * process may end. This way deleted files and files in containers can be
 * read. */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/* The object for the kernel and its modules; its offsets are addresses. */
#define SYMBOLS_KERNEL 0u

typedef enum symbols_kind_e {
  SYMBOLS_FILE, /* offsets are in bytes from the start of the file */
  SYMBOLS_VDSO, /* offsets are in bytes from the start of the vdso */
  SYMBOLS_JIT   /* memory without a file: offsets are addresses in the process,
                   named by /tmp/perf-PID.map if its user owns that file */
} symbols_kind_t;

/* A mapping; the strings are copied. */
typedef struct symbols_mapping_s {
  symbols_kind_t kind;
  uint32_t pid;   /* of the process with this mapping */
  uint32_t image; /* for a JIT: differs between programs with the same pid */
  uint64_t start, end; /* end is the first address after it */
  const char *path;    /* as the kernel reports it, with " (deleted)"; or "" */
  uint32_t major, minor;
  uint64_t inode;      /* 0: not known, so the file needs a build id */
  uint64_t generation; /* of the inode, as its number is used again; or 0 */
  unsigned char build_id[20];
  size_t build_id_bytes; /* 0: not known; else required of the file */
  int is_recorded;       /* from a file: no path in the process's root */
  const char *symfs;     /* NULL, or the directory with all files; not copied */
} symbols_mapping_t;

typedef struct symbols_options_s {
  int inlined;          /* find inlined functions, in DWARF */
  const char *kallsyms; /* NULL: /proc/kallsyms; "": no kernel names */
  /* Directories of debug files, like -debuginfo-path of elfutils. NULL means:
   * beside the file, and in /usr/lib/debug. */
  const char *debug_path;
  /* For everything that is requested until all of it is answered: see budget.h.
   * 0: 10,000. */
  uint64_t timeout_ms;
  uint64_t kernel_shift; /* added to a kernel address for the lookup */
} symbols_options_t;

/* A function. If functions are inlined into it, it comes after them. */
typedef struct symbols_name_s {
  const char *name;        /* demangled, printable */
  const char *linked_name; /* as in the symbol table, printable */
  const char *file;        /* of the source, or "" */
  uint32_t line;           /* or 0 */
} symbols_name_t;

typedef struct symbols_place_s {
  uint64_t address; /* of the offset, as in the symbol table */
  /* The offset where the function begins, also if the function has no name. If
   * that is not known, it is the requested offset itself. */
  uint64_t first;
  int is_outside;              /* of every function that its file describes */
  size_t nr;                   /* number of names; 0: not known */
  const symbols_name_t *names; /* the innermost inlined function first */
} symbols_place_t;

typedef struct symbols_s symbols_t;
typedef void (*symbols_cb)(void *arg);

/* Nothing runs before the first object is added. */
symbols_t *symbols_new(uv_loop_t *loop, const symbols_options_t *options);

/* Returns the id of an object. Equal mappings of a file have the same id (by
 * device, inode and path; for a JIT by process and image). */
uint32_t symbols_object(symbols_t *symbols, const symbols_mapping_t *mapping);

/* Requests the name at an offset. For a return address request offset - 1.
 * Repeated requests cost only a lookup in a hash table. */
void symbols_want(symbols_t *symbols, uint32_t object, uint64_t offset);

/* Returns the answer, or NULL if it is not known yet. The answer is valid until
 * the next symbols_want; its names are valid until symbols_free. */
const symbols_place_t *symbols_find(const symbols_t *symbols, uint32_t object,
                                    uint64_t offset);

/* Returns why an object lacks names: "stripped", "permission denied", "took
 * longer than 5 s" …. Returns "" if it lacks none, or if the reason is not
 * known. */
const char *symbols_reason(const symbols_t *symbols, uint32_t object);

/* Returns 1 if the file of an object was read, and is the one that was
 * mapped. */
int symbols_is_read(const symbols_t *symbols, uint32_t object);

/* Returns how many objects lack names because there was no time left. */
size_t symbols_nr_late(const symbols_t *symbols);

/* Points *build_id to an object's build id. Returns its size, or 0 if it is not
 * known by now. */
size_t symbols_build_id(const symbols_t *symbols, uint32_t object,
                        const unsigned char **build_id);

/* Sets the time of an object, in nanoseconds since 1970; 0: a bound is not
 * known. A JIT compiler's map file that was changed last before or after this
 * time belongs to another program with the same pid, and names nothing. Nor
 * does a file without a known build id that was changed after this time. Names
 * that were read from such a file are given up. */
void symbols_set_time(symbols_t *symbols, uint32_t object, uint64_t since,
                      uint64_t until);

/* Requires an inode of an object's file, although it has a build id. Names of
 * another file are given up at the next symbols_refresh. */
void symbols_set_inode(symbols_t *symbols, uint32_t object, uint64_t inode);

/* Looks up the names of a JIT compiler's process again, because its map file
 * grows. Checks if another file was changed since it was opened: then its names
 * are given up, because some of them may be of the other contents. */
void symbols_refresh(symbols_t *symbols, uint32_t object);

/* Modules of the kernel were loaded: kernel addresses without a name are looked
 * up again, in a new reading of kallsyms. */
void symbols_kernel_changed(symbols_t *symbols);

/* A module was at these kernel addresses and has gone. The kernel may list
 * another one there, so names that are not known by now stay unknown. */
void symbols_kernel_gone(symbols_t *symbols, uint64_t start, uint64_t end);

/* Calls back on the loop, never inside this call, when each offset that was
 * requested before has its answer. Only one wait may be active at a time. */
void symbols_wait(symbols_t *symbols, symbols_cb cb, void *arg);

/* Ends the worker and all lookups. Calls `cb` when the worker has ended. `cb`
 * may be NULL. Answers are kept until symbols_free. */
void symbols_close(symbols_t *symbols, symbols_cb cb, void *arg);
void symbols_free(symbols_t *symbols);

/* Call it first in main, because the worker is the same program, started again.
 * In the worker this function does the work and exits. Otherwise it returns. */
void symbols_main(int argc, char **argv);

#endif
