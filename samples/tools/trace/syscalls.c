/* SPDX-License-Identifier: MIT */
/* syscalls.cmake only writes the names of the macros. The compiler of this file
 * fills in the numbers. */
#include "trace/syscalls.h"

#include <stddef.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/syscall.h>

typedef struct syscall_s {
  int64_t nr;
  const char *name;
} syscall_t;

static syscall_t table[] = {
#include "trace/syscall_names.h"
    {INT64_MAX, NULL},
};

static int compare(const void *one, const void *other) {
  const syscall_t *a = one, *b = other;

  return a->nr < b->nr ? -1 : a->nr > b->nr;
}

const char *trace_syscalls_name(int64_t nr) {
  static int is_sorted;
  const size_t count = sizeof(table) / sizeof(table[0]);
  const syscall_t key = {nr, NULL}, *found;

  if (!is_sorted)
    qsort(table, count, sizeof(table[0]), compare);
  is_sorted = 1;
  found = bsearch(&key, table, count, sizeof(table[0]), compare);
  return found == NULL ? NULL : found->name;
}

int trace_syscalls_are_of(const char *machine) {
#if defined(__x86_64__) && defined(__LP64__)
  const char *ours = "x86_64";
#elif defined(__i386__)
  const char *ours = "i?86";
#elif defined(__aarch64__) && defined(__LP64__)
  const char *ours = "aarch64*";
#elif defined(__arm__)
  const char *ours = "arm*";
#elif defined(__powerpc64__)
  const char *ours = "ppc64*";
#elif defined(__s390x__)
  const char *ours = "s390x";
#elif defined(__riscv) && __riscv_xlen == 64
  const char *ours = "riscv64";
#elif defined(__loongarch64)
  const char *ours = "loongarch64";
#else
  const char *ours = "";
#endif

  return fnmatch(ours, machine, 0) == 0;
}
