/* SPDX-License-Identifier: MIT */
/* Files that were made to crash their reader, and a worker that hangs or
 * dies. */
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "ask_names.h"
#include "common/small_file.h"
#include "profile/symbols/answer.h"
#include "profile/symbols/filter.h"
#include "profile/symbols/jobs.h"

#define NR_MUTATIONS 3000

/* For answers that must come, however busy the machine is. */
#define LONG_MS 120000

static void make(const char *test, const char *source, const char *flags) {
  ask_names_write("source.s", source, strlen(source));
  if (ask_names_run("cc %s source.s -o program 2>/dev/null", flags) != 0)
    support_skip(test, "an assembler for x86-64");
}

/* Makes a library. The reader waits for ever when it opens its debug file. */
static void make_slow(const char *test, const char *name) {
  ask_names_write("slow.c", "int slow(void) { return 1; }\n", 29);
  if (ask_names_run("rm -f %s.debug && cc -shared slow.c -o %s && strip %s && "
                    "echo >%s.debug && "
                    "objcopy --add-gnu-debuglink=%s.debug %s && "
                    "rm -f %s.debug && mkfifo -m 644 %s.debug",
                    name, name, name, name, name, name, name, name) != 0)
    support_skip(test, "a compiler");
}

static symbols_worker_t *worker_of(const ask_names_t *ask) {
  return &symbols_jobs(ask->symbols)->worker;
}

/* Asks a stopped worker for more offsets than fit into one request. After the
 * first request has failed, all offsets are answered with the object's
 * reason. */
static void ask_stopped(ask_names_t *ask, uint32_t object, int number,
                        const char *reason) {
  pid_t pid = worker_of(ask)->pid;
  uint64_t k;

  assert_true(pid > 0);
  assert_int_equal(kill(pid, SIGSTOP), 0);
  if (number != 0)
    assert_int_equal(kill(pid, number), 0);
  for (k = 0; k < 2 * SYMBOLS_MAX_OFFSETS; k++)
    symbols_want(ask->symbols, object, k);
  if (number != 0)
    assert_int_equal(kill(pid, SIGCONT), 0);
  ask_names_wait(ask);
  for (k = 0; k < 2 * SYMBOLS_MAX_OFFSETS; k++)
    assert_int_equal(symbols_find(ask->symbols, object, k)->nr, 0);
  assert_int_equal(worker_of(ask)->pid, 0);
  assert_non_null(strstr(symbols_reason(ask->symbols, object), reason));
  assert_int_equal(kill(pid, 0), -1);
  assert_int_equal(errno, ESRCH);
}

static uint64_t entry_of(ask_names_t *ask, uint32_t *object) {
  uint64_t offset;

  *object = ask_names_mapped(ask, 0, (uint64_t)(uintptr_t)entry_of, &offset);
  return offset;
}

/* After each failure another worker is started, and other objects get their
 * names. */
static void worker_that_dies_costs_one_objects_names(void **state) {
  static const char elf[64] = "\177ELF";
  const symbols_options_t options = {.timeout_ms = LONG_MS};
  uint64_t offset;
  ask_names_t ask;
  uint32_t self;

  ask_names_write("a", elf, sizeof(elf));
  ask_names_write("b", elf, sizeof(elf));
  ask_names_write("c", elf, sizeof(elf));
  ask_names_begin(&ask, &options);
  offset = entry_of(&ask, &self);
  assert_string_equal(ask_names_name(&ask, self, offset), "entry_of");
  ask_stopped(&ask, ask_names_file(&ask, ask_names_in("a")), SIGSYS,
              "made a system call that it may not make");
  offset++;
  symbols_want(ask.symbols, self, 1);
  ask_names_wait(&ask);
  assert_string_equal(ask_names_name(&ask, self, offset), "entry_of");

  ask_stopped(&ask, ask_names_file(&ask, ask_names_in("b")), SIGILL, "damaged");
  symbols_want(ask.symbols, self, 2);
  ask_names_wait(&ask);

  worker_of(&ask)->max_kib = 1;
  ask_stopped(&ask, ask_names_file(&ask, ask_names_in("c")), 0, "memory");
  /* No worker is asked again about the failed objects. */
  assert_int_equal(
      ask_names_at(&ask, ask_names_file(&ask, ask_names_in("a")), 1 << 20)->nr,
      0);
  assert_int_equal(worker_of(&ask)->pid, 0);
  ask_names_end(&ask);
}

