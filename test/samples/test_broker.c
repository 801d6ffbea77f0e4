/* SPDX-License-Identifier: MIT */
/* samples/broker.c: a process without privileges, under a filter that forbids
 * perf_event_open(2), measures all CPUs. The broker opens nothing else for
 * it. */
#include "check_explain.h"
#include "live.h"
#include "tool_run.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Checks the result of the flush, which the sample does not. */
static int flush(uvperf_handle_t *set) {
  int rc = uvperf_flush(set);

  if (rc != 0)
    fprintf(stderr, "flush: %s\n", uv_err_name(rc));
  return rc;
}

#define main broker_main
int broker_main(int argc, char **argv);
#define uvperf_flush flush
#include "../../samples/broker.c"
#undef uvperf_flush
#undef main

typedef struct fixture_s {
  char directory[32];
  char path[48];
  uid_t user; /* whom the broker serves */
  pid_t broker;
  int ready[2];
  int output[2];
  /* Of the client: */
  const char *event;
  int filter;
} fixture_t;

/* -- the policy of the broker ---------------------------------------------- */

static void request_of_clock(request_t *request) {
  memset(request, 0, sizeof(*request));
  uvperf_attr_software(&request->attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&request->attr, 99);
  request->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
  request->attr.exclude_kernel = 1;
  request->pid = -1;
}

/* Returns whether the user may choose bits of this byte. Flags are checked one
 * by one. */
static int is_free(size_t byte) {
  const struct {
    size_t offset;
    size_t bytes;
  } fields[] = {
      {offsetof(struct perf_event_attr, type), 1}, /* hardware */
      {offsetof(struct perf_event_attr, config), 1},
      {offsetof(struct perf_event_attr, sample_freq), 2},
      {offsetof(struct perf_event_attr, sample_type), 3},
      {offsetof(struct perf_event_attr, read_format), 8},
      {offsetof(struct perf_event_attr, wakeup_events), 4},
      {offsetof(struct perf_event_attr, clockid), 4},
  };
  size_t i;

  for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
    if (byte >= fields[i].offset && byte < fields[i].offset + fields[i].bytes)
      return 1;
  return 0;
}

static int is_free_flag(unsigned int flag) {
  return flag == UVPERF_ATTR_DISABLED || flag == UVPERF_ATTR_EXCLUDE_HV ||
         flag == UVPERF_ATTR_WATERMARK || flag == UVPERF_ATTR_SAMPLE_ID_ALL ||
         flag == UVPERF_ATTR_USE_CLOCKID;
}

static void broker_allows_no_other_bit(void **state) {
  size_t flags = offsetof(struct perf_event_attr, read_format) + 8;
  request_t good, request;
  uint8_t *bytes = (uint8_t *)&request.attr;
  unsigned int bit;
  size_t byte;

  request_of_clock(&good);
  assert_true(is_allowed(&good, 44));
  for (byte = 0; byte < sizeof(good.attr); byte++) {
    for (bit = 0; bit < 8; bit++) {
      request = good;
      bytes[byte] ^= (uint8_t)(1u << bit);
      if (is_allowed(&request, 44) && !is_free(byte) &&
          (byte < flags || byte >= flags + 8 ||
           !is_free_flag((unsigned int)(byte - flags) * 8 + bit)))
        fail_msg("byte %zu, bit %u", byte, bit);
    }
  }
}

static void expect_refused(const request_t *request) {
  assert_false(is_allowed(request, 44));
}

static void broker_refuses_other_fields_and_targets(void **state) {
  static const uint64_t fields[] = {
      PERF_SAMPLE_RAW,        PERF_SAMPLE_ADDR,      PERF_SAMPLE_CALLCHAIN,
      PERF_SAMPLE_STACK_USER, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_PHYS_ADDR};
  request_t good, request;
  size_t i;

  request_of_clock(&good);
  for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    request = good;
    request.attr.sample_type |= fields[i];
    expect_refused(&request);
  }
  request = good;
  request.pid = 44; /* the peer's own pid needs a dummy */
  expect_refused(&request);
  request.attr.config = PERF_COUNT_SW_DUMMY;
  assert_true(is_allowed(&request, 44));
  request.pid = 43;
  expect_refused(&request);
  request = good;
  request.cpu = -1;
  expect_refused(&request);
  request = good;
  request.attr.sample_freq = 1001;
  expect_refused(&request);
  request.attr.sample_freq = 1000;
  assert_true(is_allowed(&request, 44));
  request.attr.freq = 0; /* every 1000 ns */
  expect_refused(&request);
  request = good;
  request.attr.config = PERF_COUNT_SW_BPF_OUTPUT;
  expect_refused(&request);
}

/* -- a client and a broker ------------------------------------------------- */

