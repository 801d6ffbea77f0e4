/* SPDX-License-Identifier: MIT */
/* All reasons that the library can give: those of its source, and those that
 * lib/explain/ makes of each errno on a scripted machine. Each is printed, and
 * must have the form of check_reason.h. */
#include "check_explain.h"
#include "fake_kernel.h"
#include "check_reason.h"
#include "make_host.h"

#include <ctype.h>
#include <ftw.h>

#include <linux/hw_breakpoint.h>

#include "explain/fallback.h"
#include "util/error.h"

#define LAST_ERRNO 133

/* -- each once ------------------------------------------------------------- */

#define ROOM 4096 /* a power of two */

static char *seen[ROOM];
static size_t nr_seen;

/* Texts that differ in digits only are the same. */
static int is_new(const char *text) {
  char shape[512];
  size_t at = 5381, i;

  assert_true(strlen(text) < sizeof(shape));
  for (i = 0; text[i] != '\0'; i++) {
    shape[i] = isdigit((unsigned char)text[i]) ? '0' : text[i];
    if (shape[i] != '0')
      at = at * 33 + (unsigned char)shape[i];
  }
  shape[i] = '\0';
  for (at %= ROOM; seen[at] != NULL; at = (at + 1) % ROOM)
    if (strcmp(seen[at], shape) == 0)
      return 0;
  assert_true(nr_seen++ < ROOM / 2);
  seen[at] = strdup(shape);
  assert_non_null(seen[at]);
  return 1;
}

static void forget_all(void) {
  size_t i;

  for (i = 0; i < ROOM; i++)
    free(seen[i]);
  memset(seen, 0, sizeof(seen));
  nr_seen = 0;
}

/* Printed once, however many events and places it is of. */
static void check(const uvperf_error_t *it) {
  const char *fault = check_reason_fault(it->reason);
  const char *why = strstr(it->reason, ": ");

  if (fault != NULL)
    fail_msg("%s: %s", fault, it->reason);
  if (is_new(why == NULL ? it->reason : why))
    print_message("%s\n", it->reason);
}

/* -- the source ------------------------------------------------------------ */

static size_t nr_texts, nr_bad;

/* Whether a text is for people: it has three words. */
static int is_prose(const char *text) {
  const char *space = strchr(text, ' ');

  return space != NULL && strchr(space + 1, ' ') != NULL &&
         strstr(text, "\\t") == NULL;
}

static void check_text(const char *path, const char *text) {
  const char *fault = check_reason_text_fault(text);

  if (!is_prose(text))
    return;
  nr_texts++;
  print_message("%s: %s\n", path, text);
  if (fault == NULL)
    return;
  nr_bad++;
  print_error("%s: %s: %s\n", path, fault, text);
}

static const char *skip_literal(const char *at, char quote) {
  for (at++; *at != quote; at++)
    at += *at == '\\';
  return at + 1;
}

static const char *skip_blank(const char *at) {
  while (isspace((unsigned char)*at) || (at[0] == '\\' && at[1] == '\n'))
    at++;
  return at;
}

/* Joins the literals that follow each other, without their quotation marks. */
static const char *take_text(const char *at, char *text, size_t size) {
  const char *end;
  size_t length = 0;

  while (*at == '"') {
    for (end = skip_literal(at, '"'), at++; at < end - 1; at++)
      if (*at != '\\' || at[1] != '"')
        text[length++] = *at;
    assert_true(length < size - 128);
    at = skip_blank(end);
  }
  text[length] = '\0';
  return at;
}

static void check_source(const char *path, const char *source) {
  const char *at = source, *statement = source;
  char text[2048];

  while (*at != '\0') {
    if (strchr(";{}", *at) != NULL)
      statement = at;
    if (at[0] == '/' && at[1] == '*') {
      at = strstr(at, "*/");
      assert_non_null(at);
      at += 2;
    } else if (*at == '\'') {
      at = skip_literal(at, '\'');
    } else if (*at != '"') {
      at++;
    } else {
      const char *begin = at;
      const char *static_assert = strstr(statement, "_Static_assert");

      at = take_text(at, text, sizeof(text));
      if (static_assert == NULL || static_assert > begin)
        check_text(path, text);
    }
  }
}

