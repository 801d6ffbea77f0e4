/* SPDX-License-Identifier: MIT */
/* The user stacks of recorded samples match perf script's. */
#include "profile/symbols/unwind.h"

#include "perf_dump.h"
#include "support.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <unistd.h>

#include "common/recording/recording.h"
#include "profile/symbols/open.h"

#define MAX_MAPS    64
#define MAX_SAMPLES 4096
#define MAX_FRAMES  160

/* The user frames of a sample, as offsets in their files. */
typedef struct frames_s {
  uint64_t time; /* microseconds */
  size_t nr;
  uint64_t offsets[MAX_FRAMES];
  unsigned char is_return[MAX_FRAMES];
} frames_t;

typedef struct read_s {
  recording_t *recording;
  unwind_process_t *process;
  unwind_mapping_t maps[MAX_MAPS];
  unwind_file_t *files[MAX_MAPS];
  size_t nr_maps;
  size_t nr;
  frames_t samples[MAX_SAMPLES];
} read_t;

static int next(recording_t *recording, const uvperf_record_t **record) {
  struct pollfd poll_fd = {recording_fd(recording), POLLIN, 0};
  int rc;
  while ((rc = recording_next(recording, record)) == RECORDING_WAIT)
    poll(&poll_fd, 1, -1);
  return rc;
}

static void on_mmap(read_t *read, const uvperf_mmap_t *mmap) {
  symbols_mapping_t vdso = {.end = mmap->addr + mmap->len};
  char reason[SYMBOLS_REASON_BYTES];
  int fd = strcmp(mmap->filename, "[vdso]") == 0
               ? symbols_open_vdso(&vdso, reason)
               : open(mmap->filename, O_RDONLY | O_CLOEXEC);
  unwind_file_t *file = unwind_file_new(fd, unwind_machine(NULL), "", 0);
  if (file == NULL && fd >= 0)
    close(fd);
  assert_true(read->nr_maps < MAX_MAPS);
  read->files[read->nr_maps] = file;
  read->maps[read->nr_maps++] =
      (unwind_mapping_t){mmap->addr, mmap->addr + mmap->len, mmap->pgoff, file};
  assert_int_equal(unwind_process_map(read->process, read->maps, read->nr_maps),
                   0);
}

static uint64_t offset_of(const read_t *read, uint64_t address) {
  for (size_t i = read->nr_maps; i-- > 0;)
    if (address >= read->maps[i].start && address < read->maps[i].end)
      return address - read->maps[i].start + read->maps[i].pgoff;
  return address;
}

static void on_sample(read_t *read, const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;
  frames_t *frames = &read->samples[read->nr++];
  unwind_stack_t stack;
  assert_true(read->nr <= MAX_SAMPLES);
  unwind_stack(read->process, &sample->regs_user, sample->stack_user.data,
               (size_t)sample->stack_user.dyn_size, 1, &stack);
  frames->time = record->time / 1000;
  frames->nr = stack.nr;
  memcpy(frames->is_return, stack.is_return, stack.nr);
  for (size_t i = 0; i < stack.nr; i++)
    /* perf shows the address of the leaf as it was interrupted, also after a
     * system call. */
    frames->offsets[i] =
        offset_of(read, stack.ips[i] - (i > 0 && stack.is_return[i]));
}

static void read_file(read_t *read, const char *path) {
  const uvperf_record_t *record;
  char message[256];
  int rc;
  assert_int_equal(
      recording_open(&read->recording, path, message, sizeof message), 0);
  read->process = unwind_process_new(unwind_machine(NULL));
  while ((rc = next(read->recording, &record)) == 1) {
    if (record->type == PERF_RECORD_MMAP2 &&
        uvperf_record_cpu_mode(record->misc) == PERF_RECORD_MISC_USER)
      on_mmap(read, &record->mmap);
    /* The samples before the exec have no stack of this program. */
    if (record->type == PERF_RECORD_SAMPLE &&
        record->sample.regs_user.abi != PERF_SAMPLE_REGS_ABI_NONE &&
        read->nr_maps > 0)
      on_sample(read, record);
  }
  assert_int_equal(rc, 0);
  recording_free(read->recording);
  unwind_process_free(read->process);
  for (size_t i = 0; i < read->nr_maps; i++)
    unwind_file_free(read->files[i]);
}