static int run_broker(void *arg) {
  const fixture_t *fixture = arg;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(fixture->ready[1], STDOUT_FILENO);
  return serve(fixture->path, fixture->user);
}

static void begin(fixture_t *fixture, uid_t user) {
  char text[16];

  memset(fixture, 0, sizeof(*fixture));
  strcpy(fixture->directory, "/tmp/uvperf-broker.XXXXXX");
  assert_non_null(mkdtemp(fixture->directory));
  assert_int_equal(chmod(fixture->directory, 0755), 0);
  snprintf(fixture->path, sizeof(fixture->path), "%s/socket",
           fixture->directory);
  fixture->user = user;
  assert_int_equal(pipe(fixture->ready), 0);
  fixture->broker = support_fork(run_broker, fixture);
  assert_true(fixture->broker > 0);
  assert_int_equal(read(fixture->ready[0], text, sizeof(text)), 6);
}

static void end(fixture_t *fixture) {
  int status;

  kill(fixture->broker, SIGKILL);
  waitpid(fixture->broker, &status, 0);
  unlink(fixture->path);
  rmdir(fixture->directory);
  close(fixture->ready[0]);
  close(fixture->ready[1]);
}

static int run_client(void *arg) {
  const fixture_t *fixture = arg;
  char *argv[] = {"broker", (char *)fixture->path, (char *)fixture->event,
                  NULL};
  int rc;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(fixture->output[1], STDOUT_FILENO);
  dup2(fixture->output[1], STDERR_FILENO);
  explain_drop_privileges();
  explain_filter(fixture->filter);
  rc = broker_main(3, argv);
  fflush(stdout);
  return rc;
}

/* Runs the client. Returns its status and its output. Meanwhile this CPU is in
 * user space. */
static int run(fixture_t *fixture, const char *event, int filter, char *text,
               size_t size) {
  volatile uint64_t sum = 0;
  ssize_t got;
  int status;
  pid_t client;
  size_t i;

  fixture->event = event;
  fixture->filter = filter;
  assert_int_equal(pipe(fixture->output), 0);
  client = support_fork(run_client, fixture);
  assert_true(client > 0);
  while (waitpid(client, &status, WNOHANG) == 0)
    for (i = 0; i < 1000000; i++)
      sum += i;
  close(fixture->output[1]);
  got = read(fixture->output[0], text, size - 1);
  text[got > 0 ? got : 0] = '\0';
  close(fixture->output[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void live_user_under_a_filter_measures_all_cpus(void **state) {
  static const int filters[] = {EPERM, EXPLAIN_FILTER_KILLS};
  unsigned long long ns, nr;
  char text[512];
  fixture_t fixture;
  size_t i;

  support_need_root(__func__);
  begin(&fixture, EXPLAIN_NOBODY);
  for (i = 0; i < 2; i++) {
    if (run(&fixture, "cpu-clock:u", filters[i], text, sizeof(text)) != 0 ||
        sscanf(text, "cpu-clock/freq=99/u: %llu on all CPUs, %llu samples", &ns,
               &nr) != 2)
      fail_msg("%s", text);
    assert_true(ns >= 500000000);
    assert_true(nr >= 5);
  }
  end(&fixture);
}

static void expect_no(fixture_t *fixture, const char *event, int code) {
  char text[512];
  const char *at;
  int found;

  assert_int_equal(
      run(fixture, event, EXPLAIN_FILTER_KILLS, text, sizeof(text)), 1);
  at = strstr(text, "errno ");
  if (at == NULL || sscanf(at, "errno %d", &found) != 1 || found != code)
    fail_msg("%s", text);
}

static void live_broker_refuses_events_and_users(void **state) {
  fixture_t fixture;

  support_need_root(__func__);
  begin(&fixture, EXPLAIN_NOBODY);
  expect_no(&fixture, "cpu-clock", EPERM);
  end(&fixture);
  begin(&fixture, EXPLAIN_NOBODY - 1);
  expect_no(&fixture, "cpu-clock:u", EACCES);
  end(&fixture);
}

static int serve_path(void *arg) {
  alarm(10);
  return serve(arg, EXPLAIN_NOBODY);
}

/* The broker must neither remove the file nor change its owner. */
static void expect_untouched(char *path) {
  struct stat file;

  close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  assert_int_equal(support_wait(support_fork(serve_path, path)), 1);
  assert_int_equal(lstat(path, &file), 0);
  assert_true(S_ISREG(file.st_mode) && file.st_uid == 0);
  unlink(path);
}

/* A path that does not fit into sun_path would be another file if it were
 * cut. */
static void live_broker_touches_no_file_but_its_socket(void **state) {
  char directory[] = "/tmp/uvperf-broker.XXXXXX";
  char path[160];

  support_need_root(__func__);
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/file", directory);
  expect_untouched(path);
  snprintf(path, sizeof(path), "%s/%0100d", directory, 0);
  assert_int_equal(mkdir(path, 0755), 0);
  strcat(path, "/file");
  expect_untouched(path);
  *strrchr(path, '/') = '\0';
  rmdir(path);
  assert_int_equal(rmdir(directory), 0);
}

/* Another user who may write to the directory could make the path a second name
 * of another socket of root. */
static void live_broker_gives_away_no_socket_with_two_names(void **state) {
  char first[] = "/tmp/uvperf-broker.XXXXXX", second[64];
  struct sockaddr_un address;
  struct stat file;
  int server;

  support_need_root(__func__);
  assert_non_null(mkdtemp(first));
  assert_int_equal(rmdir(first), 0);
  snprintf(second, sizeof(second), "%s-second", first);
  server = unix_socket(first, &address);
  assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)),
                   0);
  assert_int_equal(link(first, second), 0);
  assert_int_equal(give_socket(second, EXPLAIN_NOBODY), -1);
  assert_int_equal(errno, EEXIST);
  assert_int_equal(lstat(first, &file), 0);
  assert_int_equal(file.st_uid, 0);
  unlink(second);
  assert_int_equal(give_socket(first, EXPLAIN_NOBODY), 0);
  assert_int_equal(lstat(first, &file), 0);
  assert_int_equal(file.st_uid, EXPLAIN_NOBODY);
  close(server);
  unlink(first);
}