/* Asks for an offset of each object at once. */
static void ask_all(ask_names_t *ask, const uint32_t *objects, size_t nr,
                    uint64_t offset) {
  size_t i;

  for (i = 0; i < nr; i++)
    symbols_want(ask->symbols, objects[i], offset);
  ask_names_wait(ask);
}

/* The second attempt has all the time that is left, and is the last one. */
static void slow_file_has_two_attempts(void **state) {
  const symbols_options_t options = {.timeout_ms = 400};
  ask_names_t ask;
  uint32_t object;

  make_slow(__func__, "slow");
  ask_names_begin(&ask, &options);
  object = ask_names_file(&ask, ask_names_in("slow"));
  assert_int_equal(ask_names_at(&ask, object, 1)->nr, 0);
  assert_non_null(strstr(symbols_reason(ask.symbols, object), "longer"));
  ask_names_end(&ask);
}

static void slow_files_leave_time_for_the_others(void **state) {
  const symbols_options_t options = {.timeout_ms = 6000};
  uint32_t objects[3];
  uint64_t offset;
  ask_names_t ask;
  pid_t pid;

  make_slow(__func__, "slow1");
  make_slow(__func__, "slow2");
  ask_names_begin(&ask, &options);
  objects[0] = ask_names_file(&ask, ask_names_in("slow1"));
  objects[1] = ask_names_file(&ask, ask_names_in("slow2"));
  offset = entry_of(&ask, &objects[2]);
  ask_all(&ask, objects, 3, offset);
  assert_string_equal(
      symbols_find(ask.symbols, objects[2], offset)->names->name, "entry_of");
  assert_int_equal(symbols_nr_late(ask.symbols), 2);
  assert_non_null(strstr(symbols_reason(ask.symbols, objects[0]), "longer"));
  assert_non_null(strstr(symbols_reason(ask.symbols, objects[1]), "longer"));
  /* Other files have the whole time again. */
  assert_int_equal(ask_names_at(&ask, objects[2], 1)->nr, 0);
  assert_int_equal(symbols_nr_late(ask.symbols), 2);
  /* The slow files are not asked again. */
  pid = worker_of(&ask)->pid;
  ask_all(&ask, objects, 2, offset + 1);
  assert_int_equal(worker_of(&ask)->pid, pid);
  assert_int_equal(symbols_nr_late(ask.symbols), 2);
  ask_names_end(&ask);
}

typedef struct release_s {
  uv_timer_t timer;
  const ask_names_t *ask;
  uint32_t object;
} release_t;

