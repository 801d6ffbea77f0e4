/* SPDX-License-Identifier: MIT */
/* The loop fixture, and what a test can ask about its own process. The checks
 * of the needs of live tests are in support_need.c. */
#include "support.h"

#include "uvperf/handle.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct support_loop_s {
  uv_loop_t loop; /* first: *state is a uv_loop_t * for the tests */
  support_body_t body;
  int entered;
  int passed;
  struct support_loop_s *next;
} support_loop_t;

/* Loops of tests that did not pass: never touched again, but still reachable,
 * so that the leak checker does not hide the failure among what they hold. */
static support_loop_t *abandoned;

int support_loop_setup(void **state) {
  const support_body_t *body = *state;
  support_loop_t *fixture;
  int rc;

  fixture = calloc(1, sizeof(*fixture));
  if (fixture == NULL)
    return -1;
  if (body != NULL)
    fixture->body = *body;
  rc = uv_loop_init(&fixture->loop);
  if (rc != 0)
    free(fixture);
  else
    *state = fixture;
  return rc;
}

void support_loop_run(void **state) {
  support_loop_t *fixture = *state;
  void *body[] = {&fixture->loop, (void *)(uintptr_t)fixture->body.row};

  fixture->entered = 1;
  fixture->body.run(body);
  /* Only reached if no assert and no skip() jumped out of the body. */
  fixture->passed = 1;
}

