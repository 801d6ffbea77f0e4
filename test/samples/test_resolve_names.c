/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

static void resolve_names_prints_type_and_config_of_each(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "page-faults:u,cpu-clock,dummy"},
                    .as_nobody = 1};

  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "page-faults:u                            "
                                "type 1, config 0x2\n"
                                "cpu-clock                                "
                                "type 1, config 0\n"
                                "dummy                                    "
                                "type 1, config 0x9\n"
                                "3 events; ");
}

/* Each system call has a tracepoint, and there are more than 250 of them. */
static void resolve_names_finds_all_of_a_pattern(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}};
  const char *end;
  size_t nr = 0;

  support_need_tracefs(__func__, "syscalls:sys_enter_getpgid");
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "\nsyscalls:sys_enter_getpgid ");
  end = strstr(run.out, " events; ");
  assert_non_null(end);
  while (end > run.out && end[-1] != '\n')
    end--;
  assert_int_equal(sscanf(end, "%zu", &nr), 1);
  assert_true(nr > 250);
}

static void resolve_names_of_no_event_says_why(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "page-fault"}, .as_nobody = 1};

  tool_run_ends(&run, 1, "'page-fault'");
  tool_run_expect_text(run.err, "page-faults");
}

static void resolve_names_into_a_full_disk_is_an_error(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c", "exec " SAMPLE_PATH " dummy >/dev/full"}};

  tool_run_ends(&run, 1, strerror(ENOSPC));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resolve_names_prints_type_and_config_of_each),
      cmocka_unit_test(resolve_names_finds_all_of_a_pattern),
      cmocka_unit_test(resolve_names_of_no_event_says_why),
      cmocka_unit_test(resolve_names_into_a_full_disk_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