/* Reads the next sample of perf script. Returns 0 at the end. */
static int read_perf(FILE *out, frames_t *frames) {
  char line[512];
  unsigned long seconds, micros;
  uint64_t offset;
  frames->nr = 0;
  do {
    if (fgets(line, sizeof line, out) == NULL)
      return 0;
  } while (sscanf(line, " %lu.%lu:", &seconds, &micros) != 2);
  frames->time = (uint64_t)seconds * 1000000 + micros;
  while (fgets(line, sizeof line, out) != NULL && line[0] != '\n')
    /* Frames of the kernel are addresses. */
    if (sscanf(line, "%" SCNx64, &offset) == 1 && offset < UINT64_MAX / 2 &&
        frames->nr < MAX_FRAMES)
      frames->offsets[frames->nr++] = offset;
  return 1;
}

/* perf finds no callers while a signal handler returns, or in a function that
 * is about to return: the popped registers are not in the copy. perf also
 * counts the handler's trampoline as a caller, although no call led to it. */
static int agrees(const frames_t *ours, const frames_t *perfs) {
  if (ours->nr < perfs->nr)
    return 0;
  for (size_t i = 0; i < perfs->nr; i++)
    if (ours->offsets[i] != perfs->offsets[i] &&
        (ours->is_return[i] || ours->offsets[i] != perfs->offsets[i] + 1))
      return 0;
  return 1;
}

static void print(const frames_t *ours, const frames_t *perfs) {
  print_message("%lu: ours, perf's\n", (unsigned long)ours->time);
  for (size_t i = 0; i < ours->nr || i < perfs->nr; i++)
    print_message("  %10lx %10lx\n",
                  i < ours->nr ? (unsigned long)ours->offsets[i] : 0,
                  i < perfs->nr ? (unsigned long)perfs->offsets[i] : 0);
}

/* Compares the samples that both have: perf script leaves out samples without a
 * mapping. */
static void compare(const read_t *read, FILE *out, size_t *same, size_t *longer,
                    size_t *others) {
  static frames_t perfs;
  size_t at = 0;
  *same = *longer = *others = 0;
  while (read_perf(out, &perfs)) {
    while (at < read->nr && read->samples[at].time < perfs.time)
      at++;
    if (at == read->nr || read->samples[at].time != perfs.time)
      continue;
    if (agrees(&read->samples[at], &perfs))
      ++*(read->samples[at].nr == perfs.nr ? same : longer);
    else if (++*others <= 5)
      print(&read->samples[at], &perfs);
    at++;
  }
}

static void stacks_are_those_of_perf(void **state) {
  static read_t read;
  char path[] = "/tmp/uvperf-unwind-XXXXXX", words[512];
  size_t same, longer, others;
  if (unwind_machine(NULL) == EM_NONE)
    support_skip(__func__, "x86-64 or aarch64");
  perf_dump_need(__func__);
  support_need_own_events(__func__);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  snprintf(words, sizeof words,
           "record -q -N -o %s -F 999 -e task-clock --call-graph dwarf %s 1000",
           path, UNWIND_TARGET);
  fclose(perf_dump_run(words, 0, NULL));
  read_file(&read, path);
  snprintf(words, sizeof words, "script -i %s -F time,ip --no-inline", path);
  FILE *out = perf_dump_run(words, 0, NULL);
  compare(&read, out, &same, &longer, &others);
  fclose(out);
  unlink(path);
  print_message("%zu stacks agree, %zu go farther than perf's, %zu differ\n",
                same, longer, others);
  assert_true(same > 20); /* fewer on a busy machine than on an idle one */
  assert_true(longer < same / 4);
  assert_true(others <= (same + 99) / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks_are_those_of_perf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
