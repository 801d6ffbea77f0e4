/* SPDX-License-Identifier: MIT */
/* Names in files of other processes: deleted or replaced files, files in
 * another root, and things that are no files. Also the map files of JIT
 * compilers, the vdso and the kernel. */
#include "support.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fs.h>

#include "ask_names.h"
#include "common/proc.h"
#include "make_elf.h"
#include "profile/symbols/jobs.h"

static ask_names_t ask; /* each test has a new one */

static void begin_again(const symbols_options_t *options) {
  ask_names_end(&ask);
  ask_names_begin(&ask, options);
}

static void expect(uint32_t object, uint64_t offset, const char *name) {
  assert_string_equal(ask_names_name(&ask, object, offset), name);
}

static void expect_none(uint32_t object, uint64_t offset, const char *reason) {
  assert_int_equal(ask_names_at(&ask, object, offset)->nr, 0);
  assert_string_equal(symbols_reason(ask.symbols, object), reason);
}

/* Makes a program that waits in a function of this name. It is linked
 * statically, so that it runs in any root. */
static void make_waiting(const char *test, const char *file,
                         const char *function) {
  char source[256];

  snprintf(source, sizeof(source),
           "#include <unistd.h>\n"
           "__attribute__((noinline)) int %s(void) { return pause(); }\n"
           "int main(void) { return %s(); }\n",
           function, function);
  ask_names_write("waiting.c", source, strlen(source));
  if (ask_names_run("cc -O1 -static -o '%s' waiting.c", file) != 0)
    support_skip(test, "a compiler and a static C library");
}

/* Returns the mapping of a file, and the offset of a function in it. */
static symbols_mapping_t mapping_of(const char *file, const char *function,
                                    uint64_t *offset) {
  const char *path = ask_names_in(file);
  struct stat info;

  *offset = ask_names_place(file, function);
  assert_int_equal(stat(path, &info), 0);
  return (symbols_mapping_t){.kind = SYMBOLS_FILE,
                             .path = path,
                             .inode = info.st_ino,
                             .major = major(info.st_dev),
                             .minor = minor(info.st_dev)};
}

/* Makes a program that waits in a function, and returns its mapping. */
static symbols_mapping_t make_mapped(const char *test, const char *function,
                                     uint64_t *offset) {
  make_waiting(test, "waiting", function);
  return mapping_of("waiting", function, offset);
}

/* Runs the program, in `root` if that is not NULL. Returns when the program
 * waits. */
static pid_t run_waiting(const char *path, const char *root) {
  common_proc_stat_t stat = {.state = 'R'};
  char exe[64], link[256];
  pid_t pid = fork();

  assert_true(pid >= 0);
  if (pid == 0) {
    if (root != NULL && (chroot(root) != 0 || chdir("/") != 0))
      _exit(99);
    execl(path, path, NULL);
    _exit(98);
  }
  snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
  for (;;) {
    ssize_t nr = readlink(exe, link, sizeof(link) - 1);

    assert_int_equal(common_proc_stat(pid, pid, &stat), 0);
    if (stat.state == 'S' && nr > 0 && strstr(link, "waiting") != NULL)
      return pid;
    usleep(1000);
  }
}

