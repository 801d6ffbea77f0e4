/* SPDX-License-Identifier: MIT */
#include "profile/kernel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/elf_note.h"
#include "common/memory.h"
#include "common/small_file.h"
#include "common/text.h"
#include "profile/symbols/kallsyms.h"

#define KERNEL PROFILE_ACCOUNT_KERNEL

void profile_kernel_free(profile_kernel_t *kernel) {
  profile_modules_free(&kernel->modules);
  free(kernel->same);
  kernel->same = NULL;
}

/* -- the recorded kernel --------------------------------------------------- */

static void see_core(profile_kernel_t *kernel, const uvperf_mmap_t *mmap) {
  const size_t before = strlen(KERNEL);

  kernel->is_known = 1;
  kernel->start = mmap->addr;
  kernel->end =
      mmap->len < UINT64_MAX - mmap->addr ? mmap->addr + mmap->len : UINT64_MAX;
  common_text_copy(kernel->symbol, sizeof(kernel->symbol),
                   mmap->filename + before, mmap->filename_size - before);
  kernel->address = mmap->pgoff;
  kernel->build_id_bytes = mmap->build_id_size;
  memcpy(kernel->build_id, mmap->build_id, sizeof(kernel->build_id));
}

/* The module's name from "/lib/modules/6.1.0/kernel/fs/xfs/xfs.ko.xz" or
 * "[xfs]". */
static void name_of_module(const uvperf_mmap_t *mmap, char *name, size_t size) {
  char path[PATH_MAX], *base;
  size_t i;

  common_text_copy(path, sizeof(path), mmap->filename, mmap->filename_size);
  base = strrchr(path, '/');
  base = base == NULL ? path + (path[0] == '[') : base + 1;
  base[strcspn(base, ".]")] = '\0';
  for (i = 0; base[i] != '\0'; i++) {
    if (base[i] == '-')
      base[i] = '_';
  }
  snprintf(name, size, "%s", base);
}

static void see_module(profile_kernel_t *kernel, const uvperf_mmap_t *mmap) {
  profile_module_t module = {.start = mmap->addr, .size = mmap->len};

  if (kernel->modules.path == NULL)
    profile_modules_init(&kernel->modules, "/proc/modules");
  name_of_module(mmap, module.name, sizeof(module.name));
  if (!profile_modules_has(&kernel->modules, &module))
    return;
  *COMMON_ADD(kernel->same, kernel->nr_same, kernel->same_capacity) =
      (profile_map_t){.start = mmap->addr,
                      .end = mmap->addr + mmap->len,
                      .pgoff = mmap->addr,
                      .object = PROFILE_OBJECT_KERNEL};
}

void profile_kernel_see(profile_kernel_t *kernel,
                        const uvperf_record_t *record) {
  const uvperf_mmap_t *mmap = &record->mmap;

  if ((record->type != PERF_RECORD_MMAP && record->type != PERF_RECORD_MMAP2) ||
      uvperf_record_cpu_mode(record->misc) != PERF_RECORD_MISC_KERNEL)
    return;
  if (profile_account_is_core(mmap))
    see_core(kernel, mmap);
  else
    see_module(kernel, mmap);
}

/* -- the running kernel ---------------------------------------------------- */

#define OTHER "another kernel was recorded"

/* A recording without build ids (from a pipe) counts as a recording of this
 * kernel if it has this machine's release and host name. */
static const char *why_other_machine(const recording_t *recording) {
  const char *release = recording_release(recording);
  const char *host = recording_hostname(recording);
  struct utsname here;

  if (release == NULL || host == NULL)
    return "the file does not say which kernel was recorded";
  return uname(&here) == 0 && strcmp(release, here.release) == 0 &&
                 strcmp(host, here.nodename) == 0
             ? NULL
             : OTHER;
}

/* Returns NULL if the recorded kernel runs here. */
static const char *why_not_running(const profile_kernel_t *kernel,
                                   recording_t *recording) {
  unsigned char recorded[20], running[COMMON_BUILD_ID_BYTES];
  size_t nr = kernel->build_id_bytes, size, nr_running;
  char *notes;

  memcpy(recorded, kernel->build_id, sizeof(recorded));
  if (nr == 0)
    nr = recording_build_id(recording, KERNEL, recorded);
  if (nr == 0)
    return why_other_machine(recording);
  notes = common_file_read("/sys/kernel/notes", &size);
  if (notes == NULL)
    return "/sys/kernel/notes cannot be read";
  nr_running = common_elf_note_find(notes, size, running);
  free(notes);
  return nr == nr_running && memcmp(recorded, running, nr) == 0 ? NULL : OTHER;
}

const char *profile_kernel_decide(const profile_kernel_t *kernel,
                                  recording_t *recording,
                                  profile_account_t *account,
                                  symbols_options_t *options) {
  const char *symbols[] = {kernel->symbol, "_etext"}, *why;
  uint64_t running[2] = {0, 0};
  int has_no_end = kernel->end == UINT64_MAX;
  size_t i;

  account->kernel_start = kernel->start;
  account->kernel_end = kernel->end;
  options->kallsyms = "";
  if (!kernel->is_known)
    return "the file has no mapping of the kernel";
  why = why_not_running(kernel, recording);
  if (why != NULL)
    return why;
  options->kallsyms = NULL;
  symbols_kallsyms_addresses("/proc/kallsyms", symbols, running,
                             has_no_end ? 2 : 1);
  options->kernel_shift = running[0] == 0 ? 0 : running[0] - kernel->address;
  if (has_no_end)
    account->kernel_end =
        running[1] == 0 ? kernel->start : running[1] - options->kernel_shift;
  /* After another boot, even a module at the same address has moved with
   * respect to the kernel. */
  for (i = 0; options->kernel_shift == 0 && i < kernel->nr_same; i++)
    profile_account_kernel_map(account, &kernel->same[i]);
  return NULL;
}
