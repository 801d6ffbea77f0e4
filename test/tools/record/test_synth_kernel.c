/* SPDX-License-Identifier: MIT */
/* Records of the mappings of the kernel and its modules, and of the measured
 * threads and CPUs. The test uses made-up machines and this one. */
#include <sys/utsname.h>

#include "live_bpf.h"
#include "record/synth.h"
#include "support.h"
#include "make_tree.h"
#include "uvperf.h"

#define START UINT64_C(0xffffffff81000000)

static const char symbols[] = "0000000000000000 A fixed_percpu_data\n"
                              "ffffffff81000000 T _stext\n"
                              "ffffffff81000000 T _text\n"
                              "ffffffff81000040 t _text_is_no_such\n"
                              "ffffffff82000000 T _etext\n"
                              "ffffffffc0a00000 t _text\t[xfs]\n";

/* -- the written records --------------------------------------------------- */

#define MOST 16

typedef struct map_s {
  uint32_t pid;
  uint64_t start, size, pgoff;
  uint16_t misc;
  char name[4096];
} map_t;

typedef struct seen_s {
  record_synth_t synth;
  struct perf_event_attr attr;
  map_t maps[MOST];
  size_t nr;
  unsigned char bytes[65536];
  size_t size;
} seen_t;

/* The layout of PERF_RECORD_MMAP: perf_event_open(2). */
static int on_write(void *arg, const void *record, size_t size) {
  const unsigned char *bytes = record;
  struct perf_event_header header;
  seen_t *seen = arg;
  map_t *map;

  memcpy(&header, bytes, sizeof(header));
  assert_int_equal(header.size, size);
  memcpy(seen->bytes, bytes, size);
  seen->size = size;
  if (header.type != PERF_RECORD_MMAP)
    return 0;
  assert_true(seen->nr < MOST);
  map = &seen->maps[seen->nr++];
  map->misc = header.misc;
  memcpy(&map->pid, bytes + 8, 4);
  memcpy(&map->start, bytes + 16, 8);
  memcpy(&map->size, bytes + 24, 8);
  memcpy(&map->pgoff, bytes + 32, 8);
  assert_non_null(memchr(bytes + 40, '\0', size - 40));
  snprintf(map->name, sizeof(map->name), "%s", (const char *)bytes + 40);
  return 0;
}

static seen_t seen;

static void begin(const char *root) {
  common_buffer_free(&seen.synth.build);
  memset(&seen, 0, sizeof(seen));
  uvperf_attr_software(&seen.attr, PERF_COUNT_SW_CPU_CLOCK);
  seen.attr.sample_id_all = 1;
  seen.attr.sample_type = PERF_SAMPLE_IDENTIFIER;
  seen.synth.write = on_write;
  seen.synth.arg = &seen;
  seen.synth.attr = &seen.attr;
  seen.synth.root = root;
}

static int setup(void **state) {
  int rc = make_tree_setup(state);

  if (rc == 0)
    begin(((make_tree_t *)*state)->root);
  return rc;
}

/* -- the kernel ------------------------------------------------------------ */

static void kernel_is_from_text_to_etext(void **state) {
  make_tree_write(*state, "/proc/kallsyms", symbols);
  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  assert_int_equal(seen.synth.kernel_hidden, 0);
  assert_int_equal(seen.nr, 1);
  assert_int_equal(seen.maps[0].misc, PERF_RECORD_MISC_KERNEL);
  assert_int_equal(seen.maps[0].pid, UINT32_MAX);
  assert_int_equal(seen.maps[0].start, START);
  assert_int_equal(seen.maps[0].pgoff, START);
  assert_int_equal(seen.maps[0].size, 0x1000000);
  assert_string_equal(seen.maps[0].name, "[kernel.kallsyms]_text");
}

static void kernel_ends_at_edata_where_that_is_known(void **state) {
  make_tree_write(*state, "/proc/kallsyms",
                  "ffffffff81000000 T _stext\nffffffff82000000 T _etext\n"
                  "ffffffff83000000 D _edata\nffffffff84000000 T _etext2\n");
  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  assert_int_equal(seen.maps[0].size, 0x2000000);
  assert_string_equal(seen.maps[0].name, "[kernel.kallsyms]_stext");
}

static void kernel_without_an_end_goes_on_to_the_last_address(void **state) {
  make_tree_write(*state, "/proc/kallsyms", "ffffffff81000000 T _text\n");
  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  assert_int_equal(seen.maps[0].start + seen.maps[0].size, 0);
}

static void kernel_that_hides_its_addresses_is_left_out(void **state) {
  make_tree_write(*state, "/proc/kallsyms",
                  "0000000000000000 T _stext\n0000000000000000 T _text\n"
                  "0000000000000000 T _etext\n");
  make_tree_write(*state, "/proc/modules",
                  "xfs 2109440 1 - Live 0x0000000000000000\n");
  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  assert_int_equal(seen.synth.kernel_hidden, 1);
  assert_int_equal(seen.nr, 0);
}