/* decode/ and count/ print records and counts, sys/ has code of processors, and
 * host/system.c looks for lines of /proc. */
static int is_without_reasons(const char *path) {
  return strstr(path, "/lib/decode/") != NULL ||
         strstr(path, "/lib/count/") != NULL ||
         strstr(path, "/lib/sys/") != NULL ||
         strstr(path, "/lib/host/system.c") != NULL;
}

static int take_file(const char *path, const struct stat *status, int flag,
                     struct FTW *place) {
  const char *dot = strrchr(path, '.');
  char *source;
  FILE *file;

  if (flag != FTW_F || dot == NULL || strcmp(dot, ".c") != 0 ||
      is_without_reasons(path))
    return 0;
  source = calloc(1, (size_t)status->st_size + 1);
  file = fopen(path, "re");
  assert_non_null(source);
  assert_non_null(file);
  assert_int_equal(fread(source, 1, (size_t)status->st_size, file),
                   status->st_size);
  fclose(file);
  check_source(strstr(path, "/lib/") + 1, source);
  free(source);
  return 0;
}

static void each_text_of_the_source_has_the_form_of_a_reason(void **state) {
  nr_texts = nr_bad = 0;
  if (nftw(UVPERF_TEST_DIR "/../lib", take_file, 8, FTW_PHYS) != 0)
    support_skip(__func__, "the source of the library");
  print_message("%zu texts\n", nr_texts);
  assert_true(nr_texts > 300);
  assert_int_equal(nr_bad, 0);
}

/* -- opening --------------------------------------------------------------- */

#define NR_ATTRS 30

