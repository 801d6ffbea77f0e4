/* SPDX-License-Identifier: MIT */
/* A tool shows the library's reasons with its own options. */
#include "support.h"

#include "common/remedies.h"

static void expect(const char *reason, const char *shown) {
  char text[256];

  snprintf(text, sizeof(text), "%s", reason);
  common_remedies_for_users(text, 1);
  assert_string_equal(text, shown);
}

static void remedies_of_the_api_become_options(void **state) {
  expect("cannot open 'cycles' on CPU 3: no PMU; try cpu-clock, or allow "
         "UVPERF_FALLBACK_CLOCK",
         "cannot open 'cycles' on CPU 3: no PMU; try cpu-clock");
  expect("the kernel side needs CAP_PERFMON; or set exclude_kernel, or allow "
         "UVPERF_FALLBACK_USER",
         "the kernel side needs CAP_PERFMON; or add the modifier u");
  expect("mount sysfs on /sys, or list the CPUs in target.cpus",
         "mount sysfs on /sys, or list the CPUs in -C");
  expect("options.ring_bytes 1 is too large; lower it",
         "-m 1 is too large; lower it");
  expect("name the process, or use UVPERF_TARGET_THREAD",
         "name the process, or use -t");
  expect("attr 1 has write_backward; set UVPERF_SET_OVERWRITE in options.flags "
         "instead, which makes all rings of the set overwritable",
         "attr 1 has the term overwrite; leave it out");
  expect("attr.sample_max_stack 200 is above kernel.perf_event_max_stack, 127",
         "max-stack 200 is above kernel.perf_event_max_stack, 127");
}

/* The doctor has no options of its own, and takes none of other tools. */
static void remedies_without_options_name_the_api(void **state) {
  char text[] = "attr.namespaces needs CAP_SYS_ADMIN; or set exclude_kernel";

  common_remedies_for_users(text, 0);
  assert_string_equal(text, "attr.namespaces needs CAP_SYS_ADMIN; or add the "
                            "modifier u");
}

static void other_texts_stay(void **state) {
  expect("", "");
  expect("opening 50 tracepoints\n", "opening 50 tracepoints\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(remedies_of_the_api_become_options),
      cmocka_unit_test(remedies_without_options_name_the_api),
      cmocka_unit_test(other_texts_stay),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
