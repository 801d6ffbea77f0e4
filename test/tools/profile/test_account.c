/* SPDX-License-Identifier: MIT */
/* Records of a made-up process become stacks. Checks the place of each frame,
 * and which tasks are counted separately. */
#include "support.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "account_rows.h"
#include "common/proc.h"
#include "profile/account.h"
#include "profile/fade.h"
#include "profile/naming.h"
#include "profile/symbols/symbols.h"
#include "profile/symbols/unwind.h"
#include "profile/unwinding.h"
#include "make_record.h"

#define USER   ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)

typedef struct fixture_s {
  uv_loop_t loop;
  symbols_t *symbols;
  profile_account_t account;
  profile_unwinding_t unwinding;
  uint64_t time;
  uint32_t flags; /* of mmap(2) */
} fixture_t;

static void start_by(fixture_t *fixture, stacks_by_t by) {
  symbols_options_t options = {.kallsyms = ""};

  assert_int_equal(uv_loop_init(&fixture->loop), 0);
  fixture->symbols = symbols_new(&fixture->loop, &options);
  profile_account_init(&fixture->account, by, fixture->symbols);
  fixture->account.is_recorded = 1;
  fixture->account.kernel_end = UINT64_MAX;
}

static int setup(void **state) {
  static fixture_t fixture;

  memset(&fixture, 0, sizeof(fixture));
  *state = &fixture;
  return 0;
}

static int teardown(void **state) {
  fixture_t *fixture = *state;

  symbols_close(fixture->symbols, NULL, NULL);
  uv_run(&fixture->loop, UV_RUN_DEFAULT);
  if (fixture->account.unwinding != NULL)
    profile_unwinding_free(&fixture->unwinding);
  profile_account_free(&fixture->account);
  symbols_free(fixture->symbols);
  return uv_loop_close(&fixture->loop);
}

static uvperf_record_t new_record(fixture_t *fixture, uint32_t type,
                                  uint16_t misc) {
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = type;
  record.misc = misc;
  record.time = ++fixture->time;
  return record;
}

