/* SPDX-License-Identifier: MIT */
/* Live: MMAP and MMAP2 of this kernel, of files and of anonymous memory,
 * checked against stat(2), the mapping and /proc/self/maps. Build ids are in
 * test_event_sideband_build_id.c. */
#include "live_sideband.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NAMES 16

typedef struct map_s {
  char path[64];
  uint64_t addr;
  uint64_t ino;
  uint64_t generation;
  int has_generation;
  unsigned int maj, min; /* as /proc/self/maps has them */
  int prot;
  int flags;
} map_t;

typedef struct maps_s {
  live_truth_t truth;
  uint64_t found; /* records of these, in order */
  map_t map[NAMES];
} maps_t;

/* The device by /proc/self/maps: on btrfs stat(2) returns another one. */
static void find_device(map_t *map) {
  unsigned long start;
  char line[512];
  FILE *file;
  int found = 0;

  file = fopen("/proc/self/maps", "r");
  assert_non_null(file);
  while (!found && fgets(line, sizeof(line), file) != NULL)
    found = sscanf(line, "%lx-%*x %*s %*x %x:%x", &start, &map->maj,
                   &map->min) == 3 &&
            start == map->addr;
  fclose(file);
  assert_true(found);
}

/* Two pages of a new file, mapped from the second on. */
static void map_file(map_t *map, const char *path, int prot, int flags) {
  size_t page = support_page_bytes();
  struct stat stat;
  long generation = 0;
  void *memory;
  int fd;

  snprintf(map->path, sizeof(map->path), "%s", path);
  fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, (off_t)page * 3), 0);
  assert_int_equal(fstat(fd, &stat), 0);
  map->ino = stat.st_ino;
  map->has_generation =
      syscall(SYS_ioctl, fd, FS_IOC_GETVERSION, &generation) == 0;
  map->generation = (uint32_t)generation;
  memory = mmap(NULL, page * 2, prot, flags, fd, (off_t)page);
  assert_ptr_not_equal(memory, MAP_FAILED);
  map->addr = (uintptr_t)memory;
  map->prot = prot;
  map->flags = flags;
  find_device(map);
  assert_int_equal(munmap(memory, page * 2), 0);
  close(fd);
  assert_int_equal(unlink(path), 0);
}

/* -- the values of a record ----------------------------------------------- */

static void assert_file(const uvperf_record_t *record, const map_t *map) {
  uint64_t page = support_page_bytes();

  assert_int_equal(record->mmap.pid, getpid());
  assert_int_equal(record->mmap.tid, live_tid());
  assert_true(record->mmap.addr == map->addr);
  assert_int_equal(record->mmap.len, page * 2);
  assert_int_equal(record->mmap.pgoff, page);
  assert_string_equal(record->mmap.filename, map->path);
  assert_int_equal(record->mmap.filename_size, strlen(map->path));
  assert_string_equal(uvperf_record_cpu_mode_name(record->misc), "user");
  assert_int_equal(uvperf_record_is_mmap_data(record),
                   (map->prot & PROT_EXEC) == 0);
  assert_int_equal(uvperf_record_has_build_id(record), 0);
  assert_int_equal(record->mmap.build_id_size, 0);
}

static void assert_only_mmap(const uvperf_record_t *record) {
  assert_true(record->mmap.ino == 0 && record->mmap.ino_generation == 0);
  assert_true(record->mmap.maj == 0 && record->mmap.min == 0);
  assert_true(record->mmap.prot == 0 && record->mmap.flags == 0);
}

static void assert_mmap2(const uvperf_record_t *record, const map_t *map) {
  assert_int_equal(record->mmap.maj, map->maj);
  assert_int_equal(record->mmap.min, map->min);
  assert_true(record->mmap.ino == map->ino);
  assert_true(!map->has_generation ||
              record->mmap.ino_generation == map->generation);
  assert_int_equal(record->mmap.prot, map->prot);
  assert_int_equal(record->mmap.flags, map->flags);
}

static void check_file(live_collector_t *collector,
                       const uvperf_record_t *record) {
  int mmap2 = uvperf_handle_attr(&collector->event.handle, 0)->mmap2;
  maps_t *maps = collector->hook_data;
  const map_t *map = &maps->map[maps->found];

  /* The C library's own mappings come too. */
  if ((record->type != PERF_RECORD_MMAP && record->type != PERF_RECORD_MMAP2) ||
      record->mmap.pid != (uint32_t)getpid() ||
      strncmp(record->mmap.filename, "/tmp/uvperf-", 12) != 0)
    return;
  assert_int_equal(record->type, mmap2 ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP);
  assert_file(record, map);
  if (mmap2)
    assert_mmap2(record, map);
  else
    assert_only_mmap(record);
  live_assert_trailer(collector, record, &maps->truth);
  maps->found += 1;
}

