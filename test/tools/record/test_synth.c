/* SPDX-License-Identifier: MIT */
/* Records about tasks that ran before the recording. The decoder accepts each
 * record as one of the kernel's, and its content matches /proc. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"
#include "record/synth.h"
#include "make_tree.h"

#define ALL_TRAILERS                                                           \
  (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |                       \
   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* A thread's name may contain any bytes. */
#define OWN_NAME "synth \x01\xff\n)"

/* -- the written records --------------------------------------------------- */

typedef struct seen_s {
  record_synth_t synth;
  struct perf_event_attr attr;
  uvperf_decoder_t *decoder;
  uvperf_source_t source;
  uint64_t records;
  uint64_t types[32]; /* records of each kernel type */
  uint64_t last_bytes[8192];
  size_t last_size;
  /* Called for each record of a type that the kernel has, or NULL. */
  void (*hook)(struct seen_s *seen, const uvperf_record_t *record);
  const void *wanted;
  uint64_t found;
  int fail_after; /* number of records; 0: never */
} seen_t;

static int on_write(void *arg, const void *bytes, size_t size) {
  const uvperf_record_t *record;
  struct perf_event_header header;
  seen_t *seen = arg;
  void *copy;

  memcpy(&header, bytes, sizeof(header));
  assert_int_equal(header.size, size);
  assert_int_equal(size % 8, 0);
  memcpy(seen->last_bytes, bytes, size);
  seen->last_size = size;
  if (seen->fail_after != 0 && seen->records == (uint64_t)seen->fail_after)
    return -ENOSPC;
  seen->records++;
  if (header.type >= 32)
    return 0;
  seen->types[header.type]++;
  copy = malloc(size); /* so that ASan checks its end */
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  assert_int_equal(uvperf_decode(seen->decoder, copy, size, &record), 0);
  assert_int_equal(record->time, 0);
  assert_int_equal(record->id, 0);
  if (seen->hook != NULL)
    seen->hook(seen, record);
  free(copy);
  return 0;
}

static seen_t kept; /* of the last begin() */

static void begin(seen_t *seen, uint64_t sample_type) {
  const uvperf_source_t *sources[1];

  uvperf_decoder_free(seen->decoder);
  common_buffer_free(&seen->synth.build);
  memset(seen, 0, sizeof(*seen));
  uvperf_attr_software(&seen->attr, PERF_COUNT_SW_CPU_CLOCK);
  seen->attr.sample_type = sample_type;
  seen->attr.sample_id_all = 1;
  seen->source.size = sizeof(seen->source);
  seen->source.attr = &seen->attr;
  sources[0] = &seen->source;
  assert_int_equal(prctl(PR_SET_NAME, OWN_NAME), 0);
  assert_int_equal(uvperf_decoder_new(&seen->decoder, sources, 1), 0);
  seen->synth.write = on_write;
  seen->synth.arg = seen;
  seen->synth.attr = &seen->attr;
}

static int synth_one(seen_t *seen, int32_t pid) {
  common_ids_t pids = {&pid, 1, 1};

  return record_synth_processes(&seen->synth, &pids);
}

/* -- processes ------------------------------------------------------------- */

static void on_own(seen_t *seen, const uvperf_record_t *record) {
  switch (record->type) {
    case PERF_RECORD_FORK:
      assert_int_equal(record->task.pid, getpid());
      if (record->task.tid == (uint32_t)getpid())
        assert_int_equal(record->task.ppid, getppid());
      else
        assert_int_equal(record->task.ppid, getpid());
      assert_true(record->misc & PERF_RECORD_MISC_FORK_EXEC);
      break;
    case PERF_RECORD_COMM:
      assert_int_equal(record->comm.pid, getpid());
      if (record->comm.tid == (uint32_t)getpid())
        assert_string_equal(record->comm.comm, OWN_NAME);
      break;
    default:
      break;
  }
}