static void make_attrs(struct perf_event_attr attrs[NR_ATTRS]) {
  const uint32_t pmus[] = {6, 8, 9, 20, 42};
  size_t nr = 0, i;

  for (i = 0; i < 16; i++)
    uvperf_attr_software(&attrs[nr++], i == 0 ? 99 : PERF_COUNT_SW_CPU_CLOCK);
  attrs[1].sample_max_stack = 200;
  uvperf_attr_set_frequency(&attrs[2], 60000);
  attrs[3].sample_type = PERF_SAMPLE_REGS_USER;
  attrs[4].sample_type = PERF_SAMPLE_BRANCH_STACK;
  attrs[5].sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_PHYS_ADDR;
  attrs[5].sample_stack_user = 9;
  attrs[5].exclude_kernel = 1;
  attrs[6].sample_type = PERF_SAMPLE_REGS_INTR;
  attrs[7].sample_type = PERF_SAMPLE_WEIGHT | UVPERF_SAMPLE_WEIGHT_STRUCT;
  attrs[8].sample_type = UINT64_C(1) << 40;
  attrs[9].inherit = 1;
  attrs[9].sample_type = PERF_SAMPLE_READ;
  attrs[10].use_clockid = 1;
  attrs[10].clockid = 99;
  attrs[11].sample_period = UINT64_C(1) << 63;
  attrs[11].freq = 0;
  uvperf_attr_set(&attrs[12], UVPERF_ATTR_SIGTRAP, 1);
  uvperf_attr_set(&attrs[13], UVPERF_ATTR_INHERIT_THREAD, 1);
  uvperf_attr_set(&attrs[14], UVPERF_ATTR_AUX_ACTION, 6);
  attrs[15].namespaces = 1;
  attrs[15].exclude_kernel = 1;
  uvperf_attr_hardware(&attrs[nr++], PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_hardware(&attrs[nr], PERF_COUNT_HW_CPU_CYCLES);
  attrs[nr++].precise_ip = 2;
  uvperf_attr_hardware(&attrs[nr], PERF_COUNT_HW_INSTRUCTIONS);
  uvperf_attr_set_period(&attrs[nr++], 1000);
  uvperf_attr_raw(&attrs[nr++], 0x3c);
  uvperf_attr_cache(&attrs[nr++], PERF_COUNT_HW_CACHE_DTLB,
                    PERF_COUNT_HW_CACHE_OP_READ,
                    PERF_COUNT_HW_CACHE_RESULT_MISS);
  uvperf_attr_tracepoint(&attrs[nr++], 316);
  uvperf_attr_tracepoint(&attrs[nr++], 1);
  uvperf_attr_tracepoint(&attrs[nr++], 99999);
  uvperf_attr_breakpoint(&attrs[nr++], HW_BREAKPOINT_W, 0x1001, 4);
  uvperf_attr_breakpoint(&attrs[nr++], HW_BREAKPOINT_R, 0x1000, 16);
  for (i = 0; i < COUNT_OF(pmus) && nr < NR_ATTRS; i++)
    uvperf_attr_init(&attrs[nr++], pmus[i], 1);
}

static uvperf_error_t error;

static void check_opens(int is_by_program) {
  const int pids[] = {0, -1, 77, 78, -2};
  struct perf_event_attr attrs[NR_ATTRS];
  uvperf__open_call_t call, leader;
  size_t i, pid;
  int code;

  make_attrs(attrs);
  for (i = 0; i < NR_ATTRS; i++)
    for (pid = 0; pid < 5; pid++)
      for (code = 1; code <= LAST_ERRNO; code++) {
        call = explain_open_call(&error, -code, &attrs[i], pids[pid],
                                 (int)(i % 5) - 1);
        leader = call;
        leader.attr = &attrs[(i + pid) % NR_ATTRS];
        call.leader = i % 2 ? &leader : NULL;
        call.cgroup = (i + pid) % 3 ? -1 : 0;
        call.asked_size = pid == 0 ? 8 : pid == 1 ? attrs[i].size : 200;
        call.fallbacks = pid % 3 ? UVPERF_FALLBACK_ALL : 0;
        call.may_allow = 1;
        call.is_by_program = is_by_program;
        uvperf__explain_open(&call);
        check(&error);
      }
}

static void each_reason_of_an_open_has_the_form(void **state) {
  /* Nothing, CAP_PERFMON, CAP_SYS_ADMIN, a seccomp filter. */
  static const char *const capabilities[] = {
      "CapEff:\t0\n", "CapEff:\t0000004000000000\n",
      "CapEff:\t0000000000200000\n", "CapEff:\t0\nSeccomp:\t2\n"};
  char status[128];
  size_t i;

  for (i = 0; i < 4; i++) {
    snprintf(status, sizeof(status), "Uid:\t1000\t1000\t1000\t1000\n%s",
             capabilities[i]);
    make_host_write("/proc/self/status", status);
    make_host_write("/proc/sys/kernel/perf_event_paranoid",
                    i == 1 ? "3\n" : "2\n");
    check_opens(0);
  }
  make_host_write("/proc/self/uid_map", "0 1000 1\n");
  check_opens(1);
  forget_all();
}

/* -- mapping, ioctls, bpf(2) ----------------------------------------------- */

static void each_reason_of_a_map_has_the_form(void **state) {
  const size_t sizes[] = {65536, 3 * 65536, 1};
  struct perf_event_attr attrs[NR_ATTRS];
  size_t i;
  int code;

  make_attrs(attrs);
  attrs[0].watermark = 1;
  attrs[0].wakeup_watermark = 65536;
  for (i = 0; i < NR_ATTRS; i++)
    for (code = 1; code <= LAST_ERRNO; code++) {
      uvperf__explain_map(&error, -code, &attrs[i], i == 9 ? -1 : 0,
                          sizes[i % 3]);
      check(&error);
    }
  forget_all();
}

static void each_reason_of_an_ioctl_has_the_form(void **state) {
  static const unsigned long requests[] = {
      PERF_EVENT_IOC_ENABLE,
      PERF_EVENT_IOC_DISABLE,
      PERF_EVENT_IOC_REFRESH,
      PERF_EVENT_IOC_RESET,
      PERF_EVENT_IOC_PERIOD,
      PERF_EVENT_IOC_SET_OUTPUT,
      PERF_EVENT_IOC_SET_FILTER,
      PERF_EVENT_IOC_ID,
      PERF_EVENT_IOC_SET_BPF,
      PERF_EVENT_IOC_PAUSE_OUTPUT,
      PERF_EVENT_IOC_QUERY_BPF,
      PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
      0x1234,
  };
  struct perf_event_attr attrs[NR_ATTRS];
  uvperf__control_t control;
  size_t i, request;
  int code;

  make_attrs(attrs);
  for (i = 0; i < NR_ATTRS; i++)
    for (request = 0; request < COUNT_OF(requests); request++)
      for (code = 1; code <= LAST_ERRNO; code++) {
        control =
            (uvperf__control_t){requests[request], &attrs[i],     i % 3 * 60000,
                                "nofield == 1",    &attrs[i / 2], i % 4 == 3};
        uvperf__explain_control(&error, -code, &control);
        check(&error);
      }
  forget_all();
}

static void each_reason_of_bpf_has_the_form(void **state) {
  static const char *const statuses[] = {
      "CapEff:\t0\n", "CapEff:\t0\nSeccomp:\t2\n",
      "CapEff:\tffffffffffffffff\n",
      "CapEff:\tffffffffffffffff\nSeccomp:\t2\n"};
  size_t i;
  int code;

  for (i = 0; i < 4; i++) {
    make_host_write("/proc/self/status", statuses[i]);
    for (code = 1; code <= LAST_ERRNO; code++) {
      uvperf__explain_bpf(&error, -code, "cannot open the map");
      check(&error);
    }
  }
  forget_all();
}

/* -- changes --------------------------------------------------------------- */

static void each_change_has_the_form(void **state) {
  uvperf_change_t change;
  size_t size;
  uint32_t i;

  memset(&error, 0, sizeof(error));
  memset(&change, 0, sizeof(change));
  for (change.field = 0; change.field <= UVPERF_ATTR_CONFIG4; change.field++)
    for (i = 0; i < 10; i++) {
      change.fallback = 1u << i / 2;
      change.to = i % 2;
      size = sizeof(error.reason);
      if (change.fallback > UVPERF_FALLBACK_INHERIT)
        continue;
      assert_int_equal(uvperf_change_describe(&change, error.reason, &size), 0);
      check(&error);
    }
  forget_all();
}

static void form_that_is_wrong_is_noticed(void **state) {
  static const char *const wrong[] = {
      "",
      "It is wrong",
      "it is wrong.",
      "it is wrong:",
      "options.cpu is 1: set the flag",
      "the event tells nothing; close it",
      "nobody gave a clock",
      "it  is wrong",
  };
  size_t i;

  for (i = 0; i < COUNT_OF(wrong); i++)
    if (check_reason_fault(wrong[i]) == NULL)
      fail_msg("%s", wrong[i]);
  assert_null(check_reason_fault("UVPERF_SET_OVERWRITE needs a ring"));
  assert_null(check_reason_fault("cannot open 'tells': no PMU; try another"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(form_that_is_wrong_is_noticed),
      cmocka_unit_test(each_text_of_the_source_has_the_form_of_a_reason),
      MAKE_HOST_MACHINE_TEST(each_reason_of_an_open_has_the_form),
      MAKE_HOST_MACHINE_TEST(each_reason_of_a_map_has_the_form),
      MAKE_HOST_MACHINE_TEST(each_reason_of_an_ioctl_has_the_form),
      MAKE_HOST_MACHINE_TEST(each_reason_of_bpf_has_the_form),
      cmocka_unit_test(each_change_has_the_form),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
