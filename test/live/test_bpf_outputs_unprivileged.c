/* SPDX-License-Identifier: MIT */
/* What a process without privileges may do with a map of another process. */
#include "support.h"

#include <errno.h>
#include <unistd.h>

#include "bpf/outputs.h"
#include "explain_check.h"
#include "host/system.h"
#include "live_bpf.h"
#include "live_bpf_array.h"
#include "uvperf.h"

/* The parent's, for its child. */
static int array;

static int make(uvperf__bpf_outputs_t **outputs, int fd, const char *path,
                uvperf_error_t *error) {
  uvperf__bpf_outputs_options_t options = {
      .root = "",
      .map_fd = fd,
      .path = path,
      .ring_bytes = support_page_bytes(),
  };

  return uvperf__bpf_outputs_new(outputs, &options, error);
}

static void open_without_privileges(uvperf_error_t *error) {
  uvperf__bpf_outputs_t *outputs;

  explain_drop_privileges();
  make(&outputs, array, NULL, error);
}

static void unprivileged_user_learns_the_need_of_cpus(void **state) {
  (void)state;
  explain_need_paranoid(__func__, 1, 2);
  array = live_bpf_array_make(__func__, 0);
  explain_expect(open_without_privileges, -EACCES, UVPERF_CAUSE_PERMISSION,
                 "a whole CPU needs kernel.perf_event_paranoid <= 0");
  close(array);
}

/* Everything that a reader does with it; the file is shared, as one of its own
 * takes CAP_SYS_ADMIN. */
static void use_with_perfmon(uvperf_error_t *error) {
  uvperf__bpf_outputs_t *outputs;

  explain_drop_all_but_perfmon();
  if (make(&outputs, array, NULL, error) != 0)
    return;
  if (uvperf__bpf_outputs_enable(outputs, error) != 0 ||
      uvperf__bpf_outputs_put(outputs, error) != 0 ||
      uvperf__bpf_outputs_take(outputs, error) != 0 ||
      uvperf__bpf_outputs_put(outputs, error) != 0)
    return;
  uvperf__bpf_outputs_free(outputs);
  /* A code that no call above returns. */
  error->code = -EXDEV;
}

static void perfmon_is_enough_for_a_map_of_the_caller(void **state) {
  live_bpf_output_t output;
  uvperf_error_t error;
  uint8_t byte = 7;

  (void)state;
  explain_need_paranoid(__func__, 1, 2);
  support_need_root(__func__);
  if (uvperf__system_is_before("", 5, 19) == 1)
    support_skip(__func__, "bpf(2) without CAP_BPF: Linux 5.19");
  array = live_bpf_array_make(__func__, 0);
  live_bpf_output_open(&output, array);
  error = explain_in_child(use_with_perfmon);
  if (error.code != -EXDEV)
    fail_msg("%d: %s", error.code, error.reason);
  assert_int_equal(live_bpf_output_on(&output, 0, &byte, 1), -ENOENT);
  live_bpf_output_close(&output);
  close(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unprivileged_user_learns_the_need_of_cpus),
      cmocka_unit_test(perfmon_is_enough_for_a_map_of_the_caller),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
