/* SPDX-License-Identifier: MIT */
/* Records of a made-up process become stacks. Checks the place of each frame,
 * and which tasks are counted separately. */
#include "support.h"

#include <inttypes.h>
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

static fixture_t fx;

static void start_by(stacks_by_t by) {
  symbols_options_t options = {.kallsyms = ""};

  assert_int_equal(uv_loop_init(&fx.loop), 0);
  fx.symbols = symbols_new(&fx.loop, &options);
  profile_account_init(&fx.account, by, fx.symbols);
  fx.account.is_recorded = 1;
  fx.account.kernel_end = UINT64_MAX;
}

static int setup(void **state) {
  memset(&fx, 0, sizeof(fx));
  return 0;
}

static int teardown(void **state) {
  if (fx.symbols == NULL)
    return 0; /* the test skipped */
  symbols_close(fx.symbols, NULL, NULL);
  uv_run(&fx.loop, UV_RUN_DEFAULT);
  if (fx.account.unwinding != NULL)
    profile_unwinding_free(&fx.unwinding);
  profile_account_free(&fx.account);
  symbols_free(fx.symbols);
  return uv_loop_close(&fx.loop);
}

static uvperf_record_t new_record(uint32_t type, uint16_t misc) {
  uvperf_record_t record;

  memset(&record, 0, sizeof(record));
  record.type = type;
  record.misc = misc;
  record.time = ++fx.time;
  return record;
}

static void map(uint32_t pid, uint64_t start, uint64_t size, uint64_t pgoff,
                const char *path) {
  uvperf_record_t record = new_record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
  char *text = record_text(path);

  record.mmap.pid = record.mmap.tid = pid;
  record.mmap.addr = start;
  record.mmap.len = size;
  record.mmap.pgoff = pgoff;
  record.mmap.flags = fx.flags;
  record.mmap.ino = path[0] == '/' && path[1] != '/' ? 7 : 0;
  record.mmap.filename = text;
  record.mmap.filename_size = strlen(path);
  profile_account_record(&fx.account, &record);
  free(text);
}