static void live_process_has_its_name_and_parent(void **state) {
  begin(&kept, ALL_TRAILERS);
  kept.hook = on_own;
  assert_int_equal(synth_one(&kept, getpid()), 0);
  assert_true(kept.types[PERF_RECORD_FORK] >= 1);
  assert_int_equal(kept.types[PERF_RECORD_FORK], kept.types[PERF_RECORD_COMM]);
  assert_true(kept.types[PERF_RECORD_MMAP2] >= 3);
  assert_int_equal(kept.types[PERF_RECORD_NAMESPACES], 0);
}

/* A record has room for the trailers that the attr requests, and for no
 * others. */
static void trailers_are_as_long_as_the_attr_says(void **state) {
  static const uint64_t bits[] = {PERF_SAMPLE_TID,  PERF_SAMPLE_TIME,
                                  PERF_SAMPLE_ID,   PERF_SAMPLE_STREAM_ID,
                                  PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER,
                                  PERF_SAMPLE_ADDR, PERF_SAMPLE_RAW};
  uint64_t type;
  unsigned set, i;
  size_t bare;
  int32_t cpu = 0;
  common_ids_t cpus = {&cpu, 1, 1};

  begin(&kept, 0);
  assert_int_equal(synth_one(&kept, getpid()), 0);
  bare = kept.last_size;
  for (set = 0; set < 256; set += 3) {
    for (type = 0, i = 0; i < 8; i++)
      type |= set >> i & 1 ? bits[i] : 0;
    begin(&kept, type);
    assert_int_equal(synth_one(&kept, getpid()), 0);
    assert_int_equal(kept.last_size,
                     bare + 8 * (size_t)__builtin_popcount(set & 63));
    assert_int_equal(record_synth_cpu_map(&kept.synth, &cpus), 0);
    assert_int_equal(kept.last_size, 16); /* perf's own types have no trailer */
  }
}

static void on_map(seen_t *seen, const uvperf_record_t *record) {
  if (record->type == PERF_RECORD_MMAP2 &&
      strcmp(record->mmap.filename, seen->wanted) == 0)
    seen->found++;
}

/* Maps a page of a file with this name, and expects one record with the name
 * `wanted`. */
static void expect_map(const char *path, const char *wanted, int prot,
                       int is_unlinked, int mmap_data) {
  void *map;
  int fd;

  fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, 4096), 0);
  map = mmap(NULL, 4096, prot, MAP_PRIVATE, fd, 0);
  close(fd);
  if (is_unlinked)
    assert_int_equal(unlink(path), 0);
  assert_true(map != MAP_FAILED);
  begin(&kept, ALL_TRAILERS);
  kept.synth.mmap_data = mmap_data;
  kept.hook = on_map;
  kept.wanted = wanted;
  assert_int_equal(synth_one(&kept, getpid()), 0);
  assert_int_equal(kept.found, 1);
  munmap(map, 4096);
}

static void live_mapping_of_a_file_with_odd_bytes_is_reported(void **state) {
  char path[256];

  snprintf(path, sizeof(path), "%s/a \x01\xff\n\\z [x] ",
           ((make_tree_t *)*state)->root);
  expect_map(path, path, PROT_READ | PROT_EXEC, 0, 0);
}

static void live_mapping_of_a_deleted_file_is_reported(void **state) {
  char path[128], wanted[256];

  snprintf(path, sizeof(path), "%s/gone", ((make_tree_t *)*state)->root);
  snprintf(wanted, sizeof(wanted), "%s (deleted)", path);
  expect_map(path, wanted, PROT_READ | PROT_EXEC, 1, 0);
}

static void live_mapping_of_data_is_reported_where_asked_for(void **state) {
  char path[128];

  snprintf(path, sizeof(path), "%s/data", ((make_tree_t *)*state)->root);
  expect_map(path, path, PROT_READ, 0, 1);
}

/* The path is longer than PATH_MAX, so it is made step by step. The kernel's
 * own records say //toolong too. */
