/* SPDX-License-Identifier: MIT */
/* Live: MMAP and MMAP2 of this kernel, checked against stat(2), the mapping and
 * /proc/self/maps. */
#include "live.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define TRAILER                                                                \
  (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |                       \
   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define NAMES 16

typedef struct map_s {
  char path[64];
  uint64_t addr;
  uint64_t ino;
  uint64_t generation;
  int has_generation;
  unsigned int maj, min; /* as /proc/self/maps has them */
  uint64_t before;
} map_t;

/* The device by /proc/self/maps: on btrfs stat(2) gives another. */
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
static void map_file(map_t *map, const char *path, int prot) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
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
  map->has_generation = ioctl(fd, FS_IOC_GETVERSION, &generation) == 0;
  map->generation = (uint32_t)generation;
  map->before = live_now();
  memory = mmap(NULL, page * 2, prot, MAP_PRIVATE, fd, (off_t)page);
  assert_ptr_not_equal(memory, MAP_FAILED);
  map->addr = (uintptr_t)memory;
  find_device(map);
  assert_int_equal(munmap(memory, page * 2), 0);
  close(fd);
  assert_int_equal(unlink(path), 0);
}

/* -- what a record says --------------------------------------------------- */

static void assert_mapping(const uvperf_record_t *record, const map_t *map) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

  assert_int_equal(record->mmap.pid, getpid());
  assert_int_equal(record->mmap.tid, live_tid());
  assert_true(record->mmap.addr == map->addr);
  assert_int_equal(record->mmap.len, page * 2);
  assert_int_equal(record->mmap.pgoff, page);
  assert_string_equal(record->mmap.filename, map->path);
  assert_int_equal(record->mmap.filename_size, strlen(map->path));
  assert_string_equal(uvperf_record_cpu_mode_name(record->misc), "user");
}

static void assert_trailer(live_collector_t *collector,
                           const uvperf_record_t *record, const map_t *map) {
  uint64_t id;

  assert_int_equal(uvperf_event_id(&collector->event, &id), 0);
  assert_true(record->present == TRAILER);
  assert_true(record->id == id);
  assert_true(record->stream_id == id);
  assert_int_equal(record->pid, getpid());
  assert_int_equal(record->tid, live_tid());
  assert_true(record->time >= map->before && record->time <= live_now());
  assert_int_equal(record->cpu, live_last_cpu()); /* pinned */
}

static void check_mmap(live_collector_t *collector,
                       const uvperf_record_t *record) {
  const map_t *maps = collector->hook_data;

  assert_int_equal(record->type, PERF_RECORD_MMAP);
  assert_mapping(record, &maps[collector->records]);
  assert_trailer(collector, record, &maps[collector->records]);
  assert_int_equal(uvperf_record_is_mmap_data(record), 0);
  assert_true(record->mmap.ino == 0 && record->mmap.maj == 0);
  assert_true(record->mmap.prot == 0 && record->mmap.flags == 0);
}

static void check_mmap2(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const map_t *maps = collector->hook_data;
  const map_t *map = &maps[collector->records];

  assert_int_equal(record->type, PERF_RECORD_MMAP2);
  assert_mapping(record, map);
  assert_trailer(collector, record, map);
  assert_int_equal(uvperf_record_is_mmap_data(record), 0);
  assert_int_equal(uvperf_record_has_build_id(record), 0);
  assert_int_equal(record->mmap.maj, map->maj);
  assert_int_equal(record->mmap.min, map->min);
  assert_true(record->mmap.ino == map->ino);
  assert_true(!map->has_generation ||
              record->mmap.ino_generation == map->generation);
  assert_int_equal(record->mmap.prot, PROT_READ | PROT_EXEC);
  assert_int_equal(record->mmap.flags, MAP_PRIVATE);
  assert_int_equal(record->mmap.build_id_size, 0);
}

/* -- the tests ------------------------------------------------------------ */

static void mmap_attr(struct perf_event_attr *attr) {
  live_comm_attr(attr);
  attr->comm = 0;
  attr->mmap = 1;
  attr->sample_type = TRAILER;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
}

/* Names of each length, so that each padding is there before the trailer. */
static void map_each_length(uv_loop_t *loop, const struct perf_event_attr *attr,
                            void (*check)(live_collector_t *,
                                          const uvperf_record_t *)) {
  char directory[] = "/tmp/uvperf-XXXXXX";
  static const char name[] = "abcdefghijklmnop";
  live_collector_t collector;
  map_t maps[NAMES];
  char path[64];
  int length;
  cpu_set_t old;

  live_pin(live_last_cpu(), &old);
  assert_non_null(mkdtemp(directory));
  live_begin(loop, &collector, attr, NULL, check, maps);
  for (length = 1; length <= NAMES; length++) {
    snprintf(path, sizeof(path), "%s/%.*s", directory, length, name);
    map_file(&maps[length - 1], path, PROT_READ | PROT_EXEC);
  }
  live_end(&collector, NAMES);
  assert_int_equal(rmdir(directory), 0);
  live_unpin(&old);
}

static void sideband_mmap_of_each_length_is_the_mapping(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  mmap_attr(&attr);
  map_each_length(*state, &attr, check_mmap);
}

static void sideband_mmap2_of_each_length_has_device_and_inode(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  mmap_attr(&attr);
  attr.mmap2 = 1;
  map_each_length(*state, &attr, check_mmap2);
}

typedef struct data_s {
  map_t map;
  uint64_t found;
} data_t;

/* The C library's own mappings come too. */
static void check_data(live_collector_t *collector,
                       const uvperf_record_t *record) {
  data_t *data = collector->hook_data;

  if (record->type != PERF_RECORD_MMAP2 ||
      strcmp(record->mmap.filename, data->map.path) != 0)
    return;
  assert_mapping(record, &data->map);
  assert_int_equal(uvperf_record_is_mmap_data(record), 1);
  assert_int_equal(record->mmap.prot, PROT_READ | PROT_WRITE);
  assert_true(record->mmap.ino == data->map.ino);
  data->found += 1;
}

static void map_data(uv_loop_t *loop, const struct perf_event_attr *attr,
                     data_t *data) {
  char directory[] = "/tmp/uvperf-XXXXXX";
  live_collector_t collector;
  char path[64];

  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/data", directory);
  live_begin(loop, &collector, attr, NULL, check_data, data);
  map_file(&data->map, path, PROT_READ | PROT_WRITE);
  assert_int_equal(uvperf_event_flush(&collector.event), 0);
  live_close(&collector);
  assert_int_equal(rmdir(directory), 0);
}

static void sideband_mmap_of_data_comes_if_asked_for(void **state) {
  struct perf_event_attr attr;
  data_t data;

  support_need_own_events(__func__);
  memset(&data, 0, sizeof(data));
  mmap_attr(&attr);
  attr.mmap2 = 1;
  map_data(*state, &attr, &data);
  assert_int_equal(data.found, 0);
  attr.mmap_data = 1;
  map_data(*state, &attr, &data);
  assert_int_equal(data.found, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_mmap_of_each_length_is_the_mapping),
      support_loop_test(sideband_mmap2_of_each_length_has_device_and_inode),
      support_loop_test(sideband_mmap_of_data_comes_if_asked_for),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