static void end_waiting(pid_t pid) {
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_deleted_program_that_runs_has_its_names(void) {
  uint64_t address, offset;
  uint32_t object;
  pid_t pid;

  support_need_admin(__func__);
  make_waiting(__func__, "waiting", "deleted");
  address = ask_names_symbol(ask_names_in("waiting"), "deleted");
  pid = run_waiting(ask_names_in("waiting"), NULL);
  assert_int_equal(unlink(ask_names_in("waiting")), 0);
  object = ask_names_mapped(&ask, (uint32_t)pid, address, &offset);
  expect(object, offset, "deleted");
  /* The file stays open, because it is still needed after the process has
   * ended. */
  end_waiting(pid);
  expect(object, offset + 1, "deleted");
  expect_none(object, 1, "");
}

static void a_deleted_program_that_has_ended_has_a_reason(void) {
  symbols_mapping_t mapping = {.kind = SYMBOLS_FILE,
                               .path = "/tmp/uvperf-none (deleted)",
                               .inode = 1,
                               .pid = 1};
  uint32_t object;

  object = symbols_object(ask.symbols, &mapping);
  assert_int_equal(ask_names_at(&ask, object, 4096)->nr, 0);
  assert_non_null(strstr(symbols_reason(ask.symbols, object), "deleted"));
  assert_string_equal(symbols_reason(ask.symbols, 99), "");
}

/* The names must not come from a file that replaced the sampled one. */
static void a_replaced_program_has_a_reason_and_no_names(void) {
  symbols_mapping_t mapping;
  uint64_t offset;
  uint32_t object;

  mapping = make_mapped(__func__, "replaced", &offset);
  assert_int_equal(ask_names_run("cp waiting w && mv w waiting"), 0);
  object = symbols_object(ask.symbols, &mapping);
  expect_none(object, offset, "the file was replaced");
  /* Without an inode, the build id shows that the file was replaced. */
  mapping.inode = 0;
  mapping.build_id_bytes = 20;
  object = symbols_object(ask.symbols, &mapping);
  expect_none(object, offset, "the file was replaced: its build id differs");
  mapping.build_id[0] = 1;
  assert_int_not_equal(symbols_object(ask.symbols, &mapping), object);
}

/* The root has a link that would lead out of it if it were followed from
 * outside. */
static void a_program_in_another_root_is_read_there(void) {
  symbols_mapping_t mapping;
  uint64_t offset;
  uint32_t object;
  pid_t pid;

  support_need_root(__func__);
  make_waiting(__func__, "outside", "outside");
  assert_int_equal(ask_names_run("mkdir -p root/real"), 0);
  make_waiting(__func__, "root/real/waiting", "inside");
  assert_int_equal(ask_names_run("ln -s /real root/bin"), 0);
  mapping = mapping_of("root/real/waiting", "inside", &offset);
  mapping.path = "/bin/waiting";
  pid = run_waiting("/bin/waiting", ask_names_in("root"));
  /* No mapping starts at 1, so the file must be opened by its path. */
  mapping.pid = (uint32_t)pid;
  mapping.start = 1;
  object = symbols_object(ask.symbols, &mapping);
  expect(object, offset, "inside");
  end_waiting(pid);
}

static void only_regular_files_are_opened(void) {
  static const char *const names[] = {"fifo", "/dev/zero", "/",
                                      "/proc/version"};
  uint32_t object;
  size_t i;

  assert_int_equal(mkfifo(ask_names_in("fifo"), 0644), 0);
  for (i = 0; i < 4; i++) {
    object = ask_names_file(&ask, names[i][0] == '/' ? names[i]
                                                     : ask_names_in(names[i]));
    expect_none(object, 0, "not a regular file");
  }
  ask_names_write("text", "This is no program.\n", 20);
  object = ask_names_file(&ask, ask_names_in("text"));
  expect_none(object, 0, "not an ELF file");
  /* None of these was sent to the worker. */
  assert_int_equal(symbols_jobs(ask.symbols)->worker.pid, 0);
}

/* Finds the mapping that holds an address, which is `start` before. */
static int find_start(void *arg, const common_proc_map_t *line) {
  common_proc_map_t *map = arg;

  if (map->start < line->start || map->start >= line->end)
    return 0;
  map->start = line->start;
  map->end = line->end;
  return 1;
}

/* A recording comes from anywhere, so its paths alone name no files. */
static void recorded_path_without_identity_names_no_file(void) {
  symbols_mapping_t mapping = {
      .kind = SYMBOLS_FILE, .path = "/proc/self/exe", .is_recorded = 1};
  char exe[512] = "";
  struct stat info;
  uint32_t object;

  assert_true(readlink(mapping.path, exe, sizeof(exe) - 1) > 0);
  assert_int_equal(stat(exe, &info), 0);
  mapping.path = exe;
  object = symbols_object(ask.symbols, &mapping);
  expect_none(object, 0, "its inode and its build id are not known");
  mapping.inode = info.st_ino + 1;
  mapping.major = major(info.st_dev);
  mapping.minor = minor(info.st_dev);
  object = symbols_object(ask.symbols, &mapping);
  expect_none(object, 0, "the file was replaced");
  assert_int_equal(symbols_jobs(ask.symbols)->worker.pid, 0);
  mapping.inode = info.st_ino;
  object = symbols_object(ask.symbols, &mapping);
  ask_names_at(&ask, object, 0);
  assert_string_equal(symbols_reason(ask.symbols, object), "");
}

/* perf record keeps copies by build id, as they were before strip(1), and
 * --symfs has the files of another machine. */
static void copy_of_the_same_build_id_has_the_names(void) {
  static const struct {
    const char *path;
    int has_home, has_symfs;
    unsigned char id;
    const char *name;
  } cases[] = {
      {"/there/waiting", 1, 0, 0x12, "copied"},
      {"/there/waiting", 0, 1, 0x12, "copied"},
      {"/there/waiting", 0, 1, 0x13, ""},
      {NULL, 1, 0, 0x12, "copied"}, /* the stripped file */
      {NULL, 0, 0, 0x12, ""},
  };
  const char *before = getenv("HOME");
  symbols_mapping_t mapping;
  char home[512], stripped[512];
  uint64_t offset;
  size_t i;

  make_waiting(__func__, "waiting", "copied");
  assert_int_equal(
      ask_names_run("cc -O1 -static -Wl,--build-id=0x12345678 -o waiting "
                    "waiting.c && mkdir -p there .debug/.build-id/12/345678 && "
                    "cp waiting there/waiting && "
                    "cp waiting .debug/.build-id/12/345678/elf"),
      0);
  mapping_of("waiting", "copied", &offset);
  assert_int_equal(ask_names_run("strip -o stripped waiting"), 0);
  snprintf(stripped, sizeof(stripped), "%s", ask_names_in("stripped"));
  snprintf(home, sizeof(home), "%s", ask_names_in("."));
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    mapping = (symbols_mapping_t){.kind = SYMBOLS_FILE,
                                  .path = cases[i].path != NULL ? cases[i].path
                                                                : stripped,
                                  .build_id = {cases[i].id, 0x34, 0x56, 0x78},
                                  .build_id_bytes = 4,
                                  .is_recorded = 1,
                                  .symfs = cases[i].has_symfs ? home : NULL};
    setenv("HOME", cases[i].has_home ? home : "/nonexistent", 1);
    begin_again(NULL);
    assert_string_equal(
        ask_names_name(&ask, symbols_object(ask.symbols, &mapping), offset),
        cases[i].name);
  }
  if (before != NULL)
    setenv("HOME", before, 1);
}