/* Ends the wait for the debug file after the first attempt. */
static void on_release(uv_timer_t *timer) {
  release_t *release = timer->data;
  int fd;

  if (symbols_reason(release->ask->symbols, release->object)[0] == '\0')
    return;
  fd = open(ask_names_in("slow.debug"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0)
    close(fd);
}

static void file_that_was_slow_once_has_its_names(void **state) {
  const symbols_options_t options = {.timeout_ms = 6000};
  release_t release;
  uint64_t offset;
  ask_names_t ask;

  make_slow(__func__, "slow");
  assert_int_equal(ask_names_run("cc -shared slow.c -o named"), 0);
  offset = ask_names_place("named", "slow");
  ask_names_begin(&ask, &options);
  release.ask = &ask;
  release.object = ask_names_file(&ask, ask_names_in("slow"));
  uv_timer_init(ask.loop, &release.timer);
  release.timer.data = &release;
  uv_timer_start(&release.timer, on_release, 10, 10);
  assert_string_equal(ask_names_name(&ask, release.object, offset), "slow");
  assert_string_equal(symbols_reason(ask.symbols, release.object), "");
  assert_int_equal(symbols_nr_late(ask.symbols), 0);
  uv_close((uv_handle_t *)&release.timer, NULL);
  ask_names_end(&ask);
}

/* Closing ends a running request without waiting for it, which would take an
 * hour. */
static void closing_ends_a_worker_that_hangs(void **state) {
  const symbols_options_t options = {.timeout_ms = 3600000};
  ask_names_t ask;
  uint32_t self;
  pid_t pid;

  ask_names_begin(&ask, &options);
  ask_names_at(&ask, 1, entry_of(&ask, &self));
  pid = worker_of(&ask)->pid;
  assert_int_equal(kill(pid, SIGSTOP), 0);
  symbols_want(ask.symbols, self, 1);
  uv_run(ask.loop, UV_RUN_ONCE);
  ask_names_end(&ask);
  assert_int_equal(kill(pid, 0), -1);
}

static int count_inherited(void) {
  DIR *list = opendir("/proc/self/fd");
  struct dirent *entry;
  int nr = 0, flags;

  assert_non_null(list);
  while ((entry = readdir(list)) != NULL) {
    flags = fcntl(atoi(entry->d_name), F_GETFD);
    nr += entry->d_name[0] != '.' && flags >= 0 && (flags & FD_CLOEXEC) == 0;
  }
  closedir(list);
  return nr;
}

static void expect_line(pid_t pid, const char *file, const char *expected) {
  char path[64], *text;
  size_t size;

  snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
  text = common_file_read(path, &size);
  assert_non_null(text);
  if (strstr(text, expected) == NULL)
    fail_msg("no '%s' in:\n%s", expected, text);
  free(text);
}

static void expect_no_capabilities(pid_t pid) {
  expect_line(pid, "status", "CapInh:\t0000000000000000");
  expect_line(pid, "status", "CapPrm:\t0000000000000000");
  expect_line(pid, "status", "CapEff:\t0000000000000000");
}

/* Root of a user namespace may have no other users there. */
static int is_root(void) {
  return geteuid() == 0 && !support_is_in_user_namespace();
}

static void expect_few_rights(pid_t pid) {
  expect_line(pid, "comm", "symbols-worker\n");
  expect_line(pid, "status", "NoNewPrivs:\t1");
  expect_no_capabilities(pid);
  expect_line(pid, "limits", "Max core file size        0 ");
  if (is_root()) {
    expect_line(pid, "status", "Uid:\t65534\t65534\t65534\t65534");
    expect_line(pid, "status", "Groups:\t \n");
  }
}

static int count_fds_of(pid_t pid) {
  struct dirent *entry;
  char path[64];
  int nr = 0;
  DIR *list;

  snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
  list = opendir(path);
  assert_non_null(list);
  while ((entry = readdir(list)) != NULL)
    nr += entry->d_name[0] != '.';
  closedir(list);
  return nr;
}

static void worker_has_few_rights_and_no_fds_of_ours(void **state) {
  int inherited = count_inherited(), leaked = open("/dev/null", O_RDONLY);
  ask_names_t ask;
  uint32_t self;
  pid_t pid;

  ask_names_begin(&ask, NULL);
  ask_names_at(&ask, 1, entry_of(&ask, &self));
  pid = worker_of(&ask)->pid;
  assert_int_equal(count_inherited(), inherited + 1);
  expect_few_rights(pid);
  if (symbols_filter_lack() == NULL)
    expect_line(pid, "status", "Seccomp:\t2");
  if (is_root()) {
    /* The worker's fds are the standard streams, the socket, the ELF file and a
     * debug file. */
    assert_in_range(count_fds_of(pid), 4, 6);
  }
  close(leaked);
  ask_names_end(&ask);
}

/* Capabilities of a program file pass to the worker, which is the same file, as
 * these ambient ones do. */
static int start_with_a_capability(void *arg) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const uint32_t nice = UINT32_C(1) << CAP_SYS_NICE;
  const struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
      {nice, nice, nice}};
  const int *socket = arg;

  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 &&
      setresuid(65533, 65533, 65533) == 0 &&
      syscall(SYS_capset, &header, data) == 0 &&
      prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_NICE, 0, 0) == 0 &&
      dup2(*socket, SYMBOLS_WORKER_SOCKET) == SYMBOLS_WORKER_SOCKET)
    execl("/proc/self/exe", "worker", SYMBOLS_WORKER_ARGUMENT, (char *)NULL);
  return 1;
}