static void name(uint32_t pid, uint32_t tid, int is_exec, const char *comm) {
  uvperf_record_t record =
      new_record(PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
  char *text = record_text(comm);

  record.comm.pid = pid;
  record.comm.tid = tid;
  record.comm.comm = text;
  record.comm.comm_size = strlen(comm);
  profile_account_record(&fx.account, &record);
  free(text);
}

static void sample(uint32_t pid, uint32_t tid, const uint64_t *ips, size_t nr) {
  uvperf_record_t record =
      new_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

  record.pid = pid;
  record.tid = tid;
  record.ip = nr > 0 ? ips[nr > 1] : 0x1234;
  record.period = 10;
  record.sample.cgroup = pid + 1000;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = nr;
  profile_account_record(&fx.account, &record);
}

/* The only stack, as "object+offset object+offset …". */
static void expect_stack(const char *expected) {
  const profile_account_t *account = &fx.account;
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

static void put_task(uint32_t type, uint32_t pid, uint32_t parent) {
  uvperf_record_t record = new_record(type, 0);

  record.task.pid = record.task.tid = pid;
  record.task.ppid = record.task.ptid = parent;
  record.task.time = record.time;
  profile_account_record(&fx.account, &record);
}

static void put_function(const char *words) {
  uvperf_record_t record =
      new_record(PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL);
  char flag, text[64];
  int rc = sscanf(words, "%" SCNx64 "+%x %c %63s", &record.ksymbol.addr,
                  &record.ksymbol.len, &flag, text);

  assert_int_equal(rc, 4);
  record.ksymbol.ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF;
  record.ksymbol.flags = flag == '-' ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0;
  record.ksymbol.name = text;
  record.ksymbol.name_size = strlen(text);
  profile_account_record(&fx.account, &record);
}

/* Adds a mapping of data, or of a module of the kernel. */
static void put_other_map(uint32_t pid, uint16_t misc, const char *words) {
  uvperf_record_t record = new_record(
      misc & PERF_RECORD_MISC_MMAP_DATA ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP,
      misc);
  char path[64];
  int rc = sscanf(words, "%" SCNx64 "+%" SCNx64 " %63s", &record.mmap.addr,
                  &record.mmap.len, path);

  assert_int_equal(rc, 3);
  record.mmap.pid = pid;
  record.mmap.filename = path;
  record.mmap.filename_size = strlen(path);
  profile_account_record(&fx.account, &record);
}

static void put_map(uint32_t pid, const char *words) {
  uint64_t start, size, offset;
  char path[64];
  int rc = sscanf(words, "%" SCNx64 "+%" SCNx64 " %" SCNx64 " %63[^\n]", &start,
                  &size, &offset, path);

  assert_int_equal(rc, 4);
  map(pid, start, size, offset, path);
}

/* Adds a sample of a thread; k and u begin the kernel's and the user's part. */
static void put_sample(uint32_t pid, const char *words) {
  uint64_t ips[16];
  unsigned long tid;
  char *end;
  size_t nr = 0;

  tid = strtoul(words, &end, 10);
  if (tid == 0)
    tid = pid;
  for (; *(end += strspn(end, " ")) != '\0'; nr++) {
    assert_true(nr < 16);
    ips[nr] = *end == 'k'   ? KERNEL
              : *end == 'u' ? USER
                            : strtoull(end, &end, 16);
    end += *end == 'k' || *end == 'u';
  }
  sample(pid, (uint32_t)tid, ips, nr);
}

static uint32_t parent_of(const char *text) {
  uint32_t pid = (uint32_t)strtoul(text, NULL, 10);

  return pid == 0 ? (uint32_t)getpid() : pid;
}

/* Runs lines like "map 5 400000+2000 1000 /bin/program": what, the process (0:
 * this one), and the rest, with addresses and sizes in hexadecimal digits:
 * exec PID NAME, comm PID TID NAME, map PID START+SIZE OFFSET PATH,
 * data and module PID START+SIZE PATH, function 0 START+SIZE +/- NAME,
 * sample PID TID IPS, fork PID PARENT, cgroup ID PATH. */
static void run_steps(const char *steps) {
  char line[128], what[16], *rest;
  unsigned id;
  int size, at;

  for (; sscanf(steps, "%127[^\n]%n", line, &size) == 1; steps += size) {
    size += steps[size] == '\n';
    assert_int_equal(sscanf(line, "%15s %u %n", what, &id, &at), 2);
    rest = line + at;
    if (id == 0)
      id = (uint32_t)getpid();
    if (strcmp(what, "exec") == 0)
      name(id, id, 1, rest);
    else if (strcmp(what, "comm") == 0)
      name(id, (uint32_t)strtoul(rest, NULL, 10), 0, strchr(rest, ' ') + 1);
    else if (strcmp(what, "map") == 0)
      put_map(id, rest);
    else if (strcmp(what, "data") == 0)
      put_other_map(id, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
                    rest);
    else if (strcmp(what, "module") == 0)
      put_other_map(UINT32_MAX, PERF_RECORD_MISC_KERNEL, rest);
    else if (strcmp(what, "function") == 0)
      put_function(rest);
    else if (strcmp(what, "sample") == 0)
      put_sample(id, rest);
    else if (strcmp(what, "fork") == 0)
      put_task(PERF_RECORD_FORK, id, parent_of(rest));
    else if (strcmp(what, "cgroup") == 0)
      profile_account_cgroup(&fx.account, id, rest);
    else
      fail_msg("%s", line);
  }
}

static void restart_program(int is_exec) {
  uint32_t pid = (uint32_t)getpid();

  if (is_exec) {
    name(pid, pid, 1, "second");
    return;
  }
  put_task(PERF_RECORD_EXIT, pid, 0);
  profile_account_reap(&fx.account, fx.time + 2000000000);
  put_task(PERF_RECORD_FORK, pid, 1);
}

/* The second program has the first one's pid, address and map file, and ends
 * too. The names of the first are asked for before or after the second has
 * written them. */
static void expect_two_programs(int is_exec, int is_early,
                                const char *expected) {
  static const uint64_t ips[] = {USER, 0x7f0000000010};
  uint32_t pid = (uint32_t)getpid();
  uint64_t first, second;

  start_by(STACKS_BY_FUNCTION);
  first = write_map("7f0000000000 1000 first\n");
  map(pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(pid, pid, ips, 2);
  fx.account.epoch_ns = first - fx.time;
  if (is_early)
    account_rows_find_names(&fx.account, &fx.loop);
  restart_program(is_exec);
  do
    second = write_map("7f0000000000 1000 second\n");
  while (second <= fx.account.epoch_ns + fx.time);
  map(pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(pid, pid, ips, 2);
  fx.time = second - fx.account.epoch_ns;
  restart_program(1);
  account_rows_find_names(&fx.account, &fx.loop);
  unlink(map_path());
  account_rows_expect(&fx.account, expected);
}

static void map_file_of_an_exec_does_not_name_the_program_before(void **state) {
  expect_two_programs(1, 0, "[JIT],0,10;second,0,10;");
}

static void map_file_before_an_exec_names_only_its_program(void **state) {
  expect_two_programs(1, 1, "first,0,10;second,0,10;");
}

static void map_file_does_not_name_a_process_that_had_the_pid(void **state) {
  expect_two_programs(0, 0, "[JIT],0,10;second,0,10;");
}

/* A map file is left in /tmp when its process ends. */
static void
map_file_that_is_older_than_the_program_names_nothing(void **state) {
  static const uint64_t ips[] = {USER, 0x7f0000000010};
  uint32_t pid = (uint32_t)getpid();
  uint64_t started;

  start_by(STACKS_BY_FUNCTION);
  fx.account.epoch_ns = write_map("7f0000000000 1000 old\n") + 1;
  restart_program(1);
  started = fx.time;
  map(pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(pid, pid, ips, 2);
  account_rows_find_names(&fx.account, &fx.loop);
  account_rows_expect(&fx.account, "[JIT],0,10;");
  /* It is as old as the program, as far as that is known. */
  fx.account.error_ns = 1 + started;
  account_rows_find_names(&fx.account, &fx.loop);
  unlink(map_path());
  account_rows_expect(&fx.account, "old,0,10;");
}

/* The process has ended, so another one may have written the file. */
static void
map_file_that_is_newer_than_the_recording_names_nothing(void **state) {
  static const uint64_t ips[] = {USER, 0x7f0000000010};
  uint32_t pid = (uint32_t)getpid();
  uint64_t start;

  start_by(STACKS_BY_FUNCTION);
  write_map("7f0000000000 1000 later\n");
  map(pid, 0x7f0000000000, 0x1000, 0, "//anon");
  sample(pid, pid, ips, 2);
  assert_int_equal(common_proc_start((int32_t)pid, &start), 0);
  fx.account.recorded_ns = start - 1000000000;
  account_rows_find_names(&fx.account, &fx.loop);
  account_rows_expect(&fx.account, "[JIT],0,10;");
  fx.account.recorded_ns = start + 1000000000;
  account_rows_find_names(&fx.account, &fx.loop);
  unlink(map_path());
  account_rows_expect(&fx.account, "later,0,10;");
}

static void expect_read(uint32_t object, int is_read) {
  const profile_object_t *file =
      profile_objects_get(&fx.account.objects, object);

  account_rows_find_names(&fx.account, &fx.loop);
  profile_naming_check(&fx.account);
  account_rows_find_names(&fx.account, &fx.loop);
  assert_int_equal(symbols_is_read(fx.symbols, file->symbols), is_read);
}

/* It has no build id in the recording, which shows when it was mapped. */
static void file_that_was_changed_after_its_mapping_is_not_read(void **state) {
  static const uint64_t ips[] = {USER, 0x1010};
  profile_object_t file = {.path = map_path(), .since = 100};
  profile_map_t mapping = {.start = 0x1000, .end = 0x2000};
  uint64_t changed;
  struct stat info;

  start_by(STACKS_BY_FUNCTION);
  assert_int_equal(stat("/proc/self/exe", &info), 0);
  changed = (uint64_t)info.st_mtim.tv_sec * 1000000000 +
            (uint64_t)info.st_mtim.tv_nsec;
  unlink(map_path());
  assert_int_equal(symlink("/proc/self/exe", map_path()), 0);
  file.major = major(info.st_dev);
  file.minor = minor(info.st_dev);
  file.inode = info.st_ino;
  profile_account_map(&fx.account, 5, &file, &mapping);
  sample(5, 5, ips, 2);
  fx.account.error_ns = 10;
  fx.account.recorded_ns = changed + 1000;
  fx.account.epoch_ns = changed - 110;
  expect_read(mapping.object, 1);
  fx.account.epoch_ns = changed - 111;
  expect_read(mapping.object, 0);
  unlink(map_path());
}

static size_t find_id(void *arg, const char *path, unsigned char id[20]) {
  memcpy(id, arg, 20);
  return 20;
}

/* Reads the build id of this program, as the table of a recording has it for
 * the path. */
static void read_own_id(uint32_t object, unsigned char id[20]) {
  const profile_object_t *file =
      profile_objects_get(&fx.account.objects, object);
  const unsigned char *found;

  account_rows_find_names(&fx.account, &fx.loop);
  assert_int_equal(symbols_build_id(fx.symbols, file->symbols, &found), 20);
  memcpy(id, found, 20);
}

/* Both programs had the path, but the file of the second one has it now. */
static void build_id_of_a_path_names_only_the_file_that_has_it(void **state) {
  static const uint64_t ips[] = {USER, 0x1010};
  static unsigned char id[20];
  profile_object_t file = {.path = map_path()}, known;
  profile_map_t mapping = {.start = 0x1000, .end = 0x2000};
  uint32_t first;
  struct stat info;

  start_by(STACKS_BY_FUNCTION);
  assert_int_equal(stat("/proc/self/exe", &info), 0);
  unlink(map_path());
  assert_int_equal(symlink("/proc/self/exe", map_path()), 0);
  known = file;
  known.major = major(info.st_dev);
  known.minor = minor(info.st_dev);
  known.inode = info.st_ino;
  profile_account_map(&fx.account, 4, &known, &mapping);
  sample(4, 4, ips, 2);
  read_own_id(mapping.object, id);
  fx.account.build_id = find_id;
  fx.account.build_id_arg = id;
  file.inode = info.st_ino + 1;
  profile_account_map(&fx.account, 5, &file, &mapping);
  sample(5, 5, ips, 2);
  first = mapping.object;
  expect_read(first, 0);
  known.generation = 1;
  profile_account_map(&fx.account, 6, &known, &mapping);
  sample(6, 6, ips, 2);
  expect_read(mapping.object, 1);
  unlink(map_path());
}

/* The C library that calls main has no frame pointers, so the frames beyond it
 * are unknown. */
static void stack_from_main_lacks_no_callers(void **state) {
  static const uint64_t ips[][5] = {
      {USER, 0x7f0000000010, 0x7f0000001011, 0x7f0000002011, 0x99},
      {USER, 0x7f0000000010, 0x7f0000001011, 0x99}};
  uint32_t pid = (uint32_t)getpid();

  start_by(STACKS_BY_FUNCTION);
  write_map("7f0000000000 1000 hot\n7f0000001000 1000 main\n");
  map(pid, 0x7f0000000000, 0x10000, 0, "//anon");
  sample(pid, pid, ips[0], 5);
  sample(pid, pid, ips[1], 4);
  account_rows_find_names(&fx.account, &fx.loop);
  unlink(map_path());
  assert_true(profile_naming_without_callers(&fx.account) == 0);
}

/* The chain of a precise event begins at the interrupt, not at the sampled
 * address. A chain can also have only user code. */
static void sample_is_where_its_ip_is(void **state) {
  static const uint64_t ips[] = {USER, 0x400100, 0x401200};
  uvperf_record_t record;

  start_by(STACKS_BY_FUNCTION);
  map(5, 0x400000, 0x2000, 0, "/bin/program");
  record = new_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  record.present = PERF_SAMPLE_IP;
  record.pid = record.tid = 5;
  record.ip = 0x400000;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 3;
  profile_account_record(&fx.account, &record);
  expect_stack("program+0 program+11ff");
  profile_account_restart(&fx.account);
  record.misc = PERF_RECORD_MISC_KERNEL;
  record.ip = 0xffffffff81000010;
  profile_account_record(&fx.account, &record);
  expect_stack("[kernel]+ffffffff81000010 program+100 program+11ff");
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
  uvperf_record_t record;

  start_by(STACKS_BY_FUNCTION);
  name(5, 5, 1, "program");
  map(5, 0x400000, 0x1000, 0, "/bin/program");
  record = new_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
  record.present = PERF_SAMPLE_BRANCH_STACK;
  record.pid = record.tid = 5;
  record.source = &source;
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 5;
  record.sample.branch.entries = branches;
  record.sample.branch.nr = 2;
  profile_account_record(&fx.account, &record);
  expect_stack("[kernel]+ffffffff81000010 program+108 program+209 "
               "program+309");
}

/* The number of an inode is used again. /proc does not have its generation. */
static void file_that_has_a_used_inode_is_another_object(void **state) {
  profile_object_t file = {.path = "/bin/program", .inode = 7};
  uint32_t first, second;

  start_by(STACKS_BY_FUNCTION);
  first = profile_objects_add(&fx.account.objects, &file);
  file.generation = 1;
  assert_int_equal(profile_objects_add(&fx.account.objects, &file), first);
  file.generation = 2;
  second = profile_objects_add(&fx.account.objects, &file);
  assert_int_not_equal(second, first);
  assert_int_equal(profile_objects_add(&fx.account.objects, &file), second);
  file.generation = 1;
  assert_int_equal(profile_objects_add(&fx.account.objects, &file), first);
}

/* The paths need more than 128 MiB. */
static void file_of_a_process_that_maps_too_many_is_unknown(void **state) {
  static const uint64_t ips[] = {USER, 0x1100};
  char path[4000];
  int i;

  start_by(STACKS_BY_FUNCTION);
  for (i = 0; i < 36000; i++) {
    snprintf(path, sizeof(path), "/%03900d", i);
    map(5, 0x1000, 0x1000, 0, path);
  }
  assert_true(fx.account.objects.nr < 36000);
  sample(5, 5, ips, 2);
  expect_stack("[unknown]+0");
}

static void mapping_that_does_not_fit_hides_what_was_there(void **state) {
  static const uint64_t ips[] = {USER, 0x1100};
  uint64_t i;

  start_by(STACKS_BY_FUNCTION);
  for (i = 0; i < 65536; i++)
    map(5, 0x1000 + i * 0x2000, 0x1000, 0, "/bin/old");
  map(5, 0x1080, 0x100, 0, "/bin/new");
  sample(5, 5, ips, 2);
  expect_stack("[unknown]+0");
}

/* Adds cgroups up to this number. Returns the CPU time that naming all of them
 * takes. */
static double name_cgroups(uint32_t first, uint32_t last) {
  static const uint64_t ips[] = {USER, 0x1100};
  stacks_t stacks;
  clock_t before;
  char path[32];
  uint32_t i;

  for (i = first; i <= last; i++) {
    snprintf(path, sizeof(path), "/%u", i);
    profile_account_cgroup(&fx.account, i + 1000, path);
    sample(i, i, ips, 2);
  }
  stacks_init(&stacks);
  before = clock();
  profile_naming_build(&fx.account, &stacks);
  before = clock() - before;
  assert_int_equal(stacks.samples, last);
  stacks_free(&stacks);
  return (double)before;
}

/* A recorded file of a few MiB can have this many. Ten times as many take about
 * ten times as long, not a hundred times. */
static void many_cgroups_are_named_soon(void **state) {
  double few;

  start_by(STACKS_BY_CGROUP);
  few = name_cgroups(1, 5000);
  assert_true(name_cgroups(5001, 50000) < 40 * (few + 1000));
}

/* -- stacks that are unwound in the background ----------------------------- */

static void on_unwound(void *arg) {
  *(int *)arg = 1;
}

/* Returns a sample of an unknown thread, with a copy of an empty stack. */
static uvperf_record_t copied_sample(uint16_t misc) {
  static const uint64_t regs[64] = {0};
  uvperf_record_t record = new_record(PERF_RECORD_SAMPLE, misc);

  assert_int_equal(profile_unwinding_init(&fx.unwinding, &fx.account, NULL), 0);
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
static void unwind_while(void (*happens)(void)) {
  profile_unwinding_t *unwinding = &fx.unwinding;
  uvperf_record_t record = copied_sample(PERF_RECORD_MISC_USER);
  int is_unwound = 0;

  profile_account_record(&fx.account, &record);
  happens();
  profile_unwinding_flush(unwinding);
  profile_unwinding_wait(unwinding, on_unwound, &is_unwound);
  while (!is_unwound)
    uv_run(&fx.loop, UV_RUN_ONCE);
}

static void restart(void) {
  assert_int_equal(fx.account.samples, 0);
  profile_account_restart(&fx.account);
}

static void restart_gives_up_stacks_that_are_unwound(void **state) {
  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "x86-64 or aarch64");
  start_by(STACKS_BY_THREAD);
  unwind_while(restart);
  assert_int_equal(fx.account.samples, 0);
}

/* Fades until the first task is forgotten and another one has its index. */
static void fade_all(void) {
  size_t i;

  assert_int_equal(fx.account.whos.nr, 2);
  for (i = 0; i < 40; i++)
    profile_fade(&fx.account);
  assert_int_equal(fx.account.whos.nr, 0);
}

static void unwound_stack_is_of_its_task_after_others_have_faded(void **state) {
  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "x86-64 or aarch64");
  start_by(STACKS_BY_THREAD);
  fx.account.unit = PROFILE_FADE_UNIT;
  sample(1, 1, NULL, 0);
  unwind_while(fade_all);
  assert_int_equal(fx.account.whos.nr, 1);
  assert_int_equal(profile_account_get_who(&fx.account, 0)->tid, 6);
  assert_int_equal(fx.account.stacks.nr, 1);
}

/* The copy of the stack is larger than the queue. */
static void sample_that_is_not_unwound_has_its_user_frame(void **state) {
  const uint64_t ips[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0x10};
  const profile_frame_t frames[] = {{PROFILE_OBJECT_KERNEL, 0x10},
                                    {PROFILE_OBJECT_UNKNOWN, 0}};
  const common_entry_t *entry;
  uvperf_record_t record;

  if (!profile_unwinding_can(NULL))
    support_skip(__func__, "x86-64 or aarch64");
  start_by(STACKS_BY_FUNCTION);
  record = copied_sample(PERF_RECORD_MISC_KERNEL);
  record.sample.callchain.ips = ips;
  record.sample.callchain.nr = 2;
  record.sample.stack_user.dyn_size = (size_t)1 << 30;
  profile_account_record(&fx.account, &record);
  entry = common_tally_find(&fx.account.stacks, 0, frames, 2);
  assert_non_null(entry);
  assert_int_equal(entry->weight, 10);
  assert_int_equal(unwind_queue_stats(fx.unwinding.queue)->full, 1);
}

typedef struct row_s {
  const char *name;
  stacks_by_t by;
  const char *steps;
  const char *stack; /* the only one, if not NULL */
  const char *rows;  /* the table, if not NULL */
  size_t nr_stacks;  /* if not 0 */
  uint32_t flags;    /* of mappings */
  const char *map;   /* the map file of this process, while names are found */
  int is_elsewhere, is_homeless;
} row_t;

/* This machine has a map file for the id of the recorded process. It names the
 * first of four places; the others are in memory of two kinds. */
#define JIT                                                                    \
  "map 0 7f0000000000+2000 0 //anon\n"                                         \
  "map 0 7f0000005000+1000 0 [anon:code]\n"                                    \
  "sample 0 0 u 7f0000000010\nsample 0 0 u 7f0000001010\n"                     \
  "sample 0 0 u 7f0000001020\nsample 0 0 u 7f0000005010"

#define TWO_PROCESSES                                                          \
  "exec 5 server\ncomm 5 6 worker\nexec 7 client\n"                            \
  "map 5 1000+1000 3000 /bin/server\n"                                         \
  "sample 5 6 u 1100\nsample 5 6 u 1100\nsample 5 5 u 1100\n"                  \
  "sample 7 7 u 1100\n"                                                        \
  "cgroup 1005 /services\ncgroup 1005 /old\ncgroup 1005 /services"

static const row_t rows[] = {
    {"callers_are_the_byte_before_they_return_to", STACKS_BY_FUNCTION,
     "exec 5 program\n"
     "map 5 400000+2000 1000 /bin/program (deleted)\n"
     "map 5 7f0000000000+1000 0 //anon\n"
     "sample 5 6 k ffffffff81000010 u 400100 401200 7f0000000010 9999\n"
     "sample 5 6 k ffffffff81000010 u 400100 401200 7f0000000010 9999",
     .stack = "[kernel]+ffffffff81000010 program+1100 program+21ff "
              "[anon]+7f000000000f [unknown]+0"},
    {"map_file_of_a_recorded_process_names_it", STACKS_BY_FUNCTION, JIT,
     .map = "7f0000000000 1000 compiled\n",
     .rows = "[JIT],0,30;compiled,0,10;"},
    {"map_file_does_not_name_a_process_of_another_machine", STACKS_BY_FUNCTION,
     JIT, .map = "7f0000000000 1000 compiled\n", .rows = "[JIT],0,40;",
     .is_elsewhere = 1},
    {"map_file_does_not_name_a_process_of_an_unknown_machine",
     STACKS_BY_FUNCTION, JIT, .map = "7f0000000000 1000 compiled\n",
     .rows = "[JIT],0,40;", .is_homeless = 1},
    /* The child is sampled before its parent is. */
    {"memory_of_a_jit_in_a_child_is_named_by_its_parent", STACKS_BY_FUNCTION,
     "map 0 7f0000000000+1000 0 //anon\n"
     "fork 1 0\n"
     "sample 1 1 u 7f0000000010",
     .map = "7f0000000000 1000 compiled\n", .rows = "compiled,0,10;"},
    /* Offsets in memory of a JIT compiler are addresses. A file in /dev/shm may
     * also be a library. */
    {"shared_memory_is_memory_of_a_jit", STACKS_BY_FUNCTION,
     "map 5 1000+1000 0 /dev/zero (deleted)\n"
     "map 5 2000+1000 0 /memfd:code (deleted)\n"
     "map 5 3000+1000 0 /dev/shm/code (deleted)\n"
     "map 5 4000+1000 0 /dev/shm/library.so\n"
     "map 5 5000+1000 0 /lib/old.so (deleted)\n"
     "sample 5 5 u 1010 2011 3011 4011 5011",
     .stack = "zero+1010 memfd:code+2010 code+3010 library.so+10 old.so+10"},
    /* A program is mapped privately. */
    {"memory_of_a_program_is_no_memory_of_a_jit", STACKS_BY_FUNCTION,
     "map 5 6000+1000 0 /memfd:program (deleted)\n"
     "map 5 7000+1000 0 /dev/shm/program (deleted)\n"
     "map 5 8000+1000 0 //anon\n"
     "map 5 9000+1000 0 /anon_hugepage (deleted)\n"
     "sample 5 5 u 6010 7011 8011 9011",
     .stack = "memfd:program+10 program+10 [anon]+8010 anon_hugepage+9010",
     .flags = MAP_PRIVATE},
    /* In the order of records, where the copy replaces the code, and of
     * /proc/PID/maps. Memory of another size, beside another file, or beside a
     * gap has no code of the file. */
    {"code_that_was_copied_to_huge_pages_is_of_its_file", STACKS_BY_FUNCTION,
     "map 5 1000+4000 500 /bin/program\nmap 5 2000+1000 0 //anon\n"
     "map 5 11000+1000 500 /bin/program\nmap 5 12000+1000 0 //anon\n"
     "map 5 13000+1000 2500 /bin/program\n"
     "map 5 21000+1000 500 /bin/program\nmap 5 22000+1000 0 //anon\n"
     "map 5 23000+1000 1500 /bin/program\n"
     "map 5 31000+1000 500 /bin/program\nmap 5 32000+1000 0 //anon\n"
     "map 5 33000+1000 2500 /bin/other\n"
     "map 5 41000+1000 500 /bin/program\nmap 5 43000+1000 0 //anon\n"
     "map 5 44000+1000 2500 /bin/program\n"
     "sample 5 5 u 2010 3011 12011 13011 22011 32011 43011",
     .stack = "program+1510 program+2510 program+1510 program+2510 "
              "[anon]+22010 [anon]+32010 [anon]+43010"},
    {"code_of_the_kernel_in_a_process_is_no_jit", STACKS_BY_FUNCTION,
     "map 5 1000+1000 0 [vsyscall]\nmap 5 2000+1000 0 [uprobes]\n"
     "sample 5 5 u 1010\nsample 5 5 u 1010\nsample 5 5 u 2011",
     .rows = "[vsyscall]+0x10,0,20;[uprobes]+0x11,0,10;"},
    {"mapped_data_is_no_code", STACKS_BY_FUNCTION,
     "map 5 400000+2000 0 /bin/program\n"
     "data 5 401000+1000 /bin/other\n"
     "sample 5 5 u 400100 401200",
     .stack = "program+100 program+11ff"},
    /* Two programs have the same address, one after the other. Nothing is there
     * before, in between and after; nor beyond the program's end. */
    {"kernel_function_has_its_name_from_load_to_unload", STACKS_BY_FUNCTION,
     "sample 5 5 k ffffffffc0000810\n"
     "function 0 ffffffffc0000800+40 + bpf_prog_1_first\n"
     "sample 5 5 k ffffffffc0000810\nsample 5 5 k ffffffffc0000840\n"
     "function 0 ffffffffc0000800+40 - bpf_prog_1_first\n"
     "sample 5 5 k ffffffffc0000810\n"
     "function 0 ffffffffc0000800+80 + bpf_prog_2_second\n"
     "sample 5 5 k ffffffffc0000810\nsample 5 5 k ffffffffc0000840",
     .rows = "[kernel]+0xffffffffc0000810,0,20;bpf_prog_2_second,0,20;"
             "[kernel]+0xffffffffc0000840,0,10;bpf_prog_1_first,0,10;"},
    /* A module of 2 pages; a program is loaded into its second page later. The
     * third page belongs to nothing that is known. */
    {"module_of_a_recording_keeps_its_offsets", STACKS_BY_FUNCTION,
     "module 0 ffffffffc0000000+2000 [xfs]\n"
     "function 0 ffffffffc0001000+40 + bpf_prog_1\n"
     "sample 5 5 k ffffffffc0000010 ffffffffc0001f01 ffffffffc0002001",
     .stack = "[xfs]+10 [xfs]+1f00 [kernel]+ffffffffc0002000"},
    {"sample_without_a_call_chain_is_its_address", STACKS_BY_FUNCTION,
     "map 5 1000+1000 0 [vdso]\nsample 5 5", .stack = "[vdso]+234"},
    {"file_in_two_processes_is_one_object", STACKS_BY_FUNCTION,
     "map 5 1000+1000 0 /lib/one.so\nmap 6 5000+1000 0 /lib/one.so\n"
     "comm 5 5 same\ncomm 6 6 same\n"
     "sample 5 5 u 1100\nsample 6 6 u 5100",
     .stack = "one.so+100"},
    {"fork_by_an_unknown_task_has_nothing_of_the_one_before", STACKS_BY_PROCESS,
     "exec 5 before\nmap 5 1000+1000 0 /bin/before\nfork 5 77\n"
     "sample 5 5 u 1100",
     .stack = "[unknown]+0", .rows = ":5,5,10;"},
    {"memory_of_two_jits_is_two_objects", STACKS_BY_FUNCTION,
     "map 5 1000+1000 0 //anon\nmap 6 1000+1000 0 //anon\n"
     "sample 5 5 u 1100\nsample 6 6 u 1100",
     .nr_stacks = 2},
    {"functions_without_a_name_are_offsets", STACKS_BY_FUNCTION, TWO_PROCESSES,
     .rows = "server+0x3100,0,30;[unknown],0,10;"},
    {"threads_are_distinguished_by_tid", STACKS_BY_THREAD, TWO_PROCESSES,
     .rows = "worker,6,20;client,7,10;server,5,10;"},
    {"processes_are_distinguished_by_pid", STACKS_BY_PROCESS, TWO_PROCESSES,
     .rows = "server,5,30;client,7,10;"},
    {"cgroups_are_named_by_their_newest_path", STACKS_BY_CGROUP, TWO_PROCESSES,
     .rows = "/services,0,30;,0,10;"},
};

static void run_row(void **state) {
  const row_t *row = *state;

  setup(state);
  fx.flags = row->flags;
  start_by(row->by);
  fx.account.kernel_start = 0xffffffff81000000;
  fx.account.kernel_end = 0xffffffff82000000;
  fx.account.is_elsewhere = row->is_elsewhere;
  fx.account.is_homeless = row->is_homeless;
  if (row->map != NULL)
    write_map(row->map);
  run_steps(row->steps);
  if (row->map != NULL) {
    account_rows_find_names(&fx.account, &fx.loop);
    unlink(map_path());
  }
  if (row->stack != NULL)
    expect_stack(row->stack);
  if (row->rows != NULL)
    account_rows_expect(&fx.account, row->rows);
  if (row->nr_stacks != 0)
    assert_int_equal(fx.account.stacks.nr, row->nr_stacks);
  assert_int_equal(teardown(state), 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
      TEST(sample_is_where_its_ip_is),
      TEST(callers_are_the_branches_of_a_call_stack),
      TEST(file_that_has_a_used_inode_is_another_object),
      TEST(file_of_a_process_that_maps_too_many_is_unknown),
      TEST(mapping_that_does_not_fit_hides_what_was_there),
      TEST(map_file_of_an_exec_does_not_name_the_program_before),
      TEST(map_file_before_an_exec_names_only_its_program),
      TEST(map_file_does_not_name_a_process_that_had_the_pid),
      TEST(map_file_that_is_older_than_the_program_names_nothing),
      TEST(map_file_that_is_newer_than_the_recording_names_nothing),
      TEST(file_that_was_changed_after_its_mapping_is_not_read),
      TEST(build_id_of_a_path_names_only_the_file_that_has_it),
      TEST(stack_from_main_lacks_no_callers),
      TEST(many_cgroups_are_named_soon),
      TEST(restart_gives_up_stacks_that_are_unwound),
      TEST(unwound_stack_is_of_its_task_after_others_have_faded),
      TEST(sample_that_is_not_unwound_has_its_user_frame),
#undef TEST
  };

  symbols_main(argc, argv);
  return SUPPORT_RUN_ROWS_AND_TESTS(rows, run_row, tests);
}