/* The file was replaced after the recording, and the process still runs. */
static void recorded_program_that_runs_is_read_from_its_mapping(void) {
  symbols_mapping_t mapping;
  common_proc_map_t map;
  uint64_t offset;
  pid_t pid;

  support_need_admin(__func__);
  mapping = make_mapped(__func__, "mapped", &offset);
  mapping.is_recorded = 1;
  map.start = ask_names_symbol(ask_names_in("waiting"), "mapped");
  pid = run_waiting(ask_names_in("waiting"), NULL);
  assert_int_equal(ask_names_run("cp waiting w && mv w waiting"), 0);
  assert_int_equal(common_proc_maps(pid, find_start, &map), 1);
  mapping.pid = (uint32_t)pid;
  mapping.start = map.start;
  mapping.end = map.end;
  assert_string_equal(
      ask_names_name(&ask, symbols_object(ask.symbols, &mapping), offset),
      "mapped");
  end_waiting(pid);
}

/* Returns when a file was changed last, since 1970. */
static uint64_t change_of(const char *path) {
  struct stat info;

  assert_int_equal(stat(path, &info), 0);
  return (uint64_t)info.st_mtim.tv_sec * 1000000000 +
         (uint64_t)info.st_mtim.tv_nsec;
}

/* The shell writes to the mapped file itself, as cp does. Some of its names may
 * be of the old contents. */
