/* SPDX-License-Identifier: MIT */
/* Files that were cut off or changed. Nothing is read outside of them, which
 * the sanitizers check. The reading ends, and the fault is reported. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foreign.h"
#include "perf_dump.h"
#include "model_run.h"
#include "record_run.h"
#include "recording_read.h"

#define CUTS  200
#define FLIPS 600

typedef struct bytes_s {
  unsigned char *bytes;
  size_t size;
} bytes_t;

static void load(bytes_t *file, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);

  assert_true(fd >= 0);
  file->size = (size_t)lseek(fd, 0, SEEK_END);
  file->bytes = malloc(file->size);
  assert_non_null(file->bytes);
  assert_int_equal(pread(fd, file->bytes, file->size, 0), file->size);
  close(fd);
}

/* Reads each byte that a record points to. */
static void touch(void *arg, recording_t *recording,
                  const uvperf_record_t *record) {
  static char text[1 << 18];
  recording_event_t event;
  size_t i = recording_event_of(recording, record);

  uvperf_record_format(record, 0, text, sizeof(text));
  if (i != SIZE_MAX) {
    recording_event(recording, i, &event);
    assert_non_null(memchr(event.name, '\0', 4096));
  }
}

static void read_bytes(recording_read_t *read, const bytes_t *file,
                       size_t size) {
  int fd = memfd_create("recording", MFD_CLOEXEC);
  char path[64];

  assert_true(fd >= 0);
  assert_int_equal(write(fd, file->bytes, size), size);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  read->cb = touch;
  recording_read(read, path);
  close(fd);
  assert_true(read->rc == 0 || read->rc == -1);
  if (read->rc == -1)
    assert_memory_equal(read->message, path, strlen(path));
}

/* The end is known for a file, but not for a pipe. */
static void cut_everywhere(const bytes_t *file, int is_pipe, uint64_t seed) {
  recording_read_t read, whole;
  model_run_t run;
  size_t i, size;

  memset(&read, 0, sizeof(read));
  model_run_seed(&run, seed);
  read_bytes(&whole, file, file->size);
  assert_int_equal(whole.rc, 0);
  for (i = 0; i < CUTS; i++) {
    size = (size_t)model_run_draw(&run, file->size);
    read_bytes(&read, file, size);
    assert_int_equal(read.damaged, 0);
    assert_true(read.nr <= whole.nr);
    if (!is_pipe)
      assert_non_null(strstr(read.message, ": "));
  }
}

/* Changes one to three bits, or sets bytes to all ones or zeros. */
static void change(bytes_t *file, model_run_t *run) {
  size_t nr = 1 + (size_t)model_run_draw(run, 3), at;

  for (; nr > 0; nr--) {
    /* Half of the changes are near the beginning, where the header is. */
    at = (size_t)model_run_draw(run, file->size);
    if (model_run_draw(run, 2) == 0)
      at %= 1024;
    if (model_run_draw(run, 4) == 0)
      memset(file->bytes + at, model_run_draw(run, 2) ? 0xff : 0,
             file->size - at < 8 ? file->size - at : 8);
    else
      file->bytes[at] ^= (unsigned char)(1u << model_run_draw(run, 8));
  }
}

static void change_everywhere(const bytes_t *file, uint64_t seed) {
  bytes_t changed = {malloc(file->size), file->size};
  size_t i, failed = 0, well = 0;
  recording_read_t read;
  model_run_t run;

  assert_non_null(changed.bytes);
  memset(&read, 0, sizeof(read));
  model_run_seed(&run, seed);
  for (i = 0; i < FLIPS; i++) {
    memcpy(changed.bytes, file->bytes, file->size);
    change(&changed, &run);
    read_bytes(&read, &changed, changed.size);
    failed += read.rc != 0;
    well += read.rc == 0;
  }
  assert_true(failed > FLIPS / 50 && well > FLIPS / 50);
  free(changed.bytes);
}

static void damaged_file_is_read_up_to_the_damage(void **state) {
  static const struct {
    const char *words;
    int is_pipe, has_other_order;
  } kinds[] = {
      {"perf record -q -o @ -g -e cpu-clock,page-faults -- ls /", 0, 1},
      {"perf record -q -z -o @ -g -e cpu-clock -F 8000 -- ls /", 0, 0},
      {"perf record -q -o @ -e page-faults --call-graph dwarf,1024 -- ls /", 0,
       1},
      {"perf record -q -o - -g -e cpu-clock,page-faults -- true >@", 1, 0},
      {"perf record -q -z -o - -g -e cpu-clock -F 8000 -- true >@", 1, 0},
  };
  char words[256];
  char other[256];
  bytes_t file;
  size_t i;

  support_need_kernel_side(__func__);
  perf_dump_need(__func__);
  for (i = 0; i < COUNT_OF(kinds); i++) {
    snprintf(words, sizeof(words), "%s%s", kinds[i].words,
             kinds[i].is_pipe ? "" : " >/dev/null");
    if (strstr(words, " -z ") != NULL && !recording_read_has_zstd())
      continue;
    record_run_shell(words);
    load(&file, record_run_path());
    cut_everywhere(&file, kinds[i].is_pipe, i + 1);
    change_everywhere(&file, i + 1);
    free(file.bytes);
    if (!kinds[i].has_other_order)
      continue;
    snprintf(other, sizeof(other), "%s.old", record_run_path());
    foreign_copy(record_run_path(), other);
    load(&file, other);
    cut_everywhere(&file, 0, i + 1);
    change_everywhere(&file, i + 1);
    free(file.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(damaged_file_is_read_up_to_the_damage),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