/* Starts a process that answers as a worker. */
static void start_worker(symbols_worker_t *worker, support_child_fn run) {
  int sockets[2];

  symbols_worker_init(worker);
  worker->timeout_ms = LONG_MS;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets),
                   0);
  worker->pid = support_fork(run, &sockets[1]);
  worker->socket = sockets[0];
  close(sockets[1]);
}

static void worker_drops_the_capabilities_of_a_program(void **state) {
  symbols_message_t request = {0}, response = {0};
  char reason[SYMBOLS_REASON_BYTES];
  symbols_worker_t worker;

  support_need_root(__func__);
  start_worker(&worker, start_with_a_capability);
  symbols_message_begin(&request, SYMBOLS_REQUEST_JIT);
  symbols_put_bytes(&request, "", 0);
  assert_int_equal(symbols_worker_ask(&worker, &request, &response, reason), 0);
  expect_line(worker.pid, "status", "Uid:\t65533\t65533\t65533\t65533");
  expect_no_capabilities(worker.pid);
  symbols_worker_end(&worker);
  symbols_message_free(&request);
  symbols_message_free(&response);
}

static int count_fds(void) {
  int fd, nr = 0;

  for (fd = 0; fd < 1024; fd++)
    nr += fcntl(fd, F_GETFD) >= 0;
  return nr;
}

static int wait_for(void *arg, int fd, short events) {
  struct pollfd item = {fd, events, 0};

  poll(&item, 1, -1);
  return 0;
}

/* A reader that a file has taken over sends an fd. */
static int answer_with_an_fd(void *arg) {
  const int *socket = arg;
  symbols_message_t request = {0}, response = {0};

  if (symbols_wire_receive(*socket, &request, wait_for, NULL) != 0)
    return 1;
  symbols_message_begin(&response, request.type);
  symbols_put_number(&response, 0);
  response.fds[response.nr_fds++] = *socket;
  symbols_wire_send(*socket, &response, wait_for, NULL);
  return 0;
}

static void fd_from_a_reader_is_refused_and_closed(void **state) {
  symbols_message_t request = {0}, response = {0};
  char reason[SYMBOLS_REASON_BYTES];
  symbols_worker_t worker;
  int before = count_fds();

  start_worker(&worker, answer_with_an_fd);
  symbols_message_begin(&request, SYMBOLS_REQUEST_JIT);
  assert_int_equal(symbols_worker_ask(&worker, &request, &response, reason),
                   -EPROTO);
  assert_int_equal(worker.pid, 0);
  assert_int_equal(count_fds(), before);
  symbols_message_free(&request);
  symbols_message_free(&response);
}

/* -- files ----------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void mutate(char *bytes, size_t *size, uint64_t *random) {
  size_t i, nr = 1 + next_random(random) % 16;

  if (next_random(random) % 8 == 0)
    *size = (size_t)next_random(random) % *size;
  /* The headers are read first, so many changes are near the start. */
  for (i = 0; i<nr && * size> 0; i++) {
    size_t within = next_random(random) % 2 == 0 && *size > 1024 ? 1024 : *size;
    size_t at = (size_t)next_random(random) % within;

    if (next_random(random) % 4 == 0)
      at = *size - 1 - at;
    bytes[at] =
        (char)(next_random(random) % 2 == 0
                   ? next_random(random)
                   : (uint64_t)bytes[at] ^ 1u << next_random(random) % 8);
  }
}