static void file_that_is_changed_in_place_loses_its_names(void) {
  const unsigned char *build_id;
  symbols_mapping_t mapping;
  uint64_t offset;
  uint32_t object;

  mapping = make_mapped(__func__, "function", &offset);
  object = symbols_object(ask.symbols, &mapping);
  expect(object, offset, "function");
  symbols_refresh(ask.symbols, object);
  ask_names_wait(&ask);
  expect(object, offset, "function");
  assert_int_equal(ask_names_run("printf x >> waiting"), 0);
  symbols_refresh(ask.symbols, object);
  ask_names_wait(&ask);
  expect(object, offset, "");
  assert_int_equal(ask_names_at(&ask, object, offset)->first, offset);
  expect_none(object, offset + 1, "the file was changed while it was measured");

  begin_again(NULL);
  object = symbols_object(ask.symbols, &mapping);
  symbols_set_time(ask.symbols, object, 0, change_of(mapping.path));
  expect(object, offset, "function");
  mapping.build_id_bytes = symbols_build_id(ask.symbols, object, &build_id);
  memcpy(mapping.build_id, build_id, mapping.build_id_bytes);
  symbols_set_time(ask.symbols, object, 0, change_of(mapping.path) - 1);
  expect_none(object, offset, "the file was changed after it was mapped");

  /* A build id is enough. */
  begin_again(NULL);
  object = symbols_object(ask.symbols, &mapping);
  if (mapping.build_id_bytes > 0) {
    expect(object, offset, "function");
    symbols_set_time(ask.symbols, object, 0, 1);
    expect(object, offset, "function");
    expect(object, offset + 1, "function");
  }
}

/* The file got the number of the inode of a deleted one. */
static void file_with_a_used_inode_is_not_the_mapped_one(void) {
  uint32_t generation = 0, object;
  symbols_mapping_t mapping;
  uint64_t offset;
  int fd;

  mapping = make_mapped(__func__, "function", &offset);
  fd = open(mapping.path, O_RDONLY | O_CLOEXEC);
  if (ioctl(fd, FS_IOC_GETVERSION, &generation) != 0)
    support_skip(__func__, "a file system with generations of inodes");
  close(fd);
  mapping.generation = generation;
  object = symbols_object(ask.symbols, &mapping);
  expect(object, offset, "function");
  mapping.generation = generation + 1;
  object = symbols_object(ask.symbols, &mapping);
  expect_none(object, offset, "the file was replaced");
}

/* The lowest bit of its address is not a part of it. */
static void thumb_function_has_its_name_from_its_first_byte(void) {
  static make_elf_t image;
  uint32_t object;

  make_elf_make(&image, 0);
  image.header.e_machine = EM_ARM;
  image.header.e_shstrndx = MAKE_ELF_STRTAB; /* elfutils wants one */
  make_elf_add(&image, MAKE_ELF_SYMTAB, "arm", STB_GLOBAL, STT_FUNC, 0x10);
  make_elf_add(&image, MAKE_ELF_SYMTAB, "thumb", STB_GLOBAL, STT_FUNC, 0x21);
  make_elf_write(&image, ask_names_in("thumb"));
  object = ask_names_file(&ask, ask_names_in("thumb"));
  expect(object, MAKE_ELF_OFFSET(0x1f), "arm");
  expect(object, MAKE_ELF_OFFSET(0x20), "thumb");
  expect(object, MAKE_ELF_OFFSET(0x2f), "thumb");
  expect(object, MAKE_ELF_OFFSET(0x30), "");
}

/* -- JIT compilers --------------------------------------------------------- */