/* -- of files ------------------------------------------------------------- */

/* Names of each length, so that each padding is there before the trailer. */
static void map_each_length(uv_loop_t *loop, const struct perf_event_attr *attr,
                            const uvperf_event_options_t *options) {
  static const char name[] = "abcdefghijklmnop";
  char directory[] = "/tmp/uvperf-XXXXXX";
  live_collector_t collector;
  maps_t maps;
  char path[64];
  int length;
  cpu_set_t old;

  maps.found = 0;
  live_truth_pin(&maps.truth, &old);
  assert_non_null(mkdtemp(directory));
  live_begin(loop, &collector, attr, options, check_file, &maps);
  for (length = 1; length <= NAMES; length++) {
    snprintf(path, sizeof(path), "%s/%.*s", directory, length, name);
    map_file(&maps.map[length - 1], path, PROT_READ | PROT_EXEC, MAP_PRIVATE);
  }
  live_end_among_others(&collector, &maps.found, NAMES);
  assert_int_equal(rmdir(directory), 0);
  live_unpin(&old);
}

static void sideband_mmap_of_each_length_is_the_mapping(void **state) {
  struct perf_event_attr attr;
  int has_trailer;

  support_need_own_events(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    live_sideband_attr(&attr, has_trailer);
    attr.mmap = 1;
    map_each_length(*state, &attr, NULL);
  }
}

static void sideband_mmap2_of_each_length_has_device_and_inode(void **state) {
  struct perf_event_attr attr;
  int has_trailer;

  support_need_own_events(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    live_sideband_attr(&attr, has_trailer);
    attr.mmap = 1;
    attr.mmap2 = 1;
    map_each_length(*state, &attr, NULL);
  }
}

static void sideband_mmap2_on_a_cpu_is_the_mapping(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  support_need_cpu_wide(__func__);
  live_sideband_attr(&attr, 1);
  attr.mmap = 1;
  attr.mmap2 = 1;
  options.pid = -1;
  options.cpu = live_last_cpu();
  options.flags |= UVPERF_EVENT_CPU;
  map_each_length(*state, &attr, &options);
}

/* Code and data that is mapped, and how many of these the attr asks for. */
static void map_code_and_data(uv_loop_t *loop,
                              const struct perf_event_attr *attr) {
  char directory[] = "/tmp/uvperf-XXXXXX";
  live_collector_t collector;
  uint64_t nr = 0;
  maps_t maps;
  char path[64];
  cpu_set_t old;

  maps.found = 0;
  live_truth_pin(&maps.truth, &old);
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/file", directory);
  live_begin(loop, &collector, attr, NULL, check_file, &maps);
  /* Each fills the next place if its record must come; otherwise it is
   * overwritten. */
  map_file(&maps.map[nr], path, PROT_READ | PROT_EXEC, MAP_PRIVATE);
  nr += attr->mmap || attr->mmap2;
  map_file(&maps.map[nr], path, PROT_READ | PROT_WRITE, MAP_SHARED);
  nr += attr->mmap_data;
  map_file(&maps.map[nr], path, PROT_READ, MAP_PRIVATE);
  nr += attr->mmap_data;
  live_end_among_others(&collector, &maps.found, nr);
  assert_int_equal(rmdir(directory), 0);
  live_unpin(&old);
}

/* mmap2 alone is left out: it does not switch any record on, but takes part in
 * those that another event has switched on, perf_event_mmap_match(). */
static void sideband_mmap_of_data_comes_if_asked_for(void **state) {
  struct perf_event_attr attr;
  unsigned int bits;

  support_need_own_events(__func__);
  for (bits = 0; bits < 16; bits++) {
    live_sideband_attr(&attr, (bits & 1) != 0);
    attr.mmap2 = (bits & 2) != 0;
    attr.mmap = (bits & 4) != 0;
    attr.mmap_data = (bits & 8) != 0;
    if (attr.mmap || attr.mmap_data)
      map_code_and_data(*state, &attr);
  }
}

/* -- of memory without a file --------------------------------------------- */

/* A page between two others with another protection, so that the kernel does
 * not merge it and records it alone. */
typedef struct page_s {
  live_truth_t truth;
  char *region;
  uint64_t found;
  uint32_t prot;    /* that the next record must have */
  const char *name; /* and the name of that */
  uint32_t flags;   /* and its flags */
} page_t;