static void map(fixture_t *fixture, uint32_t pid, uint64_t start, uint64_t size,
                uint64_t pgoff, const char *path) {
  uvperf_record_t record =
      new_record(fixture, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
  char *text = record_text(path);

  record.mmap.pid = record.mmap.tid = pid;
  record.mmap.addr = start;
  record.mmap.len = size;
  record.mmap.pgoff = pgoff;
  record.mmap.flags = fixture->flags;
  record.mmap.ino = path[0] == '/' && path[1] != '/' ? 7 : 0;
  record.mmap.filename = text;
  record.mmap.filename_size = strlen(path);
  profile_account_record(&fixture->account, &record);
  free(text);
}

static void name(fixture_t *fixture, uint32_t pid, uint32_t tid, int is_exec,
                 const char *comm) {
  uvperf_record_t record = new_record(fixture, PERF_RECORD_COMM,
                                      is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
  char *text = record_text(comm);

  record.comm.pid = pid;
  record.comm.tid = tid;
  record.comm.comm = text;
  record.comm.comm_size = strlen(comm);
  profile_account_record(&fixture->account, &record);
  free(text);
}

static void sample(fixture_t *fixture, uint32_t pid, uint32_t tid,
                   const uint64_t *ips, size_t nr) {
  uvperf_record_t record =
      new_record(fixture, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

  record.pid = pid;
  record.tid = tid;
  record.ip = nr > 0 ? ips[nr > 1] : 0x1234;
  record.period = 10;
  record.sample.cgroup = pid + 1000;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = nr;
  profile_account_record(&fixture->account, &record);
}

/* The only stack, as "object+offset object+offset …". */
static void expect_stack(const fixture_t *fixture, const char *expected) {
  const profile_account_t *account = &fixture->account;
  const profile_frame_t *frames;
  common_entry_t **sorted;
  char text[512] = "";
  size_t i, nr, used = 0;

  sorted = common_tally_sorted(&account->stacks, &nr);
  assert_int_equal(nr, 1);
  frames = sorted[0]->items;
  for (i = 0; i < sorted[0]->nr; i++)
    used += (size_t)snprintf(
        text + used, sizeof(text) - used, "%s%s+%llx", i == 0 ? "" : " ",
        profile_objects_get(&account->objects, (uint32_t)frames[i].object)
            ->name,
        (unsigned long long)frames[i].offset);
  free(sorted);
  assert_string_equal(text, expected);
}

static void callers_are_the_byte_before_they_return_to(void **state) {
  static const uint64_t ips[] = {KERNEL,   0xffffffff81000010, USER,  0x400100,
                                 0x401200, 0x7f0000000010,     0x9999};
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  name(fixture, 5, 5, 1, "program");
  map(fixture, 5, 0x400000, 0x2000, 0x1000, "/bin/program (deleted)");
  map(fixture, 5, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(fixture, 5, 6, ips, 7);
  sample(fixture, 5, 6, ips, 7);
  expect_stack(fixture, "[kernel]+ffffffff81000010 program+1100 program+21ff "
                        "[anon]+7f000000000f [unknown]+0");
  assert_int_equal(fixture->account.samples, 2);
}

static const char *map_path(void) {
  static char path[64];

  snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned)getpid());
  return path;
}

/* Returns when the map file of this process was written, since 1970. */
static uint64_t write_map(const char *text) {
  FILE *file = fopen(map_path(), "w");
  struct stat info;

  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  assert_int_equal(stat(map_path(), &info), 0);
  return (uint64_t)info.st_mtim.tv_sec * 1000000000 +
         (uint64_t)info.st_mtim.tv_nsec;
}

/* This machine has a map file for the id of the recorded process. It names the
 * first of four places; the others are in memory of two kinds. */
static void expect_jit(fixture_t *fixture, int is_elsewhere, int is_homeless,
                       const char *expected) {
  static const uint64_t ips[][2] = {{USER, 0x7f0000000010},
                                    {USER, 0x7f0000001010},
                                    {USER, 0x7f0000001020},
                                    {USER, 0x7f0000005010}};
  uint32_t pid = (uint32_t)getpid();
  size_t i;

  write_map("7f0000000000 1000 compiled\n");
  start_by(fixture, STACKS_BY_FUNCTION);
  fixture->account.is_elsewhere = is_elsewhere;
  fixture->account.is_homeless = is_homeless;
  map(fixture, pid, 0x7f0000000000, 0x2000, 0, "//anon");
  map(fixture, pid, 0x7f0000005000, 0x1000, 0, "[anon:code]");
  for (i = 0; i < 4; i++)
    sample(fixture, pid, pid, ips[i], 2);
  account_rows_find_names(&fixture->account, &fixture->loop);
  unlink(map_path());
  account_rows_expect(&fixture->account, expected);
}

static void map_file_of_a_recorded_process_names_it(void **state) {
  expect_jit(*state, 0, 0, "[JIT],0,30;compiled,0,10;");
}

static void map_file_does_not_name_a_process_of_another_machine(void **state) {
  expect_jit(*state, 1, 0, "[JIT],0,40;");
}

static void
map_file_does_not_name_a_process_of_an_unknown_machine(void **state) {
  expect_jit(*state, 0, 1, "[JIT],0,40;");
}

static void restart_program(fixture_t *fixture, int is_exec) {
  uint32_t pid = (uint32_t)getpid();
  uvperf_record_t record;

  if (is_exec) {
    name(fixture, pid, pid, 1, "second");
    return;
  }
  record = new_record(fixture, PERF_RECORD_EXIT, 0);
  record.task.pid = record.task.tid = pid;
  profile_account_record(&fixture->account, &record);
  profile_account_reap(&fixture->account, fixture->time + 2000000000);
  record = new_record(fixture, PERF_RECORD_FORK, 0);
  record.task.pid = record.task.tid = pid;
  record.task.ppid = record.task.ptid = 1;
  record.task.time = record.time;
  profile_account_record(&fixture->account, &record);
}

/* The second program has the first one's pid, address and map file, and ends
 * too. The names of the first are asked for before or after the second has
 * written them. */
static void expect_two_programs(fixture_t *fixture, int is_exec, int is_early,
                                const char *expected) {
  static const uint64_t ips[] = {USER, 0x7f0000000010};
  uint32_t pid = (uint32_t)getpid();
  uint64_t first, second;

  start_by(fixture, STACKS_BY_FUNCTION);
  first = write_map("7f0000000000 1000 first\n");
  map(fixture, pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(fixture, pid, pid, ips, 2);
  fixture->account.epoch_ns = first - fixture->time;
  if (is_early)
    account_rows_find_names(&fixture->account, &fixture->loop);
  restart_program(fixture, is_exec);
  do
    second = write_map("7f0000000000 1000 second\n");
  while (second <= fixture->account.epoch_ns + fixture->time);
  map(fixture, pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(fixture, pid, pid, ips, 2);
  fixture->time = second - fixture->account.epoch_ns;
  restart_program(fixture, 1);
  account_rows_find_names(&fixture->account, &fixture->loop);
  unlink(map_path());
  account_rows_expect(&fixture->account, expected);
}

static void map_file_of_an_exec_does_not_name_the_program_before(void **state) {
  expect_two_programs(*state, 1, 0, "[JIT],0,10;second,0,10;");
}

static void map_file_before_an_exec_names_only_its_program(void **state) {
  expect_two_programs(*state, 1, 1, "first,0,10;second,0,10;");
}

static void map_file_does_not_name_a_process_that_had_the_pid(void **state) {
  expect_two_programs(*state, 0, 0, "[JIT],0,10;second,0,10;");
}

/* A map file is left in /tmp when its process ends. */
static void
map_file_that_is_older_than_the_program_names_nothing(void **state) {
  static const uint64_t ips[] = {USER, 0x7f0000000010};
  fixture_t *fixture = *state;
  uint32_t pid = (uint32_t)getpid();
  uint64_t started;

  start_by(fixture, STACKS_BY_FUNCTION);
  fixture->account.epoch_ns = write_map("7f0000000000 1000 old\n") + 1;
  restart_program(fixture, 1);
  started = fixture->time;
  map(fixture, pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(fixture, pid, pid, ips, 2);
  account_rows_find_names(&fixture->account, &fixture->loop);
  account_rows_expect(&fixture->account, "[JIT],0,10;");
  /* It is as old as the program, as far as that is known. */
  fixture->account.error_ns = 1 + started;
  account_rows_find_names(&fixture->account, &fixture->loop);
  unlink(map_path());
  account_rows_expect(&fixture->account, "old,0,10;");
}

/* The process has ended, so another one may have written the file. */
static void
map_file_that_is_newer_than_the_recording_names_nothing(void **state) {
  static const uint64_t ips[] = {USER, 0x7f0000000010};
  fixture_t *fixture = *state;
  uint32_t pid = (uint32_t)getpid();
  uint64_t start;

  start_by(fixture, STACKS_BY_FUNCTION);
  write_map("7f0000000000 1000 later\n");
  map(fixture, pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(fixture, pid, pid, ips, 2);
  assert_int_equal(common_proc_start((int32_t)pid, &start), 0);
  fixture->account.recorded_ns = start - 1000000000;
  account_rows_find_names(&fixture->account, &fixture->loop);
  account_rows_expect(&fixture->account, "[JIT],0,10;");
  fixture->account.recorded_ns = start + 1000000000;
  account_rows_find_names(&fixture->account, &fixture->loop);
  unlink(map_path());
  account_rows_expect(&fixture->account, "later,0,10;");
}

static void expect_read(fixture_t *fixture, uint32_t object, int is_read) {
  const profile_object_t *file =
      profile_objects_get(&fixture->account.objects, object);

  account_rows_find_names(&fixture->account, &fixture->loop);
  profile_naming_check(&fixture->account);
  account_rows_find_names(&fixture->account, &fixture->loop);
  assert_int_equal(symbols_is_read(fixture->symbols, file->symbols), is_read);
}

/* It has no build id in the recording, which shows when it was mapped. */
static void file_that_was_changed_after_its_mapping_is_not_read(void **state) {
  static const uint64_t ips[] = {USER, 0x1010};
  profile_object_t file = {.path = map_path(), .since = 100};
  profile_map_t mapping = {.start = 0x1000, .end = 0x2000};
  fixture_t *fixture = *state;
  uint64_t changed;
  struct stat info;

  start_by(fixture, STACKS_BY_FUNCTION);
  assert_int_equal(stat("/proc/self/exe", &info), 0);
  changed = (uint64_t)info.st_mtim.tv_sec * 1000000000 +
            (uint64_t)info.st_mtim.tv_nsec;
  unlink(map_path());
  assert_int_equal(symlink("/proc/self/exe", map_path()), 0);
  file.major = major(info.st_dev);
  file.minor = minor(info.st_dev);
  file.inode = info.st_ino;
  profile_account_map(&fixture->account, 5, &file, &mapping);
  sample(fixture, 5, 5, ips, 2);
  fixture->account.error_ns = 10;
  fixture->account.recorded_ns = changed + 1000;
  fixture->account.epoch_ns = changed - 110;
  expect_read(fixture, mapping.object, 1);
  fixture->account.epoch_ns = changed - 111;
  expect_read(fixture, mapping.object, 0);
  unlink(map_path());
}

static size_t find_id(void *arg, const char *path, unsigned char id[20]) {
  (void)path;
  memcpy(id, arg, 20);
  return 20;
}

/* Reads the build id of this program, as the table of a recording has it for
 * the path. */
static void read_own_id(fixture_t *fixture, uint32_t object,
                        unsigned char id[20]) {
  const profile_object_t *file =
      profile_objects_get(&fixture->account.objects, object);
  const unsigned char *found;

  account_rows_find_names(&fixture->account, &fixture->loop);
  assert_int_equal(symbols_build_id(fixture->symbols, file->symbols, &found),
                   20);
  memcpy(id, found, 20);
}

/* Both programs had the path, but the file of the second one has it now. */
static void build_id_of_a_path_names_only_the_file_that_has_it(void **state) {
  static const uint64_t ips[] = {USER, 0x1010};
  static unsigned char id[20];
  profile_object_t file = {.path = map_path()}, known;
  profile_map_t mapping = {.start = 0x1000, .end = 0x2000};
  fixture_t *fixture = *state;
  uint32_t first;
  struct stat info;

  start_by(fixture, STACKS_BY_FUNCTION);
  assert_int_equal(stat("/proc/self/exe", &info), 0);
  unlink(map_path());
  assert_int_equal(symlink("/proc/self/exe", map_path()), 0);
  known = file;
  known.major = major(info.st_dev);
  known.minor = minor(info.st_dev);
  known.inode = info.st_ino;
  profile_account_map(&fixture->account, 4, &known, &mapping);
  sample(fixture, 4, 4, ips, 2);
  read_own_id(fixture, mapping.object, id);
  fixture->account.build_id = find_id;
  fixture->account.build_id_arg = id;
  file.inode = info.st_ino + 1;
  profile_account_map(&fixture->account, 5, &file, &mapping);
  sample(fixture, 5, 5, ips, 2);
  first = mapping.object;
  expect_read(fixture, first, 0);
  known.generation = 1;
  profile_account_map(&fixture->account, 6, &known, &mapping);
  sample(fixture, 6, 6, ips, 2);
  expect_read(fixture, mapping.object, 1);
  unlink(map_path());
}

/* The child is sampled before its parent is. */
static void memory_of_a_jit_in_a_child_is_named_by_its_parent(void **state) {
  static const uint64_t ips[] = {USER, 0x7f0000000010};
  fixture_t *fixture = *state;
  uint32_t pid = (uint32_t)getpid();
  uvperf_record_t record;

  start_by(fixture, STACKS_BY_FUNCTION);
  write_map("7f0000000000 1000 compiled\n");
  map(fixture, pid, 0x7f0000000000, 0x1000, 0, "//anon");
  record = new_record(fixture, PERF_RECORD_FORK, 0);
  record.task.pid = record.task.tid = 1;
  record.task.ppid = record.task.ptid = pid;
  record.task.time = record.time;
  profile_account_record(&fixture->account, &record);
  sample(fixture, 1, 1, ips, 2);
  account_rows_find_names(&fixture->account, &fixture->loop);
  unlink(map_path());
  account_rows_expect(&fixture->account, "compiled,0,10;");
}

/* The C library that calls main has no frame pointers, so the frames beyond it
 * are unknown. */
static void stack_from_main_lacks_no_callers(void **state) {
  static const uint64_t ips[][5] = {
      {USER, 0x7f0000000010, 0x7f0000001011, 0x7f0000002011, 0x99},
      {USER, 0x7f0000000010, 0x7f0000001011, 0x99}};
  fixture_t *fixture = *state;
  uint32_t pid = (uint32_t)getpid();

  start_by(fixture, STACKS_BY_FUNCTION);
  write_map("7f0000000000 1000 hot\n7f0000001000 1000 main\n");
  map(fixture, pid, 0x7f0000000000, 0x10000, 0, "//anon");
  sample(fixture, pid, pid, ips[0], 5);
  sample(fixture, pid, pid, ips[1], 4);
  account_rows_find_names(&fixture->account, &fixture->loop);
  unlink(map_path());
  assert_true(profile_naming_without_callers(&fixture->account) == 0);
}

/* Offsets in memory of a JIT compiler are addresses. A file in /dev/shm may
 * also be a library, and a program is mapped privately. */
static void shared_memory_is_memory_of_a_jit(void **state) {
  static const uint64_t ips[] = {USER,   0x1010, 0x2011, 0x3011, 0x4011,
                                 0x5011, 0x6011, 0x7011, 0x8011, 0x9011};
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x1000, 0x1000, 0, "/dev/zero (deleted)");
  map(fixture, 5, 0x2000, 0x1000, 0, "/memfd:code (deleted)");
  map(fixture, 5, 0x3000, 0x1000, 0, "/dev/shm/code (deleted)");
  map(fixture, 5, 0x4000, 0x1000, 0, "/dev/shm/library.so");
  map(fixture, 5, 0x5000, 0x1000, 0, "/lib/old.so (deleted)");
  fixture->flags = MAP_PRIVATE;
  map(fixture, 5, 0x6000, 0x1000, 0, "/memfd:program (deleted)");
  map(fixture, 5, 0x7000, 0x1000, 0, "/dev/shm/program (deleted)");
  map(fixture, 5, 0x8000, 0x1000, 0, "//anon");
  map(fixture, 5, 0x9000, 0x1000, 0, "/anon_hugepage (deleted)");
  sample(fixture, 5, 5, ips, 10);
  expect_stack(fixture, "zero+1010 memfd:code+2010 code+3010 library.so+10 "
                        "old.so+10 memfd:program+10 program+10 [anon]+8010 "
                        "anon_hugepage+9010");
}

/* In the order of records, where the copy replaces the code, and of
 * /proc/PID/maps. Memory of another size, beside another file, or beside a
 * gap has no code of the file. */
static void code_that_was_copied_to_huge_pages_is_of_its_file(void **state) {
  static const uint64_t ips[] = {USER,    0x2010,  0x3011,  0x12011,
                                 0x13011, 0x22011, 0x32011, 0x43011};
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x1000, 0x4000, 0x500, "/bin/program");
  map(fixture, 5, 0x2000, 0x1000, 0, "//anon");
  map(fixture, 5, 0x11000, 0x1000, 0x500, "/bin/program");
  map(fixture, 5, 0x12000, 0x1000, 0, "//anon");
  map(fixture, 5, 0x13000, 0x1000, 0x2500, "/bin/program");
  map(fixture, 5, 0x21000, 0x1000, 0x500, "/bin/program");
  map(fixture, 5, 0x22000, 0x1000, 0, "//anon");
  map(fixture, 5, 0x23000, 0x1000, 0x1500, "/bin/program");
  map(fixture, 5, 0x31000, 0x1000, 0x500, "/bin/program");
  map(fixture, 5, 0x32000, 0x1000, 0, "//anon");
  map(fixture, 5, 0x33000, 0x1000, 0x2500, "/bin/other");
  map(fixture, 5, 0x41000, 0x1000, 0x500, "/bin/program");
  map(fixture, 5, 0x43000, 0x1000, 0, "//anon");
  map(fixture, 5, 0x44000, 0x1000, 0x2500, "/bin/program");
  sample(fixture, 5, 5, ips, 8);
  expect_stack(fixture, "program+1510 program+2510 program+1510 program+2510 "
                        "[anon]+22010 [anon]+32010 [anon]+43010");
}

static void code_of_the_kernel_in_a_process_is_no_jit(void **state) {
  static const uint64_t vsyscall[] = {USER, 0x1010}, uprobe[] = {USER, 0x2011};
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x1000, 0x1000, 0, "[vsyscall]");
  map(fixture, 5, 0x2000, 0x1000, 0, "[uprobes]");
  sample(fixture, 5, 5, vsyscall, 2);
  sample(fixture, 5, 5, vsyscall, 2);
  sample(fixture, 5, 5, uprobe, 2);
  account_rows_expect(&fixture->account,
                      "[vsyscall]+0x10,0,20;[uprobes]+0x11,0,10;");
}

static void mapped_data_is_no_code(void **state) {
  static const uint64_t ips[] = {USER, 0x400100, 0x401200};
  fixture_t *fixture = *state;
  uvperf_record_t record;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x400000, 0x2000, 0, "/bin/program");
  record = new_record(fixture, PERF_RECORD_MMAP2,
                      PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
  record.mmap.pid = 5;
  record.mmap.addr = 0x401000;
  record.mmap.len = 0x1000;
  record.mmap.filename = "/bin/other";
  record.mmap.filename_size = strlen(record.mmap.filename);
  profile_account_record(&fixture->account, &record);
  sample(fixture, 5, 5, ips, 3);
  expect_stack(fixture, "program+100 program+11ff");
}

/* The chain of a precise event begins at the interrupt, not at the sampled
 * address. A chain can also have only user code. */
static void sample_is_where_its_ip_is(void **state) {
  static const uint64_t ips[] = {USER, 0x400100, 0x401200};
  fixture_t *fixture = *state;
  uvperf_record_t record;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x400000, 0x2000, 0, "/bin/program");
  record = new_record(fixture, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  record.present = PERF_SAMPLE_IP;
  record.pid = record.tid = 5;
  record.ip = 0x400000;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 3;
  profile_account_record(&fixture->account, &record);
  expect_stack(fixture, "program+0 program+11ff");
  profile_account_restart(&fixture->account);
  record.misc = PERF_RECORD_MISC_KERNEL;
  record.ip = 0xffffffff81000010;
  profile_account_record(&fixture->account, &record);
  expect_stack(fixture, "[kernel]+ffffffff81000010 program+100 program+11ff");
}

static void function(fixture_t *fixture, uint64_t addr, uint32_t len,
                     uint16_t flags, const char *name_of) {
  uvperf_record_t record =
      new_record(fixture, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL);

  record.ksymbol.addr = addr;
  record.ksymbol.len = len;
  record.ksymbol.ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF;
  record.ksymbol.flags = flags;
  record.ksymbol.name = name_of;
  record.ksymbol.name_size = strlen(name_of);
  profile_account_record(&fixture->account, &record);
}

/* Two programs have the same address, one after the other. Nothing is there
 * before, in between and after; nor beyond the program's end. */
static void kernel_function_has_its_name_from_load_to_unload(void **state) {
  static const uint64_t ip[] = {KERNEL, 0xffffffffc0000810};
  static const uint64_t past[] = {KERNEL, 0xffffffffc0000840};
  const uint16_t gone = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  sample(fixture, 5, 5, ip, 2);
  function(fixture, 0xffffffffc0000800, 0x40, 0, "bpf_prog_1_first");
  sample(fixture, 5, 5, ip, 2);
  sample(fixture, 5, 5, past, 2);
  function(fixture, 0xffffffffc0000800, 0x40, gone, "bpf_prog_1_first");
  sample(fixture, 5, 5, ip, 2);
  function(fixture, 0xffffffffc0000800, 0x80, 0, "bpf_prog_2_second");
  sample(fixture, 5, 5, ip, 2);
  sample(fixture, 5, 5, past, 2);
  account_rows_expect(&fixture->account, "[kernel]+0xffffffffc0000810,0,20;"
                                         "bpf_prog_2_second,0,20;"
                                         "[kernel]+0xffffffffc0000840,0,10;"
                                         "bpf_prog_1_first,0,10;");
}

/* A module of 2 pages; a program is loaded into its second page later. The
 * third page belongs to nothing that is known. */
static void module_of_a_recording_keeps_its_offsets(void **state) {
  static const uint64_t ips[] = {KERNEL, 0xffffffffc0000010, 0xffffffffc0001f01,
                                 0xffffffffc0002001};
  fixture_t *fixture = *state;
  uvperf_record_t record;

  start_by(fixture, STACKS_BY_FUNCTION);
  fixture->account.kernel_start = 0xffffffff81000000;
  fixture->account.kernel_end = 0xffffffff82000000;
  record = new_record(fixture, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
  record.mmap.pid = UINT32_MAX;
  record.mmap.addr = 0xffffffffc0000000;
  record.mmap.len = 0x2000;
  record.mmap.filename = "[xfs]";
  record.mmap.filename_size = 5;
  profile_account_record(&fixture->account, &record);
  function(fixture, 0xffffffffc0001000, 0x40, 0, "bpf_prog_1");
  sample(fixture, 5, 5, ips, 4);
  expect_stack(fixture, "[xfs]+10 [xfs]+1f00 [kernel]+ffffffffc0002000");
}

static void sample_without_a_call_chain_is_its_address(void **state) {
  static const uint64_t ips[] = {USER};
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x1000, 0x1000, 0, "[vdso]");
  sample(fixture, 5, 5, ips, 0);
  expect_stack(fixture, "[vdso]+234");
}

/* A recording of --call-graph lbr, of code without frame pointers: the chain's
 * only caller is wrong, and the branches have the callers. */
static void callers_are_the_branches_of_a_call_stack(void **state) {
  static const uint64_t ips[] = {KERNEL, 0xffffffff81000010, USER, 0x400108,
                                 0x400666};
  const struct perf_branch_entry branches[] = {
      {.from = 0x400209, .to = 0x400100}, {.from = 0x400309, .to = 0x400200}};
  struct perf_event_attr attr = {.branch_sample_type =
                                     PERF_SAMPLE_BRANCH_USER |
                                     PERF_SAMPLE_BRANCH_CALL_STACK};
  uvperf_source_t source = {.attr = &attr};
  fixture_t *fixture = *state;
  uvperf_record_t record;

  start_by(fixture, STACKS_BY_FUNCTION);
  name(fixture, 5, 5, 1, "program");
  map(fixture, 5, 0x400000, 0x1000, 0, "/bin/program");
  record = new_record(fixture, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
  record.present = PERF_SAMPLE_BRANCH_STACK;
  record.pid = record.tid = 5;
  record.source = &source;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 5;
  record.sample.branch.entries = branches;
  record.sample.branch.nr = 2;
  profile_account_record(&fixture->account, &record);
  expect_stack(fixture, "[kernel]+ffffffff81000010 program+108 program+209 "
                        "program+309");
}

/* The number of an inode is used again. /proc does not have its generation. */
static void file_that_has_a_used_inode_is_another_object(void **state) {
  fixture_t *fixture = *state;
  profile_object_t file = {.path = "/bin/program", .inode = 7};
  uint32_t first, second;

  start_by(fixture, STACKS_BY_FUNCTION);
  first = profile_objects_add(&fixture->account.objects, &file);
  file.generation = 1;
  assert_int_equal(profile_objects_add(&fixture->account.objects, &file),
                   first);
  file.generation = 2;
  second = profile_objects_add(&fixture->account.objects, &file);
  assert_int_not_equal(second, first);
  assert_int_equal(profile_objects_add(&fixture->account.objects, &file),
                   second);
  file.generation = 1;
  assert_int_equal(profile_objects_add(&fixture->account.objects, &file),
                   first);
}

static void file_in_two_processes_is_one_object(void **state) {
  static const uint64_t first[] = {USER, 0x1100}, second[] = {USER, 0x5100};
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x1000, 0x1000, 0, "/lib/one.so");
  map(fixture, 6, 0x5000, 0x1000, 0, "/lib/one.so");
  name(fixture, 5, 5, 0, "same");
  name(fixture, 6, 6, 0, "same");
  sample(fixture, 5, 5, first, 2);
  sample(fixture, 6, 6, second, 2);
  expect_stack(fixture, "one.so+100");
}

/* The paths need more than 128 MiB. */
static void file_of_a_process_that_maps_too_many_is_unknown(void **state) {
  static const uint64_t ips[] = {USER, 0x1100};
  fixture_t *fixture = *state;
  char path[4000];
  int i;

  start_by(fixture, STACKS_BY_FUNCTION);
  for (i = 0; i < 36000; i++) {
    snprintf(path, sizeof(path), "/%03900d", i);
    map(fixture, 5, 0x1000, 0x1000, 0, path);
  }
  assert_true(fixture->account.objects.nr < 36000);
  sample(fixture, 5, 5, ips, 2);
  expect_stack(fixture, "[unknown]+0");
}

static void mapping_that_does_not_fit_hides_what_was_there(void **state) {
  static const uint64_t ips[] = {USER, 0x1100};
  fixture_t *fixture = *state;
  uint64_t i;

  start_by(fixture, STACKS_BY_FUNCTION);
  for (i = 0; i < 65536; i++)
    map(fixture, 5, 0x1000 + i * 0x2000, 0x1000, 0, "/bin/old");
  map(fixture, 5, 0x1080, 0x100, 0, "/bin/new");
  sample(fixture, 5, 5, ips, 2);
  expect_stack(fixture, "[unknown]+0");
}

static void
fork_by_an_unknown_task_has_nothing_of_the_one_before(void **state) {
  static const uint64_t ips[] = {USER, 0x1100};
  fixture_t *fixture = *state;
  uvperf_record_t record;

  start_by(fixture, STACKS_BY_PROCESS);
  name(fixture, 5, 5, 1, "before");
  map(fixture, 5, 0x1000, 0x1000, 0, "/bin/before");
  record = new_record(fixture, PERF_RECORD_FORK, 0);
  record.task.pid = record.task.tid = 5;
  record.task.ppid = record.task.ptid = 77;
  record.task.time = record.time;
  profile_account_record(&fixture->account, &record);
  sample(fixture, 5, 5, ips, 2);
  expect_stack(fixture, "[unknown]+0");
  account_rows_expect(&fixture->account, ":5,5,10;");
}

static void memory_of_two_jits_is_two_objects(void **state) {
  static const uint64_t ips[] = {USER, 0x1100};
  fixture_t *fixture = *state;

  start_by(fixture, STACKS_BY_FUNCTION);
  map(fixture, 5, 0x1000, 0x1000, 0, "//anon");
  map(fixture, 6, 0x1000, 0x1000, 0, "//anon");
  sample(fixture, 5, 5, ips, 2);
  sample(fixture, 6, 6, ips, 2);
  assert_int_equal(fixture->account.stacks.nr, 2);
}

static profile_account_t *run_two_processes(fixture_t *fixture,
                                            stacks_by_t by) {
  static const uint64_t ips[] = {USER, 0x1100};

  start_by(fixture, by);
  name(fixture, 5, 5, 1, "server");
  name(fixture, 5, 6, 0, "worker");
  name(fixture, 7, 7, 1, "client");
  map(fixture, 5, 0x1000, 0x1000, 0x3000, "/bin/server");
  sample(fixture, 5, 6, ips, 2);
  sample(fixture, 5, 6, ips, 2);
  sample(fixture, 5, 5, ips, 2);
  sample(fixture, 7, 7, ips, 2);
  profile_account_cgroup(&fixture->account, 1005, "/services");
  profile_account_cgroup(&fixture->account, 1005, "/old");
  profile_account_cgroup(&fixture->account, 1005, "/services");
  return &fixture->account;
}

static void functions_without_a_name_are_offsets(void **state) {
  account_rows_expect(run_two_processes(*state, STACKS_BY_FUNCTION),
                      "server+0x3100,0,30;[unknown],0,10;");
}

static void threads_are_distinguished_by_tid(void **state) {
  account_rows_expect(run_two_processes(*state, STACKS_BY_THREAD),
                      "worker,6,20;client,7,10;server,5,10;");
}

static void processes_are_distinguished_by_pid(void **state) {
  account_rows_expect(run_two_processes(*state, STACKS_BY_PROCESS),
                      "server,5,30;client,7,10;");
}

static void cgroups_are_named_by_their_newest_path(void **state) {
  account_rows_expect(run_two_processes(*state, STACKS_BY_CGROUP),
                      "/services,0,30;,0,10;");
}

/* Adds cgroups up to this number. Returns the CPU time that naming all of them
 * takes. */
static double name_cgroups(fixture_t *fixture, uint32_t first, uint32_t last) {
  static const uint64_t ips[] = {USER, 0x1100};
  stacks_t stacks;
  clock_t before;
  char path[32];
  uint32_t i;

  for (i = first; i <= last; i++) {
    snprintf(path, sizeof(path), "/%u", i);
    profile_account_cgroup(&fixture->account, i + 1000, path);
    sample(fixture, i, i, ips, 2);
  }
  stacks_init(&stacks);
  before = clock();
  profile_naming_build(&fixture->account, &stacks);
  before = clock() - before;
  assert_int_equal(stacks.samples, last);
  stacks_free(&stacks);
  return (double)before;
}

/* A recorded file of a few MiB can have this many. Ten times as many take about
 * ten times as long, not a hundred times. */
static void many_cgroups_are_named_soon(void **state) {
  double few;

  start_by(*state, STACKS_BY_CGROUP);
  few = name_cgroups(*state, 1, 5000);
  assert_true(name_cgroups(*state, 5001, 50000) < 40 * (few + 1000));
}

/* -- stacks that are unwound in the background ----------------------------- */

static void on_unwound(void *arg) {
  *(int *)arg = 1;
}

/* Returns a sample of an unknown thread, with a copy of an empty stack. */
static uvperf_record_t copied_sample(fixture_t *fixture, uint16_t misc) {
  static const uint64_t regs[64] = {0};
  uvperf_record_t record = new_record(fixture, PERF_RECORD_SAMPLE, misc);

  assert_int_equal(
      profile_unwinding_init(&fixture->unwinding, &fixture->account, NULL), 0);
  record.pid = 5;
  record.tid = 6;
  record.period = 10;
  record.present = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
  record.sample.regs_user.abi = PERF_SAMPLE_REGS_ABI_64;
  record.sample.regs_user.mask = unwind_regs_mask(unwind_machine(NULL));
  record.sample.regs_user.nr = 64;
  record.sample.regs_user.regs = regs;
  return record;
}

/* Adds a sample, and calls `happens` while the sample is unwound. */
static void unwind_while(fixture_t *fixture, void (*happens)(fixture_t *)) {
  profile_unwinding_t *unwinding = &fixture->unwinding;
  uvperf_record_t record = copied_sample(fixture, PERF_RECORD_MISC_USER);
  int is_unwound = 0;

  profile_account_record(&fixture->account, &record);
  happens(fixture);
  profile_unwinding_flush(unwinding);
  profile_unwinding_wait(unwinding, on_unwound, &is_unwound);
  while (!is_unwound)
    uv_run(&fixture->loop, UV_RUN_ONCE);
}

static void restart(fixture_t *fixture) {
  assert_int_equal(fixture->account.samples, 0);
  profile_account_restart(&fixture->account);
}

static void restart_gives_up_stacks_that_are_unwound(void **state) {
  fixture_t *fixture = *state;

  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "needs x86-64 or aarch64");
  start_by(fixture, STACKS_BY_THREAD);
  unwind_while(fixture, restart);
  assert_int_equal(fixture->account.samples, 0);
}

/* Fades until the first task is forgotten and another one has its index. */
static void fade_all(fixture_t *fixture) {
  size_t i;

  assert_int_equal(fixture->account.whos.nr, 2);
  for (i = 0; i < 40; i++)
    profile_fade(&fixture->account);
  assert_int_equal(fixture->account.whos.nr, 0);
}

static void unwound_stack_is_of_its_task_after_others_have_faded(void **state) {
  fixture_t *fixture = *state;

  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "needs x86-64 or aarch64");
  start_by(fixture, STACKS_BY_THREAD);
  fixture->account.unit = PROFILE_FADE_UNIT;
  sample(fixture, 1, 1, NULL, 0);
  unwind_while(fixture, fade_all);
  assert_int_equal(fixture->account.whos.nr, 1);
  assert_int_equal(profile_account_get_who(&fixture->account, 0)->tid, 6);
  assert_int_equal(fixture->account.stacks.nr, 1);
}

/* The copy of the stack is larger than the queue. */
static void sample_that_is_not_unwound_has_its_user_frame(void **state) {
  const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0x10};
  const profile_frame_t frames[] = {{PROFILE_OBJECT_KERNEL, 0x10},
                                    {PROFILE_OBJECT_UNKNOWN, 0}};
  fixture_t *fixture = *state;
  const common_entry_t *entry;
  uvperf_record_t record;

  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "needs x86-64 or aarch64");
  start_by(fixture, STACKS_BY_FUNCTION);
  record = copied_sample(fixture, PERF_RECORD_MISC_KERNEL);
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 2;
  record.sample.stack_user.dyn_size = (size_t)1 << 30;
  profile_account_record(&fixture->account, &record);
  entry = common_tally_find(&fixture->account.stacks, 0, frames, 2);
  assert_non_null(entry);
  assert_int_equal(entry->weight, 10);
  assert_int_equal(unwind_queue_stats(fixture->unwinding.queue)->full, 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
      TEST(callers_are_the_byte_before_they_return_to),
      TEST(map_file_of_a_recorded_process_names_it),
      TEST(map_file_does_not_name_a_process_of_another_machine),
      TEST(code_of_the_kernel_in_a_process_is_no_jit),
      TEST(mapped_data_is_no_code),
      TEST(sample_is_where_its_ip_is),
      TEST(kernel_function_has_its_name_from_load_to_unload),
      TEST(module_of_a_recording_keeps_its_offsets),
      TEST(sample_without_a_call_chain_is_its_address),
      TEST(callers_are_the_branches_of_a_call_stack),
      TEST(file_that_has_a_used_inode_is_another_object),
      TEST(file_in_two_processes_is_one_object),
      TEST(file_of_a_process_that_maps_too_many_is_unknown),
      TEST(mapping_that_does_not_fit_hides_what_was_there),
      TEST(fork_by_an_unknown_task_has_nothing_of_the_one_before),
      TEST(memory_of_two_jits_is_two_objects),
      TEST(map_file_does_not_name_a_process_of_an_unknown_machine),
      TEST(map_file_of_an_exec_does_not_name_the_program_before),
      TEST(map_file_before_an_exec_names_only_its_program),
      TEST(map_file_does_not_name_a_process_that_had_the_pid),
      TEST(map_file_that_is_older_than_the_program_names_nothing),
      TEST(map_file_that_is_newer_than_the_recording_names_nothing),
      TEST(file_that_was_changed_after_its_mapping_is_not_read),
      TEST(build_id_of_a_path_names_only_the_file_that_has_it),
      TEST(memory_of_a_jit_in_a_child_is_named_by_its_parent),
      TEST(stack_from_main_lacks_no_callers),
      TEST(shared_memory_is_memory_of_a_jit),
      TEST(code_that_was_copied_to_huge_pages_is_of_its_file),
      TEST(functions_without_a_name_are_offsets),
      TEST(threads_are_distinguished_by_tid),
      TEST(processes_are_distinguished_by_pid),
      TEST(cgroups_are_named_by_their_newest_path),
      TEST(many_cgroups_are_named_soon),
      TEST(restart_gives_up_stacks_that_are_unwound),
      TEST(unwound_stack_is_of_its_task_after_others_have_faded),
      TEST(sample_that_is_not_unwound_has_its_user_frame),
#undef TEST
  };

  symbols_main(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