static void write_map(const char *path, const char *text) {
  FILE *file;

  unlink(path);
  file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static uint32_t jit_of(pid_t pid, int is_recorded) {
  const symbols_mapping_t mapping = {.kind = SYMBOLS_JIT,
                                     .pid = (uint32_t)pid,
                                     .path = "//anon",
                                     .is_recorded = is_recorded};

  return symbols_object(ask.symbols, &mapping);
}

static int wait_for_signal(void *arg) {
  pause();
  return 0;
}

/* Starts a process. `path` receives where its map file would be. */
static pid_t start_process(char path[64]) {
  pid_t pid = support_fork(wait_for_signal, NULL);

  snprintf(path, 64, "/tmp/perf-%d.map", (int)pid);
  return pid;
}

static void end_process(pid_t pid) {
  kill(pid, SIGKILL);
  support_wait(pid);
}

static void map_file_names_functions_of_a_jit_compiler(void) {
  char path[64];
  pid_t pid = start_process(path);
  uint32_t object;

  write_map(path, "1000 100 old\n"
                  "1080 20 js:f\x1b[2J <script>\n"
                  "1000 40 new one\n"
                  "zzz\n"
                  "ffffffffffffffff 10 around\n"
                  "0x2000\t10 \ttabs and\tblanks\n"
                  "1050 10 \n"
                  "3000 100 cut");
  object = jit_of(pid, 0);
  assert_int_equal(jit_of(pid, 0), object);
  expect(object, 0x1000, "new one");
  expect(object, 0x103f, "new one");
  expect(object, 0x1040, "old");
  expect(object, 0x1050, "old");
  expect(object, 0x1080, "js:f?[2J <script>");
  expect(object, 0x2000, "tabs and?blanks");
  expect(object, 0x3000, "");
  expect_none(object, 0x4000, "");

  /* The file grows, and the process ends. Now its last line is complete. */
  write_map(path, "4000 10 later\n5000 10 last");
  symbols_refresh(ask.symbols, object);
  ask_names_wait(&ask);
  expect(object, 0x4000, "later");
  expect(object, 0x5000, "");
  end_process(pid);
  expect(object, 0x4001, "later");
  expect(object, 0x5001, "last");

  begin_again(NULL);
  object = jit_of(pid, 1);
  expect(object, 0x4000, "later");
  expect(object, 0x5000, "last");
  unlink(path);
}

static void map_file_is_asked_again_for_what_has_no_name(void) {
  char path[64];
  pid_t pid = start_process(path);
  uint32_t object;

  write_map(path, "1000 10 first\n");
  object = jit_of(pid, 0);
  expect(object, 0x1000, "first");
  expect(object, 0x3000, "");
  unlink(path);
  write_map(path, "3000 1 last\n");
  symbols_refresh(ask.symbols, object);
  ask_names_wait(&ask);
  expect(object, 0x3000, "last");
  /* Nothing is left to ask. */
  symbols_worker_end(&symbols_jobs(ask.symbols)->worker);
  symbols_refresh(ask.symbols, object);
  ask_names_wait(&ask);
  assert_int_equal(symbols_jobs(ask.symbols)->worker.pid, 0);
  end_process(pid);
  unlink(path);
}

/* A name that was read from a later file, before that was known, is given
 * up. */
static void map_file_names_only_what_ran_when_it_was_changed(void) {
  char path[64];
  pid_t pid = start_process(path);
  uint64_t changed;
  uint32_t object;

  write_map(path, "1000 100 function\n");
  changed = change_of(path);
  object = jit_of(pid, 0);
  symbols_set_time(ask.symbols, object, changed + 1, 0);
  expect(object, 0x1000, "");
  assert_non_null(strstr(symbols_reason(ask.symbols, object), "older"));
  symbols_set_time(ask.symbols, object, 0, changed - 1);
  expect(object, 0x1001, "");
  assert_non_null(strstr(symbols_reason(ask.symbols, object), "ended"));
  symbols_set_time(ask.symbols, object, changed, changed);
  expect(object, 0x1002, "function");
  symbols_set_time(ask.symbols, object, changed, changed - 1);
  expect(object, 0x1002, "");
  unlink(path);
  end_process(pid);
}

static void expect_map_refused(pid_t pid, int is_recorded, const char *reason) {
  uint32_t object;

  begin_again(NULL);
  object = jit_of(pid, is_recorded);
  expect(object, 0x1000, "");
  assert_non_null(strstr(symbols_reason(ask.symbols, object), reason));
}

/* Any user can make a file in /tmp. */
static void map_file_of_another_user_or_kind_is_not_read(void) {
  char path[64];
  pid_t pid = start_process(path);

  unlink(path);
  expect_map_refused(pid, 0, "No such file");
  ask_names_write("map", "1000 100 foreign\n", 17);
  assert_int_equal(symlink(ask_names_in("map"), path), 0);
  expect_map_refused(pid, 0, "not a regular file");
  expect_map_refused(pid, 1, "not a regular file");
  unlink(path);
  assert_int_equal(mkfifo(path, 0644), 0);
  expect_map_refused(pid, 0, "not a regular file");
  unlink(path);
  if (geteuid() == 0 && !support_is_in_user_namespace()) {
    write_map(path, "1000 100 foreign\n");
    assert_int_equal(chown(path, 1234, 1234), 0);
    expect_map_refused(pid, 0, "does not belong to the process's user");
    expect_map_refused(pid, 1, "does not belong to the process's user");
    unlink(path);
  }
  end_process(pid);
  expect_map_refused(pid, 0, "ended");
}

/* `arg` is the fd to close when the process is there. */
static int wait_in_container(void *arg) {
  const int *ready = arg;

  if (chroot(ask_names_in("root")) != 0 || setresuid(1234, 1234, 1234) != 0)
    return 1;
  close(*ready);
  return wait_for_signal(NULL);
}

/* The first process of a pid namespace, with a root and a user of its own.
 * Root, as an agent of the JIT compiler, wrote its map file. */
static void map_file_in_a_container_is_found_there(void) {
  int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC), ready[2];
  pid_t pid;
  char byte;

  support_need_root(__func__);
  assert_int_equal(ask_names_run("mkdir -p root/tmp"), 0);
  write_map(ask_names_in("root/tmp/perf-1.map"), "1000 100 inside\n");
  assert_int_equal(pipe(ready), 0);
  if (unshare(CLONE_NEWPID) != 0)
    support_skip(__func__, "pid namespaces");
  pid = support_fork(wait_in_container, &ready[1]);
  assert_int_equal(setns(own, CLONE_NEWPID), 0);
  close(own);
  close(ready[1]);
  assert_int_equal(read(ready[0], &byte, 1), 0);
  close(ready[0]);
  expect(jit_of(pid, 0), 0x1000, "inside");
  end_process(pid);
}