static void damaged_files_cost_their_own_names_only(void **state) {
  static const char source[] =
      "static inline int inner(int x) { return x * x + 3; }\n"
      "__attribute__((noinline)) int outer(int x) { return inner(x) + 1; }\n"
      "int main(int argc, char **argv) { return outer(argc) + !argv; }\n";
  const symbols_options_t options = {.inlined = 1, .timeout_ms = 2000};
  uint64_t random = 20261123, begin = uv_hrtime(), self_offset, k;
  size_t i, size, whole, named = 0, ended = 0;
  char name[32], *bytes, *copy;
  ask_names_t ask;
  uint32_t object, self;

  ask_names_write("program.c", source, strlen(source));
  if (ask_names_run("cc -O2 -g program.c -o program") != 0)
    support_skip(__func__, "a compiler");
  bytes = common_file_read(ask_names_in("program"), &whole);
  assert_non_null(bytes);
  copy = malloc(whole);
  ask_names_begin(&ask, &options);
  for (i = 0; i < NR_MUTATIONS; i++) {
    memcpy(copy, bytes, whole);
    size = whole;
    mutate(copy, &size, &random);
    snprintf(name, sizeof(name), "m%zu", i);
    ask_names_write(name, copy, size);
    object = ask_names_file(&ask, ask_names_in(name));
    for (k = 0x1000; k < 0x1200; k += 8)
      symbols_want(ask.symbols, object, k);
    ask_names_wait(&ask);
    unlink(ask_names_in(name));
    for (k = 0x1000; k < 0x1200; k += 8) {
      if (symbols_find(ask.symbols, object, k)->nr > 0)
        break;
    }
    named += k < 0x1200;
    ended += strstr(symbols_reason(ask.symbols, object), "ended") != NULL;
  }
  print_message("%zu of %d files have names, %zu ended the worker, %.1f s\n",
                named, NR_MUTATIONS, ended,
                (double)(uv_hrtime() - begin) / 1e9);
  assert_true(named > NR_MUTATIONS / 10);
  worker_of(&ask)->timeout_ms = LONG_MS;
  self_offset = entry_of(&ask, &self);
  assert_string_equal(ask_names_name(&ask, self, self_offset), "entry_of");
  ask_names_end(&ask);
  free(bytes);
  free(copy);
}

/* A few bytes expand to many, because elfutils decompresses sections such as
 * .gnu_debugdata. */
static void file_that_takes_much_memory_has_a_reason(void **state) {
  const symbols_options_t options = {.timeout_ms = LONG_MS};
  ask_names_t ask;
  uint32_t object;

  ask_names_write("bomb.c", "int bomb(void) { return 1; }\n", 29);
  if (ask_names_run("cc -shared bomb.c -o bomb && strip bomb && "
                    "(head -c 64 bomb; head -c 400000000 /dev/zero) | "
                    "xz -1 >bomb.xz && "
                    "objcopy --add-section .gnu_debugdata=bomb.xz bomb") != 0)
    support_skip(__func__, "xz");
  ask_names_begin(&ask, &options);
  worker_of(&ask)->max_kib = 128 << 10;
  object = ask_names_file(&ask, ask_names_in("bomb"));
  assert_int_equal(ask_names_at(&ask, object, 0x1000)->nr, 0);
  assert_string_equal(symbols_reason(ask.symbols, object),
                      "reading its names took more than 0.125 GiB of memory");
  ask_names_end(&ask);
}

/* The DIEs form circles: a sibling before itself, a function inlined into
 * itself, and a list of children without an end. */