/* -- without a set --------------------------------------------------------- */

static void on_event_record(uvperf_handle_t *handle, int status,
                            const uvperf_record_t *record) {
  if (status == 0 && record->type == PERF_RECORD_SAMPLE)
    *(uint64_t *)handle->data += 1;
}

/* Takes an fd from the broker, and lets another event join its group. Returns
 * the line that failed, or 0. */
static int measure_group(const fixture_t *fixture) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t leader, sibling;
  volatile uint64_t spun;
  uint64_t records = 0;
  uvperf_count_t count;
  request_t request;
  uv_loop_t loop;
  int turn;

  request_of_clock(&request);
  request.attr.disabled = 1;
  if (uv_loop_init(&loop) != 0)
    return __LINE__;
  options.flags = UVPERF_EVENT_FD | UVPERF_EVENT_CPU; /* CPU 0 */
  options.fd = ask_broker(&request.attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC,
                          (void *)fixture->path);
  options.pid = -1;
  leader.handle.data = &records;
  if (uvperf_event_init(&loop, &leader, &request.attr, &options, NULL) != 0)
    return __LINE__;
  options.flags = UVPERF_EVENT_CPU;
  options.fd = 0;
  options.leader = &leader;
  options.open = ask_broker;
  options.open_arg = (void *)fixture->path;
  uvperf_attr_software(&request.attr, PERF_COUNT_SW_TASK_CLOCK);
  request.attr.exclude_kernel = 1;
  if (uvperf_event_init(&loop, &sibling, &request.attr, &options, NULL) != 0)
    return __LINE__;
  if (uvperf_start(&leader.handle, NULL, on_event_record, NULL) != 0)
    return __LINE__;
  for (turn = 0; turn < 2000 && records < 3; turn++) {
    for (spun = 0; spun < 1000000; spun++)
      continue;
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  if (records < 3)
    return __LINE__;
  if (uvperf_event_read(&sibling, &count, NULL) != 0 || count.value == 0)
    return __LINE__;
  uvperf_close(&sibling.handle, NULL);
  uvperf_close(&leader.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) == 0 ? 0 : __LINE__;
}

static int run_group(void *arg) {
  const fixture_t *fixture = arg;
  cpu_set_t cpus;
  int line;

  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  explain_drop_privileges();
  explain_filter(EXPLAIN_FILTER_KILLS);
  line = measure_group(fixture);
  if (line != 0)
    fprintf(stderr, "line %d\n", line);
  return line != 0;
}

static void live_fd_of_the_broker_is_taken_and_leads_a_group(void **state) {
  fixture_t fixture;

  support_need_root(__func__);
  begin(&fixture, EXPLAIN_NOBODY);
  assert_int_equal(support_wait(support_fork(run_group, &fixture)), 0);
  end(&fixture);
}

/* -- locked memory --------------------------------------------------------- */

#define FILLERS 40

static int fillers[FILLERS]; /* events that root has opened, and one more */
static int shared;

static void *map_event(int fd, size_t pages) {
  return mmap(NULL, (1 + pages) * support_page_bytes(), PROT_READ | PROT_WRITE,
              MAP_SHARED, fd, 0);
}

