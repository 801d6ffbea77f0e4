/* SPDX-License-Identifier: MIT */
/* Live: a kprobe counts each call of the thread: by a function's name, by an
 * offset from its start, and by an address. The kernel refuses other places,
 * and the library says why. */
#include "check_explain.h"
#include "live_measure.h"

#include <fcntl.h>
#include <unistd.h>

#include "host/system.h"

#define PMU "/sys/bus/event_source/devices/kprobe/type"

/* Called once for each open(2), on every architecture. */
#define FUNCTION "do_filp_open"
#define CALLS    7

static void need_kprobes(const char *test) {
  int64_t type;

  support_need_root(test);
  if (uvperf__system_number(PMU, &type) != 0)
    support_skip(test, "the kprobe PMU");
}

static void open_files(void *arg) {
  int i, fd;

  for (i = 0; i < CALLS; i++) {
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    close(fd);
  }
}

/* *count receives the probe's count. */
static int measure(const char *terms, uvperf_measure_fn fn, uint64_t *count,
                   uvperf_error_t *error) {
  uvperf_count_t counted;
  char name[256];
  int rc;

  snprintf(name, sizeof(name), "kprobe/%s/", terms);
  error->reason[0] = '\0';
  rc = uvperf_measure_events(name, fn, NULL, &counted, 1, error);
  if (rc == 0)
    *count = counted.value;
  return rc;
}

static void expect_count(const char *terms, uvperf_measure_fn fn,
                         uint64_t wanted) {
  uvperf_error_t error;
  uint64_t count;

  if (measure(terms, fn, &count, &error) != 0)
    fail_msg("%s: %s", terms, error.reason);
  assert_int_equal(count, wanted);
}

static void kprobe_counts_calls_and_returns(void **state) {
  need_kprobes(__func__);
  expect_count("func=" FUNCTION, open_files, CALLS);
  expect_count("func=" FUNCTION, live_measure_nothing, 0);
  expect_count("func=" FUNCTION ",retprobe", open_files, CALLS);
}

/* Its address in /proc/kallsyms; 0 if that is hidden. */
static unsigned long long address_of(const char *function) {
  unsigned long long address = 0, each;
  char line[512], symbol[256];
  FILE *file = fopen("/proc/kallsyms", "re");

  assert_non_null(file);
  while (address == 0 && fgets(line, sizeof(line), file) != NULL)
    if (sscanf(line, "%llx %*c %255s", &each, symbol) == 2 &&
        strcmp(symbol, function) == 0)
      address = each;
  fclose(file);
  return address;
}

static void kprobe_at_an_address_counts_calls(void **state) {
  unsigned long long address = address_of(FUNCTION);
  char terms[64];

  need_kprobes(__func__);
  if (address == 0)
    support_skip(__func__, "addresses in /proc/kallsyms");
  snprintf(terms, sizeof(terms), "addr=%#llx", address);
  expect_count(terms, open_files, CALLS);
}

/* The starts of instructions depend on the processor and the compiler. */
static void kprobe_at_an_offset_counts_calls(void **state) {
  uvperf_error_t error;
  char terms[64];
  uint64_t count = 0;
  int offset, rc, opened = 0, refused = 0;

  need_kprobes(__func__);
  for (offset = 1; offset <= 24; offset++) {
    snprintf(terms, sizeof(terms), "func=" FUNCTION ",offset=%d", offset);
    rc = measure(terms, open_files, &count, &error);
    if (rc == 0) {
      assert_int_equal(count, CALLS);
      opened++;
      continue;
    }
    assert_true(rc == -EINVAL || rc == -EILSEQ);
    explain_check(&error, rc, UVPERF_CAUSE_ARGUMENT, "probe_offset");
    refused++;
  }
  assert_true(opened > 0 && refused > 0);
}

static void expect_refused(const char *terms, int code, int cause,
                           const char *piece) {
  uvperf_error_t error;
  uint64_t count;

  assert_int_equal(measure(terms, live_measure_nothing, &count, &error), code);
  explain_check(&error, code, cause, piece);
}

static void kprobe_that_cannot_be_says_why(void **state) {
  need_kprobes(__func__);
  expect_refused("func=uvperf_no_such_function", -ENOENT, UVPERF_CAUSE_NO_EVENT,
                 "/proc/kallsyms");
  /* The code of kprobes itself. */
  expect_refused("func=get_kprobe", -EINVAL, UVPERF_CAUSE_ARGUMENT,
                 "probe_offset");
  expect_refused("addr=0x1000", -ENOENT, UVPERF_CAUSE_NO_EVENT,
                 "/proc/kallsyms");
}

static void unprivileged(uvperf_error_t *error) {
  uvperf_count_t count;

  explain_drop_privileges();
  error->code =
      uvperf_measure_events("kprobe/func=" FUNCTION "/u", live_measure_nothing,
                            NULL, &count, 1, error);
}

static void kprobe_of_an_unprivileged_user_is_refused(void **state) {
  need_kprobes(__func__);
  explain_expect(unprivileged, -EACCES, UVPERF_CAUSE_PERMISSION, "CAP_PERFMON");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kprobe_counts_calls_and_returns),
      cmocka_unit_test(kprobe_at_an_address_counts_calls),
      cmocka_unit_test(kprobe_at_an_offset_counts_calls),
      cmocka_unit_test(kprobe_that_cannot_be_says_why),
      cmocka_unit_test(kprobe_of_an_unprivileged_user_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