static void kernel_without_symbols_is_left_out(void **state) {
  static const char *const texts[] = {"", "\n\n", "ffffffff81000000",
                                      "not a table\n", " _text _text _text\n"};
  size_t i;

  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  assert_int_equal(seen.synth.kernel_hidden, 1);
  for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
    begin(seen.synth.root);
    make_tree_write(*state, "/proc/kallsyms", texts[i]);
    assert_int_equal(record_synth_kernel(&seen.synth), 0);
    assert_int_equal(seen.synth.kernel_hidden, 1);
    assert_int_equal(seen.nr, 0);
  }
}

/* -- modules --------------------------------------------------------------- */

static void write_dep(void **state, const char *text) {
  struct utsname name;
  char path[256];

  assert_int_equal(uname(&name), 0);
  snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", name.release);
  make_tree_write(*state, path, text);
}

static void modules_have_the_names_of_their_files(void **state) {
  struct utsname name;
  char path[256];

  make_tree_write(*state, "/proc/kallsyms", symbols);
  make_tree_write(*state, "/proc/modules",
                  "snd_hda_intel 61440 3 - Live 0xffffffffc0b00000\n"
                  "xfs 2109440 1 - Live 0xffffffffc0a00000 (E)\n"
                  "nowhere 4096 2 a,b, Live 0xffffffffc0c00000\n"
                  "broken\n");
  write_dep(state, "kernel/fs/xfs/notxfs.ko:\n"
                   "kernel/fs/xfs/xfs.ko.zst: kernel/lib/libcrc32c.ko.zst\n"
                   "/extra/snd-hda-intel.ko: kernel/xfs.ko\n");
  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  assert_int_equal(seen.nr, 4);
  assert_string_equal(seen.maps[1].name, "/extra/snd-hda-intel.ko");
  assert_int_equal(seen.maps[1].start, UINT64_C(0xffffffffc0b00000));
  assert_int_equal(seen.maps[1].size, 61440);
  assert_int_equal(seen.maps[1].pgoff, 0);
  assert_int_equal(uname(&name), 0);
  snprintf(path, sizeof(path), "/lib/modules/%s/kernel/fs/xfs/xfs.ko.zst",
           name.release);
  assert_string_equal(seen.maps[2].name, path);
  assert_string_equal(seen.maps[3].name, "[nowhere]");
}

static void modules_without_a_list_of_files_have_their_own_names(void **state) {
  make_tree_write(*state, "/proc/kallsyms", symbols);
  make_tree_write(*state, "/proc/modules",
                  "xfs 2109440 1 - Live 0xffffffffc0a00000\n");
  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  assert_int_equal(seen.nr, 2);
  assert_string_equal(seen.maps[1].name, "[xfs]");
}

static int refuse(void *arg, const void *bytes, size_t size) {
  return --*(int *)arg == 0 ? -7 : 0;
}

static void failure_to_write_ends_it(void **state) {
  int left;

  make_tree_write(*state, "/proc/kallsyms", symbols);
  make_tree_write(*state, "/proc/modules",
                  "xfs 2109440 1 - Live 0xffffffffc0a00000\n"
                  "zfs 2109440 1 - Live 0xffffffffc0b00000\n");
  seen.synth.write = refuse;
  seen.synth.arg = &left;
  left = 1;
  assert_int_equal(record_synth_kernel(&seen.synth), -7);
  assert_int_equal(left, 0);
  left = 2;
  assert_int_equal(record_synth_kernel(&seen.synth), -7);
  assert_int_equal(left, 0);
}

static void live_kernel_is_shown_to_root(void **state) {
  seen.synth.root = NULL;
  support_need_root(__func__);
  assert_int_equal(record_synth_kernel(&seen.synth), 0);
  if (seen.synth.kernel_hidden)
    support_skip(__func__, "addresses in /proc/kallsyms");
  assert_true(seen.nr >= 1);
  assert_true(seen.maps[0].start != 0);
  assert_true(seen.maps[0].size > 4096);
}

/* -- the measured threads and CPUs ----------------------------------------- */

static void thread_map_names_the_threads(void **state) {
  int32_t ids[] = {-1, 1};
  common_ids_t tids = {ids, 2, 2};
  uint64_t words[8];
  uint32_t type;

  assert_int_equal(record_synth_thread_map(&seen.synth, &tids), 0);
  assert_int_equal(seen.size, 8 + 8 + 2 * 24);
  memcpy(words, seen.bytes, seen.size);
  memcpy(&type, words, sizeof(type));
  assert_int_equal(type, 73);
  assert_int_equal(words[1], 2);
  assert_int_equal(words[2], UINT64_MAX);
  assert_int_equal(words[3], 0);
  assert_int_equal(words[5], 1);
  assert_true(words[6] != 0); /* its name */
}