/* Maps memory until not one more page can be locked. */
static int fill(void) {
  size_t pages = 16384;
  size_t i;

  for (i = 0; i < FILLERS; i++) {
    while (map_event(fillers[i], pages) == MAP_FAILED) {
      if (errno != EPERM || pages == 0)
        return errno;
      pages /= 2;
    }
  }
  return 0;
}

static int map_when_full(void *arg) {
  const struct rlimit none = {0, 0};
  const size_t *pages = arg;

  setrlimit(RLIMIT_MEMLOCK, &none);
  explain_drop_privileges();
  if (fill() != EPERM)
    return 0;
  return map_event(shared, *pages) == MAP_FAILED ? errno : 200;
}

static int try_map(size_t pages) {
  return support_wait(support_fork(map_when_full, &pages));
}

static int open_clock(void) {
  struct perf_event_attr attr;
  int fd;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 99);
  attr.disabled = 1;
  fd =
      (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

static void live_ring_is_charged_to_its_first_user(void **state) {
  void *ring;
  size_t i;

  support_need_root(__func__);
  explain_need_paranoid(__func__, 0, 9);
  for (i = 0; i < FILLERS; i++)
    fillers[i] = open_clock();
  shared = open_clock();
  assert_int_equal(try_map(2), EPERM);
  ring = map_event(shared, 2);
  assert_true(ring != MAP_FAILED);
  assert_int_equal(try_map(2), 200);
  assert_int_equal(try_map(1), EINVAL);
  munmap(ring, 3 * support_page_bytes());
  assert_int_equal(try_map(2), EPERM);
  close(shared);
  for (i = 0; i < FILLERS; i++)
    close(fillers[i]);
}

/* -- a broker whose answers are wrong -------------------------------------- */

typedef struct bad_answer_s {
  int32_t code;
  size_t size; /* bytes of the code that are sent */
  int has_fd;
  int expected;
} bad_answer_t;

typedef struct bad_broker_s {
  const bad_answer_t *answers;
  size_t nr;
  int server;
} bad_broker_t;

static int run_bad_broker(void *arg) {
  const bad_broker_t *broker = arg;
  request_t request;
  int32_t code;
  int peer, fd;
  size_t i;

  alarm(60);
  for (i = 0; i < broker->nr; i++) {
    peer = accept(broker->server, NULL, NULL);
    if (receive_fd(peer, &request, sizeof(request), &fd) != 0)
      return 1;
    code = broker->answers[i].code;
    send_fd(peer, &code, broker->answers[i].size,
            broker->answers[i].has_fd ? peer : -1);
    close(peer);
  }
  return 0;
}

static void wrong_answer_is_an_error_and_leaks_no_fd(void **state) {
  static const bad_answer_t answers[] = {{-EACCES, 4, 1, -EACCES},
                                         {0, 2, 1, -EPROTO},
                                         {7, 4, 0, -EPROTO},
                                         {7, 4, 1, -EPROTO},
                                         {0, 4, 0, -EPROTO}};
  bad_broker_t broker = {answers, sizeof(answers) / sizeof(answers[0]), -1};
  char path[] = "/tmp/uvperf-broker.XXXXXX";
  struct sockaddr_un address;
  size_t before, i;
  request_t request;
  pid_t child;

  assert_non_null(mkdtemp(path));
  assert_int_equal(rmdir(path), 0);
  broker.server = unix_socket(path, &address);
  assert_int_equal(
      bind(broker.server, (struct sockaddr *)&address, sizeof(address)), 0);
  assert_int_equal(listen(broker.server, 1), 0);
  child = support_fork(run_bad_broker, &broker);
  request_of_clock(&request);
  before = support_count_fds();
  for (i = 0; i < broker.nr; i++) {
    assert_int_equal(
        ask_broker(&request.attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC, path),
        answers[i].expected);
    assert_int_equal(support_count_fds(), before);
  }
  assert_int_equal(support_wait(child), 0);
  close(broker.server);
  unlink(path);
}

static void client_without_a_broker_does_not_blame_the_event(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "/nothing", "cs"}};

  tool_run_ends(&run, 1, "errno 111");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broker_allows_no_other_bit),
      cmocka_unit_test(broker_refuses_other_fields_and_targets),
      cmocka_unit_test(live_user_under_a_filter_measures_all_cpus),
      cmocka_unit_test(live_broker_refuses_events_and_users),
      cmocka_unit_test(wrong_answer_is_an_error_and_leaks_no_fd),
      cmocka_unit_test(client_without_a_broker_does_not_blame_the_event),
      cmocka_unit_test(live_broker_touches_no_file_but_its_socket),
      cmocka_unit_test(live_broker_gives_away_no_socket_with_two_names),
      cmocka_unit_test(live_fd_of_the_broker_is_taken_and_leads_a_group),
      cmocka_unit_test(live_ring_is_charged_to_its_first_user),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
