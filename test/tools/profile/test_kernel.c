/* SPDX-License-Identifier: MIT */
/* Finds out whether a recorded kernel is the running one, and how far it has
 * moved since. */
#include <inttypes.h>
#include <unistd.h>

#include "common/elf_note.h"
#include "common/small_file.h"
#include "profile/kernel.h"
#include "support.h"

typedef struct fixture_s {
  profile_kernel_t kernel;
  profile_account_t account;
  symbols_options_t options;
  uvperf_record_t record;
  recording_t *recording;
  uint64_t text; /* where _text is now */
} fixture_t;

static uint64_t find_text(void) {
  FILE *file = fopen("/proc/kallsyms", "re");
  uint64_t address = 0;
  char line[512];

  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    if (strstr(line, " _text\n") != NULL)
      address = strtoull(line, NULL, 16);
  }
  if (file != NULL)
    fclose(file);
  return address;
}

/* Adds a kernel mapping as perf record --buildid-mmap does, `moved` bytes from
 * the present address. */
static void see_kernel(fixture_t *fixture, uint64_t moved) {
  uvperf_record_t *record = &fixture->record;
  char *notes;
  size_t size;

  notes = common_file_read("/sys/kernel/notes", &size);
  assert_non_null(notes);
  record->type = PERF_RECORD_MMAP2;
  record->misc = PERF_RECORD_MISC_KERNEL;
  record->mmap.build_id_size =
      (uint8_t)common_elf_note_find(notes, size, record->mmap.build_id);
  free(notes);
  record->mmap.pid = UINT32_MAX;
  record->mmap.addr = fixture->text + moved;
  record->mmap.pgoff = fixture->text + moved;
  record->mmap.len = 0x1000000;
  record->mmap.filename = "[kernel.kallsyms]_text";
  record->mmap.filename_size = strlen(record->mmap.filename);
}

static const char *decide(fixture_t *fixture) {
  profile_kernel_see(&fixture->kernel, &fixture->record);
  return profile_kernel_decide(&fixture->kernel, fixture->recording,
                               &fixture->account, &fixture->options);
}

static int setup(void **state) {
  static fixture_t fixture;

  memset(&fixture, 0, sizeof(fixture));
  fixture.text = find_text();
  profile_account_init(&fixture.account, STACKS_BY_FUNCTION, NULL);
  *state = &fixture;
  return 0;
}

static int teardown(void **state) {
  profile_kernel_free(&((fixture_t *)*state)->kernel);
  profile_account_free(&((fixture_t *)*state)->account);
  return 0;
}

static void need_text(const fixture_t *fixture, const char *test) {
  if (fixture->text == 0)
    support_skip(test, "addresses in /proc/kallsyms");
}

/* If the machine was booted again, KASLR has moved the kernel. */
static void kernel_is_looked_up_where_it_is_now(void **state) {
  fixture_t *fixture = *state;
  uint64_t moved;

  need_text(fixture, __func__);
  for (moved = 0; moved <= 0x2200000; moved += 0x2200000) {
    see_kernel(fixture, moved);
    assert_null(decide(fixture));
    assert_null(fixture->options.kallsyms);
    assert_int_equal(fixture->options.kernel_shift, (uint64_t)-moved);
    assert_int_equal(fixture->account.kernel_start, fixture->text + moved);
    assert_int_equal(fixture->account.kernel_end,
                     fixture->text + moved + 0x1000000);
  }
}

static void kernel_with_another_build_id_has_no_names(void **state) {
  fixture_t *fixture = *state;

  need_text(fixture, __func__);
  see_kernel(fixture, 0);
  fixture->record.mmap.build_id[19] ^= 1;
  assert_non_null(decide(fixture));
  assert_string_equal(fixture->options.kallsyms, "");
}

static void read_modules(profile_kernel_t *kernel) {
  static const char list[] = "other 4096 1 - Live 0xffffffffc0100000\n"
                             "snd_pcm 8192 1 - Live 0xffffffffc0a00000\n";
  static char path[] = "/tmp/uvperf-modules-XXXXXX";
  int fd;

  memcpy(path + strlen(path) - 6, "XXXXXX", 6);
  fd = mkstemp(path);
  assert_int_equal(write(fd, list, sizeof(list) - 1), sizeof(list) - 1);
  close(fd);
  profile_modules_init(&kernel->modules, path);
  unlink(path);
}

/* A module counts as the recorded one if it has its name, size and address, and
 * the machine was not booted again: then all modules have moved with respect to
 * the kernel. */
static void modules_that_are_here_too_are_looked_up_as_they_are(void **state) {
  static const struct {
    const char *filename;
    uint64_t size, moved;
    int is_same;
  } cases[] = {
      {"/lib/modules/6/kernel/snd-pcm.ko.xz", 8192, 0, 1},
      {"[snd_pcm]", 8192, 0, 1},
      {"[xfs]", 8192, 0, 0},
      {"[snd_pcm]", 4096, 0, 0},
      {"[snd_pcm]", 8192, 0x2200000, 0},
  };
  fixture_t *fixture = *state;
  const profile_map_t *map;
  size_t i;

  need_text(fixture, __func__);
  for (i = 0; i < COUNT_OF(cases); i++) {
    teardown(state);
    setup(state);
    see_kernel(fixture, cases[i].moved);
    read_modules(&fixture->kernel);
    profile_kernel_see(&fixture->kernel, &fixture->record);
    fixture->record.mmap.filename = cases[i].filename;
    fixture->record.mmap.filename_size = strlen(cases[i].filename);
    fixture->record.mmap.addr = 0xffffffffc0a00000;
    fixture->record.mmap.len = cases[i].size;
    assert_null(decide(fixture));
    map = profile_tasks_find(&fixture->account.tasks, UINT32_MAX,
                             0xffffffffc0a00010);
    assert_int_equal(map != NULL, cases[i].is_same);
    if (map != NULL) {
      assert_int_equal(map->object, PROFILE_OBJECT_KERNEL);
      assert_int_equal(map->pgoff, 0xffffffffc0a00000);
    }
  }
}

static void file_without_the_kernels_mapping_has_no_names(void **state) {
  fixture_t *fixture = *state;

  assert_string_equal(decide(fixture), "the file has no mapping of the kernel");
  assert_string_equal(fixture->options.kallsyms, "");
}

/* A file that is cut off has neither build ids nor the names of the machine. */
static void kernel_that_the_file_does_not_identify_has_no_names(void **state) {
  const struct {
    char magic[8];
    uint64_t size;
  } header = {"PERFILE2", 16};
  char path[] = "/tmp/uvperf-kernel-XXXXXX", message[256];
  fixture_t *fixture = *state;
  int fd = mkstemp(path);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
  close(fd);
  assert_int_equal(
      recording_open(&fixture->recording, path, message, sizeof(message)), 0);
  unlink(path);
  see_kernel(fixture, 0);
  fixture->record.mmap.build_id_size = 0;
  assert_string_equal(decide(fixture),
                      "the file does not say which kernel was recorded");
  recording_free(fixture->recording);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
      TEST(kernel_is_looked_up_where_it_is_now),
      TEST(kernel_with_another_build_id_has_no_names),
      TEST(modules_that_are_here_too_are_looked_up_as_they_are),
      TEST(file_without_the_kernels_mapping_has_no_names),
      TEST(kernel_that_the_file_does_not_identify_has_no_names),
#undef TEST
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