static void names_of_a_megabyte_are_cut(void) {
  char path[64];
  pid_t pid = start_process(path);
  const symbols_place_t *place;
  FILE *file;
  int i;

  unlink(path);
  file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "1000 100 _Z");
  for (i = 0; i < 1 << 20; i++)
    fputc('P', file);
  fprintf(file, "\n2000 100 after\n");
  fclose(file);
  place = ask_names_at(&ask, jit_of(pid, 0), 0x1000);
  assert_int_equal(place->nr, 1);
  assert_in_range(strlen(place->names[0].name), 1000, 4096);
  expect(jit_of(pid, 0), 0x2000, "after");
  unlink(path);
  end_process(pid);
}

/* Only the last 64 MiB of the file are read. A line before them may name a
 * function that was there earlier. They begin at the second number in a line,
 * which is no line. */
static void last_line_of_a_long_map_file_counts(void) {
  char path[64];
  pid_t pid = start_process(path);
  FILE *file;
  int i;

  unlink(path);
  file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "1000 100 old\n2000 100 old\n");
  for (i = 0; i < 1100000; i++)
    fprintf(file, "900000 1 old 2000 100 %041d\n", i);
  fprintf(file, "1000 100 new\n");
  fclose(file);
  expect(jit_of(pid, 0), 0x1000, "new");
  expect(jit_of(pid, 0), 0x2000, "");
  unlink(path);
  end_process(pid);
}

