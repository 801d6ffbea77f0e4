/* SPDX-License-Identifier: MIT */
/* The process is a child of the test, so both have the same addresses. */
#include "tool_run.h"

#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <unistd.h>

static int wait_for_the_end(void *arg) {
  while (arg == NULL)
    pause();
  return 0;
}

static int has_line(const char *text, const char *line) {
  char all[256];

  snprintf(all, sizeof(all), "\n%s\n", line);
  return strncmp(text, all + 1, strlen(all) - 1) == 0 ||
         strstr(text, all) != NULL;
}

static void expect_names(const tool_run_t *run, const char *line) {
  if (!has_line(run->out, line))
    fail_msg("no '%s' in:\n%s%s", line, run->out, run->err);
}

static void addresses_of_a_process_have_names(void **state) {
  static tool_run_t run;
  char pid[16], function[32], vdso[32];
  pid_t child = support_fork(wait_for_the_end, NULL);

  snprintf(pid, sizeof(pid), "%d", child);
  snprintf(function, sizeof(function), "%jx",
           (uintmax_t)(uintptr_t)wait_for_the_end & ~(uintmax_t)1);
  snprintf(vdso, sizeof(vdso), "%lx", getauxval(AT_SYSINFO_EHDR) + 0x100);
  run = (tool_run_t){.args = {SAMPLE_PATH, pid, function, vdso, "10"}};
  tool_run(&run);
  kill(child, SIGKILL);
  support_wait(child);
  tool_run_expect_status(&run, 0);
  expect_names(&run, "wait_for_the_end [samples_name_addresses]");
  if (getauxval(AT_SYSINFO_EHDR) != 0)
    expect_names(&run, "[vdso]");
  expect_names(&run, "[unknown]");
}

static void addresses_of_the_kernel_have_names(void **state) {
  static tool_run_t run;
  unsigned long long address = 0;
  char line[1024], text[32];
  FILE *file = fopen("/proc/kallsyms", "re");

  while (file != NULL && fgets(line, sizeof(line), file) != NULL)
    if (strstr(line, " T do_exit\n") != NULL)
      sscanf(line, "%llx", &address);
  if (file != NULL)
    fclose(file);
  if (address == 0)
    support_skip(__func__, "addresses in /proc/kallsyms");
  snprintf(text, sizeof(text), "%#llx", address + 1);
  run = (tool_run_t){.args = {SAMPLE_PATH, "1", text}};
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  expect_names(&run, "do_exit [kernel]");
}

static void process_that_is_gone_has_no_names(void **state) {
  static tool_run_t run;
  char pid[16], function[32];
  pid_t child = support_fork(wait_for_the_end, NULL);

  kill(child, SIGKILL);
  support_wait(child);
  snprintf(pid, sizeof(pid), "%d", child);
  snprintf(function, sizeof(function), "%jx",
           (uintmax_t)(uintptr_t)wait_for_the_end);
  run = (tool_run_t){.args = {SAMPLE_PATH, pid, function}};
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  expect_names(&run, "[unknown]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_of_a_process_have_names),
      cmocka_unit_test(addresses_of_the_kernel_have_names),
      cmocka_unit_test(process_that_is_gone_has_no_names),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