static void thread_map_that_is_too_long_is_left_out(void **state) {
  static int32_t ids[10000];
  common_ids_t tids = {ids, 2700, 10000};

  memset(ids, 0xff, sizeof(ids));
  assert_int_equal(record_synth_thread_map(&seen.synth, &tids), 0);
  assert_int_equal(seen.size, 16 + 2700 * 24);
  seen.size = 0;
  tids.nr = 10000;
  assert_int_equal(record_synth_thread_map(&seen.synth, &tids), 0);
  assert_int_equal(seen.size, 0);
}

static void cpu_map_lists_the_cpus(void **state) {
  static const uint16_t wanted[] = {0, 3, 0, 2, 300, 0};
  int32_t ids[] = {0, 2, 300};
  common_ids_t cpus = {ids, 3, 3};

  assert_int_equal(record_synth_cpu_map(&seen.synth, &cpus), 0);
  assert_int_equal(seen.size, 24);
  assert_memory_equal(seen.bytes + 8, wanted, sizeof(wanted));
}

/* -- BPF programs ---------------------------------------------------------- */

typedef struct bpf_records_s {
  live_bpf_t program;
  unsigned char ksymbol[512]; /* the record of its address */
  size_t nr_ksymbols, nr_loads;
} bpf_records_t;

/* Layouts: perf_event_ksymbol() and perf_event_bpf_event() of
 * kernel/events/core.c. */
static int on_bpf(void *arg, const void *record, size_t size) {
  const unsigned char *bytes = record;
  bpf_records_t *found = arg;
  struct perf_event_header header;
  uint64_t address;
  uint32_t id;

  memcpy(&header, bytes, sizeof(header));
  assert_int_equal(header.size, size);
  if (header.type == PERF_RECORD_BPF_EVENT) {
    memcpy(&id, bytes + 12, 4);
    if (id != found->program.id)
      return 0;
    assert_int_equal(bytes[8], PERF_BPF_EVENT_PROG_LOAD);
    assert_memory_equal(bytes + 16, found->program.tag, BPF_TAG_SIZE);
    assert_int_equal(found->nr_ksymbols, 1);
    found->nr_loads++;
    return 0;
  }
  assert_int_equal(header.type, PERF_RECORD_KSYMBOL);
  memcpy(&address, bytes + 8, 8);
  if (address != found->program.addr[0])
    return 0;
  assert_true(size <= sizeof(found->ksymbol));
  memcpy(found->ksymbol, bytes, size);
  found->nr_ksymbols++;
  return 0;
}

static void live_loaded_program_has_the_records_of_its_load(void **state) {
  bpf_records_t found = {.nr_loads = 0};
  struct perf_event_attr attr;
  record_synth_t synth = {.write = on_bpf, .arg = &found, .attr = &attr};
  uint32_t len;
  uint16_t type;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_id_all = 1;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
  live_bpf_need(__func__, BPF_PROG_TYPE_SOCKET_FILTER);
  live_bpf_load_shortest(&found.program, BPF_PROG_TYPE_SOCKET_FILTER, "early");
  if (found.program.nr_functions == 0) {
    live_bpf_close(&found.program);
    support_skip(__func__, "a JIT for BPF, and addresses of the kernel");
  }
  assert_int_equal(record_synth_bpf(&synth), 0);
  common_buffer_free(&synth.build);
  live_bpf_close(&found.program);
  assert_int_equal(found.nr_loads, 1);
  memcpy(&len, found.ksymbol + 16, 4);
  memcpy(&type, found.ksymbol + 20, 2);
  assert_int_equal(len, found.program.len[0]);
  assert_int_equal(type, PERF_RECORD_KSYMBOL_TYPE_BPF);
  assert_memory_equal(found.ksymbol + 24, "bpf_prog_", 9);
  assert_memory_equal(found.ksymbol + 49, "_early", 7);
}

#define TEST(name)                                                             \
  cmocka_unit_test_setup_teardown(name, setup, make_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(kernel_is_from_text_to_etext),
      TEST(kernel_ends_at_edata_where_that_is_known),
      TEST(kernel_without_an_end_goes_on_to_the_last_address),
      TEST(kernel_that_hides_its_addresses_is_left_out),
      TEST(kernel_without_symbols_is_left_out),
      TEST(modules_have_the_names_of_their_files),
      TEST(modules_without_a_list_of_files_have_their_own_names),
      TEST(failure_to_write_ends_it),
      TEST(live_kernel_is_shown_to_root),
      TEST(live_loaded_program_has_the_records_of_its_load),
      TEST(thread_map_names_the_threads),
      TEST(thread_map_that_is_too_long_is_left_out),
      TEST(cpu_map_lists_the_cpus),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