static void page_reserve(page_t *page) {
  memset(page, 0, sizeof(*page));
  page->region = mmap(NULL, 3 * support_page_bytes(), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(page->region, MAP_FAILED);
}

static void page_free(const page_t *page) {
  assert_int_equal(munmap(page->region, 3 * support_page_bytes()), 0);
}

static void page_map(page_t *page, int prot, int flags) {
  char *middle = page->region + support_page_bytes();

  assert_ptr_equal(mmap(middle, support_page_bytes(), prot,
                        flags | MAP_FIXED | MAP_ANONYMOUS, -1, 0),
                   middle);
  page->prot = (uint32_t)prot;
  page->flags = (uint32_t)flags;
}

static void check_page(live_collector_t *collector,
                       const uvperf_record_t *record) {
  page_t *page = collector->hook_data;
  uint64_t addr = (uintptr_t)page->region + support_page_bytes();

  if (record->type != PERF_RECORD_MMAP2 || record->mmap.addr != addr)
    return;
  assert_int_equal(record->mmap.pid, getpid());
  assert_int_equal(record->mmap.tid, live_tid());
  assert_int_equal(record->mmap.len, support_page_bytes());
  assert_string_equal(record->mmap.filename, page->name);
  assert_int_equal(record->mmap.filename_size, strlen(page->name));
  assert_int_equal(record->mmap.prot, page->prot);
  assert_int_equal(record->mmap.flags, page->flags);
  assert_int_equal(uvperf_record_is_mmap_data(record),
                   (page->prot & PROT_EXEC) == 0);
  live_assert_trailer(collector, record, &page->truth);
  /* The offset of private memory is its address: do_mmap() in mm/mmap.c. */
  if (page->flags == MAP_PRIVATE) {
    assert_true(record->mmap.pgoff == addr);
    assert_true(record->mmap.ino == 0 && record->mmap.maj == 0 &&
                record->mmap.min == 0 && record->mmap.ino_generation == 0);
  } else {
    assert_true(record->mmap.pgoff == 0);
    assert_true(record->mmap.ino != 0);
  }
  page->found += 1;
}

static void map_page(uv_loop_t *loop, const struct perf_event_attr *attr,
                     int prot, int flags, const char *name) {
  live_collector_t collector;
  cpu_set_t old;
  page_t page;

  page_reserve(&page);
  page.name = name;
  live_truth_pin(&page.truth, &old);
  live_begin(loop, &collector, attr, NULL, check_page, &page);
  page_map(&page, prot, flags);
  live_end_among_others(&collector, &page.found, 1);
  live_unpin(&old);
  page_free(&page);
}

/* Private memory is "//anon", shared memory an unlinked file that the kernel
 * makes: perf_event_mmap_event(), shmem_zero_setup(). */
static void sideband_mmap_of_anonymous_memory_is_named_anon(void **state) {
  static const char shared[] = "/dev/zero (deleted)";
  struct perf_event_attr attr;
  int has_trailer;

  support_need_own_events(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    live_sideband_attr(&attr, has_trailer);
    attr.mmap = 1;
    attr.mmap2 = 1;
    map_page(*state, &attr, PROT_READ | PROT_EXEC, MAP_PRIVATE, "//anon");
    map_page(*state, &attr, PROT_READ | PROT_EXEC, MAP_SHARED, shared);
    attr.mmap_data = 1;
    map_page(*state, &attr, PROT_READ | PROT_WRITE, MAP_PRIVATE, "//anon");
    map_page(*state, &attr, PROT_READ | PROT_WRITE, MAP_SHARED, shared);
  }
}

/* Like a program that writes code: mprotect_fixup() records the mapping once
 * more. */
static void sideband_mmap_of_data_made_code_comes_when_it_is(void **state) {
  struct perf_event_attr attr;
  live_collector_t collector;
  cpu_set_t old;
  page_t page;
  char *middle;

  support_need_own_events(__func__);
  page_reserve(&page);
  page.name = "//anon";
  live_truth_pin(&page.truth, &old);
  live_sideband_attr(&attr, 1);
  attr.mmap = 1;
  attr.mmap2 = 1;
  live_begin(*state, &collector, &attr, NULL, check_page, &page);
  page_map(&page, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  middle = page.region + support_page_bytes();
  *middle = 1;
  assert_int_equal(
      mprotect(middle, support_page_bytes(), PROT_READ | PROT_EXEC), 0);
  page.prot = PROT_READ | PROT_EXEC;
  live_end_among_others(&collector, &page.found, 1);
  live_unpin(&old);
  page_free(&page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_mmap_of_each_length_is_the_mapping),
      support_loop_test(sideband_mmap2_of_each_length_has_device_and_inode),
      support_loop_test(sideband_mmap2_on_a_cpu_is_the_mapping),
      support_loop_test(sideband_mmap_of_data_comes_if_asked_for),
      support_loop_test(sideband_mmap_of_anonymous_memory_is_named_anon),
      support_loop_test(sideband_mmap_of_data_made_code_comes_when_it_is),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