/* -- objects without a file ------------------------------------------------ */

static void function_of_the_vdso_has_its_name(void) {
  uint64_t address = getauxval(AT_SYSINFO_EHDR), offset, k;
  uint32_t object;
  int found = 0;

  if (address == 0)
    support_skip(__func__, "a vdso");
  object = ask_names_mapped(&ask, 0, address, &offset);
  assert_int_equal(offset, 0);
  for (k = 0; k < 0x1000; k += 16)
    symbols_want(ask.symbols, object, k);
  ask_names_wait(&ask);
  for (k = 0; k < 0x1000; k += 16) {
    const symbols_place_t *place = symbols_find(ask.symbols, object, k);

    found |=
        place->nr == 1 && strstr(place->names[0].name, "clock_gettime") != NULL;
  }
  assert_true(found);
}

static void kernel_addresses_have_the_names_of_the_file(void) {
  static const char symbols[] = "ffffffff81000100 t first\n"
                                "ffffffff81000200 T second\n"
                                "ffffffffc0000000 t third\t[module]\n";
  const symbols_options_t options = {.kallsyms = ask_names_in("kallsyms"),
                                     .kernel_shift = 0x100};
  const symbols_options_t none = {.kallsyms = ""};
  const symbols_place_t *place;

  ask_names_write("kallsyms", symbols, sizeof(symbols) - 1);
  begin_again(&options);
  place = ask_names_at(&ask, SYMBOLS_KERNEL, 0xffffffff81000080);
  assert_int_equal(place->nr, 1);
  assert_string_equal(place->names[0].name, "first");
  assert_true(place->address == 0xffffffff81000180);
  expect(SYMBOLS_KERNEL, 0xffffffff810000ff, "first");
  expect(SYMBOLS_KERNEL, 0xffffffff81000100, "second");
  expect(SYMBOLS_KERNEL, 0xffffffffc0000000, "third [module]");
  expect(SYMBOLS_KERNEL, 0x1000, "");

  begin_again(&none);
  expect(SYMBOLS_KERNEL, 0xffffffff81000100, "");
}

typedef struct row_s {
  const char *name;
  void (*run)(void);
} row_t;

#define ROW(test)                                                              \
  { #test, test }

static const row_t rows[] = {
    ROW(a_deleted_program_that_runs_has_its_names),
    ROW(a_deleted_program_that_has_ended_has_a_reason),
    ROW(a_replaced_program_has_a_reason_and_no_names),
    ROW(a_program_in_another_root_is_read_there),
    ROW(only_regular_files_are_opened),
    ROW(recorded_path_without_identity_names_no_file),
    ROW(copy_of_the_same_build_id_has_the_names),
    ROW(recorded_program_that_runs_is_read_from_its_mapping),
    ROW(file_that_is_changed_in_place_loses_its_names),
    ROW(file_with_a_used_inode_is_not_the_mapped_one),
    ROW(thumb_function_has_its_name_from_its_first_byte),
    ROW(map_file_names_functions_of_a_jit_compiler),
    ROW(map_file_names_only_what_ran_when_it_was_changed),
    ROW(map_file_is_asked_again_for_what_has_no_name),
    ROW(map_file_of_another_user_or_kind_is_not_read),
    ROW(map_file_in_a_container_is_found_there),
    ROW(names_of_a_megabyte_are_cut),
    ROW(last_line_of_a_long_map_file_counts),
    ROW(function_of_the_vdso_has_its_name),
    ROW(kernel_addresses_have_the_names_of_the_file),
};

static void run_row(void **state) {
  const row_t *row = *state;

  ask_names_begin(&ask, NULL);
  row->run();
  ask_names_end(&ask);
}

int main(int argc, char **argv) {
  int rc;

  symbols_main(argc, argv);
  if (ask_names_setup(NULL) != 0)
    return 1;
  rc = SUPPORT_RUN_ROWS(rows, run_row);
  ask_names_teardown(NULL);
  return rc;
}