static void close_leftover(uv_handle_t *handle, void *arg) {
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

int support_loop_passed(void **state) {
  const support_loop_t *fixture = *state;

  return fixture->passed;
}

int support_loop_teardown(void **state) {
  support_loop_t *fixture = *state;
  int rc;

  if (fixture->entered && !fixture->passed) {
    fixture->next = abandoned;
    abandoned = fixture;
    return 0;
  }
  uv_run(&fixture->loop, UV_RUN_NOWAIT);
  rc = uv_loop_close(&fixture->loop);
  if (rc != 0) {
    fprintf(stderr, "uv_loop_close: %s; left are:\n", uv_strerror(rc));
    uv_print_all_handles(&fixture->loop, stderr);
    uv_walk(&fixture->loop, close_leftover, NULL);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    uv_loop_close(&fixture->loop);
  }
  free(fixture);
  return rc;
}

size_t support_page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

size_t support_count_fds(void) {
  struct dirent *entry;
  size_t count;
  DIR *dir;

  dir = opendir("/proc/self/fd");
  assert_non_null(dir);
  count = 0;
  while ((entry = readdir(dir)) != NULL)
    if (entry->d_name[0] != '.')
      count++;
  closedir(dir);
  return count - 1; /* The directory's own. */
}

uint64_t support_limit_fds(unsigned more) {
  struct rlimit limit;
  int next;

  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 0;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 0;
  next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  limit.rlim_cur = (rlim_t)next + more;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

size_t support_count_rings(size_t *bytes) {
  unsigned long start;
  unsigned long end;
  char line[512];
  size_t count;
  FILE *maps;

  maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  count = 0;
  *bytes = 0;
  while (fgets(line, sizeof(line), maps) != NULL) {
    if (strstr(line, "anon_inode:[perf_event]") == NULL)
      continue;
    assert_int_equal(sscanf(line, "%lx-%lx", &start, &end), 2);
    count++;
    *bytes += end - start;
  }
  fclose(maps);
  return count;
}

/* cmocka turns these signals into a failed test and continues with the next
 * one: in a child that would run the parent's tests a second time. */
static void die_of_signals(void) {
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
  size_t i;

  for (i = 0; i < COUNT_OF(fatal); i++)
    signal(fatal[i], SIG_DFL);
}

static pid_t run_child(pid_t pid, support_child_fn run, void *arg) {
  assert_true(pid >= 0);
  if (pid == 0) {
    die_of_signals();
    _exit(run(arg));
  }
  return pid;
}

pid_t support_fork(support_child_fn run, void *arg) {
  /* Otherwise the child would print again what is buffered here. */
  fflush(NULL);
  return run_child(fork(), run, arg);
}

pid_t support_clone(support_child_fn run, void *arg) {
  fflush(NULL);
#if defined(__s390x__) /* CONFIG_CLONE_BACKWARDS2: the stack comes first */
  return run_child((pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0), run, arg);
#else
  return run_child((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), run, arg);
#endif
}

static int sleep_for_ever(void *arg) {
  while (pause() == -1)
    continue;
  return 1;
}

/* The same with a pid that the caller chooses; -1 and errno on failure. */
static pid_t fork_with_pid(pid_t pid, support_child_fn run, void *arg) {
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack;
    uint64_t stack_size, tls, set_tid, set_tid_size;
  } args = {0};
  long child;

  args.exit_signal = SIGCHLD;
  args.set_tid = (uintptr_t)&pid;
  args.set_tid_size = 1;
  fflush(NULL);
  child = syscall(SYS_clone3, &args, sizeof(args));
  if (child == 0) {
    die_of_signals();
    _exit(run(arg));
  }
  return (pid_t)child;
}

/* The first child in a new namespace is its pid 1, without which there can be
 * no others; the next one gets its pid by clone3(2). */
int support_run_with_same_pid(const char *test, support_child_fn run,
                              void *arg) {
  pid_t first, child;
  int code, status;
  int own;

  support_need_root(test);
  own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  assert_true(own >= 0);
  if (unshare(CLONE_NEWPID) != 0) {
    close(own);
    support_skip(test, "pid namespaces");
  }
  first = support_fork(sleep_for_ever, NULL);
  child = fork_with_pid(getpid(), run, arg);
  code = errno;
  assert_int_equal(setns(own, CLONE_NEWPID), 0);
  close(own);
  status = child > 0 ? support_wait(child) : 0;
  kill(first, SIGKILL);
  support_wait(first);
  if (child < 0 && (code == ENOSYS || code == EPERM))
    support_skip(test, "clone3(2) with a pid");
  assert_true(child > 0);
  return status;
}

int support_wait(pid_t pid) {
  int status;

  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

size_t support_ring_bytes(const uvperf_handle_t *handle) {
  uvperf_ring_info_t ring;

  return uvperf_ring(handle, 0, &ring) == 0 ? (size_t)ring.bytes : 0;
}

/* Runs the tests of the rows, whose memory is given up, and others. */
static int run_all(struct CMUnitTest *all, size_t nr_rows,
                   const struct CMUnitTest *tests, size_t nr_tests) {
  int failed;

  if (nr_tests > 0)
    memcpy(all + nr_rows, tests, nr_tests * sizeof(*all));
  failed =
      _cmocka_run_group_tests("tests", all, nr_rows + nr_tests, NULL, NULL);
  free(all);
  return failed;
}

int support_run_rows(const void *rows, size_t row_bytes, size_t nr_rows,
                     CMUnitTestFunction run, const struct CMUnitTest *tests,
                     size_t nr_tests) {
  struct CMUnitTest *all = calloc(nr_rows + nr_tests, sizeof(*all));
  uintptr_t row = (uintptr_t)rows;
  size_t i;

  if (all == NULL)
    return 1;
  for (i = 0; i < nr_rows; i++, row += row_bytes)
    all[i] = (struct CMUnitTest){*(const char *const *)row, run, NULL, NULL,
                                 (void *)row};
  return run_all(all, nr_rows, tests, nr_tests);
}

int support_run_loop_rows(const void *rows, size_t row_bytes, size_t nr_rows,
                          CMUnitTestFunction run,
                          const struct CMUnitTest *tests, size_t nr_tests) {
  struct CMUnitTest *all = calloc(nr_rows + nr_tests, sizeof(*all));
  support_body_t *bodies = calloc(nr_rows, sizeof(*bodies));
  uintptr_t row = (uintptr_t)rows;
  size_t i;
  int failed = 1;

  for (i = 0; all != NULL && bodies != NULL && i < nr_rows; i++) {
    bodies[i] = (support_body_t){run, (void *)row};
    all[i] = (struct CMUnitTest){*(const char *const *)row, support_loop_run,
                                 support_loop_setup, support_loop_teardown,
                                 &bodies[i]};
    row += row_bytes;
  }
  if (i == nr_rows)
    failed = run_all(all, nr_rows, tests, nr_tests);
  free(bodies);
  return failed;
}
