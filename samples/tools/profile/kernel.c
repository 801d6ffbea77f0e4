/* SPDX-License-Identifier: MIT */
#include "profile/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/elf_note.h"
#include "common/small_file.h"
#include "common/symbols/kallsyms.h"
#include "common/text.h"

/* perf(1) appends the symbol at the start of the kernel. */
#define KERNEL "[kernel.kallsyms]"

void profile_kernel_free(profile_kernel_t *kernel) {
  free(kernel->modules);
  kernel->modules = NULL;
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

/* "xfs 2109440 1 - Live 0xffffffffc0a00000", proc(5). */
static void see_module(profile_kernel_t *kernel, uint64_t start) {
  char address[32];
  size_t size;

  if (kernel->modules == NULL)
    kernel->modules = common_file_read("/proc/modules", &size);
  snprintf(address, sizeof(address), " 0x%016" PRIx64, start);
  if (kernel->modules == NULL || strstr(kernel->modules, address) == NULL)
    kernel->has_moved_modules = 1;
}

void profile_kernel_see(profile_kernel_t *kernel,
                        const uvperf_record_t *record) {
  const uvperf_mmap_t *mmap = &record->mmap;

  if ((record->type != PERF_RECORD_MMAP && record->type != PERF_RECORD_MMAP2) ||
      uvperf_record_cpu_mode(record->misc) != PERF_RECORD_MISC_KERNEL)
    return;
  if (mmap->filename_size >= strlen(KERNEL) &&
      memcmp(mmap->filename, KERNEL, strlen(KERNEL)) == 0)
    see_core(kernel, mmap);
  else if (!kernel->has_moved_modules)
    see_module(kernel, mmap->addr);
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
  const char *symbol = kernel->symbol, *why;
  uint64_t running;

  account->kernel_start = kernel->start;
  account->kernel_end = kernel->end;
  account->has_modules = 1;
  options->kallsyms = "";
  if (!kernel->is_known)
    return "the file has no mapping of the kernel";
  why = why_not_running(kernel, recording);
  if (why != NULL)
    return why;
  options->kallsyms = NULL;
  symbols_kallsyms_addresses("/proc/kallsyms", &symbol, &running, 1);
  options->kernel_shift = running == 0 ? 0 : running - kernel->address;
  account->has_modules =
      options->kernel_shift != 0 || kernel->has_moved_modules;
  return NULL;
}