static void circles_in_dwarf_end(void **state) {
  static const char source[] =
      ".text\n.globl main\n.type main,@function\n"
      "main: nop\n nop\n nop\n ret\n.Lend:\n.size main,.Lend-main\n"
      ".section .debug_abbrev,\"\",@progbits\n"
      ".uleb128 1, 0x11\n.byte 1\n"             /* compile unit */
      ".uleb128 0x11, 0x01, 0x12, 0x07, 0, 0\n" /* low_pc, high_pc */
      ".uleb128 2, 0x2e\n.byte 1\n"             /* subprogram */
      ".uleb128 0x01, 0x13, 0x11, 0x01, 0x12, 0x07, 0, 0\n" /* + sibling */
      ".uleb128 3, 0x1d\n.byte 1\n" /* inlined subroutine */
      ".uleb128 0x31, 0x13, 0x01, 0x13, 0x11, 0x01, 0x12, 0x07, 0, 0\n"
      ".uleb128 0\n"
      ".section .debug_info,\"\",@progbits\n"
      ".Lstart: .long .Linfo_end-.Linfo\n"
      ".Linfo: .short 4\n.long 0\n.byte 8\n"
      ".uleb128 1\n.quad main\n.quad .Lend-main\n"
      ".Lf: .uleb128 2\n.long .Lf-.Lstart\n.quad main\n.quad .Lend-main\n"
      ".Li: .uleb128 3\n.long .Li-.Lstart\n.long .Lf-.Lstart\n.quad main\n"
      ".quad .Lend-main\n"
      ".Linfo_end:\n";
  const symbols_options_t options = {.inlined = 1, .timeout_ms = LONG_MS};
  const symbols_place_t *place;
  uint64_t offset;
  ask_names_t ask;
  uint32_t object;

  make(__func__, source, "");
  offset = ask_names_place("program", "main");
  ask_names_begin(&ask, &options);
  object = ask_names_file(&ask, ask_names_in("program"));
  place = ask_names_at(&ask, object, offset + 1);
  assert_int_equal(place->nr, 2);
  assert_string_equal(place->names[0].name, "[inlined]");
  assert_string_equal(place->names[1].name, "main");
  assert_string_equal(symbols_reason(ask.symbols, object), "");
  ask_names_end(&ask);
}

/* The names are long or deeply nested, or they expand to much more than their
 * size, like pairs of pairs of pairs. */
static void names_of_any_length_are_cut_in_time(void **state) {
  static const char frame[] = ".text\n.globl main\nmain: ret\n";
  char *source = calloc(1, 1 << 21), *at = source;
  const symbols_options_t options = {.timeout_ms = LONG_MS};
  const symbols_place_t *place;
  uint64_t offset, k;
  ask_names_t ask;
  uint32_t object;
  int i;

  at += sprintf(at, "%sfirst:\nf", frame);
  for (i = 0; i < 1 << 20; i++)
    *at++ = 'P';
  at += sprintf(at, "i: nop\n nop\n_Z1g");
  for (i = 0; i < 12000; i++)
    *at++ = 'P';
  at += sprintf(at, "i: nop\n nop\n_Z1hISt4pairIiiE");
  for (i = 0; i < 34; i++)
    at += sprintf(at, "S_IS%.1s_S%.1s_E",
                  &"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
                  &"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
  sprintf(at, "EvT_: nop\n nop\n");
  make(__func__, source, "-c");
  assert_int_equal(ask_names_run("cc -no-pie program -o linked"), 0);
  offset = ask_names_place("linked", "first");
  ask_names_begin(&ask, &options);
  object = ask_names_file(&ask, ask_names_in("linked"));
  for (k = 0; k < 3; k++) {
    place = ask_names_at(&ask, object, offset + 2 * k);
    assert_int_equal(place->nr, 1);
    assert_in_range(strlen(place->names[0].name), 1000, 4096);
  }
  /* The last name would have "std::pair" 2^34 times. */
  assert_memory_equal(place->names[0].name, "h<std::pair<int, int>, ", 23);
  assert_string_equal(symbols_reason(ask.symbols, object), "");
  ask_names_end(&ask);
  free(source);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worker_that_dies_costs_one_objects_names),
      cmocka_unit_test(slow_file_has_two_attempts),
      cmocka_unit_test(slow_files_leave_time_for_the_others),
      cmocka_unit_test(file_that_was_slow_once_has_its_names),
      cmocka_unit_test(closing_ends_a_worker_that_hangs),
      cmocka_unit_test(worker_has_few_rights_and_no_fds_of_ours),
      cmocka_unit_test(worker_drops_the_capabilities_of_a_program),
      cmocka_unit_test(fd_from_a_reader_is_refused_and_closed),
      cmocka_unit_test(damaged_files_cost_their_own_names_only),
      cmocka_unit_test(file_that_takes_much_memory_has_a_reason),
      cmocka_unit_test(circles_in_dwarf_end),
      cmocka_unit_test(names_of_any_length_are_cut_in_time),
  };

  symbols_main(argc, argv);
  return cmocka_run_group_tests(tests, ask_names_setup, ask_names_teardown);
}