static void live_mapping_of_too_long_a_path_is_reported(void **state) {
  char name[201], before[4096];
  unsigned i;

  assert_non_null(getcwd(before, sizeof(before)));
  assert_int_equal(chdir(((make_tree_t *)*state)->root), 0);
  memset(name, 'd', 200);
  name[200] = '\0';
  for (i = 0; i < 22; i++) {
    assert_int_equal(mkdir(name, 0700), 0);
    assert_int_equal(chdir(name), 0);
  }
  expect_map("long", "//toolong", PROT_READ | PROT_EXEC, 0, 0);
  assert_int_equal(unlink("long"), 0);
  for (i = 0; i < 22; i++) {
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(rmdir(name), 0);
  }
  assert_int_equal(chdir(before), 0);
}

static void live_memory_without_a_file_is_anon(void **state) {
  void *map;

  map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
             0);
  assert_true(map != MAP_FAILED);
  begin(&kept, ALL_TRAILERS);
  kept.hook = on_map;
  kept.wanted = "//anon";
  assert_int_equal(synth_one(&kept, getpid()), 0);
  assert_true(kept.found >= 1);
  munmap(map, 4096);
}

/* The process existed when /proc was listed. */
static void live_process_that_is_gone_is_no_error(void **state) {
  pid_t pid;

  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    _exit(0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  begin(&kept, ALL_TRAILERS);
  assert_int_equal(synth_one(&kept, pid), 0);
  assert_int_equal(kept.records, 0);
}

static void live_zombie_has_a_name_and_no_mapping(void **state) {
  siginfo_t info;
  pid_t pid;

  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    _exit(0);
  assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
  begin(&kept, ALL_TRAILERS);
  assert_int_equal(synth_one(&kept, pid), 0);
  assert_int_equal(kept.types[PERF_RECORD_COMM], 1);
  assert_int_equal(kept.types[PERF_RECORD_MMAP2], 0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* -- many threads ---------------------------------------------------------- */

#define THREADS 10000

typedef struct crowd_s {
  pthread_t threads[THREADS];
  sem_t go;
  unsigned nr;
} crowd_t;

static void *wait_for_the_end(void *arg) {
  crowd_t *crowd = arg;

  while (sem_wait(&crowd->go) != 0)
    continue;
  return NULL;
}

/* Starts as many threads as the system allows, up to THREADS. */
static void gather(crowd_t *crowd) {
  pthread_attr_t attr;

  assert_int_equal(sem_init(&crowd->go, 0, 0), 0);
  assert_int_equal(pthread_attr_init(&attr), 0);
  assert_int_equal(pthread_attr_setstacksize(&attr, 131072), 0);
  while (crowd->nr < THREADS &&
         pthread_create(&crowd->threads[crowd->nr], &attr, wait_for_the_end,
                        crowd) == 0)
    crowd->nr++;
  pthread_attr_destroy(&attr);
}

static void disperse(crowd_t *crowd) {
  unsigned i;

  for (i = 0; i < crowd->nr; i++)
    sem_post(&crowd->go);
  for (i = 0; i < crowd->nr; i++)
    pthread_join(crowd->threads[i], NULL);
  sem_destroy(&crowd->go);
}

static void live_threads_are_reported_each(void **state) {
  static crowd_t crowd;
  uint64_t others;

  begin(&kept, ALL_TRAILERS);
  assert_int_equal(synth_one(&kept, getpid()), 0);
  others = kept.types[PERF_RECORD_COMM];
  gather(&crowd);
  begin(&kept, ALL_TRAILERS);
  kept.hook = on_own;
  assert_int_equal(synth_one(&kept, getpid()), 0);
  disperse(&crowd);
  print_message("%u threads\n", crowd.nr);
  assert_true(crowd.nr > 0);
  assert_int_equal(kept.types[PERF_RECORD_COMM], others + crowd.nr);
  assert_int_equal(kept.types[PERF_RECORD_FORK], others + crowd.nr);
}

/* -- all ------------------------------------------------------------------- */

static void on_any(seen_t *seen, const uvperf_record_t *record) {
  seen->found += record->type == PERF_RECORD_COMM &&
                 record->comm.pid == (uint32_t)getpid();
}

static void live_all_processes_are_reported(void **state) {
  begin(&kept, ALL_TRAILERS);
  kept.hook = on_any;
  kept.synth.namespaces = 1;
  assert_int_equal(record_synth_all(&kept.synth), 0);
  assert_true(kept.found >= 1);
  assert_true(kept.types[PERF_RECORD_COMM] > 1);
  assert_int_equal(kept.types[PERF_RECORD_COMM], kept.types[PERF_RECORD_FORK]);
  assert_int_equal(kept.types[PERF_RECORD_COMM],
                   kept.types[PERF_RECORD_NAMESPACES]);
}

static void on_namespaces(seen_t *seen, const uvperf_record_t *record) {
  struct stat stat_of;

  if (record->type != PERF_RECORD_NAMESPACES ||
      record->namespaces.tid != (uint32_t)getpid())
    return;
  assert_int_equal(record->namespaces.nr, 7);
  assert_int_equal(stat("/proc/self/ns/mnt", &stat_of), 0);
  assert_int_equal(record->namespaces.links[5].inode, stat_of.st_ino);
  seen->found++;
}

static void live_namespaces_are_those_of_proc(void **state) {
  begin(&kept, ALL_TRAILERS);
  kept.hook = on_namespaces;
  kept.synth.namespaces = 1;
  assert_int_equal(synth_one(&kept, getpid()), 0);
  assert_int_equal(kept.found, 1);
}

static void live_failure_to_write_ends_it(void **state) {
  begin(&kept, ALL_TRAILERS);
  for (kept.fail_after = 1; kept.fail_after < 10; kept.fail_after++) {
    kept.records = 0;
    assert_int_equal(record_synth_all(&kept.synth), -ENOSPC);
    assert_int_equal(kept.records, kept.fail_after);
  }
}

/* -- cgroups --------------------------------------------------------------- */

static void on_cgroup(seen_t *seen, const uvperf_record_t *record) {
  const live_cgroup_t *cgroup = seen->wanted;
  size_t size = strlen(record->cgroup.path);

  assert_int_equal(record->type, 19);
  assert_int_equal(record->cgroup.path[0], '/');
  if (record->cgroup.id != cgroup->id)
    return;
  assert_true(size < strlen(cgroup->path));
  assert_string_equal(cgroup->path + strlen(cgroup->path) - size,
                      record->cgroup.path);
  seen->found++;
}

static void live_cgroups_are_reported(void **state) {
  live_cgroup_t cgroup;

  live_cgroup_make(__func__, &cgroup);
  begin(&kept, ALL_TRAILERS);
  kept.hook = on_cgroup;
  kept.wanted = &cgroup;
  assert_int_equal(record_synth_cgroups(&kept.synth), 0);
  live_cgroup_remove(&cgroup);
  assert_int_equal(kept.found, 1);
  assert_true(kept.records >= 2); /* its cgroup and the root */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(live_process_has_its_name_and_parent),
      MAKE_TREE_TEST(trailers_are_as_long_as_the_attr_says),
      MAKE_TREE_TEST(live_mapping_of_a_file_with_odd_bytes_is_reported),
      MAKE_TREE_TEST(live_mapping_of_a_deleted_file_is_reported),
      MAKE_TREE_TEST(live_mapping_of_data_is_reported_where_asked_for),
      MAKE_TREE_TEST(live_mapping_of_too_long_a_path_is_reported),
      MAKE_TREE_TEST(live_memory_without_a_file_is_anon),
      MAKE_TREE_TEST(live_process_that_is_gone_is_no_error),
      MAKE_TREE_TEST(live_zombie_has_a_name_and_no_mapping),
      MAKE_TREE_TEST(live_threads_are_reported_each),
      MAKE_TREE_TEST(live_all_processes_are_reported),
      MAKE_TREE_TEST(live_namespaces_are_those_of_proc),
      MAKE_TREE_TEST(live_failure_to_write_ends_it),
      MAKE_TREE_TEST(live_cgroups_are_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
