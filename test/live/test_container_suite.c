/* SPDX-License-Identifier: MIT */
/* Programs of this suite in the settings of containers: every test passes, or
 * skips and says what it needs. No program fails, crashes or hangs if something
 * is forbidden.
 *
 * With arguments it runs other programs in a setting and prints their output:
 *     live_container_suite eperm ./live_event ../samples/tools/uvperf-doctor */
#include "live_container.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_BYTES ((size_t)1 << 20)

/* CMakeLists.txt lists them: of each subject some that are fast. */
static const char *const programs[] = {UVPERF_CONTAINER_PROGRAMS};

typedef struct program_s {
  live_container_setting_t setting;
  const char *path;
  int output; /* an fd; or -1: our own */
} program_t;

/* By an fd, because another user may not reach the path. */
static int execute(void *arg) {
  const program_t *program = arg;
  char *argv[] = {(char *)(uintptr_t)program->path, NULL};
  int fd = open(program->path, O_RDONLY | O_CLOEXEC);

  if (program->output >= 0)
    dup2(program->output, 1), dup2(program->output, 2);
  unsetenv("CMOCKA_XML_FILE");
  unsetenv("UVPERF_TEST_OFFLINE_CPU");
  setenv("CMOCKA_MESSAGE_OUTPUT", "stdout", 1);
  live_container_enter(program->setting);
  fexecve(fd, argv, environ);
  perror(program->path);
  return 126;
}

/* Returns how many tests passed, or would have on a machine that has
 * breakpoints. Fails the test if one has failed, or has skipped without a
 * reason. */
static size_t count_results(const char *program, int status,
                            const char *output) {
  size_t passed = 0, skipped = 0, would_pass = 0;
  char name[128], reason[160];
  const char *line, *need;

  for (line = output; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, "[  PASSED  ]", 12) == 0)
      break; /* skipped tests are listed again */
    passed += strncmp(line, "[       OK ]", 12) == 0;
    if (sscanf(line, "[  SKIPPED ] %127[a-z0-9_]%159[^\n]", name, reason) != 1)
      continue;
    snprintf(reason, sizeof(reason), "skipped: %s: needs ", name);
    need = strstr(output, reason);
    if (need == NULL)
      fail_msg("%s: %s skipped without a reason", program, name);
    would_pass += strncmp(need + strlen(reason), "breakpoints", 11) == 0;
    skipped++;
  }
  if (status != 0 || passed + skipped == 0)
    fail_msg("%s ended with %d:\n%s", program, status, output);
  print_message("%s: %zu passed, %zu skipped\n", program, passed, skipped);
  return passed + would_pass;
}

static size_t run(live_container_setting_t setting, const char *name) {
  static char output[OUTPUT_BYTES];
  program_t program = {setting, NULL, -1};
  char own[PATH_MAX], path[PATH_MAX + 64];
  ssize_t nr = readlink("/proc/self/exe", own, sizeof(own) - 1);
  int status;

  assert_true(nr > 0);
  own[nr] = '\0';
  snprintf(path, sizeof(path), "%s/%s", dirname(own), name);
  program.path = path;
  program.output = memfd_create(name, MFD_CLOEXEC);
  assert_true(program.output >= 0);
  status = support_wait(support_fork(execute, &program));
  nr = pread(program.output, output, sizeof(output) - 1, 0);
  close(program.output);
  assert_true(nr >= 0);
  output[nr] = '\0';
  return count_results(name, status, output);
}

/* `least` tests must pass: those of names, tasks and bytes pass everywhere. */
static void run_all(const char *test, live_container_setting_t setting,
                    size_t least) {
  size_t passed = 0;
  size_t i;

  live_container_need(test, setting);
  for (i = 0; i < COUNT_OF(programs); i++)
    passed += run(setting, programs[i]);
  assert_true(passed >= least);
}

static void suite_where_perf_is_eperm_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_EPERM, 34);
}

static void suite_where_perf_is_enosys_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_ENOSYS, 34);
}

static void suite_with_perfmon_alone_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_PERFMON, 70);
}

static void suite_with_perfmon_and_bpf_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_PERFMON_BPF, 70);
}

static void suite_in_a_user_namespace_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_USER_NAMESPACE, 70);
}

static void suite_with_sys_read_only_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_READ_ONLY, 130);
}

static void suite_without_tracefs_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_NO_TRACEFS, 90);
}

static void suite_in_docker_with_perfmon_passes_or_skips(void **state) {
  run_all(__func__, LIVE_CONTAINER_DOCKER, 80);
}

static int run_others(char **argv) {
  program_t program = {live_container_find(argv[1]), NULL, -1};
  int failed = 0;

  for (argv += 2; *argv != NULL; argv++) {
    program.path = *argv;
    failed |= support_wait(support_fork(execute, &program));
  }
  return failed;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(suite_where_perf_is_eperm_passes_or_skips),
      cmocka_unit_test(suite_where_perf_is_enosys_passes_or_skips),
      cmocka_unit_test(suite_with_perfmon_alone_passes_or_skips),
      cmocka_unit_test(suite_with_perfmon_and_bpf_passes_or_skips),
      cmocka_unit_test(suite_in_a_user_namespace_passes_or_skips),
      cmocka_unit_test(suite_with_sys_read_only_passes_or_skips),
      cmocka_unit_test(suite_without_tracefs_passes_or_skips),
      cmocka_unit_test(suite_in_docker_with_perfmon_passes_or_skips),
  };

  if (argc > 2)
    return run_others(argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
